// Accesses at lines (lift/affine.h): how far apart the lanes' elements are is known, so that
// nothing but the bounds of the LDS is looked at. What is wanted later is fetched ahead.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "backend_x64/asm/access_code.h"
#include "backend_x64/asm/reach.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Class;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {
constexpr size_t most_placed_lines = 32;
}

// m.address = host address of the chunk's first element in the LDS, whose distance from the LDS's
// beginning is in eax. Jumps when the chunk's elements are not all in range.
void BlockCompiler::LineCode::lds_line_address(const LaneAccess& m, Value line, int64_t max_imm,
                                               Label out_of_range, bool always) const {
    const auto last = static_cast<int32_t>(lane_offsets(context(), inst(line))[chunk_lanes() - 1]);
    c_.line_at_chunk(line, always);
    // Of lines that go down the last lane is the one to begin with.
    if (last < 0) a_.sub(x86::eax, -last);
    a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
    a_.add(m.address, x86::rax);
    if (last < 0) a_.add(m.address, -last);
    lds_bound(Imm(static_cast<uint32_t>(max_imm + std::abs(last) + m.bytes)), out_of_range);
}

// A subroutine, for lines that do not go down: rcx = host address of the chunk's first element, no
// carry, if ecx bytes from there on are in range; otherwise carry. some: not all lanes are wanted,
// but those of Frame::mask: then those from the first active lane to the last are in range, as at
// the ends of arrays, where the others are masked. Changes rax and rdx.
Label BlockCompiler::LineCode::lds_range_check(Value line, bool some) const {
    const auto [check, added] = c_.range_checks_.try_emplace({line, some});
    if (!added) return check->second;
    const Label begin = check->second = a_.newLabel();
    cold(begin, [*this, line, some] {
        const Label out = a_.newLabel(), part = a_.newLabel();
        c_.line_at_chunk(line, false);
        lds_bound(x86::ecx, some ? part : out);
        a_.mov(x86::rcx, wave_field(offsetof(Wave, lds), 8));
        a_.add(x86::rcx, x86::rax);  // an address: no carry
        a_.ret();
        if (some) {
            const auto stride = static_cast<int32_t>(inst(line).imm);
            const Mem mask = frame_field(offsetof(Frame, mask), 2);
            a_.bind(part);
            a_.movsxd(x86::rax, x86::eax);
            a_.movzx(x86::edx, mask);
            a_.tzcnt(x86::edx, x86::edx);
            a_.imul(x86::edx, x86::edx, stride);
            a_.add(x86::rdx, x86::rax);
            a_.js(out);
            // Behind the last active lane's element.
            a_.sub(x86::ecx, lane_offsets(context(), inst(line))[chunk_lanes() - 1]);
            a_.add(x86::rcx, x86::rax);
            a_.movzx(x86::edx, mask);
            a_.bsr(x86::edx, x86::edx);
            a_.imul(x86::edx, x86::edx, stride);
            a_.add(x86::rcx, x86::rdx);
            a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
            a_.cmp(x86::rcx, x86::rdx);
            a_.ja(out);
            a_.mov(x86::rcx, wave_field(offsetof(Wave, lds), 8));
            a_.add(x86::rcx, x86::rax);
            a_.clc();
            a_.ret();
        }
        a_.bind(out);
        a_.stc();
        a_.ret();
    });
    return begin;
}

// The low 32 bits.
void BlockCompiler::LineCode::load_uniform(const Gp& to, Value v) const {
    if (is_const(v))
        a_.mov(to, static_cast<uint32_t>(inst(v).imm));
    else
        a_.mov(to, home_mem(schedule_.uniform_home(v)));
}

// Jumps unless so many bytes from the LDS address in eax on are in range, without wrapping. Changes
// edx.
void BlockCompiler::LineCode::lds_bound(const Operand& bytes, Label out_of_range) const {
    a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
    a_.emit(X::kIdSub, x86::edx, bytes);
    a_.jb(out_of_range);
    a_.cmp(x86::eax, x86::edx);
    a_.ja(out_of_range);
}

