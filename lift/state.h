// Builds the IR of one block: emission with folding and common subexpressions, and the guest
// registers' current values, so that state is read once and written once per block.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "ir/ir.h"
#include "lift/liveness.h"
#include "lift/value_table.h"

namespace wj::lift {

using ir::no_value;
using ir::Op;
using ir::Value;

// Whether a mask has none of the lanes that the block is not about (ir::Block::lanes), as far as
// can be seen.
bool has_first_lanes_only(const ir::Block& block, Value mask);

class State {
public:
    // may_guard: operations may be simplified under conditions that the block is guarded for.
    // sgpr_aliases: Wave::sgpr_aliases; registers with two names are always written by both.
    State(ir::Block& block, std::optional<uint64_t> exec, bool may_guard, uint32_t sgpr_aliases)
        : block_(block), may_guard_(may_guard), sgpr_aliases_(sgpr_aliases) {
        in_memory_.fill(no_value);
        exec_at_entry_ = exec ? const64(*exec) : emit(get_mask_op(), {}, machine::exec_lo);
        set_mask_bits(machine::exec_lo, exec_at_entry_, false);
    }

    // ---- values ----
    // The scalar operation that does in a uniform value what the lane operation does in each lane,
    // or Op::count_.
    static Op uniform_of(Op op);
    // Pure operations are folded and shared; arguments must have the types of the row.
    Value emit(Op op, std::initializer_list<Value> args, uint64_t imm = 0, uint32_t aux = 0);
    Value const32(uint32_t v) { return emit(Op::Const32, {}, v); }
    Value const64(uint64_t v) { return emit(Op::Const64, {}, v); }
    Value code_address(uint64_t pc) { return emit(Op::CodeAddress, {}, pc); }
    Value splat(Value u32) { return emit(Op::Splat32, {u32}); }
    Value lane_const(uint32_t v) { return splat(const32(v)); }
    Value lane_const64(uint64_t v) { return emit(Op::Splat64, {const64(v)}); }
    Value mask_not(Value m) { return emit(Op::MaskNot, {m}); }
    Value select(Value mask, Value yes, Value no) { return emit(Op::Select32, {mask, yes, no}); }
    bool is_const(Value v, uint64_t& out) const;
    bool is_full(Value mask) const;
    const ir::Inst& inst(Value v) const { return block_.insts[v]; }

    // True when `mask` (no_value = all) is known to hold every lane of `subset`.
    bool covers(Value mask, Value subset, uint32_t depth = 4) const;
    // Whether the bits of every lane, unsigned, are known to be from `least` to `bound`; the block
    // may be guarded for that.
    bool in_bounds(Value bits, uint32_t least, uint32_t bound);
    // The mask as lanes have it that are on: without a restriction to lanes to which these belong.
    // Compares write their masks in the lanes that were on.
    Value among_active(Value mask);
    // True when no lane is known to be able to be in both masks.
    bool apart(Value a, Value b, uint32_t depth = 4) const;

    // ---- scalar registers, by operand encoding ----
    Value get32(uint32_t reg);
    Value get64(uint32_t reg);
    void set32(uint32_t reg, Value v);
    // The block is guarded for the register's value at its beginning, if it may be.
    void assume(uint32_t reg, uint32_t value);
    // The register is what it was at the block's beginning.
    bool is_as_it_was(uint32_t reg) const;
    void set64(uint32_t reg, Value v, bool dirty = true);
    // A lane mask is in a register of the wave's size. Its bits have no lane beyond that.
    Value get_mask_bits(uint32_t reg);
    void set_mask_bits(uint32_t reg, Value bits, bool dirty = true);
    Value get_mask(uint32_t reg) { return mask_of(get_mask_bits(reg)); }
    // Waves of 32 lanes: the block has given the register a mask, or read one from there.
    bool is_mask_register(uint32_t reg) const { return scalars_[reg].half == alone; }
    Value mask_of(Value u64) { return emit(Op::MaskOf, {u64}); }
    Value bits_of(Value mask) { return emit(Op::BitsOf, {mask}); }
    Value scc();
    void set_scc(Value v) { scc_ = v, scc_dirty_ = true; }
    Value exec() { return get_mask(machine::exec_lo); }
    bool exec_written() const { return exec_written_; }

    // ---- vector registers; rows 256.. are AccVGPRs, or v256 and what is above ----
    static constexpr uint32_t most_rows = 512;
    Value read(uint32_t row);               // as the lanes of EXEC see it
    Value read_all(uint32_t row);           // every lane
    Value at_entry(uint32_t row);           // every lane, at the block's beginning
    void write(uint32_t row, Value v);      // under EXEC
    void write_all(uint32_t row, Value v);  // every lane
    Value pack(Value lo, Value hi) { return emit(Op::Pack64, {lo, hi}); }

