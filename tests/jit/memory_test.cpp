// Lane loads and stores in every space: address patterns, element kinds, partial masks, ordering,
// faults.
#include <sys/mman.h>

#include <functional>

#include "ir/known.h"
#include "tests/jit/guarded_page.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using ir::Access;

class MemoryTest : public JitTest {
protected:
    struct Buffer {
        std::vector<uint8_t> bytes = std::vector<uint8_t>(buffer_bytes);
        uint64_t middle() { return reinterpret_cast<uint64_t>(bytes.data()) + buffer_bytes / 2; }
    };

    // Lane addresses relative to a base, by pattern.
    static uint32_t offset(uint32_t pattern, uint32_t lane, uint32_t bytes, Rng& rng) {
        switch (pattern) {
            case 0:
                return lane * bytes;  // consecutive
            case 1:
                return 64;  // equal
            case 2:
                return lane * 4 * bytes;  // strided
            case 3:
                return (63 - lane) * bytes;  // reversed
            case 4:
                return (lane ^ 5) * bytes + 4;  // permuted
            case 5:
                return static_cast<uint32_t>(rng() % 1024);  // anything, also unaligned
            case 6:
                return lane / 16 * 256 + lane % 16 * bytes;  // consecutive in chunks
            case 7:
                return lane * 4;  // elements of several dwords overlap
            case 8:
                return lane * 16;  // rows of four dwords
            case 9:
            case 10:
            case 11: {  // columns of a matrix with rows of 8, 16, 32
                const uint32_t width = 8u << (pattern - 9);
                return lane % width * 320 + lane / width * 4;
            }
            case 12:  // not quite
                return lane % 16 * 320 + lane / 16 * 4 + (lane == 37 ? 8 : 0);
            case 13:  // columns that overlap
                return lane % 16 * 8 + lane / 16 * 4;
            case 14:  // words overlap
                return lane + 1;
            case 15:  // colours of three bytes
                return lane * 3;
            case 16:  // near each other, scaled
                return lane / 8 * 200 + lane % 8 / 2 * 4;
            case 17:  // near the first one
                return lane / 8 * 200 + (lane % 8 ? static_cast<uint32_t>(rng() % 8 * 4) : 0);
            case 18:  // almost
                return 64 + lane / 8 * 200 +
                       (lane % 8 == 0   ? 0
                        : lane % 8 == 5 ? static_cast<uint32_t>(rng() % 40) - 4
                                        : static_cast<uint32_t>(rng() % 8 * 4));
            case 19:  // rows of 8 and of 4
                return lane / 8 * 192 + lane % 8 * bytes;
            case 20:
                return lane / 4 * 80 + lane % 4 * bytes;
            case 21:  // of equals
                return lane / 8 * 64;
            case 22:
                return lane / 4 * 16;
            case 23:  // downwards
                return 2048 - lane / 8 * 192 + lane % 8 * bytes;
            case 24:  // almost, the last one a step of its own
                return lane / 4 * 80 + lane % 4 * bytes + (lane == 37 || lane / 4 == 15 ? 4 : 0);
            default:  // upwards
                return 5120 - lane % 16 * 320 + lane / 16 * 4;
        }
    }
    static constexpr uint32_t patterns = 26;

    struct Kind {
        Access access;
        uint32_t dwords;
        bool load, store;
    };
    static constexpr Kind kinds[] = {
        {Access::U8, 1, true, true},       {Access::S8, 1, true, false},
        {Access::U16, 1, true, true},      {Access::S16, 1, true, false},
        {Access::Dwords, 1, true, true},   {Access::Dwords, 2, true, true},
        {Access::Dwords, 3, true, true},   {Access::Dwords, 4, true, true},
        {Access::U8D16Hi, 1, false, true}, {Access::U16D16Hi, 1, false, true}};
    static uint32_t bytes(const Kind& k) { return ir::access_bytes(k.access, k.dwords); }

