// OpenCL C's printf through the C interface. Expected texts follow from OpenCL C 6.15.14 (printf).
#include "runtime/printf.h"

#include <algorithm>
#include <sstream>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

std::string text_of(const std::string& format, std::initializer_list<uint32_t> dwords) {
    const std::vector<uint32_t> words(dwords);
    return runtime::printf_text({format}, std::as_bytes(std::span(words)));
}

TEST(PrintfText, IntegersHaveTheSizeThatTheBufferHas) {
    EXPECT_EQ(text_of("7:2:4:8:%d %ld", {7, 0xfffffffe, 0xffffffff, 0x7fffffff}),
              "-2 9223372036854775807");
    EXPECT_EQ(text_of("1:3:4:4:4:%hhd|%hu|%X", {1, 0x1ff, 0x1ffff, 0xbeef}), "-1|65535|BEEF");
    EXPECT_EQ(text_of("1:1:4:%+6.3d|", {1, 5}), "  +005|");
}

TEST(PrintfText, FloatsAndVectors) {
    EXPECT_EQ(text_of("1:1:4:%.1f", {1, 0x3fc00000}), "1.5");
    EXPECT_EQ(text_of("1:1:8:%e", {1, 0, 0x40080000}), "3.000000e+00");
    EXPECT_EQ(text_of("1:1:16:%v3d", {1, 1, 2, 3, 3}), "1,2,3");
    EXPECT_EQ(text_of("1:1:4:%v2hf", {1, 0xc0003c00}), "1.000000,-2.000000");
}

TEST(PrintfText, StringsEscapesAndPercents) {
    EXPECT_EQ(text_of(R"(1:1:8:%s\72\t%%\n)", {1, 0x64636261, 0x65}), "abcde:\\t%\n");
    EXPECT_EQ(text_of("1:1:4:<%s>", {1, 0xffffff00}), "<>");
}

TEST(PrintfText, MessagesFollowEachOtherAndEndWithWhatIsNotKnown) {
    EXPECT_EQ(text_of("2:0:a", {2, 2, 2}), "aaa");
    EXPECT_EQ(text_of("2:1:4:%d,", {2, 5, 2}), "5,");  // room was asked for, nothing stored
    EXPECT_EQ(text_of("2:0:a", {2, 0, 2}), "a");
    EXPECT_NE(text_of("2:0:a", {2, 9, 2}).find("number 9"), std::string::npos);
    EXPECT_EQ(text_of("2:1:4:%d %d %q", {2, 5}), "5 %d %q");  // more conversions than arguments
}

class PrintfTest : public Gpu {
protected:
    static void keep(void* to, const char* text, size_t bytes) {
        static_cast<std::string*>(to)->append(text, bytes);
    }
    std::string printed;
    wj_launch_options printing(wj_launch_options o) {
        o.print = &keep;
        o.print_context = &printed;
        return o;
    }
};

TEST_P(PrintfTest, ReachesTheHost) {
    const uint64_t results = buffer(256 * 4, 0xff);
    const int32_t first = 100;
    wj_argument a[] = {WJ_POINTER(results), WJ_POINTER(first)};
    ASSERT_EQ(run(kernel("printf", "items"), printing(launch(a, {256, 1, 1}, {64, 1, 1}))), WJ_OK)
        << error();
    // Waves of two threads print in any order.
    std::vector<std::string> lines, expected;
    std::istringstream in(printed);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    for (int i = 0; i < 256; i += 21) {
        char text[80];
        std::snprintf(text, sizeof text, "item %d of it: %5.2f|%-4u|", 100 + i, i / 4.0, i);
        expected.push_back(text);
        EXPECT_EQ(host<int32_t>(results)[i], 0);
    }
    std::ranges::sort(lines);
    std::ranges::sort(expected);
    EXPECT_EQ(lines, expected);
}

TEST_P(PrintfTest, VectorsCharactersAndStrings) {
    const float v[4] = {1, -0.5f, 1024, 0.25f};
    const int8_t c = 'x';
    const int64_t l = -5'000'000'000;
    const double d = 0.125;
    wj_argument a[] = {WJ_POINTER(v), WJ_POINTER(c), WJ_POINTER(l), WJ_POINTER(d)};
    ASSERT_EQ(run(kernel("printf", "forms"), printing(launch(a, {1, 1, 1}, {1, 1, 1}))), WJ_OK)
        << error();
    EXPECT_EQ(printed,
              "1.000000,-0.500000,1024.000000,0.250000 0x1,0xfe x -5000000000 0.125 100%\n"
              ":   ab:ffffffff\n");
}

TEST_P(PrintfTest, MessagesBeyondTheBufferAreLost) {
    wj_launch_options o = WJ_INIT(wj_launch_options);
    o.grid[0] = 1 << 18;
    o.block[0] = 256;
    ASSERT_EQ(run(kernel("printf", "many"), printing(o)), WJ_OK) << error();
    // 8 of the buffer's 2^20 bytes are its header, a message takes 8.
    EXPECT_EQ(printed.size(), ((1 << 20) / 8 - 1) * 9);
}

INSTANTIATE_TEST_SUITE_P(, PrintfTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY}),
                         setup_name);

}  // namespace
}  // namespace wj::test
