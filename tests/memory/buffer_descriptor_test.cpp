// Buffer resource descriptors of each family. The words are put together by hand from the bit
// fields of ROCR-Runtime's registers.h (SQ_BUF_RSRC_WORD1, SQ_BUF_RSRC_WORD3 and their GFX10 and
// GFX11 forms).
#include "machine/buffer_descriptor.h"

#include <gtest/gtest.h>

namespace wj::machine {
namespace {

// DST_SEL x, y, z, w = 4, 5, 6, 7; INDEX_STRIDE 3 at bit 21; ADD_TID_ENABLE at bit 23.
constexpr uint32_t common = 0xfac | 3u << 21 | 1u << 23;

void expect_common(const BufferDescriptor& v) {
    EXPECT_EQ(v.base, 0x123489abcdefu);
    EXPECT_EQ(v.stride, 16u);
    EXPECT_EQ(v.records, 1000u);
    EXPECT_EQ(v.index_stride, 64u);
    EXPECT_TRUE(v.add_tid);
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(v.select[i], 4 + i);
}

TEST(BufferDescriptor, Gfx8AndEarlierHaveElementSize) {
    // NUM_FORMAT 7 at bit 12, DATA_FORMAT 4 at bit 15, ELEMENT_SIZE 2 (8 bytes) at bit 19.
    const uint32_t words[] = {0x89abcdef, 0x80101234, 1000, common | 0x7000 | 0x20000 | 0x100000};
    for (BufferLayout layout : {BufferLayout::Gfx6, BufferLayout::Gfx8}) {
        const BufferDescriptor v(words, layout);
        expect_common(v);
        EXPECT_TRUE(v.swizzle);
        EXPECT_EQ(v.element, 8u);
        EXPECT_EQ(v.number_format, 7);
        EXPECT_EQ(v.data_format, 4);
        // ADD_TID: DATA_FORMAT is bits 14 to 17 of the stride, from gfx8 on.
        EXPECT_EQ(v.lane_stride, layout == BufferLayout::Gfx8 ? 16u + 4 * 0x4000 : 16u);
    }
}

TEST(BufferDescriptor, Gfx9HasElementsOfDwords) {
    const uint32_t words[] = {0x89abcdef, 0x80101234, 1000, common | 0x7000 | 0x20000 | 0x180000};
    const BufferDescriptor v(words, BufferLayout::Gfx9);
    expect_common(v);
    EXPECT_TRUE(v.swizzle);
    EXPECT_EQ(v.element, 4u);  // bits 19 and 20 are of virtual memory
    EXPECT_EQ(v.number_format, 7);
    EXPECT_EQ(v.data_format, 4);
    EXPECT_EQ(v.lane_stride, 16u + 4 * 0x4000);
    EXPECT_EQ(v.oob_select, 0);
    const uint32_t no_tid[] = {0x89abcdef, 0x00101234, 1000, 0x27fac};
    const BufferDescriptor plain(no_tid, BufferLayout::Gfx9);
    EXPECT_FALSE(plain.swizzle);
    EXPECT_FALSE(plain.add_tid);
    EXPECT_EQ(plain.lane_stride, 16u);
    EXPECT_EQ(plain.index_stride, 8u);
}

TEST(BufferDescriptor, Gfx10HasOneFormat) {
    // FORMAT 77 (of seven bits) at bit 12, RESOURCE_LEVEL at bit 24, OOB_SELECT 3 at bit 28.
    const uint32_t words[] = {0x89abcdef, 0x80101234, 1000, common | 77u << 12 | 0x31000000};
    const BufferDescriptor v(words, BufferLayout::Gfx10);
    expect_common(v);
    EXPECT_TRUE(v.swizzle);
    EXPECT_EQ(v.element, 4u);
    EXPECT_EQ(v.format, 77);
    EXPECT_EQ(v.oob_select, 3);
    EXPECT_EQ(v.lane_stride, 16u);
}

TEST(BufferDescriptor, Gfx11SaysHowLargeElementsAre) {
    // FORMAT has six bits; bit 18 is reserved.
    constexpr uint32_t last = common | 20u << 12 | 1u << 18 | 2u << 28;
    constexpr struct {
        uint32_t word1, element;
        bool swizzle;
    } cases[] = {{0x00101234, 4, false},
                 {0x40101234, 4, true},
                 {0x80101234, 8, true},
                 {0xc0101234, 16, true}};
    for (const auto& c : cases) {
        const uint32_t words[] = {0x89abcdef, c.word1, 1000, last};
        const BufferDescriptor v(words, BufferLayout::Gfx11);
        expect_common(v);
        EXPECT_EQ(v.swizzle, c.swizzle) << std::hex << c.word1;
        EXPECT_EQ(v.element, c.element) << std::hex << c.word1;
        EXPECT_EQ(v.format, 20);
        EXPECT_EQ(v.oob_select, 2);
        EXPECT_EQ(v.lane_stride, 16u);
    }
}

TEST(BufferDescriptor, Gfx125CountsBytesIn45Bits) {
    // Base 0x123456789abcdef, NUM_RECORDS in three parts: 7 bits at bit 57, 32 at 64, 6 at 96;
    // STRIDE 3 at bit 108, STRIDE_SCALE 2 at 122, swizzle at 124, OOB_SELECT at 125.
    const uint32_t words[] = {0x89abcdef, 0x1234567 | 0x55u << 25, 0x4a000000u,
                              0x34 | 3u << 12 | 2u << 26 | 1u << 28 | 1u << 29};
    const BufferDescriptor v(words, BufferLayout::Gfx125);
    EXPECT_EQ(v.base, 0x123456789abcdefu);
    EXPECT_EQ(v.records, 0x55 | uint64_t{0x4a000000} << 7 | uint64_t{0x34} << 39);
    EXPECT_EQ(v.stride, 3u);
    EXPECT_EQ(v.lane_stride, 24u);
    EXPECT_TRUE(v.swizzle);
    EXPECT_FALSE(v.add_tid);
    EXPECT_EQ(v.index_stride, 32u);
    EXPECT_EQ(v.element, 16u);
    EXPECT_EQ(v.oob_select, 1);
    EXPECT_FALSE(v.unlimited);

    uint32_t put[4] = {};
    const BufferFields& f = fields_of(BufferLayout::Gfx125);
    f.put_base(put, v.base);
    f.put_records(put, v.records);
    for (const uint32_t i : {0u, 1u, 2u}) EXPECT_EQ(put[i], words[i]) << i;
    EXPECT_EQ(put[3], 0x34u);
    f.put_records(put, (uint64_t{1} << 45) - 1);
    EXPECT_TRUE(BufferDescriptor(put, BufferLayout::Gfx125).unlimited);
}

TEST(BufferDescriptor, FieldsThatALayoutLacksTakeNothing) {
    uint32_t words[4] = {};
    fields_of(BufferLayout::Gfx11).resource_level.put(words, 1);
    fields_of(BufferLayout::Gfx11).element_size.put(words, 3);
    fields_of(BufferLayout::Gfx9).oob_select.put(words, 3);
    for (const uint32_t w : words) EXPECT_EQ(w, 0u);
    fields_of(BufferLayout::Gfx10).oob_select.put(words, 7);  // two bits
    EXPECT_EQ(words[3], 0x30000000u);
    fields_of(BufferLayout::Gfx10).oob_select.put(words, 1);
    EXPECT_EQ(words[3], 0x10000000u);
    fields_of(BufferLayout::Gfx11).swizzle.put(words, 1);
    EXPECT_EQ(words[1], 0x40000000u);
}

}  // namespace
}  // namespace wj::machine