// Lines that the region is the first to use: where their elements are is found out once, for all
// chunks.
void BlockCompiler::LineCode::place_lines(const Value* begin, uint32_t count) const {
    for (uint32_t n = 0; n < count && c_.placed_lines_.size() < most_placed_lines; ++n) {
        const ir::Inst& x = inst(begin[n]);
        const ir::Class cls = ir::op_info(x.op).cls;
        if (cls != ir::Class::LaneLoad && cls != ir::Class::LaneStore) continue;
        const bool lds = space_of(x.op) == lds_space;
        if (!lds && (space_of(x.op) != global_space || is_checked(options_.address_mode))) continue;
        PlacedLine p;
        p.line = ir::address_of(x);
        if (inst(p.line).op != Op::Line32 || pointer_of(x)) continue;
        if (!lds) p.base = has_many_bases(context(), x) ? any_base : x.args[0];
        if (!placed_line(p.base, p.line) && place_line(p)) c_.placed_lines_.push_back(p);
        if (lds || !is_masked(options_.address_mode)) continue;
        const PlacedLine* const placed = placed_line(x.args[0], p.line);
        if ((placed && placed->base != any_base) || placed_line(x.args[0], no_value)) continue;
        PlacedLine base;
        base.base = x.args[0];
        base.slot = c_.extra_slots_++;
        global_base(x86::rax, base.base);
        a_.mov(home_mem({Home::Slot, base.slot}), x86::rax);
        c_.placed_lines_.push_back(base);
    }
    c_.failed_ |= c_.extra_slots_ > slot_count;
}

bool BlockCompiler::LineCode::place_line(PlacedLine& p) const {
    const ir::Inst& l = inst(p.line);
    const bool lds = p.base == no_value, any = p.base == any_base, fixed_step = is_const(l.args[1]);
    const auto stride = static_cast<uint32_t>(l.imm), width = static_cast<uint32_t>(l.aux);
    const uint64_t step = fixed_step ? static_cast<uint32_t>(inst(l.args[1]).imm) : 0;
    const auto scale = chunk_scale(context(), l);
    if (lds) {
        p.within = true;
        for (const ir::Inst& x : block_->insts) {
            if ((x.op != Op::LoadLds && x.op != Op::StoreLds) || x.args[0] != p.line) continue;
            p.within &= (x.aux & ir::within_lds) != 0;
            if (is_short_lds_offset(immediate(x)))
                p.end = std::max(p.end, static_cast<uint32_t>(immediate(x)) + ir::access_bytes(x));
        }
        if (!p.end) return false;
    }
    uint64_t last = 0;  // how far the last lane is from the first one, at most
    if (scale) {
        if (!lds) return false;  // nothing to keep
        p.scale = *scale;
        last = (4 << *scale) * (machine::lanes - chunk_lanes()) +
               lane_offsets(context(), l)[chunk_lanes() - 1];
    } else {
        if (width < chunk_lanes() || (lds && !fixed_step && !p.within)) return false;
        last = uint64_t{stride} * (width - 1) + step * (machine::lanes / width - 1);
        p.row = schedule_.temp_row_count() + c_.kept_rows_;
        if (last > (lds ? 0x10000 : 0x7fffffff) || p.row >= temp_rows) return false;
    }
    const Label out = a_.newLabel(), done = a_.newLabel();
    if (lds) {
        load_uniform(x86::eax, l.args[0]);
        if (!p.within) lds_bound(Imm(p.end + static_cast<uint32_t>(last)), out);
        a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
    } else if (any) {
        a_.xor_(x86::eax, x86::eax);
    } else {
        global_base(x86::rax, p.base);
    }
    if (scale) {
        a_.add(x86::rax, 256 << *scale);
        a_.bind(done);
        p.slot = c_.extra_slots_++;
        a_.mov(home_mem({Home::Slot, p.slot}), x86::rax);
        if (!p.within)
            cold(out, [*this, done] {
                a_.xor_(x86::eax, x86::eax);
                a_.jmp(done);
            });
        return true;
    }
    ++c_.kept_rows_;
    if (!fixed_step) a_.mov(x86::edx, home_mem(schedule_.uniform_home(l.args[1])));
    auto at_chunk = [*this, row = p.row](uint32_t lane) {
        return frame_field(offsetof(Frame, temps) + row * 256 + lane * 4, 8);
    };
    for (uint32_t lane = 0; lane < machine::lanes; lane += chunk_lanes()) {
        const uint32_t in_row = lane % width;
        if (lane && !in_row && !fixed_step) a_.add(x86::rax, x86::rdx);
        const uint64_t more = uint64_t{stride} * in_row + step * (lane / width);
        if (more) a_.lea(x86::rcx, x86::ptr(x86::rax, static_cast<int32_t>(more)));
        a_.mov(at_chunk(lane), more ? x86::rcx : x86::rax);
    }
    a_.bind(done);
    if (lds && !p.within)
        cold(out, [*this, done, at_chunk] {
            for (uint32_t lane = 0; lane < machine::lanes; lane += chunk_lanes())
                a_.mov(at_chunk(lane), 0);
            a_.jmp(done);
        });
    return true;
}

