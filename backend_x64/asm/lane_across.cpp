// Accesses for all chunks at once (Schedule::repeats, goes_across).
#include <algorithm>

#include "backend_x64/asm/access_code.h"
#include "backend_x64/memory_order.h"

namespace wj::x64 {

using asmjit::Imm;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

// Of the load for a store across.
const Gp across_base = x86::r10, across_step = x86::r11;

}  // namespace

// Where all chunks are the same, one is enough.
void BlockCompiler::AcrossCode::store_repeats(uint32_t temp_row, const Vec& x, Value load) const {
    const uint32_t lanes = schedule_.repeated_lanes(load);
    if (lanes == chunk_lanes()) return movu(c_.chunk_of_temp(temp_row), x);
    const Mem row = c_.temp(temp_row);
    for (uint32_t at = 0; at < block_->wave_size; at += lanes)
        movu(row.cloneAdjusted(4 * int64_t{at}), x);
}

// Elements that the wave before this one has left (Schedule::kept_region) need not be loaded again.
void BlockCompiler::AcrossCode::look_for_kept(Label kept) const {
    const Label different = a_.newLabel();
    each_kept([&](size_t field, const Gp& now) {
        a_.cmp(frame_field(field, now.size()), now);
        a_.jne(different);
    });
    a_.jmp(kept);
    a_.bind(different);
}

void BlockCompiler::AcrossCode::note_kept() const {
    each_kept([&](size_t field, const Gp& now) { a_.mov(frame_field(field, now.size()), now); });
}

// What they depend on, in rax or eax, and the field for it.
void BlockCompiler::AcrossCode::each_kept(const std::function<void(size_t, const Gp&)>& use) const {
    constexpr size_t kept = offsetof(Frame, kept);
    a_.lea(x86::rax, x86::ptr(c_.entry_label_));
    use(kept + offsetof(Frame::Kept, block), x86::rax);
    a_.mov(x86::rax, frame_field(offsetof(Frame, kept_epoch), 8));
    use(kept + offsetof(Frame::Kept, epoch), x86::rax);
    a_.mov(x86::rax, wave_field(offsetof(Wave, lds), 8));
    use(kept + offsetof(Frame::Kept, lds), x86::rax);
    for (size_t n = 0; n < schedule_.kept_bases().size(); ++n) {
        LineCode(c_).load_uniform(x86::eax, schedule_.kept_bases()[n]);
        use(kept + offsetof(Frame::Kept, base) + n * sizeof(uint32_t), x86::eax);
    }
}

// At the end of a block that leaves something else in temps, or in the LDS. The next waves of
// programs of one block come to no other one.
void BlockCompiler::AcrossCode::forget_kept() const {
    const bool alone = starts_program(*block_) && ends_program(*block_);
    const bool temps = schedule_.temp_row_count() + c_.kept_rows_ != 0;
    if (!schedule_.kept_region() && !alone && (temps || writes_lds(*block_)))
        a_.inc(frame_field(offsetof(Frame, kept_epoch), 8));
}

// All of a region's accesses, where they are within the LDS; else falls through. False if it never
// does.
bool BlockCompiler::AcrossCode::go_across(const Value* begin, uint32_t count, Label done) const {
    for (uint32_t n = 0; n < count; ++n) {
        const ir::Inst& i = inst(begin[n]);
        if (i.op != ir::Op::StoreLds || schedule_.load_for(begin[n]) != no_value) continue;
        const Source from = source(schedule_.unit(i.args[4]));
        if (from.kind != Source::Full || !from.mem.hasIndex()) return true;
    }
    bool may_fail = false;
    const Label otherwise = a_.newLabel();
    Value last = no_value;
    for (uint32_t n = 0; n < count; ++n) {
        const Value line = ir::address_of(inst(begin[n]));
        if (line == last || inst(begin[n]).aux & ir::within_lds ||
            space_of(inst(begin[n]).op) != lds_space)
            continue;
        last = line;
        may_fail = true;
        int64_t imm = 0;
        for (uint32_t k = 0; k < count; ++k)
            if (ir::address_of(inst(begin[k])) == line)
                imm = std::max(imm, immediate(inst(begin[k])));
        const ir::Inst& l = inst(line);
        LineCode(c_).load_uniform(x86::eax, l.args[0]);
        LineCode(c_).lds_bound(Imm(imm + static_cast<int64_t>(l.imm * (l.aux - 1)) +
                                   4 * int64_t{block_->wave_size / l.aux}),
                               otherwise);
    }
    c_.begin_chunks(false);
    for (uint32_t n = 0; n < count; ++n) {
        c_.mark(begin[n]);
        if (space_of(inst(begin[n]).op) == lds_space) access_across(begin[n]);
    }
    if (!may_fail) return false;
    a_.jmp(done);
    a_.bind(otherwise);
    return true;
}

