// Guest memory accesses of the interpreter and of helpers called by translated code.
#pragma once

#include <cstdint>

#include "machine/wave.h"
#include "memory/guest_bytes.h"

namespace wj::memory {

// Slow path of checked mode: walks the page table and fills the TLB. nullptr: `bytes` bytes at
// `address` cannot be accessed, or not in one piece; the callers below try these in parts.
void* lookup(machine::ExecContext& ctx, uint64_t address, uint64_t bytes, bool write);

// Empties the TLB when mappings went away since it was filled, and forgets what hooks refused.
// Engines call it when they start a slice of a wave; a mapping that is removed while a kernel uses
// it is the guest's race.
void refresh_tlb(machine::ExecContext& ctx);

inline bool within(const machine::TlbEntry& entry, uint64_t address, uint64_t bytes) {
    const uint64_t offset = address - entry.begin;
    return offset < entry.bytes && bytes <= entry.bytes - offset;
}

inline void* host_pointer(machine::ExecContext& ctx, uint64_t address, uint64_t bytes, bool write) {
    const auto& entry = (write ? ctx.write_tlb : ctx.read_tlb)[machine::tlb_index(address)];
    if (within(entry, address, bytes)) return reinterpret_cast<void*>(address + entry.delta);
    return lookup(ctx, address, bytes, write);
}

// In parts, where pages or allocations end; checked mode. A write that faults writes nothing, but
// what hooks have taken until one refused.
bool read_bytes(machine::ExecContext& ctx, uint64_t address, void* out, uint32_t size);
bool write_bytes(machine::ExecContext& ctx, uint64_t address, const void* in, uint32_t size);

// Of any size, in each mode. outcome_of() has said that a write is fine.
bool read_any(machine::ExecContext& ctx, uint64_t address, void* out, uint32_t size);
bool write_any(machine::ExecContext& ctx, uint64_t address, const void* in, uint32_t size);
// What an access would find, without doing it. But for checked memory a write that would fault
// arrives as a signal here, and reads are not looked at.
enum class Outcome : uint8_t { Fault, Memory, Hooks };
Outcome outcome_of(machine::ExecContext& ctx, uint64_t address, uint32_t size, bool write);

// Scalar loads are exact to 16 bytes: compilers make a load of a byte one of its aligned dword, and
// of three dwords one of four where these are aligned (LLVM, AMDGPULateCodeGenPrepare and
// WidenOrSplitVectorLoad), whatever lies behind the object.
bool scalar_readable(const AddressSpace& space, uint64_t address);
bool read_scalar_dwords(machine::ExecContext& ctx, uint64_t address, void* out, uint32_t size);

// false = fault (checked mode only; in identity mode the host MMU raises a signal, see
// machine/guard.h).
template <class T>
inline bool read(machine::ExecContext& ctx, uint64_t address, T& out) {
    address = ctx.reach(address);
    if (ctx.memory_mode != machine::MemoryMode::Checked) {
        load_guest<sizeof(T)>(&out, reinterpret_cast<const void*>(address));
        return true;
    }
    void* p = host_pointer(ctx, address, sizeof(T), false);
    if (!p) return read_bytes(ctx, address, &out, sizeof(T));
    load_guest<sizeof(T)>(&out, p);
    return true;
}

template <class T>
inline bool write(machine::ExecContext& ctx, uint64_t address, const T& value) {
    address = ctx.reach(address);
    if (ctx.memory_mode != machine::MemoryMode::Checked) {
        store_guest<sizeof(T)>(reinterpret_cast<void*>(address), &value);
        return true;
    }
    void* p = host_pointer(ctx, address, sizeof(T), true);
    if (!p) return write_bytes(ctx, address, &value, sizeof(T));
    store_guest<sizeof(T)>(p, &value);
    return true;
}

// A load of scalar memory: whole dwords.
template <class T>
inline bool read_scalar(machine::ExecContext& ctx, uint64_t address, T& out) {
    return read(ctx, address, out) || read_scalar_dwords(ctx, ctx.reach(address), &out, sizeof(T));
}

// What this thread has stored is seen by all others before it loads anything else
// (docs/design/memory-model.md); nothing to do where nobody else looks. Not
// std::atomic_thread_fence, which compilers refuse together with the thread sanitizer.
inline void order_stores(const machine::ExecContext& ctx) {
    if (!ctx.exclusive_memory) __asm__ __volatile__("lock orl $0, (%%rsp)" ::: "memory", "cc");
}

// Host pointer for an atomic of `size` bytes at an aligned address, or nullptr = fault, or hooked
// pages.
inline void* atomic_pointer(machine::ExecContext& ctx, uint64_t address, uint32_t bytes) {
    address = ctx.reach(address);
    if (ctx.memory_mode != machine::MemoryMode::Checked) return reinterpret_cast<void*>(address);
    return host_pointer(ctx, address, bytes, true);
}

// Where an atomic of at most 8 bytes at an aligned address is done: in memory, or in a copy of what
// hooks have loaded, which finish() stores. Until then nobody else accesses these pages.
class AtomicPlace {
public:
    AtomicPlace(machine::ExecContext& ctx, uint64_t address, uint32_t bytes)
        : where_(atomic_pointer(ctx, address, bytes)) {
        if (!where_) [[unlikely]]
            load_hooked(ctx, address, bytes);
    }
    ~AtomicPlace();
    AtomicPlace(const AtomicPlace&) = delete;
    AtomicPlace& operator=(const AtomicPlace&) = delete;
    void* get() const { return where_; }                  // null: a fault
    bool finish() { return !hooked_ || store_hooked(); }  // false: a fault

private:
    struct Hooked;
    void load_hooked(machine::ExecContext& ctx, uint64_t address, uint32_t bytes);
    bool store_hooked();
    void* where_;
    Hooked* hooked_ = nullptr;
};

}  // namespace wj::memory
