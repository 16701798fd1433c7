// What rows of the tables say of effects (frontend/effects.h), held against what the interpreter
// does with random instructions and states: nothing beside operands that a row does not say.
#include "frontend/effects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "frontend/decode.h"
#include "interpreter/interpreter.h"
#include "memory/address_space.h"
#include "tools/fuzz/generate.h"

namespace wj::interp {
namespace {

using fuzz::Pool;
using fuzz::Rng;

constexpr uint32_t rows = 256, lanes = machine::lanes, lds_bytes = 4096;

// A wave with its registers, LDS and an address space that has nothing in it: whatever reaches for
// global memory faults and is not looked at.
struct State {
    machine::Wave wave;
    std::vector<uint32_t> registers = std::vector<uint32_t>(2 * rows * lanes + 16);
    std::vector<uint8_t> lds = std::vector<uint8_t>(lds_bytes);

    void attach(machine::ExecContext& ctx) {
        const auto p = reinterpret_cast<uintptr_t>(registers.data());
        wave.vgpr = reinterpret_cast<uint32_t*>((p + 63) & ~uintptr_t{63});
        wave.agpr = wave.vgpr + rows * lanes;
        wave.vgpr_count = wave.agpr_count = rows;
        wave.sgpr_count = 102;
        wave.lds = lds.data();
        wave.lds_size = lds_bytes;
        wave.ctx = &ctx;
    }
    void randomise(Rng& rng, machine::ExecContext& ctx) {
        attach(ctx);
        wave.size = static_cast<uint8_t>(ctx.target->traits.wave_size);
        for (uint32_t& r : registers) r = value(rng);
        for (uint32_t& r : std::span(wave.sgpr).first<machine::Wave::first_exec>()) r = value(rng);
        for (uint8_t& b : lds) b = static_cast<uint8_t>(rng());
        wave.set_s64(machine::exec_lo, rng() & rng());
        wave.scc = rng() & 1;
        wave.mode = 0xf0;
        wave.exit = {};
    }
    void copy(const State& o, machine::ExecContext& ctx) {
        wave = o.wave;
        lds = o.lds;
        attach(ctx);
        std::memcpy(wave.vgpr, o.wave.vgpr, size_t{2} * rows * lanes * 4);
    }
    // Small numbers, which are addresses within the LDS, and floats of all kinds.
    static uint32_t value(Rng& rng) {
        const auto x = static_cast<uint32_t>(rng());
        switch (rng() % 4) {
            case 0:
                return x & 0xfff;
            case 1:
                return 0x3f000000 | (x & 0x01ffffff);
            case 2:
                return 0x3c003c00 ^ (x & 0x83ff83ff);
            default:
                return x;
        }
    }
};

bool overlaps(const Operand& o, uint32_t reg, uint32_t count) {
    return o.is(Operand::Kind::Sgpr) && o.reg < reg + count && reg < o.reg + o.dwords;
}

bool overlaps(const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.reg < b.reg + b.dwords && b.reg < a.reg + a.dwords;
}

bool is_vector(const Operand& o) {
    return o.is(Operand::Kind::Vgpr) || o.is(Operand::Kind::Agpr);
}

// SCC, VCCZ and others can be read as operands.
bool special_source(const Inst& inst) {
    return std::any_of(inst.src.begin(), inst.src.end(),
                       [](const Operand& o) { return o.is(Operand::Kind::Special); });
}

// With waves of 64 lanes where it has both.
const Target& target_of(const char* name) {
    const Target* large = find_target(name, machine::lanes);
    return large ? *large : *find_target(name);
}

class EffectsTest : public testing::TestWithParam<const char*> {
protected:
    EffectsTest() : target_(target_of(GetParam())), generator_(target_) {
        ctx_->memory = &space_;
        ctx_->memory_mode = machine::MemoryMode::Checked;
        ctx_->target = &target_;
    }

