// Emits the host code of one scheduled block. One class, one source file per concern:
//   block_compiler.cpp  prologue, segments, constant pool    row_guards.cpp
//   region.cpp, region_constants.cpp, whole_chunks.cpp   lane regions
//   terminator.cpp      how blocks end
//   lane_registers.cpp  vector and mask registers of a region
//   uniform.cpp, uniform_forms.cpp, uniform_memory.cpp, uniform_registers.cpp
//                       uniform operations, general registers
//   lane_common.cpp     operations whose lowering is a row of a table
//   lane_avx512.cpp, lane_avx2.cpp   the others
//   cross.cpp           cross-lane operations
//   access_code.h       views of it for loads, stores, atomics, longer operations of lanes
//   loop_code.h         views of it for loops of one block
//   again.cpp         programs that start their next wave themselves
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend_x64/asm/counting_assembler.h"
#include "backend_x64/asm/loop_state.h"
#include "backend_x64/asm/registers.h"
#include "backend_x64/compiled_block.h"
#include "backend_x64/plan/access_plan.h"
#include "backend_x64/plan/waves.h"
#include "backend_x64/schedule.h"

namespace wj::x64 {

struct ByteRow;
struct ByteScatter;
struct ColumnStore;
struct DwordRow;

class BlockCompiler {
public:
    BlockCompiler();
    // False when the block does not fit a frame; the caller translates fewer instructions then.
    bool compile(const ir::Block& block, const CompileOptions& options, CompiledBlock& out);
    // A stub of Frame::memory_stubs.
    bool compile_memory_stub(uint32_t number, bool avx512, CompiledBlock& out);
    const std::string& error() const { return errors_.message; }

private:
    static constexpr uint32_t no_use = ~0u;
    struct UnitState {
        int8_t reg = -1;
        bool stored = false;    // the home (or spill slot) holds the value for this chunk
        bool detached = false;  // GetV whose row has been overwritten in this region
        int16_t spill = -1;
        uint32_t next = no_use;  // next use in this region (index into the region's instructions)
        uint32_t region = 0;     // 1 + position these fields belong to
    };

    // ---- again.cpp ----
    void run_again();
    void begin_go_on();
    void go_on();
    void move_bases(Value BaseSteps::*step);
    void waves_together(Label loop, size_t colds);

    // ---- block_compiler.cpp ----
    bool begin(const ir::Block& block, const CompileOptions& options, CompiledBlock& out);
    bool end();
    void prologue();
    void forget_scattered();
    uint32_t scattered_mark() const;
    void settle();
    void segment(uint32_t position);
    void forget_facts();
    void mark(Value v);  // host code from here on belongs to v's guest instruction
    void mark_guest(uint32_t guest);
    Mem pool32(uint32_t value);
    Mem pool64(uint64_t value);
    Mem pool_vector(uint64_t value);
    uint32_t pool_bytes(const void* data, uint32_t size, uint32_t align);
    Mem pool_code_address(uint64_t pc);
    void relocate(uint32_t pool_offset, Relocation::Kind kind, uint64_t value);
    const ir::Inst& inst(Value v) const { return block_->insts[v]; }
    PlanContext context() const { return {*block_, schedule_, options_}; }
    // A jump forward over at most 127 bytes, if `near`: two bytes instead of six. Should it reach
    // farther the block is compiled without near jumps.
    asmjit::x86::Assembler& near_if(bool near) {
        if (near && attempt_.near) a_.addInstOptions(asmjit::InstOptions::kShortForm);
        return a_;
    }
    // Code that is emitted behind the block's hot code.
    struct Cold {
        Label label;
        uint32_t guest;
        std::function<void()> emit;
        bool only_if_used = false;  // left out when no code in front of it jumps there
        bool is_behind = false;     // nor falls through to it
        bool together = false;      // of a region whose waves go on together (waves_together())
    };
    template <class F>
    void cold(Label label, F f) {
        colds_.push_back({label, guest_, std::move(f)});
    }
    template <class F>
    void cold_if_used(Label label, F f) {
        colds_.push_back({label, guest_, std::move(f), true});
    }
    // Behind what was given last, which may end by going on there.
    template <class F>
    void cold_behind(Label label, F f) {
        cold_if_used(label, std::move(f));
        colds_.back().is_behind = true;
    }
    void emit_colds();

