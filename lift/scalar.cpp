// SOP1, SOP2, SOPK, SOPC and SMEM loads.
#include "lift/lifter.h"

namespace wj::lift {
namespace {

Value nonzero32(Lifter& l, Value v) {
    return l.emit(Op::UCmpNe32, {v, l.s.const32(0)});
}
Value nonzero64(Lifter& l, Value v) {
    return l.emit(Op::UCmpNe64, {v, l.s.const64(0)});
}
Value not32(Lifter& l, Value v) {
    return l.emit(Op::UXor32, {v, l.s.const32(~0u)});
}

template <Op op>
bool bin32(Lifter& l, const Inst& i) {
    l.set_s32(i.dst[0], l.emit(op, {l.s32(i.src[0]), l.s32(i.src[1])}));
    return true;
}

template <Op op>
bool bin64(Lifter& l, const Inst& i) {
    l.set_s64(i.dst[0], l.emit(op, {l.s64(i.src[0]), l.s64(i.src[1])}));
    return true;
}

bool mul_u64(Lifter& l, const Inst& i) {
    const Value x = l.s64(i.src[0]), y = l.s64(i.src[1]);
    const auto low = [&](Value v) { return l.emit(Op::ULo, {v}); };
    const auto high = [&](Value v) { return l.emit(Op::UHi, {v}); };
    const Value product = l.emit(Op::UMulWideU32, {low(x), low(y)}),
                cross = l.emit(Op::UAdd32, {l.emit(Op::UMul32, {low(x), high(y)}),
                                            l.emit(Op::UMul32, {high(x), low(y)})});
    l.set_s64(i.dst[0],
              l.emit(Op::UPack64, {low(product), l.emit(Op::UAdd32, {high(product), cross})}));
    return true;
}

// Bitwise operations on pairs of registers, and on lane masks. `all`: the bits that the operands
// have; those of a lane mask are the wave's lanes.
using Logic = Value (*)(Lifter&, Value, Value, uint64_t all);

// A lane mask that a region has computed stays a mask: bitwise operations do not leave the region.
bool is_mask(Lifter& l, Value v, uint64_t all) {
    const Op op = l.s.inst(v).op;
    return all == l.block.every_lane() &&
           (op == Op::BitsOf || (l.options.lane_masks && ir::gets_mask(op)));
}

Value not_bits(Lifter& l, Value a, uint64_t all) {
    if (is_mask(l, a, all)) return l.s.bits_of(l.s.mask_not(l.s.mask_of(a)));
    return l.emit(Op::UXor64, {a, l.s.const64(all)});
}

template <Op uniform, Op lane>
Value both_bits(Lifter& l, Value a, Value b, uint64_t all) {
    if (is_mask(l, a, all) || is_mask(l, b, all)) {
        uint64_t c;
        if (uniform == Op::UAnd64 &&
            ((l.s.is_const(a, c) && c == 0) || (l.s.is_const(b, c) && c == 0)))
            return l.s.const64(0);
        return l.s.bits_of(l.emit(lane, {l.s.mask_of(a), l.s.mask_of(b)}));
    }
    return l.emit(uniform, {a, b});
}

constexpr Logic and_bits = both_bits<Op::UAnd64, Op::MaskAnd>;
constexpr Logic or_bits = both_bits<Op::UOr64, Op::MaskOr>;
constexpr Logic xor_bits = both_bits<Op::UXor64, Op::MaskXor>;
Value andn2_bits(Lifter& l, Value a, Value b, uint64_t all) {
    if (is_mask(l, a, all) || is_mask(l, b, all))
        return l.s.bits_of(l.emit(Op::MaskAndNot, {l.s.mask_of(a), l.s.mask_of(b)}));
    return l.emit(Op::UAnd64, {a, not_bits(l, b, all)});
}
Value orn2_bits(Lifter& l, Value a, Value b, uint64_t all) {
    return or_bits(l, a, not_bits(l, b, all), all);
}
Value nand_bits(Lifter& l, Value a, Value b, uint64_t all) {
    return not_bits(l, and_bits(l, a, b, all), all);
}
Value nor_bits(Lifter& l, Value a, Value b, uint64_t all) {
    return not_bits(l, or_bits(l, a, b, all), all);
}
Value xnor_bits(Lifter& l, Value a, Value b, uint64_t all) {
    return not_bits(l, xor_bits(l, a, b, all), all);
}
Value andn1_bits(Lifter& l, Value a, Value b, uint64_t all) {
    return andn2_bits(l, b, a, all);
}
Value orn1_bits(Lifter& l, Value a, Value b, uint64_t all) {
    return orn2_bits(l, b, a, all);
}

// Waves of 32 lanes: the operand is a lane mask, as far as the block has seen it as one.
bool is_mask_operand(const Lifter& l, const Operand& o) {
    return o.is(Operand::Kind::Sgpr) && l.s.is_mask_register(o.reg);
}
Value mask_bits(Lifter& l, const Operand& o) {
    return o.is(Operand::Kind::Sgpr) ? l.s.get_mask_bits(o.reg) : l.emit(Op::UZext32, {l.s32(o)});
}

// Of the wave's size, whatever was known of the register.
Value source_mask(Lifter& l, const Operand& o) {
    return l.block.wave_size == machine::lanes ? l.s64(o) : mask_bits(l, o);
}

// Results whose SCC says "not zero". second: what is done to operand b first; last: to the result.
// of_masks: the same of two lane masks.
enum class Invert { None, B, Result };
template <Op op, Logic of_masks, Invert invert = Invert::None>
bool logic32(Lifter& l, const Inst& i) {
    if (is_mask_operand(l, i.src[0]) || is_mask_operand(l, i.src[1])) {
        const Value r =
            of_masks(l, mask_bits(l, i.src[0]), mask_bits(l, i.src[1]), l.block.every_lane());
        l.set_mask_bits(i.dst[0], r);
        l.s.set_scc(nonzero64(l, r));
        return true;
    }
    Value b = l.s32(i.src[1]);
    if (invert == Invert::B) b = not32(l, b);
    Value r = l.emit(op, {l.s32(i.src[0]), b});
    if (invert == Invert::Result) r = not32(l, r);
    l.set_s32(i.dst[0], r);
    l.s.set_scc(nonzero32(l, r));
    return true;
}

template <Logic f>
bool logic64(Lifter& l, const Inst& i) {
    const Value r = f(l, l.s64(i.src[0]), l.s64(i.src[1]), ~0ull);
    l.set_s64(i.dst[0], r);
    l.s.set_scc(nonzero64(l, r));
    return true;
}

// The instructions on EXEC whose registers are of the wave's size are those that its code has.
bool of_masks(const Lifter& l, const Inst& i) {
    return type_dwords(op_info(i.op).dst[0]) == l.block.wave_size / 32;
}

// D = EXEC; EXEC = f(S0, EXEC); SCC = EXEC != 0.
template <Logic f>
bool saveexec(Lifter& l, const Inst& i) {
    if (!of_masks(l, i)) return false;
    const Value old = l.s.get_mask_bits(machine::exec_lo);
    const Value r = f(l, source_mask(l, i.src[0]), old, l.block.every_lane());
    l.s.set_mask_bits(machine::exec_lo, r);
    l.set_mask_bits(i.dst[0], old);  // last: with EXEC as destination nothing changes
    l.s.set_scc(nonzero64(l, r));
    return true;
}

// EXEC = f(S0, EXEC); D = EXEC.
template <Logic f>
bool wrexec(Lifter& l, const Inst& i) {
    if (!of_masks(l, i)) return false;
    const Value r =
        f(l, source_mask(l, i.src[0]), l.s.get_mask_bits(machine::exec_lo), l.block.every_lane());
    l.s.set_mask_bits(machine::exec_lo, r);
    l.set_mask_bits(i.dst[0], r);
    l.s.set_scc(nonzero64(l, r));
    return true;
}

bool add_u32(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]), r = l.emit(Op::UAdd32, {a, l.s32(i.src[1])});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(l.emit(Op::UCmpLtU32, {r, a}));
    return true;
}

