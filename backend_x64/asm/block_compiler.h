// Emits the host code of one scheduled block. One class, one source file per concern:
//   block_compiler.cpp  prologue, segments, constant pool    row_guards.cpp
//   region.cpp, region_constants.cpp, whole_chunks.cpp   lane regions
//   terminator.cpp      how blocks end
//   lane_registers.cpp  vector and mask registers of a region
//   uniform.cpp, uniform_forms.cpp, uniform_memory.cpp, uniform_registers.cpp
//                       uniform operations, general registers
//   lane_common.cpp     operations whose lowering is a row of a table
//   lane_avx512.cpp, lane_avx2.cpp   the others
//   lane_memory.cpp, lane_patterns.cpp, lane_consecutive.cpp, lane_gather.cpp, lane_scratch.cpp
//                       loads and stores
//   lane_lines.cpp, lane_windows.cpp   those whose addresses are lines
//   lane_division.cpp   divisions by steps    lane_math.cpp   roots, frexp, special arguments
//   lane_atomic.cpp, lane_atomic_update.cpp   atomics   cross.cpp   cross-lane operations
//   loop_code.h       loops of one block
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
    void begin_chunks(bool masks);
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
    std::array<Source, 3> column_rows(Value v);
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
    void lane_math(Value v);  // lane_math.cpp
    void refine_root(const Vec& x, const Vec& y, const std::array<Vec, 3>& temps, bool quadratic);
    void jump_unless_ordinary(const Vec& x, bool any_sign, bool denormals, const Label& far);
    void root_avx2(const Vec& x, const Vec& y);
    void fixup_avx2(const Vec& x, const Vec& d, uint32_t bits);
    void frexp_avx2(const Vec& x, const Vec& mantissa, const Vec& exponent);
    void lane_frexp_avx2(Value v);
    void lane_avx512(Value v);
    void lane_avx2(Value v);
    void lane_fma(Value v);
    // ---- lane_division.cpp ----
    void lane_quotient(Value v);
    Vec quotient_of_fractions(const Vec* n, const Vec& d, const Vec& q, const Vec& t,
                              const KReg& mask, KReg& hits);
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

    // ---- lane_memory.cpp, lane_patterns.cpp ----
    struct LaneAccess;
    void lane_memory(Value v);
    AccessSite site_of(Value v) const;
    void use_address(LaneAccess& m, Value addr);
    void use_mask(LaneAccess& m, Value mask);
    void skip_inactive_chunk(const LaneAccess& m);
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
    AddressFacts* shared_facts(LaneAccess& m);
    void find_pattern(const LaneAccess& m, int64_t max_imm, Label uneven, Label unknown);
    enum Pattern : uint32_t;
    static Rows::Kind kind_of_rows(Pattern pattern);
    void find_lds_tables();
    void forget_lds_tables();
    std::optional<Mem> lds_table(const LaneAccess& m) const;
    void lds_offsets(const LaneAccess& m, Imms imms, Label unknown);
    void find_uneven(const LaneAccess& m, Imms imms, Label unknown,
                     const std::function<void(Pattern)>& found);
    void branch_if_any(const LaneAccess& m, const Vec& x, const Operand& y, uint32_t predicate,
                       Label label, bool near = false);
    void branch_if_some(const LaneAccess& m, Label label, bool near = false);
    void find_first_lane(const LaneAccess& m);
    void lead(const LaneAccess& m, const Vec& to, const Vec& from);
    void add_base(LaneAccess& m);
    void offsets_base(const LaneAccess& m);
    Vec offsets_index(const LaneAccess& m);
    void memory_patterns(LaneAccess& m);
    void memory_line(LaneAccess& m, Value line);

    // ---- narrow_rows.cpp ----
    void memory_rows(const LaneAccess& m, Value line);
    void copy_lanes_of_line(const LaneAccess& m, Value line);
    void load_row_offsets(Value line, const Vec& to);
    void copy_rows(const LaneAccess& m, const Rows& rows);
    void find_rows(const LaneAccess& m, Pattern pattern, const std::function<void(Pattern)>& found);
    void find_row_step(const LaneAccess& m);
    void store_narrow_rows(const LaneAccess& m, const std::function<Mem(uint32_t)>& row_at,
                           uint32_t lanes);

    // ---- lane_lines.cpp ----
    bool may_store_column(Value v);
    void column_store(Value v, Label otherwise, Label done);
    void add_to_held(const ColumnStore& store, uint32_t at, const std::array<Source, 3>& rows,
                     Label done);
    bool go_across(const Value* begin, uint32_t count, Label done);
    void look_for_kept(Label kept);
    void note_kept();
    void each_kept(const std::function<void(size_t field, const Gp& now)>& use);
    void forget_kept();
    void load_for_store(const Vec& to, ir::Value load, uint32_t lane);
    void access_across(Value v);
    void transpose_quarters(uint32_t rows, bool back);
    void load_quarters(uint32_t rows, const std::function<Mem(uint32_t lane)>& from);
    void store_quarters(uint32_t rows, const std::function<Mem(uint32_t lane)>& to);
    void store_repeats(uint32_t temp_row, const Vec& x, Value load);
    bool asks_for_whole_masks(const LaneAccess& m) const;
    bool repeats_plainly() const;
    bool in_plain_loop(const LaneAccess& m) const;
    void memory_streamed(LaneAccess m);
    void load_uniform(const Gp& to, Value v);
    void lds_bound(const Operand& bytes, Label out_of_range);
    void lds_line_address(const LaneAccess& m, Value line, int64_t max_imm, Label out_of_range,
                          bool always);
    Label lds_range_check(Value line, bool some);
    void mask_to_frame(const LaneAccess& m);
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
    void choose_chunk_offset(const Value* begin, uint32_t count);
    void load_chunk_offset();
    bool is_indexed(const LaneAccess& m, Value line) const;
    struct Pointer {
        Value base;
        uint32_t step;  // from lane to lane
        Gp reg;         // the host address of the chunk's first element
        // A slot: how far it moves in four iterations of a block that repeats itself.
        std::optional<uint32_t> ahead = {};
    };
    void choose_pointers(const Value* begin, uint32_t count);
    void look_ahead(Pointer& p);
    const Pointer* pointer_of(const ir::Inst& access) const;
    void advance_pointers();
    void place_lines(const Value* begin, uint32_t count);
    bool place_line(PlacedLine& p);
    void global_base(const Gp& to, Value base);
    const PlacedLine* placed_line(Value base, Value line) const;
    const PlacedLine* placed_line(const LaneAccess& m, Value line) const;
    void placed_address(const LaneAccess& m, const PlacedLine& p, Label unknown);
    void lds_line(LaneAccess& m, Value line);
    void load_window(const LaneAccess& m);
    void pick_dwords(const LaneAccess& m, const Vec& to, uint32_t vectors, const LaneOffsets& in,
                     const LaneOffsets& index, const std::function<Mem(uint32_t)>& at);
    void store_window(const LaneAccess& m);
    void memory_broadcast(LaneAccess m, Value uniform);
    void memory_slow(LaneAccess m);
    void lds_line_slow(const LaneAccess& m, Value line);
    MemoryOp memory_op(const LaneAccess& m) const;
    void call_memory_op(const MemoryOp& op, uint32_t size = sizeof(MemoryOp));
    // ---- memory_stubs.cpp ----
    void memory_stub_body(LaneAccess m);
    void call_memory_stub(const MemoryOp& op);
    // ---- lane_consecutive.cpp ----
    void memory_consecutive(const LaneAccess& m);
    bool store_row(Value v);
    void memory_consecutive_narrow(const LaneAccess& m);
    bool splits_load(const LaneAccess& m) const;
    void masked_load(const LaneAccess& m, uint32_t part, const Vec& data, const Mem& from);
    void masked_store(const LaneAccess& m, uint32_t part, const Mem& to, const Vec& data);
    Vec part_mask(const LaneAccess& m, uint32_t part);
    Operand pool_table(const void* bytes);
    Operand index_table(std::initializer_list<uint32_t> start, uint32_t run, uint32_t step);
    void join_pairs(const LaneAccess& m);
    void rows_as_loaded(const LaneAccess& m);
    void deinterleave(const LaneAccess& m);
    void interleave(const LaneAccess& m);
    void deinterleave3(const LaneAccess& m);
    void interleave3(const LaneAccess& m);
    void deinterleave_avx512(const LaneAccess& m);
    void interleave_avx512(const LaneAccess& m);
    void load_quads(const LaneAccess& m, const LaneOffsets& offsets);
    static Mem element_at(const LaneAccess& m, uint32_t offset);
    void store_quads(const LaneAccess& m, const LaneOffsets& offsets);
    void quads_of_lanes(const LaneAccess& m,
                        const std::function<void(uint32_t lane, const Vec&)>& store);
    void load_triples(LaneAccess m, const LaneOffsets& offsets);
    void store_triples(LaneAccess m, const LaneOffsets& offsets);
    void deinterleave_avx2(const LaneAccess& m);
    void interleave_avx2(const LaneAccess& m);
    // ---- lane_rows.cpp ----
    void load_dwords(const LaneAccess& m, const DwordRow& row);
    void store_dwords(const LaneAccess& m, const DwordRow& row);
    // ---- lane_tables.cpp ----
    void memory_table(const LaneAccess& m);
    void bytes_of_table(const LaneAccess& m, uint32_t bytes);
    void dwords_of_table(const LaneAccess& m, uint32_t bytes);
    // ---- lane_gather.cpp ----
    void memory_gather(const LaneAccess& m);
    void load_same(const LaneAccess& m);
    void store_same(const LaneAccess& m);
    bool small_copy(const LaneAccess& m, Pattern pattern) const;
    void store_index(const LaneAccess& m, Pattern pattern);
    void copy_pattern(LaneAccess m, Pattern pattern);
    void load_strided(const LaneAccess& m);
    void store_strided(const LaneAccess& m);
    void load_strided_pairs(const LaneAccess& m);
    void copy_lanes(const LaneAccess& m, const Vec& index);
    void copy_each(const LaneAccess& m, const Vec& index);
    void gather_scatter(const LaneAccess& m, const Vec& index);
    void load_near(const LaneAccess& m);
    void extend_sign(const LaneAccess& m);
    void gather_narrow(const LaneAccess& m, const Vec& index);
    void load_bytes(const LaneAccess& m, const ByteRow& row);
    void store_bytes(const LaneAccess& m, const ByteScatter& row);
    void store_byte_lanes(const LaneAccess& m, const LaneOffsets& offsets);
    void load_sliding_words(const LaneAccess& m);
    void gather_mask_avx512(const LaneAccess& m, bool upper);
    void gather_mask_avx2(const LaneAccess& m, bool upper);
    Mem lane_address(const LaneAccess& m, uint32_t lane);
    Mem lane_address(const LaneAccess& m, const Gp& lane);
    void put_dwords(size_t frame_offset, const Vec& v);
    void index_to_frame(const LaneAccess& m, const Vec& index);
    void load_lanes(const LaneAccess& m);
    void load_element(const LaneAccess& m, const Vec& x, uint32_t at, const Mem& from);
    void store_lanes(const LaneAccess& m);
    // ---- lane_gather64.cpp ----
    void load_from_rows(const LaneAccess& m);
    void take_from_rows(const LaneAccess& m, int32_t rows);
    void take_element(ir::Access access, const Vec& data, const Vec& bits);
    void gather64(const LaneAccess& m);
    void gather_near_base(const LaneAccess& m, Label far);
    void scalar_part(const LaneAccess& m);
    void lane_addresses(LaneAccess m);
    void pair_addresses(const LaneAccess& m);
    void gather64_avx512(const LaneAccess& m);
    void gather64_avx2(const LaneAccess& m);
    // ---- lane_prefetch.cpp ----
    void prefetch_next_rows(const LaneAccess& m, Value line);
    void prefetch_ahead(const LaneAccess& m, uint32_t stride, Value line);
    Value row_step(Value base, Value line) const;
    void find_rows_ahead(const Value* begin, uint32_t count);
    void prefetch_iterations(const LaneAccess& m);
    void prefetch_at(const LaneAccess& m, uint32_t shift);
    void prefetch_walk(const LaneAccess& m);
    void find_tile_steps(const Value* begin, uint32_t count);
    void prefetch_next_tile(const LaneAccess& m, uint32_t slot);
    void prefetch_stream(const LaneAccess& m);
    void find_next_index(LaneAccess& m) const;
    void prefetch_elements(const LaneAccess& m);
    // ---- lane_checked.cpp ----
    void translate_address(const Gp& address, uint32_t bytes, bool store, const Gp& entry,
                           const Gp& t, Label miss);
    void translate_whole(LaneAccess& m, uint32_t bytes);
    void translate_lanes(const LaneAccess& m);
    // ---- lane_scratch.cpp ----
    void place_scratch(const Value* begin, uint32_t count);
    bool placed_scratch_row(const LaneAccess& m, Label otherwise);
    void memory_scratch_row(const LaneAccess& m, Value uniform);
    Vec offset_in_range(const LaneAccess& m, Label otherwise);
    void memory_scratch(const LaneAccess& m, Label otherwise);
    void memory_aperture(const LaneAccess& m, Label otherwise);
    void memory_private_buffer(const LaneAccess& m, Value uniform, Label otherwise);
    void memory_buffer(LaneAccess m, Value uniform);
    void scratch_rows(const LaneAccess& m, uint32_t offset = 0);
    void scratch_row_at(uint32_t bytes, Label otherwise);
    void scratch_uniform(const LaneAccess& m, Label otherwise);
    void scratch_lanes(const LaneAccess& m, const Vec& offset, Label otherwise);
    void scratch_elements(const LaneAccess& m, const Vec& offset, Label otherwise);
    void splat_offset(const LaneAccess& m, Value uniform);
    // ---- lane_atomic.cpp ----
    struct LaneAtomic;
    void lane_atomic(Value v);
    void atomic_address(LaneAtomic& m);
    void atomic_exchange_area(const LaneAtomic& m);
    void atomic_checks(const LaneAtomic& m);
    void atomic_slow(const LaneAtomic& m);
    void atomic_inline(const LaneAtomic& m);
    void atomic_check_base(const LaneAtomic& m);
    void atomic_expand_field(LaneAtomic& m);
    void atomic_field_lane(const LaneAtomic& m, uint32_t l);
    void load_field(const Gp& to, const Gp& rows, uint32_t l, const LaneField& f);
    void atomic_leave_unless_same(const LaneAtomic& m, Label differ);
    void atomic_merge(const LaneAtomic& m, Label differ, Label once);
    Mem atomic_element(const LaneAtomic& m);
    void atomic_lanes(const LaneAtomic& m, Label once);
    // lane_atomic_compare.cpp
    void atomic_compare_same(const LaneAtomic& m, Label differ, Label over);
    // lane_atomic_update.cpp
    void atomic_load(const LaneAtomic& m, const Gp& to, uint32_t operand);
    void atomic_update(const LaneAtomic& m, const Mem& at);
    void atomic_new_value(const LaneAtomic& m);
    void atomic_flush(const LaneAtomic& m, const Gp& x);

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
