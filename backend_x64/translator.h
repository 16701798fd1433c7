// Translating engine: IR of guest blocks -> AVX-512 or AVX2 host code, in a linked code cache.
#pragma once

#include <memory>

#include "common/status.h"
#include "frontend/target.h"
#include "machine/engine.h"

namespace wj::x64 {

enum class Isa : uint8_t { Avx2, Avx512 };

// What this processor can run (cpuinfo). AVX-512 means F, BW, DQ, VL, CD and VBMI.
bool host_supports(Isa isa);

// Fails with HostError when the host lacks the ISA or forbids executable mappings.
// keep_registers: the registers of a wave that has ended hold what the program left in them;
// without it writes that nobody reads are left out.
Result<std::unique_ptr<machine::Engine>> make_translator(const Target& target, Isa isa,
                                                         bool keep_registers);

}  // namespace wj::x64
