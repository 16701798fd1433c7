#include "interpreter/buffer_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "common/guest_float.h"

namespace wj::interp {
namespace {

struct Layout {
    uint8_t bytes, components;
    uint8_t bits[4];  // x first, from the lowest bit on
};

// Vega ISA manual, buffer data formats. The names count from the highest bit: 2_10_10_10 has x at
// the bottom.
constexpr std::array<Layout, 16> layouts{{
    {0, 0, {}},
    {1, 1, {8}},                // 8
    {2, 1, {16}},               // 16
    {2, 2, {8, 8}},             // 8_8
    {4, 1, {32}},               // 32
    {4, 2, {16, 16}},           // 16_16
    {4, 3, {11, 11, 10}},       // 10_11_11
    {4, 3, {10, 11, 11}},       // 11_11_10
    {4, 4, {2, 10, 10, 10}},    // 10_10_10_2
    {4, 4, {10, 10, 10, 2}},    // 2_10_10_10
    {4, 4, {8, 8, 8, 8}},       // 8_8_8_8
    {8, 2, {32, 32}},           // 32_32
    {8, 4, {16, 16, 16, 16}},   // 16_16_16_16
    {12, 3, {32, 32, 32}},      // 32_32_32
    {16, 4, {32, 32, 32, 32}},  // 32_32_32_32
    {0, 0, {}},
}};

constexpr uint8_t reserved_number_format = 6;
// Numbers of the number formats that data formats have among the unified ones, in this order.
struct NumberFormats {
    uint8_t count;
    uint8_t numbers[7];
};
constexpr NumberFormats integers{6, {0, 1, 2, 3, 4, 5}}, all_numbers{7, {0, 1, 2, 3, 4, 5, 7}},
    dwords{3, {4, 5, 7}}, floats{1, {7}}, unscaled{4, {0, 1, 4, 5}};
struct UnifiedRow {
    uint8_t data_format;
    NumberFormats numbers;
};
constexpr UnifiedRow gfx10_rows[] = {
    {1, integers},    {2, all_numbers},  {3, integers}, {4, dwords},   {5, all_numbers},
    {6, all_numbers}, {7, all_numbers},  {8, integers}, {9, integers}, {10, integers},
    {11, dwords},     {12, all_numbers}, {13, dwords},  {14, dwords},
};
constexpr UnifiedRow gfx11_rows[] = {
    {1, integers},    {2, all_numbers}, {3, integers}, {4, dwords},   {5, all_numbers},
    {6, floats},      {7, floats},      {8, unscaled}, {9, integers}, {10, integers},
    {11, dwords},     {12, all_numbers}, {13, dwords}, {14, dwords},
};
template <size_t Size, size_t Rows>
constexpr auto number_formats(const UnifiedRow (&rows)[Rows]) {
    std::array<BufferFormat, Size> out{};
    for (BufferFormat& f : out) f = {0, reserved_number_format};
    size_t next = 0;
    out[next++] = {0, 0};  // invalid: nothing is read or written
    for (const UnifiedRow& row : rows)
        for (uint8_t i = 0; i < row.numbers.count; ++i)
            out[next++] = {row.data_format, row.numbers.numbers[i]};
    return out;
}
constexpr auto gfx10_formats = number_formats<128>(gfx10_rows);
constexpr auto gfx11_formats = number_formats<64>(gfx11_rows);

const Layout& layout(uint32_t data_format) {
    return layouts[data_format & 15];
}

uint32_t bits_of(float f) {
    return gf::to_bits(f);
}
float float_of(uint32_t b) {
    return gf::from_bits<float>(b);
}

int32_t sign_extend(uint32_t v, uint32_t bits) {
    return static_cast<int32_t>(v << (32 - bits)) >> (32 - bits);
}

uint32_t get_bits(const uint8_t* element, uint32_t at, uint32_t bits) {
    uint64_t window = 0;
    std::memcpy(&window, element + at / 8, std::min<uint32_t>(5, (at % 8 + bits + 7) / 8));
    return static_cast<uint32_t>(window >> at % 8 & ((uint64_t{1} << bits) - 1));
}

void put_bits(uint8_t* element, uint32_t at, uint32_t bits, uint32_t value) {
    for (uint32_t i = 0; i < bits; ++i) {
        uint8_t& byte = element[(at + i) / 8];
        const uint32_t bit = (at + i) % 8;
        byte = static_cast<uint8_t>((byte & ~(1u << bit)) | (value >> i & 1) << bit);
    }
}

// Unsigned floats of 11 and 10 bits: 5 exponent bits, bias 15, no sign.
float small_float(uint32_t v, uint32_t bits) {
    const uint32_t mantissa = bits - 5;
    return gf::to_float(gf::Half{static_cast<uint16_t>(v << (10 - mantissa))});
}

uint32_t to_small_float(float f, uint32_t bits) {
    const uint32_t mantissa = bits - 5;
    if (gf::is_nan(f)) return (1u << bits) - 1;
    if (gf::is_negative(f)) return 0;
    return gf::to_half_rtz(f).bits >>
           (10 - mantissa);  // towards zero, as the D3D conversion rules ask
}

uint32_t decode_component(NumberFormat format, uint32_t v, uint32_t bits) {
    const double top = static_cast<double>((uint64_t{1} << bits) - 1);
    const double signed_top = static_cast<double>((uint64_t{1} << (bits - 1)) - 1);
    switch (format) {
        case NumberFormat::Unorm:
            return bits_of(static_cast<float>(v / top));
        case NumberFormat::Snorm: {
            const double s = bits == 1 ? 0 : sign_extend(v, bits) / signed_top;
            return bits_of(static_cast<float>(std::max(s, -1.0)));
        }
        case NumberFormat::Uscaled:
            return bits_of(static_cast<float>(v));
        case NumberFormat::Sscaled:
            return bits_of(static_cast<float>(sign_extend(v, bits)));
        case NumberFormat::Sint:
            return static_cast<uint32_t>(sign_extend(v, bits));
        case NumberFormat::Float:
            if (bits == 16) return bits_of(gf::to_float(gf::Half{static_cast<uint16_t>(v)}));
            if (bits == 11 || bits == 10) return bits_of(small_float(v, bits));
            return v;
        default:
            return v;
    }
}

double clamped(uint32_t component, double low, double high) {
    const double d = float_of(component);
    if (std::isnan(d)) return 0;
    return std::clamp(d, low, high);
}

uint32_t encode_component(NumberFormat format, uint32_t c, uint32_t bits) {
    const double top = static_cast<double>((uint64_t{1} << bits) - 1);
    const double signed_top = static_cast<double>((uint64_t{1} << (bits - 1)) - 1);
    auto low_bits = [&](int64_t v) {
        return static_cast<uint32_t>(static_cast<uint64_t>(v) & ((uint64_t{1} << bits) - 1));
    };
    switch (format) {
        case NumberFormat::Unorm:
            return low_bits(std::llrint(clamped(c, 0, 1) * top));
        case NumberFormat::Snorm:
            return low_bits(std::llrint(clamped(c, -1, 1) * signed_top));
        case NumberFormat::Uscaled:
            return low_bits(static_cast<int64_t>(clamped(c, 0, top)));
        case NumberFormat::Sscaled:
            return low_bits(static_cast<int64_t>(clamped(c, -signed_top - 1, signed_top)));
        case NumberFormat::Uint:
            return std::min(c, low_bits(-1));
        case NumberFormat::Sint: {
            const auto s = static_cast<int64_t>(static_cast<int32_t>(c));
            const auto limit = static_cast<int64_t>(signed_top);
            return low_bits(std::clamp(s, -limit - 1, limit));
        }
        case NumberFormat::Float:
            if (bits == 16) return gf::to_half(float_of(c)).bits;
            if (bits == 11 || bits == 10) return to_small_float(float_of(c), bits);
            return low_bits(c);
        default:
            return low_bits(c);
    }
}

}  // namespace

BufferFormat unified_format(uint32_t number, bool gfx11) {
    return gfx11 ? gfx11_formats[number & 63] : gfx10_formats[number & 127];
}
uint32_t element_bytes(uint32_t data_format) {
    return layout(data_format).bytes;
}
uint32_t element_components(uint32_t data_format) {
    return layout(data_format).components;
}
bool number_format_known(uint32_t number_format) {
    return number_format < 8 && number_format != 6;
}
bool is_integer_format(uint32_t number_format) {
    return number_format == 4 || number_format == 5;
}

void decode_element(uint32_t data_format, uint32_t number_format, const uint8_t* element,
                    uint32_t out[4]) {
    const Layout& l = layout(data_format);
    const auto format = static_cast<NumberFormat>(number_format);
    uint32_t at = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        if (i < l.components) {
            out[i] = decode_component(format, get_bits(element, at, l.bits[i]), l.bits[i]);
            at += l.bits[i];
        } else {
            out[i] = i < 3 ? 0 : is_integer_format(number_format) ? 1 : bits_of(1.0f);
        }
    }
}

void encode_element(uint32_t data_format, uint32_t number_format, const uint32_t in[4],
                    uint8_t* element) {
    const Layout& l = layout(data_format);
    const auto format = static_cast<NumberFormat>(number_format);
    uint32_t at = 0;
    for (uint32_t i = 0; i < l.components; ++i) {
        put_bits(element, at, l.bits[i], encode_component(format, in[i], l.bits[i]));
        at += l.bits[i];
    }
}

uint16_t component_to_d16(uint32_t number_format, uint32_t component) {
    if (is_integer_format(number_format)) return static_cast<uint16_t>(component);
    return gf::to_half(float_of(component)).bits;
}

uint32_t component_from_d16(uint32_t number_format, uint16_t component) {
    if (number_format == 5) return static_cast<uint32_t>(sign_extend(component, 16));
    if (number_format == 4) return component;
    return bits_of(gf::to_float(gf::Half{component}));
}

}  // namespace wj::interp
