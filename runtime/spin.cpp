#include "runtime/spin.h"

#include <algorithm>
#include <cstring>

#include "runtime/guest_code.h"

namespace wj::runtime {
namespace {

using machine::ExitKind;
using machine::Wave;

// Loops in which code waits have a few dozen instructions, some hundred when not optimized.
constexpr int64_t most_instructions = 512;
// Laps of loops that store get longer up to this.
constexpr int64_t longest_lap = 1 << 14;

// At least `instructions` of them, up to the end of a block of code. Returns how many; the wave's
// budget is charged with them. None: it has stopped.
int64_t step(machine::Engine& interpreter, Wave& wave, int64_t instructions) {
    const int64_t budget = wave.budget;
    int64_t executed = 0;
    while (executed < instructions) {
        wave.budget = instructions - executed;
        const int64_t given = wave.budget;
        const ExitKind kind = interpreter.run(wave);
        executed += given - wave.budget;
        wave.budget = budget - executed;
        if (kind != ExitKind::Yield) return 0;
    }
    return executed;
}

void add_rows(const Inst& inst, std::bitset<256>& rows) {
    for (const Operand& o : inst.dst) {
        if (o.kind == Operand::Kind::Agpr) rows.set();
        if (o.kind != Operand::Kind::Vgpr) continue;
        for (uint32_t r = o.reg; r < o.reg + std::max<uint32_t>(o.dwords, 1) && r < 256; r++)
            rows.set(r);
    }
}

}  // namespace

void forget_shapes(Wave& wave) {
    std::memset(wave.row_shapes, 0, sizeof(wave.row_shapes));
    std::memset(wave.upper_row_shapes, 0, sizeof(wave.upper_row_shapes));
}

void Snapshot::take(const Wave& wave) {
    pc_ = wave.pc;
    scc_ = wave.scc;
    mode_ = wave.mode;
    vgpr_msb_ = wave.vgpr_msb;
    std::memcpy(sgpr_, wave.sgpr, sizeof(sgpr_));
    const size_t rows = size_t{wave.vgpr_count} + wave.agpr_count;
    rows_.assign(wave.vgpr, wave.vgpr + rows * machine::lanes);
}

bool Snapshot::scalars_match(const Wave& wave) const {
    return wave.pc == pc_ && wave.scc == scc_ && wave.mode == mode_ && wave.vgpr_msb == vgpr_msb_ &&
           !std::memcmp(wave.sgpr, sgpr_, sizeof(sgpr_));
}

bool Snapshot::matches(const Wave& wave, const std::bitset<256>& written) const {
    if (written.all() || wave.vgpr_count > written.size()) return matches(wave);
    if (!scalars_match(wave)) return false;
    for (size_t row = 0; row < wave.vgpr_count; row++)
        if (written[row] && std::memcmp(wave.vgpr + row * machine::lanes,
                                        rows_.data() + row * machine::lanes, machine::lanes * 4))
            return false;
    return true;
}

bool Snapshot::matches(const Wave& wave) const {
    return scalars_match(wave) &&
           !std::memcmp(wave.vgpr, rows_.data(), rows_.size() * sizeof(uint32_t));
}

bool Spin::begin(machine::Engine& interpreter, Wave& wave) {
    forget_shapes(wave);
    // Brent's search for a state that comes back.
    start_.take(wave);
    int64_t lap = 0, total = 0;
    for (uint32_t blocks = 1;; blocks++) {
        const int64_t executed = step(interpreter, wave, 1);
        lap += executed;
        total += executed;
        if (!executed || total > most_instructions) return false;
        if (start_.matches(wave)) break;
        if (blocks & (blocks - 1)) continue;
        start_.take(wave);
        lap = 0;
    }
    lap_ = lap;
    stores_ = false;
    written_.reset();
    for (int64_t done = 0; done < lap;) {
        uint64_t pc = wave.pc;
        const int64_t executed = step(interpreter, wave, 1);
        if (!executed) return false;
        done += executed;
        // They follow each other.
        Inst inst;
        for (int64_t i = 0; i < executed; i++, pc += inst.size) {
            if (!fetch_inst(*wave.ctx->target, *wave.ctx->memory, pc, inst)) return false;
            stores_ |= !only_loads(inst);
            add_rows(inst, written_);
        }
    }
    return start_.matches(wave);
}

bool Spin::goes_on(machine::Engine& interpreter, Wave& wave) {
    const int64_t executed = step(interpreter, wave, lap_);
    if (!executed || !start_.matches(wave, written_)) {
        forget_shapes(wave);
        return false;
    }
    if (stores_ && lap_ < longest_lap) lap_ *= 2;
    return true;
}

}  // namespace wj::runtime