bool sub_u32(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]), b = l.s32(i.src[1]);
    l.set_s32(i.dst[0], l.emit(Op::USub32, {a, b}));
    l.s.set_scc(l.emit(Op::UCmpLtU32, {a, b}));
    return true;
}

bool addc_u32(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]), t = l.emit(Op::UAdd32, {a, l.s32(i.src[1])});
    const Value r = l.emit(Op::UAdd32, {t, l.s.scc()});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(l.emit(Op::UOr32, {l.emit(Op::UCmpLtU32, {t, a}), l.emit(Op::UCmpLtU32, {r, t})}));
    return true;
}

bool subb_u32(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]), b = l.s32(i.src[1]), c = l.s.scc();
    const Value t = l.emit(Op::USub32, {a, b});
    l.set_s32(i.dst[0], l.emit(Op::USub32, {t, c}));
    l.s.set_scc(l.emit(Op::UOr32, {l.emit(Op::UCmpLtU32, {a, b}), l.emit(Op::UCmpLtU32, {t, c})}));
    return true;
}

// Signed overflow of r = a + b (or a - b with subtract): the sign bit of the expression.
Value overflow(Lifter& l, Value a, Value b, Value r, bool subtract) {
    const Value x = l.emit(Op::UXor32, {a, subtract ? b : r});
    const Value y = l.emit(Op::UXor32, {subtract ? a : b, r});
    return l.emit(Op::UShr32, {l.emit(Op::UAnd32, {x, y}), l.s.const32(31)});
}

