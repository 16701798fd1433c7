// Where a block's accesses to global memory need a fence, so that other agents (waves of other
// work-groups, the host) see what the guest's waits, cache instructions and coherent accesses
// promise. The rules, and why they suffice on x86, are docs/design/memory-model.md.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/inst.h"
#include "ir/ir.h"
#include "lift/liveness.h"

namespace wj::lift {

class State;

// Told of every access and every wait of a block in program order, before it is lifted.
class MemoryOrder {
public:
    // observed: others may look at memory while the wave runs. If not, no fence is ever made.
    MemoryOrder(State& state, const Target& target, const Fetch& fetch, bool observed)
        : state_(state), target_(target), fetch_(fetch), observed_(observed) {}

    void load(bool coherent);
    void scalar_load();
    void store(bool coherent);
    // The block jumps to itself: what was made for it is left out where loops do without.
    void settle_loop(ir::Block& block) const;
    // all_lanes: at least one lane is sure to do it, by a locked instruction of the host.
    void atomic(bool all_lanes, bool returns);
    // An access that the interpreter's handler does. (That of a scalar store fences by itself.)
    void handled(const Inst& inst);
    void wait(const Inst& waitcnt);
    // A cache is emptied: loads behind it see what others have stored.
    void empty_cache();
    void end(const ir::Terminator& term);

private:
    void fence(uint64_t kind, uint32_t aux = 0);
    bool may_wait_first(std::vector<uint64_t> ways) const;

    State& state_;
    const Target& target_;
    const Fetch& fetch_;
    const bool observed_;
    // Since the last fence of the host: a store may have been done (also in front of the block),
    // and what comes behind has to wait for it.
    bool stored_ = true, pending_ = false;
    // What this block has begun and no wait has covered.
    bool loads_ = false, writes_ = false;
    // Since the last fence of any kind: accesses, stores and atomics, and a wait behind such.
    bool accesses_ = false, written_ = false, waited_ = false;
};

}  // namespace wj::lift
