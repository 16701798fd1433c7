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

// Open addressing over entries that lie one behind the other: a block is lifted by thousands of
// look-ups, and nothing is ever taken out.
class ValueTable {
public:
    // no_value when it is not there.
    ir::Value find(const Expression& e) const { return slots_[slot_of(e)].value; }
    // It is not there yet.
    void add(const Expression& e, ir::Value value) {
        if (2 * ++count_ > slots_.size()) grow();
        slots_[slot_of(e)] = {e, value};
    }

private:
    struct Slot {
        Expression expression;
        ir::Value value = ir::no_value;
    };
    static size_t hash(const Expression& e) {
        uint64_t h =
            static_cast<uint64_t>(e.op) * 0x9e3779b97f4a7c15ull ^ e.imm ^ uint64_t { e.aux } << 40;
        for (ir::Value a : e.args) h = (h ^ a) * 0xff51afd7ed558ccdull, h ^= h >> 32;
        return h;
    }
    // Where the expression is, or is to be put.
    size_t slot_of(const Expression& e) const {
        size_t i = hash(e) & (slots_.size() - 1);
        while (slots_[i].value != ir::no_value && slots_[i].expression != e)
            i = (i + 1) & (slots_.size() - 1);
        return i;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& s : old)
            if (s.value != ir::no_value) slots_[slot_of(s.expression)] = s;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(512);  // a power of two
    size_t count_ = 0;
};

}  // namespace wj::lift
