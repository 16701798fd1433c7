// Code objects wherever they are: bare, bundled, in host programs, in LLVM offload binaries.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "frontend/bundle.h"
#include "frontend/code_object_bytes.h"

namespace wj {
namespace {

constexpr std::string_view offload_magic("\x10\xff\x10\xad", 4);

// Sections of host ELF files that hold device code, and their content.
enum class Content : uint8_t { Bundles, OffloadBinaries, Image };
struct SectionRow {
    const char* name;
    Content content;
};
constexpr SectionRow section_rows[] = {
    {".hip_fatbin", Content::Bundles},
    {".llvm.offloading", Content::OffloadBinaries},
    {".omp_offloading.device_image", Content::Image},
};

constexpr size_t max_device_sections = 256;

Status not_found(std::string_view name, std::string text) {
    return {Code::NotFound, std::string(name) + ": " + std::move(text)};
}

class Finder {
public:
    explicit Finder(std::string_view name) : name_(name) {}

    Result<std::vector<FoundCodeObject>> run(std::span<const std::byte> data) {
        Status status = any(data);
        if (!status) return status;
        return std::move(out_);
    }

private:
    Status any(std::span<const std::byte> data) {
        Bytes bytes(data);
        if (data.empty()) return {Code::InvalidCodeObject, name_ + ": empty (0 bytes)"};
        if (bytes.text(0, 4) == ELFMAG) {
            if (bytes.get<uint16_t>(18) == uint16_t{EM_AMDGPU}) return add(data, "", name_);
            return host_elf(bytes);
        }
        if (bytes.text(0, 4) == "CCOB" || bytes.text(0, 8) == "__CLANG_") {
            Status status = bundles(data, name_);
            if (status && out_.empty())
                return not_found(name_, "an offload bundle without AMDGPU code objects" + others());
            return status;
        }
        if (bytes.text(0, 4) == offload_magic) return offload_binaries(bytes, name_);
        return {Code::InvalidCodeObject, name_ +
                                             ": neither an ELF file nor an offload bundle; give a "
                                             "code object, a bundle, or a HIP program"};
    }

    std::string others() const { return others_.empty() ? "" : " (it has: " + others_ + ")"; }

    // The target stands in the object itself; a bundle's id is only a name for it.
    Status add(std::span<const std::byte> data, std::string id, std::string origin,
               std::shared_ptr<const void> owner = {}) {
        Bytes bytes(data);
        FoundCodeObject found;
        if (bytes.text(0, 4) == ELFMAG && bytes.size() >= sizeof(Elf64_Ehdr)) {
            auto header = bytes.at<Elf64_Ehdr>(0);
            uint32_t version = header.e_ident[EI_ABIVERSION];
            found.target.processor = find_processor(header.e_flags & 0xff);
            if (const Processor* p = found.target.processor) {
                constexpr Feature v4[] = {Feature::Unsupported, Feature::Any, Feature::Off,
                                          Feature::On};
                auto v3 = [&](bool has, uint32_t bit) {
                    return !has                   ? Feature::Unsupported
                           : header.e_flags & bit ? Feature::On
                                                  : Feature::Off;
                };
                found.target.xnack =
                    version < 2 ? v3(p->xnack, 0x100) : v4[header.e_flags >> 8 & 3];
                found.target.sramecc =
                    version < 2 ? v3(p->sramecc, 0x200) : v4[header.e_flags >> 10 & 3];
                if (version >= 4)
                    found.target.generic_version = static_cast<uint8_t>(header.e_flags >> 24);
            }
        }
        if (!found.target.processor)
            if (auto target = parse_target_id(std::string_view(id).substr(id.find('-') + 1)))
                found.target = *target;
        found.id = id.empty() ? found.target.isa_name() : std::move(id);
        found.origin = std::move(origin);
        found.bytes = data;
        found.owner = std::move(owner);
        out_.push_back(std::move(found));
        return Status::ok();
    }

    Status bundles(std::span<const std::byte> data, const std::string& origin) {
        auto entries = read_bundles(data);
        if (!entries) return {entries.status().code(), origin + ": " + entries.status().message()};
        for (size_t i = 0; i < entries->size(); i++) {
            BundleEntry& entry = (*entries)[i];
            bool device = entry.triple.starts_with("amdgcn");
            if (!device || entry.bytes.empty()) {
                if (!entry.bytes.empty())
                    others_ += (others_.empty() ? "" : ", ") + printable(entry.id);
                continue;
            }
            std::string where =
                origin + " + " + hex(entry.offset) + ", entry '" + printable(entry.id) + "'";
            Status status = add(entry.bytes, entry.id, std::move(where), std::move(entry.owner));
            if (!status) return status;
        }
        return Status::ok();
    }

