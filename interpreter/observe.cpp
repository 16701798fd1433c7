#include "interpreter/observe.h"

#include <bit>

#include "frontend/opcode.h"
#include "interpreter/internal.h"
#include "machine/coverage.h"

namespace wj::interp {
namespace {

using machine::Coverage;

bool is_constant(const Operand& o) {
    return !is_vector(o) && o.kind != Operand::Kind::Sgpr && o.kind != Operand::Kind::Special;
}

template <uint32_t bits>
uint64_t operand(Wave& w, const Inst& inst, uint32_t i, uint32_t lane) {
    const Operand& o = inst.src[i];
    const uint64_t low = read_lane(w, o, lane);
    if (bits == 16) return (inst.op_sel >> i & 1 ? low >> 16 : low) & 0xffff;
    return bits == 32 ? low : low | uint64_t{read_lane(w, o, lane, 1)} << 32;
}

// In the first lane that is on, and in the next one whose operands are others.
template <uint32_t bits>
void observe(Wave& w, const Inst& inst) {
    const Coverage* const coverage = w.ctx->coverage;
    if (!coverage || !coverage->compared) return;
    const uint32_t known = is_constant(inst.src[1]) ? 1 : 0;
    uint64_t first[2] = {};
    bool any = false;
    const uint64_t on = inst.format == Format::SOPC || inst.format == Format::SOPK ? 1 : w.exec();
    for (uint64_t left_on = on; left_on; left_on &= left_on - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left_on));
        const uint64_t a = operand<bits>(w, inst, known, lane),
                       b = operand<bits>(w, inst, 1 - known, lane);
        if (any && a == first[0] && b == first[1]) continue;
        coverage->compared(bits, a, b, is_constant(inst.src[known]));
        if (any) return;
        any = true;
        first[0] = a, first[1] = b;
    }
}

template <uint32_t bits>
void observe_and_run(Wave& w, const Inst& inst) {
    observe<bits>(w, inst);
    handler(inst.op)(w, inst);
}

// Of the elements of an integer compare; 0: the instruction is none.
uint32_t compared_bits(Opcode op) {
    const OpInfo& info = op_info(op);
    const bool scalar = info.format == Format::SOPC || info.format == Format::SOPK;
    if ((!scalar && info.format != Format::VOPC) || (scalar && info.dst_count) ||
        info.src_count != 2)
        return 0;
    switch (info.src[0]) {
        case Type::i16:
        case Type::u16:
            return 16;
        case Type::i32:
        case Type::u32:
            return 32;
        case Type::i64:
        case Type::u64:
            return 64;
        default:
            return 0;
    }
}

}  // namespace

Handler compare_observer(Opcode op) {
    const uint32_t bits = compared_bits(op);
    if (!bits) return nullptr;
    return bits == 16 ? &observe<16> : bits == 32 ? &observe<32> : &observe<64>;
}

Handler observed_compare(Opcode op) {
    const uint32_t bits = compared_bits(op);
    if (!bits || !handler(op)) return nullptr;
    return bits == 16   ? &observe_and_run<16>
           : bits == 32 ? &observe_and_run<32>
                        : &observe_and_run<64>;
}

void covered_jump(Wave& w, const Inst& inst) {
    const uint64_t from = w.pc;
    handler(inst.op)(w, inst);
    const Coverage* const coverage = w.ctx->coverage;
    if (coverage && w.exit.kind == ExitKind::None)
        coverage->count(coverage->counter(coverage->edge(from, w.pc), w));
}

}  // namespace wj::interp
