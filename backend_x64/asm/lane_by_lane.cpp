// Loops that run while lanes are left, one lane after the other (lane_program.h).
#include <algorithm>
#include <limits>

#include "backend_x64/asm/loop_code.h"
#include "backend_x64/asm/reach.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

const Gp lane = x86::rbp;  // its number + lane_bias
const Gp left = x86::r15;  // of the budget

Gp general(const LaneProgram::Reg& r, bool wide) {
    static const Gp registers[LaneProgram::general_count] = {
        x86::rcx, x86::rdx, x86::rsi, x86::rdi, x86::r8, x86::r9, x86::r10, x86::r11, x86::r14};
    const Gp& g = registers[r.number];
    return wide ? g : Gp(g.r32());
}
Vec vector(const LaneProgram::Reg& r) {
    return x86::xmm(static_cast<uint32_t>(r.number));
}
Mem lane_row(uint32_t row) {
    return x86::dword_ptr(reg::rows, lane, 2,
                          static_cast<int32_t>(row * 256) - row_bias - 4 * lane_bias);
}
// Those of general() that the program leaves: of masked addresses the mask and the base, if these
// are two.
std::vector<Gp> registers_left(const LaneProgram& p) {
    uint32_t used = 0;
    const auto take = [&used](const LaneProgram::Reg& r) {
        if (!r.vector && r.number >= 0) used |= 1u << r.number;
    };
    for (const LaneProgram::Input& in : p.inputs) take(in.reg);
    for (const auto* steps : {&p.first, &p.steps})
        for (const LaneProgram::Step& s : *steps)
            for (const LaneProgram::Reg& r : {s.to, s.a, s.b, s.c}) take(r);
    std::vector<Gp> left;
    for (int8_t n = 0; n < static_cast<int8_t>(LaneProgram::general_count); ++n)
        if (!(used >> n & 1)) left.push_back(general({n, false}, true));
    return left;
}
// The same for all lanes, and as they left it.
bool is_shared(const LaneProgram::Input& in) {
    using enum LaneProgram::Input::Kind;
    return !in.stored && (in.kind == Uniform || in.kind == UniformHigh);
}

}  // namespace

// Jumps to `each_lane` if lanes walk along memory of their own.
void BlockCompiler::LaneLoopCode::test_streams(const LaneProgram& p, Label each_lane) const {
    const Label together = a_.newLabel();
    a_.mov(mask_register(*block_, x86::rax), exec_field(*block_));
    a_.test(x86::rax, x86::rax);
    a_.jz(together);
    const Vec next = vec(0), t = vec(1);
    const uint32_t lanes = c_.chunk_lanes();
    movu(next, x86::ptr(reg::rows, static_cast<int32_t>(p.stream_row * 256 + 4) - row_bias));
    a_.emit(X::kIdVpsubd, next, next,
            x86::ptr(reg::rows, static_cast<int32_t>(p.stream_row * 256) - row_bias));
    if (c_.avx512_) {
        a_.emit(X::kIdVptestnmd, x86::k1, next, next);
        a_.emit(X::kIdVpcmpeqd, x86::k2, next, c_.c32(p.stream_step));
        a_.korw(x86::k1, x86::k1, x86::k2);
        a_.kmovw(x86::eax, x86::k1);
    } else {
        a_.emit(X::kIdVpcmpeqd, t, next, c_.c32(p.stream_step));
        a_.emit(X::kIdVpcmpeqd, next, next, c_.c32(0));
        a_.emit(X::kIdVpor, next, next, t);
        a_.vmovmskps(x86::eax, next.ymm());
    }
    a_.popcnt(x86::eax, x86::eax);
    a_.cmp(x86::eax, lanes / 2);
    a_.jb(each_lane);
    a_.bind(together);
}

