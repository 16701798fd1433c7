// Loops with stores whose lanes go along rows (backend_x64/row_loop.h): rows that overlap or do
// not, of one array or several, up and down, next to memory that is not there. The model runs all
// lanes in each iteration.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "backend_x64/row_loop.h"
#include "backend_x64/thread_state.h"
#include "memory/address_space.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

// Behind it there is nothing.
class Memory {
public:
    static constexpr size_t bytes = 1 << 18, page = 4096;

    Memory() {
        void* const map =
            mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) return;
        begin = static_cast<uint8_t*>(map);
        mprotect(begin + bytes, page, PROT_NONE);
    }
    ~Memory() {
        if (begin) munmap(begin, bytes + page);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    uint64_t address() const { return reinterpret_cast<uint64_t>(begin); }
    void fill(Rng& rng) {
        for (size_t i = 0; i < bytes; i += 8) {
            const uint64_t x = rng();
            std::memcpy(begin + i, &x, 8);
        }
    }
    uint8_t* begin = nullptr;
};

class RowLoopTest : public JitTest {
protected:
    static constexpr uint32_t origin = 22, first_scalar = 40, sums = 30, sum_count = 3;

    // One pointer: accesses at constants from where each lane is.
    struct Pointer {
        int64_t at, apart, step;      // bytes: lane 0 in the first iteration, lanes, iterations
        int64_t least = 0, most = 0;  // of its accesses
        // What moves: a row of 32 bits, from `origin`; a pair of rows; a scalar base of 64 bits, of
        // 32 bits with a sign, or without; an index of a scalar with a sign that is added to a
        // pair.
        enum Kind { Index, Pair, Base, SignedBase, UnsignedBase, Sum } kind = Pair;
        uint32_t row = 0, scalar = 0;
    };

    struct Loop {
        Builder b{};
        Rng& rng;
        State& start;
        uint64_t memory;
        uint32_t iterations;
        bool some = false;  // lanes are off
        bool tame = false;  // as sensible programs are: no array comes near another one
        Value mask = ir::no_value;
        std::vector<Pointer> pointers{};
        std::vector<Value> values{};
        uint32_t row = 0;

        int64_t any(std::initializer_list<int64_t> list) {
            return list.begin()[rng() % list.size()];
        }
        Value value() { return values[rng() % values.size()]; }

        void compute() {
            static constexpr Op ops[] = {Op::Add32, Op::Xor32, Op::Mul32, Op::Sub32};
            values.push_back(b.op(ops[rng() % 4], {value(), value()}));
        }

        // Rows, mostly as long as the loop, and mostly far enough from each other.
        void add_pointer() {
            Pointer p;
            const bool again = !pointers.empty() && rng() % (tame ? 4 : 2) == 0;
            p.step = any({4, 4, 4, 4, -4, 8, 8, -8, 12, 16, 32, 64, 0, 256, 1024, 6, 1});
            const int64_t length = iterations * std::abs(p.step);
            p.apart =
                any({length, length, length + 4, length + 60, 1024, -length, 4, 0, length - 4});
            p.at = static_cast<int64_t>(rng() % 1024) * any({4, 4, 4, 1});
            if (tame) {
                p.step = any({4,  4,  4,  4,  4,   4,   4,   -4, -4, 8,  8, -8,
                              12, 16, 64, 64, 128, 256, 256, 1,  1,  -1, 2, 3});
                p.apart =
                    p.step >= 64 ? any({0, 4, 4}) : iterations * std::abs(p.step) + any({0, 0, 64});
                p.at = static_cast<int64_t>(pointers.size() << 16) + any({0, 4, 60, 400});
            }
            if (again) {  // the same rows, or others between them
                p = pointers[rng() % pointers.size()];
                p.at += tame && rng() % 2 ? any({0, 4, 8})
                                          : any({0, 0, 4, -4, 8, -8, 64, -64, p.apart, 1 << 16});
                if (rng() % 8 == 0) p.step = rng() % 2 ? -p.step : 2 * p.step;
                if (rng() % 8 == 0) p.apart += any({4, -4, 64});
                if (rng() % 8 == 0)  // another array, next to it or nearly
                    p.at += any({64, -64}) * p.apart + any({0, 4, -4, 64, -64});
                p.least = p.most = 0;
            }
            static constexpr Pointer::Kind kinds[] = {
                Pointer::Pair, Pointer::Pair,       Pointer::Pair,         Pointer::Index,
                Pointer::Base, Pointer::SignedBase, Pointer::UnsignedBase, Pointer::Sum};
            p.kind = kinds[rng() % std::size(kinds)];
            if (p.step % 4 && p.kind >= Pointer::SignedBase) p.kind = Pointer::Pair;
            if (p.step < 0 && p.kind == Pointer::UnsignedBase) p.kind = Pointer::SignedBase;
            pointers.push_back(p);
        }

