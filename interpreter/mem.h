// Where a lane's access goes, and how it is done: shared by the memory instructions.
//
// An address class (mem_flat.cpp: GlobalAddress, FlatAddress, ScratchAddress; mem_buffer.cpp:
// BufferAddress) resolves an instruction's operands once and then answers per lane. Loads collect
// all lanes before a register is written, so that a fault leaves the destination as it was.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "interpreter/internal.h"
#include "interpreter/weak_order.h"
#include "memory/access.h"

namespace wj::interp {

enum class Place : uint8_t {
    Global,
    Lds,      // address = byte offset in the work-group's LDS
    Scratch,  // address = byte offset in the lane's private memory
    Nowhere,  // outside a buffer: reads 0, writes are dropped
};

struct Spot {
    Place place;
    uint64_t address;
};

using B96 = std::array<uint32_t, 3>;
using B128 = std::array<uint32_t, 4>;

inline constexpr uint64_t wave64_exec = ~uint64_t{0};

// ---- LDS: out of range reads 0 and writes are dropped, dword by dword
// -----------------------------

template <class T>
inline T lds_read(const Wave& w, uint64_t address) {
    T value{};
    if (address + sizeof(T) <= w.lds_size) {
        std::memcpy(&value, w.lds + address, sizeof(T));
    } else if constexpr (sizeof(T) > 4) {
        for (size_t o = 0; o < sizeof(T); o += 4)
            if (address + o + 4 <= w.lds_size)
                std::memcpy(reinterpret_cast<uint8_t*>(&value) + o, w.lds + address + o, 4);
    }
    return value;
}

template <class T>
inline void lds_write(Wave& w, uint64_t address, const T& value) {
    if (address + sizeof(T) <= w.lds_size) {
        std::memcpy(w.lds + address, &value, sizeof(T));
    } else if constexpr (sizeof(T) > 4) {
        for (size_t o = 0; o < sizeof(T); o += 4)
            if (address + o + 4 <= w.lds_size)
                std::memcpy(w.lds + address + o, reinterpret_cast<const uint8_t*>(&value) + o, 4);
    }
}

// ---- scratch: dword-interleaved by lane (SEED-PROL-09)
// ---------------------------------------------

inline uint8_t* scratch_byte(const Wave& w, uint64_t offset, uint32_t lane) {
    return w.scratch + (offset / 4 * w.size + lane) * 4 + offset % 4;
}

inline bool scratch_in_range(const Wave& w, uint64_t offset, uint32_t size) {
    return offset + size <= w.scratch_bytes && w.scratch;
}

template <class T>
inline bool scratch_read(const Wave& w, uint64_t offset, uint32_t lane, T& value) {
    if (!scratch_in_range(w, offset, sizeof(T))) return false;
    auto* out = reinterpret_cast<uint8_t*>(&value);
    if (offset % (sizeof(T) < 4 ? sizeof(T) : 4) == 0) {
        constexpr size_t unit = sizeof(T) < 4 ? sizeof(T) : 4;
        for (size_t o = 0; o < sizeof(T); o += unit)
            std::memcpy(out + o, scratch_byte(w, offset + o, lane), unit);
    } else {
        for (size_t o = 0; o < sizeof(T); ++o) out[o] = *scratch_byte(w, offset + o, lane);
    }
    return true;
}

template <class T>
inline bool scratch_write(Wave& w, uint64_t offset, uint32_t lane, const T& value) {
    if (!scratch_in_range(w, offset, sizeof(T))) return false;
    const auto* in = reinterpret_cast<const uint8_t*>(&value);
    if (offset % (sizeof(T) < 4 ? sizeof(T) : 4) == 0) {
        constexpr size_t unit = sizeof(T) < 4 ? sizeof(T) : 4;
        for (size_t o = 0; o < sizeof(T); o += unit)
            std::memcpy(scratch_byte(w, offset + o, lane), in + o, unit);
    } else {
        for (size_t o = 0; o < sizeof(T); ++o) *scratch_byte(w, offset + o, lane) = in[o];
    }
    return true;
}

// ---- any place
// --------------------------------------------------------------------------------------

template <class T>
inline bool read_spot(Wave& w, Spot spot, uint32_t lane, T& value) {
    switch (spot.place) {
        case Place::Global:
            if (auto* const weak = weak_memory(w)) [[unlikely]]
                return weak->load(*w.ctx, w.wave_in_group, spot.address, &value, sizeof value);
            return memory::read(*w.ctx, spot.address, value);
        case Place::Lds:
            value = lds_read<T>(w, spot.address);
            return true;
        case Place::Scratch:
            return scratch_read(w, spot.address, lane, value);
        case Place::Nowhere:
            value = T{};
            return true;
    }
    return false;
}

template <class T>
inline bool write_spot(Wave& w, Spot spot, uint32_t lane, const T& value) {
    switch (spot.place) {
        case Place::Global:
            if (auto* const weak = weak_memory(w)) [[unlikely]]
                return weak->store(*w.ctx, w.wave_in_group, spot.address, &value, sizeof value);
            return memory::write(*w.ctx, spot.address, value);
        case Place::Lds:
            lds_write(w, spot.address, value);
            return true;
        case Place::Scratch:
            return scratch_write(w, spot.address, lane, value);
        case Place::Nowhere:
            return true;
    }
    return false;
}

// Address classes offer `bool read(w, lane, T&)`, `bool write(w, lane, const T&)` and `Spot
// spot(lane, byte, bytes)`; this base does the first two for classes whose accesses are contiguous
// in one place.
template <class Derived>
struct ContiguousAddress {
    template <class T>
    bool read(Wave& w, uint32_t lane, T& value) const {
        return read_spot(w, static_cast<const Derived*>(this)->spot(lane, 0), lane, value);
    }
    template <class T>
    bool write(Wave& w, uint32_t lane, const T& value) const {
        return write_spot(w, static_cast<const Derived*>(this)->spot(lane, 0), lane, value);
    }
};

// Stops the wave with the fault of `inst`: works out the lanes and the first faulting address.
void stop_with_fault(Wave& w, const Inst& inst);

// ---- loads
// ------------------------------------------------------------------------------------------

enum class Load : uint8_t {
    U8,
    I8,
    U16,
    I16,
    B32,
    B64,
    B96,
    B128,
    D16U8,
    D16I8,
    D16B16,  // low half; Traits::sramecc says whether the upper one is kept or 0
    D16HiU8,
    D16HiI8,
    D16HiB16,  // high half
};

template <Load K>
struct LoadType {
    using type = uint32_t;
};
template <>
struct LoadType<Load::U8> {
    using type = uint8_t;
};
template <>
struct LoadType<Load::I8> {
    using type = uint8_t;
};
template <>
struct LoadType<Load::U16> {
    using type = uint16_t;
};
template <>
struct LoadType<Load::I16> {
    using type = uint16_t;
};
template <>
struct LoadType<Load::B64> {
    using type = uint64_t;
};
template <>
struct LoadType<Load::B96> {
    using type = B96;
};
template <>
struct LoadType<Load::B128> {
    using type = B128;
};
template <>
struct LoadType<Load::D16U8> {
    using type = uint8_t;
};
template <>
struct LoadType<Load::D16I8> {
    using type = uint8_t;
};
template <>
struct LoadType<Load::D16B16> {
    using type = uint16_t;
};
template <>
struct LoadType<Load::D16HiU8> {
    using type = uint8_t;
};
template <>
struct LoadType<Load::D16HiI8> {
    using type = uint8_t;
};
template <>
struct LoadType<Load::D16HiB16> {
    using type = uint16_t;
};

constexpr bool is_d16(Load k) {
    return k >= Load::D16U8 && k <= Load::D16B16;
}
constexpr bool is_d16_hi(Load k) {
    return k >= Load::D16HiU8;
}
constexpr bool is_signed_load(Load k) {
    return k == Load::I8 || k == Load::I16 || k == Load::D16I8 || k == Load::D16HiI8;
}

// The 32-bit result of a load of at most a dword; d16 results are in the low half.
template <Load K, class T>
inline uint32_t extend(T raw) {
    if constexpr (is_signed_load(K))
        return static_cast<uint32_t>(static_cast<int32_t>(static_cast<std::make_signed_t<T>>(raw)));
    else
        return static_cast<uint32_t>(raw);
}

// TFE: the dword behind the data says whether a page was missing. None ever is: that would be a
// fault.
inline void write_fail_flag(Wave& w, const Inst& inst, uint32_t dword, uint64_t exec) {
    alignas(64) static constexpr uint32_t zero[lanes] = {};
    write_row(vrow(w, inst.dst[0], dword), zero, exec);
}

template <Load K>
inline void commit_load(Wave& w, const Inst& inst, uint32_t (*values)[lanes], uint64_t exec) {
    constexpr uint32_t dwords =
        sizeof(typename LoadType<K>::type) > 4 ? sizeof(typename LoadType<K>::type) / 4 : 1;
    if constexpr (is_d16(K) || is_d16_hi(K)) {
        const uint32_t* old = vrow(w, inst.dst[0]);
        const uint32_t kept = traits(w).sramecc ? 0 : is_d16(K) ? 0xffff0000 : 0xffff;
        for (uint32_t l = 0; l < lanes; ++l)
            values[0][l] =
                (old[l] & kept) | (is_d16(K) ? values[0][l] & 0xffff : values[0][l] << 16);
    }
    for (uint32_t d = 0; d < dwords; ++d) write_row(vrow(w, inst.dst[0], d), values[d], exec);
    if (inst.tfe) [[unlikely]]
        write_fail_flag(w, inst, dwords, exec);
}

// Where the LDS forms put or find the value of lane 0.
inline uint32_t lds_form_base(const Wave& w, const Inst& inst) {
    return (w.sgpr[machine::m0] & 0xffff) + static_cast<uint32_t>(inst.offset);
}

// In them M0 is a place and no size: the whole allocation may be reached.
class WholeLds {
public:
    explicit WholeLds(Wave& w) : wave_(w), bound_(w.lds_size) {
        if (traits(w).m0_bounds_lds) w.lds_size = lds_allocated(w);
    }
    ~WholeLds() { wave_.lds_size = bound_; }
    WholeLds(const WholeLds&) = delete;
    WholeLds& operator=(const WholeLds&) = delete;

private:
    Wave& wave_;
    const uint32_t bound_;
};

// The LDS forms (lds bit, global_load_lds_*, scratch_load_lds_*): no VGPR destination; lane i's
// value goes to LDS[M0[15:0] + offset + i * slot], a dword for everything below a dword.
template <class Address, Load K>
void load_lds(Wave& w, const Inst& inst) {
    using T = typename LoadType<K>::type;
    if constexpr (is_d16(K) || is_d16_hi(K)) {
        stop(w, ExitKind::Unimplemented, "d16 load to LDS");
    } else {
        const Address address(w, inst);
        const uint64_t exec = w.exec();
        T raw[lanes] = {};
        bool good = true;
        for_each_lane(exec, [&](uint32_t lane) { good &= address.read(w, lane, raw[lane]); });
        if (!good) return stop_with_fault(w, inst);
        constexpr uint32_t slot = sizeof(T) < 4 ? 4 : sizeof(T);
        const WholeLds whole(w);
        const uint32_t base = lds_form_base(w, inst);
        for_each_lane(exec, [&](uint32_t lane) {
            if constexpr (sizeof(T) < 4)
                lds_write<uint32_t>(w, base + lane * slot, extend<K>(raw[lane]));
            else
                lds_write<T>(w, base + lane * slot, raw[lane]);
        });
    }
}

template <class Address, Load K>
void load(Wave& w, const Inst& inst) {
    using T = typename LoadType<K>::type;
    if (inst.lds) [[unlikely]]
        return load_lds<Address, K>(w, inst);
    const Address address(w, inst);
    const uint64_t exec = w.exec();
    alignas(64) uint32_t values[sizeof(T) > 4 ? sizeof(T) / 4 : 1][lanes];
    bool good = true;
    for_each_lane(exec, [&](uint32_t lane) {
        T raw{};
        good &= address.read(w, lane, raw);
        if constexpr (sizeof(T) <= 4) {
            values[0][lane] = extend<K>(raw);
        } else {
            uint32_t words[sizeof(T) / 4];
            std::memcpy(words, &raw, sizeof(T));
            for (size_t d = 0; d < sizeof(T) / 4; ++d) values[d][lane] = words[d];
        }
    });
    if (!good) return stop_with_fault(w, inst);
    commit_load<K>(w, inst, values, exec);
}

// ---- stores
// -----------------------------------------------------------------------------------------

enum class Store : uint8_t { B8, B16, B32, B64, B96, B128, HiB8, HiB16 };

template <Store K>
struct StoreType {
    using type = uint32_t;
};
template <>
struct StoreType<Store::B8> {
    using type = uint8_t;
};
template <>
struct StoreType<Store::B16> {
    using type = uint16_t;
};
template <>
struct StoreType<Store::B64> {
    using type = uint64_t;
};
template <>
struct StoreType<Store::B96> {
    using type = B96;
};
template <>
struct StoreType<Store::B128> {
    using type = B128;
};
template <>
struct StoreType<Store::HiB8> {
    using type = uint8_t;
};
template <>
struct StoreType<Store::HiB16> {
    using type = uint16_t;
};

template <Store K>
inline typename StoreType<K>::type store_value(Wave& w, const Operand& data, uint32_t lane) {
    using T = typename StoreType<K>::type;
    if constexpr (K == Store::HiB8 || K == Store::HiB16) {
        return static_cast<T>(vrow(w, data)[lane] >> 16);
    } else if constexpr (sizeof(T) <= 4) {
        return static_cast<T>(vrow(w, data)[lane]);
    } else {
        uint32_t words[sizeof(T) / 4];
        for (uint32_t d = 0; d < sizeof(T) / 4; ++d) words[d] = vrow(w, data, d)[lane];
        T value;
        std::memcpy(&value, words, sizeof(T));
        return value;
    }
}

// TFE of a store names one register more, which only a missing page writes: nothing to do.
template <class Address, Store K>
void store(Wave& w, const Inst& inst) {
    const Address address(w, inst);
    for (uint64_t left = w.exec(); left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctzll(left));
        if (!address.write(w, lane, store_value<K>(w, inst.vdata(), lane)))
            return stop_with_fault(w, inst);
    }
}

template <class T>
inline T vector_value(Wave& w, const Operand& o, uint32_t lane, uint32_t first_dword = 0) {
    if constexpr (sizeof(T) == 4)
        return vrow(w, o, first_dword)[lane];
    else
        return vrow(w, o, first_dword)[lane] | uint64_t{vrow(w, o, first_dword + 1)[lane]} << 32;
}

template <class T>
inline void commit_old(Wave& w, const Operand& dst, uint32_t (*old)[lanes], uint64_t exec) {
    for (uint32_t d = 0; d < sizeof(T) / 4; ++d) write_row(vrow(w, dst, d), old[d], exec);
}

}  // namespace wj::interp
