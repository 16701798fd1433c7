// Lines (lift/affine.h): random code over rows that are lines, lifted with and without them. Where
// the guards hold, both must do the same, on the model and on the translators.
#include <algorithm>
#include <bit>

#include "tests/jit/affine_harness.h"
#include "tests/jit/remainder_words.h"

namespace wj::jit_test {
namespace {

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
        State now;
        fill(now);
        const bool known = random(2);
        const ir::Block plain = lift(false), block = lift(true, known ? &now.wave : nullptr);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        if (!block.guarded) continue;
        ++guarded;
        std::optional<Rig> rig;
        for (int k = 0; k < 4; ++k) {
            State start;
            if (known && !k)
                start.copy_from(now);
            else
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
        held += compare_waves(plain, block, start_state);
        if (HasFailure()) return;
    }
    EXPECT_GT(held, programs);
    EXPECT_GT(windows, programs / 5);
}

// The LDS from a half of a loaded quadword on, which lanes may leave at its end, and the other half
// as an operand of theirs.
TEST_P(AffineTest, LoadedHalves) {
    const int programs = wanted_rounds(200);
    constexpr uint32_t pointer = 8, halves = 12, place = 2;
    alignas(8) uint32_t memory[4];
    int held = 0, beyond = 0;
    for (int n = 0; n < programs; ++n) {
        next_program();
        any_exec_ = false;
        lanes_ = machine::lanes;
        lines_[0] = {.row = 0, .stride = 1};
        lines_[1] = {.row = 1, .stride = 0};
        const bool upper = random(2);
        // v_mbcnt_lo_u32_b32, v_mbcnt_hi_u32_b32: the lane's number
        vop3(0x28c, place, 193, 128);
        vop3(0x28d, place, 193, 256 + place);
        vop2(0x12, place, 128 + 2, place);
        words_.insert(words_.end(), {0xc0060000 | halves << 6 | pointer / 2, 8});  // s_load_dwordx2
        words_.push_back(0xbf8cc07f);                                              // s_waitcnt
        vop2(0x34, place, halves + upper, place);
        if (random(2))  // s_and_b64 exec, exec, s[4:5]
            words_.push_back(0x86800000 | 126 << 16 | 4 << 8 | 126);
        for (uint32_t k = 1 + random(3); k; --k) {
            const bool store = random(2);
            words_.push_back((store ? 0xd81a0000 : 0xd86c0000) | 4 * random(4));
            words_.push_back((4 + random(3)) << (store ? 8 : 24) | place);
            vop2(0x34, 4 + random(3), halves + random(2), 4 + random(3));
        }
        words_.push_back(0xbf810000);  // s_endpgm
        auto start_state = [&](State& start, bool at_end) {
            fill(start);
            start.wave.set_s64(pointer, reinterpret_cast<uint64_t>(memory));
            memory[2 + upper] = at_end ? lds_bytes - 4 * random(70) : 4 * random(900);
            memory[3 - upper] = random(1000);
            beyond += memory[2 + upper] + 4 * machine::lanes > lds_bytes;
        };
        State now;
        start_state(now, false);
        const ir::Block plain = lift(false), block = lift(true, &now.wave);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        held += compare_waves(plain, block, start_state);
        if (HasFailure()) return;
    }
    EXPECT_GT(held, programs);
    EXPECT_GT(beyond, programs / 2);
}

// Coordinates at the edges of a grid: kept within it by minima, maxima and selections, and elements
// of the LDS there. A wave in the midst shows what most do.
TEST_P(AffineTest, Edges) {
    constexpr uint32_t limit = 4, lanes_sgpr = 6, place = 2, other = 3, bits = 12, modulus = 13,
                       reciprocal = 14;
    const int programs = wanted_rounds(600);
    int held = 0, at_edges = 0, lines = 0;
    for (int n = 0; n < programs; ++n) {
        next_program();
        any_exec_ = false;
        const uint32_t width = random(2) ? machine::lanes : 16u << random(2),
                       stride = 1 + random(2);
        lines_[0] = {.row = 0, .stride = stride, .width = width};
        lines_[1] = {.row = 1, .stride = 0, .width = width, .step = width < machine::lanes};
        const uint32_t which = random(4) == 0, d = random(3);
        // v2 = v0 + d or v0 - d; then within [0 or d, s4), or one of two by a compare, and by two.
        vop2(random(2) ? 0x34 : 0x36, place, 128 + d, which);
        const uint32_t bounds = 1 + random(2);
        for (uint32_t k = 0; k < bounds; ++k) {
            const uint32_t bound = random(2) ? limit : 128 + d;
            if (random(4) == 0) {  // of a grid whose ends meet: v_and_b32, or a remainder
                const bool magnitude = random(3) == 0;
                if (magnitude) {  // v_sub_u32, v_max_i32
                    vop2(0x35, other, 128, place);
                    vop2(random(4) ? 0x0d : 0x0c + random(4), place, 256 + other, place);
                }
                if (!magnitude && random(2)) {
                    vop2(0x13, place, bits, place);
                    continue;
                }
                if (random(2)) vop2(0x34, place, modulus, place);
                append_remainder(words_, place, other, modulus, reciprocal);
                continue;
            }
            if (random(2)) {  // v_min_i32, v_max_i32, v_min_u32, v_max_u32
                vop2(0x0c + random(4), place, bound, place);
                continue;
            }
            const uint32_t op = (random(2) ? 0xc9 : 0xc1) + random(6);
            words_.push_back(0x7c000000 | op << 17 | place << 9 | bound);
            if (random(2)) {  // and another one: s_and_b64 or s_or_b64 vcc, vcc, s[10:11]
                vop3((random(2) ? 0xc9 : 0xc1) + random(6), 10, 128 + d, 256 + random(2));
                words_.push_back((random(2) ? 0x86800000 : 0x87800000) | vcc << 16 | 10 << 8 | vcc);
            }
            words_.push_back(0x7e000200 | other << 17 | (random(2) ? bound : 128u));  // v_mov_b32
            const bool swap = random(2);
            vop2(0x00, place, 256 + (swap ? place : other), swap ? other : place);
        }
        vop2(0x12, place, 128 + 2, place);
        if (random(3) == 0) words_.push_back(0x86800000 | 126 << 16 | lanes_sgpr << 8 | 126);
        for (uint32_t k = 1 + random(3); k; --k) {
            const bool store = random(2);
            words_.push_back((store ? 0xd81a0000 : 0xd86c0000) | 4 * random(8));
            words_.push_back((4 + random(6)) << (store ? 8 : 24) | place);
        }
        words_.push_back(0xbf810000);  // s_endpgm
        bool at_edge = false;
        auto start_state = [&](State& start, bool middle) {
            fill(start);
            start.wave.set_s64(machine::exec_lo, machine::first_lanes(lanes_));
            const uint32_t first = middle ? 128 : random(3) ? random(6) : random(300);
            at_edge = false;
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                start.wave.row(0)[l] = first + stride * (l % width);
                start.wave.row(1)[l] = first + (width < machine::lanes ? l / width : 0);
            }
            const uint32_t last = start.wave.row(which)[machine::lanes - 1];
            const uint32_t end = middle ? 1000 : random(2) ? 1000 : last - 4 + random(8);
            start.wave.sgpr[limit] = end;
            start.wave.sgpr[bits] =
                random(4) || middle ? std::bit_ceil(std::min(end, 1u << 20)) - 1 : end - 1;
            start.wave.sgpr[modulus] =
                middle || random(4) ? std::max(end, 1u) : 0xfffffff0 + random(16);
            start.wave.sgpr[reciprocal] =
                random_reciprocal(start.wave.sgpr[modulus], middle ? ~0u : random_dword(rng_));
            at_edge = !middle && (first < 4 || end < 1000);
        };
        State now;
        start_state(now, true);
        const ir::Block plain = lift(false), block = lift(true, &now.wave);
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        if (!block.guarded) continue;
        for (const ir::Inst& i : block.insts) lines += i.op == ir::Op::Line32;
        std::optional<Rig> rig;
        for (int k = 0; k < 8; ++k) {
            State start;
            start_state(start, k == 0);
            const bool holds = compare(start, plain, block, n % 4 ? nullptr : &rig);
            held += holds;
            at_edges += holds && at_edge;
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(held, programs);
    EXPECT_GT(at_edges, programs / 4);
    EXPECT_GT(lines, programs / 4);
}

WJ_JIT_TESTS(AffineTest);

}  // namespace
}  // namespace wj::jit_test
