// Uniform values of a block for a wave that stands at the block's beginning.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/ir.h"

namespace wj::ir {

// Guest memory of 4 or 8 bytes, or none.
using ReadMemory = std::function<std::optional<uint64_t>(uint64_t address, uint32_t bytes)>;

class EntryValues {
public:
    EntryValues(const machine::Wave& wave, const ReadMemory& read) : wave_(wave), read_(read) {}

    // The value of v, if it depends on nothing but scalar registers, lanes of rows, and memory that
    // can be read. Of one block, which may grow between the calls.
    std::optional<uint64_t> of(const Block& block, Value v);

private:
    std::optional<uint64_t> compute(const Block& block, const Inst& i);

    const machine::Wave& wave_;
    const ReadMemory& read_;
    std::vector<std::optional<std::optional<uint64_t>>> known_;
};

}  // namespace wj::ir