        // Scalar base (or no_value) and lanes.
        std::pair<Value, Value> address(const Pointer& p) {
            const auto scalar = [&] { return b.op(Op::GetS32, {}, p.scalar); };
            switch (p.kind) {
                case Pointer::Index:
                    return {b.op(Op::GetS64, {}, origin), b.v(p.row)};
                case Pointer::Pair:
                    return {ir::no_value, b.pair(p.row)};
                case Pointer::Base:
                    return {b.op(Op::UPack64, {scalar(), b.op(Op::GetS32, {}, p.scalar + 1)}),
                            b.pair(p.row)};
                case Pointer::SignedBase:
                case Pointer::UnsignedBase: {
                    const bool sign = p.kind == Pointer::SignedBase;
                    const Value wide = b.op(sign ? Op::USext32 : Op::UZext32, {scalar()});
                    return {b.op(Op::UShl64, {wide, b.c32(2)}), b.pair(p.row)};
                }
                case Pointer::Sum: {
                    const Value s = scalar(), low = b.op(Op::Splat32, {s}),
                                high = b.op(Op::Splat32, {b.op(Op::USar32, {s, b.c32(31)})});
                    const Value lo = b.op(Op::Add32, {low, b.v(p.row)});
                    const Value hi =
                        b.op(Op::AddCarry32, {high, b.v(p.row + 1), b.op(Op::CmpLtU32, {lo, low})});
                    const Value up = b.op(Op::Splat32, {b.c32(2)}),
                                down = b.op(Op::Splat32, {b.c32(30)});
                    return {ir::no_value, b.op(Op::Pack64, {b.op(Op::Shl32, {lo, up}),
                                                            b.op(Op::Fshr32, {hi, lo, down})})};
                }
            }
            return {};
        }

        void access(Pointer& p, bool store) {
            const bool short_step = p.step && std::abs(p.step) < 4;
            if (tame && short_step && store)
                return access(pointers[rng() % pointers.size()], rng() % 4 != 0);
            if (!store && (tame && short_step ? rng() % 8 : rng() % 6 == 0)) return load_narrow(p);
            uint32_t dwords = static_cast<uint32_t>(any({1, 1, 1, 1, 2, 3, 4}));
            int64_t imm = rng() % 2 ? 0 : any({4, 8, -4, 16, 2, 48, 100});
            if (tame && std::abs(p.step) <= 16 && std::abs(p.step) >= 4 && rng() % 8) {
                // within the step
                dwords = 1 + static_cast<uint32_t>(rng()) % (std::abs(p.step) / 4);
                imm = 4 * static_cast<int64_t>(rng() % (std::abs(p.step) / 4 - dwords + 1));
            }
            const uint32_t aux = ir::make_aux(ir::Access::Dwords, dwords);
            p.least = std::min(p.least, imm);
            p.most = std::max(p.most, imm + 4 * dwords);
            if (store) {
                std::array<Value, 4> data;
                for (Value& d : data) d = value();
                const Value v = emit(p, address(p), imm, aux, Op::StoreGlobal, Op::StoreGlobalS,
                                     Op::StoreGlobalS64);
                std::copy_n(data.begin(), dwords, b.block.insts[v].args.begin() + 4);
                return;
            }
            const Value v =
                emit(p, address(p), imm, aux, Op::LoadGlobal, Op::LoadGlobalS, Op::LoadGlobalS64);
            for (uint32_t d = 0; d < dwords; ++d) values.push_back(b.op(Op::Elem, {v}, d));
        }

