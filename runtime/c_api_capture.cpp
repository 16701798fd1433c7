// C interface: files that hold a launch.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/c_api_internal.h"
#include "runtime/capture.h"
#include "runtime/capture_folder.h"

using namespace wj;
using namespace wj::c_api;

namespace {

// So many bytes of the segment are the caller's.
size_t given_bytes(const wj_kernel& kernel, const wj_launch_options& options) {
    if (!options.argument_count) return options.packed_size;
    size_t end = 0;
    for (const KernelArg& arg : kernel.info->metadata.args)
        if (!is_hidden(arg.kind)) end = std::max(end, size_t{arg.offset} + arg.size);
    return end;
}

runtime::CapturedLaunch captured_launch(const wj_kernel& kernel, const Launch& launch) {
    runtime::CapturedLaunch c;
    c.kernel = kernel.loaded->name;
    c.grid = launch.request.grid;
    c.work_group = launch.request.work_group;
    c.global_offset = launch.hidden.global_offset;
    c.dynamic_lds = launch.hidden.dynamic_lds;
    c.dynamic_stack_bytes = launch.options.dynamic_stack_bytes;
    c.layout = launch.hidden.layout;
    c.cooperative = launch.options.cooperative != 0;
    c.arguments = launch.block.bytes;
    c.arguments.resize(std::min(c.arguments.size(), given_bytes(kernel, launch.options)));
    return c;
}

wj_hidden_layout layout_option(runtime::HiddenLayout layout) {
    switch (layout) {
        case runtime::HiddenLayout::Standard:
            return WJ_HIDDEN_STANDARD;
        case runtime::HiddenLayout::Libclc:
            return WJ_HIDDEN_LIBCLC;
        default:
            return WJ_HIDDEN_AUTO;
    }
}

// What a context was made of.
wj_status captured(wj_context* context, const CapturedState*& state) {
    state = context->captured.get();
    if (state) return WJ_OK;
    return context->fail(WJ_INVALID_ARGUMENT,
                         "this context was not made of a capture file (wj_capture_open)");
}

wj_status open(const char* path, const wj_context_options* options, wj_context** context,
               std::string& error) {
    const auto failed = [&](const Status& status) {
        error = status.message();
        return wj::c_api::to_c(status.code());
    };
    if (!path || !context) {
        error = "path or context is NULL";
        return WJ_INVALID_ARGUMENT;
    }
    *context = nullptr;
    auto capture = runtime::read_capture(path);
    if (!capture) return failed(capture.status());
    wj_context_options o = WJ_INIT(wj_context_options);
    o.memory_mode = WJ_MEMORY_CHECKED;
    if (options && !read_options(options, o)) {
        error = bad_size;
        return WJ_INVALID_ARGUMENT;
    }
    if (!o.target) o.target = capture->target.c_str();
    if (!o.compute_units) o.compute_units = capture->compute_units;
    const auto device_options = make_device_options(o);
    if (!device_options) return failed(device_options.status());
    auto restored = runtime::Device::restore(*device_options, *capture);
    if (!restored) return failed(restored.status());
    auto made = std::make_unique<wj_context>(std::move(restored->device));
    made->captured = std::make_unique<CapturedState>();
    for (const auto& module : restored->modules)
        made->captured->modules.push_back(add_module(made.get(), module));
    for (wj_module* module : made->captured->modules) module->of_clone = true;
    const wj_module& module = *made->captured->modules.front();
    const auto* const kernel = module.module->find_kernel(capture->launch.kernel);
    if (!kernel) {
        error = std::string(path) + ": no kernel '" + printable(capture->launch.kernel) +
                "' in the captured code object";
        return WJ_NOT_FOUND;
    }
    made->captured->kernel = static_cast<size_t>(kernel - module.module->kernels().data());
    made->captured->launch = std::move(capture->launch);
    for (const memory::ImageRegion& r : capture->image.regions) {
        made->captured->memory.push_back({r.id, r.guest, r.size, r.rights, r.label});
        made->snapshots->include(r.guest);
    }
    *context = made.release();
    return WJ_OK;
}

}  // namespace

