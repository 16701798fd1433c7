// What code may still do from some place on: which registers it reads, and whether it may depend on
// other work-groups. What a block writes at its end and nobody reads is not written at all. A
// backward data-flow over the control-flow graph that direct branches span, explored from a PC on
// as far as the limits allow; everything behind an indirect jump, an undecodable word or a limit
// counts as read.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontend/effects.h"
#include "frontend/inst.h"
#include "frontend/target.h"
#include "ir/ir.h"

namespace wj::lift {

struct LiveSet {
    static constexpr size_t scc = 128;
    std::bitset<129> scalars;  // by operand encoding, and SCC; only s0-s101, VCC and SCC ever die
    // VGPR rows, then AccVGPR rows, that may be read in lanes that are on at this point, and in
    // lanes that are off (when EXEC has been widened, or by instructions that look across lanes).
    std::bitset<512> on, off;
    bool others = false;  // machine::Needs::others

    static LiveSet all();
    // Whether a scalar register may be read; those that never die always.
    bool reads_scalar(uint32_t reg) const;
    LiveSet& operator|=(const LiveSet& o);
    bool operator==(const LiveSet&) const = default;
};

// The registers that one instruction may read and may write, by the same reckoning.
struct RegisterUse {
    std::bitset<128> scalars_read, scalars_written;
    std::bitset<512> rows_read, rows_written;  // VGPRs, then AccVGPRs
    bool scc_read = false, scc_written = false;
    bool whole = false;   // what it writes does not depend on what was there, in the lanes of EXEC
    bool opaque = false;  // may do more than this tells
};
RegisterUse register_use(const Target& target, const Inst& inst);

// May read any register, or goes on somewhere unknown.
bool is_opaque(const Effects& effects);
// s_setreg of MODE.GPR_IDX_EN: registers are then relative to M0.
bool may_index_registers(const Inst& inst);
// Vector destinations are written in every bit of the lanes that are on.
bool writes_whole(const Inst& inst);

// The words from a PC on, as far as they are readable (a few KiB); valid until the next call.
using Fetch = std::function<std::span<const uint32_t>(uint64_t pc)>;

class Liveness {
public:
    // keep_at_end: s_endpgm reads every register (for those who look at finished waves).
    // read: where `fetch` notes which pages of guest code it has read. Those that an answer from
    // memory came from are added.
    Liveness(const Target& target, Fetch fetch, bool keep_at_end,
             std::vector<uint64_t>* read = nullptr)
        : target_(target), fetch_(std::move(fetch)), keep_at_end_(keep_at_end), read_(read) {}

    // Live in front of the instruction at pc. Valid until the next call.
    const LiveSet& at(uint64_t pc);
    // Live when the block that ends so has ended.
    LiveSet after(const ir::Terminator& term);
    void forget() {
        known_.clear();
        origins_.clear();
    }

private:
    // What one instruction reads and overwrites. Numbers: rows, then 512 + scalar.
    struct Range {
        uint16_t first;
        uint8_t count;
    };
    struct Effect {
        std::array<Range, 11> reads;
        std::array<Range, 3> writes;
        uint8_t read_count = 0, write_count = 0;
        bool across = false;  // reads lanes that are off, too
        ExecChange exec = ExecChange::None;
    };
    struct Node {  // straight code up to the next branch
        std::vector<Effect> code;
        LiveSet in;
        bool opaque = false;  // goes on somewhere unknown
        bool others = false;  // LiveSet::others
        uint64_t next[2] = {};
        uint32_t next_count = 0;
    };
    struct Known {
        LiveSet live;
        uint32_t origin;  // index into origins_
    };
    const LiveSet& use(const Known& known);
    void scan(uint64_t pc, Node& node, uint32_t& instructions);
    ExecChange exec_effect(const Inst& inst) const;
    Effect effect_of(const Inst& inst) const;
    static void step(const Effect& effect, LiveSet& s);

    const Target& target_;
    const Fetch fetch_;
    const bool keep_at_end_;
    std::vector<uint64_t>* const read_;
    std::unordered_map<uint64_t, Known> known_;
    std::vector<std::vector<uint64_t>> origins_;  // pages that each exploration read
};

}  // namespace wj::lift
