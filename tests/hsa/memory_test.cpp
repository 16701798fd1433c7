// Pools, registered memory, copies: contract sections 4 and 9.
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/hsa/fixture.h"

namespace {

using namespace std::chrono_literals;

TEST_F(Hsa, PoolsOfTheContract) {
    for (uint32_t flags : {2u, 3u, 4u}) EXPECT_NE(pool(cpu, flags).handle, 0u) << flags;
    EXPECT_NE(pool(gpus[0], 4).handle, 0u);
    hsa_amd_memory_pool_access_t access;
    HSA_OK(hsa_amd_agent_memory_pool_get_info(cpu, pool(gpus[0], 4),
                                              HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
    EXPECT_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);  // the host may be let in
    hsa_amd_memory_pool_link_info_t link{};
    HSA_OK(hsa_amd_agent_memory_pool_get_info(gpus[0], pool(cpu, 2),
                                              HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &link));
    EXPECT_TRUE(link.atomic_support_32bit && link.atomic_support_64bit);
}

TEST_F(Hsa, AllocationsAreZeroedSeparateAndFreed) {
    auto* a = allocate<uint32_t>(1000);
    auto* b = allocate<uint32_t>(1000);
    EXPECT_EQ(reinterpret_cast<uint64_t>(a) % 4096, 0u);
    for (int i = 0; i < 1000; i++) EXPECT_EQ(a[i], 0u);
    a[0] = 7;
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    HSA_OK(hsa_amd_pointer_info(a + 5, &info, nullptr, nullptr, nullptr));
    EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_HSA);
    EXPECT_EQ(info.agentBaseAddress, a);
    EXPECT_EQ(info.hostBaseAddress, a);
    EXPECT_EQ(info.sizeInBytes, 4096u);
    EXPECT_EQ(info.agentOwner.handle, gpus[0].handle);
    HSA_OK(hsa_amd_memory_pool_free(a));
    HSA_OK(hsa_amd_memory_pool_free(b));
    HSA_OK(hsa_amd_memory_pool_free(nullptr));  // contract 4.2
    EXPECT_EQ(hsa_amd_memory_pool_free(b), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_OK(hsa_amd_pointer_info(a, &info, nullptr, nullptr, nullptr));
    EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
}

TEST_F(Hsa, AccessListsAndUserData) {
    auto* p = allocate<char>(10);
    HSA_OK(hsa_amd_agents_allow_access(1, &cpu, nullptr, p));
    HSA_OK(hsa_amd_pointer_info_set_userdata(p, &cpu));
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    uint32_t count = 0;
    hsa_agent_t* list = nullptr;
    HSA_OK(hsa_amd_pointer_info(p, &info, malloc, &count, &list));
    EXPECT_EQ(info.userData, &cpu);
    EXPECT_EQ(count, 2u);
    free(list);
    EXPECT_EQ(hsa_amd_agents_allow_access(1, &cpu, nullptr, &info),
              HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_OK(hsa_amd_memory_pool_free(p));
}

TEST_F(Hsa, DeallocationCallback) {
    auto* p = allocate<char>(10);
    void* seen = nullptr;
    const auto callback = [](void* ptr, void* data) { *static_cast<void**>(data) = ptr; };
    HSA_OK(hsa_amd_register_deallocation_callback(p, callback, &seen));
    HSA_OK(hsa_amd_memory_pool_free(p));
    EXPECT_EQ(seen, p);
}

TEST_F(Hsa, TooMuchMemory) {
    size_t size = 0;
    const auto p = pool(gpus[0], 4);
    HSA_OK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    void* ptr = nullptr;
    EXPECT_EQ(hsa_amd_memory_pool_allocate(p, size + 4096, 0, &ptr),
              HSA_STATUS_ERROR_INVALID_ALLOCATION);
    EXPECT_EQ(hsa_amd_memory_pool_allocate(p, 0, 0, &ptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(Hsa, RegisteredMemoryHasAnAlias) {
    std::vector<uint32_t> host(5000);
    for (size_t i = 0; i < host.size(); i++) host[i] = static_cast<uint32_t>(i * i);
    void *staging = nullptr, *registered = nullptr;
    const size_t bytes = host.size() * 4;
    HSA_OK(hsa_amd_memory_lock_to_pool(host.data(), bytes, nullptr, 0, pool(cpu, 4), 0, &staging));
    EXPECT_EQ(staging, host.data());
    HSA_OK(
        hsa_amd_memory_lock_to_pool(host.data(), bytes, nullptr, 0, pool(cpu, 2), 0, &registered));
    EXPECT_EQ(reinterpret_cast<uint64_t>(registered),
              reinterpret_cast<uint64_t>(host.data()) | 1ull << 47);
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    HSA_OK(hsa_amd_pointer_info(registered, &info, nullptr, nullptr, nullptr));
    EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
    EXPECT_EQ(info.hostBaseAddress, host.data());
    auto* device = allocate<uint32_t>(host.size());
    const hsa_signal_t done = signal(1);
    HSA_OK(hsa_amd_memory_async_copy(device, gpus[0], registered, cpu, bytes, 0, nullptr, done));
    EXPECT_EQ(wait_zero(done), 0);
    EXPECT_EQ(std::memcmp(device, host.data(), bytes), 0);
    HSA_OK(hsa_amd_memory_unlock(host.data()));
    HSA_OK(hsa_amd_memory_unlock(host.data()));
    HSA_OK(hsa_amd_memory_pool_free(device));
    HSA_OK(hsa_signal_destroy(done));
}

TEST_F(Hsa, CopiesOfAllSizesCompleteTheirSignals) {
    for (size_t bytes :
         {size_t{0}, size_t{1}, size_t{4097}, size_t{1} << 20, (size_t{5} << 20) + 3}) {
        std::vector<char> in(bytes + 1), out(bytes + 1);
        for (size_t i = 0; i < bytes; i++) in[i] = static_cast<char>(i * 7 + i / 256);
        auto* device = allocate<char>(bytes + 1);
        const hsa_signal_t up = signal(1), down = signal(1);
        // The second waits for the first.
        HSA_OK(hsa_amd_memory_async_copy(device, gpus[0], in.data(), cpu, bytes, 0, nullptr, up));
        HSA_OK(hsa_amd_memory_async_copy(out.data(), cpu, device, gpus[0], bytes, 1, &up, down));
        EXPECT_EQ(wait_zero(down), 0);
        EXPECT_EQ(hsa_signal_load_relaxed(up), 0);
        EXPECT_EQ(in, out);
        hsa_amd_profiling_async_copy_time_t t{};
        HSA_OK(hsa_amd_profiling_get_async_copy_time(down, &t));
        EXPECT_LE(t.start, t.end);
        EXPECT_NE(t.end, 0u);
        for (hsa_signal_t s : {up, down}) HSA_OK(hsa_signal_destroy(s));
        HSA_OK(hsa_amd_memory_pool_free(device));
    }
}

TEST_F(Hsa, CopyWaitsForItsDependency) {
    int from = 5, to = 0;
    const hsa_signal_t go = signal(2), done = signal(1);
    HSA_OK(hsa_amd_memory_async_copy(&to, cpu, &from, cpu, 4, 1, &go, done));
    hsa_signal_subtract_relaxed(go, 1);
    std::this_thread::sleep_for(3ms);
    EXPECT_EQ(hsa_signal_load_relaxed(done), 1);
    EXPECT_EQ(to, 0);
    hsa_signal_subtract_relaxed(go, 1);
    EXPECT_EQ(wait_zero(done), 0);
    EXPECT_EQ(to, 5);
    for (hsa_signal_t s : {go, done}) HSA_OK(hsa_signal_destroy(s));
}

TEST_F(Hsa, CopyOfABox) {
    // Pitches and slices differ; a 5 x 3 x 2 box goes from (2,1,1) to (1,0,1).
    std::vector<unsigned char> from(8 * 6 * 4), to(16 * 5 * 3, 0xee);
    for (size_t i = 0; i < from.size(); i++) from[i] = static_cast<unsigned char>(i);
    const hsa_pitched_ptr_t src{from.data(), 8, 8 * 6}, dst{to.data(), 16, 16 * 5};
    const hsa_dim3_t src_at{2, 1, 1}, dst_at{1, 0, 1}, size{5, 3, 2};
    const hsa_signal_t done = signal(1);
    HSA_OK(hsa_amd_memory_async_copy_rect(&dst, &dst_at, &src, &src_at, &size, gpus[0],
                                          hsaHostToHost, 0, nullptr, done));
    EXPECT_EQ(wait_zero(done), 0);
    for (uint32_t z = 0; z < 3; z++)
        for (uint32_t y = 0; y < 5; y++)
            for (uint32_t x = 0; x < 16; x++) {
                const bool inside = x >= 1 && x < 6 && y < 3 && z >= 1;
                const unsigned expected =
                    inside ? (x - 1 + 2) + (y + 1) * 8 + (z - 1 + 1) * 48 : 0xee;
                ASSERT_EQ(to[x + y * 16 + z * 80], expected) << x << ' ' << y << ' ' << z;
            }
    HSA_OK(hsa_signal_destroy(done));
}

TEST_F(Hsa, Fill) {
    auto* p = allocate<uint32_t>(100);
    HSA_OK(hsa_amd_memory_fill(p + 1, 0xabcd1234, 50));
    EXPECT_EQ(p[0], 0u);
    EXPECT_EQ(p[1], 0xabcd1234u);
    EXPECT_EQ(p[50], 0xabcd1234u);
    EXPECT_EQ(p[51], 0u);
    HSA_OK(hsa_amd_memory_pool_free(p));
}

TEST_F(Hsa, SvmAttributes) {
    const size_t bytes = 1 << 16;
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(p, MAP_FAILED);
    hsa_amd_svm_attribute_pair_t set[] = {{HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpus[0].handle},
                                          {HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1}};
    HSA_OK(hsa_amd_svm_attributes_set(p, bytes, set, 2));
    const hsa_signal_t done = signal(1);
    HSA_OK(hsa_amd_svm_prefetch_async(p, bytes, gpus[0], 0, nullptr, done));
    EXPECT_EQ(wait_zero(done), 0);
    hsa_amd_svm_attribute_pair_t get[] = {{HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpus[0].handle},
                                          {HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0},
                                          {HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 0}};
    HSA_OK(hsa_amd_svm_attributes_get(p, bytes, get, 3));
    EXPECT_EQ(get[0].attribute, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
    EXPECT_EQ(get[1].value, 1u);
    EXPECT_EQ(get[2].value, gpus[0].handle);
    HSA_OK(hsa_signal_destroy(done));
    munmap(p, bytes);
}

}  // namespace
