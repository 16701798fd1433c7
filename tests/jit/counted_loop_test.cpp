// Uniform loops whose ends are known beforehand (backend_x64/counted_loop.h), or seem to be:
// counters that go up, down, by steps that pass the bound, across the ends of their range; that
// the loop's body, its addresses or nobody else looks at.
#include "backend_x64/counted_loop.h"

#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

class CountedLoopTest : public WordsTest {
protected:
    static constexpr uint32_t counter = 0, bound = 1, sum = 2, old = 5, registers = 8,
                              most_iterations = 200;
    enum : uint32_t {
        s_add_u32 = 0,
        s_sub_u32 = 1,
        s_xor_b32 = 16,
        s_lshl_b32 = 28,
        s_lshl_b64 = 29,
        s_mul_i32 = 36
    };

    // SSRC of a small number.
    static uint32_t inline_constant(int32_t n) {
        return static_cast<uint32_t>(n >= 0 ? 128 + n : 192 - n);
    }
    void sop2(uint32_t op, uint32_t to, uint32_t a, uint32_t b) {
        words_.push_back(0x80000000 | op << 23 | to << 16 | b << 8 | a);
    }
    void vector_op() {
        static constexpr uint32_t ops[] = {52, 21, 6};  // add_u32, xor_b32, mul_i32_i24
        const uint32_t to = random(3), old = random(4) ? to : random(4);
        const uint32_t from = random(3) ? random(registers) : 256 + random(4);
        words_.push_back(ops[random(3)] << 25 | to << 17 | old << 9 | from);
    }

    // s_cmp_* of the machine.
    static bool holds(uint32_t op, uint32_t a, uint32_t b) {
        const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
        const bool results[] = {a == b, a != b, x > y, x >= y, x<y, x <= y, a == b, a != b, a> b,
                                a >= b, a < b,  a <= b};
        return results[op];
    }

    struct Ending {
        uint32_t op, step, first, bound;
        bool counter_first, next, while_set, constant;
    };
    uint32_t value() {
        static constexpr uint32_t near[] = {0, 0, 0x7fffffff, 0x80000000, 0xffffffff, 1u << 20};
        return near[random(6)] + random(80) - 40;
    }
    // One that ends soon.
    Ending ending() {
        for (;;) {
            static constexpr int32_t steps[] = {1, 1, -1, 2, -2, 4, -4, 16, 3, -5, 64};
            Ending e{random(12),     static_cast<uint32_t>(steps[random(11)]),
                     value(),        value(),
                     random(4) > 0,  random(3) > 0,
                     random(2) == 0, random(4) == 0};
            if (e.constant) e.bound = random(65);
            if (random(3)) e.first = e.bound - e.step * random(most_iterations);
            uint32_t n = 0;
            for (uint32_t c = e.first; n < most_iterations; ++n) {
                const uint32_t x = e.next ? c + e.step : c;
                c += e.step;
                const bool scc =
                    e.counter_first ? holds(e.op, x, e.bound) : holds(e.op, e.bound, x);
                if (scc != e.while_set) break;
            }
            if (n < most_iterations && (n > 1 || random(4) == 0)) return e;
        }
    }

    Ending write_loop() {
        const Ending e = ending();
        words_.clear();
        const uint32_t other = e.constant ? 128 + e.bound : bound;
        const uint32_t compared = e.next ? counter : old;
        auto compare = [&] {
            const uint32_t a = e.counter_first ? compared : other,
                           b = e.counter_first ? other : compared;
            words_.push_back(0xbf000000 | e.op << 16 | b << 8 | a);
        };
        auto step = [&] {
            const auto n = static_cast<int32_t>(e.step);
            if (n < -16 || (n <= 16 && random(2)))
                sop2(s_sub_u32, counter, counter, inline_constant(-n));
            else
                sop2(s_add_u32, counter, counter, inline_constant(n));
        };
        auto anything = [&] {
            for (uint32_t n = random(3); n; --n) {
                if (random(2)) {
                    vector_op();
                    continue;
                }
                static constexpr uint32_t ops[] = {s_add_u32, s_xor_b32, s_lshl_b32, s_mul_i32};
                // Reads the counter at times, which is half of a pair.
                if (random(8) == 0)
                    sop2(s_lshl_b64, 6, counter, 129);
                else
                    sop2(ops[random(4)], sum + random(3), random(registers),
                         random(2) ? random(registers) : 129);
            }
        };
        vector_op();
        anything();
        if (!e.next) words_.push_back(0xbe800000 | old << 16 | counter);  // s_mov_b32
        step();
        if (random(2)) anything();
        compare();
        for (uint32_t n = random(3); n; --n) vector_op();
        const auto back = static_cast<uint32_t>(-static_cast<int32_t>(words_.size()) - 1);
        words_.push_back(0xbf800000 | (e.while_set ? 5 : 4) << 16 | (back & 0xffff));
        words_.push_back(0xbf810000);  // s_endpgm
        return e;
    }
};

TEST_P(CountedLoopTest, EndWhereTheInterpretersDo) {
    const int rounds = wanted_rounds(1500);
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        State first;
        randomise(first, rng_);
        const Ending e = write_loop();
        first.wave.sgpr[counter] = e.first;
        if (!e.constant) first.wave.sgpr[bound] = e.bound;
        if (random(4)) first.wave.set_s64(machine::exec_lo, ~0ull);
        load(code_);
        compare(first, code_);
        if (HasFatalFailure()) return;
    }
}

WJ_JIT_TESTS(CountedLoopTest);

}  // namespace
}  // namespace wj::jit_test
