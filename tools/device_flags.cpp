// Options of everything that makes a device, handed on as WAVEJIT_ variables.
#include <cstdlib>

#include "frontend/target.h"
#include "runtime/device.h"
#include "tools/cli.h"

namespace wj::tools {

void DeviceFlags::add(CLI::App& app) {
    app.add_option("--target", target, "emulated processor: " + supported_target_names());
    app.add_option("--engine", engine,
                   "interp, avx2, avx512 or auto (default: auto, the best the host has)");
    app.add_option("--memory", memory, "identity, checked or window");
    app.add_option("--check", checks,
                   "memory, init, race, barrier, waitcnt, alignment, division: what is looked for, "
                   "several with commas, or all; also unaligned, inexact. With waitcnt and inexact "
                   "everything is interpreted");
    app.add_option("--check-report", check_report,
                   "with --check: file for what is found, faults, too: .json, .sarif, else text");
    app.add_option("--check-suppressions", check_suppressions,
                   "file of what is not reported, lines CHECKER:PATTERN (race:histogram*)");
    app.add_option(
        "--coverage", coverage,
        "file for what kernels have reached: blocks of code (.drcov), else source lines, as "
        "lcov writes them");
    app.add_option("--fidelity", fidelity,
                   "file for which executed instructions are exact, and how near to hardware "
                   "others are");
    auto* const one = app.add_flag("--deterministic", deterministic,
                                   "one order of waves on one thread, clocks that count "
                                   "instructions");
    app.add_flag("--weak-memory", weak_memory,
                 "with --deterministic and --schedule-seed: nothing but a kernel's own waits and "
                 "cache operations orders its accesses; everything is interpreted");
    app.add_option("--schedule-seed", schedule_seed,
                   "with --deterministic: another order of work-groups and waves for each number "
                   "of 64 bits but 0")
        ->check(whole_number(0));
    app.add_option("--threads", threads, "worker threads (default, and 0: all processors)")
        ->check(CLI::Range(0, 1024))
        ->excludes(one);
    app.add_option("--cus", compute_units, "compute units that programs are told about")
        ->check(CLI::Range(1, 1024));
}

void DeviceFlags::to_environment() const {
    const auto put = [](const char* name, const std::string& value) {
        if (!value.empty()) setenv(name, value.c_str(), 1);
    };
    const auto put_number = [&](const char* name, const auto& number) {
        if (number) put(name, std::to_string(*number));
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
    put_number("WAVEJIT_SCHEDULE_SEED", schedule_seed);
    put_number("WAVEJIT_THREADS", threads);
    put_number("WAVEJIT_CUS", compute_units);
}

void DeviceFlags::to_checked_environment() const {
    to_environment();
    const auto options = runtime::DeviceOptions::from_environment({});
    if (!options) fail(options.status().message(), exit_usage);
    if (const Status s = options->check_seeded(); !s) fail(s.message(), exit_usage);
}

}  // namespace wj::tools