// Of four rows, vec(0) to vec(3): element n of vec(k) becomes element k of the quarter n / 4 of
// vec(n % 4), or the other way around. Of two, qwords: those of lanes 4 x and 4 x + 1 are quarter x
// of vec(0), the others of vec(1). Changes vec(4) to vec(7).
void BlockCompiler::AcrossCode::transpose_quarters(uint32_t rows, bool back) const {
    const auto emit = [&](X::Id id, int to, int a, int b) { a_.emit(id, vec(to), vec(a), vec(b)); };
    if (rows == 2) {
        for (const int r : {4, 5}) a_.vmovaps(vec(r), vec(r - 4));
        if (back) {
            a_.emit(X::kIdVshufps, vec(0), vec(4), vec(5), Imm(0x88));
            a_.emit(X::kIdVshufps, vec(1), vec(4), vec(5), Imm(0xdd));
        } else {
            emit(X::kIdVunpcklps, 0, 4, 5);
            emit(X::kIdVunpckhps, 1, 4, 5);
        }
        return;
    }
    // A transposition of four by four is its own inverse.
    emit(X::kIdVunpcklps, 4, 0, 1);
    emit(X::kIdVunpckhps, 5, 0, 1);
    emit(X::kIdVunpcklps, 6, 2, 3);
    emit(X::kIdVunpckhps, 7, 2, 3);
    emit(X::kIdVunpcklpd, 0, 4, 6);
    emit(X::kIdVunpckhpd, 1, 4, 6);
    emit(X::kIdVunpcklpd, 2, 5, 7);
    emit(X::kIdVunpckhpd, 3, 5, 7);
}

// Quarters of columns of lanes, from memory: those of vec(n) as transpose_quarters() has them.
void BlockCompiler::AcrossCode::load_quarters(uint32_t rows,
                                              const std::function<Mem(uint32_t)>& from) const {
    const X::Id insert = c_.avx512_ ? X::kIdVinsertf32x4 : X::kIdVinsertf128;
    for (uint32_t n = 0; n < rows; ++n)
        for (uint32_t quarter = 0; quarter < chunk_lanes() / 4; ++quarter) {
            const Vec x = vec(int(n)), part = vec(8);
            const x86::Xmm to = quarter ? part.xmm() : x.xmm();
            if (rows == 4) {
                const Mem m = from(4 * quarter + n);
                quarter ? a_.emit(insert, x, x, m, Imm(quarter)) : a_.vmovups(to, m);
                continue;
            }
            a_.vmovsd(to, from(4 * quarter + 2 * n));
            a_.vmovhps(to, to, from(4 * quarter + 2 * n + 1));
            if (quarter) a_.emit(insert, x, x, to, Imm(quarter));
        }
}

