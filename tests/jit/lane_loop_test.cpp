// Loops whose lanes each walk along memory of their own (backend_x64/lane_program.h), against the
// model, which runs them in lockstep.
#include <cstring>
#include <vector>

#include "backend_x64/lane_program.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using Kind = ir::Terminator::Kind;

class LaneLoopTest : public JitTest {
protected:
    static constexpr uint32_t table_bytes = 1 << 16;
    // Registers: scalar bases, and rows.
    static constexpr uint32_t base = 22, mask = 6, end = 40, upper = 41, above = 42, first_sum = 10,
                              sums = 6, one_end_register = 24, low_bases = 26, low_bases_high = 43,
                              above_register = 32, first_double = 32, doubles = 3, end64 = 46;

    struct Loop {
        Builder b;
        Rng& rng;
        State& start;
        uint64_t memory;
        Value exec = ir::no_value, top = ir::no_value /* an upper half */;
        uint32_t row = 20;
        std::vector<Value> numbers{}, pairs{};  // of 32 bits, of 64

        Value splat(Value u) { return b.op(Op::Splat32, {u}); }
        Value constant(uint32_t c) { return splat(b.c32(c)); }
        template <class T>
        T any(std::initializer_list<T> list) {
            return list.begin()[rng() % list.size()];
        }
        Value carry(Value sum, Value summand) {
            const Value c = b.op(Op::CmpLtU32, {sum, summand});
            return rng() % 2 ? c : b.op(Op::MaskAnd, {c, exec});
        }
        // The upper half of the base: of a scalar register or, as compilers do, of a row.
        Value base_high(uint32_t from) {
            const uint32_t row = from == base ? upper : low_bases_high + (from - low_bases) / 2;
            return rng() % 2 ? b.v(row) : splat(b.op(Op::GetS32, {}, from + 1));
        }
        // The base in registers `from` + the 64-bit offset, the sums in any order.
        Value at(Value offset, uint32_t from = base) {
            const Value low_base = splat(b.op(Op::GetS32, {}, from)), high_base = base_high(from),
                        low = b.op(Op::Lo, {offset}), high = b.op(Op::Hi, {offset});
            const bool swap = rng() % 2;
            const Value sum =
                swap ? b.op(Op::Add32, {low, low_base}) : b.op(Op::Add32, {low_base, low});
            const Value c = carry(sum, rng() % 2 ? low_base : low);
            const Value top = rng() % 2 ? b.op(Op::AddCarry32, {high, high_base, c})
                                        : b.op(Op::AddCarry32, {high_base, high, c});
            return b.op(Op::Pack64, {sum, top});
        }
        Value load(Op op, std::initializer_list<Value> args) {
            static constexpr uint32_t accesses[] = {
                ir::make_aux(ir::Access::Dwords, 1), ir::make_aux(ir::Access::Dwords, 1),
                ir::make_aux(ir::Access::U8, 1),     ir::make_aux(ir::Access::S8, 1),
                ir::make_aux(ir::Access::U16, 1),    ir::make_aux(ir::Access::S16, 1)};
            for (uint64_t times = rng() % 4 ? 1 : 2; times; --times) {
                const bool two = rng() % 4 == 0;
                const uint32_t aux =
                    two ? ir::make_aux(ir::Access::Dwords, 2) : accesses[rng() % 6];
                const Value v = b.op(op, args, rng() % 2 ? 0 : rng() % 64, aux);
                numbers.push_back(b.op(Op::Elem, {v}, two && rng() % 4 == 0));
                if (two)
                    pairs.push_back(
                        b.op(Op::Pack64, {b.op(Op::Elem, {v}, 0), b.op(Op::Elem, {v}, 1)}));
            }
            return numbers.back();
        }
        // A pointer in two rows.
        void pointer() {
            const uint32_t r = row, step = any({1u, 4u, 8u, 64u, ~3u});
            row += 2;
            for (uint32_t l = 0; l < 64; ++l) {
                const uint64_t at = memory + table_bytes / 4 + rng() % (table_bytes / 2);
                start.wave.row(r)[l] = static_cast<uint32_t>(at);
                start.wave.row(r + 1)[l] = static_cast<uint32_t>(at >> 32);
            }
            const Value low = b.v(r), high = b.v(r + 1);
            load(Op::LoadGlobal, {b.op(Op::Pack64, {low, high}), exec});
            const Value by = constant(step), sum = b.op(Op::Add32, {by, low});
            const Value next =
                b.op(Op::AddCarry32, {constant(step >> 31 ? ~0u : 0), high, carry(sum, by)});
            if (rng() % 4 == 0) numbers.push_back(rng() % 2 ? low : high);
            if (rng() % 3 == 0) {
                load(Op::LoadGlobal, {b.op(Op::Pack64, {sum, next}), exec});
                if (rng() % 2) load(Op::LoadGlobal, {b.op(Op::Pack64, {low, high}), exec});
            }
            b.op(Op::SetV, {sum, exec}, r);
            b.op(Op::SetV, {next, exec}, r + 1);
        }
        // An element of a table.
        void indexed(Value index) {
            const uint32_t shift = static_cast<uint32_t>(rng() % 3);
            switch (rng() % 5) {
                case 4:  // signed
                    load(Op::LoadGlobalS64,
                         {b.op(Op::GetS64, {}, base),
                          b.op(Op::Pack64, {b.op(Op::Shl32, {index, constant(shift + 1)}),
                                            b.op(Op::Sar32, {index, constant(31 - shift)})}),
                          exec});
                    return;
                case 0:
                    load(Op::LoadGlobalS, {b.op(Op::GetS64, {}, base),
                                           b.op(Op::Shl32, {index, constant(shift)}), exec});
                    return;
                case 1:
                    load(
                        Op::LoadGlobalS64,
                        {b.op(Op::GetS64, {}, base),
                         b.op(Op::Shl64, {b.op(Op::Pack64, {index, constant(0)}), constant(shift)}),
                         exec});
                    return;
                case 2: {  // with an upper half that only the program knows
                    if (top == ir::no_value || rng() % 4 == 0)
                        top = rng() % 3 ? b.v(above) : splat(b.op(Op::GetS32, {}, above_register));
                    const Value wide =
                        b.op(Op::Pack64, {b.op(Op::Shl32, {index, constant(shift + 1)}),
                                          b.op(Op::Fshr32, {top, index, constant(31 - shift)})});
                    load(Op::LoadGlobal, {at(wide, low_bases + 2 * shift), exec});
                    return;
                }
                default:
                    load(Op::LoadGlobal,
                         {at(b.op(Op::Pack64, {index, b.op(Op::Sar32, {index, constant(31)})})),
                          exec});
            }
        }
        void index_stream() {
            const uint32_t r = row++, step = any({1u, 2u, 3u});
            for (uint32_t l = 0; l < 64; ++l)
                start.wave.row(r)[l] = static_cast<uint32_t>(rng() % 2000);
            const Value k = b.v(r);
            indexed(k);
            for (uint64_t n = rng() % 3; n-- > 0;) indexed(k);
            b.op(Op::SetV, {b.op(Op::Add32, {k, constant(step)}), exec}, r);
        }

