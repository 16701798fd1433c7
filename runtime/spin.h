// A wave in a loop that brings it back to the same state: it waits for what others store. Instead
// of whole slices it gets one lap in a turn, which is all it takes to see whether the wait is over.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "machine/engine.h"

namespace wj::runtime {

// Of a wave that translated code has run and the interpreter, which does not keep up what that
// knows of rows, is to go on with.
void forget_shapes(machine::Wave& wave);

// A wave's registers at one place of its code.
class Snapshot {
public:
    void take(const machine::Wave& wave);
    bool matches(const machine::Wave& wave) const;
    // The same, of a wave that has written only these rows since.
    bool matches(const machine::Wave& wave, const std::bitset<256>& written) const;

private:
    bool scalars_match(const machine::Wave& wave) const;

    uint64_t pc_ = 0;
    uint32_t scc_ = 0, mode_ = 0, vgpr_msb_ = 0;
    uint32_t sgpr_[128] = {};
    std::vector<uint32_t> rows_;
};

class Spin {
public:
    // Runs the wave on for some hundred instructions, by the interpreter: translated code leaves
    // registers that nobody reads any more as they were. True: it has come back to a state that it
    // had before, and stands there. False: it has not, or has stopped for another reason than its
    // budget or s_sleep.
    bool begin(machine::Engine& interpreter, machine::Wave& wave);
    // Then: runs it for a lap. False: it has left the loop (or has stopped, as above).
    bool goes_on(machine::Engine& interpreter, machine::Wave& wave);

private:
    Snapshot start_;
    std::bitset<256> written_;  // vector registers, in a lap
    int64_t lap_ = 0;           // instructions
    bool stores_ = false;       // what it stores might bring it out of the loop by itself
};

}  // namespace wj::runtime
