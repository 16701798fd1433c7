// C interface: which source lines kernels have reached.
#include "runtime/c_api_internal.h"

using namespace wj;
using namespace wj::c_api;

extern "C" {

wj_status wj_coverage_write(wj_context* context, const char* path) {
    return guarded(context, [&] {
        if (!path) return context->fail(WJ_INVALID_ARGUMENT, "path is NULL");
        if (Status status = context->device->write_coverage(path); !status)
            return context->fail(status);
        return WJ_OK;
    });
}

}  // extern "C"
