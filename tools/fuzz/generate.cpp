#include "tools/fuzz/generate.h"

#include <algorithm>
#include <array>

#include "frontend/decode.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "frontend/refused.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "machine/wave.h"
#include "tools/fuzz/encoding.h"
#include "tools/fuzz/registers.h"

namespace wj::fuzz {

uint32_t pick(Rng& rng, std::initializer_list<uint32_t> values) {
    return values.begin()[rng() % values.size()];
}
bool chance(Rng& rng, uint32_t percent) {
    return rng() % 100 < percent;
}

namespace {

// Instructions whose effect is time, other waves or the machine outside the program; control flow
// comes from program.cpp.
bool excluded(Opcode op, Format format) {
    if (format == Format::SOPP || format == Format::EXP || format == Format::VINTRP ||
        format == Format::MIMG || format == Format::VSAMPLE || format == Format::VINTERP ||
        format == Format::LDSDIR)
        return op != Opcode::s_nop;
    switch (op) {  // the results differ from run to run, or from place to place
        case Opcode::s_getpc_b64:
        case Opcode::s_memtime:
        case Opcode::s_memrealtime:
        case Opcode::s_get_shader_cycles_u64:
        case Opcode::s_dcache_discard:
        case Opcode::s_dcache_discard_x2:
        case Opcode::buffer_invl2:
            return true;
        default:
            break;
    }
    const Effects& e = effects(op);
    const EncodingInfo& encoding = encoding_info(op);
    return e.flow != Flow::Next || e.reads_mode || e.writes_mode || e.indexed || e.synchronises ||
           e.messages || e.invalidates || e.writes_back || encoding.probe || encoding.scratch ||
           encoding.interp;
}

Pool pool_of(Opcode op, Format format) {
    const MemoryAccess access = effects(op).access;
    if (format == Format::MUBUF || format == Format::MTBUF) return Pool::Buffer;
    if (format == Format::SMEM && access != MemoryAccess::Load) return Pool::Buffer;
    switch (access) {
        case MemoryAccess::None:
            return Pool::Alu;
        case MemoryAccess::Load:
            return Pool::Load;
        case MemoryAccess::Store:
            return Pool::Store;
        case MemoryAccess::Atomic:
            break;
    }
    return Pool::Atomic;
}

uint32_t any_vgpr(Rng& rng) {
    return static_cast<uint32_t>(rng() % vgprs);
}
uint32_t free_vgpr(Rng& rng) {
    return first_free_vgpr + static_cast<uint32_t>(rng() % (end_free_vgpr - first_free_vgpr));
}
uint32_t free_sgpr(Rng& rng) {
    return first_free_sgpr + static_cast<uint32_t>(rng() % (end_free_sgpr - first_free_sgpr));
}

uint32_t scalar_source(Rng& rng, bool literal) {
    const uint32_t r = rng() % 100;
    if (r < 55) return static_cast<uint32_t>(rng() % end_free_sgpr);
    if (r < 60) return static_cast<uint32_t>(rng() % sgprs);
    if (r < 65) return pick(rng, {106, 107, 124, 126, 127});
    if (r < 75) return pick(rng, {251, 252, 253});
    if (literal && r < 80) return 255;
    return r < 90 ? 128 + static_cast<uint32_t>(rng() % 81)
                  : 240 + static_cast<uint32_t>(rng() % 9);
}

uint32_t vector_source(Rng& rng, bool literal) {
    return chance(rng, 65) ? 256 + any_vgpr(rng) : scalar_source(rng, literal);
}

uint32_t scalar_destination(Rng& rng) {
    return chance(rng, 80) ? free_sgpr(rng) : pick(rng, {106, 107, 124, 126});
}

uint32_t literal(Rng& rng) {
    return chance(rng, 50) ? static_cast<uint32_t>(rng())
                           : pick(rng, {0x3f800000, 0x7f800000, 0x7fc00001, 0x7f800001, 0x00000001,
                                        0x80000000, 0x007fffff, 0xff7fffff, 31, 0x40490fdb});
}

uint32_t dpp_control(Rng& rng, const Target& target) {
    if (chance(rng, 40)) return static_cast<uint32_t>(rng() % 256);
    if (target.traits.row_share)
        return pick(rng, {0x101, 0x10f, 0x113, 0x11f, 0x121, 0x12e, 0x140, 0x141, 0x150, 0x15a,
                          0x161, 0x16f});
    return pick(rng, {0x101, 0x10f, 0x113, 0x11f, 0x121, 0x12e, 0x130, 0x134, 0x138, 0x13c, 0x140,
                      0x141, 0x142, 0x143, 0x155});
}

// The dword that says what lanes or bits of a register source 0 is.
uint32_t suffix_word(Rng& rng, const Target& target, Suffix suffix) {
    Encoding e(find_layout(target.family, suffix));
    const auto bits = static_cast<uint32_t>(rng());
    e.set(Field::src0, any_vgpr(rng));
    if (suffix == Suffix::Dpp8) return e.set(Field::lanes, bits).words()[0];
    if (suffix == Suffix::Dpp) {
        e.set(Field::dpp_ctrl, dpp_control(rng, target)).set(Field::bound_ctrl, bits);
        e.set(Field::fi, bits >> 1);
        if (chance(rng, 30)) e.set(Field::modifiers0, bits >> 2).set(Field::modifiers1, bits >> 4);
        const bool all = chance(rng, 60);
        e.set(Field::row_mask, all ? 15 : bits >> 6).set(Field::bank_mask, all ? 15 : bits >> 10);
        return e.words()[0];
    }
    uint32_t extra = bits & 0xffffff00;
    if (!chance(rng, 30)) extra &= 0x07070707u | 0xff00u;  // few modifiers
    return extra | e.words()[0];
}

// Vector formats whose source 0 may be a code for SDWA (249), DPP (250) or DPP8 (233, 234).
void add_src0(Encoding& e, Rng& rng, const Target& target, bool literals) {
    const uint32_t r = rng() % 100;
    const bool dpp8 = r >= 95 && has_layout(target.family, Suffix::Dpp8);
    if (r < 75 || !has_layout(target.family, Suffix::Dpp) ||
        (r < 90 && !has_layout(target.family, Suffix::Sdwa))) {
        const uint32_t src = vector_source(rng, literals);
        e.set(Field::src0, src);
        if (src == 255) e.append(literal(rng));
        return;
    }
    e.set(Field::src0, r < 90 ? 249u : dpp8 ? 233 + (r & 1) : 250u);
    e.append(suffix_word(rng, target, r < 90 ? Suffix::Sdwa : dpp8 ? Suffix::Dpp8 : Suffix::Dpp));
}

void encode_flat(Encoding& e, Opcode op, Format format, const ScalarRegisters& registers,
                 Rng& rng) {
    const auto bits = [&] { return static_cast<uint32_t>(rng()); };
    const bool global = format == Format::GLOBAL, flat = format == Format::FLAT;
    const bool scalar = !flat && chance(rng, 40), returns = chance(rng, 40);
    uint32_t offset = chance(rng, 40) ? 0 : bits() & 0xff;
    if (chance(rng, 70)) offset &= ~3u;
    if (pool_of(op, format) == Pool::Atomic && chance(rng, 97)) offset &= ~7u;
    if (global && chance(rng, 20)) offset = 0u - offset;
    e.set(Field::offset, offset).set(Field::glc, returns);
    const MemoryAccess access = effects(op).access;
    if (access == MemoryAccess::Atomic) e.set(Field::th, returns);
    uint32_t vaddr = pick(rng, {v_global_a, v_global_a, v_global_b});
    if (flat && chance(rng, 70)) vaddr = v_flat;
    if (format == Format::SCRATCH) vaddr = pick(rng, {v_scratch_a, v_scratch_b});
    if (global && scalar) vaddr = v_offset;
    const uint32_t none = registers.has_null ? registers.null : 0x7f;
    const bool no_field = flat && !registers.has_null;
    e.set(Field::saddr, no_field ? 0 : !scalar ? none : global ? s_global : s_offset);
    if (format == Format::SCRATCH) e.set(Field::sve, bits());
    e.set(Field::addr, vaddr);
    if (!flat && scalar && e.has(Field::scale)) e.set(Field::scale, chance(rng, 20));
    // Fields without a meaning must be zero.
    if (access != MemoryAccess::Load) e.set(Field::data0, any_vgpr(rng));
    if (op_info(op).dst_count != 0 && !(op_info(op).returns_if_glc && !returns))
        e.set(Field::vdst, free_vgpr(rng));
}

// Fields of operands that the instruction does not have must be zero.
void encode_ds_operands(Encoding& e, const OpInfo& info, Rng& rng) {
    const bool has_address = info.src_count && info.src[0] == Type::addr;
    const unsigned data = info.src_count - has_address;
    if (has_address) e.set(Field::addr, pick(rng, {v_lds_a, v_lds_a, v_lds_b}));
    if (data > 0) e.set(Field::data0, any_vgpr(rng));
    if (data > 1) e.set(Field::data1, any_vgpr(rng));
    if (info.dst_count) e.set(Field::vdst, free_vgpr(rng));
}

// VOPD3: the second operation is any.
void encode_dual3(Encoding& e, const OpInfo& x, Family family, Rng& rng) {
    const auto code =
        static_cast<uint32_t>(rng() % format_slots[static_cast<size_t>(Format::VOPD3)]);
    const Opcode second =
        opcode_slots[static_cast<size_t>(family)][format_base(Format::VOPD3) + code];
    e.set(Field::op_y, code);
    struct Half {
        const OpInfo& info;
        Field src0, vsrc1, vsrc2, vdst;
    };
    const Half halves[] = {
        {x, Field::src0, Field::vsrc1, Field::vsrc2, Field::vdst},
        {op_info(second), Field::src0_y, Field::vsrc1_y, Field::vsrc2_y, Field::vdst_y}};
    for (const Half& half : halves) {
        e.set(half.vdst, free_vgpr(rng)).set(half.src0, vector_source(rng, false));
        if (half.info.src_count > 1) e.set(half.vsrc1, any_vgpr(rng));
        if (half.info.src_count > 2)
            e.set(half.vsrc2,
                  half.info.src[2] == Type::mask ? pick(rng, {4, 20, 106}) : any_vgpr(rng));
    }
    if (chance(rng, 30)) e.set(Field::neg, static_cast<uint32_t>(rng()));
}

void encode_buffer(Encoding& e, Opcode op, uint32_t null, Rng& rng) {
    const auto bits = [&] { return static_cast<uint32_t>(rng()); };
    const uint32_t mode = static_cast<uint32_t>(rng() % 4);  // offen | idxen << 1
    e.set(Field::offen, mode).set(Field::idxen, mode >> 1);
    e.set(Field::dfmt, bits()).set(Field::nfmt, bits()).set(Field::format, bits() % 80);
    e.set(Field::offset, bits() & (chance(rng, 70) ? 0xfc : 0xff));
    const bool returns = chance(rng, 40);
    e.set(Field::glc, returns);
    if (effects(op).access == MemoryAccess::Atomic) e.set(Field::th, returns);
    e.set(Field::addr, mode & 2 ? v_index : v_offset);
    const OpInfo& info = op_info(op);
    if (info.dst_count || info.returns_if_glc)
        e.set(Field::vdst, free_vgpr(rng));
    else if (info.src_count)
        e.set(Field::vdst, any_vgpr(rng));
    const uint32_t v_sharp = s_buffer + 4 * (bits() & 1);
    e.set(Field::srsrc, v_sharp / 4).set(Field::rsrc, v_sharp);
    e.set(Field::soffset,
          e.has(Field::rsrc) ? pick(rng, {null, s_offset}) : pick(rng, {128, 128, s_offset, 132}));
}

bool writes_exec(const Inst& inst) {
    if (effects(inst.op).exec != ExecChange::None) return true;
    for (const Operand& o : inst.dst)
        if (o.is(Operand::Kind::Sgpr) && o.reg >= machine::exec_lo) return true;
    return false;
}

}  // namespace

Generator::Generator(const Target& target, const std::vector<std::string>& names, bool hostile)
    : target_(target), hostile_(hostile), codes_(opcode_count) {
    auto wanted = [&](Opcode op) {
        return names.empty() || std::any_of(names.begin(), names.end(), [&](const auto& n) {
                   return op_info(op).name.find(n) != std::string_view::npos;
               });
    };
    // The slots of the target's column say which rows it has, and under which code.
    const auto& slots = opcode_slots[static_cast<size_t>(target.family)];
    for (size_t f = 0; f < format_slots.size(); ++f) {
        const auto format = static_cast<Format>(f);
        for (uint32_t code = 0; code < format_slots[f]; ++code) {
            const Opcode op = slots[format_base(format) + code];
            if (op == Opcode::invalid) continue;
            const Format own = op_info(op).format;
            if (own == format || !has(op)) codes_[static_cast<size_t>(op)] = {code, format};
            if (excluded(op, own)) continue;
            const Row row{op, format, code};
            const Pool pool = pool_of(op, format);
            if (pool == Pool::Alu && !wanted(op)) continue;
            rows_[static_cast<size_t>(pool)].push_back(row);
            // A few tries tell whether the lifter knows the row at all.
            Rng rng(code);
            for (uint32_t i = 0; i < 20; ++i) {
                const auto inst = try_row(row, rng);
                if (!inst || !simple(*inst)) continue;
                rows_[static_cast<size_t>(Pool::Simple)].push_back(row);
                break;
            }
        }
    }
    auto& simple = rows_[static_cast<size_t>(Pool::Simple)];
    if (simple.empty()) simple = rows_[static_cast<size_t>(Pool::Alu)];
}

bool Generator::simple(const Inst& inst) const {
    if (inst.format != Format::VOP1 && inst.format != Format::VOP2 && inst.format != Format::VOP3 &&
        inst.format != Format::VOP3P && inst.format != Format::VOPD)
        return false;
    for (const Operand& o : inst.dst)
        if (o.present() && !o.is(Operand::Kind::Vgpr)) return false;
    lift::Options options;
    options.target = &target_;
    options.mode = 0x3f0;
    options.vgpr_count = vgprs;
    options.agpr_count = target_.traits.has_agprs ? agprs : 0;
    options.handler = &interp::handler;
    lift::InstStore store;
    std::array<uint32_t, 5> code;
    code.fill(end_of_program(target_));
    std::copy_n(inst.words.begin(), inst.size / 4, code.begin());
    const auto fetch = [&](uint64_t pc) {
        return std::span<const uint32_t>(code).subspan((pc - 0x1000) / 4);
    };
    return lift::lift_block(options, 0x1000, fetch, store).calls.empty();
}

std::vector<std::string_view> Generator::missing() const {
    std::vector<std::string_view> names;
    for (const std::vector<Row>& pool : rows_)
        for (const Row& row : pool) {
            Rng rng(row.code);
            bool made = false;
            for (uint32_t tries = 0; tries < 5000 && !made; ++tries)
                made = try_row(row, rng).has_value();
            if (!made) names.push_back(op_info(row.op).name);
        }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<uint32_t> Generator::encode(const Row& row, Rng& rng) const {
    const auto bits = [&] { return static_cast<uint32_t>(rng()); };
    Encoding e(target_.family, row.format, row.code);
    const OpInfo& info = op_info(row.op);
    switch (row.format) {
        case Format::SOP2:
        case Format::SOPC:
        case Format::SOP1: {
            const uint32_t src = scalar_source(rng, true);
            e.set(row.format == Format::SOPC ? Field::ssrc1 : Field::ssrc0, src);
            if (row.format != Format::SOP1)
                e.set(row.format == Format::SOPC ? Field::ssrc0 : Field::ssrc1,
                      scalar_source(rng, false));
            e.set(Field::sdst, scalar_destination(rng));
            e.append(literal(rng));  // dropped by the decoder's size where there is none
            break;
        }
        case Format::SOPK:
            e.set(Field::sdst, scalar_destination(rng)).set(Field::simm, bits());
            break;
        case Format::SMEM: {  // loads: the buffer's address or a V#; immediate or SGPR offset
            const bool buffer = encoding_info(row.op).v_sharp;
            const uint32_t base =
                buffer ? s_buffer + 4 * (bits() & 1) : pick(rng, {s_global, s_global_b});
            const bool imm = chance(rng, 70);
            e.set(Field::sdst, free_sgpr(rng)).set(Field::sbase, base / 2);
            e.set(Field::imm, imm);
            const uint32_t number = bits() & (chance(rng, 90) ? 0xffc : 0xfff);
            if (e.has(Field::soffset) && !e.has(Field::soffset_en))
                e.set(Field::offset, imm ? number : 0)
                    .set(Field::soffset, imm ? target_.traits.scalar_registers.null : s_offset);
            else
                e.set(Field::offset, imm ? number : s_offset);
            if (!imm && e.has(Field::scale)) e.set(Field::scale, chance(rng, 20));
            break;
        }
        case Format::VOP2:
        case Format::VOP1:
        case Format::VOPC:
            e.set(Field::vdst, free_vgpr(rng)).set(Field::vsrc1, any_vgpr(rng));
            if (target_.traits.true16 && chance(rng, 30)) {  // halves, where operands have any
                const uint32_t half = bits() & 3;
                e.set(Field::vdst, free_vgpr(rng) | (half & 1) << 7);
                e.set(Field::vsrc1, any_vgpr(rng) | half >> 1 << 7);
            }
            add_src0(e, rng, target_, true);
            if (target_.traits.true16 && chance(rng, 15))
                e.set(Field::src0, 256 | 128 | any_vgpr(rng));
            e.append(literal(rng));  // v_madmk and friends; dropped by the decoder's size
            e.append(literal(rng));  // of 64 bits
            break;
        case Format::VOP3: {
            e.set(Field::vdst, free_vgpr(rng));
            if (info.dst_count == 2)
                e.set(Field::sdst, scalar_destination(rng));
            else if (chance(rng, 35))
                e.set(Field::abs, bits()).set(Field::op_sel, bits()).set(Field::clamp, bits());
            if (info.dst[0] == Type::mask || info.dst[0] == Type::sb32)
                e.set(Field::vdst, scalar_destination(rng));
            const Field sources[] = {Field::src0, Field::src1, Field::src2};
            for (unsigned n = 0; n < 3 && n < info.src_count; ++n)
                e.set(sources[n], vector_source(rng, target_.traits.vop3_literals));
            if (chance(rng, 30)) e.set(Field::neg, bits()).set(Field::omod, bits());
            if (target_.traits.vop3_dpp && chance(rng, 15)) {
                const bool dpp8 = chance(rng, 50);
                e.set(Field::src0, dpp8 ? 233 + (bits() & 1) : 250);
                e.set(Field::src1, 256 | any_vgpr(rng));
                e.append(suffix_word(rng, target_, dpp8 ? Suffix::Dpp8 : Suffix::Dpp));
            }
            e.append(literal(rng));
            break;
        }
        case Format::VOP3P: {
            e.set(Field::vdst, free_vgpr(rng));
            if (chance(rng, 40))
                e.set(Field::neg_hi, bits()).set(Field::op_sel, bits()).set(Field::clamp, bits());
            const bool plain = chance(rng, 60);
            e.set(Field::op_sel_hi2, plain ? 1 : bits());
            e.set(Field::op_sel_hi, plain ? 3 : bits());
            const Field sources[] = {Field::src0, Field::src1, Field::src2};
            for (unsigned n = 0; n < 3 && n < info.src_count; ++n)
                e.set(sources[n], vector_source(rng, target_.traits.vop3_literals));
            if (!plain) e.set(Field::neg, bits());
            e.append(literal(rng));
            break;
        }
        case Format::VOPD: {  // the second operation is any
            e.set(Field::op_y, bits());
            e.set(Field::vdst, free_vgpr(rng)).set(Field::vdst_y, free_vgpr(rng) >> 1);
            const uint32_t src = vector_source(rng, true);
            e.set(Field::src0, src).set(Field::src0_y, chance(rng, 30) ? src : 256 | any_vgpr(rng));
            e.set(Field::vsrc1, any_vgpr(rng));
            if (!chance(rng, 20)) e.set(Field::vsrc1_y, any_vgpr(rng));
            e.append(literal(rng));
            break;
        }
        case Format::VOPD3:
            encode_dual3(e, info, target_.family, rng);
            break;
        case Format::DS:
            e.set(Field::offset0, bits() & pick(rng, {0, 0x0f, 0xff, 0xf8}));
            e.set(Field::offset1, bits() & pick(rng, {0, 0x0f}));
            if (pool_of(row.op, row.format) == Pool::Atomic && chance(rng, 97))
                e.set(Field::offset0, bits() & 0xf8);
            encode_ds_operands(e, info, rng);
            break;
        case Format::FLAT:
        case Format::GLOBAL:
        case Format::SCRATCH:
            encode_flat(e, row.op, row.format, target_.traits.scalar_registers, rng);
            break;
        case Format::MUBUF:
        case Format::MTBUF:
            encode_buffer(e, row.op, target_.traits.scalar_registers.null, rng);
            break;
        default:
            break;
    }
    return e.words();
}

bool Generator::acceptable(const Inst& inst) const {
    if (inst.illegal_operand || inst.gds) return false;
    auto fits = [this](const Operand& o, bool destination) {
        const uint32_t end = o.reg + std::max<uint32_t>(o.dwords, 1);
        switch (o.kind) {
            case Operand::Kind::Vgpr:
                return destination
                           ? o.reg >= (hostile_ ? 0 : first_free_vgpr) && end <= end_free_vgpr
                           : end <= vgprs;
            case Operand::Kind::Agpr:
                return end <= agprs;
            case Operand::Kind::Sgpr: {
                const bool written = destination && !(hostile_ && o.reg >= s_buffer);
                if (o.reg >= machine::vcc_lo)
                    return end <= 108 || o.reg == machine::m0 ||
                           (o.reg >= machine::exec_lo && end <= 128);
                return written ? o.reg >= (hostile_ ? 0 : first_free_sgpr) && end <= end_free_sgpr
                               : end <= sgprs;
            }
            case Operand::Kind::Special:
                return o.reg == 125 || (o.reg >= 251 && o.reg <= 253);
            default:
                return true;
        }
    };
    for (const Operand& o : inst.dst)
        if (!fits(o, true)) return false;
    for (const Operand& o : inst.src)
        if (!fits(o, false)) return false;
    // These write their sources.
    if (inst.op == Opcode::v_swap_b32 || inst.op == Opcode::v_swap_b16 ||
        inst.op == Opcode::v_permlane16_swap_b32 || inst.op == Opcode::v_permlane32_swap_b32)
        return fits(inst.src[0], true);
    return true;
}

std::optional<Inst> Generator::try_row(const Row& row, Rng& rng) const {
    std::vector<uint32_t> words = encode(row, rng);
    if (hostile_ && !words.empty() && chance(rng, 50))  // other registers, offsets, even operations
        for (uint64_t n = 1 + rng() % 3; n; --n) words[rng() % words.size()] ^= 1u << rng() % 32;
    Inst inst;
    if (!decode(target_, words, inst) || excluded(inst.op, inst.format) || !acceptable(inst) ||
        refused_operand(target_.traits, inst))
        return std::nullopt;
    return inst;
}

Inst Generator::instruction(Rng& rng, Pool pool, bool keep_exec) const {
    if (rows_[static_cast<size_t>(pool)].empty()) pool = Pool::Alu;
    for (uint32_t tries = 0;; ++tries) {
        if (tries == 1000) pool = Pool::Load;  // the rows that were asked for do not fit
        const std::vector<Row>& rows = rows_[static_cast<size_t>(pool)];
        const auto inst = try_row(rows[rng() % rows.size()], rng);
        if (!inst || (keep_exec && writes_exec(*inst))) continue;
        if (pool == Pool::Simple && !simple(*inst)) continue;
        return *inst;
    }
}

}  // namespace wj::fuzz
