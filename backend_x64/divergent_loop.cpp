#include "backend_x64/divergent_loop.h"

#include <algorithm>

#include "ir/known.h"

namespace wj::x64 {
namespace {

using ir::Class;
using ir::Inst;
using ir::no_value;
using ir::Op;
using ir::Terminator;
using ir::Type;
using ir::Value;

constexpr size_t scc_index = 130;

// Whether it reads or writes a scalar register of the mask in register `mask`.
bool overlaps_mask(const ir::Block& block, uint64_t mask, const Inst& i) {
    return i.imm < mask + block.wave_size / 32 && i.imm + ir::scalar_registers(i.op) > mask;
}

// A mask in an iteration without lanes.
struct Dead {
    enum Kind : uint8_t { Unknown, Zero, Same } kind = Unknown;
    Value get = no_value;  // Same: the value of this register
    bool operator==(const Dead&) const = default;
};

class Finder {
public:
    explicit Finder(const ir::Block& block) : block_(block) {}

    std::optional<DivergentLoop> find() {
        if (!shape()) return {};
        dead_.resize(block_.insts.size());
        for (Value v = 0; v < block_.insts.size(); ++v) dead_[v] = dead(v);
        if (!effects() || !masks() || !scalars()) return {};
        return loop_;
    }

    std::optional<OrderedLoop> find_ordered() {
        ordered_ = true;
        if (!find() || !same_of_any_lanes()) return {};
        OrderedLoop loop;
        loop.exit = loop_.exit;
        if (!find_masks(loop.masks) || !only_masks(loop.masks)) return {};
        find_rows(loop);
        return loop;
    }

private:
    const Inst& inst(Value v) const { return block_.insts[v]; }

    bool shape() {
        const Terminator& t = block_.term;
        if (t.kind != Terminator::Kind::Branch || block_.exec_full || block_.mode_changed)
            return false;
        const Inst& cond = inst(t.cond);
        const bool on_lanes = cond.op == Op::UCmpNe64 && t.target == block_.pc;
        const bool on_none = cond.op == Op::UCmpEq64 && t.next == block_.pc;
        if (!on_lanes && !on_none) return false;
        loop_.exit = on_lanes ? t.next : t.target;
        if (loop_.exit == block_.pc) return false;
        const Inst &left = inst(cond.args[0]), &right = inst(cond.args[1]);
        if (left.op != Op::BitsOf || right.op != Op::Const64 || right.imm) return false;
        loop_.live = left.args[0];
        return std::any_of(block_.insts.begin(), block_.insts.end(), [&](const Inst& i) {
            return ir::sets_mask(i.op) && i.imm == machine::exec_lo && i.args[0] == cond.args[0];
        });
    }

    Dead dead(Value v) const {
        const Inst& i = inst(v);
        auto arg = [&](int k) -> const Dead& { return dead_[i.args[static_cast<size_t>(k)]]; };
        const Dead zero{Dead::Zero, no_value};
        switch (i.op) {
            case Op::MaskOf:
                if (!ir::gets_mask(inst(i.args[0]).op)) return {};
                if (inst(i.args[0]).imm == machine::exec_lo) return zero;
                return {Dead::Same, i.args[0]};
            case Op::MaskAnd:
                if (arg(0) == zero || arg(1) == zero) return zero;
                return arg(0) == arg(1) ? arg(0) : Dead{};
            case Op::MaskOr:
            case Op::MaskXor:
                if (arg(0) == zero) return arg(1);
                if (arg(1) == zero) return arg(0);
                return i.op == Op::MaskOr && arg(0) == arg(1) ? arg(0) : Dead{};
            case Op::MaskAndNot:
                if (arg(0) == zero) return zero;
                return arg(1) == zero ? arg(0) : Dead{};
            default:
                return {};
        }
    }

    bool without_lanes(Value mask) const { return dead_[mask].kind == Dead::Zero; }

    // No order between chunks may matter, and lanes that are off must stay as they are.
    bool effects() const {
        for (const Inst& i : block_.insts) {
            switch (ir::op_info(i.op).cls) {
                case Class::Cross:
                case Class::Call:
                case Class::Fence:
                    return false;
                case Class::LaneAtomic:
                    if (!ordered_) return false;
                    [[fallthrough]];
                case Class::LaneStore:
                    if (i.op != Op::StoreScratch && !ordered_) return false;
                    [[fallthrough]];
                case Class::LaneLoad:
                    for (Value a : ir::used_args(i))
                        if (a != no_value && block_.type(a) == Type::M && !without_lanes(a))
                            return false;
                    break;
                case Class::SetV:
                    if (i.imm >= 256 || !without_lanes(i.args[1])) return false;
                    break;
                case Class::GetV:
                    if (i.imm >= 256) return false;
                    break;
                default:
                    break;
            }
        }
        return true;
    }

