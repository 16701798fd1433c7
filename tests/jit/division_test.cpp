// The division that LLVM writes out (lift/division.h): the guest's sequence must give the same bits
// on the interpreter, which executes it instruction by instruction, and on the translators, which
// make one division of it; they are the host's quotient, but for operands that are named here.
// Sequences that are almost the same must do what they do on the interpreter.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "tests/jit/sequence_machine.h"

namespace wj {
namespace {

using jit_test::Kind;
using jit_test::kind_name;
using jit_test::Rng;

// ---- programs
// ------------------------------------------------------------------------------------------

struct Replacement {
    std::string from, to;
};

// A variant of the sequence. Operands come in {x} and {y}; {n} and {d} are what is divided.
struct Variant {
    const char* name;
    std::vector<Replacement> changes = {};
    uint32_t bits = 0;     // 32, 64: only for this type
    bool divides = false;  // recognised, but not all that it does
};

constexpr const char* sequence32 =
    "begin\n"
    "v_div_scale_f32 {ds}, s[4:5], {d}, {d}, {n}\n"
    "v_rcp_f32 {r}, {ds}\n"
    "v_fma_f32 {e}, -{ds}, {r}, 1.0\n"
    "v_fma_f32 {r}, {e}, {r}, {r}\n"
    "v_div_scale_f32 {ns}, vcc, {n}, {d}, {n}\n"
    "v_mul_f32 {q}, {ns}, {r}\n"
    "v_fma_f32 {e}, -{ds}, {q}, {ns}\n"
    "v_fma_f32 {q}, {e}, {r}, {q}\n"
    "v_fma_f32 {e}, -{ds}, {q}, {ns}\n"
    "v_div_fmas_f32 {q}, {e}, {r}, {q}\n"
    "v_div_fixup_f32 {out}, {q}, {fix_d}, {fix_n}\n"
    "end\n";
constexpr const char* sequence64 =
    "begin\n"
    "v_div_scale_f64 {ds}, s[4:5], {d}, {d}, {n}\n"
    "v_rcp_f64 {r}, {ds}\n"
    "v_fma_f64 {e}, -{ds}, {r}, 1.0\n"
    "v_fma_f64 {r}, {r}, {e}, {r}\n"
    "v_fma_f64 {e}, -{ds}, {r}, 1.0\n"
    "v_fma_f64 {r}, {r}, {e}, {r}\n"
    "v_div_scale_f64 {ns}, vcc, {n}, {d}, {n}\n"
    "v_mul_f64 {q}, {ns}, {r}\n"
    "v_fma_f64 {e}, -{ds}, {q}, {ns}\n"
    "v_div_fmas_f64 {q}, {e}, {r}, {q}\n"
    "v_div_fixup_f64 {out}, {q}, {fix_d}, {fix_n}\n"
    "end\n";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
}

std::vector<std::string> assembly(const Variant& variant, uint32_t bits) {
    std::string text = bits == 64 ? sequence64 : sequence32;
    for (Replacement change : variant.changes) {
        for (std::string* s : {&change.from, &change.to})
            replace_all(*s, "{t}", bits == 64 ? "f64" : "f32");
        EXPECT_NE(text.find(change.from), std::string::npos) << variant.name << ": " << change.from;
        replace_all(text, change.from, change.to);
    }
    // What no variant has changed.
    for (const auto& [from, to] : std::vector<Replacement>{{"begin\n", ""},
                                                           {"end\n", ""},
                                                           {"{fix_n}", "{n}"},
                                                           {"{fix_d}", "{d}"},
                                                           {"{n}", "{x}"},
                                                           {"{d}", "{y}"}})
        replace_all(text, from, to);
    text += "global_store_dword" + std::string(bits == 64 ? "x2" : "") + " v30, {out}, s[20:21]\n";
    uint32_t row = 0;
    for (const char* name : {"{x}", "{y}", "{ds}", "{ns}", "{r}", "{e}", "{q}", "{out}", "{a}"}) {
        const std::string first = std::to_string(row), last = std::to_string(row + 1);
        replace_all(text, name, bits == 64 ? "v[" + first + ":" + last + "]" : "v" + first);
        const std::string high = std::string(name).insert(strlen(name) - 1, ".hi");
        replace_all(text, high, "v" + last);
        row += 2;
    }
    std::vector<std::string> lines;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
    }
    return lines;
}

