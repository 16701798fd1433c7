#include "memory/access.h"

#include <algorithm>

#include "memory/address_space.h"
#include "memory/page_hooks.h"
#include "memory/pages.h"

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

void drop_stale_entries(machine::ExecContext& ctx) {
    const uint64_t epoch = ctx.memory->epoch();
    if (epoch == ctx.tlb_epoch) return;
    for (auto& e : ctx.read_tlb) e = {};
    for (auto& e : ctx.write_tlb) e = {};
    ctx.tlb_epoch = epoch;
}

}  // namespace

void refresh_tlb(machine::ExecContext& ctx) {
    forget_refusal();
    if (ctx.memory) drop_stale_entries(ctx);
}

void* lookup(machine::ExecContext& ctx, uint64_t address, uint64_t bytes, bool write) {
    if (!ctx.memory) return nullptr;
    drop_stale_entries(ctx);
    Span span;
    if (!ctx.memory->span(address, write ? writable : readable, span)) return nullptr;
    if (write) ctx.memory->note_write(address, 1);
    auto& entry = (write ? ctx.write_tlb : ctx.read_tlb)[machine::tlb_index(address)];
    entry = {span.begin, span.end - span.begin, span.delta};
    return within(entry, address, bytes) ? reinterpret_cast<void*>(address + span.delta) : nullptr;
}

namespace {

// A part of an access: memory of the host's, or of pages with hooks.
struct Piece {
    uint64_t address;  // of the guest
    uint32_t bytes;
    uint8_t* host;
    std::shared_ptr<HookedPages> hooked;
};

bool find_piece(const machine::ExecContext& ctx, uint64_t address, uint32_t size, uint32_t rights,
                Piece& out) {
    if (!ctx.memory) return false;
    Span span;
    uint64_t end = 0;
    out = {address, 0, nullptr, nullptr};
    if (ctx.memory->span(address, rights, span)) {
        out.host = reinterpret_cast<uint8_t*>(address + span.delta);
        end = span.end;
    } else if ((out.hooked = ctx.memory->hooked(address, rights))) {
        end = out.hooked->begin + out.hooked->bytes;
    } else {
        return false;
    }
    out.bytes = static_cast<uint32_t>(std::min<uint64_t>(end - address, size));
    return true;
}

// Calls with each piece; false = fault, which the call says of hooks.
template <class Call>
bool for_each_piece(const machine::ExecContext& ctx, uint64_t address, uint32_t size,
                    uint32_t rights, Call call) {
    while (size) {
        Piece piece;
        if (!find_piece(ctx, ctx.reach(address), size, rights, piece) || !call(piece)) return false;
        address = piece.address + piece.bytes, size -= piece.bytes;
    }
    return true;
}

}  // namespace

bool read_bytes(machine::ExecContext& ctx, uint64_t address, void* out, uint32_t size) {
    auto* to = static_cast<uint8_t*>(out);
    return for_each_piece(ctx, address, size, readable, [&](const Piece& p) {
        if (p.hooked && !p.hooked->load(p.address, to, p.bytes)) return false;
        if (!p.hooked) load_part(to, p.host, p.bytes);
        to += p.bytes;
        return true;
    });
}

bool write_bytes(machine::ExecContext& ctx, uint64_t address, const void* in, uint32_t size) {
    if (!for_each_piece(ctx, address, size, writable, [](const Piece&) { return true; }))
        return false;
    const auto* from = static_cast<const uint8_t*>(in);
    for (uint32_t b = 0; b < size; b++) ctx.memory->note_write(ctx.reach(address + b), 1);
    return for_each_piece(ctx, address, size, writable, [&](const Piece& p) {
        if (p.hooked && !p.hooked->store(p.address, from, p.bytes)) return false;
        if (!p.hooked) store_part(p.host, from, p.bytes);
        from += p.bytes;
        return true;
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

Outcome outcome_of(machine::ExecContext& ctx, uint64_t address, uint32_t size, bool write) {
    if (ctx.memory_mode == machine::MemoryMode::Checked) {
        bool hooks = false;
        const bool fine =
            for_each_piece(ctx, address, size, write ? writable : readable, [&](const Piece& p) {
                hooks |= p.hooked != nullptr;
                return true;
            });
        return !fine ? Outcome::Fault : hooks ? Outcome::Hooks : Outcome::Memory;
    }
    // In each page the first byte: the signal names it.
    for (const uint64_t byte : {address, std::max(address, page_floor(address + size - 1))})
        if (write)
            __asm__ __volatile__("lock orb $0, %0"
                                 : "+m"(*reinterpret_cast<uint8_t*>(ctx.reach(byte)))
                                 :
                                 : "cc");
    return Outcome::Memory;
}

struct AtomicPlace::Hooked {
    std::shared_ptr<HookedPages> pages;
    std::unique_lock<std::recursive_mutex> lock;
    uint64_t address;
    uint32_t bytes;
    alignas(8) uint8_t value[8];
};

AtomicPlace::~AtomicPlace() {
    delete hooked_;
}

void AtomicPlace::load_hooked(machine::ExecContext& ctx, uint64_t address, uint32_t bytes) {
    Piece piece;
    if (!find_piece(ctx, ctx.reach(address), bytes, read_write, piece) || !piece.hooked) return;
    hooked_ = new Hooked{piece.hooked, piece.hooked->lock(), piece.address, bytes, {}};
    if (piece.hooked->load(piece.address, hooked_->value, bytes)) where_ = hooked_->value;
}

bool AtomicPlace::store_hooked() {
    return hooked_->pages->store(hooked_->address, hooked_->value, hooked_->bytes);
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
