// Loops whose loads move equally far in each iteration (backend_x64/walks.h), or nearly so: indexes
// that wrap around, lanes that leave, patterns of all kinds. The model looks at every address.
#include <sys/mman.h>

#include "backend_x64/divergent_loop.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using Kind = ir::Terminator::Kind;

// Memory around an origin, wherever 32-bit indexes of elements of up to four bytes lead, signed and
// unsigned. Random where they are likely to.
class Memory {
public:
    static constexpr uint64_t below = (uint64_t{1} << 33) + (1 << 20),
                              above = (uint64_t{1} << 34) + (1 << 20);

    Memory() {
        void* at = mmap(nullptr, below + above, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) return;
        base_ = static_cast<uint8_t*>(at);
        Rng rng(7);
        for (int shift = 0; shift < 3; ++shift)
            for (const int64_t index : {-(int64_t{1} << 31), -(int64_t{1} << 30), int64_t{0},
                                        int64_t{1} << 30, int64_t{1} << 31, int64_t{1} << 32}) {
                uint8_t* const middle = base_ + below + (index << shift);
                for (int64_t i = -(1 << 15); i < 1 << 15; i += 8) {
                    const uint64_t x = rng();
                    std::memcpy(middle + i, &x, 8);
                }
            }
    }
    ~Memory() {
        if (base_) munmap(base_, below + above);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    uint64_t origin() const { return reinterpret_cast<uint64_t>(base_) + below; }
    explicit operator bool() const { return base_; }

private:
    uint8_t* base_ = nullptr;
};

class WalkTest : public JitTest {
protected:
    static constexpr uint32_t origin = 22, moving = 24, steps = 26, left = 38, turn = 39,
                              stepping = 60;  // registers

    // A random loop; fills in what its first iteration finds in the registers.
    struct Loop {
        Builder b;
        Rng& rng;
        State& start;
        uint64_t memory;
        bool divergent;
        bool plain = false;                     // few loads, all of which walk if masks let them
        std::vector<Value> loaded, masks = {};  // and who they were loaded by
        uint64_t width = 64;                    // of rows of lanes
        Value exec = ir::no_value, splat_low = ir::no_value, splat_high = ir::no_value;
        uint32_t row = 2, scalar = steps;
        uint64_t stepped = 0;  // how many bases there are from `stepping` on

        Value splat(Value u) { return b.op(Op::Splat32, {u}); }
        Value constant(uint32_t c) { return splat(b.c32(c)); }
        uint64_t any(std::initializer_list<uint64_t> list) {
            return list.begin()[rng() % list.size()];
        }

        Value carry(Value sum, Value summand) {
            const Value c = b.op(Op::CmpLtU32, {sum, summand});
            return rng() % 2 ? c : b.op(Op::MaskAnd, {c, exec});
        }

        // A step, as a constant or in a scalar register.
        Value step(uint32_t s) {
            if (rng() % 2) return constant(s);
            start.wave.sgpr[scalar] = s;
            return splat(b.op(Op::GetS32, {}, scalar++));
        }

        static uint32_t bytes_of(uint32_t aux) {
            return ir::access_bytes(ir::aux_access(aux), ir::aux_dwords(aux));
        }

        // What the lanes start with; the lanes that are off anything.
        void lanes(uint32_t r, uint64_t first, uint64_t apart, bool wide) {
            const uint64_t exec_bits = start.wave.exec();
            const bool scattered = !plain && rng() % (width < 64 ? 12 : 3) == 0;
            // Of one row, or several.
            const uint64_t down = any({0, apart, 256, 4096, 100, ~255ull}),
                           later = rng() % 4 ? down : any({0, apart, 64, 4096});
            for (uint32_t l = 0; l < 64; ++l) {
                uint64_t x = first + apart * (scattered ? rng() % 64 : l % width);
                if (!scattered) x += (l < 32 ? down : later) * (l / width);
                if (!(exec_bits >> l & 1)) x = rng();
                start.wave.vgpr[r * 64 + l] = static_cast<uint32_t>(x);
                if (wide) start.wave.vgpr[(r + 1) * 64 + l] = static_cast<uint32_t>(x >> 32);
            }
        }

        // Lanes as they are in this iteration: all of EXEC, some or none. In a loop that a counter
        // ends.
        Value some_lanes() {
            if (divergent || rng() % 3) return exec;
            const Value x = b.op(Op::Add32, {b.v(turn), splat(b.op(Op::GetS32, {}, 0))});
            const Value low = b.op(Op::And32, {x, constant(7)});
            const Value m =
                b.op(Op::CmpLtU32, {low, constant(static_cast<uint32_t>(any({0, 1, 3, 7, 8})))});
            return b.op(Op::MaskAnd, {m, exec});
        }