    // One load or store; the model and the translator use buffers of their own with equal contents.
    void access(Op op, const Kind& kind, uint32_t pattern, bool full, int32_t imm, Rng& rng) {
        const bool store = ir::op_info(op).cls == ir::Class::LaneStore;
        const bool global = op == Op::LoadGlobal || op == Op::StoreGlobal || op == Op::LoadFlat ||
                            op == Op::StoreFlat;
        const bool scalar = ir::has_scalar_base(op);
        Builder b;
        const Value mask = full ? b.full() : b.exec();
        const uint32_t aux = ir::make_aux(kind.access, kind.dwords);
        const auto offset_bits = static_cast<uint64_t>(int64_t{imm});
        std::array<Value, 4> data{ir::no_value, ir::no_value, ir::no_value, ir::no_value};
        if (store)
            for (uint32_t d = 0; d < kind.dwords; ++d) data[d] = b.v(8 + d);
        const bool wide = global || op == Op::LoadGlobalS64 || op == Op::StoreGlobalS64;
        const Value address = wide ? b.pair(0) : b.v(0);
        const Value v = scalar ? b.op(op, {b.op(Op::GetS64, {}, 4), address, mask}, offset_bits,
                                      aux, {data[0], data[1], data[2], data[3]})
                               : b.op(op, {address, mask}, offset_bits, aux,
                                      {data[0], data[1], data[2], data[3]});
        if (!store)
            for (uint32_t d = 0; d < kind.dwords; ++d)
                b.op(Op::SetV, {b.op(Op::Elem, {v}, d), mask}, 16 + d);
        ASSERT_EQ(ir::verify(b.block), "");
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;

        Buffer buffers[2];
        for (uint8_t& x : buffers[0].bytes) x = static_cast<uint8_t>(rng());
        buffers[1].bytes = buffers[0].bytes;
        State states[2];
        randomise(states[0], rng);
        std::array<uint32_t, 64> offsets;
        for (uint32_t l = 0; l < 64; ++l) offsets[l] = offset(pattern, l, bytes(kind), rng);
        states[1].copy_from(states[0]);
        for (int s = 0; s < 2; ++s) {
            machine::Wave& w = states[s].wave;
            for (uint32_t l = 0; l < 64; ++l) {
                const bool active = full || (w.exec() >> l & 1);
                uint64_t at = offsets[l];
                if (global)
                    at += buffers[s].middle();
                else if (scalar)
                    at += 512;
                else if (op == Op::LoadScratch || op == Op::StoreScratch)
                    at = at % (scratch_bytes - 112) + 64 - static_cast<uint32_t>(imm < 0 ? imm : 0);
                else if ((op == Op::LoadLds || op == Op::StoreLds) && imm > 1000)
                    at -= static_cast<uint32_t>(imm);         // below 0, without the constant
                if (!active && l % 3) at = 0x1234567890 * l;  // leftovers
                w.row(0)[l] = static_cast<uint32_t>(at);
                if (wide) w.row(1)[l] = static_cast<uint32_t>(at >> 32);
            }
            w.set_s64(4, buffers[s].middle());
        }
        ir::evaluate(b.block, states[0].wave);
        states[1].context.lane_layout = some_layout(rng);
        rig.engine->run(states[1].wave);
        ASSERT_EQ(states[1].wave.exit.kind, machine::ExitKind::EndProgram);
        for (State& s : states) {
            std::memset(s.wave.row(0), 0, 512);
            s.wave.set_s64(4, 0);
        }
        ASSERT_TRUE(same(states[1], states[0])) << x64::disassemble_block(b.block, GetParam());
        ASSERT_EQ(buffers[1].bytes, buffers[0].bytes)
            << x64::disassemble_block(b.block, GetParam());
    }
};

TEST_P(MemoryTest, PatternsAndKinds) {
    Rng rng(11);
    for (Op op : {Op::LoadGlobal, Op::StoreGlobal, Op::LoadGlobalS, Op::StoreGlobalS,
                  Op::LoadGlobalS64, Op::StoreGlobalS64, Op::LoadFlat, Op::StoreFlat, Op::LoadLds,
                  Op::StoreLds, Op::LoadScratch, Op::StoreScratch})
        for (const Kind& kind : kinds) {
            const bool store = ir::op_info(op).cls == ir::Class::LaneStore;
            if (store ? !kind.store : !kind.load) continue;
            for (uint32_t pattern = 0; pattern < patterns; ++pattern)
                for (int variant = 0; variant < 8; ++variant) {
                    static constexpr int32_t imms[] = {0, 16, 4, 0, 20, 12, 1040, 2000};
                    const bool lds = op == Op::LoadLds || op == Op::StoreLds;
                    if (variant > 5 && !lds) continue;
                    const int32_t imm = op == Op::LoadGlobal || op == Op::StoreGlobal
                                            ? imms[variant] - 8
                                            : imms[variant];
                    SCOPED_TRACE(testing::Message()
                                 << ir::op_info(op).name << " kind "
                                 << static_cast<int>(kind.access) << "x" << kind.dwords
                                 << " pattern " << pattern << " imm " << imm);
                    access(op, kind, pattern, variant < 2 || variant == 7, imm, rng);
                    if (HasFatalFailure()) return;
                }
        }
}

