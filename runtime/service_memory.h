// Small pieces of guest memory that the runtime itself needs per dispatch: packets, kernel
// arguments.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "memory/address_space.h"

namespace wj::runtime {

class ServiceMemory {
public:
    ServiceMemory(memory::AddressSpace& memory, std::string label)
        : memory_(memory), label_(std::move(label)) {}
    ~ServiceMemory();
    ServiceMemory(const ServiceMemory&) = delete;
    ServiceMemory& operator=(const ServiceMemory&) = delete;

    // Goes back with its end.
    class Piece {
    public:
        Piece() = default;
        Piece(Piece&& other) noexcept { *this = std::move(other); }
        Piece& operator=(Piece&& other) noexcept {
            std::swap(owner_, other.owner_);
            std::swap(address_, other.address_);
            std::swap(size_, other.size_);
            return *this;
        }
        ~Piece() {
            if (owner_) owner_->free(address_, size_);
        }
        uint64_t address() const { return address_; }  // of the guest and of the host
        uint64_t size() const { return size_; }

    private:
        friend class ServiceMemory;
        Piece(ServiceMemory* owner, uint64_t address, uint64_t size)
            : owner_(owner), address_(address), size_(size) {}
        ServiceMemory* owner_ = nullptr;
        uint64_t address_ = 0, size_ = 0;
    };

    // Zeroed, aligned to its size rounded up to a power of two (at least 64, at most a page).
    Result<Piece> allocate(uint64_t size);

private:
    void free(uint64_t address, uint64_t size);

    static constexpr uint64_t chunk_bytes = 64 * 1024, largest_piece = 4096;
    memory::AddressSpace& memory_;
    std::string label_;
    std::mutex mutex_;
    std::vector<uint64_t> chunks_;
    std::array<std::vector<uint64_t>, 64> free_;  // by the logarithm of the size
};

}  // namespace wj::runtime
