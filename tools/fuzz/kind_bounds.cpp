#include "tools/fuzz/kinds.h"

namespace wj::fuzz {

// Loops over a neighbourhood, as of an image's edges: what lies within the bounds is loaded in an
// arm, beside a scalar. Lanes out of bounds have addresses where nothing may be mapped.
void bounds(Builder& b, uint64_t) {
    const uint32_t counter = s_counter + b.depth, save = s_save + 2 * b.depth;
    const uint32_t x = first_free_vgpr, offset = x + 1, index = x + 2, data = x + 3, sum = x + 4;
    const uint32_t trips = 1 + b.random(20), bits = code::inline_constant(2);
    const int top = b.new_label(), end = b.new_label(), skip = b.new_label();
    auto constant = [&](uint32_t n) { return code::inline_constant(n); };
    if (b.random(4))
        b.vop2(Opcode::v_add_u32, x, code::literal, v_lane, b.random(4) ? 0u - b.random(40) : 500);
    else  // all lanes at one place
        b.vop1(Opcode::v_mov_b32, x, b.random(2) ? constant(b.random(20)) : 193 + b.random(16));
    b.vop2(Opcode::v_lshlrev_b32, offset, bits, x);
    b.sopk(Opcode::s_movk_i32, counter, 0);
    const bool by_counter = b.random(2), in_arm = b.random(3) == 0, rows_too = b.random(3) == 0;
    const uint32_t way = b.random(4);
    static constexpr uint32_t bounds[] = {0, 1, 16, 20, 40, 64, 70, 100, 512};
    b.bind(top);
    b.vop2(Opcode::v_add_u32, index, by_counter ? counter : constant(0), x);
    b.vopc(Opcode::v_cmp_gt_u32, code::literal, index, bounds[b.random(std::size(bounds))]);
    if (rows_too) {  // whole rows are out
        b.sopc(Opcode::s_cmp_lt_u32, counter, constant(b.random(trips + 1)));
        b.mask2(Opcode::s_cselect_b64, s_temp, code::minus_one, constant(0));
        b.mask2(Opcode::s_and_b64, code::vcc, code::vcc, s_temp);
    }
    b.mask1(Opcode::s_and_saveexec_b64, save, code::vcc);
    if (b.random(4)) b.branch(Opcode::s_cbranch_execz, skip);
    if (in_arm || by_counter) b.vop2(Opcode::v_lshlrev_b32, offset, bits, index);
    for (uint32_t n = 1 + b.random(2); n; --n) {
        const uint32_t v = data + b.random(2) * 2;
        if (b.random(4)) {
            b.at_offset(b.random(4) ? load_dword : load_byte, offset, v);
        } else {
            b.sopk(Opcode::s_movk_i32, s_temp + 1, b.random(256));
            b.vop2(Opcode::v_add_u32, v, s_temp + 1, v);
        }
        if (b.random(2)) {
            b.sop2(Opcode::s_lshl_b32, s_offset, counter, bits);
            const bool two = b.random(3) == 0;
            b.load_scalars(two ? Opcode::s_load_dwordx2 : Opcode::s_load_dword, s_temp, s_global,
                           s_offset);
            b.vop2(b.random(2) ? Opcode::v_xor_b32 : Opcode::v_mul_u32_u24, v,
                   two && b.random(2) ? s_temp + 1 : s_temp, v);
            if (b.random(8) == 0) b.vop1(Opcode::v_mov_b32, data + 4, s_temp);
            if (b.random(8) == 0)
                b.sop2(Opcode::s_xor_b32, first_free_sgpr, first_free_sgpr, s_temp);
        }
        b.vop2(Opcode::v_add_u32, sum, code::vgpr + v, sum);
    }
    b.bind(skip);
    b.mask2(Opcode::s_or_b64, code::exec, code::exec, save);
    if (!by_counter) {
        const uint32_t step = b.random(5);
        b.vop2(Opcode::v_add_u32, x, constant(step), x);
        b.vop2(Opcode::v_add_u32, offset, constant(step * 4), offset);
    }
    if (way == 0) {
        b.sopk(Opcode::s_addk_i32, counter, 1);
        b.sopc(Opcode::s_cmp_lt_i32, counter, constant(trips));
        b.branch(Opcode::s_cbranch_scc1, top);
    } else {  // copies on the way back
        b.sop2(Opcode::s_add_i32, s_temp + 1, counter, constant(1));
        b.sopc(Opcode::s_cmp_ge_i32, s_temp + 1, constant(trips));
        if (way == 1) {
            b.sop1(Opcode::s_mov_b32, counter, s_temp + 1);
            b.branch(Opcode::s_cbranch_scc1, end);
        } else {
            b.branch(Opcode::s_cbranch_scc1, end);
            b.sop1(Opcode::s_mov_b32, counter, s_temp + 1);
            if (way == 3) b.sop2(Opcode::s_lshl_b32, s_temp, counter, bits);
        }
        b.branch(Opcode::s_branch, top);
    }
    b.bind(end);
}

}  // namespace wj::fuzz
