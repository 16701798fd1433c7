#include "lift/written_lanes.h"

namespace wj::lift {

void WrittenLanes::begin(const std::bitset<128>& written, uint32_t row_count, bool whole,
                         uint32_t mask_registers) {
    mask_registers_ = mask_registers;
    for (uint32_t s = 0; s < written.size(); s++) scalars[s] = written[s];
    for (uint32_t r = 0; r < row_count; r++) rows[r].set();
    for (uint32_t m = 0; m < within_.size(); m++) note_mask(m);
    for (uint32_t m = 0; m < within_.size(); m++) {
        within_[m].set(m).set(all);
        if (whole) within_[m].set(exec);
    }
    told_.set(exec);
}

WrittenLanes::Mask WrittenLanes::mask(uint32_t reg) const {
    Mask out{within_[reg], parts_of(reg), {}};
    for (uint32_t r = 0; r < rows.size(); r++) out.rows[r] = rows[r][reg];
    return out;
}

Masks WrittenLanes::parts_of(uint32_t reg) const {
    Masks out;
    for (uint32_t m = 0; m < within_.size(); m++) out[m] = within_[m][reg];
    return out;
}

void WrittenLanes::note_mask(uint32_t reg) {
    bool written = true;
    for (uint32_t r = reg; r < reg + mask_registers_; r++) written = written && scalars[r & 127];
    rows[first_mask + reg] = written ? Masks().set() : Masks();
}

Masks WrittenLanes::overwrite(uint32_t reg, uint32_t registers, bool written) {
    for (uint32_t r = reg; r < reg + registers; r++) scalars[r & 127] = written;
    const Masks gone = remove(reg, registers);
    for (uint32_t m = 0; m < within_.size(); m++)
        if (gone[m]) note_mask(m);
    return gone;
}

Masks WrittenLanes::remove(uint32_t reg, uint32_t registers) {
    Masks gone;
    const uint32_t before = mask_registers_ - 1;
    for (uint32_t m = reg > before ? reg - before : 0; m < reg + registers && m < all; m++)
        gone.set(m);
    if ((gone & told_).none()) return gone;
    told_ &= ~gone;
    for (Masks& within : within_) within &= ~gone;
    for (uint32_t m = 0; m < within_.size(); m++)
        if (gone[m]) within_[m] = Masks(within_[all]).set(m);
    for (Masks& row : rows) row = (row & ~gone) | (row[all] ? gone : Masks());
    return gone;
}

Masks WrittenLanes::write(uint32_t reg, Mask value) {
    const Masks gone = remove(reg, mask_registers_);
    if (reg >= all) return gone;
    value.forget(gone);
    told_.set(reg);
    within_[reg] |= value.within;
    for (uint32_t m = 0; m < within_.size(); m++)
        if (value.contains[m]) within_[m].set(reg);
    for (uint32_t r = 0; r < rows.size(); r++)
        if (value.rows[r]) rows[r].set(reg);
    return gone;
}

void WrittenLanes::make_empty(uint32_t reg) {
    const Masks parts = parts_of(reg);
    told_ |= parts;
    for (uint32_t m = 0; m < within_.size(); m++)
        if (parts[m]) within_[m].set();
    for (Masks& row : rows) row |= parts;
}

bool WrittenLanes::join(const WrittenLanes& other) {
    bool changed = false;
    const auto meet = [&](auto& mine, const auto& theirs) {
        const auto now = mine & theirs;
        changed |= now != mine;
        mine = now;
    };
    told_ |= other.told_;
    meet(scalars, other.scalars);
    for (uint32_t r = 0; r < rows.size(); r++) meet(rows[r], other.rows[r]);
    for (uint32_t m = 0; m < within_.size(); m++) meet(within_[m], other.within_[m]);
    changed |= some_lane && !other.some_lane;
    some_lane = some_lane && other.some_lane;
    return changed;
}

WrittenLanes::Mask both(const WrittenLanes::Mask& a, const WrittenLanes::Mask& b) {
    return {a.within | b.within, a.contains & b.contains, a.rows | b.rows};
}
WrittenLanes::Mask either(const WrittenLanes::Mask& a, const WrittenLanes::Mask& b) {
    return {a.within & b.within, a.contains | b.contains, a.rows & b.rows};
}
WrittenLanes::Mask one(const WrittenLanes::Mask& a, const WrittenLanes::Mask& b) {
    return {a.within & b.within, a.contains & b.contains, a.rows & b.rows};
}
WrittenLanes::Mask some(WrittenLanes::Mask of) {
    of.contains.reset();
    return of;
}

}  // namespace wj::lift
