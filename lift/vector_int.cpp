// Vector integer, bit and move instructions.
#include <algorithm>
#include <vector>

#include "lift/lifter.h"

namespace wj::lift {
namespace {

Value a(Lifter& l, const Inst& i, uint32_t n) {
    return l.v32(i, n);
}
Value u24(Lifter& l, Value v) {
    return l.emit(Op::And32, {v, l.c32(0xffffff)});
}
Value i24(Lifter& l, Value v) {
    return l.emit(Op::Sar32, {l.emit(Op::Shl32, {v, l.c32(8)}), l.c32(8)});
}

// Instructions that are new in gfx9 leave the half of the destination alone that OP_SEL does not
// name.
Value beside_old(Lifter& l, const Inst& i, Value v) {
    const bool high = i.op_sel >> 3 & 1;
    if (high) v = l.emit(Op::Shl32, {v, l.c32(16)});
    return l.emit(Op::Bitop3, {l.c32(high ? 0xffff0000 : 0xffff), v, l.raw(i.dst[0])}, 0xca);
}
bool put_half(Lifter& l, const Inst& i, Value v) {
    return put(l, i, beside_old(l, i, v));
}

using Put = bool (*)(Lifter&, const Inst&, Value);

template <Op op, bool swap = false, Put write = put>
bool bin(Lifter& l, const Inst& i) {
    const Value x = a(l, i, swap);
    Value y = a(l, i, !swap);
    if (op == Op::Shl32 || op == Op::Shr32 || op == Op::Sar32) y = l.constant_row(y);
    return write(l, i, l.emit(op, {x, y}));
}

template <Op op>
bool un(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(op, {a(l, i, 0)}));
}

// a op1 b op2 c
template <Op op1, Op op2, Put write = put>
bool tri(Lifter& l, const Inst& i) {
    return write(l, i, l.emit(op2, {l.emit(op1, {a(l, i, 0), a(l, i, 1)}), a(l, i, 2)}));
}

template <Put write>
bool mov(Lifter& l, const Inst& i) {
    return write(l, i, a(l, i, 0));
}
template <Put write>
bool bitwise_not(Lifter& l, const Inst& i) {
    return write(l, i, l.emit(Op::Xor32, {a(l, i, 0), l.c32(~0u)}));
}
bool xnor(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Xor32, {l.emit(Op::Xor32, {a(l, i, 0), a(l, i, 1)}), l.c32(~0u)}));
}

bool swap_b32(Lifter& l, const Inst& i) {
    if (!l.is_vector(i.src[0])) return false;
    const Value x = l.raw(i.src[0]), y = l.raw(i.dst[0]);
    l.write(i.dst[0], x);
    l.write(i.src[0], y);
    return true;
}

// With carry-out; the carry of inactive lanes is 0.
bool add_co(Lifter& l, const Inst& i) {
    const Value x = a(l, i, 0), r = l.emit(Op::Add32, {x, a(l, i, 1)});
    if (!put(l, i, r)) return false;
    l.set_mask(i.dst[1], l.active(l.emit(Op::CmpLtU32, {r, x})));
    return true;
}

template <bool reverse>
bool sub_co(Lifter& l, const Inst& i) {
    const Value x = a(l, i, reverse), y = a(l, i, !reverse);
    if (!put(l, i, l.emit(Op::Sub32, {x, y}))) return false;
    l.set_mask(i.dst[1], l.active(l.emit(Op::CmpLtU32, {x, y})));
    return true;
}

template <Op sum, Op carry, bool reverse = false>
bool carry_in(Lifter& l, const Inst& i) {
    const Value x = a(l, i, reverse), y = a(l, i, !reverse), c = l.s.among_active(l.mask(i.src[2]));
    if (!put(l, i, l.emit(sum, {x, y, c}))) return false;
    l.set_mask(i.dst[1], l.active(l.emit(carry, {x, y, c})));
    return true;
}

// Bit 64 of the sum goes to the lane mask; in the signed form both addends are sign-extended there.
template <bool is_signed>
bool mad_64_32(Lifter& l, const Inst& i) {
    if (i.clamp) return false;
    const Value product =
                    l.emit(is_signed ? Op::MulWideS32 : Op::MulWideU32, {a(l, i, 0), a(l, i, 1)}),
                c = l.v64(i.src[2]);
    const Value r = l.emit(Op::Add64, {product, c});
    Value bit = l.emit(Op::CmpLtU64, {r, c});
    if (is_signed) {
        const Value signs = l.emit(Op::Xor32, {l.emit(Op::Hi, {product}), l.emit(Op::Hi, {c})});
        bit = l.emit(Op::MaskXor, {bit, l.emit(Op::CmpLtS32, {signs, l.c32(0)})});
    }
    l.set_v64(i.dst[0], r);
    l.set_mask(i.dst[1], l.active(bit));
    return true;
}

