// Waves that start each other in translated code: what one has found out about its lines holds for
// the next ones, of its work-group and of those behind it (ir::Block::next). The interpreter runs
// them one by one.
#include <algorithm>
#include <map>

#include "tests/jit/guarded_page.h"
#include "tests/jit/remainder_words.h"
#include "tests/jit/target32.h"
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

constexpr uint32_t row_id = 1, bits = 2, pitch = 3, group_id = 8, limit = 4, size = 5,
                   arguments = 6, total = 10, modulus = 16, reciprocal = 17, stride = 24,
                   first_array = 32, arrays = 8;
constexpr uint32_t buffer_bytes = 1 << 19;

// A launch of groups * waves waves, all the same object.
struct Launch final : machine::WaveSource {
    const State& first;
    State& state;
    uint64_t pc;
    uint32_t waves, groups, skip;  // one wave of a group, or none, is not run
    uint32_t row;                  // work-groups of a row
    uint32_t lanes;                // of a wave
    bool offers;                   // runs, which translated code starts by itself
    uint32_t number = 0, again_count = 0, run_count = 0;
    int64_t slice = 1 << 20, instructions = 0;
    machine::WaveRun offer{};
    uint32_t offered_at = 0, offered_groups = 0, offered_rows = 0, executed = 0;
    std::vector<uint32_t> ids;

    Launch(const State& first_, State& state_, uint64_t pc_, uint32_t waves_, uint32_t groups_,
           uint32_t skip_, bool offers_, uint32_t width, uint32_t row_,
           uint32_t lanes_ = machine::lanes)
        : first(first_),
          state(state_),
          pc(pc_),
          waves(waves_),
          groups(groups_),
          skip(skip_),
          row(row_),
          lanes(lanes_),
          offers(offers_) {
        ids.resize(waves * machine::lanes);
        for (uint32_t l = 0; l < waves * lanes; ++l)
            ids[l / lanes * machine::lanes + l % lanes] = width ? l % width | l / width << 10 : l;
    }

