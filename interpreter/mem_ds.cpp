// LDS instructions, lane permutations included. LDS addresses are 32 bits and wrap; unaligned
// accesses work (ROCm sets SH_MEM_CONFIG.alignment_mode = unaligned), except for atomics; M0 is no
// limit on gfx9. The GDS forms run the same handlers on another memory (in_gds).

#include "interpreter/atomics.h"
#include "interpreter/mem.h"
#include "interpreter/mem_gds.h"
#include "interpreter/transposed.h"

namespace wj::interp {
namespace {

using Address = uint32_t;

bool refuse_gds(Wave& w, const Inst& inst) {
    if (!inst.gds) return false;
    stop(w, ExitKind::Unimplemented, "gds on an instruction that the data share does not have");
    return true;
}

Address at(const uint32_t* base, uint32_t lane, uint32_t offset) {
    return base[lane] + offset;
}

// ---- reads and writes
// -------------------------------------------------------------------------------

template <Load K>
void read(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, read<K>)) return;
    using T = typename LoadType<K>::type;
    const uint32_t* base = vrow(w, inst.vaddr());
    alignas(64) uint32_t values[sizeof(T) > 4 ? sizeof(T) / 4 : 1][lanes];
    for_each_lane(w.exec(), [&](uint32_t lane) {
        const T raw = lds_read<T>(w, at(base, lane, static_cast<uint32_t>(inst.offset)));
        if constexpr (sizeof(T) <= 4) {
            values[0][lane] = extend<K>(raw);
        } else {
            uint32_t words[sizeof(T) / 4];
            std::memcpy(words, &raw, sizeof(T));
            for (size_t d = 0; d < sizeof(T) / 4; ++d) values[d][lane] = words[d];
        }
    });
    commit_load<K>(w, inst, values, w.exec());
}

template <Store K>
void write(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, write<K>)) return;
    const uint32_t* base = vrow(w, inst.vaddr());
    for_each_lane(w.exec(), [&](uint32_t lane) {
        lds_write(w, at(base, lane, static_cast<uint32_t>(inst.offset)),
                  store_value<K>(w, inst.vdata(), lane));
    });
}

// Two addresses: each 8-bit offset counts elements, or 64 elements in the st64 forms. Two equal
// offsets mean one address, which is written once, with DATA0 (CDNA3 ISA, 11.3.1).
template <class T, uint32_t Scale>
void read2(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, read2<T, Scale>)) return;
    constexpr uint32_t unit = sizeof(T) * Scale, dwords = sizeof(T) / 4;
    const uint32_t* base = vrow(w, inst.vaddr());
    const uint32_t offsets[2] = {static_cast<uint32_t>(inst.offset) * unit, inst.offset1 * unit};
    // What lies side by side is one access, which does not wrap around at the end of 32 bits.
    const bool neighbours = Scale == 1 && offsets[1] == offsets[0] + unit;
    alignas(64) uint32_t values[2 * dwords][lanes];
    for_each_lane(w.exec(), [&](uint32_t lane) {
        const uint64_t first = at(base, lane, offsets[0]);
        const uint64_t addresses[] = {first,
                                      neighbours ? first + unit : at(base, lane, offsets[1])};
        for (uint32_t i = 0; i < 2; ++i) {
            const T v = lds_read<T>(w, addresses[i]);
            values[i * dwords][lane] = static_cast<uint32_t>(v);
            if constexpr (dwords == 2) values[i * 2 + 1][lane] = static_cast<uint32_t>(v >> 32);
        }
    });
    for (uint32_t d = 0; d < 2 * dwords; ++d)
        write_row(vrow(w, inst.dst[0], d), values[d], w.exec());
}

template <class T, uint32_t Scale>
void write2(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, write2<T, Scale>)) return;
    constexpr uint32_t unit = sizeof(T) * Scale;
    const uint32_t* base = vrow(w, inst.vaddr());
    const uint32_t offsets[2] = {static_cast<uint32_t>(inst.offset) * unit, inst.offset1 * unit};
    // Where lanes collide, the second values come behind the first ones of all lanes.
    for_each_lane(w.exec(), [&](uint32_t lane) {
        lds_write<T>(w, at(base, lane, offsets[0]), vector_value<T>(w, inst.vdata(), lane));
    });
    if (offsets[0] == offsets[1]) return;
    for_each_lane(w.exec(), [&](uint32_t lane) {
        lds_write<T>(w, at(base, lane, offsets[1]), vector_value<T>(w, inst.vdata2(), lane));
    });
}

