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

// Whole, or else page by page, as some have other rights.
void add_runs(wj_context* context, Piece& piece) {
    const auto add = [&](uint64_t offset, uint64_t size) {
        void* host = nullptr;
        if (wj_memory_host_pointer(context, piece.address + offset, size, WJ_READ, &host) != WJ_OK)
            return false;
        piece.runs.push_back({offset, {static_cast<const std::byte*>(host), size}});
        return true;
    };
    for (uint64_t at = 0; at < piece.size && !add(at, piece.size - at);) {
        const uint64_t page = memory::page_floor(piece.address + at) + memory::page_size,
                       next = std::min(piece.size, page - piece.address);
        (void)add(at, next - at);
        at = next;
    }
}

}  // namespace

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
        // Functions may lie in front of the kernel.
        const std::string at =
            fmt::format("{} {} {:#x}", fault.kernel, fault.kernel_offset < 0 ? '-' : '+',
                        std::abs(fault.kernel_offset));
        ending.place = fmt::format("{}: {}", at, fault.instruction);
        // A limit stops a wave anywhere.
        if (ending.status != WJ_TIMEOUT) ending.key += " in " + at;
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
        Piece piece{piece_name(m.number, m.label, m.bytes, m.address), m.address, m.bytes, {}, {}};
        add_runs(context_.get(), piece);
        pieces.push_back(std::move(piece));
    }
    return pieces;
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
