// What a plan looks like for readers.
#include <fmt/format.h>

#include "backend_x64/plan/access_plan.h"

namespace wj::x64 {

struct TransferRow {
    std::string_view text;
    std::optional<Mechanism> mechanism;
    std::string_view how;
};
static const TransferRow& row_of(Transfer transfer) {
    static constexpr TransferRow rows[] = {
#define TRANSFER(id, text, mechanism, how) {text, mechanism, how},
#include "backend_x64/plan/transfers.inc"
#undef TRANSFER
    };
    return rows[static_cast<size_t>(transfer)];
}

static std::string shape_text(const Shape& s) {
    if (s.kind == Shape::Same) return "one place";
    std::string text = "base";
    const bool rows = s.width < machine::lanes;
    if (s.stride && s.width > 1)
        text += rows ? fmt::format(" + {} * (lane mod {})", s.stride, s.width)
                     : fmt::format(" + {} * lane", s.stride);
    if (!rows || s.step == 0) return text;
    const std::string step = s.step ? std::to_string(*s.step) : "step";
    return text + (s.width > 1 ? fmt::format(" + {} * (lane div {})", step, s.width)
                               : fmt::format(" + {} * lane", step));
}

// Where the elements are, if nobody knows how far apart: by the addresses that lanes have.
static std::string indices_text(const AccessPlan& p) {
    if (p.space == buffer_space) return "32-bit offsets in a buffer";
    const std::string bits = p.wide ? "64-bit " : "32-bit ";
    return bits + (p.scalar_base ? "offsets from a scalar base" : "addresses");
}

std::string AccessPlan::print() const {
    static constexpr std::string_view accesses[] = {"u8",    "s8",      "u16",     "s16",
                                                    "dword", "u8 high", "u16 high"};
    static constexpr std::string_view evidences[] = {"not looked at", "known", "learned", "tested"};
    static constexpr std::string_view modes[] = {"identity", "masked", "checked",
                                                 "checked, masked"};
    const auto name = [](auto names, auto n) { return std::string(names[static_cast<size_t>(n)]); };
    std::string text = name(accesses, access);
    if (dwords > 1) text = fmt::format("{} dwords", dwords);
    text += fmt::format(" at {}, {}; {}",
                        shape.kind == Shape::Indices ? indices_text(*this) : shape_text(shape),
                        name(evidences, evidence), row_of(transfer).text);
    if (window)
        text += fmt::format(" of {} bytes{}", window->bytes, window->whole ? ", whole" : "");
    if (rows) text += fmt::format(" of {} lanes", rows->lanes);
    if (table) text += fmt::format(" of {} bytes", table);
    if (in_memory_order) text += ", in the order of memory";
    if (of_pairs()) text += ", as pairs";
    return text + (full ? "; all lanes; " : "; lanes of the mask; ") + name(modes, mode);
}

void tell(Decisions* to, const AccessPlan& plan) {
    if (!to) [[likely]]
        return;
    const auto take = [&](Mechanism mechanism, std::string_view how) {
        to->add({mechanism, true, plan.v, how});
    };
    if (plan.is_tile()) take(Mechanism::Tuples, "four loads as one");
    if (plan.shape.kind == Shape::Line) take(Mechanism::Line, {});
    const TransferRow& row = row_of(plan.transfer);
    if (row.mechanism) take(*row.mechanism, row.how);
    to->add_plan(plan.v, plan.print());
}

}  // namespace wj::x64
