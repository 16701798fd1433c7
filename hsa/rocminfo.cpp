// rocminfo looks for the kernel driver before it calls the runtime, and gives up without one. It
// has loaded this library by then: it is started anew with stand-ins for lsmod and for the driver's
// files (tools/shims).
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr char shim[] = "libwavejit-kfd.so";

void prepend(const char* variable, const std::string& value, char separator) {
    const char* old = std::getenv(variable);
    setenv(variable, old && *old ? (value + separator + old).c_str() : value.c_str(), 1);
}

// Beside the library where it is installed, else in the build tree.
fs::path shims() {
    Dl_info own;
    if (!dladdr(shim, &own)) return {};
    const fs::path here = fs::path(own.dli_fname).parent_path();
    std::error_code error;
    for (const char* place : {"shims", "../tools/shims"})
        if (fs::exists(here / place / shim, error)) return fs::absolute(here / place, error);
    return {};
}

[[gnu::constructor]] void start_rocminfo_anew() {
    if (std::strcmp(program_invocation_short_name, "rocminfo") != 0) return;
    const char* loaded = std::getenv("LD_PRELOAD");
    if (loaded && std::strstr(loaded, shim)) return;
    const fs::path folder = shims();
    if (folder.empty()) return;
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string words{std::istreambuf_iterator<char>(file), {}};
    std::vector<char*> arguments;
    for (size_t at = 0; at < words.size(); at += std::strlen(&words[at]) + 1)
        arguments.push_back(&words[at]);
    if (arguments.empty()) return;
    arguments.push_back(nullptr);
    prepend("LD_PRELOAD", (folder / shim).string(), ':');
    prepend("PATH", folder.string(), ':');
    execv("/proc/self/exe", arguments.data());
}

}  // namespace
