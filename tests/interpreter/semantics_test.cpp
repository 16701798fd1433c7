// All cases of tests/interpreter/cases on every engine that this host can run.
#include "tests/interpreter/semantics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "frontend/target.h"
#include "interpreter/interpreter.h"
#ifdef WJ_TRANSLATOR
#include "backend_x64/translator.h"
#endif

namespace wj::test {
namespace {

enum class EngineKind { Interpreter, Avx2, Avx512 };

constexpr const char* engine_name(EngineKind kind) {
    return kind == EngineKind::Interpreter ? "Interpreter"
           : kind == EngineKind::Avx2      ? "Avx2"
                                           : "Avx512";
}

// Null when the host lacks what the engine needs.
std::unique_ptr<machine::Engine> make(EngineKind kind, const Target& target) {
    if (kind == EngineKind::Interpreter) return interp::make_interpreter(target);
#ifdef WJ_TRANSLATOR
    const x64::Isa isa = kind == EngineKind::Avx2 ? x64::Isa::Avx2 : x64::Isa::Avx512;
    if (x64::host_supports(isa)) {
        auto engine = x64::make_translator(target, isa, {.keep_registers = true});
        EXPECT_TRUE(engine) << engine.status().message();
        if (engine) return std::move(*engine);
    }
#endif
    return nullptr;
}

std::vector<std::string> case_files() {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(WJ_CASES))
        if (entry.path().extension() == ".txt") files.push_back(entry.path().filename().string());
    std::sort(files.begin(), files.end());
    return files;
}

class Semantics : public ::testing::TestWithParam<std::tuple<EngineKind, std::string>> {};

TEST_P(Semantics, Cases) {
    const auto& [kind, file] = GetParam();
    auto cases = read_cases(std::string(WJ_CASES) + "/" + file);
    ASSERT_TRUE(cases) << cases.status().message();
    const Status status = assemble(*cases, WJ_LLVM_MC);
    ASSERT_TRUE(status) << status.message();
    ASSERT_FALSE(cases->empty());
    struct Made {
        Target target;
        std::unique_ptr<machine::Engine> engine;
    };
    std::map<std::pair<std::string, uint32_t>, std::unique_ptr<Made>> engines;
    for (const SemanticCase& c : *cases) {
        ASSERT_NE(find_target(c.target), nullptr) << c.target;
        auto& made = engines[{c.target, c.wave_size}];
        if (!made) {
            made = std::make_unique<Made>(Made{target_of(c), nullptr});
            made->engine = make(kind, made->target);
        }
        const auto& engine = made->engine;
        if (!engine) GTEST_SKIP() << "this host cannot run the engine, or it is not built";
        EXPECT_EQ(run_case(*engine, c), "") << c.name << " (" << c.target << ")";
    }
}

INSTANTIATE_TEST_SUITE_P(Files, Semantics,
                         ::testing::Combine(::testing::Values(EngineKind::Interpreter,
                                                              EngineKind::Avx2, EngineKind::Avx512),
                                            ::testing::ValuesIn(case_files())),
                         [](const auto& info) {
                             std::string name = engine_name(std::get<0>(info.param));
                             const std::string& file = std::get<1>(info.param);
                             name += '_';
                             return name.append(file, 0, file.find('.'));
                         });

}  // namespace
}  // namespace wj::test
