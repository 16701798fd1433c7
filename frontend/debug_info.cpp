#include "frontend/debug_info.h"

#include <elfutils/libdw.h>
#include <libelf.h>

#include <algorithm>
#include <map>
#include <memory>

#include "frontend/code_object_bytes.h"

namespace wj {
namespace {

constexpr size_t max_units = 100000;

struct DwarfFile {
    // libelf may write to a memory image (byte order, cached headers): give it its own copy.
    std::vector<std::byte> bytes;
    std::unique_ptr<Elf, int (*)(Elf*)> elf{nullptr, elf_end};
    std::unique_ptr<Dwarf, int (*)(Dwarf*)> dwarf{nullptr, dwarf_end};

    explicit DwarfFile(std::span<const std::byte> file) : bytes(file.begin(), file.end()) {
        if (elf_version(EV_CURRENT) == EV_NONE) return;
        elf.reset(elf_memory(reinterpret_cast<char*>(bytes.data()), bytes.size()));
        if (elf) dwarf.reset(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
    }
};

}  // namespace

std::string SourceLocation::text() const {
    return file + ":" + std::to_string(line);
}
std::string SymbolLocation::text() const {
    return name + "+" + hex(offset);
}

DebugInfo DebugInfo::read(const CodeObject& object) {
    DebugInfo out;
    bool has_lines = std::ranges::any_of(object.sections,
                                         [](const Section& s) { return s.name == ".debug_line"; });
    if (!has_lines || !object.loadable) return out;
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
        if (dwarf_nextcu(file.dwarf.get(), offset, &next, &header_size, nullptr, nullptr,
                         nullptr) != 0)
            break;
        if (next <= offset) break;
        Dwarf_Die die;
        Dwarf_Lines* lines = nullptr;
        size_t count = 0;
        if (!dwarf_offdie(file.dwarf.get(), offset + header_size, &die)) continue;
        if (dwarf_getsrclines(&die, &lines, &count) != 0) continue;
        for (size_t i = 0; i < count; i++) {
            Dwarf_Line* line = dwarf_onesrcline(lines, i);
            Dwarf_Addr address = 0;
            int number = 0, column = 0;
            bool end = false;
            if (!line || dwarf_lineaddr(line, &address) != 0) continue;
            dwarf_lineno(line, &number);
            dwarf_linecol(line, &column);
            dwarf_lineendsequence(line, &end);
            out.rows_.push_back({address, index_of(dwarf_linesrc(line, nullptr, nullptr)),
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