// A lane that begins, and whose number of iterations is known: its bound becomes what the budget
// allows, if that is less, so that iterations need not look at the budget.
void BlockCompiler::LaneLoopCode::bound_lane(const LaneProgram& p, const Mem& most) const {
    const Gp counter = general(p.inputs[p.count->counter].reg, false),
             bound = general(p.inputs[p.count->bound].reg, false),
             wide_bound = general(p.inputs[p.count->bound].reg, true);
    // At the end of its first iteration the counter is ahead by one.
    a_.lea(x86::eax, x86::ptr(counter.r64(), 1));
    switch (p.count->until) {
        case LaneProgram::Count::Above:
            a_.add(x86::rax, most);
            a_.cmp(wide_bound, x86::rax);
            a_.cmova(wide_bound, x86::rax);
            break;
        case LaneProgram::Count::AboveSigned:
            a_.movsxd(x86::rax, x86::eax);
            a_.movsxd(wide_bound, bound);
            a_.add(x86::rax, most);
            a_.cmp(wide_bound, x86::rax);
            a_.cmovg(wide_bound, x86::rax);
            break;
        case LaneProgram::Count::Equal:
            a_.mov(left.r32(), bound);
            a_.sub(left.r32(), x86::eax);
            a_.add(x86::rax, most);
            a_.cmp(left, most);
            a_.cmova(bound, x86::eax);
            break;
    }
}

// When such a lane ends: `longest` is the greatest number of iterations that were charged, those
// that the budget has kept from running included, whose lanes are in `over`.
void BlockCompiler::LaneLoopCode::charge_lane(const LaneProgram& p, const Mem& over,
                                              const Mem& longest) const {
    const LaneProgram::Input &counter = p.inputs[p.count->counter],
                             &bound = p.inputs[p.count->bound];
    const Label goes_on = a_.newLabel(), charged = a_.newLabel(), kept = a_.newLabel();
    const Gp now = general(counter.reg, false);
    Mem limit = bound.value != no_value ? c_.home_mem(schedule_.uniform_home(bound.value))
                                        : lane_row(bound.low);
    limit.setSize(4);
    a_.mov(left.r32(), now);
    a_.sub(left.r32(), lane_row(counter.low));
    a_.cmp(now, limit);
    switch (p.count->until) {
        case LaneProgram::Count::Above:
            a_.jb(goes_on);
            break;
        case LaneProgram::Count::AboveSigned:
            a_.jl(goes_on);
            break;
        case LaneProgram::Count::Equal:
            a_.jne(goes_on);
            break;
    }
    cold(goes_on, [=, *this] {
        a_.lea(x86::rax, x86::ptr(lane, -lane_bias));
        a_.bts(over, x86::rax);
        a_.add(left, 1);
        a_.jmp(charged);
    });
    a_.bind(charged);
    a_.cmp(left, longest);
    a_.jbe(kept);
    a_.mov(longest, left);
    a_.bind(kept);
}

