// The code of loads, stores, atomics and longer operations of lanes, one class per concern. They
// are views: of the compiler whose code they emit and of its block. They hold nothing of their own,
// so that one may be made wherever it is asked, and be copied into code out of line.
#pragma once

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

// What all of them, and the views of loops (loop_code.h), say of the compiler.
class BlockCompiler::CodeView {
public:
    explicit CodeView(BlockCompiler& c)
        : c_(c), a_(c.a_), block_(c.block_), schedule_(c.schedule_), options_(c.options_) {}

protected:
    const ir::Inst& inst(Value v) const { return block_->insts[v]; }
    PlanContext context() const { return c_.context(); }
    bool is_const(Value v) const { return c_.is_const(v); }
    bool is_full(Value mask) const { return c_.is_full(mask); }
    asmjit::x86::Assembler& near_if(bool near) const { return c_.near_if(near); }
    Vec vec(int i) const { return c_.vec(i); }
    uint32_t width() const { return c_.width(); }
    uint32_t chunk_lanes() const { return c_.chunk_lanes(); }
    Mem home_mem(const Home& home, int32_t offset = 0) const { return c_.home_mem(home, offset); }
    Source source(Unit u) const { return c_.source(u); }
    Vec use(Unit u) const { return c_.use(u); }
    Vec use(Value v, uint32_t part = 0) const { return c_.use(v, part); }
    KReg use_k(Value v) const { return c_.use_k(v); }
    Vec def(Unit u) const { return c_.def(u); }
    Vec def(Value v, uint32_t part = 0) const { return c_.def(v, part); }
    Vec tmp() const { return c_.tmp(); }
    KReg tmp_k() const { return c_.tmp_k(); }
    void define_done(Unit u) const { c_.define_done(u); }
    bool last_use(Unit u) const { return c_.last_use(u); }
    Operand c32(uint32_t value) const { return c_.c32(value); }
    Operand c64(uint64_t value) const { return c_.c64(value); }
    Mem pool32(uint32_t value) const { return c_.pool32(value); }
    Mem pool64(uint64_t value) const { return c_.pool64(value); }
    Mem constant(Constant c, int32_t offset = 0) const { return c_.constant(c, offset); }
    Mem bcast32(Mem m) const { return c_.bcast32(m); }
    Mem bcast64(Mem m) const { return c_.bcast64(m); }
    void mov(const Vec& d, const Operand& s) const { c_.mov(d, s); }
    void movu(const Operand& d, const Operand& s) const { c_.movu(d, s); }
    void k(const KReg& mask, bool zeroing = false) const { c_.k(mask, zeroing); }
    template <class F>
    void cold(Label label, F f) const {
        c_.cold(label, std::move(f));
    }
    template <class F>
    void cold_if_used(Label label, F f) const {
        c_.cold_if_used(label, std::move(f));
    }
    template <class F>
    void cold_behind(Label label, F f) const {
        c_.cold_behind(label, std::move(f));
    }

    BlockCompiler& c_;
    CountingAssembler& a_;
    const ir::Block* const block_;
    const Schedule& schedule_;
    const CompileOptions& options_;
};

// Where an access goes: its address, its mask, the pattern of its lanes' addresses, and what is
// left to C++ (lane_memory.cpp, lane_patterns.cpp, lane_checked.cpp, memory_stubs.cpp).
class BlockCompiler::AccessCode : public CodeView {
public:
    using CodeView::CodeView;
    std::array<Source, 3> column_rows(Value v) const;
    void lane_memory(Value v) const;
    AccessSite site_of(Value v) const;
    void use_address(LaneAccess& m, Value addr) const;
    void use_mask(LaneAccess& m, Value mask) const;
    void skip_inactive_chunk(const LaneAccess& m) const;
    AddressFacts* shared_facts(LaneAccess& m) const;
    void find_pattern(const LaneAccess& m, int64_t max_imm, Label uneven, Label unknown) const;
    void find_lds_tables() const;
    void forget_lds_tables() const;
    std::optional<Mem> lds_table(const LaneAccess& m) const;
    void lds_offsets(const LaneAccess& m, Imms imms, Label unknown) const;
    void find_uneven(const LaneAccess& m, Imms imms, Label unknown,
                     const std::function<void(Pattern)>& found) const;
    void branch_if_any(const LaneAccess& m, const Vec& x, const Operand& y, uint32_t predicate,
                       Label label, bool near = false) const;
    void branch_if_some(const LaneAccess& m, Label label, bool near = false) const;
    void find_first_lane(const LaneAccess& m) const;
    void lead(const LaneAccess& m, const Vec& to, const Vec& from) const;
    void add_base(LaneAccess& m) const;
    void offsets_base(const LaneAccess& m) const;
    Vec offsets_index(const LaneAccess& m) const;
    void memory_patterns(LaneAccess& m) const;
    bool may_store_column(Value v) const;
    void column_store(Value v, Label otherwise, Label done) const;
    void add_to_held(const ColumnStore& store, uint32_t at, const std::array<Source, 3>& rows,
                     Label done) const;
    void memory_streamed(LaneAccess m) const;
    void mask_to_frame(const LaneAccess& m) const;
    void memory_broadcast(LaneAccess m, Value uniform) const;
    void memory_slow(LaneAccess m) const;
    void lds_line_slow(const LaneAccess& m, Value line) const;
    MemoryOp memory_op(const LaneAccess& m) const;
    void call_memory_op(const MemoryOp& op, uint32_t size = sizeof(MemoryOp)) const;
    void memory_stub_body(LaneAccess m) const;
    void call_memory_stub(const MemoryOp& op) const;
    void translate_address(const Gp& address, uint32_t bytes, bool store, const Gp& entry,
                           const Gp& t, Label miss) const;
    void translate_whole(LaneAccess& m, uint32_t bytes) const;
    void translate_lanes(const LaneAccess& m) const;
};

