#include "tools/captured.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "memory/pages.h"
#include "tools/cli.h"

namespace wj::tools {
namespace {

std::string name_of(uint64_t number, const std::string& label, uint64_t bytes, uint64_t address) {
    return fmt::format("allocation {} ({}, {} bytes at {:#x})", number, label, bytes, address);
}

std::string hex_bytes(const Piece& piece, uint64_t offset) {
    std::string text;
    const uint64_t end = std::min<uint64_t>(piece.bytes.size(), offset + 4);
    for (uint64_t at = offset; at < end; at++)
        text += fmt::format("{}{:02x}", at == offset ? "" : " ",
                            std::to_integer<unsigned>(piece.bytes[at]));
    return text;
}

void copy_runs(const memory::ImageBlock& block, uint64_t offset, std::vector<std::byte>& to) {
    for (const auto& run : block.runs) {
        const uint64_t begin = std::max(run.offset, offset),
                       end = std::min(run.offset + run.bytes.size(), offset + to.size());
        if (begin < end)
            std::memcpy(to.data() + (begin - offset), run.bytes.data() + (begin - run.offset),
                        end - begin);
    }
}

}  // namespace

std::vector<Piece> pieces_of(const memory::Image& image) {
    std::vector<Piece> pieces;
    for (const memory::ImageRegion& r : image.regions) {
        if (!(r.rights & memory::readable)) continue;
        Piece piece{name_of(r.id, r.label, r.size, r.guest), r.guest, {}};
        piece.bytes.resize(r.size);
        copy_runs(image.blocks[r.block], r.offset, piece.bytes);
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

std::optional<CapturedContext> CapturedContext::open(const std::string& path,
                                                     const wj_context_options& options,
                                                     std::string& error) {
    char text[1024] = "";
    wj_context* raw = nullptr;
    if (wj_capture_open(path.c_str(), &options, &raw, text, sizeof text) != WJ_OK) {
        error = text;
        return std::nullopt;
    }
    CapturedContext made;
    made.context_.reset(raw);
    made.launch_.size = sizeof made.launch_;
    if (wj_capture_get_launch(raw, &made.kernel_, &made.launch_) != WJ_OK) {
        error = wj_last_error(raw);
        return std::nullopt;
    }
    return made;
}

Ending CapturedContext::launch(const LaunchLimits& limits) const {
    wj_launch_options options = launch_;
    options.instruction_limit = limits.instructions;
    options.timeout_ns = limits.nanoseconds;
    Ending ending;
    wj_dispatch* dispatch = nullptr;
    ending.status = wj_dispatch_submit(kernel_, &options, &dispatch);
    if (ending.status == WJ_OK) ending.status = wj_dispatch_wait(dispatch);
    if (ending.status != WJ_OK) ending.report = wj_last_error(context_.get());
    ending.key = ending.status == WJ_OK ? "" : wj_status_name(ending.status);
    if (!dispatch) return ending;
    ending.result.size = sizeof ending.result;
    wj_dispatch_get_result(dispatch, &ending.result);
    wj_fault fault = WJ_INIT(wj_fault);
    if (wj_dispatch_get_fault(dispatch, &fault) == WJ_OK) {
        ending.place =
            fmt::format("{} + {:#x}: {}", fault.kernel, fault.kernel_offset, fault.instruction);
        // A limit stops a wave anywhere.
        if (ending.status != WJ_TIMEOUT)
            ending.key += fmt::format(" in {} + {:#x}", fault.kernel, fault.kernel_offset);
        if (fault.access != WJ_ACCESS_NONE) ending.key += fmt::format(" at {:#x}", fault.address);
        if (*fault.check) ending.key += fmt::format(", {}", fault.check);
        std::copy_n(fault.work_group, 3, ending.work_group.begin());
        ending.wave = fault.wave;
        ending.lanes = fault.lane_mask;
        ending.address = fault.address;
    }
    wj_dispatch_release(dispatch);
    return ending;
}

std::vector<Piece> CapturedContext::memory() const {
    std::vector<Piece> pieces;
    wj_captured_memory m = WJ_INIT(wj_captured_memory);
    for (size_t i = 0; wj_capture_get_memory(context_.get(), i, &m) == WJ_OK; i++) {
        if (!(m.rights & WJ_READ)) continue;
        Piece piece{name_of(m.number, m.label, m.bytes, m.address), m.address, {}};
        piece.bytes.resize(m.bytes);
        const bool whole =
            wj_memory_read(context_.get(), piece.bytes.data(), m.address, m.bytes) == WJ_OK;
        // Else page by page, as some have other rights.
        for (uint64_t at = 0; at < m.bytes && !whole;) {
            const uint64_t page = memory::page_floor(m.address + at) + memory::page_size,
                           size = std::min(m.bytes, page - m.address) - at;
            (void)wj_memory_read(context_.get(), piece.bytes.data() + at, m.address + at, size);
            at += size;
        }
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

std::optional<Difference> compare(const std::vector<Piece>& a, const std::vector<Piece>& b) {
    std::optional<Difference> first;
    for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
        const auto& x = a[i].bytes;
        const auto& y = b[i].bytes;
        if (x == y) continue;
        if (first) {
            first->pieces++;
            continue;
        }
        const auto at = std::ranges::mismatch(x, y);
        first = {i, static_cast<uint64_t>(at.in1 - x.begin()), 0, 1};
        for (size_t k = 0; k < std::min(x.size(), y.size()); k++) first->bytes += x[k] != y[k];
    }
    return first;
}

std::string describe(const Difference& d, const std::vector<Piece>& got,
                     const std::vector<Piece>& wanted) {
    std::string text = fmt::format("{} at offset {:#x}: {}, not {}; {} bytes of it differ",
                                   got[d.piece].name, d.offset, hex_bytes(got[d.piece], d.offset),
                                   hex_bytes(wanted[d.piece], d.offset), d.bytes);
    if (d.pieces > 1) text += fmt::format(", and {} more allocations", d.pieces - 1);
    return text;
}

TemporaryFile::TemporaryFile() {
    folder_ = (std::filesystem::temp_directory_path() / "wavejit-XXXXXX").string();
    if (!mkdtemp(folder_.data()))
        fail(fmt::format("{}: no folder can be made: {}", folder_, std::strerror(errno)));
    path_ = folder_ + "/launch.wjcapture";
}

TemporaryFile::~TemporaryFile() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
}

}  // namespace wj::tools
