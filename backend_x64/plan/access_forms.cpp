#include "backend_x64/plan/access_forms.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "backend_x64/loop_estimate.h"
#include "backend_x64/plan/programs.h"
#include "ir/known.h"

namespace wj::x64 {

using ir::Access;
using ir::Class;
using ir::Op;

bool is_line(const PlanContext& c, const AccessPlan& p, Value address) {
    const ir::Inst& line = c.inst(address);
    if (line.op != Op::Line32) return false;
    if (p.space == lds_space) return is_short_lds_offset(p.imm);
    // Global lines have their base in the access; those that go down begin above it.
    const ir::Inst& base = c.inst(line.args[0]);
    return p.space == global_space && !is_checked(p.mode) && p.imm == static_cast<int32_t>(p.imm) &&
           base.op == Op::Const32 && (!base.imm || static_cast<int64_t>(line.imm) < 0);
}

// ---- patterns that are looked for at run time ----

bool gathers64(const AccessPlan& p) {
    return p.wide && p.space == global_space && !is_checked(p.mode) && p.dwords_only() &&
           p.dwords <= 2;
}

bool may_be_strided(const PlanContext& c, const AccessPlan& p) {
    if ((!p.full && !c.has_masks()) || !p.dwords_only()) return false;
    if (p.space == lds_space) return p.bytes <= (p.store ? 4 : 8);
    return gathers64(p) && (c.has_masks() || !p.store) && p.bytes <= (p.store ? 4 : 8);
}

bool may_be_sliding(const PlanContext& c, const AccessPlan& p) {
    if (p.store || is_checked(p.mode)) return false;
    if (!p.dwords_only()) return p.bytes == 2 && (p.full || c.has_masks());
    return p.dwords > 1;
}

bool row_of_tile(const PlanContext& c, const AccessPlan& p) {
    const ir::Inst& own = c.inst(p.v);
    return std::ranges::any_of(c.block.insts, [&](const ir::Inst& x) {
        return x.op == own.op && x.args[0] == own.args[0] &&
               (!p.scalar_base || x.args[1] == own.args[1]) && immediate(x) != p.imm &&
               std::abs(immediate(x) - p.imm) < static_cast<int64_t>(stride_bytes);
    });
}

// Whether rows can be copied whole, when all lanes are on.
static bool may_be_rows(const PlanContext& c, const AccessPlan& p, Rows::Kind kind) {
    if (kind == Rows::InOrder) return p.dwords_only() || !p.store || c.has_masks();
    if (kind == Rows::Sliding && p.dwords == 1) return false;
    return !p.store && p.dwords_only() && !p.of_pairs();
}

Rows found_rows(const PlanContext& c, Rows::Kind kind) {
    return {.lanes = c.options.row_lanes, .kind = kind, .any_step = true};
}

bool may_find_rows(const PlanContext& c, const AccessPlan& p, Rows::Kind kind, bool fewer_lanes) {
    return has_narrow_rows(c) && p.space == global_space && !is_checked(p.mode) &&
           p.dwords_only() && (p.full || (c.has_masks() && p.walk < 0 && !fewer_lanes)) &&
           may_be_rows(c, p, kind);
}

bool has_memory_stub(const PlanContext& c, const AccessPlan& p) {
    if (c.options.all_patterns || c.options.address_mode != AddressMode::Identity ||
        !StubAccess::fits(p.imm - p.added))
        return false;
    return p.space == lds_space || (p.space == global_space && (gathers64(p) || !p.rows_ahead));
}

// ---- lines ----

bool is_streamed(const PlanContext& c, const AccessPlan& p) {
    if (!p.store || !p.full || p.space != global_space || !p.dwords_only() || p.dwords == 3 ||
        !ends_unordered(c.block, p.v))
        return false;
    return std::ranges::none_of(c.block.insts, [&](const ir::Inst& i) {
        const Class cls = ir::op_info(i.op).cls;
        return cls == Class::LaneAtomic || cls == Class::Call || cls == Class::Fence ||
               (cls == Class::LaneLoad && ir::has_scalar_base(i.op) &&
                i.args[0] == c.inst(p.v).args[0]);
    });
}

bool first_of_tile(const PlanContext& c, const AccessPlan& p, Value line) {
    const auto stride = static_cast<int64_t>(c.inst(line).imm);
    if (stride <= p.bytes || stride > 64) return false;
    const auto& insts = c.block.insts;
    return std::none_of(insts.begin(), insts.begin() + p.v, [&](const ir::Inst& x) {
        const Class cls = ir::op_info(x.op).cls;
        return (cls == Class::LaneLoad || cls == Class::LaneStore) &&
               space_of(x.op) == global_space && ir::address_of(x) == line &&
               x.args[0] == c.inst(p.v).args[0] && std::abs(immediate(x) - p.imm) < stride;
    });
}

std::optional<Window> window_of(const PlanContext& c, const AccessPlan& p, Value line,
                                std::optional<uint32_t> line_end) {
    if (has_row_step(c, c.inst(line)) || !p.dwords_only() || (p.space != lds_space && !p.full))
        return {};
    // Windows are for dwords, one after the other; an atomic variable of 64 bits is one access.
    if (p.dwords == 2 && p.space == global_space && (p.store || c.block.loads_in_order)) return {};
    Window w{lane_offsets(c, c.inst(line)), static_cast<int32_t>(p.imm)};
    const auto lanes = std::span(w.lanes).first(c.chunk_lanes());
    if (std::ranges::any_of(lanes, [](uint32_t x) { return x % 4 || x > 0x10000; })) return {};
    const uint32_t span = std::ranges::max(lanes) + p.bytes;
    if (p.space == lds_space && line_end && p.imm + p.bytes <= *line_end) {
        // All accesses to the line share vectors, so that later ones find there, as a whole, what
        // earlier ones have stored.
        const uint32_t reach = lanes.back() + *line_end, end = static_cast<uint32_t>(p.imm) + span;
        w.bytes = end > c.width() ? 2 * c.width() : c.width();
        w.whole = p.imm % 4 == 0 && end <= w.bytes && w.bytes <= reach;
        if (w.whole) {
            w.at = 0;
            for (uint32_t& x : w.lanes) x += static_cast<uint32_t>(p.imm);
        }
    }
    if (!w.whole) {
        w.bytes = span - (p.bytes - 4);
        if (w.bytes > (p.store ? 2 : 3) * c.width()) return {};
        // Nothing behind the last element is loaded.
        if (!p.store && w.bytes < c.width() && w.bytes != 16 && w.bytes != 32) return {};
    }
    if (!p.store) return w;
    // Which lane's dword stays, where elements share one, is not for stores dword by dword.
    LaneOffsets sorted = w.lanes;
    std::sort(sorted.begin(), sorted.begin() + c.chunk_lanes());
    for (uint32_t l = 1; l < c.chunk_lanes(); ++l)
        if (sorted[l] - sorted[l - 1] < p.bytes) return {};
    return w;
}

std::optional<Rows> rows_of_line(const PlanContext& c, const AccessPlan& p, Value line) {
    constexpr int64_t furthest = 1 << 24;
    const ir::Inst& l = c.inst(line);
    const bool in_order = l.imm == p.bytes;
    if (!in_order && l.imm && l.imm != 4) return {};
    Rows rows{static_cast<uint32_t>(l.aux), in_order ? Rows::InOrder
                                            : l.imm  ? Rows::Sliding
                                                     : Rows::Equal};
    if (rows.lanes < ir::RowLine::least_width || rows.lanes >= c.chunk_lanes()) return {};
    if (!may_be_rows(c, p, rows.kind)) return {};
    if (p.space == lds_space && !p.full) return {};
    if (c.is_const(l.args[1])) {
        rows.step = static_cast<int32_t>(c.inst(l.args[1]).imm);
        if (std::abs(rows.step) > furthest) return {};
    } else {
        rows.any_step = true;
    }
    return rows;
}

bool are_triples_apart(const PlanContext& c, const AccessPlan& p, const LaneOffsets& offsets) {
    constexpr int64_t page = 4096;
    if (p.bytes != 12 || !p.full) return false;
    for (uint32_t lane = 0; lane + 1 < c.chunk_lanes(); ++lane) {
        const int64_t step =
            int64_t{static_cast<int32_t>(offsets[lane + 1])} - static_cast<int32_t>(offsets[lane]);
        if (step < 16 || step > page) return false;
    }
    return true;
}

bool are_near(const LaneOffsets& offsets) {
    constexpr int32_t furthest = 1 << 20;
    return std::ranges::all_of(
        offsets, [](uint32_t x) { return std::abs(int64_t{static_cast<int32_t>(x)}) <= furthest; });
}

std::optional<DwordRow> dword_row(const PlanContext& c, const AccessPlan& p,
                                  const LaneOffsets& offsets) {
    if (!p.full || p.dwords != 1 || !p.dwords_only()) return {};
    const auto vector = static_cast<int32_t>(c.width());
    const uint32_t lanes = c.chunk_lanes();
    const auto [least, most] = std::minmax_element(
        offsets.begin(), offsets.begin() + lanes,
        [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b); });
    const auto begin = static_cast<int32_t>(*least),
               bytes = static_cast<int32_t>(*most - *least) + 4;
    const int32_t count = (bytes + vector - 1) / vector;
    if (std::any_of(offsets.begin(), offsets.begin() + lanes,
                    [&](uint32_t x) { return (x - *least) % 4; }) ||
        (!p.store && bytes < vector) || count > DwordRow::most_vectors)
        return {};
    DwordRow row;
    row.vectors = static_cast<uint32_t>(count);
    // The second of two overlapping vectors that are loaded ends with the last element.
    for (uint32_t n = 0; n < row.vectors; ++n) {
        const int32_t at = static_cast<int32_t>(n) * vector;
        row.at[n] = begin + (p.store ? at : std::min(at, bytes - vector));
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        const int32_t at = static_cast<int32_t>(offsets[lane]);
        const auto n = static_cast<uint32_t>((at - begin) / vector);
        const auto place = static_cast<uint32_t>(at - row.at[n]) / 4;
        row.in[lane] = n;
        row.index[lane] = place;
        if (!p.store) continue;
        if (row.written[n] >> place & 1) return {};
        row.written[n] |= 1u << place;
        row.from[n][place] = lane;
    }
    const auto whole = [&](uint32_t x) { return x == (1u << lanes) - 1; };
    if (p.store && !c.has_masks() &&
        !std::all_of(row.written.begin(), row.written.begin() + count, whole))
        return {};
    return row;
}

