// VOPC: compares and class tests into a lane mask; v_cmpx also writes EXEC.
#include "ir/known.h"
#include "lift/lifter.h"

namespace wj::lift {
namespace {

// The lanes' result restricted to EXEC; v_cmpx writes it to EXEC as well.
template <bool to_exec>
bool put_mask(Lifter& l, const Inst& i, Value m) {
    m = l.active(l.compared(m));
    l.set_mask(i.dst[0], m);
    if (to_exec) l.s.set_mask_bits(machine::exec_lo, l.s.bits_of(m));
    return true;
}

// x86 predicates, quiet: the guest's compares raise no host exception (all are masked).
template <uint32_t predicate, bool to_exec>
bool f32(Lifter& l, const Inst& i) {
    return put_mask<to_exec>(l, i, l.emit(Op::FCmp32, {l.f32(i, 0), l.f32(i, 1)}, predicate));
}

template <uint32_t predicate, bool to_exec>
bool f64(Lifter& l, const Inst& i) {
    if (!l.denorm64()) return false;
    return put_mask<to_exec>(l, i, l.emit(Op::FCmp64, {l.f64(i, 0), l.f64(i, 1)}, predicate));
}

template <uint32_t predicate, bool to_exec>
bool f16(Lifter& l, const Inst& i) {
    auto source = [&](uint32_t n) { return l.emit(Op::CvtF16ToF32, {l.f16_bits(i, n)}); };
    return put_mask<to_exec>(l, i, l.emit(Op::FCmp32, {source(0), source(1)}, predicate));
}

template <Op op, bool swap, bool to_exec>
bool int32(Lifter& l, const Inst& i) {
    const Value a = l.v32(i, 0), b = l.v32(i, 1);
    return put_mask<to_exec>(l, i, swap ? l.emit(op, {b, a}) : l.emit(op, {a, b}));
}

template <Op op, bool swap, bool to_exec>
bool int64(Lifter& l, const Inst& i) {
    const Value a = l.v64(i.src[0]), b = l.v64(i.src[1]);
    return put_mask<to_exec>(l, i, swap ? l.emit(op, {b, a}) : l.emit(op, {a, b}));
}

template <Op op, bool swap, bool to_exec>
bool int16(Lifter& l, const Inst& i) {
    constexpr bool is_signed = op == Op::CmpLtS32 || op == Op::CmpLeS32;
    Value v[2] = {l.v32(i, 0), l.v32(i, 1)};
    const uint32_t bits = ir::possible_bits(l.block, v[0]) | ir::possible_bits(l.block, v[1]);
    if (bits > (is_signed ? 0x7fff : 0xffff))
        for (Value& x : v) x = l.emit(Op::Shl32, {x, l.c32(16)});  // order is kept
    return put_mask<to_exec>(l, i, swap ? l.emit(op, {v[1], v[0]}) : l.emit(op, {v[0], v[1]}));
}

template <bool value, bool to_exec>
bool constant(Lifter& l, const Inst& i) {
    return put_mask<to_exec>(l, i, l.s.mask_of(l.s.const64(value ? ~0ull : 0)));
}

// {first pattern, number of patterns} of: sNaN, qNaN, -inf, -normal, -denormal, -0, +0, +denormal,
// +normal, +inf
template <class Bits>
struct ClassRange {
    Bits first, count;
    bool magnitude;  // the sign does not matter
};
constexpr ClassRange<uint32_t> classes32[10] = {
    {0x7f800001, 0x3fffff, true},    {0x7fc00000, 0x400000, true},  {0xff800000, 1, false},
    {0x80800000, 0x7f000000, false}, {0x80000001, 0x7fffff, false}, {0x80000000, 1, false},
    {0x00000000, 1, false},          {0x00000001, 0x7fffff, false}, {0x00800000, 0x7f000000, false},
    {0x7f800000, 1, false}};
constexpr ClassRange<uint32_t> classes16[10] = {
    {0x7c01, 0x1ff, true},   {0x7e00, 0x200, true}, {0xfc00, 1, false}, {0x8400, 0x7800, false},
    {0x8001, 0x3ff, false},  {0x8000, 1, false},    {0, 1, false},      {1, 0x3ff, false},
    {0x0400, 0x7800, false}, {0x7c00, 1, false}};
constexpr ClassRange<uint64_t> classes64[10] = {{0x7ff0000000000001, 0x7ffffffffffff, true},
                                                {0x7ff8000000000000, 0x8000000000000, true},
                                                {0xfff0000000000000, 1, false},
                                                {0x8010000000000000, 0x7fe0000000000000, false},
                                                {0x8000000000000001, 0xfffffffffffff, false},
                                                {0x8000000000000000, 1, false},
                                                {0, 1, false},
                                                {1, 0xfffffffffffff, false},
                                                {0x0010000000000000, 0x7fe0000000000000, false},
                                                {0x7ff0000000000000, 1, false}};

// The OR of the ranges that the mask operand (bit per class) selects. in_range(k) tests class k.
// single: the f32 that is tested, if it is one.
template <bool to_exec, class InRange>
bool put_class(Lifter& l, const Inst& i, Value single, InRange in_range) {
    const Value tests = l.wanted_constant(l.v32(i, 1));
    uint64_t known = 0;
    const bool constant = l.s.is_const(tests, known);
    Value m = l.s.mask_of(l.s.const64(0));
    for (uint32_t k = 0; k < 10; ++k) {
        if (constant && !(known >> k & 1)) continue;
        Value hit = in_range(k);
        if (!constant)
            hit = l.emit(
                Op::MaskAnd,
                {hit, l.emit(Op::CmpNe32, {l.emit(Op::And32, {tests, l.c32(1u << k)}), l.c32(0)})});
        m = l.emit(Op::MaskOr, {m, hit});
    }
    if (constant && single != no_value) l.roots.note_class(m, single, known);
    return put_mask<to_exec>(l, i, m);
}

template <bool to_exec>
bool put_class32(Lifter& l, const Inst& i, Value x, Value magnitude,
                 const ClassRange<uint32_t> (&classes)[10]) {
    const Value single = &classes == &classes32 ? x : no_value;
    return put_class<to_exec>(l, i, single, [&](uint32_t k) {
        const auto& r = classes[k];
        const Value v = r.magnitude ? magnitude : x;
        if (r.count == 1) return l.emit(Op::CmpEq32, {v, l.c32(r.first)});
        return l.emit(Op::CmpLtU32, {l.emit(Op::Sub32, {v, l.c32(r.first)}), l.c32(r.count)});
    });
}

template <bool to_exec>
bool class_f32(Lifter& l, const Inst& i) {
    if (i.variant == Variant::Sdwa) return false;
    Value x = l.raw(i.src[0]);
    if (i.abs & 1) x = l.emit(Op::And32, {x, l.c32(0x7fffffff)});
    if (i.neg & 1) x = l.emit(Op::Xor32, {x, l.c32(0x80000000)});
    const Value magnitude = l.emit(Op::And32, {x, l.c32(0x7fffffff)});
    return put_class32<to_exec>(l, i, x, magnitude, classes32);
}

template <bool to_exec>
bool class_f16(Lifter& l, const Inst& i) {
    if (i.variant == Variant::Sdwa) return false;
    const Value x = l.emit(Op::And32, {l.f16_bits(i, 0, true), l.c32(0xffff)});
    return put_class32<to_exec>(l, i, x, l.emit(Op::And32, {x, l.c32(0x7fff)}), classes16);
}

template <bool to_exec>
bool class_f64(Lifter& l, const Inst& i) {
    const Value source = l.v64(i.src[0]), lo = l.emit(Op::Lo, {source});
    Value hi = l.emit(Op::Hi, {source});
    if (i.abs & 1) hi = l.emit(Op::And32, {hi, l.c32(0x7fffffff)});
    if (i.neg & 1) hi = l.emit(Op::Xor32, {hi, l.c32(0x80000000)});
    const Value x = l.s.pack(lo, hi),
                magnitude = l.s.pack(lo, l.emit(Op::And32, {hi, l.c32(0x7fffffff)}));
    return put_class<to_exec>(l, i, no_value, [&](uint32_t k) {
        const auto& r = classes64[k];
        const Value v = r.magnitude ? magnitude : x;
        if (r.count == 1) return l.emit(Op::CmpEq64, {v, l.c64(r.first)});
        return l.emit(Op::CmpLtU64, {l.emit(Op::Sub64, {v, l.c64(r.first)}), l.c64(r.count)});
    });
}

// Kinds of compares as VCMPPS numbers them. v_cmps_* of gfx6 and gfx7 signal for quiet NaN, too.
#define FLOAT_ROW(cmp, name, type, kind)                      \
    {Opcode::v_##cmp##_##name##_##type, type<kind, false>}, { \
        Opcode::v_##cmp##x_##name##_##type, type<kind, true>  \
    }
#define FLOAT_ROWS(cmp, type)                                                                     \
    FLOAT_ROW(cmp, f, type, 11), FLOAT_ROW(cmp, lt, type, 17), FLOAT_ROW(cmp, eq, type, 0),       \
        FLOAT_ROW(cmp, le, type, 18), FLOAT_ROW(cmp, gt, type, 30), FLOAT_ROW(cmp, lg, type, 12), \
        FLOAT_ROW(cmp, ge, type, 29), FLOAT_ROW(cmp, o, type, 7), FLOAT_ROW(cmp, u, type, 3),     \
        FLOAT_ROW(cmp, nge, type, 25), FLOAT_ROW(cmp, nlg, type, 8),                              \
        FLOAT_ROW(cmp, ngt, type, 26), FLOAT_ROW(cmp, nle, type, 22),                             \
        FLOAT_ROW(cmp, neq, type, 4), FLOAT_ROW(cmp, nlt, type, 21), FLOAT_ROW(cmp, tru, type, 15)

constexpr Entry entries[] = {
    FLOAT_ROWS(cmps, f32),
    FLOAT_ROWS(cmps, f64),
    FLOAT_ROWS(cmp, f32),
    FLOAT_ROWS(cmp, f64),
    FLOAT_ROWS(cmp, f16),
    {Opcode::v_cmp_lt_i32, int32<Op::CmpLtS32, false, false>},
    {Opcode::v_cmpx_lt_i32, int32<Op::CmpLtS32, false, true>},
    {Opcode::v_cmp_eq_i32, int32<Op::CmpEq32, false, false>},
    {Opcode::v_cmpx_eq_i32, int32<Op::CmpEq32, false, true>},
    {Opcode::v_cmp_le_i32, int32<Op::CmpLeS32, false, false>},
    {Opcode::v_cmpx_le_i32, int32<Op::CmpLeS32, false, true>},
    {Opcode::v_cmp_gt_i32, int32<Op::CmpLtS32, true, false>},
    {Opcode::v_cmpx_gt_i32, int32<Op::CmpLtS32, true, true>},
    {Opcode::v_cmp_ne_i32, int32<Op::CmpNe32, false, false>},
    {Opcode::v_cmpx_ne_i32, int32<Op::CmpNe32, false, true>},
    {Opcode::v_cmp_ge_i32, int32<Op::CmpLeS32, true, false>},
    {Opcode::v_cmpx_ge_i32, int32<Op::CmpLeS32, true, true>},
    {Opcode::v_cmp_f_i32, constant<false, false>},
    {Opcode::v_cmpx_f_i32, constant<false, true>},
    {Opcode::v_cmp_t_i32, constant<true, false>},
    {Opcode::v_cmpx_t_i32, constant<true, true>},
    {Opcode::v_cmp_lt_u32, int32<Op::CmpLtU32, false, false>},
    {Opcode::v_cmpx_lt_u32, int32<Op::CmpLtU32, false, true>},
    {Opcode::v_cmp_eq_u32, int32<Op::CmpEq32, false, false>},
    {Opcode::v_cmpx_eq_u32, int32<Op::CmpEq32, false, true>},
    {Opcode::v_cmp_le_u32, int32<Op::CmpLeU32, false, false>},
    {Opcode::v_cmpx_le_u32, int32<Op::CmpLeU32, false, true>},
    {Opcode::v_cmp_gt_u32, int32<Op::CmpLtU32, true, false>},
    {Opcode::v_cmpx_gt_u32, int32<Op::CmpLtU32, true, true>},
    {Opcode::v_cmp_ne_u32, int32<Op::CmpNe32, false, false>},
    {Opcode::v_cmpx_ne_u32, int32<Op::CmpNe32, false, true>},
    {Opcode::v_cmp_ge_u32, int32<Op::CmpLeU32, true, false>},
    {Opcode::v_cmpx_ge_u32, int32<Op::CmpLeU32, true, true>},
    {Opcode::v_cmp_f_u32, constant<false, false>},
    {Opcode::v_cmpx_f_u32, constant<false, true>},
    {Opcode::v_cmp_t_u32, constant<true, false>},
    {Opcode::v_cmpx_t_u32, constant<true, true>},
    {Opcode::v_cmp_lt_i64, int64<Op::CmpLtS64, false, false>},
    {Opcode::v_cmpx_lt_i64, int64<Op::CmpLtS64, false, true>},
    {Opcode::v_cmp_eq_i64, int64<Op::CmpEq64, false, false>},
    {Opcode::v_cmpx_eq_i64, int64<Op::CmpEq64, false, true>},
    {Opcode::v_cmp_le_i64, int64<Op::CmpLeS64, false, false>},
    {Opcode::v_cmpx_le_i64, int64<Op::CmpLeS64, false, true>},
    {Opcode::v_cmp_gt_i64, int64<Op::CmpLtS64, true, false>},
    {Opcode::v_cmpx_gt_i64, int64<Op::CmpLtS64, true, true>},
    {Opcode::v_cmp_ne_i64, int64<Op::CmpNe64, false, false>},
    {Opcode::v_cmpx_ne_i64, int64<Op::CmpNe64, false, true>},
    {Opcode::v_cmp_ge_i64, int64<Op::CmpLeS64, true, false>},
    {Opcode::v_cmpx_ge_i64, int64<Op::CmpLeS64, true, true>},
    {Opcode::v_cmp_f_i64, constant<false, false>},
    {Opcode::v_cmpx_f_i64, constant<false, true>},
    {Opcode::v_cmp_t_i64, constant<true, false>},
    {Opcode::v_cmpx_t_i64, constant<true, true>},
    {Opcode::v_cmp_lt_u64, int64<Op::CmpLtU64, false, false>},
    {Opcode::v_cmpx_lt_u64, int64<Op::CmpLtU64, false, true>},
    {Opcode::v_cmp_eq_u64, int64<Op::CmpEq64, false, false>},
    {Opcode::v_cmpx_eq_u64, int64<Op::CmpEq64, false, true>},
    {Opcode::v_cmp_le_u64, int64<Op::CmpLeU64, false, false>},
    {Opcode::v_cmpx_le_u64, int64<Op::CmpLeU64, false, true>},
    {Opcode::v_cmp_gt_u64, int64<Op::CmpLtU64, true, false>},
    {Opcode::v_cmpx_gt_u64, int64<Op::CmpLtU64, true, true>},
    {Opcode::v_cmp_ne_u64, int64<Op::CmpNe64, false, false>},
    {Opcode::v_cmpx_ne_u64, int64<Op::CmpNe64, false, true>},
    {Opcode::v_cmp_ge_u64, int64<Op::CmpLeU64, true, false>},
    {Opcode::v_cmpx_ge_u64, int64<Op::CmpLeU64, true, true>},
    {Opcode::v_cmp_f_u64, constant<false, false>},
    {Opcode::v_cmpx_f_u64, constant<false, true>},
    {Opcode::v_cmp_t_u64, constant<true, false>},
    {Opcode::v_cmpx_t_u64, constant<true, true>},
    {Opcode::v_cmp_lt_i16, int16<Op::CmpLtS32, false, false>},
    {Opcode::v_cmpx_lt_i16, int16<Op::CmpLtS32, false, true>},
    {Opcode::v_cmp_eq_i16, int16<Op::CmpEq32, false, false>},
    {Opcode::v_cmpx_eq_i16, int16<Op::CmpEq32, false, true>},
    {Opcode::v_cmp_le_i16, int16<Op::CmpLeS32, false, false>},
    {Opcode::v_cmpx_le_i16, int16<Op::CmpLeS32, false, true>},
    {Opcode::v_cmp_gt_i16, int16<Op::CmpLtS32, true, false>},
    {Opcode::v_cmpx_gt_i16, int16<Op::CmpLtS32, true, true>},
    {Opcode::v_cmp_ne_i16, int16<Op::CmpNe32, false, false>},
    {Opcode::v_cmpx_ne_i16, int16<Op::CmpNe32, false, true>},
    {Opcode::v_cmp_ge_i16, int16<Op::CmpLeS32, true, false>},
    {Opcode::v_cmpx_ge_i16, int16<Op::CmpLeS32, true, true>},
    {Opcode::v_cmp_f_i16, constant<false, false>},
    {Opcode::v_cmpx_f_i16, constant<false, true>},
    {Opcode::v_cmp_t_i16, constant<true, false>},
    {Opcode::v_cmpx_t_i16, constant<true, true>},
    {Opcode::v_cmp_lt_u16, int16<Op::CmpLtU32, false, false>},
    {Opcode::v_cmpx_lt_u16, int16<Op::CmpLtU32, false, true>},
    {Opcode::v_cmp_eq_u16, int16<Op::CmpEq32, false, false>},
    {Opcode::v_cmpx_eq_u16, int16<Op::CmpEq32, false, true>},
    {Opcode::v_cmp_le_u16, int16<Op::CmpLeU32, false, false>},
    {Opcode::v_cmpx_le_u16, int16<Op::CmpLeU32, false, true>},
    {Opcode::v_cmp_gt_u16, int16<Op::CmpLtU32, true, false>},
    {Opcode::v_cmpx_gt_u16, int16<Op::CmpLtU32, true, true>},
    {Opcode::v_cmp_ne_u16, int16<Op::CmpNe32, false, false>},
    {Opcode::v_cmpx_ne_u16, int16<Op::CmpNe32, false, true>},
    {Opcode::v_cmp_ge_u16, int16<Op::CmpLeU32, true, false>},
    {Opcode::v_cmpx_ge_u16, int16<Op::CmpLeU32, true, true>},
    {Opcode::v_cmp_f_u16, constant<false, false>},
    {Opcode::v_cmpx_f_u16, constant<false, true>},
    {Opcode::v_cmp_t_u16, constant<true, false>},
    {Opcode::v_cmpx_t_u16, constant<true, true>},
    {Opcode::v_cmp_class_f16, class_f16<false>},
    {Opcode::v_cmpx_class_f16, class_f16<true>},
    {Opcode::v_cmp_class_f32, class_f32<false>},
    {Opcode::v_cmpx_class_f32, class_f32<true>},
    {Opcode::v_cmp_class_f64, class_f64<false>},
    {Opcode::v_cmpx_class_f64, class_f64<true>},
};

}  // namespace

std::span<const Entry> compare_entries() {
    return entries;
}

}  // namespace wj::lift
