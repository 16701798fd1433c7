#include "backend_x64/cache_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace wj::x64 {
namespace {

constexpr const char* temporary_prefix = ".new-";
constexpr time_t abandoned_seconds = 3600, touch_seconds = 24 * 3600;

bool only_ours(const struct stat& s) {
    return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    explicit operator bool() const { return fd_ >= 0; }
    int get() const { return fd_; }

private:
    int fd_;
};

bool read_all(int fd, std::byte* to, size_t bytes) {
    while (bytes) {
        const ssize_t n = ::read(fd, to, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n;
        bytes -= static_cast<size_t>(n);
    }
    return true;
}

bool write_all(int fd, const std::byte* from, size_t bytes) {
    while (bytes) {
        const ssize_t n = ::write(fd, from, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        from += n;
        bytes -= static_cast<size_t>(n);
    }
    return true;
}

// mkdir -p
void make_directories(const std::string& path) {
    for (size_t at = 1; at != std::string::npos;) {
        at = path.find('/', at);
        mkdir(path.substr(0, at).c_str(), 0700);
        if (at != std::string::npos) ++at;
    }
}

}  // namespace

struct CacheDirectory::File {
    std::string name;
    uint64_t bytes;
    timespec used;
    bool temporary;
};

std::string CacheDirectory::default_path() {
    auto variable = [](const char* name) {
        const char* text = std::getenv(name);
        return std::string(text && *text == '/' ? text : "");
    };
    if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
        return cache + "/wavejit";
    const std::string home = variable("HOME");
    return home.empty() ? home : home + "/.cache/wavejit";
}

CacheDirectory::~CacheDirectory() {
    if (fd_ >= 0) ::close(fd_);
}

bool CacheDirectory::open(bool create) {
    // Programs with other rights than their caller's trust none of his files.
    if (fd_ >= 0) return true;
    if (path_.empty() || getauxval(AT_SECURE)) return false;
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = ::open(path_.c_str(), flags);
    if (fd < 0 && errno == ENOENT && create) {
        make_directories(path_);
        fd = ::open(path_.c_str(), flags);
    }
    struct stat s;
    if (fd >= 0 && (fstat(fd, &s) != 0 || !only_ours(s))) {
        ::close(fd);
        fd = -1;
    }
    fd_ = fd;
    return fd_ >= 0;
}

bool CacheDirectory::read(const std::string& name, std::vector<std::byte>& out) {
    if (fd_ < 0) return false;
    const Descriptor fd(openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat s;
    if (!fd || fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode) || !only_ours(s) || s.st_size <= 0 ||
        static_cast<uint64_t>(s.st_size) > most_file_bytes)
        return false;
    // Copied, not mapped: another process may cut the file short at any time.
    out.resize(static_cast<size_t>(s.st_size));
    if (!read_all(fd.get(), out.data(), out.size())) return false;
    // So that files in use are not the oldest ones.
    if (time(nullptr) - s.st_mtime > touch_seconds) futimens(fd.get(), nullptr);
    return true;
}

bool CacheDirectory::write(const std::string& name, const std::vector<std::byte>& bytes) {
    static std::atomic<uint32_t> last{0};
    if (fd_ < 0) return false;
    char temporary[48];
    std::snprintf(temporary, sizeof temporary, "%s%d-%u", temporary_prefix, getpid(), ++last);
    const Descriptor fd(
        openat(fd_, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) return false;
    if (write_all(fd.get(), bytes.data(), bytes.size()) &&
        renameat(fd_, temporary, fd_, name.c_str()) == 0)
        return true;
    unlinkat(fd_, temporary, 0);
    return false;
}

std::vector<CacheDirectory::File> CacheDirectory::list() {
    std::vector<File> out;
    if (fd_ < 0) return out;
    const int fd = openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* dir = fd < 0 ? nullptr : fdopendir(fd);
    if (!dir) {
        if (fd >= 0) ::close(fd);
        return out;
    }
    while (const dirent* entry = readdir(dir)) {
        const std::string_view name = entry->d_name;
        const bool temporary = name.starts_with(temporary_prefix);
        struct stat s;
        if ((!temporary && !name.ends_with(cache_file_suffix)) ||
            fstatat(fd, entry->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode))
            continue;
        out.push_back({std::string(name), static_cast<uint64_t>(s.st_size), s.st_mtim, temporary});
    }
    closedir(dir);
    return out;
}

CacheDirectory::Usage CacheDirectory::usage() {
    Usage u;
    for (const File& f : list()) ++u.files, u.bytes += f.bytes;
    return u;
}

CacheDirectory::Usage CacheDirectory::trim(uint64_t most_bytes) {
    std::vector<File> files = list();
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
        return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    Usage left;
    for (const File& f : files) ++left.files, left.bytes += f.bytes;
    const time_t now = time(nullptr);
    for (const File& f : files) {
        if (f.temporary ? now - f.used.tv_sec < abandoned_seconds && most_bytes
                        : left.bytes <= most_bytes)
            continue;
        if (unlinkat(fd_, f.name.c_str(), 0) != 0) continue;
        --left.files;
        left.bytes -= f.bytes;
    }
    return left;
}

}  // namespace wj::x64
