// General registers of uniform segments, handed out within the segment; values needed later live in
// their homes.
#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;

namespace {

// rax rcx rdx rsi rdi r8-r11, and those that only regions need: rbp r14 r15.
constexpr uint32_t allocatable =
    1u << 0 | 1u << 1 | 1u << 2 | 1u << 6 | 1u << 7 | 0xfu << 8 | 1u << 5 | 1u << 14 | 1u << 15;

}  // namespace

void BlockCompiler::uniform_begin(uint32_t position) {
    std::fill(std::begin(gp_owner_), std::end(gp_owner_), no_value);
    gp_locked_ = gp_temps_ = 0;
    uniform_at_ = schedule_.end(position);
    auto count = [&](Value v) {
        for (Value a : inst(v).args)
            if (a != no_value) ++uniforms_[a].uses;
    };
    // BitsOf of a broadcast mask and the lane operands of cross operations are not uniform values;
    // counting them does no harm.
    for (const Value* v = schedule_.begin(position); v != schedule_.end(position); ++v) count(*v);
    if (position == schedule_.terminator_position() && block_->term.cond != no_value) {
        uniforms_[block_->term.cond].uses += 2;
        for (Value a : inst(block_->term.cond).args)
            if (a != no_value) uniforms_[a].uses += 2;  // the compare may be repeated
    }
    loop_.scalar_done = false;
    if (position == 0 && loop_.pins.scalar_get != no_value) {
        uniforms_[loop_.pins.scalar_get].reg = 14;
        gp_owner_[14] = loop_.pins.scalar_get;
    }
}

bool BlockCompiler::umem(Value v, Mem& m) {
    const UniformState& s = uniforms_[v];
    const Home& home = schedule_.uniform_home(v);
    if (s.slot >= 0) {
        m = home_mem({Home::Slot, static_cast<uint32_t>(s.slot)});
        return true;
    }
    if (home.kind == Home::None || is_const(v)) return false;
    const bool state_read = ir::op_info(inst(v).op).cls == Class::GetS && home.kind == Home::Wave;
    if (!state_read && !s.stored && schedule_.position(v) >= position_) return false;
    m = home_mem(home);
    // A lane mask of 32 lanes: the other half of the value is 0, and not there.
    if (inst(v).op == Op::GetMask32 && home.kind == Home::Wave) m.setSize(4);
    return true;
}

void BlockCompiler::evict_gp(int r) {
    const Value v = gp_owner_[r];
    if (v == no_value) return;
    UniformState& s = uniforms_[v];
    Mem m;
    if (s.uses && !is_const(v) && !umem(v, m)) {
        if (extra_slots_ >= slot_count) {
            failed_ = true;
        } else {
            s.slot = static_cast<int32_t>(extra_slots_++);
            a_.mov(home_mem({Home::Slot, static_cast<uint32_t>(s.slot)}), gp(r, true));
        }
    }
    s.reg = -1;
    gp_owner_[r] = no_value;
}

int BlockCompiler::take_gp() {
    const uint32_t busy = gp_locked_ | gp_temps_ | gp_reserved_ | ~allocatable;
    uint32_t owned = 0;
    for (int r = 0; r < 16; ++r) {
        if (busy >> r & 1) continue;
        if (gp_owner_[r] == no_value) return r;
        owned |= 1u << r;
    }
    if (!owned) {
        failed_ = true;
        return 0;
    }
    const int r = last_wanted(owned);
    evict_gp(r);
    return r;
}

// Of registers, by bit, the one whose value this instruction and those behind it want last; of
// those that they do not want at all, one that need not be stored.
int BlockCompiler::last_wanted(uint32_t registers) {
    const Value* const end = schedule_.end(position_);
    for (const Value* v = uniform_at_; v != end; ++v)
        for (const Value a : inst(*v).args) {
            if (std::has_single_bit(registers)) return std::countr_zero(registers);
            if (a != no_value && uniforms_[a].reg >= 0) registers &= ~(1u << uniforms_[a].reg);
        }
    int best = std::countr_zero(registers);
    for (int r = best; r < 16; ++r) {
        Mem m;
        if (registers >> r & 1 && (is_const(gp_owner_[r]) || umem(gp_owner_[r], m))) best = r;
    }
    return best;
}

void BlockCompiler::take_fixed(int r) {
    evict_gp(r);
    gp_temps_ |= 1u << r;
}

Gp BlockCompiler::utmp() {
    const int r = take_gp();
    gp_temps_ |= 1u << r;
    return gp(r, true);
}

