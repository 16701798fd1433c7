// The messages of Intel's DWORD_ATOMIC (opcode 0x7d of vISA) as IR atomics: for embedders and
// targets whose operations AMD's instructions do not have. Source: "DWORD_ATOMIC", vISA
// documentation of the Intel Graphics Compiler; docs/design/memory.md says what it leaves open.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/ir.h"

namespace wj::ir {

// The type of an element and of the operands, which are dwords or, of 64 bits, pairs of them.
enum class AtomicType : uint8_t { Unsigned, Signed, Float };

// Which operands there are, and in what order the IR's operation wants them.
enum class AtomicSources : uint8_t {
    None,      // counts by one
    Data,      // src0
    Exchange,  // src0 is stored where src1 was found
    Compare,   // src1 is stored where src0 was found
};

struct DwordAtomic {
    std::string_view name;  // of the text form
    uint8_t code;           // bits 4:0 of the operation's byte
    AtomicOp op;            // AtomicSources::None: with 1 as its data
    AtomicType type;
    AtomicSources sources;
    bool new_value = false;  // what the message returns
};
// In the order of their codes. Codes without a row are reserved.
std::span<const DwordAtomic> dword_atomics();

enum class AtomicSurface : uint8_t { SharedLocalMemory = 0, Stateless = 5 };

struct DwordAtomicMessage {
    uint8_t op = 0;       // bits 4:0 the code, bit 5: elements of 16 bits; bits 7:6 are 0
    uint8_t surface = 0;  // AtomicSurface
    AtomicType type = AtomicType::Unsigned;
    bool quad = false;         // elements of 64 bits, of the stateless surface only
    Value base = no_value;     // U64, of the stateless surface: its first byte
    Value offsets = no_value;  // V32: bytes
    Value mask = no_value;     // M: lanes that take part
    std::array<Value, 2> src0{no_value, no_value},
        src1{no_value, no_value};  // V32: low, high dword
};

// Appends the message to the block; `result` becomes its tuple (V32 each; nobody need read it).
// Lanes of one address are done one after the other, the lowest first. Returns what is wrong with
// the message, and appends nothing then.
std::string append(Block& block, const DwordAtomicMessage& message, Value& result);

// The lanes that an Exec_size byte (bits 2:0 the number of elements, bits 7:4 M1 to M8 and M1_NM to
// M8_NM) enables under a mask of channels and a predicate. M<n> looks at channels from 4 * (n - 1)
// on; the NM forms look at none. Nothing for reserved sizes and channels beyond the 32nd.
std::optional<uint64_t> dword_atomic_lanes(uint8_t exec_size, uint32_t channels,
                                           uint32_t predicate);

}  // namespace wj::ir
