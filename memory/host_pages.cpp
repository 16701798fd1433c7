#include "memory/host_pages.h"

#include <sys/mman.h>

#include "memory/address_space.h"
#include "memory/window.h"

namespace wj::memory {
namespace {

int host_protection(uint32_t rights) {
    // Guest code is translated, never executed in place: executable means readable to the host.
    int protection = PROT_NONE;
    if (rights & (readable | executable)) protection |= PROT_READ;
    if (rights & writable) protection |= PROT_READ | PROT_WRITE;
    return protection;
}

uint64_t align_up(uint64_t value, uint64_t to) {
    return (value + to - 1) & ~(to - 1);
}

void want_huge_pages(void* base, uint64_t bytes) {
    madvise(base, bytes, MADV_HUGEPAGE);  // only advice: failing is no loss
}

}  // namespace

// Inaccessible, zero when they become accessible. 0: there are none.
static uint64_t reserve_anywhere(uint64_t bytes, uint64_t alignment) {
    const uint64_t reserved = bytes + (alignment > page_size ? alignment : 0);
    void* raw =
        mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return 0;
    const uint64_t start = reinterpret_cast<uint64_t>(raw);
    const uint64_t base = align_up(start, alignment);
    if (base > start) munmap(raw, base - start);
    const uint64_t end = start + reserved, wanted_end = base + bytes;
    if (end > wanted_end) munmap(reinterpret_cast<void*>(wanted_end), end - wanted_end);
    return base;
}

bool reserve_host_pages(uint64_t bytes, uint32_t rights, HostPages& out, Window* window) {
    if (bytes == 0 || bytes > 1ull << 47) return false;
    const bool huge = bytes >= huge_page_bytes;
    const uint64_t alignment = huge ? huge_page_bytes : page_size;
    const uint64_t usable = align_up(bytes, page_size);
    const uint64_t needed = align_up(usable, alignment) + guard_bytes;
    const uint64_t base =
        window ? window->take(needed, alignment) : reserve_anywhere(needed, alignment);
    if (!base) return false;
    void* host = reinterpret_cast<void*>(base);
    out = {host, usable, host, needed};
    if (mprotect(host, usable, host_protection(rights)) != 0) {
        release_host_pages(out, window);
        return false;
    }
    if (huge) want_huge_pages(host, usable);
    return true;
}

bool reserve_host_pages_at(uint64_t address, uint64_t bytes, HostPages& out) {
    void* const wanted = reinterpret_cast<void*>(address);
    void* const got =
        mmap(wanted, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return false;
    if (got != wanted) {  // Linux before 4.17 takes it for a hint
        munmap(got, bytes);
        return false;
    }
    out = {got, bytes, got, bytes};
    if (bytes >= huge_page_bytes) want_huge_pages(got, bytes);
    return true;
}

void release_host_pages(const HostPages& pages, Window* window) {
    if (!pages.reserved) return;
    if (window)
        window->give_back(reinterpret_cast<uint64_t>(pages.reserved), pages.reserved_bytes);
    else
        munmap(pages.reserved, pages.reserved_bytes);
}

void populate_host_pages(const HostPages& pages) {
#ifdef MADV_POPULATE_WRITE
    constexpr uint64_t most = 256 * page_size;
    if (pages.bytes <= most) madvise(pages.base, pages.bytes, MADV_POPULATE_WRITE);  // Linux 5.14
#else
    (void)pages;
#endif
}

void discard_host_pages(const HostPages& pages) {
    madvise(pages.base, pages.bytes, MADV_DONTNEED);
    mprotect(pages.base, pages.bytes, PROT_NONE);
}

bool protect_host_pages(void* base, uint64_t bytes, uint32_t rights) {
    return mprotect(base, bytes, host_protection(rights)) == 0;
}

}  // namespace wj::memory
