// What the source files of lane loads, stores and atomics share.
#pragma once

#include <array>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/plan/access_forms.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

inline Mem frame_field(size_t offset, uint32_t size = 0) {
    return asmjit::x86::ptr(reg::frame, in_frame(offset), size);
}
inline Mem wave_field(size_t offset, uint32_t size) {
    return asmjit::x86::ptr(reg::wave, in_wave(offset), size);
}

// A part of 16 bytes of a vector.
inline void load_sixteen(asmjit::x86::Assembler& a, bool avx512, const Vec& to, uint32_t part,
                         const Mem& at) {
    if (!part)
        a.emit(X::kIdVmovups, to.xmm(), at);
    else
        a.emit(avx512 ? X::kIdVinserti32x4 : X::kIdVinserti128, to, to, at, asmjit::Imm(part));
}

// In each 128 bits: the dwords of four lanes in d[0] to d[3] become lanes of four dwords. z[0] to
// z[3] are used.
inline void transpose_fours(asmjit::x86::Assembler& a, const Vec* d, const Vec* z) {
    a.emit(X::kIdVunpcklps, z[0], d[0], d[1]);  // x0 x1 y0 y1
    a.emit(X::kIdVunpckhps, z[1], d[0], d[1]);  // z0 z1 w0 w1
    a.emit(X::kIdVunpcklps, z[2], d[2], d[3]);
    a.emit(X::kIdVunpckhps, z[3], d[2], d[3]);
    a.emit(X::kIdVunpcklpd, d[0], z[0], z[2]);
    a.emit(X::kIdVunpckhpd, d[1], z[0], z[2]);
    a.emit(X::kIdVunpcklpd, d[2], z[1], z[3]);
    a.emit(X::kIdVunpckhpd, d[3], z[1], z[3]);
}

inline constexpr uint32_t sign_bit = 0x80000000;
inline constexpr uint32_t cmp_ne = 4, cmp_nlt = 5, cmp_nle = 6;  // vpcmpd predicates

// A plan with what its code needs: everything that both the inline paths and the cold ones want;
// registers stay put until the end.
struct BlockCompiler::LaneAccess : AccessPlan {
    LaneAccess() = default;
    explicit LaneAccess(const AccessPlan& plan) : AccessPlan(plan) {}

    bool may_be_off = false;   // all lanes: nobody has looked at the mask yet
    bool fewer_lanes = false;  // than those that the pattern was found for
    Vec lo, hi;                // addresses; hi only when wide
    Mem base;                  // scalar_base, buffer
    Mem limit;                 // buffer
    KReg mask_k;               // AVX-512 and not full
    Vec mask_v;                // AVX2 and not full
    // Stored, or loaded; of atomics data and data2; of a store that is done with another one its
    // dword is data[1].
    Vec data[4];
    // Elements in the order of memory.
    const Vec* parts() const { return in_memory_order || dwords == 1 ? data : z; }
    Vec t, t2, z[4];  // temporaries
    Vec first;        // AVX2 and not full: number of the first active lane, in every lane
    Gp address = asmjit::x86::rcx;  // see Pattern, without the immediate
    Gp index;                       // what is added to it, of few: is_indexed()
    Mem at(int64_t offset) const {
        const auto o = static_cast<int32_t>(offset);
        return index.isValid() ? asmjit::x86::ptr(address, index, 0, o)
                               : asmjit::x86::ptr(address, o);
    }
    bool shared() const { return address != asmjit::x86::rcx; }
    Gp pattern;  // AddressFacts::pattern, when the address is shared
    bool rows_only = false;
    KReg tk;
    Label slow, gather, done;
    // gathers64(): the addresses have no pattern; they are not looked at. And the number of the
    // access in Frame::scattered.
    Label gather_any, scattered;
    int32_t site = -1;
    int32_t walks = 0;     // walking_direction()
    bool in_rows = false;  // rows_ahead, with such a number
    // find_next_index(): the rows of the next wave that its lanes' indices are fields of.
    Mem next_index;
    LaneField next_field;
    // Of those that run together: the chunk. Learned from: the first access of the walk does so for
    // all.
    uint32_t walk_chunk = 0;
    bool learned_from = false;
    bool absolute = false;  // Frame::lane_hosts replaces the address
    // The store that is done with this one.
    LaneAccess second_access(const AccessPlan& plan) const {
        LaneAccess second = *this;
        static_cast<AccessPlan&>(second) = plan;
        second.data[0] = data[1];
        return second;
    }
};

// What the accesses of a region that share an address know about it: found once, kept in two
// registers. What the address register holds then:
enum BlockCompiler::Pattern : uint32_t {
    consecutive = 0,  // host address of lane 0, active or not
    same = 1,         // host address of all lanes
    // Rows::InOrder and Rows::Equal, options_.row_lanes wide: host address of lane 0
    rows_in_order = 2,
    rows_of_equals = 3,
    strided = 4,  // elements 16 bytes apart, as a work-item's row of a tile of four-dword elements:
                  // host address of lane 0
    sliding = 5,  // overlapping elements, sliding_step() bytes apart: host address of lane 0
    offsets = 6,  // base of the signed offsets that offsets_index makes
    arbitrary = 7
};
// Of those that are rows.
inline Rows::Kind BlockCompiler::kind_of_rows(Pattern pattern) {
    return pattern == rows_in_order ? Rows::InOrder : Rows::Equal;
}
// What walks can be in.
inline constexpr uint32_t last_walking_pattern = 3;

}  // namespace wj::x64
