// A block that branches to itself on a uniform condition runs chunk by chunk: all iterations for
// one chunk, then the next chunk, so that what iterations hand to each other stays in vector
// registers. The uniform code runs once per chunk and iteration from the same start, hence does the
// same each time.
//
// Per chunk: an iteration's uniform code decides first whether another iteration follows. If so a
// lean body runs, which leaves out writes of registers that the loop itself does not read; the last
// iteration runs the full body.
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Class;
using ir::Op;
using ir::Terminator;
using machine::Wave;
namespace x86 = asmjit::x86;

// The registers as the body finds them.
void BlockCompiler::loop_enter_body(bool lean) {
    position_ = 1;
    units_.assign(schedule_.unit_count(), {});
    empty_registers();
    spills_used_ = loop_.spills;
    facts_.clear();
    loop_.merged.clear();
    pinned_ = k_pinned_ = 0;
    loop_prefer_.clear();
    if (lean) loop_prefer_.assign(schedule_.unit_count(), -1);
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    for (const Pin& p : loop_.carried) {
        if (lean || p.chunk > loop_chunk_) pinned_ |= 1u << p.reg;
        if (p.unit == no_unit || p.chunk != loop_chunk_) continue;
        UnitState& s = state(p.unit);
        s.reg = static_cast<int8_t>(p.reg);
        const bool merges = !lean && p.merges;
        if (merges) movu(row(static_cast<uint32_t>(inst(p.set).imm)), vec(p.reg));
        s.detached = !merges;  // memory holds what the chunk started with
        vec_owner_[p.reg] = p.unit;
        if (!lean) continue;
        if (p.full)
            loop_prefer_[schedule_.unit(inst(p.set).args[0])] = static_cast<int8_t>(p.reg);
        else
            s.next = count;  // the lanes that are off need the old value to the end
    }
    for (const MaskPin& p : loop_.masks) {
        if (p.reg < 0) {
            if (p.chunk == loop_chunk_) state(p.unit).spill = p.spill;
            continue;
        }
        (avx512_ ? k_pinned_ : pinned_) |= 1u << p.reg;
        if (p.chunk != loop_chunk_) continue;
        (avx512_ ? k_owner_ : vec_owner_)[p.reg] = p.unit;
        state(p.unit).reg = static_cast<int8_t>(p.reg);
        state(p.unit).next = count;
    }
    for (const Pin& p : loop_.steady) {
        const bool kept = lean || (p.chunk == every_chunk ? loop_chunk_ + 1 < loop_.chunks
                                                          : p.chunk > loop_chunk_);
        if (kept) pinned_ |= 1u << p.reg;
        if (p.chunk != every_chunk && p.chunk != loop_chunk_) continue;
        UnitState& s = state(p.unit);
        s.reg = static_cast<int8_t>(p.reg);
        vec_owner_[p.reg] = p.unit;
        if (kept) s.next = count;
    }
}

// Fills the registers that stay, before the first iteration.
void BlockCompiler::loop_load_pins() {
    position_ = 1;
    units_.assign(schedule_.unit_count(), {});
    for_each_chunk([&] {
        for (const Pin& p : loop_.carried)
            if (p.chunk == loop_chunk_)
                movu(vec(p.reg), row(static_cast<uint32_t>(inst(p.set).imm)));
        for (const Pin& p : loop_.steady)
            if (p.chunk == loop_chunk_ || (p.chunk == every_chunk && !loop_chunk_))
                load_vec(p.unit, p.reg);
        for (const MaskPin& p : loop_.masks)
            if (p.chunk == loop_chunk_) loop_load_mask(p);
    });
}

// An iteration of each of the chunks that run together, one after the other: the host overlaps
// them, as they share nothing that is written. Behind the last iteration come the next chunks.
void BlockCompiler::loop_bodies(bool lean) {
    loop_lean_ = lean;
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    auto body = [&] {
        loop_enter_body(lean);
        for (Unit u : divergent_masks_) state(u).next = count;
        if (lean)
            for (const LoopMask& m : carried_masks_) state(schedule_.unit(m.mask)).next = count;
        region_body();
        if (lean) loop_store_masks();
    };
    for_each_chunk(body, lean ? 0 : loop_.chunks);
    loop_lean_ = false;
}

// Leaves the flags of the row offset, which reaches zero behind the last chunk.
void BlockCompiler::loop_step(int chunks) {
    if (divergent_ || schedule_.uses_mask_slots(1)) a_.add(reg::bits, chunks * (avx512_ ? 2 : 1));
    a_.add(reg::chunk, chunks * static_cast<int>(width()));
}

