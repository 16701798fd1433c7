#include "runtime/not_emulated.h"

#include <algorithm>

#include "frontend/code_object_target.h"

namespace wj::runtime {
namespace {

// Architecture r600: another instruction set.
constexpr std::string_view r600[] = {"r600",  "r630",   "rs880",   "rv670",   "rv710",   "rv730",
                                     "rv770", "cedar",  "cypress", "juniper", "redwood", "sumo",
                                     "barts", "caicos", "cayman",  "turks"};

}  // namespace

const Target* emulated_target(std::string_view name) {
    if (const Target* target = find_target(name)) return target;
    const auto id = parse_target_id(name);
    return id ? find_target(id->processor->name) : nullptr;
}

std::string not_emulated(std::string_view name) {
    std::string what{'\''};
    what.append(name) += '\'';
    if (const auto id = parse_target_id(name); id && id->processor->name != name)
        what += " (" + std::string(id->processor->name) + ")";
    if (std::ranges::count(r600, name)) what += " (of the r600 family, another instruction set)";
    return what + " is not an emulated processor; expected one of " + supported_target_names();
}

}  // namespace wj::runtime
