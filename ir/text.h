// The IR as text: what print() writes, parse() reads. For `wavejit ir`, for messages, and for tests
// that give a block and say what becomes of it (tests/ir).
//
//     block 0x1000..0x1008 exec_full
//       0x1000:
//         %0:u64 = Const64 #0xffffffffffffffff
//         %mask:mask = MaskOf %0
//         %x:v32 = LoadGlobal %3 %mask dwordsx1 #0x10
//         SetV %x %mask #0x5
//         exit end next 0x1008
//
// A value is a name behind '%'; print() uses the instruction's index. `#` is Inst::imm. Inst::aux
// is words for accesses and atomics ("dwordsx4 far_lanes", "addx1 flags 2"), else `aux N`. Between
// the first line and the instructions stand what the block has besides: `table`, `call`, `next`.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"
#include "ir/ir.h"

namespace wj::ir {

std::string_view type_name(Type type);  // "u32", "mask", ...; "none"
// An error names the line. Calls have no function and no argument; whatever is not well formed is
// refused as verify() says.
Result<Block> parse(std::string_view text);

}  // namespace wj::ir
