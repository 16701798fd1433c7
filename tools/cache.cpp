// wavejit cache: the on-disk cache of translated code.
#include <unistd.h>

#include "backend_x64/cache_directory.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "tools/cli.h"

namespace wj::tools {
namespace {

int cache(bool clear) {
    runtime::DeviceOptions base;
    base.cache = true;
    runtime::report_unknown_variables();
    auto options = runtime::DeviceOptions::from_environment(base);
    check(options.status());
    std::string path = options->cache_directory;
    if (path.empty()) path = x64::CacheDirectory::default_path();
    if (path.empty()) fail("neither XDG_CACHE_HOME nor HOME names a directory");
    fmt::print("directory  {}{}\n", path, options->cache ? "" : " (off: WAVEJIT_CACHE=0)");
    x64::CacheDirectory directory(path);
    if (!directory.open(false)) {
        const bool there = access(path.c_str(), F_OK) == 0;
        fmt::print("{}\n", there ? "not used: it belongs to another user, or others may write it"
                                 : "empty");
        return there ? exit_failed : exit_ok;
    }
    const auto usage = clear ? directory.trim(0) : directory.usage();
    fmt::print("files      {}\nbytes      {}\n", usage.files, usage.bytes);
    return exit_ok;
}

}  // namespace

void add_cache(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand("cache", "show or clear the on-disk cache of translated code");
    auto clear = std::make_shared<bool>(false);
    sub->add_flag("--clear", *clear, "remove all files of it");
    sub->callback([=, &result] { result = cache(*clear); });
}

}  // namespace wj::tools
