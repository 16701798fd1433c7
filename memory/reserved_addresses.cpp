#include "memory/reserved_addresses.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "memory/pages.h"

namespace wj::memory {
namespace {

// mmap gives out nothing outside of these: vm.mmap_min_addr, and what a process of x86-64 has.
constexpr uint64_t least_address = 64 << 10, address_limit = (uint64_t{1} << 47) - page_size;

// Guests of several address spaces may see something at the same addresses: how many do.
struct Ranges {
    std::mutex mutex;
    std::map<std::pair<uint64_t, uint64_t>, uint32_t> users;  // by first address and size
};
Ranges& ranges() {
    static auto* const all = new Ranges;  // contexts may end behind everything else
    return *all;
}

bool map_nothing_at(uint64_t address, uint64_t bytes) {
    void* const wanted = reinterpret_cast<void*>(address);
    void* const got =
        mmap(wanted, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return false;
    if (got == wanted) return true;
    munmap(got, bytes);  // Linux before 4.17 takes it for a hint
    return false;
}

}  // namespace

bool ReservedAddresses::reserve(uint64_t begin, uint64_t bytes) {
    const uint64_t first = std::max(page_floor(begin), least_address),
                   end = std::min(page_ceil(begin + bytes), address_limit);
    if (first >= end) return true;
    std::lock_guard lock(ranges().mutex);
    auto& users = ranges().users;
    const std::pair range(first, end - first);
    if (!users.contains(range) && !map_nothing_at(first, end - first)) return false;
    ++users[range];
    base_ = first;
    bytes_ = end - first;
    return true;
}

ReservedAddresses::~ReservedAddresses() {
    if (!base_) return;
    std::lock_guard lock(ranges().mutex);
    const auto range = ranges().users.find({base_, bytes_});
    if (--range->second) return;
    ranges().users.erase(range);
    munmap(reinterpret_cast<void*>(base_), bytes_);
}

}  // namespace wj::memory
