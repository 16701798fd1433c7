// Scalar ALU: SOP1, SOP2, SOPC, SOPK without control flow and hardware registers (sopp.cpp).
#include <type_traits>

#include "interpreter/internal.h"

namespace wj::interp {

namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

template <class T>
T read(const Wave& w, const Operand& o) {
    if constexpr (sizeof(T) == 8)
        return static_cast<T>(read_s64(w, o));
    else
        return static_cast<T>(read_s32(w, o));
}
template <class T>
void write(Wave& w, const Operand& o, T v) {
    if constexpr (sizeof(T) == 8)
        write_s64(w, o, static_cast<u64>(v));
    else
        write_s32(w, o, static_cast<u32>(v));
}

template <class F>
struct Call : Call<decltype(&F::operator())> {};
template <class C, class R, class A>
struct Call<R (C::*)(A) const> {
    using Result = R;
    static R run(auto f, const Wave& w, const Inst& in) { return f(read<A>(w, in.src[0])); }
};
template <class C, class R, class A, class B>
struct Call<R (C::*)(A, B) const> {
    using Result = R;
    static R run(auto f, const Wave& w, const Inst& in) {
        return f(read<A>(w, in.src[0]), read<B>(w, in.src[1]));
    }
};

// D = F(S...), SCC as it was.
template <auto F>
void op(Wave& w, const Inst& in) {
    write(w, in.dst[0], Call<decltype(F)>::run(F, w, in));
}
// D = F(S...), SCC = D != 0.
template <auto F>
void op_scc(Wave& w, const Inst& in) {
    const auto r = Call<decltype(F)>::run(F, w, in);
    write(w, in.dst[0], r);
    w.scc = r != 0;
}
// SCC = F(S...).
template <auto F>
void compare(Wave& w, const Inst& in) {
    w.scc = Call<decltype(F)>::run(F, w, in);
}

template <class T>
constexpr T shr(T x, u32 n) {
    return static_cast<T>(x >> n);
}

// Additions and subtractions set SCC to the carry (unsigned) or the overflow (signed).
template <class T, bool Sub, bool CarryIn>
void add_sub(Wave& w, const Inst& in) {
    const i64 a = read<T>(w, in.src[0]), b = read<T>(w, in.src[1]);
    const i64 c = CarryIn ? w.scc : 0;
    const i64 r = Sub ? a - b - c : a + b + c;
    w.scc = r != static_cast<i64>(static_cast<T>(r));
    write(w, in.dst[0], static_cast<T>(r));
}
template <u32 Shift>
void shift_add(Wave& w, const Inst& in) {
    const u64 r = (u64{read_s32(w, in.src[0])} << Shift) + read_s32(w, in.src[1]);
    w.scc = r >> 32 != 0;
    write_s32(w, in.dst[0], static_cast<u32>(r));
}
template <class T, bool Max>
void min_max(Wave& w, const Inst& in) {
    const T a = read<T>(w, in.src[0]), b = read<T>(w, in.src[1]);
    w.scc = Max ? a >= b : a < b;
    write(w, in.dst[0], w.scc ? a : b);
}
template <class T>
void cselect(Wave& w, const Inst& in) {
    write(w, in.dst[0], read<T>(w, in.src[w.scc ? 0 : 1]));
}
template <class T>
void cmov(Wave& w, const Inst& in) {
    if (w.scc) write(w, in.dst[0], read<T>(w, in.src[0]));
}

template <class T>
T bfe(T x, u32 control) {
    using U = std::make_unsigned_t<T>;
    constexpr u32 bits = sizeof(T) * 8;
    const u32 offset = control & (bits - 1), width = control >> 16 & 127;
    const T shifted = static_cast<T>(x >> offset);
    if (width == 0) return 0;
    if (width >= bits) return shifted;
    return static_cast<T>(static_cast<T>(static_cast<U>(shifted) << (bits - width)) >>
                          (bits - width));
}
template <class T>
T brev(T x) {
    T r = 0;
    for (u32 i = 0; i < sizeof(T) * 8; ++i) r = static_cast<T>(r << 1 | (x >> i & 1));
    return r;
}
template <class T>
T wqm(T x) {
    T any = x | x >> 1;
    any |= any >> 2;
    any &= static_cast<T>(0x1111111111111111ull);
    return static_cast<T>(any * 15);
}
template <class T>
T quadmask(T x) {
    T r = 0;
    for (u32 i = 0; i < sizeof(T) * 2; ++i) r |= static_cast<T>((x >> (4 * i) & 15) != 0) << i;
    return r;
}
u64 bitreplicate(u32 x) {
    u64 r = 0;
    for (u32 i = 0; i < 32; ++i) r |= (x >> i & 1 ? u64{3} : 0) << (2 * i);
    return r;
}
template <class T>
i32 first_one(T x) {
    return x ? __builtin_ctzll(x) : -1;
}
template <class T>
i32 leading(T x) {
    return x ? __builtin_clzll(x) - (sizeof(T) == 4 ? 32 : 0) : -1;
}
template <class T>
i32 leading_sign(std::make_signed_t<T> x) {
    return leading<T>(static_cast<T>(x ^ (x >> (sizeof(T) * 8 - 1))));
}

template <class T, bool Set>
void bitset(Wave& w, const Inst& in) {
    const T bit = T{1} << (read_s32(w, in.src[0]) & (sizeof(T) * 8 - 1));
    const T d = read<T>(w, in.dst[0]);
    write(w, in.dst[0], static_cast<T>(Set ? d | bit : d & ~bit));
}

// D = EXEC; EXEC = F(S0, EXEC); SCC = EXEC != 0. T: of 32 or 64 bits, whatever the wave's size.
template <class T, auto F, bool ReturnNew = false>
void saveexec(Wave& w, const Inst& in) {
    Operand exec;
    exec.kind = Operand::Kind::Sgpr;
    exec.reg = machine::exec_lo;
    const T old = read<T>(w, exec), now = F(read<T>(w, in.src[0]), old);
    write(w, exec, now);
    write(w, in.dst[0], ReturnNew ? now : old);
    w.scc = now != 0;
}

// Registers that relative numbers may reach.
u32 sgprs(const Wave& w) {
    const u32 count = traits(w).scalar_registers.count;
    return w.sgpr_count ? std::min(w.sgpr_count, count) : count;
}

// s_movrel*: M0 is added to the register number.
template <class T, bool Source>
void movrel(Wave& w, const Inst& in) {
    const Operand& base = Source ? in.src[0] : in.dst[0];
    const u64 index = u64{base.reg} + w.sgpr[machine::m0];
    if (base.kind != Operand::Kind::Sgpr || index + sizeof(T) / 4 > sgprs(w)) {
        return stop(w, ExitKind::IllegalInstruction, "s_movrel: SGPR beyond the allocation");
    }
    Operand moved = base;
    moved.reg = static_cast<uint16_t>(index);
    if (Source)
        write(w, in.dst[0], read<T>(w, moved));
    else
        write(w, moved, read<T>(w, in.src[0]));
}

// s_movrelsd_2_b32: two numbers in M0, of the source and of the destination.
void movrelsd_2(Wave& w, const Inst& in) {
    const u32 m0 = w.sgpr[machine::m0];
    Operand from = in.src[0], to = in.dst[0];
    const u64 source = u64{from.reg} + (m0 & 0x3ff), destination = u64{to.reg} + (m0 >> 16 & 0x3ff);
    if (!from.is(Operand::Kind::Sgpr) || !to.is(Operand::Kind::Sgpr) || source >= sgprs(w) ||
        destination >= sgprs(w))
        return stop(w, ExitKind::IllegalInstruction, "s_movrel: SGPR beyond the allocation");
    from.reg = static_cast<uint16_t>(source);
    to.reg = static_cast<uint16_t>(destination);
    write_s32(w, to, read_s32(w, from));
}

// SOPK: the immediate is sign-extended for the signed forms, zero-extended for the unsigned.
u32 simm(const Operand& o) {
    return static_cast<u32>(static_cast<i32>(static_cast<int16_t>(o.value)));
}
template <auto F>
void cmpk_i(Wave& w, const Inst& in) {
    w.scc = F(static_cast<i32>(read_s32(w, in.src[0])), static_cast<i32>(simm(in.src[1])));
}
template <auto F>
void cmpk_u(Wave& w, const Inst& in) {
    w.scc = F(read_s32(w, in.src[0]), static_cast<u32>(in.src[1].value & 0xffff));
}

constexpr auto eq = [](auto a, auto b) { return a == b; };
constexpr auto ne = [](auto a, auto b) { return a != b; };
constexpr auto gt = [](auto a, auto b) { return b < a; };
constexpr auto ge = [](auto a, auto b) { return !(a < b); };
constexpr auto lt = [](auto a, auto b) { return a < b; };
constexpr auto le = [](auto a, auto b) { return !(b < a); };

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::s_mov_b32, op<[](u32 a) { return a; }>},
    {Opcode::s_mov_b64, op<[](u64 a) { return a; }>},
    {Opcode::s_cmov_b32, cmov<u32>},
    {Opcode::s_cmov_b64, cmov<u64>},
    {Opcode::s_not_b32, op_scc<[](u32 a) { return ~a; }>},
    {Opcode::s_not_b64, op_scc<[](u64 a) { return ~a; }>},
    {Opcode::s_wqm_b32, op_scc<[](u32 a) { return wqm(a); }>},
    {Opcode::s_wqm_b64, op_scc<[](u64 a) { return wqm(a); }>},
    {Opcode::s_brev_b32, op<[](u32 a) { return brev(a); }>},
    {Opcode::s_brev_b64, op<[](u64 a) { return brev(a); }>},
    {Opcode::s_bcnt0_i32_b32, op_scc<[](u32 a) { return 32 - __builtin_popcount(a); }>},
    {Opcode::s_bcnt0_i32_b64, op_scc<[](u64 a) { return 64 - __builtin_popcountll(a); }>},
    {Opcode::s_bcnt1_i32_b32, op_scc<[](u32 a) { return __builtin_popcount(a); }>},
    {Opcode::s_bcnt1_i32_b64, op_scc<[](u64 a) { return __builtin_popcountll(a); }>},
    {Opcode::s_ff0_i32_b32, op<[](u32 a) { return first_one<u32>(~a); }>},
    {Opcode::s_ff0_i32_b64, op<[](u64 a) { return first_one<u64>(~a); }>},
    {Opcode::s_ff1_i32_b32, op<[](u32 a) { return first_one<u32>(a); }>},
    {Opcode::s_ff1_i32_b64, op<[](u64 a) { return first_one<u64>(a); }>},
    {Opcode::s_flbit_i32_b32, op<[](u32 a) { return leading<u32>(a); }>},
    {Opcode::s_flbit_i32_b64, op<[](u64 a) { return leading<u64>(a); }>},
    {Opcode::s_flbit_i32, op<[](i32 a) { return leading_sign<u32>(a); }>},
    {Opcode::s_flbit_i32_i64, op<[](i64 a) { return leading_sign<u64>(a); }>},
    {Opcode::s_sext_i32_i8, op<[](u32 a) { return static_cast<i32>(static_cast<int8_t>(a)); }>},
    {Opcode::s_sext_i32_i16, op<[](u32 a) { return static_cast<i32>(static_cast<int16_t>(a)); }>},
    {Opcode::s_bitset0_b32, bitset<u32, false>},
    {Opcode::s_bitset0_b64, bitset<u64, false>},
    {Opcode::s_bitset1_b32, bitset<u32, true>},
    {Opcode::s_bitset1_b64, bitset<u64, true>},
    {Opcode::s_and_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return s & e; }>},
    {Opcode::s_and_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return s & e; }>},
    {Opcode::s_or_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return s | e; }>},
    {Opcode::s_or_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return s | e; }>},
    {Opcode::s_xor_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return s ^ e; }>},
    {Opcode::s_xor_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return s ^ e; }>},
    {Opcode::s_andn2_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return s & ~e; }>},
    {Opcode::s_andn2_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return s & ~e; }>},
    {Opcode::s_orn2_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return s | ~e; }>},
    {Opcode::s_orn2_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return s | ~e; }>},
    {Opcode::s_nand_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return ~(s & e); }>},
    {Opcode::s_nand_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return ~(s & e); }>},
    {Opcode::s_nor_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return ~(s | e); }>},
    {Opcode::s_nor_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return ~(s | e); }>},
    {Opcode::s_xnor_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return ~(s ^ e); }>},
    {Opcode::s_xnor_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return ~(s ^ e); }>},
    {Opcode::s_andn1_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return ~s & e; }>},
    {Opcode::s_andn1_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return ~s & e; }>},
    {Opcode::s_orn1_saveexec_b64, saveexec<u64, [](u64 s, u64 e) { return ~s | e; }>},
    {Opcode::s_orn1_saveexec_b32, saveexec<u32, [](u32 s, u32 e) { return ~s | e; }>},
    {Opcode::s_andn1_wrexec_b64, saveexec<u64, [](u64 s, u64 e) { return ~s & e; }, true>},
    {Opcode::s_andn1_wrexec_b32, saveexec<u32, [](u32 s, u32 e) { return ~s & e; }, true>},
    {Opcode::s_andn2_wrexec_b64, saveexec<u64, [](u64 s, u64 e) { return s & ~e; }, true>},
    {Opcode::s_andn2_wrexec_b32, saveexec<u32, [](u32 s, u32 e) { return s & ~e; }, true>},
    {Opcode::s_quadmask_b32, op_scc<[](u32 a) { return quadmask(a); }>},
    {Opcode::s_quadmask_b64, op_scc<[](u64 a) { return quadmask(a); }>},
    {Opcode::s_movrels_b32, movrel<u32, true>},
    {Opcode::s_movrels_b64, movrel<u64, true>},
    {Opcode::s_movreld_b32, movrel<u32, false>},
    {Opcode::s_movrelsd_2_b32, movrelsd_2},
    {Opcode::s_movreld_b64, movrel<u64, false>},
    {Opcode::s_abs_i32, op_scc<[](i32 a) { return a < 0 ? 0u - static_cast<u32>(a) : static_cast<u32>(a); }>},
    {Opcode::s_bitreplicate_b64_b32, op<[](u32 a) { return bitreplicate(a); }>},

    {Opcode::s_add_u32, add_sub<u32, false, false>},
    {Opcode::s_sub_u32, add_sub<u32, true, false>},
    {Opcode::s_add_i32, add_sub<i32, false, false>},
    {Opcode::s_sub_i32, add_sub<i32, true, false>},
    {Opcode::s_addc_u32, add_sub<u32, false, true>},
    {Opcode::s_subb_u32, add_sub<u32, true, true>},
    {Opcode::s_min_i32, min_max<i32, false>},
    {Opcode::s_min_u32, min_max<u32, false>},
    {Opcode::s_max_i32, min_max<i32, true>},
    {Opcode::s_max_u32, min_max<u32, true>},
    {Opcode::s_cselect_b32, cselect<u32>},
    {Opcode::s_cselect_b64, cselect<u64>},
    {Opcode::s_and_b32, op_scc<[](u32 a, u32 b) { return a & b; }>},
    {Opcode::s_and_b64, op_scc<[](u64 a, u64 b) { return a & b; }>},
    {Opcode::s_or_b32, op_scc<[](u32 a, u32 b) { return a | b; }>},
    {Opcode::s_or_b64, op_scc<[](u64 a, u64 b) { return a | b; }>},
    {Opcode::s_xor_b32, op_scc<[](u32 a, u32 b) { return a ^ b; }>},
    {Opcode::s_xor_b64, op_scc<[](u64 a, u64 b) { return a ^ b; }>},
    {Opcode::s_andn2_b32, op_scc<[](u32 a, u32 b) { return a & ~b; }>},
    {Opcode::s_andn2_b64, op_scc<[](u64 a, u64 b) { return a & ~b; }>},
    {Opcode::s_orn2_b32, op_scc<[](u32 a, u32 b) { return a | ~b; }>},
    {Opcode::s_orn2_b64, op_scc<[](u64 a, u64 b) { return a | ~b; }>},
    {Opcode::s_nand_b32, op_scc<[](u32 a, u32 b) { return ~(a & b); }>},
    {Opcode::s_nand_b64, op_scc<[](u64 a, u64 b) { return ~(a & b); }>},
    {Opcode::s_nor_b32, op_scc<[](u32 a, u32 b) { return ~(a | b); }>},
    {Opcode::s_nor_b64, op_scc<[](u64 a, u64 b) { return ~(a | b); }>},
    {Opcode::s_xnor_b32, op_scc<[](u32 a, u32 b) { return ~(a ^ b); }>},
    {Opcode::s_xnor_b64, op_scc<[](u64 a, u64 b) { return ~(a ^ b); }>},
    {Opcode::s_lshl_b32, op_scc<[](u32 a, u32 b) { return a << (b & 31); }>},
    {Opcode::s_lshl_b64, op_scc<[](u64 a, u32 b) { return a << (b & 63); }>},
    {Opcode::s_lshr_b32, op_scc<[](u32 a, u32 b) { return shr(a, b & 31); }>},
    {Opcode::s_lshr_b64, op_scc<[](u64 a, u32 b) { return shr(a, b & 63); }>},
    {Opcode::s_ashr_i32, op_scc<[](i32 a, u32 b) { return shr(a, b & 31); }>},
    {Opcode::s_ashr_i64, op_scc<[](i64 a, u32 b) { return shr(a, b & 63); }>},
    {Opcode::s_bfm_b32, op<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>},
    {Opcode::s_bfm_b64, op<[](u32 a, u32 b) { return ((u64{1} << (a & 63)) - 1) << (b & 63); }>},
    {Opcode::s_mul_i32, op<[](u32 a, u32 b) { return a * b; }>},
    {Opcode::s_mul_hi_u32, op<[](u32 a, u32 b) { return static_cast<u32>(shr(u64{a} * b, 32)); }>},
    {Opcode::s_mul_hi_i32, op<[](i32 a, i32 b) { return static_cast<i32>(shr(i64{a} * b, 32)); }>},
    {Opcode::s_bfe_u32, op_scc<[](u32 a, u32 b) { return bfe(a, b); }>},
    {Opcode::s_bfe_i32, op_scc<[](i32 a, u32 b) { return bfe(a, b); }>},
    {Opcode::s_bfe_u64, op_scc<[](u64 a, u32 b) { return bfe(a, b); }>},
    {Opcode::s_bfe_i64, op_scc<[](i64 a, u32 b) { return bfe(a, b); }>},
    {Opcode::s_absdiff_i32, op_scc<[](u32 a, u32 b) {
         const u32 d = a - b;   // the difference wraps before its sign is looked at
         return static_cast<i32>(d) < 0 ? 0u - d : d;
     }>},
    {Opcode::s_lshl1_add_u32, shift_add<1>},
    {Opcode::s_lshl2_add_u32, shift_add<2>},
    {Opcode::s_lshl3_add_u32, shift_add<3>},
    {Opcode::s_lshl4_add_u32, shift_add<4>},
    {Opcode::s_pack_ll_b32_b16, op<[](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>},
    {Opcode::s_pack_lh_b32_b16, op<[](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000u); }>},
    {Opcode::s_pack_hl_b32_b16, op<[](u32 a, u32 b) { return shr(a, 16) | b << 16; }>},
    {Opcode::s_add_nc_u64, op<[](u64 a, u64 b) { return a + b; }>},
    {Opcode::s_sub_nc_u64, op<[](u64 a, u64 b) { return a - b; }>},
    {Opcode::s_mul_u64, op<[](u64 a, u64 b) { return a * b; }>},
    {Opcode::s_pack_hh_b32_b16, op<[](u32 a, u32 b) { return shr(a, 16) | (b & 0xffff0000u); }>},

    {Opcode::s_cmp_eq_i32, compare<[](i32 a, i32 b) { return a == b; }>},
    {Opcode::s_cmp_lg_i32, compare<[](i32 a, i32 b) { return a != b; }>},
    {Opcode::s_cmp_gt_i32, compare<[](i32 a, i32 b) { return b < a; }>},
    {Opcode::s_cmp_ge_i32, compare<[](i32 a, i32 b) { return !(a < b); }>},
    {Opcode::s_cmp_lt_i32, compare<[](i32 a, i32 b) { return a < b; }>},
    {Opcode::s_cmp_le_i32, compare<[](i32 a, i32 b) { return !(b < a); }>},
    {Opcode::s_cmp_eq_u32, compare<[](u32 a, u32 b) { return a == b; }>},
    {Opcode::s_cmp_lg_u32, compare<[](u32 a, u32 b) { return a != b; }>},
    {Opcode::s_cmp_gt_u32, compare<[](u32 a, u32 b) { return b < a; }>},
    {Opcode::s_cmp_ge_u32, compare<[](u32 a, u32 b) { return !(a < b); }>},
    {Opcode::s_cmp_lt_u32, compare<[](u32 a, u32 b) { return a < b; }>},
    {Opcode::s_cmp_le_u32, compare<[](u32 a, u32 b) { return !(b < a); }>},
    {Opcode::s_cmp_eq_u64, compare<[](u64 a, u64 b) { return a == b; }>},
    {Opcode::s_cmp_lg_u64, compare<[](u64 a, u64 b) { return a != b; }>},
    {Opcode::s_bitcmp0_b32, compare<[](u32 a, u32 b) { return !(shr(a, b & 31) & 1); }>},
    {Opcode::s_bitcmp1_b32, compare<[](u32 a, u32 b) { return (shr(a, b & 31) & 1) != 0; }>},
    {Opcode::s_bitcmp0_b64, compare<[](u64 a, u32 b) { return !(shr(a, b & 63) & 1); }>},
    {Opcode::s_bitcmp1_b64, compare<[](u64 a, u32 b) { return (shr(a, b & 63) & 1) != 0; }>},

    {Opcode::s_movk_i32, [](Wave& w, const Inst& in) { write_s32(w, in.dst[0], simm(in.src[0])); }},
    {Opcode::s_cmovk_i32, [](Wave& w, const Inst& in) { if (w.scc) write_s32(w, in.dst[0], simm(in.src[0])); }},
    {Opcode::s_cmpk_eq_i32, cmpk_i<eq>},
    {Opcode::s_cmpk_lg_i32, cmpk_i<ne>},
    {Opcode::s_cmpk_gt_i32, cmpk_i<gt>},
    {Opcode::s_cmpk_ge_i32, cmpk_i<ge>},
    {Opcode::s_cmpk_lt_i32, cmpk_i<lt>},
    {Opcode::s_cmpk_le_i32, cmpk_i<le>},
    {Opcode::s_cmpk_eq_u32, cmpk_u<eq>},
    {Opcode::s_cmpk_lg_u32, cmpk_u<ne>},
    {Opcode::s_cmpk_gt_u32, cmpk_u<gt>},
    {Opcode::s_cmpk_ge_u32, cmpk_u<ge>},
    {Opcode::s_cmpk_lt_u32, cmpk_u<lt>},
    {Opcode::s_cmpk_le_u32, cmpk_u<le>},
    {Opcode::s_addk_i32, [](Wave& w, const Inst& in) {
         const i64 r = i64{static_cast<i32>(read_s32(w, in.dst[0]))} + static_cast<i32>(simm(in.src[0]));
         w.scc = r != static_cast<i32>(r);
         write_s32(w, in.dst[0], static_cast<u32>(r));
     }},
    {Opcode::s_mulk_i32, [](Wave& w, const Inst& in) {
         write_s32(w, in.dst[0], read_s32(w, in.dst[0]) * simm(in.src[0]));
     }},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> sop_handlers() {
    return table;
}

}  // namespace wj::interp