bool mul_u24(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Mul32, {u24(l, a(l, i, 0)), u24(l, a(l, i, 1))}));
}
bool mul_i24(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Mul32, {i24(l, a(l, i, 0)), i24(l, a(l, i, 1))}));
}
bool mul_hi_u24(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::MulHiU32, {u24(l, a(l, i, 0)), u24(l, a(l, i, 1))}));
}
bool mul_hi_i24(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::MulHiS32, {i24(l, a(l, i, 0)), i24(l, a(l, i, 1))}));
}
bool mad_u24(Lifter& l, const Inst& i) {
    return put(l, i,
               l.emit(Op::Add32,
                      {l.emit(Op::Mul32, {u24(l, a(l, i, 0)), u24(l, a(l, i, 1))}), a(l, i, 2)}));
}
bool mad_i24(Lifter& l, const Inst& i) {
    return put(l, i,
               l.emit(Op::Add32,
                      {l.emit(Op::Mul32, {i24(l, a(l, i, 0)), i24(l, a(l, i, 1))}), a(l, i, 2)}));
}

template <Op op, bool reversed = true>
bool shift64(Lifter& l, const Inst& i) {
    l.set_v64(i.dst[0], l.emit(op, {l.v64(i.src[reversed]), a(l, i, !reversed)}));
    return true;
}

// Added as older processors do it, by halves and carry: it is no longer, and one form is what the
// passes know of addresses.
void set_sum64(Lifter& l, const Inst& i, Value x, const Operand& addend) {
    const Value c = l.raw(addend), low = l.emit(Op::Add32, {c, l.emit(Op::Lo, {x})}),
                carry = l.emit(Op::CmpLtU32, {low, c}),
                high = l.emit(Op::AddCarry32, {l.raw(addend, 1), l.emit(Op::Hi, {x}), carry});
    l.write(i.dst[0], low, 0);
    l.write(i.dst[0], high, 1);
}

bool add_nc_u64(Lifter& l, const Inst& i) {
    if (i.clamp) return false;
    set_sum64(l, i, l.v64(i.src[0]), i.src[1]);
    return true;
}

bool sub_nc_u64(Lifter& l, const Inst& i) {
    if (i.clamp) return false;
    l.set_v64(i.dst[0], l.emit(Op::Sub64, {l.v64(i.src[0]), l.v64(i.src[1])}));
    return true;
}

bool mul_u64(Lifter& l, const Inst& i) {
    const auto half = [&](uint32_t n, bool high) { return l.raw(i.src[n], high); };
    const Value low = l.emit(Op::MulWideU32, {half(0, false), half(1, false)}),
                cross = l.emit(Op::Add32, {l.emit(Op::Mul32, {half(0, false), half(1, true)}),
                                           l.emit(Op::Mul32, {half(0, true), half(1, false)})}),
                high = l.emit(Op::Add32, {l.emit(Op::Hi, {low}), cross});
    l.set_v64(i.dst[0], l.s.pack(l.emit(Op::Lo, {low}), high));
    return true;
}

template <bool is_signed>
bool mad_nc_64(Lifter& l, const Inst& i) {
    if (i.clamp) return false;
    const Value product =
        l.emit(is_signed ? Op::MulWideS32 : Op::MulWideU32, {a(l, i, 0), a(l, i, 1)});
    set_sum64(l, i, product, i.src[2]);
    return true;
}

template <Op less, bool second>
bool min_max_64(Lifter& l, const Inst& i) {
    const Value x = l.v64(i.src[0]), y = l.v64(i.src[1]), first = l.emit(less, {x, y});
    const auto chosen = [&](Op half) {
        const Value of_x = l.emit(half, {x}), of_y = l.emit(half, {y});
        return second ? l.s.select(first, of_y, of_x) : l.s.select(first, of_x, of_y);
    };
    l.set_v64(i.dst[0], l.s.pack(chosen(Op::Lo), chosen(Op::Hi)));
    return true;
}

// (a << b) + c; counts above 4 shift nothing.
bool lshl_add_u64(Lifter& l, const Inst& i) {
    if (i.clamp) return false;
    Value x = l.v64(i.src[0]), count = l.emit(Op::And32, {a(l, i, 1), l.c32(7)});
    uint64_t known = 0;
    if (!l.s.is_const(count, known))
        count = l.s.select(l.emit(Op::CmpLtU32, {l.c32(4), count}), l.c32(0), count);
    else if (known > 4)
        count = l.c32(0);
    if (!l.s.is_const(count, known) || known) x = l.emit(Op::Shl64, {x, count});
    set_sum64(l, i, x, i.src[2]);
    return true;
}

