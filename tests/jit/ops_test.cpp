// Every pure operation of opcodes.inc on both instruction sets against ir::evaluate, with
// registers, broadcasts and constants as operands; then random graphs of them, which exercise
// scheduling and register allocation.
#include <algorithm>
#include <cstdlib>
#include <functional>

#include "common/fixup.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using ir::Class;
using ir::Type;

class OpsTest : public JitTest {};

bool pure(Op op) {
    const Class cls = ir::op_info(op).cls;
    // Of guarded blocks: affine_test.cpp, loop_masks_test.cpp
    if (ir::is_guard(op) || op == Op::RowLane || op == Op::Line32 || op == Op::WavesAhead ||
        op == Op::GoesOn)
        return false;
    return (cls == Class::Uniform || cls == Class::Lane || cls == Class::Cross) && op != Op::Elem;
}

uint64_t random_imm(Op op, Rng& rng) {
    switch (op) {
        case Op::Const32:
            return random_dword(rng);
        case Op::Const64:
        case Op::CodeAddress:
            return rng() % 2 ? random_mask(rng)
                             : random_dword(rng) | uint64_t{random_dword(rng)} << 32;
        case Op::Bitop3:
            return rng() & 0xff;
        case Op::FQuotFrexp32:
        case Op::FMin32:
        case Op::FMax32:
        case Op::FMin64:
        case Op::FMax64:
            return rng() & 1;
        case Op::FRound32:
        case Op::FRound64:
            return rng() & 3;
        case Op::CvtF32ToF16:
            return rng() % 2 ? 3 : 0;
        case Op::FFixup32: {
            const uint32_t any = static_cast<uint32_t>(rng());
            using trans::FloatClass;
            trans::Fixup table;
            const bool keep = any & 2;
            if ((any & 1) || !keep) table = trans::quiet_nans;
            auto one_of = [&](FloatClass c, uint32_t shift, bool keep) {
                constexpr trans::Response responses[] = {
                    trans::Response::Keep, trans::Response::DefaultNan, trans::Response::MinusInf,
                    trans::Response::PlusInf};
                table = table.with(c, responses[std::max(any >> shift & 3, keep ? 0u : 1u)]);
            };
            one_of(FloatClass::Zero, 3, keep);
            one_of(FloatClass::MinusInf, 5, keep);
            one_of(FloatClass::PlusInf, 7, true);
            if (!keep) one_of(FloatClass::Negative, 9, false);
            return table.table;
        }
        case Op::FCmp32:
        case Op::FCmp64:
            return rng() & 31;
        case Op::URcp32:  // a positive number
            return rng() % 2 ? 0x4f7ffffe : (random_dword(rng) & 0x7fffffff) % 0x7f800000;
        case Op::BPermute:
            return rng() % 3 ? 0 : rng() % 256;
        default:
            return 0;
    }
}

// Grows a graph: values of every type, operations on them, results into registers.
class Graph {
public:
    explicit Graph(Rng& rng) : rng_(rng) {}

    Value pick(Type t) {
        auto& pool = values_[static_cast<size_t>(t)];
        // Prefer young values: long chains.
        if (!pool.empty() && rng_() % 4)
            return pool[pool.size() - 1 - rng_() % std::min<size_t>(pool.size(), 24)];
        const Value v = source(t);
        pool.push_back(v);
        return v;
    }

    Value source(Type t) {
        switch (t) {
            case Type::U32:
                switch (rng_() % 3) {
                    case 0:
                        return b.c32(random_dword(rng_));
                    case 1:
                        return b.op(Op::GetScc);
                    default:
                        return b.op(Op::GetS32, {}, rng_() % 100);
                }
            case Type::U64:
                return rng_() % 3 ? b.op(Op::GetS64, {}, rng_() % 50 * 2)
                                  : b.c64(random_imm(Op::Const64, rng_));
            case Type::V32:
                switch (rng_() % 4) {
                    case 0:
                        return b.op(Op::Splat32, {pick(Type::U32)});
                    case 1:
                        return rng_() % 8 ? b.v(256 + static_cast<uint32_t>(rng_() % agprs))
                                          : b.op(Op::LaneId);
                    default:
                        return b.v(static_cast<uint32_t>(rng_() % vgprs));
                }
            case Type::V64:
                return rng_() % 3 ? b.op(Op::Pack64, {pick(Type::V32), pick(Type::V32)})
                                  : b.op(Op::Splat64, {pick(Type::U64)});
            default:
                return rng_() % 4 ? b.op(Op::MaskOf, {pick(Type::U64)}) : b.full();
        }
    }

