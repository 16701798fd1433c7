#include "backend_x64/schedule.h"

#include <algorithm>
#include <numeric>

#include "backend_x64/frame.h"
#include "backend_x64/memory_order.h"
#include "ir/known.h"

namespace wj::x64 {
namespace {

using ir::Class;
using ir::Inst;
using ir::Op;
using ir::Type;

uint32_t to_uniform(uint32_t p) {
    return (p + 1) & ~1u;
}

// Is argument `a` of the operation an address of two dwords in registers of their own?
bool takes_split_address(Op op, size_t a) {
    if (op == Op::LoadGlobalS64 || op == Op::StoreGlobalS64 || op == Op::AtomicGlobalS64)
        return a == 1;
    return a == 0 && (op == Op::LoadGlobal || op == Op::StoreGlobal || op == Op::LoadFlat ||
                      op == Op::StoreFlat || op == Op::AtomicGlobal || op == Op::AtomicFlat);
}

bool is_compare(Op op) {
    switch (op) {
        case Op::CmpEq32:
        case Op::CmpNe32:
        case Op::CmpLtU32:
        case Op::CmpLeU32:
        case Op::CmpLtS32:
        case Op::CmpLeS32:
        case Op::FCmp32:
            return true;
        default:
            return false;
    }
}

}  // namespace

bool Schedule::is_full(Value mask) const {
    return ir::is_full(*block_, mask);
}

bool Schedule::split(Value v) const {
    return inst(v).op == Op::Pack64 && !interleaved_[v];
}

Unit Schedule::unit(Value v, uint32_t part) const {
    if (alias_[v] != no_unit) return alias_[v];
    return Unit(unit_base_[v] + (inst(v).op == Op::Splat64 ? 0 : part));
}

void Schedule::count_uses() {
    const size_t n = block_->insts.size();
    interleaved_.assign(n, 0);
    use_count_.assign(n, 0);
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        for (size_t a = 0; a < ir::used_args(i).size(); ++a) {
            if (i.args[a] == no_value) continue;
            uint8_t& uses = use_count_[i.args[a]];
            if (uses < 255) ++uses;
            if (block_->type(i.args[a]) != Type::V64) continue;
            const bool by_halves = takes_split_address(i.op, a) || i.op == Op::Lo || i.op == Op::Hi;
            if (!by_halves) interleaved_[i.args[a]] = 1;
        }
    }
}

// Also finds out what nothing else is made of.
void Schedule::find_lane_fields(const MemoryTraits& memory) {
    fields_.clear();
    std::vector<Value> unused;
    auto drop = [&](Value v) {
        if (use_count_[v] < 255 && --use_count_[v] == 0) unused.push_back(v);
    };
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const Inst& i = inst(v);
        if (ir::op_info(i.op).cls != Class::LaneAtomic) continue;
        const auto field =
            find_lane_field(*block_, i, is_full(ir::mask_of(i)), use_count_[v] != 0, memory);
        if (!field) continue;
        fields_.emplace(v, *field);
        if (use_count_[field->source] < 255) ++use_count_[field->source];
        drop(ir::address_of(i));
    }
    while (!unused.empty()) {
        const Value v = unused.back();
        unused.pop_back();
        if (ir::op_info(inst(v).op).cls != Class::Lane) continue;
        fused_[v] = 1;
        for (Value a : inst(v).args)
            if (a != no_value) drop(a);
    }
}

void Schedule::find_sum_rows() {
    sum_rows_.clear();
    std::array<uint8_t, 512> sets{};
    for (const Inst& i : block_->insts)
        if (i.op == Op::SetV && sets[i.imm] < 2) ++sets[i.imm];
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const Inst& set = inst(v);
        if (set.op != Op::SetV || !set.aux || set.imm >= machine::Wave::shaped_rows ||
            sets[set.imm] > 1 || !is_full(set.args[1]))
            continue;
        const auto shape = static_cast<uint8_t>(set.aux);
        const Inst& sum = inst(set.args[0]);
        if (sum.op != Op::Add32 || use_count_[set.args[0]] > 1 ||
            ir::RowLine::of_shape(0, shape).any_step)
            continue;
        const bool second = inst(sum.args[1]).op == Op::GetV;
        const Inst &from = inst(sum.args[second]), &splat = inst(sum.args[!second]);
        if (from.op != Op::GetV || splat.op != Op::Splat32 || sets[from.imm] ||
            inst(splat.args[0]).op != Op::Const32)
            continue;
        fused_[v] = fused_[set.args[0]] = 1;
        sum_rows_.push_back({static_cast<uint32_t>(set.imm), static_cast<uint32_t>(from.imm),
                             static_cast<uint32_t>(inst(splat.args[0]).imm), shape});
    }
}