template <Op op, bool subtract>
bool add_i32(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]), b = l.s32(i.src[1]), r = l.emit(op, {a, b});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(overflow(l, a, b, r, subtract));
    return true;
}

bool addk_i32(Lifter& l, const Inst& i) {
    const Value a = l.s.get32(i.dst[0].reg), b = l.s32(i.src[0]);
    const Value r = l.emit(Op::UAdd32, {a, b});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(overflow(l, a, b, r, false));
    return true;
}

bool mulk_i32(Lifter& l, const Inst& i) {
    l.set_s32(i.dst[0], l.emit(Op::UMul32, {l.s.get32(i.dst[0].reg), l.s32(i.src[0])}));
    return true;
}

template <Op op>
bool shift32(Lifter& l, const Inst& i) {
    const Value r = l.emit(op, {l.s32(i.src[0]), l.s32(i.src[1])});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(nonzero32(l, r));
    return true;
}

template <Op op>
bool shift64(Lifter& l, const Inst& i) {
    const Value r = l.emit(op, {l.s64(i.src[0]), l.s32(i.src[1])});
    l.set_s64(i.dst[0], r);
    l.s.set_scc(nonzero64(l, r));
    return true;
}

bool bfe_u32(Lifter& l, const Inst& i) {
    uint64_t c;
    if (!l.s.is_const(l.s32(i.src[1]), c)) return false;
    const uint32_t offset = c & 31, width = c >> 16 & 127;
    Value r = l.emit(Op::UShr32, {l.s32(i.src[0]), l.s.const32(offset)});
    if (width < 32) r = l.emit(Op::UAnd32, {r, l.s.const32((1u << width) - 1)});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(nonzero32(l, r));
    return true;
}

bool bfe_i32(Lifter& l, const Inst& i) {
    uint64_t c;
    if (!l.s.is_const(l.s32(i.src[1]), c)) return false;
    const uint32_t offset = c & 31, width = c >> 16 & 127;
    if (width == 0 || offset + width > 32) return false;
    const Value up = l.emit(Op::UShl32, {l.s32(i.src[0]), l.s.const32(32 - width - offset)});
    const Value r = l.emit(Op::USar32, {up, l.s.const32(32 - width)});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(nonzero32(l, r));
    return true;
}

// The fields of 64 bits.
template <bool is_signed>
bool bfe_64(Lifter& l, const Inst& i) {
    uint64_t c;
    if (!l.s.is_const(l.s32(i.src[1]), c)) return false;
    const uint32_t offset = c & 63, width = c >> 16 & 127;
    Value r = l.s.const64(0);
    if (width) {
        r = l.emit(is_signed ? Op::USar64 : Op::UShr64, {l.s64(i.src[0]), l.s.const32(offset)});
        if (width < 64) {
            const Value up = l.s.const32(64 - width);
            r = l.emit(is_signed ? Op::USar64 : Op::UShr64, {l.emit(Op::UShl64, {r, up}), up});
        }
    }
    l.set_s64(i.dst[0], r);
    l.s.set_scc(nonzero64(l, r));
    return true;
}

// s_getreg_b32: the registers whose value is known when the code is translated.
bool getreg(Lifter& l, const Inst& i) {
    constexpr uint32_t sh_mem_bases = 15;
    const auto field = static_cast<uint32_t>(i.src[0].value);
    if ((field & 63) != sh_mem_bases) return false;
    const auto value = static_cast<uint32_t>(machine::shared_aperture >> 48) << 16 |
                       static_cast<uint32_t>(machine::private_aperture >> 48);
    const uint32_t offset = field >> 6 & 31, width = (field >> 11 & 31) + 1;
    l.set_s32(i.dst[0], l.s.const32(value >> offset & (~0u >> (32 - width))));
    return true;
}

bool bfm_b32(Lifter& l, const Inst& i) {
    const Value ones =
        l.emit(Op::USub32, {l.emit(Op::UShl32, {l.s.const32(1), l.s32(i.src[0])}), l.s.const32(1)});
    l.set_s32(i.dst[0], l.emit(Op::UShl32, {ones, l.s32(i.src[1])}));
    return true;
}

