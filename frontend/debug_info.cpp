#include "frontend/debug_info.h"

#include <elfutils/libdw.h>
#include <libelf.h>

#include <algorithm>
#include <map>
#include <memory>

#include "common/optional_library.h"
#include "frontend/code_object_bytes.h"

namespace wj {
namespace {

constexpr size_t max_units = 100000;

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
};

const Libdw& libdw() {
    static const Libdw& library = *new Libdw;  // not destroyed: HIP's exit handlers come later
    return library;
}

struct DwarfFile {
    // libelf may write to a memory image (byte order, cached headers): give it its own copy.
    std::vector<std::byte> bytes;
    std::unique_ptr<Elf, int (*)(Elf*)> elf{nullptr, libdw().elf_end};
    std::unique_ptr<Dwarf, int (*)(Dwarf*)> dwarf{nullptr, libdw().dwarf_end};

    explicit DwarfFile(std::span<const std::byte> file) : bytes(file.begin(), file.end()) {
        const Libdw& dw = libdw();
        if (dw.elf_version(EV_CURRENT) == EV_NONE) return;
        elf.reset(dw.elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size()));
        if (elf) dwarf.reset(dw.dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
    }
};

bool has_lines(const CodeObject& object) {
    return object.loadable && std::ranges::any_of(object.sections, [](const Section& s) {
               return s.name == ".debug_line";
           });
}

}  // namespace

std::string SourceLocation::text() const {
    return file + ":" + std::to_string(line);
}
std::string SymbolLocation::text() const {
    return name + "+" + hex(offset);
}

DebugInfo DebugInfo::read(const CodeObject& object) {
    DebugInfo out;
    const Libdw& dw = libdw();
    if (!has_lines(object) || !dw.missing().empty()) return out;
    DwarfFile file(object.file);
    if (!file.dwarf) return out;

    std::map<std::string, uint32_t> file_index;
    auto index_of = [&](const char* name) {
        auto [it, fresh] =
            file_index.emplace(name ? name : "?", static_cast<uint32_t>(out.files_.size()));
        if (fresh) out.files_.push_back(it->first);
        return it->second;
    };
    Dwarf_Off offset = 0, next = 0;
    size_t header_size = 0;
    for (size_t unit = 0; unit < max_units; unit++, offset = next) {
        if (dw.dwarf_nextcu(file.dwarf.get(), offset, &next, &header_size, nullptr, nullptr,
                            nullptr) != 0)
            break;
        if (next <= offset) break;
        Dwarf_Die die;
        Dwarf_Lines* lines = nullptr;
        size_t count = 0;
        if (!dw.dwarf_offdie(file.dwarf.get(), offset + header_size, &die)) continue;
        if (dw.dwarf_getsrclines(&die, &lines, &count) != 0) continue;
        for (size_t i = 0; i < count; i++) {
            Dwarf_Line* line = dw.dwarf_onesrcline(lines, i);
            Dwarf_Addr address = 0;
            int number = 0, column = 0;
            bool end = false;
            if (!line || dw.dwarf_lineaddr(line, &address) != 0) continue;
            dw.dwarf_lineno(line, &number);
            dw.dwarf_linecol(line, &column);
            dw.dwarf_lineendsequence(line, &end);
            out.rows_.push_back({address, index_of(dw.dwarf_linesrc(line, nullptr, nullptr)),
                                 static_cast<uint32_t>(std::max(number, 0)),
                                 static_cast<uint32_t>(std::max(column, 0)), end});
        }
    }
    // Where one sequence ends and the next begins the beginning counts, so ends come first.
    std::ranges::stable_sort(out.rows_, [](const Row& a, const Row& b) {
        return a.address != b.address ? a.address < b.address : a.end > b.end;
    });
    return out;
}

std::string DebugInfo::unreadable(const CodeObject& object) {
    return has_lines(object) ? reader_missing() : "";
}

const std::string& DebugInfo::reader_missing() {
    return libdw().missing();
}

std::optional<SourceLocation> DebugInfo::find(uint64_t address) const {
    auto it = std::ranges::upper_bound(rows_, address, {}, &Row::address);
    if (it == rows_.begin()) return std::nullopt;
    --it;
    if (it->end) return std::nullopt;
    // Line 0 marks what the compiler cannot attribute; go back inside the sequence.
    bool approximate = it->line == 0;
    while (it->line == 0 && it != rows_.begin() && !(it - 1)->end) --it;
    if (it->line == 0) return std::nullopt;
    return SourceLocation{files_[it->file], it->line, it->column, approximate};
}

std::optional<SymbolLocation> find_symbol_location(const CodeObject& object, uint64_t address) {
    const Symbol* best = object.symbol_at(address);
    if (!best) {
        for (const Symbol& s : object.symbols)
            if (s.kind == Symbol::Kind::Function && s.size == 0 && s.address <= address &&
                (!best || s.address > best->address))
                best = &s;
    }
    if (!best) return std::nullopt;
    SymbolLocation out{best->name, address - best->address};
    if (best->kind == Symbol::Kind::Kernel && out.name.ends_with(".kd"))
        out.name.resize(out.name.size() - 3);
    return out;
}

}  // namespace wj
