#include "memory/snapshot.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace wj::memory {
namespace {

std::atomic<uint64_t> next_handle{1};

uint64_t first_page(uint64_t guest) {
    return guest & ~(page_size - 1);
}

// Those of code objects stay as they are loaded.
bool has_rights_of_its_own(const Held& held) {
    return held.allocation.extent == Extent::Bytes;
}

Status unknown(uint64_t handle) {
    return {Code::InvalidArgument,
            "snapshot " + std::to_string(handle) +
                " is none of this context's: it was released, or is another context's"};
}

}  // namespace

// The embedder's memory and code objects, for their variables. What else there is, the runtime
// keeps for itself: packets, scratch memory, what kernels print.
bool Snapshots::belongs(const Held& held, const Options& options) const {
    const Allocation& a = held.allocation;
    if (!(a.rights & writable)) return false;
    if (included_.contains(a.guest)) return true;
    if (!held.pages) return options.mapped_memory;
    return a.extent == Extent::Bytes || a.rights & executable;
}

void Snapshots::include(uint64_t guest) {
    std::lock_guard lock(mutex_);
    included_.insert(guest);
}

Snapshots::Snapshot* Snapshots::find(uint64_t handle) {
    const auto it = snapshots_.find(handle);
    return it == snapshots_.end() ? nullptr : &it->second;
}

void Snapshots::add_host_range(uint64_t guest, uint64_t bytes) {
    std::lock_guard lock(mutex_);
    uint64_t& known = host_ranges_[guest];
    known = std::max(known, bytes);
}

void Snapshots::Snapshot::compact() {
    std::sort(written.begin(), written.end());
    written.erase(std::unique(written.begin(), written.end()), written.end());
    compact_at = std::max<size_t>(4096, 2 * written.size());
}

void Snapshots::Snapshot::add_written(const std::vector<uint64_t>& pages) {
    if (!options.marked_only) return;
    written.insert(written.end(), pages.begin(), pages.end());
    if (written.size() > compact_at) compact();
}

// Every snapshot learns what has been written since the last time.
void Snapshots::note_written() {
    for (const auto& [guest, bytes] : host_ranges_) memory_.note_write(guest, bytes);
    const std::vector<uint64_t> pages = memory_.take_written();
    for (auto& [handle, snapshot] : snapshots_) snapshot.add_written(pages);
}

uint64_t Snapshots::take(const Options& options) {
    std::lock_guard lock(mutex_);
    memory_.track_writes();
    note_written();
    Snapshot snapshot;
    snapshot.options = options;
    snapshot.matched = memory_.changes();
    for (Held& held : memory_.all_held()) {
        const Allocation& a = held.allocation;
        if (!belongs(held, options)) continue;
        const bool opened = has_rights_of_its_own(held) && memory_.open_to_host(held);
        const auto* const bytes = static_cast<const uint8_t*>(a.host);
        Region region{held, std::vector<uint8_t>(bytes, bytes + a.reach)};
        if (opened) memory_.set_page_rights(held);
        if (held.pages)
            snapshot.regions.emplace(a.guest, std::move(region));
        else
            snapshot.mapped.push_back(std::move(region));
    }
    const uint64_t handle = next_handle.fetch_add(1);
    snapshots_.emplace(handle, std::move(snapshot));
    return handle;
}

Status Snapshots::release(uint64_t handle) {
    std::lock_guard lock(mutex_);
    return snapshots_.erase(handle) ? Status::ok() : unknown(handle);
}

// What the page has of the region is as it was then; false: it has been.
bool Snapshots::restore_part(const Region& region, uint64_t page) const {
    const Allocation& a = region.held.allocation;
    const uint64_t begin = std::max(page, a.guest),
                   end = std::min(page + page_size, a.guest + a.reach);
    if (begin >= end || !memory_.has(a)) return false;
    // Code, which no kernel has written to.
    if (!has_rights_of_its_own(region.held) && !memory_.translate(begin, end - begin, writable))
        return false;
    auto* const now = static_cast<uint8_t*>(a.host) + (begin - a.guest);
    const uint8_t* const then = region.bytes.data() + (begin - a.guest);
    if (!std::memcmp(now, then, end - begin)) return false;
    std::memcpy(now, then, end - begin);
    return true;
}

void Snapshots::restore_page(const Snapshot& snapshot, uint64_t page,
                             std::vector<uint64_t>& changed, Restored& out) const {
    out.pages_looked_at++;
    bool copied = false;
    auto it = snapshot.regions.upper_bound(page);
    if (it != snapshot.regions.begin()) --it;
    for (; it != snapshot.regions.end() && it->first < page + page_size; ++it)
        copied |= restore_part(it->second, page);
    for (const Region& region : snapshot.mapped) copied |= restore_part(region, page);
    if (!copied) return;
    out.pages_copied++;
    changed.push_back(page);
}

void Snapshots::match_allocations(const Snapshot& snapshot, Restored& out) {
    for (const Held& held : memory_.all_held()) {
        const Allocation& a = held.allocation;
        if (!held.pages || a.extent != Extent::Bytes) continue;
        const auto it = snapshot.regions.find(a.guest);
        if (it != snapshot.regions.end() && it->second.held.allocation.id == a.id) continue;
        if (memory_.free(a.guest)) out.freed++;
    }
    for (const auto& [guest, region] : snapshot.regions) {
        const Allocation& a = region.held.allocation;
        if (a.extent != Extent::Bytes || memory_.has(a)) continue;
        Held open = region.held;  // until the contents are there
        open.page_rights.clear();
        memory_.put_back(open);
        out.put_back++;
        std::memcpy(a.host, region.bytes.data(), a.reach);
        memory_.note_write(a.guest, a.reach);  // for the other snapshots
    }
}

void Snapshots::restore_contents(Snapshot& snapshot, Restored& out) {
    std::vector<uint64_t> changed;
    if (snapshot.options.marked_only) {
        snapshot.compact();
        for (const uint64_t page : snapshot.written) restore_page(snapshot, page, changed, out);
    } else {
        snapshot.for_each_region([&](const Region& region) {
            const Allocation& a = region.held.allocation;
            for (uint64_t page = first_page(a.guest); page < a.guest + a.reach; page += page_size)
                restore_page(snapshot, page, changed, out);
        });
    }
    snapshot.written.clear();
    for (auto& [other, of_other] : snapshots_)
        if (&of_other != &snapshot) of_other.add_written(changed);
}

Status Snapshots::restore(uint64_t handle, Restored& out) {
    std::lock_guard lock(mutex_);
    Snapshot* const snapshot = find(handle);
    if (!snapshot) return unknown(handle);
    note_written();
    const bool changed = snapshot->matched != memory_.changes();
    if (changed) match_allocations(*snapshot, out);
    bool opened = false;
    snapshot->for_each_region([&](const Region& region) {
        if (has_rights_of_its_own(region.held)) opened |= memory_.open_to_host(region.held);
    });
    restore_contents(*snapshot, out);
    if (changed || opened) {
        snapshot->for_each_region([&](const Region& region) {
            if (has_rights_of_its_own(region.held)) memory_.set_page_rights(region.held);
        });
        snapshot->matched = memory_.changes();
    }
    return Status::ok();
}

}  // namespace wj::memory
