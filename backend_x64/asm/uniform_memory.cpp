// Scalar loads, and what buffer accesses need of a V#.
#include <bit>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/asm/reach.h"
#include "ir/buffer.h"

namespace wj::x64 {

using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

void BlockCompiler::uniform_buffer_base(Value v) {
    const auto& a = inst(v).args;
    const Gp low = ureg(a[0]), high = ureg(a[1]), soffset = ureg(a[2]);
    const Gp d = udef(v), t = utmp(), bytes = utmp(), records = utmp();
    auto field = [](size_t offset, uint32_t size) {
        return x86::ptr(reg::wave, in_wave(offset), size);
    };
    const Label done = a_.newLabel();
    a_.mov(d, low);
    a_.shl(d, 64 - ir::buffer_words.stride.at);
    a_.shr(d, 64 - ir::buffer_words.stride.at);
    a_.mov(records, d);
    a_.mov(t.r32(), soffset);
    a_.add(d, t);
    a_.bt(low, ir::buffer_words.swizzle.shift_in_pair());
    a_.jnc(done);
    a_.mov(t, high);
    // Its index stride is the wave's size, and it adds lanes' numbers.
    constexpr machine::BufferField stride = ir::buffer_words.index_stride,
                                   add_tid = ir::buffer_words.add_tid;
    static_assert(add_tid.at == stride.at + stride.bits && add_tid.bits == 1);
    a_.shr(t, stride.shift_in_pair());
    a_.and_(t.r32(), stride.mask() | 1u << stride.bits);
    a_.cmp(t.r32(),
           static_cast<uint32_t>(std::countr_zero(block_->wave_size / 8)) | 1u << stride.bits);
    a_.jne(done);
    a_.mov(bytes.r32(), field(offsetof(Wave, scratch_bytes), 4));
    const int lanes_shift = std::countr_zero(block_->wave_size);
    a_.shl(bytes, lanes_shift);
    a_.sub(records, field(offsetof(Wave, scratch_base), 8));
    a_.cmp(records, bytes);
    a_.ja(done);
    a_.mov(t, d);
    a_.sub(t, field(offsetof(Wave, scratch_base), 8));
    if (block_->wave_size == 64)
        a_.test(t.r8(), t.r8());
    else
        a_.test(t.r8(), 4 * 32 - 1);
    a_.jnz(done);
    a_.shr(t, lanes_shift);
    a_.bts(t, 63);
    a_.mov(records.r32(), high.r32());
    a_.cmp(records, bytes);
    a_.cmovae(d, t);
    a_.bind(done);
}

void BlockCompiler::uniform_buffer_limit(Value v) {
    const auto& a = inst(v).args;
    const Gp low = ureg(a[0]), high = ureg(a[1]), soffset = ureg(a[2]);
    const Gp d = udef(v), t = utmp();
    constexpr uint32_t above = 64 - ir::buffer_limit_bits;
    a_.mov(d.r32(), high.r32());
    a_.mov(t.r32(), soffset);
    a_.sub(d, t);
    a_.shl(d, above);
    a_.shr(d, above);
    a_.mov(t, high);
    a_.shr(t, ir::buffer_last.shift_in_pair());
    a_.and_(t.r32(), ir::buffer_last.mask());
    a_.shl(t, ir::buffer_limit_bits);
    a_.or_(d, t);
    a_.mov(t, low);
    a_.shr(t, ir::buffer_words.stride.at);
    a_.shl(t, ir::buffer_stride_bit);
    a_.or_(d, t);
}

void BlockCompiler::uniform_load(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    const bool w = i.op == Op::ULoad64;
    Gp base = ureg(a[0]);
    auto offset = static_cast<int64_t>(i.imm);
    if (is_checked(options_.address_mode)) {
        if (uniforms_[a[0]].reg == 0) {  // the stub takes rax
            const Gp t = utmp();
            a_.mov(t, base);
            base = t;
        }
        take_fixed(0);
        if (fits_imm32(static_cast<uint64_t>(offset))) {
            a_.lea(x86::rax, x86::ptr(base, static_cast<int32_t>(offset)));
        } else {
            a_.mov(x86::rax, offset);
            a_.add(x86::rax, base);
        }
        a_.call(x86::qword_ptr(reg::frame, in_frame(w ? offsetof(Frame, uload64_stub)
                                                      : offsetof(Frame, uload32_stub))));
        const Gp d = udef(v);
        a_.mov(gp(static_cast<int>(d.id()), w), gp(0, w));
        return;
    }
    const bool masked = is_masked(options_.address_mode),
               far = !fits_imm32(static_cast<uint64_t>(offset));
    if (masked || far) {
        const Gp t = utmp();
        if (far) {
            a_.mov(t, offset);
            a_.add(t, base);
        } else {
            a_.lea(t, x86::ptr(base, static_cast<int32_t>(offset)));
        }
        if (masked) emit_reach(a_, t);
        base = t;
        offset = 0;
    }
    const Gp d = udef(v);
    a_.mov(d, x86::ptr(base, static_cast<int32_t>(offset)));
}

}  // namespace wj::x64
