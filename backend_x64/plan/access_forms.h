// Which ways of moving its elements are open to an access: conditions, and what they are moved by.
#pragma once

#include "backend_x64/plan/access_plan.h"

namespace wj::x64 {

// Work-items' rows of tiles: elements that far apart are loaded and stored as whole vectors.
inline constexpr uint32_t stride_bytes = 16;

// An offset in the LDS that sums with addresses in range do not wrap with.
constexpr bool is_short_lds_offset(int64_t imm) {
    return imm >= 0 && imm <= 0x10000;
}
inline bool is_narrow_load(const AccessPlan& p) {
    return !p.store && !p.dwords_only();
}
// How far apart the lanes' elements are is known without a look at them.
bool is_line(const PlanContext& c, const AccessPlan& p, Value address);

// ---- patterns that are looked for at run time ----

// Global elements of one or two dwords at any addresses: gathers need no look at them.
bool gathers64(const AccessPlan& p);
// Scatters need no relation between the lanes.
inline bool may_be_same(const AccessPlan& p) {
    return !(p.store && gathers64(p));
}
// What lies between the elements is read, too; no page is touched that holds none of them. All
// lanes are on: with a mask that is known at run time only.
bool may_be_strided(const PlanContext& c, const AccessPlan& p);
// Elements that overlap: several dwords, 4 bytes apart, or words, a byte apart, as neighbours that
// a compiler loads together are.
bool may_be_sliding(const PlanContext& c, const AccessPlan& p);
inline uint32_t sliding_step(const AccessPlan& p) {
    return p.dwords_only() ? 4 : 1;
}
// The block reaches other elements of the same 16 bytes as well. A store that is alone in its row
// is scattered: the code for whole vectors is large.
bool row_of_tile(const PlanContext& c, const AccessPlan& p);
// Narrow rows that a look at the lanes finds, which have the step in rdx.
Rows found_rows(const PlanContext& c, Rows::Kind kind);
// All lanes are on, or AVX-512 asks. fewer_lanes: than the pattern was found for.
bool may_find_rows(const PlanContext& c, const AccessPlan& p, Rows::Kind kind, bool fewer_lanes);
// Whether the access leaves all but consecutive lanes to a stub.
bool has_memory_stub(const PlanContext& c, const AccessPlan& p);

// ---- lines ----

// A store that may go around the caches when the launch writes more than they hold: whole lines
// that the block does not read, with nothing behind it that another wave could take for a sign of
// their being there.
bool is_streamed(const PlanContext& c, const AccessPlan& p);
// Rows of several elements for each lane: the first access of the block to them prefetches for all.
bool first_of_tile(const PlanContext& c, const AccessPlan& p, Value line);
// One to three vectors wide. None: the lanes go their own ways. line_end: AccessSite::line_end.
std::optional<Window> window_of(const PlanContext& c, const AccessPlan& p, Value line,
                                std::optional<uint32_t> line_end);
std::optional<Rows> rows_of_line(const PlanContext& c, const AccessPlan& p, Value line);
// Whether all elements of three dwords are followed by a gap of at least one, in the order of
// lanes.
bool are_triples_apart(const PlanContext& c, const AccessPlan& p, const LaneOffsets& offsets);
// No element is so far that a displacement does not reach it.
bool are_near(const LaneOffsets& offsets);

// Single dwords of all lanes within a few vectors, which they do not fill in order: reversed, every
// second one, fields of records.
struct DwordRow {
    static constexpr int32_t most_vectors = 4;
    uint32_t vectors = 0;
    std::array<int32_t, most_vectors> at{};  // of each vector, from the address
    // Loads: where each lane's dword is, in which vector and at which place of it.
    LaneOffsets in{}, index{};
    // Stores, by vector: the lane of each place, and the places that are written, a bit each.
    std::array<LaneOffsets, most_vectors> from{};
    std::array<uint32_t, most_vectors> written{};
};
// Vectors of a load lie within the elements' memory; what is between elements shares a page with
// some. None: they are too far from each other, or too close; two lanes write the same dword; or
// what is between them would need masks that AVX2 has not.
std::optional<DwordRow> dword_row(const PlanContext& c, const AccessPlan& p,
                                  const LaneOffsets& offsets);

// Loads of bytes or words a few bytes apart (a colour of pixels): 16 bytes for each four lanes,
// within the elements' memory, and a permutation of bytes.
struct ByteRow {
    std::array<uint8_t, 64> bytes;  // in 16 bytes; 0x80: 0
    std::array<uint32_t, 4> from;   // of each four lanes
};
std::optional<ByteRow> load_byte_row(const PlanContext& c, const AccessPlan& p,
                                     const LaneOffsets& offsets);
// Stores: one vector under a mask, if there are such and they lie within it.
struct ByteScatter {
    std::array<uint8_t, 64> from{};  // byte of the data, by byte of memory
    uint64_t written = 0;            // a bit for each byte
};
std::optional<ByteScatter> store_byte_row(const PlanContext& c, const AccessPlan& p,
                                          const LaneOffsets& offsets);

// ---- others ----

// The bytes of the small table that a load reads from, 0 if there is none or it is too large to be
// worth it.
uint32_t table_of(const PlanContext& c, const ir::Inst& load);
// In a loop over chunks: where iterations lie far apart, what is prefetched is gone when its
// chunk's turn comes.
bool in_far_steps(const PlanContext& c, Value access);
// Does a load walk through memory, and in which direction (-1, 1)? Lanes that each go a way of
// their own are more streams than the host follows.
int32_t walking_direction(const PlanContext& c, const AccessPlan& p);
// Whether the load's lanes go on by an element in each iteration, whatever they began at: rows of a
// matrix, one for each lane. Nothing in the loop writes memory, or looks out for what others write.
bool walks_in_rows(const PlanContext& c, const AccessPlan& p, const AccessSite& site);
// Dwords of private memory at a constant behind an offset that is the same in all lanes, as of
// spilled registers.
struct PrivatePlace {
    Value base;       // BufferBase, an offset, or no_value: 0
    uint32_t offset;  // bytes
};
std::optional<PrivatePlace> private_place(const PlanContext& c, const ir::Inst& access);
// Offsets times 64 must stay signed 32-bit numbers.
inline constexpr uint32_t max_private_bytes = 1u << 24;
// A store of dwords by all lanes that may wait until those of later waves fill whole lines with it
// (column_store.h).
bool may_be_column(const PlanContext& c, Value store);

}  // namespace wj::x64