    bool masks() {
        for (Value v = 0; v < block_.insts.size(); ++v) {
            const Inst& bits = inst(v);
            if (bits.op != Op::BitsOf) continue;
            const Value mask = bits.args[0];
            if (without_lanes(mask)) {
                if (mask != loop_.live) loop_.fading.push_back(mask);
                continue;
            }
            // Anything else must be the next value of the register that it is then equal to.
            if (dead_[mask].kind != Dead::Same) return false;
            const uint64_t reg = inst(dead_[mask].get).imm;
            for (const Inst& i : block_.insts)
                if (ir::op_info(i.op).cls == Class::SetS && i.args[0] == v &&
                    (!ir::sets_mask(i.op) || i.imm != reg))
                    return false;
            if (std::none_of(block_.insts.begin(), block_.insts.end(), [&](const Inst& i) {
                    return ir::sets_mask(i.op) && i.imm == reg && i.args[0] == v;
                }))
                return false;
        }
        return true;
    }

    // Registers that depend on lanes are known when all chunks are done: iterations may read them
    // as lane masks only.
    bool scalars() {
        const size_t n = block_.insts.size();
        std::vector<bool>& late = loop_.late;
        late.resize(n);
        std::vector<bool> late_register(132);
        for (Value v = 0; v < n; ++v) {
            const Inst& i = inst(v);
            const Class cls = ir::op_info(i.op).cls;
            if (i.op == Op::BitsOf) {
                late[v] = true;
            } else if (cls == Class::Uniform || cls == Class::SetS || cls == Class::ULoad) {
                for (Value a : ir::used_args(i)) late[v] = late[v] || (a != no_value && late[a]);
                if (cls == Class::ULoad) {
                    if (late[v]) return false;
                    loop_.uniform_varies = true;
                }
                if (cls == Class::SetS && !late[v]) loop_.uniform_varies = true;
                if (cls == Class::SetS && late[v]) {
                    late_register[i.op == Op::SetScc ? scc_index : i.imm] = true;
                    if (i.op == Op::SetS64) late_register[i.imm + 1] = true;
                }
            }
        }
        for (Value v = 0; v < n; ++v) {
            const Inst& i = inst(v);
            if (ir::op_info(i.op).cls != Class::GetS) continue;
            const size_t reg = i.op == Op::GetScc ? scc_index : i.imm;
            if (!late_register[reg] && !(i.op == Op::GetS64 && late_register[reg + 1])) continue;
            if (!collects(v) && !carry(v)) return false;
        }
        // One place in memory for each.
        for (size_t a = 0; a < loop_.carried.size(); ++a)
            for (size_t b = 0; b < a; ++b)
                if (loop_.carried[a].mask == loop_.carried[b].mask) return false;
        return true;
    }

    // A mask that gets these lanes (lift/loop_masks.h): the same after each iteration and after all
    // of them, as no lane comes on in a loop whose EXEC stays empty, and nobody asks in between.
    bool collects(Value get) const {
        const uint64_t reg = inst(get).imm;
        return ir::gets_mask(inst(get).op) && std::ranges::all_of(block_.insts, [&](const Inst& i) {
                   const bool sum = is_sum(i, get);
                   if (ir::op_info(i.op).cls == Class::SetS && overlap(reg, i))
                       return ir::sets_mask(i.op) && i.imm == reg && is_sum(inst(i.args[0]), get);
                   return sum || std::ranges::find(i.args, get) == i.args.end();
               });
    }
    bool is_sum(const Inst& i, Value get) const {
        return i.op == Op::UOr64 && i.args[0] == get &&
               ir::is_lost(block_, inst(i.args[1]), loop_.live);
    }

    bool carry(Value get) {
        const auto mask = find_loop_mask(block_, get, loop_.live);
        if (mask) loop_.carried.push_back(*mask);
        return mask.has_value();
    }

    // Nothing asks which lane it is: scratch and swizzled buffers do, and lines.
    bool same_of_any_lanes() const {
        return std::ranges::none_of(block_.insts, [](const Inst& i) {
            switch (i.op) {
                case Op::LaneId:
                case Op::Line32:
                case Op::RowLane:
                case Op::GuardRow:
                case Op::LoadFlat:
                case Op::StoreFlat:
                case Op::AtomicFlat:
                case Op::LoadScratch:
                case Op::StoreScratch:
                case Op::LoadBuffer:
                case Op::StoreBuffer:
                    return true;
                case Op::SetV:
                    return i.aux != 0;
                default:
                    return false;
            }
        });
    }

    // With the mask in register `mask`.
    bool overlap(uint64_t mask, const Inst& i) const { return overlaps_mask(block_, mask, i); }

    bool is_all_or_none(const Inst& i) const {
        if (i.op == Op::Const64) return !i.imm || !(~i.imm & block_.every_lane());
        return i.op == Op::USelect64 && is_all_or_none(inst(i.args[1])) &&
               is_all_or_none(inst(i.args[2]));
    }

