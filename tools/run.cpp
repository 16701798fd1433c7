// wavejit run <program> [args]: starts a HIP program on the emulated GPU. Nothing is installed: the
// program finds our libhsa-runtime64.so.1 first through LD_LIBRARY_PATH.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "frontend/bundle.h"
#include "frontend/target.h"
#include "tools/cli.h"

namespace wj::tools {
namespace {

namespace fs = std::filesystem;

// As execvp looks for it.
std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    const char* path = std::getenv("PATH");
    std::string list = path ? path : "/usr/bin:/bin";
    for (size_t at = 0; at <= list.size();) {
        size_t end = list.find(':', at);
        if (end == std::string::npos) end = list.size();
        fs::path candidate = fs::path(list.substr(at, end - at)) / name;
        if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate))
            return candidate.string();
        at = end + 1;
    }
    fail("there is no program '" + name + "' in PATH; for one in this folder write ./" + name);
}

void check_program(const std::string& path) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0)
        fail(path + ": " + std::strerror(errno) +
             "; give the path of a HIP program that hipcc has built");
    if (S_ISDIR(info.st_mode)) fail(path + " is a directory, not a program");
    if (access(path.c_str(), X_OK) != 0)
        fail(path + " is not executable; for a .hip source use ./wj run, which compiles it first");
}

std::string library_directory() {
    const char* const places[] = {"../hsa", "../lib", ".", "lib"};
    for (const char* place : places) {
        fs::path directory = fs::path(own_directory()) / place;
        std::error_code error;
        if (fs::exists(directory / "libhsa-runtime64.so.1", error))
            return fs::weakly_canonical(directory, error).string();
    }
    fail("libhsa-runtime64.so.1 is not beside this tool (looked in ../hsa, ../lib and " +
         own_directory() + "); build the target hsa-runtime64");
}

// The best target that the program holds code for: the newest that HIP and wavejit both know.
std::string choose_target(const std::string& program) {
    auto found = find_code_objects_in_file(program);
    if (!found || found->empty()) return {};  // code may be in libraries: the default target
    static const char* const preference[] = {"gfx90a", "gfx908", "gfx906", "gfx900", "gfx904",
                                             "gfx909", "gfx90c", "gfx902", "gfx942", "gfx950"};
    for (const char* name : preference) {
        if (!find_target(name)) continue;
        const FoundCodeObject* best = nullptr;
        for (const FoundCodeObject& object : *found)
            if (object.target.processor && object.target.processor->name == name &&
                (!best || object.target.xnack == Feature::Any ||
                 object.target.xnack == Feature::Off))
                best = &object;
        if (best) return best->target.str();
    }
    std::string have;
    for (const FoundCodeObject& object : *found) {
        std::string name = object.target.str();
        if (have.find(name) == std::string::npos) have += (have.empty() ? "" : ", ") + name;
    }
    fail(program + " holds code for " + have + ", but emulated are " + supported_target_names() +
         "; recompile it with --offload-arch=gfx90a");
}

void prepend(const char* variable, const std::string& value, char separator) {
    const char* old = std::getenv(variable);
    setenv(variable, old && *old ? (value + separator + old).c_str() : value.c_str(), 1);
}

// rocminfo asks lsmod for the kernel driver and opens its device node before it loads anything.
void pretend_driver(const std::string& library_dir) {
    for (fs::path base : {fs::path(own_directory()), fs::path(library_dir)}) {
        if (!fs::exists(base / "shims" / "lsmod")) continue;
        prepend("PATH", (base / "shims").string(), ':');
        if (fs::exists(base / "shims" / "libwavejit-kfd.so"))
            prepend("LD_PRELOAD", (base / "shims" / "libwavejit-kfd.so").string(), ':');
        return;
    }
}

}  // namespace

void add_run(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand("run", "run a HIP program on the emulated GPU");
    auto flags = std::make_shared<DeviceFlags>();
    auto command = std::make_shared<std::vector<std::string>>();
    auto agents = std::make_shared<int>(0);
    auto timeout = std::make_shared<double>(0);
    auto stats = std::make_shared<bool>(false);
    auto hot = std::make_shared<uint32_t>(0);
    flags->add(*sub);
    sub->add_option("--agents", *agents, "number of emulated GPUs")->check(CLI::Range(1, 64));
    sub->add_option("--timeout", *timeout, "seconds after which a kernel is stopped with a report")
        ->check(CLI::Range(0.001, 1e9));
    sub->add_flag("--stats", *stats, "print waves, instructions and times at the end");
    sub->add_option(
        "--hot", *hot,
        "count host instructions and print this many blocks of each GPU with the most of "
        "them (slow)");
    sub->add_option("program", *command, "program and its arguments")->required();
    sub->prefix_command();
    sub->positionals_at_end(false);
    sub->callback([=, &result] {
        std::vector<std::string> words = *command;
        for (const std::string& extra : sub->remaining()) words.push_back(extra);
        std::string program = find_program(words[0]);
        check_program(program);
        flags->to_environment();
        if (*agents) setenv("WAVEJIT_AGENTS", std::to_string(*agents).c_str(), 1);
        if (*timeout > 0) setenv("WAVEJIT_TIMEOUT", std::to_string(*timeout).c_str(), 1);
        if (*stats) setenv("WAVEJIT_STATS", "1", 1);
        if (*hot) setenv("WAVEJIT_HOT", std::to_string(*hot).c_str(), 1);
        const char* target = std::getenv("WAVEJIT_TARGET");
        if (!target || !*target) {
            std::string chosen = choose_target(program);
            if (!chosen.empty()) setenv("WAVEJIT_TARGET", chosen.c_str(), 1);
        } else if (!find_target(target)) {
            fail(std::string("target '") + target + "' is not emulated; choose one of " +
                     supported_target_names(),
                 exit_usage);
        }
        std::string libraries = library_directory();
        prepend("LD_LIBRARY_PATH", libraries, ':');
        if (fs::path(program).filename() == "rocminfo") pretend_driver(libraries);
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        std::fflush(nullptr);
        execv(program.c_str(), argv.data());
        fail(program + " could not be started: " + std::strerror(errno));
        result = exit_failed;
    });
}

}  // namespace wj::tools