    // llvm/Object/OffloadBinary.h: header {magic, u32 version, u64 size, u64 entry offset, u64
    // entry size}, entry {u16 image kind, u16 offload kind, u32 flags, u64 string offset, u64
    // strings, u64 image offset, u64 image size}, string map of {u64 key offset, u64 value offset}.
    Status offload_binaries(Bytes bytes, const std::string& origin) {
        uint64_t at = 0;
        while (bytes.contains(at, 32)) {
            if (bytes.text(at, 4) != offload_magic) {
                if (bytes.at<uint8_t>(at) != 0) break;
                at++;  // padding
                continue;
            }
            uint64_t size = bytes.at<uint64_t>(at + 8), entry_at = bytes.at<uint64_t>(at + 16);
            auto part = bytes.slice(at, size);
            if (!part || size < 32 || !Bytes(*part).contains(entry_at, 40))
                return {Code::InvalidCodeObject,
                        origin + ": offload binary at offset " + hex(at) + " is truncated"};
            Status status = offload_image(Bytes(*part), entry_at, origin + " + " + hex(at));
            if (!status) return status;
            at += size;
        }
        if (out_.empty())
            return not_found(name_, "offload binaries without AMDGPU images" + others());
        return Status::ok();
    }

    Status offload_image(Bytes binary, uint64_t entry, const std::string& origin) {
        uint64_t strings = binary.at<uint64_t>(entry + 8), count = binary.at<uint64_t>(entry + 16);
        std::string triple, arch;
        for (uint64_t i = 0; i < std::min<uint64_t>(count, 64); i++) {
            if (!binary.contains(strings, (i + 1) * 16)) break;
            auto key = binary.c_string(binary.at<uint64_t>(strings + i * 16));
            auto value = binary.c_string(binary.at<uint64_t>(strings + i * 16 + 8));
            if (key == "triple" && value) triple = *value;
            if (key == "arch" && value) arch = *value;
        }
        auto image = binary.slice(binary.at<uint64_t>(entry + 24), binary.at<uint64_t>(entry + 32));
        if (!image)
            return {Code::InvalidCodeObject,
                    origin + ": the image of an offload binary is outside it"};
        if (Bytes(*image).text(0, 4) != ELFMAG || !triple.starts_with("amdgcn")) {
            others_ += (others_.empty() ? "" : ", ") + printable(triple + " " + arch);
            return Status::ok();  // bitcode, or another device
        }
        return add(*image, triple + "--" + arch, origin);
    }

    Status host_elf(Bytes bytes) {
        bool any_section = false;
        for (const auto& [name, section] : device_sections(bytes)) {
            any_section = true;
            std::string origin = name_ + ", " + name;
            const SectionRow* row = std::ranges::find_if(
                section_rows, [&name = name](auto& r) { return name == r.name; });
            Status status;
            if (row->content == Content::Bundles)
                status = bundles(section, origin);
            else if (row->content == Content::OffloadBinaries)
                status = offload_binaries(Bytes(section), origin);
            else if (Bytes(section).text(0, 4) == ELFMAG &&
                     Bytes(section).get<uint16_t>(18) == uint16_t{EM_AMDGPU})
                status = add(section, "", origin);
            if (!status) return status;
        }
        if (!out_.empty()) return Status::ok();
        if (any_section)
            return not_found(name_, "a HIP program without AMDGPU code objects" + others());
        return not_found(
            name_,
            "an ELF file for the host, without AMDGPU code (it has no .hip_fatbin section): "
            "compile it with hipcc, or give the library that holds the kernels");
    }

