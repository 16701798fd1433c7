// A lane program with as many registers as it has values.
#pragma once

#include <utility>
#include <vector>

#include "backend_x64/lane_program.h"

namespace wj::x64 {

struct VirtualLaneProgram {
    using Register = int32_t;  // index into `registers`
    static constexpr Register none = -1;
    struct Info {
        bool vector = false;
        bool wide = false;
        bool input = false;         // there from the lane's beginning to its end
        uint32_t from = 0, to = 0;  // steps: made, read last
        LaneProgram::Reg reg;
        Register same = none;  // the input whose next value it is, and whose register it gets
    };
    struct Step {
        LaneProgram::Step step;
        Register to = none, a = none, b = none, c = none;
        bool gone = false;  // another one does it, too
    };
    std::vector<Info> registers;
    std::vector<Step> steps, first;
    std::vector<std::pair<LaneProgram::Input, Register>> inputs;
    std::vector<std::pair<Register, Register>> handed;  // at an iteration's end: to, from
    Register compared[2] = {none, none};

    Register make(bool vector, bool wide, bool input) {
        registers.push_back({vector, wide, input, 0, 0, {}, none});
        return static_cast<Register>(registers.size() - 1);
    }
    // Inputs, steps, moves, streams and what is compared, in the host's registers. False: they are
    // too few, or a value is wanted that has been replaced.
    bool lower(LaneProgram& out);

private:
    void fold_address(size_t load);
    void fold_upper_half(size_t load);
    bool stays(Register r) const;
    Register root(Register r) const;
};

}  // namespace wj::x64
