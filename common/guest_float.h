// Guest floating point: the one definition of every rounding, NaN and denormal rule
// (docs/reference/float.md).
//
// Arithmetic is done by x86 instructions named one by one, so that translated code that uses the
// vector forms of the same instructions gives the same bits:
//   add/sub/mul/div   vaddss & co with src0 as the first operand: the first NaN operand wins,
//   quieted fma               vfmadd231 (or 213) with src0 as the instruction's second operand:
//   src0, src1, src2
// An invalid operation gives 0xffc00000 (as v_div_fixup documents for 0/0).
// The host runs with MXCSR = 0x1f80; HostRounding sets another rounding mode around an operation.
// Denormals are never flushed by the host: flush_in and flush_out do it by the guest's MODE.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace wj::gf {

struct Half {
    uint16_t bits = 0;
};

template <class T>
struct FloatTraits;
template <>
struct FloatTraits<float> {
    using Bits = uint32_t;
    static constexpr int mantissa = 23, bias = 127, exponent_max = 255;
};
template <>
struct FloatTraits<double> {
    using Bits = uint64_t;
    static constexpr int mantissa = 52, bias = 1023, exponent_max = 2047;
};
template <>
struct FloatTraits<Half> {
    using Bits = uint16_t;
    static constexpr int mantissa = 10, bias = 15, exponent_max = 31;
};

template <class T>
inline constexpr bool is_float =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half>;

template <class T>
using Bits = typename FloatTraits<T>::Bits;
template <class T>
inline Bits<T> to_bits(T x) {
    return std::bit_cast<Bits<T>>(x);
}
template <class T>
inline T from_bits(Bits<T> b) {
    return std::bit_cast<T>(b);
}

template <class T>
inline constexpr Bits<T> sign_bit = static_cast<Bits<T>>(Bits<T>{1} << (sizeof(T) * 8 - 1));
template <class T>
inline constexpr Bits<T> inf_bits = static_cast<Bits<T>>(Bits<T>{FloatTraits<T>::exponent_max}
                                                         << FloatTraits<T>::mantissa);
template <class T>
inline constexpr Bits<T> quiet_bit = static_cast<Bits<T>>(Bits<T>{1}
                                                          << (FloatTraits<T>::mantissa - 1));
// What the host makes of an invalid operation.
template <class T>
inline constexpr Bits<T> default_nan = static_cast<Bits<T>>(sign_bit<T> | inf_bits<T> |
                                                            quiet_bit<T>);

template <class T>
inline Bits<T> magnitude(T x) {
    return static_cast<Bits<T>>(to_bits(x) & ~sign_bit<T>);
}
template <class T>
inline bool is_negative(T x) {
    return (to_bits(x) & sign_bit<T>) != 0;
}
template <class T>
inline bool is_nan(T x) {
    return magnitude(x) > inf_bits<T>;
}
template <class T>
inline bool is_snan(T x) {
    return is_nan(x) && !(to_bits(x) & quiet_bit<T>);
}
template <class T>
inline bool is_inf(T x) {
    return magnitude(x) == inf_bits<T>;
}
template <class T>
inline bool is_zero(T x) {
    return magnitude(x) == 0;
}
template <class T>
inline int exponent_field(T x) {
    return static_cast<int>(magnitude(x) >> FloatTraits<T>::mantissa);
}
template <class T>
inline bool is_denormal(T x) {
    return exponent_field(x) == 0 && magnitude(x) != 0;
}
template <class T>
inline T quiet(T x) {
    return from_bits<T>(static_cast<Bits<T>>(to_bits(x) | quiet_bit<T>));
}
template <class T>
inline T negate(T x) {
    return from_bits<T>(static_cast<Bits<T>>(to_bits(x) ^ sign_bit<T>));
}
template <class T>
inline T absolute(T x) {
    return from_bits<T>(magnitude(x));
}
template <class T>
inline T signed_zero(T x) {
    return from_bits<T>(static_cast<Bits<T>>(to_bits(x) & sign_bit<T>));
}
template <class T>
inline T flush(T x) {
    return from_bits<T>(exponent_field(x) == 0 ? static_cast<Bits<T>>(to_bits(x) & sign_bit<T>)
                                               : to_bits(x));
}

