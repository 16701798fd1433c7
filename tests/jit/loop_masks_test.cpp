// Loops that run while lanes are left: random ones in the shape that LLVM gives them, with a
// collector of the lanes that have left, arms, and other masks that are handed on. The interpreter
// runs instruction by instruction.
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

// s[0:1] collects; s[4:5] is EXEC outside an arm; s[6:7] to s[12:13] and VCC hold what comes.
constexpr uint32_t collector = 0, saved = 4, first_mask = 6, counter = 16, other = 18, vcc = 106,
                   exec = 126;
constexpr uint32_t and_b64 = 13, or_b64 = 15, xor_b64 = 17, andn2_b64 = 19, orn2_b64 = 21,
                   nand_b64 = 23, nor_b64 = 25, xnor_b64 = 27, lshl_b32 = 28;
// Counts the iterations of each lane, which leaves when it has done those of the other row.
constexpr uint32_t count_row = 8, wanted_row = 9;

class LoopMasksTest : public WordsTest {
protected:
    void sop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(0x80000000 | op << 23 | dst << 16 | b << 8 | a);
    }
    void compare_rows(uint32_t dst) {
        // v_cmp_{lt,eq,le,gt,ne,ge}_u32, v_cmp_{lt,nlt,ge,nge}_f32
        static constexpr uint32_t ops[] = {0xc9, 0xca, 0xcb, 0xcc, 0xcd,
                                           0xce, 0x41, 0x4e, 0x46, 0x49};
        words_.push_back(0xd0000000 | ops[random(std::size(ops))] << 16 | dst);
        words_.push_back((256 + random(8)) | (256 + random(8)) << 9);
    }
    uint32_t any_mask() {
        const uint32_t n = random(6);
        return n == 5 ? vcc : n == 4 ? exec : first_mask + 2 * n;
    }
    uint32_t own_mask() { return random(3) ? first_mask + 2 * random(4) : vcc; }

    void something(bool in_arm) {
        static constexpr uint32_t logic[] = {and_b64, or_b64,   xor_b64, andn2_b64,
                                             or_b64,  orn2_b64, nor_b64, xnor_b64};
        switch (random(14)) {
            case 12:
            case 13:  // a scalar in place of what else is a mask's: s_lshl_b32, s_mov_b32
                if (in_arm) return sop2(lshl_b32, other, counter, 128 + random(8));
                words_.push_back(0xbe800000 | other << 16 | own_mask());
                return;
            case 8:
            case 10:  // s_add_u32, s_addc_u32: scalars that depend on whether an arm was run
                words_.push_back(0x80000000 | counter << 16 | (128 + random(4)) << 8 | counter);
                if (random(2)) words_.push_back(0x82118011);  // s_addc_u32 s17, s17, 0
                return;
            case 9:
            case 11:  // v_add_u32
                words_.push_back(52u << 25 | random(8) << 17 | random(8) << 9 |
                                 (counter + random(2)));
                return;
            case 0:
            case 1:
                return compare_rows(own_mask());
            case 2:
            case 3:
                return sop2(logic[random(random(3) ? 5 : 8)], own_mask(), any_mask(), any_mask());
            case 4:  // as after an arm: what is known of these lanes is replaced
                sop2(andn2_b64, first_mask, first_mask, exec);
                sop2(and_b64, first_mask + 2, own_mask(), exec);
                return sop2(or_b64, first_mask, first_mask, first_mask + 2);
            case 5:
                if (in_arm) return;
                return sop2(or_b64, first_mask, first_mask, exec);
            default:  // v_add_u32, v_mul_f32, v_xor_b32, v_and_b32
                static constexpr uint32_t ops[] = {52, 5, 21, 19};
                words_.push_back(ops[random(4)] << 25 | random(8) << 17 | random(8) << 9 |
                                 (256 + random(8)));
        }
    }

    // The lanes of `mask` that are on leave.
    void leave(uint32_t mask) {
        switch (random(3)) {
            case 0:
                sop2(and_b64, 14, exec, mask);
                return sop2(or_b64, collector, 14, collector);
            case 1:
                sop2(and_b64, mask, mask, exec);
                return sop2(or_b64, collector, collector, mask);
            default:  // others as well: then it is no collector
                if (random(4)) return leave(mask);
                return sop2(or_b64, collector, mask, collector);
        }
    }

    void program() {
        words_.clear();
        words_.push_back(0xbf820000);  // s_branch to the next
        const size_t begin = words_.size();
        bool lost = false;
        for (uint32_t n = random(3); n; --n) something(false);
        for (uint32_t arms = random(3); arms; --arms) {
            compare_rows(vcc);
            words_.push_back(0xbe802000 | saved << 16 | vcc);  // s_and_saveexec_b64
            const bool put_aside = random(2);
            if (put_aside) sop2(xor_b64, saved, exec, saved);
            const size_t branch = words_.size();
            words_.push_back(0xbf880000);  // s_cbranch_execz
            for (uint32_t n = random(5); n; --n) something(true);
            words_[branch] |= static_cast<uint32_t>(words_.size() - branch - 1);
            if (put_aside && random(2)) {                            // the other lanes' arm
                words_.push_back(0xbe802300 | saved << 16 | saved);  // s_andn2_saveexec_b64
                for (uint32_t n = random(5); n; --n) something(true);
            }
            // Rarely some lanes stay off, or others come.
            const uint32_t back = random(8);
            lost |= back < 2;
            if (back) sop2(or_b64, exec, exec, back == 1 ? own_mask() : saved);
            for (uint32_t n = random(3); n; --n) something(false);
            if (random(2)) leave(own_mask());
        }
        words_.push_back(52u << 25 | count_row << 17 | count_row << 9 | 129);
        words_.push_back(0xd0ce0000 | vcc);  // v_cmp_ge_u32
        words_.push_back((256 + count_row) | (256 + wanted_row) << 9);
        sop2(or_b64, collector, vcc, collector);
        if (random(8) == 0) something(false);
        // Not if they may have missed the count.
        if (!lost && random(8) == 0) sop2(or_b64, exec, exec, own_mask());
        sop2(andn2_b64, exec, exec, collector);
        const bool on_lanes = random(2);
        if (!on_lanes) words_.push_back(0xbf880001);  // s_cbranch_execz behind the loop
        const auto back = static_cast<uint32_t>(begin - words_.size() - 1) & 0xffff;
        words_.push_back((on_lanes ? 0xbf890000 : 0xbf820000) | back);
        // What is overwritten here is read by nobody behind the loop.
        for (uint32_t r = 0; r < 8; ++r)
            if (random(2)) words_.push_back(0xbe800180 | (first_mask + r) << 16);  // s_mov_b64
        for (uint32_t r = counter; r < counter + 2; ++r)
            if (random(2)) words_.push_back(0xbe800080 | r << 16);  // s_mov_b32
        for (const bool all : {false, true}) {
            if (all) words_.push_back(0xbefe01c1);  // s_mov_b64 exec, -1
            for (uint32_t r = 0; r < 8; ++r)
                if (random(4) == 0) words_.push_back(0x7e000280 | r << 17);  // v_mov_b32
        }
        words_.push_back(0xbf810000);  // s_endpgm
        ASSERT_LT(words_.size() * 4, code_bytes - 256);
    }

    void start(State& s) {
        for (uint32_t r = 0; r < vgprs; ++r)
            for (uint32_t l = 0; l < machine::lanes; ++l)
                s.wave.row(r)[l] = random(4) ? random(4) : random_dword(rng_);
        for (uint32_t l = 0; l < machine::lanes; ++l) {
            s.wave.row(count_row)[l] = 0;
            s.wave.row(wanted_row)[l] = random(6);
        }
        // Few lanes: arms that nobody runs through.
        const uint64_t few = 1ull << random(64) | 1ull << random(64);
        s.wave.set_s64(machine::exec_lo, random(2) ? ~0ull : random(2) ? few : rng_());
        for (uint32_t r = first_mask; r < 16; r += 2) s.wave.set_s64(r, rng_());
        s.wave.set_s64(vcc, rng_());
        const uint64_t off = ~s.wave.exec();
        s.wave.set_s64(collector, random(4) ? rng_() & off : random(2) ? 0 : rng_());
    }
};

TEST_P(LoopMasksTest, AsTheInterpreter) {
    for (int n = wanted_rounds(8000); n; --n) {
        program();
        load(code_);
        for (int wave = 0; wave < 4; ++wave) {
            SCOPED_TRACE(wave);
            State first;
            start(first);
            compare(first, code_);
            if (HasFatalFailure()) return;
        }
    }
}

WJ_JIT_TESTS(LoopMasksTest);

}  // namespace
}  // namespace wj::jit_test
