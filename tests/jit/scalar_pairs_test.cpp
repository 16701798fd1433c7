// Sums of 64 bits that programs make of two sums of halves, and pairs of scalar registers that are
// read as one and written one by one: loops of random additions with carries, some of which belong
// together. The interpreter takes instruction by instruction.
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

class ScalarPairsTest : public WordsTest {
protected:
    void sop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(0x80000000 | op << 23 | dst << 16 | b << 8 | a);
    }

    // A constant or one of s4 to s11.
    uint32_t operand() { return random(4) ? 4 + random(8) : 128 + random(65); }

    void sum(uint32_t low, uint32_t from) {
        uint32_t a = low, b = random(2) ? from : operand(), c = a + 1, d = 128;
        if (b < 128) d = random(4) ? b + 1 : operand();
        if (random(6) == 0) c = operand();
        if (random(2)) std::swap(a, b);
        if (random(2)) std::swap(c, d);
        const bool disturbed = random(6) == 0, borrows = random(6) == 0;
        sop2(borrows ? 1 : 0, low, a, b);  // s_add_u32, s_sub_u32
        if (disturbed) sop2(0, 4 + random(8), operand(), operand());
        sop2(borrows ? 5 : 4, random(8) ? low + 1 : low, c, d);  // s_addc_u32, s_subb_u32
    }

    // s2 counts the iterations, s[14:15] takes note of what the pairs were.
    void program() {
        words_.clear();
        const uint32_t pieces = 1 + random(3);
        for (uint32_t n = 0; n < pieces; ++n) {
            const uint32_t pairs[] = {4 + 2 * random(4), 4 + 2 * random(4)};
            for (const uint32_t pair : pairs) {
                if (random(4) == 0) continue;
                sop2(29, 12, pair, 128 + random(8));  // s_lshl_b64 s[12:13], pair, n
                sop2(17, 14, 14, 12);                 // s_xor_b64 s[14:15], s[14:15], s[12:13]
            }
            sum(pairs[0], pairs[1]);
        }
        sop2(1, 2, 2, 129);            // s_sub_u32 s2, s2, 1
        words_.push_back(0xbf078002);  // s_cmp_lg_u32 s2, 0
        words_.push_back(0xbf850000 | ((0u - static_cast<uint32_t>(words_.size()) - 1) & 0xffff));
        words_.push_back(0xbf810000);  // s_cbranch_scc1 loop; s_endpgm
    }
};

TEST_P(ScalarPairsTest, AsTheInterpreter) {
    for (int n = wanted_rounds(600); n; --n) {
        program();
        load(code_);
        for (int wave = 0; wave < 3; ++wave) {
            SCOPED_TRACE(wave);
            State first;
            randomise(first, rng_);
            // Carries are rare among random numbers, and halves of all ones hand them on.
            for (uint32_t s = 4; s < 12; ++s)
                if (random(2)) first.wave.sgpr[s] = random(2) ? 0u - random(3) : random(3);
            first.wave.sgpr[2] = 1 + random(5);
            compare(first, code_);
            if (HasFatalFailure()) return;
        }
    }
}

WJ_JIT_TESTS(ScalarPairsTest);

}  // namespace
}  // namespace wj::jit_test
