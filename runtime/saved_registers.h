// Where a function keeps what its caller has in registers, as its code shows: registers that it has
// not written, copies, lanes of VGPRs (v_writelane_b32) and its stack frame.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj::runtime {

// What a scalar register held when the function was entered, plus an offset. -1: not known.
struct EntryScalar {
    int16_t reg = -1;
    int32_t offset = 0;
    bool operator==(const EntryScalar&) const = default;
};

// A row of lanes: a row at the entry, of which some lanes hold scalars. -1: not known.
struct EntryRow {
    int16_t row = -1;
    std::map<uint8_t, EntryScalar> lanes;
    bool operator==(const EntryRow&) const = default;
    bool known() const { return row >= 0 || !lanes.empty(); }
    // Whether `lane` holds what the row `r` held at the entry.
    bool holds(uint16_t r, uint8_t lane) const { return row == r && !lanes.contains(lane); }
};

// What registers and the frame hold at a place in the code, of what they held at the entry.
struct SavedRegisters {
    static constexpr uint16_t stack_pointer = 32;  // of the calling convention (LLVM AMDGPUUsage)

    SavedRegisters();  // at the entry
    EntryRow row(uint16_t r) const;
    void set_row(uint16_t r, EntryRow holds);
    // What holds here and there.
    void meet(const SavedRegisters& other);
    void step(const Target& target, const Inst& inst);
    size_t size() const;  // what is known of rows and of the frame, in lanes
    bool operator==(const SavedRegisters&) const = default;

    std::array<EntryScalar, 106> scalars;  // s0 and on
    std::bitset<512> changed;              // rows that do not hold what they held
    std::map<uint16_t, EntryRow> rows;     // of these what is known of them
    // The frame: by the byte of each lane's private memory, from where the stack pointer points at
    // the entry.
    std::map<int32_t, EntryRow> slots;
    uint32_t stack_scale = 1;  // the stack pointer moves by so many for one of these bytes
    uint64_t lanes = 0;        // that are on for certain
};

// A data-flow over a function's code. Calls are taken to leave registers alone: who relies on one
// over a call has seen to it that it is kept.
class FunctionCode {
public:
    FunctionCode(const Target& target, uint64_t begin, std::span<const std::byte> code);

    bool is_of(std::span<const std::byte> code) const { return std::ranges::equal(code, code_); }
    // What holds in front of the instruction at `from`, and then up to `to`: behind each that
    // begins in front of it but for one that leaves the block there. Nothing: none of them is
    // reached by branches from the function's begin, or the code is too much.
    std::optional<SavedRegisters> at(uint64_t from, uint64_t to) const;
    // Units of some 50 ns and bytes that it has taken, which hostile code makes as many as it can.
    size_t work() const { return work_; }
    static constexpr size_t most_work = 1 << 19;

private:
    bool instruction_at(uint64_t pc, Inst& inst) const;
    void find_leaders();
    void enter(uint64_t pc, const SavedRegisters& state);
    void explore(uint64_t pc);

    const Target& target_;
    const uint64_t begin_;
    const std::vector<std::byte> code_;
    std::set<uint64_t> leaders_;                  // where straight code begins
    std::map<uint64_t, SavedRegisters> reached_;  // those that are reached
    std::vector<uint64_t> left_;
    size_t work_ = 0;
};

}  // namespace wj::runtime