bool mov_b64(Lifter& l, const Inst& i) {
    l.set_v64(i.dst[0], l.v64(i.src[0]));
    return true;
}

template <Op lo, Op hi, Put write = put>
bool med3(Lifter& l, const Inst& i) {
    const Value x = a(l, i, 0), y = a(l, i, 1), z = a(l, i, 2);
    return write(l, i, l.emit(hi, {l.emit(lo, {x, y}), l.emit(lo, {l.emit(hi, {x, y}), z})}));
}

Value low_ones(Lifter& l, Value width) {
    return l.emit(Op::Sub32, {l.emit(Op::Shl32, {l.c32(1), width}), l.c32(1)});
}

bool bfe_u32(Lifter& l, const Inst& i) {
    return put(
        l, i,
        l.emit(Op::And32, {l.emit(Op::Shr32, {a(l, i, 0), a(l, i, 1)}), low_ones(l, a(l, i, 2))}));
}

bool bfe_i32(Lifter& l, const Inst& i) {
    const Value x = a(l, i, 0), offset = a(l, i, 1), width = a(l, i, 2);
    uint64_t o, w;
    if (l.s.is_const(offset, o) && l.s.is_const(width, w) && (w & 31) != 0 &&
        (o & 31) + (w & 31) <= 32) {
        const uint32_t up = 32 - (w & 31) - (o & 31);
        return put(l, i,
                   l.emit(Op::Sar32, {l.emit(Op::Shl32, {x, l.c32(up)}), l.c32(32 - (w & 31))}));
    }
    const Value field = l.emit(Op::And32, {l.emit(Op::Sar32, {x, offset}), low_ones(l, width)});
    const Value sign = l.emit(Op::Shr32, {l.emit(Op::Shl32, {l.c32(1), width}), l.c32(1)});
    // width 0: sign = 0 (1 >> 1) and the field is 0.
    return put(l, i, l.emit(Op::Sub32, {l.emit(Op::Xor32, {field, sign}), sign}));
}

bool bfi(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Bitop3, {a(l, i, 0), a(l, i, 1), a(l, i, 2)}, 0xca));
}
bool bfm(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Shl32, {low_ones(l, a(l, i, 0)), a(l, i, 1)}));
}
bool alignbit(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Fshr32, {a(l, i, 0), a(l, i, 1), a(l, i, 2)}));
}
bool alignbyte(Lifter& l, const Inst& i) {
    const Value bits = l.emit(Op::Shl32, {l.emit(Op::And32, {a(l, i, 2), l.c32(3)}), l.c32(3)});
    return put(l, i, l.emit(Op::Fshr32, {a(l, i, 0), a(l, i, 1), bits}));
}

// v_perm_b32: bytes of two dwords: 0 to 3 are the second one's, 4 to 7 the first one's, 8 to 11 the
// signs of their words, 12 is 0, all others 0xff.

// By a selector that is known: shifts and masks.
Value perm_known(Lifter& l, const Inst& i, uint32_t selector) {
    const Value sources[] = {a(l, i, 1), a(l, i, 0)};
    struct Move {
        uint32_t source;
        int32_t left;  // bits
        uint32_t mask;
    };
    std::vector<Move> moves;
    Value out = l.c32(0);
    auto add = [&](Value bits) { out = l.emit(Op::Or32, {out, bits}); };
    for (uint32_t byte = 0; byte < 4; ++byte) {
        const uint32_t wanted = selector >> (8 * byte) & 0xff, mask = 0xffu << (8 * byte);
        if (wanted >= 13) {
            add(l.c32(mask));
        } else if (wanted >= 8 && wanted < 12) {
            Value sign = sources[(wanted - 8) / 2];
            if (wanted % 2 == 0) sign = l.emit(Op::Shl32, {sign, l.c32(16)});
            sign = l.emit(Op::Sar32, {sign, l.c32(31)});
            add(l.emit(Op::And32, {sign, l.c32(mask)}));
        } else if (wanted < 8) {
            const int32_t left =
                8 * (static_cast<int32_t>(byte) - static_cast<int32_t>(wanted % 4));
            const auto like = std::ranges::find_if(
                moves, [&](const Move& m) { return m.source == wanted / 4 && m.left == left; });
            if (like == moves.end())
                moves.push_back({wanted / 4, left, mask});
            else
                like->mask |= mask;
        }
    }
    for (const Move& m : moves) {
        Value v = sources[m.source];
        const uint32_t left = m.left > 0 ? static_cast<uint32_t>(m.left) : 0,
                       right = m.left < 0 ? static_cast<uint32_t>(-m.left) : 0;
        if (left) v = l.emit(Op::Shl32, {v, l.c32(left)});
        if (right) v = l.emit(Op::Shr32, {v, l.c32(right)});
        // Shifts make zeros by themselves.
        if (m.mask != ~0u << left >> right) v = l.emit(Op::And32, {v, l.c32(m.mask)});
        add(v);
    }
    return out;
}