// What is recognised. The quotient is that of `numerator` and `denominator`.
struct Recognised : Variant {
    std::function<uint64_t(uint64_t x, uint64_t y, uint64_t sign)>
        numerator = [](uint64_t x, uint64_t, uint64_t) { return x; },
        denominator = [](uint64_t, uint64_t y, uint64_t) { return y; };
};
uint64_t constant(double value, uint64_t sign) {
    return sign >> 63 ? std::bit_cast<uint64_t>(value)
                      : std::bit_cast<uint32_t>(static_cast<float>(value));
}

// clang-format off
const std::vector<Recognised> recognised = {
    {{"as LLVM writes it"}},
    {{"fmac", {{"v_fma_{t} {r}, {e}, {r}, {r}", "v_fmac_f32 {r}, {e}, {r}"}, {"v_fma_{t} {q}, {e}, {r}, {q}", "v_fmac_f32 {q}, {e}, {r}"}}, 32}},
    {{"fmac", {{"v_fma_{t} {r}, {r}, {e}, {r}", "v_fmac_f64 {r}, {r}, {e}"}}, 64}},
    {{"factors the other way round", {{"-{ds}, {r}", "{r}, -{ds}"}, {"-{ds}, {q}", "{q}, -{ds}"}, {"{ns}, {r}", "{r}, {ns}"}}}},
    {{"steps the other way round", {{"{r}, {e}, {r}, {r}", "{r}, {r}, {e}, {r}"}, {"{q}, {e}, {r}, {q}\nv_fma", "{q}, {r}, {e}, {q}\nv_fma"}}, 32}},
    {{"steps the other way round", {{"{r}, {r}, {e}, {r}", "{r}, {e}, {r}, {r}"}}, 64}},
    {{"one in a register", {{"begin", "s_mov_b32 s10, 1.0"}, {"{r}, 1.0", "{r}, s10"}}, 32}},
    {{"one in a register", {{"begin", "s_mov_b64 s[10:11], 1.0"}, {"{r}, 1.0", "{r}, s[10:11]"}}, 64}},
    {{"a mask that was kept elsewhere", {{"{ns}, vcc", "{ns}, s[8:9]"}, {"v_div_fmas", "s_mov_b64 vcc, s[8:9]\nv_div_fmas"}}}},
    {{"the denominator's mask, which is the same", {{"v_div_fmas", "s_mov_b64 vcc, s[4:5]\nv_div_fmas"}}}},
    {{"lanes leave before the end", {{"v_div_fmas", "v_cmp_ne_u32 s[12:13], 0, v28\ns_and_b64 exec, exec, s[12:13]\nv_div_fmas"}, {"end\n", "s_mov_b64 exec, s[14:15]\n"}}}},
    {{"minus numerator", {{"{n}", "-{x}"}, {"{fix_n}", "-{x}"}}},
     [](uint64_t x, uint64_t, uint64_t sign) { return x ^ sign; }},
    {{"minus numerator by an instruction", {{"begin", "v_xor_b32 {a}, 0x80000000, {x}"}, {"{n}", "{a}"}, {"{fix_n}", "-{x}"}}, 32},
     [](uint64_t x, uint64_t, uint64_t sign) { return x ^ sign; }},
    {{"minus denominator", {{"{d}", "-{y}"}, {"{fix_d}", "-{y}"}}}, Recognised{}.numerator,
     [](uint64_t, uint64_t y, uint64_t sign) { return y ^ sign; }},
    {{"magnitude of the denominator", {{"begin", "v_and_b32 {a}, 0x7fffffff, {y}"}, {"{d}", "{a}"}, {"{fix_d}", "|{y}|"}}, 32}, Recognised{}.numerator,
     [](uint64_t, uint64_t y, uint64_t sign) { return y & ~sign; }},
    {{"magnitude of the denominator", {{"begin", "v_and_b32 {a.hi}, 0x7fffffff, {y.hi}\nv_mov_b32 v16, v2"}, {"{d}", "{a}"}, {"{fix_d}", "|{y}|"}}, 64}, Recognised{}.numerator,
     [](uint64_t, uint64_t y, uint64_t sign) { return y & ~sign; }},
    {{"minus its magnitude", {{"begin", "v_and_b32 {a}, 0x7fffffff, {y}"}, {"{d}", "-{a}"}, {"{fix_d}", "-|{y}|"}}, 32}, Recognised{}.numerator,
     [](uint64_t, uint64_t y, uint64_t sign) { return y | sign; }},
    {{"reciprocal", {{"{n}", "1.0"}, {"{fix_n}", "1.0"}}},
     [](uint64_t, uint64_t, uint64_t sign) { return constant(1, sign); }},
    {{"reciprocal, inline constant in a register", {{"begin", "s_mov_b32 s10, -1.0"}, {"{n}", "s10"}, {"{fix_n}", "-1.0"}}, 32},
     [](uint64_t, uint64_t, uint64_t sign) { return constant(-1, sign); }},
    {{"by a constant", {{"begin", "s_mov_b32 s10, 0x40400000"}, {"{d}", "s10"}, {"{fix_d}", "s10"}}, 32}, Recognised{}.numerator,
     [](uint64_t, uint64_t, uint64_t sign) { return constant(3, sign); }},
    {{"by a constant", {{"begin", "s_mov_b32 s10, 0\ns_mov_b32 s11, 0x40080000"}, {"{d}", "s[10:11]"}, {"{fix_d}", "s[10:11]"}}, 64}, Recognised{}.numerator,
     [](uint64_t, uint64_t, uint64_t sign) { return constant(3, sign); }},
    {{"by itself", {{"{d}", "{x}"}, {"{fix_d}", "{x}"}}}, Recognised{}.numerator,
     [](uint64_t x, uint64_t, uint64_t) { return x; }},
    {{"by itself, one v_div_scale", {{"v_div_scale_{t} {ds}, s[4:5]", "v_div_scale_{t} {ds}, vcc"}, {"v_div_scale_{t} {ns}, vcc, {n}, {d}, {n}\n", ""}, {"{ns}", "{ds}"}, {"{d}", "{x}"}, {"{fix_d}", "{x}"}}}, Recognised{}.numerator,
     [](uint64_t x, uint64_t, uint64_t) { return x; }},
};

