// Vector instructions that read or write lane masks, scalars or whole registers across lanes.
#include "interpreter/valu.h"

namespace wj::interp {

namespace {

using u32 = uint32_t;
using u64 = uint64_t;

void nothing(Wave&, const Inst&) {}

// D = mask ? S1 : S0, with the float modifiers of the VOP3 encoding.
void cndmask(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) float a_buf[lanes], b_buf[lanes];
    const float* a = load<float>(v, 0, a_buf, m, true, false);
    const float* b = load<float>(v, 1, b_buf, m, true, false);
    Row out;
    u64 mask = read_mask(w, in.src[2]);
    for (u32 l = 0; l < lanes; l += 8, mask >>= 8) {
        const __m256 r = _mm256_blendv_ps(_mm256_loadu_ps(a + l), _mm256_loadu_ps(b + l),
                                          _mm256_castsi256_ps(expand_mask8(mask & 0xff)));
        _mm256_store_ps(reinterpret_cast<float*>(out.v + l), r);
    }
    v.store32(out.v);
}

void cndmask16(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) Half a_buf[lanes], b_buf[lanes];
    const Half* a = load<Half>(v, 0, a_buf, m, true, false);
    const Half* b = load<Half>(v, 1, b_buf, m, true, false);
    const u64 mask = read_mask(w, in.src[2]);
    Row out;
    for (u32 l = 0; l < lanes; ++l) out.v[l] = (mask >> l & 1 ? b : a)[l].bits;
    v.store16(out.v, true);
}

enum class Carry { Add, Sub, SubRev };

// v_add_co & co: the carry or borrow of each lane goes to dst[1]; v_addc & co also read one from
// src[2].
template <Carry Op, bool CarryIn>
void carry(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) u32 a_buf[lanes], b_buf[lanes];
    const u32* a = load<u32>(v, Op == Carry::SubRev ? 1 : 0, a_buf, m, true, false);
    const u32* b = load<u32>(v, Op == Carry::SubRev ? 0 : 1, b_buf, m, true, false);
    alignas(64) u32 out[lanes], over[lanes], c[lanes];
    if constexpr (CarryIn) {
        u64 mask = read_mask(w, in.src[2]);
        for (u32 l = 0; l < lanes; l += 8, mask >>= 8)
            _mm256_store_si256(reinterpret_cast<__m256i*>(c + l),
                               _mm256_srli_epi32(expand_mask8(mask & 0xff), 31));
    } else {
        std::memset(c, 0, sizeof c);
    }
    for (u32 l = 0; l < lanes; ++l) {
        if constexpr (Op == Carry::Add) {
            const u32 sum = a[l] + b[l];
            out[l] = sum + c[l];
            over[l] = sum < b[l] || out[l] < sum ? ~0u : 0u;
        } else {
            out[l] = a[l] - b[l] - c[l];
            over[l] = a[l] < b[l] || (a[l] == b[l] && c[l]) ? ~0u : 0u;
        }
    }
    const u64 carries = row_signs(over);
    if (in.clamp) [[unlikely]] {
        for (u32 l = 0; l < lanes; ++l)
            if (over[l]) out[l] = Op == Carry::Add ? ~0u : 0;
    }
    v.store32(out);
    if (w.exit.kind == ExitKind::None) write_mask(w, in.dst[1], carries & v.active);
}

void readlane(Wave& w, const Inst& in) {
    const u32 lane = read_s32(w, in.src[1]) % w.size;
    write_s32(w, in.dst[0], read_lane(w, in.src[0], lane));
}
// With EXEC = 0 it reads lane 0.
void readfirstlane(Wave& w, const Inst& in) {
    const u64 exec = w.exec();
    write_s32(w, in.dst[0],
              read_lane(w, in.src[0], exec ? static_cast<u32>(__builtin_ctzll(exec)) : 0));
}
// Ignores EXEC.
void writelane(Wave& w, const Inst& in) {
    Valu v(w, in);
    if (w.exit.kind != ExitKind::None) return;
    v.dest_row()[read_s32(w, in.src[1]) % w.size] = read_s32(w, in.src[0]);
}

template <bool High>
void mbcnt(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) u32 a_buf[lanes], b_buf[lanes];
    const u32* a = load<u32>(v, 0, a_buf, m, true, false);
    const u32* b = load<u32>(v, 1, b_buf, m, true, false);
    Row out;
    for (u32 l = 0; l < lanes; ++l) {
        const u64 below = (u64{1} << l) - 1;
        out.v[l] = b[l] + static_cast<u32>(__builtin_popcount(
                              a[l] & static_cast<u32>(High ? below >> 32 : below)));
    }
    v.store32(out.v);
}

void swap_rows(Wave& w, uint32_t* a, uint32_t* b) {
    Row old;
    std::memcpy(old.v, a, sizeof old);
    write_row(a, b, w.exec());
    write_row(b, old.v, w.exec());
}
void swap(Wave& w, const Inst& in) {
    swap_rows(w, vrow(w, in.dst[0]), vrow(w, in.src[0]));
}

