#include <utility>

#include "tools/fuzz/kinds.h"

namespace wj::fuzz {

// What kernels begin with: an element's number from the work-item's, a test against the number of
// elements, addresses of elements. Most are lines (lift/affine.h), and some only nearly.
void lines(Builder& b, uint64_t) {
    constexpr uint32_t pairs = 6;
    uint32_t index = first_free_vgpr + 2 * b.random(pairs), high = index + 1;
    const uint32_t pair = first_free_vgpr + 2 * (pairs + b.random(pairs)),
                   data = first_free_vgpr + 4 * pairs, save = s_save + 2 * b.depth;
    const uint32_t sources[] = {code::literal, code::inline_constant(b.random(65)), s_offset,
                                s_step, s_counter};
    auto source = [&] { return sources[b.random(std::size(sources))]; };
    auto source_register = [&] { return sources[2 + b.random(std::size(sources) - 2)]; };
    static constexpr uint32_t masks[] = {0x3f, 0x3ff, 0x7ff, 0xfc, 15, 0xfff0};
    static constexpr uint32_t constants[] = {64, 1024, 0xffffffc0, 0xfffffff0, 0x7fffffc8, 3};
    const uint32_t constant = constants[b.random(std::size(constants))];
    b.vop1(Opcode::v_mov_b32, index,
           code::vgpr + (b.random(8) == 0 ? b.random(vgprs)
                         : b.random(3)    ? v_index
                                          : v_lane));
    if (b.random(3) == 0) {  // two dimensions: x + y * size
        b.vop3(Opcode::v_bfe_u32, high, code::vgpr + v_index, code::inline_constant(10),
               code::inline_constant(10));
        b.vop2(Opcode::v_and_b32, index, code::literal, index, 0x3ff);
        if (b.random(3) == 0) std::swap(index, high);
        switch (b.random(5)) {
            case 4:
                b.vop1(Opcode::v_mov_b32, index, code::vgpr + high);
                break;
            case 0:  // the upper half is set below
                b.vop3_carry(Opcode::v_mad_u64_u32, pair, code::vgpr + high, source_register(),
                             code::vgpr + (index & ~1u));
                b.vop1(Opcode::v_mov_b32, index, code::vgpr + pair);
                break;
            case 1:
                b.vop3(Opcode::v_mul_lo_u32, high, code::vgpr + high, source_register());
                b.vop2(Opcode::v_add_u32, index, code::vgpr + high, index);
                break;
            case 2:
                b.vop3(Opcode::v_lshl_or_b32, index, code::vgpr + high,
                       code::inline_constant(3 + b.random(4)), code::vgpr + index);
                break;
            default:
                b.vop3(Opcode::v_mad_u32_u24, index, code::vgpr + high,
                       code::inline_constant(b.random(65)), code::vgpr + index);
        }
        if (index > high) {
            b.vop1(Opcode::v_mov_b32, high, code::vgpr + index);
            std::swap(index, high);
        }
    }
    for (uint32_t n = b.random(4); n; --n) switch (b.random(8)) {
            case 0:
                b.vop2(Opcode::v_lshlrev_b32, index, code::inline_constant(b.random(5)), index);
                break;
            case 1:
                b.vop2(Opcode::v_lshrrev_b32, index, code::inline_constant(b.random(8)), index);
                break;
            case 2:
                b.vop2(Opcode::v_and_b32, index, code::literal, index,
                       masks[b.random(std::size(masks))]);
                break;
            case 3:
                b.vop2(Opcode::v_mul_u32_u24, index, code::inline_constant(b.random(20)), index);
                break;
            case 4:
                b.vop2(b.random(2) ? Opcode::v_or_b32 : Opcode::v_sub_u32, index, source(), index,
                       constant);
                break;
            default:
                b.vop2(Opcode::v_add_u32, index, source(), index, constant);
        }
    switch (b.random(3)) {
        case 0:
            b.vop1(Opcode::v_mov_b32, high, code::inline_constant(0));
            break;
        case 1:
            b.vop2(Opcode::v_ashrrev_i32, high, code::inline_constant(31), index);
            break;
        default:
            b.vop2(Opcode::v_add_co_u32, index, source(), index, constant);
            b.vop3_carry(Opcode::v_addc_co_u32, high, code::inline_constant(0),
                         code::inline_constant(0), code::vcc);
    }
    static constexpr Opcode compares[] = {
        Opcode::v_cmp_gt_u32, Opcode::v_cmp_ge_u32, Opcode::v_cmp_lt_u32, Opcode::v_cmp_le_u32,
        Opcode::v_cmp_gt_i32, Opcode::v_cmp_ge_i32, Opcode::v_cmp_lt_i32, Opcode::v_cmp_le_i32,
        Opcode::v_cmp_eq_u32, Opcode::v_cmp_ne_u32, Opcode::v_cmp_gt_u32, Opcode::v_cmp_gt_u32};
    const bool tested = b.random(3);
    int after = -1;
    if (tested) {
        b.vopc(compares[b.random(std::size(compares))],
               b.random(2) ? code::literal : code::inline_constant(b.random(65)), index,
               b.random(2) ? 0x40000000 : b.random(512));
        b.mask1(Opcode::s_and_saveexec_b64, save, code::vcc);
        if (b.random(3)) {
            after = b.random(2) ? b.new_label() : b.end_label();
            b.branch(Opcode::s_cbranch_execz, after);
        }
    }
    if (b.random(2)) {  // an address that is not used, whatever it is
        const uint32_t other = first_free_vgpr + 2 * (pairs + b.random(pairs)), number = data + 2;
        b.vop2(b.random(3) ? Opcode::v_add_u32 : Opcode::v_sub_u32, number, source(), index,
               constant);
        b.vop1(Opcode::v_mov_b32, number + 1, code::inline_constant(0));
        if (b.random(4) == 0)
            b.vop2(Opcode::v_ashrrev_i32, number + 1, code::inline_constant(31), number);
        b.shift_pair(other, code::inline_constant(b.random(4)), number);
        b.vop1(Opcode::v_mov_b32, number, s_global + 1);
        b.vop2(Opcode::v_add_co_u32, other, b.random(2) ? s_global : source(), other, constant);
        b.vop2(Opcode::v_addc_co_u32, other + 1, code::vgpr + number, other + 1);
    }
    // Inside the buffers, always: elsewhere lies what the process itself works with. What fits
    // stays as it is, and so a line.
    b.vop2(Opcode::v_and_b32, index, code::literal, index, b.random(4) ? 0x7ff : 0x3ff);
    b.vop1(Opcode::v_mov_b32, high, code::inline_constant(0));
    const uint32_t size = 2 + b.random(3) % 2;
    b.shift_pair(pair, code::inline_constant(size), index);
    b.vop1(Opcode::v_mov_b32, high, s_global + 1);
    b.vop2(Opcode::v_add_co_u32, pair, s_global, pair);
    b.vop2(Opcode::v_addc_co_u32, pair + 1, code::vgpr + high, pair + 1);
    b.vop2(Opcode::v_lshlrev_b32, index, code::inline_constant(2), index);
    for (uint32_t n = 1 + b.random(4); n; --n) switch (b.random(6)) {
            case 0:
            case 1:
                b.at_address(size == 3 ? load_dwordx2 : load_dword, pair, index, data,
                             b.random(4) * 4);
                break;
            case 2:
            case 3:
                b.at_address(size == 3 ? store_dwordx2 : store_dword, pair, index, data,
                             b.random(4) * 4);
                break;
            case 4:
                b.ds(Opcode::ds_read_b32, index, data, b.random(3) * 64);
                break;
            default:
                b.ds(Opcode::ds_write_b32, index, data, b.random(3) * 64);
        }
    if (!tested) return;
    if (after >= 0 && after != b.end_label_) b.bind(after);
    b.mask2(Opcode::s_or_b64, code::exec, code::exec, save);
}

}  // namespace wj::fuzz