        Value emit(const Pointer& p, std::pair<Value, Value> address, int64_t imm, uint32_t aux,
                   Op plain, Op of_index, Op of_base) {
            const auto [base, at] = address;
            const auto n = static_cast<uint64_t>(imm);
            if (base == ir::no_value) return b.op(plain, {at, mask}, n, aux);
            return b.op(p.kind == Pointer::Index ? of_index : of_base, {base, at, mask}, n, aux);
        }

        // Bytes or words.
        void load_narrow(Pointer& p) {
            static constexpr ir::Access kinds[] = {ir::Access::U8, ir::Access::S8, ir::Access::U16,
                                                   ir::Access::S16};
            const ir::Access kind = kinds[rng() % (std::abs(p.step) % 2 && rng() % 2 ? 2 : 4)];
            const auto where = address(p);
            for (uint64_t n = 1 + rng() % 3; n-- > 0;) {
                const int64_t imm = any({0, 0, 1, 2, 3, 5, -1, -3});
                p.least = std::min(p.least, imm);
                p.most = std::max(p.most, imm + 2);
                const Value v = emit(p, where, imm, ir::make_aux(kind, 1), Op::LoadGlobal,
                                     Op::LoadGlobalS, Op::LoadGlobalS64);
                values.push_back(b.op(Op::Elem, {v}));
            }
        }

        void move(const Pointer& p) {
            const Value full = mask;
            if (p.kind == Pointer::Base) {
                const Value step = b.c32(static_cast<uint32_t>(p.step)),
                            low = b.op(Op::GetS32, {}, p.scalar);
                const Value sum = b.op(Op::UAdd32, {low, step});
                const Value carry = b.op(Op::UCmpLtU32, {sum, rng() % 2 ? low : step});
                Value high = b.op(Op::GetS32, {}, p.scalar + 1);
                if (p.step < 0) high = b.op(Op::UAdd32, {high, b.c32(~0u)});
                b.op(Op::SetS32, {sum}, p.scalar);
                b.op(Op::SetS32, {b.op(Op::UAdd32, {high, carry})}, p.scalar + 1);
                return;
            }
            if (p.kind >= Pointer::SignedBase) {
                const Value step = b.c32(static_cast<uint32_t>(p.step / 4));
                b.op(Op::SetS32, {b.op(Op::UAdd32, {b.op(Op::GetS32, {}, p.scalar), step})},
                     p.scalar);
                return;
            }
            const Value by = b.op(Op::Splat32, {b.c32(static_cast<uint32_t>(p.step))});
            if (p.kind == Pointer::Index) {
                b.op(Op::SetV, {b.op(Op::Add32, {b.v(p.row), by}), full}, p.row);
                return;
            }
            const Value lo = b.v(p.row), hi = b.v(p.row + 1), sum = b.op(Op::Add32, {by, lo});
            const Value upper = b.op(Op::Splat32, {b.c32(p.step < 0 ? ~0u : 0)});
            const Value high = b.op(Op::AddCarry32, {upper, hi, b.op(Op::CmpLtU32, {sum, by})});
            b.op(Op::SetV, {sum, full}, p.row);
            b.op(Op::SetV, {high, full}, p.row + 1);
        }

