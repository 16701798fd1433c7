// Host pages behind device allocations: an anonymous mapping with an inaccessible hole behind it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wj::memory {

class Window;

inline constexpr uint64_t guard_bytes = 64 * 1024;       // least hole after an allocation
inline constexpr uint64_t huge_page_bytes = 2ull << 20;  // from this size on: aligned and advised

struct HostPages {
    void* base = nullptr;      // first accessible byte
    uint64_t bytes = 0;        // accessible, whole pages
    void* reserved = nullptr;  // the whole mapping, hole included
    uint64_t reserved_bytes = 0;
};

// False when the host, or the window, has no address space for it. `rights` as in memory::Rights;
// pages are zero. `window`: where they have to be, or null; the same for their release.
bool reserve_host_pages(uint64_t bytes, uint32_t rights, HostPages& out, Window* window = nullptr);
// At this address, without a hole behind; false: the process has something there.
bool reserve_host_pages_at(uint64_t address, uint64_t bytes, HostPages& out);
void release_host_pages(const HostPages& pages, Window* window = nullptr);
// They are there from now on: a fault for each of a few pages costs more than all of them at once.
void populate_host_pages(const HostPages& pages);
// They stay, unreadable for the host and without memory of their own.
void discard_host_pages(const HostPages& pages);
bool protect_host_pages(void* base, uint64_t bytes, uint32_t rights);

}  // namespace wj::memory