std::optional<ByteRow> load_byte_row(const PlanContext& c, const AccessPlan& p,
                                     const LaneOffsets& offsets) {
    constexpr uint32_t sixteen = 16;
    const uint32_t end = offsets[c.chunk_lanes() - 1] + p.bytes;
    if (!std::is_sorted(offsets.begin(), offsets.begin() + c.chunk_lanes()) || offsets[0] ||
        end < sixteen)
        return {};
    ByteRow row{};
    row.bytes.fill(0x80);
    for (uint32_t lane = 0; lane < c.chunk_lanes(); ++lane) {
        uint32_t& begin = row.from[lane / 4];
        if (lane % 4 == 0) begin = std::min(offsets[lane], end - sixteen);
        const uint32_t at = offsets[lane] - begin;
        if (at + p.bytes > sixteen) return {};
        for (uint32_t b = 0; b < p.bytes; ++b)
            row.bytes[lane * 4 + b] = static_cast<uint8_t>(at + b);
    }
    return row;
}

std::optional<ByteScatter> store_byte_row(const PlanContext& c, const AccessPlan& p,
                                          const LaneOffsets& offsets) {
    if (!c.has_masks()) return {};
    const uint32_t high = p.access == Access::U8D16Hi || p.access == Access::U16D16Hi ? 2 : 0;
    ByteScatter row;
    for (uint32_t lane = 0; lane < c.chunk_lanes(); ++lane)
        for (uint32_t b = 0; b < p.bytes; ++b) {
            const uint32_t at = offsets[lane] + b;
            if (at >= row.from.size() || row.written >> at & 1) return {};
            row.from[at] = static_cast<uint8_t>(lane * 4 + high + b);
            row.written |= uint64_t{1} << at;
        }
    return row;
}

