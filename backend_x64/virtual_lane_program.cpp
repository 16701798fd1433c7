#include "backend_x64/virtual_lane_program.h"

#include <algorithm>
#include <array>

namespace wj::x64 {

// Sums and small shifts that nothing but the load's address is made of.
void VirtualLaneProgram::fold_address(size_t load) {
    Step& l = steps[load];
    auto made_for = [&](Register r, LaneProgram::Step::Do what) -> Step* {
        Step* made = nullptr;
        uint32_t uses = 0;
        for (Step& s : steps) {
            if (s.gone) continue;
            if (s.to == r && s.step.what == what && s.step.wide) made = &s;
            uses += (s.a == r) + (s.b == r) + (s.c == r);
        }
        for (const auto& [to, from] : handed) uses += from == r;
        for (Register c : compared) uses += c == r;
        return uses == 1 ? made : nullptr;
    };
    if (l.b == none)
        if (Step* const sum = made_for(l.a, LaneProgram::Step::Add); sum && sum->b != none) {
            l.a = sum->a;
            l.b = sum->b;
            sum->gone = true;
        }
    if (l.b == none) return;
    for (bool again : {false, true}) {
        Step* const shift = made_for(l.b, LaneProgram::Step::Shl);
        if (shift && shift->b == none && shift->step.imm <= 3) {
            l.step.scale = static_cast<uint32_t>(shift->step.imm);
            l.b = shift->a;
            shift->gone = true;
            break;
        }
        if (!again) std::swap(l.a, l.b);
    }
}

// An input that iterations leave as it is.
bool VirtualLaneProgram::stays(Register r) const {
    return r != none && registers[static_cast<size_t>(r)].input &&
           std::ranges::none_of(handed, [r](const auto& h) { return h.first == r; });
}

// base + ((low | upper) << scale), where nobody else wants the upper half: it goes into the base,
// once for all iterations.
void VirtualLaneProgram::fold_upper_half(size_t load) {
    Step& l = steps[load];
    if (l.b == none || !stays(l.a)) return;
    Step* joined = nullptr;
    Register upper = none;
    const auto uses = [this](Register r) {
        size_t count = 0;
        for (const Step& s : steps)
            if (!s.gone) count += (s.a == r) + (s.b == r) + (s.c == r);
        for (const auto& [to, from] : handed) count += from == r;
        for (Register c : compared) count += c == r;
        return count;
    };
    for (Step& s : steps)
        if (!s.gone && s.to == l.b && s.step.what == LaneProgram::Step::Or && s.step.wide)
            joined = &s, upper = s.b;
    const auto in = std::ranges::find_if(inputs, [&](const auto& i) {
        return i.second == upper && (i.first.kind == LaneProgram::Input::High ||
                                     i.first.kind == LaneProgram::Input::UniformHigh);
    });
    if (!joined || in == inputs.end() || !stays(upper) || upper == l.a || uses(l.b) != 1 ||
        uses(upper) != 1 || registers[static_cast<size_t>(joined->a)].wide)
        return;
    LaneProgram::Step step{};
    step.wide = true;
    step.guest = l.step.guest;
    step.what = LaneProgram::Step::Shl;
    step.imm = l.step.scale;
    first.push_back({step, upper, upper, none, none});
    step.what = LaneProgram::Step::Add;
    first.push_back({step, upper, upper, l.a, none});
    l.a = upper;
    l.b = joined->a;
    joined->gone = true;
}

VirtualLaneProgram::Register VirtualLaneProgram::root(Register r) const {
    while (r != none && registers[static_cast<size_t>(r)].same != none)
        r = registers[static_cast<size_t>(r)].same;
    return r;
}

bool VirtualLaneProgram::lower(LaneProgram& out) {
    for (size_t n = 0; n < steps.size(); ++n)
        if (steps[n].step.what == LaneProgram::Step::Load) fold_address(n), fold_upper_half(n);
    std::erase_if(steps, [](const Step& s) { return s.gone; });
    for (uint32_t n = 0; n < steps.size(); ++n)
        registers[static_cast<size_t>(steps[n].to)].from = n;
    const auto end = static_cast<uint32_t>(steps.size());
    auto reads = [&](Register r, uint32_t at) {
        if (r != none) registers[static_cast<size_t>(r)].to = at;
    };
    for (uint32_t n = 0; n < end; ++n)
        for (Register r : {steps[n].a, steps[n].b, steps[n].c}) reads(r, n);
    for (Register r : compared) reads(r, end);
    for (const auto& [to, from] : handed) {
        // A new value takes the old one's register if nobody wants that any more.
        Info &old = registers[static_cast<size_t>(to)], &now = registers[static_cast<size_t>(from)];
        if (to == from) continue;
        const bool free = !now.input && now.same == none && now.from >= old.to;
        if (free) {
            now.same = to;
        } else {
            if (now.input) return false;  // it may have changed by then
            reads(from, end);
        }
    }
    // Inputs stay; the others are taken in the order of the steps.
    std::array<uint32_t, LaneProgram::general_count> general{};
    std::array<uint32_t, LaneProgram::vector_count> vector{};
    auto take = [&](Info& s, uint32_t from, uint32_t to) {
        auto try_in = [&](auto& busy) {
            for (size_t n = 0; n < busy.size(); ++n)
                if (busy[n] <= from) {
                    busy[n] = to;
                    s.reg = {static_cast<int8_t>(n), s.vector};
                    return true;
                }
            return false;
        };
        return s.vector ? try_in(vector) : try_in(general);
    };
    for (const auto& [in, r] : inputs)
        if (!take(registers[static_cast<size_t>(r)], 0, ~0u)) return false;
    for (uint32_t n = 0; n < end; ++n) {
        const Step& s = steps[n];
        Info& to = registers[static_cast<size_t>(s.to)];
        if (to.same != none) continue;
        // Best in place of the operand that x86 replaces, if that ends here.
        const Register first = root(s.step.what == LaneProgram::Step::FFma        ? s.c
                                    : s.step.what == LaneProgram::Step::FQuotient ? s.b
                                                                                  : s.a);
        const bool replaces = first != none && registers[static_cast<size_t>(first)].to <= n &&
                              !registers[static_cast<size_t>(first)].input &&
                              registers[static_cast<size_t>(first)].vector == to.vector;
        if (replaces) {
            to.reg = registers[static_cast<size_t>(first)].reg;
            (to.vector ? vector[static_cast<size_t>(to.reg.number)]
                       : general[static_cast<size_t>(to.reg.number)]) = std::max(to.to, n);
        } else if (!take(to, n, std::max(to.to, n))) {
            return false;
        }
    }
    auto real_reg = [&](Register r) {
        return r == none ? LaneProgram::Reg{} : registers[static_cast<size_t>(root(r))].reg;
    };
    for (auto& [in, r] : inputs) {
        in.reg = real_reg(r);
        in.stored = std::ranges::any_of(handed, [&](const auto& h) { return h.first == r; });
        out.inputs.push_back(in);
    }
    for (auto [from, to] : {std::pair(&first, &out.first), std::pair(&steps, &out.steps)})
        for (Step& s : *from) {
            s.step.to = real_reg(s.to);
            s.step.a = real_reg(s.a);
            s.step.b = real_reg(s.b);
            s.step.c = real_reg(s.c);
            to->push_back(s.step);
        }
    for (const auto& [to, from] : handed)
        if (root(to) != root(from))
            out.moves.push_back(
                {real_reg(to), real_reg(from), registers[static_cast<size_t>(to)].wide});
    for (const Step& s : steps)
        if (s.step.what == LaneProgram::Step::Load && registers[static_cast<size_t>(s.a)].input &&
            std::ranges::any_of(handed, [&](const auto& h) { return h.first == s.a; }))
            out.streams.push_back(real_reg(s.a));
    out.a = real_reg(compared[0]);
    out.b = real_reg(compared[1]);
    return true;
}

}  // namespace wj::x64
