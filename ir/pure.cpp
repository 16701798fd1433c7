#include "ir/pure.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/fixup.h"
#include "common/guest_float.h"

namespace wj::ir {
namespace {

float f32(uint64_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
double f64(uint64_t bits) {
    return std::bit_cast<double>(bits);
}
uint64_t bits(float x) {
    return std::bit_cast<uint32_t>(x);
}
uint64_t bits(double x) {
    return std::bit_cast<uint64_t>(x);
}

template <class F>
struct Format;
template <>
struct Format<float> {
    static constexpr uint64_t quiet = 1u << 22, default_nan = 0xffc00000;
    static float from(uint64_t b) { return f32(b); }
};
template <>
struct Format<double> {
    static constexpr uint64_t quiet = 1ull << 51, default_nan = 0xfff8000000000000;
    static double from(uint64_t b) { return f64(b); }
};

// The first NaN in order of the operands wins, quieted; an invalid operation gives the default NaN.
template <class F, class Compute>
uint64_t arithmetic(std::initializer_list<uint64_t> operands, Compute compute) {
    for (uint64_t o : operands)
        if (std::isnan(Format<F>::from(o))) return o | Format<F>::quiet;
    const F r = compute();
    return std::isnan(r) ? Format<F>::default_nan : bits(r);
}

template <class F>
uint64_t min_max(uint64_t a, uint64_t b, bool max, bool ieee) {
    const F x = Format<F>::from(a), y = Format<F>::from(b);
    auto signalling = [](uint64_t v, F f) { return std::isnan(f) && !(v & Format<F>::quiet); };
    if (ieee && signalling(a, x)) return a | Format<F>::quiet;
    if (ieee && signalling(b, y)) return b | Format<F>::quiet;
    if (std::isnan(x)) return b;
    if (std::isnan(y)) return a;
    if (x == y) return (std::signbit(x) != 0) != max ? a : b;  // zeros: -0 below +0
    return (x < y) != max ? a : b;
}

// x86 predicates: bits 0..2 relation, bit 3 the unordered outcome where it differs, bit 4
// signalling only.
template <class F>
bool compare(uint64_t a, uint64_t b, uint32_t predicate) {
    const F x = Format<F>::from(a), y = Format<F>::from(b);
    const bool unordered = std::isnan(x) || std::isnan(y);
    switch (predicate & 15) {
        case 0:
            return !unordered && x == y;
        case 1:
            return !unordered && x < y;
        case 2:
            return !unordered && x <= y;
        case 3:
            return unordered;
        case 4:
            return unordered || x != y;
        case 5:
            return unordered || !(x < y);
        case 6:
            return unordered || !(x <= y);
        case 7:
            return !unordered;
        case 8:
            return unordered || x == y;
        case 9:
            return unordered || x < y;
        case 10:
            return unordered || x <= y;
        case 11:
            return false;
        case 12:
            return !unordered && x != y;
        case 13:
            return !unordered && x >= y;
        case 14:
            return !unordered && x > y;
        default:
            return true;
    }
}

template <class F>
F round_to(F x, uint64_t mode) {
    switch (mode) {
        case 0:
            return std::nearbyint(x);
        case 1:
            return std::floor(x);
        case 2:
            return std::ceil(x);
        default:
            return std::trunc(x);
    }
}

template <class I, class F>
uint32_t saturate(F x) {
    if (std::isnan(x)) return 0;
    const double d = std::trunc(static_cast<double>(x));
    const double low = std::is_signed_v<I> ? -2147483648.0 : 0.0,
                 high = std::is_signed_v<I> ? 2147483647.0 : 4294967295.0;
    if (d <= low) return std::is_signed_v<I> ? 0x80000000u : 0u;
    if (d >= high) return std::is_signed_v<I> ? 0x7fffffffu : 0xffffffffu;
    return static_cast<uint32_t>(static_cast<int64_t>(d));
}

uint32_t to_half(float x, bool truncate) {
    const auto b = static_cast<uint32_t>(bits(x));
    const uint32_t sign = b >> 16 & 0x8000;
    if (std::isnan(x)) return sign | 0x7e00 | (b >> 13 & 0x3ff);
    const double magnitude = std::fabs(static_cast<double>(x));
    if (magnitude == 0) return sign;
    if (std::isinf(x) || (magnitude >= 65520.0 && !truncate)) return sign | 0x7c00;
    if (magnitude >= 65504.0 && truncate) return sign | 0x7bff;
    // In units of the last place of the result's binade.
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int scale = std::max(exponent - 11, -24);
    const double exact = std::ldexp(magnitude, -scale);
    const auto units = static_cast<uint32_t>(truncate ? exact : std::nearbyint(exact));
    return sign | (units + (static_cast<uint32_t>(scale + 24) << 10));
}

float from_half(uint32_t h) {
    const uint32_t exponent = h >> 10 & 31, mantissa = h & 0x3ff;
    const uint32_t sign = (h & 0x8000) << 16;
    if (exponent == 31) return f32(sign | 0x7f800000 | mantissa << 13 | (mantissa ? 1u << 22 : 0));
    const double m = exponent ? std::ldexp(1024.0 + mantissa, static_cast<int>(exponent) - 25)
                              : std::ldexp(static_cast<double>(mantissa), -24);
    return static_cast<float>(h & 0x8000 ? -m : m);
}

uint32_t reverse_bits(uint32_t x) {
    uint32_t r = 0;
    for (int i = 0; i < 32; ++i) r |= (x >> i & 1) << (31 - i);
    return r;
}

// The n-th half of a dword, signed.
int32_t half(uint32_t x, uint32_t n) {
    return static_cast<int16_t>(x >> 16 * n);
}
template <class F>
uint64_t halves(uint32_t a, uint32_t b, F op) {
    uint32_t r = 0;
    for (uint32_t n : {0u, 1u})
        r |= (static_cast<uint32_t>(op(half(a, n), half(b, n))) & 0xffff) << 16 * n;
    return r;
}

uint64_t ldexp64(uint64_t a, int32_t n) {
    if (std::isnan(f64(a))) return a | Format<double>::quiet;
    return bits(std::scalbln(f64(a), n));
}

}  // namespace

uint64_t pure(const Inst& i, uint64_t x, uint64_t y, uint64_t z) {
    const auto a = static_cast<uint32_t>(x), b = static_cast<uint32_t>(y),
               c = static_cast<uint32_t>(z);
    const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
    const auto sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
    auto w32 = [](uint32_t r) -> uint64_t { return r; };
    auto f = [&](auto op) {
        return arithmetic<float>({x, y}, [&] { return static_cast<float>(op(f32(x), f32(y))); });
    };
    auto d = [&](auto op) {
        return arithmetic<double>({x, y}, [&] { return op(f64(x), f64(y)); });
    };
    switch (i.op) {
        case Op::Splat32:
        case Op::Splat64:
            return x;
        case Op::Pack64:
        case Op::UPack64:
            return x | y << 32;
        case Op::Lo:
        case Op::ULo:
            return w32(a);
        case Op::Hi:
        case Op::UHi:
            return x >> 32;
        case Op::UAdd32:
        case Op::Add32:
            return w32(a + b);
        case Op::USub32:
        case Op::Sub32:
            return w32(a - b);
        case Op::UMul32:
        case Op::Mul32:
            return w32(a * b);
        case Op::UMulHiU32:
        case Op::MulHiU32:
            return uint64_t{a} * b >> 32;
        case Op::UMulHiS32:
        case Op::MulHiS32:
            return w32(static_cast<uint32_t>(int64_t{sa} * sb >> 32));
        case Op::URcp32: {
            const float r = f32(i.imm) * (1.0f / static_cast<float>(a));
            return r < 0x1p32f ? static_cast<uint32_t>(r) : ~0u;
        }
        case Op::PkAdd16:
            return halves(a, b, [](int32_t p, int32_t q) { return p + q; });
        case Op::PkSub16:
            return halves(a, b, [](int32_t p, int32_t q) { return p - q; });
        case Op::PkAddSatS16:
            return halves(a, b,
                          [](int32_t p, int32_t q) { return std::clamp(p + q, -32768, 32767); });
        case Op::PkSubSatS16:
            return halves(a, b,
                          [](int32_t p, int32_t q) { return std::clamp(p - q, -32768, 32767); });
        case Op::PkAddSatU16:
            return halves(a, b, [](int32_t p, int32_t q) {
                return std::min((p & 0xffff) + (q & 0xffff), 0xffff);
            });
        case Op::PkSubSatU16:
            return halves(a, b, [](int32_t p, int32_t q) {
                return std::max((p & 0xffff) - (q & 0xffff), 0);
            });
        case Op::PkMul16:
            return halves(a, b, [](int32_t p, int32_t q) { return p * q; });
        case Op::PkMinS16:
            return halves(a, b, [](int32_t p, int32_t q) { return std::min(p, q); });
        case Op::PkMaxS16:
            return halves(a, b, [](int32_t p, int32_t q) { return std::max(p, q); });
        case Op::PkMinU16:
            return halves(a, b,
                          [](int32_t p, int32_t q) { return std::min(p & 0xffff, q & 0xffff); });
        case Op::PkMaxU16:
            return halves(a, b,
                          [](int32_t p, int32_t q) { return std::max(p & 0xffff, q & 0xffff); });
        case Op::Dot16:
            return w32(static_cast<uint64_t>(int64_t{half(a, 0)} * half(b, 0) +
                                             int64_t{half(a, 1)} * half(b, 1)));
        case Op::UAnd32:
        case Op::And32:
            return a & b;
        case Op::UOr32:
        case Op::Or32:
            return a | b;
        case Op::UXor32:
        case Op::Xor32:
            return a ^ b;
        case Op::UShl32:
        case Op::Shl32:
            return w32(a << (b & 31));
        case Op::UShr32:
        case Op::Shr32:
            return a >> (b & 31);
        case Op::USar32:
        case Op::Sar32:
            return w32(static_cast<uint32_t>(sa >> (b & 31)));
        case Op::UMinU32:
        case Op::MinU32:
            return std::min(a, b);
        case Op::UMaxU32:
        case Op::MaxU32:
            return std::max(a, b);
        case Op::UMinS32:
        case Op::MinS32:
            return w32(static_cast<uint32_t>(std::min(sa, sb)));
        case Op::UMaxS32:
        case Op::MaxS32:
            return w32(static_cast<uint32_t>(std::max(sa, sb)));
        case Op::UPopcnt32:
        case Op::Popcnt32:
            return static_cast<uint64_t>(std::popcount(a));
        case Op::UCtz32:
        case Op::Ctz32:
            return static_cast<uint64_t>(std::countr_zero(a));
        case Op::UClz32:
        case Op::Clz32:
            return static_cast<uint64_t>(std::countl_zero(a));
        case Op::UBrev32:
        case Op::Brev32:
            return reverse_bits(a);
        case Op::UBswap32:
        case Op::Bswap32:
            return w32(a >> 24 | (a >> 8 & 0xff00) | (a << 8 & 0xff0000) | a << 24);
        case Op::USext8:
            return w32(static_cast<uint32_t>(static_cast<int8_t>(a)));
        case Op::USext16:
            return w32(static_cast<uint32_t>(static_cast<int16_t>(a)));
        case Op::UCmpEq32:
        case Op::CmpEq32:
            return a == b;
        case Op::UCmpNe32:
        case Op::CmpNe32:
            return a != b;
        case Op::UCmpLtU32:
        case Op::CmpLtU32:
            return a < b;
        case Op::UCmpLeU32:
        case Op::CmpLeU32:
            return a <= b;
        case Op::UCmpLtS32:
        case Op::CmpLtS32:
            return sa < sb;
        case Op::UCmpLeS32:
        case Op::CmpLeS32:
            return sa <= sb;
        case Op::UCmpEq64:
        case Op::CmpEq64:
            return x == y;
        case Op::UCmpNe64:
        case Op::CmpNe64:
            return x != y;
        case Op::UCmpLtU64:
        case Op::CmpLtU64:
            return x < y;
        case Op::CmpLeU64:
            return x <= y;
        case Op::CmpLtS64:
            return sx < sy;
        case Op::CmpLeS64:
            return sx <= sy;
        case Op::USelect32:
        case Op::USelect64:
        case Op::Select32:
            return x ? y : z;
        case Op::UAdd64:
        case Op::Add64:
            return x + y;
        case Op::USub64:
        case Op::Sub64:
            return x - y;
        case Op::UMulWideU32:
        case Op::MulWideU32:
            return uint64_t{a} * b;
        case Op::MulWideS32:
            return static_cast<uint64_t>(int64_t{sa} * sb);
        case Op::UAnd64:
            return x & y;
        case Op::UOr64:
            return x | y;
        case Op::UXor64:
            return x ^ y;
        case Op::UShl64:
        case Op::Shl64:
            return x << (y & 63);
        case Op::UShr64:
        case Op::Shr64:
            return x >> (y & 63);
        case Op::USar64:
        case Op::Sar64:
            return static_cast<uint64_t>(sx >> (y & 63));
        case Op::UPopcnt64:
            return static_cast<uint64_t>(std::popcount(x));
        case Op::UCtz64:
            return static_cast<uint64_t>(std::countr_zero(x));
        case Op::UClz64:
            return static_cast<uint64_t>(std::countl_zero(x));
        case Op::USext32:
            return static_cast<uint64_t>(int64_t{sa});
        case Op::ULowBits:
            return (x & 255) >= 64 ? ~0ull : (1ull << (x & 255)) - 1;
        case Op::UZext32:
            return a;
        case Op::Bitop3: {
            uint32_t r = 0;
            for (int bit = 0; bit < 32; ++bit) {
                const uint32_t index = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1);
                r |= static_cast<uint32_t>(i.imm >> index & 1) << bit;
            }
            return r;
        }
        case Op::Fshr32:
            return w32(static_cast<uint32_t>((x << 32 | b) >> (c & 31)));
        case Op::MaskAnd:
            return x & y;
        case Op::MaskOr:
            return x | y;
        case Op::MaskXor:
            return x ^ y;
        case Op::MaskAndNot:
            return x & ~y & 1;
        case Op::MaskNot:
            return ~x & 1;
        case Op::AddCarry32:
            return w32(a + b + c);
        case Op::CarryOut32:
            return (uint64_t{a} + b + c) >> 32 & 1;
        case Op::SubBorrow32:
            return w32(a - b - c);
        case Op::BorrowOut32:
            return uint64_t{a} < uint64_t{b} + c;
        case Op::FAdd32:
            return f([](float p, float q) { return p + q; });
        case Op::FSub32:
            return f([](float p, float q) { return p - q; });
        case Op::FMul32:
            return f([](float p, float q) { return p * q; });
        case Op::FDiv32:
            return f([](float p, float q) { return p / q; });
        case Op::FQuot32:
            if (!c) return f([](float p, float q) { return p / q; });
            return w32(std::bit_cast<uint32_t>(gf::div_by_steps(f32(x), f32(y))));
        case Op::FFma32:
            return arithmetic<float>({x, y, z}, [&] { return std::fma(f32(x), f32(y), f32(z)); });
        case Op::FSqrt32:
            return arithmetic<float>({x}, [&] { return std::sqrt(f32(x)); });
        case Op::FQuotFrexp32:
            if (!c) return f([](float p, float q) { return p * (1 / q); });
            return w32(std::bit_cast<uint32_t>(i.imm
                                                   ? gf::div_by_fractions<true>(f32(x), f32(y))
                                                   : gf::div_by_fractions<false>(f32(x), f32(y))));
        case Op::FRsq32:
            return arithmetic<float>({x}, [&] {
                return static_cast<float>(1 / std::sqrt(static_cast<double>(f32(x))));
            });
        case Op::FFixup32:
            return trans::apply({static_cast<uint32_t>(i.imm)}, static_cast<uint32_t>(x),
                                static_cast<uint32_t>(y));
        case Op::FFrexpExp32: {
            int exponent = 0;
            if (std::isfinite(f32(x))) std::frexp(f32(x), &exponent);
            return static_cast<uint32_t>(exponent);
        }
        case Op::FFrexpMant32: {
            int exponent = 0;
            return arithmetic<float>({x}, [&] { return std::frexp(f32(x), &exponent); });
        }
        case Op::FMin32:
            return min_max<float>(x, y, false, i.imm == minmax_ieee);
        case Op::FMax32:
            return min_max<float>(x, y, true, i.imm == minmax_ieee);
        case Op::FRound32:
            return arithmetic<float>({x}, [&] { return round_to(f32(x), i.imm); });
        case Op::FFlush32:
            return (a & 0x7f800000) == 0 ? a & 0x80000000 : a;
        case Op::FCmp32:
            return compare<float>(x, y, static_cast<uint32_t>(i.imm));
        case Op::FLdexp32:
            return arithmetic<float>({x}, [&] { return std::scalbln(f32(x), sb); });
        case Op::CvtI32ToF32:
            return bits(static_cast<float>(sa));
        case Op::CvtU32ToF32:
            return bits(static_cast<float>(a));
        case Op::CvtF32ToI32:
            return saturate<int32_t>(f32(x));
        case Op::CvtF32ToU32:
            return saturate<uint32_t>(f32(x));
        case Op::CvtF32ToF16:
            return to_half(f32(x), i.imm == 3);
        case Op::CvtF16ToF32:
            return bits(from_half(a & 0xffff));
        case Op::CvtF32ToF64:
            if (std::isnan(f32(x)))
                return uint64_t{a & 0x80000000} << 32 | 0x7ff8000000000000 |
                       uint64_t{a & 0x3fffff} << 29;
            return bits(static_cast<double>(f32(x)));
        case Op::CvtF64ToF32:
            if (std::isnan(f64(x)))
                return (x >> 32 & 0x80000000) | 0x7fc00000 | (x >> 29 & 0x3fffff);
            return bits(static_cast<float>(f64(x)));
        case Op::CvtI32ToF64:
            return bits(static_cast<double>(sa));
        case Op::CvtU32ToF64:
            return bits(static_cast<double>(a));
        case Op::CvtF64ToI32:
            return saturate<int32_t>(f64(x));
        case Op::CvtF64ToU32:
            return saturate<uint32_t>(f64(x));
        case Op::FAdd64:
            return d([](double p, double q) { return p + q; });
        case Op::FMul64:
            return d([](double p, double q) { return p * q; });
        case Op::FDiv64:
            return d([](double p, double q) { return p / q; });
        case Op::FQuot64:
            if (!c) return d([](double p, double q) { return p / q; });
            return bits(gf::div_by_steps(f64(x), f64(y)));
        case Op::FFma64:
            return arithmetic<double>({x, y, z}, [&] { return std::fma(f64(x), f64(y), f64(z)); });
        case Op::FSqrt64:
            return arithmetic<double>({x}, [&] { return std::sqrt(f64(x)); });
        case Op::FMin64:
            return min_max<double>(x, y, false, i.imm == minmax_ieee);
        case Op::FMax64:
            return min_max<double>(x, y, true, i.imm == minmax_ieee);
        case Op::FRound64:
            return arithmetic<double>({x}, [&] { return round_to(f64(x), i.imm); });
        case Op::FCmp64:
            return compare<double>(x, y, static_cast<uint32_t>(i.imm));
        case Op::FLdexp64:
            return ldexp64(x, sb);
        default:
            return 0;
    }
}

}  // namespace wj::ir
