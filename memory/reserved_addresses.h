// Addresses of this process that nothing is put at: guests see something else there. The same range
// may be reserved several times.
#pragma once

#include <cstdint>
#include <utility>

namespace wj::memory {

class ReservedAddresses {
public:
    ReservedAddresses() = default;
    ReservedAddresses(ReservedAddresses&& other) noexcept
        : base_(std::exchange(other.base_, 0)), bytes_(other.bytes_) {}
    ReservedAddresses& operator=(ReservedAddresses&& other) noexcept {
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~ReservedAddresses();

    // The pages of [begin, begin + bytes), as far as the host gives out such addresses at all.
    // False: there is something already.
    bool reserve(uint64_t begin, uint64_t bytes);

private:
    uint64_t base_ = 0, bytes_ = 0;
};

}  // namespace wj::memory
