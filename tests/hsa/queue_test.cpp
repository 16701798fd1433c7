// The packet processor without kernels: contract sections 5.1 to 5.3, 6.2 and 11.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/hsa/fixture.h"

namespace {

using namespace std::chrono_literals;

constexpr uint16_t barrier_and = HSA_PACKET_TYPE_BARRIER_AND,
                   barrier_or = HSA_PACKET_TYPE_BARRIER_OR;

TEST_F(Hsa, QueueLayoutIsWhatDeviceCodeReads) {
    TestQueue q(gpus[0], 64);
    const auto* bytes = reinterpret_cast<const unsigned char*>(q.queue);
    EXPECT_EQ(reinterpret_cast<uint64_t>(bytes) % 64, 0u);
    const auto* abi = reinterpret_cast<const amd_queue_t*>(q.queue);
    EXPECT_LE(reinterpret_cast<uint64_t>(bytes) % 4096 + sizeof *abi, 4096u);  // so within 4 GiB
    EXPECT_EQ(abi->hsa_queue.size, 64u);
    const auto zeros = [](const void* memory, size_t offset, size_t count) {
        const auto* from = static_cast<const unsigned char*>(memory) + offset;
        return std::all_of(from, from + count, [](unsigned char c) { return c == 0; });
    };
    EXPECT_TRUE(zeros(bytes, 40, 16));  // reserved
    EXPECT_TRUE(zeros(bytes, 56, 8));   // write_dispatch_id
    EXPECT_TRUE(zeros(bytes, 92, 36));  // padding
    EXPECT_TRUE(zeros(bytes, 128, 8));  // read_dispatch_id
    uint32_t units = 0, waves = 0;
    HSA_OK(hsa_agent_get_info(
        gpus[0], static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), &units));
    HSA_OK(hsa_agent_get_info(
        gpus[0], static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU), &waves));
    EXPECT_EQ(abi->max_cu_id, units - 1);
    EXPECT_EQ(abi->max_wave_id, waves - 1);
    const auto* bell = reinterpret_cast<const amd_signal_t*>(q.queue->doorbell_signal.handle);
    EXPECT_EQ(bell->kind, -1);  // AMD_SIGNAL_KIND_DOORBELL
    EXPECT_EQ(bell->queue_ptr, abi);
    EXPECT_EQ(bell->event_mailbox_ptr, 0u);
    EXPECT_EQ(*bell->hardware_doorbell_ptr, ~uint64_t{0});
    EXPECT_EQ(abi->read_dispatch_id_field_base_byte_offset, 128u);
    EXPECT_EQ(abi->group_segment_aperture_base_hi, 0x10000u);  // gfx9: SH_MEM_BASES
    EXPECT_EQ(abi->private_segment_aperture_base_hi, 0x20000u);
    EXPECT_TRUE(abi->queue_properties & AMD_QUEUE_PROPERTIES_IS_PTR64);
    EXPECT_EQ(hsa_signal_load_relaxed(q.queue->doorbell_signal), -1);
    for (uint32_t i = 0; i < 64; i++)
        EXPECT_EQ(static_cast<uint8_t*>(q.queue->base_address)[i * 64], HSA_PACKET_TYPE_INVALID);
    HSA_OK(hsa_amd_profiling_set_profiler_enabled(q.queue, 1));
    EXPECT_TRUE(abi->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING);
}

