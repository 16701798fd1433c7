// VOPD: two operations of VOP1, VOP2 or VOP3, each run by its own handler.
#include "frontend/dual.h"
#include "interpreter/internal.h"

namespace wj::interp {

namespace {

void run_half(Wave& w, const Inst& half) {
    handler(half.op)(w, half);
}

// Where the second operation reads the first one's result it gets what was there before.
void dual(Wave& w, const Inst& in) {
    const Inst x = dual_half(in, false), y = dual_half(in, true);
    constexpr size_t most_dwords = 2;
    const size_t bytes = x.dst[0].dwords * lanes * sizeof(uint32_t);  // rows follow one another
    alignas(64) uint32_t before[most_dwords * lanes], result[most_dwords * lanes];
    uint32_t* const rows = vrow(w, x.dst[0]);
    std::memcpy(before, rows, bytes);
    run_half(w, x);
    if (!reads_result(y, x)) return run_half(w, y);
    std::memcpy(result, rows, bytes);
    std::memcpy(rows, before, bytes);
    run_half(w, y);
    std::memcpy(rows, result, bytes);
}

constexpr HandlerEntry table[] = {
    {Opcode::v_dual_fmac_f32, dual},        {Opcode::v_dual_fmaak_f32, dual},
    {Opcode::v_dual_fmamk_f32, dual},       {Opcode::v_dual_mul_f32, dual},
    {Opcode::v_dual_add_f32, dual},         {Opcode::v_dual_sub_f32, dual},
    {Opcode::v_dual_subrev_f32, dual},      {Opcode::v_dual_mul_dx9_zero_f32, dual},
    {Opcode::v_dual_mov_b32, dual},         {Opcode::v_dual_cndmask_b32, dual},
    {Opcode::v_dual_max_f32, dual},         {Opcode::v_dual_min_f32, dual},
    {Opcode::v_dual_max_num_f32, dual},     {Opcode::v_dual_min_num_f32, dual},
    {Opcode::v_dual_dot2acc_f32_f16, dual}, {Opcode::v_dual_dot2acc_f32_bf16, dual},
    {Opcode::v_dual_add_nc_u32, dual},      {Opcode::v_dual_lshlrev_b32, dual},
    {Opcode::v_dual_and_b32, dual},         {Opcode::v_dual_sub_nc_u32, dual},
    {Opcode::v_dual_lshrrev_b32, dual},     {Opcode::v_dual_ashrrev_i32, dual},
    {Opcode::v_dual_max_i32, dual},         {Opcode::v_dual_min_i32, dual},
    {Opcode::v_dual_bitop2_b32, dual},      {Opcode::v_dual_fma_f32, dual},
    {Opcode::v_dual_fma_f64, dual},         {Opcode::v_dual_add_f64, dual},
    {Opcode::v_dual_mul_f64, dual},         {Opcode::v_dual_max_num_f64, dual},
    {Opcode::v_dual_min_num_f64, dual},
};

}  // namespace

std::span<const HandlerEntry> vopd_handlers() {
    return table;
}

}  // namespace wj::interp
