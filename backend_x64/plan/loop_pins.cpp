// Which values of a loop stay in registers from iteration to iteration, for how many chunks at
// once.
#include <algorithm>

#include "backend_x64/plan/loop_plan.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;

// First those that iterations hand on, then what they only read. Nothing if what `chunks` chunks
// hand on does not fit.
static std::optional<LoopPins> pins_of(const PlanContext& c, const LoopPlan& plan, uint32_t part,
                                       uint32_t chunks) {
    LoopPins pins;
    pins.chunks = chunks;
    std::vector<bool> set_scalar(132);
    std::vector<uint8_t> sets(512);
    std::vector<Value> set_of(512, no_value), read_of(512, no_value);
    std::vector<uint8_t> reads(512);
    for (Value v = 0; v < c.block.insts.size(); ++v) {
        const ir::Inst& i = c.inst(v);
        if (ir::op_info(i.op).cls == Class::SetS)
            for (uint32_t n = 0; n < ir::scalar_registers(i.op); ++n) set_scalar[i.imm + n] = true;
        if (i.op == Op::SetV) ++sets[i.imm], set_of[i.imm] = v;
    }
    auto constant_uniform = [&](Value u) {
        const ir::Inst& i = c.inst(u);
        if (c.is_const(u)) return true;
        return (i.op == Op::GetS32 && !set_scalar[i.imm]) ||
               (i.op == Op::GetS64 && !set_scalar[i.imm] && !set_scalar[i.imm + 1]);
    };
    std::vector<uint32_t> uses(c.schedule.unit_count());
    std::vector<Unit> order, units;
    const auto count = static_cast<uint32_t>(c.schedule.end(1) - c.schedule.begin(1));
    for (uint32_t i = 0; i < count; ++i) {
        if (plan.parts.is_other(i, part)) continue;
        units.clear();
        c.schedule.units_read(c.schedule.begin(1)[i], units);
        for (Unit u : units)
            if (!uses[u]++) order.push_back(u);
    }
    for (Unit u : order) {
        const ir::Inst& i = c.inst(c.schedule.producer(u));
        if (i.op == Op::GetV) ++reads[i.imm], read_of[i.imm] = c.schedule.producer(u);
    }
    // Registers that the body needs for its own.
    const bool simple = have_simple_lowerings(c, c.schedule.begin(1), count);
    const int most = alive_at_once(c, {c.schedule.begin(1), count}, reads, plan.parts, part);
    const int registers = c.has_masks() ? 32 : 16;
    const int temporaries = simple ? 2 : c.has_masks() ? 3 : 5;
    const int lowest = std::min(most + temporaries, registers - 4);
    const int lowest_carried = std::min(lowest, chunks > 1 ? registers / 2 : registers * 2 / 3);
    int next = registers - 1;
    // Room for a pin of each chunk?
    auto room = [&](int bound) { return next - static_cast<int>(chunks) + 1 >= bound; };
    // Through memory they would cost a store, its forwarding and a load in every iteration.
    const size_t k_pins = chunks > 1 ? 4 : 3;
    auto pin_masks = [&] {
        for (Unit u : order) {
            const ir::Inst& i = c.inst(c.schedule.producer(u));
            if (i.op != Op::MaskOf) continue;
            const auto alike = [&](Unit x) {
                const ir::Inst& other = c.inst(c.schedule.producer(x));
                return other.op == Op::MaskOf && other.args[0] == i.args[0];
            };
            if (std::count_if(order.begin(), order.end(), alike) != 1) continue;
            const bool fits =
                c.has_masks() ? pins.masks.size() + chunks <= k_pins : room(lowest_carried);
            for (const LoopMask& m : plan.masks)
                for (uint32_t chunk = 0; m.get == i.args[0] && chunk < chunks; ++chunk) {
                    MaskPin p{u, c.schedule.unit(m.mask), -1, -1, chunk};
                    if (!fits)
                        p.spill = pins.spills++;
                    else
                        p.reg = c.has_masks() ? 7 - static_cast<int>(pins.masks.size()) : next--;
                    pins.masks.push_back(p);
                }
        }
    };
    if (chunks == 1) pin_masks();
    for (uint32_t r = 0; r < 512; ++r) {
        if (sets[r] != 1) continue;
        const Value set = set_of[r];
        const Value mask = c.inst(set).args[1];
        const bool steady = c.schedule.is_full(mask) || (c.inst(mask).op == Op::MaskOf &&
                                                         constant_uniform(c.inst(mask).args[0]));
        if (!reads[r]) {
            if (steady && !plan.divergent) pins.unread.push_back(set);
            continue;
        }
        if (reads[r] != 1 || read_of[r] > set) continue;
        const Unit u = c.schedule.unit(read_of[r]);
        if (c.schedule.unit_home(u).kind == Home::Temp) continue;
        if (!room(lowest_carried)) {
            if (chunks > 1) return {};
            continue;
        }
        for (uint32_t chunk = 0; chunk < chunks; ++chunk)
            pins.carried.push_back(
                {u, set, next--, c.schedule.is_full(mask), chunk, !steady && !plan.divergent});
    }
    if (chunks > 1) pin_masks();
    // A chunk's last iteration is not known beforehand when its lanes decide.
    for (uint32_t r = 0; plan.divergent && r < 512; ++r) {
        if (sets[r] != 1 || reads[r] || !room(lowest)) continue;
        for (uint32_t chunk = 0; chunk < chunks; ++chunk)
            pins.carried.push_back({no_unit, set_of[r], next--, false, chunk});
    }
    // Read-only values by number of uses.
    std::stable_sort(order.begin(), order.end(), [&](Unit a, Unit b) { return uses[a] > uses[b]; });
    for (Unit u : order) {
        if (next < lowest) break;
        const ir::Inst& i = c.inst(c.schedule.producer(u));
        const bool row =
            i.op == Op::GetV && !sets[i.imm] && c.schedule.unit_home(u).kind == Home::Row;
        const bool broadcast =
            (i.op == Op::Splat32 || i.op == Op::Splat64) && constant_uniform(i.args[0]);
        if (broadcast) pins.steady.push_back({u, no_value, next--, true, every_chunk});
        for (uint32_t chunk = 0; row && room(lowest) && chunk < chunks; ++chunk)
            pins.steady.push_back({u, no_value, next--, true, chunk});
    }
    return pins;
}

