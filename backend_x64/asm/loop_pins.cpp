// Which values of a loop (loop.cpp, divergent.cpp) stay in registers from iteration to iteration,
// and for how many chunks at once.
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;

// Which registers stay in vector registers: first those that iterations hand on, then what they
// only read. Fewer chunks than would pay run together if what they hand on does not fit.
void BlockCompiler::loop_pin() {
    uint32_t chunks = 1;
    if (loop_parts_.count == 1 && loops_ == Loops::Chunks)
        chunks = options_.loop_chunks
                     ? options_.loop_chunks
                     : chunks_that_pay(*block_, schedule_, divergent_, walks_, avx512_);
    while (block_->lanes / chunk_lanes() % chunks) chunks /= 2;
    if (row_loop_ || only_reads_rows(context(), walks_, row_walks_)) chunks = 1;
    while (chunks * count_far_row_walks(context(), walks_, row_walks_) > sizeof(Frame::scattered))
        chunks /= 2;
    while (!loop_pin_chunks(chunks)) chunks /= 2;
}

bool BlockCompiler::loop_pin_chunks(uint32_t chunks) {
    loop_ = {};
    loop_.chunks = chunks;
    std::vector<bool> set_scalar(132);
    std::vector<uint8_t> sets(512);
    std::vector<Value> set_of(512, no_value), read_of(512, no_value);
    std::vector<uint8_t> reads(512);
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const ir::Inst& i = inst(v);
        if (ir::op_info(i.op).cls == Class::SetS)
            for (uint32_t n = 0; n < ir::scalar_registers(i.op); ++n) set_scalar[i.imm + n] = true;
        if (i.op == Op::SetV) ++sets[i.imm], set_of[i.imm] = v;
    }
    auto constant_uniform = [&](Value u) {
        const ir::Inst& i = inst(u);
        if (is_const(u)) return true;
        return (i.op == Op::GetS32 && !set_scalar[i.imm]) ||
               (i.op == Op::GetS64 && !set_scalar[i.imm] && !set_scalar[i.imm + 1]);
    };
    std::vector<uint32_t> uses(schedule_.unit_count());
    std::vector<Unit> order;
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    for (uint32_t i = 0; i < count; ++i) {
        if (loop_parts_.is_other(i, loop_part_)) continue;
        scratch_units_.clear();
        schedule_.units_read(schedule_.begin(1)[i], scratch_units_);
        for (Unit u : scratch_units_)
            if (!uses[u]++) order.push_back(u);
    }
    for (Unit u : order) {
        const ir::Inst& i = inst(schedule_.producer(u));
        if (i.op == Op::GetV) ++reads[i.imm], read_of[i.imm] = schedule_.producer(u);
    }
    // Registers that the body needs for its own.
    const bool simple = have_simple_lowerings(context(), schedule_.begin(1), count);
    const int most =
        alive_at_once(context(), {schedule_.begin(1), count}, reads, loop_parts_, loop_part_);
    const int registers = avx512_ ? 32 : 16;
    const int temporaries = simple ? 2 : avx512_ ? 3 : 5;
    const int lowest = std::min(most + temporaries, registers - 4);
    const int lowest_carried = std::min(lowest, chunks > 1 ? registers / 2 : registers * 2 / 3);
    int next = registers - 1;
    // Room for a pin of each chunk?
    auto room = [&](int bound) { return next - static_cast<int>(chunks) + 1 >= bound; };
    // Through memory they would cost a store, its forwarding and a load in every iteration.
    const size_t k_pins = chunks > 1 ? 4 : 3;
    auto pin_masks = [&] {
        for (Unit u : order) {
            const ir::Inst& i = inst(schedule_.producer(u));
            if (i.op != Op::MaskOf) continue;
            const auto alike = [&](Unit x) {
                const ir::Inst& other = inst(schedule_.producer(x));
                return other.op == Op::MaskOf && other.args[0] == i.args[0];
            };
            if (std::count_if(order.begin(), order.end(), alike) != 1) continue;
            const bool fits =
                avx512_ ? loop_.masks.size() + chunks <= k_pins : room(lowest_carried);
            for (const LoopMask& m : carried_masks_)
                for (uint32_t chunk = 0; m.get == i.args[0] && chunk < chunks; ++chunk) {
                    MaskPin p{u, schedule_.unit(m.mask), -1, -1, chunk};
                    if (!fits)
                        p.spill = loop_.spills++;
                    else
                        p.reg = avx512_ ? 7 - static_cast<int>(loop_.masks.size()) : next--;
                    loop_.masks.push_back(p);
                }
        }
    };
    if (chunks == 1) pin_masks();
    for (uint32_t r = 0; r < 512; ++r) {
        if (sets[r] != 1) continue;
        const Value set = set_of[r];
        const Value mask = inst(set).args[1];
        const bool steady = schedule_.is_full(mask) ||
                            (inst(mask).op == Op::MaskOf && constant_uniform(inst(mask).args[0]));
        if (!reads[r]) {
            if (steady && !divergent_) loop_.unread.push_back(set);
            continue;
        }
        if (reads[r] != 1 || read_of[r] > set) continue;
        const Unit u = schedule_.unit(read_of[r]);
        if (schedule_.unit_home(u).kind == Home::Temp) continue;
        if (!room(lowest_carried)) {
            if (chunks > 1) return false;
            continue;
        }
        for (uint32_t chunk = 0; chunk < chunks; ++chunk)
            loop_.carried.push_back(
                {u, set, next--, schedule_.is_full(mask), chunk, !steady && !divergent_});
    }
    if (chunks > 1) pin_masks();
    // A chunk's last iteration is not known beforehand when its lanes decide.
    for (uint32_t r = 0; divergent_ && r < 512; ++r) {
        if (sets[r] != 1 || reads[r] || !room(lowest)) continue;
        for (uint32_t chunk = 0; chunk < chunks; ++chunk)
            loop_.carried.push_back({no_unit, set_of[r], next--, false, chunk});
    }
    // Read-only values by number of uses.
    std::stable_sort(order.begin(), order.end(), [&](Unit a, Unit b) { return uses[a] > uses[b]; });
    for (Unit u : order) {
        if (next < lowest) break;
        const ir::Inst& i = inst(schedule_.producer(u));
        const bool row =
            i.op == Op::GetV && !sets[i.imm] && schedule_.unit_home(u).kind == Home::Row;
        const bool broadcast =
            (i.op == Op::Splat32 || i.op == Op::Splat64) && constant_uniform(i.args[0]);
        if (broadcast) loop_.steady.push_back({u, no_value, next--, true, every_chunk});
        for (uint32_t chunk = 0; row && room(lowest) && chunk < chunks; ++chunk)
            loop_.steady.push_back({u, no_value, next--, true, chunk});
    }
    return true;
}

