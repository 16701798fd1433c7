#include "frontend/code_object.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <new>

#include "frontend/code_object_parser.h"

namespace wj {
namespace {

constexpr uint8_t osabi_amdgpu_hsa = 64;
constexpr uint32_t flag_xnack_v3 = 0x100, flag_sramecc_v3 = 0x200;
// Note records, SEED-ELF-10, -11, -40 (llvm/BinaryFormat/ELF.h).
constexpr uint32_t note_isa_version = 3, note_metadata_v2 = 10, note_isa_name = 11,
                   note_metadata = 32;

Status truncated(std::string what, uint64_t offset, uint64_t size, uint64_t have) {
    return invalid(what + " at file offset " + hex(offset) + " needs " + std::to_string(size) +
                   " bytes, but the file ends at " + hex(have) +
                   ": it is truncated or damaged; build or copy it again");
}

struct MachineName {
    uint16_t machine;
    const char* name;
};
constexpr MachineName machines[] = {
    {EM_X86_64, "x86-64"}, {EM_386, "x86"},         {EM_AARCH64, "AArch64"},  {EM_ARM, "ARM"},
    {EM_RISCV, "RISC-V"},  {EM_PPC64, "PowerPC64"}, {EM_CUDA, "NVIDIA CUDA"},
};

// What the first bytes are when they are not ELF's.
struct Magic {
    std::string_view bytes;
    const char* what;
};
constexpr Magic magics[] = {
    {"__CLANG_OFFLOAD_BUNDLE__",
     "an offload bundle: take the code object for your target out of it"},
    {"CCOB", "a compressed offload bundle: take the code object for your target out of it"},
    {"BC\xc0\xde", "LLVM bitcode: compile and link it with clang --target=amdgcn-amd-amdhsa"},
    {std::string_view("\x10\xff\x10\xad", 4),
     "an LLVM offload binary: take the image for your target out of it"},
    {"!<arch>", "a static library: link it first"},
};

Feature v4_feature(uint32_t flags, uint32_t shift) {
    constexpr Feature features[] = {Feature::Unsupported, Feature::Any, Feature::Off, Feature::On};
    return features[(flags >> shift) & 3];
}

}  // namespace

std::string hex(uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string printable(std::string_view untrusted) {
    std::string out;
    for (char c : untrusted.substr(0, 200)) {
        if (c >= 0x20 && c < 0x7f)
            out += c;
        else
            out += "\\x" + hex(static_cast<uint8_t>(c)).substr(2);
    }
    if (untrusted.size() > 200) out += "...";
    return out;
}

Result<CodeObject> parse_code_object(std::span<const std::byte> file) {
    try {
        return CodeObjectParser(file).run();
    } catch (const std::bad_alloc&) {
        return Status(Code::OutOfMemory, "code object: not enough memory to parse it");
    }
}

Result<CodeObject> CodeObjectParser::run() {
    using Step = Status (CodeObjectParser::*)();
    // Notes come before the target: the processor of old V2 objects stands in one.
    constexpr Step steps[] = {
        &CodeObjectParser::read_header,   &CodeObjectParser::read_segments,
        &CodeObjectParser::read_sections, &CodeObjectParser::read_notes,
        &CodeObjectParser::read_target,   &CodeObjectParser::read_dynamic,
        &CodeObjectParser::read_symbols,  &CodeObjectParser::read_kernels,
    };
    for (Step step : steps) {
        Status status = (this->*step)();
        if (!status) return status;
    }
    return std::move(out_);
}

Status CodeObjectParser::read_header() {
    if (file_.size() == 0)
        return invalid("empty (0 bytes): check the path or the build step that writes it");
    if (file_.size() < 4 || file_.text(0, 4) != ELFMAG) {
        for (const Magic& magic : magics)
            if (file_.text(0, magic.bytes.size()) == magic.bytes)
                return invalid(std::string("not an ELF file but ") + magic.what);
        std::string start;
        for (uint64_t i = 0; i < std::min<uint64_t>(4, file_.size()); i++)
            start.append(i ? " " : "").append(hex(file_.at<uint8_t>(i)));
        return invalid("not an ELF file (starts with " + start +
                       "): give a linked AMDGPU code object");
    }
    if (!file_.contains(0, EI_NIDENT))
        return truncated("the ELF identification", 0, EI_NIDENT, file_.size());
    auto ident = [&](int i) { return file_.at<uint8_t>(static_cast<uint64_t>(i)); };
    if (ident(EI_CLASS) != ELFCLASS64)
        return invalid("ELF class " + std::to_string(ident(EI_CLASS)) +
                       " at file offset 0x4: only 64-bit ELF files hold AMDGPU code");
    if (ident(EI_DATA) != ELFDATA2LSB)
        return invalid("byte order " + std::to_string(ident(EI_DATA)) +
                       " at file offset 0x5: AMDGPU code objects are little-endian");
    auto header = file_.get<Elf64_Ehdr>(0);
    if (!header) return truncated("the ELF header", 0, sizeof(Elf64_Ehdr), file_.size());
    header_ = *header;
    if (header_.e_machine != EM_AMDGPU) {
        std::string machine = "machine " + std::to_string(header_.e_machine);
        for (auto [number, name] : machines)
            if (number == header_.e_machine) machine = name;
        return Status(
            Code::UnsupportedTarget,
            "code object: an ELF file for " + machine +
                ", not for an AMD GPU (e_machine at file offset 0x12 is not 224); if it is a HIP "
                "program or library, take the code objects out of its .hip_fatbin section");
    }
    if (uint8_t abi = ident(EI_OSABI); abi != osabi_amdgpu_hsa)
        return Status(
            Code::UnsupportedTarget,
            "code object: OS ABI " + std::to_string(abi) +
                (abi == 65   ? " (amdpal)"
                 : abi == 66 ? " (mesa3d)"
                             : "") +
                " at file offset 0x7, only 64 (amdhsa) is run: compile for amdgcn-amd-amdhsa");
    uint8_t abi_version = ident(EI_ABIVERSION);
    if (abi_version > 4)
        return Status(
            Code::UnsupportedTarget,
            "code object: ABI version " + std::to_string(abi_version) +
                " at file offset 0x8, versions 0 to 4 (code object V2 to V6) are known: compile "
                "with -mcode-object-version=5");
    out_.version = abi_version + 2u;
    out_.flags = header_.e_flags;
    if (header_.e_type != ET_DYN && header_.e_type != ET_REL)
        return invalid(
            "ELF type " + std::to_string(header_.e_type) +
            " at file offset 0x10, expected a shared object (3): link it with ld.lld -shared");
    out_.loadable = header_.e_type == ET_DYN;
    return Status::ok();
}

// e_flags: SEED-ELF-40, -41; llvm/BinaryFormat/ELF.h.
Status CodeObjectParser::read_target() {
    uint32_t mach = out_.flags & 0xff;
    // V2 objects written before the processor was put into e_flags name it in a note.
    bool by_note = out_.version == 2 && mach < 0x20;
    if (by_note) {
        // The first naming gave GFX9 with XNACK an odd stepping of its own: 9:0:1 is gfx900 with
        // XNACK.
        auto id = parse_target_id(old_isa_);
        char stepping = old_isa_.empty() ? '0' : old_isa_.back();
        bool odd = !id && old_isa_.starts_with("AMD:AMDGPU:9:0:") && old_isa_.size() == 16 &&
                   stepping % 2 == 1;
        if (odd) id = parse_target_id(old_isa_.substr(0, 15) + static_cast<char>(stepping - 1));
        if (!id)
            return Status(Code::UnsupportedTarget,
                          "code object: V2 object whose ISA note names the unknown processor '" +
                              printable(old_isa_) + "'");
        out_.target = *id;
        if (out_.target.xnack != Feature::Unsupported)
            out_.target.xnack = odd || (out_.flags & 1) ? Feature::On : Feature::Off;
        return Status::ok();
    }
    const Processor* processor = find_processor(mach);
    if (!processor)
        return Status(
            Code::UnsupportedTarget,
            "code object: unknown processor, EF_AMDGPU_MACH " + hex(mach) + " in e_flags " +
                hex(out_.flags) + " at file offset 0x30" +
                (mach < 0x20 ? " (an R600 or no processor; amdgcn ones begin at 0x20)" : "") +
                ": compile with -mcpu for a processor that is supported");
    TargetId& id = out_.target;
    id.processor = processor;
    if (out_.version <= 3) {
        if (processor->xnack) id.xnack = out_.flags & flag_xnack_v3 ? Feature::On : Feature::Off;
        if (processor->sramecc)
            id.sramecc = out_.flags & flag_sramecc_v3 ? Feature::On : Feature::Off;
    } else {
        id.xnack = v4_feature(out_.flags, 8);
        id.sramecc = v4_feature(out_.flags, 10);
    }
    if (out_.version >= 6) id.generic_version = static_cast<uint8_t>(out_.flags >> 24);
    return Status::ok();
}

Status CodeObjectParser::read_segments() {
    uint64_t count = header_.e_phnum;
    if (count && header_.e_phentsize != sizeof(Elf64_Phdr))
        return invalid("program header size " + std::to_string(header_.e_phentsize) +
                       " at file offset 0x36, expected 56");
    if (!file_.contains(header_.e_phoff, count * sizeof(Elf64_Phdr)))
        return truncated("the program header table", header_.e_phoff, count * sizeof(Elf64_Phdr),
                         file_.size());
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = header_.e_phoff + i * sizeof(Elf64_Phdr);
        auto ph = file_.at<Elf64_Phdr>(at);
        program_headers_.push_back(ph);
        if (ph.p_type != PT_LOAD) continue;
        std::string which = "LOAD segment (program header " + std::to_string(i) +
                            " at file offset " + hex(at) + ")";
        if (!file_.contains(ph.p_offset, ph.p_filesz))
            return truncated("the " + which, ph.p_offset, ph.p_filesz, file_.size());
        if (ph.p_memsz < ph.p_filesz)
            return invalid(which + ": memory size " + hex(ph.p_memsz) +
                           " is smaller than file size " + hex(ph.p_filesz));
        if (ph.p_vaddr + ph.p_memsz < ph.p_vaddr || ph.p_vaddr + ph.p_memsz > max_image_size)
            return invalid(which + ": address " + hex(ph.p_vaddr) + " and size " + hex(ph.p_memsz) +
                           " leave the supported range of " + hex(max_image_size) + " bytes");
        if (ph.p_align > 1 && (!std::has_single_bit(ph.p_align) || ph.p_align > (1u << 30)))
            return invalid(which + ": alignment " + hex(ph.p_align) +
                           " is not a power of two up to 1 GiB");
        if (!ph.p_memsz) continue;
        out_.segments.push_back({ph.p_offset, ph.p_filesz, ph.p_vaddr, ph.p_memsz,
                                 std::max<uint64_t>(1, ph.p_align), (ph.p_flags & PF_R) != 0,
                                 (ph.p_flags & PF_W) != 0, (ph.p_flags & PF_X) != 0});
    }
    if (out_.segments.size() > max_load_segments)
        return invalid(std::to_string(out_.segments.size()) + " LOAD segments, at most " +
                       std::to_string(max_load_segments) + " are loaded");
    std::ranges::sort(out_.segments, {}, &Segment::address);
    for (size_t i = 1; i < out_.segments.size(); i++) {
        const Segment &a = out_.segments[i - 1], &b = out_.segments[i];
        if (a.address + a.memory_size > b.address)
            return invalid("LOAD segments overlap: " + hex(a.address) + " + " + hex(a.memory_size) +
                           " and " + hex(b.address));
    }
    if (out_.loadable && out_.segments.empty())
        return invalid("no LOAD segment: nothing to run; link it with ld.lld -shared");
    return Status::ok();
}

Status CodeObjectParser::read_sections() {
    uint64_t count = header_.e_shnum;
    if (header_.e_shoff == 0 || count == 0) return Status::ok();
    if (header_.e_shentsize != sizeof(Elf64_Shdr))
        return invalid("section header size " + std::to_string(header_.e_shentsize) +
                       " at file offset 0x3a, expected 64");
    if (!file_.contains(header_.e_shoff, count * sizeof(Elf64_Shdr)))
        return truncated("the section header table", header_.e_shoff, count * sizeof(Elf64_Shdr),
                         file_.size());
    for (uint64_t i = 0; i < count; i++)
        section_headers_.push_back(file_.at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    Bytes names;
    if (header_.e_shstrndx < count) {
        const Elf64_Shdr& sh = section_headers_[header_.e_shstrndx];
        if (auto bytes = file_.slice(sh.sh_offset, sh.sh_size); bytes && sh.sh_type == SHT_STRTAB)
            names = Bytes(*bytes);
    }
    for (uint64_t i = 0; i < count; i++) {
        const Elf64_Shdr& sh = section_headers_[i];
        std::string name(names.c_string(sh.sh_name).value_or(std::string_view{}));
        if (!spend_name(name))
            return invalid("section names overlap too often; the file is damaged");
        if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL &&
            !file_.contains(sh.sh_offset, sh.sh_size))
            return truncated("section " + std::to_string(i) + " '" + printable(name) + "'",
                             sh.sh_offset, sh.sh_size, file_.size());
        out_.sections.push_back(
            {std::move(name), sh.sh_type, sh.sh_flags, sh.sh_addr, sh.sh_offset, sh.sh_size});
    }
    return Status::ok();
}

// SEED-ERR-31: notes may be outside every LOAD segment; read them from the file.
Status CodeObjectParser::read_notes() {
    struct Range {
        uint64_t offset, size, align;
    };
    std::vector<Range> ranges;
    for (const Elf64_Phdr& ph : program_headers_)
        if (ph.p_type == PT_NOTE) ranges.push_back({ph.p_offset, ph.p_filesz, ph.p_align});
    if (ranges.empty())
        for (const Elf64_Shdr& sh : section_headers_)
            if (sh.sh_type == SHT_NOTE)
                ranges.push_back({sh.sh_offset, sh.sh_size, sh.sh_addralign});
    if (ranges.size() > max_note_ranges)
        return invalid(std::to_string(ranges.size()) + " note segments or sections, at most " +
                       std::to_string(max_note_ranges) + " are read");
    for (const Range& range : ranges) {
        Status status = read_note_range(range.offset, range.size, range.align);
        if (!status) return status;
    }
    // SEED-ELF-13. Kernels can still be run through their descriptors.
    if (!out_.has_metadata)
        out_.diagnostics.push_back(
            "no metadata note (.note section): argument layout and limits of kernels are not "
            "known");
    return Status::ok();
}

Status CodeObjectParser::read_note_range(uint64_t offset, uint64_t size, uint64_t align) {
    auto range = file_.slice(offset, size);
    if (!range) return truncated("the note segment", offset, size, file_.size());
    Bytes bytes(*range);
    // SEED-ELF-09, SEED-ERR-28: 4-byte padding, 8 is tolerated where the header asks for it.
    uint64_t pad = align == 8 ? 8 : 4;
    auto aligned = [pad](uint64_t n) { return (n + pad - 1) / pad * pad; };
    uint64_t at = 0;
    while (bytes.contains(at, sizeof(Elf64_Nhdr))) {
        auto header = bytes.at<Elf64_Nhdr>(at);
        uint64_t name_at = at + sizeof(Elf64_Nhdr);
        uint64_t desc_at = aligned(name_at + header.n_namesz);
        if (!bytes.contains(name_at, header.n_namesz) || !bytes.contains(desc_at, header.n_descsz))
            return truncated("a note", offset + at, desc_at - at + header.n_descsz, offset + size);
        std::string_view name = bytes.text(name_at, header.n_namesz);
        while (!name.empty() && name.back() == '\0') name.remove_suffix(1);
        Status status =
            read_note(name, header.n_type, bytes.span().subspan(desc_at, header.n_descsz));
        if (!status) return status;
        at = aligned(desc_at + header.n_descsz);
    }
    return Status::ok();
}

Status CodeObjectParser::read_note(std::string_view name, uint32_t type,
                                   std::span<const std::byte> desc) {
    Bytes bytes(desc);
    std::string_view text = bytes.text(0, bytes.size());
    bool v2_metadata = name == "AMD" && type == note_metadata_v2;
    if (v2_metadata || (name == "AMDGPU" && type == note_metadata)) {
        auto metadata = v2_metadata ? parse_metadata_yaml(text) : parse_metadata_msgpack(desc);
        if (!metadata) return invalid(metadata.status().message() + " (in the note section)");
        Status status = Status::ok();
        if (out_.has_metadata)
            status = merge_metadata(out_.metadata, std::move(*metadata));
        else
            out_.metadata = std::move(*metadata);
        if (!status) return invalid(status.message());
        out_.has_metadata = true;
    } else if (name == "AMD" && type == note_isa_name) {
        if (old_isa_.empty()) old_isa_ = text.substr(0, text.find('\0'));
    } else if (name == "AMD" && type == note_isa_version && bytes.contains(0, 16)) {
        // u16 vendor and architecture name sizes, u32 major, minor, stepping, names.
        old_isa_ = "AMD:AMDGPU:" + std::to_string(bytes.at<uint32_t>(4)) + ":" +
                   std::to_string(bytes.at<uint32_t>(8)) + ":" +
                   std::to_string(bytes.at<uint32_t>(12));
    }
    return Status::ok();  // SEED-ELF-12: others are skipped
}

std::optional<uint64_t> CodeObjectParser::file_offset(uint64_t address, uint64_t size) const {
    for (const Segment& s : out_.segments) {
        if (address < s.address || address - s.address > s.file_size) continue;
        if (size <= s.file_size - (address - s.address))
            return s.file_offset + (address - s.address);
    }
    return std::nullopt;
}

std::optional<std::span<const std::byte>> CodeObject::bytes_at(uint64_t address,
                                                               uint64_t size) const {
    for (const Segment& s : segments) {
        if (address < s.address || address - s.address > s.file_size) continue;
        uint64_t offset = address - s.address;
        if (size <= s.file_size - offset) return file.subspan(s.file_offset + offset, size);
    }
    return std::nullopt;
}

const KernelInfo* CodeObject::find_kernel(std::string_view name) const {
    if (name.ends_with(".kd")) name.remove_suffix(3);
    for (const KernelInfo& kernel : kernels)
        if (kernel.name == name || kernel.metadata.name == name) return &kernel;
    return nullptr;
}

const Symbol* CodeObject::find_symbol(std::string_view name) const {
    for (const Symbol& symbol : symbols)
        if (symbol.name == name) return &symbol;
    return nullptr;
}

const Symbol* CodeObject::find_definition(std::string_view name) const {
    using enum Symbol::Kind;
    for (const Symbol& s : symbols)
        if (s.name == name && s.dynamic && !s.local &&
            (s.kind == Function || s.kind == Variable || s.kind == Kernel || s.absolute))
            return &s;
    return nullptr;
}

const Symbol* CodeObject::symbol_at(uint64_t address) const {
    const Symbol* best = nullptr;
    for (const Symbol& s : symbols) {
        if (s.kind != Symbol::Kind::Function && s.kind != Symbol::Kind::Variable &&
            s.kind != Symbol::Kind::Kernel)
            continue;
        bool covers =
            s.size ? address >= s.address && address - s.address < s.size : address == s.address;
        if (covers && (!best || s.address > best->address)) best = &s;
    }
    return best;
}

}  // namespace wj
