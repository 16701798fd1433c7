#include "lift/liveness.h"

#include <algorithm>

#include "frontend/coherence.h"
#include "frontend/decode.h"
#include "frontend/hwreg_field.h"
#include "lift/memory_order.h"
#include "machine/wave.h"

namespace wj::lift {
namespace {

constexpr uint32_t max_instructions = 4096, max_nodes = 512;
constexpr size_t max_known = 1 << 16;
constexpr uint32_t first_scalar = 512;  // numbers of Range
constexpr uint32_t scc_operand = 253, vccz = 251;

// What other work-groups do may decide what it does (LiveSet::others), whatever its cache policy.
bool depends_on_others(const Inst& inst) {
    const Effects& e = effects(inst.op);
    return e.synchronises || (e.access == MemoryAccess::Atomic && inst.format != Format::DS);
}

}  // namespace

bool is_opaque(const Effects& e) {
    return e.opaque || e.indexed || e.flow == Flow::Call || e.flow == Flow::Jump;
}

bool writes_whole(const Inst& inst) {
    return !effects(inst.op).partial && !is_dpp16(inst.variant) &&
           (inst.variant != Variant::Sdwa || inst.dst_sel == SdwaSel::Dword) && !(inst.op_sel & 8);
}

bool may_index_registers(const Inst& inst) {
    if (inst.op != Opcode::s_setreg_b32 && inst.op != Opcode::s_setreg_imm32_b32) return false;
    constexpr uint32_t gpr_idx_bit = 27;
    const HwregField field(inst.words[0] & 0xffff);
    return field.id == hwreg_mode && field.last() >= gpr_idx_bit;
}

bool LiveSet::reads_scalar(uint32_t reg) const {
    const bool dies =
        reg < machine::flat_scratch_lo || reg == machine::vcc_lo || reg == machine::vcc_lo + 1;
    return !dies || scalars[reg];
}

LiveSet LiveSet::all() {
    LiveSet s;
    s.scalars.set();
    s.on.set();
    s.off.set();
    s.others = true;
    return s;
}

LiveSet& LiveSet::operator|=(const LiveSet& o) {
    scalars |= o.scalars;
    on |= o.on;
    off |= o.off;
    others |= o.others;
    return *this;
}

ExecChange Liveness::exec_effect(const Inst& inst) const {
    if (const ExecChange of_row = effects(inst.op).exec; of_row != ExecChange::None) return of_row;
    const uint32_t registers = target_.traits.wave_size / 32;
    const auto is_exec = [&](const Operand& o) {
        return o.is(Operand::Kind::Sgpr) && o.reg == machine::exec_lo && o.dwords == registers;
    };
    bool written = false;
    for (const Operand& o : inst.dst)
        written |= o.is(Operand::Kind::Sgpr) && o.reg + o.dwords > machine::exec_lo &&
                   o.reg < machine::exec_lo + registers;
    if (!written) return ExecChange::None;
    if (!is_exec(inst.dst[0])) return ExecChange::Changed;
    const bool first = is_exec(inst.src[0]), second = is_exec(inst.src[1]);
    // is_exec() tells those that are of the wave's size.
    const auto is_op = [&](Opcode b32, Opcode b64) { return inst.op == b32 || inst.op == b64; };
    if ((is_op(Opcode::s_and_b32, Opcode::s_and_b64) && (first || second)) ||
        (is_op(Opcode::s_andn2_b32, Opcode::s_andn2_b64) && first))
        return ExecChange::Narrowed;
    return is_op(Opcode::s_or_b32, Opcode::s_or_b64) && (first || second) ? ExecChange::Widened
                                                                          : ExecChange::Changed;
}

Liveness::Effect Liveness::effect_of(const Inst& inst) const {
    const Effects& t = effects(inst.op);
    Effect e;
    auto range = [](const Operand& o) -> Range {
        // An operand whose width the table does not give (dwords 0) is one register at least.
        const uint32_t count = std::max<uint32_t>(o.dwords, 1);
        const uint32_t base = o.reg + (o.is(Operand::Kind::Agpr)   ? 256
                                       : o.is(Operand::Kind::Sgpr) ? first_scalar
                                                                   : 0);
        const uint32_t limit = o.is(Operand::Kind::Sgpr) ? first_scalar + 128 : first_scalar;
        return {static_cast<uint16_t>(base),
                static_cast<uint8_t>(base < limit ? std::min(count, limit - base) : 0)};
    };
    auto read = [&](const Range& r) { e.reads[e.read_count++] = r; };
    auto is_register = [](const Operand& o) {
        return o.is(Operand::Kind::Sgpr) || o.is(Operand::Kind::Vgpr) || o.is(Operand::Kind::Agpr);
    };
    const Range vcc{first_scalar + machine::vcc_lo,
                    static_cast<uint8_t>(target_.traits.wave_size / 32)};
    constexpr Range scc{static_cast<uint16_t>(first_scalar + LiveSet::scc), 1};
    for (const Operand& o : inst.src) {
        if (is_register(o)) read(range(o));
        if (o.is(Operand::Kind::Special) && o.reg == scc_operand) read(scc);
        if (o.is(Operand::Kind::Special) && o.reg == vccz) read(vcc);
    }
    if (t.reads_scc) read(scc);
    if (t.reads_vcc) read(vcc);
    const bool whole = writes_whole(inst);
    for (const Operand& o : inst.dst) {
        if (!is_register(o)) continue;
        // SDWA and DPP compares write their mask whole.
        if (o.is(Operand::Kind::Sgpr) ? !t.partial : whole)
            e.writes[e.write_count++] = range(o);
        else
            read(range(o));
    }
    if (t.writes_scc) e.writes[e.write_count++] = scc;
    e.across = t.across || is_dpp(inst.variant);
    e.exec = exec_effect(inst);
    return e;
}

// Backwards over one instruction.
void Liveness::step(const Effect& e, LiveSet& s) {
    switch (e.exec) {
        case ExecChange::None:
            break;
        case ExecChange::Narrowed:  // who is on may be off behind it
            s.on |= s.off;
            break;
        case ExecChange::Widened:
            s.off |= s.on;
            break;
        case ExecChange::Changed:
            s.on |= s.off;
            s.off = s.on;
            break;
    }
    auto each = [](const Range& r, auto f) {
        for (uint32_t i = r.first; i < uint32_t{r.first} + r.count; ++i) f(i);
    };
    for (uint32_t i = 0; i < e.write_count; ++i)
        each(e.writes[i], [&](uint32_t r) {
            if (r >= first_scalar)
                s.scalars.reset(r - first_scalar);
            else
                s.on.reset(r);
        });
    for (uint32_t i = 0; i < e.read_count; ++i)
        each(e.reads[i], [&](uint32_t r) {
            if (r >= first_scalar) {
                s.scalars.set(r - first_scalar);
                return;
            }
            s.on.set(r);
            if (e.across) s.off.set(r);
        });
}

void Liveness::scan(uint64_t pc, Node& node, uint32_t& instructions) {
    std::span<const uint32_t> code;
    Inst inst;
    for (uint64_t at = pc;;) {
        if (code.size() < most_instruction_words) code = fetch_(at);
        if (++instructions > max_instructions || !decode(target_, code, inst)) {
            node.opaque = true;
            return;
        }
        const Effects& t = effects(inst.op);
        if (is_opaque(t) || inst.illegal_operand || may_index_registers(inst)) {
            node.opaque = true;
            return;
        }
        at += inst.size;
        code = code.subspan(inst.size / 4);
        node.others |= depends_on_others(inst) || is_coherent(inst);
        if (t.flow == Flow::End) {
            node.opaque = keep_at_end_;
            return;
        }
        node.code.push_back(effect_of(inst));
        if (t.flow == Flow::Goto || t.flow == Flow::Branch) {
            node.next[node.next_count++] = branch_target(inst, at);
            if (t.flow == Flow::Branch) node.next[node.next_count++] = at;
            return;
        }
    }
}

const LiveSet& Liveness::use(const Known& known) {
    if (read_) {
        const std::vector<uint64_t>& from = origins_[known.origin];
        read_->insert(read_->end(), from.begin(), from.end());
    }
    return known.live;
}

const LiveSet& Liveness::at(uint64_t pc) {
    if (auto it = known_.find(pc); it != known_.end()) return use(it->second);
    if (known_.size() > max_known || origins_.size() > max_known) forget();
    const size_t read_before = read_ ? read_->size() : 0;
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
            if (auto it = known_.find(next); it != known_.end())
                use(it->second);
            else if (index.try_emplace(next, static_cast<uint32_t>(order.size())).second)
                order.push_back(next);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = nodes.size(); i-- > 0;) {
            Node& node = nodes[i];
            LiveSet out;
            if (node.opaque) out = LiveSet::all();
            out.others |= node.others;
            for (uint32_t k = 0; k < node.next_count; ++k) {
                const auto known = known_.find(node.next[k]);
                out |= known != known_.end() ? known->second.live : nodes[index[node.next[k]]].in;
            }
            for (size_t k = node.code.size(); k-- > 0;) step(node.code[k], out);
            if (out == node.in) continue;
            node.in = out;
            changed = true;
        }
    }
    std::vector<uint64_t> origin;
    if (read_) {
        origin.assign(read_->begin() + static_cast<ptrdiff_t>(read_before), read_->end());
        std::sort(origin.begin(), origin.end());
        origin.erase(std::unique(origin.begin(), origin.end()), origin.end());
        read_->resize(read_before);
        read_->insert(read_->end(), origin.begin(), origin.end());
    }
    origins_.push_back(std::move(origin));
    for (size_t i = 0; i < nodes.size(); ++i)
        if (i < max_nodes)
            known_.try_emplace(order[i],
                               Known{nodes[i].in, static_cast<uint32_t>(origins_.size() - 1)});
    return known_.at(pc).live;
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