template <class T, uint32_t Scale>
void exchange2(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, exchange2<T, Scale>)) return;
    constexpr uint32_t unit = sizeof(T) * Scale, dwords = sizeof(T) / 4;
    const uint32_t* base = vrow(w, inst.vaddr());
    const uint32_t offsets[2] = {static_cast<uint32_t>(inst.offset) * unit, inst.offset1 * unit};
    alignas(64) uint32_t values[2 * dwords][lanes];
    for_each_lane(w.exec(), [&](uint32_t lane) {
        // Both are read before either is written.
        T old[2];
        for (uint32_t i = 0; i < 2; ++i) {
            old[i] = lds_read<T>(w, at(base, lane, offsets[i]));
            values[i * dwords][lane] = static_cast<uint32_t>(old[i]);
            if constexpr (dwords == 2)
                values[i * 2 + 1][lane] = static_cast<uint32_t>(old[i] >> 32);
        }
        lds_write<T>(w, at(base, lane, offsets[0]), vector_value<T>(w, inst.vdata(), lane));
        if (offsets[0] != offsets[1])
            lds_write<T>(w, at(base, lane, offsets[1]), vector_value<T>(w, inst.vdata2(), lane));
    });
    for (uint32_t d = 0; d < 2 * dwords; ++d)
        write_row(vrow(w, inst.dst[0], d), values[d], w.exec());
}

// 16 columns: ds_read_b64_tr_b16/b8/b4 and ds_read_b96_tr_b6 of gfx950 (layout as in Triton's
// lowering, triton-lang/triton#8525, and as ROCm's TransposeInstructionsTest of rocRoller expects
// of the hardware). Eight: gfx12.5's ds_load_tr16_b128, of which four groups make the 16x16 matrix
// of CDNA5 ISA, 10.9 and 11.2.4 (as Triton's lowering for gfx1250 addresses it, and probes of the
// hardware found). "The EXEC mask must be set to all 1's" (CDNA4 ISA, 11.4), or counts as that
// (CDNA5 ISA): others are refused.
template <uint32_t Bits, uint32_t Dwords, uint32_t Columns>
void read_transposed(Wave& w, const Inst& inst) {
    if (refuse_gds(w, inst)) return;
    if (w.exec() != machine::first_lanes(w.size))
        return stop(w, ExitKind::Unimplemented, "transposing LDS read with inactive lanes");
    const uint32_t* base = vrow(w, inst.vaddr());
    std::array<uint32_t, Dwords> read[lanes];
    for (uint32_t lane = 0; lane < w.size; ++lane)
        read[lane] = lds_read<std::array<uint32_t, Dwords>>(
            w, at(base, lane, static_cast<uint32_t>(inst.offset)));
    write_transposed<Bits, Columns>(w, inst, read);
}

// ---- atomics
// ----------------------------------------------------------------------------------------

// Two-operand forms take DATA and DATA2 as they stand, except that ds_cmpst compares with DATA and
// stores DATA2: rmw::CmpSwap wants them the other way round.
template <class Op>
constexpr bool compares = std::is_same_v<Op, rmw::CmpSwap<typename Op::Type>> ||
                          std::is_same_v<Op, rmw::FCmpSwap<typename Op::Type>>;

