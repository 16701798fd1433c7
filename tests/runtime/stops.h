// What tests of hooks and of stopped waves have in common: kernels/stops.S, and where it runs.
#pragma once

#include "tests/runtime/gpu.h"

namespace wj::test {

inline wj_wave_info info_of(wj_wave* wave) {
    wj_wave_info info = WJ_INIT(wj_wave_info);
    EXPECT_EQ(wj_wave_get_info(wave, &info), WJ_OK);
    return info;
}
inline std::string text_at(wj_wave* wave, uint64_t pc) {
    char text[128] = "";
    EXPECT_EQ(wj_wave_disassemble(wave, pc, text, sizeof(text), nullptr), WJ_OK);
    return text;
}

class StopsGpu : public Gpu {
protected:
    // Waves of 64 lanes, and of 32 where the processor has them.
    std::vector<uint32_t> wave_sizes() const {
        if (std::string(GetParam().target) == "gfx1030") return {64, 32};
        return {64};
    }
    wj_kernel* sized(const char* name, uint32_t lanes) {
        return kernel("stops", (name + std::to_string(lanes)).c_str());
    }
};

inline constexpr Setup stops_setups[] = {
    {"gfx900", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
    {"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
    {"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
    {"gfx900", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
    {"gfx900", WJ_ENGINE_AVX2, WJ_MEMORY_WINDOW},
    {"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
    {"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
    {"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_WINDOW},
    {"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED},
    {"gfx1030", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
    {"gfx1030", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
    {"gfx1030", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
};

}  // namespace wj::test
