// SSA IR of one guest basic block. Uniform values, lane values and lane masks are different types;
// EXEC is a value like any other (memory operations and state writes take a mask).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/atomic.h"
#include "machine/wave.h"

namespace wj::ir {

enum class Type : uint8_t { N, U32, U64, V32, V64, M, T };
inline constexpr bool is_uniform(Type t) {
    return t == Type::U32 || t == Type::U64;
}
enum class Class : uint8_t {
    Uniform,
    Lane,
    GetS,
    SetS,
    GetV,
    SetV,
    ULoad,
    LaneLoad,
    LaneStore,
    LaneAtomic,
    Cross,
    Fence,
    Call
};

enum class Op : uint8_t {
#define OP(name, ...) name,
#include "ir/opcodes.inc"
#undef OP
    count_
};

struct OpInfo {
    std::string_view name;
    Type result;
    std::array<Type, 4> args;
    uint8_t arg_count;
    Class cls;
    std::string_view doc;
};
extern const OpInfo op_infos[];
inline const OpInfo& op_info(Op op) {
    return op_infos[static_cast<size_t>(op)];
}

// Of minima and maxima: MODE.IEEE off; on (a signalling NaN wins); on, and no operand is one.
inline constexpr uint64_t minmax_plain = 0, minmax_ieee = 1, minmax_quiet = 2;

// Kind of a lane memory access, in Inst::aux bits 8..15; bits 0..7 = tuple length in dwords.
enum class Access : uint8_t {
    U8,
    S8,
    U16,
    S16,
    Dwords /* length dwords */,
    U8D16Hi,
    U16D16Hi /* store the high half's low byte / high half */
};
// In the aux of a load from global memory: it reads from an allocation that is larger than the
// caches of one processor.
inline constexpr uint32_t from_afar = 1u << 16;
// In the aux of a load or store of the LDS at a Line32: all lanes' elements are in range, which the
// block is guarded for.
inline constexpr uint32_t within_lds = 1u << 17;
// ULoad32: memory that lanes load, which waves may store to; others read what is constant while a
// kernel runs, unless a pointer in memory leads there.
inline constexpr uint32_t of_lanes = 1u << 18;
// In the aux of a load from global memory: its lanes are most likely more than a cache line apart.
inline constexpr uint32_t far_lanes = 1u << 19;
inline constexpr uint32_t make_aux(Access access, uint32_t dwords) {
    return uint32_t(access) << 8 | dwords;
}
inline Access aux_access(uint32_t aux) {
    return static_cast<Access>(aux >> 8 & 0xff);
}
inline uint32_t aux_dwords(uint32_t aux) {
    return aux & 0xff;
}

// What Op::GuardScalar asks for: an SGPR holds `least` or up to `extent` more, unsigned.
struct ScalarRange {
    uint32_t reg = 0;  // 8 bits
    uint32_t least = 0;
    uint32_t extent = 0;

    bool holds(uint32_t value) const { return value - least <= extent; }
    uint64_t imm() const { return reg | uint64_t{least} << 32; }
    uint32_t aux() const { return extent; }
    static ScalarRange of(uint64_t imm, uint32_t aux) {
        return {static_cast<uint32_t>(imm & 255), static_cast<uint32_t>(imm >> 32), aux};
    }
};

// What GuardRow wants of a row at the block's beginning: first + stride * (lane mod width) +
// step * (lane div width), as the work-item ids of work-groups `width` work-items wide are.
struct RowLine {
    uint32_t row = 0;
    uint32_t stride = 0;  // 16 bits
    uint32_t width = machine::lanes;
    uint32_t step = 0;
    bool any_step = false;  // the step is what the row's lane `width` shows
    // The first lane's value is `first`; then the stride and the step are 0.
    bool constant = false;
    uint32_t first = 0;

    // Rows narrower than this are lines only if their step is a constant.
    static constexpr uint32_t least_width = 4;
    // Whether the step is part of what the row is expected to be: others come from the sizes of
    // arrays, and need not be the same in all launches. Of rows narrower than the host's vectors
    // those of tiles in the LDS are, whose steps are a few hundred bytes.
    static bool keeps_step(uint32_t width, uint32_t step, uint32_t vector_lanes) {
        constexpr uint32_t most_of_tile = 1024;
        return step <= machine::lanes || width < least_width ||
               (width < vector_lanes && step <= most_of_tile);
    }