// ds_cmpstore of gfx11 has them in rmw::CmpSwap's order.
template <class Op, bool Return, bool Swapped = compares<Op>>
void atomic_ds(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, atomic_ds<Op, Return, Swapped>)) return;
    using T = typename Op::Type;
    const uint32_t* base = vrow(w, inst.vaddr());
    const AtomicMode mode = lds_atomic_mode(w);
    const bool two = is_vector(inst.vdata2());
    alignas(64) uint32_t olds[sizeof(T) / 4][lanes];
    for (uint64_t left = w.exec(); left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(left));
        const Address a = at(base, lane, static_cast<uint32_t>(inst.offset));
        if (a % sizeof(T)) return stop_with_fault(w, inst);
        T data = vector_value<T>(w, inst.vdata(), lane);
        T data2 = two ? vector_value<T>(w, inst.vdata2(), lane) : 0;
        if constexpr (Swapped) std::swap(data, data2);
        const T old = lds_atomic<Op>(w, a, data, data2, mode);
        olds[0][lane] = static_cast<uint32_t>(old);
        if constexpr (sizeof(T) == 8) olds[1][lane] = static_cast<uint32_t>(old >> 32);
    }
    if constexpr (Return) commit_old<T>(w, inst.dst[0], olds, w.exec());
}

// ds_condxchg32_rtn_b64: each dword is exchanged when its new value has bit 31 set, which is not
// stored.
void conditional_exchange(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, conditional_exchange)) return;
    const uint32_t* base = vrow(w, inst.vaddr());
    alignas(64) uint32_t olds[2][lanes];
    for_each_lane(w.exec(), [&](uint32_t lane) {
        const Address a = at(base, lane, static_cast<uint32_t>(inst.offset)) & 0xfff8;
        for (uint32_t d = 0; d < 2; ++d) {
            olds[d][lane] = lds_read<uint32_t>(w, a + 4 * d);
            const uint32_t data = vrow(w, inst.vdata(), d)[lane];
            if (data >> 31) lds_write<uint32_t>(w, a + 4 * d, data & 0x7fffffff);
        }
    });
    commit_old<uint64_t>(w, inst.dst[0], olds, w.exec());
}

// ds_*_src2_*: both operands are in LDS. The second one's distance is in dwords: a signed 15-bit
// immediate, or, with offset1[7], the address's upper 15 bits (Vega ISA manual, DS_ADD_SRC2_U32).
template <class Op>
void src2(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, src2<Op>)) return;
    using T = typename Op::Type;
    const uint32_t* base = vrow(w, inst.vaddr());
    const AtomicMode mode = lds_atomic_mode(w);
    const auto offset = static_cast<uint32_t>(inst.offset) | uint32_t{inst.offset1} << 8;
    const bool from_address = offset >> 15 & 1;
    const auto immediate = static_cast<int32_t>(offset << 17) >> 17;
    for (uint64_t left = w.exec(); left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(left));
        const int32_t distance = from_address ? static_cast<int32_t>(base[lane]) >> 17 : immediate;
        const Address a = from_address ? base[lane] & 0x1ffff : base[lane];
        if (a % sizeof(T)) return stop_with_fault(w, inst);
        const T data =
            lds_read<T>(w, static_cast<Address>(a + static_cast<uint32_t>(distance) * 4));
        lds_atomic<Op>(w, a, data, 0, mode);
    }
}

// ---- append, consume, addtid
// ------------------------------------------------------------------------

// One counter per instruction: it moves by the number of active lanes, all of which get the old
// value.
void count_lanes(Wave& w, const Inst& inst, uint32_t base, bool append) {
    const uint64_t exec = w.exec();
    if (!exec) return;
    const uint32_t a = base + static_cast<uint32_t>(inst.offset);
    const uint32_t old = lds_read<uint32_t>(w, a);
    const auto count = static_cast<uint32_t>(__builtin_popcountll(exec));
    lds_write<uint32_t>(w, a, append ? old + count : old - count);
    uint32_t* d = vrow(w, inst.dst[0]);
    for_each_lane(exec, [&](uint32_t lane) { d[lane] = old; });
}

template <bool Append>
void count_lanes_gds(Wave& w, const Inst& inst) {
    count_lanes(w, inst, 0, Append);  // GDS_BASE has been added
}

template <bool Append>
void append_consume(Wave& w, const Inst& inst) {
    if (in_gds(w, inst, count_lanes_gds<Append>)) return;
    count_lanes(w, inst, w.sgpr[machine::m0] & 0xffff, Append);
}