// Bytes and words are gathered in dwords that hold them: at both ends of what is mapped nothing
// else may be touched. Offsets near 2^32, bases that are not aligned.
TEST_P(MemoryTest, NarrowElementsAtTheEndsOfPages) {
    Rng rng(17);
    const PageBetweenHoles memory(rng);
    ASSERT_TRUE(memory.begin);
    constexpr uint32_t page = PageBetweenHoles::bytes;
    uint8_t* const begin = memory.begin;
    for (int round = 0; round < 160; ++round) {
        static constexpr Access accesses[] = {Access::U8, Access::S8, Access::U16, Access::S16};
        const Access access = accesses[round % 4];
        const uint32_t bytes = ir::access_bytes(access, 1);
        const bool scalar = round / 4 % 2, full = round / 8 % 2, at_end = round / 16 % 2,
                   beyond = round / 32 % 2;
        const uint32_t far = !beyond ? 0 : at_end ? 0xffffffff - page : 0xffffffff - 20;
        const uint64_t base = reinterpret_cast<uint64_t>(begin) + rng() % 4 - far;
        Builder b;
        const Value mask = full ? b.full() : b.exec();
        const uint32_t aux = ir::make_aux(access, 1);
        const Value v = scalar
                            ? b.op(Op::LoadGlobalS, {b.op(Op::GetS64, {}, 4), b.v(0), mask}, 0, aux)
                            : b.op(Op::LoadGlobal, {b.pair(0), mask}, 0, aux);
        b.op(Op::SetV, {b.op(Op::Elem, {v}, 0), mask}, 5);
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        State s, want;
        randomise(s, rng);
        s.wave.set_s64(4, base);
        std::array<uint64_t, 64> at;
        for (uint32_t l = 0; l < 64; ++l) {
            const auto near = static_cast<uint32_t>(rng() % (19 - bytes));
            at[l] = reinterpret_cast<uint64_t>(begin) + 3 +
                    (at_end ? page - 3 - bytes - near : near - (near < 3 || scalar ? 0u : 3u));
            const uint64_t offset = scalar ? at[l] - base : at[l];
            s.wave.row(0)[l] = static_cast<uint32_t>(offset);
            s.wave.row(1)[l] = static_cast<uint32_t>(offset >> 32);
        }
        want.copy_from(s);
        for (uint32_t l = 0; l < 64; ++l) {
            if (!full && !(s.wave.exec() >> l & 1)) continue;
            const auto* p = reinterpret_cast<const uint8_t*>(at[l]);
            const uint32_t raw = p[0] | (bytes == 2 ? p[1] << 8 : 0);
            const bool is_signed = access == Access::S8 || access == Access::S16;
            const uint32_t sign = 1u << (8 * bytes - 1);
            want.wave.row(5)[l] = is_signed ? (raw ^ sign) - sign : raw;
        }
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram) << round;
        ASSERT_TRUE(same(s, want)) << round;
    }
}

// Dwords near each other are loaded with their surroundings, but for those on other pages.
TEST_P(MemoryTest, NearElementsAtTheEndsOfPages) {
    Rng rng(18);
    const PageBetweenHoles memory(rng);
    ASSERT_TRUE(memory.begin);
    constexpr uint32_t page = PageBetweenHoles::bytes;
    uint8_t* const begin = memory.begin;
    for (int round = 0; round < 160; ++round) {
        const bool scalar = round % 2, full = round / 2 % 2;
        Builder b;
        const Value mask = full ? b.full() : b.exec();
        const uint32_t aux = ir::make_aux(Access::Dwords, 1);
        const Value v =
            scalar ? b.op(Op::LoadGlobalS64, {b.op(Op::GetS64, {}, 4), b.pair(0), mask}, 0, aux)
                   : b.op(Op::LoadGlobal, {b.pair(0), mask}, 0, aux);
        b.op(Op::SetV, {b.op(Op::Elem, {v}, 0), mask}, 5);
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        State s, want;
        randomise(s, rng);
        s.wave.set_s64(4, reinterpret_cast<uint64_t>(begin) - page);
        want.copy_from(s);
        const uint32_t left = 4 + 4 * static_cast<uint32_t>(rng() % 20);  // to the page's end
        for (uint32_t l = 0; l < 64; ++l) {
            const uint32_t first = l % 8 ? 4 * static_cast<uint32_t>(rng() % (left / 4)) : 0;
            const uint8_t* const at = begin + page - left + first;
            const uint64_t offset = reinterpret_cast<uint64_t>(at) - (scalar ? s.wave.s64(4) : 0);
            const bool on = full || (s.wave.exec() >> l & 1);
            for (State* x : {&s, &want}) {
                x->wave.row(0)[l] = on ? static_cast<uint32_t>(offset) : 1;
                x->wave.row(1)[l] = static_cast<uint32_t>(offset >> 32);
            }
            if (on) std::memcpy(&want.wave.row(5)[l], at, 4);
        }
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram) << round;
        ASSERT_TRUE(same(s, want)) << round;
    }
}