LoopPins plan_pins(const PlanContext& c, const LoopPlan& plan, uint32_t part, uint32_t chunks) {
    for (;; chunks /= 2)
        if (auto pins = pins_of(c, plan, part, chunks)) return *pins;
}

std::pair<Value, Value> find_kept_scalar(const PlanContext& c) {
    std::pair kept{no_value, no_value};
    const ir::Inst& cond = c.inst(c.block.term.cond);
    for (Value set = 0; set < c.block.insts.size(); ++set) {
        const ir::Inst& i = c.inst(set);
        if (i.op != Op::SetS32 || c.schedule.position(set) != 0 || c.is_const(i.args[0])) continue;
        Value get = no_value;
        bool good = true;
        for (Value v = 0; v < c.block.insts.size(); ++v) {
            const ir::Inst& x = c.inst(v);
            const Class cls = ir::op_info(x.op).cls;
            if ((cls != Class::GetS && cls != Class::SetS) || x.op == Op::GetScc ||
                x.op == Op::SetScc || v == set)
                continue;
            const bool is_wide = x.op == Op::GetS64 || x.op == Op::SetS64;
            if (x.imm != i.imm && !(is_wide && x.imm + 1 == i.imm)) continue;
            good &= x.op == Op::GetS32 && get == no_value && v < set &&
                    c.schedule.uniform_home(v).kind == Home::Wave;
            get = v;
        }
        if (!good || get == no_value) continue;
        const bool decides = i.args[0] == cond.args[0] || i.args[0] == cond.args[1] ||
                             get == cond.args[0] || get == cond.args[1];
        if (kept.first == no_value || decides) kept = {get, set};
        if (decides) return kept;
    }
    return kept;
}

std::vector<Walks::Induction> find_idle_rows(const PlanContext& c, const LoopPlan& plan,
                                             const LoopPins& pins) {
    std::vector<Walks::Induction> idle;
    if (plan.walks.walks.empty() || plan.divergent) return idle;
    auto registers = [&](Value set) {
        return std::ranges::count_if(pins.carried,
                                     [&](const Pin& p) { return p.set == set && p.full; });
    };
    auto kept = [&](const Walks::Induction& i) {
        return registers(i.set) == pins.chunks &&
               (i.high == no_value || registers(i.high) == pins.chunks);
    };
    for (const Walks::Induction& i : plan.walks.inductions)
        if (kept(i)) idle.push_back(i);
    const auto is_idle = [&](Value set) {
        return std::ranges::any_of(idle,
                                   [&](const auto& i) { return i.set == set || i.high == set; });
    };
    auto left_out = [&](Value set) { return std::ranges::count(pins.unread, set) || is_idle(set); };
    for (bool again = true; again;) {
        std::vector<bool> wanted(c.block.insts.size()), rows(512);
        std::vector<Value> todo;
        for (const Value* v = c.schedule.begin(1); v != c.schedule.end(1); ++v) {
            const ir::Class cls = ir::op_info(c.inst(*v).op).cls;
            if (cls == ir::Class::LaneLoad || (cls == ir::Class::SetV && !left_out(*v)))
                todo.push_back(*v);
        }
        while (!todo.empty()) {
            const Value v = todo.back();
            todo.pop_back();
            if (wanted[v]) continue;
            wanted[v] = true;
            const ir::Inst& i = c.inst(v);
            if (i.op == ir::Op::GetV) rows[i.imm] = true;
            for (Value a : i.args)
                if (a != no_value && !(plan.walks.of(v) && a == ir::address_of(i)))
                    todo.push_back(a);
        }
        again = std::erase_if(idle, [&](const Walks::Induction& i) {
            return rows[c.inst(i.set).imm] || (i.high != no_value && rows[c.inst(i.high).imm]);
        });
    }
    uint32_t used = 0;
    for (const auto* list : {&pins.carried, &pins.steady})
        for (const Pin& p : *list) used |= 1u << p.reg;
    constexpr uint32_t temporaries = 0xf;  // WalkCode::catch_up()
    if (used & temporaries) idle.clear();
    return idle;
}

}  // namespace wj::x64
