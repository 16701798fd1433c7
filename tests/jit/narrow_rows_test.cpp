// Arrays of two dimensions, as work-groups narrower than the host's vectors access them: rows of
// elements a uniform step apart (backend_x64/asm/narrow_rows.cpp), as lines and found at run time.
#include <sys/mman.h>

#include <algorithm>

#include "tests/jit/affine_harness.h"

namespace wj::jit_test {
namespace {

class NarrowRowsTest : public AffineTest {
protected:
    struct Element {
        uint32_t load, store, bytes;  // the instruction's first dword; 0: there is none
    };
    static constexpr Element elements[] = {
        {0xdc508000, 0xdc708000, 4},  {0xdc508000, 0xdc708000, 4},  {0xdc548000, 0xdc748000, 8},
        {0xdc588000, 0xdc788000, 12}, {0xdc5c8000, 0xdc7c8000, 16}, {0xdc408000, 0xdc608000, 1},
        {0xdc448000, 0xdc648000, 1},  {0xdc488000, 0xdc688000, 2},  {0xdc4c8000, 0xdc6c8000, 2}};

    // Its neighbours may not be touched.
    struct Area {
        static constexpr uint64_t bytes = 1 << 18, hole = 1 << 16;
        Area() {
            void* const map =
                mmap(nullptr, bytes + 2 * hole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (map == MAP_FAILED) return;
            begin = static_cast<uint8_t*>(map) + hole;
            mprotect(begin, bytes, PROT_READ | PROT_WRITE);
        }
        ~Area() {
            if (begin) munmap(begin - hole, bytes + 2 * hole);
        }
        Area(const Area&) = delete;
        Area& operator=(const Area&) = delete;
        uint8_t* begin = nullptr;
    };

    static constexpr uint32_t exec = 126, pitch = 2, base = 4, lanes_sgpr = 6, off = 0x7f,
                              place = 2;

