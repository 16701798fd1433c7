// How loads and stores of lanes are planned (backend_x64/plan/access_plan.h): the way that follows
// from where the elements are, for both instruction sets. Nothing is emitted.
#include "backend_x64/plan/access_plan.h"

#include <gtest/gtest.h>

#include "backend_x64/plan/access_forms.h"
#include "ir/text.h"

namespace wj::x64 {
namespace {

// One access to memory, at %at with a base %base of 64 bits or none; %m is full, %some is not.
struct OneAccess {
    ir::Block block;
    CompileOptions options;
    Schedule schedule;
    Value v = no_value;

    OneAccess(const std::string& address, const std::string& access, bool avx512 = false,
              AddressMode mode = AddressMode::Identity) {
        auto parsed = ir::parse(
            "block 0x1004..0x100c exec_full\n"
            "    0x1004:\n"
            "        %ones:u64 = Const64 #0xffffffffffffffff\n"
            "        %m:mask = MaskOf %ones\n"
            "        %bits:u64 = GetS64 #0x8\n"
            "        %some:mask = MaskOf %bits\n"
            "        %base:u64 = GetS64 #0x4\n"
            "        %zero:u32 = Const32 #0x0\n"
            "        %pitch:u32 = GetS32 #0x6\n"
            "        %sixteen:u32 = Const32 #0x40\n"
            "        %data:v32 = GetV #0x9\n" +
            address + access + "        exit end next 0x100c\n");
        EXPECT_TRUE(parsed) << parsed.status().message();
        if (!parsed) return;
        block = *parsed;
        options.avx512 = avx512;
        options.address_mode = mode;
        EXPECT_TRUE(schedule.build(block, avx512, {.direct = !is_checked(mode)}));
        for (Value x = 0; x < block.insts.size(); ++x)
            if (ir::is_lane_access(block.insts[x])) v = x;
    }
    PlanContext context() const { return {block, schedule, options}; }
    AccessPlan plan(bool full = true, std::optional<uint32_t> line_end = {}) const {
        AccessSite site;
        site.full = full;
        site.line_end = line_end;
        return plan_access(context(), v, site);
    }
};

std::string line(int stride, uint32_t width = 64, const char* step = "%zero") {
    return "        %at:v32 = Line32 %zero " + std::string(step) + " aux " + std::to_string(width) +
           " #" + std::to_string(static_cast<uint32_t>(stride)) + "\n";
}
constexpr const char* load = "        %t:tuple = LoadGlobalS %base %at %m dwordsx1\n";
constexpr const char* store = "        StoreGlobalS %base %at %m %data dwordsx1\n";
constexpr const char* indices = "        %at:v32 = GetV #0x3\n";

TEST(AccessPlan, TransferFollowsTheStride) {
    const struct {
        int stride;
        Transfer avx2, avx512;
    } rows[] = {
        {4, Transfer::Consecutive, Transfer::Consecutive},
        {0, Transfer::Repeated, Transfer::Repeated},
        {16, Transfer::Strided, Transfer::Strided},
        // Eight lanes 12 bytes apart fill three vectors of 32 bytes, sixteen those of 64.
        {12, Transfer::DwordRow, Transfer::DwordRow},
        {8, Transfer::DwordRow, Transfer::DwordRow},
        // 7 * 20 + 4 = 144 and 15 * 20 + 4 = 304 bytes: more than four vectors.
        {20, Transfer::LineGather, Transfer::LineGather},
        {6, Transfer::LineGather, Transfer::LineGather},  // no dwords of vectors
    };
    for (const auto& row : rows)
        for (const bool avx512 : {false, true}) {
            const AccessPlan p = OneAccess(line(row.stride), load, avx512).plan();
            EXPECT_EQ(p.transfer, avx512 ? row.avx512 : row.avx2) << p.print();
            EXPECT_EQ(p.evidence, Evidence::Known);
            EXPECT_EQ(p.shape, (Shape{Shape::Line, row.stride, 64, 0}));
        }
}

TEST(AccessPlan, StoresOfSomeDwordsOfAVectorNeedMasks) {
    EXPECT_EQ(OneAccess(line(8), store, false).plan().transfer, Transfer::LineGather);
    EXPECT_EQ(OneAccess(line(8), store, true).plan().transfer, Transfer::DwordRow);
    EXPECT_EQ(OneAccess(line(0), store, false).plan().transfer, Transfer::Repeated);
}

TEST(AccessPlan, DwordRowsSayWhereTheLanesAre) {
    const OneAccess a(line(12), load, false);
    const auto row = dword_row(a.context(), a.plan(), lane_offsets(12, 0, 64));
    ASSERT_TRUE(row);
    // Dwords 0 3 6 | 9 12 15 | 18 21 of memory; the last vector ends with dword 21, at 14.
    EXPECT_EQ(row->vectors, 3u);
    EXPECT_EQ(row->at, (std::array<int32_t, 4>{0, 32, 56, 0}));
    const uint32_t in[] = {0, 0, 0, 1, 1, 1, 2, 2}, index[] = {0, 3, 6, 1, 4, 7, 4, 7};
    for (size_t lane = 0; lane < 8; ++lane) {
        EXPECT_EQ(row->in[lane], in[lane]) << lane;
        EXPECT_EQ(row->index[lane], index[lane]) << lane;
    }
}

TEST(AccessPlan, NarrowRowsAndWindowsOfThem) {
    // Rows of eight dwords: a vector of AVX2; two of them, the pitch apart, for AVX-512.
    EXPECT_EQ(OneAccess(line(4, 8, "%pitch"), load, false).plan().transfer, Transfer::Consecutive);
    const AccessPlan two = OneAccess(line(4, 8, "%pitch"), load, true).plan();
    EXPECT_EQ(two.transfer, Transfer::NarrowRows);
    ASSERT_TRUE(two.rows);
    EXPECT_EQ(*two.rows, (Rows{8, Rows::InOrder, true, 0}));
    EXPECT_EQ(two.shape.step, std::nullopt);
    EXPECT_EQ(two.print(),
              "dword at base + 4 * (lane mod 8) + step * (lane div 8), known; narrow "
              "rows of 8 lanes; all lanes; identity");
    // Rows of two dwords, 64 bytes apart, and of two elements 4 bytes apart: 8 lanes in 200 bytes
    // are no window; lanes that all fit 32 bytes are.
    EXPECT_EQ(OneAccess(line(4, 2, "%sixteen"), load, false).plan().transfer, Transfer::LineGather);
    const AccessPlan window =
        OneAccess("        %eight:u32 = Const32 #0x8\n" + line(4, 2, "%eight"), load, false).plan();
    EXPECT_EQ(window.transfer, Transfer::Windows);
    ASSERT_TRUE(window.window);
    EXPECT_EQ(window.window->bytes, 32u);
    for (uint32_t lane = 0; lane < 8; ++lane) EXPECT_EQ(window.window->lanes[lane], 4 * lane);
    // A step that is known when the block runs, to rows of one lane.
    EXPECT_EQ(OneAccess(line(0, 1, "%pitch"), load, false).plan().transfer, Transfer::StepGather);
}

TEST(AccessPlan, AddressesThatAreNotKnown) {
    const AccessPlan stub = OneAccess(indices, load).plan();
    EXPECT_EQ(stub.transfer, Transfer::Stub);
    EXPECT_EQ(stub.evidence, Evidence::Tested);
    EXPECT_EQ(stub.shape.kind, Shape::Indices);
    for (const AddressMode mode :
         {AddressMode::Masked, AddressMode::Checked, AddressMode::CheckedMasked}) {
        const AccessPlan p = OneAccess(indices, load, false, mode).plan();
        EXPECT_EQ(p.transfer, Transfer::Patterns);
        EXPECT_EQ(p.mode, mode);
    }
    // Lines of global memory need no look but in checked mode.
    EXPECT_EQ(OneAccess(line(4), load, false, AddressMode::Masked).plan().transfer,
              Transfer::Consecutive);
    EXPECT_EQ(OneAccess(line(4), load, false, AddressMode::Checked).plan().transfer,
              Transfer::Patterns);
}

TEST(AccessPlan, OwnMemoryHasNoAddressMode) {
    const AccessPlan lds = OneAccess(indices, "        %t:tuple = LoadLds %at %m dwordsx1\n", false,
                                     AddressMode::Checked)
                               .plan();
    EXPECT_EQ(lds.mode, AddressMode::Identity);
    const AccessPlan scratch =
        OneAccess(indices, "        %t:tuple = LoadScratch %at %m dwordsx1\n", false,
                  AddressMode::Checked)
            .plan();
    EXPECT_EQ(scratch.mode, AddressMode::Identity);
    EXPECT_EQ(scratch.transfer, Transfer::PrivateLanes);
    const AccessPlan row = OneAccess("        %at:v32 = Splat32 %pitch\n",
                                     "        %t:tuple = LoadScratch %at %m dwordsx1 #0x20\n")
                               .plan();
    EXPECT_EQ(row.transfer, Transfer::PrivateRow);
    // Beyond 64 KiB sums with addresses in range may wrap.
    const AccessPlan far =
        OneAccess(indices, "        %t:tuple = LoadLds %at %m dwordsx1 #0x10001\n").plan();
    EXPECT_EQ(far.transfer, Transfer::OutOfLine);
    EXPECT_EQ(far.evidence, Evidence::None);
}

TEST(AccessPlan, MasksDecide) {
    const AccessPlan some = OneAccess(line(16), load).plan(false);
    EXPECT_EQ(some.transfer, Transfer::LineGather) << some.print();
    EXPECT_EQ(OneAccess(line(4), load).plan(false).transfer, Transfer::Consecutive);
    EXPECT_EQ(OneAccess(indices, load).plan(false).print(),
              "dword at 32-bit offsets from a scalar base, tested; consecutive, else a memory "
              "stub; lanes of the mask; identity");
}

TEST(AccessPlan, ByteRows) {
    const std::string bytes = "        %t:tuple = LoadGlobalS %base %at %m u8x1\n";
    // 3 * 3 + 1 = 10 of 16 bytes for each four lanes, 64 bytes apart none.
    EXPECT_EQ(OneAccess(line(3), bytes).plan().transfer, Transfer::ByteRow);
    EXPECT_EQ(OneAccess(line(64), bytes).plan().transfer, Transfer::LineGather);
    const OneAccess a(line(3), bytes);
    const auto row = load_byte_row(a.context(), a.plan(), lane_offsets(3, 0, 64));
    ASSERT_TRUE(row);
    // The elements end behind byte 21: the second sixteen begin at 6, its first lane at 12 - 6.
    EXPECT_EQ(row->from[0], 0u);
    EXPECT_EQ(row->from[1], 6u);
    EXPECT_EQ(row->bytes[0], 0);
    EXPECT_EQ(row->bytes[4], 3);
    EXPECT_EQ(row->bytes[16], 6);
    EXPECT_EQ(row->bytes[1], 0x80);
}

}  // namespace
}  // namespace wj::x64
