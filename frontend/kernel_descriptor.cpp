#include "frontend/kernel_descriptor.h"

#include <algorithm>
#include <string>

#include "frontend/code_object_bytes.h"

namespace wj {
namespace {

constexpr uint32_t bits(uint32_t value, uint32_t shift, uint32_t width) {
    return (value >> shift) & ((1u << width) - 1);
}

Status invalid_descriptor(std::string text) {
    return {Code::InvalidCodeObject, std::move(text)};
}

// Bit in the properties word, SGPRs.
struct UserSgprRow {
    const char* name;
    uint8_t count;
};
constexpr UserSgprRow user_sgpr_rows[] = {
    {"private_segment_buffer", 4},
    {"dispatch_ptr", 2},
    {"queue_ptr", 2},
    {"kernarg_segment_ptr", 2},
    {"dispatch_id", 2},
    {"flat_scratch_init", 2},
    {"private_segment_size", 1},
    {"grid_workgroup_count_x", 1},
    {"grid_workgroup_count_y", 1},
    {"grid_workgroup_count_z", 1},
    {"kernarg_preload", 0},
};
static_assert(std::size(user_sgpr_rows) == static_cast<size_t>(UserSgpr::count_));

Status place_user_sgprs(KernelDescriptor& d, const RegisterRules& rules) {
    uint32_t next = 0;
    auto add = [&](UserSgpr kind, uint32_t count) {
        if (next < rules.max_user_sgprs)
            d.user_sgpr_ranges[d.user_sgpr_range_count++] = {
                kind, static_cast<uint8_t>(next),
                static_cast<uint8_t>(std::min(count, rules.max_user_sgprs - next))};
        next += count;
    };
    for (uint32_t bit = 0; bit < static_cast<uint32_t>(UserSgpr::KernargPreload); bit++)
        if (d.properties >> bit & 1) add(static_cast<UserSgpr>(bit), user_sgpr_rows[bit].count);
    if (d.kernarg_preload_length) add(UserSgpr::KernargPreload, d.kernarg_preload_length);
    // An assembler may ask for more than the enabled ones (.amdhsa_user_sgpr_count), never for
    // fewer.
    if (std::min(next, rules.max_user_sgprs) > d.user_sgpr_count)
        return invalid_descriptor("its enabled user SGPRs take " + std::to_string(next) +
                                  ", but compute_pgm_rsrc2.USER_SGPR_COUNT is " +
                                  std::to_string(d.user_sgpr_count));
    return Status::ok();
}

// Fields that are 0 in code objects: the packet processor or the runtime fills them in, or nobody
// has given them a meaning yet. Names: llvm/Support/AMDHSAKernelDescriptor.h
using FieldApplies = bool (*)(const KernelDescriptor& d, const RegisterRules& rules);
constexpr FieldApplies always = [](const KernelDescriptor&, const RegisterRules&) { return true; };
constexpr FieldApplies in_v3 = [](const KernelDescriptor& d, const RegisterRules&) {
    return !d.v2;
};
constexpr FieldApplies in_v3_before_gfx12 = [](const KernelDescriptor& d,
                                               const RegisterRules& rules) {
    return !d.v2 && rules.float_controls;
};
constexpr FieldApplies without_fp16_ovfl = [](const KernelDescriptor&, const RegisterRules& rules) {
    return !rules.fp16_ovfl;
};
constexpr FieldApplies before_gfx10 = [](const KernelDescriptor&, const RegisterRules& rules) {
    return rules.vgpr_granule32 == 0;
};
constexpr FieldApplies before_gfx1250 = [](const KernelDescriptor&, const RegisterRules& rules) {
    return !rules.wide_user_sgprs;
};
constexpr FieldApplies with_accum_offset = [](const KernelDescriptor&, const RegisterRules& rules) {
    return rules.accum_offset;
};

struct ZeroField {
    const char* word;
    uint32_t KernelDescriptor::*value;
    uint8_t first, width;
    const char* name;
    FieldApplies applies;
};
// clang-format off
constexpr ZeroField zero_fields[] = {
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 10, 2,  "PRIORITY",                       always},
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 20, 1,  "PRIV",                           always},
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 22, 1,  "DEBUG_MODE",                     always},
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 24, 1,  "BULKY",                          always},
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 25, 1,  "CDBG_USER",                      always},
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 26, 1,  "reserved",                       without_fp16_ovfl},
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 27, 1,  "reserved",                       before_gfx1250},
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 28, 1,  "reserved",                       always},
    {"compute_pgm_rsrc1", &KernelDescriptor::rsrc1, 29, 3,  "reserved",                       before_gfx10},
    // Of an amd_kernel_code_t: a request for the trap handler; exceptions that are wanted; a size
    // for information.
    {"compute_pgm_rsrc2", &KernelDescriptor::rsrc2, 6,  1,  "ENABLE_TRAP_HANDLER",            in_v3_before_gfx12},
    {"compute_pgm_rsrc2", &KernelDescriptor::rsrc2, 13, 1,  "ENABLE_EXCEPTION_ADDRESS_WATCH", in_v3},
    {"compute_pgm_rsrc2", &KernelDescriptor::rsrc2, 14, 1,  "ENABLE_EXCEPTION_MEMORY",        in_v3},
    {"compute_pgm_rsrc2", &KernelDescriptor::rsrc2, 15, 9,  "GRANULATED_LDS_SIZE",            in_v3},
    {"compute_pgm_rsrc2", &KernelDescriptor::rsrc2, 31, 1,  "reserved",                       always},
    {"compute_pgm_rsrc3", &KernelDescriptor::rsrc3, 6,  10, "reserved",                       with_accum_offset},
    {"compute_pgm_rsrc3", &KernelDescriptor::rsrc3, 17, 15, "reserved",                       with_accum_offset},
};
// clang-format on

