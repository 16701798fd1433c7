#include "tests/jit/wave_product_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>

namespace wj::model {
namespace {

using machine::Wave;

struct Format {
    int exponent_bits, mantissa_bits;
    bool has_infinity, has_nan;
};
const std::map<std::string, Format> formats = {
    {"f32", {8, 23, true, true}},  {"f16", {5, 10, true, true}}, {"bf16", {8, 7, true, true}},
    {"bf8", {5, 2, true, true}},   {"fp8", {4, 3, false, true}}, {"fp6", {2, 3, false, false}},
    {"bf6", {3, 2, false, false}}, {"fp4", {2, 1, false, false}}};
const char* const mx_formats[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};

float quiet(float x) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(x) | 0x400000u);
}
const float invalid = std::bit_cast<float>(0xffc00000u);

// The first NaN in the order given, quieted; else the result, or what an invalid operation gives.
float choose(std::initializer_list<float> operands, float result) {
    for (const float x : operands)
        if (std::isnan(x)) return quiet(x);
    return std::isnan(result) ? invalid : result;
}
float fused(float a, float b, float c) {
    return choose({a, b, c}, std::fma(a, b, c));
}

float decode(const std::string& type, uint32_t code) {
    if (type == "f32") return std::bit_cast<float>(code);
    const Format f = formats.at(type);
    const int e_bits = f.exponent_bits, m_bits = f.mantissa_bits;
    const uint32_t mantissa = code & ((1u << m_bits) - 1);
    const int exponent = int(code >> m_bits & ((1u << e_bits) - 1));
    const bool negative = code >> (e_bits + m_bits) & 1;
    const int bias = (1 << (e_bits - 1)) - 1, last = (1 << e_bits) - 1;
    if (f.has_infinity && exponent == last) {
        if (m_bits < 7 && mantissa) return std::bit_cast<float>(0x7fc00000u);
        const uint32_t bits = 0x7f800000u | mantissa << (23 - m_bits) | uint32_t{negative} << 31;
        return std::bit_cast<float>(bits);
    }
    if (f.has_nan && exponent == last && mantissa == (1u << m_bits) - 1)
        return std::bit_cast<float>(0x7fc00000u);
    const double size = exponent ? std::ldexp(mantissa | 1u << m_bits, exponent - bias - m_bits)
                                 : std::ldexp(mantissa, 1 - bias - m_bits);
    return float(negative ? -size : size);
}

uint32_t encode(const std::string& type, float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    if (type == "f32") return bits;
    const Format f = formats.at(type);
    const int e_bits = f.exponent_bits, m_bits = f.mantissa_bits;
    const uint32_t sign = bits >> 31 << (e_bits + m_bits);
    const uint32_t infinity = ((1u << e_bits) - 1) << m_bits;
    if (std::isnan(x))
        return sign | infinity | (bits & 0x7fffff) >> (23 - m_bits) | 1u << (m_bits - 1);
    const int bias = (1 << (e_bits - 1)) - 1;
    const double size = std::fabs(double{x});
    if (size == 0) return sign;
    if (std::isinf(x)) return sign | infinity;
    int exponent = std::max(std::ilogb(size), 1 - bias);
    double units = std::nearbyint(std::ldexp(size, m_bits - exponent));  // ties to even
    if (units == std::ldexp(1, m_bits + 1)) units /= 2, ++exponent;
    if (exponent > bias) return sign | infinity;
    if (units < std::ldexp(1, m_bits)) return sign | uint32_t(units);
    return sign | uint32_t(exponent + bias) << m_bits | (uint32_t(units) & ((1u << m_bits) - 1));
}

// `bits` of a lane's registers, from bit `at` on.
uint32_t lane_bits(Wave& w, const Operand& o, uint32_t lane, uint32_t at, uint32_t bits) {
    uint32_t x = 0;
    for (uint32_t n = 0; n < bits; ++n)
        x |= (w.row(o.reg + (at + n) / 32)[lane] >> (at + n) % 32 & 1) << n;
    return x;
}

struct Place {
    uint32_t lane, item;
};
// Of element k of a row; `most` elements in a lane, 0: all.
Place factor_place(uint32_t row, uint32_t k, uint32_t most) {
    return most ? Place{row + 16 * (k / most), k % most} : Place{row, k};
}

