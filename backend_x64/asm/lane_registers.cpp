// Registers of a lane region: handed out while the code is emitted, evicting the value whose next
// use is farthest away. What can be read again from memory (rows, broadcasts, constants) is never
// spilled.
#include "backend_x64/asm/loop_code.h"
#include "backend_x64/plan/lines.h"

#include <algorithm>
#include <bit>

namespace wj::x64 {

using ir::Op;
using ir::Type;
namespace x86 = asmjit::x86;

namespace {}  // namespace

Mem BlockCompiler::row(uint32_t r, uint32_t size) const {
    if (r >= 256)
        return x86::ptr(reg::arows, reg::chunk, 0, static_cast<int32_t>((r - 256) * 256 + 256),
                        size);
    return x86::ptr(reg::rows, reg::chunk, 0, static_cast<int32_t>(r * 256 + 256) - row_bias, size);
}

Mem BlockCompiler::row_at(uint32_t r, uint32_t lane) {
    return x86::ptr(reg::rows, static_cast<int32_t>(r * 256 + lane * 4) - row_bias);
}

Mem BlockCompiler::temp(uint32_t r) const {
    return x86::ptr(reg::frame, reg::chunk, 0, in_frame(offsetof(Frame, temps) + r * 256 + 256));
}

// Not always in front: what lies 256 bytes apart shares a quarter of the first-level cache, with
// the first elements of all rows.
Mem BlockCompiler::chunk_of_temp(uint32_t r) const {
    const uint32_t chunks = machine::lanes / chunk_lanes();
    return x86::ptr(reg::frame, in_frame(offsetof(Frame, temps) + r * 256 + r % chunks * width()));
}

Mem BlockCompiler::home_mem(const Home& home, int32_t offset) const {
    if (home.kind == Home::Wave) return x86::ptr(reg::wave, in_wave(home.index) + offset);
    return x86::ptr(reg::frame, in_frame(slot_offset(home)) + offset);
}

Mem BlockCompiler::mask_mem(const Home& home) const {
    const bool of_wave = home.kind == Home::Wave;
    const int32_t offset = of_wave ? in_wave(home.index) : in_frame(slot_offset(home));
    return x86::ptr(of_wave ? reg::wave : reg::frame, reg::bits, 0, offset + 8);
}

// The chunk's bits, to compare or move: a byte or a word.
Mem BlockCompiler::chunk_bits(const Home& home) const {
    return mask_mem(home).cloneResized(chunk_lanes() / 8);
}

// As a body of a region finds them.
void BlockCompiler::empty_registers() {
    std::fill(std::begin(vec_owner_), std::end(vec_owner_), no_unit);
    std::fill(std::begin(k_owner_), std::end(k_owner_), no_unit);
    vec_locked_ = vec_temps_ = k_locked_ = k_temps_ = 0;
    spills_used_ = 0;
}

Mem BlockCompiler::spill_mem(int16_t slot) {
    return x86::ptr(reg::frame, in_frame(offsetof(Frame, spills) + static_cast<size_t>(slot) * 64));
}

void BlockCompiler::move_spilled_mask(int16_t slot, int r, bool store) {
    const Mem mem = spill_mem(slot);
    const Operand mask = avx512_ ? Operand(kreg(r)) : Operand(vec(r));
    a_.emit(avx512_ ? X::kIdKmovw : X::kIdVmovups, store ? Operand(mem) : mask,
            store ? mask : Operand(mem));
}

Mem BlockCompiler::constant(Constant c, int32_t offset) const {
    return x86::ptr(reg::frame, in_frame(offsetof(Frame, constants) + c * 64) + offset);
}

BlockCompiler::UnitState& BlockCompiler::state(Unit u) {
    UnitState& s = units_[u];
    if (s.region != position_ + 1) {
        s = {};
        s.region = position_ + 1;
    }
    return s;
}

BlockCompiler::Source BlockCompiler::source(Unit u) {
    const UnitState& s = state(u);
    if (s.spill >= 0) return {Source::Full, spill_mem(s.spill)};
    const Value p = schedule_.producer(u);
    const ir::Inst& i = inst(p);
    const Home& home = schedule_.unit_home(u);
    const bool valid = s.stored || schedule_.position(p) < position_;
    if (home.kind == Home::Temp && valid) {
        if (schedule_.repeats(p) && schedule_.repeated_lanes(p) == chunk_lanes())
            return {Source::Full, chunk_of_temp(home.index)};
        return {Source::Full, temp(home.index)};
    }
    switch (i.op) {
        case Op::GetV:
            if (!s.detached) return {Source::Full, row(static_cast<uint32_t>(i.imm))};
            return {};
        case Op::LaneId:
            return {Source::Full, lane_ids()};
        case Op::Line32:
            return {Source::Line, {}};
        case Op::Splat32:
            if (is_const(i.args[0]) && !avx512_) {
                const auto c = static_cast<uint32_t>(inst(i.args[0]).imm);
                return {Source::Full, pool_vector(c | uint64_t{c} << 32)};
            }
            if (is_const(i.args[0]))
                return {Source::Bcast32, pool32(static_cast<uint32_t>(inst(i.args[0]).imm))};
            return {Source::Bcast32, home_mem(schedule_.uniform_home(i.args[0]))};
        case Op::Splat64:
            if (is_const(i.args[0]) && !avx512_)
                return {Source::Full, pool_vector(inst(i.args[0]).imm)};
            if (is_const(i.args[0])) return {Source::Bcast64, pool64(inst(i.args[0]).imm)};
            return {Source::Bcast64, home_mem(schedule_.uniform_home(i.args[0]))};
        default:
            break;
    }
    if (home.kind == Home::Row && valid) return {Source::Full, row(home.index)};
    return {};
}

bool BlockCompiler::mask_source(Unit u, Mem& mem) {
    const Value p = schedule_.producer(u);
    const ir::Inst& i = inst(p);
    if (i.op == Op::MaskOf) {
        mem = mask_mem(schedule_.uniform_home(i.args[0]));
        if (loop_plan_.divergent)
            for (const LoopMask& m : loop_plan_.divergent->carried)
                if (m.get == i.args[0]) mem = mask_mem(schedule_.unit_home(schedule_.unit(m.mask)));
        return true;
    }
    const Home& home = schedule_.unit_home(u);
    if (home.kind == Home::Slot && (state(u).stored || schedule_.position(p) < position_)) {
        mem = mask_mem(home);
        return true;
    }
    return false;
}

static bool is_lane_constant(const PlanContext& c, Unit u) {
    const ir::Inst& splat = c.inst(c.schedule.producer(u));
    return splat.op == Op::Splat32 && c.is_const(splat.args[0]);
}

void BlockCompiler::evict_vec(int r) {
    const Unit u = vec_owner_[r];
    if (u == no_unit) return;
    UnitState& s = state(u);
    Mem mem;
    const bool readable = is_mask_unit(u)
                              ? s.spill >= 0 || mask_source(u, mem)
                              : is_lane_constant(context(), u) || source(u).kind != Source::None;
    if (!readable && s.next != no_use) {
        if (spills_used_ >= static_cast<int16_t>(spill_count)) {
            failed_ = true;
        } else {
            s.spill = spills_used_++;
            movu(spill_mem(s.spill), vec(r));
        }
    }
    s.reg = -1;
    vec_owner_[r] = no_unit;
}

void BlockCompiler::evict_k(int r) {
    const Unit u = k_owner_[r];
    if (u == no_unit) return;
    UnitState& s = state(u);
    Mem mem;
    if (s.spill < 0 && !mask_source(u, mem) && s.next != no_use) {
        if (spills_used_ >= static_cast<int16_t>(spill_count)) {
            failed_ = true;
        } else {
            s.spill = spills_used_++;
            a_.kmovw(spill_mem(s.spill), kreg(r));
        }
    }
    s.reg = -1;
    k_owner_[r] = no_unit;
}

int BlockCompiler::take_vec(uint32_t except) {
    const int count = avx512_ ? 32 : 16;
    const uint32_t busy = vec_locked_ | vec_temps_ | pinned_ | except;
    int best = -1;
    uint32_t farthest = 0;
    for (int r = 0; r < count; ++r) {
        if (busy >> r & 1) continue;
        if (vec_owner_[r] == no_unit) {
            vec_used_ |= 1u << r;
            return r;
        }
        const uint32_t next = state(vec_owner_[r]).next;
        if (best < 0 || next > farthest) best = r, farthest = next;
    }
    if (best < 0) {  // more operands than registers: cannot happen with the lowerings we have
        failed_ = true;
        return 0;
    }
    evict_vec(best);
    return best;
}

int BlockCompiler::take_k() {
    const uint32_t busy = k_locked_ | k_temps_ | k_pinned_;
    int best = -1;
    uint32_t farthest = 0;
    for (int r = 1; r < 8; ++r) {
        if (busy >> r & 1) continue;
        if (k_owner_[r] == no_unit) return r;
        const uint32_t next = state(k_owner_[r]).next;
        if (best < 0 || next > farthest) best = r, farthest = next;
    }
    if (best < 0) {
        failed_ = true;
        return 1;
    }
    evict_k(best);
    return best;
}

void BlockCompiler::load_vec(Unit u, int r) {
    if (!avx512_ &&
        is_lane_constant(context(), u)) {  // a register needs no whole vector in the pool
        const ir::Inst& splat = inst(schedule_.producer(u));
        a_.emit(X::kIdVbroadcastss, vec(r), pool32(static_cast<uint32_t>(inst(splat.args[0]).imm)));
        return;
    }
    const Source s = source(u);
    switch (s.kind) {
        case Source::Full:
            movu(vec(r), s.mem);
            break;
        case Source::Bcast32:
            a_.emit(X::kIdVbroadcastss, vec(r), s.mem);
            break;
        case Source::Bcast64:
            a_.emit(X::kIdVbroadcastsd, vec(r), s.mem);
            break;
        case Source::Line:
            load_line(schedule_.producer(u), vec(r), true);
            break;
        case Source::None:
            failed_ = true;
            break;
    }
}

Mem BlockCompiler::lane_ids() const {
    return x86::ptr(reg::frame, reg::chunk, 0, in_frame(offsetof(Frame, lane_id) + 256));
}

// `always`: the code is run for every chunk.
void BlockCompiler::load_line(Value v, const Vec& d, bool always) {
    if (has_lane_step(context(), inst(v))) {
        const Mem step = home_mem(schedule_.uniform_home(inst(v).args[1]));
        a_.emit(X::kIdVpbroadcastd, d, step);
        a_.emit(X::kIdVpmulld, d, d, lane_ids());
        return;
    }
    line_at_chunk(v, always);
    if (has_row_step(context(), inst(v))) {
        // Two rows, or four where broadcasts are operands.
        RowCode(*this).load_row_offsets(v, d);
        if (avx512_) {
            const Mem first = x86::ptr(reg::frame, in_frame(offsetof(Frame, first_in_line)), 4);
            a_.mov(first, x86::eax);
            a_.emit(X::kIdVpaddd, d, d, first._1to16());
        } else {
            const auto width = static_cast<uint32_t>(inst(v).aux);
            const auto stride = static_cast<uint32_t>(inst(v).imm);
            a_.vmovd(d.xmm(), x86::eax);
            a_.add(x86::eax, home_mem(schedule_.uniform_home(inst(v).args[1])));
            a_.vpinsrd(d.xmm(), d.xmm(), x86::eax, 1);
            a_.emit(X::kIdVpunpckldq, d, d, d);
            a_.emit(X::kIdVpermq, d, d, asmjit::Imm(0x50));
            if (stride)
                a_.emit(X::kIdVpaddd, d, d,
                        RowCode(*this).pool_table(lane_offsets(stride, 0, width).data()));
        }
        return;
    }
    a_.vmovd(d.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, d, d.xmm());
    const LaneOffsets lanes = lane_offsets(context(), inst(v));
    if (lanes != LaneOffsets{})
        a_.emit(X::kIdVpaddd, d, d, RowCode(*this).pool_table(lanes.data()));
}

// eax = the line's value in the chunk's first lane. Changes edx.
void BlockCompiler::line_at_chunk(Value v, bool always) {
    const ir::Inst& i = inst(v);
    const Value base = i.args[0];
    const bool even_rows = is_const(i.args[1]) && !inst(i.args[1]).imm;
    if (i.aux == machine::lanes || even_rows) {
        line_offset(i);
    } else {
        // Worked out once for all lines of this shape.
        const auto known =
            std::find_if(line_offsets_.begin(), line_offsets_.end(), [&](const LineOffset& l) {
                return l.step == i.args[1] && l.stride == i.imm && l.width == i.aux;
            });
        if (known != line_offsets_.end() && always) {
            a_.mov(x86::eax, temp(known->row));
        } else {
            line_offset(i);
            const uint32_t row = schedule_.temp_row_count() + kept_rows_;
            if (always && row < temp_rows) {
                ++kept_rows_;
                line_offsets_.push_back({i.args[1], i.imm, i.aux, row});
                a_.mov(temp(row), x86::eax);
            }
        }
    }
    if (!is_const(base))
        a_.add(x86::eax, home_mem(schedule_.uniform_home(base)));
    else if (inst(base).imm)
        a_.add(x86::eax, static_cast<int32_t>(inst(base).imm));
}

// eax = the distance of the chunk's first lane from the line's base.
void BlockCompiler::line_offset(const ir::Inst& i) {
    const auto stride = static_cast<int32_t>(i.imm);
    // reg::chunk is 4 * lane - 256, so that its lower bits are 4 * (lane mod width).
    auto scale = [&](const Gp& r) {
        if (stride % 4 == 0) {
            if (stride != 4) a_.imul(r, r, stride / 4);
        } else {
            a_.sar(r, 2);  // first: the product has all 32 bits
            a_.imul(r, r, stride);
        }
    };
    a_.mov(x86::eax, reg::chunk.r32());
    if (i.aux == machine::lanes) {
        scale(x86::eax);
        a_.add(x86::eax, stride * static_cast<int32_t>(machine::lanes));
        return;
    }
    if (is_const(i.args[1]) && !inst(i.args[1]).imm) {  // every row the same
        if (i.aux <= chunk_lanes() || !stride) {
            a_.xor_(x86::eax, x86::eax);
        } else {
            a_.and_(x86::eax, 4 * i.aux - 1);
            scale(x86::eax);
        }
        return;
    }
    a_.sar(x86::eax, std::countr_zero(4 * i.aux));
    a_.add(x86::eax, machine::lanes / i.aux);
    if (is_const(i.args[1]))
        a_.imul(x86::eax, x86::eax, static_cast<int32_t>(inst(i.args[1]).imm));
    else
        a_.imul(x86::eax, home_mem(schedule_.uniform_home(i.args[1])));
    if (!stride || i.aux <= chunk_lanes()) return;
    a_.mov(x86::edx, reg::chunk.r32());
    a_.and_(x86::edx, 4 * i.aux - 1);
    scale(x86::edx);
    a_.add(x86::eax, x86::edx);
}

// AVX2 keeps a mask as all-ones dwords; memory always holds bits.
void BlockCompiler::load_mask(Unit u, int r) {
    const UnitState& s = state(u);
    Mem mem;
    if (s.spill >= 0) return move_spilled_mask(s.spill, r, false);
    if (!mask_source(u, mem)) {
        failed_ = true;
        return;
    }
    if (avx512_) {
        a_.kmovw(x86::k(static_cast<uint32_t>(r)), mem);
        return;
    }
    a_.emit(X::kIdVpbroadcastb, vec(r), mem);
    lanes_of_bits(vec(r));
}

// AVX2: a byte of bits in every lane becomes a lane mask.
void BlockCompiler::lanes_of_bits(const Vec& mask) {
    const Mem bits = x86::ptr(reg::frame, in_frame(offsetof(Frame, lane_bits)));
    a_.emit(X::kIdVpand, mask, mask, bits);
    a_.emit(X::kIdVpcmpeqd, mask, mask, bits);
}

Vec BlockCompiler::use(Unit u) {
    UnitState& s = state(u);
    if (s.reg < 0) {
        const int r = take_vec();
        if (is_mask_unit(u))
            load_mask(u, r);
        else
            load_vec(u, r);
        s.reg = static_cast<int8_t>(r);
        vec_owner_[r] = u;
    }
    vec_locked_ |= 1u << s.reg;
    return vec(s.reg);
}

Operand BlockCompiler::use_or_mem(Unit u, bool allow64) {
    UnitState& s = state(u);
    if (s.reg >= 0) return use(u);
    const Source src = source(u);
    const bool usable = src.kind == Source::Full ||
                        (avx512_ && src.kind == Source::Bcast32 && !allow64) ||
                        (avx512_ && src.kind == Source::Bcast64 && allow64);
    if (!usable || s.next != no_use) return use(u);
    if (src.kind == Source::Bcast32) return src.mem._1to16();
    if (src.kind == Source::Bcast64) return src.mem._1to8();
    return src.mem;
}

KReg BlockCompiler::use_k(Unit u) {
    UnitState& s = state(u);
    if (s.reg < 0) {
        const int r = take_k();
        load_mask(u, r);
        s.reg = static_cast<int8_t>(r);
        k_owner_[r] = u;
    }
    k_locked_ |= 1u << s.reg;
    return x86::k(static_cast<uint32_t>(s.reg));
}

Vec BlockCompiler::def(Unit u) {
    // The register in which the loop's next iteration expects it, if it is free by now.
    if (!loop_.prefer.empty() && loop_.prefer[u] >= 0) {
        const int r = loop_.prefer[u];
        if (vec_owner_[r] == no_unit && !((vec_locked_ | vec_temps_) >> r & 1))
            return def_at(u, vec(r));
    }
    const int r = take_vec();
    return def_at(u, vec(r));
}

Vec BlockCompiler::def_at(Unit u, const Vec& v) {
    const int r = static_cast<int>(v.id());
    UnitState& s = state(u);
    s.reg = static_cast<int8_t>(r);
    s.spill = -1;
    s.stored = false;
    vec_owner_[r] = u;
    vec_locked_ |= 1u << r;
    return v;
}

KReg BlockCompiler::def_k(Unit u) {
    const int r = take_k();
    UnitState& s = state(u);
    s.reg = static_cast<int8_t>(r);
    s.spill = -1;
    s.stored = false;
    k_owner_[r] = u;
    k_locked_ |= 1u << r;
    return x86::k(static_cast<uint32_t>(r));
}

Vec BlockCompiler::tmp() {
    const int r = take_vec();
    vec_temps_ |= 1u << r;
    return vec(r);
}

KReg BlockCompiler::tmp_k() {
    const int r = take_k();
    k_temps_ |= 1u << r;
    return x86::k(static_cast<uint32_t>(r));
}

void BlockCompiler::release_operands() {
    for (uint32_t m = vec_locked_; m; m &= m - 1) {
        const int r = __builtin_ctz(m);
        const Unit u = vec_owner_[r];
        if (u == no_unit || state(u).next != no_use) continue;
        state(u).reg = -1;
        vec_owner_[r] = no_unit;
        vec_locked_ &= ~(1u << r);
    }
    for (uint32_t m = k_locked_; m; m &= m - 1) {
        const int r = __builtin_ctz(m);
        const Unit u = k_owner_[r];
        if (u == no_unit || state(u).next != no_use) continue;
        state(u).reg = -1;
        k_owner_[r] = no_unit;
        k_locked_ &= ~(1u << r);
    }
}

// Masks that the region makes for others.
std::vector<Unit> BlockCompiler::masks_at_home(const Value* begin, uint32_t count) const {
    std::vector<Unit> masks;
    for (uint32_t i = 0; i < count; ++i) {
        if (block_->type(begin[i]) != Type::M) continue;
        const Unit u = schedule_.unit(begin[i]);
        if (schedule_.unit_home(u).kind == Home::Slot && schedule_.producer(u) == begin[i])
            masks.push_back(u);
    }
    return masks;
}

void BlockCompiler::choose_collectors(const Value* begin, uint32_t count) {
    collectors_.clear();
    const bool memory =
        std::any_of(begin, begin + count, [this](Value v) { return ir::is_lane_access(inst(v)); });
    const size_t limit = memory ? 2 : std::size(region_registers);
    for (Unit u : masks_at_home(begin, count))
        if (collectors_.size() < limit)
            collectors_.push_back({u, region_registers[collectors_.size()]});
}

void BlockCompiler::store_collectors() {
    if (gathered_ && !collectors_.empty())
        a_.mov(x86::rax, gathered_field(offsetof(GatheredLanes, unused), 8));
    for (const Collector& c : collectors_) {
        if (gathered_)
            a_.shrx(c.reg, c.reg, x86::rax);
        else if (block_->lanes < machine::lanes)
            a_.shr(c.reg, machine::lanes - block_->lanes);
        a_.mov(home_mem(schedule_.unit_home(c.unit)), c.reg);
    }
}

// Those that no collector fills, where not all chunks are there to do so.
void BlockCompiler::clear_mask_slots(const Value* begin, uint32_t count) {
    for (Unit u : masks_at_home(begin, count))
        if (std::ranges::find(collectors_, u, &Collector::unit) == collectors_.end())
            a_.mov(home_mem(schedule_.unit_home(u)).cloneResized(8), 0);
}

void BlockCompiler::store_mask(Unit u) {
    for (const Collector& c : collectors_) {
        if (c.unit != u) continue;
        // In at the bottom, then rotate: the first chunk's bits come round to the bottom again.
        const auto r = static_cast<uint32_t>(state(u).reg);
        if (avx512_) {
            a_.kmovw(x86::eax, x86::k(r));
            a_.mov(c.reg.r16(), x86::ax);
            a_.ror(c.reg, 16);
        } else {
            a_.vmovmskps(x86::eax, x86::ymm(r));
            a_.mov(c.reg.r8(), x86::al);
            a_.ror(c.reg, 8);
        }
        return;
    }
    state(u).stored = true;
    store_bits(mask_mem(schedule_.unit_home(u)), state(u).reg);
}

void BlockCompiler::store_bits(const Mem& to, int r) {
    if (avx512_) {
        a_.kmovw(to, kreg(r));
    } else {
        a_.vmovmskps(x86::eax, vec(r).ymm());
        a_.mov(to, x86::al);
    }
}

void BlockCompiler::define_done(Unit u) {
    UnitState& s = state(u);
    const Home& home = schedule_.unit_home(u);
    if (is_mask_unit(u)) {
        // What leaves a loop does so in its last iteration.
        if (loop_.lean) return LoopCode(*this).mask_done(u);
        if (home.kind == Home::Slot) store_mask(u);
    } else if (home.kind == Home::Temp) {
        const Value p = schedule_.producer(u);
        if (schedule_.repeats(p))
            AcrossCode(*this).store_repeats(home.index, vec(s.reg), p);
        else
            movu(temp(home.index), vec(s.reg));
        s.stored = true;
    }
}

void BlockCompiler::end_instruction() {
    vec_locked_ = vec_temps_ = k_locked_ = k_temps_ = 0;
    const int count = avx512_ ? 32 : 16;
    for (int r = 0; r < count; ++r) {
        const Unit u = vec_owner_[r];
        if (u == no_unit || state(u).next != no_use) continue;
        state(u).reg = -1;
        vec_owner_[r] = no_unit;
    }
    if (!avx512_) return;
    for (int r = 1; r < 8; ++r) {
        const Unit u = k_owner_[r];
        if (u == no_unit || state(u).next != no_use) continue;
        state(u).reg = -1;
        k_owner_[r] = no_unit;
    }
}

// AVX2 has no broadcasts in operands: there the pool holds whole vectors.
Mem BlockCompiler::pool_vector(uint64_t value) {
    auto [it, added] = pool_vectors_.try_emplace(value, 0);
    if (added) {
        const uint64_t vector[4] = {value, value, value, value};
        it->second = pool_bytes(vector, 32, 32);
    }
    return x86::ptr(pool_label_, static_cast<int32_t>(it->second));
}

Operand BlockCompiler::c32(uint32_t value) {
    if (const auto kept = constant_register(value, 4)) return *kept;
    if (avx512_) return pool32(value)._1to16();
    return pool_vector(value | uint64_t{value} << 32);
}

Operand BlockCompiler::c64(uint64_t value) {
    if (const auto kept = constant_register(value, 8)) return *kept;
    if (avx512_) return pool64(value)._1to8();
    return pool_vector(value);
}

Vec BlockCompiler::c32v(uint32_t value) {
    const Vec t = tmp();
    if (const auto kept = constant_register(value, 4))
        mov(t, *kept);
    else
        a_.emit(X::kIdVpbroadcastd, t, pool32(value));
    return t;
}

Vec BlockCompiler::zero() {
    const Vec t = tmp();
    const Vec x = t.xmm();
    if (t.id() < 16)
        a_.emit(X::kIdVpxor, x, x, x);
    else
        a_.emit(X::kIdVpxord, x, x, x);
    return t;
}

}  // namespace wj::x64
