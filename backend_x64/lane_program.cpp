#include "backend_x64/lane_program.h"

#include <algorithm>

#include "backend_x64/lane_planner.h"

namespace wj::x64 {

using ir::Inst;
using ir::no_value;
using ir::Op;
using ir::Value;
using Input = LaneProgram::Input;
using Virtual = VirtualLaneProgram::Register;

std::optional<LaneProgram> LanePlanner::plan() {
    if (loop_.uniform_varies || !loop_.fading.empty() || !find_rows()) return {};
    for (const LoopMask& m : loop_.carried)
        if (m.mask != loop_.live) return {};
    for (Value v = 0; v < block_.insts.size(); ++v) {
        const Inst& i = inst(v);
        const ir::Class cls = ir::op_info(i.op).cls;
        if (cls == ir::Class::LaneStore || (i.op == Op::BitsOf && i.args[0] != loop_.live))
            return {};
        if (cls == ir::Class::LaneLoad) load(v);
    }
    for (uint32_t r = 0; r < row_count; ++r)
        if (set_[r] != no_value) row_ends(r);
    condition();
    if (failed_ || !find_stream()) return {};
    out_.count = find_count();
    if (!program_.lower(out_)) return {};
    return std::move(out_);
}

LanePlanner::Bool LanePlanner::truth(Value m) const {
    const Inst& i = inst(m);
    auto arg = [&](size_t k) { return truth(i.args[k]); };
    auto both = [](Bool x, Bool y) -> Bool {
        if (x.kind == Bool::False || y.kind == Bool::True) return x;
        if (y.kind == Bool::False || x.kind == Bool::True) return y;
        return x == y ? x : Bool{};
    };
    switch (i.op) {
        case Op::MaskOf: {
            const Inst& get = inst(i.args[0]);
            const bool exec = ir::gets_mask(get.op) && get.imm == machine::exec_lo;
            return {exec ? Bool::True : Bool::Other};
        }
        case Op::MaskAnd:
            return both(arg(0), arg(1));
        case Op::MaskAndNot:
            return both(arg(0), !arg(1));
        case Op::MaskOr:
            return !both(!arg(0), !arg(1));
        case Op::MaskNot:
            return !arg(0);
        default:
            if ((i.op >= Op::CmpEq32 && i.op <= Op::CmpLeS32) || LaneProgram::is_wide_compare(i.op))
                return {Bool::Compare, m, false};
            return {};
    }
}

bool LanePlanner::find_rows() {
    set_.fill(no_value);
    partner_.fill(row_count);
    for (Value v = 0; v < block_.insts.size(); ++v) {
        const Inst& i = inst(v);
        if (i.op != Op::SetV) continue;
        if (i.imm >= row_count || set_[i.imm] != no_value || !on(i.args[1])) return false;
        set_[i.imm] = v;
    }
    // Two rows that are a sum of 64 bits.
    for (uint32_t high = 0; high < row_count; ++high) {
        if (set_[high] == no_value) continue;
        const auto sum = carried_sum(inst(set_[high]).args[0]);
        if (!sum) continue;
        for (uint32_t low = 0; low < row_count; ++low)
            if (set_[low] != no_value && inst(set_[low]).args[0] == sum->low &&
                reads_row(sum->low, low) && reads_row(inst(set_[high]).args[0], high))
                partner_[high] = low;
    }
    // Two rows that are a double.
    for (uint32_t high = 0; high < row_count; ++high) {
        if (set_[high] == no_value) continue;
        const Inst& upper = inst(inst(set_[high]).args[0]);
        if (upper.op != Op::Hi || !is_double(upper.args[0])) continue;
        for (uint32_t low = 0; low < row_count; ++low) {
            if (set_[low] == no_value) continue;
            const Inst& lower = inst(inst(set_[low]).args[0]);
            if (lower.op == Op::Lo && lower.args[0] == upper.args[0]) {
                partner_[high] = low;
                double_[high] = double_[low] = true;
            }
        }
    }
    for (uint32_t low : partner_)
        if (low < row_count && std::ranges::count(partner_, low) > 1) return false;
    return true;
}

bool LanePlanner::reads_row(Value v, uint32_t row) const {
    return std::ranges::any_of(inst(v).args, [&](Value a) {
        return a != no_value && inst(a).op == Op::GetV && inst(a).imm == row;
    });
}

std::optional<LanePlanner::Sum> LanePlanner::carried_sum(Value high) const {
    const Inst& h = inst(high);
    if (h.op != Op::AddCarry32) return {};
    const Bool carry = truth(h.args[2]);
    if (carry.kind != Bool::Compare || carry.negated) return {};
    const Value low = ir::sum_that_carries(block_, carry.compare);
    if (low == no_value) return {};
    return Sum{low, inst(low).args[0], inst(low).args[1], h.args[0], h.args[1]};
}

void LanePlanner::row_ends(uint32_t row) {
    const Value source = inst(set_[row]).args[0];
    if (double_[row]) {
        if (partner_[row] < row_count)
            hand_on(input(Input::RowPair, partner_[row], row, no_value, true),
                    twice(inst(source).args[0]));
        return;
    }
    if (partner_[row] < row_count) {
        const uint32_t low = partner_[row];
        hand_on(pair_of_part(row), pair(inst(set_[low]).args[0], source));
    } else if (!std::ranges::count(partner_, row)) {
        const bool vector = float_row(row);
        hand_on(input(Input::Row, row, 0, no_value, vector, false),
                vector ? real(source) : number(source));
    }
}

void LanePlanner::condition() {
    const Bool live = truth(loop_.live);
    if (live.kind != Bool::Compare) {
        failed_ = true;
        return;
    }
    const Inst& i = inst(live.compare);
    out_.compare = i.op;
    out_.negated = live.negated;
    out_.compared = live.compare;
    if (LaneProgram::is_wide_compare(i.op)) {
        program_.compared[0] = wide(i.args[0]);
        program_.compared[1] = wide(i.args[1]);
        return;
    }
    program_.compared[0] = number(i.args[0]);
    if (const auto c = constant(i.args[1]))
        out_.imm = *c;
    else
        program_.compared[1] = number(i.args[1]);
}

std::optional<LaneProgram::Count> LanePlanner::find_count() const {
    using Count = LaneProgram::Count;
    const Inst& i = inst(out_.compared);
    if (LaneProgram::is_wide_compare(i.op)) return {};
    const bool equal = i.op == (out_.negated ? Op::CmpEq32 : Op::CmpNe32);
    for (const bool swapped : {false, true}) {
        const bool above_signed =
            i.op == (swapped ? Op::CmpLeS32 : Op::CmpLtS32) && out_.negated == swapped;
        const bool above =
            i.op == (swapped ? Op::CmpLeU32 : Op::CmpLtU32) && out_.negated == swapped;
        if (!equal && !above_signed && !above) continue;
        const Value next = i.args[swapped];
        const Inst& sum = inst(next);
        const Virtual bound = program_.compared[!swapped];
        if (sum.op != Op::Add32 || bound == none) continue;
        Count count{equal ? Count::Equal : above_signed ? Count::AboveSigned : Count::Above, 0, 0};
        const auto& inputs = program_.inputs;
        const auto counter = std::ranges::find_if(inputs, [&](const auto& in) {
            return in.first.kind == Input::Row && set_[in.first.low] != no_value &&
                   inst(set_[in.first.low]).args[0] == next && reads_row(next, in.first.low);
        });
        const auto limit = std::ranges::find_if(inputs, [&](const auto& in) {
            return in.second == bound &&
                   (in.first.kind == Input::Uniform ||
                    (in.first.kind == Input::Row && set_[in.first.low] == no_value));
        });
        const bool by_one = constant(sum.args[0]) == 1 || constant(sum.args[1]) == 1;
        const bool used =
            std::ranges::any_of(
                program_.steps,
                [&](const auto& s) { return s.a == bound || s.b == bound || s.c == bound; }) ||
            std::ranges::any_of(program_.handed, [&](const auto& h) { return h.second == bound; });
        if (counter == inputs.end() || limit == inputs.end() || !by_one || used) continue;
        count.counter = static_cast<uint32_t>(counter - inputs.begin());
        count.bound = static_cast<uint32_t>(limit - inputs.begin());
        return count;
    }
    return {};
}

// A row that moves by a few bytes, or as an index by a few elements, and leads to an address.
bool LanePlanner::find_stream() {
    constexpr uint32_t far = 64;
    for (uint32_t r = 0; r < row_count; ++r) {
        if (set_[r] == no_value) continue;
        const Value sum = inst(set_[r]).args[0];
        const Inst& s = inst(sum);
        if (s.op != Op::Add32 || !reads_row(sum, r)) continue;
        const auto a = constant(s.args[0]), b = constant(s.args[1]);
        const int32_t step = a ? *a : b ? *b : 0;
        if (!step || static_cast<uint32_t>(std::abs(step)) > far) continue;
        for (Value v = 0; v < block_.insts.size(); ++v)
            if (ir::op_info(inst(v).op).cls == ir::Class::LaneLoad &&
                leads(r, ir::address_of(inst(v)), 0)) {
                out_.stream_row = r;
                out_.stream_step = static_cast<uint32_t>(step);
                return true;
            }
    }
    return false;
}

bool LanePlanner::leads(uint32_t row, Value to, uint32_t depth) const {
    const Inst& i = inst(to);
    if (i.op == Op::GetV) return i.imm == row;
    if (depth == 8 || i.op == Op::Elem) return false;
    return std::ranges::any_of(i.args, [&](Value a) {
        return a != no_value && block_.type(a) != ir::Type::M && leads(row, a, depth + 1);
    });
}

std::optional<LaneProgram> find_lane_program(const ir::Block& block, const DivergentLoop& loop) {
    return LanePlanner(block, loop).plan();
}

}  // namespace wj::x64
