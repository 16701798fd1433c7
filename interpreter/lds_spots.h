// What an instruction accesses of LDS, for those who look at accesses (spots.h has the rest).
#pragma once

#include "interpreter/spots.h"

namespace wj::interp {

// Instructions with an address for each of two parts.
struct TwoParts {
    Opcode op;
    uint32_t bytes, scale;  // of a part; of what its offset counts
};
inline constexpr TwoParts two_parts[] = {
    {Opcode::ds_read2_b32, 4, 4},       {Opcode::ds_read2st64_b32, 4, 256},
    {Opcode::ds_read2_b64, 8, 8},       {Opcode::ds_read2st64_b64, 8, 512},
    {Opcode::ds_write2_b32, 4, 4},      {Opcode::ds_write2st64_b32, 4, 256},
    {Opcode::ds_write2_b64, 8, 8},      {Opcode::ds_write2st64_b64, 8, 512},
    {Opcode::ds_wrxchg2_rtn_b32, 4, 4}, {Opcode::ds_wrxchg2st64_rtn_b32, 4, 256},
    {Opcode::ds_wrxchg2_rtn_b64, 8, 8}, {Opcode::ds_wrxchg2st64_rtn_b64, 8, 512},
};

// ds_*_src2_*: an update whose data lies in LDS, too.
inline bool is_src2(Opcode op) {
    const OpInfo& info = op_info(op);
    return effects(op).access == MemoryAccess::Atomic && info.src_count == 1 && !info.dst_count;
}

// Calls f(lane, its address, its bytes, part) for what a DS instruction accesses, part being 0 or
// 1. Nothing for GDS and ds_*_src2_*.
template <class F>
void each_ds(Wave& w, const Inst& inst, F&& f) {
    const Effects& e = effects(inst.op);
    if (inst.gds || e.access == MemoryAccess::None || is_src2(inst.op)) return;
    const auto offset = static_cast<uint32_t>(inst.offset);
    const uint32_t of_wave = offset + (w.sgpr[machine::m0] & 0xffff);
    const uint64_t exec = w.exec();
    if (inst.op == Opcode::ds_append || inst.op == Opcode::ds_consume) {
        if (exec) f(static_cast<uint32_t>(std::countr_zero(exec)), of_wave, e.bytes, 0);
        return;
    }
    if (!is_vector(inst.vaddr()))  // ds_*_addtid_b32
        return for_each_lane(exec, [&](uint32_t lane) { f(lane, of_wave + lane * 4, e.bytes, 0); });
    const uint32_t* base = vrow(w, inst.vaddr());
    const auto* two = std::find_if(std::begin(two_parts), std::end(two_parts),
                                   [&](const TwoParts& t) { return t.op == inst.op; });
    if (two == std::end(two_parts))
        return for_each_lane(exec,
                             [&](uint32_t lane) { f(lane, base[lane] + offset, e.bytes, 0); });
    for_each_lane(exec, [&](uint32_t lane) {
        f(lane, uint32_t{base[lane] + offset * two->scale}, two->bytes, 0);
        f(lane, uint32_t{base[lane] + inst.offset1 * two->scale}, two->bytes, 1);
    });
}

inline bool loads_to_lds(const Inst& inst) {
    if (effects(inst.op).access != MemoryAccess::Load) return false;
    return inst.lds || ((inst.format == Format::GLOBAL || inst.format == Format::SCRATCH) &&
                        !inst.dst[0].present());
}

// The same for what the LDS forms of loads (load_lds in mem.h) write there.
template <class F>
void each_lds_slot(Wave& w, const Inst& inst, F&& f) {
    const uint32_t slot = std::max<uint32_t>(effects(inst.op).bytes, 4);
    const uint32_t base = lds_form_base(w, inst);
    for_each_lane(w.exec(), [&](uint32_t lane) { f(lane, base + lane * slot, slot, 0); });
}

}  // namespace wj::interp