void Schedule::assign_units() {
    const size_t n = block_->insts.size();
    unit_base_.resize(n);
    alias_.assign(n, no_unit);
    producer_.clear();
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        unit_base_[v] = static_cast<uint32_t>(producer_.size());
        uint32_t count = 0;
        switch (ir::op_info(i.op).result) {
            case Type::V32:
            case Type::M:
                count = 1;
                break;
            case Type::V64:
                count = i.op == Op::Splat64 ? 1 : 2;
                break;
            case Type::T:
                count = std::max(1u, ir::aux_dwords(i.aux));
                break;
            default:
                break;
        }
        if (i.op == Op::Elem) alias_[v] = unit(i.args[0], static_cast<uint32_t>(i.imm));
        if ((i.op == Op::Lo || i.op == Op::Hi) && inst(i.args[0]).op == Op::Pack64)
            alias_[v] = unit(inst(i.args[0]).args[i.op == Op::Hi], 0);
        if (alias_[v] != no_unit) count = 0;
        producer_.insert(producer_.end(), count, v);
        if (fuse_compares_ && (i.op == Op::MaskAnd || i.op == Op::MaskAndNot))
            for (int a = i.op == Op::MaskAndNot; a < 2; ++a)
                if (is_compare(inst(i.args[a]).op) && use_count_[i.args[a]] == 1) {
                    fused_[i.args[a]] = 1;
                    break;
                }
    }
    unit_count_ = static_cast<uint32_t>(producer_.size());
}

uint32_t Schedule::region_of(const Inst& i) const {
    uint32_t p = 1;
    for (Value a : ir::used_args(i))
        if (a != no_value) p = std::max(p, to_region(position_[a]));
    return p;
}

uint32_t Schedule::uniform_of(const Inst& i) const {
    uint32_t p = 0;
    for (Value a : ir::used_args(i)) {
        if (a == no_value) continue;
        uint32_t at = position_[a];
        // A constant or broadcast has to be written to a row before a cross-lane operation reads
        // it.
        const Op op = inst(a).op;
        if (op == Op::Splat32 || op == Op::LaneId) at = to_region(at);
        p = std::max(p, to_uniform(at));
    }
    return p;
}

bool Schedule::branches_to_itself() const {
    return block_->term.target == block_->pc || block_->term.next == block_->pc;
}

// Loads whose lanes may be anywhere in memory.
bool Schedule::may_gather(const Inst& i) const {
    return ir::op_info(i.op).cls == Class::LaneLoad && (spaces(i.op) & in_global) &&
           inst(ir::address_of(i)).op != Op::Line32;
}

// In loops that run all chunks in each iteration a gather that waits for another one is in a region
// of its own: the host begins those of all chunks before it needs the first one's elements.
bool Schedule::gathers_apart() const {
    if (block_->term.kind != ir::Terminator::Kind::Branch || !branches_to_itself()) return false;
    return std::ranges::any_of(block_->insts, [](const Inst& i) {
        const Class cls = ir::op_info(i.op).cls;
        return (cls == Class::LaneStore || cls == Class::LaneAtomic) && !ir::has_own_space(i.op);
    });
}

