#include "frontend/bundle.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "frontend/code_object_bytes.h"

namespace wj {
namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr uint64_t max_entries = 4096;
constexpr uint64_t max_uncompressed = uint64_t{4} << 30;

Status invalid_bundle(std::string text) {
    return {Code::InvalidCodeObject, "offload bundle: " + std::move(text)};
}

using Buffer = std::vector<std::byte>;

// A corrupt header may claim any size: output grows with what the stream really yields.
class Output {
public:
    Output(Buffer& out, uint64_t claimed) : out_(out), limit_(claimed) {}
    bool append(const std::byte* data, size_t size) {
        if (size > limit_ - out_.size()) return false;
        out_.insert(out_.end(), data, data + size);
        return true;
    }

private:
    Buffer& out_;
    uint64_t limit_;
};

constexpr size_t chunk = 256 * 1024;

// Return how many bytes the stream took, or what was wrong.
Result<uint64_t> inflate_zlib(std::span<const std::byte> in, Output& out) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK)
        return Status(Code::OutOfMemory, "offload bundle: zlib cannot start");
    std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
    Buffer buffer(chunk);
    size_t taken = 0;
    while (true) {
        if (stream.avail_in == 0) {
            size_t part = std::min<size_t>(in.size() - taken, 1u << 30);
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + taken));
            stream.avail_in = static_cast<uInt>(part);
            taken += part;
        }
        stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream.avail_out = static_cast<uInt>(buffer.size());
        int code = inflate(&stream, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END)
            return invalid_bundle(std::string("zlib: ") +
                                  (stream.msg ? stream.msg : "the stream is truncated"));
        if (!out.append(buffer.data(), buffer.size() - stream.avail_out))
            return invalid_bundle("zlib: more data than the header's uncompressed size");
        if (code == Z_STREAM_END) return uint64_t{taken - stream.avail_in};
    }
}

Result<uint64_t> inflate_zstd(std::span<const std::byte> in, Output& out) {
    std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
    if (!context) return Status(Code::OutOfMemory, "offload bundle: zstd cannot start");
    // clang compresses with long-distance matching: windows of up to 2 GiB are legal there.
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 31);
    Buffer buffer(chunk);
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    while (true) {
        ZSTD_outBuffer output{buffer.data(), buffer.size(), 0};
        size_t before = input.pos;
        size_t code = ZSTD_decompressStream(context.get(), &output, &input);
        if (ZSTD_isError(code))
            return invalid_bundle(std::string("zstd: ") + ZSTD_getErrorName(code));
        if (!out.append(buffer.data(), output.pos))
            return invalid_bundle("zstd: more data than the header's uncompressed size");
        if (code == 0) return uint64_t{input.pos};
        if (output.pos == 0 && input.pos == before && input.pos == input.size)
            return invalid_bundle("zstd: the stream is truncated");
    }
}

struct CompressedHeader {
    uint64_t header_size = 0;
    uint64_t file_size = 0;  // 0 = not stated (version 1)
    uint64_t uncompressed_size = 0;
    uint16_t method = 0;  // 0 zlib, 1 zstd (llvm::compression::Format)
};

// Layout: llvm/Object/OffloadBundle.h.
Result<CompressedHeader> read_compressed_header(Bytes bytes) {
    if (!bytes.contains(0, 8)) return invalid_bundle("the compressed header is truncated");
    uint16_t version = bytes.at<uint16_t>(4);
    CompressedHeader h;
    h.method = bytes.at<uint16_t>(6);
    if (version == 1) {
        h.uncompressed_size = bytes.at<uint32_t>(8);
        h.header_size = 20;
    } else if (version == 2) {
        h.file_size = bytes.at<uint32_t>(8);
        h.uncompressed_size = bytes.at<uint32_t>(12);
        h.header_size = 24;
    } else if (version == 3) {
        h.file_size = bytes.at<uint64_t>(8);
        h.uncompressed_size = bytes.at<uint64_t>(16);
        h.header_size = 32;
    } else {
        return Status(Code::Unimplemented, "offload bundle: compressed format version " +
                                               std::to_string(version) +
                                               " at offset 0x4, versions 1 to 3 are known");
    }
    if (!bytes.contains(0, h.header_size))
        return invalid_bundle("the compressed header is truncated");
    if (version >= 2 && (h.file_size < h.header_size || h.file_size > bytes.size()))
        return invalid_bundle("the compressed bundle says it has " + std::to_string(h.file_size) +
                              " bytes, but " + std::to_string(bytes.size()) +
                              " are there: it is truncated or damaged");
    if (h.method > 1)
        return Status(Code::Unimplemented, "offload bundle: compression method " +
                                               std::to_string(h.method) +
                                               " at offset 0x6, 0 (zlib) and 1 (zstd) are known");
    return h;
}

Result<Bundle> read_plain(std::span<const std::byte> data);

