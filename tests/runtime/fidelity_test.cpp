// What inexact results lead to, and the report of what was executed.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

struct Row {
    const char* kernel;
    const char* says;  // of the finding; null: there is none
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.kernel;
}

class Inexact : public testing::TestWithParam<Row> {};

TEST_P(Inexact, IsFoundWhereItDecides) {
    wj_context_options o = WJ_INIT(wj_context_options);
    o.target = "gfx90a";
    o.memory_mode = WJ_MEMORY_CHECKED;
    o.checks = WJ_CHECK_INEXACT;
    char error[512] = "";
    wj_context* raw = nullptr;
    ASSERT_EQ(wj_context_create(&o, &raw, error, sizeof error), WJ_OK) << error;
    const Context context(raw);
    wj_module* m = nullptr;
    ASSERT_EQ(wj_module_load_file(raw, kernel_file("capture", "gfx90a").c_str(), &m), WJ_OK);
    const Module module(m);
    wj_kernel* kernel = nullptr;
    ASSERT_EQ(wj_module_get_kernel(m, GetParam().kernel, &kernel), WJ_OK);
    uint64_t in = 0, out = 0;
    ASSERT_EQ(wj_memory_allocate(raw, 256, &in), WJ_OK);
    ASSERT_EQ(wj_memory_allocate(raw, 256, &out), WJ_OK);
    const float three = 3;
    ASSERT_EQ(wj_memory_fill(raw, in, &three, 4, 256), WJ_OK);
    wj_argument arguments[] = {WJ_POINTER(in), WJ_POINTER(out)};
    wj_launch_options launch = WJ_INIT(wj_launch_options);
    launch.grid[0] = launch.block[0] = 64;
    launch.arguments = arguments;
    launch.argument_count = 2;
    const wj_status status = wj_launch(kernel, &launch, nullptr);
    if (!GetParam().says) {
        EXPECT_EQ(status, WJ_OK) << wj_last_error(raw);
        return;
    }
    ASSERT_EQ(status, WJ_GUEST_FAULT);
    const std::string text = wj_last_error(raw);
    EXPECT_NE(text.find("inexact checker: "), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().says), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(All, Inexact,
                         testing::Values(Row{"stored", nullptr},
                                         Row{"decides", "follows from a result that is not exact"},
                                         Row{"leads", "is a part of an address, and follows"},
                                         Row{"divides", nullptr}),
                         [](const auto& info) { return std::string(info.param.kernel); });

TEST(InexactOptions, NotTogetherWithInit) {
    wj_context_options o = WJ_INIT(wj_context_options);
    o.memory_mode = WJ_MEMORY_CHECKED;
    o.checks = WJ_CHECK_INEXACT | WJ_CHECK_INIT;
    char error[512] = "";
    wj_context* raw = nullptr;
    EXPECT_EQ(wj_context_create(&o, &raw, error, sizeof error), WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error).find("exclude each other"), std::string::npos) << error;
}

}  // namespace
}  // namespace wj::test
