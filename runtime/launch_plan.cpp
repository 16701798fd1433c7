#include "runtime/launch_plan.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "frontend/buffer_layout.h"
namespace wj::runtime {
namespace {

// A server processor's last-level cache, or one thread's share of it.
constexpr uint64_t most_cached = 16 << 20;
// Much of a second-level cache: worth finding there again.
constexpr uint64_t least_any_order = 1 << 20;
// Of columns that are written: part of a second-level cache, in which lines of a column that are a
// power of two apart have few places.
constexpr uint64_t least_in_columns = 256 << 10;

constexpr uint32_t round_up(uint32_t value, uint32_t granule) {
    return (value + granule - 1) / granule * granule;
}

std::string dims(const std::array<uint32_t, 3>& d) {
    return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

// ExecContext::lane_layout: whether a wave's lanes are in one row of the work-group, or rows begin
// anywhere in waves; else a number for each width (and height, where that is less than a wave has)
// of rows that waves hold several of.
uint32_t lane_layout(const std::array<uint32_t, 3>& size, uint32_t wave_size) {
    const auto [x, y, z] = size;
    if (x % wave_size == 0 || y * z == 1) return machine::one_row_layout;
    if (x > wave_size || !std::has_single_bit(x)) return machine::any_row_layout;
    const uint32_t row = machine::first_row_layout + static_cast<uint32_t>(std::countr_zero(x));
    if (z == 1 || x * y % wave_size == 0) return row;
    return row + machine::row_layout_widths *
                     (std::has_single_bit(y) ? 1 + static_cast<uint32_t>(std::countr_zero(y)) : 15);
}

// The waves of a work-group that is one row of work-items, or whose rows are whole waves or whole
// parts of one. group_sgpr: the register that holds the work-group's number in x, or -1 if that is
// of no use.
machine::NextWaves next_waves(const std::array<uint32_t, 3>& size, uint32_t wave_size,
                              bool packed_ids, int32_t group_sgpr) {
    constexpr uint32_t y_unit = 1 << 10;  // of packed work-item ids (Traits)
    const uint32_t row = size[0];
    if (row % wave_size == 0) {
        const uint32_t waves = row / wave_size;
        const bool one_row = size[1] * size[2] == 1;
        if (one_row && group_sgpr >= 0) return {waves, wave_size, group_sgpr};
        if (waves > 1) return {waves, wave_size, -1};
    }
    // A wave each.
    if (row < wave_size && size[1] * size[2] == 1 && group_sgpr >= 0) return {1, row, group_sgpr};
    if (!packed_ids || row > wave_size || wave_size % row) return {};
    const uint32_t rows = wave_size / row, waves = size[1] / rows;
    const bool all = size[2] == 1 && group_sgpr >= 0;
    if (size[1] % rows || waves < (all ? 1 : 2)) return {};
    return {waves, rows * y_unit, all ? group_sgpr : -1};
}

// ExecContext::grid_layout.
uint32_t grid_layout(const machine::NextWaves& next, const std::array<uint32_t, 3>& groups) {
    // Those in the middle have others on both sides.
    const auto has_inside = [&](int dimension) { return uint32_t{groups[dimension] > 2}; };
    return next.waves << 3 | uint32_t{next.group_sgpr >= 0} << 2 | has_inside(0) << 1 |
           has_inside(1);
}

// COMPUTE_TMPRING_SIZE.WAVESIZE of gfx9: 13 bits in units of 256 dwords.
constexpr uint32_t max_scratch_wave_bytes = 8191 * 1024;

Status check_sizes(const Target& target, const KernelInfo& info, const DispatchRequest& r) {
    const KernelDescriptor& kernel = info.descriptor;
    const std::string& name = info.name;
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        if (!r.grid[i] || !r.work_group[i])
            return {Code::InvalidArgument, "kernel '" + name + "': grid " + dims(r.grid) +
                                               ", work-group " + dims(r.work_group) +
                                               ": no size may be 0"};
        items *= r.work_group[i];
        if (items > max_work_group_items)
            return {Code::OutOfRange,
                    "kernel '" + name + "': a work-group of " + dims(r.work_group) +
                        " work-items is larger than the device's limit of " +
                        std::to_string(max_work_group_items) + "; use a smaller block"};
    }
    // Code for work-groups of a known size does not look at it.
    const KernelMetadata& meta = info.metadata;
    if (meta.reqd_workgroup_size[0] && meta.reqd_workgroup_size != r.work_group)
        return {Code::InvalidArgument,
                "kernel '" + name + "' was compiled for work-groups of exactly " +
                    dims(meta.reqd_workgroup_size) + " work-items, not " + dims(r.work_group)};
    const Traits& t = target.traits;
    if (kernel.group_segment_fixed_size > r.group_segment_size)
        return {Code::InvalidArgument,
                "kernel '" + name + "': the dispatch reserves " +
                    std::to_string(r.group_segment_size) +
                    " bytes of LDS, but the kernel's static LDS alone takes " +
                    std::to_string(kernel.group_segment_fixed_size)};
    if (r.group_segment_size > t.lds_bytes)
        return {Code::OutOfRange,
                "kernel '" + name + "': " + std::to_string(r.group_segment_size) +
                    " bytes of LDS for a work-group, but " + std::string(target.name) + " has " +
                    std::to_string(t.lds_bytes) + "; reduce static or dynamic shared memory"};
    if (uint64_t{r.private_segment_size} * t.wave_size > max_scratch_wave_bytes)
        return {Code::OutOfRange, "kernel '" + name +
                                      "': " + std::to_string(r.private_segment_size) +
                                      " bytes of private memory for a work-item, the limit is " +
                                      std::to_string(max_scratch_wave_bytes / t.wave_size)};
    constexpr uint32_t most_packed_groups = 1 << 16;
    for (int i = 1; i < 3 && t.workgroup_ids_in_ttmp; i++)
        if (r.grid[i] > uint64_t{most_packed_groups} * r.work_group[i])
            return {Code::OutOfRange, "kernel '" + name + "': grid " + dims(r.grid) +
                                          " has more than " + std::to_string(most_packed_groups) +
                                          " work-groups in " + "xyz"[i] +
                                          ", which is the limit of " + std::string(target.name)};
    // All waves of a work-group are resident at once, spread over SIMDs with a register file each.
    const uint32_t waves = (static_cast<uint32_t>(items) + t.wave_size - 1) / t.wave_size,
                   simds = t.has_wgp_mode && !kernel.wgp_mode ? 2 : 4;
    if ((waves + simds - 1) / simds * round_up(kernel.vgpr_count, t.vgpr_granule) > t.simd_vgprs)
        return {Code::OutOfRange,
                "kernel '" + name + "' uses " + std::to_string(kernel.vgpr_count) +
                    " VGPRs: a work-group of " + std::to_string(items) +
                    " work-items does not fit into a compute unit of " + std::string(target.name) +
                    "; use a smaller block or __launch_bounds__"};
    return Status::ok();
}

void put64(uint32_t* sgpr, uint64_t value) {
    sgpr[0] = static_cast<uint32_t>(value);
    sgpr[1] = static_cast<uint32_t>(value >> 32);
}

uint32_t initial_mode(const KernelDescriptor& kernel, const KernelCode& code) {
    // MODE[18:12] are the exception enables.
    uint32_t mode = kernel.float_mode() | uint32_t{kernel.exceptions} << 12;
    if (kernel.dx10_clamp) mode |= machine::mode::dx10_clamp;
    if (kernel.ieee_mode) mode |= machine::mode::ieee;
    if (kernel.fp16_ovfl) mode |= machine::mode::fp16_ovfl;
    if (code.reads_trapsts) mode |= machine::mode::reads_trapsts;
    if (code.whole_barriers()) mode |= machine::mode::whole_barriers;
    return mode;
}

// System SGPRs, dense behind the user SGPRs; or TTMP registers, where those are the processor's
// way.
void place_group_ids(LaunchPlan& plan) {
    const KernelDescriptor& kernel = plan.kernel;
    const bool in_ttmp = plan.target->traits.workgroup_ids_in_ttmp;
    int next = static_cast<int>(std::min(kernel.user_sgpr_count, 96u));
    const bool id[3] = {kernel.workgroup_id_x, kernel.workgroup_id_y, kernel.workgroup_id_z};
    for (int i = 0; i < 3; i++) {
        if (id[i] && !in_ttmp) plan.group_ids.sgpr[i] = next++;
        plan.group_ids.middle[i] = plan.group_count[i] / 2;
    }
    if (!in_ttmp || plan.clusters.several()) return;
    plan.group_ids.sgpr[0] = machine::group_x;
    plan.group_ids.sgpr[1] = machine::group_yz;
    // place_wave() packs the two.
    if (plan.group_count[2] > 1) plan.group_ids.sgpr[2] = machine::group_yz;
}

// How many work-groups later data is wanted that so many waves of 64 lanes lead to.
static uint32_t groups_ahead(const LaunchPlan& plan, uint32_t waves) {
    const uint32_t own_waves = waves * machine::lanes / plan.target->traits.wave_size;
    return std::max(1u, own_waves / (plan.max_waves * plan.rows_together));
}

}  // namespace

Result<LaunchPlan> make_launch_plan(const Target& target, const DeviceOptions& options,
                                    const KernelInfo& info, const KernelCode& code,
                                    const DispatchRequest& request,
                                    const memory::AddressSpace& memory, const LaunchHints& hints) {
    const KernelDescriptor& kernel = info.descriptor;
    const std::string& name = info.name;
    Status status = check_sizes(target, info, request);
    if (!status) return status;
    auto clusters = ClusterShape::of(target, info, request);
    if (!clusters) return clusters.status();
    LaunchPlan plan;
    plan.target = &target;
    plan.clusters = *clusters;
    plan.request = request;
    plan.kernel = kernel;
    plan.entry = request.kernel_object + static_cast<uint64_t>(kernel.entry_offset);
    plan.compute_units = std::max(1u, options.compute_units);
    plan.total_groups = 1;
    for (int i = 0; i < 3; i++) {
        plan.group_count[i] = static_cast<uint32_t>(
            (uint64_t{request.grid[i]} + request.work_group[i] - 1) / request.work_group[i]);
        plan.total_groups *= plan.group_count[i];
        plan.whole_groups &= request.grid[i] % request.work_group[i] == 0;
        if (plan.total_groups > uint64_t{1} << 40)
            return Status(Code::OutOfRange, "kernel '" + name + "': grid " + dims(request.grid) +
                                                " has more than 2^40 work-groups");
    }
    const uint64_t items =
        uint64_t{request.work_group[0]} * request.work_group[1] * request.work_group[2];
    const uint64_t dwords = plan.total_groups * items * 4;  // in bytes, one of each work-item
    plan.streaming = dwords >= most_cached;
    // Which thread runs what is not to change what is counted, or where a limit ends a launch.
    const bool counted = request.instruction_limit || options.hot_blocks || request.deterministic;
    plan.any_order =
        dwords >= least_any_order && !request.cooperative && !counted && !plan.clusters.several();
    static std::atomic<uint64_t> last_id{0};
    plan.id = ++last_id;
    const Traits& t = target.traits;
    plan.lds_bytes = std::min(round_up(request.group_segment_size, t.lds_granule), t.lds_bytes);
    // The object's own need is a lower bound: some runtimes leave the packet's field 0.
    plan.scratch_lane_bytes =
        round_up(std::max(request.private_segment_size, kernel.private_segment_fixed_size), 4);
    plan.max_waves = static_cast<uint32_t>((items + t.wave_size - 1) / t.wave_size);
    // Where instructions are counted, a launch is to be the same every time.
    if (hints.stores_columns && dwords >= least_in_columns && !request.instruction_limit &&
        !request.deterministic && !plan.clusters.several()) {
        constexpr uint32_t line = 64 / 4;  // dwords of a column
        const uint32_t together = line / std::min(line, request.work_group[1]);
        if (plan.group_count[1] % together == 0) plan.rows_together = together;
    }
    if (hints.prefetch.waves && dwords >= hints.prefetch.least_bytes) {
        const uint32_t groups = groups_ahead(plan, hints.prefetch.waves);
        plan.prefetch_items = std::min(groups, plan.group_count[0] / 2) * request.work_group[0];
        constexpr uint32_t many = 4;  // so many times as many work-groups as a row has to have
        if (request.work_group[0] <= machine::lanes && plan.group_count[1] > 1 &&
            plan.group_count[0] < many * groups)
            plan.prefetch_rows =
                (groups + plan.group_count[0] - 1) / plan.group_count[0] * request.work_group[1];
        if (plan.prefetch_items)
            plan.prefetch_row =
                static_cast<uint32_t>(hints.prefetch.least_row_bytes / (plan.total_groups * items));
    }
    plan.vgpr_count =
        t.unified_vgprs ? kernel.arch_vgpr_count : round_up(kernel.arch_vgpr_count, t.vgpr_granule);
    plan.agpr_count = kernel.agpr_count;
    plan.sgpr_count = kernel.sgpr_count;
    if (!options.strict_registers) {
        plan.vgpr_count = std::max(plan.vgpr_count, named_vgprs);
        plan.agpr_count = t.has_agprs ? 256 : 0;
        plan.sgpr_count = t.scalar_registers.count;
    }
    plan.agpr_row = std::min(plan.vgpr_count, named_vgprs);
    plan.vgpr_rows = plan.vgpr_count + plan.agpr_count;

    plan.mode = initial_mode(kernel, code);
    plan.code = code;

    for (const auto& range : kernel.user_sgprs()) {
        uint32_t* at = plan.user_sgprs + range.first;
        switch (range.kind) {
            case UserSgpr::PrivateSegmentBuffer:
                plan.scratch_sgprs.buffer = range.first;
                break;
            case UserSgpr::DispatchPtr:
                put64(at, request.packet_address);
                break;
            case UserSgpr::QueuePtr:
                put64(at, request.queue_address);
                break;
            case UserSgpr::KernargSegmentPtr:
                put64(at, request.kernarg_address);
                break;
            case UserSgpr::DispatchId:
                put64(at, request.dispatch_id);
                break;
            case UserSgpr::FlatScratchInit:
                plan.scratch_sgprs.flat = range.first;
                break;
            case UserSgpr::PrivateSegmentSize:
                *at = plan.scratch_lane_bytes;
                break;
            case UserSgpr::GridWorkgroupCountX:
                *at = plan.group_count[0];
                break;
            case UserSgpr::GridWorkgroupCountY:
                *at = plan.group_count[1];
                break;
            case UserSgpr::GridWorkgroupCountZ:
                *at = plan.group_count[2];
                break;
            case UserSgpr::KernargPreload: {
                // Hardware that preloads skips the 256 bytes of loads with which a kernel begins
                // for the sake of firmware that does not (AMDGPU usage guide, "Preloaded Kernel
                // Arguments").
                if (t.preload_prologue) plan.entry += 256;
                const uint32_t count = range.count;
                uint64_t from =
                    request.kernarg_address + uint64_t{kernel.kernarg_preload_offset} * 4;
                const void* bytes = memory.translate(from, uint64_t{count} * 4, memory::readable);
                if (count && !bytes)
                    return Status(Code::InvalidArgument,
                                  "kernel '" + name +
                                      "': its arguments are preloaded, but the kernarg segment "
                                      "is not readable: " +
                                      memory.describe(from));
                std::memcpy(at, bytes, size_t{count} * 4);
                break;
            }
            case UserSgpr::count_:
                break;
        }
    }
    place_group_ids(plan);
    plan.next_waves =
        next_waves(plan.request.work_group, t.wave_size, t.packed_workitem_id && kernel.workitem_id,
                   plan.group_count[0] > 1 ? plan.group_ids.sgpr[0] : -1);
    if (code.sgpr_aliases || code.reads_wave_id || !plan.named_by_code())
        plan.next_waves = {};  // each is to be placed
    plan.lane_layout = lane_layout(plan.request.work_group, t.wave_size);
    plan.grid_layout = grid_layout(plan.next_waves, plan.group_count);
    // Whole vectors of the host.
    plan.whole_lanes = t.wave_size;
    if (items < t.wave_size && items % 16 == 0) plan.whole_lanes = static_cast<uint32_t>(items);
    plan.id_rows = std::min(t.packed_workitem_id ? 1 : kernel.workitem_id + 1u, plan.vgpr_count);
    return plan;
}

// Work-items of work-group `id` in one dimension.
static uint32_t size_in(const LaunchPlan& plan, int dimension, uint32_t id) {
    const uint32_t full = plan.request.work_group[dimension];
    return static_cast<uint32_t>(
        std::min<uint64_t>(full, plan.request.grid[dimension] - uint64_t{id} * full));
}

static void locate_in_cluster(const LaunchPlan& plan, uint64_t linear_id,
                              machine::WorkGroup& group) {
    group.id = plan.clusters.group_id(linear_id, plan.group_count);
    uint32_t items = 1;
    for (int i = 0; i < 3; i++) {
        group.size[i] = size_in(plan, i, group.id[i]);
        items *= group.size[i];
    }
    group.linear_id = linear_id;
    group.wave_count = (items + plan.target->traits.wave_size - 1) / plan.target->traits.wave_size;
}

void locate_group(const LaunchPlan& plan, uint64_t linear_id, machine::WorkGroup& group) {
    if (plan.clusters.several()) return locate_in_cluster(plan, linear_id, group);
    const uint32_t together = plan.rows_together;
    uint64_t rest = linear_id / together;
    uint32_t items = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t count = plan.group_count[i] / (i == 1 ? together : 1);
        if (count == 1) {
            group.id[i] = 0;
        } else if (rest < count) {
            group.id[i] = static_cast<uint32_t>(rest);
            rest = 0;
        } else {
            group.id[i] = static_cast<uint32_t>(rest % count);
            rest /= count;
        }
        if (i == 1)
            group.id[1] = group.id[1] * together + static_cast<uint32_t>(linear_id % together);
        group.size[i] = size_in(plan, i, group.id[i]);
        items *= group.size[i];
    }
    group.linear_id = linear_id;
    group.wave_count = (items + plan.target->traits.wave_size - 1) / plan.target->traits.wave_size;
}

