// Cases of *.wji: blocks as text (ir/text.h), and what a pass makes of them or that the engines do
// with them what the IR says.
//
//     == name of the case
//     pass narrow_pairs eliminate_dead
//     block ...
//     becomes
//     block ...
//
//     == another
//     run 20                 from 20 random states: evaluate = AVX2 = AVX-512
//     block ...
//
// WJ_BLESS=1 writes what passes make today into the files, for a reader to look through.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/text.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

struct Case {
    std::string file, name, directive, input, expected;
};

std::vector<Case> read_cases(const std::filesystem::path& path) {
    std::vector<Case> cases;
    std::ifstream in(path);
    bool becomes = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("== ")) {
            cases.push_back({path.filename().string(), line.substr(3), "", "", ""});
            becomes = false;
        } else if (cases.empty()) {
            continue;
        } else if (line.starts_with("pass ") || line.starts_with("run ")) {
            cases.back().directive = line;
        } else if (line == "becomes") {
            becomes = true;
        } else if (!line.empty()) {
            (becomes ? cases.back().expected : cases.back().input) += line + "\n";
        }
    }
    return cases;
}

std::vector<std::filesystem::path> files() {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(WJ_IR_CASES))
        if (entry.path().extension() == ".wji") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

struct Pass {
    std::string_view name;
    void (*run)(ir::Block&);
};
constexpr Pass passes[] = {
    {"eliminate_dead", [](ir::Block& b) { ir::eliminate_dead(b); }},
    {"narrow_pairs", [](ir::Block& b) { ir::narrow_pairs(b); }},
    {"drop_unread_masks", [](ir::Block& b) { ir::drop_unread_masks(b); }},
    {"split_addresses", [](ir::Block& b) { ir::split_addresses(b); }},
    {"broadcast_by_lanes", [](ir::Block& b) { ir::broadcast_by_lanes(b); }},
};

// Empty: fine.
std::string run_passes(const Case& c, ir::Block& block) {
    std::istringstream words(c.directive);
    std::string name;
    words >> name;
    while (words >> name) {
        const auto* const pass = std::ranges::find(passes, name, &Pass::name);
        if (pass == std::end(passes)) return "no pass " + name;
        pass->run(block);
        if (const std::string wrong = ir::verify(block); !wrong.empty())
            return "after " + name + ": " + wrong;
    }
    return {};
}

TEST(IrCases, PassesMakeWhatIsExpected) {
    const bool bless = std::getenv("WJ_BLESS") != nullptr;
    int seen = 0;
    for (const auto& path : files()) {
        std::string renewed;
        for (const Case& c : read_cases(path)) {
            SCOPED_TRACE(c.file + ": " + c.name);
            renewed += "== " + c.name + "\n" + c.directive + "\n" + c.input;
            auto block = ir::parse(c.input);
            ASSERT_TRUE(block) << block.status().message();
            if (c.directive.starts_with("pass ")) {
                ++seen;
                ASSERT_EQ(run_passes(c, *block), "");
                const std::string got = ir::print(*block);
                renewed += "becomes\n" + got;
                if (bless) continue;
                // Expected text may use names of its own.
                auto expected = ir::parse(c.expected);
                ASSERT_TRUE(expected) << expected.status().message();
                EXPECT_EQ(got, ir::print(*expected));
            } else {
                ASSERT_TRUE(c.directive.starts_with("run ")) << "neither pass nor run";
            }
            renewed += "\n";
        }
        if (bless) std::ofstream(path) << renewed;
    }
    EXPECT_GT(seen, 0);
}

class IrCasesRun : public JitTest {};

TEST_P(IrCasesRun, EnginesDoWhatTheIrSays) {
    Rng rng(11);
    int seen = 0;
    for (const auto& path : files())
        for (const Case& c : read_cases(path)) {
            if (!c.directive.starts_with("run ")) continue;
            SCOPED_TRACE(c.file + ": " + c.name);
            auto block = ir::parse(c.input);
            ASSERT_TRUE(block) << block.status().message();
            compare(*block, rng, std::atoi(c.directive.c_str() + 4));
            if (HasFatalFailure()) return;
            ++seen;
        }
    EXPECT_GT(seen, 0);
}

WJ_JIT_TESTS(IrCasesRun);

}  // namespace
}  // namespace wj::jit_test
