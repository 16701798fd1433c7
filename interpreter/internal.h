// What the interpreter's sources share: the shape of handler tables, operand access and lane
// helpers.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "frontend/inst.h"
#include "frontend/target.h"
#include "interpreter/interpreter.h"
#include "machine/wave.h"

namespace wj::interp {

using machine::Access;
using machine::ExitKind;
using machine::lanes;
using machine::Wave;

// Each source file defines one or more tables of these; interpreter.cpp lists them in one array.
struct HandlerEntry {
    Opcode op;
    Handler run;
};

// ---- stopping the wave -------------------------------------------------------------------------
// The engine's loop fills exit.pc afterwards.

inline void stop(Wave& w, ExitKind kind, const char* reason = nullptr, uint32_t detail = 0) {
    w.exit.kind = kind;
    w.exit.reason = reason;
    w.exit.detail = detail;
}

inline void memory_fault(Wave& w, Access access, uint32_t bytes, uint64_t address,
                         uint64_t lane_mask) {
    w.exit.kind = ExitKind::MemoryFault;
    w.exit.access = access;
    w.exit.access_bytes = bytes;
    w.exit.address = address;
    w.exit.lane_mask = lane_mask;
    w.exit.reason = nullptr;
}

// Of the wave's target; gfx900's where none is given.
inline const Traits& traits(const Wave& w) {
    static const Traits& vega = find_target("gfx900")->traits;
    return w.ctx && w.ctx->target ? w.ctx->target->traits : vega;
}

// Cycles, or in place of time what the wave has executed (ExecContext::counts_time): the block that
// asks has been charged.
inline uint64_t core_clock(const Wave& w) {
    return w.ctx->counts_time ? w.ctx->time_at_end - static_cast<uint64_t>(w.budget) : __rdtsc();
}

// The same of the counter whose frequency HSA reports (machine::reference_clock_hz).
uint64_t reference_clock(const Wave& w);

// ---- scalar operands ---------------------------------------------------------------------------

uint64_t read_special(const Wave& w, uint32_t encoding);  // 235..254

inline uint32_t read_s32(const Wave& w, const Operand& o) {
    switch (o.kind) {
        case Operand::Kind::Sgpr:
            return w.sgpr[o.reg & 127];
        case Operand::Kind::Special:
            return static_cast<uint32_t>(read_special(w, o.reg));
        default:
            return static_cast<uint32_t>(o.value);
    }
}

inline uint64_t read_s64(const Wave& w, const Operand& o) {
    switch (o.kind) {
        // A pair never reaches beyond index 127 because the decoder wants even pairs; mask all the
        // same.
        case Operand::Kind::Sgpr:
            return w.s64(o.reg & 126);
        case Operand::Kind::Special:
            return read_special(w, o.reg);
        default:
            return o.value;
    }
}

// Bytes that LDS_ALLOC tells of.
inline uint32_t lds_allocated(const Wave& w) {
    return (w.lds_alloc >> 12) * traits(w).lds_size_unit();
}

// M0 has been written: before gfx9 it is the size of the LDS that accesses are checked against. (In
// whole pairs of dwords, as translated code wants it.)
inline void bound_lds(Wave& w) {
    if (traits(w).m0_bounds_lds) w.lds_size = std::min(w.sgpr[machine::m0] & ~7u, lds_allocated(w));
}

inline void write_s32(Wave& w, const Operand& o, uint32_t v) {
    if (o.kind != Operand::Kind::Sgpr) return;
    w.sgpr[o.reg & 127] = v;
    if (o.reg == machine::m0) [[unlikely]]
        bound_lds(w);
}

inline void write_s64(Wave& w, const Operand& o, uint64_t v) {
    if (o.kind == Operand::Kind::Sgpr) w.set_s64(o.reg & 126, v);
}

// A lane mask: VCC or what an operand of Type::mask names.
inline uint64_t read_mask(const Wave& w, const Operand& o) {
    return o.kind == Operand::Kind::Sgpr ? w.mask(o.reg & 127) : read_s64(w, o);
}

inline void write_mask(Wave& w, const Operand& o, uint64_t v) {
    if (o.kind == Operand::Kind::Sgpr) w.set_mask(o.reg & 127, v);
}

// ---- vector registers --------------------------------------------------------------------------

// Row `dword` of a VGPR or AccVGPR operand; the block's register check has been done by the engine.
inline uint32_t* vrow(Wave& w, const Operand& o, uint32_t dword = 0) {
    return o.kind == Operand::Kind::Agpr ? w.arow(o.reg + dword) : w.row(o.reg + dword);
}

inline bool is_vector(const Operand& o) {
    return o.kind == Operand::Kind::Vgpr || o.kind == Operand::Kind::Agpr;
}

// The value of dword `dword` of an operand in one lane, whatever its kind (no source modifiers).
inline uint32_t read_lane(Wave& w, const Operand& o, uint32_t lane, uint32_t dword = 0) {
    if (is_vector(o)) return vrow(w, o, dword)[lane];
    if (o.kind == Operand::Kind::Sgpr) return w.sgpr[(o.reg + dword) & 127];
    if (o.kind == Operand::Kind::Special)
        return static_cast<uint32_t>(read_special(w, o.reg) >> (dword ? 32 : 0));
    return static_cast<uint32_t>(dword ? o.value >> 32 : o.value);
}

// Calls f(lane) for every set bit, lowest first.
template <class F>
inline void for_each_lane(uint64_t mask, F&& f) {
    for (; mask; mask &= mask - 1) f(static_cast<uint32_t>(__builtin_ctzll(mask)));
}

inline __m256i expand_mask8(uint32_t bits) {
    const __m256i select = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), select),
                              select);
}

