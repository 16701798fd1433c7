// What agents report: contract sections 2.1 and 3; every exported name; extension tables; honest
// refusals.
#include <dlfcn.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/hsa/fixture.h"

namespace {

std::string isa_name(hsa_agent_t agent) {
    std::string name;
    hsa_agent_iterate_isas(
        agent,
        [](hsa_isa_t isa, void* data) {
            uint32_t length = 0;
            hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length);
            std::string text(length, 0);
            hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, text.data());
            *static_cast<std::string*>(data) += text;
            return HSA_STATUS_SUCCESS;
        },
        &name);
    return name;
}

TEST_F(Hsa, IsaNamesHaveExplicitFeatures) {
    // Contract section 3.
    const std::pair<const char*, const char*> expected[] = {
        {"gfx900", "amdgcn-amd-amdhsa--gfx900:xnack-"},
        {"gfx906", "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"},
        {"gfx908", "amdgcn-amd-amdhsa--gfx908:sramecc+:xnack-"},
        {"gfx90a", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"}};
    const char* target = std::getenv("WAVEJIT_TARGET");
    for (auto [name, isa] : expected) {
        if (std::string(target ? target : "gfx90a") == name) {
            EXPECT_EQ(isa_name(gpus[0]), isa);
        }
    }
    hsa_isa_t isa;
    HSA_OK(hsa_isa_from_name(isa_name(gpus[0]).c_str(), &isa));
    EXPECT_EQ(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx1234", &isa),
              HSA_STATUS_ERROR_INVALID_ISA_NAME);
    hsa_isa_t cpu_isa;
    EXPECT_EQ(hsa_agent_iterate_isas(
                  cpu, [](hsa_isa_t, void*) { return HSA_STATUS_SUCCESS; }, &cpu_isa),
              HSA_STATUS_ERROR_INVALID_AGENT);
}

// The reference clock of gfx9, which s_memrealtime counts (hsa.service.reference_clock measures
// it).
TEST_F(Hsa, TimestampFrequencyIsThatOfTheReferenceClock) {
    constexpr auto timestamp_frequency = static_cast<hsa_agent_info_t>(0xA016);
    uint64_t hertz = 0;
    HSA_OK(hsa_agent_get_info(gpus[0], timestamp_frequency, &hertz));
    EXPECT_EQ(hertz, 100'000'000u);
}

TEST_F(Hsa, AttributesThatHipNeeds) {
    constexpr uint32_t attributes[] = {
        0x11,   0x0,    0xA000, 0x4,    0xA010, 0xA006, 0xA00F, 0xA00E, 0xA009, 0xA011,
        0xA014, 0xA002, 0xA001, 0x12,   0xA003, 0xA008, 0xA007, 0x8,    0x7,    0x15,
        0x16,   0x14,   0x6,    0xA00B, 0xA00A, 0xA012, 0xA013, 0xE,    0x300B, 0x3009,
        0x300A, 0x3003, 0x3007, 0x3008, 0x3000, 0x3002, 1,      2,      3,      5,
        9,      10,     11,     12,     13,     15,     16,     18,     19,     0xA004,
        0xA005, 0xA00C, 0xA00D, 0xA015, 0xA016, 0xA10A, 0xA114};
    for (hsa_agent_t agent : gpus)
        for (uint32_t a : attributes) {
            char value[256];
            EXPECT_EQ(hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(a), value),
                      HSA_STATUS_SUCCESS)
                << std::hex << a;
        }
    char value[256];
    EXPECT_EQ(hsa_agent_get_info(gpus[0], static_cast<hsa_agent_info_t>(0xBEEF), value),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hsa_agent_get_info({99}, HSA_AGENT_INFO_NAME, value), HSA_STATUS_ERROR_INVALID_AGENT);
}

TEST_F(Hsa, AsManyAgentsAsAskedFor) {
    const char* text = std::getenv("WAVEJIT_AGENTS");
    EXPECT_EQ(gpus.size(), text ? static_cast<size_t>(std::atoi(text)) : 1u);
    std::vector<std::string> seen;
    for (hsa_agent_t a : gpus) {
        char uuid[64] = {};
        HSA_OK(hsa_agent_get_info(a, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_UUID), uuid));
        EXPECT_EQ(std::strlen(uuid), 20u);
        for (const auto& other : seen) EXPECT_NE(other, uuid);
        seen.push_back(uuid);
    }
}

