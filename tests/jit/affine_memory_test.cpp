// Lines (lift/affine.h) as addresses of memory: rows of elements and columns.
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "tests/jit/affine_harness.h"
#include "tests/jit/guarded_page.h"

namespace wj::jit_test {
namespace {

class AffineMemoryTest : public AffineTest {};

// Dwords at distances that are known when the code is made, up and down, at the ends of a page.
TEST_P(AffineMemoryTest, RowsOfDwords) {
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
TEST_P(AffineMemoryTest, Columns) {
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

WJ_JIT_TESTS(AffineMemoryTest);

}  // namespace
}  // namespace wj::jit_test
