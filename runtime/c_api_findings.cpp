// C interface: what checkers have found.
#include <algorithm>
#include <optional>

#include "runtime/c_api_internal.h"
#include "runtime/findings.h"

using namespace wj;
using namespace wj::c_api;

namespace {

// With what its strings are of, which stays until findings are cleared; null: there are not so
// many.
const KeptFinding* keep_finding(wj_context* context, size_t index) {
    const runtime::Findings& all = context->device->findings();
    std::optional<runtime::FaultRecord> record = all.at(index);
    if (!record) {
        context->fail(WJ_NOT_FOUND,
                      "there are " + std::to_string(all.size()) + " findings, numbered from 0");
        return nullptr;
    }
    std::lock_guard lock(context->error_mutex);
    // Others may read what has been kept, so that stays as it is. A clone may have cleared the
    // findings, and another one have the same key.
    const auto is_kept = [&](const auto& kept) {
        const runtime::FaultRecord& r = kept->record;
        return r.key == record->key && r.occurrences == record->occurrences &&
               r.exit.address == record->exit.address &&
               r.exit.lane_mask == record->exit.lane_mask && r.work_group == record->work_group &&
               r.wave == record->wave;
    };
    const auto known = std::ranges::find_if(context->findings, is_kept);
    if (known != context->findings.end()) return known->get();
    record->make_texts();
    std::string report = record->text();
    context->findings.push_back(
        std::make_unique<KeptFinding>(KeptFinding{std::move(*record), std::move(report)}));
    return context->findings.back().get();
}

}  // namespace

extern "C" {

size_t wj_finding_count(wj_context* context) {
    return context ? context->device->findings().size() : 0;
}

wj_status wj_finding_get(wj_context* context, size_t index, wj_fault* finding) {
    return guarded_in_callbacks(context, [&] {
        const KeptFinding* const kept = keep_finding(context, index);
        if (!kept) return WJ_NOT_FOUND;
        const wj_fault f = to_c_fault(kept->record, kept->report);
        return write_struct(finding, f) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

wj_status wj_finding_get_frame(wj_context* context, size_t finding, size_t index,
                               wj_stack_frame* frame) {
    return guarded_in_callbacks(context, [&] {
        const KeptFinding* const kept = keep_finding(context, finding);
        return kept ? write_frame(context, kept->record.stack, index, frame) : WJ_NOT_FOUND;
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
