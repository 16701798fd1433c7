#include "backend_x64/block_store.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

namespace wj::x64 {
namespace {

constexpr char magic[8] = {'w', 'j', 'c', 'o', 'd', 'e', '1', '\n'};

struct FileHead {
    char magic[8];
    Hash checksum;  // of everything behind it
    BlockStore::Key key;
    uint32_t blocks, zero;
};
constexpr size_t checked_from = offsetof(FileHead, key);

struct BlockHead {
    uint32_t entry, bytes;
};
static_assert(sizeof(FileHead) % 8 == 0 && sizeof(BlockHead) == 8);

// A burst of translations is written at once, soon enough that little is lost when the process
// crashes.
constexpr std::chrono::milliseconds write_delay{50};
constexpr uint64_t most_bytes_in_memory = uint64_t{64} << 20;
constexpr uint32_t files_between_trims = 256, most_failures = 3;

// Stores of processes that end without destroying their engines (HIP programs) are saved, too.
struct Registry {
    std::mutex mutex;
    std::set<BlockStore*> stores;
};

Registry& registry() {
    static Registry& r = *[] {
        auto* made = new Registry;
        std::atexit([] {
            Registry& all = registry();
            const std::lock_guard lock(all.mutex);
            for (BlockStore* s : all.stores) s->save();
        });
        return made;
    }();
    return r;
}

}  // namespace

std::string BlockStore::Key::file_name() const {
    const Hash h = hash_of(this, sizeof *this);
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(h.high),
                  static_cast<unsigned long long>(h.low));
    return std::string(text) + cache_file_suffix;
}

std::unique_ptr<BlockStore> BlockStore::open(std::string directory, uint64_t most_bytes) {
    if (directory.empty()) directory = CacheDirectory::default_path();
    if (directory.empty()) return nullptr;
    return std::unique_ptr<BlockStore>(new BlockStore(directory, most_bytes));
}

BlockStore::BlockStore(const std::string& directory, uint64_t most_bytes)
    : directory_(directory), most_bytes_(most_bytes), process_(getpid()) {
    directory_.open(false);
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    r.stores.insert(this);
}

BlockStore::~BlockStore() {
    {
        Registry& r = registry();
        const std::lock_guard lock(r.mutex);
        r.stores.erase(this);
    }
    if (writer_.joinable()) {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_one();
        if (getpid() == process_)
            writer_.join();
        else
            writer_.detach();  // a forked child has no such thread
    }
    save();
}

// ---- in memory

std::span<const std::byte> BlockStore::find(const Key& key, uint32_t entry) {
    const std::lock_guard lock(mutex_);
    const Blocks& blocks = page(key).blocks;
    const auto it = blocks.find(entry);
    return it == blocks.end() ? std::span<const std::byte>() : it->second;
}

void BlockStore::add(const Key& key, uint32_t entry, Bytes block) {
    const std::lock_guard lock(mutex_);
    Page& p = page(key);
    bytes_ += block.size();
    p.blocks[entry] = p.storage.emplace_back(std::move(block));
    ++p.added;
    pending_ = true;
    if (writer_.joinable())
        changed_.notify_one();
    else
        start_writer();
}

BlockStore::Page& BlockStore::page(const Key& key) {
    if (const auto it = pages_.find(key); it != pages_.end()) return it->second;
    if (bytes_ > most_bytes_in_memory) {
        std::erase_if(pages_, [](const auto& p) { return p.second.added == 0; });
        bytes_ = 0;
        for (const auto& [k, p] : pages_)
            for (const Bytes& b : p.storage) bytes_ += b.size();
    }
    Page& p = pages_[key];
    Bytes file;
    if (load(key, file, p.blocks)) {
        bytes_ += file.size();
        p.storage.push_back(std::move(file));
    }
    return p;
}

// ---- files

