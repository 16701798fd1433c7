// What the source files of atomics share.
#pragma once

#include "backend_x64/asm/access_code.h"

namespace wj::x64 {

namespace atomic_loop {
namespace x86 = asmjit::x86;
// Registers of the loop.
inline const Gp lanes_left = x86::rcx, lane = x86::rdx, old_value = x86::rax;
inline const Gp offset = x86::rsi, data = x86::rdi, new_value = x86::r8, base = x86::r9,
                scratch = x86::r10;

inline Mem lane_dword(size_t field, uint32_t row = 0) {
    return x86::dword_ptr(reg::frame, lane, 2, in_frame(field + row * 64));
}
}  // namespace atomic_loop

struct BlockCompiler::LaneAtomic : LaneAccess {
    ir::AtomicOp op{};
    bool lds = false, returns = false;
    bool plain = false;     // no other thread sees the memory
    bool native = false;    // there is an inline path
    bool uniform = false;   // the data register is loaded once for all lanes
    bool constant = false;  // uniform, and data is `value`
    int64_t value = 0;
    bool flush_in = false, flush_out = false, data_first = false;
    uint32_t inputs = 1;  // registers in data[]
    Vec address;          // low dwords as they are in the exchange area, or the field's source
    const LaneField* field = nullptr;
    Mem elements;  // those of the field's source, if they are in memory
    Vec result[2];
    bool live[2] = {};
    std::vector<Gp> busy;  // registers of the loop that the region keeps something in
    KReg tk2;
    Label finish;

    Gp sized(const Gp& r) const { return bytes == 8 ? Gp(r.r64()) : Gp(r.r32()); }
    bool direct() const {  // x86 has the operation with a memory destination
        return !returns && is_direct(op);
    }
    // The lanes one after the other without a loop, their addresses taken from registers; wide
    // ones have the same upper half.
    bool unrolled = false;
    // The lanes are within 32 bits of one base.
    bool is_near_base() const {
        return unrolled ||
               (field && !field->is_signed && uint64_t{field->most} << field->up <= ~0u);
    }
    bool unrolls() const { return full && plain && uniform && dwords == 1 && direct(); }
};

}  // namespace wj::x64
