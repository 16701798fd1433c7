#include "backend_x64/code_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/fork.h"

namespace wj::x64 {
namespace {

constexpr size_t release_bytes = size_t{4} << 20;
// Pages are asked for so many bytes at a time: a page fault each costs some virtual machines as
// much as the translation of an instruction. More would not be used by small programs. In the view
// that runs, a fault maps what is there around it.
constexpr size_t populate_bytes = size_t{16} << 10;

}  // namespace

CodeBuffer::~CodeBuffer() {
    if (write_) munmap(write_, size_);
    if (run_) munmap(run_, size_);
}

Status CodeBuffer::open(size_t bytes) {
    const int fd = memfd_create("wavejit-code", MFD_CLOEXEC);
    if (fd < 0)
        return Status(Code::HostError, std::string("memfd_create: ") + std::strerror(errno));
    Status status = map(fd, bytes);
    ::close(fd);
    process_ = fork_generation();
    return status;
}

Status CodeBuffer::map(int fd, size_t bytes) {
    if (ftruncate(fd, static_cast<off_t>(bytes)) != 0)
        return Status(Code::HostError,
                      std::string("ftruncate of code memory: ") + std::strerror(errno));
    const int fixed = write_ ? MAP_FIXED : 0;
    void* w = mmap(write_, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, 0);
    void* x = mmap(run_, bytes, PROT_READ | PROT_EXEC, MAP_SHARED | fixed, fd, 0);
    const int error = errno;
    if (w != MAP_FAILED) write_ = static_cast<uint8_t*>(w);
    if (x != MAP_FAILED) run_ = static_cast<uint8_t*>(x);
    size_ = bytes;
    if (w != MAP_FAILED && x != MAP_FAILED) return {};
    return Status(Code::HostError,
                  std::string("the host forbids executable mappings: ") + std::strerror(error));
}

// In a forked child: the pages are its parent's, too. It gets its own, with what there is, at the
// same addresses.
bool CodeBuffer::own() {
    const int fd = memfd_create("wavejit-code", MFD_CLOEXEC);
    if (fd < 0) return false;
    bool good = true;
    for (size_t at = 0; good && at < used();) {
        const ssize_t n = pwrite(fd, write_ + at, used() - at, static_cast<off_t>(at));
        good = n > 0;
        at += good ? static_cast<size_t>(n) : 0;
    }
    good = good && map(fd, size_);
    ::close(fd);
    if (good) process_ = fork_generation();
    populated_ = 0;
    return good;
}

uint8_t* CodeBuffer::allocate(size_t bytes) {
    if (process_ != fork_generation() && !own()) return nullptr;
    const size_t at = used_.load(std::memory_order_relaxed);
    const size_t end = (at + bytes + 63) & ~size_t{63};
    if (end > size_) return nullptr;
    used_.store(end, std::memory_order_release);
    if (bytes <= populate_bytes && end > populated_) {
        const size_t from = std::max(populated_, at) & ~(populate_bytes - 1);
        populated_ = std::min((end + populate_bytes - 1) & ~(populate_bytes - 1), size_);
        // Without it (Linux before 5.14) there are faults.
        (void)madvise(write_ + from, populated_ - from, MADV_POPULATE_WRITE);
    }
    return write_ + at;
}

void CodeBuffer::reset(size_t keep) {
    constexpr size_t page = 4096;
    const size_t first = (keep + page - 1) & ~(page - 1);
    const size_t end = std::min((used() + page - 1) & ~(page - 1), size_);
    // Small buffers are filled again at once.
    if (end > first && end - first > release_bytes) {
        madvise(write_ + first, end - first, MADV_REMOVE);
        populated_ = 0;
    }
    used_.store(keep, std::memory_order_release);
}

}  // namespace wj::x64
