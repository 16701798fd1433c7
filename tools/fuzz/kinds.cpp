// The kinds of code that random programs consist of.
#include <algorithm>

#include "frontend/decode.h"
#include "tools/fuzz/builder.h"

namespace wj::fuzz {

void Builder::raw(std::initializer_list<uint32_t> words, int branch_to) {
    std::array<uint32_t, 4> padded{};
    std::copy(words.begin(), words.end(), padded.begin());
    Line line{.inst = {}, .label = -1, .branch_to = branch_to};
    if (!decode(generator.target(), padded, line.inst)) return;  // not on this target
    program.push_back(line);
}

namespace {

struct Kind {
    std::string name;
    uint32_t weight;
    bool nests;  // contains other code
    void (*emit)(Builder&, uint64_t kinds);
};
const std::vector<Kind>& all_kinds();

// One to `most` pieces of code of the given kinds.
void body(Builder& b, uint64_t kinds, uint32_t most = 3) {
    uint32_t total = 0;
    const auto& all = all_kinds();
    auto usable = [&](size_t i) {
        return (kinds >> i & 1) && !(all[i].nests && b.depth >= max_depth);
    };
    for (size_t i = 0; i < all.size(); ++i) total += usable(i) ? all[i].weight : 0;
    if (!total) return b.random_instruction(Pool::Alu);
    for (uint32_t n = 1 + b.random(most); n; --n) {
        uint32_t at = b.random(total);
        for (size_t i = 0; i < all.size(); ++i) {
            if (!usable(i)) continue;
            if (at < all[i].weight) {
                all[i].emit(b, kinds);
                break;
            }
            at -= all[i].weight;
        }
    }
}

// Code between the instruction that decides and the branch: leaves SCC, VCC and EXEC alone.
void vector_only(Builder& b) {
    for (uint32_t n = b.random(4) == 0 ? 1 + b.random(4) : 0; n; --n)
        b.random_instruction(b.random(4) ? Pool::Simple : b.random(2) ? Pool::Load : Pool::Store);
}

void alu(Builder& b, uint64_t) {
    for (uint32_t n = 1 + b.random(8); n; --n)
        b.random_instruction(b.simple && b.random(20) ? Pool::Simple : Pool::Alu);
}
template <Pool pool>
void random_rows(Builder& b, uint64_t) {
    for (uint32_t n = 1 + b.random(3); n; --n) b.random_instruction(pool);
}
void memory(Builder& b, uint64_t) {
    for (uint32_t n = 1 + b.random(5); n; --n)
        b.random_instruction(b.random(2) ? Pool::Load : Pool::Store);
}

// Address registers: from the lane number, from a counter, from data, a step on.
void add_global(Builder& b, uint32_t pair, uint32_t base, uint32_t offset) {
    b.vop2(Opcode::v_add_co_u32, pair, base, offset);
    b.vop2(Opcode::v_addc_co_u32, pair + 1, code::inline_constant(0), pair + 1);
}
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
    b.sop1(Opcode::s_and_saveexec_b64, save, to);
    const bool has_else = b.random(2);
    if (has_else) b.sop2(Opcode::s_xor_b64, save, code::exec, save);
    if (b.random(3)) b.branch(Opcode::s_cbranch_execz, other);
    ++b.depth;
    body(b, kinds, 2);
    b.bind(other);
    if (has_else) {
        b.sop1(Opcode::s_or_saveexec_b64, save, save);
        b.sop2(Opcode::s_xor_b64, code::exec, code::exec, save);
        if (b.random(3)) b.branch(Opcode::s_cbranch_execz, end);
        body(b, kinds, 2);
        b.bind(end);
    }
    --b.depth;
    b.sop2(Opcode::s_or_b64, code::exec, code::exec, save);
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
    const uint32_t form = b.random(6);
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
        case 4:  // through VCC
            loop_body(b, kinds, 3);
            decide(down);
            b.sop2(Opcode::s_cselect_b64, code::vcc, code::minus_one, zero);
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
            b.sop1(Opcode::s_mov_b64, save, zero);
            b.sopk(Opcode::s_movk_i32, counter, 0);
            b.bind(top);
            loop_body(b, kinds, 2);
            b.sop2(Opcode::s_add_u32, counter, counter, one);
            b.vopc(Opcode::v_cmp_ge_u32, counter, v_trips);
            b.sop2(Opcode::s_or_b64, save, code::vcc, save);
            vector_only(b);
            b.sop2(Opcode::s_andn2_b64, code::exec, code::exec, save);
            b.branch(Opcode::s_cbranch_execnz, top);
            b.sop2(Opcode::s_or_b64, code::exec, code::exec, save);
            break;
        case 1:  // EXEC shrinks, a copy brings it back
            b.sop1(Opcode::s_mov_b64, save, code::exec);
            b.vop1(Opcode::v_mov_b32, lane_counter, zero);
            b.bind(top);
            loop_body(b, kinds, 2);
            b.vop2(Opcode::v_add_u32, lane_counter, one, lane_counter);
            b.vopc(Opcode::v_cmp_lt_u32, code::vgpr + lane_counter, v_trips);
            vector_only(b);
            b.sop2(Opcode::s_and_b64, code::exec, code::exec, code::vcc);
            b.branch(Opcode::s_cbranch_execnz, top);
            b.sop1(Opcode::s_mov_b64, code::exec, save);
            break;
        default:  // two ways out: all lanes done, or the count used up
            b.sop1(Opcode::s_mov_b64, save, zero);
            b.sopk(Opcode::s_movk_i32, counter, 1 + b.random(8));
            b.bind(top);
            loop_body(b, kinds, 2);
            b.vopc(vector_compares[b.random(std::size(vector_compares))],
                   code::vgpr + b.random(vgprs), first_free_vgpr + b.random(20));
            b.sop2(Opcode::s_or_b64, save, code::vcc, save);
            b.sop2(Opcode::s_andn2_b64, code::exec, code::exec, save);
            b.branch(Opcode::s_cbranch_execz, end);
            loop_body(b, kinds, 2);
            b.sop2(Opcode::s_add_u32, counter, counter, code::minus_one);
            b.sopc(Opcode::s_cmp_lg_u32, counter, zero);
            b.branch(Opcode::s_cbranch_scc1, top);
            b.bind(end);
            b.sop2(Opcode::s_or_b64, code::exec, code::exec, save);
            break;
    }
}

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
        if (b.random(2))  // global_load_dword, dwordx2
            b.raw({0xdc508000 + (two ? 1u << 18 : 0), pair | 0x7f << 16 | v << 24});
        else  // global_store_dword, dwordx2
            b.raw({0xdc708000 + (two ? 1u << 18 : 0), pair | v << 8 | 0x7f << 16});
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
        b.sop2(Opcode::s_cselect_b64, s_temp, code::minus_one, constant(0));
        b.sop2(Opcode::s_and_b64, code::vcc, code::vcc, s_temp);
    }
    b.sop1(Opcode::s_and_saveexec_b64, save, code::vcc);
    if (b.random(4)) b.branch(Opcode::s_cbranch_execz, skip);
    if (in_arm || by_counter) b.vop2(Opcode::v_lshlrev_b32, offset, bits, index);
    for (uint32_t n = 1 + b.random(2); n; --n) {
        const uint32_t v = data + b.random(2) * 2;
        if (b.random(4)) {  // global_load_dword, ubyte
            b.raw({b.random(4) ? 0xdc508000 : 0xdc408000, offset | s_global << 16 | v << 24});
        } else {
            b.sopk(Opcode::s_movk_i32, s_temp + 1, b.random(256));
            b.vop2(Opcode::v_add_u32, v, s_temp + 1, v);
        }
        if (b.random(2)) {  // s_load_dword, dwordx2
            b.sop2(Opcode::s_lshl_b32, s_offset, counter, bits);
            const bool two = b.random(3) == 0;
            b.raw({(two ? 0xc0040000u : 0xc0000000u) | s_temp << 6 | s_global >> 1, s_offset});
            b.vop2(b.random(2) ? Opcode::v_xor_b32 : Opcode::v_mul_u32_u24, v,
                   two && b.random(2) ? s_temp + 1 : s_temp, v);
            if (b.random(8) == 0) b.vop1(Opcode::v_mov_b32, data + 4, s_temp);
            if (b.random(8) == 0)
                b.sop2(Opcode::s_xor_b32, first_free_sgpr, first_free_sgpr, s_temp);
        }
        b.vop2(Opcode::v_add_u32, sum, code::vgpr + v, sum);
    }
    b.bind(skip);
    b.sop2(Opcode::s_or_b64, code::exec, code::exec, save);
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

