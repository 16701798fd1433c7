// C interface: what checkers have found.
#include "runtime/c_api_internal.h"
#include "runtime/findings.h"

using namespace wj;
using namespace wj::c_api;

extern "C" {

size_t wj_finding_count(wj_context* context) {
    return context ? context->device->findings().all().size() : 0;
}

wj_status wj_finding_get(wj_context* context, size_t index, wj_fault* finding) {
    return guarded_in_callbacks(context, [&] {
        auto records = context->device->findings().all();
        if (index >= records.size())
            return context->fail(WJ_NOT_FOUND, "there are " + std::to_string(records.size()) +
                                                   " findings, numbered from 0");
        auto kept = std::make_unique<KeptFinding>();
        kept->record = std::move(records[index]);
        kept->report = kept->record.text();
        const wj_fault f = to_c_fault(kept->record, kept->report);
        if (!write_struct(finding, f)) return context->fail(WJ_INVALID_ARGUMENT, bad_size);
        std::lock_guard lock(context->error_mutex);
        context->findings.push_back(std::move(kept));
        return WJ_OK;
    });
}

wj_status wj_finding_clear(wj_context* context) {
    return guarded(context, [&] {
        context->device->findings().clear();
        std::lock_guard lock(context->error_mutex);
        context->findings.clear();
        return WJ_OK;
    });
}

wj_status wj_finding_write(wj_context* context, const char* path) {
    return guarded(context, [&] {
        if (!path) return context->fail(WJ_INVALID_ARGUMENT, "path is NULL");
        if (Status status = context->device->findings().write(path); !status)
            return context->fail(status);
        return WJ_OK;
    });
}

}  // extern "C"