// By one that is the same in all lanes: for each byte a shift of both dwords, and what becomes of
// the byte that it brings down (itself, its lowest bit in all bits, zeros or ones), as masks.
Value perm_uniform(Lifter& l, const Inst& i, Value selector) {
    auto c = [&](uint32_t x) { return l.s.const32(x); };
    auto splat = [&](Value u) { return l.emit(Op::Splat32, {u}); };
    const Value both = l.emit(Op::Pack64, {a(l, i, 1), a(l, i, 0)});
    Value out = l.c32(0);
    for (uint32_t byte = 0; byte < 4; ++byte) {
        const Value wanted =
                        l.emit(Op::UAnd32, {l.emit(Op::UShr32, {selector, c(8 * byte)}), c(0xff)}),
                    is_byte = l.emit(Op::UCmpLtU32, {wanted, c(8)}),
                    below_12 = l.emit(Op::UCmpLtU32, {wanted, c(12)}),
                    below_13 = l.emit(Op::UCmpLtU32, {wanted, c(13)});
        // 8 n, or 16 (n - 8) + 15.
        const Value of_byte = l.emit(Op::UShl32, {wanted, c(3)}),
                    of_sign = l.emit(Op::USub32, {l.emit(Op::UShl32, {wanted, c(4)}), c(113)}),
                    shift = l.emit(Op::USelect32, {is_byte, of_byte, of_sign});
        const Value keep = l.emit(Op::USelect32, {is_byte, c(0xff), c(0)}),
                    spread =
                        l.emit(Op::USelect32,
                               {is_byte, c(0), l.emit(Op::USelect32, {below_12, c(0xff), c(0)})}),
                    ones = l.emit(Op::USelect32, {below_13, c(0), c(0xff)});
        const Value v = l.emit(Op::Lo, {l.emit(Op::Shr64, {both, splat(shift)})});
        const Value sign = l.emit(Op::Sub32, {l.c32(0), l.emit(Op::And32, {v, l.c32(1)})});
        Value bits = l.emit(Op::Or32, {l.emit(Op::And32, {v, splat(keep)}),
                                       l.emit(Op::And32, {sign, splat(spread)})});
        bits = l.emit(Op::Or32, {bits, splat(ones)});
        out = l.emit(Op::Or32, {out, l.emit(Op::Shl32, {bits, l.c32(8 * byte)})});
    }
    return out;
}

bool perm(Lifter& l, const Inst& i) {
    const Value selector = l.wanted_constant(a(l, i, 2));
    uint64_t known = 0;
    if (l.s.is_const(selector, known))
        return put(l, i, perm_known(l, i, static_cast<uint32_t>(known)));
    if (l.s.inst(selector).op != Op::Splat32) return false;
    return put(l, i, perm_uniform(l, i, l.s.inst(selector).args[0]));
}

bool and_or(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Bitop3, {a(l, i, 0), a(l, i, 1), a(l, i, 2)}, 0xea));
}
bool or3(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Bitop3, {a(l, i, 0), a(l, i, 1), a(l, i, 2)}, 0xfe));
}

bool lshl_add(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Add32, {l.emit(Op::Shl32, {a(l, i, 0), a(l, i, 1)}), a(l, i, 2)}));
}
bool lshl_or(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Or32, {l.emit(Op::Shl32, {a(l, i, 0), a(l, i, 1)}), a(l, i, 2)}));
}
bool add_lshl(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Shl32, {l.emit(Op::Add32, {a(l, i, 0), a(l, i, 1)}), a(l, i, 2)}));
}

template <Op count>
bool find(Lifter& l, const Inst& i) {
    const Value x = a(l, i, 0);
    return put(l, i,
               l.s.select(l.emit(Op::CmpEq32, {x, l.c32(0)}), l.c32(~0u), l.emit(count, {x})));
}

bool bcnt(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(Op::Add32, {l.emit(Op::Popcnt32, {a(l, i, 0)}), a(l, i, 1)}));
}

