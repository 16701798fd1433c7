// Cuts the IR of a block into alternating segments U0 R0 U1 R1 ...: uniform code and lane regions,
// and gives every value that crosses a segment border a home in memory. Positions: 2k = uniform
// segment k, 2k + 1 = region k. docs/design/schedule.md has the rules.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backend_x64/lane_field.h"
#include "ir/ir.h"

namespace wj::x64 {

using ir::no_value;
using ir::Value;

// A unit is one register of a lane value: V32 and M have one, V64 two (interleaved halves), T one
// per dword.
struct Unit {
    uint32_t index = ~0u;
    constexpr Unit() = default;
    constexpr explicit Unit(uint32_t i) : index(i) {}
    constexpr operator uint32_t() const { return index; }
};
inline constexpr Unit no_unit;

struct Home {
    enum Kind : uint8_t {
        None,
        Row,   // units: register row `index` of the wave holds the value (index >= 256: AccVGPR)
        Temp,  // units: temp row of the frame
        Slot,  // masks and uniform values: 8-byte slot of the frame
        Wave,  // uniform values: byte offset in machine::Wave
    } kind = None;
    uint32_t index = 0;
    bool upper = false;  // of a slot: its upper dword
};

// A row that a block writes at its end, as the sum of another one, a line whose shape the block is
// guarded for, and a constant: as the bases of unrolled accesses are, in each iteration of a loop.
// Most likely that is what the row holds already.
struct SumRow {
    uint32_t row, from, added;
    uint8_t shape;  // of both
};

class Schedule {
public:
    // False when the block needs more homes than a frame has.
    bool build(const ir::Block& block, bool avx512, const MemoryTraits& memory);
    // Moves what merges values into rows, in a region, to where the old value is needed no more:
    // the mask and the new value are then needed no longer. For loops, which keep rows in
    // registers.
    void merge_early(uint32_t position);

    uint32_t segments() const { return static_cast<uint32_t>(start_.size()) - 1; }
    const Value* begin(uint32_t position) const { return order_.data() + start_[position]; }
    const Value* end(uint32_t position) const { return order_.data() + start_[position + 1]; }
    uint32_t position(Value v) const { return position_[v]; }
    uint32_t terminator_position() const { return segments() - 1; }

