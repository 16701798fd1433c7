#include "lift/state.h"

#include <algorithm>

#include "ir/known.h"

namespace wj::lift {

bool State::is_const(Value v, uint64_t& out) const {
    const ir::Inst& i = block_.insts[v];
    if (i.op == Op::Splat32 || i.op == Op::Splat64) return is_const(i.args[0], out);
    if (i.op != Op::Const32 && i.op != Op::Const64) return false;
    out = i.imm;
    return true;
}

bool State::is_full(Value mask) const {
    return ir::is_full(block_, mask);
}

Value State::append(Op op, std::initializer_list<Value> args, uint64_t imm, uint32_t aux) {
    ir::Inst inst{.op = op,
                  .guest = static_cast<uint16_t>(block_.guest_pcs.size() - 1),
                  .aux = aux,
                  .imm = imm};
    std::copy(args.begin(), args.end(), inst.args.begin());
    block_.insts.push_back(inst);
    return static_cast<Value>(block_.insts.size() - 1);
}

Value State::emit(Op op, std::initializer_list<Value> args, uint64_t imm, uint32_t aux) {
    const ir::Class cls = ir::op_info(op).cls;
    if (cls != ir::Class::Uniform && cls != ir::Class::Lane) return append(op, args, imm, aux);
    Expression e{op, aux, imm, {no_value, no_value, no_value, no_value}};
    std::copy(args.begin(), args.end(), e.args.begin());
    if (const Value v = known_.find(e); v != no_value) return v;
    Value v = fold(op, e.args, imm, aux);
    if (v == no_value) v = append(op, args, imm, aux);
    known_.add(e, v);
    return v;
}

Value State::known(Op op, std::initializer_list<Value> args, uint64_t imm) const {
    Expression e{op, 0, imm, {no_value, no_value, no_value, no_value}};
    std::copy(args.begin(), args.end(), e.args.begin());
    return known_.find(e);
}

// ---- scalars
// -------------------------------------------------------------------------------------

Value State::get32(uint32_t reg) {
    Scalar& s = scalars_[reg];
    if (s.v32 == no_value) {
        if (s.pair != no_value)
            s.v32 = emit(s.half == upper ? Op::UHi : Op::ULo, {s.pair});
        else
            s.v32 = emit(Op::GetS32, {}, reg);
    }
    return s.v32;
}

Value State::get64(uint32_t reg) {
    Scalar& lo = scalars_[reg];
    Scalar& hi = scalars_[reg + 1];
    if (holds_pair(reg)) return lo.pair;
    const bool unknown =
        lo.v32 == no_value && lo.pair == no_value && hi.v32 == no_value && hi.pair == no_value;
    const Value v =
        unknown ? emit(Op::GetS64, {}, reg) : emit(Op::UPack64, {get32(reg), get32(reg + 1)});
    lo.pair = hi.pair = v;
    lo.half = lower;
    hi.half = upper;
    return v;
}

Value State::get_mask_bits(uint32_t reg) {
    if (block_.wave_size == machine::lanes) return get64(reg);
    Scalar& s = scalars_[reg];
    if (s.half == alone) return s.pair;
    const bool unknown = s.v32 == no_value && s.pair == no_value;
    const Value bits = unknown ? emit(get_mask_op(), {}, reg) : emit(Op::UZext32, {get32(reg)});
    s = {.v32 = s.v32, .pair = bits, .half = alone, .dirty = s.dirty};
    return bits;
}

void State::set_mask_bits(uint32_t reg, Value bits, bool dirty) {
    if (block_.wave_size == machine::lanes) return set64(reg, bits, dirty);
    scalars_[reg] = {.v32 = no_value, .pair = bits, .half = alone, .dirty = dirty};
    scalars_[other_name(reg)] = scalars_[reg];
    if (reg == machine::exec_lo && dirty) exec_written_ = true;
}

void State::set32(uint32_t reg, Value v) {
    scalars_[reg] = {.v32 = v, .pair = no_value, .half = lower, .dirty = true};
    scalars_[other_name(reg)] = scalars_[reg];
    if (reg == machine::exec_lo || reg == machine::exec_lo + 1) exec_written_ = true;
}

void State::assume(uint32_t reg, uint32_t value) {
    if (in_bounds(splat(get32(reg)), value, value)) scalars_[reg].v32 = const32(value);
}

bool State::is_as_it_was(uint32_t reg) const {
    return !scalars_[reg].dirty;
}

void State::set64(uint32_t reg, Value v, bool dirty) {
    scalars_[reg] = {.v32 = no_value, .pair = v, .half = lower, .dirty = dirty};
    scalars_[reg + 1] = {.v32 = no_value, .pair = v, .half = upper, .dirty = dirty};
    for (const uint32_t half : {reg, reg + 1}) scalars_[other_name(half)] = scalars_[half];
    if (reg == machine::exec_lo && dirty) exec_written_ = true;
}

Value State::scc() {
    if (scc_ == no_value) scc_ = emit(Op::GetScc, {});
    return scc_;
}

// The mask when the lanes of `lanes` are none.
Value State::without(Value mask, Value lanes, uint32_t depth) {
    const Value none = mask_of(const64(0));
    if (covers(lanes, mask)) return none;
    if (depth-- == 0) return mask;
    const ir::Inst i = inst(mask);
    if (i.op != Op::MaskAnd && i.op != Op::MaskOr && i.op != Op::MaskAndNot && i.op != Op::MaskXor)
        return mask;
    const Value a = without(i.args[0], lanes, depth), b = without(i.args[1], lanes, depth);
    switch (i.op) {
        case Op::MaskAnd:
            if (a == none || b == none) return none;
            break;
        case Op::MaskAndNot:
            if (a == none || b == none) return a;
            break;
        default:
            if (a == none) return b;
            if (b == none) return a;
            break;
    }
    return emit(i.op, {a, b});
}

bool State::merge(const Snapshot& before, Value exec) {
    const std::array<Scalar, 128> now = scalars_;
    auto changed = [&](uint32_t reg) {
        const Scalar &x = before.scalars[reg], &y = now[reg];
        if (!y.dirty) return false;
        if (!x.dirty) return true;
        return x.pair != no_value && y.pair != no_value ? x.pair != y.pair || x.half != y.half
                                                        : x.v32 != y.v32;
    };
    Value some = no_value;  // any lane
    auto any_lane = [&] {
        if (some == no_value) some = emit(Op::UCmpNe64, {bits_of(exec), const64(0)});
        return some;
    };
    scalars_ = before.scalars;
    std::array<Scalar, 128> merged = now;
    for (uint32_t reg = 0; reg < 128; ++reg) {
        if (!changed(reg)) continue;
        const Scalar& y = now[reg];
        const bool two = reg < 127 && y.pair != no_value && y.half == lower && now[reg + 1].dirty &&
                         now[reg + 1].pair == y.pair && now[reg + 1].half == upper;
        if (two || y.half == alone) {
            const Value old = two ? get64(reg) : get_mask_bits(reg);
            if (inst(y.pair).op == Op::BitsOf &&
                without(inst(y.pair).args[0], exec) == without(mask_of(old), exec)) {
                reg += two;
                continue;
            }
            if (reg == machine::exec_lo) return false;
            const Value v = emit(Op::USelect64, {any_lane(), y.pair, old});
            merged[reg] = {.v32 = no_value, .pair = v, .half = y.half, .dirty = true};
            if (two) merged[++reg] = {.v32 = no_value, .pair = v, .half = upper, .dirty = true};
            continue;
        }
        if (reg >= machine::exec_lo) return false;
        const Value old = get32(reg);
        scalars_[reg] = y;
        const Value v = emit(Op::USelect32, {any_lane(), get32(reg), old});
        merged[reg] = {.v32 = v, .pair = no_value, .half = lower, .dirty = true};
    }
    scalars_ = merged;
    if (scc_dirty_ && !(before.scc_dirty && before.scc == scc_)) {
        const Value old = before.scc != no_value ? before.scc : emit(Op::GetScc, {});
        scc_ = emit(Op::USelect32, {any_lane(), scc_, old});
    }
    return true;
}

// ---- rows
// ----------------------------------------------------------------------------------------

Value State::among_active(Value mask) {
    const ir::Inst i = inst(mask);
    if (i.op != Op::MaskAnd) return mask;
    const Value on = exec();
    return covers(i.args[1], on) ? i.args[0] : covers(i.args[0], on) ? i.args[1] : mask;
}

bool State::covers(Value mask, Value subset, uint32_t depth) const {
    if (mask == no_value || mask == subset) return true;
    if (is_full(mask)) return has_first_lanes_only(block_, subset);
    if (depth-- == 0) return false;
    const ir::Inst &i = block_.insts[subset], &m = block_.insts[mask];
    switch (i.op) {
        case Op::MaskAnd:
            if (covers(mask, i.args[0], depth) || covers(mask, i.args[1], depth)) return true;
            break;
        case Op::MaskAndNot:
            if (covers(mask, i.args[0], depth)) return true;
            break;
        case Op::MaskOr:
            return covers(mask, i.args[0], depth) && covers(mask, i.args[1], depth);
        default:
            break;
    }
    return m.op == Op::MaskOr &&
           (covers(m.args[0], subset, depth) || covers(m.args[1], subset, depth));
}

bool State::apart(Value a, Value b, uint32_t depth) const {
    if (a == no_value || b == no_value || depth-- == 0) return false;
    for (int swapped : {0, 1}) {
        if (swapped) std::swap(a, b);
        const ir::Inst& i = block_.insts[a];
        switch (i.op) {
            case Op::MaskAnd:
                if (apart(i.args[0], b, depth) || apart(i.args[1], b, depth)) return true;
                break;
            case Op::MaskAndNot:
                if (covers(i.args[1], b, depth) || apart(i.args[0], b, depth)) return true;
                break;
            case Op::MaskOr:
                if (apart(i.args[0], b, depth) && apart(i.args[1], b, depth)) return true;
                break;
            default:
                break;
        }
    }
    return false;
}

// As the block found it, or the last call left it.
Value State::at_entry(uint32_t row) {
    if (in_memory_[row] == no_value) in_memory_[row] = emit(Op::GetV, {}, row);
    return in_memory_[row];
}

// The row's value in every lane.
Value State::whole(uint32_t row, Row& r) {
    if (r.value == no_value) return at_entry(row);
    if (r.mask == no_value) return r.value;
    const Value base = r.base != no_value ? r.base : at_entry(row);
    return select(r.mask, r.value, base);
}

Value State::read(uint32_t row) {
    Row& r = rows_[row];
    if (r.inner != no_value && covers(r.inner_mask, exec())) return r.inner;
    if (r.value != no_value && covers(r.mask, exec())) return r.value;
    // The other arm has written.
    if (r.value != no_value && r.mask != no_value && apart(r.mask, exec()))
        return r.base != no_value ? r.base : at_entry(row);
    return read_all(row);
}

Value State::read_all(uint32_t row) {
    Row& r = rows_[row];
    const Value v = whole(row, r);
    if (r.value == no_value) touched_.push_back(static_cast<uint16_t>(row));
    r = {.value = v, .mask = no_value, .base = no_value, .dirty = r.dirty};
    return v;
}

void State::write(uint32_t row, Value v) {
    const Value e = exec();
    if (is_full(e)) return write_all(row, v);
    Row& r = rows_[row];
    if (r.value == no_value) {
        touched_.push_back(static_cast<uint16_t>(row));
        r = {.value = v, .mask = e, .base = no_value, .dirty = true};
    } else if (r.mask != no_value && covers(e, r.mask)) {
        r = {.value = v, .mask = e, .base = r.base, .dirty = true};
    } else if (r.mask != no_value && covers(r.mask, e)) {
        const Value outer = r.inner_mask == e ? r.outer : r.value;
        r = {.value = select(e, v, outer),
             .mask = r.mask,
             .base = r.base,
             .dirty = true,
             .inner = v,
             .inner_mask = e,
             .outer = outer};
    } else if (r.mask != no_value && apart(r.mask, e)) {  // two arms
        r = {.value = select(e, v, r.value),
             .mask = emit(Op::MaskOr, {e, r.mask}),
             .base = r.base,
             .dirty = true};
    } else {
        // An unchanged row may stay in memory for the other lanes.
        const Value base = r.dirty ? whole(row, r) : no_value;
        r = {.value = v, .mask = e, .base = base, .dirty = true};
    }
}

void State::write_all(uint32_t row, Value v) {
    Row& r = rows_[row];
    if (r.value == no_value) touched_.push_back(static_cast<uint16_t>(row));
    r = {.value = v, .mask = no_value, .base = no_value, .dirty = true};
}

// ---- block ends
// ----------------------------------------------------------------------------------

bool State::dead(uint32_t row, const Row& r, const LiveSet& after) {
    if (after.on[row]) return false;
    if (!after.off[row]) return true;
    return r.mask == no_value || r.base != no_value ? is_full(exec()) : covers(exec(), r.mask);
}

void State::flush(const LiveSet* after) {
    flush_rows(
        after, [](Value) {},
        [](Value v) {
            return Written{v, 0};
        });
    flush_scalars(after);
}

void State::flush_rows(const LiveSet* after, const std::function<void(Value)>& announce,
                       const std::function<Written(Value)>& written) {
    auto stays = [&](uint16_t row) {
        const Row& r = rows_[row];
        return !r.dirty || (after && dead(row, r, *after));
    };
    for (uint16_t row : touched_)
        if (!stays(row)) announce(rows_[row].value);
    for (uint16_t row : touched_) {
        if (stays(row)) continue;
        Row& r = rows_[row];
        const Written w = written(r.value);
        r.value = w.value;
        if (r.mask == no_value)
            append(Op::SetV, {r.value, mask_of(const64(~0ull))}, row, w.shape);
        else if (r.base == no_value)
            append(Op::SetV, {r.value, r.mask}, row, w.shape);
        else
            append(Op::SetV, {select(r.mask, r.value, r.base), mask_of(const64(~0ull))}, row, 0);
        r.dirty = false;
    }
}

// Two registers that the block has read as one: what reads them so again, as the next iteration of
// a loop that steps an address, waits long if they have been written one by one.
void State::join_pair(uint32_t reg) {
    const bool read = std::ranges::any_of(
        block_.insts, [&](const ir::Inst& i) { return i.op == Op::GetS64 && i.imm == reg; });
    if (!read) return;
    const Value pair = emit(Op::UPack64, {get32(reg), get32(reg + 1)});
    if (inst(pair).op == Op::UAdd64) set64(reg, pair);
}

void State::flush_scalars(const LiveSet* after) {
    auto live = [&](uint32_t reg) { return !after || after->reads_scalar(reg); };
    // May read registers: before any is written.
    for (uint32_t reg = 0; reg < 127; reg += 2) {
        const Scalar &low = scalars_[reg], &high = scalars_[reg + 1];
        if (low.dirty && high.dirty && low.pair == no_value && high.pair == no_value)
            join_pair(reg);
    }
    for (uint32_t reg = 0; reg < 128; ++reg) {
        Scalar& s = scalars_[reg];
        if (!s.dirty) continue;
        s.dirty = false;
        if (reg < 127 && holds_pair(reg) && scalars_[reg + 1].dirty) {
            scalars_[reg + 1].dirty = false;
            if (!live(reg) && !live(reg + 1)) continue;
            append(Op::SetS64, {s.pair}, reg, 0);
        } else if (s.half == alone && inst(s.pair).op != Op::UZext32) {
            if (live(reg)) append(Op::SetMask32, {s.pair}, reg, 0);
        } else if (live(reg)) {
            append(Op::SetS32, {get32(reg)}, reg, 0);
        }
    }
    if (scc_dirty_ && (!after || after->scalars[LiveSet::scc])) append(Op::SetScc, {scc_}, 0, 0);
    scc_dirty_ = false;
}

void State::leave_exec_as_it_was() {
    if (!exec_written_ || exec() != mask_of(exec_at_entry_)) return;
    drop_exec();
    exec_written_ = false;
}

void State::drop_exec() {
    const uint32_t registers = block_.wave_size / 32;
    for (uint32_t n = 0; n < registers; ++n) scalars_[machine::exec_lo + n].dirty = false;
}

void State::forget(bool keep_exec) {
    const Scalar lo = scalars_[machine::exec_lo], hi = scalars_[machine::exec_lo + 1];
    scalars_ = {};
    if (keep_exec) {
        scalars_[machine::exec_lo] = lo;
        scalars_[machine::exec_lo + 1] = hi;
    } else {
        exec_written_ = true;
    }
    for (uint16_t row : touched_) rows_[row] = {};
    touched_.clear();
    in_memory_.fill(no_value);
    scc_ = no_value;
}

}  // namespace wj::lift
