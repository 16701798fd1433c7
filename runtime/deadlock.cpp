#include "runtime/deadlock.h"

#include <cstring>
#include <memory>
#include <vector>

#include "frontend/effects.h"
#include "interpreter/interpreter.h"
#include "machine/work_group.h"
#include "runtime/guest_code.h"

namespace wj::runtime {
namespace {

constexpr uint32_t max_steps = 8192;  // finds loops of up to half as many blocks of code

bool touches_only_wave_and_lds(const Inst& inst) {
    if (effects(inst.op).synchronises) return false;
    switch (inst.format) {
        case Format::SOP1:
        case Format::SOP2:
        case Format::SOPC:
        case Format::SOPK:
        case Format::VOP1:
        case Format::VOP2:
        case Format::VOPC:
        case Format::VOP3:
        case Format::VOP3P:
            return true;
        case Format::DS:
            return !inst.gds;
        case Format::SOPP:
            return inst.op != Opcode::s_sendmsg && inst.op != Opcode::s_sendmsghalt &&
                   inst.op != Opcode::s_trap;
        default:
            return false;
    }
}

// Whether the code from pc on, up to where it may jump, does. (The interpreter runs that at once.)
bool touches_only_wave_and_lds(const memory::AddressSpace& memory, const Target& target,
                               uint64_t pc) {
    for (Inst inst; fetch_inst(target, memory, pc, inst); pc += inst.size) {
        if (!touches_only_wave_and_lds(inst)) return false;
        if (may_jump(inst)) return true;
    }
    return false;
}

// A wave's registers and its view of LDS, apart from the original.
struct Replica {
    machine::Wave wave;
    std::vector<uint32_t> registers;
    std::vector<uint8_t> lds;
    Replica(const Replica&) = delete;
    Replica& operator=(const Replica&) = delete;

    Replica(const machine::Wave& from) : wave(from) {
        size_t rows = size_t{from.vgpr_count} + from.agpr_count;
        registers.resize(rows * machine::lanes + 16);
        auto aligned = (reinterpret_cast<uintptr_t>(registers.data()) + 63) & ~uintptr_t{63};
        wave.vgpr = reinterpret_cast<uint32_t*>(aligned);
        std::memcpy(wave.vgpr, from.vgpr, rows * machine::lanes * 4);
        if (from.agpr) wave.agpr = wave.vgpr + (from.agpr - from.vgpr);
        lds.assign(from.lds, from.lds + from.group->lds_bytes);
        lds.resize(lds.size() + 64);
        wave.lds = lds.data();
    }
    bool same_state(const machine::Wave& other) const {
        size_t rows = size_t{other.vgpr_count} + other.agpr_count;
        return wave.pc == other.pc && wave.scc == other.scc && wave.mode == other.mode &&
               wave.vgpr_msb == other.vgpr_msb &&
               !std::memcmp(wave.sgpr, other.sgpr, sizeof(wave.sgpr)) &&
               !std::memcmp(wave.vgpr, other.vgpr, rows * machine::lanes * 4);
    }
};

bool runs_for_ever(const Target& target, machine::Engine& engine, machine::Wave& original) {
    Replica replica(original);
    auto context = std::make_unique<machine::ExecContext>();
    context->target = original.ctx->target;
    context->memory = original.ctx->memory;
    context->memory_mode = original.ctx->memory_mode;
    context->reach = original.ctx->reach;
    context->tlb_epoch = context->memory->epoch();
    replica.wave.ctx = context.get();
    // Brent's search for a state that comes back. The states compared are the interpreter's:
    // translated code leaves registers that nobody reads any more as they were.
    auto anchor = std::make_unique<Replica>(replica.wave);
    for (uint32_t step = 1; step <= max_steps; step++) {
        if (!touches_only_wave_and_lds(*context->memory, target, replica.wave.pc)) return false;
        replica.wave.budget = 1;
        replica.wave.exit = {};
        if (engine.run(replica.wave) != machine::ExitKind::Yield) return false;
        if (std::memcmp(replica.wave.lds, original.lds, original.group->lds_bytes)) return false;
        if (replica.same_state(anchor->wave)) return true;
        if ((step & (step - 1)) == 0) anchor = std::make_unique<Replica>(replica.wave);
    }
    return false;
}

}  // namespace

bool proves_deadlock(const Target& target, GroupContext& group) {
    // When all have arrived they are about to be released.
    if (!group.waiting || group.waiting + group.ended == group.group.wave_count) return false;
    auto engine = interp::make_interpreter(target);
    if (!engine) return false;
    for (uint32_t i = 0; i < group.group.wave_count; i++)
        if (runs(group.states[i]) && !runs_for_ever(target, *engine, group.waves[i])) return false;
    return true;
}

}  // namespace wj::runtime
