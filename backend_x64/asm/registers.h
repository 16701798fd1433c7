// Registers and memory with a fixed meaning in translated code.
#pragma once

#include <asmjit/x86.h>

#include "backend_x64/frame.h"
#include "ir/ir.h"
#include "machine/wave.h"

namespace wj::x64 {

using asmjit::Label;
using asmjit::Operand;
using asmjit::x86::Gp;
using asmjit::x86::KReg;
using asmjit::x86::Mem;
using asmjit::x86::Vec;
using InstId = asmjit::InstId;
namespace X = asmjit::x86::Inst;

// Registers with a fixed meaning in translated code. The others are free inside a segment.
namespace reg {
inline const Gp wave = asmjit::x86::rbx;  // wave + wave_bias
inline const Gp rows = asmjit::x86::r12;  // wave.vgpr + row_bias
inline const Gp frame = asmjit::x86::r13;
inline const Gp chunk = asmjit::x86::rbp;  // byte offset of the chunk in a row, minus 256
inline const Gp bits = asmjit::x86::r14;   // byte offset of the chunk in a lane mask, minus 8
inline const Gp arows = asmjit::x86::r15;  // wave.agpr in regions that use it
}  // namespace reg
// Those that lane operations leave alone: masks that a region collects come first, then pointers;
// what accesses know of shared addresses takes pairs of the last ones.
inline const Gp region_registers[] = {asmjit::x86::r11, asmjit::x86::r10, asmjit::x86::r9,
                                      asmjit::x86::r8,  asmjit::x86::rdi, asmjit::x86::rsi};
// What reg::chunk holds while lanes run one by one, their number aside: nothing that it holds in a
// region.
inline constexpr int32_t lane_bias = -512;
// Bytes: what lanes that go along rows will read and write (RowStubs).
inline constexpr int32_t rows_fetched_ahead = 128, rows_stored_ahead = 256;
// Rows 0..62 are then within a scaled 8-bit displacement.
inline constexpr int32_t row_bias = 8192;

// In reach of one byte are then what blocks look at most and the first 32 scalar registers.
inline constexpr int32_t wave_bias = offsetof(machine::Wave, sgpr);
inline constexpr int32_t in_wave(size_t offset) {
    return static_cast<int32_t>(offset) - wave_bias;
}

inline Mem scalar_field(uint64_t sgpr, uint32_t bytes) {
    return asmjit::x86::ptr(reg::wave, in_wave(offsetof(machine::Wave, sgpr) + sgpr * 4), bytes);
}

inline Mem exec_field(const ir::Block& block) {
    return scalar_field(machine::exec_lo, block.wave_size / 8);
}
// As wide as the block's lane masks in the wave; the rest becomes 0 when they are loaded.
inline Gp mask_register(const ir::Block& block, const Gp& r) {
    return block.wave_size == machine::lanes ? Gp(r.r64()) : Gp(r.r32());
}

inline Mem budget_field() {
    return asmjit::x86::qword_ptr(reg::wave, in_wave(offsetof(machine::Wave, budget)));
}

inline Mem gathered_field(size_t offset, uint32_t bytes) {
    return asmjit::x86::ptr(reg::frame, in_frame(offsetof(Frame, gathered) + offset), bytes);
}

inline bool fits_imm32(uint64_t v) {
    return static_cast<int64_t>(v) == static_cast<int32_t>(v);
}

// After a cmp of its operands: the condition under which the uniform compare holds.
inline asmjit::x86::CondCode condition_of(ir::Op compare) {
    using enum asmjit::x86::CondCode;
    static constexpr asmjit::x86::CondCode conditions[] = {kE, kNE, kB, kBE, kL, kLE, kE, kNE, kB};
    return conditions[static_cast<int>(compare) - static_cast<int>(ir::Op::UCmpEq32)];
}

}  // namespace wj::x64
