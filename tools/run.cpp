// wavejit run <program> [args]: starts a HIP program on the emulated GPU. The program finds our
// libhsa-runtime64.so.1 first through LD_LIBRARY_PATH.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/target.h"
#include "runtime/not_emulated.h"
#include "runtime/program_options.h"
#include "runtime/program_target.h"
#include "tools/cli.h"
#include "tools/code_file.h"
#include "tools/drop_in.h"

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
        fail(path +
             " is not executable; a .hip source is compiled first: hipcc --offload-arch=gfx90a");
}

// What the dynamic loader finds for a program, and its word for the first library that it does not.
struct Libraries {
    std::vector<std::string> paths;
    std::string missing;
};

Libraries libraries_of(const std::string& program) {
    std::string command = "/lib64/ld-linux-x86-64.so.2 --list '";
    for (const char c : program) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    FILE* loader = popen((command + "' 2>&1").c_str(), "r");
    if (!loader) return {};
    std::string text;
    for (int c; (c = std::fgetc(loader)) != EOF;) text += static_cast<char>(c);
    pclose(loader);
    Libraries found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto between = [&](const std::string& before, const std::string& behind) {
            const size_t begin = line.find(before), end = line.rfind(behind);
            if (begin == std::string::npos || end == std::string::npos) return std::string();
            return line.substr(begin + before.size(), end - begin - before.size());
        };
        // "name => path (address)", or its path alone if the program names that.
        for (const char* before : {" => ", "\t"})
            if (std::string path = between(before, " (0x"); path.starts_with('/')) {
                found.paths.push_back(std::move(path));
                break;
            }
        if (found.missing.empty())
            found.missing = between("error while loading shared libraries: ",
                                    ": cannot open shared object file");
    }
    return found;
}

void check_libraries(const std::string& program, const std::string& name) {
    if (name.empty()) return;
    const std::string hip = "libamdhip64.so.";
    fail(program + " needs " + name + ", which the dynamic loader does not find: install it" +
         (name.starts_with(hip) ? " (Debian: libamdhip64-" + name.substr(hip.size()) +
                                      "; ./wj rocm has trees of the releases that have it)"
                                : "") +
         ", or put its folder into LD_LIBRARY_PATH");
}

// Of the program, else of the first library of its own that holds code. Those of the system hold
// code for all processors, and hundreds of megabytes of it.
std::string chosen_target(const std::string& program, const Libraries& libraries) {
    std::string target = choose_target(program);
    for (const std::string& path : libraries.paths) {
        const bool system =
            path.starts_with("/usr/") || path.starts_with("/lib") || path.starts_with("/opt/rocm");
        if (target.empty() && !system) target = choose_target(path);
    }
    return target;
}

// A GPU is made as the program will make it, which would only find that there is none.
void check_device() {
    auto options = runtime::ProgramOptions::from_environment({});
    if (!options) fail(options.status().message(), exit_usage);
    options->device.threads = 1;
    const auto device = runtime::Device::create(options->device);
    if (!device) fail(device.status().message(), exit_usage);
}

void prepend(const char* variable, const std::string& value, char separator) {
    const char* old = std::getenv(variable);
    setenv(variable, old && *old ? (value + separator + old).c_str() : value.c_str(), 1);
}

}  // namespace

std::vector<std::string> take_program_arguments(const CLI::App& app,
                                                std::vector<std::string>& words) {
    if (words.empty() || words[0] != "run") return {};
    const CLI::App* const run = app.get_subcommand("run");
    size_t at = 1;
    for (; at < words.size() && words[at].starts_with('-') && words[at] != "--"; at++) {
        const size_t equals = words[at].find('=');
        const CLI::Option* option = run->get_option_no_throw(words[at].substr(0, equals));
        if (option && option->get_items_expected_max() && equals == std::string::npos) at++;
    }
    if (at >= words.size()) return {};
    // Behind the mark a word is the program's name, whatever it looks like.
    if (words[at] != "--") words.insert(words.begin() + static_cast<ptrdiff_t>(at), "--");
    const auto rest = words.begin() + static_cast<ptrdiff_t>(std::min(at + 2, words.size()));
    std::vector<std::string> arguments(rest, words.end());
    words.erase(rest, words.end());
    return arguments;
}

void add_run(CLI::App& app, const std::vector<std::string>& arguments, int& result) {
    auto* sub = app.add_subcommand("run", "run a HIP program on the emulated GPU");
    auto flags = std::make_shared<DeviceFlags>();
    auto name = std::make_shared<std::string>();
    auto own = std::make_shared<std::map<std::string, std::string>>();
    const auto add_own = [&](const char* option, const char* variable, const char* what) {
        return sub->add_option_function<std::string>(
            option, [=](const std::string& value) { (*own)[variable] = value; }, what);
    };
    flags->add(*sub);
    add_own("--agents", "WAVEJIT_AGENTS", "number of emulated GPUs")->check(CLI::Range(1, 64));
    add_own("--timeout", "WAVEJIT_TIMEOUT", "seconds after which a kernel is stopped with a report")
        ->check(CLI::Range(0.001, 1e9));
    sub->add_flag_callback(
        "--stats", [=] { (*own)["WAVEJIT_STATS"] = "1"; },
        "print waves, instructions and times at the end");
    add_own("--hot", "WAVEJIT_HOT",
            "count host instructions and print this many blocks of each GPU with the most of them "
            "(slow)")
        ->check(CLI::Range(1, 1 << 20));
    auto* const captures = add_own("--capture", "WAVEJIT_CAPTURE",
                                   "folder for capture files of launches, which replay takes");
    captures->envname("WAVEJIT_CAPTURE");
    add_own("--capture-kernel", "WAVEJIT_CAPTURE_KERNEL",
            "pattern for the names of kernels whose launches are captured (default: *)")
        ->needs(captures);
    add_own("--capture-count", "WAVEJIT_CAPTURE_COUNT",
            "launches of each kernel that are captured (default: 1)")
        ->check(CLI::Range(1, 1 << 20))
        ->needs(captures);
    sub->add_option("program", *name,
                    "HIP program; all that follows it are its own arguments, options too")
        ->required();
    sub->callback([=, &arguments, &result] {
        const std::string program = find_program(*name);
        check_program(program);
        flags->to_environment();
        for (const auto& [variable, value] : *own) setenv(variable.c_str(), value.c_str(), 1);
        const std::string folder = drop_in_directory().string();
        prepend("LD_LIBRARY_PATH", folder, ':');
        const Libraries libraries = libraries_of(program);
        const char* target = std::getenv("WAVEJIT_TARGET");
        if (!target || !*target) {
            std::string chosen = chosen_target(program, libraries);
            if (!chosen.empty()) setenv("WAVEJIT_TARGET", chosen.c_str(), 1);
        } else if (!runtime::emulated_target(target)) {
            fail(runtime::not_emulated(target), exit_usage);
        } else {
            check(runtime::check_target(program, target));
        }
        check_device();
        check_libraries(program, libraries.missing);
        std::vector<std::string> words = arguments;
        std::vector<char*> argv{name->data()};
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        std::fflush(nullptr);
        execv(program.c_str(), argv.data());
        fail(program + " could not be started: " + std::strerror(errno));
        result = exit_failed;
    });
}

}  // namespace wj::tools
