// What a translation knows of the wave that is about to run a block, as a value: registers, memory
// that was looked at, and the waves behind it. With guest code and a target it decides what is
// made of the block. Text in and out, for `wavejit plan`, recorded runs and tests.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "lift/lift.h"
#include "machine/wave.h"

namespace wj::lift {

// The lines that the first `lanes` lanes of the wave's rows are, as far as blocks are translated
// for them.
RowLines lines_of_rows(const machine::Wave& wave, uint32_t lanes, uint32_t vector_lanes);

struct Profile {
    uint32_t mode = 0;                                              // MODE
    uint32_t whole_lanes = machine::lanes;                          // ExecContext::whole_lanes
    uint32_t lane_layout = 0;                                       // ExecContext::lane_layout
    bool exclusive = false;                                         // ExecContext::exclusive_memory
    machine::NextWaves next;                                        // of programs that begin here
    std::map<uint32_t, uint32_t> scalars;                           // SGPRs by number; others are 0
    std::map<uint32_t, std::array<uint32_t, machine::lanes>> rows;  // VGPRs; others are no lines
    std::map<uint64_t, std::vector<uint8_t>> memory;                // bytes that were read

    // Lines such as "s4 0x1000", "v0 0 stride 1 width 64 step 0", "memory 0x1000 00112233".
    std::string print() const;
    // Fails with the line that it does not understand.
    static Result<Profile> parse(std::string_view text);
};

// Notes what a translation asks of a wave. The options must not outlive it, nor the wave.
class ProfileRecorder {
public:
    ProfileRecorder(const machine::Wave& wave, Options& options);
    // With the rows that the block reads.
    Profile profile(const ir::Block& block) const;

private:
    const machine::Wave& wave_;
    Profile profile_;
};

// A wave as a profile says, to be translated for.
class ProfiledWave {
public:
    ProfiledWave(const Profile& profile, uint32_t vgpr_count);
    // Sets what depends on the wave; the options must not outlive this object.
    void apply(Options& options) const;

private:
    Profile profile_;
    std::vector<uint32_t> vgprs_;
    machine::ExecContext context_;
    machine::Wave wave_;
};

}  // namespace wj::lift
