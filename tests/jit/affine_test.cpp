// Lines (lift/affine.h): random code over rows that are lines, lifted with and without them. Where
// the guards hold, both must do the same, on the model and on the translators.
#include "frontend/target.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

constexpr uint32_t rows = 10, vcc = 106, literal = 255;

class AffineTest : public JitTest {
protected:
    uint32_t random(size_t n) { return static_cast<uint32_t>(rng_() % n); }
    uint32_t vgpr() { return random(rows); }
    // A line's row, an inline constant or a scalar register.
    uint32_t source() {
        return random(2) ? 256 + vgpr() : random(2) ? 128 + random(65) : random(8);
    }
    void vop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(op << 25 | dst << 17 | b << 9 | a);
    }
    void vop3(uint32_t op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c = 0) {
        words_.push_back(0xd0000000 | op << 16 | dst);
        words_.push_back(a | b << 9 | c << 18);
    }

    // One or two instructions; the first two rows are kept.
    void instruction() {
        const uint32_t dst = 2 + random(rows - 2), pair = dst & ~1u;
        auto inline_shift = [&] { return 128 + random(random(2) ? 5 : 33); };
        switch (random(12)) {
            case 0:
            case 1: {  // add, sub, and, or, xor, mul_u24
                static constexpr uint32_t ops[] = {0x34, 0x34, 0x34, 0x35, 0x13, 0x14, 0x15, 0x08};
                return vop2(ops[random(std::size(ops))], dst, source(), vgpr());
            }
            case 2: {  // lshrrev, ashrrev, lshlrev
                static constexpr uint32_t ops[] = {0x10, 0x11, 0x12};
                return vop2(ops[random(3)], dst, inline_shift(), vgpr());
            }
            case 3: {  // masks
                static constexpr uint32_t masks[] = {0x3ff,   0xff, 0xfffffff0,
                                                     0xffc00, 0xf0, 0x7fff};
                vop2(0x13, dst, literal, vgpr());
                return words_.push_back(masks[random(std::size(masks))]);
            }
            case 4:  // bfe_u32
                return vop3(0x1c8, dst, 256 + vgpr(), 128 + random(17), 129 + random(16));
            case 5:  // mul_u24 by factors that make strides of 24 bits, mul_lo_u32
                if (random(4) == 0) {
                    static constexpr uint32_t factors[] = {0xffffff, 0xfffffe, 0x7ffffd, 0x300001};
                    vop2(0x08, dst, literal, vgpr());
                    return words_.push_back(factors[random(std::size(factors))]);
                }
                return vop3(0x285, dst, 256 + vgpr(), source());
            case 6: {  // lshl_add, add_lshl, lshl_or; mad_u24
                static constexpr uint32_t ops[] = {0x1fd, 0x1fe, 0x200, 0x1c3};
                return vop3(ops[random(4)], dst, 256 + vgpr(), 128 + random(9), 256 + vgpr());
            }
            case 7:  // mad_u64_u32
                return vop3(0x1e8, pair | vcc << 8, 256 + vgpr(), source(), 256 + (vgpr() & ~1u));
            case 8: {  // lshlrev, lshrrev, ashrrev of pairs; often of a dword that is extended
                const uint32_t from = 2 + (random(rows - 2) & ~1u);
                if (random(2)) vop2(0x11, from + 1, 128 + 31, from);
                if (random(2)) words_.push_back(0x7e000280 | (from + 1) << 17);  // v_mov_b32 0
                static constexpr uint32_t ops[] = {0x28f, 0x28f, 0x290, 0x291};
                return vop3(ops[random(4)], pair, inline_shift(), 256 + from);
            }
            case 9:  // add_co, addc_co
            case 10: {
                const uint32_t from = vgpr() & ~1u;
                vop2(0x19, pair, random(2) ? source() : 256 + from, from);
                return vop2(0x1c, pair + 1, random(2) ? 128 : 256 + from + 1, from + 1);
            }
            default: {  // compares of all kinds, unsigned and signed
                const uint32_t op = (random(2) ? 0xc9 : 0xc1) + random(6);
                return words_.push_back(0x7c000000 | op << 17 | vgpr() << 9 | source());
            }
        }
    }

    ir::RowLine row_line(uint32_t row) {
        static constexpr uint32_t strides[] = {1, 1, 1, 4, 0, 8, 12, 68};
        static constexpr uint32_t steps[] = {0, 1, 4, 1024, 132, 33};
        ir::RowLine line{.row = row, .stride = strides[random(std::size(strides))]};
        line.width = 8u << random(4);
        if (line.width < machine::lanes) {
            line.any_step = random(2);
            line.step = steps[random(std::size(steps))];
        }
        return line;
    }

    ir::Block lift(bool lines) {
        lift::Options o;
        o.target = find_target("gfx90a");
        o.mode = 0x3c0;
        o.handler = &interp::handler;
        o.exec_full = true;
        o.least_width = GetParam() == x64::Isa::Avx512 ? 16 : 8;
        if (lines)
            o.row_lines = [&](uint32_t row) -> std::optional<ir::RowLine> {
                if (row >= 2) return {};
                return lines_[row];
            };
        const lift::Fetch fetch = [&](uint64_t pc) {
            return std::span<const uint32_t>(words_).subspan((pc - 0x1000) / 4);
        };
        return lift::lift_block(o, 0x1000, fetch, store_);
    }

    Rng rng_{41};
    std::vector<uint32_t> words_;
    ir::RowLine lines_[2];
    lift::InstStore store_;
};

