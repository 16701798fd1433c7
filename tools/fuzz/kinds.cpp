// The kinds of code that random programs consist of.
#include "tools/fuzz/kinds.h"

#include <string>
#include <vector>

namespace wj::fuzz {
namespace {

struct Kind {
    std::string name;
    uint32_t weight;
    bool nests;  // contains other code
    void (*emit)(Builder&, uint64_t kinds);
};

template <Pool pool>
void random_rows(Builder& b, uint64_t) {
    for (uint32_t n = 1 + b.random(3); n; --n) b.random_instruction(pool);
}
void memory(Builder& b, uint64_t) {
    for (uint32_t n = 1 + b.random(5); n; --n)
        b.random_instruction(b.random(2) ? Pool::Load : Pool::Store);
}

void barrier(Builder& b, uint64_t) {
    if (b.random(4))
        b.sopp(Opcode::s_barrier, 0);
    else
        b.sopp(Opcode::s_sleep, 1);
}

// The end of a program that leaves its results in memory, as kernels do.
void store_registers(Builder& b) {
    b.mask1(Opcode::s_mov_b64, code::exec, code::minus_one);
    b.vop2(Opcode::v_lshlrev_b32, v_offset, code::inline_constant(2), v_lane);
    for (uint32_t i = 0; i < 8; ++i) {
        uint32_t v = first_free_vgpr + b.random(end_free_vgpr - first_free_vgpr);
        if (i == 0) b.vop1(Opcode::v_mov_b32, v = v_index, first_free_sgpr + b.random(40));
        b.at_offset(store_dword, v_offset, v, i * 256);
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

void body(Builder& b, uint64_t kinds, uint32_t most) {
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

void alu(Builder& b, uint64_t) {
    for (uint32_t n = 1 + b.random(8); n; --n)
        b.random_instruction(b.simple && b.random(20) ? Pool::Simple : Pool::Alu);
}

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
