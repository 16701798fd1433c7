// How a block ends: jumps to others, and exits.
#include "backend_x64/asm/access_code.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using ir::Op;
using ir::Terminator;
using machine::Wave;
namespace x86 = asmjit::x86;

void BlockCompiler::leave(uint32_t reason) {
    a_.mov(x86::eax, reason);
    a_.jmp(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, leave_stub))));
}

void BlockCompiler::jump_variant(uint64_t target, Variant variant) {
    // The block itself is the most common target of all: loops.
    if (target == block_->pc && variant == variant_for(block_->exec_full)) {
        a_.jmp(entry_label_);
        return;
    }
    jump_linked(target, variant);
}

void BlockCompiler::jump_linked(uint64_t target, Variant variant) {
    const uint64_t empty = 0;
    const uint32_t slot = pool_bytes(&empty, 8, 8);
    a_.jmp(x86::qword_ptr(pool_label_, static_cast<int32_t>(slot)));
    const Label unlinked = a_.newLabel();
    cold(unlinked, [this, slot, target, variant] {
        LinkSite site;
        site.cold_offset = static_cast<uint32_t>(a_.offset());
        a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, link_stub))));
        site.return_offset = static_cast<uint32_t>(a_.offset());
        site.slot_offset = slot;
        site.target = target;
        site.variant = variant;
        out_->links.push_back(site);
    });
}

// no_lanes: EXEC is 0.
void BlockCompiler::jump_to(uint64_t target, bool no_lanes) {
    if (block_->mode_changed) {
        a_.mov(x86::rax, pool_code_address(target));
        a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, pc))), x86::rax);
        leave(static_cast<uint32_t>(Leave::Lookup));
        return;
    }
    if (block_->exec_full && !block_->exec_changed) {
        jump_variant(target, Variant::Full);
        return;
    }
    if (!block_->exec_changed) {  // entered with some lanes off, and still so
        jump_variant(target, Variant::Partial);
        return;
    }
    const Value exec = last_exec(*block_);
    const bool known = exec != no_value && is_const(exec);
    if (known || no_lanes) {
        const bool full = known && inst(exec).imm == machine::first_lanes(options_.whole_lanes);
        jump_variant(target, full ? Variant::Full : Variant::Partial);
        return;
    }
    if (options_.whole_lanes >= block_->wave_size) {
        a_.cmp(exec_field(*block_), -1);
    } else {
        a_.mov(x86::rax, x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, whole_exec))));
        a_.cmp(exec_field(*block_), mask_register(*block_, x86::rax));
    }
    const Label some = a_.newLabel();
    a_.jne(some);
    jump_variant(target, Variant::Full);
    a_.bind(some);
    jump_variant(target, Variant::Partial);
}

void BlockCompiler::terminator() {
    const Terminator& t = block_->term;
    if (!block_->guest_pcs.empty()) mark_guest(static_cast<uint32_t>(block_->guest_pcs.size() - 1));
    AcrossCode(*this).forget_kept();
    write_sum_rows();
    note_row_shapes();
    switch (t.kind) {
        case Terminator::Kind::Jump:
            ufree_all();
            jump_to(t.target);
            break;
        case Terminator::Kind::Branch: {
            const ir::Inst& c = inst(t.cond);
            x86::CondCode not_taken = x86::CondCode::kZ;
            bool compared = false;
            // The flags of the compare are gone when its result was stored as SCC: compare again if
            // its operands are at hand.
            if (c.op >= Op::UCmpEq32 && c.op <= Op::UCmpLtU64 &&
                schedule_.position(t.cond) == position_) {
                Mem m;
                auto at_hand = [&](Value v) {
                    return is_const(v) || uniforms_[v].reg >= 0 || umem(v, m);
                };
                if (at_hand(c.args[0]) && at_hand(c.args[1])) {
                    not_taken = x86::negateCond(compare(t.cond));
                    compared = true;
                }
            }
            if (!compared) {
                const Gp r = ureg(t.cond);
                a_.test(r, r);
            }
            ufree_all();
            const Label next = a_.newLabel();
            a_.j(not_taken, next);
            const bool about_exec = (c.op == Op::UCmpEq64 || c.op == Op::UCmpNe64) &&
                                    c.args[0] == last_exec(*block_) && is_zero(c.args[1]);
            jump_to(t.target, about_exec && c.op == Op::UCmpEq64);
            a_.bind(next);
            jump_to(t.next, about_exec && c.op == Op::UCmpNe64);
            break;
        }
        case Terminator::Kind::Indirect: {
            const Gp r = ureg(t.cond);
            a_.mov(x86::rax, r);
            ufree_all();
            if (block_->mode_changed) {
                a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, pc))), x86::rax);
                leave(static_cast<uint32_t>(Leave::Lookup));
            } else {
                a_.jmp(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, indirect_stub))));
            }
            break;
        }
        case Terminator::Kind::Called:
            ufree_all();
            leave(static_cast<uint32_t>(Leave::Lookup));
            break;
        case Terminator::Kind::Exit: {
            ufree_all();
            if (runs_again(context())) run_again();
            a_.mov(x86::rax, pool_code_address(t.next));
            a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, pc))), x86::rax);
            if (t.exit == machine::ExitKind::Barrier || t.exit == machine::ExitKind::EndProgram) {
                a_.mov(x86::eax, static_cast<uint32_t>(t.exit));
                a_.jmp(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, turn_stub))));
                break;
            }
            if (t.exit != machine::ExitKind::Yield) {
                const uint64_t at =
                    block_->guest_pcs.empty() ? block_->pc : block_->guest_pcs.back();
                a_.mov(x86::rax, pool_code_address(at));
                a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                         offsetof(machine::ExitInfo, pc))),
                       x86::rax);
                const auto reason = reinterpret_cast<uint64_t>(t.reason);
                const uint32_t slot = pool_bytes(&reason, 8, 8);
                relocate(slot, Relocation::Kind::Host, reason);
                a_.mov(x86::rax, x86::qword_ptr(pool_label_, static_cast<int32_t>(slot)));
                a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                         offsetof(machine::ExitInfo, reason))),
                       x86::rax);
                a_.mov(x86::dword_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                         offsetof(machine::ExitInfo, detail))),
                       t.detail);
                if (t.exit == machine::ExitKind::MemoryFault) {  // code that cannot be fetched
                    a_.mov(x86::byte_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                            offsetof(machine::ExitInfo, access))),
                           static_cast<uint32_t>(machine::Access::Execute));
                    a_.mov(x86::rax, pool_code_address(at));
                    a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                             offsetof(machine::ExitInfo, address))),
                           x86::rax);
                }
            }
            a_.mov(x86::byte_ptr(reg::wave,
                                 in_wave(offsetof(Wave, exit) + offsetof(machine::ExitInfo, kind))),
                   static_cast<uint32_t>(t.exit));
            leave(static_cast<uint32_t>(t.exit));
            break;
        }
    }
}

}  // namespace wj::x64