TEST_P(AffineTest, AsWithoutLines) {
    const char* rounds = std::getenv("WJ_JIT_ROUNDS");
    const int programs = rounds ? std::atoi(rounds) : 2000;
    static constexpr uint32_t bases[] = {0,
                                         0,
                                         0,
                                         1,
                                         64,
                                         960,
                                         1024,
                                         0xffffff,
                                         0x7fffffc0,
                                         0xffffffc0,
                                         lds_bytes - 256,
                                         lds_bytes / 4 - 64};
    int guarded = 0, held = 0;
    for (int n = 0; n < programs; ++n) {
        words_.clear();
        store_.clear();
        for (ir::RowLine& line : lines_) line = row_line(static_cast<uint32_t>(&line - lines_));
        for (uint32_t k = 1 + random(12); k; --k) instruction();
        // What lines are good for; often at one address, read and written.
        const uint32_t address = vgpr();
        for (uint32_t k = 1 + random(4); k; --k) {
            static constexpr uint32_t offsets[] = {0, 0, 0, 4, 64, 1020};
            const uint32_t at = random(4) ? address : vgpr(),
                           offset = offsets[random(std::size(offsets))];
            if (random(2)) {
                words_.push_back(0xd86c0000 | offset);  // ds_read_b32
                words_.push_back((2 + random(rows - 2)) << 24 | at);
            } else {
                words_.push_back(0xd81a0000 | offset);  // ds_write_b32
                words_.push_back(vgpr() << 8 | at);
            }
        }
        words_.push_back(0xbf810000);  // s_endpgm
        const ir::Block plain = lift(false), block = lift(true);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        if (!block.guarded) continue;
        ++guarded;
        std::optional<Rig> rig;
        for (int k = 0; k < 4; ++k) {
            State start, model, want, run;
            randomise(start, rng_);
            start.wave.set_s64(machine::exec_lo, ~0ull);
            for (uint32_t r = 0; r < 8; ++r)
                if (random(3)) start.wave.sgpr[r] = random(random(2) ? 8 : 2048);
            for (const ir::RowLine& line : lines_) {
                const uint32_t base =
                                   bases[random(std::size(bases))] + (random(2) ? 0 : random(64)),
                               step = line.any_step ? random(3) ? random(64) : random(1 << 20)
                                                    : line.step;
                for (uint32_t l = 0; l < machine::lanes; ++l)
                    start.wave.row(line.row)[l] =
                        base + line.stride * (l % line.width) + step * (l / line.width);
            }
            model.copy_from(start);
            want.copy_from(start);
            run.copy_from(start);
            if (ir::evaluate(block, model.wave) == ir::guard_failed) continue;
            ++held;
            ir::evaluate(plain, want.wave);
            ASSERT_TRUE(same(model, want)) << ir::print(plain) << ir::print(block);
            if (n % 8) continue;
            if (!rig) {
                rig.emplace(GetParam());
                rig->source->blocks[0x1000] = block;
            }
            rig->engine->run(run.wave);
            ASSERT_TRUE(same(run, want))
                << ir::print(block) << x64::disassemble_block(block, GetParam());
        }
    }
    // A test that tests something.
    EXPECT_GT(guarded, programs / 10);
    EXPECT_GT(held, programs / 10);
}

WJ_JIT_TESTS(AffineTest);

}  // namespace
}  // namespace wj::jit_test
