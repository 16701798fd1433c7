// Blocks that are entered with some lanes off, over rows that are lines: sums of pairs whose
// carries may be those of other lanes, masks made of compares, accesses to the LDS. The interpreter
// takes instruction by instruction.
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

class SomeLanesTest : public WordsTest {
protected:
    static constexpr uint32_t rows = 12, lines = 4;

    uint32_t vgpr() { return random(rows); }
    void vop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(op << 25 | dst << 17 | b << 9 | a);
    }
    uint32_t source() { return random(3) ? 256 + vgpr() : 128 + random(20); }

    // EXEC: fewer lanes, more, others.
    void lanes() {
        static constexpr uint32_t changes[] = {
            0x86fe027e,  // s_and_b64 exec, exec, s[2:3]
            0x87fe047e,  // s_or_b64 exec, exec, s[4:5]
            0xbefe0102,  // s_mov_b64 exec, s[2:3]
            0x86fe6a7e,  // s_and_b64 exec, exec, vcc
            0xbefe01c1,  // s_mov_b64 exec, -1
            0xbe86207e,  // s_and_saveexec_b64 s[6:7], exec
        };
        words_.push_back(changes[random(std::size(changes))]);
    }

    void instruction() {
        const uint32_t dst = lines + random(rows - lines), pair = dst & ~1u;
        switch (random(8)) {
            case 0:
            case 1: {  // v_add_co, v_sub_co, v_subrev_co; the upper half, perhaps for other lanes
                const uint32_t op = random(2) ? 0 : random(3), from = vgpr() & ~1u;
                vop2(0x19 + op, pair, random(2) ? source() : 256 + from, pair);
                if (random(4) == 0) lanes();
                const uint32_t high = random(8) ? op : random(3);
                return vop2(0x1c + high, pair + 1, random(2) ? 128 : 256 + from + 1, pair + 1);
            }
            case 2:  // v_cndmask
                return vop2(0x00, dst, source(), vgpr());
            case 3:  // compares, unsigned and signed
                return words_.push_back(0x7c000000 | ((random(2) ? 0xc9 : 0xc1) + random(6)) << 17 |
                                        vgpr() << 9 | source());
            case 4: {  // ds_read_b32, ds_write_b32, mostly at lines
                const uint32_t at = random(4) ? random(lines) : vgpr(), offset = 4 * random(16);
                const bool load = random(2);
                words_.push_back((load ? 0xd86c0000 : 0xd81a0000) | offset);
                return words_.push_back(load ? dst << 24 | at : vgpr() << 8 | at);
            }
            case 5:
                return lanes();
            case 6:  // v_lshlrev_b32, v_and_b32
                return random(2) ? vop2(0x12, dst, 128 + random(4), vgpr())
                                 : vop2(0x13, dst, source(), vgpr());
            default:  // v_add_u32, v_sub_u32
                return vop2(0x34 + random(2), dst, source(), vgpr());
        }
    }

    void start(State& s, bool even) {
        randomise(s, rng_);
        for (uint32_t r : {2, 4}) s.wave.set_s64(r, random_mask(rng_));
        for (uint32_t r = 0; r < rows; ++r) {
            const uint32_t first = 64 * random(4), stride = 4 * random(3);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                uint32_t& x = s.wave.row(r)[l];
                if (r < lines)
                    x = first + stride * l;
                else if (random(2))  // carries are rare among random numbers
                    x = random(2) ? 0u - random(3) : random(3);
            }
            if (r < lines && !even) s.wave.row(r)[random(64)] += 4 * random(8);
        }
    }
};

TEST_P(SomeLanesTest, AsTheInterpreter) {
    for (int n = wanted_rounds(1000); n; --n) {
        words_.clear();
        for (uint32_t k = 2 + random(14); k; --k) instruction();
        words_.push_back(0xbf810000);  // s_endpgm
        const uint64_t pc = code_ + 4 * random(3);
        load(pc);
        for (int wave = 0; wave < 3; ++wave) {
            SCOPED_TRACE(wave);
            State first;
            start(first, wave == 0 || random(2));
            compare(first, pc);
            if (HasFatalFailure()) return;
        }
    }
}

WJ_JIT_TESTS(SomeLanesTest);

}  // namespace
}  // namespace wj::jit_test
