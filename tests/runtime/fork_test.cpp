// fork() and contexts (wavejit.h, "fork"): what a child may do with those of its parent.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class Fork : public Gpu {
protected:
    void SetUp() override {
        Gpu::SetUp();
        if (!context) return;
        copy = kernel("ids", "copy");
        from = buffer(bytes);
        to = buffer(bytes);
        for (uint32_t i = 0; i < items; ++i) host<uint32_t>(from)[i] = i * 2654435761u;
    }
    // Copies `items` dwords on a context. The bytes are right: 0.
    int copies(wj_status expected) {
        std::memset(host<uint8_t>(to), 0, bytes);
        wj_argument arguments[] = {WJ_POINTER(from), WJ_POINTER(to)};
        const wj_launch_options o = launch(arguments, {items}, {64});
        if (wj_launch(copy, &o, nullptr) != expected) return 1;
        return expected != WJ_OK || !std::memcmp(host<void>(from), host<void>(to), bytes) ? 0 : 2;
    }
    // What a child answers, or 100 + the signal that ended it.
    template <class Body>
    static int in_child(Body body) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            _exit(body());
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status);
    }

    static constexpr uint32_t items = 64 * 500, bytes = items * 4;
    wj_kernel* copy = nullptr;
    uint64_t from = 0, to = 0;
};

TEST_P(Fork, BeforeAnythingRanBothGoOn) {
    EXPECT_EQ(in_child([&] { return copies(WJ_OK); }), 0);
    EXPECT_EQ(copies(WJ_OK), 0);
}

// Translated code is memory of each process.
TEST_P(Fork, ChildTranslatesForItself) {
    int begin[2], end[2];
    ASSERT_EQ(pipe(begin) | pipe(end), 0);
    const pid_t child = fork();
    if (child == 0) {
        char c = 0;
        alarm(60);
        if (read(begin[0], &c, 1) != 1) _exit(9);
        // Another kernel than the parent's, over the place where its code is.
        wj_kernel* ids = kernel("ids", "ids");
        const uint64_t out = buffer(64 * 64 * 4);
        wj_argument arguments[] = {WJ_POINTER(out)};
        const wj_launch_options o = launch(arguments, {64}, {64});
        _exit(wj_launch(ids, &o, nullptr) != WJ_OK || write(end[1], &c, 1) != 1);
    }
    char c = 0;
    EXPECT_EQ(copies(WJ_OK), 0);
    ASSERT_EQ(write(begin[1], &c, 1), 1);
    close(end[1]);
    EXPECT_EQ(read(end[0], &c, 1), 1);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(copies(WJ_OK), 0);
    for (int fd : {begin[0], begin[1], end[0]}) close(fd);
}

TEST_P(Fork, AfterAKernelTheChildGetsErrors) {
    ASSERT_EQ(copies(WJ_OK), 0);
    EXPECT_EQ(in_child([&] { return copies(WJ_HOST_ERROR); }), 0);
    EXPECT_EQ(in_child([&] {
                  uint64_t address = 0;
                  return wj_memory_allocate(context.get(), 4096, &address) == WJ_HOST_ERROR &&
                                 std::string(wj_last_error(context.get())).find("fork") !=
                                     std::string::npos
                             ? 0
                             : 1;
              }),
              0);
    EXPECT_EQ(copies(WJ_OK), 0);
}

TEST_P(Fork, AfterAKernelTheChildMayCleanUpAndBeginAnew) {
    ASSERT_EQ(copies(WJ_OK), 0);
    EXPECT_EQ(in_child([&] {
                  modules.clear();
                  context.reset();
                  SetUp();
                  return copies(WJ_OK);
              }),
              0);
}

// A dispatch that is under way when the process forks belongs to the parent.
TEST_P(Fork, WhileAKernelRuns) {
    wj_argument arguments[] = {WJ_POINTER(from), WJ_POINTER(to)};
    const wj_launch_options o = launch(arguments, {items}, {64});
    wj_dispatch* d = nullptr;
    ASSERT_EQ(wj_dispatch_submit(copy, &o, &d), WJ_OK);
    dispatch.reset(d);
    EXPECT_EQ(in_child([&] {
                  const bool answers = wj_dispatch_wait(d) == WJ_HOST_ERROR &&
                                       wj_dispatch_wait_for(d, 1) == WJ_HOST_ERROR;
                  wj_dispatch_cancel(d);
                  dispatch.reset();
                  return answers ? 0 : 1;
              }),
              0);
    EXPECT_EQ(wj_dispatch_wait(d), WJ_OK);
}

TEST_P(Fork, ChildThatOnlyExits) {
    ASSERT_EQ(copies(WJ_OK), 0);
    testing::internal::CaptureStderr();
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

INSTANTIATE_TEST_SUITE_P(Engines, Fork,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED}),
                         setup_name);

}  // namespace
}  // namespace wj::test
