// What a vector memory instruction accesses, whatever its format: for those who look at accesses.
#pragma once

#include <algorithm>
#include <bit>

#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "interpreter/buffer_address.h"
#include "interpreter/buffer_format.h"
#include "interpreter/mem_address.h"
#include "interpreter/mem_smem.h"

namespace wj::interp {

inline Access access_of(Opcode op) {
    const MemoryAccess access = effects(op).access;
    return access == MemoryAccess::Atomic  ? Access::Atomic
           : access == MemoryAccess::Store ? Access::Write
                                           : Access::Read;
}

inline bool stores_high_half(Opcode op) {
    constexpr Opcode ops[] = {
        Opcode::global_store_byte_d16_hi,  Opcode::global_store_short_d16_hi,
        Opcode::flat_store_byte_d16_hi,    Opcode::flat_store_short_d16_hi,
        Opcode::scratch_store_byte_d16_hi, Opcode::scratch_store_short_d16_hi,
        Opcode::buffer_store_byte_d16_hi,  Opcode::buffer_store_short_d16_hi,
    };
    return std::ranges::find(ops, op) != std::end(ops);
}

inline bool loads_high_half(Opcode op) {
    constexpr Opcode ops[] = {
        Opcode::global_load_ubyte_d16_hi,  Opcode::global_load_sbyte_d16_hi,
        Opcode::global_load_short_d16_hi,  Opcode::flat_load_ubyte_d16_hi,
        Opcode::flat_load_sbyte_d16_hi,    Opcode::flat_load_short_d16_hi,
        Opcode::scratch_load_ubyte_d16_hi, Opcode::scratch_load_sbyte_d16_hi,
        Opcode::scratch_load_short_d16_hi, Opcode::buffer_load_ubyte_d16_hi,
        Opcode::buffer_load_sbyte_d16_hi,  Opcode::buffer_load_short_d16_hi,
    };
    return std::ranges::find(ops, op) != std::end(ops);
}

// In one lane.
inline uint32_t bytes_of(const Wave& w, const Inst& inst) {
    constexpr uint32_t block_dwords = 32;  // the last of them that M0 has a bit for is the end
    const Operand& data = inst.dst[0].present() ? inst.dst[0] : inst.vdata();
    if (is_vector(data) && data.dwords == block_dwords)
        return 4 * static_cast<uint32_t>(std::bit_width(w.sgpr[machine::m0]));
    if (inst.format != Format::MTBUF) return effects(inst.op).bytes;
    const Traits& t = traits(w);
    return element_bytes(
        t.unified_formats ? unified_format(inst.buffer_format, t.gfx11_buffers).data : inst.dfmt);
}

// Calls f(lane, spot, bytes) for what each lane that is on accesses: in one piece, or dword by
// dword where swizzled buffers have these apart. Nothing for other formats.
template <class F>
void each_spot(Wave& w, const Inst& inst, uint32_t bytes, F&& f) {
    const auto whole = [&](const auto& address) {
        for_each_lane(w.exec(),
                      [&](uint32_t lane) { f(lane, address.spot(lane, 0, bytes), bytes); });
    };
    switch (inst.format) {
        case Format::GLOBAL:
            if (encoding_info(inst.op).no_address) return whole(LaneAddress(w, inst));
            return whole(GlobalAddress(w, inst));
        case Format::FLAT:
            return whole(FlatAddress(w, inst));
        case Format::SCRATCH:
            return whole(ScratchAddress(w, inst));
        case Format::MUBUF:
        case Format::MTBUF: {
            if (!inst.sbase().present()) return;
            const BufferAddress address(w, inst);
            if (!address.split() || bytes <= 4) return whole(address);
            for_each_lane(w.exec(), [&](uint32_t lane) {
                for (uint32_t b = 0; b < bytes; b += 4) f(lane, address.spot(lane, b, 4), 4);
            });
            return;
        }
        default:
            return;
    }
}

// Calls f(lane, address, at, bytes) for what lanes access of global memory, `at` of the bytes in
// the lane's registers; at lane 0 for scalars, but for scalar buffers.
template <class F>
void each_global(Wave& w, const Inst& inst, uint32_t bytes, F&& f) {
    if (inst.format == Format::SMEM) {
        if (!encoding_info(inst.op).v_sharp)
            f(uint32_t{0}, w.ctx->reach(scalar_address(w, inst)), uint32_t{0}, bytes);
        return;
    }
    uint32_t lane_before = lanes, at = 0;
    each_spot(w, inst, bytes, [&](uint32_t lane, Spot spot, uint32_t size) {
        at = lane == lane_before ? at + size : 0;
        lane_before = lane;
        if (spot.place == Place::Global) f(lane, w.ctx->reach(spot.address), at, size);
    });
}

}  // namespace wj::interp
