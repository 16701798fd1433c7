// Which lanes of a memory instruction fault, and where: works the addresses out again.

#include <sys/uio.h>
#include <unistd.h>

#include <bit>

#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "interpreter/buffer_address.h"
#include "interpreter/buffer_format.h"
#include "interpreter/mem_address.h"
#include "interpreter/mem_smem.h"
#include "memory/address_space.h"
#include "memory/fault_reasons.h"

namespace wj::interp {
namespace {

constexpr const char* misaligned = memory::misaligned_atomic;
constexpr const char* beyond_scratch = memory::beyond_private_segment;

struct Kind {
    Access access = Access::Read;
    uint32_t bytes = 4;
    bool scalar = false;
};

uint32_t accessed_bytes(const Wave& w, const Inst& inst) {
    constexpr uint32_t block_dwords = 32;  // the last of them that M0 has a bit for is the end
    const Operand& data = inst.dst[0].present() ? inst.dst[0] : inst.vdata();
    if (is_vector(data) && data.dwords == block_dwords)
        return 4 * static_cast<uint32_t>(std::bit_width(w.sgpr[machine::m0]));
    if (inst.format != Format::MTBUF) return effects(inst.op).bytes;
    const Traits& t = traits(w);
    return element_bytes(t.unified_formats
                             ? unified_format(inst.buffer_format, t.gfx11_buffers).data
                             : inst.dfmt);
}

Kind kind_of(const Wave& w, const Inst& inst) {
    const Effects& e = effects(inst.op);
    const Access access = e.access == MemoryAccess::Atomic  ? Access::Atomic
                          : e.access == MemoryAccess::Store ? Access::Write
                                                            : Access::Read;
    return {access, accessed_bytes(w, inst)};
}

// Whether the host can read the byte, without touching it. True when the host does not let us ask.
bool host_readable(uint64_t address) {
    uint8_t byte;
    iovec to{&byte, 1}, from{reinterpret_cast<void*>(address), 1};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1) return true;
    return errno != EFAULT;
}

// First faulting byte of a global access, or false when it is fine. `known` is the address that the
// signal named, 0 if none.
bool global_fault(const Wave& w, uint64_t address, const Kind& k, uint64_t known, uint64_t& at) {
    address &= w.ctx->address_mask;
    const uint32_t rights = k.access == Access::Read    ? memory::readable
                            : k.access == Access::Write ? memory::writable
                                                        : memory::read_write;
    const bool identity = w.ctx->memory_mode == machine::MemoryMode::Identity;
    if (identity && known && known - address < k.bytes) {
        at = known;
        return true;
    }
    for (uint32_t b = 0; b < k.bytes; ++b) {
        if (w.ctx->memory && w.ctx->memory->translate(address + b, 1, rights)) continue;
        if (k.scalar && k.access == Access::Read && w.ctx->memory &&
            memory::scalar_readable(*w.ctx->memory, address + b))
            continue;
        // In identity mode memory that was never registered works as long as the host has it.
        const bool canonical = (address + b) >> 47 == 0;
        if (identity && canonical && host_readable(address + b) &&
            !(known && (known ^ (address + b)) >> 12 == 0))
            continue;
        at = address + b;
        return true;
    }
    return false;
}

struct Finding {
    uint64_t mask = 0, address = 0;
    const char* reason = nullptr;
    std::array<uint64_t, machine::lanes> addresses{};
};

void check_spot(const Wave& w, uint32_t lane, Spot spot, const Kind& k, uint64_t known,
                Finding& f) {
    uint64_t at = 0;
    const char* reason = nullptr;
    bool bad = false;
    if (spot.place != Place::Nowhere && k.access == Access::Atomic && spot.address % k.bytes) {
        bad = true, reason = misaligned, at = spot.address;
        if (spot.place == Place::Lds) at += machine::shared_aperture;
        if (spot.place == Place::Scratch) at += machine::private_aperture;
    } else if (spot.place == Place::Scratch) {
        bad = !scratch_in_range(w, spot.address, k.bytes);
        reason = beyond_scratch;
        at = machine::private_aperture + spot.address;
    } else if (spot.place == Place::Global) {
        bad = global_fault(w, spot.address, k, known, at);
    }
    if (!bad) return;
    if (!f.mask) f.address = at, f.reason = reason;
    if (!(f.mask >> lane & 1)) f.addresses[lane] = at;
    f.mask |= uint64_t{1} << lane;
}

template <class A>
Finding check_lanes(Wave& w, const Inst& inst, const Kind& k, uint64_t known) {
    Finding f;
    const A address(w, inst);
    for_each_lane(w.exec(), [&](uint32_t lane) {
        if constexpr (std::is_same_v<A, BufferAddress>) {
            if (address.split() && k.bytes > 4) {
                for (uint32_t b = 0; b < k.bytes; b += 4)
                    check_spot(w, lane, address.spot(lane, b, 4), {k.access, 4}, known, f);
                return;
            }
        }
        check_spot(w, lane, address.spot(lane, 0, k.bytes), k, known, f);
    });
    return f;
}

Finding check_ds(Wave& w, const Inst& inst, const Kind& k) {
    Finding f;
    if (!is_vector(inst.vaddr())) return f;
    for_each_lane(w.exec(), [&](uint32_t lane) {
        const uint32_t a = vrow(w, inst.vaddr())[lane] + static_cast<uint32_t>(inst.offset);
        check_spot(w, lane, {Place::Lds, a}, k, 0, f);
    });
    return f;
}

}  // namespace

void explain_fault(Wave& w, const Inst& inst, machine::ExitInfo& info,
                   std::array<uint64_t, machine::lanes>* addresses) {
    Kind k;
    Finding f;
    const uint64_t known = info.address;
    switch (inst.format) {
        case Format::GLOBAL:
            k = kind_of(w, inst);
            f = encoding_info(inst.op).no_address ? check_lanes<LaneAddress>(w, inst, k, known)
                                                  : check_lanes<GlobalAddress>(w, inst, k, known);
            break;
        case Format::FLAT:
            k = kind_of(w, inst);
            f = check_lanes<FlatAddress>(w, inst, k, known);
            break;
        case Format::SCRATCH:
            k = kind_of(w, inst);
            f = check_lanes<ScratchAddress>(w, inst, k, known);
            break;
        case Format::MUBUF:
        case Format::MTBUF:
            if (!inst.sbase().present()) return;
            k = kind_of(w, inst);
            f = check_lanes<BufferAddress>(w, inst, k, known);
            break;
        case Format::DS:
            k = kind_of(w, inst);
            f = check_ds(w, inst, k);
            break;
        case Format::SMEM: {
            if (!inst.sbase().present()) return;
            k = kind_of(w, inst);
            k.scalar = true;
            const uint64_t address = scalar_address(w, inst);
            uint64_t at = address;
            if (k.access == Access::Atomic && address % k.bytes)
                f.reason = misaligned;
            else
                global_fault(w, address, k, known, at);
            f.address = at;
            break;
        }
        default:
            return;
    }
    info.access = k.access;
    info.access_bytes = k.bytes;
    info.lane_mask = f.mask;
    if (addresses) *addresses = f.addresses;
    if (!info.address) info.address = f.address;
    if (f.reason && !info.reason) info.reason = f.reason;
}

void stop_with_fault(Wave& w, const Inst& inst) {
    w.exit.kind = ExitKind::MemoryFault;
    w.exit.address = 0;
    w.exit.reason = nullptr;
    explain_fault(w, inst, w.exit);
}

}  // namespace wj::interp
