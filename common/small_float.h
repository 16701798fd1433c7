// Floats of 4 to 16 bits and their conversions (gfx940, gfx950).
#pragma once

#include <cstdint>

namespace wj::gf {

struct SmallFormat {
    int exponent_bits, mantissa_bits, bias;
    uint32_t max_code;   // largest finite magnitude
    uint32_t inf_code;   // 0: the format has none
    uint32_t nan_code;   // 0: the format has none
    bool unsigned_zero;  // FNUZ: the code of -0 is NaN
    constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
};

inline constexpr SmallFormat fp8_fnuz{4, 3, 8, 0x7f, 0, 0x80, true};
inline constexpr SmallFormat bf8_fnuz{5, 2, 16, 0x7f, 0, 0x80, true};
inline constexpr SmallFormat fp8_ocp{4, 3, 7, 0x7e, 0, 0x7f, false};
inline constexpr SmallFormat bf8_ocp{5, 2, 15, 0x7b, 0x7c, 0x7f, false};
inline constexpr SmallFormat fp6{2, 3, 1, 0x1f, 0, 0, false};
inline constexpr SmallFormat bf6{3, 2, 3, 0x1f, 0, 0, false};
inline constexpr SmallFormat fp4{2, 1, 1, 0x7, 0, 0, false};
inline constexpr SmallFormat half_format{5, 10, 15, 0x7bff, 0x7c00, 0x7e00, false};
inline constexpr SmallFormat bfloat_format{8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false};

// Exact. NaN is 0x7fc00000 of an f32.
double decode_small(const SmallFormat& f, uint32_t code);

// Rounds to nearest even, or adds `random` / 2^32 of a unit and truncates when `stochastic`. Beyond
// the largest value: that value when `saturate` or when the format has neither infinity nor NaN,
// else infinity, else NaN. NaN without a code for it becomes the largest value.
uint32_t encode_small(const SmallFormat& f, double x, bool saturate, bool stochastic = false,
                      uint32_t random = 0);

}  // namespace wj::gf
