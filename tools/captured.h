// Capture files as the subcommands use them: launched, and what memory holds then.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/pieces.h"
#include "wavejit/wavejit.h"

namespace wj::tools {

struct Ending {
    wj_status status = WJ_OK;
    std::string report;  // of a failure, several lines
    std::string key;     // equal for failures of one kind at one instruction
    wj_result result{};
    // Of a failure in a wave.
    std::string place;  // "saxpy + 0x10: global_store_dword ..."
    std::array<uint32_t, 3> work_group{};
    uint32_t wave = 0;
    uint64_t lanes = 0, address = 0;  // of an access
};

struct LaunchLimits {
    uint64_t instructions = 0, nanoseconds = 0;  // 0: none
};

// A context that a capture file was made into.
class CapturedContext {
public:
    // Nothing: wj_capture_open() has failed; `error` says why.
    static std::optional<CapturedContext> open(const std::string& path,
                                               const wj_context_options& options,
                                               std::string& error);
    wj_context* get() const { return context_.get(); }
    wj_kernel* kernel() const { return kernel_; }
    const wj_launch_options& launch_options() const { return launch_; }

    Ending launch(const LaunchLimits& limits) const;
    std::vector<Piece> memory() const;  // as long as this lives, and until the next launch

private:
    struct Free {
        void operator()(wj_context* c) const { wj_context_destroy(c); }
    };
    std::unique_ptr<wj_context, Free> context_;
    wj_kernel* kernel_ = nullptr;
    wj_launch_options launch_{};
};

// Files that nobody else sees, gone with it.
class TemporaryFile {
public:
    TemporaryFile();
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string folder_, path_;
};

}  // namespace wj::tools
