#include "tools/code_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "frontend/target.h"
#include "tools/cli.h"

namespace wj::tools {

CodeObject linked_object(const FoundCodeObject& found) {
    auto object = parse_code_object(found.bytes);
    if (!object) fail(found.origin + ": " + object.status().message());
    if (!object->loadable)
        fail(found.origin +
             " is a relocatable object, not linked yet: link it with ld.lld -shared first");
    return std::move(*object);
}

namespace {

// Each target once.
std::string names_of(const std::vector<const FoundCodeObject*>& objects) {
    std::vector<std::string> names;
    for (const FoundCodeObject* object : objects)
        if (std::string name = object->target.str();
            std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<const FoundCodeObject*> addresses(const std::vector<FoundCodeObject>& objects) {
    std::vector<const FoundCodeObject*> all;
    for (const FoundCodeObject& object : objects) all.push_back(&object);
    return all;
}

[[noreturn]] void fail_not_emulated(const std::string& file,
                                    const std::vector<FoundCodeObject>& found) {
    fail(file + " holds code for " + names_of(addresses(found)) + ", but emulated are " +
         supported_target_names() + "; recompile it with --offload-arch=gfx90a");
}

// What HIP and wavejit know best comes first; behind these, all others that are emulated.
constexpr std::string_view preference[] = {
    "gfx90a", "gfx908", "gfx906", "gfx900", "gfx904",       "gfx909",
    "gfx90c", "gfx902", "gfx942", "gfx950", "gfx9-generic", "gfx9-4-generic",
    "gfx803", "gfx802", "gfx801", "gfx805", "gfx810"};
constexpr size_t not_emulated = std::size(preference) + 1;

// Lower is better.
size_t rank_of(const TargetId& target) {
    if (!target.processor || !find_target(target.processor->name)) return not_emulated;
    return static_cast<size_t>(std::ranges::find(preference, target.processor->name) - preference);
}

}  // namespace

std::string choose_target(const std::string& file) {
    auto found = find_code_objects_in_file(file);
    if (!found || found->empty()) return {};
    const TargetId* best = nullptr;
    for (const FoundCodeObject& object : *found) {
        const size_t rank = rank_of(object.target);
        const size_t best_rank = best ? rank_of(*best) : not_emulated;
        const bool without_xnack = object.target.xnack != Feature::On;
        if (rank < best_rank ||
            (best && object.target.processor == best->processor && without_xnack))
            best = &object.target;
    }
    if (!best) fail_not_emulated(file, *found);
    return best->str();
}

void check_target(const std::string& file, const std::string& target) {
    auto found = find_code_objects_in_file(file);
    const auto agent = parse_target_id(target);
    if (!found || found->empty() || !agent) return;
    std::vector<const FoundCodeObject*> emulated;
    for (const FoundCodeObject& object : *found) {
        if (can_run_on(object.target, *agent)) return;
        if (object.target.processor && find_target(object.target.processor->name))
            emulated.push_back(&object);
    }
    if (emulated.empty()) fail_not_emulated(file, *found);
    fail(file + " holds code for " + names_of(addresses(*found)) + ", none of it for " + target +
         ": set WAVEJIT_TARGET to " + names_of(emulated) +
         ", or do not set it, or recompile the program with --offload-arch=" +
         std::string(agent->processor->name));
}

}  // namespace wj::tools