// What is not, or what is used besides.
const std::vector<Variant> near_misses = {
    {"another mask", {{"v_div_fmas", "s_not_b64 vcc, vcc\nv_div_fmas"}}},
    {"no mask", {{"v_div_fmas", "s_mov_b64 vcc, 0\nv_div_fmas"}}},
    {"the mask of another compare", {{"v_div_fmas", "v_cmp_lt_{t} vcc, {x}, {y}\nv_div_fmas"}}},
    {"the mask of another division", {{"{ns}, vcc", "{ns}, s[8:9]"}, {"v_div_fmas", "v_div_scale_{t} {a}, vcc, {y}, {x}, {y}\nv_div_fmas"}}},
    {"half of the mask", {{"v_div_fmas", "s_mov_b32 vcc_hi, 0\nv_div_fmas"}}},
    {"the mask of fewer lanes", {{"v_div_scale_{t} {ns}", "s_and_b64 exec, exec, s[12:13]\nv_div_scale_{t} {ns}"}, {"v_div_fmas", "s_mov_b64 exec, s[14:15]\nv_div_fmas"}}},
    {"the mask of fewer lanes, made again", {{"{ns}, vcc", "{ns}, s[8:9]"}, {"v_div_fmas", "s_and_b64 exec, exec, s[12:13]\nv_div_scale_{t} {a}, vcc, {n}, {d}, {n}\ns_mov_b64 exec, s[14:15]\nv_div_fmas"}}},
    {"the whole in fewer lanes, the end in all", {{"begin", "s_and_b64 exec, exec, s[12:13]"}, {"v_div_fixup", "s_mov_b64 exec, s[14:15]\nv_div_fixup"}}},
    {"other lanes", {{"v_div_fmas", "s_andn2_b64 exec, exec, s[12:13]\nv_div_fmas"}, {"begin", "s_and_b64 exec, exec, s[12:13]"}, {"v_div_scale_{t} {ns}", "s_mov_b64 exec, s[14:15]\nv_div_scale_{t} {ns}"}}},
    {"fixup with changed places", {{"{fix_d}, {fix_n}", "{fix_n}, {fix_d}"}}},
    {"fixup of minus the numerator", {{"{fix_n}", "-{n}"}}},
    {"fixup of the denominator's magnitude", {{"{fix_d}", "|{d}|"}}},
    {"fixup of another numerator", {{"{fix_n}", "{ns}"}}},
    {"fixup of minus the quotient", {{"{out}, {q}", "{out}, -{q}"}}},
    {"fixup, clamped", {{"{fix_n}\n", "{fix_n} clamp\n"}}, 32},
    {"fmas, clamped", {{"v_div_fmas_{t} {q}, {e}, {r}, {q}", "v_div_fmas_{t} {q}, {e}, {r}, {q} clamp"}}, 32},
    {"fmas of minus the error", {{"fmas_{t} {q}, {e}", "fmas_{t} {q}, -{e}"}}},
    {"fmas of another quotient", {{"fmas_{t} {q}, {e}, {r}, {q}", "fmas_{t} {q}, {e}, {r}, {ns}"}}},
    {"fma instead of fmas", {{"v_div_fmas", "v_fma"}}},
    {"another constant", {{"{r}, 1.0", "{r}, 2.0"}}},
    {"another constant in a register", {{"{r}, 1.0", "{r}, s16"}}, 32},
    {"not negated", {{"{e}, -{ds}, {r}", "{e}, {ds}, {r}"}}},
    {"remainder not negated", {{"{e}, -{ds}, {q}", "{e}, {ds}, {q}"}}},
    {"first remainder not negated", {{"{e}, -{ds}, {q}, {ns}\nv_fma", "{e}, {ds}, {q}, {ns}\nv_fma"}}, 32},
    {"last remainder not negated", {{"{e}, -{ds}, {q}, {ns}\nv_div_fmas", "{e}, {ds}, {q}, {ns}\nv_div_fmas"}}},
    {"remainder of the unscaled denominator", {{"{e}, -{ds}, {q}", "{e}, -{d}, {q}"}}},
    {"remainder of the unscaled numerator", {{"{q}, {ns}\n", "{q}, {n}\n"}}},
    {"reciprocal of the unscaled denominator", {{"v_rcp_{t} {r}, {ds}", "v_rcp_{t} {r}, {d}"}}},
    {"reciprocal of its magnitude", {{"v_rcp_{t} {r}, {ds}", "v_rcp_{t} {r}, |{ds}|"}}},
    {"square root", {{"v_rcp", "v_rsq"}}},
    {"product with the unscaled numerator", {{"{q}, {ns}, {r}", "{q}, {n}, {r}"}}},
    {"product, doubled", {{"{q}, {ns}, {r}\n", "{q}, {ns}, {r} mul:2\n"}}, 32},
    {"no step of the quotient", {{"v_fma_f32 {q}, {e}, {r}, {q}\nv_fma_f32 {e}, -{ds}, {q}, {ns}\n", ""}}, 32},
    {"no step of the reciprocal", {{"v_fma_f32 {r}, {e}, {r}, {r}\n", ""}}, 32},
    {"one step of the reciprocal", {{"v_fma_f64 {r}, {r}, {e}, {r}\nv_fma_f64 {e}, -{ds}, {r}, 1.0\n", ""}}, 64},
    {"the numerator not scaled", {{"v_div_scale_{t} {ns}, vcc, {n}, {d}, {n}", "v_div_scale_{t} {ns}, vcc, {d}, {d}, {n}"}}},
    {"the denominator scaled as the numerator", {{"{d}, {d}, {n}", "{n}, {d}, {n}"}}},
    {"scaled by another numerator", {{"{d}, {d}, {n}", "{d}, {d}, {r}"}}},
    {"scaled by another denominator", {{"{d}, {d}, {n}", "{d}, {a}, {n}"}, {"{n}, {d}, {n}", "{n}, {a}, {n}"}}},
    {"scaled for changed places", {{"{n}, {d}, {n}", "{n}, {n}, {d}"}}},
    {"numerator scaled with its sign changed", {{"{n}, {d}, {n}", "-{n}, {d}, -{n}"}}},
    {"the numerator changed on the way", {{"v_div_fixup", "v_add_u32 v0, 1, v0\nv_div_fixup"}}},
    {"the denominator changed on the way", {{"v_rcp", "v_add_u32 v2, 1, v2\nv_rcp"}}},
    {"the scaled denominator changed on the way", {{"v_rcp", "v_add_u32 v4, 1, v4\nv_rcp"}}},
    {"intermediate values stored", {{"end\n", "global_store_dwordx4 v30, v[4:7], s[20:21] offset:512\nglobal_store_dwordx4 v30, v[8:11], s[20:21] offset:1536\nglobal_store_dwordx2 v30, v[12:13], s[20:21] offset:2560\nv_cndmask_b32 v20, 1, 2, vcc\nglobal_store_dword v30, v20, s[20:21] offset:3072\n"}}, 0, true},
    {"intermediate values changed", {{"v_div_fmas", "v_add_u32 v8, 1, v8\nv_div_fmas"}, {"end\n", "global_store_dwordx4 v30, v[4:7], s[20:21] offset:512\n"}}},
    // Branches without a distance go back to the beginning.
    {"in a loop", {{"end\n", "s_add_u32 s22, s22, -1\ns_cmp_lg_u32 s22, 0\ns_cbranch_scc1 0\n"}, {"{out}, {q}", "{y}, {q}"}, {"begin\n", "v_mov_b32 v14, v2\nv_mov_b32 v15, v3\n"}}, 0, true},
    {"in a loop that lanes leave", {{"end\n", "v_add_u32 v31, -1, v31\nv_cmp_lt_i32 vcc, 0, v31\ns_and_b64 exec, exec, vcc\ns_cbranch_execnz 0\ns_mov_b64 exec, s[14:15]\n"}, {"{out}, {q}", "{y}, {q}"}, {"begin\n", "v_mov_b32 v14, v2\nv_mov_b32 v15, v3\n"}}, 0, true},
};
// clang-format on

