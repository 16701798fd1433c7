// In which lanes registers have been written, as far as code alone tells. Lanes are spoken of by
// the registers that hold masks of them: "in those that s[4:5] says". So what is written under a
// narrowed EXEC is known where EXEC is widened again by the mask that was saved.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "machine/wave.h"

namespace wj::lift {

// A set of registers that hold masks, each by its (first) number.
using Masks = std::bitset<128>;
// VGPRs, AccVGPRs from 256 on, and masks from WrittenLanes::first_mask on: a bit of each lane.
using RowSet = std::bitset<640>;

class WrittenLanes {
public:
    // Not a register: all lanes. (exec_hi is no mask of its own.)
    static constexpr uint32_t all = machine::exec_lo + 1;
    static constexpr uint32_t exec = machine::exec_lo;
    static constexpr size_t scc = 128;
    static constexpr uint32_t first_mask = 512;

    // What is known of a mask, wherever it is.
    struct Mask {
        Masks within;    // that it is a part of
        Masks contains;  // that are parts of it
        RowSet rows;     // that have been written in its lanes
        void forget(const Masks& masks) {
            within &= ~masks;
            contains &= ~masks;
        }
    };

    // A wave begins: rows below `row_count` have been written, in all lanes. `whole`: all are on.
    // `mask_registers`: how many one mask takes.
    void begin(const std::bitset<128>& scalars, uint32_t row_count, bool whole,
               uint32_t mask_registers);

    Mask mask(uint32_t reg) const;
    Mask unknown() const { return {within_[all], {}, mask(all).rows}; }
    static Mask empty() { return {Masks().set(), {}, RowSet().set()}; }
    // A mask is written. Returns those that are no more.
    Masks write(uint32_t reg, Mask value);
    // Registers get something else, in all of their bits or not. Returns the same.
    Masks overwrite(uint32_t reg, uint32_t registers, bool written);
    // The mask in the register has no lane.
    void make_empty(uint32_t reg);

    // The masks that are parts of the one in the register.
    Masks parts_of(uint32_t reg) const;

    // What is known on both ways that lead to a place. False: nothing has changed.
    bool join(const WrittenLanes& other);

    std::bitset<129> scalars;     // that have been written
    std::array<Masks, 640> rows;  // in whose lanes they have been, as RowSet says
    bool some_lane = true;        // EXEC is not empty

private:
    Masks remove(uint32_t reg, uint32_t registers);
    void note_mask(uint32_t reg);

    std::array<Masks, 128> within_;  // of a mask: those that it is a part of, itself among them
    Masks told_;                     // of the others no more is known than of any registers
    uint32_t mask_registers_ = 2;
};

WrittenLanes::Mask both(const WrittenLanes::Mask& a, const WrittenLanes::Mask& b);
WrittenLanes::Mask either(const WrittenLanes::Mask& a, const WrittenLanes::Mask& b);
// One of them, who knows which.
WrittenLanes::Mask one(const WrittenLanes::Mask& a, const WrittenLanes::Mask& b);
// Some of its lanes, with no other beside them.
WrittenLanes::Mask some(WrittenLanes::Mask of);

}  // namespace wj::lift
