// Accesses to the LDS that are done once for the wave, not chunk by chunk, have regions of their
// own.
#include <algorithm>
#include <array>
#include <map>

#include "backend_x64/frame.h"
#include "backend_x64/memory_order.h"
#include "backend_x64/schedule.h"

namespace wj::x64 {

using ir::Class;
using ir::Inst;
using ir::Op;

// Loads that give rows of chunks the same elements: of a tile that all rows of a work-group read.
// What takes a single instruction is worth storing once only.
bool Schedule::may_repeat(const Inst& i) const {
    if (i.op != Op::LoadLds || !is_full(ir::mask_of(i))) return false;
    const Inst& line = inst(ir::address_of(i));
    if (line.op != Op::Line32) return false;
    const bool same_rows = inst(line.args[1]).op == Op::Const32 && !inst(line.args[1]).imm;
    if (!line.imm) return line.aux == machine::lanes || same_rows;
    if (!same_rows || line.aux < chunk_lanes_ || line.aux == machine::lanes) return false;
    return line.aux == chunk_lanes_ || line.imm != ir::access_bytes(i);
}

uint32_t Schedule::repeated_lanes(Value v) const {
    const Inst& line = inst(ir::address_of(inst(loaded_by_[v])));
    return line.imm ? static_cast<uint32_t>(line.aux) : chunk_lanes_;
}

uint32_t Schedule::lanes_of(uint32_t position) const {
    if (!repeats(*begin(position))) return block_->lanes;
    uint32_t lanes = 0;
    for (const Value* v = begin(position); v != end(position); ++v)
        lanes = std::max(lanes, repeated_lanes(*v));
    return lanes;
}

// Dwords that lie side by side where they are of one column of lanes, as of a tile that is read or
// written transposed: those of two or four rows at once.
bool Schedule::may_go_across(const Inst& i) const {
    if ((i.op != Op::StoreLds && i.op != Op::LoadLds) ||
        ir::aux_access(i.aux) != ir::Access::Dwords || ir::aux_dwords(i.aux) != 1 ||
        !is_full(ir::mask_of(i)))
        return false;
    const Inst& line = inst(ir::address_of(i));
    constexpr int64_t furthest = 1 << 16;
    if (line.op != Op::Line32 || line.aux > block_->wave_size / 2 || line.aux < chunk_lanes_ ||
        inst(line.args[1]).op != Op::Const32 || inst(line.args[1]).imm != 4)
        return false;
    // Columns apart from each other, and further than vectors of them would serve.
    const auto stride = static_cast<int32_t>(line.imm);
    constexpr int32_t nearest = 32;
    return stride >= nearest && stride < furthest && ir::immediate(i) >= 0 &&
           ir::immediate(i) < furthest;
}

// Loads go in front of the region that they were in, where the others find them in the frame, but
// for what reads whole rows: not in blocks that wait for what other waves write to memory. Nothing
// faults in the LDS; what reads or writes there besides keeps its place among them. Stores across
// come behind the region.
void Schedule::set_apart(uint32_t& highest) {
    constexpr uint32_t most_units = 96;
    const auto n = static_cast<Value>(block_->insts.size());
    apart_.assign(n, Apart::No);
    loads_apart_.clear();
    if (branches_to_itself() || block_->loads_in_order || block_->lanes < block_->wave_size) return;
    uint32_t units = 0, longest = 0;
    bool any = false;
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        if (may_repeat(i)) {
            // Rows of one length besides chunks: shorter ones would go on where longer ones do.
            const uint32_t lanes = repeated_lanes(v);
            if (lanes != chunk_lanes_ && longest && lanes != longest) continue;
            if (lanes != chunk_lanes_) longest = lanes;
            units += std::max(1u, ir::aux_dwords(i.aux));
            if (units <= most_units) apart_[v] = Apart::Repeats;
        } else if (may_go_across(i)) {
            const bool load = i.op == Op::LoadLds;
            if (!load || ++units <= most_units)
                apart_[v] = load ? Apart::LoadsAcross : Apart::StoresAcross;
        }
        any |= apart_[v] != Apart::No;
        // A pair goes where its load goes; nothing that reads rows as a whole reads pairs.
        if (loaded_by_[v] != v) apart_[v] = apart_[loaded_by_[v]];
    }
    if (!any) return;
    std::vector<uint32_t> stores(highest + 2), loads(highest + 2);  // of the LDS, by position
    std::vector<Unit> read;
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        const Class cls = ir::op_info(i.op).cls;
        const bool load = cls == Class::LaneLoad,
                   store = cls == Class::LaneStore || cls == Class::LaneAtomic;
        if ((load || store) && (spaces(i.op) & in_lds)) ++(load ? loads : stores)[position_[v]];
        if (cls != Class::Cross && cls != Class::Call && i.op != Op::BitsOf && !lane_field(v))
            continue;
        read.clear();
        units_read(v, read);
        for (Unit u : read) apart_[producer_[u]] = Apart::No;
    }
    // In the order of the regions that each of them takes: those in front, what stays, and behind.
    constexpr Apart order[] = {Apart::LoadsAcross, Apart::Repeats, Apart::No, Apart::StoresAcross};
    std::vector<std::array<bool, std::size(order)>> taken(highest + 2);  // by position
    for (Value v = 0; v < n; ++v) {
        const uint32_t p = position_[v];
        if (apart_[v] == Apart::StoresAcross ? loads[p] || stores[p] > 1 : stores[p] > 0)
            apart_[v] = Apart::No;
        taken[p][std::ranges::find(order, apart_[v]) - order] = true;
    }
    std::vector<uint32_t> moved(highest + 2);  // where positions begin
    for (uint32_t p = 1; p < moved.size(); ++p) {
        moved[p] = moved[p - 1] + 1;
        for (size_t k = 0; k < std::size(order); ++k)
            if (order[k] != Apart::No && taken[p - 1][k]) moved[p] += 2;
    }
    for (Value v = 0; v < n; ++v) {
        const uint32_t p = position_[v];
        position_[v] = moved[p];
        for (size_t k = 0; order[k] != apart_[v]; ++k)
            if (order[k] == Apart::No || taken[p][k]) position_[v] += 2;
        highest = std::max(highest, position_[v]);
    }
    loads_apart_.assign(highest + 1, false);
    for (Value v = 0; v < n; ++v)
        if (apart_[v] == Apart::Repeats || apart_[v] == Apart::LoadsAcross)
            loads_apart_[position_[v]] = true;
}