        // False: it does not fit the memory.
        bool make() {
            some = rng() % 3 == 0;
            mask = some ? b.exec() : b.full();
            for (uint32_t n = 0; n < sum_count; ++n) values.push_back(b.v(sums + n));
            for (uint64_t n = 1 + rng() % 4; n-- > 0;) add_pointer();
            for (Pointer& p : pointers) {
                p.row = row, p.scalar = first_scalar + row;
                row += 2;
            }
            std::vector<uint32_t> moved;
            for (uint64_t n = 1 + rng() % 5; n-- > 0;) {
                access(pointers[rng() % pointers.size()], rng() % 2);
                if (rng() % 2) compute();
            }
            if (rng() % 8) access(pointers[rng() % pointers.size()], true);
            if (rng() % 8 == 0) {
                const Value v =
                    b.op(Op::LoadLds,
                         {b.op(Op::And32, {value(), b.op(Op::Splat32, {b.c32(0xffc)})}), b.full()},
                         0, ir::make_aux(ir::Access::Dwords, 1));
                values.push_back(b.op(Op::Elem, {v}));
            }
            for (const Pointer& p : pointers) move(p);
            compute();
            for (uint32_t n = 0; n < sum_count; ++n)
                if (rng() % 2) b.op(Op::SetV, {value(), mask}, sums + n);
            if (rng() % 4 == 0)
                b.op(Op::SetS64,
                     {b.op(Op::BitsOf,
                           {b.op(Op::MaskAnd, {b.op(Op::CmpLtU32, {value(), value()}), mask})})},
                     10);
            b.block.guest_count = 1 + static_cast<uint32_t>(rng() % 5);
            b.repeat_s0_times(0x3000);
            if (rng() % 3 == 0) {  // a counter that nobody foresees
                const Value n = b.op(Op::GetS32, {}, 2);
                b.block.insts[b.block.term.cond].op = Op::UCmpNe32;
                b.op(Op::SetS32, {b.op(Op::UMul32, {n, b.c32(3)})}, 2);
            }
            return place();
        }

        void put(const Pointer& p, int64_t by) {
            // What the scalars begin with: small, or such that they may not be extended for long.
            constexpr int64_t far = 20000;
            uint64_t scalar = static_cast<uint64_t>(any({0, 1, 100, 1 << 20}));
            if (p.kind == Pointer::SignedBase || p.kind == Pointer::Sum)
                scalar = static_cast<uint64_t>(any({0, 0, -1, -10, 5, -100, 1 << 20, (1 << 30) - 5,
                                                    INT32_MAX - far, INT32_MIN + far}));
            if (p.kind == Pointer::UnsignedBase)
                scalar = static_cast<uint64_t>(
                    any({0, 1, 7, 100, INT64_C(1) << 31, UINT32_MAX - far, 5}));
            if (p.kind == Pointer::Base)
                scalar = static_cast<uint64_t>(any({0, 0x1fffffff0, 0xfffffff0, 0x123456789}));
            start.wave.sgpr[p.scalar] = static_cast<uint32_t>(scalar);
            if (p.kind == Pointer::Base)
                start.wave.sgpr[p.scalar + 1] = static_cast<uint32_t>(scalar >> 32);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                uint64_t at = static_cast<uint64_t>(p.at + by + l * p.apart);
                at += p.kind == Pointer::Index ? uint64_t{1} << 20 : memory;
                if (p.kind == Pointer::Base) at -= scalar;
                if (p.kind == Pointer::SignedBase || p.kind == Pointer::UnsignedBase)
                    at -= 4 * scalar;
                if (p.kind == Pointer::Sum)
                    at = static_cast<uint64_t>(static_cast<int64_t>(at) >> 2) - scalar;
                if (!(start.wave.exec() >> l & 1)) at = rng();
                start.wave.row(p.row)[l] = static_cast<uint32_t>(at);
                if (p.kind != Pointer::Index)
                    start.wave.row(p.row + 1)[l] = static_cast<uint32_t>(at >> 32);
            }
        }