        void make() {
            State& s = start;
            s.wave.set_s64(base, memory);
            if (rng() % 16 == 0) s.wave.set_s64(machine::exec_lo, 0);
            s.wave.set_s64(mask, rng() % 4 ? s.wave.s64(mask) & ~s.wave.exec() : rng() & rng());
            const auto high = static_cast<uint32_t>(rng() % 3);
            s.wave.sgpr[above_register] = high;
            for (uint32_t shift = 0; shift < 3; ++shift)
                s.wave.set_s64(low_bases + 2 * shift, memory - (uint64_t{high} << (33 + shift)));
            for (uint32_t l = 0; l < 64; ++l) {
                for (uint32_t shift = 0; shift < 3; ++shift)
                    s.wave.row(low_bases_high + shift)[l] = s.wave.sgpr[low_bases + 2 * shift + 1];
                s.wave.row(above)[l] = high;
                s.wave.row(upper)[l] = static_cast<uint32_t>(memory >> 32);
            }
            exec = b.exec();
            if (rng() % 2)
                pointer();
            else
                index_stream();
            if (rng() % 2) pointer();
            if (rng() % 2)
                indexed(b.op(Op::And32, {numbers[rng() % numbers.size()], constant(1023)}));
            if (rng() % 3 == 0) numbers.insert(numbers.end(), 4, b.v(end));
            if (rng() % 8 == 0) numbers.push_back(b.v(first_double + rng() % 2));  // half of one
            Value olds[sums];
            for (uint32_t n = 0; n < sums; ++n) olds[n] = b.v(first_sum + n);
            const uint32_t count = 1 + static_cast<uint32_t>(rng() % sums);
            for (uint32_t n = 0; n < count; ++n) {
                Value x = olds[rng() % 3 ? n : rng() % count], y = numbers[rng() % numbers.size()],
                      z = rng() % 2 ? olds[n] : y;
                if (rng() % 3 == 0) std::swap(x, y);
                static constexpr Op ops[] = {
                    Op::Add32,        Op::Sub32,        Op::And32,       Op::Or32,
                    Op::Xor32,        Op::Mul32,        Op::MinU32,      Op::MaxU32,
                    Op::MinS32,       Op::MaxS32,       Op::FAdd32,      Op::FSub32,
                    Op::FMul32,       Op::FDiv32,       Op::FFma32,      Op::FFma32,
                    Op::FFma32,       Op::FSqrt32,      Op::CvtU32ToF32, Op::CvtI32ToF32,
                    Op::FQuotFrexp32, Op::FQuotFrexp32, Op::FQuot32,     Op::FQuot32};
                const Op op = ops[rng() % std::size(ops)];
                const auto operands = ir::op_info(op).arg_count;
                if (op == Op::FQuotFrexp32 || op == Op::FQuot32) {
                    z = exec;
                    if (rng() % 2) y = b.op(rng() % 2 ? Op::CvtU32ToF32 : Op::CvtI32ToF32, {y});
                }
                const Value v = rng() % 16 == 0 ? olds[rng() % count]
                                : operands == 3 ? b.op(op, {x, y, z})
                                : operands == 2
                                    ? b.op(op, {x, rng() % 4 ? y : constant(any({0u, 3u, 100u}))})
                                    : b.op(op, {x});
                numbers.push_back(v);
                b.op(Op::SetV, {v, exec}, first_sum + n);
            }
            if (rng() % 2) sums_of_doubles();
            rng() % 4 ? finish() : finish64();
        }

