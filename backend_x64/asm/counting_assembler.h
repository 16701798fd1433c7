// An assembler that can put a counter in front of every run of instructions that are executed
// together: between two places where control enters or leaves. And that can say whether what it
// assembles uses a register.
#pragma once

#include <asmjit/x86.h>

#include <vector>

#include "backend_x64/compiled_block.h"

namespace wj::x64 {

class CountingAssembler final : public asmjit::x86::Assembler {
public:
    // From the next instruction on; null: without counters.
    void count(HostCounters* counters, std::vector<CountedRun>* runs);
    // The last run ends here.
    void end_count();

    // From now on until it is asked whether the register is used, or anything is called.
    void look_for(const asmjit::x86::Gp& reg);
    bool found();

    asmjit::Error bind(const asmjit::Label& label) override;
    asmjit::Error _emit(asmjit::InstId id, const asmjit::Operand_& o0, const asmjit::Operand_& o1,
                        const asmjit::Operand_& o2, const asmjit::Operand_* more) override;

private:
    static constexpr uint32_t no_register = ~0u;

    void begin_run();
    bool uses_watched(const asmjit::Operand_& o) const;

    HostCounters* counters_ = nullptr;
    std::vector<CountedRun>* runs_ = nullptr;
    uint32_t watched_ = no_register;
    bool found_ = false;
    bool entered_ = false;  // control may come from elsewhere to here, or may not come
};

}  // namespace wj::x64
