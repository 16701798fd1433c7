// One capture file on several engines: whether they agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/capture.h"
#include "tools/captured.h"

namespace wj::tools {

struct Setup {
    std::string engine = "interp", memory = "checked";
    std::string name() const { return engine + " with " + memory + " memory"; }
};
// Of deterministic contexts, so that what differs is not the order of waves.
wj_context_options options_of(const Setup& setup);

struct Outcome {
    Ending ending;
    std::vector<Piece> memory;
};
// Nothing: it cannot be run so here, and why.
std::optional<Outcome> run(const std::string& path, const Setup& setup, const LaunchLimits& limits,
                           std::string& why);
bool differ(const Outcome& a, const Outcome& b);

// Kernels may no longer write these bytes. False: no allocation that they may write has them.
bool make_read_only(runtime::Capture& capture, uint64_t address, uint64_t bytes);
// "first written by work-item 3,0,0 of work-group 5,0,0, kernel + 0x10: ...": who stores to the
// dword at the address. That store is not made; memory is checked.
std::string first_writer(runtime::Capture capture, uint64_t address, const Setup& setup,
                         const LaunchLimits& limits);

}  // namespace wj::tools
