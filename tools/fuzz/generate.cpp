#include "tools/fuzz/generate.h"

#include <algorithm>
#include <array>

#include "frontend/decode.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "machine/wave.h"
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
        format == Format::MIMG)
        return op != Opcode::s_nop;
    switch (op) {  // the results differ from run to run, or from place to place
        case Opcode::s_getpc_b64:
        case Opcode::s_memtime:
        case Opcode::s_memrealtime:
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
           e.invalidates || e.writes_back || encoding.probe || encoding.scratch || encoding.interp;
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

// 32-bit VALU formats whose src0 may be SDWA (249) or DPP (250).
void add_src0(std::vector<uint32_t>& words, Rng& rng) {
    const uint32_t r = rng() % 100;
    if (r < 75) {
        const uint32_t src = vector_source(rng, true);
        words[0] |= src;
        if (src == 255) words.push_back(literal(rng));
        return;
    }
    words[0] |= r < 90 ? 249u : 250u;
    uint32_t extra = static_cast<uint32_t>(rng()) & 0xffffff00;
    if (r >= 90) {
        const uint32_t ctrl =
            chance(rng, 40) ? static_cast<uint32_t>(rng() % 256)
                            : pick(rng, {0x101, 0x10f, 0x113, 0x11f, 0x121, 0x12e, 0x130, 0x134,
                                         0x138, 0x13c, 0x140, 0x141, 0x142, 0x143, 0x155});
        extra = ctrl << 8 | (static_cast<uint32_t>(rng()) & 0x00f80000) |
                (chance(rng, 60) ? 0xff000000 : static_cast<uint32_t>(rng()) & 0xff000000);
        if (!chance(rng, 30)) extra &= ~0x00f00000u;
    } else if (!chance(rng, 30)) {
        extra &= 0x07070707u | 0xff00u;  // few modifiers
    }
    words.push_back(extra | any_vgpr(rng));
}

// FLAT, GLOBAL, SCRATCH: fields without a meaning must be zero.
void drop_unused_data(std::vector<uint32_t>& w, Opcode op, bool glc) {
    const OpInfo& info = op_info(op);
    if (info.dst_count == 0 || (info.returns_if_glc && !glc)) w[1] &= 0x00ffffff;
    if (effects(op).access == MemoryAccess::Load) w[1] &= 0xffff00ff;
}

bool writes_exec(const Inst& inst) {
    if (effects(inst.op).exec != ExecChange::None) return true;
    for (const Operand& o : inst.dst)
        if (o.is(Operand::Kind::Sgpr) && o.reg >= machine::exec_lo) return true;
    return false;
}

}  // namespace

Generator::Generator(const Target& target, const std::vector<std::string>& names)
    : target_(target), codes_(opcode_count, absent) {
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
            if (own == format) codes_[static_cast<size_t>(op)] = code;
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
        inst.format != Format::VOP3P)
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
    code.fill(s_endpgm);
    std::copy_n(inst.words.begin(), inst.size / 4, code.begin());
    const auto fetch = [&](uint64_t pc) {
        return std::span<const uint32_t>(code).subspan((pc - 0x1000) / 4);
    };
    return lift::lift_block(options, 0x1000, fetch, store).calls.empty();
}

