#include "memory/access.h"

#include "memory/address_space.h"

namespace wj::memory {
namespace {

uint64_t table_entry(const AddressSpace& space, uint64_t address) {
    if (address >> 48) return 0;
    const PageTable* table = space.page_table();
    const auto* middle = table->middle[address >> 36].load(std::memory_order_acquire);
    if (!middle) return 0;
    const auto* leaf = middle->leaf[address >> 24 & 0xfff].load(std::memory_order_acquire);
    if (!leaf) return 0;
    return leaf->entry[address >> 12 & 0xfff].load(std::memory_order_acquire);
}

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
    for (auto& e : ctx.read_tlb) e.page = ~0ull;
    for (auto& e : ctx.write_tlb) e.page = ~0ull;
    ctx.tlb_epoch = epoch;
}

void* lookup(machine::ExecContext& ctx, uint64_t address, bool write) {
    if (!ctx.memory) return nullptr;
    refresh_tlb(ctx);
    const uint64_t entry = table_entry(*ctx.memory, address);
    if (!(entry & (write ? writable : readable))) return nullptr;
    const uint64_t page = address & ~(page_size - 1);
    const uint64_t host_page = entry & ~(page_size - 1);
    auto& slot = (write ? ctx.write_tlb : ctx.read_tlb)[machine::tlb_index(address)];
    slot.page = page;
    slot.delta = host_page - page;
    return reinterpret_cast<void*>(address + slot.delta);
}

bool read_bytes(machine::ExecContext& ctx, uint64_t address, void* out, uint32_t size) {
    auto* to = static_cast<uint8_t*>(out);
    while (size) {
        address &= ctx.address_mask;
        const uint32_t here = static_cast<uint32_t>(page_size - (address & (page_size - 1)));
        const uint32_t n = here < size ? here : size;
        const void* from = host_pointer(ctx, address, false);
        if (!from) return false;
        load_part(to, static_cast<const uint8_t*>(from), n);
        to += n, address += n, size -= n;
    }
    return true;
}

bool write_bytes(machine::ExecContext& ctx, uint64_t address, const void* in, uint32_t size) {
    // All pages are looked up before anything is written, so that a faulting access leaves memory
    // alone.
    if (size == 0) return true;
    for (uint64_t a = address; a < address + size; a = (a | (page_size - 1)) + 1)
        if (!host_pointer(ctx, a & ctx.address_mask, true)) return false;
    auto* from = static_cast<const uint8_t*>(in);
    while (size) {
        const uint64_t masked = address & ctx.address_mask;
        const uint32_t here = static_cast<uint32_t>(page_size - (masked & (page_size - 1)));
        const uint32_t n = here < size ? here : size;
        void* to = host_pointer(ctx, masked, true);
        if (!to) return false;
        store_part(static_cast<uint8_t*>(to), from, n);
        from += n, address += n, size -= n;
    }
    return true;
}

}  // namespace wj::memory
