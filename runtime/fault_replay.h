// The registers of an instruction in the middle of a translated block, worked out anew.
#pragma once

#include <memory>

#include "frontend/target.h"
#include "machine/wave.h"
#include "memory/address_space.h"

namespace wj::runtime {

// A wave that stopped in translated code has the registers of its block's begin, and some that the
// block has written since. The instructions that lead to the faulting one's address are run again,
// on a copy of the wave.
class FaultReplay {
public:
    FaultReplay(const Target& target, const memory::AddressSpace& memory)
        : target_(target), memory_(memory) {}
    // The copy, with the address operands that the instruction at wave.exit.pc had; null if they
    // cannot be told.
    machine::Wave* run(const machine::Wave& wave);
    // False: the block writes what the address comes from. Then it is right for the chunk of lanes
    // that faulted, and for those behind it, only if it explains the address that faulted.
    bool certain() const { return certain_; }

private:
    const Target& target_;
    const memory::AddressSpace& memory_;
    machine::Wave copy_;
    bool certain_ = false;
    std::unique_ptr<uint32_t[]> rows_;
};

}  // namespace wj::runtime
