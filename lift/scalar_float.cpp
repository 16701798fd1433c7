// gfx11.5: f32 in the scalar ALU, and compares, as vector operations on a value that all lanes
// have. Other rounding modes stay with the interpreter. Most f16 instructions and the
// transcendental ones are rows beside those of the vector ALU, whose methods write SGPRs, too.
#include "lift/lifter.h"

namespace wj::lift {
namespace {

Value flushed(Lifter& l, Value v, bool flush) {
    return flush ? l.emit(Op::FFlush32, {v}) : v;
}
Value source(Lifter& l, const Operand& o) {
    return flushed(l, l.s.splat(l.s32(o)), l.flush_in32());
}
bool put_float(Lifter& l, const Inst& i, Value v) {
    return put(l, i, flushed(l, v, l.flush_out32()));
}

template <Op op>
bool arithmetic(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    return put_float(l, i, l.emit(op, {source(l, i.src[0]), source(l, i.src[1])}));
}

template <bool accumulate>
bool fma(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    const Value c = source(l, accumulate ? i.dst[0] : i.src[2]);
    return put_float(l, i, l.emit(Op::FFma32, {source(l, i.src[0]), source(l, i.src[1]), c}));
}

template <uint32_t mode>
bool round(Lifter& l, const Inst& i) {
    return put_float(l, i, l.emit(Op::FRound32, {source(l, i.src[0])}, mode));
}

template <Op op>
bool from_int(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    return put(l, i, l.emit(op, {l.s.splat(l.s32(i.src[0]))}));
}

template <Op op>
bool to_int(Lifter& l, const Inst& i) {
    return put(l, i, l.emit(op, {source(l, i.src[0])}));
}

Value single(Lifter& l, const Inst& i, uint32_t n) {
    return source(l, i.src[n]);
}
Value half(Lifter& l, const Inst& i, uint32_t n) {
    return l.emit(Op::CvtF16ToF32, {l.f16_bits(i, n)});
}
template <Value (*source)(Lifter&, const Inst&, uint32_t), uint32_t predicate>
bool compare(Lifter& l, const Inst& i) {
    const Value m = l.emit(Op::FCmp32, {source(l, i, 0), source(l, i, 1)}, predicate);
    const Value one = l.emit(Op::UAnd64, {l.s.bits_of(m), l.s.const64(1)});
    l.s.set_scc(l.emit(Op::UCmpNe64, {one, l.s.const64(0)}));
    return true;
}

// Kinds of compares as VCMPPS numbers them.
#define COMPARE(name, type, source, kind) \
    { Opcode::s_cmp_##name##_##type, compare<source, kind> }
#define COMPARES(type, source)                                                                   \
    COMPARE(lt, type, source, 17), COMPARE(eq, type, source, 0), COMPARE(le, type, source, 18),  \
        COMPARE(gt, type, source, 30), COMPARE(lg, type, source, 12),                            \
        COMPARE(ge, type, source, 29), COMPARE(o, type, source, 7), COMPARE(u, type, source, 3), \
        COMPARE(nge, type, source, 25), COMPARE(nlg, type, source, 8),                           \
        COMPARE(ngt, type, source, 26), COMPARE(nle, type, source, 22),                          \
        COMPARE(neq, type, source, 4), COMPARE(nlt, type, source, 21)

constexpr Entry entries[] = {
    {Opcode::s_add_f32, arithmetic<Op::FAdd32>},
    {Opcode::s_sub_f32, arithmetic<Op::FSub32>},
    {Opcode::s_mul_f32, arithmetic<Op::FMul32>},
    {Opcode::s_fmac_f32, fma<true>},
    {Opcode::s_fmaak_f32, fma<false>},
    {Opcode::s_fmamk_f32, fma<false>},
    {Opcode::s_rndne_f32, round<0>},
    {Opcode::s_floor_f32, round<1>},
    {Opcode::s_ceil_f32, round<2>},
    {Opcode::s_trunc_f32, round<3>},
    {Opcode::s_cvt_f32_i32, from_int<Op::CvtI32ToF32>},
    {Opcode::s_cvt_f32_u32, from_int<Op::CvtU32ToF32>},
    {Opcode::s_cvt_i32_f32, to_int<Op::CvtF32ToI32>},
    {Opcode::s_cvt_u32_f32, to_int<Op::CvtF32ToU32>},
    COMPARES(f32, single),
    COMPARES(f16, half),
};

}  // namespace

std::span<const Entry> scalar_float_entries() {
    return entries;
}

}  // namespace wj::lift
