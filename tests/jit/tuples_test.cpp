// Elements of several dwords that lie behind each other, which are not always taken apart into rows
// of dwords (Schedule::pair_of, in_memory_order): whatever is made of them, and wherever it goes.
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using ir::Access;

class TuplesTest : public JitTest {
protected:
    static constexpr uint32_t arrays = 3, array_bytes = 64 * 16 + 256;

    // A line without gaps, or nearly one.
    Value line(Builder& b, uint32_t bytes) {
        const uint32_t width = rng_() % 3 ? 64 : 32 >> rng_() % 3;
        const bool neighbours = bytes == 16 && rng_() % 3 == 0;  // two pairs, the second the next's
        const uint32_t stride = neighbours ? 8 : rng_() % 8 ? bytes : 4 * (1 + rng_() % 4);
        const Value step = b.c32(width == 64 ? 0 : rng_() % 2 ? stride * width : 8);
        return b.op(Op::Line32, {b.c32(0), step}, stride, width);
    }
    Value mask(Builder& b) { return rng_() % 3 ? full_ : b.exec(); }
    Value any(const std::vector<Value>& from) { return from[rng_() % from.size()]; }

    // From the LDS: often the same for all lanes of a row, or at its end.
    Value load_lds(Builder& b, uint32_t dwords, Value where) {
        const uint32_t width = 64 >> rng_() % 3, stride = rng_() % 2   ? 0
                                                          : rng_() % 3 ? 8
                                                                       : 4 * dwords;
        const Value step = b.c32(width == 64 || rng_() % 3 == 0 ? 0 : 8 * (rng_() % 20));
        const Value at =
            b.op(Op::Line32, {b.op(Op::GetS32, {}, 22 + rng_() % 2), step}, stride, width);
        return b.op(Op::LoadLds, {at, where}, 4 * (rng_() % 16),
                    ir::make_aux(Access::Dwords, dwords));
    }

    void load(Builder& b) {
        const bool lds = rng_() % 3 == 0;
        const uint32_t dwords = rng_() % 3 ? (lds && rng_() % 2 ? 4 : 2) : 1 + rng_() % 4;
        const Value where = lds && rng_() % 4 ? full_ : mask(b);
        const Value x = lds ? load_lds(b, dwords, where)
                            : b.op(Op::LoadGlobalS, {any(bases_), line(b, 4 * dwords), where},
                                   4 * (rng_() % 16), ir::make_aux(Access::Dwords, dwords));
        std::vector<Value> parts;
        for (uint32_t d = 0; d < dwords; ++d) parts.push_back(b.op(Op::Elem, {x}, d));
        // What lanes that are off have loaded is nobody's business.
        if (where != full_)
            for (Value& p : parts)
                if (rng_() % 2) p = b.op(Op::Select32, {where, p, any(dwords_)});
        const bool whole = where == full_;
        if (whole && rng_() % 3 == 0) tuples_.push_back(parts);
        if (whole && dwords % 2 == 0 && rng_() % 4) {
            const uint32_t first = dwords == 4 && rng_() % 4 == 0;  // across two pairs
            for (uint32_t d = first; d + 1 < dwords; d += 2)
                if (d == first || rng_() % 4)
                    pairs_.push_back(b.op(Op::Pack64, {parts[d], parts[d + 1]}));
            if (rng_() % 4) return;
        }
        if (whole && rng_() % 3 == 0) dwords_.insert(dwords_.end(), parts.begin(), parts.end());
    }

    void store(Builder& b) {
        uint32_t dwords = 2;
        std::vector<Value> parts;
        if (!tuples_.empty() && rng_() % 3 == 0) {
            parts = tuples_[rng_() % tuples_.size()];
            dwords = static_cast<uint32_t>(parts.size());
        } else if (rng_() % 5) {
            const Value x = any(pairs_);
            for (const Op half : {Op::Lo, Op::Hi})
                parts.push_back(rng_() % 8 ? b.op(half, {x}) : any(dwords_));
            if (rng_() % 8 == 0) dwords_.push_back(parts[rng_() % 2]);
        } else {
            for (uint32_t d = 0; d < dwords; ++d) parts.push_back(any(dwords_));
        }
        parts.resize(4, ir::no_value);
        b.op(Op::StoreGlobalS, {any(bases_), line(b, 4 * dwords), mask(b)}, 4 * (rng_() % 16),
             ir::make_aux(Access::Dwords, dwords), {parts[0], parts[1], parts[2], parts[3]});
    }

