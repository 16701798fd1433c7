// What all lanes have alike, constants and scalars: in vector registers that the region leaves, for
// all of its chunks.
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/plan/lines.h"

namespace wj::x64 {

using ir::Op;

// `many_waves`: the region's loop is that of many waves. What its code wants besides is known
// behind it only (constant_register).
void BlockCompiler::choose_constants(const Value* begin, uint32_t count, bool many_waves) {
    constexpr uint32_t fewest_chunks = 4;
    forget_constants();
    vec_used_ = 0;
    if (!attempt_.constants || gathered_ || block_->lanes < fewest_chunks * chunk_lanes()) return;
    // What AVX2's lowerings of other accesses need of its registers leaves none.
    if (!avx512_ && !std::all_of(begin, begin + count, [this](Value v) {
            const ir::Inst& i = inst(v);
            return !ir::is_lane_access(i) ||
                   (ir::aux_dwords(i.aux) <= 1 && is_plain_line(context(), i) &&
                    ir::op_info(i.op).cls != ir::Class::LaneAtomic);
        }))
        return;
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
    if (uses.empty() && !many_waves) return;
    std::ranges::stable_sort(uses, std::greater{}, &std::pair<Unit, uint32_t>::second);
    const int registers = avx512_ ? 32 : 16,
              temporaries = have_simple_lowerings(context(), begin, count) ? 4
                            : avx512_                                      ? 10
                                                                           : 7,
              most = avx512_ ? 16 : 6;
    constants_left_ = std::min(
        most, registers -
                  alive_at_once(context(), {begin, count}, {}, loop_plan_.parts, loop_.part) -
                  temporaries);
    for (const auto& [unit, n] : uses) {
        if (constants_left_ <= 0) break;
        const int reg = registers - 1 - static_cast<int>(constants_.size());
        constants_.push_back({unit, reg});
        pinned_ |= 1u << reg;
        --constants_left_;
    }
    if (!many_waves) constants_left_ = 0;
}

// In front of the loop. What is wanted besides is loaded out of line, where a jump leads that is
// cut out if there is nothing.
void BlockCompiler::load_constants() {
    for (const RegionConstant& c : constants_) load_vec(c.unit, c.reg);
    if (constants_left_ <= 0) return;
    constants_label_ = a_.newLabel();
    a_.long_().jmp(constants_label_);
    constants_from_ = a_.offset();
}

void BlockCompiler::load_more_constants(Label loop) {
    constants_left_ = 0;
    if (!constants_label_.isValid()) return;
    if (!more_constants_.empty()) {
        cold(constants_label_, [this, loop, more = more_constants_] {
            for (const MoreConstant& c : more) load_broadcast(vec(c.reg), c.from, c.size);
            a_.jmp(loop);
        });
        return;
    }
    static constexpr uint8_t nothing[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    code_.bindLabel(constants_label_, 0, constants_from_);
    std::copy(std::begin(nothing), std::end(nothing),
              code_.textSection()->buffer().data() + constants_from_ - sizeof nothing);
}

void BlockCompiler::load_broadcast(const Vec& to, const Mem& from, uint32_t size) {
    if (size == 4)
        load_bcast32(to, from);
    else if (size == 8)
        a_.emit(X::kIdVbroadcastsd, to, from);
    else
        movu(to, from);
}

// `size` bytes from the pool or the frame in all of a vector: the register that has them in the
// region that is emitted, if there is one or room for one.
std::optional<Vec> BlockCompiler::constant_register(const Mem& from, uint32_t size) {
    for (const MoreConstant& c : more_constants_)
        if (c.from == from && c.size == size) return vec(c.reg);
    if (constants_left_ <= 0) return {};
    // What code in front of this has used it uses again in the next chunk.
    int reg = avx512_ ? 31 : 15;
    while (reg >= 0 && ((vec_used_ | pinned_) >> reg & 1)) --reg;
    if (reg < 0) return {};
    more_constants_.push_back({from, size, reg});
    pinned_ |= 1u << reg;
    --constants_left_;
    return vec(reg);
}

// Of a constant of 32 or 64 bits.
std::optional<Vec> BlockCompiler::constant_register(uint64_t value, uint32_t size) {
    if (constants_left_ <= 0 && more_constants_.empty()) return {};
    return constant_register(size == 4 ? pool32(static_cast<uint32_t>(value)) : pool64(value),
                             size);
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
    more_constants_.clear();
    constants_label_.reset();
    constants_left_ = 0;
    pinned_ = 0;
}

}  // namespace wj::x64