        void load(Op op, std::vector<Value> args, uint32_t aux) {
            for (uint32_t n = 1 + rng() % 2; n; --n) {
                args.back() = some_lanes();
                const uint64_t imm = rng() % 2 ? 0 : rng() % 64 * 4;
                const Value v = args.size() == 2 ? b.op(op, {args[0], args[1]}, imm, aux)
                                                 : b.op(op, {args[0], args[1], args[2]}, imm, aux);
                for (uint32_t d = 0; d < std::max(1u, ir::aux_dwords(aux)); ++d) {
                    loaded.push_back(b.op(Op::Elem, {v}, d));
                    masks.push_back(args.back());
                }
            }
        }

        void add_load() {
            static constexpr uint32_t accesses[] = {
                ir::make_aux(ir::Access::Dwords, 1), ir::make_aux(ir::Access::Dwords, 1),
                ir::make_aux(ir::Access::Dwords, 1), ir::make_aux(ir::Access::Dwords, 2),
                ir::make_aux(ir::Access::Dwords, 3), ir::make_aux(ir::Access::Dwords, 4),
                ir::make_aux(ir::Access::U8, 1),     ir::make_aux(ir::Access::S16, 1)};
            const uint32_t aux = accesses[rng() % std::size(accesses)], bytes = bytes_of(aux);
            const uint32_t kind = static_cast<uint32_t>(rng() % 7);
            const uint64_t apart = plain        ? bytes
                                   : width < 64 ? any({0, bytes, bytes})
                                                : any({0, bytes, bytes, bytes, 16, 12});
            if (kind == 0) return pair(aux, apart);
            const uint32_t shift = kind < 3 ? static_cast<uint32_t>(rng() % 3) : 0;
            const uint32_t factor = kind >= 5 ? static_cast<uint32_t>(any({1, 4})) : 1;
            const uint32_t unit = (1u << shift) * factor;
            const auto grows = static_cast<uint32_t>(
                any({0, 1, 4, 64, 256, 4096, 1 << 20, ~0ull, ~63ull, ~4095ull, 1 << 30}));
            const uint64_t middle =
                any({0, 0, 0, 1 << 20, 1 << 30, ~0ull << 30, 1ull << 31, 1ull << 32});
            const uint64_t first = middle - any({0, 1, 16, 20}) * grows + any({0, 0, 1, 64, 100});
            const uint32_t r = row++;
            lanes(r, first, (apart + unit - 1) / unit, false);
            const Value x = b.v(r);
            switch (kind) {
                case 1:
                case 2: {  // 64-bit sums with a carry
                    const Value hi = kind == 1 ? b.op(Op::Sar32, {x, constant(31)}) : constant(0);
                    const Value wide =
                        b.op(Op::Shl64, {b.op(Op::Pack64, {x, hi}), constant(shift)});
                    const Value lo = b.op(Op::Add32, {splat_low, b.op(Op::Lo, {wide})});
                    const Value sum = b.op(
                        Op::AddCarry32, {splat_high, b.op(Op::Hi, {wide}), carry(lo, splat_low)});
                    load(Op::LoadGlobal, {b.op(Op::Pack64, {lo, sum}), exec}, aux);
                    break;
                }
                case 3:
                    load(Op::LoadGlobalS, {b.op(Op::GetS64, {}, origin), x, exec}, aux);
                    break;
                case 4:
                    load(Op::LoadGlobalS, {b.op(Op::GetS64, {}, moving), x, exec}, aux);
                    break;
                default: {
                    const Op op = kind == 5 ? Op::MulWideU32 : Op::MulWideS32;
                    const uint64_t base = rng() % 2 ? origin : moving;
                    load(Op::LoadGlobalS64,
                         {b.op(Op::GetS64, {}, base), b.op(op, {x, constant(factor)}), exec}, aux);
                    break;
                }
            }
            if (rng() % 8) grow(r, x, grows);
        }

        // Rows far apart, which stay where they are, and bases that go along all of them.
        void rows_of_moving_base() {
            const bool wide = rng() % 2;
            const uint32_t r = row, aux = ir::make_aux(ir::Access::Dwords, 1);
            row += 1 + wide;
            lanes(r, rng() % 64 * 4, any({100, 128, 256, 260}), wide);
            const Value lanes = wide ? b.op(Op::Pack64, {b.v(r), b.v(r + 1)}) : b.v(r);
            for (uint64_t n = 1 + rng() % 2; n-- > 0;) {
                const auto base = static_cast<uint32_t>(stepping + 2 * stepped++);
                start.wave.set_s64(base, memory + rng() % 16 * 4);
                const Value at =
                    b.op(Op::UPack64, {b.op(Op::GetS32, {}, base), b.op(Op::GetS32, {}, base + 1)});
                load(wide ? Op::LoadGlobalS64 : Op::LoadGlobalS, {at, lanes, exec},
                     aux | (rng() % 4 ? ir::far_lanes : 0));
            }
        }

