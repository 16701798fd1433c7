// Registers that are read or written while a load of them is under way. Vector loads come back in
// the order of their issue, and so do accesses of LDS; scalar loads and flat accesses of LDS do
// not, so that only a wait for all of them helps (ISA documents, "Data dependency resolution").
#include <algorithm>

#include "frontend/effects.h"
#include "frontend/wait_count.h"
#include "interpreter/check_parts.h"
#include "interpreter/spots.h"
#include "memory/fault_reasons.h"

namespace wj::interp {
namespace {

using machine::RegisterShadow;
using namespace wj;

constexpr uint8_t load = machine::wait_load, store = machine::wait_store, ds = machine::wait_ds,
                  km = machine::wait_km, every = load | store | ds | km;

// At most `left` accesses of these counters are still under way.
void leave(RegisterShadow& shadow, uint8_t counters, uint32_t left) {
    size_t count = 0;
    bool in_order = true;
    for (const RegisterShadow::Access& a : shadow.under_way) {
        if (!(a.counted & counters)) continue;
        count++;
        in_order &= a.in_order;
    }
    size_t gone = count > left && (!left || in_order) ? count - left : 0;
    for (RegisterShadow::Access& a : shadow.under_way) {
        if (!gone) break;
        if (!(a.counted & counters)) continue;
        a.counted &= static_cast<uint8_t>(~counters);
        a.needed &= static_cast<uint8_t>(~counters);
        gone--;
    }
    std::erase_if(shadow.under_way, [](const RegisterShadow::Access& a) { return !a.counted; });
}

// An instruction whose SIMM16 has one count, or two side by side.
struct Wait {
    Opcode op;
    uint8_t low, high;  // counters of bits 5:0 and 13:8
};
constexpr Wait waits[] = {
    {Opcode::s_wait_loadcnt, load, 0},
    {Opcode::s_wait_storecnt, store, 0},
    {Opcode::s_wait_dscnt, ds, 0},
    {Opcode::s_wait_kmcnt, km, 0},
    {Opcode::s_wait_loadcnt_dscnt, ds, load},
    {Opcode::s_wait_storecnt_dscnt, ds, store},
    {Opcode::s_waitcnt_vmcnt, load, 0},
    {Opcode::s_waitcnt_vscnt, store, 0},
    {Opcode::s_waitcnt_lgkmcnt, ds | km, 0},
};

void wait(Wave& w, const Inst& inst, RegisterShadow& shadow) {
    const Target& target = *w.ctx->target;
    if (inst.op == Opcode::s_wait_idle) return leave(shadow, every, 0);
    if (inst.op == Opcode::s_waitcnt) {
        const auto simm = static_cast<uint32_t>(inst.src[0].value & 0xffff);
        const WaitCounts counts = wait_counts(target, simm), none = wait_counts(target, 0xffff);
        if (counts.vm != none.vm) leave(shadow, load, counts.vm);
        if (counts.lgkm != none.lgkm) leave(shadow, ds | km, counts.lgkm);
        return;
    }
    const auto* known = std::ranges::find(waits, inst.op, &Wait::op);
    if (known == std::end(waits)) return;
    const bool of_register = inst.format == Format::SOPK;
    auto simm = static_cast<uint32_t>(inst.src[of_register ? 1 : 0].value & 0xffff);
    if (of_register && inst.src[0].is(Operand::Kind::Sgpr)) simm += read_s32(w, inst.src[0]);
    if (known->low) leave(shadow, known->low, simm & 63);
    if (known->high) leave(shadow, known->high, simm >> 8 & 63);
}

// Whether s_barrier may be reached with accesses under way (LLVM, FeatureBackOffBarrier); gfx12 has
// none.
bool backs_off(const Traits& t) {
    return t.unified_vgprs || t.gfx10_hwregs;
}

void barrier(Wave& w, const Inst& inst, RegisterShadow& shadow) {
    if (backs_off(traits(w)) || shadow.under_way.empty()) return;
    const RegisterShadow::Access& access = shadow.under_way.front();
    Finding found{.check = machine::check_waitcnt, .what = memory::under_way_at_barrier};
    found.other = {access.pc, w.group->linear_id, w.wave_in_group};
    shadow.under_way.clear();  // what follows is of no use
    report(w, inst, found);
}

char file_of(const Operand& o) {
    switch (o.kind) {
        case Operand::Kind::Vgpr:
            return 'v';
        case Operand::Kind::Agpr:
            return 'a';
        case Operand::Kind::Sgpr:
            return 's';
        default:
            return 0;
    }
}

// What it does that has to be waited for; counted 0: nothing.
RegisterShadow::Access issued(Wave& w, const Inst& inst) {
    const Traits& t = traits(w);
    const Effects& e = effects(inst.op);
    RegisterShadow::Access a;
    const uint8_t stores = counts_stores_apart(t) ? store : load;
    const bool returns = inst.dst[0].present() || e.access == MemoryAccess::Load;
    switch (inst.format) {
        case Format::SMEM:
            a.counted = a.needed = km;
            a.in_order = false;
            break;
        case Format::DS:
            if (e.nothing) return a;
            a.counted = a.needed = ds;
            break;
        case Format::FLAT: {
            if (e.access == MemoryAccess::None) return a;
            const uint8_t vector = returns ? load : stores;
            a.counted = vector | ds;
            a.needed = vector;
            each_spot(w, inst, bytes_of(w, inst), [&](uint32_t, Spot spot, uint32_t) {
                if (spot.place != Place::Lds) return;
                a.needed |= ds;
                a.in_order = false;
            });
            break;
        }
        case Format::GLOBAL:
        case Format::SCRATCH:
        case Format::MUBUF:
        case Format::MTBUF:
        case Format::MIMG:
            if (e.access == MemoryAccess::None) return a;
            a.counted = a.needed = returns ? load : stores;
            break;
        default:
            return a;
    }
    const Operand& result = inst.dst[0];
    if ((a.file = file_of(result))) {
        a.first = result.reg;
        a.count = result.dwords ? result.dwords : 1;
    }
    a.pc = w.pc - inst.size;
    return a;
}

class Uses {
public:
    Uses(Wave& w, const Inst& inst, const RegisterShadow::Access& next)
        : w_(w), inst_(inst), next_(next) {}

