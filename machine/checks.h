// Checkers that embedders ask for: what they look for, and what they keep of a work-group.
#pragma once

#include <cstdint>
#include <vector>

namespace wj::machine {

// Bits of ExecContext::checks.
enum Check : uint32_t {
    check_memory = 1,  // LDS beyond what the work-group has; freed memory for long
    check_init = 2,    // LDS that nobody has written
    check_race = 4,    // LDS that waves use at the same time, between two barriers
    check_barrier = 8  // waves that end while others of their work-group wait for them
};

// Who has used each byte of a work-group's LDS since its last barrier.
struct LdsShadow {
    static constexpr uint16_t nobody = 0xffff, several = 0xfffe;
    struct Byte {
        uint16_t writer = nobody, reader = nobody;  // waves
        bool atomic = false;                        // the writer's was an atomic
        bool written = false;                       // since the work-group began
    };
    std::vector<Byte> bytes;

    void begin(uint32_t size) { bytes.assign(size, Byte{}); }
    void barrier() {
        for (Byte& b : bytes) b.writer = b.reader = nobody, b.atomic = false;
    }
};

}  // namespace wj::machine
