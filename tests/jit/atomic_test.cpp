// Lane atomics: every operation in every space against the model, colliding lanes in their order,
// faults.
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using ir::AtomicOp;

// Expected values: CDNA ISA manual, pseudo-code of DS_* and FLAT_ATOMIC_*; IEEE 754 for the sums.
TEST(AtomicOps, DocumentedResults) {
    struct Row {
        AtomicOp op;
        uint32_t dwords;
        uint64_t old, data, data2, want;
    };
    static constexpr Row rows[] = {
        {AtomicOp::Swap, 1, 5, 9, 0, 9},
        {AtomicOp::CmpSwap, 1, 5, 9, 5, 9},
        {AtomicOp::CmpSwap, 1, 5, 9, 6, 5},
        {AtomicOp::CmpSwap, 2, 1ull << 40, 9, 0, 1ull << 40},
        {AtomicOp::Add, 1, 0xffffffff, 3, 0, 2},
        {AtomicOp::Add, 2, 0xffffffff, 3, 0, 0x100000002},
        {AtomicOp::Sub, 1, 2, 3, 0, 0xffffffff},
        {AtomicOp::RSub, 1, 2, 3, 0, 1},
        {AtomicOp::SMin, 1, 1, 0xffffffff, 0, 0xffffffff},
        {AtomicOp::SMax, 1, 1, 0xffffffff, 0, 1},
        {AtomicOp::UMin, 1, 1, 0xffffffff, 0, 1},
        {AtomicOp::UMax, 2, 1, 1ull << 63, 0, 1ull << 63},
        {AtomicOp::And, 1, 12, 10, 0, 8},
        {AtomicOp::Or, 1, 12, 10, 0, 14},
        {AtomicOp::Xor, 1, 12, 10, 0, 6},
        {AtomicOp::Inc, 1, 6, 7, 0, 7},
        {AtomicOp::Inc, 1, 7, 7, 0, 0},
        {AtomicOp::Inc, 1, 0xffffffff, 0xffffffff, 0, 0},
        {AtomicOp::Dec, 1, 7, 7, 0, 6},
        {AtomicOp::Dec, 1, 0, 7, 0, 7},
        {AtomicOp::Dec, 1, 8, 7, 0, 7},
        {AtomicOp::MskOr, 1, 0xff, 0x0f, 0x03, 0xf3},
        {AtomicOp::Wrap, 1, 10, 4, 100, 6},
        {AtomicOp::Wrap, 1, 3, 4, 100, 103},
        {AtomicOp::FAdd, 1, 0x3f800000, 0x40000000, 0, 0x40400000},  // 1 + 2
        {AtomicOp::FAdd, 2, 0x3ff0000000000000, 0x4000000000000000, 0, 0x4008000000000000},
        {AtomicOp::FAdd, 1, 1, 1, 0, 2},                             // denormals kept
        {AtomicOp::FMin, 1, 0x7fc00000, 0x3f800000, 0, 0x3f800000},  // NaN loses
        {AtomicOp::FMin, 1, 0x3f800000, 0x7f800001, 0, 0x7fc00001},  // but a signalling one
        {AtomicOp::FMin, 1, 0, 0x80000000, 0, 0x80000000},           // -0 < +0
        {AtomicOp::FMax, 1, 0x80000000, 0, 0, 0},
        {AtomicOp::FMin, 1, 0x40000000, 0x3f800000, 0, 0x3f800000},
        {AtomicOp::FMax, 1, 0x40000000, 0x3f800000, 0, 0x40000000},
        {AtomicOp::FCmpSwap, 1, 0x80000000, 0x40000000, 0, 0x40000000},  // -0 == +0
        {AtomicOp::FCmpSwap, 1, 0x7fc00000, 0x40000000, 0x7fc00000, 0x7fc00000},
        {AtomicOp::PkAddF16, 1, 0x3c004000, 0x3c003c00, 0, 0x40004200},  // 1 + 1, 2 + 1
        {AtomicOp::PkAddBf16, 1, 0x3f804000, 0x3f803f80, 0, 0x40004040},
    };
    for (const Row& r : rows)
        EXPECT_EQ(ir::atomic_apply(r.op, r.dwords, 0, false, r.old, r.data, r.data2), r.want)
            << ir::atomic_name(r.op) << " of " << hex(r.old) << " and " << hex(r.data);
    const uint8_t flush = ir::flush_in_memory | ir::flush_out_memory;
    EXPECT_EQ(ir::atomic_apply(AtomicOp::FAdd, 1, flush, false, 1, 0x80000001, 0), 0u);
    EXPECT_EQ(ir::atomic_apply(AtomicOp::FAdd, 1, flush, true, 1, 1, 0), 2u);
}

