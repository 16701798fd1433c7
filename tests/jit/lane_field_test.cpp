// Atomics at addresses that are bytes, halves or indices in rows, times a size (lane_field.h), in
// the LDS and in memory, in code that runs once and in loops that are guarded for constants in
// rows. The interpreter takes instruction by instruction.
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

class LaneFieldTest : public WordsTest {
protected:
    // Elements are at v2 or, made in the program, v9; addresses go to v[10:11], data is in v5.
    // v7 holds 2 in all lanes, as a rule, v5 a constant, often. s[4:5]: the buffer; s6: a mask;
    // s[10:11]: the buffer's middle.
    static constexpr uint32_t buffer_bytes = (1 << 19) + 4096;
    enum Vop2 : uint32_t {
        lshrrev = 16,
        ashrrev = 17,
        lshlrev = 18,
        bit_and = 19,
        bit_xor = 21,
        add_u32 = 52
    };

    void SetUp() override {
        WordsTest::SetUp();
        if (IsSkipped()) return;
        buffer_ = space_.allocate(buffer_bytes, memory::read_write, "buffer").value();
    }

    void vop2(uint32_t op, uint32_t dst, uint32_t src0, uint32_t src1) {
        words_.push_back(op << 25 | dst << 17 | src1 << 9 | src0);
    }
    static constexpr uint32_t vgpr = 256, literal = 255;  // of a src0
    // A shift count: a constant, or in v7 where that is 2.
    uint32_t two() { return random(2) ? vgpr + 7 : 128 + 2; }

    // v10 = a field of the element, scaled.
    void scaled_field(uint32_t element) {
        if (random(2)) {  // v_lshlrev_b32_sdwa: byte or word
            const uint32_t select = random(6);
            words_.push_back(lshlrev << 25 | 10u << 17 | element << 9 | 0xf9);
            words_.push_back(7u | 6u << 8 | 6u << 16 | select << 24);
            return;
        }
        const uint32_t down = random(2) ? random(4) * 8 : random(32);
        uint32_t from = element, most = ~0u >> down;
        if (down) vop2(lshrrev, 10, 128 + down, from), from = 10;
        static constexpr uint32_t masks[] = {0xff, 0xffff, 0x3f, 0x1ff, 0xf0, 0xc00000ff};
        const uint32_t mask = masks[random(std::size(masks))];
        if (most > 0xffff || random(2)) {
            vop2(bit_and, 10, literal, from), from = 10;
            words_.push_back(mask);
            most &= mask;
        }
        vop2(lshlrev, 10, random(6) ? two() : 128 + 3, from);
    }

    // Without any access: such loops run chunk by chunk.
    void shifts(uint32_t element) {
        vop2(random(2) ? lshlrev : lshrrev, 10, vgpr + 7, element);
        vop2(bit_xor, 13, vgpr + 10, 13);
    }

    void lds_atomic(uint32_t element) {
        scaled_field(element);
        static constexpr uint32_t ops[] = {0, 1, 3, 4, 9, 10, 11};  // add sub inc dec and or xor
        const uint32_t offset = random(3) ? 0 : random(8) ? 4 * random(64) : 0xfffc;
        words_.push_back(0xd8000000 | ops[random(std::size(ops))] << 17 | offset);
        words_.push_back(10 | 5 << 8);
    }

