// What the engines need of the processor. Byte permutes, compressing bytes and counting bits are
// beyond Skylake and Cascade Lake servers: those run the AVX2 engine.
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
    const struct {
        Isa first;  // AVX-512 includes what AVX2 needs
        const char* name;
        bool has;
    } needed[] = {
        {Isa::Avx2, "avx2", host.hasAVX2()},
        {Isa::Avx2, "fma", host.hasFMA()},
        {Isa::Avx2, "f16c", host.hasF16C()},
        {Isa::Avx2, "bmi2", host.hasBMI2()},
        {Isa::Avx512, "avx512f", host.hasAVX512_F()},
        {Isa::Avx512, "avx512bw", host.hasAVX512_BW()},
        {Isa::Avx512, "avx512dq", host.hasAVX512_DQ()},
        {Isa::Avx512, "avx512vl", host.hasAVX512_VL()},
        {Isa::Avx512, "avx512cd", host.hasAVX512_CDI()},
        {Isa::Avx512, "avx512vbmi", host.hasAVX512_VBMI()},
        {Isa::Avx512, "avx512vbmi2", host.hasAVX512_VBMI2()},
        {Isa::Avx512, "avx512vpopcntdq", host.hasAVX512_VPOPCNTDQ()},
    };
    std::string missing;
    for (const auto& f : needed)
        if (!f.has && f.first <= isa)
            missing += (missing.empty() ? "" : ", ") + std::string(f.name);
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