// Tables that lanes choose from are loaded as a whole where they lie on one page; near its end only
// what lanes ask for is there.
TEST_P(MemoryTest, TablesAtTheEndsOfPages) {
    Rng rng(19);
    const PageBetweenHoles memory(rng);
    ASSERT_TRUE(memory.begin);
    constexpr uint32_t page = PageBetweenHoles::bytes;
    constexpr uint32_t masks[] = {0x07, 0x0f, 0x1f, 0x3f, 0x55, 0x7f, 0xaa, 0xff, 0x1ff};
    for (int round = 0; round < 600; ++round) {
        const Access access = std::array{Access::U8, Access::S8, Access::Dwords}[rng() % 3];
        const uint32_t bytes = access == Access::Dwords ? 4 : 1;
        const uint32_t bits = masks[rng() % std::size(masks)] & (0u - bytes);
        const bool full = rng() % 2;
        Builder b;
        const Value mask = full ? b.full() : b.exec();
        const auto imm = static_cast<int64_t>(rng() % 3) * 8 - 8;
        const Value offset = b.op(Op::And32, {b.v(0), b.op(Op::Splat32, {b.c32(bits)})});
        const Value v = b.op(Op::LoadGlobalS, {b.op(Op::GetS64, {}, 4), offset, mask},
                             static_cast<uint64_t>(imm), ir::make_aux(access, 1));
        b.op(Op::SetV, {b.op(Op::Elem, {v}, 0), mask}, 5);
        ASSERT_EQ(ir::table_bytes(b.block, access, 1, offset), bits < 256 ? bits + bytes : 0);
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        State s, want;
        randomise(s, rng);
        // How much of the table is on the page, in front of or behind a hole.
        const uint32_t whole = bits + bytes, there = rng() % 2 ? whole : bytes + rng() % whole;
        const bool ends = rng() % 2;
        uint8_t* table = ends ? memory.begin + page - std::min(there, whole) : memory.begin;
        if (!ends && there < whole) table -= (whole - there) & (0u - bytes);
        s.wave.set_s64(4, reinterpret_cast<uint64_t>(table) - static_cast<uint64_t>(imm));
        want.copy_from(s);
        for (uint32_t l = 0; l < 64; ++l) {
            if (!full && !(s.wave.exec() >> l & 1)) continue;
            uint32_t chosen;
            do chosen = static_cast<uint32_t>(rng());
            while (table + (chosen & bits) < memory.begin ||
                   table + (chosen & bits) + bytes > memory.begin + page);
            s.wave.row(0)[l] = want.wave.row(0)[l] = chosen;
            const uint8_t* const at = table + (chosen & bits);
            uint32_t element = *at;
            if (access == Access::S8) element = static_cast<uint32_t>(static_cast<int8_t>(*at));
            if (bytes == 4) std::memcpy(&element, at, 4);
            want.wave.row(5)[l] = element;
        }
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram) << round;
        ASSERT_TRUE(same(s, want)) << round;
    }
}

