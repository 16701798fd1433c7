#include "backend_x64/plan/loops.h"

#include <algorithm>

#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using ir::Terminator;

constexpr size_t most_loop_masks = 8;  // what no register is left for has a slot for each chunk

// A mask that chunks of a uniform loop may keep: it is made in the region, and read by one value.
static std::optional<LoopMask> loop_mask(const PlanContext& c, Value get) {
    const auto m = find_loop_mask(c.block, get);
    if (!m || c.schedule.position(m->mask) != 1 || c.schedule.is_full(m->mask) ||
        c.schedule.uniform_home(get).kind != Home::Wave)
        return {};
    const auto reads = [&](const ir::Inst& i) { return i.op == Op::MaskOf && i.args[0] == get; };
    return std::ranges::count_if(c.block.insts, reads) == 1 ? m : std::nullopt;
}

std::optional<std::vector<LoopMask>> uniform_loop_masks(const PlanContext& c, bool with_stores) {
    const Terminator& t = c.block.term;
    const auto no = [&](std::string_view why) {
        refuse(c.options.decisions, with_stores ? Mechanism::RowLoop : Mechanism::UniformLoop, why);
        return std::nullopt;
    };
    if (!is_uniform_loop(c)) {
        if (t.kind != Terminator::Kind::Branch || (t.target != c.block.pc && t.next != c.block.pc))
            return {};
        return no("what decides about another iteration is no scalar, or EXEC or MODE change");
    }
    if (c.schedule.segments() != 3 || c.schedule.begin(1) == c.schedule.end(1))
        return no("scalar code lies between its lane regions");
    if (c.schedule.position(t.cond) != 0) return no("its condition depends on lanes");
    // Uniform code behind the region may only write registers that the loop does not read, as it
    // runs once, at the end, or reads as masks that chunks hand on.
    std::vector<bool> late(132);
    for (const Value* v = c.schedule.begin(2); v != c.schedule.end(2); ++v) {
        const ir::Inst& i = c.inst(*v);
        const Class cls = ir::op_info(i.op).cls;
        if (cls == Class::ULoad) return no("scalar loads behind the lane region");
        if (cls != Class::SetS) continue;
        late[i.op == Op::SetScc ? 130 : i.imm] = true;
        if (i.op == Op::SetS64) late[i.imm + 1] = true;
    }
    std::vector<LoopMask> masks;
    for (Value v = 0; v < c.block.insts.size(); ++v) {
        const ir::Inst& i = c.inst(v);
        if (ir::op_info(i.op).cls != Class::GetS) continue;
        if (!late[i.op == Op::GetScc ? 130 : i.imm] && !(i.op == Op::GetS64 && late[i.imm + 1]))
            continue;
        const auto mask = with_stores ? std::nullopt : loop_mask(c, v);
        if (!mask || masks.size() == most_loop_masks)
            return no("a scalar that lanes make is wanted by the next iteration");
        masks.push_back(*mask);
    }
    // Memory that another wave changes must not make the chunks disagree about the number of
    // iterations.
    std::vector<bool> from_memory(c.block.insts.size()), changing(132);
    for (bool again = true; again;) {
        again = false;
        for (Value v = 0; v < c.block.insts.size(); ++v) {
            const ir::Inst& i = c.inst(v);
            const Class cls = ir::op_info(i.op).cls;
            if ((cls == Class::LaneStore && !with_stores) || cls == Class::LaneAtomic ||
                cls == Class::Cross || cls == Class::Fence || cls == Class::Call)
                return no("stores, atomics, lanes that meet, fences or calls");
            if (cls == Class::ULoad) {
                if (is_checked(
                        c.options.address_mode))  // its helper does not keep vector registers
                    return no("scalar loads of checked memory");
                from_memory[v] = true;
            } else if (cls == Class::GetS) {
                const size_t r = i.op == Op::GetScc ? 130 : i.imm;
                from_memory[v] = changing[r] || (i.op == Op::GetS64 && changing[r + 1]);
            } else if (cls == Class::Uniform || cls == Class::SetS) {
                bool any = false;
                for (Value a : i.args) any |= a != no_value && from_memory[a];
                from_memory[v] = any;
                if (cls == Class::SetS && any) {
                    const size_t r = i.op == Op::SetScc ? 130 : i.imm;
                    again |= !changing[r] || (i.op == Op::SetS64 && !changing[r + 1]);
                    changing[r] = true;
                    if (i.op == Op::SetS64) changing[r + 1] = true;
                }
            }
        }
    }
    if (from_memory[t.cond]) return no("its condition depends on memory that may change");
    return masks;
}

bool suits(const PlanContext& c, const DivergentLoop& loop) {
    const auto no = [&](std::string_view why) {
        return refuse(c.options.decisions, Mechanism::DivergentLoop, why);
    };
    if (c.schedule.segments() != 3 || c.schedule.begin(1) == c.schedule.end(1))
        return no("scalar code lies between its lane regions");
    // The helpers of checked loads keep no vector registers.
    if (is_checked(c.options.address_mode) && loop.uniform_varies)
        return no("scalar loads of checked memory");
    for (Value v = 0; v < c.block.insts.size(); ++v) {
        const ir::Inst& i = c.inst(v);
        const Class cls = ir::op_info(i.op).cls;
        if (i.op == Op::BitsOf &&
            (c.schedule.is_full(i.args[0]) ||
             c.schedule.unit_home(c.schedule.unit(i.args[0])).kind != Home::Slot))
            return no("a mask is wanted as a scalar");
        // What the lanes do not decide must be known in front of the region.
        if (cls == Class::ULoad && c.schedule.position(v) != 0)
            return no("scalar loads behind the lane region");
        if (cls == Class::SetS && c.schedule.position(v) != 0 && !loop.late[v])
            return no("the next iteration wants a scalar that lanes make");
    }
    return std::all_of(loop.carried.begin(), loop.carried.end(), [&](const auto& m) {
        return c.schedule.uniform_home(m.get).kind == Home::Wave;
    });
}