// Leaves the budget of the longest lane in the slot `least`, and the masks at home.
void BlockCompiler::LaneLoopCode::emit(const LaneProgram& p, uint32_t least, uint32_t slots) const {
    auto slot = [&](uint32_t n) {
        Mem m = c_.home_mem({Home::Slot, slots + n});
        m.setSize(8);
        return m;
    };
    const Mem lanes = slot(0), over = slot(1), most = slot(2), longest = slot(3);
    const Mem budget = budget_field();
    const Label each = a_.newLabel(), iteration = a_.newLabel(), done = a_.newLabel(),
                kept = a_.newLabel();
    a_.mov(over, 0);
    if (p.count) {
        // How many more iterations there may be behind a lane's first one.
        a_.mov(x86::rax, budget);
        a_.xor_(x86::edx, x86::edx);
        a_.mov(x86::ecx, block_->guest_count);
        a_.div(x86::rcx);
        a_.mov(x86::ecx, std::numeric_limits<int32_t>::max());
        a_.cmp(x86::rax, x86::rcx);
        a_.cmova(x86::rax, x86::rcx);
        a_.mov(most, x86::rax);
        a_.mov(longest, 0);
    }
    join_pairs(p);
    const auto shared = [&](const LaneProgram::Input& in) {
        const bool changes = std::ranges::any_of(p.first, [&](const LaneProgram::Step& s) {
            return !in.reg.vector && s.to.number == in.reg.number;
        });
        return is_shared(in) && !changes && !(p.count && &in == &p.inputs[p.count->bound]);
    };
    for (const LaneProgram::Input& in : p.inputs)
        if (shared(in)) load_input(p, in);
    if (const auto left = registers_left(p);
        is_masked(c_.options_.address_mode) && left.size() >= 2) {
        a_.mov(left[0], reach_field(offsetof(machine::ExecContext::Reach, mask)));
        a_.mov(left[1], reach_field(offsetof(machine::ExecContext::Reach, base)));
    }
    a_.mov(mask_register(*block_, x86::rax), exec_field(*block_));
    // From a lane's end, which nobody foresees, to the next one's first load is a way that the host
    // waits for: as short as it can be.
    a_.bind(each);
    a_.tzcnt(lane, x86::rax);
    a_.add(lane, lane_bias);
    a_.blsr(x86::rax, x86::rax);
    a_.mov(lanes, x86::rax);
    for (const LaneProgram::Input& in : p.inputs)
        if (!shared(in)) load_input(p, in);
    for (const LaneProgram::Step& s : p.first) emit_step(s);
    if (p.count)
        bound_lane(p, most);
    else
        a_.mov(left, budget);
    // Lanes of later waves go on where those of this one end, in all likelihood.
    constexpr int32_t ahead = 8192;
    for (const LaneProgram::Reg& r : p.streams)
        for (int32_t line : {0, 64}) a_.prefetcht1(x86::ptr(general(r, true), ahead + line));
    a_.bind(iteration);
    for (const LaneProgram::Step& s : p.steps) emit_step(s);
    c_.mark(p.compared);
    const bool wide_compare = LaneProgram::is_wide_compare(p.compare);
    const Gp a = general(p.a, wide_compare);
    if (p.b.number >= 0)
        a_.cmp(a, general(p.b, wide_compare));
    else
        a_.cmp(a, p.imm);
    for (const LaneProgram::Move& m : p.moves) {
        if (m.to.vector)
            a_.vmovaps(vector(m.to).xmm(), vector(m.from).xmm());
        else
            a_.mov(general(m.to, m.wide), general(m.from, m.wide));
    }
    // The lane operations stand in the order of the uniform ones.
    const auto uniform =
        static_cast<Op>(static_cast<int>(Op::UCmpEq32) + static_cast<int>(p.compare) -
                        static_cast<int>(wide_compare ? Op::CmpEq64 : Op::CmpEq32));
    const x86::CondCode holds = condition_of(uniform),
                        stop = p.negated ? holds : x86::negateCond(holds);
    if (p.count) {
        a_.j(x86::negateCond(stop), iteration);
        charge_lane(p, over, longest);
    } else {
        a_.j(stop, done);
        a_.sub(left, block_->guest_count);
        a_.jns(iteration);
        // The next iteration is charged and has not run.
        a_.lea(x86::rax, x86::ptr(lane, -lane_bias));
        a_.bts(over, x86::rax);
        a_.bind(done);
        a_.cmp(left, c_.home_mem({Home::Slot, least}));
        a_.jge(kept);
        a_.mov(c_.home_mem({Home::Slot, least}), left);
        a_.bind(kept);
    }
    for (const LaneProgram::Input& in : p.inputs)
        if (in.stored) store_output(in);
    a_.mov(x86::rax, lanes);
    a_.test(x86::rax, x86::rax);
    a_.jnz(each);
    if (p.count) {
        a_.mov(x86::rax, longest);
        a_.sub(x86::rax, 1);
        a_.imul(x86::rax, x86::rax, static_cast<int32_t>(block_->guest_count));
        a_.mov(left, budget);
        a_.sub(left, x86::rax);
        a_.mov(c_.home_mem({Home::Slot, least}), left);
    }
    a_.mov(x86::rax, over);
    a_.mov(c_.home_mem(schedule_.unit_home(schedule_.unit(plan_.divergent->live))), x86::rax);
}

// Where a lane finds the two rows of a pair as 64 bits, in temp rows that the block does not use.
Mem BlockCompiler::LaneLoopCode::pair_of(const LaneProgram& p, const LaneProgram::Input& in) const {
    const auto number = static_cast<uint32_t>(&in - p.inputs.data());
    const uint32_t temp = schedule_.temp_row_count() + 2 * number;
    return x86::ptr(
        reg::frame, lane, 3,
        in_frame(offsetof(Frame, temps)) + static_cast<int32_t>(temp * 256) - 8 * lane_bias);
}

void BlockCompiler::LaneLoopCode::join_pairs(const LaneProgram& p) const {
    const Vec low = vec(0), high = vec(1);
    const auto step = static_cast<int32_t>(c_.chunk_lanes() / 2);
    const Label more = a_.newLabel();
    a_.mov(lane, lane_bias);
    a_.bind(more);
    for (const LaneProgram::Input& in : p.inputs) {
        if (in.kind != LaneProgram::Input::RowPair) continue;
        Mem from_low = lane_row(in.low), from_high = lane_row(in.high);
        from_low.setSize(0);
        from_high.setSize(0);
        a_.emit(X::kIdVpmovzxdq, low, from_low);
        a_.emit(X::kIdVpmovzxdq, high, from_high);
        a_.emit(X::kIdVpsllq, high, high, Imm(32));
        a_.emit(X::kIdVpaddq, low, low, high);
        movu(pair_of(p, in), low);
    }
    a_.add(lane, step);
    a_.cmp(lane, lane_bias + static_cast<int32_t>(machine::lanes));
    a_.jl(more);
}