Status check_zero_fields(const KernelDescriptor& d, const RegisterRules& rules) {
    for (const ZeroField& f : zero_fields) {
        const uint32_t value = bits(d.*f.value, f.first, f.width);
        if (!value || !f.applies(d, rules)) continue;
        const std::string place = f.width == 1 ? "bit " + std::to_string(f.first)
                                               : "bits " + std::to_string(f.first + f.width - 1) +
                                                     ":" + std::to_string(f.first);
        return invalid_descriptor(std::string(f.word) + " " + place + " (" + f.name + ") is " +
                                  hex(value) + ", but must be 0 in a code object");
    }
    return Status::ok();
}

// The parts that both forms share: rsrc1, rsrc2, register counts.
Status decode_registers(KernelDescriptor& d, const Processor& processor) {
    const RegisterRules& rules = *processor.rules;
    if (Status status = check_zero_fields(d, rules); !status) return status;
    uint32_t granule = d.wave_size == 64 ? rules.vgpr_granule64 : rules.vgpr_granule32;
    if (!granule)
        return invalid_descriptor("wave size " + std::to_string(d.wave_size) +
                                  " does not exist on " + std::string(processor.name));
    d.vgpr_count = (bits(d.rsrc1, 0, 6) + 1) * granule;
    d.arch_vgpr_count = d.vgpr_count;
    if (rules.accum_offset) {
        d.accum_offset = (bits(d.rsrc3, 0, 6) + 1) * 4;
        d.tg_split = bits(d.rsrc3, 16, 1);
        d.arch_vgpr_count = std::min(d.vgpr_count, d.accum_offset);
        d.agpr_count = d.vgpr_count - d.arch_vgpr_count;
    } else if (rules.agprs) {
        d.agpr_count = d.vgpr_count;  // gfx908: both files get the same allocation
    }
    uint32_t sgpr_blocks = bits(d.rsrc1, 6, 4);
    if (!rules.sgpr_granule)
        d.sgpr_count = 128;
    else if (rules.sgpr_pairs)
        d.sgpr_count = (sgpr_blocks / 2 + 1) * 16;
    else
        d.sgpr_count = (sgpr_blocks + 1) * rules.sgpr_granule;

    d.round_32 = bits(d.rsrc1, 12, 2);
    d.round_16_64 = bits(d.rsrc1, 14, 2);
    d.denorm_32 = bits(d.rsrc1, 16, 2);
    d.denorm_16_64 = bits(d.rsrc1, 18, 2);
    // gfx12 has neither bit: it always clamps NaN to 0 and always follows IEEE 754.
    d.dx10_clamp = !rules.float_controls || bits(d.rsrc1, 21, 1);
    d.ieee_mode = !rules.float_controls || bits(d.rsrc1, 23, 1);
    d.fp16_ovfl = rules.fp16_ovfl && bits(d.rsrc1, 26, 1);
    if (rules.vgpr_granule32) {
        d.wgp_mode = bits(d.rsrc1, 29, 1);
        d.mem_ordered = bits(d.rsrc1, 30, 1);
        d.forward_progress = bits(d.rsrc1, 31, 1);
    }

    d.private_segment = bits(d.rsrc2, 0, 1);
    d.user_sgpr_count = bits(d.rsrc2, 1, rules.wide_user_sgprs ? 6 : 5);
    d.trap_handler = !rules.wide_user_sgprs && bits(d.rsrc2, 6, 1);
    d.workgroup_id_x = bits(d.rsrc2, 7, 1);
    d.workgroup_id_y = bits(d.rsrc2, 8, 1);
    d.workgroup_id_z = bits(d.rsrc2, 9, 1);
    d.workgroup_info = bits(d.rsrc2, 10, 1);
    d.workitem_id = bits(d.rsrc2, 11, 2);
    d.exceptions = bits(d.rsrc2, 24, 7);
    if (d.workitem_id == 3)
        return invalid_descriptor(
            "compute_pgm_rsrc2.ENABLE_VGPR_WORKITEM_ID is 3, which is undefined");
    return place_user_sgprs(d, rules);
}

}  // namespace