LoopParts split_loop(const PlanContext& c) {
    LoopParts parts;
    const auto count = static_cast<uint32_t>(c.schedule.end(1) - c.schedule.begin(1));
    const Value* const body = c.schedule.begin(1);
    constexpr uint32_t rows = 512, none = ~0u;
    std::vector<Unit> units;
    std::vector<uint32_t> parent(count + rows), node(c.block.insts.size(), none);
    for (uint32_t i = 0; i < parent.size(); ++i) parent[i] = i;
    auto find = [&](uint32_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    std::vector<bool> set(rows), carried(rows), seen(c.schedule.unit_count());
    uint32_t only_read = 0;
    for (uint32_t i = 0; i < count; ++i) {
        node[body[i]] = i;
        if (c.inst(body[i]).op == Op::SetV) set[c.inst(body[i]).imm] = true;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const ir::Inst& x = c.inst(body[i]);
        if (x.op == Op::SetV || (x.op == Op::GetV && set[x.imm]))
            parent[find(i)] = find(count + static_cast<uint32_t>(x.imm));
        units.clear();
        c.schedule.units_read(body[i], units);
        for (Unit u : units) {
            const Value p = c.schedule.producer(u);
            if (node[p] != none) parent[find(i)] = find(node[p]);
            if (c.inst(p).op != Op::GetV || !set[c.inst(p).imm]) {
                only_read += node[p] == none && !seen[u];
                seen[u] = true;
                continue;
            }
            parent[find(i)] = find(count + static_cast<uint32_t>(c.inst(p).imm));
            carried[c.inst(p).imm] = true;
        }
    }
    std::vector<uint32_t> rows_of(parent.size());
    uint32_t total = 0, largest = 0;
    for (uint32_t r = 0; r < rows; ++r) {
        if (!carried[r]) continue;
        ++total;
        largest = std::max(largest, ++rows_of[find(count + r)]);
    }
    const uint32_t room = c.has_masks() ? 24 : 12;
    // Eight rows at a time still hide the latency of arithmetic.
    const uint32_t wanted = std::max((total + room - 1) / room,
                                     std::min(total / 8, (total + only_read + room) / (room + 4)));
    if (wanted <= 1 || largest > room / 2) return parts;
    const uint32_t share = (total + wanted - 1) / wanted;
    std::vector<uint32_t> part_of(parent.size(), none);
    parts.of.resize(count);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t root = find(i);
        if (part_of[root] == none) {
            if (filled && filled + rows_of[root] > share) ++parts.count, filled = 0;
            part_of[root] = parts.count - 1;
            filled += rows_of[root];
        }
        parts.of[i] = static_cast<uint8_t>(part_of[root]);
    }
    return parts;
}

int alive_at_once(const PlanContext& c, std::span<const Value> region,
                  std::span<const uint8_t> reads, const LoopParts& parts, uint32_t part) {
    const auto count = static_cast<uint32_t>(region.size());
    std::vector<Unit> units;
    std::vector<int> change(count + 1);
    std::vector<uint32_t> last(c.schedule.unit_count());
    std::vector<bool> handed_on(c.schedule.unit_count());
    for (uint32_t i = 0; i < count; ++i) {
        if (parts.is_other(i, part)) continue;
        const Value v = region[i];
        const bool set = c.inst(v).op == Op::SetV && !reads.empty();
        if (set && reads[c.inst(v).imm]) handed_on[c.schedule.unit(c.inst(v).args[0])] = true;
        units.clear();
        c.schedule.units_read(v, units);
        if (set && !reads[c.inst(v).imm]) continue;  // not in the lean body
        for (Unit u : units) last[u] = i;
    }
    int alive = 0, most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (parts.is_other(i, part)) continue;
        const Value v = region[i];
        const ir::Type type = ir::op_info(c.inst(v).op).result;
        if (type == ir::Type::N || (type == ir::Type::M && c.has_masks())) continue;
        const uint32_t registers = type == ir::Type::V64 ? 2
                                   : type == ir::Type::T ? ir::aux_dwords(c.inst(v).aux)
                                                         : 1;
        for (uint32_t n = 0; n < registers; ++n) {
            const Unit u = c.schedule.unit(v, n);
            if (handed_on[u] || last[u] <= i) continue;
            ++change[i];
            --change[last[u]];
        }
    }
    for (int more : change) most = std::max(most, alive += more);
    return most;
}

bool have_simple_lowerings(const PlanContext& c, const Value* begin, uint32_t count) {
    return std::all_of(begin, begin + count, [&](Value v) {
        const Op op = c.inst(v).op;
        return op == Op::SetV || op == Op::FFma32 || op == Op::FAdd32 || op == Op::FSub32 ||
               op == Op::FMul32 || op == Op::Add32 || op == Op::Sub32 || op == Op::And32 ||
               op == Op::Or32 || op == Op::Xor32;
    });
}

bool only_reads_rows(const PlanContext& c, const Walks& walks, uint32_t row_walks) {
    if (walks.walks.empty() || row_walks != (1u << walks.walks.size()) - 1) return false;
    return std::ranges::all_of(
        walks.walks, [&](const Walks::Walk& w) { return c.inst(w.first).aux & ir::far_lanes; });
}

uint32_t count_far_row_walks(const PlanContext& c, const Walks& walks, uint32_t row_walks) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < walks.walks.size(); ++w)
        count += row_walks >> w & 1 && c.inst(walks.walks[w].first).aux & ir::far_lanes;
    return count;
}

}  // namespace wj::x64