void BlockCompiler::LaneLoopCode::load_input(const LaneProgram& p,
                                             const LaneProgram::Input& in) const {
    using enum LaneProgram::Input::Kind;
    if (in.reg.vector) {
        if (in.kind == RowPair)
            a_.vmovsd(vector(in.reg).xmm(), pair_of(p, in));
        else
            a_.vmovss(vector(in.reg).xmm(), lane_row(in.low));
        return;
    }
    const Gp to = general(in.reg, true);
    if (in.kind == RowPair) {
        a_.mov(to, pair_of(p, in));
        return;
    }
    const bool uniform = in.value != no_value;
    const bool whole = uniform && block_->type(in.value) == ir::Type::U64;
    Mem from = uniform ? c_.home_mem(schedule_.uniform_home(in.value)) : lane_row(in.low);
    from.setSize(whole ? 8 : 4);
    a_.mov(whole ? to : Gp(to.r32()), from);
    if (in.kind == High || in.kind == UniformHigh) a_.shl(to, 32);
    if (in.kind != UniformRow) return;
    a_.mov(x86::eax, lane_row(in.high));
    a_.shl(x86::rax, 32);
    a_.or_(to, x86::rax);
}

// The last that is done with the register.
void BlockCompiler::LaneLoopCode::store_output(const LaneProgram::Input& in) const {
    const bool pair = in.kind == LaneProgram::Input::RowPair;
    if (in.reg.vector && !pair) {
        a_.vmovss(lane_row(in.low), vector(in.reg).xmm());
        return;
    }
    const Gp from = in.reg.vector ? Gp(x86::rax) : general(in.reg, true);
    if (in.reg.vector) a_.vmovq(from, vector(in.reg).xmm());
    a_.mov(lane_row(in.low), from.r32());
    if (!pair) return;
    a_.shr(from, 32);
    a_.mov(lane_row(in.high), from.r32());
}

// As quotient_of_fractions(), for one lane. The quotient may take an operand's register.
void BlockCompiler::LaneLoopCode::quotient_of_fractions(const LaneProgram::Step& s) const {
    const x86::Xmm q = vector(s.to).xmm(), n = vector(s.a).xmm(), r = vector(s.b).xmm(),
                   d = vector(s.c).xmm();
    const Label perhaps = a_.newLabel(), other = a_.newLabel(), back = a_.newLabel();
    const Op made_by = inst(inst(s.guest).args[1]).op;
    const bool integer = made_by == Op::CvtU32ToF32 || made_by == Op::CvtI32ToF32;
    auto unless_normal = [&](const x86::Xmm& x, const Label& to) {
        constexpr uint32_t least = 0x00800000u << 1, infinite = 0x7f800000u << 1;
        a_.vmovd(x86::eax, x);
        a_.add(x86::eax, x86::eax);  // without the sign
        a_.sub(x86::eax, least);
        a_.cmp(x86::eax, infinite - least);
        a_.jae(to);
    };
    const Mem numerator = frame_field(offsetof(Frame, data[2]), 4),
              divisor = frame_field(offsetof(Frame, address_lo), 4);
    const bool replaces_n = q == n, replaces_d = q == d;
    if (replaces_n) a_.vmovss(numerator, n);
    if (replaces_d) a_.vmovss(divisor, d);
    // An integer has a normal reciprocal, or an infinite one, which makes the quotient no number.
    if (!integer) unless_normal(r, other);
    a_.vmulss(q, n, r);
    unless_normal(q, perhaps);
    a_.bind(back);
    const Division division =
        inst(s.guest).imm ? Division::FractionsReciprocalFirst32 : Division::Fractions32;
    cold(perhaps, [=, *this] {  // the numerator itself, as in 0 / d
        replaces_n ? a_.vucomiss(q, numerator) : a_.vucomiss(q, n);
        a_.jp(other);
        a_.je(back);
        a_.jmp(other);
    });
    cold(other, [=, *this] {
        if (!replaces_n) a_.vmovss(numerator, n);
        if (!replaces_d) a_.vmovss(divisor, d);
        divide(s, division);
        a_.jmp(back);
    });
}

