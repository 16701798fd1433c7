// Translated blocks of one engine: records, look-up by guest PC and by host address, links between
// blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "backend_x64/code_buffer.h"
#include "backend_x64/compiled_block.h"
#include "backend_x64/frame.h"
#include "machine/wave.h"

namespace wj::x64 {

// Everything that changes the code of a block apart from its address.
struct SpaceKey {
    uint32_t mode = 0, vgpr_count = 0, agpr_count = 0, lane_layout = 0, grid_layout = 0,
             whole_lanes = 0, sgpr_aliases = 0, vgpr_msb = 0;
    AddressMode address_mode = AddressMode::Identity;
    uint64_t address_mask = ~uint64_t{0};  // ExecContext's
    bool exclusive = false;
    bool operator==(const SpaceKey&) const = default;
};

struct BlockRecord {
    uint64_t pc = 0, begin_pc = 0, end_pc = 0;
    Variant variant = Variant::Partial;
    uint32_t guest_count = 0;
    const uint8_t* host = nullptr;  // executable view
    uint32_t size = 0, code_size = 0, body_offset = 0, budget_return_offset = 0,
             together_offset = 0;
    std::vector<PcEntry> pcs;
    std::vector<uint64_t> guest_pcs;
    std::vector<LinkSite> links;
    struct Incoming {
        uint64_t* slot;
        const uint8_t* unlinked;
    };
    std::vector<Incoming> incoming;  // slots of other blocks that lead here
    struct CodeSpace* space = nullptr;
};

struct CodeSpace {
    SpaceKey key;
    std::unique_ptr<JumpEntry[]> jumps{new JumpEntry[jump_entries]};
    std::unordered_map<uint64_t, std::array<BlockRecord*, variant_count>> blocks;  // by PC
    // Those whose accesses are to look for all patterns (CompileOptions::all_patterns).
    std::set<std::pair<uint64_t, Variant>> all_patterns;
};

// What ThreadSanitizer is told of the order that it cannot see: translated code, which is not
// instrumented, jumps to a block through a slot, and so behind everything that was stored before
// the slot. install() releases this address, the stub that calls handlers acquires it.
inline char published_blocks;

class CodeCache {
public:
    explicit CodeCache(CodeBuffer& buffer) : buffer_(buffer) {}

    // All but find() and find_guest() need the engine's translation lock.
    // Forgets every block and space; nobody may be in translated code. The buffer is the caller's.
    void reset();
    // Bytes of code that invalidate() has dropped: room that a reset would give back.
    size_t dead_bytes() const { return dead_bytes_; }
    bool empty() const { return records_.empty(); }
    size_t space_count() const { return spaces_.size(); }
    CodeSpace& space(const SpaceKey& key);
    BlockRecord* lookup(CodeSpace& space, uint64_t pc, Variant variant);
    // Copies the code, registers the block, links it with what exists. nullptr: the buffer is full.
    BlockRecord* install(CodeSpace& space, const CompiledBlock& code, BlockRecord record);
    void link(BlockRecord& from, const LinkSite& site, BlockRecord& to);
    void invalidate(uint64_t begin, uint64_t end);
    // The block is not entered any more; who is in it goes on.
    void retire(BlockRecord& block);

    // The block that holds a host address. Lock-free and safe in a signal handler.
    const BlockRecord* find(uintptr_t host) const;
    static const PcEntry* find_guest(const BlockRecord& block, uintptr_t host);

private:
    static constexpr uint32_t chunk_size = 1024, chunk_count = 4096;
    struct Chunk {
        std::array<BlockRecord*, chunk_size> records{};
    };
    void publish_jump(BlockRecord& block);
    void unlink(BlockRecord& block);

    CodeBuffer& buffer_;
    std::vector<std::unique_ptr<CodeSpace>> spaces_;
    std::vector<std::unique_ptr<BlockRecord>> records_;  // owners, in order of host address
    std::array<std::atomic<Chunk*>, chunk_count> chunks_{};
    std::vector<std::unique_ptr<Chunk>> chunk_owners_;
    std::atomic<uint32_t> count_{0};
    size_t dead_bytes_ = 0;
};

}  // namespace wj::x64
