#include "tools/fuzz/kinds.h"

namespace wj::fuzz {

// Lanes that go along rows of their own, up or down, as where a work-item does a row of a matrix
// (backend_x64/row_loop.h): two pointers, whose rows are the same ones, others or too near.
void rows(Builder& b, uint64_t) {
    const uint32_t counter = s_counter + b.depth;
    const int top = b.new_label();
    const uint32_t pitch = 5 + b.random(4);  // 32 to 256 bytes
    const uint32_t step = b.random(4) ? 4 : 8;
    const bool up = b.random(4) != 0;
    for (const uint32_t pair : {v_global_a, v_global_b}) {
        b.vop2(Opcode::v_lshlrev_b32, v_offset, code::inline_constant(pitch), v_lane);
        if (b.random(2))
            b.vop2(Opcode::v_add_u32, v_offset, code::literal, v_offset, 4 * b.random(64));
        b.vop1(Opcode::v_mov_b32, pair + 1, s_global + 1);
        add_global(b, pair, s_global, v_offset);
    }
    b.sopk(Opcode::s_movk_i32, counter, 1 + b.random((1u << pitch) / step));
    b.bind(top);
    const uint32_t data = first_free_vgpr;  // even
    for (uint32_t n = 2 + b.random(3); n; --n) {
        const uint32_t pair = b.random(2) ? v_global_a : v_global_b, v = data + 2 * b.random(4);
        const bool two = step == 8 && b.random(2);
        if (b.random(2))
            b.at_address(two ? load_dwordx2 : load_dword, pair, v_offset, v);
        else
            b.at_address(two ? store_dwordx2 : store_dword, pair, v_offset, v);
        if (b.random(2))
            b.vop2(b.random(2) ? Opcode::v_xor_b32 : Opcode::v_add_u32, data + b.random(8),
                   code::vgpr + data + b.random(8), data + b.random(8));
    }
    for (const uint32_t pair : {v_global_a, v_global_b}) {
        const uint32_t by = up ? code::inline_constant(step) : 192 + step;  // 193: -1
        b.vop2(Opcode::v_add_co_u32, pair, by, pair);
        b.vop2(Opcode::v_addc_co_u32, pair + 1, up ? code::inline_constant(0) : code::minus_one,
               pair + 1);
    }
    b.sop2(Opcode::s_add_i32, counter, counter, code::minus_one);
    b.sopc(Opcode::s_cmp_lg_u32, counter, code::inline_constant(0));
    b.branch(Opcode::s_cbranch_scc1, top);
}

}  // namespace wj::fuzz
