// Which lines were reached: of kernels/lines.S, whose turns can be counted by hand.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

// Of launches of chosen() with n = 0, 1 wave; n = 3, 3 waves; n = 9, 1 wave, which doubled() makes
// 18 turns.
constexpr const char* expected = R"(TN:
SF:/source/header.h
FN:3,doubled
FNDA:1,doubled
FNF:1
FNH:1
BRF:0
BRH:0
DA:3,1
LF:1
LH:1
end_of_record
TN:
SF:/source/main.cl
FN:10,chosen
FN:20,idle
FNDA:5,chosen
FNDA:0,idle
FNF:2
FNH:1
BRDA:11,0,0,1
BRDA:11,0,1,4
BRDA:12,1,0,3
BRDA:12,1,1,1
BRDA:14,2,0,23
BRDA:14,2,1,4
BRF:6
BRH:6
DA:10,5
DA:11,5
DA:12,4
DA:13,1
DA:14,27
DA:15,5
DA:20,0
LF:7
LH:6
end_of_record
)";

class CoverageReportTest : public Gpu {
protected:
    void SetUp() override {
        wj_context_options o = options();
        char error[512] = "";
        wj_context* c = nullptr;
        const wj_status status = wj_context_create(&o, &c, error, sizeof(error));
        context.reset(c);
        if (status == WJ_UNSUPPORTED_TARGET) GTEST_SKIP() << "this host cannot run the engine";
        ASSERT_EQ(status, WJ_OK) << error;
    }
    void TearDown() override { std::remove(path.c_str()); }
    wj_context_options options() {
        wj_context_options o = WJ_INIT(wj_context_options);
        o.target = GetParam().target;
        o.engine = GetParam().engine;
        o.memory_mode = GetParam().memory;
        o.threads = 1;  // so that no count is lost
        o.coverage_report = path.c_str();
        return o;
    }
    void launch_all() {
        for (const auto& [n, waves] : {std::pair{0u, 1u}, {3u, 3u}, {9u, 1u}})
            EXPECT_EQ(run(kernel("lines", "chosen"), unlimited(packed(0, n, waves * 64, 64))),
                      WJ_OK)
                << error();
    }
    std::string report() const {
        std::ifstream file(path);
        std::stringstream text;
        text << file.rdbuf();
        return text.str();
    }
    const std::string path = testing::TempDir() + "/lines." + std::to_string(getpid()) + ".info";
};

TEST_P(CoverageReportTest, TellsWhatLoadedModulesReached) {
    EXPECT_EQ(report(), "") << "a file, from the beginning on";
    launch_all();
    EXPECT_EQ(wj_coverage_write(context.get(), path.c_str()), WJ_OK) << error();
    EXPECT_EQ(report(), expected);
    EXPECT_EQ(wj_coverage_write(context.get(), path.c_str()), WJ_OK) << error();
    EXPECT_EQ(report(), expected) << "nothing is counted twice";
}

TEST_P(CoverageReportTest, IsWrittenAtTheEnd) {
    launch_all();
    dispatch.reset();
    modules.clear();
    context.reset();
    EXPECT_EQ(report(), expected);
}

TEST_P(CoverageReportTest, OptionsAreChecked) {
    const auto status = [](const wj_context_options& o) {
        wj_context* c = nullptr;
        char why[512] = "";
        const wj_status made = wj_context_create(&o, &c, why, sizeof why);
        wj_context_destroy(c);
        return made;
    };
    wj_context_options o = options();
    o.coverage = WJ_COVERAGE_OFF;
    EXPECT_EQ(status(o), WJ_INVALID_ARGUMENT);
    o = options();
    o.coverage_report = "/nowhere/report.info";
    EXPECT_EQ(status(o), WJ_HOST_ERROR);
    EXPECT_EQ(wj_coverage_write(context.get(), nullptr), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_coverage_write(context.get(), "/nowhere/report.info"), WJ_HOST_ERROR);
    const Context without = make_context(GetParam().target, GetParam().engine, 1);
    EXPECT_EQ(wj_coverage_write(without.get(), path.c_str()), WJ_INVALID_ARGUMENT);
}

WJ_SETUPS(CoverageReportTest);

}  // namespace
}  // namespace wj::test
