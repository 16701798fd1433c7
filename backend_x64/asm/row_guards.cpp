// Rows that have to be lines (lift/affine.h), and what is known of them from one block to the next.
#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backend_x64/asm/access_code.h"
#include "backend_x64/plan/lines.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

// Of what is known of the row, in a wave.
size_t shape_offset(uint32_t row) {
    return row < 64 ? offsetof(Wave, row_shapes) + row
                    : offsetof(Wave, upper_row_shapes) + row - 64;
}

}  // namespace

// Rows that have to be lines, scalars in their bounds; otherwise, and where a Guard fails later,
// the block's other variant runs, which charges for itself.
void BlockCompiler::row_guards() {
    unguarded_label_ = a_.newLabel();
    cold(unguarded_label_, [this] {
        a_.add(budget_field(), block_->guest_count);
        const bool edge = starts_program(*block_) && options_.variant == Variant::Full;
        if (block_->exec_full && edge) return jump_linked(block_->pc, Variant::Edge);
        if (runs_again(context())) settle();
        jump_linked(block_->pc, block_->exec_full ? Variant::Unguarded : Variant::UnguardedPartial);
    });
    auto shape = [](const ir::RowLine& line) -> uint8_t {
        return line.row < Wave::shaped_rows ? line.shape() : 0;
    };
    auto known_shape = [](const ir::RowLine& line) {
        return x86::byte_ptr(reg::wave, in_wave(shape_offset(line.row)));
    };
    auto note = [=, this](const std::vector<ir::RowLine>& lines) {
        for (const ir::RowLine& line : lines)
            if (shape(line)) a_.mov(known_shape(line), shape(line));
    };
    auto test = [=, this](const std::vector<ir::RowLine>& lines) {
        std::vector<ir::RowLine> others;
        for (const ir::RowLine& line : lines) {
            if (test_even_row(line))
                a_.jnz(unguarded_label_);
            else
                others.push_back(line);
        }
        const Vec different = vec(2);
        if (others.empty()) return note(lines);
        a_.emit(X::kIdVpxor, different.xmm(), different.xmm(), different.xmm());
        for (const ir::RowLine& line : others) test_row(line, different);
        if (avx512_) {
            a_.emit(X::kIdVptestmd, x86::k1, different, different);
            a_.kortestw(x86::k1, x86::k1);
        } else {
            a_.emit(X::kIdVptest, different, different);
        }
        a_.jnz(unguarded_label_);
        note(lines);
    };
    std::vector<ir::RowLine> here;  // tested on every entry
    std::vector<uint8_t> wanted;    // find_shapes()
    const Label begin = a_.newLabel(), unknown = a_.newLabel();
    a_.bind(begin);
    for (const ir::Inst& i : block_->insts) {
        if (i.op == Op::GuardScalar) {
            const auto range = ir::ScalarRange::of(i.imm, i.aux);
            if (range.least) {
                a_.mov(x86::eax, scalar_field(range.reg, 4));
                a_.sub(x86::eax, range.least);
                a_.cmp(x86::eax, range.extent);
            } else {
                a_.cmp(scalar_field(range.reg, 4), range.extent);
            }
            a_.ja(unguarded_label_);
        } else if (i.op == Op::GuardOff) {
            const Gp exec = mask_register(*block_, x86::rax);
            a_.mov(exec, exec_field(*block_));
            a_.test(scalar_field(i.imm, block_->wave_size / 8), exec);
            a_.jnz(unguarded_label_);
        }
        if (i.op == Op::GuardLds) {
            a_.cmp(x86::dword_ptr(reg::wave, in_wave(offsetof(Wave, lds_size))),
                   static_cast<int32_t>(i.imm));
            a_.jb(unguarded_label_);
        }
        if (i.op != Op::GuardRow) continue;
        const auto line = ir::RowLine::of(i.imm, i.aux);
        if (line.constant) {
            a_.cmp(row_at(line.row, 0).cloneResized(4), static_cast<int32_t>(line.first));
            a_.jne(unguarded_label_);
        }
        // What is known may be known of the first lanes only.
        const bool of_all = block_->lanes == options_.whole_lanes;
        if (!shape(line) || starts_program(*block_) || !of_all) {
            here.push_back(line);
            continue;
        }
        a_.cmp(known_shape(line), shape(line));
        a_.jne(unknown);
        wanted.insert(wanted.end(), {static_cast<uint8_t>(line.row), shape(line)});
    }
    if (!wanted.empty()) {
        wanted.insert(wanted.end(), {0, 0});
        const uint32_t list = pool_bytes(wanted.data(), static_cast<uint32_t>(wanted.size()), 1);
        cold(unknown, [=, this] {
            a_.lea(x86::rsi, x86::ptr(pool_label_, static_cast<int32_t>(list)));
            a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, shapes_stub))));
            a_.test(x86::al, x86::al);
            a_.jz(unguarded_label_);
            a_.jmp(begin);
        });
    }
    if (!here.empty()) test(here);
}

