// Builds IR blocks by hand or at random and runs them through a translator and through ir::evaluate
// from equal states.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "backend_x64/engine.h"
#include "ir/evaluate.h"
#include "ir/ir.h"
#include "machine/guard.h"

namespace wj::jit_test {

using ir::Op;
using ir::Value;
using Rng = std::mt19937_64;

inline constexpr uint32_t vgprs = 40, agprs = 8, lds_bytes = 4096, scratch_bytes = 256,
                          buffer_bytes = 1 << 16;

// Of a random test: WJ_JIT_ROUNDS=100000 for a longer run.
inline int wanted_rounds(int usual) {
    const char* const wanted = std::getenv("WJ_JIT_ROUNDS");
    return wanted ? std::atoi(wanted) : usual;
}

class Builder {
public:
    explicit Builder(uint64_t pc = 0x1000) {
        block.pc = pc;
        block.end_pc = pc + 4;
        block.guest_count = 1;
        block.guest_pcs = {pc};
        block.exec_changed = true;
        block.term.kind = ir::Terminator::Kind::Exit;
        block.term.exit = machine::ExitKind::EndProgram;
        block.term.next = pc + 4;
    }
    Value op(Op o, std::initializer_list<Value> args = {}, uint64_t imm = 0, uint32_t aux = 0,
             std::initializer_list<Value> data = {}) {
        ir::Inst i{.op = o,
                   .guest = static_cast<uint16_t>(block.guest_pcs.size() - 1),
                   .aux = aux,
                   .imm = imm};
        std::copy(args.begin(), args.end(), i.args.begin());
        std::copy(data.begin(), data.end(), i.args.begin() + 4);
        block.insts.push_back(i);
        return static_cast<Value>(block.insts.size() - 1);
    }
    void next_guest(uint64_t pc) {
        block.guest_pcs.push_back(pc);
        block.end_pc = pc + 4;
        ++block.guest_count;
    }
    Value c32(uint32_t v) { return op(Op::Const32, {}, v); }
    Value c64(uint64_t v) { return op(Op::Const64, {}, v); }
    Value full() { return op(Op::MaskOf, {c64(~0ull)}); }
    Value exec() { return op(Op::MaskOf, {op(Op::GetS64, {}, machine::exec_lo)}); }
    Value v(uint32_t row) { return op(Op::GetV, {}, row); }
    Value pair(uint32_t row) { return op(Op::Pack64, {v(row), v(row + 1)}); }
    void set(uint32_t row, Value x) { op(Op::SetV, {x, full()}, row); }
    // The block runs again until s0, counted down, is 0; afterwards the one at `next`.
    void repeat_s0_times(uint64_t next) {
        const Value n = op(Op::USub32, {op(Op::GetS32, {}, 0), c32(1)});
        op(Op::SetS32, {n}, 0);
        block.exec_changed = false;
        block.term = {.kind = ir::Terminator::Kind::Branch,
                      .cond = op(Op::UCmpNe32, {n, c32(0)}),
                      .target = block.pc,
                      .next = next};
    }
    // The block runs again while `live` has lanes, which are EXEC then; afterwards the one at
    // `next`.
    void loop_while_lanes(Value live, uint64_t next) {
        const Value bits = op(Op::BitsOf, {live});
        op(Op::SetS64, {bits}, machine::exec_lo);
        block.exec_changed = true;
        block.term = {.kind = ir::Terminator::Kind::Branch,
                      .cond = op(Op::UCmpNe64, {bits, c64(0)}),
                      .target = block.pc,
                      .next = next};
    }

    ir::Block block;
};

inline ir::Block end_block(uint64_t pc) {
    return Builder(pc).block;
}

struct MapSource final : x64::BlockSource {
    std::map<uint64_t, ir::Block> blocks;
    uint32_t asked = 0;
    const uint32_t lanes;

    explicit MapSource(uint32_t wave_size = machine::lanes) : lanes(wave_size) {}
    uint32_t wave_size() const override { return lanes; }
    ir::Block block(const x64::BlockRequest& request) override {
        ++asked;
        const auto it = blocks.find(request.pc);
        if (it != blocks.end()) {
            ir::Block b = it->second;
            b.exec_full = false;  // hand-built blocks test EXEC at their ends
            return b;
        }
        Builder missing(request.pc);
        missing.block.term.exit = machine::ExitKind::IllegalInstruction;
        return missing.block;
    }
};

// A wave with its registers, LDS, scratch and a buffer that global accesses use.
struct State {
    machine::Wave wave;
    machine::ExecContext context;
    std::vector<uint32_t> rows = std::vector<uint32_t>((vgprs + agprs) * 64 + 16);
    // Behind the LDS lies something that must not be read or written.
    std::vector<uint8_t> lds = std::vector<uint8_t>(lds_bytes + 1024),
                         scratch = std::vector<uint8_t>(scratch_bytes * 64 + 64);