// The floating point fields of the MODE register (machine/wave.h names the bits).
struct FloatMode {
    uint32_t bits = 0xf0;
    uint32_t round32() const { return bits & 3; }
    uint32_t round64() const { return bits >> 2 & 3; }  // f16 and f64
    bool ieee() const { return bits >> 9 & 1; }
    bool dx10_clamp() const { return bits >> 8 & 1; }
    bool fp16_ovfl() const { return bits >> 23 & 1; }
    template <class T>
    bool keeps_inputs() const {
        return bits >> (std::is_same_v<T, float> ? 4 : 6) & 1;
    }
    template <class T>
    bool keeps_outputs() const {
        return bits >> (std::is_same_v<T, float> ? 5 : 7) & 1;
    }
    template <class T>
    uint32_t round() const {
        return std::is_same_v<T, float> ? round32() : round64();
    }
    // With denormals of f16 kept, and perhaps rounding of f16 as of f32.
    FloatMode with_half_denormals(bool rounds_as_f32) const {
        const uint32_t kept = bits | 3u << 6;
        return {rounds_as_f32 ? (kept & ~12u) | round32() << 2 : kept};
    }
};

template <class T>
inline T flush_in(const FloatMode& m, T x) {
    return m.keeps_inputs<T>() ? x : flush(x);
}
template <class T>
inline T flush_out(const FloatMode& m, T x) {
    return m.keeps_outputs<T>() ? x : flush(x);
}

// Sets the host's rounding for its lifetime. guest: 0 nearest even, 1 +inf, 2 -inf, 3 zero. Code
// that depends on it must be behind a call that is not inlined: compilers do not model MXCSR.
class HostRounding {
public:
    explicit HostRounding(uint32_t guest) : saved_(_mm_getcsr()) {
        static constexpr uint32_t host[4] = {0x0000, 0x4000, 0x2000, 0x6000};
        _mm_setcsr((saved_ & ~0x6000u) | host[guest & 3]);
    }
    ~HostRounding() { _mm_setcsr(saved_); }
    HostRounding(const HostRounding&) = delete;
    HostRounding& operator=(const HostRounding&) = delete;

private:
    uint32_t saved_;
};

// ---- arithmetic by name -------------------------------------------------------------------------
// One overload per register width; the order of operands is the rule for NaN.

#define WJ_GF_BINARY(name, stem)                                  \
    inline float name(float a, float b) {                         \
        float r;                                                  \
        asm("v" stem "ss %2, %1, %0" : "=x"(r) : "x"(a), "x"(b)); \
        return r;                                                 \
    }                                                             \
    inline double name(double a, double b) {                      \
        double r;                                                 \
        asm("v" stem "sd %2, %1, %0" : "=x"(r) : "x"(a), "x"(b)); \
        return r;                                                 \
    }                                                             \
    inline __m256 name(__m256 a, __m256 b) {                      \
        __m256 r;                                                 \
        asm("v" stem "ps %2, %1, %0" : "=x"(r) : "x"(a), "x"(b)); \
        return r;                                                 \
    }                                                             \
    inline __m256d name(__m256d a, __m256d b) {                   \
        __m256d r;                                                \
        asm("v" stem "pd %2, %1, %0" : "=x"(r) : "x"(a), "x"(b)); \
        return r;                                                 \
    }
WJ_GF_BINARY(add, "add")
WJ_GF_BINARY(sub, "sub")
WJ_GF_BINARY(mul, "mul")
WJ_GF_BINARY(div, "div")
#undef WJ_GF_BINARY

#define WJ_GF_FMA(type, suffix)                                           \
    inline type fma(type a, type b, type c) {                             \
        asm("vfmadd231" suffix " %2, %1, %0" : "+x"(c) : "x"(a), "x"(b)); \
        return c;                                                         \
    }
WJ_GF_FMA(float, "ss")
WJ_GF_FMA(double, "sd")
WJ_GF_FMA(__m256, "ps")
WJ_GF_FMA(__m256d, "pd")
#undef WJ_GF_FMA

inline float sqrt(float a) {
    float r;
    asm("vsqrtss %1, %1, %0" : "=x"(r) : "x"(a));
    return r;
}
inline double sqrt(double a) {
    double r;
    asm("vsqrtsd %1, %1, %0" : "=x"(r) : "x"(a));
    return r;
}

