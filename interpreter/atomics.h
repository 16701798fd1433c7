// Read-modify-write operations of LDS, scalar and vector memory: what each one makes of the old
// value. Semantics: CDNA ISA manual, pseudo-code of DS_*, FLAT_ATOMIC_*; SEED-ATOM-28 for inc and
// dec.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "common/atomic_float.h"
#include "frontend/target.h"
#include "interpreter/mem.h"

namespace wj::interp {

// Handling of f32 denormals by float atomics: LDS goes by MODE, sums of the memory units of gfx908
// and gfx90a always flush, later ones keep (LLVM: hasMemoryAtomicFaddF32DenormalSupport). In memory
// f64 and packed operations keep, as do comparisons.
struct AtomicMode {
    gf::FloatMode mode;
    bool prefer_numbers = false;  // Traits::atomics_prefer_numbers
};

inline AtomicMode lds_atomic_mode(const Wave& w) {
    return {gf::FloatMode{w.mode}, traits(w).atomics_prefer_numbers};
}
inline AtomicMode memory_atomic_mode(const Wave& w, bool is_sum) {
    const bool keep = !is_sum || traits(w).memory_fadd_f32_keeps_denorms;
    return {gf::FloatMode{(w.mode & ~0xffu) | 0xc0u | (keep ? 0x30u : 0u)},
            traits(w).atomics_prefer_numbers};
}

namespace rmw {

// T apply(old, data, data2, mode): for compare-and-swap data is the new value and data2 the
// expected one.
#define WJ_RMW(name, expression)                                                                  \
    template <class T>                                                                            \
    struct name {                                                                                 \
        using Type = T;                                                                           \
        static T apply([[maybe_unused]] T old, [[maybe_unused]] T data, [[maybe_unused]] T data2, \
                       [[maybe_unused]] const AtomicMode& m) {                                    \
            using S [[maybe_unused]] = std::make_signed_t<T>;                                     \
            return static_cast<T>(expression);                                                    \
        }                                                                                         \
    }
WJ_RMW(Swap, data);
WJ_RMW(CmpSwap, old == data2 ? data : old);
WJ_RMW(Add, old + data);
WJ_RMW(Sub, old - data);
WJ_RMW(RSub, data - old);
WJ_RMW(SMin, static_cast<S>(data) < static_cast<S>(old) ? data : old);
WJ_RMW(SMax, static_cast<S>(data) >= static_cast<S>(old) ? data : old);
WJ_RMW(UMin, data < old ? data : old);
WJ_RMW(UMax, data >= old ? data : old);
WJ_RMW(And, (old)&data);
WJ_RMW(Or, old | data);
WJ_RMW(Xor, old ^ data);
WJ_RMW(Inc, old >= data ? 0 : old + 1);
WJ_RMW(Dec, old == 0 || old > data ? data : old - 1);
WJ_RMW(MskOr, (old & ~data) | data2);
WJ_RMW(CSub, old < data ? 0 : old - data);
WJ_RMW(CondSub, old >= data ? old - data : old);
WJ_RMW(Wrap, old >= data ? old - data : old + data2);
#undef WJ_RMW

template <class T>
using FloatOf = std::conditional_t<sizeof(T) == 4, float, double>;

// f64 sums keep denormals in LDS, too.
template <class T>
struct FAdd {
    using Type = T;
    static T apply(T old, T data, T, const AtomicMode& m) {
        const bool f64 = sizeof(T) == 8;
        return gf::atomic_add<FloatOf<T>>(old, data, !f64 && !m.mode.template keeps_inputs<float>(),
                                          !f64 && !m.mode.template keeps_outputs<float>());
    }
};

template <class T, bool Max>
struct FMinMax {
    using Type = T;
    static T apply(T old, T data, T, const AtomicMode& m) {
        using F = FloatOf<T>;
        return gf::atomic_extreme<F, Max>(old, data, !m.mode.template keeps_inputs<F>(),
                                          m.prefer_numbers);
    }
};
template <class T>
using FMin = FMinMax<T, false>;
template <class T>
using FMax = FMinMax<T, true>;

template <class T>
struct FCmpSwap {
    using Type = T;
    static T apply(T old, T data, T data2, const AtomicMode& m) {
        using F = FloatOf<T>;
        const F a = gf::flush_in(m.mode, gf::from_bits<F>(old));
        const F b = gf::flush_in(m.mode, gf::from_bits<F>(data2));
        return a == b ? data : old;
    }
};

template <auto Add>
struct PkAdd {
    using Type = uint32_t;
    static uint32_t apply(uint32_t old, uint32_t data, uint32_t, const AtomicMode& m) {
        return gf::atomic_add_pair<Add>(old, data, !m.mode.keeps_inputs<gf::Half>(),
                                        !m.mode.keeps_outputs<gf::Half>());
    }
};
using PkAddF16 = PkAdd<gf::atomic_add_f16>;
using PkAddBf16 = PkAdd<gf::atomic_add_bf16>;

}  // namespace rmw

// On memory that host threads see: one lock-prefixed instruction or a compare-exchange loop
// (SEED-ATOM-35).
template <class Op>
inline typename Op::Type atomic_apply(void* where, typename Op::Type data, typename Op::Type data2,
                                      const AtomicMode& mode) {
    using T = typename Op::Type;
    std::atomic_ref<T> memory(*static_cast<T*>(where));
    if constexpr (std::is_same_v<Op, rmw::Add<T>>)
        return memory.fetch_add(data);
    else if constexpr (std::is_same_v<Op, rmw::Sub<T>>)
        return memory.fetch_sub(data);
    else if constexpr (std::is_same_v<Op, rmw::And<T>>)
        return memory.fetch_and(data);
    else if constexpr (std::is_same_v<Op, rmw::Or<T>>)
        return memory.fetch_or(data);
    else if constexpr (std::is_same_v<Op, rmw::Xor<T>>)
        return memory.fetch_xor(data);
    else if constexpr (std::is_same_v<Op, rmw::Swap<T>>)
        return memory.exchange(data);
    else if constexpr (std::is_same_v<Op, rmw::CmpSwap<T>>) {
        T expected = data2;
        memory.compare_exchange_strong(expected, data);
        return expected;
    } else {
        T old = memory.load();
        while (!memory.compare_exchange_weak(old, Op::apply(old, data, data2, mode))) {
        }
        return old;
    }
}

// LDS belongs to one work-group, which one thread runs: a plain update is atomic. Out of range: 0,
// nothing written (SEED-ATOM-21).
template <class Op>
inline typename Op::Type lds_atomic(Wave& w, uint64_t address, typename Op::Type data,
                                    typename Op::Type data2, const AtomicMode& mode) {
    using T = typename Op::Type;
    if (address + sizeof(T) > w.lds_size) return 0;
    const T old = lds_read<T>(w, address);
    lds_write<T>(w, address, Op::apply(old, data, data2, mode));
    return old;
}

// False = fault.
template <class Op>
inline bool spot_atomic(Wave& w, Spot spot, uint32_t lane, typename Op::Type data,
                        typename Op::Type data2, typename Op::Type& old) {
    using T = typename Op::Type;
    constexpr bool is_sum = std::is_same_v<Op, rmw::FAdd<T>>;
    if (spot.place == Place::Nowhere) {
        old = 0;
        return true;
    }
    if (spot.address % sizeof(T)) return false;  // SEED-ATOM-38
    if (spot.place == Place::Global) {
        if (auto* const weak = weak_memory(w)) [[unlikely]]
            weak->make_room(*w.ctx, w.wave_in_group, spot.address, sizeof(T));
        memory::AtomicPlace place(*w.ctx, spot.address, sizeof(T));
        if (!place.get()) return false;
        old = atomic_apply<Op>(place.get(), data, data2, memory_atomic_mode(w, is_sum));
        return place.finish();
    }
    if (spot.place == Place::Lds) {
        old = lds_atomic<Op>(w, spot.address, data, data2, lds_atomic_mode(w));
        return true;
    }
    if (!scratch_read(w, spot.address, lane, old)) return false;
    return scratch_write(w, spot.address, lane,
                         Op::apply(old, data, data2, memory_atomic_mode(w, is_sum)));
}

// FLAT, GLOBAL and MUBUF atomics. cmpswap: the data operand holds the new value, then the expected
// one.
template <class Address, class Op>
void atomic(Wave& w, const Inst& inst) {
    using T = typename Op::Type;
    const Address address(w, inst);
    const uint64_t exec = w.exec();
    alignas(64) uint32_t olds[sizeof(T) / 4][lanes];
    constexpr bool compares =
        std::is_same_v<Op, rmw::CmpSwap<T>> || std::is_same_v<Op, rmw::FCmpSwap<T>>;
    for (uint64_t left = exec; left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(left));
        const T data = vector_value<T>(w, inst.vdata(), lane);
        T data2 = 0, old = 0;
        if constexpr (compares) data2 = vector_value<T>(w, inst.vdata(), lane, sizeof(T) / 4);
        if (!spot_atomic<Op>(w, address.spot(lane, 0, sizeof(T)), lane, data, data2, old))
            return stop_with_fault(w, inst);
        olds[0][lane] = static_cast<uint32_t>(old);
        if constexpr (sizeof(T) == 8) olds[1][lane] = static_cast<uint32_t>(old >> 32);
    }
    if (inst.glc && is_vector(inst.dst[0])) commit_old<T>(w, inst.dst[0], olds, exec);
}

