// How a guest address becomes the host's (docs/howto/add-a-memory-mode.md).
#pragma once

#include <cstdint>

namespace wj::x64 {

enum class AddressMode : uint8_t {
    Identity,       // it is the host's
    Masked,         // it is, behind ExecContext::reach()
    Checked,        // through the page table
    CheckedMasked,  // both, reach() first
};

constexpr AddressMode address_mode(bool checked, bool masked) {
    return static_cast<AddressMode>(2 * int{checked} + int{masked});
}
constexpr bool is_checked(AddressMode mode) {
    return mode >= AddressMode::Checked;
}
constexpr bool is_masked(AddressMode mode) {
    return mode == AddressMode::Masked || mode == AddressMode::CheckedMasked;
}

}  // namespace wj::x64
