// Which bytes of device memory nobody has written since it was allocated: what the checker of
// unwritten values knows of global memory. Memory that it was not told of counts as written.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <vector>

namespace wj::machine {

// Any thread may use it: host programs allocate, write and free while kernels run.
class UnwrittenMemory {
    struct Region;
    using Regions = std::map<uint64_t, Region>;  // by first guest address; disjoint

public:
    UnwrittenMemory() = default;
    UnwrittenMemory(const UnwrittenMemory&) = delete;
    UnwrittenMemory& operator=(const UnwrittenMemory&) = delete;

    // An allocation, none of which has been written; and its end.
    void add(uint64_t guest, uint64_t bytes);
    void remove(uint64_t guest);
    // From here on nobody knows what is written to an allocation: it counts as written as long as
    // it lives, whatever is restored.
    void give_away(uint64_t guest);
    // The host writes it.
    void write(uint64_t guest, uint64_t bytes);
    // Copies take along what has not been written. The ranges may overlap.
    void copy(uint64_t to, uint64_t from, uint64_t bytes);
    // Whether there is such a byte.
    bool any() const { return left_.load(std::memory_order_relaxed) != 0; }

    // For snapshots and clones.
    struct Saved {
        uint64_t bytes = 0;
        std::vector<uint64_t> written;  // empty: all of it
    };
    using State = std::map<uint64_t, Saved>;
    State save() const;
    void restore(const State& state);

    // What an instruction does to it, as long as this lives.
    class Accesses {
    public:
        explicit Accesses(UnwrittenMemory& memory) : memory_(memory), lock_(memory.mutex_) {}
        // Of up to 64 bytes a bit for each: nobody has written it.
        uint64_t unwritten(uint64_t guest, uint32_t bytes) { return look(guest, bytes, nullptr); }
        // From now on those have not been written that have a bit, the others have.
        void set(uint64_t guest, uint32_t bytes, uint64_t unwritten) {
            look(guest, bytes, &unwritten);
        }
        // Every byte has been written.
        bool written(uint64_t guest, uint64_t bytes);
        void write(uint64_t guest, uint64_t bytes);

    private:
        uint64_t look(uint64_t guest, uint32_t bytes, const uint64_t* set);
        Region* region_at(uint64_t guest);
        UnwrittenMemory& memory_;
        std::shared_lock<std::shared_mutex> lock_;
        uint64_t begin_ = 0, end_ = 0;  // where region_ is the answer, or there is none
        Region* region_ = nullptr;
    };

private:
    struct Free {
        void operator()(std::atomic<uint64_t>* words) const { std::free(words); }
    };
    struct Region {
        uint64_t begin = 0, bytes = 0;
        std::unique_ptr<std::atomic<uint64_t>[], Free> written;  // a bit for each byte
        std::atomic<uint64_t> left{0};                           // bytes without one
        bool make(uint64_t guest, uint64_t size);
    };
    void change(Region& region, uint64_t word, uint64_t bits, bool written);

    mutable std::shared_mutex mutex_;  // exclusive for changes of regions_
    Regions regions_;
    std::set<uint64_t> given_away_;
    std::atomic<uint64_t> left_{0};  // of all regions
};

}  // namespace wj::machine