    void global_atomic(uint32_t element) {
        static constexpr uint32_t ops[] = {66, 67, 72, 73, 74, 75, 76};
        const uint32_t op = ops[random(std::size(ops))];
        const uint32_t offset = random(3) ? 0 : 4 * random(64);
        auto atomic = [&](uint32_t base) {
            words_.push_back(0xdc008000 | op << 18 | offset);
            words_.push_back(10 | 5 << 8 | base << 16);
        };
        if (random(2)) {
            scaled_field(element);
            atomic(4);
            return;
        }
        // s[4:5] + 4 * (element & s6), or a field of it; or s[10:11] + 4 * signed upper bits
        uint32_t buffer = 4;
        words_.push_back(0x7e000200 | 11u << 17 | 128);  // v_mov_b32 v11, 0
        if (random(3) == 0) {
            buffer = 10;
            vop2(ashrrev, 10, 128 + 18 + random(14), element);
            if (random(3) == 0) {
                vop2(bit_and, 10, literal, 10);
                words_.push_back(random(2) ? ~1u : 0xff);
            }
            vop2(ashrrev, 11, 128 + 31, vgpr + 10);
        } else if (random(2)) {
            vop2(bit_and, 10, 6, element);
        } else {
            vop2(lshrrev, 10, 128 + 8 * random(4), element);
            vop2(bit_and, 10, literal, 10);
            words_.push_back(random(2) ? 0xff : 0xffff);
        }
        const uint64_t shift = random(4) ? 2 : 3;  // v_lshlrev_b64 v[10:11], shift, v[10:11]
        words_.push_back(0xd28f0000 | 10);
        words_.push_back(static_cast<uint32_t>(128 + shift) | (vgpr + 10) << 9);
        words_.push_back(0x32000000 | 10u << 17 | 10u << 9 | buffer);       // v_add_co_u32 v10, vcc
        words_.push_back(0x7e000200 | 12u << 17 | (buffer + 1));            // v_mov_b32 v12
        words_.push_back(0x38000000 | 11u << 17 | 11u << 9 | (vgpr + 12));  // v_addc_co_u32
        atomic(0x7f);
    }

    void program(bool loop) {
        words_.clear();
        uint32_t element = 2;
        if (random(3) == 0) vop2(bit_xor, element = 9, vgpr + 2, 3);
        const bool accesses = random(4);
        for (uint32_t n = 1 + random(4); n; --n) {
            if (!accesses)
                shifts(element);
            else if (random(2))
                lds_atomic(element);
            else
                global_atomic(element);
            // What the fields were taken from is overwritten.
            if (random(6) == 0) vop2(add_u32, element, vgpr + 3, element);
            // A constant that is none in the next iteration.
            if (loop && random(12) == 0)
                random(2) ? vop2(add_u32, 5, vgpr + 3, 5) : vop2(bit_xor, 7, 129, 7);
        }
        vop2(add_u32, 2, vgpr + 3, 2);
        if (loop) {
            words_.push_back(0x80800000 | 8u << 16 | 129u << 8 | 8);  // s_sub_u32 s8, s8, 1
            words_.push_back(0xbf078000 | 8);                         // s_cmp_lg_u32 s8, 0
            words_.push_back(0xbf850000 |
                             ((0u - static_cast<uint32_t>(words_.size()) - 1) & 0xffff));
        }
        words_.push_back(0xbf810000);  // s_endpgm
    }

    void wave(State& s) {
        randomise(s, rng_);
        if (random(4)) s.wave.set_s64(machine::exec_lo, ~0ull);
        const bool usual = random(6);
        const uint32_t constants[] = {1, ~0u, 5, random_dword(rng_)};
        const uint32_t constant = constants[random(std::size(constants))];
        const uint32_t alike = random(6);  // elements that are equal, or in most bits
        const uint32_t differ = random(2) ? 0xff00 : 0x80u << 8 * random(4);
        for (uint32_t l = 0; l < 64; ++l) {
            s.wave.row(7)[l] = usual ? 2 : 2 + random(2);
            s.wave.row(5)[l] = random(64) || usual ? constant : random_dword(rng_);
            s.wave.row(2)[l] = static_cast<uint32_t>(rng_());
            if (alike < 2) s.wave.row(2)[l] = s.wave.row(2)[0];
            if (alike == 1) s.wave.row(2)[l] ^= static_cast<uint32_t>(rng_()) & differ;
        }
        if (!usual && random(2)) s.wave.row(7)[random(64)] = 3;
        s.wave.set_s64(4, buffer_);
        s.wave.set_s64(10, buffer_ + buffer_bytes / 2);
        s.wave.sgpr[6] = (1u << random(14)) - 1;
        s.wave.sgpr[8] = 1 + random(4);
        s.wave.lds_size = random(4) ? lds_bytes : 512 * (1 + random(4));
    }

