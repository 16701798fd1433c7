// Functions of the source and what compilers have inlined in them, by address: .debug_info through
// libdw (DWARF 2 to 5).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/debug_info.h"

namespace wj {

// A function whose code is at an address.
struct SourceFunction {
    std::string name;      // as in the source, without parameters and what it is a member of
    bool inlined = false;  // in the next one
    SourceLocation call;   // if it is: where the next one calls it; line 0: not known
};

// Addresses are ELF addresses, as in DebugInfo.
class SourceScopes {
public:
    // An object without debug information, or with a damaged one, gives an empty table, or a part.
    static SourceScopes read(const CodeObject& object);

    // Innermost first, the last one not inlined; empty if nobody knows.
    std::vector<SourceFunction> at(uint64_t address) const;

private:
    friend class ScopeReader;
    static constexpr uint32_t none = UINT32_MAX;
    struct Scope {
        uint32_t name;    // index in texts_
        uint32_t parent;  // index in scopes_ of the one that it is inlined in; none: a function
        uint32_t file;    // of the call: index in texts_
        uint32_t line, column;
    };
    struct Range {
        uint64_t begin, end;
        uint32_t scope;  // index in scopes_
    };
    std::vector<Scope> scopes_;  // parents in front
    std::vector<Range> ranges_;  // those of parents in front
    std::vector<std::string> texts_;
};

}  // namespace wj