    static constexpr uint32_t first_of_rows = 169, most_row_step = 512, first_of_columns = 219;
    // A number of its own for each of the usual ones, whatever the row; else 0.
    uint8_t shape() const {
        const auto w = static_cast<uint32_t>(std::countr_zero(width)) - 1;  // of 2 to 32 lanes
        // Rows of equal lanes, as row numbers are, and columns of dwords.
        const bool in_rows = width > 1 && width < machine::lanes && std::has_single_bit(step);
        if (in_rows && !stride && step <= most_row_step)
            return static_cast<uint8_t>(first_of_rows + std::countr_zero(step) * 5 + w);
        if (in_rows && step == 4 && !any_step && std::has_single_bit(stride) && stride >= 128 &&
            stride <= 512)
            return static_cast<uint8_t>(first_of_columns + (std::countr_zero(stride) - 7) * 5 + w);
        if (stride > 64 || (stride & (stride - 1))) return 0;
        const auto s = static_cast<uint32_t>(std::bit_width(stride));
        if (width == machine::lanes) return static_cast<uint8_t>(1 + s);
        if (width < 2) return 0;
        const uint32_t row_bytes = stride * width;
        uint32_t kind = 0;
        if (!any_step) {
            if (step != row_bytes * 2 && step != row_bytes * 4 && step) return 0;
            kind = !step ? 1 : step == row_bytes * 2 ? 2 : 3;
        }
        return static_cast<uint8_t>(9 + (kind * 5 + w) * 8 + s);
    }
    static RowLine of_shape(uint32_t row, uint8_t shape) {
        const auto stride_of = [](uint32_t s) { return s ? uint32_t{1} << (s - 1) : 0; };
        if (shape < 9) return {.row = row, .stride = stride_of(shape - 1u)};
        if (shape >= first_of_columns) {
            const uint32_t n = shape - first_of_columns;
            return {.row = row, .stride = 128u << n / 5, .width = 2u << n % 5, .step = 4};
        }
        if (shape >= first_of_rows) {
            const uint32_t n = shape - first_of_rows;
            return {.row = row, .stride = 0, .width = 2u << n % 5, .step = 1u << n / 5};
        }
        const uint32_t n = shape - 9u, kind = n / 40;
        RowLine line{.row = row, .stride = stride_of(n % 8), .width = 2u << n / 8 % 5};
        line.any_step = kind == 0;
        if (kind > 1) line.step = line.stride * line.width << (kind - 1);
        return line;
    }

