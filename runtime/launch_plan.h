// A validated dispatch: everything that is the same for all its work-groups, worked out once.
#pragma once

#include <array>
#include <cstdint>

#include "common/status.h"
#include "frontend/kernel_descriptor.h"
#include "frontend/target.h"
#include "machine/work_group.h"
#include "runtime/device.h"

namespace wj::runtime {

// Waves of one work-group never exceed this: 1024 work-items of wave64.
inline constexpr uint32_t max_work_group_items = 1024;

struct LaunchPlan {
    const Target* target = nullptr;
    DispatchRequest request;
    KernelDescriptor kernel;
    uint64_t entry = 0;                     // first instruction
    std::array<uint32_t, 3> group_count{};  // work-groups in each dimension
    uint64_t total_groups = 0;
    uint32_t lds_bytes = 0;           // rounded to the granule
    uint32_t scratch_lane_bytes = 0;  // per work-item, multiple of 4
    uint32_t vgpr_rows = 0;           // rows allocated for a wave, AccVGPRs included
    uint32_t vgpr_count = 0, agpr_count = 0, sgpr_count = 0;
    uint32_t agpr_row = 0;   // first AccVGPR row; vgpr_rows when there are none
    uint32_t max_waves = 0;  // waves of a full work-group
    uint32_t compute_units = 1;
    uint32_t mode = 0;

    // SGPRs that every wave starts with; the rest is put in by setup_group.
    uint32_t user_sgprs[128] = {};
    int scratch_buffer_sgpr = -1, flat_scratch_sgpr = -1;  // first SGPR, or -1
};

// Checks sizes, registers and LDS against the modelled device (SEED-DISP-10, -11, -12) and fills
// the constant part of the initial SGPRs (SEED-INIT-01..14). `preload` are the bytes at the kernarg
// address.
Result<LaunchPlan> make_launch_plan(const Target& target, const DeviceOptions& options,
                                    const KernelDescriptor& kernel, const DispatchRequest& request,
                                    const std::string& kernel_name,
                                    const memory::AddressSpace& memory);

// Work-items of work-group `linear_id` (smaller at the end of a grid that does not divide,
// SEED-DISP-10).
void locate_group(const LaunchPlan& plan, uint64_t linear_id, machine::WorkGroup& group);

// Initial state of wave `index` of `group`: SGPRs, work-item ids, EXEC, MODE (SEED-INIT). Memory
// pointers (vgpr, lds, scratch) must be set before. VGPRs are zeroed: hardware leaves them as they
// are, which no program may rely on, and zeros make runs repeatable.
void init_wave(const LaunchPlan& plan, const machine::WorkGroup& group, uint32_t index,
               machine::Wave& wave);

}  // namespace wj::runtime