    std::string name_;
    std::string others_;
    std::vector<FoundCodeObject> out_;

public:
    static std::vector<std::pair<std::string, std::span<const std::byte>>> device_sections(
        Bytes bytes) {
        std::vector<std::pair<std::string, std::span<const std::byte>>> out;
        auto header = bytes.get<Elf64_Ehdr>(0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, 4) != 0 ||
            header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
            header->e_shentsize != sizeof(Elf64_Shdr))
            return out;
        auto section = [&](uint64_t i) {
            return bytes.get<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
        };
        if (header->e_shoff > bytes.size()) return out;
        // ELF's escape for more than 65279 sections: the numbers stand in section 0.
        auto first = section(0);
        uint64_t count = header->e_shnum ? header->e_shnum : first ? first->sh_size : 0;
        uint64_t names_index =
            header->e_shstrndx == SHN_XINDEX && first ? first->sh_link : header->e_shstrndx;
        count = std::min(count, bytes.size() / sizeof(Elf64_Shdr));
        if (names_index >= count) return out;
        auto names_header = section(names_index);
        auto names = names_header ? bytes.slice(names_header->sh_offset, names_header->sh_size)
                                  : std::nullopt;
        if (!names) return out;
        for (uint64_t i = 0; i < count && out.size() < max_device_sections; i++) {
            auto sh = section(i);
            auto name = sh ? Bytes(*names).c_string(sh->sh_name) : std::nullopt;
            if (!name || sh->sh_type == SHT_NOBITS) continue;
            auto data = bytes.slice(sh->sh_offset, sh->sh_size);
            if (data && !data->empty() &&
                std::ranges::any_of(section_rows,
                                    [&](const SectionRow& row) { return *name == row.name; }))
                out.emplace_back(std::string(*name), *data);
        }
        return out;
    }
};

}  // namespace

Result<std::vector<FoundCodeObject>> find_code_objects(std::span<const std::byte> bytes,
                                                       std::string_view name) {
    try {
        return Finder(name).run(bytes);
    } catch (const std::bad_alloc&) {
        return Status(Code::OutOfMemory, std::string(name) + ": not enough memory to search it");
    }
}

Result<std::vector<FoundCodeObject>> find_code_objects_in_file(const std::string& path) {
    auto file = map_file(path);
    if (!file) return file.status();
    auto found = find_code_objects(file->bytes, path);
    if (found)
        for (FoundCodeObject& object : *found)
            if (!object.owner) object.owner = file->owner;
    return found;
}

bool is_hip_program(std::span<const std::byte> bytes) {
    if (Bytes(bytes).get<uint16_t>(18) == uint16_t{EM_AMDGPU}) return false;
    return !Finder::device_sections(Bytes(bytes)).empty();
}

const FoundCodeObject* select_code_object(const std::vector<FoundCodeObject>& objects,
                                          const TargetId& agent) {
    auto rank = [](const TargetId& id, const TargetId& a) {
        auto stated = [](Feature f) { return f == Feature::On || f == Feature::Off; };
        return (id.processor == a.processor) * 4 + stated(id.xnack) + stated(id.sramecc);
    };
    const FoundCodeObject* best = nullptr;
    for (const FoundCodeObject& object : objects) {
        if (!can_run_on(object.target, agent)) continue;
        if (!best || rank(object.target, agent) > rank(best->target, agent)) best = &object;
    }
    return best;
}

namespace {

// Far from where the kernel puts what may be anywhere, and each file elsewhere: the hole between
// two mappings may be where a capture's memory was, and has to be again.
void* hint_for_file(size_t size) {
    constexpr uintptr_t lowest = uintptr_t{1} << 40, room = uintptr_t{1} << 43, step = 64 << 10;
    static std::atomic<uintptr_t> used{0};
    const uintptr_t bytes = (size + 2 * step - 1) / step * step;  // with a hole behind
    return reinterpret_cast<void*>(lowest + used.fetch_add(bytes) % room);
}

}  // namespace

Result<MappedFile> map_file(const std::string& path) {
    auto fail = [&](const char* what) {
        return Status(errno == ENOENT ? Code::NotFound : Code::HostError,
                      path + ": " + what + ": " + std::strerror(errno));
    };
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail("cannot open");
    struct Closer {
        int fd;
        ~Closer() { ::close(fd); }
    } closer{fd};
    struct stat info {};
    if (::fstat(fd, &info) != 0) return fail("cannot read its size");
    if (!S_ISREG(info.st_mode)) return Status(Code::HostError, path + ": not a regular file");
    MappedFile file;
    size_t size = static_cast<size_t>(info.st_size);
    if (size == 0) return file;
    void* data = ::mmap(hint_for_file(size), size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return fail("cannot map");
    file.bytes = {static_cast<const std::byte*>(data), size};
    file.owner = std::shared_ptr<const void>(
        data, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
    return file;
}

}  // namespace wj
