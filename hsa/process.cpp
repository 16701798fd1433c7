// Sharing between processes. Device memory is private memory of this process, so handles cannot be
// made.
#include "hsa/state.h"

using namespace wj::hsa;

extern "C" {

hsa_status_t hsa_amd_ipc_memory_create(void*, size_t, hsa_amd_ipc_memory_t*) {
    return not_supported("hsa_amd_ipc_memory_create");
}
hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t*, size_t, uint32_t,
                                       const hsa_agent_t*, void**) {
    return not_supported("hsa_amd_ipc_memory_attach");
}
hsa_status_t hsa_amd_ipc_memory_detach(void*) {
    return not_supported("hsa_amd_ipc_memory_detach");
}
hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t, hsa_amd_ipc_signal_t*) {
    return not_supported("hsa_amd_ipc_signal_create");
}
hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t*, hsa_signal_t*) {
    return not_supported("hsa_amd_ipc_signal_attach");
}

}  // extern "C"
