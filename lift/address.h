// Addresses of FLAT, GLOBAL and DS instructions as IR values.
#pragma once

#include <bit>

#include "lift/lifter.h"

namespace wj::lift {

inline uint64_t offset_of(const Inst& i) {
    return static_cast<uint64_t>(int64_t{i.offset});
}

inline Value address64(Lifter& l, const Inst& i) {
    return l.s.pack(l.raw(i.vaddr(), 0), l.raw(i.vaddr(), 1));
}

// Whether an SGPR pair and a VGPR make an address that Op::LoadGlobalS does not: it takes the VGPR
// as an unsigned number of bytes.
inline bool is_summed_address(Lifter& l, const Inst& i) {
    return i.sbase().is(Operand::Kind::Sgpr) && l.options.target->traits.signed_saddr_offsets;
}

// All of a GLOBAL address but the constant, added by halves and carry as code of older processors
// does it: one form is what the passes know of addresses.
inline Value whole_address(Lifter& l, const Inst& i) {
    if (!is_summed_address(l, i)) return address64(l, i);
    const Value units = l.raw(i.vaddr());
    const uint32_t bytes = offset_unit(i);
    Value offset = no_value;
    if (std::has_single_bit(bytes)) {
        offset = l.s.pack(units, l.emit(Op::Sar32, {units, l.c32(31)}));
        const auto shift = static_cast<uint32_t>(std::countr_zero(bytes));
        if (shift) offset = l.emit(Op::Shl64, {offset, l.c32(shift)});
    } else {
        offset = l.emit(Op::MulWideS32, {units, l.c32(bytes)});
    }
    const Value base = l.raw(i.sbase(), 0),
                low = l.emit(Op::Add32, {base, l.emit(Op::Lo, {offset})}),
                carry = l.emit(Op::CmpLtU32, {low, base}),
                high =
                    l.emit(Op::AddCarry32, {l.raw(i.sbase(), 1), l.emit(Op::Hi, {offset}), carry});
    return l.s.pack(low, high);
}

// SRC_FLAT_SCRATCH_BASE.
Value flat_scratch_base(Lifter& l);

// What Op::LoadFlat, StoreFlat and AtomicFlat take: an address and the constant that is added to
// it.
struct FlatAddress {
    Value value;
    uint64_t imm;
};
FlatAddress flat_address(Lifter& l, const Inst& i);

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
