#include "common/guest_float.h"

namespace wj::gf {

float from_int(int32_t x) {
    float r;
    asm("vcvtsi2ssl %1, %0, %0" : "=x"(r) : "r"(x), "0"(0.0f));
    return r;
}
float from_uint(uint32_t x) {
    float r;
    asm("vcvtsi2ssq %1, %0, %0" : "=x"(r) : "r"(static_cast<int64_t>(x)), "0"(0.0f));
    return r;
}

double ldexp_far(double x, int32_t e) {
    // Steps of 2^-969 keep 53 bits above the denormal range, so that only the last step rounds.
    int n = e > 2200 ? 2200 : e < -2200 ? -2200 : e;
    for (; n > 1023; n -= 1023) x = mul(x, pow2(1023));
    for (; n < -1022; n += 969) x = mul(x, pow2(-969));
    return mul(x, pow2(n));
}

namespace {
// Position of the leading one of a denormal's mantissa, as the exponent field it would need.
template <class T>
int normalised_exponent(T x) {
    if (const int e = exponent_field(x)) return e;
    const int width = FloatTraits<T>::mantissa;
    const int lead = 63 - __builtin_clzll(uint64_t{magnitude(x)});
    return lead - width + 1;
}
}  // namespace

template <class T>
int32_t frexp_exponent(T x) {
    if (is_nan(x) || is_inf(x) || is_zero(x)) return 0;
    return normalised_exponent(x) - FloatTraits<T>::bias + 1;
}
template <class T>
T frexp_mantissa(T x) {
    if (is_nan(x)) return quiet(x);
    if (is_inf(x) || is_zero(x)) return x;
    constexpr int width = FloatTraits<T>::mantissa;
    const int shift = 1 - normalised_exponent(x);  // > 0 for denormals
    Bits<T> m = magnitude(x);
    if (shift > 0) m = static_cast<Bits<T>>(m << shift);
    m &= static_cast<Bits<T>>((Bits<T>{1} << width) - 1);
    const auto half_exponent = static_cast<Bits<T>>(Bits<T>{FloatTraits<T>::bias - 1} << width);
    return from_bits<T>(static_cast<Bits<T>>((to_bits(x) & sign_bit<T>) | half_exponent | m));
}
template int32_t frexp_exponent(float);
template int32_t frexp_exponent(double);
template int32_t frexp_exponent(Half);
template float frexp_mantissa(float);
template double frexp_mantissa(double);
template Half frexp_mantissa(Half);

namespace {
template <class T>
T fract_of(T x) {
    const T r = sub(x, floor(x));
    constexpr auto below_one =
        static_cast<Bits<T>>((Bits<T>{FloatTraits<T>::bias} << FloatTraits<T>::mantissa) - 1);
    if (!is_nan(r) && to_bits(r) > below_one && !is_negative(r)) return from_bits<T>(below_one);
    return r;
}
}  // namespace
float fract(float x) {
    return fract_of(x);
}
double fract(double x) {
    return fract_of(x);
}
Half fract(Half x) {
    return fract_of(x);
}

// The manual's cases. Where it is ambiguous the scale is the one that makes the quotient right
// (docs/reference/errata.md).
template <class T>
T div_scale_far(const FloatMode& m, T s0, T s1, T s2, bool& vcc) {
    constexpr bool f32 = std::is_same_v<T, float>;
    constexpr int scale = f32 ? 64 : 128;
    constexpr int huge = f32 ? 96 : 768;
    constexpr int tiny = f32 ? 23 : 53;
    const T n = flush_in(m, s2), d = flush_in(m, s1), x = flush_in(m, s0);
    vcc = false;
    if (is_zero(n) || is_zero(d)) {
        vcc = true;
        return from_bits<T>(default_nan<T>);
    }
    const bool is_n = to_bits(s0) == to_bits(s2), is_d = to_bits(s0) == to_bits(s1);
    if (is_nan(n) || is_nan(d) || is_inf(n) || is_inf(d)) return is_nan(x) ? quiet(x) : x;
    const auto denormal_quotient = [](T a, T b) {
        const T q = div(a, b);
        return is_denormal(q) || is_zero(q);
    };
    const T one = from_bits<T>(
        static_cast<Bits<T>>(Bits<T>{FloatTraits<T>::bias} << FloatTraits<T>::mantissa));
    const bool small_reciprocal = is_denormal(div(one, d));
    if (exponent_field(n) - exponent_field(d) >= huge) {
        vcc = true;
        return is_d ? ldexp(x, scale) : x;
    }
    if (is_denormal(d)) return ldexp(x, scale);
    const bool small_quotient = denormal_quotient(n, d);
    if (small_reciprocal && small_quotient) {
        vcc = true;
        return is_d ? ldexp(x, -scale) : x;
    }
    if (small_reciprocal) return ldexp(x, -scale);
    if (small_quotient) {
        vcc = true;
        return is_n ? ldexp(x, scale) : x;
    }
    if (exponent_field(n) <= tiny) return ldexp(x, scale);
    return x;
}
template float div_scale_far(const FloatMode&, float, float, float, bool&);
template double div_scale_far(const FloatMode&, double, double, double, bool&);

template <class T>
T div_fmas(T a, T b, T c, bool vcc) {
    const T r = fma(a, b, c);
    if (!vcc) return r;
    constexpr int scale = std::is_same_v<T, float> ? 64 : 128;
    if (exponent_field(c) > FloatTraits<T>::bias) return ldexp(r, scale);
    const T small = ldexp(r, -scale);
    if (exponent_field(small) > 1 || is_nan(r) || is_inf(r) || is_zero(r)) return small;
    // A denormal result would be rounded twice: when the first rounding made a tie, let its error
    // decide.
    const T error = fma(a, b, sub(c, r));
    if (is_zero(error) || to_bits(ldexp(small, scale)) == to_bits(r)) return small;
    const int drop = 1 - (normalised_exponent(r) - scale);
    if (drop < 1 || drop > FloatTraits<T>::mantissa + 1) return small;
    const uint64_t significand =
        (uint64_t{magnitude(r)} & ((uint64_t{1} << FloatTraits<T>::mantissa) - 1)) |
        uint64_t{1} << FloatTraits<T>::mantissa;
    const uint64_t rest = significand & ((uint64_t{1} << drop) - 1);
    if (rest != uint64_t{1} << (drop - 1)) return small;
    const bool away = is_negative(error) == is_negative(r);
    const auto kept = static_cast<Bits<T>>((significand >> drop) + (away ? 1 : 0));
    return from_bits<T>(static_cast<Bits<T>>((to_bits(r) & sign_bit<T>) | kept));
}
template float div_fmas(float, float, float, bool);
template double div_fmas(double, double, double, bool);

template <class T>
T div_fixup(T q, T d, T n) {
    const auto sign = static_cast<Bits<T>>((to_bits(d) ^ to_bits(n)) & sign_bit<T>);
    const auto with_sign = [&](Bits<T> m) { return from_bits<T>(static_cast<Bits<T>>(sign | m)); };
    if (is_nan(n)) return quiet(n);
    if (is_nan(d)) return quiet(d);
    if (is_zero(d) && is_zero(n)) return from_bits<T>(default_nan<T>);
    if (is_inf(d) && is_inf(n)) return from_bits<T>(default_nan<T>);
    if (is_zero(d) || is_inf(n)) return with_sign(inf_bits<T>);
    if (is_inf(d) || is_zero(n)) return with_sign(0);
    if constexpr (!std::is_same_v<T, Half>) {
        constexpr int lowest = std::is_same_v<T, float> ? -150 : -1075;
        if (exponent_field(n) - exponent_field(d) < lowest) return with_sign(0);
    }
    // A quotient that overflowed has become infinity minus infinity on the way
    // (docs/reference/errata.md).
    if (is_nan(q)) return with_sign(inf_bits<T>);
    return with_sign(magnitude(q));
}
template float div_fixup(float, float, float);
template double div_fixup(double, double, double);
template Half div_fixup(Half, Half, Half);

template <class T>
T div_by_steps(T n, T d) {
    const FloatMode keep_denormals{0xf0};
    bool vcc;
    const T ds = div_scale(keep_denormals, d, d, n, vcc), minus_ds = negate(ds);
    const T ns = div_scale(keep_denormals, n, d, n, vcc);
    T r = div(T{1}, ds);
    for (int steps = std::is_same_v<T, float> ? 1 : 2; steps; --steps)
        r = fma(fma(minus_ds, r, T{1}), r, r);
    T q = mul(ns, r);
    if (std::is_same_v<T, float>) q = fma(fma(minus_ds, q, ns), r, q);
    return div_fixup(div_fmas(fma(minus_ds, q, ns), r, q, vcc), d, n);
}
template <bool reciprocal_first>
float div_by_fractions(float n, float d) {
    const float x = frexp_mantissa(n), r = div(1.0f, frexp_mantissa(d));
    return ldexp(reciprocal_first ? mul(r, x) : mul(x, r), frexp_exponent(n) - frexp_exponent(d));
}
template float div_by_fractions<false>(float, float);
template float div_by_fractions<true>(float, float);

template float div_by_steps(float, float);
template double div_by_steps(double, double);

namespace {
// The first 1216 bits of the fraction of 2/pi, most significant first (any table of digits of pi
// gives them).
constexpr uint32_t two_over_pi[38] = {
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
    0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu,
    0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
    0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
    0x1f8d5d08u, 0x56033046u, 0xfc7b6babu,
};
}  // namespace

double trig_preop(double x, uint32_t segment) {
    const int e = exponent_field(x);
    int shift = static_cast<int>(segment & 31) * 53;
    if (e > 1077) shift += e - 1077;
    // 53 bits of 2/pi that follow the first `shift` bits of its 1201-bit fraction.
    const auto word = [&](int i) -> uint64_t {
        i += shift / 32;
        return i < 37 ? two_over_pi[i] : i == 37 ? two_over_pi[i] & 0xffff8000u : 0;
    };
    const uint64_t bits =
        ((word(0) << 32 | word(1)) << shift % 32 | word(2) << shift % 32 >> 32) >> 11;
    int scale = -53 - shift;
    if (e >= 1968) scale += 128;
    return ldexp(static_cast<double>(bits), scale);
}

float cube(int which, float x, float y, float z) {
    const float ax = absolute(x), ay = absolute(y), az = absolute(z);
    if (az >= ax && az >= ay) {
        const bool n = z < 0.0f;
        const float r[4] = {n ? 5.0f : 4.0f, n ? negate(x) : x, negate(y), add(z, z)};
        return r[which];
    }
    if (ay >= ax) {
        const bool n = y < 0.0f;
        const float r[4] = {n ? 3.0f : 2.0f, x, n ? negate(z) : z, add(y, y)};
        return r[which];
    }
    const bool n = x < 0.0f;
    const float r[4] = {n ? 1.0f : 0.0f, n ? z : negate(z), negate(y), add(x, x)};
    return r[which];
}

template <class T>
T apply_omod(T x, uint32_t omod) {
    if (omod == 0) return x;
    static constexpr int exponents[4] = {0, 1, 2, -1};
    const T r = flush(ldexp(x, exponents[omod & 3]));
    return is_zero(r) ? from_bits<T>(0) : r;  // -0 becomes +0
}
template float apply_omod(float, uint32_t);
template double apply_omod(double, uint32_t);
template Half apply_omod(Half, uint32_t);

}  // namespace wj::gf
