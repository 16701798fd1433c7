// Lanes that each go along a row in memory: Stubs::rows and what belongs to it.
#pragma once

#include <asmjit/x86.h>

#include <cstddef>

namespace wj::x64 {

// Offsets of entries, in order. All keep every register but rax, rcx and rdx, and find the lanes'
// addresses in Frame::lane_hosts.
struct RowStubs {
    // Reads ahead. rdx: where a vector's dwords from each address go, transposed: rows of dwords;
    // rcx: what is fetched is so far from them, as the host does not follow so many streams itself.
    // Out: eax = 0 if not all of them could be read: rows end somewhere, and what is behind may not
    // be there.
    size_t load;
    // Sees to it that as much can be stored, at addresses that are multiples of 4: looks at pages
    // that begin there, and with ecx = 15 instead of 0 at all of them. Out: eax = 0 if not.
    size_t open;
    size_t failed;  // where the signal handler goes on behind a fault in the code in front of this
    // Stores what `load` would load; ecx: the dwords of each lane, a bit each; rax: as rcx of
    // `load`.
    size_t store;
};
RowStubs emit_row_stubs(asmjit::x86::Assembler& a, bool avx512);

}  // namespace wj::x64
