#include "backend_x64/memory_order.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "backend_x64/plan/access_plan.h"
#include "machine/wave.h"

namespace wj::x64 {

using ir::Class;
using ir::Inst;
using ir::Op;

uint32_t merging_atomic(const Inst& i, uint32_t uses) {
    if (ir::op_info(i.op).cls != Class::LaneAtomic || uses) return 0;
    return ir::atomic_commutes(ir::aux_atomic(i.aux)) ? i.aux + 1 : 0;
}

uint32_t spaces(Op op) {
    switch (space_of(op)) {
        case lds_space:
            return in_lds;
        case scratch_space:
            return in_scratch;
        case buffer_space:
            return in_global | in_scratch;
        case flat_space:
            return in_global | in_lds | in_scratch;
        case global_space:
            break;
    }
    return in_global;
}

bool writes_lds(const ir::Block& block) {
    return std::ranges::any_of(block.insts, [](const Inst& i) {
        const Class cls = ir::op_info(i.op).cls;
        return cls == Class::Call ||
               ((cls == Class::LaneStore || cls == Class::LaneAtomic) && (spaces(i.op) & in_lds));
    });
}

bool own_elements_in_lds(const ir::Block& block) {
    const ir::Inst* first = nullptr;
    std::set<std::pair<int64_t, uint32_t>> accesses;  // offset and bytes
    for (const ir::Inst& i : block.insts) {
        if (!ir::is_lane_access(i) || !(spaces(i.op) & in_lds)) continue;
        if (i.op != Op::LoadLds && i.op != Op::StoreLds) return false;
        if (!first) first = &i;
        if (i.args[0] != first->args[0] || i.imm >> 32 != first->imm >> 32) return false;
        accesses.insert({ir::immediate(i), ir::access_bytes(i)});
    }
    constexpr size_t most_accesses = 8;
    if (!first || accesses.size() > most_accesses) return false;
    const ir::Inst& line = block.insts[first->args[0]];
    if (line.op != Op::Line32 || block.insts[line.args[1]].op != Op::Const32) return false;
    const auto step = static_cast<int32_t>(block.insts[line.args[1]].imm);
    struct Element {
        int64_t begin, end;
        uint32_t lane;
    };
    std::vector<Element> elements;
    for (const auto& [offset, bytes] : accesses)
        for (uint32_t l = 0; l < machine::lanes; ++l) {
            const int64_t begin = offset + static_cast<int64_t>(line.imm * (l % line.aux)) +
                                  int64_t{step} * (l / line.aux);
            elements.push_back({begin, begin + bytes, l});
        }
    std::ranges::sort(elements, {}, &Element::begin);
    int64_t end = elements.front().begin;
    for (size_t n = 0; n < elements.size(); ++n) {
        if (elements[n].begin < end && elements[n].lane != elements[n - 1].lane) return false;
        end = std::max(end, elements[n].end);
    }
    return true;
}

bool never_overlap(const ir::Block& block, const Inst& x, const Inst& y) {
    if (ir::op_info(x.op).cls != Class::LaneStore || x.op != y.op || x.args[0] != y.args[0] ||
        ir::address_of(x) != ir::address_of(y))
        return false;
    const Inst& line = block.insts[ir::address_of(x)];
    if (line.op != Op::Line32 || block.insts[line.args[1]].op != Op::Const32) return false;
    const auto stride = static_cast<int64_t>(line.imm),
               step = int64_t{static_cast<int32_t>(block.insts[line.args[1]].imm)};
    constexpr int64_t most = 1 << 20;
    if (std::abs(stride) > most || std::abs(step) > most) return false;
    const int64_t span = std::abs(stride) * (line.aux - 1) +
                         std::abs(step) * (machine::lanes / line.aux - 1) +
                         std::max(ir::access_bytes(x), ir::access_bytes(y));
    return std::abs(ir::immediate(x) - ir::immediate(y)) >= span;
}

}  // namespace wj::x64
