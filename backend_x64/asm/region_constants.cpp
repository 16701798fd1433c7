// What all lanes have alike, constants and scalars: in vector registers that the region leaves, for
// all of its chunks.
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using ir::Op;

void BlockCompiler::choose_constants(const Value* begin, uint32_t count) {
    constexpr uint32_t fewest_chunks = 4;
    constants_.clear();
    pinned_ = 0;
    if (!with_constants_ || gathered_ || block_->lanes < fewest_chunks * chunk_lanes()) return;
    // What AVX2's lowerings of other accesses need of its registers leaves none.
    const bool plain = std::all_of(begin, begin + count, [this](Value v) {
        const ir::Inst& i = inst(v);
        return !ir::is_lane_access(i) || (ir::aux_dwords(i.aux) <= 1 && is_plain_line(i) &&
                                          ir::op_info(i.op).cls != ir::Class::LaneAtomic);
    });
    if (!avx512_ && !plain) return;
    std::vector<std::pair<Unit, uint32_t>> uses;
    for (uint32_t i = 0; i < count; ++i) {
        scratch_units_.clear();
        schedule_.units_read(begin[i], scratch_units_);
        for (Unit u : scratch_units_) {
            const Op op = inst(schedule_.producer(u)).op;
            if ((op != Op::Splat32 && op != Op::Splat64) ||
                schedule_.unit_home(u).kind == Home::Temp)
                continue;
            const auto known = std::ranges::find(uses, u, &std::pair<Unit, uint32_t>::first);
            known == uses.end() ? void(uses.push_back({u, 1})) : void(++known->second);
        }
    }
    if (uses.empty()) return;
    std::ranges::stable_sort(uses, std::greater{}, &std::pair<Unit, uint32_t>::second);
    const int registers = avx512_ ? 32 : 16,
              temporaries = has_simple_lowerings(begin, count) ? 4
                            : avx512_                          ? 10
                                                               : 7,
              most = avx512_ ? 16 : 6,
              free = std::min(most, registers - alive_at_once(begin, count, {}) - temporaries);
    for (const auto& [unit, n] : uses) {
        if (static_cast<int>(constants_.size()) >= free) break;
        const int reg = registers - 1 - static_cast<int>(constants_.size());
        constants_.push_back({unit, reg});
        pinned_ |= 1u << reg;
    }
}

void BlockCompiler::load_constants() {
    for (const RegionConstant& c : constants_) load_vec(c.unit, c.reg);
}

// As the body finds them: they are wanted beyond its end.
void BlockCompiler::enter_constants(uint32_t end) {
    for (const RegionConstant& c : constants_) {
        UnitState& s = state(c.unit);
        s.reg = static_cast<int8_t>(c.reg);
        s.next = end;
        vec_owner_[c.reg] = c.unit;
    }
}

void BlockCompiler::forget_constants() {
    constants_.clear();
    pinned_ = 0;
}

}  // namespace wj::x64