Result<Bundle> read_compressed(std::span<const std::byte> bytes, uint64_t limit) {
    auto header = read_compressed_header(Bytes(bytes));
    if (!header) return header.status();
    if (header->uncompressed_size > limit)
        return Status(Code::OutOfRange,
                      "offload bundle: uncompressed size " +
                          std::to_string(header->uncompressed_size) +
                          " is above the limit of 4 GiB for all bundles together");
    auto buffer = std::make_shared<Buffer>();
    Output out(*buffer, header->uncompressed_size);
    uint64_t end = header->file_size ? header->file_size : bytes.size();
    auto stream = bytes.subspan(header->header_size, end - header->header_size);
    auto taken = header->method == 0 ? inflate_zlib(stream, out) : inflate_zstd(stream, out);
    if (!taken) return taken.status();
    if (buffer->size() != header->uncompressed_size)
        return invalid_bundle("uncompressed to " + std::to_string(buffer->size()) +
                              " bytes, the header says " +
                              std::to_string(header->uncompressed_size));
    if (Bytes(*buffer).text(0, plain_magic.size()) != plain_magic)
        return invalid_bundle("the uncompressed data is not an offload bundle");
    auto inner = read_plain(*buffer);
    if (!inner) return inner.status();
    for (BundleEntry& entry : inner->entries) entry.owner = buffer;
    inner->size = header->file_size ? header->file_size : header->header_size + *taken;
    inner->compressed = true;
    inner->uncompressed_size = buffer->size();
    return inner;
}

// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" -> kind, rest, target.
void split_id(BundleEntry& entry) {
    size_t dash = entry.id.find('-');
    entry.kind = entry.id.substr(0, dash);
    entry.triple = dash == std::string::npos ? "" : entry.id.substr(dash + 1);
    if (entry.triple.starts_with("amdgcn-")) entry.target = parse_target_id(entry.triple);
}

// Layout: clang's ClangOffloadBundler page: magic, u64 count, then per entry u64 offset, u64 size,
// u64 id length, id.
Result<Bundle> read_plain(std::span<const std::byte> data) {
    Bytes bytes(data);
    if (bytes.size() == 0) return invalid_bundle("empty (0 bytes)");
    if (bytes.text(0, plain_magic.size()) != plain_magic)
        return invalid_bundle("it begins with neither __CLANG_OFFLOAD_BUNDLE__ nor CCOB");
    uint64_t at = plain_magic.size();
    auto count = bytes.get<uint64_t>(at);
    if (!count) return invalid_bundle("the header is truncated");
    if (*count > max_entries)
        return invalid_bundle("it says it has " + std::to_string(*count) + " entries, at most " +
                              std::to_string(max_entries) + " are read");
    at += 8;
    Bundle bundle;
    bundle.size = at;
    for (uint64_t i = 0; i < *count; i++) {
        std::string which = "entry " + std::to_string(i) + " at offset " + hex(at) + ": ";
        if (!bytes.contains(at, 24)) return invalid_bundle(which + "the entry table is truncated");
        BundleEntry entry;
        entry.offset = bytes.at<uint64_t>(at);
        entry.size = bytes.at<uint64_t>(at + 8);
        uint64_t length = bytes.at<uint64_t>(at + 16);
        at += 24;
        if (!bytes.contains(at, length) || length > 4096)
            return invalid_bundle(which + "its id is truncated");
        entry.id = bytes.text(at, length);
        at += length;
        auto part = bytes.slice(entry.offset, entry.size);
        if (!part)
            return invalid_bundle(which + "'" + printable(entry.id) + "' takes bytes " +
                                  hex(entry.offset) + " + " + hex(entry.size) + ", but only " +
                                  hex(bytes.size()) + " are there: it is truncated or damaged");
        entry.bytes = *part;
        split_id(entry);
        bundle.size = std::max({bundle.size, at, entry.offset + entry.size});
        bundle.entries.push_back(std::move(entry));
    }
    return bundle;
}

Result<Bundle> read_limited(std::span<const std::byte> data, uint64_t limit) {
    try {
        bool compressed = Bytes(data).text(0, 4) == compressed_magic;
        return compressed ? read_compressed(data, limit) : read_plain(data);
    } catch (const std::bad_alloc&) {
        return Status(Code::OutOfMemory, "offload bundle: not enough memory to read it");
    }
}

}  // namespace

Result<Bundle> read_bundle(std::span<const std::byte> data) {
    return read_limited(data, max_uncompressed);
}

Result<std::vector<BundleEntry>> read_bundles(std::span<const std::byte> data) {
    std::vector<BundleEntry> out;
    std::string_view text = Bytes(data).text(0, data.size());
    uint64_t at = 0, limit = max_uncompressed;
    while (at < data.size()) {
        // Bundles are aligned to 4096 (older: 8) and the gaps are zero.
        at = text.find_first_not_of('\0', at);
        if (at == std::string_view::npos) break;
        auto bundle = read_limited(data.subspan(at), limit);
        if (!bundle)
            return Status(bundle.status().code(),
                          bundle.status().message() + " (bundle at offset " + hex(at) + ")");
        limit -= std::min(limit, bundle->uncompressed_size);
        for (BundleEntry& entry : bundle->entries) {
            if (!bundle->compressed) entry.offset += at;
            out.push_back(std::move(entry));
        }
        at += bundle->size;
    }
    return out;
}

}  // namespace wj