RegisterUse register_use(const Target& target, const Inst& inst) {
    RegisterUse e;
    const Effects& t = effects(inst.op);
    const bool vector = inst.format >= Format::VOP1;
    auto add = [](const Operand& o, std::bitset<128>& scalars, std::bitset<512>& rows) {
        const bool agpr = o.is(Operand::Kind::Agpr);
        for (uint32_t d = 0; d < std::max<uint32_t>(o.dwords, 1); ++d) {
            const uint32_t r = o.reg + d + (agpr ? 256 : 0);
            if (o.is(Operand::Kind::Sgpr) && r < scalars.size()) scalars.set(r);
            if ((agpr || o.is(Operand::Kind::Vgpr)) && r < rows.size()) rows.set(r);
        }
    };
    auto mask = [&](std::bitset<128>& scalars, uint32_t r) {
        for (uint32_t end = r + target.traits.wave_size / 32; r < end; ++r) scalars.set(r);
    };
    for (const Operand& o : inst.src) {
        add(o, e.scalars_read, e.rows_read);
        if (o.is(Operand::Kind::Special) && o.reg == scc_operand) e.scc_read = true;
        if (o.is(Operand::Kind::Special) && o.reg == vccz) mask(e.scalars_read, machine::vcc_lo);
    }
    for (const Operand& o : inst.dst) add(o, e.scalars_written, e.rows_written);
    e.whole = writes_whole(inst);
    e.opaque = is_opaque(t) || inst.illegal_operand || t.writes_mode;
    e.scc_read |= t.reads_scc;
    e.scc_written = t.writes_scc;
    if (t.reads_vcc) mask(e.scalars_read, machine::vcc_lo);
    if (vector || t.reads_exec) mask(e.scalars_read, machine::exec_lo);
    if (t.reads_m0 || inst.lds) e.scalars_read.set(machine::m0);
    if (t.writes_m0) e.scalars_written.set(machine::m0);
    if (t.exec != ExecChange::None) mask(e.scalars_written, machine::exec_lo);
    if (!e.whole) {
        e.scalars_read |= e.scalars_written;
        e.rows_read |= e.rows_written;
    }
    return e;
}

}  // namespace wj::lift
