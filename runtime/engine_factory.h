// The one place that knows which engines exist.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/status.h"
#include "machine/engine.h"
#include "runtime/device.h"

namespace wj::runtime {

// Auto resolved by what the host can do.
EngineKind choose_engine(EngineKind wanted);
const char* engine_name(EngineKind kind);  // "interp", "avx2", "avx512", "auto"

// Auto is avx512 where the host has it, else avx2 or the interpreter; what is not worth a
// translation yet is interpreted (tiered_engine.h). Engines that are named run everything
// themselves.
//
// symbol: "kernel+0x10" for an address of guest code, or nothing; called while blocks
// are translated.
Result<std::unique_ptr<machine::Engine>> make_engine(
    const DeviceOptions& device, const Target& target,
    const std::function<std::string(uint64_t)>& symbol);

}  // namespace wj::runtime
