// A validated dispatch: everything that is the same for all its work-groups, worked out once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/status.h"
#include "frontend/code_object.h"
#include "frontend/target.h"
#include "frontend/vgpr_msb.h"
#include "machine/engine.h"
#include "machine/work_group.h"
#include "runtime/clusters.h"
#include "runtime/device.h"
#include "runtime/kernel_code.h"

namespace wj::runtime {

// Waves of one work-group never exceed this: 1024 work-items of wave64.
inline constexpr uint32_t max_work_group_items = 1024;

struct LaunchPlan {
    uint64_t id = 0;  // no two plans of a process share one
    const Target* target = nullptr;
    DispatchRequest request;
    KernelDescriptor kernel;
    uint64_t entry = 0;                     // first instruction
    std::array<uint32_t, 3> group_count{};  // work-groups in each dimension
    uint64_t total_groups = 0;
    // So many work-groups, one behind the other in y, run before the next ones in x; divides their
    // number in y.
    uint32_t rows_together = 1;
    bool whole_groups = true;         // all work-groups have the same size
    bool streaming = false;           // a dword of every work-item would not stay in the caches
    bool any_order = false;           // work-groups may start in any order, if their code allows it
    uint32_t prefetch_items = 0;      // ExecContext::prefetch_items
    uint32_t prefetch_rows = 0;       // ExecContext::prefetch_rows
    uint32_t prefetch_row = ~0u;      // ExecContext::prefetch_row
    uint32_t lds_bytes = 0;           // rounded to the granule
    uint32_t scratch_lane_bytes = 0;  // per work-item, multiple of 4
    uint32_t vgpr_rows = 0;           // rows allocated for a wave, AccVGPRs included
    uint32_t vgpr_count = 0, agpr_count = 0, sgpr_count = 0;
    uint32_t agpr_row = 0;  // where Wave::agpr begins; vgpr_rows when there are no such rows
    bool has_agpr_rows() const { return agpr_row < vgpr_rows; }
    // Whether all vector registers are those that operands name by themselves.
    bool named_by_code() const { return vgpr_count <= named_vgprs; }
    uint32_t max_waves = 0;  // waves of a full work-group
    uint32_t compute_units = 1;
    uint32_t mode = 0;
    KernelCode code;

    // SGPRs that every wave starts with; the rest is put in by init_wave and place_wave.
    uint32_t user_sgprs[128] = {};
    struct {
        int buffer = -1, flat = -1;  // first SGPR, or -1
    } scratch_sgprs;
    ClusterShape clusters;
    machine::ExecContext::GroupIds group_ids;
    machine::NextWaves next_waves;
    uint32_t lane_layout = 0, grid_layout = 0, whole_lanes = machine::lanes;
    uint32_t id_rows = 1;  // VGPRs with work-item ids
};

// What makes a launch faster.
struct LaunchHints {
    bool stores_columns = false;  // earlier launches of the kernel had ExecContext::columns_cut
    machine::Engine::Prefetch prefetch;
};

// Checks sizes, registers and LDS against the modelled device (SEED-DISP-10, -11, -12) and fills
// the constant part of the initial SGPRs (SEED-INIT-01..14). `preload` are the bytes at the kernarg
// address.
Result<LaunchPlan> make_launch_plan(const Target& target, const DeviceOptions& options,
                                    const KernelInfo& kernel, const KernelCode& code,
                                    const DispatchRequest& request,
                                    const memory::AddressSpace& memory, const LaunchHints& hints);

// Work-items of work-group `linear_id` (smaller at the end of a grid that does not divide,
// SEED-DISP-10).
void locate_group(const LaunchPlan& plan, uint64_t linear_id, machine::WorkGroup& group);
// The same for the work-group behind `group`; false: it has another size.
bool advance_group(const LaunchPlan& plan, machine::WorkGroup& group);

// Initial state of wave `index` of every work-group with `group`'s size, but for what place_wave()
// puts in: SGPRs, EXEC, MODE (SEED-INIT). Memory pointers (vgpr, lds, scratch) must be set before.
void init_wave(const LaunchPlan& plan, const machine::WorkGroup& group, uint32_t index,
               machine::Wave& wave);

// Named barriers of each work-group (compute_pgm_rsrc3.NAMED_BAR_CNT, in units of four).
inline uint32_t named_barriers(const LaunchPlan& plan) {
    if (!plan.target->traits.work_group_clusters) return 0;
    return std::min((plan.kernel.rsrc3 >> 14 & 7) * 4, machine::NamedBarriers::most);
}

// SGPRs from s0 on that waves start with.
uint32_t initial_sgprs(const LaunchPlan& plan);

// The plan's first id_rows VGPRs of wave `index`: work-item ids.
void init_work_item_ids(const LaunchPlan& plan, const machine::WorkGroup& group, uint32_t index,
                        uint32_t* rows);

// What differs between work-groups: the ids, and the place where they run, which is the same for
// all waves of a group but for what init_wave() has put in.
struct GroupPlace {
    uint32_t compute_unit = 0, turn = 0;
    static GroupPlace of(const LaunchPlan& plan, uint64_t linear_id) {
        const auto linear = static_cast<uint32_t>(linear_id);
        return {linear % plan.compute_units, linear / plan.compute_units};
    }
    void advance(const LaunchPlan& plan) {
        if (++compute_unit == plan.compute_units) compute_unit = 0, turn++;
    }
    // HW_ID: WAVE_ID[3:0] SIMD_ID[5:4] CU_ID[11:8] SE_ID[14:13] TG_ID[19:16]
    uint32_t hw_id() const {
        return (compute_unit & 15) << 8 | (compute_unit >> 4 & 3) << 13 | (turn & 15) << 16;
    }
};
// The registers with two names hold by both what the allocation begins with.
void name_twice(const LaunchPlan& plan, machine::Wave& wave);

inline void place_wave(const LaunchPlan& plan, const machine::WorkGroup& group, uint32_t hw_id,
                       machine::Wave& wave) {
    const auto& sgpr = plan.group_ids.sgpr;
    for (int i = 0; i < 3; i++)
        if (sgpr[i] >= 0) wave.sgpr[sgpr[i]] = group.id[i];
    if (sgpr[2] == machine::group_yz) [[unlikely]]
        wave.sgpr[machine::group_yz] = group.id[1] | group.id[2] << 16;
    if (plan.clusters.several()) [[unlikely]]
        plan.clusters.place(group, wave);
    if (plan.code.sgpr_aliases) [[unlikely]]
        name_twice(plan, wave);
    wave.hw_id |= hw_id;
}

}  // namespace wj::runtime
