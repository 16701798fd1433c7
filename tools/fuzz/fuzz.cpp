// Differential fuzzer: random programs, run by the interpreter and by the translators from the same
// state; all registers and all memory must agree bit for bit. A difference is reduced and printed
// with its seed.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

#include "tools/fuzz/compare.h"

using namespace wj;

namespace {

// Bit mask of the named kinds; nothing when a name is unknown.
std::optional<uint64_t> kind_mask(const std::vector<std::string>& wanted) {
    const auto& names = fuzz::kind_names();
    uint64_t mask = 0;
    for (const std::string& name : wanted) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) return std::nullopt;
        mask |= 1ull << (at - names.begin());
    }
    return mask;
}

struct Sample {
    fuzz::Program program;
    uint64_t state_seed;
};

// A seed determines the program, whatever ran before.
Sample sample(const fuzz::Generator& generator, uint64_t seed, uint64_t kinds) {
    fuzz::Rng rng(seed);
    fuzz::Program program = fuzz::random_program(generator, rng, kinds);
    return {std::move(program), rng()};
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs random guest programs on all engines and compares every register and byte."};
    uint64_t blocks = 20000, seed = 1;
    double seconds = 0;
    size_t stop_after = 5, code_kib = 4096;
    bool show = false, cache = false, wave32 = false, wave64 = false, hostile = false,
         missing = false;
    std::string memory = "all";
    std::vector<std::string> kinds = fuzz::kind_names(), rows;
    std::vector<std::string> targets{"gfx600", "gfx700", "gfx803", "gfx900", "gfx906",
                                     "gfx908", "gfx90a", "gfx942", "gfx950"};
    app.add_option("--blocks", blocks, "programs in all, spread over the targets");
    app.add_option("--seconds", seconds, "stop after this time; 0 = no limit");
    app.add_option("--seed", seed, "first seed; program i of a target uses seed + i");
    app.add_option("--targets", targets, "processors")->delimiter(',');
    app.add_option("--kinds", kinds, "what programs consist of; default: all")->delimiter(',');
    app.add_option("--rows", rows, "arithmetic only from instructions whose name contains these")
        ->delimiter(',');
    app.add_option("--memory", memory, "identity, checked, window or all")
        ->check(CLI::IsMember({"identity", "checked", "window", "all"}));
    app.add_option("--stop-after", stop_after, "differences to report before stopping");
    app.add_option("--code-kib", code_kib, "memory for translated code of each translator");
    app.add_flag("--cache", cache, "run programs again elsewhere, as kept by the on-disk cache");
    auto* small = app.add_flag("--wave32", wave32,
                               "waves of 32 lanes, also on processors that have none: tests of "
                               "lane masks");
    app.add_flag("--wave64", wave64, "waves of 64 lanes where the processor has both")
        ->excludes(small);
    app.add_flag("--hostile", hostile,
                 "programs that try to reach host memory: a window, or checked memory, with "
                 "canaries around it");
    app.add_flag("--missing", missing, "print the rows that programs never have, run nothing");
    app.add_flag("--show", show, "print the programs, do not run them");
    CLI11_PARSE(app, argc, argv);

    if (hostile && memory == "identity") {
        fmt::print(stderr, "--hostile --memory identity: there host memory is the guest's\n");
        return 2;
    }
    const auto mask = kind_mask(kinds);
    if (!mask) {
        fmt::print(stderr, "unknown kind; known: {}\n", fmt::join(fuzz::kind_names(), ", "));
        return 2;
    }
    const auto modes = memory == "checked"    ? fuzz::MemoryModes::Checked
                       : memory == "identity" ? fuzz::MemoryModes::Identity
                       : memory == "window"   ? fuzz::MemoryModes::Window
                                              : fuzz::MemoryModes::All;
    const auto start = std::chrono::steady_clock::now();
    size_t differences = 0;
    uint64_t done = 0;
    uint64_t loaded = 0;
    fuzz::Comparison::Counters all;
    for (size_t t = 0; t < targets.size(); ++t) {
        const Target* known = find_target(targets[t]);
        if (!known) {
            fmt::print(stderr, "unknown target '{}'; known: {}\n", targets[t],
                       supported_target_names());
            return 2;
        }
        const uint32_t wave_size = wave32 ? 32 : wave64 ? 64 : known->traits.wave_size;
        const Target* exists = with_wave_size(*known, wave_size);
        Target target = exists ? *exists : *known;
        target.traits.wave_size = wave_size;
        const fuzz::Generator generator(target, rows, hostile);
        if (generator.empty()) continue;
        if (missing) {
            fmt::print("{}: {}\n", target.name, fmt::join(generator.missing(), " "));
            continue;
        }
        fuzz::Comparison comparison(target, modes, code_kib, cache, hostile);
        if (comparison.engines() < 2)
            fmt::print(stderr, "{}: this host has no translator, nothing to compare\n",
                       target.name);
        const uint64_t share = blocks / targets.size() + (t < blocks % targets.size());
        for (uint64_t i = 0; i < share && differences < stop_after; ++i, ++done) {
            // Every target gets its part of the time.
            const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
            if (seconds > 0 &&
                elapsed.count() > seconds * static_cast<double>(t + 1) / targets.size())
                break;
            Sample s = sample(generator, seed + i, *mask);
            if (show) {
                fmt::print("{} seed {}\n{}\n{}", target.name, seed + i,
                           comparison.describe(s.state_seed), fuzz::print(target, s.program));
                continue;
            }
            if (!comparison.differs(s.program, s.state_seed)) continue;
            ++differences;
            s.program = fuzz::minimise(comparison, std::move(s.program), s.state_seed);
            fmt::print("{} seed {}: {}{}{}\n", target.name, seed + i,
                       comparison.differs(s.program, s.state_seed).value_or("no more\n"),
                       comparison.describe(s.state_seed), fuzz::print(target, s.program));
        }
        loaded += comparison.blocks_loaded();
        all.endless += comparison.counters().endless;
        all.faults += comparison.counters().faults;
        all.refused += comparison.counters().refused;
    }
    if (missing) return 0;
    fmt::print("{} blocks ({} fault, {} refused, {} endless), {} differences\n", done, all.faults,
               all.refused, all.endless, differences);
    if (cache) fmt::print("{} blocks came from the cache\n", loaded);
    return differences ? 1 : 0;
}
