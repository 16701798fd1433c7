// What Op::FFixup32 makes of special arguments: four bits for each class of the argument, lowest
// first, as in the table of x86's vfixupimmps ("Intel 64 and IA-32 Architectures Software
// Developer's Manual", VFIXUPIMMPS). Denormals are ordinary numbers. A table that answers for
// Negative answers for MinusInf, Zero and NaN, too; the two NaN classes have the same answer.
#pragma once

#include <cstdint>

namespace wj::trans {

enum class FloatClass : uint32_t {
    QuietNan,
    SignallingNan,
    Zero,
    One,
    MinusInf,
    PlusInf,
    Negative,
    Positive
};
enum class Response : uint32_t { Keep = 0, Quiet = 2, DefaultNan = 3, MinusInf = 4, PlusInf = 5 };

struct Fixup {
    uint32_t table = 0;
    constexpr Fixup with(FloatClass c, Response r) const {
        return {table | static_cast<uint32_t>(r) << 4 * static_cast<uint32_t>(c)};
    }
    constexpr Response of(FloatClass c) const {
        return static_cast<Response>(table >> 4 * static_cast<uint32_t>(c) & 15);
    }
};

// NaN arguments give themselves, quiet.
inline constexpr Fixup quiet_nans = Fixup{}
                                        .with(FloatClass::QuietNan, Response::Quiet)
                                        .with(FloatClass::SignallingNan, Response::Quiet);
// And a logarithm: -infinity for zeros, NaN for negative numbers.
inline constexpr Fixup logarithm = quiet_nans.with(FloatClass::Zero, Response::MinusInf)
                                       .with(FloatClass::MinusInf, Response::DefaultNan)
                                       .with(FloatClass::PlusInf, Response::PlusInf)
                                       .with(FloatClass::Negative, Response::DefaultNan);

// The bits of a response that is one value.
constexpr uint32_t value_of(Response r) {
    switch (r) {
        case Response::DefaultNan:
            return 0xffc00000;
        case Response::MinusInf:
            return 0xff800000;
        case Response::PlusInf:
            return 0x7f800000;
        default:
            return 0;
    }
}

// r, or what the table says for x; both by their bits.
inline uint32_t apply(Fixup f, uint32_t r, uint32_t x) {
    const uint32_t magnitude = x & 0x7fffffff;
    const bool minus = x != magnitude;
    FloatClass c = minus ? FloatClass::Negative : FloatClass::Positive;
    if (magnitude > 0x7f800000)
        c = x & 0x00400000 ? FloatClass::QuietNan : FloatClass::SignallingNan;
    else if (magnitude == 0x7f800000)
        c = minus ? FloatClass::MinusInf : FloatClass::PlusInf;
    else if (magnitude == 0)
        c = FloatClass::Zero;
    else if (x == 0x3f800000)
        c = FloatClass::One;
    const Response response = f.of(c);
    if (response == Response::Keep) return r;
    return response == Response::Quiet ? x | 0x00400000 : value_of(response);
}

}  // namespace wj::trans
