// The C interface in a process that may start no more threads.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "tests/runtime/gpu.h"

namespace {
std::atomic<bool> no_threads{false};
}

// In front of libc's.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
    static const auto real =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return no_threads ? EAGAIN : real(thread, attributes, start, argument);
}

namespace wj::test {
namespace {

class NoThreads : public Gpu {};

TEST_P(NoThreads, SubmittingIsAnErrorWithAMessage) {
    wj_kernel* k = kernel("asm", "set_flag");
    ASSERT_TRUE(k);
    const uint64_t out = buffer(4096);
    const wj_launch_options o = packed(out, 0);
    wj_dispatch* d = nullptr;
    no_threads = true;
    const wj_status status = wj_dispatch_submit(k, &o, &d);
    no_threads = false;
    EXPECT_EQ(status, WJ_HOST_ERROR);
    EXPECT_EQ(d, nullptr);
    EXPECT_NE(error().find("no thread can be started to run work-groups"), std::string::npos)
        << error();
    EXPECT_EQ(run(k, o), WJ_OK) << error();  // and when threads may be had again, all goes on
}

INSTANTIATE_TEST_SUITE_P(All, NoThreads,
                         testing::Values(Setup{"gfx900", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED}),
                         setup_name);

}  // namespace
}  // namespace wj::test
