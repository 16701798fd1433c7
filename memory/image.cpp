#include "memory/image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "memory/host_pages.h"
#include "memory/pages.h"

namespace wj::memory {
namespace {

constexpr uint32_t all_rights = read_write | executable;

std::string at(uint64_t address) {
    char text[40];
    std::snprintf(text, sizeof text, " at 0x%llx", static_cast<unsigned long long>(address));
    return text;
}

// The process may have unmapped what it has registered.
bool host_has(uint64_t host, uint64_t bytes) {
    std::vector<unsigned char> resident(bytes / page_size);
    return mincore(reinterpret_cast<void*>(host), bytes, resident.data()) == 0;
}

// Pages of the host, [begin, end), and which of them may be read.
struct HostRange {
    uint64_t begin = 0, end = 0;
    std::vector<bool> readable;
};

// Those of the region, and what differs in their rights.
void look_at_pages(const PageRights& page_rights, ImageRegion& region, HostRange& range) {
    const uint64_t first = page_floor(region.guest), end = page_ceil(region.guest + region.reach);
    const uint64_t first_page = page_floor(region.offset) / page_size;
    for (uint64_t page = first; page < end; page += page_size) {
        const uint64_t number = (page - first) / page_size;
        const uint32_t rights = page_rights.empty() ? region.rights : page_rights[number];
        if (rights & (readable | executable)) range.readable[first_page + number] = true;
        const bool whole = page >= region.guest && page + page_size <= region.guest + region.reach;
        if (rights == region.rights || !whole) continue;
        auto& pages = region.pages;
        if (!pages.empty() && pages.back().guest + pages.back().bytes == page &&
            pages.back().rights == rights)
            pages.back().bytes += page_size;
        else
            pages.push_back({page, page_size, rights});
    }
}

bool is_zero(const std::byte* page) {
    return page[0] == std::byte{} && !std::memcmp(page, page + 1, page_size - 1);
}

ImageBlock block_of(const HostRange& range) {
    ImageBlock block{.bytes = range.end - range.begin, .runs = {}};
    const auto* const bytes = reinterpret_cast<const std::byte*>(range.begin);
    const bool whole = host_has(range.begin, block.bytes);
    for (uint64_t page = 0; page < block.bytes; page += page_size) {
        if (!range.readable[page / page_size]) continue;
        if (!whole && !host_has(range.begin + page, page_size)) continue;
        if (is_zero(bytes + page)) continue;
        if (!block.runs.empty() &&
            block.runs.back().offset + block.runs.back().bytes.size() == page)
            block.runs.back().bytes = {bytes + block.runs.back().offset,
                                       block.runs.back().bytes.size() + page_size};
        else
            block.runs.push_back({page, {bytes + page, page_size}});
    }
    return block;
}

Status invalid(std::string what) {
    return {Code::InvalidArgument, "the memory image: " + std::move(what)};
}

Status check_block(const ImageBlock& block) {
    if (!block.bytes || block.bytes % page_size || block.bytes > most_image_bytes)
        return invalid("a block of " + std::to_string(block.bytes) + " bytes");
    uint64_t end = 0;
    for (const ImageBlock::Run& run : block.runs) {
        if (run.offset < end || run.offset > block.bytes ||
            run.bytes.size() > block.bytes - run.offset)
            return invalid("bytes beyond their block, or not in order");
        end = run.offset + run.bytes.size();
    }
    return Status::ok();
}

Status check_region(const Image& image, const ImageRegion& r) {
    if (!r.size || r.guest >= guest_limit || r.reach > guest_limit - r.guest || r.reach < r.size ||
        r.reach > page_ceil(r.size))
        return invalid(std::to_string(r.size) + " bytes" + at(r.guest) +
                       ": empty or beyond 48 bits");
    if (r.block >= image.blocks.size() || r.offset > image.blocks[r.block].bytes ||
        r.reach > image.blocks[r.block].bytes - r.offset)
        return invalid("the allocation" + at(r.guest) + " is beyond its block");
    if ((r.guest ^ r.offset) % page_size)
        return invalid("the allocation" + at(r.guest) + " has another offset in its page");
    if (r.rights & ~all_rights || r.id >> 63)
        return invalid("the allocation" + at(r.guest) +
                       " has rights or a number that do not exist");
    uint64_t end = r.guest;
    for (const ImageRegion::Pages& p : r.pages) {
        if (p.guest < end || p.guest % page_size || !p.bytes || p.bytes % page_size ||
            p.guest - r.guest > r.reach || p.bytes > r.reach - (p.guest - r.guest) ||
            p.rights & ~all_rights)
            return invalid("pages with rights of their own of the allocation" + at(r.guest));
        end = p.guest + p.bytes;
    }
    return Status::ok();
}

std::vector<const ImageRegion*> by_address(const Image& image) {
    std::vector<const ImageRegion*> sorted;
    for (const ImageRegion& r : image.regions) sorted.push_back(&r);
    std::ranges::sort(sorted, {}, [](const ImageRegion* r) { return r->guest; });
    return sorted;
}

// Two regions may show the same bytes at the same addresses, nothing else.
Status check_apart(const Image& image) {
    const auto sorted = by_address(image);
    const ImageRegion* furthest = nullptr;
    const auto end_of = [](const ImageRegion* r) { return page_ceil(r->guest + r->reach); };
    for (const ImageRegion* r : sorted) {
        if (furthest && page_floor(r->guest) < end_of(furthest) &&
            (r->block != furthest->block ||
             r->guest - r->offset != furthest->guest - furthest->offset))
            return invalid("the allocations" + at(furthest->guest) + " and" + at(r->guest) +
                           " have the same pages");
        if (!furthest || end_of(r) > end_of(furthest)) furthest = r;
    }
    return Status::ok();
}

// What the process has there already it will not give out again. Parts of `least` bytes are not
// looked at more closely.
void reserve_free_ones(uint64_t begin, uint64_t bytes, uint64_t least,
                       std::vector<ReservedAddresses>& out) {
    ReservedAddresses reserved;
    if (reserved.reserve(begin, bytes)) {
        out.push_back(std::move(reserved));
        return;
    }
    if (bytes <= least) return;
    const uint64_t half = page_ceil(bytes / 2);
    reserve_free_ones(begin, half, least, out);
    reserve_free_ones(begin + half, bytes - half, least, out);
}

class Placing {
public:
    Placing(const Image& image, AddressSpace& space, bool identity)
        : image_(image), space_(space), identity_(identity), shown_(image.blocks.size()) {
        for (const ImageRegion& r : image.regions) {
            Shown& shown = shown_[r.block];
            const uint64_t address = r.guest - r.offset;
            if (!shown.regions++) shown.address = address;
            if (shown.address != address) shown.elsewhere = address;
        }
    }

