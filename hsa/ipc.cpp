// Sharing device memory between processes. The memory of an allocation moves into a shared file
// when the first handle of it is made; a handle names the process and the descriptor, which others
// open through /proc. Signals are not shared: no HIP asks for it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "hsa/memory.h"
#include "hsa/shared_file.h"
#include "memory/address_space.h"
#include "memory/host_pages.h"

using namespace wj::hsa;

namespace {

constexpr uint32_t handle_magic = 0x434a5749;        // "IWJC"
constexpr uint64_t longest_wait_ns = 5'000'000'000;  // for kernels that could be writing
constexpr uint64_t page = wj::memory::page_size;

struct Handle {
    uint32_t magic, process, descriptor, zero;
    uint64_t inode, size;
};
static_assert(sizeof(Handle) == sizeof(hsa_amd_ipc_memory_t));

// Puts the file in the place of the memory, with the memory's bytes; pages of zeros need no room in
// it.
bool move_into_file(uint64_t host, uint64_t size, int file) {
    void* view = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (view == MAP_FAILED) return false;
    static const char zeros[page] = {};
    const auto* from = reinterpret_cast<const char*>(host);
    for (uint64_t at = 0; at < size; at += page)
        if (std::memcmp(from + at, zeros, page) != 0)
            std::memcpy(static_cast<char*>(view) + at, from + at, page);
    const bool good = mmap(reinterpret_cast<void*>(host), size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    munmap(view, size);
    return good;
}

// What a kernel writes while its memory moves would be lost.
bool wait_for_kernels() {
    const uint64_t end = now_ns() + longest_wait_ns;
    while (state()->busy.load() > 0) {
        if (now_ns() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

int open_handle(const Handle& h) {
    const std::string path =
        "/proc/" + std::to_string(h.process) + "/fd/" + std::to_string(h.descriptor);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat info;
    SharedFile shared;
    if (file >= 0 && fstat(file, &info) == 0 && info.st_ino == h.inode &&
        read_shared_file(file, shared) && shared.size == h.size)
        return file;
    if (file >= 0) close(file);
    return -1;
}

}  // namespace

extern "C" {

hsa_status_t hsa_amd_ipc_memory_create(void* ptr, size_t len, hsa_amd_ipc_memory_t* handle) {
    if (left_behind() || !state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr || !handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!wait_for_kernels()) {
        log_error(
            "hsa_amd_ipc_memory_create: a kernel has been running for 5 seconds, and might "
            "write to the memory; synchronize before the handle is made");
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    memory_map().with_block(ptr, [&](Block& b) {
        if (b.type != HSA_EXT_POINTER_TYPE_HSA || b.host != reinterpret_cast<uint64_t>(ptr) ||
            (len + page - 1) / page * page != b.size)
            return;
        struct stat info;
        if (b.file < 0) {
            const int file = make_shared_file(b.size, *b.pool);
            if (file < 0 || !move_into_file(b.host, b.size, file)) {
                if (file >= 0) close(file);
                status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
                return;
            }
            b.file = file;
        }
        if (fstat(b.file, &info) != 0) return;
        if (auto* unwritten = unwritten_memory()) unwritten->give_away(b.host);
        const Handle h{handle_magic,
                       static_cast<uint32_t>(getpid()),
                       static_cast<uint32_t>(b.file),
                       0,
                       info.st_ino,
                       b.size};
        std::memcpy(handle, &h, sizeof h);
        status = HSA_STATUS_SUCCESS;
    });
    return status;
}

hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t* handle, size_t len,
                                       uint32_t num_agents, const hsa_agent_t* agents,
                                       void** mapped_ptr) {
    if (left_behind() || !state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!handle || !mapped_ptr || (num_agents && !agents)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Handle h;
    std::memcpy(&h, handle, sizeof h);
    if (h.magic != handle_magic || (len + page - 1) / page * page != h.size)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Block b;
    for (uint32_t i = 0; i < num_agents; i++) {
        Agent* a = agent_of(agents[i]);
        if (!a) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        b.accessible.push_back(a);
    }
    const int file = open_handle(h);
    if (file < 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    SharedFile shared;
    read_shared_file(file, shared);
    wj::memory::HostPages pages;
    if (!wj::memory::reserve_host_pages(h.size, wj::memory::no_access, pages) ||
        mmap(pages.base, h.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
            MAP_FAILED) {
        wj::memory::release_host_pages(pages);
        close(file);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    close(file);
    b.host = b.agent = reinterpret_cast<uint64_t>(pages.base);
    b.size = h.size;
    b.type = HSA_EXT_POINTER_TYPE_IPC;
    b.pool = shared.pool;
    b.pages = pages;
    if (wj::Status s = share_host_range(b.host, b.size, "memory of another process"); !s) {
        log_debug(s.message());
        wj::memory::release_host_pages(pages);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *mapped_ptr = pages.base;
    memory_map().enter(std::move(b));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_ipc_memory_detach(void* mapped_ptr) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const uint64_t address = reinterpret_cast<uint64_t>(mapped_ptr);
    wj::memory::HostPages pages;
    const bool found = memory_map().with_block(mapped_ptr, [&](Block& b) {
        if (b.type == HSA_EXT_POINTER_TYPE_IPC && b.host == address) pages = b.pages;
    });
    if (!found || !pages.reserved) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    memory_map().leave(address);
    unshare_host_range(address);
    wj::memory::release_host_pages(pages);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t, hsa_amd_ipc_signal_t*) {
    return not_supported("hsa_amd_ipc_signal_create");
}
hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t*, hsa_signal_t*) {
    return not_supported("hsa_amd_ipc_signal_attach");
}

}  // extern "C"
