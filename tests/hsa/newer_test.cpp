// What HIP 6 and 7 ask for and HIP 5.2 does not: virtual memory, memory of other processes, files.
// The expected errors are those that AMD's hsa_ext_amd.h documents.
#include "tests/hsa/newer.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/hsa/fixture.h"

namespace {

constexpr size_t piece = 2 << 20;

class VirtualMemory : public Hsa {
protected:
    hsa_amd_vmem_alloc_handle_t create(size_t size) {
        hsa_amd_vmem_alloc_handle_t h{0};
        EXPECT_EQ(hsa_amd_vmem_handle_create(pool(gpus[0], 4), size, 0, 0, &h), HSA_STATUS_SUCCESS);
        return h;
    }
    hsa_status_t allow(void* va, size_t size, hsa_agent_t agent,
                       hsa_access_permission_t permission = HSA_ACCESS_PERMISSION_RW) {
        const hsa_amd_memory_access_desc_t d{permission, agent};
        return hsa_amd_vmem_set_access(va, size, &d, 1);
    }
};

TEST_F(VirtualMemory, IsSupported) {
    bool supported = false;
    HSA_OK(hsa_system_get_info(static_cast<hsa_system_info_t>(0x205), &supported));
    EXPECT_TRUE(supported);
}

// The same memory at two addresses, and beside other memory in one range.
TEST_F(VirtualMemory, MemoryIsSeenWhereItIsMapped) {
    char* va = nullptr;
    HSA_OK(hsa_amd_vmem_address_reserve(reinterpret_cast<void**>(&va), 3 * piece, 0, 0));
    const auto a = create(piece), b = create(piece);
    HSA_OK(hsa_amd_vmem_map(va, piece, 0, a, 0));
    HSA_OK(hsa_amd_vmem_map(va + piece, piece, 0, b, 0));
    HSA_OK(hsa_amd_vmem_map(va + 2 * piece, piece, 0, a, 0));
    HSA_OK(allow(va, 3 * piece, gpus[0]));
    EXPECT_EQ(va[0], 0);
    va[5] = 'a';
    va[piece + 5] = 'b';
    EXPECT_EQ(va[2 * piece + 5], 'a');
    va[2 * piece + 6] = 'c';
    EXPECT_EQ(va[6], 'c');
    // A copy on the device's side from one mapping into the next.
    const hsa_signal_t copied = signal(1);
    HSA_OK(hsa_amd_memory_async_copy(va + piece - 8, gpus[0], va + piece, gpus[0], 16, 0, nullptr,
                                     copied));
    EXPECT_EQ(wait_zero(copied), 0);
    EXPECT_EQ(va[piece - 8 + 5], 'b');
    HSA_OK(hsa_signal_destroy(copied));
    // Memory outlives its handle while it is mapped, and keeps its bytes.
    HSA_OK(hsa_amd_vmem_handle_release(a));
    EXPECT_EQ(va[5], 'a');
    hsa_amd_vmem_alloc_handle_t again{0};
    HSA_OK(hsa_amd_vmem_retain_alloc_handle(&again, va + 100));
    EXPECT_EQ(again.handle, a.handle);
    for (int i = 0; i < 3; i++) HSA_OK(hsa_amd_vmem_unmap(va + i * piece, piece));
    HSA_OK(hsa_amd_vmem_map(va + piece, piece, 0, again, 0));
    HSA_OK(allow(va + piece, piece, gpus[0]));
    EXPECT_EQ(va[piece + 5], 'a');
    HSA_OK(hsa_amd_vmem_unmap(va + piece, piece));
    HSA_OK(hsa_amd_vmem_handle_release(again));
    HSA_OK(hsa_amd_vmem_handle_release(b));
    EXPECT_EQ(hsa_amd_vmem_handle_release(b), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_OK(hsa_amd_vmem_address_free(va, 3 * piece));
}

TEST_F(VirtualMemory, Addresses) {
    void *a = nullptr, *b = nullptr;
    HSA_OK(hsa_amd_vmem_address_reserve_align(&a, piece, 0, 64 * piece, 0));
    EXPECT_EQ(reinterpret_cast<uint64_t>(a) % (64 * piece), 0u);
    // What is free again is given to who asks for it; what is taken is not.
    HSA_OK(hsa_amd_vmem_address_free(a, piece));
    HSA_OK(hsa_amd_vmem_address_reserve(&b, piece, reinterpret_cast<uint64_t>(a), 0));
    EXPECT_EQ(a, b);
    void* c = nullptr;
    HSA_OK(hsa_amd_vmem_address_reserve(&c, piece, reinterpret_cast<uint64_t>(b), 0));
    EXPECT_NE(c, b);
    EXPECT_EQ(hsa_amd_vmem_address_free(c, 2 * piece), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_OK(hsa_amd_vmem_address_free(c, piece));
    EXPECT_EQ(hsa_amd_vmem_address_free(c, piece), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_OK(hsa_amd_vmem_address_free(b, piece));
    HSA_OK(hsa_amd_vmem_address_reserve(&a, 100, 0, 0));  // as HIP 7 does for managed memory
    HSA_OK(hsa_amd_vmem_address_free(a, 100));
    // HSA_AMD_VMEM_ADDRESS_NO_REGISTER: memory of the host as long as nothing is mapped there.
    HSA_OK(hsa_amd_vmem_address_reserve(&a, 10000, 0, 1));
    std::memset(a, 5, 10000);
    HSA_OK(hsa_amd_vmem_address_free(a, 10000));
    EXPECT_EQ(hsa_amd_vmem_address_reserve(&a, 10000, 0, 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_vmem_address_reserve_align(&a, piece, 0, 3 << 20, 0),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_vmem_address_reserve(&a, size_t{1} << 60, 0, 0),
              HSA_STATUS_ERROR_OUT_OF_RESOURCES);
}

TEST_F(VirtualMemory, Errors) {
    char* va = nullptr;
    HSA_OK(hsa_amd_vmem_address_reserve(reinterpret_cast<void**>(&va), 2 * piece, 0, 0));
    const auto h = create(piece);
    EXPECT_EQ(hsa_amd_vmem_map(va + piece + 4096, piece, 0, h, 0),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_vmem_map(va, 2 * piece, 0, h, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_vmem_map(va, piece, 0, {12345}, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_OK(hsa_amd_vmem_map(va, piece, 0, h, 0));
    EXPECT_EQ(hsa_amd_vmem_map(va + 4096, piece, 0, h, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    hsa_access_permission_t permission{};
    EXPECT_EQ(hsa_amd_vmem_get_access(va, &permission, gpus[0]),
              HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_OK(allow(va, piece, gpus[0], HSA_ACCESS_PERMISSION_RO));
    HSA_OK(hsa_amd_vmem_get_access(va + 77, &permission, gpus[0]));
    EXPECT_EQ(permission, HSA_ACCESS_PERMISSION_RO);
    EXPECT_EQ(allow(va, piece, {4711}), HSA_STATUS_ERROR_INVALID_AGENT);
    EXPECT_EQ(allow(va, piece + 4096, gpus[0]), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(allow(va + piece, piece, gpus[0]), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    EXPECT_EQ(hsa_amd_vmem_address_free(va, 2 * piece), HSA_STATUS_ERROR_RESOURCE_FREE);
    EXPECT_EQ(hsa_amd_memory_pool_free(va), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    EXPECT_EQ(hsa_amd_vmem_unmap(va, 2 * piece), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_OK(hsa_amd_vmem_unmap(va, piece));
    EXPECT_EQ(hsa_amd_vmem_unmap(va, piece), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_OK(hsa_amd_vmem_handle_release(h));
    HSA_OK(hsa_amd_vmem_address_free(va, 2 * piece));
    size_t size = 0;
    hsa_amd_vmem_alloc_handle_t large{0};
    HSA_OK(hsa_amd_memory_pool_get_info(pool(gpus[0], 4), HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    EXPECT_EQ(hsa_amd_vmem_handle_create(pool(gpus[0], 4), (size / 4096 + 1) * 4096, 0, 0, &large),
              HSA_STATUS_ERROR_INVALID_ALLOCATION);
    EXPECT_EQ(hsa_amd_vmem_handle_create(pool(gpus[0], 4), 100, 0, 0, &large),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(VirtualMemory, ADescriptorStandsForTheSameMemory) {
    char* va = nullptr;
    HSA_OK(hsa_amd_vmem_address_reserve(reinterpret_cast<void**>(&va), 2 * piece, 0, 0));
    const auto h = create(piece);
    int descriptor = -1;
    HSA_OK(hsa_amd_vmem_export_shareable_handle(&descriptor, h, 0));
    hsa_amd_vmem_alloc_handle_t imported{0};
    HSA_OK(hsa_amd_vmem_import_shareable_handle(descriptor, &imported));
    close(descriptor);
    hsa_amd_memory_pool_t from{0};
    uint32_t type = 77;
    HSA_OK(hsa_amd_vmem_get_alloc_properties_from_handle(imported, &from, &type));
    EXPECT_EQ(from.handle, pool(gpus[0], 4).handle);
    HSA_OK(hsa_amd_vmem_map(va, piece, 0, h, 0));
    HSA_OK(hsa_amd_vmem_map(va + piece, piece, 0, imported, 0));
    HSA_OK(allow(va, 2 * piece, gpus[0]));
    va[9] = 9;
    EXPECT_EQ(va[piece + 9], 9);
    for (int i = 0; i < 2; i++) HSA_OK(hsa_amd_vmem_unmap(va + i * piece, piece));
    HSA_OK(hsa_amd_vmem_handle_release(h));
    HSA_OK(hsa_amd_vmem_handle_release(imported));
    HSA_OK(hsa_amd_vmem_address_free(va, 2 * piece));
    const int other = open("/dev/null", O_RDWR);
    EXPECT_EQ(hsa_amd_vmem_import_shareable_handle(other, &imported),
              HSA_STATUS_ERROR_INVALID_ALLOCATION);
    close(other);
}

std::string to_text(const hsa_amd_ipc_memory_t& handle) {
    std::string text;
    char word[12];
    for (uint32_t w : handle.handle) {
        std::snprintf(word, sizeof word, "%08x ", w);
        text += word;
    }
    return text;
}

hsa_amd_ipc_memory_t from_text(const char* text) {
    hsa_amd_ipc_memory_t handle{};
    for (uint32_t& w : handle.handle)
        w = static_cast<uint32_t>(std::strtoul(text, const_cast<char**>(&text), 16));
    return handle;
}

constexpr size_t shared_bytes = 3 * 4096;

// Run by the test below in a process of its own.
TEST_F(Hsa, IpcOtherProcess) {
    const char* text = std::getenv("WJ_TEST_IPC");
    if (!text) GTEST_SKIP() << "part of IpcMemory";
    const hsa_amd_ipc_memory_t handle = from_text(text);
    char* memory = nullptr;
    void** out = reinterpret_cast<void**>(&memory);
    EXPECT_EQ(hsa_amd_ipc_memory_attach(&handle, shared_bytes + 4096, 1, gpus.data(), out),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_OK(hsa_amd_ipc_memory_attach(&handle, shared_bytes, 1, gpus.data(), out));
    EXPECT_STREQ(memory + 5000, "from the first process");
    std::strcpy(memory + 9000, "from the second process");
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    HSA_OK(hsa_amd_pointer_info(memory + 1, &info, nullptr, nullptr, nullptr));
    EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_IPC);
    EXPECT_EQ(info.sizeInBytes, shared_bytes);
    EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    EXPECT_EQ(hsa_amd_ipc_memory_detach(memory + 4096), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_OK(hsa_amd_ipc_memory_detach(memory));
    EXPECT_EQ(hsa_amd_ipc_memory_detach(memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(Hsa, IpcMemory) {
    auto* memory = allocate<char>(shared_bytes);
    std::strcpy(memory + 5000, "from the first process");
    hsa_amd_ipc_memory_t handle;
    EXPECT_EQ(hsa_amd_ipc_memory_create(memory + 4096, 4096, &handle),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_ipc_memory_create(memory, 4096, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    HSA_OK(hsa_amd_ipc_memory_create(memory, shared_bytes, &handle));
    EXPECT_STREQ(memory + 5000, "from the first process");
    hsa_amd_ipc_memory_t same;
    HSA_OK(hsa_amd_ipc_memory_create(memory, shared_bytes, &same));
    EXPECT_EQ(to_text(same), to_text(handle));
    setenv("WJ_TEST_IPC", to_text(handle).c_str(), 1);
    char name[] = "hsa_tests", filter[] = "--gtest_filter=Hsa.IpcOtherProcess";
    char* words[] = {name, filter, nullptr};
    pid_t child = 0;
    ASSERT_EQ(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, words, environ), 0);
    unsetenv("WJ_TEST_IPC");
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_STREQ(memory + 9000, "from the second process");
    HSA_OK(hsa_amd_memory_pool_free(memory));
    void* gone = nullptr;
    EXPECT_EQ(hsa_amd_ipc_memory_attach(&handle, shared_bytes, 0, nullptr, &gone),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(Hsa, FilesAndDeviceMemory) {
    char path[] = "/tmp/wavejit-ais-XXXXXX";
    hsa_amd_ais_file_handle_t file{};
    file.fd = mkstemp(path);
    ASSERT_GE(file.fd, 0);
    unlink(path);
    auto* memory = allocate<char>(8192);
    std::strcpy(memory, "hello");
    uint64_t moved = 99;
    int32_t status = 99;
    HSA_OK(hsa_amd_ais_file_write(file, memory, 6, 1000, &moved, &status));
    EXPECT_EQ(moved, 6u);
    EXPECT_EQ(status, 0);
    // The file ends behind the word.
    HSA_OK(hsa_amd_ais_file_read(file, memory + 4096, 4096, 998, &moved, &status));
    EXPECT_EQ(moved, 8u);
    EXPECT_EQ(std::memcmp(memory + 4096, "\0\0hello\0", 8), 0);
    EXPECT_EQ(hsa_amd_ais_file_read(file, memory, 0, 0, &moved, &status),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_ais_file_read(file, nullptr, 1, 0, &moved, &status),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_amd_ais_file_read(file, memory + 4096, 4097, 0, &moved, &status),
              HSA_STATUS_ERROR);
    char own[16];
    EXPECT_EQ(hsa_amd_ais_file_read(file, own, 4, 0, &moved, &status), HSA_STATUS_ERROR);
    close(file.fd);
    EXPECT_EQ(hsa_amd_ais_file_read(file, memory, 4, 0, &moved, &status), HSA_STATUS_ERROR);
    EXPECT_EQ(status, -EBADF);
    EXPECT_EQ(moved, 0u);
    HSA_OK(hsa_amd_memory_pool_free(memory));
}

TEST_F(Hsa, PreferredCopyEngineIsOneThatExists) {
    uint32_t available = 0, preferred = 0;
    HSA_OK(hsa_amd_memory_copy_engine_status(gpus[0], cpu, &available));
    HSA_OK(hsa_amd_memory_get_preferred_copy_engine(gpus[0], cpu, &preferred));
    EXPECT_NE(preferred & available, 0u);
    EXPECT_EQ(hsa_amd_memory_get_preferred_copy_engine({1}, cpu, &preferred),
              HSA_STATUS_ERROR_INVALID_AGENT);
    EXPECT_EQ(hsa_amd_memory_get_preferred_copy_engine(gpus[0], cpu, nullptr),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(Hsa, SamplersAreRefused) {
    uint64_t sampler = 0;
    EXPECT_NE(hsa_ext_sampler_create_v2(gpus[0], nullptr, &sampler), HSA_STATUS_SUCCESS);
}

}  // namespace
