// What is written when a wave starts: its state, from an image that all waves in its place share,
// and the vector registers that its code may read before it writes them, in lanes that it has. The
// others keep what earlier waves left there: on hardware they hold anything, and here nobody can
// tell.
#pragma once

#include <array>
#include <cstdint>

#include "machine/engine.h"
#include "runtime/launch_plan.h"

namespace wj::runtime {

class WaveStart {
public:
    // wide: the engine, and so the host, has AVX-512.
    WaveStart(const LaunchPlan& plan, bool wide);  // writes everything
    WaveStart(const LaunchPlan& plan, bool wide, const machine::Needs& live);

    // `ids`: the plan's id_rows rows of work-item ids; the other rows start as zeros. All memory is
    // aligned to 64 bytes.
    void write(const machine::Wave& image, const uint8_t* ids, machine::Wave& wave,
               uint8_t* rows) const {
        write_(*this, image, ids, wave, rows);
    }
    // Zeros. (memset uses REP STOSB from 2 KiB on, which takes 100 ns to begin with on Intel's
    // processors.) `bytes`: up to the next multiple of 64, of memory aligned to 64.
    void clear(uint8_t* memory, size_t bytes) const { clear_(memory, bytes); }
    // The ids alone.
    void write_ids(const uint8_t* ids, uint8_t* rows) const { write_ids_(ids_, ids, rows); }
    uint32_t id_rows() const { return ids_; }  // bit i: row i is written

private:
    struct Zeros {
        struct Rows {
            uint32_t first, count;
        };
        uint32_t count = 0;
        std::array<Rows, 8> rows;
        void add(uint32_t row);
    };
    using Write = void (*)(const WaveStart&, const machine::Wave&, const uint8_t*, machine::Wave&,
                           uint8_t*);
    using WriteIds = void (*)(uint32_t, const uint8_t*, uint8_t*);
    using Clear = void (*)(uint8_t*, size_t);
    template <class Vector>
    static void write_any(const WaveStart& start, const machine::Wave& image, const uint8_t* ids,
                          machine::Wave& wave, uint8_t* rows);
    static void write_avx2(const WaveStart& start, const machine::Wave& image, const uint8_t* ids,
                           machine::Wave& wave, uint8_t* rows);
    static void write_avx512(const WaveStart& start, const machine::Wave& image, const uint8_t* ids,
                             machine::Wave& wave, uint8_t* rows);

    const Write write_;
    const WriteIds write_ids_;
    const Clear clear_;
    uint32_t scalar_lines_ = 0;  // the first cache lines of Wave::sgpr that are copied
    uint32_t ids_ = 0;           // bit i: row i of the ids
    Zeros zeros_[2];             // of waves with all lanes on: [1]
};

}  // namespace wj::runtime
