// Waves of work-groups that are smaller than a wave (ExecContext::whole_lanes): code for their
// first lanes, and what comes to have others, or asks for them, all the same.
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

class FirstLanesTest : public WordsTest {
protected:
    static constexpr uint32_t saved = 4;

    // EXEC narrowed, widened and asked for, masks as scalars, lanes by number; v0 to v7, s4 to s19.
    void instruction() {
        static constexpr std::array<uint32_t, 2> table[] = {
            {0x68020300},              // v_add_u32_e32 v1, v0, v1
            {0x68020283},              // v_add_u32_e32 v1, 3, v1
            {0x7d980300},              // v_cmp_gt_u32_e32 vcc, v0, v1
            {0x7d980300},              //
            {0x000a0300},              // v_cndmask_b32_e32 v5, v0, v1, vcc
            {0x87fe047e},              // s_or_b64 exec, exec, s[4:5]
            {0x87fe047e},              //
            {0xbe84206a},              // s_and_saveexec_b64 s[4:5], vcc
            {0xbe84206a},              //
            {0x89fe6a7e},              // s_andn2_b64 exec, exec, vcc
            {0x7db20101},              // v_cmpx_lt_u32_e32 vcc, v1, v0
            {0xbefe01c1},              // s_mov_b64 exec, -1
            {0xbe88056a},              // s_not_b64 s[8:9], vcc
            {0xbe8a0d08},              // s_bcnt1_i32_b64 s10, s[8:9]
            {0x87886a08},              // s_or_b64 s[8:9], s[8:9], vcc
            {0xbe8c017e},              // s_mov_b64 s[12:13], exec
            {0x8890047e},              // s_xor_b64 s[16:17], exec, s[4:5]
            {0x8a926a7e},              // s_orn2_b64 s[18:19], exec, vcc
            {0x7e1c0501},              // v_readfirstlane_b32 s14, v1
            {0xd289000a, 0x00001701},  // v_readlane_b32 s10, v1, s11
            {0xd28a0006, 0x0001640b},  // v_writelane_b32 v6, s11, 50
            {0x7e0402fa, 0xff011301},  // v_mov_b32_dpp v2, v1 row_shr:3
            {0xd87e0000, 0x03000100},  // ds_bpermute_b32 v3, v0, v1
            {0xd28c0004, 0x000100c1},  // v_mbcnt_lo_u32_b32 v4, -1, 0
            {0xd28d0004, 0x000208c1},  // v_mbcnt_hi_u32_b32 v4, -1, v4
        };
        for (const uint32_t word : table[random(std::size(table))])
            if (word) words_.push_back(word);
    }
};

TEST_P(FirstLanesTest, AsTheInterpreter) {
    const int programs = wanted_rounds(1500);
    for (int n = 0; n < programs; ++n) {
        SCOPED_TRACE("program " + std::to_string(n));
        words_.clear();
        for (uint32_t k = random(4); k; --k) instruction();
        if (random(2)) {
            const size_t loop = words_.size();
            for (uint32_t k = 1 + random(4); k; --k) instruction();
            words_.push_back(0x80808100);  // s_sub_u32 s0, s0, 1
            words_.push_back(0xbf078000);  // s_cmp_lg_u32 s0, 0
            words_.push_back(0xbf850000 | ((loop - words_.size() - 1) & 0xffff));  // s_cbranch_scc1
        }
        for (uint32_t k = random(4); k; --k) instruction();
        words_.push_back(0xbf810000);  // s_endpgm
        load(code_);
        context_.whole_lanes = 16 * (1 + random(4));
        const uint64_t whole = context_.whole_exec();
        for (int k = 0; k < 4; ++k) {
            State start;
            randomise(start, rng_);
            start.wave.set_s64(machine::exec_lo, random(4)   ? whole
                                                 : random(2) ? ~uint64_t{0}
                                                             : whole & rng_());
            start.wave.set_s64(saved, random(3)   ? whole
                                      : random(2) ? whole & rng_()
                                                  : uint64_t{1} << random(64));
            start.wave.sgpr[0] = 1 + random(5);
            start.wave.sgpr[11] = random(64);
            // v0 > v1 in the first lanes, or anywhere.
            const bool line = random(2);
            const uint32_t bound = 16 * random(5);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                start.wave.row(0)[l] = line ? bound : random(2) ? l : random(64);
                start.wave.row(1)[l] = line || random(2) ? l : random(64);
            }
            compare(start, code_);
            if (HasFailure()) return;
        }
    }
}

WJ_JIT_TESTS(FirstLanesTest);

}  // namespace
}  // namespace wj::jit_test