    // Registers that hold masks, before the loop or behind it.
    bool find_masks(std::vector<OrderedLoop::Mask>& masks) const {
        auto add = [&](uint64_t reg, bool is_empty) {
            const auto known = std::ranges::find(masks, reg, &OrderedLoop::Mask::reg);
            if (known == masks.end())
                masks.push_back({static_cast<uint8_t>(reg), is_empty});
            else
                known->is_empty |= is_empty;
        };
        for (const Inst& i : block_.insts) {
            const Inst* const from = i.args[0] == no_value ? nullptr : &inst(i.args[0]);
            if (i.op == Op::MaskOf) {
                if (ir::gets_mask(from->op))
                    add(from->imm, false);
                else if (!is_all_or_none(*from))
                    return false;
            } else if (ir::sets_mask(i.op) && from->op == Op::BitsOf) {
                add(i.imm, without_lanes(from->args[0]));
            } else if (ir::sets_mask(i.op) && loop_.late[i.args[0]]) {
                add(i.imm, false);  // of collects()
            }
        }
        return true;
    }

    // Their registers are nothing but masks, and masks are no numbers, but for whether they are 0.
    bool only_masks(const std::vector<OrderedLoop::Mask>& masks) const {
        std::vector<bool> number(block_.insts.size());
        for (Value v = 0; v < block_.insts.size(); ++v) {
            const Inst& i = inst(v);
            const Class cls = ir::op_info(i.op).cls;
            bool reads = false;
            for (const Value a : ir::used_args(i)) reads |= a != no_value && number[a];
            if (cls == Class::GetS || cls == Class::SetS) {
                for (const OrderedLoop::Mask& m : masks) {
                    if (!overlap(m.reg, i)) continue;
                    const bool whole =
                        i.imm == m.reg && (ir::gets_mask(i.op) || ir::sets_mask(i.op));
                    if (!whole || (cls == Class::SetS && !loop_.late[i.args[0]])) return false;
                    number[v] = cls == Class::GetS;
                }
                const bool sets_mask = ir::sets_mask(i.op) && (inst(i.args[0]).op == Op::BitsOf ||
                                                               inst(i.args[0]).op == Op::UOr64);
                if (cls == Class::SetS && reads && !sets_mask) return false;
            } else if (i.op == Op::BitsOf) {
                number[v] = true;
            } else if (i.op == Op::MaskOf) {
                if (reads && !ir::gets_mask(inst(i.args[0]).op)) return false;
            } else if ((i.op == Op::UCmpEq64 || i.op == Op::UCmpNe64) && reads) {
                const Inst &left = inst(i.args[0]), &right = inst(i.args[1]);
                if (left.op != Op::BitsOf || !without_lanes(left.args[0]) ||
                    right.op != Op::Const64 || right.imm)
                    return false;
            } else if (reads) {
                // collects() has looked at what becomes of them.
                if (i.op != Op::UOr64 && i.op != Op::UAnd64 && i.op != Op::UXor64) return false;
                number[v] = true;
            }
        }
        for (const OrderedLoop::Mask& m : masks)
            for (const OrderedLoop::Mask& other : masks)
                if (block_.wave_size == machine::lanes && m.reg + 1 == other.reg) return false;
        return !number[block_.term.cond];
    }

    void find_rows(OrderedLoop& loop) const {
        auto add = [](std::vector<uint8_t>& rows, uint64_t row) {
            if (std::ranges::find(rows, row) == rows.end())
                rows.push_back(static_cast<uint8_t>(row));
        };
        for (const Inst& i : block_.insts)
            if (i.op == Op::SetV) add(loop.written, i.imm);
        for (const Inst& i : block_.insts)
            if (i.op == Op::GetV && std::ranges::find(loop.written, i.imm) == loop.written.end())
                add(loop.read, i.imm);
    }

    const ir::Block& block_;
    bool ordered_ = false;
    std::vector<Dead> dead_;
    DivergentLoop loop_;
};

}  // namespace

std::optional<LoopMask> find_loop_mask(const ir::Block& block, Value get, Value live) {
    const Inst& g = block.insts[get];
    if (!ir::gets_mask(g.op)) return {};
    Value mask = no_value;
    for (const Inst& i : block.insts) {
        const Class cls = ir::op_info(i.op).cls;
        if (cls == Class::SetS && overlaps_mask(block, g.imm, i)) {
            if (!ir::sets_mask(i.op) || i.imm != g.imm || block.insts[i.args[0]].op != Op::BitsOf)
                return {};
            mask = block.insts[i.args[0]].args[0];
        }
        const bool as_mask =
            i.op == Op::MaskOf || (live != no_value && ir::is_lost(block, i, live));
        if (!as_mask && std::ranges::count(ir::used_args(i), get)) return {};
    }
    if (mask == no_value || block.insts[mask].op == Op::MaskOf) return {};
    return LoopMask{static_cast<uint32_t>(g.imm), get, mask};
}

std::optional<DivergentLoop> find_divergent_loop(const ir::Block& block) {
    return Finder(block).find();
}

std::optional<OrderedLoop> find_ordered_loop(const ir::Block& block) {
    return Finder(block).find_ordered();
}

}  // namespace wj::x64