template <Op op, bool scc>
bool un32(Lifter& l, const Inst& i) {
    const Value r = l.emit(op, {l.s32(i.src[0])});
    l.set_s32(i.dst[0], r);
    if (scc) l.s.set_scc(nonzero32(l, r));
    return true;
}

// Find-first and leading-zero counts give -1 when there is none.
template <Op op>
bool find32(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]);
    l.set_s32(i.dst[0],
              l.emit(Op::USelect32, {nonzero32(l, a), l.emit(op, {a}), l.s.const32(~0u)}));
    return true;
}

template <Op op>
bool find64(Lifter& l, const Inst& i) {
    const Value a = l.s64(i.src[0]);
    l.set_s32(i.dst[0],
              l.emit(Op::USelect32, {nonzero64(l, a), l.emit(op, {a}), l.s.const32(~0u)}));
    return true;
}

bool bcnt1_b64(Lifter& l, const Inst& i) {
    const Value r = l.emit(Op::UPopcnt64, {l.s64(i.src[0])});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(nonzero32(l, r));
    return true;
}

bool mov32(Lifter& l, const Inst& i) {
    if (is_mask_operand(l, i.src[0])) {
        l.set_mask_bits(i.dst[0], l.s.get_mask_bits(i.src[0].reg));
        return true;
    }
    l.set_s32(i.dst[0], l.s32(i.src[0]));
    return true;
}

bool mov64(Lifter& l, const Inst& i) {
    l.set_s64(i.dst[0], l.s64(i.src[0]));
    return true;
}

bool cmov32(Lifter& l, const Inst& i) {
    l.set_s32(i.dst[0],
              l.emit(Op::USelect32, {l.s.scc(), l.s32(i.src[0]), l.s.get32(i.dst[0].reg)}));
    return true;
}

bool not_b32(Lifter& l, const Inst& i) {
    if (is_mask_operand(l, i.src[0])) {
        const Value r = not_bits(l, l.s.get_mask_bits(i.src[0].reg), l.block.every_lane());
        l.set_mask_bits(i.dst[0], r);
        l.s.set_scc(nonzero64(l, r));
        return true;
    }
    const Value r = not32(l, l.s32(i.src[0]));
    l.set_s32(i.dst[0], r);
    l.s.set_scc(nonzero32(l, r));
    return true;
}

bool not_b64(Lifter& l, const Inst& i) {
    const Value r = not_bits(l, l.s64(i.src[0]), ~0ull);
    l.set_s64(i.dst[0], r);
    l.s.set_scc(nonzero64(l, r));
    return true;
}

bool cselect32(Lifter& l, const Inst& i) {
    l.set_s32(i.dst[0], l.emit(Op::USelect32, {l.s.scc(), l.s32(i.src[0]), l.s32(i.src[1])}));
    return true;
}

bool cselect64(Lifter& l, const Inst& i) {
    l.set_s64(i.dst[0], l.emit(Op::USelect64, {l.s.scc(), l.s64(i.src[0]), l.s64(i.src[1])}));
    return true;
}

// SCC tells whether operand 0 was chosen: s0 < s1 for min, s0 >= s1 for max.
template <Op op, Op compare, bool swap>
bool minmax(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]), b = l.s32(i.src[1]);
    l.set_s32(i.dst[0], l.emit(op, {a, b}));
    l.s.set_scc(swap ? l.emit(compare, {b, a}) : l.emit(compare, {a, b}));
    return true;
}

template <Op compare, bool swap = false>
bool cmp(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]), b = l.s32(i.src[1]);
    l.s.set_scc(swap ? l.emit(compare, {b, a}) : l.emit(compare, {a, b}));
    return true;
}

// The 16-bit constant is zero-extended for the unsigned compares (SOPK).
template <Op compare, bool swap, bool is_unsigned>
bool cmpk(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]);
    const auto k = static_cast<uint32_t>(i.src[1].value);
    const Value b = l.s.const32(is_unsigned ? k & 0xffff : k);
    l.s.set_scc(swap ? l.emit(compare, {b, a}) : l.emit(compare, {a, b}));
    return true;
}

template <Op compare>
bool cmp64(Lifter& l, const Inst& i) {
    l.s.set_scc(l.emit(compare, {l.s64(i.src[0]), l.s64(i.src[1])}));
    return true;
}

template <bool want>
bool bitcmp(Lifter& l, const Inst& i) {
    Value bit = l.emit(Op::UAnd32,
                       {l.emit(Op::UShr32, {l.s32(i.src[0]), l.s32(i.src[1])}), l.s.const32(1)});
    if (!want) bit = l.emit(Op::UXor32, {bit, l.s.const32(1)});
    l.s.set_scc(bit);
    return true;
}

