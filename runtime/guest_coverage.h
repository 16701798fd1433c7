// Where a device counts the edges of the guest's code (machine/coverage.h), and for whom.
#pragma once

#include <cstdint>

#include "common/status.h"
#include "machine/coverage.h"

namespace wj::runtime {

struct CoverageOptions {
    enum class Kind : uint8_t {
        Auto,  // in the program's fuzzer, if it is linked with one that has SanitizerCoverage
        Off,
        Counters,  // the embedder's
    } kind = Kind::Auto;
    uint8_t* counters = nullptr;
    uint64_t size = 0;
    bool divergence = false, lanes = false;  // machine::Coverage's
};

// Fills what depends on the options; `out.counters` stays null when nothing is to be counted.
Status find_counters(const CoverageOptions& options, machine::Coverage& out);

}  // namespace wj::runtime
