#include "backend_x64/asm/block_compiler.h"

#include <algorithm>
#include <cstring>

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

// ---- entry and exits
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
    if (!scatters || options_.checked) return;
    const Mem flags = x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, scattered)));
    if (!runs_again()) {
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
    return runs_again() ? 1u << waves : 1;
}

void BlockCompiler::prologue() {
    if (!runs_again()) forget_scattered();
    if (!block_->guarded) forget_row_shapes();
    a_.bind(entry_label_);
    a_.sub(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, budget))), block_->guest_count);
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
    if (options_.variant == Variant::Edge && !runs_again()) settle();
    again_label_ = a_.newLabel();
    a_.bind(again_label_);
    if (runs_again()) forget_scattered();
    forget_lds_tables();
    begin_go_on();
}

// The source of the waves is to know which one runs: translated code may have gone on to it.
void BlockCompiler::settle() {
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, settle_stub))));
}

void BlockCompiler::leave(uint32_t reason) {
    a_.mov(x86::eax, reason);
    a_.jmp(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, leave_stub))));
}

// Of blocks that jump to themselves. In guarded ones the guards are tested on the way.
Variant BlockCompiler::own_variant() const {
    return block_->exec_full ? Variant::Full : Variant::Partial;
}

void BlockCompiler::jump_variant(uint64_t target, Variant variant) {
    // The block itself is the most common target of all: loops.
    if (target == block_->pc && variant == own_variant()) {
        a_.jmp(entry_label_);
        return;
    }
    jump_linked(target, variant);
}

void BlockCompiler::jump_linked(uint64_t target, Variant variant) {
    const uint64_t empty = 0;
    const uint32_t slot = pool_bytes(&empty, 8, 8);
    a_.jmp(x86::qword_ptr(pool_label_, static_cast<int32_t>(slot)));
    const Label unlinked = a_.newLabel();
    cold(unlinked, [this, slot, target, variant] {
        LinkSite site;
        site.cold_offset = static_cast<uint32_t>(a_.offset());
        a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, link_stub))));
        site.return_offset = static_cast<uint32_t>(a_.offset());
        site.slot_offset = slot;
        site.target = target;
        site.variant = variant;
        out_->links.push_back(site);
    });
}

void BlockCompiler::jump_to(uint64_t target) {
    if (block_->mode_changed) {
        a_.mov(x86::rax, pool_code_address(target));
        a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, pc))), x86::rax);
        leave(static_cast<uint32_t>(Leave::Lookup));
        return;
    }
    if (block_->exec_full && !block_->exec_changed) {
        jump_variant(target, Variant::Full);
        return;
    }
    if (!block_->exec_changed) {  // entered with some lanes off, and still so
        jump_variant(target, Variant::Partial);
        return;
    }
    if (options_.whole_lanes == machine::lanes) {
        a_.cmp(exec_field(), -1);
    } else {
        a_.mov(x86::rax, x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, whole_exec))));
        a_.cmp(exec_field(), x86::rax);
    }
    const Label some = a_.newLabel();
    a_.jne(some);
    jump_variant(target, Variant::Full);
    a_.bind(some);
    jump_variant(target, Variant::Partial);
}