// LDS lanes out of range read 0 and write nothing, whatever the other lanes do.
TEST_P(MemoryTest, LdsBounds) {
    Rng rng(12);
    for (const Kind& kind : {kinds[0], kinds[2], kinds[4], kinds[5], kinds[7]})
        for (int store = 0; store < 2; ++store)
            for (int shift = 0; shift < 12; ++shift) {
                Builder b;
                const uint32_t aux = ir::make_aux(kind.access, kind.dwords);
                const Value address = b.v(0), mask = b.exec();
                if (store) {
                    std::array<Value, 4> data{ir::no_value, ir::no_value, ir::no_value,
                                              ir::no_value};
                    for (uint32_t d = 0; d < kind.dwords; ++d) data[d] = b.v(8 + d);
                    b.op(Op::StoreLds, {address, mask}, 8, aux,
                         {data[0], data[1], data[2], data[3]});
                } else {
                    const Value v = b.op(Op::LoadLds, {address, mask}, 8, aux);
                    for (uint32_t d = 0; d < kind.dwords; ++d)
                        b.op(Op::SetV, {b.op(Op::Elem, {v}, d), mask}, 16 + d);
                }
                prepare = [&](State& s) {
                    for (uint32_t l = 0; l < 64; ++l) {
                        s.wave.row(0)[l] = lds_bytes - 140 + static_cast<uint32_t>(shift) + l * 4;
                        if (l == 40 && shift > 6) s.wave.row(0)[l] = 0xfffffffc;
                    }
                };
                compare(b.block, rng);
                if (HasFatalFailure()) return;
            }
}

// Accesses that share an address share its test; patterns may differ from chunk to chunk.
TEST_P(MemoryTest, SharedAddresses) {
    Rng rng(16);
    std::vector<uint32_t> buffer(4096);
    for (uint32_t& x : buffer) x = static_cast<uint32_t>(rng());
    for (uint32_t pattern = 0; pattern < patterns + 1; ++pattern)
        for (int variant = 0; variant < 16; ++variant) {
            const bool lds = variant & 1, partial = variant & 2;
            // Addresses may be below 0 if the constants are large enough.
            const uint32_t below = lds && (variant & 8) ? 2048 : 0;
            Builder b;
            const Value mask = partial ? b.exec() : b.full();
            const Value address = b.v(0);
            const uint32_t aux = ir::make_aux(Access::Dwords, 1);
            uint32_t row = 16;
            for (uint64_t imm : {0, 4, 8, 12, 256}) {
                imm += below;
                const Value v =
                    lds ? b.op(Op::LoadLds, {address, mask}, imm, aux)
                        : b.op(Op::LoadGlobalS, {b.op(Op::GetS64, {}, 6), address, mask}, imm, aux);
                b.op(Op::SetV, {b.op(Op::Elem, {v}, 0), mask}, row++);
            }
            if (lds)
                for (uint64_t imm : {0, 16})
                    b.op(Op::StoreLds, {address, mask}, imm + below, aux,
                         {b.v(9), ir::no_value, ir::no_value, ir::no_value});
            prepare = [&](State& s) {
                s.wave.set_s64(6, reinterpret_cast<uint64_t>(buffer.data()));
                const uint32_t first =
                    variant & 4 ? lds_bytes - 1024 - 260 + static_cast<uint32_t>(rng() % 16) * 4
                                : static_cast<uint32_t>(rng() % 16) * 4;
                for (uint32_t l = 0; l < 64; ++l)
                    s.wave.row(0)[l] =
                        first + offset(pattern < patterns ? pattern : l / 16 % 4, l, 4, rng) -
                        below;
            };
            compare(b.block, rng, 2);
            if (HasFatalFailure()) return;
        }
}

// One address for all lanes, known when the block is translated.
TEST_P(MemoryTest, UniformAddresses) {
    Rng rng(15);
    std::vector<uint32_t> buffer(64);
    for (uint32_t& x : buffer) x = static_cast<uint32_t>(rng());
    for (uint32_t dwords = 1; dwords <= 4; ++dwords)
        for (int partial = 0; partial < 2; ++partial)
            for (uint32_t where : {0u, 100u, lds_bytes - 24u, lds_bytes - 20u, lds_bytes - 4u,
                                   0xffffffe0u, 0xfffffff8u}) {
                Builder b;
                const Value mask = partial ? b.exec() : b.full();
                const uint32_t aux = ir::make_aux(Access::Dwords, dwords);
                const Value loads[] = {
                    b.op(Op::LoadLds, {b.op(Op::Splat32, {b.op(Op::GetS32, {}, 4)}), mask},
                         8 | uint64_t{16} << 32, aux),
                    b.op(Op::LoadLds, {b.op(Op::Splat32, {b.c32(where)}), mask}, 4, aux),
                    b.op(Op::LoadGlobalS,
                         {b.op(Op::GetS64, {}, 6), b.op(Op::Splat32, {b.op(Op::GetS32, {}, 5)}),
                          mask},
                         4, aux),
                    b.op(Op::LoadGlobal, {b.op(Op::Splat64, {b.op(Op::GetS64, {}, 6)}), mask}, 12,
                         aux),
                };
                for (uint32_t n = 0; n < 4; ++n)
                    for (uint32_t d = 0; d < dwords; ++d)
                        b.op(Op::SetV, {b.op(Op::Elem, {loads[n]}, d), mask}, 16 + n * 4 + d);
                prepare = [&](State& s) {
                    s.wave.sgpr[4] = where;
                    s.wave.sgpr[5] = 64;
                    s.wave.set_s64(6, reinterpret_cast<uint64_t>(buffer.data()));
                };
                compare(b.block, rng);
                if (HasFatalFailure()) return;
            }
}

