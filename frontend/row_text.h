// Words of the rows of frontend/tables/*.inc, read while compiling. Internal to frontend/.
#pragma once

#include <cstdlib>
#include <string_view>

#include "frontend/target.h"

namespace wj::row {

[[noreturn]] inline void malformed() {
    std::abort();
}  // not constexpr: reaching it stops compilation

// Splits off the first word that ends at `separator`.
constexpr std::string_view next_word(std::string_view& text, char separator = ' ') {
    while (!text.empty() && text.front() == separator) text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find(separator));
    text.remove_prefix(word.size());
    return word;
}

constexpr unsigned number(std::string_view digits) {
    unsigned value = 0;
    if (digits.empty()) malformed();
    for (const char c : digits) {
        if (c < '0' || c > '9') malformed();
        value = value * 10 + static_cast<unsigned>(c - '0');
    }
    return value;
}

struct FamilyRow {
    std::string_view name, parent;
    unsigned vop1_in_vop3;
};

inline constexpr FamilyRow families[] = {
#define FAMILY(id, name, parent, vop1_in_vop3) {name, parent, vop1_in_vop3},
#include "frontend/tables/families.inc"
#undef FAMILY
};

constexpr size_t family_index(std::string_view name) {
    for (size_t i = 0; i < family_count; ++i)
        if (families[i].name == name) return i;
    malformed();
}

// "8" or "8-950": whether `family` is in it.
struct FamilyRange {
    size_t first, last;
    constexpr bool contains(size_t family) const { return family >= first && family <= last; }
};

constexpr FamilyRange family_range(std::string_view text) {
    const size_t dash = text.find('-');
    const size_t first = family_index(text.substr(0, dash));
    return {first, dash == std::string_view::npos ? first : family_index(text.substr(dash + 1))};
}

}  // namespace wj::row
