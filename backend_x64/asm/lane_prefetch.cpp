// What accesses fetch ahead: for later iterations, for the waves to come, for the next tile.
// (docs/design/streaming.md)
#include "backend_x64/asm/access_code.h"
#include "backend_x64/loop_estimate.h"

namespace wj::x64 {

using ir::Access;
using ir::Op;
namespace x86 = asmjit::x86;

// What the chunk accesses four iterations on, if it goes on as it came here from the last one.
// Steps of a grid's size are longer than pages, where hardware prefetchers stop.
void BlockCompiler::PrefetchCode::prefetch_iterations(const LaneAccess& m) const {
    const Pointer* const pointer = LineCode(c_).pointer_of(inst(m.v));
    if (pointer && pointer->ahead) {
        a_.mov(x86::rdx, home_mem({Home::Slot, *pointer->ahead}));
        prefetch_at(m, 0);
        return;
    }
    const Mem last = x86::ptr(reg::frame, reg::chunk, 0,
                              in_frame(offsetof(Frame, last_address) + 256 +
                                       c_.steady_sites_++ * sizeof(Frame::last_address[0])),
                              8);
    a_.mov(x86::rdx, m.address);
    a_.sub(x86::rdx, last);
    a_.mov(last, m.address);
    prefetch_at(m, 2);
}

// What lies rdx << shift behind the access.
void BlockCompiler::PrefetchCode::prefetch_at(const LaneAccess& m, uint32_t shift) const {
    for (uint32_t p = 0; p < m.dwords; ++p) {
        const Mem at =
            x86::ptr(m.address, x86::rdx, shift, static_cast<int32_t>(m.imm + p * width()));
        m.store ? a_.prefetchw(at) : a_.prefetcht0(at);
    }
}

// What waves to come will read in the iteration that this one is in: the host, which runs on along
// the wrong way behind each loop's end, begins every loop with nothing on its way. Where iterations
// are near each other, the waves of a work-group together read all there is between them, and those
// to come go on behind that.
void BlockCompiler::PrefetchCode::prefetch_walk(const LaneAccess& m) const {
    constexpr int32_t near_ahead = 16 << 10, items_ahead = 2 * machine::lanes;
    const auto row = static_cast<int32_t>(block_->wave_size * m.bytes);
    const auto step = step_of(*block_, inst(m.v));
    if ((step && std::abs(int64_t{*step}) < row) || looked_up_values(*block_)[m.v]) return;
    const int32_t ahead =
        steps_far(step) ? items_ahead * static_cast<int32_t>(m.bytes) : near_ahead;
    for (uint32_t p = 0; p < m.dwords; ++p)
        a_.prefetcht1(x86::ptr(m.address, static_cast<int32_t>(m.imm + p * width()) + ahead));
}

// Of a load that walks, one lane is served in an iteration: the count of the gathers says which.
// What it reaches next, and what lanes of later chunks may: streams often follow one another, as
// the rows of a matrix.
void BlockCompiler::PrefetchCode::prefetch_stream(const LaneAccess& m) const {
    const Mem count = frame_field(offsetof(Frame, scattered) + static_cast<size_t>(m.site), 1);
    a_.movzx(x86::eax, count);
    a_.inc(count);
    a_.vmovd(m.t.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
    a_.emit(X::kIdVpermd, m.t2, m.t, m.lo);
    a_.emit(X::kIdVpermd, m.t, m.t, m.hi);
    a_.vmovd(x86::eax, m.t2.xmm());
    a_.vmovd(x86::ecx, m.t.xmm());
    a_.shl(x86::rcx, 32);
    a_.add(x86::rcx, x86::rax);
    if (m.scalar_base) a_.add(x86::rcx, m.base);
    const auto at = static_cast<int32_t>(m.imm);
    a_.prefetcht0(x86::ptr(x86::rcx, at + m.walks * 128));
    a_.prefetcht1(x86::ptr(x86::rcx, at + m.walks * 2048));
}

// Indices that the wave has loaded from consecutive memory, in a program whose waves start each
// other: the next one's are behind them.
void BlockCompiler::PrefetchCode::find_next_index(LaneAccess& m) const {
    const ir::Inst& load = inst(m.v);
    if (load.op != Op::LoadGlobalS64 || !(load.aux & ir::from_afar) || !m.full ||
        !runs_again(context()))
        return;
    const auto field = scaled_index(*block_, load.args[1]);
    if (!field || field->width != 32 || inst(field->source).op != Op::Elem) return;
    const ir::Inst& from = inst(inst(field->source).args[0]);
    if (from.op != Op::LoadGlobalS || ir::aux_dwords(from.aux) != 1 ||
        ir::aux_access(from.aux) != Access::Dwords)
        return;
    const Pointer* const at = LineCode(c_).pointer_of(from);
    const ir::Inst& line = inst(from.args[1]);
    if (!at || line.aux != machine::lanes || line.imm != 4) return;
    m.next_index = x86::dword_ptr(at->reg, static_cast<int32_t>(from.imm + block_->wave_size * 4));
    m.next_field = *field;
}

// The next wave's elements, into the second-level cache: what the first-level one waits for at once
// are fewer lines than a wave gathers. Indices on another page may not be readable.
void BlockCompiler::PrefetchCode::prefetch_elements(const LaneAccess& m) const {
    const Label over = a_.newLabel();
    constexpr uint32_t page = 4096;
    const uint32_t wave = block_->wave_size * 4;
    a_.lea(x86::rdx, m.next_index);
    a_.lea(x86::rax, m.next_index.cloneAdjusted(chunk_lanes() * 4 - 1));
    a_.lea(x86::rcx, m.next_index.cloneAdjusted(-int64_t{wave}));
    a_.xor_(x86::rax, x86::rcx);
    a_.cmp(x86::rax, page);
    a_.jae(over);
    a_.mov(x86::rcx, m.base);
    for (uint32_t l = 0; l < chunk_lanes(); ++l) {
        AtomicCode(c_).load_field(x86::rax, x86::rdx, l, m.next_field);
        a_.prefetcht1(x86::ptr(x86::rcx, x86::rax, m.next_field.up, static_cast<int32_t>(m.imm)));
    }
    a_.bind(over);
}

// How far the rows are apart that a line leads along: those of the wave, or of it and the next one.
Value BlockCompiler::PrefetchCode::row_step(Value base, Value line) const {
    const ir::Inst& l = inst(line);
    if (l.op != Op::Line32 || l.aux < chunk_lanes()) return no_value;
    Value step = l.args[1];
    if (l.aux == machine::lanes) {
        const auto moving = c_.moving_bases_.find(base);
        if (!c_.goes_on_ || moving == c_.moving_bases_.end()) return no_value;
        step = moving->second.wave;
    }
    return step == no_value || is_const(step) ? no_value : step;
}

// Loads along rows: how far ahead the data lies that is to be fetched already, which is as many
// rows of work-groups as the launch says, if they are short.
void BlockCompiler::PrefetchCode::find_rows_ahead(const Value* begin, uint32_t count) const {
    if (c_.loop_.by_chunks || is_checked(options_.address_mode)) return;
    for (const Value* v = begin; v != begin + count; ++v) {
        const ir::Inst& x = inst(*v);
        if (x.op != Op::LoadGlobalS || c_.tile_steps_.contains(*v)) continue;
        const ir::Inst& line = inst(x.args[1]);
        const Value apart = row_step(x.args[0], x.args[1]);
        if (apart == no_value || host_fetches(context(), x.args[1]) || line.imm < 4 ||
            line.imm > ir::access_bytes(x) || c_.rows_ahead_.contains(apart) ||
            schedule_.position(apart) > c_.position_)
            continue;
        const Home& step = schedule_.uniform_home(apart);
        if (step.kind != Home::Slot && step.kind != Home::Wave) continue;
        const Gp items = x86::rax, rows = x86::rdx, length = x86::rcx;
        const bool wide = block_->type(apart) == ir::Type::U64;
        a_.mov(rows, frame_field(offsetof(Frame, prefetch_rows), 8));
        a_.mov(items, frame_field(offsetof(Frame, prefetch_items), 8));
        a_.shl(items, std::bit_width(line.imm) - 1);
        a_.mov(wide ? length : Gp(length.r32()), home_mem(step).cloneResized(wide ? 8 : 4));
        a_.imul(length, rows);
        a_.test(rows, rows);
        a_.cmovnz(items, length);
        a_.mov(home_mem({Home::Slot, c_.extra_slots_}), items);
        c_.rows_ahead_.emplace(apart, c_.extra_slots_++);
    }
    c_.failed_ |= c_.extra_slots_ > slot_count;
}

// Later work-groups go on where this one does, in all likelihood.
void BlockCompiler::PrefetchCode::prefetch_ahead(const LaneAccess& m, uint32_t stride,
                                                 Value line) const {
    const auto rows = c_.rows_ahead_.find(row_step(inst(m.v).args[0], line));
    const bool indexed = m.index.isValid();
    const Label over = a_.newLabel();
    Gp ahead = x86::rdx;
    uint32_t scale = 0;
    if (stride > m.bytes) {
        a_.cmp(frame_field(offsetof(Frame, prefetch_row), 4), stride);
        a_.ja(over);
    }
    if (stride > m.bytes || rows == c_.rows_ahead_.end()) {
        const auto shift = static_cast<uint32_t>(std::bit_width(stride) - 1);
        scale = indexed ? 0 : std::min(shift, 3u);
        a_.mov(ahead, frame_field(offsetof(Frame, prefetch_items), 8));
        if (shift > scale) a_.shl(ahead, shift - scale);
        if (indexed) a_.add(ahead, m.index);
    } else if (indexed && c_.chunk_offset_->distance == rows->second) {
        ahead = c_.chunk_offset_->ahead;
    } else {
        a_.mov(ahead, home_mem({Home::Slot, rows->second}));
        if (indexed) a_.add(ahead, m.index);
    }
    for (uint32_t p = 0; p < std::max(stride / 4, 1u); ++p) {
        const Mem at = x86::ptr(m.address, ahead, scale, static_cast<int32_t>(m.imm + p * width()));
        m.store ? a_.prefetchw(at) : a_.prefetcht1(at);
    }
    a_.bind(over);
}

// Loads of rows in front of a barrier, but for those that a program begins with: most likely those
// of the tile that a loop works on next. How far each has moved on since the wave was here last,
// for all whose addresses are known in front of the first region with one of them.
void BlockCompiler::PrefetchCode::find_tile_steps(const Value* begin, uint32_t count) const {
    const ir::Terminator& t = block_->term;
    if (!c_.tile_steps_.empty() || is_checked(options_.address_mode) || starts_program(*block_) ||
        t.kind != ir::Terminator::Kind::Exit || t.exit != machine::ExitKind::Barrier)
        return;
    struct Tile {
        Value address;
        uint32_t slot;
        int32_t stride;
        size_t number;  // in Frame::tile_address
    };
    std::vector<Tile> tiles;
    auto is_row = [*this](Value v) {
        const ir::Inst& x = inst(v);
        return x.op == Op::LoadGlobalS && inst(x.args[1]).op == Op::Line32 &&
               inst(x.args[1]).aux >= chunk_lanes();
    };
    if (std::none_of(begin, begin + count, is_row)) return;
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const ir::Inst& x = inst(v);
        if (!is_row(v) || schedule_.position(v) < c_.position_ ||
            schedule_.position(x.args[0]) > c_.position_ || is_const(x.args[0]) ||
            c_.tile_steps_.size() == Frame::most_tile_loads)
            continue;
        tiles.push_back({x.args[0], c_.extra_slots_, static_cast<int32_t>(inst(x.args[1]).imm),
                         c_.tile_steps_.size()});
        c_.tile_steps_.emplace(v, c_.extra_slots_++);
    }
    c_.failed_ |= c_.extra_slots_ > slot_count;
    if (tiles.empty()) return;
    const Gp wave = x86::rdx, step = x86::rax, address = x86::rcx;
    const Label large = a_.newLabel(), known = a_.newLabel();
    // In large launches what later work-groups read is the better guess.
    a_.cmp(frame_field(offsetof(Frame, prefetch_items), 8), 0);
    a_.jne(large);
    a_.mov(wave.r32(), reg::wave.r32());
    a_.shr(wave.r32(), 6);
    a_.and_(wave.r32(), Frame::most_tile_waves - 1);
    for (const Tile& t : tiles) {
        const Mem last = x86::qword_ptr(
            reg::frame, wave, 3,
            in_frame(offsetof(Frame, tile_address) + t.number * sizeof(Frame::tile_address[0])));
        a_.mov(address, home_mem(schedule_.uniform_home(t.address)));
        a_.mov(step, address);
        a_.sub(step, last);
        a_.mov(last, address);
        a_.mov(home_mem({Home::Slot, t.slot}), step);
    }
    a_.bind(known);
    cold(large, [*this, tiles, known] {
        for (const Tile& t : tiles) {
            a_.imul(x86::rax, frame_field(offsetof(Frame, prefetch_items), 8), t.stride);
            a_.mov(home_mem({Home::Slot, t.slot}), x86::rax);
        }
        a_.jmp(known);
    });
}

void BlockCompiler::PrefetchCode::prefetch_next_tile(const LaneAccess& m, uint32_t slot) const {
    a_.mov(x86::rdx, home_mem({Home::Slot, slot}));
    for (uint32_t p = 0; p < std::max(m.bytes / 4, 1u); ++p)
        a_.prefetcht1(x86::ptr(m.address, x86::rdx, 0, static_cast<int32_t>(m.imm + p * width())));
}

// The next wave's rows, if each is longer than a line of the cache and no longer than a few: those
// of a wave are one piece then, of which its lanes ask for every other line, in no order that the
// host follows.
void BlockCompiler::PrefetchCode::prefetch_next_rows(const LaneAccess& m, Value line) const {
    constexpr uint32_t least = 64, most = 256;
    const Label over = a_.newLabel(), loop = a_.newLabel();
    const Gp step = x86::rdx, at = x86::rax;
    a_.mov(step.r32(), home_mem(schedule_.uniform_home(inst(line).args[1])));
    a_.lea(at.r32(), x86::ptr(step, -static_cast<int32_t>(least)));
    a_.cmp(at.r32(), most - least);
    a_.ja(over);
    a_.lea(at, x86::ptr(reg::chunk, 512));  // 256 is the wave's own first lane
    a_.shr(at, 2);
    a_.imul(at, step);
    a_.add(at, m.address);
    a_.shr(step.r32(), c_.avx512_ ? 2 : 3);  // the chunk's lines
    a_.bind(loop);
    a_.prefetcht1(x86::ptr(at, static_cast<int32_t>(m.imm)));
    a_.add(at, 64);
    a_.dec(step.r32());
    a_.jnz(loop);
    a_.bind(over);
}

}  // namespace wj::x64