// Flat accesses through the apertures, mixed lanes included.
TEST_P(MemoryTest, FlatApertures) {
    Rng rng(13);
    std::vector<uint32_t> buffer(256);
    for (uint32_t mix = 0; mix < 7; ++mix) {
        Builder b;
        const Value address = b.pair(0), mask = b.full();
        const Value v = b.op(Op::LoadFlat, {address, mask}, 0, ir::make_aux(Access::Dwords, 1));
        b.set(16, b.op(Op::Elem, {v}, 0));
        prepare = [&](State& s) {
            for (uint32_t l = 0; l < 64; ++l) {
                uint64_t at = reinterpret_cast<uint64_t>(buffer.data()) + l * 4;
                const uint32_t where = mix < 3 ? mix : mix < 6 ? l / 16 % 3 : l % 3;
                if (where == 1) at = machine::shared_aperture + 64 + l * 4;
                if (where == 2) at = machine::private_aperture + 16 + l % 8 * 4;
                s.wave.row(0)[l] = static_cast<uint32_t>(at);
                s.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
            }
        };
        for (uint32_t& x : buffer) x = static_cast<uint32_t>(rng());
        compare(b.block, rng);
        if (HasFatalFailure()) return;
    }
}

// Wave-synchronous code: what one lane stores, another lane loads in the next instruction.
TEST_P(MemoryTest, StoreThenLoadByOtherLanes) {
    Rng rng(14);
    const uint32_t dword = ir::make_aux(Access::Dwords, 1);
    Builder b;
    const Value mask = b.full();
    const Value id = b.op(Op::LaneId), four = b.op(Op::Splat32, {b.c32(4)});
    const Value mine = b.op(Op::Mul32, {id, four});
    const Value other =
        b.op(Op::Mul32, {b.op(Op::Sub32, {b.op(Op::Splat32, {b.c32(63)}), id}), four});
    Value x = b.v(5);
    for (int step = 0; step < 3; ++step) {
        b.op(Op::StoreLds, {mine, mask}, 0, dword, {x});
        x = b.op(Op::Add32, {x, b.op(Op::Elem, {b.op(Op::LoadLds, {other, mask}, 0, dword)}, 0)});
    }
    // All lanes to one address: the last lane wins.
    b.op(Op::StoreLds, {b.op(Op::Splat32, {b.c32(1024)}), mask}, 0, dword, {x});
    b.op(Op::StoreLds, {b.op(Op::Splat32, {b.c32(1024)}), b.exec()}, 0, dword, {b.v(6)});
    b.set(7, x);
    b.set(5, b.v(6));
    compare(b.block, rng, 5);
}

TEST_P(MemoryTest, FaultNamesPcAndAddress) {
    const size_t page = 4096;
    auto* map = static_cast<uint8_t*>(
        mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(map, MAP_FAILED);
    mprotect(map + page, page, PROT_READ | PROT_WRITE);
    for (int what = 0; what < 4; ++what) {
        SCOPED_TRACE(what);
        Builder b;
        b.next_guest(0x1008);
        const bool store = what & 1;
        const bool scattered = what & 2;
        const Value address = b.pair(0), mask = b.full();
        if (store) {
            b.op(Op::StoreGlobal, {address, mask}, 0, ir::make_aux(Access::Dwords, 1), {b.v(4)});
        } else {
            const Value v =
                b.op(Op::LoadGlobal, {address, mask}, 0, ir::make_aux(Access::Dwords, 1));
            b.set(5, b.op(Op::Elem, {v}, 0));
        }
        b.next_guest(0x100c);
        b.set(6, b.op(Op::Add32, {b.v(6), b.v(7)}));
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        State s;
        for (uint32_t l = 0; l < 64; ++l) {
            const uint64_t at = reinterpret_cast<uint64_t>(map) + 2 * page -
                                (scattered ? 500 : 128) + l * (scattered ? 12 : 4);
            s.wave.row(0)[l] = static_cast<uint32_t>(at);
            s.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
        }
        EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::MemoryFault);
        EXPECT_EQ(s.wave.exit.pc, 0x1008u);
        EXPECT_EQ(s.wave.exit.access, store ? machine::Access::Write : machine::Access::Read);
        EXPECT_EQ(s.wave.exit.address / page, reinterpret_cast<uint64_t>(map) / page + 2);
    }
    munmap(map, 3 * page);
}

