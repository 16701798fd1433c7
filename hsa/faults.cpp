#include "hsa/faults.h"

#include <cstdio>
#include <mutex>

#include "hsa/queue.h"

namespace wj::hsa {
namespace {

std::mutex handler_mutex;
hsa_amd_system_event_callback_t event_handler = nullptr;
void* event_data = nullptr;

}  // namespace

void print_fault(const std::string& report) {
    std::string text = "wavejit: " + report;
    if (text.back() != '\n') text += '\n';
    std::fflush(stdout);  // what the kernel printed comes first
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

hsa_status_t fault_status(Code code) {
    switch (code) {
        case Code::GuestFault:
            return static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT);
        case Code::IllegalInstruction:
        case Code::Unimplemented:
            return static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
        case Code::GuestTrap:
            return HSA_STATUS_ERROR_EXCEPTION;
        case Code::InvalidArgument:
            return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
        case Code::OutOfRange:
            return HSA_STATUS_ERROR_INVALID_ALLOCATION;
        case Code::OutOfMemory:
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        case Code::NotFound:
        case Code::InvalidCodeObject:
            return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
        default:
            return HSA_STATUS_ERROR;
    }
}

bool report_memory_fault(Agent& agent, const runtime::FaultRecord& fault) {
    hsa_amd_system_event_callback_t handler;
    void* data;
    {
        std::lock_guard lock(handler_mutex);
        handler = event_handler;
        data = event_data;
    }
    if (!handler) return false;
    print_fault(fault.text());
    hsa_amd_event_t event{};
    event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
    event.memory_fault.agent = agent.handle();
    event.memory_fault.virtual_address = fault.exit.address;
    event.memory_fault.fault_reason_mask = fault.exit.access == machine::Access::Write
                                               ? HSA_AMD_MEMORY_FAULT_READ_ONLY
                                               : HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
    return handler(&event, data) == HSA_STATUS_SUCCESS;
}

}  // namespace wj::hsa

extern "C" hsa_status_t hsa_amd_register_system_event_handler(
    hsa_amd_system_event_callback_t callback, void* data) {
    using namespace wj::hsa;
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    std::lock_guard lock(handler_mutex);
    if (event_handler) return HSA_STATUS_ERROR;
    event_handler = callback;
    event_data = data;
    return HSA_STATUS_SUCCESS;
}
