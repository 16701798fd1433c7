#include "hsa/agent_facts.h"

#include <array>
#include <cstdlib>

namespace wj::hsa {
namespace {

// PCI ids: the Linux driver amdgpu_drv.c, and amdgpu.ids of libdrm. Waves: 10 per SIMD, 8 from
// gfx90a on; 20 of gfx10.1 and 16 of gfx10.3 and later, whose compute units have two SIMDs (LLVM,
// getMaxWavesPerEU). Clocks and widths:
// data sheets of HD 7970, HD 7870, R7 250, A10-7850K, FirePro W9100, R9 290X, HD 8400, HD 7790,
// Mullins R3, Carrizo, Tonga, Polaris 10, Stoney, MI25, MI50, MI100, MI250X, MI300X, MI355X; RX
// 5700 XT, Pro V520, RX 5500 XT, BC-250, RX 6900 XT, RX 6700 XT, RX 6600 XT, Van Gogh, RX 6500 XT,
// Radeon 680M, Radeon 610M, RX 7900 XTX, RX 7800 XT, RX 7600, Radeon 780M, 890M, 8060S, 860M, 840M;
// RX 9060 XT, RX 9070 XT; MI455X as AMD's rocjitsu models it (configs/gfx1250_mi455x.json), gfx1251
// likewise, of which nothing is published.
// clang-format off
constexpr std::array facts{
    AgentFacts{"gfx600",         0x6798, 40,  925, 1375,   384,  3u << 18, 0,   false},
    AgentFacts{"gfx601",         0x6818, 40, 1000, 1200,   256,  1u << 19, 0,   false},
    AgentFacts{"gfx602",         0x6610, 40, 1050, 1150,   128,  1u << 18, 0,   false},
    AgentFacts{"gfx700",         0x130f, 40,  720, 1066,   128,  1u << 19, 0,   false},
    AgentFacts{"gfx701",         0x67a0, 40,  930, 1250,   512,  1u << 20, 0,   false},
    AgentFacts{"gfx702",         0x67b0, 40, 1000, 1250,   512,  1u << 20, 0,   false},
    AgentFacts{"gfx703",         0x9830, 40,  600,  800,    64,  1u << 17, 0,   false},
    AgentFacts{"gfx704",         0x665c, 40, 1000, 1500,   128,  1u << 18, 0,   false},
    AgentFacts{"gfx705",         0x9850, 40,  500,  667,    64,  1u << 17, 0,   false},
    AgentFacts{"gfx801",         0x9874, 40,  800,  933,   128,  1u << 19, 0,   true},
    AgentFacts{"gfx802",         0x6920, 40,  918, 1375,   256,  3u << 18, 0,   false},
    AgentFacts{"gfx803",         0x67df, 40, 1266, 2000,   256,  2u << 20, 0,   false},
    AgentFacts{"gfx805",         0x6938, 40,  970, 1400,   256,  3u << 18, 0,   false},
    AgentFacts{"gfx810",         0x98e4, 40,  800,  933,    64,  1u << 19, 0,   true},
    AgentFacts{"gfx900",         0x6860, 40, 1500,  945,  2048,  4u << 20, 0,   true},
    AgentFacts{"gfx902",         0x15dd, 40, 1300, 1200,   128,  1u << 20, 0,   true},
    AgentFacts{"gfx904",         0x69af, 40, 1300,  700,  1024,  4u << 20, 0,   true},
    AgentFacts{"gfx906",         0x66a1, 40, 1725, 1000,  4096,  4u << 20, '+', true},
    AgentFacts{"gfx908",         0x738c, 40, 1502, 1200,  4096,  8u << 20, '+', true},
    AgentFacts{"gfx909",         0x15d8, 40, 1300, 1200,   128,  1u << 20, 0,   true},
    AgentFacts{"gfx90a",         0x740c, 32, 1700, 1600,  4096,  8u << 20, '+', true},
    AgentFacts{"gfx90c",         0x1636, 40, 1750, 1600,   128,  1u << 20, 0,   true},
    AgentFacts{"gfx942",         0x74a1, 32, 2100, 1300,  8192,  4u << 20, '+', true},
    AgentFacts{"gfx950",         0x75a0, 32, 2400, 2000,  8192,  4u << 20, '+', true},
    AgentFacts{"gfx9-generic",   0x6860, 40, 1500,  945,  2048,  4u << 20, 0,   true},
    AgentFacts{"gfx9-4-generic", 0x74a1, 32, 2100, 1300,  8192,  4u << 20, '+', true},
    AgentFacts{"gfx1010",        0x731f, 40, 1905,  875,   256,  4u << 20, 0,   true},
    AgentFacts{"gfx1011",        0x7362, 40, 1600, 1000,  2048,  4u << 20, 0,   true},
    AgentFacts{"gfx1012",        0x7340, 40, 1845,  875,   128,  2u << 20, 0,   true},
    AgentFacts{"gfx1013",        0x13fe, 40, 2000,  875,   256,  4u << 20, 0,   true},
    AgentFacts{"gfx1030",        0x73bf, 32, 2250, 1000,   256,  4u << 20, 0,   false},
    AgentFacts{"gfx1031",        0x73df, 32, 2581, 1000,   192,  3u << 20, 0,   false},
    AgentFacts{"gfx1032",        0x73ff, 32, 2589, 1000,   128,  2u << 20, 0,   false},
    AgentFacts{"gfx1033",        0x163f, 32, 1600, 1375,   128,  1u << 20, 0,   false},
    AgentFacts{"gfx1034",        0x743f, 32, 2815, 1124,    64,  1u << 20, 0,   false},
    AgentFacts{"gfx1035",        0x1681, 32, 2400, 1600,   128,  2u << 20, 0,   false},
    AgentFacts{"gfx1036",        0x164e, 32, 2200, 1200,   128,  1u << 18, 0,   false},
    AgentFacts{"gfx10-1-generic",0x731f, 40, 1905,  875,   256,  4u << 20, 0,   true},
    AgentFacts{"gfx10-3-generic",0x73bf, 32, 2250, 1000,   256,  4u << 20, 0,   false},
    AgentFacts{"gfx1100",        0x744c, 32, 2500, 1249,   384,  6u << 20, 0,   false},
    AgentFacts{"gfx1101",        0x747e, 32, 2430, 1218,   256,  4u << 20, 0,   false},
    AgentFacts{"gfx1102",        0x7480, 32, 2655, 1124,   128,  2u << 20, 0,   false},
    AgentFacts{"gfx1103",        0x15bf, 32, 2700, 2800,   128,  2u << 20, 0,   false},
    AgentFacts{"gfx1150",        0x150e, 32, 2900, 2800,   128,  2u << 20, 0,   false},
    AgentFacts{"gfx1151",        0x1586, 32, 2900, 1000,   256,  2u << 20, 0,   false},
    AgentFacts{"gfx1152",        0x1114, 32, 3000, 2800,   128,  1u << 20, 0,   false},
    AgentFacts{"gfx1153",        0x1902, 32, 2900, 2800,   128,  1u << 20, 0,   false},
    AgentFacts{"gfx11-generic",  0x744c, 32, 2500, 1249,   384,  6u << 20, 0,   false},
    AgentFacts{"gfx1200",        0x7590, 32, 3130, 1259,   128,  4u << 20, 0,   false},
    AgentFacts{"gfx1201",        0x7550, 32, 2970, 1258,   256,  8u << 20, 0,   false},
    AgentFacts{"gfx12-generic",  0x7550, 32, 2970, 1258,   256,  8u << 20, 0,   false},
    AgentFacts{"gfx1250",        0x75c1, 64, 2700, 1600, 24576, 192u << 20, 0, false},
    AgentFacts{"gfx1251",        0x75c1, 64, 2700, 1600, 24576, 192u << 20, 0, false},
};
// clang-format on

}  // namespace

const AgentFacts& agent_facts(std::string_view processor) {
    for (const AgentFacts& f : facts)
        if (f.processor == processor) return f;
    std::abort();  // the table holds every target
}

uint32_t asic_family(std::string_view processor) {
    struct {
        std::string_view begins;
        uint32_t family;
    } constexpr rows[] = {{"gfx6", 0x6e},  {"gfx7", 0x78},  {"gfx12", 0x98}, {"gfx115", 0x96},
                          {"gfx11", 0x91}, {"gfx10", 0x8f}, {"gfx", 0x8d}};
    for (const auto& row : rows)
        if (processor.starts_with(row.begins)) return row.family;
    return 0;
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
