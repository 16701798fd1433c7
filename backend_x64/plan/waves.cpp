#include "backend_x64/plan/waves.h"

#include <algorithm>

#include "backend_x64/plan/lines.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;

static bool is_zero(const PlanContext& c, Value v) {
    return c.is_const(v) && !c.inst(v).imm;
}

std::optional<MovingBases> plan_moving_bases(const PlanContext& c) {
    MovingBases moving_bases;
    const machine::NextWaves& waves = c.block.next;
    const auto no = [&](std::string_view why) {
        refuse(c.options.decisions, Mechanism::MovingBases, why);
        return std::nullopt;
    };
    if (!runs_again(c)) {
        if (starts_program(c.block) && ends_program(c.block))
            refuse(c.options.decisions, Mechanism::SuccessiveWaves,
                   "some lanes are off, or registers are left changed");
        return {};
    }
    take(c.options.decisions, Mechanism::SuccessiveWaves);
    if (!waves.waves || waves.waves > 256 || waves.ids_step >= 1 << 24)
        return no("the launch has no waves that differ by a step alone");
    MovingBases next;
    for (const ir::Inst& i : c.block.insts)
        if (i.op == Op::GoesOn) {
            const bool ahead = waves.group_sgpr >= 0;
            next.try_emplace(i.args[0], BaseSteps{i.args[1], i.args[ahead ? 2 : 1]});
        }
    for (Value v = 0; v < c.block.insts.size(); ++v) {
        const ir::Inst& i = c.inst(v);
        const Class cls = ir::op_info(i.op).cls;
        if (ir::is_guard(i.op) || i.op == Op::GoesOn) continue;
        if (cls == Class::Cross || cls == Class::Fence || cls == Class::SetS || i.op == Op::BitsOf)
            return no("lanes that meet, fences or scalars that are written");
        const bool scalar = cls == Class::Uniform || cls == Class::ULoad || cls == Class::GetS;
        if (scalar && c.is_const(v)) continue;
        if (scalar && c.schedule.position(v) == 0) continue;
        if (scalar) return no("scalar code behind the lanes' begins");
        for (size_t a = 0; a < std::size(i.args); ++a) {
            const Value arg = i.args[a];
            if (arg == no_value || !ir::is_uniform(c.block.type(arg)) || c.is_const(arg)) continue;
            const auto moving = next.find(arg);
            if (moving == next.end()) continue;
            const BaseSteps& by = moving->second;
            if (is_zero(c, by.wave) && is_zero(c, by.group)) continue;
            const auto there = [&](Value v) {
                return c.is_const(v) || c.schedule.uniform_home(v).kind == Home::Slot;
            };
            const bool address = is_at_line(c, i) || i.op == Op::Splat64;
            if (a || !address || c.schedule.uniform_home(arg).kind != Home::Slot ||
                !there(by.wave) || !there(by.group))
                return no("what moves is more than the base of a line");
            moving_bases[arg] = by;
        }
    }
    return moving_bases;
}

bool may_fuse_waves(const PlanContext& c, uint32_t position, const MovingBases& bases) {
    const auto no = [&](std::string_view why) {
        return refuse(c.options.decisions, Mechanism::FusedWaves, why);
    };
    if (c.block.lanes < c.block.wave_size || is_checked(c.options.address_mode))
        return no("fewer lanes than waves have, or checked memory");
    for (uint32_t p = 1; p < c.schedule.terminator_position(); ++p)
        if (p != position && c.schedule.begin(p) != c.schedule.end(p))
            return no("more than one lane region");
    const bool in_rows = std::ranges::all_of(c.block.insts, [&](const ir::Inst& i) {
        if (!ir::is_lane_access(i) || c.inst(ir::address_of(i)).op != Op::Line32) return true;
        // Where pointers lead from chunk to chunk, they do from wave to wave.
        const auto moving = is_at_line(c, i) ? bases.find(i.args[0]) : bases.end();
        if (moving == bases.end()) return false;
        const auto [wave, group] = moving->second;
        return is_row_of_wave(c, i) && wave == group && c.is_const(wave) &&
               c.inst(wave).imm == c.inst(i.args[1]).imm * c.block.wave_size;
    });
    return in_rows || no("an access whose rows do not follow from wave to wave");
}

}  // namespace wj::x64
