// What blocks depend on that were lifted for lines: scalars in bounds, rows, masks.
#include <algorithm>

#include "ir/known.h"
#include "lift/affine.h"
#include "machine/wave.h"

namespace wj::lift {

bool Affine::guard_all_lanes(Value bits, bool likely) {
    if (const ir::Inst i = block_.insts[bits]; i.op == Op::UAnd64)
        return guard_all_lanes(i.args[0], likely) && guard_all_lanes(i.args[1], likely);
    const auto known = extents_.find(bits);
    const Value condition = known != extents_.end()
                                ? known->second.all
                                : s_.emit(Op::UCmpEq64, {bits, s_.const64(~0ull)});
    const auto now = now_ ? now_->of(block_, condition) : std::nullopt;
    const bool fails = now && !*now;
    if (likely && (!now || fails)) return false;
    if (!guard(condition)) return false;
    if (fails) now_.reset();  // others go where this wave does not
    all_go_on_ &= known != extents_.end();
    return true;
}

bool Affine::guard(Value condition) {
    if (const auto c = constant(condition)) return *c;
    if (!early(condition)) return false;
    relied_on_ = true;
    s_.emit(Op::Guard, {condition});
    return true;
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
    all_go_on_ = false;
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
        if (!at_most(l, room, f) || (l.goes_on && !f.goes_on)) return false;
    } else {
        // Neither the first row nor the distance to the next one is beyond the LDS: then the last
        // row's place is no sum that wraps around.
        const uint32_t row_bytes = static_cast<uint32_t>(l.stride) * (l.width - 1),
                       rows = machine::lanes / l.width - 1;
        const Value last = both(Op::UAdd32, l.base, both(Op::UMul32, l.step, s_.const32(rows)));
        if (l.goes_on || l.stride < 0 || row_bytes > room || !need_once(l.step, room, f) ||
            !need(l.base, room, f) || !need(last, room - row_bytes, f))
            return false;
    }
    commit(f);
    s_.emit(Op::GuardLds, {}, lds_size_);
    known->second = bytes;
    return true;
}

void Affine::finish() {
    for (const auto& [v, bound] : bounds_) {
        const ir::Inst i = block_.insts[v];
        const bool inverted = !bound && i.op == Op::UXor32 && i.args[1] == s_.const32(1);
        guard(inverted ? i.args[0] : s_.emit(Op::UCmpLeU32, {v, s_.const32(bound)}));
    }
}

void Affine::commit(const Found& f) {
    relied_on_ = true;
    all_go_on_ &= f.goes_on;
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
    f.goes_on &= ir::of_scalars(block_, v);
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

// The line's values, taken as unsigned, do not wrap around and do not exceed `limit`: those of the
// next waves, too, or else only this one's.
bool Affine::at_most(const Line& x, uint32_t limit, Found& f) {
    if (x.goes_on && at_most(x, run_, limit, f)) return true;
    f.goes_on = false;
    return at_most(x, x.width, limit, f);
}

bool Affine::at_most(const Line& x, uint32_t lanes, uint32_t limit, Found& f) {
    if (x.stride < 0) {  // the last lane's is the least one
        const int64_t down = x.stride * (int64_t{lanes} - 1);
        return x.one_row() && block_.type(x.base) == ir::Type::U32 && limit + down >= 0 &&
               need(both(Op::UAdd32, x.base, number(x.base, down)),
                    static_cast<uint32_t>(limit + down), f);
    }
    int64_t room = int64_t{limit} - x.stride * (int64_t{lanes} - 1);
    const size_t before = f.needs.size();
    if (const uint32_t rows = machine::lanes / x.width - 1; rows && room >= 0) {
        // Of an unknown step: at most half of what is left, and so little that few bases fail.
        constexpr int64_t usual_step = 1 << 20;
        const auto c = constant(x.step);
        const int64_t step = c ? static_cast<int32_t>(*c) : std::min(room / 2 / rows, usual_step);
        if (step < 0) return false;  // sums of steps must not wrap around either
        if (!c && !need_once(x.step, static_cast<uint32_t>(step), f)) return false;
        room -= step * rows;
    }
    if (room >= 0 && need(x.base, static_cast<uint32_t>(room), f)) return true;
    f.needs.resize(before);
    return false;
}

}  // namespace wj::lift
