// Pages whose accesses are calls: devices that have registers in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

namespace wj::memory {

// What is called, by the thread that runs the wave: `bytes` is 1, 2 or 4, `address` a multiple of
// it. 0: done; anything else makes the access a fault, and nothing more of the instruction is
// called. Null: there are no such accesses.
struct PageHooks {
    void* context = nullptr;
    int (*load)(void* context, uint64_t address, uint32_t bytes, uint32_t* value) = nullptr;
    int (*store)(void* context, uint64_t address, uint32_t bytes, uint32_t value) = nullptr;
    std::shared_ptr<const void> holder;  // of the context, or null
    uint32_t rights() const;
};

// Where a call of this thread refused an access, since forget_refusal(); or no_address.
inline constexpr uint64_t no_address = ~uint64_t{0};
uint64_t refused_address();
void forget_refusal();

// As long as this lives hooks refuse whatever this thread asks, without a call: of a copy of a
// wave.
class WithoutHooks {
public:
    WithoutHooks();
    ~WithoutHooks();
    WithoutHooks(const WithoutHooks&) = delete;
    WithoutHooks& operator=(const WithoutHooks&) = delete;

private:
    const uint64_t before_;
};

// A range of whole pages. One access at a time, whatever the number of its calls.
class HookedPages {
public:
    HookedPages(uint64_t begin, uint64_t bytes, const PageHooks& hooks, uint64_t id)
        : begin(begin), bytes(bytes), id(id), hooks_(hooks) {}
    const uint64_t begin, bytes, id;

    uint32_t rights() const { return hooks_.rights(); }
    bool contains(uint64_t address) const { return address - begin < bytes; }
    // Of [address, address + size): the bytes that one call is for, an aligned dword at most.
    static uint32_t piece(uint64_t address, uint64_t size);

    std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }
    // `size` bytes, which end in these pages, piece by piece. False: refused.
    bool load(uint64_t address, void* to, uint32_t size);
    bool store(uint64_t address, const void* from, uint32_t size);

private:
    template <class Call>
    bool each_piece(uint64_t address, uint32_t size, Call call);
    const PageHooks hooks_;
    std::recursive_mutex mutex_;
};

}  // namespace wj::memory
