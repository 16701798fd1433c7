#include "lift/liveness.h"

#include <algorithm>
#include <string_view>

#include "frontend/decode.h"
#include "machine/wave.h"

namespace wj::lift {
namespace {

constexpr uint32_t max_instructions = 4096, max_nodes = 512;
constexpr size_t max_known = 1 << 16;
constexpr uint32_t scc_operand = 253, vccz = 251;

// What the analysis has to know about an opcode besides its operands.
struct Traits {
    bool opaque = false;  // may read any register, or goes on somewhere unknown
    bool branch = false;  // s_branch and s_cbranch_*: a target, and what follows if conditional
    bool conditional = false;
    bool ends = false;       // s_endpgm
    bool reads_vcc = false;  // without naming it
    bool reads_scc = false, writes_scc = false;
    bool partial = false;      // reads its destination too, or leaves a part of it
    bool writes_exec = false;  // without naming it
};

bool any_of(std::string_view name, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view p) { return name.find(p) != name.npos; });
}

Traits traits_of(Opcode op) {
    const OpInfo& info = op_info(op);
    const std::string_view n = info.name;
    Traits t;
    const bool scalar = info.format == Format::SOP1 || info.format == Format::SOP2 ||
                        info.format == Format::SOPK || info.format == Format::SOPC;
    t.ends = n == "s_endpgm";
    t.conditional = n.starts_with("s_cbranch_") && info.format == Format::SOPP;
    t.branch = t.conditional || n == "s_branch";
    t.opaque = any_of(n, {"setpc", "swappc", "s_call", "s_rfe", "fork", "join", "movrel", "gpr_idx",
                          "setvskip", "cdbg", "s_trap", "_saved"}) ||
               (t.ends ? false : n.starts_with("s_endpgm"));
    t.reads_vcc = n.starts_with("v_div_fmas") || n.find("vcc") != n.npos;
    t.reads_scc = any_of(n, {"s_addc_u32", "s_subb_u32", "s_cselect", "s_cmov", "_scc"});
    t.writes_scc =
        info.format == Format::SOPC || any_of(n, {"saveexec", "wrexec", "s_cmpk"}) ||
        (info.format == Format::SOP2 &&
         any_of(n, {"s_add", "s_sub", "s_min", "s_max", "s_and", "s_or", "s_xor", "s_nand", "s_nor",
                    "s_xnor", "s_lsh", "s_ashr", "s_bfe", "s_absdiff"}));
    t.writes_exec = any_of(n, {"saveexec", "wrexec", "cmpx"});
    const bool memory = info.format >= Format::DS;
    if (scalar)
        t.partial = any_of(n, {"cmov", "bitset", "addk", "mulk", "setreg"});
    else if (info.format == Format::SMEM)
        t.partial = !n.starts_with("s_load");  // s_buffer_load: dwords out of range stay
    else if (memory)
        t.partial = n.find("load") == n.npos && n.find("ds_read") == n.npos;
    else
        t.partial = any_of(n, {"mac", "writelane", "swap", "mix", "mfma", "cvt_sr", "scalef32",
                               "permlane", "interp", "pkaccum", "ashr_pk"}) ||
                    (n.find("dot") != n.npos && n.find("c_") != n.npos);
    // 16-bit and narrower results may leave the other half of the register.
    if (!scalar && info.format != Format::SMEM && any_of(n, {"16", "fp8", "bf8"})) t.partial = true;
    return t;
}

const Traits& traits(Opcode op) {
    static const auto table = [] {
        std::array<Traits, opcode_count> t{};
        for (size_t i = 1; i < opcode_count; ++i) t[i] = traits_of(static_cast<Opcode>(i));
        return t;
    }();
    return table[static_cast<size_t>(op)];
}

bool vector_register(const Operand& o) {
    return o.is(Operand::Kind::Vgpr) || o.is(Operand::Kind::Agpr);
}

// s_setreg of MODE.GPR_IDX_EN: registers are then relative to M0.
bool may_index_registers(const Inst& inst) {
    if (inst.op != Opcode::s_setreg_b32 && inst.op != Opcode::s_setreg_imm32_b32) return false;
    constexpr uint32_t hwreg_mode = 1, gpr_idx_bit = 27;
    const uint32_t field = inst.words[0] & 0xffff;
    return (field & 63) == hwreg_mode && (field >> 6 & 31) + (field >> 11) >= gpr_idx_bit;
}

template <class F>
void for_each_register(const Operand& o, F f) {
    const uint32_t base = o.reg + (o.is(Operand::Kind::Agpr) ? 256 : 0);
    const uint32_t limit = o.is(Operand::Kind::Sgpr) ? 128 : 512;
    // An operand whose width the table does not give (dwords 0) is one register at least.
    for (uint32_t d = 0; d < std::max<uint32_t>(o.dwords, 1) && base + d < limit; ++d) f(base + d);
}

}  // namespace

LiveSet LiveSet::all() {
    LiveSet s;
    s.scalars.set();
    s.lanes.set();
    s.any.set();
    s.scc = true;
    return s;
}

LiveSet& LiveSet::operator|=(const LiveSet& o) {
    scalars |= o.scalars;
    scc |= o.scc;
    lanes |= o.lanes;
    any |= o.any;
    return *this;
}

