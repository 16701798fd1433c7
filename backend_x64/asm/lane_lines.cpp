// Accesses at lines (lift/affine.h): how far apart the lanes' elements are is known, so that
// nothing but the bounds of the LDS is looked at. What is wanted later is fetched ahead.
#include <algorithm>
#include <bit>
#include <span>

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {
constexpr size_t most_placed_lines = 32;
}

// How far apart the lanes' elements are is known without a look at them.
bool BlockCompiler::is_line(const LaneAccess& m, Value addr) const {
    if (inst(addr).op != Op::Line32) return false;
    if (m.space == lds_space) return is_short_lds_offset(m.imm);
    const ir::Inst& base = inst(inst(addr).args[0]);  // global lines have theirs in the access
    return m.space == global_space && !options_.checked && m.imm == static_cast<int32_t>(m.imm) &&
           base.op == Op::Const32 && !base.imm;
}

// eax = LDS address of the chunk's first lane. Jumps, with the host address in m.address, when the
// lanes from the first active one to the last are in range: as at the ends of arrays, where the
// others are masked.
void BlockCompiler::lds_range_of_active(const LaneAccess& m, uint32_t stride, Label in_range) {
    const Label not_all = a_.newLabel();
    if (avx512_)
        a_.kmovw(x86::ecx, m.mask_k);
    else
        a_.vmovmskps(x86::ecx, m.mask_v.ymm());
    a_.movsxd(x86::rax, x86::eax);
    a_.tzcnt(x86::edx, x86::ecx);
    a_.imul(x86::edx, x86::edx, static_cast<int32_t>(stride));
    a_.add(x86::rdx, x86::rax);
    a_.js(not_all);
    a_.bsr(x86::ecx, x86::ecx);
    a_.imul(x86::ecx, x86::ecx, static_cast<int32_t>(stride));
    a_.lea(x86::rcx, x86::ptr(x86::rcx, x86::rax, 0, static_cast<int32_t>(m.imm + m.bytes)));
    a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
    a_.cmp(x86::rcx, x86::rdx);
    a_.ja(not_all);
    a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
    a_.add(m.address, x86::rax);
    a_.jmp(in_range);
    a_.bind(not_all);
}

// m.address = host address of the chunk's first element in the LDS, whose distance from the LDS's
// beginning is in eax. Jumps when the chunk's elements are not all in range.
void BlockCompiler::lds_line_address(const LaneAccess& m, Value line, int64_t max_imm,
                                     Label out_of_range, bool always) {
    const uint32_t span = lane_offsets(inst(line))[chunk_lanes() - 1] + m.bytes;
    line_at_chunk(line, always);
    a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
    a_.add(m.address, x86::rax);
    lds_bound(static_cast<uint32_t>(max_imm) + span, out_of_range);
}

// Jumps unless so many bytes from the LDS address in eax on are in range, without wrapping. Changes
// edx.
void BlockCompiler::lds_bound(uint32_t bytes, Label out_of_range) {
    a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
    a_.sub(x86::edx, static_cast<int32_t>(bytes));
    a_.jb(out_of_range);
    a_.cmp(x86::eax, x86::edx);
    a_.ja(out_of_range);
}

// From chunk to chunk, if that is the same for all of them.
std::optional<uint32_t> BlockCompiler::bytes_per_lane(const ir::Inst& line) const {
    if (line.aux == machine::lanes) return static_cast<uint32_t>(line.imm);
    if (line.aux > chunk_lanes() || !is_const(line.args[1])) return {};
    const auto step = static_cast<uint32_t>(inst(line.args[1]).imm);
    return step % line.aux ? std::nullopt : std::optional(step / line.aux);
}

// How far reg::chunk, which is 4 * lane - 256, is shifted to lead from chunk to chunk.
std::optional<uint32_t> BlockCompiler::chunk_scale(const ir::Inst& line) const {
    const uint32_t per_lane = bytes_per_lane(line).value_or(0);
    if (per_lane % 4 || per_lane > 32 || !std::has_single_bit(per_lane)) return {};
    return static_cast<uint32_t>(std::countr_zero(per_lane / 4));
}

