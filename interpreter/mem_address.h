// Addresses of FLAT, GLOBAL and SCRATCH instructions (SEED-PROL-17..26).
#pragma once

#include "interpreter/mem.h"

namespace wj::interp {

// v[2] + offset, or s[2] + zero-extended v[1] + offset.
struct GlobalAddress : ContiguousAddress<GlobalAddress> {
    const uint32_t* low;
    const uint32_t* high = nullptr;
    uint64_t base;

    GlobalAddress(Wave& w, const Inst& inst) {
        base = static_cast<uint64_t>(int64_t{inst.offset});
        low = vrow(w, inst.vaddr());
        if (inst.sbase().is(Operand::Kind::Sgpr))
            base += read_s64(w, inst.sbase());
        else
            high = vrow(w, inst.vaddr(), 1);
    }
    uint64_t at(uint32_t lane) const {
        return base + low[lane] + (high ? uint64_t{high[lane]} << 32 : 0);
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

    FlatAddress(Wave& w, const Inst& inst) : address(w, inst) {}
    Spot spot(uint32_t lane, uint32_t byte, uint32_t = 0) const {
        const uint64_t a = address.at(lane) + byte;
        if (a >> 32 == machine::shared_aperture >> 32) return {Place::Lds, a & 0xffffffff};
        if (a >> 32 == machine::private_aperture >> 32) return {Place::Scratch, a & 0xffffffff};
        return {Place::Global, a};
    }
};

// Offset in the lane's private memory: VGPR + SGPR + offset in 32 bits. The base is the wave's own
// scratch: FLAT_SCRATCH, which holds the same address (SEED-PROL-07), is not consulted.
struct ScratchAddress : ContiguousAddress<ScratchAddress> {
    const uint32_t* low = nullptr;
    uint32_t base;

    ScratchAddress(Wave& w, const Inst& inst) {
        base = static_cast<uint32_t>(inst.offset);
        if (is_vector(inst.vaddr())) low = vrow(w, inst.vaddr());
        if (inst.sbase().is(Operand::Kind::Sgpr)) base += read_s32(w, inst.sbase());
    }
    Spot spot(uint32_t lane, uint32_t byte, uint32_t = 0) const {
        return {Place::Scratch, static_cast<uint32_t>(base + (low ? low[lane] : 0) + byte)};
    }
};

}  // namespace wj::interp
