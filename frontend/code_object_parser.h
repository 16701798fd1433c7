// The steps of parse_code_object. Private to frontend/code_object*.cpp.
#pragma once

#include <elf.h>

#include "frontend/code_object.h"
#include "frontend/code_object_bytes.h"

namespace wj {

inline Status invalid(std::string text) {
    return {Code::InvalidCodeObject, "code object: " + std::move(text)};
}

// Far more than any linker writes; keeps the work on hostile input linear.
inline constexpr size_t max_load_segments = 256;
inline constexpr size_t max_note_ranges = 64;

class CodeObjectParser {
public:
    explicit CodeObjectParser(std::span<const std::byte> file) : file_(file) { out_.file = file; }
    Result<CodeObject> run();

private:
    // code_object.cpp
    Status read_header();
    Status read_target();
    Status read_segments();
    Status read_sections();
    Status read_notes();
    Status read_note_range(uint64_t offset, uint64_t size, uint64_t align);
    Status read_note(std::string_view name, uint32_t type, std::span<const std::byte> desc);

    // code_object_symbols.cpp
    Status read_dynamic();
    Status read_symbols();
    Status read_relocations(uint64_t address, uint64_t size);
    Status add_symbols(uint64_t offset, uint64_t count, Bytes strings, bool dynamic);
    uint64_t count_dynamic_symbols(uint64_t hash, uint64_t gnu_hash) const;

    // code_object_kernels.cpp
    Status read_kernels();
    Result<KernelInfo> read_kernel(const Symbol& symbol);
    std::optional<std::span<const std::byte>> symbol_bytes(const Symbol& symbol,
                                                           uint64_t size) const;

    std::optional<uint64_t> file_offset(uint64_t address, uint64_t size) const;
    // Many names may point into one long string: what they take together is limited.
    bool spend_name(std::string_view name) {
        name_bytes_ += name.size();
        return name_bytes_ <= file_.size() * 4 + (1u << 20);
    }

    Bytes file_;
    CodeObject out_;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Phdr> program_headers_;
    std::vector<Elf64_Shdr> section_headers_;
    std::string old_isa_;  // V2: from the ISA note
    uint32_t dynamic_symbol_count_ = 0;
    uint64_t name_bytes_ = 0;
};

}  // namespace wj
