// Buffers, addresses around 4 GiB and checked memory. Expected values are computed here, from the
// address rules of docs/design/memory.md.
#include <sys/mman.h>

#include "backend_x64/loop_estimate.h"
#include "memory/address_space.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using ir::Access;

class MemoryPaths : public JitTest {
protected:
    // v0 = offsets -> v8.. loaded from, or v4.. stored to, the buffer of s[4:7] and SOFFSET s8.
    static ir::Block buffer_block(bool store, uint32_t dwords) {
        Builder b;
        const Value low = b.op(Op::GetS64, {}, 4), high = b.op(Op::GetS64, {}, 6),
                    soffset = b.op(Op::GetS32, {}, 8), mask = b.exec();
        const Value base = b.op(Op::BufferBase, {low, high, soffset});
        const Value limit = b.op(Op::BufferLimit, {low, high, soffset});
        const uint32_t aux = ir::make_aux(Access::Dwords, dwords);
        if (store) {
            b.op(Op::StoreBuffer, {b.v(0), mask, base, limit}, 0, aux,
                 {b.v(4), dwords > 1 ? b.v(5) : ir::no_value});
        } else {
            const Value t = b.op(Op::LoadBuffer, {b.v(0), mask, base, limit}, 0, aux);
            for (uint32_t d = 0; d < dwords; ++d)
                b.op(Op::SetV, {b.op(Op::Elem, {t}, d), mask}, 8 + d);
        }
        return b.block;
    }
    static uint32_t dword_at(const uint8_t* p) {
        uint32_t v;
        std::memcpy(&v, p, 4);
        return v;
    }
};

// The private segment's V#: byte o of lane l at (o/4)*256 + l*4 + o%4, where
// SOFFSET counts bytes of all lanes.
TEST_P(MemoryPaths, PrivateBuffer) {
    Rng rng(31);
    for (int round = 0; round < 24; ++round) {
        const bool store = round & 1;
        const uint32_t dwords = 1 + (round >> 1 & 1),
                       pattern = static_cast<uint32_t>(round) / 4 % 3;
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = buffer_block(store, dwords);
        State s;
        randomise(s, rng);
        s.wave.scratch_base = 0x7700000000;
        s.wave.set_s64(4, 0x7700000000 | 1ull << 63 | 4ull << 48);
        s.wave.set_s64(6, 0xffffffff | 7ull << 53);
        s.wave.sgpr[8] = 2 * 256;  // eight bytes of each lane
        for (uint32_t l = 0; l < 64; ++l) {
            s.wave.row(0)[l] = pattern == 0 ? 40u : pattern == 1 ? l * 3 % 64 * 2 & ~3u : l % 7 * 5;
            if (!(s.wave.exec() >> l & 1)) s.wave.row(0)[l] = 0xdeadbeef;
        }
        State want;
        want.copy_from(s);
        for (uint32_t l = 0; l < 64; ++l) {
            if (!(s.wave.exec() >> l & 1)) continue;
            for (uint32_t b = 0; b < dwords * 4; ++b) {
                const uint32_t o = 8 + s.wave.row(0)[l] + b;
                uint8_t& memory = want.scratch[o / 4 * 256 + l * 4 + o % 4];
                uint8_t& value =
                    reinterpret_cast<uint8_t*>(want.wave.row((store ? 4 : 8) + b / 4) + l)[b % 4];
                store ? memory = value : value = memory;
            }
        }
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram) << round;
        ASSERT_TRUE(same(s, want)) << round;
    }
}

