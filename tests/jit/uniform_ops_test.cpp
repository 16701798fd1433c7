// Scalar code with more values than the host has registers: random operations on recent values,
// among them constants that have forms of their own, and sums, compares and selections above all,
// in front of and behind writes of the registers that they were read from.
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

class UniformOpsTest : public JitTest {
protected:
    static constexpr uint32_t read = 40, written = 100;  // scalar registers

    // Those of 32 and 64 bits that are made of such alone.
    static std::vector<Op> operations() {
        std::vector<Op> out;
        for (int n = 0; n < static_cast<int>(Op::count_); ++n) {
            const auto op = static_cast<Op>(n);
            const ir::OpInfo& info = ir::op_info(op);
            auto is_uniform = [](ir::Type t) { return t == ir::Type::U32 || t == ir::Type::U64; };
            if (info.cls != ir::Class::Uniform || !info.arg_count || !is_uniform(info.result) ||
                op == Op::URcp32 || op == Op::BufferBase || op == Op::BufferLimit ||
                op == Op::GoesOn)
                continue;
            bool good = true;
            for (uint32_t a = 0; a < info.arg_count; ++a) good &= is_uniform(info.args[a]);
            if (good) out.push_back(op);
        }
        return out;
    }

    Value constant(Builder& b, ir::Type type) {
        static constexpr uint64_t usual[] = {0,     1,      2,          0xff,       0xffff,
                                             ~0ull, 0x7fff, 0xffffffff, 0x80000000, 1ull << 40};
        const uint64_t x = rng_() % 4 ? usual[rng_() % std::size(usual)] : rng_();
        return type == ir::Type::U32 ? b.c32(static_cast<uint32_t>(x)) : b.c64(x);
    }

    Value value(Builder& b, ir::Type type) {
        constexpr size_t recent = 24;
        std::vector<Value>& of = values_[type == ir::Type::U64];
        if (of.empty() || rng_() % 4 == 0) {
            const Value c = constant(b, type);
            if (rng_() % 3 == 0) of.push_back(c);  // wanted again
            return c;
        }
        return of[of.size() - 1 - rng_() % std::min(of.size(), recent)];
    }

    void note(Builder& b, Value v) { values_[b.block.type(v) == ir::Type::U64].push_back(v); }

    // A shift that sums alone want, or a compare that selections do.
    void for_one_use(Builder& b) {
        const bool wide = rng_() % 2, selects = rng_() % 2;
        const ir::Type type = wide ? ir::Type::U64 : ir::Type::U32;
        static constexpr Op compares[] = {Op::UCmpEq32,  Op::UCmpNe32,  Op::UCmpLtU32,
                                          Op::UCmpLeU32, Op::UCmpLtS32, Op::UCmpLeS32,
                                          Op::UCmpEq64,  Op::UCmpNe64,  Op::UCmpLtU64};
        auto shift = [&] {
            return b.op(wide ? Op::UShl64 : Op::UShl32,
                        {value(b, type), b.c32(static_cast<uint32_t>(rng_() % 6))});
        };
        const Op compare = compares[rng_() % std::size(compares)];
        const ir::Type of = ir::op_info(compare).args[0];
        const Value once = selects ? b.op(compare, {value(b, of), value(b, of)}) : shift();
        for (uint64_t uses = 1 + rng_() % 2; uses; --uses) {
            if (rng_() % 4 == 0) b.op(Op::SetS32, {value(b, ir::Type::U32)}, rng_() % read);
            const Value x = value(b, type), y = value(b, type);
            if (selects)
                note(b, b.op(wide ? Op::USelect64 : Op::USelect32, {once, x, y}));
            else
                note(b, b.op(wide ? Op::UAdd64 : Op::UAdd32,
                             {rng_() % 2 ? once : x, rng_() % 4 ? once : shift()}));
        }
    }

    ir::Block program() {
        static const std::vector<Op> all = operations();
        static constexpr Op often[] = {Op::UAdd32,   Op::UAdd64,    Op::UCmpLtU32, Op::UCmpLtS32,
                                       Op::UCmpEq64, Op::USelect32, Op::USelect64, Op::UAnd32,
                                       Op::USub32,   Op::UPack64};
        Builder b;
        for (std::vector<Value>& v : values_) v.clear();
        for (uint32_t s = 0; s < read; s += 2) {
            const uint64_t kind = rng_() % 3;
            if (kind == 0) note(b, b.op(Op::GetS64, {}, s));
            if (kind == 1) note(b, b.op(Op::GetS32, {}, s + rng_() % 2));
        }
        for (uint64_t left = 20 + rng_() % 150; left; --left) {
            if (rng_() % 8 == 0) {
                for_one_use(b);
                continue;
            }
            if (rng_() % 12 == 0) {
                const bool wide = rng_() % 2;
                b.op(wide ? Op::SetS64 : Op::SetS32,
                     {value(b, wide ? ir::Type::U64 : ir::Type::U32)}, rng_() % (read / 2) * 2);
                continue;
            }
            const Op op = rng_() % 2 ? often[rng_() % std::size(often)] : all[rng_() % all.size()];
            const ir::OpInfo& info = ir::op_info(op);
            Value a[3] = {ir::no_value, ir::no_value, ir::no_value};
            for (uint32_t n = 0; n < info.arg_count; ++n) a[n] = value(b, info.args[n]);
            note(b, b.op(op, {a[0], a[1], a[2]}));
        }
        // One register more than once, with others in between.
        const Value again = value(b, ir::Type::U32);
        for (uint64_t n = rng_() % 4; n; --n)
            b.op(Op::SetS32, {rng_() % 2 ? again : value(b, ir::Type::U32)}, written + 1);
        note(b, b.op(Op::UAdd32, {again, b.c32(5)}));
        uint32_t s = read;
        for (const Value v : values_[0])
            if (rng_() % 3 == 0 && s < written) b.op(Op::SetS32, {v}, s++);
        s += s % 2;
        for (const Value v : values_[1])
            if (rng_() % 3 == 0 && s < written) b.op(Op::SetS64, {v}, s), s += 2;
        return b.block;
    }

    Rng rng_{17};
    std::vector<Value> values_[2];  // of 32 bits, of 64
};

TEST_P(UniformOpsTest, AsTheModel) {
    for (int n = wanted_rounds(1500); n; --n) {
        SCOPED_TRACE(n);
        compare(program(), rng_, 2);
        if (HasFatalFailure()) return;
    }
}

WJ_JIT_TESTS(UniformOpsTest);

}  // namespace
}  // namespace wj::jit_test
