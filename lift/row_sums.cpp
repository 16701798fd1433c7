#include "lift/row_sums.h"

#include <algorithm>

#include "frontend/decode.h"
#include "frontend/dual.h"

namespace wj::lift {
namespace {

constexpr uint64_t most_bytes = 32 << 10;

bool is_constant(const Operand& o) {
    return o.is(Operand::Kind::Const) || o.is(Operand::Kind::Literal);
}

}  // namespace

// Reads on to the PC, or until something else stands there than code.
void RowSums::read_to(uint64_t pc) {
    std::span<const uint32_t> code;
    Inst inst;
    for (pc = std::min(pc, program_ + most_bytes); next_ < pc; next_ += inst.size) {
        if (code.size() < most_instruction_words) code = fetch_(next_);
        if (!decode(target_, code, inst)) return;
        code = code.subspan(inst.size / 4);
        if (!inst.dst[0].is(Operand::Kind::Vgpr)) continue;
        Write write{};
        write.pc = next_;
        write.row = inst.dst[0].reg;
        write.count = std::max<uint32_t>(inst.dst[0].dwords, 1);
        const bool sum = inst.op == Opcode::v_add_u32 && inst.variant != Variant::Sdwa &&
                         !is_dpp16(inst.variant);
        for (const int a : {0, 1}) {
            const Operand &constant = inst.src[a], &row = inst.src[!a];
            if (!sum || !row.is(Operand::Kind::Vgpr) || !is_constant(constant)) continue;
            write.is_sum = true;
            write.sum = {write.row, row.reg, static_cast<uint32_t>(constant.value)};
        }
        writes_.push_back(write);
        if (!is_dual(inst)) continue;
        Write second{};
        second.pc = next_;
        second.row = inst.dst[1].reg;
        second.count = 1;
        writes_.push_back(second);
    }
}

RowSums::Known RowSums::before(uint64_t pc) {
    read_to(pc);
    Known sums;
    for (const Write& w : writes_) {
        if (w.pc >= pc) break;
        auto written = [&w](uint32_t row) { return row - w.row < w.count; };
        std::erase_if(sums, [&](const Sum& sum) { return written(sum.row) || written(sum.from); });
        if (w.is_sum && !written(w.sum.from)) sums.push_back(w.sum);
    }
    return sums;
}

}  // namespace wj::lift