    // ---- code that may have been jumped over ----
    // `alone`: all that is not 0 of the U64 value, as masks of 32 lanes are.
    enum Half : uint8_t { lower, upper, alone };
    struct Scalar {
        Value v32 = no_value, pair = no_value;  // pair: this register is half `half` of a U64 value
        Half half = lower;
        bool dirty = false;
    };
    struct Snapshot {
        std::array<Scalar, 128> scalars;
        Value scc = no_value;
        bool scc_dirty = false;
    };
    Snapshot snapshot() const { return {scalars_, scc_, scc_dirty_}; }
    // The scalar registers where two ways meet: `before` if the lanes of mask `exec` are none, else
    // what they are now. False when EXEC itself would have to be chosen.
    bool merge(const Snapshot& before, Value exec);

    // Writes every changed register to the wave (block end, before a call).
    // after: what is read later; null = everything.
    void flush(const LiveSet* after = nullptr);
    // Its two halves. written: what is written to a row instead of a value, asked when all values
    // have been announced.
    // What to write instead of a row's value, and the shape that it has in all lanes, or 0.
    struct Written {
        Value value;
        uint8_t shape;
    };
    void flush_rows(const LiveSet* after, const std::function<void(Value)>& announce,
                    const std::function<Written(Value)>& written);
    void flush_scalars(const LiveSet* after);
    void join_pair(uint32_t reg);
    // EXEC need not be written if it is again what it was when the block began, as behind arms. No
    // call may have seen it.
    void leave_exec_as_it_was();
    // At a program's end nobody reads EXEC, and the program's next wave wants it as it was.
    void drop_exec();
    // After a call that may have changed anything. keep_exec: it cannot have changed EXEC.
    void forget(bool keep_exec);

private:
    friend class LoopMasks;
    struct Row {
        Value value = no_value;
        Value mask = no_value;  // lanes for which value holds; no_value = all
        Value base = no_value;  // value of the other lanes; no_value = what the row holds in memory
        bool dirty = false;
        // Written in fewer lanes after that: value = inner_mask ? inner : outer.
        Value inner = no_value, inner_mask = no_value, outer = no_value;
    };
    Op get_mask_op() const {
        return block_.wave_size == machine::lanes ? Op::GetS64 : Op::GetMask32;
    }
    // The registers from `reg` on have the value `pair` of the first one: both halves of it.
    bool holds_pair(uint32_t reg) const {
        const Scalar &low = scalars_[reg], &high = scalars_[reg + 1];
        return low.pair != no_value && low.pair == high.pair && low.half == lower &&
               high.half == upper;
    }
    // The register is a mask's, of the wave's size, and has the value `pair`.
    bool holds_mask(uint32_t reg) const {
        return block_.wave_size == machine::lanes ? holds_pair(reg) && scalars_[reg + 1].dirty
                                                  : is_mask_register(reg);
    }
    // The value, if the block has made it already, else no_value.
    Value known(Op op, std::initializer_list<Value> args, uint64_t imm = 0) const;
    Value append(Op op, std::initializer_list<Value> args, uint64_t imm, uint32_t aux);
    bool is_code_half(Value v, Op half, uint64_t& address) const;
    Value fold(Op op, const std::array<Value, 4>& a, uint64_t imm, uint32_t aux);
    Value fold_constants(Op op, const std::array<Value, 4>& a, uint64_t imm, uint32_t aux);
    Value same_in_all_lanes(Op op, const std::array<Value, 4>& a);
    Value fold_lanes(Op op, const std::array<Value, 4>& a);
    Value sum_of_pairs(Value low, Value high);
    Value scaled_root(Value root, Value factor);
    Value without(Value mask, Value lanes, uint32_t depth = 6);
    Value whole(uint32_t row, Row& r);
    bool dead(uint32_t row, const Row& r, const LiveSet& after);

    // The register's other name, or itself.
    uint32_t other_name(uint32_t reg) const {
        return sgpr_aliases_ ? machine::Aliases::other(reg, sgpr_aliases_) : reg;
    }

    ir::Block& block_;
    const bool may_guard_;
    const uint32_t sgpr_aliases_;
    ValueTable known_;
    std::array<Scalar, 128> scalars_{};
    std::array<Row, most_rows> rows_{};
    std::vector<uint16_t> touched_;  // rows with an entry
    std::array<Value, most_rows> in_memory_;
    Value scc_ = no_value;
    bool scc_dirty_ = false, exec_written_ = false;
    Value exec_at_entry_ = no_value;
};

}  // namespace wj::lift
