// A code object's debug information as libdw reads it, for the sources that make tables of it.
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <memory>
#include <vector>

#include "common/optional_library.h"
#include "frontend/code_object.h"

namespace wj {

// elfutils is under the LGPL and only makes reports finer, so it is opened, not contained.
struct Libdw : OptionalLibrary {
    Libdw() : OptionalLibrary("libdw.so.1", "libdw1") {}
    WJ_OPTIONAL_FUNCTION(elf_version);
    WJ_OPTIONAL_FUNCTION(elf_memory);
    WJ_OPTIONAL_FUNCTION(elf_end);
    WJ_OPTIONAL_FUNCTION(dwarf_begin_elf);
    WJ_OPTIONAL_FUNCTION(dwarf_end);
    WJ_OPTIONAL_FUNCTION(dwarf_nextcu);
    WJ_OPTIONAL_FUNCTION(dwarf_offdie);
    WJ_OPTIONAL_FUNCTION(dwarf_getsrclines);
    WJ_OPTIONAL_FUNCTION(dwarf_onesrcline);
    WJ_OPTIONAL_FUNCTION(dwarf_lineaddr);
    WJ_OPTIONAL_FUNCTION(dwarf_lineno);
    WJ_OPTIONAL_FUNCTION(dwarf_linecol);
    WJ_OPTIONAL_FUNCTION(dwarf_lineendsequence);
    WJ_OPTIONAL_FUNCTION(dwarf_linesrc);
    WJ_OPTIONAL_FUNCTION(dwarf_tag);
    WJ_OPTIONAL_FUNCTION(dwarf_child);
    WJ_OPTIONAL_FUNCTION(dwarf_siblingof);
    WJ_OPTIONAL_FUNCTION(dwarf_ranges);
    WJ_OPTIONAL_FUNCTION(dwarf_attr);
    WJ_OPTIONAL_FUNCTION(dwarf_attr_integrate);
    WJ_OPTIONAL_FUNCTION(dwarf_formstring);
    WJ_OPTIONAL_FUNCTION(dwarf_formudata);
    WJ_OPTIONAL_FUNCTION(dwarf_getsrcfiles);
    WJ_OPTIONAL_FUNCTION(dwarf_filesrc);
};
const Libdw& libdw();

class DwarfFile {
public:
    // Null: the object has no debug information, or libdw is missing or does not understand it.
    static std::unique_ptr<DwarfFile> open(const CodeObject& object);
    static bool has_lines(const CodeObject& object);

    // Calls body(Dwarf_Die& unit) for each unit of compilation.
    template <class Body>
    void each_unit(Body body) const;

private:
    explicit DwarfFile(std::span<const std::byte> file);

    static constexpr size_t max_units = 100000;
    // libelf may write to a memory image (byte order, cached headers): it has a copy of its own.
    std::vector<std::byte> bytes_;
    std::unique_ptr<Elf, int (*)(Elf*)> elf_{nullptr, libdw().elf_end};
    std::unique_ptr<Dwarf, int (*)(Dwarf*)> dwarf_{nullptr, libdw().dwarf_end};
};

template <class Body>
void DwarfFile::each_unit(Body body) const {
    const Libdw& dw = libdw();
    Dwarf_Off offset = 0, next = 0;
    size_t header_size = 0;
    for (size_t unit = 0; unit < max_units; unit++, offset = next) {
        if (dw.dwarf_nextcu(dwarf_.get(), offset, &next, &header_size, nullptr, nullptr, nullptr))
            return;
        if (next <= offset) return;
        Dwarf_Die die;
        if (dw.dwarf_offdie(dwarf_.get(), offset + header_size, &die)) body(die);
    }
}

}  // namespace wj
