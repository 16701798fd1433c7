// gfx12.5's products of elements of 4 to 8 bits, whose formats the instruction names, and of the
// same with a scale for every 16 or 32 elements of k: v_wmma_ld_scale*_paired and the product
// behind it are one instruction. Each product is scaled without error, and they are added in the
// order of k, each step rounded once (coverage.cpp: the hardware's order is not published).
//
// Layout (CDNA5 ISA, 7.12.6): A[i][k] is of lane i % 16 + 16 * g, k by mx_k; rows from 16 on lie in
// the registers behind. The scale of a row's n-th 16 or 32 elements is the n-th byte of lane i, of
// a matrix with 16 rows of lane i + 16 where MATRIX_SCALE says ROW1. B likewise.
#include "interpreter/matrix.h"
#include "interpreter/mx_elements.h"
#include "interpreter/wmma.h"

namespace wj::interp {

namespace {

constexpr u32 depth = 128, groups = 2, edge = wmma_edge;

enum ScaleFormat : uint8_t { E8M0, E5M3, E4M3, reserved };

// Of scales, which have no sign.
constexpr gf::SmallFormat e5m3{5, 3, 15, 0xfe, 0, 0xff, false};

double scale_value(ScaleFormat format, u32 code) {
    if (format == E8M0) return e8m0(code);
    return gf::decode_small(format == E5M3 ? e5m3 : gf::fp8_ocp, code);
}

struct ScaleOperand {
    const Operand& from;
    ScaleFormat format;
    u32 first_lane;
    // The scale of a row's (or column's) n-th part of k. A scalar has one for all.
    u32 code(Wave& w, u32 row, u32 n) const {
        if (from.kind == Operand::Kind::Const) return 127;
        if (!is_vector(from)) return read_s32(w, from) & 255;
        return vrow(w, from, n / 4)[row + first_lane] >> 8 * (n % 4) & 255;
    }
};

// The inline constant 0 stands for the scale 1. Which data may have which scales: a table
// of 7.12.6.
const char* refused_scales(const Inst& in) {
    const bool fp4[] = {in.cbsz == mx_fp4, in.blgp == mx_fp4};
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

// `count` rows of A, or columns of B, and the scales of their parts of `Block` elements.
template <u32 Count, u32 Block>
struct Factor {
    float element[Count][depth];
    double scale[Count][depth / Block];

    void load(Wave& w, const Operand& o, u32 code) {
        const gf::SmallFormat& format = mx_format(code);
        constexpr u32 per = depth / groups;
        for (u32 i = 0; i < Count; ++i)
            for (u32 x = 0; x < depth; ++x) {
                const u32 g = x / per, t = x % per;
                element[i][mx_k<groups>(format, g, t)] =
                    mx_element(w, o, i % 16 + 16 * g, per * (i / 16) + t, format);
            }
        for (auto& row : scale)
            for (double& s : row) s = 1;
    }
    bool load_scales(Wave& w, const ScaleOperand& o) {
        for (u32 i = 0; i < Count; ++i)
            for (u32 n = 0; n < depth / Block; ++n) {
                const u32 code = o.code(w, i, n);
                if (o.format == E4M3 && code > 127) return false;
                scale[i][n] = scale_value(o.format, code);
            }
        return true;
    }
};

// Block: 0 without scales.
template <u32 Rows, u32 Block>
void multiply_scaled(Wave& w, const Inst& input) {
    constexpr u32 part = Block ? Block : depth;
    Inst in = input;
    if (Rows == 32) in.cbsz = in.blgp = mx_fp4;
    if (refuse_ovfl_product(w)) return;
    Factor<Rows, part> a;
    Factor<edge, part> b;
    a.load(w, in.src[0], in.cbsz);
    b.load(w, in.src[1], in.blgp);
    if constexpr (Block != 0) {
        if (const char* why = refused_scales(in)) return stop(w, ExitKind::Unimplemented, why);
        const auto scales = [&](u32 i, u32 rows) {
            const u32 row1 = rows == edge && in.scale_rows >> i & 1 ? 16 : 0;
            return ScaleOperand{in.src[3 + i], ScaleFormat{in.scale_formats[i]}, row1};
        };
        if (!a.load_scales(w, scales(0, Rows)) || !b.load_scales(w, scales(1, edge)))
            return stop(w, ExitKind::Unimplemented, "a scale of E4M3 with a sign");
    }
    const auto place = [](u32 i, u32 j) {
        const WmmaPlace p = wmma_place(32, i % 16, j);
        return WmmaPlace{p.item + 8 * (i / 16), p.lane};
    };
    u32 d[Rows][edge];
    for (u32 i = 0; i < Rows; ++i)
        for (u32 j = 0; j < edge; ++j) {
            const WmmaPlace p = place(i, j);
            const Operand& c = in.src[2];
            const u32 bits = is_vector(c) ? vrow(w, c, p.item)[p.lane] : static_cast<u32>(c.value);
            float sum = wmma_addend(in, std::bit_cast<float>(bits));
            for (u32 k = 0; k < depth; ++k) {
                const double scale = a.scale[i][k / part] * b.scale[j][k / part];
                const double product = double{a.element[i][k]} * b.element[j][k] * scale;
                sum = gf::add(static_cast<float>(product), sum);
            }
            d[i][j] = std::bit_cast<u32>(sum);
        }
    for (u32 i = 0; i < Rows; ++i)
        for (u32 j = 0; j < edge; ++j) {
            const WmmaPlace p = place(i, j);
            vrow(w, in.dst[0], p.item)[p.lane] = d[i][j];
        }
}

constexpr HandlerEntry table[] = {
    {Opcode::v_wmma_f32_16x16x128_f8f6f4, multiply_scaled<16, 0>},
    {Opcode::v_wmma_scale_f32_16x16x128_f8f6f4, multiply_scaled<16, 32>},
    {Opcode::v_wmma_scale16_f32_16x16x128_f8f6f4, multiply_scaled<16, 16>},
    {Opcode::v_wmma_f32_32x16x128_f4, multiply_scaled<32, 0>},
    {Opcode::v_wmma_scale_f32_32x16x128_f4, multiply_scaled<32, 32>},
    {Opcode::v_wmma_scale16_f32_32x16x128_f4, multiply_scaled<32, 16>},
};

}  // namespace

std::span<const HandlerEntry> wmma_scaled_handlers() {
    return table;
}

}  // namespace wj::interp