        void sums_of_doubles() {
            Value olds[doubles];
            for (uint32_t n = 0; n < doubles; ++n)
                olds[n] =
                    b.op(Op::Pack64, {b.v(first_double + 2 * n), b.v(first_double + 2 * n + 1)});
            pairs.insert(pairs.end(), std::begin(olds), std::end(olds));
            for (uint32_t n = 0, count = 1 + static_cast<uint32_t>(rng() % doubles); n < count;
                 ++n) {
                auto any_pair = [&] { return pairs[rng() % pairs.size()]; };
                static constexpr Op ops[] = {Op::FAdd64, Op::FMul64, Op::FFma64, Op::FFma64,
                                             Op::FDiv64};
                const Op op = ops[rng() % std::size(ops)];
                Value x = rng() % 2 ? olds[n] : any_pair(), y = any_pair(), z = any_pair();
                if (rng() % 2) std::swap(x, y);
                if (rng() % 8 == 0) y = b.op(Op::Splat64, {b.op(Op::GetS64, {}, base)});
                const Value v =
                    op == Op::FFma64 ? b.op(op, {x, y, rng() % 2 ? z : olds[n]}) : b.op(op, {x, y});
                pairs.push_back(v);
                b.op(Op::SetV, {b.op(Op::Lo, {v}), exec}, first_double + 2 * n);
                b.op(Op::SetV, {b.op(Op::Hi, {v}), exec}, first_double + 2 * n + 1);
            }
        }

        // Counts up in 64 bits.
        void finish64() {
            const uint32_t r = row;
            row += 2;
            const uint64_t from = any<uint64_t>({0, 0xfffffff5, 1ull << 40, ~0ull << 3});
            for (uint32_t l = 0; l < 64; ++l) {
                const uint64_t to = from + 1 + rng() % 30;
                start.wave.row(r)[l] = static_cast<uint32_t>(from);
                start.wave.row(r + 1)[l] = static_cast<uint32_t>(from >> 32);
                start.wave.row(end64)[l] = static_cast<uint32_t>(to);
                start.wave.row(end64 + 1)[l] = static_cast<uint32_t>(to >> 32);
            }
            const Value low = b.v(r), high = b.v(r + 1), one = constant(1),
                        sum = b.op(Op::Add32, {one, low}),
                        next = b.op(Op::AddCarry32, {constant(0), high, carry(sum, one)}),
                        now = b.op(Op::Pack64, {sum, next}),
                        limit = b.op(Op::Pack64, {b.v(end64), b.v(end64 + 1)});
            b.op(Op::SetV, {sum, exec}, r);
            b.op(Op::SetV, {next, exec}, r + 1);
            Value done;
            switch (rng() % 5) {
                case 0:
                    done = b.op(Op::CmpEq64, {now, limit});
                    break;
                case 1:
                    done = b.op(Op::MaskNot, {b.op(Op::CmpNe64, {limit, now})});
                    break;
                case 2:
                    done = b.op(Op::CmpLeS64, {limit, now});
                    break;
                case 3:
                    done = b.op(Op::CmpLeU64, {limit, now});
                    break;
                default:
                    done = b.op(Op::MaskNot,
                                {b.op(rng() % 2 ? Op::CmpLtU64 : Op::CmpLtS64, {now, limit})});
            }
            end_by(done);
        }