    // ---- region.cpp ----
    void region(uint32_t position);
    void units_of_walk(Value v);
    void region_body();  // the region at position_, once
    void begin_chunks(bool masks, uint32_t lanes = machine::lanes);
    void leave_out_empty(Value mask, const Value* begin, uint32_t count, Label next);

    // ---- region_constants.cpp ----
    struct RegionConstant {
        Unit unit;
        int reg;
    };
    void choose_constants(const Value* begin, uint32_t count, bool many_waves);
    struct MoreConstant {
        Mem from;
        uint32_t size;
        int reg;
    };
    void load_constants();
    void load_more_constants(Label loop);
    void load_broadcast(const Vec& to, const Mem& from, uint32_t size);
    std::optional<Vec> constant_register(const Mem& from, uint32_t size);
    std::optional<Vec> constant_register(uint64_t value, uint32_t size);
    void enter_constants(uint32_t end);
    void forget_constants();

    // ---- whole_chunks.cpp ----
    void whole_and_other_chunks(Value mask, Label next);
    bool is_full(Value mask) const;

    // ---- terminator.cpp ----
    void terminator();
    void jump_to(uint64_t target, bool no_lanes = false);
    void jump_variant(uint64_t target, Variant variant);
    void jump_linked(uint64_t target, Variant variant);
    void leave(uint32_t reason);

    // ---- row_guards.cpp ----
    void row_guards();
    bool test_even_row(const ir::RowLine& line);
    void test_row(const ir::RowLine& line, const Vec& different);
    void forget_row_shapes();
    std::optional<uint32_t> row_of_same_shape(Value v) const;
    void write_sum_rows();
    void note_row_shapes();
    using RowShapes = std::array<std::optional<uint8_t>, machine::Wave::shaped_rows>;
    void set_row_shapes(const RowShapes& shapes);

    // ---- lane_registers.cpp ----
    Vec vec(int i) const {
        return avx512_ ? Vec(asmjit::x86::zmm(static_cast<uint32_t>(i)))
                       : Vec(asmjit::x86::ymm(static_cast<uint32_t>(i)));
    }
    static KReg kreg(int i) { return asmjit::x86::k(static_cast<uint32_t>(i)); }
    static Vec half(const Vec& v) { return v.isZmm() ? Vec(v.ymm()) : Vec(v.xmm()); }  // lower half
    uint32_t width() const { return avx512_ ? 64 : 32; }
    uint32_t chunk_lanes() const { return avx512_ ? 16 : 8; }
    Mem row(uint32_t r, uint32_t size = 0) const;
    static Mem row_at(uint32_t r, uint32_t lane);
    Mem temp(uint32_t r) const;
    Mem chunk_of_temp(uint32_t r) const;  // for what is the same in all chunks
    Mem home_mem(const Home& home,
                 int32_t offset = 0) const;  // uniform value or mask slot, no chunk index
    Mem mask_mem(const Home& home) const;    // the chunk's bits
    Mem chunk_bits(const Home& home) const;  // as a byte or word
    void empty_registers();
    static Mem spill_mem(int16_t slot);
    void move_spilled_mask(int16_t slot, int r, bool store);
    void store_bits(const Mem& to, int r);  // of a mask
    Mem constant(Constant c, int32_t offset = 0) const;
    void lanes_of_bits(const Vec& mask);
    Mem bcast32(Mem m) const { return avx512_ ? m._1to16() : m; }
    Mem bcast64(Mem m) const { return avx512_ ? m._1to8() : m; }
    UnitState& state(Unit u);
    bool is_mask_unit(Unit u) const { return block_->type(schedule_.producer(u)) == ir::Type::M; }
    struct Source {
        enum Kind : uint8_t { None, Full, Bcast32, Bcast64, Line } kind = None;
        Mem mem;
    };
    Source source(Unit u);  // memory that holds the unit now
    bool mask_source(Unit u, Mem& mem);
    int take_vec(uint32_t except = 0);
    int take_k();
    void evict_vec(int r);
    void evict_k(int r);
    void load_vec(Unit u, int r);
    Mem lane_ids() const;
    void load_line(Value v, const Vec& d, bool always);
    void line_at_chunk(Value v, bool always);
    void line_offset(const ir::Inst& line);
    void load_mask(Unit u, int r);
    Vec use(Unit u);
    Vec use(Value v, uint32_t part = 0) { return use(schedule_.unit(v, part)); }
    Operand use_or_mem(Unit u, bool allow64 = false);
    Operand use_or_mem(Value v) { return use_or_mem(schedule_.unit(v)); }
    KReg use_k(Unit u);
    KReg use_k(Value v) { return use_k(schedule_.unit(v)); }
    Vec def(Unit u);
    Vec def(Value v, uint32_t part = 0) { return def(schedule_.unit(v, part)); }
    KReg def_k(Unit u);
    KReg def_k(Value v) { return def_k(schedule_.unit(v)); }
    Vec tmp();
    KReg tmp_k();
    void release_operands();   // registers whose last use this instruction is may be redefined
    void define_done(Unit u);  // after the value is computed: writes it to its home
    void end_instruction();
    bool dead(Unit u) {
        return schedule_.unit_home(u).kind == Home::None && state(u).next == no_use;
    }
    bool last_use(Unit u) { return state(u).next == no_use; }
    void load_bcast32(const Vec& d, const Mem& m) { a_.emit(X::kIdVpbroadcastd, d, m); }
    void mov(const Vec& d, const Operand& s) {
        a_.emit(avx512_ ? X::kIdVmovdqa32 : X::kIdVmovdqa, d, s);
    }
    void movu(const Operand& d, const Operand& s) { a_.emit(X::kIdVmovups, d, s); }

