// The matrix instructions of AVX-512 hosts give the interpreter's bits: f16 and bf16 on the
// processors that add products in pairs, with factors within and beyond what is multiplied in
// pairs, sums of any kind, D on top of operands.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "backend_x64/host_tuning.h"
#include "backend_x64/matrix_avx512.h"
#include "backend_x64/translator.h"
#include "frontend/target.h"
#include "tests/jit/wave_machine.h"

namespace wj {
namespace {

struct Format {
    uint32_t fraction_bits;  // of 16; a sign, the rest is exponent
    std::vector<Opcode> opcodes;
    // Exponents of factors: the first one, and how many from there on.
    std::vector<std::pair<uint32_t, uint32_t>> factors;
};
const Format formats[] = {
    {7,
     {Opcode::v_mfma_f32_32x32x2bf16, Opcode::v_mfma_f32_16x16x2bf16,
      Opcode::v_mfma_f32_32x32x4bf16, Opcode::v_mfma_f32_16x16x8bf16,
      Opcode::v_mfma_f32_32x32x4bf16_1k, Opcode::v_mfma_f32_16x16x4bf16_1k,
      Opcode::v_mfma_f32_32x32x8bf16_1k, Opcode::v_mfma_f32_16x16x16bf16_1k},
     // Near 1; all that is multiplied in pairs; the ends, and one beyond them; everything.
     {{120, 14}, {72, 116}, {72, 3}, {185, 3}, {71, 2}, {186, 3}, {0, 40}, {60, 20}, {0, 256}}},
    {10,
     {Opcode::v_mfma_f32_32x32x4f16, Opcode::v_mfma_f32_16x16x4f16, Opcode::v_mfma_f32_32x32x8f16,
      Opcode::v_mfma_f32_16x16x16f16},
     // Near 1; all finite ones; denormals; large ones; everything.
     {{12, 6}, {0, 31}, {0, 2}, {0, 1}, {27, 4}, {29, 3}, {0, 32}}},
};

class Random {
public:
    uint32_t operator()() { return static_cast<uint32_t>(bits_()); }
    // One in 16 is a zero.
    uint32_t factor(const Format& format, std::pair<uint32_t, uint32_t> exponents) {
        const uint32_t r = (*this)(), fraction = (1u << format.fraction_bits) - 1;
        if (r >> 28 == 0) return r & 0x8000;
        return (r & (0x8000 | fraction)) | (exponents.first + (r >> 16) % exponents.second)
                                               << format.fraction_bits;
    }
    // A float whose exponent is one of so many.
    uint32_t number(uint32_t first, uint32_t exponents) {
        return ((*this)() & 0x807fffff) | (first + (*this)() % exponents) << 23;
    }

private:
    std::mt19937 bits_{1};
};

using Machine = test::WaveMachine<128>;

Operand vgpr(uint16_t reg) {
    Operand o;
    o.kind = Operand::Kind::Vgpr;
    o.reg = reg;
    return o;
}

class MatrixHandlerTest : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(MatrixHandlerTest, HasTheInterpretersBits) {
    if (!x64::missing_features(x64::Isa::Avx512).empty())
        GTEST_SKIP() << "this host cannot run the engine";
    const auto [name, bf16_products] = GetParam();
    if (bf16_products && !x64::has_bf16_products())
        GTEST_SKIP() << "this host cannot run AVX512_BF16";
    const Target* const target = find_target(name);
    ASSERT_TRUE(target);
    Random random;
    // A and B in v[0:3]; D in v[32:63]; C there, apart, partly there, or a number.
    struct Places {
        uint16_t a, b, c, d;
        bool constant;
    };
    const Places places[] = {{0, 2, 32, 32, false},  {0, 2, 64, 32, false},  {0, 2, 36, 32, false},
                             {0, 2, 0, 32, true},    {0, 2, 64, 1, false},   {2, 0, 1, 1, false},
                             {40, 2, 32, 32, false}, {40, 41, 64, 32, false}};
    for (const Format& format : formats)
        for (const Opcode op : format.opcodes) {
            const interp::Handler expected = interp::handler(op),
                                  got = x64::handler_avx512_with(op, bf16_products);
            ASSERT_NE(expected, got);
            for (const auto& f : format.factors)
                for (const Places& p : places)
                    for (int round = 0; round < 4; ++round) {
                        Machine want(*target), have(*target);
                        for (uint32_t i = 0; i < Machine::rows * machine::lanes; ++i) {
                            // Sums: near 1, anything, denormals, of many sizes.
                            const uint32_t r = random();
                            uint32_t word = round == 0   ? random.number(120, 14)
                                            : round == 1 ? r
                                            : round == 2 ? r & 0x80ffffff
                                                         : random.number(70, 100);
                            const uint32_t row = i / machine::lanes;
                            if (row - p.a < 2u || row - p.b < 2u)
                                word = random.factor(format, f) | random.factor(format, f) << 16;
                            want.wave.vgpr[i] = have.wave.vgpr[i] = word;
                        }
                        Inst in;
                        in.op = op;
                        in.dst[0] = vgpr(p.d);
                        in.src[0] = vgpr(p.a), in.src[1] = vgpr(p.b), in.src[2] = vgpr(p.c);
                        if (p.constant) {
                            in.src[2].kind = Operand::Kind::Const;
                            in.src[2].value = round ? 0x3f800000 : 0;
                        }
                        expected(want.wave, in);
                        got(have.wave, in);
                        ASSERT_EQ(want.contents(), have.contents())
                            << op_info(op).name << " exponents " << f.first << " and "
                            << f.second - 1 << " more"
                            << ", a v" << p.a << ", b v" << p.b << ", c v" << p.c << ", d v" << p.d
                            << ", round " << round;
                    }
        }
}

INSTANTIATE_TEST_SUITE_P(Targets, MatrixHandlerTest,
                         testing::Combine(testing::Values("gfx908", "gfx90a"), testing::Bool()),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param)) +
                                    (std::get<1>(info.param) ? "_dot" : "");
                         });

}  // namespace
}  // namespace wj
