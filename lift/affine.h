// Lane values that are linear in two dimensions:
//     base + stride * (lane mod width) + step * (lane div width)
// with uniform base and step and a constant stride. Work-item ids of work-groups `width` work-items
// wide, what is computed from them by additions and uniform factors, and addresses of elements of
// arrays are of this kind; with one dimension the width is that of the wave. Then one scalar
// computation replaces one in every lane, comparisons with uniform values are masks that scalars
// can make, and accesses need no look at the lanes' addresses. Rows are four lanes wide at least
// (in the LDS as wide as the host's vectors), or their step is constant. Or they are one lane wide:
// elements a uniform step apart, as in a column of a matrix.
//
// Lines are found in the values of a block being lifted. What a line needs to be one (the rows of
// the wave are as expected, no sum wraps around) becomes GuardRow and Guard operations: conditions
// at the block's beginning, tested on every entry; where they fail, the block as it is lifted
// without lines runs.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "ir/entry_values.h"
#include "lift/row_sums.h"
#include "lift/state.h"

namespace wj::lift {

// How a VGPR row looks, as far as the translator can see; none: not like a line.
using RowLines = std::function<std::optional<ir::RowLine>(uint32_t row)>;

// What RowSums says of a PC.
using RowSumsBefore = std::function<RowSums::Known(uint64_t pc)>;

class Affine {
public:
    // sums: of the program, or none. now: the wave that is about to run the block, or null, and how
    // to read its memory. vector_lanes: lanes of the host's vectors. next: the waves behind this
    // one, if the block may hold for them, too.
    Affine(State& state, ir::Block& block, const RowLines& rows, const RowSumsBefore& sums,
           const machine::Wave* now, const ir::ReadMemory& read, uint32_t vector_lanes,
           const machine::NextWaves& next)
        : s_(state),
          block_(block),
          rows_(rows),
          sums_(sums),
          vector_lanes_(vector_lanes),
          next_(next),
          all_{next.waves != 0, next.group_sgpr >= 0},
          lds_size_(now ? now->lds_size : 0) {
        if (now) now_.emplace(*now, read);
    }

    // By how much a value, as wide as these are, is more in the next wave of the work-group, and in
    // the same wave of the next work-group; no_value: nobody knows.
    struct Motion {
        Value wave = no_value, group = no_value;
    };
    struct Line {
        Value base = no_value;  // U32 or U64
        int64_t stride = 0;
        Value step = no_value;  // as wide as the base
        uint32_t width = machine::lanes;
        Motion next = {};  // of the base; stride and step stay
        bool one_row() const { return width == machine::lanes; }
        // Of a wave of so many lanes: its rows, and the lanes of each.
        uint32_t rows(uint32_t lanes) const { return std::max(lanes / width, 1u); }
        uint32_t row_lanes(uint32_t lanes) const { return std::min(lanes, width); }
        // The same value in all lanes. (A step of 0 makes the line one row.)
        bool flat() const { return !stride && one_row(); }
    };
    // A V32 (modulo 2^32) or V64 (modulo 2^64) value, in all lanes whatever EXEC is, as the line of
    // an access's address. in_order: as unsigned 32-bit values they do not wrap around.
    std::optional<Line> address(Value v, bool in_order = false);
    // What a base in scalar registers and a line of 32 bits, as an offset, are together.
    Motion behind(Value base, const Motion& offset);
    // An access at lines has this base, of 64 bits.
    void goes_on(Value base, const Motion& next);
    // The bits of an integer compare of lines, as a U64 value.
    std::optional<Value> bits(Value mask);
    // The value of lane 0, a U32; only_flat: if it is that of all lanes.
    std::optional<Value> lane_0(Value v, bool only_flat);
    // Makes the block depend on the U32 condition; false when it is known too late.
    bool guard(Value condition);
    // The same for memory at base + offset being there, as far as other scalar loads of the block
    // show: on their page.
    bool guard_readable(Value base, uint64_t offset, uint32_t bytes);
    // The constant that is in all lanes of the row, as far as the wave that is about to run the
    // block shows; the block is guarded for it. v: any V32 value.
    std::optional<uint32_t> constant_row(Value v);
    bool has_constant_rows() const { return constant_rows_; }
    // The same for the condition that the bits, a U64 value, are all set. likely: only if they are
    // for the wave that is about to run the block; otherwise unless they are not.
    bool guard_all_lanes(Value bits, bool likely);
    // The same for the condition that all of them are 0, where they are.
    bool guard_no_lanes(Value bits);
    // The same for the condition that not all of them are 0, where so much is true of the wave that
    // is about to run the block, but not more. The bits with what is known of them. any: whichever
    // they are.
    std::optional<Value> guard_some_lanes(Value bits, bool any);
    // Makes the block depend on its global accesses being such that Block::lanes_apart holds, where
    // they are few lines.
    bool guard_lanes_apart(uint64_t address_mask);
    // Makes the block depend on the LDS being so large that `bytes` bytes from each of the line's
    // values on are in range: for an access by all lanes, or where it does so already.
    bool guard_within_lds(const Line& line, uint32_t bytes, bool all_lanes);
    // What the value, a row as it is at the block's beginning, is the sum of: most likely it was
    // made for being added to, once for many accesses.
    std::optional<std::pair<Value, uint32_t>> sum_in_row(Value v);
    // A line of 32 bits as an operand of a memory operation.
    Value as_operand(const Line& line);
    // What is written to a row: a line that took several operations is made from scalars. Others
    // are known to be lines where the block is guarded for what they need: first will_write() all.
    void will_write(Value v);
    State::Written written(Value v);
    // Emits the guards that are left: at the block's end, before scalar registers are written.
    void finish();