class AtomicTest : public JitTest {
protected:
    static constexpr uint32_t area = 4096;  // bytes of the buffer that lanes reach

    // A buffer whose addresses' upper halves differ.
    static uint8_t* across(uint64_t which) {
        static uint8_t* buffers[2] = {};
        for (uint64_t upper = 0x1000 + which; !buffers[which]; upper += 2) {
            void* const at = reinterpret_cast<void*>((upper << 32) - area);
            void* const got = mmap(at, 2 * area, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (got == at) buffers[which] = static_cast<uint8_t*>(at) + area - 512;
        }
        return buffers[which];
    }

    static uint32_t offset(uint32_t pattern, uint32_t lane, uint32_t bytes, Rng& rng) {
        switch (pattern) {
            case 0:
                return lane * bytes;
            case 1:
                return 64;  // equal
            case 2:
                return static_cast<uint32_t>(rng() % 4) * bytes;  // many collisions
            case 3:
                return static_cast<uint32_t>(rng() % 256) * bytes;
            default:
                return lane / 16 * 32 + (lane % 16 == 5 ? bytes : 0);  // nearly equal in a chunk
        }
    }
    static constexpr uint32_t patterns = 5;

    // few: compares hit, and what they stored is found by others.
    enum Data { lanes_differ, constant, all_ones, lanes_equal, few, data_kinds };

    void run(Op op, AtomicOp what, uint32_t bytes, bool returns, bool full, uint32_t pattern,
             Data kind, Rng& rng) {
        const bool lds = op == Op::AtomicLds, scalar = ir::has_scalar_base(op),
                   wide = !lds && op != Op::AtomicGlobalS;
        const uint32_t dwords = std::max(bytes, 4u) / 4;
        Builder b;
        const Value mask = full ? b.full() : b.exec();
        std::array<Value, 4> data{ir::no_value, ir::no_value, ir::no_value, ir::no_value};
        const uint32_t count = dwords * ir::atomic_operands(what);
        for (uint32_t d = 0; d < count; ++d)
            data[d] = kind == constant ? b.op(Op::Splat32, {b.c32(random_dword(rng))}) : b.v(8 + d);
        const auto imm = static_cast<uint32_t>(rng() % 3) * bytes;
        uint32_t flags = what >= AtomicOp::FAdd ? rng() & 15 : 0;
        if (bytes == 2) flags |= ir::half_words;
        if (rng() % 8 == 0) flags |= ir::new_values;
        const uint32_t aux = ir::make_atomic_aux(what, dwords, flags);
        const Value address = wide ? b.pair(0) : b.v(0);
        const Value v =
            scalar ? b.op(op, {b.op(Op::GetS64, {}, 4), address, mask}, imm, aux,
                          {data[0], data[1], data[2], data[3]})
                   : b.op(op, {address, mask}, imm, aux, {data[0], data[1], data[2], data[3]});
        for (uint32_t d = 0; returns && d < dwords; ++d)
            b.op(Op::SetV, {b.op(Op::Elem, {v}, d), mask}, 16 + d);
        ASSERT_EQ(ir::verify(b.block), "");
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;

        State states[2];
        randomise(states[0], rng);
        machine::Wave& w = states[0].wave;
        for (uint32_t d = 0; d < count; ++d)
            for (uint32_t l = 0; l < 64; ++l) {
                if (kind == all_ones) w.row(8 + d)[l] = ~0u;
                if (kind == lanes_equal) w.row(8 + d)[l] = w.row(8 + d)[0];
                if (kind == few) w.row(8 + d)[l] = static_cast<uint32_t>(rng() % (4 / dwords));
            }
        uint8_t* const buffer[2] = {across(0), across(1)};
        for (uint32_t i = 0; i < area; i += 4) {
            // Compares hit now and then.
            uint32_t x = rng() % 4 ? random_dword(rng) : w.row(8 + dwords % 4)[rng() % 64];
            if (i / 4 % dwords && rng() % 2) x = 0;
            if (kind == few) x = static_cast<uint32_t>(rng() % 2);
            std::memcpy(buffer[0] + i, &x, 4);
            if (lds) std::memcpy(&states[0].lds[i], &x, 4);
        }
        std::memcpy(buffer[1], buffer[0], area);
        std::array<uint32_t, 64> offsets;
        for (uint32_t l = 0; l < 64; ++l) {
            offsets[l] = offset(pattern, l, bytes, rng);
            // Beyond the LDS, also by wrapping.
            if (lds && pattern == 3 && rng() % 8 == 0)
                offsets[l] = rng() % 2 ? lds_bytes + 8 * l : 0u - bytes * 4;
        }
        const uint32_t spread = static_cast<uint32_t>(rng() % 2);
        states[1].copy_from(states[0]);
        for (int s = 0; s < 2; ++s) {
            machine::Wave& to = states[s].wave;
            const auto base = reinterpret_cast<uint64_t>(buffer[s]);
            for (uint32_t l = 0; l < 64; ++l) {
                uint64_t at = offsets[l] + (wide && !scalar ? base : 0);
                if (op == Op::AtomicFlat && spread && pattern != 1 && l % 3)
                    at = l % 3 == 1 ? machine::shared_aperture + offsets[l]
                                    : machine::private_aperture + offsets[l] % 128;
                if (!full && !(to.exec() >> l & 1)) at = 0x1234567890 * l;  // leftovers
                to.row(0)[l] = static_cast<uint32_t>(at);
                if (wide) to.row(1)[l] = static_cast<uint32_t>(at >> 32);
            }
            to.set_s64(4, base);
        }
        states[1].context.exclusive_memory = rng() & 1;
        ir::evaluate(b.block, states[0].wave);
        rig.engine->run(states[1].wave);
        ASSERT_EQ(states[1].wave.exit.kind, machine::ExitKind::EndProgram);
        for (State& s : states) {
            std::memset(s.wave.row(0), 0, 512);
            s.wave.set_s64(4, 0);
        }
        ASSERT_TRUE(same(states[1], states[0]))
            << ir::print(b.block) << x64::disassemble_block(b.block, GetParam());
        ASSERT_EQ(std::memcmp(buffer[0], buffer[1], area), 0)
            << ir::print(b.block) << x64::disassemble_block(b.block, GetParam());
    }
};

TEST_P(AtomicTest, EveryOperation) {
    Rng rng(31);
    for (uint32_t n = 0; n < static_cast<uint32_t>(AtomicOp::count_); ++n) {
        const auto what = static_cast<AtomicOp>(n);
        SCOPED_TRACE(ir::atomic_name(what));
        for (Op op : {Op::AtomicLds, Op::AtomicGlobal, Op::AtomicGlobalS, Op::AtomicGlobalS64,
                      Op::AtomicFlat})
            for (const uint32_t bytes : {2u, 4u, 8u}) {
                if (bytes != 4 && ir::atomic_of_dwords(what)) continue;
                for (uint32_t pattern = 0; pattern < patterns; ++pattern)
                    for (uint32_t variant = 0; variant < 9; ++variant) {
                        const auto kind = variant < 5 ? static_cast<Data>(variant)
                                                      : static_cast<Data>(rng() % data_kinds);
                        run(op, what, bytes, rng() & 1, rng() & 1, pattern, kind, rng);
                        if (HasFatalFailure()) return;
                    }
            }
    }
}

// Lanes collide in ascending order: a counter hands out the numbers of the active lanes.
TEST_P(AtomicTest, LanesInAscendingOrder) {
    for (bool lds : {false, true})
        for (uint64_t exec : {~0ull, 0x8000000100f00001ull}) {
            Builder b;
            const Value mask = b.exec();
            const Value address = lds ? b.v(0) : b.pair(0);
            const uint32_t aux = ir::make_atomic_aux(AtomicOp::Add, 1);
            const Value v = b.op(lds ? Op::AtomicLds : Op::AtomicGlobal, {address, mask}, 0, aux,
                                 {b.op(Op::Splat32, {b.c32(1)})});
            b.op(Op::SetV, {b.op(Op::Elem, {v}, 0), mask}, 5);
            Rig rig(GetParam());
            rig.source->blocks[b.block.pc] = b.block;
            State s;
            uint32_t counter = 100;
            std::memcpy(&s.lds[256], &counter, 4);
            const uint64_t at = lds ? 256 : reinterpret_cast<uint64_t>(&counter);
            for (uint32_t l = 0; l < 64; ++l) {
                s.wave.row(0)[l] = static_cast<uint32_t>(at);
                s.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
            }
            s.wave.set_s64(machine::exec_lo, exec);
            rig.engine->run(s.wave);
            uint32_t want = 100;
            for (uint32_t l = 0; l < 64; ++l)
                if (exec >> l & 1) {
                    EXPECT_EQ(s.wave.row(5)[l], want++) << "lane " << l;
                }
            if (lds) std::memcpy(&counter, &s.lds[256], 4);
            EXPECT_EQ(counter, want);
        }
}

// Loads and stores of the same space keep their order against atomics; so do atomics of different
// kinds and widths.
TEST_P(AtomicTest, OrderAgainstLoadsAndStores) {
    Rng rng(5);
    prepare = [&](State& s) {
        for (uint32_t l = 0; l < 64; ++l) {
            s.wave.row(0)[l] = static_cast<uint32_t>(rng() % 16) * 8;
            s.wave.row(1)[l] = static_cast<uint32_t>(rng() % 16) * 8;
        }
    };
    const uint32_t dword = ir::make_aux(ir::Access::Dwords, 1);
    for (int round = 0; round < 60; ++round) {
        Builder b;
        for (int n = 0; n < 8; ++n) {
            const Value mask = rng() & 1 ? b.full() : b.exec(),
                        address = b.v(static_cast<uint32_t>(rng() % 2)),
                        data = b.v(4 + static_cast<uint32_t>(rng() % 8));
            const auto row = 4 + static_cast<uint32_t>(rng() % 8);
            const auto what = rng() % 3 ? AtomicOp::Add : static_cast<AtomicOp>(rng() % 14);
            switch (rng() % 5) {
                case 0:
                    b.op(Op::StoreLds, {address, mask}, 0, dword, {data});
                    break;
                case 1:
                    b.op(Op::SetV,
                         {b.op(Op::Elem, {b.op(Op::LoadLds, {address, mask}, 4, dword)}, 0), mask},
                         row);
                    break;
                case 2:
                    if (ir::atomic_operands(what) == 1) {
                        b.op(Op::AtomicLds, {address, mask}, 0, ir::make_atomic_aux(what, 2),
                             {data, b.v(12)});
                        break;
                    }
                    [[fallthrough]];
                default: {
                    const bool two = ir::atomic_operands(what) == 2;
                    const Value v =
                        b.op(Op::AtomicLds, {address, mask}, rng() % 2 * 4,
                             ir::make_atomic_aux(what, 1), {data, two ? b.v(13) : ir::no_value});
                    if (rng() & 1) b.op(Op::SetV, {b.op(Op::Elem, {v}, 0), mask}, row);
                    break;
                }
            }
        }
        compare(b.block, rng, 3);
        if (HasFatalFailure()) return;
    }
}

// More masks and values than registers live across an atomic, with chunks that have no lanes: what
// is spilled around it must be there on every path.
TEST_P(AtomicTest, RegisterPressure) {
    Rng rng(8);
    prepare = [&](State& s) {
        for (uint32_t l = 0; l < 64; ++l) s.wave.row(0)[l] = static_cast<uint32_t>(rng() % 16) * 8;
        s.wave.set_s64(machine::exec_lo, 0xffff0000ffull << rng() % 32);
    };
    for (uint32_t count : {5u, 6u, 7u, 8u, 12u, 30u})
        for (AtomicOp what : {AtomicOp::Add, AtomicOp::Inc, AtomicOp::CmpSwap}) {
            Builder b;
            const Value mask = b.exec();
            std::vector<Value> masks, sums;
            for (uint32_t i = 0; i < count; ++i) {
                masks.push_back(b.op(Op::CmpLtU32, {b.v(1 + i % 6), b.v(2 + i % 5)}));
                sums.push_back(b.op(Op::Add32, {b.v(1 + i % 6), b.v(8 + i % 3)}));
            }
            const Value v = b.op(Op::AtomicLds, {b.v(0), mask}, 0, ir::make_atomic_aux(what, 1),
                                 {b.v(3), what == AtomicOp::CmpSwap ? b.v(4) : ir::no_value});
            b.op(Op::SetV, {b.op(Op::Elem, {v}, 0), mask}, 9);
            for (uint32_t i = 0; i < count; ++i)
                b.set(10 + i % 20, b.op(Op::Select32, {masks[i], sums[i], b.v(7)}));
            compare(b.block, rng, 4);
            if (HasFatalFailure()) return;
        }
}

TEST_P(AtomicTest, MisalignedIsAFault) {
    for (bool lds : {false, true}) {
        Builder b;
        b.next_guest(0x1008);
        b.op(lds ? Op::AtomicLds : Op::AtomicGlobal, {lds ? b.v(0) : b.pair(0), b.full()}, 0,
             ir::make_atomic_aux(AtomicOp::Add, 2), {b.v(2), b.v(3)});
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        State s;
        alignas(8) uint64_t buffer[64] = {};
        const uint64_t base = lds ? 0 : reinterpret_cast<uint64_t>(buffer);
        for (uint32_t l = 0; l < 64; ++l) {
            const uint64_t at = base + l * 8 + (l == 37 ? 4 : 0);
            s.wave.row(0)[l] = static_cast<uint32_t>(at);
            s.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
            s.wave.row(2)[l] = 1;
        }
        EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::MemoryFault);
        const machine::ExitInfo& exit = s.wave.exit;
        EXPECT_EQ(exit.pc, 0x1008u);
        EXPECT_EQ(exit.access, machine::Access::Atomic);
        EXPECT_EQ(exit.access_bytes, 8u);
        EXPECT_EQ(exit.lane_mask, 1ull << 37);
        EXPECT_EQ(exit.address, base + 37 * 8 + 4 + (lds ? machine::shared_aperture : 0));
        EXPECT_STREQ(exit.reason, "misaligned atomic");
        // Lower lanes have happened (docs/design/memory.md).
        for (uint32_t l = 0; l < 64; ++l) {
            uint64_t x = buffer[l];
            if (lds) std::memcpy(&x, &s.lds[l * 8], 8);
            EXPECT_EQ(x, l < 37 ? 1u : 0u) << "lane " << l;
        }
    }
}

