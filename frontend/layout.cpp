#include "frontend/layout.h"

#include "frontend/row_text.h"

// Everything here is computed while compiling; a malformed row of formats.inc does not compile.

namespace wj {
namespace {

// They tell formats apart in all families.
constexpr unsigned top_bits = 9;

constexpr std::string_view field_names[] = {
#define FIELD(name) #name,
#include "frontend/tables/fields.inc"
#undef FIELD
};

constexpr size_t field_index(std::string_view name) {
    for (size_t i = 0; i < std::size(field_names); ++i)
        if (field_names[i] == name) return i;
    row::malformed();
}

constexpr bool is_binary(std::string_view word) {
    return word.find_first_not_of("01") == std::string_view::npos;
}

// One dword's fields, from bit 31 downward. Fixed bits identify a format in its first dword only.
constexpr void parse_dword(Layout& layout, std::string_view text) {
    unsigned left = 32;
    for (auto word = row::next_word(text); !word.empty(); word = row::next_word(text)) {
        const size_t colon = word.find(':');
        const bool fixed = colon == std::string_view::npos;
        const unsigned width =
            fixed ? static_cast<unsigned>(word.size()) : row::number(word.substr(colon + 1));
        if (width > left) row::malformed();
        left -= width;
        if (fixed) {
            if (!is_binary(word) || layout.dwords != 0 || left < 32 - top_bits) row::malformed();
            for (unsigned i = 0; i < width; ++i) {
                const uint32_t bit = 1u << (left + width - 1 - i);
                layout.mask |= bit;
                if (word[i] == '1') layout.fixed |= bit;
            }
        } else if (const auto name = word.substr(0, colon); name != "_") {
            layout.fields[field_index(name)] = {static_cast<uint8_t>(32 * layout.dwords + left),
                                                static_cast<uint8_t>(width)};
        }
    }
    if (left != 0) row::malformed();
    ++layout.dwords;
}

constexpr Layout parse_layout(Format format, Suffix suffix, std::string_view range,
                              std::string_view text) {
    Layout layout;
    layout.format = format;
    layout.suffix = suffix;
    const row::FamilyRange families = row::family_range(range);
    layout.first = static_cast<Family>(families.first);
    layout.last = static_cast<Family>(families.last);
    std::string_view dwords = text.substr(0, text.find(';'));
    for (auto dword = row::next_word(dwords, '|'); !dword.empty();
         dword = row::next_word(dwords, '|'))
        parse_dword(layout, dword);
    if (const size_t others = text.find(';'); others != std::string_view::npos) {
        text.remove_prefix(others + 1);
        for (auto word = row::next_word(text); !word.empty(); word = row::next_word(text)) {
            const size_t at = word.find('@'), colon = word.find(':');
            layout.fields[field_index(word.substr(0, at))] = {
                static_cast<uint8_t>(row::number(word.substr(at + 1, colon - at - 1))),
                static_cast<uint8_t>(row::number(word.substr(colon + 1)))};
        }
    }
    return layout;
}

constexpr Layout rows[] = {
#define FORMAT(format, families, fields) \
    parse_layout(Format::format, Suffix::None, families, fields),
#define SUFFIX(suffix, families, fields) \
    parse_layout(Format::VOP1, Suffix::suffix, families, fields),
#include "frontend/tables/formats.inc"
#undef FORMAT
#undef SUFFIX
};

constexpr uint8_t none = 255;
static_assert(std::size(rows) < none);

using TopTable = std::array<uint8_t, 1u << top_bits>;

// Of the formats whose fixed bits fit, the one with the most of them.
constexpr std::array<TopTable, family_count> by_top_bits = [] {
    constexpr unsigned shift = 32 - top_bits;
    std::array<TopTable, family_count> tables{};
    for (TopTable& table : tables) table.fill(none);
    for (uint8_t i = 0; i < std::size(rows); ++i) {
        const Layout& l = rows[i];
        if (l.suffix != Suffix::None) continue;
        const uint32_t any =
            ~(l.mask >> shift) & ((1u << top_bits) - 1);  // bits that are not fixed
        for (size_t family = 0; family < family_count; ++family) {
            if (!l.is_of(static_cast<Family>(family))) continue;
            uint32_t bits = any;
            for (;; bits = (bits - 1) & any) {  // each of their values
                uint8_t& best = tables[family][l.fixed >> shift | bits];
                if (best == none || l.mask > rows[best].mask) best = i;
                if (bits == 0) break;
            }
        }
    }
    return tables;
}();

}  // namespace

const Layout* find_layout(Family family, uint32_t word) {
    const uint8_t row = by_top_bits[static_cast<size_t>(family)][word >> (32 - top_bits)];
    return row == none ? nullptr : &rows[row];
}

const Layout& find_layout(Family family, Suffix suffix) {
    for (const Layout& l : rows)
        if (l.suffix == suffix && l.is_of(family)) return l;
    std::abort();  // callers ask for those that an opcode of the family admits
}

bool has_layout(Family family, Suffix suffix) {
    for (const Layout& l : rows)
        if (l.suffix == suffix && l.is_of(family)) return true;
    return false;
}

std::span<const Layout> layouts() {
    return rows;
}

}  // namespace wj
