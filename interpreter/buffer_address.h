// MUBUF and MTBUF addressing: the V# and the address calculation (GCN3 and Vega ISA manuals 8.1.5,
// CDNA ISA manual "Buffer addressing", CDNA5 ISA 9.4; of gfx6 and gfx7 CLRX's notes, "GCN Memory
// handling").
#pragma once

#include "frontend/buffer_layout.h"
#include "interpreter/mem.h"
#include "machine/buffer_descriptor.h"

namespace wj::interp {

struct BufferAddress {
    machine::BufferDescriptor v;
    const uint32_t* index = nullptr;
    const uint32_t* offset = nullptr;
    const uint32_t* high = nullptr;  // ADDR64: of the address that `offset` holds the low half of
    uint32_t inst_offset, soffset;
    bool structured;     // NUM_RECORDS counts records, not bytes
    bool checks_stride;  // what lies behind the record is out of range
    bool by_oob_select;
    bool wide;          // no sum has 32 bits only
    bool to_next_lane;  // wide accesses to swizzled memory go on in the next lane's
    bool private_segment = false;
    uint32_t private_offset = 0;

    BufferAddress(Wave& w, const Inst& inst)
        : v(&w.sgpr[inst.sbase().reg & 124], buffer_layout(traits(w))),
          inst_offset(static_cast<uint32_t>(inst.offset)),
          soffset(read_s32(w, inst.soffset())) {
        if (inst.idxen) index = vrow(w, inst.vaddr());
        if (inst.offen) offset = vrow(w, inst.vaddr(), inst.idxen ? 1 : 0);
        if (inst.addr64()) {
            offset = vrow(w, inst.vaddr());
            high = vrow(w, inst.vaddr(), 1);
        }
        const Traits& t = traits(w);
        const bool by_swizzle = t.buffer_records == BufferRecords::Gfx8;
        structured = v.lane_stride != 0 && (by_swizzle ? v.swizzle : inst.idxen);
        if (t.buffer_records == BufferRecords::Gfx6)
            structured = v.stride != 0 && (inst.idxen || v.add_tid);
        checks_stride = v.swizzle || t.buffer_records == BufferRecords::Gfx6;
        by_oob_select = t.buffer_records == BufferRecords::Gfx10;
        wide = t.wide_buffers;
        to_next_lane = t.buffer_elements;
        find_private_segment(w);
    }

    // The private segment descriptor (SEED-PROL-14, 15): swizzled, dword elements, as many
    // lanes as the wave has. Resolved to the lane's private memory, whose bounds are then checked:
    // a stack pointer beyond it (SEED-PROL-28) is a fault, too. soffset counts bytes of all lanes.
    void find_private_segment(const Wave& w) {
        if (high || !v.swizzle || v.element != 4 || !v.add_tid || v.index_stride != w.size || index)
            return;
        const uint64_t base = v.base - w.scratch_base, delta = base + soffset;
        const uint64_t bytes = uint64_t{w.scratch_bytes} * w.size;
        if (base > bytes || delta % (4u * w.size) || v.records < bytes) return;
        private_segment = true;
        private_offset = static_cast<uint32_t>(delta / w.size) + inst_offset;
    }

    // Code puts negative offsets there, too (LLVM, the base of ADDR64 buffers).
    uint64_t signed_base() const {
        constexpr uint32_t above = 64 - machine::fields_of(machine::BufferLayout::Gfx6).base_bits();
        return static_cast<uint64_t>(static_cast<int64_t>(v.base << above) >> above);
    }

    Spot spot(uint32_t lane, uint32_t byte, uint32_t bytes) const {
        const uint32_t vector_offset = offset ? offset[lane] : 0;
        if (high) {  // nothing is checked (CLRX, "GCN Memory handling")
            const uint64_t address = uint64_t{high[lane]} << 32 | vector_offset;
            return {Place::Global, signed_base() + address + soffset + inst_offset + byte};
        }
        if (private_segment) return {Place::Scratch, private_offset + vector_offset + byte};
        if (wide) return wide_spot(lane, byte, bytes);
        // The sum of the offsets has 32 bits; the bytes behind it do not come round to 0.
        const uint64_t o = uint64_t{inst_offset + vector_offset} + byte;
        const uint32_t i = (index ? index[lane] : 0) + (v.add_tid ? lane : 0);
        uint64_t at;
        if (v.swizzle) {
            const uint64_t in_element = o & (v.element - 1);
            const uint64_t row = uint64_t{i / v.index_stride} * v.lane_stride + (o - in_element);
            at = row * v.index_stride + i % v.index_stride * v.element + in_element;
        } else {
            at = o + uint64_t{v.lane_stride} * i;
        }
        const bool outside = by_oob_select ? out_of_bounds(i, o, at, bytes)
                             : structured  ? i >= v.records || (checks_stride && o >= v.lane_stride)
                                           : (v.swizzle ? o : at) + bytes + soffset > v.records;
        if (outside) return {Place::Nowhere, 0};
        return {Place::Global, v.base + soffset + at};
    }

    // gfx12.5 (CDNA5 ISA 9.4): bytes are counted. Elements of swizzled buffers have 16 bytes; what
    // is wider goes on behind them, and nothing is checked there.
    Spot wide_spot(uint32_t lane, uint32_t byte, uint32_t bytes) const {
        constexpr uint64_t offset_mask = (uint64_t{1} << 45) - 1;
        const uint64_t i = index ? index[lane] : 0;
        const uint64_t o = uint64_t{inst_offset} + (offset ? offset[lane] : 0);
        if (v.swizzle) {
            const uint64_t all = o + soffset, in_element = all % v.element;
            const uint64_t row = i / v.index_stride * v.lane_stride + (all - in_element);
            return {Place::Global, v.base + row * v.index_stride + i % v.index_stride * v.element +
                                       in_element + byte};
        }
        const uint64_t at = i * v.lane_stride + o + byte;
        const bool behind_record = v.oob_select && o + soffset + byte + bytes > v.lane_stride;
        if (!v.unlimited && (at + soffset + bytes > v.records || behind_record))
            return {Place::Nowhere, 0};
        return {Place::Global, v.base + soffset + (at & offset_mask)};
    }

    // gfx10's rules look at where the last dword begins (Mesa's notes on buffer descriptors).
    bool out_of_bounds(uint32_t i, uint64_t o, uint64_t at, uint32_t bytes) const {
        const uint32_t last = bytes > 4 ? bytes - 4 : 0;
        switch (v.oob_select) {
            case 0:
                return i >= v.records || o + last >= v.lane_stride;
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
