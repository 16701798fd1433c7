// AMDGPU code objects: parsing from memory and loading.
//
//   auto object = parse_code_object(bytes);         // bytes must outlive `object`
//   if (!object) report(object.status());
//   auto layout = layout_code_object(*object);      // size and alignment of the image
//   ... allocate layout->size bytes of guest memory at guest_base ...
//   load_code_object(*object, *layout, image, guest_base, resolver);
//   guest address = guest_base + (elf_address - layout->base)
//
// Bundles and host programs: frontend/bundle.h finds the code objects in them.
// No field of the input is trusted; every error says where it is and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "frontend/code_object_target.h"
#include "frontend/kernel_descriptor.h"
#include "frontend/metadata.h"

namespace wj {

// A PT_LOAD segment.
struct Segment {
    uint64_t file_offset = 0, file_size = 0;
    uint64_t address = 0, memory_size = 0;  // ELF addresses; the part behind file_size is zero
    uint64_t align = 1;
    bool readable = false, writable = false, executable = false;
};

struct Section {
    std::string name;
    uint32_t type = 0;  // SHT_*
    uint64_t flags = 0, address = 0, file_offset = 0, size = 0;
};

struct Symbol {
    enum class Kind : uint8_t {
        Function,   // STT_FUNC: kernel entry points, device functions
        Variable,   // STT_OBJECT: global variables
        Kernel,     // kernel object: "<name>.kd", or STT_AMDGPU_HSA_KERNEL of V2
        Lds,        // STT_OBJECT in SHN_AMDGPU_LDS: address is its alignment
        Undefined,  // to be resolved when loading
        Other,      // sections, files, absolute and untyped symbols
    };
    std::string name;
    Kind kind = Kind::Other;
    uint64_t address = 0, size = 0;  // ELF address (ET_REL: offset in its section)
    bool dynamic = false;            // in .dynsym, so visible to the host
    bool weak = false, local = false, absolute = false;
    bool writable = false;  // a variable in a writable segment
    uint16_t section = 0;   // index in CodeObject::sections (as in the file), or SHN_*
};

inline constexpr uint32_t no_symbol = UINT32_MAX;

// An Elf64_Rela of the dynamic segment.
struct Relocation {
    uint64_t address = 0;         // ELF address of the place
    uint32_t type = 0;            // R_AMDGPU_*
    uint32_t symbol = no_symbol;  // index in CodeObject::symbols
    int64_t addend = 0;
};

const char* relocation_name(uint32_t type);  // "R_AMDGPU_ABS64", or nullptr

struct KernelInfo {
    std::string name;                 // without ".kd"
    std::string symbol;               // of the kernel object: "foo.kd", V2: "foo"
    uint64_t descriptor_address = 0;  // ELF address of the kernel object
    uint64_t entry_address = 0;       // ELF address of the first instruction; ET_REL: 0
    uint64_t code_size = 0;           // bytes from the entry, by its function symbol; 0 = not known
    KernelDescriptor descriptor;
    bool has_metadata = false;  // false: `metadata` is empty but for the names
    KernelMetadata metadata;

    // The answers to the ROCm symbol queries (SEED-META-52), from descriptor and metadata.
    uint64_t kernarg_segment_size() const;
    uint32_t kernarg_segment_align() const;  // at least 16
    bool dynamic_call_stack() const;
};

struct CodeObject {
    std::span<const std::byte> file;  // the caller's bytes
    TargetId target;        // frontend/target.h: find_target_by_mach(target.processor->mach)
    uint32_t flags = 0;     // e_flags
    uint32_t version = 0;   // code object version, 2 to 6
    bool loadable = false;  // ET_DYN; false = ET_REL, for information only
    std::vector<Segment> segments;  // ascending, disjoint
    std::vector<Section> sections;  // may be empty (stripped)
    std::vector<Symbol> symbols;  // .dynsym first, then what .symtab has beyond it; no null symbol
    std::vector<Relocation> relocations;
    std::vector<KernelInfo> kernels;
    bool has_metadata = false;
    Metadata metadata;                     // kernels' metadata is moved to `kernels`
    std::vector<std::string> diagnostics;  // oddities that do not stop loading

    const KernelInfo* find_kernel(std::string_view name) const;  // with or without ".kd"
    const Symbol* find_symbol(std::string_view name) const;
    // The symbol of that name which other code objects may refer to: exported and defined here.
    const Symbol* find_definition(std::string_view name) const;
    const Symbol* symbol_at(
        uint64_t address) const;  // function or variable that covers the address
    // File bytes of an ELF address range; nothing if it is not wholly backed by the file.
    std::optional<std::span<const std::byte>> bytes_at(uint64_t address, uint64_t size) const;
};

Result<CodeObject> parse_code_object(std::span<const std::byte> file);

struct ImageLayout {
    uint64_t base = 0;  // ELF address of the image's first byte
    uint64_t size = 0;  // bytes, a multiple of the page size; includes GOT slots made by the loader
    uint64_t align = 0;  // that guest_base needs
    uint64_t got = 0;    // offset of the loader's GOT in the image
};

inline constexpr uint64_t max_image_size = uint64_t{1} << 34;

Result<ImageLayout> layout_code_object(const CodeObject& object);

// Guest address of an undefined symbol, or nothing.
using SymbolResolver = std::function<std::optional<uint64_t>(std::string_view name)>;

// Fills `image` (layout.size bytes, all 0) with segments and applied relocations for a load at
// guest_base. `image` is written at host addresses; guest_base need not be its address.
// `unresolved`: receives the relocations whose undefined symbol the resolver does not know, for
// link_code_object; without it such a symbol is NotFound (weak: address 0).
Status load_code_object(const CodeObject& object, const ImageLayout& layout,
                        std::span<std::byte> image, uint64_t guest_base,
                        const SymbolResolver& resolver = {},
                        std::vector<Relocation>* unresolved = nullptr);

// Applies to a filled image what was unresolved when it was loaded.
Status link_code_object(const CodeObject& object, const ImageLayout& layout,
                        std::span<std::byte> image, uint64_t guest_base,
                        const SymbolResolver& resolver, std::span<const Relocation> unresolved);

}  // namespace wj
