// Loads of elements of a small table (quantised values, classes of characters, palettes): the whole
// table is loaded into vectors, and lanes are permutations of them.
#include "backend_x64/asm/access_code.h"
#include "backend_x64/asm/reach.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
using ir::Op;
namespace x86 = asmjit::x86;

// What no lane asks for must be readable all the same: tables that do not lie on one page are
// gathered. The page is one that lanes read from.
void BlockCompiler::GatherCode::memory_table(const LaneAccess& m) const {
    constexpr uint32_t page = 4096;
    const uint32_t least = c_.avx512_ ? 64 : m.bytes == 4 ? 32 : 16;
    const uint32_t span = std::max(std::bit_ceil(m.table), least);
    const Label apart = a_.newLabel();
    a_.mov(m.address, m.base);
    if (m.imm) a_.add(m.address, static_cast<int32_t>(m.imm));
    if (is_masked(m.mode)) emit_reach(a_, m.address);
    a_.mov(x86::eax, m.address.r32());
    a_.and_(x86::eax, page - 1);
    a_.cmp(x86::eax, page - span);
    a_.ja(apart);
    m.bytes == 4 ? dwords_of_table(m, span) : bytes_of_table(m, span);
    cold(apart, [*this, m] {
        LineCode(c_).global_base(m.address, m.base_value);
        AccessCode(c_).find_first_lane(m);
        memory_gather(m);
    });
    cold_if_used(m.slow, [*this, m] {
        AccessCode(c_).memory_slow(m);
        a_.jmp(m.done);
    });
}

// Offsets in m.lo, with nothing above the byte that matters: the other bytes of a lane are those of
// the table's first element.
void BlockCompiler::GatherCode::bytes_of_table(const LaneAccess& m, uint32_t bytes) const {
    const Vec &d = m.data[0], &t = m.t, &t2 = m.t2, &choice = m.z[0];
    auto part = [&](uint32_t n) {
        return x86::ptr(m.address, static_cast<int32_t>(n * (c_.avx512_ ? 64 : 16)));
    };
    if (c_.avx512_) {
        auto pair = [&](const Vec& to, uint32_t first) {
            movu(to, m.lo);
            movu(t, part(first));
            a_.emit(X::kIdVpermi2b, to, t, part(first + 1));
        };
        if (bytes == 64) {
            a_.emit(X::kIdVpermb, d, m.lo, part(0));
        } else {
            pair(d, 0);
        }
        if (bytes == 256) {
            pair(t2, 2);
            a_.emit(X::kIdVptestmd, m.tk, m.lo, c32(0x80));
            k(m.tk);
            a_.emit(X::kIdVmovdqa32, d, t2);
        }
    } else {
        auto from = [&](const Vec& to, uint32_t n) {
            a_.emit(X::kIdVbroadcasti128, to, part(n));
            a_.emit(X::kIdVpshufb, to, to, m.lo);
        };
        auto choose = [&](const Vec& to, const Vec& other, uint32_t bit) {
            a_.emit(X::kIdVpslld, choice, m.lo, Imm(31 - bit));
            a_.emit(X::kIdVblendvps, to, to, other, choice);
        };
        from(d, 0);
        if (bytes > 16) {
            from(t, 1);
            choose(d, t, 4);
        }
        if (bytes > 32) {
            from(t, 2);
            from(t2, 3);
            choose(t, t2, 4);
            choose(d, t, 5);
        }
    }
    if (m.access == Access::U8) {
        a_.emit(c_.avx512_ ? X::kIdVpandd : X::kIdVpand, d, d, c32(0xff));
    } else {
        a_.emit(X::kIdVpslld, d, d, Imm(24));
        a_.emit(X::kIdVpsrad, d, d, Imm(24));
    }
}

void BlockCompiler::GatherCode::dwords_of_table(const LaneAccess& m, uint32_t bytes) const {
    const Vec &d = m.data[0], &index = m.t, &t = m.t2;
    const auto whole = static_cast<int32_t>(width());
    a_.emit(X::kIdVpsrld, index, m.lo, Imm(2));
    if (bytes <= width()) {
        a_.emit(X::kIdVpermd, d, index, x86::ptr(m.address));
    } else if (c_.avx512_) {
        movu(d, index);
        movu(t, x86::ptr(m.address));
        a_.emit(X::kIdVpermi2d, d, t, x86::ptr(m.address, whole));
    } else {
        a_.emit(X::kIdVpermd, d, index, x86::ptr(m.address));
        a_.emit(X::kIdVpermd, t, index, x86::ptr(m.address, whole));
        a_.emit(X::kIdVpslld, index, m.lo, Imm(31 - 5));
        a_.emit(X::kIdVblendvps, d, d, t, index);
    }
}

}  // namespace wj::x64