void BlockCompiler::AcrossCode::store_quarters(uint32_t rows,
                                               const std::function<Mem(uint32_t)>& to) const {
    const X::Id extract = c_.avx512_ ? X::kIdVextractf32x4 : X::kIdVextractf128;
    for (uint32_t quarter = 0; quarter < chunk_lanes() / 4; ++quarter)
        for (uint32_t n = 0; n < rows; ++n) {
            const Vec x = vec(int(n)), part = vec(8);
            if (rows == 4) {
                const Mem m = to(4 * quarter + n);
                quarter ? a_.emit(extract, m, x, Imm(quarter)) : a_.vmovups(m, x.xmm());
                continue;
            }
            if (quarter) a_.emit(extract, part.xmm(), x, Imm(quarter));
            const x86::Xmm from = quarter ? part.xmm() : x.xmm();
            a_.vmovlps(to(4 * quarter + 2 * n), from);
            a_.vmovhps(to(4 * quarter + 2 * n + 1), from);
        }
}

// What global memory holds for lanes of a chunk that a store wants (Schedule::load_for), given the
// first one's number: dwords side by side. Changes rcx.
void BlockCompiler::AcrossCode::load_for_store(const Vec& to, Value load, uint32_t lane) const {
    const ir::Inst &i = inst(load), &line = inst(ir::address_of(i));
    const Gp first = across_base, step = across_step;
    const uint32_t row = lane / line.aux;
    Mem at = x86::ptr(first, static_cast<int32_t>(immediate(i) + lane % line.aux * 4));
    if (row) {
        if (row & 4) a_.lea(x86::rcx, x86::ptr(first, step, 2));
        if (row & 3) a_.lea(x86::rcx, x86::ptr(row & 4 ? x86::rcx : first, step, row & 2 ? 1 : 0));
        if ((row & 3) == 3) a_.add(x86::rcx, step);
        at.setBase(x86::rcx);
    }
    c_.mark(load);
    movu(to, at);
    const auto ahead = c_.tile_steps_.find(load);
    if (ahead == c_.tile_steps_.end()) return;
    a_.mov(x86::rdx, home_mem({Home::Slot, ahead->second}));
    at.setIndex(x86::rdx);
    a_.prefetcht1(at);
}

void BlockCompiler::AcrossCode::access_across(Value v) const {
    const ir::Inst &i = inst(v), &line = inst(ir::address_of(i));
    const bool store = i.op == ir::Op::StoreLds;
    const Home& home = schedule_.unit_home(schedule_.unit(v));
    if (!store && home.kind != Home::Temp) return;  // nobody reads it
    const Value load = store ? schedule_.load_for(v) : no_value;
    if (load != no_value) {
        LineCode(c_).global_base(across_base, inst(load).args[0]);
        const ir::Inst& from = inst(ir::address_of(inst(load)));
        if (from.aux != machine::lanes) LineCode(c_).load_uniform(across_step.r32(), from.args[1]);
    }
    LineCode(c_).load_uniform(x86::eax, line.args[0]);
    a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
    const Mem data = load != no_value ? Mem()
                     : store          ? source(schedule_.unit(i.args[4])).mem
                                      : c_.temp(home.index);
    const uint32_t width = line.aux, all = block_->wave_size / width, rows = std::min(all, 4u);
    for (uint32_t column = 0; column < width; column += chunk_lanes())
        for (uint32_t row = 0; row < all; row += rows) {
            const auto part = [&](uint32_t r) {
                return data.cloneAdjusted(4 * (width * (row + r) + column));
            };
            const auto element = [&](uint32_t lane) -> Mem {
                return x86::ptr(x86::rax, static_cast<int32_t>(line.imm * (column + lane) +
                                                               immediate(i) + 4 * row));
            };
            if (!store) load_quarters(rows, element);
            for (uint32_t r = 0; store && r < rows; ++r)
                if (load != no_value)
                    load_for_store(vec(int(r)), load, width * (row + r) + column);
                else
                    movu(vec(int(r)), part(r));
            c_.mark(v);
            transpose_quarters(rows, !store);
            for (uint32_t r = 0; !store && r < rows; ++r) movu(part(r), vec(int(r)));
            if (store) store_quarters(rows, element);
        }
}

}  // namespace wj::x64