// Lanes that lie one behind the other: rows of them, narrow ones, windows and tuples in them
// (lane_consecutive.cpp, narrow_rows.cpp, lane_rows.cpp, lane_windows.cpp).
class BlockCompiler::RowCode : public CodeView {
public:
    using CodeView::CodeView;
    void memory_rows(const LaneAccess& m, Value line) const;
    void copy_lanes_of_line(const LaneAccess& m, Value line) const;
    void load_row_offsets(Value line, const Vec& to) const;
    void copy_rows(const LaneAccess& m, const Rows& rows) const;
    void find_rows(const LaneAccess& m, Pattern pattern,
                   const std::function<void(Pattern)>& found) const;
    void find_row_step(const LaneAccess& m) const;
    void store_narrow_rows(const LaneAccess& m, const std::function<Mem(uint32_t)>& row_at,
                           uint32_t lanes) const;
    bool asks_for_whole_masks(const LaneAccess& m) const;
    bool repeats_plainly() const;
    bool in_plain_loop(const LaneAccess& m) const;
    void load_window(const LaneAccess& m) const;
    void pick_dwords(const LaneAccess& m, const Vec& to, uint32_t vectors, const LaneOffsets& in,
                     const LaneOffsets& index, const std::function<Mem(uint32_t)>& at) const;
    void store_window(const LaneAccess& m) const;
    void memory_consecutive(const LaneAccess& m) const;
    bool store_row(Value v) const;
    void memory_consecutive_narrow(const LaneAccess& m) const;
    bool splits_load(const LaneAccess& m) const;
    void masked_load(const LaneAccess& m, uint32_t part, const Vec& data, const Mem& from) const;
    void masked_store(const LaneAccess& m, uint32_t part, const Mem& to, const Vec& data) const;
    Vec part_mask(const LaneAccess& m, uint32_t part) const;
    Operand pool_table(const void* bytes) const;
    Operand index_table(std::initializer_list<uint32_t> start, uint32_t run, uint32_t step) const;
    void join_pairs(const LaneAccess& m) const;
    void rows_as_loaded(const LaneAccess& m) const;
    void deinterleave(const LaneAccess& m) const;
    void interleave(const LaneAccess& m) const;
    void deinterleave3(const LaneAccess& m) const;
    void interleave3(const LaneAccess& m) const;
    void deinterleave_avx512(const LaneAccess& m) const;
    void interleave_avx512(const LaneAccess& m) const;
    void load_quads(const LaneAccess& m, const LaneOffsets& offsets) const;
    static Mem element_at(const LaneAccess& m, uint32_t offset);
    void store_quads(const LaneAccess& m, const LaneOffsets& offsets) const;
    void quads_of_lanes(const LaneAccess& m,
                        const std::function<void(uint32_t lane, const Vec&)>& store) const;
    void load_triples(LaneAccess m, const LaneOffsets& offsets) const;
    void store_triples(LaneAccess m, const LaneOffsets& offsets) const;
    void deinterleave_avx2(const LaneAccess& m) const;
    void interleave_avx2(const LaneAccess& m) const;
    void load_dwords(const LaneAccess& m, const DwordRow& row) const;
    void store_dwords(const LaneAccess& m, const DwordRow& row) const;
};

