// gfx11.5: f32 in the scalar ALU, as vector operations on a value that all lanes have. Other
// rounding modes, and f16, stay with the interpreter.
#include "lift/lifter.h"

namespace wj::lift {
namespace {

Value flushed(Lifter& l, Value v, bool flush) {
    return flush ? l.emit(Op::FFlush32, {v}) : v;
}
Value source(Lifter& l, const Operand& o) {
    return flushed(l, l.s.splat(l.s32(o)), l.flush_in32());
}
bool put_first(Lifter& l, const Inst& i, Value v) {
    l.set_s32(i.dst[0], l.emit(Op::ReadLane, {v, l.s.const32(0)}));
    return true;
}
bool put_float(Lifter& l, const Inst& i, Value v) {
    return put_first(l, i, flushed(l, v, l.flush_out32()));
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
    return put_first(l, i, l.emit(op, {l.s.splat(l.s32(i.src[0]))}));
}

template <Op op>
bool to_int(Lifter& l, const Inst& i) {
    return put_first(l, i, l.emit(op, {source(l, i.src[0])}));
}

template <uint32_t predicate>
bool compare(Lifter& l, const Inst& i) {
    const Value m = l.emit(Op::FCmp32, {source(l, i.src[0]), source(l, i.src[1])}, predicate);
    const Value one = l.emit(Op::UAnd64, {l.s.bits_of(m), l.s.const64(1)});
    l.s.set_scc(l.emit(Op::UCmpNe64, {one, l.s.const64(0)}));
    return true;
}

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
    {Opcode::s_cmp_lt_f32, compare<17>},
    {Opcode::s_cmp_eq_f32, compare<0>},
    {Opcode::s_cmp_le_f32, compare<18>},
    {Opcode::s_cmp_gt_f32, compare<30>},
    {Opcode::s_cmp_lg_f32, compare<12>},
    {Opcode::s_cmp_ge_f32, compare<29>},
    {Opcode::s_cmp_o_f32, compare<7>},
    {Opcode::s_cmp_u_f32, compare<3>},
    {Opcode::s_cmp_nge_f32, compare<25>},
    {Opcode::s_cmp_nlg_f32, compare<8>},
    {Opcode::s_cmp_ngt_f32, compare<26>},
    {Opcode::s_cmp_nle_f32, compare<22>},
    {Opcode::s_cmp_neq_f32, compare<4>},
    {Opcode::s_cmp_nlt_f32, compare<21>},
};

}  // namespace

std::span<const Entry> scalar_float_entries() {
    return entries;
}

}  // namespace wj::lift