    uint64_t imm() const { return row | uint64_t{constant ? first : step} << 32; }
    uint32_t aux() const {
        return stride | width << 16 | uint32_t{constant} << 30 | uint32_t{any_step} << 31;
    }
    static RowLine of(uint64_t imm, uint32_t aux) {
        const bool constant = aux >> 30 & 1;
        const auto upper = static_cast<uint32_t>(imm >> 32);
        return {.row = static_cast<uint32_t>(imm),
                .stride = aux & 0xffff,
                .width = aux >> 16 & 0xff,
                .step = constant ? 0 : upper,
                .any_step = (aux >> 31) != 0,
                .constant = constant,
                .first = constant ? upper : 0};
    }
};

// Inst::imm of Op::Fence (docs/design/memory-model.md): accesses to global memory keep their order
// across it in any case; the second kind is an instruction of the host, too, since its stores wait
// in a buffer while its loads go on.
inline constexpr uint64_t in_program_order = 0, stores_before_loads = 1;

// Conditions that a guarded block is entered under.
inline constexpr bool is_guard(Op op) {
    return op == Op::Guard || op == Op::GuardRow || op == Op::GuardOff || op == Op::GuardScalar ||
           op == Op::GuardLds;
}

// Scalar registers, from number imm on, that an operation of Class::GetS or SetS reads or writes.
inline constexpr uint32_t scalar_registers(Op op) {
    if (op == Op::GetScc || op == Op::SetScc) return 0;
    return op == Op::GetS64 || op == Op::SetS64 ? 2 : 1;
}
// Reads or writes what may be a lane mask: the register or the pair of a wave's size.
inline constexpr bool gets_mask(Op op) {
    return op == Op::GetS64 || op == Op::GetMask32;
}
inline constexpr bool sets_mask(Op op) {
    return op == Op::SetS64 || op == Op::SetMask32;
}

// Accesses at the sum of a uniform base (args[0]) and a lane offset (args[1]); the mask is args[2].
inline constexpr bool has_scalar_base(Op op) {
    return op == Op::LoadGlobalS || op == Op::StoreGlobalS || op == Op::LoadGlobalS64 ||
           op == Op::StoreGlobalS64 || op == Op::AtomicGlobalS || op == Op::AtomicGlobalS64;
}

// Accesses to LDS and private memory, never to anything else.
inline constexpr bool has_own_space(Op op) {
    return op == Op::LoadLds || op == Op::StoreLds || op == Op::LoadScratch ||
           op == Op::StoreScratch;
}

// Bytes of memory of one lane's access.
inline uint32_t access_bytes(Access access, uint32_t dwords) {
    switch (access) {
        case Access::U8:
        case Access::S8:
        case Access::U8D16Hi:
            return 1;
        case Access::U16:
        case Access::S16:
        case Access::U16D16Hi:
            return 2;
        default:
            return dwords * 4;
    }
}

// Values in args[4..] of a store or atomic.
uint32_t data_args(Op op, uint32_t aux);

using Value = uint32_t;  // index into Block::insts
inline constexpr Value no_value = ~0u;

struct Inst {
    Op op;
    uint16_t guest = 0;  // index into Block::guest_pcs
    uint32_t aux = 0;
    std::array<Value, 8> args{no_value, no_value, no_value, no_value,
                              no_value, no_value, no_value, no_value};
    uint64_t imm = 0;
};

// The arguments that there may be: those behind the fourth are data of stores and atomics.
template <class I>
auto used_args(I& i) {
    const Class cls = op_info(i.op).cls;
    const bool data = cls == Class::LaneStore || cls == Class::LaneAtomic;
    return std::span(i.args.data(), data ? 8 : 4);
}

inline bool is_lane_access(const Inst& i) {
    const Class cls = op_info(i.op).cls;
    return cls == Class::LaneLoad || cls == Class::LaneStore || cls == Class::LaneAtomic;
}
// Of a load, a store or an atomic: the lanes' addresses or their offsets from the base; the mask;
// the bytes of one lane's access; the constant that is added to the address (LDS: all of it).
inline Value address_of(const Inst& i) {
    return i.args[has_scalar_base(i.op) ? 1 : 0];
}
inline Value mask_of(const Inst& i) {
    return i.args[has_scalar_base(i.op) ? 2 : 1];
}
inline uint32_t access_bytes(const Inst& i) {
    return access_bytes(aux_access(i.aux), aux_dwords(i.aux));
}
inline int64_t immediate(const Inst& i) {
    const bool lds = i.op == Op::LoadLds || i.op == Op::StoreLds || i.op == Op::AtomicLds;
    return static_cast<int64_t>(lds ? (i.imm & 0xffffffff) + (i.imm >> 32) : i.imm);
}

struct Terminator {
    enum class Kind : uint8_t {
        Jump,      // to target
        Branch,    // cond (U32) != 0 ? target : next
        Indirect,  // to the U64 value cond
        Called,    // to wave.pc, which the last helper call has set
        Exit,      // leave the engine with `exit`, wave.pc = next
    } kind = Kind::Exit;
    Value cond = no_value;
    uint64_t target = 0, next = 0;
    machine::ExitKind exit = machine::ExitKind::None;
    const char* reason = nullptr;  // for Exit with a fault
    uint32_t detail = 0;           // trap id
};

// A copy of a row to or from one to whose number M0 is added: v_mov_b32 between s_set_gpr_idx_on
// and s_set_gpr_idx_off, where M0[7:0] is meant (by_mode), or v_movrel*.
struct IndexedMove {
    enum class From : uint8_t { Row, Scalar, Constant };
    From kind = From::Row;
    bool from_indexed = false, to_indexed = false;
    bool by_mode = false;
    bool all_lanes = false;  // EXEC is known to have them
    uint32_t from = 0;       // the row, the SGPR or the constant
    uint32_t to = 0;         // row
    uint32_t indices = 0;    // below this many, all registers are in the wave's allocation
};

// A helper call: fn(wave, arg) with wave.pc = next_pc. When it leaves wave.exit.kind != None the
// block stores pc in wave.exit.pc and returns.
struct Call {
    void (*fn)(machine::Wave& wave, const void* arg) = nullptr;
    const void* arg = nullptr;
    uint64_t pc = 0, next_pc = 0;
    // What fn does, with MODE.GPR_IDX_EN where that is by mode, which is set for it alone (and
    // stays set if it ends the wave). Translated code does it by itself where the index is in
    // bounds.
    std::optional<IndexedMove> move;
};

struct Block {
    uint64_t pc = 0;
    uint64_t begin_pc = 0, end_pc = 0;  // all its instructions lie in between
    // Of the waves that run it: lane masks are pairs of registers (64) or registers (32), and lanes
    // are counted modulo this.
    uint32_t wave_size = machine::lanes;
    uint64_t every_lane() const { return machine::first_lanes(wave_size); }
    // Lanes from here on are off, and stay so, in every wave that runs the block: nothing is done
    // for them, and no mask has them.
    uint32_t lanes = machine::lanes;
    // Compiled for EXEC with all of these lanes at entry: the lifter then uses a constant mask.
    bool exec_full = false;
    uint64_t whole_exec() const { return machine::first_lanes(lanes); }
    // EXEC may differ from its value at entry when the block ends: links must test which variant to
    // enter.
    bool exec_changed = false;
    // MODE may have changed: leave through the dispatcher.
    bool mode_changed = false;
    // The block holds only if its Guard and GuardRow operations do; where they do not, the block
    // that is made without them runs instead.
    bool guarded = false;
    // No lane touches global memory that a higher lane touches in an earlier operation, if one of
    // them stores: the operations may be done for some lanes, then for the next ones.
    bool lanes_apart = false;
    // The block's guards are about the next waves, too (WavesAhead), which differ in nothing but
    // bases of accesses at lines (GoesOn). Other scalar registers, and memory that scalars were
    // loaded from, are to be the same.
    machine::NextWaves next;
    uint32_t guest_count = 0;  // guest instructions, for budgets and counters
    // The guest instructions before this one wait for memory somewhere (s_waitcnt): stores from
    // here on have no order among each other that another wave may rely on.
    uint32_t unordered_from = 0;
    // Loads must not be done earlier than where they stand: some go around the wave's cache, or it
    // is emptied between them (acquire, volatile).
    bool loads_in_order = false;
    std::vector<Inst> insts;
    std::vector<uint64_t> guest_pcs;
    std::vector<Call> calls;
    std::vector<std::array<uint8_t, 64>> lane_tables;
    Terminator term;

