// Translations that outlive the process. A file holds the blocks of one page of guest code under
// one configuration; its name is a hash of both, so that it does not matter where the code is
// loaded, and what is looked up was made from the same bytes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "backend_x64/cache_directory.h"
#include "backend_x64/guest_code.h"

namespace wj::x64 {

class BlockStore {
public:
    // directory: empty = the default one. null: there is none.
    static std::unique_ptr<BlockStore> open(std::string directory, uint64_t most_bytes);
    ~BlockStore();  // saves
    BlockStore(const BlockStore&) = delete;
    BlockStore& operator=(const BlockStore&) = delete;

    struct Key {
        Hash configuration, page;
        auto operator<=>(const Key& o) const {
            return std::tie(configuration.low, configuration.high, page.low, page.high) <=>
                   std::tie(o.configuration.low, o.configuration.high, o.page.low, o.page.high);
        }
        bool operator==(const Key&) const = default;
        std::string file_name() const;
    };
    // One thread at a time calls these two. entry: which block of the page. The bytes (empty: not
    // there) are valid until the next call.
    std::span<const std::byte> find(const Key& key, uint32_t entry);
    void add(const Key& key, uint32_t entry, std::vector<std::byte> block);

    void save();                                   // writes what is new, now
    uint64_t written() const { return written_; }  // blocks

private:
    using Bytes = std::vector<std::byte>;
    using Blocks = std::map<uint32_t, std::span<const std::byte>>;  // by entry
    struct Page {
        Blocks blocks;
        std::vector<Bytes> storage;  // what the blocks refer to
        uint32_t added = 0;          // since it was written
    };
    BlockStore(const std::string& directory, uint64_t most_bytes);
    Page& page(const Key& key);
    bool load(const Key& key, Bytes& bytes, Blocks& blocks);
    bool write(const Key& key, const Blocks& blocks);
    void start_writer();
    void write_loop();

    CacheDirectory directory_;
    const uint64_t most_bytes_;
    const int process_;

    std::mutex mutex_;  // the pages
    std::map<Key, Page> pages_;
    uint64_t bytes_ = 0;
    bool pending_ = false, stop_ = false;
    std::condition_variable changed_;
    std::thread writer_;

    std::mutex file_mutex_;  // one save at a time
    uint32_t files_written_ = 0, failures_ = 0;
    std::atomic<uint64_t> written_{0};
};

}  // namespace wj::x64
