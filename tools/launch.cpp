// wavejit launch <code object> --kernel K ...: one kernel, through the C interface.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tools/cli.h"
#include "tools/launch_flags.h"

namespace wj::tools {
namespace {

struct Options {
    DeviceFlags device;
    LaunchFlags launch;
    uint64_t repeat = 1, hot = 0;
    bool stats = false;
    std::string capture;
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

void print_hot_blocks(wj_context* context, uint64_t most) {
    size_t size = 0;
    if (wj_context_get_hot_blocks(context, most, nullptr, 0, &size) != WJ_OK) return;
    std::string text(size, 0);
    if (wj_context_get_hot_blocks(context, most, text.data(), size, nullptr) != WJ_OK) return;
    fmt::print("{}", text.c_str());
}

int launch(const Options& o) {
    o.device.to_checked_environment();
    wj_context_options options = WJ_INIT(wj_context_options);
    options.cache_translations = 1;
    options.count_host_instructions = o.hot != 0;
    const LaunchSetup setup(o.launch, options);
    if (!o.capture.empty()) setup.capture(o.capture);
    for (uint64_t i = 0; i < o.repeat; i++) {
        wj_dispatch* raw = nullptr;
        setup.check(wj_dispatch_submit(setup.kernel(), &setup.options(), &raw));
        std::unique_ptr<wj_dispatch, Free> dispatch(raw);
        setup.check(wait_with_progress(dispatch.get()));
    }
    bool equal = true;
    for (const LaunchArg& arg : setup.args()) equal &= arg.finish(setup.context());
    if (o.stats) print_stats(setup.context());
    if (o.hot) print_hot_blocks(setup.context(), o.hot);
    return equal ? exit_ok : exit_mismatch;
}

}  // namespace

void add_launch(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand("launch", "run one kernel of a code object");
    auto o = std::make_shared<Options>();
    o->device.add(*sub);
    o->launch.add(*sub, "code object, offload bundle or HIP program");
    add_number(*sub, "--repeat", o->repeat, "launches, one after the other");
    sub->add_option("--capture", o->capture,
                    "capture file to write in front of the first launch (replay takes it)");
    sub->add_flag("--stats", o->stats, "print counters at the end");
    add_number(*sub, "--hot", o->hot,
               "count host instructions and print this many blocks with the most of them, guest "
               "and host code side by side (slow)");
    sub->callback([=, &result] { result = launch(*o); });
}

}  // namespace wj::tools
