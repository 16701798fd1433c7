// The code of loops of one block, one class per concern. They are views: of the compiler whose code
// they emit, of the plan of its loop, and of where in the loop that code is. They hold nothing of
// their own, so that one may be made wherever it is asked, and be copied into code out of line.
//   LoopCode         an iteration's uniform code and bodies     loop.cpp, loop_masks.cpp
//   CountedCode      iterations that are counted beforehand     counted.cpp
//   WalkCode         iterations whose accesses walk             walk.cpp
//   UniformLoopCode  loops that each iteration decides about    uniform_loop.cpp
//   DivergentCode    loops that run while lanes are left        divergent.cpp
//   GatheredCode     those whose lanes are moved together       gathered.cpp
//   LaneLoopCode     those that run lane by lane                lane_by_lane.cpp
//   RowLoopCode      loops whose lanes go along rows            row_loop.cpp
#pragma once

#include "backend_x64/asm/access_code.h"

namespace wj::x64 {

class BlockCompiler::LoopView : public CodeView {
public:
    explicit LoopView(BlockCompiler& c) : CodeView(c), plan_(c.loop_plan_), loop_(c.loop_) {}

protected:
    const LoopPlan& plan_;
    LoopState& loop_;
};

class BlockCompiler::LoopCode : public LoopView {
public:
    using LoopView::LoopView;

    // ---- loop.cpp: what operations of a body ask ----
    bool leaves_out(Value v) const;
    bool set_row(Value v) const;
    const Pin* merges(Value v) const;
    // The SetV of the pin is done.
    void merged(const Pin& p) const { loop_.merged.push_back(p.set); }
    void mask_done(Unit u) const;

protected:
    void load_pins() const;
    void enter_body(bool lean) const;
    void emit_bodies(bool lean) const;
    void step_chunk(int chunks) const;
    // What `f` emits, for each of the chunks that run together; rbp and r14 name the chunk, and in
    // the end the one that is `behind` the first.
    template <class F>
    void for_each_chunk(F f, uint32_t behind = 0) const {
        for (loop_.chunk = 0; loop_.chunk < loop_.pins.chunks; ++loop_.chunk) {
            if (loop_.chunk) step_chunk(1);
            f();
        }
        const int steps = static_cast<int>(behind) - static_cast<int>(loop_.pins.chunks - 1);
        if (steps) step_chunk(steps);
    }
    // An iteration's uniform code, or those of its values that are `needed`; `decide` emits what
    // looks at its values.
    template <class F>
    void emit_uniform(F decide, const std::vector<bool>* needed = nullptr) const {
        const uint32_t reserved = c_.gp_reserved_;
        c_.gp_reserved_ |= 1u << 5 | 1u << 14 | 1u << 15;
        c_.position_ = 0;
        c_.uniform_begin(0);
        for (const Value* v = schedule_.begin(0); v != schedule_.end(0); ++v) {
            if (needed && !(*needed)[*v]) continue;
            c_.mark(*v);
            c_.uniform_at_ = v;
            c_.uniform_op(*v);
            c_.gp_locked_ = c_.gp_temps_ = 0;
        }
        c_.uniform_at_ = schedule_.end(0);
        decide();
        c_.ufree_all();
        c_.gp_reserved_ = reserved;
    }
    void begin_region() const;
    void reserve_backup() const;
    void backup(bool save) const;
    void branch_out(Label label) const;
    void decide_next(const Operand& budget, Label no, Label over) const;
    void leave(Label next) const;
    void begin_chunks(bool masks) const;
    void begin_chunk() const;
    void compare_chunk() const;
    // All chunks, each from the same scalar registers. `f` emits a chunk's iterations and sets ZF
    // behind the last chunk.
    template <class F>
    void each_chunk(bool masks, F f) const {
        const Label chunk = a_.newLabel(), done = a_.newLabel();
        begin_chunks(masks);
        a_.bind(chunk);
        f();
        a_.jz(done);
        backup(false);
        a_.jmp(chunk);
        a_.bind(done);
    }

    // ---- loop_masks.cpp ----
    void load_mask(const MaskPin& p) const;
    void hand_on(const MaskPin& p) const;
    void store_masks() const;
};

class BlockCompiler::CountedCode : public LoopCode {
protected:
    using LoopCode::LoopCode;

    Mem count_slot(uint32_t field) const;
    void reserve_count() const;
    void count_iterations(const Gp& budget, Label none) const;
    void count_uniform() const {
        emit_uniform([] {}, &plan_.counted->needed);
    }
    void count_end(const Gp& budget) const;
    void count_stop(const Gp& budget) const;
};

// How an iteration decides about the next one.
struct LoopControl {
    // Ahead of the bodies, unless nothing is done there: the uniform code. Jumps to `no` when the
    // loop ends, to `over` when the budget is used up.
    std::function<void(Label no, Label over)> ahead;
    // Behind them, unless it is known ahead; the sign flag says that the budget is used up.
    std::function<void(Label no)> behind;
};

class BlockCompiler::WalkCode : public CountedCode {
public:
    explicit WalkCode(BlockCompiler& c) : CountedCode(c) {}

