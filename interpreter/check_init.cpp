// Which bits of registers and of scratch memory have been written. What arithmetic makes of others
// is found out by trying: the instruction runs once with all of them 0 and once with all of them 1,
// and those bits of its results that differ have no value either. So copies, selections and masks
// are no findings; addresses, branches, EXEC and stores to global memory are. A store of what was
// loaded from there is a copy, too: the bits are unwritten where it leads.
#include <algorithm>
#include <utility>

#include "frontend/effects.h"
#include "interpreter/check_parts.h"
#include "interpreter/spots.h"
#include "memory/fault_reasons.h"

namespace wj::interp {

using machine::RegisterShadow;

namespace {

uint32_t row_of(const Wave& w, const Operand& o, uint32_t dword) {
    return o.reg + dword + (o.kind == Operand::Kind::Agpr ? w.vgpr_count : 0);
}
uint32_t* values_of(Wave& w, uint32_t row) {
    return row < w.vgpr_count ? w.row(row) : w.arow(row - w.vgpr_count);
}
uint32_t dwords_of(const Operand& o) {
    return o.dwords ? o.dwords : 1u;
}

void set_row(RegisterShadow& shadow, uint32_t row, const uint32_t* bits, uint64_t where) {
    if (row >= shadow.any.size()) return;
    write_row(shadow.row(row), bits, where);
    uint64_t any = 0;
    for (uint32_t lane = 0; lane < lanes; lane++)
        any |= uint64_t{shadow.row(row)[lane] != 0} << lane;
    shadow.any[row] = any;
}

// Lanes in which bits of the row, of those in `of`, have no value.
uint64_t unwritten(RegisterShadow& shadow, uint32_t row, uint64_t where, uint32_t of = ~0u) {
    uint64_t found = 0;
    if (row >= shadow.any.size()) return 0;
    for_each_lane(where & shadow.any[row], [&](uint32_t lane) {
        if (shadow.row(row)[lane] & of) found |= uint64_t{1} << lane;
    });
    return found;
}

// Tells of a register's use, and takes it for written from here on: one finding each.
class Use {
public:
    Use(Wave& w, const Inst& inst, const char* what) : w_(w), inst_(inst), what_(what) {}

    void of(const Operand& o, uint64_t where, uint32_t bits = ~0u) {
        for (uint32_t d = 0; d < dwords_of(o); d++) {
            if (is_vector(o)) row(o, d, where, bits);
            if (o.is(Operand::Kind::Sgpr)) scalar(o.reg + d);
        }
    }
    void scalar(uint32_t reg, uint32_t bits = ~0u) {
        uint32_t& now = registers_of(w_).scalars[reg & 127];
        if (!(now & bits)) return;
        now = 0;
        tell('s', reg, 0);
    }
    void scc() {
        if (std::exchange(registers_of(w_).scc, false)) tell('s', 253, 0);
    }

