#include "tools/fuzz/kinds.h"

namespace wj::fuzz {

void add_global(Builder& b, uint32_t pair, uint32_t base, uint32_t offset) {
    b.vop2(Opcode::v_add_co_u32, pair, base, offset);
    b.vop2(Opcode::v_addc_co_u32, pair + 1, code::inline_constant(0), pair + 1);
}

// Address registers: from the lane number, from a counter, from data, a step on.
void address(Builder& b, uint64_t) {
    const uint32_t shift = code::inline_constant(b.random(7));
    const uint32_t lds = b.random(2) ? v_lds_a : v_lds_b;
    const uint32_t global = b.random(2) ? v_global_a : v_global_b;
    const uint32_t step = code::inline_constant(b.random(3) ? 4u << b.random(5) : b.random(65));
    const uint32_t counter = s_counter + (b.depth ? b.random(b.depth) : 0);
    switch (b.random(9)) {
        case 0:  // base + lane * size
            b.vop2(Opcode::v_lshlrev_b32, lds, shift, v_lane);
            if (b.random(2)) b.vop2(Opcode::v_add_u32, lds, code::literal, lds, b.random(4096));
            break;
        case 1:
            b.vop2(Opcode::v_lshlrev_b32, v_offset, shift, v_lane);
            b.vop1(Opcode::v_mov_b32, global + 1, s_global + 1);
            add_global(b, global, s_global, v_offset);
            break;
        case 2:
            b.vop2(Opcode::v_add_u32, lds, step, lds);
            break;
        case 3:
            add_global(b, global, step, global);
            break;
        case 4:  // one address for all lanes, by the loop's counter
            b.sop2(Opcode::s_lshl_b32, s_temp, counter, code::inline_constant(2 + b.random(4)));
            b.vop1(Opcode::v_mov_b32, lds, s_temp);
            break;
        case 5:  // a row per iteration
            b.sop2(Opcode::s_lshl_b32, s_temp, counter, code::inline_constant(2 + b.random(4)));
            b.vop2(Opcode::v_add_u32, lds, s_temp, lds);
            break;
        case 6:  // data as index
            b.vop2(Opcode::v_and_b32, v_offset, code::literal, first_free_vgpr + b.random(20),
                   b.random(4) ? 0xffc : 0xff);
            break;
        case 7:
            b.vop2(Opcode::v_and_b32, lds, code::literal, first_free_vgpr + b.random(20),
                   b.random(4) ? 0x1ffc : 0x3f);
            break;
        default:  // scalar offsets
            b.sop2(Opcode::s_lshl_b32, s_offset, counter, code::inline_constant(2 + b.random(3)));
            break;
    }
}

}  // namespace wj::fuzz