    // False when the instruction faults or is refused.
    bool run(State& s, const Inst& inst) {
        handler(inst.op)(s.wave, inst);
        return s.wave.exit.kind == machine::ExitKind::None;
    }
    // Runs `inst` from `base` after `change`.
    template <class Change>
    bool run_changed(const Inst& inst, Change change) {
        other_->copy(*base_, *ctx_);
        change(*other_);
        return run(*other_, inst);
    }
    bool names(const Inst& inst, uint32_t reg, uint32_t count) const {
        for (const Operand& o : inst.src)
            if (overlaps(o, reg, count)) return true;
        for (const Operand& o : inst.dst)
            if (overlaps(o, reg, count)) return true;
        return false;
    }
    bool writes(const Inst& inst, uint32_t reg, uint32_t count) const {
        for (const Operand& o : inst.dst)
            if (overlaps(o, reg, count)) return true;
        return false;
    }
    // Whether the two states' results are the same: destinations (in lanes that are on), SCC, LDS.
    bool same_results(const Inst& inst, const State& a, const State& b) const {
        const uint64_t exec = base_->wave.exec();
        for (const Operand& d : inst.dst)
            for (uint32_t i = 0; i < d.dwords && d.present(); ++i) {
                if (d.is(Operand::Kind::Sgpr) && a.wave.sgpr[d.reg + i] != b.wave.sgpr[d.reg + i])
                    return false;
                if (!is_vector(d)) continue;
                const bool acc = d.is(Operand::Kind::Agpr);
                for (uint32_t l = 0; l < lanes; ++l)
                    if (exec >> l & 1 && row(a, acc, d.reg + i)[l] != row(b, acc, d.reg + i)[l])
                        return false;
            }
        return a.lds == b.lds;
    }
    static const uint32_t* row(const State& s, bool acc, uint32_t r) {
        return (acc ? s.wave.agpr : s.wave.vgpr) + size_t{r} * lanes;
    }
    static uint32_t* row(State& s, bool acc, uint32_t r) {
        return (acc ? s.wave.agpr : s.wave.vgpr) + size_t{r} * lanes;
    }

    void expect_registers(const Inst& inst, const Effects& e, uint64_t exec);
    void expect_lanes(const Inst& inst, const Effects& e);

