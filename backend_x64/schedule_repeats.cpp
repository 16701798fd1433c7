// Loads that give each chunk the same elements: rows of a tile that all rows of a work-group read.
#include <algorithm>

#include "backend_x64/memory_order.h"
#include "backend_x64/schedule.h"

namespace wj::x64 {

using ir::Class;
using ir::Inst;
using ir::Op;
using ir::Type;

// Of the LDS, which nothing faults in: the lanes' addresses repeat from chunk to chunk.
bool Schedule::may_repeat(const Inst& i) const {
    if (i.op != Op::LoadLds || !is_full(ir::mask_of(i))) return false;
    const Inst& line = inst(ir::address_of(i));
    if (line.op != Op::Line32) return false;
    const bool same_rows = inst(line.args[1]).op == Op::Const32 && !inst(line.args[1]).imm;
    return line.imm ? line.aux == chunk_lanes_ && same_rows
                    : line.aux == machine::lanes || same_rows;
}

// They are done once, for the first chunk, in a region in front of the one that they were in; the
// others then find them in the frame. What is not made chunk by chunk reads whole rows.
void Schedule::set_repeats_apart(uint32_t& highest) {
    constexpr uint32_t most_units = 96;
    const ir::Terminator& t = block_->term;
    repeats_.assign(block_->insts.size(), 0);
    if (t.target == block_->pc || t.next == block_->pc) return;
    uint32_t units = 0;
    for (Value v = 0; v < block_->insts.size(); ++v) {
        if (!may_repeat(inst(v))) continue;
        units += std::max(1u, ir::aux_dwords(inst(v).aux));
        repeats_[v] = units <= most_units;
    }
    if (!units) return;
    std::vector<bool> stores(highest + 2);  // to the LDS, by position
    std::vector<Unit> read;
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const Inst& i = inst(v);
        const Class cls = ir::op_info(i.op).cls;
        if ((cls == Class::LaneStore || cls == Class::LaneAtomic) && (spaces(i.op) & in_lds))
            stores[position_[v]] = true;
        if (cls != Class::Cross && cls != Class::Call && i.op != Op::BitsOf && !lane_field(v))
            continue;
        read.clear();
        units_read(v, read);
        for (Unit u : read) repeats_[producer_[u]] = 0;
    }
    // By position: how far its repeated loads, and what else is there, move on.
    std::vector<bool> splits(highest + 2);
    for (Value v = 0; v < block_->insts.size(); ++v) {
        if (repeats_[v] && stores[position_[v]]) repeats_[v] = 0;
        if (repeats_[v]) splits[position_[v]] = true;
    }
    std::vector<uint32_t> later(highest + 2);
    for (uint32_t p = 1; p < later.size(); ++p) later[p] = later[p - 1] + (splits[p - 1] ? 2 : 0);
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const uint32_t p = position_[v];
        position_[v] = p + later[p] + (splits[p] && !repeats_[v] ? 2 : 0);
    }
    highest += later[highest] + (splits[highest] ? 2 : 0);
}

}  // namespace wj::x64