// The operands are in the frame.
void BlockCompiler::LaneLoopCode::divide(const LaneProgram::Step& s, Division division) const {
    a_.mov(frame_field(offsetof(Frame, mask), 8), 1);
    a_.mov(x86::eax, static_cast<uint32_t>(division));
    for (const Gp& r : {x86::rcx, x86::rdx}) a_.push(r);  // the stub keeps the others
    a_.call(frame_field(offsetof(Frame, division_stub), 8));
    for (const Gp& r : {x86::rdx, x86::rcx}) a_.pop(r);
    a_.vmovss(vector(s.to).xmm(), frame_field(offsetof(Frame, data[0]), 4));
}

// As lane_quotient(), for one lane.
void BlockCompiler::LaneLoopCode::quotient_of_steps(const LaneProgram::Step& s) const {
    const x86::Xmm q = vector(s.to).xmm(), n = vector(s.a).xmm(), d = vector(s.b).xmm();
    const Label other = a_.newLabel(), back = a_.newLabel();
    a_.vmovd(x86::eax, n);
    a_.and_(x86::eax, 0x7f800000);
    a_.cmp(x86::eax, 24 << 23);
    a_.je(other);
    a_.vdivss(q, n, d);
    a_.bind(back);
    cold(other, [=, *this] {
        a_.vmovss(frame_field(offsetof(Frame, data[2]), 4), n);
        a_.vmovss(frame_field(offsetof(Frame, address_lo), 4), d);
        divide(s, Division::Steps32);
        a_.jmp(back);
    });
}

// What a load reads; where addresses are masked, rax is part of it.
Mem BlockCompiler::LaneLoopCode::place_of(const LaneProgram::Step& load) const {
    const auto imm = static_cast<int32_t>(load.imm);
    const bool masked = is_masked(c_.options_.address_mode);
    Mem at = x86::ptr(general(load.a, true), masked ? 0 : imm);
    if (load.b.number >= 0) at.setIndex(general(load.b, true), load.scale);
    if (!masked) return at;
    a_.lea(x86::rax, at);
    const std::vector<Gp> left = registers_left(*plan_.lanes);
    if (left.size() < 2) {
        emit_reach(a_, x86::rax);
        return x86::ptr(x86::rax, imm);
    }
    a_.and_(x86::rax, left[0]);
    return x86::ptr(x86::rax, left[1], 0, imm);
}

