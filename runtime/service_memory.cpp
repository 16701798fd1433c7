#include "runtime/service_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wj::runtime {

ServiceMemory::~ServiceMemory() {
    for (uint64_t chunk : chunks_) (void)memory_.free(chunk);
}

namespace {
uint64_t piece_of(uint64_t size) {
    return std::bit_ceil(std::max<uint64_t>(size, 64));
}
}  // namespace

Result<ServiceMemory::Piece> ServiceMemory::allocate(uint64_t size) {
    if (size > largest_piece) {
        auto address = memory_.allocate(size, memory::read_write, label_);
        if (!address) return address.status();
        return Piece(this, *address, size);
    }
    const uint64_t piece = piece_of(size);
    std::lock_guard lock(mutex_);
    auto& list = free_[static_cast<size_t>(std::countr_zero(piece))];
    if (list.empty()) {
        auto chunk = memory_.allocate(chunk_bytes, memory::read_write, label_);
        if (!chunk) return chunk.status();
        chunks_.push_back(*chunk);
        for (uint64_t at = chunk_bytes; at; at -= piece) list.push_back(*chunk + at - piece);
    }
    const uint64_t address = list.back();
    list.pop_back();
    std::memset(reinterpret_cast<void*>(address), 0, piece);
    return Piece(this, address, size);
}

void ServiceMemory::free(uint64_t address, uint64_t size) {
    if (size > largest_piece) {
        (void)memory_.free(address);
        return;
    }
    std::lock_guard lock(mutex_);
    free_[static_cast<size_t>(std::countr_zero(piece_of(size)))].push_back(address);
}

}  // namespace wj::runtime
