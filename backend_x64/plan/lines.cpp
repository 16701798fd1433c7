#include "backend_x64/plan/lines.h"

#include <algorithm>
#include <bit>

#include "backend_x64/plan/access_plan.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;

LaneOffsets lane_offsets(uint32_t stride, uint32_t step, uint32_t width) {
    LaneOffsets offsets;
    for (uint32_t l = 0; l < offsets.size(); ++l)
        offsets[l] = stride * (l % width) + step * (l / width);
    return offsets;
}

LaneOffsets lane_offsets(const PlanContext& c, const ir::Inst& line) {
    const auto width = static_cast<uint32_t>(line.aux);
    return lane_offsets(
        static_cast<uint32_t>(line.imm),
        width < c.chunk_lanes() ? static_cast<uint32_t>(c.inst(line.args[1]).imm) : 0, width);
}

bool has_lane_step(const PlanContext& c, const ir::Inst& line) {
    return line.op == Op::Line32 && line.aux == 1 && !c.is_const(line.args[1]);
}

bool has_row_step(const PlanContext& c, const ir::Inst& line) {
    return line.op == Op::Line32 && line.aux > 1 && line.aux < c.chunk_lanes() &&
           !c.is_const(line.args[1]);
}

bool has_narrow_rows(const PlanContext& c) {
    return c.options.row_lanes >= ir::RowLine::least_width && c.options.row_lanes < c.chunk_lanes();
}

std::optional<uint32_t> even_step(const PlanContext& c, const ir::Inst& line) {
    if (line.aux == machine::lanes) return static_cast<uint32_t>(line.imm);
    if (line.aux > c.chunk_lanes() || !c.is_const(line.args[1])) return {};
    const auto step = static_cast<uint32_t>(c.inst(line.args[1]).imm);
    if (step % line.aux) return {};
    return step / line.aux;  // from chunk to chunk, whatever the rows look like
}

std::optional<uint32_t> chunk_scale(const PlanContext& c, const ir::Inst& line) {
    const uint32_t step = even_step(c, line).value_or(0);
    if (step % 4 || step > 32 || !std::has_single_bit(step)) return {};
    return static_cast<uint32_t>(std::countr_zero(step / 4));
}

bool is_plain_line(const PlanContext& c, const ir::Inst& access) {
    const ir::Inst& line = c.inst(ir::address_of(access));
    if (line.op != Op::Line32 || has_lane_step(c, line)) return false;
    const Space space = space_of(access.op);
    return space == global_space
               ? !is_checked(c.options.address_mode)
               : space == lds_space && access.aux & ir::within_lds && line.aux >= c.chunk_lanes();
}

Value base_of_line(const PlanContext& c, const ir::Inst& access) {
    return space_of(access.op) == lds_space ? c.inst(access.args[0]).args[0] : access.args[0];
}

bool has_many_bases(const PlanContext& c, const ir::Inst& access) {
    uint32_t of_base = 0, of_others = 0;
    for (const ir::Inst& x : c.block.insts) {
        const Class cls = ir::op_info(x.op).cls;
        if (cls != Class::LaneLoad && cls != Class::LaneStore) continue;
        if (space_of(x.op) != global_space || ir::address_of(x) != ir::address_of(access)) continue;
        ++(x.args[0] == access.args[0] ? of_base : of_others);
    }
    return of_base <= 2 && of_others;
}

bool is_at_line(const PlanContext& c, const ir::Inst& access) {
    if (access.op != Op::LoadGlobalS && access.op != Op::StoreGlobalS) return false;
    const ir::Inst& line = c.inst(access.args[1]);
    return line.op == Op::Line32 && c.is_const(line.args[0]);
}

bool is_row_of_wave(const PlanContext& c, const ir::Inst& access) {
    return is_at_line(c, access) && c.inst(access.args[1]).aux == machine::lanes;
}

bool host_fetches(const PlanContext& c, Value line) {
    constexpr uint32_t short_program = 64;  // instructions
    return !c.options.fetches_streams && c.inst(line).aux == machine::lanes && runs_again(c) &&
           c.block.guest_count <= short_program &&
           std::ranges::none_of(std::array{Class::LaneLoad, Class::LaneStore, Class::LaneAtomic},
                                [&](Class access) { return scatters(c, access); });
}

}  // namespace wj::x64
