// Where values that cross a border of segments live in memory.
#include <algorithm>

#include "backend_x64/frame.h"
#include "backend_x64/schedule.h"

namespace wj::x64 {

using ir::Class;
using ir::Inst;
using ir::Op;
using ir::Type;

void Schedule::note_uniform_use(Value v, Use use, bool from_memory) {
    if (last_uniform_use_[v] < use) last_uniform_use_[v] = use;
    if (from_memory)
        uniform_from_memory_[v] |=
            use.position == position_[v] ? 6 : 2;  // 4: before any SetS of its segment
    if (use.position > position_[v]) uniform_from_memory_[v] |= 1;
}

void Schedule::note_unit_use(Unit u, Use use, bool from_memory) {
    if (last_unit_use_[u] < use) last_unit_use_[u] = use;
    first_unit_use_[u] = std::min(first_unit_use_[u], use.position);
    const Value p = producer_[u];
    const Inst& i = inst(p);
    if (from_memory || use.position > position_[p]) unit_from_memory_[u] = 1;
    if (i.op == Op::Splat32 || i.op == Op::Splat64 || i.op == Op::Line32 || i.op == Op::MaskOf) {
        // Rematerialised at the use: it is the uniform value that is read there. 32-bit constants
        // come from the pool.
        for (Value a : {i.args[0], i.args[1]}) {
            const bool pooled = a == no_value || inst(a).op == Op::Const32 ||
                                (inst(a).op == Op::Const64 && i.op == Op::Splat64);
            if (!pooled) note_uniform_use(a, use, true);
        }
        if (i.op == Op::MaskOf) mask_positions_[use.position] = true;
    } else if (block_->type(p) == Type::M && unit_from_memory_[u]) {
        mask_positions_[use.position] = true;
    }
}

void Schedule::record_uses() {
    const size_t n = block_->insts.size();
    last_unit_use_.assign(unit_count_, {});
    first_unit_use_.assign(unit_count_, ~0u);
    last_uniform_use_.assign(n, {});
    unit_from_memory_.assign(unit_count_, 0);
    uniform_from_memory_.assign(n, 0);
    copy_.assign(n, 0);
    unit_home_.assign(unit_count_, {});
    uniform_home_.assign(n, {});
    std::vector<Unit> units;
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        const ir::OpInfo& info = ir::op_info(i.op);
        const bool never = fused_[v] || i.op == Op::Splat32 || i.op == Op::Splat64 ||
                           i.op == Op::Line32 || i.op == Op::MaskOf || i.op == Op::Elem ||
                           (i.op == Op::Pack64 && !interleaved_[v]) ||
                           ((i.op == Op::Lo || i.op == Op::Hi) && alias_[v] != no_unit);
        if (never) continue;
        if (i.op == Op::GoesOn) {  // at the end (BlockCompiler::go_on())
            const Use end{static_cast<uint32_t>(start_.size()) - 2, static_cast<Value>(n)};
            for (const int by : {1, 2})
                if (inst(i.args[by]).op != Op::Const64) note_uniform_use(i.args[by], end, true);
            continue;
        }
        const Use use{position_[v], v};
        const bool between = info.cls == Class::Cross || i.op == Op::BitsOf;
        units.clear();
        units_read(v, units);
        for (Unit u : units) note_unit_use(u, use, between);
        for (Value a : ir::used_args(i))
            if (a != no_value && is_uniform(block_->type(a)))
                note_uniform_use(a, use,
                                 info.cls == Class::LaneLoad || info.cls == Class::LaneStore ||
                                     info.cls == Class::LaneAtomic);
    }
    if (const Value cond = block_->term.cond; cond != no_value) {
        const Use use{static_cast<uint32_t>(start_.size()) - 2, static_cast<Value>(n)};
        note_uniform_use(cond, use, false);
        // The terminator may repeat the compare.
        if (position_[cond] == use.position && inst(cond).op >= Op::UCmpEq32 &&
            inst(cond).op <= Op::UCmpLtU64)
            for (Value a : {inst(cond).args[0], inst(cond).args[1]})
                note_uniform_use(a, use, false);
    }
}

// Of a dword of a loaded quadword: where that is.
Home Schedule::home_of_half(Value half) {
    const Inst& i = inst(half);
    if ((i.op != Op::ULo && i.op != Op::UHi) || inst(i.args[0]).op != Op::ULoad64) return {};
    Home& whole = uniform_home_[i.args[0]];
    if (whole.kind == Home::None) whole = {Home::Slot, slots_used_++};
    if (whole.kind != Home::Slot) return {};
    return {Home::Slot, whole.index, i.op == Op::UHi};
}

