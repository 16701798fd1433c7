// Waves of a work-group that start each other in translated code: what one has found out about its
// lines holds for the next ones, where v0 goes on (ir::Block::waves_in_row). The interpreter runs
// them one by one.
#include <algorithm>
#include <map>

#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

constexpr uint32_t group_id = 8, limit = 4, arguments = 6, first_array = 10, arrays = 4;
constexpr uint32_t buffer_bytes = 1 << 17;

// A launch of groups * waves waves, all the same object.
struct Launch final : machine::WaveSource {
    const State& first;
    State& state;
    uint64_t pc;
    uint32_t waves, groups, skip;  // one wave of a group, or none, is not run
    bool offers;                   // runs, which translated code starts by itself
    uint32_t number = 0, again_count = 0, run_count = 0;
    int64_t slice = 1 << 20, instructions = 0;
    machine::WaveRun offer{};
    uint32_t offered_at = 0, executed = 0;
    std::vector<uint32_t> ids;

    Launch(const State& first_, State& state_, uint64_t pc_, uint32_t waves_, uint32_t groups_,
           uint32_t skip_, bool offers_)
        : first(first_),
          state(state_),
          pc(pc_),
          waves(waves_),
          groups(groups_),
          skip(skip_),
          offers(offers_) {
        for (uint32_t l = 0; l < waves * machine::lanes; ++l) ids.push_back(l);
    }

    machine::WaveRun* run() override { return &offer; }
    // The wave behind the running one and all that follow.
    void make_offer(uint32_t executed_) {
        const uint32_t wave = number % waves;
        const auto* const bytes = reinterpret_cast<const uint8_t*>(ids.data());
        offer = {.left = waves - 1 - wave,
                 .groups = groups - 1 - number / waves,
                 .most_left = waves - 1,
                 .id_bytes = machine::lanes * 4,
                 .ids = bytes + wave * machine::lanes * 4,
                 .first_ids = bytes,
                 .group_id = &state.wave.sgpr[group_id]};
        executed = executed_;
        offered_at = number;
    }
    void take_notice() {
        if (!offer.ids) return;
        number = (groups - 1 - offer.groups) * waves + waves - 1 - offer.left;
        instructions += int64_t{executed} * (number - offered_at);
        run_count += number - offered_at;
        offer = {};
    }
    void settle() override {
        take_notice();
        identify(state.wave);
    }

    bool advance() {
        do ++number;
        while (number < waves * groups && number % waves == skip);
        return number < waves * groups;
    }
    void identify(machine::Wave& wave) const {
        for (uint32_t l = 0; l < machine::lanes; ++l)
            wave.row(0)[l] = number % waves * machine::lanes + l;
        wave.sgpr[group_id] = first.wave.sgpr[group_id] + number / waves;
    }
    machine::Wave* start() {
        machine::ExecContext* const context = state.wave.ctx;
        state.copy_from(first);
        state.wave.ctx = context;
        state.wave.sgpr_count = 32;
        state.wave.pc = pc;
        state.wave.budget = slice;
        state.wave.exit = {};
        identify(state.wave);
        return &state.wave;
    }
    machine::Wave* next(machine::Wave& wave) override {
        take_notice();
        if (wave.exit.kind != machine::ExitKind::EndProgram) return nullptr;
        instructions += slice - wave.budget;
        return advance() ? start() : nullptr;
    }
    bool again(machine::Wave& wave, uint32_t executed_) override {
        take_notice();
        if (!advance()) {
            --number;
            return false;
        }
        ++again_count;
        instructions += executed_;
        identify(wave);
        wave.budget = slice - executed_;
        if (offers) make_offer(executed_);
        return true;
    }
};

