#include "backend_x64/build_identity.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace wj::x64 {
namespace {

std::string build_id_in(const uint8_t* notes, size_t bytes) {
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes, sizeof note);
        const size_t name = (size_t{note.n_namesz} + 3) & ~size_t{3};
        const size_t content = (size_t{note.n_descsz} + 3) & ~size_t{3};
        if (sizeof note + name + content > bytes) break;
        const auto* text = reinterpret_cast<const char*>(notes + sizeof note);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            std::memcmp(text, "GNU", 4) == 0)
            return std::string(text + name, note.n_descsz);
        notes += sizeof note + name + content;
        bytes -= sizeof note + name + content;
    }
    return {};
}

// Stops at the module that holds the address in *out->begin.
int visit(dl_phdr_info* info, size_t, void* data) {
    auto& out = *static_cast<BuildIdentity*>(data);
    uintptr_t begin = UINTPTR_MAX, end = 0;
    std::string id;
    for (uint16_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& p = info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + p.p_vaddr;
        if (p.p_type == PT_LOAD) {
            begin = std::min(begin, at);
            end = std::max(end, at + p.p_memsz);
        } else if (p.p_type == PT_NOTE && id.empty()) {
            id = build_id_in(reinterpret_cast<const uint8_t*>(at), p.p_memsz);
        }
    }
    if (out.begin < begin || out.begin >= end) return 0;
    out = {std::move(id), begin, end};
    return 1;
}

}  // namespace

const BuildIdentity& build_identity() {
    static const BuildIdentity identity = [] {
        BuildIdentity out;
        out.begin = reinterpret_cast<uintptr_t>(&build_identity);
        if (!dl_iterate_phdr(&visit, &out)) out = {};
        return out;
    }();
    return identity;
}

}  // namespace wj::x64
