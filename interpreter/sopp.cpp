// Control flow, hardware registers and program control: SOPP and the parts of SOP1, SOP2, SOPC,
// SOPK that touch PC or MODE.
#include "frontend/vgpr_msb.h"
#include "frontend/wait_count.h"
#include "interpreter/barriers.h"
#include "interpreter/hwreg.h"
#include "interpreter/internal.h"
#include "machine/interrupt.h"
#include "machine/trap.h"
#include "memory/access.h"

namespace wj::interp {

namespace {

using machine::exec_lo;
using machine::m0;

template <auto Taken>
void branch(Wave& w, const Inst& in) {
    if (Taken(w)) w.pc = branch_target(in, w.pc);
}

void nothing(Wave&, const Inst&) {}

// By the convention of amdhsa's trap handler (AMDGPU usage guide, "Trap Handler ABI"): without a
// debugger, which nobody can attach here, llvm.debugtrap does nothing.
void trap(Wave& w, const Inst& in) {
    const auto id = static_cast<uint32_t>(in.src[0].value & 0xff);
    if (id != machine::debug_trap) stop(w, ExitKind::Trap, nullptr, id);
}

// Of the messages only the one for the host has a receiver; the event is in M0.
void send_message(Wave& w, const Inst& in) {
    constexpr uint32_t msg_interrupt = 1;
    const uint32_t number = traits(w).wide_messages ? 255 : 15;
    if ((in.src[0].value & number) == msg_interrupt) machine::raise_interrupt(w.sgpr[m0] & 0xff);
}

// Accesses are done when their instructions are, but for stores, which wait in a buffer of the host
// while its loads go on: a wait for vector memory (vmcnt) is one for these, too
// (docs/design/memory-model.md).
void wait(Wave& w, const Inst& in) {
    if (vector_accesses_left(*w.ctx->target, in)) memory::order_stores(*w.ctx);
}

// STATUS bits 20 and 21: COND_DBG_USER and COND_DBG_SYS.
bool debug_user(const Wave& w) {
    return w.status >> 20 & 1;
}
constexpr uint32_t status_priv = 1u << 5, status_inst_atc = 1u << 23;
bool debug_system(const Wave& w) {
    return w.status >> 21 & 1;
}

// Back from a trap handler: STATUS.PRIV is cleared.
void return_from_exception(Wave& w, const Inst& in) {
    w.pc = read_s64(w, in.src[0]);
    w.status &= ~status_priv;
}

// The four lowest bits of the constant become a field of MODE.
template <uint32_t Shift>
void set_mode_field(Wave& w, const Inst& in) {
    w.mode = (w.mode & ~(15u << Shift)) | static_cast<uint32_t>(in.src[0].value & 15) << Shift;
}

// Its high byte is what the low one was before (LLVM, AMDGPULowerVGPREncoding), which nothing
// reads.
void set_vgpr_msb(Wave& w, const Inst& in) {
    w.vgpr_msb = next_vgpr_msb(in, w.vgpr_msb, traits(w));
}

void setreg_constant(Wave& w, const Inst& in) {
    setreg(w, in.src[0], static_cast<uint32_t>(in.src[1].value));
    w.vgpr_msb = next_vgpr_msb(in, w.vgpr_msb, traits(w));
}

// ---- s_cbranch_*_fork and s_cbranch_join
// -------------------------------------------------------------- MODE[31:29] is the stack pointer
// CSP; an entry is four SGPRs: EXEC mask, then the address to go on at.

constexpr uint32_t csp_shift = 29;

void push(Wave& w, uint64_t mask, uint64_t pc) {
    const uint32_t csp = w.mode >> csp_shift;
    w.set_s64(csp * 4, mask);
    w.set_s64(csp * 4 + 2, pc);
    w.mode = (w.mode & ~(7u << csp_shift)) | ((csp + 1) & 7) << csp_shift;
}
void fork(Wave& w, uint64_t condition, uint64_t target) {
    const uint64_t exec = w.exec(), pass = condition & exec, fail = ~condition & exec;
    if (pass == exec) {
        w.pc = target;
    } else if (fail == exec) {
        return;
    } else if (__builtin_popcountll(fail) < __builtin_popcountll(pass)) {
        w.set_mask(exec_lo, fail);
        push(w, pass, target);
    } else {
        w.set_mask(exec_lo, pass);
        push(w, fail, w.pc);
        w.pc = target;
    }
}
void join(Wave& w, const Inst& in) {
    const uint32_t csp = w.mode >> csp_shift;
    if (csp == (read_s32(w, in.src[0]) & 7)) return;  // second time: both paths are done
    const uint32_t top = (csp - 1) & 7;
    w.mode = (w.mode & ~(7u << csp_shift)) | top << csp_shift;
    const uint64_t mask = w.s64(top * 4);
    w.pc = w.s64(top * 4 + 2);
    w.set_mask(exec_lo, mask);
}

// ---- register index mode
// -------------------------------------------------------------------------------

void set_m0(Wave& w, uint32_t mask, uint32_t value) {
    w.sgpr[m0] = (w.sgpr[m0] & ~mask) | (value & mask);
    bound_lds(w);
}

void idx_on(Wave& w, const Inst& in) {
    set_m0(w, 0xf0ff,
           (read_s32(w, in.src[0]) & 0xff) | static_cast<uint32_t>(in.src[1].value & 15) << 12);
    w.mode |= machine::mode::gpr_idx_en;
}

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::s_nop, nothing},
    {Opcode::s_endpgm, [](Wave& w, const Inst&) { stop(w, ExitKind::EndProgram); }},
    {Opcode::s_endpgm_ordered_ps_done, [](Wave& w, const Inst&) { stop(w, ExitKind::EndProgram); }},
    {Opcode::s_endpgm_saved, [](Wave& w, const Inst&) { stop(w, ExitKind::Halt, "s_endpgm_saved"); }},
    {Opcode::s_setkill, [](Wave& w, const Inst& in) { if (in.src[0].value & 1) stop(w, ExitKind::EndProgram); }},
    {Opcode::s_branch, branch<[](const Wave&) { return true; }>},
    {Opcode::s_cbranch_scc0, branch<[](const Wave& w) { return w.scc == 0; }>},
    {Opcode::s_cbranch_scc1, branch<[](const Wave& w) { return w.scc != 0; }>},
    {Opcode::s_cbranch_vccz, branch<[](const Wave& w) { return w.vcc() == 0; }>},
    {Opcode::s_cbranch_vccnz, branch<[](const Wave& w) { return w.vcc() != 0; }>},
    {Opcode::s_cbranch_execz, branch<[](const Wave& w) { return w.exec() == 0; }>},
    {Opcode::s_cbranch_execnz, branch<[](const Wave& w) { return w.exec() != 0; }>},
    {Opcode::s_cbranch_cdbgsys, branch<[](const Wave& w) { return debug_system(w); }>},
    {Opcode::s_cbranch_cdbguser, branch<[](const Wave& w) { return debug_user(w); }>},
    {Opcode::s_cbranch_cdbgsys_or_user, branch<[](const Wave& w) { return debug_system(w) || debug_user(w); }>},
    {Opcode::s_cbranch_cdbgsys_and_user, branch<[](const Wave& w) { return debug_system(w) && debug_user(w); }>},
    {Opcode::s_barrier, [](Wave& w, const Inst&) { stop(w, ExitKind::Barrier); }},
    {Opcode::s_barrier_signal, signal_barrier},
    {Opcode::s_barrier_signal_isfirst, signal_barrier_is_first},
    {Opcode::s_barrier_wait, wait_for_barrier},
    {Opcode::s_get_barrier_state, get_barrier_state},
    {Opcode::s_barrier_init, init_barrier},
    {Opcode::s_barrier_join, join_barrier},
    {Opcode::s_barrier_leave, leave_barrier},
    {Opcode::s_sleep, [](Wave& w, const Inst&) { stop(w, ExitKind::Yield); }},
    {Opcode::s_sleep_var, [](Wave& w, const Inst&) { stop(w, ExitKind::Yield); }},
    {Opcode::s_monitor_sleep, [](Wave& w, const Inst&) { stop(w, ExitKind::Yield); }},
    {Opcode::s_sethalt, [](Wave& w, const Inst& in) { if (in.src[0].value & 1) stop(w, ExitKind::Halt, "s_sethalt"); }},
    {Opcode::s_sendmsghalt, [](Wave& w, const Inst&) { stop(w, ExitKind::Halt, "s_sendmsghalt"); }},
    {Opcode::s_trap, trap},
    {Opcode::s_sendmsg, send_message},
    // Nothing is pipelined.
    {Opcode::s_waitcnt, wait},
    {Opcode::s_waitcnt_vscnt, wait},
    {Opcode::s_waitcnt_vmcnt, wait},
    {Opcode::s_waitcnt_expcnt, wait},
    {Opcode::s_waitcnt_lgkmcnt, wait},
    {Opcode::s_wait_idle, wait},
    {Opcode::s_wait_loadcnt, wait},
    {Opcode::s_wait_storecnt, wait},
    {Opcode::s_wait_loadcnt_dscnt, wait},
    {Opcode::s_wait_storecnt_dscnt, wait},
    {Opcode::s_wait_samplecnt, nothing},
    {Opcode::s_wait_bvhcnt, nothing},
    {Opcode::s_wait_expcnt, nothing},
    {Opcode::s_wait_dscnt, nothing},
    {Opcode::s_wait_kmcnt, nothing},
    {Opcode::s_wait_event, nothing},
    {Opcode::s_wait_xcnt, nothing},
    {Opcode::s_wait_asynccnt, nothing},
    {Opcode::s_wait_tensorcnt, nothing},
    {Opcode::s_set_vgpr_msb, set_vgpr_msb},
    {Opcode::s_waitcnt_depctr, nothing},
    {Opcode::s_delay_alu, nothing},
    {Opcode::s_inst_prefetch, nothing},
    {Opcode::s_clause, nothing},
    {Opcode::s_version, nothing},
    {Opcode::s_ttracedata_imm, nothing},
    {Opcode::s_round_mode, set_mode_field<machine::mode::round32_shift>},
    {Opcode::s_denorm_mode, set_mode_field<machine::mode::denorm32_shift>},
    {Opcode::s_code_end, [](Wave& w, const Inst&) { stop(w, ExitKind::IllegalInstruction, "s_code_end: behind the code's end"); }},
    {Opcode::s_wakeup, nothing},
    {Opcode::s_setprio, nothing},
    {Opcode::s_setprio_inc_wg, nothing},
    {Opcode::s_icache_inv, nothing},
    {Opcode::s_incperflevel, nothing},
    {Opcode::s_decperflevel, nothing},
    {Opcode::s_ttracedata, nothing},

