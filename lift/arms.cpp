// Short code that s_cbranch_execz jumps over is lifted as if the branch were not there: without
// lanes it changes no vector register and no memory, and the scalar registers it writes keep their
// old values when EXEC was zero. What is lifted so ("an arm") becomes part of its block, which then
// may be a loop's whole body.
#include <algorithm>

#include "frontend/decode.h"
#include "frontend/effects.h"
#include "lift/lifter.h"

namespace wj::lift {
namespace {

constexpr uint32_t max_arm = 32;      // instructions, nested arms included
constexpr uint32_t cost_of_load = 6;  // by scalars
constexpr size_t max_depth = 4;
constexpr size_t max_way_back = 4;

// Goes elsewhere, or has an effect that EXEC does not hold back.
bool moves_on_its_own(const Inst& inst) {
    const Effects& e = effects(inst.op);
    if (e.flow != Flow::Next || e.unmasked || e.indexed || e.opaque || e.messages || e.reads_mode ||
        e.writes_mode || inst.gds)
        return true;
    switch (inst.format) {
        case Format::SMEM:
            return e.access != MemoryAccess::Load || e.partial;
        case Format::EXP:
        case Format::MIMG:
        case Format::VINTRP:
            return true;
        case Format::SOPP:
            return !e.nothing && !e.waits;
        default:
            return false;
    }
}

bool is_scalar_arithmetic(const Inst& inst) {
    const Effects& e = effects(inst.op);
    return (inst.format == Format::SOP1 || inst.format == Format::SOP2 ||
            inst.format == Format::SOPK) &&
           inst.dst[0].present() && e.flow == Flow::Next && e.exec == ExecChange::None &&
           !e.indexed && !e.opaque && !e.reads_mode;
}

}  // namespace

std::span<const uint32_t> Lifter::code_at(uint64_t at) {
    const uint64_t end = window_pc_ + window_.size() * 4;
    if (at < window_pc_ || at >= end || end - at < 4 * most_instruction_words) {
        window_pc_ = at;
        window_ = fetch_(at);
    }
    return window_.subspan((at - window_pc_) / 4);
}

// True when the code from `from` on arrives at `target` within `left` instructions, on the way that
// leaves no s_cbranch_execz, and does nothing that EXEC does not hold back.
bool Lifter::arrives(uint64_t from, uint64_t target, size_t depth, uint32_t& left) {
    Inst inst;
    for (uint64_t at = from; at != target;) {
        if (!decode(*options.target, code_at(at), inst) || inst.illegal_operand) return false;
        const uint32_t cost = inst.format == Format::SMEM ? cost_of_load : 1;
        if (left < cost) {
            left = 0;
            return false;
        }
        left -= cost;
        const uint64_t after = at + inst.size;
        if (inst.op == Opcode::s_branch) {
            at = branch_target(inst, after);
        } else if (inst.op == Opcode::s_cbranch_execz) {
            const uint64_t inner = branch_target(inst, after);
            if (depth + 1 >= max_depth || !arrives(after, inner, depth + 1, left)) return false;
            at = inner;
        } else if (moves_on_its_own(inst)) {
            return false;
        } else {
            at = after;
        }
    }
    return true;
}

bool Lifter::begin_arm(uint64_t target) {
    if (options.plain) return false;
    if (std::ranges::find(findings_.no_arms, pc) != findings_.no_arms.end()) return false;
    uint32_t left = max_arm;
    if (arms_.size() >= max_depth || block.guest_count + max_arm >= options.max_instructions ||
        !arrives(next_pc, target, arms_.size(), left))
        return false;
    arms_.push_back({pc, target, s.exec(), s.snapshot()});
    return true;
}

void Lifter::end_arms() {
    while (!arms_.empty() && arms_.back().target == pc && !abandoned_) {
        const Arm arm = std::move(arms_.back());
        arms_.pop_back();
        if (!s.merge(arm.before, arm.exec)) abandon(arm.branch);
    }
}

// After an instruction inside arms: no lane may have come on.
void Lifter::check_arms() {
    for (const Arm& arm : arms_)
        if (!s.covers(arm.exec, s.exec())) return abandon(arms_.front().branch);
}

// A loop's way back may have scalars on it, copies that the compiler could not do without: they
// become part of the loop's block, whose branch then leads to itself, if nobody reads behind the
// loop what they write.
bool Lifter::take_way_back(uint64_t from, uint64_t behind) {
    if (in_arm() || options.plain) return false;
    std::vector<std::pair<uint64_t, Inst>> way;
    RegisterUse all;
    for (uint64_t at = from;;) {
        Inst inst;
        if (!decode(*options.target, code_at(at), inst) || inst.illegal_operand) return false;
        const uint64_t after = at + inst.size;
        if (inst.op == Opcode::s_branch) {
            if (branch_target(inst, after) != block.pc) return false;
            break;
        }
        const RegisterUse e = register_use(*options.target, inst);
        if (!is_scalar_arithmetic(inst) || e.opaque || !registers_ok(inst) ||
            at == options.end_before || way.size() == max_way_back)
            return false;
        all.scalars_written |= e.scalars_written;
        all.scc_written |= e.scc_written;
        way.emplace_back(at, inst);
        at = after;
    }
    if (!way.empty()) {
        if (block.guest_count + max_way_back > options.max_instructions) return false;
        if (!options.liveness || options.mode & machine::mode::changes_vector_code) return false;
        const LiveSet& live = options.liveness->at(behind);
        if (all.scc_written && live.scalars[LiveSet::scc]) return false;
        for (uint32_t reg = 0; reg < all.scalars_written.size(); ++reg)
            if (all.scalars_written[reg] && live.reads_scalar(reg)) return false;
    }
    for (const auto& [at, inst] : way) {
        enter(at, inst);
        lift(inst);
    }
    return true;
}

void Lifter::enter(uint64_t at, const Inst& inst) {
    pc = at;
    next_pc = at + inst.size;
    block.guest_pcs.push_back(pc);
    ++block.guest_count;
    block.begin_pc = std::min(block.begin_pc, pc);
    block.end_pc = std::max(block.end_pc, next_pc);
}

void Lifter::abandon(uint64_t branch) {
    abandoned_ = true;
    findings_.no_arms.push_back(branch);
}

}  // namespace wj::lift
