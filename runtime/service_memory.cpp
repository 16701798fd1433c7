#include "runtime/service_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wj::runtime {

ServiceMemory::~ServiceMemory() {
    for (uint64_t chunk : chunks_) (void)memory_.free(chunk);
    for (auto [address, piece] : used_)
        if (!piece) (void)memory_.free(address);
}

Result<uint64_t> ServiceMemory::allocate(uint64_t size) {
    if (size > largest_piece) {
        auto address = memory_.allocate(size, memory::read_write, label_);
        if (!address) return address;
        std::lock_guard lock(mutex_);
        used_[*address] = 0;
        return address;
    }
    uint64_t piece = std::bit_ceil(std::max<uint64_t>(size, 64));
    std::lock_guard lock(mutex_);
    auto& list = free_[piece];
    if (list.empty()) {
        auto chunk = memory_.allocate(chunk_bytes, memory::read_write, label_);
        if (!chunk) return chunk;
        chunks_.push_back(*chunk);
        for (uint64_t at = chunk_bytes; at; at -= piece) list.push_back(*chunk + at - piece);
    }
    uint64_t address = list.back();
    list.pop_back();
    used_[address] = piece;
    std::memset(reinterpret_cast<void*>(address), 0, piece);
    return address;
}

void ServiceMemory::free(uint64_t address) {
    std::lock_guard lock(mutex_);
    auto it = used_.find(address);
    if (it == used_.end()) return;
    if (it->second)
        free_[it->second].push_back(address);
    else
        (void)memory_.free(address);
    used_.erase(it);
}

}  // namespace wj::runtime
