// Stores to columns by C++ (column_store.h): rows of waves that lie side by side, or one behind the
// other, in the order of a launch or nearly so. Whatever is held back, and for how long, all is in
// memory in the end.
#include "backend_x64/column_store.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "memory/address_space.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using x64::ColumnStore;

struct Row {
    uint32_t x, y;  // of a wave's first lane
};

// A matrix that is stored transposed: element y of column x.
class Columns {
public:
    Columns(uint32_t lanes, Rng& rng) : lanes_(lanes), rng_(rng) {
        at_ = space_.allocate(uint64_t{most_columns} * most_pitch * 4, memory::read_write, "matrix")
                  .value();
        context_.memory = &space_;
        wave_.ctx = &context_;
        wave_.size = static_cast<uint8_t>(lanes);
    }

    void begin() {
        auto* const all = reinterpret_cast<uint32_t*>(at_);
        std::fill_n(all, most_columns * most_pitch, 0xdeadbeef);
        want_.assign(all, all + most_columns * most_pitch);
        step_ = 4 * (16 + static_cast<uint32_t>(rng_() % (most_pitch - 15)));
        if (rng_() % 2) step_ = step_ / 64 * 64;
        held_ = 0;
    }
    void store(const Row& row) {
        alignas(64) uint32_t data[machine::lanes];
        for (uint32_t l = 0; l < lanes_; ++l) {
            data[l] = static_cast<uint32_t>(rng_());
            want_[index(row, l)] = data[l];
        }
        frame_->address_base = at_ + index(row, 0) * 4;
        if (x64::store_columns(wave_, *frame_, store_, &step_, &step_, data)) {
            held_ = std::max(held_, frame_->held.waves);
            return;
        }
        for (uint32_t l = 0; l < lanes_; ++l)
            std::memcpy(reinterpret_cast<void*>(at_ + index(row, l) * 4), &data[l], 4);
    }
    bool end() {
        if (frame_->held.waves) x64::write_held_columns(wave_, *frame_);
        return std::equal(want_.begin(), want_.end(), reinterpret_cast<const uint32_t*>(at_));
    }
    uint32_t most_held() const { return held_; }

    static constexpr uint32_t most_columns = 3 * machine::lanes, most_pitch = 64;

private:
    size_t index(const Row& row, uint32_t lane) const {
        return (row.x + lane) * size_t{step_ / 4} + row.y;
    }

    const uint32_t lanes_;
    Rng& rng_;
    memory::AddressSpace space_;
    machine::ExecContext context_;
    machine::Wave wave_;
    std::unique_ptr<x64::Frame> frame_ = std::make_unique<x64::Frame>();
    ColumnStore store_{.form = ColumnStore::Form::Step, .last = 1};
    uint64_t at_ = 0;
    uint32_t step_ = 0, held_ = 0;
    std::vector<uint32_t> want_;
};

TEST(ColumnStore, AllIsInMemoryInTheEnd) {
    Rng rng(44);
    for (const uint32_t lanes : {32u, 64u}) {
        Columns columns(lanes, rng);
        uint32_t held[4] = {};  // at most, by how many waves are side by side
        for (int round = wanted_rounds(600); round-- > 0;) {
            const uint32_t beside = 1 + static_cast<uint32_t>(rng() % 3),
                           rows = 1 + static_cast<uint32_t>(rng() % 16);
            std::vector<Row> order;
            for (uint32_t y = 0; y < rows; ++y)
                for (uint32_t x = 0; x < beside; ++x) order.push_back({x * lanes, y});
            if (rng() % 3 == 0) std::swap(order[rng() % order.size()], order[rng() % order.size()]);
            if (rng() % 4 == 0) order.resize(1 + rng() % order.size());
            columns.begin();
            for (const Row& row : order) columns.store(row);
            ASSERT_TRUE(columns.end()) << lanes << " lanes, " << beside << " beside, " << rows;
            held[beside] = std::max(held[beside], columns.most_held());
        }
        // Hardly anything is held where a row is wider than 64 work-items.
        EXPECT_GE(held[1], 15u);
        EXPECT_EQ(held[2] > 15, lanes == 32);
        EXPECT_LT(held[3], 8u);
    }
}

}  // namespace
}  // namespace wj::jit_test
