// Kernels of a code object: symbols, descriptors and metadata brought together.
#include <algorithm>
#include <unordered_map>

#include "frontend/code_object_parser.h"

namespace wj {

// ET_DYN: by address. ET_REL: st_value is an offset in the symbol's section.
std::optional<std::span<const std::byte>> CodeObjectParser::symbol_bytes(const Symbol& symbol,
                                                                         uint64_t size) const {
    if (out_.loadable) return out_.bytes_at(symbol.address, size);
    if (symbol.section >= section_headers_.size()) return std::nullopt;
    const Elf64_Shdr& sh = section_headers_[symbol.section];
    if (sh.sh_type == SHT_NOBITS || symbol.address > sh.sh_size ||
        size > sh.sh_size - symbol.address)
        return std::nullopt;
    return file_.slice(sh.sh_offset + symbol.address, size);
}

Result<KernelInfo> CodeObjectParser::read_kernel(const Symbol& symbol) {
    bool v2 = out_.version == 2;
    KernelInfo kernel;
    kernel.symbol = symbol.name;
    kernel.name = symbol.name;
    if (!v2 && kernel.name.ends_with(".kd")) kernel.name.resize(kernel.name.size() - 3);
    kernel.descriptor_address = symbol.address;
    std::string which = "code object: kernel '" + printable(kernel.name) +
                        "', kernel object at address " + hex(symbol.address) + ": ";
    uint64_t align = v2 ? 256 : 64;
    if (symbol.address % align)
        return Status(Code::InvalidCodeObject,
                      which + "not aligned to " + std::to_string(align) + " bytes");
    auto bytes = symbol_bytes(symbol, v2 ? kernel_code_size : kernel_descriptor_size);
    if (!bytes)
        return Status(Code::InvalidCodeObject,
                      which + "not inside a segment with file bytes; the object is damaged");
    auto descriptor = v2 ? decode_kernel_code(*bytes, *out_.target.processor)
                         : decode_kernel_descriptor(*bytes, *out_.target.processor);
    if (!descriptor)
        return Status(descriptor.status().code(), which + descriptor.status().message());
    kernel.descriptor = *descriptor;
    if (!out_.loadable) return kernel;  // the entry offset is filled by the linker

    kernel.entry_address = symbol.address + static_cast<uint64_t>(descriptor->entry_offset);
    if (kernel.entry_address % 256)
        return Status(Code::InvalidCodeObject, which + "entry point " + hex(kernel.entry_address) +
                                                   " is not aligned to 256 bytes");
    bool inside = std::ranges::any_of(out_.segments, [&](const Segment& s) {
        return s.executable && kernel.entry_address >= s.address &&
               kernel.entry_address - s.address + 4 <= s.file_size;
    });
    if (!inside)
        return Status(Code::InvalidCodeObject, which + "entry point " + hex(kernel.entry_address) +
                                                   " is not in an executable segment");
    return kernel;
}

Status CodeObjectParser::read_kernels() {
    std::unordered_map<std::string, KernelMetadata*> metadata;
    for (KernelMetadata& m : out_.metadata.kernels) metadata.emplace(m.symbol, &m);
    std::unordered_map<uint64_t, uint64_t> code_size;
    for (const Symbol& s : out_.symbols)
        if (s.kind == Symbol::Kind::Function) code_size.emplace(s.address, s.size);

    for (const Symbol& symbol : out_.symbols) {
        if (symbol.kind != Symbol::Kind::Kernel) continue;
        auto kernel = read_kernel(symbol);
        if (!kernel) return kernel.status();
        if (auto it = metadata.find(kernel->symbol); it != metadata.end()) {
            kernel->has_metadata = true;
            kernel->metadata = std::move(*it->second);
            it->second->symbol.clear();
            metadata.erase(it);
            if (uint32_t w = kernel->metadata.wavefront_size;
                w && w != kernel->descriptor.wave_size)
                return Status(Code::InvalidCodeObject,
                              "code object: kernel '" + printable(kernel->name) + "': wave size " +
                                  std::to_string(w) + " in the metadata, but " +
                                  std::to_string(kernel->descriptor.wave_size) +
                                  " in its descriptor");
        } else {
            kernel->metadata.name = kernel->name;
            kernel->metadata.symbol = kernel->symbol;
            if (out_.has_metadata)
                out_.diagnostics.push_back("kernel '" + printable(kernel->name) +
                                           "' has no metadata");
        }
        // V2: code follows the amd_kernel_code_t and the kernel's symbol covers both.
        if (kernel->descriptor.v2 && symbol.size > kernel_code_size &&
            kernel->descriptor.entry_offset == 256)
            kernel->code_size = symbol.size - kernel_code_size;
        if (auto it = code_size.find(kernel->entry_address); it != code_size.end() && out_.loadable)
            kernel->code_size = it->second;
        out_.kernels.push_back(std::move(*kernel));
    }
    for (const KernelMetadata& m : out_.metadata.kernels)
        if (!m.symbol.empty())
            out_.diagnostics.push_back("metadata names the kernel '" + printable(m.name) +
                                       "', but no kernel object has the symbol '" +
                                       printable(m.symbol) + "'");
    std::ranges::sort(out_.kernels, {}, &KernelInfo::descriptor_address);
    out_.metadata.kernels.clear();
    return Status::ok();
}

uint64_t KernelInfo::kernarg_segment_size() const {
    return std::max(descriptor.kernarg_size, metadata.kernarg_segment_size);
}

uint32_t KernelInfo::kernarg_segment_align() const {
    return std::max({16u, descriptor.kernarg_align, metadata.kernarg_segment_align});
}

bool KernelInfo::dynamic_call_stack() const {
    return descriptor.dynamic_stack || metadata.uses_dynamic_stack;
}

}  // namespace wj