void Schedule::assign_positions() {
    const size_t n = block_->insts.size();
    position_.assign(n, 0);
    uint32_t barrier = 0;  // even; everything later stays at or behind it
    uint32_t highest = 0;
    uint32_t last_load[3] = {}, last_store[3] = {}, last_uload = 0;
    uint32_t fence = 0;  // even; accesses to global memory from there on come behind it
    const bool own_lds = own_elements_in_lds(*block_);
    uint32_t last_merging[3] = {};     // merging_atomic() of the last store or atomic
    std::vector<Value> last_apart[3];  // the last stores, when no two of them overlap
    std::vector<uint32_t> row_set(512, 0), sgpr_set(132, 0), sgpr_get(132, 0);
    // By value: the last region with a gather that it is made from.
    std::vector<uint32_t> gathered(gathers_apart() ? n : 0, 0);
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        uint32_t p = 0;
        switch (ir::op_info(i.op).cls) {
            case Class::Uniform:
                p = i.op == Op::Const32 || i.op == Op::Const64 ? 0
                                                               : std::max(uniform_of(i), barrier);
                break;
            case Class::GetS:
                p = std::max(barrier, sgpr_set[i.op == Op::GetScc ? 130 : i.imm]);
                if (i.op == Op::GetS64) {
                    p = std::max(p, sgpr_set[i.imm + 1]);
                    // Either half may have to wait: writes of the other come behind this read.
                    for (uint64_t r : {i.imm, i.imm + 1}) sgpr_get[r] = std::max(sgpr_get[r], p);
                }
                break;
            case Class::SetS: {
                const uint32_t reg = i.op == Op::SetScc ? 130 : static_cast<uint32_t>(i.imm);
                p = std::max({uniform_of(i), barrier, sgpr_set[reg], sgpr_get[reg]});
                if (i.op == Op::SetS64)
                    p = std::max({p, sgpr_set[reg + 1], sgpr_get[reg + 1]}), sgpr_set[reg + 1] = p;
                sgpr_set[reg] = p;
                break;
            }
            case Class::GetV:
                p = std::max(barrier, row_set[i.imm]);
                break;
            case Class::SetV:
                p = row_set[i.imm] = std::max({region_of(i), barrier | 1, row_set[i.imm]});
                break;
            case Class::Lane:
                switch (i.op) {
                    case Op::Splat32:
                    case Op::Splat64:
                    case Op::MaskOf:
                        p = std::max(position_[i.args[0]], barrier);
                        break;
                    case Op::Line32:
                        p = std::max({position_[i.args[0]], position_[i.args[1]], barrier});
                        break;
                    case Op::LaneId:
                        p = barrier;
                        break;
                    case Op::Elem:
                        p = position_[i.args[0]];
                        break;
                    default:
                        p = std::max(region_of(i), barrier | 1);
                        break;
                }
                break;
            case Class::ULoad:
                p = std::max({uniform_of(i), barrier, fence, to_uniform(last_store[0])});
                last_uload = std::max(last_uload, p);
                break;
            case Class::LaneLoad:
            case Class::LaneStore:
            case Class::LaneAtomic: {
                const bool store = ir::op_info(i.op).cls != Class::LaneLoad;
                const uint32_t merges = merging_atomic(i, use_count_[v]);
                const uint32_t in = spaces(i.op);
                p = std::max(region_of(i), barrier | 1);
                // Scalar code reads the elements from memory, where they have been for a while.
                if (const LaneField* const field = lane_field(v))
                    if (const uint32_t made = position_[field->source]; made & 1)
                        p = std::max(p, made + 2);
                if (!gathered.empty() && may_gather(i))
                    for (Value a : ir::used_args(i))
                        if (a != no_value && gathered[a]) p = std::max(p, gathered[a] + 2);
                for (int s = 0; s < 3; ++s) {
                    if (!(in >> s & 1)) continue;
                    // Scratch belongs to the lane: program order inside the chunk is enough.
                    const bool in_order =
                        (s == 2 && in == in_scratch) ||
                        (in == in_global && (block_->lanes_apart || any_order_)) ||
                        (in == in_lds && own_lds);
                    const uint32_t apart = in_order ? 0 : 2;
                    const bool shares =
                        (merges && merges == last_merging[s]) ||
                        (!last_apart[s].empty() &&
                         std::all_of(last_apart[s].begin(), last_apart[s].end(), [&](Value other) {
                             return never_overlap(*block_, inst(other), i);
                         }));
                    if (last_store[s]) p = std::max(p, last_store[s] + (shares ? 0 : apart));
                    if (store && last_load[s]) p = std::max(p, last_load[s] + apart);
                }
                if (in & in_global) {
                    if (fence) p = std::max(p, fence | 1);
                    if (store)
                        p = std::max(p, last_uload | 1);
                    else if (block_->loads_in_order)
                        p = std::max(p, last_load[0]);
                }
                for (int s = 0; s < 3; ++s) {
                    if (!(in >> s & 1)) continue;
                    if (store) {
                        if (p > last_store[s]) last_apart[s].clear();
                        if (p > last_store[s] || !last_apart[s].empty()) last_apart[s].push_back(v);
                        last_merging[s] = merges;
                    }
                    (store ? last_store : last_load)[s] =
                        std::max((store ? last_store : last_load)[s], p);
                }
                break;
            }
            case Class::Cross:
                p = std::max(uniform_of(i), barrier);
                break;
            case Class::Fence:
                p = fence = to_uniform(std::max(
                    {uniform_of(i), barrier, fence, last_load[0], last_store[0], last_uload}));
                break;
            case Class::Call:
                // A segment of its own: no register survives it.
                p = to_uniform(highest + 1);
                barrier = p + 2;
                break;
        }
        position_[v] = p;
        if (!gathered.empty()) {
            for (Value a : ir::used_args(i))
                if (a != no_value) gathered[v] = std::max(gathered[v], gathered[a]);
            if (may_gather(i)) gathered[v] = p;
        }
        // Virtual values do not occupy a segment by themselves.
        highest = std::max(highest, p);
    }
    set_apart(highest);
    sink_uniforms();
    sink_loads();
    find_kept_region();
    uint32_t last = to_uniform(highest);
    if (block_->term.cond != no_value)
        last = std::max(last, to_uniform(position_[block_->term.cond]));
    for (Value v = 0; v < n; ++v)
        if (inst(v).op == Op::SetV && fused_[v]) position_[v] = last;
    start_.assign(last + 2, 0);
    mask_positions_.assign(last + 2, false);
    sink_pairs();
}

