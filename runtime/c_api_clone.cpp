// C interface: contexts with the same contents.
#include <map>

#include "runtime/c_api_internal.h"

using namespace wj;
using namespace wj::c_api;

namespace {

void add_modules(wj_context* from, const runtime::Device::Clone& made, wj_context* to) {
    std::lock_guard lock(from->modules_mutex);
    for (const wj_module* m : from->modules) {
        const auto same = made.modules.find(m->module.get());
        if (same == made.modules.end()) continue;
        auto copy = std::make_unique<wj_module>(to, same->second);
        for (size_t i = 0; i < m->kernels.size(); i++)
            copy->kernels[i].layout = m->kernels[i].layout;
        copy->origin = m->origin;
        copy.release()->of_clone = true;  // it is in the context's list
    }
}

}  // namespace

extern "C" {

wj_status wj_context_clone(wj_context* context, wj_context** clone) {
    return guarded(context, [&] {
        if (!clone) return context->fail(WJ_INVALID_ARGUMENT, "clone is NULL");
        *clone = nullptr;
        if (const wj_status status = need_idle(context, "contexts are cloned"); status != WJ_OK)
            return status;
        auto made = context->device->clone();
        if (!made) return context->fail(made.status());
        auto c = std::make_unique<wj_context>(std::move(made->device));
        add_modules(context, *made, c.get());
        *clone = c.release();
        return WJ_OK;
    });
}

wj_status wj_context_get_module(wj_context* context, wj_module* module, wj_module** same) {
    return guarded_in_callbacks(context, [&] {
        if (!module || !same) return context->fail(WJ_INVALID_ARGUMENT, "module or same is NULL");
        *same = nullptr;
        std::lock_guard lock(context->modules_mutex);
        for (wj_module* m : context->modules)
            if (m->origin == module->origin) {
                *same = m;
                return WJ_OK;
            }
        return context->fail(WJ_NOT_FOUND,
                             "the context has no copy of that module: it was loaded when the "
                             "context had been cloned, is of another one, or has been unloaded");
    });
}

}  // extern "C"
