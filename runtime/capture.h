// A launch with all that its kernel can reach, as a value, and the file that holds it
// (docs/reference/capture.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"
#include "memory/image.h"
#include "runtime/hidden_layout.h"

namespace wj::runtime {

struct CapturedLaunch {
    std::string kernel;
    std::array<uint32_t, 3> grid{1, 1, 1}, work_group{1, 1, 1};  // work-items
    std::array<uint64_t, 3> global_offset{};
    uint32_t dynamic_lds = 0;                     // bytes on top of the kernel's own
    uint32_t dynamic_stack_bytes = 0;             // of a work-item; 0: the default
    HiddenLayout layout = HiddenLayout::Unknown;  // Unknown: what the code shows
    bool cooperative = false;
    // By offset. Hidden arguments that begin behind them are filled in when it is launched again.
    std::vector<std::byte> arguments;
};

struct Capture {
    std::string target;  // of the device
    uint32_t compute_units = 0;
    struct Code {
        uint64_t address = 0;  // where its first segment is
        std::span<const std::byte> file;
    };
    std::vector<Code> code;  // the kernel's, then those that it refers to
    memory::Image image;
    CapturedLaunch launch;
    std::vector<std::shared_ptr<const void>> holders;  // of what spans refer to
};

// HostError: the file cannot be written; one of that name is as it was.
Status write_capture(const Capture& capture, const std::string& path);
// NotFound, HostError: no such file. InvalidArgument: it is none, damaged, or of a later version.
// Spans refer to the bytes, which read_capture() holds.
Result<Capture> read_capture(const std::string& path);
// The file begins as one does.
bool is_capture(const std::string& path);
Result<Capture> parse_capture(std::span<const std::byte> bytes);

}  // namespace wj::runtime
