#include "frontend/source_scopes.h"

#include <dwarf.h>

#include "frontend/dwarf_file.h"

namespace wj {

// Walks the tree of each unit, with limits that no compiler comes near to: sizes and depths in a
// damaged object may be anything.
class ScopeReader {
public:
    explicit ScopeReader(SourceScopes& out) : out_(out) {}

    void read(Dwarf_Die& unit) {
        if (dw_.dwarf_getsrcfiles(&unit, &files_, &file_count_) != 0) file_count_ = 0;
        walk(unit);
    }

private:
    static constexpr size_t most_entries = 1 << 23, most_scopes = 1 << 20, most_depth = 256,
                            most_text = 4096, most_texts = 64 << 20;
    struct Level {
        Dwarf_Die die;
        uint32_t scope;  // that its children are in
    };

    void walk(Dwarf_Die& unit) {
        std::vector<Level> levels;
        Dwarf_Die die;
        if (dw_.dwarf_child(&unit, &die) != 0) return;
        levels.push_back({die, SourceScopes::none});
        while (!levels.empty() && entries_++ < most_entries) {
            Level& level = levels.back();
            Dwarf_Die here = level.die, child;
            uint32_t scope = level.scope;
            if (dw_.dwarf_siblingof(&here, &level.die) != 0) levels.pop_back();
            if (enter(here, scope) && levels.size() < most_depth &&
                dw_.dwarf_child(&here, &child) == 0)
                levels.push_back({child, scope});
        }
    }

    // False: nothing in it is of interest. `scope`: the one that the entry is in, and then its own.
    bool enter(Dwarf_Die& die, uint32_t& scope) {
        switch (dw_.dwarf_tag(&die)) {
            case DW_TAG_namespace:
            case DW_TAG_lexical_block:
                return true;
            case DW_TAG_subprogram:
                scope = SourceScopes::none;
                return add(die, scope);
            case DW_TAG_inlined_subroutine:
                return scope != SourceScopes::none && add(die, scope);
            default:
                return false;
        }
    }

    bool add(Dwarf_Die& die, uint32_t& scope) {
        const auto number = static_cast<uint32_t>(out_.scopes_.size());
        if (number >= most_scopes || !add_ranges(die, number)) return false;
        out_.scopes_.push_back({text(string(die, DW_AT_name)), scope, text(call_file(die)),
                                number_of(die, DW_AT_call_line),
                                number_of(die, DW_AT_call_column)});
        scope = number;
        return true;
    }

    // False: it has no code.
    bool add_ranges(Dwarf_Die& die, uint32_t scope) {
        bool any = false;
        Dwarf_Addr base, begin, end;
        for (ptrdiff_t at = 0; out_.ranges_.size() < most_scopes;) {
            const ptrdiff_t next = dw_.dwarf_ranges(&die, at, &base, &begin, &end);
            if (next <= 0 || next == at) break;
            at = next;
            if (begin >= end) continue;
            out_.ranges_.push_back({begin, end, scope});
            any = true;
        }
        return any;
    }

    // Of the entry, or of those that it is an instance of.
    const char* string(Dwarf_Die& die, unsigned name) {
        Dwarf_Attribute attribute;
        if (!dw_.dwarf_attr_integrate(&die, name, &attribute)) return nullptr;
        return dw_.dwarf_formstring(&attribute);
    }
    uint32_t number_of(Dwarf_Die& die, unsigned name) {
        Dwarf_Attribute attribute;
        Dwarf_Word value = 0;
        if (!dw_.dwarf_attr(&die, name, &attribute) ||
            dw_.dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
            return 0;
        return static_cast<uint32_t>(value);
    }
    const char* call_file(Dwarf_Die& die) {
        Dwarf_Attribute attribute;
        const uint32_t file = number_of(die, DW_AT_call_file);
        if (!dw_.dwarf_attr(&die, DW_AT_call_file, &attribute) || file >= file_count_)
            return nullptr;
        return dw_.dwarf_filesrc(files_, file, nullptr, nullptr);
    }

    // The number of a text; the same ones are kept once.
    uint32_t text(const char* bytes) {
        std::string_view wanted = bytes ? bytes : "";
        if (wanted.size() > most_text || text_bytes_ > most_texts) wanted = {};
        const auto known = numbers_.find(wanted);
        if (known != numbers_.end()) return known->second;
        const auto number = static_cast<uint32_t>(out_.texts_.size());
        text_bytes_ += wanted.size();
        out_.texts_.emplace_back(wanted);
        numbers_.emplace(wanted, number);
        return number;
    }

    const Libdw& dw_ = libdw();
    SourceScopes& out_;
    std::map<std::string, uint32_t, std::less<>> numbers_;
    size_t entries_ = 0, text_bytes_ = 0;
    Dwarf_Files* files_ = nullptr;
    size_t file_count_ = 0;
};

SourceScopes SourceScopes::read(const CodeObject& object) {
    SourceScopes out;
    const auto file = DwarfFile::open(object);
    if (!file) return out;
    ScopeReader reader(out);
    file->each_unit([&](Dwarf_Die& unit) { reader.read(unit); });
    return out;
}

std::vector<SourceFunction> SourceScopes::at(uint64_t address) const {
    uint32_t scope = none;
    for (const Range& r : ranges_)
        if (address - r.begin < r.end - r.begin) scope = r.scope;  // an inner one comes later
    std::vector<SourceFunction> found;
    for (; scope != none; scope = scopes_[scope].parent) {
        const Scope& s = scopes_[scope];
        found.push_back({texts_[s.name], s.parent != none, {texts_[s.file], s.line, s.column}});
    }
    return found;
}

}  // namespace wj
