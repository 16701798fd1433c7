// wavejit launch <code object> --kernel K ...: one kernel, through the C interface.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "tools/cli.h"
#include "tools/code_file.h"
#include "tools/launch_args.h"

namespace wj::tools {
namespace {

struct Options {
    DeviceFlags device;
    std::string file, kernel, grid = "1", groups, block = "64", dynamic_lds = "0";
    wj_hidden_layout hidden_layout = WJ_HIDDEN_AUTO;
    std::vector<std::string> args;
    std::string packed;
    double timeout = 0;
    uint64_t limit = 0;
    uint32_t repeat = 1;
    bool stats = false;
    uint32_t hot = 0;
};

// A line on the terminal while a long launch runs.
wj_status wait_with_progress(wj_dispatch* dispatch) {
    if (!isatty(STDERR_FILENO)) return wj_dispatch_wait(dispatch);
    double seconds = 0;
    bool shown = false;
    wj_status status;
    while ((status = wj_dispatch_wait_for(dispatch, 250'000'000)) == WJ_NOT_READY) {
        seconds += 0.25;
        if (seconds < 1) continue;
        uint64_t done = 0, total = 0;
        if (wj_dispatch_get_progress(dispatch, &done, &total) != WJ_OK) continue;
        fmt::print(stderr, "\r{} of {} work-groups ({:.0f} %), {:.1f} s ", done, total,
                   100.0 * static_cast<double>(done) / static_cast<double>(total), seconds);
        shown = true;
    }
    if (shown) fmt::print(stderr, "\r{:60}\r", "");
    return status;
}

void print_stats(wj_context* context) {
    wj_counters c = WJ_INIT(wj_counters);
    if (wj_context_get_counters(context, &c) != WJ_OK) return;
    double seconds = static_cast<double>(c.execution_ns) * 1e-9;
    fmt::print(
        "dispatches            {}\nwork-groups           {}\nwaves                 {}\nwave "
        "instructions     {}\n"
        "execution             {:.6f} s ({:.1f} million wave instructions per second)\n"
        "translated            {} blocks, {} instructions, {} bytes of host code\n"
        "translation           {:.6f} s\n"
        "on-disk cache         {} blocks loaded, {} stored\ninterpreted           {} wave "
        "instructions\n",
        c.dispatches, c.work_groups, c.waves, c.wave_instructions, seconds,
        seconds > 0 ? static_cast<double>(c.wave_instructions) / seconds * 1e-6 : 0.0,
        c.blocks_translated, c.instructions_translated, c.host_code_bytes,
        static_cast<double>(c.translation_ns) * 1e-9, c.blocks_loaded, c.blocks_stored,
        c.interpreter_fallbacks);
}

void print_hot_blocks(wj_context* context, uint32_t most) {
    size_t size = 0;
    if (wj_context_get_hot_blocks(context, most, nullptr, 0, &size) != WJ_OK) return;
    std::string text(size, 0);
    if (wj_context_get_hot_blocks(context, most, text.data(), size, nullptr) != WJ_OK) return;
    fmt::print("{}", text.c_str());
}

struct Free {
    void operator()(wj_context* c) const { wj_context_destroy(c); }
    void operator()(wj_module* m) const { wj_module_unload(m); }
    void operator()(wj_dispatch* d) const { wj_dispatch_release(d); }
};

int launch(const Options& o) {
    if (!(o.timeout >= 0) || !std::isfinite(o.timeout) || o.timeout > 1e9)
        fail("--timeout takes seconds, for instance 10 or 0.5", exit_usage);
    o.device.to_environment();
    const char* target = std::getenv("WAVEJIT_TARGET");
    if (!target || !*target)
        if (const std::string chosen = choose_target(o.file); !chosen.empty())
            setenv("WAVEJIT_TARGET", chosen.c_str(), 1);
    wj_context_options options = WJ_INIT(wj_context_options);
    options.use_environment = 1;
    options.cache_translations = 1;
    options.count_host_instructions = o.hot != 0;
    char error[1024] = "";
    wj_context* raw = nullptr;
    if (wj_context_create(&options, &raw, error, sizeof(error)) != WJ_OK) fail(error, exit_usage);
    std::unique_ptr<wj_context, Free> context(raw);
    auto check = [&](wj_status status) {
        if (status != WJ_OK) fail(wj_last_error(context.get()));
    };
    wj_module* raw_module = nullptr;
    check(wj_module_load_file(context.get(), o.file.c_str(), &raw_module));
    std::unique_ptr<wj_module, Free> module(raw_module);
    wj_kernel* kernel = nullptr;
    if (o.kernel.empty()) {
        if (wj_module_kernel_count(module.get()) != 1)
            fail(fmt::format(
                     "{} has {} kernels: choose one with --kernel (`wavejit info` lists them)",
                     o.file, wj_module_kernel_count(module.get())),
                 exit_usage);
        kernel = wj_module_kernel_at(module.get(), 0);
    } else {
        check(wj_module_get_kernel(module.get(), o.kernel.c_str(), &kernel));
    }
    std::vector<LaunchArg> args;
    std::vector<wj_argument> values;
    for (const std::string& text : o.args) args.push_back(LaunchArg::make(context.get(), text));
    for (const LaunchArg& arg : args) values.push_back(arg.argument());

    wj_launch_options launch = WJ_INIT(wj_launch_options);
    parse_dims(o.block, "--block", launch.block);
    parse_dims(o.groups.empty() ? o.grid : o.groups, o.groups.empty() ? "--grid" : "--groups",
               launch.grid);
    for (int i = 0; i < 3 && !o.groups.empty(); i++) {
        uint64_t items = uint64_t{launch.grid[i]} * launch.block[i];
        if (items > UINT32_MAX)
            fail("--groups: more than 2^32 - 1 work-items in a dimension", exit_usage);
        launch.grid[i] = static_cast<uint32_t>(items);
    }
    launch.arguments = values.data();
    launch.argument_count = static_cast<uint32_t>(values.size());
    std::vector<uint8_t> packed = parse_hex(o.packed, "--packed");
    launch.packed_arguments = packed.empty() ? nullptr : packed.data();
    launch.packed_size = packed.size();
    launch.dynamic_lds = static_cast<uint32_t>(
        std::min<uint64_t>(parse_size(o.dynamic_lds, "--dynamic-lds"), UINT32_MAX));
    launch.timeout_ns = static_cast<uint64_t>(o.timeout * 1e9);
    launch.instruction_limit = o.limit;
    launch.hidden_layout = o.hidden_layout;

    for (uint32_t i = 0; i < std::max(1u, o.repeat); i++) {
        wj_dispatch* raw_dispatch = nullptr;
        check(wj_dispatch_submit(kernel, &launch, &raw_dispatch));
        std::unique_ptr<wj_dispatch, Free> dispatch(raw_dispatch);
        check(wait_with_progress(dispatch.get()));
    }
    bool equal = true;
    for (const LaunchArg& arg : args) equal &= arg.finish(context.get());
    if (o.stats) print_stats(context.get());
    if (o.hot) print_hot_blocks(context.get(), o.hot);
    return equal ? exit_ok : exit_mismatch;
}

}  // namespace

void add_launch(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand("launch", "run one kernel of a code object");
    auto o = std::make_shared<Options>();
    o->device.add(*sub);
    sub->add_option("file", o->file, "code object, offload bundle or HIP program")->required();
    sub->add_option("--kernel", o->kernel, "kernel name (may be left out when there is one)");
    sub->add_option("--grid", o->grid, "work-items, x[,y[,z]]");
    sub->add_option("--groups", o->groups, "work-groups, x[,y[,z]], instead of --grid");
    sub->add_option("--block", o->block, "work-items of a work-group, x[,y[,z]]");
    sub->add_option(
           "--arg", o->args,
           "one per argument, in order: buf:SIZE[:fill=BYTE|word=U32|iota=u32|iota=f32|file=PATH]"
           "[:dump=PATH][:compare=PATH][:print=COUNTxTYPE], i8: u8: i16: u16: i32: u32: i64: u64: "
           "f32: "
           "f64:VALUE, hex:BYTES, local:SIZE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub->add_option("--packed", o->packed,
                    "instead of --arg: the explicit arguments' bytes by offset, in hex");
    sub->add_option("--dynamic-lds", o->dynamic_lds, "bytes of dynamic LDS");
    sub->add_option("--timeout", o->timeout, "seconds");
    sub->add_option("--limit", o->limit, "wave instructions");
    sub->add_option(
           "--hidden-layout", o->hidden_layout,
           "OpenCL C of code objects V5 and V6: which implicit arguments the kernel reads, "
           "where its code does not show it: standard (LLVM, ROCm's libraries) or libclc")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, wj_hidden_layout>{{"auto", WJ_HIDDEN_AUTO},
                                                    {"standard", WJ_HIDDEN_STANDARD},
                                                    {"libclc", WJ_HIDDEN_LIBCLC}}));
    sub->add_option("--repeat", o->repeat, "launches, one after the other");
    sub->add_flag("--stats", o->stats, "print counters at the end");
    sub->add_option(
        "--hot", o->hot,
        "count host instructions and print this many blocks with the most of them, guest "
        "and host code side by side (slow)");
    sub->callback([=, &result] { result = launch(*o); });
}

}  // namespace wj::tools
