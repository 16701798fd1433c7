// MUBUF and MTBUF.

#include "interpreter/atomics.h"
#include "interpreter/buffer_address.h"
#include "interpreter/buffer_format.h"

namespace wj::interp {
namespace {

struct Typed {
    uint32_t data_format, number_format;
    uint8_t select[4];
};

// MTBUF names the format in the instruction and takes the components as they are; MUBUF takes both
// from the V# (Vega ISA manual, "Buffer data").
bool typed_format(Wave& w, const Inst& inst, const machine::BufferDescriptor& v, Typed& out) {
    const bool of_inst = inst.format == Format::MTBUF;
    if (of_inst)
        out = {inst.dfmt, inst.nfmt, {4, 5, 6, 7}};
    else
        out = {
            v.data_format, v.number_format, {v.select[0], v.select[1], v.select[2], v.select[3]}};
    if (const Traits& t = traits(w); t.unified_formats) {
        const BufferFormat both =
            unified_format(of_inst ? inst.buffer_format : v.format, t.gfx11_buffers);
        out.data_format = both.data;
        out.number_format = both.number;
    }
    if (!number_format_known(out.number_format)) {
        stop(w, ExitKind::Unimplemented, "reserved buffer number format");
        return false;
    }
    return true;
}

// Typed accesses are in range or out of range as a whole.
bool element_read(Wave& w, const BufferAddress& a, uint32_t lane, uint32_t bytes, uint8_t* element,
                  bool& outside) {
    outside = bytes == 0 || a.spot(lane, 0, bytes).place == Place::Nowhere;
    if (outside) return true;
    if (bytes == 1) return read_spot(w, a.spot(lane, 0, 1), lane, *element);
    if (bytes == 2) {
        uint16_t v = 0;
        const bool good = read_spot(w, a.spot(lane, 0, 2), lane, v);
        std::memcpy(element, &v, 2);
        return good;
    }
    for (uint32_t b = 0; b < bytes; b += 4) {
        uint32_t v = 0;
        if (!read_spot(w, a.spot(lane, b, 4), lane, v)) return false;
        std::memcpy(element + b, &v, 4);
    }
    return true;
}

bool element_write(Wave& w, const BufferAddress& a, uint32_t lane, uint32_t bytes,
                   const uint8_t* element) {
    if (bytes == 0 || a.spot(lane, 0, bytes).place == Place::Nowhere) return true;
    if (bytes == 1) return write_spot(w, a.spot(lane, 0, 1), lane, *element);
    if (bytes == 2) {
        uint16_t v = 0;
        std::memcpy(&v, element, 2);
        return write_spot(w, a.spot(lane, 0, 2), lane, v);
    }
    for (uint32_t b = 0; b < bytes; b += 4) {
        uint32_t v = 0;
        std::memcpy(&v, element + b, 4);
        if (!write_spot(w, a.spot(lane, b, 4), lane, v)) return false;
    }
    return true;
}

enum class Width : uint8_t { Full, D16, D16Hi };

template <uint32_t Components, Width W>
void load_format(Wave& w, const Inst& inst) {
    const BufferAddress a(w, inst);
    Typed t;
    if (!typed_format(w, inst, a.v, t)) return;
    const uint32_t bytes = element_bytes(t.data_format);
    const uint32_t one = is_integer_format(t.number_format) ? 1 : 0x3f800000;
    const uint64_t exec = w.exec();
    const bool unpacked = W == Width::D16 && Components > 1 && traits(w).unpacked_d16;
    const uint32_t dwords = W == Width::Full || unpacked ? Components : (Components + 1) / 2;
    alignas(64) uint32_t values[Components][lanes] = {};
    if (W != Width::Full && !traits(w).sramecc)  // halves that the load does not write are kept
        for (uint32_t d = 0; d < dwords; ++d)
            std::memcpy(values[d], vrow(w, inst.dst[0], d), sizeof values[d]);
    bool good = true;
    for_each_lane(exec, [&](uint32_t lane) {
        uint8_t element[16] = {};
        uint32_t memory_order[4] = {};
        bool outside = false;
        good &= element_read(w, a, lane, bytes, element, outside);
        if (!outside) decode_element(t.data_format, t.number_format, element, memory_order);
        for (uint32_t c = 0; c < Components; ++c) {
            const uint8_t from = t.select[c];
            const uint32_t v = from >= 4 ? memory_order[from - 4] : from == 1 ? one : 0;
            if constexpr (W == Width::Full) {
                values[c][lane] = v;
            } else {
                const uint32_t half = component_to_d16(t.number_format, v);
                if (unpacked) {
                    values[c][lane] = half;
                    continue;
                }
                uint32_t& out = values[c / 2][lane];
                if (W == Width::D16Hi || c % 2)
                    out = (out & 0xffff) | half << 16;
                else
                    out = (out & 0xffff0000) | half;
            }
        }
    });
    if (!good) return stop_with_fault(w, inst);
    if (inst.lds) {  // buffer_load_format_x: one dword a lane
        const WholeLds whole(w);
        const uint32_t base = lds_form_base(w, inst);
        return for_each_lane(
            exec, [&](uint32_t lane) { lds_write(w, base + lane * 4, values[0][lane]); });
    }
    for (uint32_t d = 0; d < dwords; ++d) write_row(vrow(w, inst.dst[0], d), values[d], exec);
    if (inst.tfe) write_fail_flag(w, inst, dwords, exec);
}

template <uint32_t Components, Width W>
void store_format(Wave& w, const Inst& inst) {
    const BufferAddress a(w, inst);
    Typed t;
    if (!typed_format(w, inst, a.v, t)) return;
    const uint32_t bytes = element_bytes(t.data_format);
    const bool unpacked = W == Width::D16 && Components > 1 && traits(w).unpacked_d16;
    for (uint64_t left = w.exec(); left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(left));
        uint32_t in[4] = {};
        for (uint32_t c = 0; c < Components; ++c) {
            if constexpr (W == Width::Full) {
                in[c] = vrow(w, inst.vdata(), c)[lane];
            } else {
                const uint32_t pair = vrow(w, inst.vdata(), unpacked ? c : c / 2)[lane];
                const bool high = W == Width::D16Hi || (c % 2 && !unpacked);
                in[c] = component_from_d16(t.number_format,
                                           static_cast<uint16_t>(high ? pair >> 16 : pair));
            }
        }
        uint8_t element[16] = {};
        encode_element(t.data_format, t.number_format, in, element);
        if (!element_write(w, a, lane, bytes, element)) return stop_with_fault(w, inst);
    }
}

// The reverse of a load to LDS.
void store_lds_dword(Wave& w, const Inst& inst) {
    const BufferAddress a(w, inst);
    const WholeLds whole(w);
    const uint32_t base = lds_form_base(w, inst);
    for (uint64_t left = w.exec(); left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(left));
        if (!a.write(w, lane, lds_read<uint32_t>(w, base + lane * 4)))
            return stop_with_fault(w, inst);
    }
}

