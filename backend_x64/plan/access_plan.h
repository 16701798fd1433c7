// How a load or store of lanes is done: decided before its code is emitted, by the functions below,
// and the same for the same arguments. `wavejit plan` prints it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backend_x64/frame.h"
#include "backend_x64/plan/address_mode.h"
#include "backend_x64/plan/lines.h"
#include "backend_x64/plan/plan_context.h"
#include "backend_x64/walks.h"

namespace wj::x64 {

// The memory that an operation accesses.
Space space_of(ir::Op op);

// Where the lanes' elements are, seen from the base.
struct Shape {
    enum Kind : uint8_t {
        Indices,  // each lane's is somewhere
        Line,     // stride * (lane mod width) + step * (lane div width)
        Same,     // all at one place
    } kind = Indices;
    int32_t stride = 0;                        // bytes
    uint32_t width = machine::lanes;           // lanes
    std::optional<int32_t> step = int32_t{0};  // bytes; none: a uniform value
    bool operator==(const Shape&) const = default;
};

// How the shape is known, or what is known where it is not.
enum class Evidence : uint8_t {
    None,     // nobody looks
    Known,    // when code is made: by constants, or rows whose guards the block begins with
    Learned,  // by earlier iterations of the loop
    Tested,   // in front of each access
};

// How the elements are moved.
enum class Transfer : uint8_t {
#define TRANSFER(id, text, mechanism, how) id,
#include "backend_x64/plan/transfers.inc"
#undef TRANSFER
};

// Windows: a chunk's elements lie within one to three vectors, in any order.
struct Window {
    LaneOffsets lanes;  // of the elements, from its beginning
    int32_t at;         // from the address
    uint32_t bytes = 0;
    bool whole = false;  // made of vectors that may be stored as they have been loaded
    // Of a dword of the elements: where the lanes' are, from where.
    std::pair<LaneOffsets, int32_t> dword(uint32_t d) const {
        LaneOffsets places = lanes;
        if (!whole) return {places, at + static_cast<int32_t>(4 * d)};
        for (uint32_t& x : places) x += 4 * d;
        return {places, at};
    }
    bool operator==(const Window&) const = default;
};

// A chunk's elements are rows narrower than a vector.
struct Rows {
    uint32_t lanes;  // of each
    enum Kind : uint8_t {
        InOrder,
        Equal,    // one element for all of its lanes
        Sliding,  // elements of several dwords, one dword apart
    } kind;
    bool any_step = false;  // it is in rdx
    int32_t step = 0;       // from each to the next one
    bool operator==(const Rows&) const = default;
};

// What the operation itself says.
struct AccessOperation {
    Value v = 0;
    Value mask_value = no_value;
    Value base_value = no_value;  // uniform: of a scalar base, or what a buffer begins at
    bool store = false;
    bool full = false;  // all lanes of the chunk are on
    bool wide = false;  // 64-bit addresses or offsets
    bool scalar_base = false;
    Space space = global_space;
    ir::Access access = ir::Access::Dwords;
    uint32_t dwords = 1, bytes = 4;  // of an element
    int64_t imm = 0;                 // bytes: all of it
    uint32_t added = 0;              // LDS: the part that wraps

    bool dwords_only() const { return access == ir::Access::Dwords; }
    // A 64-bit offset: the base is added later than that.
    bool base_apart() const { return wide && scalar_base; }
    bool operator==(const AccessOperation&) const = default;
};

struct AccessPlan : AccessOperation {
    Shape shape;
    Evidence evidence = Evidence::None;
    Transfer transfer = Transfer::OutOfLine;
    AddressMode mode = AddressMode::Identity;  // of LDS and private memory always
    std::optional<Window> window, second_window;
    std::optional<Rows> rows;
    uint32_t table = 0;       // bytes
    bool by_stub = false;     // what has no simple pattern: has_memory_stub()
    bool rows_ahead = false;  // walks_in_rows()
    int32_t walk = -1;        // of the loop's walks
    Value second = no_value;  // a store that is done with this one
    // Loads that are done with this one, by dwords of the tuple that they make together.
    std::array<Value, 4> tile = {no_value, no_value, no_value, no_value};
    // Schedule::pair_of(): their halves are what is loaded or stored.
    std::array<Value, 2> pairs = {no_value, no_value};
    bool in_memory_order = false;  // Schedule::in_memory_order()

    bool is_tile() const { return tile[0] != no_value; }
    bool of_pairs() const { return pairs[0] != no_value || pairs[1] != no_value; }

    bool operator==(const AccessPlan&) const = default;
    std::string print() const;
};

// What only those know who emit code: where in it the access stands.
struct AccessSite {
    bool full = false;     // all lanes of the chunk are on here
    bool in_loop = false;  // all iterations run for some chunks, then for others
    bool learns = false;   // an iteration that learns where walks lead, with no write left out
    bool walks = false;    // one that walks
    const Walks* loop_walks = nullptr;
    // Bits: walks that may go through rows that were read ahead.
    uint32_t row_walks = 0;
    std::span<const Value> behind;     // the region's operations behind the access
    std::optional<uint32_t> line_end;  // LDS: behind what the line's accesses may reach, if known
};

AccessPlan plan_access(const PlanContext& c, Value v, const AccessSite& site);
// What the operation itself says; nothing is decided but the address mode.
AccessPlan describe_access(const PlanContext& c, Value v, bool full);
// Of the store that is done with this one.
AccessPlan second_of(const PlanContext& c, const AccessPlan& p);
// What element d of a load is.
Unit loaded_unit(const PlanContext& c, const AccessPlan& p, uint32_t d);
void tell(Decisions* to, const AccessPlan& plan);

}  // namespace wj::x64
