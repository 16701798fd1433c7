// Sources of packed and mixed-precision instructions (VOP3P).
#pragma once

#include "interpreter/valu.h"

namespace wj::interp {

// One half of a 16-bit source: op_sel picks it for the low result, op_sel_hi for the high one; neg
// and neg_hi likewise. (v_pk_fmac_f16 is a VOP2 and has no op_sel: the high result is of the high
// halves, as is what is added to the old destination.)
struct PackedHalf {
    uint32_t shift, sign;
    PackedHalf(const Inst& in, uint32_t i, uint32_t half, bool is_addend, bool is_float) {
        const bool upper = is_addend || in.format == Format::VOP2
                               ? half
                               : (half ? in.op_sel_hi : in.op_sel) >> i & 1;
        shift = upper ? 16 : 0;
        sign = is_float && !is_addend && (half ? in.neg_hi : in.neg) >> i & 1 ? 0x8000 : 0;
    }
    template <class T>
    T of(uint32_t dword) const {
        return std::bit_cast<T>(static_cast<uint16_t>(dword >> shift ^ sign));
    }
};

// Dword and sign of one half of a packed f32 source: a register of the pair, or the same half of a
// 64-bit constant.
struct PackedSingle {
    uint32_t dword, sign;
    PackedSingle(const Inst& in, uint32_t i, uint32_t half)
        : dword((half ? in.op_sel_hi : in.op_sel) >> i & 1),
          sign((half ? in.neg_hi : in.neg) >> i & 1 ? 0x80000000u : 0) {}
};

// v_mad_mix, v_fma_mix: op_sel_hi says that source i is f16, op_sel which half of it.
inline bool mix_is_half(const Inst& in, uint32_t i) {
    return in.op_sel_hi >> i & 1;
}
inline Half mix_half(const Inst& in, uint32_t i, uint32_t dword) {
    return Half{static_cast<uint16_t>(in.op_sel >> i & 1 ? dword >> 16 : dword)};
}

// neg_hi means absolute value here. 16-bit sources of v_mad_mix are always flushed (Mesa's ACO:
// "v_mad_mix* on GFX9 always flushes denormals for 16-bit inputs/outputs"), those of v_fma_mix by
// the f32 field of MODE (measured on gfx90a and gfx950: llvm-project#205101).
template <bool Fused>
float mix_source(const Inst& in, uint32_t i, uint32_t dword, const FloatMode& m) {
    uint32_t b = dword;
    const bool is_half = mix_is_half(in, i);
    float x;
    if (is_half) {
        const Half h = mix_half(in, i, dword);
        x = gf::to_float(Fused && m.keeps_inputs<float>() ? h : gf::flush(h));
    } else {
        x = std::bit_cast<float>(b);
    }
    b = std::bit_cast<uint32_t>(x);
    if ((in.neg_hi | in.abs) >> i & 1) b &= 0x7fffffffu;
    if (in.neg >> i & 1) b ^= 0x80000000u;
    x = std::bit_cast<float>(b);
    return is_half ? x : gf::flush_in(m, x);
}

enum class MixTo { F32, Low, High };

}  // namespace wj::interp