    State() {
        auto* r = reinterpret_cast<uint32_t*>((reinterpret_cast<uintptr_t>(rows.data()) + 63) &
                                              ~uintptr_t{63});
        wave.vgpr = r;
        wave.agpr = r + vgprs * 64;
        wave.vgpr_count = vgprs;
        wave.agpr_count = agprs;
        wave.lds = lds.data();
        wave.lds_size = lds_bytes;
        wave.scratch = scratch.data();
        wave.scratch_bytes = scratch_bytes;
        wave.ctx = &context;
        wave.pc = 0x1000;
        wave.budget = 1 << 30;
        wave.set_s64(machine::exec_lo, ~0ull);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void copy_from(const State& o) {
        std::memcpy(wave.sgpr, o.wave.sgpr, sizeof wave.sgpr);
        std::memcpy(wave.vgpr, o.wave.vgpr, (vgprs + agprs) * 256);
        wave.scc = o.wave.scc;
        wave.pc = o.wave.pc;
        wave.lds_size = o.wave.lds_size;
        lds = o.lds;
        scratch = o.scratch;
    }
};

// ExecContext::lane_layout
inline uint32_t some_layout(Rng& rng) {
    return rng() % 3 ? machine::first_row_layout + static_cast<uint32_t>(rng() % 6) : 0;
}

inline uint32_t random_dword(Rng& rng) {
    static constexpr uint32_t special[] = {
        0,          1,          2,          31,         32,         33,         63,
        64,         0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000,
        0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0xff812345, 0x807fffff, 0x00800000,
        0x7f7fffff, 0x3c003c00, 0x7c007e01, 0x00018000, 0x4b000000, 0x4f000000, 0x4effffff,
        0x4f800000, 0xcf000000, 0x3ff00000, 0x7ff00000, 0x7ff80000, 0x7ff00001, 0xfff40000,
        0x000fffff, 0x41dfffff, 0x41e00000, 0x41f00000, 0xc1e00000, 0x33800000, 0x477fefff,
        0x47800000};
    switch (rng() % 4) {
        case 0:
            return special[rng() % std::size(special)];
        case 1:
            return static_cast<uint32_t>(rng() % 300) - 140;
        case 2:
            return (static_cast<uint32_t>(rng()) & 0x807fffff) |
                   (112u + static_cast<uint32_t>(rng() % 50)) << 23;
        default:
            return static_cast<uint32_t>(rng());
    }
}

inline uint64_t random_mask(Rng& rng) {
    switch (rng() % 5) {
        case 0:
            return ~0ull;
        case 1:
            return 0;
        case 2:
            return rng() & rng() & rng();
        case 3:
            return 0xffffull << rng() % 4 * 16;
        default:
            return rng();
    }
}

inline void randomise(State& s, Rng& rng) {
    for (uint32_t i = 0; i < (vgprs + agprs) * 64; ++i) s.wave.vgpr[i] = random_dword(rng);
    for (uint32_t& x : std::span(s.wave.sgpr).first<machine::Wave::first_exec>())
        x = random_dword(rng);
    for (uint8_t& x : s.lds) x = static_cast<uint8_t>(rng());
    for (uint8_t& x : s.scratch) x = static_cast<uint8_t>(rng());
    s.wave.scc = rng() & 1;
    s.wave.set_s64(machine::exec_lo, random_mask(rng));
}

inline std::string hex(uint64_t x) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
    return text;
}

// Both states after the same block: everything must be equal.
inline testing::AssertionResult same(const State& got, const State& want) {
    for (uint32_t i = 0; i < (vgprs + agprs) * 64; ++i)
        if (got.wave.vgpr[i] != want.wave.vgpr[i])
            return testing::AssertionFailure()
                   << "v" << i / 64 << " lane " << i % 64 << ": " << hex(got.wave.vgpr[i])
                   << ", not " << hex(want.wave.vgpr[i]);
    for (uint32_t i = 0; i < 128; ++i)
        if (got.wave.sgpr[i] != want.wave.sgpr[i])
            return testing::AssertionFailure() << "s" << i << ": " << hex(got.wave.sgpr[i])
                                               << ", not " << hex(want.wave.sgpr[i]);
    if (got.wave.scc != want.wave.scc) return testing::AssertionFailure() << "scc " << got.wave.scc;
    for (size_t i = 0; i < got.lds.size(); ++i)
        if (got.lds[i] != want.lds[i]) return testing::AssertionFailure() << "LDS byte " << i;
    for (size_t i = 0; i < got.scratch.size(); ++i)
        if (got.scratch[i] != want.scratch[i])
            return testing::AssertionFailure() << "scratch byte " << i;
    return testing::AssertionSuccess();
}

// One engine per instruction set over a fresh source.
struct Rig {
    // About every second one of a process is without memory stubs, if the caller does not say.
    explicit Rig(x64::Isa isa, x64::TranslatorOptions options = {},
                 std::optional<bool> all_patterns = {}, uint32_t wave_size = machine::lanes)
        : isa(isa) {
        static uint32_t made_before = 0;
        options.all_patterns = all_patterns.value_or(made_before++ * 0x9e3779b1 >> 31);
        auto owned = std::make_unique<MapSource>(wave_size);
        source = owned.get();
        auto made = x64::make_engine(std::move(owned), isa, options);
        if (made) engine = std::move(*made);
    }
    x64::Isa isa;
    MapSource* source = nullptr;
    std::unique_ptr<machine::Engine> engine;
};

class JitTest : public testing::TestWithParam<x64::Isa> {
protected:
    void SetUp() override {
        if (!x64::host_supports(GetParam())) GTEST_SKIP() << "this host cannot run the engine";
        machine::install_fault_handler();
    }
    // Runs the block from a random state on the translator and on the model; and as one of waves of
    // 32 lanes.
    void compare(const ir::Block& block, Rng& rng, int rounds = 1) {
        compare_as_it_is(block, rng, rounds);
        if (HasFatalFailure() || block.wave_size < machine::lanes) return;
        ir::Block half = block;
        half.wave_size = half.lanes = 32;
        compare_as_it_is(half, rng, rounds);
    }
    void compare_as_it_is(const ir::Block& block, Rng& rng, int rounds) {
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        Rig rig(GetParam(), {}, {}, block.wave_size);
        ASSERT_TRUE(rig.engine);
        rig.source->blocks[block.pc] = block;
        for (int round = 0; round < rounds; ++round) {
            State start, model, run;
            randomise(start, rng);
            if (prepare) prepare(start);
            for (State* s : {&start, &model, &run})
                s->wave.size = static_cast<uint8_t>(block.wave_size);
            model.copy_from(start);
            run.copy_from(start);
            model.wave.pc = run.wave.pc = block.pc;
            ir::evaluate(block, model.wave);
            run.context.lane_layout = some_layout(rng);
            run.context.whole_lanes = block.lanes;
            rig.engine->run(run.wave);
            ASSERT_EQ(run.wave.exit.kind, block.term.exit)
                << ir::print(block) << x64::disassemble_block(block, GetParam());
            ASSERT_TRUE(same(run, model))
                << ir::print(block) << x64::disassemble_block(block, GetParam());
        }
    }
    // A loop of one block, from `start`, by the model. Returns how many instructions that is, with
    // the block of one instruction behind it.
    static int64_t run_model(const ir::Block& loop, const State& start, State& model) {
        model.copy_from(start);
        model.wave.pc = loop.pc;
        int64_t instructions = 1;
        do instructions += loop.guest_count;
        while (ir::evaluate(loop, model.wave) == loop.pc);
        return instructions;
    }
    // The same by the engine, in slices of `budget` instructions: small ones leave it in the
    // middle. What they charge is what the model runs. At most `unpaid` iterations are run beyond a
    // slice.
    static void run_slices(Rig& rig, const ir::Block& loop, const State& start, int64_t budget,
                           uint32_t most_slices, int64_t instructions, State& run,
                           int64_t unpaid = 1) {
        run.copy_from(start);
        run.wave.pc = loop.pc;
        int64_t charged = 0;
        for (uint32_t slices = 0;; ++slices) {
            ASSERT_LT(slices, most_slices);
            run.wave.budget = budget;
            const machine::ExitKind exit = rig.engine->run(run.wave);
            charged += budget - run.wave.budget;
            ASSERT_GE(run.wave.budget, -unpaid * loop.guest_count) << ir::print(loop);
            if (exit == machine::ExitKind::EndProgram) break;
            ASSERT_EQ(run.wave.exit.kind, machine::ExitKind::Yield)
                << hex(run.wave.exit.address) << '\n'
                << ir::print(loop);
            ASSERT_LE(charged, instructions);
        }
        ASSERT_EQ(charged, instructions) << ir::print(loop);
    }
    // Both.
    static void run_loop(Rig& rig, const ir::Block& loop, const State& start, int64_t budget,
                         uint32_t most_slices, State& model, State& run, int64_t unpaid = 1) {
        const int64_t instructions = run_model(loop, start, model);
        run_slices(rig, loop, start, budget, most_slices, instructions, run, unpaid);
    }
    std::function<void(State&)> prepare;
};

inline std::string isa_name(const testing::TestParamInfo<x64::Isa>& info) {
    return info.param == x64::Isa::Avx512 ? "avx512" : "avx2";
}
#define WJ_JIT_TESTS(fixture)                                                                 \
    INSTANTIATE_TEST_SUITE_P(Isa, fixture, testing::Values(x64::Isa::Avx2, x64::Isa::Avx512), \
                             isa_name)

}  // namespace wj::jit_test