// ---- others ----

uint32_t table_of(const PlanContext& c, const ir::Inst& load) {
    if (load.op != Op::LoadGlobalS || is_checked(c.options.address_mode)) return 0;
    const Access access = ir::aux_access(load.aux);
    const uint32_t bytes = ir::table_bytes(c.block, access, ir::aux_dwords(load.aux), load.args[1]);
    const bool dwords = access == Access::Dwords;
    const uint32_t most = c.has_masks() ? (dwords ? 128 : 256) : 64;
    return bytes <= most && immediate(load) == static_cast<int32_t>(immediate(load)) ? bytes : 0;
}

bool in_far_steps(const PlanContext& c, Value access) {
    return steps_far(step_of(c.block, c.inst(access)));
}

int32_t walking_direction(const PlanContext& c, const AccessPlan& p) {
    const auto step = p.store ? std::nullopt : step_of(c.block, c.inst(p.v));
    return !step || !*step ? 0 : *step > 0 ? 1 : -1;
}

bool walks_in_rows(const PlanContext& c, const AccessPlan& p, const AccessSite& site) {
    if (!site.learns || p.walk < 0 || p.store || !p.full || p.space != global_space ||
        is_checked(p.mode) || c.block.loads_in_order ||
        !(p.dwords_only() ? std::has_single_bit(p.dwords) : p.access <= Access::S16))
        return false;
    const Walks::Walk& w = site.loop_walks->walks[static_cast<uint32_t>(p.walk)];
    return w.whole_step() == static_cast<int64_t>(p.bytes) &&
           (!w.base_varies || site.row_walks >> p.walk & 1);
}

