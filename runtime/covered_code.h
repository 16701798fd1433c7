// Which blocks of a code object's functions waves have reached, from the counters of the edges
// between them (machine/coverage.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/code_object.h"
#include "frontend/target.h"
#include "machine/coverage.h"

namespace wj::runtime {

// Counts are of waves, and stay at 255.
struct CoveredBlock {
    // Where waves go on behind a branch that depends on something.
    struct Branch {
        uint8_t taken = 0, not_taken = 0;
    };
    std::vector<uint64_t> instructions;  // their ELF addresses
    uint64_t end = 0;                    // behind the last one
    uint8_t count = 0;
    std::optional<Branch> branch;  // of the last instruction
};

struct CoveredFunction {
    std::string name;  // without ".kd"
    std::vector<CoveredBlock> blocks;
};

// Kernels, and functions that have a size in the symbol table, by address. `coverage`: its places
// are ELF addresses of the object. A kernel's first block has no edge that leads to it: it counts
// what goes on from it, and is at least 1 where any edge of the kernel was taken.
std::vector<CoveredFunction> covered_functions(const CodeObject& object, const Target& target,
                                               const machine::Coverage& coverage);

}  // namespace wj::runtime