std::vector<uint32_t> Generator::encode(const Row& row, Rng& rng) const {
    const auto bits = [&] { return static_cast<uint32_t>(rng()); };
    std::vector<uint32_t> w{0};
    switch (row.format) {
        case Format::SOP2:
            w[0] = 0x80000000 | row.code << 23 | scalar_destination(rng) << 16 |
                   scalar_source(rng, true) << 8 | scalar_source(rng, false);
            if ((w[0] >> 8 & 0xff) == 255) w.push_back(literal(rng));
            break;
        case Format::SOP1:
            w[0] = 0xbe800000 | scalar_destination(rng) << 16 | row.code << 8 |
                   scalar_source(rng, true);
            if ((w[0] & 0xff) == 255) w.push_back(literal(rng));
            break;
        case Format::SOPC:
            w[0] = 0xbf000000 | row.code << 16 | scalar_source(rng, true) << 8 |
                   scalar_source(rng, false);
            if ((w[0] >> 8 & 0xff) == 255) w.push_back(literal(rng));
            break;
        case Format::SOPK:
            w[0] = 0xb0000000 | row.code << 23 | scalar_destination(rng) << 16 | (bits() & 0xffff);
            break;
        case Format::SOPP:
            w[0] = 0xbf800000 | row.code << 16;
            break;
        case Format::SMEM: {  // loads: the buffer's address or a V#; immediate or SGPR offset
            const bool buffer = encoding_info(row.op).v_sharp;
            const uint32_t base =
                buffer ? s_buffer + 4 * (bits() & 1) : pick(rng, {s_global, s_global_b});
            const bool imm = chance(rng, 70);
            w[0] =
                0xc0000000 | row.code << 18 | (imm ? 1u << 17 : 0) | free_sgpr(rng) << 6 | base / 2;
            w.push_back(imm ? bits() & (chance(rng, 90) ? 0xffc : 0xfff) : s_offset);
            break;
        }
        case Format::VOP2:
            w[0] = row.code << 25 | free_vgpr(rng) << 17 | any_vgpr(rng) << 9;
            add_src0(w, rng);
            if (w.size() == 1)
                w.push_back(literal(rng));  // v_madmk and friends; dropped by the decoder's size
            break;
        case Format::VOP1:
            w[0] = 0x7e000000 | free_vgpr(rng) << 17 | row.code << 9;
            add_src0(w, rng);
            break;
        case Format::VOPC:
            w[0] = 0x7c000000 | row.code << 17 | any_vgpr(rng) << 9;
            add_src0(w, rng);
            break;
        case Format::VOP3:
            w[0] = 0xd0000000 | row.code << 16 | free_vgpr(rng);
            if (chance(rng, 35))
                w[0] |= bits() & 0xff00;  // abs, op_sel, clamp (or sdst)
            else if (op_info(row.op).dst_count == 2)
                w[0] |= scalar_destination(rng) << 8;
            if (op_info(row.op).dst[0] == Type::mask || op_info(row.op).dst[0] == Type::sb32)
                w[0] = (w[0] & ~0xffu) | scalar_destination(rng);
            w.push_back(vector_source(rng, false) | vector_source(rng, false) << 9 |
                        vector_source(rng, false) << 18);
            if (op_info(row.op).src_count < 3) w[1] &= 0xf803ffff;
            if (op_info(row.op).src_count < 2) w[1] &= 0xf80001ff;
            if (chance(rng, 30)) w[1] |= bits() & 0xf8000000;
            break;
        case Format::VOP3P:
            w[0] = 0xd3800000 | row.code << 16 | free_vgpr(rng);
            w[0] |= chance(rng, 40) ? bits() & 0xff00 : 0x4000;
            w.push_back(vector_source(rng, false) | vector_source(rng, false) << 9 |
                        vector_source(rng, false) << 18);
            w[1] |= chance(rng, 40) ? bits() & 0xf8000000 : 0x18000000;
            if (op_info(row.op).src_count < 3) w[1] &= 0xf803ffff;
            break;
        case Format::DS:
            w[0] = 0xd8000000 | row.code << 17 | (bits() & pick(rng, {0, 0x0f0f, 0xff, 0xf8}));
            if (chance(rng, 4)) w[0] |= bits() & 0xffff;
            if (pool_of(row.op, row.format) == Pool::Atomic && chance(rng, 97)) w[0] &= ~7u;
            w.push_back(pick(rng, {v_lds_a, v_lds_a, v_lds_b}) | any_vgpr(rng) << 8 |
                        any_vgpr(rng) << 16 | free_vgpr(rng) << 24);
            if (chance(rng, 50)) w[1] &= 0xff00ffff;
            break;
        case Format::FLAT:
        case Format::GLOBAL:
        case Format::SCRATCH: {
            const uint32_t segment = row.format == Format::FLAT      ? 0
                                     : row.format == Format::SCRATCH ? 1
                                                                     : 2;
            const bool scalar = segment != 0 && chance(rng, 40);
            uint32_t offset = chance(rng, 40) ? 0 : bits() & 0xff;
            if (chance(rng, 70)) offset &= ~3u;
            if (pool_of(row.op, row.format) == Pool::Atomic && chance(rng, 97)) offset &= ~7u;
            if (segment == 2 && chance(rng, 20)) offset = (0u - offset) & 0x1fff;
            w[0] = 0xdc000000 | row.code << 18 | segment << 14 | offset |
                   (chance(rng, 40) ? 1u << 16 : 0);
            uint32_t vaddr = pick(rng, {v_global_a, v_global_a, v_global_b});
            if (segment == 0 && chance(rng, 70)) vaddr = v_flat;
            if (segment == 1) vaddr = pick(rng, {v_scratch_a, v_scratch_b});
            if (segment == 2 && scalar) vaddr = v_offset;
            const uint32_t saddr = segment == 0   ? 0
                                   : !scalar      ? 0x7f
                                   : segment == 1 ? s_offset
                                                  : s_global;
            w.push_back(vaddr | any_vgpr(rng) << 8 | saddr << 16 | free_vgpr(rng) << 24);
            drop_unused_data(w, row.op, w[0] >> 16 & 1);
            break;
        }
        case Format::MUBUF:
        case Format::MTBUF: {
            const uint32_t mode = static_cast<uint32_t>(rng() % 4);  // offen | idxen << 1
            w[0] = (row.format == Format::MUBUF
                        ? 0xe0000000 | row.code << 18
                        : 0xe8000000 | row.code << 15 | (bits() & 0x03f80000)) |
                   mode << 12 | (bits() & (chance(rng, 70) ? 0xfc : 0xff)) |
                   (chance(rng, 40) ? 1u << 14 : 0);
            w.push_back(
                (mode & 2 ? v_index : v_offset) |
                (op_info(row.op).dst_count || op_info(row.op).returns_if_glc ? free_vgpr(rng)
                                                                             : any_vgpr(rng))
                    << 8 |
                (s_buffer / 4 + (bits() & 1)) << 16 | pick(rng, {128, 128, s_offset, 132}) << 24);
            break;
        }
        default:
            break;
    }
    return w;
}

