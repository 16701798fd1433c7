// Programs in gfx90a's machine words, on the interpreter and on a translator: the waves that end
// them must be equal, bit for bit.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend_x64/translator.h"
#include "frontend/decode.h"
#include "frontend/target.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "memory/address_space.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {

class WordsTest : public testing::TestWithParam<x64::Isa> {
protected:
    static constexpr uint32_t code_bytes = 4096;

    void SetUp() override {
        if (!x64::host_supports(GetParam())) GTEST_SKIP() << "this host cannot run the engine";
        machine::install_fault_handler();
        context_.target = find_target("gfx90a");
        context_.memory = &space_;
        code_ =
            space_.allocate(code_bytes, memory::read_write | memory::executable, "code").value();
        interpreter_ = interp::make_interpreter(*context_.target);
        translator_ = std::move(
            *x64::make_translator(*context_.target, GetParam(), {.keep_registers = true}));
    }

    uint32_t random(size_t n) { return static_cast<uint32_t>(rng_() % n); }

    // The words become the code at `pc`; what was translated is forgotten.
    void load(uint64_t pc) {
        std::memcpy(reinterpret_cast<void*>(pc), words_.data(), words_.size() * 4);
        for (const auto& engine : {&interpreter_, &translator_})
            (*engine)->invalidate(code_, code_ + code_bytes);
    }

    // Runs a wave of 32 SGPRs from `pc` on both, to its end.
    void compare(const State& first, uint64_t pc) {
        State want, got;
        for (State* s : {&want, &got}) {
            s->copy_from(first);
            s->wave.ctx = &context_;
            s->wave.mode = first.wave.mode;
            s->wave.sgpr_count = 32;
            s->wave.pc = pc;
        }
        ASSERT_EQ(interpreter_->run(want.wave), machine::ExitKind::EndProgram);
        ASSERT_EQ(translator_->run(got.wave), machine::ExitKind::EndProgram);
        got.wave.pc = want.wave.pc;
        ASSERT_TRUE(same(got, want)) << text();
    }

    std::string text() const {
        std::string text;
        Inst inst;
        for (std::span<const uint32_t> rest = words_;
             !rest.empty() && decode(*context_.target, rest, inst);
             rest = rest.subspan(inst.size / 4))
            text += disassemble(*context_.target, inst) + '\n';
        return text;
    }

    memory::AddressSpace space_;
    machine::ExecContext context_;
    std::unique_ptr<machine::Engine> interpreter_, translator_;
    uint64_t code_ = 0;
    Rng rng_{43};
    std::vector<uint32_t> words_;
};

}  // namespace wj::jit_test