// Uniform base of a global access, as the host sees it.
void BlockCompiler::LineCode::global_base(const Gp& to, Value base) const {
    if (const PlacedLine* const p = placed_line(base, no_value)) {
        a_.mov(to, home_mem({Home::Slot, p->slot}));
        return;
    }
    a_.mov(to, home_mem(schedule_.uniform_home(base)));
    if (is_masked(options_.address_mode)) emit_reach(a_, to);
}

const BlockCompiler::PlacedLine* BlockCompiler::LineCode::placed_line(Value base,
                                                                      Value line) const {
    const auto p = std::ranges::find_if(c_.placed_lines_, [&](const PlacedLine& x) {
        return x.line == line && (x.base == base || (x.base == any_base && base != no_value));
    });
    return p == c_.placed_lines_.end() ? nullptr : &*p;
}

const BlockCompiler::PlacedLine* BlockCompiler::LineCode::placed_line(const LaneAccess& m,
                                                                      Value line) const {
    const bool lds = m.space == lds_space;
    const Value base = lds ? no_value : inst(m.v).args[0];
    const PlacedLine* const p = placed_line(base, line);
    if (!p || (lds && m.imm + m.bytes > p->end)) return nullptr;
    const bool unmasked = p->base == any_base && is_masked(options_.address_mode);
    return unmasked && !placed_line(base, no_value) ? nullptr : p;
}

// m.address = host address of the chunk's first element. Jumps where it is not known.
void BlockCompiler::LineCode::placed_address(const LaneAccess& m, const PlacedLine& p,
                                             Label unknown) const {
    a_.mov(m.address, p.row == no_row ? home_mem({Home::Slot, p.slot}) : c_.temp(p.row));
    if (p.base == any_base) a_.add(m.address, m.base);
    if (p.base == no_value && !p.within) {
        a_.test(m.address, m.address);
        a_.jz(unknown);
    }
    if (p.row != no_row) return;
    if (p.scale)
        a_.lea(m.address, x86::ptr(m.address, reg::chunk, p.scale));
    else
        a_.add(m.address, reg::chunk);
}

