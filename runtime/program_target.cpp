#include "runtime/program_target.h"

#include <algorithm>
#include <vector>

#include "frontend/bundle.h"
#include "frontend/target.h"

namespace wj::runtime {
namespace {

// Each target once.
std::string names_of(const std::vector<const FoundCodeObject*>& objects,
                     const char* between = ", ") {
    std::vector<std::string> names;
    for (const FoundCodeObject* object : objects)
        if (std::string name = object->target.str();
            std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : between) + name;
    return text;
}

std::vector<const FoundCodeObject*> addresses(const std::vector<FoundCodeObject>& objects) {
    std::vector<const FoundCodeObject*> all;
    for (const FoundCodeObject& object : objects) all.push_back(&object);
    return all;
}

Status nothing_emulated(const std::string& file, const std::vector<FoundCodeObject>& found) {
    return {Code::UnsupportedTarget, file + " holds code for " + names_of(addresses(found)) +
                                         ", but emulated are " + supported_target_names() +
                                         "; recompile it with --offload-arch=gfx90a"};
}

// What HIP and wavejit know best comes first; behind these, all others that are emulated.
constexpr std::string_view preference[] = {
    "gfx90a", "gfx908", "gfx906", "gfx900", "gfx904",       "gfx909",
    "gfx90c", "gfx902", "gfx942", "gfx950", "gfx9-generic", "gfx9-4-generic",
    "gfx803", "gfx802", "gfx801", "gfx805", "gfx810"};
constexpr size_t rank_not_emulated = std::size(preference) + 1;

// Lower is better.
size_t rank_of(const TargetId& target) {
    if (!target.processor || !find_target(target.processor->name)) return rank_not_emulated;
    return static_cast<size_t>(std::ranges::find(preference, target.processor->name) - preference);
}

}  // namespace

Result<std::string> choose_target(const std::string& file) {
    auto found = find_code_objects_in_file(file);
    if (!found || found->empty()) return std::string();
    const TargetId* best = nullptr;
    for (const FoundCodeObject& object : *found) {
        const size_t rank = rank_of(object.target);
        const size_t best_rank = best ? rank_of(*best) : rank_not_emulated;
        const bool without_xnack = object.target.xnack != Feature::On;
        if (rank < best_rank ||
            (best && object.target.processor == best->processor && without_xnack))
            best = &object.target;
    }
    if (!best) return nothing_emulated(file, *found);
    return best->str();
}

Status check_target(const std::string& file, const std::string& target) {
    auto found = find_code_objects_in_file(file);
    const auto agent = parse_target_id(target);
    if (!found || found->empty() || !agent) return {};
    std::vector<const FoundCodeObject*> emulated;
    for (const FoundCodeObject& object : *found) {
        if (can_run_on(object.target, *agent)) return {};
        if (object.target.processor && find_target(object.target.processor->name))
            emulated.push_back(&object);
    }
    if (emulated.empty()) return nothing_emulated(file, *found);
    return {Code::UnsupportedTarget,
            file + " holds code for " + names_of(addresses(*found)) + ", none of it for " + target +
                ": set WAVEJIT_TARGET to " + names_of(emulated, " or ") +
                ", or do not set it, or recompile the program with --offload-arch=" +
                std::string(agent->processor->name)};
}

}  // namespace wj::runtime
