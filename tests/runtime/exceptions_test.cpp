// Exceptions of floating-point arithmetic, and registers with two names, from the descriptor and
// the code of a kernel on. Which instruction raises what: tests/interpreter/cases/exceptions.txt.
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

constexpr uint32_t division_by_zero = 4, inexact = 32;

class ExceptionsTest : public Gpu {
protected:
    void has(const std::string& part) {
        EXPECT_NE(std::string(fault.report).find(part), std::string::npos)
            << part << " is not in:\n"
            << fault.report;
    }
    // What two work-groups of 64 store, one dword for each work-item.
    const uint32_t* stored_by(const char* name) {
        const uint64_t out = buffer(4096, 0xff);
        EXPECT_EQ(run(kernel("exceptions", name), packed(out, 0, 128)), WJ_OK) << error();
        return host<uint32_t>(out);
    }
    void expect_all(const char* name, uint32_t value) {
        const uint32_t* const v = stored_by(name);
        for (uint32_t i = 0; i < 128; ++i) ASSERT_EQ(v[i], value) << name << ' ' << i;
    }
};

// 1 / (l - 3) in lane l: infinite in lane 3, a third in lane 6.
TEST_P(ExceptionsTest, StayInTrapsts) {
    expect_all("reads_trapsts", division_by_zero | inexact);
}

TEST_P(ExceptionsTest, AFunctionReadsTrapsts) {
    expect_all("calls_reader", division_by_zero | inexact);
}

TEST_P(ExceptionsTest, AnEnabledOneStops) {
    ASSERT_EQ(run(kernel("exceptions", "enables_division"), packed(0, 0, 128)), WJ_GUEST_TRAP)
        << error();
    EXPECT_EQ(fault.lane_mask, 8u) << fault.report;
    has("arithmetic exception that the kernel enables: division by zero\n");
    has("v_rcp_f32");
    has("lanes       3");
    has("enables_division+0x");
    has("wave 0");
}

// Translated code of kernels that do not ask calls no handler.
TEST_P(ExceptionsTest, CostNothingWhereNobodyAsks) {
    const uint32_t* const v = stored_by("divides");
    EXPECT_EQ(v[3], 0x7f800000u);
    EXPECT_EQ(v[67], 0x7f800000u);
    EXPECT_EQ(v[5], 0x3f000000u);
    if (GetParam().engine != WJ_ENGINE_AVX2 && GetParam().engine != WJ_ENGINE_AVX512) return;
    wj_counters c = WJ_INIT(wj_counters);
    ASSERT_EQ(wj_context_get_counters(context.get(), &c), WJ_OK);
    EXPECT_EQ(c.interpreter_fallbacks, 0u);
}

// Every second lane passes v_cmp: the mask's low half, by the register's number.
TEST_P(ExceptionsTest, VccIsTheLastPair) {
    expect_all("two_names", 0xaaaaaaaa);
}

TEST_P(ExceptionsTest, WavesStartWithBothNames) {
    const uint32_t* const v = stored_by("starts_with_two_names");
    for (uint32_t i = 0; i < 128; ++i) ASSERT_EQ(v[i], i / 64) << i;
}

TEST_P(ExceptionsTest, SystemSgprsFollowAllUserSgprs) {
    const uint32_t* const v = stored_by("many_user_sgprs");
    for (uint32_t i = 0; i < 128; ++i) ASSERT_EQ(v[i], i / 64) << i;
}

TEST_P(ExceptionsTest, DebuggersArgumentIsReported) {
    ASSERT_EQ(run(kernel("exceptions", "argument_for_a_debugger"), packed(0, 0, 3, 3)),
              WJ_GUEST_TRAP)
        << error();
    has("trap 1 (debugtrap with an argument in v0, for a debugger)");
    has("argument    v0: lane 0 0x500, lane 1 0x501, lane 2 0x502\n");
    has("queue       s[0:1]: 0x1234");
    has("argument_for_a_debugger+0x");
    has("work-group  (0, 0, 0), wave 0");
}

WJ_SETUPS(ExceptionsTest);

}  // namespace
}  // namespace wj::test
