#include "memory/page_hooks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/host_float.h"
#include "memory/address_space.h"

namespace wj::memory {
namespace {

thread_local uint64_t refused = no_address;

}  // namespace

uint64_t refused_address() {
    return refused;
}

void forget_refusal() {
    refused = no_address;
}

WithoutHooks::WithoutHooks() : before_(refused) {
    refused = 0;
}

WithoutHooks::~WithoutHooks() {
    refused = before_;
}

uint32_t PageHooks::rights() const {
    return (load ? readable : 0u) | (store ? writable : 0u);
}

uint32_t HookedPages::piece(uint64_t address, uint64_t size) {
    const uint64_t aligned = address % 4 ? address & -address : 4;
    return static_cast<uint32_t>(std::bit_floor(std::min(aligned, size)));
}

template <class Call>
bool HookedPages::each_piece(uint64_t address, uint32_t size, Call call) {
    const auto held = lock();
    const machine::HostFloatEnvironment environment;  // not the guest's rounding
    for (uint32_t at = 0; at < size;) {
        const uint32_t n = piece(address + at, size - at);
        if (refused != no_address) return false;
        if (call(address + at, at, n)) {
            refused = address + at;
            return false;
        }
        at += n;
    }
    return true;
}

bool HookedPages::load(uint64_t address, void* to, uint32_t size) {
    return each_piece(address, size, [&](uint64_t place, uint32_t at, uint32_t n) {
        uint32_t value = 0;
        const int status = hooks_.load(hooks_.context, place, n, &value);
        std::memcpy(static_cast<uint8_t*>(to) + at, &value, n);
        return status;
    });
}

bool HookedPages::store(uint64_t address, const void* from, uint32_t size) {
    return each_piece(address, size, [&](uint64_t place, uint32_t at, uint32_t n) {
        uint32_t value = 0;
        std::memcpy(&value, static_cast<const uint8_t*>(from) + at, n);
        return hooks_.store(hooks_.context, place, n, value);
    });
}

}  // namespace wj::memory
