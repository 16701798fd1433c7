// What `wavejit launch` and `difftest` make a launch of.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/captured.h"
#include "tools/cli.h"
#include "tools/launch_args.h"

namespace wj::tools {

struct LaunchFlags {
    std::string file, kernel, grid = "1", groups, block = "64", dynamic_lds = "0";
    wj_hidden_layout hidden_layout = WJ_HIDDEN_AUTO;
    std::vector<std::string> args;
    std::string packed;
    double timeout = 0;
    uint64_t limit = 0;
    // file_is: what the file may be.
    void add(CLI::App& app, const std::string& file_is);
    LaunchLimits limits() const;
};

struct Free {
    void operator()(wj_context* c) const { wj_context_destroy(c); }
    void operator()(wj_module* m) const { wj_module_unload(m); }
    void operator()(wj_dispatch* d) const { wj_dispatch_release(d); }
};

// A context with the kernel and its arguments; fails with what is wrong.
class LaunchSetup {
public:
    // The target is WAVEJIT_TARGET, else the one that the file has code for.
    LaunchSetup(const LaunchFlags& flags, wj_context_options options);

    wj_context* context() const { return context_.get(); }
    wj_kernel* kernel() const { return kernel_; }
    const wj_launch_options& options() const { return options_; }
    const std::vector<LaunchArg>& args() const { return args_; }
    void check(wj_status status) const {
        if (status != WJ_OK) fail(wj_last_error(context_.get()));
    }
    void capture(const std::string& path) const {
        check(wj_capture_write(kernel_, &options_, path.c_str()));
    }

private:
    void choose_kernel(const LaunchFlags& flags);
    void set_sizes(const LaunchFlags& flags);

    std::unique_ptr<wj_context, Free> context_;
    std::unique_ptr<wj_module, Free> module_;
    wj_kernel* kernel_ = nullptr;
    std::vector<LaunchArg> args_;
    std::vector<wj_argument> values_;
    std::vector<uint8_t> packed_;
    wj_launch_options options_{};
};

}  // namespace wj::tools