TEST_F(Hsa, QueueArgumentsAreChecked) {
    hsa_queue_t* q = nullptr;
    const auto create = [&](hsa_agent_t agent, uint32_t size) {
        return hsa_queue_create(agent, size, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &q);
    };
    EXPECT_EQ(create(gpus[0], 100), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(create(gpus[0], 1u << 18), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(create(cpu, 64), HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
    EXPECT_EQ(create({12345}, 64), HSA_STATUS_ERROR_INVALID_AGENT);
}

TEST_F(Hsa, BarriersCompleteInOrderAndTheRingWraps) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t s = signal(1000);
    for (int i = 0; i < 1000; i++) q.barrier(barrier_and, {}, s);
    EXPECT_EQ(wait_zero(s), 0);
    EXPECT_EQ(hsa_queue_load_read_index_scacquire(q.queue), 1000u);
    for (uint32_t i = 0; i < 64; i++)
        EXPECT_EQ(static_cast<uint8_t*>(q.queue->base_address)[i * 64], HSA_PACKET_TYPE_INVALID);
    HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, BarrierAndWaitsForAll) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t a = signal(1), b = signal(2), done = signal(1), after = signal(1);
    q.barrier(barrier_and, {a, {0}, b}, done);
    q.barrier(barrier_and, {}, after);
    hsa_signal_store_screlease(a, 0);
    hsa_signal_store_screlease(b, 1);
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(hsa_signal_load_relaxed(done), 1);
    EXPECT_EQ(hsa_signal_load_relaxed(after), 1);
    hsa_signal_subtract_screlease(b, 1);
    EXPECT_EQ(wait_zero(after), 0);
    EXPECT_EQ(hsa_signal_load_relaxed(done), 0);
    for (hsa_signal_t s : {a, b, done, after}) HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, BarrierOrWaitsForOne) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t a = signal(1), b = signal(1), done = signal(1);
    q.barrier(barrier_or, {a, b}, done);
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(hsa_signal_load_relaxed(done), 1);
    hsa_signal_store_relaxed(b, 0);
    EXPECT_EQ(wait_zero(done), 0);
    for (hsa_signal_t s : {a, b, done}) HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, DependenciesWrittenBehindTheRuntimesBack) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t a = signal(1), done = signal(1);
    q.barrier(barrier_and, {a}, done);
    volatile hsa_signal_value_t* word = nullptr;
    HSA_OK(hsa_amd_signal_value_pointer(a, &word));
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    EXPECT_EQ(wait_zero(done), 0);
    for (hsa_signal_t s : {a, done}) HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, BarrierValuePacket) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t a = signal(0x10), done = signal(1);
    hsa_amd_barrier_value_packet_t p{};
    p.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    p.signal = a;
    p.mask = 0xf;
    p.value = 5;
    p.cond = HSA_SIGNAL_CONDITION_EQ;
    p.completion_signal = done;
    q.submit(p, HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER);
    hsa_signal_store_relaxed(a, 0x16);
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(hsa_signal_load_relaxed(done), 1);
    hsa_signal_store_relaxed(a, 0x25);
    EXPECT_EQ(wait_zero(done), 0);
    for (hsa_signal_t s : {a, done}) HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, QueuesWaitForEachOther) {
    constexpr int count = 8, rounds = 300;
    std::vector<std::unique_ptr<TestQueue>> queues;
    for (int i = 0; i < count; i++) queues.push_back(std::make_unique<TestQueue>(gpus[0], 64));
    // A chain over all queues, round after round; each link is rung by its own thread.
    std::vector<hsa_signal_t> links(count * rounds + 1);
    for (auto& s : links) s = signal(1);
    std::vector<std::thread> threads;
    for (int q = 0; q < count; q++)
        threads.emplace_back([&, q] {
            for (int r = 0; r < rounds; r++) {
                const size_t at = static_cast<size_t>(r) * count + static_cast<size_t>(q);
                queues[static_cast<size_t>(q)]->barrier(barrier_and, {links[at]}, links[at + 1]);
            }
        });
    hsa_signal_store_screlease(links[0], 0);
    EXPECT_EQ(wait_zero(links.back()), 0);
    for (auto& t : threads) t.join();
    for (auto s : links) HSA_OK(hsa_signal_destroy(s));
}

// SEED-DISP-04: the header makes a packet valid, not the index or the doorbell.
TEST_F(Hsa, PacketsAreValidOnceTheirHeaderIs) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t done = signal(1);
    const uint64_t index = hsa_queue_add_write_index_screlease(q.queue, 1);
    auto* slot = static_cast<hsa_barrier_and_packet_t*>(q.queue->base_address) + index;
    slot->completion_signal = done;
    hsa_signal_store_screlease(q.queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(hsa_signal_load_scacquire(done), 1);
    EXPECT_EQ(hsa_queue_load_read_index_scacquire(q.queue), 0u);
    __atomic_store_n(&slot->header, uint16_t{barrier_and}, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(q.queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
    EXPECT_EQ(wait_zero(done), 0);
    HSA_OK(hsa_signal_destroy(done));
}

TEST_F(Hsa, ManyProducersOfAFullQueue) {
    constexpr int producers = 4, each = 200;
    TestQueue q(gpus[0], 64);
    const hsa_signal_t gate = signal(1), done = signal(producers * each);
    q.barrier(barrier_and, {gate}, {0});
    std::vector<std::thread> threads;
    for (int t = 0; t < producers; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < each; i++) q.barrier(barrier_and, {}, done);
        });
    while (hsa_queue_load_write_index_scacquire(q.queue) <= 64) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(hsa_queue_load_read_index_scacquire(q.queue), 0u);  // full: who wants more waits
    EXPECT_EQ(hsa_signal_load_scacquire(done), producers * each);
    hsa_signal_store_screlease(gate, 0);
    for (auto& t : threads) t.join();
    EXPECT_EQ(wait_zero(done), 0);
    EXPECT_EQ(hsa_queue_load_read_index_scacquire(q.queue), producers * each + 1u);
    for (hsa_signal_t s : {gate, done}) HSA_OK(hsa_signal_destroy(s));
}

