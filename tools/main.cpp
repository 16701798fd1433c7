#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include "frontend/target.h"
#include "tools/cli.h"

namespace wj::tools {

void DeviceFlags::add(CLI::App& app) {
    app.add_option("--target", target, "emulated processor: " + supported_target_names());
    app.add_option("--engine", engine, "interp, avx2 or avx512 (default: the best the host has)");
    app.add_option("--memory", memory, "identity, checked or window");
    app.add_option("--check", checks,
                   "memory, init, race, barrier, waitcnt, alignment, division: what is looked for, "
                   "several with commas, or all; also unaligned, inexact");
    app.add_option("--check-report", check_report,
                   "file for what is found: .json, .sarif, else text");
    app.add_option("--check-suppressions", check_suppressions,
                   "file of what is not reported, lines CHECKER:PATTERN (race:histogram*)");
    app.add_option(
        "--coverage", coverage,
        "file for what kernels have reached: blocks of code (.drcov), else source lines, as "
        "lcov writes them");
    app.add_option("--fidelity", fidelity,
                   "file for which executed instructions are exact, and how near to hardware "
                   "others are");
    app.add_flag("--deterministic", deterministic,
                 "one order of waves, clocks that count instructions");
    app.add_flag("--weak-memory", weak_memory,
                 "with --deterministic and a seed: nothing but a kernel's own waits and cache "
                 "operations orders its accesses");
    app.add_option("--schedule-seed", schedule_seed,
                   "with --deterministic: another order of work-groups and waves for each number");
    app.add_option("--threads", threads, "worker threads (default: all processors)");
    app.add_option("--cus", compute_units, "compute units that programs are told about")
        ->check(CLI::Range(1, 1024));
}

void DeviceFlags::to_environment() const {
    auto put = [](const char* name, const std::string& value) {
        if (!value.empty()) setenv(name, value.c_str(), 1);
    };
    put("WAVEJIT_TARGET", target);
    put("WAVEJIT_ENGINE", engine);
    put("WAVEJIT_MEMORY", memory);
    put("WAVEJIT_CHECK", checks);
    put("WAVEJIT_CHECK_REPORT", check_report);
    put("WAVEJIT_CHECK_SUPPRESSIONS", check_suppressions);
    put("WAVEJIT_COVERAGE", coverage);
    put("WAVEJIT_FIDELITY", fidelity);
    if (deterministic) put("WAVEJIT_DETERMINISTIC", "1");
    if (weak_memory) put("WAVEJIT_WEAK_MEMORY", "1");
    if (schedule_seed) put("WAVEJIT_SCHEDULE_SEED", std::to_string(schedule_seed));
    if (threads >= 0) put("WAVEJIT_THREADS", std::to_string(threads));
    if (compute_units > 0) put("WAVEJIT_CUS", std::to_string(compute_units));
}

uint64_t parse_size(const std::string& text, const std::string& what) {
    char* end = nullptr;
    errno = 0;
    uint64_t value = std::strtoull(text.c_str(), &end, 0);
    uint64_t factor = 1;
    std::string unit = end;
    if (unit == "k" || unit == "K" || unit == "KiB")
        factor = 1 << 10;
    else if (unit == "m" || unit == "M" || unit == "MiB")
        factor = 1 << 20;
    else if (unit == "g" || unit == "G" || unit == "GiB")
        factor = 1 << 30;
    else if (!unit.empty())
        end = nullptr;
    if (text.empty() || text[0] == '-' || !end || end == text.c_str() || errno ||
        value > UINT64_MAX / factor)
        fail(what + ": '" + text + "' is not a number (examples: 4096, 0x1000, 4k, 16M)",
             exit_usage);
    return value * factor;
}

uint64_t parse_timeout(double seconds) {
    if (!(seconds >= 0) || !std::isfinite(seconds) || seconds > 1e9)
        fail("--timeout takes seconds, for instance 10 or 0.5", exit_usage);
    return static_cast<uint64_t>(seconds * 1e9);
}

void parse_dims(const std::string& text, const std::string& what, uint32_t out[3]) {
    out[0] = out[1] = out[2] = 1;
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        size_t comma = text.find(',', at);
        uint64_t value = parse_size(text.substr(at, comma - at), what);
        if (!value || value > UINT32_MAX)
            fail(what + ": sizes go from 1 to 4294967295", exit_usage);
        out[i] = static_cast<uint32_t>(value);
        if (comma == std::string::npos) return;
        at = comma + 1;
    }
    fail(what + ": '" + text + "' has more than three sizes", exit_usage);
}

std::string own_directory() {
    std::error_code error;
    auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "." : path.parent_path().string();
}

// fmt throws where nothing can be written.
static void tell(const std::string& text) {
    std::fputs(("wavejit: " + text + "\n").c_str(), stderr);
}

}  // namespace wj::tools

int main(int argc, char** argv) {
    using namespace wj::tools;
    CLI::App app{"wavejit: runs AMD GPU code on the CPU"};
    app.require_subcommand(1);
    app.set_version_flag("--version",
                         fmt::format("wavejit {}.{}", WJ_VERSION_MAJOR, WJ_VERSION_MINOR));
    int result = exit_ok;
    std::vector<std::string> words(argv + 1, argv + argc), program_arguments;
    add_run(app, program_arguments, result);
    add_launch(app, result);
    add_replay(app, result);
    add_difftest(app, result);
    add_minimise(app, result);
    add_info(app, result);
    add_disasm(app, result);
    add_translate(app);
    add_compile(app, result);
    add_doctor(app, result);
    add_cache(app, result);
    add_manual(app);
    try {
        program_arguments = take_program_arguments(app, words);
        std::ranges::reverse(words);  // as CLI11 wants them
        app.parse(words);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? exit_ok : exit_usage;
    } catch (const Failure& f) {
        tell(f.text);
        return f.code;
    } catch (const std::exception& e) {
        tell(std::string("unexpected failure: ") + e.what());
        return exit_failed;
    }
    if (std::fflush(stdout) != 0) {
        tell(std::string("the output cannot be written: ") + std::strerror(errno));
        return exit_failed;
    }
    return result;
}
