#include "tools/fuzz/canaries.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "machine/wave.h"

namespace wj::fuzz {
namespace {

constexpr uint64_t page = 4096, canary_bytes = 4 * page, most_bytes = 16 * page;

uint8_t in_image[canary_bytes];

// What canaries hold.
const std::vector<uint8_t>& song() {
    static const std::vector<uint8_t> bytes = [] {
        Rng rng(0x5a);
        std::vector<uint8_t> out(most_bytes);
        for (uint8_t& x : out) x = static_cast<uint8_t>(rng());
        return out;
    }();
    return bytes;
}

}  // namespace

Canaries::Canaries(const memory::Window& window, uint64_t buffer, uint64_t buffer_bytes)
    : window_(window), buffer_(buffer), buffer_bytes_(buffer_bytes), heap_(new uint8_t[page]) {
    const uint64_t begin = window.base() - memory::Window::margin,
                   end = window.base() + window.bytes() + memory::Window::margin;
    map(begin - canary_bytes, canary_bytes);
    map(end, canary_bytes);
    for (const uint64_t low : {0x10000ull, 0x7fff0000ull, 0xffff0000ull, 0x1'0000'0000ull})
        map(low, canary_bytes);
    // The buffer's offset in the window behind other upper bits.
    const uint64_t pages = std::min((buffer_bytes + page - 1) & ~(page - 1), most_bytes);
    for (const uint64_t upper : {0u, 1u, 2u, 5u, 100u, 1000u, 2047u, 3000u, 4095u})
        map((buffer & window.mask()) + upper * window.bytes(), pages);
    add(in_image, sizeof in_image, false);
    add(heap_.get(), page, false);
}

Canaries::~Canaries() {
    for (const Place& place : places_)
        if (place.mapped) munmap(place.bytes, place.size);
}

// Not where something lies already.
void Canaries::map(uint64_t address, uint64_t size) {
    void* const at = mmap(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != MAP_FAILED) add(static_cast<uint8_t*>(at), size, true);
}

void Canaries::add(uint8_t* bytes, uint64_t size, bool mapped) {
    std::memcpy(bytes, song().data(), size);
    places_.push_back({bytes, size, mapped});
}

uint64_t Canaries::hostile_address(Rng& rng) const {
    const uint64_t window_end = window_.base() + window_.bytes();
    const uint64_t ends[] = {window_.base(),
                             window_.base() + memory::Window::unused,
                             window_end - memory::Window::unused,
                             window_end,
                             window_.base() - memory::Window::margin,
                             window_end + memory::Window::margin,
                             0,
                             uint64_t{1} << 31,
                             uint64_t{1} << 32,
                             uint64_t{1} << 47,
                             uint64_t{1} << 48,
                             ~(uint64_t{1} << 47) + 1,
                             machine::shared_aperture,
                             machine::shared_aperture + (uint64_t{1} << 32),
                             machine::private_aperture,
                             machine::private_aperture + (uint64_t{1} << 32),
                             machine::flat_scratch_base(buffer_)};
    const uint64_t near = rng() % 4 ? rng() % 256 * 4 : rng() % 0x2000 - 0x1000;
    switch (rng() % 8) {
        case 0:
            return ends[rng() % std::size(ends)] + near;
        case 1:
            return rng() % 2 ? rng() : rng() >> rng() % 64;
        case 2:  // in the middle: what is below it and above is the program's, too
            return buffer_ + buffer_bytes_ / 4 + near + (rng() << 32);
        default: {
            const Place& place = places_[rng() % places_.size()];
            return reinterpret_cast<uint64_t>(place.bytes) + place.size / 4 + near;
        }
    }
}

uint64_t Canaries::find_damage() {
    uint64_t damage = 0;
    for (const Place& place : places_) {
        if (std::memcmp(place.bytes, song().data(), place.size) == 0) continue;
        const auto at = std::mismatch(place.bytes, place.bytes + place.size, song().begin()).first;
        damage = reinterpret_cast<uint64_t>(at);
        std::memcpy(place.bytes, song().data(), place.size);
    }
    return damage;
}

}  // namespace wj::fuzz
