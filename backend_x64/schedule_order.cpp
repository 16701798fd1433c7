// The order of operations: of a region, where the program's keeps more values than there are
// registers, what each result is made of right in front of it, one result after the other; and of
// uniform segments.
// uniform segments.
#include <algorithm>
#include <functional>
#include <numeric>

#include "backend_x64/schedule.h"

namespace wj::x64 {

using ir::Class;
using ir::Inst;
using ir::Op;

namespace {

constexpr uint32_t outside = ~0u;

}  // namespace

// Which operations of the region must come before which: by place in the region.
struct Schedule::RegionGraph {
    std::vector<std::vector<uint32_t>> reads;   // places, of what each one's units are made by
    std::vector<std::vector<uint32_t>> before;  // and of all that it comes behind
    std::vector<uint32_t> users;                // how many reads each one has
    std::vector<uint32_t> units;                // that each one makes, in registers
};

// Whatever the order, the same happens: loads of the LDS neither fault nor change anything.
bool Schedule::may_reorder(uint32_t position) const {
    if (apart_[*begin(position)] != Apart::No) return false;
    return std::all_of(begin(position), end(position), [this](Value v) {
        const Inst& i = inst(v);
        switch (ir::op_info(i.op).cls) {
            case Class::Lane:
            case Class::GetV:
            case Class::SetV:
                return true;
            case Class::LaneLoad:
                return i.op == Op::LoadLds;
            default:
                return false;
        }
    });
}

Schedule::RegionGraph Schedule::region_graph(uint32_t position) const {
    const Value* const first = begin(position);
    const auto count = static_cast<uint32_t>(end(position) - first);
    RegionGraph graph;
    graph.reads.resize(count), graph.before.resize(count);
    graph.users.resize(count), graph.units.resize(count);
    std::vector<uint32_t> place(block_->insts.size(), outside), last_of_row(512, outside);
    std::vector<Unit> units;
    for (uint32_t n = 0; n < count; ++n) {
        const Value v = first[n];
        units.clear();
        units_read(v, units);
        for (Unit u : units) {
            const uint32_t made = place[producer_[u]];
            if (made == outside) continue;
            ++graph.users[made];
            graph.reads[n].push_back(made);
        }
        graph.before[n] = graph.reads[n];
        const Inst& i = inst(v);
        // What copies or writes a row does so in order. What reads one where it is has been read by
        // the time of a later write: lane_set() sees to that. And nothing comes in front of a write
        // that it comes behind in the program, as writes are results.
        if (i.op == Op::GetV || i.op == Op::SetV) {
            uint32_t& last = last_of_row[i.imm];
            if (last != outside) graph.before[n].push_back(last);
            last = n;
        }
        place[v] = n;
        const ir::Type type = ir::op_info(i.op).result;
        graph.units[n] = type == ir::Type::V64   ? 2
                         : type == ir::Type::T   ? std::max(1u, ir::aux_dwords(i.aux))
                         : type == ir::Type::V32 ? 1
                                                 : 0;
    }
    return graph;
}

// How many units wait for their users at once.
uint32_t Schedule::pressure(const RegionGraph& graph, const std::vector<uint32_t>& order) {
    std::vector<uint32_t> left = graph.users;
    uint32_t now = 0, most = 0;
    for (uint32_t n : order) {
        if (graph.users[n]) now += graph.units[n];
        most = std::max(most, now);
        for (uint32_t m : graph.reads[n])
            if (left[m] && !--left[m]) now -= graph.units[m];
    }
    return most;
}

// Results in the program's order, and in front of each, longest chains first, what it needs and
// nobody has needed before it.
std::vector<uint32_t> Schedule::result_by_result(const RegionGraph& graph) {
    const auto count = static_cast<uint32_t>(graph.before.size());
    std::vector<uint32_t> depth(count, 1), order;
    std::vector<bool> placed(count);
    for (uint32_t n = 0; n < count; ++n)
        for (uint32_t m : graph.before[n]) depth[n] = std::max(depth[n], depth[m] + 1);
    const std::function<void(uint32_t)> place = [&](uint32_t n) {
        if (placed[n]) return;
        placed[n] = true;
        std::vector<uint32_t> wanted = graph.before[n];
        std::ranges::stable_sort(wanted, std::greater(), [&](uint32_t m) { return depth[m]; });
        for (uint32_t m : wanted) place(m);
        order.push_back(n);
    };
    for (uint32_t n = 0; n < count; ++n)
        if (!graph.users[n]) place(n);
    return order;
}

void Schedule::order_for_registers() {
    // A few values in memory cost less than what no longer runs side by side (2 to 4 % of kernels
    // that keep 30 to 40).
    const uint32_t many = chunk_lanes_ == 16 ? 40 : 20;
    for (uint32_t p = 1; p < segments(); p += 2) {
        const Value* const first = begin(p);
        if (first == end(p) || !may_reorder(p)) continue;
        const RegionGraph graph = region_graph(p);
        std::vector<uint32_t> order(graph.before.size());
        std::iota(order.begin(), order.end(), 0);
        const uint32_t now = pressure(graph, order);
        if (now <= many) continue;
        order = result_by_result(graph);
        if (pressure(graph, order) >= now) continue;
        const std::vector<Value> values(first, end(p));
        for (uint32_t n = 0; n < order.size(); ++n) order_[start_[p] + n] = values[order[n]];
    }
}

// Uniform values that are made of one other are made where they are first wanted: both would be in
// registers until then. Not behind writes of scalar registers, which values may be read from.
void Schedule::delay_uniforms() {
    const auto n = block_->insts.size();
    std::vector<bool> wanted(n), waits(n), as_mask(n);  // BitsOf reads what its MaskOf is made of
    for (Value v = 0; v < n; ++v)
        for (const Value a : ir::used_args(inst(v)))
            if (a != no_value && inst(v).op == Op::MaskOf)
                as_mask[a] = true;
            else if (a != no_value && position_[a] == position_[v])
                wanted[a] = true;
    auto may_wait = [&](Value v) {
        return may_be_late(v) && !as_mask[v] && wanted[v] &&
               std::ranges::count_if(inst(v).args,
                                     [&](Value a) { return a != no_value && !is_const(a); }) == 1;
    };
    std::vector<Value> order, waiting;
    auto put = [&](auto& self, Value v) -> void {
        for (const Value a : ir::used_args(inst(v)))
            if (a != no_value && waits[a]) self(self, a);
        waits[v] = false;
        order.push_back(v);
    };
    for (uint32_t p = 0; p < segments(); p += 2) {
        order.clear(), waiting.clear();
        auto put_waiting = [&] {
            for (const Value v : waiting)
                if (waits[v]) put(put, v);
            waiting.clear();
        };
        for (const Value* v = begin(p); v != end(p); ++v) {
            const Class cls = ir::op_info(inst(*v).op).cls;
            if (cls == Class::SetS || cls == Class::Call || cls == Class::Cross ||
                cls == Class::Fence)
                put_waiting();
            if (may_wait(*v)) {
                waits[*v] = true;
                waiting.push_back(*v);
            } else {
                put(put, *v);
            }
        }
        put_waiting();
        std::ranges::copy(order, order_.begin() + start_[p]);
    }
}

}  // namespace wj::x64