// Of rows whose chunks are all as much more than the one before: the zero flag says whether the row
// is the line. False: nothing is emitted.
bool BlockCompiler::test_even_row(const ir::RowLine& line) {
    const bool narrow = line.width < chunk_lanes();
    if (line.any_step || (!narrow && line.width != machine::lanes) ||
        block_->lanes < block_->wave_size)
        return false;
    const uint32_t across =
        narrow ? line.step * (chunk_lanes() / line.width) : line.stride * chunk_lanes();
    const LaneOffsets lanes = lane_offsets(line.stride, line.step, line.width);
    load_bcast32(vec(0), row_at(line.row, 0));
    if (lanes != LaneOffsets{})
        a_.emit(X::kIdVpaddd, vec(0), vec(0), RowCode(*this).pool_table(lanes.data()));
    if (across)
        load_bcast32(vec(1), pool32(across));
    else
        a_.emit(X::kIdVpxor, vec(1).xmm(), vec(1).xmm(), vec(1).xmm());
    a_.lea(x86::rax, row_at(line.row, block_->wave_size / 2));
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, even_row_stub))));
    return true;
}

// Sets bits of `different` where the row is not the line; of rows that test_even_row() leaves:
// their step is what they show, or they are whole chunks wide.
void BlockCompiler::test_row(const ir::RowLine& line, const Vec& different) {
    const Vec want = vec(0), step = vec(1), t = vec(3);
    auto differs = [&](const Vec& want, uint32_t lane) {
        if (avx512_) {
            a_.emit(X::kIdVpternlogd, different, want, row_at(line.row, lane),
                    asmjit::Imm(0xf6));  // a | (b ^ c)
        } else {
            a_.emit(X::kIdVpxor, t, want, row_at(line.row, lane));
            a_.emit(X::kIdVpor, different, different, t);
        }
    };
    load_bcast32(want, row_at(line.row, 0));
    const LaneOffsets lanes = lane_offsets(line.stride, line.any_step ? 0 : line.step, line.width);
    if (lanes != LaneOffsets{})
        a_.emit(X::kIdVpaddd, want, want, RowCode(*this).pool_table(lanes.data()));
    if (line.any_step && line.width < chunk_lanes()) {
        load_bcast32(step, row_at(line.row, line.width));
        load_bcast32(t, row_at(line.row, 0));
        a_.emit(X::kIdVpsubd, step, step, t);
        a_.emit(X::kIdVpmulld, t, step,
                RowCode(*this).pool_table(lane_offsets(0, 1, line.width).data()));
        a_.emit(X::kIdVpaddd, want, want, t);
        a_.emit(X::kIdVpslld, step, step,
                asmjit::Imm(std::countr_zero(chunk_lanes() / line.width)));
        for (uint32_t lane = 0; lane < block_->lanes; lane += chunk_lanes()) {
            if (lane) a_.emit(X::kIdVpaddd, want, want, step);
            differs(want, lane);
        }
        return;
    }
    // What is added from chunk to chunk, and from a row's last chunk to the next row.
    const uint32_t across = line.width < chunk_lanes() ? line.step * (chunk_lanes() / line.width)
                                                       : line.stride * chunk_lanes(),
                   down = line.step + across - line.stride * line.width;
    if (line.any_step) {
        load_bcast32(step, row_at(line.row, line.width));
        load_bcast32(t, row_at(line.row, line.width - chunk_lanes()));
        a_.emit(X::kIdVpsubd, step, step, t);
    }
    for (uint32_t lane = 0; lane < block_->lanes; lane += chunk_lanes()) {
        const bool new_row = lane && line.width >= chunk_lanes() && lane % line.width == 0;
        if (const uint32_t more = new_row ? down : across; new_row && line.any_step)
            a_.emit(X::kIdVpaddd, want, want, step);
        else if (lane && more)
            a_.emit(X::kIdVpaddd, want, want,
                    avx512_ ? pool32(more)._1to16() : pool_vector(more | uint64_t{more} << 32));
        differs(want, lane);
    }
}

// Of the rows that the block writes.
void BlockCompiler::forget_row_shapes() {
    RowShapes shapes;
    for (const ir::Inst& i : block_->insts) {
        const Class cls = ir::op_info(i.op).cls;
        if (cls == Class::SetV && i.imm < Wave::shaped_rows) shapes[i.imm] = 0;
        if (cls != Class::Call) continue;
        const auto& move = block_->calls[i.imm].move;
        const size_t first = move ? std::min<size_t>(move->to, shapes.size()) : 0;
        const size_t count = move && !move->to_indexed ? 1 : shapes.size();
        for (size_t r = first; r < std::min(first + count, shapes.size()); ++r) shapes[r] = 0;
    }
    for (const SumRow& sum : schedule_.sum_rows()) shapes[sum.row].reset();
    set_row_shapes(shapes);
}

