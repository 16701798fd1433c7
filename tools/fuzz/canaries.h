// Host memory that no guest of a window may reach: around the window, where its addresses without
// the window's upper bits would lead, at the ends of 32-bit offsets, in the program's image, on the
// heap. Hostile programs get these addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/window.h"
#include "tools/fuzz/generate.h"

namespace wj::fuzz {

class Canaries {
public:
    // buffer: guest memory in the window. Canaries whose addresses lead to it when they are taken
    // for the guest's make programs go on that would fault otherwise.
    Canaries(const memory::Window& window, uint64_t buffer, uint64_t buffer_bytes);
    ~Canaries();
    Canaries(const Canaries&) = delete;
    Canaries& operator=(const Canaries&) = delete;

    // Of a canary, of the window's ends, of what the processor treats in its own way, or random.
    uint64_t hostile_address(Rng& rng) const;
    // The first byte of a canary that is not what it was, or 0; all are whole then.
    uint64_t find_damage();
    size_t count() const { return places_.size(); }

private:
    struct Place {
        uint8_t* bytes;
        uint64_t size;
        bool mapped;  // by mmap
    };
    void map(uint64_t address, uint64_t size);
    void add(uint8_t* bytes, uint64_t size, bool mapped);

    const memory::Window& window_;
    const uint64_t buffer_, buffer_bytes_;
    std::unique_ptr<uint8_t[]> heap_;
    std::vector<Place> places_;
};

}  // namespace wj::fuzz
