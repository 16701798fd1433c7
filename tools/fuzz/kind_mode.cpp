// What changes how instructions behind it work: MODE, VGPR indexing.
#include "tools/fuzz/kinds.h"

namespace wj::fuzz {

// MODE: rounding, denormals, DX10_CLAMP, IEEE, FP16_OVFL.
void mode(Builder& b, uint64_t) {
    struct Part {
        uint32_t offset, width;
    };
    static constexpr Part parts[] = {{0, 4}, {0, 2}, {2, 2}, {4, 4},  {4, 2},
                                     {6, 2}, {8, 1}, {9, 1}, {0, 10}, {23, 1}};
    const Part& p = parts[b.random(std::size(parts))];
    const uint32_t field = 1 | p.offset << 6 | (p.width - 1) << 11;
    switch (b.random(3)) {
        case 0:
            b.sopk(Opcode::s_setreg_b32, first_free_sgpr + b.random(40), field);
            break;
        case 1:
            b.sopk(Opcode::s_getreg_b32, first_free_sgpr + b.random(40), field);
            break;
        default:
            b.raw({0xb0000000 | b.generator.code(Opcode::s_setreg_imm32_b32) << 23 | field,
                   static_cast<uint32_t>(b.rng())});
    }
    alu(b, 0);
}

// VGPR indexing by M0. The index is small: registers of the control group are out of reach.
void index_mode(Builder& b, uint64_t) {
    b.sopk(Opcode::s_movk_i32, s_temp, b.random(6));
    b.raw({0xbf000000 | b.generator.code(Opcode::s_set_gpr_idx_on) << 16 | b.random(16) << 8 |
           s_temp});
    const bool moves = b.random(2);  // as compilers make them of arrays in registers
    for (uint32_t n = 1 + b.random(3); n; --n) {
        const uint32_t v = first_free_vgpr + b.random(20);
        switch (moves ? 0 : b.random(3)) {
            case 0:
                b.vop1(Opcode::v_mov_b32, v,
                       b.random(3)   ? code::vgpr + first_free_vgpr + b.random(20)
                       : b.random(2) ? b.random(48)
                                     : code::inline_constant(b.random(65)));
                break;
            case 1:
                b.vop2(Opcode::v_add_f32, v, b.random(48), first_free_vgpr + b.random(20));
                break;
            default:
                b.vop2(Opcode::v_xor_b32, v, code::vgpr + b.random(40), b.random(40));
        }
    }
    b.sopp(Opcode::s_set_gpr_idx_off, 0);
}

}  // namespace wj::fuzz
