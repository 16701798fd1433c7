// Initialisation, system attributes, extension tables, status texts.
#include <hsa/hsa_ven_amd_loader.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hsa/executable.h"
#include "hsa/state.h"
#include "runtime/capture_folder.h"

using namespace wj::hsa;

namespace {

struct StatusText {
    uint32_t status;
    const char* text;
};
// clang-format off
constexpr StatusText status_texts[] = {
    {HSA_STATUS_SUCCESS, "HSA_STATUS_SUCCESS: The function has been executed successfully."},
    {HSA_STATUS_INFO_BREAK, "HSA_STATUS_INFO_BREAK: A traversal over a list of elements has been interrupted by the application before completing."},
    {HSA_STATUS_ERROR, "HSA_STATUS_ERROR: A generic error has occurred."},
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT: One of the actual arguments does not meet a precondition stated in the documentation of the corresponding formal argument."},
    {HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: The requested queue creation is not valid."},
    {HSA_STATUS_ERROR_INVALID_ALLOCATION, "HSA_STATUS_ERROR_INVALID_ALLOCATION: The requested allocation is not valid."},
    {HSA_STATUS_ERROR_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT: The agent is invalid."},
    {HSA_STATUS_ERROR_INVALID_REGION, "HSA_STATUS_ERROR_INVALID_REGION: The memory region is invalid."},
    {HSA_STATUS_ERROR_INVALID_SIGNAL, "HSA_STATUS_ERROR_INVALID_SIGNAL: The signal is invalid."},
    {HSA_STATUS_ERROR_INVALID_QUEUE, "HSA_STATUS_ERROR_INVALID_QUEUE: The queue is invalid."},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. This error may also occur when the core runtime library needs to spawn threads or create internal OS-specific events."},
    {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: The AQL packet is malformed."},
    {HSA_STATUS_ERROR_RESOURCE_FREE, "HSA_STATUS_ERROR_RESOURCE_FREE: An error has been detected while releasing a resource."},
    {HSA_STATUS_ERROR_NOT_INITIALIZED, "HSA_STATUS_ERROR_NOT_INITIALIZED: An API other than hsa_init has been invoked while the reference count of the HSA runtime is zero."},
    {HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: The maximum reference count for the object has been reached."},
    {HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: The arguments passed to a functions are not compatible."},
    {HSA_STATUS_ERROR_INVALID_INDEX, "HSA_STATUS_ERROR_INVALID_INDEX: The index is invalid."},
    {HSA_STATUS_ERROR_INVALID_ISA, "HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid."},
    {HSA_STATUS_ERROR_INVALID_ISA_NAME, "HSA_STATUS_ERROR_INVALID_ISA_NAME: The instruction set architecture name is invalid."},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT: The code object is invalid."},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE, "HSA_STATUS_ERROR_INVALID_EXECUTABLE: The executable is invalid."},
    {HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "HSA_STATUS_ERROR_FROZEN_EXECUTABLE: The executable is frozen."},
    {HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: There is no symbol with the given name."},
    {HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, "HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: The variable is already defined."},
    {HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "HSA_STATUS_ERROR_VARIABLE_UNDEFINED: The variable is undefined."},
    {HSA_STATUS_ERROR_EXCEPTION, "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception."},
    {HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "HSA_STATUS_ERROR_INVALID_CODE_SYMBOL: The code object symbol is invalid."},
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL: The executable symbol is invalid."},
    {HSA_STATUS_ERROR_INVALID_FILE, "HSA_STATUS_ERROR_INVALID_FILE: The file descriptor is invalid."},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: The code object reader is invalid."},
    {HSA_STATUS_ERROR_INVALID_CACHE, "HSA_STATUS_ERROR_INVALID_CACHE: The cache is invalid."},
    {HSA_STATUS_ERROR_INVALID_WAVEFRONT, "HSA_STATUS_ERROR_INVALID_WAVEFRONT: The wavefront is invalid."},
    {HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: The signal group is invalid."},
    {HSA_STATUS_ERROR_INVALID_RUNTIME_STATE, "HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: The HSA runtime is not in the configuration state."},
    {HSA_STATUS_ERROR_FATAL, "HSA_STATUS_ERROR_FATAL: The queue received an error that may require process termination."},
    {HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "HSA_STATUS_ERROR_INVALID_MEMORY_POOL: The memory pool is invalid."},
    {HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address."},
    {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal shader instruction."},
    {HSA_STATUS_ERROR_MEMORY_FAULT, "HSA_STATUS_ERROR_MEMORY_FAULT: Agent attempted to access an inaccessible address."},
    {HSA_STATUS_CU_MASK_REDUCED, "HSA_STATUS_CU_MASK_REDUCED: The CU mask was successfully set but the mask attempted to enable a CU which was disabled for the process."},
    {HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED, "HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED: Image format is not supported."},
    {HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED, "HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED: Image size is not supported."},
    {HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED, "HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED: Image pitch is not supported or invalid."},
    {HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED, "HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED: Sampler descriptor is not supported or invalid."},
};
// clang-format on

// System attributes of later releases.
enum : uint32_t {
    info_mwaitx = 0x203,
    info_dmabuf = 0x204,
    info_virtual_memory = 0x205,
    info_xnack = 0x206,
    info_ext_version_major = 0x207,
    info_ext_version_minor = 0x208,
};

hsa_status_t system_info(const State& s, uint32_t attribute, void* value) {
    switch (attribute) {
        case HSA_SYSTEM_INFO_VERSION_MAJOR:
        case HSA_SYSTEM_INFO_VERSION_MINOR:
            return put(value, uint16_t{1});
        case HSA_SYSTEM_INFO_TIMESTAMP:
            return put(value, now_ns());
        case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
            return put(value, uint64_t{1'000'000'000});
        case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
            return put(value, UINT64_MAX);
        case HSA_SYSTEM_INFO_ENDIANNESS:
            return put(value, HSA_ENDIANNESS_LITTLE);
        case HSA_SYSTEM_INFO_MACHINE_MODEL:
            return put(value, HSA_MACHINE_MODEL_LARGE);
        case HSA_SYSTEM_INFO_EXTENSIONS: {
            uint8_t mask[128] = {};
            mask[0] |= 1 << HSA_EXTENSION_IMAGES;
            mask[HSA_EXTENSION_AMD_LOADER / 8] |= 1 << (HSA_EXTENSION_AMD_LOADER % 8);
            return put(value, mask);
        }
        case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
            return put(value, static_cast<const char*>("wavejit emulated HSA runtime"));
        // With SVM HIP maps managed memory itself and never says that it is gone, which page tables
        // that are really consulted would not notice (contract 4.4).
        case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
            return put(value, !s.checked_memory);
        case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
        case info_mwaitx:
        case info_dmabuf:
        case info_xnack:
            return put(value, false);
        case info_virtual_memory:
            return put(value, true);
        case info_ext_version_major:
            return put(value, uint16_t{HSA_AMD_INTERFACE_VERSION_MAJOR});
        case info_ext_version_minor:
            return put(value, uint16_t{HSA_AMD_INTERFACE_VERSION_MINOR});
        default:
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

struct Extension {
    uint16_t id;
    const char* name;
    uint16_t minor;  // newest version 1.x
    hsa_status_t (*fill)(void* table, size_t size);
    size_t size;
};
constexpr Extension extensions[] = {
    {HSA_EXTENSION_IMAGES, "HSA_EXTENSION_IMAGES", 0, fill_image_table,
     sizeof(hsa_ext_images_1_pfn_t)},
    {HSA_EXTENSION_AMD_LOADER, "HSA_EXTENSION_AMD_LOADER", 3, fill_loader_table,
     sizeof(hsa_ven_amd_loader_1_03_pfn_t)},
};
const Extension* find_extension(uint16_t id) {
    for (const Extension& e : extensions)
        if (e.id == id) return &e;
    return nullptr;
}

// WAVEJIT_STATS=1: what the devices did, when the process ends.
void print_statistics() {
    State* s = state();
    if (!s) return;
    for (wj::hsa::Agent* a : s->gpus) {
        const auto t = a->device->statistics();
        std::fprintf(
            stderr,
            "wavejit: %s (%s): %llu dispatches, %llu work-groups, %llu waves, %llu wave "
            "instructions, "
            "%llu blocks translated in %.1f ms, %llu loaded from the on-disk cache, %llu stored, "
            "%llu instructions interpreted, %.1f ms executing\n",
            a->name.c_str(), a->device->engine().name(),
            static_cast<unsigned long long>(t.dispatches),
            static_cast<unsigned long long>(t.work_groups),
            static_cast<unsigned long long>(t.waves),
            static_cast<unsigned long long>(t.wave_instructions),
            static_cast<unsigned long long>(t.engine.blocks_translated),
            static_cast<double>(t.engine.translation_ns) * 1e-6,
            static_cast<unsigned long long>(t.engine.blocks_loaded),
            static_cast<unsigned long long>(t.engine.blocks_stored),
            static_cast<unsigned long long>(t.engine.interpreted),
            static_cast<double>(t.execution_ns) * 1e-6);
    }
}

// WAVEJIT_HOT=N: the N blocks of each device with the most executed host instructions.
void print_hot_blocks() {
    State* s = state();
    if (!s) return;
    for (wj::hsa::Agent* a : s->gpus)
        std::fprintf(stderr, "wavejit: %s (%s): %s", a->name.c_str(), a->device->engine().name(),
                     a->device->engine().hot_blocks(a->device->options().hot_blocks).c_str());
}

// Devices live on behind main().
void write_reports() {
    State* s = state();
    if (!s) return;
    for (wj::hsa::Agent* a : s->gpus) {
        a->device->collect_coverage();
        if (auto* const captures = a->device->captures())
            if (const wj::Status status = captures->outcome(); !status) log_error(status.message());
    }
    if (const wj::Status status = s->gpus.front()->device->write_reports(); !status)
        log_error(status.message());
}

bool switched_on(const char* variable) {
    const char* text = std::getenv(variable);
    return text && *text && *text != '0';
}

}  // namespace

extern "C" {

// What debuggers look for (struct r_debug); nothing is ever listed in it.
r_debug _amdgpu_r_debug = {6, nullptr, 0, r_debug::RT_CONSISTENT, 0};

hsa_status_t hsa_init() {
    const hsa_status_t r = initialize();
    static const bool registered = [] {
        if (switched_on("WAVEJIT_HOT")) std::atexit(print_hot_blocks);
        if (switched_on("WAVEJIT_STATS")) std::atexit(print_statistics);
        if (switched_on("WAVEJIT_COVERAGE") || switched_on("WAVEJIT_FIDELITY") ||
            switched_on("WAVEJIT_CAPTURE"))
            std::atexit(write_reports);
        return true;
    }();
    static_cast<void>(registered);
    return r;
}

hsa_status_t hsa_shut_down() {
    State* s = state();
    if (!s) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    s->references.fetch_sub(1);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_status_string(hsa_status_t status, const char** status_string) {
    if (!status_string) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (const StatusText& t : status_texts)
        if (t.status == static_cast<uint32_t>(status)) {
            *status_string = t.text;
            return HSA_STATUS_SUCCESS;
        }
    *status_string = nullptr;
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* value) {
    State* s = state();
    if (!s) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return system_info(*s, static_cast<uint32_t>(attribute), value);
}

hsa_status_t hsa_extension_get_name(uint16_t extension, const char** name) {
    if (!name) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Extension* e = find_extension(extension);
    *name = e ? e->name : "HSA_EXTENSION_INVALID";
    return e ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t version_major,
                                            uint16_t version_minor, bool* result) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Extension* e = find_extension(extension);
    *result = e && version_major == 1 && version_minor <= e->minor;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t version_major,
                                                  uint16_t* version_minor, bool* result) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!result || !version_minor) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Extension* e = find_extension(extension);
    *result = e && version_major == 1;
    if (*result) *version_minor = e->minor;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t version_major,
                                                  size_t table_length, void* table) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!table || !table_length) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Extension* e = find_extension(extension);
    if (!e || version_major != 1) return HSA_STATUS_ERROR;
    return e->fill(table, table_length);
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t version_major,
                                            uint16_t version_minor, void* table) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!table) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const Extension* e = find_extension(extension);
    if (!e || version_major != 1 || version_minor > e->minor) return HSA_STATUS_ERROR;
    // The caller's table is that of the version it names.
    size_t size = e->size;
    if (extension == HSA_EXTENSION_IMAGES) size = sizeof(hsa_ext_images_1_00_pfn_t);
    constexpr size_t loader_sizes[] = {
        sizeof(hsa_ven_amd_loader_1_00_pfn_t), sizeof(hsa_ven_amd_loader_1_01_pfn_t),
        sizeof(hsa_ven_amd_loader_1_02_pfn_t), sizeof(hsa_ven_amd_loader_1_03_pfn_t)};
    if (extension == HSA_EXTENSION_AMD_LOADER) size = loader_sizes[version_minor];
    return e->fill(table, size);
}

}  // extern "C"