    // Whether what the block does needs a guard.
    bool relied_on() const { return relied_on_; }
    // Accesses whose addresses are lines.
    uint32_t profit() const { return profit_; }
    // Block::next
    machine::NextWaves next() const {
        if (!all_.waves) return {};
        return {next_.waves, next_.ids_step, all_.groups ? next_.group_sgpr : -1};
    }

private:
    // Whether what is found out about a wave holds for the next ones of its work-group, and for
    // those of the next work-groups, too.
    struct Reach {
        bool waves = true, groups = true;
        void operator&=(const Reach& r) {
            waves &= r.waves;
            groups &= r.groups && r.waves;
        }
    };
    struct Found {
        std::optional<Line> line;
        std::optional<ir::RowLine> row;
        std::vector<std::pair<Value, uint32_t>> needs;  // U32 values that have upper bounds
        std::vector<Value> from;                        // values whose conditions are needed, too
        Reach reach;                                    // of what it needs
        bool committed = false;
    };
    const Found& find(Value v);
    std::optional<Line> compute(Value v, Found& f);
    std::optional<Line> compute64(Value v, Found& f);
    std::optional<Line> read_row(uint32_t row, Found& f);
    std::optional<Line> loaded_once(Value elem, Found& f);
    std::optional<Line> chosen(Value bits, Value if_set, Value if_clear, Found& f);
    bool is_all_or_none(const ir::Inst& bits) const;
    std::optional<Line> low_half(Value v, Found& f);
    std::optional<Line> high_half(Value v, Found& f);
    std::optional<Line> sum_of_pairs(Value lo, Value hi, Found& f);
    std::optional<Line> part(Value v, Found& f);

    // ---- lines from lines (affine_lines.cpp); 32 bits unless they say otherwise ----
    // Wider strides are no use: nobody's neighbours are so far apart.
    static constexpr int64_t most32 = int64_t{1} << 24, most64 = int64_t{1} << 57;
    Line line(Value base, int64_t stride, Value step, uint32_t width, const Motion& next);
    Line flat(Value base, const Motion& next) {
        return line(base, 0, no_value, machine::lanes, next);
    }
    std::optional<Line> narrowed(const Line& x, uint32_t width);
    Line stepwise(const Line& x);
    std::optional<Line> sum(const Line& x, const Line& y, bool difference = false);  // or 64
    struct Factors {
        Line x, y;  // y is flat
        int64_t factor;
        bool small;  // y is this constant, in the bounds of a stride
    };
    std::optional<Factors> factors_of(const Line& x, const Line& y);
    std::optional<Line> product(const Line& x, const Line& y, Found& f);
    std::optional<Line> wide_product(const Line& x, const Line& y, bool is_signed, Found& f);
    Line shifted_up(const Line& x, uint32_t n);
    std::optional<Line> shifted_down(Line x, uint32_t n, bool is_signed, Found& f);
    std::optional<Line> low_bits(Line x, uint32_t n, Found& f);
    std::optional<Line> masked(const Line& x, uint32_t bits, Found& f);
    std::optional<Line> masked_by(const Line& x, Value bits, Found& f);
    std::optional<Line> either(const Line& x, const Line& y, Found& f);
    Line split(const Line& x, uint64_t period);
    Value carry(Value mask, Found& f);

