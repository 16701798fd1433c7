// Branches, regions of EXEC and loops, as compilers emit them.
#include "tools/fuzz/kinds.h"

namespace wj::fuzz {
namespace {

// Code between the instruction that decides and the branch: leaves SCC, VCC and EXEC alone.
void vector_only(Builder& b) {
    for (uint32_t n = b.random(4) == 0 ? 1 + b.random(4) : 0; n; --n)
        b.random_instruction(b.random(4) ? Pool::Simple : b.random(2) ? Pool::Load : Pool::Store);
}

constexpr Opcode scalar_compares[] = {Opcode::s_cmp_eq_i32, Opcode::s_cmp_lg_i32,
                                      Opcode::s_cmp_gt_i32, Opcode::s_cmp_ge_u32,
                                      Opcode::s_cmp_lt_u32, Opcode::s_cmp_eq_u64};
constexpr Opcode vector_compares[] = {
    Opcode::v_cmp_lt_f32, Opcode::v_cmp_gt_f32, Opcode::v_cmp_neq_f32, Opcode::v_cmp_ge_u32,
    Opcode::v_cmp_lt_i32, Opcode::v_cmp_eq_u32, Opcode::v_cmp_ne_u32,  Opcode::v_cmp_class_f32};
constexpr Opcode conditions[] = {Opcode::s_cbranch_scc0,  Opcode::s_cbranch_scc1,
                                 Opcode::s_cbranch_vccz,  Opcode::s_cbranch_vccnz,
                                 Opcode::s_cbranch_execz, Opcode::s_cbranch_execnz};

void random_compare(Builder& b) {
    const uint32_t v = first_free_vgpr + b.random(end_free_vgpr - first_free_vgpr);
    if (b.random(2))
        b.vopc(vector_compares[b.random(std::size(vector_compares))],
               b.random(3) ? code::vgpr + b.random(vgprs) : code::inline_constant(b.random(65)),
               b.random(3) ? v : v_lane);
    else
        b.sopc(scalar_compares[b.random(std::size(scalar_compares))], b.random(22) * 2 + 4,
               b.random(2) ? b.random(22) * 2 + 4 : code::inline_constant(b.random(65)));
}

// What loops hold: often nothing that a translator must leave its registers for.
void loop_body(Builder& b, uint64_t kinds, uint32_t most) {
    const bool simple = b.simple, keep_exec = b.keep_exec;
    if (b.random(4)) b.simple = true;
    if (b.random(8) == 0) b.keep_exec = false;
    ++b.depth;
    if (b.random(3) == 0 && b.simple)
        for (uint32_t n = 1 + b.random(12); n; --n)
            b.random_instruction(b.random(5) ? Pool::Simple : Pool::Load);
    else
        body(b, kinds, most);
    --b.depth;
    b.simple = simple;
    b.keep_exec = keep_exec;
}

// Masks in scalar registers that iterations hand on: found |= a < b, and what is chosen by them.
void collect_masks(Builder& b) {
    static constexpr Opcode ops[] = {Opcode::s_or_b64, Opcode::s_and_b64, Opcode::s_xor_b64,
                                     Opcode::s_andn2_b64, Opcode::s_orn2_b64};
    const uint32_t pairs = 1 + b.random(3);
    for (uint32_t n = 1 + b.random(4); n; --n) {
        const uint32_t pair = first_free_sgpr + 2 * b.random(pairs);
        const uint32_t lanes = b.random(2) ? code::vcc : s_temp;
        b.vopc_e64(vector_compares[b.random(std::size(vector_compares))], lanes,
                   code::vgpr + first_free_vgpr + b.random(20),
                   code::vgpr + (b.random(2) ? v_lane : first_free_vgpr + b.random(20)));
        const bool swap = b.random(2);
        b.sop2(ops[b.random(std::size(ops))], pair, swap ? lanes : pair, swap ? pair : lanes);
        if (b.random(2))
            b.vop2_e64(Opcode::v_cndmask_b32, first_free_vgpr + b.random(20),
                       code::vgpr + first_free_vgpr + b.random(20),
                       code::inline_constant(b.random(65)), pair);
    }
}

}  // namespace

// if / if-else on SCC, VCC or EXEC
void branches(Builder& b, uint64_t kinds) {
    const int other = b.new_label(), end = b.new_label();
    random_compare(b);
    vector_only(b);
    b.branch(conditions[b.random(std::size(conditions))], other);
    ++b.depth;
    body(b, kinds, 2);
    if (b.random(2)) {
        b.branch(Opcode::s_branch, end);
        b.bind(other);
        body(b, kinds, 2);
    } else {
        b.bind(other);
    }
    --b.depth;
    b.bind(end);
}

// if / if-else over lanes
void exec_if(Builder& b, uint64_t kinds) {
    const int other = b.new_label(), end = b.new_label();
    const uint32_t save = s_save + 2 * b.depth, v = b.random(3) ? b.random(vgprs) : v_lane;
    const Opcode op = vector_compares[b.random(std::size(vector_compares))];
    const uint32_t to = b.random(2) ? code::vcc : s_temp;
    const uint32_t src = b.random(2) ? code::inline_constant(b.random(65)) : code::vgpr + v_lane;
    if (to == code::vcc)
        b.vopc(op, src, v);
    else
        b.vopc_e64(op, to, src, code::vgpr + v);
    b.mask1(Opcode::s_and_saveexec_b64, save, to);
    const bool has_else = b.random(2);
    if (has_else) b.mask2(Opcode::s_xor_b64, save, code::exec, save);
    if (b.random(3)) b.branch(Opcode::s_cbranch_execz, other);
    ++b.depth;
    body(b, kinds, 2);
    b.bind(other);
    if (has_else) {
        b.mask1(Opcode::s_or_saveexec_b64, save, save);
        b.mask2(Opcode::s_xor_b64, code::exec, code::exec, save);
        if (b.random(3)) b.branch(Opcode::s_cbranch_execz, end);
        body(b, kinds, 2);
        b.bind(end);
    }
    --b.depth;
    b.mask2(Opcode::s_or_b64, code::exec, code::exec, save);
}

// Counted loops with uniform control.
void loop(Builder& b, uint64_t kinds) {
    const uint32_t counter = s_counter + b.depth, n = 1 + b.random(b.depth ? 4 : 12);
    const uint32_t step = 1 + b.random(3), zero = code::inline_constant(0);
    const int top = b.new_label(), end = b.new_label();
    auto decide = [&](bool down) {
        if (down) {
            b.sop2(b.random(2) ? Opcode::s_add_i32 : Opcode::s_add_u32, counter, counter,
                   code::minus_one);
            b.sopc(Opcode::s_cmp_lg_u32, counter, zero);
        } else {
            b.sopk(Opcode::s_addk_i32, counter, step);
            if (b.random(2))
                b.sopk(Opcode::s_cmpk_lt_u32, counter, n * step);
            else
                b.sopc(Opcode::s_cmp_lt_i32, counter, code::inline_constant(n * step));
        }
    };
    const uint32_t form = b.random(7);
    const bool down = form == 2 || b.random(2);
    b.sopk(Opcode::s_movk_i32, counter, down ? n : 0);
    b.bind(top);
    switch (form) {
        case 0:  // the decision last
        case 1:
            loop_body(b, kinds, 3);
            decide(down);
            vector_only(b);
            b.branch(Opcode::s_cbranch_scc1, top);
            break;
        case 2:  // while
            b.sopc(Opcode::s_cmp_eq_u32, counter, zero);
            b.branch(Opcode::s_cbranch_scc1, end);
            loop_body(b, kinds, 3);
            b.sop2(Opcode::s_sub_u32, counter, counter, code::inline_constant(1));
            b.branch(Opcode::s_branch, top);
            break;
        case 3:  // the decision first, vector code behind it
            decide(down);
            for (uint32_t i = 1 + b.random(10); i; --i)
                b.random_instruction(b.random(4) ? Pool::Simple : Pool::Load);
            b.branch(Opcode::s_cbranch_scc1, top);
            break;
        case 4:  // masks
            collect_masks(b);
            decide(down);
            for (uint32_t i = b.random(6); i; --i)
                b.random_instruction(b.random(4) ? Pool::Simple : Pool::Load);
            b.branch(Opcode::s_cbranch_scc1, top);
            break;
        case 5:  // through VCC
            loop_body(b, kinds, 3);
            decide(down);
            b.mask2(Opcode::s_cselect_b64, code::vcc, code::minus_one, zero);
            b.branch(Opcode::s_cbranch_vccnz, top);
            break;
        default:  // leaves in the middle, and falls out of the bottom
            loop_body(b, kinds, 2);
            random_compare(b);
            b.branch(conditions[b.random(std::size(conditions))], end);
            loop_body(b, kinds, 2);
            decide(down);
            b.branch(Opcode::s_cbranch_scc0, end);
            b.branch(Opcode::s_branch, top);
            break;
    }
    b.bind(end);
}

// Loops that lanes leave one by one.
void divergent(Builder& b, uint64_t kinds) {
    const uint32_t save = s_save + 2 * b.depth, counter = s_counter + b.depth,
                   lane_counter = v_counter + b.depth;
    const uint32_t zero = code::inline_constant(0), one = code::inline_constant(1);
    const int top = b.new_label(), end = b.new_label();
    switch (b.random(3)) {
        case 0:  // lanes that are done gather in `save`
            b.mask1(Opcode::s_mov_b64, save, zero);
            b.sopk(Opcode::s_movk_i32, counter, 0);
            b.bind(top);
            loop_body(b, kinds, 2);
            b.sop2(Opcode::s_add_u32, counter, counter, one);
            b.vopc(Opcode::v_cmp_ge_u32, counter, v_trips);
            b.mask2(Opcode::s_or_b64, save, code::vcc, save);
            vector_only(b);
            b.mask2(Opcode::s_andn2_b64, code::exec, code::exec, save);
            b.branch(Opcode::s_cbranch_execnz, top);
            b.mask2(Opcode::s_or_b64, code::exec, code::exec, save);
            break;
        case 1:  // EXEC shrinks, a copy brings it back
            b.mask1(Opcode::s_mov_b64, save, code::exec);
            b.vop1(Opcode::v_mov_b32, lane_counter, zero);
            b.bind(top);
            loop_body(b, kinds, 2);
            b.vop2(Opcode::v_add_u32, lane_counter, one, lane_counter);
            b.vopc(Opcode::v_cmp_lt_u32, code::vgpr + lane_counter, v_trips);
            vector_only(b);
            b.mask2(Opcode::s_and_b64, code::exec, code::exec, code::vcc);
            b.branch(Opcode::s_cbranch_execnz, top);
            b.mask1(Opcode::s_mov_b64, code::exec, save);
            break;
        default:  // two ways out: all lanes done, or the count used up
            b.mask1(Opcode::s_mov_b64, save, zero);
            b.sopk(Opcode::s_movk_i32, counter, 1 + b.random(8));
            b.bind(top);
            loop_body(b, kinds, 2);
            b.vopc(vector_compares[b.random(std::size(vector_compares))],
                   code::vgpr + b.random(vgprs), first_free_vgpr + b.random(20));
            b.mask2(Opcode::s_or_b64, save, code::vcc, save);
            b.mask2(Opcode::s_andn2_b64, code::exec, code::exec, save);
            b.branch(Opcode::s_cbranch_execz, end);
            loop_body(b, kinds, 2);
            b.sop2(Opcode::s_add_u32, counter, counter, code::minus_one);
            b.sopc(Opcode::s_cmp_lg_u32, counter, zero);
            b.branch(Opcode::s_cbranch_scc1, top);
            b.bind(end);
            b.mask2(Opcode::s_or_b64, code::exec, code::exec, save);
            break;
    }
}

}  // namespace wj::fuzz
