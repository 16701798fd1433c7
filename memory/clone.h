// A second address space with the same contents at the same guest addresses.
#pragma once

#include "common/status.h"
#include "memory/address_space.h"

namespace wj::memory {

// Copies allocations of the embedder (Extent::Bytes) and of code, as snapshots know them, at once;
// pages that hold zeros take no memory. `to` is empty. As long as a copy is there the original's
// host memory stays, so that nobody else's gets its addresses, which are those of guests of both.
// InvalidArgument: host memory is mapped, which has one place only. OutOfMemory: none is left.
Status clone_memory(const AddressSpace& from, AddressSpace& to);

}  // namespace wj::memory