// The store to the LDS that alone needs what the load loads, a row at a line, and may load it for
// itself.
Value Schedule::stored_by(Value load, const std::vector<Value>& user) const {
    const Inst &i = inst(load), &store = inst(user[load]);
    if (i.op != Op::LoadGlobalS || store.op != Op::StoreLds || !is_full(ir::mask_of(i)) ||
        pairs_[load][0] != no_value || pairs_[user[load]][0] != no_value ||
        position_[load] >= position_[user[load]])
        return no_value;
    const Inst& line = inst(ir::address_of(i));
    if (line.op != Op::Line32 || line.aux < chunk_lanes_) return no_value;
    const bool across = apart_[user[load]] == Apart::StoresAcross,
               dwords = line.imm == 4 && ir::access_bytes(i) == 4;
    return across && !dwords ? no_value : user[load];
}

// Rows that are loaded for being stored to the LDS, as tiles are filled, are loaded where they are
// stored: else all of a tile's rows wait in the frame.
void Schedule::sink_loads() {
    const auto n = static_cast<Value>(block_->insts.size());
    load_for_.assign(n, no_value);
    if (!direct_ || branches_to_itself() || block_->loads_in_order ||
        std::ranges::none_of(block_->insts, [](const Inst& i) { return i.op == Op::StoreLds; }))
        return;
    std::vector<Value> user(n, no_value);  // of what a load loads; itself: several
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        const Class cls = ir::op_info(i.op).cls;
        const bool writes = cls == Class::LaneStore || cls == Class::LaneAtomic;
        if (cls == Class::Call || cls == Class::Fence || (writes && (spaces(i.op) & in_global)))
            return;
        if (i.op == Op::Elem) continue;
        for (size_t a = 0; a < ir::used_args(i).size(); ++a) {
            if (i.args[a] == no_value || inst(i.args[a]).op != Op::Elem) continue;
            const Value load = inst(i.args[a]).args[0];
            const bool alone = a >= 4 && (user[load] == no_value || user[load] == v);
            user[load] = alone ? v : load;
        }
    }
    for (Value v = 0; v < n; ++v) {
        if (inst(v).op == Op::Elem) position_[v] = position_[inst(v).args[0]];
        if (user[v] == no_value) continue;
        const Value store = stored_by(v, user);
        if (store == no_value || load_for_[store] != no_value) continue;
        load_for_[store] = v;
        position_[v] = position_[store];
        apart_[v] = apart_[store];
    }
}

void Schedule::find_kept_region() {
    constexpr uint32_t least_loads = 4;  // fewer are done sooner than looked for
    kept_region_ = 0;
    kept_bases_.clear();
    if (!direct_ || writes_lds(*block_)) return;
    std::map<uint32_t, uint32_t> loads;  // by position
    for (Value v = 0; v < block_->insts.size(); ++v)
        if (repeats(v) && inst(v).op == Op::LoadLds) ++loads[position_[v]];
    const auto most =
        std::ranges::max_element(loads, {}, [](const auto& region) { return region.second; });
    if (most == loads.end() || most->second < least_loads) return;
    for (Value v = 0; v < block_->insts.size(); ++v) {
        if (position_[v] != most->first || inst(v).op != Op::LoadLds) continue;
        const Value base = inst(ir::address_of(inst(v))).args[0];
        if (inst(base).op != Op::Const32 && !std::ranges::count(kept_bases_, base))
            kept_bases_.push_back(base);
    }
    if (kept_bases_.size() <= Frame::Kept::most_bases) kept_region_ = most->first;
}

// Where a row may be made that others read as a whole: not among loads that are done once, but
// behind them, where set_apart() left room.
uint32_t Schedule::to_whole_region(uint32_t p) const {
    p = to_region(p);
    while (p < loads_apart_.size() && loads_apart_[p]) p += 2;
    return p;
}

}  // namespace wj::x64
