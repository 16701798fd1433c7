// Products in a wave (v_wmma, v_swmmac) of every mnemonic: the interpreter's handlers, which AVX2
// code calls, and those of AVX-512 give the bits of a plain model, whatever the operands are and
// wherever they lie.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "backend_x64/matrix_avx512.h"
#include "backend_x64/translator.h"
#include "frontend/target.h"
#include "tests/jit/wave_machine.h"
#include "tests/jit/wave_product_model.h"

namespace wj {
namespace {

using model::WaveProduct;

class Random {
public:
    uint32_t operator()() { return static_cast<uint32_t>(bits_()); }
    uint32_t below(uint32_t n) { return (*this)() % n; }
    bool once_in(uint32_t n) { return below(n) == 0; }

private:
    std::mt19937 bits_{1};
};

// What operands are made of.
enum class Numbers { Near1, Small, Large, WithSpecial, Any };
constexpr Numbers all_numbers[] = {Numbers::Near1, Numbers::Small, Numbers::Large,
                                   Numbers::WithSpecial, Numbers::Any};

// A float with so many bits: of the exponents that `numbers` says.
uint32_t float_code(Random& random, Numbers numbers, uint32_t exponent_bits,
                    uint32_t mantissa_bits) {
    const uint32_t top = (1u << exponent_bits) - 1, middle = top / 2;
    const uint32_t fraction = random() & ((1u << mantissa_bits) - 1), sign = random() & 1;
    uint32_t exponent = random() & top;
    if (numbers == Numbers::Near1) exponent = middle - (exponent & 1);
    if (numbers == Numbers::Small) exponent = exponent % std::max(2u, top / 3);
    if (numbers == Numbers::Large) exponent = middle + exponent % (top - middle);
    if (numbers == Numbers::WithSpecial)
        exponent = random.once_in(300) ? top : middle - (exponent & 3);
    const bool zero = random.once_in(16);
    return sign << (exponent_bits + mantissa_bits) |
           (zero ? 0 : exponent << mantissa_bits | fraction);
}

uint32_t dword_of(Random& random, Numbers numbers, const std::string& type) {
    if (numbers == Numbers::Any || model::is_integer(type)) return random();
    const uint32_t exponent_bits = type == "f32" || type == "bf16" ? 8 : type == "fp8" ? 4 : 5;
    const uint32_t bits = model::bits_of(type);
    if (bits < 8 || type.find("f4") != std::string::npos) return random();
    uint32_t dword = 0;
    for (uint32_t at = 0; at < 32; at += bits)
        dword |= float_code(random, numbers, exponent_bits, bits - 1 - exponent_bits) << at;
    return dword;
}

using Machine = test::WaveMachine<192>;

Operand registers(uint32_t first, uint32_t dwords) {
    Operand o;
    o.kind = Operand::Kind::Vgpr;
    o.reg = static_cast<uint16_t>(first);
    o.dwords = static_cast<uint8_t>(dwords);
    return o;
}

// A in v[0:31], B in v[32:63], C in v[64:95], D in v[96:127], positions and scales behind; or D on
// top of one of them, in part; or all of them together.
struct Places {
    uint32_t a, b, c, d, index;
};
constexpr Places places[] = {{0, 32, 64, 96, 128}, {0, 32, 64, 64, 128}, {0, 32, 64, 67, 128},
                             {0, 32, 64, 61, 128}, {0, 32, 64, 1, 128},  {0, 32, 64, 30, 128},
                             {32, 33, 34, 35, 36}};

const char* const targets[] = {"gfx1100", "gfx1201", "gfx1250"};

// The targets' shapes: gfx12.5's have 512 bits a row, or are of f32.
bool has(const std::string& target, const WaveProduct& p) {
    const bool scaled = p.a == "f8f6f4" || p.a == "f4";
    const bool gfx12_5 =
        scaled || p.a == "f32" || (p.sparse ? p.k / 2 : p.k) * model::bits_of(p.a) >= 512;
    return target == "gfx1100" ? !p.rdna4 : target == "gfx1201" ? p.rdna4 && !gfx12_5 : gfx12_5;
}

class Trial {
public:
    Trial(Random& random, const WaveProduct& product, Opcode op, const Target& target)
        : random_(random), p_(product), op_(op), target_(target) {}

    // Registers of A and B hold elements of their types, the others those of C.
    Machine start(const Places& at, Numbers numbers) const {
        Machine m(target_);
        for (uint32_t row = 0; row < Machine::rows; ++row)
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                const std::string& type = row - at.a < 32 && at.a != 32 ? p_.a
                                          : row - at.b < 32             ? p_.b
                                                                        : p_.c;
                m.wave.row(row)[l] = row < at.index || at.index < 128
                                         ? dword_of(random_, numbers, type)
                                     : p_.part && numbers != Numbers::Any ? scales()
                                                                          : random_();
            }
        return m;
    }

