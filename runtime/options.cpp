// What the WAVEJIT_ variables say, and which options go together.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "machine/checks.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/fault_report.h"
#include "runtime/not_emulated.h"
#include "runtime/program_options.h"

namespace wj::runtime {
namespace {

constexpr std::pair<const char*, EngineKind> engines[] = {{"interp", EngineKind::Interpreter},
                                                          {"avx2", EngineKind::Avx2},
                                                          {"avx512", EngineKind::Avx512},
                                                          {"auto", EngineKind::Auto}};
constexpr std::pair<const char*, machine::MemoryMode> memory_modes[] = {
    {"identity", machine::MemoryMode::Identity},
    {"checked", machine::MemoryMode::Checked},
    {"window", machine::MemoryMode::Window}};

constexpr std::pair<const char*, bool> switches[] = {{"0", false}, {"1", true}};

const char* variable(const char* name) {
    const char* text = std::getenv(name);
    return text && *text ? text : nullptr;
}

// Reads variables into options, which stay as they are where a variable is not set or empty.
class Reader {
public:
    // Of the first variable that was wrong.
    const Status& status() const { return status_; }
    void fail(Code code, std::string text) {
        if (status_) status_ = {code, std::move(text)};
    }

    void text(const char* name, std::string& out) const {
        if (const char* given = variable(name)) out = given;
    }
    template <class T>
    void number(const char* name, uint64_t low, uint64_t high, T& out, uint64_t unit = 1) {
        const char* given = variable(name);
        if (!given) return;
        uint64_t value = 0;
        const auto [end, error] = std::from_chars(given, given + std::strlen(given), value);
        if (error != std::errc() || *end || value < low || value > high)
            return wrong_number(name, given, low, high);
        out = static_cast<T>(value * unit);
    }
    void seconds(const char* name, uint64_t most, uint64_t& nanoseconds) {
        const char* given = variable(name);
        if (!given) return;
        char* end = nullptr;
        const double value = std::strtod(given, &end);
        if (*end || !(value >= 0 && value <= static_cast<double>(most)))
            return wrong_number(name, given, 0, most);
        nanoseconds = static_cast<uint64_t>(value * 1e9);
    }
    template <class T, size_t N>
    void choice(const char* name, const std::pair<const char*, T> (&table)[N], T& out) {
        if (const char* given = variable(name)) one_of(name, given, given, table, out);
    }
    // Names with commas between them.
    void checks(const char* name, uint32_t& out) {
        const char* given = variable(name);
        for (std::string_view left = given ? given : ""; !left.empty();) {
            const size_t end = std::min(left.find(','), left.size());
            machine::Check check{};
            if (const std::string_view word = left.substr(0, end); word == "all")
                out |= machine::all_checks;
            else
                one_of(name, given, word, check_names, check);
            out |= check;
            left.remove_prefix(std::min(end + 1, left.size()));
        }
    }

private:
    void wrong_number(const char* name, const char* given, uint64_t low, uint64_t high) {
        fail(Code::InvalidArgument, std::string(name) + "=" + given + ": expected a number from " +
                                        std::to_string(low) + " to " + std::to_string(high));
    }
    template <class T, size_t N>
    void one_of(const char* name, const char* given, std::string_view word,
                const std::pair<const char*, T> (&table)[N], T& out) {
        std::string names;
        for (const auto& [key, value] : table) {
            if (key == word) {
                out = value;
                return;
            }
            names += (names.empty() ? "" : ", ") + std::string(key);
        }
        fail(Code::InvalidArgument, std::string(name) + "=" + given + ": expected one of " + names);
    }

