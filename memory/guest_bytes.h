// How bytes of guest memory are read and written. Other waves, other threads and the host program
// use the same memory with no order but the one that the guest makes, so a race there is the
// guest's. As on hardware an aligned access of up to 8 bytes is one access, and a wider one goes
// dword by dword.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/sanitizer.h"

namespace wj::memory {
namespace detail {

template <size_t Bytes>
using Unit =
    std::conditional_t<Bytes == 8, uint64_t,
                       std::conditional_t<Bytes % 4 == 0, uint32_t,
                                          std::conditional_t<Bytes == 2, uint16_t, uint8_t>>>;

// One move each, which the processor keeps whole where it is aligned. (Relaxed atomics say the
// same, but need an aligned address, and make g++ forget what it has in registers: the interpreter
// lost a tenth in streaming kernels.)
template <class T>
__attribute__((no_sanitize("thread"))) inline T move_from(const void* guest) {
    using Loose [[gnu::aligned(1), gnu::may_alias]] = T;
    return *static_cast<const volatile Loose*>(guest);
}

template <class T>
__attribute__((no_sanitize("thread"))) inline void move_to(void* guest, T value) {
    using Loose [[gnu::aligned(1), gnu::may_alias]] = T;
    *static_cast<volatile Loose*>(guest) = value;
}

#if WJ_THREAD_SANITIZER
template <class T>
inline bool aligned(const void* guest) {
    return reinterpret_cast<uintptr_t>(guest) % sizeof(T) == 0;
}
#endif

template <class T>
inline T load_unit(const void* guest) {
#if WJ_THREAD_SANITIZER
    if (aligned<T>(guest)) return __atomic_load_n(static_cast<const T*>(guest), __ATOMIC_RELAXED);
#endif
    return move_from<T>(guest);
}

template <class T>
inline void store_unit(void* guest, T value) {
#if WJ_THREAD_SANITIZER
    if (aligned<T>(guest)) return __atomic_store_n(static_cast<T*>(guest), value, __ATOMIC_RELAXED);
#endif
    move_to<T>(guest, value);
}

}  // namespace detail

template <size_t Bytes>
inline void load_guest(void* to, const void* guest) {
    using Unit = detail::Unit<Bytes>;
    for (size_t b = 0; b < Bytes; b += sizeof(Unit)) {
        const Unit unit = detail::load_unit<Unit>(static_cast<const uint8_t*>(guest) + b);
        std::memcpy(static_cast<uint8_t*>(to) + b, &unit, sizeof unit);
    }
}

template <size_t Bytes>
inline void store_guest(void* guest, const void* from) {
    using Unit = detail::Unit<Bytes>;
    for (size_t b = 0; b < Bytes; b += sizeof(Unit)) {
        Unit unit;
        std::memcpy(&unit, static_cast<const uint8_t*>(from) + b, sizeof unit);
        detail::store_unit<Unit>(static_cast<uint8_t*>(guest) + b, unit);
    }
}

}  // namespace wj::memory