TEST_P(AtomicTest, FaultNamesPcAndAddress) {
    const size_t page = 4096;
    auto* map = static_cast<uint8_t*>(
        mmap(nullptr, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(map, MAP_FAILED);
    mprotect(map, page, PROT_READ | PROT_WRITE);
    for (AtomicOp what : {AtomicOp::Add, AtomicOp::SMax, AtomicOp::FAdd}) {
        std::memset(map, 0, page);
        Builder b;
        b.next_guest(0x1008);
        b.op(Op::AtomicGlobal, {b.pair(0), b.full()}, 0, ir::make_atomic_aux(what, 1), {b.v(2)});
        b.next_guest(0x100c);
        b.set(6, b.op(Op::Add32, {b.v(6), b.v(7)}));
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        State s;
        for (uint32_t l = 0; l < 64; ++l) {
            const uint64_t at = reinterpret_cast<uint64_t>(map) + page - 200 + l * 4;
            s.wave.row(0)[l] = static_cast<uint32_t>(at);
            s.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
            s.wave.row(2)[l] = 0x3f800000;
        }
        EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::MemoryFault);
        EXPECT_EQ(s.wave.exit.pc, 0x1008u);
        EXPECT_EQ(s.wave.exit.address, reinterpret_cast<uint64_t>(map) + page);
        for (uint32_t l = 0; l < 50; ++l) {
            uint32_t x;
            std::memcpy(&x, map + page - 200 + l * 4, 4);
            EXPECT_EQ(x, 0x3f800000u) << "lane " << l;
        }
    }
    munmap(map, 2 * page);
}

// Memory is shared with host threads: nothing is lost.
TEST_P(AtomicTest, AtomicAgainstHostThreads) {
    for (AtomicOp what : {AtomicOp::Add, AtomicOp::Inc, AtomicOp::Wrap}) {
        Builder b;
        // Wrap with a limit that is never reached adds data2.
        const Value ones = b.op(Op::Splat32, {b.c32(~0u)}), one = b.op(Op::Splat32, {b.c32(1)});
        b.op(Op::AtomicGlobal, {b.pair(0), b.full()}, 0, ir::make_atomic_aux(what, 1),
             {what == AtomicOp::Add ? one : ones, what == AtomicOp::Wrap ? one : ir::no_value});
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        alignas(64) uint32_t counters[2] = {};
        constexpr uint32_t rounds = 2000;
        std::thread host([&] {
            for (uint32_t i = 0; i < rounds * 64; ++i) std::atomic_ref(counters[i & 1])++;
        });
        State s;
        for (uint32_t i = 0; i < rounds; ++i) {
            for (uint32_t l = 0; l < 64; ++l) {
                const auto at = reinterpret_cast<uint64_t>(&counters[(l ^ i) >> 1 & 1]);
                s.wave.row(0)[l] = static_cast<uint32_t>(at);
                s.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
            }
            s.wave.pc = b.block.pc;
            rig.engine->run(s.wave);
        }
        host.join();
        EXPECT_EQ(counters[0] + counters[1], 2 * rounds * 64) << ir::atomic_name(what);
    }
}

// Each lane counts on from the lane in front of it: as many successes as lanes that say so.
TEST_P(AtomicTest, ChainsOfComparesAgainstHostThreads) {
    for (const uint32_t dwords : {1u, 2u}) {
        Builder b;
        std::array<Value, 4> data{ir::no_value, ir::no_value, ir::no_value, ir::no_value};
        for (uint32_t d = 0; d < 2 * dwords; ++d) data[d] = b.v(2 + d);
        const Value v = b.op(Op::AtomicGlobal, {b.pair(0), b.full()}, 0,
                             ir::make_atomic_aux(AtomicOp::CmpSwap, dwords),
                             {data[0], data[1], data[2], data[3]});
        for (uint32_t d = 0; d < dwords; ++d) b.set(8 + d, b.op(Op::Elem, {v}, d));
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        alignas(64) uint64_t counter = uint64_t{1} << 31;
        const uint64_t begin = counter;
        constexpr uint32_t rounds = 4000, most_rounds = 4'000'000;
        std::atomic<bool> over = false;
        uint64_t by_host = 0, by_lanes = 0;
        std::thread host([&] {
            for (; !over; ++by_host) {
                std::atomic_ref(counter)++;
                if (by_host % 64 == 0) std::this_thread::yield();
            }
        });
        State s;
        // Until some of them hit, whoever gets the memory more often.
        for (uint32_t i = 0; i < rounds || (!by_lanes && i < most_rounds); ++i) {
            const uint64_t from = std::atomic_ref(counter).load();
            for (uint32_t l = 0; l < 64; ++l) {
                const auto at = reinterpret_cast<uint64_t>(&counter);
                const uint64_t values[] = {from + l + 1, from + l};
                s.wave.row(0)[l] = static_cast<uint32_t>(at);
                s.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
                for (uint32_t d = 0; d < 2 * dwords; ++d)
                    s.wave.row(2 + d)[l] =
                        static_cast<uint32_t>(values[d / dwords] >> 32 * (d % dwords));
            }
            s.wave.pc = b.block.pc;
            rig.engine->run(s.wave);
            for (uint32_t l = 0; l < 64; ++l) {
                bool hit = true;
                for (uint32_t d = 0; d < dwords; ++d)
                    hit &= s.wave.row(8 + d)[l] == s.wave.row(2 + dwords + d)[l];
                by_lanes += hit;
            }
        }
        over = true;
        host.join();
        EXPECT_EQ(counter, begin + by_host + by_lanes) << dwords;
        EXPECT_GT(by_lanes, 0u);
    }
}

WJ_JIT_TESTS(AtomicTest);

}  // namespace
}  // namespace wj::jit_test
