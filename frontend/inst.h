// A decoded instruction: what the disassembler prints, the interpreter runs and the lifter reads.
#pragma once

#include <array>
#include <cstdint>

#include "frontend/effects.h"
#include "frontend/opcode.h"

namespace wj {

struct Operand {
    enum class Kind : uint8_t {
        None,
        Sgpr,  // reg = 0..127, the operand encoding, which is the index into Wave::sgpr:
               // s0-s101, flat_scratch 102, xnack_mask 104, vcc 106, ttmp 108-123, m0 124 (in every
               // family), exec 126
        Vgpr,  // reg = 0..255
        Agpr,  // reg = 0..255 (gfx908: a file of its own; gfx90a: the upper half of the unified
               // file)
        Const,    // inline constant: value holds the bits, expanded to the operand's type; reg =
                  // encoding 128..248
        Literal,  // value holds the bits, expanded to the operand's type; reg = 255 of 32 bits, 254
                  // of 64 (gfx12.5)
        Special,  // reg = encoding: 125 null (in every family), 230-231 flat_scratch_base, 235
                  // shared_base, 236 shared_limit, 237 private_base, 238 private_limit, 239
                  // pops_exiting_wave_id, 251 vccz, 252 execz, 253 scc, 254 lds_direct
        Imm,      // value holds an immediate (simm16, offsets), sign-extended to 64 bits
        Off,      // "off": no register
    };
    // gfx11+: an operand of 16 bits names a half of its VGPR (in VOP3 by a bit of op_sel). op_sel
    // says the same, in the short encodings as well: who computes asks op_sel alone.
    enum class Half : uint8_t { None, Low, High };
    Kind kind = Kind::None;
    uint8_t dwords = 0;
    uint16_t reg = 0;
    Type type = Type::none;
    Half half = Half::None;
    uint64_t value = 0;

    bool is(Kind k) const { return kind == k; }
    bool present() const { return kind != Kind::None; }
};

inline constexpr size_t most_instruction_words = 5;  // dwords of the longest

enum class Variant : uint8_t { Base, E64, Sdwa, Dpp, Dpp8, E64Dpp, E64Dpp8 };

// Both forms that take source 0 from other lanes.
inline bool is_dpp(Variant v) {
    return v >= Variant::Dpp;
}
// The one with a control word for 16 lanes, which may leave lanes out.
inline bool is_dpp16(Variant v) {
    return v == Variant::Dpp || v == Variant::E64Dpp;
}
inline bool is_vop3(Variant v) {
    return v == Variant::E64 || v >= Variant::E64Dpp;
}

enum class SdwaSel : uint8_t { Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword };

// Operand order by format:
//   SOP*, VOP*: dst[0] = sdst/vdst, dst[1] = carry-out/VCC; src[] in assembly order. Implicit VCC
//   of the
//               32-bit encodings is present as an explicit operand (v_cndmask_b32_e32: src[2] =
//               vcc; v_cmp_*_e32: dst[0] = vcc), so that one meaning serves both encodings.
//               v_fmac/v_mac/v_pk_fmac read dst[0] as the addend; v_fmamk/v_madmk: src = {src0, K,
//               vsrc1}, v_fmaak/madak: {src0, vsrc1, K}. v_mfma_scale_*: src = {A, B, C, scale of
//               A, scale of B}, op_sel and op_sel_hi select the scale byte.
//   memory:     dst[0] is the loaded or returned value; otherwise use the named accessors below.
// format is the format of the row; variant tells the encoding used (E64: VOP1, VOP2 and VOPC rows
// in VOP3 encoding; instructions that only exist in VOP3 have variant Base). Immediates of SOPP and
// SOPK are src operands of kind Imm (s_getreg: src[0]; s_setreg: src[1]).
struct Inst {
    Opcode op = Opcode::invalid;
    Format format = Format::SOPP;
    Variant variant = Variant::Base;
    uint8_t size = 0;                                      // bytes: 4 to 20
    std::array<uint32_t, most_instruction_words> words{};  // raw encoding
    // LLVM prints the instruction, but an operand is one that the hardware does not take there (an
    // SGPR where only a VGPR may stand, an odd VGPR pair on gfx90a, a reserved source). Engines
    // refuse it.
    bool illegal_operand = false;

    std::array<Operand, 2> dst;
    std::array<Operand, 6> src;
    // VOPD: the second operation, with dst[1] and src[3] to src[5] (op: dst[0], src[0] to src[2]).
    // Both read their sources before either writes. Bits 3-5 of neg are the second one's. An
    // operation that adds to its destination has it as its third source, too. frontend/dual.h takes
    // the two apart. With three sources (VOPD3) the variant is E64.
    Opcode op_y = Opcode::invalid;

