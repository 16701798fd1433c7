// Read-modify-write operations of lanes: the names, and what each one makes of the old value. Used
// by ir::evaluate and by the out-of-line path; the interpreter has a definition of its own.
// Source: CDNA ISA manual, pseudo-code of DS_* and FLAT_ATOMIC_*; SEED-ATOM-28 for inc and dec.
#pragma once

#include <cstdint>
#include <string_view>

namespace wj::ir {

enum class AtomicOp : uint8_t {
    Swap,
    CmpSwap,  // old == data2 ? data : old
    Add,
    Sub,
    RSub,  // data - old
    SMin,
    SMax,
    UMin,
    UMax,
    And,
    Or,
    Xor,
    Inc,    // old >= data ? 0 : old + 1
    Dec,    // old == 0 || old > data ? data : old - 1
    MskOr,  // (old & ~data) | data2
    Wrap,   // old >= data ? old - data : old + data2
    FAdd,   // rounded to nearest even
    FMin,   // common/atomic_float.h
    FMax,
    FCmpSwap,  // as floats: old == data2 ? data : old
    PkAddF16,
    PkAddBf16,
    count_
};

// Flushing of float denormals: in LDS it goes by MODE, in memory by the target; a flat access may
// end in either. The order of a sum. And forms that AMD's instructions do not have
// (ir/dword_atomic.h): they are done out of line.
enum AtomicFlags : uint8_t {
    flush_in_memory = 1,
    flush_out_memory = 2,
    flush_in_lds = 4,
    flush_out_lds = 8,
    data_first = 16,  // FAdd: of two NaNs that of the data is the sum
    half_words = 32,  // elements are the low halves of the operands' dwords, results zero-extended
    new_values = 64,  // the result is what has been stored
    prefer_numbers = 128,  // FMin, FMax: NaN loses (gf::atomic_extreme)
};

// Inst::aux: dwords of an element in bits 0..7, operation in 8..15, AtomicFlags in 16..23.
inline constexpr uint32_t make_atomic_aux(AtomicOp op, uint32_t dwords, uint32_t flags = 0) {
    return flags << 16 | uint32_t(op) << 8 | dwords;
}
inline AtomicOp aux_atomic(uint32_t aux) {
    return static_cast<AtomicOp>(aux >> 8 & 0xff);
}
inline uint8_t aux_atomic_flags(uint32_t aux) {
    return static_cast<uint8_t>(aux >> 16);
}

// Bytes of memory of an element.
inline constexpr uint32_t atomic_bytes(uint32_t dwords, uint8_t flags) {
    return flags & half_words ? 2 : dwords * 4;
}

std::string_view atomic_name(AtomicOp op);

// 2 when the operation takes data2 as well: args[4..] hold data, then data2, `dwords` values each.
inline constexpr uint32_t atomic_operands(AtomicOp op) {
    return op == AtomicOp::CmpSwap || op == AtomicOp::FCmpSwap || op == AtomicOp::MskOr ||
                   op == AtomicOp::Wrap
               ? 2
               : 1;
}

// Operations whose lanes may be done in any order, or merged into one, when no old value is asked
// for.
inline constexpr bool atomic_commutes(AtomicOp op) {
    return op == AtomicOp::Add || op == AtomicOp::Sub ||
           (op >= AtomicOp::SMin && op <= AtomicOp::Xor);
}

// Operations of dwords alone: packed sums, and what AMD has for dwords only.
inline constexpr bool atomic_of_dwords(AtomicOp op) {
    return op == AtomicOp::Wrap || op == AtomicOp::PkAddF16 || op == AtomicOp::PkAddBf16;
}

// The new value of an element of `dwords` dwords, or of a half. in_lds chooses between the flags.
uint64_t atomic_apply(AtomicOp op, uint32_t dwords, uint8_t flags, bool in_lds, uint64_t old,
                      uint64_t data, uint64_t data2);

}  // namespace wj::ir
