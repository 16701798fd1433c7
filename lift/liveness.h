// Which registers code may still read: what a block writes at its end and nobody reads is not
// written at all. A backward data-flow over the control-flow graph that direct branches span,
// explored from a PC on as far as the limits allow; everything behind an indirect jump, an
// undecodable word or a limit counts as read.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontend/inst.h"
#include "frontend/target.h"
#include "ir/ir.h"

namespace wj::lift {

struct LiveSet {
    std::bitset<128> scalars;  // by operand encoding; only s0-s101 and VCC are ever dead
    bool scc = false;
    // VGPR rows, then AccVGPR rows. `lanes`: may be read in lanes that EXEC holds at this point;
    // `any`: may be read in some lane (EXEC may have been widened before).
    std::bitset<512> lanes, any;

    static LiveSet all();
    LiveSet& operator|=(const LiveSet& o);
    bool operator==(const LiveSet&) const = default;
};

class Liveness {
public:
    // The words from a PC on, as far as they are readable (a few KiB); valid until the next call.
    using Fetch = std::function<std::span<const uint32_t>(uint64_t pc)>;
    // keep_at_end: s_endpgm reads every register (for those who look at finished waves).
    Liveness(const Target& target, Fetch fetch, bool keep_at_end)
        : target_(target), fetch_(std::move(fetch)), keep_at_end_(keep_at_end) {}

    // Live when the block that ends so has ended.
    LiveSet after(const ir::Terminator& term);
    void forget() { known_.clear(); }

private:
    struct Node {
        LiveSet gen, kill, in;
        bool exec_changes = false, opaque = false;
        uint64_t next[2] = {};
        uint32_t next_count = 0;
    };
    const LiveSet& at(uint64_t pc);
    void scan(uint64_t pc, Node& node, uint32_t& instructions);

    const Target& target_;
    const Fetch fetch_;
    const bool keep_at_end_;
    std::unordered_map<uint64_t, LiveSet> known_;
};

}  // namespace wj::lift
