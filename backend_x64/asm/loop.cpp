// A block that branches to itself on a uniform condition runs chunk by chunk: all iterations for
// one chunk, then the next chunk, so that what iterations hand to each other stays in vector
// registers. The uniform code runs once per chunk and iteration from the same start, hence does the
// same each time.
//
// Per chunk: an iteration's uniform code decides first whether another iteration follows. If so a
// lean body runs, which leaves out writes of registers that the loop itself does not read; the last
// iteration runs the full body.
#include <algorithm>

#include "backend_x64/asm/loop_code.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Class;
using ir::Op;
using ir::Terminator;
using machine::Wave;
namespace x86 = asmjit::x86;

// The registers as the body finds them.
void BlockCompiler::LoopCode::enter_body(bool lean) const {
    c_.position_ = 1;
    c_.units_.assign(schedule_.unit_count(), {});
    c_.empty_registers();
    c_.spills_used_ = loop_.pins.spills;
    c_.facts_.clear();
    loop_.merged.clear();
    c_.pinned_ = c_.k_pinned_ = 0;
    loop_.prefer.clear();
    if (lean) loop_.prefer.assign(schedule_.unit_count(), -1);
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    for (const Pin& p : loop_.pins.carried) {
        if (lean || p.chunk > loop_.chunk) c_.pinned_ |= 1u << p.reg;
        if (p.unit == no_unit || p.chunk != loop_.chunk) continue;
        UnitState& s = c_.state(p.unit);
        s.reg = static_cast<int8_t>(p.reg);
        const bool merges = !lean && p.merges;
        if (merges) movu(c_.row(static_cast<uint32_t>(inst(p.set).imm)), vec(p.reg));
        s.detached = !merges;  // memory holds what the chunk started with
        c_.vec_owner_[p.reg] = p.unit;
        if (!lean) continue;
        if (p.full)
            loop_.prefer[schedule_.unit(inst(p.set).args[0])] = static_cast<int8_t>(p.reg);
        else
            s.next = count;  // the lanes that are off need the old value to the end
    }
    for (const MaskPin& p : loop_.pins.masks) {
        if (p.reg < 0) {
            if (p.chunk == loop_.chunk) c_.state(p.unit).spill = p.spill;
            continue;
        }
        (c_.avx512_ ? c_.k_pinned_ : c_.pinned_) |= 1u << p.reg;
        if (p.chunk != loop_.chunk) continue;
        (c_.avx512_ ? c_.k_owner_ : c_.vec_owner_)[p.reg] = p.unit;
        c_.state(p.unit).reg = static_cast<int8_t>(p.reg);
        c_.state(p.unit).next = count;
    }
    for (const Pin& p : loop_.pins.steady) {
        const bool kept = lean || (p.chunk == every_chunk ? loop_.chunk + 1 < loop_.pins.chunks
                                                          : p.chunk > loop_.chunk);
        if (kept) c_.pinned_ |= 1u << p.reg;
        if (p.chunk != every_chunk && p.chunk != loop_.chunk) continue;
        UnitState& s = c_.state(p.unit);
        s.reg = static_cast<int8_t>(p.reg);
        c_.vec_owner_[p.reg] = p.unit;
        if (kept) s.next = count;
    }
}

// Fills the registers that stay, before the first iteration.
void BlockCompiler::LoopCode::load_pins() const {
    c_.position_ = 1;
    c_.units_.assign(schedule_.unit_count(), {});
    for_each_chunk([&] {
        for (const Pin& p : loop_.pins.carried)
            if (p.chunk == loop_.chunk)
                movu(vec(p.reg), c_.row(static_cast<uint32_t>(inst(p.set).imm)));
        for (const Pin& p : loop_.pins.steady)
            if (p.chunk == loop_.chunk || (p.chunk == every_chunk && !loop_.chunk))
                c_.load_vec(p.unit, p.reg);
        for (const MaskPin& p : loop_.pins.masks)
            if (p.chunk == loop_.chunk) load_mask(p);
    });
}

// An iteration of each of the chunks that run together, one after the other: the host overlaps
// them, as they share nothing that is written. Behind the last iteration come the next chunks.
void BlockCompiler::LoopCode::emit_bodies(bool lean) const {
    loop_.lean = lean;
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    auto body = [&] {
        enter_body(lean);
        for (Unit u : plan_.masks_out) c_.state(u).next = count;
        if (lean)
            for (const LoopMask& m : plan_.masks) c_.state(schedule_.unit(m.mask)).next = count;
        c_.region_body();
        if (lean) store_masks();
    };
    for_each_chunk(body, lean ? 0 : loop_.pins.chunks);
    loop_.lean = false;
}