    {Opcode::s_getpc_b64, [](Wave& w, const Inst& in) { write_s64(w, in.dst[0], w.pc); }},
    {Opcode::s_setpc_b64, [](Wave& w, const Inst& in) { w.pc = read_s64(w, in.src[0]); }},
    {Opcode::s_add_pc_i64, [](Wave& w, const Inst& in) { w.pc += read_s64(w, in.src[0]); }},
    {Opcode::s_get_shader_cycles_u64, [](Wave& w, const Inst& in) { write_s64(w, in.dst[0], core_clock(w)); }},
    {Opcode::s_swappc_b64, [](Wave& w, const Inst& in) {
         const uint64_t target = read_s64(w, in.src[0]);
         write_s64(w, in.dst[0], w.pc);
         w.pc = target;
     }},
    {Opcode::s_call_b64, [](Wave& w, const Inst& in) {
         const uint64_t target = branch_target(in, w.pc);
         write_s64(w, in.dst[0], w.pc);
         w.pc = target;
     }},
    {Opcode::s_cbranch_g_fork, [](Wave& w, const Inst& in) { fork(w, read_s64(w, in.src[0]), read_s64(w, in.src[1])); }},
    // The mask register stands in the SDST field.
    {Opcode::s_cbranch_i_fork, [](Wave& w, const Inst& in) {
         fork(w, read_s64(w, in.src[0]), branch_target(in, w.pc));
     }},
    {Opcode::s_cbranch_join, join},
    {Opcode::s_rfe_b64, return_from_exception},
    // INST_ATC says how instructions are fetched: here no difference.
    {Opcode::s_rfe_restore_b64, [](Wave& w, const Inst& in) {
         const bool atc = read_s32(w, in.src[1]) & 1;
         return_from_exception(w, in);
         w.status = atc ? w.status | status_inst_atc : w.status & ~status_inst_atc;
     }},