    const Target& target_;
    fuzz::Generator generator_;
    memory::AddressSpace space_;
    std::unique_ptr<machine::ExecContext> ctx_ = std::make_unique<machine::ExecContext>();
    std::unique_ptr<State> base_ = std::make_unique<State>(), done_ = std::make_unique<State>(),
                           other_ = std::make_unique<State>();
};

// SCC, VCC, EXEC, M0 and MODE.
void EffectsTest::expect_registers(const Inst& inst, const Effects& e, uint64_t exec) {
    const std::string_view name = op_info(inst.op).name;
    if (!e.writes_scc) {
        EXPECT_EQ(done_->wave.scc, base_->wave.scc) << name << " writes SCC";
    }
    if (run_changed(inst, [](State& s) { s.wave.scc ^= 1; })) {
        if (!e.reads_scc && !special_source(inst)) {
            EXPECT_TRUE(same_results(inst, *done_, *other_)) << name << " reads SCC";
        }
        if (e.writes_scc && !e.reads_scc && !special_source(inst)) {
            EXPECT_EQ(done_->wave.scc, other_->wave.scc) << name << " need not write SCC";
        }
    }
    if (!writes(inst, machine::exec_lo, 2)) {
        const uint64_t now = done_->wave.exec();
        switch (e.exec) {
            case ExecChange::None:
                EXPECT_EQ(now, exec) << name << " writes EXEC";
                break;
            case ExecChange::Narrowed:
                EXPECT_EQ(now & ~exec, 0u) << name << " widens EXEC";
                break;
            case ExecChange::Widened:
                EXPECT_EQ(exec & ~now, 0u) << name << " narrows EXEC";
                break;
            case ExecChange::Changed:
                break;
        }
    }
    if (!e.writes_m0 && !writes(inst, machine::m0, 1)) {
        EXPECT_EQ(done_->wave.sgpr[machine::m0], base_->wave.sgpr[machine::m0])
            << name << " writes M0";
    }
    if (!e.writes_mode) {
        EXPECT_EQ(done_->wave.mode, base_->wave.mode) << name << " writes MODE";
    }
    auto not_read = [&](bool reads, uint32_t reg, uint32_t count, const char* what) {
        if (reads || names(inst, reg, count)) return;
        if (run_changed(inst, [&](State& s) { s.wave.sgpr[reg] ^= 0x00ff00ff; })) {
            EXPECT_TRUE(same_results(inst, *done_, *other_)) << name << " reads " << what;
        }
    };
    not_read(e.reads_vcc, machine::vcc_lo, 2, "VCC");
    not_read(e.reads_m0 || inst.lds, machine::m0, 1, "M0");
}

// Lanes that are off, and what was in the destination.
void EffectsTest::expect_lanes(const Inst& inst, const Effects& e) {
    const std::string_view name = op_info(inst.op).name;
    const uint64_t exec = base_->wave.exec();
    const Operand& d = inst.dst[0];
    if (is_vector(d) && !e.unmasked)
        for (uint32_t i = 0; i < d.dwords; ++i)
            for (uint32_t l = 0; l < lanes; ++l) {
                const bool acc = d.is(Operand::Kind::Agpr);
                if (!(exec >> l & 1)) {
                    ASSERT_EQ(row(*done_, acc, d.reg + i)[l], row(*base_, acc, d.reg + i)[l])
                        << name << " writes lanes that are off";
                }
            }
    const bool whole_form = !is_dpp16(inst.variant) && inst.variant != Variant::Sdwa;
    // EXEC, which masks vector instructions, is a source of each of them.
    bool own_source = overlaps(d, machine::exec_lo, 2);
    for (const Operand& s : inst.src) own_source |= s.present() && overlaps(s, d);
    if (d.present() && !e.partial && whole_form && !(inst.op_sel & 8) && !own_source &&
        run_changed(inst, [&](State& s) {
            for (uint32_t i = 0; i < d.dwords; ++i) {
                if (d.is(Operand::Kind::Sgpr)) s.wave.sgpr[d.reg + i] ^= 0x5a5a5a5a;
                if (is_vector(d))
                    for (uint32_t l = 0; l < lanes; ++l)
                        row(s, d.is(Operand::Kind::Agpr), d.reg + i)[l] ^= 0x5a5a5a5a;
            }
        })) {
        EXPECT_TRUE(same_results(inst, *done_, *other_)) << name << " reads its destination";
    }
    if (!e.across && !is_dpp(inst.variant) && run_changed(inst, [&](State& s) {
            for (uint32_t r = 0; r < 2 * rows; ++r)
                for (uint32_t l = 0; l < lanes; ++l)
                    if (!(exec >> l & 1)) s.wave.vgpr[size_t{r} * lanes + l] ^= 0x33333333;
        })) {
        EXPECT_TRUE(same_results(inst, *done_, *other_)) << name << " reads lanes that are off";
    }
}

TEST_P(EffectsTest, AreAllThatTheInterpreterShows) {
    Rng rng(20261128);
    std::map<Opcode, uint32_t> seen;
    for (const Pool pool : {Pool::Alu, Pool::Load, Pool::Store, Pool::Atomic, Pool::Buffer})
        for (int n = 0; n < (pool == Pool::Alu ? 12'000 : 1'500); ++n) {
            const Inst inst = generator_.instruction(rng, pool, false);
            if (!handler(inst.op)) continue;
            base_->randomise(rng, *ctx_);
            done_->copy(*base_, *ctx_);
            if (!run(*done_, inst)) continue;
            ++seen[inst.op];
            const Effects& e = effects(inst.op);
            expect_registers(inst, e, base_->wave.exec());
            expect_lanes(inst, e);
            if (HasFatalFailure()) return;
        }
    EXPECT_GT(seen.size(), 500u);
}

INSTANTIATE_TEST_SUITE_P(, EffectsTest,
                         testing::Values("gfx900", "gfx90a", "gfx950", "gfx1010", "gfx1030",
                                         "gfx1100", "gfx1150", "gfx1201", "gfx1250"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace wj::interp