        void move_bases() {
            for (uint64_t n = 0; n < stepped; ++n) {
                const auto lo = static_cast<uint32_t>(stepping + 2 * n);
                const uint64_t by = any({4, 4, 4, 4, 8, 0, ~3ull});
                const Value old = b.op(Op::GetS32, {}, lo),
                            sum = b.op(Op::UAdd32, {old, b.c32(static_cast<uint32_t>(by))}),
                            carry = b.op(Op::UCmpLtU32, {sum, old});
                const Value high = b.op(Op::UAdd32, {b.op(Op::GetS32, {}, lo + 1),
                                                     b.c32(static_cast<uint32_t>(by >> 32))});
                b.op(Op::SetS32, {sum}, lo);
                b.op(Op::SetS32, {b.op(Op::UAdd32, {high, carry})}, lo + 1);
            }
        }

        void pair(uint32_t aux, uint64_t apart) {
            const uint32_t r = row;
            row += 2;
            const uint64_t grows = any({0, 4, 64, 100, 4096, ~3ull, ~63ull});
            // Often over a border of 4 GiB.
            const uint64_t border = (memory | 0xffffffff) + 1 - any({0, 2, 16, 20}) * grows;
            lanes(r, (rng() % 2 ? memory : border) + any({0, 1, 256}), apart, true);
            const Value lo = b.v(r), hi = b.v(r + 1);
            load(Op::LoadGlobal, {b.op(Op::Pack64, {lo, hi}), exec}, aux);
            const Value by = step(static_cast<uint32_t>(grows)), sum = b.op(Op::Add32, {by, lo});
            const Value high = b.op(Op::AddCarry32,
                                    {step(static_cast<uint32_t>(grows >> 32)), hi, carry(sum, by)});
            b.op(Op::SetV, {sum, exec}, r);
            b.op(Op::SetV, {high, exec}, r + 1);
        }

        void grow(uint32_t r, Value x, uint32_t by) {
            Value next =
                rng() % 4 ? b.op(Op::Add32, {x, step(by)}) : b.op(Op::Sub32, {x, step(0 - by)});
            Value mask = exec;
            if (rng() % 8 == 0)  // not in all lanes
                mask = rng() % 2 ? some_lanes()
                                 : b.op(Op::MaskAnd, {b.op(Op::CmpLtU32, {x, b.v(1)}), exec});
            b.op(Op::SetV, {next, mask}, r);
        }

        void make() {
            State& s = start;
            s.wave.set_s64(origin, memory);
            s.wave.set_s64(moving, memory);
            plain = !divergent && rng() % 4 == 0;
            const bool together = plain || rng() % 2;
            for (uint32_t l = 0; l < 64; ++l)
                s.wave.vgpr[turn * 64 + l] = static_cast<uint32_t>(together ? l / 32 : rng());
            const bool partial = divergent || (!plain && rng() % 2);
            if (!partial && !plain && rng() % 2) width = any({4, 8, 8, 16});
            if (!partial || rng() % 2) s.wave.set_s64(machine::exec_lo, ~0ull);
            if (divergent && !s.wave.exec()) s.wave.set_s64(machine::exec_lo, 5);
            exec = partial ? b.exec() : b.full();
            splat_low = splat(b.op(Op::GetS32, {}, origin));
            splat_high = splat(b.op(Op::GetS32, {}, origin + 1));
            const uint64_t loads = width < 64 || plain ? 1 + rng() % 2
                                   : divergent         ? 1 + rng() % 6
                                                       : rng() % 7;
            for (uint64_t n = 0; n < loads; ++n)
                !divergent&& stepped < 4 && rng() % 3 == 0 ? rows_of_moving_base() : add_load();
            Value sum = b.v(0), product = b.v(1);
            for (size_t n = 0; n < loaded.size(); ++n) {
                // What the others loaded is anything.
                const Value v = b.op(Op::Select32, {masks[n], loaded[n], sum});
                sum = b.op(Op::Add32, {sum, v});
                product = b.op(Op::Xor32, {b.op(Op::Mul32, {product, constant(5)}), v});
            }
            b.op(Op::SetV, {sum, some_lanes()}, 0);
            b.op(Op::SetV, {product, exec}, 1);
            const uint64_t base_step = any({0, 4, 64, 4096, ~63ull});
            if (rng() % 2)
                b.op(Op::SetS64,
                     {b.op(Op::UAdd64, {b.op(Op::GetS64, {}, moving), b.c64(base_step)})}, moving);
            move_bases();
            divergent ? end_by_lanes() : end_by_count();
        }

