// Where the fields of an instruction lie: one row of frontend/tables/formats.inc for each format
// and range of families. Internal to frontend/ and to tests of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "frontend/opcode.h"
#include "frontend/target.h"

namespace wj {

enum class Field : uint8_t {
#define FIELD(name) name,
#include "frontend/tables/fields.inc"
#undef FIELD
    count_
};

struct FieldPlace {
    uint8_t low = 0;    // bit of the instruction, 32 in the second dword
    uint8_t width = 0;  // bits; 0: the encoding has no such field
};

// Dwords that follow the short vector encodings whose source 0 is a code for them.
enum class Suffix : uint8_t { None, Sdwa, Dpp, Dpp8 };

struct Layout {
    Format format = Format::SOPP;  // of instructions; what follows them has a suffix
    Suffix suffix = Suffix::None;
    Family first{}, last{};  // the families that have it
    uint8_t dwords = 0;      // without literals
    uint32_t mask = 0;       // of the first dword: bits that identify the format ...
    uint32_t fixed = 0;      // ... and their values
    std::array<FieldPlace, static_cast<size_t>(Field::count_)> fields{};

    constexpr bool is_of(Family family) const { return family >= first && family <= last; }
    FieldPlace place(Field f) const { return fields[static_cast<size_t>(f)]; }
    bool has(Field f) const { return place(f).width != 0; }
    // 0 where the encoding has no such field.
    uint32_t get(std::span<const uint32_t> words, Field f) const {
        const FieldPlace p = place(f);
        return p.width == 0 ? 0 : words[p.low / 32] >> p.low % 32 & ((uint64_t{1} << p.width) - 1);
    }
};

// The layout that the first dword selects; nullptr where the family has none for it.
const Layout* find_layout(Family family, uint32_t word);

const Layout& find_layout(Family family, Suffix suffix);
bool has_layout(Family family, Suffix suffix);

std::span<const Layout> layouts();

}  // namespace wj