bool advance_group(const LaunchPlan& plan, machine::WorkGroup& group) {
    group.linear_id++;
    const uint32_t together = plan.rows_together;
    bool same_size = true;
    auto move = [&](int i, uint32_t id) {
        group.id[i] = id;
        const uint32_t size = size_in(plan, i, id);
        same_size &= size == group.size[i];
        group.size[i] = size;
    };
    if (group.linear_id % together) {
        move(1, group.id[1] + 1);
    } else {
        if (together > 1) move(1, group.id[1] - (together - 1));
        for (int i = 0; i < 3; i++) {
            const uint32_t next = group.id[i] + (i == 1 ? together : 1);
            const bool carry = next == plan.group_count[i];
            move(i, carry ? 0 : next);
            if (!carry) break;
        }
    }
    if (same_size) return true;
    const uint32_t items = group.size[0] * group.size[1] * group.size[2];
    group.wave_count = (items + plan.target->traits.wave_size - 1) / plan.target->traits.wave_size;
    return false;
}

// Lanes hold consecutive work-items, x fastest; gfx90a+ packs the three ids into v0.
void init_work_item_ids(const LaunchPlan& plan, const machine::WorkGroup& group, uint32_t index,
                        uint32_t* rows) {
    const bool packed = plan.target->traits.packed_workitem_id;
    const uint32_t sx = group.size[0], sy = group.size[1],
                   wave_size = plan.target->traits.wave_size, first = index * wave_size;
    uint32_t x = first % sx, y = first / sx % sy, z = first / sx / sy;
    std::memset(rows, 0, size_t{plan.id_rows} * machine::lanes * 4);
    // Lanes that are off go on as the others do: all are a line, where those are.
    for (uint32_t lane = 0; lane < wave_size; lane++) {
        const uint32_t ids[3] = {packed ? x | y << 10 | z << 20 : x, y, z};
        for (uint32_t i = 0; i < plan.id_rows; i++) rows[i * machine::lanes + lane] = ids[i];
        if (++x == sx) {
            x = 0;
            if (++y == sy) y = 0, z++;
        }
    }
}

