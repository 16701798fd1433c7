// MUBUF and MTBUF addressing: the V# and the address calculation (GCN3 and Vega ISA manuals 8.1.5,
// CDNA ISA manual "Buffer addressing").
#pragma once

#include "interpreter/buffer_format.h"
#include "interpreter/mem.h"

namespace wj::interp {

// Fields of a buffer resource descriptor.
struct BufferDescriptor {
    uint64_t base;
    uint32_t stride, records, index_stride, element = 4;
    bool swizzle, add_tid;
    uint8_t select[4];  // dst_sel: 0 zero, 1 one, 4..7 x..w
    uint8_t data_format, number_format;
    uint8_t oob_select;  // gfx10+

    BufferDescriptor(const Wave& w, uint32_t first_sgpr) {
        const uint32_t* d = &w.sgpr[first_sgpr & 124];
        base = d[0] | uint64_t{d[1] & 0xffff} << 32;
        stride = d[1] >> 16 & 0x3fff;
        swizzle = d[1] >> 31;
        if (traits(w).gfx11_buffers && (d[1] >> 30)) {  // by elements of 4, 8 or 16 bytes
            swizzle = true;
            element = 2u << (d[1] >> 30);
        }
        records = d[2];
        for (uint32_t i = 0; i < 4; ++i) select[i] = d[3] >> 3 * i & 7;
        number_format = d[3] >> 12 & 7;
        data_format = d[3] >> 15 & 15;
        oob_select = d[3] >> 28 & 3;
        if (traits(w).buffer_elements) element = 2u << (d[3] >> 19 & 3);
        index_stride = 8u << (d[3] >> 21 & 3);
        add_tid = d[3] >> 23 & 1;
        if (traits(w).unified_formats) {
            const BufferFormat format = unified_format(d[3] >> 12 & 127, traits(w).gfx11_buffers);
            data_format = format.data;
            number_format = format.number;
        } else if (add_tid) {
            // The data format field holds stride bits 17:14 (LLVM: getScratchRsrcWords23).
            stride |= uint32_t{data_format} << 14;
        }
    }
};

struct BufferAddress {
    BufferDescriptor v;
    const uint32_t* index = nullptr;
    const uint32_t* offset = nullptr;
    uint32_t inst_offset, soffset;
    bool structured;  // NUM_RECORDS counts records, not bytes
    bool by_oob_select;
    bool to_next_lane;  // wide accesses to swizzled memory go on in the next lane's
    bool private_segment = false;
    uint32_t private_offset = 0;

    BufferAddress(Wave& w, const Inst& inst)
        : v(w, inst.sbase().reg),
          inst_offset(static_cast<uint32_t>(inst.offset)),
          soffset(read_s32(w, inst.soffset())) {
        if (inst.idxen) index = vrow(w, inst.vaddr());
        if (inst.offen) offset = vrow(w, inst.vaddr(), inst.idxen ? 1 : 0);
        const Traits& t = traits(w);
        const bool by_swizzle = t.buffer_records == BufferRecords::Gfx8;
        structured = v.stride != 0 && (by_swizzle ? v.swizzle : inst.idxen);
        by_oob_select = t.buffer_records == BufferRecords::Gfx10;
        to_next_lane = t.buffer_elements;
        find_private_segment(w);
    }

    // The private segment descriptor (SEED-PROL-14, 15): swizzled, dword elements, as many
    // lanes as the wave has. Resolved to the lane's private memory, whose bounds are then checked:
    // a stack pointer beyond it (SEED-PROL-28) is a fault, too. soffset counts bytes of all lanes.
    void find_private_segment(const Wave& w) {
        if (!v.swizzle || !v.add_tid || v.index_stride != w.size || index) return;
        const uint64_t base = v.base - w.scratch_base, delta = base + soffset;
        const uint64_t bytes = uint64_t{w.scratch_bytes} * w.size;
        if (base > bytes || delta % (4u * w.size) || v.records < bytes) return;
        private_segment = true;
        private_offset = static_cast<uint32_t>(delta / w.size) + inst_offset;
    }

    Spot spot(uint32_t lane, uint32_t byte, uint32_t bytes) const {
        const uint32_t vector_offset = offset ? offset[lane] : 0;
        if (private_segment) return {Place::Scratch, private_offset + vector_offset + byte};
        // The sum of the offsets has 32 bits; the bytes behind it do not come round to 0.
        const uint64_t o = uint64_t{inst_offset + vector_offset} + byte;
        const uint32_t i = (index ? index[lane] : 0) + (v.add_tid ? lane : 0);
        uint64_t at;
        if (v.swizzle) {
            const uint64_t in_element = o & (v.element - 1);
            const uint64_t high = uint64_t{i / v.index_stride} * v.stride + (o - in_element);
            at = high * v.index_stride + i % v.index_stride * v.element + in_element;
        } else {
            at = o + uint64_t{v.stride} * i;
        }
        const bool outside = by_oob_select ? out_of_bounds(i, o, at, bytes)
                             : structured  ? i >= v.records || (v.swizzle && o >= v.stride)
                                           : (v.swizzle ? o : at) + bytes + soffset > v.records;
        if (outside) return {Place::Nowhere, 0};
        return {Place::Global, v.base + soffset + at};
    }

    // gfx10's rules look at where the last dword begins (Mesa's notes on buffer descriptors).
    bool out_of_bounds(uint32_t i, uint64_t o, uint64_t at, uint32_t bytes) const {
        const uint32_t last = bytes > 4 ? bytes - 4 : 0;
        switch (v.oob_select) {
            case 0:
                return i >= v.records || o + last >= v.stride;
            case 1:
                return i >= v.records;
            case 2:
                return v.records == 0;
            default:
                return at + last + soffset >= v.records;
        }
    }

    // Dwords of a wide access are checked, and swizzled, one by one.
    bool split() const { return v.swizzle && (!to_next_lane || private_segment); }
    // Where dword d of an access of a lane is in the private segment, if it goes on in the next
    // lane's memory.
    Spot dword(uint32_t& lane, uint32_t d) const {
        if (!private_segment || !to_next_lane) return spot(lane, 4 * d, 4);
        Spot s = spot(lane, 0, 4);
        s.address += (lane + d) / lanes * 4;
        lane = (lane + d) % lanes;
        return s;
    }

    template <class T>
    bool read(Wave& w, uint32_t lane, T& value) const {
        const Spot whole = spot(lane, 0, sizeof(T));
        if constexpr (sizeof(T) > 4) {
            if (split() || whole.place == Place::Nowhere) {
                uint32_t words[sizeof(T) / 4];
                for (uint32_t d = 0; d < sizeof(T) / 4; ++d) {
                    uint32_t at = lane;
                    const Spot s = dword(at, d);
                    if (!read_spot(w, s, at, words[d])) return false;
                }
                std::memcpy(&value, words, sizeof(T));
                return true;
            }
        }
        return read_spot(w, whole, lane, value);
    }

    template <class T>
    bool write(Wave& w, uint32_t lane, const T& value) const {
        const Spot whole = spot(lane, 0, sizeof(T));
        if constexpr (sizeof(T) > 4) {
            if (split() || whole.place == Place::Nowhere) {
                uint32_t words[sizeof(T) / 4];
                std::memcpy(words, &value, sizeof(T));
                for (uint32_t d = 0; d < sizeof(T) / 4; ++d) {
                    uint32_t at = lane;
                    const Spot s = dword(at, d);
                    if (!write_spot(w, s, at, words[d])) return false;
                }
                return true;
            }
        }
        return write_spot(w, whole, lane, value);
    }
};

}  // namespace wj::interp
