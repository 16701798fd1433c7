// What wavejit promises for an instruction, before anything runs: the source of
// docs/reference/coverage.md and of `wavejit info --coverage`.
#pragma once

#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj::interp {

enum class Fidelity : uint8_t {
    Exact,    // to the bit, by AMD's documents and docs/reference/float.md
    Bounded,  // hardware may differ within what `note` says
    Refused,  // ends the wave with an error that names it; `note` says why
};

// The note of an instruction that is refused without a rule that says why.
inline constexpr const char* unexplained = "not implemented";

struct Coverage {
    Fidelity fidelity = Fidelity::Exact;
    const char* note = "";
    bool last_bits = false;  // bounded, as hardware may have others in its last bits
};

Coverage coverage(Opcode op);
// Also forms of an instruction that are refused.
Coverage coverage(const Traits& traits, const Inst& inst);

}  // namespace wj::interp
