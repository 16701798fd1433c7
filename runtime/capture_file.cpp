// Capture files: a head, then sections with a length and a checksum each.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "frontend/bundle.h"
#include "frontend/code_object_bytes.h"
#include "runtime/capture.h"

namespace wj::runtime {
namespace {

constexpr char magic[8] = {'W', 'J', 'C', 'A', 'P', 'T', '\r', '\n'};
constexpr uint32_t version = 1;
constexpr uint64_t alignment = 8;

constexpr uint32_t tag(const char (&name)[5]) {
    uint32_t value = 0;
    for (int i = 3; i >= 0; i--) value = value << 8 | static_cast<uint8_t>(name[i]);
    return value;
}
constexpr uint32_t device_tag = tag("devi"), launch_tag = tag("lnch"), code_tag = tag("code"),
                   regions_tag = tag("regn"), block_tag = tag("blok"), end_tag = tag("end ");

// What a section begins with; behind its bytes, filled up with zeros, is their XXH3 of 64 bits.
struct SectionHead {
    uint32_t tag = 0, zero = 0;
    uint64_t bytes = 0;
};

uint64_t padding(uint64_t bytes) {
    return (alignment - bytes % alignment) % alignment;
}

// ---- writing ----

class Writer {
public:
    explicit Writer(std::ofstream& out) : out_(out) {}

