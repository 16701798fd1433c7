#include "backend_x64/asm/counting_assembler.h"

#include <algorithm>

#include "backend_x64/frame.h"
#include "backend_x64/hot_blocks.h"

namespace wj::x64 {

namespace x86 = asmjit::x86;

void CountingAssembler::count(HostCounters* counters, std::vector<CountedRun>* runs) {
    counters_ = counters;
    runs_ = runs;
    entered_ = true;
}

void CountingAssembler::end_count() {
    if (counters_ && !runs_->empty() && !entered_)
        runs_->back().end = static_cast<uint32_t>(offset());
    counters_ = nullptr;
}

asmjit::Error CountingAssembler::bind(const asmjit::Label& label) {
    if (counters_ && !entered_ && !runs_->empty())
        runs_->back().end = static_cast<uint32_t>(offset());
    entered_ = true;
    return x86::Assembler::bind(label);
}

// The probe keeps flags and registers. What was said about the next instruction stays so.
void CountingAssembler::begin_run() {
    HostCounters* const counters = counters_;
    counters_ = nullptr;
    const asmjit::InstOptions options = instOptions();
    const asmjit::RegOnly extra = extraReg();
    resetInstOptions();
    resetExtraReg();
    uint64_t* const counter = counters->next();
    pushfq();
    push(x86::rax);
    mov(x86::rax, reinterpret_cast<uint64_t>(counter));
    lock().inc(x86::qword_ptr(x86::rax));
    pop(x86::rax);
    popfq();
    setInstOptions(options);
    setExtraReg(extra);
    const auto at = static_cast<uint32_t>(offset());
    runs_->push_back({.begin = at, .end = at, .counter = counter});
    entered_ = false;
    counters_ = counters;
}

// Whether a stub may call C++ code.
static bool calls_code(const x86::Mem& stub) {
    const size_t without[] = {offsetof(Frame, link_stub),     offsetof(Frame, budget_stub),
                              offsetof(Frame, ahead_stub),    offsetof(Frame, fewer_stub),
                              offsetof(Frame, even_row_stub), offsetof(Frame, together_stub),
                              offsetof(Frame, step_stub),     offsetof(Frame, step_ids_stub)};
    return std::ranges::none_of(without,
                                [&](size_t field) { return stub.offset() == in_frame(field); });
}

void CountingAssembler::look_for(const x86::Gp& reg) {
    watched_ = reg.id();
    found_ = false;
}

bool CountingAssembler::found() {
    watched_ = no_register;
    return found_;
}

bool CountingAssembler::uses_watched(const asmjit::Operand_& o) const {
    if (o.isReg()) return o.as<x86::Reg>().isGp() && o.id() == watched_;
    if (!o.isMem()) return false;
    const x86::Mem& m = o.as<x86::Mem>();
    return (m.hasBaseReg() && m.baseId() == watched_) ||
           (m.hasIndexReg() && m.indexId() == watched_);
}

asmjit::Error CountingAssembler::_emit(asmjit::InstId id, const asmjit::Operand_& o0,
                                       const asmjit::Operand_& o1, const asmjit::Operand_& o2,
                                       const asmjit::Operand_* more) {
    if (watched_ != no_register)
        found_ |= id == x86::Inst::kIdCall || uses_watched(o0) || uses_watched(o1) ||
                  uses_watched(o2) || uses_watched(more[0]);
    if (!counters_) return x86::Assembler::_emit(id, o0, o1, o2, more);
    if (entered_) begin_run();
    CountedRun& run = runs_->back();
    ++run.instructions;
    if (id == x86::Inst::kIdCall && o0.isMem()) run.call = calls_code(o0.as<x86::Mem>());
    const asmjit::Error error = x86::Assembler::_emit(id, o0, o1, o2, more);
    if (x86::InstDB::infoById(id).controlFlow() != asmjit::InstControlFlow::kRegular) {
        run.end = static_cast<uint32_t>(offset());
        entered_ = true;
    }
    return error;
}

}  // namespace wj::x64
