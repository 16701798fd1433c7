// C interface: modules, kernels, dispatches.
#include <algorithm>
#include <atomic>
#include <cstdio>

#include "frontend/bundle.h"
#include "runtime/c_api_internal.h"
#include "runtime/kernel_args.h"
#include "runtime/launch_plan.h"

using namespace wj;
using namespace wj::c_api;

wj_dispatch::~wj_dispatch() {
    if (!dispatch) return;
    if (context->device->left_behind())
        new std::shared_ptr(std::move(dispatch));  // stays: the threads that run it are elsewhere
    else {
        dispatch->wait();
        flush_print();
        if (keeps_waves) context->stopped.remove(this);
        dispatch->let_go();
    }
}

void wj_dispatch::flush_print() {
    std::lock_guard lock(print_mutex);
    if (!printf || std::exchange(printed, true)) return;
    const std::string text = printf->text();
    if (!keeps_waves) printf.reset();
    if (text.empty()) return;
    if (!print) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return;
    }
    const Callback within(context);
    print(print_context, text.data(), text.size());
}

wj_module::wj_module(wj_context* holder, std::shared_ptr<runtime::Module> loaded)
    : context(holder), module(std::move(loaded)) {
    const auto& list = module->kernels();
    for (size_t i = 0; i < list.size(); i++)
        kernels.push_back({this, &list[i], &module->object().kernels[i]});
    std::lock_guard lock(context->modules_mutex);
    context->modules.push_back(this);
}

wj_module::~wj_module() {
    if (!context) return;
    std::lock_guard lock(context->modules_mutex);
    std::erase(context->modules, this);
}

namespace {

// Stack of kernels that recurse or call through pointers; what HIP reserves by default.
constexpr uint32_t default_dynamic_stack = 16 * 1024;

runtime::HiddenLayout detect(const wj_module& m, size_t kernel) {
    const CodeObject& object = m.module->object();
    return runtime::detect_hidden_layout(
        object, object.kernels[kernel],
        *with_wave_size(m.context->device->target(), object.kernels[kernel].descriptor.wave_size));
}

std::atomic<uint64_t> next_origin{1};

wj_status load(wj_context* context, std::span<const std::byte> bytes, const char* name,
               wj_module** module) {
    auto found = find_code_objects(bytes, name);
    if (!found) return context->fail(found.status());
    auto agent = parse_target_id(context->target);
    if (agent && agent->sramecc == Feature::Any)
        agent->sramecc = context->device->target().traits.sramecc ? Feature::On : Feature::Off;
    const FoundCodeObject* best = agent ? select_code_object(*found, *agent) : nullptr;
    if (!best) {
        std::string have;
        for (const FoundCodeObject& f : *found) have += (have.empty() ? "" : ", ") + f.target.str();
        return context->fail(WJ_UNSUPPORTED_TARGET,
                             std::string(name) + ": holds code for " +
                                 (have.empty() ? "nothing" : have) + ", none of which runs on " +
                                 context->target + "; choose another target or recompile for it");
    }
    auto loaded = context->device->load(best->bytes);
    if (!loaded) return context->fail(loaded.status());
    *module = add_module(context, *loaded);
    return WJ_OK;
}

Result<runtime::ArgumentBlock> arguments(const KernelInfo& kernel, const wj_launch_options& o) {
    if (o.packed_arguments || o.packed_size) {
        if (o.argument_count)
            return Status(Code::InvalidArgument,
                          "give either arguments or packed_arguments, not both");
        return runtime::place_arguments(kernel, {static_cast<const std::byte*>(o.packed_arguments),
                                                 o.packed_arguments ? o.packed_size : 0});
    }
    std::vector<runtime::ArgumentValue> values;
    values.reserve(o.argument_count);
    for (uint32_t i = 0; i < o.argument_count; i++)
        values.push_back({o.arguments[i].data, o.arguments[i].size});
    return runtime::pack_arguments(kernel, values, o.dynamic_lds);
}

// The largest work-group that the compiler was told of: code for one wave has no barriers. The
// hardware does not know it, and HIP 6 launches copy kernels of its own beyond it, so this is no
// check of the device's.
Status check_compiled_size(const KernelInfo& info, const std::array<uint32_t, 3>& work_group) {
    const uint32_t most = info.metadata.max_flat_workgroup_size;
    const uint64_t items = uint64_t{work_group[0]} * work_group[1] * work_group[2];
    if (!most || items <= most || items > runtime::max_work_group_items) return Status::ok();
    return {Code::OutOfRange, "kernel '" + info.name +
                                  "' was compiled for work-groups of at most " +
                                  std::to_string(most) + " work-items, " + std::to_string(items) +
                                  " requested; use a smaller block or __launch_bounds__"};
}

}  // namespace

