// Words of the rows of frontend/tables/*.inc, read while compiling. Internal to frontend/.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "frontend/target.h"

namespace wj::row {

[[noreturn]] inline void malformed() {
    std::abort();
}  // not constexpr: reaching it stops compilation

// Splits off the first word that ends at `separator`. The compiler takes most of its time for
// calls, so that these functions look at characters themselves.
constexpr std::string_view next_word(std::string_view& text, char separator = ' ') {
    const char* at = text.data();
    size_t left = text.size();
    while (left > 0 && *at == separator) ++at, --left;
    size_t length = 0;
    while (length < left && at[length] != separator) ++length;
    text = std::string_view(at + length, left - length);
    return std::string_view(at, length);
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

// A word of up to eight characters as a number, which costs the compiler less to compare.
constexpr uint64_t word_key(std::string_view word) {
    if (word.size() > 8) malformed();
    uint64_t key = 0;
    for (const char c : word) key = key << 8 | static_cast<unsigned char>(c);
    return key;
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

inline constexpr auto family_keys = [] {
    std::array<uint64_t, family_count> keys{};
    for (size_t i = 0; i < family_count; ++i) keys[i] = word_key(families[i].name);
    return keys;
}();

constexpr size_t family_index(std::string_view name) {
    const uint64_t key = word_key(name);
    for (size_t i = 0; i < family_count; ++i)
        if (family_keys[i] == key) return i;
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
