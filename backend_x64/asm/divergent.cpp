// Loops that run while lanes are left: each chunk runs its iterations until it has no lanes, with
// its rows in vector registers. Scalar registers that iterations change start from the same values
// in every chunk; those of the chunk that ran longest are kept. The budget is charged for the
// longest chunk, and ends all of them in the same iteration.
#include <algorithm>
#include <limits>

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

bool BlockCompiler::divergent_suits() const {
    if (schedule_.segments() != 3 || schedule_.begin(1) == schedule_.end(1)) return false;
    // The helpers of checked loads keep no vector registers.
    if (options_.checked && divergent_->uniform_varies) return false;
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const ir::Inst& i = inst(v);
        const Class cls = ir::op_info(i.op).cls;
        if (i.op == Op::BitsOf &&
            (schedule_.is_full(i.args[0]) ||
             schedule_.unit_home(schedule_.unit(i.args[0])).kind != Home::Slot))
            return false;
        // What the lanes do not decide must be known in front of the region.
        if (cls == Class::ULoad && schedule_.position(v) != 0) return false;
        if (cls == Class::SetS && schedule_.position(v) != 0 && !divergent_->late[v]) return false;
    }
    return std::all_of(divergent_->carried.begin(), divergent_->carried.end(), [&](const auto& m) {
        return schedule_.uniform_home(m.get).kind == Home::Wave;
    });
}

// Masks are written to their homes, or to the registers that are pinned for them, when the
// iteration is over: until then those hold the ones that the iteration started with.
void BlockCompiler::divergent_store_masks() {
    for (const MaskPin& p : loop_.masks) {
        if (avx512_)
            a_.kmovw(x86::k(static_cast<uint32_t>(p.reg)), use_k(p.next));
        else
            mov(vec(p.reg), use(p.next));
        vec_locked_ = k_locked_ = 0;
    }
    for (Unit u : divergent_masks_) {
        if (std::any_of(loop_.masks.begin(), loop_.masks.end(),
                        [&](const MaskPin& p) { return p.next == u; }))
            continue;
        const Mem mem = mask_mem(schedule_.unit_home(u));
        if (avx512_) {
            a_.kmovw(mem, use_k(u));
        } else {
            a_.vmovmskps(x86::eax, use(u).ymm());
            a_.mov(mem, x86::al);
        }
        vec_locked_ = k_locked_ = 0;
    }
}

