// What the runtime asks of an engine: the interpreter and the two translators implement it.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>

#include "machine/wave.h"

namespace wj::machine {

struct EngineCounters {
    uint64_t wave_instructions = 0;  // filled by the runtime from budgets
    uint64_t blocks_translated = 0;
    uint64_t instructions_translated = 0;
    uint64_t host_code_bytes = 0;
    uint64_t translation_ns = 0;
    uint64_t interpreted = 0;    // instructions run by the interpreter, alone or between translated
                                 // ones; filled by the runtime
    uint64_t blocks_loaded = 0;  // from the on-disk cache
    uint64_t blocks_stored = 0;  // written to it
    uint64_t code_flushes = 0;   // times that all translated code was dropped to make room
    // When the engine was asked to count: host instructions of translated code, and its calls of
    // C++ code.
    uint64_t host_instructions = 0, host_calls = 0;
};

// What code from some place on may need.
struct Needs {
    static constexpr uint32_t first_agpr = 256;
    std::bitset<128> scalars;  // by operand encoding
    // VGPRs, then AccVGPRs: in lanes that are on, and in others.
    std::bitset<512> rows, rows_off;
    // It may wait for other work-groups, or count with them: it has atomic or coherent accesses of
    // memory that they share, or empties caches of what was there.
    bool others = false;

    static Needs everything() {
        Needs all;
        all.scalars.set();
        all.rows.set();
        all.rows_off.set();
        all.others = true;
        return all;
    }
};

// Waves side by side in memory that run one behind the other as long as each comes to a barrier or
// ends.
struct WaveRow {
    uint32_t left = 0;       // of them, behind the running one
    uint32_t laps = 0;       // behind the last one comes the first one again, so many times
    uint32_t most_left = 0;  // behind the first one
    uint32_t ended = 0;      // of those that were passed
    Wave* first = nullptr;
    int64_t slice = 0;          // the budget of each
    uint64_t instructions = 0;  // executed by those that were passed
};

// Waves that translated code starts by itself where WaveSource::again() would: they are the same
// object and differ in v0, one scalar register and what settle() sets. Who has no need of v0 may
// leave it as it was.
struct WaveRun {
    uint32_t left = 0;                   // of the work-group, behind the running one
    uint32_t groups = 0;                 // work-groups behind it, in x
    uint32_t rows = 0;                   // rows of work-groups behind that one, in y
    uint32_t most_left = 0;              // behind a work-group's first wave
    uint32_t most_groups = 0;            // behind a row's first work-group
    uint32_t id_bytes = 0;               // from a wave's ids to those of the next one
    const uint8_t* ids = nullptr;        // v0 of the running wave; null: no run is offered
    const uint8_t* first_ids = nullptr;  // of each work-group's first one
    uint32_t* group_id = nullptr;        // counts the work-groups of a row
    uint32_t* row_id = nullptr;          // counts the rows
};

// Where an engine gets the waves from that it runs one after the other.
class WaveSource {
public:
    // Null, or what an engine may do instead of asking next() when the running wave has come to a
    // barrier or ended: add slice - wave.budget to `instructions` and run another one with the
    // budget `slice`: (&wave)[1], if `left` is not 0, which becomes one less; or `first`, if it is
    // at a barrier, `ended` is 0 and `laps` is not, which becomes one less, and `left` is most_left
    // then. The waves' `exit` is empty and stays so, but for those that end: they say so there, and
    // are counted in `ended`.
    virtual WaveRow* row() { return nullptr; }
    // `wave` has ended or stands at a barrier (wave.exit.kind): the wave to run now, which may be
    // the same object in its next life, or null. Its `exit` is empty; ctx and register counts are
    // those of the first wave. Must not throw.
    virtual Wave* next(Wave& wave) = 0;
    // `wave` has ended after `executed` instructions, all of them in its first block, and its
    // registers are what they were at its start, vector registers included. If the next wave is the
    // same object and differs in scalar registers and in the base of rows only (each row is what it
    // was plus a constant), starts it, `executed` instructions charged, and returns true. Otherwise
    // does nothing: next() follows. Must not throw.
    virtual bool again(Wave& wave, uint32_t executed) {
        (void)wave, (void)executed;
        return false;
    }
    // Null, or waves that an engine may start instead of asking again(), after which it says that
    // there may be some: the next one of the work-group, if `left` is not 0, which becomes one
    // less, with v0 from the next `ids`; or the first one of the next work-group, if `groups` is
    // not 0, which becomes one less, with `left` = `most_left`, `ids` = `first_ids`, and *group_id
    // one more; or the first one of the next row of work-groups, if `rows` is not 0, which becomes
    // one less, with `groups` = `most_groups`, *group_id = 0 and *row_id one more. again() and
    // next() take notice of them. They differ in v0 and in what counts them, nothing else.
    virtual WaveRun* run() { return nullptr; }
    // Makes the running wave's fields and v0, and what is known of its work-group, those of the
    // wave that it has become; its other registers are. To be called before a wave of a run goes on
    // otherwise.
    virtual void settle() {}

protected:
    ~WaveSource() = default;
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

    // Runs `first`, then the waves that `source` gives, each like run(), until there is none or one
    // stops otherwise than by its end or a barrier. Returns the last one.
    virtual Wave& run_all(Wave& first, WaveSource& source) {
        for (Wave* wave = &first;;) {
            const ExitKind kind = run(*wave);
            if (kind != ExitKind::EndProgram && kind != ExitKind::Barrier) return *wave;
            Wave* next = source.next(*wave);
            if (!next) return *wave;
            wave = next;
        }
    }

    // run_all() for waves[0], waves[1], ... Returns how many ran.
    uint32_t run_waves(Wave* waves, uint32_t count) {
        struct Array final : WaveSource {
            explicit Array(const Wave* last) : last(last) {}
            Wave* next(Wave& wave) override {
                if (&wave == last) return nullptr;
                (&wave)[1].exit = {};
                return &wave + 1;
            }
            const Wave* last;
        } array(waves + count - 1);
        return count ? static_cast<uint32_t>(&run_all(waves[0], array) - waves) + 1 : 0;
    }

    // Its code loads registers in vectors of so many bytes, best from stores of this size.
    virtual uint32_t vector_bytes() const { return 32; }

    // How many waves of 64 lanes ahead its code wants ExecContext::prefetch_items to lead (0:
    // nowhere), in launches that read so many bytes if every work-item reads a dword.
    struct Prefetch {
        uint32_t waves = 0;
        uint64_t least_bytes = 0;
        // Rows of several elements for each work-item: if they are so many bytes together.
        uint64_t least_row_bytes = 0;
    };
    virtual Prefetch prefetch() const { return {}; }

    // What a wave that starts at pc needs; registers that it does not may hold anything. Good until
    // invalidate() of that code.
    virtual Needs needs_at(const ExecContext&, uint64_t /*pc*/) { return Needs::everything(); }

    // What it takes to go on from wave.pc is at hand: nothing needs to be translated for it.
    virtual bool ready_for(Wave& /*wave*/) { return true; }
    // A thread is translating: others that need translations would wait for it.
    virtual bool busy() const { return false; }

    // Code in [begin, end) was written, unmapped or replaced: forget what was decoded or
    // translated. No wave may be running code of that range.
    virtual void invalidate(uint64_t begin, uint64_t end) = 0;

    virtual EngineCounters counters() const = 0;

    // When the engine was asked to count: the blocks with the most executed host instructions, as
    // text.
    virtual std::string hot_blocks(size_t /*most*/) const { return {}; }
};

}  // namespace wj::machine
