#include "frontend/debug_info.h"

#include <algorithm>
#include <map>

#include "frontend/code_object_bytes.h"
#include "frontend/dwarf_file.h"

namespace wj {

std::string SourceLocation::text() const {
    return file + ":" + std::to_string(line);
}
std::string SymbolLocation::text() const {
    return name + "+" + hex(offset);
}

DebugInfo DebugInfo::read(const CodeObject& object) {
    DebugInfo out;
    const auto file = DwarfFile::open(object);
    if (!file) return out;
    const Libdw& dw = libdw();
    std::map<std::string, uint32_t> file_index;
    auto index_of = [&](const char* name) {
        auto [it, fresh] =
            file_index.emplace(name ? name : "?", static_cast<uint32_t>(out.files_.size()));
        if (fresh) out.files_.push_back(it->first);
        return it->second;
    };
    file->each_unit([&](Dwarf_Die& unit) {
        Dwarf_Lines* lines = nullptr;
        size_t count = 0;
        if (dw.dwarf_getsrclines(&unit, &lines, &count) != 0) return;
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
    });
    // Where one sequence ends and the next begins the beginning counts, so ends come first.
    std::ranges::stable_sort(out.rows_, [](const Row& a, const Row& b) {
        return a.address != b.address ? a.address < b.address : a.end > b.end;
    });
    return out;
}

std::string DebugInfo::unreadable(const CodeObject& object) {
    return DwarfFile::has_lines(object) ? reader_missing() : "";
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

const Symbol* find_code_symbol(const CodeObject& object, uint64_t address) {
    const Symbol* best = object.symbol_at(address);
    if (best) return best;
    for (const Symbol& s : object.symbols)
        if (s.kind == Symbol::Kind::Function && s.size == 0 && s.address <= address &&
            (!best || s.address > best->address))
            best = &s;
    return best;
}

std::optional<SymbolLocation> find_symbol_location(const CodeObject& object, uint64_t address) {
    const Symbol* const best = find_code_symbol(object, address);
    if (!best) return std::nullopt;
    SymbolLocation out{best->name, address - best->address};
    if (best->kind == Symbol::Kind::Kernel && out.name.ends_with(".kd"))
        out.name.resize(out.name.size() - 3);
    return out;
}

}  // namespace wj
