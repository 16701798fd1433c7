// What an agent reports about the modelled part beyond what the emulator needs: one row per
// processor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/target.h"

namespace wj::hsa {

struct AgentFacts {
    std::string_view processor;
    uint32_t pci_id;
    uint32_t waves_per_cu;
    uint32_t clock_mhz, memory_clock_mhz, memory_width_bits;
    uint32_t l2_bytes;
    char sramecc;  // '+', '-' or 0: the processor has no such feature
    bool xnack;    // the target id names xnack
};

const AgentFacts& agent_facts(std::string_view processor);

// AMDGPU_FAMILY_* of the Linux driver's amdgpu_drm.h.
uint32_t asic_family(std::string_view processor);

// Full target id with explicit features, by default as the real part reports them; features in
// `requested` ("gfx90a:xnack+") win, then HSA_XNACK=1 (contract section 3).
std::string isa_name(const Target& target, const AgentFacts& facts, std::string_view requested,
                     bool xnack_enabled);

}  // namespace wj::hsa
