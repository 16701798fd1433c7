#include "memory/page_hooks.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "machine/host_float.h"
#include "memory/address_space.h"

namespace wj::memory {
namespace {

// Which threads' calls have refused what: a table, as there is little room for what threads have of
// their own (common/per_thread.h). Most ask while it is empty.
class Refusals {
public:
    uint64_t mine() {
        if (!count_.load(std::memory_order_relaxed)) return no_address;
        const std::lock_guard lock(mutex_);
        const auto it = addresses_.find(std::this_thread::get_id());
        return it == addresses_.end() ? no_address : it->second;
    }
    void set_mine(uint64_t address) {
        if (address == no_address && !count_.load(std::memory_order_relaxed)) return;
        const std::lock_guard lock(mutex_);
        if (address == no_address)
            addresses_.erase(std::this_thread::get_id());
        else
            addresses_[std::this_thread::get_id()] = address;
        count_.store(addresses_.size(), std::memory_order_relaxed);
    }

private:
    std::mutex mutex_;
    std::unordered_map<std::thread::id, uint64_t> addresses_;
    std::atomic<size_t> count_{0};
};

Refusals& refusals() {
    static auto* const all = new Refusals;  // never destroyed: threads may outlast main()
    return *all;
}

}  // namespace

uint64_t refused_address() {
    return refusals().mine();
}

void forget_refusal() {
    refusals().set_mine(no_address);
}

WithoutHooks::WithoutHooks() : before_(refused_address()) {
    refusals().set_mine(0);
}

WithoutHooks::~WithoutHooks() {
    refusals().set_mine(before_);
}

uint32_t PageHooks::rights() const {
    return (load ? readable : 0u) | (store ? writable : 0u);
}

uint32_t HookedPages::piece(uint64_t address, uint64_t size) {
    const uint64_t aligned = address % 4 ? address & -address : 4;
    return static_cast<uint32_t>(std::bit_floor(std::min(aligned, size)));
}

template <class Call>
bool HookedPages::each_piece(uint64_t address, uint32_t size, Call call) {
    const auto held = lock();
    const machine::HostFloatEnvironment environment;  // not the guest's rounding
    for (uint32_t at = 0; at < size;) {
        const uint32_t n = piece(address + at, size - at);
        if (refused_address() != no_address) return false;
        if (call(address + at, at, n)) {
            refusals().set_mine(address + at);
            return false;
        }
        at += n;
    }
    return true;
}

bool HookedPages::load(uint64_t address, void* to, uint32_t size) {
    return each_piece(address, size, [&](uint64_t place, uint32_t at, uint32_t n) {
        uint32_t value = 0;
        const int status = hooks_.load(hooks_.context, place, n, &value);
        std::memcpy(static_cast<uint8_t*>(to) + at, &value, n);
        return status;
    });
}

bool HookedPages::store(uint64_t address, const void* from, uint32_t size) {
    return each_piece(address, size, [&](uint64_t place, uint32_t at, uint32_t n) {
        uint32_t value = 0;
        std::memcpy(&value, static_cast<const uint8_t*>(from) + at, n);
        return hooks_.store(hooks_.context, place, n, value);
    });
}

}  // namespace wj::memory