// The rows that FLAT, GLOBAL and MUBUF share, for `prefix`_atomic_*.
#define WJ_INTEGER_ATOMICS(prefix, Address)                                     \
    {Opcode::prefix##_swap, atomic<Address, rmw::Swap<uint32_t>>},              \
        {Opcode::prefix##_cmpswap, atomic<Address, rmw::CmpSwap<uint32_t>>},    \
        {Opcode::prefix##_add, atomic<Address, rmw::Add<uint32_t>>},            \
        {Opcode::prefix##_sub, atomic<Address, rmw::Sub<uint32_t>>},            \
        {Opcode::prefix##_smin, atomic<Address, rmw::SMin<uint32_t>>},          \
        {Opcode::prefix##_umin, atomic<Address, rmw::UMin<uint32_t>>},          \
        {Opcode::prefix##_smax, atomic<Address, rmw::SMax<uint32_t>>},          \
        {Opcode::prefix##_umax, atomic<Address, rmw::UMax<uint32_t>>},          \
        {Opcode::prefix##_and, atomic<Address, rmw::And<uint32_t>>},            \
        {Opcode::prefix##_or, atomic<Address, rmw::Or<uint32_t>>},              \
        {Opcode::prefix##_xor, atomic<Address, rmw::Xor<uint32_t>>},            \
        {Opcode::prefix##_inc, atomic<Address, rmw::Inc<uint32_t>>},            \
        {Opcode::prefix##_dec, atomic<Address, rmw::Dec<uint32_t>>},            \
        {Opcode::prefix##_swap_x2, atomic<Address, rmw::Swap<uint64_t>>},       \
        {Opcode::prefix##_cmpswap_x2, atomic<Address, rmw::CmpSwap<uint64_t>>}, \
        {Opcode::prefix##_add_x2, atomic<Address, rmw::Add<uint64_t>>},         \
        {Opcode::prefix##_sub_x2, atomic<Address, rmw::Sub<uint64_t>>},         \
        {Opcode::prefix##_smin_x2, atomic<Address, rmw::SMin<uint64_t>>},       \
        {Opcode::prefix##_umin_x2, atomic<Address, rmw::UMin<uint64_t>>},       \
        {Opcode::prefix##_smax_x2, atomic<Address, rmw::SMax<uint64_t>>},       \
        {Opcode::prefix##_umax_x2, atomic<Address, rmw::UMax<uint64_t>>},       \
        {Opcode::prefix##_and_x2, atomic<Address, rmw::And<uint64_t>>},         \
        {Opcode::prefix##_or_x2, atomic<Address, rmw::Or<uint64_t>>},           \
        {Opcode::prefix##_xor_x2, atomic<Address, rmw::Xor<uint64_t>>},         \
        {Opcode::prefix##_inc_x2, atomic<Address, rmw::Inc<uint64_t>>}, {       \
        Opcode::prefix##_dec_x2, atomic<Address, rmw::Dec<uint64_t>>            \
    }

#define WJ_FLOAT_ATOMICS(prefix, Address)                                   \
    {Opcode::prefix##_add_f32, atomic<Address, rmw::FAdd<uint32_t>>},       \
        {Opcode::prefix##_pk_add_f16, atomic<Address, rmw::PkAddF16>},      \
        {Opcode::prefix##_pk_add_bf16, atomic<Address, rmw::PkAddBf16>},    \
        {Opcode::prefix##_add_f64, atomic<Address, rmw::FAdd<uint64_t>>},   \
        {Opcode::prefix##_min_f64, atomic<Address, rmw::FMin<uint64_t>>}, { \
        Opcode::prefix##_max_f64, atomic<Address, rmw::FMax<uint64_t>>      \
    }

// gfx10's, of both widths.
#define WJ_FLOAT_EXTREMES(prefix, Address)                                        \
    {Opcode::prefix##_fcmpswap, atomic<Address, rmw::FCmpSwap<uint32_t>>},        \
        {Opcode::prefix##_fmin, atomic<Address, rmw::FMin<uint32_t>>},            \
        {Opcode::prefix##_fmax, atomic<Address, rmw::FMax<uint32_t>>},            \
        {Opcode::prefix##_fcmpswap_x2, atomic<Address, rmw::FCmpSwap<uint64_t>>}, \
        {Opcode::prefix##_fmin_x2, atomic<Address, rmw::FMin<uint64_t>>}, {       \
        Opcode::prefix##_fmax_x2, atomic<Address, rmw::FMax<uint64_t>>            \
    }

}  // namespace wj::interp