// Lines in the LDS, upwards and downwards, that lie across its beginning or its end: what is beyond
// reads 0 and is not written.
TEST_P(MemoryTest, LinesAcrossTheEndsOfTheLds) {
    Rng rng(61);
    for (const int32_t stride : {4, -4, 8, -8, 12, -12, -16, 64, -64})
        for (uint32_t uses = 1; uses <= 2; ++uses)
            for (const bool full : {true, false})
                for (const bool store : {false, true}) {
                    Builder b;
                    const Value mask = full ? b.full() : b.exec();
                    const Value line = b.op(Op::Line32, {b.op(Op::GetS32, {}, 8), b.c32(0)},
                                            static_cast<uint64_t>(int64_t{stride}), 64);
                    for (uint32_t n = 0; n < uses; ++n) {
                        const uint32_t dwords = 1 + static_cast<uint32_t>(rng() % 2),
                                       aux = ir::make_aux(Access::Dwords, dwords),
                                       imm = static_cast<uint32_t>(rng() % 40) * 4;
                        if (store) {
                            b.op(Op::StoreLds, {line, mask}, imm, aux,
                                 {b.v(8 + n), dwords == 2 ? b.v(10 + n) : ir::no_value});
                        } else {
                            const Value x = b.op(Op::LoadLds, {line, mask}, imm, aux);
                            for (uint32_t d = 0; d < dwords; ++d)
                                b.op(Op::SetV, {b.op(Op::Elem, {x}, d), mask}, 16 + 2 * n + d);
                        }
                    }
                    prepare = [&](State& s) {
                        s.wave.lds_size = 512 * (1 + static_cast<uint32_t>(rng() % 4));
                        const int32_t near = static_cast<int32_t>(rng() % 64 * 4) - 128,
                                      end = rng() % 2 ? static_cast<int32_t>(s.wave.lds_size) : 0,
                                      back = stride * static_cast<int32_t>(rng() % 64);
                        s.wave.sgpr[8] = static_cast<uint32_t>(end - back + near);
                    };
                    compare(b.block, rng, wanted_rounds(40));
                    if (HasFatalFailure()) return;
                }
}

