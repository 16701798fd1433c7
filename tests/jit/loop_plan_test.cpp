// How loops of one block are planned (backend_x64/plan/loop_plan.h): what their iterations look
// like says in which order chunks run, who decides about another iteration, and what stays in
// registers. Nothing is emitted.
#include "backend_x64/plan/loop_plan.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace wj::x64 {
namespace {

using Order = LoopPlan::Order;
using Control = LoopPlan::Control;

struct OneLoop {
    ir::Block block;
    CompileOptions options;
    Schedule schedule;
    LoopPlan plan;

    OneLoop(const std::string& flags, const std::string& body, bool avx512,
            const LoopLimits& limits = {}) {
        auto parsed = ir::parse("block 0x1000..0x1010 instructions 4 " + flags +
                                "\n"
                                "    0x1000:\n"
                                "        %ones:u64 = Const64 #0xffffffffffffffff\n"
                                "        %m:mask = MaskOf %ones\n"
                                "        %one:u32 = Const32 #0x1\n"
                                "        %four:u32 = Const32 #0x4\n" +
                                body);
        EXPECT_TRUE(parsed) << parsed.status().message();
        if (!parsed) return;
        block = *parsed;
        options.avx512 = avx512;
        EXPECT_TRUE(schedule.build(block, avx512, {.direct = true}));
        plan = find_loop(context(), limits);
        if (plan.by_chunks()) schedule.merge_early(1);
        plan_iterations(plan, context(), limits);
    }
    PlanContext context() const { return {block, schedule, options}; }
    // Guest rows that a register of each chunk hands on.
    std::vector<uint64_t> handed_on() const {
        std::vector<uint64_t> rows;
        for (const Pin& p : plan.pins.at(0).carried)
            if (!p.chunk) rows.push_back(block.insts[p.set].imm);
        return rows;
    }
};

// v2 += memory at s[4:5] + v1; v1 += 4
const std::string sum_of_loads =
    "        %base:u64 = GetS64 #0x4\n"
    "        %at:v32 = GetV #0x1\n"
    "        %t:tuple = LoadGlobalS %base %at %m dwordsx1\n"
    "        %x:v32 = Elem %t #0x0\n"
    "        %old:v32 = GetV #0x2\n"
    "        %sum:v32 = FAdd32 %old %x\n"
    "        SetV %sum %m #0x2\n"
    "        %step:v32 = Splat32 %four\n"
    "        %next:v32 = Add32 %at %step\n"
    "        SetV %next %m #0x1\n";
// while (++s2 < s3)
const std::string until_bound =
    "        %n:u32 = GetS32 #0x2\n"
    "        %more:u32 = UAdd32 %n %one\n"
    "        %bound:u32 = GetS32 #0x3\n"
    "        %again:u32 = UCmpLtU32 %more %bound\n"
    "        SetS32 %more #0x2\n"
    "        branch %again 0x1000 else 0x1010\n";
// while (s2 = s2 >> 1)
const std::string until_zero =
    "        %n:u32 = GetS32 #0x2\n"
    "        %half:u32 = UShr32 %n %one\n"
    "        %none:u32 = Const32 #0x0\n"
    "        %again:u32 = UCmpNe32 %half %none\n"
    "        SetS32 %half #0x2\n"
    "        branch %again 0x1000 else 0x1010\n";

int32_t scalar(uint32_t number) {
    return static_cast<int32_t>(offsetof(machine::Wave, sgpr) + 4 * number);
}

TEST(LoopPlan, CountedLoop) {
    for (const bool avx512 : {false, true}) {
        const OneLoop loop("exec_full", sum_of_loads + until_bound, avx512);
        const LoopPlan& p = loop.plan;
        EXPECT_EQ(p.order, Order::ChunksOut);
        EXPECT_EQ(p.control, Control::Counted);
        ASSERT_TRUE(p.counted);
        EXPECT_EQ(p.counted->step, 1);
        EXPECT_EQ(p.changed, std::vector<int32_t>{scalar(2)});
        EXPECT_EQ(p.parts.count, 1u);
        ASSERT_EQ(p.pins.size(), 1u);
        EXPECT_EQ(loop.handed_on(), (std::vector<uint64_t>{1, 2}));
        ASSERT_EQ(p.walks.walks.size(), 1u);
        EXPECT_EQ(p.walks.walks[0].step, 4);
    }
}

TEST(LoopPlan, MaskedAddressesWalk) {
    OneLoop loop("exec_full", sum_of_loads + until_bound, false);
    for (const AddressMode mode : {AddressMode::Masked, AddressMode::Checked}) {
        loop.options.address_mode = mode;
        LoopPlan plan = find_loop(loop.context(), {});
        plan_iterations(plan, loop.context(), {});
        EXPECT_EQ(plan.walks.walks.size(), is_checked(mode) ? 0u : 1u);
    }
}

TEST(LoopPlan, LoopThatDoesNotCount) {
    const OneLoop loop("exec_full", sum_of_loads + until_zero, false);
    EXPECT_EQ(loop.plan.order, Order::ChunksOut);
    EXPECT_EQ(loop.plan.control, Control::Uniform);
    EXPECT_FALSE(loop.plan.counted);
    // What the condition looks at is in a register: s2, which is read and written once.
    const LoopPins& pins = loop.plan.pins.at(0);
    ASSERT_NE(pins.scalar_set, no_value);
    EXPECT_EQ(loop.block.insts[pins.scalar_get].imm, 2u);
    EXPECT_EQ(loop.block.insts[pins.scalar_set].imm, 2u);
}

// No two pins share a register, and the chunks that run together are a power of two of those that
// the wave has.
TEST(LoopPlan, RegistersAreTakenOnce) {
    for (const bool avx512 : {false, true})
        for (const uint32_t together : {1u, 2u, 4u}) {
            OneLoop loop("exec_full", sum_of_loads + until_bound, avx512);
            loop.options.loop_chunks = together;
            LoopPlan plan = find_loop(loop.context(), {});
            plan_iterations(plan, loop.context(), {});
            const LoopPins& pins = plan.pins.at(0);
            EXPECT_LE(pins.chunks, together);
            EXPECT_EQ(4 % pins.chunks, 0u);
            uint32_t taken = 0;
            for (const auto* list : {&pins.carried, &pins.steady})
                for (const Pin& p : *list) {
                    ASSERT_GE(p.reg, 0);
                    ASSERT_LT(p.reg, avx512 ? 32 : 16);
                    EXPECT_FALSE(taken >> p.reg & 1) << p.reg;
                    taken |= 1u << p.reg;
                }
            for (const Pin& p : pins.carried) EXPECT_LT(p.chunk, pins.chunks);
        }
}

TEST(LoopPlan, StoresKeepTheOrder) {
    const std::string store = "        StoreGlobalS %base %at %m %sum dwordsx1\n";
    const OneLoop loop("exec_full", sum_of_loads + store + until_bound, false);
    EXPECT_EQ(loop.plan.order, Order::ChunksIn);
    EXPECT_TRUE(loop.plan.pins.empty());
}

TEST(LoopPlan, LimitsLeaveThingsOut) {
    const std::string body = sum_of_loads + until_bound;
    EXPECT_TRUE(OneLoop("exec_full", body, false, {.walks = false}).plan.walks.walks.empty());
    using enum LoopLimits::Chunks;
    EXPECT_EQ(OneLoop("exec_full", body, false, {.chunks = None}).plan.order, Order::ChunksIn);
    EXPECT_EQ(OneLoop("exec_full", body, true, {.chunks = One}).plan.pins.at(0).chunks, 1u);
}

// v1 >>= 1 in lanes of EXEC; EXEC &= v1 != 0; while (EXEC)
const std::string until_empty =
    "        %exec:u64 = GetS64 #0x7e\n"
    "        %live:mask = MaskOf %exec\n"
    "        %x:v32 = GetV #0x1\n"
    "        %by:v32 = Splat32 %one\n"
    "        %half:v32 = Shr32 %x %by\n"
    "        SetV %half %live #0x1\n"
    "        %nothing:u32 = Const32 #0x0\n"
    "        %zero:v32 = Splat32 %nothing\n"
    "        %is:mask = CmpNe32 %half %zero\n"
    "        %on:mask = MaskAnd %live %is\n"
    "        %bits:u64 = BitsOf %on\n"
    "        SetS64 %bits #0x7e\n"
    "        %none:u64 = Const64 #0x0\n"
    "        %again:u32 = UCmpNe64 %bits %none\n"
    "        branch %again 0x1000 else 0x1010\n";

TEST(LoopPlan, LanesDecide) {
    for (const bool avx512 : {false, true}) {
        const OneLoop loop("exec_changed", until_empty, avx512);
        EXPECT_TRUE(loop.plan.by_chunks());
        EXPECT_EQ(loop.plan.control, Control::UntilEmpty);
        EXPECT_TRUE(loop.plan.compacted);  // it only computes
        EXPECT_EQ(loop.handed_on(), std::vector<uint64_t>{1});
        EXPECT_EQ(loop.plan.masks_out.size(), 1u);
        EXPECT_TRUE(loop.plan.changed.empty());
    }
}

TEST(LoopPlan, Text) {
    const OneLoop loop("exec_full", sum_of_loads + until_bound, false,
                       {.chunks = LoopLimits::Chunks::One});
    const std::string text = loop.plan.print(loop.block);
    for (const char* part : {"chunks out; counted", "hands on v1 v2", "1 walk", "restores s2"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
}  // namespace wj::x64
