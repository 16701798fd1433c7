// Instructions of a piece of code: one, or all, one behind the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "frontend/decode.h"

namespace wj {

// The one at this offset in bytes; false: there is none.
inline bool decode_at(const Target& target, std::span<const std::byte> code, size_t at,
                      Inst& inst) {
    if (at >= code.size() || code.size() - at < 4) return false;
    std::array<uint32_t, most_instruction_words> words{};
    const size_t count = std::min(words.size(), (code.size() - at) / 4);
    std::memcpy(words.data(), code.data() + at, count * 4);
    return decode(target, std::span(words).first(count), inst);
}

// Calls body(offset in bytes, const Inst&). Four bytes that are no instruction are passed over:
// data between instructions may pass for some.
template <class Body>
void each_instruction(const Target& target, std::span<const std::byte> code, Body body) {
    Inst inst;
    for (size_t at = 0; at + 4 <= code.size(); at += inst.size)
        if (decode_at(target, code, at, inst)) body(at, inst);
}

}  // namespace wj