template <bool set>
bool bitset(Lifter& l, const Inst& i) {
    const Value bit = l.emit(Op::UShl32, {l.s.const32(1), l.s32(i.src[0])});
    const Value old = l.s.get32(i.dst[0].reg);
    l.set_s32(i.dst[0],
              set ? l.emit(Op::UOr32, {old, bit}) : l.emit(Op::UAnd32, {old, not32(l, bit)}));
    return true;
}

bool abs_i32(Lifter& l, const Inst& i) {
    const Value a = l.s32(i.src[0]), sign = l.emit(Op::USar32, {a, l.s.const32(31)});
    const Value r = l.emit(Op::USub32, {l.emit(Op::UXor32, {a, sign}), sign});
    l.set_s32(i.dst[0], r);
    l.s.set_scc(nonzero32(l, r));
    return true;
}

template <bool high_a, bool high_b>
bool pack(Lifter& l, const Inst& i) {
    Value a = l.s32(i.src[0]), b = l.s32(i.src[1]);
    a = high_a ? l.emit(Op::UShr32, {a, l.s.const32(16)})
               : l.emit(Op::UAnd32, {a, l.s.const32(0xffff)});
    b = high_b ? l.emit(Op::UAnd32, {b, l.s.const32(0xffff0000)})
               : l.emit(Op::UShl32, {b, l.s.const32(16)});
    l.set_s32(i.dst[0], l.emit(Op::UOr32, {a, b}));
    return true;
}

template <uint32_t count>
bool lshl_add(Lifter& l, const Inst& i) {
    const Value wide =
        l.emit(Op::UAdd64,
               {l.emit(Op::UShl64, {l.emit(Op::UZext32, {l.s32(i.src[0])}), l.s.const32(count)}),
                l.emit(Op::UZext32, {l.s32(i.src[1])})});
    l.set_s32(i.dst[0], l.emit(Op::ULo, {wide}));
    l.s.set_scc(nonzero32(l, l.emit(Op::UHi, {wide})));
    return true;
}

// Whether it is seen to be a multiple of 4.
bool is_whole_dwords(const Lifter& l, Value v, uint32_t depth = 4) {
    const ir::Inst& i = l.s.inst(v);
    uint64_t c = 0;
    if (l.s.is_const(v, c)) return c % 4 == 0;
    if (depth == 0) return false;
    const auto is_whole = [&](int n) { return is_whole_dwords(l, i.args[n], depth - 1); };
    switch (i.op) {
        case Op::UShl32:
            return is_whole(0) || (l.s.is_const(i.args[1], c) && c % 32 >= 2);
        case Op::UMul32:
        case Op::UAnd32:
            return is_whole(0) || is_whole(1);
        case Op::UAdd32:
        case Op::USub32:
            return is_whole(0) && is_whole(1);
        default:
            return false;
    }
}

// Of a scalar load, in bytes. Each part of an address is whole elements (SEED-SMEM-07).
Value register_offset(Lifter& l, const Inst& i, uint32_t element) {
    Value units = l.s32(i.soffset());
    const uint32_t bytes = offset_unit(i);
    if (bytes != 1) return l.emit(Op::UMulWideU32, {units, l.s.const32(bytes)});
    if (element > 1 && !is_whole_dwords(l, units))
        units = l.emit(Op::UAnd32, {units, l.s.const32(~(element - 1))});
    return l.emit(Op::UZext32, {units});
}

// Scalar loads: the low two bits of each part of the address are ignored.
template <uint32_t dwords>
bool load(Lifter& l, const Inst& i) {
    if (!i.dst[0].is(Operand::Kind::Sgpr)) return false;
    if (i.dst[0].reg + dwords > 128 || i.dst[0].reg >= 104) return false;
    Value base = l.s64(i.sbase());
    uint64_t imm = static_cast<uint64_t>(int64_t{i.offset});
    if (i.soffset().is(Operand::Kind::Sgpr))
        base = l.emit(Op::UAdd64, {base, register_offset(l, i, 4)});
    else if (i.soffset().present() && !i.soffset().is(Operand::Kind::Off) &&
             !i.soffset().is(Operand::Kind::Special))  // null
        return false;
    if (imm & 3) return false;
    base = l.emit(Op::UAnd64, {base, l.s.const64(~3ull)});
    if (l.in_arm() && !(l.affine && l.affine->guard_readable(base, imm, dwords * 4))) {
        // Jumped over, it is not executed: what it reads then must be there.
        const uint64_t own_code = l.block.pc & ~uint64_t{63};
        base = l.emit(Op::UAdd64, {base, l.s.const64(imm)});
        base = l.emit(Op::USelect64, {nonzero64(l, l.s.bits_of(l.arm_lanes())), base,
                                      l.emit(Op::CodeAddress, {}, own_code)});
        imm = 0;
    }
    l.order.scalar_load();
    if (dwords == 1) {
        l.s.set32(i.dst[0].reg, l.emit(Op::ULoad32, {base}, imm));
        return true;
    }
    std::array<Value, 8> pairs{};
    for (uint32_t d = 0; d < dwords / 2; ++d) pairs[d] = l.emit(Op::ULoad64, {base}, imm + d * 8);
    Value last = no_value;
    if (dwords % 2) last = l.emit(Op::ULoad32, {base}, imm + (dwords - 1) * 4);
    for (uint32_t d = 0; d < dwords / 2; ++d) l.s.set64(i.dst[0].reg + d * 2, pairs[d]);
    if (dwords % 2) l.s.set32(i.dst[0].reg + dwords - 1, last);
    return true;
}

