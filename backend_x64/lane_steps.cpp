// Values of a loop as registers of a lane and the steps that make them.
#include <algorithm>
#include <array>

#include "backend_x64/lane_planner.h"
#include "ir/known.h"

namespace wj::x64 {

using ir::Inst;
using ir::no_value;
using ir::Op;
using ir::Value;
using Input = LaneProgram::Input;
using Step = LaneProgram::Step;
using Virtual = VirtualLaneProgram::Register;

namespace {

// Two operands, of which one may be a constant; shifts by constants only; floats, of one to three
// operands; floats made of integers; doubles.
enum class Kind : uint8_t { Commutes, Ordered, Shifts, Float, Converts, Double };
struct Row {
    Op op;
    Step::Do what;
    Kind kind;
};
constexpr Row operations[] = {
    {Op::Add32, Step::Add, Kind::Commutes},
    {Op::Sub32, Step::Sub, Kind::Ordered},
    {Op::And32, Step::And, Kind::Commutes},
    {Op::Or32, Step::Or, Kind::Commutes},
    {Op::Xor32, Step::Xor, Kind::Commutes},
    {Op::Mul32, Step::Mul, Kind::Commutes},
    {Op::Shl32, Step::Shl, Kind::Shifts},
    {Op::Shr32, Step::Shr, Kind::Shifts},
    {Op::Sar32, Step::Sar, Kind::Shifts},
    {Op::FAdd32, Step::FAdd, Kind::Float},
    {Op::FSub32, Step::FSub, Kind::Float},
    {Op::FMul32, Step::FMul, Kind::Float},
    {Op::FFma32, Step::FFma, Kind::Float},
    {Op::FDiv32, Step::FDiv, Kind::Float},
    {Op::FSqrt32, Step::FSqrt, Kind::Float},
    {Op::FQuot32, Step::FQuot, Kind::Float},
    {Op::FQuotFrexp32, Step::FQuotient, Kind::Float},
    {Op::CvtU32ToF32, Step::FromUnsigned, Kind::Converts},
    {Op::CvtI32ToF32, Step::FromSigned, Kind::Converts},
    {Op::MinU32, Step::MinUnsigned, Kind::Commutes},
    {Op::MaxU32, Step::MaxUnsigned, Kind::Commutes},
    {Op::MinS32, Step::MinSigned, Kind::Commutes},
    {Op::MaxS32, Step::MaxSigned, Kind::Commutes},
    {Op::FAdd64, Step::FAdd, Kind::Double},
    {Op::FMul64, Step::FMul, Kind::Double},
    {Op::FFma64, Step::FFma, Kind::Double},
    {Op::FDiv64, Step::FDiv, Kind::Double},
};
const Row* operation(Op op) {
    const auto* const row = std::ranges::find(operations, op, &Row::op);
    return row == std::end(operations) ? nullptr : row;
}

}  // namespace

Virtual LanePlanner::emit(Step::Do what, bool wide, Value guest, Virtual a, Virtual b, int64_t imm,
                          Virtual c, bool vector) {
    Step s{};
    s.what = what;
    s.wide = wide;
    s.guest = guest;
    s.imm = imm;
    const Virtual to = make(vector, wide);
    program_.steps.push_back({s, to, a, b, c});
    return to;
}

Virtual LanePlanner::input(Input::Kind kind, uint32_t low, uint32_t high, Value value, bool vector,
                           bool wide) {
    if (value != no_value && (inst(value).op == Op::Const32 || inst(value).op == Op::Const64))
        return fail();
    for (const auto& [in, reg] : program_.inputs)
        if (in.kind == kind && in.low == low && in.high == high && in.value == value &&
            program_.registers[static_cast<size_t>(reg)].vector == vector)
            return reg;
    const Virtual reg = make(vector, wide, true);
    Input in{};
    in.kind = kind;
    in.low = low;
    in.high = high;
    in.value = value;
    program_.inputs.push_back({in, reg});
    return reg;
}

std::optional<int32_t> LanePlanner::constant(Value v) const {
    const auto c = ir::in_all_lanes(block_, v);
    return c ? std::optional(static_cast<int32_t>(*c)) : std::nullopt;
}

bool LanePlanner::is_double(Value v) const {
    const Row* const row = operation(inst(v).op);
    return row && row->kind == Kind::Double;
}

bool LanePlanner::is_float(Op op) {
    const Row* const row = operation(op);
    return row && (row->kind == Kind::Float || row->kind == Kind::Converts);
}

bool LanePlanner::float_row(uint32_t row) const {
    return set_[row] != no_value && is_float(inst(inst(set_[row]).args[0]).op);
}

bool LanePlanner::is_part(Value v) const {
    const Inst& i = inst(v);
    return i.op == Op::GetV && i.imm < row_count &&
           (partner_[i.imm] < row_count ||
            std::ranges::count(partner_, static_cast<uint32_t>(i.imm)));
}

Virtual LanePlanner::pair_of_part(uint32_t row) {
    if (double_[row]) return fail();  // half of a double
    for (uint32_t high = 0; high < row_count; ++high)
        if (partner_[high] < row_count && (high == row || partner_[high] == row))
            return input(Input::RowPair, partner_[high], high, no_value);
    return fail();
}

Virtual LanePlanner::make_number(Value v) {
    const Inst& i = inst(v);
    const Value a = i.args[0], b = i.args[1];
    if (const Row* const row = operation(i.op)) {
        if (row->kind == Kind::Float || row->kind == Kind::Converts)
            return emit(Step::Copy, false, v, real(v));
        if (row->kind == Kind::Double) return fail();
        const auto x = constant(a), y = constant(b);
        switch (row->kind) {
            case Kind::Shifts:
                return y ? emit(row->what, false, v, number(a), none, *y & 31) : fail();
            case Kind::Commutes:
                if (x && !y) return emit(row->what, false, v, number(b), none, *x);
                [[fallthrough]];
            case Kind::Ordered: {
                const Virtual left = number(a);
                return y ? emit(row->what, false, v, left, none, *y)
                         : emit(row->what, false, v, left, number(b));
            }
            default:  // floats
                break;
        }
    }
    switch (i.op) {
        case Op::Splat32:
            if (const auto c = constant(v)) return emit(Step::Constant, false, v, none, none, *c);
            return input(Input::Uniform, 0, 0, a, false, false);
        case Op::GetV: {
            if (i.imm >= row_count) return fail();
            const auto row = static_cast<uint32_t>(i.imm);
            if (is_part(v)) {
                const Virtual pair = pair_of_part(row);
                return partner_[row] < row_count ? emit(Step::Shr, true, v, pair, none, 32)
                                                 : emit(Step::Copy, false, v, pair);
            }
            const Virtual r = input(Input::Row, row, 0, no_value, float_row(row), false);
            return float_row(row) ? emit(Step::Copy, false, v, r) : r;
        }
        case Op::Elem: {
            const auto it = loads_.find(a);
            if (it == loads_.end()) return fail();
            const auto& loaded = program_.registers[static_cast<size_t>(it->second)];
            if (i.imm) {
                const Virtual whole =
                    loaded.vector ? emit(Step::Copy, true, v, it->second) : it->second;
                return emit(Step::Shr, true, v, whole, none, 32);
            }
            return loaded.vector || loaded.wide ? emit(Step::Copy, false, v, it->second)
                                                : it->second;
        }
        case Op::Lo:
            return emit(Step::Copy, false, v, wide(a));
        case Op::Hi:
            return emit(Step::Shr, true, v, wide(a), none, 32);
        default:
            return fail();
    }
}

Virtual LanePlanner::make_real(Value v) {
    const Inst& i = inst(v);
    auto to_vector = [&](Virtual r) {
        return program_.registers[static_cast<size_t>(r)].vector
                   ? r
                   : emit(Step::Copy, false, v, r, none, 0, none, true);
    };
    if (is_float(i.op)) {
        const Row& row = *operation(i.op);
        if (row.kind == Kind::Converts)
            return emit(row.what, false, v, number(i.args[0]), none, 0, none, true);
        const Virtual a = real(i.args[0]);
        if (row.what == Step::FSqrt) return emit(row.what, false, v, a, none, 0, none, true);
        const Virtual b = real(i.args[1]);
        const bool steps = row.what == Step::FQuot || row.what == Step::FQuotient;
        if (steps && !on(i.args[2])) return fail();
        if (row.what == Step::FQuotient) {
            const Virtual r = emit(Step::FRcp, false, v, b, none, 0, none, true);
            return emit(row.what, false, v, a, r, 0, b, true);
        }
        const Virtual c = row.what == Step::FFma ? real(i.args[2]) : none;
        return emit(row.what, false, v, a, b, 0, c, true);
    }
    if (i.op == Op::Elem) {
        const auto it = loads_.find(i.args[0]);
        if (it == loads_.end()) return fail();
        if (program_.registers[static_cast<size_t>(it->second)].wide) return to_vector(number(v));
        return to_vector(it->second);
    }
    if (i.op == Op::GetV && i.imm < row_count && !is_part(v)) {
        const auto row = static_cast<uint32_t>(i.imm);
        const bool integer = set_[row] != no_value && !float_row(row);
        return to_vector(input(Input::Row, row, 0, no_value, !integer, false));
    }
    return to_vector(number(v));
}

// The load whose two dwords these are, or no_value.
Value LanePlanner::loaded_pair(Value low, Value high) const {
    const Inst &l = inst(low), &h = inst(high);
    const bool whole = l.op == Op::Elem && h.op == Op::Elem && l.args[0] == h.args[0] && !l.imm &&
                       h.imm == 1 && loads_.contains(l.args[0]);
    return whole && program_.registers[static_cast<size_t>(loads_.at(l.args[0]))].wide ? l.args[0]
                                                                                       : no_value;
}

Virtual LanePlanner::make_double(Value v) {
    const Inst& i = inst(v);
    if (is_double(v)) {
        const Row& row = *operation(i.op);
        const Virtual a = twice(i.args[0]), b = twice(i.args[1]),
                      c = row.what == Step::FFma ? twice(i.args[2]) : none;
        return emit(row.what, true, v, a, b, 0, c, true);
    }
    Virtual whole = none;
    if (i.op == Op::Pack64) {
        const Inst &l = inst(i.args[0]), &h = inst(i.args[1]);
        if (is_double_row(l) && is_double_row(h) && partner_[h.imm] == l.imm)
            return input(Input::RowPair, static_cast<uint32_t>(l.imm), static_cast<uint32_t>(h.imm),
                         no_value, true);
        if (const Value load = loaded_pair(i.args[0], i.args[1]); load != no_value)
            whole = loads_.at(load);
    }
    if (whole == none) whole = wide(v);
    return program_.registers[static_cast<size_t>(whole)].vector
               ? whole
               : emit(Step::Copy, true, v, whole, none, 0, none, true);
}

Virtual LanePlanner::wide(Value v) {
    const Inst& i = inst(v);
    if (i.op == Op::Pack64) return pair(i.args[0], i.args[1]);
    if (is_double(v)) return emit(Step::Copy, true, v, twice(v));
    if (const auto it = wides_.find({v, no_value}); it != wides_.end()) return it->second;
    Virtual r = none;
    const auto c = i.args[1] == no_value ? std::nullopt : constant(i.args[1]);
    if (i.op == Op::Add64) {
        const Virtual a = wide(i.args[0]);
        r = emit(Step::Add, true, v, a, wide(i.args[1]));
    } else if (i.op == Op::Shl64 && c) {
        r = emit(Step::Shl, true, v, wide(i.args[0]), none, *c & 63);
    } else if (i.op == Op::Splat64) {
        r = input(Input::Uniform, 0, 0, i.args[0]);
    } else {
        return fail();
    }
    return wides_[{v, no_value}] = r;
}

// Whether two halves are easy to have as one.
bool LanePlanner::natural(Value low, Value high) const {
    const Inst &l = inst(low), &h = inst(high);
    if (l.op == Op::Lo && h.op == Op::Hi) return l.args[0] == h.args[0];
    if (constant(low)) return constant(high) == 0;
    if (l.op == Op::GetV && h.op == Op::GetV) {
        if (is_part(low) || is_part(high)) return h.imm < row_count && partner_[h.imm] == l.imm;
        return l.imm < row_count && h.imm < row_count && set_[l.imm] == no_value &&
               set_[h.imm] == no_value;
    }
    return l.op == Op::Splat32 && (h.op == Op::Splat32 || h.op == Op::GetV);
}

Virtual LanePlanner::pair(Value low, Value high) {
    if (const auto it = wides_.find({low, high}); it != wides_.end()) return it->second;
    const Virtual r = make_pair(low, high);
    wides_[{low, high}] = r;
    return r;
}

Virtual LanePlanner::make_pair(Value low, Value high) {
    const Inst &l = inst(low), &h = inst(high);
    auto fixed_row = [&](const Inst& i) {
        return i.op == Op::GetV && i.imm < row_count && set_[i.imm] == no_value;
    };
    if (l.op == Op::Lo && h.op == Op::Hi && l.args[0] == h.args[0]) return wide(l.args[0]);
    if (const Value load = loaded_pair(low, high); load != no_value) {
        const Virtual r = loads_.at(load);
        return program_.registers[static_cast<size_t>(r)].vector ? emit(Step::Copy, true, high, r)
                                                                 : r;
    }
    if (l.op == Op::GetV && h.op == Op::GetV) {
        if (h.imm < row_count && partner_[h.imm] == l.imm)
            return pair_of_part(static_cast<uint32_t>(h.imm));
        if (fixed_row(l) && fixed_row(h))
            return input(Input::RowPair, static_cast<uint32_t>(l.imm), static_cast<uint32_t>(h.imm),
                         no_value);
    }
    if (const auto sum = carried_sum(high); sum && sum->low == low) {
        const bool crossed = !(natural(sum->a, sum->a_high) && natural(sum->b, sum->b_high)) &&
                             natural(sum->a, sum->b_high);
        const Value ah = crossed ? sum->b_high : sum->a_high,
                    bh = crossed ? sum->a_high : sum->b_high;
        for (const auto& [x, xh, y, yh] :
             {std::array{sum->a, ah, sum->b, bh}, std::array{sum->b, bh, sum->a, ah}})
            if (const auto c = constant(x); c && *c >= 0 && constant(xh) == 0)
                return emit(Step::Add, true, high, pair(y, yh), none, *c);
        const Virtual a = pair(sum->a, ah);
        return emit(Step::Add, true, high, a, pair(sum->b, bh));
    }
    const bool funnel = h.op == Op::Fshr32 && h.args[1] == l.args[0];
    if (l.op == Op::Shl32 && (funnel || (h.op == Op::Sar32 && h.args[0] == l.args[0]))) {
        const auto up = constant(l.args[1]), down = constant(h.args[funnel ? 2 : 1]);
        if (up && down && *up > 0 && *up < 32 && *down == 32 - *up) {
            const Virtual whole = funnel ? pair(l.args[0], h.args[0])
                                         : emit(Step::Sext, true, high, number(l.args[0]));
            return emit(Step::Shl, true, high, whole, none, *up);
        }
    }
    if (constant(high) == 0) return number(low);
    if (h.op == Op::Sar32 && h.args[0] == low && constant(h.args[1]) == 31)
        return emit(Step::Sext, true, high, number(low));
    if (l.op == Op::Splat32 && !constant(low) && fixed_row(h) && !is_part(high))
        return input(Input::UniformRow, 0, static_cast<uint32_t>(h.imm), l.args[0]);
    Virtual upper = none;
    if (fixed_row(h))
        upper = input(Input::High, static_cast<uint32_t>(h.imm), 0, no_value);
    else if (h.op == Op::Splat32 && !constant(high))
        upper = input(Input::UniformHigh, 0, 0, h.args[0]);
    else
        upper = emit(Step::Shl, true, high, number(high), none, 32);
    return emit(Step::Or, true, high, number(low), upper);
}

void LanePlanner::load(Value v) {
    const Inst& i = inst(v);
    const ir::Access access = ir::aux_access(i.aux);
    const bool narrow = access <= ir::Access::S16, two = ir::aux_dwords(i.aux) == 2;
    if (!on(ir::mask_of(i)) || (ir::aux_dwords(i.aux) != 1 && !two) ||
        (!narrow && access != ir::Access::Dwords) ||
        static_cast<int64_t>(i.imm) != static_cast<int32_t>(i.imm)) {
        failed_ = true;
        return;
    }
    Virtual address = none, index = none;
    switch (i.op) {
        case Op::LoadGlobal:
            address = wide(i.args[0]);
            break;
        case Op::LoadGlobalS:
            address = input(Input::Uniform, 0, 0, i.args[0]);
            index = number(i.args[1]);
            break;
        case Op::LoadGlobalS64:
            address = input(Input::Uniform, 0, 0, i.args[0]);
            index = wide(i.args[1]);
            break;
        default:
            failed_ = true;
            return;
    }
    // Into a vector register if that is where it is wanted first.
    bool vector = false;
    if (access == ir::Access::Dwords)
        for (const Inst& use : block_.insts)
            if (is_float(use.op) && operation(use.op)->kind == Kind::Float)
                for (Value a : use.args)
                    vector |= a != no_value && inst(a).op == Op::Elem && inst(a).args[0] == v;
    if (two) vector = feeds_doubles(v);
    const Virtual r =
        emit(Step::Load, two, v, address, index, static_cast<int32_t>(i.imm), none, vector);
    program_.steps.back().step.access = access;
    loads_[v] = r;
}

bool LanePlanner::feeds_doubles(Value load) const {
    return std::ranges::any_of(block_.insts, [&](const Inst& use) {
        const Row* const row = operation(use.op);
        return row && row->kind == Kind::Double && std::ranges::any_of(use.args, [&](Value a) {
                   if (a == no_value || inst(a).op != Op::Pack64) return false;
                   const Inst& low = inst(inst(a).args[0]);
                   return low.op == Op::Elem && low.args[0] == load;
               });
    });
}

}  // namespace wj::x64
