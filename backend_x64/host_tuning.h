// What is best on one maker's processors and not on another's.
#pragma once

#include <cstdint>

#include "machine/engine.h"

namespace wj::x64 {

struct HostTuning {
    // Whether waves that read rows one behind the other fetch those to come: for processors that
    // do not do so well enough by themselves.
    bool fetches_streams = true;
    // Whether neighbours in no particular order are loaded as a vector that is permuted, though
    // that takes a look at the lanes, instead of gathered.
    bool gathers_slowly = false;
    // Whether 64 bytes of a stream are loaded as twice 32.
    bool splits_loads = false;
    // In small launches prefetches cost more than they bring, if waves that read rows fetch, too.
    machine::Engine::Prefetch prefetch{64, 8 << 20, 8 << 20};
};

HostTuning host_tuning();

// Dot products of bf16 pairs, which the AVX-512 engine does without where they are missing.
bool has_bf16_products();

}  // namespace wj::x64
