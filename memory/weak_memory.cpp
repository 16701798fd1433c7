#include "memory/weak_memory.h"

#include <algorithm>
#include <cstring>

#include "common/mix.h"
#include "memory/access.h"

namespace wj::memory {
namespace {

constexpr size_t most_under_way = 512, most_lines = 256;  // of a compute unit
// What is under way is there for some instructions, or until somebody waits for it.
constexpr uint64_t paces[] = {2, 16, 128, 4096};
constexpr uint64_t turns_at_end = 8;    // in which others run before a wave with stores ends
constexpr uint64_t steps_of_line = 16;  // that a cache keeps all it has, in paces

bool overlap(uint64_t a, uint32_t a_bytes, uint64_t b, uint32_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

// The first of the stores that has bytes in common with number `index`, or that.
template <class Stores>
size_t first_of(const Stores& stores, size_t index) {
    for (size_t i = 0; i < index; ++i)
        if (overlap(stores[i].address, stores[i].bytes, stores[index].address, stores[index].bytes))
            return i;
    return index;
}

}  // namespace

// In the order of their instructions. Others may arrive with them, so each is looked for anew.
template <class Which>
void WeakMemory::arrive_all(machine::ExecContext& ctx, ComputeUnit& unit, Which which) {
    for (;;) {
        const auto store = std::ranges::find_if(unit.under_way, which);
        if (store == unit.under_way.end()) return;
        arrive(ctx, unit, static_cast<size_t>(store - unit.under_way.begin()));
    }
}

void WeakMemory::begin(uint32_t waves, bool apart, uint64_t seed) {
    waves_.assign(waves, {});
    units_.assign(apart ? waves : 1, {});
    random_ = seed;
    pace_ = paces[next_random(random_) % std::size(paces)];
}

void WeakMemory::step(machine::ExecContext& ctx) {
    if (next_random(random_) % pace_) return;
    ComputeUnit& unit = units_[next_random(random_) % units_.size()];
    const auto& stores = unit.under_way;
    if (!stores.empty()) arrive(ctx, unit, next_random(random_) % stores.size());
    if (next_random(random_) % steps_of_line == 0) unit.cache.clear();
}

void WeakMemory::issue(uint32_t wave, bool coherent, bool counted) {
    waves_[wave].coherent = coherent;
    waves_[wave].counted += counted;
}

void WeakMemory::wait(machine::ExecContext& ctx, uint32_t wave, uint64_t left) {
    arrive_all(ctx, unit_of(wave), [&](const Store& s) {
        return s.wave == wave && s.number + left <= waves_[wave].counted;
    });
}

bool WeakMemory::stays(machine::ExecContext& ctx, uint32_t wave) {
    const auto of_wave = [&](const Store& s) { return s.wave == wave; };
    if (std::ranges::none_of(unit_of(wave).under_way, of_wave)) return false;
    if (next_random(random_) % turns_at_end) return true;
    wait(ctx, wave, 0);
    return false;
}

void WeakMemory::empty_cache(uint32_t wave) {
    unit_of(wave).cache.clear();
}

// Behind earlier ones to the same bytes. Taken out first: where the host has unmapped the memory
// meanwhile, the write does not return.
void WeakMemory::arrive(machine::ExecContext& ctx, ComputeUnit& unit, size_t index) {
    for (size_t first; (first = first_of(unit.under_way, index)) != index;) {
        const size_t before = unit.under_way.size();
        arrive(ctx, unit, first);
        index -= before - unit.under_way.size();
    }
    const Store store = unit.under_way[index];
    unit.under_way.erase(unit.under_way.begin() + static_cast<ptrdiff_t>(index));
    for (uint32_t b = 0; b < store.bytes; ++b) {
        const uint64_t at = store.address + b, offset = at % Line::bytes;
        const auto line = unit.cache.find(at - offset);
        if (line != unit.cache.end())
            reinterpret_cast<uint8_t*>(line->second.dwords.data())[offset] = store.data[b];
    }
    (void)write_any(ctx, store.address, store.data.data(), store.bytes);
}

void WeakMemory::arrive_at(machine::ExecContext& ctx, ComputeUnit& unit, uint64_t address,
                           uint32_t bytes) {
    arrive_all(ctx, unit,
               [&](const Store& s) { return overlap(s.address, s.bytes, address, bytes); });
}

const WeakMemory::Line& WeakMemory::line_at(machine::ExecContext& ctx, ComputeUnit& unit,
                                            uint64_t address) {
    if (const auto known = unit.cache.find(address); known != unit.cache.end())
        return known->second;
    Line line;
    for (uint32_t d = 0; d < line.dwords.size(); ++d)
        if (read(ctx, address + 4 * d, line.dwords[d])) line.valid |= 1u << d;
    if (unit.cache.size() >= most_lines) unit.cache.clear();
    return unit.cache.try_emplace(address, line).first->second;
}

bool WeakMemory::load(machine::ExecContext& ctx, uint32_t wave, uint64_t address, void* out,
                      uint32_t bytes) {
    address = ctx.reach(address);
    const Outcome outcome = outcome_of(ctx, address, bytes, false);
    if (outcome == Outcome::Fault) return false;
    if (waves_[wave].coherent || outcome == Outcome::Hooks) {
        make_room(ctx, wave, address, bytes);
        return read_any(ctx, address, out, bytes);
    }
    ComputeUnit& unit = unit_of(wave);
    arrive_at(ctx, unit, address, bytes);
    auto* to = static_cast<uint8_t*>(out);
    for (uint32_t b = 0; b < bytes; ++b) {
        const uint64_t at = address + b, offset = at % Line::bytes;
        const Line& line = line_at(ctx, unit, at - offset);
        if (line.valid >> offset / 4 & 1)
            to[b] = reinterpret_cast<const uint8_t*>(line.dwords.data())[offset];
        else if (!read(ctx, at, to[b]))
            return false;
    }
    return true;
}

bool WeakMemory::store(machine::ExecContext& ctx, uint32_t wave, uint64_t address, const void* in,
                       uint32_t bytes) {
    address = ctx.reach(address);
    const Outcome outcome = outcome_of(ctx, address, bytes, true);
    if (outcome == Outcome::Fault) return false;
    if (outcome == Outcome::Hooks) return write_any(ctx, address, in, bytes);
    ComputeUnit& unit = unit_of(wave);
    if (unit.under_way.size() >= most_under_way) arrive(ctx, unit, 0);
    Store store{address, waves_[wave].counted, wave, bytes, {}};
    std::memcpy(store.data.data(), in, bytes);
    unit.under_way.push_back(store);
    return true;
}

void WeakMemory::make_room(machine::ExecContext& ctx, uint32_t wave, uint64_t address,
                           uint32_t bytes) {
    address = ctx.reach(address);
    ComputeUnit& unit = unit_of(wave);
    arrive_at(ctx, unit, address, bytes);
    for (uint64_t line = address - address % Line::bytes; line < address + bytes;
         line += Line::bytes)
        unit.cache.erase(line);
}

}  // namespace wj::memory