// The halves that OP_SEL names, of two registers or of one.
void swap16(Wave& w, const Inst& in) {
    u32 *d = vrow(w, in.dst[0]), *s = vrow(w, in.src[0]);
    const u32 to = in.op_sel >> 3 & 1 ? 16 : 0, from = in.op_sel & 1 ? 16 : 0;
    for_each_lane(w.exec(), [&](u32 l) {
        const u32 x = d[l] >> to & 0xffff, y = s[l] >> from & 0xffff;
        d[l] = (d[l] & ~(0xffffu << to)) | y << to;
        s[l] = (s[l] & ~(0xffffu << from)) | x << from;
    });
}

// Clears the exception flags of TRAPSTS.
void clrexcp(Wave& w, const Inst&) {
    w.trapsts &= ~0x1ffu;
}

// v_permlane16_swap, v_permlane32_swap: the upper rows of vdst change places with the lower rows of
// src0. EXEC is ignored, as the pseudo-code does.
template <u32 Distance>
void permlane_swap(Wave& w, const Inst& in) {
    uint32_t* d = vrow(w, in.dst[0]);
    uint32_t* s = vrow(w, in.src[0]);
    for (u32 l = 0; l < w.size; ++l)
        if (!(l & Distance) && l + Distance < w.size) std::swap(s[l], d[l + Distance]);
}

// ---- division
// -----------------------------------------------------------------------------------------

template <class T>
[[gnu::noinline]] void div_scale_run(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) T a_buf[lanes], b_buf[lanes], c_buf[lanes], out[lanes];
    const T* a = load<T>(v, 0, a_buf, m, true, false);
    const T* b = load<T>(v, 1, b_buf, m, true, false);
    const T* c = load<T>(v, 2, c_buf, m, true, false);
    u64 mask = 0;
    for_each_lane(v.active, [&](u32 l) {
        bool vcc = false;
        out[l] = gf::div_scale(m, a[l], b[l], c[l], vcc);
        mask |= u64{vcc} << l;
    });
    for_each_lane(~v.active, [&](u32 l) { out[l] = 0; });
    store<0>(v, m, out);
    if (w.exit.kind == ExitKind::None) write_mask(w, in.dst[1], mask & v.active);
}
template <class T>
void div_scale(Wave& w, const Inst& in) {
    with_rounding<T, 0>(w, in, &div_scale_run<T>);
}

template <class T>
[[gnu::noinline]] void div_fmas_run(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) T a_buf[lanes], b_buf[lanes], c_buf[lanes], out[lanes];
    const T* a = load<T>(v, 0, a_buf, m, false, false);
    const T* b = load<T>(v, 1, b_buf, m, false, false);
    const T* c = load<T>(v, 2, c_buf, m, false, false);
    const u64 vcc = w.vcc();
    for (u32 l = 0; l < lanes; ++l) out[l] = gf::div_fmas(a[l], b[l], c[l], vcc >> l & 1);
    store<0>(v, m, out);
}
template <class T>
void div_fmas(Wave& w, const Inst& in) {
    with_rounding<T, 0>(w, in, &div_fmas_run<T>);
}

// A VGPR whose number is relative; nullptr: the wave stops.
u32* moved_row(Wave& w, const Operand& o, u32 index) {
    const u64 reg = u64{o.reg} + index;
    if (reg < w.vgpr_count) return w.row(static_cast<u32>(reg));
    stop(w, ExitKind::IllegalInstruction, "v_movrel: VGPR beyond the allocation");
    return nullptr;
}
// gfx10's instructions with two numbers in M0: of the source, and of the destination.
u32 source_index(const Wave& w) {
    return w.sgpr[machine::m0] & 0x3ff;
}
u32 destination_index(const Wave& w) {
    return w.sgpr[machine::m0] >> 16 & 0x3ff;
}

void move_relative(Wave& w, const Inst& in, u32 source, u32 destination) {
    Valu v(w, in);
    u32* to = moved_row(w, in.dst[0], destination);
    Row row;
    const u32* from = row.v;
    if (is_vector(in.src[0]))
        from = moved_row(w, in.src[0], source);
    else
        for (u32& lane : row.v) lane = read_lane(w, in.src[0], 0);
    if (to && from) write_row(to, from, v.active);
}
// v_movrel*: M0 is added to the number of the source, of the destination, or of both.
template <bool Source, bool Destination>
void movrel(Wave& w, const Inst& in) {
    const u32 index = w.sgpr[machine::m0];
    move_relative(w, in, Source ? index : 0, Destination ? index : 0);
}
void movrelsd_2(Wave& w, const Inst& in) {
    move_relative(w, in, source_index(w), destination_index(w));
}
void swaprel(Wave& w, const Inst& in) {
    u32* a = moved_row(w, in.dst[0], destination_index(w));
    u32* b = moved_row(w, in.src[0], source_index(w));
    if (a && b) swap_rows(w, a, b);
}

