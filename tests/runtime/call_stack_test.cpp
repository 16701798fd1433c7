// Call stacks of faults, findings and stopped waves, against the marks in the kernels' source.
#include <fstream>
#include <map>
#include <sstream>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

struct Expected {
    const char *function, *mark;
    bool inlined = false;
};
using Stack = std::vector<wj_stack_frame>;

// Lines of kernels/call_stack.cl by their marks.
std::map<std::string, uint32_t> marks() {
    std::ifstream in(std::string(WJ_TEST_SOURCES) + "/call_stack.cl");
    std::map<std::string, uint32_t> found;
    std::string line;
    for (uint32_t number = 1; std::getline(in, line); number++)
        if (const size_t at = line.find("// MARK "); at != std::string::npos)
            found[line.substr(at + 8)] = number;
    return found;
}

template <class Get>
Stack frames(Get get) {
    Stack stack;
    wj_stack_frame frame = WJ_INIT(wj_stack_frame);
    while (get(stack.size(), &frame) == WJ_OK) stack.push_back(frame);
    return stack;
}

class CallStackTest : public Gpu {
protected:
    // Runs kernels/`file`.cl, whose path `where` leads to memory that is not there.
    Stack stack_of(const char* file, uint32_t where, uint32_t depth = 0,
                   uint32_t keep = WJ_KEEP_NO_WAVES) {
        wj_kernel* const k = kernel(file, "calls");
        const uint64_t p = buffer(4096), far = 1 << 20;
        wj_argument arguments[] = {WJ_POINTER(p), WJ_POINTER(far), WJ_POINTER(where),
                                   WJ_POINTER(depth)};
        wj_launch_options o = launch(arguments, {64}, {64});
        o.keep_waves = keep;
        EXPECT_EQ(run(k, o), WJ_GUEST_FAULT) << error();
        return frames([&](size_t i, wj_stack_frame* f) {
            return wj_dispatch_get_frame(dispatch.get(), i, f);
        });
    }
    // Without the kernel itself, whose function the last one is.
    static void expect(const Stack& stack, std::vector<Expected> expected) {
        static const auto lines = marks();
        expected.back().inlined = true;
        expected.push_back({"calls", "kernel"});
        ASSERT_EQ(stack.size(), expected.size());
        for (size_t i = 0; i < stack.size(); i++) {
            SCOPED_TRACE(i);
            EXPECT_STREQ(stack[i].function, expected[i].function);
            EXPECT_EQ(stack[i].line, lines.at(expected[i].mark));
            EXPECT_GT(stack[i].column, 0u);
            EXPECT_TRUE(std::string(stack[i].file).ends_with("call_stack.cl")) << stack[i].file;
            EXPECT_EQ(stack[i].inlined != 0, expected[i].inlined);
            EXPECT_FALSE(stack[i].incomplete);
            if (expected[i].inlined) {
                EXPECT_EQ(stack[i].pc, stack[i + 1].pc);
            }
        }
    }
};

TEST_P(CallStackTest, InlinedFunctions) {
    const Stack stack = stack_of("call_stack", 0);
    expect(stack, {{"deep", "deep", true}, {"mid", "mid", true}, {"calls", "0"}});
    EXPECT_EQ(stack[0].pc, fault.pc);
    const std::string report = fault.report;
    EXPECT_NE(report.find("  stack       #0 deep at "), std::string::npos) << report;
    EXPECT_NE(report.find("              #3 calls at "), std::string::npos) << report;
}

TEST_P(CallStackTest, Callers) {
    const Stack stack = stack_of("call_stack", 1);
    expect(stack, {{"leaf", "leaf"}, {"middle", "middle leaf"}, {"calls", "1"}});
    EXPECT_EQ(stack[0].pc, fault.pc);
    EXPECT_NE(std::string(fault.source).find("call_stack.cl:"), std::string::npos);
}

TEST_P(CallStackTest, Recursion) {
    std::vector<Expected> expected{{"leaf", "leaf"}, {"recursive", "end"}};
    for (int i = 0; i < 9; i++) expected.push_back({"recursive", "again"});
    expected.push_back({"calls", "3"});
    expect(stack_of("call_stack", 3, 9), expected);
}

// Registers of waves are exact then.
TEST_P(CallStackTest, StoppedWaves) {
    const Stack told = stack_of("call_stack", 2, 0, WJ_KEEP_WAVES);
    expect(
        told,
        {{"deep", "deep", true}, {"mid", "mid", true}, {"middle", "middle mid"}, {"calls", "2"}});
    wj_wave* const wave = wj_dispatch_wave_at(dispatch.get(), 0);
    ASSERT_TRUE(wave);
    const Stack stack =
        frames([&](size_t i, wj_stack_frame* f) { return wj_wave_get_frame(wave, i, f); });
    ASSERT_EQ(stack.size(), told.size());
    for (size_t i = 0; i < stack.size(); i++) {
        EXPECT_EQ(stack[i].pc, told[i].pc);
        EXPECT_EQ(stack[i].line, told[i].line);
    }
    EXPECT_EQ(wj_wave_get_frame(wave, 0, nullptr), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_wave_get_frame(nullptr, 0, nullptr), WJ_INVALID_ARGUMENT);
}