    void of(const Operand& o, bool written) {
        if (const char file = file_of(o)) of(file, o.reg, o.dwords ? o.dwords : 1u, written);
    }
    void of(char file, uint32_t first, uint32_t count, bool written) {
        auto& list = registers_of(w_).under_way;
        for (auto a = list.begin(); a != list.end(); ++a) {
            if (!a->needed || a->file != file) continue;
            const uint32_t begin = std::max<uint32_t>(first, a->first),
                           end = std::min<uint32_t>(first + count, a->first + a->count);
            if (begin >= end) continue;
            // One vector load behind the other: they write in this order.
            if (written && next_.counted == a->counted && next_.in_order && a->in_order &&
                a->needed == load)
                continue;
            Finding found{.check = machine::check_waitcnt,
                          .what = memory::used_before_wait,
                          .lanes = file == 's' ? 0 : w_.exec(),
                          .file = file,
                          .reg = begin};
            found.other = {a->pc, w_.group->linear_id, w_.wave_in_group};
            a->needed = 0;  // what follows is of no use
            report(w_, inst_, found);
            return;
        }
    }

private:
    Wave& w_;
    const Inst& inst_;
    const RegisterShadow::Access& next_;
};

}  // namespace

void check_waits(Wave& w, const Inst& inst) {
    RegisterShadow& shadow = registers_of(w);
    const Effects& e = effects(inst.op);
    if (e.waits) return wait(w, inst, shadow);
    if (inst.op == Opcode::s_barrier) return barrier(w, inst, shadow);
    const RegisterShadow::Access next = issued(w, inst);
    if (!shadow.under_way.empty()) {
        Uses uses(w, inst, next);
        for (const Operand& o : inst.src) uses.of(o, false);
        for (const Operand& o : inst.dst) uses.of(o, true);
        if (e.reads_vcc) uses.of('s', machine::vcc_lo, w.size == lanes ? 2 : 1, false);
        if (e.reads_m0) uses.of('s', machine::m0, 1, false);
    }
    if (next.counted) shadow.under_way.push_back(next);
}

}  // namespace wj::interp
