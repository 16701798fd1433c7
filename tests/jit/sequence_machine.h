// Sequences of instructions, as compilers write them out, on the interpreter and on translators.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend_x64/translator.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "memory/address_space.h"
#include "tests/interpreter/semantics.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {

// gfx90a's words. Branches of s_cbranch_scc1 0 and s_cbranch_execnz 0 lead to the beginning.
inline std::vector<uint32_t> assembled(const std::vector<std::string>& lines) {
    std::vector<test::SemanticCase> cases(1);
    cases[0].assembly = lines;
    const Status status = test::assemble(cases, WJ_LLVM_MC);
    EXPECT_TRUE(status) << status.message();
    std::vector<uint32_t>& code = cases[0].code;
    for (uint32_t i = 0; i < code.size(); ++i)
        if (code[i] == 0xbf850000 || code[i] == 0xbf890000) code[i] |= (0 - (i + 1)) & 0xffff;
    return code;
}

// What the lifter makes of the words; guarded for what is so in `now`, if there is one.
inline ir::Block lifted(const std::vector<uint32_t>& words, bool exec_full, uint32_t mode,
                        const machine::Wave* now = nullptr) {
    constexpr uint64_t base = 0x1000;
    const lift::Fetch fetch = [&](uint64_t pc) {
        const uint64_t at = (pc - base) / 4;
        return at < words.size() ? std::span(words).subspan(at) : std::span<const uint32_t>();
    };
    const Target* target = find_target("gfx90a");
    lift::Liveness liveness(*target, fetch, false);
    lift::InstStore store;
    lift::Options o;
    o.target = target;
    o.mode = mode;
    o.handler = &interp::handler;
    o.liveness = &liveness;
    o.exec_full = exec_full;
    o.may_guard = now != nullptr;
    o.now = now;
    return x64::lift_for_translation(o, base, fetch, store);
}

enum class Kind { Interpreter, Avx2, Avx512 };

inline std::string kind_name(const testing::TestParamInfo<Kind>& info) {
    return info.param == Kind::Interpreter ? "Interpreter"
           : info.param == Kind::Avx2      ? "Avx2"
                                           : "Avx512";
}

class SequenceMachine {
public:
    static constexpr uint32_t out_bytes = 4096;

    explicit SequenceMachine(Kind kind) {
        ctx_->target = find_target("gfx90a");
        ctx_->memory = &space_;
        code_ = space_.allocate(4096, memory::read_write | memory::executable, "code").value();
        out_ = space_.allocate(out_bytes, memory::read_write, "out").value();
        if (kind == Kind::Interpreter) {
            engine_ = interp::make_interpreter(*ctx_->target);
        } else if (const auto isa = kind == Kind::Avx2 ? x64::Isa::Avx2 : x64::Isa::Avx512;
                   x64::host_supports(isa)) {
            // Registers that nobody reads are not written, as in programs.
            engine_ = std::move(*x64::make_translator(*ctx_->target, isa));
        }
    }
    // False: the host lacks the instruction set.
    explicit operator bool() const { return engine_ != nullptr; }

    void load(const std::vector<uint32_t>& words) {
        std::memcpy(reinterpret_cast<void*>(code_), words.data(), words.size() * 4);
        engine_->invalidate(code_, code_ + 4096);
    }
    // Runs a wave of 32 rows and scalar registers that `fill` makes; s[20:21] is where it stores.
    template <class F>
    const uint8_t* run(int64_t budget, F fill) {
        machine::Wave w;
        const auto base = (reinterpret_cast<uintptr_t>(rows_.data()) + 63) & ~uintptr_t{63};
        w.vgpr = reinterpret_cast<uint32_t*>(base);
        w.vgpr_count = 32;
        w.sgpr_count = 32;
        w.ctx = ctx_.get();
        w.mode = 0xf0;
        w.budget = budget;
        w.pc = code_;
        for (uint32_t r = 0; r < 32; ++r)
            for (uint32_t l = 0; l < machine::lanes; ++l) w.row(r)[l] = 0x3f800000 + 977 * r + l;
        fill(w);
        w.set_s64(20, out_);
        auto* const out = reinterpret_cast<uint8_t*>(out_);
        std::memset(out, 0xcc, out_bytes);
        EXPECT_EQ(engine_->run(w), machine::ExitKind::EndProgram)
            << (w.exit.reason ? w.exit.reason : "");
        return out;
    }

private:
    memory::AddressSpace space_;
    std::vector<uint32_t> rows_ = std::vector<uint32_t>(32 * machine::lanes + 16);
    std::unique_ptr<machine::ExecContext> ctx_ = std::make_unique<machine::ExecContext>();
    std::unique_ptr<machine::Engine> engine_;
    uint64_t code_ = 0, out_ = 0;
};

}  // namespace wj::jit_test
