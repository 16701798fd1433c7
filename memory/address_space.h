// The guest's memory map: which guest pages exist, with which rights, backed by which host memory
// and owned by which allocation. The truth is a page table; two ways lead to it:
//   identity  guest address = host address, nothing is looked up, the host MMU faults;
//   checked   every access goes through the table (with a small TLB in machine::ExecContext);
//   window    identity, where all memory lies in a Window (window.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"

namespace wj::memory {

inline constexpr uint64_t page_bits = 12, page_size = 1ull << page_bits;

enum Rights : uint32_t {
    no_access = 0,
    readable = 1,
    writable = 2,
    executable = 4,
    read_write = 3
};

// Three levels of 4096 entries over 48-bit guest addresses. A leaf entry is host page address |
// Rights | partial_page; rights are those of all that lies on the page.
inline constexpr uint64_t partial_page = 8;   // not every byte has all of the rights: see span()
inline constexpr uint64_t written_page = 16;  // noted by note_write() since take_written()
// The rights are those that protect() gave, for all that lies on the page, until nothing does.
inline constexpr uint64_t protected_page = 32;
inline constexpr uint64_t hooked_page = 64;  // no host page, but calls (page_hooks.h)

struct PageTable {
    static constexpr uint32_t level_bits = 12, level_size = 1u << level_bits;
    struct Leaf {
        std::atomic<uint64_t> entry[level_size];
    };
    struct Middle {
        std::atomic<Leaf*> leaf[level_size];
    };
    std::atomic<Middle*> middle[level_size];
};

// What of a range's first and last page can be reached: the range alone, or all of these pages.
enum class Extent : uint8_t { Bytes, Pages };

struct Allocation {
    uint64_t id = 0;
    uint64_t guest = 0;  // first guest address
    uint64_t size = 0;   // bytes as requested
    void* host = nullptr;
    uint32_t rights = 0;
    std::string label;  // "hipMalloc", "code object", "registered host memory", ...
    uint64_t reach =
        0;  // bytes that can be reached from `guest` on: size, or more with whole pages
    Extent extent = Extent::Pages;
    bool has_page_rights = false;  // protect() has been asked for some of its pages
};
struct HostPages;
struct PageHooks;
class HookedPages;
class Window;

// Rights of each page that an allocation touches; empty: protect() has not been asked.
using PageRights = std::vector<uint8_t>;

// An allocation or a mapping; the memory of an allocation stays as long as this does.
struct Held {
    Allocation allocation;
    std::shared_ptr<const HostPages> pages;  // null: a mapping
    PageRights page_rights;
};

// Guest addresses [begin, end) of one page; host address = guest address + delta.
struct Span {
    uint64_t begin = 0, end = 0, delta = 0;
};

class AddressSpace {
public:
    AddressSpace();
    ~AddressSpace();
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;

    // From now on all memory lies in a window of so many bytes. Called before anything else.
    Status confine(uint64_t bytes);
    const Window* window() const;  // or null
    // Accesses go through the table alone: protect() leaves the host's pages as they are. Called
    // before anything else.
    void leave_host_pages();

    // Device memory: page aligned (2 MiB aligned and huge-page advised from 2 MiB on), zero filled,
    // followed by an unmapped guard. guest address = host address.
    Result<uint64_t> allocate(uint64_t size, uint32_t rights, std::string label,
                              Extent extent = Extent::Pages);
    Status free(uint64_t guest);
    // From now on the addresses of what is freed are not given out again before many others have
    // been freed: an access to them is found, and its report knows whose they were.
    void keep_freed_addresses();

    // Makes existing host memory visible at `guest` (normally guest = address of host), to the
    // byte. Not with a window, which host memory that exists lies outside of.
    Status map(uint64_t guest, void* host, uint64_t size, uint32_t rights, std::string label);
    Status unmap(uint64_t guest);  // mapped or hooked
    // Accesses to these whole pages are calls (page_hooks.h). No TLB ever knows such a page.
    Status hook(uint64_t guest, uint64_t size, const PageHooks& hooks);
    // Where accesses to `guest` with `rights` are calls, or null.
    std::shared_ptr<HookedPages> hooked(uint64_t guest, uint32_t rights) const;
    // Of all pages that these bytes touch, whatever lies on them. Unless leave_host_pages() was
    // called the host's are protected as well; they have to be an allocation's then.
    Status protect(uint64_t guest, uint64_t size, uint32_t rights);

    // Bytes of one allocation become these, whatever the rights of their pages.
    Status overwrite(uint64_t guest, std::span<const std::byte> bytes);

    // Host address of guest bytes [guest, guest + size) when they are mapped with `rights` and
    // contiguous in host memory, else nullptr.
    void* translate(uint64_t guest, uint64_t size, uint32_t rights) const;

    // The bytes around `guest` in its page that may be accessed with `rights`; false: not even
    // this.
    bool span(uint64_t guest, uint32_t rights, Span& out) const;

    // The allocation that contains or is nearest to `guest`; for fault reports and pointer queries.
    bool find(uint64_t guest, Allocation& out) const;  // contains
    bool nearest(uint64_t guest,
                 Allocation& out) const;  // contains, else the closest below or above
    std::string describe(
        uint64_t guest) const;  // "16 bytes after allocation 7 (hipMalloc, 4096 bytes at 0x...)"

    // ---- for snapshots (snapshot.h) ----
    std::vector<Held> all_held() const;
    bool has(const Allocation& allocation) const;  // this one, not another at its address
    void put_back(const Held& held);               // an allocation that has been freed
    // Lets the host reach all of it, whatever the rights of its pages, until set_page_rights();
    // false: it does already.
    bool open_to_host(const Held& held);
    void set_page_rights(const Held& held);  // of an allocation or mapping that is there
    // Grows with every allocation, every free and every change of pages' rights.
    uint64_t changes() const;
    // From now on accesses in checked mode note the pages that they write.
    void track_writes();
    // Does nothing unless writes are tracked.
    void note_write(uint64_t guest, uint64_t bytes) {
        if (tracks_writes_.load(std::memory_order_relaxed)) add_written(guest, bytes);
    }
    // Guest addresses of the pages that were written since the last call; then none is.
    std::vector<uint64_t> take_written();

    const PageTable* page_table() const;
    uint64_t epoch()
        const;  // grows with every unmap or loss of rights: TLBs older than it are stale
    uint64_t bytes_allocated() const;

private:
    void add_written(uint64_t guest, uint64_t bytes);
    struct Impl;
    Impl* impl_;
    std::atomic<bool> tracks_writes_{false};
};

}  // namespace wj::memory
