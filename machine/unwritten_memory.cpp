#include "machine/unwritten_memory.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace wj::machine {
namespace {

constexpr uint32_t word_bits = 64;

uint64_t words_of(uint64_t bytes) {
    return (bytes + word_bits - 1) / word_bits;
}
// Bits [first, first + count) of a word.
uint64_t bits_at(uint64_t first, uint64_t count) {
    const uint64_t low = count >= word_bits ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    return low << first;
}

// Calls f(word, bits of it) for the bytes [at, end) of a region.
template <class F>
void each_word(uint64_t at, uint64_t end, F&& f) {
    while (at < end) {
        const uint64_t first = at % word_bits, count = std::min(word_bits - first, end - at);
        f(at / word_bits, bits_at(first, count));
        at += count;
    }
}

}  // namespace

// Memory of the host that nobody has touched holds zeros and takes no room.
bool UnwrittenMemory::Region::make(uint64_t guest, uint64_t size) {
    static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));
    begin = guest;
    bytes = size;
    written.reset(
        static_cast<std::atomic<uint64_t>*>(std::calloc(words_of(size), sizeof(uint64_t))));
    left = written ? size : 0;
    return written != nullptr;
}

// Without memory for the bits the allocation counts as written.
void UnwrittenMemory::add(uint64_t guest, uint64_t bytes) {
    const std::unique_lock lock(mutex_);
    given_away_.erase(guest);
    const auto [at, is_new] = regions_.try_emplace(guest);
    left_ -= at->second.left.load();
    if (at->second.make(guest, bytes))
        left_ += bytes;
    else
        regions_.erase(at);
}

void UnwrittenMemory::remove(uint64_t guest) {
    const std::unique_lock lock(mutex_);
    const auto at = regions_.find(guest);
    if (at == regions_.end()) return;
    left_ -= at->second.left.load();
    regions_.erase(at);
}

void UnwrittenMemory::give_away(uint64_t guest) {
    remove(guest);
    const std::unique_lock lock(mutex_);
    given_away_.insert(guest);
}

void UnwrittenMemory::write(uint64_t guest, uint64_t bytes) {
    if (any()) Accesses(*this).write(guest, bytes);
}

void UnwrittenMemory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
    if (!any() || to == from) return;
    Accesses accesses(*this);
    if (accesses.written(from, bytes)) return accesses.write(to, bytes);
    // As memmove does it: away from where they overlap.
    for (uint64_t done = 0; done < bytes;) {
        const auto part = static_cast<uint32_t>(std::min<uint64_t>(word_bits, bytes - done));
        const uint64_t at = to < from ? done : bytes - done - part;
        accesses.set(to + at, part, accesses.unwritten(from + at, part));
        done += part;
    }
}

UnwrittenMemory::State UnwrittenMemory::save() const {
    const std::unique_lock lock(mutex_);
    State state;
    for (const auto& [guest, region] : regions_) {
        Saved& saved = state[guest];
        saved.bytes = region.bytes;
        if (!region.left.load()) continue;
        saved.written.resize(words_of(region.bytes));
        for (size_t w = 0; w < saved.written.size(); w++)
            saved.written[w] = region.written[w].load();
    }
    return state;
}

void UnwrittenMemory::restore(const State& state) {
    const std::unique_lock lock(mutex_);
    regions_.clear();
    left_ = 0;
    for (const auto& [guest, saved] : state) {
        if (given_away_.contains(guest)) continue;
        Region& region = regions_[guest];
        if (!region.make(guest, saved.bytes)) {
            regions_.erase(guest);
            continue;
        }
        left_ += saved.bytes;
        each_word(0, saved.bytes, [&](uint64_t word, uint64_t bits) {
            change(region, word, saved.written.empty() ? bits : saved.written[word], true);
        });
    }
}

void UnwrittenMemory::change(Region& region, uint64_t word, uint64_t bits, bool written) {
    std::atomic<uint64_t>& now = region.written[word];
    const uint64_t has = now.load(std::memory_order_relaxed);
    if (written ? !(bits & ~has) : !(bits & has)) return;
    const uint64_t before = written ? now.fetch_or(bits) : now.fetch_and(~bits);
    const auto changed = static_cast<uint64_t>(std::popcount(bits & (written ? ~before : before)));
    if (written) {
        region.left -= changed;
        left_ -= changed;
    } else {
        region.left += changed;
        left_ += changed;
    }
}

UnwrittenMemory::Region* UnwrittenMemory::Accesses::region_at(uint64_t guest) {
    if (guest >= begin_ && guest < end_) return region_;
    Regions& all = memory_.regions_;
    const auto behind = all.upper_bound(guest);
    region_ = nullptr;
    begin_ = 0;
    end_ = behind == all.end() ? ~uint64_t{0} : behind->first;
    if (behind == all.begin()) return nullptr;
    Region& before = std::prev(behind)->second;
    begin_ = before.begin + before.bytes;
    if (guest >= begin_) return nullptr;
    end_ = begin_;
    begin_ = before.begin;
    return region_ = &before;
}

bool UnwrittenMemory::Accesses::written(uint64_t guest, uint64_t bytes) {
    for (const uint64_t behind = guest + bytes; guest < behind;) {
        const Region* region = region_at(guest);
        const uint64_t end = std::min(behind, end_);
        bool all = true;
        if (region && region->left.load(std::memory_order_relaxed))
            each_word(guest - region->begin, end - region->begin, [&](uint64_t w, uint64_t bits) {
                all = all && !(bits & ~region->written[w].load(std::memory_order_relaxed));
            });
        if (!all) return false;
        guest = end;
    }
    return true;
}

void UnwrittenMemory::Accesses::write(uint64_t guest, uint64_t bytes) {
    for (const uint64_t behind = guest + bytes; guest < behind;) {
        Region* region = region_at(guest);
        const uint64_t end = std::min(behind, end_);
        if (region && region->left.load(std::memory_order_relaxed))
            each_word(guest - region->begin, end - region->begin,
                      [&](uint64_t w, uint64_t bits) { memory_.change(*region, w, bits, true); });
        guest = end;
    }
}

uint64_t UnwrittenMemory::Accesses::look(uint64_t guest, uint32_t bytes, const uint64_t* set) {
    uint64_t found = 0;
    for (uint32_t at = 0; at < bytes;) {
        Region* region = region_at(guest + at);
        const auto end = static_cast<uint32_t>(std::min<uint64_t>(bytes, end_ - guest));
        if (end <= at) break;  // the last byte of all addresses
        if (!region || (!set && !region->left.load(std::memory_order_relaxed))) {
            at = end;
            continue;
        }
        const uint64_t base = guest - region->begin;  // below 0 where it begins in front of it
        each_word(base + at, base + end, [&](uint64_t w, uint64_t bits) {
            // How far the word's first byte is behind the access's.
            const auto behind = static_cast<int64_t>(w * word_bits - base);
            if (set) {
                const uint64_t none = behind >= 0 ? *set >> behind : *set << -behind;
                memory_.change(*region, w, bits & none, false);
                memory_.change(*region, w, bits & ~none, true);
                return;
            }
            const uint64_t none = bits & ~region->written[w].load(std::memory_order_relaxed);
            found |= behind >= 0 ? none << behind : none >> -behind;
        });
        at = end;
    }
    return found;
}

}  // namespace wj::machine