// SEED-DISP-33
TEST_F(Hsa, QueueIndicesInEveryOrder) {
    TestQueue q(gpus[0], 64);
    uint64_t written = 0;
    for (auto add : {hsa_queue_add_write_index_relaxed, hsa_queue_add_write_index_acquire,
                     hsa_queue_add_write_index_scacquire, hsa_queue_add_write_index_release,
                     hsa_queue_add_write_index_screlease, hsa_queue_add_write_index_acq_rel,
                     hsa_queue_add_write_index_scacq_screl}) {
        EXPECT_EQ(add(q.queue, 3), written);
        written += 3;
    }
    for (auto exchange : {hsa_queue_cas_write_index_relaxed, hsa_queue_cas_write_index_acquire,
                          hsa_queue_cas_write_index_scacquire, hsa_queue_cas_write_index_release,
                          hsa_queue_cas_write_index_screlease, hsa_queue_cas_write_index_acq_rel,
                          hsa_queue_cas_write_index_scacq_screl}) {
        EXPECT_EQ(exchange(q.queue, written + 1, 5), written);  // not that value: nothing changes
        EXPECT_EQ(exchange(q.queue, written, written + 2), written);
        written += 2;
    }
    for (auto load : {hsa_queue_load_write_index_relaxed, hsa_queue_load_write_index_acquire,
                      hsa_queue_load_write_index_scacquire})
        EXPECT_EQ(load(q.queue), 35u);
    for (auto store : {hsa_queue_store_write_index_relaxed, hsa_queue_store_write_index_release,
                       hsa_queue_store_write_index_screlease}) {
        store(q.queue, ++written);
        EXPECT_EQ(hsa_queue_load_write_index_scacquire(q.queue), written);
    }
    uint64_t read = 40;
    for (auto store : {hsa_queue_store_read_index_relaxed, hsa_queue_store_read_index_release,
                       hsa_queue_store_read_index_screlease}) {
        store(q.queue, ++read);
        for (auto load : {hsa_queue_load_read_index_relaxed, hsa_queue_load_read_index_acquire,
                          hsa_queue_load_read_index_scacquire})
            EXPECT_EQ(load(q.queue), read);
    }
}

// SEED-DISP-32
TEST_F(Hsa, QueuesOfAllTypes) {
    hsa_queue_type_t type{};
    HSA_OK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_QUEUE_TYPE, &type));
    EXPECT_EQ(type, HSA_QUEUE_TYPE_MULTI);  // gfx9: any number of producers
    for (hsa_queue_type32_t t :
         {HSA_QUEUE_TYPE_SINGLE, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_TYPE_COOPERATIVE}) {
        hsa_queue_t* q = nullptr;
        HSA_OK(hsa_queue_create(gpus[0], 64, t, nullptr, nullptr, 0, 0, &q));
        EXPECT_EQ(q->type, t);
        HSA_OK(hsa_queue_destroy(q));
    }
}

struct Error {
    std::atomic<uint32_t> status{0};
    hsa_queue_t* queue = nullptr;
};
void on_error(hsa_status_t status, hsa_queue_t* queue, void* data) {
    auto* e = static_cast<Error*>(data);
    e->queue = queue;
    e->status = status;
}
uint32_t error_of(Error& e) {
    for (int i = 0; i < 5000 && !e.status; i++) std::this_thread::sleep_for(1ms);
    return e.status;
}

