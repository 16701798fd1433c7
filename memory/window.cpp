#include "memory/window.h"

#include <sys/mman.h>

#include <bit>
#include <string>

namespace wj::memory {
namespace {

void* reserve_at(uint64_t address, uint64_t bytes) {
    return mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address ? MAP_FIXED : 0), -1, 0);
}

}  // namespace

Window::Window(uint64_t base, uint64_t bytes) : base_(base), bytes_(bytes) {
    free_.emplace(base + unused, base + bytes - unused);
}

Window::~Window() {
    munmap(reinterpret_cast<void*>(base_ - margin), bytes_ + 2 * margin);
}

Result<std::shared_ptr<Window>> Window::reserve(uint64_t bytes) {
    if (!std::has_single_bit(bytes) || bytes < least_bytes || bytes > most_bytes)
        return Status(Code::InvalidArgument, "a window of " + std::to_string(bytes) +
                                                 " bytes: it must be a power of two from 2^35 to "
                                                 "2^44");
    const uint64_t all = 2 * bytes + 2 * margin;  // a multiple of `bytes` lies somewhere in it
    void* const raw = reserve_at(0, all);
    if (raw == MAP_FAILED)
        return Status(Code::OutOfMemory, "the host has no " + std::to_string(all) +
                                             " bytes of address space for a window of " +
                                             std::to_string(bytes) + " bytes (ulimit -v)");
    const uint64_t begin = reinterpret_cast<uint64_t>(raw),
                   base = (begin + margin + bytes - 1) & ~(bytes - 1), end = begin + all,
                   wanted_end = base + bytes + margin;
    if (base - margin > begin) munmap(raw, base - margin - begin);
    if (end > wanted_end) munmap(reinterpret_cast<void*>(wanted_end), end - wanted_end);
    return std::shared_ptr<Window>(new Window(base, bytes));
}

uint64_t Window::take(uint64_t bytes, uint64_t alignment) {
    std::lock_guard lock(mutex_);
    for (auto range = free_.begin(); range != free_.end(); ++range) {
        const auto [begin, end] = *range;
        const uint64_t at = (begin + alignment - 1) & ~(alignment - 1);
        if (at >= end || bytes > end - at) continue;
        if (at == begin)
            free_.erase(range);
        else
            range->second = at;
        if (at + bytes < end) free_.emplace(at + bytes, end);
        return at;
    }
    return 0;
}

void Window::give_back(uint64_t begin, uint64_t bytes) {
    reserve_at(begin, bytes);
    std::lock_guard lock(mutex_);
    auto range = free_.emplace(begin, begin + bytes).first;
    if (const auto next = std::next(range); next != free_.end() && next->first == range->second) {
        range->second = next->second;
        free_.erase(next);
    }
    if (range == free_.begin()) return;
    if (const auto before = std::prev(range); before->second == range->first) {
        before->second = range->second;
        free_.erase(range);
    }
}

}  // namespace wj::memory
