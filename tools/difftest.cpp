// wavejit difftest: one launch on all engines and in several memory modes, whose memory and faults
// have to be the same.
#include <algorithm>

#include "runtime/capture.h"
#include "tools/captured.h"
#include "tools/cli.h"
#include "tools/difference.h"
#include "tools/launch_flags.h"

namespace wj::tools {
namespace {

struct DifftestOptions {
    LaunchFlags launch;
    std::string target;
    std::vector<std::string> engines{"interp", "avx2", "avx512", "auto"},
        memories{"checked", "identity"};
};

void print_difference(const std::string& path, const LaunchLimits& limits, const Setup& first,
                      const Outcome& wanted, const Setup& setup, const Outcome& got) {
    const std::string names = fmt::format("{} differs from {}", setup.name(), first.name());
    if (got.ending.key != wanted.ending.key) {
        const auto text = [](const Ending& e) { return e.key.empty() ? "success" : e.key; };
        fmt::print("{}: {}, not {}\n", names, text(got.ending), text(wanted.ending));
        return;
    }
    const auto d = compare(got.memory, wanted.memory);
    fmt::print("{}: {}\n", names, describe(*d, got.memory, wanted.memory));
    const auto capture = runtime::read_capture(path);
    const uint64_t address = got.memory[d->piece].address + d->change.first;
    if (!capture) return;
    for (const Setup& s : {first, setup})
        fmt::print("  {}: {}\n", s.engine, first_writer(*capture, address, s, limits));
}

int difftest(const std::string& path, const DifftestOptions& o) {
    std::optional<Outcome> wanted;
    Setup first;
    int result = exit_ok;
    for (const std::string& memory : o.memories)
        for (const std::string& engine : o.engines) {
            const Setup setup{engine, memory};
            std::string why;
            auto outcome = run(path, setup, o.launch.limits(), why);
            if (!outcome) {
                fmt::print("{}: left out, {}\n", setup.name(), why);
                continue;
            }
            const Ending& e = outcome->ending;
            if (e.status == WJ_TIMEOUT) fail(setup.name() + ": " + e.report);
            if (!wanted) {
                fmt::print("{}: {}, {} wave instructions\n", setup.name(),
                           e.key.empty() ? "success" : e.key, e.result.wave_instructions);
                wanted = std::move(outcome);
                first = setup;
            } else if (differ(*outcome, *wanted)) {
                print_difference(path, o.launch.limits(), first, *wanted, setup, *outcome);
                result = exit_mismatch;
            } else {
                fmt::print("{}: the same\n", setup.name());
            }
        }
    if (!wanted) fail("no engine could run it");
    return result;
}

int difftest_launch(const DifftestOptions& o) {
    if (!o.target.empty()) setenv("WAVEJIT_TARGET", o.target.c_str(), 1);
    const TemporaryFile file;
    {
        const LaunchSetup setup(o.launch, WJ_INIT(wj_context_options));
        for (const LaunchArg& arg : setup.args())
            if (arg.is_looked_at())
                fail("--arg " + arg.text +
                         ": dump, compare and print are of `launch`; difftest compares all memory",
                     exit_usage);
        setup.capture(file.path());
    }
    return difftest(file.path(), o);
}

}  // namespace

void add_difftest(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand(
        "difftest", "launch on all engines and compare memory and faults, bit for bit");
    auto o = std::make_shared<DifftestOptions>();
    o->launch.add(*sub,
                  "capture file; or code object, bundle or HIP program, as launch takes them");
    sub->add_option("--target", o->target, "processor for a code object that is no capture");
    sub->add_option("--engines", o->engines, "engines; the others are compared with the first")
        ->delimiter(',')
        ->check(CLI::IsMember({"interp", "avx2", "avx512", "auto"}));
    sub->add_option("--memories", o->memories, "memory modes")
        ->delimiter(',')
        ->check(CLI::IsMember({"checked", "identity"}));
    sub->callback([=, &result] {
        if (runtime::is_capture(o->launch.file)) {
            refuse_others(*sub, {"file", "--engines", "--memories", "--timeout", "--limit"},
                          "for a capture, which says what is launched");
            result = difftest(o->launch.file, *o);
        } else {
            result = difftest_launch(*o);
        }
    });
}

}  // namespace wj::tools