const char* user_sgpr_name(UserSgpr kind) {
    return user_sgpr_rows[static_cast<size_t>(kind)].name;
}

int KernelDescriptor::user_sgpr(UserSgpr kind) const {
    for (const UserSgprRange& range : user_sgprs())
        if (range.kind == kind) return range.first;
    return -1;
}

// Layout: llvm/Support/AMDHSAKernelDescriptor.h
Result<KernelDescriptor> decode_kernel_descriptor(std::span<const std::byte> data,
                                                  const Processor& processor) {
    if (data.size() < kernel_descriptor_size)
        return invalid_descriptor(
            "the kernel descriptor is truncated: " + std::to_string(data.size()) + " of 64 bytes");
    Bytes bytes(data);
    KernelDescriptor d;
    d.group_segment_fixed_size = bytes.at<uint32_t>(0);
    d.private_segment_fixed_size = bytes.at<uint32_t>(4);
    d.kernarg_size = bytes.at<uint32_t>(8);
    d.entry_offset = bytes.at<int64_t>(16);
    d.rsrc3 = bytes.at<uint32_t>(44);
    d.rsrc1 = bytes.at<uint32_t>(48);
    d.rsrc2 = bytes.at<uint32_t>(52);
    d.properties = bytes.at<uint16_t>(56);
    // A reserved field that is set is a feature of a later compiler: running without it would be
    // wrong.
    struct {
        uint32_t offset, size;
    } constexpr reserved[] = {{12, 4}, {24, 20}, {60, 4}};
    for (auto [offset, size] : reserved)
        for (uint32_t i = offset; i < offset + size; i++)
            if (bytes.at<uint8_t>(i))
                return Status(Code::Unimplemented, "the kernel descriptor's reserved byte " +
                                                       std::to_string(i) + " is not 0");
    if (d.properties & 0xf380)
        return Status(Code::Unimplemented, "the kernel descriptor's properties " +
                                               hex(d.properties) +
                                               " have reserved bits set (mask 0xf380)");
    const RegisterRules& rules = *processor.rules;
    if (rules.rsrc3_zero && d.rsrc3)
        return Status(Code::Unimplemented, "compute_pgm_rsrc3 is " + hex(d.rsrc3) +
                                               ", but must be 0 on " + std::string(processor.name));
    uint32_t preload = bytes.at<uint16_t>(58);
    if (preload && !rules.kernarg_preload)
        return Status(Code::Unimplemented, "kernel arguments are preloaded (" + hex(preload) +
                                               "), which " + std::string(processor.name) +
                                               " cannot do");
    d.kernarg_preload_length = bits(preload, 0, 7);
    d.kernarg_preload_offset = bits(preload, 7, 9);
    d.wave_size = bits(d.properties, 10, 1) ? 32 : 64;
    d.dynamic_stack = bits(d.properties, 11, 1);
    Status status = decode_registers(d, processor);
    if (!status) return status;
    return d;
}

