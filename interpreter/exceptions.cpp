// Exceptions are found by doing the arithmetic once more, lane by lane, for lanes that are on: with
// operands as they are, the host's flags and MODE's rounding. What documents leave open is listed
// in docs/reference/float.md.
#include "interpreter/exceptions.h"

#include <cmath>
#include <optional>

#include "frontend/dual.h"
#include "interpreter/check_parts.h"
#include "interpreter/checks.h"
#include "interpreter/packed.h"
#include "interpreter/raised.h"

namespace wj::interp {

namespace {

namespace ex = machine::exception;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;

// What an instruction raised, and which lanes raised what is enabled.
struct Found {
    u32 enabled;
    u32 flags = 0;
    u64 lanes = 0;
    void add(u32 lane, u32 raised) {
        flags |= raised;
        if (raised & enabled) lanes |= u64{1} << lane;
    }
};
using Evaluate = void (*)(Wave&, const Inst&, Found&);

// ---- parts
// ----------------------------------------------------------------------------------------

// Of an operand by itself, before MODE flushes it.
template <class T>
u32 operand(T x) {
    if constexpr (gf::is_float<T>)
        return (gf::is_denormal(x) ? ex::input_denormal : 0) | (gf::is_snan(x) ? ex::invalid : 0);
    return 0;
}
// A result that MODE flushes to zero has lost something.
template <class T>
u32 flushed(const FloatMode& m, T x) {
    return gf::is_denormal(x) && !m.keeps_outputs<T>() ? ex::underflow | ex::inexact : 0;
}
template <class T>
u32 result(const FloatMode& m, const Raised<T>& r) {
    return r.flags | flushed(m, r.value);
}
template <class T>
u32 control(const FloatMode& m) {
    return host_control(m.round<T>());
}
constexpr u32 to_nearest = host_control(0);

enum EvaluateFlags : u32 {
    as_they_are = 1,  // F looks at its operands itself, and flushes them
    omod_clears = 2,  // nothing is raised by forms with an output modifier
    with_addend = 4,  // the last operand is the old destination
};

// F takes MODE and operands that were flushed by it, and returns what the operation raises. Index
// mode may stop the wave here, as it will in the handler.
template <auto F, u32 Flags, class Args, size_t... I>
void each_lane(Wave& w, const Inst& in, Found& found, std::index_sequence<I...>) {
    if ((Flags & omod_clears) && in.omod) return;
    Valu v(w, in);
    const FloatMode m{w.mode};
    Buffers<std::index_sequence<I...>, Args> buffers;
    const auto args = std::make_tuple(load<std::tuple_element_t<I, Args>>(
        v, I, static_cast<BufferAt<I, std::tuple_element_t<I, Args>>&>(buffers).v, m, true,
        (Flags & with_addend) && I + 1 == sizeof...(I))...);
    for_each_lane(v.active, [&](u32 l) {
        const auto flush = [&](auto x) {
            if constexpr (gf::is_float<decltype(x)>)
                return gf::flush_in(m, x);
            else
                return x;
        };
        if constexpr (Flags & as_they_are)
            found.add(l, F(m, std::get<I>(args)[l]...));
        else
            found.add(l,
                      (operand(std::get<I>(args)[l]) | ...) | F(m, flush(std::get<I>(args)[l])...));
    });
}
template <auto F, u32 Flags = 0>
void of(Wave& w, const Inst& in, Found& found) {
    using Args = typename CallTraits<decltype(F)>::Args;
    each_lane<F, Flags, Args>(w, in, found, std::make_index_sequence<std::tuple_size_v<Args>>());
}

// ---- arithmetic of one lane
// ---------------------------------------------------------------------------------------------

double exact(Half x) {
    return gf::to_double(gf::to_float(x));
}
double exact(float x) {
    return gf::to_double(x);
}
double exact(double x) {
    return x;
}

// An operation of the host. On halves it is done in f64, where it loses nothing that the one
// rounding to f16 would see.
template <auto Operation, class T, class... Rest>
Raised<T> rounded(u32 c, T x, Rest... rest) {
    if constexpr (std::is_same_v<T, Half>)
        return raised_half(c, Operation(host_toward_zero, exact(x), exact(rest)...));
    else
        return Operation(c, x, rest...);
}
template <class T>
Raised<T> add(u32 c, T a, T b) {
    return rounded<[](u32 to, auto x, auto y) { return raised_add(to, x, y); }>(c, a, b);
}
template <class T>
Raised<T> mul(u32 c, T a, T b) {
    return rounded<[](u32 to, auto x, auto y) { return raised_mul(to, x, y); }>(c, a, b);
}
template <class T>
Raised<T> fma(u32 c, T a, T b, T d) {
    return rounded<[](u32 to, auto x, auto y, auto z) { return raised_fma(to, x, y, z); }>(c, a, b,
                                                                                           d);
}
template <class T>
Raised<T> reciprocal(T x) {
    return rounded<[](u32 to, auto y) { return raised_div(to, decltype(y){1}, y); }>(to_nearest, x);
}
template <class T>
Raised<T> square_root(T x) {
    return rounded<[](u32 to, auto y) { return raised_sqrt(to, y); }>(to_nearest, x);
}
// Neither large nor small: it is exact or not.
template <class T>
u32 reciprocal_root(T x) {
    if (gf::is_nan(x)) return 0;
    if (gf::is_zero(x)) return ex::divide_by_zero;
    if (gf::is_negative(x)) return ex::invalid;
    if constexpr (std::is_same_v<T, Half>) {
        return reciprocal_root(gf::to_float(x));
    } else {
        const auto root = raised_sqrt(to_nearest, x);
        return root.flags | raised_div(to_nearest, T{1}, root.value).flags;
    }
}
template <class T>
Raised<T> scaled(u32 c, T x, i32 e) {
    if constexpr (std::is_same_v<T, Half>) {
        const i32 n = e > 100 ? 100 : e < -100 ? -100 : e;
        return raised_half(c, raised_mul(host_toward_zero, exact(x), gf::pow2(n)));
    } else if constexpr (std::is_same_v<T, float>) {
        const i32 n = e > 400 ? 400 : e < -400 ? -400 : e;
        return raised_float(c, gf::mul(gf::to_double(x), gf::pow2(n)));
    } else {
        // As gf::ldexp_far: only the last step rounds.
        i32 n = e > 2200 ? 2200 : e < -2200 ? -2200 : e;
        Raised<double> r{x};
        const auto step = [&](i32 by) {
            const Raised<double> next = raised_mul(c, r.value, gf::pow2(by));
            r = {next.value, r.flags | next.flags};
        };
        for (; n > 1023; n -= 1023) step(1023);
        for (; n < -1022; n += 969) step(-969);
        step(n);
        return r;
    }
}
// 2^x: exact where x is an integer and the result has bits enough.
template <class T>
u32 exponential(const FloatMode& m, T operand) {
    constexpr int bias = gf::FloatTraits<T>::bias, width = gf::FloatTraits<T>::mantissa;
    const double x = exact(operand);
    if (std::isnan(x) || std::isinf(x)) return 0;
    if (x >= bias + 1) return ex::overflow | ex::inexact;
    const bool integer = std::floor(x) == x && x >= 1 - bias - width;
    if (x >= 1 - bias) return integer ? 0 : ex::inexact;
    return integer && m.keeps_outputs<T>() ? 0 : ex::underflow | ex::inexact;
}
template <class T>
u32 logarithm(T operand) {
    const double x = exact(operand);
    if (std::isnan(x)) return 0;
    if (x == 0) return ex::divide_by_zero;
    if (x < 0) return ex::invalid;
    int exponent;
    return std::isinf(x) || std::frexp(x, &exponent) == 0.5 ? 0 : ex::inexact;
}
// Sine and cosine of x turns: exact in quarters, and beyond the range where the result is constant.
template <class T>
u32 trigonometric(T operand) {
    const double x = exact(operand);
    if (std::isnan(x)) return 0;
    if (std::isinf(x)) return ex::invalid;
    return std::fabs(x) > 256 || std::floor(4 * x) == 4 * x ? 0 : ex::inexact;
}
template <class T>
u32 fraction(const FloatMode& m, T x) {
    const T below = gf::floor(x);
    return result(m, add(control<T>(m), x, gf::negate(below)));
}

template <class I, class T>
u32 to_integer(T operand) {
    const double x = exact(operand), whole = std::trunc(x);
    if (std::isnan(x) || whole < static_cast<double>(std::numeric_limits<I>::min()) ||
        whole > static_cast<double>(std::numeric_limits<I>::max()))
        return ex::invalid;
    return whole == x ? 0 : ex::inexact;
}

// v_div_fixup raises what the division does, of which it has the operands; the steps in front of it
// lose what they lose.
template <class T>
u32 division(const FloatMode& m, T quotient, T denominator, T numerator) {
    u32 flags = operand(denominator) | operand(numerator);
    const T d = gf::flush_in(m, denominator), n = gf::flush_in(m, numerator);
    if (gf::is_nan(n) || gf::is_nan(d)) return flags;
    if ((gf::is_zero(d) && gf::is_zero(n)) || (gf::is_inf(d) && gf::is_inf(n)))
        return flags | ex::invalid;
    if (gf::is_inf(n) || gf::is_inf(d) || gf::is_zero(n)) return flags;
    if (gf::is_zero(d)) return flags | ex::divide_by_zero;
    if constexpr (!std::is_same_v<T, Half>) {
        constexpr int lowest = std::is_same_v<T, float> ? -150 : -1075;
        if (gf::exponent_field(n) - gf::exponent_field(d) < lowest)
            return flags | ex::underflow | ex::inexact;
    }
    if (gf::is_nan(quotient) || gf::is_inf(quotient)) return flags | ex::overflow | ex::inexact;
    return flags | flushed(m, quotient);
}

// ---- operations as tables want them
// -----------------------------------------------------------------------------------------

template <class T, class... Rest>
constexpr auto operands_only = [](const FloatMode&, T, Rest...) { return 0u; };
template <class T>
constexpr auto sum =
    [](const FloatMode& m, T a, T b) { return result(m, add(control<T>(m), a, b)); };
template <class T>
constexpr auto difference =
    [](const FloatMode& m, T a, T b) { return result(m, add(control<T>(m), a, gf::negate(b))); };
template <class T>
constexpr auto product =
    [](const FloatMode& m, T a, T b) { return result(m, mul(control<T>(m), a, b)); };
template <class T>
constexpr auto fused =
    [](const FloatMode& m, T a, T b, T c) { return result(m, fma(control<T>(m), a, b, c)); };
// v_mad_f16 rounds twice.
constexpr auto multiply_add = [](const FloatMode& m, Half a, Half b, Half c) {
    const Raised<Half> p = mul(control<Half>(m), a, b);
    return result(m, p) | result(m, add(control<Half>(m), gf::flush_out(m, p.value), c));
};
constexpr auto legacy_product = [](const FloatMode& m, float a, float b) {
    return gf::is_zero(a) || gf::is_zero(b) ? 0u : product<float>(m, a, b);
};
template <class T, class I>
constexpr auto scaling =
    [](const FloatMode& m, T a, I e) { return result(m, scaled(control<T>(m), a, e)); };
template <class T>
constexpr auto inverse = [](const FloatMode& m, T a) { return result(m, reciprocal(a)); };
template <class T>
constexpr auto root = [](const FloatMode& m, T a) { return result(m, square_root(a)); };
template <class T>
constexpr auto inverse_root = [](const FloatMode&, T a) { return reciprocal_root(a); };
template <class T>
constexpr auto power = [](const FloatMode& m, T a) { return exponential(m, a); };
template <class T>
constexpr auto log_of = [](const FloatMode&, T a) { return logarithm(a); };
template <class T>
constexpr auto turn = [](const FloatMode&, T a) { return trigonometric(a); };
template <class T>
constexpr auto fract = [](const FloatMode& m, T a) { return fraction(m, a); };
template <class I, class T>
constexpr auto to_int = [](const FloatMode&, T a) { return to_integer<I>(a); };
template <class I>
constexpr auto int_to_half = [](const FloatMode& m, I a) {
    return result(m, raised_half(control<Half>(m), static_cast<float>(a)));
};
constexpr auto narrow_double = [](const FloatMode& m, double a) {
    return result(m, raised_float(control<float>(m), a));
};
constexpr auto narrow_single = [](const FloatMode& m, float a) {
    return result(m, raised_half(control<Half>(m), a));
};
constexpr auto widen_half = [](const FloatMode& m, Half a) { return flushed(m, gf::to_float(a)); };
// gfx6 and gfx7: MODE does not flush halves here.
template <bool RoundsAsF32>
constexpr auto narrow_denormal = [](const FloatMode& m, float a) {
    return narrow_single(m.with_half_denormals(RoundsAsF32), a);
};
// A quiet NaN among the operands, where compares signal for it.
template <class T>
constexpr auto any_nan =
    [](const FloatMode&, T a, T b) { return gf::is_nan(a) || gf::is_nan(b) ? ex::invalid : 0u; };
template <bool TowardZero>
constexpr auto narrow_two = [](const FloatMode& m, float a, float b) {
    const u32 c = TowardZero ? host_toward_zero : control<Half>(m);
    return result(m, raised_half(c, a)) | result(m, raised_half(c, b));
};
template <class T>
constexpr auto fixup = [](const FloatMode& m, T q, T d, T n) { return division(m, q, d, n); };
// "Can only raise integer DIV_BY_ZERO exception" (CDNA3 ISA).
constexpr auto integer_inverse = [](const FloatMode& m, float a) {
    return gf::is_zero(gf::flush_in(m, a)) ? ex::integer_divide_by_zero : 0u;
};

// Each lane has its bit of VCC: whether the result is scaled.
template <class T>
void div_fmas(Wave& w, const Inst& in, Found& found) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) T buf[3][lanes];
    const T* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = load<T>(v, i, buf[i], m, true, false);
    for_each_lane(v.active, [&](u32 l) {
        constexpr int scale = std::is_same_v<T, float> ? 64 : 128;
        const auto at = [&](u32 i) { return gf::flush_in(m, s[i][l]); };
        Raised<T> r = fma(control<T>(m), at(0), at(1), at(2));
        if (w.vcc() >> l & 1) {
            const bool up = gf::exponent_field(at(2)) > gf::FloatTraits<T>::bias;
            const Raised<T> far = scaled(control<T>(m), r.value, up ? scale : -scale);
            r = {far.value, r.flags | far.flags};
        }
        found.add(l, operand(s[0][l]) | operand(s[1][l]) | operand(s[2][l]) | result(m, r));
    });
}