bool Schedule::assign_homes() {
    const size_t n = block_->insts.size();
    slots_used_ = 0;
    home_write_.assign(n, no_value);
    // A register written in the same segment with the value serves as its home while it lasts.
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        if (i.op == Op::SetS32 || i.op == Op::SetS64) {
            const Value source = i.args[0];
            Home& home = uniform_home_[source];
            const Op op = inst(source).op;
            if (home.kind != Home::None || op == Op::Const32 || op == Op::Const64 ||
                (uniform_from_memory_[source] & 4))
                continue;
            if (ir::op_info(op).cls == Class::GetS || position_[v] != position_[source]) continue;
            const Value c = clobber_[v];
            if (c != no_value && position_[c] <= last_uniform_use_[source].position) continue;
            home = {Home::Wave, static_cast<uint32_t>(offsetof(machine::Wave, sgpr) + i.imm * 4)};
            home_write_[source] = v;
        } else if (i.op == Op::SetV && is_full(i.args[1])) {
            const Unit u = unit(i.args[0]);
            const Value source = producer_[u];
            if (unit_home_[u].kind != Home::None || position_[v] != position_[source]) continue;
            const Op op = inst(source).op;
            if (op == Op::GetV || op == Op::Splat32 || op == Op::LaneId) continue;
            const Value c = clobber_[v];
            if (c != no_value && position_[c] <= last_unit_use_[u].position) continue;
            unit_home_[u] = {Home::Row, static_cast<uint32_t>(i.imm)};
        }
    }
    std::vector<std::pair<uint32_t, Unit>> temps;  // (first position, unit)
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        const ir::OpInfo& info = ir::op_info(i.op);
        if (is_uniform(info.result)) {
            Home& home = uniform_home_[v];
            if (info.cls == Class::GetS) {
                const Value c = clobber_[v];
                const bool lost = c != no_value && Use{position_[c], c} < last_uniform_use_[v];
                if (lost) {
                    home = {Home::Slot, slots_used_++};
                } else if (i.op == Op::GetScc) {
                    home = {Home::Wave, static_cast<uint32_t>(offsetof(machine::Wave, scc))};
                } else {
                    home = {Home::Wave,
                            static_cast<uint32_t>(offsetof(machine::Wave, sgpr) + i.imm * 4)};
                }
            } else if (i.op == Op::Const32 || i.op == Op::Const64) {
                // Uniform code uses immediates; only lane code reads a constant from memory.
                if (uniform_from_memory_[v] & 2)
                    home = {Home::Slot, slots_used_++};
                else
                    home = {};
            } else if (uniform_from_memory_[v] && home.kind == Home::None) {
                const Home half = home_of_half(v);
                home = half.kind == Home::None ? Home{Home::Slot, slots_used_++} : half;
            }
            continue;
        }
        if (alias_[v] != no_unit || info.result == Type::N) continue;
        const uint32_t end = v + 1 < n ? unit_base_[v + 1] : unit_count_;
        for (uint32_t index = unit_base_[v]; index < end; ++index) {
            const Unit u(index);
            if (first_unit_use_[u] == ~0u) continue;
            Home& home = unit_home_[u];
            if (info.result == Type::M) {
                if (i.op != Op::MaskOf && unit_from_memory_[u])
                    home = {Home::Slot, slots_used_++}, mask_positions_[position_[v]] = true;
                continue;
            }
            if (i.op == Op::GetV) {
                const Value c = clobber_[v];
                if (c == no_value || last_unit_use_[u].position <= position_[c]) {
                    home = {Home::Row, static_cast<uint32_t>(i.imm)};
                    continue;
                }
                copy_[v] = 1;
                const uint32_t before = position_[c] & 1 ? position_[c] : position_[c] - 1;
                position_[v] = to_whole_region(
                    std::max(to_region(position_[v]), std::min(first_unit_use_[u] | 1, before)));
                temps.push_back({position_[v], u});
            } else if (i.op == Op::Splat32 || i.op == Op::LaneId) {
                // Only cross-lane operations, at even positions, need them in memory; see
                // uniform_of().
                continue;
            } else if (i.op == Op::Splat64 || i.op == Op::Line32) {
                continue;
            } else if (unit_from_memory_[u] && home.kind == Home::None) {
                temps.push_back({position_[v], u});
            }
        }
    }
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        if (ir::op_info(i.op).cls != Class::Cross) continue;
        // Results of cross-lane operations are made in a row.
        if (const Type t = ir::op_info(i.op).result; t == Type::V32) {
            const Unit u(unit_base_[v]);
            if (unit_home_[u].kind != Home::Temp) {
                unit_home_[u] = {};
                if (std::none_of(temps.begin(), temps.end(),
                                 [&](auto& t) { return t.second == u; }))
                    temps.push_back({position_[v], u});
            }
        }
        for (Value arg : i.args) {
            if (arg == no_value || block_->type(arg) != Type::V32) continue;
            const Value a = producer_[unit(arg)];
            const Op op = inst(a).op;
            if ((op != Op::Splat32 && op != Op::LaneId) || copy_[a]) continue;
            copy_[a] = 1;
            position_[a] = to_whole_region(position_[a]);
            if (op == Op::Splat32) {
                const Value s = inst(a).args[0];
                if (inst(s).op != Op::Const32) note_uniform_use(s, {position_[a], a}, true);
                if (inst(s).op != Op::Const32 && uniform_home_[s].kind == Home::None)
                    uniform_home_[s] = {Home::Slot, slots_used_++};
            }
            temps.push_back({position_[a], Unit(unit_base_[a])});
        }
    }
    // Temp rows are reused once the last reader's segment is over.
    std::sort(temps.begin(), temps.end());
    std::vector<std::pair<uint32_t, uint32_t>> busy;  // (last position, row)
    std::vector<uint32_t> free_rows;
    temps_used_ = 0;
    for (auto [position, u] : temps) {
        for (size_t k = 0; k < busy.size();) {
            if (busy[k].first < position) {
                free_rows.push_back(busy[k].second);
                busy[k] = busy.back();
                busy.pop_back();
            } else {
                ++k;
            }
        }
        uint32_t row;
        if (free_rows.empty()) {
            row = temps_used_++;
        } else {
            row = free_rows.back();
            free_rows.pop_back();
        }
        unit_home_[u] = {Home::Temp, row};
        const bool stays = kept_region_ && position == kept_region_;
        busy.push_back({stays ? ~0u : std::max(position, last_unit_use_[u].position), row});
    }
    return slots_used_ <= slot_count && temps_used_ <= temp_rows;
}

}  // namespace wj::x64
