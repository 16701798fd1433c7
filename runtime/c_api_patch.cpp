// C interface: kernels whose code is changed in place.
#include "runtime/c_api_internal.h"

using namespace wj;
using namespace wj::c_api;

extern "C" {

wj_status wj_kernel_patch(wj_kernel* kernel, uint64_t offset, const void* bytes, size_t size) {
    if (!kernel) return WJ_INVALID_ARGUMENT;
    wj_context* context = kernel->module->context;
    return guarded(context, [&] {
        if (!bytes || !size)
            return context->fail(WJ_INVALID_ARGUMENT, "wj_kernel_patch needs bytes and their size");
        if (const wj_status status = need_idle(context, "code is changed"); status != WJ_OK)
            return status;
        runtime::Module& module = *kernel->module->module;
        const uint64_t entry = kernel->loaded->entry, code = kernel->info->code_size;
        const uint64_t begin = code ? entry : module.load_address();
        const uint64_t end = code ? entry + code : begin + module.load_size();
        if (offset > end - entry || size > end - entry - offset)
            return context->fail(WJ_OUT_OF_RANGE,
                                 std::to_string(size) + " bytes at offset " +
                                     std::to_string(offset) + " are not in kernel '" +
                                     kernel->info->name + "', which has " +
                                     std::to_string(end - entry) + " bytes of code");
        const Status status = context->device->patch(
            module, entry + offset, {static_cast<const std::byte*>(bytes), size}, begin, end);
        return status ? WJ_OK : context->fail(status);
    });
}

}  // extern "C"
