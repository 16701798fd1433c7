// Translating engine: IR of guest blocks -> AVX-512 or AVX2 host code, in a linked code cache.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "common/status.h"
#include "frontend/target.h"
#include "lift/lift.h"
#include "machine/engine.h"

namespace wj::x64 {

enum class Isa : uint8_t { Avx2, Avx512 };

// Names of what this processor lacks to run the code of `isa`, separated by commas; empty =
// nothing.
std::string missing_features(Isa isa);
inline bool host_supports(Isa isa) {
    return missing_features(isa).empty();
}

struct TranslatorOptions {
    // Code memory. When it is full, everything is dropped and translated anew as needed.
    size_t code_bytes = size_t{256} << 20;
    // The registers of a wave that has ended hold what the program left in them; without it writes
    // that nobody reads are left out.
    bool keep_registers = false;
    // Chunks of a loop that run together, where registers allow; 0: as many as pay. For tests.
    uint32_t loop_chunks = 0;
    // Iterations after which lanes of divergent loops are first moved together; 0: the usual
    // number. For tests.
    uint32_t slice_iterations = 0;
    // Accesses look for all patterns of addresses from the beginning, not only where they turn out
    // to be run often. For tests.
    bool all_patterns = false;
    // Keeps translations on disk, in this directory (empty: CacheDirectory::default_path()).
    bool cache = false;
    std::string cache_directory = {};
    uint64_t cache_bytes = uint64_t{256} << 20;
    // Counts executed host instructions. Slow; such code is not kept on disk.
    bool count = false;
    // "kernel+0x10" for an address of guest code; for profilers.
    std::function<std::string(uint64_t)> symbol = {};
    // Gets, as text, what is known of the wave and what is decided for each block that is
    // translated (lift/profile.h, plan/decisions.h); null: nobody asks. Translations of other
    // processes are not used then.
    std::function<void(const std::string&)> plans = {};
};

// Fails with HostError when the host lacks the ISA or forbids executable mappings.
Result<std::unique_ptr<machine::Engine>> make_translator(const Target& target, Isa isa,
                                                         const TranslatorOptions& options = {});

// The IR that the translators make of the block at pc.
ir::Block lift_for_wave(lift::Options options, uint64_t pc, const lift::Fetch& fetch,
                        lift::InstStore& store);
// The same but for blocks that run into a loop, in front of which they end: lift_block(), except
// that a loop which runs while lanes are left is lifted so that it can run chunk by chunk.
ir::Block lift_for_translation(lift::Options options, uint64_t pc, const lift::Fetch& fetch,
                               lift::InstStore& store);

}  // namespace wj::x64
