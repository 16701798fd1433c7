#include "backend_x64/plan/loop_plan.h"

#include <algorithm>
#include <tuple>

#include "backend_x64/gathered_lanes.h"
#include "backend_x64/loop_estimate.h"
#include "backend_x64/plan/access_plan.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using machine::Wave;
using Chunks = LoopLimits::Chunks;
using Order = LoopPlan::Order;
using Control = LoopPlan::Control;

bool LoopPins::is_idle(Value set) const {
    return std::ranges::any_of(idle, [&](const auto& i) { return i.set == set || i.high == set; });
}

LoopPlan find_loop(const PlanContext& c, const LoopLimits& limits) {
    LoopPlan plan;
    const bool by_chunks = limits.chunks != Chunks::None && guards_stay(c.block);
    if (by_chunks) plan.divergent = find_divergent_loop(c.block);
    if (plan.divergent && !suits(c, *plan.divergent)) plan.divergent.reset();
    if (plan.divergent) {
        plan.order = Order::ChunksOut;
        plan.control = Control::UntilEmpty;
        plan.masks = plan.divergent->carried;
        take(c.options.decisions, Mechanism::DivergentLoop);
    } else if (by_chunks) {
        if (auto masks = uniform_loop_masks(c, false)) {
            plan.order = Order::ChunksOut;
            plan.masks = std::move(*masks);
        }
    }
    return plan;
}

std::vector<int32_t> changed_scalars(const PlanContext& c) {
    std::vector<int32_t> changed;
    for (Value v = 0; v < c.block.insts.size(); ++v) {
        const ir::Inst& i = c.inst(v);
        if (ir::op_info(i.op).cls != Class::SetS || c.schedule.position(v) != 0) continue;
        const auto field = static_cast<int32_t>(
            i.op == Op::SetScc ? offsetof(Wave, scc) : offsetof(Wave, sgpr) + i.imm * 4);
        changed.push_back(field);
        if (i.op == Op::SetS64) changed.push_back(field + 4);
    }
    std::ranges::sort(changed);
    const auto rest = std::ranges::unique(changed);
    changed.erase(rest.begin(), rest.end());
    return changed;
}

uint32_t find_row_walks(const PlanContext& c, const Walks& walks, bool divergent) {
    uint32_t row_walks = 0;
    for (uint32_t w = 0; w < walks.walks.size(); ++w) {
        const Walks::Walk& walk = walks.walks[w];
        const ir::Inst& load = c.inst(walk.first);
        const bool alone = std::ranges::count(walks.number, w + 1) == 1;
        if (alone && walk.whole_step() == 4 && !walk.all_lanes && !divergent &&
            (!walk.base_varies || load.aux & ir::far_lanes) &&
            ir::aux_access(load.aux) == ir::Access::Dwords && ir::aux_dwords(load.aux) == 1)
            row_walks |= 1u << w;
    }
    return row_walks;
}

static void plan_walks(LoopPlan& plan, const PlanContext& c, const LoopLimits& limits) {
    if (!limits.walks || is_checked(c.options.address_mode)) return;
    plan.walks = find_walks(c.block, c.schedule, plan.divergent);
    if (plan.walks.walks.empty()) {
        refuse(c.options.decisions, Mechanism::Walks, "no load's address grows evenly");
        return;
    }
    take(c.options.decisions, Mechanism::Walks);
    plan.row_walks = find_row_walks(c, plan.walks, plan.divergent.has_value());
}

static void plan_counter(LoopPlan& plan, const PlanContext& c) {
    plan.counted = find_counter(c.block, c.schedule);
    if (!plan.counted) {
        refuse(c.options.decisions, Mechanism::CountedLoop, "no scalar counts to a bound");
        return;
    }
    plan.control = Control::Counted;
    take(c.options.decisions, Mechanism::CountedLoop);
}

// Divergent loops whose chunks stop after some iterations, so that the lanes that are left, if they
// are few, go on in fewer chunks: where they only compute.
static std::optional<OrderedLoop> find_slices(const PlanContext& c) {
    const bool computes = std::ranges::none_of(c.block.insts, [](const ir::Inst& i) {
        const Class cls = ir::op_info(i.op).cls;
        return cls == Class::LaneLoad || cls == Class::LaneStore || i.op == Op::Guard;
    });
    if (!computes || c.block.lanes < c.block.wave_size) return {};
    auto loop = find_ordered_loop(c.block);
    if (loop && loop->masks.size() > GatheredLanes::most_masks) loop.reset();
    return loop;
}