    Value add(Op op) {
        const ir::OpInfo& info = ir::op_info(op);
        std::array<Value, 3> args{};
        for (size_t a = 0; a < info.arg_count; ++a) args[a] = pick(info.args[a]);
        uint64_t imm = random_imm(op, rng_);
        if (op == Op::Swizzle) {
            imm = b.block.lane_tables.size();
            std::array<uint8_t, 64> table;
            const uint64_t pattern = rng_() % 3;
            for (size_t l = 0; l < 64; ++l)
                table[l] = static_cast<uint8_t>(pattern == 0   ? l ^ 1
                                                : pattern == 1 ? (l + 16) & 63
                                                               : rng_() & 63);
            b.block.lane_tables.push_back(table);
        }
        Value v = info.arg_count == 0   ? b.op(op, {}, imm)
                  : info.arg_count == 1 ? b.op(op, {args[0]}, imm)
                  : info.arg_count == 2 ? b.op(op, {args[0], args[1]}, imm)
                                        : b.op(op, {args[0], args[1], args[2]}, imm);
        values_[static_cast<size_t>(info.result)].push_back(v);
        return v;
    }

    void keep(Value v, uint32_t at) {
        switch (b.block.type(v)) {
            case Type::U32:
                if (at % 7 == 0)
                    b.op(Op::SetScc, {b.op(Op::UCmpNe32, {v, b.c32(0)})});
                else
                    b.op(Op::SetS32, {v}, at % 100);
                break;
            case Type::U64:
                b.op(Op::SetS64, {v}, at % 50 * 2);
                break;
            case Type::V32:
                b.op(Op::SetV, {v, rng_() % 2 ? b.full() : pick(Type::M)},
                     at % 8 == 7 ? 256 + at % agprs : at % vgprs);
                break;
            case Type::V64:
                keep(b.op(Op::Lo, {v}), at);
                keep(b.op(Op::Hi, {v}), at + 1);
                break;
            case Type::M:
                keep(b.op(Op::BitsOf, {v}), at);
                break;
            default:
                break;
        }
    }

    Builder b;

private:
    Rng& rng_;
    std::array<std::vector<Value>, 7> values_;
};

TEST_P(OpsTest, EachOperation) {
    Rng rng(1);
    for (size_t n = 0; n < static_cast<size_t>(Op::count_); ++n) {
        const Op op = static_cast<Op>(n);
        if (!pure(op)) continue;
        SCOPED_TRACE(ir::op_info(op).name);
        for (int variant = 0; variant < 12; ++variant) {
            Graph g(rng);
            const Value v = g.add(op);
            g.keep(v, static_cast<uint32_t>(rng() % 30));
            compare(g.b.block, rng, 4);
            if (HasFatalFailure()) return;
        }
    }
}

TEST_P(OpsTest, RandomGraphs) {
    Rng rng(2);
    std::vector<Op> ops;
    for (size_t n = 0; n < static_cast<size_t>(Op::count_); ++n)
        if (pure(static_cast<Op>(n))) ops.push_back(static_cast<Op>(n));
    const int rounds = wanted_rounds(400);
    for (int round = 0; round < rounds; ++round) {
        Graph g(rng);
        const size_t size = 1 + rng() % 120;
        for (size_t i = 0; i < size; ++i) {
            const Value v = g.add(ops[rng() % ops.size()]);
            if (rng() % 3 == 0) g.keep(v, static_cast<uint32_t>(rng()));
        }
        compare(g.b.block, rng, 2);
        if (HasFatalFailure()) return;
    }
}

