// What the lifter's source files share: one Lifter per block, one method per family of
// instructions, tables from opcode to method. A method returns false to decline (the instruction
// then becomes a call of the interpreter's handler).
#pragma once

#include <algorithm>
#include <span>

#include "frontend/inst.h"
#include "lift/division.h"
#include "lift/lift.h"
#include "lift/memory_order.h"
#include "lift/root.h"
#include "lift/state.h"

namespace wj::lift {

class Lifter;
// What an attempt to lift a block has found out for the next one.
struct Findings {
    std::vector<uint64_t> no_arms;  // branches (PCs) that are not to be lifted as arms
    // SGPRs whose value in the wave that is about to run the block the block is guarded for.
    std::vector<uint32_t> constants;
};
using Method = bool (*)(Lifter& l, const Inst& inst);
struct Entry {
    Opcode op;
    Method lift;
};

std::span<const Entry> scalar_entries();
std::span<const Entry> scalar_float_entries();
std::span<const Entry> control_entries();
std::span<const Entry> vector_int_entries();
std::span<const Entry> vector_float_entries();
std::span<const Entry> vector_math_entries();
std::span<const Entry> vector_math64_entries();
std::span<const Entry> vector_half_entries();
std::span<const Entry> vector_packed_entries();
std::span<const Entry> compare_entries();
std::span<const Entry> cross_entries();
std::span<const Entry> indexed_move_entries();
std::span<const Entry> memory_entries();
std::span<const Entry> atomic_entries();

class Lifter {
public:
    Lifter(const Options& options, const Fetch& fetch, ir::Block& block, InstStore& store,
           Findings& findings)
        : options(options),
          block(block),
          store(store),
          s(block, options.exec_full ? std::optional(block.whole_exec()) : std::nullopt,
            options.may_guard, options.names.sgpr_aliases),
          order(s, *options.target, fetch, options.observed),
          fetch_(fetch),
          findings_(findings) {}

    const Options& options;
    ir::Block& block;
    InstStore& store;
    State s;
    Divisions divisions{s};
    Roots roots{s};
    MemoryOrder order;
    Affine* affine = nullptr;      // guarded blocks
    Affine* rows = nullptr;        // loops that are guarded for constants in rows
    bool wants_constants = false;  // and it pays
    bool bounds_known = false;     // which lanes a grid's bounds leave, for all that follows
    uint64_t pc = 0, next_pc = 0;  // of the instruction being lifted
    bool ended = false;            // the terminator is set

    Value emit(Op op, std::initializer_list<Value> args, uint64_t imm = 0, uint32_t aux = 0) {
        return s.emit(op, args, imm, aux);
    }

    // ---- scalar operands ----
    Value s32(const Operand& o);
    Value s64(const Operand& o);
    // Of destinations: one that is no register (NULL) takes nothing.
    void set_s32(const Operand& o, Value v) {
        if (o.is(Operand::Kind::Sgpr)) s.set32(o.reg, v);
    }
    void set_s64(const Operand& o, Value v) {
        if (o.is(Operand::Kind::Sgpr)) s.set64(o.reg, v);
    }
    // Of operands that are lane masks.
    Value mask_bits(const Operand& o);
    Value mask(const Operand& o) { return s.mask_of(mask_bits(o)); }
    void set_mask_bits(const Operand& o, Value bits) {
        if (o.is(Operand::Kind::Sgpr)) s.set_mask_bits(o.reg, bits);
    }
    void set_mask(const Operand& o, Value m) { set_mask_bits(o, s.bits_of(m)); }

    // ---- vector operands ----
    static bool is_vector(const Operand& o) {
        return o.is(Operand::Kind::Vgpr) || o.is(Operand::Kind::Agpr);
    }
    static uint32_t row(const Operand& o, uint32_t dword = 0) {
        return o.reg + dword + (o.is(Operand::Kind::Agpr) ? 256 : 0);
    }
    Value raw(const Operand& o, uint32_t dword = 0);  // bits of one dword, no modifiers
    // Integer source i with the selection of SDWA, or of OP_SEL where it has 16 bits.
    Value v32(const Inst& inst, uint32_t i);
    Value v64(const Operand& o);
    Value f32(const Inst& inst, uint32_t i);  // with neg, abs and input flush
    Value f64(const Inst& inst, uint32_t i);
    // A half in the low 16 bits (above them anything): source i, or the old destination, with
    // op_sel or SDWA selection, neg, abs and, unless `keep`, input flush.
    static constexpr uint32_t addend = 3;
    Value f16_bits(const Inst& inst, uint32_t i, bool keep = false);
    Value f16_modified(Value half, bool neg, bool abs, bool keep = false);
    Value f16_flush(Value half);
    void set_v32(const Inst& inst, Value v);  // dst[0] with SDWA selection
    void set_v64(const Operand& o, Value v);
    bool set_f32(const Inst& inst, Value v);  // with output flush, omod and clamp
    // Lanes that DPP leaves out keep theirs. An SGPR gets the first lane's, EXEC aside: of scalars,
    // which all lanes have.
    void write(const Operand& o, Value v, uint32_t dword = 0);