    Status run() {
        for (uint32_t b = 0; b < image_.blocks.size(); b++)
            if (Status s = add_block(b); !s) return s;
        if (identity_) add_guards();
        for (const ImageRegion& r : image_.regions)
            if (Status s = add_region(r); !s) return s;
        return Status::ok();
    }
    PlacedImage placed;

private:
    // Where a block's first byte is seen.
    struct Shown {
        uint32_t regions = 0;
        uint64_t address = 0, elsewhere = 0;
    };

    Status add_block(uint32_t number) {
        const ImageBlock& block = image_.blocks[number];
        HostPages pages;
        if (!identity_) {
            if (!reserve_host_pages(block.bytes, read_write, pages))
                return {Code::OutOfMemory, "the host has no memory for " +
                                               std::to_string(block.bytes) +
                                               " bytes of device memory"};
        } else if (const Shown& shown = shown_[number]; shown.regions) {
            if (shown.elsewhere)
                return {Code::InvalidArgument,
                        "the same memory is seen" + at(shown.address) + " and" +
                            at(shown.elsewhere) +
                            ", which identity memory cannot have: use checked memory"};
            if (!reserve_host_pages_at(shown.address, block.bytes, pages))
                return {Code::InvalidArgument,
                        "this process has something in the " + std::to_string(block.bytes) +
                            " bytes" + at(shown.address) +
                            ", where the memory has to be in identity mode: try once more, as "
                            "addresses differ from process to process, or use checked memory"};
        }
        placed.pages.emplace_back(new HostPages(pages), [](const HostPages* p) {
            release_host_pages(*p);
            delete p;
        });
        for (const ImageBlock::Run& run : block.runs)
            if (pages.base)
                std::memcpy(static_cast<std::byte*>(pages.base) + run.offset, run.bytes.data(),
                            run.bytes.size());
        return Status::ok();
    }

