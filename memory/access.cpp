#include "memory/access.h"

#include <algorithm>

#include "memory/address_space.h"

namespace wj::memory {
namespace {

// Dword by dword where that is aligned: no page boundary splits such a dword.
void load_part(uint8_t* to, const uint8_t* guest, uint32_t bytes) {
    const bool dwords = (reinterpret_cast<uintptr_t>(guest) | bytes) % 4 == 0;
    for (uint32_t b = 0; b < bytes; b += dwords ? 4 : 1)
        dwords ? load_guest<4>(to + b, guest + b) : load_guest<1>(to + b, guest + b);
}

void store_part(uint8_t* guest, const uint8_t* from, uint32_t bytes) {
    const bool dwords = (reinterpret_cast<uintptr_t>(guest) | bytes) % 4 == 0;
    for (uint32_t b = 0; b < bytes; b += dwords ? 4 : 1)
        dwords ? store_guest<4>(guest + b, from + b) : store_guest<1>(guest + b, from + b);
}

}  // namespace

void refresh_tlb(machine::ExecContext& ctx) {
    if (!ctx.memory) return;
    const uint64_t epoch = ctx.memory->epoch();
    if (epoch == ctx.tlb_epoch) return;
    for (auto& e : ctx.read_tlb) e = {};
    for (auto& e : ctx.write_tlb) e = {};
    ctx.tlb_epoch = epoch;
}

void* lookup(machine::ExecContext& ctx, uint64_t address, uint64_t bytes, bool write) {
    if (!ctx.memory) return nullptr;
    refresh_tlb(ctx);
    Span span;
    if (!ctx.memory->span(address, write ? writable : readable, span)) return nullptr;
    if (write) ctx.memory->note_write(address, 1);
    auto& entry = (write ? ctx.write_tlb : ctx.read_tlb)[machine::tlb_index(address)];
    entry = {span.begin, span.end - span.begin, span.delta};
    return within(entry, address, bytes) ? reinterpret_cast<void*>(address + span.delta) : nullptr;
}

namespace {

// Calls with the host address and the size of each piece that lies in one span; false = fault.
template <class Call>
bool for_each_piece(const machine::ExecContext& ctx, uint64_t address, uint32_t size,
                    uint32_t rights, Call call) {
    while (size) {
        address = ctx.reach(address);
        Span span;
        if (!ctx.memory || !ctx.memory->span(address, rights, span)) return false;
        const auto n = static_cast<uint32_t>(std::min<uint64_t>(span.end - address, size));
        call(reinterpret_cast<uint8_t*>(address + span.delta), n);
        address += n, size -= n;
    }
    return true;
}

}  // namespace

bool read_bytes(machine::ExecContext& ctx, uint64_t address, void* out, uint32_t size) {
    auto* to = static_cast<uint8_t*>(out);
    return for_each_piece(ctx, address, size, readable, [&](const uint8_t* from, uint32_t n) {
        load_part(to, from, n);
        to += n;
    });
}

bool write_bytes(machine::ExecContext& ctx, uint64_t address, const void* in, uint32_t size) {
    if (!for_each_piece(ctx, address, size, writable, [](uint8_t*, uint32_t) {})) return false;
    const auto* from = static_cast<const uint8_t*>(in);
    for (uint32_t b = 0; b < size; b++) ctx.memory->note_write(ctx.reach(address + b), 1);
    return for_each_piece(ctx, address, size, writable, [&](uint8_t* to, uint32_t n) {
        store_part(to, from, n);
        from += n;
    });
}

bool read_any(machine::ExecContext& ctx, uint64_t address, void* out, uint32_t size) {
    if (ctx.memory_mode == machine::MemoryMode::Checked) return read_bytes(ctx, address, out, size);
    load_part(static_cast<uint8_t*>(out), reinterpret_cast<const uint8_t*>(ctx.reach(address)),
              size);
    return true;
}

bool write_any(machine::ExecContext& ctx, uint64_t address, const void* in, uint32_t size) {
    if (ctx.memory_mode == machine::MemoryMode::Checked) return write_bytes(ctx, address, in, size);
    store_part(reinterpret_cast<uint8_t*>(ctx.reach(address)), static_cast<const uint8_t*>(in),
               size);
    return true;
}

bool accessible(machine::ExecContext& ctx, uint64_t address, uint32_t size, bool write) {
    if (ctx.memory_mode == machine::MemoryMode::Checked)
        return for_each_piece(ctx, address, size, write ? writable : readable,
                              [](uint8_t*, uint32_t) {});
    for (const uint64_t byte : {address, address + size - 1})
        if (write)
            __asm__ __volatile__("lock orb $0, %0"
                                 : "+m"(*reinterpret_cast<uint8_t*>(ctx.reach(byte)))
                                 :
                                 : "cc");
    return true;
}

namespace {

constexpr uint64_t scalar_unit = 16;

// The page of `address`, when a byte of the 16 around it can be read.
bool scalar_span(const AddressSpace& space, uint64_t address, Span& span) {
    const uint64_t unit = address & ~(scalar_unit - 1);
    for (uint64_t b = unit; b < unit + scalar_unit; ++b)
        if (space.span(b, readable, span)) return true;
    return false;
}

}  // namespace

bool scalar_readable(const AddressSpace& space, uint64_t address) {
    Span span;
    return scalar_span(space, address, span);
}

bool read_scalar_dwords(machine::ExecContext& ctx, uint64_t address, void* out, uint32_t size) {
    auto* to = static_cast<uint8_t*>(out);
    for (uint32_t b = 0; b < size; b += 4) {
        Span span;
        if (!ctx.memory || !scalar_span(*ctx.memory, address + b, span)) return false;
        load_guest<4>(to + b, reinterpret_cast<const void*>(address + b + span.delta));
    }
    return true;
}

}  // namespace wj::memory
