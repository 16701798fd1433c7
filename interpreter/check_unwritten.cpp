// Global memory that nobody has written since it was allocated, and private memory that its lane
// has not. Stores mark it. A wave that is about to load some of it is watched from there on, so
// that what becomes of it is found out (check_init.cpp); who runs it has to be told. Atomic
// operations are findings at once: they make something of what is there.
#include <algorithm>

#include "interpreter/check_parts.h"
#include "interpreter/spots.h"
#include "memory/fault_reasons.h"

namespace wj::interp {
namespace {

using Accesses = machine::UnwrittenMemory::Accesses;

constexpr uint32_t largest_element = 16;  // of a typed buffer
constexpr uint32_t most_bytes = 64;       // that Accesses tells of at once

// They do not go by what is there.
bool only_replaces(Opcode op) {
    constexpr Opcode ops[] = {
        Opcode::global_atomic_swap,  Opcode::global_atomic_swap_x2, Opcode::flat_atomic_swap,
        Opcode::flat_atomic_swap_x2, Opcode::buffer_atomic_swap,    Opcode::buffer_atomic_swap_x2,
    };
    return std::ranges::find(ops, op) != std::end(ops);
}

// Calls f(address, bytes) for what the lanes access; once for those that follow one another.
template <class F>
void each_run(Wave& w, const Inst& inst, uint32_t bytes, F&& f) {
    uint64_t begin = 0, end = 0;
    each_global(w, inst, bytes, [&](uint32_t, uint64_t address, uint32_t, uint32_t size) {
        if (address != end) {
            if (begin != end) f(begin, end - begin);
            begin = address;
        }
        end = address + size;
    });
    if (begin != end) f(begin, end - begin);
}

// Where lanes access global memory, if that is little: all of it lies in [begin, end).
struct Extent {
    uint64_t begin = ~uint64_t{0}, end = 0;
    void add(uint64_t address, uint32_t bytes) {
        begin = std::min(begin, address);
        end = std::max(end, address + bytes);
    }
};

// All lanes are on, and their addresses have one upper half.
bool add_lines(const GlobalAddress& address, uint32_t count, uint32_t bytes, Extent& out) {
    if (address.element_bytes != 1 || address.is_signed) return false;
    uint32_t low = ~0u, high = 0, differ = 0;
    for (uint32_t l = 0; l < count; l++) {
        low = std::min(low, address.low[l]);
        high = std::max(high, address.low[l]);
    }
    for (uint32_t l = 0; address.high && l < count; l++)
        differ |= address.high[l] ^ address.high[0];
    const uint64_t base = address.base + (address.high ? uint64_t{address.high[0]} << 32 : 0);
    out.begin = base + low;
    out.end = base + high + bytes;
    return !differ;
}

// False: there is more to it.
bool extent_of(Wave& w, const Inst& inst, uint32_t bytes, Extent& out) {
    constexpr uint64_t most = 4096;
    const bool by_lanes = inst.format == Format::GLOBAL || inst.format == Format::FLAT;
    if (!by_lanes || encoding_info(inst.op).no_address || !w.exec()) return false;
    const GlobalAddress address(w, inst);
    if (w.exec() != machine::first_lanes(w.size) || !add_lines(address, w.size, bytes, out)) {
        out = {};
        for_each_lane(w.exec(), [&](uint32_t lane) { out.add(address.at(lane), bytes); });
    }
    // Apertures of other places are above.
    return out.end - out.begin <= most && out.begin == w.ctx->reach(out.begin) &&
           out.end == w.ctx->reach(out.end) && out.end < machine::shared_aperture;
}

// Nothing is to be noted or found of the access, as memory there has been written.
bool is_written(Wave& w, const Inst& inst, Accesses& accesses) {
    Extent extent;
    return !converts(inst) && extent_of(w, inst, bytes_of(w, inst), extent) &&
           accesses.written(extent.begin, extent.end - extent.begin);
}

void mark_written(Wave& w, const Inst& inst, Accesses& accesses) {
    const bool unknown = converts(inst) && inst.format != Format::MTBUF;
    each_run(w, inst, unknown ? largest_element : bytes_of(w, inst),
             [&](uint64_t at, uint64_t bytes) { accesses.write(at, bytes); });
}

bool loads_unwritten(Wave& w, const Inst& inst, Accesses& accesses) {
    bool found = false;
    each_run(w, inst, converts(inst) ? 1 : bytes_of(w, inst),
             [&](uint64_t at, uint64_t bytes) { found = found || !accesses.written(at, bytes); });
    return found;
}

void find_atomic(Wave& w, const Inst& inst, Accesses& accesses, Finding& found) {
    each_global(w, inst, bytes_of(w, inst),
                [&](uint32_t lane, uint64_t address, uint32_t, uint32_t bytes) {
                    if (!accesses.unwritten(address, bytes)) return;
                    if (!found.what) found.address = address;
                    found.what = memory::unwritten_memory;
                    if (inst.format != Format::SMEM) found.lanes |= uint64_t{1} << lane;
                });
}

// Whether it loads what nobody has written.
bool uses_global(Wave& w, const Inst& inst, Access access) {
    Finding found{.check = machine::check_init, .access = access, .bytes = bytes_of(w, inst)};
    {
        Accesses accesses(*shadow_of(w)->dispatch->unwritten);
        if (is_written(w, inst, accesses)) return false;
        if (access == Access::Read) return loads_unwritten(w, inst, accesses);
        if (access == Access::Atomic && !only_replaces(inst.op))
            find_atomic(w, inst, accesses, found);
        mark_written(w, inst, accesses);
    }
    if (found.what) report(w, inst, found);
    return false;
}

// The same of private memory. Lanes mostly have one offset.
bool uses_private(Wave& w, const Inst& inst, Access access) {
    std::vector<uint64_t>& written = registers_of(w).scratch;
    const uint32_t bytes = converts(inst) ? 1 : bytes_of(w, inst);
    uint64_t offset = 0, together = 0;
    uint32_t size = 0;
    bool found = false;
    const auto settle = [&] {
        for (uint32_t b = 0; together && b < size; b++) {
            found |= access == Access::Read && (together & ~written[offset + b]);
            if (access != Access::Read) written[offset + b] |= together;
        }
    };
    each_spot(w, inst, bytes, [&](uint32_t lane, Spot spot, uint32_t part) {
        if (spot.place != Place::Scratch || !scratch_in_range(w, spot.address, part)) return;
        if (!together || spot.address != offset || part != size) {
            settle();
            offset = spot.address;
            size = part;
            together = 0;
        }
        together |= uint64_t{1} << lane;
    });
    settle();
    return found;
}

}  // namespace

bool loads_to_registers(const Inst& inst) {
    const Effects& e = effects(inst.op);
    return e.access == MemoryAccess::Load && !e.across && !inst.lds && inst.dst[0].present() &&
           e.bytes <= most_bytes && inst.dst[0].dwords <= most_bytes / 4;
}

bool looks_at_unwritten(Opcode op) {
    const Format format = op_info(op).format;
    return effects(op).access != MemoryAccess::None &&
           (format == Format::GLOBAL || format == Format::FLAT || format == Format::SCRATCH ||
            format == Format::MUBUF || format == Format::MTBUF || format == Format::SMEM);
}

void check_unwritten(Wave& w, const Inst& inst) {
    const machine::DispatchShadow& dispatch = *shadow_of(w)->dispatch;
    const bool watched = registers_of(w).watches_bits;
    const Access access = access_of(inst.op);
    // Of a watched wave it is InitCheck that knows what is stored, and what becomes of loads.
    if (watched && access != Access::Atomic) return;
    const bool stays = access == Access::Read && !(dispatch.watches && loads_to_registers(inst));
    bool loads = w.scratch_bytes && !watched && uses_private(w, inst, access);
    if (dispatch.unwritten->any() && inst.format != Format::SCRATCH && !stays)
        loads |= uses_global(w, inst, access);
    if (!loads || stays) return;
    shadow_of(w)->watches_bits = true;
    registers_of(w).begin_watching(w.vgpr_count + w.agpr_count);
    w.pc -= inst.size;
    w.exit.kind = ExitKind::Yield;
    w.exit.reason = memory::watched_from_here;
}

}  // namespace wj::interp
