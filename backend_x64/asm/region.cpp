// Lane regions: a loop over the chunks of a wave.
#include <algorithm>
#include <iterator>
#include <utility>

#include "backend_x64/asm/loop_code.h"
#include "backend_x64/plan/access_forms.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

// At the first chunk of so many lanes at the end of a row; with `masks` at a row's first bits, too.
void BlockCompiler::begin_chunks(bool masks, uint32_t lanes) {
    a_.mov(reg::chunk, -4 * static_cast<int32_t>(lanes));
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
    empty_registers();

    mark(begin[0]);
    const Label loop = a_.newLabel(), next = a_.newLabel(), done = a_.newLabel(),
                first = a_.newLabel();
    const bool masks = schedule_.uses_mask_slots(position);
    if (uses_arows) a_.mov(reg::arows, x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, agpr))));
    const uint32_t lanes = schedule_.lanes_of(position);
    const bool repeats = lanes < block_->lanes, across = schedule_.goes_across(begin[0]);
    const bool keeps = position == schedule_.kept_region();
    const Label kept = a_.newLabel();
    if (keeps) take(options_.decisions, Mechanism::RetainedTile);
    if (keeps) AcrossCode(*this).look_for_kept(kept);
    if (!repeats) {
        PrefetchCode(*this).find_tile_steps(begin, count);
        PrefetchCode(*this).find_rows_ahead(begin, count);
    }
    if (across && !AcrossCode(*this).go_across(begin, count, done)) return;
    if (count == 1 && RowCode(*this).store_row(begin[0])) return;
    choose_collectors(begin, count);
    LineCode(*this).choose_pointers(begin, count);
    chunk_offset_.reset();
    if (!across && !repeats) {
        LineCode(*this).place_lines(begin, count);
        LineCode(*this).choose_chunk_offset(begin, count);
    }
    ScratchCode(*this).place_scratch(begin, count);
    const Value empty = schedule_.empty_mask(position);
    // What is found out about addresses here is not about all chunks', or not known on the other
    // way around.
    const bool apart = repeats || across || empty != no_value;
    const bool alone = !apart && !masks && !keeps && collectors_.empty() && goes_on_ &&
                       attempt_.waves_together &&
                       may_fuse_waves(context(), position, moving_bases_);
    if (!across && !repeats && count > 1) choose_constants(begin, count, alone);
    const bool facts_cross = std::exchange(facts_cross_regions_, facts_cross_regions_ && !apart);
    const size_t offsets = line_offsets_.size();
    if (gathered_ || block_->lanes < machine::lanes) clear_mask_slots(begin, count);
    begin_chunks(masks, alone ? lanes : machine::lanes);
    if (count == 1 && !gathered_ && AccessCode(*this).may_store_column(begin[0]))
        AccessCode(*this).column_store(begin[0], loop, done);
    a_.bind(first);
    load_constants();
    a_.bind(loop);
    const size_t colds = colds_.size();
    streams_ = alone;
    if (alone) a_.look_for(reg::chunk);
    if (empty != no_value) leave_out_empty(empty, begin, count, next);
    LineCode(*this).load_chunk_offset();
    if (!gathered_ && gains_by_whole_chunks(*block_, empty, {begin, count}))
        whole_and_other_chunks(empty, next);
    else
        region_body();
    streams_ = false;
    load_more_constants(loop);
    const bool together = alone && !a_.found();
    apart_ |= alone && !together && lanes < machine::lanes;  // it has begun in the midst of rows
    a_.bind(next);
    LineCode(*this).advance_pointers();
    if (masks) a_.add(reg::bits, avx512_ ? 2 : 1);
    if (lanes > chunk_lanes()) {
        a_.add(reg::chunk, width());
        if (lanes < machine::lanes && !alone)
            a_.cmp(reg::chunk, static_cast<int32_t>(4 * lanes) - 256);
        if (gathered_) a_.cmp(reg::chunk.r32(), gathered_field(offsetof(GatheredLanes, end), 4));
        a_.jnz(loop);
    }
    if (together) waves_together(first, colds);
    a_.bind(done);
    store_collectors();
    if (keeps) AcrossCode(*this).note_kept();
    a_.bind(kept);
    pointers_.clear();
    chunk_offset_.reset();
    forget_constants();
    if (apart) line_offsets_.resize(offsets);
    facts_cross_regions_ = facts_cross;
}

// Goes on with the next chunk if the mask is empty in this one.
void BlockCompiler::leave_out_empty(Value mask, const Value* begin, uint32_t count, Label next) {
    a_.cmp(chunk_bits(schedule_.uniform_home(inst(mask).args[0])), 0);
    const std::vector<Unit> made = masks_at_home(begin, count);
    if (made.empty()) {
        a_.je(next);
        return;
    }
    const Label out = a_.newLabel();
    a_.je(out);
    cold(out, [=, this, collectors = collectors_] {
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
                a_.mov(in, chunk_bits(schedule_.uniform_home(inst(same).args[0])));
            if (collected)
                a_.ror(c->reg, chunk_lanes());
            else
                a_.mov(chunk_bits(schedule_.unit_home(u)), in);
        }
        a_.jmp(next);
    });
}

// What an access reads of lanes when its walk is noted, or goes on.
void BlockCompiler::units_of_walk(Value v) {
    const ir::Inst& i = inst(v);
    if (loop_.walking == Walking::Noting) schedule_.units_of(ir::address_of(i), scratch_units_);
    if (const Value mask = ir::mask_of(i); !schedule_.is_full(mask))
        scratch_units_.push_back(schedule_.unit(mask));
    // Its address is not looked at.
    if (loop_.walking == Walking::Yes && ir::op_info(i.op).cls == Class::LaneStore)
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
        if ((loop_.walking == Walking::Noting || loop_.walking == Walking::Yes) &&
            loop_plan_.walks.of(begin[i]))
            units_of_walk(begin[i]);
        else
            schedule_.units_read(begin[i], scratch_units_);
        for (Unit u : scratch_units_) use_records_.push_back({u, no_use});
        use_start_[i + 1] = static_cast<uint32_t>(use_records_.size());
    }
    enter_constants(count);
    // Next uses, by a walk backwards.
    for (uint32_t i = count; i-- > 0;) {
        if (loop_plan_.parts.is_other(i, loop_.part) ||
            (loop_.lean && LoopCode(*this).leaves_out(begin[i]))) {
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
        if (loop_.walking == Walking::Learning) WalkCode(*this).check_limits(i);
        if (!std::ranges::count(done_, begin[i])) lane_op(begin[i]);
        end_instruction();
    }
}

}  // namespace wj::x64