template <bool Write>
void addtid(Wave& w, const Inst& inst) {
    if (refuse_gds(w, inst)) return;
    const uint32_t base = static_cast<uint32_t>(inst.offset) + (w.sgpr[machine::m0] & 0xffff);
    for_each_lane(w.exec(), [&](uint32_t lane) {
        if constexpr (Write)
            lds_write<uint32_t>(w, base + lane * 4, vrow(w, inst.vdata())[lane]);
        else
            vrow(w, inst.dst[0])[lane] = lds_read<uint32_t>(w, base + lane * 4);
    });
}

// ---- lane permutations (no LDS)
// -----------------------------------------------------------------------

uint32_t reverse5(uint32_t v) {
    uint32_t r = 0;
    for (uint32_t b = 0; b < 5; ++b) r |= (v >> b & 1) << (4 - b);
    return r;
}

uint32_t swizzle_source(uint32_t offset, uint32_t i) {
    if (offset >= 0xe000) {  // FFT
        const uint32_t mask = offset & 0x1f;
        return (reverse5(i & 0x1f) >> __builtin_popcount(mask)) | (i & mask) | (i & 0x20);
    }
    if (offset >= 0xc000) {  // rotate
        const uint32_t mask = offset & 0x1f;
        uint32_t amount = offset >> 5 & 0x1f;
        if (offset >> 10 & 1) amount = 0u - amount;
        return (i & mask) | ((i + amount) & ~mask & 0x1f) | (i & 0x20);
    }
    if (offset & 0x8000) return (i & ~3u) | (offset >> 2 * (i & 3) & 3);  // quads
    const uint32_t j = (((i & 0x1f) & offset) | (offset >> 5 & 0x1f)) ^ (offset >> 10 & 0x1f);
    return (j & 0x1f) | (i & 0x20);
}

void swizzle(Wave& w, const Inst& inst) {
    if (refuse_gds(w, inst)) return;
    const uint64_t exec = w.exec();
    const uint32_t* in = vrow(w, inst.vaddr());
    alignas(64) uint32_t out[lanes];
    for (uint32_t i = 0; i < lanes; ++i) {
        const uint32_t from = swizzle_source(static_cast<uint32_t>(inst.offset) & 0xffff, i);
        out[i] = exec >> from & 1 ? in[from] : 0;
    }
    write_row(vrow(w, inst.dst[0]), out, exec);
}

void permute(Wave& w, const Inst& inst) {
    const uint64_t exec = w.exec();
    const uint32_t* address = vrow(w, inst.vaddr());
    const uint32_t* data = vrow(w, inst.vdata());
    alignas(64) uint32_t out[lanes] = {};
    for_each_lane(exec, [&](uint32_t lane) {
        out[(address[lane] + static_cast<uint32_t>(inst.offset)) / 4 % w.size] = data[lane];
    });
    write_row(vrow(w, inst.dst[0]), out, exec);
}

// FromAll: from lanes that are off, too (ds_bpermute_fi_b32).
template <bool FromAll>
void bpermute(Wave& w, const Inst& inst) {
    const uint64_t exec = w.exec();
    const uint32_t* address = vrow(w, inst.vaddr());
    const uint32_t* data = vrow(w, inst.vdata());
    alignas(64) uint32_t out[lanes] = {};
    for_each_lane(exec, [&](uint32_t lane) {
        const uint32_t from = (address[lane] + static_cast<uint32_t>(inst.offset)) / 4 % w.size;
        if (FromAll || exec >> from & 1) out[lane] = data[from];
    });
    write_row(vrow(w, inst.dst[0]), out, exec);
}

// One value for all lanes, which M0 names.
void direct_load(Wave& w, const Inst& inst) {
    constexpr uint32_t lds_direct = 254;
    const auto value = static_cast<uint32_t>(read_special(w, lds_direct));
    for_each_lane(w.exec(), [&](uint32_t lane) { vrow(w, inst.dst[0])[lane] = value; });
}

void no_operation(Wave&, const Inst&) {}

