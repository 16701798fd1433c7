// How bytes of guest memory are read and written. Other waves, other threads and the host program
// use the same memory with no order but the one that the guest makes, so a race there is the
// guest's. As on hardware an aligned access of up to 8 bytes is one access, and no aligned dword of
// a wider one tears.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/sanitizer.h"

namespace wj::memory {

#if WJ_THREAD_SANITIZER

namespace detail {

template <size_t Bytes>
using Unit =
    std::conditional_t<Bytes == 8, uint64_t,
                       std::conditional_t<Bytes % 4 == 0, uint32_t,
                                          std::conditional_t<Bytes == 2, uint16_t, uint8_t>>>;

// There is no atomic access that is not aligned.
template <class T>
__attribute__((no_sanitize("thread"))) inline void move_unaligned(void* to, const void* from) {
    using Loose [[gnu::aligned(1), gnu::may_alias]] = T;
    *static_cast<volatile Loose*>(to) = *static_cast<const volatile Loose*>(from);
}

template <class T>
inline bool aligned(const void* guest) {
    return reinterpret_cast<uintptr_t>(guest) % sizeof(T) == 0;
}

}  // namespace detail

template <size_t Bytes>
inline void load_guest(void* to, const void* guest) {
    using Unit = detail::Unit<Bytes>;
    for (size_t b = 0; b < Bytes; b += sizeof(Unit)) {
        const void* from = static_cast<const uint8_t*>(guest) + b;
        Unit unit;
        if (detail::aligned<Unit>(from))
            unit = __atomic_load_n(static_cast<const Unit*>(from), __ATOMIC_RELAXED);
        else
            detail::move_unaligned<Unit>(&unit, from);
        std::memcpy(static_cast<uint8_t*>(to) + b, &unit, sizeof unit);
    }
}

template <size_t Bytes>
inline void store_guest(void* guest, const void* from) {
    using Unit = detail::Unit<Bytes>;
    for (size_t b = 0; b < Bytes; b += sizeof(Unit)) {
        void* to = static_cast<uint8_t*>(guest) + b;
        Unit unit;
        std::memcpy(&unit, static_cast<const uint8_t*>(from) + b, sizeof unit);
        if (detail::aligned<Unit>(to))
            __atomic_store_n(static_cast<Unit*>(to), unit, __ATOMIC_RELAXED);
        else
            detail::move_unaligned<Unit>(to, &unit);
    }
}

#else

// A copy of a constant size is one move up to 8 bytes, and vector moves beyond. Relaxed atomics and
// volatile moves would say so in the language, but cost: the interpreter a tenth in streaming
// kernels (atomics), the translators' out-of-line path 8 % of vecadd in checked mode (volatile).
template <size_t Bytes>
inline void load_guest(void* to, const void* guest) {
    std::memcpy(to, guest, Bytes);
}

template <size_t Bytes>
inline void store_guest(void* guest, const void* from) {
    std::memcpy(guest, from, Bytes);
}

#endif

}  // namespace wj::memory