TEST_F(Hsa, MalformedPacketsAreReported) {
    for (uint16_t type : {uint16_t{HSA_PACKET_TYPE_AGENT_DISPATCH}, uint16_t{77}, uint16_t{0}}) {
        Error e;
        TestQueue q(gpus[0], 64, on_error, &e);
        hsa_barrier_and_packet_t p{};  // as a vendor packet: format 0
        q.submit(p, type);
        EXPECT_EQ(error_of(e), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT) << type;
        EXPECT_EQ(e.queue, q.queue);
        const auto* abi = reinterpret_cast<const amd_queue_t*>(q.queue);
        EXPECT_EQ(hsa_signal_load_relaxed(abi->queue_inactive_signal),
                  HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    }
}

TEST_F(Hsa, BarrierValueWithoutSuchACondition) {
    Error e;
    TestQueue q(gpus[0], 64, on_error, &e);
    const hsa_signal_t a = signal(7), done = signal(1);
    hsa_amd_barrier_value_packet_t p{};
    p.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    p.signal = a;
    p.mask = -1;
    p.cond = HSA_SIGNAL_CONDITION_GTE + 1;  // as which it was taken would hold
    p.completion_signal = done;
    q.submit(p, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
    EXPECT_EQ(error_of(e), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    EXPECT_EQ(hsa_signal_load_relaxed(done), 1);
    for (hsa_signal_t s : {a, done}) HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, KernelObjectThatIsNone) {
    Error e;
    TestQueue q(gpus[0], 64, on_error, &e);
    hsa_kernel_dispatch_packet_t p{};
    p.setup = 1;
    p.workgroup_size_x = p.workgroup_size_y = p.workgroup_size_z = 1;
    p.grid_size_x = p.grid_size_y = p.grid_size_z = 1;
    p.kernel_object = 0x1000;
    q.submit(p, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    EXPECT_EQ(error_of(e), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

TEST_F(Hsa, DestroyAQueueThatWaits) {
    const hsa_signal_t never = signal(1);
    {
        TestQueue q(gpus[0], 64);
        q.barrier(barrier_and, {never}, {0});
    }
    hsa_signal_store_relaxed(never, 0);
    HSA_OK(hsa_signal_destroy(never));
}

TEST_F(Hsa, CuMasks) {
    TestQueue q(gpus[0], 64);
    uint32_t mask = 0, units = 0;
    HSA_OK(hsa_agent_get_info(
        gpus[0], static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), &units));
    HSA_OK(hsa_amd_queue_cu_get_mask(q.queue, 32, &mask));
    EXPECT_EQ(mask, units >= 32 ? ~0u : (1u << units) - 1);
    mask = 5;
    HSA_OK(hsa_amd_queue_cu_set_mask(q.queue, 32, &mask));
    mask = 0;
    HSA_OK(hsa_amd_queue_cu_get_mask(q.queue, 32, &mask));
    EXPECT_EQ(mask, 5u);
    EXPECT_EQ(hsa_amd_queue_cu_set_mask(q.queue, 31, &mask), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(Hsa, BarrierTimestamps) {
    TestQueue q(gpus[0], 64);
    const hsa_signal_t a = signal(1), b = signal(1);
    uint64_t before = 0, after = 0;
    HSA_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before));
    q.barrier(barrier_and, {}, a);
    std::this_thread::sleep_for(3ms);
    q.barrier(barrier_and, {}, b);
    wait_zero(b);
    HSA_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after));
    hsa_amd_profiling_dispatch_time_t ta, tb;
    HSA_OK(hsa_amd_profiling_get_dispatch_time(gpus[0], a, &ta));
    HSA_OK(hsa_amd_profiling_get_dispatch_time(gpus[0], b, &tb));
    EXPECT_LE(before, ta.start);
    EXPECT_LE(ta.start, ta.end);
    EXPECT_GE(tb.start - ta.end, 3'000'000u);
    EXPECT_LE(tb.end, after);
    const auto* abi = reinterpret_cast<const amd_signal_t*>(a.handle);
    EXPECT_EQ(abi->start_ts, ta.start);
    EXPECT_EQ(abi->end_ts, ta.end);
    for (hsa_signal_t s : {a, b}) HSA_OK(hsa_signal_destroy(s));
}

}  // namespace
