// A wave with so many rows of vector registers, for tests of handlers.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/target.h"
#include "machine/wave.h"

namespace wj::test {

template <uint32_t Rows>
struct WaveMachine {
    static constexpr uint32_t rows = Rows;
    std::vector<uint32_t> file = std::vector<uint32_t>((rows + 1) * machine::lanes);
    machine::ExecContext ctx;
    machine::Wave wave;

    explicit WaveMachine(const Target& target) {
        ctx.target = &target;
        const auto base = (reinterpret_cast<uintptr_t>(file.data()) + 63) & ~uintptr_t{63};
        wave.vgpr = reinterpret_cast<uint32_t*>(base);
        wave.ctx = &ctx;
        wave.size = static_cast<uint8_t>(target.traits.wave_size);
    }
    std::vector<uint32_t> contents() const {
        return {wave.vgpr, wave.vgpr + rows * machine::lanes};
    }
};

}  // namespace wj::test