// Counts the bits of src0 that belong to lanes below this one.
template <bool high>
bool mbcnt(Lifter& l, const Inst& i) {
    const Value lane = l.emit(Op::LaneId, {});
    // Lanes below this one, whichever are on: the lane's number, as compilers ask for it.
    uint64_t bits_of_half;
    if (l.s.is_const(a(l, i, 0), bits_of_half) && static_cast<uint32_t>(bits_of_half) == ~0u) {
        const Value c32 = l.c32(32), lower = l.emit(Op::MinU32, {lane, c32}), sum = a(l, i, 1);
        if (!high) return put(l, i, l.emit(Op::Add32, {lower, sum}));
        if (sum == lower) return put(l, i, lane);
        const Value above = l.emit(Op::Sub32, {l.emit(Op::MaxU32, {lane, c32}), c32});
        return put(l, i, l.emit(Op::Add32, {above, sum}));
    }
    const Value upper = l.emit(Op::CmpLtU32, {l.c32(31), lane});
    const Value below =
        l.emit(Op::Sub32, {l.emit(Op::Shl32, {l.c32(1), lane}), l.c32(1)});  // count & 31
    const Value mask =
        high ? l.s.select(upper, below, l.c32(0)) : l.s.select(upper, l.c32(~0u), below);
    const Value bits = l.emit(Op::Popcnt32, {l.emit(Op::And32, {a(l, i, 0), mask})});
    return put(l, i, l.emit(Op::Add32, {bits, a(l, i, 1)}));
}

// The float modifiers only touch the sign bit here: nothing is flushed or quieted.
bool cndmask(Lifter& l, const Inst& i) {
    Value v[2];
    for (uint32_t n : {0u, 1u}) {
        v[n] = a(l, i, n);
        if (i.abs >> n & 1) v[n] = l.emit(Op::And32, {v[n], l.c32(0x7fffffff)});
        if (i.neg >> n & 1) v[n] = l.emit(Op::Xor32, {v[n], l.c32(0x80000000)});
    }
    const Value mask = l.mask(i.src[2]);
    if (const Value root = l.roots.root(mask, v[1], v[0]); root != no_value) return put(l, i, root);
    return put(l, i, l.s.select(mask, v[1], v[0]));
}

// Unsigned saturation (clamp) of the carry-less adds and subtracts.
bool add_u32(Lifter& l, const Inst& i) {
    const Value x = a(l, i, 0), r = l.emit(Op::Add32, {x, a(l, i, 1)});
    l.set_v32(i, i.clamp ? l.s.select(l.emit(Op::CmpLtU32, {r, x}), l.c32(~0u), r) : r);
    return true;
}

template <bool reverse>
bool sub_u32(Lifter& l, const Inst& i) {
    const Value x = a(l, i, reverse), y = a(l, i, !reverse), r = l.emit(Op::Sub32, {x, y});
    l.set_v32(i, i.clamp ? l.s.select(l.emit(Op::CmpLtU32, {x, y}), l.c32(0), r) : r);
    return true;
}

// Signed saturation: the sign of a wrong result is the wrong one.
template <Op op>
bool sum_i32(Lifter& l, const Inst& i) {
    const Value x = a(l, i, 0), y = a(l, i, 1), r = l.emit(op, {x, y});
    if (!i.clamp) return put(l, i, r);
    // Of sums where both operands have another sign than the result, of differences where the
    // operands' signs differ and the result has not the first one's.
    const Value from_x = l.emit(Op::Xor32, {x, r}),
                other = l.emit(Op::Xor32, {y, op == Op::Add32 ? r : x}),
                wrong = l.emit(Op::CmpLtS32, {l.emit(Op::And32, {from_x, other}), l.c32(0)}),
                most = l.emit(Op::Xor32, {l.emit(Op::Sar32, {x, l.c32(31)}), l.c32(0x7fffffff)});
    l.set_v32(i, l.s.select(wrong, most, r));
    return true;
}

Value low16(Lifter& l, Value v) {
    return l.emit(Op::And32, {v, l.c32(0xffff)});
}
Value sext16(Lifter& l, Value v) {
    return l.emit(Op::Sar32, {l.emit(Op::Shl32, {v, l.c32(16)}), l.c32(16)});
}

template <bool is_signed>
bool cvt_16(Lifter& l, const Inst& i) {
    return put(l, i, is_signed ? sext16(l, a(l, i, 0)) : low16(l, a(l, i, 0)));
}

// 16-bit results clear the upper half of the destination, but for those that are new in gfx9
// (`keep`) and, from gfx10 on, all. Those of SDWA go where its selector says.
void set_v16(Lifter& l, const Inst& i, Value v, bool keep = false) {
    keep |= l.options.target->traits.keeps_high_half && i.variant != Variant::Sdwa;
    keep |= (i.op_sel >> 3 & 1) != 0;
    l.set_v32(i, keep ? beside_old(l, i, v) : low16(l, v));
}

template <Op op>
bool bin16(Lifter& l, const Inst& i) {
    if (i.clamp) return false;
    set_v16(l, i, l.emit(op, {a(l, i, 0), a(l, i, 1)}));
    return true;
}

// Sums and differences, which saturate with CLAMP; `keep`: beside the destination's other half.
template <Op op, Op saturated, bool keep = false, bool swap = false>
bool sum16(Lifter& l, const Inst& i) {
    const Value r = l.emit(i.clamp ? saturated : op, {a(l, i, swap), a(l, i, !swap)});
    set_v16(l, i, r, keep);
    return true;
}