// In the lean body: writes that only the last iteration has to do, and what only they need. Called
// backwards.
bool BlockCompiler::loop_leaves_out(Value v) {
    const ir::Inst& i = inst(v);
    const Class cls = ir::op_info(i.op).cls;
    if (walking_ == Walking::Noting && cls != Class::Lane) {
        const auto walk = walks_.of(v);
        return !walk || walks_.walks[*walk].first != v;
    }
    if (cls == Class::SetV)
        return std::ranges::count(loop_.unread, v) || (walking_ == Walking::Yes && loop_idle(v));
    if (cls != Class::Lane && cls != Class::LaneLoad) return false;
    const uint32_t parts = ir::op_info(i.op).result == ir::Type::V64 ? 2
                           : ir::op_info(i.op).result == ir::Type::T ? ir::aux_dwords(i.aux)
                                                                     : 1;
    for (uint32_t part = 0; part < parts; ++part) {
        const Unit u = schedule_.unit(v, part);
        const Home::Kind home = schedule_.unit_home(u).kind;
        if (state(u).next != no_use || home == Home::Temp) return false;
    }
    return cls == Class::Lane;  // loads may fault: they stay
}

// AVX-512: the register that the value, 32 bits, may be written to under the mask of the SetV that
// alone uses it: the mask is known by now, the row's old value is not wanted any more.
const BlockCompiler::Pin* BlockCompiler::loop_merges(Value v) const {
    if (!avx512_ || !loop_lean_) return nullptr;
    const auto pin = std::ranges::find_if(loop_.carried, [&](const Pin& p) {
        return !p.full && p.chunk == loop_chunk_ && inst(p.set).args[0] == v;
    });
    if (pin == loop_.carried.end()) return nullptr;
    const Unit owner = vec_owner_[pin->reg];
    if (owner != no_unit && owner != pin->unit) return nullptr;
    const Value* const region = schedule_.begin(1);
    const Value* const end = schedule_.end(1);
    const Value mask = schedule_.producer(schedule_.unit(inst(pin->set).args[1]));
    if (std::find(region + at_, end, mask) != end) return nullptr;
    const Unit own = schedule_.unit(v);
    for (uint32_t i = at_ + 1; i < end - region; ++i)
        for (uint32_t r = use_start_[i]; r < use_start_[i + 1] && !skip_[i]; ++r) {
            const Unit u = use_records_[r].unit;
            if ((u == own && region[i] != pin->set) || (u == pin->unit && pin->unit != no_unit))
                return nullptr;
        }
    return &*pin;
}

// A write of a row whose value stays in a register.
bool BlockCompiler::loop_set(Value v) {
    if (!loop_lean_) return false;
    if (std::ranges::count(loop_.merged, v)) return true;
    for (const Pin& p : loop_.carried) {
        if (p.set != v || p.chunk != loop_chunk_) continue;
        const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
        const Unit u = schedule_.unit(inst(v).args[0]);
        const Vec x = use(u), home = vec(p.reg);
        const KReg m = p.full || !avx512_ ? KReg() : use_k(inst(v).args[1]);
        const Vec mv = p.full || avx512_ ? Vec() : use(inst(v).args[1]);
        const Unit owner = vec_owner_[p.reg];
        if (owner != no_unit && owner != u) {
            const uint32_t next = state(owner).next;
            if (next != no_use && next != count) {  // moves out of the way
                const int r = take_vec();
                mov(vec(r), home);
                state(owner).reg = static_cast<int8_t>(r);
                vec_owner_[r] = owner;
                vec_locked_ |= 1u << r;
            } else {
                state(owner).reg = -1;
            }
            vec_owner_[p.reg] = no_unit;
        }
        if (x.id() == home.id()) return true;
        if (p.full) {
            mov(home, x);
        } else if (avx512_) {
            k(m);
            a_.emit(X::kIdVmovdqa32, home, x);
        } else {
            a_.emit(X::kIdVblendvps, home, home, x, mv);
        }
        return true;
    }
    return false;
}

// What the uniform code changes, and the budget, as they were before the first iteration.
void BlockCompiler::loop_plan_backup() {
    LoopBackup& b = loop_backup_;
    b.changed = {static_cast<int32_t>(offsetof(Wave, budget)),
                 static_cast<int32_t>(offsetof(Wave, budget)) + 4};
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const ir::Inst& i = inst(v);
        if (ir::op_info(i.op).cls != Class::SetS || schedule_.position(v) != 0) continue;
        if (i.op == Op::SetScc) b.changed.push_back(static_cast<int32_t>(offsetof(Wave, scc)));
        for (uint64_t r = i.imm; r < i.imm + ir::scalar_registers(i.op); ++r)
            b.changed.push_back(static_cast<int32_t>(offsetof(Wave, sgpr) + r * 4));
    }
    std::sort(b.changed.begin(), b.changed.end());
    b.changed.erase(std::unique(b.changed.begin(), b.changed.end()), b.changed.end());
    b.slot = extra_slots_;
    extra_slots_ += static_cast<uint32_t>(b.changed.size());
    failed_ |= extra_slots_ > slot_count;
}

// Changes rcx.
void BlockCompiler::loop_backup(bool save) {
    const std::vector<int32_t>& changed = loop_backup_.changed;
    for (size_t i = 0; i < changed.size();) {
        const bool pair = i + 1 < changed.size() && changed[i + 1] == changed[i] + 4;
        const Gp r = gp(1, pair);
        const Mem wave = x86::ptr(reg::wave, in_wave(static_cast<size_t>(changed[i]))),
                  slot = home_mem({Home::Slot, loop_backup_.slot + static_cast<uint32_t>(i)});
        a_.mov(r, save ? wave : slot);
        a_.mov(save ? slot : wave, r);
        i += pair ? 2 : 1;
    }
}