template <size_t N, auto F, u32 Flags = 0>
void packed_half(Wave& w, const Inst& in, Found& found) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[N];
    const u32* s[N];
    const auto is_addend = [](u32 i) { return (Flags & with_addend) && i + 1 == N; };
    for (u32 i = 0; i < N; ++i) s[i] = is_addend(i) ? v.dest_row() : v.fetch(i, 0, buf[i]);
    for_each_lane(v.active, [&](u32 l) {
        for (u32 h = 0; h < 2; ++h) {
            u32 flags = 0;
            const auto at = [&](u32 i) {
                const auto x = PackedHalf(in, i, h, is_addend(i), true).of<Half>(s[i][l]);
                flags |= operand(x);
                return gf::flush_in(m, x);
            };
            const Half a = at(0), b = at(1);
            if constexpr (N == 2)
                flags |= F(m, a, b);
            else
                flags |= F(m, a, b, at(2));
            found.add(l, flags);
        }
    });
}

template <size_t N, auto F>
void packed_single(Wave& w, const Inst& in, Found& found) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    for (u32 h = 0; h < 2; ++h) {
        Row buf[N];
        const u32* s[N];
        for (u32 i = 0; i < N; ++i) s[i] = v.fetch(i, PackedSingle(in, i, h).dword, buf[i]);
        for_each_lane(v.active, [&](u32 l) {
            u32 flags = 0;
            const auto at = [&](u32 i) {
                const auto x = std::bit_cast<float>(s[i][l] ^ PackedSingle(in, i, h).sign);
                flags |= operand(x);
                return gf::flush_in(m, x);
            };
            const float a = at(0), b = at(1);
            if constexpr (N == 2)
                flags |= F(m, a, b);
            else
                flags |= F(m, a, b, at(2));
            found.add(l, flags);
        });
    }
}

