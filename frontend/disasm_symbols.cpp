#include <array>
#include <span>
#include <utility>

#include "frontend/disasm_text.h"
#include "frontend/row_text.h"
#include "frontend/wait_count.h"

// Symbolic immediates. Names: LLVM's assembler syntax ("Syntax of AMDGPU Instruction Operands"),
// which takes them from the ISA manuals.

namespace wj {
namespace {

enum class SymbolKind : uint8_t { Hwreg, Message, SystemMessage, NumberFormat, UnifiedFormat };

struct Symbol {
    SymbolKind kind;
    uint32_t number;
    row::FamilyRange families;
    std::string_view name;
};

#define SYMBOL(kind, number, families, name) \
    {SymbolKind::kind, number, row::family_range(families), name},
#define HWREG(number, families, name) SYMBOL(Hwreg, number, families, name)
#define MESSAGE(number, families, name) SYMBOL(Message, number, families, name)
#define SYSMSG(number, families, name) SYMBOL(SystemMessage, number, families, name)
#define NFMT(number, families, name) SYMBOL(NumberFormat, number, families, name)
#define UFMT(number, families, name) SYMBOL(UnifiedFormat, number, families, name)
constexpr Symbol symbols[] = {
#include "frontend/tables/symbols.inc"
};
#undef HWREG
#undef MESSAGE
#undef SYSMSG
#undef NFMT
#undef UFMT
#undef SYMBOL

// Empty where the family has no name for it.
std::string_view symbol(SymbolKind kind, uint32_t number, const Target& target) {
    for (const Symbol& s : symbols)
        if (s.kind == kind && s.number == number &&
            s.families.contains(static_cast<size_t>(target.family)))
            return s.name;
    return {};
}

constexpr std::array<std::string_view, 16> dfmt_names{
    "BUF_DATA_FORMAT_INVALID",     "BUF_DATA_FORMAT_8",        "BUF_DATA_FORMAT_16",
    "BUF_DATA_FORMAT_8_8",         "BUF_DATA_FORMAT_32",       "BUF_DATA_FORMAT_16_16",
    "BUF_DATA_FORMAT_10_11_11",    "BUF_DATA_FORMAT_11_11_10", "BUF_DATA_FORMAT_10_10_10_2",
    "BUF_DATA_FORMAT_2_10_10_10",  "BUF_DATA_FORMAT_8_8_8_8",  "BUF_DATA_FORMAT_32_32",
    "BUF_DATA_FORMAT_16_16_16_16", "BUF_DATA_FORMAT_32_32_32", "BUF_DATA_FORMAT_32_32_32_32",
    "BUF_DATA_FORMAT_RESERVED_15"};

constexpr std::array<std::string_view, 8> nfmt_names{
    "BUF_NUM_FORMAT_UNORM",      "BUF_NUM_FORMAT_SNORM", "BUF_NUM_FORMAT_USCALED",
    "BUF_NUM_FORMAT_SSCALED",    "BUF_NUM_FORMAT_UINT",  "BUF_NUM_FORMAT_SINT",
    "BUF_NUM_FORMAT_RESERVED_6", "BUF_NUM_FORMAT_FLOAT"};

constexpr std::array<std::string_view, 4> gs_op_names{"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT",
                                                      "GS_OP_EMIT_CUT"};
constexpr uint32_t msg_gs = 2, msg_gs_done = 3, msg_sysmsg = 15;

}  // namespace

void append_hwreg(std::string& out, uint32_t simm16, const Target& target) {
    const uint32_t id = simm16 & 0x3f, offset = (simm16 >> 6) & 0x1f, width = (simm16 >> 11) + 1;
    out += "hwreg(";
    if (const std::string_view name = symbol(SymbolKind::Hwreg, id, target); !name.empty()) {
        out += name;
    } else {
        append_decimal(out, id);
    }
    if (offset != 0 || width != 32) {
        out += ", ";
        append_decimal(out, offset);
        out += ", ";
        append_decimal(out, width);
    }
    out += ')';
}

namespace {

// Messages of gfx11 and later are a number of eight bits and nothing else.
void append_wide_message(std::string& out, uint32_t simm16, const Target& target) {
    const std::string_view name = symbol(SymbolKind::Message, simm16 & 0xff, target);
    if (name.empty() && simm16 > 0xff) {
        append_decimal(out, simm16);
        return;
    }
    out += "sendmsg(";
    out += name;
    if (name.empty()) {
        append_decimal(out, simm16);
        out += ", 0, 0";
    }
    out += ')';
}

}  // namespace

void append_sendmsg(std::string& out, uint32_t simm16, const Target& target) {
    if (target.traits.wide_messages) {
        append_wide_message(out, simm16, target);
        return;
    }
    const uint32_t id = simm16 & 0xf, op = (simm16 >> 4) & 7, stream = (simm16 >> 8) & 3;
    const bool clean = (simm16 & ~0x37fu) == 0;
    if (id == msg_gs || id == msg_gs_done) {
        const bool op_valid = op < 4 && (op != 0 || id == msg_gs_done);
        const bool stream_valid = op != 0 || stream == 0;
        if (op_valid && stream_valid) {
            out += id == msg_gs ? "sendmsg(MSG_GS, " : "sendmsg(MSG_GS_DONE, ";
            out += gs_op_names[op];
            if (op != 0) {
                out += ", ";
                append_decimal(out, stream);
            }
            out += ')';
            return;
        }
    } else if (id == msg_sysmsg) {
        const std::string_view name = symbol(SymbolKind::SystemMessage, op, target);
        if (!name.empty() && stream == 0) {
            out += "sendmsg(MSG_SYSMSG, ";
            out += name;
            out += ')';
            return;
        }
    } else if (op == 0 && stream == 0) {
        if (const std::string_view name = symbol(SymbolKind::Message, id, target); !name.empty()) {
            out += "sendmsg(";
            out += name;
            out += ')';
            return;
        }
    }
    if (!clean) {
        append_decimal(out, simm16);
        return;
    }
    out += "sendmsg(";
    append_decimal(out, id);
    out += ", ";
    append_decimal(out, op);
    out += ", ";
    append_decimal(out, stream);
    out += ')';
}

// What the next two of the vector instructions that s_delay_alu names wait for.
void append_delay(std::string& out, uint32_t simm16) {
    constexpr std::array<std::string_view, 12> ids{
        "NO_DEP",        "VALU_DEP_1",    "VALU_DEP_2",    "VALU_DEP_3",        "VALU_DEP_4",
        "TRANS32_DEP_1", "TRANS32_DEP_2", "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1",
        "SALU_CYCLE_2",  "SALU_CYCLE_3"};
    constexpr std::array<std::string_view, 6> skips{"SAME",   "NEXT",   "SKIP_1",
                                                    "SKIP_2", "SKIP_3", "SKIP_4"};
    const char* separator = "";
    const auto part = [&](const char* name, uint32_t value,
                          std::span<const std::string_view> names) {
        if (value == 0) return;
        out += separator;
        out += name;
        if (value < names.size()) out += names[value];
        out += ')';
        separator = " | ";
    };
    const size_t start = out.size();
    part("instid0(", simm16 & 15, ids);
    part("instskip(", simm16 >> 4 & 7, skips);
    part("instid1(", simm16 >> 7 & 15, ids);
    if (out.size() == start) out += '0';
}

// The instruction set for which the code was written, with flags, as an expression of LLVM's.
void append_version(std::string& out, uint32_t simm16) {
    constexpr std::pair<uint32_t, const char*> versions[] = {{0, "UC_VERSION_GFX7"},
                                                             {4, "UC_VERSION_GFX10"},
                                                             {6, "UC_VERSION_GFX11"},
                                                             {9, "UC_VERSION_GFX12"}};
    constexpr std::pair<uint32_t, const char*> flags[] = {{0x2000, "UC_VERSION_W64_BIT"},
                                                          {0x4000, "UC_VERSION_W32_BIT"},
                                                          {0x8000, "UC_VERSION_MDP_BIT"}};
    if ((simm16 & 0x1f00) != 0) {
        append_hex(out, simm16);
        return;
    }
    std::string text;
    append_decimal(text, simm16 & 0xff);
    for (const auto& [number, name] : versions)
        if (number == (simm16 & 0xff)) text = name;
    bool joined = false;
    for (const auto& [bit, name] : flags) {
        if ((simm16 & bit) == 0) continue;
        text = (joined ? '(' + text + ')' : text) + '|' + name;
        joined = true;
    }
    out += text;
}

void append_waitcnt(std::string& out, uint32_t simm16, const Target& target) {
    const WaitCounts counts = wait_counts(target, simm16), any = wait_counts(target, 0xffff);
    const bool all = counts == any;
    const char* separator = "";
    const auto append = [&](const char* name, uint32_t value, bool print) {
        if (!print && !all) return;
        out += separator;
        out += name;
        out += '(';
        append_decimal(out, value);
        out += ')';
        separator = " ";
    };
    append("vmcnt", counts.vm, counts.vm != any.vm);
    append("expcnt", counts.exp, counts.exp != any.exp);
    append("lgkmcnt", counts.lgkm, counts.lgkm != any.lgkm);
}

void append_gpr_idx_mode(std::string& out, uint32_t mode) {
    if ((mode & ~0xfu) != 0) {
        append_hex(out, mode);
        return;
    }
    constexpr std::array<std::string_view, 4> names{"SRC0", "SRC1", "SRC2", "DST"};
    out += "gpr_idx(";
    const char* separator = "";
    for (unsigned i = 0; i < names.size(); ++i) {
        if ((mode >> i & 1) == 0) continue;
        out += separator;
        out += names[i];
        separator = ",";
    }
    out += ')';
}

namespace {

void append_swizzle_mask(std::string& out, uint32_t and_mask, uint32_t or_mask, uint32_t xor_mask) {
    const uint32_t of_zero = or_mask ^ xor_mask;
    const uint32_t of_ones = (and_mask | or_mask) ^ xor_mask;
    out += "swizzle(BITMASK_PERM,\"";
    for (uint32_t mask = 16; mask != 0; mask >>= 1) {
        const bool zero = (of_zero & mask) != 0, one = (of_ones & mask) != 0;
        out += zero == one ? (zero ? '1' : '0') : (zero ? 'i' : 'p');
    }
    out += "\")";
}

bool is_power_of_two(uint32_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace

void append_swizzle(std::string& out, uint32_t offset, const Target& target) {
    if (offset == 0) return;
    out += " offset:";
    if ((offset & 0xff00) == 0x8000) {
        out += "swizzle(QUAD_PERM";
        for (unsigned i = 0; i < 4; ++i) {
            out += ',';
            append_decimal(out, offset >> (2 * i) & 3);
        }
        out += ')';
        return;
    }
    const bool rotates = target.traits.swizzle_rotates;
    if (offset >= 0xe000 && rotates) {
        out += "swizzle(FFT,";
        append_decimal(out, offset & 31);
        out += ')';
        return;
    }
    if (offset >= 0xc000 && rotates) {
        out += "swizzle(ROTATE,";
        append_decimal(out, offset >> 10 & 1);
        out += ',';
        append_decimal(out, offset >> 5 & 31);
        out += ')';
        return;
    }
    if ((offset & 0x8000) != 0) {
        append_decimal(out, offset);
        return;
    }
    const uint32_t and_mask = offset & 31, or_mask = offset >> 5 & 31, xor_mask = offset >> 10 & 31;
    const uint32_t group = 32 - and_mask;
    if (and_mask == 31 && or_mask == 0 && is_power_of_two(xor_mask)) {
        out += "swizzle(SWAP,";
        append_decimal(out, xor_mask);
        out += ')';
    } else if (and_mask == 31 && or_mask == 0 && xor_mask > 0 && is_power_of_two(xor_mask + 1)) {
        out += "swizzle(REVERSE,";
        append_decimal(out, xor_mask + 1);
        out += ')';
    } else if (group > 1 && is_power_of_two(group) && or_mask < group && xor_mask == 0) {
        out += "swizzle(BROADCAST,";
        append_decimal(out, group);
        out += ',';
        append_decimal(out, or_mask);
        out += ')';
    } else {
        append_swizzle_mask(out, and_mask, or_mask, xor_mask);
    }
}

void append_buffer_format(std::string& out, uint32_t dfmt, uint32_t nfmt, const Target& target) {
    constexpr uint32_t default_dfmt = 1, default_nfmt = 0;
    if (dfmt == default_dfmt && nfmt == default_nfmt) return;
    out += " format:[";
    if (dfmt != default_dfmt) {
        out += dfmt_names[dfmt & 15];
        if (nfmt != default_nfmt) out += ',';
    }
    if (nfmt != default_nfmt) {
        const std::string_view name = symbol(SymbolKind::NumberFormat, nfmt, target);
        out += name.empty() ? nfmt_names[nfmt & 7] : name;
    }
    out += ']';
}

void append_unified_format(std::string& out, uint32_t format, const Target& target) {
    constexpr uint32_t default_format = 1;
    if (format == default_format) return;
    out += " format:";
    if (const std::string_view name = symbol(SymbolKind::UnifiedFormat, format, target);
        !name.empty()) {
        out += '[';
        out += name;
        out += ']';
    } else {
        append_decimal(out, format);
    }
}

void append_depctr(std::string& out, uint32_t simm16, const Target& target) {
    struct Part {
        const char* name;
        unsigned low, width;
    };
    constexpr Part parts[] = {
        {"depctr_hold_cnt", 7, 1}, {"depctr_sa_sdst", 0, 1}, {"depctr_va_vdst", 12, 4},
        {"depctr_va_sdst", 9, 3},  {"depctr_va_ssrc", 8, 1}, {"depctr_va_vcc", 1, 1},
        {"depctr_vm_vsrc", 2, 3},
    };
    const size_t first = target.traits.has_hold_cnt ? 0 : 1;
    uint32_t used = 0;
    for (size_t i = first; i < std::size(parts); ++i)
        used |= ((1u << parts[i].width) - 1) << parts[i].low;
    if ((simm16 & ~used) != 0) {
        append_hex(out, simm16);
        return;
    }
    const char* separator = "";
    for (size_t i = first; i < std::size(parts); ++i) {
        const Part& p = parts[i];
        const uint32_t all = (1u << p.width) - 1, value = simm16 >> p.low & all;
        if (value == all && simm16 != used) continue;
        out += separator;
        out += p.name;
        out += '(';
        append_decimal(out, value);
        out += ')';
        separator = " ";
    }
}

void append_dpp_control(std::string& out, uint32_t ctrl, const Target& target, bool wide) {
    const bool has_newbcast = target.traits.wide_dpp;
    const bool newbcast = ctrl >= 0x150 && ctrl <= 0x15f;
    if (wide && !newbcast) return;
    const auto numbered = [&](const char* name) {
        out += name;
        append_decimal(out, ctrl & 0xf);
    };
    if (ctrl <= 0xff) {
        out += "quad_perm:[";
        for (unsigned i = 0; i < 4; ++i) {
            if (i != 0) out += ',';
            append_decimal(out, ctrl >> (2 * i) & 3);
        }
        out += ']';
    } else if (ctrl >= 0x101 && ctrl <= 0x10f) {
        numbered("row_shl:");
    } else if (ctrl >= 0x111 && ctrl <= 0x11f) {
        numbered("row_shr:");
    } else if (ctrl >= 0x121 && ctrl <= 0x12f) {
        numbered("row_ror:");
    } else if (newbcast && target.traits.row_share) {
        numbered("row_share:");
    } else if (newbcast) {
        if (has_newbcast) numbered("row_newbcast:");
    } else if (ctrl >= 0x160 && ctrl <= 0x16f && target.traits.row_share) {
        numbered("row_xmask:");
    } else if (ctrl != 0x140 && ctrl != 0x141 && target.traits.row_share) {
        return;  // no shifts and broadcasts beyond rows
    } else {
        switch (ctrl) {
            case 0x130:
                out += "wave_shl:1";
                break;
            case 0x134:
                out += "wave_rol:1";
                break;
            case 0x138:
                out += "wave_shr:1";
                break;
            case 0x13c:
                out += "wave_ror:1";
                break;
            case 0x140:
                out += "row_mirror";
                break;
            case 0x141:
                out += "row_half_mirror";
                break;
            case 0x142:
                out += "row_bcast:15";
                break;
            case 0x143:
                out += "row_bcast:31";
                break;
            default:
                break;
        }
    }
}

void append_export_target(std::string& out, uint32_t target, const Target& machine) {
    if (target <= 7) {
        out += "mrt";
        append_decimal(out, target);
    } else if (target == 8) {
        out += "mrtz";
    } else if (target == 9 && !machine.traits.has_dual_blend_export) {
        out += "null";
    } else if (target >= 12 && target <= 15 + uint32_t{machine.traits.has_prim_export}) {
        out += "pos";
        append_decimal(out, target - 12);
    } else if (target == 20 && machine.traits.has_prim_export) {
        out += "prim";
    } else if ((target == 21 || target == 22) && machine.traits.has_dual_blend_export) {
        out += "dual_src_blend";
        append_decimal(out, target - 21);
    } else if (target >= 32 && !machine.traits.has_dual_blend_export) {
        out += "param";
        append_decimal(out, target - 32);
    } else {
        out += "invalid_target_";
        append_decimal(out, target);
    }
}

}  // namespace wj