    // ---- what accesses of a body do ----
    void access(const LaneAccess& m) const;
    void learn(const LaneAccess& m, const Gp& address, const Operand& pattern) const;
    void learn_all_lanes(const LaneAccess& m) const;
    void learn_no_lanes(const LaneAccess& m) const;
    void learn_rows(const LaneAccess& m, int32_t rows) const;
    void check_limits(uint32_t at) const;
    void leave_out_of_limits(Label out) const;
    Mem row_step(const LaneAccess& m) const;

protected:
    void reserve_walks() const;
    void catch_up() const;
    bool goes_through_rows(uint32_t walk) const;
    bool goes_in_steps(uint32_t walk) const;
    void forget() const;
    int32_t row_distance(uint32_t walk) const;
    bool keeps_base(uint32_t walk) const;
    bool adds_base(const LaneAccess& m) const;
    int32_t step(uint32_t walk) const;
    void cut_to_reach() const;
    void count_rows() const;
    void choose_rows(Label not_yet) const;
    void cut_to_rows(const Gp& budget) const;
    void reset() const;
    void learn_next() const;
    void walk_loop(const Gp& budget, Label plain, Label resume, Label ended, Label finished,
                   const LoopControl& control) const;
    // `ended`: behind the loop, or, if nothing is decided behind the bodies, in front of the last
    // iteration, and `finished` behind that one.
    void run_iterations(const Gp& budget, Label ended, Label finished,
                        const LoopControl& control) const;
    Mem walk_slot(uint32_t field, uint32_t walk = 0, uint32_t chunk = 0) const;
    void add_up(const Walks::Sum& sum) const;
};

class BlockCompiler::UniformLoopCode : public WalkCode {
public:
    using WalkCode::WalkCode;
    void emit() const;
};

// Their OrderedLoop is LoopPlan::compacted.
class BlockCompiler::GatheredCode : public LoopView {
public:
    using LoopView::LoopView;

    // Of all chunks, in the order of lanes.
    void begin() const;
    void emit() const;

    // Of a divergent loop, if its lanes may be moved together now and then.
    struct Slices {
        Label begin;
        uint32_t length, floor;  // slots: budget of a slice, and what it leaves of the budget
        uint32_t first, plan;    // in the pool: budget of the first slice, GatherPlan
    };
    Slices begin_slices() const;
    void set_slices(const Slices& slices) const;
    void end_slice(const Slices& slices) const;
    void spread_if_gathered() const;

private:
    uint32_t gather_plan() const;
};

class BlockCompiler::DivergentCode : public WalkCode {
public:
    using WalkCode::WalkCode;
    void emit() const;

private:
    void test_live() const;
    void store_pins() const;
    std::vector<Mem> varying_fields() const;
};

class BlockCompiler::LaneLoopCode : public LoopView {
public:
    using LoopView::LoopView;
    static constexpr uint32_t own_slots = 4;

    void test_streams(const LaneProgram& p, Label each_lane) const;
    void emit(const LaneProgram& p, uint32_t least, uint32_t slots) const;

private:
    void bound_lane(const LaneProgram& p, const Mem& most) const;
    void charge_lane(const LaneProgram& p, const Mem& over, const Mem& longest) const;
    void load_input(const LaneProgram& p, const LaneProgram::Input& in) const;
    Mem pair_of(const LaneProgram& p, const LaneProgram::Input& in) const;
    void join_pairs(const LaneProgram& p) const;
    void store_output(const LaneProgram::Input& in) const;
    Mem place_of(const LaneProgram::Step& load) const;
    void emit_step(const LaneProgram::Step& s) const;
    void divide(const LaneProgram::Step& s, Division division) const;
    void quotient_of_steps(const LaneProgram::Step& s) const;
    void quotient_of_fractions(const LaneProgram::Step& s) const;
};

class BlockCompiler::RowLoopCode : public WalkCode {
public:
    using WalkCode::WalkCode;

    void begin() const;
    void emit() const;

    // ---- what accesses of a body do ----
    void note_lanes(Value v) const;
    void access_window(Value v) const;

private:
    Mem row_lanes(uint32_t walk, uint32_t part) const;
    Mem row_slot(uint32_t field) const;
    static int32_t window_at(uint32_t window);
    const RowLoop& windows() const { return c_.row_loop_->windows; }
    RowOrder row_order() const;
    void enter(bool masks) const;
    void and_moves(const Vec& more, uint32_t part) const;
    void row_window(uint32_t window) const;
    int64_t fetched_ahead(uint32_t window, int32_t bytes) const;
    void open_windows(Label failed) const;
    void close_windows() const;
    void go_on() const;
    void access_narrow(Value v, int32_t offset) const;
    void emit_chunk(const Gp& budget) const;
};

}  // namespace wj::x64