        // Counts down or up, compared in any way.
        void finish() {
            const uint32_t r = row++;
            const bool down = rng() % 3 == 0;
            // Counters that go up may pass the greatest numbers; or have passed their ends.
            const uint32_t from =
                down ? 0 : any({0u, 0u, 1000u, 0x7fffffffu, 0x7ffffff5u, 0xffffffffu, 0xfffffff0u});
            const auto same = 1 + static_cast<uint32_t>(rng() % 30);
            const bool one_end = !down && rng() % 3 == 0;
            const bool ordered = rng() % 2, passed = !one_end && from == 1000 && ordered;
            for (uint32_t l = 0; l < 64; ++l) {
                const auto n = 1 + static_cast<uint32_t>(rng() % 30);
                start.wave.row(r)[l] = down ? n : one_end ? from + n % same : from;
                start.wave.row(end)[l] = down ? 0 : passed && rng() % 8 == 0 ? 990 : from + n;
            }
            start.wave.sgpr[one_end_register] = from + same;
            const Value k = b.v(r),
                        limit = down && rng() % 2 ? constant(0)
                                : one_end         ? splat(b.op(Op::GetS32, {}, one_end_register))
                                                  : b.v(end),
                        next = b.op(Op::Add32, {k, constant(down ? ~0u : 1)});
            b.op(Op::SetV, {next, exec}, r);
            const Value now = rng() % 3 || one_end ? next : k;
            Value done;
            // The end, too, goes down, or is another one from the first iteration on; or the
            // counter passes the greatest number.
            if (!down && ordered && !one_end && rng() % 8 == 0)
                b.op(Op::SetV,
                     {from <= 1000 && rng() % 2 ? constant(0)
                                                : b.op(Op::Sub32, {limit, constant(1)}),
                      exec},
                     end);
            const bool wraps =
                !down && !one_end && ordered && !passed && from > 1000 && rng() % 3 == 0;
            if (wraps)
                for (uint32_t l = 0; l < 64; ++l) start.wave.row(end)[l] = from - l % 8;
            switch (wraps ? 4 + (from >> 31) : rng() % 2 + (ordered ? 2 : 0)) {
                case 0:
                    done = b.op(Op::CmpEq32, {now, limit});
                    break;
                case 1:
                    done = b.op(Op::MaskNot, {b.op(Op::CmpNe32, {limit, now})});
                    break;
                case 2:
                    done =
                        down ? b.op(Op::CmpLeS32, {now, limit}) : b.op(Op::CmpLeS32, {limit, now});
                    break;
                case 3:
                    done = down ? b.op(Op::CmpLeU32, {now, limit})
                                : b.op(Op::MaskNot, {b.op(Op::CmpLtU32, {now, limit})});
                    break;
                case 4:
                    done = rng() % 4 ? b.op(Op::CmpLtS32, {now, limit})
                                     : b.op(Op::CmpNe32, {now, limit});
                    break;
                default:
                    done = b.op(Op::CmpLtU32, {now, limit});
            }
            end_by(done);
        }

        void end_by(Value done) {
            if (rng() % 2) done = b.op(Op::MaskAnd, {done, exec});
            const Value live = b.op(Op::MaskAndNot, {exec, done}),
                        gone = b.op(Op::UXor64, {b.op(Op::BitsOf, {live}), b.c64(~0ull)}),
                        lost = b.op(Op::UAnd64, {b.block.insts[exec].args[0], gone});
            b.op(Op::SetS64, {b.op(Op::UOr64, {b.op(Op::GetS64, {}, mask), lost})}, mask);
            for (uint64_t n = rng() % 3; n-- > 0;) b.next_guest(b.block.end_pc);
            b.loop_while_lanes(live, 0x3000);
        }
    };
};

TEST_P(LaneLoopTest, RandomLoops) {
    std::vector<uint8_t> table(table_bytes);
    const int rounds = wanted_rounds(600);
    int found = 0;
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Rng rng(static_cast<uint64_t>(round) + 1);
        for (uint32_t i = 0; i < table_bytes; i += 4) {
            const uint32_t x = random_dword(rng);
            std::memcpy(&table[i], &x, 4);
        }
        State start, model, run;
        randomise(start, rng);
        Loop loop{Builder(), rng, start, reinterpret_cast<uint64_t>(table.data())};
        loop.make();
        ASSERT_EQ(ir::verify(loop.b.block), "");
        const auto divergent = x64::find_divergent_loop(loop.b.block);
        ASSERT_TRUE(divergent);
        found += x64::find_lane_program(loop.b.block, *divergent).has_value();
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = loop.b.block;
        rig.source->blocks[0x3000] = end_block(0x3000);
        run_loop(rig, loop.b.block, start, round % 3 ? 10000 : 7, 400, model, run, 64);
        if (HasFatalFailure()) return;
        ASSERT_TRUE(same(run, model)) << ir::print(loop.b.block);
    }
    EXPECT_GT(found, rounds / 3);
}

WJ_JIT_TESTS(LaneLoopTest);

}  // namespace
}  // namespace wj::jit_test