class WavesInRowTest : public WordsTest {
protected:
    void vop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(op << 25 | dst << 17 | b << 9 | a);
    }
    void mask(uint32_t bits) {
        words_.insert(words_.end(), {0x13u << 25 | 2 << 17 | 2 << 9 | 255, bits});
    }
    // v2: an index made of v0, below 8192: all that is reached lies in the buffer.
    void index() {
        constexpr uint32_t end = 8192, largest_limit = 1500;
        uint32_t most = 5 * 600 + 5 * 64;
        vop2(0x34, 2, random(3) ? group_id + 1 : 128 + random(8), 0);  // v_add_u32
        for (uint32_t k = random(3); k; --k) {
            const uint32_t n = 1 + random(2);
            switch (random(6)) {
                case 0:
                    mask(random(2) ? 0x3ffu : 63u << random(4));
                    break;
                case 1:  // v_lshrrev_b32, v_lshlrev_b32
                    vop2(random(2) ? 0x10 : 0x12, 2, 128 + n, 2);
                    most <<= n;
                    break;
                case 2:  // v_mul_u32_u24
                    vop2(0x08, 2, 129 + n, 2);
                    most *= 1 + n;
                    break;
                case 3:  // v_min_u32, v_max_i32
                    vop2(random(2) ? 0x0e : 0x0d, 2, random(2) ? limit : 128 + random(64), 2);
                    most = std::max(most, largest_limit);
                    break;
                case 4:  // v_sub_u32
                    vop2(0x35, 2, limit, 2);
                    mask(0x3ff);
                    most = 0x3ff;
                    break;
                default:
                    vop2(0x34, 2, random(2) ? limit : 128 + random(64), 2);
                    most += largest_limit;
                    break;
            }
        }
        if (most >= end) mask(end - 1);
    }
    void program() {
        words_.clear();
        branches_ = false;
        words_.insert(words_.end(), {0xc0020000 | limit << 6 | arguments / 2, 0});  // s_load_dword
        words_.push_back(0xbf8cc07f);                                               // s_waitcnt
        words_.push_back(0x92000000 | (group_id + 1) << 16 | 5 << 8 | group_id);    // s_mul_i32
        index();
        if (random(2)) {  // v_cmp_gt_u32 vcc, s4, v2; s_and_saveexec_b64; s_cbranch_execz
            words_.push_back(0x7c000000 | 0xcc << 17 | 2 << 9 | limit);
            words_.push_back(0xbe92206a);
            branches_ = random(2);
            if (branches_) words_.push_back(0xbf880000 | 0xffff);
        }
        const size_t branch = words_.size() - 1;
        vop2(0x12, 3, 128 + 2, 2);  // v_lshlrev_b32 v3 = 4 * v2
        const bool wide = random(2);
        for (uint32_t k = 1 + random(4); k; --k) {
            const uint32_t base = first_array + 2 * random(arrays), kind = random(8),
                           offset = 4 * random(4), data = 12 + random(4);
            const bool store = random(2);
            const bool bytes = kind < 3;
            const uint32_t op = store   ? bytes ? 0xdc608000 : 0xdc708000
                                : bytes ? 0xdc408000
                                        : 0xdc508000;
            if (wide && !bytes) {  // v_lshlrev_b64, v_add_co_u32, v_addc_co_u32
                words_.push_back(0x7e000280 | 5 << 17);
                words_.push_back(0x7e000300 | 4 << 17 | 2);
                words_.insert(words_.end(), {0xd28f0004, (128 + 2) | (256 + 4) << 9});
                words_.push_back(0x7e000200 | 6 << 17 | (base + 1));
                vop2(0x19, 4, base, 4);
                vop2(0x1c, 5, 256 + 6, 5);
                words_.push_back(op | offset);
                words_.push_back(data << (store ? 8 : 24) | 0x7f << 16 | 4);
            } else {
                words_.push_back(op | offset);
                words_.push_back(data << (store ? 8 : 24) | base << 16 | (bytes ? 2 : 3));
            }
            // Sums of what was loaded, and now and then of the index or a scalar.
            const uint32_t other = random(6);
            vop2(0x34, 12 + random(4),
                 other == 0   ? 256 + 2
                 : other == 1 ? limit
                              : 256 + 12,
                 12 + random(4));
        }
        const uint32_t behind = static_cast<uint32_t>(words_.size() - branch - 1);
        if (branches_) words_[branch] = 0xbf880000 | behind;
        words_.push_back(0xbf810000);  // s_endpgm
    }

    bool branches_ = false;
};

