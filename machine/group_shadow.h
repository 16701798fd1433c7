// What checkers keep of a work-group while it is resident.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "machine/checks.h"
#include "machine/global_shadow.h"
#include "machine/register_shadow.h"
#include "machine/unwritten_memory.h"

namespace wj::machine {

// Who has used each byte of a work-group's LDS since its last barrier.
class LdsShadow {
public:
    static constexpr uint16_t nobody = 0xffff, several = 0xfffe;
    struct Cell {
        uint16_t writer = nobody, reader = nobody;  // waves
        uint32_t barrier : 30 = 0;                  // the number of the last one before
        uint32_t atomic : 1 = false;                // no write was a plain one
        uint32_t written : 1 = false;               // since the work-group began
        bool operator==(const Cell&) const = default;
    };

    void begin(uint32_t size) {
        size_ = size;
        shift_ = 2;
        barrier_ = 0;
        cells_.assign((size + 3) / 4, Cell{});
    }
    void barrier() {
        if (++barrier_ < most_barriers) return;
        for (Cell& c : cells_) forget(c);
        barrier_ = 0;
    }
    uint32_t size() const { return size_; }  // bytes
    // Cells are dwords until an access begins or ends in between, then bytes. Returns their size.
    uint32_t split(uint64_t at, uint64_t bytes) {
        if (shift_ && (at | bytes) & 3) {
            std::vector<Cell> all(cells_.size() * 4);
            for (size_t b = 0; b < all.size(); b++) all[b] = cells_[b / 4];
            cells_ = std::move(all);
            shift_ = 0;
        }
        return 1u << shift_;
    }
    // A wave reads, or writes without atomics, [at, at + bytes). False: there is something to say
    // of it; a part may have been noted, and may be noted once more.
    bool note_plain(uint16_t wave, bool writes, uint64_t at, uint64_t bytes) {
        const uint32_t step = split(at, bytes);
        const Cell mine{writes ? wave : nobody, writes ? nobody : wave, barrier_, false, true};
        const auto mine_or_nobody = [&](uint16_t who) { return who == nobody || who == wave; };
        for (const uint64_t end = at + bytes; at < end; at += step) {
            Cell& c = cells_[at >> shift_];
            if (c == mine) continue;
            if (!writes && !c.written) return false;
            if (c.barrier != barrier_) {
                c = mine;
                continue;
            }
            if (!mine_or_nobody(c.writer) || (writes && !mine_or_nobody(c.reader))) return false;
            if (writes) {
                c.writer = wave;
                c.atomic = false;
                c.written = true;
            } else {
                c.reader = mine_or_nobody(c.reader) ? wave : several;
            }
        }
        return true;
    }
    Cell& cell(uint64_t byte) {
        Cell& c = cells_[byte >> shift_];
        if (c.barrier != barrier_) forget(c);
        return c;
    }

private:
    static constexpr uint32_t most_barriers = 1u << 30;
    void forget(Cell& c) const {
        c.writer = c.reader = nobody;
        c.atomic = false;
        c.barrier = barrier_ % most_barriers;
    }
    std::vector<Cell> cells_;
    uint32_t size_ = 0, shift_ = 2, barrier_ = 0;
};

// And of a dispatch.
struct DispatchShadow {
    DispatchShadow(FindingSink& sink, UnwrittenMemory* unwritten, bool watches)
        : sink(sink), unwritten(unwritten), watches(watches) {}
    FindingSink& sink;
    GlobalShadow global;
    UnwrittenMemory* const unwritten;  // of the device, with check_init; or null
    const bool watches;                // waves may be watched for bits that nobody has written
};

struct GroupShadow {
    LdsShadow lds;
    std::vector<RegisterShadow> waves;  // with checks_of_registers
    bool watches_bits = false;          // of a wave at least
    DispatchShadow* dispatch = nullptr;
};

}  // namespace wj::machine
