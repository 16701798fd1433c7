#include "runtime/kernel_args.h"

#include <algorithm>
#include <cstring>

#include "machine/wave.h"

namespace wj::runtime {
namespace {

constexpr uint64_t max_segment = 1u << 20;

Result<ArgumentBlock> empty_block(const KernelInfo& kernel) {
    uint64_t size = kernel.kernarg_segment_size();
    if (kernel.has_metadata)
        for (const KernelArg& arg : kernel.metadata.args)
            size = std::max(size, uint64_t{arg.offset} + arg.size);
    if (size > max_segment)
        return Status(Code::InvalidCodeObject,
                      "kernel '" + kernel.name + "': a kernarg segment of " + std::to_string(size) +
                          " bytes, the limit is " + std::to_string(max_segment));
    ArgumentBlock block;
    block.bytes.resize(size);
    return block;
}

std::string describe(const KernelArg& arg, uint32_t index) {
    std::string text = "argument " + std::to_string(index);
    if (!arg.name.empty()) text += " ('" + arg.name + "')";
    return text + ", " + value_kind_name(arg.kind);
}

}  // namespace

uint32_t explicit_argument_count(const KernelInfo& kernel) {
    return static_cast<uint32_t>(
        std::count_if(kernel.metadata.args.begin(), kernel.metadata.args.end(),
                      [](const KernelArg& a) { return !is_hidden(a.kind); }));
}

// ": float* a, uint n", as far as it is recorded.
static std::string list_of(const KernelInfo& kernel) {
    std::string list;
    for (const KernelArg& arg : kernel.metadata.args) {
        if (is_hidden(arg.kind)) continue;
        const std::string type = arg.type_name.empty() ? value_kind_name(arg.kind) : arg.type_name;
        list += (list.empty() ? ": " : ", ") + type + (arg.name.empty() ? "" : " " + arg.name);
    }
    return list;
}

Result<ArgumentBlock> pack_arguments(const KernelInfo& kernel,
                                     std::span<const ArgumentValue> values, uint32_t dynamic_lds) {
    auto block = empty_block(kernel);
    if (!block) return block;
    if (!kernel.has_metadata) {
        if (values.empty()) return block;
        return Status(Code::InvalidArgument,
                      "kernel '" + kernel.name +
                          "' has no metadata, so its arguments' offsets are not known; "
                          "pass them packed by offset");
    }
    uint32_t expected = explicit_argument_count(kernel);
    if (values.size() != expected)
        return Status(Code::InvalidArgument,
                      "kernel '" + kernel.name + "' takes " + std::to_string(expected) +
                          " argument" + (expected == 1 ? "" : "s") + ", " +
                          std::to_string(values.size()) + " given" + list_of(kernel));
    uint32_t index = 0;
    // Dynamic LDS starts behind the static part.
    uint32_t lds = kernel.descriptor.group_segment_fixed_size + dynamic_lds;
    const uint32_t lds_start = lds;
    for (const KernelArg& arg : kernel.metadata.args) {
        if (is_hidden(arg.kind)) continue;
        const ArgumentValue& value = values[index];
        std::byte* at = block->bytes.data() + arg.offset;
        if (arg.kind == ValueKind::DynamicSharedPointer) {
            if (value.data)
                return Status(Code::InvalidArgument, "kernel '" + kernel.name +
                                                         "': " + describe(arg, index) +
                                                         ": give a number of LDS bytes, no data");
            uint32_t align = std::max(arg.pointee_align, 16u);
            uint64_t begin = (uint64_t{lds} + align - 1) / align * align;
            if (begin + value.size > UINT32_MAX)
                return Status(Code::OutOfRange, "kernel '" + kernel.name +
                                                    "': " + describe(arg, index) + ": " +
                                                    std::to_string(value.size) + " bytes of LDS");
            uint32_t offset = static_cast<uint32_t>(begin);
            std::memcpy(at, &offset, std::min<size_t>(4, arg.size));
            lds = offset + static_cast<uint32_t>(value.size);
        } else {
            if (value.size != arg.size || !value.data)
                return Status(Code::InvalidArgument,
                              "kernel '" + kernel.name + "': " + describe(arg, index) + " takes " +
                                  std::to_string(arg.size) + " bytes, " +
                                  (value.data ? std::to_string(value.size) : std::string("none")) +
                                  " given");
            std::memcpy(at, value.data, arg.size);
        }
        index++;
    }
    block->dynamic_lds = lds - lds_start;
    return block;
}

Result<ArgumentBlock> place_arguments(const KernelInfo& kernel, std::span<const std::byte> bytes) {
    auto block = empty_block(kernel);
    if (!block) return block;
    uint64_t needed = 0;
    for (const KernelArg& arg : kernel.metadata.args)
        if (!is_hidden(arg.kind)) needed = std::max(needed, uint64_t{arg.offset} + arg.size);
    uint64_t limit = block->bytes.size();
    // Objects that state no size (assembly without metadata) take what the caller has.
    if (!limit && !kernel.has_metadata && bytes.size() <= max_segment)
        block->bytes.resize(limit = bytes.size());
    if (bytes.size() < needed || bytes.size() > limit)
        return Status(Code::InvalidArgument,
                      "kernel '" + kernel.name + "': the packed arguments are " +
                          std::to_string(bytes.size()) + " bytes; its explicit arguments take " +
                          std::to_string(needed) + ", its kernarg segment " +
                          std::to_string(limit));
    if (!bytes.empty()) std::memcpy(block->bytes.data(), bytes.data(), bytes.size());
    return block;
}

void fill_hidden_arguments(const KernelInfo& kernel, const HiddenValues& v,
                           std::span<std::byte> segment) {
    uint32_t hidden = UINT32_MAX;
    uint16_t dims = v.grid[2] > 1 ? 3 : v.grid[1] > 1 ? 2 : 1;
    auto axis = [](ValueKind kind, ValueKind x) {
        return static_cast<int>(kind) - static_cast<int>(x);
    };
    for (const KernelArg& arg : kernel.metadata.args) {
        if (!is_hidden(arg.kind)) continue;
        hidden = std::min(hidden, arg.offset);
        if (arg.offset < v.given) continue;
        uint64_t value = 0;
        switch (arg.kind) {
            case ValueKind::HiddenGlobalOffsetX:
            case ValueKind::HiddenGlobalOffsetY:
            case ValueKind::HiddenGlobalOffsetZ:
                value = v.global_offset[axis(arg.kind, ValueKind::HiddenGlobalOffsetX)];
                break;
            case ValueKind::HiddenPrintfBuffer:
                value = v.printf_buffer;
                break;
            case ValueKind::HiddenHostcallBuffer:
                value = v.hostcall_buffer;
                break;
            case ValueKind::HiddenMultiGridSyncArg:
                value = v.multigrid_sync;
                break;
            case ValueKind::HiddenBlockCountX:
            case ValueKind::HiddenBlockCountY:
            case ValueKind::HiddenBlockCountZ: {
                int i = axis(arg.kind, ValueKind::HiddenBlockCountX);
                value = v.grid[i] / v.work_group[i];  // full work-groups; the rest is the remainder
                break;
            }
            case ValueKind::HiddenGroupSizeX:
            case ValueKind::HiddenGroupSizeY:
            case ValueKind::HiddenGroupSizeZ:
                value = v.work_group[axis(arg.kind, ValueKind::HiddenGroupSizeX)];
                break;
            case ValueKind::HiddenRemainderX:
            case ValueKind::HiddenRemainderY:
            case ValueKind::HiddenRemainderZ: {
                int i = axis(arg.kind, ValueKind::HiddenRemainderX);
                value = v.grid[i] % v.work_group[i];
                break;
            }
            case ValueKind::HiddenGridDims:
                value = dims;
                break;
            case ValueKind::HiddenHeapV1:
                value = v.heap;
                break;
            case ValueKind::HiddenDynamicLdsSize:
                value = v.dynamic_lds;
                break;
            case ValueKind::HiddenPrivateBase:
                value = machine::private_aperture >> 32;
                break;
            case ValueKind::HiddenSharedBase:
                value = machine::shared_aperture >> 32;
                break;
            case ValueKind::HiddenQueuePtr:
                value = v.queue_ptr;
                break;
            default:
                break;  // HiddenNone, default queue, completion action: 0
        }
        if (uint64_t{arg.offset} + arg.size > segment.size()) continue;
        std::memcpy(segment.data() + arg.offset, &value, std::min<size_t>(arg.size, 8));
    }
    uint32_t libclc[4] = {dims, static_cast<uint32_t>(v.global_offset[0]),
                          static_cast<uint32_t>(v.global_offset[1]),
                          static_cast<uint32_t>(v.global_offset[2])};
    if (v.layout == HiddenLayout::Libclc && hidden >= v.given &&
        uint64_t{hidden} + sizeof(libclc) <= segment.size())
        std::memcpy(segment.data() + hidden, libclc, sizeof(libclc));
}

}  // namespace wj::runtime