TEST_P(WavesInRowTest, AsOneByOne) {
    const auto translator = std::move(*x64::make_translator(*context_.target, GetParam(), {}));
    const uint64_t buffer = space_.allocate(buffer_bytes, memory::read_write, "buffer").value();
    const uint64_t at_arguments = space_.allocate(64, memory::read_write, "arguments").value();
    auto* const bytes = reinterpret_cast<uint8_t*>(buffer);
    std::vector<uint8_t> before(buffer_bytes), want(buffer_bytes);
    const int programs = wanted_rounds(1500);
    int again = 0, in_runs = 0;
    for (int n = 0; n < programs; ++n) {
        program();
        load(code_);
        translator->invalidate(code_, code_ + code_bytes);
        const uint32_t waves = 2 + random(4);
        context_.kernel = code_;
        context_.group_ids.waves_in_row = random(4) ? waves : 2 + random(4);
        context_.group_ids.sgpr[0] = group_id;
        for (int k = 0; k < 4; ++k) {
            State first;
            randomise(first, rng_);
            first.wave.set_s64(machine::exec_lo, ~0ull);
            first.wave.mode = 0x3c0;
            const uint32_t groups = 1 + random(3), work_items = 64 * waves * groups;
            for (uint32_t l = 0; l < machine::lanes; ++l) first.wave.row(0)[l] = l;
            first.wave.sgpr[group_id] = random(2);
            first.wave.sgpr[5] = random(8) ? 64 * waves : random(600);
            context_.group_ids.middle[0] = random(groups + 1);
            first.wave.set_s64(arguments, at_arguments);
            *reinterpret_cast<uint32_t*>(at_arguments) =
                random(2) ? work_items + (random(2) ? 0 : random(200)) : random(1500);
            uint64_t last = 0x2000;
            for (uint32_t a = 0; a < arrays; ++a) {
                last = random(3) == 0 ? 0x2000 + 0x2000 * random(5) : last + 4 * random(300) - 600;
                first.wave.set_s64(first_array + 2 * a, buffer + last);
            }
            for (size_t at = 0; at < before.size(); at += 8) {
                const uint64_t x = rng_();
                std::memcpy(&before[at], &x, 8);
            }
            int64_t executed = 0;
            const uint32_t skip = random(4) ? ~0u : random(waves);
            std::ranges::copy(before, bytes);
            {
                State state;
                state.wave.ctx = &context_;
                Launch launch(first, state, code_, waves, groups, skip, false);
                machine::Wave* wave = skip == 0 && !launch.advance() ? nullptr : launch.start();
                while (wave) {
                    ASSERT_EQ(interpreter_->run(*wave), machine::ExitKind::EndProgram) << text();
                    wave->exit.kind = machine::ExitKind::EndProgram;
                    wave = launch.next(*wave);
                }
                executed = launch.instructions;
            }
            std::ranges::copy_n(bytes, buffer_bytes, want.begin());
            std::ranges::copy(before, bytes);
            State state;
            state.wave.ctx = &context_;
            Launch launch(first, state, code_, waves, groups, skip, skip == ~0u && random(2));
            if (skip == 0) launch.advance();
            translator->run_all(*launch.start(), launch);
            again += static_cast<int>(launch.again_count + launch.run_count);
            in_runs += static_cast<int>(launch.run_count);
            ASSERT_TRUE(std::equal(want.begin(), want.end(), bytes)) << text();
            // What no lane needs may be charged, too (docs/backend.md: arms).
            if (!branches_) {
                ASSERT_EQ(launch.instructions, executed) << text();
            }
        }
    }
    EXPECT_GT(again, 4 * programs);
    EXPECT_GT(in_runs, programs);
}

WJ_JIT_TESTS(WavesInRowTest);

}  // namespace
}  // namespace wj::jit_test
