// Matrix instructions: D = A * B + C for one or more blocks. EXEC and MODE are ignored (round to
// nearest, denormals kept). The products of one element are added in the order of k, one fused
// operation each (docs/reference/float.md).
//
// Layout (AMD CDNA3 ISA, 7.1.4): with K_L = K*M*blocks/64 elements of A and B per lane,
//   A[b][i][k]: item k % K_L of lane i + M * (b + blocks * (k / K_L)); B[b][k][j] likewise with N
//   and j D[b][i][j]: groups of H rows (4; 1 for f64), B_I = ceil(64 / (N*M/H)) blocks side by
//   side, M_I = 64/B_I/N row groups side by side, G = M/(H*M_I): item i%H + H*((i/(H*M_I))%G +
//   G*(b/B_I)) of lane j + N*((i/H)%M_I + M_I*(b%B_I)).
#include "interpreter/matrix.h"

namespace wj::interp {

namespace {

using Element = MatrixElement;

template <u32 M, u32 N, u32 K, u32 Blocks, Element E>
void mfma(Wave& w, const Inst& in) {
    matrix_multiply<M, N, K, Blocks, E, E>(w, in);
}

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_mfma_f32_32x32x1f32, mfma<32, 32, 1, 2, Element::F32>},
    {Opcode::v_mfma_f32_32x32x1_2b_f32, mfma<32, 32, 1, 2, Element::F32>},
    {Opcode::v_mfma_f32_16x16x1f32, mfma<16, 16, 1, 4, Element::F32>},
    {Opcode::v_mfma_f32_16x16x1_4b_f32, mfma<16, 16, 1, 4, Element::F32>},
    {Opcode::v_mfma_f32_4x4x1f32, mfma<4, 4, 1, 16, Element::F32>},
    {Opcode::v_mfma_f32_4x4x1_16b_f32, mfma<4, 4, 1, 16, Element::F32>},
    {Opcode::v_mfma_f32_32x32x2f32, mfma<32, 32, 2, 1, Element::F32>},
    {Opcode::v_mfma_f32_32x32x2_f32, mfma<32, 32, 2, 1, Element::F32>},
    {Opcode::v_mfma_f32_16x16x4f32, mfma<16, 16, 4, 1, Element::F32>},
    {Opcode::v_mfma_f32_16x16x4_f32, mfma<16, 16, 4, 1, Element::F32>},

    {Opcode::v_mfma_f32_32x32x4f16, mfma<32, 32, 4, 2, Element::F16>},
    {Opcode::v_mfma_f32_32x32x4_2b_f16, mfma<32, 32, 4, 2, Element::F16>},
    {Opcode::v_mfma_f32_16x16x4f16, mfma<16, 16, 4, 4, Element::F16>},
    {Opcode::v_mfma_f32_16x16x4_4b_f16, mfma<16, 16, 4, 4, Element::F16>},
    {Opcode::v_mfma_f32_4x4x4f16, mfma<4, 4, 4, 16, Element::F16>},
    {Opcode::v_mfma_f32_4x4x4_16b_f16, mfma<4, 4, 4, 16, Element::F16>},
    {Opcode::v_mfma_f32_32x32x8f16, mfma<32, 32, 8, 1, Element::F16>},
    {Opcode::v_mfma_f32_32x32x8_f16, mfma<32, 32, 8, 1, Element::F16>},
    {Opcode::v_mfma_f32_16x16x16f16, mfma<16, 16, 16, 1, Element::F16>},
    {Opcode::v_mfma_f32_16x16x16_f16, mfma<16, 16, 16, 1, Element::F16>},
    {Opcode::v_mfma_f32_16x16x32_f16, mfma<16, 16, 32, 1, Element::F16>},
    {Opcode::v_mfma_f32_32x32x16_f16, mfma<32, 32, 16, 1, Element::F16>},

