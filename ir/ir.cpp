#include "ir/ir.h"

#include <fmt/format.h>

#include "ir/text.h"

namespace wj::ir {
namespace {

constexpr uint8_t count_args(std::array<Type, 4> args) {
    uint8_t n = 0;
    while (n < 4 && args[n] != Type::N) ++n;
    return n;
}

constexpr Type N = Type::N, U32 = Type::U32, U64 = Type::U64, V32 = Type::V32, V64 = Type::V64,
               M = Type::M, T = Type::T;

}  // namespace

constexpr OpInfo op_infos[] = {
#define OP(name, result, a0, a1, a2, a3, cls, doc) \
    {#name, result, {a0, a1, a2, a3}, count_args({a0, a1, a2, a3}), Class::cls, doc},
#include "ir/opcodes.inc"
#undef OP
};
static_assert(std::size(op_infos) == static_cast<size_t>(Op::count_));

namespace {

// Loads may fault, which is an effect even when nobody reads the value; LDS reads cannot.
bool has_effect(const Inst& inst) {
    const Class cls = op_info(inst.op).cls;
    return is_guard(inst.op) || inst.op == Op::GoesOn || cls == Class::SetS || cls == Class::SetV ||
           cls == Class::LaneStore || cls == Class::LaneAtomic || cls == Class::Call ||
           cls == Class::Fence || cls == Class::ULoad ||
           (cls == Class::LaneLoad && inst.op != Op::LoadLds);
}

}  // namespace

uint32_t data_args(Op op, uint32_t aux) {
    switch (op_info(op).cls) {
        case Class::LaneStore:
            return aux_dwords(aux);
        case Class::LaneAtomic:
            return aux_dwords(aux) * atomic_operands(aux_atomic(aux));
        default:
            return 0;
    }
}

std::string verify(const Block& block) {
    for (Value v = 0; v < block.insts.size(); ++v) {
        const Inst& inst = block.insts[v];
        const OpInfo& info = op_info(inst.op);
        for (size_t i = 0; i < inst.args.size(); ++i) {
            const Value arg = inst.args[i];
            const bool data = i >= 4 && i - 4 < data_args(inst.op, inst.aux);
            const Type want = i < 4 ? info.args[i] : data ? Type::V32 : Type::N;
            if ((want == Type::N) != (arg == no_value))
                return fmt::format("%{} {}: argument {} is {}", v, info.name, i,
                                   want == Type::N ? "superfluous" : "missing");
            if (want == Type::N) continue;
            if (arg >= v)
                return fmt::format("%{} {}: argument {} is not defined before", v, info.name, i);
            if (block.type(arg) != want)
                return fmt::format("%{} {}: argument {} has type {}, not {}", v, info.name, i,
                                   type_name(block.type(arg)), type_name(want));
        }
        const bool guards =
            is_guard(inst.op) || inst.op == Op::RowLane || inst.op == Op::WavesAhead;
        if (guards && !block.guarded)
            return fmt::format("%{} {}: the block is not guarded", v, info.name);
        if (inst.guest >= block.guest_pcs.size())
            return fmt::format("%{} {}: guest index out of range", v, info.name);
        if (inst.op == Op::Call && inst.imm >= block.calls.size())
            return fmt::format("%{} Call: no such call", v);
        if (inst.op == Op::Swizzle && inst.imm >= block.lane_tables.size())
            return fmt::format("%{} Swizzle: no such table", v);
        if (info.cls == Class::LaneAtomic && aux_atomic_flags(inst.aux) & half_words &&
            (aux_dwords(inst.aux) != 1 || atomic_of_dwords(aux_atomic(inst.aux))))
            return fmt::format("%{} {}: {} has no form of 16 bits", v, info.name,
                               atomic_name(aux_atomic(inst.aux)));
        if (inst.op == Op::Elem && inst.imm >= aux_dwords(block.insts[inst.args[0]].aux))
            return fmt::format("%{} Elem: index beyond the tuple", v);
    }
    const Terminator& t = block.term;
    const bool needs_cond =
        t.kind == Terminator::Kind::Branch || t.kind == Terminator::Kind::Indirect;
    if (needs_cond) {
        if (t.cond >= block.insts.size()) return "terminator without condition";
        const Type want = t.kind == Terminator::Kind::Branch ? Type::U32 : Type::U64;
        if (block.type(t.cond) != want) return "terminator condition has the wrong type";
    }
    return {};
}

std::vector<uint8_t> needed(const Block& block, const std::function<bool(const Inst&)>& unwanted) {
    std::vector<uint8_t> live(block.insts.size());
    if (block.term.cond != no_value) live[block.term.cond] = true;
    for (size_t v = block.insts.size(); v-- > 0;) {
        const Inst& inst = block.insts[v];
        if (has_effect(inst) && !(unwanted && unwanted(inst))) live[v] = true;
        if (!live[v]) continue;
        for (Value arg : used_args(inst))
            if (arg != no_value) live[arg] = true;
    }
    return live;
}

void eliminate_dead(Block& block, const std::function<bool(const Inst&)>& unwanted) {
    const std::vector<uint8_t> live = needed(block, unwanted);
    std::vector<Value> renamed(block.insts.size(), no_value);
    Value next = 0;
    for (Value v = 0; v < block.insts.size(); ++v) {
        if (!live[v]) continue;
        if (next != v) block.insts[next] = block.insts[v];
        for (Value& arg : used_args(block.insts[next]))
            if (arg != no_value) arg = renamed[arg];
        renamed[v] = next++;
    }
    block.insts.resize(next);
    if (block.term.cond != no_value) block.term.cond = renamed[block.term.cond];
}

Value sum_that_carries(const Block& block, Value compare) {
    const Inst& c = block.insts[compare];
    if (c.op != Op::CmpLtU32) return no_value;
    const Inst& sum = block.insts[c.args[0]];
    const bool of_sum =
        sum.op == Op::Add32 && (sum.args[0] == c.args[1] || sum.args[1] == c.args[1]);
    return of_sum ? c.args[0] : no_value;
}

}  // namespace wj::ir
