// Uniform operations, in general registers (uniform_registers.cpp).
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"
#include "machine/coverage.h"

namespace wj::x64 {

using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

struct Binary {
    Op op;
    InstId id;
};
constexpr Binary binaries[] = {
    {Op::UAdd32, X::kIdAdd}, {Op::USub32, X::kIdSub}, {Op::UAnd32, X::kIdAnd},
    {Op::UOr32, X::kIdOr},   {Op::UXor32, X::kIdXor}, {Op::UAdd64, X::kIdAdd},
    {Op::USub64, X::kIdSub}, {Op::UAnd64, X::kIdAnd}, {Op::UOr64, X::kIdOr},
    {Op::UXor64, X::kIdXor},
};

x86::Mem scratch_base() {
    return x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, scratch_base)));
}

}  // namespace

void BlockCompiler::uniform_op(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    auto finish = [&] {
        operands_done(v);
        if (ir::op_info(i.op).result == ir::Type::N) return;
        udone(v);
        if (!uniforms_[v].uses) ufree(v);
    };
    auto unary = [&](InstId id) {
        const Operand x = uop(a[0]);
        const Gp s = x.isImm() ? ureg(a[0]) : Gp();
        const Operand source = x.isImm() ? Operand(s) : x;
        const Gp d = udef(v);
        // popcnt, tzcnt and lzcnt write the width of their source.
        a_.emit(id, gp(static_cast<int>(d.id()), wide(a[0])), source);
    };
    for (const Binary& b : binaries) {
        if (b.op != i.op) continue;
        const bool commutes = b.id != X::kIdSub,
                   swapped = commutes && (is_const(a[0]) || (!may_change(a[0]) && !is_const(a[1]) &&
                                                             may_change(a[1])));
        const Value x = a[swapped], y = a[!swapped];
        if (short_binary(v, x, y)) return finish();
        if (b.id == X::kIdAdd && sums_as_address(x, y)) {
            address_sum(v, x, y);
            return finish();
        }
        const Operand right = uop(y);
        const Gp d = udef_from(v, x);
        a_.emit(b.id, d, right);
        return finish();
    }
    switch (i.op) {
        case Op::Const32:
        case Op::Const64: {
            const Mem m = home_mem(schedule_.uniform_home(v));
            const Gp t = utmp();
            load_constant(gp(static_cast<int>(t.id()), wide(v)), i.imm);
            a_.mov(m, t);
            uniforms_[v].stored = true;
            return;
        }
        case Op::RowLane:
            a_.mov(udef(v), row_at(static_cast<uint32_t>(i.imm), i.aux));
            return finish();
        case Op::WavesAhead:
            if (goes_on_)
                a_.mov(udef(v), x86::dword_ptr(reg::frame, in_frame(offsetof(Frame, waves_ahead))));
            else
                a_.mov(udef(v), 0);
            return finish();
        case Op::GoesOn:  // go_on()
        case Op::GuardRow:
        case Op::GuardOff:
        case Op::GuardScalar:
        case Op::GuardLds:  // tested by row_guards()
            return;
        case Op::Guard: {
            if (!uniforms_[a[0]].uses) return;  // tested with the compare
            const Gp r = ureg(a[0]);
            a_.test(r, r);
            a_.jz(goes_on_ ? fewer_label_ : unguarded_label_);
            return finish();
        }
        case Op::ULowBits: {
            const Gp n = ureg(a[0]), d = udef(v), t = utmp();
            a_.mov(t, -1);
            a_.bzhi(d, t, gp(static_cast<int>(n.id()), true));
            return finish();
        }
        case Op::ScratchBase:
        case Op::CodeAddress:
            a_.mov(udef(v), i.op == Op::CodeAddress ? pool_code_address(i.imm) : scratch_base());
            return finish();
        case Op::GetS32:
        case Op::GetS64:
        case Op::GetScc: {  // copied because the register changes later
            const Gp d = udef(v);
            const auto offset =
                i.op == Op::GetScc ? offsetof(Wave, scc) : offsetof(Wave, sgpr) + i.imm * 4;
            a_.mov(d, x86::ptr(reg::wave, in_wave(offset)));
            return finish();
        }
        case Op::GetMask32:
            a_.mov(udef(v).r32(), scalar_field(i.imm, 4));
            return finish();
        case Op::SetMask32: {
            const Operand x = uop(a[0]);
            const Mem at = scalar_field(i.imm, 4);
            if (x.isImm())
                a_.mov(at, x.as<asmjit::Imm>());
            else
                a_.mov(at, ureg(a[0]).r32());
            return finish();
        }
        case Op::SetS32:
        case Op::SetS64:
        case Op::SetScc: {
            const auto offset = static_cast<uint32_t>(
                i.op == Op::SetScc ? offsetof(Wave, scc) : offsetof(Wave, sgpr) + i.imm * 4);
            Mem m = x86::ptr(reg::wave, in_wave(offset));
            const Operand x = uop(a[0]);
            m.setSize(wide(a[0]) ? 8 : 4);
            a_.emit(X::kIdMov, m, x.isMem() ? Operand(ureg(a[0])) : x);
            if (i.op != Op::SetScc && schedule_.fills_home(v)) uniforms_[a[0]].stored = true;
            if (v == loop_.pins.scalar_set) {
                if (gp_owner_[14] != no_value && gp_owner_[14] != a[0]) evict_gp(14);
                const Gp r = ureg(a[0]);
                if (r.id() != 14) a_.mov(x86::r14d, r);
                loop_.scalar_done = true;
            }
            return finish();
        }
        case Op::BitsOf: {
            if (schedule_.is_full(a[0])) {
                load_constant(udef(v), block_->whole_exec());
            } else if (const ir::Inst& m = inst(a[0]); m.op == Op::MaskOf) {
                // Of 32 lanes, whatever stands above them.
                const auto part = [this](const Gp& r) { return mask_register(*block_, r); };
                if (Mem at; umem(m.args[0], at)) {
                    a_.mov(part(udef(v)), at);
                } else {
                    const Gp s = ureg(m.args[0]);
                    a_.mov(part(udef(v)), part(s));
                }
            } else {
                a_.mov(udef(v), home_mem(schedule_.unit_home(schedule_.unit(a[0]))));
            }
            return finish();
        }
        case Op::UMul32: {
            if (is_const(a[1])) {
                const Operand x = uop(a[0]);
                const Operand s = x.isImm() ? Operand(ureg(a[0])) : x;
                a_.emit(X::kIdImul, udef(v), s, asmjit::Imm(static_cast<int32_t>(inst(a[1]).imm)));
            } else {
                const Operand y = uop(a[1]);
                a_.emit(X::kIdImul, udef_from(v, a[0]), y);
            }
            return finish();
        }
        case Op::UMulHiU32:
        case Op::UMulHiS32:
        case Op::UMulWideU32: {
            const bool is_signed = i.op == Op::UMulHiS32;
            const Gp x = ureg(a[0]), y = ureg(a[1]);
            const Gp t = utmp();
            const Gp d = gp(static_cast<int>(udef(v).id()), true);
            if (is_signed) {
                a_.movsxd(d, x);
                a_.movsxd(t, y);
            } else {
                a_.mov(d.r32(), x);
                a_.mov(t.r32(), y);
            }
            a_.imul(d, t);
            if (i.op != Op::UMulWideU32) a_.shr(d, 32);
            return finish();
        }
        case Op::UShl32:
        case Op::UShr32:
        case Op::USar32:
        case Op::UShl64:
        case Op::UShr64:
        case Op::USar64: {
            const bool w = i.op >= Op::UShl64;
            const int kind = i.op == Op::UShl32 || i.op == Op::UShl64   ? 0
                             : i.op == Op::UShr32 || i.op == Op::UShr64 ? 1
                                                                        : 2;
            if (is_for_sums(v)) {
                uniforms_[v].repeated = true;
                return;  // its operand keeps its register
            }
            static constexpr InstId by_imm[] = {X::kIdShl, X::kIdShr, X::kIdSar},
                                    by_reg[] = {X::kIdShlx, X::kIdShrx, X::kIdSarx};
            if (is_const(a[1])) {
                const Gp d = udef_from(v, a[0]);
                const auto n = static_cast<uint32_t>(inst(a[1]).imm & (w ? 63 : 31));
                if (n) a_.emit(by_imm[kind], d, asmjit::Imm(n));
            } else {
                const Gp n = ureg(a[1]), x = ureg(a[0]);
                a_.emit(by_reg[kind], udef(v), x, gp(static_cast<int>(n.id()), w));
            }
            return finish();
        }
        case Op::UMinU32:
        case Op::UMaxU32:
        case Op::UMinS32:
        case Op::UMaxS32: {
            const Gp y = ureg(a[1]);
            const Gp d = udef_from(v, a[0]);
            a_.cmp(y, d);
            static constexpr InstId moves[] = {X::kIdCmovb, X::kIdCmova, X::kIdCmovl, X::kIdCmovg};
            a_.emit(moves[static_cast<int>(i.op) - static_cast<int>(Op::UMinU32)], d, y);
            return finish();
        }
        case Op::UPopcnt32:
        case Op::UPopcnt64:
            unary(X::kIdPopcnt);
            return finish();
        case Op::UCtz32:
        case Op::UCtz64:
            unary(X::kIdTzcnt);
            return finish();
        case Op::UClz32:
        case Op::UClz64:
            unary(X::kIdLzcnt);
            return finish();
        case Op::UBswap32:
            a_.bswap(udef_from(v, a[0]));
            return finish();
        case Op::URcp32: {
            // No vector register is free here for certain.
            const Mem saved = x86::ptr(reg::frame, in_frame(offsetof(Frame, saved_vectors))),
                      divisor =
                          x86::dword_ptr(reg::frame, in_frame(offsetof(Frame, saved_vectors) + 64));
            const x86::Xmm x = x86::xmm0;
            const Gp from = ureg(a[0]), most = utmp().r64();
            const Gp d = gp(static_cast<int>(udef(v).id()), true);
            movu(saved, vec(0));
            a_.mov(most.r32(), from);
            a_.vcvtsi2ss(x, x, most);
            a_.vmovss(divisor, x);
            a_.vmovss(x, pool32(0x3f800000));
            a_.vdivss(x, x, divisor);
            a_.vmulss(x, x, pool32(static_cast<uint32_t>(i.imm)));
            a_.vcvttss2si(d, x);
            movu(vec(0), saved);
            a_.mov(most.r32(), ~0u);
            a_.cmp(d, most);
            a_.cmova(d, most);
            return finish();
        }
        case Op::UBrev32: {
            const Gp t = utmp().r32();
            const Gp d = udef_from(v, a[0]);
            a_.bswap(d);
            static constexpr struct {
                uint32_t mask;
                uint8_t shift;
            } steps[] = {{0x0f0f0f0f, 4}, {0x33333333, 2}, {0x55555555, 1}};
            for (auto [mask, shift] : steps) {
                a_.mov(t, d);
                a_.shr(t, shift);
                a_.and_(t, mask);
                a_.and_(d, mask);
                a_.shl(d, shift);
                a_.or_(d, t);
            }
            return finish();
        }
        case Op::USext8:
        case Op::USext16: {
            const Gp x = ureg(a[0]);
            const Gp d = udef(v);
            if (i.op == Op::USext8)
                a_.movsx(d, x.r8());
            else
                a_.movsx(d, x.r16());
            return finish();
        }
        case Op::USext32: {
            const Gp x = ureg(a[0]);
            a_.movsxd(udef(v), x);
            return finish();
        }
        case Op::UZext32: {  // what is in a register has been
            if (may_change(a[0])) {
                udef_from(v, a[0]);
                return finish();
            }
            const Operand x = uop(a[0]);
            a_.emit(X::kIdMov, udef(v).r32(), x);
            return finish();
        }
        case Op::UCmpEq32:
        case Op::UCmpNe32:
        case Op::UCmpLtU32:
        case Op::UCmpLeU32:
        case Op::UCmpLtS32:
        case Op::UCmpLeS32:
        case Op::UCmpEq64:
        case Op::UCmpNe64:
        case Op::UCmpLtU64: {
            const bool condition_only = block_->term.cond == v && uniforms_[v].uses == 2 &&
                                        position_ == schedule_.terminator_position() &&
                                        schedule_.uniform_home(v).kind == Home::None;
            if (condition_only)
                return;  // terminator() compares by itself; operands keep their registers
            // A guard may be tested as soon as it is known.
            const Value* const next =
                !block_->guarded
                    ? schedule_.end(position_)
                    : std::find_if(
                          schedule_.begin(position_), schedule_.end(position_),
                          [&](Value g) { return inst(g).op == Op::Guard && inst(g).args[0] == v; });
            if (next != schedule_.end(position_) && uniforms_[v].uses == 1 &&
                schedule_.uniform_home(v).kind == Home::None) {
                a_.j(x86::negateCond(compare(v)), goes_on_ ? fewer_label_ : unguarded_label_);
                uniforms_[v].uses = 0;
                return finish();
            }
            if (is_for_selections(v)) {
                uniforms_[v].repeated = true;
                return;  // its operands keep their registers
            }
            const x86::CondCode holds = compare(v);
            const Gp d = udef(v);  // leaves the flags
            a_.set(holds, d.r8());
            a_.movzx(d, d.r8());
            return finish();
        }
        case Op::USelect32:
        case Op::USelect64: {
            const bool repeats = uniforms_[a[0]].repeated;
            const Gp c = repeats ? Gp() : ureg(a[0]), yes = ureg(a[1]);
            const Gp d = udef_from(v, a[2]);
            x86::CondCode holds = x86::CondCode::kNZ;
            if (repeats)
                holds = compare(a[0]);
            else
                a_.test(c, c);
            a_.cmov(holds, d, yes);
            return finish();
        }
        case Op::UPack64: {
            const Gp lo = ureg(a[0]);
            const Gp d = gp(static_cast<int>(udef_from(v, a[1]).id()), true);
            a_.shl(d, 32);
            a_.or_(d, gp(static_cast<int>(lo.id()), true));
            return finish();
        }
        case Op::ULo:
        case Op::UHi: {
            const bool high = i.op == Op::UHi;
            const Home &home = schedule_.uniform_home(v), &whole = schedule_.uniform_home(a[0]);
            if (home.kind == Home::Slot && whole.kind == Home::Slot && home.index == whole.index) {
                uniforms_[v].stored = true;
                return finish();
            }
            Mem m;
            if (uniforms_[a[0]].reg < 0 && umem(a[0], m) && !(high && m.size() == 4)) {
                const Gp d = udef(v);
                a_.mov(d, m.cloneAdjusted(high ? 4 : 0));
            } else if (is_const(a[0])) {
                a_.mov(udef(v), static_cast<uint32_t>(inst(a[0]).imm >> (high ? 32 : 0)));
            } else {
                const Gp x = ureg(a[0]);
                const Gp d = udef(v);
                if (high) {
                    a_.mov(gp(static_cast<int>(d.id()), true), x);
                    a_.shr(gp(static_cast<int>(d.id()), true), 32);
                } else {
                    a_.mov(d, x.r32());
                }
            }
            return finish();
        }
        case Op::BufferBase:
            uniform_buffer_base(v);
            return finish();
        case Op::BufferLimit:
            uniform_buffer_limit(v);
            return finish();
        case Op::ULoad32:
        case Op::ULoad64:
            uniform_load(v);
            return finish();
        case Op::Fence:
            // As mfence, but for stores around the caches, of which there are none in front of one.
            if (i.imm == ir::stores_before_loads) a_.lock().or_(x86::dword_ptr(x86::rsp), 0);
            return finish();
        case Op::Cover: {  // one more, and what was 255 stays so
            const Gp at = ureg(a[0]), counters = utmp();
            a_.mov(counters, x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, ctx))));
            a_.mov(counters, x86::qword_ptr(counters, offsetof(machine::ExecContext, coverage)));
            a_.mov(counters, x86::qword_ptr(counters, offsetof(machine::Coverage, counters)));
            const Mem counter = x86::byte_ptr(counters, at.r64());
            a_.add(counter, 1);
            a_.sbb(counter, 0);
            return finish();
        }
        default:
            failed_ = true;
            return;
    }
}

void BlockCompiler::uniform_call(Value v) {
    ufree_all();
    const ir::Call& call = block_->calls[inst(v).imm];
    call.move ? indexed_move(call) : call_handler(call);
}

void BlockCompiler::call_handler(const ir::Call& call) {
    const CallRecord record{call.fn, call.arg, call.next_pc, call.pc};
    const uint32_t at = pool_bytes(&record, sizeof record, 8);
    using Kind = Relocation::Kind;
    relocate(at + offsetof(CallRecord, fn), Kind::Host, reinterpret_cast<uint64_t>(call.fn));
    relocate(at + offsetof(CallRecord, arg), Kind::Instruction, call.pc);
    relocate(at + offsetof(CallRecord, next_pc), Kind::Code, call.next_pc);
    relocate(at + offsetof(CallRecord, pc), Kind::Code, call.pc);
    a_.lea(x86::rsi, x86::ptr(pool_label_, static_cast<int32_t>(at)));
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, call_stub))));
}

}  // namespace wj::x64
