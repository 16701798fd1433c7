#include "tools/fuzz/builder.h"

#include <algorithm>

#include "frontend/decode.h"
#include "frontend/effects.h"

namespace wj::fuzz {

void Builder::raw(std::initializer_list<uint32_t> words, int branch_to) {
    add({words.begin(), words.size()}, branch_to);
}

void Builder::raw(const Encoding& encoding) {
    add(encoding.words(), -1);
}

void Builder::vop2(Opcode op, uint32_t dst, uint32_t src, uint32_t vsrc, uint32_t literal) {
    if (op == Opcode::v_add_u32 && !generator.has(op)) op = Opcode::v_add_co_u32;
    if (op == Opcode::v_sub_u32 && !generator.has(op)) op = Opcode::v_sub_co_u32;
    if (!generator.has(op)) return;
    Encoding e = encoding(op);
    e.set(Field::vdst, dst).set(Field::src0, src);
    if (generator.format(op) == Format::VOP3)  // of v_add_co_u32, with a carry
        e.set(Field::src1, code::vgpr + vsrc).set(Field::sdst, code::vcc);
    else
        e.set(Field::vsrc1, vsrc);
    if (src == code::literal) e.append(literal);
    raw(e);
}

void Builder::vop3(Opcode op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c) {
    if (!generator.has(op) || generator.format(op) != Format::VOP3) return;
    Encoding e = encoding(op);
    raw(e.set(Field::vdst, dst).set(Field::src0, a).set(Field::src1, b).set(Field::src2, c));
}

void Builder::vop3_carry(Opcode op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c) {
    if (!generator.has(op)) return;
    Encoding e = generator.format(op) == Format::VOP3 ? encoding(op) : vop3_of(0x100 + of(op));
    e.set(Field::vdst, dst).set(Field::sdst, code::vcc);
    raw(e.set(Field::src0, a).set(Field::src1, b).set(Field::src2, c));
}

void Builder::shift_pair(uint32_t dst, uint32_t shift, uint32_t pair) {
    if (!generator.has(Opcode::v_lshlrev_b64))
        vop3(Opcode::v_lshl_b64, dst, code::vgpr + pair, shift);
    else if (generator.format(Opcode::v_lshlrev_b64) == Format::VOP3)
        vop3(Opcode::v_lshlrev_b64, dst, shift, code::vgpr + pair);
    else
        vop2(Opcode::v_lshlrev_b64, dst, shift, pair);
}

void Builder::load_scalars(Opcode op, uint32_t dst, uint32_t base, uint32_t offset) {
    if (!generator.has(op)) return;
    Encoding e = encoding(op);
    e.set(Field::sdst, dst).set(Field::sbase, base / 2);
    const bool apart = e.has(Field::soffset) && !e.has(Field::soffset_en);
    raw(e.set(apart ? Field::soffset : Field::offset, offset));
}

void Builder::ds(Opcode op, uint32_t address, uint32_t data, uint32_t offset) {
    if (!generator.has(op)) return;
    Encoding e = encoding(op);
    const bool loads = effects(op).access == MemoryAccess::Load;
    e.set(Field::addr, address).set(loads ? Field::vdst : Field::data0, data);
    raw(e.set(Field::offset0, offset));
}

void Builder::global(Opcode op, uint32_t address, uint32_t scalars, uint32_t data,
                     uint32_t offset) {
    Encoding e = encoding(op);
    const bool loads = effects(op).access == MemoryAccess::Load;
    e.set(Field::addr, address).set(loads ? Field::vdst : Field::data0, data);
    raw(e.set(Field::saddr, scalars).set(Field::offset, offset));
}

void Builder::at_address(const GlobalAccess& access, uint32_t pair, uint32_t offset_register,
                         uint32_t data, uint32_t offset) {
    const ScalarRegisters& registers = generator.target().traits.scalar_registers;
    if (generator.has(access.global))
        global(access.global, pair, registers.has_null ? registers.null : 0x7f, data, offset);
    else if (generator.has(access.flat))
        global(access.flat, pair, 0, data, 0);
    else
        at_offset(access, offset_register, data, offset);
}

void Builder::at_offset(const GlobalAccess& access, uint32_t offset_register, uint32_t data,
                        uint32_t offset) {
    if (generator.has(access.global))
        return global(access.global, offset_register, s_global, data, offset);
    Encoding e = encoding(access.buffer);
    e.set(Field::offen, 1).set(Field::addr, offset_register).set(Field::vdst, data);
    e.set(Field::srsrc, s_buffer / 4).set(Field::soffset, code::inline_constant(0));
    raw(e.set(Field::offset, offset));
}

void Builder::add(std::span<const uint32_t> words, int branch_to) {
    std::array<uint32_t, 4> padded{};
    std::copy(words.begin(), words.end(), padded.begin());
    Line line{.inst = {}, .label = -1, .branch_to = branch_to};
    if (!decode(generator.target(), padded, line.inst)) return;  // not on this target
    program.push_back(line);
}

namespace {

// In waves of 32 lanes. What saves EXEC is two operations: gfx9 has no form of it for them.
struct MaskOp {
    Opcode pair, single;
    bool saves = false;
};
constexpr MaskOp mask_ops[] = {
    {Opcode::s_mov_b64, Opcode::s_mov_b32},
    {Opcode::s_and_b64, Opcode::s_and_b32},
    {Opcode::s_or_b64, Opcode::s_or_b32},
    {Opcode::s_xor_b64, Opcode::s_xor_b32},
    {Opcode::s_andn2_b64, Opcode::s_andn2_b32},
    {Opcode::s_orn2_b64, Opcode::s_orn2_b32},
    {Opcode::s_cselect_b64, Opcode::s_cselect_b32},
    {Opcode::s_and_saveexec_b64, Opcode::s_and_b32, true},
    {Opcode::s_or_saveexec_b64, Opcode::s_or_b32, true},
};
const MaskOp& mask_op(Opcode pair) {
    return *std::ranges::find(mask_ops, pair, &MaskOp::pair);
}

}  // namespace

void Builder::mask1(Opcode op, uint32_t dst, uint32_t src) {
    if (has_pairs()) return sop1(op, dst, src);
    const MaskOp& m = mask_op(op);
    if (!m.saves) return sop1(m.single, dst, src);
    const uint32_t old = dst == src ? s_temp + 1 : dst;
    sop1(Opcode::s_mov_b32, old, code::exec);
    sop2(m.single, code::exec, src, code::exec);
    if (old != dst) sop1(Opcode::s_mov_b32, dst, old);
}

void Builder::mask2(Opcode op, uint32_t dst, uint32_t a, uint32_t b) {
    sop2(has_pairs() ? op : mask_op(op).single, dst, a, b);
}

}  // namespace wj::fuzz
