// Products in a wave: D = A * B + C of 16 rows and columns. EXEC and MODE are ignored. The products
// of one element are added in the order of k, one fused operation of f32 each; 16-bit results are
// rounded once, at the end (coverage.cpp: the hardware's order is not published).
//
// Layout ("How to accelerate AI applications on RDNA 3 using WMMA" on GPUOpen; RDNA4 ISA, 7.12.2;
// AMD's matrix instruction calculator), with waves of n lanes:
//   gfx11  A[i][k]: item k of lane i (lanes from 16 on hold copies), B[k][j] likewise of lane j;
//          D[i][j]: register i / (n/16), lane j + 16 * (i % (n/16)); of 16-bit results one half of
//          it, which OP_SEL names, as it does of C
//   gfx12  A[i][k]: item k % p of lane i + 16 * (k / p), where a lane has p items; D[i][j]:
//          wmma_place
// Which k is which item of a lane matters to no product, as it is the same for A and B; so waves of
// 64 lanes and gfx12.5 are as this says, though the documents number k otherwise.
//
// Sparse products: A has two of each four elements of k, and in C's place a register with their
// positions, two bits for each item of A in the same lane; OP_SEL is the number of the set where
// the register has room for several. A lane's items of A stand for as many fours of B in the lane
// of that number (RDNA4 ISA, 7.12.3; CDNA5 ISA, 7.12.3-5, whose tables of B say so; measured on
// gfx1201 for 8 and 16 bits by a fork of ggml). C is D.
#include "interpreter/wmma.h"

#include "interpreter/element_rows.h"

