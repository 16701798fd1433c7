#include "interpreter/hooks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "interpreter/check_parts.h"
#include "interpreter/lds_spots.h"

namespace wj::interp {
namespace {

using machine::LaneAccesses;
using machine::Space;

// The accesses of an instruction, sorted by their space and, where a lane has several addresses, by
// which of them it is.
class Sorted {
public:
    explicit Sorted(Access access) : access_(access) {}

    void add(Space space, uint32_t part, uint32_t lane, uint64_t address, uint32_t bytes) {
        uint32_t at = 0;
        while (at < count_ && (all_[at].space != space || parts_[at] != part)) at++;
        if (at == most) return;
        LaneAccesses& accesses = all_[at];
        if (at == count_) {
            parts_[count_++] = part;
            accesses.space = space;
            accesses.access = access_;
            accesses.bytes = bytes;
            accesses.lane_mask = 0;
        }
        if (space != Space::Scalar) accesses.lane_mask |= uint64_t{1} << lane;
        accesses.addresses[lane] = address;
    }
    void set_access(Access access) { access_ = access; }
    const LaneAccesses* begin() const { return all_.data(); }
    const LaneAccesses* end() const { return all_.data() + count_; }

private:
    static constexpr uint32_t most = 8;  // swizzled buffers: four dwords; flat ones: three spaces
    Access access_;
    uint32_t count_ = 0;
    std::array<uint32_t, most> parts_;
    std::array<LaneAccesses, most> all_;
};

// Where a lane's access of memory is told to be. Buffer instructions reach the wave's own private
// memory, whose dwords lie lane by lane, by its address.
std::pair<Space, uint64_t> told(const Wave& w, Spot spot) {
    if (spot.place == Place::Lds) return {Space::Lds, spot.address};
    if (spot.place == Place::Scratch) return {Space::Private, spot.address};
    const uint64_t at = spot.address - w.scratch_base;
    if (at < uint64_t{w.scratch_bytes} * w.size)
        return {Space::Private, at / 4 / w.size * 4 + at % 4};
    return {Space::Global, w.ctx->reach(spot.address)};
}

void add_spots(Wave& w, const Inst& inst, Sorted& sorted) {
    const bool unknown = converts(inst) && inst.format != Format::MTBUF;
    const uint32_t certain = unknown ? 0 : bytes_of(w, inst);
    uint32_t lane_before = lanes, part = 0;
    each_spot(w, inst, std::max(certain, 1u), [&](uint32_t lane, Spot spot, uint32_t bytes) {
        part = lane == lane_before ? part + 1 : 0;
        lane_before = lane;
        if (spot.place == Place::Nowhere) return;
        const auto [space, address] = told(w, spot);
        sorted.add(space, part, lane, address, certain ? bytes : 0);
    });
}

Sorted accesses_of(Wave& w, const Inst& inst) {
    Sorted sorted(access_of(inst.op));
    const auto add_lds = [&](uint32_t lane, uint64_t at, uint32_t bytes, uint32_t part) {
        sorted.add(Space::Lds, part, lane, at, bytes);
    };
    if (inst.format == Format::DS) {
        each_ds(w, inst, add_lds);
    } else if (inst.format != Format::SMEM) {
        add_spots(w, inst, sorted);
        if (!loads_to_lds(inst)) return sorted;
        sorted.set_access(Access::Write);
        each_lds_slot(w, inst, add_lds);
    } else if (inst.sbase().present()) {
        sorted.add(Space::Scalar, 0, 0, w.ctx->reach(scalar_address(w, inst)), bytes_of(w, inst));
    }
    return sorted;
}

bool takes_part_in_barrier(Opcode op) {
    constexpr Opcode ops[] = {
        Opcode::s_barrier,      Opcode::s_barrier_signal, Opcode::s_barrier_signal_isfirst,
        Opcode::s_barrier_wait, Opcode::s_barrier_join,   Opcode::s_barrier_leave,
        Opcode::ds_gws_barrier,
    };
    return std::ranges::find(ops, op) != std::end(ops);
}

}  // namespace

bool call_hooks(machine::Hooks& hooks, Wave& w, const Inst& inst, bool begins_block) {
    const uint64_t pc = w.pc;
    if (begins_block && !hooks.at_block(w)) return false;
    if (w.pc != pc) return true;
    if (!hooks.at_instruction(w)) return false;
    if (hooks.wants_accesses() && w.pc == pc && effects(inst.op).access != MemoryAccess::None)
        for (const LaneAccesses& accesses : accesses_of(w, inst)) {
            if (!hooks.at_access(w, accesses)) return false;
            if (w.pc != pc) break;
        }
    return w.pc != pc || !takes_part_in_barrier(inst.op) || hooks.at_barrier(w);
}

}  // namespace wj::interp
