#include "hsa/shared_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace wj::hsa {
namespace {

constexpr char name_format[] = "wavejit memory of agent %u, pool %u";

}  // namespace

int make_shared_file(uint64_t size, const Pool& pool) {
    uint32_t index = 0;
    while (pool.agent->pools[index].get() != &pool) index++;
    char name[64];
    std::snprintf(name, sizeof name, name_format, pool.agent->node, index);
    const int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0) return -1;
    if (ftruncate(file, static_cast<off_t>(size)) == 0) return file;
    close(file);
    return -1;
}

bool read_shared_file(int descriptor, SharedFile& out) {
    char name[128] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (readlink(link.c_str(), name, sizeof name - 1) < 0) return false;
    unsigned node = 0, index = 0;
    if (std::sscanf(name, (std::string("/memfd:") + name_format).c_str(), &node, &index) != 2)
        return false;
    struct stat info;
    if (fstat(descriptor, &info) != 0 || info.st_size <= 0) return false;
    out.size = static_cast<uint64_t>(info.st_size);
    out.pool = nullptr;
    for (auto& agent : state()->agents)
        if (agent->node == node && index < agent->pools.size())
            out.pool = agent->pools[index].get();
    if (!out.pool) out.pool = state()->gpus.front()->pools.front().get();
    return true;
}

}  // namespace wj::hsa
