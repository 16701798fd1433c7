// Arrays that overlap, or hardly: accesses at lines that the lifter takes to be done for some lanes
// after the others (ir::Block::lanes_apart), where the guards for the arrays' distances hold.
#include <algorithm>

#include "tests/jit/affine_harness.h"

namespace wj::jit_test {
namespace {

class LanesApartTest : public AffineTest {};

TEST_P(LanesApartTest, ArraysCloseToEachOther) {
    constexpr uint32_t arrays = 4, first_base = 10, pitch = 8, exec_lanes = 6, off_row = 6;
    constexpr uint64_t bytes = 1 << 16, middle = bytes / 2;
    std::vector<uint8_t> memory(bytes), before(bytes);
    const uint64_t origin = reinterpret_cast<uint64_t>(memory.data()) + middle;
    const int programs = wanted_rounds(600);
    int held = 0, apart = 0, apart_in_rows = 0, went_on = 0;
    for (int n = 0; n < programs; ++n) {
        next_program();
        any_exec_ = false;
        const uint32_t width = 16u << random(3);
        lines_[0] = {.row = 0, .stride = 1, .width = width};
        lines_[1] = {.row = 1, .stride = 0, .width = width, .step = width < machine::lanes};
        // v2 = v1 * pitch + v0; v3, v4, v5: it times 4, 8 and another size; v6 = 0.
        vop3(0x285, 2, 256 + 1, pitch);  // v_mul_lo_u32
        vop2(0x34, 2, 256 + 0, 2);       // v_add_u32
        const uint32_t other = random(3);
        for (const auto& [row, shift] : {std::pair{3u, 2u}, {4u, 3u}, {5u, other}})
            vop2(0x12, row, 128 + shift, 2);           // v_lshlrev_b32
        words_.push_back(0x7e000280 | off_row << 17);  // v_mov_b32 0
        if (random(3) == 0)
            words_.push_back(0x86800000 | 126 << 16 | exec_lanes << 8 | 126);  // s_and_b64 exec
        const bool one_size = random(2);
        for (uint32_t k = 2 + random(5); k; --k) {
            struct Kind {
                uint32_t load, store, size;
            };
            static constexpr Kind kinds[] = {{0xdc508000, 0xdc708000, 4},
                                             {0xdc548000, 0xdc748000, 8},
                                             {0xdc408000, 0xdc608000, 1},
                                             {0xdc488000, 0xdc688000, 2}};
            const Kind kind = kinds[one_size ? 0 : random(std::size(kinds))];
            const bool is_store = random(2), flat = random(8) == 0;
            const uint32_t smallest = std::max(kind.size, one_size ? 4u : 1u << random(4));
            const uint32_t row = flat                         ? off_row
                                 : smallest >= 8              ? 4
                                 : smallest == 4              ? 3
                                 : (1u << other) >= kind.size ? 5
                                                              : 3,
                           offset = random(3) ? 0 : kind.size * random(8),
                           data = 12 + 2 * random(4), base = first_base + 2 * random(arrays);
            words_.push_back((is_store ? kind.store : kind.load) | offset);
            words_.push_back(data << (is_store ? 8 : 24) | base << 16 | row);
            if (random(2))  // v_add_u32 of two of them
                vop2(0x34, 12 + random(8), 256 + 12 + random(8), 12 + random(8));
        }
        words_.push_back(0xbf810000);  // s_endpgm
        auto start_state = [&](State& start) {
            randomise(start, rng_);
            start.wave.set_s64(machine::exec_lo, machine::first_lanes(lanes_));
            static constexpr uint32_t more[] = {0, 0, 0, 1, 3, 16, 64};
            start.wave.sgpr[pitch] =
                random(10) ? width + more[random(std::size(more))] : random(width);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                start.wave.row(0)[l] = l % width;
                start.wave.row(1)[l] = l / width;
            }
            const uint32_t rows = machine::lanes / width;
            uint64_t last = 0;
            for (uint32_t a = 0; a < arrays; ++a) {
                // Away, where the last one is, near it, or one extent from it.
                const uint64_t extent = 4 * ((rows - 1) * uint64_t{start.wave.sgpr[pitch]} + width)
                                        << random(2);
                const int64_t near = static_cast<int64_t>(4 * random(65)) - 128;
                const uint32_t way = random(8);
                if (way < 3)
                    last = random(4) << 12;
                else if (way == 4)
                    last += static_cast<uint64_t>(near);
                else if (way > 4)
                    last += extent * (random(2) ? 1 : ~0ull) + (random(2) ? 0 : (near & 15) - 8);
                start.wave.set_s64(first_base + 2 * a, origin + last);
            }
        };
        State now;
        start_state(now);
        const ir::Block plain = lift(false), block = lift(true, random(4) ? &now.wave : nullptr);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        if (!block.guarded) continue;
        apart += block.lanes_apart;
        apart_in_rows += block.lanes_apart && width < machine::lanes;
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = block;
        for (int k = 0; k < 4; ++k) {
            State start;
            if (k)
                start_state(start);
            else
                start.copy_from(now);
            for (uint8_t& b : before) b = static_cast<uint8_t>(rng_());
            auto after = [&](State& state, auto run) {
                memory = before;
                state.copy_from(start);
                const bool ran = run(state);
                return std::pair(ran, memory);
            };
            State model, want, run;
            if (!after(model, [&](State& s) {
                     return ir::evaluate(block, s.wave) != ir::guard_failed;
                 }).first)
                continue;
            ++held;
            went_on += k && block.lanes_apart;
            const auto wanted =
                           after(want, [&](State&s) { return ir::evaluate(plain, s.wave), true; }),
                       done = after(run, [&](State&s) { return rig.engine->run(s.wave), true; });
            EXPECT_TRUE(same(run, want))
                << ir::print(block) << x64::disassemble_block(block, GetParam());
            EXPECT_TRUE(done.second == wanted.second)
                << ir::print(block) << x64::disassemble_block(block, GetParam());
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(held, 2 * programs);
    EXPECT_GT(apart, programs / 4);
    EXPECT_GT(apart_in_rows, programs / 10);
    EXPECT_GT(went_on, programs / 3);
}

WJ_JIT_TESTS(LanesApartTest);

}  // namespace
}  // namespace wj::jit_test
