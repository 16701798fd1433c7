#include "frontend/processor_names.h"

#include <algorithm>

namespace wj {
namespace {

struct Alias {
    std::string_view name, processor;
};
constexpr Alias aliases[] = {
    {"tahiti", "gfx600"},    {"pitcairn", "gfx601"}, {"verde", "gfx601"},
    {"hainan", "gfx602"},    {"oland", "gfx602"},    {"kaveri", "gfx700"},
    {"hawaii", "gfx701"},    {"kabini", "gfx703"},   {"mullins", "gfx703"},
    {"bonaire", "gfx704"},   {"carrizo", "gfx801"},  {"iceland", "gfx802"},
    {"tonga", "gfx802"},     {"fiji", "gfx803"},     {"polaris10", "gfx803"},
    {"polaris11", "gfx803"}, {"tongapro", "gfx805"}, {"stoney", "gfx810"}};

}  // namespace

std::string_view processor_name(std::string_view name) {
    const auto at = std::ranges::find(aliases, name, &Alias::name);
    return at == std::end(aliases) ? name : at->processor;
}

std::string alternative_names(std::string_view processor) {
    std::string names;
    for (const Alias& alias : aliases)
        if (alias.processor == processor)
            names += (names.empty() ? "" : ", ") + std::string(alias.name);
    return names;
}

}  // namespace wj