    // ---- uniform.cpp ----
    void uniform_op(Value v);
    void uniform_call(Value v);
    void call_handler(const ir::Call& call);
    void indexed_move(const ir::Call& call);

    // ---- uniform_forms.cpp ----
    asmjit::x86::CondCode compare(Value v);
    template <class F>
    bool all_take(Value v, F takes) const;
    bool is_for_selections(Value v) const;
    bool is_for_sums(Value v) const;
    bool is_displacement(Value v) const;
    uint32_t scale_of(Value v) const;
    bool sums_as_address(Value x, Value y) const;
    void address_sum(Value v, Value x, Value y);
    bool short_binary(Value v, Value x, Value y);

    // ---- uniform_memory.cpp ----
    void uniform_buffer_base(Value v);
    void uniform_buffer_limit(Value v);
    void uniform_load(Value v);

    // ---- uniform_registers.cpp ----
    void uniform_begin(uint32_t position);
    bool wide(Value v) const { return block_->type(v) == ir::Type::U64; }
    Gp gp(int r, bool w) const {
        return w ? Gp(asmjit::x86::gpq(static_cast<uint32_t>(r)))
                 : Gp(asmjit::x86::gpd(static_cast<uint32_t>(r)));
    }
    static size_t slot_offset(const Home& home) {  // of a slot
        return x64::slot_offset(home.index) + (home.upper ? 4 : 0);
    }
    bool is_zero(Value v) const { return is_const(v) && !inst(v).imm; }
    bool is_const(Value v) const {
        const ir::Op op = inst(v).op;
        return op == ir::Op::Const32 || op == ir::Op::Const64;
    }
    int take_gp();
    int last_wanted(uint32_t registers);
    void evict_gp(int r);
    void load_constant(const Gp& r, uint64_t value);
    Gp ureg(Value v);      // in a register, locked
    Operand uop(Value v);  // register, memory or 32-bit immediate
    bool may_change(Value v) const;
    Gp udef(Value v);                // new register
    Gp udef_from(Value v, Value a);  // register of v, holding a's value
    Gp utmp();
    void take_fixed(int r);  // evicts whoever is in r and locks it
    void udone(Value v);
    void ufree(Value v);
    void operands_done(Value v);
    void ufree_all();
    bool umem(Value v, Mem& m);

