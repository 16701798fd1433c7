// Functions of ROCm 6 and 7 as AMD's later hsa_ext_amd.h declares them; Debian 12's does not.
#pragma once

#include <hsa/hsa_ext_amd.h>

struct hsa_amd_vmem_alloc_handle_t {
    uint64_t handle;
};
struct hsa_amd_memory_access_desc_t {
    hsa_access_permission_t permissions;
    hsa_agent_t agent_handle;
};
struct hsa_amd_ais_file_handle_t {
    union {
        void* handle;
        int fd;
        uint8_t pad[8];
    };
};

extern "C" {
hsa_status_t hsa_amd_vmem_address_reserve(void**, size_t, uint64_t, uint64_t);
hsa_status_t hsa_amd_vmem_address_reserve_align(void**, size_t, uint64_t, uint64_t, uint64_t);
hsa_status_t hsa_amd_vmem_address_free(void*, size_t);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t, size_t, uint32_t, uint64_t,
                                        hsa_amd_vmem_alloc_handle_t*);
hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t);
hsa_status_t hsa_amd_vmem_map(void*, size_t, size_t, hsa_amd_vmem_alloc_handle_t, uint64_t);
hsa_status_t hsa_amd_vmem_unmap(void*, size_t);
hsa_status_t hsa_amd_vmem_set_access(void*, size_t, const hsa_amd_memory_access_desc_t*, size_t);
hsa_status_t hsa_amd_vmem_get_access(void*, hsa_access_permission_t*, hsa_agent_t);
hsa_status_t hsa_amd_vmem_export_shareable_handle(int*, hsa_amd_vmem_alloc_handle_t, uint64_t);
hsa_status_t hsa_amd_vmem_import_shareable_handle(int, hsa_amd_vmem_alloc_handle_t*);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t*, void*);
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t,
                                                           hsa_amd_memory_pool_t*, uint32_t*);
hsa_status_t hsa_amd_ais_file_read(hsa_amd_ais_file_handle_t, void*, uint64_t, int64_t, uint64_t*,
                                   int32_t*);
hsa_status_t hsa_amd_ais_file_write(hsa_amd_ais_file_handle_t, void*, uint64_t, int64_t, uint64_t*,
                                    int32_t*);
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t, hsa_agent_t, uint32_t*);
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t, hsa_agent_t, uint32_t*);
hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t, const void*, uint64_t*);
}
