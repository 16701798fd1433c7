// wavejit minimise: a smaller capture that still fails in the same way, or makes engines differ, or
// satisfies a command.
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
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
    uint64_t limit = 0;
};

// What is to stay.
struct Condition {
    std::function<bool(const std::string& path)> holds;
    std::string not_at_first;  // what is wrong if it does not hold for the file itself
};

// What is left out may make a loop endless.
LaunchLimits limits_for(const MinimiseOptions& o, const Ending& e) {
    return {o.limit ? o.limit : 4 * e.result.wave_instructions + 100'000, 60'000'000'000};
}

Outcome run_first(const MinimiseOptions& o, const Setup& setup) {
    std::string why;
    const LaunchLimits limits{o.limit, to_nanoseconds(o.timeout)};
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
    const auto holds = [setup = o.setup, key = ending.key,
                        limits = limits_for(o, ending)](const std::string& path) {
        std::string why;
        const auto captured = CapturedContext::open(path, options_of(setup), why);
        return captured && captured->launch(limits).key == key;
    };
    return {holds, o.file + " does not fail in the same way a second time"};
}

Condition engines_differ(const MinimiseOptions& o) {
    const Outcome first = run_first(o, o.setup);
    const Setup other{o.differs, o.setup.memory};
    const auto holds = [setup = o.setup, other,
                        limits = limits_for(o, first.ending)](const std::string& path) {
        std::string why;
        const auto a = run(path, setup, limits, why), b = run(path, other, limits, why);
        return a && b && a->ending.status != WJ_TIMEOUT && b->ending.status != WJ_TIMEOUT &&
               differ(*a, *b);
    };
    return {holds, fmt::format("{} and {} do not differ", o.setup.engine, o.differs)};
}

Condition command_succeeds(const MinimiseOptions& o) {
    const auto holds = [command = o.command](const std::string& path) {
        std::string text = command;
        for (size_t at = 0; (at = text.find("{}", at)) != std::string::npos; at += path.size())
            text.replace(at, 2, path);
        std::fflush(nullptr);  // what the command prints comes behind it
        const int status = std::system(text.c_str());
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) fail("interrupted");
        return status == 0;
    };
    return {holds, "the command does not exit with 0 for " + o.file};
}

Condition condition_of(const MinimiseOptions& o) {
    if (!o.command.empty()) return command_succeeds(o);
    return o.differs.empty() ? same_failure(o) : engines_differ(o);
}

// How much there is of a capture.
struct Size {
    uint64_t groups = 0, regions = 0, pages = 0, instructions = 0;
    bool operator==(const Size&) const = default;
};

Size size_of(const Smaller::Parts& parts) {
    const auto kept = [](const Kept& of) {
        return static_cast<uint64_t>(std::ranges::count(of, true));
    };
    return {uint64_t{parts.groups[0]} * parts.groups[1] * parts.groups[2], kept(parts.regions),
            kept(parts.pages), kept(parts.instructions)};
}

// Leaves out what may be left out, once.
class Round {
public:
    Round(runtime::Capture capture, const Condition& holds)
        : smaller_(std::move(capture)), holds_(holds), parts_(smaller_.all()) {}

    bool holds_at_all() { return holds(parts_); }
    void run() {
        leave_out_of(&Smaller::Parts::regions);
        for (uint32_t& groups : parts_.groups) shrink(groups);
        leave_out_of(&Smaller::Parts::pages);
        leave_out_blocks();
        leave_out_of(&Smaller::Parts::instructions);
    }
    runtime::Capture capture() const { return smaller_.with(parts_); }
    Size before() const { return size_of(smaller_.all()); }
    Size after() const { return size_of(parts_); }

private:
    bool holds(const Smaller::Parts& parts) {
        if (const Status s = runtime::write_capture(smaller_.with(parts), file_.path()); !s)
            fail(s.message());
        return holds_.holds(file_.path());
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
    // The fewest that will do: of 1, 2, 4, ..., then between that and the half of it, then of the
    // numbers right below, as more may fail where fewer do not.
    void shrink(uint32_t& groups) {
        constexpr uint32_t right_below = 16;
        const uint32_t all = groups;
        const auto will_do = [&](uint32_t count) {
            groups = count;
            return holds(parts_);
        };
        uint32_t too_few = 0, enough = 1;
        while (enough < all && !will_do(enough)) {
            too_few = enough;
            enough = enough > all / 2 ? all : enough * 2;
        }
        while (enough - too_few > 1) {
            const uint32_t middle = too_few + (enough - too_few) / 2;
            (will_do(middle) ? enough : too_few) = middle;
        }
        for (uint32_t fewer = too_few; fewer-- > 1 && enough - fewer <= right_below;)
            if (will_do(fewer)) enough = fewer;
        groups = enough;
    }

    const Smaller smaller_;
    const Condition& holds_;
    Smaller::Parts parts_;
    const TemporaryFile file_;
};

void print_sizes(const Size& left, const Size& of) {
    const auto line = [](uint64_t some, uint64_t all, const char* what) {
        fmt::print("{} of {} {}\n", some, all, what);
    };
    line(left.groups, of.groups, "work-groups");
    line(left.regions, of.regions, "allocations");
    line(left.pages, of.pages, "pages that are not zero");
    line(left.instructions, of.instructions, "instructions that may be s_nop");
}

runtime::Capture read(const std::string& path) {
    auto capture = runtime::read_capture(path);
    if (!capture) fail(capture.status().message());
    return std::move(*capture);
}

// Again and again, until another time leaves nothing out.
int minimise(const MinimiseOptions& o) {
    runtime::Capture capture = read(o.file);
    const Condition condition = condition_of(o);
    std::optional<Size> all;
    for (bool smaller = true; smaller;) {
        Round round(std::move(capture), condition);
        if (!all && !round.holds_at_all()) fail(condition.not_at_first);
        round.run();
        check(runtime::write_capture(round.capture(), o.output));
        if (!all) all = round.before();
        smaller = round.after() != round.before();
        if (!smaller) print_sizes(round.after(), *all);
        capture = read(o.output);
    }
    return exit_ok;
}

void check_options(const CLI::App& app, const MinimiseOptions& o) {
    if (o.differs == o.setup.engine)
        fail("--differs takes another engine than --engine, which is " + o.setup.engine,
             exit_usage);
    if (o.command.empty()) return;
    refuse_others(app, {"file", "--output", "--command"}, "with --command, which launches it");
    if (o.command.find("{}") == std::string::npos)
        fail("--command '" + o.command +
                 "' says nowhere what file it is about: write {} where its name shall be",
             exit_usage);
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
    add_timeout(*sub, o->timeout, "seconds for the first launch (default: 60)");
    add_number(*sub, "--limit", o->limit,
               "wave instructions for each launch (default: none for the first one, four times as "
               "many as that for the others)");
    sub->callback([=, &result] {
        check_options(*sub, *o);
        result = minimise(*o);
    });
}

}  // namespace wj::tools