// Leaves the flags of the row offset, which reaches zero behind the last chunk.
void BlockCompiler::LoopCode::step_chunk(int chunks) const {
    if (plan_.divergent || schedule_.uses_mask_slots(1))
        a_.add(reg::bits, chunks * (c_.avx512_ ? 2 : 1));
    a_.add(reg::chunk, chunks * static_cast<int>(c_.width()));
}

// In the lean body: writes that only the last iteration has to do, and what only they need. Called
// backwards.
bool BlockCompiler::LoopCode::leaves_out(Value v) const {
    const ir::Inst& i = inst(v);
    const Class cls = ir::op_info(i.op).cls;
    if (loop_.walking == Walking::Noting && cls != Class::Lane) {
        const auto walk = plan_.walks.of(v);
        return !walk || plan_.walks.walks[*walk].first != v;
    }
    if (cls == Class::SetV)
        return std::ranges::count(loop_.pins.unread, v) ||
               (loop_.walking == Walking::Yes && loop_.pins.is_idle(v));
    if (cls != Class::Lane && cls != Class::LaneLoad) return false;
    const uint32_t parts = ir::op_info(i.op).result == ir::Type::V64 ? 2
                           : ir::op_info(i.op).result == ir::Type::T ? ir::aux_dwords(i.aux)
                                                                     : 1;
    for (uint32_t part = 0; part < parts; ++part) {
        const Unit u = schedule_.unit(v, part);
        const Home::Kind home = schedule_.unit_home(u).kind;
        if (c_.state(u).next != no_use || home == Home::Temp) return false;
    }
    return cls == Class::Lane;  // loads may fault: they stay
}

// AVX-512: the register that the value, 32 bits, may be written to under the mask of the SetV that
// alone uses it: the mask is known by now, the row's old value is not wanted any more.
const Pin* BlockCompiler::LoopCode::merges(Value v) const {
    if (!c_.avx512_ || !loop_.lean) return nullptr;
    const auto pin = std::ranges::find_if(loop_.pins.carried, [&](const Pin& p) {
        return !p.full && p.chunk == loop_.chunk && inst(p.set).args[0] == v;
    });
    if (pin == loop_.pins.carried.end()) return nullptr;
    const Unit owner = c_.vec_owner_[pin->reg];
    if (owner != no_unit && owner != pin->unit) return nullptr;
    const Value* const region = schedule_.begin(1);
    const Value* const end = schedule_.end(1);
    const Value mask = schedule_.producer(schedule_.unit(inst(pin->set).args[1]));
    if (std::find(region + c_.at_, end, mask) != end) return nullptr;
    const Unit own = schedule_.unit(v);
    for (uint32_t i = c_.at_ + 1; i < end - region; ++i)
        for (uint32_t r = c_.use_start_[i]; r < c_.use_start_[i + 1] && !c_.skip_[i]; ++r) {
            const Unit u = c_.use_records_[r].unit;
            if ((u == own && region[i] != pin->set) || (u == pin->unit && pin->unit != no_unit))
                return nullptr;
        }
    return &*pin;
}

// A write of a row whose value stays in a register.
bool BlockCompiler::LoopCode::set_row(Value v) const {
    if (!loop_.lean) return false;
    if (std::ranges::count(loop_.merged, v)) return true;
    for (const Pin& p : loop_.pins.carried) {
        if (p.set != v || p.chunk != loop_.chunk) continue;
        const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
        const Unit u = schedule_.unit(inst(v).args[0]);
        const Vec x = c_.use(u), home = vec(p.reg);
        const KReg m = p.full || !c_.avx512_ ? KReg() : c_.use_k(inst(v).args[1]);
        const Vec mv = p.full || c_.avx512_ ? Vec() : c_.use(inst(v).args[1]);
        const Unit owner = c_.vec_owner_[p.reg];
        if (owner != no_unit && owner != u) {
            const uint32_t next = c_.state(owner).next;
            if (next != no_use && next != count) {  // moves out of the way
                const int r = c_.take_vec();
                mov(vec(r), home);
                c_.state(owner).reg = static_cast<int8_t>(r);
                c_.vec_owner_[r] = owner;
                c_.vec_locked_ |= 1u << r;
            } else {
                c_.state(owner).reg = -1;
            }
            c_.vec_owner_[p.reg] = no_unit;
        }
        if (x.id() == home.id()) return true;
        if (p.full) {
            mov(home, x);
        } else if (c_.avx512_) {
            c_.k(m);
            a_.emit(X::kIdVmovdqa32, home, x);
        } else {
            a_.emit(X::kIdVblendvps, home, home, x, mv);
        }
        return true;
    }
    return false;
}

