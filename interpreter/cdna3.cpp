// Instructions that gfx940 and gfx950 added: eight-bit floats and their conversions.
#include "interpreter/matrix.h"
#include "interpreter/valu.h"

namespace wj::interp {

// gfx950 reads the eight-bit formats as OCP defines them, gfx940-942 as FNUZ.
bool uses_ocp_fp8(const Wave& w) { return w.ctx && w.ctx->target && w.ctx->target->family >= Family::g950; }

namespace {

// Sign, exponent, mantissa with the given widths and bias; no infinities here.
float small_float(uint32_t bits, uint32_t exponent_bits, uint32_t mantissa_bits, int bias) {
    const uint32_t m = bits & ((1u << mantissa_bits) - 1), e = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
    const bool negative = bits >> (exponent_bits + mantissa_bits) & 1;
    const float x = e ? gf::ldexp(static_cast<float>(m | 1u << mantissa_bits), static_cast<int>(e) - bias - static_cast<int>(mantissa_bits))
                      : gf::ldexp(static_cast<float>(m), 1 - bias - static_cast<int>(mantissa_bits));
    return negative ? gf::negate(x) : x;
}

}  // namespace

float fp8_to_float(uint32_t b, bool ocp) {
    const float nan = gf::from_bits<float>(0x7fc00000);
    if (ocp) return (b & 0x7f) == 0x7f ? nan : small_float(b, 4, 3, 7);
    return b == 0x80 ? nan : small_float(b, 4, 3, 8);
}

float bf8_to_float(uint32_t b, bool ocp) {
    const float nan = gf::from_bits<float>(0x7fc00000);
    if (!ocp) return b == 0x80 ? nan : small_float(b, 5, 2, 16);
    // OCP E5M2 is the upper byte of f16, with infinities.
    return gf::to_float(Half{static_cast<uint16_t>(b << 8)});
}

namespace {

template <u32 M, u32 N, u32 K, MatrixElement A, MatrixElement B>
void mfma8(Wave& w, const Inst& in) {
    matrix_multiply<M, N, K, 1, A, B>(w, in);
}
constexpr auto fp8 = MatrixElement::Fp8;
constexpr auto bf8 = MatrixElement::Bf8;

constexpr HandlerEntry table[] = {
    {Opcode::v_mfma_f32_16x16x8_xf32, mfma8<16, 16, 8, MatrixElement::Xf32, MatrixElement::Xf32>},
    {Opcode::v_mfma_f32_32x32x4_xf32, mfma8<32, 32, 4, MatrixElement::Xf32, MatrixElement::Xf32>},
    {Opcode::v_mfma_f32_16x16x32_bf8_bf8, mfma8<16, 16, 32, bf8, bf8>},
    {Opcode::v_mfma_f32_16x16x32_bf8_fp8, mfma8<16, 16, 32, bf8, fp8>},
    {Opcode::v_mfma_f32_16x16x32_fp8_bf8, mfma8<16, 16, 32, fp8, bf8>},
    {Opcode::v_mfma_f32_16x16x32_fp8_fp8, mfma8<16, 16, 32, fp8, fp8>},
    {Opcode::v_mfma_f32_32x32x16_bf8_bf8, mfma8<32, 32, 16, bf8, bf8>},
    {Opcode::v_mfma_f32_32x32x16_bf8_fp8, mfma8<32, 32, 16, bf8, fp8>},
    {Opcode::v_mfma_f32_32x32x16_fp8_bf8, mfma8<32, 32, 16, fp8, bf8>},
    {Opcode::v_mfma_f32_32x32x16_fp8_fp8, mfma8<32, 32, 16, fp8, fp8>},
};

}  // namespace

std::span<const HandlerEntry> cdna3_handlers() { return table; }

}  // namespace wj::interp