// A uniform value that is made of its operands alone, whenever that is.
bool Schedule::may_be_late(Value v) const {
    const Op op = inst(v).op;
    return ir::op_info(op).cls == Class::Uniform && op != Op::Guard && op != Op::RowLane &&
           op != Op::WavesAhead && op != Op::GoesOn && op != Op::BitsOf;
}

// Uniform values that keep nothing else alive are made where they are needed, not where they could
// be: else all addresses of later scalar loads wait in the frame. Not in loops, where what is made
// early may be the same in each iteration.
void Schedule::sink_uniforms() {
    if (branches_to_itself()) return;
    const ir::Terminator& t = block_->term;
    constexpr uint32_t nowhere = ~0u;
    std::vector<uint32_t> needed(block_->insts.size(), nowhere), last_use(block_->insts.size(), 0);
    auto use = [&](Value a, uint32_t p) {
        needed[a] = std::min(needed[a], p & ~1u);
        last_use[a] = std::max(last_use[a], p);
    };
    if (t.cond != no_value) needed[t.cond] = 0;
    for (auto v = static_cast<Value>(block_->insts.size()); v-- > 0;) {
        const Inst& i = inst(v);
        const bool sinks = may_be_late(v) && needed[v] != nowhere && needed[v] > position_[v] &&
                           std::ranges::all_of(i.args, [&](Value a) {
                               return a == no_value || is_const(a) || last_use[a] >= needed[v];
                           });
        if (sinks) position_[v] = needed[v];
        for (Value a : ir::used_args(i))
            if (a != no_value) use(a, position_[v]);
    }
}

