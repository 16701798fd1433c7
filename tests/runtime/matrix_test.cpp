// Matrix multiplies that clang-22 compiled for the matrix cores and dot products, gfx906 to gfx950,
// and for products in a wave, gfx11 to gfx12.5, against exact sums. The operands are small
// integers: every product and sum is exact in all formats, whatever the order.
#include <cmath>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

// What the hardware's formats hold for an integer of at most 4 significant bits (OCP, for FNUZ:
// AMD's CDNA3 manual, "8-bit floating point").
uint8_t to_fp8(int value, int mantissa_bits, int bias) {
    if (!value) return 0;
    const unsigned magnitude = std::abs(value);
    const int exponent = static_cast<int>(std::log2(magnitude));
    const unsigned fraction =
        (magnitude << mantissa_bits >> exponent) & ((1u << mantissa_bits) - 1);
    return static_cast<uint8_t>((value < 0) << 7 | (exponent + bias) << mantissa_bits | fraction);
}

uint16_t to_f16(int value) {
    if (!value) return 0;
    const unsigned magnitude = std::abs(value);
    const int exponent = static_cast<int>(std::log2(magnitude));
    return static_cast<uint16_t>((value < 0) << 15 | (exponent + 15) << 10 |
                                 ((magnitude << 10 >> exponent) & 0x3ff));
}

template <class T>
uint32_t bits(T value) {
    uint32_t b;
    std::memcpy(&b, &value, 4);
    return b;
}

class MatrixTest : public Gpu {
protected:
    // Operand bytes of integers in the kernel's format.
    std::vector<uint8_t> encode(const std::string& type, const std::vector<int>& values) const {
        const bool fnuz = std::string(GetParam().target) == "gfx942";
        std::vector<uint8_t> out;
        auto put = [&](auto v) {
            const auto* p = reinterpret_cast<const uint8_t*>(&v);
            out.insert(out.end(), p, p + sizeof(v));
        };
        for (int v : values) {
            if (type == "f32" || type == "xf32") put(float(v));
            if (type == "f64") put(double(v));
            if (type == "f16") put(to_f16(v));
            if (type == "bf16") put(static_cast<uint16_t>(bits(float(v)) >> 16));
            if (type == "i8") put(static_cast<int8_t>(v));
            if (type == "fp8") put(to_fp8(v, 3, fnuz ? 8 : 7));
            if (type == "bf8") put(to_fp8(v, 2, fnuz ? 16 : 15));
        }
        return out;
    }

    bool in_wave() const { return std::string(GetParam().target).starts_with("gfx1"); }

    void multiply(const std::string& name) {
        SCOPED_TRACE(name);
        wj_kernel* k = kernel("matrix", name.c_str());
        ASSERT_TRUE(k);
        const std::string type = name.substr(0, name.find('_'));
        const bool dot = name.find("dot") != std::string::npos;
        const int tile = name.find("32", name.find('_')) != std::string::npos ? 32 : 16;
        const int m = 64, n = 128, depth = 256;
        const int limit = type == "bf8" ? 6 : 8;  // bf8 has two bits of mantissa: no 5, no 7
        std::vector<int> a(m * depth), b(n * depth);
        uint32_t state = 12345;
        for (auto* matrix : {&a, &b})
            for (int& v : *matrix) {
                state = state * 1664525 + 1013904223;
                v = static_cast<int>(state >> 16) % (2 * limit + 1) - limit;
                if (type == "bf8" && std::abs(v) == 5) v = 4;
            }
        const auto bytes_a = encode(type, a), bytes_b = encode(type, b);
        uint64_t da = buffer(bytes_a.size()), db = buffer(bytes_b.size()),
                 dc = buffer(m * n * 8, 0xff);
        std::memcpy(host<void>(da), bytes_a.data(), bytes_a.size());
        std::memcpy(host<void>(db), bytes_b.data(), bytes_b.size());
        const uint32_t columns = n, length = depth;
        wj_argument args[] = {WJ_POINTER(da), WJ_POINTER(db), WJ_POINTER(dc), WJ_POINTER(columns),
                              WJ_POINTER(length)};
        wj_launch_options o = WJ_INIT(wj_launch_options);
        const uint32_t lanes = in_wave() ? 32 : 64;
        o.grid[0] = dot ? n : lanes * n / tile;
        o.grid[1] = dot ? m : m / tile;
        o.block[0] = lanes;
        o.arguments = args;
        o.argument_count = 5;
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        int wrong = 0;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                int want = 0;
                for (int l = 0; l < depth; l++) want += a[i * depth + l] * b[j * depth + l];
                const int at = i * n + j;
                const double got = type == "f64"  ? host<double>(dc)[at]
                                   : type == "i8" ? host<int32_t>(dc)[at]
                                                  : double(host<float>(dc)[at]);
                if (got != want && wrong++ < 3)
                    ADD_FAILURE() << "c[" << i << "][" << j << "] is " << got << ", want " << want;
            }
        EXPECT_EQ(wrong, 0);
    }
};

TEST_P(MatrixTest, Products) {
    const std::string target = GetParam().target;
    std::vector<std::string> names;
    auto add = [&](std::initializer_list<const char*> more) {
        names.insert(names.end(), more.begin(), more.end());
    };
    if (in_wave())
        add({"f16_16", "bf16_16", "i8_16"});
    else
        add({"i8_dot", "f16_dot"});
    if (target == "gfx1201" || target == "gfx1250") add({"fp8_16", "bf8_16"});
    if (target == "gfx1250") add({"f32_16", "fp8_16_scaled"});
    if (!in_wave() && target != "gfx906")
        add({"f32_16", "f32_32", "f16_16", "f16_32", "bf16_16", "bf16_32", "i8_16", "i8_32"});
    if (!in_wave() && target != "gfx906" && target != "gfx908") add({"f64_16"});
    if (target == "gfx942" || target == "gfx950") add({"fp8_16", "fp8_32", "bf8_16", "bf8_32"});
    if (target == "gfx942") add({"xf32_16", "xf32_32"});
    if (target == "gfx950")
        add({"f16_16_wide", "f16_32_wide", "bf16_16_wide", "i8_16_wide", "fp8_16_scaled",
             "fp8_32_scaled"});
    for (const std::string& name : names) multiply(name);
    // AVX2 code leaves matrix instructions to the interpreter.
    if (target == "gfx906" || GetParam().engine != WJ_ENGINE_AVX2) return;
    wj_counters c = WJ_INIT(wj_counters);
    ASSERT_EQ(wj_context_get_counters(context.get(), &c), WJ_OK);
    EXPECT_GT(c.interpreter_fallbacks, 0u);
    EXPECT_LT(c.interpreter_fallbacks, c.wave_instructions);
}

std::vector<Setup> setups() {
    std::vector<Setup> list;
    for (const char* target :
         {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"})
        for (wj_engine engine : {WJ_ENGINE_INTERPRETER, WJ_ENGINE_AVX2, WJ_ENGINE_AVX512})
            list.push_back({target, engine, WJ_MEMORY_IDENTITY});
    return list;
}
INSTANTIATE_TEST_SUITE_P(All, MatrixTest, testing::ValuesIn(setups()), setup_name);

}  // namespace
}  // namespace wj::test
