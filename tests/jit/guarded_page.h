// Memory that ends where it is said to end.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "tests/jit/ir_harness.h"

namespace wj::jit_test {

// A page of random bytes; its neighbours may not be touched.
struct PageBetweenHoles {
    static constexpr uint32_t bytes = 4096;
    explicit PageBetweenHoles(Rng& rng) {
        void* const map = mmap(nullptr, 3 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) return;
        begin = static_cast<uint8_t*>(map) + bytes;
        mprotect(begin, bytes, PROT_READ | PROT_WRITE);
        for (uint32_t i = 0; i < bytes; ++i) begin[i] = static_cast<uint8_t>(rng());
    }
    ~PageBetweenHoles() {
        if (begin) munmap(begin - bytes, 3 * bytes);
    }
    PageBetweenHoles(const PageBetweenHoles&) = delete;
    PageBetweenHoles& operator=(const PageBetweenHoles&) = delete;
    uint8_t* begin = nullptr;
};

}  // namespace wj::jit_test