    uint32_t unit_count() const { return unit_count_; }
    // The unit that holds part `part` of v after looking through Elem and Lo/Hi of Pack64.
    Unit unit(Value v, uint32_t part = 0) const;
    Value producer(Unit u) const { return producer_[u]; }
    const Home& unit_home(Unit u) const { return unit_home_[u]; }
    const Home& uniform_home(Value v) const { return uniform_home_[v]; }
    // Behind a SetS that does this the value is in its home: the register.
    bool fills_home(Value set) const { return home_write_[inst(set).args[0]] == set; }
    uint32_t last_uniform_use(Value v) const { return last_uniform_use_[v].position; }
    bool is_full(Value mask) const;
    // A compare that is emitted as part of the MaskAnd or MaskAndNot that uses it, or what only
    // lane fields are made of.
    bool fused(Value v) const { return fused_[v]; }
    // Of an atomic: its lanes' addresses are made by scalar code, from the source alone.
    const LaneField* lane_field(Value v) const {
        const auto field = fields_.find(v);
        return field == fields_.end() ? nullptr : &field->second;
    }
    // A load that is done for the first chunks only, whose elements are those of all others; so are
    // all that it shares a region with.
    bool repeats(Value v) const { return apart_[v] == Apart::Repeats; }
    // How many lanes' elements are those of all others: at least a chunk's.
    uint32_t repeated_lanes(Value v) const;
    // The region of such loads whose elements stay in their temps for the next waves, or 0: these
    // need the same, where they have the same bases and nobody has written to the LDS. Bases: of
    // the loads' lines, but for constants.
    uint32_t kept_region() const { return kept_region_; }
    const std::vector<Value>& kept_bases() const { return kept_bases_; }
    // How many lanes a region is done for: all, but for loads that repeat.
    uint32_t lanes_of(uint32_t position) const;
    // What is done for all chunks at once: loads, in a region of such loads, or a store, alone in
    // its region.
    bool goes_across(Value v) const { return apart_[v] >= Apart::LoadsAcross; }
    // The load, in the region of the store, that all it stores comes from, or no_value.
    Value load_for(Value store) const { return load_for_[store]; }
    // A MaskOf, or no_value: in chunks of which no lane is in it the region does nothing but for
    // its masks.
    Value empty_mask(uint32_t position) const { return empty_mask_[position]; }
    // What a mask that such a region makes is in those chunks: the bits of a MaskOf whose home
    // holds them in front of the region, or 0 (no_value); nothing: not known.
    std::optional<Value> in_empty_chunks(Value mask) const;
    // Of a load: the V64 that two of its dwords make, which the load itself makes then; of a store:
    // the V64 whose halves it stores. no_value: it is about dwords.
    Value pair_of(Value v, uint32_t number = 0) const { return pairs_[v][number]; }
    // A load or store whose registers hold elements in the order of memory, not dwords of lanes.
    bool in_memory_order(Value v) const { return in_memory_order_[v]; }
    bool split(Value v64) const;  // Pack64 that exists only as its two arguments
    void units_read(Value v, std::vector<Unit>& out) const;
    void units_of(Value v, std::vector<Unit>& out) const;  // V32 and V64; others: none
    // GetV values of the row that SetV `v` overwrites, and that were read before it.
    template <class F>
    void for_each_read_of_row(uint32_t row, F f) const {
        for (Value v = row_reads_[row]; v != no_value; v = next_read_[v]) f(v);
    }
    bool uses_mask_slots(uint32_t position) const { return mask_positions_[position]; }
    // Their SetV and sums are not among what is emitted.
    const std::vector<SumRow>& sum_rows() const { return sum_rows_; }
    uint32_t slots_used() const { return slots_used_; }
    uint32_t temp_row_count() const { return temps_used_; }

private:
    struct Use {
        uint32_t position = 0;
        Value index = 0;
        bool operator<(const Use& o) const {
            return position != o.position ? position < o.position : index < o.index;
        }
    };
    enum class Apart : uint8_t { No, Repeats, LoadsAcross, StoresAcross };
    static uint32_t to_region(uint32_t p) { return p | 1; }
    uint32_t to_whole_region(uint32_t p) const;
    void count_uses();
    void find_lane_fields(const MemoryTraits& memory);
    enum class TupleLine : uint8_t { No, Consecutive, Same, Neighbours };
    TupleLine tuple_line(const ir::Inst& i) const;
    Value whole_tuple(const Value* dwords, uint32_t count) const;
    Value half_tuple(const ir::Inst& pack) const;
    bool makes_pairs(Value load) const;
    void find_pairs();
    void order_pairs();
    void find_sum_rows();
    void assign_units();
    bool may_gather(const ir::Inst& i) const;
    bool branches_to_itself() const;
    bool gathers_apart() const;
    bool may_repeat(const ir::Inst& i) const;
    bool may_go_across(const ir::Inst& i) const;
    void set_apart(uint32_t& highest);
    Value stored_by(Value load, const std::vector<Value>& user) const;
    void sink_loads();
    void find_kept_region();
    void assign_positions();
    void sink_uniforms();
    void sink_pairs();
    void find_clobbers();
    void record_uses();
    bool assign_homes();
    void sort();
    bool may_be_late(Value v) const;
    bool is_const(Value v) const {
        return inst(v).op == ir::Op::Const32 || inst(v).op == ir::Op::Const64;
    }
    void delay_uniforms();
    struct RegionGraph;
    bool may_reorder(uint32_t position) const;
    RegionGraph region_graph(uint32_t position) const;
    static uint32_t pressure(const RegionGraph& graph, const std::vector<uint32_t>& order);
    static std::vector<uint32_t> result_by_result(const RegionGraph& graph);
    void order_for_registers();
    bool keeps_row(Value set, Value of) const;
    bool acts_within(Value v, Value of) const;
    bool at_home(Value v, uint32_t position) const;
    Home home_of_half(Value half);
    Value mask_of_effects(const std::vector<Value>& masks, uint32_t position) const;
    std::optional<Value> bits_outside(Value mask, Value of, uint32_t position,
                                      uint32_t depth = 6) const;
    void find_empty_chunks();
    bool emitted(Value v) const;
    void note_unit_use(Unit u, Use use, bool from_memory);
    void note_uniform_use(Value v, Use use, bool from_memory);
    uint32_t region_of(const ir::Inst& inst) const;
    uint32_t uniform_of(const ir::Inst& inst) const;
    const ir::Inst& inst(Value v) const { return block_->insts[v]; }

    const ir::Block* block_ = nullptr;
    bool fuse_compares_ = false, direct_ = false, any_order_ = false;  // MemoryTraits
    uint32_t chunk_lanes_ = 0;
    std::vector<uint32_t> unit_base_, position_, start_;
    std::vector<Unit> alias_;
    std::unordered_map<Value, LaneField> fields_;
    std::vector<Value> producer_, order_, clobber_, empty_mask_, load_for_;
    std::vector<std::array<Value, 2>> pairs_;
    std::vector<Value> home_write_;  // by value
    std::vector<Value> loaded_by_;   // of what a load makes in its place
    std::vector<Home> unit_home_, uniform_home_;
    std::vector<uint8_t> fused_, interleaved_, copy_, use_count_;
    std::vector<Apart> apart_;
    std::vector<SumRow> sum_rows_;
    std::vector<bool> mask_positions_, in_memory_order_;
    std::vector<bool> loads_apart_;  // by position: regions of loads that are done once
    std::vector<Use> last_unit_use_, last_uniform_use_;
    std::vector<uint32_t> first_unit_use_;
    std::vector<uint8_t> unit_from_memory_, uniform_from_memory_;
    std::vector<Value> row_reads_ = std::vector<Value>(512, no_value), next_read_;
    uint32_t kept_region_ = 0;
    std::vector<Value> kept_bases_;
    uint32_t unit_count_ = 0, temps_used_ = 0, slots_used_ = 0;
};

}  // namespace wj::x64