// Slots for what the uniform code changes, and the budget, as they were before the first iteration.
void BlockCompiler::LoopCode::reserve_backup() const {
    loop_.backup_slot = c_.extra_slots_;
    c_.extra_slots_ += 2 + static_cast<uint32_t>(plan_.changed.size());
    c_.failed_ |= c_.extra_slots_ > slot_count;
}

// Them and the budget. Changes rcx.
void BlockCompiler::LoopCode::backup(bool save) const {
    constexpr auto budget = static_cast<int32_t>(offsetof(Wave, budget));
    std::vector<int32_t> changed = plan_.changed;
    changed.insert(std::ranges::lower_bound(changed, budget), {budget, budget + 4});
    for (size_t i = 0; i < changed.size();) {
        const bool pair = i + 1 < changed.size() && changed[i + 1] == changed[i] + 4;
        const Gp r = c_.gp(1, pair);
        const Mem wave = x86::ptr(reg::wave, in_wave(static_cast<size_t>(changed[i]))),
                  slot = c_.home_mem({Home::Slot, loop_.backup_slot + static_cast<uint32_t>(i)});
        a_.mov(r, save ? wave : slot);
        a_.mov(save ? slot : wave, r);
        i += pair ? 2 : 1;
    }
}

// Behind a test of the loop's condition.
void BlockCompiler::LoopCode::branch_out(Label label) const {
    if (block_->term.target == block_->pc)
        a_.je(label);
    else
        a_.jne(label);
}

// An iteration's uniform code: does another iteration follow, and is it paid for?
void BlockCompiler::LoopCode::decide_next(const Operand& budget, Label no, Label over) const {
    const Value cond = block_->term.cond;
    ++c_.uniforms_[cond].uses;
    emit_uniform([&] {
        const Gp cond_register = c_.ureg(cond);
        a_.test(cond_register, cond_register);
        branch_out(no);
    });
    a_.emit(X::kIdSub, budget, Imm(block_->guest_count));
    a_.js(over);
}

// The loop has ended, one way or the other: what is behind the region, and out, or to `next`.
void BlockCompiler::LoopCode::leave(Label next) const {
    loop_.pins.scalar_get = loop_.pins.scalar_set = no_value;
    c_.segment(2);
    c_.ufree_all();
    const Terminator& t = block_->term;
    const Label out = a_.newLabel();
    Mem cond;
    c_.position_ = 2;
    if (!c_.umem(t.cond, cond)) c_.failed_ = true;
    cond.setSize(4);
    a_.cmp(cond, 0);
    branch_out(out);
    a_.jmp(next);  // the next iteration is charged and has not run
    a_.bind(out);
    c_.jump_to(t.target == block_->pc ? t.next : t.target);
}

void BlockCompiler::LoopCode::begin_chunks(bool masks) const {
    if (block_->lanes < machine::lanes)
        c_.clear_mask_slots(schedule_.begin(1),
                            static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1)));
    c_.begin_chunks(masks);
}

// Sets ZF behind the last chunk.
void BlockCompiler::LoopCode::compare_chunk() const {
    a_.cmp(reg::chunk, static_cast<int32_t>(4 * block_->lanes) - 256);
}

// No mask leaves the region but by LoopPlan::masks_out.
void BlockCompiler::LoopCode::begin_region() const {
    c_.collectors_.clear();
    c_.facts_limit_ = 3;
}

// What iterations keep in registers. Broadcasts are read from homes that the uniform code may fill:
// constants and registers only are steady.
void BlockCompiler::LoopCode::begin_chunk() const {
    if (loop_.pins.scalar_get != no_value)
        a_.mov(x86::r14d, scalar_field(inst(loop_.pins.scalar_get).imm, 4));
    load_pins();
}

}  // namespace wj::x64