// Of strides whose products with the place of a lane have all 32 bits, and of those that have not.
TEST_P(OpsTest, Lines) {
    Rng rng(5);
    for (uint32_t stride : {1u, 3u, 4u, 0x300001u, 0x7ffffdu, 0xfffffeu, 0xffffffu, 0x1000000u})
        for (uint32_t width : {2u, 4u, 8u, 16u, 32u, 64u}) {
            Builder b;
            // Rows narrower than the host's vectors have constant steps.
            const Value step = width == 64  ? b.c32(0)
                               : width < 16 ? b.c32(rng() % 3 ? static_cast<uint32_t>(rng()) : 0)
                                            : b.op(Op::GetS32, {}, 9);
            const Value line = b.op(Op::Line32, {b.op(Op::GetS32, {}, 8), step}, stride, width);
            b.set(3, line);
            b.set(4, b.op(Op::Add32, {line, b.v(5)}));
            compare(b.block, rng, 4);
            if (HasFatalFailure()) return;
        }
}

// More live values than registers: spills, and masks beyond k1..k7.
TEST_P(OpsTest, Pressure) {
    Rng rng(3);
    Builder b;
    std::vector<Value> x, m;
    for (uint32_t i = 0; i < 36; ++i) x.push_back(b.op(Op::Add32, {b.v(i), b.v(i + 1)}));
    for (uint32_t i = 0; i < 20; ++i) m.push_back(b.op(Op::CmpLtU32, {x[i], x[i + 7]}));
    for (uint32_t i = 0; i < 36; ++i)
        b.set(i,
              b.op(Op::Select32, {m[i % 20], x[35 - i], b.op(Op::Mul32, {x[i], x[(i * 7) % 36]})}));
    compare(b.block, rng, 10);
}

// The order of NaN operands is part of the contract: a0, a1, a2, whichever operand dies.
TEST_P(OpsTest, FmaNanOrder) {
    Rng rng(4);
    for (uint32_t dies = 0; dies < 8; ++dies)
        for (Op op : {Op::FFma32, Op::FFma64}) {
            Builder b;
            std::array<Value, 3> x;
            for (uint32_t i = 0; i < 3; ++i)
                x[i] = op == Op::FFma32
                           ? b.op(Op::Add32, {b.v(i), b.op(Op::Splat32, {b.c32(0)})})
                           : b.op(Op::Add64, {b.pair(2 * i), b.op(Op::Splat64, {b.c64(0)})});
            const Value r = b.op(op, {x[0], x[1], x[2]});
            auto keep = [&](Value v, uint32_t row) {
                if (op == Op::FFma32) return b.set(row, v);
                b.set(row, b.op(Op::Lo, {v}));
                b.set(row + 1, b.op(Op::Hi, {v}));
            };
            keep(r, 10);
            for (uint32_t i = 0; i < 3; ++i)
                if (!(dies >> i & 1)) keep(x[i], 12 + 2 * i);
            prepare = [&](State& s) {
                for (uint32_t i = 0; i < 6 * 64; ++i) {
                    const uint32_t lane = i % 64, operand = op == Op::FFma32 ? i / 64 : i / 128;
                    static constexpr uint32_t kinds[] = {0x3f812345, 0x7fc00100, 0x7f800100,
                                                         0x7ff80100, 0xfff00200};
                    uint32_t digit = lane;
                    for (uint32_t k = 0; k < operand; ++k) digit /= 4;
                    s.wave.vgpr[i] = kinds[digit % 5] + operand + 1;
                }
            };
            compare(b.block, rng);
            if (HasFatalFailure()) return;
        }
}

// Mantissa and exponent of the same number, in either order: one look at it may serve for both.
TEST_P(OpsTest, BothPartsOfFrexp) {
    Rng rng(17);
    for (const bool exponent_first : {false, true}) {
        Builder b;
        const Value x = b.v(0);
        Value parts[2];
        for (uint32_t n = 0; n < 2; ++n) {
            const bool exponent = (n == 0) == exponent_first;
            parts[exponent] = b.op(exponent ? Op::FFrexpExp32 : Op::FFrexpMant32, {x});
        }
        b.set(2, b.op(Op::Add32, {parts[0], b.v(1)}));
        b.set(3, parts[1]);
        for (const bool ordinary : {true, false}) {
            prepare = [&](State& s) {
                for (uint32_t l = 0; l < machine::lanes && ordinary; ++l)
                    s.wave.row(0)[l] = (s.wave.row(0)[l] & 0xbfffffff) | 0x20000000;
            };
            compare(b.block, rng, 50);
            if (HasFatalFailure()) return;
        }
    }
}

WJ_JIT_TESTS(OpsTest);

}  // namespace
}  // namespace wj::jit_test
