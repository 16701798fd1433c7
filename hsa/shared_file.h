// Memory that other processes may map: anonymous files, whose names say which pool they come from,
// so that a process that only gets a descriptor knows what it holds.
#pragma once

#include <cstdint>

#include "hsa/state.h"

namespace wj::hsa {

struct SharedFile {
    uint64_t size = 0;     // bytes
    Pool* pool = nullptr;  // of this process; that of its first GPU where it has no such agent
};

// A file of zeros; -1 = the host has no room or no descriptor left (errno says which).
int make_shared_file(uint64_t size, const Pool& pool);
// What a descriptor holds; false = it is not of make_shared_file.
bool read_shared_file(int descriptor, SharedFile& out);

}  // namespace wj::hsa