// v_lshlrev_b16 and friends: the count is src0[3:0].
template <Op op, bool is_signed = false>
bool shift16(Lifter& l, const Inst& i) {
    if (i.clamp) return false;
    const Value count = l.emit(Op::And32, {a(l, i, 0), l.c32(15)});
    const Value x = is_signed ? sext16(l, a(l, i, 1)) : low16(l, a(l, i, 1));
    set_v16(l, i, l.emit(op, {x, count}));
    return true;
}

template <Put write>
bool bitop3(Lifter& l, const Inst& i) {
    return write(l, i, l.emit(Op::Bitop3, {a(l, i, 0), a(l, i, 1), a(l, i, 2)}, i.bitop3));
}

template <bool keep>
bool mad16(Lifter& l, const Inst& i) {
    if (i.clamp) return false;
    const Value r = l.emit(Op::Add32, {l.emit(Op::Mul32, {a(l, i, 0), a(l, i, 1)}), a(l, i, 2)});
    set_v16(l, i, r, keep);
    return true;
}

template <bool is_signed>
bool mad_32_16(Lifter& l, const Inst& i) {
    const Value x = a(l, i, 0), y = a(l, i, 1);
    const Value product = l.emit(Op::Mul32, {is_signed ? sext16(l, x) : low16(l, x),
                                             is_signed ? sext16(l, y) : low16(l, y)});
    return put(l, i, l.emit(Op::Add32, {product, a(l, i, 2)}));
}

bool sad_u32(Lifter& l, const Inst& i) {
    const Value x = a(l, i, 0), y = a(l, i, 1);
    const Value difference =
        l.emit(Op::Sub32, {l.emit(Op::MaxU32, {x, y}), l.emit(Op::MinU32, {x, y})});
    return put(l, i, l.emit(Op::Add32, {difference, a(l, i, 2)}));
}

// Two saturated dwords as halves.
template <bool is_signed>
bool cvt_pk16(Lifter& l, const Inst& i) {
    Value v[2];
    for (uint32_t n : {0u, 1u}) {
        v[n] = a(l, i, n);
        if (is_signed) v[n] = l.emit(Op::MaxS32, {v[n], l.c32(0xffff8000)});
        v[n] =
            l.emit(is_signed ? Op::MinS32 : Op::MinU32, {v[n], l.c32(is_signed ? 0x7fff : 0xffff)});
    }
    return put(l, i, l.emit(Op::Or32, {low16(l, v[0]), l.emit(Op::Shl32, {v[1], l.c32(16)})}));
}

bool ffbh_i32(Lifter& l, const Inst& i) {
    const Value v = a(l, i, 0);
    const Value x = l.emit(Op::Xor32, {v, l.emit(Op::Sar32, {v, l.c32(31)})});
    return put(l, i,
               l.s.select(l.emit(Op::CmpEq32, {x, l.c32(0)}), l.c32(~0u), l.emit(Op::Clz32, {x})));
}

bool pk_mov(Lifter& l, const Inst& i) {
    const Value lo = l.raw(i.src[0], i.op_sel & 1), hi = l.raw(i.src[1], i.op_sel >> 1 & 1);
    l.write(i.dst[0], lo, 0);
    l.write(i.dst[0], hi, 1);
    return true;
}

bool accvgpr(Lifter& l, const Inst& i) {
    l.write(i.dst[0], l.raw(i.src[0]));
    return true;
}