// Of one or two bytes: a part of the dword that holds it, which may be read where the part may.
template <uint32_t bits, bool is_signed>
bool load_narrow(Lifter& l, const Inst& i) {
    if (!i.dst[0].is(Operand::Kind::Sgpr) || i.dst[0].reg >= 104 || l.in_arm()) return false;
    // Each part of an address counts in whole elements.
    constexpr uint64_t whole = ~uint64_t{bits / 8 - 1};
    Value address = l.s64(i.sbase());
    if (bits == 16) address = l.emit(Op::UAnd64, {address, l.s.const64(whole)});
    if (i.soffset().is(Operand::Kind::Sgpr))
        address = l.emit(Op::UAdd64, {address, register_offset(l, i, bits / 8)});
    else if (i.soffset().present() && !i.soffset().is(Operand::Kind::Special))  // null
        return false;
    address = l.emit(Op::UAdd64,
                     {address, l.s.const64(static_cast<uint64_t>(int64_t{i.offset}) & whole)});
    const Value dword = l.emit(Op::ULoad32, {l.emit(Op::UAnd64, {address, l.s.const64(~3ull)})}, 0);
    l.order.scalar_load();
    // The part comes to the top, and down again.
    constexpr uint32_t places = bits == 8 ? 3 : 2;
    const Value place = l.emit(Op::UAnd32, {l.emit(Op::ULo, {address}), l.s.const32(places)});
    const Value above =
        l.emit(Op::USub32, {l.s.const32(32 - bits), l.emit(Op::UShl32, {place, l.s.const32(3)})});
    l.set_s32(i.dst[0], l.emit(is_signed ? Op::USar32 : Op::UShr32,
                               {l.emit(Op::UShl32, {dword, above}), l.s.const32(32 - bits)}));
    return true;
}

