// SOPP and the other instructions that move the PC or stop the wave.
#include "frontend/wait_count.h"
#include "lift/lifter.h"
#include "machine/trap.h"
#include "machine/work_group.h"

namespace wj::lift {
namespace {

using Kind = ir::Terminator::Kind;

bool nothing(Lifter&, const Inst&) {
    return true;
}

// Loads behind it see what other waves have written.
bool empty_cache(Lifter& l, const Inst&) {
    l.block.loads_in_order = true;
    l.order.empty_cache();
    return true;
}

bool wait(Lifter& l, const Inst& i) {
    l.order.wait(i);
    if (!vector_accesses_left(*l.options.target, i)) return true;
    l.block.unordered_from = l.block.guest_count;
    return true;
}

bool branch(Lifter& l, const Inst& i) {
    if (l.in_arm()) {  // part of the way to where the arm ends
        l.next_pc = branch_target(i, l.next_pc);
        return true;
    }
    l.cover(branch_target(i, l.next_pc));
    l.end({.kind = Kind::Jump, .target = branch_target(i, l.next_pc)});
    return true;
}

void branch_if(Lifter& l, const Inst& i, Value cond) {
    uint64_t c, target = branch_target(i, l.next_pc), next = l.next_pc;
    if (l.s.is_const(cond, c)) {
        l.cover(c ? target : next);
        return l.end({.kind = Kind::Jump, .target = c ? target : next});
    }
    l.cover(cond, target, next);
    if (l.take_way_back(next, target))
        next = l.block.pc;
    else if (l.take_way_back(target, next))
        target = l.block.pc;
    l.end({.kind = Kind::Branch, .cond = cond, .target = target, .next = next});
}

template <bool want>
bool branch_scc(Lifter& l, const Inst& i) {
    const Value scc = l.s.scc();
    branch_if(l, i, want ? scc : l.emit(Op::UXor32, {scc, l.s.const32(1)}));
    return true;
}

template <uint32_t reg, bool zero>
bool branch_mask(Lifter& l, const Inst& i) {
    branch_if(l, i,
              l.emit(zero ? Op::UCmpEq64 : Op::UCmpNe64, {l.s.get_mask_bits(reg), l.s.const64(0)}));
    return true;
}

bool branch_execz(Lifter& l, const Inst& i) {
    if (l.lanes_known(branch_target(i, l.next_pc))) return true;
    return l.begin_arm(branch_target(i, l.next_pc)) || branch_mask<machine::exec_lo, true>(l, i);
}

bool branch_execnz(Lifter& l, const Inst& i) {
    return l.no_lanes_left() || branch_mask<machine::exec_lo, false>(l, i);
}

bool endpgm(Lifter& l, const Inst&) {
    l.cover(machine::Coverage::nowhere);
    l.exit(machine::ExitKind::EndProgram, l.next_pc);
    return true;
}

bool barrier(Lifter& l, const Inst&) {
    l.exit(machine::ExitKind::Barrier, l.next_pc);
    return true;
}

// Of another barrier than the work-group's: the interpreter's handler says what is wrong.
bool barrier_wait(Lifter& l, const Inst& i) {
    return machine::is_group_barrier(i.src[0].value) && barrier(l, i);
}

bool barrier_signal(Lifter& l, const Inst& i) {
    return l.options.mode & machine::mode::whole_barriers &&
           machine::is_group_barrier(i.src[0].value);
}

bool sleep(Lifter& l, const Inst&) {
    l.exit(machine::ExitKind::Yield, l.next_pc);
    return true;
}

// Other traps end the wave, which the interpreter's handler does.
bool trap(Lifter&, const Inst& i) {
    return (i.src[0].value & 0xff) == machine::debug_trap;
}

bool getpc(Lifter& l, const Inst& i) {
    l.set_s64(i.dst[0], l.s.code_address(l.next_pc));
    return true;
}

// The interpreter's handler chooses the PC, and counts the edge.
bool jump_covered(Lifter& l, const Inst& i) {
    l.call(i, false);
    if (!l.ended) l.end({.kind = Kind::Called});
    return true;
}

bool setpc(Lifter& l, const Inst& i) {
    if (l.options.coverage) return jump_covered(l, i);
    l.end({.kind = Kind::Indirect, .cond = l.s64(i.src[0])});
    return true;
}

bool add_pc(Lifter& l, const Inst& i) {
    if (l.options.coverage) return jump_covered(l, i);
    const Value distance = l.s64(i.src[0]);
    uint64_t known;
    if (l.s.is_const(distance, known))
        l.end({.kind = Kind::Jump, .target = l.next_pc + known});
    else
        l.end({.kind = Kind::Indirect,
               .cond = l.emit(Op::UAdd64, {l.s.code_address(l.next_pc), distance})});
    return true;
}

bool swappc(Lifter& l, const Inst& i) {
    if (l.options.coverage) return jump_covered(l, i);
    const Value target = l.s64(i.src[0]);
    l.set_s64(i.dst[0], l.s.code_address(l.next_pc));
    l.end({.kind = Kind::Indirect, .cond = target});
    return true;
}

bool call_b64(Lifter& l, const Inst& i) {
    l.set_s64(i.dst[0], l.s.code_address(l.next_pc));
    l.cover(branch_target(i, l.next_pc));
    l.end({.kind = Kind::Jump, .target = branch_target(i, l.next_pc)});
    return true;
}

// The interpreter's handler changes MODE: the rest belongs to another code space.
bool mode_change(Lifter& l, const Inst& i) {
    l.call(i, true);
    l.block.mode_changed = true;
    l.end({.kind = Kind::Jump, .target = l.next_pc});
    return true;
}

// Where instructions are what clocks count, blocks end with those that ask.
bool read_clock(Lifter& l, const Inst& i) {
    if (!l.options.plain) return false;
    l.call(i, true);
    if (!l.ended) l.end({.kind = Kind::Jump, .target = l.next_pc});
    return true;
}

bool index_mode_on(Lifter& l, const Inst& i) {
    return l.indexed_moves(i) || mode_change(l, i);
}

// The interpreter's handler chooses the PC; forks also count in MODE and write EXEC and SGPRs.
bool jump_by_handler(Lifter& l, const Inst& i) {
    l.call(i, false);
    l.block.mode_changed = true;
    if (!l.ended) l.end({.kind = Kind::Called});
    return true;
}

constexpr Entry entries[] = {
    {Opcode::s_nop, nothing},
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
    {Opcode::s_waitcnt_depctr, nothing},
    {Opcode::s_delay_alu, nothing},
    {Opcode::s_inst_prefetch, nothing},
    {Opcode::s_clause, nothing},
    {Opcode::s_version, nothing},
    {Opcode::s_ttracedata_imm, nothing},
    {Opcode::s_setprio, nothing},
    {Opcode::s_setprio_inc_wg, nothing},
    {Opcode::s_icache_inv, nothing},
    {Opcode::s_incperflevel, nothing},
    {Opcode::s_decperflevel, nothing},
    {Opcode::s_ttracedata, nothing},
    {Opcode::s_dcache_inv, empty_cache},
    {Opcode::s_gl1_inv, empty_cache},
    {Opcode::buffer_gl0_inv, empty_cache},
    {Opcode::buffer_gl1_inv, empty_cache},
    {Opcode::global_inv, empty_cache},
    {Opcode::global_wbinv, empty_cache},
    {Opcode::global_wb, nothing},
    {Opcode::global_prefetch_b8, nothing},
    {Opcode::flat_prefetch_b8, nothing},
    {Opcode::s_prefetch_inst, nothing},
    {Opcode::s_prefetch_inst_pc_rel, nothing},
    {Opcode::s_prefetch_data, nothing},
    {Opcode::s_prefetch_data_pc_rel, nothing},
    {Opcode::s_buffer_prefetch_data, nothing},
    {Opcode::s_dcache_wb, nothing},
    {Opcode::s_dcache_inv_vol, empty_cache},
    {Opcode::s_dcache_wb_vol, nothing},
    {Opcode::buffer_wbinvl1, empty_cache},
    {Opcode::buffer_wbinvl1_vol, empty_cache},
    {Opcode::buffer_wbinvl1_sc, empty_cache},
    {Opcode::buffer_wbl2, nothing},
    {Opcode::buffer_invl2, empty_cache},
    {Opcode::buffer_inv, empty_cache},
    {Opcode::s_branch, branch},
    {Opcode::s_cbranch_scc0, branch_scc<false>},
    {Opcode::s_cbranch_scc1, branch_scc<true>},
    {Opcode::s_cbranch_vccz, branch_mask<machine::vcc_lo, true>},
    {Opcode::s_cbranch_vccnz, branch_mask<machine::vcc_lo, false>},
    {Opcode::s_cbranch_execz, branch_execz},
    {Opcode::s_cbranch_execnz, branch_execnz},
    {Opcode::s_cbranch_i_fork, jump_by_handler},
    {Opcode::s_cbranch_g_fork, jump_by_handler},
    {Opcode::s_cbranch_join, jump_by_handler},
    {Opcode::s_cbranch_cdbgsys, jump_by_handler},
    {Opcode::s_cbranch_cdbguser, jump_by_handler},
    {Opcode::s_cbranch_cdbgsys_or_user, jump_by_handler},
    {Opcode::s_cbranch_cdbgsys_and_user, jump_by_handler},
    {Opcode::s_rfe_b64, jump_by_handler},
    {Opcode::s_rfe_restore_b64, jump_by_handler},
    {Opcode::s_endpgm, endpgm},
    {Opcode::s_barrier, barrier},
    {Opcode::s_barrier_signal, barrier_signal},
    {Opcode::s_barrier_wait, barrier_wait},
    {Opcode::s_sleep, sleep},
    {Opcode::s_sleep_var, sleep},
    {Opcode::s_monitor_sleep, sleep},
    {Opcode::s_trap, trap},
    {Opcode::s_getpc_b64, getpc},
    {Opcode::s_setpc_b64, setpc},
    {Opcode::s_add_pc_i64, add_pc},
    {Opcode::s_swappc_b64, swappc},
    {Opcode::s_call_b64, call_b64},
    {Opcode::s_set_vgpr_msb, nothing},  // lift_once() sees to it
    {Opcode::s_setreg_b32, mode_change},
    {Opcode::s_setreg_imm32_b32, mode_change},
    {Opcode::s_round_mode, mode_change},
    {Opcode::s_denorm_mode, mode_change},
    {Opcode::s_set_gpr_idx_on, index_mode_on},
    {Opcode::s_set_gpr_idx_off, mode_change},
    {Opcode::s_set_gpr_idx_mode, mode_change},
    {Opcode::s_setvskip, mode_change},
    {Opcode::s_memtime, read_clock},
    {Opcode::s_memrealtime, read_clock},
    {Opcode::s_get_shader_cycles_u64, read_clock},
    {Opcode::s_sendmsg_rtn_b32, read_clock},
    {Opcode::s_sendmsg_rtn_b64, read_clock},
};

}  // namespace

std::span<const Entry> control_entries() {
    return entries;
}

}  // namespace wj::lift