// Rows that hold what they are to be are not written: waves have more of them than the first-level
// cache holds.
void BlockCompiler::write_sum_rows() {
    const std::vector<SumRow>& sums = schedule_.sum_rows();
    if (sums.empty()) return;
    const Label different = a_.newLabel(), done = a_.newLabel();
    auto known_shape = [](const SumRow& sum) {
        return x86::byte_ptr(reg::wave, in_wave(shape_offset(sum.row)));
    };
    const Gp first = utmp(), want = utmp();
    std::optional<uint32_t> loaded;
    for (const SumRow& sum : sums) {
        a_.cmp(known_shape(sum), sum.shape);
        a_.jne(different);
        if (std::exchange(loaded, sum.from) != sum.from)
            a_.mov(first.r32(), row_at(sum.from, 0).cloneResized(4));
        a_.lea(want.r32(), x86::ptr(first, static_cast<int32_t>(sum.added)));
        a_.cmp(row_at(sum.row, 0).cloneResized(4), want.r32());
        a_.jne(different);
    }
    a_.bind(done);
    gp_temps_ = 0;
    cold(different, [=, this, sums = sums] {
        for (const SumRow& sum : sums) {
            const Vec added = vec(0), x = vec(1);
            load_bcast32(added, pool32(sum.added));
            for (uint32_t lane = 0; lane < block_->lanes; lane += chunk_lanes()) {
                a_.emit(X::kIdVpaddd, x, added, row_at(sum.from, lane));
                movu(row_at(sum.row, lane), x);
            }
            a_.mov(known_shape(sum), sum.shape);
        }
        a_.jmp(done);
    });
}

// The row, not written by the block, that the value is but for a uniform summand: both have one
// shape, whichever that is.
std::optional<uint32_t> BlockCompiler::row_of_same_shape(Value v) const {
    while (inst(v).op != Op::GetV) {
        const ir::Inst& i = inst(v);
        auto uniform = [&](int arg) { return inst(i.args[arg]).op == Op::Splat32; };
        if ((i.op == Op::Add32 || i.op == Op::Sub32) && uniform(1))
            v = i.args[0];
        else if (i.op == Op::Add32 && uniform(0))
            v = i.args[1];
        else
            return {};
    }
    const auto row = static_cast<uint32_t>(inst(v).imm);
    const bool written = std::ranges::any_of(
        block_->insts, [row](const ir::Inst& i) { return i.op == Op::SetV && i.imm == row; });
    if (written || row >= Wave::shaped_rows) return {};
    return row;
}

// Of the rows that have been written.
void BlockCompiler::note_row_shapes() {
    RowShapes shapes;
    std::set<std::pair<uint32_t, uint32_t>> alike;  // a row, and one that has its shape now
    for (const ir::Inst& i : block_->insts) {
        if (i.op != Op::SetV || i.imm >= Wave::shaped_rows) continue;
        if (std::ranges::count(schedule_.sum_rows(), i.imm, &SumRow::row)) continue;
        const auto written = static_cast<uint32_t>(i.imm);
        shapes[written].reset();
        std::erase_if(alike, [written](const auto& pair) { return pair.second == written; });
        if (!schedule_.is_full(i.args[1])) continue;
        if (i.aux)
            shapes[written] = static_cast<uint8_t>(i.aux);
        else if (const auto row = row_of_same_shape(i.args[0]))
            alike.insert({*row, written});
    }
    set_row_shapes(shapes);
    if (alike.empty()) return;
    const Gp shape = utmp();
    std::optional<uint32_t> loaded;
    for (const auto& [row, written] : alike) {
        if (std::exchange(loaded, row) != row)
            a_.movzx(shape.r32(), x86::byte_ptr(reg::wave, in_wave(shape_offset(row))));
        a_.mov(x86::byte_ptr(reg::wave, in_wave(shape_offset(written))), shape.r8());
    }
    gp_temps_ = 0;
}

void BlockCompiler::set_row_shapes(const RowShapes& shapes) {
    for (uint32_t r = 0; r < Wave::shaped_rows;) {
        uint32_t count = 0;
        uint64_t bytes = 0;
        const uint32_t most = std::min(8u, 64 - r % 64);
        for (; count < most && shapes[r + count]; ++count)
            bytes |= uint64_t{*shapes[r + count]} << 8 * count;
        if (!count) {
            ++r;
            continue;
        }
        count = bytes ? std::min(std::bit_floor(count), 4u) : std::bit_floor(count);
        a_.mov(x86::ptr(reg::wave, in_wave(shape_offset(r)), count),
               static_cast<uint32_t>(bytes & ((uint64_t{1} << 8 * std::min(count, 4u)) - 1)));
        r += count;
    }
}

}  // namespace wj::x64
