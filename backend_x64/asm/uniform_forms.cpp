// Scalar operations in fewer instructions than one or two for each.
#include <algorithm>
#include <utility>

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
namespace x86 = asmjit::x86;

// Sets the flags; returns the condition under which the compare holds.
x86::CondCode BlockCompiler::compare(Value v) {
    const auto& a = inst(v).args;
    const bool swapped = is_const(a[0]);
    const Value left = a[swapped], right = a[!swapped];
    const Operand y = uop(right);
    const Operand x = y.isImm() && !is_const(left) ? uop(left) : Operand(ureg(left));
    if (is_zero(right) && x.isReg())
        a_.emit(X::kIdTest, x, x);
    else
        a_.emit(X::kIdCmp, x, y);
    const x86::CondCode holds = condition_of(inst(v).op);
    return swapped ? x86::reverseCond(holds) : holds;
}

// Whether all who use the value are in this segment and can do with what it is made of, as `takes`
// says of each, and nothing up to there writes what it reads.
template <class F>
bool BlockCompiler::all_take(Value v, F takes) const {
    if (schedule_.uniform_home(v).kind != Home::None || block_->term.cond == v) return false;
    uint32_t uses = uniforms_[v].uses;
    const Value* const end = schedule_.end(position_);
    for (const Value* u = std::find(schedule_.begin(position_), end, v); uses && u != end; ++u) {
        const ir::Inst& i = inst(*u);
        const Class cls = ir::op_info(i.op).cls;
        if (cls == Class::SetS || cls == Class::Call || cls == Class::Cross || cls == Class::Fence)
            return false;
        const auto count = static_cast<uint32_t>(std::ranges::count(i.args, v));
        if (!count) continue;
        if (count > 1 || !takes(i)) return false;
        --uses;
    }
    return !uses;
}

// A compare whose result selections alone want, which repeat it.
bool BlockCompiler::is_for_selections(Value v) const {
    return all_take(v, [v](const ir::Inst& i) {
        return (i.op == Op::USelect32 || i.op == Op::USelect64) && i.args[0] == v;
    });
}

// A shift whose result sums alone want, which do it with an addressing mode.
bool BlockCompiler::is_for_sums(Value v) const {
    if (!scale_of(v) || is_const(inst(v).args[0])) return false;
    return all_take(v, [&](const ir::Inst& i) {
        if (i.op != (wide(v) ? Op::UAdd64 : Op::UAdd32)) return false;
        const Value other = i.args[i.args[0] == v];
        return !uniforms_[other].repeated && (!is_const(other) || is_displacement(other));
    });
}

// A constant that an address may have: cut to 32 bits if the sum is.
bool BlockCompiler::is_displacement(Value v) const {
    return is_const(v) && (!wide(v) || fits_imm32(inst(v).imm));
}

// Of a shift to the left by a few bits: as addresses have it; 0: it is none.
uint32_t BlockCompiler::scale_of(Value v) const {
    const ir::Inst& i = inst(v);
    if ((i.op != Op::UShl32 && i.op != Op::UShl64) || !is_const(i.args[1])) return 0;
    const uint64_t bits = inst(i.args[1]).imm & (wide(v) ? 63 : 31);
    return bits <= 3 ? static_cast<uint32_t>(bits) : 0;
}

// Whether that takes one instruction, where changing x would take two.
bool BlockCompiler::sums_as_address(Value x, Value y) const {
    if (uniforms_[x].repeated || uniforms_[y].repeated) return true;
    if (uniforms_[x].reg < 0 || may_change(x)) return false;
    return uniforms_[y].reg >= 0 || is_displacement(y);
}

// Of two values, as an address.
void BlockCompiler::address_sum(Value v, Value x, Value y) {
    const bool scaled_x = uniforms_[x].repeated, scaled = scaled_x || uniforms_[y].repeated;
    if (scaled_x) std::swap(x, y);
    const uint32_t shift = scaled ? scale_of(y) : 0;
    const Value index = scaled ? inst(y).args[0] : y;
    if (!scaled && is_displacement(y)) {
        const Gp base = ureg(x).r64();
        a_.lea(udef(v), x86::ptr(base, static_cast<int32_t>(inst(y).imm)));
        return;
    }
    const Gp at = ureg(index).r64();
    if (is_displacement(x)) {
        a_.lea(udef(v), x86::ptr(0, at, shift).cloneAdjusted(static_cast<int32_t>(inst(x).imm)));
        return;
    }
    const Gp base = ureg(x).r64();
    a_.lea(udef(v), x86::ptr(base, at, shift));
}

// An operation with a constant that has a shorter form.
bool BlockCompiler::short_binary(Value v, Value x, Value y) {
    const ir::Inst& i = inst(v);
    const bool w = wide(v);
    if ((i.op == Op::USub32 || i.op == Op::USub64) && is_zero(x)) {
        a_.neg(udef_from(v, y));
        return true;
    }
    if (!is_const(y)) return false;
    const uint64_t c = w ? inst(y).imm : static_cast<uint32_t>(inst(y).imm);
    if ((i.op == Op::UXor32 && c == 0xffffffff) || (i.op == Op::UXor64 && c == ~uint64_t{0})) {
        a_.not_(udef_from(v, x));
        return true;
    }
    if (i.op != Op::UAnd32 && i.op != Op::UAnd64) return false;
    const uint32_t bytes = c == 0xff ? 1 : c == 0xffff ? 2 : 0;
    if (!bytes || is_const(x)) return false;
    Operand from = uop(x);
    if (from.isMem())
        from.as<Mem>().setSize(bytes);
    else
        from = bytes == 1 ? Operand(from.as<Gp>().r8()) : Operand(from.as<Gp>().r16());
    a_.emit(X::kIdMovzx, udef(v).r32(), from);
    return true;
}

}  // namespace wj::x64
