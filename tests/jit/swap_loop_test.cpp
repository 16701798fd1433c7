// Loops of compare-and-swap that add (ir/swap_loop.h), and loops that look like them, on the
// interpreter, which tries again and again, and on translators.
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

class SwapLoopTest : public WordsTest {
protected:
    static constexpr uint32_t slots = 64, out_bytes = 64;
    static constexpr uint32_t done = 4, all = 6;  // pairs of scalar registers

    struct Loop {
        bool wide = false;
        bool other_order = false;     // what is added comes first: another NaN wins
        bool counts = false;          // v16: how often
        bool keeps_found = false;     // v16: what was there
        bool of_expected = false;     // what is added is what is expected
        bool condition_read = false;  // VCC of the last iteration, behind the loop
    };

    void program(const Loop& l) {
        words_.clear();
        auto add = [&](std::initializer_list<uint32_t> w) {
            words_.insert(words_.end(), w.begin(), w.end());
        };
        const size_t top = words_.size();
        if (l.counts) add({0x68202081});  // v_add_u32 v16, 1, v16
        if (l.wide) {
            if (l.of_expected)
                add({0xd2800008, 0x0002150a});  // v_add_f64 v[8:9], v[10:11], v[10:11]
            else if (l.other_order)
                add({0xd2800008, 0x0002150c});  // v_add_f64 v[8:9], v[12:13], v[10:11]
            else
                add({0xd2800008, 0x0002190a});  // v_add_f64 v[8:9], v[10:11], v[12:13]
            add({0xdd858000, 0x087f0800});      // global_atomic_cmpswap_x2 v[8:9], ...[8:11] glc
            add({0xbf8c0f70, 0x7dd41508});      // s_waitcnt; v_cmp_eq_u64 vcc, v[8:9], v[10:11]
        } else {
            if (l.of_expected)
                add({0x02040703});  // v_add_f32 v2, v3, v3
            else
                add({l.other_order ? 0x02040704u : 0x02040903u});  // v_add_f32 v2, v4, v3
            add({0xdd058000, 0x027f0200});  // global_atomic_cmpswap v2, v[0:1], v[2:3] glc
            add({0xbf8c0f70, 0x7d940702});  // s_waitcnt; v_cmp_eq_u32 vcc, v2, v3
        }
        add({0x8784046a});  // s_or_b64 s[4:5], vcc, s[4:5]
        if (l.wide)
            add({0xd3b3500a, 0x18021108});  // v_pk_mov_b32 v[10:11], v[8:9], v[8:9]
        else
            add({0x7e060302});                                                // v_mov_b32 v3, v2
        if (l.keeps_found) add({0x7e200300u | (l.wide ? 8u : 2u)});           // v_mov_b32 v16
        add({0x89fe047e});                                                    // s_andn2_b64 exec
        words_.push_back(0xbf890000 | ((top - words_.size() - 1) & 0xffff));  // s_cbranch_execnz
        add({0xbefe0106});                                                    // s_mov_b64 exec
        if (l.condition_read) add({0x7e20026a});  // v_mov_b32 v16, vcc_lo
        add({0xdc748000, 0x007f020e});            // global_store_dwordx2 v[14:15], v[2:3]
        add({0xdc7c8010, 0x007f080e});            // global_store_dwordx4 offset:16 v[8:11]
        add({0xdc708008, 0x007f100e});            // global_store_dword offset:8 v16
        add({0xbf810000});                        // s_endpgm
    }
};

TEST_P(SwapLoopTest, AddsAsTheLoopDoes) {
    const auto translator = std::move(*x64::make_translator(*context_.target, GetParam(), {}));
    const uint64_t data = space_.allocate(4096, memory::read_write, "data").value();
    const uint64_t out = space_.allocate(4096, memory::read_write, "out").value();
    auto* const bytes = reinterpret_cast<uint8_t*>(data);
    auto* const results = reinterpret_cast<uint8_t*>(out);
    const int programs = wanted_rounds(600);
    int at_once = 0;
    for (int n = 0; n < programs; ++n) {
        Loop l{.wide = random(2) != 0};
        switch (random(10)) {
            case 0:
                l.other_order = true;
                break;
            case 1:
                l.counts = true;
                break;
            case 2:
                l.of_expected = true;
                break;
            case 3:
                l.condition_read = true;
                break;
            case 4:
                l.keeps_found = true;
                break;
            default:
                break;
        }
        program(l);
        load(code_);
        translator->invalidate(code_, code_ + code_bytes);
        State first;
        randomise(first, rng_);
        first.wave.mode = 0x3f0;
        const bool overlap = random(8) == 0;
        if (random(2)) first.wave.set_s64(machine::exec_lo, ~0ull);
        if (!first.wave.exec()) first.wave.set_s64(machine::exec_lo, 1);
        first.wave.set_s64(all, first.wave.exec());
        const uint64_t before = random(2) ? 0 : rng_();
        first.wave.set_s64(done, overlap ? before : before & ~first.wave.exec());
        // Lanes that add to one place have loaded what they expect together.
        std::array<uint64_t, slots> expected{};
        std::vector<uint8_t> start(slots * 8), want, want_results;
        for (size_t at = 0; at < start.size(); at += 8) {
            uint64_t x = rng_();
            if (random(3)) x = std::bit_cast<uint64_t>(static_cast<double>(random(100)));
            if (random(8) == 0) x |= 0x7ff80000'7fc00000;  // NaNs
            std::memcpy(&start[at], &x, 8);
            expected[at / 8] = random(2) ? x : rng_();
        }
        const uint32_t places = random(3) ? 1 + random(slots) : 1;
        for (uint32_t lane = 0; lane < machine::lanes; ++lane) {
            const uint32_t place = random(places);
            const uint64_t at = data + 8 * place, to = out + lane * out_bytes;
            auto set = [&](uint32_t row, uint64_t v) {
                first.wave.row(row)[lane] = static_cast<uint32_t>(v);
                first.wave.row(row + 1)[lane] = static_cast<uint32_t>(v >> 32);
            };
            set(0, at);
            set(14, to);
            set(10, expected[place]);
            set(2, expected[place] << 32);
            if (random(4)) set(12, std::bit_cast<uint64_t>(1.0 + random(9)));
            if (random(4)) first.wave.row(4)[lane] = std::bit_cast<uint32_t>(1.0f + random(9));
        }
        auto run = [&](machine::Engine& engine) {
            State s;
            s.copy_from(first);
            s.wave.ctx = &context_;
            s.wave.mode = first.wave.mode;
            s.wave.pc = code_;
            std::ranges::copy(start, bytes);
            std::memset(results, 0, machine::lanes * out_bytes);
            const int64_t budget = s.wave.budget;
            EXPECT_EQ(engine.run(s.wave), machine::ExitKind::EndProgram) << text();
            return budget - s.wave.budget;
        };
        const int64_t executed = run(*interpreter_);
        want.assign(bytes, bytes + start.size());
        want_results.assign(results, results + machine::lanes * out_bytes);
        const int64_t translated = run(*translator);
        ASSERT_TRUE(std::equal(want.begin(), want.end(), bytes)) << n << '\n' << text();
        ASSERT_TRUE(std::equal(want_results.begin(), want_results.end(), results)) << n << '\n'
                                                                                   << text();
        at_once += translated < static_cast<int64_t>(words_.size()) && executed > translated;
    }
    EXPECT_GT(at_once, programs / 5);
}

WJ_JIT_TESTS(SwapLoopTest);

}  // namespace
}  // namespace wj::jit_test