// v_mad_f32: two roundings; inputs, product and result flushed whatever MODE says.
inline float mad(float a, float b, float c) {
    return flush(add(flush(mul(flush(a), flush(b))), flush(c)));
}

inline __m256 flush(__m256 x) {
    const __m256i b = _mm256_castps_si256(x), inf = _mm256_set1_epi32(0x7f800000);
    const __m256i small = _mm256_cmpeq_epi32(_mm256_and_si256(b, inf), _mm256_setzero_si256());
    const __m256i sign = _mm256_and_si256(b, _mm256_set1_epi32(static_cast<int>(0x80000000u)));
    return _mm256_castsi256_ps(_mm256_blendv_epi8(b, sign, small));
}
inline __m256 mad(__m256 a, __m256 b, __m256 c) {
    return flush(add(flush(mul(flush(a), flush(b))), flush(c)));
}

// ---- conversions
// ----------------------------------------------------------------------------------

// Exact; a signalling NaN is quieted.
inline float to_float(Half h) {
    return _cvtsh_ss(h.bits);
}
// By the host's rounding mode; denormal results are kept; overflow by rounding mode.
inline Half to_half(float x) {
    Half h;
    __m128i r;
    asm("vcvtps2ph $4, %1, %0" : "=x"(r) : "x"(_mm_set_ss(x)));
    h.bits = static_cast<uint16_t>(_mm_cvtsi128_si32(r));
    return h;
}
inline Half to_half_rtz(float x) {
    return Half{static_cast<uint16_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(x), 3)))};
}
inline float to_float(double x) {
    __m128 r;
    asm("vcvtsd2ss %1, %1, %0" : "=x"(r) : "x"(_mm_set_sd(x)));
    return _mm_cvtss_f32(r);
}
inline double to_double(float x) {
    __m128d r;
    asm("vcvtss2sd %1, %1, %0" : "=x"(r) : "x"(_mm_set_ss(x)));
    return _mm_cvtsd_f64(r);
}
// One rounding from f64: through an f32 rounded to odd, which keeps every f16 rounding correct. x
// is in f32's normal range, or zero, infinite or NaN.
inline Half to_half(double x) {
    constexpr uint64_t dropped = (uint64_t{1} << 29) - 1;
    const uint64_t b = to_bits(x);
    return to_half(to_float(
        from_bits<double>((b & ~dropped) | static_cast<uint64_t>((b & dropped) != 0) << 29)));
}
float from_int(int32_t x);  // by the host's rounding mode
float from_uint(uint32_t x);

// Truncate, saturate, NaN -> 0.
template <class I, class T>
inline I to_int_sat(T x) {
    const double d = [&] {
        if constexpr (std::is_same_v<T, Half>)
            return static_cast<double>(to_float(x));
        else
            return static_cast<double>(x);
    }();
    if (is_nan(x)) return 0;
    constexpr auto low = static_cast<double>(std::numeric_limits<I>::min());
    constexpr auto high = static_cast<double>(std::numeric_limits<I>::max());
    if (d <= low) return std::numeric_limits<I>::min();
    if (d >= high) return std::numeric_limits<I>::max();
    return static_cast<I>(d);
}

// ---- f16: in f32, rounded once to f16 (24 >= 2 * 11 + 2 bits makes that exact for + - * / sqrt)
// ----

inline Half add(Half a, Half b) {
    return to_half(add(to_float(a), to_float(b)));
}
inline Half sub(Half a, Half b) {
    return to_half(sub(to_float(a), to_float(b)));
}
inline Half mul(Half a, Half b) {
    return to_half(mul(to_float(a), to_float(b)));
}
inline Half div(Half a, Half b) {
    return to_half(div(to_float(a), to_float(b)));
}
inline Half sqrt(Half a) {
    return to_half(sqrt(to_float(a)));
}
// Exact enough in f64: product exact, sum inexact only where it cannot be near a rounding boundary.
inline Half fma(Half a, Half b, Half c) {
    return to_half(fma(to_double(to_float(a)), to_double(to_float(b)), to_double(to_float(c))));
}
inline Half mad(const FloatMode& m, Half a, Half b, Half c) {
    return add(flush_out(m, mul(a, b)), c);
}

