// Loops with stores whose lanes each go along a row of their own, as where a work-item does a row
// of a matrix: a gather or scatter would touch as many lines as there are lanes in every iteration.
// So they run chunk by chunk, several iterations at a time, for which a vector of each lane's row
// is read ahead or collected (a window), where the order between lanes and iterations cannot
// matter.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend_x64/schedule.h"
#include "backend_x64/walks.h"

namespace wj::machine {
struct Wave;
}

namespace wj::x64 {

struct Frame;

struct RowLoop {
    static constexpr uint32_t most_windows = 8;
    // As many bytes of each lane's row as a vector has, from `begin` on, which counts from where
    // the walk's lanes are in the first iteration that is served.
    struct Window {
        uint32_t walk;
        bool store;
        int32_t begin;
        // That one iteration accesses, a bit each, in the first one's place; of elements narrower
        // than that, which are only loaded, nothing.
        uint32_t dwords;
    };
    std::vector<Window> windows;
    std::vector<uint8_t> number;  // by value: of the access's window + 1, or 0
    uint32_t iterations = 0;      // that a window serves
    // In so many no value of 32 bits leaves what the walks' limits allow, where it begins within.
    uint32_t most = 0;

    std::optional<uint32_t> of(Value access) const {
        if (number.empty() || !number[access]) return {};
        return number[access] - 1u;
    }
    bool in_windows(uint32_t walk) const {
        for (const Window& w : windows)
            if (w.walk == walk) return true;
        return false;
    }
};

// Of the block, which branches to itself and has one region, and these walks, stores included.
// `width`: a vector's bytes. Nothing if another order could be told from the program's whatever the
// addresses, or if no lane's row is worth a window.
std::optional<RowLoop> find_row_loop(const ir::Block& block, const Schedule& schedule,
                                     const Walks& walks, uint32_t width);

// What the order depends on; lives behind the block's code.
struct RowOrder {
    static constexpr uint32_t most_accesses = 16;
    struct Walk {
        int32_t step = 0;       // bytes from each iteration to the next
        bool window = false;    // else all lanes are at consecutive elements, or at one
        uint8_t bytes = 0;      // of an element
        uint32_t patterns = 0;  // where in the frame a byte for each chunk is to say which
    };
    struct Access {
        int32_t begin = 0;
        uint16_t bytes = 0;
        uint8_t walk = 0;
        bool store = false;
    };
    uint32_t walk_count = 0, access_count = 0;
    uint32_t most = 0;        // iterations
    uint64_t lanes = 0;       // that the block is for
    bool some_lanes = false;  // some of them may be off
    std::array<Walk, Walks::most> walks;
    std::array<Access, most_accesses> accesses;  // in the program's order
};

// How many iterations may run in another order, from Frame::row_lanes on, where the walks' lanes
// are in the first one; 0: none, or too few to be worth it. And whether what windows will store to
// is known to be writable. Fills the slots of patterns. An order is another one only between lanes,
// and between the accesses of one lane to windows: loads come before all stores of the iterations
// that a window serves.
struct AnyOrder {
    uint64_t iterations, writable;
};
AnyOrder rows_in_any_order(machine::Wave& wave, Frame& frame, const RowOrder& order);

}  // namespace wj::x64
