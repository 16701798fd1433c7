// gfx90a's encodings in waves of 32 lanes, which no processor has: what the tests' words say of
// lane masks is one register instead of a pair.
#pragma once

#include "frontend/target.h"

namespace wj::jit_test {

inline const Target& target32() {
    static const Target target = [] {
        Target t = *find_target("gfx90a");
        t.traits.wave_size = 32;
        return t;
    }();
    return target;
}

}  // namespace wj::jit_test