// Accesses at constants, as of spilled registers, which one look tells to be in range or not: of
// private memory and of the private segment's V#.
TEST_P(MemoryPaths, PrivateAtConstants) {
    Rng rng(33);
    int beyond = 0;
    for (int round = wanted_rounds(300); round-- > 0;) {
        Builder b;
        const Value low = b.op(Op::GetS64, {}, 4), high = b.op(Op::GetS64, {}, 6),
                    soffset = b.op(Op::GetS32, {}, 8),
                    base = b.op(Op::BufferBase, {low, high, soffset}),
                    limit = b.op(Op::BufferLimit, {low, high, soffset});
        const Value mask = rng() % 2 ? b.exec() : b.full();
        const uint32_t size = 64u << rng() % 3, start = 4 * (rng() % 3);
        const bool all_in_range = rng() % 2;
        bool in_range = true;
        for (uint64_t n = 1 + rng() % 6; n-- > 0;) {
            const bool buffer = rng() % 2, store = rng() % 2;
            const auto dwords = static_cast<uint32_t>(1 + rng() % 2);
            const uint32_t room = size - start - 4 * dwords,
                           offset = all_in_range ? rng() % (room / 4 + 1) * 4 : rng() % 70 * 4;
            in_range &= offset + 4 * dwords + (buffer ? start : 0) <= size;
            const uint32_t aux = ir::make_aux(Access::Dwords, dwords);
            const Value second = dwords > 1 ? b.v(5) : ir::no_value;
            const Value at = b.op(Op::Splat32, {b.c32(buffer ? offset : 0)});
            if (buffer && store) {
                b.op(Op::StoreBuffer, {at, mask, base, limit}, 0, aux, {b.v(4), second});
                continue;
            }
            if (store) {
                b.op(Op::StoreScratch, {at, mask}, offset, aux, {b.v(4), second});
                continue;
            }
            const Value t = buffer ? b.op(Op::LoadBuffer, {at, mask, base, limit}, 0, aux)
                                   : b.op(Op::LoadScratch, {at, mask}, offset, aux);
            for (uint32_t d = 0; d < dwords; ++d)
                b.op(Op::SetV, {b.op(Op::Elem, {t}, d), mask}, 8 + rng() % 8);
        }
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = b.block;
        State s, want;
        randomise(s, rng);
        s.wave.set_s64(4, 0x7700000000 | 1ull << 63 | 4ull << 48);
        s.wave.set_s64(6, 0xffffffff | 7ull << 53);
        s.wave.sgpr[8] = start * 64;
        want.copy_from(s);
        for (State* state : {&s, &want}) {
            state->wave.scratch_base = 0x7700000000;
            state->wave.scratch_bytes = size;
        }
        if (!in_range) {  // of lanes that are on, if any is
            ++beyond;
            if (s.wave.exec()) {
                ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::MemoryFault)
                    << ir::print(b.block);
            }
            continue;
        }
        ir::evaluate(b.block, want.wave);
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram) << ir::print(b.block);
        ASSERT_TRUE(same(s, want)) << ir::print(b.block);
    }
    EXPECT_GT(beyond, wanted_rounds(300) / 5);
}

// A plain V#: bytes from base + SOFFSET on; dwords that end beyond NUM_RECORDS read 0 and are not
// written.
TEST_P(MemoryPaths, PlainBuffer) {
    Rng rng(32);
    constexpr uint32_t records = 1000, soffset = 20;
    for (int round = 0; round < 24; ++round) {
        const bool store = round & 1;
        const uint32_t dwords = 1 + (round >> 1 & 1),
                       pattern = static_cast<uint32_t>(round) / 4 % 3;
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = buffer_block(store, dwords);
        std::vector<uint8_t> memory(2048);
        for (uint8_t& x : memory) x = static_cast<uint8_t>(rng());
        State s;
        randomise(s, rng);
        s.wave.set_s64(4, reinterpret_cast<uint64_t>(memory.data()));
        s.wave.set_s64(6, records);
        s.wave.sgpr[8] = soffset;
        for (uint32_t l = 0; l < 64; ++l)
            s.wave.row(0)[l] = pattern == 0   ? l * dwords * 4
                               : pattern == 1 ? 700 + l * 8
                                              : static_cast<uint32_t>(rng() % 300);
        State want;
        want.copy_from(s);
        std::vector<uint8_t> want_memory = memory;
        for (uint32_t l = 0; l < 64; ++l)
            for (uint32_t d = 0; d < dwords && s.wave.exec() >> l & 1; ++d) {
                const uint32_t o = s.wave.row(0)[l] + d * 4 + soffset;
                const bool inside = o + 4 <= records;
                if (store && inside) std::memcpy(&want_memory[o], &want.wave.row(4 + d)[l], 4);
                if (!store) want.wave.row(8 + d)[l] = inside ? dword_at(&memory[o]) : 0;
            }
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram) << round;
        ASSERT_TRUE(same(s, want)) << round;
        ASSERT_EQ(memory, want_memory) << round;
    }
}