wj_module* wj::c_api::add_module(wj_context* context,
                                 const std::shared_ptr<runtime::Module>& loaded) {
    auto m = std::make_unique<wj_module>(context, loaded);
    for (size_t i = 0; i < m->kernels.size(); i++) m->kernels[i].layout = detect(*m, i);
    m->origin = next_origin.fetch_add(1);
    return m.release();
}

wj_status wj::c_api::read_watching(wj_context* context, const wj_hooks* from, uint32_t keep_waves,
                                   std::shared_ptr<machine::Hooks>& hooks,
                                   runtime::KeptWaves& kept) {
    if (from) {
        wj_hooks read;
        if (!read_options(from, read))
            return context->fail(WJ_INVALID_ARGUMENT, std::string("hooks: ") + bad_size);
        hooks = make_hooks(read, context);
    }
    if (keep_waves > WJ_KEEP_WAVES_OF_ENGINE)
        return context->fail(WJ_INVALID_ARGUMENT,
                             "keep_waves " + std::to_string(keep_waves) + " does not exist");
    kept = static_cast<runtime::KeptWaves>(keep_waves);
    return WJ_OK;
}

wj_status wj::c_api::make_launch(wj_kernel* kernel, const wj_launch_options* options, Launch& out) {
    wj_context* context = kernel->module->context;
    wj_launch_options& o = out.options;
    if (!options || !read_options(options, o)) return context->fail(WJ_INVALID_ARGUMENT, bad_size);
    if (o.schedule_seed && !context->device->options().schedule.deterministic)
        return context->fail(WJ_INVALID_ARGUMENT,
                             "schedule_seed is of deterministic contexts: set `deterministic` in "
                             "the context's options");
    const KernelInfo& info = *kernel->info;
    auto block = arguments(info, o);
    if (!block) return context->fail(block.status());

    out.block = std::move(*block);
    runtime::DispatchRequest& r = out.request;
    r.kernel_object = kernel->loaded->kernel_object;
    for (int i = 0; i < 3; i++) {
        r.grid[i] = std::max(1u, o.grid[i]);
        r.work_group[i] = std::max(1u, o.block[i]);
    }
    if (Status s = check_compiled_size(info, r.work_group); !s) return context->fail(s);
    uint64_t dynamic_lds = uint64_t{o.dynamic_lds} + out.block.dynamic_lds;
    uint64_t lds = dynamic_lds + info.descriptor.group_segment_fixed_size;
    r.group_segment_size = static_cast<uint32_t>(std::min<uint64_t>(lds, UINT32_MAX));
    r.private_segment_size = info.descriptor.private_segment_fixed_size;
    if (kernel->loaded->dynamic_call_stack)
        r.private_segment_size +=
            o.dynamic_stack_bytes ? o.dynamic_stack_bytes : default_dynamic_stack;
    r.timeout_ns = o.timeout_ns;
    r.instruction_limit = o.instruction_limit;
    r.schedule_seed = o.schedule_seed;
    r.cooperative = o.cooperative;
    if (const wj_status status =
            read_watching(context, o.hooks, o.keep_waves, r.hooks, r.kept_waves);
        status != WJ_OK)
        return status;

    runtime::HiddenValues& hidden = out.hidden;
    hidden.grid = r.grid;
    hidden.work_group = r.work_group;
    std::copy_n(o.global_offset, 3, hidden.global_offset.begin());
    if (!o.argument_count) hidden.given = o.packed_size;
    hidden.dynamic_lds = static_cast<uint32_t>(std::min<uint64_t>(dynamic_lds, UINT32_MAX));
    hidden.layout = o.hidden_layout == WJ_HIDDEN_AUTO     ? kernel->layout
                    : o.hidden_layout == WJ_HIDDEN_LIBCLC ? runtime::HiddenLayout::Libclc
                                                          : runtime::HiddenLayout::Standard;
    if (hidden.layout == runtime::HiddenLayout::Unknown)
        return context->fail(
            WJ_INVALID_ARGUMENT,
            "kernel '" + info.name +
                "' may read implicit arguments, and neither its code nor the functions that it "
                "calls show whether in LLVM's layout (ROCm's device libraries) or in libclc's: set "
                "hidden_layout to WJ_HIDDEN_STANDARD or WJ_HIDDEN_LIBCLC (wavejit launch "
                "--hidden-layout standard|libclc)");
    hidden.queue_ptr = context->device->default_queue();
    return WJ_OK;
}