namespace {

// Private segment buffer as the Linux runtime programs it: swizzled, dword elements, all lanes of
// a wave, thread id added. Its base is the wave's own memory, so the wave offset is 0.
void put_scratch_buffer(const LaunchPlan& plan, const machine::Wave& wave, uint32_t* sgpr) {
    const machine::BufferFields& f = machine::fields_of(buffer_layout(plan.target->traits));
    std::fill_n(sgpr, 4, 0);
    f.put_base(sgpr, wave.scratch_base);
    f.swizzle.put(sgpr, 1);
    f.put_records(sgpr, uint64_t{plan.scratch_lane_bytes} * wave.size);
    f.select.put(sgpr, 4u | 5u << 3 | 6u << 6 | 7u << 9);  // x y z w
    f.number_format.put(sgpr, 4);                          // unsigned; DATA_FORMAT is of the stride
    f.format.put(sgpr, 20);                                // 32_UINT
    f.element_size.put(sgpr, 1);                           // 4 bytes
    f.index_stride.put(sgpr, wave.size == 64 ? 3 : 2);
    f.add_tid.put(sgpr, 1);
    f.resource_level.put(sgpr, 1);
    f.oob_select.put(sgpr, 2);  // whatever has records is in range
}

}  // namespace

void init_wave(const LaunchPlan& plan, const machine::WorkGroup& group, uint32_t index,
               machine::Wave& wave) {
    const KernelDescriptor& kernel = plan.kernel;
    uint32_t wave_size = plan.target->traits.wave_size;
    std::memcpy(wave.sgpr, plan.user_sgprs, sizeof(plan.user_sgprs));
    wave.pc = plan.entry;
    wave.scc = 0;
    wave.mode = plan.mode;
    wave.lds_size = plan.lds_bytes;
    wave.scratch_bytes = plan.scratch_lane_bytes;
    wave.vgpr_count = plan.vgpr_count;
    wave.agpr_count = plan.agpr_count;
    wave.sgpr_count = plan.sgpr_count;
    wave.agpr = plan.has_agpr_rows() ? wave.vgpr + size_t{plan.agpr_row} * machine::lanes : nullptr;
    wave.wave_in_group = index;
    wave.status = 1u << 16 | (group.wave_count > 1 ? 1u << 11 : 0);  // VALID, IN_TG
    wave.trapsts = 0;
    wave.trap_enabled = true;
    wave.sgpr_aliases = static_cast<uint8_t>(plan.code.sgpr_aliases);
    wave.vgpr_msb = 0;
    wave.exit = {};
    wave.gws_waiting = false;
    wave.gws_phase = 0;
    wave.hw_id = (index / 4 & 15) | (index & 3) << 4;
    // LDS_SIZE, in units of 128 dwords, of gfx6 64.
    wave.lds_alloc = plan.lds_bytes / plan.target->traits.lds_size_unit() << 12;

    uint32_t items = group.size[0] * group.size[1] * group.size[2];
    uint32_t first = index * wave_size;
    uint32_t count = std::min(wave_size, items - first);
    wave.size = static_cast<uint8_t>(wave_size);
    wave.set_mask(machine::exec_lo, machine::first_lanes(count));
    wave.set_s64(machine::Wave::first_exec, machine::first_lanes(count));

    if (plan.scratch_sgprs.buffer >= 0)
        put_scratch_buffer(plan, wave, wave.sgpr + plan.scratch_sgprs.buffer);
    if (plan.scratch_sgprs.flat >= 0) {
        uint32_t* at = wave.sgpr + plan.scratch_sgprs.flat;
        if (plan.target->traits.flat_scratch_base) {
            put64(at, wave.scratch_base);
        } else {  // the offset from the hidden base, which is the wave's own, and the lanes' bytes
            at[0] = 0;
            at[1] = plan.scratch_lane_bytes;
        }
    }
    // Where it is a hardware register, s_getreg reads scratch_base.
    const Traits& t = plan.target->traits;
    if (t.architected_flat_scratch && t.scalar_registers.flat_scratch)
        wave.set_s64(t.scalar_registers.flat_scratch, wave.scratch_base);
    if (plan.code.reads_wave_id) wave.sgpr[machine::wave_id] = index << machine::wave_id_shift;

    if (kernel.workgroup_info) {
        uint32_t at = std::min(kernel.user_sgpr_count, 96u);
        for (int sgpr : plan.group_ids.sgpr) at += sgpr >= 0 && !t.workgroup_ids_in_ttmp;
        wave.sgpr[at] = (index == 0 ? 1u << 31 : 0) | (group.wave_count & 63);
    }
    // The private segment's wave offset follows: 0, as the buffer's base and FLAT_SCRATCH_INIT are
    // already the wave's own.
}

uint32_t initial_sgprs(const LaunchPlan& plan) {
    const Traits& t = plan.target->traits;
    uint32_t count = std::min(plan.kernel.user_sgpr_count, 96u);
    for (const int sgpr : plan.group_ids.sgpr) count += sgpr >= 0 && !t.workgroup_ids_in_ttmp;
    // With scratch that hardware places there is no wave offset.
    const bool wave_offset = plan.kernel.private_segment && !t.architected_flat_scratch;
    return count + plan.kernel.workgroup_info + wave_offset;
}

void name_twice(const LaunchPlan& plan, machine::Wave& wave) {
    using machine::Aliases;
    for (uint32_t reg = Aliases::first; reg < Aliases::first + Aliases::count; reg++) {
        uint32_t& number = wave.sgpr[Aliases::other(reg, plan.code.sgpr_aliases)];
        // FLAT_SCRATCH that hardware sets.
        if (plan.target->traits.architected_flat_scratch && reg < machine::xnack_mask_lo)
            number = wave.sgpr[reg];
        else
            wave.sgpr[reg] = number;
    }
}

}  // namespace wj::runtime