// dst[l] = src[l] where bit l of mask is set. Rows of 64 dwords.
inline void write_row(uint32_t* dst, const uint32_t* src, uint64_t mask) {
    if (mask == ~uint64_t{0}) {
        std::memmove(dst, src, 256);
        return;
    }
    for (uint32_t l = 0; l < lanes; l += 8, mask >>= 8) {
        auto* d = reinterpret_cast<__m256i*>(dst + l);
        __m256i s = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + l));
        _mm256_storeu_si256(
            d, _mm256_blendv_epi8(_mm256_loadu_si256(d), s, expand_mask8(mask & 0xff)));
    }
}

// Bit l of the result is the sign bit of r[l].
inline uint64_t row_signs(const uint32_t* r) {
    uint64_t mask = 0;
    for (uint32_t l = 0; l < lanes; l += 8)
        mask |= uint64_t{static_cast<uint32_t>(
                    _mm256_movemask_ps(_mm256_loadu_ps(reinterpret_cast<const float*>(r + l))))}
                << l;
    return mask;
}

// ---- tables, one or more per source file
// ---------------------------------------------------------

#define WJ_HANDLER_TABLE(name) std::span<const HandlerEntry> name()
WJ_HANDLER_TABLE(sop_handlers);           // sop.cpp
WJ_HANDLER_TABLE(scalar_float_handlers);  // scalar_float.cpp
WJ_HANDLER_TABLE(sopp_handlers);          // sopp.cpp
WJ_HANDLER_TABLE(vop_int_handlers);       // vop_int.cpp
WJ_HANDLER_TABLE(vop_wide_handlers);      // vop_wide.cpp
WJ_HANDLER_TABLE(vop_f32_handlers);       // vop_f32.cpp
WJ_HANDLER_TABLE(vop_f64_handlers);       // vop_f64.cpp
WJ_HANDLER_TABLE(vop_f16_handlers);       // vop_f16.cpp
WJ_HANDLER_TABLE(vop_cvt_handlers);       // vop_cvt.cpp
WJ_HANDLER_TABLE(vop_special_handlers);   // vop_special.cpp
WJ_HANDLER_TABLE(vopc_handlers);          // vopc.cpp
WJ_HANDLER_TABLE(vopd_handlers);          // vopd.cpp (two operations in one)
WJ_HANDLER_TABLE(vop3p_handlers);         // vop3p.cpp
WJ_HANDLER_TABLE(dot_handlers);           // dot.cpp
WJ_HANDLER_TABLE(mfma_handlers);          // mfma.cpp
WJ_HANDLER_TABLE(cdna3_handlers);         // cdna3.cpp
WJ_HANDLER_TABLE(cdna5_handlers);         // cdna5.cpp
WJ_HANDLER_TABLE(scaled_handlers);        // scaled.cpp
WJ_HANDLER_TABLE(sparse_handlers);        // sparse.cpp
WJ_HANDLER_TABLE(mem_smem_handlers);      // mem_smem.cpp
WJ_HANDLER_TABLE(mem_ds_handlers);        // mem_ds.cpp
WJ_HANDLER_TABLE(mem_gds_handlers);       // mem_gds.cpp (what the waves of a device share)
WJ_HANDLER_TABLE(mem_flat_handlers);      // mem_flat.cpp (FLAT, GLOBAL, SCRATCH)
WJ_HANDLER_TABLE(mem_buffer_handlers);    // mem_buffer.cpp (MUBUF, MTBUF)
#undef WJ_HANDLER_TABLE

}  // namespace wj::interp
