// The image extension: limits exist, images do not. HIP needs the limits for pitched memory.
#include <hsa/hsa_ext_image.h>

#include <algorithm>
#include <cstring>

#include "hsa/executable.h"
#include "hsa/state.h"

using namespace wj::hsa;

namespace {

hsa_status_t refuse(const char* function) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    not_supported(function);
    return static_cast<hsa_status_t>(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
}

}  // namespace

extern "C" {

hsa_status_t hsa_ext_image_get_capability(hsa_agent_t agent, hsa_ext_image_geometry_t,
                                          const hsa_ext_image_format_t* image_format,
                                          uint32_t* capability_mask) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!image_format || !capability_mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *capability_mask = HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ext_image_get_capability_with_layout(hsa_agent_t agent,
                                                      hsa_ext_image_geometry_t geometry,
                                                      const hsa_ext_image_format_t* image_format,
                                                      hsa_ext_image_data_layout_t,
                                                      uint32_t* capability_mask) {
    return hsa_ext_image_get_capability(agent, geometry, image_format, capability_mask);
}

hsa_status_t hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_agent_info_t attribute,
                                            void* value) {
    return hsa_agent_get_info(agent, attribute, value);
}

hsa_status_t hsa_ext_image_data_get_info(hsa_agent_t, const hsa_ext_image_descriptor_t*,
                                         hsa_access_permission_t, hsa_ext_image_data_info_t*) {
    return refuse("hsa_ext_image_data_get_info");
}
hsa_status_t hsa_ext_image_data_get_info_with_layout(hsa_agent_t, const hsa_ext_image_descriptor_t*,
                                                     hsa_access_permission_t,
                                                     hsa_ext_image_data_layout_t, size_t, size_t,
                                                     hsa_ext_image_data_info_t*) {
    return refuse("hsa_ext_image_data_get_info_with_layout");
}
hsa_status_t hsa_ext_image_create(hsa_agent_t, const hsa_ext_image_descriptor_t*, const void*,
                                  hsa_access_permission_t, hsa_ext_image_t*) {
    return refuse("hsa_ext_image_create");
}
hsa_status_t hsa_ext_image_create_with_layout(hsa_agent_t, const hsa_ext_image_descriptor_t*,
                                              const void*, hsa_access_permission_t,
                                              hsa_ext_image_data_layout_t, size_t, size_t,
                                              hsa_ext_image_t*) {
    return refuse("hsa_ext_image_create_with_layout");
}
hsa_status_t hsa_amd_image_create(hsa_agent_t, const hsa_ext_image_descriptor_t*,
                                  const hsa_amd_image_descriptor_t*, const void*,
                                  hsa_access_permission_t, hsa_ext_image_t*) {
    return refuse("hsa_amd_image_create");
}
hsa_status_t hsa_ext_image_destroy(hsa_agent_t, hsa_ext_image_t) {
    return refuse("hsa_ext_image_destroy");
}
hsa_status_t hsa_ext_image_copy(hsa_agent_t, hsa_ext_image_t, const hsa_dim3_t*, hsa_ext_image_t,
                                const hsa_dim3_t*, const hsa_dim3_t*) {
    return refuse("hsa_ext_image_copy");
}
hsa_status_t hsa_ext_image_import(hsa_agent_t, const void*, size_t, size_t, hsa_ext_image_t,
                                  const hsa_ext_image_region_t*) {
    return refuse("hsa_ext_image_import");
}
hsa_status_t hsa_ext_image_export(hsa_agent_t, hsa_ext_image_t, void*, size_t, size_t,
                                  const hsa_ext_image_region_t*) {
    return refuse("hsa_ext_image_export");
}
hsa_status_t hsa_ext_image_clear(hsa_agent_t, hsa_ext_image_t, const void*,
                                 const hsa_ext_image_region_t*) {
    return refuse("hsa_ext_image_clear");
}
hsa_status_t hsa_ext_sampler_create(hsa_agent_t, const hsa_ext_sampler_descriptor_t*,
                                    hsa_ext_sampler_t*) {
    return refuse("hsa_ext_sampler_create");
}
// ROCm 7: with an address mode for each coordinate.
hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t, const void*, hsa_ext_sampler_t*) {
    return refuse("hsa_ext_sampler_create_v2");
}
hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t, hsa_ext_sampler_t) {
    return refuse("hsa_ext_sampler_destroy");
}

}  // extern "C"

namespace wj::hsa {

hsa_status_t fill_image_table(void* table, size_t size) {
    hsa_ext_images_1_pfn_t all;
    all.hsa_ext_image_get_capability = hsa_ext_image_get_capability;
    all.hsa_ext_image_data_get_info = hsa_ext_image_data_get_info;
    all.hsa_ext_image_create = hsa_ext_image_create;
    all.hsa_ext_image_destroy = hsa_ext_image_destroy;
    all.hsa_ext_image_copy = hsa_ext_image_copy;
    all.hsa_ext_image_import = hsa_ext_image_import;
    all.hsa_ext_image_export = hsa_ext_image_export;
    all.hsa_ext_image_clear = hsa_ext_image_clear;
    all.hsa_ext_sampler_create = hsa_ext_sampler_create;
    all.hsa_ext_sampler_destroy = hsa_ext_sampler_destroy;
    all.hsa_ext_image_get_capability_with_layout = hsa_ext_image_get_capability_with_layout;
    all.hsa_ext_image_data_get_info_with_layout = hsa_ext_image_data_get_info_with_layout;
    all.hsa_ext_image_create_with_layout = hsa_ext_image_create_with_layout;
    std::memcpy(table, &all, std::min(size, sizeof all));
    return HSA_STATUS_SUCCESS;
}

}  // namespace wj::hsa
