#include "runtime/kernel_code.h"

#include <algorithm>
#include <vector>

#include "frontend/each_instruction.h"
#include "frontend/effects.h"
#include "machine/barrier.h"
#include "machine/wave.h"

namespace wj::runtime {
namespace {

using Use = KernelCodes::Use;

bool reads_trapsts(const Target& target, const Inst& inst) {
    const uint64_t hwreg = target.traits.gfx12_hwregs ? 18 : 3;  // EXCP_FLAG_USER or TRAPSTS
    return inst.op == Opcode::s_getreg_b32 && (inst.src[0].value & 63) == hwreg;
}

void add(const Operand& o, Use& use) {
    constexpr uint16_t vccz = 251;
    if (o.is(Operand::Kind::Sgpr))
        for (uint32_t r = o.reg; r < o.reg + std::max<uint32_t>(o.dwords, 1); ++r)
            use.scalars.set(r & 127);
    else if (o.is(Operand::Kind::Special) && o.reg == vccz)
        use.scalars.set(machine::vcc_lo);
}

// Finds out which barriers code has. Where a wave goes straight from its signal to the wait, it may
// always be there before anybody else has come to the barrier: whoever then goes on when all wait,
// instead of when all have signalled, does nothing new.
class Barriers {
public:
    void add(size_t at, const Inst& inst) {
        const Effects& e = effects(inst.op);
        if (e.flow == Flow::Branch || e.flow == Flow::Goto || e.flow == Flow::Call)
            targets_.push_back(branch_target(inst, at + inst.size));
        const bool waits = inst.op == Opcode::s_barrier_wait && names_group(inst),
                   signals = inst.op == Opcode::s_barrier_signal && names_group(inst);
        const bool others = e.synchronises || inst.op == Opcode::s_barrier_wait;
        apart_ |= (others && !waits && !signals) || (signalled_ && (at != end_ || signals)) ||
                  (waits ? !signalled_ : signalled_ && leaves_block(e));
        if (signalled_) between_.push_back(at);
        signalled_ = signals || (signalled_ && !waits);
        any_ |= waits || signals;
        end_ = at + inst.size;
    }
    SplitBarriers found() const {
        const auto is_between = [this](uint64_t at) {
            return std::ranges::binary_search(between_, at);
        };
        if (apart_ || signalled_ || std::ranges::any_of(targets_, is_between))
            return SplitBarriers::Apart;
        return any_ ? SplitBarriers::Whole : SplitBarriers::None;
    }

private:
    static bool names_group(const Inst& inst) {
        const Operand& name = inst.src[0];
        return !name.is(Operand::Kind::Sgpr) && machine::is_group_barrier(name.value);
    }
    std::vector<uint64_t> between_, targets_;  // behind a signal, up to its wait; of jumps
    size_t end_ = 0;
    bool signalled_ = false, apart_ = false, any_ = false;
};

void add(const Target& target, std::span<const std::byte> code, Use& use) {
    Barriers barriers;
    each_instruction(target, code, [&](size_t at, const Inst& inst) {
        barriers.add(at, inst);
        for (const Operand& o : inst.dst) add(o, use);
        for (const Operand& o : inst.src) add(o, use);
        const Effects& e = effects(inst.op);
        if (e.reads_vcc) use.scalars.set(machine::vcc_lo);
        if (e.indexed && e.reads_m0) use.scalars.set();  // M0 says which register it is
        use.reads_trapsts |= reads_trapsts(target, inst);
        use.calls |= e.flow == Flow::Call || e.flow == Flow::Jump;
    });
    if (target.traits.split_barriers) use.barriers = std::max(use.barriers, barriers.found());
}

// Executable bytes of the object that are in no kernel whose size is known.
void add_functions(const CodeObject& object, const Target& target, Use& use) {
    struct Range {
        uint64_t begin, end;
    };
    std::vector<Range> kernels;
    for (const KernelInfo& k : object.kernels)
        kernels.push_back({k.entry_address, k.entry_address + k.code_size});
    std::ranges::sort(kernels, {}, &Range::begin);
    for (const Segment& s : object.segments) {
        if (!s.executable) continue;
        const uint64_t end = s.address + s.file_size;
        uint64_t at = s.address;
        const auto until = [&](uint64_t stop) {
            if (at >= stop) return;
            if (const auto code = object.bytes_at(at, stop - at)) add(target, *code, use);
        };
        for (const Range& k : kernels) {
            if (k.end <= at || k.begin >= end) continue;
            until(k.begin);
            at = k.end;
        }
        until(end);
    }
}

// A pair of registers that code goes by both names of. Where numbers go on behind 101, so far as
// they do there are no names.
bool has_two_names(const Use& use, uint32_t size, const Target& target) {
    using machine::Aliases;
    const uint32_t first = std::max<uint32_t>(Aliases::first, target.traits.scalar_registers.count);
    for (uint32_t pair = first; pair < Aliases::first + Aliases::count; pair += 2) {
        const uint32_t number = Aliases::other(pair, size);
        if (number >= machine::flat_scratch_lo) continue;  // only the name can be encoded
        const auto names = [&](uint32_t reg) { return use.scalars[reg] || use.scalars[reg + 1]; };
        if (names(pair) && names(number)) return true;
    }
    return false;
}

}  // namespace

KernelCode KernelCodes::look(const CodeObject& object, const KernelInfo& kernel,
                             const Target& target) {
    Use use;
    const auto own = object.bytes_at(kernel.entry_address, kernel.code_size);
    if (own) add(target, *own, use);
    if (!own || !kernel.code_size || use.calls) {
        std::call_once(once_, [&] { add_functions(object, target, functions_); });
        use.scalars |= functions_.scalars;
        use.reads_trapsts |= functions_.reads_trapsts;
        use.barriers = std::max(use.barriers, functions_.barriers);
        // What other objects' functions do at barriers is not known.
        if (use.barriers == SplitBarriers::Whole) use.barriers = SplitBarriers::Apart;
    }
    KernelCode code;
    code.reads_trapsts = use.reads_trapsts;
    code.barriers = use.barriers;
    code.reads_wave_id = target.traits.workgroup_ids_in_ttmp && use.scalars[machine::wave_id];
    const uint32_t size = kernel.descriptor.sgpr_count;
    if (has_two_names(use, size, target)) code.sgpr_aliases = static_cast<uint8_t>(size);
    return code;
}

KernelCode KernelCodes::of(const CodeObject& object, const KernelInfo& kernel,
                           const Target& target) {
    constexpr uint16_t looked = 0x8000, reads = 0x100, wave_id = 0x200, aliases = 0xff;
    constexpr uint32_t barriers_shift = 10;
    std::atomic<uint16_t>& known = known_[static_cast<size_t>(&kernel - object.kernels.data())];
    if (const uint16_t k = known.load(std::memory_order_relaxed))
        return {(k & reads) != 0, (k & wave_id) != 0,
                static_cast<SplitBarriers>(k >> barriers_shift & 3),
                static_cast<uint8_t>(k & aliases)};
    const KernelCode code = look(object, kernel, target);
    known.store(static_cast<uint16_t>(
                    looked | (code.reads_trapsts ? reads : 0) | (code.reads_wave_id ? wave_id : 0) |
                    static_cast<uint32_t>(code.barriers) << barriers_shift | code.sgpr_aliases),
                std::memory_order_relaxed);
    return code;
}

}  // namespace wj::runtime