    void compare_memory(const State& first) {
        std::vector<uint32_t> before(buffer_bytes / 4), want(buffer_bytes / 4);
        auto* const buffer = reinterpret_cast<uint32_t*>(buffer_);
        for (uint32_t& x : before) x = static_cast<uint32_t>(rng_());
        State states[2];
        machine::Engine* const engines[] = {interpreter_.get(), translator_.get()};
        for (int n : {0, 1}) {
            std::memcpy(buffer, before.data(), buffer_bytes);
            State& s = states[n];
            s.copy_from(first);
            s.wave.ctx = &context_;
            s.wave.lds_size = first.wave.lds_size;
            s.wave.sgpr_count = 32;
            s.wave.pc = code_;
            ASSERT_EQ(engines[n]->run(s.wave), machine::ExitKind::EndProgram) << text();
            if (n == 0) std::memcpy(want.data(), buffer, buffer_bytes);
        }
        ASSERT_TRUE(same(states[1], states[0])) << text();
        for (size_t i = 0; i < want.size(); ++i)
            ASSERT_EQ(buffer[i], want[i]) << i << "\n" << text();
    }

    uint64_t buffer_ = 0;
};

TEST_P(LaneFieldTest, AsTheInterpreter) {
    for (int n = wanted_rounds(400); n; --n) {
        program(random(2));
        load(code_);
        context_.exclusive_memory = random(4);
        for (int waves = 0; waves < 3; ++waves) {
            SCOPED_TRACE(waves);
            State first;
            wave(first);
            compare_memory(first);
            if (HasFatalFailure()) return;
        }
    }
}

// The report names the first lane's address, which its element is far from the base for.
TEST_P(LaneFieldTest, Faults) {
    context_.exclusive_memory = true;
    struct Case {
        bool is_signed;
        uint64_t off;    // of the base
        uint32_t index;  // lane 0's
    };
    std::vector<Case> cases;
    // Behind the buffer lies a page without rights.
    for (const bool is_signed : {false, true})
        for (const auto& [off, index] : {std::pair(0, 63u), {2, 0xc0000001}, {0, buffer_bytes / 4}})
            cases.push_back({is_signed, static_cast<uint64_t>(off), index});
    for (const auto [is_signed, off, index] : cases) {
        words_ = {0x7e000200 | 10u << 17 | (vgpr + 2),  // v_mov_b32 v10, v2
                  is_signed
                      ? ashrrev << 25 | 11u << 17 | 10u << 9 | (128 + 31)  // v_ashrrev_i32 v11
                      : 0x7e000200 | 11u << 17 | 128,                      // v_mov_b32 v11, 0
                  0xd28f0000 | 10,
                  (128 + 2) | (vgpr + 10) << 9,           // v_lshlrev_b64 v[10:11], 2
                  0x32000000 | 10u << 17 | 10u << 9 | 4,  // v_add_co_u32 v10, vcc, s4, v10
                  0x7e000200 | 12u << 17 | 5,             // v_mov_b32 v12, s5
                  0x38000000 | 11u << 17 | 11u << 9 | (vgpr + 12),  // v_addc_co_u32 v11, vcc, v12
                  0xdc008000 | 66u << 18,
                  10 | 5 << 8 | 0x7f << 16,
                  0xbf810000};  // global_atomic_add v[10:11], v5, off
        load(code_);
        State s;
        for (uint32_t l = 0; l < 64; ++l) {
            s.wave.row(5)[l] = 1;
            s.wave.row(2)[l] = l ? 63 - l : index;
        }
        s.wave.set_s64(4, buffer_ + off);
        s.wave.ctx = &context_;
        s.wave.sgpr_count = 32;
        s.wave.pc = code_;
        auto* const buffer = reinterpret_cast<uint32_t*>(buffer_);
        std::memset(buffer, 0, buffer_bytes);
        const machine::ExitKind exit = translator_->run(s.wave);
        if (index == 63) {
            ASSERT_EQ(exit, machine::ExitKind::EndProgram);
            for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(buffer[i], i < 64 ? 1u : 0u);
            continue;
        }
        ASSERT_EQ(exit, machine::ExitKind::MemoryFault);
        EXPECT_EQ(s.wave.exit.pc, code_ + 28);
        const int64_t number = is_signed ? int64_t{static_cast<int32_t>(index)} : int64_t{index};
        EXPECT_EQ(s.wave.exit.address, buffer_ + off + static_cast<uint64_t>(4 * number));
        if (off) {
            for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(buffer[i], 0u);
        }
    }
}

WJ_JIT_TESTS(LaneFieldTest);

}  // namespace
}  // namespace wj::jit_test