    void section(uint32_t name, std::span<const std::byte> bytes) {
        begin(name, bytes.size());
        add(bytes);
        end();
    }
    // In parts, whose sizes add up to `bytes`. Memory may change while it is written: it is copied
    // first, so that the checksum is that of the file.
    void begin(uint32_t name, uint64_t bytes) {
        const SectionHead head{name, 0, bytes};
        put(&head, sizeof head);
        XXH3_64bits_reset(&hash_);
        bytes_ = bytes;
    }
    void add(std::span<const std::byte> bytes) {
        std::vector<std::byte> part(std::min<size_t>(bytes.size(), 1 << 20));
        while (!bytes.empty()) {
            const size_t size = std::min(part.size(), bytes.size());
            std::memcpy(part.data(), bytes.data(), size);
            XXH3_64bits_update(&hash_, part.data(), size);
            put(part.data(), size);
            bytes = bytes.subspan(size);
        }
    }
    void end() {
        const uint64_t zeros = 0, hash = XXH3_64bits_digest(&hash_);
        put(&zeros, padding(bytes_));
        put(&hash, sizeof hash);
    }
    void put(const void* bytes, size_t size) {
        out_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    }

private:
    std::ofstream& out_;
    XXH3_state_t hash_{};
    uint64_t bytes_ = 0;
};

// Little-endian numbers, texts and bytes behind their length.
class Record {
public:
    template <class T>
    void number(T value) {
        const auto* const from = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), from, from + sizeof value);
    }
    template <class T, size_t N>
    void numbers(const std::array<T, N>& values) {
        for (const T value : values) number(value);
    }
    void bytes(std::span<const std::byte> bytes) {
        number<uint64_t>(bytes.size());
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void text(std::string_view text) { bytes(std::as_bytes(std::span(text))); }
    const std::vector<std::byte>& all() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

Record device_record(const Capture& c) {
    Record r;
    r.text(c.target);
    r.number(c.compute_units);
    return r;
}

Record launch_record(const CapturedLaunch& l) {
    Record r;
    r.text(l.kernel);
    r.numbers(l.grid);
    r.numbers(l.work_group);
    r.numbers(l.global_offset);
    r.number(l.dynamic_lds);
    r.number(l.dynamic_stack_bytes);
    r.number(static_cast<uint32_t>(l.layout));
    r.number<uint32_t>(l.cooperative);
    r.bytes(l.arguments);
    return r;
}

Record regions_record(const memory::Image& image) {
    Record r;
    r.number<uint64_t>(image.regions.size());
    for (const memory::ImageRegion& region : image.regions) {
        r.number(region.id);
        r.number(region.guest);
        r.number(region.size);
        r.number(region.reach);
        r.number(region.rights);
        r.number(static_cast<uint32_t>(region.extent));
        r.number(region.block);
        r.number(region.offset);
        r.text(region.label);
        r.number<uint64_t>(region.pages.size());
        for (const auto& pages : region.pages) {
            r.number(pages.guest);
            r.number(pages.bytes);
            r.number(pages.rights);
        }
    }
    return r;
}

void write_block(Writer& out, const memory::ImageBlock& block) {
    Record head;
    head.number(block.bytes);
    head.number<uint64_t>(block.runs.size());
    uint64_t bytes = 0;
    for (const auto& run : block.runs) {
        head.number(run.offset);
        head.number<uint64_t>(run.bytes.size());
        bytes += run.bytes.size();
    }
    out.begin(block_tag, head.all().size() + bytes);
    out.add(head.all());
    for (const auto& run : block.runs) out.add(run.bytes);
    out.end();
}

// ---- reading ----

Status invalid(std::string what) {
    return {Code::InvalidArgument, "the capture file " + std::move(what)};
}

// A section's bytes, from the front; what is not there any more is 0, and `good` says so.
class Fields {
public:
    explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    void number(T& value) {
        value = Bytes(bytes_).at<T>(0);
        take(sizeof value);
    }
    template <class T, size_t N>
    void numbers(std::array<T, N>& values) {
        for (T& value : values) number(value);
    }
    std::span<const std::byte> take(uint64_t size) {
        if (size > bytes_.size()) good_ = false;
        const auto part = bytes_.first(good_ ? size : 0);
        bytes_ = good_ ? bytes_.subspan(size) : std::span<const std::byte>();
        return part;
    }
    std::span<const std::byte> bytes() {
        uint64_t size = 0;
        number(size);
        return take(size);
    }
    void text(std::string& text) {
        const auto from = bytes();
        text.assign(reinterpret_cast<const char*>(from.data()), from.size());
    }
    // A number of things that take at least so many bytes each.
    uint64_t count(uint64_t least_bytes) {
        uint64_t count = 0;
        number(count);
        if (count > bytes_.size() / least_bytes) good_ = false;
        return good_ ? count : 0;
    }
    bool good() const { return good_; }
    bool at_end() const { return good_ && bytes_.empty(); }

private:
    std::span<const std::byte> bytes_;
    bool good_ = true;
};

bool begins_as_capture(std::span<const std::byte> bytes) {
    return Bytes(bytes).text(0, sizeof magic) == std::string_view(magic, sizeof magic);
}

bool read_device(Fields in, Capture& c) {
    in.text(c.target);
    in.number(c.compute_units);
    return in.at_end();
}

bool read_launch(Fields in, CapturedLaunch& l) {
    uint32_t layout = 0, cooperative = 0;
    in.text(l.kernel);
    in.numbers(l.grid);
    in.numbers(l.work_group);
    in.numbers(l.global_offset);
    in.number(l.dynamic_lds);
    in.number(l.dynamic_stack_bytes);
    in.number(layout);
    in.number(cooperative);
    const auto arguments = in.bytes();
    l.arguments.assign(arguments.begin(), arguments.end());
    l.layout = static_cast<HiddenLayout>(layout);
    l.cooperative = cooperative != 0;
    return in.at_end() && layout <= static_cast<uint32_t>(HiddenLayout::Unknown) &&
           cooperative <= 1;
}

bool read_code(Fields in, uint64_t bytes, Capture& c) {
    Capture::Code code;
    in.number(code.address);
    if (!in.good()) return false;
    code.file = in.take(bytes - sizeof code.address);
    c.code.push_back(code);
    return true;
}

bool read_regions(Fields in, memory::Image& image) {
    constexpr uint64_t region_bytes = 5 * 8 + 3 * 4 + 2 * 8, pages_bytes = 2 * 8 + 4;
    for (uint64_t left = in.count(region_bytes); left; left--) {
        memory::ImageRegion& r = image.regions.emplace_back();
        uint32_t extent = 0;
        in.number(r.id);
        in.number(r.guest);
        in.number(r.size);
        in.number(r.reach);
        in.number(r.rights);
        in.number(extent);
        in.number(r.block);
        in.number(r.offset);
        in.text(r.label);
        r.pages.resize(in.count(pages_bytes));
        for (auto& pages : r.pages) {
            in.number(pages.guest);
            in.number(pages.bytes);
            in.number(pages.rights);
        }
        if (!in.good() || extent > static_cast<uint32_t>(memory::Extent::Pages)) return false;
        r.extent = static_cast<memory::Extent>(extent);
    }
    return in.at_end();
}

bool read_block(Fields in, memory::Image& image) {
    memory::ImageBlock& block = image.blocks.emplace_back();
    in.number(block.bytes);
    std::vector<uint64_t> sizes(2 * in.count(16));
    for (uint64_t& number : sizes) in.number(number);
    for (size_t i = 0; i < sizes.size() && in.good(); i += 2)
        block.runs.push_back({sizes[i], in.take(sizes[i + 1])});
    return in.at_end();
}

bool read_section(uint32_t name, std::span<const std::byte> bytes, Capture& c) {
    const Fields in(bytes);
    switch (name) {
        case device_tag:
            return read_device(in, c);
        case launch_tag:
            return read_launch(in, c.launch);
        case code_tag:
            return read_code(in, bytes.size(), c);
        case regions_tag:
            return read_regions(in, c.image);
        case block_tag:
            return read_block(in, c.image);
        default:
            return false;
    }
}

}  // namespace

Status write_capture(const Capture& capture, const std::string& path) {
    std::error_code unknown;
    if (const auto old = std::filesystem::status(path, unknown);
        std::filesystem::exists(old) && !std::filesystem::is_regular_file(old))
        return {Code::HostError, "the capture file '" + path +
                                     "' cannot be written: there is "
                                     "something of that name that is no regular file"};
    // What it holds may be read from the old file of that name.
    const std::string partial = path + ".partial";
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    Writer out(file);
    const uint32_t head[2] = {version, 0};
    out.put(magic, sizeof magic);
    out.put(head, sizeof head);
    out.section(device_tag, device_record(capture).all());
    out.section(launch_tag, launch_record(capture.launch).all());
    for (const Capture::Code& code : capture.code) {
        out.begin(code_tag, sizeof code.address + code.file.size());
        out.add(std::as_bytes(std::span(&code.address, 1)));
        out.add(code.file);
        out.end();
    }
    out.section(regions_tag, regions_record(capture.image).all());
    for (const memory::ImageBlock& block : capture.image.blocks) write_block(out, block);
    out.section(end_tag, {});
    file.close();
    if (file && std::rename(partial.c_str(), path.c_str()) == 0) return Status::ok();
    const std::string why = std::strerror(errno);
    std::remove(partial.c_str());
    return {Code::HostError, "the capture file '" + path + "' cannot be written: " + why};
}

bool is_capture(const std::string& path) {
    const auto file = map_file(path);
    return file && begins_as_capture(file->bytes);
}

Result<Capture> parse_capture(std::span<const std::byte> bytes) {
    const Bytes all(bytes);
    if (!begins_as_capture(bytes)) return invalid("is none: it does not begin as one does");
    if (const auto found = all.get<uint32_t>(8); !found || *found != version)
        return invalid("has version " + std::to_string(found.value_or(0)) +
                       ", this library reads version " + std::to_string(version));
    Capture c;
    for (uint64_t at = 16;;) {
        const auto head = all.get<SectionHead>(at);
        const std::string where = " (section at offset " + hex(at) + ")";
        if (!head) return invalid("ends too early" + where);
        const auto part = all.slice(at + sizeof *head, head->bytes);
        if (!part) return invalid("ends too early" + where);
        const uint64_t end = at + sizeof *head + head->bytes + padding(head->bytes);
        const auto hash = all.get<uint64_t>(end);
        if (!hash) return invalid("ends too early" + where);
        if (*hash != XXH3_64bits(part->data(), part->size()))
            return invalid("is damaged: a checksum is wrong" + where);
        if (head->tag == end_tag) break;
        if (!read_section(head->tag, *part, c))
            return invalid("has a section of wrong form" + where);
        at = end + sizeof *hash;
    }
    if (c.target.empty() || c.code.empty() || c.launch.kernel.empty())
        return invalid("has no target, no code or no kernel");
    if (Status s = memory::check_image(c.image); !s) return invalid("is invalid: " + s.message());
    return c;
}

Result<Capture> read_capture(const std::string& path) {
    const auto file = map_file(path);
    if (!file) return file.status();
    auto capture = parse_capture(file->bytes);
    if (!capture) return Status(capture.status().code(), path + ": " + capture.status().message());
    capture->holders.push_back(file->owner);
    return capture;
}

}  // namespace wj::runtime