// Lines that the region is the first to use: where their elements are is found out once, for all
// chunks.
void BlockCompiler::place_lines(const Value* begin, uint32_t count) {
    for (uint32_t n = 0; n < count && placed_lines_.size() < most_placed_lines; ++n) {
        const ir::Inst& x = inst(begin[n]);
        const ir::Class cls = ir::op_info(x.op).cls;
        if (cls != ir::Class::LaneLoad && cls != ir::Class::LaneStore) continue;
        const bool lds = space_of(x.op) == lds_space;
        if (!lds && (space_of(x.op) != global_space || options_.checked)) continue;
        PlacedLine p;
        p.line = ir::address_of(x);
        if (!lds) p.base = x.args[0];
        if (inst(p.line).op == Op::Line32 && !placed_line(p.base, p.line) && place_line(p))
            placed_lines_.push_back(p);
    }
    failed_ |= extra_slots_ > slot_count;
}

bool BlockCompiler::place_line(PlacedLine& p) {
    const ir::Inst& l = inst(p.line);
    const bool lds = p.base == no_value, fixed_step = is_const(l.args[1]);
    const auto stride = static_cast<uint32_t>(l.imm), width = static_cast<uint32_t>(l.aux);
    const uint64_t step = fixed_step ? static_cast<uint32_t>(inst(l.args[1]).imm) : 0;
    const auto scale = chunk_scale(l);
    uint64_t last = 0;  // how far the last lane is from the first one, at most
    if (scale) {
        if (!lds) return false;  // nothing to keep
        p.scale = *scale;
        last =
            (4 << *scale) * (machine::lanes - chunk_lanes()) + lane_offsets(l)[chunk_lanes() - 1];
    } else {
        if (width < chunk_lanes() || (lds && !fixed_step)) return false;
        last = uint64_t{stride} * (width - 1) + step * (machine::lanes / width - 1);
        p.row = schedule_.temp_row_count() + kept_rows_;
        if (last > (lds ? 0x10000 : 0x7fffffff) || p.row >= temp_rows) return false;
    }
    if (lds) {
        for (const ir::Inst& x : block_->insts)
            if ((x.op == Op::LoadLds || x.op == Op::StoreLds) && x.args[0] == p.line &&
                is_short_lds_offset(immediate(x)))
                p.end = std::max(p.end, static_cast<uint32_t>(immediate(x)) + ir::access_bytes(x));
        if (!p.end) return false;
    }
    const Label out = a_.newLabel(), done = a_.newLabel();
    if (lds) {
        if (is_const(l.args[0]))
            a_.mov(x86::eax, static_cast<uint32_t>(inst(l.args[0]).imm));
        else
            a_.mov(x86::eax, home_mem(schedule_.uniform_home(l.args[0])));
        lds_bound(p.end + static_cast<uint32_t>(last), out);
        a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
    } else {
        global_base(x86::rax, home_mem(schedule_.uniform_home(p.base)));
    }
    if (scale) {
        a_.add(x86::rax, 256 << *scale);
        a_.bind(done);
        p.slot = extra_slots_++;
        a_.mov(home_mem({Home::Slot, p.slot}), x86::rax);
        cold(out, [this, done] {
            a_.xor_(x86::eax, x86::eax);
            a_.jmp(done);
        });
        return true;
    }
    ++kept_rows_;
    if (!fixed_step) a_.mov(x86::edx, home_mem(schedule_.uniform_home(l.args[1])));
    auto at_chunk = [this, row = p.row](uint32_t lane) {
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
    if (lds)
        cold(out, [this, done, at_chunk] {
            for (uint32_t lane = 0; lane < machine::lanes; lane += chunk_lanes())
                a_.mov(at_chunk(lane), 0);
            a_.jmp(done);
        });
    return true;
}

// Uniform base of a global access, as the host sees it.
void BlockCompiler::global_base(const Gp& to, const Mem& base) {
    a_.mov(to, base);
    if (!options_.mask_addresses) return;
    a_.mov(x86::rdx, wave_field(offsetof(Wave, ctx), 8));
    a_.and_(to, x86::qword_ptr(x86::rdx, offsetof(machine::ExecContext, address_mask)));
}

const BlockCompiler::PlacedLine* BlockCompiler::placed_line(Value base, Value line) const {
    const auto p = std::ranges::find_if(
        placed_lines_, [&](const PlacedLine& x) { return x.line == line && x.base == base; });
    return p == placed_lines_.end() ? nullptr : &*p;
}

const BlockCompiler::PlacedLine* BlockCompiler::placed_line(const LaneAccess& m, Value line) const {
    const bool lds = m.space == lds_space;
    const PlacedLine* const p = placed_line(lds ? no_value : inst(m.v).args[0], line);
    return p && lds && m.imm + m.bytes > p->end ? nullptr : p;
}

// m.address = host address of the chunk's first element. Jumps where it is not known.
void BlockCompiler::placed_address(const LaneAccess& m, const PlacedLine& p, Label unknown) {
    a_.mov(m.address, p.row == no_row ? home_mem({Home::Slot, p.slot}) : temp(p.row));
    if (p.base == no_value) {
        a_.test(m.address, m.address);
        a_.jz(unknown);
    }
    if (p.row != no_row) return;
    if (p.scale)
        a_.lea(m.address, x86::ptr(m.address, reg::chunk, p.scale));
    else
        a_.add(m.address, reg::chunk);
}

// The address, for one access or for all that share it; then each of these looks for itself when
// not all of them are in range.
void BlockCompiler::lds_line(LaneAccess& m, Value line) {
    const bool one_row = inst(line).aux >= chunk_lanes();
    const auto stride = static_cast<uint32_t>(inst(line).imm);
    const Label in_range = a_.newLabel();
    const PlacedLine* const placed = placed_line(m, line);
    const AddressFacts* const shared = placed ? nullptr : shared_facts(m);
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
    cold(m.slow, [=, this, again = shared || placed] {
        const Label outside = a_.newLabel();
        if (again) {
            lds_line_address(m, line, furthest, outside, false);
            a_.jmp(in_range);
            a_.bind(outside);
        }
        if (!m.full && one_row) lds_range_of_active(m, stride, in_range);
        load_line(line, m.lo, false);
        memory_slow(m);
        if (m.second != no_value) memory_slow(second_of(m));
        a_.jmp(m.done);
    });
}

// Later work-groups go on where this one does, in all likelihood.
void BlockCompiler::prefetch_ahead(const LaneAccess& m, uint32_t stride) {
    const auto shift = static_cast<uint32_t>(std::bit_width(stride) - 1);
    a_.mov(x86::rdx, frame_field(offsetof(Frame, prefetch_items), 8));
    if (shift > 3) a_.shl(x86::rdx, shift - 3);
    for (uint32_t p = 0; p < stride / 4; ++p) {
        const Mem at = x86::ptr(m.address, x86::rdx, std::min(shift, 3u),
                                static_cast<int32_t>(m.imm + p * width()));
        m.store ? a_.prefetchw(at) : a_.prefetcht0(at);
    }
}

// Rows of 16 bytes per lane: the first access of the block to them prefetches for all.
bool BlockCompiler::first_of_tile(const LaneAccess& m, Value line) const {
    if (inst(line).imm != stride_bytes) return false;
    return std::none_of(block_->insts.begin(), block_->insts.begin() + m.v, [&](const ir::Inst& x) {
        const ir::Class cls = ir::op_info(x.op).cls;
        return (cls == ir::Class::LaneLoad || cls == ir::Class::LaneStore) &&
               space_of(x.op) == global_space && ir::address_of(x) == line &&
               x.args[0] == inst(m.v).args[0] &&
               std::abs(immediate(x) - m.imm) < static_cast<int64_t>(stride_bytes);
    });
}

// Four loads of a row's dwords, 16 bytes from lane to lane, as one of tuples.
void BlockCompiler::join_tile(LaneAccess& m, Value line) {
    const ir::Inst& own = inst(m.v);
    if (m.store || m.space != global_space || !m.full || !m.dwords_only() || m.dwords != 1 ||
        inst(line).imm != stride_bytes || inst(line).aux < chunk_lanes() || looping_)
        return;
    std::array<Value, 7> near{};  // by distance from this one's dword, three being itself
    near.fill(no_value);
    near[3] = m.v;
    const Value* const end = schedule_.end(position_);
    for (const Value* v = schedule_.begin(position_) + at_ + 1; v != end; ++v) {
        const ir::Inst& i = inst(*v);
        const ir::Class cls = ir::op_info(i.op).cls;
        if (cls == ir::Class::LaneStore || cls == ir::Class::LaneAtomic) break;
        const int64_t dwords = (immediate(i) - m.imm) / 4 + 3;
        if (i.op == own.op && i.args == own.args && i.aux == own.aux &&
            (immediate(i) - m.imm) % 4 == 0 && dwords >= 0 && dwords < 7 && dwords != 3)
            near[static_cast<size_t>(dwords)] = *v;
    }
    for (size_t first = 0; first < 4; ++first) {
        if (std::ranges::count(near.begin() + first, near.begin() + first + 4, no_value)) continue;
        std::copy_n(near.begin() + first, 4, m.tile.begin());
        m.imm += (static_cast<int64_t>(first) - 3) * 4;
        m.dwords = 4;
        m.bytes = stride_bytes;
        return;
    }
}

void BlockCompiler::memory_line(LaneAccess& m, Value line) {
    const auto stride = static_cast<uint32_t>(inst(line).imm);
    if (m.space == lds_space) {
        lds_line(m, line);
    } else if (has_lane_step(inst(line))) {
        global_base(m.address, m.base);
        find_first_lane(m);
        load_line(line, m.t, m.full);
        copy_lanes(m, m.t);
        return;
    } else if (const PlacedLine* const placed = placed_line(m, line)) {
        placed_address(m, *placed, m.slow);
    } else {
        global_base(m.address, m.base);
        if (const auto scale = chunk_scale(inst(line))) {
            a_.lea(m.address, x86::ptr(m.address, reg::chunk, *scale, 256 << *scale));
        } else {
            line_at_chunk(line, m.full);
            a_.add(m.address, x86::rax);
        }
    }
    const bool one_row = inst(line).aux >= chunk_lanes();
    if (one_row && m.space == global_space &&
        (stride == m.bytes ? !m.store : first_of_tile(m, line)))
        prefetch_ahead(m, stride);
    if (m.second != no_value) {
        store_windows(m, *window_of(m, line), *window_of(second_of(m), line));
    } else if (const auto window = one_row ? std::nullopt : window_of(m, line)) {
        m.store ? store_window(m, *window) : load_window(m, *window);
    } else if (one_row && stride == m.bytes) {
        streamed(m) ? memory_streamed(m) : memory_consecutive(m);
    } else if (one_row && stride == 0 && !m.store) {
        load_same(m);
    } else if (one_row && stride == stride_bytes && m.full && m.dwords_only() &&
               (m.store ? m.bytes == 4 && avx512_ && row_of_tile(m) : m.bytes <= 8)) {
        copy_pattern(m, strided);
    } else if (one_row && stride == 4 && may_be_sliding(m)) {
        copy_pattern(m, sliding);
    } else {
        find_first_lane(m);
        movu(m.t, pool_table(lane_offsets(inst(line)).data()));
        copy_lanes(m, m.t);
    }
}

// ---- windows: the elements of a chunk, in any order, next to one another
// ---------------------------------------------------------------------------

// One or two vectors wide. None: the lanes go their own ways.
std::optional<BlockCompiler::Window> BlockCompiler::window_of(const LaneAccess& m,
                                                              Value line) const {
    if (!m.dwords_only() || (m.space != lds_space && !m.full)) return {};
    Window w{lane_offsets(inst(line)), static_cast<int32_t>(m.imm)};
    const auto lanes = std::span(w.lanes).first(chunk_lanes());
    if (std::ranges::any_of(lanes, [](uint32_t x) { return x % 4 || x > 0x10000; })) return {};
    const uint32_t span = std::ranges::max(lanes) + m.bytes;
    if (const PlacedLine* placed = m.space == lds_space ? placed_line(m, line) : nullptr) {
        // All accesses to the line share vectors, so that later ones find there, as a whole, what
        // earlier ones have stored.
        const uint32_t reach = lanes.back() + placed->end,
                       end = static_cast<uint32_t>(m.imm) + span;
        w.bytes = end > width() ? 2 * width() : width();
        w.whole = m.imm % 4 == 0 && end <= w.bytes && w.bytes <= reach;
        if (w.whole) {
            w.at = 0;
            for (uint32_t& x : w.lanes) x += static_cast<uint32_t>(m.imm);
        }
    }
    if (!w.whole) {
        w.bytes = span - (m.bytes - 4);
        if (w.bytes > 2 * width()) return {};
        // Nothing behind the last element is loaded.
        if (!m.store && w.bytes < width() && w.bytes != 16 && w.bytes != 32) return {};
    }
    if (!m.store) return w;
    // Which lane's dword stays, where elements share one, is not for stores dword by dword.
    LaneOffsets sorted = w.lanes;
    std::sort(sorted.begin(), sorted.begin() + chunk_lanes());
    for (uint32_t l = 1; l < chunk_lanes(); ++l)
        if (sorted[l] - sorted[l - 1] < m.bytes) return {};
    return w;
}

// The first and the last vector of it; or all of it, repeated.
void BlockCompiler::load_window(const LaneAccess& m, const Window& w) {
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const auto [places, begin] = w.dword(d);
        const Mem at = x86::ptr(m.address, begin);
        const bool two = w.bytes > width();
        const uint32_t second_at = two ? w.bytes - width() : 0;
        LaneOffsets index{}, in_part{};
        uint32_t from_second = 0;
        for (uint32_t l = 0; l < chunk_lanes(); ++l) {
            const uint32_t place = places[l];
            const bool in_second = place >= width();
            index[l] = in_second ? chunk_lanes() + (place - second_at) / 4 : place / 4;
            in_part[l] = index[l] % chunk_lanes();
            from_second |= uint32_t{in_second} << l;
        }
        const Vec &data = m.data[d], &z = m.z[0];
        if (!two) {
            movu(m.t, pool_table(index.data()));
            if (w.bytes == width()) {
                a_.emit(X::kIdVpermd, data, m.t, at);
            } else {
                const InstId repeat = !avx512_        ? X::kIdVbroadcasti128
                                      : w.bytes == 16 ? X::kIdVbroadcasti32x4
                                                      : X::kIdVbroadcasti64x4;
                a_.emit(repeat, z, at);
                a_.emit(X::kIdVpermd, data, m.t, z);
            }
            continue;
        }
        const Mem second = at.cloneAdjusted(static_cast<int32_t>(second_at));
        if (avx512_) {
            movu(z, at);
            movu(data, pool_table(index.data()));
            a_.emit(X::kIdVpermi2d, data, z, second);
        } else {
            movu(m.t, pool_table(in_part.data()));
            a_.emit(X::kIdVpermd, z, m.t, at);
            a_.emit(X::kIdVpermd, data, m.t, second);
            a_.emit(X::kIdVpblendd, data, z, data, Imm(from_second));
        }
    }
}