namespace wj::interp {

const char* refused_mode(const Wave& w) {
    return gf::FloatMode{w.mode}.fp16_ovfl() ? "products in a wave where MODE has FP16_OVFL"
                                             : nullptr;
}

void modify_addends(const Inst& in, std::span<ElementRow> sums) {
    constexpr u32 sign = 0x80000000u;
    const u32 kept = in.neg_hi >> 2 & 1 ? ~sign : ~0u, flipped = in.neg >> 2 & 1 ? sign : 0;
    if (kept == ~0u && flipped == 0) return;
    for (ElementRow& row : sums)
        for (u32& x : row.column) x = (x & kept) ^ flipped;
}

namespace {

using enum MatrixElement;

constexpr u32 edge = wmma_edge, most_products = 128, most_depth = 128;

constexpr bool is_integer(MatrixElement e) {
    return e == I32 || e == I8 || e == I4;
}
constexpr bool is_half(MatrixElement e) {
    return e == F16 || e == Bf16;
}

// N products of each element; those of a sparse A are with N of K = 2 * N elements of B.
struct Shape {
    uint8_t n, k;
    MatrixElement a, b, d, c;
    bool rdna4;
    bool sparse() const { return n != k; }
    bool gfx12_5() const { return a == F32 || n * element_bits(a) >= 512; }
};
struct ShapeEntry {
    Opcode op;
    Shape shape;
};

constexpr Shape rdna3(u32 k, MatrixElement a, MatrixElement d) {
    return {static_cast<uint8_t>(k), static_cast<uint8_t>(k), a, a, d, d, false};
}
constexpr Shape dense(u32 k, MatrixElement a, MatrixElement b, MatrixElement d, MatrixElement c) {
    return {static_cast<uint8_t>(k), static_cast<uint8_t>(k), a, b, d, c, true};
}
constexpr Shape dense(u32 k, MatrixElement a, MatrixElement b, MatrixElement d) {
    return dense(k, a, b, d, d);
}
constexpr Shape sparse(u32 k, MatrixElement a, MatrixElement b, MatrixElement d, MatrixElement c) {
    return {static_cast<uint8_t>(k / 2), static_cast<uint8_t>(k), a, b, d, c, true};
}
constexpr Shape sparse(u32 k, MatrixElement a, MatrixElement b, MatrixElement d) {
    return sparse(k, a, b, d, d);
}

// clang-format off
#define WJ_SMALL_PRODUCT(k, a, b, A, B)                                         \
    {Opcode::v_wmma_f32_16x16x##k##_##a##_##b, dense(k, A, B, F32)}, \
    {Opcode::v_wmma_f16_16x16x##k##_##a##_##b, dense(k, A, B, F16)}
#define WJ_SPARSE_SMALL(k, a, b, A, B)                                                \
    {Opcode::v_swmmac_f32_16x16x##k##_##a##_##b, sparse(k, A, B, F32)}
#define WJ_SPARSE_SMALL_HALF(k, a, b, A, B)                                           \
    {Opcode::v_swmmac_f16_16x16x##k##_##a##_##b, sparse(k, A, B, F16)}
#define WJ_EIGHT_BIT_PAIRS(row, k)                                                    \
    row(k, fp8, fp8, Fp8, Fp8), row(k, fp8, bf8, Fp8, Bf8),                           \
    row(k, bf8, fp8, Bf8, Fp8), row(k, bf8, bf8, Bf8, Bf8)
constexpr ShapeEntry shapes[] = {
    {Opcode::v_wmma_f32_16x16x16_f16, rdna3(16, F16, F32)},
    {Opcode::v_wmma_f32_16x16x16_bf16, rdna3(16, Bf16, F32)},
    {Opcode::v_wmma_f16_16x16x16_f16, rdna3(16, F16, F16)},
    {Opcode::v_wmma_bf16_16x16x16_bf16, rdna3(16, Bf16, Bf16)},
    {Opcode::v_wmma_i32_16x16x16_iu8, rdna3(16, I8, I32)},
    {Opcode::v_wmma_i32_16x16x16_iu4, rdna3(16, I4, I32)},
    {Opcode::v_wmma_f32_16x16x16_f16_rdna4, dense(16, F16, F16, F32)},
    {Opcode::v_wmma_f32_16x16x16_bf16_rdna4, dense(16, Bf16, Bf16, F32)},
    {Opcode::v_wmma_f16_16x16x16_f16_rdna4, dense(16, F16, F16, F16)},
    {Opcode::v_wmma_bf16_16x16x16_bf16_rdna4, dense(16, Bf16, Bf16, Bf16)},
    {Opcode::v_wmma_i32_16x16x16_iu8_rdna4, dense(16, I8, I8, I32)},
    {Opcode::v_wmma_i32_16x16x16_iu4_rdna4, dense(16, I4, I4, I32)},
    {Opcode::v_wmma_i32_16x16x32_iu4, dense(32, I4, I4, I32)},
    {Opcode::v_wmma_f32_16x16x16_fp8_fp8, dense(16, Fp8, Fp8, F32)},
    {Opcode::v_wmma_f32_16x16x16_fp8_bf8, dense(16, Fp8, Bf8, F32)},
    {Opcode::v_wmma_f32_16x16x16_bf8_fp8, dense(16, Bf8, Fp8, F32)},
    {Opcode::v_wmma_f32_16x16x16_bf8_bf8, dense(16, Bf8, Bf8, F32)},
    {Opcode::v_wmma_f32_16x16x32_f16, dense(32, F16, F16, F32)},
    {Opcode::v_wmma_f32_16x16x32_bf16, dense(32, Bf16, Bf16, F32)},
    {Opcode::v_wmma_f16_16x16x32_f16, dense(32, F16, F16, F16)},
    {Opcode::v_wmma_bf16_16x16x32_bf16, dense(32, Bf16, Bf16, Bf16)},
    {Opcode::v_wmma_bf16f32_16x16x32_bf16, dense(32, Bf16, Bf16, Bf16, F32)},
    {Opcode::v_wmma_i32_16x16x64_iu8, dense(64, I8, I8, I32)},
    {Opcode::v_wmma_f32_16x16x4_f32, dense(4, F32, F32, F32)},
    WJ_EIGHT_BIT_PAIRS(WJ_SMALL_PRODUCT, 64),
    WJ_EIGHT_BIT_PAIRS(WJ_SMALL_PRODUCT, 128),

    {Opcode::v_swmmac_f32_16x16x32_f16, sparse(32, F16, F16, F32)},
    {Opcode::v_swmmac_f32_16x16x32_bf16, sparse(32, Bf16, Bf16, F32)},
    {Opcode::v_swmmac_f16_16x16x32_f16, sparse(32, F16, F16, F16)},
    {Opcode::v_swmmac_bf16_16x16x32_bf16, sparse(32, Bf16, Bf16, Bf16)},
    {Opcode::v_swmmac_i32_16x16x32_iu8, sparse(32, I8, I8, I32)},
    {Opcode::v_swmmac_i32_16x16x32_iu4, sparse(32, I4, I4, I32)},
    {Opcode::v_swmmac_i32_16x16x64_iu4, sparse(64, I4, I4, I32)},
    WJ_EIGHT_BIT_PAIRS(WJ_SPARSE_SMALL, 32),
    {Opcode::v_swmmac_f32_16x16x64_f16, sparse(64, F16, F16, F32)},
    {Opcode::v_swmmac_f32_16x16x64_bf16, sparse(64, Bf16, Bf16, F32)},
    {Opcode::v_swmmac_f16_16x16x64_f16, sparse(64, F16, F16, F16)},
    {Opcode::v_swmmac_bf16_16x16x64_bf16, sparse(64, Bf16, Bf16, Bf16)},
    // The result takes the first half of the registers that the operand has (CDNA5 ISA, 15.10).
    {Opcode::v_swmmac_bf16f32_16x16x64_bf16, sparse(64, Bf16, Bf16, Bf16, F32)},
    {Opcode::v_swmmac_i32_16x16x128_iu8, sparse(128, I8, I8, I32)},
    WJ_EIGHT_BIT_PAIRS(WJ_SPARSE_SMALL, 128),
    WJ_EIGHT_BIT_PAIRS(WJ_SPARSE_SMALL_HALF, 128),
};
// clang-format on

constexpr auto shape_numbers = [] {
    std::array<uint8_t, opcode_count> numbers{};
    for (uint8_t n = 0; n < std::size(shapes); ++n) numbers[static_cast<size_t>(shapes[n].op)] = n;
    return numbers;
}();

// Items of A that a lane has. On gfx12 a register of four bits each is full in any case (then the
// upper half of a wave of 64 lanes has none).
u32 items_per_lane(const Wave& w, const Shape& s) {
    if (!s.rdna4) return s.n;
    return std::max<u32>(w.size == 64 ? s.n / 4 : s.n / 2, 32 / element_bits(s.a));
}

const char* refused_positions(const Wave& w, const Inst& in, u32 per_lane) {
    if (2 * per_lane * (in.op_sel + 1u) > 32u * in.src[2].dwords)
        return "an index key beyond the register";
    if (in.op == Opcode::v_swmmac_i32_16x16x32_iu4 && w.size == 64)
        return "32 elements of four bits in waves of 64 lanes: AMD's tables contradict its text";
    return nullptr;
}

// gfx12.5: signs of A and B "must be set to zero" (CDNA5 ISA, 7.12).
const char* refused(const Wave& w, const Inst& in, const Shape& s) {
    if (s.gfx12_5() && s.a != F32)
        if (const char* why = refused_mode(w)) return why;
    if (s.gfx12_5() && !is_integer(s.a) && ((in.neg | in.neg_hi) & 3) != 0)
        return "signs of A and B in products of floats";
    if (s.sparse()) return refused_positions(w, in, items_per_lane(w, s));
    return is_half(s.c) && !is_vector(in.src[2]) && in.src[2].value != 0
               ? "a constant other than 0 as 16-bit addend"
               : nullptr;
}

// Of B, the row that belongs to each item of a sparse A.
void load_positions(Wave& w, const Inst& in, const Shape& s, ElementRow* out) {
    const u32 per_lane = items_per_lane(w, s), first_bit = 2 * per_lane * in.op_sel;
    for (u32 first_lane = 0, n = 0; n < s.n; first_lane += edge)
        for (u32 t = 0; t < per_lane; ++t, ++n) {
            const u32 bit = first_bit + 2 * t;
            const u32* const from = vrow(w, in.src[2], bit / 32) + first_lane;
            for (u32 j = 0; j < edge; j += part_columns) {
                const Words four = Words{} + 4 * (n / 2),
                            position = load_part(from + j) >> bit % 32 & 3;
                store_part(out[n].column + j, (four + position) * edge);
            }
        }
}

// NEG of floats negates the elements with even k, NEG_HI those with odd k.
void negate_rows(const Inst& in, u32 source, std::span<ElementRow> rows) {
    for (u32 odd = 0; odd < 2; ++odd)
        if ((odd ? in.neg_hi : in.neg) >> source & 1)
            for (u32 k = odd; k < rows.size(); k += 2)
                for (u32 j = 0; j < edge; j += part_columns)
                    store_part(rows[k].column + j, load_part(rows[k].column + j) ^ 0x80000000u);
}

// Integers of dense products as pairs, for each of which there is one step; else a dword each, of
// which the upper half of A is 0, so that one of the pair's products is.
void load_factor(Wave& w, const Inst& in, const Shape& s, u32 source, ElementRow* out) {
    const u32 per_lane = items_per_lane(w, s);
    const FactorRows f = source == 0 ? FactorRows{in.src[0], s.a, s.n, per_lane}
                                     : FactorRows{in.src[1], s.b, s.k, s.k / s.n * per_lane};
    if (!is_integer(s.a)) {
        load_float_rows(w, f, out);
        return negate_rows(in, source, {out, f.items});
    }
    load_integer_rows(w, f, in.neg >> source & 1, !s.sparse(), out);
    if (s.sparse() && source == 0)
        for (ElementRow& row : std::span(out, f.items))
            for (u32 j = 0; j < edge; j += part_columns)
                store_part(row.column + j, load_part(row.column + j) & 0xffff);
}

// Where the rows of C or D begin, in dwords from the first register.
using ResultRows = std::array<uint16_t, edge>;
constexpr ResultRows rows_of_rdna3(u32 size) {
    ResultRows at{};
    for (u32 i = 0; i < edge; ++i)
        at[i] = static_cast<uint16_t>(machine::lanes * (i * 16 / size) + i * 16 % size);
    return at;
}
// Halves of two rows, the first one being even, lie in the same dwords.
constexpr ResultRows rows_of_rdna4(u32 size, bool halves) {
    ResultRows at{};
    for (u32 i = 0; i < edge; ++i) {
        const WmmaPlace p = wmma_place(size, i);
        at[i] = static_cast<uint16_t>(machine::lanes * (halves ? p.item / 2 : p.item) + p.lane);
    }
    return at;
}
// Of rows in no register.
constexpr ResultRows one_by_one = [] {
    ResultRows at{};
    for (u32 i = 0; i < edge; ++i) at[i] = static_cast<uint16_t>(edge * i);
    return at;
}();
const ResultRows& sum_rows(const Wave& w, const Shape& s, MatrixElement e) {
    static constexpr ResultRows rdna3[] = {rows_of_rdna3(32), rows_of_rdna3(64)};
    static constexpr ResultRows rdna4[][2] = {{rows_of_rdna4(32, false), rows_of_rdna4(32, true)},
                                              {rows_of_rdna4(64, false), rows_of_rdna4(64, true)}};
    const bool wide = w.size == 64;
    return s.rdna4 ? rdna4[wide][is_half(e)] : rdna3[wide];
}

// C as f32 or i32.
void load_addends(Wave& w, const Inst& in, const Shape& s, const Operand& o, const ResultRows& at,
                  std::span<ElementRow, edge> out) {
    const u32* const first = is_vector(o) ? vrow(w, o) : nullptr;
    const bool both = s.rdna4, high = in.op_sel >> 2 & 1;
    for (u32 i = 0; i < edge; ++i) {
        if (!first)
            std::ranges::fill(out[i].column, static_cast<u32>(o.value));
        else if (!is_half(s.c))
            copy_row(first + at[i], out[i].column);
        else if (!both)
            widen_halves(s.c, first + at[i], high ? nullptr : &out[i], high ? &out[i] : nullptr);
        else if (i % 2 == 0)
            widen_halves(s.c, first + at[i], &out[i], &out[i + 1]);
    }
    if (!is_integer(s.a)) modify_addends(in, out);
}

// CLAMP: exact sums of products and addends, saturated.
void add_saturated(std::span<const ElementRow, edge> addends, std::span<ElementRow, edge> sums) {
    for (u32 i = 0; i < edge; ++i)
        for (u32 j = 0; j < edge; ++j) {
            const int64_t exact = int64_t{static_cast<int32_t>(addends[i].column[j])} +
                                  static_cast<int32_t>(sums[i].column[j]);
            sums[i].column[j] = static_cast<u32>(std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX));
        }
}

// Of 16-bit results rdna4 has two rows in the same dwords, rdna3 one, the other halves of which
// stay.
void store_results(const Inst& in, const Shape& s, std::span<const ElementRow, edge> sums,
                   RowsAt<u32> to) {
    const bool halves = is_half(s.d), both = halves && s.rdna4;
    const u32 shift = in.op_sel >> 2 & 1 ? 16 : 0, kept = shift ? 0xffff : 0xffff0000u;
    const auto codes = [&](u32 i, u32 j) { return half_codes(s.d, load_part(sums[i].column + j)); };
    for (u32 i = 0; i < edge; i += both ? 2 : 1)
        for (u32 j = 0; j < edge; j += part_columns) {
            u32* const d = to.row(i) + j;
            store_part(d, both     ? codes(i, j) | codes(i + 1, j) << 16
                          : halves ? (load_part(d) & kept) | codes(i, j) << shift
                                   : load_part(sums[i].column + j));
        }
}

// Whether the sums can be made in the registers of D, from C where it is.
bool adds_in_place(Wave& w, const Inst& in, const Shape& s, const Operand& c) {
    if (is_half(s.c) || is_half(s.d) || !is_vector(c) || in.clamp) return false;
    if (!is_integer(s.a) && ((in.neg | in.neg_hi) & 4) != 0) return false;
    const u32 registers = edge * edge / w.size;
    const u32 *from = vrow(w, c), *to = vrow(w, in.dst[0]);
    return from == to || from >= to + registers * machine::lanes ||
           to >= from + registers * machine::lanes;
}

constexpr auto table = [] {
    std::array<HandlerEntry, std::size(shapes)> entries{};
    for (size_t n = 0; n < entries.size(); ++n) entries[n] = {shapes[n].op, wmma};
    return entries;
}();

}  // namespace

void multiply_in_wave(Wave& w, const Inst& in, SumProducts sum) {
    const Shape& s = shapes[shape_numbers[static_cast<size_t>(in.op)]].shape;
    if (const char* why = refused(w, in, s)) return stop(w, ExitKind::Unimplemented, why);
    const bool integers = is_integer(s.a), saturates = integers && in.clamp;
    const Operand& c = s.sparse() ? in.dst[0] : in.src[2];
    const ResultRows &rows_c = sum_rows(w, s, s.c), &rows_d = sum_rows(w, s, s.d);
    ElementRow a[most_products], b[most_depth], of_b[most_products], sums[edge], addends[edge];
    load_factor(w, in, s, 0, a);
    load_factor(w, in, s, 1, b);
    if (s.sparse()) load_positions(w, in, s, of_b);
    ProductRows p{.step = integers ? ProductStep::Pairs : ProductStep::Fused,
                  .rows = edge,
                  .steps = integers && !s.sparse() ? s.n / 2u : s.n,
                  .a = a,
                  .b = b,
                  .of_b = s.sparse() ? of_b : nullptr,
                  .addends = {sums->column, one_by_one.data()},
                  .sums = {sums->column, one_by_one.data()}};
    const RowsAt<u32> d{vrow(w, in.dst[0]), rows_d.data()};
    if (adds_in_place(w, in, s, c)) {
        p.addends = {vrow(w, c), rows_c.data()};
        p.sums = d;
        return sum(p);
    }
    load_addends(w, in, s, c, rows_c, saturates ? addends : sums);
    if (saturates) std::ranges::fill(sums, ElementRow{});
    sum(p);
    if (saturates) add_saturated(addends, sums);
    store_results(in, s, sums, d);
}

void wmma(Wave& w, const Inst& in) {
    multiply_in_wave(w, in, sum_products);
}

std::span<const HandlerEntry> wmma_handlers() {
    return table;
}

}  // namespace wj::interp
