// Arithmetic of the host together with the exceptions that it raises: the bits of MXCSR are those
// of TRAPSTS. Only what stands between loading and storing MXCSR counts, and compilers know nothing
// of that: each operation is one statement with both.
#pragma once

#include "common/guest_float.h"
#include "machine/wave.h"

namespace wj::interp {

template <class T>
struct Raised {
    T value;
    uint32_t flags = 0;
};

// MXCSR with nothing raised: all exceptions masked, MODE's rounding (0 to 3).
constexpr uint32_t host_control(uint32_t round) {
    constexpr uint32_t at_rest = 0x1f80, bits[4] = {0x0000, 0x4000, 0x2000, 0x6000};
    return at_rest | bits[round & 3];
}
inline constexpr uint32_t host_toward_zero = host_control(3);

// The host calls an operand denormal by rules of its own: operands are looked at one by one.
inline constexpr uint32_t host_flags =
    machine::exception::invalid | machine::exception::divide_by_zero |
    machine::exception::overflow | machine::exception::underflow | machine::exception::inexact;

#define WJ_RAISED(result, instruction, ...)                                                      \
    uint32_t after = control;                                                                    \
    const uint32_t rest = _mm_getcsr();                                                          \
    result r;                                                                                    \
    asm volatile("vldmxcsr %[after]\n\t" instruction "\n\tvstmxcsr %[after]\n\tvldmxcsr %[rest]" \
                 : [r] "=&x"(r), [after] "+m"(after)                                             \
                 : [rest] "m"(rest), __VA_ARGS__);                                               \
    return {                                                                                     \
        r, after& host_flags                                                                     \
    }

#define WJ_RAISED_BINARY(name, stem)                                               \
    inline Raised<float> name(uint32_t control, float a, float b) {                \
        WJ_RAISED(float, "v" stem "ss %[b], %[a], %[r]", [a] "x"(a), [b] "x"(b));  \
    }                                                                              \
    inline Raised<double> name(uint32_t control, double a, double b) {             \
        WJ_RAISED(double, "v" stem "sd %[b], %[a], %[r]", [a] "x"(a), [b] "x"(b)); \
    }
WJ_RAISED_BINARY(raised_add, "add")
WJ_RAISED_BINARY(raised_mul, "mul")
WJ_RAISED_BINARY(raised_div, "div")
#undef WJ_RAISED_BINARY

inline Raised<float> raised_fma(uint32_t control, float a, float b, float c) {
    WJ_RAISED(
        float,
        "vmovaps %[c], %[r]\n\tvfmadd231ss %[b], %[a], %[r]", [a] "x"(a), [b] "x"(b), [c] "x"(c));
}
inline Raised<double> raised_fma(uint32_t control, double a, double b, double c) {
    WJ_RAISED(
        double,
        "vmovapd %[c], %[r]\n\tvfmadd231sd %[b], %[a], %[r]", [a] "x"(a), [b] "x"(b), [c] "x"(c));
}
inline Raised<float> raised_sqrt(uint32_t control, float a) {
    WJ_RAISED(float, "vsqrtss %[a], %[a], %[r]", [a] "x"(a));
}
inline Raised<double> raised_sqrt(uint32_t control, double a) {
    WJ_RAISED(double, "vsqrtsd %[a], %[a], %[r]", [a] "x"(a));
}
inline Raised<float> raised_float(uint32_t control, double a) {
    WJ_RAISED(float, "vcvtsd2ss %[a], %[a], %[r]", [a] "x"(a));
}
// Of four floats, three of which are 0. The half is in the lowest bits of what is called a float.
inline Raised<float> raised_half_bits(uint32_t control, float a) {
    WJ_RAISED(float, "vcvtps2ph $4, %[a], %[r]", [a] "x"(_mm_set_ss(a)));
}
#undef WJ_RAISED

inline Raised<gf::Half> raised_half(uint32_t control, float a) {
    const Raised<float> r = raised_half_bits(control, a);
    return {gf::Half{static_cast<uint16_t>(gf::to_bits(r.value))}, r.flags};
}

// An f64 that was rounded towards zero, to f16 as if it had been rounded once: what was lost stays
// as a lowest bit that is set, in f64 and then in f32. Its magnitude is 0, or in the range of f32.
inline Raised<gf::Half> raised_half(uint32_t control, const Raised<double>& x) {
    using machine::exception::inexact;
    constexpr uint64_t dropped = (uint64_t{1} << 29) - 1;
    const uint64_t b = gf::to_bits(x.value) | uint64_t{(x.flags & inexact) != 0};
    const double odd = gf::from_bits<double>((b & ~dropped) | uint64_t{(b & dropped) != 0} << 29);
    Raised<gf::Half> r = raised_half(control, gf::to_float(odd));
    r.flags |= x.flags & ~inexact;
    return r;
}

}  // namespace wj::interp
