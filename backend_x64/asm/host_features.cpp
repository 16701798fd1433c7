// What the engines need of the processor. Byte permutes, compressing bytes and counting bits are
// beyond Skylake and Cascade Lake servers: those run the AVX2 engine.
#include <span>

#include <asmjit/core.h>

#include "backend_x64/host_tuning.h"
#include "backend_x64/translator.h"

namespace wj::x64 {
namespace {

// AsmJit looks once, and counts what the operating system does not save as missing.
const asmjit::CpuFeatures::X86& features() {
    return asmjit::CpuInfo::host().features().x86();
}

}  // namespace

std::string missing_features(Isa isa) {
    const auto& host = features();
    struct Feature {
        const char* name;
        bool has;
    };
    const Feature base[] = {{"avx2", host.hasAVX2()},
                            {"fma", host.hasFMA()},
                            {"f16c", host.hasF16C()},
                            {"bmi2", host.hasBMI2()}};
    const Feature further[] = {{"avx512f", host.hasAVX512_F()},
                               {"avx512bw", host.hasAVX512_BW()},
                               {"avx512dq", host.hasAVX512_DQ()},
                               {"avx512vl", host.hasAVX512_VL()},
                               {"avx512cd", host.hasAVX512_CDI()},
                               {"avx512vbmi", host.hasAVX512_VBMI()},
                               {"avx512vbmi2", host.hasAVX512_VBMI2()},
                               {"avx512vnni", host.hasAVX512_VNNI()},
                               {"avx512vpopcntdq", host.hasAVX512_VPOPCNTDQ()}};
    std::string missing;
    const auto look = [&](std::span<const Feature> needed) {
        for (const Feature& f : needed)
            if (!f.has) missing += (missing.empty() ? "" : ", ") + std::string(f.name);
    };
    look(base);
    if (isa == Isa::Avx512) look(further);
    return missing;
}

bool has_bf16_products() {
    return features().hasAVX512_BF16();
}

// Measured on Emerald Rapids and Zen 4 (docs/log/performance.md).
HostTuning host_tuning() {
    HostTuning tuning;
    if (asmjit::CpuInfo::host().isVendor("AMD"))
        tuning = {.fetches_streams = false,
                  .gathers_slowly = true,
                  .splits_loads = true,
                  .prefetch = {16, 1 << 19, 32 << 20}};
    return tuning;
}

}  // namespace wj::x64