// Each lane reads the lane of its row of 16, or of the neighbouring row, that `number` names for
// it. Lanes that are off are read where FI (op_sel[0]) is set; else they give 0 (BOUND_CTRL,
// op_sel[1]), or nothing is written.
template <bool Other, class Number>
void permute_rows(Wave& w, const Inst& in, Number number) {
    const u64 exec = w.exec(), readable = in.op_sel & 1 ? ~u64{0} : exec;
    const u32* from = vrow(w, in.src[0]);
    u32* to = vrow(w, in.dst[0]);
    Row out;
    u64 written = exec;
    for (u32 l = 0; l < lanes; ++l) {
        const u32 source = ((l & ~15u) ^ (Other ? 16 : 0)) | (number(l) & 15);
        const bool valid = readable >> source & 1;
        out.v[l] = valid ? from[source] : 0;
        if (!valid && !(in.op_sel & 2)) written &= ~(u64{1} << l);
    }
    write_row(to, out.v, written);
}
// v_permlane16_b32, v_permlanex16_b32: nibble i of S2:S1 is for lane i of each row.
template <bool Other>
void permlane16(Wave& w, const Inst& in) {
    const u64 select = read_s32(w, in.src[1]) | u64{read_s32(w, in.src[2])} << 32;
    permute_rows<Other>(w, in, [&](u32 l) { return static_cast<u32>(select >> 4 * (l & 15)); });
}
// The same with a number in each lane of S1.
template <bool Other>
void permlane16_var(Wave& w, const Inst& in) {
    const u32* numbers = vrow(w, in.src[1]);
    permute_rows<Other>(w, in, [&](u32 l) { return numbers[l]; });
}
// The halves of a wave of 64 lanes change places; lanes that are off are read, too. Waves of 32
// lanes do nothing.
void permlane64(Wave& w, const Inst& in) {
    if (w.size != lanes) return;
    const u32* from = vrow(w, in.src[0]);
    Row out;
    for (u32 l = 0; l < lanes; ++l) out.v[l] = from[l ^ 32];
    write_row(vrow(w, in.dst[0]), out.v, w.exec());
}

// gfx908 and later: AccVGPR copies.
void accvgpr_copy(Wave& w, const Inst& in) {
    Valu v(w, in);
    Row buf;
    const u32* r = buf.v;
    if (is_vector(in.src[0]))
        r = vrow(w, in.src[0]);
    else
        for (u32 l = 0; l < lanes; ++l) buf.v[l] = read_lane(w, in.src[0], 0);
    write_row(v.dest_row(), r, v.active);
}

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_nop, nothing},
    {Opcode::v_pipeflush, nothing},
    {Opcode::v_clrexcp, clrexcp},
    {Opcode::v_cndmask_b32, cndmask},
    {Opcode::v_add_co_u32, carry<Carry::Add, false>},
    {Opcode::v_sub_co_u32, carry<Carry::Sub, false>},
    {Opcode::v_subrev_co_u32, carry<Carry::SubRev, false>},
    {Opcode::v_addc_co_u32, carry<Carry::Add, true>},
    {Opcode::v_subb_co_u32, carry<Carry::Sub, true>},
    {Opcode::v_subbrev_co_u32, carry<Carry::SubRev, true>},
    {Opcode::v_readlane_b32, readlane},
    {Opcode::v_readfirstlane_b32, readfirstlane},
    {Opcode::v_writelane_b32, writelane},
    {Opcode::v_mbcnt_lo_u32_b32, mbcnt<false>},
    {Opcode::v_mbcnt_hi_u32_b32, mbcnt<true>},
    {Opcode::v_cndmask_b16, cndmask16},
    {Opcode::v_swap_b32, swap},
    {Opcode::v_swap_b16, swap16},
    {Opcode::v_movreld_b32, movrel<false, true>},
    {Opcode::v_movrels_b32, movrel<true, false>},
    {Opcode::v_movrelsd_b32, movrel<true, true>},
    {Opcode::v_movrelsd_2_b32, movrelsd_2},
    {Opcode::v_swaprel_b32, swaprel},
    {Opcode::v_permlane16_b32, permlane16<false>},
    {Opcode::v_permlanex16_b32, permlane16<true>},
    {Opcode::v_permlane16_var_b32, permlane16_var<false>},
    {Opcode::v_permlanex16_var_b32, permlane16_var<true>},
    {Opcode::v_permlane64_b32, permlane64},
    {Opcode::v_permlane16_swap_b32, permlane_swap<16>},
    {Opcode::v_permlane32_swap_b32, permlane_swap<32>},
    {Opcode::v_div_scale_f32, div_scale<float>},
    {Opcode::v_div_scale_f64, div_scale<double>},
    {Opcode::v_div_fmas_f32, div_fmas<float>},
    {Opcode::v_div_fmas_f64, div_fmas<double>},
    {Opcode::v_accvgpr_read_b32, accvgpr_copy},
    {Opcode::v_accvgpr_write_b32, accvgpr_copy},
    {Opcode::v_accvgpr_mov_b32, accvgpr_copy},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop_special_handlers() {
    return table;
}

}  // namespace wj::interp