// Two rows are put together where that is first wanted: they are in memory until then, and put
// together they would have to be there once more.
void Schedule::sink_pairs() {
    if (branches_to_itself()) return;
    const auto n = static_cast<Value>(block_->insts.size());
    constexpr uint32_t never = ~0u;
    std::vector<uint32_t> first_use(n, never), overwritten(n, never), next_set(512, never);
    std::vector<bool> apart(start_.size());
    for (Value v = n; v-- > 0;) {
        const Inst& i = inst(v);
        if (i.op == Op::SetV) next_set[i.imm] = position_[v];
        if (i.op == Op::GetV) overwritten[v] = next_set[i.imm];
        for (Value a : ir::used_args(i))
            if (a != no_value) first_use[a] = std::min(first_use[a], position_[v]);
        if (apart_[v] != Apart::No) apart[position_[v]] = true;
    }
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        const uint32_t at = first_use[v];
        if (i.op != Op::Pack64 || at == never || at <= position_[v] || !(at & 1) || apart[at])
            continue;
        const auto is_there = [&](Value a) {
            return inst(a).op == Op::GetV && overwritten[a] > at;
        };
        if (is_there(i.args[0]) && is_there(i.args[1])) position_[v] = at;
    }
}

void Schedule::find_clobbers() {
    const size_t n = block_->insts.size();
    clobber_.assign(n, no_value);
    next_read_.assign(n, no_value);
    std::fill(row_reads_.begin(), row_reads_.end(), no_value);
    std::vector<Value> next_row(512, no_value), next_sgpr(132, no_value);
    Value next_call = no_value;
    // The halves of a pair may be written in another order than the program's.
    auto first = [&](Value x, Value y) {
        if (x == no_value || y == no_value) return std::min(x, y);
        return Use{position_[x], x} < Use{position_[y], y} ? x : y;
    };
    for (Value v = static_cast<Value>(n); v-- > 0;) {
        const Inst& i = inst(v);
        const auto reg = static_cast<uint32_t>(i.imm);
        switch (i.op) {
            case Op::GetV:
            case Op::SetV:
                clobber_[v] = std::min(next_row[reg], next_call);
                if (i.op == Op::SetV) {
                    next_row[reg] = v;
                } else {
                    next_read_[v] = row_reads_[reg];
                    row_reads_[reg] = v;
                }
                break;
            case Op::GetS32:
            case Op::GetMask32:
                clobber_[v] = std::min(next_sgpr[reg], next_call);
                break;
            case Op::GetS64:
                clobber_[v] = first(first(next_sgpr[reg], next_sgpr[reg + 1]), next_call);
                break;
            case Op::GetScc:
                clobber_[v] = std::min(next_sgpr[130], next_call);
                break;
            case Op::SetS32:
            case Op::SetMask32:
                clobber_[v] = std::min(next_sgpr[reg], next_call);
                next_sgpr[reg] = v;
                break;
            case Op::SetS64:
                clobber_[v] = first(first(next_sgpr[reg], next_sgpr[reg + 1]), next_call);
                next_sgpr[reg] = next_sgpr[reg + 1] = v;
                break;
            case Op::SetScc:
                next_sgpr[130] = v;
                break;
            case Op::Call:
                next_call = v;
                break;
            default:
                break;
        }
    }
}

bool Schedule::emitted(Value v) const {
    if (fused_[v]) return false;
    const Inst& i = inst(v);
    switch (i.op) {
        case Op::Const32:
        case Op::Const64:
            return uniform_home_[v].kind == Home::Slot;
        case Op::GetS32:
        case Op::GetS64:
        case Op::GetMask32:
        case Op::GetScc:
            return uniform_home_[v].kind == Home::Slot;
        case Op::GetV:
        case Op::Splat32:
        case Op::LaneId:
            return copy_[v];
        case Op::Splat64:
        case Op::Line32:
        case Op::MaskOf:
        case Op::Elem:
            return false;
        case Op::Pack64:
            return interleaved_[v];
        case Op::Lo:
        case Op::Hi:
            return alias_[v] == no_unit;
        default:
            return true;
    }
}

