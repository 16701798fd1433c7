#include "interpreter/element_rows.h"

namespace wj::interp {

namespace {

using enum MatrixElement;

template <MatrixElement E>
void widen_bytes(const u32* from, ElementRow* out) {
    constexpr const gf::SmallFormat& format = E == Fp8 ? gf::fp8_ocp : gf::bf8_ocp;
    for (u32 j = 0; j < 16; j += part_columns) {
        const Words x = load_part(from + j);
        widen_small(format, x & 0x00ff00ffu, out[0].column + j, out[2].column + j);
        widen_small(format, x >> 8 & 0x00ff00ffu, out[1].column + j, out[3].column + j);
    }
}

template <MatrixElement E>
void widen(const u32* from, ElementRow* out) {
    if constexpr (E == F32) copy_row(from, out->column);
    if constexpr (E == F16 || E == Bf16) widen_halves(E, from, out, out + 1);
    if constexpr (E == Fp8 || E == Bf8) widen_bytes<E>(from, out);
}

// Calls put(dwords, row) for each 16 dwords and the first of the rows that they make.
template <class F>
void for_each_dword(Wave& w, const FactorRows& f, u32 rows_of_dword, F&& put) {
    const u32 dwords = f.per_lane * element_bits(f.element) / 32;
    for (u32 first_lane = 0, row = 0; first_lane * f.per_lane < 16 * f.items; first_lane += 16)
        for (u32 d = 0; d < dwords; ++d, row += rows_of_dword)
            put(vrow(w, f.from, d) + first_lane, row);
}

template <MatrixElement E>
void load_floats(Wave& w, const FactorRows& f, ElementRow* out) {
    for_each_dword(w, f, 32 / element_bits(E),
                   [&](const u32* from, u32 row) { widen<E>(from, out + row); });
}

// Fields of `Bits` bits, each in a dword or half of one.
template <u32 Bits, class Field>
void load_fields(Wave& w, const FactorRows& f, ElementRow* out) {
    constexpr u32 width = 8 * sizeof(Field), fields = width / Bits;
    for_each_dword(w, f, fields, [&](const u32* from, u32 row) {
        for (u32 j = 0; j < 16; j += part_columns) {
            const auto x = load_part<Field>(from + j);
#pragma GCC unroll 8
            for (u32 t = 0; t < fields; ++t)
                store_part(out[row + t].column + j,
                           x << (width - Bits * (t + 1)) >> (width - Bits));
        }
    });
}

}  // namespace

void load_float_rows(Wave& w, const FactorRows& f, ElementRow* out) {
    switch (f.element) {
        case F32:
            return load_floats<F32>(w, f, out);
        case F16:
            return load_floats<F16>(w, f, out);
        case Bf16:
            return load_floats<Bf16>(w, f, out);
        case Fp8:
            return load_floats<Fp8>(w, f, out);
        default:
            return load_floats<Bf8>(w, f, out);
    }
}

void load_integer_rows(Wave& w, const FactorRows& f, bool is_signed, bool pairs, ElementRow* out) {
    using Load = void (*)(Wave&, const FactorRows&, ElementRow*);
    static constexpr Load forms[2][2][2] = {{{load_fields<4, uint32_t>, load_fields<4, int32_t>},
                                             {load_fields<4, uint16_t>, load_fields<4, int16_t>}},
                                            {{load_fields<8, uint32_t>, load_fields<8, int32_t>},
                                             {load_fields<8, uint16_t>, load_fields<8, int16_t>}}};
    forms[f.element == I8][pairs][is_signed](w, f, out);
}

void widen_halves(MatrixElement e, const u32* from, ElementRow* low, ElementRow* high) {
    for (u32 j = 0; j < 16; j += part_columns) {
        const Words x = load_part(from + j);
        const HalvesAsFloats f16(x);
        if (low) store_part(low->column + j, e == F16 ? Words(f16.low) : x << 16);
        if (high) store_part(high->column + j, e == F16 ? Words(f16.high) : x & 0xffff0000u);
    }
}

Words half_codes(MatrixElement e, const Words& x) {
    if (e == F16)
        return Words(_mm256_cvtepu16_epi32(_mm256_cvtps_ph(__m256(x), _MM_FROUND_CUR_DIRECTION)));
    const Words nearest = (x + 0x7fff + (x >> 16 & 1)) >> 16;
    return (x & 0x7fffffff) > 0x7f800000u ? x >> 16 | 0x40 : nearest;
}

}  // namespace wj::interp
