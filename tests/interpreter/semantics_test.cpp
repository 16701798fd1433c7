// All cases of tests/interpreter/cases on the interpreter.
#include "tests/interpreter/semantics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "frontend/target.h"
#include "interpreter/interpreter.h"

namespace wj::test {
namespace {

std::vector<std::string> case_files() {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(WJ_CASES))
        if (entry.path().extension() == ".txt") files.push_back(entry.path().filename().string());
    std::sort(files.begin(), files.end());
    return files;
}

class Semantics : public ::testing::TestWithParam<std::string> {};

TEST_P(Semantics, Interpreter) {
    auto cases = read_cases(std::string(WJ_CASES) + "/" + GetParam());
    ASSERT_TRUE(cases) << cases.status().message();
    const Status status = assemble(*cases, WJ_LLVM_MC);
    ASSERT_TRUE(status) << status.message();
    ASSERT_FALSE(cases->empty());
    for (const SemanticCase& c : *cases) {
        const Target* target = find_target(c.target);
        ASSERT_NE(target, nullptr) << c.target;
        const auto engine = interp::make_interpreter(*target);
        EXPECT_EQ(run_case(*engine, c), "") << c.name << " (" << c.target << ")";
    }
}

INSTANTIATE_TEST_SUITE_P(Files, Semantics, ::testing::ValuesIn(case_files()), [](const auto& info) {
    return info.param.substr(0, info.param.find('.'));
});

}  // namespace
}  // namespace wj::test
