// One row per instruction (frontend/tables/*.inc), one opcode number per encoding family, filled
// forward along the family tree. The row's operand signature gives the decoder, the disassembler,
// the interpreter and the lifter the width and the interpretation of every operand; the words
// behind its ';' say which encodings there are (encoding.h) and what else it does (effects.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "frontend/target.h"

namespace wj {

enum class Format : uint8_t {
    SOP1,
    SOP2,
    SOPK,
    SOPC,
    SOPP,
    SMEM,
    VOP1,
    VOP2,
    VOPC,
    VOP3,
    VOP3P,
    VINTRP,
    DS,
    MUBUF,
    MTBUF,
    MIMG,
    FLAT,
    GLOBAL,
    SCRATCH,
    EXP,
    VSAMPLE,  // gfx12: image instructions with a sampler
    VINTERP,  // gfx11+
    LDSDIR,   // gfx11+
    VOPD,     // gfx11+: two vector operations in one instruction
    VOPD3,    // gfx12.5: the same with three sources each, and their signs
    TENSOR,   // gfx12.5: the tensor data mover
};

enum class Opcode : uint16_t {
    invalid,
#define INST(name, format, codes, signature) name,
#include "frontend/tables/all.inc"
#undef INST
    count_
};

inline constexpr size_t opcode_count = static_cast<size_t>(Opcode::count_);

// How an operand's bits are read: decides the register width, the expansion of inline constants and
// literals (gfx9: a 32-bit literal of a f64 operand is its high half; of i64/u64/b64 it is
// extended) and which source modifiers apply.
enum class Type : uint8_t {
    none,
    b16,
    i16,
    u16,
    f16,
    bf16,
    b32,
    i32,
    u32,
    f32,
    pk_f16,
    pk_i16,
    pk_u16,
    pk_b16,
    pk_bf16,
    b64,
    i64,
    u64,
    f64,
    pk_f32,
    pk_b32,
    b96,
    b128,
    b160,
    b192,
    b256,
    b512,
    b1024,
    mask,  // a lane mask: VCC or an SGPR pair (one SGPR for wave32)
    sb32,  // a scalar destination of a vector instruction (v_readlane)
    addr,  // DS address VGPR
    simm16,
    imm32,
    count_
};

uint32_t type_dwords(Type type);

// From gfx11 on such an operand is a half of its VGPR.
constexpr bool is_16_bit(Type type) {
    return type == Type::f16 || type == Type::i16 || type == Type::u16 || type == Type::b16 ||
           type == Type::bf16;
}

struct OpInfo {
    std::string_view
        name;  // its name where the family has no other: mnemonic without _e32/_e64/_sdwa/_dpp
    Format format;
    std::array<Type, 2> dst;  // vdst/sdst and the second (carry-out, VCC of v_div_scale)
    std::array<Type, 4> src;
    uint8_t dst_count, src_count;
    bool returns_if_glc;  // "b32?": an atomic that returns the old value only with GLC
};

const OpInfo& op_info(Opcode op);
std::string_view op_name(Opcode op, Family family);  // as the family's assembler writes it
Opcode find_opcode(std::string_view mnemonic);       // Opcode::invalid when there is none

}  // namespace wj
