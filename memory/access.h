// Guest memory accesses of the interpreter and of helpers called by translated code.
#pragma once

#include <cstdint>

#include "machine/wave.h"
#include "memory/guest_bytes.h"

namespace wj::memory {

// Slow path of checked mode: walks the page table and fills the TLB. nullptr = fault.
// An access that crosses a page boundary is handled by the callers below byte-wise.
void* lookup(machine::ExecContext& ctx, uint64_t address, bool write);

// Empties the TLB when mappings went away since it was filled. Engines call it when they start a
// slice of a wave; a mapping that is removed while a kernel uses it is the guest's race.
void refresh_tlb(machine::ExecContext& ctx);

inline void* host_pointer(machine::ExecContext& ctx, uint64_t address, bool write) {
    auto& entry = (write ? ctx.write_tlb : ctx.read_tlb)[machine::tlb_index(address)];
    if (entry.page == (address & ~uint64_t{0xfff}))
        return reinterpret_cast<void*>(address + entry.delta);
    return lookup(ctx, address, write);
}

bool read_bytes(machine::ExecContext& ctx, uint64_t address, void* out,
                uint32_t size);  // checked, page-crossing
bool write_bytes(machine::ExecContext& ctx, uint64_t address, const void* in, uint32_t size);

// false = fault (checked mode only; in identity mode the host MMU raises a signal, see
// machine/guard.h).
template <class T>
inline bool read(machine::ExecContext& ctx, uint64_t address, T& out) {
    address &= ctx.address_mask;
    if (ctx.memory_mode == machine::MemoryMode::Identity) {
        load_guest<sizeof(T)>(&out, reinterpret_cast<const void*>(address));
        return true;
    }
    if ((address & 0xfff) + sizeof(T) > 4096) return read_bytes(ctx, address, &out, sizeof(T));
    void* p = host_pointer(ctx, address, false);
    if (!p) return false;
    load_guest<sizeof(T)>(&out, p);
    return true;
}

template <class T>
inline bool write(machine::ExecContext& ctx, uint64_t address, const T& value) {
    address &= ctx.address_mask;
    if (ctx.memory_mode == machine::MemoryMode::Identity) {
        store_guest<sizeof(T)>(reinterpret_cast<void*>(address), &value);
        return true;
    }
    if ((address & 0xfff) + sizeof(T) > 4096) return write_bytes(ctx, address, &value, sizeof(T));
    void* p = host_pointer(ctx, address, true);
    if (!p) return false;
    store_guest<sizeof(T)>(p, &value);
    return true;
}

// What this thread has stored is seen by all others before it loads anything else
// (docs/memory-model.md); nothing to do where nobody else looks. Not std::atomic_thread_fence,
// which compilers refuse together with the thread sanitizer.
inline void order_stores(const machine::ExecContext& ctx) {
    if (!ctx.exclusive_memory) __asm__ __volatile__("lock orl $0, (%%rsp)" ::: "memory", "cc");
}

// Host pointer for an atomic of `size` bytes at an aligned address, or nullptr = fault.
inline void* atomic_pointer(machine::ExecContext& ctx, uint64_t address) {
    address &= ctx.address_mask;
    if (ctx.memory_mode == machine::MemoryMode::Identity) return reinterpret_cast<void*>(address);
    return host_pointer(ctx, address, true);
}

}  // namespace wj::memory
