// Float atomics of LDS and memory as AMD's manuals define them (CDNA4 ISA, 9.2): sums are rounded
// to nearest even whatever MODE says; who flushes denormals is said by the caller
// (docs/design/memory.md).
#pragma once

#include "common/guest_float.h"

namespace wj::gf {

// What the language compares: a half is exact as a float.
template <class F>
auto number(F x) {
    if constexpr (std::is_same_v<F, Half>)
        return to_float(x);
    else
        return x;
}

template <class F>
Bits<F> atomic_add(Bits<F> old, Bits<F> data, bool flush_in, bool flush_out) {
    const auto in = [&](Bits<F> x) { return flush_in ? flush(from_bits<F>(x)) : from_bits<F>(x); };
    const F sum = add(in(old), in(data));
    return to_bits(flush_out ? flush(sum) : sum);
}

// Minimum, maximum: a signalling NaN is returned quieted, memory's first; a quiet NaN loses; -0 is
// less than +0. Denormals are flushed for the comparison only. prefer_numbers: a signalling NaN
// loses, too, and of two NaNs the quieted data is returned.
template <class F, bool Max>
Bits<F> atomic_extreme(Bits<F> old, Bits<F> data, bool flush_in, bool prefer_numbers = false) {
    const F a = from_bits<F>(old), b = from_bits<F>(data);
    if (prefer_numbers) {
        if (is_nan(a) && is_nan(b)) return to_bits(quiet(b));
    } else {
        if (is_snan(a)) return to_bits(quiet(a));
        if (is_snan(b)) return to_bits(quiet(b));
    }
    if (is_nan(b)) return old;
    if (is_nan(a)) return data;
    const auto x = number(flush_in ? flush(a) : a), y = number(flush_in ? flush(b) : b);
    if (x == y)  // zeros of both signs are equal, too
        return is_negative(Max ? x : y) && !is_negative(Max ? y : x) ? data : old;
    return (Max ? y > x : y < x) ? data : old;
}

inline uint32_t atomic_add_f16(uint32_t old, uint32_t data, bool flush_in, bool flush_out) {
    const auto half = [&](uint32_t v) {
        const Half h{static_cast<uint16_t>(v)};
        return flush_in ? flush(h) : h;
    };
    const Half sum = add(half(old), half(data));
    return (flush_out ? flush(sum) : sum).bits;
}

// f32 holds every sum of two bf16 values exactly enough (24 >= 2 * 8 + 2 bits).
inline uint32_t atomic_add_bf16(uint32_t old, uint32_t data, bool flush_in, bool flush_out) {
    const uint32_t sum = atomic_add<float>(old << 16, data << 16, flush_in, false);
    const uint32_t rounded =
        is_nan(from_bits<float>(sum)) ? sum >> 16 | 0x40 : (sum + 0x7fff + (sum >> 16 & 1)) >> 16;
    return flush_out ? to_bits(flush(from_bits<float>(rounded << 16))) >> 16 : rounded;
}

// Both halves of a dword.
template <auto Add>
uint32_t atomic_add_pair(uint32_t old, uint32_t data, bool flush_in, bool flush_out) {
    return Add(old & 0xffff, data & 0xffff, flush_in, flush_out) |
           Add(old >> 16, data >> 16, flush_in, flush_out) << 16;
}

}  // namespace wj::gf