// clang-format off
#define WJ_DS_ATOMIC(stem, suffix, Op)                                             \
    {Opcode::ds_##stem##_##suffix, atomic_ds<Op, false>},                          \
    {Opcode::ds_##stem##_rtn_##suffix, atomic_ds<Op, true>}
#define WJ_DS_CMPSTORE(suffix, Op)                                                 \
    {Opcode::ds_cmpstore_##suffix, atomic_ds<Op, false, false>},                   \
    {Opcode::ds_cmpstore_rtn_##suffix, atomic_ds<Op, true, false>}
#define WJ_DS_INTEGERS(bits, T)                                                    \
    WJ_DS_ATOMIC(add, u##bits, rmw::Add<T>), WJ_DS_ATOMIC(sub, u##bits, rmw::Sub<T>),      \
    WJ_DS_ATOMIC(rsub, u##bits, rmw::RSub<T>), WJ_DS_ATOMIC(inc, u##bits, rmw::Inc<T>),    \
    WJ_DS_ATOMIC(dec, u##bits, rmw::Dec<T>), WJ_DS_ATOMIC(min, i##bits, rmw::SMin<T>),     \
    WJ_DS_ATOMIC(max, i##bits, rmw::SMax<T>), WJ_DS_ATOMIC(min, u##bits, rmw::UMin<T>),    \
    WJ_DS_ATOMIC(max, u##bits, rmw::UMax<T>), WJ_DS_ATOMIC(and, b##bits, rmw::And<T>),     \
    WJ_DS_ATOMIC(or, b##bits, rmw::Or<T>), WJ_DS_ATOMIC(xor, b##bits, rmw::Xor<T>),        \
    WJ_DS_ATOMIC(mskor, b##bits, rmw::MskOr<T>), WJ_DS_ATOMIC(cmpst, b##bits, rmw::CmpSwap<T>), \
    WJ_DS_ATOMIC(cmpst, f##bits, rmw::FCmpSwap<T>), WJ_DS_ATOMIC(min, f##bits, rmw::FMin<T>),   \
    WJ_DS_ATOMIC(max, f##bits, rmw::FMax<T>), WJ_DS_ATOMIC(add, f##bits, rmw::FAdd<T>),         \
    {Opcode::ds_wrxchg_rtn_b##bits, atomic_ds<rmw::Swap<T>, true>},                        \
    {Opcode::ds_wrxchg2_rtn_b##bits, exchange2<T, 1>},                                     \
    {Opcode::ds_wrxchg2st64_rtn_b##bits, exchange2<T, 64>},                                \
    {Opcode::ds_read2_b##bits, read2<T, 1>}, {Opcode::ds_read2st64_b##bits, read2<T, 64>}, \
    {Opcode::ds_write2_b##bits, write2<T, 1>}, {Opcode::ds_write2st64_b##bits, write2<T, 64>}
#define WJ_DS_SRC2(bits, T)                                                                \
    {Opcode::ds_add_src2_u##bits, src2<rmw::Add<T>>}, {Opcode::ds_sub_src2_u##bits, src2<rmw::Sub<T>>},   \
    {Opcode::ds_rsub_src2_u##bits, src2<rmw::RSub<T>>}, {Opcode::ds_inc_src2_u##bits, src2<rmw::Inc<T>>}, \
    {Opcode::ds_dec_src2_u##bits, src2<rmw::Dec<T>>}, {Opcode::ds_min_src2_i##bits, src2<rmw::SMin<T>>},  \
    {Opcode::ds_max_src2_i##bits, src2<rmw::SMax<T>>}, {Opcode::ds_min_src2_u##bits, src2<rmw::UMin<T>>}, \
    {Opcode::ds_max_src2_u##bits, src2<rmw::UMax<T>>}, {Opcode::ds_and_src2_b##bits, src2<rmw::And<T>>},  \
    {Opcode::ds_or_src2_b##bits, src2<rmw::Or<T>>}, {Opcode::ds_xor_src2_b##bits, src2<rmw::Xor<T>>},     \
    {Opcode::ds_write_src2_b##bits, src2<rmw::Swap<T>>}, {Opcode::ds_min_src2_f##bits, src2<rmw::FMin<T>>}, \
    {Opcode::ds_max_src2_f##bits, src2<rmw::FMax<T>>}

constexpr HandlerEntry table[] = {
    WJ_DS_INTEGERS(32, uint32_t),
    WJ_DS_INTEGERS(64, uint64_t),
    WJ_DS_CMPSTORE(b32, rmw::CmpSwap<uint32_t>),
    WJ_DS_CMPSTORE(b64, rmw::CmpSwap<uint64_t>),
    WJ_DS_CMPSTORE(f32, rmw::FCmpSwap<uint32_t>),
    WJ_DS_CMPSTORE(f64, rmw::FCmpSwap<uint64_t>),
    WJ_DS_ATOMIC(cond_sub, u32, rmw::CondSub<uint32_t>),
    WJ_DS_ATOMIC(sub_clamp, u32, rmw::CSub<uint32_t>),
    WJ_DS_SRC2(32, uint32_t),
    WJ_DS_SRC2(64, uint64_t),
    {Opcode::ds_add_src2_f32, src2<rmw::FAdd<uint32_t>>},
    {Opcode::ds_wrap_rtn_b32, atomic_ds<rmw::Wrap<uint32_t>, true>},
    {Opcode::ds_pk_add_f16, atomic_ds<rmw::PkAddF16, false>},
    {Opcode::ds_pk_add_rtn_f16, atomic_ds<rmw::PkAddF16, true>},
    {Opcode::ds_pk_add_bf16, atomic_ds<rmw::PkAddBf16, false>},
    {Opcode::ds_pk_add_rtn_bf16, atomic_ds<rmw::PkAddBf16, true>},
    {Opcode::ds_condxchg32_rtn_b64, conditional_exchange},
    {Opcode::ds_read_b32, read<Load::B32>},
    {Opcode::ds_read_b64, read<Load::B64>},
    {Opcode::ds_read_b96, read<Load::B96>},
    {Opcode::ds_read_b128, read<Load::B128>},
    {Opcode::ds_read_i8, read<Load::I8>},
    {Opcode::ds_read_u8, read<Load::U8>},
    {Opcode::ds_read_i16, read<Load::I16>},
    {Opcode::ds_read_u16, read<Load::U16>},
    {Opcode::ds_read_u8_d16, read<Load::D16U8>},
    {Opcode::ds_read_u8_d16_hi, read<Load::D16HiU8>},
    {Opcode::ds_read_i8_d16, read<Load::D16I8>},
    {Opcode::ds_read_i8_d16_hi, read<Load::D16HiI8>},
    {Opcode::ds_read_u16_d16, read<Load::D16B16>},
    {Opcode::ds_read_u16_d16_hi, read<Load::D16HiB16>},
    {Opcode::ds_write_b8, write<Store::B8>},
    {Opcode::ds_write_b16, write<Store::B16>},
    {Opcode::ds_write_b8_d16_hi, write<Store::HiB8>},
    {Opcode::ds_write_b16_d16_hi, write<Store::HiB16>},
    {Opcode::ds_write_b32, write<Store::B32>},
    {Opcode::ds_write_b64, write<Store::B64>},
    {Opcode::ds_write_b96, write<Store::B96>},
    {Opcode::ds_write_b128, write<Store::B128>},
    {Opcode::ds_read_b64_tr_b16, read_transposed<16, 2, 16>},
    {Opcode::ds_read_b64_tr_b8, read_transposed<8, 2, 16>},
    {Opcode::ds_read_b64_tr_b4, read_transposed<4, 2, 16>},
    {Opcode::ds_read_b96_tr_b6, read_transposed<6, 3, 16>},
    {Opcode::ds_load_tr16_b128, read_transposed<16, 4, 8>},
    {Opcode::ds_append, append_consume<true>},
    {Opcode::ds_consume, append_consume<false>},
    {Opcode::ds_read_addtid_b32, addtid<false>},
    {Opcode::ds_write_addtid_b32, addtid<true>},
    {Opcode::ds_swizzle_b32, swizzle},
    {Opcode::ds_permute_b32, permute},
    {Opcode::ds_bpermute_b32, bpermute<false>},
    {Opcode::ds_bpermute_fi_b32, bpermute<true>},
    {Opcode::lds_direct_load, direct_load},
    {Opcode::ds_nop, no_operation},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> mem_ds_handlers() {
    return table;
}

}  // namespace wj::interp