    // ---- lane operations ----
    Operand c32(uint32_t value);  // a constant in every lane, as a last source operand
    Operand c64(uint64_t value);
    Vec c32v(uint32_t value);  // in a temporary
    Vec zero();
    Vec def_at(Unit u, const Vec& r);    // r has just been released
    void result(Unit u, const Vec& t) {  // a temporary becomes the unit
        vec_temps_ &= ~(1u << t.id());
        def_at(u, t);
        define_done(u);
    }
    void k(const KReg& mask, bool zeroing = false) {
        a_.setExtraReg(mask);
        if (zeroing) a_.addInstOptions(asmjit::InstOptions::kX86_ZMask);
    }
    void lane_op(Value v);
    bool lane_table_op(Value v);
    void lane_set(Value v);
    void lane_avx512(Value v);
    void lane_avx2(Value v);
    void lane_fma(Value v);
    void compare_avx512(Value v, const KReg& d, const KReg* with, bool inverted = false);
    bool compare_predicate(ir::Op op, InstId& id, uint32_t& predicate) const;
    void join64(const Vec& d, const Vec& a, const Vec& b,
                bool high);  // dwords of interleaved halves
    void store_mask(Unit u);
    // Lane masks that a region makes are collected in general registers, a chunk at a time: memory
    // written in 16-bit pieces could not be forwarded to the 64-bit load that follows the region.
    std::vector<Unit> masks_at_home(const Value* begin, uint32_t count) const;
    void choose_collectors(const Value* begin, uint32_t count);
    void store_collectors();
    void clear_mask_slots(const Value* begin, uint32_t count);
    struct Collector {
        Unit unit;
        Gp reg;
    };
    std::vector<Collector> collectors_;
    size_t facts_limit_ = 0;  // register pairs left for AddressFacts

    // ---- access_code.h ----
    class CodeView;
    class AccessCode;
    class LineCode;
    class RowCode;
    class GatherCode;
    class ScratchCode;
    class PrefetchCode;
    class AtomicCode;
    class AcrossCode;
    class MathCode;

    // ---- loop_code.h ----
    class LoopView;
    class LoopCode;
    class CountedCode;
    class WalkCode;
    class UniformLoopCode;
    class DivergentCode;
    class GatheredCode;
    class LaneLoopCode;
    class RowLoopCode;

    // ---- lane_access.h ----
    struct LaneAccess;
    struct LaneAtomic;
    // The constants that accesses add to an address.
    struct Imms {
        int64_t least, most;
        bool hold(int64_t imm) const { return least <= imm && imm <= most; }
    };
    // An address that several accesses of a region share.
    struct AddressFacts {
        Value v;  // the first access
        Imms imms;
        Gp address, pattern;
        bool rows_only;  // nobody has looked for other patterns than consecutive lanes
    };
    struct SavedFacts {  // for later regions, in a temp row
        Value v;
        Imms imms;
        uint32_t row;
        bool rows_only;
    };
    enum Pattern : uint32_t;
    static Rows::Kind kind_of_rows(Pattern pattern);

    // A line whose elements' host addresses are kept: of the first one, in a slot, from where
    // reg::chunk, shifted, leads to those of the chunks; or of each chunk's first one. In the LDS
    // 0 if not all are in range.
    static constexpr uint32_t no_row = ~0u;
    static constexpr Value any_base = no_value - 1;
    struct PlacedLine {
        Value line = no_value, base = no_value;  // global: base or any_base; no line: masked base
        uint32_t slot = 0, scale = 0;
        uint32_t row = no_row;  // a temp row of addresses; with any_base distances from the base
        uint32_t end = 0;       // LDS: of a lane's elements, behind the line's value
        bool within = false;    // LDS: it need not be asked whether they are in range
    };
    // Where the chunk's elements of a line, which is that of many bases, are from these, while a
    // region runs; and where those are that are to be fetched by then.
    struct ChunkOffset {
        uint32_t row;  // PlacedLine::row
        Gp at, ahead;
        std::optional<uint32_t> distance;  // slot of find_rows_ahead(); none: nothing is fetched
    };
    struct Pointer {
        Value base;
        uint32_t step;  // from lane to lane
        Gp reg;         // the host address of the chunk's first element
        // A slot: how far it moves in four iterations of a block that repeats itself.
        std::optional<uint32_t> ahead = {};
    };

    // ---- cross.cpp ----
    void cross_op(Value v);