namespace {

wj_status submit(wj_kernel* kernel, const wj_launch_options* options, bool caller_runs,
                 wj_dispatch** out) {
    wj_context* context = kernel->module->context;
    Launch launch;
    if (const wj_status status = make_launch(kernel, options, launch); status != WJ_OK)
        return status;
    auto d = std::make_unique<wj_dispatch>();
    d->context = context;
    d->keeps_waves = launch.options.keep_waves != WJ_KEEP_NO_WAVES;
    const auto& formats = kernel->module->module->object().metadata.printf;
    if (runtime::PrintfBuffer::wanted(*kernel->info, formats)) {
        auto buffer = runtime::PrintfBuffer::make(context->device->memory(), formats);
        if (!buffer) return context->fail(buffer.status());
        d->printf.emplace(std::move(*buffer));
        d->print = launch.options.print, d->print_context = launch.options.print_context;
        launch.hidden.printf_buffer = d->printf->address();
    }
    capture_if_wanted(*kernel, launch);
    runtime::fill_hidden_arguments(*kernel->info, launch.hidden, launch.block.bytes);
    launch.request.arguments = launch.block.bytes;
    launch.request.caller_runs = caller_runs;
    auto started = context->device->dispatch(launch.request, {}, kernel->module->module);
    if (!started) return context->fail(started.status());
    d->dispatch = *started;
    if (d->keeps_waves) context->stopped.add(d.get());
    *out = d.release();
    return WJ_OK;
}

}  // namespace

wj_status wj::c_api::outcome(wj_dispatch* d) {
    const runtime::DispatchResult& result = d->dispatch->result();
    if (!d->keeps_waves || result.code != Code::Timeout) d->flush_print();
    if (result.code == Code::Ok) return WJ_OK;
    return d->context->fail(result.fault);
}

wj_result wj::c_api::to_c_result(const runtime::DispatchResult& r) {
    wj_result c{};
    c.status = to_c(r.code);
    c.work_groups = r.work_groups;
    c.waves = r.waves;
    c.wave_instructions = r.wave_instructions;
    c.start_ns = r.start_ns;
    c.end_ns = r.end_ns;
    return c;
}

const KeptFinding* wj::c_api::keep_fault(const runtime::DispatchResult& result,
                                         std::unique_ptr<KeptFinding>& kept) {
    if (result.code == Code::Ok) return nullptr;
    if (!kept) {
        auto made = std::make_unique<KeptFinding>();
        made->record = result.fault;
        made->record.make_texts();
        made->report = made->record.text();
        kept = std::move(made);
    }
    return kept.get();
}

