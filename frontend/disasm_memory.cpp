#include <array>

#include "frontend/disasm_formats.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "frontend/layout.h"

namespace wj {
namespace {

// Appends operands separated by commas; the first one after a blank.
class OperandList {
public:
    explicit OperandList(Text& t) : t_(t) {}
    void add(const Operand& operand) {
        if (!operand.present()) return;
        next();
        t_.operand(operand);
    }
    void next() {
        t_.out += separator_;
        separator_ = ", ";
    }

private:
    Text& t_;
    const char* separator_ = " ";
};

void append_cache_policy(Text& t) {
    const Inst& i = t.inst;
    if (find_layout(t.target.family, i.words[0])->has(Field::th)) {
        append_scope_policy(t);
        return;
    }
    const bool gfx940 = t.target.traits.memory_scopes;
    t.flag(gfx940 ? " sc0" : " glc", i.glc);
    t.flag(gfx940 ? " nt" : " slc", i.slc);
    t.flag(" dlc", i.dlc);
    t.flag(gfx940 ? " sc1" : " scc", i.scc);
}

constexpr std::array<std::string_view, 8> dim_names{
    "1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};

void append_image_registers(Text& t) {
    const uint32_t count = t.inst.address_count;
    uint32_t size = 0;
    for (uint32_t group = 0, at = 0; at < count; ++group, at += size) {
        t.out += group == 0 ? "[" : ", ";
        size = image_group(t.target, t.inst.op, group, count - at);
        Operand o;
        o.kind = Operand::Kind::Vgpr;
        o.reg = t.inst.addresses[at];
        o.dwords = static_cast<uint8_t>(size);
        t.operand(o);
    }
    t.out += ']';
}

}  // namespace

void append_scope_policy(Text& t) {
    constexpr uint8_t bypass = 3, system = 3, device = 2, cascade = 4;
    constexpr std::array<std::string_view, 8> loads{"",
                                                    "TH_LOAD_NT",
                                                    "TH_LOAD_HT",
                                                    "TH_LOAD_LU",
                                                    "TH_LOAD_NT_RT",
                                                    "TH_LOAD_RT_NT",
                                                    "TH_LOAD_NT_HT",
                                                    "0x7"};
    constexpr std::array<std::string_view, 8> stores{"",
                                                     "TH_STORE_NT",
                                                     "TH_STORE_HT",
                                                     "TH_STORE_WB",
                                                     "TH_STORE_NT_RT",
                                                     "TH_STORE_RT_NT",
                                                     "TH_STORE_NT_HT",
                                                     "TH_STORE_NT_WB"};
    constexpr std::array<std::string_view, 8> atomics{"",
                                                      "TH_ATOMIC_RETURN",
                                                      "TH_ATOMIC_NT",
                                                      "TH_ATOMIC_NT_RETURN",
                                                      "TH_ATOMIC_0x4",
                                                      "TH_ATOMIC_0x5",
                                                      "TH_ATOMIC_0x6",
                                                      "TH_ATOMIC_0x7"};
    constexpr std::array<std::string_view, 4> scopes{"", "SE", "DEV", "SYS"};
    const Inst& i = t.inst;
    const MemoryAccess access = effects(i.op).access;
    const bool store = access == MemoryAccess::Store, atomic = access == MemoryAccess::Atomic;
    std::string_view hint = (atomic ? atomics : store ? stores : loads)[i.th & 7];
    if (!atomic && i.th == bypass && i.scope == system)
        hint = store ? "TH_STORE_BYPASS" : "TH_LOAD_BYPASS";
    if (atomic && i.th >= cascade && i.scope >= device)
        hint = (i.th & 2) != 0 ? "TH_ATOMIC_CASCADE_NT" : "TH_ATOMIC_CASCADE_RT";
    if (i.th != 0) {
        t.out += " th:";
        t.out += hint;
    }
    if (i.scope != 0) {
        t.out += " scope:SCOPE_";
        t.out += scopes[i.scope & 3];
    }
    t.flag(" nv", i.nv && find_layout(t.target.family, i.words[0])->has(Field::th));
}

void print_ds(Text& t) {
    const Inst& i = t.inst;
    t.out += t.name();
    OperandList list(t);
    list.add(i.dst[0]);
    list.add(i.src[0]);
    list.add(i.src[1]);
    list.add(i.src[2]);
    if (encoding_info(i.op, t.target.family).two_offsets) {
        t.number(" offset0:", i.offset);
        t.number(" offset1:", i.offset1);
    } else if (i.op == Opcode::ds_swizzle_b32) {
        append_swizzle(t.out, static_cast<uint32_t>(i.offset), t.target);
    } else {
        t.number(" offset:", i.offset);
    }
    t.flag(" gds", i.gds);
}

void print_flat(Text& t) {
    const Inst& i = t.inst;
    const OpInfo& info = op_info(i.op);
    t.out += t.name();
    OperandList list(t);
    const bool lds_address = encoding_info(i.op).lds_address;
    list.add(lds_address ? i.src[1] : i.dst[0]);
    list.add(i.src[0]);
    if (!lds_address) list.add(i.src[1]);
    list.add(i.src[3]);
    t.number(" offset:", i.offset);
    t.flag(" scale_offset", i.scale_offset);
    append_cache_policy(t);
    t.flag(" nv", i.nv && !find_layout(t.target.family, i.words[0])->has(Field::th));
    const bool lds_by_name = info.dst_count == 0 && info.src_count == 0;
    t.flag(" lds", i.lds && !lds_by_name);
}

void print_buffer(Text& t) {
    const Inst& i = t.inst;
    const OpInfo& info = op_info(i.op);
    t.out += t.name();
    const bool has_operands = i.src[3].present();
    const bool store_lds = i.op == Opcode::buffer_store_lds_dword;
    if (has_operands) {
        OperandList list(t);
        const Operand& data = i.src[1].present() ? i.src[1] : i.dst[0];
        list.add(data);
        if (!store_lds) list.add(i.src[0]);
        list.add(i.src[3]);
        list.add(i.src[4]);
        if (info.format == Format::MTBUF) {
            if (find_layout(t.target.family, i.words[0])->has(Field::format))
                append_unified_format(t.out, i.buffer_format, t.target);
            else
                append_buffer_format(t.out, i.dfmt, i.nfmt, t.target);
        }
        t.flag(" idxen", i.idxen);
        t.flag(" offen", i.offen);
        t.flag(" addr64", i.addr64());
        t.number(" offset:", i.offset);
    }
    const bool plain = i.op == Opcode::buffer_wbinvl1 || i.op == Opcode::buffer_wbinvl1_vol ||
                       i.op == Opcode::buffer_wbinvl1_sc || i.op == Opcode::buffer_invl2 ||
                       i.op == Opcode::buffer_gl0_inv || i.op == Opcode::buffer_gl1_inv;
    t.flag(" lds", i.lds && store_lds);
    if (!plain) append_cache_policy(t);
    t.flag(" tfe", i.tfe);
    t.flag(" lds", i.lds && !store_lds);
}

void print_tensor(Text& t) {
    const Inst& i = t.inst;
    t.out += t.name();
    OperandList list(t);
    const auto absent = [](const Operand& o) { return o.is(Operand::Kind::Special); };
    const unsigned count = absent(i.src[2]) && absent(i.src[3]) ? 2 : 4;
    for (unsigned n = 0; n < count; ++n) list.add(i.src[n]);
    t.flag(" r128", (i.mimg_flags & 32) != 0);
    append_scope_policy(t);
}

void print_image(Text& t) {
    const Inst& i = t.inst;
    t.out += t.name();
    OperandList list(t);
    list.add(i.src[1].present() ? i.src[1] : i.dst[0]);
    if (i.address_count != 0) {
        list.next();
        append_image_registers(t);
    } else {
        list.add(i.src[0]);
    }
    list.add(i.src[3]);
    list.add(i.src[4]);
    if (i.dmask != 0) {
        t.out += " dmask:";
        append_hex(t.out, i.dmask);
    }
    const bool has_dim = find_layout(t.target.family, i.words[0])->has(Field::dim) &&
                         !encoding_info(i.op).bvh && !encoding_info(i.op).rays;
    if (has_dim) {
        t.out += " dim:SQ_RSRC_IMG_";
        t.out += dim_names[i.dim & 7];
    }
    t.flag(" unorm", (i.mimg_flags & 1) != 0);
    append_cache_policy(t);
    t.flag(" r128", has_dim && (i.mimg_flags & 32) != 0);
    t.flag(" a16", (i.mimg_flags & 4) != 0);
    t.flag(" r128", !has_dim && (i.mimg_flags & 32) != 0);
    t.flag(" tfe", i.tfe);
    t.flag(" lwe", (i.mimg_flags & 8) != 0);
    t.flag(" da", (i.mimg_flags & 2) != 0);
    t.flag(" d16", (i.mimg_flags & 16) != 0);
}

}  // namespace wj
