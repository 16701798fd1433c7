// The metadata note of a code object: kernels, their arguments and limits. V2 is YAML, V3 and later
// MessagePack; both come out as the same structs. Needs msgpack-cxx and libyaml.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace wj {

// SEED-META-28..43 and the hidden arguments of code object V5 (LLVM AMDGPU usage, "Code Object V5
// Kernel Argument Metadata Map").
enum class ValueKind : uint8_t {
    ByValue,
    GlobalBuffer,
    DynamicSharedPointer,
    Sampler,
    Image,
    Pipe,
    Queue,
    HiddenGlobalOffsetX,
    HiddenGlobalOffsetY,
    HiddenGlobalOffsetZ,
    HiddenNone,
    HiddenPrintfBuffer,
    HiddenHostcallBuffer,
    HiddenDefaultQueue,
    HiddenCompletionAction,
    HiddenMultiGridSyncArg,
    // V5 and later
    HiddenBlockCountX,  // u32: work-groups
    HiddenBlockCountY,
    HiddenBlockCountZ,
    HiddenGroupSizeX,  // u16: work-items of a full work-group
    HiddenGroupSizeY,
    HiddenGroupSizeZ,
    HiddenRemainderX,  // u16: work-items of the last, partial work-group, 0 = none
    HiddenRemainderY,
    HiddenRemainderZ,
    HiddenGridDims,        // u16
    HiddenHeapV1,          // u64: device heap
    HiddenDynamicLdsSize,  // u32
    HiddenPrivateBase,     // u32: high half of the private aperture (gfx8)
    HiddenSharedBase,      // u32: high half of the LDS aperture (gfx8)
    HiddenQueuePtr,        // u64: amd_queue_t (gfx8)
    count_
};

const char* value_kind_name(ValueKind kind);  // "hidden_block_count_x"
inline bool is_hidden(ValueKind kind) {
    return kind >= ValueKind::HiddenGlobalOffsetX;
}

enum class AddressSpaceKind : uint8_t { None, Private, Global, Constant, Local, Generic, Region };
enum class Access : uint8_t { None, ReadOnly, WriteOnly, ReadWrite };

struct KernelArg {
    std::string name, type_name;    // may be empty
    uint32_t size = 0, offset = 0;  // bytes; in V2 the offset is computed from the alignments
    uint32_t align = 0;             // V2 only
    ValueKind kind = ValueKind::ByValue;
    std::string value_type;  // "f32", lower case; usually absent
    AddressSpaceKind address_space = AddressSpaceKind::None;
    Access access = Access::None, actual_access = Access::None;
    uint32_t pointee_align = 0;  // dynamic_shared_pointer
    bool is_const = false, is_restrict = false, is_volatile = false, is_pipe = false;

    bool operator==(const KernelArg&) const = default;
};

struct KernelMetadata {
    std::string name;    // source name
    std::string symbol;  // ELF symbol of the kernel object: "foo.kd"; V2: "foo"
    std::string language, vec_type_hint, device_enqueue_symbol,
        kind;  // kind: "normal", "init", "fini"
    std::array<uint32_t, 2> language_version{};
    std::vector<KernelArg> args;  // explicit ones, then hidden ones, by offset as written
    std::array<uint32_t, 3> reqd_workgroup_size{};  // 0,0,0 = not required
    std::array<uint32_t, 3> workgroup_size_hint{};
    std::array<uint32_t, 3> cluster_dims{};  // work-groups of a cluster; 0,0,0 = none
    uint64_t kernarg_segment_size = 0;
    uint32_t kernarg_segment_align = 0;
    uint32_t group_segment_fixed_size = 0, private_segment_fixed_size = 0;
    uint32_t wavefront_size = 0;
    uint32_t max_flat_workgroup_size = 0;  // 0 = not stated (V2)
    std::array<uint32_t, 3> max_num_workgroups{};
    uint32_t sgpr_count = 0, vgpr_count = 0, agpr_count = 0;  // used, not rounded
    struct Spilled {
        uint32_t sgprs = 0, vgprs = 0;
        bool operator==(const Spilled&) const = default;
    } spilled;
    bool uses_dynamic_stack = false;
    bool uniform_work_group_size = false;  // every work-group of a launch has the full size
    bool workgroup_processor_mode = false;

    bool operator==(const KernelMetadata&) const = default;
};

struct Metadata {
    uint32_t version_major = 0, version_minor = 0;
    std::string target;               // "amdgcn-amd-amdhsa--gfx90a:xnack-", V4 and later
    std::vector<std::string> printf;  // raw "ID:N:size...:format" strings (SEED-META-05)
    std::vector<KernelMetadata> kernels;
};

// Adds what another note of the same object says. Linkers put the notes of all inputs one behind
// the other. An error if they disagree: about the target, a kernel or a printf string.
Status merge_metadata(Metadata& metadata, Metadata&& more);

// Unknown keys are accepted (SEED-META-03), a known key of a wrong type is an error that names it.
Result<Metadata> parse_metadata_msgpack(std::span<const std::byte> note);
Result<Metadata> parse_metadata_yaml(std::string_view note);

struct PrintfFormat {
    uint32_t id = 0;
    std::vector<uint32_t> sizes;  // bytes of each argument
    std::string format;
};
Result<PrintfFormat> parse_printf_string(std::string_view text);

}  // namespace wj
