#include "backend_x64/counted_loop.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace wj::x64 {

using ir::Class;
using ir::Op;

namespace {

class Finder {
public:
    Finder(const ir::Block& block, const Schedule& schedule) : block_(block), schedule_(schedule) {}

    std::optional<CountedLoop> find() {
        const Value cond = block_.term.cond;
        if (cond == no_value) return {};
        CountedLoop loop{};
        switch (inst(cond).op) {
            case Op::UCmpEq32:
            case Op::UCmpNe32:
                loop.goes_on = CountedLoop::Relation::Different;
                break;
            case Op::UCmpLtU32:
            case Op::UCmpLtS32:
                loop.goes_on = CountedLoop::Relation::Below;
                break;
            case Op::UCmpLeU32:
            case Op::UCmpLeS32:
                loop.goes_on = CountedLoop::Relation::NotAbove;
                break;
            default:
                return {};
        }
        loop.is_signed = inst(cond).op == Op::UCmpLtS32 || inst(cond).op == Op::UCmpLeS32;
        Value low = inst(cond).args[0], high = inst(cond).args[1];
        const bool while_set = block_.term.target == block_.pc;
        if (loop.goes_on == CountedLoop::Relation::Different) {
            if (while_set != (inst(cond).op == Op::UCmpNe32)) return {};
        } else if (!while_set) {  // the opposite of a < b is b <= a
            std::swap(low, high);
            loop.goes_on = loop.goes_on == CountedLoop::Relation::Below
                               ? CountedLoop::Relation::NotAbove
                               : CountedLoop::Relation::Below;
        }
        for (const bool first : {true, false}) {
            loop.counter_first = first;
            loop.bound = first ? high : low;
            if (!stays(loop.bound) || !counts(first ? low : high, loop)) continue;
            if (loop.goes_on == CountedLoop::Relation::Different)
                loop.counter_first = loop.step > 0;
            else if (first != (loop.step > 0))
                continue;
            find_needed(loop);
            return loop;
        }
        return {};
    }

private:
    const ir::Inst& inst(Value v) const { return block_.insts[v]; }

    // Whether it reads or writes the register, or a pair with it.
    static bool touches(const ir::Inst& i, uint64_t reg) {
        if (i.op == Op::GetScc || i.op == Op::SetScc) return false;
        const Class cls = ir::op_info(i.op).cls;
        if (cls != Class::GetS && cls != Class::SetS) return false;
        const bool pair = i.op == Op::GetS64 || i.op == Op::SetS64;
        return i.imm == reg || (pair && i.imm + 1 == reg);
    }

    bool stays(Value v) const {
        const ir::Inst& get = inst(v);
        if (get.op == Op::Const32) return true;
        return get.op == Op::GetS32 && std::ranges::none_of(block_.insts, [&](const ir::Inst& i) {
                   return ir::op_info(i.op).cls == Class::SetS && touches(i, get.imm);
               });
    }

    // `v` is a counter's old or next value.
    bool counts(Value v, CountedLoop& loop) const {
        for (Value set = 0; set < block_.insts.size(); ++set) {
            const ir::Inst& s = inst(set);
            if (s.op != Op::SetS32 || schedule_.position(set) != 0) continue;
            const ir::Inst& sum = inst(s.args[0]);
            if (sum.op != Op::UAdd32 && sum.op != Op::USub32) continue;
            if (v != s.args[0] && v != sum.args[0]) continue;
            const ir::Inst &old = inst(sum.args[0]), &step = inst(sum.args[1]);
            if (old.op != Op::GetS32 || old.imm != s.imm || step.op != Op::Const32) continue;
            const auto once = [&](Value other) {
                return other == set || other == sum.args[0] || !touches(inst(other), s.imm);
            };
            bool good = sum.args[0] < set;
            for (Value other = 0; other < block_.insts.size(); ++other) good &= once(other);
            const auto by = static_cast<uint32_t>(step.imm);
            loop.step = static_cast<int32_t>(sum.op == Op::UAdd32 ? by : 0 - by);
            const auto magnitude = static_cast<uint32_t>(loop.step < 0 ? 0 - loop.step : loop.step);
            if (!good || !std::has_single_bit(magnitude) || loop.step == INT32_MIN) continue;
            loop.set = set;
            loop.next = v == s.args[0];
            return true;
        }
        return false;
    }

    bool idle(const ir::Inst& i, const CountedLoop& loop) const {
        if (ir::op_info(i.op).cls != Class::SetS) return false;
        if (&i == &inst(loop.set)) return true;
        return std::ranges::none_of(block_.insts, [&](const ir::Inst& get) {
            if (i.op == Op::SetScc) return get.op == Op::GetScc;
            return ir::op_info(get.op).cls == Class::GetS &&
                   (touches(get, i.imm) || (i.op == Op::SetS64 && touches(get, i.imm + 1)));
        });
    }

    void find_needed(CountedLoop& loop) const {
        auto& needed = loop.needed;
        needed.assign(block_.insts.size(), false);
        std::vector<Value> todo;
        auto need = [&](Value v) {
            if (v == no_value || needed[v]) return;
            needed[v] = true;
            todo.push_back(v);
        };
        auto follow = [&] {
            while (!todo.empty()) {
                const Value v = todo.back();
                todo.pop_back();
                for (const Value a : inst(v).args) need(a);
                if (v == inst(inst(loop.set).args[0]).args[0]) need(loop.set);
            }
        };
        for (Value v = 0; v < block_.insts.size(); ++v) {
            const ir::Inst& i = inst(v);
            const Class cls = ir::op_info(i.op).cls;
            const bool uniform = cls == Class::Uniform || cls == Class::GetS ||
                                 cls == Class::SetS || cls == Class::ULoad;
            const bool effect = ir::op_info(i.op).result == ir::Type::N || cls == Class::ULoad;
            if (!uniform || (effect && schedule_.position(v) == 0 && !idle(i, loop))) need(v);
        }
        follow();
        // What a register is home to is read from there.
        for (Value v = 0; v < block_.insts.size(); ++v)
            if (schedule_.position(v) == 0 && ir::op_info(inst(v).op).cls == Class::SetS &&
                needed[inst(v).args[0]])
                need(v);
        follow();
    }

    const ir::Block& block_;
    const Schedule& schedule_;
};

}  // namespace

std::optional<CountedLoop> find_counter(const ir::Block& block, const Schedule& schedule) {
    return Finder(block, schedule).find();
}

}  // namespace wj::x64