static void plan_until_empty(LoopPlan& plan, const PlanContext& c) {
    for (const ir::Inst& i : c.block.insts) {
        if (i.op != Op::BitsOf) continue;
        const Unit u = c.schedule.unit(i.args[0]);
        if (!std::ranges::count(plan.masks_out, u)) plan.masks_out.push_back(u);
    }
    plan.compacted = find_slices(c);
    if (is_checked(c.options.address_mode)) return;
    plan.lanes = find_lane_program(c.block, *plan.divergent);
    if (plan.lanes && c.schedule.temp_row_count() + 2 * plan.lanes->inputs.size() > temp_rows)
        plan.lanes.reset();
    if (!plan.lanes) return;
    plan.order = Order::LanesOut;
    take(c.options.decisions, Mechanism::LaneProgram);
}

// How many chunks run together, if what they hand on fits.
static uint32_t chunks_together(const LoopPlan& plan, const PlanContext& c,
                                const LoopLimits& limits) {
    uint32_t chunks = 1;
    if (plan.parts.count == 1 && limits.chunks == Chunks::Several)
        chunks = c.options.loop_chunks ? c.options.loop_chunks
                                       : chunks_that_pay(c.block, c.schedule, plan.divergent,
                                                         plan.walks, c.has_masks());
    while (c.block.lanes / c.chunk_lanes() % chunks) chunks /= 2;
    if (only_reads_rows(c, plan.walks, plan.row_walks)) chunks = 1;
    while (chunks * count_far_row_walks(c, plan.walks, plan.row_walks) > sizeof(Frame::scattered))
        chunks /= 2;
    return chunks;
}

static void plan_registers(LoopPlan& plan, const PlanContext& c, uint32_t chunks) {
    const bool keeps_scalar = !plan.divergent && !c.schedule.uses_mask_slots(1);
    for (uint32_t part = 0; part < plan.parts.count; ++part) {
        LoopPins pins = plan_pins(c, plan, part, chunks);
        pins.idle = find_idle_rows(c, plan, pins);
        if (keeps_scalar) std::tie(pins.scalar_get, pins.scalar_set) = find_kept_scalar(c);
        plan.pins.push_back(std::move(pins));
    }
}

// Where stores keep the order of lanes, all chunks go on while the loop has few of them.
static void plan_compaction(LoopPlan& plan, const PlanContext& c) {
    if (!guards_stay(c.block)) return;
    plan.compacted = find_ordered_loop(c.block);
    if (plan.compacted && plan.compacted->masks.size() > GatheredLanes::most_masks)
        plan.compacted.reset();
    if (!plan.compacted) return;
    plan.control = Control::UntilEmpty;
    take(c.options.decisions, Mechanism::CompactedLanes);
}

void plan_iterations(LoopPlan& plan, const PlanContext& c, const LoopLimits& limits) {
    if (!plan.by_chunks()) return plan_compaction(plan, c);
    plan.changed = changed_scalars(c);
    if (plan.divergent) {
        plan_until_empty(plan, c);
        plan_walks(plan, c, limits);
    } else {
        if (plan.masks.empty()) plan.parts = split_loop(c);
        take(c.options.decisions, Mechanism::UniformLoop);
        const bool counts = !uses_accumulators(c.block);  // in the register of their rows
        if (counts) plan_counter(plan, c);
        if (counts && plan.parts.count == 1) plan_walks(plan, c, limits);
    }
    plan_registers(plan, c, chunks_together(plan, c, limits));
}

std::optional<RowLoopPlan> plan_row_loop(const PlanContext& c, const LoopLimits& limits) {
    if (!limits.row_loops || limits.chunks == Chunks::None || is_checked(c.options.address_mode) ||
        !is_uniform_loop(c) || !guards_stay(c.block) || uses_accumulators(c.block))
        return {};
    const auto stores = [](const ir::Inst& i) {
        return ir::op_info(i.op).cls == Class::LaneStore && space_of(i.op) == global_space;
    };
    if (std::ranges::none_of(c.block.insts, stores)) return {};
    RowLoopPlan plan;
    const MemoryTraits memory{.exclusive = c.options.exclusive, .direct = true, .any_order = true};
    const PlanContext own{c.block, plan.schedule, c.options};
    if (!plan.schedule.build(c.block, c.has_masks(), memory) || !plan.schedule.sum_rows().empty() ||
        !uniform_loop_masks(own, true))
        return {};
    plan.loop.walks = find_walks(c.block, plan.schedule, {}, true);
    auto windows = find_row_loop(c.block, plan.schedule, plan.loop.walks, c.width());
    if (!windows) {
        refuse(c.options.decisions, Mechanism::RowLoop, "lanes do not go along rows of their own");
        return {};
    }
    take(c.options.decisions, Mechanism::RowLoop);
    plan.windows = std::move(*windows);
    plan.schedule.merge_early(1);
    plan.loop.order = Order::ChunksOut;
    plan.loop.changed = changed_scalars(own);
    plan_counter(plan.loop, own);
    plan_registers(plan.loop, own, 1);
    return plan;
}

}  // namespace wj::x64
