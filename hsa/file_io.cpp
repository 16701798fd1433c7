// Reads and writes between files and device memory (hsa_amd_ais_file_*, ROCm 7; HIP's
// hipAmdFileRead and hipAmdFileWrite). Device memory is memory of the process, so the kernel's own
// file functions do it.
#include <hsa/hsa_ext_amd.h>
#include <unistd.h>

#include <cerrno>

#include "hsa/memory.h"

using namespace wj::hsa;

// As the newer header declares it.
struct hsa_amd_ais_file_handle_t {
    union {
        void* handle;
        int fd;
        uint8_t pad[8];
    };
};

namespace {

// Moves as much as the file gives or takes. `status` is 0 or a negative errno; what was moved
// before an error counts.
template <class Move>
hsa_status_t transfer(char* memory, uint64_t size, int64_t offset, uint64_t* moved, int32_t* status,
                      Move move) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!memory || !size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    bool device = false;
    memory_map().with_block(memory, [&](Block& b) {
        const uint64_t at = without_alias(reinterpret_cast<uint64_t>(memory)) - b.host;
        device = b.pool && b.pool->agent->gpu && size <= b.size - at;
    });
    if (!device) return HSA_STATUS_ERROR;
    uint64_t done = 0;
    int32_t error = 0;
    while (done < size) {
        const ssize_t n = move(memory + done, size - done, offset + static_cast<int64_t>(done));
        if (n > 0) {
            if (auto* unwritten = unwritten_memory())
                unwritten->write(reinterpret_cast<uint64_t>(memory) + done,
                                 static_cast<uint64_t>(n));
            done += static_cast<uint64_t>(n);
        } else if (n == 0) {  // the end of the file
            break;
        } else if (errno != EINTR) {
            error = -errno;
            break;
        }
    }
    if (moved) *moved = done;
    if (status) *status = error;
    return error ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

hsa_status_t hsa_amd_ais_file_read(hsa_amd_ais_file_handle_t file, void* device_ptr, uint64_t size,
                                   int64_t file_offset, uint64_t* size_copied, int32_t* status) {
    return transfer(static_cast<char*>(device_ptr), size, file_offset, size_copied, status,
                    [&](char* memory, uint64_t bytes, int64_t at) {
                        return pread(file.fd, memory, bytes, at);
                    });
}

hsa_status_t hsa_amd_ais_file_write(hsa_amd_ais_file_handle_t file, void* device_ptr, uint64_t size,
                                    int64_t file_offset, uint64_t* size_copied, int32_t* status) {
    return transfer(static_cast<char*>(device_ptr), size, file_offset, size_copied, status,
                    [&](char* memory, uint64_t bytes, int64_t at) {
                        return pwrite(file.fd, memory, bytes, at);
                    });
}

}  // extern "C"