    // What runs beyond the end of a block shall find nothing. Once all blocks are there: behind one
    // may be the next.
    void add_guards() {
        for (uint32_t b = 0; b < image_.blocks.size(); b++) {
            ReservedAddresses behind;
            if (shown_[b].regions &&
                behind.reserve(shown_[b].address + image_.blocks[b].bytes, guard_bytes))
                placed.reserved.push_back(std::move(behind));
        }
    }

    // One that has a block for itself is an allocation, others are views of it.
    Status add_region(const ImageRegion& r) {
        if (!identity_)
            reserve_free_ones(page_floor(r.guest),
                              page_ceil(r.guest + r.reach) - page_floor(r.guest),
                              std::max(page_size, r.reach / 4096), placed.reserved);
        const auto& pages = placed.pages[r.block];
        void* const host = static_cast<std::byte*>(pages->base) + r.offset;
        if (shown_[r.block].regions == 1 && !r.offset) {
            space_.put_back(
                {{r.id, r.guest, r.size, host, r.rights, r.label, r.reach, r.extent}, pages, {}});
        } else if (Status s = space_.map(r.guest, host, r.size, r.rights, r.label); !s) {
            return s;
        }
        for (const ImageRegion::Pages& p : r.pages)
            if (Status s = space_.protect(p.guest, p.bytes, p.rights); !s) return s;
        return Status::ok();
    }

    const Image& image_;
    AddressSpace& space_;
    const bool identity_;
    std::vector<Shown> shown_;  // of each block
};

}  // namespace

Image take_image(const AddressSpace& space, const std::function<bool(const Allocation&)>& wanted) {
    std::vector<Held> all = space.all_held();
    std::erase_if(all, [&](const Held& held) { return !wanted(held.allocation); });
    const auto host_of = [](const Held& held) {
        return reinterpret_cast<uint64_t>(held.allocation.host);
    };
    std::ranges::sort(all, {}, host_of);
    Image image;
    std::vector<HostRange> ranges;
    for (const Held& held : all) {
        const Allocation& a = held.allocation;
        const uint64_t begin = page_floor(host_of(held)), end = page_ceil(host_of(held) + a.reach);
        if (ranges.empty() || begin >= ranges.back().end) ranges.push_back({begin, end, {}});
        ranges.back().end = std::max(ranges.back().end, end);
        image.regions.push_back({a.id,
                                 a.guest,
                                 a.size,
                                 a.reach,
                                 a.rights,
                                 a.extent,
                                 static_cast<uint32_t>(ranges.size() - 1),
                                 host_of(held) - ranges.back().begin,
                                 a.label,
                                 {}});
        if (held.pages) image.holders.push_back(held.pages);
    }
    for (HostRange& range : ranges) range.readable.resize((range.end - range.begin) / page_size);
    for (size_t i = 0; i < all.size(); i++) {
        ImageRegion& region = image.regions[i];
        look_at_pages(all[i].page_rights, region, ranges[region.block]);
    }
    for (const HostRange& range : ranges) image.blocks.push_back(block_of(range));
    // Wherever the host has them.
    std::ranges::stable_sort(image.regions, {}, &ImageRegion::guest);
    return image;
}

Status check_image(const Image& image) {
    for (const ImageBlock& block : image.blocks)
        if (Status s = check_block(block); !s) return s;
    uint64_t bytes = 0;
    for (const ImageRegion& region : image.regions) {
        if (Status s = check_region(image, region); !s) return s;
        bytes += region.reach;
        if (bytes > most_image_bytes) return invalid("more than 256 GiB of memory");
    }
    bytes = 0;
    for (const ImageBlock& block : image.blocks)
        if ((bytes += block.bytes) > most_image_bytes)
            return invalid("more than 256 GiB of memory");
    return check_apart(image);
}

Result<PlacedImage> put_image(const Image& image, AddressSpace& space, bool identity) {
    if (Status s = check_image(image); !s) return s;
    Placing placing(image, space, identity);
    if (Status s = placing.run(); !s) return s;
    return std::move(placing.placed);
}

std::vector<ReservedAddresses> hold_addresses(const Image& image) {
    std::vector<ReservedAddresses> held;
    if (!check_image(image)) return held;
    for (const ImageRegion& r : image.regions) {
        const uint64_t begin = page_floor(r.guest);
        ReservedAddresses range;
        if (range.reserve(begin, page_ceil(r.guest + r.reach) - begin))
            held.push_back(std::move(range));
    }
    return held;
}

}  // namespace wj::memory
