// Chunks in which no lane is on: what regions leave out. Of work-groups smaller than a wave, at the
// ends of grids and where few lanes are left, most chunks are empty.
#include <algorithm>
#include <utility>

#include "backend_x64/schedule.h"

namespace wj::x64 {

using ir::Class;
using ir::Inst;
using ir::Op;

namespace {

constexpr uint32_t deepest = 6;
constexpr size_t most_masks = 16;

// Whether the bits are off wherever those of `of` are; both U64.
bool bits_within(const ir::Block& block, Value bits, Value of, uint32_t depth);

// The same for masks.
bool mask_within(const ir::Block& block, Value mask, Value of, uint32_t depth = deepest) {
    if (mask == of) return true;
    if (!depth--) return false;
    const Inst& i = block.insts[mask];
    auto within = [&](int n) { return mask_within(block, i.args[n], of, depth); };
    switch (i.op) {
        case Op::MaskOf:
            return bits_within(block, i.args[0], block.insts[of].args[0], depth);
        case Op::MaskAnd:
            return within(0) || within(1);
        case Op::MaskAndNot:
            return within(0);
        case Op::MaskOr:
        case Op::MaskXor:
            return within(0) && within(1);
        default:
            return false;
    }
}

bool bits_within(const ir::Block& block, Value bits, Value of, uint32_t depth) {
    if (bits == of) return true;
    if (!depth--) return false;
    if (const Inst& either = block.insts[of]; either.op == Op::UOr64)
        for (int n : {0, 1})
            if (bits_within(block, bits, either.args[n], depth)) return true;
    const Inst& i = block.insts[bits];
    auto within = [&](int n) { return bits_within(block, i.args[n], of, depth); };
    switch (i.op) {
        case Op::Const64:
            return !i.imm;
        case Op::UAnd64:
            return within(0) || within(1);
        case Op::UOr64:
        case Op::UXor64:
            return within(0) && within(1);
        case Op::USelect64:
            return within(1) && within(2);
        case Op::BitsOf: {
            const Inst& m = block.insts[i.args[0]];
            auto operand = [&](int n) {
                const Inst& a = block.insts[m.args[n]];
                return a.op == Op::MaskOf && bits_within(block, a.args[0], of, depth);
            };
            return m.op == Op::MaskAnd ? operand(0) || operand(1)
                                       : m.op == Op::MaskAndNot && operand(0);
        }
        default:
            return false;
    }
}

}  // namespace

// Whether a SetV's row holds the value already in lanes outside of the mask.
bool Schedule::keeps_row(Value set, Value of) const {
    for (Value v = inst(set).args[0];;) {
        const Inst& i = inst(v);
        if (i.op == Op::GetV) return i.imm == inst(set).imm && clobber_[v] == set;
        if (i.op != Op::Select32 || !mask_within(*block_, i.args[0], of)) return false;
        v = i.args[2];
    }
}

// Whether nothing happens in lanes outside of the mask, but that values are made.
bool Schedule::acts_within(Value v, Value of) const {
    const Inst& i = inst(v);
    switch (ir::op_info(i.op).cls) {
        case Class::SetV:
            return mask_within(*block_, i.args[1], of) || keeps_row(v, of);
        case Class::LaneLoad:
        case Class::LaneStore:
        case Class::LaneAtomic:
            return mask_within(*block_, ir::mask_of(i), of);
        default:
            return true;
    }
}

// Whether the uniform value's home holds it in front of the region, for all of it.
bool Schedule::at_home(Value v, uint32_t position) const {
    const Home& home = uniform_home_[v];
    if (home.kind == Home::None || position_[v] > position) return false;
    if (home.kind == Home::Slot) return true;
    // A register, which the value has been read from or is written to.
    const auto n = static_cast<Value>(block_->insts.size());
    Value holder = v;
    if (ir::op_info(inst(v).op).cls != Class::GetS)
        for (holder = 0; holder < n; ++holder)
            if (ir::sets_mask(inst(holder).op) && inst(holder).args[0] == v &&
                offsetof(machine::Wave, sgpr) + inst(holder).imm * 4 == home.index)
                break;
    return holder < n && position_[holder] < position &&
           (clobber_[holder] == no_value || position_[clobber_[holder]] > position);
}

// The widest mask that is known in front of the region and outside of which it does nothing.
Value Schedule::mask_of_effects(const std::vector<Value>& masks, uint32_t position) const {
    if (repeats(*begin(position)) || goes_across(*begin(position))) return no_value;
    Value found = no_value;
    for (Value of : masks) {
        if (!at_home(inst(of).args[0], position) ||
            (found != no_value && !mask_within(*block_, found, of)))
            continue;
        if (std::all_of(begin(position), end(position),
                        [&](Value v) { return acts_within(v, of); }))
            found = of;
    }
    return found;
}

std::optional<Value> Schedule::bits_outside(Value mask, Value of, uint32_t position,
                                            uint32_t depth) const {
    if (mask_within(*block_, mask, of)) return no_value;
    if (!depth--) return {};
    const Inst& i = inst(mask);
    auto side = [&](int n) { return bits_outside(i.args[n], of, position, depth); };
    switch (i.op) {
        case Op::MaskOf:
            if (at_home(i.args[0], position)) return mask;
            return {};
        case Op::MaskOr:
        case Op::MaskXor:
            if (side(0) == no_value) return side(1);
            if (side(1) == no_value) return side(0);
            return {};
        case Op::MaskAndNot:
            if (side(1) == no_value) return side(0);
            return {};
        default:
            return {};
    }
}

std::optional<Value> Schedule::in_empty_chunks(Value mask) const {
    const uint32_t position = position_[mask];
    return bits_outside(mask, empty_mask_[position], position);
}

void Schedule::find_empty_chunks() {
    const auto n = static_cast<Value>(block_->insts.size());
    empty_mask_.assign(segments(), no_value);
    std::vector<Value> masks;
    for (Value v = 0; v < n && masks.size() < most_masks; ++v)
        if (inst(v).op == Op::MaskOf && inst(inst(v).args[0]).op != Op::Const64) masks.push_back(v);
    if (masks.empty() || !block_->calls.empty()) return;
    bool any = false;
    for (uint32_t p = 1; p < segments(); p += 2) {
        if (begin(p) == end(p)) continue;
        empty_mask_[p] = mask_of_effects(masks, p);
        any |= empty_mask_[p] != no_value;
    }
    if (!any) return;
    // What a region hands to others is wanted in other chunks only, or is a mask whose bits are
    // known there: those keep their regions from being left out that are read otherwise.
    std::vector<Unit> read;
    for (bool again = true; std::exchange(again, false);) {
        for (Value v = 0; v < n; ++v) {
            if (!emitted(v)) continue;
            read.clear();
            units_read(v, read);
            for (Unit u : read) {
                const Value source = producer_[u];
                const uint32_t from = position_[source], to = position_[v];
                if (from == to || empty_mask_[from] == no_value || !emitted(source)) continue;
                if (block_->type(source) == ir::Type::M && in_empty_chunks(source)) continue;
                if (unit_home_[u].kind == Home::Row) continue;  // as it should be there
                const bool also_left_out = to & 1 && empty_mask_[to] != no_value &&
                                           mask_within(*block_, empty_mask_[to], empty_mask_[from]);
                if (also_left_out) continue;
                empty_mask_[from] = no_value;
                again = true;
            }
        }
    }
    // Less is done sooner than looked at, unless it blends values of regions that are left out.
    constexpr ptrdiff_t fewest = 6;
    for (uint32_t p = 1; p < segments(); p += 2) {
        const Value of = empty_mask_[p];
        if (of == no_value) continue;
        const bool blends = std::any_of(begin(p), end(p), [&](Value v) {
            return inst(v).op == Op::SetV && !mask_within(*block_, inst(v).args[1], of);
        });
        if (end(p) - begin(p) < fewest && !blends) empty_mask_[p] = no_value;
        if (empty_mask_[p] != no_value) mask_positions_[p] = true;
    }
}

}  // namespace wj::x64
