// Accesses for all chunks at once (Schedule::repeats, goes_across).
#include <algorithm>

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

using asmjit::Imm;
using machine::Wave;
namespace x86 = asmjit::x86;

// Where all chunks are the same, one is enough.
void BlockCompiler::store_repeats(const Mem& row, const Vec& x, Value load) {
    const uint32_t lanes = schedule_.repeated_lanes(load);
    if (lanes == chunk_lanes()) return;
    for (uint32_t at = lanes; at < machine::lanes; at += lanes)
        movu(row.cloneAdjusted(4 * int64_t{at}), x);
}

// All of a region's accesses, where they are within the LDS; else falls through. False if it never
// does.
bool BlockCompiler::go_across(const Value* begin, uint32_t count, Label done) {
    for (uint32_t n = 0; n < count; ++n) {
        const ir::Inst& i = inst(begin[n]);
        if (i.op != ir::Op::StoreLds) continue;
        const Source from = source(schedule_.unit(i.args[4]));
        if (from.kind != Source::Full || !from.mem.hasIndex()) return true;
    }
    bool may_fail = false;
    const Label otherwise = a_.newLabel();
    Value last = no_value;
    for (uint32_t n = 0; n < count; ++n) {
        const Value line = ir::address_of(inst(begin[n]));
        if (line == last || inst(begin[n]).aux & ir::within_lds) continue;
        last = line;
        may_fail = true;
        int64_t imm = 0;
        for (uint32_t k = 0; k < count; ++k)
            if (ir::address_of(inst(begin[k])) == line)
                imm = std::max(imm, immediate(inst(begin[k])));
        const ir::Inst& l = inst(line);
        load_uniform(x86::eax, l.args[0]);
        lds_bound(Imm(imm + static_cast<int64_t>(l.imm * (l.aux - 1)) +
                      4 * int64_t{machine::lanes / l.aux}),
                  otherwise);
    }
    a_.mov(reg::chunk, -256);
    for (uint32_t n = 0; n < count; ++n) {
        mark(begin[n]);
        access_across(begin[n]);
    }
    if (!may_fail) return false;
    a_.jmp(done);
    a_.bind(otherwise);
    return true;
}

// Of four rows, vec(0) to vec(3): element n of vec(k) becomes element k of the quarter n / 4 of
// vec(n % 4), or the other way around. Of two, qwords: those of lanes 4 x and 4 x + 1 are quarter x
// of vec(0), the others of vec(1). Changes vec(4) to vec(7).
void BlockCompiler::transpose_quarters(uint32_t rows, bool back) {
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
void BlockCompiler::load_quarters(uint32_t rows, const std::function<Mem(uint32_t)>& from) {
    const X::Id insert = avx512_ ? X::kIdVinsertf32x4 : X::kIdVinsertf128;
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

void BlockCompiler::store_quarters(uint32_t rows, const std::function<Mem(uint32_t)>& to) {
    const X::Id extract = avx512_ ? X::kIdVextractf32x4 : X::kIdVextractf128;
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

void BlockCompiler::access_across(Value v) {
    const ir::Inst &i = inst(v), &line = inst(ir::address_of(i));
    const bool store = i.op == ir::Op::StoreLds;
    const Home& home = schedule_.unit_home(schedule_.unit(v));
    if (!store && home.kind != Home::Temp) return;  // nobody reads it
    load_uniform(x86::eax, line.args[0]);
    a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
    const Mem data = store ? source(schedule_.unit(i.args[4])).mem : temp(home.index);
    const uint32_t width = line.aux, all = machine::lanes / width, rows = std::min(all, 4u);
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
            for (uint32_t r = 0; store && r < rows; ++r) movu(vec(int(r)), part(r));
            transpose_quarters(rows, !store);
            for (uint32_t r = 0; !store && r < rows; ++r) movu(part(r), vec(int(r)));
            if (store) store_quarters(rows, element);
        }
}

}  // namespace wj::x64
