// libFuzzer: a file of the on-disk cache, whose bytes anybody may have changed. It is read as an
// engine reads it; what is found well formed is put where translated code would be, and stays
// inside. (Its code is not run: a file whose checksum is right is the user's own.)
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "backend_x64/block_store.h"
#include "backend_x64/code_buffer.h"
#include "backend_x64/stored_block.h"

namespace {

using namespace wj::x64;

// The beginning of a file (block_store.cpp).
struct Head {
    char magic[8];
    Hash checksum;
    BlockStore::Key key;
    uint32_t blocks, zero;
};
struct BlockHead {
    uint32_t entry, bytes;
};

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "a block of a cache file was taken although %s\n", what);
    std::abort();
}

struct Folder {
    std::string path;
    Folder() {
        char name[] = "/tmp/wavejit-cache-fuzzer-XXXXXX";
        require(mkdtemp(name), "there is no folder for it");
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
};

const std::string& folder() {
    static const Folder made;
    return made.path;
}

void check_offsets(const CompiledBlock& code, const BlockRecord& record) {
    require(code.code_size <= code.size && code.body_offset <= code.code_size &&
                code.together_offset <= code.code_size && code.budget_return_offset <= code.size,
            "its parts lie outside");
    for (const PcEntry& e : code.pcs) require(e.offset <= code.code_size, "a PC lies outside");
    for (const LinkSite& l : code.links)
        require(l.slot_offset + uint64_t{8} <= code.size && l.cold_offset <= code.code_size &&
                    l.return_offset <= code.size && static_cast<size_t>(l.variant) < variant_count,
                "a link lies outside");
    require(record.guest_count && !record.guest_pcs.empty(), "it holds no instruction");
}

void install(std::span<const std::byte> bytes, uint32_t entry) {
    const StoredBlock stored(bytes);
    if (!stored.ok()) return;
    uint64_t distance = 0;
    for (const StoredBlock::Page& p : stored.pages())
        distance += static_cast<uint64_t>(p.distance) ^ p.hash.low;
    static const int instruction = static_cast<int>(distance & 1);
    std::vector<uint8_t> code_bytes;
    CompiledBlock code;
    BlockRecord record;
    const uint64_t pc = 0x7f0000001000 + (entry >> 3);
    const auto known = [](uint64_t at) { return at % 8 == 4 ? nullptr : &instruction; };
    if (!stored.restore(pc, known, code_bytes, code, record)) return;
    check_offsets(code, record);
    static CodeBuffer& buffer = *[] {
        auto* made = new CodeBuffer;
        require(bool(made->open(size_t{4} << 20)), "there is no memory for code");
        return made;
    }();
    static CodeCache& cache = *new CodeCache(buffer);
    const uint64_t begin = record.begin_pc, end = record.end_pc;
    const BlockRecord* const block = cache.install(cache.space({}), code, std::move(record));
    require(block, "it has no room in 4 MiB");
    const auto host = reinterpret_cast<uintptr_t>(block->host);
    for (uint32_t at = 0; at < block->size; at += 5) {
        const BlockRecord* const found = cache.find(host + at);
        if (found) (void)CodeCache::find_guest(*found, host + at);
    }
    cache.invalidate(begin, end);
    cache.reset();
    buffer.reset(0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (!size) return 0;
    std::vector<std::byte> file(size);
    std::memcpy(file.data(), data, size);
    Head head{};
    std::memcpy(&head, file.data(), std::min(size, sizeof head));
    constexpr size_t checked_from = offsetof(Head, key);
    // What is changed gets behind the checksum, unless it is the magic number.
    if (size > checked_from && head.magic[0] == 'w') {
        head.checksum = hash_of(&file[checked_from], size - checked_from);
        std::memcpy(file.data() + offsetof(Head, checksum), &head.checksum, sizeof head.checksum);
    }
    CacheDirectory directory(folder());
    if (!directory.open(true) || !directory.write(head.key.file_name(), file)) std::abort();
    {
        const auto store = BlockStore::open(folder(), uint64_t{1} << 30);
        BlockHead block;
        for (size_t at = sizeof head; at + sizeof block <= size; at += sizeof block + block.bytes) {
            std::memcpy(&block, data + at, sizeof block);
            install(store->find(head.key, block.entry), block.entry);
        }
    }
    (void)unlink((folder() + "/" + head.key.file_name()).c_str());
    return 0;
}
