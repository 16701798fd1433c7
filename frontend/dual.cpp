#include "frontend/dual.h"

#include <algorithm>

namespace wj {
namespace {

struct Single {
    Opcode dual, single;
};

constexpr Single singles[] = {
    {Opcode::v_dual_fmac_f32, Opcode::v_fmac_f32},
    {Opcode::v_dual_fmaak_f32, Opcode::v_fmaak_f32},
    {Opcode::v_dual_fmamk_f32, Opcode::v_fmamk_f32},
    {Opcode::v_dual_mul_f32, Opcode::v_mul_f32},
    {Opcode::v_dual_add_f32, Opcode::v_add_f32},
    {Opcode::v_dual_sub_f32, Opcode::v_sub_f32},
    {Opcode::v_dual_subrev_f32, Opcode::v_subrev_f32},
    {Opcode::v_dual_mul_dx9_zero_f32, Opcode::v_mul_legacy_f32},
    {Opcode::v_dual_mov_b32, Opcode::v_mov_b32},
    {Opcode::v_dual_cndmask_b32, Opcode::v_cndmask_b32},
    {Opcode::v_dual_max_f32, Opcode::v_max_f32},
    {Opcode::v_dual_min_f32, Opcode::v_min_f32},
    {Opcode::v_dual_max_num_f32, Opcode::v_max_num_f32},
    {Opcode::v_dual_min_num_f32, Opcode::v_min_num_f32},
    {Opcode::v_dual_dot2acc_f32_f16, Opcode::v_dot2c_f32_f16},
    {Opcode::v_dual_dot2acc_f32_bf16, Opcode::v_dot2c_f32_bf16},
    {Opcode::v_dual_add_nc_u32, Opcode::v_add_u32},
    {Opcode::v_dual_lshlrev_b32, Opcode::v_lshlrev_b32},
    {Opcode::v_dual_and_b32, Opcode::v_and_b32},
    {Opcode::v_dual_sub_nc_u32, Opcode::v_sub_u32},
    {Opcode::v_dual_lshrrev_b32, Opcode::v_lshrrev_b32},
    {Opcode::v_dual_ashrrev_i32, Opcode::v_ashrrev_i32},
    {Opcode::v_dual_max_i32, Opcode::v_max_i32},
    {Opcode::v_dual_min_i32, Opcode::v_min_i32},
    {Opcode::v_dual_bitop2_b32, Opcode::v_bitop3_b32},
    {Opcode::v_dual_fma_f32, Opcode::v_fma_f32},
    {Opcode::v_dual_fma_f64, Opcode::v_fma_f64},
    {Opcode::v_dual_add_f64, Opcode::v_add_f64},
    {Opcode::v_dual_mul_f64, Opcode::v_mul_f64},
    {Opcode::v_dual_max_num_f64, Opcode::v_max_num_f64},
    {Opcode::v_dual_min_num_f64, Opcode::v_min_num_f64},
};

}  // namespace

Opcode single_operation(Opcode op) {
    const Format format = op_info(op).format;
    if (format != Format::VOPD && format != Format::VOPD3) return op;
    const auto* at = std::find_if(std::begin(singles), std::end(singles),
                                  [op](const Single& s) { return s.dual == op; });
    return at != std::end(singles) ? at->single : op;
}

Inst dual_half(const Inst& inst, bool second) {
    Inst out;
    out.op = single_operation(second ? inst.op_y : inst.op);
    out.format = op_info(out.op).format;
    out.size = inst.size;
    out.words = inst.words;
    out.dst[0] = inst.dst[second];
    const unsigned first = second ? 3 : 0;
    std::copy_n(inst.src.begin() + first, 3, out.src.begin());
    out.neg = inst.neg >> first & 7;
    if (out.op == Opcode::v_bitop3_b32) {  // of two sources: the third is 0
        out.bitop3 = inst.bitop3;
        out.src[2].kind = Operand::Kind::Const;
        out.src[2].type = Type::b32;
        out.src[2].dwords = 1;
        out.src[2].reg = 128;
    }
    return out;
}

bool reads_result(const Inst& inst, const Inst& other) {
    const Operand& result = other.dst[0];
    return std::any_of(inst.src.begin(), inst.src.end(), [&](const Operand& o) {
        return o.is(Operand::Kind::Vgpr) && o.reg < result.reg + result.dwords &&
               result.reg < o.reg + o.dwords;
    });
}

}  // namespace wj
