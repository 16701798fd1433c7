// Reads ahead in each lane's row (BlockCompiler::load_from_rows): Stubs::rows.
#pragma once

#include <asmjit/x86.h>

#include <cstddef>

namespace wj::x64 {

// In: rdx, where the rows of dwords go, a vector's dwords from each of Frame::lane_hosts,
// transposed. Out: eax = 0 if not all of them could be read: rows end somewhere, and what is behind
// may not be there. Keeps all other registers but rcx and rdx. Returns the offset at which the
// signal handler goes on behind a fault in the code in front of that.
size_t emit_row_stub(asmjit::x86::Assembler& a, bool avx512);

}  // namespace wj::x64