// ---- operands
// ------------------------------------------------------------------------------------------

struct Pair {
    uint64_t x, y;
};

// Bit patterns of one type.
class Patterns {
public:
    explicit Patterns(uint32_t bits)
        : bits_(bits), fraction_(bits == 64 ? 52 : 23), top_(bits == 64 ? 2047 : 255), rng_(bits) {}
    uint64_t sign() const { return uint64_t{1} << (bits_ - 1); }

    std::vector<uint64_t> special() const {
        const uint64_t one = uint64_t{1} << fraction_, quiet = one / 2, inf = top_ * one,
                       middle = top_ / 2 * one;
        std::vector<uint64_t> out;
        for (uint64_t magnitude : {uint64_t{0},
                                   uint64_t{1},
                                   uint64_t{2},
                                   uint64_t{3},
                                   quiet - 1,
                                   quiet,
                                   quiet + 1,
                                   one - 1,
                                   one,
                                   one + 1,
                                   2 * one - 1,
                                   2 * one,
                                   middle - 1,
                                   middle,
                                   middle + 1,
                                   middle + quiet,
                                   middle + one - 1,
                                   middle + one,
                                   middle + 2 * one + quiet,
                                   inf - one - 1,
                                   inf - one,
                                   inf - one + 1,
                                   inf - 1,
                                   inf,
                                   inf + 1,
                                   inf + quiet - 1,
                                   inf + quiet,
                                   inf + quiet + 0x1234,
                                   inf + one - 1})
            out.insert(out.end(), {magnitude, magnitude | sign()});
        // Where v_div_scale begins to scale.
        for (uint64_t exponent : {23, 24, 53, 54, 63, 64, 65, 95, 96, 97, 127, 128, 129})
            for (uint64_t at : {exponent, top_ - exponent, top_ / 2 - exponent % (top_ / 2),
                                top_ / 2 + exponent % (top_ / 2)})
                out.push_back(at * one + quiet);
        return out;
    }
    std::vector<Pair> specials() const {
        std::vector<Pair> out;
        for (uint64_t x : special())
            for (uint64_t y : special()) out.push_back({x, y});
        return out;
    }
    void add_random(std::vector<Pair>& to, size_t count) {
        const std::vector<uint64_t> list = special();
        const uint64_t mask = sign() | (sign() - 1);
        for (size_t i = 0; i < count; ++i) {
            Pair p{rng_() & mask, rng_() & mask};
            if (i % 8 == 0) p.x = list[rng_() % list.size()];
            if (i % 8 == 1) p.y = list[rng_() % list.size()];
            if (i % 8 == 2) p = {extreme(), extreme()};
            if (i % 8 == 3) p = {extreme(), p.y};
            to.push_back(p);
        }
    }
    // Quotients in the middle between two neighbours, or as near to it or to a number as there are:
    // n / d * 2^k = m + j / d, where m has p + 1 bits and j is small. If m is odd, it is the middle
    // of two numbers of p bits. Denormals have fewer bits than the precision.
    void add_hard(std::vector<Pair>& to, size_t count) {
        const uint32_t precision = fraction_ + 1;
        const int bias = static_cast<int>(top_ / 2), least = 1 - bias - static_cast<int>(fraction_);
        const int most = bias - static_cast<int>(fraction_);
        for (const size_t end = to.size() + count; to.size() < end;) {
            const uint32_t p = rng_() % 2 ? precision : rng_() % (precision + 1);
            uint64_t m, d, n;
            int k = 0;
            if (p < precision && rng_() % 4 == 0) {  // exactly m
                m = uint64_t{1} << p | random_bits(p);
                d = random_bits(precision - p - 1) | 1;
                n = m * d;
            } else {
                d = significand() | 1;
                const uint64_t j = rng_() % 16 - 8;
                uint64_t inverse = d;  // modulo 2^64, by Newton
                for (int i = 0; i < 6; ++i) inverse *= 2 - d * inverse;
                const uint64_t low = (uint64_t{2} << p) - 1;
                m = (0 - j) * inverse & low;
                const auto sum = static_cast<__int128>(m) * d + static_cast<int64_t>(j);
                k = static_cast<int>(p) + 1;
                n = static_cast<uint64_t>(sum >> k);
            }
            if (!(m >> p) || n >> precision) continue;
            // m counts halves of the least denormal, or is anywhere.
            int unit = least - 1;
            if (p == precision && rng_() % 2) unit = random_int(unit, most - 1);
            const int from = std::max(least, least - k - unit),
                      until = std::min(most, most - k - unit);
            if (from > until) continue;
            const int at = random_int(from, until);
            to.push_back({number(n, k + unit + at), number(d, at)});
        }
    }

private:
    uint64_t random_bits(uint64_t count) { return count ? rng_() >> (64 - count) : 0; }
    int random_int(int from, int to) {
        return from + static_cast<int>(rng_() % static_cast<uint64_t>(to - from + 1));
    }
    // Near both ends of the range.
    uint64_t extreme() {
        uint64_t exponent = rng_() % 28;
        if (rng_() % 3 == 0) exponent = top_ - 1 - exponent;
        if (rng_() % 3 == 0) exponent = top_ / 2 - 14 + exponent % 28;
        return (rng_() & sign()) | exponent << fraction_ | random_bits(fraction_);
    }
    // Any, often near the ends.
    uint64_t significand() {
        const uint64_t one = uint64_t{1} << fraction_;
        if (rng_() % 4 == 0) return 2 * one - 1 - random_bits(rng_() % 12);
        return one + random_bits(rng_() % 4 == 0 ? rng_() % 12 : fraction_);
    }
    // value * 2^exponent, which the type has, with any sign.
    uint64_t number(uint64_t value, int exponent) {
        const double x = std::ldexp(static_cast<double>(value), exponent);
        const uint64_t pattern = bits_ == 64 ? std::bit_cast<uint64_t>(x)
                                             : std::bit_cast<uint32_t>(static_cast<float>(x));
        return pattern | (rng_() & sign());
    }

