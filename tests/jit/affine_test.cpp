// Lines (lift/affine.h): random code over rows that are lines, lifted with and without them. Where
// the guards hold, both must do the same, on the model and on the translators.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "frontend/target.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "tests/jit/guarded_page.h"

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
        switch (random(14)) {
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
    }

    // now: a wave that the guards shall hold for.
    ir::Block lift(bool lines, const machine::Wave* now = nullptr) {
        lift::Options o;
        o.target = find_target("gfx90a");
        o.mode = 0x3c0;
        o.handler = &interp::handler;
        o.exec_full = !any_exec_;
        o.least_width = GetParam() == x64::Isa::Avx512 ? 16 : 8;
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
        if (!any_exec_ || random(4) == 0) start.wave.set_s64(machine::exec_lo, ~0ull);
        for (uint32_t r = 0; r < 8; ++r)
            if (random(3)) start.wave.sgpr[r] = random(random(2) ? 8 : 2048);
        for (const ir::RowLine& line : lines_) {
            const uint32_t base = bases[random(std::size(bases))] + (random(2) ? 0 : random(64)),
                           step =
                               line.any_step ? random(3) ? random(64) : random(1 << 20) : line.step;
            for (uint32_t l = 0; l < machine::lanes; ++l)
                start.wave.row(line.row)[l] =
                    base + line.stride * (l % line.width) + step * (l / line.width);
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
        (*rig)->engine->run(run.wave);
        run.wave.lds = run.lds.data();
        std::memcpy(run.lds.data(), lds_.begin, lds_bytes);
        EXPECT_TRUE(same(run, want))
            << ir::print(block) << x64::disassemble_block(block, GetParam());
        return true;
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
    bool any_exec_ = false;  // EXEC may be anything at the block's beginning
    lift::InstStore store_;
};

TEST_P(AffineTest, AsWithoutLines) {
    const int programs = wanted_rounds(2000);
    int guarded = 0, held = 0;
    for (int n = 0; n < programs; ++n) {
        next_program();
        for (ir::RowLine& line : lines_) line = row_line(static_cast<uint32_t>(&line - lines_));
        for (uint32_t k = 1 + random(12); k; --k) instruction();
        // What lines are good for; often at one address, read and written.
        const uint32_t address = vgpr();
        for (uint32_t k = 1 + random(4); k; --k) {
            static constexpr uint32_t offsets[] = {0, 0, 0, 4, 64, 1020};
            const uint32_t at = random(4) ? address : vgpr(),
                           offset = offsets[random(std::size(offsets))];
            // ds_read_b32 and _i8 to _u16, ds_write_b32, _b8, _b16
            static constexpr uint32_t reads[] = {54, 54, 54, 54, 57, 58, 59, 60},
                                      writes[] = {13, 13, 30, 31, 84, 85};
            if (random(2)) {
                words_.push_back(0xd8000000 | reads[random(std::size(reads))] << 17 | offset);
                words_.push_back((2 + random(rows - 2)) << 24 | at);
            } else {
                words_.push_back(0xd8000000 | writes[random(std::size(writes))] << 17 | offset);
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
            State start;
            fill(start);
            held += compare(start, plain, block, n % 8 ? nullptr : &rig);
            if (HasFailure()) return;
        }
    }
    // A test that tests something.
    EXPECT_GT(guarded, programs / 10);
    EXPECT_GT(held, programs / 10);
}

// The LDS in exchanges between lanes, as sorts and Fourier transforms have them: the lanes of a
// host's vector lie in a pattern, next to one another.
TEST_P(AffineTest, Windows) {
    const int programs = wanted_rounds(600);
    constexpr uint32_t exec = 126, place = 2, mask_sgpr = 3, lanes_sgpr = 4;
    int held = 0, windows = 0;
    for (int n = 0; n < programs; ++n) {
        next_program();
        lines_[0] = {.row = 0, .stride = 1};
        lines_[1] = {.row = 1, .stride = 4u << random(2), .width = 2u << random(5)};
        lines_[1].step = lines_[1].stride * (lines_[1].width << random(3));
        const bool both_rows = random(8) == 0;
        if (both_rows) lines_[1] = {.row = 1, .stride = 1};
        uint32_t gap = 0;  // where the elements that others are exchanged with are
        switch (both_rows ? 3 : random(3)) {
            case 0:  // the row as it is
                vop2(0x12, place, 128, 1);
                break;
            default:  // (factor * id - (id & mask)) * 4, the mask a constant or in a register
                vop2(0x12, 4, 128 + 1 + random(2), 0);
                gap = random(2) ? 0 : 2u << random(5);
                vop2(0x13, 3, gap ? 128 + gap - 1 : mask_sgpr, 0);
                vop2(0x35, place, 256 + 4, 3);
                vop2(0x12, place, 128 + 2, place);
                break;
            case 3:  // of two rows, neither of which is uniform
                vop2(0x13, 3, 256 + 0, 1);
                vop2(0x12, place, 128 + 2, 3);
                break;
        }
        if (random(2)) {  // s_and_b64 exec, exec, s[4:5]
            words_.push_back(0x86800000 | exec << 16 | lanes_sgpr << 8 | exec);
        }
        const bool exchange = gap && random(2);
        if (exchange) {
            for (const uint32_t op : {0xd86c0000, 0xd81a0000})  // ds_read_b32, ds_write_b32
                for (const uint32_t offset : {0u, 4 * gap}) {
                    words_.push_back(op | offset);
                    words_.push_back((4 + random(6)) << (op == 0xd86c0000 ? 24 : 8) | place);
                }
        }
        for (uint32_t k = exchange ? 0 : 1 + random(5); k; --k) {
            const bool pairs = random(3) == 0;
            const uint32_t offset = random(3)   ? 4u << random(6)
                                    : random(2) ? 0
                                                : 4 * random(40),
                           data = 4 + 2 * random(3);
            if (random(2)) {
                words_.push_back((pairs ? 0xd8ec0000 : 0xd86c0000) | offset);  // ds_read
                words_.push_back(data << 24 | place);
            } else {
                words_.push_back((pairs ? 0xd89a0000 : 0xd81a0000) | offset);  // ds_write
                words_.push_back(data << 8 | place);
            }
        }
        words_.push_back(0xbf810000);  // s_endpgm
        auto start_state = [&](State& start, bool at_end) {
            fill(start);
            const uint32_t bit = 1u << random(12);
            start.wave.sgpr[mask_sgpr] = random(3) ? bit - 1 : random(2) ? bit : random(256);
            if (random(2)) start.wave.set_s64(lanes_sgpr, rng_());
            const uint32_t first = 64 * random(random(4) ? 4 : 64);
            uint32_t* const row = start.wave.row(1);
            const uint32_t up_to_end = lds_bytes - 4 * random(24) - row[machine::lanes - 1];
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                start.wave.row(0)[l] = first + l;
                if (at_end) row[l] += up_to_end;
                if (both_rows) row[l] = (at_end ? 63 : 0) + l;
            }
        };
        State now;
        start_state(now, false);
        const ir::Block plain = lift(false), block = lift(true, random(2) ? &now.wave : nullptr);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        for (const ir::Inst& i : block.insts) windows += i.op == ir::Op::Line32 && i.aux < 8;
        std::optional<Rig> rig;
        for (int k = 0; k < 4 && block.guarded; ++k) {
            State start;
            start_state(start, k % 2);
            held += compare(start, plain, block, &rig);
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(held, programs);
    EXPECT_GT(windows, programs / 5);
}

// Dwords at distances that are known when the code is made, up and down, at the ends of a page.
TEST_P(AffineTest, RowsOfDwords) {
    const PageBetweenHoles memory(rng_);
    ASSERT_TRUE(memory.begin);
    constexpr uint32_t page = PageBetweenHoles::bytes, count = 4, base = 6, off = 0x7f;
    const int programs = wanted_rounds(400);
    int held = 0, up = 0, down = 0;
    for (int n = 0; n < programs; ++n) {
        next_program();
        lines_[0] = {.row = 0, .stride = 1};
        lines_[1] = {.row = 1, .stride = 0};
        const uint32_t dwords = 1 + random(6), place = 2;
        const bool falls = random(2), saddr = random(2), inverted = falls && random(2);
        vop2(0x08, place, 128 + dwords, 0);  // v_mul_u32_u24
        if (inverted) {                      // ~v2 + s4
            words_.push_back(0x7e005700 | place << 17 | place);
            vop2(0x34, place, count, place);
        } else if (falls) {
            vop2(0x35, place, count, place);  // s4 - v2
        }
        if (saddr) {
            vop2(0x12, place, 128 + 2, place);
        } else {
            words_.push_back(0x7e000280 | (place + 1) << 17);  // v_mov_b32 v3, 0
            vop3(0x28f, place, 128 + 2, 256 + place);          // v_lshlrev_b64
            words_.push_back(0x7e000200 | 9 << 17 | (base + 1));
            vop2(0x19, place, base, place);
            vop2(0x1c, place + 1, 256 + 9, place + 1);
        }
        const uint32_t offset = 4 * random(dwords);
        for (uint32_t k = 1 + random(3); k; --k) {
            const bool store = random(2);
            const uint32_t data = 4 + random(5);
            words_.push_back((store ? 0xdc708000 : 0xdc508000) | offset);
            words_.push_back(data << (store ? 8 : 24) | (saddr ? base : off) << 16 | place);
        }
        words_.push_back(0xbf810000);  // s_endpgm
        auto start_state = [&](State& start) {
            fill(start);
            const uint32_t id = 64 * random(4), span = 4 * dwords * 63 + 4;
            const uint32_t most = dwords * (id + 63) + (random(4) ? random(64) : 0);
            start.wave.sgpr[count] = most + inverted;
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                start.wave.row(0)[l] = id + l;
                start.wave.row(1)[l] = 0;
            }
            // The least element of the wave at the page's begin, or the last one at its end.
            const uint32_t least = 4 * (falls ? most - dwords * (id + 63) : dwords * id) + offset;
            const uint32_t at =
                random(3) ? random(2) ? 0 : page - span : 4 * random((page - span) / 4);
            start.wave.set_s64(base, reinterpret_cast<uint64_t>(memory.begin) + at - least);
        };
        State now;
        start_state(now);
        const ir::Block plain = lift(false), block = lift(true, &now.wave);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        for (const ir::Inst& i : block.insts)
            if (i.op == ir::Op::Line32) ++(static_cast<int64_t>(i.imm) < 0 ? down : up);
        // Where the last lane's index wraps around, the guards do not hold. The model looks at them
        // last, so nothing is stored.
        bool by_lines = falls && block.guarded;
        ir::Block without_stores = block;
        for (ir::Inst& i : without_stores.insts) {
            const ir::Class cls = ir::op_info(i.op).cls;
            if (cls == ir::Class::LaneLoad) by_lines = false;
            if (cls != ir::Class::LaneStore) continue;
            by_lines &= block.insts[ir::address_of(i)].op == ir::Op::Line32;
            i = {.op = ir::Op::Const32};
        }
        if (by_lines) {
            State wraps;
            start_state(wraps);
            wraps.wave.sgpr[count] = dwords * wraps.wave.row(0)[63] - 1 + inverted;
            ASSERT_EQ(ir::evaluate(without_stores, wraps.wave), ir::guard_failed)
                << ir::print(block);
        }
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = block;
        for (int k = 0; k < 3 && block.guarded; ++k) {
            State start;
            start_state(start);
            const std::vector<uint8_t> before(memory.begin, memory.begin + page);
            auto after = [&](State& state, auto run) {
                std::ranges::copy(before, memory.begin);
                state.copy_from(start);
                const bool ran = run(state);
                return std::pair(ran, std::vector<uint8_t>(memory.begin, memory.begin + page));
            };
            State want, run;
            State model;
            if (!after(model, [&](State& s) {
                     return ir::evaluate(block, s.wave) != ir::guard_failed;
                 }).first)
                continue;
            ++held;
            const auto wanted =
                           after(want, [&](State&s) { return ir::evaluate(plain, s.wave), true; }),
                       done = after(run, [&](State&s) {
                           return rig.engine->run(s.wave) == machine::ExitKind::EndProgram;
                       });
            EXPECT_TRUE(done.first);
            EXPECT_TRUE(same(model, want)) << ir::print(plain) << ir::print(block);
            EXPECT_TRUE(same(run, want))
                << ir::print(block) << x64::disassemble_block(block, GetParam());
            EXPECT_EQ(done.second, wanted.second)
                << ir::print(block) << x64::disassemble_block(block, GetParam());
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(held, programs);
    EXPECT_GT(up, programs / 8);
    EXPECT_GT(down, programs / 8);
}

// Elements a uniform step apart, as in columns of matrices: loads and stores of one lane or all.
TEST_P(AffineTest, Columns) {
    constexpr uint64_t area_bytes = uint64_t{1} << 34, middle = area_bytes / 4;
    void* const area = mmap(nullptr, area_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(area, MAP_FAILED);
    const uint64_t origin = reinterpret_cast<uint64_t>(area) + middle;
    constexpr uint32_t exec = 126, factor = 2, base = 4, lanes_sgpr = 6, off = 0x7f, place = 2;
    const int programs = wanted_rounds(600);
    int held = 0, columns = 0;
    for (int n = 0; n < programs; ++n) {
        next_program();
        lines_[0] = {.row = 0, .stride = 1};
        lines_[1] = {.row = 1, .stride = 0};
        // Rows of four dwords, 16 bytes from lane to lane, read dword by dword.
        const bool tile = random(5) == 0;
        const bool scalar_base = random(2), wide = random(2);
        auto v_mov = [&](uint32_t to, uint32_t from) {
            words_.push_back(0x7e000200 | to << 17 | from);
        };
        // (id * factor + row) << shift
        const uint32_t shift = tile ? 4 : random(2) ? 2 : 2 + random(6);
        const bool fixed = tile || random(4) == 0;
        if (fixed) {
            vop2(0x34, place, 256 + 1, 0);
            v_mov(place + 1, 128);
        } else if (wide) {  // v_mad_u64_u32
            v_mov(10, 256 + 1);
            v_mov(11, 128);
            vop3(0x1e8, place | vcc << 8, 256 + 0, factor, 256 + 10);
            if (random(2)) v_mov(place + 1, 128);
        } else {
            vop3(0x285, place, 256 + 0, factor);  // v_mul_lo_u32
            vop2(0x34, place, 256 + 1, place);
            v_mov(place + 1, 128);
        }
        if (scalar_base) {
            vop2(0x12, place, 128 + shift, place);
        } else {
            vop3(0x28f, place, 128 + shift, 256 + place);  // v_lshlrev_b64
            v_mov(7, base + 1);
            vop2(0x19, place, base, place);
            vop2(0x1c, place + 1, 256 + 7, place + 1);
        }
        const bool some_lanes = random(3) == 0;
        if (some_lanes) words_.push_back(0x86800000 | exec << 16 | lanes_sgpr << 8 | exec);
        uint32_t order[] = {0, 4, 8, 12};
        std::shuffle(std::begin(order), std::end(order), rng_);
        for (uint32_t k = 0; tile && k < 4 + random(2); ++k) {
            const bool store = random(12) == 0;
            words_.push_back((store ? 0xdc708000 : 0xdc508000) | (order[k % 4] + 4));
            words_.push_back(store ? 20u << 8 | (scalar_base ? base : off) << 16 | place
                                   : (12 + k) << 24 | (scalar_base ? base : off) << 16 | place);
        }
        for (uint32_t k = tile ? 0 : 1 + random(3); k; --k) {
            static constexpr uint32_t loads[] = {0xdc508000, 0xdc508000, 0xdc548000, 0xdc5c8000,
                                                 0xdc408000},
                                      stores[] = {0xdc708000, 0xdc708000, 0xdc748000, 0xdc7c8000,
                                                  0xdc608000};
            const bool load = random(2);
            const uint32_t kind = random(5), offset = 4 * random(8);
            words_.push_back((load ? loads : stores)[kind] | offset);
            words_.push_back((load ? 12 + 4 * random(2) : 20 + 4 * random(2)) << (load ? 24 : 8) |
                             (scalar_base ? base : off) << 16 | place);
        }
        words_.push_back(0xbf810000);  // s_endpgm
        uint64_t first = 0, step = 0;
        auto start_state = [&](State& start) {
            fill(start);
            static constexpr uint32_t factors[] = {17,   33,   64,     1000,   1024,
                                                   4096, 4099, 100003, 1 << 20};
            start.wave.sgpr[factor] =
                random(8) ? factors[random(std::size(factors))] : random(1 << 20);
            start.wave.set_s64(base, origin);
            if (random(2)) start.wave.set_s64(lanes_sgpr, rng_());
            const uint32_t id = 64 * random(4), row = random(100);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                start.wave.row(0)[l] = id + l;
                start.wave.row(1)[l] = row;
            }
            step = fixed ? uint64_t{1} << shift : uint64_t{start.wave.sgpr[factor]} << shift;
            first = origin + id * step + (row << shift);
        };
        State now;
        start_state(now);
        const ir::Block plain = lift(false), block = lift(true, &now.wave);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        for (const ir::Inst& i : block.insts) columns += i.op == ir::Op::Line32 && i.aux == 1;
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = block;
        for (int k = 0; k < 3 && block.guarded; ++k) {
            State start;
            start_state(start);
            if ((first - origin) + 64 * step + 64 > area_bytes - middle) continue;
            // What the elements' surroundings are before and after.
            constexpr uint32_t around = 20;
            using Elements = std::array<std::array<uint32_t, around>, machine::lanes>;
            auto each = [&](auto f) {
                for (uint32_t l = 0; l < machine::lanes; ++l)
                    for (uint32_t d = 0; d < around; ++d)
                        f(l, d, reinterpret_cast<uint32_t*>(first + l * step) + d);
            };
            Elements before;
            for (auto& e : before)
                for (uint32_t& x : e) x = static_cast<uint32_t>(rng_());
            auto after = [&](State& state, auto run) {
                each([&](uint32_t l, uint32_t d, uint32_t* at) { *at = before[l][d]; });
                state.copy_from(start);
                const bool ran = run(state);
                Elements e;
                each([&](uint32_t l, uint32_t d, uint32_t* at) { e[l][d] = *at; });
                return std::pair(ran, e);
            };
            State model, want, run;
            const auto by_model = after(
                model, [&](State& s) { return ir::evaluate(block, s.wave) != ir::guard_failed; });
            if (!by_model.first) continue;
            ++held;
            const auto wanted =
                           after(want, [&](State&s) { return ir::evaluate(plain, s.wave), true; }),
                       done = after(run, [&](State&s) { return rig.engine->run(s.wave), true; });
            EXPECT_TRUE(same(model, want)) << ir::print(plain) << ir::print(block);
            EXPECT_TRUE(same(run, want))
                << ir::print(block) << x64::disassemble_block(block, GetParam());
            EXPECT_EQ(by_model.second, wanted.second) << ir::print(block);
            EXPECT_EQ(done.second, wanted.second)
                << ir::print(block) << x64::disassemble_block(block, GetParam());
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(held, programs / 4);
    EXPECT_GT(columns, programs / 4);
    munmap(area, area_bytes);
}

WJ_JIT_TESTS(AffineTest);

}  // namespace
}  // namespace wj::jit_test