    Type type(Value v) const { return op_info(insts[v].op).result; }
};

std::string print(const Block& block);  // ir/text.h
// Empty when the block is well formed, else what is wrong and where.
std::string verify(const Block& block);
// The Add32 that is smaller than one of its operands where this CmpLtU32 says so, in other words
// where it carries; else no_value.
Value sum_that_carries(const Block& block, Value compare);
// Global accesses at base + offset instead of at a vector of addresses, where the address
// is such a sum; indices times element sizes as dwords. False when there are none; else
// eliminate_dead() removes what is then not needed.
bool split_addresses(Block& block);
// Sums, products and shifts of pairs of dwords as those of dwords, where nobody reads the upper
// ones. Behind and in front of eliminate_dead(): who reads a value that is not needed counts. False
// when there are none.
bool narrow_pairs(Block& block);
// Leaves out `x & mask` where all that is read of it are bits of the mask. False: there is none.
bool drop_unread_masks(Block& block);
// Scalar loads of arms (lift/arms.cpp) whose dwords are broadcast and nothing else become loads by
// the arm's lanes. False if there are none; eliminate_dead() removes what is then not needed.
bool broadcast_by_lanes(Block& block);
// By value: its instruction has an effect, and not one that is not wanted, or its result is used.
std::vector<uint8_t> needed(const Block& block,
                            const std::function<bool(const Inst&)>& unwanted = {});
// Removes the others; compacts the block.
void eliminate_dead(Block& block, const std::function<bool(const Inst&)>& unwanted = {});

}  // namespace wj::ir