    // v[place] = the lanes' offsets in bytes. whole: row 0 is the index, else it is x and row 1 y.
    void index(uint32_t bytes, bool equal, bool whole) {
        if (whole) {
            words_.push_back(0x7e000300 | place << 17);  // v_mov_b32
        } else {
            vop3(0x285, place, 256 + 1, pitch);  // v_mul_lo_u32
            if (!equal) vop2(0x34, place, 256 + 0, place);
        }
        if (bytes == 12)
            vop2(0x08, place, 128 + 12, place);  // v_mul_u32_u24
        else
            vop2(0x12, place, 128 + static_cast<uint32_t>(std::countr_zero(bytes)), place);
    }
};

TEST_P(NarrowRowsTest, LoadsAndStores) {
    const Area area;
    ASSERT_TRUE(area.begin);
    std::vector<uint8_t> before(Area::bytes);
    for (uint8_t& x : before) x = static_cast<uint8_t>(rng_());
    const int programs = wanted_rounds(600);
    int held = 0, narrow = 0;
    for (int n = 0; n < programs; ++n) {
        next_program();
        const uint32_t width = 4u << random(3);
        const bool whole = random(3) == 0, scalar_base = random(2), some_lanes = random(3) == 0;
        const Element& element = elements[random(std::size(elements))];
        // Tuples may overlap, a dword apart.
        const uint32_t apart = element.bytes > 4 && random(2) ? 4 : element.bytes;
        const bool equal = !whole && random(4) == 0;
        lines_[0] = {.row = 0, .stride = 1, .width = width, .any_step = whole};
        lines_[1] = {.row = 1, .stride = 0, .width = width, .step = 1};
        index(apart, equal, whole);
        if (!scalar_base) {
            words_.push_back(0x7e000200 | (place + 1) << 17 | (base + 1));  // v_mov_b32
            vop2(0x19, place, base, place);
            words_.push_back(0x7e000280 | 10u << 17);
            vop2(0x1c, place + 1, 256 + 10, place + 1);
        }
        if (some_lanes) words_.push_back(0x86800000 | exec << 16 | lanes_sgpr << 8 | exec);
        uint32_t last = 0;
        for (uint32_t k = 1 + random(2); k; --k) {
            const bool load = random(2);
            const uint32_t offset = 4 * random(4);
            last = std::max(last, offset + element.bytes);
            words_.push_back((load ? element.load : element.store) | offset);
            words_.push_back((load ? 12 + 4 * random(2) : 20 + 4 * random(2)) << (load ? 24 : 8) |
                             (scalar_base ? base : off) << 16 | place);
        }
        words_.push_back(0xbf810000);  // s_endpgm
        auto start_state = [&](State& start) {
            fill(start);
            static constexpr uint32_t pitches[] = {0, 1, 8, 17, 64, 100, 256, 1000, 1024};
            const uint32_t items = pitches[random(std::size(pitches))], y = random(3);
            start.wave.sgpr[pitch] = items;
            start.wave.sgpr[pitch + 1] = 0;
            if (any_exec_ && random(3)) start.wave.set_s64(machine::exec_lo, ~0ull);
            if (random(2)) start.wave.set_s64(lanes_sgpr, rng_());
            uint64_t most = 0;
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                const uint32_t in_row = l % width, row = l / width;
                start.wave.row(0)[l] = whole ? (y + row) * items + in_row : in_row;
                start.wave.row(1)[l] = y + row;
                most = std::max<uint64_t>(most, (y + row) * items + (equal ? 0 : in_row));
            }
            // The wave's elements at the area's end, at its beginning or somewhere.
            const uint64_t least = uint64_t{y} * items * apart, span = most * apart + last - least;
            const uint64_t room = Area::bytes - span;
            const uint64_t at = random(3) ? random(2) ? room : 0 : random(room);
            start.wave.set_s64(base, reinterpret_cast<uint64_t>(area.begin) + at - least);
        };
        State now;
        start_state(now);
        const ir::Block plain = lift(false), block = lift(true, &now.wave);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        for (const ir::Inst& i : block.insts)
            narrow += i.op == ir::Op::Line32 && i.aux > 1 && i.aux < machine::lanes;
        // With lines, and without them in a launch whose lanes are known to lie so.
        Rig lines(GetParam()), found(GetParam(), {}, true);
        lines.source->blocks[0x1000] = block;
        found.source->blocks[0x1000] = plain;
        for (int k = 0; k < 3; ++k) {
            State start;
            start_state(start);
            std::vector<uint8_t> bytes;
            auto after = [&](State& state, auto run) {
                std::ranges::copy(before, area.begin);
                state.copy_from(start);
                const bool ran = run(state);
                bytes.assign(area.begin, area.begin + Area::bytes);
                return ran;
            };
            State model, want, run, by_pattern;
            after(want, [&](State& s) { return ir::evaluate(plain, s.wave), true; });
            const std::vector<uint8_t> wanted = bytes;
            by_pattern.context.lane_layout =
                machine::first_row_layout + static_cast<uint32_t>(std::countr_zero(width));
            ASSERT_TRUE(after(by_pattern, [&](State& s) {
                return found.engine->run(s.wave) == machine::ExitKind::EndProgram;
            })) << x64::disassemble_block(plain, GetParam());
            ASSERT_TRUE(same(by_pattern, want)) << ir::print(plain);
            ASSERT_TRUE(bytes == wanted) << ir::print(plain);
            if (!block.guarded || !after(model, [&](State& s) {
                    return ir::evaluate(block, s.wave) != ir::guard_failed;
                }))
                continue;
            ++held;
            ASSERT_TRUE(same(model, want)) << ir::print(plain) << ir::print(block);
            ASSERT_TRUE(bytes == wanted) << ir::print(block);
            ASSERT_TRUE(after(run, [&](State& s) {
                return lines.engine->run(s.wave) == machine::ExitKind::EndProgram;
            }));
            ASSERT_TRUE(same(run, want))
                << ir::print(block) << x64::disassemble_block(block, GetParam());
            ASSERT_TRUE(bytes == wanted)
                << ir::print(block) << x64::disassemble_block(block, GetParam());
        }
    }
    EXPECT_GT(held, programs / 2);
    EXPECT_GT(narrow, programs / 2);
}

WJ_JIT_TESTS(NarrowRowsTest);

}  // namespace
}  // namespace wj::jit_test