// Each vector of it, from the lanes that belong there.
void BlockCompiler::store_window(const LaneAccess& m, const Window& w) {
    const Vec &index = m.t, &active = m.t2, &data = m.z[0];
    if (!m.full && avx512_) a_.emit(X::kIdVpmovm2d, active, m.mask_k);
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const auto [places, begin] = w.dword(d);
        for (uint32_t part = 0; part * width() < w.bytes; ++part) {
            LaneOffsets from{}, there{};
            uint32_t bits = 0;
            for (uint32_t l = 0; l < chunk_lanes(); ++l) {
                if (places[l] / width() != part) continue;
                const uint32_t place = places[l] % width() / 4;
                from[place] = l;
                there[place] = ~0u;
                bits |= 1u << place;
            }
            if (!bits) continue;
            const Mem at = x86::ptr(m.address, begin + static_cast<int32_t>(part * width()));
            const Mem wanted = pool_table(there.data());
            movu(index, pool_table(from.data()));
            const bool all = m.full && bits == (1u << chunk_lanes()) - 1;
            if (avx512_) {
                if (!m.full) {
                    a_.emit(X::kIdVpermd, data, index, active);
                    a_.emit(X::kIdVptestmd, m.tk, data, wanted);
                } else if (!all) {
                    a_.mov(x86::eax, bits);
                    a_.kmovw(m.tk, x86::eax);
                }
                if (w.whole && !all) {  // what is stored in parts has to be waited for later
                    movu(data, at);
                    k(m.tk);
                }
                a_.emit(X::kIdVpermd, data, index, m.data[d]);
                if (!w.whole && !all) k(m.tk);
                movu(at, data);
                continue;
            }
            a_.emit(X::kIdVpermd, data, index, m.data[d]);
            if (all) {
                movu(at, data);
                continue;
            }
            if (m.full) {
                movu(index, wanted);
            } else {
                a_.emit(X::kIdVpermd, index, index, m.mask_v);
                a_.emit(X::kIdVpand, index, index, wanted);
            }
            if (w.whole) {
                movu(active, at);
                a_.emit(X::kIdVblendvps, data, active, data, index);
                movu(at, data);
            } else {
                a_.emit(X::kIdVmaskmovps, at, index, data);
            }
        }
    }
}

