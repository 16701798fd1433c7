// Global data share, ordered append and global wave sync: what the waves of a device share.

#include "interpreter/mem_gds.h"

#include <algorithm>
#include <mutex>

namespace wj::interp {
namespace {

uint32_t gds_bytes(const Wave& w) {
    return w.ctx->gds && w.ctx->target ? w.ctx->target->traits.gds_bytes : 0;
}

void refuse(Wave& w) {
    stop(w, ExitKind::Unimplemented, "global data share (gds): this processor has none");
}

uint32_t first_lane_value(Wave& w, const Operand& o) {
    const uint64_t exec = w.exec();
    return vrow(w, o)[exec ? __builtin_ctzll(exec) : 0];
}

void wait_again(Wave& w, const Inst& inst) {
    w.pc -= inst.size;
    stop(w, ExitKind::Yield);
}

// ---- ordered append
// ---------------------------------------------------------------------------------
// RDNA3 ISA manual, DS_ORDERED_COUNT (the Vega manual only names the fields): waits until the wave
// is the oldest, then adds to or replaces a counter. M0[31:18] is the counters' base and
// offset0[7:2] the counter, in dwords; M0[15:0] the logical wave id; offset1[0] gives the turn to
// the next wave; offset1[5:4] is the operation. Runs without active lanes, too: then it adds 0.

enum OrderedOperation : uint32_t { ordered_add, ordered_swap };

void ordered_count(Wave& w, const Inst& inst) {
    const uint32_t bytes = gds_bytes(w);
    if (!bytes) return refuse(w);
    const auto offset = static_cast<uint32_t>(inst.offset);
    const uint32_t operation = offset >> 12 & 3;
    if (operation > ordered_swap)
        return stop(w, ExitKind::Unimplemented, "ds_ordered_count: wrap and reserved operations");
    machine::GlobalDataShare& gds = *w.ctx->gds;
    const uint32_t ids = w.ctx->target->traits.gds_max_wave_id + 1;
    std::lock_guard lock(gds.mutex);
    gds.used = true;
    if ((w.sgpr[machine::m0] & 0xffff) % ids != gds.oldest_wave) return wait_again(w, inst);
    const uint64_t exec = w.exec();
    const uint32_t data = exec ? first_lane_value(w, inst.vaddr()) : 0;
    const uint32_t at = (w.sgpr[machine::m0] >> 16 & ~3u) + (offset & 0xfc);
    uint32_t old = 0;
    if (at + 4 <= bytes) {
        std::memcpy(&old, gds.bytes + at, 4);
        const uint32_t now = operation == ordered_add ? old + data : data;
        if (exec) std::memcpy(gds.bytes + at, &now, 4);
    }
    if (offset >> 8 & 1) gds.oldest_wave = (gds.oldest_wave + 1) % ids;
    uint32_t* d = vrow(w, inst.dst[0]);
    for_each_lane(exec, [&](uint32_t lane) { d[lane] = old; });
}

// ---- global wave sync
// -------------------------------------------------------------------------------
// The resource is M0[21:16] + offset[5:0]; the value comes from the first active lane (CDNA ISA
// manual, DS_GWS_*). ds_gws_init(n) prepares for n + 1 waves. A wave that has to wait yields and
// runs the instruction again.

machine::GwsResource* gws_resource(Wave& w, const Inst& inst) {
    if (!w.ctx->gws) {
        stop(w, ExitKind::Unimplemented, "global wave sync outside a cooperative dispatch");
        return nullptr;
    }
    const uint32_t id = (w.sgpr[machine::m0] >> 16 & 0x3f) + static_cast<uint32_t>(inst.offset);
    return &w.ctx->gws[id % machine::gws_resources];
}

void gws_init(Wave& w, const Inst& inst) {
    machine::GwsResource* r = gws_resource(w, inst);
    if (!r) return;
    const uint32_t value = first_lane_value(w, inst.vdata());
    r->members = value + 1;
    r->arrived = 0;
    r->semaphore = value;
}

void gws_barrier(Wave& w, const Inst& inst) {
    machine::GwsResource* r = gws_resource(w, inst);
    if (!r) return;
    if (!w.gws_waiting) {
        w.gws_phase = r->phase;
        if (r->arrived.fetch_add(1) + 1 >= r->members) {
            // Last one: the counter starts again for as many waves as the instruction says.
            r->members = first_lane_value(w, inst.vdata()) + 1;
            r->arrived = 0;
            r->phase.fetch_add(1);
            return;
        }
        w.gws_waiting = true;
    }
    if (r->phase == w.gws_phase) return wait_again(w, inst);
    w.gws_waiting = false;
}

void gws_release(Wave& w, const Inst& inst, int64_t count) {
    if (machine::GwsResource* r = gws_resource(w, inst)) r->semaphore.fetch_add(count);
}
void gws_sema_v(Wave& w, const Inst& inst) {
    gws_release(w, inst, 1);
}
void gws_sema_br(Wave& w, const Inst& inst) {
    gws_release(w, inst, first_lane_value(w, inst.vdata()));
}

void gws_sema_p(Wave& w, const Inst& inst) {
    machine::GwsResource* r = gws_resource(w, inst);
    if (!r) return;
    const bool released = w.gws_waiting && r->releases != w.gws_phase;
    w.gws_waiting = false;
    if (released) return;
    const uint32_t phase = r->releases;
    int64_t have = r->semaphore;
    while (have > 0)
        if (r->semaphore.compare_exchange_weak(have, have - 1)) return;
    w.gws_waiting = true;
    w.gws_phase = phase;
    wait_again(w, inst);
}

// Lets every wave go on that waits for the semaphore now.
void gws_sema_release_all(Wave& w, const Inst& inst) {
    if (machine::GwsResource* r = gws_resource(w, inst)) r->releases.fetch_add(1);
}

constexpr HandlerEntry table[] = {
    {Opcode::ds_ordered_count, ordered_count},
    {Opcode::ds_gws_init, gws_init},
    {Opcode::ds_gws_barrier, gws_barrier},
    {Opcode::ds_gws_sema_v, gws_sema_v},
    {Opcode::ds_gws_sema_br, gws_sema_br},
    {Opcode::ds_gws_sema_p, gws_sema_p},
    {Opcode::ds_gws_sema_release_all, gws_sema_release_all},
};

}  // namespace

bool in_gds(Wave& w, const Inst& inst, Handler self) {
    if (!inst.gds) return false;
    const uint32_t bytes = gds_bytes(w);
    if (!bytes) {
        refuse(w);
        return true;
    }
    Inst local = inst;
    local.gds = false;
    uint8_t* const lds = w.lds;
    const uint32_t lds_size = w.lds_size;
    const uint32_t base = std::min(w.sgpr[machine::m0] >> 16, bytes);
    w.lds = w.ctx->gds->bytes + base;
    w.lds_size = std::min(w.sgpr[machine::m0] & 0xffff, bytes - base);
    {
        std::lock_guard lock(w.ctx->gds->mutex);
        w.ctx->gds->used = true;
        self(w, local);
    }
    w.lds = lds;
    w.lds_size = lds_size;
    return true;
}

std::span<const HandlerEntry> mem_gds_handlers() {
    return table;
}

}  // namespace wj::interp
