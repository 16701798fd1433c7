// What blocks depend on that were lifted for lines: scalars in bounds, rows, masks.
#include <algorithm>

#include "ir/known.h"
#include "lift/affine.h"
#include "machine/wave.h"

namespace wj::lift {

// What operations of this kind combine.
std::vector<Value> Affine::conditions_of(Value bits, Op op) const {
    std::vector<Value> left{bits}, conditions;
    while (!left.empty()) {
        const Value c = left.back();
        left.pop_back();
        if (const ir::Inst& i = block_.insts[c]; i.op == op)
            left.insert(left.end(), {i.args[1], i.args[0]});
        else if (op == Op::UAnd64 && constant(c) == block_.whole_exec())
            continue;
        else if (std::ranges::find(conditions, c) == conditions.end())
            conditions.push_back(c);
    }
    return conditions;
}

bool Affine::guard_all_lanes(Value bits, bool likely) {
    return std::ranges::all_of(conditions_of(bits, Op::UAnd64),
                               [&](Value condition) { return guard_condition(condition, likely); });
}

bool Affine::guard_condition(Value bits, bool likely) {
    find_extent(bits);
    const auto known = extents_.find(bits);
    const Value condition =
        known != extents_.end()
            ? known->second.all
            : both(Op::UCmpEq64, both(Op::UAnd64, bits, s_.const64(block_.whole_exec())),
                   s_.const64(block_.whole_exec()));
    const auto now = now_ ? now_->of(block_, condition) : std::nullopt;
    const bool fails = now && !*now;
    if (likely && (!now || fails)) return false;
    if (!guard(condition)) return false;
    if (fails) now_.reset();  // others go where this wave does not
    if (known == extents_.end()) all_ = {false, false};
    return true;
}

bool Affine::guard_no_lanes(Value bits) {
    const auto now = now_ ? now_->of(block_, bits) : std::nullopt;
    if (!now || *now) return false;
    ++profit_;
    for (const Value condition : conditions_of(bits, Op::UAnd64)) {
        find_extent(condition);
        const auto known = extents_.find(condition);
        if (known == extents_.end()) continue;
        const auto any = now_->of(block_, known->second.any);
        if (any && !*any && guard(both(Op::UCmpEq32, known->second.any, s_.const32(0))))
            return true;
    }
    if (!guard(both(Op::UCmpEq64, bits, s_.const64(0)))) return false;
    Found f;
    all_ &= reach_of(bits, f);
    commit(f);
    return true;
}

// Conditions of a grid's bounds: those that hold for all lanes are guarded. What leaves some lanes
// is most likely a row's edge, and the same in the next waves.
std::optional<Value> Affine::guard_some_lanes(Value bits, bool any) {
    const auto now = now_ ? now_->of(block_, bits) : std::nullopt;
    if (!now || !*now || *now == block_.whole_exec()) return {};
    if (any) {
        if (!guard(both(Op::UCmpNe64, bits, s_.const64(0)))) return {};
        all_ = {false, false};
        return bits;
    }
    Value rest = no_value;
    for (const Value condition : conditions_of(bits, Op::UAnd64)) {
        find_extent(condition);
        const auto known = extents_.find(condition);
        if (known != extents_.end()) {
            const auto all = now_->of(block_, known->second.all);
            if (all && *all && guard(known->second.all)) continue;
        }
        rest = rest == no_value ? condition : both(Op::UAnd64, rest, condition);
    }
    if (rest == no_value) return {};
    rest = both(Op::UAnd64, rest, s_.const64(block_.whole_exec()));
    if (!guard(both(Op::UCmpNe64, rest, s_.const64(0)))) return {};
    Found f;
    all_ &= reach_of(rest, f);
    commit(f);
    if (all_.waves) moving_.try_emplace(rest, Steps{s_.const64(0), s_.const64(0)});
    return rest;
}

bool Affine::guard(Value condition) {
    if (const auto c = constant(condition)) return *c;
    if (!early(condition)) return false;
    relied_on_ = true;
    s_.emit(Op::Guard, {condition});
    return true;
}

bool Affine::guard_readable(Value base, uint64_t offset, uint32_t bytes) {
    constexpr uint64_t page = 4096;
    const auto other = std::ranges::find_if(block_.insts, [&](const ir::Inst& i) {
        return ir::op_info(i.op).cls == ir::Class::ULoad && i.args[0] == base && i.imm < page / 2;
    });
    if (other == block_.insts.end() || offset >= page / 2) return false;
    const uint64_t end = std::max(other->imm + sizeof(uint64_t), offset + bytes);
    const Value in_page =
        both(Op::UAnd32, s_.emit(Op::ULo, {base}), s_.const32(static_cast<uint32_t>(page - 1)));
    const Value together =
        both(Op::UCmpLeU32, in_page, s_.const32(static_cast<uint32_t>(page - end)));
    const auto now = now_ ? now_->of(block_, together) : std::nullopt;
    return now && *now && guard(together);
}

std::optional<uint32_t> Affine::constant_row(Value v) {
    const ir::Inst read = block_.insts[v];
    if (read.op != Op::GetV || read.imm >= 256 || !now_) return {};
    auto row = rows_(static_cast<uint32_t>(read.imm));
    if (!row || row->stride || row->step || row->any_step) return {};
    const auto first = now_->of(block_, s_.emit(Op::RowLane, {}, read.imm));
    if (!first) return {};
    row->constant = constant_rows_ = true;
    row->first = static_cast<uint32_t>(*first);
    s_.emit(Op::GuardRow, {}, row->imm(), row->aux());
    return row->first;
}

std::optional<std::pair<Value, uint32_t>> Affine::sum_in_row(Value v) {
    const ir::Inst read = block_.insts[v];
    if (read.op != Op::GetV || !sums_ || !now_) return {};
    if (!known_sums_) known_sums_ = sums_(block_.pc);
    const auto row = static_cast<uint32_t>(read.imm);
    const auto sum = std::ranges::find(*known_sums_, row, &RowSums::Sum::row);
    if (sum == known_sums_->end()) return {};
    const auto [_, from, added] = *sum;
    const auto whole = rows_(row), part = rows_(from);
    if (!whole || !part || whole->any_step || part->any_step || whole->stride != part->stride ||
        whole->width != part->width || whole->step != part->step)
        return {};
    const Value is_sum = s_.emit(
        Op::UCmpEq32, {s_.emit(Op::RowLane, {}, row),
                       both(Op::UAdd32, s_.emit(Op::RowLane, {}, from), s_.const32(added))});
    const auto now = now_->of(block_, is_sum);
    if (!now || !*now || !guard(is_sum)) return {};
    for (const ir::RowLine& line : {*whole, *part})
        s_.emit(Op::GuardRow, {}, line.imm(), line.aux());
    all_ = {false, false};
    return std::pair(s_.at_entry(from), added);
}

// What all lanes access out of range is an error of the program, or another one's LDS; where some
// of them access, others may be anywhere.
bool Affine::guard_within_lds(const Line& l, uint32_t bytes, bool all_lanes) {
    const auto [known, added] = within_lds_.try_emplace({l.base, l.stride, l.step, l.width}, 0);
    if (bytes <= known->second) return true;
    Found f;
    if (!all_lanes || l.width == 1 || bytes > lds_size_) return false;
    const uint32_t room = lds_size_ - bytes;
    if (l.one_row() || constant(l.step)) {
        if (!at_most(l, room, f) || (l.next.wave != no_value && !f.reach.waves)) return false;
    } else {
        // Neither the first row nor the distance to the next one is beyond the LDS: then the last
        // row's place is no sum that wraps around.
        const uint32_t row_bytes = static_cast<uint32_t>(l.stride) * (l.width - 1),
                       rows = l.rows(block_.wave_size) - 1;
        const Value last = both(Op::UAdd32, l.base, both(Op::UMul32, l.step, s_.const32(rows)));
        if (l.next.wave != no_value || l.stride < 0 || row_bytes > room ||
            !need_once(l.step, room, f) || !need(l.base, room, f) ||
            !need(last, room - row_bytes, f))
            return false;
    }
    commit(f);
    s_.emit(Op::GuardLds, {}, lds_size_);
    known->second = bytes;
    return true;
}

void Affine::finish() {
    if (all_.waves)
        for (const auto& [base, by] : moving_) s_.emit(Op::GoesOn, {base, by.wave, by.group});
    for (const auto& [v, bound] : bounds_) {
        const ir::Inst i = block_.insts[v];
        const bool inverted = !bound && i.op == Op::UXor32 && i.args[1] == s_.const32(1);
        guard(inverted ? i.args[0] : s_.emit(Op::UCmpLeU32, {v, s_.const32(bound)}));
    }
}

void Affine::commit(const Found& f) {
    relied_on_ = true;
    all_ &= f.reach;
    for (Value v : f.from) commit(v);
    if (f.row) s_.emit(Op::GuardRow, {}, f.row->imm(), f.row->aux());
    for (const auto& [v, bound] : f.needs) {
        const auto [known, added] = bounds_.try_emplace(v, bound);
        known->second = std::min(known->second, bound);
    }
}

void Affine::commit(Value v) {
    Found& f = found_.at(v);
    if (f.committed) return;
    f.committed = true;
    commit(f);
}

// For this wave, and for the next ones only if it is the same in all of them.
bool Affine::need_once(Value v, uint32_t bound, Found& f) {
    f.reach &= reach_of(v, f);
    return need(v, bound, f);
}

// For this wave; whoever needs it has to ask for what the next ones need.
bool Affine::need(Value v, uint32_t bound, Found& f) {
    if (largest(v) <= bound) return true;
    if (constant(v) || !early(v)) return false;
    // No use where it does not hold for the wave that is about to run the block.
    if (const auto now = now_ ? now_->of(block_, v) : std::nullopt; now && *now > bound)
        return false;
    f.needs.push_back({v, bound});
    return true;
}

// The line's values, taken as unsigned, do not wrap around and do not exceed `limit`: as far as
// that may be asked for, of the next waves, too.
bool Affine::at_most(const Line& x, uint32_t limit, Found& f) {
    const Reach reach = reach_of(x.next);
    for (const Reach r : {Reach{true, true}, Reach{true, false}, Reach{false, false}}) {
        if ((r.waves && !reach.waves) || (r.groups && !reach.groups)) continue;
        const size_t before = f.needs.size();
        if (at_most(x, r, limit, f)) {
            f.reach &= r;
            return true;
        }
        f.needs.resize(before);
    }
    return false;
}

bool Affine::at_most(const Line& x, Reach reach, uint32_t limit, Found& f) {
    constexpr int64_t usual_step = 1 << 20;
    // What is left for the base: up to `room`, and from -below on.
    int64_t room = limit, below = 0;
    auto take = [&](int64_t extent) { extent < 0 ? below -= extent : room -= extent; };
    // Of an unknown step: at most half of what is left, and so little that few bases fail.
    auto take_steps = [&](Value step, int64_t count, bool once) {
        if (const auto c = constant(step)) {
            take(static_cast<int32_t>(*c) * count);
            return once || !count || static_cast<int32_t>(*c) >= 0;
        }
        const auto now = now_ ? now_->of(block_, step) : std::nullopt;
        const bool down = now && static_cast<int32_t>(*now) < 0;
        const Value size = down ? both(Op::USub32, s_.const32(0), step) : step;
        const int64_t most = std::min(room / 2 / count, usual_step);
        if (most < 0 || !need_once(size, static_cast<uint32_t>(most), f)) return false;
        take(down ? -most * count : most * count);
        return once || !down;
    };
    take(x.stride * (int64_t{x.row_lanes(block_.wave_size)} - 1));
    if (const uint32_t rows = x.rows(block_.wave_size) - 1;
        rows && room >= 0 && !take_steps(x.step, rows, false))
        return false;
    if (reach.waves) {
        int64_t waves = next_.waves - 1;
        if (reach.groups && !is_zero(x.next.group)) {
            if (is_zero(x.next.wave)) {
                if (!take_steps(x.next.group, machine::NextWaves::most, true)) return false;
            } else {
                constexpr int64_t most = machine::NextWaves::most;
                if (follows(x.next, f))
                    waves = most;
                else if (!take_steps(x.next.group, most / next_.waves, true))
                    return false;
            }
        }
        if (room < 0 || (waves && !take_steps(x.next.wave, waves, true))) return false;
    }
    if (room < 0) return false;
    if (!below) return need(x.base, static_cast<uint32_t>(room), f);
    // The last lane's is the least one.
    room -= below;
    return x.one_row() && block_.type(x.base) == ir::Type::U32 && room >= 0 &&
           need(both(Op::UAdd32, x.base, number(x.base, -below)), static_cast<uint32_t>(room), f);
}

}  // namespace wj::lift
