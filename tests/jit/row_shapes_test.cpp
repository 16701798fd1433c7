// What translated code knows of rows from one block to the next (Wave::row_shapes): random programs
// of several blocks over rows that are lines in the waves they are translated for, and only
// sometimes in others. The interpreter looks at every lane.

#include <set>
#include <tuple>
#include <vector>

#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

constexpr uint32_t rows = 12, ones_row = 8, zeros_row = 9;

class RowShapesTest : public WordsTest {
protected:
    void vop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(op << 25 | dst << 17 | b << 9 | a);
    }

    // A write to a row that is a line, for most waves.
    void write() {
        const uint32_t to = random(6), from = random(8);
        switch (random(11)) {
            case 0:  // v_lshlrev_b32, v_lshrrev_b32
                return vop2(random(4) ? 0x12 : 0x10, to, 128 + random(4), from);
            case 1:  // v_and_b32
                return vop2(0x13, to, 256 + ones_row, from);
            case 2:  // v_or_b32, v_add_u32
                return vop2(random(2) ? 0x14 : 0x34, to, 256 + zeros_row, from);
            case 3:  // v_add_u32, v_mul_u32_u24
                return vop2(random(2) ? 0x34 : 0x08, to, 2 + random(2), from);
            case 4:  // v_sub_u32
                return vop2(0x35, to, 256 + random(8), from);
            case 5:  // v_and_b32 with bits of a line
                return vop2(0x13, to, 128 + (1u << (1 + random(5))) - 1, from);
            case 6:  // v_writelane_b32
                words_.push_back(0xd28a0000 | to);
                return words_.push_back(2 | (128 + random(64)) << 9);
            case 7:  // ds_read_b32
                words_.push_back(0xd86c0000 | random(64) * 4);
                return words_.push_back(to << 24 | from);
            case 8:  // v_sad_u8, which is a call of the interpreter
                words_.push_back(0xd1d90000 | to);
                return words_.push_back((256 + zeros_row) | 128 << 9 | (256 + from) << 18);
            case 9:  // v_add_u32 with a constant, the same sum for a second time or another one
                if (random(2)) {                   // only in some waves
                    words_.push_back(0xbf06c003);  // s_cmp_eq_u32 s3, 64
                    words_.push_back(0xbf840001);  // s_cbranch_scc0 over the next one
                }
                if (sums_.empty() || random(2)) {
                    sums_.push_back(words_.size());
                    return vop2(0x34, to, 128 + 4 * (1 + random(8)), from);
                }
                return words_.push_back(words_[sums_[random(sums_.size())]]);
            default:  // v_mov_b32
                return words_.push_back(0x7e000300 | to << 17 | from);
        }
    }

    // Of the LDS, whose end most lines come near.
    void access() {
        const uint32_t address = random(8), data = random(rows);
        if (random(2)) {
            words_.push_back(0xd81a0000 | random(64) * 4);  // ds_write_b32
            words_.push_back(data << 8 | address);
        } else {
            words_.push_back(0xd86c0000 | random(64) * 4);
            words_.push_back((10 + random(2)) << 24 | address);
        }
    }

    void program() {
        words_.clear();
        sums_.clear();
        lds_size_ = random(2) ? lds_bytes : 256 + 4 * random(80);
        for (uint32_t blocks = 2 + random(5); blocks; --blocks) {
            const bool some_lanes = random(4) == 0;
            for (uint32_t n = random(3); n; --n) access();
            if (some_lanes) words_.push_back(0xbe862004);  // s_and_saveexec_b64 s[6:7], s[4:5]
            for (uint32_t n = random(4); n; --n) random(4) ? write() : access();
            if (some_lanes && random(2)) words_.push_back(0xbf820000);  // s_branch to the next
            if (some_lanes) words_.push_back(0x87fe067e);  // s_or_b64 exec, exec, s[6:7]
            for (uint32_t n = 1 + random(3); n; --n) access();
            words_.push_back(0xbf820000);
        }
        words_.push_back(0xbf810000);  // s_endpgm
        ASSERT_LT(words_.size() * 4, code_bytes - 256);
    }

    // even: the rows are lines whatever the program does.
    void start(State& s, bool even) {
        const bool usual = random(4);
        s.wave.lds_size = lds_size_;
        for (uint32_t r = 0; r < vgprs; ++r) {
            const uint32_t first = 64 * random(4), stride = usual ? 1 : 1u << random(4);
            for (uint32_t l = 0; l < machine::lanes; ++l) s.wave.row(r)[l] = first + stride * l;
        }
        for (uint32_t l = 0; l < machine::lanes; ++l) {
            s.wave.row(ones_row)[l] = even || random(8) ? ~0u : static_cast<uint32_t>(rng_());
            s.wave.row(zeros_row)[l] = even || random(8) ? 0 : static_cast<uint32_t>(rng_());
        }
        for (uint8_t& x : s.lds) x = static_cast<uint8_t>(rng_());
        s.wave.sgpr[2] = even ? 4 : random(100);
        s.wave.sgpr[3] = even ? 64 : 64 * random(3);
        s.wave.set_s64(4, even || random(2) ? ~0ull : rng_());
        s.wave.set_s64(machine::exec_lo, even || random(4) ? ~0ull : rng_());
    }

    std::vector<size_t> sums_;  // words that add a constant
    uint32_t lds_size_ = 0;
};

TEST_P(RowShapesTest, AsTheInterpreter) {
    for (int n = wanted_rounds(400); n; --n) {
        program();
        const uint64_t pc = code_ + (random(2) ? 0 : 4 * random(64));
        load(pc);
        context_.kernel = pc;
        for (int wave = 0; wave < 6; ++wave) {
            SCOPED_TRACE(wave);
            State first;
            start(first, random(2));
            compare(first, pc);
            if (HasFatalFailure()) return;
        }
    }
}

// A shape says all about a line but the row and where it begins.
TEST(RowShapes, StandForLines) {
    std::set<uint8_t> shapes;
    const auto check = [&](const ir::RowLine& line) {
        if (!line.shape()) return;
        EXPECT_TRUE(shapes.insert(line.shape()).second);
        const auto back = ir::RowLine::of_shape(7, line.shape());
        EXPECT_EQ(
            std::tuple(back.row, back.stride, back.width, back.step, back.any_step, back.constant),
            std::tuple(7u, line.stride, line.width, line.step, line.any_step, false));
    };
    for (uint32_t stride = 0; stride <= 1024; ++stride) {
        check({.row = 7, .stride = stride, .width = machine::lanes});
        for (uint32_t width = 1; width < machine::lanes; width *= 2) {
            check({.row = 7, .stride = stride, .width = width, .any_step = true});
            for (uint32_t step = 0; step <= 8192; ++step)
                if (step != stride * width)
                    check({.row = 7, .stride = stride, .width = width, .step = step});
        }
    }
    EXPECT_GT(shapes.size(), 200u);
}

WJ_JIT_TESTS(RowShapesTest);

}  // namespace
}  // namespace wj::jit_test
