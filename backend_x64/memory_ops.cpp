// The out-of-line path of lane memory operations: any space, any pattern, both memory modes, lane
// by lane.
#include <cstring>

#include "backend_x64/frame.h"
#include "ir/ir.h"
#include "memory/access.h"

namespace wj::x64 {
namespace {

using ir::Access;
using machine::Wave;

uint32_t element_bytes(const MemoryOp& op) {
    switch (static_cast<Access>(op.access)) {
        case Access::U8:
        case Access::S8:
        case Access::U8D16Hi:
            return 1;
        case Access::U16:
        case Access::S16:
        case Access::U16D16Hi:
            return 2;
        default:
            return op.dwords * 4u;
    }
}

uint32_t extend(Access access, uint32_t raw) {
    switch (access) {
        case Access::S8:
            return static_cast<uint32_t>(static_cast<int8_t>(raw));
        case Access::S16:
            return static_cast<uint32_t>(static_cast<int16_t>(raw));
        default:
            return raw;
    }
}

// Private byte `offset` of a lane.
uint8_t* scratch_byte(Wave& w, uint64_t offset, uint32_t lane) {
    return w.scratch + (offset / 4) * 256 + lane * 4 + offset % 4;
}

}  // namespace

bool run_memory_op(Wave& w, Frame& f, const MemoryOp& op, uint32_t first_lane) {
    const uint32_t bytes = element_bytes(op);
    const auto access = static_cast<Access>(op.access);
    machine::ExecContext& ctx = *w.ctx;
    w.exit.pc = op.pc;  // for a signal in identity mode
    uint64_t failed = 0, first_address = 0;
    for (uint64_t m = f.mask & ((1u << op.lanes) - 1); m; m &= m - 1) {
        const auto l = static_cast<uint32_t>(__builtin_ctzll(m));
        uint32_t element[4] = {};
        if (op.store) {
            for (uint32_t d = 0; d < op.dwords; ++d) element[d] = f.data[d][l];
            if (access == Access::U8D16Hi || access == Access::U16D16Hi) element[0] >>= 16;
        }
        uint8_t space = op.space;
        uint64_t address = 0;
        if (space == global_space || space == flat_space) {
            address = (f.address_base + (f.address_lo[l] | uint64_t{f.address_hi[l]} << 32)) +
                      static_cast<uint64_t>(op.offset);
            if (space == flat_space) {
                const uint64_t aperture = address & 0xffffffff00000000;
                space = aperture == machine::shared_aperture    ? lds_space
                        : aperture == machine::private_aperture ? scratch_space
                                                                : global_space;
                if (space != global_space) address &= 0xffffffff;
            }
        } else {
            address = f.address_lo[l] + static_cast<uint64_t>(op.offset);
            address = static_cast<uint32_t>(address);  // wraps around
        }
        bool ok = true;
        if (space == lds_space) {
            // Out of range is decided dword by dword.
            const uint32_t unit = bytes < 4 ? bytes : 4;
            for (uint32_t o = 0; o < bytes; o += unit) {
                if (address + o + unit > w.lds_size || address + o < address) continue;
                auto* part = reinterpret_cast<uint8_t*>(element) + o;
                if (op.store)
                    std::memcpy(w.lds + address + o, part, unit);
                else
                    std::memcpy(part, w.lds + address + o, unit);
            }
        } else if (space == scratch_space) {
            ok = address + bytes <= w.scratch_bytes && address + bytes >= address;
            for (uint32_t b = 0; ok && b < bytes; ++b) {
                uint8_t* at = scratch_byte(w, address + b, first_lane + l);
                auto* byte = reinterpret_cast<uint8_t*>(element) + b;
                if (op.store)
                    *at = *byte;
                else
                    *byte = *at;
            }
        } else if (ctx.memory_mode == machine::MemoryMode::Identity) {
            auto* at = reinterpret_cast<uint8_t*>(address & ctx.address_mask);
            switch (bytes) {  // constant sizes: single moves
                case 1:
                    op.store ? std::memcpy(at, element, 1) : std::memcpy(element, at, 1);
                    break;
                case 2:
                    op.store ? std::memcpy(at, element, 2) : std::memcpy(element, at, 2);
                    break;
                case 4:
                    op.store ? std::memcpy(at, element, 4) : std::memcpy(element, at, 4);
                    break;
                case 8:
                    op.store ? std::memcpy(at, element, 8) : std::memcpy(element, at, 8);
                    break;
                case 12:
                    op.store ? std::memcpy(at, element, 12) : std::memcpy(element, at, 12);
                    break;
                default:
                    op.store ? std::memcpy(at, element, 16) : std::memcpy(element, at, 16);
                    break;
            }
        } else {
            const uint64_t masked = address & ctx.address_mask;
            if ((masked & 0xfff) + bytes <= 4096) {
                void* at = memory::host_pointer(ctx, masked, op.store);
                ok = at != nullptr;
                if (ok && op.store)
                    std::memcpy(at, element, bytes);
                else if (ok)
                    std::memcpy(element, at, bytes);
            } else {
                ok = op.store ? memory::write_bytes(ctx, masked, element, bytes)
                              : memory::read_bytes(ctx, masked, element, bytes);
            }
        }
        if (!ok) {
            if (!failed)
                first_address = space == scratch_space && op.space == flat_space
                                    ? address | machine::private_aperture
                                    : address;
            failed |= 1ull << (first_lane + l);
            continue;
        }
        if (!op.store) {
            f.data[0][l] = bytes < 4 ? extend(access, element[0]) : element[0];
            for (uint32_t d = 1; d < op.dwords; ++d) f.data[d][l] = element[d];
        }
    }
    if (!failed) return true;
    w.exit = {};
    w.exit.kind = machine::ExitKind::MemoryFault;
    w.exit.access = op.store ? machine::Access::Write : machine::Access::Read;
    w.exit.access_bytes = bytes;
    w.exit.pc = op.pc;
    w.exit.address = first_address;
    w.exit.lane_mask = failed;
    return false;
}

bool checked_uload(Wave& w, uint64_t address, uint32_t bytes, uint64_t* value) {
    uint64_t v = 0;
    bool ok;
    if (bytes == 4) {
        uint32_t x = 0;
        ok = memory::read(*w.ctx, address, x);
        v = x;
    } else {
        ok = memory::read(*w.ctx, address, v);
    }
    *value = v;
    if (ok) return true;
    w.exit = {};
    w.exit.kind = machine::ExitKind::MemoryFault;
    w.exit.access = machine::Access::Read;
    w.exit.access_bytes = bytes;
    w.exit.address = address & w.ctx->address_mask;
    return false;
}

}  // namespace wj::x64