TEST_F(Hsa, LoaderTableOfEveryVersion) {
    // HIP 5 asks for the first three functions only.
    void* table[8];
    std::memset(table, 0x55, sizeof table);
    HSA_OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, 24, table));
    EXPECT_EQ(table[3], reinterpret_cast<void*>(0x5555555555555555));
    hsa_ven_amd_loader_1_03_pfn_t full;
    HSA_OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof full, &full));
    const void* host = nullptr;
    HSA_OK(full.hsa_ven_amd_loader_query_host_address(&full, &host));
    EXPECT_EQ(host, &full);
    size_t segments = 1;
    HSA_OK(full.hsa_ven_amd_loader_query_segment_descriptors(nullptr, &(segments = 0)));
    EXPECT_EQ(segments, 0u);
    EXPECT_NE(hsa_system_get_major_extension_table(HSA_EXTENSION_FINALIZER, 1, 8, table),
              HSA_STATUS_SUCCESS);
}

// AMD's runtime and HIP take image limits for numbers of 32 bits: what lies behind them is the
// caller's.
TEST_F(Hsa, ImageLimitsHave32Bits) {
    const auto ask = [&](uint32_t attribute) {
        std::vector<uint32_t> words(6, 0x55555555);
        EXPECT_EQ(
            hsa_agent_get_info(gpus[0], static_cast<hsa_agent_info_t>(attribute), words.data()),
            HSA_STATUS_SUCCESS);
        words.erase(std::find(words.begin(), words.end(), 0x55555555), words.end());
        return words;
    };
    using Words = std::vector<uint32_t>;
    EXPECT_EQ(ask(HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS), Words{16384});
    EXPECT_EQ(ask(HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS), Words{0xffffffff});
    EXPECT_EQ(ask(HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS), (Words{16384, 16384}));
    EXPECT_EQ(ask(HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS), (Words{16384, 16384, 8192}));
    EXPECT_EQ(ask(HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS), Words{8192});
}

TEST_F(Hsa, ImagesAreRefused) {
    hsa_ext_image_descriptor_t image{};
    hsa_ext_image_t handle;
    EXPECT_NE(hsa_ext_image_create(gpus[0], &image, nullptr, HSA_ACCESS_PERMISSION_RO, &handle),
              HSA_STATUS_SUCCESS);
    uint32_t mask = 1;
    hsa_ext_image_format_t format{};
    HSA_OK(hsa_ext_image_get_capability(gpus[0], HSA_EXT_IMAGE_GEOMETRY_2D, &format, &mask));
    EXPECT_EQ(mask, 0u);
}

TEST_F(Hsa, CodeObjectsThatAreNone) {
    hsa_executable_t executable;
    HSA_OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                     nullptr, &executable));
    const char junk[200] =
        "\x7f"
        "ELF and nothing else";
    hsa_code_object_reader_t reader;
    HSA_OK(hsa_code_object_reader_create_from_memory(junk, sizeof junk, &reader));
    EXPECT_NE(hsa_executable_load_agent_code_object(executable, gpus[0], reader, nullptr, nullptr),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_executable_load_agent_code_object(executable, cpu, reader, nullptr, nullptr),
              HSA_STATUS_ERROR_INVALID_AGENT);
    HSA_OK(hsa_executable_freeze(executable, nullptr));
    hsa_executable_symbol_t symbol;
    EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, "none.kd", &gpus[0], &symbol),
              HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    HSA_OK(hsa_code_object_reader_destroy(reader));
    HSA_OK(hsa_executable_destroy(executable));
    EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
}

TEST(HsaLibrary, StatusTexts) {
    const char* text = nullptr;
    HSA_OK(hsa_status_string(static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT), &text));
    EXPECT_EQ(std::string(text).substr(0, 29), "HSA_STATUS_ERROR_MEMORY_FAULT");
    EXPECT_EQ(hsa_status_string(static_cast<hsa_status_t>(0x7777), &text),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST(HsaLibrary, NothingWorksBeforeInit) {
    uint64_t value;
    EXPECT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &value),
              HSA_STATUS_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
    hsa_signal_t s;
    EXPECT_EQ(hsa_signal_create(0, 0, nullptr, &s), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

}  // namespace
