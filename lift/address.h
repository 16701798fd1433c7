// Addresses of FLAT, GLOBAL and DS instructions as IR values.
#pragma once

#include "lift/lifter.h"

namespace wj::lift {

inline uint64_t offset_of(const Inst& i) {
    return static_cast<uint64_t>(int64_t{i.offset});
}

inline Value address64(Lifter& l, const Inst& i) {
    return l.s.pack(l.raw(i.vaddr(), 0), l.raw(i.vaddr(), 1));
}

// LDS address and the immediate that goes with it (LoadLds): a small constant that is added to the
// address register moves into the upper half of the immediate, so that accesses through several
// registers share an address.
struct LdsAddress {
    Value value;
    uint64_t imm;
    uint32_t aux = 0;  // ir::within_lds
};
// bytes: of a load or store; 0: of an atomic.
LdsAddress lds_address(Lifter& l, const Inst& i, uint32_t offset, uint32_t bytes);

}  // namespace wj::lift
