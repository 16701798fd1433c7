// Kernel argument segments: explicit arguments from the caller, hidden ones from the dispatch.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/status.h"
#include "frontend/code_object.h"
#include "runtime/device.h"
#include "runtime/hidden_layout.h"

namespace wj::runtime {

struct ArgumentValue {
    const void* data =
        nullptr;  // null for a dynamic_shared_pointer: `size` bytes of LDS are set aside
    size_t size = 0;
};

struct ArgumentBlock {
    std::vector<std::byte> bytes;  // the whole kernarg segment
    uint32_t dynamic_lds = 0;      // for dynamic_shared_pointer arguments, on top of the caller's
};

uint32_t explicit_argument_count(const KernelInfo& kernel);

// Explicit arguments in the kernel's order; number and sizes must be the kernel's (needs metadata).
Result<ArgumentBlock> pack_arguments(const KernelInfo& kernel,
                                     std::span<const ArgumentValue> values, uint32_t dynamic_lds);
// The caller laid the explicit arguments out by offset. Kernels without metadata take any bytes.
Result<ArgumentBlock> place_arguments(const KernelInfo& kernel, std::span<const std::byte> bytes);

struct HiddenValues {
    std::array<uint32_t, 3> grid{1, 1, 1}, work_group{1, 1, 1};
    std::array<uint64_t, 3> global_offset{};
    uint32_t dynamic_lds = 0;
    HiddenLayout layout = HiddenLayout::Standard;
    // So many bytes of the segment the caller has laid out: hidden arguments that begin there are
    // what he says.
    uint64_t given = 0;
    uint64_t queue_ptr = 0, printf_buffer = 0, hostcall_buffer = 0, heap = 0, multigrid_sync = 0;
};

// Writes the hidden arguments that the metadata names (SEED-META-35..43, code object V5 additions).
void fill_hidden_arguments(const KernelInfo& kernel, const HiddenValues& values,
                           std::span<std::byte> segment);

}  // namespace wj::runtime
