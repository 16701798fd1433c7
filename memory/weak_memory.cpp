#include "memory/weak_memory.h"

#include <algorithm>
#include <cstring>

#include "common/mix.h"
#include "memory/access.h"

namespace wj::memory {
namespace {

constexpr size_t most_under_way = 512, most_lines = 256;  // of a wave, of a cache
// What is under way is there for some instructions, or until somebody waits for it.
constexpr uint64_t paces[] = {2, 16, 128, 4096};
constexpr uint64_t steps_of_line = 16;  // that a cache keeps all it has, in paces

bool overlap(uint64_t a, uint32_t a_bytes, uint64_t b, uint32_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

// The store that has to arrive before number `index` does, as it is an earlier one to the same
// bytes; or itself.
template <class Stores>
size_t first_of(const Stores& stores, size_t index) {
    for (size_t i = 0; i < index; ++i)
        if (overlap(stores[i].address, stores[i].bytes, stores[index].address, stores[index].bytes))
            return first_of(stores, i);
    return index;
}

}  // namespace

void WeakMemory::begin(uint32_t waves, bool caches_apart, uint64_t seed) {
    waves_.assign(waves, {});
    caches_.assign(caches_apart ? waves : 1, {});
    random_ = seed;
    pace_ = paces[next_random(random_) % std::size(paces)];
}

void WeakMemory::step(machine::ExecContext& ctx) {
    if (next_random(random_) % pace_) return;
    const auto wave = static_cast<uint32_t>(next_random(random_) % waves_.size());
    const auto& stores = waves_[wave].under_way;
    if (!stores.empty()) arrive(ctx, wave, first_of(stores, next_random(random_) % stores.size()));
    if (next_random(random_) % steps_of_line == 0) empty_cache(wave);
}

void WeakMemory::issue(uint32_t wave, bool coherent, bool counted) {
    waves_[wave].coherent = coherent;
    waves_[wave].counted += counted;
}

void WeakMemory::wait(machine::ExecContext& ctx, uint32_t wave, uint64_t left) {
    const WaveState& w = waves_[wave];
    while (!w.under_way.empty() && w.under_way[0].number + left <= w.counted) arrive(ctx, wave, 0);
}

void WeakMemory::empty_cache(uint32_t wave) {
    cache_of(wave).clear();
}

// Taken out first: where the host has unmapped the memory meanwhile, the write does not return.
void WeakMemory::arrive(machine::ExecContext& ctx, uint32_t wave, size_t index) {
    auto& stores = waves_[wave].under_way;
    const Store store = stores[index];
    stores.erase(stores.begin() + static_cast<ptrdiff_t>(index));
    Cache& cache = cache_of(wave);
    for (uint32_t b = 0; b < store.bytes; ++b) {
        const uint64_t at = store.address + b, offset = at % Line::bytes;
        const auto line = cache.find(at - offset);
        if (line != cache.end())
            reinterpret_cast<uint8_t*>(line->second.dwords.data())[offset] = store.data[b];
    }
    (void)write_any(ctx, store.address, store.data.data(), store.bytes);
}

void WeakMemory::arrive_at(machine::ExecContext& ctx, uint32_t wave, uint64_t address,
                           uint32_t bytes) {
    const auto& stores = waves_[wave].under_way;
    for (size_t i = 0; i < stores.size();) {
        if (overlap(stores[i].address, stores[i].bytes, address, bytes)) {
            arrive(ctx, wave, first_of(stores, i));
            i = 0;
        } else {
            ++i;
        }
    }
}

const WeakMemory::Line& WeakMemory::line_at(machine::ExecContext& ctx, Cache& cache,
                                            uint64_t address) {
    if (const auto known = cache.find(address); known != cache.end()) return known->second;
    Line line;
    for (uint32_t d = 0; d < line.dwords.size(); ++d)
        if (read(ctx, address + 4 * d, line.dwords[d])) line.valid |= 1u << d;
    if (cache.size() >= most_lines) cache.clear();
    return cache.try_emplace(address, line).first->second;
}

bool WeakMemory::load(machine::ExecContext& ctx, uint32_t wave, uint64_t address, void* out,
                      uint32_t bytes) {
    address = ctx.reach(address);
    if (!accessible(ctx, address, bytes, false)) return false;
    arrive_at(ctx, wave, address, bytes);
    Cache& cache = cache_of(wave);
    auto* to = static_cast<uint8_t*>(out);
    if (waves_[wave].coherent) {
        make_room(ctx, wave, address, bytes);
        return read_any(ctx, address, to, bytes);
    }
    for (uint32_t b = 0; b < bytes; ++b) {
        const uint64_t at = address + b, offset = at % Line::bytes;
        const Line& line = line_at(ctx, cache, at - offset);
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
    if (!accessible(ctx, address, bytes, true)) return false;
    auto& stores = waves_[wave].under_way;
    if (stores.size() >= most_under_way) arrive(ctx, wave, 0);
    Store store{address, waves_[wave].counted, bytes, {}};
    std::memcpy(store.data.data(), in, bytes);
    stores.push_back(store);
    return true;
}

void WeakMemory::make_room(machine::ExecContext& ctx, uint32_t wave, uint64_t address,
                           uint32_t bytes) {
    address = ctx.reach(address);
    arrive_at(ctx, wave, address, bytes);
    Cache& cache = cache_of(wave);
    for (uint64_t line = address - address % Line::bytes; line < address + bytes;
         line += Line::bytes)
        cache.erase(line);
}

}  // namespace wj::memory