// Bases of lines that move on with the chunks, in registers that the region leaves.
void BlockCompiler::LineCode::choose_pointers(const Value* begin, uint32_t count) const {
    constexpr uint32_t furthest = 1 << 20;
    c_.pointers_.clear();
    bool others = false;  // accesses that may keep something in registers
    for (uint32_t n = 0; n < count; ++n) {
        const ir::Inst& x = inst(begin[n]);
        const ir::Class cls = ir::op_info(x.op).cls;
        others |= cls == ir::Class::LaneAtomic;
        if (cls != ir::Class::LaneLoad && cls != ir::Class::LaneStore) continue;
        std::optional<uint32_t> step;
        if (is_plain_line(context(), x)) step = even_step(context(), inst(ir::address_of(x)));
        const bool fits = step && *step <= furthest;
        others |= !fits;
        if (fits && !pointer_of(x)) c_.pointers_.push_back({base_of_line(context(), x), *step, {}});
    }
    const size_t used = c_.collectors_.size(), free = std::size(region_registers) - used,
                 left = free - (others ? 2 : 0);
    if (c_.pointers_.size() > left) c_.pointers_.resize(left);
    for (size_t i = 0; i < c_.pointers_.size(); ++i) {
        const Gp reg = c_.pointers_[i].reg = region_registers[used + i];
        const Value base = c_.pointers_[i].base;
        if (block_->type(base) == ir::Type::U64) {
            global_base(reg, base);
            if (RowCode(c_).repeats_plainly() && c_.steady_sites_ < Frame::most_steady)
                look_ahead(c_.pointers_[i]);
            continue;
        }
        load_uniform(reg.r32(), base);
        a_.add(reg, wave_field(offsetof(Wave, lds), 8));
    }
    c_.facts_limit_ = std::max<size_t>(1, (free - c_.pointers_.size()) / 2);
}

// The line that most accesses with bases of their own share, if registers are left.
void BlockCompiler::LineCode::choose_chunk_offset(const Value* begin, uint32_t count) const {
    constexpr uint32_t least = 3;
    const size_t used = c_.collectors_.size() + c_.pointers_.size();
    if (std::size(region_registers) < used + 4 || c_.loop_.by_chunks) return;
    std::map<uint32_t, uint32_t> accesses;  // by row
    Value line = no_value;
    uint32_t most = least - 1;
    for (const Value* v = begin; v != begin + count; ++v) {
        const ir::Inst& x = inst(*v);
        if (x.op != Op::LoadGlobalS && x.op != Op::StoreGlobalS) continue;
        const PlacedLine* const p = placed_line(x.args[0], x.args[1]);
        if (!p || p->base != any_base || ++accesses[p->row] <= most) continue;
        most = accesses[p->row];
        line = p->line;
    }
    if (line == no_value) return;
    ChunkOffset offset{
        placed_line(any_base, line)->row, region_registers[used], region_registers[used + 1], {}};
    if (const auto rows = c_.rows_ahead_.find(PrefetchCode(c_).row_step(any_base, line));
        rows != c_.rows_ahead_.end())
        offset.distance = rows->second;
    c_.chunk_offset_ = offset;
    c_.facts_limit_ = std::max<size_t>(1, (std::size(region_registers) - used - 2) / 2);
}

void BlockCompiler::LineCode::load_chunk_offset() const {
    if (!c_.chunk_offset_) return;
    const auto& [row, at, ahead, distance] = *c_.chunk_offset_;
    a_.mov(at, c_.temp(row));
    if (!distance) return;
    a_.mov(ahead, home_mem({Home::Slot, *distance}));
    a_.add(ahead, at);
}

// Whether the access knows LaneAccess::index.
bool BlockCompiler::LineCode::is_indexed(const LaneAccess& m, Value line) const {
    const PlacedLine* const p = placed_line(m, line);
    return c_.chunk_offset_ && p && p->row == c_.chunk_offset_->row &&
           !c_.tile_steps_.contains(m.v) && m.dwords_only() &&
           (m.transfer == Transfer::Consecutive || m.transfer == Transfer::Sliding);
}

// For prefetch_iterations(): where the pointer is now, and was in the iteration before.
void BlockCompiler::LineCode::look_ahead(Pointer& p) const {
    ++c_.steady_sites_;
    const Mem last = home_mem({Home::Slot, c_.extra_slots_++}).cloneResized(8);
    p.ahead = c_.extra_slots_++;
    c_.failed_ |= c_.extra_slots_ > slot_count;
    a_.mov(x86::rdx, p.reg);
    a_.sub(x86::rdx, last);
    a_.mov(last, p.reg);
    a_.shl(x86::rdx, 2);
    a_.mov(home_mem({Home::Slot, *p.ahead}), x86::rdx);
}

