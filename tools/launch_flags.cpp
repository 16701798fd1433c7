#include "tools/launch_flags.h"

#include <algorithm>
#include <cstdlib>

#include "tools/code_file.h"

namespace wj::tools {

void LaunchFlags::add(CLI::App& app, const std::string& file_is) {
    app.add_option("file", file, file_is)->required();
    app.add_option("--kernel", kernel, "kernel name (may be left out when there is one)");
    auto* const items = app.add_option("--grid", grid, "work-items, x[,y[,z]]");
    app.add_option("--groups", groups, "work-groups, x[,y[,z]], instead of --grid")
        ->excludes(items);
    app.add_option("--block", block, "work-items of a work-group, x[,y[,z]]");
    auto* const in_order =
        app.add_option("--arg", args,
                       "one per argument, in order: "
                       "buf:SIZE[:fill=BYTE|word=U32|iota=u32|iota=f32|file=PATH]"
                       "[:dump=PATH][:compare=PATH][:print=COUNTxTYPE], i8: u8: i16: u16: i32: "
                       "u32: i64: u64: "
                       "f32: "
                       "f64:VALUE, hex:BYTES, local:SIZE")
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--packed", packed,
                   "instead of --arg: the explicit arguments' bytes by offset, in hex")
        ->excludes(in_order);
    app.add_option("--dynamic-lds", dynamic_lds, "bytes of dynamic LDS");
    add_timeout(app, timeout, "seconds after which a launch is stopped");
    add_number(app, "--limit", limit, "wave instructions after which a launch is stopped");
    app.add_option("--hidden-layout", hidden_layout,
                   "OpenCL C of code objects V5 and V6: which implicit arguments the kernel reads, "
                   "where its code does not show it: standard (LLVM, ROCm's libraries) or libclc")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, wj_hidden_layout>{{"auto", WJ_HIDDEN_AUTO},
                                                    {"standard", WJ_HIDDEN_STANDARD},
                                                    {"libclc", WJ_HIDDEN_LIBCLC}}));
}

LaunchLimits LaunchFlags::limits() const {
    return {limit, to_nanoseconds(timeout)};
}

LaunchSetup::LaunchSetup(const LaunchFlags& flags, wj_context_options options) {
    const LaunchLimits limits = flags.limits();
    const char* target = std::getenv("WAVEJIT_TARGET");
    if (!target || !*target)
        if (const std::string chosen = choose_target(flags.file); !chosen.empty())
            setenv("WAVEJIT_TARGET", chosen.c_str(), 1);
    options.use_environment = 1;
    char error[1024] = "";
    wj_context* raw = nullptr;
    if (wj_context_create(&options, &raw, error, sizeof(error)) != WJ_OK) fail(error, exit_usage);
    context_.reset(raw);
    wj_module* module = nullptr;
    check(wj_module_load_file(raw, flags.file.c_str(), &module));
    module_.reset(module);
    choose_kernel(flags);
    for (const std::string& text : flags.args) args_.push_back(LaunchArg::make(raw, text));
    for (const LaunchArg& arg : args_) values_.push_back(arg.argument());
    options_.size = sizeof options_;
    set_sizes(flags);
    options_.arguments = values_.data();
    options_.argument_count = static_cast<uint32_t>(values_.size());
    packed_ = parse_hex(flags.packed, "--packed");
    options_.packed_arguments = packed_.empty() ? nullptr : packed_.data();
    options_.packed_size = packed_.size();
    options_.timeout_ns = limits.nanoseconds;
    options_.instruction_limit = limits.instructions;
    options_.hidden_layout = flags.hidden_layout;
}

void LaunchSetup::choose_kernel(const LaunchFlags& flags) {
    const size_t count = wj_module_kernel_count(module_.get());
    if (!flags.kernel.empty()) {
        check(wj_module_get_kernel(module_.get(), flags.kernel.c_str(), &kernel_));
    } else if (count == 1) {
        kernel_ = wj_module_kernel_at(module_.get(), 0);
    } else {
        fail(fmt::format("{} has {} kernels: choose one with --kernel (`wavejit info` lists them)",
                         flags.file, count),
             exit_usage);
    }
}

void LaunchSetup::set_sizes(const LaunchFlags& flags) {
    const bool groups = !flags.groups.empty();
    parse_dims(flags.block, "--block", options_.block);
    parse_dims(groups ? flags.groups : flags.grid, groups ? "--groups" : "--grid", options_.grid);
    for (int i = 0; i < 3 && groups; i++) {
        const uint64_t items = uint64_t{options_.grid[i]} * options_.block[i];
        if (items > UINT32_MAX)
            fail("--groups: more than 2^32 - 1 work-items in a dimension", exit_usage);
        options_.grid[i] = static_cast<uint32_t>(items);
    }
    options_.dynamic_lds = static_cast<uint32_t>(
        std::min<uint64_t>(parse_size(flags.dynamic_lds, "--dynamic-lds"), UINT32_MAX));
}

}  // namespace wj::tools
