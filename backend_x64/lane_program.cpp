#include "backend_x64/lane_program.h"

#include <algorithm>
#include <array>
#include <map>

#include "backend_x64/virtual_lane_program.h"
#include "ir/known.h"

namespace wj::x64 {
namespace {

using ir::Inst;
using ir::no_value;
using ir::Op;
using ir::Value;
using Input = LaneProgram::Input;
using Step = LaneProgram::Step;

constexpr uint32_t row_count = 256;

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

using Virtual = VirtualLaneProgram::Register;
constexpr Virtual none = VirtualLaneProgram::none;

class Planner {
public:
    Planner(const ir::Block& block, const DivergentLoop& loop) : block_(block), loop_(loop) {}

    std::optional<LaneProgram> plan() {
        if (loop_.uniform_varies || !loop_.fading.empty() || !find_rows()) return {};
        for (const DivergentLoop::Mask& m : loop_.carried)
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

private:
    const Inst& inst(Value v) const { return block_.insts[v]; }
    Virtual fail() {
        failed_ = true;
        return make(false, true);
    }

    // ---- masks of a lane that is on ----
    struct Bool {
        enum Kind : uint8_t { Other, False, True, Compare } kind = Other;
        Value compare = no_value;
        bool negated = false;
        Bool operator!() const {
            if (kind == False) return {True};
            if (kind == True) return {False};
            return {kind, compare, !negated};
        }
        bool operator==(const Bool&) const = default;
    };
    Bool truth(Value m) const {
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
                const bool exec = get.op == Op::GetS64 && get.imm == machine::exec_lo;
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
                if ((i.op >= Op::CmpEq32 && i.op <= Op::CmpLeS32) ||
                    LaneProgram::is_wide_compare(i.op))
                    return {Bool::Compare, m, false};
                return {};
        }
    }
    bool on(Value mask) const { return truth(mask).kind == Bool::True; }