// The amd_kernel_code_t of code object V2.
Result<KernelDescriptor> decode_kernel_code(std::span<const std::byte> data,
                                            const Processor& processor) {
    if (data.size() < kernel_code_size)
        return invalid_descriptor(
            "the amd_kernel_code_t is truncated: " + std::to_string(data.size()) + " of 256 bytes");
    Bytes bytes(data);
    uint32_t major = bytes.at<uint32_t>(0);
    if (major != 1)
        return invalid_descriptor("amd_code_version_major is " + std::to_string(major) +
                                  ", only 1 is known");
    if (uint16_t kind = bytes.at<uint16_t>(8); kind != 1)
        return invalid_descriptor("amd_machine_kind is " + std::to_string(kind) +
                                  ", not 1 (AMDGPU)");
    std::string version;
    for (uint32_t at : {10u, 12u, 14u})
        version += (version.empty() ? "" : ":") + std::to_string(bytes.at<uint16_t>(at));
    if (auto target = parse_target_id("AMD:AMDGPU:" + version);
        !target || target->processor != &processor)
        return invalid_descriptor("amd_machine_version is " + version +
                                  ", but the code object is for " + std::string(processor.name));
    struct {
        const char* name;
        uint32_t first, count;
    } constexpr reserved_registers[] = {{"vgpr", 88, 90}, {"sgpr", 92, 94}};
    for (auto [name, first, count] : reserved_registers)
        if (uint16_t n = bytes.at<uint16_t>(first); n && !bytes.at<uint16_t>(count))
            return invalid_descriptor("reserved_" + std::string(name) + "_first is " +
                                      std::to_string(n) + ", but reserved_" + name +
                                      "_count is 0: both must be 0");
    for (uint32_t i = 108; i < 120; i++)
        if (bytes.at<uint8_t>(i))
            return invalid_descriptor("the amd_kernel_code_t's reserved byte " + std::to_string(i) +
                                      " is not 0");
    KernelDescriptor d;
    d.v2 = true;
    d.entry_offset = bytes.at<int64_t>(16);
    d.rsrc1 = bytes.at<uint32_t>(48);
    d.rsrc2 = bytes.at<uint32_t>(52);
    d.properties = bytes.at<uint32_t>(56);
    d.private_segment_fixed_size = bytes.at<uint32_t>(60);
    d.group_segment_fixed_size = bytes.at<uint32_t>(64);
    d.kernarg_size = bytes.at<uint64_t>(72);
    uint8_t align = bytes.at<uint8_t>(100);
    uint8_t wave = bytes.at<uint8_t>(103);
    if (align > 31)
        return invalid_descriptor("kernarg_segment_alignment is 2^" + std::to_string(align));
    if (wave != 5 && wave != 6)
        return invalid_descriptor("wavefront_size is 2^" + std::to_string(wave) +
                                  ", not 2^5 or 2^6");
    if (!bits(d.properties, 19, 1))
        return Status(Code::Unimplemented,
                      "the kernel is for 32-bit addresses (is_ptr64 = 0), only 64-bit code is run");
    if (uint32_t gds = bytes.at<uint32_t>(68); gds)
        return Status(Code::Unimplemented,
                      "the kernel uses " + std::to_string(gds) + " bytes of GDS");
    d.kernarg_align = 1u << align;
    d.wave_size = 1u << wave;
    d.dynamic_stack = bits(d.properties, 20, 1);
    Status status = decode_registers(d, processor);
    if (!status) return status;
    // Compilers allocate more than they use where fewer waves are to fit, never less.
    if (uint16_t used = bytes.at<uint16_t>(84); used > d.sgpr_count)
        return invalid_descriptor("wavefront_sgpr_count is " + std::to_string(used) +
                                  ", but compute_pgm_rsrc1 allocates " +
                                  std::to_string(d.sgpr_count) + " SGPRs");
    if (uint16_t used = bytes.at<uint16_t>(86); used > d.vgpr_count)
        return invalid_descriptor("workitem_vgpr_count is " + std::to_string(used) +
                                  ", but compute_pgm_rsrc1 allocates " +
                                  std::to_string(d.vgpr_count) + " VGPRs");
    return d;
}

}  // namespace wj
