// Loads and stores of a chunk by stubs that all blocks share: an access whose lanes are most likely
// at consecutive addresses looks for these only. A stub knows the other patterns, takes 20 bytes of
// code at each access instead of 250, and some 10 to 20 ns longer.
#pragma once

#include <cstdint>
#include <span>

#include "backend_x64/frame.h"
#include "ir/ir.h"

namespace wj::x64 {

// What a stub is made for. Its number is that of its bits.
struct MemoryStub {
    // The lanes' addresses: of two dwords, offsets of one from a base, in the LDS.
    enum class Form : uint8_t { Wide, Offsets, Lds } form = Form::Wide;
    ir::Access access = ir::Access::Dwords;
    uint8_t dwords = 1;
    bool store = false;

    // But for offset, flags and lanes.
    MemoryOp operation() const {
        MemoryOp op;
        op.space = form == Form::Lds ? lds_space : global_space;
        op.access = static_cast<uint8_t>(access);
        op.dwords = dwords;
        op.store = store;
        op.flags = form == Form::Wide ? 0 : no_upper_halves;
        return op;
    }
    constexpr uint32_t number() const {
        const auto a = static_cast<uint32_t>(access);
        constexpr auto whole = static_cast<uint32_t>(ir::Access::Dwords);
        const uint32_t kind = access == ir::Access::Dwords ? dwords - 1u
                              : a < whole                  ? 4 + a
                                                           : 4 + 2 * (a - whole) - 1;
        return static_cast<uint32_t>(form) * 16 + (store ? 8 : 0) + kind;
    }
    // The inverse.
    static constexpr MemoryStub at(uint32_t number) {
        MemoryStub stub;
        stub.form = static_cast<Form>(number / 16);
        stub.store = number & 8;
        const uint32_t kind = number & 7;
        if (kind < 4)
            stub.dwords = static_cast<uint8_t>(kind + 1);
        else if (stub.store && kind & 1)  // nothing is stored with a sign
            stub.access = kind == 5 ? ir::Access::U8D16Hi : ir::Access::U16D16Hi;
        else
            stub.access = static_cast<ir::Access>(kind - 4);
        return stub;
    }
};

class BlockCompiler;
// The code of a stub, which runs wherever it lies; emitted once in a process. Empty: it could not
// be.
std::span<const uint8_t> memory_stub(BlockCompiler& compiler, uint32_t number, bool avx512);

}  // namespace wj::x64
