// gfx11.5: floats in the scalar ALU, and gfx12's transcendental functions of scalars. They go by
// MODE as vector instructions do. 16-bit results have zeros in the register's other half.
#include "common/transcendental.h"
#include "interpreter/valu.h"

namespace wj::interp {

namespace {

using u32 = uint32_t;
using i32 = int32_t;

// A source or the old destination; floats are flushed as MODE says.
template <class T>
T read(const Wave& w, const Operand& o) {
    const u32 bits = read_s32(w, o);
    const FloatMode m{w.mode};
    if constexpr (std::is_same_v<T, float>)
        return gf::flush_in(m, std::bit_cast<float>(bits));
    else if constexpr (std::is_same_v<T, Half>)
        return gf::flush_in(m, Half{static_cast<uint16_t>(bits)});
    else
        return static_cast<T>(bits);
}

template <class T>
u32 result_bits(const Wave& w, T x) {
    const FloatMode m{w.mode};
    if constexpr (gf::is_float<T>)
        return gf::to_bits(gf::flush_out(m, x));
    else
        return static_cast<u32>(x);
}

template <auto F, u32 Flags, class Args, size_t... I>
auto evaluate(const Wave& w, const Inst& in, std::index_sequence<I...>) {
    using Traits = CallTraits<decltype(F)>;
    const FloatMode m{w.mode};
    const auto args = std::make_tuple(read<std::tuple_element_t<I, Args>>(
        w, (Flags & addend) && I + 1 == sizeof...(I) ? in.dst[0] : in.src[I])...);
    const auto r = [&] {
        if constexpr (Traits::with_mode)
            return F(m, std::get<I>(args)...);
        else
            return F(std::get<I>(args)...);
    }();
    if constexpr (std::is_same_v<decltype(r), const Half>) {
        bool inf_in = false;
        [[maybe_unused]] const auto check = [&](auto x) {
            if constexpr (gf::is_float<decltype(x)>) inf_in |= gf::is_inf(x);
        };
        (check(std::get<I>(args)), ...);
        if (m.fp16_ovfl() && !inf_in && gf::is_inf(r))
            return Half{static_cast<uint16_t>((r.bits & 0x8000) | 0x7bff)};
    }
    return r;
}

template <auto F, u32 Flags>
[[gnu::noinline]] void run(Wave& w, const Inst& in) {
    using Args = typename CallTraits<decltype(F)>::Args;
    const auto r =
        evaluate<F, Flags, Args>(w, in, std::make_index_sequence<std::tuple_size_v<Args>>());
    if constexpr (std::is_same_v<decltype(r), const bool>)
        w.scc = r;
    else
        write_s32(w, in.dst[0], result_bits(w, r));
}

// D = F(S...), or SCC = F(S...) where F gives a bool.
template <auto F, u32 Flags = 0>
void op(Wave& w, const Inst& in) {
    using R = typename CallTraits<decltype(F)>::Result;
    if constexpr (uses_rounding<R, Flags>)
        with_rounding<R, Flags>(w, in, &run<F, Flags>);
    else
        run<F, Flags>(w, in);
}

u32 pack_rtz(const FloatMode& m, float a, float b) {
    const auto half = [&](float x) { return u32{gf::flush_out(m, gf::to_half_rtz(x)).bits}; };
    return half(a) | half(b) << 16;
}

inline float value(float x) {
    return x;
}
inline float value(Half x) {
    return gf::to_float(x);
}

#define COMPARE(name, type, T, expr)                     \
    {                                                    \
        Opcode::s_cmp_##name##_##type, op<[](T x, T y) { \
            const float a = value(x), b = value(y);      \
            return expr;                                 \
        }>                                               \
    }
#define COMPARES(type, T)                                                                    \
    COMPARE(lt, type, T, a < b), COMPARE(eq, type, T, a == b), COMPARE(le, type, T, a <= b), \
        COMPARE(gt, type, T, b < a), COMPARE(lg, type, T, a < b || b < a),                   \
        COMPARE(ge, type, T, b <= a), COMPARE(o, type, T, a == a && b == b),                 \
        COMPARE(u, type, T, a != a || b != b), COMPARE(nge, type, T, !(b <= a)),             \
        COMPARE(nlg, type, T, !(a < b || b < a)), COMPARE(ngt, type, T, !(b < a)),           \
        COMPARE(nle, type, T, !(a <= b)), COMPARE(neq, type, T, a != b),                     \
        COMPARE(nlt, type, T, !(a < b))
#define ARITHMETIC(type, T)                                                                        \
    {Opcode::s_add_##type, op<[](T a, T b) { return gf::add(a, b); }>},                            \
        {Opcode::s_sub_##type, op<[](T a, T b) { return gf::sub(a, b); }>},                        \
        {Opcode::s_mul_##type, op<[](T a, T b) { return gf::mul(a, b); }>},                        \
        {Opcode::s_fmac_##type, op<[](T a, T b, T c) { return gf::fma(a, b, c); }, addend>},       \
        {Opcode::s_min_##type, op<[](const FloatMode& m, T a, T b) { return gf::min(m, a, b); }>}, \
        {Opcode::s_max_##type, op<[](const FloatMode& m, T a, T b) { return gf::max(m, a, b); }>}, \
        {Opcode::s_min_num_##type, op<[](T a, T b) { return gf::min_number(a, b); }>},             \
        {Opcode::s_max_num_##type, op<[](T a, T b) { return gf::max_number(a, b); }>},             \
        {Opcode::s_minimum_##type, op<[](T a, T b) { return gf::minimum(a, b); }>},                \
        {Opcode::s_maximum_##type, op<[](T a, T b) { return gf::maximum(a, b); }>},                \
        {Opcode::s_ceil_##type, op<[](T a) { return gf::ceil(a); }>},                              \
        {Opcode::s_floor_##type, op<[](T a) { return gf::floor(a); }>},                            \
        {Opcode::s_trunc_##type, op<[](T a) { return gf::trunc(a); }>}, {                          \
        Opcode::s_rndne_##type, op<[](T a) { return gf::rndne(a); }>                               \
    }

// ---- v_s_*: as the vector instructions, of one value into an SGPR

template <class T, auto F, u32 Flags>
[[gnu::noinline]] void transcendental_run(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) T buf[lanes], out[lanes] = {};
    out[0] = F(load<T>(v, 0, buf, m, false, false)[0]);
    if constexpr (std::is_same_v<T, Half> && !(Flags & no_ovfl)) {
        if (m.fp16_ovfl() && gf::is_inf(out[0]) && !gf::is_inf(buf[0]))
            out[0].bits = (out[0].bits & 0x8000) | 0x7bff;
    }
    finish_floats(v, m, out);
    write_s32(w, in.dst[0], gf::to_bits(out[0]));
}
template <auto F>
constexpr auto half = [](Half a) { return gf::to_half(F(gf::to_float(a))); };

// clang-format off
constexpr HandlerEntry table[] = {
    ARITHMETIC(f32, float),
    ARITHMETIC(f16, Half),
    COMPARES(f32, float),
    COMPARES(f16, Half),
    {Opcode::s_fmaak_f32, op<[](float a, float b, float c) { return gf::fma(a, b, c); }>},
    {Opcode::s_fmamk_f32, op<[](float a, float b, float c) { return gf::fma(a, b, c); }>},
    {Opcode::s_cvt_f32_i32, op<[](i32 a) { return gf::from_int(a); }>},
    {Opcode::s_cvt_f32_u32, op<[](u32 a) { return gf::from_uint(a); }>},
    {Opcode::s_cvt_i32_f32, op<[](float a) { return gf::to_int_sat<i32>(a); }>},
    {Opcode::s_cvt_u32_f32, op<[](float a) { return gf::to_int_sat<u32>(a); }>},
    {Opcode::s_cvt_f16_f32, op<[](float a) { return gf::to_half(a); }>},
    {Opcode::s_cvt_f32_f16, op<[](Half a) { return gf::to_float(a); }>},
    {Opcode::s_cvt_hi_f32_f16, op<[](const FloatMode& m, u32 a) { return gf::to_float(gf::flush_in(m, Half{static_cast<uint16_t>(a / 65536)})); }>},
    {Opcode::s_cvt_pk_rtz_f16_f32, op<[](const FloatMode& m, float a, float b) { return pack_rtz(m, a, b); }>},

    {Opcode::v_s_exp_f32, transcendental_run<float, trans::exp2, 0>},
    {Opcode::v_s_log_f32, transcendental_run<float, trans::log2, 0>},
    {Opcode::v_s_rcp_f32, transcendental_run<float, trans::rcp, 0>},
    {Opcode::v_s_rsq_f32, transcendental_run<float, trans::rsq, 0>},
    {Opcode::v_s_sqrt_f32, transcendental_run<float, [](float a) { return gf::sqrt(a); }, 0>},
    {Opcode::v_s_exp_f16, transcendental_run<Half, half<trans::exp2>, 0>},
    {Opcode::v_s_log_f16, transcendental_run<Half, half<trans::log2>, no_ovfl>},
    {Opcode::v_s_rcp_f16, transcendental_run<Half, half<trans::rcp>, no_ovfl>},
    {Opcode::v_s_rsq_f16, transcendental_run<Half, half<trans::rsq>, no_ovfl>},
    {Opcode::v_s_sqrt_f16, transcendental_run<Half, [](Half a) { return gf::sqrt(a); }, no_ovfl>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> scalar_float_handlers() {
    return table;
}

}  // namespace wj::interp