        // Moves all pointers to where the memory is, most often so that the last element is its
        // last one.
        bool place() {
            int64_t least = INT64_MAX, most = INT64_MIN;
            for (const Pointer& p : pointers)
                for (const int64_t lane : {0, 63})
                    for (const int64_t i : {int64_t{0}, int64_t{iterations} - 1}) {
                        const int64_t at = p.at + lane * p.apart + i * p.step;
                        least = std::min(least, at + p.least);
                        most = std::max(most, at + p.most);
                    }
            least -= 4;  // what shifts round
            if (most - least > static_cast<int64_t>(Memory::bytes)) return false;
            const int64_t spare = static_cast<int64_t>(Memory::bytes) - (most - least);
            const int64_t by =
                (rng() % 4 ? spare
                           : static_cast<int64_t>(rng() % static_cast<uint64_t>(spare + 1))) -
                least;
            // An index of 32 bits is without sign.
            start.wave.set_s64(origin, memory - (uint64_t{1} << 20));
            uint64_t on = ~0ull;
            if (some) do
                    on = rng() % 2 ? ~0ull >> rng() % 64 : random_mask(rng);
                while (!on);
            start.wave.set_s64(machine::exec_lo, on);
            for (const Pointer& p : pointers) put(p, by);
            start.wave.sgpr[0] = iterations;
            return true;
        }
    };

    static bool is_row_loop(const ir::Block& block, x64::Isa isa) {
        x64::Schedule schedule;
        const bool wide = isa == x64::Isa::Avx512;
        if (!schedule.build(block, wide, {.direct = true, .any_order = true}) ||
            schedule.segments() != 3)
            return false;
        const x64::Walks walks = x64::find_walks(block, schedule, {}, true);
        return x64::find_row_loop(block, schedule, walks, wide ? 64 : 32).has_value();
    }
};

TEST_P(RowLoopTest, RandomLoops) {
    Memory memory;
    ASSERT_TRUE(memory.begin);
    memory::AddressSpace space;
    ASSERT_TRUE(space.map(memory.address(), memory.begin, Memory::bytes,
                          memory::readable | memory::writable, "rows"));
    const int rounds = wanted_rounds(2000);
    int candidates = 0, accepted = 0;
    std::vector<uint8_t> before(Memory::bytes), model_memory(Memory::bytes);
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Rng rng(static_cast<uint64_t>(round) + 1);
        State start, model, run;
        randomise(start, rng);
        const bool tame = rng() % 8 != 0;
        Loop loop{.rng = rng,
                  .start = start,
                  .memory = memory.address(),
                  .iterations = static_cast<uint32_t>(
                      tame && rng() % 8 ? 8 + rng() % 50 : 1 + rng() % 8 * (rng() % 9)),
                  .tame = tame};
        if (!loop.make()) continue;
        const ir::Block& block = loop.b.block;
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        memory.fill(rng);
        std::memcpy(before.data(), memory.begin, Memory::bytes);
        const int64_t instructions = run_model(block, start, model);
        std::memcpy(model_memory.data(), memory.begin, Memory::bytes);
        std::memcpy(memory.begin, before.data(), Memory::bytes);

        // What a refused loop waits for is in the thread's frame.
        uint8_t& wait = x64::this_thread_state().frame.rows_wait[block.pc / 4 % 64];
        wait = 0;
        Rig rig(GetParam());
        rig.source->blocks[block.pc] = block;
        rig.source->blocks[0x3000] = end_block(0x3000);
        if (rng() % 2) run.context.memory = &space;  // else nobody knows what can be written
        run_slices(rig, block, start, round % 3 ? 1000 : 40, 400, instructions, run);
        if (HasFatalFailure()) return;
        ASSERT_TRUE(same(run, model)) << ir::print(block);
        for (size_t at = 0; at < Memory::bytes; ++at)
            ASSERT_EQ(memory.begin[at], model_memory[at]) << at << '\n' << ir::print(block);
        if (!is_row_loop(block, GetParam())) continue;
        ++candidates;
        accepted += wait == 0;
    }
    EXPECT_GT(candidates, rounds / 5);
    EXPECT_GT(accepted, rounds / 20);
}