// Changes the flags.
void BlockCompiler::load_constant(const Gp& r, uint64_t value) {
    if (!r.isGpq()) value = static_cast<uint32_t>(value);
    if (!value)
        a_.xor_(r.r32(), r.r32());
    else if (value <= ~0u)
        a_.mov(r.r32(), value);
    else
        a_.mov(r.r64(), static_cast<int64_t>(value));  // 32 bits and their sign, if these do
}

// Registers, here and below: what brings a value there may change the flags.
Gp BlockCompiler::ureg(Value v) {
    UniformState& s = uniforms_[v];
    const bool w = wide(v);
    if (s.reg < 0) {
        const int r = take_gp();
        Mem m;
        if (is_const(v)) {
            load_constant(gp(r, w), inst(v).imm);
        } else if (umem(v, m)) {
            a_.mov(gp(r, w && m.size() != 4), m);
        } else {
            failed_ = true;
        }
        s.reg = static_cast<int8_t>(r);
        gp_owner_[r] = v;
    }
    gp_locked_ |= 1u << s.reg;
    return gp(s.reg, w);
}

Operand BlockCompiler::uop(Value v) {
    const UniformState& s = uniforms_[v];
    if (s.reg < 0) {
        if (is_const(v)) {
            const uint64_t imm = inst(v).imm;
            if (!wide(v)) return asmjit::Imm(static_cast<int32_t>(imm));
            if (fits_imm32(imm)) return asmjit::Imm(static_cast<int64_t>(imm));
        } else if (Mem m; s.uses <= 1 && umem(v, m) && !(wide(v) && m.size() == 4)) {
            m.setSize(wide(v) ? 8 : 4);
            return m;
        }
    }
    return ureg(v);
}

Gp BlockCompiler::udef(Value v) {
    const int r = take_gp();
    uniforms_[v].reg = static_cast<int8_t>(r);
    gp_owner_[r] = v;
    gp_locked_ |= 1u << r;
    return gp(r, wide(v));
}

// The value is in a register that nothing else wants any more.
bool BlockCompiler::may_change(Value v) const {
    const UniformState& s = uniforms_[v];
    return s.reg >= 0 && s.uses == 1 && !(s.reg == 14 && loop_.scalar_done);
}

Gp BlockCompiler::udef_from(Value v, Value a) {
    UniformState& s = uniforms_[a];
    const bool w = wide(a);
    if (may_change(a)) {
        const int r = s.reg;
        s.reg = -1;
        gp_owner_[r] = v;
        uniforms_[v].reg = static_cast<int8_t>(r);
        gp_locked_ |= 1u << r;
        return gp(r, wide(v));
    }
    if (s.reg >= 0) gp_locked_ |= 1u << s.reg;
    const Gp d = udef(v);
    const int r = static_cast<int>(d.id());
    Mem m;
    if (s.reg >= 0)
        a_.mov(gp(r, w), gp(s.reg, w));
    else if (is_const(a)) {
        load_constant(gp(r, w), inst(a).imm);
    } else if (umem(a, m)) {
        a_.mov(gp(r, w && m.size() != 4), m);
    } else {
        failed_ = true;
    }
    return d;
}

void BlockCompiler::udone(Value v) {
    UniformState& s = uniforms_[v];
    const Home& home = schedule_.uniform_home(v);
    if (home.kind == Home::Slot && s.reg >= 0) {
        a_.mov(home_mem(home), gp(s.reg, true));
        s.stored = true;
    }
}

void BlockCompiler::ufree(Value v) {
    UniformState& s = uniforms_[v];
    if (s.reg >= 0) gp_owner_[s.reg] = no_value;
    s.reg = -1;
}

// What the instruction reads is wanted once less.
void BlockCompiler::operands_done(Value v) {
    for (const Value arg : inst(v).args) {
        if (arg == no_value) continue;
        UniformState& s = uniforms_[arg];
        if (s.uses) --s.uses;
        if (s.uses) continue;
        ufree(arg);
        if (std::exchange(s.repeated, false)) operands_done(arg);
    }
}

void BlockCompiler::ufree_all() {
    for (int r = 0; r < 16; ++r) {
        if (gp_owner_[r] == no_value) continue;
        uniforms_[gp_owner_[r]].reg = -1;
        gp_owner_[r] = no_value;
    }
    gp_locked_ = gp_temps_ = 0;
}

}  // namespace wj::x64
