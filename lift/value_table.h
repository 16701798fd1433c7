// Which value of the block an expression has: equal expressions are one value.
#pragma once

#include <array>
#include <vector>

#include "ir/ir.h"

namespace wj::lift {

struct Expression {
    ir::Op op;
    uint32_t aux;
    uint64_t imm;
    std::array<ir::Value, 4> args;
    bool operator==(const Expression&) const = default;
};

// Open addressing over numbers of entries that lie one behind the other: a block is lifted by
// thousands of look-ups, and nothing is ever taken out.
class ValueTable {
public:
    // no_value when it is not there.
    ir::Value find(const Expression& e) const {
        const uint32_t n = slots_[slot_of(e, hash(e))].entry;
        return n == none ? ir::no_value : entries_[n].value;
    }
    // It is not there yet.
    void add(const Expression& e, ir::Value value) {
        if (2 * entries_.size() + 2 > slots_.size()) grow();
        const uint32_t h = hash(e);
        slots_[slot_of(e, h)] = {h, static_cast<uint32_t>(entries_.size())};
        entries_.push_back({e, value});
    }

private:
    static constexpr uint32_t none = ~0u;
    struct Slot {
        uint32_t hash = 0, entry = none;
    };
    struct Entry {
        Expression expression;
        ir::Value value;
    };
    static uint32_t hash(const Expression& e) {
        const auto two = [&e](size_t a) { return e.args[a] | uint64_t{e.args[a + 1]} << 32; };
        uint64_t h = (e.imm ^ static_cast<uint64_t>(e.op) << 48 ^ uint64_t{e.aux} << 16) *
                     0x9e3779b97f4a7c15ull;
        h = (h ^ h >> 32 ^ two(0)) * 0xff51afd7ed558ccdull;
        h = (h ^ h >> 32 ^ two(2)) * 0xc4ceb9fe1a85ec53ull;
        return static_cast<uint32_t>(h >> 32);
    }
    // Where the expression is, or is to be put.
    size_t slot_of(const Expression& e, uint32_t h) const {
        const size_t last = slots_.size() - 1;
        for (size_t i = h & last;; i = (i + 1) & last) {
            const Slot& s = slots_[i];
            if (s.entry == none || (s.hash == h && entries_[s.entry].expression == e)) return i;
        }
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        const size_t last = slots_.size() - 1;
        for (const Slot& s : old) {
            if (s.entry == none) continue;
            size_t i = s.hash & last;
            while (slots_[i].entry != none) i = (i + 1) & last;
            slots_[i] = s;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(512);  // a power of two
    std::vector<Entry> entries_;
};

}  // namespace wj::lift