template <MixTo To>
void fma_mix(Wave& w, const Inst& in, Found& found) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[3];
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    const u32 c = To == MixTo::F32 ? control<float>(m) : control<Half>(m);
    for_each_lane(v.active, [&](u32 l) {
        u32 flags = 0;
        const auto at = [&](u32 i) {
            flags |= mix_is_half(in, i) ? operand(mix_half(in, i, s[i][l]))
                                        : operand(std::bit_cast<float>(s[i][l]));
            return mix_source<true>(in, i, s[i][l], m);
        };
        const float a0 = at(0), a1 = at(1), a2 = at(2);
        const Raised<float> r = fma(c, a0, a1, a2);
        flags |= result(m, r);
        if (To != MixTo::F32) flags |= result(m, raised_half(c, gf::flush_out(m, r.value)));
        found.add(l, flags);
    });
}

// ---- the table
// -----------------------------------------------------------------------------------------------

struct Entry {
    Opcode op;
    Evaluate evaluate;
};

// Compares raise invalid for signalling NaN only, whatever they ask.
#define COMPARE(name, type, T)                                  \
    {Opcode::v_cmp_##name##_##type, of<operands_only<T, T>>}, { \
        Opcode::v_cmpx_##name##_##type, of<operands_only<T, T>> \
    }