bool BlockStore::load(const Key& key, Bytes& bytes, Blocks& blocks) {
    FileHead head;
    if (!directory_.read(key.file_name(), bytes) || bytes.size() < sizeof head) return false;
    std::memcpy(&head, bytes.data(), sizeof head);
    const std::span<const std::byte> all(bytes);
    if (std::memcmp(head.magic, magic, sizeof magic) != 0 || head.key != key ||
        head.checksum != hash_of(&bytes[checked_from], bytes.size() - checked_from))
        return false;
    Blocks found;
    std::span<const std::byte> rest = all.subspan(sizeof head);
    for (uint32_t i = 0; i < head.blocks; ++i) {
        BlockHead block;
        if (rest.size() < sizeof block) return false;
        std::memcpy(&block, rest.data(), sizeof block);
        rest = rest.subspan(sizeof block);
        if (block.bytes > rest.size() || block.bytes % 8) return false;
        found[block.entry] = rest.first(block.bytes);
        rest = rest.subspan(block.bytes);
    }
    if (!rest.empty()) return false;
    blocks = std::move(found);
    return true;
}

bool BlockStore::write(const Key& key, const Blocks& blocks) {
    FileHead head{};
    std::memcpy(head.magic, magic, sizeof magic);
    head.key = key;
    head.blocks = static_cast<uint32_t>(blocks.size());
    Bytes out(sizeof head);
    auto put = [&](const void* from, size_t bytes) {
        const auto* b = static_cast<const std::byte*>(from);
        out.insert(out.end(), b, b + bytes);
    };
    for (const auto& [entry, bytes] : blocks) {
        const BlockHead block{entry, static_cast<uint32_t>(bytes.size())};
        put(&block, sizeof block);
        put(bytes.data(), bytes.size());
    }
    if (out.size() > CacheDirectory::most_file_bytes) return false;
    std::memcpy(out.data(), &head, sizeof head);
    head.checksum = hash_of(&out[checked_from], out.size() - checked_from);
    std::memcpy(out.data(), &head, sizeof head);
    return directory_.write(key.file_name(), out);
}

void BlockStore::save() {
    if (getpid() != process_) return;
    const std::lock_guard one(file_mutex_);
    try {
        for (;;) {
            Key key;
            Bytes copies;  // the pages may change meanwhile
            std::vector<std::pair<uint32_t, size_t>> sizes;
            uint32_t added = 0;
            {
                const std::lock_guard lock(mutex_);
                const auto it = std::find_if(pages_.begin(), pages_.end(),
                                             [](const auto& p) { return p.second.added != 0; });
                if (it == pages_.end()) break;
                key = it->first;
                added = std::exchange(it->second.added, 0);
                for (const auto& [entry, bytes] : it->second.blocks) {
                    copies.insert(copies.end(), bytes.begin(), bytes.end());
                    sizes.emplace_back(entry, bytes.size());
                }
            }
            if (failures_ >= most_failures || !directory_.open(true)) continue;
            // Another process may have added blocks.
            Bytes file;
            Blocks blocks;
            load(key, file, blocks);
            std::span<const std::byte> rest(copies);
            for (const auto& [entry, size] : sizes) {
                blocks[entry] = rest.first(size);
                rest = rest.subspan(size);
            }
            if (!write(key, blocks)) {
                ++failures_;
                continue;
            }
            written_ += added;
            if (files_written_++ % files_between_trims == 0) directory_.trim(most_bytes_);
        }
    } catch (const std::bad_alloc&) {
        failures_ = most_failures;
    }
}

// ---- the thread that writes

void BlockStore::start_writer() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
    try {
        writer_ = std::thread([this] { write_loop(); });
    } catch (const std::system_error&) {  // then everything is written at the end
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void BlockStore::write_loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return pending_ || stop_; });
        changed_.wait_for(lock, write_delay, [&] { return stop_; });
        if (stop_) return;
        pending_ = false;
        lock.unlock();
        save();
        lock.lock();
    }
}

}  // namespace wj::x64