const BlockCompiler::Pointer* BlockCompiler::LineCode::pointer_of(const ir::Inst& access) const {
    if (c_.pointers_.empty() || !is_plain_line(context(), access)) return nullptr;
    const Value base = base_of_line(context(), access);
    const auto step = even_step(context(), inst(ir::address_of(access)));
    const auto p = std::ranges::find_if(
        c_.pointers_, [&](const Pointer& x) { return x.base == base && x.step == step; });
    return p == c_.pointers_.end() ? nullptr : &*p;
}

void BlockCompiler::LineCode::advance_pointers() const {
    for (const Pointer& p : c_.pointers_)
        if (p.step) a_.add(p.reg, static_cast<int32_t>(p.step * chunk_lanes()));
}

// The address, for one access or for all that share it; then each of these looks for itself when
// not all of them are in range.
void BlockCompiler::LineCode::lds_line(LaneAccess& m, Value line) const {
    const bool one_row = inst(line).aux >= chunk_lanes();
    const auto stride = static_cast<uint32_t>(inst(line).imm);
    const Label in_range = a_.newLabel();
    const PlacedLine* const placed = placed_line(m, line);
    if (inst(m.v).aux & ir::within_lds && (!placed || placed->within)) {
        if (placed) {
            placed_address(m, *placed, m.slow);
        } else {
            c_.line_at_chunk(line, m.full);
            a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
            a_.add(m.address, x86::rax);
        }
        return;
    }
    const AddressFacts* const shared = placed ? nullptr : AccessCode(c_).shared_facts(m);
    if (placed) {
        placed_address(m, *placed, m.slow);
    } else if (shared) {
        m.address = shared->address;
        a_.test(shared->pattern, shared->pattern);
        a_.jnz(m.slow);
    } else {
        lds_line_address(m, line, m.imm, m.slow, m.full);
    }
    a_.bind(in_range);
    // Windows may reach as far as any access to the line.
    const int64_t furthest = placed && !one_row ? int64_t{placed->end} - m.bytes : m.imm;
    const bool up = static_cast<int32_t>(stride) >= 0, some = up && one_row && !m.full;
    cold(m.slow, [=, *this, looked = placed || shared] {
        const Label outside = a_.newLabel();
        if (!up && looked) {
            lds_line_address(m, line, furthest, outside, false);
            a_.jmp(in_range);
        } else if (looked || some) {
            const uint32_t span = lane_offsets(context(), inst(line))[chunk_lanes() - 1] + m.bytes;
            if (some) AccessCode(c_).mask_to_frame(m);
            a_.mov(x86::ecx, static_cast<uint32_t>(furthest) + span);
            a_.call(lds_range_check(line, some));
            if (m.address == x86::rcx) {
                a_.jnc(in_range);
            } else {
                a_.jc(outside);
                a_.mov(m.address, x86::rcx);
                a_.jmp(in_range);
            }
        }
        a_.bind(outside);
        AccessCode(c_).lds_line_slow(m, line);
        if (m.second != no_value)
            AccessCode(c_).lds_line_slow(m.second_access(second_of(context(), m)), line);
        if (!m.store) RowCode(c_).rows_as_loaded(m);
        a_.jmp(m.done);
    });
}

