// What a table row says about its encodings: opcode numbers by family and the use of modifier bits.
// Internal to frontend/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "frontend/opcode.h"
#include "frontend/target.h"

namespace wj {

// The 13 modifier bits of a VOP3 word in the order in which "v3:" patterns of the tables name them.
namespace v3 {
inline constexpr unsigned abs = 0, op_sel = 3, clamp = 7, omod = 8, neg = 10, count = 13;
}

enum class InlineK : uint8_t {
    None,
    Mk,
    Ak
};  // v_madmk: K is the second source; v_madak: the third

// The VOP3P rows fall into classes that use the modifier bits differently.
enum class PackedClass : uint8_t {
    None,
    Packed,
    PackedPlain,  // no signs
    Dot,
    DotPacked,
    Mix,
    Mfma,
    MfmaScaled,
    LdScale,
    Smfmac,
    AccRead,
    AccWrite,
    Wmma,        // products in a wave, whose modifiers have no selectors,
    WmmaPacked,  // have them for sums of 16 bits,
    WmmaInt,     // a sign for A and B,
    WmmaSmall,   // of gfx12's small floats one for C,
    WmmaF32,     // of gfx12.5's f32 two for C and one for A and B,
    WmmaScaled,  // or formats of A and B and one for C, which a second instruction may scale
    Swmmac,      // the same of sparse matrices
    SwmmacInt,
    SwmmacSmall,
    DotSmall,     // of small floats: a sign for the sum
    WmmaLdScale,  // the scales of the WmmaScaled behind it
};

inline bool is_sparse(PackedClass c) {
    return c >= PackedClass::Swmmac && c <= PackedClass::SwmmacSmall;
}
inline bool is_wave_product(PackedClass c) {
    return c >= PackedClass::Wmma && c <= PackedClass::SwmmacSmall;
}

inline bool is_matrix(PackedClass c) {
    return c == PackedClass::Mfma || c == PackedClass::MfmaScaled || c == PackedClass::Smfmac;
}

struct EncodingInfo {
    uint16_t v3_used = 0;  // bits with a meaning
    uint16_t v3_zero = 0;  // bits that must be zero; the remaining ones are ignored
    bool e64 = false, sdwa = false, dpp = false;
    bool sdwa_dst_sel = true;  // false: the destination selector must be DWORD and does not print
    InlineK k = InlineK::None;
    PackedClass packed = PackedClass::None;

    // Memory rows. The word in the row is the name, where none is given.
    bool gws = false;
    bool two_offsets = false;   // two: a pair of addresses, each with an offset of 8 bits
    bool lds_only = false;      // ldsonly: a DS row that the GDS does not have
    bool lds_form = false;      // lds: a bit makes the LDS the destination
    bool float_atomic = false;  // float
    bool v_sharp = false;       // v#: SBASE is a buffer descriptor
    bool scratch = false;       // SBASE is relative to FLAT_SCRATCH
    bool no_address = false;    // noaddress
    bool probe = false;         // SDATA is an immediate
    bool sampler = false, gather4 = false;
    bool no_d16 = false;  // nod16
    bool bvh = false;     // tests of rays, whose address has argsN dwords, three less with A16
    bool pair = false;    // an atomic with a comparand beside the data
    // Components of an image's address beside its coordinates: argsN (offset, bias, comparison),
    // gradients, g16 (these in 16 bits), lod (or clamp, or mip level); nocoords.
    uint8_t args = 0;
    bool gradients = false, g16 = false, lod = false, no_coords = false;
    uint8_t halves =
        0;  // d16x2 to d16x4: 16-bit elements, in a register each or two in one (Traits)
    uint8_t half_operand = 0;  // halfN: N - 1 is a source, 4 - 1 the destination, that is a half
                               // of its register where true16, whatever its type
    uint8_t byte_select = 0;   // byte1, byte2: OP_SEL is the number of a byte of source or result
    bool split = false;        // a wave of 64 lanes has half as many registers for the result
    bool splat = false;        // an inline constant stands for both halves
    bool no_literal = false;   // noliteral: the source is no literal
    bool prefetch = false;     // SDATA is a length; pc_relative: and there is no base
    bool pc_relative = false;  // pcrel
    bool cache_operation = false;  // cacheop: of GLOBAL
    bool rays = false;  // as bvh, of gfx12: two nodes or eight, and two pairs of a ray's vectors
    bool no_policy = false;  // nopolicy: GLC and DLC must be 0
    // gfx12.5
    bool matrix_reuse = false;  // reuse: A and B may be kept for the next product
    bool plain_name = false;    // plain: no suffix, though there are two encodings
    bool scale_select = false;  // scalesel: OP_SEL is the number of a scale
    bool lds_address = false;   // ldsaddr: VDST names the source, an address in the LDS
    bool first_only = false;    // firstonly, secondonly: of a pair of vector operations
    bool second_only = false;
    // VOP3's v_interp_*, and whether they can take the attribute's high half.
    bool interp = false, high = false;
};

const EncodingInfo& encoding_info(Opcode op);
// The same where a family has other forms of it (frontend/tables/forms.inc).
const EncodingInfo& encoding_info(Opcode op, Family family);

// Opcode numbers are looked up in one dense table per family.
inline constexpr std::array<uint16_t, 26> format_slots{
    256, 128, 32,  128,  128, 256,          // SOP1 SOP2 SOPK SOPC SOPP SMEM
    256, 64,  256, 1024, 256, 4,            // VOP1 VOP2 VOPC VOP3 VOP3P VINTRP
    256, 256, 16,  256,  256, 256, 256, 1,  // DS MUBUF MTBUF MIMG FLAT GLOBAL SCRATCH EXP
    256, 128, 4,   64,   64,  256,          // VSAMPLE VINTERP LDSDIR VOPD VOPD3 TENSOR
};

std::string_view format_name(Format format);

constexpr unsigned format_base(Format format) {
    unsigned base = 0;
    for (unsigned f = 0; f < static_cast<unsigned>(format); ++f) base += format_slots[f];
    return base;
}

inline constexpr unsigned slot_count = format_base(Format::TENSOR) + 256;

using SlotTable = std::array<std::array<Opcode, slot_count>, family_count>;
extern const SlotTable opcode_slots;

// How many dwords of an image's address the group-th register that the instruction names holds, of
// `left` that are not named yet.
uint32_t image_group(const Target& target, Opcode op, uint32_t group, uint32_t left);

// Whether the family has the vector instruction as VOP1, VOP2 or VOPC.
bool has_short_form(Opcode op, Family family);

template <Format F>
Opcode lookup_opcode(Family family, unsigned code) {
    constexpr unsigned base = format_base(F);
    return code < format_slots[static_cast<unsigned>(F)]
               ? opcode_slots[static_cast<unsigned>(family)][base + code]
               : Opcode::invalid;
}

}  // namespace wj
