#include "lift/row_sums.h"

#include "frontend/decode.h"

namespace wj::lift {
namespace {

constexpr uint32_t most_instructions = 4096;
constexpr size_t most_sums = 256;

}  // namespace

std::vector<RowSum> find_row_sums(const Target& target, uint64_t program, const Fetch& fetch) {
    std::vector<RowSum> sums;
    std::span<const uint32_t> code;
    Inst inst;
    for (uint32_t n = 0; n < most_instructions && sums.size() < most_sums; ++n) {
        if (code.size() < 4) code = fetch(program);  // the longest instruction has four words
        if (!decode(target, code, inst)) break;
        program += inst.size;
        code = code.subspan(inst.size / 4);
        if (inst.op != Opcode::v_add_u32 || inst.variant == Variant::Sdwa ||
            inst.variant == Variant::Dpp)
            continue;
        for (const int a : {0, 1}) {
            const Operand &constant = inst.src[a], &row = inst.src[!a];
            if (!row.is(Operand::Kind::Vgpr) || row.reg == inst.dst[0].reg) continue;
            if (constant.is(Operand::Kind::Const) || constant.is(Operand::Kind::Literal))
                sums.push_back({inst.dst[0].reg, row.reg, static_cast<uint32_t>(constant.value)});
        }
    }
    return sums;
}

}  // namespace wj::lift