// The store behind this one, if it fills gaps of the same window: both are one then. Exchanges of
// sorting networks, the results of butterflies.
Value BlockCompiler::second_store(const LaneAccess& m, Value line) const {
    const Value* const next = schedule_.begin(position_) + at_ + 1;
    if (!m.store || m.space != lds_space || m.dwords != 1 || next == schedule_.end(position_))
        return no_value;
    const ir::Inst &own = inst(m.v), &other = inst(*next);
    if (other.op != own.op || other.args[0] != line || other.aux != own.aux ||
        ir::mask_of(other) != ir::mask_of(own) || inst(line).aux >= chunk_lanes())
        return no_value;
    LaneAccess n = m;
    n.second = *next;
    const auto a = window_of(m, line), b = window_of(second_of(n), line);
    if (!a || !b || !a->whole || !b->whole || a->bytes != b->bytes) return no_value;
    for (uint32_t x = 0; x < chunk_lanes(); ++x)
        for (uint32_t y = 0; y < chunk_lanes(); ++y)
            if (a->lanes[x] == b->lanes[y]) return no_value;
    return *next;
}

BlockCompiler::LaneAccess BlockCompiler::second_of(const LaneAccess& m) const {
    LaneAccess second = m;
    second.v = m.second;
    second.imm = immediate(inst(m.second));
    second.added = static_cast<uint32_t>(inst(m.second).imm >> 32);
    second.data[0] = m.data[1];
    return second;
}

