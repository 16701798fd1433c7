// Vector f32, f64 and conversions, for round-to-nearest MODEs. Other rounding modes, and flushed
// f64 or f16 denormals, go to the interpreter's handlers.
#include "lift/lane_builder.h"

namespace wj::lift {
namespace {

template <Op op, bool swap = false>
bool bin32(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    const Value x = l.f32(i, swap), y = l.f32(i, !swap);
    return l.set_f32(i, l.emit(op, {x, y}));
}

// No signalling NaN: the result of arithmetic, whatever its sign was made.
bool is_quiet(Lifter& l, Value v) {
    const ir::Inst& i = l.s.inst(v);
    uint64_t c = 0;
    switch (i.op) {
        case Op::FAdd32:
        case Op::FSub32:
        case Op::FMul32:
        case Op::FDiv32:
        case Op::FFma32:
        case Op::FSqrt32:
        case Op::FRound32:
        case Op::CvtI32ToF32:
        case Op::CvtU32ToF32:
            return true;
        case Op::FMin32:
        case Op::FMax32:
            return i.imm != ir::minmax_plain;
        case Op::And32:
            return (l.s.is_const(i.args[1], c) && c == 0x7fffffff && is_quiet(l, i.args[0])) ||
                   (l.s.is_const(i.args[0], c) && c == 0x7fffffff && is_quiet(l, i.args[1]));
        case Op::Xor32:
            return (l.s.is_const(i.args[1], c) && c == 0x80000000 && is_quiet(l, i.args[0])) ||
                   (l.s.is_const(i.args[0], c) && c == 0x80000000 && is_quiet(l, i.args[1]));
        default:
            return l.s.is_const(v, c) && (c & 0x7fffffff) <= 0x7f800000;
    }
}

template <Op op>
Value minmax(Lifter& l, Value x, Value y) {
    // Of a value with itself: how compilers make signalling NaN quiet.
    if (x == y) return l.ieee() && !is_quiet(l, x) ? l.emit(Op::FMul32, {x, l.c32(0x3f800000)}) : x;
    const uint64_t how = !l.ieee()                          ? ir::minmax_plain
                         : is_quiet(l, x) && is_quiet(l, y) ? ir::minmax_quiet
                                                            : ir::minmax_ieee;
    return l.emit(op, {x, y}, how);
}

template <Op op>
bool minmax32(Lifter& l, const Inst& i) {
    return l.set_f32(i, minmax<op>(l, l.f32(i, 0), l.f32(i, 1)));
}

template <Op first, Op second = first>
bool minmax3_32(Lifter& l, const Inst& i) {
    return l.set_f32(i, minmax<second>(l, minmax<first>(l, l.f32(i, 0), l.f32(i, 1)), l.f32(i, 2)));
}

// gfx12: of two NaN, which the operation leaves as they are, the first one, quiet.
template <Op op>
Value number(Lifter& l, Value x, Value y) {
    const Value quiet = is_quiet(l, x) ? x : l.emit(Op::FMul32, {x, l.c32(0x3f800000)});
    if (x == y) return quiet;
    const Value r = l.emit(op, {x, y}, ir::minmax_plain);
    constexpr uint32_t unordered = 3;
    return l.s.select(l.emit(Op::FCmp32, {r, r}, unordered), quiet, r);
}

template <Op op>
bool number32(Lifter& l, const Inst& i) {
    return l.set_f32(i, number<op>(l, l.f32(i, 0), l.f32(i, 1)));
}

template <Op first, Op second>
bool number3_32(Lifter& l, const Inst& i) {
    return l.set_f32(i, number<second>(l, number<first>(l, l.f32(i, 0), l.f32(i, 1)), l.f32(i, 2)));
}

template <Op op>
bool nan_or32(Lifter& l, const Inst& i) {
    return l.set_f32(i, nan_or<op>(l, l.f32(i, 0), l.f32(i, 1)));
}

template <Op first, Op second>
bool nan_or3_32(Lifter& l, const Inst& i) {
    return l.set_f32(i, nan_or<second>(l, nan_or<first>(l, l.f32(i, 0), l.f32(i, 1)), l.f32(i, 2)));
}

bool fma32(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    return l.set_f32(i, l.emit(Op::FFma32, {l.f32(i, 0), l.f32(i, 1), l.f32(i, 2)}));
}

// The destination is the addend.
Value addend32(Lifter& l, const Inst& i) {
    const Value v = l.raw(i.dst[0]);
    return l.flush_in32() ? l.emit(Op::FFlush32, {v}) : v;
}

bool fmac32(Lifter& l, const Inst& i) {
    if (!l.round32() || i.variant == Variant::Sdwa) return false;
    return l.set_f32(i, l.emit(Op::FFma32, {l.f32(i, 0), l.f32(i, 1), addend32(l, i)}));
}

bool fmamk32(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    return l.set_f32(i, l.emit(Op::FFma32, {l.f32(i, 0), l.f32(i, 1), l.f32(i, 2)}));
}

// v_mad, v_mac: two roundings; inputs, product and result are flushed whatever MODE says.
Value mad(Lifter& l, Value x, Value y, Value z) {
    auto flush = [&](Value v) { return l.emit(Op::FFlush32, {v}); };
    const Value product = flush(l.emit(Op::FMul32, {flush(x), flush(y)}));
    return flush(l.emit(Op::FAdd32, {product, flush(z)}));
}

bool mad32(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    return l.set_f32(i, mad(l, l.f32(i, 0), l.f32(i, 1), l.f32(i, 2)));
}

bool mac32(Lifter& l, const Inst& i) {
    if (!l.round32() || i.variant == Variant::Sdwa) return false;
    return l.set_f32(i, mad(l, l.f32(i, 0), l.f32(i, 1), l.raw(i.dst[0])));
}

bool madmk32(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    return l.set_f32(i, mad(l, l.f32(i, 0), l.f32(i, 1), l.f32(i, 2)));
}

template <uint32_t mode>
bool round32(Lifter& l, const Inst& i) {
    return l.set_f32(i, l.emit(Op::FRound32, {l.f32(i, 0)}, mode));
}

// 2^n of f32 or the upper half of f64, where n is a constant in every lane or one of two, as in the
// scaling of denormals around roots and logarithms, and 2^n a normal number: a product with it is
// exact but for one rounding, as v_ldexp is.
template <uint32_t mantissa_bits, int32_t bias>
Value power_of_two(Lifter& l, Value n) {
    const ir::Inst i = l.s.inst(n);  // a copy: the vector grows
    if (i.op == Op::Select32) {
        const Value x = power_of_two<mantissa_bits, bias>(l, i.args[1]),
                    y = power_of_two<mantissa_bits, bias>(l, i.args[2]);
        return x == no_value || y == no_value ? no_value : l.emit(Op::Select32, {i.args[0], x, y});
    }
    uint64_t c;
    if (i.op != Op::Splat32 || !l.s.is_const(i.args[0], c)) return no_value;
    const auto exponent = static_cast<int32_t>(c);
    if (exponent <= -bias || exponent > bias) return no_value;
    return l.s.lane_const(static_cast<uint32_t>(exponent + bias) << mantissa_bits);
}

// n / d where x = mantissa(n) * (1 / mantissa(d)) and e = exponent(n) - exponent(d), else no_value.
Value quotient_of_fractions(Lifter& l, Value x, Value e) {
    const ir::Inst product = l.s.inst(x), difference = l.s.inst(e);
    if (difference.op != Op::Sub32) return no_value;
    auto argument = [&](Op op, Value v) {
        return l.s.inst(v).op == op ? l.s.inst(v).args[0] : no_value;
    };
    const Value one = l.c32(0x3f800000), n = argument(Op::FFrexpExp32, difference.args[0]),
                d = argument(Op::FFrexpExp32, difference.args[1]);
    if (d == no_value) return no_value;
    auto divides = [&](const ir::Inst& rcp) {
        return rcp.op == Op::FDiv32 && rcp.args[0] == one &&
               argument(Op::FFrexpMant32, rcp.args[1]) == d;
    };
    // Of 1 both parts are left out.
    if (difference.args[0] == l.c32(0) && divides(product))
        return l.emit(Op::FQuotFrexp32, {one, d, l.s.exec()});
    if (product.op != Op::FMul32 || n == no_value) return no_value;
    for (const size_t at : {0, 1})
        if (divides(l.s.inst(product.args[1 - at])) &&
            argument(Op::FFrexpMant32, product.args[at]) == n)
            return l.emit(Op::FQuotFrexp32, {n, d, l.s.exec()}, at);
    return no_value;
}

bool ldexp32(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    const Value n = l.raw(i.src[1]), factor = power_of_two<23, 127>(l, n);
    if (const Value q = quotient_of_fractions(l, l.f32(i, 0), n); q != no_value)
        return l.set_f32(i, q);
    if (factor != no_value) return l.set_f32(i, l.emit(Op::FMul32, {l.f32(i, 0), factor}));
    return l.set_f32(i, l.emit(Op::FLdexp32, {l.f32(i, 0), n}));
}

// ---- conversions
// -----------------------------------------------------------------------------------

template <Op op>
bool int_to_f32(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    return l.set_f32(i, l.emit(op, {l.v32(i, 0)}));
}

template <uint32_t byte>
bool ubyte_to_f32(Lifter& l, const Inst& i) {
    Value v = l.v32(i, 0);
    if (byte) v = l.emit(Op::Shr32, {v, l.c32(byte * 8)});
    return l.set_f32(i, l.emit(Op::CvtU32ToF32, {l.emit(Op::And32, {v, l.c32(0xff)})}));
}

template <Op op>
bool f32_to_int(Lifter& l, const Inst& i) {
    if (i.clamp || i.omod) return false;
    l.set_v32(i, l.emit(op, {l.f32(i, 0)}));
    return true;
}

bool f32_to_f64(Lifter& l, const Inst& i) {
    if (i.clamp || i.omod || !l.denorm64()) return false;
    l.set_v64(i.dst[0], l.emit(Op::CvtF32ToF64, {l.f32(i, 0)}));
    return true;
}

bool f64_to_f32(Lifter& l, const Inst& i) {
    if (!l.round32() || !l.denorm64()) return false;
    return l.set_f32(i, l.emit(Op::CvtF64ToF32, {l.f64(i, 0)}));
}

template <Op op>
bool int_to_f64(Lifter& l, const Inst& i) {
    if (i.clamp || i.omod) return false;
    l.set_v64(i.dst[0], l.emit(op, {l.v32(i, 0)}));
    return true;
}

template <Op op>
bool f64_to_int(Lifter& l, const Inst& i) {
    if (i.clamp || i.omod || !l.denorm64()) return false;
    l.set_v32(i, l.emit(op, {l.f64(i, 0)}));
    return true;
}

// ---- f64
// -----------------------------------------------------------------------------------------------

bool plain64(const Lifter& l, const Inst& i) {
    return l.round64() && l.denorm64() && !i.clamp && !i.omod;
}

template <Op op>
bool bin64(Lifter& l, const Inst& i) {
    if (!plain64(l, i)) return false;
    l.set_v64(i.dst[0], l.emit(op, {l.f64(i, 0), l.f64(i, 1)}));
    return true;
}

template <Op op>
bool minmax64(Lifter& l, const Inst& i) {
    if (!plain64(l, i)) return false;
    l.set_v64(i.dst[0], l.emit(op, {l.f64(i, 0), l.f64(i, 1)}, l.ieee()));
    return true;
}

bool fma64(Lifter& l, const Inst& i) {
    if (!plain64(l, i)) return false;
    l.set_v64(i.dst[0], l.emit(Op::FFma64, {l.f64(i, 0), l.f64(i, 1), l.f64(i, 2)}));
    return true;
}

bool fmac64(Lifter& l, const Inst& i) {
    if (!plain64(l, i)) return false;
    l.set_v64(i.dst[0], l.emit(Op::FFma64, {l.f64(i, 0), l.f64(i, 1), l.v64(i.dst[0])}));
    return true;
}

template <uint32_t mode>
bool round64(Lifter& l, const Inst& i) {
    if (!plain64(l, i)) return false;
    l.set_v64(i.dst[0], l.emit(Op::FRound64, {l.f64(i, 0)}, mode));
    return true;
}

bool ldexp64(Lifter& l, const Inst& i) {
    if (!plain64(l, i)) return false;
    const Value n = l.raw(i.src[1]), factor = power_of_two<20, 1023>(l, n);
    l.set_v64(i.dst[0], factor != no_value
                            ? l.emit(Op::FMul64, {l.f64(i, 0), l.s.pack(l.s.lane_const(0), factor)})
                            : l.emit(Op::FLdexp64, {l.f64(i, 0), n}));
    return true;
}

// ---- packed f32 (gfx90a)
// -------------------------------------------------------------------------------

Value pk32(Lifter& l, const Inst& i, uint32_t n, bool high) {
    Value v = l.raw(i.src[n], (high ? i.op_sel_hi : i.op_sel) >> n & 1);
    if ((high ? i.neg_hi : i.neg) >> n & 1) v = l.emit(Op::Xor32, {v, l.c32(0x80000000)});
    return l.flush_in32() ? l.emit(Op::FFlush32, {v}) : v;
}

template <Op op, uint32_t count>
bool packed32(Lifter& l, const Inst& i) {
    if (!l.round32() || i.clamp) return false;
    Value r[2];
    for (bool high : {false, true}) {
        r[high] = count == 2
                      ? l.emit(op, {pk32(l, i, 0, high), pk32(l, i, 1, high)})
                      : l.emit(op, {pk32(l, i, 0, high), pk32(l, i, 1, high), pk32(l, i, 2, high)});
        if (l.flush_out32()) r[high] = l.emit(Op::FFlush32, {r[high]});
    }
    l.write(i.dst[0], r[0], 0);
    l.write(i.dst[0], r[1], 1);
    return true;
}

constexpr Entry entries[] = {
    {Opcode::v_add_f32, bin32<Op::FAdd32>},
    {Opcode::v_sub_f32, bin32<Op::FSub32>},
    {Opcode::v_subrev_f32, bin32<Op::FSub32, true>},
    {Opcode::v_mul_f32, bin32<Op::FMul32>},
    {Opcode::v_min_f32, minmax32<Op::FMin32>},
    {Opcode::v_max_f32, minmax32<Op::FMax32>},
    {Opcode::v_min3_f32, minmax3_32<Op::FMin32>},
    {Opcode::v_max3_f32, minmax3_32<Op::FMax32>},
    {Opcode::v_minmax_f32, minmax3_32<Op::FMin32, Op::FMax32>},
    {Opcode::v_maxmin_f32, minmax3_32<Op::FMax32, Op::FMin32>},
    {Opcode::s_min_f32, minmax32<Op::FMin32>},
    {Opcode::s_max_f32, minmax32<Op::FMax32>},
    {Opcode::s_min_num_f32, number32<Op::FMin32>},
    {Opcode::s_max_num_f32, number32<Op::FMax32>},
    {Opcode::s_minimum_f32, nan_or32<Op::FMin32>},
    {Opcode::s_maximum_f32, nan_or32<Op::FMax32>},
    {Opcode::v_minimum_f32, nan_or32<Op::FMin32>},
    {Opcode::v_maximum_f32, nan_or32<Op::FMax32>},
    {Opcode::v_minimum3_f32, nan_or3_32<Op::FMin32, Op::FMin32>},
    {Opcode::v_maximum3_f32, nan_or3_32<Op::FMax32, Op::FMax32>},
    {Opcode::v_minimummaximum_f32, nan_or3_32<Op::FMin32, Op::FMax32>},
    {Opcode::v_maximumminimum_f32, nan_or3_32<Op::FMax32, Op::FMin32>},
    {Opcode::v_min_num_f32, number32<Op::FMin32>},
    {Opcode::v_max_num_f32, number32<Op::FMax32>},
    {Opcode::v_min3_num_f32, number3_32<Op::FMin32, Op::FMin32>},
    {Opcode::v_max3_num_f32, number3_32<Op::FMax32, Op::FMax32>},
    {Opcode::v_minmax_num_f32, number3_32<Op::FMin32, Op::FMax32>},
    {Opcode::v_maxmin_num_f32, number3_32<Op::FMax32, Op::FMin32>},
    {Opcode::v_fma_f32, fma32},
    {Opcode::v_fmac_f32, fmac32},
    {Opcode::v_fmamk_f32, fmamk32},
    {Opcode::v_fmaak_f32, fmamk32},
    {Opcode::v_mad_f32, mad32},
    {Opcode::v_mac_f32, mac32},
    {Opcode::v_madmk_f32, madmk32},
    {Opcode::v_madak_f32, madmk32},
    {Opcode::v_rndne_f32, round32<0>},
    {Opcode::v_floor_f32, round32<1>},
    {Opcode::v_ceil_f32, round32<2>},
    {Opcode::v_trunc_f32, round32<3>},
    {Opcode::v_ldexp_f32, ldexp32},
    {Opcode::v_cvt_f32_i32, int_to_f32<Op::CvtI32ToF32>},
    {Opcode::v_cvt_f32_u32, int_to_f32<Op::CvtU32ToF32>},
    {Opcode::v_cvt_f32_ubyte0, ubyte_to_f32<0>},
    {Opcode::v_cvt_f32_ubyte1, ubyte_to_f32<1>},
    {Opcode::v_cvt_f32_ubyte2, ubyte_to_f32<2>},
    {Opcode::v_cvt_f32_ubyte3, ubyte_to_f32<3>},
    {Opcode::v_cvt_i32_f32, f32_to_int<Op::CvtF32ToI32>},
    {Opcode::v_cvt_u32_f32, f32_to_int<Op::CvtF32ToU32>},
    {Opcode::v_cvt_f64_f32, f32_to_f64},
    {Opcode::v_cvt_f32_f64, f64_to_f32},
    {Opcode::v_cvt_f64_i32, int_to_f64<Op::CvtI32ToF64>},
    {Opcode::v_cvt_f64_u32, int_to_f64<Op::CvtU32ToF64>},
    {Opcode::v_cvt_i32_f64, f64_to_int<Op::CvtF64ToI32>},
    {Opcode::v_cvt_u32_f64, f64_to_int<Op::CvtF64ToU32>},
    {Opcode::v_add_f64, bin64<Op::FAdd64>},
    {Opcode::v_mul_f64, bin64<Op::FMul64>},
    {Opcode::v_min_f64, minmax64<Op::FMin64>},
    {Opcode::v_max_f64, minmax64<Op::FMax64>},
    {Opcode::v_fma_f64, fma64},
    {Opcode::v_fmamk_f64, fma64},
    {Opcode::v_fmaak_f64, fma64},
    {Opcode::v_fmac_f64, fmac64},
    {Opcode::v_rndne_f64, round64<0>},
    {Opcode::v_floor_f64, round64<1>},
    {Opcode::v_ceil_f64, round64<2>},
    {Opcode::v_trunc_f64, round64<3>},
    {Opcode::v_ldexp_f64, ldexp64},
    {Opcode::v_pk_add_f32, packed32<Op::FAdd32, 2>},
    {Opcode::v_pk_mul_f32, packed32<Op::FMul32, 2>},
    {Opcode::v_pk_fma_f32, packed32<Op::FFma32, 3>},
};

}  // namespace

std::span<const Entry> vector_float_entries() {
    return entries;
}

}  // namespace wj::lift
