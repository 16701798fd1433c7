// ExecContext::reach() as host code.
#pragma once

#include "backend_x64/asm/counting_assembler.h"
#include "backend_x64/asm/registers.h"

namespace wj::x64 {

// `context` points to the ExecContext.
inline void emit_reach(CountingAssembler& a, const Gp& address, const Gp& context) {
    namespace x86 = asmjit::x86;
    a.and_(address, x86::qword_ptr(context, offsetof(machine::ExecContext, address_mask)));
    a.or_(address, x86::qword_ptr(context, offsetof(machine::ExecContext, address_base)));
}

}  // namespace wj::x64
