#include "backend_x64/asm/loop_code.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace wj::x64 {

using ir::Class;
using ir::Op;
using ir::Terminator;
using machine::Wave;
namespace x86 = asmjit::x86;

BlockCompiler::BlockCompiler() = default;

// ---- constants behind the code
// --------------------------------------------------------------------

uint32_t BlockCompiler::pool_bytes(const void* data, uint32_t size, uint32_t align) {
    const size_t at = (pool_.size() + align - 1) & ~size_t{align - 1};
    pool_.resize(at + size);
    std::memcpy(pool_.data() + at, data, size);
    return static_cast<uint32_t>(at);
}

Mem BlockCompiler::pool32(uint32_t value) {
    auto [it, added] = pool32_.try_emplace(value, 0);
    if (added) it->second = pool_bytes(&value, 4, 4);
    return x86::ptr(pool_label_, static_cast<int32_t>(it->second));
}

Mem BlockCompiler::pool64(uint64_t value) {
    auto [it, added] = pool64_.try_emplace(value, 0);
    if (added) it->second = pool_bytes(&value, 8, 8);
    return x86::ptr(pool_label_, static_cast<int32_t>(it->second));
}

// The eight bytes at this offset of the pool hold `value` or what it stands for.
void BlockCompiler::relocate(uint32_t pool_offset, Relocation::Kind kind, uint64_t value) {
    if (value || kind == Relocation::Kind::Code)
        out_->relocations.push_back({kind, pool_offset, value});
}

// A register never gets the address of guest code as an immediate: the code may run elsewhere.
Mem BlockCompiler::pool_code_address(uint64_t pc) {
    auto [it, added] = pool_code_.try_emplace(pc, 0);
    if (added) {
        it->second = pool_bytes(&pc, 8, 8);
        relocate(it->second, Relocation::Kind::Code, pc);
    }
    return x86::qword_ptr(pool_label_, static_cast<int32_t>(it->second));
}

// ---- guest PCs
// ------------------------------------------------------------------------------------

void BlockCompiler::mark_guest(uint32_t guest) {
    if (guest == guest_) return;
    guest_ = guest;
    const auto offset = static_cast<uint32_t>(a_.offset());
    if (!out_->pcs.empty() && out_->pcs.back().offset == offset)
        out_->pcs.back().guest = guest;
    else
        out_->pcs.push_back({offset, guest});
}

void BlockCompiler::mark(Value v) {
    mark_guest(inst(v).guest);
}

// ---- entry
// ------------------------------------------------------------------------------

// A block that jumps to itself keeps what it knows. Of waves that start each other those behind one
// that scatters most likely do so, too: a few of them do not look (scattered_mark()).
void BlockCompiler::forget_scattered() {
    const Terminator& t = block_->term;
    const bool loop = t.target == block_->pc || t.next == block_->pc;
    const bool scatters = std::ranges::any_of(block_->insts, [loop](const ir::Inst& i) {
        return i.op == Op::LoadGlobal || i.op == Op::StoreGlobal || i.op == Op::LoadGlobalS64 ||
               i.op == Op::StoreGlobalS64 || (loop && i.op == Op::LoadGlobalS);
    });
    if (!scatters || is_checked(options_.address_mode)) return;
    const Mem flags = x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, scattered)));
    if (!runs_again(context())) {
        a_.mov(flags, 0);
        return;
    }
    a_.mov(x86::rax, 0x7f7f7f7f7f7f7f7f);
    a_.mov(x86::rcx, flags);
    a_.shr(x86::rcx, 1);
    a_.and_(x86::rcx, x86::rax);
    a_.mov(flags, x86::rcx);
}

// What an access that scatters leaves in Frame::scattered.
uint32_t BlockCompiler::scattered_mark() const {
    constexpr uint32_t waves = 4;
    return runs_again(context()) ? 1u << waves : 1;
}

