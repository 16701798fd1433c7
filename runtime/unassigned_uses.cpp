#include "runtime/unassigned_uses.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "frontend/inst.h"
#include "machine/register_shadow.h"

namespace wj::runtime {
namespace {

const std::byte* code_at(const memory::AddressSpace& memory, uint64_t pc, uint64_t bytes) {
    return static_cast<const std::byte*>(memory.translate(pc, bytes, memory::readable));
}

lift::AssignedAtStart start_of(const LaunchPlan& plan) {
    machine::RegisterShadow shadow;
    shadow.begin(true, plan.vgpr_count, plan.id_rows, initial_sgprs(plan), 0);
    lift::AssignedAtStart start;
    for (size_t s = 0; s < shadow.scalars.size(); s++) start.scalars[s] = !shadow.scalars[s];
    start.rows = plan.id_rows;
    const auto& size = plan.request.work_group;
    start.whole = plan.whole_groups &&
                  uint64_t{size[0]} * size[1] * size[2] % plan.target->traits.wave_size == 0;
    return start;
}

}  // namespace

bool UnassignedUses::possible(const LaunchPlan& plan, const memory::AddressSpace& memory) {
    const lift::AssignedAtStart start = start_of(plan);
    const std::lock_guard lock(mutex_);
    Answer& answer = known_[plan.entry];
    if (!answer.code.empty() && answer.start == start) {
        const std::byte* now = code_at(memory, answer.use.begin, answer.code.size());
        if (now && std::ranges::equal(answer.code, std::span(now, answer.code.size())))
            return answer.use.possible;
    }
    std::array<uint32_t, most_instruction_words> words{};
    const lift::Fetch fetch = [&](uint64_t pc) -> std::span<const uint32_t> {
        size_t count = words.size();
        while (count && !code_at(memory, pc, count * 4)) count--;
        if (count) std::memcpy(words.data(), code_at(memory, pc, count * 4), count * 4);
        return {words.data(), count};
    };
    answer = {start, lift::find_unassigned_use(*plan.target, fetch, plan.entry, start), {}};
    const uint64_t bytes = answer.use.end - answer.use.begin;
    const std::byte* now = bytes ? code_at(memory, answer.use.begin, bytes) : nullptr;
    if (!now) return true;
    answer.code.assign(now, now + bytes);
    for (uint64_t at = answer.use.begin; at < answer.use.end;
         at = (at | (memory::page_size - 1)) + 1)
        if (memory.translate(at, 1, memory::writable)) answer.use.possible = true;
    return answer.use.possible;
}

}  // namespace wj::runtime