void BlockCompiler::divergent_block() {
    collectors_.clear();
    facts_limit_ = 3;
    const DivergentLoop& d = *divergent_;
    mark(schedule_.begin(1)[0]);
    divergent_masks_.clear();
    for (const ir::Inst& i : block_->insts) {
        if (i.op != Op::BitsOf) continue;
        const Unit u = schedule_.unit(i.args[0]);
        if (std::find(divergent_masks_.begin(), divergent_masks_.end(), u) ==
            divergent_masks_.end())
            divergent_masks_.push_back(u);
    }
    const Gp left = x86::r15;  // of the budget
    const Mem budget = x86::qword_ptr(reg::wave, offsetof(Wave, budget));

    // Scalar registers that iterations change: the values before the loop, and those of the chunk
    // that ran longest.
    std::vector<int32_t> changed;
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const ir::Inst& i = inst(v);
        if (ir::op_info(i.op).cls != Class::SetS || schedule_.position(v) != 0) continue;
        const auto field = static_cast<int32_t>(
            i.op == Op::SetScc ? offsetof(Wave, scc) : offsetof(Wave, sgpr) + i.imm * 4);
        changed.push_back(field);
        if (i.op == Op::SetS64) changed.push_back(field + 4);
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    auto slot = [&](uint32_t at) { return home_mem({Home::Slot, at}); };
    const uint32_t least = extra_slots_, start = least + 1,
                   longest = start + static_cast<uint32_t>(changed.size());
    extra_slots_ = longest + static_cast<uint32_t>(changed.size());
    if (extra_slots_ > slot_count) {
        failed_ = true;
        return;
    }
    auto copy_scalars = [&](uint32_t slots, bool save) {
        for (uint32_t i = 0; i < changed.size(); ++i) {
            const Mem wave = x86::ptr(reg::wave, changed[i]);
            a_.mov(x86::eax, save ? wave : slot(slots + i));
            a_.mov(save ? slot(slots + i) : wave, x86::eax);
        }
    };
    copy_scalars(start, true);
    a_.mov(x86::rax, std::numeric_limits<int64_t>::max());
    a_.mov(slot(least), x86::rax);
    for (const DivergentLoop::Mask& m : d.carried) {
        a_.mov(x86::rax, home_mem(schedule_.uniform_home(m.get)));
        a_.mov(home_mem(schedule_.unit_home(schedule_.unit(m.mask))), x86::rax);
    }
    if (!d.uniform_varies) segment(0);
    loop_pin();
    a_.mov(reg::chunk, -256);
    a_.mov(reg::bits, -8);

    const Label chunk = a_.newLabel(), iteration = a_.newLabel(), done = a_.newLabel();
    a_.bind(chunk);
    a_.mov(left, budget);
    position_ = 1;
    units_.assign(schedule_.unit_count(), {});
    for (const Pin& p : loop_.carried)
        movu(vec(p.reg), row(static_cast<uint32_t>(inst(p.set).imm)));
    for (const Pin& p : loop_.steady) load_vec(p.unit, p.reg);
    for (const MaskPin& p : loop_.masks) load_mask(p.unit, p.reg);

    a_.bind(iteration);
    if (d.uniform_varies) {
        gp_reserved_ = 1u << 5 | 1u << 14 | 1u << 15;
        position_ = 0;
        uniform_begin(0);
        for (const Value* v = schedule_.begin(0); v != schedule_.end(0); ++v) {
            mark(*v);
            uniform_op(*v);
            gp_locked_ = gp_temps_ = 0;
        }
        ufree_all(false);
        gp_reserved_ = 0;
    }
    loop_lean_ = true;
    loop_enter_body(true);
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    for (Unit u : divergent_masks_) state(u).next = count;
    region_body();
    divergent_store_masks();
    loop_lean_ = false;
    const Unit live = schedule_.unit(d.live);
    const auto pinned = std::find_if(loop_.masks.begin(), loop_.masks.end(),
                                     [&](const MaskPin& p) { return p.next == live; });
    if (pinned != loop_.masks.end() && avx512_) {
        const KReg k = x86::k(static_cast<uint32_t>(pinned->reg));
        a_.kortestw(k, k);
    } else if (pinned != loop_.masks.end()) {
        a_.emit(X::kIdVptest, vec(pinned->reg), vec(pinned->reg));
    } else {
        Mem going_on = mask_mem(schedule_.unit_home(live));
        going_on.setSize(avx512_ ? 2 : 1);
        a_.cmp(going_on, 0);
    }
    a_.je(done);
    a_.sub(left, block_->guest_count);
    a_.jns(iteration);

    a_.bind(done);
    for (const MaskPin& p : loop_.masks) {
        const Mem home = mask_mem(schedule_.unit_home(p.next));
        if (avx512_) {
            a_.kmovw(home, x86::k(static_cast<uint32_t>(p.reg)));
            continue;
        }
        a_.vmovmskps(x86::eax, vec(p.reg).ymm());
        a_.mov(home, x86::al);
    }
    for (const Pin& p : loop_.carried)
        movu(row(static_cast<uint32_t>(inst(p.set).imm)), vec(p.reg));
    const Label kept = a_.newLabel(), next = a_.newLabel();
    a_.cmp(left, slot(least));
    a_.jge(kept);
    a_.mov(slot(least), left);
    copy_scalars(longest, true);
    if (!d.fading.empty()) {  // the chunks so far ended before this one
        a_.lea(x86::ecx, x86::ptr(reg::bits, 8));
        a_.shl(x86::ecx, 3);
        a_.mov(x86::eax, -1);
        a_.shlx(x86::rax, x86::rax, x86::rcx);
        for (Value v : d.fading)
            a_.and_(home_mem(schedule_.unit_home(schedule_.unit(v))), x86::rax);
    }
    a_.bind(kept);
    if (!d.fading.empty()) {
        a_.cmp(left, slot(least));
        a_.je(next);
        for (Value v : d.fading) {
            Mem mem = mask_mem(schedule_.unit_home(schedule_.unit(v)));
            mem.setSize(avx512_ ? 2 : 1);
            a_.mov(mem, 0);
        }
        a_.bind(next);
    }
    if (!changed.empty()) copy_scalars(start, false);
    a_.add(reg::bits, avx512_ ? 2 : 1);
    a_.add(reg::chunk, width());
    a_.jnz(chunk);

    a_.mov(x86::rax, slot(least));
    a_.mov(budget, x86::rax);
    copy_scalars(longest, false);
    segment(2);
    ufree_all(false);
    const Label leave_loop = a_.newLabel();
    Mem exec = x86::qword_ptr(reg::wave, offsetof(Wave, sgpr) + machine::exec_lo * 4);
    a_.cmp(exec, 0);
    a_.je(leave_loop);
    a_.jmp(over_label_);  // the next iteration is charged and has not run
    a_.bind(leave_loop);
    jump_to(d.exit);
}

}  // namespace wj::x64
