// Which values of a loop (loop.cpp, divergent.cpp) stay in registers from iteration to iteration,
// and for how many chunks at once.
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/plan/loops.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;

// Parts of the body that share no value and no row may run one after the other, each with all its
// iterations: what one part hands on then fits the registers, where all of it would not (a row that
// goes through memory costs a store and a load in every iteration's critical path), and if possible
// what it only reads, too.
void BlockCompiler::loop_split() {
    loop_part_of_.clear();
    loop_parts_ = 1;
    if (!carried_masks_.empty()) return;
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    const Value* const body = schedule_.begin(1);
    constexpr uint32_t rows = 512;
    std::vector<uint32_t> parent(count + rows), node(block_->insts.size(), no_use);
    for (uint32_t i = 0; i < parent.size(); ++i) parent[i] = i;
    auto find = [&](uint32_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    std::vector<bool> set(rows), carried(rows), seen(schedule_.unit_count());
    uint32_t only_read = 0;
    for (uint32_t i = 0; i < count; ++i) {
        node[body[i]] = i;
        if (inst(body[i]).op == Op::SetV) set[inst(body[i]).imm] = true;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const ir::Inst& x = inst(body[i]);
        if (x.op == Op::SetV || (x.op == Op::GetV && set[x.imm]))
            parent[find(i)] = find(count + static_cast<uint32_t>(x.imm));
        scratch_units_.clear();
        schedule_.units_read(body[i], scratch_units_);
        for (Unit u : scratch_units_) {
            const Value p = schedule_.producer(u);
            if (node[p] != no_use) parent[find(i)] = find(node[p]);
            if (inst(p).op != Op::GetV || !set[inst(p).imm]) {
                only_read += node[p] == no_use && !seen[u];
                seen[u] = true;
                continue;
            }
            parent[find(i)] = find(count + static_cast<uint32_t>(inst(p).imm));
            carried[inst(p).imm] = true;
        }
    }
    std::vector<uint32_t> rows_of(parent.size());
    uint32_t total = 0, largest = 0;
    for (uint32_t r = 0; r < rows; ++r) {
        if (!carried[r]) continue;
        ++total;
        largest = std::max(largest, ++rows_of[find(count + r)]);
    }
    const uint32_t room = avx512_ ? 24 : 12;
    // Eight rows at a time still hide the latency of arithmetic.
    const uint32_t parts = std::max((total + room - 1) / room,
                                    std::min(total / 8, (total + only_read + room) / (room + 4)));
    if (parts <= 1 || largest > room / 2) return;
    const uint32_t share = (total + parts - 1) / parts;
    std::vector<uint32_t> part_of(parent.size(), no_use);
    loop_part_of_.resize(count);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t root = find(i);
        if (part_of[root] == no_use) {
            if (filled && filled + rows_of[root] > share) ++loop_parts_, filled = 0;
            part_of[root] = loop_parts_ - 1;
            filled += rows_of[root];
        }
        loop_part_of_[i] = static_cast<uint8_t>(part_of[root]);
    }
}

// Which registers stay in vector registers: first those that iterations hand on, then what they
// only read. Fewer chunks than would pay run together if what they hand on does not fit.
void BlockCompiler::loop_pin() {
    uint32_t chunks = 1;
    if (loop_parts_ == 1 && loops_ == Loops::Chunks)
        chunks = options_.loop_chunks
                     ? options_.loop_chunks
                     : chunks_that_pay(*block_, schedule_, divergent_, walks_, avx512_);
    while (block_->lanes / chunk_lanes() % chunks) chunks /= 2;
    if (row_loop_ || only_reads_rows(context(), walks_, row_walks_)) chunks = 1;
    while (chunks * count_far_row_walks(context(), walks_, row_walks_) > sizeof(Frame::scattered))
        chunks /= 2;
    while (!loop_pin_chunks(chunks)) chunks /= 2;
}

// How many vectors the region's values fill at once. Of a loop: `reads` tells the rows that it
// reads, a value that becomes such a row's next one is assumed to take the old one's place, and
// what others become is not wanted.
int BlockCompiler::alive_at_once(const Value* begin, uint32_t count,
                                 std::span<const uint8_t> reads) {
    std::vector<int> change(count + 1);
    std::vector<uint32_t> last(schedule_.unit_count());
    std::vector<bool> handed_on(schedule_.unit_count());
    for (uint32_t i = 0; i < count; ++i) {
        if (loop_other_part(i)) continue;
        const Value v = begin[i];
        const bool set = inst(v).op == Op::SetV && !reads.empty();
        if (set && reads[inst(v).imm]) handed_on[schedule_.unit(inst(v).args[0])] = true;
        scratch_units_.clear();
        schedule_.units_read(v, scratch_units_);
        if (set && !reads[inst(v).imm]) continue;  // not in the lean body
        for (Unit u : scratch_units_) last[u] = i;
    }
    int alive = 0, most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (loop_other_part(i)) continue;
        const Value v = begin[i];
        const ir::Type type = ir::op_info(inst(v).op).result;
        if (type == ir::Type::N || (type == ir::Type::M && avx512_)) continue;
        const uint32_t parts = type == ir::Type::V64 ? 2
                               : type == ir::Type::T ? ir::aux_dwords(inst(v).aux)
                                                     : 1;
        for (uint32_t part = 0; part < parts; ++part) {
            const Unit u = schedule_.unit(v, part);
            if (handed_on[u] || last[u] <= i) continue;
            ++change[i];
            --change[last[u]];
        }
    }
    for (int c : change) most = std::max(most, alive += c);
    return most;
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
        if (loop_other_part(i)) continue;
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
    const int most = alive_at_once(schedule_.begin(1), count, reads);
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