void BlockCompiler::terminator() {
    const Terminator& t = block_->term;
    if (!block_->guest_pcs.empty()) mark_guest(static_cast<uint32_t>(block_->guest_pcs.size() - 1));
    forget_kept();
    write_sum_rows();
    note_row_shapes();
    switch (t.kind) {
        case Terminator::Kind::Jump:
            ufree_all(false);
            jump_to(t.target);
            break;
        case Terminator::Kind::Branch: {
            const ir::Inst& c = inst(t.cond);
            x86::CondCode not_taken = x86::CondCode::kZ;
            bool compared = false;
            // The flags of the compare are gone when its result was stored as SCC: compare again if
            // its operands are at hand.
            if (c.op >= Op::UCmpEq32 && c.op <= Op::UCmpLtU64 &&
                schedule_.position(t.cond) == position_) {
                Mem m;
                auto at_hand = [&](Value v) {
                    return is_const(v) || uniforms_[v].reg >= 0 || umem(v, m);
                };
                if (at_hand(c.args[0]) && at_hand(c.args[1])) {
                    const Gp left = ureg(c.args[0]);
                    if (is_const(c.args[1]) && inst(c.args[1]).imm == 0)
                        a_.test(left, left);
                    else
                        a_.emit(X::kIdCmp, left, uop(c.args[1]));
                    not_taken = negated(c.op);
                    compared = true;
                }
            }
            if (!compared) {
                const Gp r = ureg(t.cond);
                a_.test(r, r);
            }
            ufree_all(false);
            const Label next = a_.newLabel();
            a_.j(not_taken, next);
            jump_to(t.target);
            a_.bind(next);
            jump_to(t.next);
            break;
        }
        case Terminator::Kind::Indirect: {
            const Gp r = ureg(t.cond);
            a_.mov(x86::rax, r);
            ufree_all(false);
            if (block_->mode_changed) {
                a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, pc))), x86::rax);
                leave(static_cast<uint32_t>(Leave::Lookup));
            } else {
                a_.jmp(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, indirect_stub))));
            }
            break;
        }
        case Terminator::Kind::Called:
            ufree_all(false);
            leave(static_cast<uint32_t>(Leave::Lookup));
            break;
        case Terminator::Kind::Exit: {
            ufree_all(false);
            if (runs_again()) run_again();
            a_.mov(x86::rax, pool_code_address(t.next));
            a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, pc))), x86::rax);
            if (t.exit == machine::ExitKind::Barrier || t.exit == machine::ExitKind::EndProgram) {
                a_.mov(x86::eax, static_cast<uint32_t>(t.exit));
                a_.jmp(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, turn_stub))));
                break;
            }
            if (t.exit != machine::ExitKind::Yield) {
                const uint64_t at =
                    block_->guest_pcs.empty() ? block_->pc : block_->guest_pcs.back();
                a_.mov(x86::rax, pool_code_address(at));
                a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                         offsetof(machine::ExitInfo, pc))),
                       x86::rax);
                const auto reason = reinterpret_cast<uint64_t>(t.reason);
                const uint32_t slot = pool_bytes(&reason, 8, 8);
                relocate(slot, Relocation::Kind::Host, reason);
                a_.mov(x86::rax, x86::qword_ptr(pool_label_, static_cast<int32_t>(slot)));
                a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                         offsetof(machine::ExitInfo, reason))),
                       x86::rax);
                a_.mov(x86::dword_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                         offsetof(machine::ExitInfo, detail))),
                       t.detail);
                if (t.exit == machine::ExitKind::MemoryFault) {  // code that cannot be fetched
                    a_.mov(x86::byte_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                            offsetof(machine::ExitInfo, access))),
                           static_cast<uint32_t>(machine::Access::Execute));
                    a_.mov(x86::rax, pool_code_address(at));
                    a_.mov(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, exit) +
                                                             offsetof(machine::ExitInfo, address))),
                           x86::rax);
                }
            }
            a_.mov(x86::byte_ptr(reg::wave,
                                 in_wave(offsetof(Wave, exit) + offsetof(machine::ExitInfo, kind))),
                   static_cast<uint32_t>(t.exit));
            leave(static_cast<uint32_t>(t.exit));
            break;
        }
    }
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
        const Class cls = ir::op_info(inst(*v).op).cls;
        if (cls == Class::Call)
            uniform_call(*v);
        else if (cls == Class::Cross)
            cross_op(*v);
        else
            uniform_op(*v);
        gp_locked_ = gp_temps_ = 0;
    }
    if (position != schedule_.terminator_position()) ufree_all(true);
}

// At the first chunk; with `masks` at the first one's bits, too.
void BlockCompiler::begin_chunks(bool masks) {
    a_.mov(reg::chunk, -256);
    if (!masks) return;
    a_.push(-8);  // with pop four bytes instead of seven
    a_.pop(reg::bits);
}