    Value c32(uint32_t v) { return s.lane_const(v); }
    // The same, as a constant if it is one in a row: compilers keep in registers what an
    // instruction takes no constant for.
    Value constant_row(Value v) { return constant_row(rows, v); }
    // Of an instruction that is several if it is none; the block may be guarded for that.
    Value wanted_constant(Value v);
    Value c64(uint64_t v) { return s.lane_const64(v); }
    // The mask restricted to active lanes that DPP does not leave out: what v_cmp writes. Made by
    // scalars, if both are: what is asked of grids' bounds is known in lanes that others of them
    // have left on.
    Value active(Value m) {
        if (dpp_valid_ != no_value) m = emit(Op::MaskAnd, {m, dpp_valid_});
        const ir::Inst x = s.inst(m), exec = s.inst(s.exec());
        if (affine && x.op == Op::MaskOf && exec.op == Op::MaskOf)
            return s.mask_of(emit(Op::UAnd64, {x.args[0], exec.args[0]}));
        return emit(Op::MaskAnd, {m, s.exec()});
    }
    // The mask of a compare, made by scalars if it can be.
    Value compared(Value m) {
        const auto bits = affine ? affine->bits(m) : std::nullopt;
        if (!bits) return m;
        return s.mask_of(emit(Op::UAnd64, {*bits, s.const64(block.whole_exec())}));
    }
    // In blocks of fewer lanes than a wave has: whether no others are on, as far as can be seen.
    bool keeps_lanes();
    bool concerns_first_lanes() const;

    // ---- MODE ----
    bool round32() const { return (options.mode & 3) == 0; }
    bool round64() const { return (options.mode >> 2 & 3) == 0; }
    bool flush_in32() const { return !(options.mode >> 4 & 1); }
    bool flush_out32() const { return !(options.mode >> 5 & 1); }
    bool denorm64() const { return (options.mode >> 6 & 3) == 3; }
    bool ieee() const { return options.mode & machine::mode::ieee; }

    // ---- control ----
    void end(ir::Terminator term);
    void exit(machine::ExitKind kind, uint64_t at, const char* reason = nullptr,
              uint32_t detail = 0);
    void call(const Inst& inst, bool keep_exec, std::optional<ir::IndexedMove> move = {});
    // In front of a terminator: counts the edge from the instruction, if edges are counted.
    void cover(uint64_t to);
    void cover(Value cond, uint64_t taken, uint64_t next);
    void lift(const Inst& inst);

    // In guarded blocks, at s_cbranch_execz: true when it is not taken. Where it would end the
    // program, that is made sure of by a guard that wants all lanes.
    bool lanes_known(uint64_t target);
    // In guarded blocks, at s_cbranch_execnz: true when it is not taken, and the program ends
    // behind it. As of grid-stride loops in grids that do all in one iteration.
    bool no_lanes_left();
    // In guarded blocks, behind each instruction: where the wave that is about to run the block has
    // all lanes on, a guard makes sure of it.
    void assume_lanes();

    // ---- arms.cpp ----
    // The instruction becomes part of the block, behind those that are lifted.
    void enter(uint64_t at, const Inst& inst);
    std::span<const uint32_t> code_at(uint64_t at);
    // At s_cbranch_execz: true when what lies between it and its target becomes part of the block.
    bool begin_arm(uint64_t target);
    bool in_arm() const { return !arms_.empty(); }
    // Lanes that came by the innermost branch: without any the code behind it was jumped over.
    Value arm_lanes() const { return arms_.back().exec; }
    void end_arms();
    void check_arms();
    // At a branch of which one side is `from`: true when that one leads back to the block's
    // beginning, and what lies on the way has been lifted.
    bool take_way_back(uint64_t from, uint64_t behind);
    // The block must be lifted again with this branch as a branch.
    void abandon(uint64_t branch);
    void abandon_arms() { abandon(arms_.front().branch); }
    bool abandoned() const { return abandoned_; }

    // ---- indexed_moves.cpp ----
    // At s_set_gpr_idx_on: true when it and what follows, moves and s_set_gpr_idx_off, have been
    // lifted.
    bool indexed_moves(const Inst& on);

    // Makes raw(inst.src[0]) the lane-shuffled source; false = not expressible.
    bool begin_dpp(const Inst& inst);

private:
    Value constant_row(Affine* guards, Value v) {
        const auto c = guards ? guards->constant_row(v) : std::nullopt;
        return c ? c32(*c) : v;
    }
    struct Arm {
        uint64_t branch, target;
        Value exec;  // mask at the branch
        State::Snapshot before;
    };
    // Makes EXEC, if it is a mask made by scalars, all lanes (Affine::guard_all_lanes()).
    bool guard_all_lanes(bool likely);
    Value assumed_for_ = no_value;  // EXEC that assume_lanes() has looked at
    size_t looked_at_ = 0;          // operations that keeps_lanes() has seen
    bool arrives(uint64_t from, uint64_t target, size_t depth, uint32_t& left);

    const Fetch& fetch_;
    std::span<const uint32_t> window_;
    uint64_t window_pc_ = 0;
    std::vector<Arm> arms_;
    Findings& findings_;
    bool abandoned_ = false;
    const Operand* current_dpp_ = nullptr;
    Value dpp_source_ = no_value, dpp_valid_ = no_value;  // shuffled source; lanes that are written
    bool registers_ok(const Inst& inst) const;
    using Handler = void (*)(machine::Wave&, const Inst&);
    // In the wave's state, of which it may change everything but perhaps EXEC.
    void call_function(Handler fn, const Inst& inst, bool keep_exec,
                       std::optional<ir::IndexedMove> move = {});
    void observe(const Inst& inst);
};

// Writes dst[0] of an integer instruction. False: CLAMP wants saturation.
inline bool put(Lifter& l, const Inst& i, Value v) {
    if (i.clamp) return false;
    l.set_v32(i, v);
    return true;
}

}  // namespace wj::lift