Place result_place(const WaveProduct& p, uint32_t lanes, uint32_t i, uint32_t j) {
    if (!p.rdna4) return {j + 16 * (i % (lanes / 16)), i / (lanes / 16)};
    if (lanes == 32) return {j + 16 * (i % 16 / 8), i % 8 + 8 * (i / 16)};
    return {j + 16 * (i / 8) + 32 * (i / 4 % 2), i % 4};
}

// Where a 16-bit or 32-bit element lies: register, and bit.
struct Bits {
    uint32_t reg, shift, width;
};
Bits result_bits(const WaveProduct& p, const Inst& in, const std::string& type, uint32_t item) {
    if (bits_of(type) == 32) return {item, 0, 32};
    if (p.rdna4) return {item / 2, 16 * (item % 2), 16};
    return {item, in.op_sel >> 2 & 1 ? 16u : 0u, 16};
}

// Which element of k is in an item of a lane, of formats in scaled products.
uint32_t scaled_k(uint32_t bits, uint32_t group, uint32_t item) {
    if (bits == 8) return item % 16 + 16 * group + 32 * (item / 16);
    return item % 32 + 32 * group + 64 * (item / 32);
}

using Number = std::function<double(uint32_t row, uint32_t k)>;

struct Multiplication {
    const WaveProduct& p;
    Wave& w;
    const Inst& in;

    uint32_t products() const { return p.sparse ? p.k / 2 : p.k; }
    // Items of A in a lane.
    uint32_t per_lane() const {
        return p.rdna4 ? std::max(products() * 16 / w.size, 32 / bits_of(p.a)) : 0;
    }
    double plain_factor(uint32_t source, uint32_t row, uint32_t k) const {
        const std::string& type = source ? p.b : p.a;
        const uint32_t bits = bits_of(type);
        const uint32_t most = per_lane() * (source && p.sparse ? 2 : 1);
        const Place at = factor_place(row, k, most);
        const uint32_t code = lane_bits(w, in.src[source], at.lane, at.item * bits, bits);
        if (is_integer(type)) {
            const bool negative = in.neg >> source & 1 && code >> (bits - 1);
            return double(code) - (negative ? double(1u << bits) : 0);
        }
        const float x = decode(type, code);
        return (k % 2 ? in.neg_hi : in.neg) >> source & 1 ? -x : x;
    }
    uint32_t position(uint32_t row, uint32_t n) const {
        const Place at = factor_place(row, n, per_lane());
        const uint32_t first = 2 * per_lane() * in.op_sel;
        return lane_bits(w, in.src[2], at.lane, first + 2 * at.item, 2);
    }
    std::string format(uint32_t source) const {
        return p.rows == 32 ? "fp4" : mx_formats[source ? in.blgp : in.cbsz];
    }
    double scaled_factor(uint32_t source, uint32_t row, uint32_t k) const {
        const std::string type = format(source);
        const uint32_t bits = bits_of(type);
        for (uint32_t group = 0; group < 2; ++group)
            for (uint32_t item = 0; item < 64; ++item)
                if (scaled_k(bits, group, item) == k) {
                    const uint32_t at = (item + 64 * (row / 16)) * bits;
                    const uint32_t code =
                        lane_bits(w, in.src[source], row % 16 + 16 * group, at, bits);
                    return double{decode(type, code)} * scale(source, row, k);
                }
        return 0;
    }
    double scale(uint32_t source, uint32_t row, uint32_t k) const {
        if (!p.part || in.src[3 + source].kind == Operand::Kind::Const) return 1;
        const bool second = (p.rows == 16 || source == 1) && in.scale_rows >> source & 1;
        const uint32_t n = k / p.part;
        const uint32_t code = lane_bits(w, in.src[3 + source], row + (second ? 16 : 0), 8 * n, 8);
        const uint8_t kind = in.scale_formats[source];
        if (kind == 0) return code == 255 ? NAN : std::ldexp(1.0, int(code) - 127);
        if (kind == 2) return decode("fp8", code);
        if (code == 255) return NAN;  // E5M3 has no sign
        const uint32_t e = code >> 3, m = code & 7;
        return e ? std::ldexp(8 + m, int(e) - 18) : std::ldexp(m, -17);
    }
    uint32_t addend(uint32_t i, uint32_t j) const {
        const Operand& c = p.sparse ? in.dst[0] : in.src[2];
        if (c.kind == Operand::Kind::Const) return uint32_t(c.value);
        const Place at = result_place(p, w.size, i, j);
        const Bits b = result_bits(p, in, p.c, at.item);
        return lane_bits(w, c, at.lane, 32 * b.reg + b.shift, b.width);
    }
    float float_addend(uint32_t i, uint32_t j) const {
        float c = decode(p.c, addend(i, j));
        if (in.neg_hi >> 2 & 1) c = std::fabs(c);
        return in.neg >> 2 & 1 ? -c : c;
    }
    void put(uint32_t i, uint32_t j, uint32_t value) const {
        const Place at = result_place(p, w.size, i, j);
        const Bits b = result_bits(p, in, p.d, at.item);
        uint32_t& d = w.row(in.dst[0].reg + b.reg)[at.lane];
        const uint32_t mask = b.width == 32 ? ~0u : 0xffffu << b.shift;
        d = (d & ~mask) | (value << b.shift & mask);
    }
};

