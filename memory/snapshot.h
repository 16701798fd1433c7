// Snapshots of an address space: which allocations there are, and what is in them. To be taken and
// restored while no kernel runs.
//
// Each holds a copy of everything. What a restore costs is what was written since: pages that
// kernels write in checked mode are noted where their accesses look up a page for the first time,
// which needs no code of its own; what the host writes has to be told (AddressSpace::note_write).
// Without such marks every page is compared.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "common/status.h"
#include "memory/address_space.h"

namespace wj::memory {

class Snapshots {
public:
    explicit Snapshots(AddressSpace& memory) : memory_(memory) {}

    struct Options {
        bool marked_only = false;    // nothing is written without a mark
        bool mapped_memory = false;  // mapped host memory is a part of it, as far as it is writable
    };
    struct Restored {
        uint64_t pages_looked_at = 0, pages_copied = 0;
        uint64_t freed = 0, put_back = 0;  // allocations
    };
    // The handle is not used again by any snapshot of the process.
    uint64_t take(const Options& options);
    // Allocations of the embedder (Extent::Bytes) that were made since are freed, those freed since
    // are put back. Other snapshots stay as they are, older and newer ones.
    Status restore(uint64_t handle, Restored& out);
    Status release(uint64_t handle);

    // What begins there is the embedder's, in whatever way it has been made.
    void include(uint64_t guest);
    // The host has a pointer to this memory and may write at any time: never without a mark.
    void add_host_range(uint64_t guest, uint64_t bytes);

private:
    struct Region {
        Held held;
        std::vector<uint8_t> bytes;
    };
    struct Snapshot {
        Options options;
        std::map<uint64_t, Region> regions;  // allocations, by the first guest address
        std::vector<Region> mapped;          // may overlap
        std::vector<uint64_t> written;       // pages, since it was taken or restored
        size_t compact_at = 4096;            // so many of them are looked at for doubles
        uint64_t matched = 0;                // AddressSpace::changes() when all was the same
        template <class Call>
        void for_each_region(Call call) const {
            for (const auto& [guest, region] : regions) call(region);
            for (const Region& region : mapped) call(region);
        }
        void add_written(const std::vector<uint64_t>& pages);
        void compact();
    };
    bool belongs(const Held& held, const Options& options) const;
    Snapshot* find(uint64_t handle);
    void note_written();
    bool restore_part(const Region& region, uint64_t page) const;
    void restore_page(const Snapshot& snapshot, uint64_t page, std::vector<uint64_t>& changed,
                      Restored& out) const;
    void match_allocations(const Snapshot& snapshot, Restored& out);
    void restore_contents(Snapshot& snapshot, Restored& out);

    AddressSpace& memory_;
    std::mutex mutex_;
    std::map<uint64_t, Snapshot> snapshots_;
    std::set<uint64_t> included_;               // first guest addresses
    std::map<uint64_t, uint64_t> host_ranges_;  // bytes by the first guest address
};

}  // namespace wj::memory
