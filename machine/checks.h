// Checkers that embedders ask for: what they look for, and whom they tell.
#pragma once

#include <cstdint>

#include "machine/wave.h"

namespace wj::machine {

// Bits of ExecContext::checks.
enum Check : uint32_t {
    check_memory = 1,       // LDS beyond what the work-group has; freed memory for long
    check_init = 2,         // registers, scratch memory and LDS that nobody has written
    check_race = 4,         // accesses of several waves that nothing orders
    check_barrier = 8,      // waves that end while others of their work-group wait for them
    check_waitcnt = 16,     // registers that are used before the wait that their load needs
    check_alignment = 32,   // scalar accesses whose addresses lose their low bits
    check_division = 64,    // integers that are divided by zero
    check_unaligned = 128,  // vector accesses at addresses that are no multiple of their elements
    check_inexact = 256,    // what follows from results that hardware may have otherwise
};
inline constexpr uint32_t known_checks = 511;
// What is a mistake wherever it is found: compilers make unaligned accesses of those of bytes, and
// a comparison may well go by an approximation.
inline constexpr uint32_t all_checks = known_checks & ~uint32_t{check_unaligned | check_inexact};
// These look at every instruction: the interpreter runs all of them.
inline constexpr uint32_t checks_of_registers = check_init | check_waitcnt | check_inexact;
// These look at accesses of LDS,
inline constexpr uint32_t checks_of_lds = check_memory | check_init | check_race | check_unaligned;
// and these at those of global memory.
inline constexpr uint32_t checks_of_accesses = check_race | check_unaligned;

// What a checker has found. Hardware would go on, and so does the wave.
struct Finding {
    Check check{};
    const char* what = nullptr;  // static text, which is the same for findings of one kind
    uint64_t pc = 0;             // of the instruction
    uint64_t lanes = 0;          // 0: a scalar
    // Of an access, or Access::None.
    Access access = Access::None;
    uint32_t bytes = 0;
    uint64_t address = 0;
    // Else the register that it is about: 'v', 'a' or 's' and its number; or 0.
    char file = 0;
    uint32_t reg = 0;
    // The instruction that did the other part of it, and its wave; pc 0: there is none.
    struct Other {
        uint64_t pc = 0, group = 0;
        uint32_t wave = 0;
    };
    Other other{};
};

class FindingSink {
public:
    virtual void found(const Wave& wave, const Finding& finding) = 0;

protected:
    ~FindingSink() = default;
};

}  // namespace wj::machine
