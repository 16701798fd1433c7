#include "lift/row_sums.h"

#include <algorithm>

#include "frontend/decode.h"

namespace wj::lift {
namespace {

constexpr uint32_t most_instructions = 4096;

bool is_constant(const Operand& o) {
    return o.is(Operand::Kind::Const) || o.is(Operand::Kind::Literal);
}

}  // namespace

RowSums::RowSums(const Target& target, uint64_t program, const Fetch& fetch) {
    std::span<const uint32_t> code;
    Inst inst;
    for (uint32_t n = 0; n < most_instructions; ++n) {
        if (code.size() < 4) code = fetch(program);  // the longest instruction has four words
        if (!decode(target, code, inst)) break;
        Write write{};
        write.pc = program;
        program += inst.size;
        code = code.subspan(inst.size / 4);
        if (!inst.dst[0].is(Operand::Kind::Vgpr)) continue;
        write.row = inst.dst[0].reg;
        write.count = std::max<uint32_t>(inst.dst[0].dwords, 1);
        const bool sum = inst.op == Opcode::v_add_u32 && inst.variant != Variant::Sdwa &&
                         inst.variant != Variant::Dpp;
        for (const int a : {0, 1}) {
            const Operand &constant = inst.src[a], &row = inst.src[!a];
            if (!sum || !row.is(Operand::Kind::Vgpr) || !is_constant(constant)) continue;
            write.is_sum = true;
            write.sum = {row.reg, static_cast<uint32_t>(constant.value)};
        }
        writes_.push_back(write);
    }
}

std::map<uint32_t, RowSums::Sum> RowSums::before(uint64_t pc) const {
    std::map<uint32_t, Sum> sums;
    for (const Write& w : writes_) {
        if (w.pc >= pc) break;
        auto written = [&w](uint32_t row) { return row - w.row < w.count; };
        std::erase_if(
            sums, [&](const auto& sum) { return written(sum.first) || written(sum.second.from); });
        if (w.is_sum && !written(w.sum.from)) sums[w.row] = w.sum;
    }
    return sums;
}

}  // namespace wj::lift
