// Atomics whose lanes scalar code updates one after the other, each at an address that is an index
// times a size: a lane's element, or a byte or half of it. Scalar code reads the elements from
// memory, takes the byte and scales the index in the same two instructions as it needs for the
// update; vectors of addresses are then not needed.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/ir.h"

namespace wj::x64 {

// The address of a lane, or its offset from the base: bits first .. first + width of the source,
// shifted up.
struct LaneField {
    ir::Value source = ir::no_value;  // V32
    uint32_t first = 0, width = 32;   // a byte, a half, or all of it
    uint32_t up = 0;                  // at most 3
    uint32_t most = ~0u;              // an upper bound of the field
    bool is_signed = false;           // all of it, in 64 bits

    uint32_t bits() const { return ~0u >> (32 - width) << first; }
};

// A 64-bit value that is an index of 32 bits times the size of an element, or a byte or half of it.
std::optional<LaneField> scaled_index(const ir::Block& block, ir::Value v);

// What an engine knows of the memory that a block runs in.
struct MemoryTraits {
    bool exclusive = false;  // no other thread sees it
    bool direct = false;     // guest addresses are the host's, perhaps behind reach()
    bool any_order = false;  // of accesses to global memory by different lanes: nobody can tell
};

// x86 has the operation with a memory destination.
bool is_direct(ir::AtomicOp op);

// None: the atomic may not be done so, or it would bring nothing. full: in all lanes. returns:
// someone wants the old values.
std::optional<LaneField> find_lane_field(const ir::Block& block, const ir::Inst& atomic, bool full,
                                         bool returns, const MemoryTraits& memory);

}  // namespace wj::x64
