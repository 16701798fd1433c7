#include <algorithm>
#include <cstdlib>

#include "machine/checks.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/fault_report.h"
#include "runtime/not_emulated.h"

namespace wj::runtime {
namespace {

Result<uint32_t> number(const char* name, const char* text, uint32_t low, uint32_t high) {
    char* end = nullptr;
    unsigned long value = std::strtoul(text, &end, 10);
    if (end == text || *end || *text == '-' || value < low || value > high)
        return Status(Code::InvalidArgument, std::string(name) + "=" + text +
                                                 ": expected a number from " + std::to_string(low) +
                                                 " to " + std::to_string(high));
    return static_cast<uint32_t>(value);
}

template <class T, size_t N>
Status choice(const char* name, const char* text, const std::pair<const char*, T> (&table)[N],
              T& out) {
    std::string names;
    for (const auto& [key, value] : table) {
        if (std::string_view(key) == text) {
            out = value;
            return Status::ok();
        }
        names += (names.empty() ? "" : ", ") + std::string(key);
    }
    return {Code::InvalidArgument, std::string(name) + "=" + text + ": expected one of " + names};
}

constexpr std::pair<const char*, EngineKind> engines[] = {{"interp", EngineKind::Interpreter},
                                                          {"avx2", EngineKind::Avx2},
                                                          {"avx512", EngineKind::Avx512},
                                                          {"auto", EngineKind::Auto}};
constexpr std::pair<const char*, machine::MemoryMode> memory_modes[] = {
    {"identity", machine::MemoryMode::Identity},
    {"checked", machine::MemoryMode::Checked},
    {"window", machine::MemoryMode::Window}};

constexpr std::pair<const char*, bool> switches[] = {{"0", false}, {"1", true}};

// Names with commas between them.
Status choices(const char* name, std::string_view text, uint32_t& out) {
    while (!text.empty()) {
        const size_t end = std::min(text.find(','), text.size());
        machine::Check check{};
        const std::string word(text.substr(0, end));
        if (word == "all")
            out |= machine::all_checks;
        else if (Status s = choice(name, word.c_str(), check_names, check); !s)
            return s;
        out |= check;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return Status::ok();
}

const char* variable(const char* name) {
    const char* text = std::getenv(name);
    return text && *text ? text : nullptr;
}

}  // namespace

Result<DeviceOptions> DeviceOptions::from_environment(DeviceOptions base) {
    if (const char* text = variable("WAVEJIT_TARGET")) {
        if (!emulated_target(text))
            return Status(Code::UnsupportedTarget, "WAVEJIT_TARGET: " + not_emulated(text));
        base.target = text;
    }
    if (const char* text = variable("WAVEJIT_ENGINE"))
        if (Status s = choice("WAVEJIT_ENGINE", text, engines, base.engine); !s) return s;
    if (const char* text = variable("WAVEJIT_MEMORY"))
        if (Status s = choice("WAVEJIT_MEMORY", text, memory_modes, base.memory_mode); !s) return s;
    if (const char* text = variable("WAVEJIT_CHECK")) {
        if (Status s = choices("WAVEJIT_CHECK", text, base.checks); !s) return s;
        if (!variable("WAVEJIT_MEMORY")) base.memory_mode = machine::MemoryMode::Checked;
    }
    if (const char* text = variable("WAVEJIT_CHECK_REPORT")) base.reports.checks = text;
    if (const char* text = variable("WAVEJIT_CHECK_SUPPRESSIONS")) base.reports.suppressions = text;
    if (const char* text = variable("WAVEJIT_COVERAGE")) base.reports.coverage = text;
    if (const char* text = variable("WAVEJIT_FIDELITY")) base.reports.fidelity = text;
    if (const char* text = variable("WAVEJIT_DETERMINISTIC"))
        if (Status s = choice("WAVEJIT_DETERMINISTIC", text, switches, base.schedule.deterministic);
            !s)
            return s;
    if (const char* text = variable("WAVEJIT_WEAK_MEMORY"))
        if (Status s = choice("WAVEJIT_WEAK_MEMORY", text, switches, base.schedule.weak_memory); !s)
            return s;
    if (const char* text = variable("WAVEJIT_SCHEDULE_SEED")) {
        auto n = number("WAVEJIT_SCHEDULE_SEED", text, 0, ~0u);
        if (!n) return n.status();
        base.schedule.seed = *n;
    }
    if (const char* text = variable("WAVEJIT_THREADS")) {
        auto n = number("WAVEJIT_THREADS", text, 0, 1024);
        if (!n) return n.status();
        base.threads = *n;
    }
    if (const char* text = variable("WAVEJIT_CODE_KIB")) {
        auto n = number("WAVEJIT_CODE_KIB", text, 64, 4u << 20);
        if (!n) return n.status();
        base.code_bytes = uint64_t{*n} << 10;
    }
    if (const char* text = variable("WAVEJIT_CUS")) {
        auto n = number("WAVEJIT_CUS", text, 1, 1024);
        if (!n) return n.status();
        base.compute_units = *n;
    }
    if (const char* text = variable("WAVEJIT_CACHE"))
        if (Status s = choice("WAVEJIT_CACHE", text, switches, base.cache); !s) return s;
    if (const char* text = variable("WAVEJIT_CACHE_DIR")) base.cache_directory = text;
    if (const char* text = variable("WAVEJIT_CACHE_MIB")) {
        auto n = number("WAVEJIT_CACHE_MIB", text, 1, 1u << 20);
        if (!n) return n.status();
        base.cache_bytes = uint64_t{*n} << 20;
    }
    if (const char* text = variable("WAVEJIT_HOT")) {
        auto n = number("WAVEJIT_HOT", text, 0, 1u << 20);
        if (!n) return n.status();
        base.hot_blocks = *n;
    }
    if (const char* text = variable("WAVEJIT_PLANS")) base.reports.plans = text;
    if (const char* text = variable("WAVEJIT_CAPTURE")) base.captures.folder = text;
    if (const char* text = variable("WAVEJIT_CAPTURE_KERNEL")) base.captures.kernels = text;
    if (const char* text = variable("WAVEJIT_CAPTURE_COUNT")) {
        auto n = number("WAVEJIT_CAPTURE_COUNT", text, 1, 1u << 20);
        if (!n) return n.status();
        base.captures.count = *n;
    }
    return base;
}

}  // namespace wj::runtime
