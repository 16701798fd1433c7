#include "backend_x64/code_cache.h"

#include <algorithm>
#include <cstring>

#include "common/sanitizer.h"
#include "frontend/inst.h"

namespace wj::x64 {

CodeSpace& CodeCache::space(const SpaceKey& key) {
    for (auto& s : spaces_)
        if (s->key == key) return *s;
    spaces_.push_back(std::make_unique<CodeSpace>());
    spaces_.back()->key = key;
    return *spaces_.back();
}

void CodeCache::reset() {
    count_.store(0, std::memory_order_release);
    records_.clear();
    spaces_.clear();
    dead_bytes_ = 0;
}

BlockRecord* CodeCache::lookup(CodeSpace& space, uint64_t pc, Variant variant) {
    const auto it = space.blocks.find(pc);
    return it == space.blocks.end() ? nullptr : it->second[static_cast<size_t>(variant)];
}

// A filled entry is never given to another PC: a reader that has compared the PC may still read the
// entry.
void CodeCache::publish_jump(BlockRecord& block) {
    if (!is_entered(block.variant)) return;
    JumpEntry& e = block.space->jumps[block.pc >> 2 & (jump_entries - 1)];
    auto pc = std::atomic_ref(e.pc);
    if (const uint64_t now = pc.load(); now != ~0ull && now != block.pc) return;
    std::atomic_ref(e.entry[block.variant == Variant::Full])
        .store(block.host, std::memory_order_release);
    pc.store(block.pc, std::memory_order_release);
}

BlockRecord* CodeCache::install(CodeSpace& space, const CompiledBlock& code, BlockRecord record) {
    uint8_t* to = buffer_.allocate(code.size);
    const uint32_t index = count_.load(std::memory_order_relaxed);
    if (!to || index >= chunk_size * chunk_count) return nullptr;
    std::memcpy(to, code.code, code.size);
    const uint8_t* host = buffer_.executable(to);
    record.host = host;
    record.size = code.size;
    record.code_size = code.code_size;
    record.body_offset = code.body_offset;
    record.budget_return_offset = code.budget_return_offset;
    record.together_offset = code.together_offset;
    record.pcs = code.pcs;
    record.links = code.links;
    record.space = &space;
    for (const LinkSite& site : record.links) {
        const uint64_t unlinked = reinterpret_cast<uint64_t>(host + site.cold_offset);
        std::memcpy(to + site.slot_offset, &unlinked, 8);
    }
    records_.push_back(std::make_unique<BlockRecord>(std::move(record)));
    BlockRecord& block = *records_.back();
    Chunk* chunk = chunks_[index / chunk_size].load(std::memory_order_relaxed);
    if (!chunk) {
        chunk_owners_.push_back(std::make_unique<Chunk>());
        chunk = chunk_owners_.back().get();
        chunks_[index / chunk_size].store(chunk, std::memory_order_release);
    }
    chunk->records[index % chunk_size] = &block;
#if WJ_THREAD_SANITIZER
    __tsan_release(&published_blocks);
#endif
    count_.store(index + 1, std::memory_order_release);
    space.blocks[block.pc][static_cast<size_t>(block.variant)] = &block;
    for (const LinkSite& site : block.links)
        if (BlockRecord* target = lookup(space, site.target, site.variant))
            link(block, site, *target);
    publish_jump(block);
    return &block;
}

void CodeCache::link(BlockRecord& from, const LinkSite& site, BlockRecord& to) {
    auto* slot = reinterpret_cast<uint64_t*>(buffer_.writable(from.host + site.slot_offset));
    std::atomic_ref(*slot).store(reinterpret_cast<uint64_t>(to.host), std::memory_order_release);
    to.incoming.push_back({slot, from.host + site.cold_offset});
}

void CodeCache::unlink(BlockRecord& block) {
    for (const auto& in : block.incoming)
        std::atomic_ref(*in.slot).store(reinterpret_cast<uint64_t>(in.unlinked),
                                        std::memory_order_release);
    block.incoming.clear();
    dead_bytes_ += block.size;
}

void CodeCache::retire(BlockRecord& block) {
    BlockRecord*& known = block.space->blocks[block.pc][static_cast<size_t>(block.variant)];
    if (known != &block) return;
    known = nullptr;
    unlink(block);
    JumpEntry& e = block.space->jumps[block.pc >> 2 & (jump_entries - 1)];
    if (e.pc == block.pc && is_entered(block.variant))
        std::atomic_ref(e.entry[block.variant == Variant::Full])
            .store(nullptr, std::memory_order_release);
}

void CodeCache::invalidate(uint64_t begin, uint64_t end) {
    // A block may end in front of what is no instruction, or consist of nothing else.
    constexpr uint64_t looked_at_behind = 4 * most_instruction_words;
    for (auto& s : spaces_) {
        for (auto it = s->blocks.begin(); it != s->blocks.end();) {
            bool gone = true;
            for (BlockRecord*& block : it->second) {
                if (!block) continue;
                if (block->begin_pc >= end || block->end_pc + looked_at_behind <= begin) {
                    gone = false;
                    continue;
                }
                unlink(*block);
                JumpEntry& e = s->jumps[block->pc >> 2 & (jump_entries - 1)];
                if (e.pc == block->pc) {
                    std::atomic_ref(e.pc).store(~0ull, std::memory_order_release);
                    for (const void*& entry : e.entry)
                        std::atomic_ref(entry).store(nullptr, std::memory_order_relaxed);
                }
                block = nullptr;
            }
            it = gone ? s->blocks.erase(it) : std::next(it);
        }
    }
}

const BlockRecord* CodeCache::find(uintptr_t host) const {
    uint32_t lo = 0, hi = count_.load(std::memory_order_acquire);
    auto at = [&](uint32_t i) {
        return chunks_[i / chunk_size].load(std::memory_order_acquire)->records[i % chunk_size];
    };
    while (lo < hi) {  // first block that begins above `host`
        const uint32_t middle = lo + (hi - lo) / 2;
        if (reinterpret_cast<uintptr_t>(at(middle)->host) <= host)
            lo = middle + 1;
        else
            hi = middle;
    }
    if (lo == 0) return nullptr;
    const BlockRecord* block = at(lo - 1);
    return host - reinterpret_cast<uintptr_t>(block->host) < block->size ? block : nullptr;
}

const PcEntry* CodeCache::find_guest(const BlockRecord& block, uintptr_t host) {
    const auto offset = static_cast<uint32_t>(host - reinterpret_cast<uintptr_t>(block.host));
    auto it = std::upper_bound(block.pcs.begin(), block.pcs.end(), offset,
                               [](uint32_t o, const PcEntry& e) { return o < e.offset; });
    return it == block.pcs.begin() ? nullptr : &*std::prev(it);
}

}  // namespace wj::x64