// Accesses without a pattern are a stub's until it has been called often; then their block is
// translated anew, once. The loop has two blocks: one that jumps to itself would stay as it is.
TEST_P(MemoryTest, BlocksDoWithoutStubsThatTheyCallOften) {
    Rig rig(GetParam(), {}, false);
    std::vector<uint32_t> memory(4096);
    for (uint32_t i = 0; i < memory.size(); ++i) memory[i] = i * 0x9e3779b1;
    Builder b;  // v16 = lds[v0], v17 = base[v1], lds[v2] = v3
    const Value full = b.full();
    const uint32_t dword = ir::make_aux(Access::Dwords, 1);
    b.op(Op::SetV, {b.op(Op::Elem, {b.op(Op::LoadLds, {b.v(0), full}, 64, dword)}), full}, 16);
    b.op(
        Op::SetV,
        {b.op(Op::Elem, {b.op(Op::LoadGlobalS, {b.op(Op::GetS64, {}, 4), b.v(1), full}, 8, dword)}),
         full},
        17);
    b.op(Op::StoreLds, {b.v(2), full}, 0, dword, {b.v(3), ir::no_value, ir::no_value});
    const Value n = b.op(Op::USub32, {b.op(Op::GetS32, {}, 0), b.c32(1)});
    b.op(Op::SetS32, {n}, 0);
    b.block.exec_changed = false;
    b.block.term = {.kind = ir::Terminator::Kind::Branch,
                    .cond = b.op(Op::UCmpNe32, {n, b.c32(0)}),
                    .target = 0x2000,
                    .next = 0x3000};
    rig.source->blocks[0x1000] = b.block;
    Builder back;
    back.block.pc = 0x2000;
    back.block.term = {.kind = ir::Terminator::Kind::Jump, .target = 0x1000};
    rig.source->blocks[0x2000] = back.block;
    rig.source->blocks[0x3000] = end_block(0x3000);
    Rng rng(5);
    uint32_t asked = 0;
    for (int launch = 0; launch < 4; ++launch) {
        State s;
        randomise(s, rng);
        s.wave.set_s64(machine::exec_lo, ~0ull);
        s.wave.pc = 0x1000;
        s.wave.budget = 1 << 30;
        s.wave.sgpr[0] = 4000;
        s.wave.set_s64(4, reinterpret_cast<uint64_t>(memory.data()));
        std::array<uint32_t, 64> loaded, place, from_lds;
        for (uint32_t l = 0; l < 64; ++l) {
            loaded[l] = static_cast<uint32_t>(rng() % 4000);
            place[l] = 64 + l * 37 % 64;  // each lane's own, beyond what is read
            from_lds[l] = static_cast<uint32_t>(rng() % 40);
            s.wave.row(0)[l] = from_lds[l] * 4;
            s.wave.row(1)[l] = loaded[l] * 4;
            s.wave.row(2)[l] = place[l] * 4;
            s.wave.row(3)[l] = l * 5 + 1;
        }
        std::vector<uint32_t> lds(128);
        std::memcpy(lds.data(), s.wave.lds, 512);
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram);
        for (uint32_t l = 0; l < 64; ++l) {
            ASSERT_EQ(s.wave.row(16)[l], lds[from_lds[l] + 16]) << l;
            ASSERT_EQ(s.wave.row(17)[l], memory[loaded[l] + 2]) << l;
            uint32_t stored = 0;
            std::memcpy(&stored, s.wave.lds + size_t{place[l]} * 4, 4);
            ASSERT_EQ(stored, l * 5 + 1) << l;
        }
        if (launch == 2) asked = rig.source->asked;
    }
    EXPECT_GE(asked, 4u) << "the block was not translated anew";
    EXPECT_LE(asked, 5u);
    EXPECT_EQ(rig.source->asked, asked) << "once is enough";
}

// A stub's fault is its access's: the guest's PC, the chunk's lanes, and a wave that goes on.
TEST_P(MemoryTest, FaultsInStubsNameTheAccess) {
    void* const gap = mmap(nullptr, 3 << 12, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(gap, MAP_FAILED);
    const auto middle = reinterpret_cast<uint64_t>(gap) + (1 << 12);
    ASSERT_EQ(mprotect(reinterpret_cast<void*>(middle), 1 << 12, PROT_READ | PROT_WRITE), 0);
    for (const bool store : {false, true}) {
        Rig rig(GetParam(), {}, false);
        Builder b;
        const uint32_t aux = ir::make_aux(Access::Dwords, 2);
        const Value full = b.full(), base = b.op(Op::GetS64, {}, 4);
        if (store) {
            b.op(Op::StoreGlobalS, {base, b.v(0), full}, 0, aux, {b.v(8), b.v(9)});
        } else {
            const Value v = b.op(Op::LoadGlobalS, {base, b.v(0), full}, 0, aux);
            b.op(Op::SetV, {b.op(Op::Elem, {v}), full}, 16);
        }
        rig.source->blocks[b.block.pc] = b.block;
        State s;
        s.wave.set_s64(machine::exec_lo, ~0ull);
        s.wave.pc = b.block.pc;
        s.wave.budget = 100;
        s.wave.set_s64(4, middle);
        for (uint32_t l = 0; l < 64; ++l) s.wave.row(0)[l] = l * 7 % 64 * 8;
        s.wave.row(0)[37] = 4096 + 8;
        ASSERT_EQ(rig.engine->run(s.wave), machine::ExitKind::MemoryFault);
        const machine::ExitInfo& exit = s.wave.exit;
        EXPECT_EQ(exit.pc, b.block.guest_pcs[0]);
        EXPECT_EQ(exit.address, middle + 4096 + 8);
        EXPECT_EQ(exit.access, store ? machine::Access::Write : machine::Access::Read);
        EXPECT_TRUE(exit.lane_mask >> 37 & 1);
        EXPECT_FALSE(exit.lane_mask & 1);
        EXPECT_EQ(exit.block_begin, b.block.pc);
        s.wave.exit = {};
        s.wave.pc = b.block.pc;
        s.wave.row(0)[37] = 0;
        EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram);
    }
    munmap(gap, 3 << 12);
}

WJ_JIT_TESTS(MemoryTest);

}  // namespace
}  // namespace wj::jit_test