void BlockCompiler::region(uint32_t position) {
    const Value* const begin = schedule_.begin(position);
    const auto count = static_cast<uint32_t>(schedule_.end(position) - begin);
    bool uses_arows = false;
    for (uint32_t i = 0; i < count; ++i) {
        const ir::Inst& x = inst(begin[i]);
        uses_arows |= (x.op == Op::SetV || x.op == Op::GetV) && x.imm >= 256;
        scratch_units_.clear();
        schedule_.units_read(begin[i], scratch_units_);
        for (Unit u : scratch_units_) {
            const ir::Inst& p = inst(schedule_.producer(u));
            uses_arows |= p.op == Op::GetV && p.imm >= 256;
            const Home& home = schedule_.unit_home(u);
            uses_arows |= home.kind == Home::Row && home.index >= 256;
        }
    }
    std::fill(std::begin(vec_owner_), std::end(vec_owner_), no_unit);
    std::fill(std::begin(k_owner_), std::end(k_owner_), no_unit);
    vec_locked_ = vec_temps_ = k_locked_ = k_temps_ = 0;
    spills_used_ = 0;

    mark(begin[0]);
    const Label loop = a_.newLabel(), next = a_.newLabel(), done = a_.newLabel();
    const bool masks = schedule_.uses_mask_slots(position);
    if (uses_arows) a_.mov(reg::arows, x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, agpr))));
    const uint32_t lanes = schedule_.lanes_of(position);
    const bool repeats = lanes < block_->lanes, across = schedule_.goes_across(begin[0]);
    const bool keeps = position == schedule_.kept_region();
    const Label kept = a_.newLabel();
    if (keeps) look_for_kept(kept);
    if (!repeats) find_tile_steps(begin, count);
    if (across && !go_across(begin, count, done)) return;
    if (count == 1 && store_row(begin[0])) return;
    choose_collectors(begin, count);
    choose_pointers(begin, count);
    if (!across && !repeats) place_lines(begin, count);
    place_scratch(begin, count);
    const Value empty = schedule_.empty_mask(position);
    // What is found out about addresses here is not about all chunks', or not known on the other
    // way around.
    const bool apart = repeats || across || empty != no_value;
    const bool facts_cross = std::exchange(facts_cross_regions_, facts_cross_regions_ && !apart);
    const size_t offsets = line_offsets_.size();
    if (gathered_ || block_->lanes < machine::lanes) clear_mask_slots(begin, count);
    begin_chunks(masks);
    if (count == 1 && !gathered_ && may_store_columns(begin[0])) column_store(begin[0], loop, done);
    a_.bind(loop);
    const bool alone =
        !apart && !masks && !keeps && collectors_.empty() && may_go_together(position);
    const size_t colds = colds_.size();
    streams_ = alone;
    if (alone) a_.look_for(reg::chunk);
    if (empty != no_value) leave_out_empty(empty, begin, count, next);
    region_body();
    streams_ = false;
    const bool together = alone && !a_.found();
    a_.bind(next);
    advance_pointers();
    if (masks) a_.add(reg::bits, avx512_ ? 2 : 1);
    if (lanes > chunk_lanes()) {
        a_.add(reg::chunk, width());
        if (lanes < machine::lanes) a_.cmp(reg::chunk, static_cast<int32_t>(4 * lanes) - 256);
        if (gathered_) a_.cmp(reg::chunk.r32(), gathered_field(offsetof(GatheredLanes, end), 4));
        a_.jnz(loop);
    }
    if (together) waves_together(loop, colds);
    a_.bind(done);
    store_collectors();
    if (keeps) note_kept();
    a_.bind(kept);
    pointers_.clear();
    if (apart) line_offsets_.resize(offsets);
    facts_cross_regions_ = facts_cross;
}

// Goes on with the next chunk if the mask is empty in this one.
void BlockCompiler::leave_out_empty(Value mask, const Value* begin, uint32_t count, Label next) {
    Mem bits = mask_mem(schedule_.uniform_home(inst(mask).args[0]));
    bits.setSize(chunk_lanes() / 8);
    a_.cmp(bits, 0);
    const std::vector<Unit> made = masks_at_home(begin, count);
    if (made.empty()) {
        a_.je(next);
        return;
    }
    const Label out = a_.newLabel();
    a_.je(out);
    cold(out, [=, this, collectors = collectors_] {
        auto of_chunk = [this](const Home& home) {
            Mem bits = mask_mem(home);
            bits.setSize(chunk_lanes() / 8);
            return bits;
        };
        for (Unit u : made) {
            // What is not known there only regions read that are left out as well.
            const Value same = schedule_.in_empty_chunks(schedule_.producer(u)).value_or(no_value);
            const auto c = std::ranges::find(collectors, u, &Collector::unit);
            const bool collected = c != collectors.end();
            const Gp whole = collected ? c->reg : x86::rax,
                     in = avx512_ ? Gp(whole.r16()) : Gp(whole.r8());  // its low bits only
            if (same == no_value)
                a_.xor_(in, in);
            else
                a_.mov(in, of_chunk(schedule_.uniform_home(inst(same).args[0])));
            if (collected)
                a_.ror(c->reg, chunk_lanes());
            else
                a_.mov(of_chunk(schedule_.unit_home(u)), in);
        }
        a_.jmp(next);
    });
}

// What an access reads of lanes when its walk is noted, or goes on.
void BlockCompiler::units_of_walk(Value v) {
    const ir::Inst& i = inst(v);
    if (walking_ == Walking::Noting) schedule_.units_of(ir::address_of(i), scratch_units_);
    if (const Value mask = ir::mask_of(i); !schedule_.is_full(mask))
        scratch_units_.push_back(schedule_.unit(mask));
    // Its address is not looked at.
    if (walking_ == Walking::Yes && ir::op_info(i.op).cls == Class::LaneStore)
        for (uint32_t d = 0; d < ir::aux_dwords(i.aux); ++d)
            scratch_units_.push_back(schedule_.unit(i.args[4 + d]));
}

