#include "lift/memory_order.h"

#include <algorithm>

#include "frontend/coherence.h"
#include "frontend/decode.h"
#include "frontend/effects.h"
#include "frontend/wait_count.h"
#include "lift/state.h"

namespace wj::lift {
namespace {

// Of Inst::aux: the stores on both sides are plain ones, and what waits in between waits for loads,
// too.
constexpr uint32_t between_plain_stores = 1;

bool is_vector_memory(Format f) {
    return f == Format::MUBUF || f == Format::MTBUF || f == Format::FLAT || f == Format::GLOBAL;
}

}  // namespace

void MemoryOrder::fence(uint64_t kind, uint32_t aux) {
    if (!observed_) return;
    if (kind == ir::stores_before_loads)
        stored_ = pending_ = false;
    else if (!accesses_)
        return;
    accesses_ = written_ = waited_ = false;
    state_.emit(Op::Fence, {}, kind, aux);
}

void MemoryOrder::load(bool coherent) {
    if (pending_ || (coherent && stored_)) fence(ir::stores_before_loads);
    loads_ = accesses_ = true;
}

// A wait between plain stores is most often for what was loaded in between. It may be a release all
// the same, so that lanes' stores are not moved across it; but for loops, which would have to run
// all chunks in each iteration, and whose stores are of all lanes of EXEC where they do not.
void MemoryOrder::settle_loop(ir::Block& block) const {
    for (ir::Inst& i : block.insts)
        if (i.op == Op::Fence && i.aux == between_plain_stores)
            i = {.op = Op::Const32, .guest = i.guest};
}

void MemoryOrder::scalar_load() {
    if (pending_) fence(ir::stores_before_loads);
    accesses_ = true;
}

void MemoryOrder::store(bool coherent) {
    if (waited_) fence(ir::in_program_order, coherent ? 0 : between_plain_stores);
    stored_ = writes_ = written_ = accesses_ = true;
}

void MemoryOrder::atomic(bool all_lanes, bool returns) {
    if (waited_) fence(ir::in_program_order);
    if (all_lanes) stored_ = pending_ = false;
    (returns ? loads_ : writes_) = true;
    written_ = accesses_ = true;
}

void MemoryOrder::handled(const Inst& inst) {
    if (inst.format == Format::SMEM) return scalar_load();
    if (!is_vector_memory(inst.format)) return;
    if (pending_ || (stored_ && is_coherent(inst))) fence(ir::stores_before_loads);
    (inst.dst[0].present() ? loads_ : writes_) = true;
    stored_ = written_ = accesses_ = true;
}

void MemoryOrder::wait(const Inst& waitcnt) {
    const std::optional<uint32_t> left = vector_accesses_left(target_, waitcnt);
    waited_ |= written_ && left;
    if (left != 0u) return;
    if (writes_ && !loads_) {
        pending_ |= stored_;
        fence(ir::in_program_order);
    }
    loads_ = writes_ = false;
}

void MemoryOrder::empty_cache() {
    pending_ |= stored_;
    fence(ir::in_program_order);
}

// Whether the guest may wait for all that it has stored before it loads anything, on a way that
// begins at one of these PCs. That the code is not looked at any further means that it may.
bool MemoryOrder::may_wait_first(std::vector<uint64_t> ways) const {
    constexpr uint32_t most_instructions = 256;
    uint32_t looked_at = 0;
    for (size_t n = 0; n < ways.size(); ++n) {
        auto branch_to = [&](uint64_t target) {
            if (!std::ranges::count(ways, target)) ways.push_back(target);
        };
        uint64_t pc = ways[n];
        std::span<const uint32_t> code;
        Inst inst;
        for (bool ends = false; !ends;) {
            if (code.size() < most_instruction_words) code = fetch_(pc);
            if (code.empty() || !decode(target_, code, inst)) break;  // it faults
            if (++looked_at > most_instructions) return true;
            pc += inst.size;
            code = code.subspan(inst.size / 4);
            ends = is_vector_memory(inst.format) && inst.dst[0].present();  // a load
            const Effects& e = effects(inst.op);
            if (e.waits && vector_accesses_left(target_, inst) == 0u) return true;
            switch (e.flow) {
                case Flow::Call:
                case Flow::Jump:
                    return true;
                case Flow::End:
                    ends = true;
                    break;
                case Flow::Goto:
                    branch_to(branch_target(inst, pc));
                    ends = true;
                    break;
                case Flow::Branch:
                    branch_to(branch_target(inst, pc));
                    break;
                case Flow::Next:
                case Flow::Yield:
                    break;
            }
        }
    }
    return false;
}

void MemoryOrder::end(const ir::Terminator& term) {
    using Kind = ir::Terminator::Kind;
    using machine::ExitKind;
    if (!observed_) return;
    if (term.kind == Kind::Exit && term.exit != ExitKind::Barrier && term.exit != ExitKind::Yield)
        return;
    if (!pending_ && stored_ && writes_ && !loads_) {
        switch (term.kind) {
            case Kind::Jump:
                pending_ = may_wait_first({term.target});
                break;
            case Kind::Branch:
                pending_ = may_wait_first({term.target, term.next});
                break;
            case Kind::Exit:
                pending_ = may_wait_first({term.next});
                break;
            default:  // anywhere
                pending_ = true;
                break;
        }
    }
    if (pending_) fence(ir::stores_before_loads);
}

}  // namespace wj::lift