// Behind a test of the loop's condition.
void BlockCompiler::loop_branch_out(Label label) {
    if (block_->term.target == block_->pc)
        a_.je(label);
    else
        a_.jne(label);
}

// An iteration's uniform code: does another iteration follow, and is it paid for?
void BlockCompiler::loop_decide(const Operand& budget, Label no, Label over) {
    const Value cond = block_->term.cond;
    ++uniforms_[cond].uses;
    loop_uniform([&] {
        const Gp cond_register = ureg(cond);
        a_.test(cond_register, cond_register);
        loop_branch_out(no);
    });
    a_.emit(X::kIdSub, budget, Imm(block_->guest_count));
    a_.js(over);
}

// The loop has ended, one way or the other; segment 2 has run.
void BlockCompiler::loop_leave(Label next) {
    const Terminator& t = block_->term;
    const Label out = a_.newLabel();
    Mem cond;
    position_ = 2;
    if (!umem(t.cond, cond)) failed_ = true;
    cond.setSize(4);
    a_.cmp(cond, 0);
    loop_branch_out(out);
    a_.jmp(next);  // the next iteration is charged and has not run
    a_.bind(out);
    jump_to(t.target == block_->pc ? t.next : t.target);
}

void BlockCompiler::loop_begin_chunks(bool masks) {
    if (block_->lanes < machine::lanes)
        clear_mask_slots(schedule_.begin(1),
                         static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1)));
    begin_chunks(masks);
}

// What iterations keep in registers. Broadcasts are read from homes that the uniform code may fill:
// constants and registers only are steady.
void BlockCompiler::loop_begin_chunk() {
    if (loop_.scalar_get != no_value)
        a_.mov(x86::r14d, scalar_field(inst(loop_.scalar_get).imm, 4));
    loop_load_pins();
}

void BlockCompiler::loop_block() {
    loop_parts_ = carried_masks_.empty() ? split_loop(context()) : LoopParts{};
    collectors_.clear();  // no mask leaves the region
    divergent_masks_.clear();
    facts_limit_ = 3;
    mark(schedule_.begin(1)[0]);

    const bool masks = schedule_.uses_mask_slots(1), uses_arows = uses_accumulators(*block_);
    // Read, modified and written in every iteration: in registers if they are free.
    const Gp budget_register = x86::r15;
    const Mem budget = budget_field();
    const bool keep_budget = !uses_arows;

    loop_plan_backup();
    if (failed_) return;
    take(options_.decisions, Mechanism::UniformLoop);
    if (keep_budget) count_plan();
    loop_backup(true);
    if (uses_arows) a_.mov(reg::arows, x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, agpr))));
    for (loop_part_ = 0; loop_part_ < loop_parts_.count; ++loop_part_) {
        if (loop_part_) {
            loop_backup(false);
            uniforms_.assign(block_->insts.size(), {});
        }
        if (loop_parts_.count == 1 && keep_budget) walk_plan();
        loop_pin();
        walk_find_idle();
        if (!masks) loop_keep_scalar();
        loop_begin_chunks(masks);
        const Label chunk = a_.newLabel(), iteration = a_.newLabel(), last = a_.newLabel(),
                    done = a_.newLabel(), bodies = a_.newLabel(), finished = a_.newLabel();
        a_.bind(chunk);
        if (keep_budget) a_.mov(budget_register, budget);
        loop_begin_chunk();
        walk_reset();
        if (counted_ && walks_.walks.empty()) {
            const Label counted = a_.newLabel();
            count_iterations(budget_register, iteration);
            a_.bind(counted);
            count_uniform();
            loop_bodies(true);
            a_.dec(budget_register);
            a_.jnz(counted);
            count_end(budget_register);
        }

        auto decide = [&](Label no, Label over) {
            loop_decide(keep_budget ? Operand(budget_register) : Operand(budget), no, over);
        };
        a_.bind(iteration);
        decide(last, last);
        a_.bind(bodies);
        if (!walks_.walks.empty()) {
            walk_loop(iteration, bodies, last, finished, budget_register, decide, {});
        } else {
            loop_bodies(true);
            a_.jmp(iteration);
        }

        a_.bind(last);
        guest_ = ~0u;
        loop_bodies(false);
        a_.bind(finished);
        if (block_->lanes < machine::lanes)
            a_.cmp(reg::chunk, static_cast<int32_t>(4 * block_->lanes) - 256);
        a_.jz(done);
        loop_backup(false);
        a_.jmp(chunk);

        a_.bind(done);
    }
    loop_parts_ = {};
    if (keep_budget) a_.mov(budget, budget_register);
    loop_.scalar_get = loop_.scalar_set = no_value;
    segment(2);
    ufree_all();
    loop_leave(over_label_);
}

}  // namespace wj::x64