constexpr Entry entries[] = {
    {Opcode::s_mov_b32, mov32},
    {Opcode::s_mov_b64, mov64},
    {Opcode::s_movk_i32, mov32},
    {Opcode::s_cmov_b32, cmov32},
    {Opcode::s_cmovk_i32, cmov32},
    {Opcode::s_add_u32, add_u32},
    {Opcode::s_sub_u32, sub_u32},
    {Opcode::s_addc_u32, addc_u32},
    {Opcode::s_subb_u32, subb_u32},
    {Opcode::s_add_i32, add_i32<Op::UAdd32, false>},
    {Opcode::s_sub_i32, add_i32<Op::USub32, true>},
    {Opcode::s_addk_i32, addk_i32},
    {Opcode::s_mulk_i32, mulk_i32},
    {Opcode::s_add_nc_u64, bin64<Op::UAdd64>},
    {Opcode::s_sub_nc_u64, bin64<Op::USub64>},
    {Opcode::s_mul_u64, mul_u64},
    {Opcode::s_mul_i32, bin32<Op::UMul32>},
    {Opcode::s_mul_hi_u32, bin32<Op::UMulHiU32>},
    {Opcode::s_mul_hi_i32, bin32<Op::UMulHiS32>},
    {Opcode::s_and_b32, logic32<Op::UAnd32, and_bits>},
    {Opcode::s_or_b32, logic32<Op::UOr32, or_bits>},
    {Opcode::s_xor_b32, logic32<Op::UXor32, xor_bits>},
    {Opcode::s_andn2_b32, logic32<Op::UAnd32, andn2_bits, Invert::B>},
    {Opcode::s_orn2_b32, logic32<Op::UOr32, orn2_bits, Invert::B>},
    {Opcode::s_nand_b32, logic32<Op::UAnd32, nand_bits, Invert::Result>},
    {Opcode::s_nor_b32, logic32<Op::UOr32, nor_bits, Invert::Result>},
    {Opcode::s_xnor_b32, logic32<Op::UXor32, xnor_bits, Invert::Result>},
    {Opcode::s_and_b64, logic64<and_bits>},
    {Opcode::s_or_b64, logic64<or_bits>},
    {Opcode::s_xor_b64, logic64<xor_bits>},
    {Opcode::s_andn2_b64, logic64<andn2_bits>},
    {Opcode::s_orn2_b64, logic64<orn2_bits>},
    {Opcode::s_nand_b64, logic64<nand_bits>},
    {Opcode::s_nor_b64, logic64<nor_bits>},
    {Opcode::s_xnor_b64, logic64<xnor_bits>},
    {Opcode::s_and_saveexec_b64, saveexec<and_bits>},
    {Opcode::s_or_saveexec_b64, saveexec<or_bits>},
    {Opcode::s_xor_saveexec_b64, saveexec<xor_bits>},
    {Opcode::s_andn2_saveexec_b64, saveexec<andn2_bits>},
    {Opcode::s_orn2_saveexec_b64, saveexec<orn2_bits>},
    {Opcode::s_nand_saveexec_b64, saveexec<nand_bits>},
    {Opcode::s_nor_saveexec_b64, saveexec<nor_bits>},
    {Opcode::s_xnor_saveexec_b64, saveexec<xnor_bits>},
    {Opcode::s_andn1_saveexec_b64, saveexec<andn1_bits>},
    {Opcode::s_orn1_saveexec_b64, saveexec<orn1_bits>},
    {Opcode::s_andn1_wrexec_b64, wrexec<andn1_bits>},
    {Opcode::s_andn2_wrexec_b64, wrexec<andn2_bits>},
    {Opcode::s_and_saveexec_b32, saveexec<and_bits>},
    {Opcode::s_or_saveexec_b32, saveexec<or_bits>},
    {Opcode::s_xor_saveexec_b32, saveexec<xor_bits>},
    {Opcode::s_andn2_saveexec_b32, saveexec<andn2_bits>},
    {Opcode::s_orn2_saveexec_b32, saveexec<orn2_bits>},
    {Opcode::s_nand_saveexec_b32, saveexec<nand_bits>},
    {Opcode::s_nor_saveexec_b32, saveexec<nor_bits>},
    {Opcode::s_xnor_saveexec_b32, saveexec<xnor_bits>},
    {Opcode::s_andn1_saveexec_b32, saveexec<andn1_bits>},
    {Opcode::s_orn1_saveexec_b32, saveexec<orn1_bits>},
    {Opcode::s_andn1_wrexec_b32, wrexec<andn1_bits>},
    {Opcode::s_andn2_wrexec_b32, wrexec<andn2_bits>},
    {Opcode::s_not_b32, not_b32},
    {Opcode::s_not_b64, not_b64},
    {Opcode::s_lshl_b32, shift32<Op::UShl32>},
    {Opcode::s_lshr_b32, shift32<Op::UShr32>},
    {Opcode::s_ashr_i32, shift32<Op::USar32>},
    {Opcode::s_lshl_b64, shift64<Op::UShl64>},
    {Opcode::s_lshr_b64, shift64<Op::UShr64>},
    {Opcode::s_ashr_i64, shift64<Op::USar64>},
    {Opcode::s_bfe_u32, bfe_u32},
    {Opcode::s_bfe_i32, bfe_i32},
    {Opcode::s_bfe_u64, bfe_64<false>},
    {Opcode::s_bfe_i64, bfe_64<true>},
    {Opcode::s_getreg_b32, getreg},
    {Opcode::s_bfm_b32, bfm_b32},
    {Opcode::s_brev_b32, un32<Op::UBrev32, false>},
    {Opcode::s_sext_i32_i8, un32<Op::USext8, false>},
    {Opcode::s_sext_i32_i16, un32<Op::USext16, false>},
    {Opcode::s_bcnt1_i32_b32, un32<Op::UPopcnt32, true>},
    {Opcode::s_bcnt1_i32_b64, bcnt1_b64},
    {Opcode::s_ff1_i32_b32, find32<Op::UCtz32>},
    {Opcode::s_ff1_i32_b64, find64<Op::UCtz64>},
    {Opcode::s_flbit_i32_b32, find32<Op::UClz32>},
    {Opcode::s_flbit_i32_b64, find64<Op::UClz64>},
    {Opcode::s_cselect_b32, cselect32},
    {Opcode::s_cselect_b64, cselect64},
    {Opcode::s_min_i32, minmax<Op::UMinS32, Op::UCmpLtS32, false>},
    {Opcode::s_min_u32, minmax<Op::UMinU32, Op::UCmpLtU32, false>},
    {Opcode::s_max_i32, minmax<Op::UMaxS32, Op::UCmpLeS32, true>},
    {Opcode::s_max_u32, minmax<Op::UMaxU32, Op::UCmpLeU32, true>},
    {Opcode::s_cmp_eq_i32, cmp<Op::UCmpEq32>},
    {Opcode::s_cmp_lg_i32, cmp<Op::UCmpNe32>},
    {Opcode::s_cmp_gt_i32, cmp<Op::UCmpLtS32, true>},
    {Opcode::s_cmp_ge_i32, cmp<Op::UCmpLeS32, true>},
    {Opcode::s_cmp_lt_i32, cmp<Op::UCmpLtS32>},
    {Opcode::s_cmp_le_i32, cmp<Op::UCmpLeS32>},
    {Opcode::s_cmp_eq_u32, cmp<Op::UCmpEq32>},
    {Opcode::s_cmp_lg_u32, cmp<Op::UCmpNe32>},
    {Opcode::s_cmp_gt_u32, cmp<Op::UCmpLtU32, true>},
    {Opcode::s_cmp_ge_u32, cmp<Op::UCmpLeU32, true>},
    {Opcode::s_cmp_lt_u32, cmp<Op::UCmpLtU32>},
    {Opcode::s_cmp_le_u32, cmp<Op::UCmpLeU32>},
    {Opcode::s_cmp_eq_u64, cmp64<Op::UCmpEq64>},
    {Opcode::s_cmp_lg_u64, cmp64<Op::UCmpNe64>},
    {Opcode::s_cmpk_eq_i32, cmpk<Op::UCmpEq32, false, false>},
    {Opcode::s_cmpk_lg_i32, cmpk<Op::UCmpNe32, false, false>},
    {Opcode::s_cmpk_gt_i32, cmpk<Op::UCmpLtS32, true, false>},
    {Opcode::s_cmpk_ge_i32, cmpk<Op::UCmpLeS32, true, false>},
    {Opcode::s_cmpk_lt_i32, cmpk<Op::UCmpLtS32, false, false>},
    {Opcode::s_cmpk_le_i32, cmpk<Op::UCmpLeS32, false, false>},
    {Opcode::s_cmpk_eq_u32, cmpk<Op::UCmpEq32, false, true>},
    {Opcode::s_cmpk_lg_u32, cmpk<Op::UCmpNe32, false, true>},
    {Opcode::s_cmpk_gt_u32, cmpk<Op::UCmpLtU32, true, true>},
    {Opcode::s_cmpk_ge_u32, cmpk<Op::UCmpLeU32, true, true>},
    {Opcode::s_cmpk_lt_u32, cmpk<Op::UCmpLtU32, false, true>},
    {Opcode::s_cmpk_le_u32, cmpk<Op::UCmpLeU32, false, true>},
    {Opcode::s_bitcmp0_b32, bitcmp<false>},
    {Opcode::s_bitcmp1_b32, bitcmp<true>},
    {Opcode::s_bitset0_b32, bitset<false>},
    {Opcode::s_bitset1_b32, bitset<true>},
    {Opcode::s_abs_i32, abs_i32},
    {Opcode::s_pack_ll_b32_b16, pack<false, false>},
    {Opcode::s_pack_lh_b32_b16, pack<false, true>},
    {Opcode::s_pack_hh_b32_b16, pack<true, true>},
    {Opcode::s_lshl1_add_u32, lshl_add<1>},
    {Opcode::s_lshl2_add_u32, lshl_add<2>},
    {Opcode::s_lshl3_add_u32, lshl_add<3>},
    {Opcode::s_lshl4_add_u32, lshl_add<4>},
    {Opcode::s_load_dword, load<1>},
    {Opcode::s_load_i8, load_narrow<8, true>},
    {Opcode::s_load_u8, load_narrow<8, false>},
    {Opcode::s_load_i16, load_narrow<16, true>},
    {Opcode::s_load_u16, load_narrow<16, false>},
    {Opcode::s_load_dwordx2, load<2>},
    {Opcode::s_load_b96, load<3>},
    {Opcode::s_load_dwordx4, load<4>},
    {Opcode::s_load_dwordx8, load<8>},
    {Opcode::s_load_dwordx16, load<16>},
};

}  // namespace

std::span<const Entry> scalar_entries() {
    return entries;
}

}  // namespace wj::lift
