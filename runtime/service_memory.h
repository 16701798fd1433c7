// Small pieces of guest memory that the runtime itself needs per dispatch: packets, kernel
// arguments.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
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

    // Zeroed, aligned to its size rounded up to a power of two (at least 64, at most a page). Guest
    // address = host address.
    Result<uint64_t> allocate(uint64_t size);
    void free(uint64_t address);

private:
    static constexpr uint64_t chunk_bytes = 64 * 1024, largest_piece = 4096;
    memory::AddressSpace& memory_;
    std::string label_;
    std::mutex mutex_;
    std::vector<uint64_t> chunks_;
    std::map<uint64_t, std::vector<uint64_t>> free_;  // piece size -> addresses
    std::map<uint64_t, uint64_t> used_;  // address -> piece size; 0 = an allocation of its own
};

}  // namespace wj::runtime