using Table = std::vector<std::vector<double>>;

}  // namespace

bool is_integer(const std::string& type) {
    return type[0] == 'i';
}
uint32_t bits_of(const std::string& type) {
    if (type == "f32" || type == "i32") return 32;
    if (type == "f16" || type == "bf16") return 16;
    return type.back() == '8' ? 8 : type.back() == '6' ? 6 : 4;
}

std::optional<WaveProduct> wave_product(const std::string& name) {
    std::vector<std::string> words;
    std::istringstream text(name);
    for (std::string word; std::getline(text, word, '_');) words.push_back(word);
    if (words.size() < 5 || (words[1] != "wmma" && words[1] != "swmmac") || words[2] == "ld")
        return {};
    WaveProduct p;
    p.sparse = words[1] == "swmmac";
    if (words[2].starts_with("scale")) {
        p.part = words[2] == "scale16" ? 16 : 32;
        words.erase(words.begin() + 2);
    }
    p.c = p.d = words[2];
    if (words[2] == "bf16f32") p.c = "f32", p.d = "bf16";
    p.rows = words[3].starts_with("32") ? 32 : 16;
    p.k = uint32_t(std::stoul(words[3].substr(words[3].rfind('x') + 1)));
    p.a = words[4];
    p.b = words.size() > 5 && words[5] != "rdna4" ? words[5] : p.a;
    // The names that gfx11 has, too, and its six shapes.
    p.rdna4 = words.back() == "rdna4" || p.sparse || p.k != 16 || bits_of(p.a) == 8;
    if (p.a == "iu8" && p.k == 16 && words.back() != "rdna4") p.rdna4 = p.sparse;
    return p;
}

void multiply(const WaveProduct& p, Wave& w, const Inst& in) {
    const Multiplication m{p, w, in};
    const bool scaled = p.a == "f8f6f4" || p.a == "f4";
    const auto factors = [&](uint32_t source, uint32_t rows, uint32_t depth) {
        Table table(rows, std::vector<double>(depth));
        for (uint32_t row = 0; row < rows; ++row)
            for (uint32_t k = 0; k < depth; ++k)
                table[row][k] =
                    scaled ? m.scaled_factor(source, row, k) : m.plain_factor(source, row, k);
        return table;
    };
    const Table a = factors(0, p.rows, m.products()), b = factors(1, 16, p.k);
    std::vector<uint32_t> d;
    for (uint32_t i = 0; i < p.rows; ++i)
        for (uint32_t j = 0; j < 16; ++j) {
            float sum = is_integer(p.c) ? 0 : m.float_addend(i, j);
            int64_t whole = is_integer(p.c) ? int32_t(m.addend(i, j)) : 0;
            for (uint32_t n = 0; n < m.products(); ++n) {
                const uint32_t k = p.sparse ? 4 * (n / 2) + m.position(i, n) : n;
                const double x = a[i][n], y = b[j][k];
                if (is_integer(p.c)) {
                    whole += int64_t(x * y);
                } else if (scaled) {
                    const float product = choose({float(x), float(y)}, float(x * y));
                    sum = choose({product, sum}, product + sum);
                } else {
                    sum = fused(float(x), float(y), sum);
                }
            }
            if (in.clamp) whole = std::clamp<int64_t>(whole, INT32_MIN, INT32_MAX);
            d.push_back(is_integer(p.d) ? uint32_t(whole) : encode(p.d, sum));
        }
    for (uint32_t i = 0; i < p.rows; ++i)
        for (uint32_t j = 0; j < 16; ++j) m.put(i, j, d[16 * i + j]);
}

}  // namespace wj::model
