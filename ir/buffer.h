// A V# and its SOFFSET in the two values that LoadBuffer and StoreBuffer take, for accesses without
// IDXEN (Vega ISA manual 8.1.5; docs/design/memory.md).
//   base:  V# base + SOFFSET; or, when both name the wave's private segment
//          (SEED-PROL-14, 15), bit 63 and the private byte offset
//   limit: bits 0..37 NUM_RECORDS - SOFFSET, signed; 38..46 bits 15..23 of the V#'s last dword
//          (stride's upper bits, index stride, ADD_TID); 47..62 upper half of its second dword
//          (stride, swizzle)
// The V# is as gfx9 has it: the lift makes such words of others.
// Of gfx10, whose V# says in OOB_SELECT what is checked (Mesa's notes on buffer descriptors), the
// lift makes a limit of what is checked of plain buffers. Others, which swizzle or add lanes'
// numbers, have bit 63 set and OOB_SELECT at bit 38; NUM_RECORDS is then the V#'s own, but for raw
// buffers. The lift also puts the size of swizzled elements where gfx8 has ELEMENT_SIZE: 4 bytes,
// shifted by it.
// Of gfx12.5, where sums of offsets are wider than 32 bits (CDNA5 ISA 9.4), all constant parts of
// the offset are in the base and out of the limit. Those of a swizzled buffer, in which nothing is
// out of range, are the limit itself, with buffer_oob_select and buffer_rows.
#pragma once

#include <cstdint>

#include "machine/buffer_descriptor.h"
#include "machine/wave.h"

namespace wj::ir {

inline constexpr uint64_t buffer_private = 1ull << 63;
inline constexpr uint32_t buffer_limit_bits = 38, buffer_stride_bit = 47;

inline constexpr const machine::BufferFields& buffer_words =
    machine::fields_of(machine::BufferLayout::Gfx9);
inline constexpr machine::BufferField buffer_element =
    machine::fields_of(machine::BufferLayout::Gfx6).element_size;
// Of the last dword, what the limit takes.
inline constexpr machine::BufferField buffer_last = {
    buffer_words.stride_high.at,
    static_cast<uint8_t>(buffer_words.add_tid.at + 1 - buffer_words.stride_high.at)};
static_assert(buffer_limit_bits + buffer_last.bits == buffer_stride_bit);

// Where the limit has a field of the second or the last dword.
constexpr uint32_t bit_of_limit(machine::BufferField f) {
    return f.dword() == 3 ? buffer_limit_bits + f.at - buffer_last.at
                          : buffer_stride_bit + f.at - buffer_words.stride.at;
}
constexpr uint32_t of_limit(uint64_t limit, machine::BufferField f) {
    return static_cast<uint32_t>(limit >> bit_of_limit(f)) & f.mask();
}
inline constexpr uint64_t buffer_swizzle = 1ull << bit_of_limit(buffer_words.swizzle),
                          buffer_add_tid = 1ull << bit_of_limit(buffer_words.add_tid),
                          buffer_oob_select = 1ull << 63;
// Beside OOB_SELECT, in bits of the last dword that only other limits take: elements of 16 bytes of
// 32 lanes, of which this is lane 0; what is wider goes on behind them.
inline constexpr uint64_t buffer_rows = 1ull << (buffer_limit_bits + 2);
constexpr bool has_rows(uint64_t limit) {
    return (limit & buffer_oob_select) && (limit & buffer_rows);
}
enum OobSelect : uint32_t { structured_with_offset, structured, unchecked, raw };

inline uint64_t buffer_base(const machine::Wave& w, uint64_t words01, uint64_t words23,
                            uint32_t soffset) {
    const uint32_t words[] = {static_cast<uint32_t>(words01), static_cast<uint32_t>(words01 >> 32),
                              static_cast<uint32_t>(words23), static_cast<uint32_t>(words23 >> 32)};
    const machine::BufferDescriptor v(words, machine::BufferLayout::Gfx9);
    const uint64_t base = v.base + soffset;
    const bool lane_interleaved = v.swizzle && v.add_tid && v.index_stride == w.size;
    const uint64_t delta = base - w.scratch_base, bytes = uint64_t{w.scratch_bytes} * w.size;
    // SOFFSET may point behind it: a call stack that is too small is to fault.
    if (!lane_interleaved || v.base - w.scratch_base > bytes || delta % (4u * w.size) ||
        v.records < bytes)
        return base;
    return buffer_private | delta / w.size;
}

inline uint64_t buffer_limit(uint64_t words01, uint64_t words23, uint32_t soffset) {
    const uint64_t limit = (words23 & 0xffffffff) - soffset;
    return (limit & ((1ull << buffer_limit_bits) - 1)) |
           (words23 >> buffer_last.shift_in_pair() & buffer_last.mask()) << buffer_limit_bits |
           words01 >> buffer_words.stride.at << buffer_stride_bit;
}

// Whether dwords of a wide access are apart.
constexpr bool apart_by_dwords(uint64_t limit) {
    return (limit & buffer_swizzle) && !has_rows(limit);
}

// Address of `bytes` bytes at byte offset `o` (where dwords are apart at most 4 that stay in one);
// false: outside. The later dwords of an access near 2^32 are above it: they do not come
// round to the buffer's beginning (Tensile's kernels put lanes out of range by the offset -1).
inline bool buffer_address(uint64_t base, uint64_t limit, uint32_t lane, uint64_t o, uint32_t bytes,
                           uint64_t& address) {
    if (has_rows(limit)) {
        constexpr uint64_t element = 16, rows = 32;
        const uint64_t all = o + (limit & ((1ull << buffer_limit_bits) - 1));
        address = base + (all - all % element) * rows + all % element;
        return true;
    }
    const bool add_tid = limit & buffer_add_tid;
    const uint32_t i = add_tid ? lane : 0;
    const bool by_oob_select = limit & buffer_oob_select;
    uint64_t stride = of_limit(limit, buffer_words.stride);
    if (add_tid && !by_oob_select)
        stride |= of_limit(limit, buffer_words.stride_high) << buffer_words.stride.bits;
    uint64_t at = o + stride * i, checked = at;
    if (limit & buffer_swizzle) {
        const uint64_t index_stride = 8u << of_limit(limit, buffer_words.index_stride);
        const uint64_t element = by_oob_select ? 4u << of_limit(limit, buffer_element) : 4;
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