    // Copies of memory are none.
    void of_data(const Operand& o, uint64_t where, uint32_t bits) {
        const RegisterShadow& shadow = registers_of(w_);
        for (uint32_t d = 0; d < dwords_of(o) && is_vector(o); d++)
            if (const uint32_t r = row_of(w_, o, d); r < shadow.copied.size())
                row(o, d, where & ~shadow.copied[r], bits);
    }

private:
    void row(const Operand& o, uint32_t d, uint64_t where, uint32_t bits) {
        static constexpr uint32_t none[lanes] = {};
        RegisterShadow& shadow = registers_of(w_);
        const uint64_t found = unwritten(shadow, row_of(w_, o, d), where, bits);
        if (!found) return;
        set_row(shadow, row_of(w_, o, d), none, found);
        tell(o.kind == Operand::Kind::Agpr ? 'a' : 'v', o.reg + d, found);
    }
    void tell(char file, uint32_t reg, uint64_t where) {
        report(w_, inst_,
               {.check = machine::check_init,
                .what = what_,
                .lanes = where,
                .file = file,
                .reg = reg});
    }
    Wave& w_;
    const Inst& inst_;
    const char* const what_;
};

bool accesses_memory(const Inst& inst) {
    return effects(inst.op).access != MemoryAccess::None;
}

// Nothing but registers changes when it runs, so that it may run again.
bool may_be_tried(const Wave& w, const Inst& inst) {
    const Effects& e = effects(inst.op);
    if (e.flow != Flow::Next || e.writes_mode || e.indexed || e.opaque || e.synchronises ||
        e.messages || e.waits || accesses_memory(inst) ||
        w.mode & machine::mode::changes_vector_code)
        return false;
    switch (inst.format) {
        case Format::SOP1:
        case Format::SOP2:
        case Format::SOPK:
        case Format::SOPC:
        case Format::VOP1:
        case Format::VOP2:
        case Format::VOPC:
        case Format::VOP3:
        case Format::VOP3P:
        case Format::VOPD:
        case Format::DS:
            return true;
        default:
            return false;
    }
}

bool names_unwritten(const Wave& w, const RegisterShadow& shadow, const Operand& o,
                     uint64_t where = ~uint64_t{0}) {
    for (uint32_t d = 0; d < dwords_of(o); d++) {
        if (is_vector(o)) {
            const uint32_t row = row_of(w, o, d);
            if (row < shadow.any.size() && shadow.any[row] & where) return true;
        }
        if (o.is(Operand::Kind::Sgpr) && shadow.scalars[(o.reg + d) & 127]) return true;
    }
    return false;
}

bool touches_unwritten(const Wave& w, const RegisterShadow& shadow, const Inst& inst) {
    const auto names = [&](const Operand& o) { return names_unwritten(w, shadow, o); };
    if (std::ranges::any_of(inst.src, names) || std::ranges::any_of(inst.dst, names)) return true;
    const Effects& e = effects(inst.op);
    const auto& s = shadow.scalars;
    return (e.reads_vcc && (s[machine::vcc_lo] | s[machine::vcc_lo + 1])) ||
           ((e.reads_scc || e.writes_scc) && shadow.scc) || (e.reads_m0 && s[machine::m0]);
}

bool is_half(Type type) {
    return type == Type::b16 || type == Type::i16 || type == Type::u16 || type == Type::f16 ||
           type == Type::bf16;
}

// It makes whole registers, where lanes are on, of nothing but what has been written: no need to
// try it.
bool writes_over(const Wave& w, const RegisterShadow& shadow, const Inst& inst) {
    const Effects& e = effects(inst.op);
    const OpInfo& info = op_info(inst.op);
    const bool vector = inst.format == Format::VOP1 || inst.format == Format::VOP2 ||
                        inst.format == Format::VOPC || inst.format == Format::VOP3 ||
                        inst.format == Format::VOP3P;
    const bool scalar = inst.format == Format::SOP1 || inst.format == Format::SOP2 ||
                        inst.format == Format::SOPK || inst.format == Format::SOPC;
    if ((!vector && !scalar) || e.partial || e.across || e.unmasked || e.indexed || e.opaque ||
        e.reads_m0 || (e.reads_scc && shadow.scc) ||
        (e.reads_vcc && (shadow.scalars[machine::vcc_lo] | shadow.scalars[machine::vcc_lo + 1])) ||
        is_half(info.dst[0]) || (inst.op_sel && inst.format != Format::VOP3P) ||
        is_dpp(inst.variant) || inst.variant == Variant::Sdwa ||
        w.mode & machine::mode::changes_vector_code)
        return false;
    const uint64_t where = vector ? w.exec() : ~uint64_t{0};
    return std::ranges::none_of(inst.src,
                                [&](const Operand& o) {
                                    return o.is(Operand::Kind::Special) ||
                                           names_unwritten(w, shadow, o, where);
                                }) &&
           (scalar || std::ranges::none_of(inst.dst, [&](const Operand& o) {
                return o.is(Operand::Kind::Sgpr) && names_unwritten(w, shadow, o);
            }));
}

// Destinations of these are what their sources are.
bool is_copy(const Inst& inst) {
    constexpr Opcode ops[] = {
        Opcode::v_mov_b32,         Opcode::v_mov_b64,          Opcode::s_mov_b32,
        Opcode::s_mov_b64,         Opcode::v_accvgpr_read_b32, Opcode::v_accvgpr_write_b32,
        Opcode::v_accvgpr_mov_b32,
    };
    return std::ranges::find(ops, inst.op) != std::end(ops) && !is_dpp(inst.variant) &&
           inst.variant != Variant::Sdwa;
}

// Lanes in which a dword of a source is a copy of memory.
uint64_t copied_lanes(const Wave& w, const RegisterShadow& shadow, const Operand& o, uint32_t d) {
    if (o.is(Operand::Kind::Sgpr))
        return shadow.copied_scalars[(o.reg + d) & 127] ? ~uint64_t{0} : 0;
    const uint32_t row = is_vector(o) ? row_of(w, o, d) : ~0u;
    return row < shadow.copied.size() ? shadow.copied[row] : 0;
}

// Global memory has what the registers have: some bits that are copies, nothing else unwritten.
void store(Wave& w, const Inst& inst) {
    machine::UnwrittenMemory::Accesses accesses(*shadow_of(w)->dispatch->unwritten);
    constexpr uint32_t whole_element = 16;
    const RegisterShadow& shadow = registers_of(w);
    const bool known = !converts(inst) && is_vector(inst.vdata());
    const uint32_t shift = stores_high_half(inst.op) ? 2 : 0;
    const bool typed = converts(inst) && inst.format != Format::MTBUF;
    each_global(w, inst, typed ? whole_element : bytes_of(w, inst),
                [&](uint32_t lane, uint64_t address, uint32_t at, uint32_t bytes) {
                    uint64_t none = 0;
                    if (!known || bytes > 64) return accesses.write(address, bytes);
                    for (uint32_t b = 0; b < bytes; b++) {
                        const uint32_t from = at + b + shift,
                                       row = row_of(w, inst.vdata(), from / 4);
                        if (row < shadow.any.size() && shadow.any[row] >> lane & 1 &&
                            shadow.rows[size_t{row} * lanes + lane] >> from % 4 * 8 & 0xff)
                            none |= uint64_t{1} << b;
                    }
                    accesses.set(address, bytes, none);
                });
}

}  // namespace

void InitCheck::Later::add_row(uint32_t row) {
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
}

void InitCheck::Later::try_it(Wave& w, const Inst& inst) {
    const RegisterShadow& shadow = registers_of(w);
    const auto add = [&](const Operand& o) {
        for (uint32_t d = 0; d < dwords_of(o) && is_vector(o); d++)
            if (row_of(w, o, d) < shadow.any.size()) add_row(row_of(w, o, d));
    };
    for (const Operand& o : inst.src) add(o);
    for (const Operand& o : inst.dst) add(o);
    const size_t size = rows.size() * lanes;
    std::vector<uint32_t> before(size);
    bits.assign(size, 0);
    for (size_t i = 0; i < size; i++) before[i] = values_of(w, rows[i / lanes])[i % lanes];
    std::array<uint32_t, 128> sgpr;
    std::copy_n(w.sgpr, 128, sgpr.begin());
    // What a wave that has not written M0 reaches of the LDS does not follow from M0.
    const uint32_t scc_before = w.scc, lds_size = w.lds_size;
    std::array<bool, 2> stopped{};
    for (const uint32_t with : {0u, ~0u}) {
        for (size_t i = 0; i < size; i++) {
            const uint32_t none = shadow.rows[size_t{rows[i / lanes]} * lanes + i % lanes];
            values_of(w, rows[i / lanes])[i % lanes] = (before[i] & ~none) | (with & none);
        }
        for (uint32_t s = 0; s < 128; s++)
            w.sgpr[s] = (sgpr[s] & ~shadow.scalars[s]) | (with & shadow.scalars[s]);
        if (shadow.scc) w.scc = with & 1;
        handler(inst.op)(w, inst);
        stopped[with & 1] = w.exit.kind != ExitKind::None;
        for (size_t i = 0; i < size; i++) {
            uint32_t& now = values_of(w, rows[i / lanes])[i % lanes];
            bits[i] ^= std::exchange(now, before[i]);
        }
        for (uint32_t s = 0; s < 128; s++) scalars[s] ^= std::exchange(w.sgpr[s], sgpr[s]);
        scc ^= std::exchange(w.scc, scc_before) != 0;
        const uint64_t pc = w.exit.pc;
        w.exit = {};
        w.exit.pc = pc;
    }
    w.lds_size = lds_size;
    tried = !stopped[0] && !stopped[1];
}

// Of what a load puts into a lane's registers.
void InitCheck::Later::not_written(uint32_t lane, uint32_t byte) {
    const size_t at = size_t{byte / 4} * lanes + lane;
    if (at < bits.size()) bits[at] |= 0xffu << byte % 4 * 8;
}

void InitCheck::Later::look_at_scratch(Wave& w, const Inst& inst, uint64_t& global) {
    std::vector<uint64_t>& written = registers_of(w).scratch;
    const Access access = access_of(inst.op);
    uint32_t lane_before = lanes, at = 0;
    each_spot(w, inst, bytes_of(w, inst), [&](uint32_t lane, Spot spot, uint32_t bytes) {
        at = lane == lane_before ? at + bytes : 0;
        lane_before = lane;
        const uint64_t bit = uint64_t{1} << lane;
        if (spot.place == Place::Global) global |= bit;
        if (spot.place != Place::Scratch || !scratch_in_range(w, spot.address, bytes)) return;
        for (uint32_t b = 0; b < bytes; b++) {
            uint64_t& lanes_of_byte = written[spot.address + b];
            if (access != Access::Write && !(lanes_of_byte & bit)) not_written(lane, at + b);
            if (access != Access::Read) lanes_of_byte |= bit;
        }
    });
}

void InitCheck::Later::look_at_load(Wave& w, const Inst& inst) {
    machine::UnwrittenMemory& memory = *shadow_of(w)->dispatch->unwritten;
    if (!memory.any() || !loads_to_registers(inst)) return;
    machine::UnwrittenMemory::Accesses accesses(memory);
    const bool typed = converts(inst);
    each_global(w, inst, typed ? 1 : bytes_of(w, inst),
                [&](uint32_t lane, uint64_t address, uint32_t at, uint32_t bytes) {
                    const uint64_t none = accesses.unwritten(address, bytes);
                    if (!none) return;
                    copied |= uint64_t{!typed} << lane;
                    const uint32_t size = typed ? 4 * dwords_of(inst.dst[0]) : bytes;
                    for (uint32_t b = 0; b < size; b++)
                        if (typed || none >> b & 1) not_written(lane, at + b);
                });
}

InitCheck::InitCheck(Wave& w, const Inst& inst) : w_(w), inst_(inst) {
    if (!shadow_of(w) || !(w.ctx->checks & machine::check_init)) return;
    RegisterShadow& shadow = registers_of(w);
    if (!shadow.watches_bits) return;
    const Effects& e = effects(inst.op);
    if (accesses_memory(inst)) {
        access();
    } else if (e.flow == Flow::Branch || e.flow == Flow::Jump || e.flow == Flow::Call) {
        Use condition(w, inst, memory::unwritten_condition);
        if (e.reads_scc) condition.scc();
        if (e.reads_vcc)
            for (uint32_t r = 0; r < (w.size == lanes ? 2 : 1); r++)
                condition.scalar(machine::vcc_lo + r);
        for (const Operand& o : inst.src) condition.of(o, 0);
        if (inst.dst[0].present()) later_.emplace();  // of a call
    } else if (touches_unwritten(w, shadow, inst)) {
        later_.emplace();
        if (!writes_over(w, shadow, inst) && may_be_tried(w, inst)) later_->try_it(w, inst);
    }
}

void InitCheck::access() {
    later_.emplace();
    Use address(w_, inst_, memory::unwritten_address);
    const bool smem = inst_.format == Format::SMEM;
    if (!smem && !w_.exec()) return;
    if (!smem) address.of(inst_.vaddr(), w_.exec());
    address.of(inst_.sbase(), 0);
    address.of(inst_.soffset(), 0);
    later_->loads = access_of(inst_.op) == Access::Read;
    if (later_->loads) later_->bits.assign(size_t{dwords_of(inst_.dst[0])} * lanes, 0);
    uint64_t global = smem ? 1 : 0;
    if (inst_.format == Format::GLOBAL)
        global = w_.exec();
    else
        later_->look_at_scratch(w_, inst_, global);
    if (later_->loads) {
        if (global) later_->look_at_load(w_, inst_);
        return;
    }
    if (!global) return;
    // Of a byte or a word only so much is stored; either half of the register.
    const uint32_t bytes = bytes_of(w_, inst_);
    const uint32_t half = bytes < 4 ? (1u << 8 * bytes) - 1 : ~0u;
    Use data(w_, inst_, memory::unwritten_data);
    data.of_data(inst_.vdata(), global, stores_high_half(inst_.op) ? half << 16 : half);
    if (access_of(inst_.op) == Access::Write) store(w_, inst_);
}

// A dword of what a load has as its result; of d16 loads the other half is as it was, or 0.
void InitCheck::write_loaded(const Operand& o, uint32_t d) {
    RegisterShadow& shadow = registers_of(w_);
    const uint32_t* const bits = &later_->bits[size_t{d} * lanes];
    if (o.is(Operand::Kind::Sgpr)) {
        const uint32_t s = (o.reg + d) & 127;
        shadow.scalars[s] = bits[0];
        shadow.copied_scalars[s] = bits[0] != 0;
        return;
    }
    const uint32_t row = row_of(w_, o, d);
    if (!is_vector(o) || row >= shadow.any.size()) return;
    const bool high = loads_high_half(inst_.op), half = high || effects(inst_.op).partial;
    const uint32_t kept = !half || traits(w_).sramecc ? 0 : high ? 0xffffu : 0xffff0000u;
    uint32_t now[lanes];
    for (uint32_t lane = 0; lane < lanes; lane++)
        now[lane] = (shadow.row(row)[lane] & kept) | (high ? bits[lane] << 16 : bits[lane]);
    set_row(shadow, row, now, w_.exec());
    shadow.copied[row] = (shadow.copied[row] & ~w_.exec()) | (later_->copied & w_.exec());
}

// What the instruction writes is a copy of memory where its source is, else it is none.
void InitCheck::write_copied() {
    RegisterShadow& shadow = registers_of(w_);
    const bool copies = is_copy(inst_);
    for (const Operand& o : inst_.dst)
        for (uint32_t d = 0; d < dwords_of(o); d++) {
            const uint64_t from = copies ? copied_lanes(w_, shadow, inst_.src[0], d) : 0;
            if (o.is(Operand::Kind::Sgpr)) shadow.copied_scalars[(o.reg + d) & 127] = from & 1;
            const uint32_t row = is_vector(o) ? row_of(w_, o, d) : ~0u;
            if (row >= shadow.copied.size()) continue;
            const bool masked = copies && !effects(inst_.op).unmasked;
            const uint64_t where = masked ? w_.exec() : ~uint64_t{0};
            shadow.copied[row] = (shadow.copied[row] & ~where) | (from & where);
        }
}

void InitCheck::settle() {
    if (!later_) return;
    static constexpr uint32_t all_written[lanes] = {};
    RegisterShadow& shadow = registers_of(w_);
    if (!later_->loads) write_copied();
    if (later_->tried) {
        for (size_t i = 0; i < later_->rows.size(); i++)
            set_row(shadow, later_->rows[i], &later_->bits[i * lanes], wave64_exec);
        shadow.scalars = later_->scalars;
        shadow.scc = later_->scc;
        Use condition(w_, inst_, memory::unwritten_lanes);
        condition.scalar(machine::exec_lo);
        if (w_.size == lanes) condition.scalar(machine::exec_lo + 1);
        return;
    }
    for (const Operand& o : inst_.dst)
        for (uint32_t d = 0; d < dwords_of(o); d++) {
            if (later_->loads && &o == inst_.dst.begin()) {
                write_loaded(o, d);
                continue;
            }
            if (o.is(Operand::Kind::Sgpr)) shadow.scalars[(o.reg + d) & 127] = 0;
            if (is_vector(o)) set_row(shadow, row_of(w_, o, d), all_written, w_.exec());
        }
    if (effects(inst_.op).writes_scc) shadow.scc = false;
}

}  // namespace wj::interp
