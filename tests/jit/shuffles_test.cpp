// Lanes that are read by number, where the numbers are made of the lanes' own, as shuffles within a
// wave are compiled (lift/cross.cpp).
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

class ShufflesTest : public WordsTest {
protected:
    void vop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(op << 25 | dst << 17 | b << 9 | a);
    }
    void vop3(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.insert(words_.end(), {0xd0000000 | op << 16 | dst, a | b << 9});
    }
    uint32_t small() { return 128 + random(65); }
};

TEST_P(ShufflesTest, OfNumbersOfLanes) {
    constexpr uint32_t lane = 2, from = 3, other = 4, data = 5;
    for (int round = wanted_rounds(600); round-- > 0;) {
        words_.clear();
        // v_mbcnt_lo_u32_b32, v_mbcnt_hi_u32_b32; now and then of some lanes or more than that.
        const uint32_t all = random(8) ? 193 : 20;
        vop3(0x28c, lane, all, random(8) ? 128 : small());
        vop3(0x28d, lane, random(8) ? 193 : 21, 256 + lane);
        vop2(0x12, from, 128, lane);  // v_lshlrev_b32
        for (uint32_t k = 1 + random(6); k; --k) {
            static constexpr uint32_t ops[] = {0x34, 0x35, 0x13, 0x14, 0x15, 0x0e, 0x0f, 0x08};
            const uint32_t dst = random(2) ? from : other;
            if (random(3)) {
                vop2(ops[random(std::size(ops))], dst, random(6) ? small() : 256 + from,
                     random(2) ? from : lane);
                continue;
            }
            const uint32_t compare = (random(2) ? 0xc9 : 0xc1) + random(6);
            words_.push_back(0x7c000000 | compare << 17 | from << 9 | small());
            vop2(0x00, from, random(2) ? small() : 256 + lane, from);  // v_cndmask_b32
        }
        if (random(3) == 0) words_.push_back(0x86fe107e);  // s_and_b64 exec, exec, s[16:17]
        vop2(0x12, from, 128 + 2, from);
        for (uint32_t k = 1 + random(3); k; --k) {  // ds_bpermute_b32
            words_.push_back(0xd87e0000 | (random(3) ? 0 : 4 * random(64)));
            words_.push_back((data + 1) << 24 | data << 8 | from);
            vop2(0x34, data, 256 + data + 1, data);
        }
        words_.push_back(0xbf810000);  // s_endpgm
        load(code_);
        for (int k = 0; k < 3; ++k) {
            State first;
            randomise(first, rng_);
            first.wave.mode = 0x3c0;
            if (random(2)) first.wave.set_s64(machine::exec_lo, ~0ull);
            compare(first, code_);
            if (HasFatalFailure()) return;
        }
    }
}

WJ_JIT_TESTS(ShufflesTest);

}  // namespace
}  // namespace wj::jit_test