        // Counts up or down, by one or more; a step may pass the bound.
        void end_by_count() {
            const auto n = 1 + static_cast<uint32_t>(rng() % 40);
            const auto step = static_cast<uint32_t>(any({1, 1, 2, 4, 3}));
            const bool up = rng() % 2, next = rng() % 4;
            const uint32_t first = static_cast<uint32_t>(any({0, 1000, 0x7fffff00})),
                           end = up ? first + n * step : first - n * step;
            start.wave.sgpr[0] = first;
            const Value old = b.op(Op::GetS32, {}, 0);
            const Value sum = b.op(up ? Op::UAdd32 : Op::USub32, {old, b.c32(step)});
            b.op(Op::SetS32, {sum}, 0);
            const Value x = next ? sum : old;
            auto bound = [&](uint32_t value) {
                if (rng() % 2) return b.c32(value);
                start.wave.sgpr[1] = value;
                return b.op(Op::GetS32, {}, 1);
            };
            Value cond;
            if (const auto kind = rng() % 3; kind == 0) {
                cond = b.op(Op::UCmpNe32, {x, bound(end)});
            } else {
                // Signed: `first` is 0 or more; with an end below 0 only such counters go on.
                const Op op = kind == 1 ? Op::UCmpLtS32 : Op::UCmpLeS32;
                const Value y = bound(end + static_cast<uint32_t>(any({0, 1})));
                cond = up ? b.op(op, {x, y}) : b.op(op, {y, x});
            }
            const bool opposite = rng() % 4 == 0;
            if (opposite) cond = b.op(Op::UCmpEq32, {cond, b.c32(0)});
            b.block.guest_count = 1 + static_cast<uint32_t>(rng() % 6);
            b.block.exec_changed = false;
            b.block.term = {.kind = Kind::Branch,
                            .cond = cond,
                            .target = opposite ? uint64_t{0x3000} : 0x1000,
                            .next = opposite ? uint64_t{0x1000} : 0x3000};
        }

        void end_by_lanes() {
            for (uint32_t lane = 0; lane < 64; ++lane)
                start.wave.vgpr[left * 64 + lane] =
                    1 + static_cast<uint32_t>(rng() % (1 + lane % 40));
            const Value old = b.op(Op::MaskOf, {b.op(Op::GetS64, {}, 6)});
            const Value n = b.op(Op::Sub32, {b.v(left), constant(1)});
            const Value done = b.op(Op::MaskAnd, {b.op(Op::CmpEq32, {n, constant(0)}), exec});
            const Value all = b.op(Op::MaskOr, {done, old});
            b.op(Op::SetV, {n, exec}, left);
            b.op(Op::SetS64, {b.op(Op::BitsOf, {all})}, 6);
            b.loop_while_lanes(b.op(Op::MaskAndNot, {exec, all}), 0x3000);
        }
    };
};

TEST_P(WalkTest, RandomLoops) {
    const Memory memory;
    ASSERT_TRUE(memory) << "no room for 24 GiB of addresses";
    const int rounds = wanted_rounds(1200);
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Rng rng(static_cast<uint64_t>(round) + 1);
        State start, model, run;
        randomise(start, rng);
        Loop loop{Builder(), rng, start, memory.origin(), round % 2 == 1, false, {}};
        loop.make();
        if (loop.width < machine::lanes)
            run.context.lane_layout =
                machine::first_row_layout + static_cast<uint32_t>(std::countr_zero(loop.width));
        ASSERT_EQ(ir::verify(loop.b.block), "");
        ASSERT_EQ(x64::find_divergent_loop(loop.b.block).has_value(), loop.divergent);
        Rig rig(GetParam(), {.loop_chunks = static_cast<uint32_t>(rng() % 3) * 2});
        rig.source->blocks[0x1000] = loop.b.block;
        rig.source->blocks[0x3000] = end_block(0x3000);
        run_loop(rig, loop.b.block, start, round % 5 ? 1000 : 7, 100, model, run);
        if (HasFatalFailure()) return;
        ASSERT_TRUE(same(run, model)) << ir::print(loop.b.block);
    }
}

WJ_JIT_TESTS(WalkTest);

}  // namespace
}  // namespace wj::jit_test