void BlockCompiler::prologue() {
    if (!runs_again(context())) forget_scattered();
    if (!block_->guarded) forget_row_shapes();
    a_.bind(entry_label_);
    a_.sub(budget_field(), block_->guest_count);
    over_label_ = a_.newLabel();
    a_.js(over_label_);
    a_.bind(body_label_);
    out_->body_offset = static_cast<uint32_t>(a_.offset());
    cold(over_label_, [this] {
        a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, budget_stub))));
        out_->budget_return_offset = static_cast<uint32_t>(a_.offset());
    });
    if (block_->guarded) {
        row_guards();
        forget_row_shapes();
    }
    if (options_.variant == Variant::Edge && !runs_again(context())) settle();
    again_label_ = a_.newLabel();
    a_.bind(again_label_);
    if (runs_again(context())) forget_scattered();
    AccessCode(*this).forget_lds_tables();
    begin_go_on();
}

// The source of the waves is to know which one runs: translated code may have gone on to it.
void BlockCompiler::settle() {
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, settle_stub))));
}

// ---- segments
// -------------------------------------------------------------------------------------

void BlockCompiler::segment(uint32_t position) {
    position_ = position;
    if (position & 1) {
        if (schedule_.begin(position) != schedule_.end(position)) region(position);
        return;
    }
    uniform_begin(position);
    for (const Value* v = schedule_.begin(position); v != schedule_.end(position); ++v) {
        mark(*v);
        uniform_at_ = v;
        const Class cls = ir::op_info(inst(*v).op).cls;
        if (cls == Class::Call)
            uniform_call(*v);
        else if (cls == Class::Cross)
            cross_op(*v);
        else
            uniform_op(*v);
        gp_locked_ = gp_temps_ = 0;
    }
    uniform_at_ = schedule_.end(position);
    if (position != schedule_.terminator_position()) ufree_all();
}

void BlockCompiler::emit_colds() {
    bool last = false;
    for (size_t i = 0; i < colds_.size(); ++i) {
        const bool used = !colds_[i].only_if_used || (colds_[i].is_behind && last) ||
                          code_.labelEntry(colds_[i].label)->links();
        last = used;
        if (!used) continue;
        a_.bind(colds_[i].label);
        mark_guest(colds_[i].guest);
        const bool together = colds_[i].together;
        const size_t count = colds_.size();
        if (together) a_.look_for(reg::chunk);
        const auto emit = std::move(colds_[i].emit);  // it may add others
        emit();
        if (!together) continue;
        apart_ |= a_.found();
        for (size_t n = count; n < colds_.size(); ++n) colds_[n].together = true;
    }
}

void BlockCompiler::forget_facts() {
    facts_.clear();
    saved_facts_.clear();
    line_offsets_.clear();
    placed_lines_.clear();
    placed_scratch_.clear();
    range_checks_.clear();
    tile_steps_.clear();
    rows_ahead_.clear();
    kept_rows_ = 0;
    facts_position_ = ~0u;
}

// Everything but the schedule. False when the assembler cannot be had.
bool BlockCompiler::begin(const ir::Block& block, const CompileOptions& options,
                          CompiledBlock& out) {
    block_ = &block;
    options_ = options;
    avx512_ = options.avx512;
    failed_ = false;
    loop_plan_ = {};
    loop_ = {};
    row_loop_.reset();
    pinned_ = k_pinned_ = gp_reserved_ = 0;
    AccessCode(*this).find_lds_tables();
    out_ = &out;
    out = {};
    colds_.clear();
    pool_.clear();
    pool32_.clear();
    pool64_.clear();
    pool_code_.clear();
    pool_vectors_.clear();
    tables_.clear();
    gathered_ = false;
    forget_facts();
    scatter_sites_ = steady_sites_ = 0;
    guest_ = ~0u;
    extra_slots_ = 0;
    code_.reset();
    if (code_.init(asmjit::Environment(asmjit::Arch::kX64)) != asmjit::kErrorOk) return false;
    errors_.seen = errors_.too_far = false;
    code_.setErrorHandler(&errors_);
    code_.attach(&a_);
    a_.count(options.counters, &out.runs);
    pool_label_ = a_.newLabel();
    entry_label_ = a_.newLabel();
    body_label_ = a_.newLabel();
    return true;
}

