// Functions of ROCm 5.3 to 6.2 that Debian's headers do not declare (contract section 13).
// Parameters are the public ones where something is done with them.
#include <hsa/hsa_ext_amd.h>

#include <cstring>

#include "hsa/queue.h"
#include "hsa/state.h"

using namespace wj::hsa;

#define WJ_NOT_SUPPORTED(name)       \
    hsa_status_t name() {            \
        return not_supported(#name); \
    }

extern "C" {

// hsa_queue_info_attribute_t: 0 agent, 1 doorbell id.
hsa_status_t hsa_amd_queue_get_info(hsa_queue_t* queue, uint32_t attribute, void* value) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    Queue* q = Queue::of(queue);
    if (!q) return HSA_STATUS_ERROR_INVALID_QUEUE;
    if (!value || attribute > 1) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (attribute == 0) {
        const hsa_agent_t agent = q->agent().handle();
        std::memcpy(value, &agent, sizeof agent);
    } else {
        std::memcpy(value, &q->abi().hsa_queue.doorbell_signal.handle, 8);
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

WJ_NOT_SUPPORTED(hsa_amd_portable_export_dmabuf)
WJ_NOT_SUPPORTED(hsa_amd_portable_close_dmabuf)
WJ_NOT_SUPPORTED(hsa_amd_spm_acquire)
WJ_NOT_SUPPORTED(hsa_amd_spm_release)
WJ_NOT_SUPPORTED(hsa_amd_spm_set_dest_buffer)
WJ_NOT_SUPPORTED(hsa_amd_enable_logging)

}  // extern "C"
