#include "frontend/opcode.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdlib>
#include <unordered_map>

#include "frontend/effect_words.h"
#include "frontend/encoding.h"
#include "frontend/row_text.h"

// Everything here is computed at compile time from the rows of frontend/tables/*.inc. A malformed
// row (unknown type, unknown family, a code used twice) fails to compile.

namespace wj {
namespace {

struct RowText {
    std::string_view name;
    Format format;
    std::string_view codes, signature;
};

constexpr RowText row_texts[] = {
    {"", Format::SOPP, "", "="},  // Opcode::invalid
#define INST(name, format, codes, signature) {#name, Format::format, codes, signature},
#include "frontend/tables/all.inc"
#undef INST
};
static_assert(std::size(row_texts) == opcode_count);

struct TypeName {
    constexpr TypeName(std::string_view name, Type t, uint8_t size)
        : key(row::word_key(name)), type(t), dwords(size) {}
    uint64_t key;
    Type type;
    uint8_t dwords;
};

constexpr TypeName type_names[] = {
    {"b32", Type::b32, 1},       {"u32", Type::u32, 1},       {"i32", Type::i32, 1},
    {"f32", Type::f32, 1},       {"b64", Type::b64, 2},       {"u64", Type::u64, 2},
    {"i64", Type::i64, 2},       {"f64", Type::f64, 2},       {"f16", Type::f16, 1},
    {"u16", Type::u16, 1},       {"i16", Type::i16, 1},       {"b16", Type::b16, 1},
    {"bf16", Type::bf16, 1},     {"pk_f16", Type::pk_f16, 1}, {"pk_i16", Type::pk_i16, 1},
    {"pk_u16", Type::pk_u16, 1}, {"pk_b16", Type::pk_b16, 1}, {"pk_bf16", Type::pk_bf16, 1},
    {"pk_f32", Type::pk_f32, 2}, {"pk_b32", Type::pk_b32, 2}, {"b96", Type::b96, 3},
    {"b128", Type::b128, 4},     {"b160", Type::b160, 5},     {"b192", Type::b192, 6},
    {"b256", Type::b256, 8},     {"b512", Type::b512, 16},    {"b1024", Type::b1024, 32},
    {"mask", Type::mask, 2},     {"sb32", Type::sb32, 1},     {"addr", Type::addr, 1},
    {"simm16", Type::simm16, 0}, {"imm32", Type::imm32, 0},
};

constexpr auto dwords_by_type = [] {
    std::array<uint8_t, static_cast<size_t>(Type::count_)> dwords{};
    for (const TypeName& t : type_names) dwords[static_cast<size_t>(t.type)] = t.dwords;
    return dwords;
}();

constexpr Type parse_type(std::string_view word) {
    const uint64_t key = row::word_key(word);
    for (const TypeName& t : type_names)
        if (t.key == key) return t.type;
    row::malformed();
}

constexpr OpInfo parse_info(const RowText& row) {
    OpInfo info{};
    info.name = row.name;
    info.format = row.format;
    std::string_view text = row.signature.substr(0, row.signature.find(';'));
    bool after_equals = false;
    for (std::string_view word = row::next_word(text); !word.empty(); word = row::next_word(text)) {
        if (word == "=") {
            after_equals = true;
        } else if (after_equals) {
            info.src[info.src_count++] = parse_type(word);
        } else {
            if (word.back() == '?') {
                info.returns_if_glc = true;
                word.remove_suffix(1);
            }
            info.dst[info.dst_count++] = parse_type(word);
        }
    }
    if (!after_equals) row::malformed();
    return info;
}

constexpr std::array<OpInfo, opcode_count> infos = [] {
    std::array<OpInfo, opcode_count> out{};
    for (size_t i = 0; i < opcode_count; ++i) out[i] = parse_info(row_texts[i]);
    return out;
}();

constexpr bool is_float(Type t) {
    return t == Type::f16 || t == Type::f32 || t == Type::f64 || t == Type::bf16;
}

constexpr bool is_wide(Type t) {
    return t != Type::mask && dwords_by_type[static_cast<size_t>(t)] == 2;
}

constexpr bool is_vop(Format f) {
    return f == Format::VOP1 || f == Format::VOP2 || f == Format::VOPC || f == Format::VOP3;
}

// Modifier bits that follow from the types: neg and abs on float sources, clamp and omod when any
// operand is a float (compares have no omod). Rows that differ say so after ';'.
constexpr EncodingInfo default_encoding(const OpInfo& info) {
    EncodingInfo e;
    if (!is_vop(info.format)) return e;
    bool any_float = info.dst_count > 0 && (is_float(info.dst[0]) || info.dst[0] == Type::pk_f32);
    unsigned used = 0;
    unsigned i = 0;
    bool wide = false;
    for (unsigned s = 0; s < info.src_count; ++s) {
        wide = wide || is_wide(info.src[s]);
        if (info.src[s] == Type::mask) continue;
        if (is_float(info.src[s])) {
            used |= 1u << (v3::abs + i) | 1u << (v3::neg + i);
            any_float = true;
        }
        ++i;
    }
    wide = wide || (info.dst_count > 0 && is_wide(info.dst[0]));
    if (any_float) used |= 1u << v3::clamp;
    if (any_float && info.format != Format::VOPC) used |= 3u << v3::omod;
    constexpr unsigned op_sel_bits = 15u << v3::op_sel;
    e.v3_used = static_cast<uint16_t>(used);
    e.v3_zero = static_cast<uint16_t>(~(used | op_sel_bits) & ((1u << v3::count) - 1));
    if (info.dst_count == 2) {  // VOP3B: the scalar destination lies where abs and op_sel would be
        constexpr unsigned sdst_bits = 7u << v3::abs | op_sel_bits;
        e.v3_used = static_cast<uint16_t>((used & ~sdst_bits) | 1u << v3::clamp);
        e.v3_zero = static_cast<uint16_t>(e.v3_zero & ~sdst_bits & ~(1u << v3::clamp));
    }
    e.e64 = true;
    e.sdwa = !wide;
    e.dpp = info.format != Format::VOPC;
    return e;
}

constexpr void set_bits(EncodingInfo& e, unsigned mask, char use) {
    e.v3_used = static_cast<uint16_t>(use == 't' ? e.v3_used | mask : e.v3_used & ~mask);
    e.v3_zero = static_cast<uint16_t>(use == 'X' ? e.v3_zero | mask : e.v3_zero & ~mask);
}

struct PackedPrefix {
    std::string_view prefix;
    PackedClass packed;
};

// First match counts. Dot products of 16-bit pairs have op_sel, those of bytes and nibbles have
// not.
constexpr PackedPrefix packed_prefixes[] = {
    {"v_mfma_f32_16x16x128_f8f6f4", PackedClass::MfmaScaled},
    {"v_mfma_f32_32x32x64_f8f6f4", PackedClass::MfmaScaled},
    {"v_mfma_scale_", PackedClass::MfmaScaled},
    {"v_mfma_ld_scale_", PackedClass::LdScale},
    {"v_mfma_", PackedClass::Mfma},
    {"v_smfmac_", PackedClass::Smfmac},
    {"v_swmmac_i32_", PackedClass::SwmmacInt},
    {"v_swmmac_f32_16x16x32_fp8", PackedClass::SwmmacSmall},
    {"v_swmmac_f32_16x16x32_bf8", PackedClass::SwmmacSmall},
    {"v_swmmac_f32_16x16x128_", PackedClass::SwmmacSmall},
    {"v_swmmac_f16_16x16x128_", PackedClass::SwmmacSmall},
    {"v_swmmac_", PackedClass::Swmmac},
    {"v_wmma_f32_16x16x16_fp8", PackedClass::WmmaSmall},
    {"v_wmma_f32_16x16x16_bf8", PackedClass::WmmaSmall},
    {"v_wmma_f32_16x16x4_f32", PackedClass::WmmaF32},
    {"v_wmma_f32_16x16x128_f8f6f4", PackedClass::WmmaScaled},
    {"v_wmma_scale_f32_16x16x128_", PackedClass::WmmaScaled},
    {"v_wmma_scale16_f32_16x16x128_", PackedClass::WmmaScaled},
    {"v_wmma_scale", PackedClass::WmmaSmall},
    {"v_wmma_ld_scale", PackedClass::WmmaLdScale},
    {"v_wmma_f32_32x16x128_f4", PackedClass::WmmaSmall},
    {"v_wmma_f32_16x16x64_", PackedClass::WmmaSmall},
    {"v_wmma_f16_16x16x64_", PackedClass::WmmaSmall},
    {"v_wmma_f32_16x16x128_", PackedClass::WmmaSmall},
    {"v_wmma_f16_16x16x128_", PackedClass::WmmaSmall},
    {"v_wmma_f32_", PackedClass::Wmma},
    {"v_wmma_i32_", PackedClass::WmmaInt},
    {"v_wmma_", PackedClass::WmmaPacked},
    {"v_mad_mix", PackedClass::Mix},
    {"v_fma_mix", PackedClass::Mix},
    {"v_dot2_", PackedClass::DotPacked},
    {"v_dot4_f32_", PackedClass::DotSmall},
    {"v_dot", PackedClass::Dot},
    {"v_accvgpr_read", PackedClass::AccRead},
    {"v_accvgpr_write", PackedClass::AccWrite},
    {"v_pk_add_max_", PackedClass::PackedPlain},
    {"v_pk_add_min_", PackedClass::PackedPlain},
    {"v_pk_max3_i", PackedClass::PackedPlain},
    {"v_pk_max3_u", PackedClass::PackedPlain},
    {"v_pk_min3_i", PackedClass::PackedPlain},
    {"v_pk_min3_u", PackedClass::PackedPlain},
    {"v_pk_", PackedClass::Packed},
};

constexpr PackedClass packed_class(const RowText& row) {
    if (row.format != Format::VOP3P) return PackedClass::None;
    for (const PackedPrefix& p : packed_prefixes) {
        if (row.name.substr(0, p.prefix.size()) == p.prefix) return p.packed;
    }
    row::malformed();
}

constexpr bool* encoding_flag(EncodingInfo& e, std::string_view word) {
    struct Flag {
        std::string_view word;
        bool EncodingInfo::*flag;
    };
    constexpr Flag flags[] = {
        {"gws", &EncodingInfo::gws},
        {"two", &EncodingInfo::two_offsets},
        {"lds", &EncodingInfo::lds_form},
        {"float", &EncodingInfo::float_atomic},
        {"v#", &EncodingInfo::v_sharp},
        {"scratch", &EncodingInfo::scratch},
        {"probe", &EncodingInfo::probe},
        {"noaddress", &EncodingInfo::no_address},
        {"sampler", &EncodingInfo::sampler},
        {"gather4", &EncodingInfo::gather4},
        {"nod16", &EncodingInfo::no_d16},
        {"pair", &EncodingInfo::pair},
        {"bvh", &EncodingInfo::bvh},
        {"interp", &EncodingInfo::interp},
        {"high", &EncodingInfo::high},
        {"gradients", &EncodingInfo::gradients},
        {"g16", &EncodingInfo::g16},
        {"lod", &EncodingInfo::lod},
        {"nocoords", &EncodingInfo::no_coords},
        {"ldsonly", &EncodingInfo::lds_only},
        {"nopolicy", &EncodingInfo::no_policy},
        {"noliteral", &EncodingInfo::no_literal},
        {"splat", &EncodingInfo::splat},
        {"split", &EncodingInfo::split},
        {"prefetch", &EncodingInfo::prefetch},
        {"pcrel", &EncodingInfo::pc_relative},
        {"cacheop", &EncodingInfo::cache_operation},
        {"rays", &EncodingInfo::rays},
        {"reuse", &EncodingInfo::matrix_reuse},
        {"plain", &EncodingInfo::plain_name},
        {"scalesel", &EncodingInfo::scale_select},
        {"ldsaddr", &EncodingInfo::lds_address},
        {"firstonly", &EncodingInfo::first_only},
        {"secondonly", &EncodingInfo::second_only},
    };
    for (const Flag& f : flags)
        if (word == f.word) return &(e.*f.flag);
    return nullptr;
}

struct Notes {
    EncodingInfo encoding;
    Effects effects;
};

constexpr void parse_words(Notes& notes, std::string_view text) {
    EncodingInfo& e = notes.encoding;
    for (std::string_view word = row::next_word(text); !word.empty(); word = row::next_word(text)) {
        if (add_effect(notes.effects, word)) {
        } else if (word == "clamp") {
            set_bits(e, 1u << v3::clamp, 't');
        } else if (word == "noclamp") {
            set_bits(e, 1u << v3::clamp, 'X');
        } else if (word == "omod") {
            set_bits(e, 3u << v3::omod, 't');
        } else if (word == "noomod") {
            set_bits(e, 3u << v3::omod, 'X');
        } else if (word == "noe64") {
            e.e64 = false;
        } else if (word == "nosdwa") {
            e.sdwa = false;
        } else if (word == "sdwa") {
            e.sdwa = true;
        } else if (word == "nodstsel") {
            e.sdwa_dst_sel = false;
        } else if (word == "nodpp") {
            e.dpp = false;
        } else if (word == "dpp") {
            e.dpp = true;
        } else if (word == "mk" || word == "ak") {
            e.k = word == "mk" ? InlineK::Mk : InlineK::Ak;
            e.e64 = e.sdwa = e.dpp = false;
        } else if (bool* flag = encoding_flag(e, word)) {
            *flag = true;
        } else if (word.substr(0, 4) == "args") {
            e.args = static_cast<uint8_t>(row::number(word.substr(4)));
        } else if (word.size() == 5 && word.substr(0, 4) == "half") {
            e.half_operand = static_cast<uint8_t>(row::number(word.substr(4)) + 1);
        } else if (word == "byte1" || word == "byte2") {
            e.byte_select = static_cast<uint8_t>(row::number(word.substr(4)));
        } else if (word.substr(0, 4) == "d16x") {
            e.halves = static_cast<uint8_t>(row::number(word.substr(4)));
        } else if (word.substr(0, 3) == "v3:" && word.size() == 3 + v3::count) {
            for (unsigned i = 0; i < v3::count; ++i) set_bits(e, 1u << i, word[3 + i]);
        } else {
            row::malformed();
        }
    }
}

// What stands behind the row's ';'.
constexpr Notes parse_notes(const RowText& row, const OpInfo& info) {
    Notes notes{default_encoding(info), {}};
    notes.encoding.packed = packed_class(row);
    const size_t semicolon = row.signature.find(';');
    if (semicolon != std::string_view::npos)
        parse_words(notes, row.signature.substr(semicolon + 1));
    return notes;
}

constexpr std::array<Notes, opcode_count> notes = [] {
    std::array<Notes, opcode_count> out{};
    for (size_t i = 0; i < opcode_count; ++i) out[i] = parse_notes(row_texts[i], infos[i]);
    return out;
}();

struct OtherForm {
    Opcode op;
    row::FamilyRange families;
    EncodingInfo encoding;
};

constexpr EncodingInfo other_form(Opcode op, std::string_view words) {
    Notes n = notes[static_cast<size_t>(op)];
    parse_words(n, words);
    return n.encoding;
}

constexpr OtherForm other_forms[] = {
#define FORM(op, families, words) \
    {Opcode::op, row::family_range(families), other_form(Opcode::op, words)},
#include "frontend/tables/forms.inc"
#undef FORM
};

// The first of an opcode's rows in a table, plus one; 0: it has none. Rows of one opcode stand
// together.
template <class Table>
constexpr auto first_rows(const Table& table) {
    std::array<uint16_t, opcode_count> first{};
    for (size_t i = std::size(table); i-- > 0;)
        first[static_cast<size_t>(table[i].op)] = static_cast<uint16_t>(i + 1);
    return first;
}

template <class Table>
constexpr bool stand_together(const Table& table) {
    bool seen[opcode_count]{};
    for (size_t i = 0; i < std::size(table); ++i) {
        if (i > 0 && table[i].op == table[i - 1].op) continue;
        if (seen[static_cast<size_t>(table[i].op)]) return false;
        seen[static_cast<size_t>(table[i].op)] = true;
    }
    return true;
}
static_assert(stand_together(other_forms), "forms.inc: an opcode's rows are apart");

constexpr auto first_other_form = first_rows(other_forms);

// The row of an opcode that holds for a family; nullptr: none.
template <class Row, size_t N>
constexpr const Row* family_row(const Row (&table)[N], uint16_t first, Opcode op, size_t family) {
    for (size_t i = first; first != 0 && i <= N && table[i - 1].op == op; ++i)
        if (table[i - 1].families.contains(family)) return &table[i - 1];
    return nullptr;
}

constexpr const EncodingInfo& encoding_of(Opcode op, size_t family) {
    const size_t i = static_cast<size_t>(op) < opcode_count ? static_cast<size_t>(op) : 0;
    const OtherForm* other = family_row(other_forms, first_other_form[i], op, family);
    return other != nullptr ? other->encoding : notes[i].encoding;
}

constexpr int absent = -1;

struct EncodedFormat {
    Format format;
    row::FamilyRange families;
};

constexpr EncodedFormat encoded_formats[] = {
#define FORMAT(format, families, fields) {Format::format, row::family_range(families)},
#define SUFFIX(suffix, families, fields)
#include "frontend/tables/formats.inc"
#undef FORMAT
#undef SUFFIX
};

// Whether the family has instructions of the format. GLOBAL and SCRATCH are segments of FLAT.
constexpr auto format_families = [] {
    struct {
        bool has[std::size(format_slots)][family_count];
    } families{};
    for (const EncodedFormat& f : encoded_formats)
        for (size_t family = f.families.first; family <= f.families.last; ++family)
            families.has[static_cast<size_t>(f.format)][family] = true;
    for (const Format segment : {Format::GLOBAL, Format::SCRATCH})
        for (size_t family = 0; family < family_count; ++family)
            families.has[static_cast<size_t>(segment)][family] =
                families.has[static_cast<size_t>(Format::FLAT)][family];
    return families;
}();

// The family whose codes a row takes where it names none; family_count: the row must name one.
constexpr auto parents = [] {
    struct {
        size_t of[family_count];
    } parents{};
    for (size_t family = 0; family < family_count; ++family) {
        const std::string_view name = row::families[family].parent;
        parents.of[family] = name.empty() ? family_count : row::family_index(name);
    }
    return parents;
}();

struct Code {
    Format format = Format::SOPP;
    int number = absent;
};
struct Codes {
    Code of[family_count];
};

constexpr std::string_view format_names[] = {
    "SOP1",    "SOP2",  "SOPK",    "SOPC",    "SOPP",   "SMEM",  "VOP1",  "VOP2",  "VOPC",
    "VOP3",    "VOP3P", "VINTRP",  "DS",      "MUBUF",  "MTBUF", "MIMG",  "FLAT",  "GLOBAL",
    "SCRATCH", "EXP",   "VSAMPLE", "VINTERP", "LDSDIR", "VOPD",  "VOPD3", "TENSOR"};
static_assert(std::size(format_names) == std::size(format_slots));

// "x", "12" or, where the family encodes the instruction in another format, "VOP3.12".
constexpr Code parse_code(Format format, std::string_view text) {
    if (text == "x") return {};
    const size_t dot = text.find('.');
    if (dot != std::string_view::npos) {
        size_t f = 0;
        while (f < std::size(format_names) && format_names[f] != text.substr(0, dot)) ++f;
        if (f == std::size(format_names)) row::malformed();
        format = static_cast<Format>(f);
        text.remove_prefix(dot + 1);
    }
    return {format, static_cast<int>(row::number(text))};
}

constexpr Codes parse_codes(Format format, std::string_view text) {
    Codes codes{};
    bool named[family_count]{};
    for (auto word = row::next_word(text); !word.empty(); word = row::next_word(text)) {
        const size_t colon = word.find(':');
        if (colon == std::string_view::npos) row::malformed();
        const size_t family = row::family_index(word.substr(0, colon));
        codes.of[family] = parse_code(format, word.substr(colon + 1));
        named[family] = true;
    }
    for (size_t family = 0; family < family_count; ++family) {
        const size_t parent = parents.of[family];
        if (named[family] || parent == family_count || codes.of[parent].number == absent) continue;
        if (format_families.has[static_cast<size_t>(codes.of[parent].format)][family])
            codes.of[family] = codes.of[parent];
    }
    return codes;
}

// Where a format's opcode numbers stand in a family's table.
constexpr auto format_bases = [] {
    struct {
        unsigned of[std::size(format_slots)];
    } bases{};
    for (size_t f = 0; f < std::size(format_slots); ++f)
        bases.of[f] = format_base(static_cast<Format>(f));
    return bases;
}();

constexpr void fill_slot(Opcode* slots, Format format, unsigned code, Opcode op) {
    if (code >= format_slots[static_cast<size_t>(format)]) row::malformed();
    Opcode& slot = slots[format_bases.of[static_cast<size_t>(format)] + code];
    if (slot != Opcode::invalid) row::malformed();  // two rows share a code
    slot = op;
}

// VOPC, VOP2 and VOP1 rows also have a VOP3 encoding, at distances that the family decides (ISA
// documents, VOP3 opcodes).
constexpr int vop3_offset(Format format, size_t family) {
    switch (format) {
        case Format::VOPC:
            return 0;
        case Format::VOP2:
            return 0x100;
        case Format::VOP1:
            return static_cast<int>(row::families[family].vop1_in_vop3);
        default:
            return absent;
    }
}

// Calls are what costs the compiler most, so that what needs none is asked first.
constexpr SlotTable build_slots() {
    SlotTable table{};
    Opcode* slots[family_count]{};
    for (size_t family = 0; family < family_count; ++family) slots[family] = table[family].data();
    for (size_t i = 1; i < opcode_count; ++i) {
        const Codes codes = parse_codes(row_texts[i].format, row_texts[i].codes);
        const Opcode op = static_cast<Opcode>(i);
        for (size_t family = 0; family < family_count; ++family) {
            if (codes.of[family].number == absent) continue;
            const unsigned code = static_cast<unsigned>(codes.of[family].number);
            const Format format = codes.of[family].format;
            fill_slot(slots[family], format, code, op);
            if (format != Format::VOPD && !is_vop(format)) continue;
            const int promoted = vop3_offset(format, family);
            if (promoted != absent && encoding_of(op, family).e64)
                fill_slot(slots[family], Format::VOP3, code + static_cast<unsigned>(promoted), op);
            if (format == Format::VOPD &&
                format_families.has[static_cast<size_t>(Format::VOPD3)][family] &&
                encoding_of(op, family).k == InlineK::None)
                fill_slot(slots[family], Format::VOPD3, code, op);
        }
    }
    return table;
}

struct OtherName {
    Opcode op;
    row::FamilyRange families;
    std::string_view name;
};

constexpr OtherName other_names[] = {
#define NAME(op, families, name) {Opcode::op, row::family_range(families), name},
#include "frontend/tables/names.inc"
#undef NAME
};

constexpr auto first_other_name = first_rows(other_names);

// Made when it is first asked for. Names are unique, as they are the enumerators of Opcode.
Opcode find_exact(std::string_view name) {
    static const auto by_name = [] {
        std::unordered_map<std::string_view, Opcode> opcodes;
        for (size_t i = 1; i < opcode_count; ++i)
            opcodes.emplace(infos[i].name, static_cast<Opcode>(i));
        return opcodes;
    }();
    const auto at = by_name.find(name);
    return at == by_name.end() ? Opcode::invalid : at->second;
}

}  // namespace

constinit const SlotTable opcode_slots = build_slots();

uint32_t type_dwords(Type type) {
    const size_t i = static_cast<size_t>(type);
    return i < dwords_by_type.size() ? dwords_by_type[i] : 0;
}

const OpInfo& op_info(Opcode op) {
    const size_t i = static_cast<size_t>(op);
    return infos[i < opcode_count ? i : 0];
}

std::string_view op_name(Opcode op, Family family) {
    const size_t f = static_cast<size_t>(family);
    const OtherName* other =
        family_row(other_names, first_other_name[static_cast<size_t>(op)], op, f);
    if (other != nullptr) return other->name;
    return op_info(op).name;
}

const EncodingInfo& encoding_info(Opcode op) {
    const size_t i = static_cast<size_t>(op);
    return notes[i < opcode_count ? i : 0].encoding;
}

const EncodingInfo& encoding_info(Opcode op, Family family) {
    return encoding_of(op, static_cast<size_t>(family));
}

std::string_view format_name(Format format) {
    return format_names[static_cast<size_t>(format)];
}

const Effects& effects(Opcode op) {
    const size_t i = static_cast<size_t>(op);
    return notes[i < opcode_count ? i : 0].effects;
}

bool has_short_form(Opcode op, Family family) {
    static const auto short_forms = [] {  // decoding asks for each VOP3 instruction
        std::array<std::bitset<opcode_count>, family_count> ops;
        for (size_t f = 0; f < family_count; ++f)
            for (const Format format : {Format::VOPC, Format::VOP2, Format::VOP1}) {
                const unsigned base = format_base(format);
                for (unsigned code = 0; code < format_slots[static_cast<size_t>(format)]; ++code)
                    ops[f].set(static_cast<size_t>(opcode_slots[f][base + code]));
            }
        return ops;
    }();
    return short_forms[static_cast<size_t>(family)][static_cast<size_t>(op)];
}

uint32_t image_group(const Target& target, Opcode op, uint32_t group, uint32_t left) {
    if (target.traits.image_registers == 0) return 1;
    const EncodingInfo& e = encoding_info(op, target.family);
    if (e.rays) return group < 2 ? 2 : std::min(left, 3u);
    // A ray: node (two dwords of 64-bit pointers), extent, origin, direction and its inverse.
    if (e.bvh) return group == 0 ? e.args - 10u : group == 1 ? 1 : 3;
    return group + 1 == target.traits.image_registers ? left : 1;
}

Opcode find_opcode(std::string_view mnemonic) {
    if (const Opcode op = find_exact(mnemonic); op != Opcode::invalid) return op;
    for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp"}) {
        if (mnemonic.size() > suffix.size() &&
            mnemonic.substr(mnemonic.size() - suffix.size()) == suffix) {
            return find_exact(mnemonic.substr(0, mnemonic.size() - suffix.size()));
        }
    }
    return Opcode::invalid;
}

}  // namespace wj