wj_status wj::c_api::write_fault(wj_context* context, const runtime::DispatchResult& result,
                                 std::unique_ptr<KeptFinding>& kept, wj_fault* fault) {
    const KeptFinding* const told = keep_fault(result, kept);
    if (!told) return WJ_NOT_FOUND;
    const wj_fault f = to_c_fault(told->record, told->report);
    return write_struct(fault, f) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
}

wj_status wj::c_api::write_fault_data(wj_context* context, const runtime::DispatchResult& result,
                                      wj_fault_data* data) {
    if (result.code == Code::Ok) return WJ_NOT_FOUND;
    const runtime::FaultRecord& r = result.fault;
    wj_fault_data d{};
    d.status = to_c(r.code);
    d.access = static_cast<wj_access>(r.exit.access);
    d.access_bytes = r.exit.access_bytes;
    d.wave = r.wave;
    std::copy_n(r.work_group.begin(), 3, d.work_group);
    d.lanes_are_exact = r.lanes_are_exact;
    d.pc = r.exit.pc;
    d.kernel_offset = r.kernel_offset;
    d.address = r.exit.address;
    d.lane_mask = r.exit.lane_mask;
    d.addresses = r.addresses.empty() ? nullptr : r.addresses.data();
    d.number = r.number;
    return write_struct(data, d) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
}

wj_fault wj::c_api::to_c_fault(const runtime::FaultRecord& r, const std::string& report) {
    wj_fault f{};
    f.status = to_c(r.code);
    f.message = r.message.c_str();
    f.report = report.c_str();
    f.kernel = r.kernel.c_str();
    f.instruction = r.instruction.c_str();
    f.source = r.source.c_str();
    f.memory = r.memory.c_str();
    f.pc = r.exit.pc;
    f.kernel_offset = r.kernel_offset;
    f.word_count = static_cast<uint32_t>(std::min<size_t>(r.words.size(), 4));
    std::copy_n(r.words.begin(), f.word_count, f.words);
    f.access = static_cast<wj_access>(r.exit.access);
    f.access_bytes = r.exit.access_bytes;
    f.address = r.exit.address;
    f.lane_mask = r.exit.lane_mask;
    std::copy_n(r.work_group.begin(), 3, f.work_group);
    f.wave = r.wave;
    f.check = r.check.c_str();
    f.key = r.key.c_str();
    f.dispatches = r.occurrences;
    return f;
}

