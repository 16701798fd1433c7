#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj {

// Decodes the instruction at the front of `words`. Returns false, with out.size = 4, when LLVM's
// disassembler for the target rejects it or when `words` is too short for it.
bool decode(const Target& target, std::span<const uint32_t> words, Inst& out);

// LLVM's syntax, without comment: "v_add_f32_e32 v0, s1, v2". `pc` is used for nothing but branch
// comments by callers; branch operands print as LLVM's raw immediates.
std::string disassemble(const Target& target, const Inst& inst);

}  // namespace wj