void Schedule::units_read(Value v, std::vector<Unit>& out) const {
    const Inst& i = inst(v);
    const LaneField* const field = lane_field(v);
    const Value stored = ir::op_info(i.op).cls == Class::LaneStore ? pairs_[v][0] : no_value;
    for (size_t a = 0; a < ir::used_args(i).size(); ++a) {
        Value arg = i.args[a];
        if (arg == no_value) continue;
        if (stored != no_value && a >= 4) {
            out.push_back(unit(stored, static_cast<uint32_t>(a - 4)));
            continue;
        }
        if (field && arg == ir::address_of(i) && a < 4) arg = field->source;
        if (block_->type(arg) != Type::M)
            units_of(arg, out);
        else if (fused_[arg])
            units_read(arg, out);
        else if (!is_full(arg))
            out.push_back(unit(arg));
    }
}

void Schedule::units_of(Value v, std::vector<Unit>& out) const {
    const Type type = block_->type(v);
    if (type != Type::V32 && type != Type::V64) return;
    if (split(v)) return units_read(v, out);
    out.push_back(unit(v));
    if (type == Type::V64 && inst(v).op != Op::Splat64) out.push_back(unit(v, 1));
}

void Schedule::sort() {
    const size_t n = block_->insts.size();
    std::fill(start_.begin(), start_.end(), 0);
    for (Value v = 0; v < n; ++v)
        if (emitted(v)) ++start_[position_[v] + 1];
    for (size_t p = 1; p < start_.size(); ++p) start_[p] += start_[p - 1];
    order_.resize(start_.back());
    std::vector<uint32_t> at(start_.begin(), start_.end());
    for (Value v = 0; v < n; ++v)
        if (emitted(v)) order_[at[position_[v]]++] = v;
}

void Schedule::merge_early(uint32_t position) {
    const auto begin = order_.begin() + start_[position],
               end = order_.begin() + start_[position + 1];
    auto moves = [&](Value v) { return inst(v).op == Op::SetV && !is_full(inst(v).args[1]); };
    std::vector<uint32_t> place(block_->insts.size());  // in the region; 0: in front of it
    std::vector<uint32_t> touched(512);                 // rows: place of the last access
    std::vector<Unit> units;
    for (auto at = begin; at != end; ++at) {
        const Inst& i = inst(*at);
        units.clear();
        units_read(*at, units);
        place[*at] = static_cast<uint32_t>(at - begin) + 1;
        if (moves(*at)) {  // right behind the last of these
            place[*at] = touched[i.imm];
            for (Unit u : units) place[*at] = std::max(place[*at], place[producer_[u]]);
        }
        for (Unit u : units)
            if (inst(producer_[u]).op == Op::GetV) touched[inst(producer_[u]).imm] = place[*at];
        if (i.op == Op::GetV || i.op == Op::SetV) touched[i.imm] = place[*at];
    }
    std::stable_sort(begin, end, [&](Value a, Value b) {
        return place[a] != place[b] ? place[a] < place[b] : moves(a) < moves(b);
    });
}

bool Schedule::build(const ir::Block& block, bool avx512, const MemoryTraits& memory) {
    block_ = &block;
    fuse_compares_ = avx512;
    direct_ = memory.direct;
    any_order_ = memory.any_order;
    chunk_lanes_ = avx512 ? 16 : 8;
    fused_.assign(block.insts.size(), 0);
    count_uses();
    find_lane_fields(memory);
    find_sum_rows();
    pairs_.assign(block.insts.size(), {no_value, no_value});
    loaded_by_.resize(block.insts.size());
    std::iota(loaded_by_.begin(), loaded_by_.end(), 0);
    in_memory_order_.assign(block.insts.size(), false);
    if (direct_) find_pairs();
    assign_units();
    assign_positions();
    // Guards are tested before anything has happened.
    for (Value v = 0; v < block.insts.size(); ++v)
        if ((inst(v).op == Op::Guard || inst(v).op == Op::RowLane ||
             inst(v).op == Op::WavesAhead) &&
            position_[v])
            return false;
    find_clobbers();
    record_uses();
    if (!assign_homes()) return false;
    sort();
    if (!branches_to_itself()) {
        delay_uniforms();
        order_for_registers();
    }
    find_empty_chunks();
    return true;
}

}  // namespace wj::x64