void barrier(Builder& b, uint64_t) {
    if (b.random(4))
        b.sopp(Opcode::s_barrier, 0);
    else
        b.sopp(Opcode::s_sleep, 1);
}

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
    for (uint32_t n = 1 + b.random(3); n; --n) {
        const uint32_t v = first_free_vgpr + b.random(20);
        switch (b.random(3)) {
            case 0:
                b.vop1(Opcode::v_mov_b32, v, code::vgpr + first_free_vgpr + b.random(20));
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
        b.raw({0xd1c80000 | high, (code::vgpr + v_index) | code::inline_constant(10) << 9 |
                                      code::inline_constant(10) << 18});  // v_bfe_u32
        b.vop2(Opcode::v_and_b32, index, code::literal, index, 0x3ff);
        if (b.random(3) == 0) std::swap(index, high);
        switch (b.random(5)) {
            case 4:
                b.vop1(Opcode::v_mov_b32, index, code::vgpr + high);
                break;
            case 0:  // v_mad_u64_u32: the upper half is set below
                b.raw({0xd1e80000 | pair | code::vcc << 8, (code::vgpr + high) |
                                                               source_register() << 9 |
                                                               (code::vgpr + (index & ~1u)) << 18});
                b.vop1(Opcode::v_mov_b32, index, code::vgpr + pair);
                break;
            case 1:  // v_mul_lo_u32
                b.raw({0xd2850000 | high, (code::vgpr + high) | source_register() << 9});
                b.vop2(Opcode::v_add_u32, index, code::vgpr + high, index);
                break;
            case 2:  // v_lshl_or_b32
                b.raw({0xd2000000 | index, (code::vgpr + high) |
                                               code::inline_constant(3 + b.random(4)) << 9 |
                                               (code::vgpr + index) << 18});
                break;
            default:  // v_mad_u32_u24
                b.raw({0xd1c30000 | index, (code::vgpr + high) |
                                               code::inline_constant(b.random(65)) << 9 |
                                               (code::vgpr + index) << 18});
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
            b.raw({0xd11c0000 | high | code::vcc << 8, 0x01a90080});  // v_addc_co_u32 0, 0, vcc
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
        b.sop1(Opcode::s_and_saveexec_b64, save, code::vcc);
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
        b.raw({0xd28f0000 | other,  // v_lshlrev_b64
               code::inline_constant(b.random(4)) | (code::vgpr + number) << 9});
        b.vop1(Opcode::v_mov_b32, number, s_global + 1);
        b.vop2(Opcode::v_add_co_u32, other, b.random(2) ? s_global : source(), other, constant);
        b.vop2(Opcode::v_addc_co_u32, other + 1, code::vgpr + number, other + 1);
    }
    // Inside the buffers, always: elsewhere lies what the process itself works with. What fits
    // stays as it is, and so a line.
    b.vop2(Opcode::v_and_b32, index, code::literal, index, b.random(4) ? 0x7ff : 0x3ff);
    b.vop1(Opcode::v_mov_b32, high, code::inline_constant(0));
    const uint32_t size = 2 + b.random(3) % 2;
    // v_lshlrev_b64 pair, size, index
    b.raw({0xd28f0000 | pair, code::inline_constant(size) | (code::vgpr + index) << 9});
    b.vop1(Opcode::v_mov_b32, high, s_global + 1);
    b.vop2(Opcode::v_add_co_u32, pair, s_global, pair);
    b.vop2(Opcode::v_addc_co_u32, pair + 1, code::vgpr + high, pair + 1);
    b.vop2(Opcode::v_lshlrev_b32, index, code::inline_constant(2), index);
    for (uint32_t n = 1 + b.random(4); n; --n) switch (b.random(6)) {
            case 0:
            case 1:  // global_load_dword, dwordx2
                b.raw({0xdc508000 + (size == 3 ? 0x40000u : 0) + b.random(4) * 4,
                       pair | 0x7fu << 16 | data << 24});
                break;
            case 2:
            case 3:  // global_store_dword, dwordx2
                b.raw({0xdc708000 + (size == 3 ? 0x40000u : 0) + b.random(4) * 4,
                       pair | data << 8 | 0x7fu << 16});
                break;
            case 4:  // ds_read_b32
                b.raw({0xd86c0000 | b.random(3) * 64, index | data << 24});
                break;
            default:  // ds_write_b32
                b.raw({0xd81a0000 | b.random(3) * 64, index | data << 8});
        }
    if (!tested) return;
    if (after >= 0 && after != b.end_label_) b.bind(after);
    b.sop2(Opcode::s_or_b64, code::exec, code::exec, save);
}

// The end of a program that leaves its results in memory, as kernels do.
void store_registers(Builder& b) {
    b.sop1(Opcode::s_mov_b64, code::exec, code::minus_one);
    b.vop2(Opcode::v_lshlrev_b32, v_offset, code::inline_constant(2), v_lane);
    for (uint32_t i = 0; i < 8; ++i) {
        uint32_t v = first_free_vgpr + b.random(end_free_vgpr - first_free_vgpr);
        if (i == 0) b.vop1(Opcode::v_mov_b32, v = v_index, first_free_sgpr + b.random(40));
        b.raw({0xdc708000 + i * 256, v_offset | v << 8 | s_global << 16});  // global_store_dword
    }
}

const std::vector<Kind>& all_kinds() {
    static const std::vector<Kind> kinds{
        {"alu", 24, false, alu},
        {"memory", 16, false, memory},
        {"atomic", 5, false, random_rows<Pool::Atomic>},
        {"buffer", 4, false, random_rows<Pool::Buffer>},
        {"address", 8, false, address},
        {"branch", 5, true, branches},
        {"exec", 7, true, exec_if},
        {"loop", 9, true, loop},
        {"divergent", 7, true, divergent},
        {"lines", 8, false, lines},
        {"rows", 5, false, rows},
        {"bounds", 5, true, bounds},
        {"barrier", 2, false, barrier},
        {"mode", 2, false, mode},
        {"index", 1, false, index_mode},
    };
    return kinds;
}

}  // namespace

const std::vector<std::string>& kind_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> out;
        for (const Kind& k : all_kinds()) out.push_back(k.name);
        return out;
    }();
    return names;
}

Program random_program(const Generator& generator, Rng& rng, uint64_t kinds) {
    Builder b{generator, rng, {}};
    b.keep_exec = b.random(3) != 0;
    b.simple = b.random(3) == 0;
    // Half of the programs are one short block: most instructions a second.
    if (b.random(2)) {
        uint64_t flat = 0;
        for (size_t i = 0; i < all_kinds().size(); ++i)
            if (!all_kinds()[i].nests) flat |= 1ull << i;
        if (kinds & flat) kinds &= flat;
        b.keep_exec = false;
    }
    body(b, kinds, 4);
    if (b.random(4) == 0) store_registers(b);
    if (b.end_label_ >= 0) b.bind(b.end_label_);
    return std::move(b.program);
}

}  // namespace wj::fuzz