    // ---- rows ----
    bool find_rows() {
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
    bool is_double(Value v) const {
        const Row* const row = operation(inst(v).op);
        return row && row->kind == Kind::Double;
    }
    bool is_double_row(const Inst& i) const {
        return i.op == Op::GetV && i.imm < row_count && double_[i.imm];
    }
    bool reads_row(Value v, uint32_t row) const {
        return std::ranges::any_of(inst(v).args, [&](Value a) {
            return a != no_value && inst(a).op == Op::GetV && inst(a).imm == row;
        });
    }
    struct Sum {
        Value low;                   // the Add32
        Value a, b, a_high, b_high;  // its operands, and what is above them in whatever order
    };
    std::optional<Sum> carried_sum(Value high) const {
        const Inst& h = inst(high);
        if (h.op != Op::AddCarry32) return {};
        const Bool carry = truth(h.args[2]);
        if (carry.kind != Bool::Compare || carry.negated) return {};
        const Value low = ir::sum_that_carries(block_, carry.compare);
        if (low == no_value) return {};
        return Sum{low, inst(low).args[0], inst(low).args[1], h.args[0], h.args[1]};
    }

    // ---- registers and steps ----
    Virtual make(bool vector, bool wide, bool input = false) {
        return program_.make(vector, wide, input);
    }
    Virtual emit(Step::Do what, bool wide, Value guest, Virtual a, Virtual b = none,
                 int64_t imm = 0, Virtual c = none, bool vector = false) {
        Step s{};
        s.what = what;
        s.wide = wide;
        s.guest = guest;
        s.imm = imm;
        const Virtual to = make(vector, wide);
        program_.steps.push_back({s, to, a, b, c});
        return to;
    }
    Virtual input(Input::Kind kind, uint32_t low, uint32_t high, Value value, bool vector = false,
                  bool wide = true) {
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

    std::optional<int32_t> constant(Value v) const {
        const auto c = ir::in_all_lanes(block_, v);
        return c ? std::optional(static_cast<int32_t>(*c)) : std::nullopt;
    }
    static bool is_float(Op op) {
        const Row* const row = operation(op);
        return row && (row->kind == Kind::Float || row->kind == Kind::Converts);
    }
    bool float_row(uint32_t row) const {
        return set_[row] != no_value && is_float(inst(inst(set_[row]).args[0]).op);
    }
    bool is_part(Value v) const {
        const Inst& i = inst(v);
        return i.op == Op::GetV && i.imm < row_count &&
               (partner_[i.imm] < row_count ||
                std::ranges::count(partner_, static_cast<uint32_t>(i.imm)));
    }
    Virtual pair_of_part(uint32_t row) {
        if (double_[row]) return fail();  // half of a double
        for (uint32_t high = 0; high < row_count; ++high)
            if (partner_[high] < row_count && (high == row || partner_[high] == row))
                return input(Input::RowPair, partner_[high], high, no_value);
        return fail();
    }

    // 32 bits of an integer.
    Virtual number(Value v) { return once(numbers_, v, &Planner::make_number); }
    Virtual once(std::map<Value, Virtual>& made, Value v, Virtual (Planner::*make)(Value)) {
        if (const auto it = made.find(v); it != made.end()) return it->second;
        return made[v] = (this->*make)(v);
    }
    Virtual make_number(Value v) {
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
                if (const auto c = constant(v))
                    return emit(Step::Constant, false, v, none, none, *c);
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

    // 32 bits in a vector register.
    Virtual real(Value v) { return once(reals_, v, &Planner::make_real); }
    Virtual make_real(Value v) {
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
            if (program_.registers[static_cast<size_t>(it->second)].wide)
                return to_vector(number(v));
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
    Value loaded_pair(Value low, Value high) const {
        const Inst &l = inst(low), &h = inst(high);
        const bool whole = l.op == Op::Elem && h.op == Op::Elem && l.args[0] == h.args[0] &&
                           !l.imm && h.imm == 1 && loads_.contains(l.args[0]);
        return whole && program_.registers[static_cast<size_t>(loads_.at(l.args[0]))].wide
                   ? l.args[0]
                   : no_value;
    }

    // A double, in a vector register.
    Virtual twice(Value v) { return once(doubles_, v, &Planner::make_double); }
    Virtual make_double(Value v) {
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
                return input(Input::RowPair, static_cast<uint32_t>(l.imm),
                             static_cast<uint32_t>(h.imm), no_value, true);
            if (const Value load = loaded_pair(i.args[0], i.args[1]); load != no_value)
                whole = loads_.at(load);
        }
        if (whole == none) whole = wide(v);
        return program_.registers[static_cast<size_t>(whole)].vector
                   ? whole
                   : emit(Step::Copy, true, v, whole, none, 0, none, true);
    }

    // 64 bits.
    Virtual wide(Value v) {
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
    bool natural(Value low, Value high) const {
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
    Virtual pair(Value low, Value high) {
        if (const auto it = wides_.find({low, high}); it != wides_.end()) return it->second;
        const Virtual r = make_pair(low, high);
        wides_[{low, high}] = r;
        return r;
    }
    Virtual make_pair(Value low, Value high) {
        const Inst &l = inst(low), &h = inst(high);
        auto fixed_row = [&](const Inst& i) {
            return i.op == Op::GetV && i.imm < row_count && set_[i.imm] == no_value;
        };
        if (l.op == Op::Lo && h.op == Op::Hi && l.args[0] == h.args[0]) return wide(l.args[0]);
        if (const Value load = loaded_pair(low, high); load != no_value) {
            const Virtual r = loads_.at(load);
            return program_.registers[static_cast<size_t>(r)].vector
                       ? emit(Step::Copy, true, high, r)
                       : r;
        }
        if (l.op == Op::GetV && h.op == Op::GetV) {
            if (h.imm < row_count && partner_[h.imm] == l.imm)
                return pair_of_part(static_cast<uint32_t>(h.imm));
            if (fixed_row(l) && fixed_row(h))
                return input(Input::RowPair, static_cast<uint32_t>(l.imm),
                             static_cast<uint32_t>(h.imm), no_value);
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

    void load(Value v) {
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

    bool feeds_doubles(Value load) const {
        return std::ranges::any_of(block_.insts, [&](const Inst& use) {
            const Row* const row = operation(use.op);
            return row && row->kind == Kind::Double && std::ranges::any_of(use.args, [&](Value a) {
                       if (a == no_value || inst(a).op != Op::Pack64) return false;
                       const Inst& low = inst(inst(a).args[0]);
                       return low.op == Op::Elem && low.args[0] == load;
                   });
        });
    }

    void row_ends(uint32_t row) {
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
    void hand_on(Virtual to, Virtual from) { program_.handed.push_back({to, from}); }

    void condition() {
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

    std::optional<LaneProgram::Count> find_count() const {
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
            Count count{equal          ? Count::Equal
                        : above_signed ? Count::AboveSigned
                                       : Count::Above,
                        0, 0};
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
                std::ranges::any_of(program_.handed,
                                    [&](const auto& h) { return h.second == bound; });
            if (counter == inputs.end() || limit == inputs.end() || !by_one || used) continue;
            count.counter = static_cast<uint32_t>(counter - inputs.begin());
            count.bound = static_cast<uint32_t>(limit - inputs.begin());
            return count;
        }
        return {};
    }

    // A row that moves by a few bytes, or as an index by a few elements, and leads to an address.
    bool find_stream() {
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
    bool leads(uint32_t row, Value to, uint32_t depth) const {
        const Inst& i = inst(to);
        if (i.op == Op::GetV) return i.imm == row;
        if (depth == 8 || i.op == Op::Elem) return false;
        return std::ranges::any_of(i.args, [&](Value a) {
            return a != no_value && block_.type(a) != ir::Type::M && leads(row, a, depth + 1);
        });
    }

    const ir::Block& block_;
    const DivergentLoop& loop_;
    LaneProgram out_;
    bool failed_ = false;
    std::array<Value, row_count> set_;         // by row: its SetV
    std::array<uint32_t, row_count> partner_;  // by upper row of a pair: the lower one
    std::array<bool, row_count> double_{};     // half of a double
    VirtualLaneProgram program_;
    std::map<Value, Virtual> numbers_, reals_, doubles_, loads_;
    std::map<std::pair<Value, Value>, Virtual> wides_;
};

}  // namespace

std::optional<LaneProgram> find_lane_program(const ir::Block& block, const DivergentLoop& loop) {
    return Planner(block, loop).plan();
}

}  // namespace wj::x64