// In front of each instruction of a launch that ends well.
TEST_P(CallStackTest, InHooks) {
    struct Seen {
        int in_leaf = 0, wrong = 0;
    } seen;
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.hook_context = &seen;
    hooks.instruction = [](void* context, wj_wave* wave) {
        const Stack stack =
            frames([&](size_t i, wj_stack_frame* f) { return wj_wave_get_frame(wave, i, f); });
        auto& s = *static_cast<Seen*>(context);
        const bool leaf = !stack.empty() && std::string(stack[0].function) == "leaf";
        s.in_leaf += leaf;
        s.wrong += stack.empty() || stack.back().incomplete ||
                   std::string(stack.back().function) != "calls" ||
                   (leaf && std::string(stack[1].function) != "middle");
        return WJ_HOOK_GO_ON;
    };
    wj_kernel* const k = kernel("call_stack", "calls");
    const uint64_t p = buffer(4096), far = 1;
    const uint32_t where = 1, depth = 0;
    wj_argument arguments[] = {WJ_POINTER(p), WJ_POINTER(far), WJ_POINTER(where),
                               WJ_POINTER(depth)};
    wj_launch_options o = launch(arguments, {64}, {64});
    o.hooks = &hooks;
    EXPECT_EQ(run(k, o), WJ_OK) << error();
    EXPECT_GT(seen.in_leaf, 6);
    EXPECT_EQ(seen.wrong, 0);
}

// Symbols are there, lines are not.
TEST_P(CallStackTest, NoDebugInformation) {
    const Stack stack = stack_of("call_stack_bare", 1);
    ASSERT_EQ(stack.size(), 3u);
    const char* const names[] = {"leaf", "middle", "calls"};
    for (size_t i = 0; i < 3; i++) {
        EXPECT_STREQ(stack[i].function, names[i]);
        EXPECT_STREQ(stack[i].file, "");
        EXPECT_EQ(stack[i].line, 0u);
        EXPECT_FALSE(stack[i].incomplete);
    }
}

TEST_P(CallStackTest, ErrorsAreStated) {
    stack_of("call_stack", 0);
    wj_stack_frame frame = WJ_INIT(wj_stack_frame);
    EXPECT_EQ(wj_dispatch_get_frame(dispatch.get(), 4, &frame), WJ_NOT_FOUND);
    EXPECT_NE(error().find("4 frames"), std::string::npos) << error();
    frame.size = 0;
    EXPECT_EQ(wj_dispatch_get_frame(dispatch.get(), 0, &frame), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_dispatch_get_frame(nullptr, 0, &frame), WJ_INVALID_ARGUMENT);
}

// Its places lead to each other: nobody looks for ever.
TEST_P(CallStackTest, FrameThatKeepsItsOwnPlace) {
    if (std::string(GetParam().target) != "gfx90a") GTEST_SKIP() << "code of gfx90a";
    const uint64_t nowhere = 0x4000;
    const wj_launch_options o = packed(nowhere, 0);
    ASSERT_EQ(run(kernel("stack_circle", "circle"), o), WJ_GUEST_FAULT) << error();
    const Stack stack = frames(
        [&](size_t i, wj_stack_frame* f) { return wj_dispatch_get_frame(dispatch.get(), i, f); });
    ASSERT_FALSE(stack.empty());
    EXPECT_STREQ(stack[0].function, "inner");
    EXPECT_TRUE(stack.back().incomplete);
}

INSTANTIATE_TEST_SUITE_P(All, CallStackTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_WINDOW},
                                         Setup{"gfx1030", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1030", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1100", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1100", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED}),
                         setup_name);

TEST(CallStackOfFinding, IsInReports) {
    wj_context_options o = WJ_INIT(wj_context_options);
    o.target = "gfx90a";
    o.memory_mode = WJ_MEMORY_CHECKED;
    o.checks = WJ_CHECK_MEMORY;
    wj_context* made = nullptr;
    ASSERT_EQ(wj_context_create(&o, &made, nullptr, 0), WJ_OK);
    const Context context(made);
    wj_module* m = nullptr;
    wj_kernel* k = nullptr;
    ASSERT_EQ(wj_module_load_file(made, kernel_file("call_stack", "gfx90a").c_str(), &m), WJ_OK);
    const Module module(m);
    ASSERT_EQ(wj_module_get_kernel(m, "calls", &k), WJ_OK);
    uint64_t p = 0, far = 1 << 20;
    uint32_t where = 1, depth = 0;
    ASSERT_EQ(wj_memory_allocate(made, 4096, &p), WJ_OK);
    wj_argument arguments[] = {WJ_POINTER(p), WJ_POINTER(far), WJ_POINTER(where),
                               WJ_POINTER(depth)};
    wj_launch_options l = WJ_INIT(wj_launch_options);
    l.arguments = arguments;
    l.argument_count = 4;
    ASSERT_EQ(wj_launch(k, &l, nullptr), WJ_GUEST_FAULT);
    ASSERT_EQ(wj_finding_count(made), 1u);
    const Stack stack =
        frames([&](size_t i, wj_stack_frame* f) { return wj_finding_get_frame(made, 0, i, f); });
    ASSERT_EQ(stack.size(), 4u);
    EXPECT_STREQ(stack[1].function, "middle");
    wj_stack_frame frame = WJ_INIT(wj_stack_frame);
    EXPECT_EQ(wj_finding_get_frame(made, 1, 0, &frame), WJ_NOT_FOUND);
    const auto written = [&](const char* ending) {
        const std::string path = testing::TempDir() + "wj_stack" + ending;
        EXPECT_EQ(wj_finding_write(made, path.c_str()), WJ_OK);
        std::ifstream in(path);
        return (std::ostringstream() << in.rdbuf()).str();
    };
    const std::string json = written(".json"), sarif = written(".sarif");
    EXPECT_NE(json.find("\"stack\": [{\"function\": \"leaf\""), std::string::npos) << json;
    EXPECT_NE(json.find("\"stack_complete\": true"), std::string::npos) << json;
    EXPECT_NE(sarif.find("\"stacks\": [{\"message\": {\"text\": \"call stack\"}, \"frames\": [{"),
              std::string::npos)
        << sarif;
}

}  // namespace
}  // namespace wj::test
