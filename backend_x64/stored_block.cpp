#include "backend_x64/stored_block.h"

#include <cstring>
#include <type_traits>

#include "backend_x64/build_identity.h"

namespace wj::x64 {

// Guest addresses are distances from the block's first instruction.
struct StoredBlock::Head {
    int64_t begin, end;
    uint64_t memory_stubs;
    uint32_t guest_count, size, code_size, body_offset, budget_return_offset, together_offset;
    uint32_t pages, pcs, guest_pcs, links, addresses;
};

struct StoredBlock::Link {
    int64_t target;
    uint32_t return_offset, cold_offset, slot_offset, variant;
};

struct StoredBlock::Address {
    int64_t value;  // Host: distance from wavejit's first byte
    uint32_t offset, kind;
};

namespace {

constexpr uint32_t most_bytes = 1u << 20;  // of code, and as many entries in each table

template <class T>
void put(std::vector<std::byte>& out, const T* values, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(values);
    out.insert(out.end(), bytes, bytes + count * sizeof(T));
    out.resize((out.size() + 7) & ~size_t{7});
}

template <class T>
bool take(std::span<const std::byte>& from, size_t count, std::span<const T>& out) {
    const size_t bytes = (count * sizeof(T) + 7) & ~size_t{7};
    if (count > most_bytes || bytes > from.size()) return false;
    out = {reinterpret_cast<const T*>(from.data()), count};
    from = from.subspan(bytes);
    return true;
}

int64_t distance(uint64_t from, uint64_t to) {
    return static_cast<int64_t>(to - from);
}

uint64_t address(uint64_t from, int64_t distance) {
    return from + static_cast<uint64_t>(distance);
}

}  // namespace

std::vector<std::byte> store_block(const CompiledBlock& code, const BlockRecord& record,
                                   std::span<const CodePage> pages, uint64_t home) {
    const BuildIdentity& build = build_identity();
    auto count = [](const auto& list) { return static_cast<uint32_t>(list.size()); };
    const StoredBlock::Head head{distance(record.pc, record.begin_pc),
                                 distance(record.pc, record.end_pc),
                                 code.memory_stubs,
                                 record.guest_count,
                                 code.size,
                                 code.code_size,
                                 code.body_offset,
                                 code.budget_return_offset,
                                 code.together_offset,
                                 count(pages),
                                 count(code.pcs),
                                 count(record.guest_pcs),
                                 count(code.links),
                                 count(code.relocations)};
    std::vector<StoredBlock::Page> stored_pages;
    for (const CodePage& p : pages) stored_pages.push_back({distance(home, p.number), p.hash});
    std::vector<int64_t> guest_pcs;
    for (const uint64_t pc : record.guest_pcs) guest_pcs.push_back(distance(record.pc, pc));
    std::vector<uint8_t> bytes(code.code, code.code + code.size);
    std::vector<StoredBlock::Link> links;
    for (const LinkSite& l : code.links) {
        links.push_back({distance(record.pc, l.target), l.return_offset, l.cold_offset,
                         l.slot_offset, static_cast<uint32_t>(l.variant)});
        std::memset(&bytes[l.slot_offset], 0, 8);
    }
    std::vector<StoredBlock::Address> addresses;
    for (const Relocation& r : code.relocations) {
        const bool host = r.kind == Relocation::Kind::Host;
        if (host && !build.contains(r.value)) return {};
        addresses.push_back({distance(host ? build.begin : record.pc, r.value), r.offset,
                             static_cast<uint32_t>(r.kind)});
        std::memset(&bytes[r.offset], 0, 8);
    }
    std::vector<std::byte> out;
    put(out, &head, 1);
    put(out, stored_pages.data(), stored_pages.size());
    put(out, code.pcs.data(), code.pcs.size());
    put(out, guest_pcs.data(), guest_pcs.size());
    put(out, links.data(), links.size());
    put(out, addresses.data(), addresses.size());
    put(out, bytes.data(), bytes.size());
    // Nothing is kept that could not be read again.
    return StoredBlock(out).ok() ? out : std::vector<std::byte>{};
}

StoredBlock::StoredBlock(std::span<const std::byte> bytes) {
    std::span<const Head> head;
    if (!take(bytes, 1, head)) return;
    const Head& h = head[0];
    if (take(bytes, h.pages, pages_) && take(bytes, h.pcs, pcs_) &&
        take(bytes, h.guest_pcs, guest_pcs_) && take(bytes, h.links, links_) &&
        take(bytes, h.addresses, addresses_) && take(bytes, h.size, code_) && bytes.empty()) {
        head_ = &h;
        if (!well_formed()) head_ = nullptr;
    }
}

// Offsets stay inside the block, as everyone who uses them trusts.
bool StoredBlock::well_formed() const {
    const Head& h = *head_;
    auto slot = [&](uint32_t offset) { return h.size >= 8 && offset <= h.size - 8; };
    if (h.code_size > h.size || h.body_offset > h.code_size || h.guest_count == 0 ||
        h.budget_return_offset > h.size || h.together_offset > h.code_size ||
        h.memory_stubs >> memory_stub_count || pages_.empty() || guest_pcs_.empty())
        return false;
    uint32_t last = 0;
    for (const PcEntry& e : pcs_) {  // guest indices: whoever looks tests them
        if (e.offset < last || e.offset > h.code_size) return false;
        last = e.offset;
    }
    for (const Link& l : links_)
        if (l.return_offset > h.size || l.cold_offset > h.code_size || !slot(l.slot_offset) ||
            l.slot_offset % 8 /* it is changed while others jump */ || l.variant >= variant_count)
            return false;
    for (const Address& a : addresses_)
        if (!slot(a.offset) || a.kind > static_cast<uint32_t>(Relocation::Kind::Host)) return false;
    return true;
}

bool StoredBlock::restore(uint64_t pc, const Instruction& instruction, std::vector<uint8_t>& bytes,
                          CompiledBlock& code, BlockRecord& record) const {
    const BuildIdentity& build = build_identity();
    bytes.assign(code_.begin(), code_.end());
    for (const Address& a : addresses_) {
        uint64_t value = address(pc, a.value);
        const auto kind = static_cast<Relocation::Kind>(a.kind);
        if (kind == Relocation::Kind::Host) {
            value = address(build.begin, a.value);
            if (!build.contains(value)) return false;
        } else if (kind == Relocation::Kind::Instruction) {
            value = reinterpret_cast<uint64_t>(instruction(value));
            if (!value) return false;
        }
        std::memcpy(&bytes[a.offset], &value, 8);
    }
    code = {};
    code.code = bytes.data();
    code.size = head_->size;
    code.code_size = head_->code_size;
    code.body_offset = head_->body_offset;
    code.budget_return_offset = head_->budget_return_offset;
    code.together_offset = head_->together_offset;
    code.memory_stubs = head_->memory_stubs;
    code.pcs.assign(pcs_.begin(), pcs_.end());
    for (const Link& l : links_)
        code.links.push_back({l.return_offset, l.cold_offset, l.slot_offset, address(pc, l.target),
                              static_cast<Variant>(l.variant)});
    record.pc = pc;
    record.begin_pc = address(pc, head_->begin);
    record.end_pc = address(pc, head_->end);
    record.guest_count = head_->guest_count;
    for (const int64_t d : guest_pcs_) record.guest_pcs.push_back(address(pc, d));
    return true;
}

}  // namespace wj::x64
