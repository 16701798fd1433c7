// How a block that branches to itself runs its iterations: decided before its code is emitted, by
// the functions below, and the same for the same arguments. `wavejit plan` prints it.
// (docs/design/loop-plans.md)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend_x64/counted_loop.h"
#include "backend_x64/divergent_loop.h"
#include "backend_x64/lane_program.h"
#include "backend_x64/plan/loops.h"
#include "backend_x64/plan/plan_context.h"
#include "backend_x64/row_loop.h"
#include "backend_x64/walks.h"

namespace wj::x64 {

inline constexpr uint32_t every_chunk = ~0u;

// A row of the guest, or a value of the region, that a vector register holds from iteration to
// iteration.
struct Pin {
    Unit unit;  // no_unit: written and not read
    Value set;  // the SetV that hands the value to the next iteration
    int reg;
    bool full;       // in all lanes
    uint32_t chunk;  // of those that run together, or every_chunk
    // The lanes that are written differ from iteration to iteration, those of a uniform loop:
    // the last one merges into what the ones before have left.
    bool merges = false;
};
// A carried mask and its next value.
struct MaskPin {
    Unit unit, next;
    int reg;        // AVX-512 k, AVX2 vector register; -1: in the spill slot
    int16_t spill;  // -1: in the register
    uint32_t chunk;
};
// What iterations keep in registers, of one part of the body.
struct LoopPins {
    uint32_t chunks = 1;  // that run together
    int16_t spills = 0;   // slots of masks
    std::vector<MaskPin> masks;
    std::vector<Pin> carried, steady;
    Value scalar_get = no_value, scalar_set = no_value;  // kept in r14
    std::vector<Value> unread;  // writes that only the last iteration has to do
    // Rows that nothing but walks' addresses is made of: brought up to date behind the walks.
    std::vector<Walks::Induction> idle;

    // Iterations that walk leave the write out.
    bool is_idle(Value set) const;
};

// What is left to try, where a plan with more did not fit the registers or the frame.
struct LoopLimits {
    enum class Chunks : uint8_t { None, One, Several } chunks = Chunks::Several;
    bool walks = true, row_loops = true;
};

struct LoopPlan {
    enum class Order : uint8_t {
        ChunksIn,   // each iteration runs for all chunks
        ChunksOut,  // all iterations run for some chunks, then for others
        LanesOut,   // the same lane by lane, where a test in front of the loop says so
    } order = Order::ChunksIn;
    enum class Control : uint8_t {
        Uniform,     // each iteration decides about the next one, for all lanes
        Counted,     // it is known beforehand how many iterations certainly go on
        UntilEmpty,  // lanes decide, each for itself
    } control = Control::Uniform;

    std::vector<LoopMask> masks;             // that iterations hand on
    std::optional<DivergentLoop> divergent;  // UntilEmpty, ChunksOut or LanesOut
    std::optional<LaneProgram> lanes;        // LanesOut
    // UntilEmpty: lanes that are left may be moved together, in their order, while the loop runs.
    std::optional<OrderedLoop> compacted;
    std::optional<CountedLoop> counted;
    Walks walks;
    // Walks, a bit each, that may go through rows that were read ahead (load_from_rows).
    uint32_t row_walks = 0;
    LoopParts parts;
    std::vector<LoopPins> pins;  // by part
    // What the uniform code of iterations changes: dwords of machine::Wave, in order.
    std::vector<int32_t> changed;
    std::vector<Unit> masks_out;  // that leave the region

    bool by_chunks() const { return order != Order::ChunksIn; }
    std::string print(const ir::Block& block) const;
};

// How the chunks of the block take turns, and the masks that they hand on; `order` is ChunksIn
// where nothing lets them run one after the other.
LoopPlan find_loop(const PlanContext& c, const LoopLimits& limits);
// The rest of the plan: when the order of the body's operations is known (where chunks run one
// after the other: Schedule::merge_early).
void plan_iterations(LoopPlan& plan, const PlanContext& c, const LoopLimits& limits);

// The code besides of a loop with stores whose lanes go along rows of their own (row_loop.h).
struct RowLoopPlan {
    RowLoop windows;
    Schedule schedule;
    LoopPlan loop;
};
std::optional<RowLoopPlan> plan_row_loop(const PlanContext& c, const LoopLimits& limits);

// Nothing of a block that does not repeat itself.
void tell(const PlanContext& c, const LoopPlan& plan);

// ---- parts of a plan ----

// What iterations keep in registers, while `chunks` or fewer run together.
LoopPins plan_pins(const PlanContext& c, const LoopPlan& plan, uint32_t part, uint32_t chunks);
// The scalar register whose next value depends on the last, best the one that the condition looks
// at: its GetS32 and SetS32, or no values.
std::pair<Value, Value> find_kept_scalar(const PlanContext& c);
// Rows that only make addresses of walks, and themselves.
std::vector<Walks::Induction> find_idle_rows(const PlanContext& c, const LoopPlan& plan,
                                             const LoopPins& pins);
// Walks, a bit each, of single dwords that lie behind one another.
uint32_t find_row_walks(const PlanContext& c, const Walks& walks, bool divergent);
// Dwords of machine::Wave that the uniform code in front of the region writes.
std::vector<int32_t> changed_scalars(const PlanContext& c);

}  // namespace wj::x64
