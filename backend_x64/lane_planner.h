// Finds what a lane does in an iteration of a loop that runs while lanes are left (lane_program.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/virtual_lane_program.h"
#include "ir/ir.h"

namespace wj::x64 {

class LanePlanner {
public:
    LanePlanner(const ir::Block& block, const DivergentLoop& loop) : block_(block), loop_(loop) {}

    std::optional<LaneProgram> plan();

private:
    using Value = ir::Value;
    using Input = LaneProgram::Input;
    using Step = LaneProgram::Step;
    using Virtual = VirtualLaneProgram::Register;
    static constexpr Virtual none = VirtualLaneProgram::none;
    static constexpr uint32_t row_count = 256;

    const ir::Inst& inst(Value v) const { return block_.insts[v]; }

    // ---- lane_program.cpp: masks of a lane that is on ----
    struct Bool {
        enum Kind : uint8_t { Other, False, True, Compare } kind = Other;
        Value compare = ir::no_value;
        bool negated = false;
        Bool operator!() const {
            if (kind == False) return {True};
            if (kind == True) return {False};
            return {kind, compare, !negated};
        }
        bool operator==(const Bool&) const = default;
    };
    Bool truth(Value m) const;
    bool on(Value mask) const { return truth(mask).kind == Bool::True; }

    // ---- rows ----
    bool find_rows();
    bool reads_row(Value v, uint32_t row) const;
    struct Sum {
        Value low;                   // the Add32
        Value a, b, a_high, b_high;  // its operands, and what is above them in whatever order
    };
    std::optional<Sum> carried_sum(Value high) const;

    // ---- what an iteration hands on, and what the lane goes on by ----
    void row_ends(uint32_t row);
    void hand_on(Virtual to, Virtual from) { program_.handed.push_back({to, from}); }
    void condition();
    std::optional<LaneProgram::Count> find_count() const;
    bool find_stream();
    bool leads(uint32_t row, Value to, uint32_t depth) const;

    // ---- lane_steps.cpp: registers and steps ----
    Virtual fail() {
        failed_ = true;
        return make(false, true);
    }
    Virtual make(bool vector, bool wide, bool input = false) {
        return program_.make(vector, wide, input);
    }
    Virtual emit(Step::Do what, bool wide, Value guest, Virtual a, Virtual b = none,
                 int64_t imm = 0, Virtual c = none, bool vector = false);
    Virtual input(Input::Kind kind, uint32_t low, uint32_t high, Value value, bool vector = false,
                  bool wide = true);

    std::optional<int32_t> constant(Value v) const;
    bool is_double(Value v) const;
    bool is_double_row(const ir::Inst& i) const {
        return i.op == ir::Op::GetV && i.imm < row_count && double_[i.imm];
    }
    static bool is_float(ir::Op op);
    bool float_row(uint32_t row) const;
    bool is_part(Value v) const;
    Virtual pair_of_part(uint32_t row);

    // 32 bits of an integer.
    Virtual number(Value v) { return once(numbers_, v, &LanePlanner::make_number); }
    Virtual once(std::map<Value, Virtual>& made, Value v, Virtual (LanePlanner::*make)(Value)) {
        if (const auto it = made.find(v); it != made.end()) return it->second;
        return made[v] = (this->*make)(v);
    }
    Virtual make_number(Value v);
    // 32 bits in a vector register.
    Virtual real(Value v) { return once(reals_, v, &LanePlanner::make_real); }
    Virtual make_real(Value v);
    Value loaded_pair(Value low, Value high) const;
    // A double, in a vector register.
    Virtual twice(Value v) { return once(doubles_, v, &LanePlanner::make_double); }
    Virtual make_double(Value v);
    // 64 bits.
    Virtual wide(Value v);
    bool natural(Value low, Value high) const;
    Virtual pair(Value low, Value high);
    Virtual make_pair(Value low, Value high);
    void load(Value v);
    bool feeds_doubles(Value load) const;

    const ir::Block& block_;
    const DivergentLoop& loop_;
    LaneProgram out_;
    bool failed_ = false;
    std::array<Value, row_count> set_;         // by row: its SetV
    std::array<uint32_t, row_count> partner_;  // by upper row of a pair: the lower one
    std::array<bool, row_count> double_{};     // half of a double
    VirtualLaneProgram program_;
    std::map<Value, Virtual> numbers_, reals_, doubles_, loads_;
    std::map<std::pair<Value, Value>, Virtual> wides_;
};

}  // namespace wj::x64
