// Lines (ir::Op::Line32; docs/design/lines.md): how far apart a chunk's elements are, which is
// known when code is made, or but for a uniform step.
#pragma once

#include <array>
#include <optional>

#include "backend_x64/plan/plan_context.h"

namespace wj::x64 {

// How far the chunk's lanes are from its first one; those of a chunk come first.
using LaneOffsets = std::array<uint32_t, 16>;
LaneOffsets lane_offsets(uint32_t stride, uint32_t step, uint32_t width);
LaneOffsets lane_offsets(const PlanContext& c, const ir::Inst& line);

// The line's elements are a uniform step apart that is known at run time.
bool has_lane_step(const PlanContext& c, const ir::Inst& line);
// Those of its rows are, which are narrower than a vector.
bool has_row_step(const PlanContext& c, const ir::Inst& line);
// Waves hold rows that are narrower than a vector.
bool has_narrow_rows(const PlanContext& c);
// How far apart neighbours are, if they are equally far apart in the whole wave.
std::optional<uint32_t> even_step(const PlanContext& c, const ir::Inst& line);
// How far reg::chunk, which is 4 * lane - 256, is shifted to lead from chunk to chunk, if that is
// the same for all of them.
std::optional<uint32_t> chunk_scale(const PlanContext& c, const ir::Inst& line);

// ---- accesses at lines ----

// Nothing has to be found out but where the line's elements are.
bool is_plain_line(const PlanContext& c, const ir::Inst& access);
// Of a plain line: the global address, or the place in the LDS, that it begins at.
Value base_of_line(const PlanContext& c, const ir::Inst& access);
// Whether a global line is that of other bases, too, and this one's of two accesses at most: then
// it pays to add the base in each.
bool has_many_bases(const PlanContext& c, const ir::Inst& access);
// An access at a line whose base may go on from wave to wave.
bool is_at_line(const PlanContext& c, const ir::Inst& access);
// One whose lanes' elements follow one another.
bool is_row_of_wave(const PlanContext& c, const ir::Inst& access);
// Waves that follow each other at once make the plainest of streams, unless something fills the
// host's window before it comes to what the next waves read.
bool host_fetches(const PlanContext& c, Value line);

}  // namespace wj::x64