    uint32_t bits_, fraction_;
    uint64_t top_;
    Rng rng_;
};

// The host's division, with the rule of docs/reference/float.md for NaN.
template <class T, class Bits>
Bits host_quotient(Bits x, Bits y) {
    constexpr Bits quiet = Bits{1} << (sizeof(Bits) == 8 ? 51 : 22);
    const T n = std::bit_cast<T>(x), d = std::bit_cast<T>(y);
    if (std::isnan(n)) return x | quiet;
    if (std::isnan(d)) return y | quiet;
    const T q = n / d;
    if (!std::isnan(q)) return std::bit_cast<Bits>(q);
    return sizeof(Bits) == 8 ? static_cast<Bits>(0xfff8000000000000) : Bits{0xffc00000};
}
uint64_t expected(uint64_t x, uint64_t y, uint32_t bits) {
    if (bits == 64) return host_quotient<double>(x, y);
    return host_quotient<float>(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
}

// The steps, as AMD defines them, do not give the correctly rounded quotient of some operands, but
// the number beside it.
bool may_be_beside(uint64_t x, uint64_t y, uint32_t bits) {
    // f32: numerators with this exponent are not scaled (v_div_scale: "exponent <= 23"), but what
    // the quotient leaves of them can be less than the least denormal.
    if (bits == 32) return (x >> 23 & 255) == 24;
    // f64: quotients in the middle of two denormals. The last step has the error of the reciprocal,
    // and v_div_fmas rounds once.
    auto odd = [](uint64_t v) {
        const uint64_t fraction = v & ((uint64_t{1} << 52) - 1);
        const uint64_t m = v >> 52 & 2047 ? fraction | uint64_t{1} << 52 : fraction;
        return m >> std::countr_zero(m | uint64_t{1} << 63);
    };
    const bool exact = odd(y) != 0 && odd(x) % odd(y) == 0;
    return exact && (expected(x, y, 64) >> 52 & 2047) == 0;
}

// ---- machines
// ------------------------------------------------------------------------------------------

std::vector<uint32_t> assembled(const Variant& variant, uint32_t bits) {
    SCOPED_TRACE(variant.name);
    return jit_test::assembled(assembly(variant, bits));
}

class Machine : public jit_test::SequenceMachine {
public:
    using SequenceMachine::SequenceMachine;

    // 64 pairs; what the program stores. some: lanes of the sequences that use fewer than `exec`.
    const uint8_t* run(std::span<const Pair> pairs, uint32_t bits, uint64_t exec = ~uint64_t{0},
                       uint64_t some = ~uint64_t{0}) {
        return SequenceMachine::run(1000, [=](machine::Wave& w) {
            for (uint32_t l = 0; l < 64; ++l) {
                const Pair& p = pairs[l % pairs.size()];
                w.row(0)[l] = static_cast<uint32_t>(p.x);
                w.row(1)[l] = static_cast<uint32_t>(p.x >> 32);
                w.row(2)[l] = static_cast<uint32_t>(p.y);
                w.row(3)[l] = static_cast<uint32_t>(p.y >> 32);
                w.row(28)[l] = some >> l & 1;
                w.row(30)[l] = l * bits / 8;
                w.row(31)[l] = l % 7;
            }
            w.set_s64(machine::exec_lo, exec);
            w.set_s64(machine::vcc_lo, 0xf0f0f0f00ff00ff0);
            w.set_s64(12, some);
            w.set_s64(14, exec);
            w.sgpr[16] = 0x3f800001;
            w.sgpr[22] = 5;
        });
    }
};

class DivisionTest : public testing::TestWithParam<Kind> {
protected:
    void SetUp() override {
        machine_ = std::make_unique<Machine>(GetParam());
        if (!*machine_) GTEST_SKIP() << "this host cannot run the engine";
    }

    // Gives the number of quotients that are not the host's.
    size_t quotients(const Recognised& r, uint32_t bits, const std::vector<Pair>& pairs,
                     uint64_t exec = ~uint64_t{0}, uint64_t some = ~uint64_t{0}) {
        const uint64_t sign = uint64_t{1} << (bits - 1);
        const bool narrowed = std::string(r.name) == "lanes leave before the end";
        const std::vector<uint32_t> code = assembled(r, bits);
        machine_->load(code);
        interpreter_.load(code);
        size_t wrong = 0, beside = 0;
        for (size_t at = 0; at < pairs.size() && wrong < 5; at += 64) {
            const auto part = std::span(pairs).subspan(at, std::min<size_t>(64, pairs.size() - at));
            const uint8_t* out = machine_->run(part, bits, exec, some);
            if (std::memcmp(out, interpreter_.run(part, bits, exec, some), Machine::out_bytes)) {
                ++wrong;
                ADD_FAILURE() << r.name << ", f" << bits << ": not as on the interpreter";
            }
            for (size_t l = 0; l < part.size(); ++l) {
                if (!(exec >> l & 1) || (narrowed && !(some >> l & 1))) continue;
                uint64_t is = 0;
                std::memcpy(&is, out + l * bits / 8, bits / 8);
                const auto [x, y] = part[l];
                const uint64_t n = r.numerator(x, y, sign), d = r.denominator(x, y, sign),
                               want = expected(n, d, bits);
                if (is == want) continue;
                if (may_be_beside(n, d, bits) && (is + 1 == want || is == want + 1)) {
                    ++beside;
                    continue;
                }
                ++wrong;
                ADD_FAILURE() << r.name << std::hex << ", " << n << " / " << d << " is " << is
                              << ", not " << want;
            }
        }
        return beside;
    }

    std::unique_ptr<Machine> machine_;
    Machine interpreter_{Kind::Interpreter};
};

TEST_P(DivisionTest, GivesTheHostsQuotient) {
    for (uint32_t bits : {32u, 64u}) {
        Patterns patterns(bits);
        std::vector<Pair> pairs = patterns.specials();
        patterns.add_random(pairs, 400000);
        patterns.add_hard(pairs, 400000);
        // Operands of both kinds are among them.
        EXPECT_GT(quotients(recognised.front(), bits, pairs), 0u) << bits;
    }
}

TEST_P(DivisionTest, InEveryForm) {
    for (uint32_t bits : {32u, 64u}) {
        Patterns patterns(bits);
        std::vector<Pair> pairs = patterns.specials();
        patterns.add_random(pairs, 4000);
        patterns.add_hard(pairs, 4000);
        for (const Recognised& r : recognised) {
            if (r.bits && r.bits != bits) continue;
            quotients(r, bits, pairs);
            quotients(r, bits, pairs, 0x7ffff0f00ff0cafe, 0x123456789abcdef0);
        }
    }
}

TEST_P(DivisionTest, NearMissesAreWhatTheyAre) {
    if (GetParam() == Kind::Interpreter) return;
    for (uint32_t bits : {32u, 64u}) {
        Patterns patterns(bits);
        std::vector<Pair> pairs = patterns.specials();
        patterns.add_random(pairs, 4000);
        patterns.add_hard(pairs, 4000);
        for (const Variant& v : near_misses) {
            if (v.bits && v.bits != bits) continue;
            const std::vector<uint32_t> code = assembled(v, bits);
            interpreter_.load(code);
            machine_->load(code);
            for (uint64_t exec : {~uint64_t{0}, uint64_t{0x7ffff0f00ff0cafe}}) {
                uint32_t wrong = 0;
                for (size_t at = 0; at < pairs.size() && !wrong; at += 64) {
                    const auto part =
                        std::span(pairs).subspan(at, std::min<size_t>(64, pairs.size() - at));
                    const uint64_t some = 0x123456789abcdef0;
                    wrong = std::memcmp(interpreter_.run(part, bits, exec, some),
                                        machine_->run(part, bits, exec, some), Machine::out_bytes);
                    EXPECT_FALSE(wrong) << v.name << ", f" << bits;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Engines, DivisionTest,
                         testing::Values(Kind::Interpreter, Kind::Avx2, Kind::Avx512), kind_name);

// ---- what the lifter makes of it
// ------------------------------------------------------------------

ir::Block lifted(const Variant& variant, uint32_t bits, bool exec_full, uint32_t mode) {
    return jit_test::lifted(assembled(variant, bits), exec_full, mode);
}

// Divisions and the steps around them.
struct Count {
    size_t divisions = 0, other = 0;
};
Count count(const ir::Block& block) {
    Count c;
    for (const ir::Inst& i : block.insts) {
        c.divisions += i.op == ir::Op::FDiv32 || i.op == ir::Op::FDiv64 ||
                       i.op == ir::Op::FQuot32 || i.op == ir::Op::FQuot64;
        c.other += i.op == ir::Op::FFma32 || i.op == ir::Op::FFma64 || i.op == ir::Op::FMul32 ||
                   i.op == ir::Op::FMul64 || i.op == ir::Op::Select32;
    }
    return c;
}

TEST(DivisionLift, OneOperationIsLeft) {
    for (uint32_t bits : {32u, 64u})
        for (bool exec_full : {false, true})
            for (const Recognised& r : recognised) {
                if (r.bits && r.bits != bits) continue;
                const ir::Block block = lifted(r, bits, exec_full, 0xf0);
                EXPECT_EQ(count(block).divisions, 1u) << r.name << ir::print(block);
                EXPECT_TRUE(block.calls.empty()) << r.name;
                // Lanes that have left have no quotient.
                const bool merged = std::string(r.name) == "lanes leave before the end";
                EXPECT_EQ(count(block).other, merged ? bits / 32 : 0u)
                    << r.name << ir::print(block);
            }
}

TEST(DivisionLift, NearMissesStay) {
    for (uint32_t bits : {32u, 64u})
        for (const Variant& v : near_misses) {
            if (v.bits && v.bits != bits) continue;
            const ir::Block block = lifted(v, bits, false, 0xf0);
            const bool divides = std::ranges::any_of(block.insts, [](const ir::Inst& i) {
                return i.op == ir::Op::FQuot32 || i.op == ir::Op::FQuot64;
            });
            EXPECT_EQ(divides, v.divides) << v.name << ir::print(block);
        }
}

// Denormals flushed, other roundings.
TEST(DivisionLift, OtherModesStay) {
    for (uint32_t bits : {32u, 64u})
        for (uint32_t change :
             {0x1u, 0x2u, 0x3u, 0x4u, 0x8u, 0xcu, 0x10u, 0x20u, 0x30u, 0x40u, 0x80u, 0xc0u}) {
            const bool concerns = (change & (bits == 64 ? 0xccu : 0x33u)) != 0;
            const ir::Block block = lifted(recognised.front(), bits, true, 0xf0 ^ change);
            EXPECT_EQ(count(block).other || !block.calls.empty(), concerns)
                << bits << " " << change << ir::print(block);
        }
}

}  // namespace
}  // namespace wj