// A row that ends too early, in the middle of what is read or stored at once.
TEST_P(RowLoopTest, Fault) {
    Memory memory;
    ASSERT_TRUE(memory.begin);
    for (const bool stored : {false, true})
        for (const uint32_t missing : {1u, 5u, 21u}) {
            SCOPED_TRACE(missing);
            Rng rng(missing);
            State s;
            randomise(s, rng);
            Builder b;
            const uint32_t aux = ir::make_aux(ir::Access::Dwords, 1);
            const Value full = b.full(), step = b.op(Op::Splat32, {b.c32(4)});
            const Value x = b.op(Op::Elem, {b.op(Op::LoadGlobal, {b.pair(0), full}, 0, aux)});
            b.op(Op::StoreGlobal, {b.pair(2), full}, 0, aux, {b.op(Op::Add32, {x, b.v(4)})});
            for (const uint32_t row : {0u, 2u}) {
                const Value lo = b.v(row), sum = b.op(Op::Add32, {step, lo});
                b.set(row, sum);
                b.set(row + 1, b.op(Op::AddCarry32, {b.op(Op::Splat32, {b.c32(0)}), b.v(row + 1),
                                                     b.op(Op::CmpLtU32, {sum, step})}));
            }
            b.set(4, x);
            b.repeat_s0_times(0x3000);
            ASSERT_TRUE(is_row_loop(b.block, GetParam()));
            constexpr uint32_t iterations = 40;
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                // The last lane of one of both has fewer elements.
                const uint64_t end = memory.address() + Memory::bytes;
                uint64_t at[] = {memory.address() + l * 256, memory.address() + l * 256};
                at[stored] = end - 4 * (iterations - missing) - (63 - l) * 256;
                for (uint32_t n = 0; n < 2; ++n) {
                    s.wave.row(2 * n)[l] = static_cast<uint32_t>(at[n]);
                    s.wave.row(2 * n + 1)[l] = static_cast<uint32_t>(at[n] >> 32);
                }
            }
            s.wave.sgpr[0] = iterations;
            s.wave.set_s64(machine::exec_lo, ~0ull);
            s.wave.pc = b.block.pc;
            s.wave.budget = 1000;
            uint8_t& wait = x64::this_thread_state().frame.rows_wait[b.block.pc / 4 % 64];
            wait = 0;
            Rig rig(GetParam());
            rig.source->blocks[b.block.pc] = b.block;
            rig.engine->run(s.wave);
            EXPECT_EQ(wait, 0);  // it was one
            ASSERT_EQ(s.wave.exit.kind, machine::ExitKind::MemoryFault);
            EXPECT_EQ(s.wave.exit.pc, b.block.pc);
            EXPECT_EQ(s.wave.exit.address, memory.address() + Memory::bytes);
            EXPECT_EQ(s.wave.exit.access, stored ? machine::Access::Write : machine::Access::Read);
            EXPECT_TRUE(s.wave.exit.lane_mask >> 63) << hex(s.wave.exit.lane_mask);
        }
}

