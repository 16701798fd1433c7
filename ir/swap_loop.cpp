#include "ir/swap_loop.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ir/atomic.h"
#include "ir/known.h"
#include "machine/wave.h"

namespace wj::ir {
namespace {

class Finder {
public:
    explicit Finder(Block& block) : block_(block) {}

    bool find() {
        return find_swap() && find_sum() && find_end() && rows_stay() && scalars_stay() &&
               nothing_else();
    }

    void rewrite(const std::function<bool(uint64_t)>& is_read) {
        // What lanes expect is from now on what they find.
        const auto count = static_cast<Value>(block_.insts.size());
        for (Value v = swap_ + 1; v < count; ++v)
            for (Value& a : used_args(inst(v)))
                if (const auto d = part(a); d && found_[*d] < v) a = found_[*d];
        inst(compare_).args[0] = inst(compare_).args[1] = whole_found_;
        const Value here = mask_of(inst(swap_));
        Inst& none = inst(next_);
        none.op = Op::MaskAndNot;
        none.args = {here, here, no_value, no_value, no_value, no_value, no_value, no_value};
        block_.term = {.kind = Terminator::Kind::Jump, .target = exit_};

        Inst& swap = inst(swap_);
        if (dwords_ == 2) {  // the halves of the sum become those of what is added
            inst(swap.args[4]).args[0] = inst(swap.args[5]).args[0] = added_;
        } else {
            swap.args[4] = added_;
        }
        std::fill(swap.args.begin() + 4 + dwords_, swap.args.end(), no_value);
        swap.aux = make_atomic_aux(AtomicOp::FAdd, dwords_, data_first_ ? data_first : 0);
        for (Inst& i : block_.insts)
            if (i.op == Op::SetV && is_found(i.args[0]) && !is_read(i.imm)) {
                i.op = Op::Const32;  // that nobody reads
                i.args.fill(no_value);
            }
    }

private:
    Inst& inst(Value v) { return block_.insts[v]; }
    bool is_found(Value v) const {
        return std::find(found_.begin(), found_.begin() + dwords_, v) != found_.begin() + dwords_;
    }
    // Which dword of what is expected.
    std::optional<size_t> part(Value v) const {
        const auto at = std::find(expected_.begin(), expected_.begin() + dwords_, v);
        if (at == expected_.begin() + dwords_) return {};
        return static_cast<size_t>(at - expected_.begin());
    }
    bool is_entry_exec(Value v) { return gets_mask(inst(v).op) && inst(v).imm == machine::exec_lo; }

    // The one access to memory, by all lanes that are on.
    bool find_swap() {
        for (Value v = 0; v < block_.insts.size(); ++v) {
            const Inst& i = inst(v);
            switch (op_info(i.op).cls) {
                case Class::LaneAtomic:
                    if (swap_ != no_value || aux_atomic(i.aux) != AtomicOp::CmpSwap ||
                        aux_atomic_flags(i.aux))
                        return false;
                    swap_ = v;
                    break;
                case Class::LaneLoad:
                case Class::LaneStore:
                case Class::Cross:
                case Class::Call:
                case Class::Fence:
                case Class::ULoad:
                    return false;
                default:
                    break;
            }
        }
        if (swap_ == no_value) return false;
        const Inst& swap = inst(swap_);
        const Inst& mask = inst(mask_of(swap));
        dwords_ = swap.aux & 0xff;
        if (dwords_ > 2 || mask.op != Op::MaskOf || !is_entry_exec(mask.args[0])) return false;
        for (uint32_t d = 0; d < dwords_; ++d) {
            expected_[d] = swap.args[4 + dwords_ + d];
            if (inst(expected_[d]).op != Op::GetV) return false;
            const auto found = std::ranges::find_if(block_.insts, [&](const Inst& i) {
                return i.op == Op::Elem && i.args[0] == swap_ && i.imm == d;
            });
            if (found == block_.insts.end()) return false;
            found_[d] = static_cast<Value>(found - block_.insts.begin());
        }
        return true;
    }

    // Of what is expected and a value that iterations do not change.
    bool find_sum() {
        const Inst& swap = inst(swap_);
        Value sum = swap.args[4];
        if (dwords_ == 2) {
            const Inst &lo = inst(swap.args[4]), &hi = inst(swap.args[5]);
            if (lo.op != Op::Lo || hi.op != Op::Hi || lo.args[0] != hi.args[0]) return false;
            sum = lo.args[0];
        }
        const Inst& i = inst(sum);
        if (i.op != (dwords_ == 2 ? Op::FAdd64 : Op::FAdd32)) return false;
        data_first_ = !is_whole(i.args[0], expected_);
        added_ = i.args[!data_first_];
        return is_whole(i.args[data_first_], expected_) && !depends(added_);
    }

    bool is_whole(Value v, const std::array<Value, 2>& parts) {
        if (dwords_ == 1) return v == parts[0];
        const Inst& i = inst(v);
        return i.op == Op::Pack64 && i.args[0] == parts[0] && i.args[1] == parts[1];
    }

    // On what is expected, or found, otherwise than by `through`.
    bool depends(Value v, Value through = no_value) {
        std::vector<bool> on(block_.insts.size());
        for (uint32_t d = 0; d < dwords_; ++d) on[expected_[d]] = true;
        on[swap_] = true;
        for (Value x = 0; x <= v; ++x)
            for (const Value a : used_args(inst(x)))
                if (a != no_value && a != through && on[a]) on[x] = true;
        return on[v];
    }

