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

void Decisions::add_plan(ir::Value access, std::string text) {
    std::pair plan(access, std::move(text));
    if (!std::ranges::count(plans_, plan)) plans_.push_back(std::move(plan));
}

void Decisions::add_loop(std::string text) {
    loops_.push_back(std::move(text));
}

void Decisions::translate_again(std::string_view why) {
    list_.clear();
    plans_.clear();
    loops_.clear();
    again_.push_back(why);
}

static std::string text_of(const Decision& d) {
    return fmt::format("{}{}{}{}", d.taken ? "" : "not ", mechanism_name(d.mechanism),
                       d.detail.empty() ? "" : ": ", d.detail);
}

std::string Decisions::print(const ir::Block& block,
                             const std::function<std::string(uint64_t)>& guest_text) const {
    std::string out;
    for (const std::string_view why : again_) out += fmt::format("  again     {}\n", why);
    std::vector<std::pair<uint32_t, std::string>> accesses;  // by guest instruction
    for (const Decision& d : list_) {
        if (d.at == ir::no_value)
            out += "  " + text_of(d) + "\n";
        else
            accesses.emplace_back(block.insts[d.at].guest, text_of(d));
    }
    for (const std::string& text : loops_) out += fmt::format("  loop: {}\n", text);
    for (const auto& [access, text] : plans_)
        accesses.emplace_back(block.insts[access].guest, "access: " + text);
    std::ranges::stable_sort(accesses, {}, [](const auto& line) { return line.first; });
    uint32_t last = ~0u;
    for (const auto& [guest, text] : accesses) {
        if (guest != last) out += "  " + guest_text(block.guest_pcs[guest]) + "\n";
        last = guest;
        out += "      " + text + "\n";
    }
    return out;
}

}  // namespace wj::x64
