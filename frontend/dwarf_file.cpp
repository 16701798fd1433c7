#include "frontend/dwarf_file.h"

#include <algorithm>

namespace wj {

const Libdw& libdw() {
    static const Libdw& library = *new Libdw;  // not destroyed: HIP's exit handlers come later
    return library;
}

DwarfFile::DwarfFile(std::span<const std::byte> file) : bytes_(file.begin(), file.end()) {
    const Libdw& dw = libdw();
    if (dw.elf_version(EV_CURRENT) == EV_NONE) return;
    elf_.reset(dw.elf_memory(reinterpret_cast<char*>(bytes_.data()), bytes_.size()));
    if (elf_) dwarf_.reset(dw.dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
}

std::unique_ptr<DwarfFile> DwarfFile::open(const CodeObject& object) {
    if (!has_lines(object) || !libdw().missing().empty()) return nullptr;
    std::unique_ptr<DwarfFile> file(new DwarfFile(object.file));
    return file->dwarf_ ? std::move(file) : nullptr;
}

bool DwarfFile::has_lines(const CodeObject& object) {
    return object.loadable && std::ranges::any_of(object.sections, [](const Section& s) {
               return s.name == ".debug_line";
           });
}

}  // namespace wj
