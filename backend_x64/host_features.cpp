// What the engines need of the processor. Byte permutes, compressing bytes and counting bits are
// beyond Skylake and Cascade Lake servers: those run the AVX2 engine.
#include <cpuinfo.h>

#include "backend_x64/host_tuning.h"
#include "backend_x64/translator.h"

namespace wj::x64 {

std::string missing_features(Isa isa) {
    if (!cpuinfo_initialize()) return "whatever cpuinfo could not find out";
    const struct {
        Isa first;  // AVX-512 includes what AVX2 needs
        const char* name;
        bool has;
    } features[] = {
        {Isa::Avx2, "avx2", cpuinfo_has_x86_avx2()},
        {Isa::Avx2, "fma", cpuinfo_has_x86_fma3()},
        {Isa::Avx2, "f16c", cpuinfo_has_x86_f16c()},
        {Isa::Avx2, "bmi2", cpuinfo_has_x86_bmi2()},
        {Isa::Avx512, "avx512f", cpuinfo_has_x86_avx512f()},
        {Isa::Avx512, "avx512bw", cpuinfo_has_x86_avx512bw()},
        {Isa::Avx512, "avx512dq", cpuinfo_has_x86_avx512dq()},
        {Isa::Avx512, "avx512vl", cpuinfo_has_x86_avx512vl()},
        {Isa::Avx512, "avx512cd", cpuinfo_has_x86_avx512cd()},
        {Isa::Avx512, "avx512vbmi", cpuinfo_has_x86_avx512vbmi()},
        {Isa::Avx512, "avx512vbmi2", cpuinfo_has_x86_avx512vbmi2()},
        {Isa::Avx512, "avx512vpopcntdq", cpuinfo_has_x86_avx512vpopcntdq()},
    };
    std::string missing;
    for (const auto& f : features)
        if (!f.has && f.first <= isa)
            missing += (missing.empty() ? "" : ", ") + std::string(f.name);
    return missing;
}

bool has_bf16_products() {
    return cpuinfo_initialize() && cpuinfo_has_x86_avx512bf16();
}

// Measured on Emerald Rapids and Zen 4 (docs/performance.md).
HostTuning host_tuning() {
    HostTuning tuning;
    const cpuinfo_core* const core = cpuinfo_initialize() ? cpuinfo_get_core(0) : nullptr;
    if (core && core->vendor == cpuinfo_vendor_amd)
        tuning = {.fetches_streams = false,
                  .gathers_slowly = true,
                  .splits_loads = true,
                  .prefetch = {16, 1 << 19, 32 << 20}};
    return tuning;
}

}  // namespace wj::x64
