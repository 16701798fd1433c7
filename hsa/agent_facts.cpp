#include "hsa/agent_facts.h"

#include <array>
#include <cstdlib>

namespace wj::hsa {
namespace {

// PCI ids: the Linux driver amdgpu_drv.c. Waves: 10 per SIMD, 8 from gfx90a on (LLVM "User Guide
// for AMDGPU Backend", occupancy). Clocks and widths: data sheets of Carrizo, Tonga, Polaris
// 10, Stoney, MI25, MI50, MI100, MI250X,
// MI300X, MI355X.
// clang-format off
constexpr std::array facts{
    AgentFacts{"gfx801",         0x9874, 40,  800,  933,   128,  1u << 19, 0,   true},
    AgentFacts{"gfx802",         0x6920, 40,  918, 1375,   256,  3u << 18, 0,   false},
    AgentFacts{"gfx803",         0x67df, 40, 1266, 2000,   256,  2u << 20, 0,   false},
    AgentFacts{"gfx805",         0x6938, 40,  970, 1400,   256,  3u << 18, 0,   false},
    AgentFacts{"gfx810",         0x98e4, 40,  800,  933,    64,  1u << 19, 0,   true},
    AgentFacts{"gfx900",         0x6860, 40, 1500,  945,  2048,  4u << 20, 0,   true},
    AgentFacts{"gfx902",         0x15dd, 40, 1300, 1200,   128,  1u << 20, 0,   true},
    AgentFacts{"gfx904",         0x69af, 40, 1300,  700,  1024,  4u << 20, 0,   true},
    AgentFacts{"gfx906",         0x66a1, 40, 1725, 1000,  4096,  4u << 20, '-', true},
    AgentFacts{"gfx908",         0x738c, 40, 1502, 1200,  4096,  8u << 20, '+', true},
    AgentFacts{"gfx909",         0x15d8, 40, 1300, 1200,   128,  1u << 20, 0,   true},
    AgentFacts{"gfx90a",         0x740c, 32, 1700, 1600,  4096,  8u << 20, '+', true},
    AgentFacts{"gfx90c",         0x1636, 40, 1750, 1600,   128,  1u << 20, 0,   true},
    AgentFacts{"gfx942",         0x74a1, 32, 2100, 1300,  8192,  4u << 20, '+', true},
    AgentFacts{"gfx950",         0x75a0, 32, 2400, 2000,  8192,  4u << 20, '+', true},
    AgentFacts{"gfx9-generic",   0x6860, 40, 1500,  945,  2048,  4u << 20, 0,   true},
    AgentFacts{"gfx9-4-generic", 0x74a1, 32, 2100, 1300,  8192,  4u << 20, '+', true},
};
// clang-format on

}  // namespace

const AgentFacts& agent_facts(std::string_view processor) {
    for (const AgentFacts& f : facts)
        if (f.processor == processor) return f;
    std::abort();  // the table holds every target
}

std::string isa_name(const Target& target, const AgentFacts& f, std::string_view requested,
                     bool xnack_enabled) {
    const auto asked = [&](std::string_view feature, char otherwise) {
        const size_t at = requested.find(feature);
        const size_t sign = at + feature.size();
        return at != std::string_view::npos && sign < requested.size() ? requested[sign]
                                                                       : otherwise;
    };
    std::string name = "amdgcn-amd-amdhsa--" + std::string(target.name);
    if (f.sramecc) name += std::string(":sramecc") + asked(":sramecc", f.sramecc);
    if (f.xnack) name += std::string(":xnack") + asked(":xnack", xnack_enabled ? '+' : '-');
    return name;
}

}  // namespace wj::hsa