    Inst instruction(const Places& at, Numbers numbers) const {
        Inst in;
        in.op = op_;
        in.dst[0] = registers(at.d, 32);
        in.src[0] = registers(at.a, 32), in.src[1] = registers(at.b, 32);
        in.src[2] = registers(p_.sparse ? at.index : at.c,
                              p_.sparse ? type_dwords(op_info(op_).src[2]) : 32);
        const bool integers = model::is_integer(p_.c), scaled = p_.a == "f8f6f4" || p_.a == "f4";
        const bool signs = integers || (!has("gfx1250", p_));
        if (signs) in.neg = static_cast<uint8_t>(random_() & 3);
        if (signs && !integers) in.neg_hi = static_cast<uint8_t>(random_() & 3);
        if (!integers && !p_.sparse) in.neg |= random_() & 4, in.neg_hi |= random_() & 4;
        if (integers) in.clamp = random_() & 1;
        if (p_.sparse) {
            const uint32_t items =
                std::max((p_.k / 2) * 16 / target_.traits.wave_size, 32 / model::bits_of(p_.a));
            in.op_sel = static_cast<uint8_t>(random_.below(16 * in.src[2].dwords / items));
        } else if (!p_.rdna4 && model::bits_of(p_.d) == 16) {
            in.op_sel = static_cast<uint8_t>(random_() & 4);
        }
        if (!p_.sparse && random_.once_in(5)) {
            in.src[2] = {};
            in.src[2].kind = Operand::Kind::Const;
            in.src[2].value = model::bits_of(p_.c) == 16 ? 0 : integers ? 64 : 0x3f800000;
        }
        if (scaled) add_scales(in, at, numbers);
        return in;
    }

private:
    // Codes that no format of scales refuses: around 1 as exponents.
    uint32_t scales() const {
        uint32_t dword = 0;
        for (uint32_t at = 0; at < 32; at += 8) dword |= (108 + random_.below(20)) << at;
        return dword;
    }
    // All formats of scales with data that may have them, but for random codes.
    void add_scales(Inst& in, const Places& at, Numbers numbers) const {
        const bool only_fp4 = random_.once_in(2);
        for (uint8_t* format : {&in.cbsz, &in.blgp})
            *format = static_cast<uint8_t>(only_fp4 ? 4 : random_.below(5));
        if (only_fp4 && p_.part && numbers != Numbers::Any && at.index >= 128)
            in.scale_formats.fill(static_cast<uint8_t>(random_.below(3)));
        in.scale_rows = static_cast<uint8_t>(random_() & 3);
        for (uint32_t i = 0; i < 2; ++i) {
            in.src[3 + i] = registers(at.index + 2 * i, 2);
            if (random_.once_in(5) && !in.scale_formats[i])
                in.src[3 + i].kind = Operand::Kind::Const, in.src[3 + i].value = 0;
        }
    }

    Random& random_;
    const WaveProduct& p_;
    Opcode op_;
    const Target& target_;
};

class WaveProductTest : public testing::TestWithParam<std::tuple<const char*, uint32_t>> {};

TEST_P(WaveProductTest, HasTheModelsBits) {
    const auto [name, lanes] = GetParam();
    const Target* const target = find_target(name, lanes);
    if (!target) GTEST_SKIP() << name << " has no waves of " << lanes << " lanes";
    const bool avx512 = x64::missing_features(x64::Isa::Avx512).empty();
    Random random;
    int products = 0;
    for (size_t n = 0; n < opcode_count; ++n) {
        const Opcode op = static_cast<Opcode>(n);
        const auto product = model::wave_product(std::string(op_info(op).name));
        if (!product || !has(name, *product)) continue;
        if (op == Opcode::v_swmmac_i32_16x16x32_iu4 && lanes == 64) continue;  // refused
        ++products;
        ASSERT_TRUE(interp::handler(op)) << op_info(op).name;
        ASSERT_TRUE(!avx512 || x64::handler_avx512(op) != interp::handler(op));
        const Trial trial(random, *product, op, *target);
        for (const Numbers numbers : all_numbers)
            for (const Places& at : places) {
                const Inst in = trial.instruction(at, numbers);
                const Machine begin = trial.start(at, numbers);
                const auto run = [&](auto&& multiply) {
                    Machine m(*target);
                    std::copy_n(begin.wave.vgpr, Machine::rows * machine::lanes, m.wave.vgpr);
                    multiply(m.wave);
                    EXPECT_EQ(m.wave.exit.kind, machine::ExitKind::None) << m.wave.exit.reason;
                    return m.contents();
                };
                const auto what = [&] {
                    return std::string(op_info(op).name) + ", numbers " +
                           std::to_string(int(numbers)) + ", a v" + std::to_string(at.a) + ", d v" +
                           std::to_string(at.d) + ", neg " + std::to_string(in.neg) + " " +
                           std::to_string(in.neg_hi) + ", op_sel " + std::to_string(in.op_sel) +
                           ", formats " + std::to_string(in.cbsz) + " " + std::to_string(in.blgp);
                };
                const auto want = run([&](machine::Wave& w) { model::multiply(*product, w, in); });
                const auto common = run([&](machine::Wave& w) { interp::handler(op)(w, in); });
                for (size_t word = 0; word < want.size(); ++word)
                    ASSERT_EQ(want[word], common[word])
                        << what() << ", v" << word / 64 << " lane " << word % 64;
                if (!avx512) continue;
                ASSERT_EQ(want, run([&](machine::Wave& w) { x64::handler_avx512(op)(w, in); }))
                    << "AVX-512: " << what();
            }
    }
    EXPECT_GT(products, name == std::string("gfx1250") ? 40 : 5);
}

INSTANTIATE_TEST_SUITE_P(Targets, WaveProductTest,
                         testing::Combine(testing::ValuesIn(targets), testing::Values(32u, 64u)),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param)) + "_wave" +
                                    std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace wj
