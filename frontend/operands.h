// Register and constant operands out of their encodings. Internal to frontend/.
#pragma once

#include <cstdint>
#include <span>

#include "frontend/inst.h"
#include "frontend/layout.h"
#include "frontend/target.h"

namespace wj {

// State of one decode() call.
struct DecodeState {
    const Target& target;
    std::span<const uint32_t> words;
    const Layout& layout;
    Inst& out;
    uint32_t length = 1;  // dwords used so far; a literal is taken from words[length]
    bool has_literal = false, wide_literal = false;  // wide: of 64 bits

    // The literal that has been read; one of 32 bits is the low half.
    uint64_t literal() const {
        const uint32_t last = out.words[length - 1];
        return wide_literal ? uint64_t{last} << 32 | out.words[length - 2] : last;
    }

    // A lane mask takes one SGPR or two, by the wave size.
    uint32_t dwords(Type type) const {
        return type == Type::mask ? target.traits.wave_size / 32 : type_dwords(type);
    }
    // Whether an operand of the type is a half of its VGPR.
    bool is_half(Type type) const { return target.traits.true16 && is_16_bit(type); }
    // A field of the encoding; 0 or false where the family's encoding has none.
    uint32_t get(Field f) const { return layout.get(words, f); }
    int32_t get_signed(Field f) const {
        const unsigned unused = 32u - layout.place(f).width;
        return static_cast<int32_t>(get(f) << unused) >> unused;
    }
    bool flag(Field f) const { return get(f) != 0; }
    bool has(Field f) const { return layout.has(f); }
};

// Kinds of registers an operand slot admits. Others decode (as LLVM does) but are illegal.
enum class Slot : uint8_t { Any, Vector, VgprOnly, Scalar, ScalarRegister };

bool decode_sgpr(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Operand& out);
bool decode_vgpr(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Operand& out);
bool decode_agpr(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Operand& out);

// A scalar source (8 bits) or vector source (9 bits, 256 + n is VGPR n).
bool decode_source(DecodeState& s, uint32_t code, Type type, Operand& out, bool literal_allowed,
                   Slot slot = Slot::Any);

Operand immediate_operand(int64_t value, Type type);

// The bits that inline constant `code` (128..208, 240..248) and a literal stand for in an operand.
uint64_t inline_constant(uint32_t code, Type type);
uint64_t expand_literal(uint32_t literal, Type type);

}  // namespace wj
