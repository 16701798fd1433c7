// A V# and its SOFFSET in the two values that LoadBuffer and StoreBuffer take, for accesses without
// IDXEN (Vega ISA manual 8.1.5; docs/design/memory.md).
//   base:  V# base + SOFFSET; or, when both name the wave's private segment
//          (SEED-PROL-14, 15), bit 63 and the private byte offset
//   limit: bits 0..37 NUM_RECORDS - SOFFSET, signed; 38..46 bits 15..23 of the V#'s last dword
//          (stride's upper bits, index stride, ADD_TID); 47..62 upper half of its second dword
//          (stride, swizzle)
// Of gfx10, whose V# says in OOB_SELECT what is checked (Mesa's notes on buffer descriptors), the
// lift makes a limit of what is checked of plain buffers. Others, which swizzle or add lanes'
// numbers, have bit 63 set and OOB_SELECT at bit 38; NUM_RECORDS is then the V#'s own, but for raw
// buffers. The lift also puts the size of swizzled elements at bit 42: 4 bytes, shifted by it.
#pragma once

#include <cstdint>

#include "machine/wave.h"

namespace wj::ir {

inline constexpr uint64_t buffer_private = 1ull << 63;
inline constexpr uint32_t buffer_limit_bits = 38, buffer_element_bit = 42;
inline constexpr uint64_t buffer_swizzle = 1ull << 62, buffer_add_tid = 1ull << 46,
                          buffer_oob_select = 1ull << 63;
enum OobSelect : uint32_t { structured_with_offset, structured, unchecked, raw };

inline uint64_t buffer_base(const machine::Wave& w, uint64_t words01, uint64_t words23,
                            uint32_t soffset) {
    const uint64_t buffer = words01 & 0xffffffffffff, base = buffer + soffset;
    // ADD_TID, and INDEX_STRIDE as many lanes as the wave has.
    const bool lane_interleaved =
        words01 >> 63 && (words23 >> 55 & 1) && 8u << (words23 >> 53 & 3) == w.size;
    const uint64_t delta = base - w.scratch_base, bytes = uint64_t{w.scratch_bytes} * w.size;
    // SOFFSET may point behind it: a call stack that is too small is to fault.
    if (!lane_interleaved || buffer - w.scratch_base > bytes || delta % (4u * w.size) ||
        static_cast<uint32_t>(words23) < bytes)
        return base;
    return buffer_private | delta / w.size;
}

inline uint64_t buffer_limit(uint64_t words01, uint64_t words23, uint32_t soffset) {
    const uint64_t limit = (words23 & 0xffffffff) - soffset;
    return (limit & ((1ull << buffer_limit_bits) - 1)) |
           (words23 >> 47 & 0x1ff) << buffer_limit_bits | words01 >> 48 << 47;
}

// Address of `bytes` bytes at byte offset `o` (of a swizzled buffer at most 4 that stay in a
// dword); false: outside. The later dwords of an access near 2^32 are above it: they do not come
// round to the buffer's beginning (Tensile's kernels put lanes out of range by the offset -1).
inline bool buffer_address(uint64_t base, uint64_t limit, uint32_t lane, uint64_t o, uint32_t bytes,
                           uint64_t& address) {
    const bool add_tid = limit & buffer_add_tid;
    const uint32_t i = add_tid ? lane : 0;
    const bool by_oob_select = limit & buffer_oob_select;
    const uint64_t stride =
        (limit >> 47 & 0x3fff) | (add_tid && !by_oob_select ? (limit >> 38 & 15) << 14 : 0);
    uint64_t at = o + stride * i, checked = at;
    if (limit & buffer_swizzle) {
        const uint64_t index_stride = 8u << (limit >> 44 & 3);
        const uint64_t element = by_oob_select ? 4u << (limit >> buffer_element_bit & 3) : 4;
        const uint64_t in_element = o & (element - 1);
        at = (i / index_stride * stride + o - in_element) * index_stride +
             i % index_stride * element + in_element;
        checked = o;
    }
    address = base + at;
    const int64_t end = static_cast<int64_t>(limit << 26) >> 26;
    if (by_oob_select) {
        switch (limit >> buffer_limit_bits & 3) {
            case structured_with_offset:
                return int64_t{i} < end && o < stride;
            case structured:
                return int64_t{i} < end;
            case unchecked:
                return end != 0;
            default:
                return static_cast<int64_t>(at) < end;
        }
    }
    return static_cast<int64_t>(checked + bytes) <= end;
}

}  // namespace wj::ir