    asmjit::CodeHolder code_;
    CountingAssembler a_;
    const ir::Block* block_ = nullptr;
    CompileOptions options_;
    CompiledBlock* out_ = nullptr;
    Schedule schedule_;
    bool avx512_ = false, failed_ = false;
    // What code may be made of; less each time that it did not fit.
    struct Attempt {
        bool near = true;  // jumps
        bool waves_together = true;
        bool constants = true;  // in registers
        LoopLimits loops;
    } attempt_;
    struct Errors : asmjit::ErrorHandler {
        bool seen = false, too_far = false;
        std::string message;
        void handleError(asmjit::Error error, const char* text, asmjit::BaseEmitter*) override {
            seen = true, message = text;
            too_far |= error == asmjit::kErrorInvalidDisplacement;
        }
    } errors_;
    Label pool_label_, entry_label_, body_label_, over_label_, unguarded_label_, again_label_,
        go_on_label_, fewer_label_, gathered_label_;
    bool apart_ = false;     // waves go on together, and must not
    bool streams_ = false;   // in the region that they go on in
    bool goes_on_ = false;   // begin_go_on()
    bool gathered_ = false;  // while GatheredCode emits regions
    MovingBases moving_bases_;
    std::vector<uint8_t> pool_;
    std::unordered_map<uint64_t, uint32_t> pool32_, pool64_, pool_vectors_, pool_code_;
    std::unordered_map<std::string, uint32_t> tables_;
    std::vector<AddressFacts> facts_;
    std::vector<SavedFacts> saved_facts_;
    // Offsets of a chunk from the bases of lines, in a chunk's part of a temp row.
    struct LineOffset {
        Value step;
        uint64_t stride;
        uint32_t width, row;
    };
    std::vector<LineOffset> line_offsets_;
    std::vector<PlacedLine> placed_lines_;
    // Where private memory begins at a uniform offset, in a slot: 0 where not all accesses of the
    // block at constants behind it are in range.
    struct PlacedScratch {
        Value base;  // BufferBase, an offset, or no_value: 0
        uint32_t end, slot;
    };
    std::vector<PlacedScratch> placed_scratch_;
    std::map<std::pair<Value, bool>, Label> range_checks_;
    std::unordered_map<Value, uint32_t> tile_steps_;  // by load: slot of find_tile_steps()
    std::optional<ChunkOffset> chunk_offset_;
    std::unordered_map<Value, uint32_t> rows_ahead_;  // by row_step(): slot of bytes
    std::vector<Pointer> pointers_;                   // of the region
    uint32_t kept_rows_ = 0;                          // temp rows of saved_facts_ and line_offsets_
    bool facts_cross_regions_ = false;  // each region's code is emitted and run once, in order
    uint32_t facts_position_ = ~0u, scatter_sites_ = 0;
    std::unordered_map<Value, uint32_t> lds_tables_;  // by load: byte of table_slot_
    uint32_t table_slot_ = 0;                         // if there are any
    uint32_t steady_sites_ = 0;                       // that prefetch_iterations() serves
    std::vector<Cold> colds_;
    uint32_t guest_ = ~0u;

    // loops
    LoopPlan loop_plan_;
    LoopState loop_;
    std::optional<RowLoopPlan> row_loop_;  // of the block, if its loop has such code besides
    RowLoopState row_state_;
    uint32_t pinned_ = 0, k_pinned_ = 0;  // registers that no value may be given
    uint32_t gp_reserved_ = 0;

    // region state
    uint32_t position_ = 0, at_ = 0;
    std::vector<uint8_t> skip_;  // instructions of the region that are left out
    std::vector<Value> done_;    // those that earlier ones have done with themselves
    std::vector<UnitState> units_;
    struct UseRecord {
        Unit unit;
        uint32_t next;
    };
    std::vector<UseRecord> use_records_;
    std::vector<uint32_t> use_start_;
    std::vector<uint32_t> def_next_;
    std::vector<Unit> scratch_units_, defs_;
    Unit vec_owner_[32], k_owner_[8];
    uint32_t vec_locked_ = 0, vec_temps_ = 0, k_locked_ = 0, k_temps_ = 0;
    uint32_t vec_used_ = 0;  // by the region so far
    int16_t spills_used_ = 0;
    std::vector<RegionConstant> constants_;
    std::vector<MoreConstant> more_constants_;
    Label constants_label_;
    size_t constants_from_ = 0;  // behind the jump to it
    int constants_left_ = 0;     // registers for more of them
    // Masks that have all lanes of the chunk, or some, in the code that is being emitted.
    Value whole_mask_ = no_value, some_mask_ = no_value;

    // uniform state
    Value gp_owner_[16];
    uint32_t gp_locked_ = 0, gp_temps_ = 0;
    const Value* uniform_at_ = nullptr;  // the segment's instruction at hand, or its end
    struct UniformState {
        int8_t reg = -1;
        bool stored = false;
        int32_t slot = -1;
        uint32_t uses = 0;
        bool repeated = false;  // by those who want it: is_for_selections(), is_for_sums()
    };
    std::vector<UniformState> uniforms_;
    uint32_t extra_slots_ = 0;
};

}  // namespace wj::x64
