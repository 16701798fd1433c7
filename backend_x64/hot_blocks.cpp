#include "backend_x64/hot_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace wj::x64 {
namespace {

uint64_t times(const CountedRun& run) {
    return std::atomic_ref(*run.counter).load(std::memory_order_relaxed);
}

}  // namespace

void HotBlocks::add(const std::string& name, const BlockRecord& block, const CompiledBlock& code,
                    const GuestText& text) {
    Block made{name, {}, code.runs, list_host_code(code)};
    for (const uint64_t pc : block.guest_pcs) made.guest.push_back(text(pc));
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::move(made));
}

uint64_t HotBlocks::executed(const Block& block) {
    uint64_t all = 0;
    for (const CountedRun& run : block.runs) all += run.instructions * times(run);
    return all;
}

HotBlocks::Totals HotBlocks::totals() const {
    const std::lock_guard lock(mutex_);
    Totals t;
    for (const Block& block : blocks_) {
        t.instructions += executed(block);
        for (const CountedRun& run : block.runs)
            if (run.call) t.calls += times(run);
    }
    return t;
}

// Runs that were never executed are one line.
void HotBlocks::print(const Block& block, std::string& out) {
    static constexpr const char* format = "  {:<52} {:>12}  {}\n";
    uint32_t guest = ~0u;
    size_t unused = 0;
    auto skipped = [&] {
        if (unused)
            out += fmt::format(fmt::runtime(format), "", "",
                               fmt::format("    ({} instructions, never executed)", unused));
        unused = 0;
    };
    for (const HostLine& line : block.lines) {
        const uint64_t count = times(block.runs[line.run]);
        if (!count) {
            unused += !line.label;
            continue;
        }
        const bool other = line.guest != guest && line.guest < block.guest.size();
        skipped();
        guest = line.guest;
        out += fmt::format(fmt::runtime(format), other ? block.guest[line.guest] : "",
                           line.label ? "" : std::to_string(count),
                           (line.label ? "" : "    ") + line.text);
    }
    skipped();
}

std::string HotBlocks::listing(size_t most) const {
    const Totals all = totals();
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<uint64_t, const Block*>> order;
    for (const Block& block : blocks_)
        if (const uint64_t count = executed(block)) order.emplace_back(count, &block);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string out = fmt::format("{} host instructions in {} blocks, {} calls of C++ code\n",
                                  all.instructions, order.size(), all.calls);
    for (size_t i = 0; i < std::min(most, order.size()); ++i) {
        const auto& [count, block] = order[i];
        out += fmt::format(
            "\n{}: {:.1f} %, {} host instructions, {} guest instructions\n", block->name,
            100.0 * static_cast<double>(count) / static_cast<double>(all.instructions), count,
            block->guest.size());
        print(*block, out);
    }
    return out;
}

}  // namespace wj::x64
