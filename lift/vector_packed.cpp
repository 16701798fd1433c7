// Packed 16-bit integers and bf16, and dot products of narrow elements.
#include "lift/lifter.h"

namespace wj::lift {
namespace {

// The upper half, or the lower one with zeros above it.
Value half_of(Lifter& l, Value v, bool high) {
    return high ? l.emit(Op::Shr32, {v, l.c32(16)}) : l.emit(Op::And32, {v, l.c32(0xffff)});
}

// Each half of the result takes the half of source n that op_sel or op_sel_hi says.
Value chosen(Lifter& l, const Inst& i, uint32_t n) {
    const Value v = l.raw(i.src[n]);
    const bool low = i.op_sel >> n & 1, high = i.op_sel_hi >> n & 1;  // from the upper half
    if (!low && high) return v;
    if (low && !high) return l.emit(Op::Fshr32, {v, v, l.c32(16)});
    return low ? l.emit(Op::Bitop3, {l.c32(0xffff), l.emit(Op::Shr32, {v, l.c32(16)}), v}, 0xca)
               : l.emit(Op::Bitop3, {l.c32(0xffff), v, l.emit(Op::Shl32, {v, l.c32(16)})}, 0xca);
}

template <Op op>
bool packed(Lifter& l, const Inst& i) {
    if (i.neg || i.neg_hi) return false;
    return put(l, i, l.emit(op, {chosen(l, i, 0), chosen(l, i, 1)}));
}

// With CLAMP sums and differences saturate.
template <Op op, Op saturated>
bool packed_sum(Lifter& l, const Inst& i) {
    if (i.neg || i.neg_hi) return false;
    l.set_v32(i, l.emit(i.clamp ? saturated : op, {chosen(l, i, 0), chosen(l, i, 1)}));
    return true;
}

bool packed_mad(Lifter& l, const Inst& i) {
    if (i.neg || i.neg_hi) return false;
    const Value product = l.emit(Op::PkMul16, {chosen(l, i, 0), chosen(l, i, 1)});
    return put(l, i, l.emit(Op::PkAdd16, {product, chosen(l, i, 2)}));
}

// Of the second source, by the four lower bits of the first one.
template <Op op>
bool packed_shift(Lifter& l, const Inst& i) {
    if (i.neg || i.neg_hi) return false;
    const Value count = chosen(l, i, 0), x = chosen(l, i, 1);
    Value r[2];
    for (const bool high : {false, true}) {
        const Value n = l.emit(Op::And32, {half_of(l, count, high), l.c32(15)});
        Value half = half_of(l, x, high);
        if (op == Op::Sar32)
            half = l.emit(Op::Sar32, {high ? x : l.emit(Op::Shl32, {x, l.c32(16)}), l.c32(16)});
        r[high] = l.emit(op, {half, n});
    }
    const Value upper = l.emit(Op::Shl32, {r[1], l.c32(16)});
    return put(l, i, l.emit(Op::Bitop3, {l.c32(0xffff), r[0], upper}, 0xca));
}

// ---- dot products: the addend is the third source, or the destination (the VOP2 forms)

template <bool accumulate>
Value addend_of(Lifter& l, const Inst& i) {
    return accumulate ? l.raw(i.dst[0]) : l.raw(i.src[2]);
}

template <bool accumulate>
bool dot2_i32(Lifter& l, const Inst& i) {
    const bool choose = i.format == Format::VOP3P;
    const Value x = choose ? chosen(l, i, 0) : l.raw(i.src[0]),
                y = choose ? chosen(l, i, 1) : l.raw(i.src[1]);
    return put(l, i, l.emit(Op::Add32, {l.emit(Op::Dot16, {x, y}), addend_of<accumulate>(l, i)}));
}

bool dot2_u32(Lifter& l, const Inst& i) {
    const Value x = chosen(l, i, 0), y = chosen(l, i, 1);
    Value sum = l.raw(i.src[2]);
    for (const bool high : {false, true}) {
        sum =
            l.emit(Op::Add32, {sum, l.emit(Op::Mul32, {half_of(l, x, high), half_of(l, y, high)})});
    }
    return put(l, i, sum);
}

// Fields of 4 or 8 bits: those that are 16 bits apart become halves, whose products Dot16 adds.
template <uint32_t width>
Value dot_fields(Lifter& l, const Inst& i, std::array<bool, 2> is_signed, Value sum) {
    constexpr uint32_t mask = ((1u << width) - 1) * 0x10001, sign = (1u << (width - 1)) * 0x10001;
    for (uint32_t at = 0; at < 16; at += width) {
        Value fields[2];
        for (uint32_t n : {0u, 1u}) {
            Value v = l.raw(i.src[n]);
            if (at) v = l.emit(Op::Shr32, {v, l.c32(at)});
            // (x & mask) ^ sign, minus sign
            fields[n] =
                is_signed[n]
                    ? l.emit(Op::PkSub16,
                             {l.emit(Op::Bitop3, {v, l.c32(mask), l.c32(sign)}, 0x6a), l.c32(sign)})
                    : l.emit(Op::And32, {v, l.c32(mask)});
        }
        sum = l.emit(Op::Add32, {sum, l.emit(Op::Dot16, {fields[0], fields[1]})});
    }
    return sum;
}

template <uint32_t width, bool is_signed, bool accumulate>
bool dot_narrow(Lifter& l, const Inst& i) {
    return put(l, i, dot_fields<width>(l, i, {is_signed, is_signed}, addend_of<accumulate>(l, i)));
}

// v_dot4_i32_iu8, v_dot8_i32_iu4: NEG says which source is signed.
template <uint32_t width>
bool dot_iu(Lifter& l, const Inst& i) {
    const bool a = i.neg & 1, b = i.neg >> 1 & 1;
    return put(l, i, dot_fields<width>(l, i, {a, b}, l.raw(i.src[2])));
}

// Products of two 16-bit floats are exact in f32. The addend comes first but for
// v_dot2_f32_bf16, where it is added last; it and the result are flushed, f16 sources on some
// processors (interpreter/vop3p.cpp).
enum class Dot : uint8_t { F16, Bf16, Bf16AddendLast };

template <Dot kind, bool accumulate>
bool dot2_f32(Lifter& l, const Inst& i) {
    if (i.neg || i.neg_hi || i.abs || i.clamp || i.omod) return false;
    const bool choose = i.format == Format::VOP3P;
    Value source[2];
    for (uint32_t n : {0u, 1u}) source[n] = choose ? chosen(l, i, n) : l.raw(i.src[n]);
    auto element = [&](uint32_t n, bool high) {
        Value x = source[n];
        if (kind != Dot::F16)
            return high ? l.emit(Op::And32, {x, l.c32(0xffff0000)})
                        : l.emit(Op::Shl32, {x, l.c32(16)});
        if (high) x = l.emit(Op::Shr32, {x, l.c32(16)});
        if (l.options.target->traits.dot2_flushes_sources) x = l.f16_flush(x);
        return l.emit(Op::CvtF16ToF32, {x});
    };
    const Value addend = l.emit(Op::FFlush32, {addend_of<accumulate>(l, i)});
    const Value a[] = {element(0, false), element(0, true)},
                b[] = {element(1, false), element(1, true)};
    Value sum;
    if (kind == Dot::Bf16AddendLast) {
        const Value low = l.emit(Op::FMul32, {a[0], b[0]}), high = l.emit(Op::FMul32, {a[1], b[1]});
        sum = l.emit(Op::FAdd32, {l.emit(Op::FAdd32, {low, high}), addend});
    } else {
        sum = l.emit(Op::FFma32, {a[1], b[1], l.emit(Op::FFma32, {a[0], b[0], addend})});
    }
    l.set_v32(i, l.emit(Op::FFlush32, {sum}));
    return true;
}

// Two f32 as bf16, to the nearest even; NaN are quieted, denormals stay.
bool cvt_pk_bf16(Lifter& l, const Inst& i) {
    if (i.neg || i.abs || i.clamp || i.omod) return false;
    Value half[2];
    for (uint32_t n : {0u, 1u}) {
        const Value x = l.v32(i, n), top = l.emit(Op::Shr32, {x, l.c32(16)}),
                    odd = l.emit(Op::And32, {top, l.c32(1)}),
                    up = l.emit(Op::Add32, {x, l.emit(Op::Add32, {odd, l.c32(0x7fff)})}),
                    nan = l.emit(Op::CmpLtU32,
                                 {l.c32(0x7f800000), l.emit(Op::And32, {x, l.c32(0x7fffffff)})});
        half[n] = l.s.select(nan, l.emit(Op::Or32, {top, l.c32(0x40)}),
                             l.emit(Op::Shr32, {up, l.c32(16)}));
    }
    l.set_v32(i, l.emit(Op::Or32, {half[0], l.emit(Op::Shl32, {half[1], l.c32(16)})}));
    return true;
}

constexpr Entry entries[] = {
    {Opcode::v_pk_add_u16, packed_sum<Op::PkAdd16, Op::PkAddSatU16>},
    {Opcode::v_pk_add_i16, packed_sum<Op::PkAdd16, Op::PkAddSatS16>},
    {Opcode::v_pk_sub_u16, packed_sum<Op::PkSub16, Op::PkSubSatU16>},
    {Opcode::v_pk_sub_i16, packed_sum<Op::PkSub16, Op::PkSubSatS16>},
    {Opcode::v_pk_mul_lo_u16, packed<Op::PkMul16>},
    {Opcode::v_pk_min_u16, packed<Op::PkMinU16>},
    {Opcode::v_pk_max_u16, packed<Op::PkMaxU16>},
    {Opcode::v_pk_min_i16, packed<Op::PkMinS16>},
    {Opcode::v_pk_max_i16, packed<Op::PkMaxS16>},
    {Opcode::v_pk_mad_i16, packed_mad},
    {Opcode::v_pk_mad_u16, packed_mad},
    {Opcode::v_pk_lshlrev_b16, packed_shift<Op::Shl32>},
    {Opcode::v_pk_lshrrev_b16, packed_shift<Op::Shr32>},
    {Opcode::v_pk_ashrrev_i16, packed_shift<Op::Sar32>},
    {Opcode::v_dot2_i32_i16, dot2_i32<false>},
    {Opcode::v_dot2c_i32_i16, dot2_i32<true>},
    {Opcode::v_dot2_u32_u16, dot2_u32},
    {Opcode::v_dot4_i32_i8, dot_narrow<8, true, false>},
    {Opcode::v_dot4c_i32_i8, dot_narrow<8, true, true>},
    {Opcode::v_dot4_u32_u8, dot_narrow<8, false, false>},
    {Opcode::v_dot8_i32_i4, dot_narrow<4, true, false>},
    {Opcode::v_dot8c_i32_i4, dot_narrow<4, true, true>},
    {Opcode::v_dot8_u32_u4, dot_narrow<4, false, false>},
    {Opcode::v_dot4_i32_iu8, dot_iu<8>},
    {Opcode::v_dot8_i32_iu4, dot_iu<4>},
    {Opcode::v_dot2_f32_bf16_rdna3, dot2_f32<Dot::Bf16, false>},
    {Opcode::v_dot2_f32_f16, dot2_f32<Dot::F16, false>},
    {Opcode::v_dot2c_f32_f16, dot2_f32<Dot::F16, true>},
    {Opcode::v_dot2_f32_bf16, dot2_f32<Dot::Bf16AddendLast, false>},
    {Opcode::v_dot2c_f32_bf16, dot2_f32<Dot::Bf16, true>},
    {Opcode::v_cvt_pk_bf16_f32, cvt_pk_bf16},
};

}  // namespace

std::span<const Entry> vector_packed_entries() {
    return entries;
}

}  // namespace wj::lift