// Accesses whose addresses are lines (lane_lines.cpp).
class BlockCompiler::LineCode : public CodeView {
public:
    using CodeView::CodeView;
    void memory_line(LaneAccess& m, Value line) const;
    void load_uniform(const Gp& to, Value v) const;
    void lds_bound(const Operand& bytes, Label out_of_range) const;
    void lds_line_address(const LaneAccess& m, Value line, int64_t max_imm, Label out_of_range,
                          bool always) const;
    Label lds_range_check(Value line, bool some) const;
    void choose_chunk_offset(const Value* begin, uint32_t count) const;
    void load_chunk_offset() const;
    bool is_indexed(const LaneAccess& m, Value line) const;
    void choose_pointers(const Value* begin, uint32_t count) const;
    void look_ahead(Pointer& p) const;
    const Pointer* pointer_of(const ir::Inst& access) const;
    void advance_pointers() const;
    void place_lines(const Value* begin, uint32_t count) const;
    bool place_line(PlacedLine& p) const;
    void global_base(const Gp& to, Value base) const;
    const PlacedLine* placed_line(Value base, Value line) const;
    const PlacedLine* placed_line(const LaneAccess& m, Value line) const;
    void placed_address(const LaneAccess& m, const PlacedLine& p, Label unknown) const;
    void lds_line(LaneAccess& m, Value line) const;
};

// Lanes that lie anywhere, or in a small table (lane_gather.cpp, lane_gather64.cpp,
// lane_tables.cpp).
class BlockCompiler::GatherCode : public CodeView {
public:
    using CodeView::CodeView;
    void memory_table(const LaneAccess& m) const;
    void bytes_of_table(const LaneAccess& m, uint32_t bytes) const;
    void dwords_of_table(const LaneAccess& m, uint32_t bytes) const;
    void memory_gather(const LaneAccess& m) const;
    void load_same(const LaneAccess& m) const;
    void store_same(const LaneAccess& m) const;
    bool small_copy(const LaneAccess& m, Pattern pattern) const;
    void store_index(const LaneAccess& m, Pattern pattern) const;
    void copy_pattern(LaneAccess m, Pattern pattern) const;
    void load_strided(const LaneAccess& m) const;
    void store_strided(const LaneAccess& m) const;
    void load_strided_pairs(const LaneAccess& m) const;
    void copy_lanes(const LaneAccess& m, const Vec& index) const;
    void copy_each(const LaneAccess& m, const Vec& index) const;
    void gather_scatter(const LaneAccess& m, const Vec& index) const;
    void load_near(const LaneAccess& m) const;
    void extend_sign(const LaneAccess& m) const;
    void gather_narrow(const LaneAccess& m, const Vec& index) const;
    void load_bytes(const LaneAccess& m, const ByteRow& row) const;
    void store_bytes(const LaneAccess& m, const ByteScatter& row) const;
    void store_byte_lanes(const LaneAccess& m, const LaneOffsets& offsets) const;
    void load_sliding_words(const LaneAccess& m) const;
    void gather_mask_avx512(const LaneAccess& m, bool upper) const;
    void gather_mask_avx2(const LaneAccess& m, bool upper) const;
    Mem lane_address(const LaneAccess& m, uint32_t lane) const;
    Mem lane_address(const LaneAccess& m, const Gp& lane) const;
    void put_dwords(size_t frame_offset, const Vec& v) const;
    void index_to_frame(const LaneAccess& m, const Vec& index) const;
    void load_lanes(const LaneAccess& m) const;
    void load_element(const LaneAccess& m, const Vec& x, uint32_t at, const Mem& from) const;
    void store_lanes(const LaneAccess& m) const;
    void load_from_rows(const LaneAccess& m) const;
    void take_from_rows(const LaneAccess& m, int32_t rows) const;
    void take_element(ir::Access access, const Vec& data, const Vec& bits) const;
    void gather64(const LaneAccess& m) const;
    void gather_near_base(const LaneAccess& m, Label far) const;
    void scalar_part(const LaneAccess& m) const;
    void lane_addresses(LaneAccess m) const;
    void pair_addresses(const LaneAccess& m) const;
    void gather64_avx512(const LaneAccess& m) const;
    void gather64_avx2(const LaneAccess& m) const;
};

// Private memory and buffers (lane_scratch.cpp).
class BlockCompiler::ScratchCode : public CodeView {
public:
    using CodeView::CodeView;
    void place_scratch(const Value* begin, uint32_t count) const;
    bool placed_scratch_row(const LaneAccess& m, Label otherwise) const;
    void memory_scratch_row(const LaneAccess& m, Value uniform) const;
    Vec offset_in_range(const LaneAccess& m, Label otherwise) const;
    void memory_scratch(const LaneAccess& m, Label otherwise) const;
    void memory_aperture(const LaneAccess& m, Label otherwise) const;
    void memory_private_buffer(const LaneAccess& m, Value uniform, Label otherwise) const;
    void memory_buffer(LaneAccess m, Value uniform) const;
    void scratch_rows(const LaneAccess& m, uint32_t offset = 0) const;
    void scratch_row_at(uint32_t bytes, Label otherwise) const;
    void scratch_uniform(const LaneAccess& m, Label otherwise) const;
    void scratch_lanes(const LaneAccess& m, const Vec& offset, Label otherwise) const;
    void scratch_elements(const LaneAccess& m, const Vec& offset, Label otherwise) const;
    void splat_offset(const LaneAccess& m, Value uniform) const;
};