void BlockCompiler::region_body() {
    const Value* const begin = schedule_.begin(position_);
    const auto count = static_cast<uint32_t>(schedule_.end(position_) - begin);
    use_records_.clear();
    use_start_.assign(count + 1, 0);
    skip_.assign(count, 0);
    done_.clear();
    for (uint32_t i = 0; i < count; ++i) {
        scratch_units_.clear();
        if ((walking_ == Walking::Noting || walking_ == Walking::Yes) && walks_.of(begin[i]))
            units_of_walk(begin[i]);
        else
            schedule_.units_read(begin[i], scratch_units_);
        for (Unit u : scratch_units_) use_records_.push_back({u, no_use});
        use_start_[i + 1] = static_cast<uint32_t>(use_records_.size());
    }
    // Next uses, by a walk backwards.
    for (uint32_t i = count; i-- > 0;) {
        if (loop_other_part(i) || (loop_lean_ && loop_leaves_out(begin[i]))) {
            skip_[i] = 1;
            continue;
        }
        for (uint32_t k = use_start_[i + 1]; k-- > use_start_[i];) {
            UseRecord& record = use_records_[k];
            record.next = state(record.unit).next;
            // The same unit twice in one instruction: both records name the use after it.
            if (record.next == i) {
                for (uint32_t j = k + 1; j < use_start_[i + 1]; ++j)
                    if (use_records_[j].unit == record.unit) record.next = use_records_[j].next;
            }
            state(record.unit).next = i;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (skip_[i]) continue;
        at_ = i;
        mark(begin[i]);
        for (uint32_t k = use_start_[i]; k < use_start_[i + 1]; ++k) {
            UnitState& s = state(use_records_[k].unit);
            s.next = use_records_[k].next;
            if (s.reg < 0) continue;
            if (avx512_ && is_mask_unit(use_records_[k].unit))
                k_locked_ |= 1u << s.reg;
            else
                vec_locked_ |= 1u << s.reg;
        }
        if (walking_ == Walking::Learning) walk_check_limits(i);
        if (!std::ranges::count(done_, begin[i])) lane_op(begin[i]);
        end_instruction();
    }
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
    loop_lean_ = false;
    loop_ = {};
    pinned_ = k_pinned_ = gp_reserved_ = 0;
    loop_prefer_.clear();
    loop_part_of_.clear();
    loop_parts_ = 1;
    walks_ = {};
    row_loop_.reset();
    find_lds_tables();
    counted_.reset();
    walking_ = Walking::No;
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
        row_loop();
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
                              .direct = !options.checked && !options.mask_addresses};
    if (!schedule_.build(block, options.avx512, memory)) return false;
    if (!begin(block, options, out)) return false;
    extra_slots_ = schedule_.slots_used();
    goes_on_ = false;
    apart_ = false;
    units_.assign(schedule_.unit_count(), {});
    uniforms_.assign(block.insts.size(), {});

    prologue();
    const bool by_chunks = loops_ != Loops::None && guards_stay();
    divergent_ = by_chunks ? find_divergent_loop(block) : std::nullopt;
    if (divergent_ && !divergent_suits()) divergent_.reset();
    const bool loop = divergent_ || (by_chunks && loop_suits(schedule_, false));
    facts_cross_regions_ = !loop;
    looping_ = loop;
    if (loop) schedule_.merge_early(1);
    if (divergent_) {
        divergent_block();
    } else if (loop) {
        loop_block();
    } else {
        const auto ordered = begin_gathered();
        begin_row_loop();
        for (uint32_t p = 0; p < schedule_.segments(); ++p) {
            if (p == 1 && goes_on_) a_.bind(go_on_label_);
            segment(p);
        }
        if (goes_on_ && schedule_.segments() == 1) a_.bind(go_on_label_);
        position_ = schedule_.terminator_position();
        terminator();
        if (ordered) cold(gathered_label_, [=, this] { gathered_loop(*ordered); });
    }
    const bool ok = end() && extra_slots_ <= slot_count;
    if (errors_.too_far && near_) {  // counters lie between a near jump and its target
        near_ = false;
        const bool far = compile(block, options, out);
        near_ = true;
        return far;
    }
    if (apart_ && waves_together_) {
        waves_together_ = false;
        const bool one_by_one = compile(block, options, out);
        waves_together_ = true;
        return one_by_one;
    }
    if (!ok && row_loop_ && with_row_loops_) {
        with_row_loops_ = false;
        const bool plainer = compile(block, options, out);
        with_row_loops_ = true;
        return plainer;
    }
    if (!ok && loop) {  // too many values for the registers that are left
        if (!walks_.walks.empty())
            with_walks_ = false;
        else
            loops_ = loop_.chunks > 1 ? Loops::OneChunk : Loops::None;
        const bool plainer = compile(block, options, out);
        with_walks_ = true;
        loops_ = Loops::Chunks;
        return plainer;
    }
    return ok;
}

}  // namespace wj::x64
