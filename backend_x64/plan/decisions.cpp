#include "backend_x64/plan/decisions.h"

#include <fmt/format.h>

#include <algorithm>

namespace wj::x64 {

std::string_view mechanism_name(Mechanism mechanism) {
    static constexpr std::string_view names[] = {
#define MECHANISM(id, name, page) name,
#include "backend_x64/plan/mechanisms.inc"
#undef MECHANISM
    };
    return names[static_cast<size_t>(mechanism)];
}

void Decisions::add(const Decision& decision) {
    if (!std::ranges::count(list_, decision)) list_.push_back(decision);
}

void Decisions::translate_again(std::string_view why) {
    list_.clear();
    again_.push_back(why);
}

std::string Decisions::print(const ir::Block& block,
                             const std::function<std::string(uint64_t)>& guest_text) const {
    std::string out;
    for (const std::string_view why : again_) out += fmt::format("  again     {}\n", why);
    auto line = [&](const Decision& d, std::string_view indent) {
        out += fmt::format("{}{}{}{}{}\n", indent, d.taken ? "" : "not ",
                           mechanism_name(d.mechanism), d.detail.empty() ? "" : ": ", d.detail);
    };
    std::vector<Decision> accesses;
    for (const Decision& d : list_) {
        if (d.at == ir::no_value)
            line(d, "  ");
        else
            accesses.push_back(d);
    }
    const auto guest = [&](const Decision& d) { return block.insts[d.at].guest; };
    std::ranges::stable_sort(accesses, {}, guest);
    uint32_t last = ~0u;
    for (const Decision& d : accesses) {
        if (guest(d) != last) out += "  " + guest_text(block.guest_pcs[guest(d)]) + "\n";
        last = guest(d);
        line(d, "      ");
    }
    return out;
}

}  // namespace wj::x64