// Caches are not modelled: every access is coherent.
void no_operation(Wave&, const Inst&) {}

using A = BufferAddress;

// clang-format off
#define WJ_FORMAT(prefix)                                                                   \
    {Opcode::prefix##_load_format_x, load_format<1, Width::Full>},                          \
    {Opcode::prefix##_load_format_xy, load_format<2, Width::Full>},                         \
    {Opcode::prefix##_load_format_xyz, load_format<3, Width::Full>},                        \
    {Opcode::prefix##_load_format_xyzw, load_format<4, Width::Full>},                       \
    {Opcode::prefix##_store_format_x, store_format<1, Width::Full>},                        \
    {Opcode::prefix##_store_format_xy, store_format<2, Width::Full>},                       \
    {Opcode::prefix##_store_format_xyz, store_format<3, Width::Full>},                      \
    {Opcode::prefix##_store_format_xyzw, store_format<4, Width::Full>},                     \
    {Opcode::prefix##_load_format_d16_x, load_format<1, Width::D16>},                       \
    {Opcode::prefix##_load_format_d16_xy, load_format<2, Width::D16>},                      \
    {Opcode::prefix##_load_format_d16_xyz, load_format<3, Width::D16>},                     \
    {Opcode::prefix##_load_format_d16_xyzw, load_format<4, Width::D16>},                    \
    {Opcode::prefix##_store_format_d16_x, store_format<1, Width::D16>},                     \
    {Opcode::prefix##_store_format_d16_xy, store_format<2, Width::D16>},                    \
    {Opcode::prefix##_store_format_d16_xyz, store_format<3, Width::D16>},                   \
    {Opcode::prefix##_store_format_d16_xyzw, store_format<4, Width::D16>}

constexpr HandlerEntry table[] = {
    WJ_FORMAT(buffer),
    WJ_FORMAT(tbuffer),
    {Opcode::buffer_load_format_d16_hi_x, load_format<1, Width::D16Hi>},
    {Opcode::buffer_store_format_d16_hi_x, store_format<1, Width::D16Hi>},
    {Opcode::buffer_load_ubyte, load<A, Load::U8>},
    {Opcode::buffer_load_sbyte, load<A, Load::I8>},
    {Opcode::buffer_load_ushort, load<A, Load::U16>},
    {Opcode::buffer_load_sshort, load<A, Load::I16>},
    {Opcode::buffer_load_dword, load<A, Load::B32>},
    {Opcode::buffer_load_dwordx2, load<A, Load::B64>},
    {Opcode::buffer_load_dwordx3, load<A, Load::B96>},
    {Opcode::buffer_load_dwordx4, load<A, Load::B128>},
    {Opcode::buffer_load_ubyte_d16, load<A, Load::D16U8>},
    {Opcode::buffer_load_ubyte_d16_hi, load<A, Load::D16HiU8>},
    {Opcode::buffer_load_sbyte_d16, load<A, Load::D16I8>},
    {Opcode::buffer_load_sbyte_d16_hi, load<A, Load::D16HiI8>},
    {Opcode::buffer_load_short_d16, load<A, Load::D16B16>},
    {Opcode::buffer_load_short_d16_hi, load<A, Load::D16HiB16>},
    {Opcode::buffer_store_byte, store<A, Store::B8>},
    {Opcode::buffer_store_byte_d16_hi, store<A, Store::HiB8>},
    {Opcode::buffer_store_short, store<A, Store::B16>},
    {Opcode::buffer_store_short_d16_hi, store<A, Store::HiB16>},
    {Opcode::buffer_store_dword, store<A, Store::B32>},
    {Opcode::buffer_store_dwordx2, store<A, Store::B64>},
    {Opcode::buffer_store_dwordx3, store<A, Store::B96>},
    {Opcode::buffer_store_dwordx4, store<A, Store::B128>},
    WJ_INTEGER_ATOMICS(buffer_atomic, A),
    WJ_FLOAT_ATOMICS(buffer_atomic, A),
    WJ_FLOAT_EXTREMES(buffer_atomic, A),
    {Opcode::buffer_atomic_cond_sub_u32, atomic<A, rmw::CondSub<uint32_t>>},
    {Opcode::buffer_atomic_csub, atomic<A, rmw::CSub<uint32_t>>},
    {Opcode::buffer_gl0_inv, no_operation},
    {Opcode::buffer_gl1_inv, no_operation},
    {Opcode::buffer_store_lds_dword, store_lds_dword},
    {Opcode::buffer_wbl2, no_operation},
    {Opcode::buffer_invl2, no_operation},
    {Opcode::buffer_inv, no_operation},
    {Opcode::buffer_wbinvl1, no_operation},
    {Opcode::buffer_wbinvl1_vol, no_operation},
    {Opcode::buffer_wbinvl1_sc, no_operation},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> mem_buffer_handlers() {
    return table;
}

}  // namespace wj::interp
