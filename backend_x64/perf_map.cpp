#include "backend_x64/perf_map.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace wj::x64 {

PerfMap::PerfMap(std::function<std::string(uint64_t)> symbol) : symbol_(std::move(symbol)) {
    const char* text = std::getenv("WAVEJIT_PERF");
    const std::string_view wanted = text ? text : "";
    if (wanted == "jitdump") dump_ = JitDump::get();
    if (wanted != "1") return;
    char name[64];
    std::snprintf(name, sizeof name, "/tmp/perf-%d.map", static_cast<int>(getpid()));
    file_ = std::fopen(name, "a");
}

PerfMap::~PerfMap() {
    if (file_) std::fclose(static_cast<std::FILE*>(file_));
}

std::string PerfMap::name_of(const BlockRecord& block) const {
    char address[24];
    std::snprintf(address, sizeof address, "gpu_%lx", static_cast<unsigned long>(block.pc));
    std::string name = symbol_ ? symbol_(block.pc) : "";
    if (name.empty()) name = address;
    static constexpr const char* variants[] = {" partial", " full", " unguarded",
                                               " unguarded partial", " edge"};
    return name + variants[static_cast<size_t>(block.variant)];
}

void PerfMap::add(const BlockRecord& block, const GuestText& text) {
    const std::string name = name_of(block);
    if (dump_) dump_->add(block, name, text);
    if (!file_) return;
    auto* f = static_cast<std::FILE*>(file_);
    std::fprintf(f, "%lx %x %s\n",
                 static_cast<unsigned long>(reinterpret_cast<uintptr_t>(block.host)),
                 block.code_size, name.c_str());
    std::fflush(f);
}

}  // namespace wj::x64
