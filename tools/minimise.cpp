// wavejit minimise: a smaller capture that still fails in the same way, or makes engines differ, or
// satisfies a command.
#include <algorithm>
#include <cstdlib>

#include "tools/captured.h"
#include "tools/cli.h"
#include "tools/difference.h"
#include "tools/smaller.h"

namespace wj::tools {
namespace {

struct MinimiseOptions {
    std::string file, output, differs, command;
    Setup setup;
    double timeout = 60;
};

using Condition = std::function<bool(const std::string& path)>;

// What is left out may make a loop endless.
LaunchLimits limits_for(const Ending& e) {
    return {4 * e.result.wave_instructions + 100'000, 60'000'000'000};
}

Outcome run_first(const MinimiseOptions& o, const Setup& setup) {
    std::string why;
    const LaunchLimits limits{0, static_cast<uint64_t>(o.timeout * 1e9)};
    auto outcome = run(o.file, setup, limits, why);
    if (!outcome) fail(why);
    return std::move(*outcome);
}

Condition same_failure(const MinimiseOptions& o) {
    const Ending ending = run_first(o, o.setup).ending;
    if (ending.status == WJ_OK)
        fail(o.file + " ends well: say what is to stay, --differs ENGINE or --command COMMAND",
             exit_usage);
    fmt::print("to stay: {}\n", ending.key);
    return
        [setup = o.setup, key = ending.key, limits = limits_for(ending)](const std::string& path) {
            std::string why;
            const auto captured = CapturedContext::open(path, options_of(setup), why);
            return captured && captured->launch(limits).key == key;
        };
}

Condition engines_differ(const MinimiseOptions& o) {
    const Outcome first = run_first(o, o.setup);
    const Setup other{o.differs, o.setup.memory};
    return [setup = o.setup, other, limits = limits_for(first.ending)](const std::string& path) {
        std::string why;
        const auto a = run(path, setup, limits, why), b = run(path, other, limits, why);
        return a && b && a->ending.status != WJ_TIMEOUT && b->ending.status != WJ_TIMEOUT &&
               differ(*a, *b);
    };
}

Condition command_succeeds(const MinimiseOptions& o) {
    return [command = o.command](const std::string& path) {
        std::string text = command;
        for (size_t at = 0; (at = text.find("{}", at)) != std::string::npos; at += path.size())
            text.replace(at, 2, path);
        return std::system(text.c_str()) == 0;
    };
}

Condition condition_of(const MinimiseOptions& o) {
    if (!o.command.empty()) return command_succeeds(o);
    return o.differs.empty() ? same_failure(o) : engines_differ(o);
}

class Minimisation {
public:
    Minimisation(runtime::Capture capture, Condition holds)
        : smaller_(std::move(capture)), holds_(std::move(holds)), parts_(smaller_.all()) {}

    bool holds_at_all() { return holds(parts_); }
    runtime::Capture run() {
        leave_out_of(&Smaller::Parts::regions);
        for (uint32_t& groups : parts_.groups) shrink(groups);
        leave_out_of(&Smaller::Parts::pages);
        leave_out_blocks();
        leave_out_of(&Smaller::Parts::instructions);
        return smaller_.with(parts_);
    }
    void print() const {
        const Smaller::Parts& all = smaller_.all();
        const auto groups = [](const Smaller::Parts& p) {
            return uint64_t{p.groups[0]} * p.groups[1] * p.groups[2];
        };
        const auto line = [](uint64_t left, uint64_t of, const char* what) {
            fmt::print("{} of {} {}\n", left, of, what);
        };
        line(groups(parts_), groups(all), "work-groups");
        const auto kept = [&](Kept Smaller::Parts::*of, const char* what) {
            line(static_cast<uint64_t>(std::ranges::count(parts_.*of, true)), (all.*of).size(),
                 what);
        };
        kept(&Smaller::Parts::regions, "allocations");
        kept(&Smaller::Parts::pages, "pages that are not zero");
        kept(&Smaller::Parts::instructions, "instructions that may be s_nop");
    }

private:
    bool holds(const Smaller::Parts& parts) {
        if (const Status s = runtime::write_capture(smaller_.with(parts), file_.path()); !s)
            fail(s.message());
        return holds_(file_.path());
    }
    void leave_out_of(Kept Smaller::Parts::*of) {
        const Kept before = parts_.*of;
        parts_.*of = leave_out(before.size(), [&](const Kept& kept) {
            Smaller::Parts trial = parts_;
            for (size_t i = 0; i < kept.size(); i++) (trial.*of)[i] = before[i] && kept[i];
            return holds(trial);
        });
        for (size_t i = 0; i < before.size(); i++) (parts_.*of)[i] = before[i] && (parts_.*of)[i];
    }
    void leave_out_blocks() {
        const auto& blocks = smaller_.blocks();
        const auto without = [&](const Kept& kept) {
            Smaller::Parts trial = parts_;
            for (size_t b = 0; b < kept.size(); b++)
                for (const size_t i : blocks[b]) trial.instructions[i] = kept[b];
            return trial;
        };
        parts_ = without(
            leave_out(blocks.size(), [&](const Kept& kept) { return holds(without(kept)); }));
    }
    // The fewest of 1, 2, 4, ... that will do.
    void shrink(uint32_t& groups) {
        const uint32_t all = groups;
        for (groups = 1; groups < all; groups *= 2) {
            if (holds(parts_)) return;
            if (groups > all / 2) break;
        }
        groups = all;
    }

    const Smaller smaller_;
    const Condition holds_;
    Smaller::Parts parts_;
    const TemporaryFile file_;
};

int minimise(const MinimiseOptions& o) {
    if (!o.command.empty() && !o.differs.empty())
        fail("--differs and --command exclude each other", exit_usage);
    auto capture = runtime::read_capture(o.file);
    if (!capture) fail(capture.status().message());
    const Condition condition = condition_of(o);
    Minimisation minimisation(std::move(*capture), condition);
    if (!minimisation.holds_at_all())
        fail(o.differs.empty() ? "the command does not exit with 0 for " + o.file
                               : fmt::format("{} and {} do not differ", o.setup.engine, o.differs));
    check(runtime::write_capture(minimisation.run(), o.output));
    minimisation.print();
    return exit_ok;
}

}  // namespace

void add_minimise(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand(
        "minimise",
        "make a capture file smaller that fails in the same way, or differs, all the same");
    auto o = std::make_shared<MinimiseOptions>();
    const auto engines = CLI::IsMember({"interp", "avx2", "avx512", "auto"});
    sub->add_option("file", o->file, "capture file")->required();
    sub->add_option("--output,-o", o->output, "capture file to write")->required();
    sub->add_option("--engine", o->setup.engine, "which runs it (default: interp)")->check(engines);
    sub->add_option("--memory", o->setup.memory, "checked (default) or identity")
        ->check(CLI::IsMember({"checked", "identity"}));
    sub->add_option("--differs", o->differs, "what stays: this engine differs from the other one")
        ->check(engines);
    sub->add_option("--command", o->command,
                    "what stays: this command, with a capture file's name for {}, exits with 0");
    sub->add_option("--timeout", o->timeout, "seconds for the first launch")
        ->check(CLI::Range(0.001, 1e9));
    sub->callback([=, &result] { result = minimise(*o); });
}

}  // namespace wj::tools