    // ---- from wave to wave (affine_motion.cpp) ----
    Motion still(Value like) { return {number(like, 0), number(like, 0)}; }
    Motion unmoved(const Line& x, const Line& y);
    bool is_still(const Motion& m) const { return is_zero(m.wave) && is_zero(m.group); }
    // For all that is known.
    bool moves(const Motion& m) const {
        return m.wave != no_value &&
               (!is_zero(m.wave) || (m.group != no_value && !is_zero(m.group)));
    }
    // f of what is known of each.
    template <typename F>
    static Motion each(const Motion& x, F f) {
        const auto of = [&](Value d) { return d == no_value ? no_value : f(d); };
        return {of(x.wave), of(x.group)};
    }
    template <typename F>
    static Motion each(const Motion& x, const Motion& y, F f) {
        const auto of = [&](Value d, Value e) {
            return d == no_value || e == no_value ? no_value : f(d, e);
        };
        return {of(x.wave, y.wave), of(x.group, y.group)};
    }
    Motion of_scalar(Value v, Found& f);
    enum class By : uint8_t { Wave, Group };
    Value derivative(Value v, By by, Found& f);
    bool stays(const ir::Inst& i, Value dx, Value dy, Found& f);
    Motion of_product(const Line& x, const Line& y);
    Motion of_masked(const Line& x, const Line& bits, Found& f);
    Motion upper_half(const Motion& m);
    Motion extended(const Motion& m);
    bool follows(const Motion& m, Found& f);
    Value groups_ahead();
    std::optional<Value> from_last_wave(const Motion& m);
    Value highest(Value last, const Motion& m, Found& f);
    Value in_last_wave(Value distance, Value first, Value second);
    Reach reach_of(const Motion& m) const;
    Reach reach_of(Value v, Found& f);

    // ---- what is known of values ----
    bool need(Value v, uint32_t bound, Found& f);
    bool need_once(Value v, uint32_t bound, Found& f);
    bool at_most(const Line& line, uint32_t limit, Found& f);
    bool at_most(const Line& line, Reach reach, uint32_t limit, Found& f);
    bool no_wrap(const Line& line, Found& f) { return at_most(line, ~0u, f); }
    uint32_t largest(Value v, uint32_t depth = 6) const;
    uint32_t zeros(Value v, uint32_t depth = 6) const;
    uint32_t zeros(const Line& line) const;
    std::optional<uint64_t> constant(Value v) const;
    bool need_small(Value step, Found& f);
    bool need_far_apart(Value step, Found& f);
    uint32_t cost(Value v, uint32_t limit) const;
    uint8_t shape(const Line& x) const;
    bool made_by_scalars(const Line& x) const;
    bool holds(const Found& f) const;
    bool of_rows(Value v) const;
    bool is_zero(Value v) const { return v != no_value && constant(v) == uint64_t{0}; }
    std::optional<uint64_t> constant(const Line& line) const;

    std::optional<Value> bits(Value mask, Found& f);
    Value compare_flat(Op op, const Line& x, const Line& y, Found& f);
    void find_extent(Value bits);
    std::vector<Value> conditions_of(Value bits, Op op) const;
    bool guard_condition(Value bits, bool likely);
    std::optional<Value> bits_of_pairs(const ir::Inst& compare, Found& f);
    std::optional<Value> bits_of_extreme(const ir::Inst& compare, uint32_t arg, Found& f);
    bool need_bits(Value bits, bool all, Found& f);
    std::optional<bool> settled(Value bits, Found& f);
    std::optional<bool> settled(Op compare, Value x, Value y, Found& f);
    std::optional<Line> remainder(const ir::Inst& select, Found& f);
    std::optional<Line> unmasked(Value x, Value bits, Found& f);
    std::optional<Line> extreme(const ir::Inst& i, const Line& x, const Line& y, Found& f);
    void commit(Value v);
    void commit(const Found& f);
    bool early(Value v);
    Value number(Value like, int64_t n);
    Value both(Op op, Value a, Value b) { return s_.emit(op, {a, b}); }

    State& s_;
    ir::Block& block_;
    const RowLines& rows_;
    const RowSumsBefore& sums_;
    std::optional<RowSums::Known> known_sums_;  // when they are first asked for
    std::optional<ir::EntryValues> now_;        // of the wave that is about to run the block
    const uint32_t vector_lanes_;
    const machine::NextWaves next_;
    Reach all_;  // so far, of what the block's accesses and guards are
    std::unordered_map<Value, Found> found_;
    // Of bits(): the conditions that they are all set, and that any is.
    struct Extent {
        Value all, any;
    };
    std::unordered_map<Value, Extent> extents_;
    std::map<Value, uint32_t> bounds_;  // guards to come
    // Bases of accesses, and how they go on.
    struct Steps {
        Value wave, group;  // the latter from a work-group's last wave
        bool operator==(const Steps&) const = default;
    };
    std::map<Value, Steps> moving_;
    std::unordered_map<Value, Motion> motions_;  // of what was a lane's value (lane_0())
    uint32_t work_ = 0;  // values that derivative() may look at yet: expressions share parts
    std::vector<uint8_t> early_;
    bool stored_ = false;  // while early_ was worked out
    uint32_t profit_ = 0;
    bool constant_rows_ = false;
    const uint32_t lds_size_;  // of the wave that is about to run the block
    // Lines that are guarded for lying within the LDS: base, stride, step and width, and with how
    // many bytes.
    std::map<std::tuple<Value, int64_t, Value, uint32_t>, uint32_t> within_lds_;
    bool relied_on_ = false;
};

// Block::next, as far as the block's lanes are concerned.
machine::NextWaves next_of_lanes(const ir::Block& block);

}  // namespace wj::lift