void BlockCompiler::store_windows(const LaneAccess& m, const Window& a, const Window& b) {
    const Vec &x = m.t, &y = m.t2, &z = m.z[0];
    if (!m.full && avx512_) a_.emit(X::kIdVpmovm2d, y, m.mask_k);
    for (uint32_t part = 0; part * width() < a.bytes; ++part) {
        LaneOffsets lane{}, source{}, there{};
        uint32_t bits = 0, of_second = 0;
        for (const Window* w : {&a, &b})
            for (uint32_t l = 0; l < chunk_lanes(); ++l) {
                if (w->lanes[l] / width() != part) continue;
                const uint32_t place = w->lanes[l] % width() / 4;
                lane[place] = l;
                source[place] = w == &a ? l : chunk_lanes() + l;
                there[place] = ~0u;
                bits |= 1u << place;
                of_second |= uint32_t{w == &b} << place;
            }
        if (!bits) continue;
        const Mem at = x86::ptr(m.address, static_cast<int32_t>(part * width()));
        const bool all = m.full && bits == (1u << chunk_lanes()) - 1;
        if (avx512_) {
            movu(x, pool_table(source.data()));
            a_.emit(X::kIdVpermi2d, x, m.data[0], m.data[1]);
            if (!all) {
                if (m.full) {
                    a_.mov(x86::eax, bits);
                    a_.kmovw(m.tk, x86::eax);
                } else {
                    movu(z, pool_table(lane.data()));
                    a_.emit(X::kIdVpermd, z, z, y);
                    a_.emit(X::kIdVptestmd, m.tk, z, pool_table(there.data()));
                }
                movu(z, at);
                k(m.tk);
                a_.emit(X::kIdVmovdqa32, z, x);
            }
            movu(at, all ? x : z);
            continue;
        }
        movu(x, pool_table(lane.data()));
        a_.emit(X::kIdVpermd, z, x, m.data[0]);
        a_.emit(X::kIdVpermd, y, x, m.data[1]);
        a_.emit(X::kIdVpblendd, z, z, y, Imm(of_second));
        if (!all) {
            if (m.full) {
                movu(x, pool_table(there.data()));
            } else {
                a_.emit(X::kIdVpermd, x, x, m.mask_v);
                a_.emit(X::kIdVpand, x, x, pool_table(there.data()));
            }
            movu(y, at);
            a_.emit(X::kIdVblendvps, z, y, z, x);
        }
        movu(at, z);
    }
}

}  // namespace wj::x64