// Lanes on both sides of a multiple of 4 GiB, with 64-bit addresses and with a scalar base.
TEST_P(MemoryPaths, AcrossFourGiB) {
    constexpr uint64_t border = 0x7'0000'0000, size = 1 << 16;
    void* map = mmap(reinterpret_cast<void*>(border - size), 2 * size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (map != reinterpret_cast<void*>(border - size)) GTEST_SKIP() << "addresses are taken";
    Rng rng(33);
    for (uint64_t i = border - size; i < border + size; i += 4)
        *reinterpret_cast<uint32_t*>(i) = static_cast<uint32_t>(rng());
    for (int round = 0; round < 16; ++round) {
        const bool scalar = round & 1, store = round & 2;
        const uint32_t step = round & 4 ? 36 : 4;
        Builder b;
        const Value mask = round & 8 ? b.exec() : b.full();
        const uint32_t aux = ir::make_aux(Access::Dwords, 1);
        const Value base = b.op(Op::GetS64, {}, 4);
        if (store && scalar)
            b.op(Op::StoreGlobalS, {base, b.v(0), mask}, 0, aux, {b.v(4)});
        else if (store)
            b.op(Op::StoreGlobal, {b.pair(0), mask}, 0, aux, {b.v(4)});
        else
            b.op(Op::SetV,
                 {b.op(Op::Elem,
                       {scalar ? b.op(Op::LoadGlobalS, {base, b.v(0), mask}, 0, aux)
                               : b.op(Op::LoadGlobal, {b.pair(0), mask}, 0, aux)},
                       0),
                  mask},
                 8);
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = b.block;
        State s;
        randomise(s, rng);
        const uint64_t first = border - 20 * step;
        s.wave.set_s64(4, border - 0xfffff000);
        for (uint32_t l = 0; l < 64; ++l) {
            const uint64_t at = first + l * step, offset = at - s.wave.s64(4);
            s.wave.row(0)[l] = static_cast<uint32_t>(scalar ? offset : at);
            s.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
        }
        const uint64_t exec = round & 8 ? s.wave.exec() : ~0ull;
        State want;
        want.copy_from(s);
        if (!store)
            for (uint32_t l = 0; l < 64; ++l)
                if (exec >> l & 1)
                    want.wave.row(8)[l] = *reinterpret_cast<uint32_t*>(first + l * step);
        std::vector<uint32_t> before(64);
        for (uint32_t l = 0; l < 64; ++l)
            before[l] = *reinterpret_cast<uint32_t*>(first + l * step);
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram) << round;
        ASSERT_TRUE(same(s, want)) << round;
        for (uint32_t l = 0; l < 64; ++l)
            ASSERT_EQ(*reinterpret_cast<uint32_t*>(first + l * step),
                      store && (exec >> l & 1) ? s.wave.row(4)[l] : before[l])
                << round << " lane " << l;
    }
    munmap(map, 2 * size);
}