// ---- rounding to integral values (quiet the NaN)
// --------------------------------------------------

template <int Mode>
inline float round_to(float x) {
    return _mm_cvtss_f32(_mm_round_ss(_mm_set_ss(x), _mm_set_ss(x), Mode | _MM_FROUND_NO_EXC));
}
template <int Mode>
inline double round_to(double x) {
    return _mm_cvtsd_f64(_mm_round_sd(_mm_set_sd(x), _mm_set_sd(x), Mode | _MM_FROUND_NO_EXC));
}
template <int Mode>
inline Half round_to(Half x) {
    return to_half_rtz(round_to<Mode>(to_float(x)));
}
template <class T>
inline T rndne(T x) {
    return round_to<_MM_FROUND_TO_NEAREST_INT>(x);
}
template <class T>
inline T floor(T x) {
    return round_to<_MM_FROUND_TO_NEG_INF>(x);
}
template <class T>
inline T ceil(T x) {
    return round_to<_MM_FROUND_TO_POS_INF>(x);
}
template <class T>
inline T trunc(T x) {
    return round_to<_MM_FROUND_TO_ZERO>(x);
}

// ---- comparisons
// ----------------------------------------------------------------------------------

// Total preorder of non-NaN values as integers, -0 below +0.
template <class T>
inline auto order_key(T x) {
    using S = std::make_signed_t<Bits<T>>;
    const S b = static_cast<S>(to_bits(x));
    return static_cast<S>(
        b ^ static_cast<S>(static_cast<Bits<T>>(b >> (sizeof(T) * 8 - 1)) & ~sign_bit<T>));
}

template <bool Max, class T>
inline T min_max(const FloatMode& m, T a, T b) {
    if (is_nan(a) || is_nan(b)) [[unlikely]] {
        if (m.ieee() && is_snan(a)) return quiet(a);
        if (m.ieee() && is_snan(b)) return quiet(b);
        return is_nan(a) ? b : a;
    }
    // Equal values are the same bits, except that -0 orders below +0 as the manual's cases want.
    return (order_key(a) < order_key(b)) != Max ? a : b;
}
template <class T>
inline T min(const FloatMode& m, T a, T b) {
    return min_max<false>(m, a, b);
}
template <class T>
inline T max(const FloatMode& m, T a, T b) {
    return min_max<true>(m, a, b);
}
template <class T>
inline T med3(const FloatMode& m, T a, T b, T c) {
    if (is_nan(a) || is_nan(b) || is_nan(c)) return min(m, min(m, a, b), c);
    const T top = max(m, max(m, a, b), c);
    const auto same = [](T x, T y) {
        return to_bits(x) == to_bits(y) || (is_zero(x) && is_zero(y));
    };
    if (same(top, a)) return max(m, b, c);
    if (same(top, b)) return max(m, a, c);
    return max(m, a, b);
}

// minimumNumber and maximumNumber of IEEE 754-2019, whatever MODE says: a NaN loses, of two the
// first one is made quiet, -0 is below +0.
template <bool Max, class T>
inline T min_max_number(T a, T b) {
    if (is_nan(a)) [[unlikely]]
        return is_nan(b) ? quiet(a) : b;
    if (is_nan(b)) [[unlikely]]
        return a;
    return (order_key(a) < order_key(b)) != Max ? a : b;
}
template <class T>
inline T min_number(T a, T b) {
    return min_max_number<false>(a, b);
}
template <class T>
inline T max_number(T a, T b) {
    return min_max_number<true>(a, b);
}
template <class T>
inline T med3_number(T a, T b, T c) {
    if (is_nan(a) || is_nan(b) || is_nan(c)) return min_number(min_number(a, b), c);
    return med3(FloatMode{}, a, b, c);
}

// minimum and maximum of IEEE 754-2019: a NaN wins, the first signalling one before others.
template <bool Max, class T>
inline T min_max_nan(T a, T b) {
    if (is_nan(a) || is_nan(b)) [[unlikely]] {
        const bool first = is_snan(a) || (is_nan(a) && !is_snan(b));
        return quiet(first ? a : b);
    }
    return (order_key(a) < order_key(b)) != Max ? a : b;
}
template <class T>
inline T minimum(T a, T b) {
    return min_max_nan<false>(a, b);
}
template <class T>
inline T maximum(T a, T b) {
    return min_max_nan<true>(a, b);
}

