// Which lanes of a memory instruction fault, and where: works the addresses out again.

#include <sys/uio.h>
#include <unistd.h>

#include "interpreter/mem_smem.h"
#include "interpreter/spots.h"
#include "memory/address_space.h"
#include "memory/fault_reasons.h"
#include "memory/page_hooks.h"

namespace wj::interp {
namespace {

constexpr const char* misaligned = memory::misaligned_atomic;
constexpr const char* beyond_scratch = memory::beyond_private_segment;

struct Kind {
    Access access = Access::Read;
    uint32_t bytes = 4;
    bool scalar = false;
};

Kind kind_of(const Wave& w, const Inst& inst) {
    return {access_of(inst.op), bytes_of(w, inst)};
}

// Whether the host can read the byte, without touching it. True when the host does not let us ask.
bool host_readable(uint64_t address) {
    uint8_t byte;
    iovec to{&byte, 1}, from{reinterpret_cast<void*>(address), 1};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1) return true;
    return errno != EFAULT;
}

// Checked mode: where that byte is, there is a hook that has not refused it.
bool hook_takes(const memory::AddressSpace& space, uint64_t address, uint32_t rights) {
    return space.hooked(address, rights) && memory::refused_address() != address;
}

bool was_refused(const Wave& w, uint64_t address) {
    const uint64_t refused = memory::refused_address();
    return refused != memory::no_address && w.ctx->reach(address) == refused;
}

// host_readable() page by page: lanes lie side by side.
class HostPages {
public:
    bool readable(uint64_t address) {
        const uint64_t page = address / memory::page_size;
        if (page != page_) readable_ = host_readable(address);
        page_ = page;
        return readable_;
    }

private:
    uint64_t page_ = ~uint64_t{0};
    bool readable_ = false;
};

// First faulting byte of a global access, or false when it is fine. `known` is the address that the
// signal named, 0 if none.
bool global_fault(const Wave& w, uint64_t address, const Kind& k, uint64_t known, HostPages& pages,
                  uint64_t& at) {
    // Reports name what the guest computed, where that led into its window, too.
    const uint64_t named =
        w.ctx->memory_mode == machine::MemoryMode::Window ? address : w.ctx->reach(address);
    address = w.ctx->reach(address);
    const uint32_t rights = k.access == Access::Read    ? memory::readable
                            : k.access == Access::Write ? memory::writable
                                                        : memory::read_write;
    const bool identity = w.ctx->memory_mode != machine::MemoryMode::Checked;
    if (identity && known && known - address < k.bytes) {
        at = named + (known - address);
        return true;
    }
    const memory::AddressSpace* const space = w.ctx->memory;
    for (uint64_t b = 0, end; b < k.bytes; b = end) {
        end = b + 1;
        if (memory::Span span; space && space->span(address + b, rights, span)) {
            end = span.end - address;
            continue;
        }
        if (space && hook_takes(*space, address + b, rights)) continue;
        if (k.scalar && k.access == Access::Read && space &&
            memory::scalar_readable(*space, address + b))
            continue;
        // In identity mode memory that was never registered works as long as the host has it.
        const bool canonical = (address + b) >> 47 == 0;
        const bool known_page = known && (known ^ (address + b)) >> 12 == 0;
        if (identity && canonical && !known_page && pages.readable(address + b)) continue;
        at = named + b;
        return true;
    }
    return false;
}

struct Finding {
    uint64_t mask = 0, address = 0;
    const char* reason = nullptr;
    std::array<uint64_t, machine::lanes> addresses{};
    HostPages pages;
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
        bad = global_fault(w, spot.address, k, known, f.pages, at);
        if (bad && was_refused(w, at)) reason = memory::refused_by_hook;
    }
    if (!bad) return;
    if (!f.mask) f.address = at, f.reason = reason;
    if (!(f.mask >> lane & 1)) f.addresses[lane] = at;
    f.mask |= uint64_t{1} << lane;
}

Finding check_lanes(Wave& w, const Inst& inst, const Kind& k, uint64_t known) {
    Finding f;
    each_spot(w, inst, k.bytes, [&](uint32_t lane, Spot spot, uint32_t bytes) {
        check_spot(w, lane, spot, {k.access, bytes}, known, f);
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
        case Format::FLAT:
        case Format::SCRATCH:
        case Format::MUBUF:
        case Format::MTBUF:
            if (inst.format >= Format::MUBUF && inst.format <= Format::MTBUF &&
                !inst.sbase().present())
                return;
            k = kind_of(w, inst);
            f = check_lanes(w, inst, k, known);
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
                global_fault(w, address, k, known, f.pages, at);
            if (was_refused(w, at)) f.reason = memory::refused_by_hook;
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
    // A signal knows where in the window an address led, not which one it was.
    const bool window = w.ctx->memory_mode == machine::MemoryMode::Window;
    if (!info.address || (window && f.address)) info.address = f.address;
    if (f.reason && !info.reason) info.reason = f.reason;
}

void stop_with_fault(Wave& w, const Inst& inst) {
    w.exit.kind = ExitKind::MemoryFault;
    w.exit.address = 0;
    w.exit.reason = nullptr;
    explain_fault(w, inst, w.exit);
}

}  // namespace wj::interp
