#include "ir/evaluate_memory.h"

#include <algorithm>
#include <cstring>

#include "ir/buffer.h"

namespace wj::ir {
namespace {

using machine::lanes;
using machine::Wave;

enum class Space : uint8_t { Global, Flat, Lds, Scratch };

// One byte of memory as lane `lane` sees it; nullptr when the access is dropped or reads 0.
uint8_t* byte_at(Wave& w, Space space, uint64_t address, uint64_t size, uint64_t offset,
                 uint32_t lane) {
    if (space == Space::Flat) {
        const uint64_t high = address >> 32 << 32;
        space = high == machine::shared_aperture    ? Space::Lds
                : high == machine::private_aperture ? Space::Scratch
                                                    : Space::Global;
        if (space != Space::Global) address &= 0xffffffff;
    }
    if (space == Space::Lds) {  // out of range is decided dword by dword
        const uint64_t unit = size < 4 ? size : 4, first = address + offset / unit * unit;
        return first + unit <= w.lds_size ? w.lds + address + offset : nullptr;
    }
    if (space == Space::Scratch) {
        const uint64_t o = address + offset;
        return w.scratch + (o / 4 * w.size + lane) * 4 + o % 4;
    }
    return reinterpret_cast<uint8_t*>(w.ctx->reach(address) + offset);
}

// Dwords are in range, or not, one by one.
uint8_t* buffer_byte(Wave& w, uint64_t base, uint64_t limit, uint32_t o, uint32_t size, uint32_t b,
                     uint32_t lane) {
    if (base & buffer_private)
        return byte_at(w, Space::Scratch, static_cast<uint32_t>(base + o), size, b, lane);
    uint64_t address = 0;
    if (!buffer_address(base, limit, lane, uint64_t{o} + (b & ~3u), std::min(size, 4u), address))
        return nullptr;
    return byte_at(w, Space::Global, address, 4, b & 3, lane);
}

}  // namespace

void evaluate_memory(const Inst& i, Wave& w, Cells& v, Cell& result) {
    const bool store = op_info(i.op).cls == Class::LaneStore;
    const bool scalar = has_scalar_base(i.op);
    const Space space = i.op == Op::LoadLds || i.op == Op::StoreLds           ? Space::Lds
                        : i.op == Op::LoadScratch || i.op == Op::StoreScratch ? Space::Scratch
                        : i.op == Op::LoadFlat || i.op == Op::StoreFlat       ? Space::Flat
                                                                              : Space::Global;
    const Access access = aux_access(i.aux);
    const uint32_t size = access_bytes(access, aux_dwords(i.aux));
    const Cell& mask = v[i.args[scalar ? 2 : 1]];
    const bool buffer = i.op == Op::LoadBuffer || i.op == Op::StoreBuffer;
    for (uint32_t l = 0; l < lanes; ++l) {
        if (!mask.e[0][l]) continue;
        uint64_t address =
            (scalar ? v[i.args[0]].u() + v[i.args[1]].e[0][l] : v[i.args[0]].e[0][l]) + i.imm;
        if (space == Space::Lds) address += i.imm >> 32;
        if (space == Space::Lds || space == Space::Scratch)
            address = static_cast<uint32_t>(address);  // wraps around
        uint32_t element[4] = {};
        if (store) {
            for (uint32_t d = 0; d < aux_dwords(i.aux); ++d)
                element[d] = static_cast<uint32_t>(v[i.args[4 + d]].e[0][l]);
            if (access == Access::U8D16Hi || access == Access::U16D16Hi) element[0] >>= 16;
        }
        for (uint32_t b = 0; b < size; ++b) {
            uint8_t* at = buffer ? buffer_byte(w, v[i.args[2]].u(), v[i.args[3]].u(),
                                               static_cast<uint32_t>(address), size, b, l)
                                 : byte_at(w, space, address, size, b, l);
            auto* byte = reinterpret_cast<uint8_t*>(element) + b;
            if (at) store ? * at = *byte : * byte = *at;
        }
        if (store) continue;
        if (access == Access::S8)
            element[0] = static_cast<uint32_t>(static_cast<int8_t>(element[0]));
        if (access == Access::S16)
            element[0] = static_cast<uint32_t>(static_cast<int16_t>(element[0]));
        for (uint32_t d = 0; d < 4; ++d) result.e[d][l] = element[d];
    }
}

void evaluate_atomic(const Inst& i, Wave& w, Cells& v, Cell& result) {
    const bool scalar = has_scalar_base(i.op);
    const uint32_t dwords = aux_dwords(i.aux);
    const uint8_t flags = aux_atomic_flags(i.aux);
    const uint32_t bytes = atomic_bytes(dwords, flags), low = std::min(bytes, 4u);
    const Cell& mask = v[i.args[scalar ? 2 : 1]];
    const Space space = i.op == Op::AtomicLds    ? Space::Lds
                        : i.op == Op::AtomicFlat ? Space::Flat
                                                 : Space::Global;
    auto data = [&](uint32_t operand, uint32_t l) {
        uint64_t x = 0;
        for (uint32_t d = 0; d < dwords; ++d)
            x |= v[i.args[4 + operand * dwords + d]].e[0][l] << 32 * d;
        return x;
    };
    for (uint32_t l = 0; l < lanes; ++l) {
        if (!mask.e[0][l]) continue;
        uint64_t address =
            (scalar ? v[i.args[0]].u() + v[i.args[1]].e[0][l] : v[i.args[0]].e[0][l]) + i.imm;
        if (space == Space::Lds) address &= 0xffffffff;
        uint8_t* at = byte_at(w, space, address, bytes, 0, l);
        uint64_t old = 0, now = 0;
        if (at && byte_at(w, space, address, bytes, bytes - low, l)) {
            const bool two = atomic_operands(aux_atomic(i.aux)) == 2;
            const bool in_lds =
                space == Space::Lds || address >> 32 << 32 == machine::shared_aperture;
            const bool apart =
                space == Space::Flat && address >> 32 << 32 == machine::private_aperture;
            auto* high = apart ? at + 4 * w.size : at + 4;  // scratch is interleaved by dwords
            std::memcpy(&old, at, low);
            if (dwords == 2) std::memcpy(reinterpret_cast<uint8_t*>(&old) + 4, high, 4);
            now = atomic_apply(aux_atomic(i.aux), dwords, flags, in_lds, old, data(0, l),
                               two ? data(1, l) : 0);
            std::memcpy(at, &now, low);
            if (dwords == 2) std::memcpy(high, reinterpret_cast<const uint8_t*>(&now) + 4, 4);
        }
        const uint64_t value = flags & new_values ? now : old;
        for (uint32_t d = 0; d < dwords; ++d)
            result.e[d][l] = static_cast<uint32_t>(value >> 32 * d);
    }
}

}  // namespace wj::ir