    {Opcode::s_getreg_b32, getreg},
    {Opcode::s_setreg_b32, [](Wave& w, const Inst& in) { setreg(w, in.src[1], read_s32(w, in.src[0])); }},
    {Opcode::s_setreg_imm32_b32, setreg_constant},

    {Opcode::s_set_gpr_idx_on, idx_on},
    {Opcode::s_set_gpr_idx_off, [](Wave& w, const Inst&) { w.mode &= ~machine::mode::gpr_idx_en; }},
    {Opcode::s_set_gpr_idx_mode, [](Wave& w, const Inst& in) { set_m0(w, 0xf000, static_cast<uint32_t>(in.src[0].value) << 12); }},
    {Opcode::s_set_gpr_idx_idx, [](Wave& w, const Inst& in) { set_m0(w, 0xff, read_s32(w, in.src[0])); }},
    {Opcode::s_setvskip, [](Wave& w, const Inst& in) {
         const bool on = read_s32(w, in.src[0]) >> (read_s32(w, in.src[1]) & 31) & 1;
         w.mode = on ? w.mode | machine::mode::vskip : w.mode & ~machine::mode::vskip;
     }},
};
// clang-format on

}  // namespace

// One value for all lanes: M0[15:0] is the byte address, M0[18:16] the type (Vega ISA manual, "LDS
// direct reads"). Reserved types read nothing.
static uint32_t read_lds_direct(const Wave& w) {
    const uint32_t address = w.sgpr[m0] & 0xffff, type = w.sgpr[m0] >> 16 & 7;
    uint32_t bytes = type == 2 ? 4 : type & 1 ? 2 : 1, value = 0;
    if (type == 3 || type > 5 || uint64_t{address} + bytes > w.lds_size) return 0;
    std::memcpy(&value, w.lds + address, bytes);
    if (type == 4) return static_cast<uint32_t>(static_cast<int8_t>(value));
    return type == 5 ? static_cast<uint32_t>(static_cast<int16_t>(value)) : value;
}

uint64_t read_special(const Wave& w, uint32_t encoding) {
    switch (encoding) {
        case 230:
            return machine::flat_scratch_base(w.scratch_base);
        case 231:
            return machine::flat_scratch_base(w.scratch_base) >> 32;
        // Limits: the apertures are 4 GiB; only the high half of these 64-bit values is ever not
        // constant.
        case 235:
            return machine::shared_aperture;
        case 236:
            return machine::shared_aperture + 0xffffffffu;
        case 237:
            return machine::private_aperture;
        case 238:
            return machine::private_aperture + 0xffffffffu;
        case 251:
            return w.vcc() == 0;
        case 252:
            return w.exec() == 0;
        case 253:
            return w.scc;
        case 254:
            return read_lds_direct(w);
        default:
            return 0;  // pops_exiting_wave_id and what only graphics waves have
    }
}

std::span<const HandlerEntry> sopp_handlers() {
    return table;
}

}  // namespace wj::interp
