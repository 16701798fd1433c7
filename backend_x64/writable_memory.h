// Memory that stores may be held back for: they will not fault.
#pragma once

#include <cstdint>

#include "memory/address_space.h"

namespace wj::x64 {

// An allocation that was asked about last.
class WritableMemory {
public:
    // Whether all of [begin, end) can be written and lies in one allocation.
    bool covers(const memory::AddressSpace& space, uint64_t begin, uint64_t end);
    uint64_t end() const { return end_; }  // of the allocation

private:
    const memory::AddressSpace* space_ = nullptr;
    uint64_t epoch_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace wj::x64