    Status status_;
};

// Variables that say nothing without another one, and what for.
struct Need {
    const char *name, *needs, *why;
};
constexpr Need needs[] = {
    {"WAVEJIT_CAPTURE_COUNT", "WAVEJIT_CAPTURE", "a folder for the files (run --capture)"},
    {"WAVEJIT_CAPTURE_KERNEL", "WAVEJIT_CAPTURE", "a folder for the files (run --capture)"},
};

void check_needs(Reader& in) {
    for (const Need& need : needs)
        if (variable(need.name) && !variable(need.needs))
            in.fail(Code::InvalidArgument,
                    std::string(need.name) + " is given without " + need.needs + ", " + need.why);
}

}  // namespace

Status DeviceOptions::check() const {
    using machine::MemoryMode;
    const struct {
        bool wrong;
        const char* text;
    } rules[] = {
        {checks & machine::check_memory && memory_mode != MemoryMode::Checked,
         "the memory checker needs checked memory (WAVEJIT_MEMORY=checked, WJ_MEMORY_CHECKED)"},
        {checks & machine::check_init && checks & machine::check_inexact,
         "the checkers init and inexact exclude each other: look with one after the other"},
        {!(reports.checks.empty() && reports.suppressions.empty()) && !checks,
         "files for findings, and of what is not reported, need checkers: set `checks` "
         "(WAVEJIT_CHECK, --check)"},
        {(schedule.weak_memory || schedule.seed) && !schedule.deterministic,
         "weak memory and schedule seeds are of deterministic contexts: set `deterministic` "
         "(WAVEJIT_DETERMINISTIC=1, --deterministic)"},
    };
    for (const auto& rule : rules)
        if (rule.wrong) return {Code::InvalidArgument, rule.text};
    return Status::ok();
}

Result<DeviceOptions> DeviceOptions::from_environment(DeviceOptions base) {
    Reader in;
    if (const char* text = variable("WAVEJIT_TARGET"); text && !emulated_target(text))
        in.fail(Code::UnsupportedTarget, "WAVEJIT_TARGET: " + not_emulated(text));
    in.text("WAVEJIT_TARGET", base.target);
    in.choice("WAVEJIT_ENGINE", engines, base.engine);
    if (variable("WAVEJIT_CHECK")) base.memory_mode = machine::MemoryMode::Checked;
    in.choice("WAVEJIT_MEMORY", memory_modes, base.memory_mode);
    in.checks("WAVEJIT_CHECK", base.checks);
    in.text("WAVEJIT_CHECK_REPORT", base.reports.checks);
    in.text("WAVEJIT_CHECK_SUPPRESSIONS", base.reports.suppressions);
    in.text("WAVEJIT_COVERAGE", base.reports.coverage);
    in.text("WAVEJIT_FIDELITY", base.reports.fidelity);
    in.text("WAVEJIT_PLANS", base.reports.plans);
    in.choice("WAVEJIT_DETERMINISTIC", switches, base.schedule.deterministic);
    in.choice("WAVEJIT_WEAK_MEMORY", switches, base.schedule.weak_memory);
    in.number("WAVEJIT_SCHEDULE_SEED", 0, ~uint64_t{0}, base.schedule.seed);
    in.number("WAVEJIT_THREADS", 0, 1024, base.threads);
    in.number("WAVEJIT_CUS", 1, 1024, base.compute_units);
    in.number("WAVEJIT_CODE_KIB", 64, 4u << 20, base.code_bytes, 1 << 10);
    in.choice("WAVEJIT_CACHE", switches, base.cache);
    in.text("WAVEJIT_CACHE_DIR", base.cache_directory);
    in.number("WAVEJIT_CACHE_MIB", 1, 1u << 20, base.cache_bytes, 1 << 20);
    in.number("WAVEJIT_HOT", 0, 1u << 20, base.hot_blocks);
    in.text("WAVEJIT_CAPTURE", base.captures.folder);
    in.text("WAVEJIT_CAPTURE_KERNEL", base.captures.kernels);
    in.number("WAVEJIT_CAPTURE_COUNT", 1, 1u << 20, base.captures.count);
    check_needs(in);
    if (!in.status()) return in.status();
    return base;
}

Result<ProgramOptions> ProgramOptions::from_environment(const DeviceOptions& base) {
    auto device = DeviceOptions::from_environment(base);
    if (!device) return device.status();
    ProgramOptions made{std::move(*device)};
    Reader in;
    in.number("WAVEJIT_AGENTS", 1, 64, made.agents);
    in.seconds("WAVEJIT_TIMEOUT", 1'000'000'000, made.timeout_ns);
    in.number("WAVEJIT_MEMORY_MB", 1, 1'000'000'000, made.device.memory_bytes, 1 << 20);
    if (!in.status()) return in.status();
    if (made.device.memory_mode == machine::MemoryMode::Window)
        return Status(Code::InvalidArgument,
                      "WAVEJIT_MEMORY=window: HIP and OpenCL programs hand host memory to kernels, "
                      "which lies outside of any window; use identity or checked");
    if (Status s = made.device.check_seeded(); !s) return s;
    return made;
}

Status DeviceOptions::check_seeded() const {
    if (Status s = check(); !s) return s;
    if (!schedule.weak_memory || schedule.seed) return Status::ok();
    return {Code::InvalidArgument,
            "weak memory is of launches with a schedule seed, and there is none: give one that is "
            "not 0 (WAVEJIT_SCHEDULE_SEED=1, --schedule-seed 1)"};
}

}  // namespace wj::runtime
