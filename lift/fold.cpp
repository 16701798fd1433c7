// What an operation comes to when it is made: constants, operations that undo each other, and
// sequences that compilers write out.
#include "ir/pure.h"
#include "lift/state.h"

namespace wj::lift {

// v is the lower or upper half (ULo, UHi) of a code address.
bool State::is_code_half(Value v, Op half, uint64_t& address) const {
    const ir::Inst& i = block_.insts[v];
    if (i.op != half || inst(i.args[0]).op != Op::CodeAddress) return false;
    address = inst(i.args[0]).imm;
    return true;
}

// Constants of constants: uniform operations, and those on the lanes' integers. What floats come to
// depends on MODE.
Value State::fold_constants(Op op, const std::array<Value, 4>& a, uint64_t imm, uint32_t aux) {
    using enum ir::Type;
    const ir::OpInfo& info = ir::op_info(op);
    const bool uniform = info.cls == ir::Class::Uniform,
               integer = op >= Op::Add32 && op <= Op::Sar64;
    const bool about_memory = op == Op::BufferBase || op == Op::BufferLimit || op == Op::GoesOn;
    if (!info.arg_count || about_memory || !(uniform || integer)) return no_value;
    uint64_t c[4] = {};
    for (int i = 0; i < info.arg_count; i++)
        if (info.args[i] == M || !is_const(a[i], c[i])) return no_value;
    const ir::Inst inst{.op = op, .aux = aux, .imm = imm};
    switch (info.result) {
        case U32:
            return const32(static_cast<uint32_t>(ir::pure(inst, c[0], c[1], c[2])));
        case U64:
            return const64(ir::pure(inst, c[0], c[1], c[2]));
        case V32:
            return splat(const32(static_cast<uint32_t>(ir::pure(inst, c[0], c[1], c[2]))));
        case V64:
            return emit(Op::Splat64, {const64(ir::pure(inst, c[0], c[1], c[2]))});
        default:
            return no_value;
    }
}

Value State::fold(Op op, const std::array<Value, 4>& a, uint64_t imm, uint32_t aux) {
    auto op_of = [&](Value v) { return block_.insts[v].op; };
    auto arg_of = [&](Value v, int i) { return block_.insts[v].args[i]; };
    uint64_t x = 0, y = 0;
    const bool cx = a[0] != no_value && is_const(a[0], x);
    const bool cy = a[1] != no_value && is_const(a[1], y);
    if (const Value v = fold_constants(op, a, imm, aux); v != no_value) return v;
    if (const Value v = fold_lanes(op, a); v != no_value) return v;
    switch (op) {
        case Op::ULo:
            if (op_of(a[0]) == Op::UPack64 || op_of(a[0]) == Op::UZext32) return arg_of(a[0], 0);
            break;
        case Op::UZext32:  // of a mask of 32 lanes
            if (op_of(a[0]) == Op::ULo && block_.wave_size == 32 &&
                (op_of(arg_of(a[0], 0)) == Op::BitsOf || op_of(arg_of(a[0], 0)) == Op::GetMask32))
                return arg_of(a[0], 0);
            break;
        case Op::UHi:
            if (op_of(a[0]) == Op::UPack64) return arg_of(a[0], 1);
            if (op_of(a[0]) == Op::UZext32 || op_of(a[0]) == Op::GetMask32) return const32(0);
            break;
        case Op::UPack64:
            if (cy && y == 0) return emit(Op::UZext32, {a[0]});
            if (op_of(a[0]) == Op::ULo && op_of(a[1]) == Op::UHi &&
                arg_of(a[0], 0) == arg_of(a[1], 0))
                return arg_of(a[0], 0);
            if (op_of(a[1]) == Op::USar32 && arg_of(a[1], 0) == a[0] &&
                is_const(arg_of(a[1], 1), y) && (y & 31) == 31)
                return emit(Op::USext32, {a[0]});
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
            if (covers(a[0], a[1])) return a[1];
            if (covers(a[1], a[0])) return a[0];
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
            if ((cx && x == ~0ull) || (cy && y == 0) || a[0] == a[1]) return a[1];
            if ((cy && y == ~0ull) || (cx && x == 0)) return a[0];
            break;
        case Op::UOr64:
            if ((cx && x == 0) || (cy && y == ~0ull) || a[0] == a[1]) return a[1];
            if ((cy && y == 0) || (cx && x == ~0ull)) return a[0];
            break;
        case Op::UXor64:
            if (a[0] == a[1]) return const64(0);
            if (cx && x == 0) return a[1];
            if (cy && y == 0) return a[0];
            break;
        case Op::UAdd64:
            if (cx && x == 0) return a[1];
            if (cy && y == 0) return a[0];
            break;
        case Op::USub64:
            if (cy && y == 0) return a[0];
            if (a[0] == a[1]) return const64(0);
            break;
        case Op::UMulWideU32:
            if (cx && x == 1) return emit(Op::UZext32, {a[1]});
            if (cy && y == 1) return emit(Op::UZext32, {a[0]});
            if ((cx && x == 0) || (cy && y == 0)) return const64(0);
            break;
        case Op::UMul32:
            if (cx && x == 1) return a[1];
            if (cy && y == 1) return a[0];
            if ((cx && x == 0) || (cy && y == 0)) return const32(0);
            break;
        case Op::USub32:
            if (cy && y == 0) return a[0];
            break;
        case Op::UAdd32:
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
            if (cy && y == 0) return const32(0);
            break;
        case Op::UOr32:
            if (cx && x == 0) return a[1];
            if (cy && y == 0) return a[0];
            break;
        case Op::Add32:
        case Op::Or32:
        case Op::Xor32:
            if (cy && y == 0) return a[0];
            if (cx && x == 0) return a[1];
            break;
        default:
            break;
    }
    return no_value;
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
    // Registers that only this sum reads, too.
    auto pair = [this](Value low, Value high) {
        const ir::Inst l = inst(low), h = inst(high);
        if (l.op == Op::GetS32 && h.op == Op::GetS32 && l.imm % 2 == 0 && h.imm == l.imm + 1)
            return emit(Op::GetS64, {}, l.imm);
        return emit(Op::UPack64, {low, high});
    };
    for (const bool swapped : {false, true}) {
        const Value x = pair(l.args[0], upper[swapped]), y = pair(l.args[1], upper[!swapped]);
        if (inst(x).op != Op::UPack64 && inst(y).op != Op::UPack64) return emit(Op::UAdd64, {x, y});
    }
    return no_value;
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
        if ((below && c.args[0] == x && in_bounds(c.args[1], 0, bound)) ||
            (above && c.args[1] == x && in_bounds(c.args[0], 0, bound)))
            return emit(r.op, {x});
    }
    return no_value;
}

bool State::in_bounds(Value bits, uint32_t least, uint32_t bound) {
    uint64_t c;
    if (is_const(bits, c)) return c >= least && c <= bound;
    const ir::Inst splat = inst(bits);
    if (splat.op != Op::Splat32 || !may_guard_ || !block_.calls.empty()) return false;
    const ir::Inst get = inst(splat.args[0]);
    if (get.op != Op::GetS32) return false;
    const ir::ScalarRange range{static_cast<uint32_t>(get.imm), least, bound - least};
    emit(Op::GuardScalar, {}, range.imm(), range.aux());
    return block_.guarded = true;
}

}  // namespace wj::lift
