// What the runtime asks of an engine: the interpreter and the two translators implement it.
#pragma once

#include <cstdint>
#include <memory>

#include "machine/wave.h"

namespace wj::machine {

struct EngineCounters {
    uint64_t wave_instructions = 0;  // filled by the runtime from budgets
    uint64_t blocks_translated = 0;
    uint64_t instructions_translated = 0;
    uint64_t host_code_bytes = 0;
    uint64_t translation_ns = 0;
    uint64_t interpreter_fallbacks = 0;
};

class Engine {
public:
    virtual ~Engine() = default;
    virtual const char* name() const = 0;  // "interp", "avx2", "avx512"

    // Runs `wave` from wave.pc until it ends, reaches a barrier, yields or stops; fills wave.exit
    // and returns its kind. Safe to call from several threads on different waves. Memory faults in
    // identity mode arrive as signals and are turned into ExitKind::MemoryFault by machine/guard.h,
    // which the engine itself uses around guest code.
    virtual ExitKind run(Wave& wave) = 0;

    // Code in [begin, end) was written, unmapped or replaced: forget what was decoded or
    // translated. No wave may be running code of that range.
    virtual void invalidate(uint64_t begin, uint64_t end) = 0;

    virtual EngineCounters counters() const = 0;
};

}  // namespace wj::machine
