#include "memory/clone.h"

#include <algorithm>
#include <cstring>

#include "memory/host_pages.h"

namespace wj::memory {
namespace {

bool belongs(const Allocation& a) {
    return a.extent == Extent::Bytes || a.rights & executable;
}

bool holds_zeros(const uint8_t* page) {
    return !page[0] && !std::memcmp(page, page + 1, page_size - 1);
}

// Memory of its own for the guest addresses that `held` has.
Result<Held> copy_of(const Held& held) {
    HostPages pages;
    const HostPages& original = *held.pages;
    if (!reserve_host_pages(original.bytes, read_write, pages))
        return Status(Code::OutOfMemory, "the host has no memory for a copy of " +
                                             std::to_string(original.bytes) +
                                             " bytes of device memory");
    Held copy = held;
    copy.allocation.host = pages.base;
    copy.pages = std::shared_ptr<const HostPages>(new HostPages(pages),
                                                  [place = held.pages](const HostPages* p) {
                                                      release_host_pages(*p);
                                                      delete p;
                                                  });
    const auto* from = static_cast<const uint8_t*>(original.base);
    auto* to = static_cast<uint8_t*>(pages.base);
    for (uint64_t at = 0; at < original.bytes; at += page_size)
        if (!holds_zeros(from + at)) std::memcpy(to + at, from + at, page_size);
    return copy;
}

}  // namespace

Status clone_memory(const AddressSpace& from, AddressSpace& to) {
    const std::vector<Held> all = from.all_held();
    const auto mapped = std::ranges::find_if(all, [](const Held& held) { return !held.pages; });
    if (mapped != all.end())
        return {Code::InvalidArgument,
                "host memory that a context has registered has no second place: unregister it "
                "first, or copy it into memory that the context allocates (" +
                    from.describe(mapped->allocation.guest) + ")"};
    for (const Held& held : all) {
        if (!belongs(held.allocation)) continue;
        auto copy = copy_of(held);
        if (!copy) return copy.status();
        to.put_back(*copy);
    }
    return Status::ok();
}

}  // namespace wj::memory
