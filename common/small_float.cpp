#include "common/small_float.h"

#include <bit>
#include <cmath>

namespace wj::gf {

double decode_small(const SmallFormat& f, uint32_t code) {
    const int magnitude_bits = f.exponent_bits + f.mantissa_bits;
    const uint32_t magnitude = code & ((1u << magnitude_bits) - 1);
    const bool negative = code >> magnitude_bits & 1;
    const double nan = std::bit_cast<double>(uint64_t{0x7ff8} << 48);
    if (f.unsigned_zero && negative && magnitude == 0) return nan;
    if (!f.unsigned_zero && f.nan_code != 0 && magnitude > f.max_code) {
        if (f.inf_code == 0 || magnitude != f.inf_code) return nan;
        return negative ? -HUGE_VAL : HUGE_VAL;
    }
    const int e = static_cast<int>(magnitude >> f.mantissa_bits);
    const uint32_t m = magnitude & ((1u << f.mantissa_bits) - 1);
    const double x = e ? std::ldexp(m | 1u << f.mantissa_bits, e - f.bias - f.mantissa_bits)
                       : std::ldexp(m, 1 - f.bias - f.mantissa_bits);
    return negative ? -x : x;
}

uint32_t encode_small(const SmallFormat& f, double x, bool saturate, bool stochastic,
                      uint32_t random) {
    const uint32_t sign = std::signbit(x) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
    if (std::isnan(x))
        return f.nan_code == 0   ? sign | f.max_code
               : f.unsigned_zero ? f.nan_code
                                 : sign | f.nan_code;
    const auto beyond = [&]() -> uint32_t {
        if (saturate || f.nan_code == 0) return sign | f.max_code;
        if (f.inf_code) return sign | f.inf_code;
        return f.unsigned_zero ? f.nan_code : sign | f.nan_code;
    };
    const double a = std::fabs(x);
    if (std::isinf(a)) return beyond();
    if (a == 0) return f.unsigned_zero ? 0 : sign;
    int e = std::ilogb(a);
    if (e < 1 - f.bias) e = 1 - f.bias;
    const double scaled = std::ldexp(a, f.mantissa_bits - e);  // exact
    const double whole = std::floor(scaled), rest = scaled - whole;
    uint64_t n = static_cast<uint64_t>(whole);
    if (stochastic)
        n += rest + random * 0x1p-32 >= 1.0;
    else
        n += rest > 0.5 || (rest == 0.5 && (n & 1));
    if (n >> (f.mantissa_bits + 1)) {
        n >>= 1;
        ++e;
    }
    const uint64_t hidden = uint64_t{1} << f.mantissa_bits;
    if (n < hidden) return n == 0 && f.unsigned_zero ? 0 : sign | static_cast<uint32_t>(n);
    const int64_t code =
        static_cast<int64_t>(e + f.bias) << f.mantissa_bits | static_cast<int64_t>(n - hidden);
    return code > static_cast<int64_t>(f.max_code) ? beyond() : sign | static_cast<uint32_t>(code);
}

}  // namespace wj::gf
