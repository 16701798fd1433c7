// gfx12.5's products of elements of 4 to 8 bits, whose formats the instruction names, and of the
// same with a scale for every 16 or 32 elements of k: v_wmma_ld_scale*_paired and the product
// behind it are one instruction. Elements are scaled without error, their products are rounded, and
// added in the order of k, each step rounded once (coverage.cpp: the hardware's order is not
// published).
//
// Layout (CDNA5 ISA, 7.12.6): A[i][k] is of lane i % 16 + 16 * g, k by mx_k; rows from 16 on lie in
// the registers behind. The scale of a row's n-th 16 or 32 elements is the n-th byte of lane i, of
// a matrix with 16 rows of lane i + 16 where MATRIX_SCALE says ROW1. B likewise.
#include "interpreter/element_rows.h"
#include "interpreter/mx_elements.h"
#include "interpreter/wmma.h"

namespace wj::interp {

namespace {

constexpr u32 depth = 128, groups = 2, edge = wmma_edge, most_blocks = 2;
// As many elements of k, or more, share a scale. With none larger than this the elements are
// scaled in f32, where the largest are below 2^16, without error.
constexpr u32 smallest_part = 16;
constexpr float largest_scale = 0x1p111f;

enum ScaleFormat : uint8_t { E8M0, E5M3, E4M3, reserved };

// Of scales, which have no sign.
constexpr gf::SmallFormat e5m3{5, 3, 15, 0xfe, 0, 0xff, false};

// The inline constant 0 stands for the scale 1. Which data may have which scales: a table
// of 7.12.6.
const char* refused_scales(const Inst& in, const u32 (&formats)[2]) {
    const bool fp4[] = {formats[0] == mx_fp4, formats[1] == mx_fp4};
    const auto [a, b] = in.scale_formats;
    const bool both = a != E8M0 && b != E8M0;
    if (a == reserved || b == reserved || (both && a != b) || (a != E8M0 && !fp4[0]) ||
        (b != E8M0 && !fp4[1]) || (!both && a != b && fp4[0] == fp4[1]))
        return "formats of scales that do not go together";
    for (u32 i = 0; i < 2; ++i) {
        const Operand& o = in.src[3 + i];
        if (is_vector(o) || o.kind == Operand::Kind::Sgpr) continue;
        if (o.kind != Operand::Kind::Const || o.value != 0 || in.scale_formats[i] != E8M0)
            return "a constant other than 0 as scale";
    }
    return nullptr;
}

// A or B: 16 rows (columns of B) or 32, in blocks of 16.
struct Factor {
    u32 blocks;
    ElementRow elements[depth * most_blocks];                // of k and block
    ElementRow scales[depth / smallest_part * most_blocks];  // of part and block
};

float number(const ElementRow& row, u32 column) {
    return std::bit_cast<float>(row.column[column]);
}

// The codes of an item of eight lanes.
Words load_codes(const u32* from, u32 item, u32 width) {
    const u32 at = width * item, shift = at % 32;
    from += at / 32 * machine::lanes;
    Words codes = load_part(from) >> shift;
    if (shift + width > 32) codes |= load_part(from + machine::lanes) << (32 - shift);
    return codes & ((1u << width) - 1);
}

template <const gf::SmallFormat& Format>
void load_format(Wave& w, const Operand& o, Factor& f) {
    constexpr u32 per_lane = depth / groups;
    constexpr auto width = static_cast<u32>(Format.width());
    for (u32 block = 0; block < f.blocks; ++block)
        for (u32 x = 0; x < depth; x += 2) {
            const u32 g = x / per_lane, t = x % per_lane, k = mx_k<groups>(Format, g, t);
            const u32 item = per_lane * block + t;
            ElementRow* const to = f.elements + f.blocks * k + block;
            for (u32 i = 0; i < 16; i += part_columns) {
                const u32* const from = vrow(w, o) + 16 * g + i;
                widen_small(Format,
                            load_codes(from, item, width) | load_codes(from, item + 1, width) << 16,
                            to[0].column + i, to[f.blocks].column + i);
            }
        }
}
void load_elements(Wave& w, const Operand& o, u32 format, Factor& f) {
    using Load = void (*)(Wave&, const Operand&, Factor&);
    static constexpr Load forms[] = {load_format<gf::fp8_ocp>, load_format<gf::bf8_ocp>,
                                     load_format<gf::fp6>, load_format<gf::bf6>,
                                     load_format<gf::fp4>};
    forms[format <= mx_fp4 ? format : 0](w, o, f);
}

// Codes of scales as f32.
Part<float> scale_values(ScaleFormat format, const Words& codes) {
    const Words nan = Words{} + 0x7fc00000u;
    if (format == E8M0) {
        const Words smallest = Words{} + 0x00400000u;  // 2^-127
        return Part<float>(codes == 255 ? nan : codes == 0 ? smallest : codes << 23);
    }
    const gf::SmallFormat& f = format == E5M3 ? e5m3 : gf::fp8_ocp;
    const auto unit = std::bit_cast<float>(static_cast<u32>(127 + 127 - f.bias) << 23);
    const auto numbers = Part<float>(codes << (23 - f.mantissa_bits)) * unit;
    return Part<float>(codes > f.max_code ? nan : Words(numbers));
}

// Scales of parts of k, which a register has in its bytes; a scalar has one for all.
struct ScaleOperand {
    const Operand& from;
    ScaleFormat format;
    u32 first_lane;
    Words codes(Wave& w, u32 row, u32 n) const {
        if (from.kind == Operand::Kind::Const) return Words{} + 127;
        if (!is_vector(from)) return Words{} + (read_s32(w, from) & 255);
        return load_part(vrow(w, from, n / 4) + row + first_lane) >> 8 * (n % 4) & 255;
    }
};

// False where a scale of E4M3 has a sign. `beyond_f32` becomes true where one is too large.
bool load_scales(Wave& w, const ScaleOperand& o, u32 part, Factor& f, bool& beyond_f32) {
    Words has_sign{}, too_large{};
    for (u32 n = 0; n < depth / part; ++n)
        for (u32 row = 0; row < 16 * f.blocks; row += part_columns) {
            const Words codes = o.codes(w, row, n);
            const auto values = scale_values(o.format, codes);
            store_part(f.scales[f.blocks * n + row / 16].column + row % 16, values);
            has_sign |= codes > 127;
            too_large |= Words(values > largest_scale);
        }
    beyond_f32 = beyond_f32 || !_mm256_testz_si256(__m256i(too_large), __m256i(too_large));
    return o.format != E4M3 || _mm256_testz_si256(__m256i(has_sign), __m256i(has_sign));
}

void apply_scales(u32 part, Factor& f) {
    for (u32 k = 0; k < depth; ++k)
        for (u32 block = 0; block < f.blocks; ++block) {
            const ElementRow& scales = f.scales[f.blocks * (k / part) + block];
            ElementRow& row = f.elements[f.blocks * k + block];
            for (u32 i = 0; i < 16; i += part_columns)
                store_part(row.column + i,
                           load_part<float>(row.column + i) * load_part<float>(scales.column + i));
        }
}

// The same sums with elements that f32 does not hold.
void sum_in_f64(const Factor& a, const Factor& b, u32 part, std::span<ElementRow> sums) {
    for (u32 i = 0; i < sums.size(); ++i)
        for (u32 j = 0; j < edge; ++j) {
            float sum = number(sums[i], j);
            for (u32 k = 0; k < depth; ++k) {
                const auto scaled = [&](const Factor& f, u32 row) {
                    const u32 block = row / 16;
                    return double{number(f.elements[f.blocks * k + block], row % 16)} *
                           number(f.scales[f.blocks * (k / part) + block], row % 16);
                };
                sum = gf::add(gf::to_float(scaled(a, i) * scaled(b, j)), sum);
            }
            sums[i].column[j] = std::bit_cast<u32>(sum);
        }
}

// Where rows of C or D begin in their registers, in dwords.
constexpr auto wmma_rows = [] {
    std::array<uint16_t, 16 * most_blocks> at{};
    for (u32 i = 0; i < at.size(); ++i) {
        const WmmaPlace p = wmma_place(32, i % 16);
        at[i] = static_cast<uint16_t>(machine::lanes * (p.item + 8 * (i / 16)) + p.lane);
    }
    return at;
}();
constexpr auto one_by_one = [] {
    std::array<uint16_t, 16 * most_blocks> at{};
    for (u32 i = 0; i < at.size(); ++i) at[i] = static_cast<uint16_t>(edge * i);
    return at;
}();

// `part`: 0 without scales.
struct ScaledShape {
    Opcode op;
    uint8_t rows, part;
};
constexpr ScaledShape shapes[] = {
    {Opcode::v_wmma_f32_16x16x128_f8f6f4, 16, 0},
    {Opcode::v_wmma_scale_f32_16x16x128_f8f6f4, 16, 32},
    {Opcode::v_wmma_scale16_f32_16x16x128_f8f6f4, 16, 16},
    {Opcode::v_wmma_f32_32x16x128_f4, 32, 0},
    {Opcode::v_wmma_scale_f32_32x16x128_f4, 32, 32},
    {Opcode::v_wmma_scale16_f32_32x16x128_f4, 32, 16},
};

constexpr auto table = [] {
    std::array<HandlerEntry, std::size(shapes)> entries{};
    for (size_t n = 0; n < entries.size(); ++n) entries[n] = {shapes[n].op, wmma_scaled};
    return entries;
}();

}  // namespace

void multiply_scaled_in_wave(Wave& w, const Inst& in, SumProducts sum) {
    const ScaledShape& shape = *std::ranges::find(shapes, in.op, &ScaledShape::op);
    const u32 rows = shape.rows, blocks[] = {rows / 16, 1};
    const u32 formats[] = {rows == 32 ? mx_fp4 : in.cbsz, rows == 32 ? mx_fp4 : in.blgp};
    const auto refuse = [&](const char* why) { stop(w, ExitKind::Unimplemented, why); };
    if (const char* why = refused_mode(w)) return refuse(why);
    if (const char* why = shape.part ? refused_scales(in, formats) : nullptr) return refuse(why);
    Factor factors[2];
    bool beyond_f32 = false;
    for (u32 i = 0; i < 2; ++i) {
        Factor& f = factors[i];
        f.blocks = blocks[i];
        load_elements(w, in.src[i], formats[i], f);
        if (!shape.part) continue;
        const bool row1 = f.blocks == 1 && in.scale_rows >> i & 1;
        const ScaleOperand scales{in.src[3 + i], ScaleFormat{in.scale_formats[i]}, row1 ? 16u : 0u};
        if (!load_scales(w, scales, shape.part, f, beyond_f32))
            return refuse("a scale of E4M3 with a sign");
    }
    ElementRow sum_rows[16 * most_blocks];
    const std::span sums(sum_rows, rows);
    for (u32 i = 0; i < rows; ++i)
        if (is_vector(in.src[2]))
            copy_row(vrow(w, in.src[2]) + wmma_rows[i], sums[i].column);
        else
            std::ranges::fill(sums[i].column, static_cast<u32>(in.src[2].value));
    modify_addends(in, sums);
    if (beyond_f32) {
        sum_in_f64(factors[0], factors[1], shape.part, sums);
    } else {
        if (shape.part)
            for (Factor& f : factors) apply_scales(shape.part, f);
        sum({.step = ProductStep::Rounded,
             .rows = rows,
             .steps = depth,
             .a = factors[0].elements,
             .b = factors[1].elements,
             .of_b = nullptr,
             .addends = {sum_rows->column, one_by_one.data()},
             .sums = {sum_rows->column, one_by_one.data()}});
    }
    for (u32 i = 0; i < rows; ++i) copy_row(sums[i].column, vrow(w, in.dst[0]) + wmma_rows[i]);
}

void wmma_scaled(Wave& w, const Inst& in) {
    multiply_scaled_in_wave(w, in, sum_products);
}

std::span<const HandlerEntry> wmma_scaled_handlers() {
    return table;
}

}  // namespace wj::interp
