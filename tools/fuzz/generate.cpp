#include "tools/fuzz/generate.h"

#include <algorithm>
#include <array>

#include "frontend/decode.h"
#include "frontend/encoding.h"
#include "machine/wave.h"

namespace wj::fuzz {
namespace {

// Instructions whose effect is control flow, time, other waves or the machine outside the block.
bool excluded(Opcode op, Format format) {
    if (format == Format::SOPP || format == Format::EXP || format == Format::VINTRP ||
        format == Format::MIMG || format == Format::MTBUF || format == Format::MUBUF)
        return op != Opcode::s_nop;
    const std::string_view name = op_info(op).name;
    for (const char* part :
         {"branch",      "setpc",  "swappc",    "s_call",    "s_rfe",    "getpc",  "memtime",
          "memrealtime", "getreg", "setreg",    "gpr_idx",   "setvskip", "movrel", "gws",
          "ordered",     "dcache", "atc_probe", "s_scratch", "s_buffer", "src2",   "append",
          "consume",     "addtid", "s_store",   "s_atomic",  "cbranch",  "_lds_"})
        if (name.find(part) != name.npos) return true;
    return false;
}

uint32_t pick(Rng& rng, std::initializer_list<uint32_t> values) {
    return values.begin()[rng() % values.size()];
}
bool chance(Rng& rng, uint32_t percent) {
    return rng() % 100 < percent;
}

uint32_t any_vgpr(Rng& rng) {
    return static_cast<uint32_t>(rng() % vgprs);
}
uint32_t free_vgpr(Rng& rng) {
    return reserved_vgprs + static_cast<uint32_t>(rng() % (vgprs - reserved_vgprs));
}
uint32_t free_sgpr(Rng& rng) {
    return reserved_sgprs + static_cast<uint32_t>(rng() % (sgprs - reserved_sgprs));
}

uint32_t scalar_source(Rng& rng, bool literal) {
    const uint32_t r = rng() % 100;
    if (r < 55) return static_cast<uint32_t>(rng() % sgprs);
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

}  // namespace

Generator::Generator(const Target& target) : target_(target) {
    // The slots of the target's column say which rows it has, and under which code.
    const auto& slots = opcode_slots[static_cast<size_t>(target.column)];
    for (size_t f = 0; f < format_slots.size(); ++f) {
        const auto format = static_cast<Format>(f);
        for (uint32_t code = 0; code < format_slots[f]; ++code) {
            const Opcode op = slots[format_base(format) + code];
            if (op != Opcode::invalid && !excluded(op, op_info(op).format))
                rows_.push_back({op, format, code});
        }
    }
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
        case Format::SMEM:  // s[0:1] + immediate inside the buffer
            w[0] = 0xc0000000 | row.code << 18 | 1u << 17 | free_sgpr(rng) << 6;
            w.push_back((bits() & 0xffc));
            break;
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
            w[0] = 0xd8000000 | row.code << 17 | (bits() & (chance(rng, 50) ? 0x0f0f : 0x00ff));
            w.push_back(2u | any_vgpr(rng) << 8 | any_vgpr(rng) << 16 | free_vgpr(rng) << 24);
            if (chance(rng, 50)) w[1] &= 0xff00ffff;
            break;
        case Format::FLAT:
        case Format::GLOBAL:
        case Format::SCRATCH: {
            const uint32_t segment = row.format == Format::FLAT      ? 0
                                     : row.format == Format::SCRATCH ? 1
                                                                     : 2;
            const bool saddr = segment == 2 && chance(rng, 40);
            uint32_t offset = bits() & 0xff;
            if (chance(rng, 70)) offset &= ~3u;
            w[0] = 0xdc000000 | row.code << 18 | segment << 14 | offset |
                   (chance(rng, 40) ? 1u << 16 : 0);
            w.push_back((segment == 1 ? 3u
                         : saddr      ? 2u
                                      : 0u) |
                        any_vgpr(rng) << 8 |
                        (segment == 0 ? 0u
                         : saddr      ? 0u
                                      : 0x7fu)
                            << 16 |
                        free_vgpr(rng) << 24);
            if (op_info(row.op).dst_count == 0 ||
                (op_info(row.op).returns_if_glc && !(w[0] >> 16 & 1)))
                w[1] &= 0x00ffffff;
            if (op_info(row.op).name.find("load") != std::string_view::npos) w[1] &= 0xffff00ff;
            break;
        }
        default:
            break;
    }
    return w;
}

bool Generator::acceptable(const Inst& inst) const {
    if (inst.illegal_operand || inst.gds || inst.lds) return false;
    auto fits = [](const Operand& o, bool destination) {
        const uint32_t end = o.reg + std::max<uint32_t>(o.dwords, 1);
        switch (o.kind) {
            case Operand::Kind::Vgpr:
                return end <= vgprs && !(destination && o.reg < reserved_vgprs);
            case Operand::Kind::Agpr:
                return end <= agprs;
            case Operand::Kind::Sgpr:
                if (destination && o.reg < reserved_sgprs) return false;
                return end <= sgprs || (o.reg >= machine::vcc_lo && end <= 108) ||
                       o.reg == machine::m0 || (o.reg >= machine::exec_lo && end <= 128);
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
    // v_swap writes its source.
    if (inst.op == Opcode::v_swap_b32 && inst.src[0].reg < reserved_vgprs) return false;
    return true;
}

Inst Generator::instruction(Rng& rng) const {
    for (;;) {
        // Formats with few rows deserve as much attention as VOP3.
        const Row& row = rows_[rng() % rows_.size()];
        const std::vector<uint32_t> words = encode(row, rng);
        std::array<uint32_t, 4> padded{};
        std::copy(words.begin(), words.end(), padded.begin());
        Inst inst;
        if (decode(target_, padded, inst) && !excluded(inst.op, inst.format) && acceptable(inst))
            return inst;
    }
}

}  // namespace wj::fuzz
