// Writes the lines of a program: encoders for the instructions of control flow and addresses.
#pragma once

#include <span>

#include "machine/wave.h"
#include "tools/fuzz/encoding.h"
#include "tools/fuzz/program.h"
#include "tools/fuzz/registers.h"

namespace wj::fuzz {

// Operand encodings.
namespace code {
inline constexpr uint32_t vcc = 106, m0 = 124, exec = 126, minus_one = 193, literal = 255,
                          vgpr = 256;
constexpr uint32_t inline_constant(uint32_t n) {  // 0..64
    return 128 + n;
}
}  // namespace code

// A way to move data between registers and global memory: processors have one or another.
struct GlobalAccess {
    Opcode global, flat, buffer;
};
inline constexpr GlobalAccess load_byte{Opcode::global_load_ubyte, Opcode::flat_load_ubyte,
                                        Opcode::buffer_load_ubyte},
    load_dword{Opcode::global_load_dword, Opcode::flat_load_dword, Opcode::buffer_load_dword},
    load_dwordx2{Opcode::global_load_dwordx2, Opcode::flat_load_dwordx2,
                 Opcode::buffer_load_dwordx2},
    store_dword{Opcode::global_store_dword, Opcode::flat_store_dword, Opcode::buffer_store_dword},
    store_dwordx2{Opcode::global_store_dwordx2, Opcode::flat_store_dwordx2,
                  Opcode::buffer_store_dwordx2};

struct Builder {
    const Generator& generator;
    Rng& rng;
    Program program;
    uint32_t depth = 0;     // of nested loops and EXEC regions
    bool keep_exec = true;  // random instructions leave EXEC alone
    bool simple = false;    // random arithmetic is of Pool::Simple
    int labels = 0;

    uint32_t random(uint32_t n) { return static_cast<uint32_t>(rng() % n); }
    int new_label() { return labels++; }
    // In front of s_endpgm.
    int end_label() { return end_label_ < 0 ? end_label_ = new_label() : end_label_; }
    int end_label_ = -1;
    void bind(int label) { program.push_back({.inst = {}, .label = label}); }

    void random_instruction(Pool pool) {
        program.push_back({generator.instruction(rng, pool, keep_exec)});
    }
    void raw(std::initializer_list<uint32_t> words, int branch_to = -1);
    void raw(const Encoding& encoding);

    void sopp(Opcode op, uint32_t simm) { raw({0xbf800000 | of(op) << 16 | simm}); }
    void branch(Opcode op, int label) { raw({0xbf800000 | of(op) << 16}, label); }
    void sop1(Opcode op, uint32_t dst, uint32_t src) {
        raw({0xbe800000 | dst << 16 | of(op) << 8 | src});
    }
    void sop2(Opcode op, uint32_t dst, uint32_t a, uint32_t b, uint32_t literal = 0) {
        const uint32_t w = 0x80000000 | of(op) << 23 | dst << 16 | b << 8 | a;
        if (a == code::literal || b == code::literal)
            raw({w, literal});
        else
            raw({w});
    }
    // Operations on lane masks, by the names that they have for waves of 64 lanes.
    void mask1(Opcode op, uint32_t dst, uint32_t src);
    void mask2(Opcode op, uint32_t dst, uint32_t a, uint32_t b);
    void sopc(Opcode op, uint32_t a, uint32_t b) { raw({0xbf000000 | of(op) << 16 | b << 8 | a}); }
    void sopk(Opcode op, uint32_t dst, uint32_t simm) {
        raw({0xb0000000 | of(op) << 23 | dst << 16 | (simm & 0xffff)});
    }
    void vop1(Opcode op, uint32_t dst, uint32_t src) {
        raw({0x7e000000 | dst << 17 | of(op) << 9 | src});
    }
    // Where a sum without a carry is missing, VCC is written.
    void vop2(Opcode op, uint32_t dst, uint32_t src, uint32_t vsrc, uint32_t literal = 0);
    void vopc(Opcode op, uint32_t src, uint32_t vsrc, uint32_t literal = 0) {
        const uint32_t w = 0x7c000000 | of(op) << 17 | vsrc << 9 | src;
        if (src == code::literal)
            raw({w, literal});
        else
            raw({w});
    }
    // VOPC row in VOP3 encoding, into a lane mask.
    void vopc_e64(Opcode op, uint32_t dst, uint32_t a, uint32_t b) {
        raw(vop3_of(of(op)).set(Field::vdst, dst).set(Field::src0, a).set(Field::src1, b));
    }
    // VOP2 row in VOP3 encoding, with a lane mask (v_cndmask).
    void vop2_e64(Opcode op, uint32_t dst, uint32_t a, uint32_t b, uint32_t lanes) {
        raw(vop3_of(0x100 + of(op))
                .set(Field::vdst, dst)
                .set(Field::src0, a)
                .set(Field::src1, b)
                .set(Field::src2, lanes));
    }

    // Not on targets that have the instruction in another format, or not at all.
    void vop3(Opcode op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c = 0);
    // The same with a carry, in VCC.
    void vop3_carry(Opcode op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c = 0);
    // Pairs of VGPRs.
    void shift_pair(uint32_t dst, uint32_t shift, uint32_t pair);
    void load_scalars(Opcode op, uint32_t dst, uint32_t base, uint32_t offset);
    void ds(Opcode op, uint32_t address, uint32_t data, uint32_t offset);
    // By the address in a pair of VGPRs; or where there is no such way, as the next one.
    void at_address(const GlobalAccess& access, uint32_t pair, uint32_t offset_register,
                    uint32_t data, uint32_t offset = 0);
    // So many bytes behind s_global as a VGPR says.
    void at_offset(const GlobalAccess& access, uint32_t offset_register, uint32_t data,
                   uint32_t offset = 0);

private:
    Encoding encoding(Opcode op) const {
        return {generator.target().family, generator.format(op), of(op)};
    }
    void global(Opcode op, uint32_t address, uint32_t scalars, uint32_t data, uint32_t offset);
    void add(std::span<const uint32_t> words, int branch_to);
    Encoding vop3_of(uint32_t opcode) const {
        return {generator.target().family, Format::VOP3, opcode};
    }
    uint32_t of(Opcode op) const { return generator.code(op); }
    bool has_pairs() const { return generator.target().traits.wave_size == machine::lanes; }
};

}  // namespace wj::fuzz
