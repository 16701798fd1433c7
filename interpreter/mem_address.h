// Addresses of FLAT, GLOBAL and SCRATCH instructions (SEED-PROL-17..26).
#pragma once

#include <algorithm>

#include "interpreter/mem.h"

namespace wj::interp {

// v[2] + offset, or s[2] + v[1] + offset, where v[1] is extended by zeros or (gfx12.5) its sign,
// and with SCALE_OFFSET counts elements.
struct GlobalAddress : ContiguousAddress<GlobalAddress> {
    const uint32_t* low;
    const uint32_t* high = nullptr;
    uint64_t base;
    uint32_t element_bytes = 1;
    bool is_signed = false;

    GlobalAddress(Wave& w, const Inst& inst) {
        base = static_cast<uint64_t>(int64_t{inst.offset});
        low = vrow(w, inst.vaddr());
        if (inst.sbase().is(Operand::Kind::Sgpr)) {
            base += read_s64(w, inst.sbase());
            element_bytes = offset_unit(inst);
            is_signed = traits(w).signed_saddr_offsets;
        } else {
            high = vrow(w, inst.vaddr(), 1);
        }
    }
    uint64_t at(uint32_t lane) const {
        if (high) return base + low[lane] + (uint64_t{high[lane]} << 32);
        const uint64_t offset = is_signed ? static_cast<uint64_t>(static_cast<int32_t>(low[lane]))
                                          : uint64_t{low[lane]};
        return base + offset * element_bytes;
    }
    Spot spot(uint32_t lane, uint32_t byte, uint32_t = 0) const {
        return {Place::Global, at(lane) + byte};
    }
};

// *_addtid: s[2] or 0, and a dword for each lane.
struct LaneAddress : ContiguousAddress<LaneAddress> {
    uint64_t base;

    LaneAddress(Wave& w, const Inst& inst) : base(static_cast<uint64_t>(int64_t{inst.offset})) {
        if (inst.sbase().is(Operand::Kind::Sgpr)) base += read_s64(w, inst.sbase());
    }
    Spot spot(uint32_t lane, uint32_t byte, uint32_t = 0) const {
        return {Place::Global, base + lane * 4 + byte};
    }
};

// A 64-bit generic address: the aperture decides lane by lane.
struct FlatAddress : ContiguousAddress<FlatAddress> {
    GlobalAddress address;
    // Of private memory: in front of the lane's, or another's.
    static constexpr uint64_t out_of_range = 0xffffffff;
    bool has_lane;
    uint64_t scratch_base;  // of lanes' addresses

    FlatAddress(Wave& w, const Inst& inst)
        : address(w, inst),
          has_lane(traits(w).flat_scratch_has_lane),
          scratch_base(machine::flat_scratch_base(w.scratch_base)) {}
    Spot spot(uint32_t lane, uint32_t byte, uint32_t = 0) const {
        const uint64_t a = address.at(lane) + byte;
        if (a >> 32 == machine::shared_aperture >> 32) return {Place::Lds, a & 0xffffffff};
        if (has_lane && a >> machine::lane_aperture_shift == machine::lane_aperture)
            return {Place::Scratch,
                    std::min(a - (scratch_base + machine::scratch_of_lane(lane)), out_of_range)};
        if (!has_lane && a >> 32 == machine::private_aperture >> 32)
            return {Place::Scratch, a & 0xffffffff};
        return {Place::Global, a};
    }
};

// Offset in the lane's private memory: VGPR + SGPR + offset in 32 bits. The base is the wave's own
// scratch: FLAT_SCRATCH, which holds the same address (SEED-PROL-07), is not consulted.
struct ScratchAddress : ContiguousAddress<ScratchAddress> {
    const uint32_t* low = nullptr;
    uint32_t base, element_bytes;

    ScratchAddress(Wave& w, const Inst& inst) : element_bytes(offset_unit(inst)) {
        base = static_cast<uint32_t>(inst.offset);
        if (is_vector(inst.vaddr())) low = vrow(w, inst.vaddr());
        if (inst.sbase().is(Operand::Kind::Sgpr)) base += read_s32(w, inst.sbase());
    }
    Spot spot(uint32_t lane, uint32_t byte, uint32_t = 0) const {
        return {Place::Scratch,
                static_cast<uint32_t>(base + (low ? low[lane] * element_bytes : 0) + byte)};
    }
};

}  // namespace wj::interp