// One node: the straight code from pc to the next branch. gen: read before it is overwritten;
// kill: overwritten in all lanes of the EXEC at the start.
void Liveness::scan(uint64_t pc, Node& node, uint32_t& instructions) {
    const std::span<const uint32_t> code = fetch_(pc);
    Inst inst;
    auto read_scalar = [&](uint32_t r) {
        if (!node.kill.scalars[r]) node.gen.scalars.set(r);
    };
    auto read_vcc = [&] {
        read_scalar(machine::vcc_lo);
        read_scalar(machine::vcc_lo + 1);
    };
    auto read = [&](const Operand& o) {
        if (o.is(Operand::Kind::Sgpr))
            for_each_register(o, read_scalar);
        else if (vector_register(o))
            for_each_register(o, [&](uint32_t r) {
                node.gen.any.set(r);
                if (!node.kill.lanes[r]) node.gen.lanes.set(r);
            });
        else if (o.is(Operand::Kind::Special) && o.reg == scc_operand)
            node.gen.scc |= !node.kill.scc;
        else if (o.is(Operand::Kind::Special) && o.reg == vccz)
            read_vcc();
    };
    for (size_t at = 0;;) {
        if (at + 4 > code.size() || ++instructions > max_instructions ||
            !decode(target_, code.subspan(at), inst)) {
            node.opaque = true;
            return;
        }
        const Traits& t = traits(inst.op);
        if (t.opaque || inst.illegal_operand || may_index_registers(inst)) {
            node.opaque = true;
            return;
        }
        const uint64_t next_pc = pc + at * 4 + inst.size;
        at += inst.size / 4;
        for (const Operand& o : inst.src) read(o);
        if (t.reads_scc) node.gen.scc |= !node.kill.scc;
        if (t.reads_vcc) read_vcc();
        const bool whole = !t.partial && inst.variant != Variant::Dpp &&
                           inst.variant != Variant::Sdwa && !(inst.op_sel & 8);
        bool exec = t.writes_exec;
        for (const Operand& o : inst.dst) {
            if (o.is(Operand::Kind::Sgpr) && o.reg + o.dwords > machine::exec_lo) exec = true;
            // SDWA and DPP compares write their mask whole.
            const bool kills = o.is(Operand::Kind::Sgpr) ? !t.partial : whole;
            if (!kills) read(o);
        }
        for (const Operand& o : inst.dst) {
            if (o.is(Operand::Kind::Sgpr) && !t.partial)
                for_each_register(o, [&](uint32_t r) {
                    if (!node.gen.scalars[r]) node.kill.scalars.set(r);
                });
            else if (vector_register(o) && whole && !node.exec_changes)
                for_each_register(o, [&](uint32_t r) {
                    if (!node.gen.lanes[r]) node.kill.lanes.set(r);
                });
        }
        node.exec_changes |= exec;
        if (t.writes_scc && !node.gen.scc) node.kill.scc = true;
        if (t.ends) {
            node.opaque = keep_at_end_;
            return;
        }
        if (t.branch) {
            const auto offset = int64_t{static_cast<int16_t>(inst.words[0] & 0xffff)} * 4;
            node.next[node.next_count++] = next_pc + static_cast<uint64_t>(offset);
            if (t.conditional) node.next[node.next_count++] = next_pc;
            return;
        }
    }
}

const LiveSet& Liveness::at(uint64_t pc) {
    if (auto it = known_.find(pc); it != known_.end()) return it->second;
    if (known_.size() > max_known) known_.clear();
    std::unordered_map<uint64_t, uint32_t> index{{pc, 0}};
    std::vector<Node> nodes;
    std::vector<uint64_t> order{pc};
    uint32_t instructions = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        Node& node = nodes.emplace_back();
        if (i >= max_nodes || instructions > max_instructions)
            node.opaque = true;
        else
            scan(order[i], node, instructions);
        for (uint32_t k = 0; k < node.next_count; ++k) {
            const uint64_t next = node.next[k];
            if (!known_.contains(next) &&
                index.try_emplace(next, static_cast<uint32_t>(order.size())).second)
                order.push_back(next);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = nodes.size(); i-- > 0;) {
            Node& node = nodes[i];
            LiveSet out;
            if (node.opaque) out = LiveSet::all();
            for (uint32_t k = 0; k < node.next_count; ++k) {
                const auto known = known_.find(node.next[k]);
                out |= known != known_.end() ? known->second : nodes[index[node.next[k]]].in;
            }
            LiveSet in = node.gen;
            in.scalars |= out.scalars & ~node.kill.scalars;
            in.scc |= out.scc && !node.kill.scc;
            in.any |= out.any;
            in.lanes |= (node.exec_changes ? out.any : out.lanes) & ~node.kill.lanes;
            if (in == node.in) continue;
            node.in = in;
            changed = true;
        }
    }
    for (size_t i = 0; i < nodes.size(); ++i)
        if (i < max_nodes) known_.try_emplace(order[i], nodes[i].in);
    return known_.at(pc);
}

LiveSet Liveness::after(const ir::Terminator& term) {
    using Kind = ir::Terminator::Kind;
    switch (term.kind) {
        case Kind::Jump:
            return at(term.target);
        case Kind::Branch: {
            LiveSet s = at(term.target);
            s |= at(term.next);
            return s;
        }
        case Kind::Exit:
            if (term.exit == machine::ExitKind::EndProgram)
                return keep_at_end_ ? LiveSet::all() : LiveSet();
            if (term.exit == machine::ExitKind::Barrier || term.exit == machine::ExitKind::Yield)
                return at(term.next);
            return LiveSet::all();
        default:
            return LiveSet::all();
    }
}

}  // namespace wj::lift