    void make(Builder& b) {
        const auto pair = [&] { return any(pairs_); };
        switch (rng_() % 13) {
            case 0:
                return pairs_.push_back(b.op(Op::FAdd64, {pair(), pair()}));
            case 1:
                return pairs_.push_back(b.op(Op::FMul64, {pair(), pair()}));
            case 2:
                return pairs_.push_back(b.op(Op::FFma64, {pair(), pair(), pair()}));
            case 3:
                return pairs_.push_back(b.op(rng_() % 2 ? Op::Add64 : Op::Sub64, {pair(), pair()}));
            case 4:
                return pairs_.push_back(b.op(Op::FMul64, {pair(), constant_}));
            case 5:
                return pairs_.push_back(b.op(Op::FSqrt64, {pair()}));
            case 6:
                return dwords_.push_back(b.op(Op::CvtF64ToF32, {pair()}));
            case 7:
                return pairs_.push_back(b.op(Op::CvtF32ToF64, {any(dwords_)}));
            case 8:
                return dwords_.push_back(b.op(Op::Select32, {b.op(Op::CmpLtU64, {pair(), pair()}),
                                                             any(dwords_), any(dwords_)}));
            case 9:
                return dwords_.push_back(b.op(rng_() % 2 ? Op::Lo : Op::Hi, {pair()}));
            case 10:
            case 11: {
                const std::vector<Value> whole =
                    tuples_.empty() ? dwords_ : tuples_[rng_() % tuples_.size()];
                if (whole.size() == 2 || whole.size() == 4) {
                    const size_t first = rng_() % (whole.size() - 1);
                    return pairs_.push_back(b.op(Op::Pack64, {whole[first], whole[first + 1]}));
                }
                return pairs_.push_back(b.op(Op::Pack64, {any(dwords_), any(dwords_)}));
            }
            default:
                return b.set(8 + rng_() % 16, any(dwords_));
        }
    }

    ir::Block block() {
        Builder b;
        full_ = b.full();
        bases_.clear(), tuples_.clear();
        for (uint32_t n = 0; n < arrays; ++n) bases_.push_back(b.op(Op::GetS64, {}, 10 + 2 * n));
        dwords_ = {b.v(2), b.v(3), b.op(Op::LaneId)};
        constant_ = b.op(Op::Splat64, {b.op(Op::GetS64, {}, 20)});
        pairs_ = {constant_};
        if (rng_() % 2) pairs_.push_back(b.pair(4));
        // Loads and little else, so that most blocks have something that stays whole.
        const uint64_t others = rng_() % 3;
        for (uint64_t n = 1 + rng_() % 4; n-- > 0;) {
            load(b);
            if (rng_() % 8 == 0)
                b.op(Op::StoreLds,
                     {b.op(Op::Line32, {b.op(Op::GetS32, {}, 22), b.c32(0)}, 4, 64), full_}, 0,
                     ir::make_aux(Access::Dwords, 1), {any(dwords_)});
            for (uint64_t k = rng_() % 3; k-- > 0;)
                if (rng_() % 3 < others)
                    make(b);
                else
                    pairs_.push_back(
                        b.op(Op::FFma64,
                             {any(pairs_), rng_() % 2 ? constant_ : any(pairs_), any(pairs_)}));
            if (rng_() % 3) store(b);
        }
        store(b);
        return b.block;
    }

    Rng rng_{61};
    Value full_ = 0, constant_ = 0;
    std::vector<Value> bases_, dwords_, pairs_;
    std::vector<std::vector<Value>> tuples_;
};

TEST_P(TuplesTest, LoadsAndStoresOfWholeElements) {
    for (int round = wanted_rounds(4000); round-- > 0;) {
        const ir::Block block = this->block();
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        Rig rig(GetParam());
        rig.source->blocks[block.pc] = block;
        std::vector<uint8_t> before(arrays * array_bytes);
        for (size_t at = 0; at < before.size(); at += 4) {
            const uint32_t x = random_dword(rng_);
            std::memcpy(&before[at], &x, 4);
        }
        State start, model, run;
        randomise(start, rng_);
        std::vector<uint8_t> memory = before;
        for (uint32_t n = 0; n < arrays; ++n)
            start.wave.set_s64(10 + 2 * n,
                               reinterpret_cast<uint64_t>(memory.data() + n * array_bytes));
        model.copy_from(start);
        run.copy_from(start);
        for (State* s : {&model, &run})
            for (uint32_t r : {22, 23})
                s->wave.sgpr[r] = static_cast<uint32_t>(
                    start.wave.sgpr[r] % 4 ? start.wave.sgpr[r] / 4 % 64 * 8
                                           : lds_bytes - start.wave.sgpr[r] / 4 % 24 * 4);
        ir::evaluate(block, model.wave);
        const std::vector<uint8_t> wanted = memory;
        std::ranges::copy(before, memory.begin());
        ASSERT_EQ(rig.engine->run(run.wave), machine::ExitKind::EndProgram);
        ASSERT_TRUE(same(run, model))
            << ir::print(block) << x64::disassemble_block(block, GetParam());
        const auto at = std::ranges::mismatch(memory, wanted).in1 - memory.begin();
        ASSERT_EQ(memory, wanted) << "from byte " << at % array_bytes << " of array "
                                  << at / array_bytes << "\n"
                                  << ir::print(block) << x64::disassemble_block(block, GetParam());
    }
}

WJ_JIT_TESTS(TuplesTest);

}  // namespace
}  // namespace wj::jit_test