// What is fetched ahead (lane_prefetch.cpp).
class BlockCompiler::PrefetchCode : public CodeView {
public:
    using CodeView::CodeView;
    void prefetch_next_rows(const LaneAccess& m, Value line) const;
    void prefetch_ahead(const LaneAccess& m, uint32_t stride, Value line) const;
    Value row_step(Value base, Value line) const;
    void find_rows_ahead(const Value* begin, uint32_t count) const;
    void prefetch_iterations(const LaneAccess& m) const;
    void prefetch_at(const LaneAccess& m, uint32_t shift) const;
    void prefetch_walk(const LaneAccess& m) const;
    void find_tile_steps(const Value* begin, uint32_t count) const;
    void prefetch_next_tile(const LaneAccess& m, uint32_t slot) const;
    void prefetch_stream(const LaneAccess& m) const;
    void find_next_index(LaneAccess& m) const;
    void prefetch_elements(const LaneAccess& m) const;
};

// lane_atomic.cpp, lane_atomic_compare.cpp, lane_atomic_update.cpp
class BlockCompiler::AtomicCode : public CodeView {
public:
    using CodeView::CodeView;
    void lane_atomic(Value v) const;
    void atomic_address(LaneAtomic& m) const;
    void atomic_exchange_area(const LaneAtomic& m) const;
    void atomic_checks(const LaneAtomic& m) const;
    void atomic_slow(const LaneAtomic& m) const;
    void atomic_inline(const LaneAtomic& m) const;
    void atomic_check_base(const LaneAtomic& m) const;
    void atomic_expand_field(LaneAtomic& m) const;
    void atomic_field_lane(const LaneAtomic& m, uint32_t l) const;
    void load_field(const Gp& to, const Gp& rows, uint32_t l, const LaneField& f) const;
    void atomic_leave_unless_same(const LaneAtomic& m, Label differ) const;
    void atomic_merge(const LaneAtomic& m, Label differ, Label once) const;
    Mem atomic_element(const LaneAtomic& m) const;
    void atomic_lanes(const LaneAtomic& m, Label once) const;
    void atomic_compare_same(const LaneAtomic& m, Label differ, Label over) const;
    void atomic_load(const LaneAtomic& m, const Gp& to, uint32_t operand) const;
    void atomic_update(const LaneAtomic& m, const Mem& at) const;
    void atomic_new_value(const LaneAtomic& m) const;
    void atomic_flush(const LaneAtomic& m, const Gp& x) const;
};

// Lanes whose rows change places with columns, and kept sums (lane_across.cpp).
class BlockCompiler::AcrossCode : public CodeView {
public:
    using CodeView::CodeView;
    bool go_across(const Value* begin, uint32_t count, Label done) const;
    void look_for_kept(Label kept) const;
    void note_kept() const;
    void each_kept(const std::function<void(size_t field, const Gp& now)>& use) const;
    void forget_kept() const;
    void load_for_store(const Vec& to, ir::Value load, uint32_t lane) const;
    void access_across(Value v) const;
    void transpose_quarters(uint32_t rows, bool back) const;
    void load_quarters(uint32_t rows, const std::function<Mem(uint32_t lane)>& from) const;
    void store_quarters(uint32_t rows, const std::function<Mem(uint32_t lane)>& to) const;
    void store_repeats(uint32_t temp_row, const Vec& x, Value load) const;
};

// Roots, frexp, special arguments, divisions by steps (lane_math.cpp, lane_division.cpp).
class BlockCompiler::MathCode : public CodeView {
public:
    using CodeView::CodeView;
    void lane_math(Value v) const;
    void refine_root(const Vec& x, const Vec& y, const std::array<Vec, 3>& temps,
                     bool quadratic) const;
    void jump_unless_ordinary(const Vec& x, bool any_sign, bool denormals, const Label& far) const;
    void root_avx2(const Vec& x, const Vec& y) const;
    void fixup_avx2(const Vec& x, const Vec& d, uint32_t bits) const;
    void frexp_avx2(const Vec& x, const Vec& mantissa, const Vec& exponent) const;
    void lane_frexp_avx2(Value v) const;
    void lane_quotient(Value v) const;
    Vec quotient_of_fractions(const Vec* n, const Vec& d, const Vec& q, const Vec& t,
                              const KReg& mask, KReg& hits) const;
};

}  // namespace wj::x64
