// wavejit doctor: what the host offers, which engine is used, what is missing.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "backend_x64/host_listing.h"
#include "backend_x64/translator.h"
#include "frontend/debug_info.h"
#include "frontend/target.h"
#include "tools/cli.h"
#include "tools/drop_in.h"

namespace wj::tools {
namespace {

class Checkup {
public:
    void good(const std::string& what, const std::string& text) {
        fmt::print("  ok      {:<18}{}\n", what, text);
    }
    void note(const std::string& what, const std::string& text) {
        fmt::print("  note    {:<18}{}\n", what, text);
    }
    void bad(const std::string& what, const std::string& text, const std::string& cure) {
        fmt::print("  MISSING {:<18}{}\n          {:<18}-> {}\n", what, text, "", cure);
        failed = true;
    }
    bool failed = false;
};

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    return "unknown processor";
}

void check_host(Checkup& report) {
    report.note("processor", cpu_model());
    const std::string avx2 = x64::missing_features(x64::Isa::Avx2);
    const std::string avx512 = x64::missing_features(x64::Isa::Avx512);
    if (avx2.empty())
        report.good("AVX2 engine", "the host has what it needs");
    else
        report.bad("AVX2 engine", "the host lacks " + avx2,
                   "use WAVEJIT_ENGINE=interp, or another machine");
    if (avx512.empty())
        report.good("AVX-512 engine", "the host has what it needs");
    else
        report.note("AVX-512 engine", "not on this host (lacks " + avx512 + ")");
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    report.note("memory",
                fmt::format("{:.1f} GiB, {} processors", double(pages) * double(page) / (1 << 30),
                            sysconf(_SC_NPROCESSORS_ONLN)));
    // What the code cache does: the same pages once writable, once executable.
    void* p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool executable = p != MAP_FAILED && mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0;
    if (p != MAP_FAILED) munmap(p, 4096);
    if (executable)
        report.good("code memory", "executable mappings are allowed");
    else
        report.bad("code memory", "the system forbids executable mappings",
                   "use WAVEJIT_ENGINE=interp");
}

void check_engine(Checkup& report) {
    static constexpr const char* memories[] = {"identity", "checked", "window"};
    wj_context_options options = WJ_INIT(wj_context_options);
    options.use_environment = 1;
    char error[512] = "";
    wj_context* context = nullptr;
    if (wj_context_create(&options, &context, error, sizeof(error)) != WJ_OK) {
        report.bad("device", error, "correct the WAVEJIT_* variables");
        return;
    }
    wj_context_info info = WJ_INIT(wj_context_info);
    if (wj_context_get_info(context, &info) == WJ_OK)
        report.good("device", fmt::format("{}, engine {}, {} threads, {} memory, {} compute units",
                                          info.target, info.engine, info.threads,
                                          memories[info.memory_mode], info.compute_units));
    wj_context_destroy(context);
    report.note("targets", supported_target_names());
}

void check_hip(Checkup& report) {
    try {
        report.good("HSA runtime", (drop_in_directory() / "libhsa-runtime64.so.1").string());
    } catch (const Failure& failure) {
        report.bad("HSA runtime", failure.text, "without it 'run' starts no program");
    }
    bool hip = false;
    for (const char* directory :
         {"/usr/lib/x86_64-linux-gnu", "/opt/rocm/lib", "/usr/lib", "/usr/local/lib"})
        for (const char* name :
             {"libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so"})
            hip |= std::filesystem::exists(std::filesystem::path(directory) / name);
    if (hip)
        report.good("HIP runtime", "libamdhip64 is installed");
    else
        report.note("HIP runtime",
                    "libamdhip64 is not installed: HIP programs need it (Debian: libamdhip64-5); "
                    "'launch' and the C interface do not");
}

// What reports and listings use where it is there.
void check_optional(Checkup& report) {
    const std::pair<const char*, const std::string&> features[] = {
        {"source lines", DebugInfo::reader_missing()},
        {"host listings", x64::host_listing_missing()}};
    for (const auto& [feature, missing] : features) {
        if (missing.empty())
            report.good(feature, "their library is installed");
        else
            report.note(feature, missing);
    }
}

}  // namespace

void add_doctor(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand("doctor", "show what the host offers and what is missing");
    auto flags = std::make_shared<DeviceFlags>();
    flags->add(*sub);
    sub->callback([=, &result] {
        flags->to_environment();
        Checkup report;
        check_host(report);
        check_engine(report);
        check_hip(report);
        check_optional(report);
        result = report.failed ? exit_failed : exit_ok;
    });
}

}  // namespace wj::tools