// What is out of line, and constants. False when something did not fit.
bool BlockCompiler::end() {
    CompiledBlock& out = *out_;
    out.hot_size = static_cast<uint32_t>(a_.offset());
    emit_colds();
    if (row_loop_) {
        colds_.clear();
        RowLoopCode(*this).emit();
        emit_colds();
    }
    a_.end_count();
    out.code_size = static_cast<uint32_t>(a_.offset());
    a_.align(asmjit::AlignMode::kZero, pool_vectors_.empty() ? 8 : 32);
    const auto pool_offset = static_cast<uint32_t>(a_.offset());
    a_.bind(pool_label_);
    if (!pool_.empty()) a_.embed(pool_.data(), pool_.size());
    for (LinkSite& link : out.links) link.slot_offset += pool_offset;
    for (Relocation& r : out.relocations) r.offset += pool_offset;
    const size_t size = a_.offset();
    out.code = code_.textSection()->buffer().data();
    out.size = static_cast<uint32_t>(size);
    code_.detach(&a_);
    return !failed_ && !code_.hasUnresolvedLinks() && !errors_.seen;
}

bool BlockCompiler::compile(const ir::Block& block, const CompileOptions& options,
                            CompiledBlock& out) {
    const MemoryTraits memory{.exclusive = options.exclusive,
                              .direct = !is_checked(options.address_mode)};
    if (!schedule_.build(block, options.avx512, memory)) return false;
    if (!begin(block, options, out)) return false;
    extra_slots_ = schedule_.slots_used();
    goes_on_ = false;
    apart_ = false;
    units_.assign(schedule_.unit_count(), {});
    uniforms_.assign(block.insts.size(), {});

    prologue();
    loop_plan_ = find_loop(context(), attempt_.loops);
    const bool loop = loop_plan_.by_chunks();
    if (block_->guarded) take(options_.decisions, Mechanism::LineGuards);
    facts_cross_regions_ = !loop;
    loop_.by_chunks = loop;
    if (loop) schedule_.merge_early(1);
    plan_iterations(loop_plan_, context(), attempt_.loops);
    tell(context(), loop_plan_);
    if (loop_plan_.divergent) {
        DivergentCode(*this).emit();
    } else if (loop) {
        UniformLoopCode(*this).emit();
    } else {
        const bool gathers = loop_plan_.compacted.has_value();
        if (gathers) GatheredCode(*this).begin();
        row_loop_ = plan_row_loop(context(), attempt_.loops);
        if (row_loop_) {
            if (options_.decisions)
                options_.decisions->add_loop("along rows: " + row_loop_->loop.print(block));
            RowLoopCode(*this).begin();
        }
        for (uint32_t p = 0; p < schedule_.segments(); ++p) {
            if (p == 1 && goes_on_) a_.bind(go_on_label_);
            segment(p);
        }
        if (goes_on_ && schedule_.segments() == 1) a_.bind(go_on_label_);
        position_ = schedule_.terminator_position();
        terminator();
        if (gathers) cold(gathered_label_, [this] { GatheredCode(*this).emit(); });
    }
    const bool ok = end() && extra_slots_ <= slot_count;
    const auto again = [&](auto& limit, auto lower, std::string_view why) {
        translate_again(options.decisions, why);
        const auto before = std::exchange(limit, lower);
        const bool fits = compile(block, options, out);
        limit = before;
        return fits;
    };
    if (errors_.too_far && attempt_.near)  // counters lie between a near jump and its target
        return again(attempt_.near, false, "a near jump does not reach");
    if (apart_ && attempt_.waves_together)
        return again(attempt_.waves_together, false,
                     "fused waves would meet in code that asks which chunk it is");
    if (!ok && row_loop_)
        return again(attempt_.loops.row_loops, false, "too many values for a row loop");
    if (!ok && loop) {
        using enum LoopLimits::Chunks;
        constexpr std::string_view why = "too many values for the loop's registers";
        if (!loop_plan_.walks.walks.empty()) return again(attempt_.loops.walks, false, why);
        return again(attempt_.loops.chunks, loop_.pins.chunks > 1 ? One : None, why);
    }
    if (!ok && attempt_.constants)
        return again(attempt_.constants, false, "too many values beside constants in registers");
    return ok;
}

}  // namespace wj::x64
