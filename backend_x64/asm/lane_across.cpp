// Accesses for all chunks at once (Schedule::repeats, stores_across).
#include <algorithm>
#include <utility>

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

using asmjit::Imm;
using machine::Wave;
namespace x86 = asmjit::x86;

// For what repeats: the first chunks, which fill the rows that others read.
void BlockCompiler::repeats_region() {
    const Value* const begin = schedule_.begin(position_);
    uint32_t lanes = 0;
    for (const Value* v = begin; v != schedule_.end(position_); ++v)
        lanes = std::max(lanes, schedule_.repeated_lanes(*v));
    const Label loop = a_.newLabel();
    a_.mov(reg::chunk, -256);
    a_.bind(loop);
    // What is found out about addresses here is not about all chunks'.
    const bool facts_cross = std::exchange(facts_cross_regions_, false);
    region_body();
    facts_cross_regions_ = facts_cross;
    if (lanes == chunk_lanes()) return;
    a_.add(reg::chunk, width());
    a_.cmp(reg::chunk, static_cast<int32_t>(4 * lanes) - 256);
    a_.jne(loop);
}

// Where all chunks are the same, one is enough.
void BlockCompiler::store_repeats(const Mem& row, const Vec& x, Value load) {
    const uint32_t lanes = schedule_.repeated_lanes(load);
    if (lanes == chunk_lanes()) return;
    for (uint32_t at = lanes; at < machine::lanes; at += lanes)
        movu(row.cloneAdjusted(4 * int64_t{at}), x);
}

// Vectors of four rows' dwords for each column of lanes. Falls through when not all of them are
// within the LDS.
void BlockCompiler::store_across(Value v, Label done) {
    const ir::Inst &i = inst(v), &line = inst(ir::address_of(i));
    const Source from = source(schedule_.unit(i.args[4]));
    // What later accesses to the line would take over is not known behind this way.
    const bool alone = std::ranges::count_if(block_->insts, [&](const ir::Inst& other) {
                           const ir::Class cls = ir::op_info(other.op).cls;
                           return (cls == ir::Class::LaneLoad || cls == ir::Class::LaneStore) &&
                                  ir::address_of(other) == ir::address_of(i);
                       }) == 1;
    if (from.kind != Source::Full || !from.mem.hasIndex() || !alone) return;
    const auto stride = static_cast<int32_t>(line.imm), width = static_cast<int32_t>(line.aux),
               imm = static_cast<int32_t>(immediate(i)), lanes = int32_t{machine::lanes},
               chunk = static_cast<int32_t>(chunk_lanes());
    const Label otherwise = a_.newLabel();
    if (is_const(line.args[0]))
        a_.mov(x86::eax, static_cast<uint32_t>(inst(line.args[0]).imm));
    else
        a_.mov(x86::eax, home_mem(schedule_.uniform_home(line.args[0])));
    lds_bound(Imm(imm + stride * (width - 1) + lanes / width * 4), otherwise);
    a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
    a_.mov(reg::chunk, -256);

    for (int32_t column = 0; column < width; column += chunk) {
        for (int32_t row = 0; row < lanes / width; row += 4) {
            for (int r = 0; r < 4; ++r)
                movu(vec(r), from.mem.cloneAdjusted(4 * (width * (row + r) + column)));
            // Dwords of two rows, then of four: what is 4 x + n of a chunk is quarter x of q[n].
            const Vec p[] = {vec(4), vec(5), vec(6), vec(7)},
                      q[] = {vec(0), vec(1), vec(2), vec(3)};
            a_.emit(X::kIdVunpcklps, p[0], vec(0), vec(1));
            a_.emit(X::kIdVunpckhps, p[1], vec(0), vec(1));
            a_.emit(X::kIdVunpcklps, p[2], vec(2), vec(3));
            a_.emit(X::kIdVunpckhps, p[3], vec(2), vec(3));
            a_.emit(X::kIdVunpcklpd, q[0], p[0], p[2]);
            a_.emit(X::kIdVunpckhpd, q[1], p[0], p[2]);
            a_.emit(X::kIdVunpcklpd, q[2], p[1], p[3]);
            a_.emit(X::kIdVunpckhpd, q[3], p[1], p[3]);
            for (int32_t l = 0; l < chunk; ++l) {
                const Mem to = x86::ptr(x86::rax, stride * (column + l) + imm + 4 * row);
                const Vec& x = q[l % 4];
                if (l < 4)
                    a_.vmovups(to, x.xmm());
                else
                    a_.emit(avx512_ ? X::kIdVextractf32x4 : X::kIdVextractf128, to, x, Imm(l / 4));
            }
        }
    }
    a_.jmp(done);
    a_.bind(otherwise);
}

}  // namespace wj::x64
