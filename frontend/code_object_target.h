// Which processor a code object is for, and with which features. Covers every amdgcn processor,
// also those that are not emulated: they are listed and refused by name. frontend/target.h says
// which are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wj {

// How a processor's register counts are written in kernel descriptors.
struct RegisterRules {
    uint32_t vgpr_granule64, vgpr_granule32;  // of compute_pgm_rsrc1[5:0]; 0 = no such wave size
    uint32_t sgpr_granule;                    // of compute_pgm_rsrc1[9:6]; 0 = always 128 SGPRs
    bool sgpr_pairs;                          // gfx9: the count is 2 * (n / 16 - 1)
    bool agprs;                               // gfx908+: as many AccVGPRs ...
    bool accum_offset;                        // ... or gfx90a+: the part above rsrc3.ACCUM_OFFSET
    bool rsrc3_zero;                          // rsrc3 must be 0
    bool float_controls;   // rsrc1[21] DX10_CLAMP and [23] IEEE_MODE (before gfx12)
    bool fp16_ovfl;        // rsrc1[26]
    bool kernarg_preload;  // descriptor bytes 58-59
    bool wide_user_sgprs;  // gfx1250: six bits in rsrc2
    uint32_t max_user_sgprs;
};

struct Processor {
    std::string_view name;  // "gfx90a", "gfx9-generic"
    uint32_t mach;          // EF_AMDGPU_MACH
    const RegisterRules* rules;
    bool xnack, sramecc;       // selectable
    std::string_view generic;  // generic processor whose code also runs here, or ""
};

const Processor* find_processor(uint32_t mach);
const Processor* find_processor(std::string_view name);

enum class Feature : uint8_t { Unsupported, Any, Off, On };

struct TargetId {
    const Processor* processor = nullptr;
    Feature xnack = Feature::Unsupported;
    Feature sramecc = Feature::Unsupported;
    uint8_t generic_version = 0;

    std::string str() const;       // "gfx90a:sramecc+:xnack-" (Any and Unsupported are not written)
    std::string isa_name() const;  // "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
    bool operator==(const TargetId&) const = default;
};

// Accepts "gfx90a:xnack-", full triples ("amdgcn-amd-amdhsa--gfx90a:xnack-"), the older "+xnack"
// form (SEED-ELF-39) and "AMD:AMDGPU:9:0:0" (SEED-ELF-40). A feature that is not written is Any.
std::optional<TargetId> parse_target_id(std::string_view text);

// Whether code for `code` may run on an agent `agent`: the same processor (or its generic), and
// each feature that the code states equal to the agent's (SEED-ELF-41). An agent's Any agrees with
// both.
bool can_run_on(const TargetId& code, const TargetId& agent);

}  // namespace wj
