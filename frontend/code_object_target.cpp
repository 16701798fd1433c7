#include "frontend/code_object_target.h"

#include <array>
#include <charconv>
#include <utility>

#include "frontend/processor_names.h"

namespace wj {
namespace {

// From LLVM's AMDGPU usage guide (kernel descriptor, compute_pgm_rsrc1/2/3)
// clang-format off
//                                   vgpr64 vgpr32 sgpr pairs  agprs  accum  r3zero fltctl ovfl   preld  wide   user
constexpr RegisterRules gfx6   = {   4,     0,     8,   false, false, false, true,  true,  false, false, false, 16};
constexpr RegisterRules gfx9   = {   4,     0,     8,   true,  false, false, true,  true,  true,  false, false, 16};
constexpr RegisterRules gfx908 = {   4,     0,     8,   true,  true,  false, true,  true,  true,  false, false, 16};
constexpr RegisterRules gfx90a = {   8,     0,     8,   true,  true,  true,  false, true,  true,  true,  false, 16};
constexpr RegisterRules gfx10  = {   4,     8,     0,   false, false, false, false, true,  true,  false, false, 16};
constexpr RegisterRules gfx11  = {   4,     8,     0,   false, false, false, false, true,  true,  false, false, 16};
constexpr RegisterRules gfx12  = {   4,     8,     0,   false, false, false, false, false, true,  false, false, 16};
constexpr RegisterRules gfx125 = {   0,     16,    0,   false, false, false, false, false, true,  true,  true,  32};

constexpr Processor processors[] = {
#define PROCESSOR(name, mach, rules, xnack, sramecc, generic) {name, mach, &rules, bool(xnack), bool(sramecc), generic},
#include "frontend/tables/processors.inc"
#undef PROCESSOR
};
// clang-format on

constexpr bool unique() {
    for (const Processor& a : processors)
        for (const Processor& b : processors)
            if (&a != &b && (a.mach == b.mach || a.name == b.name)) return false;
    return true;
}
static_assert(unique());

// Versions of AMD's ABI of 2016 whose processors have got another's number since (SEED-PROC-24,
// -28).
constexpr std::pair<std::string_view, std::string_view> renumbered[] = {{"8:0:0", "gfx802"},
                                                                        {"8:0:4", "gfx803"}};

// "AMD:AMDGPU:9:0:10" -> "gfx90a"
std::string old_isa_name(std::string_view text) {
    constexpr std::string_view prefix = "AMD:AMDGPU:";
    if (!text.starts_with(prefix)) return {};
    text.remove_prefix(prefix.size());
    for (const auto& [version, name] : renumbered)
        if (text == version) return std::string(name);
    std::array<uint32_t, 3> part{};
    for (size_t i = 0; i < 3; i++) {
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part[i]);
        if (error != std::errc() || part[i] > 99) return {};
        text.remove_prefix(static_cast<size_t>(end - text.data()));
        if (i < 2) {
            if (text.empty() || text[0] != ':') return {};
            text.remove_prefix(1);
        }
    }
    if (!text.empty() || part[1] > 9 || part[2] > 15) return {};
    return "gfx" + std::to_string(part[0]) + std::to_string(part[1]) + "0123456789abcdef"[part[2]];
}

bool read_feature(std::string_view word, TargetId& id) {
    if (word.size() < 2) return false;
    char sign = word.back();
    std::string_view name = word.substr(0, word.size() - 1);
    if (sign != '+' && sign != '-') return false;
    if (name == "sram-ecc") name = "sramecc";
    Feature& feature = name == "xnack" ? id.xnack : id.sramecc;
    if (name != "xnack" && name != "sramecc") return false;
    if (feature == Feature::Unsupported) return false;
    feature = sign == '+' ? Feature::On : Feature::Off;
    return true;
}

const char* suffix(Feature feature) {
    return feature == Feature::On ? "+" : feature == Feature::Off ? "-" : nullptr;
}

bool feature_agrees(Feature code, Feature agent) {
    if (code == Feature::Any || code == Feature::Unsupported) return true;
    return agent == Feature::Any || code == agent;
}

}  // namespace

const Processor* find_processor(uint32_t mach) {
    for (const Processor& p : processors)
        if (p.mach == mach) return &p;
    return nullptr;
}

const Processor* find_processor(std::string_view name) {
    name = processor_name(name);
    for (const Processor& p : processors)
        if (p.name == name) return &p;
    return nullptr;
}

std::string TargetId::str() const {
    std::string out(processor ? processor->name : "unknown");
    if (const char* s = suffix(sramecc)) out += std::string(":sramecc") + s;
    if (const char* s = suffix(xnack)) out += std::string(":xnack") + s;
    return out;
}

std::string TargetId::isa_name() const {
    return "amdgcn-amd-amdhsa--" + str();
}

std::optional<TargetId> parse_target_id(std::string_view text) {
    std::string old = old_isa_name(text);
    if (!old.empty()) text = old;
    size_t start = 0;
    if (text.starts_with("amdgcn-")) {
        start =
            text.find("-gfx");  // the environment may be named: amdgcn-amd-amdhsa-unknown-gfx906
        if (start == std::string_view::npos) start = text.rfind('-');
        start++;
    }
    text.remove_prefix(start);
    // A '-' also occurs in generic names ("gfx9-4-generic") and as the sign of a feature.
    size_t end = text.find_first_of(":+");
    TargetId id;
    id.processor = find_processor(text.substr(0, end));
    if (!id.processor) return std::nullopt;
    id.xnack = id.processor->xnack ? Feature::Any : Feature::Unsupported;
    id.sramecc = id.processor->sramecc ? Feature::Any : Feature::Unsupported;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    while (!text.empty()) {
        bool old_form = text[0] == '+';
        text.remove_prefix(1);
        size_t stop = text.find(old_form ? '+' : ':');
        std::string word(text.substr(0, stop));
        if (old_form) word += '+';
        if (!read_feature(word, id)) return std::nullopt;
        text.remove_prefix(stop == std::string_view::npos ? text.size() : stop);
    }
    return id;
}

bool can_run_on(const TargetId& code, const TargetId& agent) {
    if (!code.processor || !agent.processor) return false;
    bool same =
        code.processor == agent.processor || code.processor->name == agent.processor->generic;
    return same && feature_agrees(code.xnack, agent.xnack) &&
           feature_agrees(code.sramecc, agent.sramecc);
}

}  // namespace wj
