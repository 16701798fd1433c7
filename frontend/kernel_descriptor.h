// The kernel object that a dispatch packet points to, in one form for both encodings: the 64-byte
// kernel descriptor (code object V3 and later) and amd_kernel_code_t (256 bytes, V2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/status.h"
#include "frontend/code_object_target.h"

namespace wj {

inline constexpr uint64_t kernel_descriptor_size = 64;
inline constexpr uint64_t kernel_code_size = 256;  // amd_kernel_code_t

// In the order in which they are put into SGPRs from s0 on.
enum class UserSgpr : uint8_t {
    PrivateSegmentBuffer,  // 4 SGPRs
    DispatchPtr,           // 2
    QueuePtr,              // 2
    KernargSegmentPtr,     // 2
    DispatchId,            // 2
    FlatScratchInit,       // 2
    PrivateSegmentSize,    // 1
    GridWorkgroupCountX,   // 1 each; V2 only
    GridWorkgroupCountY,
    GridWorkgroupCountZ,
    KernargPreload,  // kernarg_preload_length SGPRs
    count_
};

const char* user_sgpr_name(UserSgpr kind);

struct KernelDescriptor {
    bool v2 = false;                          // read from an amd_kernel_code_t
    uint32_t group_segment_fixed_size = 0;    // static LDS bytes of a work-group
    uint32_t private_segment_fixed_size = 0;  // scratch bytes of a work-item
    uint64_t kernarg_size = 0;                // bytes; 0 = not stated (V3 of older compilers)
    int64_t entry_offset = 0;                 // entry point relative to the kernel object's address
    uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
    uint32_t properties = 0;  // V3: 16 bits; V2: 32 bits

    // User SGPRs that are set up, in order and contiguous from s0. Entries that begin at or beyond
    // the hardware's limit are left out (SEED-ELF-55).
    struct UserSgprRange {
        UserSgpr kind;
        uint8_t first, count;
    };
    std::array<UserSgprRange, static_cast<size_t>(UserSgpr::count_)> user_sgpr_ranges{};
    uint32_t user_sgpr_range_count = 0;
    std::span<const UserSgprRange> user_sgprs() const {
        return {user_sgpr_ranges.data(), user_sgpr_range_count};
    }
    // First SGPR of `kind`, or -1.
    int user_sgpr(UserSgpr kind) const;
    uint32_t user_sgpr_count = 0;  // rsrc2.USER_SGPR_COUNT: system SGPRs follow from here
    uint32_t kernarg_preload_length = 0, kernarg_preload_offset = 0;  // dwords

    // System SGPRs, in this order behind the user SGPRs.
    bool workgroup_id_x = false, workgroup_id_y = false, workgroup_id_z = false;
    bool workgroup_info = false;
    bool private_segment =
        false;  // scratch wave offset SGPR (scratch set-up with architected flat scratch)
    uint32_t workitem_id = 0;  // 0: v0 = x; 1: x, y; 2: x, y, z

    uint32_t wave_size = 64;
    uint32_t vgpr_count = 0;  // allocated VGPRs; gfx90a+: of the unified file, AccVGPRs included
    uint32_t arch_vgpr_count = 0;  // allocated v registers (gfx90a+: up to accum_offset)
    uint32_t agpr_count = 0;       // allocated a registers
    uint32_t accum_offset = 0;     // gfx90a+: first AccVGPR's index in the unified file, else 0
    uint32_t sgpr_count = 0;       // allocated SGPRs, VCC and other specials included
    bool dynamic_stack = false;
    bool tg_split = false;  // gfx90a+: waves of a work-group may be on different CUs

    // Initial MODE: rounding 0 even, 1 +inf, 2 -inf, 3 zero; denormals 0 flush all, 1 flush output,
    // 2 flush input, 3 keep (SEED-ELF-82, -83).
    uint8_t round_32 = 0, round_16_64 = 0, denorm_32 = 0, denorm_16_64 = 0;
    bool dx10_clamp = false, ieee_mode = false, fp16_ovfl = false;
    uint32_t float_mode() const { return (rsrc1 >> 12) & 0xff; }  // MODE[7:0]
    uint8_t exceptions =
        0;  // rsrc2[30:24], MODE[18:12] order: invalid, denorm, div0, ovf, unf, inexact, int div0
    bool trap_handler = false;
    bool wgp_mode = false, mem_ordered = false, forward_progress = false;  // gfx10+

    // V2 only; V3 takes these from metadata.
    uint32_t kernarg_align = 0;  // bytes
};

// `bytes` needs 64 (V3) or 256 (V2) bytes; values are checked as far as they stand alone.
// Errors: InvalidCodeObject, or Unimplemented for a feature that is refused by name.
Result<KernelDescriptor> decode_kernel_descriptor(std::span<const std::byte> bytes,
                                                  const Processor& processor);
Result<KernelDescriptor> decode_kernel_code(std::span<const std::byte> bytes,
                                            const Processor& processor);

}  // namespace wj
