// Plans of loops as text: one line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backend_x64/plan/loop_plan.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using machine::Wave;

static constexpr std::string_view order_texts[] = {"chunks in", "chunks out",
                                                   "lanes out, or chunks out"};
static constexpr std::string_view control_texts[] = {"uniform", "counted", "until empty"};

using Names = std::vector<std::string>;

static void add(Names& to, std::string name) {
    if (!std::ranges::count(to, name)) to.push_back(std::move(name));
}

static std::string scalar_name(int32_t field) {
    if (field == static_cast<int32_t>(offsetof(Wave, scc))) return "scc";
    return fmt::format("s{}", (field - static_cast<int32_t>(offsetof(Wave, sgpr))) / 4);
}

// What a part of the body keeps in registers, and what its iterations leave out.
static void add_pins(Names& to, const ir::Block& block, const LoopPins& pins) {
    Names carried, rows, unread, idle;
    uint32_t values = 0;
    const auto row = [&](Value v) { return fmt::format("v{}", block.insts[v].imm); };
    for (const Pin& p : pins.carried) add(p.unit == no_unit ? unread : carried, row(p.set));
    for (const Value set : pins.unread) add(unread, row(set));
    for (const Walks::Induction& i : pins.idle)
        for (const Value set : {i.set, i.high})
            if (set != no_value) add(idle, row(set));
    for (const Pin& p : pins.steady) values += p.chunk == every_chunk || !p.chunk;
    if (pins.chunks > 1) to.push_back(fmt::format("{} together", pins.chunks));
    if (!carried.empty()) to.push_back(fmt::format("hands on {}", fmt::join(carried, " ")));
    if (values) to.push_back(fmt::format("keeps {} value{}", values, values > 1 ? "s" : ""));
    if (!unread.empty()) to.push_back(fmt::format("writes {} at the end", fmt::join(unread, " ")));
    if (!idle.empty()) to.push_back(fmt::format("makes up for {}", fmt::join(idle, " ")));
    if (pins.scalar_set != no_value)
        to.push_back(fmt::format("s{} in a register", block.insts[pins.scalar_set].imm));
}

std::string LoopPlan::print(const ir::Block& block) const {
    Names texts{std::string(order_texts[static_cast<size_t>(order)]),
                std::string(control_texts[static_cast<size_t>(control)])};
    if (compacted) texts.push_back("few lanes are compacted");
    if (pins.size() > 1) texts.push_back(fmt::format("{} parts", pins.size()));
    for (const LoopPins& part : pins) add_pins(texts, block, part);
    Names of_masks, restored;
    for (const LoopMask& m : masks) add(of_masks, fmt::format("s{}", m.reg));
    if (!masks.empty()) texts.push_back(fmt::format("masks {}", fmt::join(of_masks, " ")));
    if (const size_t count = walks.walks.size())
        texts.push_back(fmt::format("{} walk{}", count, count > 1 ? "s" : ""));
    for (const int32_t field : changed) add(restored, scalar_name(field));
    if (!restored.empty()) texts.push_back(fmt::format("restores {}", fmt::join(restored, " ")));
    return fmt::format("{}", fmt::join(texts, "; "));
}

void tell(const PlanContext& c, const LoopPlan& plan) {
    if (c.options.decisions && repeats_itself(c.block))
        c.options.decisions->add_loop(plan.print(c.block));
}

}  // namespace wj::x64