bool Generator::acceptable(const Inst& inst) const {
    if (inst.illegal_operand || inst.gds) return false;
    auto fits = [](const Operand& o, bool destination) {
        const uint32_t end = o.reg + std::max<uint32_t>(o.dwords, 1);
        switch (o.kind) {
            case Operand::Kind::Vgpr:
                return destination ? o.reg >= first_free_vgpr && end <= end_free_vgpr
                                   : end <= vgprs;
            case Operand::Kind::Agpr:
                return end <= agprs;
            case Operand::Kind::Sgpr:
                if (o.reg >= machine::vcc_lo)
                    return end <= 108 || o.reg == machine::m0 ||
                           (o.reg >= machine::exec_lo && end <= 128);
                return destination ? o.reg >= first_free_sgpr && end <= end_free_sgpr
                                   : end <= sgprs;
            case Operand::Kind::Special:
                return o.reg >= 251 && o.reg <= 253;
            default:
                return true;
        }
    };
    for (const Operand& o : inst.dst)
        if (!fits(o, true)) return false;
    for (const Operand& o : inst.src)
        if (!fits(o, false)) return false;
    // These write their sources.
    if (inst.op == Opcode::v_swap_b32 || inst.op == Opcode::v_permlane16_swap_b32 ||
        inst.op == Opcode::v_permlane32_swap_b32)
        return fits(inst.src[0], true);
    return true;
}

std::optional<Inst> Generator::try_row(const Row& row, Rng& rng) const {
    const std::vector<uint32_t> words = encode(row, rng);
    std::array<uint32_t, 4> padded{};
    std::copy(words.begin(), words.end(), padded.begin());
    Inst inst;
    if (!decode(target_, padded, inst) || excluded(inst.op, inst.format) || !acceptable(inst))
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
