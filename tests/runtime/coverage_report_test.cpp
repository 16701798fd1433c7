// Which lines were reached: of kernels/lines.S, whose turns can be counted by hand.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "runtime/drcov.h"
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

// Of a file in the format of drcov, read as Lighthouse's parser does.
struct Drcov {
    std::vector<std::string> header, modules;
    std::vector<std::tuple<uint32_t, uint16_t, uint16_t>> blocks;  // offset, bytes, module
};
Drcov read_drcov(const std::string& text) {
    std::istringstream in(text);
    Drcov out;
    std::string line;
    while (std::getline(in, line) && !line.starts_with("Module Table")) out.header.push_back(line);
    unsigned modules = 0, blocks = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "Module Table: version 2, count %u", &modules), 1) << line;
    std::getline(in, line);
    EXPECT_EQ(line, "Columns: id, base, end, entry, path");
    while (modules-- && std::getline(in, line)) out.modules.push_back(line);
    std::getline(in, line);
    EXPECT_EQ(std::sscanf(line.c_str(), "BB Table: %u bbs", &blocks), 1) << line;
    const std::string_view rest = std::string_view(text).substr(static_cast<size_t>(in.tellg()));
    EXPECT_EQ(rest.size(), blocks * 8u);
    const auto number = [&](size_t at, uint32_t bytes) {
        uint32_t value = 0;
        for (uint32_t b = 0; b < bytes; b++)
            value |= uint32_t{static_cast<uint8_t>(rest[at + b])} << 8 * b;
        return value;
    };
    for (size_t at = 0; at + 8 <= rest.size(); at += 8)
        out.blocks.emplace_back(number(at, 4), number(at + 4, 2), number(at + 6, 2));
    return out;
}

// chosen() begins at a multiple of 256, doubled() and idle() at the next ones. Sizes in bytes: SMEM
// 8, SOP with a literal 8, other SOP 4; blocks are those of lines.S.
TEST_P(CoverageReportTest, BlocksForDisassemblers) {
    const std::string file = path + ".drcov";
    const auto blocks = [&] {
        EXPECT_EQ(wj_coverage_write(context.get(), file.c_str()), WJ_OK) << error();
        std::ifstream in(file, std::ios::binary);
        std::stringstream text;
        text << in.rdbuf();
        std::remove(file.c_str());
        return read_drcov(text.str());
    };
    EXPECT_EQ(blocks().modules.size(), 0u);
    using Block = std::pair<uint32_t, uint32_t>;
    const auto relative = [](const Drcov& d) {
        std::vector<Block> out;
        for (const auto& [at, size, module] : d.blocks) {
            EXPECT_EQ(module, 0u);
            EXPECT_EQ(std::get<0>(d.blocks.front()) % 256, 0u);
            out.emplace_back(at - std::get<0>(d.blocks.front()), size);
        }
        return out;
    };
    EXPECT_EQ(run(kernel("lines", "chosen"), unlimited(packed(0, 0, 64, 64))), WJ_OK) << error();
    const Drcov first = blocks();
    EXPECT_EQ(first.header,
              (std::vector<std::string>{"DRCOV VERSION: 2", "DRCOV FLAVOR: wavejit"}));
    ASSERT_EQ(first.modules.size(), 1u);
    EXPECT_TRUE(first.modules[0].starts_with("0, 0x0, 0x")) << first.modules[0];
    EXPECT_TRUE(first.modules[0].ends_with(".hsaco")) << first.modules[0];
    // s_load, s_waitcnt, s_cmp, s_cbranch; s_endpgm.
    EXPECT_EQ(relative(first), (std::vector<Block>{{0, 20}, {64, 4}}));
    launch_all();
    // And s_cmp, s_cbranch; s_getpc, two with literals, s_swappc; s_sub, s_cmp, s_cbranch;
    // doubled().
    EXPECT_EQ(relative(blocks()),
              (std::vector<Block>{{0, 20}, {20, 8}, {28, 24}, {52, 12}, {64, 4}, {256, 8}}));
}

// Sizes have 16 bits: longer blocks are several, each of whole dwords.
TEST(DrcovTest, LongBlocks) {
    const Drcov d = read_drcov(runtime::as_drcov(
        {{"a", {300'000, {{16, 65'532}, {100'000, 131'068}}}}, {"b", {70'000, {{0, 65'536}}}}}));
    EXPECT_EQ(d.modules,
              (std::vector<std::string>{"0, 0x0, 0x493e0, 0x0, a", "1, 0x493e0, 0x5a550, 0x0, b"}));
    using Block = std::tuple<uint32_t, uint16_t, uint16_t>;
    EXPECT_EQ(d.blocks, (std::vector<Block>{{16, 65'532, 0},
                                            {100'000, 65'532, 0},
                                            {165'532, 65'532, 0},
                                            {231'064, 4, 0},
                                            {0, 65'532, 1},
                                            {65'532, 4, 1}}));
}

TEST_P(CoverageReportTest, TellsThatLineTablesAreMissing) {
    EXPECT_EQ(run(kernel("edges", "loop"), unlimited(packed(0, 1, 64, 64))), WJ_OK) << error();
    EXPECT_EQ(wj_coverage_write(context.get(), path.c_str()), WJ_NOT_FOUND);
    EXPECT_NE(error().find("compile with -g"), std::string::npos) << error();
    EXPECT_EQ(report(), "");
}

// Contexts that write one report say once what is missing, however many there are.
TEST_P(CoverageReportTest, ClonesTellOnceThatLineTablesAreMissing) {
    if (GetParam().memory != WJ_MEMORY_CHECKED) GTEST_SKIP() << "clones need checked memory";
    EXPECT_EQ(run(kernel("edges", "loop"), unlimited(packed(0, 1, 64, 64))), WJ_OK) << error();
    wj_context* clones[3];
    for (wj_context*& clone : clones)
        ASSERT_EQ(wj_context_clone(context.get(), &clone), WJ_OK) << error();
    testing::internal::CaptureStderr();
    for (wj_context* clone : clones) wj_context_destroy(clone);
    dispatch.reset();
    modules.clear();
    context.reset();
    const std::string said = testing::internal::GetCapturedStderr();
    const size_t first = said.find("no kernel's code has line tables");
    EXPECT_NE(first, std::string::npos) << said;
    EXPECT_EQ(said.find("line tables", first + 40), std::string::npos) << said;
}

TEST_P(CoverageReportTest, DivergenceAndLanesChangeNoCounts) {
    for (const int lanes : {0, 1}) {
        dispatch.reset();
        modules.clear();
        wj_context_options o = options();
        o.coverage_divergence = !lanes;
        o.coverage_lanes = lanes;
        wj_context* c = nullptr;
        ASSERT_EQ(wj_context_create(&o, &c, nullptr, 0), WJ_OK);
        context.reset(c);
        launch_all();
        EXPECT_EQ(wj_coverage_write(context.get(), path.c_str()), WJ_OK) << error();
        EXPECT_EQ(report(), expected);
    }
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