// Indices that leave what 32 bits hold in the middle of the loop: 16 GiB away the same rows go on.
TEST_P(RowLoopTest, IndexWraps) {
    constexpr size_t bytes = 1 << 16;
    constexpr uint64_t leap = uint64_t{1} << 34;
    void* const map = mmap(nullptr, leap + 2 * bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(map, MAP_FAILED);
    uint8_t *const low = static_cast<uint8_t*>(map), *const high = low + leap;
    for (uint8_t* const part : {low, high})
        ASSERT_EQ(mprotect(part, 2 * bytes, PROT_READ | PROT_WRITE), 0);
    for (const auto kind : {Pointer::SignedBase, Pointer::UnsignedBase, Pointer::Sum}) {
        SCOPED_TRACE(kind);
        for (const uint32_t before : {0u, 3u, 20u, 39u}) {
            Rng rng(before);
            State start, model, run;
            randomise(start, rng);
            Loop loop{.rng = rng, .start = start, .memory = 0, .iterations = 40, .tame = true};
            loop.mask = loop.b.full();
            loop.values.push_back(loop.b.v(sums));
            loop.values.push_back(loop.b.v(sums + 1));
            loop.compute();
            Pointer p{.at = 0, .apart = 256, .step = 4, .kind = kind, .row = 0, .scalar = 40};
            const auto [base, at] = loop.address(p);
            const Value full = loop.b.full();
            const uint32_t aux = ir::make_aux(ir::Access::Dwords, 1);
            const Value store = base == ir::no_value
                                    ? loop.b.op(Op::StoreGlobal, {at, full}, 0, aux)
                                    : loop.b.op(Op::StoreGlobalS64, {base, at, full}, 0, aux);
            loop.b.block.insts[store].args[4] = loop.values[2];
            loop.move(p);
            loop.b.set(sums, loop.values[2]);
            loop.b.block.guest_count = 2;
            loop.b.repeat_s0_times(0x3000);
            // The element in front of the leap is the last one of `high`'s first half.
            const bool sign = kind != Pointer::UnsignedBase;
            const uint64_t last = sign ? INT32_MAX : UINT32_MAX;
            start.wave.sgpr[40] = static_cast<uint32_t>(last - before);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                uint64_t at = reinterpret_cast<uint64_t>(high) + bytes / 2 + l * 512 - 4 * last;
                if (kind == Pointer::Sum) at = static_cast<uint64_t>(static_cast<int64_t>(at) >> 2);
                start.wave.row(0)[l] = static_cast<uint32_t>(at);
                start.wave.row(1)[l] = static_cast<uint32_t>(at >> 32);
            }
            start.wave.sgpr[0] = loop.iterations;
            start.wave.set_s64(machine::exec_lo, ~0ull);
            const ir::Block& block = loop.b.block;
            ASSERT_EQ(ir::verify(block), "");
            ASSERT_TRUE(is_row_loop(block, GetParam())) << ir::print(block);
            x64::this_thread_state().frame.rows_wait[block.pc / 4 % 64] = 0;
            std::vector<uint8_t> wanted[2];
            Rig rig(GetParam());
            rig.source->blocks[block.pc] = block;
            rig.source->blocks[0x3000] = end_block(0x3000);
            std::memset(low, 1, 2 * bytes);
            std::memset(high, 1, 2 * bytes);
            const int64_t instructions = run_model(block, start, model);
            for (int n = 0; n < 2; ++n)
                wanted[n].assign(n ? high : low, (n ? high : low) + 2 * bytes);
            std::memset(low, 1, 2 * bytes);
            std::memset(high, 1, 2 * bytes);
            run_slices(rig, block, start, 1000, 1, instructions, run);
            if (HasFatalFailure()) return;
            for (int n = 0; n < 2; ++n)
                ASSERT_EQ(std::memcmp(n ? high : low, wanted[n].data(), 2 * bytes), 0) << before;
        }
    }
    munmap(map, leap + 2 * bytes);
}

// What a row's iterations touch lies in front of where they begin, if they go down.
TEST(RowOrderTest, RowsDownwards) {
    State s;
    s.wave.set_s64(machine::exec_lo, ~0ull);
    x64::Frame& frame = x64::this_thread_state().frame;
    x64::RowOrder order;
    order.most = 1000;
    order.lanes = ~0ull;
    order.walk_count = order.access_count = 2;
    order.walks[0] = {.step = -4, .window = true, .bytes = 4, .patterns = 0};
    order.walks[1] = {.step = 4, .window = true, .bytes = 4, .patterns = 0};
    order.accesses[0] = {.begin = 0, .bytes = 4, .walk = 0, .store = true};
    order.accesses[1] = {.begin = 0, .bytes = 4, .walk = 1, .store = false};
    // The first lane stores to 99,748 to 100,003 in 64 iterations: then it meets the one before.
    for (const auto& [loads, iterations] : {std::pair{99000u, 64u}, {99700u, 0u}}) {
        for (uint32_t l = 0; l < machine::lanes; ++l) {
            frame.row_lanes[0][l] = 100000 + 256 * l;
            frame.row_lanes[1][l] = loads;
        }
        EXPECT_EQ(x64::rows_in_any_order(s.wave, frame, order).iterations, iterations) << loads;
    }
}

WJ_JIT_TESTS(RowLoopTest);

}  // namespace
}  // namespace wj::jit_test
