// Loads (and stores, where these are asked for) of a loop that move equally far in every iteration:
// their addresses need no look at the lanes once they are known in two iterations, or in one where
// the step is a constant.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/schedule.h"

namespace wj::x64 {

struct Walks {
    static constexpr uint32_t most = 4;

    // `factor` times a U32 that iterations do not change, or no_value: times 1; modulo 2^32.
    struct Term {
        Value times;
        uint32_t factor;
        bool operator==(const Term&) const = default;
    };
    using Sum = std::vector<Term>;

    // Loads of one shape from the same lane addresses, but for constants.
    struct Walk {
        Value first;  // in the order of the region
        Value mask;
        // The mask is another one in each iteration: what is known is where all lanes are, on or
        // off.
        bool all_lanes = false;
        bool base_varies = false;  // the scalar base
        // By how much the lanes' addresses grow, if that is a constant.
        std::optional<int32_t> step = {};
        // And the base; without stores only where it does so whatever it is.
        std::optional<int32_t> base_step = {};
        // Both together.
        std::optional<int32_t> whole_step() const {
            return step && base_step ? std::optional(*step + *base_step) : std::nullopt;
        }
    };
    // A V32 value, or of a scalar base a GetS32, that grows by `step` in each iteration and is
    // extended to 64 bits.
    struct Limit {
        Value value;
        uint32_t walk;
        bool is_signed;
        Sum step;
    };
    // Rows that grow by `step` in each iteration, in all lanes: the SetV. With `high` two rows, by
    // a sum of 64 bits whose upper half is `high_step`.
    struct Induction {
        Value set, high;
        Sum step, high_step;
    };
    std::vector<Walk> walks;
    std::vector<Limit> limits;
    std::vector<Induction> inductions;
    std::vector<uint8_t> number;  // by value: of the load's walk + 1, or 0

    std::optional<uint32_t> of(Value load) const {
        if (number.empty() || !number[load]) return {};
        return number[load] - 1u;
    }
};

// Of the block, which branches to itself and has one region. `divergent` describes the loop if its
// lanes decide.
Walks find_walks(const ir::Block& block, const Schedule& schedule,
                 const std::optional<DivergentLoop>& divergent, bool stores = false);

}  // namespace wj::x64