// Checked mode: guest pages whose host pages lie in the opposite order; lanes that cross pages; the
// lanes that a missing page and a missing right name.
TEST_P(MemoryPaths, CheckedPages) {
    constexpr uint64_t guest = 0x10'0000'0000, page = memory::page_size;
    memory::AddressSpace space;
    auto* host = static_cast<uint8_t*>(
        mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(host, MAP_FAILED);
    for (uint64_t p = 0; p < 3; ++p)  // page 3 is missing, page 2 read-only
        ASSERT_TRUE(space.map(guest + p * page, host + (3 - p) * page, page,
                              p == 2 ? memory::readable : memory::read_write, "test"));
    auto byte = [&](uint64_t at) { return host + (3 - (at - guest) / page) * page + at % page; };
    Rng rng(34);
    for (uint64_t i = 0; i < 4 * page; ++i) host[i] = static_cast<uint8_t>(rng());
    for (int round = 0; round < 12; ++round) {
        const bool store = round & 1;
        const uint32_t step = round % 3 == 0 ? 4 : round % 3 == 1 ? 0 : 20;
        const bool faults = round >= 6;
        // The first page border in the middle of a chunk; or the end of what is accessible.
        const uint64_t border = faults ? guest + (store ? 2 : 3) * page : guest + page;
        const uint64_t first = border - (step ? 20 * step : faults ? 0 : 8);
        Builder b;
        const Value mask = b.full();
        const uint32_t aux = ir::make_aux(Access::Dwords, 1);
        if (store)
            b.op(Op::StoreGlobal, {b.pair(0), mask}, 0, aux, {b.v(4)});
        else
            b.set(8, b.op(Op::Elem, {b.op(Op::LoadGlobal, {b.pair(0), mask}, 0, aux)}, 0));
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = b.block;
        State s;
        randomise(s, rng);
        s.context.memory = &space;
        s.context.memory_mode = machine::MemoryMode::Checked;
        s.wave.set_s64(machine::exec_lo, ~0ull);
        for (uint32_t l = 0; l < 64; ++l) {
            s.wave.row(0)[l] = static_cast<uint32_t>(first + l * step);
            s.wave.row(1)[l] = static_cast<uint32_t>((first + l * step) >> 32);
        }
        const auto kind = rig.engine->run(s.wave);
        if (faults) {
            ASSERT_EQ(kind, machine::ExitKind::MemoryFault) << round;
            EXPECT_EQ(s.wave.exit.pc, 0x1000u);
            EXPECT_EQ(s.wave.exit.address, border) << round;
            continue;
        }
        ASSERT_EQ(kind, machine::ExitKind::EndProgram) << round;
        for (uint32_t l = 0; l < 64; ++l) {
            if (store && !step && l != 63) continue;  // the last lane wins
            ASSERT_EQ(dword_at(byte(first + l * step)), s.wave.row(store ? 4 : 8)[l])
                << round << " lane " << l;
        }
    }
    munmap(host, 4 * page);
}

// Rows of tiles in front of a barrier, in regions that a store divides: each row's next one is
// fetched ahead by what is known of the wave, whatever the region before it left in registers.
TEST_P(MemoryPaths, TilesOfTwoRegions) {
    Rng rng(35);
    std::vector<uint32_t> memory(4096);
    for (uint32_t& x : memory) x = random_dword(rng);
    const uint32_t aux = ir::make_aux(Access::Dwords, 1);
    Builder b(0x1040);  // no program begins here
    const Value mask = b.full(), base = b.op(Op::GetS64, {}, 4);
    const Value line = b.op(Op::Line32, {b.c32(0), b.c32(0)}, 4, 64);
    for (uint32_t r = 0; r < 4; ++r) {
        const Value x = b.op(Op::LoadGlobalS, {base, line, mask}, 4 * r, aux);
        b.op(Op::SetV, {b.op(Op::Elem, {x}, 0), mask}, 2 + r);
        b.op(Op::StoreGlobalS, {base, line, mask}, 4 * r + 4, aux, {b.v(10 + r)});
    }
    b.block.term.exit = machine::ExitKind::Barrier;
    ASSERT_EQ(ir::verify(b.block), "");
    Rig rig(GetParam());
    rig.source->blocks[b.block.pc] = b.block;
    for (int round = 0; round < 4; ++round) {
        State start, run;
        randomise(start, rng);
        const uint64_t first = rng() % 1024;
        start.wave.set_s64(4, reinterpret_cast<uint64_t>(&memory[first]));
        run.copy_from(start);
        std::vector<uint32_t> want = memory;
        for (uint32_t r = 0; r < 4; ++r) {
            uint32_t* const at = &want[first + r];
            std::copy(at, at + 64, start.wave.row(2 + r));
            std::copy(start.wave.row(10 + r), start.wave.row(10 + r) + 64, at + 1);
        }
        run.wave.pc = b.block.pc;
        ASSERT_EQ(rig.engine->run(run.wave), machine::ExitKind::Barrier);
        start.wave.pc = run.wave.pc;
        ASSERT_TRUE(same(run, start)) << round;
        ASSERT_EQ(memory, want) << round;
    }
}

// Lanes that walk through memory, forwards or backwards, from anywhere: so long that the count of
// the gathers wraps around.
TEST_P(MemoryPaths, LoopsThatWalk) {
    Rng rng(33);
    std::vector<uint32_t> memory(1 << 14);
    for (uint32_t& x : memory) x = random_dword(rng);
    const auto at = reinterpret_cast<uint64_t>(memory.data());
    for (int round = 0; round < 16; ++round) {
        const bool base = round & 1;
        const int32_t step = round & 2 ? -4 : 4;
        const uint32_t iterations = round & 4 ? 600 : 7;
        Builder b;
        const Value mask = round & 8 ? b.exec() : b.full();
        const uint32_t aux = ir::make_aux(Access::Dwords, 1);
        const Value t =
            base ? b.op(Op::LoadGlobalS64, {b.op(Op::GetS64, {}, 4), b.pair(0), mask}, 0, aux)
                 : b.op(Op::LoadGlobal, {b.pair(0), mask}, 0, aux);
        // No address crosses 4 GiB: the base takes the upper half.
        const Value moved =
            b.op(Op::Add32, {b.v(0), b.op(Op::Splat32, {b.c32(static_cast<uint32_t>(step))})});
        b.op(Op::SetV, {b.op(Op::Xor32, {b.v(2), b.op(Op::Elem, {t}, 0)}), mask}, 2);
        b.op(Op::SetV, {moved, mask}, 0);
        b.repeat_s0_times(0x3000);
        ASSERT_EQ(ir::verify(b.block), "");
        EXPECT_EQ(x64::stride_of(b.block, b.block.insts[t].args[base]), step);
        Rig rig(GetParam(), {.loop_chunks = static_cast<uint32_t>(round % 3) * 2});
        rig.source->blocks[0x1000] = b.block;
        rig.source->blocks[0x3000] = end_block(0x3000);
        State start, want, run;
        randomise(start, rng);
        start.wave.sgpr[0] = iterations;
        start.wave.set_s64(4, at);
        for (uint32_t l = 0; l < 64; ++l) {
            const uint64_t first = (base ? 0 : at) + 4 * (1024 + rng() % (memory.size() - 2048));
            start.wave.row(0)[l] = static_cast<uint32_t>(first);
            start.wave.row(1)[l] = static_cast<uint32_t>(first >> 32);
        }
        want.copy_from(start);
        run.copy_from(start);
        const uint64_t exec = round & 8 ? start.wave.exec() : ~0ull;
        for (uint32_t l = 0; l < 64; ++l) {
            if (!(exec >> l & 1)) continue;
            uint64_t p = want.wave.row(0)[l] | uint64_t{want.wave.row(1)[l]} << 32;
            for (uint32_t i = 0; i < iterations; ++i, p += static_cast<uint64_t>(int64_t{step}))
                want.wave.row(2)[l] ^= *reinterpret_cast<uint32_t*>((base ? at : 0) + p);
            want.wave.row(0)[l] = static_cast<uint32_t>(p);
        }
        want.wave.sgpr[0] = 0;
        run.wave.pc = 0x1000;
        ASSERT_EQ(rig.engine->run(run.wave), machine::ExitKind::EndProgram);
        ASSERT_TRUE(same(run, want)) << round;
    }
}

// What lanes that walk by an element come to next is read ahead, but not from pages where none of
// them is yet.
TEST_P(MemoryPaths, LanesThatWalkToTheEndsOfPages) {
    constexpr uint32_t page = 4096, pages = 4;
    auto* const map = static_cast<uint8_t*>(
        mmap(nullptr, (pages + 1) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(map, MAP_FAILED);
    mprotect(map, pages * page, PROT_READ | PROT_WRITE);
    Rng rng(34);
    for (uint32_t i = 0; i < pages * page; ++i) map[i] = static_cast<uint8_t>(rng());
    struct Kind {
        Access access;
        uint32_t dwords, bytes;
    };
    constexpr Kind kinds[] = {{Access::Dwords, 1, 4}, {Access::Dwords, 1, 4},
                              {Access::Dwords, 2, 8}, {Access::Dwords, 4, 16},
                              {Access::U8, 1, 1},     {Access::S8, 1, 1},
                              {Access::U16, 1, 2},    {Access::S16, 1, 2}};
    for (int round = 0; round < 480; ++round) {
        const Kind kind = kinds[rng() % std::size(kinds)];
        const bool wide = rng() % 2;
        Builder b;
        const Value base = b.op(Op::GetS64, {}, 4);
        const Value t = b.op(wide ? Op::LoadGlobalS64 : Op::LoadGlobalS,
                             {base, wide ? b.pair(0) : b.v(0), b.full()}, 0,
                             ir::make_aux(kind.access, kind.dwords));
        for (uint32_t d = 0; d < kind.dwords; ++d)
            b.op(Op::SetV,
                 {b.op(Op::Add32, {b.op(Op::Shl32, {b.v(2 + d), b.op(Op::Splat32, {b.c32(1)})}),
                                   b.op(Op::Elem, {t}, d)}),
                  b.full()},
                 2 + d);
        b.op(Op::SetV,
             {b.op(Op::Add32, {b.v(0), b.op(Op::Splat32, {b.c32(kind.bytes)})}), b.full()}, 0);
        b.repeat_s0_times(0x3000);
        ASSERT_EQ(ir::verify(b.block), "");
        Rig rig(GetParam(), {.loop_chunks = static_cast<uint32_t>(round % 3) * 2});
        rig.source->blocks[0x1000] = b.block;
        rig.source->blocks[0x3000] = end_block(0x3000);
        State start, want, run;
        randomise(start, rng);
        // Rows one behind the other, or anywhere; at the end of the last page, or of one before it.
        const auto iterations = 1 + static_cast<uint32_t>(rng() % 60);
        const uint32_t row = kind.bytes * (iterations + static_cast<uint32_t>(rng() % 4)),
                       length = kind.bytes * iterations;
        const bool in_order = round % 4 != 0;
        start.wave.sgpr[0] = iterations;
        start.wave.set_s64(4, reinterpret_cast<uint64_t>(map));
        for (uint32_t l = 0; l < 64; ++l) {
            const uint32_t end =
                round % 2 ? pages * page : (1 + static_cast<uint32_t>(rng() % pages)) * page;
            start.wave.row(0)[l] =
                in_order ? pages * page - (64 - l) * std::min(row, pages * page / 64)
                         : end - length - kind.bytes * static_cast<uint32_t>(rng() % 12);
            if (in_order && start.wave.row(0)[l] + length > pages * page)
                start.wave.row(0)[l] = pages * page - length;
            start.wave.row(1)[l] = 0;
        }
        want.copy_from(start);
        run.copy_from(start);
        for (uint32_t l = 0; l < 64; ++l) {
            for (uint32_t i = 0; i < iterations; ++i) {
                const uint8_t* const at = map + want.wave.row(0)[l] + kind.bytes * i;
                uint32_t x[4] = {};
                std::memcpy(x, at, kind.bytes);
                if (kind.access == Access::S8)
                    x[0] = static_cast<uint32_t>(static_cast<int8_t>(x[0]));
                if (kind.access == Access::S16)
                    x[0] = static_cast<uint32_t>(static_cast<int16_t>(x[0]));
                for (uint32_t d = 0; d < kind.dwords; ++d)
                    want.wave.row(2 + d)[l] = 2 * want.wave.row(2 + d)[l] + x[d];
            }
            want.wave.row(0)[l] += length;
        }
        want.wave.sgpr[0] = 0;
        run.wave.pc = 0x1000;
        ASSERT_EQ(rig.engine->run(run.wave), machine::ExitKind::EndProgram) << round;
        ASSERT_TRUE(same(run, want)) << round;
    }
    munmap(map, (pages + 1) * page);
}

WJ_JIT_TESTS(MemoryPaths);

}  // namespace
}  // namespace wj::jit_test
