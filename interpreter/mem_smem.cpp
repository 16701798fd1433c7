// Scalar memory (SEED-SMEM-01..33).
#include "interpreter/mem_smem.h"

#include <algorithm>
#include <ctime>

#include "frontend/buffer_layout.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "interpreter/atomics.h"
#include "interpreter/mem.h"
#include "machine/clock.h"

namespace wj::interp {
namespace {

// All parts of an address are bytes whose low two bits count as 0 (SEED-SMEM-07), or as many as
// elements of less than a dword need.
constexpr uint64_t part_mask(uint32_t unit) {
    return ~uint64_t{unit - 1};
}
constexpr uint64_t dword_mask = part_mask(4);

uint32_t sbase(const Inst& inst) {
    return inst.sbase().reg & 126;
}

machine::BufferDescriptor descriptor(const Wave& w, const Inst& inst) {
    return {&w.sgpr[sbase(inst) & 124], buffer_layout(traits(w))};
}

template <uint32_t Unit>
uint64_t register_offset(const Wave& w, const Inst& inst) {
    const Operand& o = inst.soffset();
    if (!o.present() || o.is(Operand::Kind::Off)) return 0;
    return uint64_t{read_s32(w, o)} * offset_unit(inst) & part_mask(Unit);
}

template <uint32_t Unit>
uint64_t immediate_offset(const Inst& inst) {
    return static_cast<uint64_t>(int64_t{inst.offset}) & part_mask(Unit);
}

// s_load, s_store, s_atomic; s_scratch_* scale the register by 64 (SEED-SMEM-04).
template <uint32_t Scale, uint32_t Unit = 4>
struct Plain {
    uint64_t address;
    Plain(const Wave& w, const Inst& inst)
        : address((w.s64(sbase(inst)) & part_mask(Unit)) + immediate_offset<Unit>(inst) +
                  register_offset<Unit>(w, inst) * Scale) {}
    bool in_range(uint32_t, uint32_t) const { return true; }
    bool unsettled(uint32_t) const { return false; }
};

// Only base, stride and num_records of the V# count; each dword is checked on its own
// (SEED-SMEM-17..20).
template <uint32_t Unit = 4>
struct BufferOf {
    uint64_t address, offset, size, agreed;
    BufferOf(const Wave& w, const Inst& inst) {
        const machine::BufferDescriptor v = descriptor(w, inst);
        size = v.records * (v.stride ? v.stride : 1);
        offset = immediate_offset<Unit>(inst) + register_offset<Unit>(w, inst);
        if (!traits(w).wide_buffers) offset &= 0xffffffff;
        address = (v.base & part_mask(Unit)) + offset;
        agreed = traits(w).wide_buffers ? v.records : size;
    }
    bool in_range(uint32_t byte, uint32_t bytes) const { return offset + byte + bytes <= size; }
    // NUM_RECORDS of gfx12.5 counts bytes (CDNA5 ISA 9.6): 8.1.2 multiplies it by the stride all
    // the same, 9.4.1.4 does not.
    bool unsettled(uint32_t bytes) const { return agreed < size && offset + bytes > agreed; }
};
using Buffer = BufferOf<>;

template <class A>
bool settled(Wave& w, const A& a, uint32_t bytes) {
    if (!a.unsettled(bytes)) return true;
    stop(w, ExitKind::Unimplemented,
         "a scalar load behind NUM_RECORDS bytes of a buffer that has a stride");
    return false;
}

template <class A, uint32_t Dwords>
void s_load(Wave& w, const Inst& inst) {
    const A a(w, inst);
    if (!settled(w, a, Dwords * 4)) return;
    uint32_t values[Dwords] = {};
    bool loaded[Dwords] = {};
    const bool zeros = traits(w).wide_buffers;  // read out of range (CDNA5 ISA 8.4.1)
    if (a.in_range(0, Dwords * 4)) {
        std::array<uint32_t, Dwords> all;
        if (!memory::read_scalar(*w.ctx, a.address, all)) return stop_with_fault(w, inst);
        std::memcpy(values, all.data(), sizeof values);
        for (bool& l : loaded) l = true;
    } else {
        for (uint32_t d = 0; d < Dwords; ++d) {
            if (!a.in_range(d * 4, 4)) continue;
            if (!memory::read_scalar(*w.ctx, a.address + d * 4, values[d]))
                return stop_with_fault(w, inst);
            loaded[d] = true;
        }
    }
    if (!inst.dst[0].is(Operand::Kind::Sgpr)) return;  // null takes nothing
    const uint32_t first = inst.dst[0].reg;
    for (uint32_t d = 0; d < Dwords; ++d)
        if ((loaded[d] || zeros) && first + d < 128) w.sgpr[first + d] = values[d];
}

// Elements of one or two bytes, extended; out of range the register stays as it was, or is 0.
template <class A, class T>
void s_load_narrow(Wave& w, const Inst& inst) {
    const A a(w, inst);
    if (!settled(w, a, sizeof(T))) return;
    std::make_unsigned_t<T> raw = 0;
    const bool inside = a.in_range(0, sizeof(T));
    if (!inside && !traits(w).wide_buffers) return;
    if (inside && !memory::read(*w.ctx, a.address, raw)) return stop_with_fault(w, inst);
    write_s32(w, inst.dst[0], static_cast<uint32_t>(static_cast<int32_t>(static_cast<T>(raw))));
}

template <class A, uint32_t Dwords>
void s_store(Wave& w, const Inst& inst) {
    const A a(w, inst);
    for (uint32_t d = 0; d < Dwords; ++d) {
        if (!a.in_range(d * 4, 4)) continue;
        const uint32_t value = w.sgpr[(inst.vdata().reg + d) & 127];
        if (!memory::write(*w.ctx, a.address + d * 4, value)) return stop_with_fault(w, inst);
    }
    memory::order_stores(*w.ctx);  // no wait tells scalar stores from scalar loads
}

template <class T>
T scalar_value(const Wave& w, uint32_t r) {
    if constexpr (sizeof(T) == 4)
        return w.sgpr[r & 127];
    else
        return w.sgpr[r & 127] | uint64_t{w.sgpr[(r + 1) & 127]} << 32;
}

template <class A, class Op>
void s_atomic(Wave& w, const Inst& inst) {
    using T = typename Op::Type;
    const A a(w, inst);
    if (!a.in_range(0, sizeof(T))) return;
    if (a.address % sizeof(T)) return stop_with_fault(w, inst);
    if (auto* const weak = weak_memory(w))
        weak->make_room(*w.ctx, w.wave_in_group, a.address, sizeof(T));
    memory::AtomicPlace place(*w.ctx, a.address, sizeof(T));
    if (!place.get()) return stop_with_fault(w, inst);
    const T data = scalar_value<T>(w, inst.vdata().reg);
    T data2 = 0;
    if constexpr (std::is_same_v<Op, rmw::CmpSwap<T>>)
        data2 = scalar_value<T>(w, inst.vdata().reg + sizeof(T) / 4);
    const T old = atomic_apply<Op>(place.get(), data, data2, memory_atomic_mode(w, false));
    if (!place.finish()) return stop_with_fault(w, inst);
    if (!inst.glc) return;
    const uint32_t r = inst.vdata().reg;  // SDATA is source and destination
    w.sgpr[r & 127] = static_cast<uint32_t>(old);
    if constexpr (sizeof(T) == 8) w.sgpr[(r + 1) & 127] = static_cast<uint32_t>(old >> 32);
}

// Core clock counter.
void s_memtime(Wave& w, const Inst& inst) {
    write_s64(w, inst.dst[0], core_clock(w));
}

void s_memrealtime(Wave& w, const Inst& inst) {
    write_s64(w, inst.dst[0], reference_clock(w));
}

// gfx11+: of the messages that are answered, the one that asks for the time.
void s_sendmsg_rtn(Wave& w, const Inst& inst) {
    constexpr uint64_t get_realtime = 131;
    if (inst.src[0].value != get_realtime)
        return stop(w, ExitKind::Unimplemented, "s_sendmsg_rtn: a message other than GET_REALTIME");
    if (inst.op == Opcode::s_sendmsg_rtn_b64) return write_s64(w, inst.dst[0], reference_clock(w));
    write_s32(w, inst.dst[0], static_cast<uint32_t>(reference_clock(w)));
}

// There is no scalar cache to write back, invalidate or probe: every access is coherent.
void no_operation(Wave&, const Inst&) {}

using Raw = Plain<1>;
constexpr uint32_t scratch_scale = 64;
using Scratch = Plain<scratch_scale>;

// clang-format off
#define WJ_S_ATOMICS(prefix, A)                                                                             \
    {Opcode::prefix##_swap, s_atomic<A, rmw::Swap<uint32_t>>}, {Opcode::prefix##_cmpswap, s_atomic<A, rmw::CmpSwap<uint32_t>>}, \
    {Opcode::prefix##_add, s_atomic<A, rmw::Add<uint32_t>>}, {Opcode::prefix##_sub, s_atomic<A, rmw::Sub<uint32_t>>},     \
    {Opcode::prefix##_smin, s_atomic<A, rmw::SMin<uint32_t>>}, {Opcode::prefix##_umin, s_atomic<A, rmw::UMin<uint32_t>>}, \
    {Opcode::prefix##_smax, s_atomic<A, rmw::SMax<uint32_t>>}, {Opcode::prefix##_umax, s_atomic<A, rmw::UMax<uint32_t>>}, \
    {Opcode::prefix##_and, s_atomic<A, rmw::And<uint32_t>>}, {Opcode::prefix##_or, s_atomic<A, rmw::Or<uint32_t>>},       \
    {Opcode::prefix##_xor, s_atomic<A, rmw::Xor<uint32_t>>}, {Opcode::prefix##_inc, s_atomic<A, rmw::Inc<uint32_t>>},     \
    {Opcode::prefix##_dec, s_atomic<A, rmw::Dec<uint32_t>>},                                                              \
    {Opcode::prefix##_swap_x2, s_atomic<A, rmw::Swap<uint64_t>>}, {Opcode::prefix##_cmpswap_x2, s_atomic<A, rmw::CmpSwap<uint64_t>>}, \
    {Opcode::prefix##_add_x2, s_atomic<A, rmw::Add<uint64_t>>}, {Opcode::prefix##_sub_x2, s_atomic<A, rmw::Sub<uint64_t>>},     \
    {Opcode::prefix##_smin_x2, s_atomic<A, rmw::SMin<uint64_t>>}, {Opcode::prefix##_umin_x2, s_atomic<A, rmw::UMin<uint64_t>>}, \
    {Opcode::prefix##_smax_x2, s_atomic<A, rmw::SMax<uint64_t>>}, {Opcode::prefix##_umax_x2, s_atomic<A, rmw::UMax<uint64_t>>}, \
    {Opcode::prefix##_and_x2, s_atomic<A, rmw::And<uint64_t>>}, {Opcode::prefix##_or_x2, s_atomic<A, rmw::Or<uint64_t>>},       \
    {Opcode::prefix##_xor_x2, s_atomic<A, rmw::Xor<uint64_t>>}, {Opcode::prefix##_inc_x2, s_atomic<A, rmw::Inc<uint64_t>>},     \
    {Opcode::prefix##_dec_x2, s_atomic<A, rmw::Dec<uint64_t>>}

constexpr HandlerEntry table[] = {
    {Opcode::s_load_b96, s_load<Raw, 3>},
    {Opcode::s_buffer_load_b96, s_load<Buffer, 3>},
    {Opcode::s_load_i8, s_load_narrow<Plain<1, 1>, int8_t>},
    {Opcode::s_load_u8, s_load_narrow<Plain<1, 1>, uint8_t>},
    {Opcode::s_load_i16, s_load_narrow<Plain<1, 2>, int16_t>},
    {Opcode::s_load_u16, s_load_narrow<Plain<1, 2>, uint16_t>},
    {Opcode::s_buffer_load_i8, s_load_narrow<BufferOf<1>, int8_t>},
    {Opcode::s_buffer_load_u8, s_load_narrow<BufferOf<1>, uint8_t>},
    {Opcode::s_buffer_load_i16, s_load_narrow<BufferOf<2>, int16_t>},
    {Opcode::s_buffer_load_u16, s_load_narrow<BufferOf<2>, uint16_t>},
    {Opcode::s_prefetch_inst, no_operation},
    {Opcode::s_prefetch_inst_pc_rel, no_operation},
    {Opcode::s_prefetch_data, no_operation},
    {Opcode::s_prefetch_data_pc_rel, no_operation},
    {Opcode::s_buffer_prefetch_data, no_operation},
    {Opcode::s_load_dword, s_load<Raw, 1>},
    {Opcode::s_load_dwordx2, s_load<Raw, 2>},
    {Opcode::s_load_dwordx4, s_load<Raw, 4>},
    {Opcode::s_load_dwordx8, s_load<Raw, 8>},
    {Opcode::s_load_dwordx16, s_load<Raw, 16>},
    {Opcode::s_scratch_load_dword, s_load<Scratch, 1>},
    {Opcode::s_scratch_load_dwordx2, s_load<Scratch, 2>},
    {Opcode::s_scratch_load_dwordx4, s_load<Scratch, 4>},
    {Opcode::s_buffer_load_dword, s_load<Buffer, 1>},
    {Opcode::s_buffer_load_dwordx2, s_load<Buffer, 2>},
    {Opcode::s_buffer_load_dwordx4, s_load<Buffer, 4>},
    {Opcode::s_buffer_load_dwordx8, s_load<Buffer, 8>},
    {Opcode::s_buffer_load_dwordx16, s_load<Buffer, 16>},
    {Opcode::s_store_dword, s_store<Raw, 1>},
    {Opcode::s_store_dwordx2, s_store<Raw, 2>},
    {Opcode::s_store_dwordx4, s_store<Raw, 4>},
    {Opcode::s_scratch_store_dword, s_store<Scratch, 1>},
    {Opcode::s_scratch_store_dwordx2, s_store<Scratch, 2>},
    {Opcode::s_scratch_store_dwordx4, s_store<Scratch, 4>},
    {Opcode::s_buffer_store_dword, s_store<Buffer, 1>},
    {Opcode::s_buffer_store_dwordx2, s_store<Buffer, 2>},
    {Opcode::s_buffer_store_dwordx4, s_store<Buffer, 4>},
    WJ_S_ATOMICS(s_atomic, Raw),
    WJ_S_ATOMICS(s_buffer_atomic, Buffer),
    {Opcode::s_dcache_inv, no_operation},
    {Opcode::s_dcache_wb, no_operation},
    {Opcode::s_dcache_inv_vol, no_operation},
    {Opcode::s_dcache_wb_vol, no_operation},
    {Opcode::s_dcache_discard, no_operation},
    {Opcode::s_dcache_discard_x2, no_operation},
    {Opcode::s_atc_probe, no_operation},
    {Opcode::s_atc_probe_buffer, no_operation},
    {Opcode::s_gl1_inv, no_operation},
    {Opcode::s_get_waveid_in_workgroup, [](Wave& w, const Inst& in) { write_s32(w, in.dst[0], w.wave_in_group); }},
    {Opcode::s_memtime, s_memtime},
    {Opcode::s_memrealtime, s_memrealtime},
    {Opcode::s_sendmsg_rtn_b32, s_sendmsg_rtn},
    {Opcode::s_sendmsg_rtn_b64, s_sendmsg_rtn},
};
// clang-format on

}  // namespace

uint64_t scalar_address(const Wave& w, const Inst& inst) {
    const EncodingInfo& encoding = encoding_info(inst.op);
    const uint32_t bytes = effects(inst.op).bytes;
    if (encoding.scratch) return Scratch(w, inst).address;
    if (bytes == 1)
        return encoding.v_sharp ? BufferOf<1>(w, inst).address : Plain<1, 1>(w, inst).address;
    if (bytes == 2)
        return encoding.v_sharp ? BufferOf<2>(w, inst).address : Plain<1, 2>(w, inst).address;
    return encoding.v_sharp ? Buffer(w, inst).address : Raw(w, inst).address;
}

std::optional<uint64_t> misaligned_scalar_address(const Wave& w, const Inst& inst) {
    const EncodingInfo& encoding = encoding_info(inst.op);
    const uint32_t bytes = effects(inst.op).bytes;
    if (!bytes) return std::nullopt;
    const uint64_t low = std::min(bytes, 4u) - 1;
    uint64_t base = w.s64(sbase(inst));
    if (encoding.v_sharp) base = descriptor(w, inst).base;
    const uint64_t immediate = immediate_offset<1>(inst), in_register = register_offset<1>(w, inst);
    if (!((base | immediate | in_register) & low)) return std::nullopt;
    return base + immediate + in_register * (encoding.scratch ? scratch_scale : 1);
}

uint64_t reference_clock(const Wave& w) {
    constexpr uint64_t instructions_in_tick = 16;  // as of a core clock of 1.6 GHz
    if (w.ctx->counts_time) return core_clock(w) / instructions_in_tick;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t ns =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    return ns / (1'000'000'000 / machine::reference_clock_hz);
}

std::span<const HandlerEntry> mem_smem_handlers() {
    return table;
}

}  // namespace wj::interp