// The scalar register whose next value depends on the last, best the one that the condition looks
// at: r14 holds it from iteration to iteration, so that its way does not lead through memory.
void BlockCompiler::loop_keep_scalar() {
    const ir::Inst& cond = inst(block_->term.cond);
    for (Value set = 0; set < block_->insts.size(); ++set) {
        const ir::Inst& i = inst(set);
        if (i.op != Op::SetS32 || schedule_.position(set) != 0 || is_const(i.args[0])) continue;
        Value get = no_value;
        bool good = true;
        for (Value v = 0; v < block_->insts.size(); ++v) {
            const ir::Inst& x = inst(v);
            const Class cls = ir::op_info(x.op).cls;
            if ((cls != Class::GetS && cls != Class::SetS) || x.op == Op::GetScc ||
                x.op == Op::SetScc || v == set)
                continue;
            const bool is_wide = x.op == Op::GetS64 || x.op == Op::SetS64;
            if (x.imm != i.imm && !(is_wide && x.imm + 1 == i.imm)) continue;
            good &= x.op == Op::GetS32 && get == no_value && v < set &&
                    schedule_.uniform_home(v).kind == Home::Wave;
            get = v;
        }
        if (!good || get == no_value) continue;
        const bool decides = i.args[0] == cond.args[0] || i.args[0] == cond.args[1] ||
                             get == cond.args[0] || get == cond.args[1];
        if (loop_.scalar_get == no_value || decides) {
            loop_.scalar_get = get;
            loop_.scalar_set = set;
        }
        if (decides) return;
    }
}

}  // namespace wj::x64
