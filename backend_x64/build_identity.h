// Which build of wavejit this is: translations of another one are worth nothing.
#pragma once

#include <cstdint>
#include <string>

namespace wj::x64 {

// The executable or shared library that holds the translators.
struct BuildIdentity {
    std::string id;                // the linker's build id; empty: it has none
    uintptr_t begin = 0, end = 0;  // where it is loaded
    bool contains(uintptr_t address) const { return address >= begin && address < end; }
};
const BuildIdentity& build_identity();

}  // namespace wj::x64
