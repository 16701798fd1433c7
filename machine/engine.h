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
    uint64_t code_flushes = 0;  // times that all translated code was dropped to make room
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

    // Runs waves[0], waves[1], ... each like run(), as long as they end or reach a barrier. Returns
    // how many ran; the last of them may have stopped for another reason.
    virtual uint32_t run_waves(Wave* waves, uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) {
            const ExitKind kind = run(waves[i]);
            if (kind != ExitKind::EndProgram && kind != ExitKind::Barrier) return i + 1;
        }
        return count;
    }

    // Code in [begin, end) was written, unmapped or replaced: forget what was decoded or
    // translated. No wave may be running code of that range.
    virtual void invalidate(uint64_t begin, uint64_t end) = 0;

    virtual EngineCounters counters() const = 0;
};

}  // namespace wj::machine
