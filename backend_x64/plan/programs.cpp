#include "backend_x64/plan/programs.h"

#include <algorithm>

#include "backend_x64/plan/lines.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using ir::Terminator;

bool starts_program(const ir::Block& block) {
    return block.pc % machine::program_alignment == 0;
}

bool ends_program(const ir::Block& block) {
    return block.term.kind == Terminator::Kind::Exit &&
           block.term.exit == machine::ExitKind::EndProgram;
}

bool runs_again(const PlanContext& c) {
    if (!ends_program(c.block) || !c.block.exec_full || !starts_program(c.block)) return false;
    return std::ranges::none_of(c.block.insts, [&](const ir::Inst& i) {
        const Class cls = ir::op_info(i.op).cls;
        const bool same_exec = ir::sets_mask(i.op) && i.imm == machine::exec_lo &&
                               c.is_const(i.args[0]) &&
                               c.inst(i.args[0]).imm == c.block.whole_exec();
        // The next wave does not pass the guards; its work-group's number may differ.
        return i.op == Op::GuardScalar || cls == Class::Call || cls == Class::SetV ||
               (cls == Class::SetS && !same_exec);
    });
}

bool scatters(const PlanContext& c, Class access) {
    return std::ranges::any_of(c.block.insts, [&](const ir::Inst& i) {
        if (ir::op_info(i.op).cls != access || ir::has_own_space(i.op)) return false;
        const ir::Inst& address = c.inst(ir::address_of(i));
        return address.op != Op::Line32 || has_lane_step(c, address);
    });
}

bool reads_ids(const PlanContext& c) {
    std::vector<Unit> units;
    for (uint32_t p = 1; p < c.schedule.terminator_position(); p += 2)
        for (const Value* v = c.schedule.begin(p); v != c.schedule.end(p); ++v) {
            units.clear();
            c.schedule.units_read(*v, units);
            for (const Unit u : units) {
                const ir::Inst& from = c.inst(c.schedule.producer(u));
                if (from.op == Op::GetV && from.imm == 0) return true;
            }
        }
    return false;
}

bool repeats_itself(const ir::Block& block) {
    using Kind = Terminator::Kind;
    const Terminator& t = block.term;
    return (t.kind == Kind::Branch || t.kind == Kind::Jump) &&
           (t.target == block.pc || t.next == block.pc);
}

bool is_uniform_loop(const PlanContext& c) {
    const Terminator& t = c.block.term;
    return t.kind == Terminator::Kind::Branch && !c.block.exec_changed && !c.block.mode_changed &&
           (t.target == c.block.pc) != (t.next == c.block.pc) && !c.is_const(t.cond);
}

bool uses_accumulators(const ir::Block& block) {
    return std::ranges::any_of(block.insts, [](const ir::Inst& i) {
        return (i.op == Op::GetV || i.op == Op::SetV) && i.imm >= 256;
    });
}

bool guards_stay(const ir::Block& block) {
    return std::ranges::none_of(block.insts, [&](const ir::Inst& guard) {
        const uint32_t reg = ir::ScalarRange::of(guard.imm, guard.aux).reg;
        return guard.op == Op::GuardScalar &&
               std::ranges::any_of(block.insts, [&](const ir::Inst& set) {
                   return ir::op_info(set.op).cls == Class::SetS &&
                          reg - set.imm < ir::scalar_registers(set.op);
               });
    });
}

bool gains_by_whole_chunks(const ir::Block& block, Value mask, std::span<const Value> region) {
    // The code is there twice.
    constexpr ptrdiff_t fewest_accesses = 3, most_instructions_each = 5;
    if (mask == no_value) return false;
    const auto accesses = std::ranges::count_if(region, [&](Value v) {
        const ir::Inst& i = block.insts[v];
        const Class cls = ir::op_info(i.op).cls;
        return (cls == Class::LaneLoad || cls == Class::LaneStore) && ir::mask_of(i) == mask;
    });
    return accesses >= fewest_accesses && std::ssize(region) <= accesses * most_instructions_each;
}

Value last_exec(const ir::Block& block) {
    Value exec = no_value;
    if (!block.calls.empty()) return exec;
    for (const ir::Inst& i : block.insts) {
        if (ir::op_info(i.op).cls != Class::SetS) continue;
        const uint32_t registers = block.wave_size / 32;
        const bool whole = ir::sets_mask(i.op) && i.imm == machine::exec_lo &&
                           ir::scalar_registers(i.op) == registers,
                   half = !whole && i.imm < machine::exec_lo + registers &&
                          i.imm + ir::scalar_registers(i.op) > machine::exec_lo;
        if (!whole && !half) continue;
        if (half || exec != no_value) return no_value;
        exec = i.args[0];
    }
    return exec;
}

bool ends_unordered(const ir::Block& block, Value store) {
    return block.insts[store].guest >= block.unordered_from && ends_program(block);
}

bool is_last_access(const ir::Block& block, Value store) {
    if (!ends_unordered(block, store)) return false;
    return std::all_of(block.insts.begin() + store + 1, block.insts.end(), [](const ir::Inst& i) {
        using enum Class;
        const Class cls = ir::op_info(i.op).cls;
        return cls != LaneLoad && cls != LaneStore && cls != LaneAtomic && cls != Call &&
               cls != ULoad;
    });
}

bool feeds_floats(const PlanContext& c, Value load) {
    return std::ranges::any_of(c.block.insts, [&](const ir::Inst& i) {
        return i.op >= Op::FAdd32 && i.op <= Op::FLdexp64 &&
               std::ranges::any_of(i.args, [&](Value a) {
                   return a != no_value && !ir::is_uniform(c.block.type(a)) &&
                          c.schedule.producer(c.schedule.unit(a)) == load;
               });
    });
}

}  // namespace wj::x64