template <class T>
inline bool compare_class(T x, uint32_t mask) {
    const bool neg = is_negative(x);
    int bit;
    if (is_nan(x))
        bit = is_snan(x) ? 0 : 1;
    else if (is_inf(x))
        bit = neg ? 2 : 9;
    else if (exponent_field(x) > 0)
        bit = neg ? 3 : 8;
    else if (magnitude(x) != 0)
        bit = neg ? 4 : 7;
    else
        bit = neg ? 5 : 6;
    return mask >> bit & 1;
}

// ---- scaling
// --------------------------------------------------------------------------------------

// One rounding (host mode).
inline double pow2(int e) {
    return from_bits<double>(static_cast<uint64_t>(e + 1023) << 52);
}
double ldexp_far(double x, int32_t exponent);  // any exponent
inline double ldexp(double x, int32_t e) {
    return e >= -1022 && e <= 1023 ? mul(x, pow2(e)) : ldexp_far(x, e);
}
inline float ldexp(float x, int32_t e) {
    // f64 holds every product exactly: 24 bits, exponents to 2^-149-300.
    return to_float(mul(to_double(x), pow2(e > 400 ? 400 : e < -400 ? -400 : e)));
}
inline Half ldexp(Half x, int32_t e) {
    return to_half(mul(to_double(to_float(x)), pow2(e > 100 ? 100 : e < -100 ? -100 : e)));
}
template <class T>
int32_t frexp_exponent(T x);
template <class T>
T frexp_mantissa(T x);
// x - floor(x), below 1. Infinities and NaN give NaN.
float fract(float x);
double fract(double x);
Half fract(Half x);

// ---- division helpers
// -----------------------------------------------------------------------------

template <class T>
T div_scale_far(const FloatMode& m, T s0, T s1, T s2, bool& vcc);
template <class T>
inline T div_scale(const FloatMode& m, T s0, T s1, T s2, bool& vcc) {
    // Neither operand nor quotient nor reciprocal near the ends of the range: nothing is scaled.
    constexpr bool f32 = std::is_same_v<T, float>;
    const auto n = static_cast<unsigned>(exponent_field(s2)),
               d = static_cast<unsigned>(exponent_field(s1));
    constexpr unsigned top = FloatTraits<T>::exponent_max, bias = FloatTraits<T>::bias,
                       tiny = f32 ? 23 : 53, huge = f32 ? 96 : 768;
    if (n - (tiny + 1) < top - (tiny + 1) && d - 1 < top - 3 &&
        n - d + bias - 2 < huge + bias - 2) {
        vcc = false;
        return flush_in(m, s0);
    }
    return div_scale_far(m, s0, s1, s2, vcc);
}
// Rounds once, also where VCC scales the result down into the denormals.
template <class T>
T div_fmas(T s0, T s1, T s2, bool vcc);
template <class T>
T div_fixup(T s0, T s1, T s2);
// n / d by the steps that LLVM writes out, v_div_scale to v_div_fixup (lift/division.h), rounding
// to nearest even and keeping denormals.
template <class T>
T div_by_steps(T n, T d);
// As compilers write it where 2.5 units of error are allowed (OpenCL): v_frexp_mant, v_rcp, v_mul,
// v_frexp_exp, v_ldexp. Denormals are kept. Of two NaNs the first factor's is the result.
template <bool reciprocal_first>
float div_by_fractions(float n, float d);
double trig_preop(double x, uint32_t segment);
// v_cube*: which = 0 id, 1 sc, 2 tc, 3 ma
float cube(int which, float x, float y, float z);

// Result modifiers: omod (ignored with IEEE mode or output denormals), then clamp to [0, 1].
template <class T>
T apply_omod(T x, uint32_t omod);
template <class T>
inline T apply_clamp(const FloatMode& m, T x) {
    constexpr auto one =
        static_cast<Bits<T>>(Bits<T>{FloatTraits<T>::bias} << FloatTraits<T>::mantissa);
    if (is_nan(x)) return m.dx10_clamp() ? from_bits<T>(0) : x;
    if (is_negative(x)) return from_bits<T>(0);
    return to_bits(x) > one ? from_bits<T>(one) : x;
}

}  // namespace wj::gf
