// What checkers keep of a work-group while it is resident.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/checks.h"
#include "machine/global_shadow.h"
#include "machine/register_shadow.h"

namespace wj::machine {

// Who has used each byte of a work-group's LDS since its last barrier.
struct LdsShadow {
    static constexpr uint16_t nobody = 0xffff, several = 0xfffe;
    struct Byte {
        uint16_t writer = nobody, reader = nobody;  // waves
        bool atomic = false;                        // no write was a plain one
        bool written = false;                       // since the work-group began
    };
    std::vector<Byte> bytes;

    void begin(uint32_t size) { bytes.assign(size, Byte{}); }
    void barrier() {
        for (Byte& b : bytes) b.writer = b.reader = nobody, b.atomic = false;
    }
};

// And of a dispatch.
struct DispatchShadow {
    explicit DispatchShadow(FindingSink& sink) : sink(sink) {}
    FindingSink& sink;
    GlobalShadow global;
};

struct GroupShadow {
    LdsShadow lds;
    std::vector<RegisterShadow> waves;  // with checks_of_registers
    DispatchShadow* dispatch = nullptr;
};

}  // namespace wj::machine
