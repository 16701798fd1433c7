// What the masks of a loop that runs while lanes are left come to: EXEC of the next iteration
// without bookkeeping whose outcome is known for lanes that are on; scalars as they are if there is
// a next iteration.
//
// The lanes that a collector (s_or_b64 s[0:1], vcc, s[0:1]; s_andn2_b64 exec, exec, s[0:1]) holds
// at the loop's end are those that it held at its beginning and those that EXEC has lost since: no
// iteration has to know them. That is so if EXEC and the collector have no lane in common at the
// beginning, which the block is guarded for (GuardOff); an iteration leaves it so.
#pragma once

#include "lift/liveness.h"
#include "lift/state.h"

namespace wj::lift {

class LoopMasks {
public:
    // The state at the end of a block lifted for any EXEC, which branches to itself; how it ends,
    // and what is read behind the loop.
    LoopMasks(State& state, ir::Terminator& term, const LiveSet& behind)
        : s_(state), term_(term), behind_(behind) {}
    // Nothing happens where the block is no such loop.
    void simplify();

private:
    static constexpr uint64_t opposite_predicate = 4;  // of x86's: LT_OQ and NLT_UQ

    bool shape();
    void find_collector();
    bool collects(Value m, Value& old) const;
    bool apart(Value x, Value m) const;
    Value minus(Value x, Value m);
    Value both(Value x, Value m);
    Value opposite(const ir::Inst& compare) const;
    Value simpler(Value m, uint32_t depth = 4);
    Value none();
    void replace(Value old, Value now);
    void assume_lanes(Value next);
    Value with_lanes(Value v, Value next, uint32_t depth = 4);

    State& s_;
    ir::Terminator& term_;
    const LiveSet& behind_;
    Value entry_ = no_value, here_ = no_value;  // EXEC when the iteration begins; as a mask
    Value bits_ = no_value, live_ = no_value;   // of the next one
    // The collector, if there is one: its lanes, none of which is on; its number and its values.
    Value off_ = no_value;
    uint32_t collector_ = 0;
    Value collected_ = no_value, collected_before_ = no_value;
};

}  // namespace wj::lift
