// What agents, instruction sets, caches and wavefronts report. Attribute numbers that Debian's
// headers do not know yet are from later releases of the same headers.
#include <cstring>
#include <string_view>

#include "hsa/state.h"
#include "machine/clock.h"

using namespace wj::hsa;

namespace {

constexpr uint32_t largest_work_group = 1024, largest_queue = 131072, smallest_queue = 64;

// Fixed-size text fields are zero filled.
hsa_status_t put_text(void* out, std::string_view text, size_t size) {
    std::memset(out, 0, size);
    std::memcpy(out, text.data(), std::min(text.size(), size - 1));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t put_extensions(void* out, bool images) {
    uint8_t mask[128] = {};
    if (images) mask[0] |= 1 << HSA_EXTENSION_IMAGES;
    mask[HSA_EXTENSION_AMD_LOADER / 8] |= 1 << (HSA_EXTENSION_AMD_LOADER % 8);
    return put(out, mask);
}

// Attributes of later releases.
enum : uint32_t {
    info_memory_avail = 0xA015,
    info_timestamp_frequency = 0xA016,
    info_asic_family = 0xA107,
    info_ucode_version = 0xA108,
    info_sdma_ucode_version = 0xA109,
    info_num_sdma_engines = 0xA10A,
    info_num_sdma_xgmi_engines = 0xA10B,
    info_iommu_support = 0xA110,
    info_num_xcc = 0xA111,
    info_driver_uid = 0xA112,
    info_nearest_cpu = 0xA113,
    info_memory_properties = 0xA114,
    info_aql_extensions = 0xA115,
    info_scratch_limit_max = 0xA116,
    info_scratch_limit_current = 0xA117,
    info_clock_counters = 0xA118,
};

// Attributes in the image range, from hsa_ext_image.h: largest elements and numbers of handles. HIP
// needs the limits to exist before it allocates pitched memory. All but the pitch have 32 bits, as
// AMD's runtime writes them, whatever the header says: HIP passes 32-bit variables.
hsa_status_t image_info(uint32_t attribute, void* value) {
    switch (attribute) {
        case HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS:
        case HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS:
            return put(value, uint32_t{16384});
        case HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS:
            return put(value, uint32_t{4294967295});
        case HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS:
        case HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS:
        case HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS:
        case HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS: {
            const uint32_t size[2] = {16384, 16384};
            return put(value, size);
        }
        case HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS: {
            const uint32_t size[3] = {16384, 16384, 8192};
            return put(value, size);
        }
        case HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS:
            return put(value, uint32_t{8192});
        case HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES:
            return put(value, uint32_t{128});
        case HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES:
            return put(value, uint32_t{64});
        case HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS:
            return put(value, uint32_t{16});
        case HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT:
            return put(value, size_t{256});
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

uint32_t bus_id(const Agent& a) {
    return a.node << 8;  // bus in bits 8 to 15
}

hsa_status_t amd_info(const Agent& a, uint32_t attribute, void* value) {
    const AgentFacts* f = a.facts;
    switch (attribute) {
        case HSA_AMD_AGENT_INFO_CHIP_ID:
            return put(value, f ? f->pci_id : 0u);
        case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
            return put(value, uint32_t{64});
        case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
        case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
            return put(value, a.compute_units);
        case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
            return put(value, f ? f->clock_mhz : 0u);
        case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
            return put(value, a.node);
        case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
            return put(value, a.gpu ? 4u : 1u);
        case HSA_AMD_AGENT_INFO_BDFID:
            return put(value, a.gpu ? bus_id(a) : 0u);
        case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
            return put(value, f ? f->memory_width_bits : 0u);
        case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
            return put(value, f ? f->memory_clock_mhz : 0u);
        case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
            return put_text(value, a.product, 64);
        case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
            return put(value, f ? f->waves_per_cu : 0u);
        case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
            return put(value, !a.gpu ? 0u : a.device->target().traits.has_wgp_mode ? 2u : 4u);
        case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
            return put(value, a.gpu ? 1u : 0u);
        case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
            return put(value, a.gpu ? 1u : 0u);
        case HSA_AMD_AGENT_INFO_HDP_FLUSH:
            return put(value, hsa_amd_hdp_flush_t{});
        case HSA_AMD_AGENT_INFO_DOMAIN:
            return put(value, uint32_t{0});
        case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
            return put(value, a.gpu);
        case HSA_AMD_AGENT_INFO_UUID:
            return put_text(value, a.uuid, 21);
        case HSA_AMD_AGENT_INFO_ASIC_REVISION:
            return put(value, a.gpu ? 1u : 0u);
        case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
            return put(value, !a.gpu);
        case info_memory_avail:
            return put(value, a.memory_bytes - a.memory_used.load());
        case info_timestamp_frequency:
            return put(value, wj::machine::reference_clock_hz);
        case info_asic_family:
            return put(value, a.gpu ? asic_family(a.device->target().name) : 0u);
        case info_ucode_version:
        case info_sdma_ucode_version:
            return put(value, uint32_t{0});
        case info_num_sdma_engines:
            return put(value, a.gpu ? 1u : 0u);
        case info_num_sdma_xgmi_engines:
            return put(value, uint32_t{0});
        case info_iommu_support:
            return put(value, uint32_t{0});
        case info_num_xcc:
            return put(value, a.gpu ? 1u : 0u);
        case info_driver_uid:
            return put(value, a.node);
        case info_nearest_cpu:
            return put(value, state()->agents.front()->handle());
        case info_memory_properties:
        case info_aql_extensions:
            return put(value, uint64_t{0});
        case info_scratch_limit_max:
        case info_scratch_limit_current:
            return put(value, a.memory_bytes);
        case info_clock_counters: {
            const uint64_t counters[4] = {now_ns(), now_ns(), now_ns(), 1'000'000'000};
            return put(value, counters);
        }
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t agent_info(const Agent& a, uint32_t attribute, void* value) {
    switch (attribute) {
        case HSA_AGENT_INFO_NAME:
            return put_text(value, a.name, 64);
        case HSA_AGENT_INFO_VENDOR_NAME:
            return put_text(value, a.vendor, 64);
        case HSA_AGENT_INFO_FEATURE:
            return put(value, a.gpu ? uint32_t{HSA_AGENT_FEATURE_KERNEL_DISPATCH} : 0u);
        case HSA_AGENT_INFO_MACHINE_MODEL:
            return put(value, HSA_MACHINE_MODEL_LARGE);
        case HSA_AGENT_INFO_PROFILE:
            return put(value, a.gpu ? HSA_PROFILE_BASE : HSA_PROFILE_FULL);
        case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
            return put(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
        case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
            return put(value, a.gpu ? uint32_t{1} << HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR : 0u);
        case HSA_AGENT_INFO_FAST_F16_OPERATION:
            return put(value, a.gpu);
        case HSA_AGENT_INFO_WAVEFRONT_SIZE:
            return put(value, a.gpu ? a.device->target().traits.wave_size : 0u);
        case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
            const auto n = static_cast<uint16_t>(a.gpu ? largest_work_group : 0);
            const uint16_t size[3] = {n, n, n};
            return put(value, size);
        }
        case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
            return put(value, a.gpu ? largest_work_group : 0u);
        case HSA_AGENT_INFO_GRID_MAX_DIM: {
            const uint32_t n = a.gpu ? UINT32_MAX : 0;
            return put(value, hsa_dim3_t{n, n, n});
        }
        case HSA_AGENT_INFO_GRID_MAX_SIZE:
            return put(value, a.gpu ? UINT32_MAX : 0u);
        case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
            return put(value, a.gpu ? 32u : 0u);
        case HSA_AGENT_INFO_QUEUES_MAX:
            return put(value, a.gpu ? 128u : 0u);
        case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
            return put(value, a.gpu ? smallest_queue : 0u);
        case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
            return put(value, a.gpu ? largest_queue : 0u);
        case HSA_AGENT_INFO_QUEUE_TYPE:
            return put(value, HSA_QUEUE_TYPE_MULTI);
        case HSA_AGENT_INFO_NODE:
            return put(value, a.node);
        case HSA_AGENT_INFO_DEVICE:
            return put(value, a.gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
        case HSA_AGENT_INFO_CACHE_SIZE: {
            uint32_t size[4] = {};
            for (const auto& c : a.caches)
                if (c->level <= 4) size[c->level - 1] = c->size;
            return put(value, size);
        }
        case HSA_AGENT_INFO_ISA:
            return put(value, hsa_isa_t{a.gpu ? reinterpret_cast<uint64_t>(&a.isa) : 0});
        case HSA_AGENT_INFO_EXTENSIONS:
            return put_extensions(value, a.gpu);
        case HSA_AGENT_INFO_VERSION_MAJOR:
        case HSA_AGENT_INFO_VERSION_MINOR:
            return put(value, uint16_t{1});
        default:
            break;
    }
    if (attribute >= 0xA000) return amd_info(a, attribute, value);
    return a.gpu ? image_info(attribute, value) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t isa_info(const Isa& isa, uint32_t attribute, void* value) {
    switch (attribute) {
        case HSA_ISA_INFO_NAME_LENGTH:
            return put(value, static_cast<uint32_t>(isa.name.size()));
        case HSA_ISA_INFO_NAME:  // without a terminator: as long as NAME_LENGTH says
            std::memcpy(value, isa.name.data(), isa.name.size());
            return HSA_STATUS_SUCCESS;
        case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
            return put(value, uint32_t{1});
        case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
            return put(value, isa.agent->device->target().traits.wave_size);
        case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
            return put(value, isa.agent->facts->waves_per_cu);
        case HSA_ISA_INFO_MACHINE_MODELS: {
            const bool models[2] = {false, true};
            return put(value, models);
        }
        case HSA_ISA_INFO_PROFILES: {
            const bool profiles[2] = {true, false};
            return put(value, profiles);
        }
        case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
        case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES: {
            const bool modes[3] = {false, false, true};
            return put(value, modes);
        }
        case HSA_ISA_INFO_FAST_F16_OPERATION:
            return put(value, true);
        case HSA_ISA_INFO_WORKGROUP_MAX_DIM: {
            const uint16_t size[3] = {largest_work_group, largest_work_group, largest_work_group};
            return put(value, size);
        }
        case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
            return put(value, largest_work_group);
        case HSA_ISA_INFO_GRID_MAX_DIM:
            return put(value, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
        case HSA_ISA_INFO_GRID_MAX_SIZE:
            return put(value, uint64_t{UINT32_MAX});
        case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
            return put(value, uint32_t{32});
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

}  // namespace

extern "C" {

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void* data),
                                void* data) {
    State* s = state();
    if (!s) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (auto& a : s->agents)
        if (hsa_status_t r = callback(a->handle(), data); r != HSA_STATUS_SUCCESS) return r;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Agent* a = agent_of(agent);
    if (!a) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return agent_info(*a, static_cast<uint32_t>(attribute), value);
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent,
                                    hsa_status_t (*callback)(hsa_isa_t isa, void* data),
                                    void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Agent* a = agent_of(agent);
    if (!a || !a->gpu) return HSA_STATUS_ERROR_INVALID_AGENT;
    return callback({reinterpret_cast<uint64_t>(&a->isa)}, data);
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent,
                                      hsa_status_t (*callback)(hsa_cache_t cache, void* data),
                                      void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    Agent* a = agent_of(agent);
    if (!a) return HSA_STATUS_ERROR_INVALID_AGENT;
    for (auto& c : a->caches)
        if (hsa_status_t r = callback({reinterpret_cast<uint64_t>(c.get())}, data);
            r != HSA_STATUS_SUCCESS)
            return r;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void* value) {
    State* s = state();
    if (!s) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (auto& a : s->agents)
        for (auto& c : a->caches) {
            if (reinterpret_cast<uint64_t>(c.get()) != cache.handle) continue;
            switch (attribute) {
                case HSA_CACHE_INFO_NAME_LENGTH:
                    return put(value, static_cast<uint32_t>(c->name.size()));
                case HSA_CACHE_INFO_NAME:
                    std::memcpy(value, c->name.c_str(), c->name.size() + 1);
                    return HSA_STATUS_SUCCESS;
                case HSA_CACHE_INFO_LEVEL:
                    return put(value, c->level);
                case HSA_CACHE_INFO_SIZE:
                    return put(value, c->size);
                default:
                    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
            }
        }
    return HSA_STATUS_ERROR_INVALID_CACHE;
}

hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, hsa_profile_t, uint16_t* mask) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *mask = 0;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_from_name(const char* name, hsa_isa_t* isa) {
    State* s = state();
    if (!s) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!name || !isa) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (Agent* a : s->gpus)
        if (a->isa.name == name) return put(isa, hsa_isa_t{reinterpret_cast<uint64_t>(&a->isa)});
    return HSA_STATUS_ERROR_INVALID_ISA_NAME;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Isa* i = isa_of(isa);
    if (!i) return HSA_STATUS_ERROR_INVALID_ISA;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return isa_info(*i, static_cast<uint32_t>(attribute), value);
}

hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index,
                              void* value) {
    return index ? HSA_STATUS_ERROR_INVALID_INDEX : hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t, uint16_t* mask) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!isa_of(isa)) return HSA_STATUS_ERROR_INVALID_ISA;
    if (!mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *mask = 0;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t, hsa_flush_mode_t,
                                      hsa_round_method_t* round_method) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!isa_of(isa)) return HSA_STATUS_ERROR_INVALID_ISA;
    if (!round_method) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *round_method = HSA_ROUND_METHOD_SINGLE;
    return HSA_STATUS_SUCCESS;
}

// The wavefront of an instruction set has the handle of the instruction set.
hsa_status_t hsa_isa_iterate_wavefronts(
    hsa_isa_t isa, hsa_status_t (*callback)(hsa_wavefront_t wavefront, void* data), void* data) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!isa_of(isa)) return HSA_STATUS_ERROR_INVALID_ISA;
    return callback ? callback({isa.handle}, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute,
                                    void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Isa* i = isa_of({wavefront.handle});
    if (!i) return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
    if (!value || attribute != HSA_WAVEFRONT_INFO_SIZE) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return put(value, i->agent->device->target().traits.wave_size);
}

hsa_status_t hsa_isa_compatible(hsa_isa_t code_object_isa, hsa_isa_t agent_isa, bool* result) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Isa *a = isa_of(code_object_isa), *b = isa_of(agent_isa);
    if (!a || !b) return HSA_STATUS_ERROR_INVALID_ISA;
    if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = a->name == b->name;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                           uint16_t minor, bool* result) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return hsa_system_extension_supported(extension, major, minor, result);
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent,
                                                 uint16_t major, uint16_t* minor, bool* result) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!result || !minor) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return hsa_system_major_extension_supported(extension, major, minor, result);
}

}  // extern "C"
