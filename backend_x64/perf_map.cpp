#include "backend_x64/perf_map.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace wj::x64 {

PerfMap::PerfMap() {
    const char* wanted = std::getenv("WAVEJIT_PERF");
    if (!wanted || std::strcmp(wanted, "1") != 0) return;
    char name[64];
    std::snprintf(name, sizeof name, "/tmp/perf-%d.map", static_cast<int>(getpid()));
    file_ = std::fopen(name, "a");
}

PerfMap::~PerfMap() {
    if (file_) std::fclose(static_cast<std::FILE*>(file_));
}

void PerfMap::add(const BlockRecord& block) {
    if (!file_) return;
    auto* f = static_cast<std::FILE*>(file_);
    std::fprintf(f, "%lx %x gpu_%lx_%s\n",
                 static_cast<unsigned long>(reinterpret_cast<uintptr_t>(block.host)),
                 block.code_size, static_cast<unsigned long>(block.pc),
                 block.full ? "full" : "partial");
    std::fflush(f);
}

}  // namespace wj::x64
