// hsa_init, the agents and their pools.
#pragma once

#include <gtest/gtest.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#define HSA_OK(call) ASSERT_EQ(call, HSA_STATUS_SUCCESS)

class Hsa : public testing::Test {
protected:
    void SetUp() override {
        HSA_OK(hsa_init());
        HSA_OK(hsa_iterate_agents(
            [](hsa_agent_t agent, void* data) {
                hsa_device_type_t type;
                hsa_status_t r = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
                auto* self = static_cast<Hsa*>(data);
                if (type == HSA_DEVICE_TYPE_GPU)
                    self->gpus.push_back(agent);
                else
                    self->cpu = agent;
                return r;
            },
            this));
        ASSERT_FALSE(gpus.empty());
        ASSERT_NE(cpu.handle, 0u);
    }
    void TearDown() override { HSA_OK(hsa_shut_down()); }

    hsa_amd_memory_pool_t pool(hsa_agent_t agent, uint32_t flags) {
        struct Search {
            uint32_t flags;
            hsa_amd_memory_pool_t found;
        } search{flags, {0}};
        hsa_amd_agent_iterate_memory_pools(
            agent,
            [](hsa_amd_memory_pool_t p, void* data) {
                auto* s = static_cast<Search*>(data);
                uint32_t segment = 0, has = 0;
                hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
                hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &has);
                if (segment == HSA_AMD_SEGMENT_GLOBAL && has == s->flags) s->found = p;
                return HSA_STATUS_SUCCESS;
            },
            &search);
        return search.found;
    }

    template <class T>
    T* allocate(size_t count) {
        void* p = nullptr;
        EXPECT_EQ(hsa_amd_memory_pool_allocate(
                      pool(gpus[0], HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED),
                      count * sizeof(T), 0, &p),
                  HSA_STATUS_SUCCESS);
        return static_cast<T*>(p);
    }

    hsa_signal_t signal(hsa_signal_value_t value) {
        hsa_signal_t s{0};
        EXPECT_EQ(hsa_signal_create(value, 0, nullptr, &s), HSA_STATUS_SUCCESS);
        return s;
    }

    hsa_signal_value_t wait_zero(hsa_signal_t s) {
        return hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, 10'000'000'000,
                                         HSA_WAIT_STATE_BLOCKED);
    }

    hsa_agent_t cpu{0};
    std::vector<hsa_agent_t> gpus;
};

// A queue that is filled with packets of 64 bytes.
class TestQueue {
public:
    TestQueue(hsa_agent_t agent, uint32_t size,
              void (*callback)(hsa_status_t, hsa_queue_t*, void*) = nullptr, void* data = nullptr) {
        EXPECT_EQ(hsa_queue_create(agent, size, HSA_QUEUE_TYPE_MULTI, callback, data, UINT32_MAX,
                                   UINT32_MAX, &queue),
                  HSA_STATUS_SUCCESS);
    }
    ~TestQueue() { EXPECT_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS); }

    // As HIP does it: index, body, header, doorbell.
    template <class Packet>
    void submit(const Packet& packet, uint16_t header) {
        static_assert(sizeof packet == 64);
        const uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
        while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
        }
        auto* slot = static_cast<Packet*>(queue->base_address) + index % queue->size;
        uint32_t first;
        std::memcpy(&first, &packet, 4);
        std::memcpy(reinterpret_cast<char*>(slot) + 4, reinterpret_cast<const char*>(&packet) + 4,
                    60);
        __atomic_store_n(reinterpret_cast<uint32_t*>(slot), (first & 0xffff0000u) | header,
                         __ATOMIC_RELEASE);
        hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
    }

    void barrier(uint16_t type, std::vector<hsa_signal_t> dependencies, hsa_signal_t completion) {
        hsa_barrier_and_packet_t p{};
        for (size_t i = 0; i < dependencies.size(); i++) p.dep_signal[i] = dependencies[i];
        p.completion_signal = completion;
        submit(p, static_cast<uint16_t>(type | 1 << HSA_PACKET_HEADER_BARRIER));
    }

    hsa_queue_t* queue = nullptr;
};
