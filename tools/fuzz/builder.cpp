#include "tools/fuzz/builder.h"

#include <algorithm>

#include "frontend/decode.h"

namespace wj::fuzz {

void Builder::raw(std::initializer_list<uint32_t> words, int branch_to) {
    // Encodings of two dwords are gfx9's. Under the same words gfx6 and gfx7 have other
    // instructions, whose addresses would be anywhere.
    constexpr uint32_t first_long = 0xc0000000;
    if (*words.begin() >= first_long &&
        generator.target().traits.buffer_records == BufferRecords::Gfx6)
        return;
    add({words.begin(), words.size()}, branch_to);
}

void Builder::raw(const Encoding& encoding) {
    add(encoding.words(), -1);
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
