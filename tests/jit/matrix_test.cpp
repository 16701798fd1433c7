// The matrix instructions of AVX-512 hosts give the interpreter's bits: bf16 on the processors that
// add products in pairs, with factors within and beyond what dot products are used for, sums of any
// kind, D on top of operands.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend_x64/matrix_avx512.h"
#include "backend_x64/translator.h"
#include "frontend/target.h"

namespace wj {
namespace {

constexpr Opcode opcodes[] = {
    Opcode::v_mfma_f32_32x32x2bf16,    Opcode::v_mfma_f32_16x16x2bf16,
    Opcode::v_mfma_f32_32x32x4bf16,    Opcode::v_mfma_f32_16x16x8bf16,
    Opcode::v_mfma_f32_32x32x4bf16_1k, Opcode::v_mfma_f32_16x16x4bf16_1k,
    Opcode::v_mfma_f32_32x32x8bf16_1k, Opcode::v_mfma_f32_16x16x16bf16_1k,
};

class Random {
public:
    uint32_t operator()() { return static_cast<uint32_t>(bits_()); }
    // Exponents of factors from `first` on; one in 16 is a zero.
    uint32_t factor(uint32_t first, uint32_t exponents) {
        const uint32_t r = (*this)();
        const uint32_t sign_and_fraction = r & 0x807f;
        if (r >> 28 == 0) return r & 0x8000;
        return sign_and_fraction | (first + (r >> 16) % exponents) << 7;
    }

private:
    std::mt19937 bits_{1};
};

struct Machine {
    static constexpr uint32_t rows = 128;
    std::vector<uint32_t> file = std::vector<uint32_t>((rows + 1) * machine::lanes);
    machine::ExecContext ctx;
    machine::Wave wave;

    explicit Machine(const Target& target) {
        ctx.target = &target;
        const auto base = (reinterpret_cast<uintptr_t>(file.data()) + 63) & ~uintptr_t{63};
        wave.vgpr = reinterpret_cast<uint32_t*>(base);
        wave.ctx = &ctx;
    }
    std::vector<uint32_t> contents() const {
        return {wave.vgpr, wave.vgpr + rows * machine::lanes};
    }
};

Operand vgpr(uint16_t reg) {
    Operand o;
    o.kind = Operand::Kind::Vgpr;
    o.reg = reg;
    return o;
}

class MatrixHandlerTest : public testing::TestWithParam<const char*> {};

TEST_P(MatrixHandlerTest, Bf16HasTheInterpretersBits) {
    if (!x64::missing_features(x64::Isa::Avx512).empty()) GTEST_SKIP() << "no AVX-512";
    const Target* const target = find_target(GetParam());
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
    struct Factors {
        uint32_t first, exponents;
    };
    // Near 1; all that dot products take; the ends, and one beyond them; everything.
    const Factors factors[] = {{120, 14}, {72, 116}, {72, 3},  {185, 3}, {71, 2},
                               {186, 3},  {0, 40},   {60, 20}, {0, 256}};
    for (const Opcode op : opcodes) {
        const interp::Handler expected = interp::handler(op), got = x64::handler_avx512(op);
        ASSERT_NE(expected, got);
        for (const Factors& f : factors)
            for (const Places& p : places)
                for (int round = 0; round < 4; ++round) {
                    Machine want(*target), have(*target);
                    for (uint32_t i = 0; i < Machine::rows * machine::lanes; ++i) {
                        // Sums: of the products' order of magnitude, anything, denormals.
                        const uint32_t r = random();
                        uint32_t word = round == 0   ? random.factor(f.first, f.exponents) << 16
                                        : round == 1 ? random()
                                        : round == 2 ? r & 0x80ffffff
                                                     : random.factor(100, 50) << 16;
                        const uint32_t row = i / machine::lanes;
                        if (row - p.a < 2u || row - p.b < 2u)
                            word = random.factor(f.first, f.exponents) |
                                   random.factor(f.first, f.exponents) << 16;
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
                        << op_info(op).name << " factors from 2^" << int(f.first) - 127 << ", a v"
                        << p.a << ", b v" << p.b << ", c v" << p.c << ", d v" << p.d << ", round "
                        << round;
                }
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, MatrixHandlerTest, testing::Values("gfx908", "gfx90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace wj
