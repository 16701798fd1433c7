#include "interpreter/valu.h"

#include "common/per_thread.h"

namespace wj::interp {

namespace {

bool uses_index_mode(const Inst& in) {
    return in.variant == Variant::Base || in.variant == Variant::E64;
}

struct Field {
    uint32_t shift, width;
};
Field field_of(SdwaSel sel) {
    switch (sel) {
        case SdwaSel::Byte0:
            return {0, 8};
        case SdwaSel::Byte1:
            return {8, 8};
        case SdwaSel::Byte2:
            return {16, 8};
        case SdwaSel::Byte3:
            return {24, 8};
        case SdwaSel::Word0:
            return {0, 16};
        case SdwaSel::Word1:
            return {16, 16};
        case SdwaSel::Dword:
            return {0, 32};
    }
    return {0, 32};
}

// The lane that DPP lane l reads, or -1 when there is none (Vega ISA, DPP_CTRL table).
int dpp_source(uint32_t ctrl, int l, int wave_size) {
    const int row = l & ~15, in_row = l & 15;
    if (ctrl <= 0xff) return (l & ~3) | (ctrl >> (2 * (l & 3)) & 3);  // quad_perm
    const int n = ctrl & 15;
    switch (ctrl >> 4) {
        case 0x10:
            return in_row + n > 15 ? -1 : l + n;  // row_shl
        case 0x11:
            return in_row - n < 0 ? -1 : l - n;  // row_shr
        case 0x12:
            return row | ((in_row - n) & 15);  // row_ror
        case 0x15:
            return row | n;  // row_newbcast (gfx90a), row_share
        case 0x16:
            return row | (in_row ^ n);  // row_xmask
        default:
            break;
    }
    switch (ctrl) {
        case 0x130:
            return l == wave_size - 1 ? -1 : l + 1;  // wave_shl
        case 0x134:
            return (l + 1) % wave_size;  // wave_rol
        case 0x138:
            return l == 0 ? -1 : l - 1;  // wave_shr
        case 0x13c:
            return (l + wave_size - 1) % wave_size;  // wave_ror
        case 0x140:
            return row | (15 - in_row);  // row_mirror
        case 0x141:
            return (l & ~7) | (7 - (l & 7));  // row_half_mirror
        case 0x142:
            return row == 0 ? -1 : row - 1;  // row_bcast:15, from the row before
        case 0x143:
            return l < 32 ? -1 : 31;  // row_bcast:31
        default:
            return -1;
    }
}

}  // namespace

Valu::Valu(Wave& wave, const Inst& inst) : w(wave), in(inst), active(wave.exec()) {
    plain = in.variant != Variant::Sdwa && !is_dpp(in.variant);
    if (w.mode & machine::mode::gpr_idx_en) [[unlikely]]
        set_index_mode();
    if (is_dpp16(in.variant)) [[unlikely]]
        apply_dpp_mask();
}

// s_set_gpr_idx_on: M0[7:0] is added to the VGPR numbers that M0[15:12] names (src0, src1, src2,
// dst).
void Valu::set_index_mode() {
    if (!uses_index_mode(in)) return;
    const uint32_t index = w.sgpr[machine::m0] & 0xff, enable = w.sgpr[machine::m0] >> 12 & 15;
    for (uint32_t i = 0; i < 4; ++i) {
        const Operand& o = i < 3 ? in.src[i] : in.dst[0];
        if (!(enable >> i & 1) || o.kind != Operand::Kind::Vgpr) continue;
        if (o.reg + index + (o.dwords ? o.dwords : 1) > w.vgpr_count) {
            stop(w, ExitKind::IllegalInstruction,
                 "VGPR index (s_set_gpr_idx) beyond the allocation", o.reg + index);
            active = 0;
            continue;  // harmless: reads and writes nothing beyond
        }
        relative[i] = index;
    }
}

namespace {

// The source lanes of one DPP_CTRL value in waves of one size.
struct DppMap {
    uint8_t from[lanes] = {};
    uint64_t present = 0;  // lanes that have a source
    uint16_t ctrl = 0xffff;
    uint8_t wave_size = 0;
};
const DppMap& dpp_map(uint16_t ctrl, uint8_t wave_size) {
    struct Cache {
        DppMap maps[16];
    };
    DppMap& m = per_thread<Cache>().maps[(ctrl ^ ctrl >> 4) & 15];
    if (m.ctrl == ctrl && m.wave_size == wave_size) return m;
    m.ctrl = ctrl;
    m.wave_size = wave_size;
    m.present = 0;
    for (uint32_t l = 0; l < wave_size; ++l) {
        const int from = dpp_source(ctrl, static_cast<int>(l), wave_size);
        m.from[l] = static_cast<uint8_t>(from < 0 ? 0 : from);
        if (from >= 0) m.present |= uint64_t{1} << l;
    }
    return m;
}
// Lanes whose source exists and is active; FI counts those that are not, too.
uint64_t dpp_valid(const DppMap& m, uint64_t exec, bool fetch_inactive) {
    if (fetch_inactive || exec == ~uint64_t{0}) return m.present;
    uint64_t valid = 0;
    for (uint32_t l = 0; l < lanes; ++l) valid |= (exec >> m.from[l] & 1) << l;
    return valid & m.present;
}

}  // namespace

// Lanes of masked-off rows and banks, and lanes without a source unless BOUND_CTRL makes it 0, are
// not written.
void Valu::apply_dpp_mask() {
    uint64_t enabled = 0;
    for (uint32_t row = 0; row < 4; ++row)
        for (uint32_t bank = 0; bank < 4; ++bank)
            if (in.row_mask >> row & 1 && in.bank_mask >> bank & 1)
                enabled |= uint64_t{15} << (16 * row + 4 * bank);
    active &= enabled;
    if (!in.bound_ctrl)
        active &= dpp_valid(dpp_map(in.dpp_ctrl, w.size), w.exec(), in.fetch_invalid);
}

void Valu::permute_dpp(const uint32_t* from, uint32_t* to) const {
    const DppMap& m = dpp_map(in.dpp_ctrl, w.size);
    const uint64_t valid = dpp_valid(m, w.exec(), in.fetch_invalid);
    for (uint32_t l = 0; l < lanes; ++l) to[l] = valid >> l & 1 ? from[m.from[l]] : 0;
}

// Within groups of eight lanes. Lanes that are off give 0 unless FI says that they are read.
void Valu::permute_dpp8(const uint32_t* from, uint32_t* to) const {
    const uint64_t valid = in.fetch_invalid ? ~uint64_t{0} : w.exec();
    for (uint32_t l = 0; l < lanes; ++l) {
        const uint32_t source = (l & ~7u) | (in.dpp8_lanes >> 3 * (l & 7) & 7);
        to[l] = valid >> source & 1 ? from[source] : 0;
    }
}

const uint32_t* Valu::fetch_slow(uint32_t i, uint32_t dword, Row& buf) {
    const Operand& o = in.src[i];
    const uint32_t* r = buf.v;
    if (is_vector(o)) {
        r = source_row(i, dword);
    } else {
        const uint32_t x = read_lane(w, o, 0, dword);
        for (uint32_t l = 0; l < lanes; ++l) buf.v[l] = x;
    }
    if (is_dpp(in.variant) && i == 0 && is_vector(o)) {
        if (is_dpp16(in.variant))
            permute_dpp(r, buf.v);
        else
            permute_dpp8(r, buf.v);
        return buf.v;
    }
    if (in.variant == Variant::Sdwa && i < 2 && dword == 0) {
        const Field f = field_of(in.src_sel[i]);
        const uint32_t left = 32 - f.width - f.shift, right = 32 - f.width;
        if (in.sext >> i & 1) {
            for (uint32_t l = 0; l < lanes; ++l)
                buf.v[l] = static_cast<uint32_t>(static_cast<int32_t>(r[l] << left) >> right);
        } else {
            for (uint32_t l = 0; l < lanes; ++l) buf.v[l] = r[l] << left >> right;
        }
        return buf.v;
    }
    return r;
}

void Valu::store_sdwa(const uint32_t* r, uint32_t width) {
    const Field f = field_of(in.dst_sel);
    uint32_t* d = dest_row();
    const uint32_t right = 32 - f.width, mask = ~0u >> right << f.shift;
    Row out;
    if (f.width == 32) {
        for (uint32_t l = 0; l < lanes; ++l) out.v[l] = width == 16 ? r[l] & 0xffff : r[l];
    } else if (in.dst_unused == 1) {  // SEXT: copies of the sign above, zeros below
        for (uint32_t l = 0; l < lanes; ++l)
            out.v[l] = static_cast<uint32_t>(static_cast<int32_t>(r[l] << right) >> right)
                       << f.shift;
    } else {
        const uint32_t keep = in.dst_unused == 2 ? ~mask : 0;  // PRESERVE or PAD
        for (uint32_t l = 0; l < lanes; ++l) out.v[l] = (d[l] & keep) | (r[l] << f.shift & mask);
    }
    write_row(d, out.v, active);
}

void Valu::store16(const uint32_t* r, bool keep_other_half) {
    if (in.variant == Variant::Sdwa) return store_sdwa(r, 16);
    const bool high = in.op_sel >> 3 & 1;
    keep_other_half |= traits(w).keeps_high_half;
    if (!high && !keep_other_half) return write_row(dest_row(), r, active);
    uint32_t* d = dest_row();
    Row merged;
    for (uint32_t l = 0; l < lanes; ++l)
        merged.v[l] = high ? (d[l] & 0xffff) | r[l] << 16 : (d[l] & 0xffff0000u) | (r[l] & 0xffff);
    write_row(d, merged.v, active);
}

void Valu::store64(const uint64_t* r) {
    Row lo, hi;
    for (uint32_t l = 0; l < lanes; ++l) {
        lo.v[l] = static_cast<uint32_t>(r[l]);
        hi.v[l] = static_cast<uint32_t>(r[l] >> 32);
    }
    write_row(dest_row(0), lo.v, active);
    write_row(dest_row(1), hi.v, active);
}

}  // namespace wj::interp
