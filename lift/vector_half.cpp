// f16 arithmetic: widened to f32, which is exact for one add, subtract or multiply followed by
// rounding (24 >= 2 * 11 + 2 significand bits). Fused multiply-adds would round twice and stay with
// the interpreter.
#include "lift/lifter.h"

namespace wj::lift {
namespace {

bool plain(const Lifter& l, const Inst& i) {
    return l.round64() && l.denorm64() && !i.clamp && !i.omod && !i.op_sel &&
           i.variant != Variant::Sdwa && !(l.options.mode & machine::mode::fp16_ovfl);
}

Value narrow(Lifter& l, Value v) {
    return l.emit(Op::CvtF32ToF16, {v});
}

template <Op op, bool swap = false>
bool bin16(Lifter& l, const Inst& i) {
    if (!plain(l, i)) return false;
    l.set_v32(i, narrow(l, l.emit(op, {l.f16(i, swap, false), l.f16(i, !swap, false)})));
    return true;
}

Value packed_half(Lifter& l, const Inst& i, uint32_t n, bool high) {
    Value v = l.raw(i.src[n]);
    if ((high ? i.op_sel_hi : i.op_sel) >> n & 1) v = l.emit(Op::Shr32, {v, l.c32(16)});
    v = l.emit(Op::CvtF16ToF32, {v});
    if ((high ? i.neg_hi : i.neg) >> n & 1) v = l.emit(Op::Xor32, {v, l.c32(0x80000000)});
    return v;
}

template <Op op>
bool packed16(Lifter& l, const Inst& i) {
    if (!l.round64() || !l.denorm64() || i.clamp || (l.options.mode & machine::mode::fp16_ovfl))
        return false;
    Value r[2];
    for (bool high : {false, true})
        r[high] = narrow(l, l.emit(op, {packed_half(l, i, 0, high), packed_half(l, i, 1, high)}));
    l.set_v32(i, l.emit(Op::Or32, {r[0], l.emit(Op::Shl32, {r[1], l.c32(16)})}));
    return true;
}

bool f32_to_f16(Lifter& l, const Inst& i) {
    if (!plain(l, i)) return false;
    l.set_v32(i, narrow(l, l.f32(i, 0)));
    return true;
}

bool f16_to_f32(Lifter& l, const Inst& i) {
    if (!l.denorm64() || i.op_sel || i.variant == Variant::Sdwa) return false;
    return l.set_f32(i, l.f16(i, 0, false));
}

constexpr Entry entries[] = {
    {Opcode::v_add_f16, bin16<Op::FAdd32>},
    {Opcode::v_sub_f16, bin16<Op::FSub32>},
    {Opcode::v_subrev_f16, bin16<Op::FSub32, true>},
    {Opcode::v_mul_f16, bin16<Op::FMul32>},
    {Opcode::v_pk_add_f16, packed16<Op::FAdd32>},
    {Opcode::v_pk_mul_f16, packed16<Op::FMul32>},
    {Opcode::v_cvt_f16_f32, f32_to_f16},
    {Opcode::v_cvt_f32_f16, f16_to_f32},
};

}  // namespace

std::span<const Entry> vector_half_entries() {
    return entries;
}

}  // namespace wj::lift
