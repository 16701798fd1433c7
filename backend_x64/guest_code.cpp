#include "backend_x64/guest_code.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "frontend/inst.h"
#include "memory/address_space.h"

namespace wj::x64 {
namespace {

static_assert(memory::page_size == 4096);

}  // namespace

Hash hash_of(const void* data, size_t bytes) {
    const XXH128_hash_t h = XXH3_128bits(data, bytes);
    return {h.low64, h.high64};
}

void GuestCode::begin(const machine::ExecContext& ctx) {
    ctx_ = &ctx;
    read_.clear();
}

void GuestCode::forget() {
    copies_.clear();
    read_.clear();
    uncertain_ = false;
}

const GuestCode::Copy* GuestCode::copy_of(uint64_t number) {
    const void* host =
        ctx_->memory->translate(number << memory::page_bits, memory::page_size, memory::executable);
    if (!host) return nullptr;
    std::unique_ptr<Copy>& copy = copies_[number];
    if (copy && std::memcmp(copy->words, host, memory::page_size) == 0) return copy.get();
    if (copy)
        uncertain_ = true;
    else
        copy = std::make_unique<Copy>();
    std::memcpy(copy->words, host, memory::page_size);
    copy->hash = hash_of(copy->words, sizeof copy->words);
    return copy.get();
}

CodePage GuestCode::page(uint64_t number) {
    const Copy* copy = copy_of(number);
    return {number, copy ? copy->hash : Hash{}};
}

std::span<const uint32_t> GuestCode::fetch(uint64_t pc, std::vector<uint32_t>& buffer) {
    if (pc & 3) return {};
    const uint64_t at = ctx_->reach(pc), number = at >> memory::page_bits;
    const auto first = static_cast<uint32_t>(at % memory::page_size / 4);
    if (!ctx_->memory) {  // bare memory of this process
        uncertain_ = true;
        buffer.clear();
        if (ctx_->memory_mode == machine::MemoryMode::Checked) return {};
        const auto* from = reinterpret_cast<const uint32_t*>(at);
        buffer.assign(from, from + (page_words - first));
        return buffer;
    }
    read_.push_back(number);
    const Copy* copy = copy_of(number);
    if (!copy) return {};
    const std::span<const uint32_t> here(copy->words + first, page_words - first);
    if (here.size() >= most_instruction_words) return here;
    // An instruction may go on in the next page.
    buffer.assign(here.begin(), here.end());
    read_.push_back(number + 1);
    if (const Copy* next = copy_of(number + 1))
        buffer.insert(buffer.end(), next->words, next->words + most_instruction_words);
    return buffer;
}

}  // namespace wj::x64
