// Where a PC is in the source: .debug_line through libdw, and symbols for what has no line table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/code_object.h"

namespace wj {

struct SourceLocation {
    std::string file;  // as the compiler wrote it
    uint32_t line = 0, column = 0;
    bool approximate = false;  // code without a line of its own: the nearest line before it
    std::string text() const;  // "file:line"
};

// A line table, read once. Addresses are ELF addresses: guest address - guest_base + layout.base.
class DebugInfo {
public:
    // An object without debug information, or with a damaged one, gives an empty table; so does
    // every object where libdw is not installed.
    static DebugInfo read(const CodeObject& object);
    // Empty, or why source lines that the object has cannot be read: libdw is not installed.
    static std::string unreadable(const CodeObject& object);
    // Empty, or why no object's source lines can be read.
    static const std::string& reader_missing();

    bool empty() const { return rows_.empty(); }
    std::optional<SourceLocation> find(uint64_t address) const;

private:
    struct Row {
        uint64_t address;
        uint32_t file;  // index in files_
        uint32_t line, column;
        bool end;  // no code from here to the next row
    };
    std::vector<Row> rows_;  // by address
    std::vector<std::string> files_;
};

struct SymbolLocation {
    std::string name;  // without ".kd"
    uint64_t offset = 0;
    std::string text() const;  // "name+0x10"
};

// The symbol of what covers the ELF address, a function, kernel or variable; null: none. A function
// without a size covers the bytes up to the next symbol.
const Symbol* find_code_symbol(const CodeObject& object, uint64_t address);

// Function (or else variable) that covers the ELF address, as above.
std::optional<SymbolLocation> find_symbol_location(const CodeObject& object, uint64_t address);

}  // namespace wj