#define COMPARES(type, T)                                                                         \
    COMPARE(f, type, T), COMPARE(lt, type, T), COMPARE(eq, type, T), COMPARE(le, type, T),        \
        COMPARE(gt, type, T), COMPARE(lg, type, T), COMPARE(ge, type, T), COMPARE(o, type, T),    \
        COMPARE(u, type, T), COMPARE(nge, type, T), COMPARE(nlg, type, T), COMPARE(ngt, type, T), \
        COMPARE(nle, type, T), COMPARE(neq, type, T), COMPARE(nlt, type, T), COMPARE(tru, type, T)
#define SIGNALLING(name, type, T)                       \
    {Opcode::v_cmps_##name##_##type, of<any_nan<T>>}, { \
        Opcode::v_cmpsx_##name##_##type, of<any_nan<T>> \
    }
#define SIGNALLING_COMPARES(type, T)                                                  \
    SIGNALLING(f, type, T), SIGNALLING(lt, type, T), SIGNALLING(eq, type, T),         \
        SIGNALLING(le, type, T), SIGNALLING(gt, type, T), SIGNALLING(lg, type, T),    \
        SIGNALLING(ge, type, T), SIGNALLING(o, type, T), SIGNALLING(u, type, T),      \
        SIGNALLING(nge, type, T), SIGNALLING(nlg, type, T), SIGNALLING(ngt, type, T), \
        SIGNALLING(nle, type, T), SIGNALLING(neq, type, T), SIGNALLING(nlt, type, T), \
        SIGNALLING(tru, type, T)