constexpr Entry entries[] = {
    {Opcode::v_mov_b32, mov<put>},
    {Opcode::v_mov_b16, mov<put_half>},
    {Opcode::v_not_b16, bitwise_not<put_half>},
    {Opcode::v_and_b16, bin<Op::And32, false, put_half>},
    {Opcode::v_or_b16, bin<Op::Or32, false, put_half>},
    {Opcode::v_xor_b16, bin<Op::Xor32, false, put_half>},
    {Opcode::v_cvt_i32_i16, cvt_16<true>},
    {Opcode::v_cvt_u32_u16, cvt_16<false>},
    {Opcode::v_minmax_i32, tri<Op::MinS32, Op::MaxS32>},
    {Opcode::v_maxmin_i32, tri<Op::MaxS32, Op::MinS32>},
    {Opcode::v_minmax_u32, tri<Op::MinU32, Op::MaxU32>},
    {Opcode::v_maxmin_u32, tri<Op::MaxU32, Op::MinU32>},
    {Opcode::v_mov_b64, mov_b64},
    {Opcode::v_not_b32, bitwise_not<put>},
    {Opcode::v_xnor_b32, xnor},
    {Opcode::v_swap_b32, swap_b32},
    {Opcode::v_add_u32, add_u32},
    {Opcode::v_sub_u32, sub_u32<false>},
    {Opcode::v_subrev_u32, sub_u32<true>},
    {Opcode::v_add_i32, sum_i32<Op::Add32>},
    {Opcode::v_sub_i32, sum_i32<Op::Sub32>},
    {Opcode::v_add_co_u32, add_co},
    {Opcode::v_sub_co_u32, sub_co<false>},
    {Opcode::v_subrev_co_u32, sub_co<true>},
    {Opcode::v_addc_co_u32, carry_in<Op::AddCarry32, Op::CarryOut32>},
    {Opcode::v_subb_co_u32, carry_in<Op::SubBorrow32, Op::BorrowOut32>},
    {Opcode::v_subbrev_co_u32, carry_in<Op::SubBorrow32, Op::BorrowOut32, true>},
    {Opcode::v_and_b32, bin<Op::And32>},
    {Opcode::v_or_b32, bin<Op::Or32>},
    {Opcode::v_xor_b32, bin<Op::Xor32>},
    {Opcode::v_lshlrev_b32, bin<Op::Shl32, true>},
    {Opcode::v_lshrrev_b32, bin<Op::Shr32, true>},
    {Opcode::v_ashrrev_i32, bin<Op::Sar32, true>},
    {Opcode::v_lshl_b32, bin<Op::Shl32>},
    {Opcode::v_lshr_b32, bin<Op::Shr32>},
    {Opcode::v_ashr_i32, bin<Op::Sar32>},
    {Opcode::v_lshl_b64, shift64<Op::Shl64, false>},
    {Opcode::v_lshr_b64, shift64<Op::Shr64, false>},
    {Opcode::v_ashr_i64, shift64<Op::Sar64, false>},
    {Opcode::v_lshlrev_b64, shift64<Op::Shl64>},
    {Opcode::v_lshrrev_b64, shift64<Op::Shr64>},
    {Opcode::v_ashrrev_i64, shift64<Op::Sar64>},
    {Opcode::v_mul_lo_u32, bin<Op::Mul32>},
    {Opcode::v_mul_lo_i32, bin<Op::Mul32>},
    {Opcode::v_mul_hi_u32, bin<Op::MulHiU32>},
    {Opcode::v_mul_hi_i32, bin<Op::MulHiS32>},
    {Opcode::v_mul_u32_u24, mul_u24},
    {Opcode::v_mul_i32_i24, mul_i24},
    {Opcode::v_mul_hi_u32_u24, mul_hi_u24},
    {Opcode::v_mul_hi_i32_i24, mul_hi_i24},
    {Opcode::v_mad_u32_u24, mad_u24},
    {Opcode::v_mad_i32_i24, mad_i24},
    {Opcode::v_mad_u64_u32, mad_64_32<false>},
    {Opcode::v_mad_i64_i32, mad_64_32<true>},
    {Opcode::v_min_u32, bin<Op::MinU32>},
    {Opcode::v_max_u32, bin<Op::MaxU32>},
    {Opcode::v_min_i32, bin<Op::MinS32>},
    {Opcode::v_max_i32, bin<Op::MaxS32>},
    {Opcode::v_min3_u32, tri<Op::MinU32, Op::MinU32>},
    {Opcode::v_max3_u32, tri<Op::MaxU32, Op::MaxU32>},
    {Opcode::v_min3_i32, tri<Op::MinS32, Op::MinS32>},
    {Opcode::v_max3_i32, tri<Op::MaxS32, Op::MaxS32>},
    {Opcode::v_med3_u32, med3<Op::MinU32, Op::MaxU32>},
    {Opcode::v_med3_i32, med3<Op::MinS32, Op::MaxS32>},
    {Opcode::v_add3_u32, tri<Op::Add32, Op::Add32>},
    {Opcode::v_xad_u32, tri<Op::Xor32, Op::Add32>},
    {Opcode::v_lshl_add_u32, lshl_add},
    {Opcode::v_lshl_or_b32, lshl_or},
    {Opcode::v_add_lshl_u32, add_lshl},
    {Opcode::v_lshl_add_u64, lshl_add_u64},
    {Opcode::v_add_nc_u64, add_nc_u64},
    {Opcode::v_sub_nc_u64, sub_nc_u64},
    {Opcode::v_mul_u64, mul_u64},
    {Opcode::v_mad_nc_u64_u32, mad_nc_64<false>},
    {Opcode::v_mad_nc_i64_i32, mad_nc_64<true>},
    {Opcode::v_min_u64, min_max_64<Op::CmpLtU64, false>},
    {Opcode::v_max_u64, min_max_64<Op::CmpLtU64, true>},
    {Opcode::v_min_i64, min_max_64<Op::CmpLtS64, false>},
    {Opcode::v_max_i64, min_max_64<Op::CmpLtS64, true>},
    {Opcode::v_mad_u32, tri<Op::Mul32, Op::Add32>},
    {Opcode::v_add_max_i32, tri<Op::Add32, Op::MaxS32>},
    {Opcode::v_add_max_u32, tri<Op::Add32, Op::MaxU32>},
    {Opcode::v_add_min_i32, tri<Op::Add32, Op::MinS32>},
    {Opcode::v_add_min_u32, tri<Op::Add32, Op::MinU32>},
    {Opcode::v_and_or_b32, and_or},
    {Opcode::v_or3_b32, or3},
    {Opcode::v_bfe_u32, bfe_u32},
    {Opcode::v_bfe_i32, bfe_i32},
    {Opcode::v_bfi_b32, bfi},
    {Opcode::v_bitop3_b32, bitop3<put>},
    {Opcode::v_bitop3_b16, bitop3<put_half>},
    {Opcode::v_bfm_b32, bfm},
    {Opcode::v_alignbit_b32, alignbit},
    {Opcode::v_alignbyte_b32, alignbyte},
    {Opcode::v_perm_b32, perm},
    {Opcode::v_bfrev_b32, un<Op::Brev32>},
    {Opcode::v_ffbh_u32, find<Op::Clz32>},
    {Opcode::v_ffbl_b32, find<Op::Ctz32>},
    {Opcode::v_bcnt_u32_b32, bcnt},
    {Opcode::v_mbcnt_lo_u32_b32, mbcnt<false>},
    {Opcode::v_mbcnt_hi_u32_b32, mbcnt<true>},
    {Opcode::v_cndmask_b32, cndmask},
    {Opcode::v_add_u16, sum16<Op::Add32, Op::PkAddSatU16>},
    {Opcode::v_sub_u16, sum16<Op::Sub32, Op::PkSubSatU16>},
    {Opcode::v_subrev_u16, sum16<Op::Sub32, Op::PkSubSatU16, false, true>},
    {Opcode::v_xor3_b32, tri<Op::Xor32, Op::Xor32>},
    {Opcode::v_mul_lo_u16, bin16<Op::Mul32>},
    {Opcode::v_min_u16, bin16<Op::PkMinU16>},
    {Opcode::v_max_u16, bin16<Op::PkMaxU16>},
    {Opcode::v_min_i16, bin16<Op::PkMinS16>},
    {Opcode::v_max_i16, bin16<Op::PkMaxS16>},
    {Opcode::v_add_i16, sum16<Op::Add32, Op::PkAddSatS16, true>},
    {Opcode::v_sub_i16, sum16<Op::Sub32, Op::PkSubSatS16, true>},
    {Opcode::v_min3_u16, tri<Op::PkMinU16, Op::PkMinU16, put_half>},
    {Opcode::v_max3_u16, tri<Op::PkMaxU16, Op::PkMaxU16, put_half>},
    {Opcode::v_min3_i16, tri<Op::PkMinS16, Op::PkMinS16, put_half>},
    {Opcode::v_max3_i16, tri<Op::PkMaxS16, Op::PkMaxS16, put_half>},
    {Opcode::v_med3_u16, med3<Op::PkMinU16, Op::PkMaxU16, put_half>},
    {Opcode::v_med3_i16, med3<Op::PkMinS16, Op::PkMaxS16, put_half>},
    {Opcode::v_mad_legacy_u16, mad16<false>},
    {Opcode::v_mad_legacy_i16, mad16<false>},
    {Opcode::v_mad_u16, mad16<true>},
    {Opcode::v_mad_i16, mad16<true>},
    {Opcode::v_mad_u32_u16, mad_32_16<false>},
    {Opcode::v_mad_i32_i16, mad_32_16<true>},
    {Opcode::v_sad_u32, sad_u32},
    {Opcode::v_cvt_pk_u16_u32, cvt_pk16<false>},
    {Opcode::v_cvt_pk_i16_i32, cvt_pk16<true>},
    {Opcode::v_ffbh_i32, ffbh_i32},
    {Opcode::v_lshlrev_b16, shift16<Op::Shl32>},
    {Opcode::v_lshrrev_b16, shift16<Op::Shr32>},
    {Opcode::v_ashrrev_i16, shift16<Op::Sar32, true>},
    {Opcode::v_pk_mov_b32, pk_mov},
    {Opcode::v_accvgpr_read_b32, accvgpr},
    {Opcode::v_accvgpr_write_b32, accvgpr},
    {Opcode::v_accvgpr_mov_b32, accvgpr},
};

}  // namespace

std::span<const Entry> vector_int_entries() {
    return entries;
}

}  // namespace wj::lift