    machine::WaveRun* run() override { return &offer; }
    // The wave behind the running one and all that follow.
    void make_offer(uint32_t executed_) {
        const uint32_t wave = number % waves;
        const auto* const bytes = reinterpret_cast<const uint8_t*>(ids.data());
        const uint32_t group = number / waves, behind = groups - 1 - group,
                       in_row = std::min(row - 1 - group % row, behind);
        offer = {.left = waves - 1 - wave,
                 .groups = in_row,
                 .rows = (behind - in_row) / row,
                 .most_left = waves - 1,
                 .most_groups = row - 1,
                 .id_bytes = machine::lanes * 4,
                 .ids = bytes + wave * machine::lanes * 4,
                 .first_ids = bytes,
                 .group_id = &state.wave.sgpr[group_id],
                 .row_id = &state.wave.sgpr[row_id]};
        offered_groups = in_row;
        offered_rows = offer.rows;
        executed = executed_;
        offered_at = number;
    }
    void take_notice() {
        if (!offer.ids) return;
        const uint32_t group =
            number / waves + (offered_rows - offer.rows) * row + offered_groups - offer.groups;
        number = group * waves + waves - 1 - offer.left;
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
            wave.row(0)[l] = ids[number % waves * machine::lanes + l];
        wave.sgpr[group_id] = number / waves % row;
        wave.sgpr[row_id] = first.wave.sgpr[row_id] + number / waves / row;
    }
    machine::Wave* start() {
        machine::ExecContext* const context = state.wave.ctx;
        state.copy_from(first);
        state.wave.ctx = context;
        state.wave.size = static_cast<uint8_t>(lanes);
        state.wave.sgpr_count = first_array + 2 * arrays;
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

class NextWavesTest : public WordsTest {
protected:
    void vop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(op << 25 | dst << 17 | b << 9 | a);
    }
    // words_ are the kernel, in work-groups of one row of this many waves.
    void begin_at_code(machine::Engine& translator, uint32_t waves) {
        load(code_);
        translator.invalidate(code_, code_ + code_bytes);
        context_.kernel = code_;
        context_.next_waves = {waves, machine::lanes, group_id};
        context_.group_ids.sgpr[0] = group_id;
    }
    void begin_waves_of(uint32_t lanes) {
        lanes_ = lanes;
        context_.whole_lanes = lanes;
        if (lanes != machine::lanes) context_.target = &target32();
        interpreter_ = interp::make_interpreter(*context_.target);
    }
    void randomise_full(State& first) {
        randomise(first, rng_);
        first.wave.set_s64(machine::exec_lo, machine::first_lanes(lanes_));
        first.wave.mode = 0x3c0;
    }
    // words_ makes v2 a work-item's number: it stores v12 there.
    void expect_stores_at_lanes() {
        const auto translator = std::move(*x64::make_translator(*context_.target, GetParam(), {}));
        const uint64_t buffer = space_.allocate(buffer_bytes, memory::read_write, "buffer").value();
        vop2(0x12, 3, 128 + 2, 2);  // v_lshlrev_b32
        words_.insert(words_.end(), {0xdc708000, 12u << 8 | first_array << 16 | 3});
        words_.push_back(0xbf810000);  // s_endpgm
        begin_at_code(*translator, 2);
        State first, state;
        randomise_full(first);
        first.wave.set_s64(first_array, buffer);
        state.wave.ctx = &context_;
        Launch launch(first, state, code_, 2, 1, ~0u, true, 0, 1);
        translator->run_all(*launch.start(), launch);
        const auto* const out = reinterpret_cast<const uint32_t*>(buffer);
        for (uint32_t l = 0; l < 2 * machine::lanes; ++l)
            ASSERT_EQ(out[l], first.wave.row(12)[l % machine::lanes]) << l;
    }
    // A scalar operation on pairs, which lane masks are; on their lower registers in waves of 32.
    void mask_op(uint32_t word) {
        constexpr uint32_t sop1 = 0xbe800000, and_saveexec = sop1 | 0x2000, mov = sop1 | 0x100;
        if (lanes_ == machine::lanes) {
            words_.push_back(word);
        } else if ((word & 0xff80ff00) == and_saveexec) {
            words_.push_back((word & 0xffff0000) | machine::exec_lo);  // s_mov_b32
            words_.push_back(0x86000000 | machine::exec_lo << 16 | machine::exec_lo << 8 |
                             (word & 255));  // s_and_b32
        } else {
            words_.push_back((word & 0xff80ff00) == mov ? word ^ 0x100 : word ^ 1 << 23);
        }
    }
    void mask(uint32_t bits) {
        words_.insert(words_.end(), {0x13u << 25 | 2 << 17 | 2 << 9 | 255, bits});
    }
    // v2: an index made of v0, below 2^15: all that is reached lies in the buffer.
    void index() {
        constexpr uint32_t end = 1 << 15, largest_limit = 1500;
        uint32_t most = most_groups * 600 + 5 * 64 + 63 * 200, from = 0;
        if (width_) {
            words_.insert(words_.end(), {0x13u << 25 | 6 << 17 | 255, 0x3ff});  // v_and_b32
            vop2(0x10, 7, 128 + 10, 0);
            if (random(4) == 0) vop2(0x35, 7, 128 + 63, 7);  // v_sub_u32
            const uint32_t by = random(2)   ? pitch
                                : random(2) ? 128 + 16 * (1 + random(3))
                                            : 128 + 1 + random(63);
            if (random(4) == 0)  // v_mul_lo_u32
                words_.insert(words_.end(), {0xd2850007, by | (256 + 7) << 9});
            else if (random(3))
                vop2(0x08, 7, by, 7);
            vop2(0x34, 7, 256 + 7, 6);
            from = 7;
        }
        vop2(0x34, 2, random(3) ? group_id + 1 : 128 + random(8), from);  // v_add_u32
        for (uint32_t k = random(3); k; --k) {
            const uint32_t n = 1 + random(2);
            switch (random(8)) {
                case 7:  // within a grid whose ends meet, as one number or as a magnitude
                    if (random(2)) vop2(0x34, 2, modulus, 2);       // v_add_u32
                    if (random(2)) vop2(0x34, 2, 128 + 64 + 1, 2);  // -1
                    if (random(2)) {                                // v_sub_u32, v_max_i32
                        vop2(0x35, 7, 128, 2);
                        vop2(0x0d, 2, 256 + 7, 2);
                    }
                    append_remainder(words_, 2, 7, modulus, reciprocal);
                    most = (1 << 13) - 1;  // whatever the reciprocal is
                    mask(most);
                    break;
                case 6:  // v_and_b32
                    vop2(0x13, 2, bits, 2);
                    break;
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
        // What all lanes load from one place, which waves may have stored to.
        if (random(6) == 0) {
            const uint32_t array = first_array + 2 * random(arrays);
            words_.push_back(0x7e000200 | 4 << 17 | array);  // v_mov_b32
            words_.push_back(0x7e000200 | 5 << 17 | (array + 1));
            words_.insert(words_.end(), {0xdc508000 | 4 * random(64), 11u << 24 | 0x7f << 16 | 4});
            words_.insert(words_.end(), {0x13u << 25 | 11 << 17 | 11 << 9 | 255, 0x3ff});
            vop2(0x34, 2, 256 + 11, 2);
            most += 0x3ff;
        }
        if (most >= end) mask(end - 1);
    }
    // s[22:23]: an array's address plus 4 * something that differs from wave to wave, or from
    // work-group to work-group; v10: x or y.
    void scalar_base() {
        const auto sop2 = [this](uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
            words_.push_back(0x80000000 | op << 23 | dst << 16 | b << 8 | a);
        };
        const uint32_t array = first_array + 2 * random(arrays);
        if (width_)
            vop2(0x10, 10, 128 + 10, 0);
        else
            vop2(0x34, 10, 128 + random(2), 0);
        if (width_ == lanes_ && random(3)) {
            words_.push_back(0x7e000500 | 20 << 17 | 10);  // v_readfirstlane_b32
            sop2(0x24, 20, 20, random(3) ? pitch : 128 + random(64));
        } else {
            const bool by_rows = random(2);
            sop2(0x24, 20, by_rows ? row_id : group_id + 1,  // s_mul_i32
                 by_rows ? pitch : 128 + random(3));
        }
        sop2(0x1c, 20, 20, 128 + 2);  // s_lshl_b32
        if (random(2))
            sop2(0x20, 21, 20, 128 + 31);  // s_ashr_i32
        else
            sop2(0x0e, 21, 128, 128);  // s_or_b32
        sop2(0, 22, array, 20);        // s_add_u32, s_addc_u32
        sop2(4, 23, array + 1, 21);
    }
    void compare() {
        static constexpr uint32_t others[] = {0xcd, 0xca, 0xc1, 0xce, 0xc9, 0xc4};
        const bool usual = random(3);
        const uint32_t op = usual ? 0xcc : others[random(6)], of = usual || random(2) ? 2 : 10;
        uint32_t with = usual || random(2) ? limit : 128 + random(4) * random(16);
        if (random(3) == 0) {  // of 64 bits: v_cmp_*_u64, s[12:13]
            words_.push_back(0xbe800000 | 12 << 16 | with);
            words_.push_back(0xbe800000 | 13 << 16 | (random(8) ? 128 : 129));
            words_.push_back(0x7e000200 | (of + 1) << 17 | (random(16) ? 128 : 129));
            words_.push_back(0x7c000000 | (op + 0x20) << 17 | of << 9 | 12);
            return;
        }
        words_.push_back(0x7c000000 | op << 17 | of << 9 | with);  // v_cmp_*
    }
    // 0 < x < 60 or so, and perhaps bounds of y, as stencils begin.
    void edges() {
        constexpr uint32_t lower = 0xc9, upper = 0xcc, kept = 26;  // v_cmp_lt_u32, v_cmp_gt_u32
        const auto test = [this](uint32_t op, uint32_t with, uint32_t of) {
            words_.push_back(0x7c000000 | op << 17 | of << 9 | with);
        };
        test(lower, 128 + random(3), 6);
        for (uint32_t more = 1 + random(3); more; --more) {
            mask_op(0xbe80016a | kept << 16);  // s_mov_b64
            if (random(3) == 0)
                test(upper, 128 + 2 + random(61), 6);
            else if (random(2))
                test(lower, 128 + random(2), 10);
            else
                test(upper, 128 + 1 + random(8), 10);
            mask_op(0x86800000 | 106 << 16 | kept << 8 | 106);  // s_and_b64
        }
    }
    // Some lanes load or store by a pointer that only they load.
    void arm() {
        arms_ = true;
        words_.push_back(0x7c000000 | 0xc1 << 17 | (12 + random(4)) << 9 | 128);  // v_cmp_lt_i32
        mask_op(0xbe80206a | 28 << 16);  // s_and_saveexec_b64
        words_.push_back(0xbf880005);    // s_cbranch_execz
        words_.insert(words_.end(), {0xc0060000 | 30 << 6 | arguments / 2, 8});  // s_load_dwordx2
        words_.push_back(0xbf8cc07f);                                            // s_waitcnt
        const uint32_t data = 12 + random(4);
        if (random(2))
            words_.insert(words_.end(), {0xdc508000, data << 24 | 30 << 16 | 3});
        else
            words_.insert(words_.end(), {0xdc708000, data << 8 | 30 << 16 | 3});
        mask_op(0x87fe007e | 28 << 8);  // s_or_b64 exec
        vop2(0x34, 12, 256 + data, 13);
        words_.insert(words_.end(), {0xdc708000, 12u << 8 | (first_array + 2) << 16 | 3});
    }
    void program() {
        words_.clear();
        branches_ = arms_ = false;
        words_.insert(words_.end(), {0xc0020000 | limit << 6 | arguments / 2, 0});  // s_load_dword
        words_.push_back(0xbf8cc07f);                                               // s_waitcnt
        uint32_t items = size;
        if (random(2)) {  // the last work-group may be smaller: s_mul_i32, s_sub_u32, s_min_u32
            items = 11;
            words_.push_back(0x92000000 | items << 16 | size << 8 | group_id);
            words_.push_back(0x80800000 | items << 16 | items << 8 | total);
            words_.push_back(0x83800000 | items << 16 | size << 8 | items);
        }
        words_.push_back(0x92000000 | (group_id + 1) << 16 | items << 8 | group_id);  // s_mul_i32
        if (random(4) == 0)  // s_lshl_b32 by 0 to 2
            words_.push_back(0x8e000000 | (group_id + 1) << 16 | (128 + random(3)) << 8 |
                             (group_id + 1));
        index();
        scalar_base();
        if (random(2)) {  // s_and_saveexec_b64; s_cbranch_execz
            width_&& random(2) ? edges() : compare();
            mask_op(0xbe92206a);
            branches_ = random(2);
            if (branches_) words_.push_back(0xbf880000 | 0xffff);
        }
        const size_t branch = words_.size() - 1;
        vop2(0x12, 3, 128 + 2, 2);  // v_lshlrev_b32 v3 = 4 * v2
        // A loop while v19, which grows by the stride, is below the limit.
        const bool loops = random(5) == 0;
        constexpr uint32_t done = 26, exec = 126, vcc = 106;
        if (loops) {
            words_.push_back(0x7e000300 | 19 << 17 | (random(2) ? 2 : 0));
            words_.push_back(0xbe800180 | done << 16);  // s_mov_b64
        }
        const size_t top = words_.size();
        // v8: another index, which goes on otherwise; v9 = 4 * v8.
        if (width_) {
            vop2(0x10, 9, 128 + 10, 0);
            vop2(0x08, 9, 128 + 1 + random(63), 9);
        }
        vop2(0x34, 8, 256 + (width_ ? 9 : 0), 2);
        words_.insert(words_.end(), {0x13u << 25 | 8 << 17 | 8 << 9 | 255, (1 << 15) - 1});
        vop2(0x12, 9, 128 + 2, 8);
        const bool wide = random(2);
        // Now and then more arrays than there are registers for pointers.
        for (uint32_t k = 1 + random(random(3) ? 4 : 12); k; --k) {
            const uint32_t base = random(4) ? first_array + 2 * random(arrays) : 22,
                           kind = random(8), offset = 4 * random(4), data = 12 + random(4),
                           from = random(4) ? 2 : 8;
            const bool store = random(2);
            const bool bytes = kind < 3;
            const uint32_t op = store   ? bytes ? 0xdc608000 : 0xdc708000
                                : bytes ? 0xdc408000
                                        : 0xdc508000;
            if (wide && !bytes) {  // v_lshlrev_b64, v_add_co_u32, v_addc_co_u32
                words_.push_back(0x7e000280 | 5 << 17);
                words_.push_back(0x7e000300 | 4 << 17 | from);
                if (random(3) == 0) {  // an upper half that is 0: s_load_dword, v_mad_u64_u32
                    words_.insert(words_.end(), {0xc0020000 | 13 << 6 | arguments / 2, 16});
                    words_.push_back(0xbf8cc07f);
                    words_.push_back(0x7e000300 | 18 << 17 | 5);
                    words_.insert(words_.end(),
                                  {0xd1e80010 | 14 << 8, (256 + 4) | 13 << 9 | (256 + 18) << 18});
                    words_.push_back(0x7e000300 | 5 << 17 | 16);
                }
                words_.insert(words_.end(), {0xd28f0004, (128 + 2) | (256 + 4) << 9});
                if (random(3) == 0) {  // v_subrev_co_u32, v_subbrev_co_u32
                    vop2(0x1b, 4, 128 + 4 * random(16), 4);
                    vop2(0x1e, 5, 128, 5);
                }
                words_.push_back(0x7e000200 | 6 << 17 | (base + 1));
                vop2(0x19, 4, base, 4);
                if (random(2))
                    vop2(0x1c, 5, 256 + 6, 5);
                else
                    vop2(0x1c, 5, 256 + 5, 6);
                words_.push_back(op | offset);
                words_.push_back(data << (store ? 8 : 24) | 0x7f << 16 | 4);
            } else {
                words_.push_back(op | offset);
                words_.push_back(data << (store ? 8 : 24) | base << 16 | (bytes ? from : from + 1));
            }
            // Sums of what was loaded, and now and then of the index or a scalar.
            const uint32_t other = random(6);
            vop2(0x34, 12 + random(4),
                 other == 0   ? 256 + 2
                 : other == 1 ? limit
                 : other == 2 ? (random(4) ? 256 + 12 : group_id)
                              : 256 + 12,
                 12 + random(4));
        }
        if (random(3) == 0) arm();
        if (loops) {
            vop2(0x34, 19, stride, 19);
            words_.push_back(0x7c000000 | 0xcb << 17 | 19 << 9 | limit);  // v_cmp_le_u32
            mask_op(0x87800000 | done << 16 | done << 8 | vcc);
            mask_op(0x89800000 | exec << 16 | done << 8 | exec);  // s_andn2_b64
            words_.push_back(0xbf890000 | ((top - words_.size() - 1) & 0xffff));
        }
        const uint32_t behind = static_cast<uint32_t>(words_.size() - branch - 1);
        if (branches_) words_[branch] = 0xbf880000 | behind;
        words_.push_back(0xbf810000);  // s_endpgm
    }

    void run_programs(int programs);

    static constexpr uint32_t most_groups = 14;
    bool branches_ = false, arms_ = false;
    uint32_t width_ = 0;  // of the work-groups, or 0: they are one row
    uint32_t lanes_ = machine::lanes;
};

void NextWavesTest::run_programs(int programs) {
    const auto translator = std::move(*x64::make_translator(*context_.target, GetParam(), {}));
    const uint64_t buffer = space_.allocate(buffer_bytes, memory::read_write, "buffer").value();
    const uint64_t at_arguments = space_.allocate(64, memory::read_write, "arguments").value();
    auto* const bytes = reinterpret_cast<uint8_t*>(buffer);
    std::vector<uint8_t> before(buffer_bytes), want(buffer_bytes);
    int again = 0, in_runs = 0;
    for (int n = 0; n < programs; ++n) {
        width_ = random(3) ? 0 : std::min(lanes_, 8u << random(4));
        program();
        load(code_);
        translator->invalidate(code_, code_ + code_bytes);
        const uint32_t waves = 1 + random(5);
        context_.kernel = code_;
        context_.next_waves = {random(4) ? waves : 1 + random(5),
                               width_ ? lanes_ / width_ << 10 : lanes_,
                               width_ && random(2) ? -1 : int32_t{group_id}};
        context_.group_ids.sgpr[0] = group_id;
        for (int k = 0; k < 4; ++k) {
            State first;
            randomise_full(first);
            const uint32_t groups = 1 + random(random(2) ? 3 : most_groups - 1),
                           work_items = lanes_ * waves * groups;
            first.wave.sgpr[row_id] = random(2);
            const uint32_t row = random(2) ? groups : 1 + random(groups);
            first.wave.sgpr[bits] = random(8) ? (1u << (8 + random(7))) - 1 : random(1 << 14);
            first.wave.sgpr[modulus] = 1 + random(random(2) ? work_items : 1 << 14);
            first.wave.sgpr[reciprocal] =
                random_reciprocal(first.wave.sgpr[modulus], random_dword(rng_));
            first.wave.sgpr[pitch] = random(2) ? 64 * (1 + random(3)) : random(200);
            first.wave.sgpr[size] = random(8) ? lanes_ * waves : random(600);
            first.wave.sgpr[total] =
                first.wave.sgpr[size] * (random(4) ? groups : random(most_groups)) -
                (random(4) ? 0 : random(64));
            // All in one iteration, or not quite.
            first.wave.sgpr[stride] = random(3) ? work_items : 100 + random(2000);
            context_.group_ids.middle[0] = random(groups + 1);
            first.wave.set_s64(arguments, at_arguments);
            *reinterpret_cast<uint32_t*>(at_arguments) =
                random(2) ? work_items + (random(2) ? 0 : random(200))
                          : random(random(2) ? 1500 : 1 << 14);
            *reinterpret_cast<uint64_t*>(at_arguments + 8) = buffer + 0x2000 + 4 * random(4096);
            *reinterpret_cast<uint32_t*>(at_arguments + 16) = 0;
            uint64_t last = 0x2000;
            for (uint32_t a = 0; a < arrays; ++a) {
                last = random(3) == 0 ? 0x2000 + 0x400 * random(40) : last + 4 * random(300) - 600;
                first.wave.set_s64(first_array + 2 * a, buffer + last);
            }
            for (size_t at = 0; at < before.size(); at += 8) {
                const uint64_t x = rng_();
                std::memcpy(&before[at], &x, 8);
            }
            int64_t executed = 0;
            const uint32_t skip = random(4) || waves == 1 ? ~0u : random(waves);
            std::ranges::copy(before, bytes);
            {
                State state;
                state.wave.ctx = &context_;
                Launch launch(first, state, code_, waves, groups, skip, false, width_, row, lanes_);
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
            Launch launch(first, state, code_, waves, groups, skip, skip == ~0u && random(2),
                          width_, row, lanes_);
            if (skip == 0) launch.advance();
            translator->run_all(*launch.start(), launch);
            again += static_cast<int>(launch.again_count + launch.run_count);
            in_runs += static_cast<int>(launch.run_count);
            ASSERT_TRUE(std::equal(want.begin(), want.end(), bytes)) << text();
            // What no lane needs may be charged, too (docs/design/lifting.md: arms).
            if (!branches_ && !arms_) {
                ASSERT_EQ(launch.instructions, executed) << text();
            }
        }
    }
    EXPECT_GT(again, 4 * programs);
    EXPECT_GT(in_runs, programs);
}

TEST_P(NextWavesTest, AsOneByOne) {
    run_programs(wanted_rounds(1500));
}

TEST_P(NextWavesTest, AsOneByOneOf32Lanes) {
    begin_waves_of(32);
    run_programs(wanted_rounds(1500));
}

// Expressions that share their parts are as large as trees as there are lanes in the world.
TEST_P(NextWavesTest, ScalarsThatShareParts) {
    words_ = {0x80000000 | 20 << 16 | 5 << 8 | 5};  // s_add_u32 s20, s5, s5
    for (int n = 0; n < 60; ++n) words_.push_back(0x80000000 | 20 << 16 | 20 << 8 | 20);
    vop2(0x34, 2, 20, 0);  // v_add_u32 v2, s20, v0
    expect_stores_at_lanes();
}

TEST_P(NextWavesTest, LanesThatShareParts) {
    vop2(0x34, 2, 128, 0);                                                // v_add_u32 v2, 0, v0
    for (int n = 0; n < 60; ++n) vop2(n % 2 ? 0xe : 0xf, 2, 256 + 2, 2);  // v_max_u32, v_min_u32
    expect_stores_at_lanes();
}

// Lanes of all waves load and store the same 256 bytes.
TEST_P(NextWavesTest, AtTheSamePlace) {
    const auto translator = std::move(*x64::make_translator(*context_.target, GetParam(), {}));
    const uint64_t buffer = space_.allocate(buffer_bytes, memory::read_write, "buffer").value();
    vop2(0x13, 2, 128 + 63, 0);                                                    // v_and_b32
    vop2(0x12, 3, 128 + 2, 2);                                                     // v_lshlrev_b32
    words_.insert(words_.end(), {0xdc508000, 12u << 24 | first_array << 16 | 3});  // load
    words_.insert(words_.end(), {0xdc708000, 12u << 8 | (first_array + 2) << 16 | 3});
    words_.push_back(0xbf810000);  // s_endpgm
    constexpr uint32_t waves = 3, groups = 4;
    begin_at_code(*translator, waves);
    State first, state;
    randomise_full(first);
    first.wave.set_s64(first_array, buffer);
    first.wave.set_s64(first_array + 2, buffer + 0x8000);
    state.wave.ctx = &context_;
    auto* const data = reinterpret_cast<uint32_t*>(buffer);
    for (uint32_t n = 0; n < 1024; ++n) data[n] = n, data[0x2000 + n] = ~n;
    Launch launch(first, state, code_, waves, groups, ~0u, true, 0, groups);
    translator->run_all(*launch.start(), launch);
    for (uint32_t n = 0; n < 1024; ++n)
        ASSERT_EQ(data[0x2000 + n], n < machine::lanes ? n : ~n) << n;
}

// As many streams as there are registers for pointers, and more: sums of those that are loaded.
TEST_P(NextWavesTest, ManyStreams) {
    const uint64_t buffer = space_.allocate(buffer_bytes, memory::read_write, "buffer").value();
    constexpr uint32_t waves = 3, groups = 5, items = waves * groups * machine::lanes,
                       apart = buffer_bytes / arrays;
    for (uint32_t loads = 1; loads < arrays; ++loads)
        for (uint32_t end = loads + 1; end <= arrays; ++end) {
            const auto translator =
                std::move(*x64::make_translator(*context_.target, GetParam(), {}));
            words_ = {0x92000000 | (group_id + 1) << 16 | (128 + 48) << 8 | group_id,  // s_mul_i32
                      0x8e000000 | (group_id + 1) << 16 | (128 + 2) << 8 | (group_id + 1)};
            vop2(0x34, 4, group_id + 1, 0);                                         // v_add_u32
            words_.push_back(0x7e000280 | 5 << 17);                                 // v_mov_b32
            words_.insert(words_.end(), {0xd28f0004, (128 + 2) | (256 + 4) << 9});  // v_lshlrev_b64
            const auto access = [this](uint32_t op, uint32_t data, uint32_t array) {
                const uint32_t base = first_array + 2 * array;
                words_.push_back(0x7e000200 | 6 << 17 | (base + 1));
                vop2(0x19, 2, base, 4);  // v_add_co_u32, v_addc_co_u32
                vop2(0x1c, 3, 256 + 6, 5);
                words_.insert(words_.end(), {op, data | 0x7f << 16 | 2});
            };
            for (uint32_t a = 0; a < loads; ++a) access(0xdc508000, (12 + a) << 24, a);
            for (uint32_t a = 1; a < loads; ++a) vop2(0x34, 12, 256 + 12, 12 + a);
            for (uint32_t a = loads; a < end; ++a) access(0xdc708000, 12u << 8, a);
            words_.push_back(0xbf810000);  // s_endpgm
            begin_at_code(*translator, waves);
            State first, state;
            randomise_full(first);
            for (uint32_t a = 0; a < arrays; ++a)
                first.wave.set_s64(first_array + 2 * a, buffer + a * apart);
            state.wave.ctx = &context_;
            auto* const data = reinterpret_cast<uint32_t*>(buffer);
            for (uint32_t n = 0; n < buffer_bytes / 4; ++n) data[n] = n * 2654435761u;
            Launch launch(first, state, code_, waves, groups, ~0u, true, 0, groups);
            translator->run_all(*launch.start(), launch);
            for (uint32_t n = 0; n < items; ++n) {
                uint32_t sum = 0;
                for (uint32_t a = 0; a < loads; ++a) sum += (a * apart / 4 + n) * 2654435761u;
                for (uint32_t a = loads; a < end; ++a)
                    ASSERT_EQ(data[a * apart / 4 + n], sum)
                        << loads << " loads, " << end - loads << " stores, item " << n;
            }
        }
}

// What an arm loads that no lane goes through need not be there, though what is in front of it is.
TEST_P(NextWavesTest, ArmBeyondThePage) {
    const auto translator = std::move(*x64::make_translator(*context_.target, GetParam(), {}));
    const uint64_t buffer = space_.allocate(buffer_bytes, memory::read_write, "buffer").value();
    const PageBetweenHoles page(rng_);
    ASSERT_TRUE(page.begin);
    words_ = {0xc0020000 | limit << 6 | arguments / 2, 0, 0xbf8cc07f};  // s_load_dword, s_waitcnt
    vop2(0x13, 2, 128 + 63, 0);                                         // v_and_b32
    vop2(0x12, 3, 128 + 2, 2);                                          // v_lshlrev_b32
    arm();
    words_.push_back(0xbf810000);  // s_endpgm
    begin_at_code(*translator, 1);
    for (const uint32_t place : {0u, 4088u, 0u}) {
        State first, state;
        randomise_full(first);
        for (uint32_t row = 12; row < 16; ++row)
            std::fill_n(first.wave.row(row), machine::lanes, ~0u);
        first.wave.set_s64(arguments, reinterpret_cast<uint64_t>(page.begin) + place);
        first.wave.set_s64(first_array + 2, buffer);
        state.wave.ctx = &context_;
        Launch launch(first, state, code_, 1, 3, ~0u, true, 0, 3);
        const machine::Wave& last = translator->run_all(*launch.start(), launch);
        ASSERT_EQ(last.exit.kind, machine::ExitKind::EndProgram) << place;
    }
}

WJ_JIT_TESTS(NextWavesTest);

}  // namespace
}  // namespace wj::jit_test
