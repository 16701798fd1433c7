// A part of the host's address space for all memory of one guest, and nothing else. It is a power
// of two in size and aligned to it, so that two operations keep any address inside
// (ExecContext::reach()), and nothing is mapped within `margin` around it, so that what
// instructions add behind these operations leads nowhere.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "common/status.h"

namespace wj::memory {

class Window {
public:
    // Translated code adds at most 39 GiB to an address that reach() has returned: seven steps of
    // 32 bits from row to row of lanes, a lane's 32 bits, an immediate's, what a loop goes on (3).
    static constexpr uint64_t margin = uint64_t{64} << 30;
    // At both ends nothing is given out: an address is a base and an offset of 32 bits, and the
    // base of what lies near an end may be beyond it, that is at the other end.
    static constexpr uint64_t unused = uint64_t{8} << 30;
    static constexpr uint64_t least_bytes = uint64_t{1} << 35, most_bytes = uint64_t{1} << 44;

    // `bytes`: a power of two.
    static Result<std::shared_ptr<Window>> reserve(uint64_t bytes);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    uint64_t base() const { return base_; }
    uint64_t bytes() const { return bytes_; }
    uint64_t mask() const { return bytes_ - 1; }
    bool contains(uint64_t address, uint64_t bytes) const {
        return address >= base_ && address - base_ <= bytes_ && bytes <= bytes_ - (address - base_);
    }

    // Addresses that nothing is mapped at, in whole pages; 0: so many in a row are not free.
    uint64_t take(uint64_t bytes, uint64_t alignment);
    void give_back(uint64_t begin, uint64_t bytes);  // what was there is gone

private:
    Window(uint64_t base, uint64_t bytes);
    const uint64_t base_, bytes_;
    std::mutex mutex_;
    std::map<uint64_t, uint64_t> free_;  // by first address: the one behind the last
};

}  // namespace wj::memory
