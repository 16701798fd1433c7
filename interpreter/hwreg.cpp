#include "interpreter/hwreg.h"

#include <span>

#include "frontend/hwreg_field.h"
#include "frontend/vgpr_msb.h"
#include "machine/work_group.h"

namespace wj::interp {
namespace {

namespace mode = machine::mode;

// Bits of MODE that are not the guest's: what this emulator keeps there, and what the processor
// has no bits for.
uint32_t hidden_mode(const Wave& w) {
    uint32_t hidden = mode::reads_trapsts | mode::whole_barriers;
    if (traits(w).gfx10_hwregs) hidden |= mode::changes_vector_code;
    if (!traits(w).has_ieee_mode) hidden |= mode::dx10_clamp | mode::ieee;
    if (traits(w).gfx12_hwregs) hidden |= mode::excp_en;
    return hidden;
}

}  // namespace

uint32_t read_mode(const Wave& w) {
    const uint32_t msb = mode_of_vgpr_msb(w.vgpr_msb);  // 0 where there are none
    return (w.mode & ~hidden_mode(w)) | msb << mode_vgpr_msb_shift;
}

bool write_mode(Wave& w, uint32_t value) {
    if (traits(w).vgpr_msb != VgprMsbRule::None) {
        w.vgpr_msb = vgpr_msb_of_mode(value >> mode_vgpr_msb_shift);
        value &= ~(0xffu << mode_vgpr_msb_shift);
    }
    const uint32_t hidden = hidden_mode(w);
    w.mode = (value & ~hidden) | (w.mode & hidden);
    return true;
}

namespace {

// SCC, EXECZ and VCCZ are kept elsewhere.
constexpr uint32_t status_scc = 1, status_execz = 1u << 9, status_vccz = 1u << 10;
uint32_t read_status_zeros(const Wave& w) {
    return (w.status & ~(status_scc | status_execz | status_vccz)) |
           (w.exec() == 0 ? status_execz : 0) | (w.vcc() == 0 ? status_vccz : 0);
}
uint32_t read_status(const Wave& w) {
    return read_status_zeros(w) | w.scc;
}
// gfx12 has SCC elsewhere, and says here how many lanes there are.
uint32_t read_gfx12_status(const Wave& w) {
    constexpr uint32_t wave64 = 1u << 29;
    return read_status_zeros(w) | (w.size == lanes ? wave64 : 0);
}
uint32_t read_state_priv(const Wave& w) {
    constexpr uint32_t scc_shift = 9;
    return w.scc << scc_shift;
}

uint32_t read_trapsts(const Wave& w) {
    return w.trapsts;
}
uint32_t read_excp_flag_user(const Wave& w) {
    return w.trapsts & machine::exception::all;
}
uint32_t read_trap_ctrl(const Wave& w) {
    return w.mode >> mode::excp_en_shift & machine::exception::all;
}

uint32_t blocks(uint32_t registers, uint32_t granule) {
    return registers ? (registers - 1) / granule : 0;
}
uint32_t read_gpr_alloc(const Wave& w) {
    if (traits(w).wide_gpr_alloc) return blocks(w.vgpr_count, w.size == lanes ? 4 : 8) << 12;
    return (blocks(w.vgpr_count, traits(w).vgpr_granule) & 63) << 8 |
           (blocks(w.sgpr_count, 16) & 15) << 24;
}
uint32_t read_lds_alloc(const Wave& w) {
    return w.lds_alloc;
}
uint32_t read_zero(const Wave&) {
    return 0;
}
uint32_t read_sh_mem_bases(const Wave&) {
    return static_cast<uint32_t>(machine::shared_aperture >> 48) << 16 |
           static_cast<uint32_t>(machine::private_aperture >> 48);
}
uint32_t read_hw_id(const Wave& w) {
    return w.hw_id;
}
// The fields of HW_ID, where HW_ID1 and HW_ID2 have them (RDNA 2 ISA, "Hardware ID registers"):
// wave, SIMD, compute unit, shader engine; work-group.
uint32_t read_hw_id1(const Wave& w) {
    return (w.hw_id & 15) | (w.hw_id >> 4 & 3) << 8 | (w.hw_id >> 8 & 15) << 10 |
           (w.hw_id >> 13 & 3) << 18;
}
uint32_t read_hw_id2(const Wave& w) {
    return (w.hw_id >> 16 & 15) << 16;
}
uint32_t read_scratch_low(const Wave& w) {
    return static_cast<uint32_t>(w.scratch_base);
}
uint32_t read_scratch_high(const Wave& w) {
    const bool has_lane = traits(w).flat_scratch_has_lane;
    return static_cast<uint32_t>(
        (has_lane ? machine::flat_scratch_base(w.scratch_base) : w.scratch_base) >> 32);
}
uint32_t read_shader_cycles(const Wave& w) {
    return static_cast<uint32_t>(core_clock(w)) & 0xfffff;
}
uint32_t read_cycles_low(const Wave& w) {
    return static_cast<uint32_t>(core_clock(w));
}
uint32_t read_cycles_high(const Wave& w) {
    return static_cast<uint32_t>(core_clock(w) >> 32);
}

// Bits 24:21: the number of the work-group in its cluster. Bits 9:6 are 0 outside of clusters;
// inside code asks for no more than that they are not (LLVM, lowerWorkGroupId).
uint32_t read_ib_sts2(const Wave& w) {
    const bool in_cluster = w.group && w.group->in_cluster.cluster;
    return in_cluster ? 1u << 6 | w.group->in_cluster.rank << 21 : 0;
}

// A wave may write MODE and the flags of exceptions; what it writes elsewhere is dropped, as
// hardware does without privilege, or refused where that would matter.
using Write = bool (*)(Wave& w, uint32_t value);
bool drop(Wave&, uint32_t) {
    return true;
}
bool refuse(Wave&, uint32_t) {
    return false;
}
bool write_trapsts(Wave& w, uint32_t value) {
    w.trapsts = value;
    return true;
}
bool write_excp_flag_user(Wave& w, uint32_t value) {
    w.trapsts = (w.trapsts & ~machine::exception::all) | (value & machine::exception::all);
    return true;
}
// The prologue writes what it was given: accesses go by that.
bool write_scratch_low(Wave& w, uint32_t value) {
    return value == read_scratch_low(w);
}
bool write_scratch_high(Wave& w, uint32_t value) {
    return value == read_scratch_high(w);
}

struct HardwareRegister {
    uint32_t id;
    uint32_t (*read)(const Wave& w);
    Write write = drop;
};

// frontend/tables/symbols.inc has the names. No counter is ever outstanding in IB_STS.
// clang-format off
constexpr HardwareRegister gcn_rows[] = {
    {1, read_mode, write_mode}, {2, read_status}, {3, read_trapsts, write_trapsts},
    {4, read_hw_id}, {5, read_gpr_alloc}, {6, read_lds_alloc}, {7, read_zero},
    {15, read_sh_mem_bases}, {20, read_zero /* XCC_ID */},
};
constexpr HardwareRegister rdna_rows[] = {
    {1, read_mode, write_mode}, {2, read_status}, {3, read_trapsts, write_trapsts},
    {4, read_hw_id}, {5, read_gpr_alloc}, {6, read_lds_alloc}, {7, read_zero},
    {15, read_sh_mem_bases},
    {20, read_scratch_low, write_scratch_low}, {21, read_scratch_high, write_scratch_high},
    {23, read_hw_id1}, {24, read_hw_id2}, {29, read_shader_cycles},
};
// Fields: the Linux driver's trap handler (cwsr_trap_handler_gfx12.asm). SCHED_MODE says how waits
// are left to the program: nothing is pipelined here.
constexpr HardwareRegister gfx12_rows[] = {
    {1, read_mode, write_mode}, {2, read_gfx12_status}, {4, read_state_priv},
    {5, read_gpr_alloc}, {6, read_lds_alloc}, {7, read_zero},
    {17, read_zero /* EXCP_FLAG_PRIV */}, {18, read_excp_flag_user, write_excp_flag_user},
    {19, read_trap_ctrl, refuse},
    {20, read_scratch_low, write_scratch_low}, {21, read_scratch_high, write_scratch_high},
    {23, read_hw_id1}, {24, read_hw_id2}, {26, read_zero /* SCHED_MODE */},
    {28, read_ib_sts2},
    {29, read_cycles_low}, {30, read_cycles_high},
};
// clang-format on

const HardwareRegister* find_row(const Wave& w, uint32_t id) {
    const Traits& t = traits(w);
    const std::span<const HardwareRegister> rows =
        t.gfx12_hwregs   ? std::span<const HardwareRegister>(gfx12_rows)
        : t.gfx10_hwregs ? std::span<const HardwareRegister>(rdna_rows)
                         : std::span<const HardwareRegister>(gcn_rows);
    for (const HardwareRegister& row : rows) {
        if (row.id != id) continue;
        const bool lacks = (row.read == read_shader_cycles && !t.has_shader_cycles) ||
                           (row.read == read_ib_sts2 && !t.work_group_clusters);
        return lacks ? nullptr : &row;
    }
    return nullptr;
}

}  // namespace

void getreg(Wave& w, const Inst& in) {
    const HwregField f(in.src[0].value);
    const HardwareRegister* row = find_row(w, f.id);
    if (!row) return stop(w, ExitKind::Unimplemented, "s_getreg_b32: hardware register", f.id);
    write_s32(w, in.dst[0], row->read(w) >> f.offset & f.mask());
}

void setreg(Wave& w, const Operand& field, uint32_t source) {
    const HwregField f(field.value);
    const HardwareRegister* row = find_row(w, f.id);
    if (!row) return stop(w, ExitKind::Unimplemented, "s_setreg: hardware register", f.id);
    const uint32_t mask = f.mask() << f.offset;
    if (row->write(w, (row->read(w) & ~mask) | (source << f.offset & mask))) return;
    const char* why = "s_setreg: FLAT_SCRATCH of another place than the wave's own";
    if (row->write == refuse) why = "s_setreg: hardware register";
    if (row->write == write_mode) why = "s_setreg: vector registers above 255";
    stop(w, ExitKind::Unimplemented, why, f.id);
}

}  // namespace wj::interp
