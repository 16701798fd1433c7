#include "lift/state.h"

#include <algorithm>

namespace wj::lift {

size_t State::KeyHash::operator()(const Key& k) const {
    uint64_t h =
        static_cast<uint64_t>(k.op) * 0x9e3779b97f4a7c15ull ^ k.imm ^ uint64_t { k.aux } << 40;
    for (Value a : k.args) h = (h ^ a) * 0xff51afd7ed558ccdull, h ^= h >> 32;
    return h;
}

bool State::is_const(Value v, uint64_t& out) const {
    const ir::Inst& i = block_.insts[v];
    if (i.op == Op::Splat32 || i.op == Op::Splat64) return is_const(i.args[0], out);
    if (i.op != Op::Const32 && i.op != Op::Const64) return false;
    out = i.imm;
    return true;
}

// v is the lower or upper half (ULo, UHi) of a code address.
bool State::is_code_half(Value v, Op half, uint64_t& address) const {
    const ir::Inst& i = block_.insts[v];
    if (i.op != half || inst(i.args[0]).op != Op::CodeAddress) return false;
    address = inst(i.args[0]).imm;
    return true;
}

bool State::is_full(Value mask) const {
    uint64_t bits;
    const ir::Inst& i = block_.insts[mask];
    return i.op == Op::MaskOf && is_const(i.args[0], bits) && bits == ~0ull;
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

Value State::fold(Op op, const std::array<Value, 4>& a, uint64_t imm) {
    auto op_of = [&](Value v) { return block_.insts[v].op; };
    auto arg_of = [&](Value v, int i) { return block_.insts[v].args[i]; };
    uint64_t x = 0, y = 0;
    const bool cx = a[0] != no_value && is_const(a[0], x);
    const bool cy = a[1] != no_value && is_const(a[1], y);
    switch (op) {
        case Op::ULo:
            if (cx) return const32(static_cast<uint32_t>(x));
            if (op_of(a[0]) == Op::UPack64 || op_of(a[0]) == Op::UZext32) return arg_of(a[0], 0);
            break;
        case Op::UHi:
            if (cx) return const32(static_cast<uint32_t>(x >> 32));
            if (op_of(a[0]) == Op::UPack64) return arg_of(a[0], 1);
            if (op_of(a[0]) == Op::UZext32) return const32(0);
            break;
        case Op::UPack64:
            if (cx && cy) return const64(x | y << 32);
            if (cy && y == 0) return emit(Op::UZext32, {a[0]});
            if (op_of(a[0]) == Op::ULo && op_of(a[1]) == Op::UHi &&
                arg_of(a[0], 0) == arg_of(a[1], 0))
                return arg_of(a[0], 0);
            // Halves that were added to one by one.
            if (is_code_half(a[0], Op::ULo, x) && is_code_half(a[1], Op::UHi, y) &&
                static_cast<uint32_t>(x) == static_cast<uint32_t>(y))
                return code_address(y);
            return sum_of_pairs(a[0], a[1]);
        case Op::Lo:
            if (op_of(a[0]) == Op::Pack64) return arg_of(a[0], 0);
            if (op_of(a[0]) == Op::Splat64) return splat(emit(Op::ULo, {arg_of(a[0], 0)}));
            break;
        case Op::Hi:
            if (op_of(a[0]) == Op::Pack64) return arg_of(a[0], 1);
            if (op_of(a[0]) == Op::Splat64) return splat(emit(Op::UHi, {arg_of(a[0], 0)}));
            break;
        case Op::Pack64:
            if (op_of(a[0]) == Op::Lo && op_of(a[1]) == Op::Hi &&
                arg_of(a[0], 0) == arg_of(a[1], 0))
                return arg_of(a[0], 0);
            if (op_of(a[0]) == Op::Splat32 && op_of(a[1]) == Op::Splat32)
                return emit(Op::Splat64, {emit(Op::UPack64, {arg_of(a[0], 0), arg_of(a[1], 0)})});
            break;
        case Op::MaskOf:
            if (op_of(a[0]) == Op::BitsOf) return arg_of(a[0], 0);
            break;
        case Op::BitsOf:
            if (op_of(a[0]) == Op::MaskOf) return arg_of(a[0], 0);
            break;
        case Op::MaskAnd:
            if (is_full(a[0]) || covers(a[0], a[1])) return a[1];
            if (is_full(a[1]) || covers(a[1], a[0])) return a[0];
            break;
        case Op::CmpEq64:
        case Op::CmpNe64: {
            // Halves that are there as dwords are not put together to be compared.
            auto halves = [&](Value v) {
                return op_of(v) == Op::Pack64 || op_of(v) == Op::Splat64;
            };
            if (!halves(a[0]) || !halves(a[1])) break;
            const bool equal = op == Op::CmpEq64;
            Value same[2];
            for (const int h : {0, 1}) {
                const Op half = h ? Op::Hi : Op::Lo;
                same[h] = emit(equal ? Op::CmpEq32 : Op::CmpNe32,
                               {emit(half, {a[0]}), emit(half, {a[1]})});
            }
            return emit(equal ? Op::MaskAnd : Op::MaskOr, {same[0], same[1]});
        }
        case Op::MaskAndNot:
            if (apart(a[0], a[1])) return a[0];
            break;
        case Op::MaskOr:
            if (covers(a[0], a[1])) return a[0];
            if (covers(a[1], a[0])) return a[1];
            // Lanes that were put aside come back.
            for (const int i : {0, 1})
                if (op_of(a[i]) == Op::MaskAndNot && arg_of(a[i], 1) == a[1 - i])
                    return emit(Op::MaskOr, {arg_of(a[i], 0), a[1 - i]});
            break;
        case Op::MaskXor:
            if (covers(a[0], a[1])) return emit(Op::MaskAndNot, {a[0], a[1]});
            if (covers(a[1], a[0])) return emit(Op::MaskAndNot, {a[1], a[0]});
            break;
        case Op::FMul32:
            for (const int root : {0, 1})
                if (const Value v = scaled_root(a[root], a[1 - root]); v != no_value) return v;
            break;
        case Op::MaskNot:
            if (op_of(a[0]) == Op::MaskNot) return arg_of(a[0], 0);
            break;
        case Op::Select32:
            if (is_full(a[0]) || a[1] == a[2]) return a[1];
            break;
        case Op::UAnd64:
            if (cx && cy) return const64(x & y);
            if (cx && x == ~0ull) return a[1];
            if (cy && y == ~0ull) return a[0];
            break;
        case Op::UXor64:
            if (cx && cy) return const64(x ^ y);
            break;
        case Op::UOr64:
            if (cx && cy) return const64(x | y);
            if ((cx && x == 0) || a[0] == a[1]) return a[1];
            if (cy && y == 0) return a[0];
            break;
        case Op::UAdd64:
            if (cx && cy) return const64(x + y);
            if (cx && x == 0) return a[1];
            if (cy && y == 0) return a[0];
            break;
        case Op::USub64:
            if (cx && cy) return const64(x - y);
            if (a[0] == a[1]) return const64(0);
            break;
        case Op::UCmpLtU64:
            if (cx && cy) return const32(x < y);
            break;
        case Op::UCmpEq64:
            if (cx && cy) return const32(x == y);
            break;
        case Op::UCmpNe64:
            if (cx && cy) return const32(x != y);
            break;
        case Op::UShl64:
            if (cx && cy) return const64(x << (y & 63));
            break;
        case Op::UShr64:
            if (cx && cy) return const64(x >> (y & 63));
            break;
        case Op::UZext32:
            if (cx) return const64(x);
            break;
        case Op::UMulWideU32:
            if (cx && cy) return const64(x * y);
            if (cx && x == 1) return emit(Op::UZext32, {a[1]});
            if (cy && y == 1) return emit(Op::UZext32, {a[0]});
            break;
        case Op::UMul32:
            if (cx && cy) return const32(static_cast<uint32_t>(x * y));
            if (cx && x == 1) return a[1];
            if (cy && y == 1) return a[0];
            break;
        case Op::USub32:
            if (cx && cy) return const32(static_cast<uint32_t>(x - y));
            if (cy && y == 0) return a[0];
            break;
        case Op::UAdd32:
            if (cx && cy) return const32(static_cast<uint32_t>(x + y));
            if (cx && x == 0) return a[1];
            if (cy && y == 0) return a[0];
            if (cy && is_code_half(a[0], Op::ULo, x)) return emit(Op::ULo, {code_address(x + y)});
            if (cy && is_code_half(a[0], Op::UHi, x))
                return emit(Op::UHi, {code_address(x + (y << 32))});
            // Upper half + (lower half + n < lower half): the carry of n.
            if (is_code_half(a[0], Op::UHi, x) && op_of(a[1]) == Op::UCmpLtU32) {
                uint64_t sum, before;
                if (is_code_half(arg_of(a[1], 0), Op::ULo, sum) &&
                    is_code_half(arg_of(a[1], 1), Op::ULo, before) &&
                    static_cast<uint32_t>(before) == static_cast<uint32_t>(x))
                    return emit(Op::UHi, {code_address(x + static_cast<uint32_t>(sum - before))});
            }
            break;
        case Op::UCmpLtU32:
            if (cx && cy) return const32(x < y);
            if (cy && y == 0) return const32(0);
            break;
        case Op::UXor32:
            if (cx && cy) return const32(static_cast<uint32_t>(x ^ y));
            break;
        case Op::UOr32:
            if (cx && cy) return const32(static_cast<uint32_t>(x | y));
            if (cx && x == 0) return a[1];
            if (cy && y == 0) return a[0];
            break;
        case Op::UAnd32:
            if (cx && cy) return const32(static_cast<uint32_t>(x & y));
            break;
        case Op::UShl32:
            if (cx && cy) return const32(static_cast<uint32_t>(x) << (y & 31));
            break;
        case Op::UShr32:
            if (cx && cy) return const32(static_cast<uint32_t>(x) >> (y & 31));
            break;
        case Op::Add32:
        case Op::Or32:
        case Op::Xor32:
            if (cy && y == 0) return a[0];
            if (cx && x == 0) return a[1];
            break;
        case Op::And32:
            if (cy && static_cast<uint32_t>(y) == ~0u) return a[0];
            if (cx && static_cast<uint32_t>(x) == ~0u) return a[1];
            break;
        default:
            break;
    }
    (void)imm;
    return no_value;
}

Value State::emit(Op op, std::initializer_list<Value> args, uint64_t imm, uint32_t aux) {
    const ir::Class cls = ir::op_info(op).cls;
    if (cls != ir::Class::Uniform && cls != ir::Class::Lane) return append(op, args, imm, aux);
    Key key{op, aux, imm, {no_value, no_value, no_value, no_value}};
    std::copy(args.begin(), args.end(), key.args.begin());
    if (auto it = known_.find(key); it != known_.end()) return it->second;
    Value v = fold(op, key.args, imm);
    if (v == no_value) v = append(op, args, imm, aux);
    known_.emplace(key, v);
    return v;
}

// The root of x, if it is made as compilers do for denormals, with x scaled where it is small:
// sqrt(x * s) / sqrt(s), 1 / sqrt(x * s) * sqrt(s), s a power of four or one. All but the root is
// exact, and IEEE's root of x needs no scaling.
Value State::scaled_root(Value root, Value factor) {
    constexpr uint32_t one = 127;
    // A power of two in the lanes of the mask, and one in the others: its exponent field.
    auto scale = [&](Value v, Value& lanes) -> uint32_t {
        const ir::Inst& i = inst(v);
        uint64_t s, no;
        if (i.op != Op::Select32 || !is_const(i.args[1], s) || !is_const(i.args[2], no) ||
            no != one << 23 || (s & 0x807fffff) || s >> 23 == 0 || s >> 23 == 255)
            return 0;
        lanes = i.args[0];
        return static_cast<uint32_t>(s >> 23);
    };
    const ir::Inst r = inst(root);
    if (r.op != Op::FSqrt32 && r.op != Op::FRsq32) return no_value;
    const ir::Inst product = inst(r.args[0]);
    Value small = no_value, also_small = no_value;
    const uint32_t back = scale(factor, also_small);
    if (product.op != Op::FMul32 || !back) return no_value;
    for (const size_t at : {0, 1}) {
        const Value x = product.args[at];
        const uint32_t s = scale(product.args[1 - at], small);
        if (s <= one || small != also_small) continue;
        if (2 * (r.op == Op::FSqrt32 ? one - back : back - one) != s - one) continue;
        // What is scaled must not overflow: x is below a bound, or NaN.
        const uint32_t bound = (254 - (s - one)) << 23;
        ir::Inst c = inst(small);
        for (const size_t side : {0, 1})
            if (c.op == Op::MaskAnd && inst(c.args[side]).op == Op::FCmp32) c = inst(c.args[side]);
        if (c.op != Op::FCmp32) continue;
        // x86's predicates LT, LE, NGE, NGT, and the other way round.
        const uint64_t p = c.imm & 15;
        const bool below = p == 1 || p == 2 || p == 9 || p == 10,
                   above = p == 14 || p == 13 || p == 6 || p == 5;
        if ((below && c.args[0] == x && at_most(c.args[1], bound)) ||
            (above && c.args[1] == x && at_most(c.args[0], bound)))
            return emit(r.op, {x});
    }
    return no_value;
}

// The bits of every lane are known to be so; the block may be guarded for that.
bool State::at_most(Value bits, uint32_t bound) {
    uint64_t c;
    if (is_const(bits, c)) return c <= bound;
    const ir::Inst splat = inst(bits);
    if (splat.op != Op::Splat32 || !may_guard_ || !block_.calls.empty()) return false;
    const ir::Inst get = inst(splat.args[0]);
    if (get.op != Op::GetS32) return false;
    append(Op::GuardAtMost, {}, get.imm, bound);
    return block_.guarded = true;
}

Value State::known(Op op, std::initializer_list<Value> args, uint64_t imm) const {
    Key key{op, 0, imm, {no_value, no_value, no_value, no_value}};
    std::copy(args.begin(), args.end(), key.args.begin());
    const auto it = known_.find(key);
    return it != known_.end() ? it->second : no_value;
}

// A sum of 64 bits that was made of two sums (s_add_u32, s_addc_u32), if its operands are pairs.
Value State::sum_of_pairs(Value low, Value high) {
    const ir::Inst l = inst(low), h = inst(high);
    if (l.op != Op::UAdd32 || h.op != Op::UAdd32) return no_value;
    auto is_carry = [&](Value v) {
        const ir::Inst& c = inst(v);
        return c.op == Op::UCmpLtU32 && c.args[0] == low &&
               (c.args[1] == l.args[0] || c.args[1] == l.args[1]);
    };
    if (!is_carry(h.args[1])) return no_value;
    const ir::Inst t = inst(h.args[0]);
    // s_addc_u32 with 0 adds nothing.
    std::array<Value, 2> upper{h.args[0], const32(0)};
    if (t.op == Op::UAdd32) upper = {t.args[0], t.args[1]};
    for (const bool swapped : {false, true}) {
        const Value x = emit(Op::UPack64, {l.args[0], upper[swapped]}),
                    y = emit(Op::UPack64, {l.args[1], upper[!swapped]});
        if (inst(x).op != Op::UPack64 && inst(y).op != Op::UPack64) return emit(Op::UAdd64, {x, y});
    }
    return no_value;
}

// ---- scalars
// -------------------------------------------------------------------------------------

Value State::get32(uint32_t reg) {
    Scalar& s = scalars_[reg];
    if (s.v32 == no_value) {
        if (s.pair != no_value)
            s.v32 = emit(s.half ? Op::UHi : Op::ULo, {s.pair});
        else
            s.v32 = emit(Op::GetS32, {}, reg);
    }
    return s.v32;
}

Value State::get64(uint32_t reg) {
    Scalar& lo = scalars_[reg];
    Scalar& hi = scalars_[reg + 1];
    if (lo.pair != no_value && lo.pair == hi.pair && lo.half == 0 && hi.half == 1) return lo.pair;
    const bool unknown =
        lo.v32 == no_value && lo.pair == no_value && hi.v32 == no_value && hi.pair == no_value;
    const Value v =
        unknown ? emit(Op::GetS64, {}, reg) : emit(Op::UPack64, {get32(reg), get32(reg + 1)});
    lo.pair = hi.pair = v;
    lo.half = 0;
    hi.half = 1;
    return v;
}

void State::set32(uint32_t reg, Value v) {
    scalars_[reg] = {.v32 = v, .pair = no_value, .half = 0, .dirty = true};
    if (reg == machine::exec_lo || reg == machine::exec_lo + 1) exec_written_ = true;
}

void State::set64(uint32_t reg, Value v, bool dirty) {
    scalars_[reg] = {.v32 = no_value, .pair = v, .half = 0, .dirty = dirty};
    scalars_[reg + 1] = {.v32 = no_value, .pair = v, .half = 1, .dirty = dirty};
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
        if (reg < 127 && y.pair != no_value && y.half == 0 && now[reg + 1].dirty &&
            now[reg + 1].pair == y.pair && now[reg + 1].half == 1) {
            const Value old = get64(reg);
            if (inst(y.pair).op == Op::BitsOf &&
                without(inst(y.pair).args[0], exec) == without(mask_of(old), exec)) {
                ++reg;
                continue;
            }
            if (reg == machine::exec_lo) return false;
            const Value v = emit(Op::USelect64, {any_lane(), y.pair, old});
            merged[reg] = {.v32 = no_value, .pair = v, .half = 0, .dirty = true};
            merged[reg + 1] = {.v32 = no_value, .pair = v, .half = 1, .dirty = true};
            ++reg;
            continue;
        }
        if (reg >= machine::exec_lo) return false;
        const Value old = get32(reg);
        scalars_[reg] = y;
        const Value v = emit(Op::USelect32, {any_lane(), get32(reg), old});
        merged[reg] = {.v32 = v, .pair = no_value, .half = 0, .dirty = true};
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

bool State::covers(Value mask, Value subset, uint32_t depth) const {
    if (mask == no_value || mask == subset || is_full(mask)) return true;
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
Value State::in_memory(uint32_t row) {
    const auto [at, is_new] = in_memory_.try_emplace(row, no_value);
    if (is_new) at->second = emit(Op::GetV, {}, row);
    return at->second;
}

// The row's value in every lane.
Value State::whole(uint32_t row, Row& r) {
    if (r.value == no_value) return in_memory(row);
    if (r.mask == no_value) return r.value;
    const Value base = r.base != no_value ? r.base : in_memory(row);
    return select(r.mask, r.value, base);
}

Value State::read(uint32_t row) {
    Row& r = rows_[row];
    if (r.inner != no_value && covers(r.inner_mask, exec())) return r.inner;
    if (r.value != no_value && covers(r.mask, exec())) return r.value;
    // The other arm has written.
    if (r.value != no_value && r.mask != no_value && apart(r.mask, exec()))
        return r.base != no_value ? r.base : in_memory(row);
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
    flush_rows(after, [](Value v) { return Written{v, 0}; });
    flush_scalars(after);
}

void State::flush_rows(const LiveSet* after, const std::function<Written(Value)>& written) {
    for (uint16_t row : touched_) {
        Row& r = rows_[row];
        if (!r.dirty || (after && dead(row, r, *after))) continue;
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
    auto live = [&](uint32_t reg) {
        const bool dies =
            reg < machine::flat_scratch_lo || reg == machine::vcc_lo || reg == machine::vcc_lo + 1;
        return !after || !dies || after->scalars[reg];
    };
    for (uint32_t reg = 0; reg < 128; ++reg) {
        Scalar& s = scalars_[reg];
        if (!s.dirty) continue;
        if (reg < 127 && reg % 2 == 0 && scalars_[reg + 1].dirty && s.pair == no_value &&
            scalars_[reg + 1].pair == no_value)
            join_pair(reg);
        s.dirty = false;
        if (reg < 127 && s.pair != no_value && s.half == 0 && scalars_[reg + 1].dirty &&
            scalars_[reg + 1].pair == s.pair && scalars_[reg + 1].half == 1) {
            scalars_[reg + 1].dirty = false;
            if (!live(reg) && !live(reg + 1)) continue;
            append(Op::SetS64, {s.pair}, reg, 0);
        } else if (live(reg)) {
            append(Op::SetS32, {get32(reg)}, reg, 0);
        }
    }
    if (scc_dirty_ && (!after || after->scalars[LiveSet::scc])) append(Op::SetScc, {scc_}, 0, 0);
    scc_dirty_ = false;
}

void State::drop_exec() {
    for (uint32_t half = 0; half < 2; ++half) scalars_[machine::exec_lo + half].dirty = false;
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
    in_memory_.clear();
    scc_ = no_value;
}

}  // namespace wj::lift
