// What follows from results that hardware may have otherwise in their last bits (coverage.h): lane
// by lane, whatever the bits. Addresses, branches and EXEC that go by such a value are findings.
// What goes through memory is forgotten; divisions are exact, whatever their approximation is.
#include <algorithm>

#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "interpreter/check_parts.h"
#include "interpreter/coverage.h"
#include "memory/fault_reasons.h"

namespace wj::interp {
namespace {

using machine::RegisterShadow;

constexpr uint64_t all_lanes = ~uint64_t{0};

bool is_inexact(Opcode op) {
    static const std::vector<bool> table = [] {
        std::vector<bool> inexact(opcode_count);
        for (size_t i = 1; i < opcode_count; i++)
            inexact[i] = coverage(static_cast<Opcode>(i)).last_bits;
        // Of divisions of integers, which mend it.
        inexact[static_cast<size_t>(Opcode::v_rcp_iflag_f32)] = false;
        return inexact;
    }();
    return table[static_cast<size_t>(op)];
}

// The last step of a division, which rounds once.
bool ends_division(Opcode op) {
    constexpr Opcode ops[] = {Opcode::v_div_fixup_f16, Opcode::v_div_fixup_f32,
                              Opcode::v_div_fixup_f64};
    return std::ranges::find(ops, op) != std::end(ops);
}

// A lane's result is made of other lanes' values.
bool mixes_lanes(const Inst& inst) {
    return effects(inst.op).across || is_dpp(inst.variant) || inst.format == Format::DS ||
           is_matrix(encoding_info(inst.op).packed);
}

uint32_t dwords_of(const Operand& o) {
    return o.dwords ? o.dwords : 1u;
}

}  // namespace

InexactCheck::InexactCheck(Wave& w, const Inst& inst) : w_(w), inst_(inst), exec_(w.exec()) {
    if (!shadow_of(w) || !(w.ctx->checks & machine::check_inexact)) return;
    shadow_ = &registers_of(w);
    const Effects& e = effects(inst.op);
    if (e.access != MemoryAccess::None) {
        for (const Operand& o : {inst.vaddr(), inst.sbase(), inst.soffset()})
            tell(o, exec_, memory::inexact_address);
        return;
    }
    for (const Operand& o : inst.src) from_ |= lanes_of(o);
    for (const Operand& o : inst.dst)
        if (e.partial) from_ |= lanes_of(o);
    if (e.reads_scc && shadow_->scc) from_ = all_lanes;
    if (e.reads_vcc && (shadow_->scalars[machine::vcc_lo] | shadow_->scalars[machine::vcc_lo + 1]))
        from_ = all_lanes;
    if (!from_) return;
    if (mixes_lanes(inst)) from_ = all_lanes;
    if (e.flow == Flow::Branch || e.flow == Flow::Jump || e.flow == Flow::Call)
        tell_of_condition(memory::inexact_condition);
    else if (e.exec != ExecChange::None)
        tell_of_condition(memory::inexact_lanes);
}

uint32_t InexactCheck::row_of(const Operand& o, uint32_t dword) const {
    const bool vector = o.is(Operand::Kind::Vgpr) || o.is(Operand::Kind::Agpr);
    const uint32_t row = o.reg + dword + (o.is(Operand::Kind::Agpr) ? w_.vgpr_count : 0);
    return vector && row < shadow_->any.size() ? row : no_row;
}

// In which an operand follows from an inexact result. Of masks a bit is a lane's.
uint64_t InexactCheck::lanes_of(const Operand& o) const {
    uint64_t found = 0;
    for (uint32_t d = 0; d < dwords_of(o); d++) {
        if (const uint32_t row = row_of(o, d); row != no_row) found |= shadow_->any[row];
        if (!o.is(Operand::Kind::Sgpr)) continue;
        const uint64_t bits = shadow_->scalars[(o.reg + d) & 127];
        found |= o.type == Type::mask ? bits << 32 * (d & 1) : bits ? all_lanes : 0;
    }
    return found;
}

void InexactCheck::tell(const Operand& o, uint64_t where, const char* what) const {
    const bool scalar = o.is(Operand::Kind::Sgpr);
    const uint64_t lanes = o.present() ? lanes_of(o) & (scalar ? all_lanes : where) : 0;
    if (!lanes) return;
    report(w_, inst_,
           {.check = machine::check_inexact,
            .what = what,
            .lanes = scalar ? 0 : lanes,
            .file = scalar                      ? 's'
                    : o.is(Operand::Kind::Agpr) ? 'a'
                                                : 'v',
            .reg = o.reg});
}

void InexactCheck::tell_of_condition(const char* what) const {
    const Effects& e = effects(inst_.op);
    for (const Operand& o : inst_.src) tell(o, exec_, what);
    const auto implied = [&](uint32_t reg) {
        report(w_, inst_, {.check = machine::check_inexact, .what = what, .file = 's', .reg = reg});
    };
    constexpr uint32_t scc = 253;  // as operands have it
    if (e.reads_scc && shadow_->scc) implied(scc);
    if (e.reads_vcc && (shadow_->scalars[machine::vcc_lo] | shadow_->scalars[machine::vcc_lo + 1]))
        implied(machine::vcc_lo);
}

void InexactCheck::settle() {
    if (!shadow_) return;
    const Effects& e = effects(inst_.op);
    // What EXEC was is no less certain than it is.
    const uint64_t from = is_inexact(inst_.op)                                    ? all_lanes
                          : ends_division(inst_.op) || e.exec != ExecChange::None ? 0
                                                                                  : from_;
    for (const Operand& o : inst_.dst)
        for (uint32_t d = 0; d < dwords_of(o); d++) write(o, d, from);
    if (e.writes_scc) shadow_->scc = from != 0;
    shadow_->scalars[machine::exec_lo] = shadow_->scalars[machine::exec_lo + 1] = 0;
}

void InexactCheck::write(const Operand& o, uint32_t dword, uint64_t from) {
    if (const uint32_t row = row_of(o, dword); row != no_row) {
        const uint64_t where = effects(inst_.op).unmasked ? all_lanes : exec_;
        shadow_->any[row] = (shadow_->any[row] & ~where) | (from & where);
    }
    if (!o.is(Operand::Kind::Sgpr)) return;
    uint32_t& bits = shadow_->scalars[(o.reg + dword) & 127];
    if (o.type == Type::mask)
        bits = static_cast<uint32_t>((from & exec_) >> 32 * (dword & 1));
    else
        bits = from ? ~0u : 0;
}

}  // namespace wj::interp
