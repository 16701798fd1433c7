// Random code over rows that are lines (lift/affine.h), lifted with and without them.
#pragma once

#include <sys/mman.h>

#include <cstring>

#include "frontend/target.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {

class AffineTest : public JitTest {
protected:
    static constexpr uint32_t rows = 10, vcc = 106, literal = 255;

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

    // Of all kinds, unsigned and signed.
    void compare_lanes() {
        const uint32_t op = (random(2) ? 0xc9 : 0xc1) + random(6);
        words_.push_back(0x7c000000 | op << 17 | vgpr() << 9 | source());
    }

    // One or two instructions; the first two rows are kept.
    void instruction() {
        const uint32_t dst = 2 + random(rows - 2), pair = dst & ~1u;
        auto inline_shift = [&] { return 128 + random(random(2) ? 5 : 33); };
        switch (random(15)) {
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
                const bool narrowed = random(8) == 0;        // the carry of some lanes only
                if (narrowed) words_.push_back(0x86fe027e);  // s_and_b64 exec, exec, s[2:3]
                vop2(0x19, pair, random(2) ? source() : 256 + from, from);
                if (narrowed) words_.push_back(0xbefe01c1);  // s_mov_b64 exec, -1
                return vop2(0x1c, pair + 1, random(2) ? 128 : 256 + from + 1, from + 1);
            }
            case 11: {  // readfirstlane, with some lanes off now and then
                const bool some_lanes = random(4) == 0;
                if (some_lanes) words_.push_back(0x86fe027e);  // s_and_b64 exec, exec, s[2:3]
                words_.push_back(0x7e000400 | random(8) << 17 | 256 | vgpr());
                if (some_lanes) words_.push_back(0xbefe01c1);  // s_mov_b64 exec, -1
                return;
            }
            case 12: {  // minima and maxima, and their compares
                const bool is_unsigned = random(2), to_zero = random(2);
                const uint32_t x = random(2) ? 256 + random(2) : source();
                vop2(0x0c + 2 * is_unsigned + random(2), dst, x, random(2));
                if (random(4) == 0) return;
                const uint32_t relation = to_zero && random(2) ? 1 + 3 * random(2) : random(6),
                               op = ((is_unsigned ^ (random(8) == 0)) ? 0xc9 : 0xc1) + relation;
                return words_.push_back(0x7c000000 | op << 17 | dst << 9 |
                                        (to_zero ? 128 : source()));
            }
            case 13: {  // v_cndmask_b32 behind a compare: one of two rows for most waves
                compare_lanes();
                return vop2(0x00, dst, source(), vgpr());
            }
            default:
                return compare_lanes();
        }
    }

    ir::RowLine row_line(uint32_t row) {
        static constexpr uint32_t strides[] = {1, 1, 1, 4, 0, 8, 12, 68};
        static constexpr uint32_t steps[] = {0, 1, 4, 1024, 132, 33};
        ir::RowLine line{.row = row, .stride = strides[random(std::size(strides))]};
        line.width = 2u << random(6);
        if (line.width < machine::lanes) {
            line.any_step = random(2);
            line.step = steps[random(std::size(steps))];
        }
        return line;
    }

    void next_program() {
        words_.clear();
        store_.clear();
        any_exec_ = random(2);
        lanes_ = any_exec_ || random(3) ? machine::lanes : 16 * (1 + random(3));
    }

    // now: a wave that the guards shall hold for.
    ir::Block lift(bool lines, const machine::Wave* now = nullptr) {
        lift::Options o;
        o.target = find_target("gfx90a");
        o.mode = 0x3c0;
        o.handler = &interp::handler;
        // For some lanes, as for any.
        o.exec_full = !any_exec_ && (lines || lanes_ == machine::lanes);
        o.lanes = lanes_;
        o.vector_lanes = GetParam() == x64::Isa::Avx512 ? 16 : 8;
        o.now = now;
        o.read_memory = [](uint64_t, uint32_t) { return std::nullopt; };
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

    // Registers and memory, with rows that are the lines.
    void fill(State& start) {
        static constexpr uint32_t bases[] = {0,
                                             0,
                                             0,
                                             1,
                                             63,
                                             64,
                                             960,
                                             1024,
                                             0xffffff,
                                             0x7fffffc0,
                                             0xffffffc0,
                                             lds_bytes - 256,
                                             lds_bytes / 4 - 64};
        randomise(start, rng_);
        if (!any_exec_ || random(4) == 0)
            start.wave.set_s64(machine::exec_lo, machine::first_lanes(lanes_));
        for (uint32_t r = 0; r < 8; ++r)
            if (random(3)) start.wave.sgpr[r] = random(random(2) ? 8 : 2048);
        for (const ir::RowLine& line : lines_) {
            const uint32_t base = bases[random(std::size(bases))] + (random(2) ? 0 : random(64)),
                           step =
                               line.any_step ? random(3) ? random(64) : random(1 << 20) : line.step;
            for (uint32_t l = 0; l < machine::lanes; ++l)
                start.wave.row(line.row)[l] =
                    l < lanes_ ? base + line.stride * (l % line.width) + step * (l / line.width)
                               : static_cast<uint32_t>(rng_());
        }
    }

    // Whether the guards hold; then the model does the same with lines and without. With a rig: the
    // translator, too.
    bool compare(const State& start, const ir::Block& plain, const ir::Block& block,
                 std::optional<Rig>* rig) {
        State model, want, run;
        model.copy_from(start);
        want.copy_from(start);
        run.copy_from(start);
        if (ir::evaluate(block, model.wave) == ir::guard_failed) return false;
        ir::evaluate(plain, want.wave);
        EXPECT_TRUE(same(model, want)) << ir::print(plain) << ir::print(block);
        if (!rig) return true;
        if (!*rig) {
            rig->emplace(GetParam());
            (*rig)->source->blocks[0x1000] = block;
        }
        // Behind the LDS: nothing that may be touched, not even read.
        std::memcpy(lds_.begin, run.lds.data(), lds_bytes);
        run.wave.lds = lds_.begin;
        run.context.whole_lanes = lanes_;
        (*rig)->engine->run(run.wave);
        run.wave.lds = run.lds.data();
        std::memcpy(run.lds.data(), lds_.begin, lds_bytes);
        EXPECT_TRUE(same(run, want))
            << ir::print(block) << x64::disassemble_block(block, GetParam());
        return true;
    }
    // Four waves of a guarded block, every second one of them at an end: how many it was for.
    template <class StartState>
    int compare_waves(const ir::Block& plain, const ir::Block& block, StartState start_state) {
        std::optional<Rig> rig;
        int held = 0;
        for (int k = 0; k < 4 && block.guarded && !HasFailure(); ++k) {
            State start;
            start_state(start, k % 2);
            held += compare(start, plain, block, &rig);
        }
        return held;
    }

    struct GuardedLds {
        GuardedLds() {
            void* const at = mmap(nullptr, 2 * lds_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            begin = static_cast<uint8_t*>(at);
            EXPECT_NE(at, MAP_FAILED);
            EXPECT_EQ(mprotect(begin + lds_bytes, lds_bytes, PROT_NONE), 0);
        }
        ~GuardedLds() { munmap(begin, 2 * lds_bytes); }
        GuardedLds(const GuardedLds&) = delete;
        GuardedLds& operator=(const GuardedLds&) = delete;
        uint8_t* begin;
    };
    GuardedLds lds_;
    Rng rng_{41};
    std::vector<uint32_t> words_;
    ir::RowLine lines_[2];
    bool any_exec_ = false;            // EXEC may be anything at the block's beginning
    uint32_t lanes_ = machine::lanes;  // or has these lanes then
    lift::InstStore store_;
};

}  // namespace wj::jit_test