void wj::c_api::capture_if_wanted(const wj_kernel& kernel, const Launch& launch) {
    runtime::Device& device = *kernel.module->context->device;
    runtime::CaptureFolder* const folder = device.captures();
    if (!folder || !folder->take(kernel.loaded->name)) return;
    const Status status =
        folder->write(device, kernel.module->module, captured_launch(kernel, launch));
    if (!status) std::fprintf(stderr, "wavejit: %s\n", status.message().c_str());
}

extern "C" {

wj_status wj_capture_write(wj_kernel* kernel, const wj_launch_options* options, const char* path) {
    if (!kernel) return WJ_INVALID_ARGUMENT;
    wj_context* context = kernel->module->context;
    return guarded(context, [&] {
        if (!path) return context->fail(WJ_INVALID_ARGUMENT, "path is NULL");
        Launch launch;
        if (const wj_status s = make_launch(kernel, options, launch); s != WJ_OK) return s;
        if (const wj_status s = need_idle(context, "launches are captured"); s != WJ_OK) return s;
        auto capture = context->device->capture(kernel->module->module);
        if (!capture) return context->fail(capture.status());
        capture->launch = captured_launch(*kernel, launch);
        const Status status = runtime::write_capture(*capture, path);
        return status ? WJ_OK : context->fail(status);
    });
}

wj_status wj_capture_open(const char* path, const wj_context_options* options, wj_context** context,
                          char* error, size_t error_size) {
    wj_status status = WJ_HOST_ERROR;
    std::string text;
    try {
        status = open(path, options, context, text);
    } catch (const std::bad_alloc&) {
        status = WJ_OUT_OF_MEMORY;
        text = "the host is out of memory";
    } catch (const std::exception& e) {
        text = e.what();
    }
    if (error && error_size) std::snprintf(error, error_size, "%s", text.c_str());
    return status;
}

wj_status wj_capture_get_launch(wj_context* context, wj_kernel** kernel,
                                wj_launch_options* options) {
    return guarded_in_callbacks(context, [&] {
        if (!kernel) return context->fail(WJ_INVALID_ARGUMENT, "kernel is NULL");
        const CapturedState* state = nullptr;
        if (const wj_status s = captured(context, state); s != WJ_OK) return s;
        const runtime::CapturedLaunch& l = state->launch;
        wj_launch_options o{};
        std::copy_n(l.grid.begin(), 3, o.grid);
        std::copy_n(l.work_group.begin(), 3, o.block);
        std::copy_n(l.global_offset.begin(), 3, o.global_offset);
        o.dynamic_lds = l.dynamic_lds;
        o.dynamic_stack_bytes = l.dynamic_stack_bytes;
        o.hidden_layout = layout_option(l.layout);
        o.cooperative = l.cooperative;
        o.packed_arguments = l.arguments.data();
        o.packed_size = l.arguments.size();
        if (!write_struct(options, o)) return context->fail(WJ_INVALID_ARGUMENT, bad_size);
        *kernel = &state->modules.front()->kernels[state->kernel];
        return WJ_OK;
    });
}

wj_status wj_capture_get_memory(wj_context* context, size_t index, wj_captured_memory* memory) {
    return guarded_in_callbacks(context, [&] {
        const CapturedState* state = nullptr;
        if (const wj_status s = captured(context, state); s != WJ_OK) return s;
        if (index >= state->memory.size())
            return context->fail(
                WJ_NOT_FOUND,
                "the capture holds " + std::to_string(state->memory.size()) + " pieces of memory");
        const auto& from = state->memory[index];
        wj_captured_memory m{};
        m.number = from.number;
        m.address = from.address;
        m.bytes = from.bytes;
        m.rights = from.rights;
        m.label = from.label.c_str();
        return write_struct(memory, m) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

}  // extern "C"