    {Opcode::v_mfma_f32_32x32x2bf16, mfma<32, 32, 2, 2, Element::Bf16>},
    {Opcode::v_mfma_f32_16x16x2bf16, mfma<16, 16, 2, 4, Element::Bf16>},
    {Opcode::v_mfma_f32_4x4x2bf16, mfma<4, 4, 2, 16, Element::Bf16>},
    {Opcode::v_mfma_f32_32x32x4bf16, mfma<32, 32, 4, 1, Element::Bf16>},
    {Opcode::v_mfma_f32_16x16x8bf16, mfma<16, 16, 8, 1, Element::Bf16>},
    {Opcode::v_mfma_f32_32x32x4bf16_1k, mfma<32, 32, 4, 2, Element::Bf16>},
    {Opcode::v_mfma_f32_32x32x4_2b_bf16, mfma<32, 32, 4, 2, Element::Bf16>},
    {Opcode::v_mfma_f32_16x16x4bf16_1k, mfma<16, 16, 4, 4, Element::Bf16>},
    {Opcode::v_mfma_f32_16x16x4_4b_bf16, mfma<16, 16, 4, 4, Element::Bf16>},
    {Opcode::v_mfma_f32_4x4x4bf16_1k, mfma<4, 4, 4, 16, Element::Bf16>},
    {Opcode::v_mfma_f32_4x4x4_16b_bf16, mfma<4, 4, 4, 16, Element::Bf16>},
    {Opcode::v_mfma_f32_32x32x8bf16_1k, mfma<32, 32, 8, 1, Element::Bf16>},
    {Opcode::v_mfma_f32_32x32x8_bf16, mfma<32, 32, 8, 1, Element::Bf16>},
    {Opcode::v_mfma_f32_16x16x16bf16_1k, mfma<16, 16, 16, 1, Element::Bf16>},
    {Opcode::v_mfma_f32_16x16x16_bf16, mfma<16, 16, 16, 1, Element::Bf16>},
    {Opcode::v_mfma_f32_16x16x32_bf16, mfma<16, 16, 32, 1, Element::Bf16>},
    {Opcode::v_mfma_f32_32x32x16_bf16, mfma<32, 32, 16, 1, Element::Bf16>},

    {Opcode::v_mfma_i32_32x32x4i8, mfma<32, 32, 4, 2, Element::I8>},
    {Opcode::v_mfma_i32_32x32x4_2b_i8, mfma<32, 32, 4, 2, Element::I8>},
    {Opcode::v_mfma_i32_16x16x4i8, mfma<16, 16, 4, 4, Element::I8>},
    {Opcode::v_mfma_i32_16x16x4_4b_i8, mfma<16, 16, 4, 4, Element::I8>},
    {Opcode::v_mfma_i32_4x4x4i8, mfma<4, 4, 4, 16, Element::I8>},
    {Opcode::v_mfma_i32_4x4x4_16b_i8, mfma<4, 4, 4, 16, Element::I8>},
    {Opcode::v_mfma_i32_32x32x8i8, mfma<32, 32, 8, 1, Element::I8>},
    {Opcode::v_mfma_i32_16x16x16i8, mfma<16, 16, 16, 1, Element::I8>},
    {Opcode::v_mfma_i32_32x32x16_i8, mfma<32, 32, 16, 1, Element::I8>},
    {Opcode::v_mfma_i32_16x16x32_i8, mfma<16, 16, 32, 1, Element::I8>},
    {Opcode::v_mfma_i32_16x16x64_i8, mfma<16, 16, 64, 1, Element::I8>},
    {Opcode::v_mfma_i32_32x32x32_i8, mfma<32, 32, 32, 1, Element::I8>},

    {Opcode::v_mfma_f64_16x16x4f64, mfma<16, 16, 4, 1, Element::F64>},
    {Opcode::v_mfma_f64_16x16x4_f64, mfma<16, 16, 4, 1, Element::F64>},
    {Opcode::v_mfma_f64_4x4x4f64, mfma<4, 4, 4, 4, Element::F64>},
    {Opcode::v_mfma_f64_4x4x4_4b_f64, mfma<4, 4, 4, 4, Element::F64>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> mfma_handlers() {
    return table;
}

}  // namespace wj::interp
