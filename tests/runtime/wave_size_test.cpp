// Launches whose waves have 32 lanes: how work-groups are cut into waves, and what these begin
// with, by the rules of a target that is made here: nothing else differs from gfx9.
#include <gtest/gtest.h>

#include <vector>

#include "frontend/target.h"
#include "memory/address_space.h"
#include "runtime/launch_plan.h"

namespace wj::runtime {
namespace {

class WaveSize : public testing::Test {
protected:
    LaunchPlan plan(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> work_group,
                    uint32_t scratch = 0) {
        KernelInfo kernel;
        kernel.name = "k";
        kernel.descriptor.wave_size = 32;
        kernel.descriptor.vgpr_count = kernel.descriptor.arch_vgpr_count = 8;
        kernel.descriptor.sgpr_count = 16;
        kernel.descriptor.workgroup_id_x = true;
        kernel.descriptor.workitem_id = 1;
        DispatchRequest request;
        request.grid = grid;
        request.work_group = work_group;
        request.private_segment_size = scratch;
        auto made = make_launch_plan(target_, {}, kernel, {}, request, memory_, {});
        EXPECT_TRUE(made) << made.status().message();
        return *made;
    }
    machine::Wave wave(const LaunchPlan& plan, uint32_t index) {
        machine::Wave w;
        locate_group(plan, 0, group_);
        w.scratch_base = 0x10000;
        w.sgpr[machine::exec_lo + 1] = 0;
        init_wave(plan, group_, index, w);
        return w;
    }
    std::vector<uint32_t> ids(const LaunchPlan& plan, uint32_t index) {
        std::vector<uint32_t> rows(size_t{plan.id_rows} * machine::lanes, ~0u);
        locate_group(plan, 0, group_);
        init_work_item_ids(plan, group_, index, rows.data());
        return rows;
    }

    Target target_ = [] {
        Target t = *find_target("gfx906");
        t.traits.wave_size = 32;
        return t;
    }();
    memory::AddressSpace memory_;
    machine::WorkGroup group_;
};

TEST_F(WaveSize, WorkGroupsAreCutIntoWavesOfThirtyTwo) {
    const LaunchPlan p = plan({200, 1, 1}, {100, 1, 1});
    EXPECT_EQ(p.max_waves, 4u);
    EXPECT_EQ(p.whole_lanes, 32u);
    for (uint32_t i = 0; i < 4; ++i) {
        const machine::Wave w = wave(p, i);
        EXPECT_EQ(group_.wave_count, 4u);
        EXPECT_EQ(w.size, 32u);
        // 100 = 3 * 32 + 4
        EXPECT_EQ(w.sgpr[machine::exec_lo], i < 3 ? 0xffffffffu : 0xfu);
        EXPECT_EQ(w.sgpr[machine::exec_lo + 1], 0u);
        EXPECT_EQ(w.exec(), i < 3 ? 0xffffffffu : 0xfu);
    }
    // Two waves of a work-group of 64 follow each other, whose ids are 32 apart.
    const LaunchPlan row = plan({640, 1, 1}, {64, 1, 1});
    EXPECT_EQ(row.next_waves.waves, 2u);
    EXPECT_EQ(row.next_waves.ids_step, 32u);
    EXPECT_EQ(row.lane_layout, machine::one_row_layout);
    EXPECT_EQ(plan({320, 8, 1}, {32, 4, 1}).lane_layout, machine::one_row_layout);
    EXPECT_NE(plan({160, 8, 1}, {16, 4, 1}).lane_layout, machine::one_row_layout);
    EXPECT_EQ(plan({160, 1, 1}, {16, 1, 1}).whole_lanes, 16u);
}

TEST_F(WaveSize, WorkItemIdsGoOnInTheNextWave) {
    const LaunchPlan p = plan({20, 4, 1}, {20, 4, 1});
    ASSERT_EQ(p.id_rows, 2u);
    const std::vector<uint32_t> rows = ids(p, 1);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t item = 32 + lane;
        EXPECT_EQ(rows[lane], item % 20) << lane;
        EXPECT_EQ(rows[machine::lanes + lane], item / 20 % 4) << lane;
    }
}

// The private segment buffer: bytes of all lanes of a wave, INDEX_STRIDE of 32 lanes.
TEST_F(WaveSize, PrivateSegmentIsOfThirtyTwoLanes) {
    LaunchPlan p = plan({64, 1, 1}, {64, 1, 1}, 48);
    EXPECT_EQ(p.scratch_lane_bytes, 48u);
    p.scratch_sgprs.buffer = 0;
    const machine::Wave w = wave(p, 0);
    EXPECT_EQ(w.sgpr[0], 0x10000u);
    EXPECT_EQ(w.sgpr[1], 0x80000000u);
    EXPECT_EQ(w.sgpr[2], 48u * 32);
    EXPECT_EQ(w.sgpr[3] >> 21 & 3, 2u);  // 8 << 2
    EXPECT_EQ(w.sgpr[3] >> 23 & 1, 1u);
}

}  // namespace
}  // namespace wj::runtime