    // EXEC of the next iteration are the lanes that have found something else.
    bool find_end() {
        const Terminator& t = block_.term;
        if (t.kind != Terminator::Kind::Branch || (t.target == block_.pc) == (t.next == block_.pc))
            return false;
        const Inst& cond = inst(t.cond);
        const bool goes_on = t.target == block_.pc;
        exit_ = goes_on ? t.next : t.target;
        if (cond.op != (goes_on ? Op::UCmpNe64 : Op::UCmpEq64) ||
            inst(cond.args[1]).op != Op::Const64 || inst(cond.args[1]).imm ||
            inst(cond.args[0]).op != Op::BitsOf)
            return false;
        next_bits_ = cond.args[0];
        next_ = inst(next_bits_).args[0];
        const Inst& next = inst(next_);
        const Value here = mask_of(inst(swap_));
        const bool without = next.op == Op::MaskAndNot && next.args[0] == here;
        if (without)
            compare_ = next.args[1];
        else if (next.op == Op::MaskAnd && (next.args[0] == here || next.args[1] == here))
            compare_ = next.args[next.args[0] == here];
        else
            return false;
        const Inst& c = inst(compare_);
        const Op wanted = without ? (dwords_ == 2 ? Op::CmpEq64 : Op::CmpEq32)
                                  : (dwords_ == 2 ? Op::CmpNe64 : Op::CmpNe32);
        if (c.op != wanted) return false;
        const bool swapped = is_whole(c.args[0], expected_);
        whole_found_ = c.args[!!swapped];
        return is_whole(c.args[swapped ? 0 : 1], expected_) && is_whole(whole_found_, found_);
    }

    // Iterations find in rows what the first one did, but for what is expected next, and write the
    // lanes that are on: those of each lane's last one remain.
    bool rows_stay() {
        const Value here = mask_of(inst(swap_));
        for (const Inst& set : block_.insts) {
            if (set.op != Op::SetV) continue;
            if (set.args[1] != here) return false;
            for (Value v = 0; v < block_.insts.size(); ++v) {
                const Inst& get = inst(v);
                if (get.op != Op::GetV || get.imm != set.imm) continue;
                const auto d = part(v);
                if (!d || set.args[0] != found_[*d]) return false;
            }
        }
        // And lanes that try again do so with what they found.
        for (uint32_t d = 0; d < dwords_; ++d)
            if (std::ranges::none_of(block_.insts, [&](const Inst& i) {
                    return i.op == Op::SetV && i.imm == inst(expected_[d]).imm;
                }))
                return false;
        return true;
    }

    // The same for scalars, but for EXEC and the lanes that it has lost (lift/loop_masks.h). What
    // they hold behind the loop may depend on there being no lanes left, not on which lanes the
    // last iteration had.
    bool scalars_stay() {
        for (const Inst& set : block_.insts) {
            if (op_info(set.op).cls != Class::SetS) continue;
            if (sets_mask(set.op) && set.imm == machine::exec_lo) {
                if (set.args[0] != next_bits_) return false;
                continue;
            }
            if (depends(set.args[0], next_bits_)) return false;
            for (Value v = 0; v < block_.insts.size(); ++v) {
                const Inst& get = inst(v);
                if (op_info(get.op).cls != Class::GetS) continue;
                if (get.op == Op::GetScc || set.op == Op::SetScc) {
                    if (get.op == Op::GetScc && set.op == Op::SetScc) return false;
                    continue;
                }
                const bool overlap = get.imm < set.imm + scalar_registers(set.op) &&
                                     set.imm < get.imm + scalar_registers(get.op);
                if (overlap && !collects(set, v)) return false;
            }
        }
        return true;
    }
    bool collects(const Inst& set, Value get) {
        if (!sets_mask(set.op) || !gets_mask(inst(get).op) || set.imm != inst(get).imm)
            return false;
        const Inst& sum = inst(set.args[0]);
        if (sum.op != Op::UOr64 || sum.args[0] != get) return false;
        return is_lost(block_, inst(sum.args[1]), next_);
    }

    // What is expected, and the sum, are wanted for the swap and the compare alone.
    bool nothing_else() {
        const Inst& swap = inst(swap_);
        std::vector<bool> stale(block_.insts.size());
        for (uint32_t d = 0; d < dwords_; ++d) stale[expected_[d]] = true;
        for (Value v = 0; v < block_.insts.size(); ++v) {
            if (v == swap_ || v == compare_) continue;
            const Inst& i = inst(v);
            const bool by_value = v > swap_;  // rewrite() finds a part by itself, no more
            for (const Value a : used_args(i)) {
                if (a == no_value || !stale[a]) continue;
                if (const auto d = part(a); by_value && d && found_[*d] < v) continue;
                if (op_info(i.op).cls != Class::Lane) return false;
                stale[v] = true;
            }
        }
        return !stale[address_of(swap)];
    }

    Block& block_;
    Value swap_ = no_value, added_ = no_value, compare_ = no_value, whole_found_ = no_value,
          next_ = no_value, next_bits_ = no_value;
    bool data_first_ = false;
    uint32_t dwords_ = 0;
    uint64_t exit_ = 0;
    std::array<Value, 2> expected_{no_value, no_value}, found_{no_value, no_value};
};

}  // namespace

bool swap_at_once(Block& block, const std::function<bool(uint64_t)>& is_read) {
    Finder finder(block);
    if (!finder.find()) return false;
    finder.rewrite(is_read);
    return true;
}

}  // namespace wj::ir
