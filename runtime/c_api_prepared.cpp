// C interface: launches that are made again and again.
#include <cstring>

#include "runtime/c_api_internal.h"

using namespace wj;
using namespace wj::c_api;

struct wj_prepared {
    wj_kernel* kernel = nullptr;
    std::unique_ptr<runtime::PreparedLaunch> launch;
    std::unique_ptr<KeptFinding> fault;  // of the last run, made on demand
    StoppedWaves waves;                  // of the last run
    bool ran = false;
    wj_context* context() const { return kernel->module->context; }
};

extern "C" {

wj_status wj_kernel_find_argument(wj_kernel* kernel, const char* name, uint32_t* index) {
    if (!kernel) return WJ_INVALID_ARGUMENT;
    wj_context* context = kernel->module->context;
    return guarded_in_callbacks(context, [&] {
        if (!name || !index) return context->fail(WJ_INVALID_ARGUMENT, "name or index is NULL");
        const auto& args = kernel->info->metadata.args;
        std::string have;
        for (uint32_t i = 0; i < args.size(); i++) {
            if (is_hidden(args[i].kind)) continue;
            if (args[i].name == name) {
                *index = i;
                return WJ_OK;
            }
            have += (have.empty() ? "" : ", ") + args[i].name;
        }
        return context->fail(WJ_NOT_FOUND, "kernel '" + kernel->info->name + "' has no argument '" +
                                               name +
                                               "'; it has: " + (have.empty() ? "none" : have));
    });
}

wj_status wj_launch_prepare(wj_kernel* kernel, const wj_launch_options* options,
                            wj_prepared** prepared) {
    if (!kernel) return WJ_INVALID_ARGUMENT;
    wj_context* context = kernel->module->context;
    return guarded(context, [&] {
        if (!prepared) return context->fail(WJ_INVALID_ARGUMENT, "prepared is NULL");
        *prepared = nullptr;
        Launch launch;
        if (const wj_status status = make_launch(kernel, options, launch); status != WJ_OK)
            return status;
        const auto& formats = kernel->module->module->object().metadata.printf;
        if (runtime::PrintfBuffer::wanted(*kernel->info, formats))
            return context->fail(WJ_UNIMPLEMENTED,
                                 "kernel '" + kernel->info->name +
                                     "' prints: its launches cannot be prepared, use wj_launch");
        runtime::fill_hidden_arguments(*kernel->info, launch.hidden, launch.block.bytes);
        launch.request.arguments = launch.block.bytes;
        launch.request.caller_runs = true;
        auto made = context->device->prepare(launch.request, kernel->module->module);
        if (!made) return context->fail(made.status());
        auto p = std::make_unique<wj_prepared>();
        p->kernel = kernel;
        p->launch = std::move(*made);
        *prepared = p.release();
        return WJ_OK;
    });
}

wj_status wj_prepared_set_argument(wj_prepared* prepared, uint32_t index, const void* data,
                                   size_t size) {
    if (!prepared) return WJ_INVALID_ARGUMENT;
    wj_context* context = prepared->context();
    return guarded(context, [&] {
        const KernelInfo& info = *prepared->kernel->info;
        const auto& args = info.metadata.args;
        const std::span<std::byte> bytes = prepared->launch->arguments();
        if (index >= args.size() || is_hidden(args[index].kind) ||
            args[index].kind == ValueKind::DynamicSharedPointer)
            return context->fail(WJ_INVALID_ARGUMENT,
                                 "kernel '" + info.name + "' has no argument " +
                                     std::to_string(index) + " that may be set");
        const KernelArg& a = args[index];
        if (!data || size != a.size || uint64_t{a.offset} + a.size > bytes.size())
            return context->fail(WJ_INVALID_ARGUMENT, "argument '" + a.name + "' of kernel '" +
                                                          info.name + "' has " +
                                                          std::to_string(a.size) + " bytes, not " +
                                                          std::to_string(size));
        std::memcpy(bytes.data() + a.offset, data, size);
        return WJ_OK;
    });
}

wj_status wj_prepared_launch(wj_prepared* prepared, wj_result* result) {
    if (!prepared) return WJ_INVALID_ARGUMENT;
    wj_context* context = prepared->context();
    return guarded(context, [&] {
        prepared->fault.reset();
        prepared->waves.forget();
        prepared->ran = false;
        if (Status status = prepared->launch->run(result != nullptr); !status)
            return context->fail(status);
        prepared->ran = true;
        const runtime::DispatchResult& r = prepared->launch->result();
        if (result && !write_struct(result, to_c_result(r)))
            return context->fail(WJ_INVALID_ARGUMENT, bad_size);
        if (r.code == Code::Ok) return WJ_OK;
        return context->fail(r.fault);
    });
}

wj_status wj_prepared_get_fault(wj_prepared* prepared, wj_fault* fault) {
    if (!prepared) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(prepared->context(), [&] {
        if (!prepared->ran) return WJ_NOT_READY;
        return write_fault(prepared->context(), prepared->launch->result(), prepared->fault, fault);
    });
}

wj_status wj_prepared_get_fault_data(wj_prepared* prepared, wj_fault_data* data) {
    if (!prepared) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(prepared->context(), [&] {
        if (!prepared->ran) return WJ_NOT_READY;
        return write_fault_data(prepared->context(), prepared->launch->result(), data);
    });
}

wj_status wj_prepared_get_frame(wj_prepared* prepared, size_t index, wj_stack_frame* frame) {
    if (!prepared) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(prepared->context(), [&] {
        if (!prepared->ran) return WJ_NOT_READY;
        const KeptFinding* const kept = keep_fault(prepared->launch->result(), prepared->fault);
        return kept ? write_frame(prepared->context(), kept->record.stack, index, frame)
                    : WJ_NOT_FOUND;
    });
}

size_t wj_prepared_wave_count(wj_prepared* prepared) {
    if (!prepared || !prepared->ran) return 0;
    return prepared->waves.count(prepared->context(), *prepared->launch);
}

wj_wave* wj_prepared_wave_at(wj_prepared* prepared, size_t index) {
    return index < wj_prepared_wave_count(prepared) ? prepared->waves.at(index) : nullptr;
}

void wj_prepared_release(wj_prepared* prepared) {
    if (!prepared || refused_in_callback(prepared->context())) return;
    delete prepared;
}

}  // extern "C"