#define ROUNDINGS(type, T)                                                                         \
    {Opcode::v_trunc_##type, of<operands_only<T>>}, {Opcode::v_ceil_##type, of<operands_only<T>>}, \
        {Opcode::v_rndne_##type, of<operands_only<T>>},                                            \
        {Opcode::v_floor_##type, of<operands_only<T>>}, {Opcode::v_fract_##type, of<fract<T>>},    \
        {Opcode::v_frexp_mant_##type, of<operands_only<T>>},                                       \
        {Opcode::v_min_##type, of<operands_only<T, T>>},                                           \
        {Opcode::v_max_##type, of<operands_only<T, T>>}, {Opcode::v_rcp_##type, of<inverse<T>>},   \
        {Opcode::v_rsq_##type, of<inverse_root<T>>}, {Opcode::v_sqrt_##type, of<root<T>>}, {       \
        Opcode::v_div_fixup_##type, of<fixup<T>, as_they_are>                                      \
    }
#define MINIMA(type, T)                                        \
    {Opcode::v_min_num_##type, of<operands_only<T, T>>},       \
        {Opcode::v_max_num_##type, of<operands_only<T, T>>},   \
        {Opcode::v_minimum_##type, of<operands_only<T, T>>}, { \
        Opcode::v_maximum_##type, of<operands_only<T, T>>      \
    }
#define CURVES(type, T)                                                          \
    {Opcode::v_exp_##type, of<power<T>>}, {Opcode::v_log_##type, of<log_of<T>>}, \
        {Opcode::v_sin_##type, of<turn<T>>}, {                                   \
        Opcode::v_cos_##type, of<turn<T>>                                        \
    }

// clang-format off
constexpr Entry entries[] = {
    COMPARES(f16, Half), COMPARES(f32, float), COMPARES(f64, double),
    SIGNALLING_COMPARES(f32, float), SIGNALLING_COMPARES(f64, double),
    ROUNDINGS(f16, Half), ROUNDINGS(f32, float), ROUNDINGS(f64, double),
    CURVES(f16, Half), CURVES(f32, float),
    {Opcode::v_exp_legacy_f32, of<power<float>>},
    {Opcode::v_log_clamp_f32, of<log_of<float>>},
    {Opcode::v_rcp_clamp_f32, of<inverse<float>>},
    {Opcode::v_rcp_legacy_f32, of<inverse<float>>},
    {Opcode::v_rcp_clamp_f64, of<inverse<double>>},
    {Opcode::v_rsq_clamp_f32, of<inverse_root<float>>},
    {Opcode::v_rsq_legacy_f32, of<inverse_root<float>>},
    {Opcode::v_rsq_clamp_f64, of<inverse_root<double>>},
    {Opcode::v_min_legacy_f32, of<operands_only<float, float>>},
    {Opcode::v_max_legacy_f32, of<operands_only<float, float>>},
    {Opcode::v_frexp_exp_i32_f32_gfx6, of<operands_only<float>>},
    {Opcode::v_frexp_mant_f32_gfx6, of<operands_only<float>>},
    {Opcode::v_frexp_exp_i32_f64_gfx6, of<operands_only<double>>},
    {Opcode::v_frexp_mant_f64_gfx6, of<operands_only<double>>},
    {Opcode::v_log_legacy_f32, of<log_of<float>>},
    MINIMA(f16, Half), MINIMA(f32, float), MINIMA(f64, double),
    {Opcode::v_rcp_iflag_f32, of<integer_inverse, as_they_are>},

    {Opcode::v_add_f32, of<sum<float>>},
    {Opcode::v_sub_f32, of<difference<float>>},
    {Opcode::v_subrev_f32, of<[](const FloatMode& m, float a, float b) { return difference<float>(m, b, a); }>},
    {Opcode::v_mul_f32, of<product<float>>},
    {Opcode::v_mul_legacy_f32, of<legacy_product>},
    {Opcode::v_mul_legacy_f32_vop3, of<legacy_product>},
    {Opcode::v_fma_f32, of<fused<float>>},
    {Opcode::v_fmac_f32, of<fused<float>, with_addend>},
    {Opcode::v_fmamk_f32, of<fused<float>>},
    {Opcode::v_fmaak_f32, of<fused<float>>},
    {Opcode::v_ldexp_f32, of<scaling<float, i32>>},
    {Opcode::v_frexp_exp_i32_f32, of<operands_only<float>>},
    {Opcode::v_div_fmas_f32, div_fmas<float>},

    {Opcode::v_add_f64, of<sum<double>>},
    {Opcode::v_mul_f64, of<product<double>>},
    {Opcode::v_fma_f64, of<fused<double>>},
    {Opcode::v_fmac_f64, of<fused<double>, with_addend>},
    {Opcode::v_ldexp_f64, of<scaling<double, i32>>},
    {Opcode::v_frexp_exp_i32_f64, of<operands_only<double>>},
    {Opcode::v_div_fmas_f64, div_fmas<double>},

    {Opcode::v_add_f16, of<sum<Half>>},
    {Opcode::v_sub_f16, of<difference<Half>>},
    {Opcode::v_subrev_f16, of<[](const FloatMode& m, Half a, Half b) { return difference<Half>(m, b, a); }>},
    {Opcode::v_mul_f16, of<product<Half>>},
    {Opcode::v_mac_f16, of<multiply_add, with_addend>},
    {Opcode::v_madmk_f16, of<multiply_add>},
    {Opcode::v_madak_f16, of<multiply_add>},
    {Opcode::v_mad_f16, of<multiply_add>},
    {Opcode::v_mad_legacy_f16, of<multiply_add>},
    {Opcode::v_fma_f16, of<fused<Half>>},
    {Opcode::v_fma_legacy_f16, of<fused<Half>>},
    {Opcode::v_fmac_f16, of<fused<Half>, with_addend>},
    {Opcode::v_fmamk_f16, of<fused<Half>>},
    {Opcode::v_fmaak_f16, of<fused<Half>>},
    {Opcode::v_ldexp_f16, of<scaling<Half, int16_t>>},
    {Opcode::v_frexp_exp_i16_f16, of<operands_only<Half>>},
    {Opcode::v_div_fixup_legacy_f16, of<fixup<Half>, as_they_are>},

    {Opcode::v_cvt_i32_f64, of<to_int<i32, double>, omod_clears>},
    {Opcode::v_cvt_u32_f64, of<to_int<u32, double>, omod_clears>},
    {Opcode::v_cvt_i32_f32, of<to_int<i32, float>, omod_clears>},
    {Opcode::v_cvt_u32_f32, of<to_int<u32, float>, omod_clears>},
    {Opcode::v_cvt_i16_f16, of<to_int<int16_t, Half>, omod_clears>},
    {Opcode::v_cvt_u16_f16, of<to_int<uint16_t, Half>, omod_clears>},
    {Opcode::v_cvt_f16_i16, of<int_to_half<int16_t>>},
    {Opcode::v_cvt_f16_u16, of<int_to_half<uint16_t>>},
    {Opcode::v_cvt_f16_f32, of<narrow_single>},
    {Opcode::v_cvt_f32_f16, of<widen_half>},
    {Opcode::v_cvt_f16_f32_denorm, of<narrow_denormal<false>>},
    {Opcode::v_cvt_f16_f32_single, of<narrow_denormal<true>>},
    {Opcode::v_cvt_f32_f16_denorm, of<widen_half>},
    {Opcode::v_cvt_f32_f64, of<narrow_double>},
    {Opcode::v_cvt_f64_f32, of<operands_only<float>>},
    {Opcode::v_cvt_pkrtz_f16_f32, of<narrow_two<true>>},
    {Opcode::v_cvt_pk_f16_f32, of<narrow_two<false>>},

    {Opcode::v_pk_add_f16, packed_half<2, sum<Half>>},
    {Opcode::v_pk_mul_f16, packed_half<2, product<Half>>},
    {Opcode::v_pk_min_f16, packed_half<2, operands_only<Half, Half>>},
    {Opcode::v_pk_max_f16, packed_half<2, operands_only<Half, Half>>},
    {Opcode::v_pk_min_num_f16, packed_half<2, operands_only<Half, Half>>},
    {Opcode::v_pk_max_num_f16, packed_half<2, operands_only<Half, Half>>},
    {Opcode::v_pk_minimum_f16, packed_half<2, operands_only<Half, Half>>},
    {Opcode::v_pk_maximum_f16, packed_half<2, operands_only<Half, Half>>},
    {Opcode::v_pk_fma_f16, packed_half<3, fused<Half>>},
    {Opcode::v_pk_fmac_f16, packed_half<3, fused<Half>, with_addend>},
    {Opcode::v_pk_add_f32, packed_single<2, sum<float>>},
    {Opcode::v_pk_mul_f32, packed_single<2, product<float>>},
    {Opcode::v_pk_fma_f32, packed_single<3, fused<float>>},
    {Opcode::v_fma_mix_f32, fma_mix<MixTo::F32>},
    {Opcode::v_fma_mixlo_f16, fma_mix<MixTo::Low>},
    {Opcode::v_fma_mixhi_f16, fma_mix<MixTo::High>},
};
// clang-format on

Evaluate evaluate(Opcode op) {
    static const auto table = [] {
        std::array<Evaluate, opcode_count> t{};
        for (const Entry& e : entries) t[static_cast<size_t>(e.op)] = e.evaluate;
        return t;
    }();
    return table[static_cast<size_t>(op)];
}

// What an instruction writes by one name of a register is there by the other one, too.
class BothNames {
public:
    explicit BothNames(const Wave& w) : size_(w.sgpr_aliases) {
        if (!size_) return;
        for (u32 i = 0; i < 2 * count; ++i) before_[i] = w.sgpr[reg(i)];
    }
    void keep_equal(Wave& w) const {
        if (!size_) return;
        for (u32 i = 0; i < 2 * count; ++i)
            if (w.sgpr[reg(i)] != before_[i]) w.sgpr[reg(i ^ 1)] = w.sgpr[reg(i)];
    }

private:
    static constexpr u32 count = machine::Aliases::count;
    u32 reg(u32 i) const {
        const u32 named = machine::Aliases::first + i / 2;
        return i & 1 ? machine::Aliases::other(named, size_) : named;
    }
    const u32 size_;
    std::array<u32, 2 * count> before_{};
};

}  // namespace

bool raises_exceptions(Opcode op) {
    return evaluate(single_operation(op)) != nullptr;
}

static void find_exceptions(Wave& w, const Inst& in, Found& found) {
    if (is_dual(in)) {
        find_exceptions(w, dual_half(in, false), found);
        return find_exceptions(w, dual_half(in, true), found);
    }
    if (const Evaluate find = evaluate(in.op)) find(w, in, found);
}

void run_whole(Wave& w, const Inst& in) {
    std::optional<InitCheck> bits;
    if (w.ctx->checks) {
        look(w, in);
        if (w.exit.kind != ExitKind::None) return;
        bits.emplace(w, in);
    }
    const u32 enabled = w.trap_enabled ? w.mode >> machine::mode::excp_en_shift & ex::all : 0;
    Found found{enabled};
    if (w.mode & machine::mode::watches_exceptions) {
        find_exceptions(w, in, found);
        if (w.exit.kind != ExitKind::None) return;
    }
    const BothNames names(w);
    handler(in.op)(w, in);
    names.keep_equal(w);
    if (bits) bits->settle();
    if (w.exit.kind != ExitKind::None) return;
    w.trapsts |= found.flags;
    if (!(found.flags & enabled)) return;
    stop(w, ExitKind::Exception, nullptr, found.flags & enabled);
    w.exit.lane_mask = found.lanes;
}

Handler whole_handler(Opcode op) {
    return handler(op) ? &run_whole : nullptr;
}

}  // namespace wj::interp
