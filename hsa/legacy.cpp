// Entry points that exist because the real library has them: the finalizer above all. No client of
// ROCm 5 or later calls them; each says so once and fails.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_finalize.h>

#include "hsa/state.h"

using namespace wj::hsa;

extern "C" {

hsa_status_t hsa_ext_program_create(hsa_machine_model_t, hsa_profile_t,
                                    hsa_default_float_rounding_mode_t, const char*,
                                    hsa_ext_program_t*) {
    return not_supported("hsa_ext_program_create");
}
hsa_status_t hsa_ext_program_destroy(hsa_ext_program_t) {
    return not_supported("hsa_ext_program_destroy");
}
hsa_status_t hsa_ext_program_add_module(hsa_ext_program_t, hsa_ext_module_t) {
    return not_supported("hsa_ext_program_add_module");
}
hsa_status_t hsa_ext_program_iterate_modules(
    hsa_ext_program_t, hsa_status_t (*)(hsa_ext_program_t, hsa_ext_module_t, void*), void*) {
    return not_supported("hsa_ext_program_iterate_modules");
}
hsa_status_t hsa_ext_program_get_info(hsa_ext_program_t, hsa_ext_program_info_t, void*) {
    return not_supported("hsa_ext_program_get_info");
}
hsa_status_t hsa_ext_program_finalize(hsa_ext_program_t, hsa_isa_t, int32_t,
                                      hsa_ext_control_directives_t, const char*,
                                      hsa_code_object_type_t, hsa_code_object_t*) {
    return not_supported("hsa_ext_program_finalize");
}

// Only agents of the full profile of old APUs had a choice.
hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t* type) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!type) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *type = HSA_AMD_COHERENCY_TYPE_COHERENT;
    return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_amd_interop_map_buffer(uint32_t, hsa_agent_t*, int, uint32_t, size_t*, void**,
                                        size_t*, const void**) {
    return not_supported("hsa_amd_interop_map_buffer");
}
hsa_status_t hsa_amd_interop_unmap_buffer(void*) {
    return not_supported("hsa_amd_interop_unmap_buffer");
}

}  // extern "C"
