// Loops that run while lanes are left, lane by lane: what a lane does in an iteration, as scalar
// operations on registers that the host has. For lanes that each walk along memory of their own: 16
// streams at once are what no prefetcher follows, and gathers cost as much as scalar loads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend_x64/divergent_loop.h"
#include "ir/ir.h"

namespace wj::x64 {

struct LaneProgram {
    // Numbers in the order of general_count general and of vector_count vector registers that the
    // program may use.
    static constexpr uint32_t general_count = 9, vector_count = 16;
    struct Reg {
        int8_t number = -1;
        bool vector = false;
    };
    // Loaded when a lane begins; those of rows that iterations write are stored when it ends.
    struct Input {
        enum Kind : uint8_t {
            Row,          // 32 bits of row `low`
            RowPair,      // rows `low` and `high`, perhaps of a double
            High,         // row `low`, shifted up by 32 bits
            Uniform,      // a U32 or U64
            UniformHigh,  // a U32, shifted up
            UniformRow,   // a U32, and row `high` above it
        } kind;
        Reg reg;
        uint32_t low = 0, high = 0;
        ir::Value value = ir::no_value;
        bool stored = false;
    };
    struct Step {
        enum Do : uint8_t {
            Constant,
            Copy,  // also between the kinds of registers
            Add,
            Sub,
            And,
            Or,
            Xor,
            Mul,
            Shl,
            Shr,
            Sar,
            Sext,  // to 64 bits; 32-bit operations clear what is above
            Load,  // at a + (b << scale) + imm, or a + imm
            FAdd,
            FSub,
            FMul,
            FDiv,
            FFma,
            FSqrt,
            FromUnsigned,  // to a float, in a vector register
            FromSigned,
            FRcp,       // 1 / a, of floats
            FQuot,      // FQuot32
            FQuotient,  // what `guest` (FQuotFrexp32) makes of a, its reciprocal b and c
            MinUnsigned,
            MaxUnsigned,
            MinSigned,
            MaxSigned
        } what;
        bool wide = false;               // 64 bits: integers, or floats in vector registers
        ir::Value guest = ir::no_value;  // the value whose instruction it belongs to
        Reg to, a, b, c;                 // b: none, with `imm` instead
        int64_t imm = 0;
        uint32_t scale = 0;
        ir::Access access = ir::Access::Dwords;
    };
    std::vector<Input> inputs;
    std::vector<Step> first;  // done once, behind the inputs
    std::vector<Step> steps;
    std::vector<Reg> streams;  // inputs that are addresses of loads and move by few bytes
    // Registers that iterations hand on, from others.
    struct Move {
        Reg to, from;
        bool wide;
    };
    std::vector<Move> moves;
    // The lane goes on if the integer compare of `a` with `b` or, without b, `imm` says so: one of
    // 32 bits, or of 64 with `b`.
    ir::Op compare = ir::Op::CmpEq32;
    bool negated = false;
    Reg a, b;
    int64_t imm = 0;
    ir::Value compared = ir::no_value;
    // Where a lane's number of iterations is known as it begins: the input `counter` goes up by one
    // in each of them, and the lane goes on while it is less than the input `bound`, which serves
    // nothing else, or not equal to it.
    struct Count {
        enum Until : uint8_t { Above, AboveSigned, Equal } until;
        uint32_t counter, bound;  // in `inputs`
    };
    std::optional<Count> count;
    static bool is_wide_compare(ir::Op op) {
        return op >= ir::Op::CmpEq64 && op <= ir::Op::CmpLeS64;
    }
    // Lanes walk along memory of their own unless neighbours' values of this row are equal, or
    // `step` apart, which is how far it moves in an iteration.
    uint32_t stream_row = 0, stream_step = 0;
};

// None: the loop does something else, no lane walks, or the registers are too few.
std::optional<LaneProgram> find_lane_program(const ir::Block& block, const DivergentLoop& loop);

}  // namespace wj::x64