void BlockCompiler::LineCode::memory_line(LaneAccess& m, Value line) const {
    const auto stride = static_cast<uint32_t>(inst(line).imm);
    if (m.space == global_space)
        if (const PlacedLine* const base = placed_line(m.base_value, no_value))
            m.base = home_mem({Home::Slot, base->slot});
    if (const Pointer* const pointer = pointer_of(inst(m.v))) {
        m.address = pointer->reg;
    } else if (m.space == lds_space) {
        lds_line(m, line);
    } else if (has_lane_step(context(), inst(line))) {
        global_base(m.address, m.base_value);
        if (!m.store && m.full && !c_.loop_.by_chunks) PrefetchCode(c_).prefetch_next_rows(m, line);
        AccessCode(c_).find_first_lane(m);
        c_.load_line(line, m.t, m.full);
        is_narrow_load(m) ? GatherCode(c_).copy_each(m, m.t) : GatherCode(c_).copy_lanes(m, m.t);
        return;
    } else if (is_indexed(m, line)) {
        a_.mov(m.address, m.base);
        m.index = c_.chunk_offset_->at;
    } else if (const PlacedLine* const placed = placed_line(m, line)) {
        placed_address(m, *placed, m.slow);
    } else {
        global_base(m.address, m.base_value);
        if (const auto scale = chunk_scale(context(), inst(line))) {
            a_.lea(m.address, x86::ptr(m.address, reg::chunk, *scale, 256 << *scale));
        } else {
            c_.line_at_chunk(line, m.full);
            a_.add(m.address, x86::rax);
        }
    }
    const bool one_row = inst(line).aux >= chunk_lanes();
    if (const auto step = c_.tile_steps_.find(m.v); step != c_.tile_steps_.end())
        PrefetchCode(c_).prefetch_next_tile(m, step->second);
    else if (one_row && m.space == global_space && stride && !RowCode(c_).in_plain_loop(m) &&
             (stride <= m.bytes ? !m.store && !host_fetches(context(), line)
                                : first_of_tile(context(), m, line)))
        PrefetchCode(c_).prefetch_ahead(m, stride, line);
    const auto offsets = [&] { return lane_offsets(context(), inst(line)); };
    switch (m.transfer) {
        case Transfer::Windows:
            m.store ? RowCode(c_).store_window(m) : RowCode(c_).load_window(m);
            break;
        case Transfer::NarrowRows:
            RowCode(c_).memory_rows(m, line);
            break;
        case Transfer::Consecutive:
            RowCode(c_).memory_consecutive(m);
            break;
        case Transfer::Streamed:
            AccessCode(c_).memory_streamed(m);
            break;
        case Transfer::Neighbours:
            for (uint32_t n = 0; n < 2; ++n) {
                LaneAccess pair = m;
                pair.dwords = 2;
                pair.bytes = 8;
                pair.imm += 8 * n;
                pair.pairs = {m.pairs[n], no_value};
                std::copy_n(m.data + 2 * n, 2, pair.data);
                RowCode(c_).memory_consecutive(pair);
            }
            break;
        case Transfer::Repeated:
            m.store ? GatherCode(c_).store_same(m) : GatherCode(c_).load_same(m);
            break;
        case Transfer::Strided:
            GatherCode(c_).copy_pattern(m, strided);
            break;
        case Transfer::Sliding:
            GatherCode(c_).copy_pattern(m, sliding);
            break;
        case Transfer::Quads:
            m.store ? RowCode(c_).store_quads(m, offsets()) : RowCode(c_).load_quads(m, offsets());
            break;
        case Transfer::Triples:
            m.store ? RowCode(c_).store_triples(m, offsets())
                    : RowCode(c_).load_triples(m, offsets());
            break;
        case Transfer::ByteRow:
            m.store ? GatherCode(c_).store_bytes(m, *store_byte_row(context(), m, offsets()))
                    : GatherCode(c_).load_bytes(m, *load_byte_row(context(), m, offsets()));
            break;
        case Transfer::ByteLanes:
            GatherCode(c_).store_byte_lanes(m, offsets());
            break;
        case Transfer::DwordRow:
            m.store ? RowCode(c_).store_dwords(m, *dword_row(context(), m, offsets()))
                    : RowCode(c_).load_dwords(m, *dword_row(context(), m, offsets()));
            break;
        default:  // gathers
            RowCode(c_).copy_lanes_of_line(m, line);
    }
}

}  // namespace wj::x64
