#include "backend_x64/plan/access_plan.h"

#include <algorithm>

#include "backend_x64/plan/access_forms.h"

namespace wj::x64 {

using ir::Access;
using ir::Class;
using ir::Op;

Space space_of(Op op) {
    switch (op) {
        case Op::LoadFlat:
        case Op::StoreFlat:
        case Op::AtomicFlat:
            return flat_space;
        case Op::LoadLds:
        case Op::StoreLds:
        case Op::AtomicLds:
            return lds_space;
        case Op::LoadScratch:
        case Op::StoreScratch:
            return scratch_space;
        case Op::LoadBuffer:
        case Op::StoreBuffer:
            return buffer_space;
        default:
            return global_space;
    }
}

AccessPlan describe_access(const PlanContext& c, Value v, bool full) {
    const ir::Inst& i = c.inst(v);
    AccessPlan p;
    p.v = v;
    p.store = ir::op_info(i.op).cls == Class::LaneStore;
    p.mask_value = ir::mask_of(i);
    p.full = full;
    p.wide = c.block.type(ir::address_of(i)) == ir::Type::V64;
    p.scalar_base = ir::has_scalar_base(i.op);
    p.space = space_of(i.op);
    if (p.scalar_base || p.space == buffer_space) p.base_value = i.args[p.scalar_base ? 0 : 2];
    p.access = ir::aux_access(i.aux);
    p.dwords = std::max(1u, ir::aux_dwords(i.aux));
    p.bytes = ir::access_bytes(p.access, p.dwords);
    p.added = p.space == lds_space ? static_cast<uint32_t>(i.imm >> 32) : 0;
    p.imm = immediate(i);
    if (p.space == global_space || p.space == flat_space) p.mode = c.options.address_mode;
    return p;
}

AccessPlan second_of(const PlanContext& c, const AccessPlan& p) {
    AccessPlan second = p;
    second.v = p.second;
    second.imm = immediate(c.inst(p.second));
    second.added = static_cast<uint32_t>(c.inst(p.second).imm >> 32);
    return second;
}

Unit loaded_unit(const PlanContext& c, const AccessPlan& p, uint32_t d) {
    if (const Value pair = p.pairs[d / 2]; pair != no_value) return c.schedule.unit(pair, d % 2);
    return p.is_tile() ? c.schedule.unit(p.tile[d]) : c.schedule.unit(p.v, d);
}

// Four loads of a row's dwords, 16 bytes from lane to lane, as one of tuples.
static void join_tile(const PlanContext& c, AccessPlan& p, const ir::Inst& line,
                      const AccessSite& site) {
    const ir::Inst& own = c.inst(p.v);
    if (p.store || p.space != global_space || !p.full || !p.dwords_only() || p.dwords != 1 ||
        line.imm != stride_bytes || line.aux < c.chunk_lanes() || site.in_loop)
        return;
    std::array<Value, 7> near{};  // by distance from this one's dword, three being itself
    near.fill(no_value);
    near[3] = p.v;
    for (const Value v : site.behind) {
        const ir::Inst& i = c.inst(v);
        const Class cls = ir::op_info(i.op).cls;
        if (cls == Class::LaneStore || cls == Class::LaneAtomic) break;
        const int64_t dwords = (immediate(i) - p.imm) / 4 + 3;
        if (i.op == own.op && i.args == own.args && i.aux == own.aux &&
            (immediate(i) - p.imm) % 4 == 0 && dwords >= 0 && dwords < 7 && dwords != 3)
            near[static_cast<size_t>(dwords)] = v;
    }
    for (size_t first = 0; first < 4; ++first) {
        if (std::ranges::count(near.begin() + first, near.begin() + first + 4, no_value)) continue;
        std::copy_n(near.begin() + first, 4, p.tile.begin());
        p.imm += (static_cast<int64_t>(first) - 3) * 4;
        p.dwords = 4;
        p.bytes = stride_bytes;
        return;
    }
}

// The store behind this one, if it fills gaps of the same window: both are one then. Exchanges of
// sorting networks, the results of butterflies.
static Value second_store(const PlanContext& c, const AccessPlan& p, Value line,
                          const AccessSite& site) {
    if (!p.store || p.space != lds_space || p.dwords != 1 || site.behind.empty()) return no_value;
    const Value next = site.behind.front();
    const ir::Inst &own = c.inst(p.v), &other = c.inst(next);
    if (other.op != own.op || other.args[0] != line || other.aux != own.aux ||
        ir::mask_of(other) != ir::mask_of(own) || c.inst(line).aux >= c.chunk_lanes())
        return no_value;
    AccessPlan both = p;
    both.second = next;
    const auto a = window_of(c, p, line, site.line_end),
               b = window_of(c, second_of(c, both), line, site.line_end);
    if (!a || !b || !a->whole || !b->whole || a->bytes != b->bytes) return no_value;
    for (uint32_t x = 0; x < c.chunk_lanes(); ++x)
        for (uint32_t y = 0; y < c.chunk_lanes(); ++y)
            if (a->lanes[x] == b->lanes[y]) return no_value;
    return next;
}

// How the elements at a line are moved. Sets the window or the rows, if they are that.
static Transfer line_transfer(const PlanContext& c, AccessPlan& p, Value line,
                              const AccessSite& site) {
    const ir::Inst& l = c.inst(line);
    const auto stride = static_cast<uint32_t>(l.imm);
    const bool one_row = l.aux >= c.chunk_lanes();
    if (p.space == global_space && has_lane_step(c, l)) return Transfer::StepGather;
    if (!one_row && (p.window = window_of(c, p, line, site.line_end))) {
        if (p.second != no_value)
            p.second_window = window_of(c, second_of(c, p), line, site.line_end);
        return Transfer::Windows;
    }
    if ((p.rows = rows_of_line(c, p, line))) return Transfer::NarrowRows;
    if (has_row_step(c, l)) return Transfer::StepGather;
    if (one_row) {
        if (stride == p.bytes)
            return is_streamed(c, p) ? Transfer::Streamed : Transfer::Consecutive;
        // Neighbours that a compiler loads together.
        if (stride == 8 && p.dwords == 4 && !p.store && p.space == global_space)
            return Transfer::Neighbours;
        if (stride == 0 &&
            (!p.store || (p.second == no_value && !p.in_memory_order && !p.of_pairs())))
            return Transfer::Repeated;
        if (stride == stride_bytes && p.full && p.dwords_only() &&
            (p.store ? p.bytes == 4 && c.has_masks() && row_of_tile(c, p) : p.bytes <= 8))
            return Transfer::Strided;
        if (stride == sliding_step(p) && may_be_sliding(c, p)) return Transfer::Sliding;
    }
    const LaneOffsets offsets = lane_offsets(c, l);
    if (!are_near(offsets)) return Transfer::LineGather;
    if (p.full && p.bytes == stride_bytes) return Transfer::Quads;
    if (are_triples_apart(c, p, offsets)) return Transfer::Triples;
    if (p.full && !p.dwords_only()) {
        if (p.store) return store_byte_row(c, p, offsets) ? Transfer::ByteRow : Transfer::ByteLanes;
        if (load_byte_row(c, p, offsets)) return Transfer::ByteRow;
    }
    return p.space != lds_space && dword_row(c, p, offsets) ? Transfer::DwordRow
                                                            : Transfer::LineGather;
}

static Shape shape_of_line(const PlanContext& c, const ir::Inst& line) {
    Shape s{Shape::Line, static_cast<int32_t>(line.imm), static_cast<uint32_t>(line.aux), {}};
    if (line.aux == machine::lanes)
        s.step = 0;
    else if (c.is_const(line.args[1]))
        s.step = static_cast<int32_t>(c.inst(line.args[1]).imm);
    return s;
}

AccessPlan plan_access(const PlanContext& c, Value v, const AccessSite& site) {
    AccessPlan p = describe_access(c, v, site.full);
    const ir::Inst& i = c.inst(v);
    const Value address = ir::address_of(i);
    const bool splat = c.inst(address).op == Op::Splat32,
               wide_splat = c.inst(address).op == Op::Splat64;
    const bool line = is_line(c, p, address);
    if (const auto walk = site.loop_walks ? site.loop_walks->of(v) : std::nullopt)
        p.walk = static_cast<int32_t>(*walk);
    p.rows_ahead = walks_in_rows(c, p, site);
    if (line) join_tile(c, p, c.inst(address), site);
    p.pairs = {c.schedule.pair_of(v, 0), c.schedule.pair_of(v, 1)};
    p.in_memory_order = c.schedule.in_memory_order(v);
    if (line) p.second = second_store(c, p, address, site);

    const auto decide = [&p](Shape shape, Evidence evidence, Transfer transfer) {
        p.shape = shape;
        p.evidence = evidence;
        p.transfer = transfer;
        return p;
    };
    const Shape same{Shape::Same, 0, machine::lanes, 0}, indices;
    if (!p.store && p.dwords_only() && (splat || wide_splat) &&
        (p.space == lds_space ? is_short_lds_offset(p.imm)
                              : p.space == global_space && !is_checked(p.mode) &&
                                    p.imm == static_cast<int32_t>(p.imm)))
        return decide(same, Evidence::Known, Transfer::Broadcast);
    if (p.walk >= 0 && site.walks) return decide(indices, Evidence::Learned, Transfer::Walking);
    if (line) {
        const Transfer transfer = line_transfer(c, p, address, site);
        return decide(shape_of_line(c, c.inst(address)), Evidence::Known, transfer);
    }
    p.table = p.walk < 0 ? table_of(c, i) : 0;
    if (p.table) return decide(indices, Evidence::Tested, Transfer::Table);
    if (p.space == buffer_space)
        return decide(splat ? same : indices, Evidence::Tested, Transfer::BufferRange);
    if (p.space == scratch_space && splat)
        return decide(same, Evidence::Known, Transfer::PrivateRow);
    if (p.space == scratch_space) return decide(indices, Evidence::Tested, Transfer::PrivateLanes);
    if (p.space == lds_space && !is_short_lds_offset(p.imm))
        return decide(indices, Evidence::None, Transfer::OutOfLine);
    p.by_stub = has_memory_stub(c, p);
    return decide(indices, Evidence::Tested, p.by_stub ? Transfer::Stub : Transfer::Patterns);
}

}  // namespace wj::x64