std::optional<PrivatePlace> private_place(const PlanContext& c, const ir::Inst& access) {
    const Space space = space_of(access.op);
    const ir::Inst& address = c.inst(access.args[0]);
    if ((space != scratch_space && space != buffer_space) || address.op != Op::Splat32 ||
        ir::aux_access(access.aux) != Access::Dwords)
        return {};
    const Value uniform = address.args[0];
    PrivatePlace place{no_value, 0};
    int64_t offset = immediate(access);
    if (c.is_const(uniform))
        offset += static_cast<uint32_t>(c.inst(uniform).imm);
    else if (space == buffer_space)
        return {};
    else
        place.base = uniform;
    if (space == buffer_space) place.base = access.args[2];
    if (offset < 0 || offset % 4 || offset > max_private_bytes) return {};
    place.offset = static_cast<uint32_t>(offset);
    return place;
}

bool may_be_column(const PlanContext& c, Value store) {
    const ir::Inst& i = c.inst(store);
    const bool line = ir::has_scalar_base(i.op) && has_lane_step(c, c.inst(ir::address_of(i)));
    if (c.block.lanes < c.block.wave_size) return false;
    if ((i.op != Op::StoreGlobal && i.op != Op::StoreGlobalS64 && !line) ||
        is_checked(c.options.address_mode) || ir::aux_access(i.aux) != Access::Dwords ||
        ir::aux_dwords(i.aux) != 1 || !c.schedule.is_full(ir::mask_of(i)))
        return false;
    if (line && (i.op != Op::StoreGlobalS || !is_last_access(c.block, store))) return false;
    // What the chunks' addresses look like must not be wanted by later accesses.
    return std::ranges::none_of(c.block.insts, [&](const ir::Inst& other) {
        const Class cls = ir::op_info(other.op).cls;
        return &other != &i && (cls == Class::LaneLoad || cls == Class::LaneStore) &&
               ir::address_of(other) == ir::address_of(i);
    });
}

}  // namespace wj::x64
