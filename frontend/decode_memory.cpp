#include <algorithm>

#include "frontend/decode_formats.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"

// DS, FLAT/GLOBAL/SCRATCH, MUBUF, MTBUF and MIMG: Vega ISA and CDNA ISA, "Microcode formats".
// From gfx90a on a bit of these formats (ACC) selects AccVGPRs for data.

namespace wj {
namespace {

constexpr uint32_t exec_lo = 126;

// SADDR of global and scratch instructions that take none: EXEC_HI, or null where there is one.
uint32_t saddr_off(const DecodeState& s) {
    const ScalarRegisters& r = s.target.traits.scalar_registers;
    return r.has_null ? r.null : 0x7f;
}

void set_off(Operand& out) {
    out.kind = Operand::Kind::Off;
}

// A data register, AccVGPR when the ACC bit is set.
bool decode_data(DecodeState& s, bool acc, uint32_t code, Type type, Operand& out) {
    const uint32_t dwords = type_dwords(type);
    if (!acc) return decode_vgpr(s, code, type, dwords, out);
    if (!s.target.traits.unified_vgprs) s.out.illegal_operand = true;
    return decode_agpr(s, code, type, dwords, out);
}

// Atomics on floats: gfx908 has them without return value only, gfx90a without the SCC bit, which
// is reserved before.
bool float_atomic_allowed(const DecodeState& s, Opcode op, bool glc, bool scc, bool reserved) {
    if (!encoding_info(op, s.target.family).float_atomic) return true;
    if (s.target.family == Family::g908) return !glc && !reserved;
    return s.target.family != Family::g90a || !scc;
}

}  // namespace

bool decode_ds(DecodeState& s) {
    const Opcode op = opcode<Format::DS>(s);
    if (!begin(s, op)) return false;
    Inst& out = s.out;
    const OpInfo& info = op_info(op);
    const bool gws = encoding_info(op, s.target.family).gws;
    const bool acc = s.flag(Field::acc), no_gds_bit = s.target.traits.unified_vgprs;
    out.gds = s.flag(Field::gds);
    const bool needs_gds = gws || op == Opcode::ds_ordered_count ||
                           op == Opcode::ds_add_gs_reg_rtn || op == Opcode::ds_sub_gs_reg_rtn;
    if (needs_gds && !out.gds) return false;
    const bool no_gds = op == Opcode::ds_permute_b32 || op == Opcode::ds_bpermute_b32 ||
                        op == Opcode::ds_bvh_stack_rtn_b32;
    if (no_gds && out.gds) return false;
    if (no_gds_bit && !needs_gds) out.gds = false;  // gfx90a has no GDS and ignores the bit
    if (op == Opcode::ds_nop)
        return !s.flag(Field::offset0) && !s.flag(Field::offset1) && !s.flag(Field::gds) && !acc &&
               s.words[1] == 0;
    if (encoding_info(op, s.target.family).two_offsets) {
        out.offset = static_cast<int32_t>(s.get(Field::offset0));
        out.offset1 = static_cast<uint8_t>(s.get(Field::offset1));
    } else {
        out.offset = static_cast<int32_t>(s.get(Field::offset0) | s.get(Field::offset1) << 8);
    }
    // ds_gws_init and its kind take their data from the address field.
    const bool has_addr = info.src_count > 0 && info.src[0] == Type::addr;
    const uint32_t codes[4] = {s.get(Field::addr), s.get(Field::data0), s.get(Field::data1),
                               s.get(Field::vdst)};
    unsigned data_operands = info.dst_count;
    bool in_use[4] = {has_addr || (gws && info.src_count > 0), false, false, info.dst_count != 0};
    if (gws) {
        if (info.src_count > 0 && !decode_data(s, acc, codes[0], info.src[0], out.src[1]))
            return false;
        data_operands += info.src_count;
    } else {
        if (has_addr && !decode_vgpr(s, codes[0], Type::addr, 1, out.src[0])) return false;
        const unsigned first = has_addr ? 1 : 0;
        for (unsigned i = first; i < info.src_count; ++i) {
            const unsigned at = i - first + 1;
            in_use[at] = true;
            ++data_operands;
            if (!decode_data(s, acc, codes[at], info.src[i], out.src[at])) return false;
        }
    }
    for (unsigned i = 0; i < 4; ++i) {
        if (!in_use[i] && codes[i] != 0) return false;
    }
    if (acc && (data_operands == 0 || (!s.target.traits.unified_vgprs && data_operands > 1)))
        return false;
    if (info.dst_count == 0) return true;
    const bool illegal = out.illegal_operand;
    if (!decode_data(s, acc, codes[3], info.dst[0], out.dst[0])) return false;
    if (op ==
        Opcode::ds_read_b96_tr_b6) {  // alone among the 96-bit loads takes an odd first register
        out.illegal_operand = illegal || out.dst[0].reg + out.dst[0].dwords > 256u;
    }
    return true;
}

namespace {

enum Segment : uint32_t { flat_segment = 0, scratch_segment = 1, global_segment = 2 };

Opcode flat_opcode(Family family, uint32_t segment, uint32_t code) {
    switch (segment) {
        case flat_segment:
            return lookup_opcode<Format::FLAT>(family, code);
        case scratch_segment:
            return lookup_opcode<Format::SCRATCH>(family, code);
        case global_segment:
            return lookup_opcode<Format::GLOBAL>(family, code);
        default:
            return Opcode::invalid;
    }
}

bool decode_flat_address(DecodeState& s, uint32_t segment) {
    Inst& out = s.out;
    const OpInfo& info = op_info(out.op);
    const uint32_t addr = s.get(Field::addr), saddr = s.get(Field::saddr);
    const bool has_saddr = segment == global_segment || s.target.traits.flat_saddr;
    if (segment == flat_segment && !(has_saddr && saddr != saddr_off(s))) {
        out.offset = s.target.traits.signed_flat_offsets
                         ? s.get_signed(Field::offset)
                         : static_cast<int32_t>(s.get(Field::offset));
        // LLVM reads an offset before gfx9, which the hardware has not.
        if (out.offset != 0 && !s.target.traits.flat_offsets) out.illegal_operand = true;
        const uint32_t none = s.target.traits.scalar_registers.has_null ? saddr_off(s) : 0;
        return saddr == none && decode_vgpr(s, addr, Type::b64, 2, out.src[0]);
    }
    out.offset = s.get_signed(Field::offset);
    if (segment == global_segment && encoding_info(out.op).no_address) {
        const bool always = info.dst_count == 0 && info.src_count == 0;  // tensor_save
        if (saddr != saddr_off(s) || always) return decode_sgpr(s, saddr, Type::b64, 2, out.src[3]);
        set_off(out.src[3]);
        return true;
    }
    if (segment == global_segment || segment == flat_segment) {
        if (saddr == saddr_off(s)) {
            set_off(out.src[3]);
            return decode_vgpr(s, addr, Type::b64, 2, out.src[0]);
        }
        if (saddr >= exec_lo) out.illegal_operand = true;
        return decode_sgpr(s, saddr, Type::b64, 2, out.src[3]) &&
               decode_vgpr(s, addr, Type::b32, 1, out.src[0]);
    }
    // Scratch: before gfx940 either the VGPR or the SGPR; gfx940 has a bit of its own for the VGPR.
    const bool without = out.lds || s.target.traits.scratch_without_address;
    if (without && saddr == 0x7f && saddr_off(s) != 0x7f) {
        set_off(out.src[0]);
        set_off(out.src[3]);
        return true;
    }
    const bool use_vgpr = s.has(Field::sve) ? s.flag(Field::sve) : saddr == saddr_off(s);
    if (use_vgpr) {
        if (!decode_vgpr(s, addr, Type::b32, 1, out.src[0])) return false;
    } else {
        set_off(out.src[0]);
    }
    if (saddr == saddr_off(s)) {
        set_off(out.src[3]);
        return true;
    }
    if (saddr > exec_lo) out.illegal_operand = true;
    return decode_sgpr(s, saddr, Type::b32, 1, out.src[3]);
}

}  // namespace

namespace {

// gfx12's bits about caches, which MUBUF, FLAT and images have at the same place.
void read_scope_policy(DecodeState& s) {
    Inst& out = s.out;
    out.nv = s.flag(Field::nv);
    out.th = static_cast<uint8_t>(s.get(Field::th));
    out.scope = static_cast<uint8_t>(s.get(Field::scope));
    out.scale_offset = s.flag(Field::scale);
    // LLVM prints it of gfx12, too, which does not have it.
    if (out.scale_offset && !s.target.traits.signed_saddr_offsets) out.illegal_operand = true;
    // The lowest bit of an atomic's hint asks for the old value.
    if (effects(out.op).access == MemoryAccess::Atomic && s.has(Field::th))
        out.glc = (out.th & 1) != 0;
}

}  // namespace

bool decode_flat(DecodeState& s) {
    const uint32_t segment = s.get(Field::seg);
    const Opcode op = flat_opcode(s.target.family, segment, s.get(Field::op));
    if (!begin(s, op)) return false;
    Inst& out = s.out;
    const OpInfo& info = op_info(op);
    const bool gfx940 = s.target.traits.memory_scopes;
    // Bit 55 is NV on Vega and CDNA1 and ACC from gfx90a on. LLVM takes it for ACC always.
    const bool acc = s.flag(Field::acc);
    out.nv = s.flag(Field::nv);
    out.tfe = s.flag(Field::tfe);
    out.glc = s.flag(Field::glc);
    out.slc = s.flag(Field::slc);
    out.dlc = s.flag(Field::dlc);
    out.scc = s.flag(Field::scc);
    read_scope_policy(s);
    const EncodingInfo& encoding = encoding_info(op, s.target.family);
    if (encoding.cache_operation) return !s.flag(Field::sve) && s.get(Field::saddr) == saddr_off(s);
    if (!float_atomic_allowed(s, op, out.glc, out.scc, bit(s.words[0], 25))) return false;
    // LLVM's gfx940 tables lack these AccVGPR forms.
    if (acc && gfx940 && info.returns_if_glc && out.glc) {
        const bool f64 =
            encoding_info(op, s.target.family).float_atomic && info.dst[0] == Type::b64;
        const bool no_return_only =
            op == Opcode::global_atomic_add_f32 || op == Opcode::global_atomic_pk_add_f16;
        if (no_return_only || (f64 && out.scc)) return false;
    }
    if (s.flag(Field::sve) && segment != scratch_segment) return false;
    out.lds = s.flag(Field::lds);
    if (out.lds && (segment == flat_segment || !encoding_info(op, s.target.family).lds_form))
        return false;
    if (encoding.prefetch) return decode_flat_address(s, segment);
    if (info.dst_count == 0 && info.src_count == 0) out.lds = true;  // global_load_lds_*
    if (!decode_flat_address(s, segment)) return false;
    if (out.lds) return !acc;
    const bool returns = info.returns_if_glc ? out.glc : info.dst_count != 0;
    const Field data = encoding.lds_address ? Field::vdst : Field::data0;
    if (info.src_count != 0 && !decode_data(s, acc, s.get(data), info.src[0], out.src[1])) {
        return false;
    }
    if (!returns) return true;
    if (!decode_data(s, acc, s.get(Field::vdst), info.dst[0], out.dst[0])) return false;
    // A matrix in the lanes of a wave: a lane of 64 gets half of what a lane of 32 gets.
    if (encoding_info(op, s.target.family).split && s.target.traits.wave_size == 64)
        return decode_vgpr(s, s.get(Field::vdst), info.dst[0], type_dwords(info.dst[0]) / 2,
                           out.dst[0]);
    return true;
}

namespace {

// Address, resource and scalar offset, which MUBUF and MTBUF share.
bool decode_buffer_address(DecodeState& s) {
    Inst& out = s.out;
    out.offset = s.has(Field::rsrc) ? s.get_signed(Field::offset)
                                    : static_cast<int32_t>(s.get(Field::offset));
    if (out.offset < 0) return false;
    out.offen = s.flag(Field::offen);
    out.idxen = s.flag(Field::idxen);
    const bool addr64 = s.flag(Field::addr64);
    if (addr64 && (out.offen || out.idxen)) return false;
    if (addr64) {
        if (!decode_vgpr(s, s.get(Field::addr), Type::b64, 2, out.src[0])) return false;
    } else if (out.offen || out.idxen) {
        const Type type = out.offen && out.idxen ? Type::b64 : Type::b32;
        if (!decode_vgpr(s, s.get(Field::addr), type, type_dwords(type), out.src[0])) return false;
    } else {
        set_off(out.src[0]);
    }
    const uint32_t srsrc = s.has(Field::rsrc) ? s.get(Field::rsrc) : s.get(Field::srsrc) * 4;
    return decode_sgpr(s, srsrc, Type::b128, 4, out.src[3]) &&
           decode_source(s, s.get(Field::soffset), Type::b32, out.src[4],
                         s.target.traits.vop3_literals, Slot::Scalar);
}

// TFE adds a status dword to a loaded value; it does not exist from gfx90a on, where the bit is
// ACC.
bool decode_buffer_data(DecodeState& s, const OpInfo& info, uint32_t code) {
    Inst& out = s.out;
    const bool acc = s.flag(Field::acc);
    out.tfe = s.flag(Field::tfe);
    if (out.tfe && info.returns_if_glc) return false;
    const uint32_t extra = out.tfe ? 1 : 0;
    const auto data = [&](Type type, Operand& operand) {
        if (acc) return decode_data(s, true, code, type, operand);
        const uint32_t halves = encoding_info(out.op, s.target.family).halves;
        const bool unpacked = halves != 0 && s.target.traits.unpacked_d16;
        return decode_vgpr(s, code, type, (unpacked ? halves : type_dwords(type)) + extra, operand);
    };
    if (info.src_count != 0 && !data(info.src[0], out.src[1])) return false;
    if (info.returns_if_glc ? !out.glc : info.dst_count == 0) return true;
    return data(info.dst[0], out.dst[0]);
}

bool is_cache_operation(Opcode op) {
    return op == Opcode::buffer_wbl2 || op == Opcode::buffer_invl2 || op == Opcode::buffer_inv ||
           op == Opcode::buffer_wbinvl1 || op == Opcode::buffer_wbinvl1_vol ||
           op == Opcode::buffer_wbinvl1_sc || op == Opcode::buffer_gl0_inv ||
           op == Opcode::buffer_gl1_inv;
}

}  // namespace

bool decode_mubuf(DecodeState& s) {
    const Opcode op = opcode<Format::MUBUF>(s);
    if (!begin(s, op)) return false;
    Inst& out = s.out;
    const OpInfo& info = op_info(op);
    out.glc = s.flag(Field::glc);
    out.scc = s.flag(Field::scc);
    out.lds = s.flag(Field::lds);
    out.slc = s.flag(Field::slc);
    out.dlc = s.flag(Field::dlc);
    read_scope_policy(s);
    if (info.format == Format::MTBUF && s.flag(Field::tfe)) return false;
    if (info.format == Format::MTBUF)
        out.buffer_format = static_cast<uint8_t>(s.get(Field::format));
    if (!float_atomic_allowed(s, op, out.glc, out.scc, false)) return false;
    if (out.dlc && info.returns_if_glc && !s.target.traits.atomic_dlc) return false;
    const bool tfe_or_acc = s.flag(Field::tfe) || s.flag(Field::acc);
    const bool no_address =
        !s.flag(Field::offen) && !s.flag(Field::idxen) && !s.flag(Field::addr64);
    if (is_cache_operation(op)) {
        const bool has_scope = op == Opcode::buffer_wbl2 || op == Opcode::buffer_inv;
        const bool scope_bits =
            out.glc || out.dlc || out.scc || (!s.has(Field::dlc) && bit(s.words[0], 15));
        out.slc = false;
        if (!s.target.traits.memory_scopes) out.glc = out.scc = false;
        return no_address && !out.lds && !tfe_or_acc && (has_scope || !scope_bits);
    }
    if (op == Opcode::buffer_store_lds_dword) {
        if (!out.lds || !no_address || tfe_or_acc) return false;
        return decode_buffer_address(s);
    }
    if (!decode_buffer_address(s)) return false;
    const bool wide_lds = s.target.family == Family::g950 &&
                          (op == Opcode::buffer_load_dwordx3 || op == Opcode::buffer_load_dwordx4);
    if (out.lds) return !tfe_or_acc && (wide_lds || encoding_info(op, s.target.family).lds_form);
    return decode_buffer_data(s, info, s.get(Field::vdst));
}

bool decode_mtbuf(DecodeState& s) {
    const Opcode op = lookup_opcode<Format::MTBUF>(s.target.family,
                                                   s.get(Field::op) | s.get(Field::op_high) << 3);
    if (!begin(s, op)) return false;
    Inst& out = s.out;
    out.dlc = s.flag(Field::dlc);
    out.buffer_format = static_cast<uint8_t>(s.get(Field::format));
    out.glc = s.flag(Field::glc);
    out.dfmt = static_cast<uint8_t>(s.get(Field::dfmt));
    out.nfmt = static_cast<uint8_t>(s.get(Field::nfmt));
    out.scc = s.flag(Field::scc);
    out.slc = s.flag(Field::slc);
    if (s.flag(Field::tfe)) return false;
    return decode_buffer_address(s) && decode_buffer_data(s, op_info(op), s.get(Field::vdst));
}

namespace {

struct ImageDim {
    uint8_t coordinates, gradients;
};

// In the order of the DIM field: 1D, 2D, 3D, cube, arrays of 1D and 2D, multisampled 2D and arrays.
constexpr ImageDim image_dims[8] = {{1, 2}, {2, 4}, {3, 6}, {3, 4}, {2, 2}, {3, 4}, {3, 4}, {4, 4}};

// Dwords of an image's address where the instruction names the kind of image.
uint32_t address_dwords(const EncodingInfo& e, uint32_t dim, bool a16) {
    const ImageDim d = image_dims[dim & 7];
    const uint32_t components = (e.no_coords ? 0u : d.coordinates) + (e.lod ? 1u : 0u);
    uint32_t dwords = e.args + (a16 ? (components + 1) / 2 : components);
    // Gradients of 16 bits: those of each direction begin in a dword of their own.
    if (e.gradients) dwords += e.g16 ? (d.gradients / 2u + 1u) / 2 * 2 : d.gradients;
    return dwords;
}

// The most that a kind of image which the instruction reads can take.
uint32_t most_address_dwords(const EncodingInfo& e) {
    if (e.no_coords) return 4;
    uint32_t most = 0;
    const uint32_t dims = e.sampler || e.lod ? 6 : 8;  // these take none of several samples
    for (uint32_t dim = 0; dim < dims; ++dim) most = std::max(most, address_dwords(e, dim, false));
    return most;
}

// The registers that dwords behind the instruction name (NSA). False where they are missing.
bool decode_image_registers(DecodeState& s, uint32_t count) {
    Inst& out = s.out;
    std::array<uint8_t, 13> named{static_cast<uint8_t>(s.get(Field::addr))};
    for (uint32_t i = 0; i < s.get(Field::nsa); ++i) {
        uint32_t word = 0;
        if (!next_word(s, word)) return false;
        for (uint32_t b = 0; b < 4; ++b)
            named[1 + i * 4 + b] = static_cast<uint8_t>(word >> (8 * b));
    }
    constexpr Field fields[] = {Field::vaddr1, Field::vaddr2, Field::vaddr3, Field::vaddr4};
    for (uint32_t i = 0; i < 4; ++i)
        if (s.has(fields[i])) named[1 + i] = static_cast<uint8_t>(s.get(fields[i]));
    out.addresses = named;
    uint32_t at = 0;
    for (uint32_t group = 0; at < count; ++group) {
        const uint32_t size = image_group(s.target, out.op, group, count - at);
        if (named[group] + size > 256u) out.illegal_operand = true;
        for (uint32_t i = 0; i < size; ++i)
            out.addresses[at++] = static_cast<uint8_t>(named[group] + i);
    }
    out.address_count = static_cast<uint8_t>(count);
    return decode_vgpr(s, out.addresses[0], Type::b32, 1, out.src[0]);
}

// A resource or sampler: a group of four registers or, on gfx12, a source that LLVM reads as any.
bool decode_image_resource(DecodeState& s, Field wide, Field grouped, Type type, Operand& out) {
    if (!s.has(wide)) return decode_sgpr(s, s.get(grouped) * 4, type, type_dwords(type), out);
    const uint32_t code = s.get(wide);
    if (code >= 256) {
        s.out.illegal_operand = true;
        return decode_vgpr(s, code - 256, type, type_dwords(type), out);
    }
    return decode_source(s, code, type, out, true, Slot::ScalarRegister);
}

// gfx12: of the registers that an image names, those behind the `used` first ones.
bool unused_addresses_are_zero(const DecodeState& s, uint32_t used) {
    constexpr Field fields[] = {Field::addr, Field::vaddr1, Field::vaddr2, Field::vaddr3,
                                Field::vaddr4};
    for (uint32_t i = used; i < std::size(fields); ++i)
        if (s.flag(fields[i])) return false;
    return true;
}

// image_bvh*_intersect_ray: all fields but the registers and A16 have one value.
bool decode_bvh(DecodeState& s, const EncodingInfo& e) {
    Inst& out = s.out;
    const bool a16 = s.flag(Field::a16), fields = s.has(Field::vaddr1);
    const uint32_t dwords = e.args - (a16 ? 3u : 0u), nsa = s.get(Field::nsa);
    for (const Field f : {Field::dim, Field::th, Field::scope, Field::nv, Field::glc, Field::slc,
                          Field::dlc, Field::tfe, Field::lwe, Field::d16, Field::ssamp})
        if (s.flag(f)) return false;
    if (s.get(Field::dmask) != 0xf || (s.has(Field::unorm) && !s.flag(Field::unorm)) ||
        !s.flag(Field::r128) || (a16 && s.flag(Field::vaddr4)) || (a16 && e.rays))
        return false;
    const uint32_t words = s.target.traits.image_registers != 0 ? 1 : (dwords + 2) / 4;
    if (nsa != 0 && nsa != words) return false;
    out.mimg_flags = a16 ? 4 : 0;
    if (nsa != 0 || fields ? !decode_image_registers(s, dwords)
                           : !decode_vgpr(s, s.get(Field::addr), Type::b32, dwords, out.src[0]))
        return false;
    return decode_vgpr(s, s.get(Field::vdst), Type::b128, e.rays ? 10 : 4, out.dst[0]) &&
           decode_image_resource(s, Field::rsrc, Field::srsrc, Type::b128, out.src[3]);
}

}  // namespace

// The tensor data mover: four descriptors in SGPRs, of which the last two may be absent.
bool decode_tensor(DecodeState& s) {
    if (!begin(s, opcode<Format::TENSOR>(s))) return false;
    Inst& out = s.out;
    const OpInfo& info = op_info(out.op);
    read_scope_policy(s);
    out.mimg_flags = static_cast<uint16_t>(s.get(Field::r128) << 5);
    if (s.get(Field::dmask) != 1 || s.get(Field::dim) != 1 || s.flag(Field::tfe) ||
        s.flag(Field::rsrc) || s.flag(Field::vdst) ||
        s.get(Field::vaddr4) != s.target.traits.scalar_registers.null)
        return false;
    constexpr Field descriptors[4] = {Field::addr, Field::vaddr1, Field::vaddr2, Field::vaddr3};
    for (unsigned i = 0; i < 4; ++i)
        if (!decode_source(s, s.get(descriptors[i]), info.src[i], out.src[i], false,
                           Slot::ScalarRegister))
            return false;
    return true;
}

bool decode_mimg(DecodeState& s) {
    const uint32_t code = s.get(Field::op) | s.get(Field::op_high) << 7;
    const Opcode op = s.layout.format == Format::VSAMPLE
                          ? lookup_opcode<Format::VSAMPLE>(s.target.family, code)
                          : lookup_opcode<Format::MIMG>(s.target.family, code);
    if (!begin(s, op)) return false;
    Inst& out = s.out;
    read_scope_policy(s);
    const EncodingInfo& encoding = encoding_info(op, s.target.family);
    if (encoding.bvh || encoding.rays) return decode_bvh(s, encoding);
    const bool gather = encoding.gather4, sampler = encoding.sampler;
    const bool atomic = effects(op).access == MemoryAccess::Atomic;
    const bool store = effects(op).access == MemoryAccess::Store;
    const bool d16 = s.flag(Field::d16);
    out.dmask = static_cast<uint8_t>(s.get(Field::dmask));
    out.glc = out.glc || s.flag(Field::glc);
    out.slc = s.flag(Field::slc);
    out.scc = s.flag(Field::scc);
    out.dlc = s.flag(Field::dlc);
    out.dim = static_cast<uint8_t>(s.get(Field::dim));
    const bool acc = s.flag(Field::acc);
    out.tfe = s.flag(Field::tfe);
    out.mimg_flags = static_cast<uint16_t>(s.get(Field::unorm) | s.get(Field::da) << 1 |
                                           s.get(Field::a16) << 2 | s.get(Field::lwe) << 3 |
                                           s.get(Field::d16) << 4 | s.get(Field::r128) << 5);
    if (encoding.no_d16 && d16) return false;
    if (!sampler && (s.flag(Field::ssamp) || s.flag(Field::samp))) return false;

    // Sizes that LLVM has no variant for, and tuples past v255, print with the smallest size.
    const uint32_t smallest = gather || encoding.pair ? 2 : 1;
    const bool msaa = op == Opcode::image_msaa_load && gather;
    const uint32_t printed = msaa ? 4 : smallest;
    const uint32_t largest = atomic && !encoding.pair ? 3 : 5;
    const uint32_t vdata = s.get(Field::vdst);
    const bool has_dim = s.has(Field::dim);
    const bool fields = s.has(Field::vaddr1);  // gfx12: registers are named always
    const uint32_t nsa = fields ? 1 : s.get(Field::nsa);
    uint32_t address = type_dwords(op_info(op).src[0]);
    uint32_t least_address = address;
    const uint32_t most = most_address_dwords(encoding);
    // LLVM has tuples of 4 and 8 where 3 and 7 are the most.
    const uint32_t rounded = most == 3 || most == 7 ? 1 : 0;
    if (nsa != 0) {
        if (!fields && 4 * (nsa - 1) + 1 >= most) return false;
        least_address = std::min(most, fields ? 4 : 4 * nsa + 1);
        if (fields && !unused_addresses_are_zero(s, least_address)) return false;
    }
    if (has_dim) address = address_dwords(encoding, out.dim, s.flag(Field::a16));
    if (has_dim && nsa == 0 && address > 12) address = 16;
    uint32_t dwords = gather ? 4 : static_cast<uint32_t>(__builtin_popcount(out.dmask));
    if (dwords == 0) dwords = 1;
    if (d16 && !s.target.traits.unpacked_d16) dwords = (dwords + 1) / 2;
    if (out.tfe) ++dwords;
    // Of the registers that are named the last one is a tuple.
    const bool past_last = nsa != 0 && address > least_address && s.words.size() > 2 &&
                           (s.words[2] >> 24) + address - (least_address - 1) > 256;
    const bool misaligned = dwords > 1 && (vdata & 1) != 0 && s.target.traits.aligned_vgpr_tuples;
    if (misaligned || dwords < smallest || dwords > largest || (gather && dwords == 3 && !msaa) ||
        (dwords != printed && vdata + dwords > 256) ||
        (nsa == 0 && address != least_address && s.get(Field::addr) + address > 256) ||
        (has_dim && address > most + rounded) ||
        (nsa != 0 && (address > (s.target.traits.image_registers != 0 ? most : least_address) ||
                      (address == 1 && !fields) || past_last))) {
        dwords = printed;
        address = least_address;
    }
    Operand& data = store || atomic ? out.src[1] : out.dst[0];
    if (!(acc ? decode_agpr(s, vdata, Type::b32, dwords, data)
              : decode_vgpr(s, vdata, Type::b32, dwords, data))) {
        return false;
    }
    if (atomic) out.dst[0] = data;
    const Type type = has_dim ? Type::b32 : op_info(op).src[0];
    if (!(nsa != 0 && address > 1
              ? decode_image_registers(s, address)
              : decode_vgpr(s, s.get(Field::addr), type, address, out.src[0])) ||
        !decode_image_resource(s, Field::rsrc, Field::srsrc, Type::b256, out.src[3])) {
        return false;
    }
    return !sampler || decode_image_resource(s, Field::samp, Field::ssamp, Type::b128, out.src[4]);
}

}  // namespace wj