void BlockCompiler::LaneLoopCode::emit_step(const LaneProgram::Step& s) const {
    using Step = LaneProgram::Step;
    c_.mark(s.guest);
    auto with = [&](InstId id, bool commutes) {
        const Gp to = general(s.to, s.wide), a = general(s.a, s.wide);
        if (s.b.number < 0) {
            if (to != a) a_.mov(to, a);
            a_.emit(id, to, Imm(s.imm));
            return;
        }
        const Gp b = general(s.b, s.wide);
        if (to == b && commutes) {
            a_.emit(id, to, a);
        } else if (to == b && to != a) {
            const Gp t = s.wide ? Gp(x86::rax) : Gp(x86::eax);
            a_.mov(t, a);
            a_.emit(id, t, b);
            a_.mov(to, t);
        } else {
            if (to != a) a_.mov(to, a);
            a_.emit(id, to, b);
        }
    };
    struct Row {
        Step::Do what;
        InstId id;
        bool commutes;
    };
    static constexpr Row general_rows[] = {
        {Step::Add, X::kIdAdd, true},  {Step::Sub, X::kIdSub, false},
        {Step::And, X::kIdAnd, true},  {Step::Or, X::kIdOr, true},
        {Step::Xor, X::kIdXor, true},  {Step::Mul, X::kIdImul, true},
        {Step::Shl, X::kIdShl, false}, {Step::Shr, X::kIdShr, false},
        {Step::Sar, X::kIdSar, false}};
    struct VectorRow {
        Step::Do what;
        InstId single, twice;
    };
    static constexpr VectorRow vector_rows[] = {{Step::FAdd, X::kIdVaddss, X::kIdVaddsd},
                                                {Step::FSub, X::kIdVsubss, X::kIdVsubsd},
                                                {Step::FMul, X::kIdVmulss, X::kIdVmulsd},
                                                {Step::FDiv, X::kIdVdivss, X::kIdVdivsd}};
    static constexpr Row extremes[] = {{Step::MinUnsigned, X::kIdCmova, true},
                                       {Step::MaxUnsigned, X::kIdCmovb, true},
                                       {Step::MinSigned, X::kIdCmovg, true},
                                       {Step::MaxSigned, X::kIdCmovl, true}};
    for (const Row& row : general_rows)
        if (row.what == s.what) return with(row.id, row.commutes);
    for (const VectorRow& row : vector_rows)
        if (row.what == s.what) {
            a_.emit(s.wide ? row.twice : row.single, vector(s.to).xmm(), vector(s.a).xmm(),
                    vector(s.b).xmm());
            return;
        }
    for (const Row& row : extremes)
        if (row.what == s.what) {
            const Gp to = general(s.to, false), a = general(s.a, false);
            Gp b = s.b.number < 0 ? Gp(x86::eax) : general(s.b, false);
            if (s.b.number < 0) a_.mov(b, s.imm);
            if (to == b)
                b = a;
            else if (to != a)
                a_.mov(to, a);
            a_.cmp(to, b);
            a_.emit(row.id, to, b);
            return;
        }
    switch (s.what) {
        case Step::FSqrt:
            a_.vsqrtss(vector(s.to).xmm(), vector(s.a).xmm(), vector(s.a).xmm());
            return;
        case Step::FromUnsigned:
        case Step::FromSigned: {
            const x86::Xmm to = vector(s.to).xmm();
            a_.vxorps(to, to, to);
            a_.vcvtsi2ss(to, to, general(s.a, s.what == Step::FromUnsigned));
            return;
        }
        case Step::FRcp: {
            // The quotient needs the divisor, too: it keeps its register.
            const x86::Xmm to = vector(s.to).xmm();
            a_.vmovss(to, c_.pool32(0x3f800000));
            a_.vdivss(to, to, vector(s.a).xmm());
            return;
        }
        case Step::FQuot:
            quotient_of_steps(s);
            return;
        case Step::FQuotient:
            quotient_of_fractions(s);
            return;
        case Step::Constant:
            a_.mov(general(s.to, false), s.imm);
            return;
        case Step::Copy:
            if (s.to.vector && s.a.vector)
                a_.vmovaps(vector(s.to).xmm(), vector(s.a).xmm());
            else if (s.to.vector)
                a_.emit(s.wide ? X::kIdVmovq : X::kIdVmovd, vector(s.to).xmm(),
                        general(s.a, s.wide));
            else if (s.a.vector)
                a_.emit(s.wide ? X::kIdVmovq : X::kIdVmovd, general(s.to, s.wide),
                        vector(s.a).xmm());
            else
                a_.mov(general(s.to, s.wide), general(s.a, s.wide));
            return;
        case Step::Sext:
            a_.movsxd(general(s.to, true), general(s.a, false));
            return;
        case Step::Load: {
            const Mem from = place_of(s);
            auto sized = [&](uint32_t bytes) {
                Mem m = from;
                m.setSize(bytes);
                return m;
            };
            if (s.to.vector && s.wide)
                a_.vmovsd(vector(s.to).xmm(), sized(8));
            else if (s.to.vector)
                a_.vmovss(vector(s.to).xmm(), sized(4));
            else if (s.access == ir::Access::Dwords)
                a_.mov(general(s.to, s.wide), sized(s.wide ? 8 : 4));
            else if (s.access == ir::Access::U8 || s.access == ir::Access::U16)
                a_.movzx(general(s.to, false), sized(s.access == ir::Access::U8 ? 1 : 2));
            else
                a_.movsx(general(s.to, false), sized(s.access == ir::Access::S8 ? 1 : 2));
            return;
        }
        case Step::FFma: {  // the operands in the order in which NaNs count: lane_fma()
            const Vec to = vector(s.to).xmm(), a = vector(s.a).xmm(), b = vector(s.b).xmm(),
                      c = vector(s.c).xmm();
            if (to == a) {
                a_.emit(s.wide ? X::kIdVfmadd132sd : X::kIdVfmadd132ss, to, c, b);
            } else if (to == b) {
                a_.emit(s.wide ? X::kIdVfmadd213sd : X::kIdVfmadd213ss, to, a, c);
            } else {
                if (to != c) a_.vmovaps(to.xmm(), c.xmm());
                a_.emit(s.wide ? X::kIdVfmadd231sd : X::kIdVfmadd231ss, to, a, b);
            }
            return;
        }
        default:  // in the tables
            return;
    }
}

}  // namespace wj::x64
