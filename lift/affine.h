// Lane values that are a straight line: base + stride * lane, with a uniform base. Work-item ids,
// what is computed from them by additions and constant factors, and addresses of array elements are
// of this kind; then one scalar computation replaces one in every lane, comparisons with uniform
// values are masks that scalars can make, and accesses to consecutive elements need no look at the
// lanes' addresses.
//
// Lines are found in the values of a block being lifted. What a line needs to be one (no sum wraps
// around) becomes Guard operations: scalar conditions at the block's beginning, tested on every
// entry; where they fail, the block as it is lifted without lines runs.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "lift/state.h"

namespace wj::lift {

// The stride of a VGPR row whose values are a line, as far as the translator can see; none: not.
using RowStride = std::function<std::optional<uint32_t>(uint32_t row)>;

// The value of a uniform operation for the wave that is about to run the block, if it can be known.
using UniformNow = std::function<std::optional<uint64_t>(const ir::Block& block, Value v)>;

class Affine {
public:
    Affine(State& state, ir::Block& block, const RowStride& rows, const UniformNow& now)
        : s_(state), block_(block), rows_(rows), now_(now) {}

    struct Line {
        Value base = no_value;  // U32 or U64
        int64_t stride = 0;
    };
    // A V32 (modulo 2^32) or V64 (modulo 2^64) value, in all lanes whatever EXEC is, as the line of
    // an address: one for all lanes, or with the stride of elements that follow one another.
    // in_order: as unsigned 32-bit values they do not wrap around between lanes.
    std::optional<Line> address(Value v, uint32_t bytes, bool in_order = false);
    // The bits of an integer compare of lines, as a U64 value.
    std::optional<Value> bits(Value mask);
    // Makes the block depend on the U32 condition; false when it is known too late.
    bool guard(Value condition);
    // The same for the condition that the bits, a U64 value, are all set. likely: only if they are
    // for the wave that is about to run the block; otherwise unless they are not.
    bool guard_all_lanes(Value bits, bool likely);
    // Makes the block depend on its global accesses being such that Block::lanes_apart holds, where
    // they are few lines.
    bool guard_lanes_apart();
    // A line of 32 bits as an operand of a memory operation.
    Value as_operand(const Line& line);

    // Accesses whose addresses are lines.
    uint32_t profit() const { return profit_; }

private:
    struct Found {
        std::optional<Line> line;
        std::vector<Value> needs;  // conditions
        std::vector<Value> from;   // values whose conditions are needed, too
        bool committed = false;
    };
    const Found& find(Value v);
    std::optional<Line> compute(Value v, Found& f);
    std::optional<Line> compute64(Value v, Found& f);
    std::optional<Line> sum_of_pairs(Value lo, Value hi, Found& f);
    std::optional<Line> part(Value v, Found& f);
    bool at_most(const Line& line, uint32_t limit, Found& f);
    bool no_wrap(const Line& line, Found& f) { return at_most(line, ~0u, f); }
    uint32_t zeros(Value v) const;
    std::optional<Line> either(const Line& x, const Line& y, Found& f);
    Value carry(Value mask, Found& f);
    void commit(Value v);
    void commit(const Found& f);
    bool early(Value v);
    std::optional<uint64_t> constant(const Line& line) const;
    Value both(Op op, const Line& a, const Line& b) { return s_.emit(op, {a.base, b.base}); }

    State& s_;
    ir::Block& block_;
    const RowStride& rows_;
    const UniformNow& now_;
    std::unordered_map<Value, Found> found_;
    std::unordered_map<Value, Value> all_lanes_;  // of bits(): the condition that they are all set
    std::vector<uint8_t> early_;
    bool stored_ = false;  // while early_ was worked out
    uint32_t profit_ = 0;
};

}  // namespace wj::lift
