// A process that may start no more threads: errors with a message instead of an exception that ends
// the program.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "tests/frontend/build_objects.h"
#include "tests/hsa/fixture.h"

namespace {
std::atomic<bool> no_threads{false};
}

// In front of libc's, for all libraries of this process.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
    static const auto real =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return no_threads ? EAGAIN : real(thread, attributes, start, argument);
}

namespace {

struct Error {
    std::atomic<uint32_t> status{0};
};

TEST_F(Hsa, WithoutThreads) {
    char name[64] = "";
    HSA_OK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_NAME, name));
    wj::test::Workshop shop;
    const auto object = shop.assemble(
        wj::test::kernel_source(
            "empty", std::string(".amdhsa_next_free_vgpr 4\n"
                                 ".amdhsa_next_free_sgpr 16\n") +
                         (std::string(name) == "gfx90a" ? ".amdhsa_accum_offset 4\n" : "")),
        name);
    ASSERT_FALSE(object.empty()) << shop.log();
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    HSA_OK(hsa_code_object_reader_create_from_memory(object.data(), object.size(), &reader));
    HSA_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                     nullptr, &executable));
    HSA_OK(hsa_executable_load_agent_code_object(executable, gpus[0], reader, nullptr, nullptr));
    HSA_OK(hsa_executable_freeze(executable, nullptr));
    hsa_executable_symbol_t symbol;
    HSA_OK(hsa_executable_get_symbol_by_name(executable, "empty.kd", &gpus[0], &symbol));
    hsa_kernel_dispatch_packet_t p{};
    HSA_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                          &p.kernel_object));
    p.setup = 1;
    p.workgroup_size_x = p.workgroup_size_y = p.workgroup_size_z = 1;
    p.grid_size_x = p.grid_size_y = p.grid_size_z = 1;
    p.completion_signal = signal(1);

    no_threads = true;
    testing::internal::CaptureStderr();
    {
        // No worker runs it, no monitor calls back: the queue's error callback is called at once.
        Error error;
        TestQueue q(
            gpus[0], 64,
            [](hsa_status_t status, hsa_queue_t*, void* data) {
                static_cast<Error*>(data)->status = status;
            },
            &error);
        q.submit(p, HSA_PACKET_TYPE_KERNEL_DISPATCH);
        EXPECT_NE(error.status, 0u);
        EXPECT_EQ(hsa_signal_load_scacquire(p.completion_signal), 1);
    }
    EXPECT_EQ(hsa_amd_signal_async_handler(
                  p.completion_signal, HSA_SIGNAL_CONDITION_EQ, 0,
                  [](hsa_signal_value_t, void*) { return false; }, nullptr),
              HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    // A large copy is done by the thread that asks for it.
    constexpr size_t bytes = 8 << 20;
    auto *from = allocate<uint8_t>(bytes), *to = allocate<uint8_t>(bytes);
    std::memset(from, 0x5a, bytes);
    const hsa_signal_t copied = signal(1);
    HSA_OK(hsa_amd_memory_async_copy(to, gpus[0], from, gpus[0], bytes, 0, nullptr, copied));
    EXPECT_EQ(hsa_signal_load_scacquire(copied), 0);
    EXPECT_EQ(std::memcmp(from, to, bytes), 0);
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_NE(message.find("no thread can be started to run work-groups"), std::string::npos)
        << message;
    EXPECT_NE(message.find("ulimit -u"), std::string::npos);

    no_threads = false;  // and when threads may be had again, all goes on
    TestQueue q(gpus[0], 64);
    q.submit(p, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    EXPECT_EQ(wait_zero(p.completion_signal), 0);
    for (void* m : {from, to}) HSA_OK(hsa_amd_memory_pool_free(m));
    for (hsa_signal_t s : {copied, p.completion_signal}) HSA_OK(hsa_signal_destroy(s));
    HSA_OK(hsa_executable_destroy(executable));
    HSA_OK(hsa_code_object_reader_destroy(reader));
}

}  // namespace
