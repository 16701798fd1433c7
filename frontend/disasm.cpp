#include "frontend/decode.h"
#include "frontend/disasm_formats.h"
#include "frontend/encoding.h"
#include "frontend/layout.h"

namespace wj {
namespace {

bool is_branch(Opcode op) {
    switch (op) {
        case Opcode::s_branch:
        case Opcode::s_cbranch_scc0:
        case Opcode::s_cbranch_scc1:
        case Opcode::s_cbranch_vccz:
        case Opcode::s_cbranch_vccnz:
        case Opcode::s_cbranch_execz:
        case Opcode::s_cbranch_execnz:
        case Opcode::s_cbranch_cdbgsys:
        case Opcode::s_cbranch_cdbguser:
        case Opcode::s_cbranch_cdbgsys_or_user:
        case Opcode::s_cbranch_cdbgsys_and_user:
        case Opcode::s_cbranch_i_fork:
        case Opcode::s_call_b64:
        case Opcode::s_subvector_loop_begin:
        case Opcode::s_subvector_loop_end:
            return true;
        default:
            return false;
    }
}

// Numbers that fit an inline constant print in decimal, others in hexadecimal.
void append_simm16(Text& t, uint32_t simm) {
    if (simm <= 64) {
        append_decimal(t.out, simm);
    } else {
        append_hex(t.out, simm);
    }
}

void append_immediate(Text& t, const Operand& operand) {
    const uint32_t simm = static_cast<uint32_t>(operand.value) & 0xffff;
    switch (t.inst.op) {
        case Opcode::s_waitcnt:
            append_waitcnt(t.out, simm, t.target);
            return;
        case Opcode::s_version:
            append_version(t.out, simm);
            return;
        case Opcode::s_clause:
        case Opcode::s_wait_xcnt:
        case Opcode::s_wait_asynccnt:
        case Opcode::s_wait_tensorcnt:
        case Opcode::s_inst_prefetch:
        case Opcode::s_round_mode:
        case Opcode::s_wait_event:
        case Opcode::s_wait_loadcnt:
        case Opcode::s_wait_storecnt:
        case Opcode::s_wait_samplecnt:
        case Opcode::s_wait_bvhcnt:
        case Opcode::s_wait_expcnt:
        case Opcode::s_wait_dscnt:
        case Opcode::s_wait_kmcnt:
        case Opcode::s_wait_loadcnt_dscnt:
        case Opcode::s_wait_storecnt_dscnt:
        case Opcode::s_ttracedata_imm:
            append_hex(t.out, simm);
            return;
        case Opcode::s_waitcnt_depctr:
            append_depctr(t.out, simm, t.target);
            return;
        case Opcode::s_sendmsg:
        case Opcode::s_sendmsghalt:
        case Opcode::s_sendmsg_rtn_b32:
        case Opcode::s_sendmsg_rtn_b64:
            append_sendmsg(t.out, simm, t.target);
            return;
        case Opcode::s_delay_alu:
            append_delay(t.out, simm);
            return;
        case Opcode::s_getreg_b32:
        case Opcode::s_setreg_b32:
        case Opcode::s_setreg_imm32_b32:
            append_hwreg(t.out, simm, t.target);
            return;
        case Opcode::s_set_gpr_idx_mode:
        case Opcode::s_set_gpr_idx_on:
            append_gpr_idx_mode(t.out, simm);
            return;
        default:
            break;
    }
    if (is_branch(t.inst.op)) {
        append_decimal(t.out, simm);
    } else if (t.inst.format == Format::SOPK) {
        append_hex(t.out, simm);
    } else {
        append_simm16(t, simm);
    }
}

}  // namespace

namespace {

// LLVM's types of scalar floats of 16 bits, which show in constants and literals.
Operand as_llvm_reads(const Inst& inst, Operand operand) {
    if (operand.type == Type::f16 && inst.format == Format::SOP1) operand.type = Type::b32;
    if (operand.type == Type::f16 && inst.format == Format::SOPC) operand.type = Type::i16;
    return operand;
}

}  // namespace

void print_scalar(Text& t) {
    const Inst& i = t.inst;
    const OpInfo& info = op_info(i.op);
    t.out += t.name();
    if (i.op == Opcode::s_endpgm) {
        const int64_t simm = static_cast<int64_t>(i.src[0].value) & 0xffff;
        if (simm != 0) t.number(" ", simm);
        return;
    }
    if (i.op == Opcode::s_setreg_b32) {  // the register comes first, though it is the destination
        t.out += ' ';
        append_immediate(t, i.src[1]);
        t.out += ", ";
        t.operand(i.src[0]);
        return;
    }
    const char* separator = " ";
    const InlineK k = encoding_info(i.op, t.target.family).k;
    if (i.dst[0].present()) {
        t.out += separator;
        t.operand(i.dst[0]);
        separator = ", ";
    }
    for (unsigned n = 0; n < info.src_count; ++n) {
        t.out += separator;
        separator = ", ";
        if (i.src[n].is(Operand::Kind::Imm) && i.src[n].type == Type::imm32) {
            append_immediate_32(t.out, static_cast<uint32_t>(i.src[n].value));
        } else if (i.src[n].is(Operand::Kind::Imm)) {
            append_immediate(t, i.src[n]);
        } else if (k != InlineK::None && n == (k == InlineK::Mk ? 1u : 2u)) {
            append_hex(t.out, i.words[1]);
        } else {
            t.operand(as_llvm_reads(i, i.src[n]));
        }
    }
}

namespace {

void append_signed_hex(Text& t, int64_t value) {
    if (value < 0) t.out += '-';
    append_hex(t.out, static_cast<uint64_t>(value < 0 ? -value : value));
}

}  // namespace

void print_smem(Text& t) {
    const Inst& i = t.inst;
    t.out += t.name();
    const char* separator = " ";
    const auto add = [&](const Operand& operand) {
        if (!operand.present()) return;
        t.out += separator;
        separator = ", ";
        t.operand(operand);
    };
    if (encoding_info(i.op, t.target.family).prefetch) {
        add(i.src[3]);
        t.out += separator;
        separator = ", ";
        append_signed_hex(t, i.offset);
        add(i.src[4]);
        t.out += separator;
        append_simm16(t, static_cast<uint32_t>(i.src[1].value));
        return;
    }
    if (i.src[1].is(Operand::Kind::Imm)) {  // s_atc_probe
        t.out += separator;
        separator = ", ";
        append_simm16(t, static_cast<uint32_t>(i.src[1].value));
    } else {
        add(i.src[1].present() ? i.src[1] : i.dst[0]);
    }
    if (!i.src[3].present()) return;  // cache and time instructions
    add(i.src[3]);
    add(i.src[4]);
    if (i.imm_offset) {
        t.out += i.src[4].present() ? " offset:" : separator;
        const int64_t dwords = i.size == 8 ? i.words[1] : i.words[0] & 0xff;
        append_signed_hex(
            t, find_layout(t.target.family, i.words[0])->dwords == 1 ? dwords : i.offset);
    }
    t.flag(" scale_offset", i.scale_offset);
    const bool has_glc = i.dst[0].present() || i.src[1].type != Type::simm16;
    const bool has_policy =
        has_glc && i.op != Opcode::s_dcache_discard && i.op != Opcode::s_dcache_discard_x2;
    append_scope_policy(t);
    t.flag(" glc", i.glc && has_policy);
    t.flag(" dlc", i.dlc && has_policy);
}

std::string disassemble(const Target& target, const Inst& inst) {
    if (inst.op == Opcode::invalid || inst.size < 4) return "<invalid>";
    Text t{target, inst};
    switch (inst.format) {
        case Format::SOP1:
        case Format::SOP2:
        case Format::SOPK:
        case Format::SOPC:
        case Format::SOPP:
            print_scalar(t);
            break;
        case Format::SMEM:
            print_smem(t);
            break;
        case Format::VOP3P:
            print_vop3p(t);
            break;
        case Format::VINTRP:
            print_interp(t);
            break;
        case Format::VOP1:
        case Format::VOP2:
        case Format::VOPC:
        case Format::VOP3:
            if (op_info(inst.op).name.substr(0, 9) == "v_interp_") {
                print_interp(t);
            } else {
                print_vector(t);
            }
            break;
        case Format::EXP:
            print_export(t);
            break;
        case Format::DS:
            print_ds(t);
            break;
        case Format::FLAT:
        case Format::GLOBAL:
        case Format::SCRATCH:
            print_flat(t);
            break;
        case Format::MUBUF:
        case Format::MTBUF:
            print_buffer(t);
            break;
        case Format::MIMG:
        case Format::VSAMPLE:
            print_image(t);
            break;
        case Format::VINTERP:
            print_vinterp(t);
            break;
        case Format::LDSDIR:
            print_ldsdir(t);
            break;
        case Format::VOPD:
        case Format::VOPD3:
            print_vopd(t);
            break;
        case Format::TENSOR:
            print_tensor(t);
            break;
    }
    return std::move(t.out);
}

}  // namespace wj
