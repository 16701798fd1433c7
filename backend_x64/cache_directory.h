// The directory of the on-disk cache: small files, each read and written as a whole. Files of
// others, or that others may write, are not read. Nothing here fails loudly: a file that cannot be
// read is not there, one that cannot be written is not written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wj::x64 {

class CacheDirectory {
public:
    // ${XDG_CACHE_HOME:-$HOME/.cache}/wavejit; empty when neither is set.
    static std::string default_path();

    explicit CacheDirectory(std::string path) : path_(std::move(path)) {}
    ~CacheDirectory();
    CacheDirectory(const CacheDirectory&) = delete;
    CacheDirectory& operator=(const CacheDirectory&) = delete;

    const std::string& path() const { return path_; }
    // False when there is none that this user alone can write. create: makes it.
    bool open(bool create);

    static constexpr size_t most_file_bytes = size_t{16} << 20;
    bool read(const std::string& name, std::vector<std::byte>& out);
    // Readers see the old file or the new one.
    bool write(const std::string& name, const std::vector<std::byte>& bytes);

    struct Usage {
        uint64_t files = 0, bytes = 0;
    };
    // Removes the files used longest ago until `most_bytes` are left, and what crashed writers
    // left.
    Usage trim(uint64_t most_bytes);
    Usage usage();

private:
    struct File;
    std::vector<File> list();

    const std::string path_;
    std::atomic<int> fd_{-1};
};

// Names of files in the directory: 32 hexadecimal digits and this.
inline constexpr const char* cache_file_suffix = ".wjc";

}  // namespace wj::x64
