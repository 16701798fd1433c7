// Operands of 4 to 8 bits in a format that the instruction names (gfx950's v_mfma_*_f8f6f4,
// gfx12.5's v_wmma_*_f8f6f4): formats of the OCP's microscaling specification.
#pragma once

#include "common/small_float.h"
#include "interpreter/internal.h"

namespace wj::interp {

inline constexpr uint32_t mx_fp4 = 4;  // the codes below are fp8, bf8, fp6 and bf6

inline const gf::SmallFormat& mx_format(uint32_t code) {
    static constexpr const gf::SmallFormat* formats[] = {&gf::fp8_ocp, &gf::bf8_ocp, &gf::fp6,
                                                         &gf::bf6, &gf::fp4};
    return *formats[code <= mx_fp4 ? code : 0];
}

// A scale.
inline float e8m0(uint32_t code) {
    return code == 255 ? gf::from_bits<float>(0x7fc00000)
                       : gf::ldexp(1.0f, static_cast<int32_t>(code) - 127);
}

// Element `item` of a lane's.
inline float mx_element(Wave& w, const Operand& o, uint32_t lane, uint32_t item,
                        const gf::SmallFormat& f) {
    const auto width = static_cast<uint32_t>(f.width());
    const uint32_t at = width * item;
    uint64_t raw = read_lane(w, o, lane, at / 32);
    if (at % 32 + width > 32) raw |= uint64_t{read_lane(w, o, lane, at / 32 + 1)} << 32;
    return static_cast<float>(
        gf::decode_small(f, static_cast<uint32_t>(raw >> (at % 32)) & ((1u << width) - 1)));
}

// The k of element t of lane group g. A group has 32 in a row of the formats of 4 and 6 bits, 16 of
// those of 8 bits, and then the same of the next part of k (gfx950: test/mx_mfma_op of
// ROCm/composable_kernel, which runs on hardware; gfx12.5: CDNA5 ISA, 7.12.6.1).
template <uint32_t Groups>
uint32_t mx_k(const gf::SmallFormat& f, uint32_t g, uint32_t t) {
    const uint32_t row = f.width() == 8 ? 16 : 32;
    return row * g + t % row + row * Groups * (t / row);
}

}  // namespace wj::interp