extern "C" {

wj_status wj_module_load(wj_context* context, const void* data, size_t size, wj_module** module) {
    return guarded(context, [&] {
        if (!module || (!data && size))
            return context->fail(WJ_INVALID_ARGUMENT, "data or module is NULL");
        *module = nullptr;
        return load(context, {static_cast<const std::byte*>(data), size}, "the code object",
                    module);
    });
}

wj_status wj_module_load_file(wj_context* context, const char* path, wj_module** module) {
    return guarded(context, [&] {
        if (!module || !path) return context->fail(WJ_INVALID_ARGUMENT, "path or module is NULL");
        *module = nullptr;
        auto file = map_file(path);
        if (!file) return context->fail(file.status());
        return load(context, file->bytes, path, module);
    });
}

void wj_module_unload(wj_module* module) {
    if (!module || (module->context && refused_in_callback(module->context))) return;
    delete module;
}

size_t wj_module_kernel_count(wj_module* module) {
    return module ? module->kernels.size() : 0;
}

wj_kernel* wj_module_kernel_at(wj_module* module, size_t index) {
    return module && index < module->kernels.size() ? &module->kernels[index] : nullptr;
}

wj_status wj_module_get_kernel(wj_module* module, const char* name, wj_kernel** kernel) {
    if (!module) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(module->context, [&] {
        if (!kernel || !name)
            return module->context->fail(WJ_INVALID_ARGUMENT, "name or kernel is NULL");
        *kernel = nullptr;
        const runtime::LoadedKernel* found = module->module->find_kernel(name);
        if (!found) {
            std::string have;
            size_t count = 0;
            for (const wj_kernel& k : module->kernels) {
                if (++count > 20) {
                    have += ", ...";
                    break;
                }
                have += (have.empty() ? "" : ", ") + k.loaded->name;
            }
            return module->context->fail(WJ_NOT_FOUND, std::string("no kernel '") + name +
                                                           "' in the code object; it has: " +
                                                           (have.empty() ? "none" : have));
        }
        *kernel = &module->kernels[static_cast<size_t>(found - module->module->kernels().data())];
        return WJ_OK;
    });
}

wj_status wj_module_get_variable(wj_module* module, const char* name, uint64_t* address,
                                 uint64_t* size) {
    if (!module) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(module->context, [&] {
        if (!name) return module->context->fail(WJ_INVALID_ARGUMENT, "name is NULL");
        for (const auto& v : module->module->variables()) {
            if (v.name != name) continue;
            if (address) *address = v.address;
            if (size) *size = v.size;
            return WJ_OK;
        }
        return module->context->fail(WJ_NOT_FOUND,
                                     std::string("no variable '") + name + "' in the code object");
    });
}

wj_status wj_kernel_get_info(wj_kernel* kernel, wj_kernel_info* info) {
    if (!kernel) return WJ_INVALID_ARGUMENT;
    wj_context* context = kernel->module->context;
    return guarded_in_callbacks(context, [&] {
        const KernelInfo& k = *kernel->info;
        wj_kernel_info i{};
        i.name = kernel->loaded->name.c_str();
        i.kernel_object = kernel->loaded->kernel_object;
        i.entry = kernel->loaded->entry;
        i.code_size = k.code_size;
        i.argument_count = static_cast<uint32_t>(k.metadata.args.size());
        i.explicit_argument_count = runtime::explicit_argument_count(k);
        i.kernarg_size = kernel->loaded->kernarg_size;
        i.kernarg_align = kernel->loaded->kernarg_align;
        i.static_lds = k.descriptor.group_segment_fixed_size;
        i.private_bytes = k.descriptor.private_segment_fixed_size;
        i.vgprs = k.descriptor.arch_vgpr_count;
        i.agprs = k.descriptor.agpr_count;
        i.sgprs = k.descriptor.sgpr_count;
        i.max_work_group_size = k.metadata.max_flat_workgroup_size;
        std::copy_n(k.metadata.reqd_workgroup_size.begin(), 3, i.required_work_group_size);
        i.has_metadata = k.has_metadata;
        i.dynamic_call_stack = kernel->loaded->dynamic_call_stack;
        return write_struct(info, i) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

wj_status wj_kernel_get_argument(wj_kernel* kernel, uint32_t index, wj_argument_info* info) {
    if (!kernel) return WJ_INVALID_ARGUMENT;
    wj_context* context = kernel->module->context;
    return guarded_in_callbacks(context, [&] {
        const auto& args = kernel->info->metadata.args;
        if (index >= args.size())
            return context->fail(WJ_INVALID_ARGUMENT, "kernel '" + kernel->info->name + "' has " +
                                                          std::to_string(args.size()) +
                                                          " arguments");
        const KernelArg& a = args[index];
        wj_argument_info i{};
        i.name = a.name.c_str();
        i.type_name = a.type_name.c_str();
        i.kind = value_kind_name(a.kind);
        i.offset = a.offset;
        i.bytes = a.size;
        i.hidden = is_hidden(a.kind);
        i.local = a.kind == ValueKind::DynamicSharedPointer;
        return write_struct(info, i) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

wj_status wj_dispatch_submit(wj_kernel* kernel, const wj_launch_options* options,
                             wj_dispatch** dispatch) {
    if (!kernel) return WJ_INVALID_ARGUMENT;
    return guarded(kernel->module->context, [&] {
        if (!dispatch)
            return kernel->module->context->fail(WJ_INVALID_ARGUMENT, "dispatch is NULL");
        *dispatch = nullptr;
        return submit(kernel, options, false, dispatch);
    });
}

wj_status wj_dispatch_wait(wj_dispatch* dispatch) {
    if (!dispatch) return WJ_INVALID_ARGUMENT;
    return guarded(dispatch->context, [&] {
        for (;;) {  // another thread may make it go on meanwhile
            dispatch->dispatch->wait();
            std::lock_guard lock(dispatch->resume_mutex);
            if (dispatch->dispatch->done()) return outcome(dispatch);
        }
    });
}

int wj_dispatch_done(wj_dispatch* dispatch) {
    return dispatch && dispatch->dispatch->done();
}

wj_status wj_dispatch_wait_for(wj_dispatch* dispatch, uint64_t timeout_ns) {
    if (!dispatch) return WJ_INVALID_ARGUMENT;
    return guarded(dispatch->context, [&] {
        if (!dispatch->dispatch->wait_for(timeout_ns)) return WJ_NOT_READY;
        const std::unique_lock lock(dispatch->resume_mutex, std::try_to_lock);
        return lock && dispatch->dispatch->done() ? outcome(dispatch) : WJ_NOT_READY;
    });
}

wj_status wj_dispatch_get_progress(wj_dispatch* dispatch, uint64_t* groups_done,
                                   uint64_t* groups_total) {
    if (!dispatch || !groups_done || !groups_total) return WJ_INVALID_ARGUMENT;
    dispatch->dispatch->progress(*groups_done, *groups_total);
    return WJ_OK;
}

void wj_dispatch_cancel(wj_dispatch* dispatch) {
    if (dispatch && !dispatch->context->device->left_behind()) dispatch->dispatch->cancel();
}

wj_status wj_dispatch_get_result(wj_dispatch* dispatch, wj_result* result) {
    if (!dispatch) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(dispatch->context, [&] {
        if (!dispatch->dispatch->done()) return WJ_NOT_READY;
        bool good = write_struct(result, to_c_result(dispatch->dispatch->result()));
        return good ? WJ_OK : dispatch->context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

wj_status wj_dispatch_get_fault(wj_dispatch* dispatch, wj_fault* fault) {
    if (!dispatch) return WJ_INVALID_ARGUMENT;
    wj_context* context = dispatch->context;
    return guarded_in_callbacks(context, [&] {
        if (!dispatch->dispatch->done()) return WJ_NOT_READY;
        return write_fault(context, dispatch->dispatch->result(), dispatch->fault, fault);
    });
}

wj_status wj_dispatch_get_fault_data(wj_dispatch* dispatch, wj_fault_data* data) {
    if (!dispatch) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(dispatch->context, [&] {
        if (!dispatch->dispatch->done()) return WJ_NOT_READY;
        return write_fault_data(dispatch->context, dispatch->dispatch->result(), data);
    });
}

void wj_dispatch_release(wj_dispatch* dispatch) {
    if (!dispatch || refused_in_callback(dispatch->context)) return;
    delete dispatch;
}

wj_status wj_launch(wj_kernel* kernel, const wj_launch_options* options, wj_result* result) {
    if (!kernel) return WJ_INVALID_ARGUMENT;
    return guarded(kernel->module->context, [&] {
        wj_dispatch* raw = nullptr;
        wj_status status = submit(kernel, options, true, &raw);
        if (status != WJ_OK) return status;
        std::unique_ptr<wj_dispatch> dispatch(raw);
        dispatch->dispatch->wait();
        if (result && !write_struct(result, to_c_result(dispatch->dispatch->result())))
            return dispatch->context->fail(WJ_INVALID_ARGUMENT, bad_size);
        return outcome(raw);
    });
}

}  // extern "C"
