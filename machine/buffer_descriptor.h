// Buffer resource descriptors (V#): four dwords, some of whose fields lie elsewhere in each family
// (GCN3 and Vega ISA manuals 8.1.5, CDNA5 ISA 9.6; ROCR-Runtime, SQ_BUF_RSRC_WORD1 and
// SQ_BUF_RSRC_WORD3 of its registers.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace wj::machine {

// Named by the first family that has them.
enum class BufferLayout : uint8_t { Gfx6, Gfx8, Gfx9, Gfx10, Gfx11, Gfx125 };

// Bits of a V#, counted from the lowest one of its first dword. No bits: the layout has no such
// field, which reads as 0 and takes no value.
struct BufferField {
    uint8_t at = 0, bits = 0;
    constexpr uint32_t dword() const { return at / 32; }
    constexpr uint32_t shift() const { return at % 32; }          // in its dword
    constexpr uint32_t shift_in_pair() const { return at % 64; }  // in two dwords
    constexpr uint32_t mask() const { return static_cast<uint32_t>((uint64_t{1} << bits) - 1); }
    constexpr uint32_t dword_mask() const { return mask() << shift(); }
    constexpr uint32_t get(const uint32_t* words) const {
        return words[dword()] >> shift() & mask();
    }
    constexpr void put(uint32_t* words, uint32_t value) const {
        words[dword()] = (words[dword()] & ~dword_mask()) | (value & mask()) << shift();
    }
};

// What all layouts share has its place here, the rest in the table below.
struct BufferFields {
    BufferField base_low{0, 32}, base_high{32, 16};
    BufferField stride{48, 14};  // bytes
    BufferField stride_scale = {};
    BufferField swizzle{63, 1};  // of two bits: 0 not, else as ELEMENT_SIZE
    // NUM_RECORDS, of 45 bits in three parts
    BufferField records_low = {}, records{64, 32}, records_high = {};
    BufferField select{96, 12};  // DST_SEL of x, y, z and w, three bits each
    BufferField number_format = {}, data_format = {};
    BufferField stride_high = {};      // with ADD_TID: the stride goes on where DATA_FORMAT is else
    BufferField format = {};           // one number for both formats
    BufferField element_size = {};     // 2 bytes, shifted by it
    BufferField index_stride{117, 2};  // 8 lanes, shifted by it
    BufferField add_tid{119, 1};
    BufferField resource_level = {};
    BufferField oob_select = {};
    uint32_t raw = 3;                 // the OOB_SELECT by which bytes are counted
    uint32_t least_index_stride = 8;  // lanes
    uint32_t element = 4;             // bytes, where no field says it

    constexpr uint32_t base_bits() const { return base_low.bits + base_high.bits; }
    constexpr uint64_t base(const uint32_t* words) const {
        return base_low.get(words) | uint64_t{base_high.get(words)} << base_low.bits;
    }
    constexpr void put_base(uint32_t* words, uint64_t value) const {
        base_low.put(words, static_cast<uint32_t>(value));
        base_high.put(words, static_cast<uint32_t>(value >> base_low.bits));
    }
    constexpr uint32_t records_bits() const {
        return records_low.bits + records.bits + records_high.bits;
    }
    constexpr uint64_t all_records() const { return (uint64_t{1} << records_bits()) - 1; }
    constexpr uint64_t num_records(const uint32_t* words) const {
        return records_low.get(words) | uint64_t{records.get(words)} << records_low.bits |
               uint64_t{records_high.get(words)} << (records_low.bits + records.bits);
    }
    constexpr void put_records(uint32_t* words, uint64_t value) const {
        records_low.put(words, static_cast<uint32_t>(value));
        records.put(words, static_cast<uint32_t>(value >> records_low.bits));
        records_high.put(words, static_cast<uint32_t>(value >> (records_low.bits + records.bits)));
    }
};

inline constexpr std::array<BufferFields, 6> buffer_fields = {{
    {.number_format = {108, 3}, .data_format = {111, 4}, .element_size = {115, 2}},
    {.number_format = {108, 3},
     .data_format = {111, 4},
     .stride_high = {111, 4},
     .element_size = {115, 2}},
    {.number_format = {108, 3}, .data_format = {111, 4}, .stride_high = {111, 4}},
    {.format = {108, 7}, .resource_level = {120, 1}, .oob_select = {124, 2}},
    {.swizzle = {62, 2}, .format = {108, 6}, .oob_select = {124, 2}},
    {.base_high = {32, 25},
     .stride = {108, 14},
     .stride_scale = {122, 2},
     .swizzle = {124, 1},
     .records_low = {57, 7},
     .records_high = {96, 6},
     .select = {},
     .index_stride = {},
     .add_tid = {},
     .oob_select = {125, 1},
     .raw = 0,
     .least_index_stride = 32,
     .element = 16},
}};
// What STRIDE_SCALE multiplies the stride by.
inline constexpr std::array<uint32_t, 4> stride_scales = {1, 4, 8, 32};

constexpr const BufferFields& fields_of(BufferLayout layout) {
    return buffer_fields[static_cast<size_t>(layout)];
}

struct BufferDescriptor {
    uint64_t base = 0;
    uint32_t stride = 0;       // bytes
    uint32_t lane_stride = 0;  // bytes, of accesses of lanes
    uint64_t records = 0;
    uint32_t index_stride = 0;  // lanes
    uint32_t element = 4;       // bytes that stay together where lanes' elements alternate
    bool swizzle = false, add_tid = false;
    bool unlimited = false;  // nothing is out of range
    uint8_t select[4] = {};  // 0 zero, 1 one, 4..7 x..w
    uint8_t data_format = 0, number_format = 0, format = 0, oob_select = 0;

    constexpr BufferDescriptor(const uint32_t* words, BufferLayout layout) {
        const BufferFields& f = fields_of(layout);
        base = f.base(words);
        stride = f.stride.get(words);
        lane_stride = stride * stride_scales[f.stride_scale.get(words)];
        records = f.num_records(words);
        unlimited = layout == BufferLayout::Gfx125 && records == f.all_records();
        index_stride = f.least_index_stride << f.index_stride.get(words);
        element = f.element;
        add_tid = f.add_tid.get(words);
        if (add_tid) lane_stride |= f.stride_high.get(words) << f.stride.bits;
        const uint32_t swizzling = f.swizzle.get(words);
        swizzle = swizzling != 0;
        if (f.swizzle.bits > 1 && swizzle) element = 2u << swizzling;
        if (f.element_size.bits) element = 2u << f.element_size.get(words);
        for (uint32_t i = 0; i < 4; ++i)
            select[i] = static_cast<uint8_t>(f.select.get(words) >> 3 * i & 7);
        data_format = static_cast<uint8_t>(f.data_format.get(words));
        number_format = static_cast<uint8_t>(f.number_format.get(words));
        format = static_cast<uint8_t>(f.format.get(words));
        oob_select = static_cast<uint8_t>(f.oob_select.get(words));
    }
};

}  // namespace wj::machine
