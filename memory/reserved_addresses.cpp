#include "memory/reserved_addresses.h"

#include <sys/mman.h>

#include <algorithm>

#include "memory/pages.h"

namespace wj::memory {
namespace {

// mmap gives out nothing outside of these: vm.mmap_min_addr, and what a process of x86-64 has.
constexpr uint64_t least_address = 64 << 10, address_limit = (uint64_t{1} << 47) - page_size;

}  // namespace

bool ReservedAddresses::reserve(uint64_t begin, uint64_t bytes) {
    const uint64_t first = std::max(page_floor(begin), least_address),
                   end = std::min(page_ceil(begin + bytes), address_limit);
    if (first >= end) return true;
    void* const wanted = reinterpret_cast<void*>(first);
    void* const got =
        mmap(wanted, end - first, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return false;
    base_ = got;
    bytes_ = end - first;
    return got == wanted;  // Linux before 4.17 takes it for a hint
}

ReservedAddresses::~ReservedAddresses() {
    if (base_) munmap(base_, bytes_);
}

}  // namespace wj::memory