    // VOP3 / VOP3P / SDWA source modifiers, bit i = source i.
    uint8_t neg = 0, abs = 0, neg_hi = 0, op_sel = 0 /* bit 3 = destination */, op_sel_hi = 0,
            sext = 0;
    bool clamp = false;
    uint8_t omod = 0;  // 0 none, 1 *2, 2 *4, 3 /2
    SdwaSel dst_sel = SdwaSel::Dword;
    std::array<SdwaSel, 2> src_sel{SdwaSel::Dword, SdwaSel::Dword};
    uint8_t dst_unused = 0;  // SDWA: 0 pad, 1 sign-extend, 2 preserve
    uint16_t dpp_ctrl = 0;
    uint8_t row_mask = 0xf, bank_mask = 0xf;
    bool bound_ctrl = false;               // bit as encoded: 1 = out-of-range lanes read 0
    uint8_t cbsz = 0, abid = 0, blgp = 0;  // MFMA; formats of A and B of gfx12.5's products, too
    // gfx12.5's products, bit 0 for A, 1 for B: kept for the next product; the row that scales it
    uint8_t matrix_reuse = 0, scale_rows = 0;
    std::array<uint8_t, 2> scale_formats{};
    uint8_t scale_select = 0;    // gfx12.5's conversions: which of a register's scales
    uint8_t bitop3 = 0;          // v_bitop3: truth table, bit = src0 * 4 + src1 * 2 + src2
    bool fetch_invalid = false;  // FI of DPP and of v_permlane*; BOUND_CTRL is bound_ctrl
    uint32_t dpp8_lanes = 0;     // DPP8: for each of eight lanes, three bits: where it reads
    uint8_t wait_exp = 0;        // VINTERP: exports that may be under way
    uint8_t wait_vdst = 0, wait_vsrc = 0;    // LDSDIR
    uint8_t attr = 0, attr_chan = 0;         // v_interp: attribute and channel
    bool attr_high = false;                  // v_interp_*_f16: high half
    uint8_t exp_target = 0, exp_enable = 0;  // EXP
    bool exp_done = false, exp_compressed = false, exp_vm = false, exp_row = false;

    // Memory.
    int32_t offset =
        0;  // bytes, sign-extended where the format has signed offsets; DS: offset0 or offset16
    uint8_t offset1 = 0;  // DS two-address forms
    bool glc = false, slc = false, scc = false /* gfx90a scc, gfx940 sc1 */, nv = false,
         lds = false, gds = false;
    bool offen = false, idxen = false, tfe = false, soffset_en = false, imm_offset = false;
    uint8_t dfmt = 0, nfmt = 0;  // MTBUF
    uint8_t dmask = 0;           // MIMG
    uint16_t mimg_flags = 0;     // bit 0 unorm, 1 da, 2 a16, 3 lwe, 4 d16, 5 r128
    bool dlc = false;            // gfx10, gfx11
    uint8_t th = 0, scope = 0;   // gfx12: temporal hint (glc: an atomic returns), coherence scope
    bool scale_offset = false;   // gfx12.5: the offset register counts elements
    uint8_t buffer_format = 0;   // gfx10+ MTBUF: unified format
    uint8_t dim = 0;             // gfx10+ MIMG: kind of image
    // gfx10+ images: the register of each dword of the address where they are named; 0: they
    // follow one another
    uint8_t address_count = 0;
    std::array<uint8_t, 13> addresses{};

    const Operand& vaddr() const {
        return src[0];
    }  // FLAT/GLOBAL/SCRATCH/DS/MUBUF/MTBUF address VGPR(s), or Off
    // gfx7-: MUBUF and MTBUF may add an address of 64 bits, which lies where index and offset do.
    bool addr64() const { return !offen && !idxen && vaddr().dwords == 2; }
    const Operand& vdata() const { return src[1]; }   // stored or atomic data
    const Operand& vdata2() const { return src[2]; }  // DS second data
    const Operand& sbase() const {
        return src[3];
    }  // GLOBAL/SCRATCH saddr (or Off), MUBUF srsrc, SMEM sbase
    const Operand& soffset() const { return src[4]; }  // MUBUF soffset, SMEM soffset
};

// Bytes that one of an address's offset register stands for.
inline uint32_t offset_unit(const Inst& inst) {
    return inst.scale_offset ? effects(inst.op).bytes : 1;
}

// Where a branch or call leads whose SIMM16 counts dwords from the next instruction.
inline uint64_t branch_target(const Inst& inst, uint64_t next_pc) {
    const auto dwords = static_cast<int16_t>(inst.words[0] & 0xffff);
    return next_pc + static_cast<uint64_t>(int64_t{dwords} * 4);
}

}  // namespace wj
