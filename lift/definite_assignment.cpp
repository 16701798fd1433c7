#include "lift/definite_assignment.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "frontend/decode.h"

namespace wj::lift {
namespace {

using Mask = WrittenLanes::Mask;

constexpr size_t most_instructions = 1 << 14, most_blocks = 1 << 10;
constexpr uint32_t special_vccz = 251, special_scc = 253;

bool is_scalar(const Operand& o) {
    return o.is(Operand::Kind::Sgpr);
}
bool is_row(const Operand& o) {
    return o.is(Operand::Kind::Vgpr) || o.is(Operand::Kind::Agpr);
}
uint32_t dwords_of(const Operand& o) {
    return std::max<uint32_t>(o.dwords, 1);
}
// In WrittenLanes::rows.
uint32_t row_of(const Operand& o, uint32_t dword) {
    return (o.reg + dword + (o.is(Operand::Kind::Agpr) ? 256u : 0u)) % WrittenLanes::first_mask;
}

Mask first_of(const Mask& a, const Mask&) {
    return a;
}
Mask some_of_first(const Mask& a, const Mask&) {
    return some(a);
}
Mask some_of_second(const Mask&, const Mask& b) {
    return some(b);
}
Mask some_of_either(const Mask& a, const Mask& b) {
    return some(either(a, b));
}

// The lanes in which a mask's bits have been written.
struct MaskBits {
    Masks in;      // those of these masks
    Masks parts;   // of the mask
    uint32_t reg;  // where it is
    bool all() const { return in[WrittenLanes::all]; }
};
Masks none_is_masked(const MaskBits& a, const MaskBits& b) {
    return a.in & b.in;
}
// A bit that is 0 hides the other, whatever that is.
Masks zero_hides(const MaskBits& a, const MaskBits& b) {
    const bool hidden = (a.all() && b.in[a.reg]) || (b.all() && a.in[b.reg]);
    return hidden ? Masks().set() : a.in & b.in;
}
Masks one_hides(const MaskBits& a, const MaskBits& b) {
    return (a.in & b.in) | (a.all() ? a.parts : Masks()) | (b.all() ? b.parts : Masks());
}
Masks zero_or_one_hides(const MaskBits& a, const MaskBits& b) {
    if (a.all() && b.in[a.reg]) return Masks().set();
    return (a.in & b.in) | (b.all() ? b.parts : Masks());
}

// Scalar instructions of masks. With EXEC: the second operand is EXEC, which gets the result; the
// destination gets what EXEC was.
struct MaskOp {
    Opcode b32, b64;
    Mask (*result)(const Mask& a, const Mask& b);
    Masks (*written)(const MaskBits& a, const MaskBits& b) = none_is_masked;
    bool of_exec = false;
};
// clang-format off
constexpr MaskOp mask_ops[] = {
    {Opcode::s_mov_b32, Opcode::s_mov_b64, first_of},
    {Opcode::s_and_b32, Opcode::s_and_b64, both, zero_hides},
    {Opcode::s_andn2_b32, Opcode::s_andn2_b64, some_of_first, zero_or_one_hides},
    {Opcode::s_or_b32, Opcode::s_or_b64, either, one_hides},
    {Opcode::s_xor_b32, Opcode::s_xor_b64, some_of_either},
    {Opcode::s_cselect_b32, Opcode::s_cselect_b64, one},
    {Opcode::s_and_saveexec_b32, Opcode::s_and_saveexec_b64, both, zero_hides, true},
    {Opcode::s_andn2_saveexec_b32, Opcode::s_andn2_saveexec_b64, some_of_first, zero_or_one_hides, true},
    {Opcode::s_andn1_saveexec_b32, Opcode::s_andn1_saveexec_b64, some_of_second, none_is_masked, true},
    {Opcode::s_or_saveexec_b32, Opcode::s_or_saveexec_b64, either, one_hides, true},
    {Opcode::s_xor_saveexec_b32, Opcode::s_xor_saveexec_b64, some_of_either, none_is_masked, true},
};
// clang-format on

// Exchange what their destination and their source hold.
bool swaps(Opcode op) {
    constexpr Opcode ops[] = {Opcode::v_swap_b32, Opcode::v_swap_b16, Opcode::v_permlane16_swap_b32,
                              Opcode::v_permlane32_swap_b32};
    return std::ranges::find(ops, op) != std::end(ops);
}

// Where a dword of the result is made of some dwords of the operands only: of the low ones the low
// one, or of those that op_sel says.
struct Parts {
    Opcode op;
    uint32_t (*read)(const Inst& inst, size_t source, uint32_t dword);  // a bit for each
};
constexpr uint32_t all_dwords = ~0u;
uint32_t goes_upward(const Inst&, size_t, uint32_t dword) {
    return dword ? all_dwords : 1;
}
uint32_t packed(const Inst& inst, size_t source, uint32_t dword) {
    return 1u << ((dword ? inst.op_sel_hi : inst.op_sel) >> source & 1);
}
uint32_t moved(const Inst& inst, size_t source, uint32_t dword) {
    return source == dword ? 1u << (inst.op_sel >> source & 1) : 0;
}
constexpr Parts parts[] = {
    {Opcode::v_mad_u64_u32, goes_upward}, {Opcode::v_mad_i64_i32, goes_upward},
    {Opcode::v_lshlrev_b64, goes_upward}, {Opcode::v_lshl_add_u64, goes_upward},
    {Opcode::v_pk_fma_f32, packed},       {Opcode::v_pk_mul_f32, packed},
    {Opcode::v_pk_add_f32, packed},       {Opcode::v_pk_mov_b32, moved},
};
uint32_t dwords_read(const Inst& inst, size_t source, uint32_t dword) {
    const auto* found = std::ranges::find(parts, inst.op, &Parts::op);
    if (found == std::end(parts) || dword == all_dwords) return all_dwords;
    return found->read(inst, source, dword);
}

// Products of matrices that add to an operand as large as the destination leave nothing of that.
bool is_product(const Inst& inst) {
    const Effects& e = effects(inst.op);
    return e.unmasked && e.across && inst.format == Format::VOP3P && inst.dst[0].dwords > 1 &&
           inst.src[2].dwords == inst.dst[0].dwords;
}

class Analysis {
public:
    Analysis(const Target& target, const Fetch& fetch)
        : target_(target), fetch_(fetch), mask_registers_(target.traits.wave_size / 32) {}

    UnassignedUse run(uint64_t pc, const AssignedAtStart& start) {
        range_ = {true, pc, pc};
        WrittenLanes first;
        first.begin(start.scalars, start.rows, start.whole, mask_registers_);
        range_.possible = !(reach(pc, first) && settle());
        return range_;
    }

private:
    struct Block {  // straight code up to the next branch
        std::vector<Inst> code;
        uint64_t end = 0;
        WrittenLanes at_start;
        bool waits = false;
    };

    // False from here on: there may be a use, or nobody knows.
    bool settle() {
        while (!waiting_.empty()) {
            Block& block = blocks_.at(waiting_.front());
            waiting_.pop_front();
            block.waits = false;
            WrittenLanes now = block.at_start;
            for (const Inst& inst : block.code)
                if (!step(inst, now)) return false;
            if (!leave(block, now)) return false;
        }
        return true;
    }

    bool reach(uint64_t pc, const WrittenLanes& with) {
        const auto [at, is_new] = blocks_.try_emplace(pc);
        Block& block = at->second;
        if (is_new) {
            block.at_start = with;
            if (blocks_.size() > most_blocks || !scan(pc, block)) return false;
        } else if (!block.at_start.join(with)) {
            return true;
        }
        if (!std::exchange(block.waits, true)) waiting_.push_back(pc);
        return true;
    }

    bool scan(uint64_t pc, Block& block) {
        for (block.end = pc;;) {
            Inst inst;
            if (++instructions_ > most_instructions || !decode(target_, fetch_(block.end), inst))
                return false;
            const Effects& e = effects(inst.op);
            const Flow flow = e.flow;
            if (is_opaque(e) || inst.illegal_operand || may_index_registers(inst) ||
                (flow == Flow::Branch && (e.exec != ExecChange::None || inst.dst[0].present())))
                return false;
            block.end += inst.size;
            block.code.push_back(inst);
            if (flow == Flow::Goto || flow == Flow::Branch || flow == Flow::End) break;
        }
        range_.begin = std::min(range_.begin, pc);
        range_.end = std::max(range_.end, block.end);
        return true;
    }

    bool leave(const Block& block, const WrittenLanes& now) {
        const Inst& last = block.code.back();
        const Flow flow = effects(last.op).flow;
        if (flow == Flow::End) return true;
        const uint64_t target = branch_target(last, block.end);
        if (flow == Flow::Goto) return reach(target, now);
        // Where no lane is left, everything has been written in all of them.
        const bool exec = last.op == Opcode::s_cbranch_execz || last.op == Opcode::s_cbranch_execnz;
        const bool vcc = last.op == Opcode::s_cbranch_vccz || last.op == Opcode::s_cbranch_vccnz;
        const bool if_none =
            last.op == Opcode::s_cbranch_execz || last.op == Opcode::s_cbranch_vccz;
        WrittenLanes none = now, some_lane = now;
        if (exec || vcc) none.make_empty(exec ? WrittenLanes::exec : machine::vcc_lo);
        if (exec) some_lane.some_lane = true;
        return reach(target, if_none ? none : some_lane) &&
               reach(block.end, if_none ? some_lane : none);
    }

    bool step(const Inst& inst, WrittenLanes& s) {
        const Effects& e = effects(inst.op);
        if (e.access != MemoryAccess::None) return access(inst, s);
        if (e.flow == Flow::Goto || e.flow == Flow::End) return true;
        if (e.flow == Flow::Branch) return written_in(inst, s)[WrittenLanes::exec];
        return compute(inst, s);
    }

    static bool all_scalars(const WrittenLanes& s, const Operand& o) {
        for (uint32_t r = o.reg; r < o.reg + dwords_of(o); r++)
            if (!s.scalars[r & 127]) return false;
        return true;
    }

    // The masks in whose lanes the operands have been written; those that dword `dword` of the
    // result is made of.
    Masks written_in(const Inst& inst, const WrittenLanes& s, uint32_t dword = all_dwords) const {
        Masks in = Masks().set();
        bool scalars = true;
        const auto read = [&](const Operand& o, uint32_t dwords) {
            if (is_scalar(o) && o.type == Type::mask && is_mask(o))
                in &= s.rows[WrittenLanes::first_mask + o.reg];
            else if (is_scalar(o))
                scalars = scalars && all_scalars(s, o);
            for (uint32_t d = 0; is_row(o) && d < dwords_of(o); d++)
                if (dwords >> std::min(d, 31u) & 1) in &= s.rows[row_of(o, d)];
            if (o.is(Operand::Kind::Special) && o.reg == special_scc)
                scalars = scalars && s.scalars[WrittenLanes::scc];
            if (o.is(Operand::Kind::Special) && o.reg == special_vccz) scalars = scalars && vcc(s);
        };
        for (size_t i = 0; i < inst.src.size(); i++) read(inst.src[i], dwords_read(inst, i, dword));
        for (const Opcode op : {inst.op, inst.op_y}) {
            if (op == Opcode::invalid) continue;
            const Effects& e = effects(op);
            if (e.reads_scc) scalars = scalars && s.scalars[WrittenLanes::scc];
            if (e.reads_vcc) scalars = scalars && vcc(s);
            if (e.reads_m0) scalars = scalars && s.scalars[machine::m0];
        }
        if (!writes_whole(inst) && !is_product(inst)) {
            for (const Operand& o : inst.dst)
                if (is_scalar(o)) read(o, all_dwords);
            if (swaps(inst.op)) read(inst.dst[0], all_dwords);
        }
        return scalars ? in : Masks();
    }
    bool vcc(const WrittenLanes& s) const {
        for (uint32_t r = 0; r < mask_registers_; r++)
            if (!s.scalars[machine::vcc_lo + r]) return false;
        return true;
    }

    // What is loaded has been written: whether that is so, who watches memory looks at. What is
    // stored has to have been, in private memory, too.
    bool access(const Inst& inst, WrittenLanes& s) {
        const auto usable = [&](const Operand& o) {
            if (is_scalar(o)) return all_scalars(s, o);
            for (uint32_t d = 0; is_row(o) && d < dwords_of(o); d++)
                if (!s.rows[row_of(o, d)][WrittenLanes::exec]) return false;
            return true;
        };
        const size_t used = inst.format == Format::DS ? 1 : inst.src.size();  // not data for LDS
        for (size_t i = 0; i < used; i++)
            if (!usable(inst.src[i])) return false;
        const Masks here = s.parts_of(WrittenLanes::exec);
        for (const Operand& o : inst.dst) {
            if (is_scalar(o)) set_scalars(s, o, true);
            for (uint32_t d = 0; is_row(o) && d < dwords_of(o); d++) s.rows[row_of(o, d)] |= here;
        }
        return true;
    }

    static Masks set_scalars(WrittenLanes& s, const Operand& o, bool written) {
        return s.overwrite(o.reg, dwords_of(o), written);
    }

    bool compute(const Inst& inst, WrittenLanes& s) {
        const Effects& e = effects(inst.op);
        const bool across = e.across || is_dpp(inst.variant);
        const Masks all_of_it = written_in(inst, s);
        // It has a value in the lanes that are on; of these masks.
        const bool first_lane = inst.op == Opcode::v_readfirstlane_b32 && s.some_lane;
        const bool usable =
            all_of_it[across && !first_lane ? WrittenLanes::all : WrittenLanes::exec];
        const auto computed = [&](const Masks& in) {
            if (in[across ? WrittenLanes::all : WrittenLanes::exec]) return Masks().set();
            return across ? Masks() : in;
        };
        const Masks here = e.unmasked ? Masks().set() : s.parts_of(WrittenLanes::exec);
        const bool whole = writes_whole(inst) || is_product(inst);
        const auto write = [&](const Operand& o, uint32_t d, const Masks& in) {
            Masks& row = s.rows[row_of(o, d)];
            row = computed(in) & (whole ? row | here : row);
        };
        const Masks of_dwords[] = {written_in(inst, s, 0), written_in(inst, s, 1)};
        for (const Operand& o : inst.dst)
            for (uint32_t d = 0; is_row(o) && d < dwords_of(o); d++)
                write(o, d, d < std::size(of_dwords) ? of_dwords[d] : all_of_it);
        if (swaps(inst.op)) write(inst.src[0], 0, all_of_it);
        if (e.writes_scc) s.scalars[WrittenLanes::scc] = usable;
        return write_scalars(inst, s, usable);
    }

    bool is_mask(const Operand& o) const {
        return is_scalar(o) && o.dwords == mask_registers_ && o.reg != WrittenLanes::all;
    }
    Mask mask_of(const Operand& o, const WrittenLanes& s) const {
        if (is_mask(o)) return s.mask(o.reg);
        const uint64_t every = mask_registers_ == 2 ? ~uint64_t{0} : ~uint32_t{0};
        const bool constant = o.is(Operand::Kind::Const) || o.is(Operand::Kind::Literal);
        if (constant && !(o.value & every)) return WrittenLanes::empty();
        if (constant && (o.value & every) == every) return s.mask(WrittenLanes::all);
        return s.unknown();
    }
    bool is_exec(const Operand& o) const {
        return is_scalar(o) && o.reg + dwords_of(o) > WrittenLanes::exec &&
               o.reg < WrittenLanes::exec + mask_registers_;
    }

    MaskBits bits_of(const Operand& o, const WrittenLanes& s) const {
        if (is_mask(o)) return {s.rows[WrittenLanes::first_mask + o.reg], s.parts_of(o.reg), o.reg};
        const bool written = !is_scalar(o) || all_scalars(s, o);
        return {written ? Masks().set() : Masks(), {}, WrittenLanes::all};
    }

    bool write_scalars(const Inst& inst, WrittenLanes& s, bool usable) {
        const bool implicitly = effects(inst.op).exec != ExecChange::None;
        const bool writes_exec = implicitly || is_exec(inst.dst[0]) || is_exec(inst.dst[1]);
        const auto* op = std::ranges::find_if(mask_ops, [&](const MaskOp& m) {
            return inst.op == (mask_registers_ == 2 ? m.b64 : m.b32);
        });
        if (op != std::end(mask_ops) && is_mask(inst.dst[0])) return combine(*op, inst, s, usable);
        if (writes_exec && !usable) return false;
        write_others(inst, s, usable);
        if (writes_exec) s.some_lane = false;
        return true;
    }

    bool combine(const MaskOp& op, const Inst& inst, WrittenLanes& s, bool usable) const {
        const Operand& d = inst.dst[0];
        const Operand exec_operand{.kind = Operand::Kind::Sgpr,
                                   .dwords = static_cast<uint8_t>(mask_registers_),
                                   .reg = WrittenLanes::exec};
        const Operand &a = inst.src[0], &b = op.of_exec ? exec_operand : inst.src[1];
        Masks in = usable ? Masks().set() : op.written(bits_of(a, s), bits_of(b, s));
        // Which one is chosen, or what it was
        if (!usable && effects(inst.op).reads_scc && !s.scalars[WrittenLanes::scc]) in.reset();
        const bool all = in[WrittenLanes::all], writes_exec = op.of_exec || is_exec(d);
        if (writes_exec && !all) return false;
        if (effects(inst.op).writes_scc) s.scalars[WrittenLanes::scc] = all;
        if (writes_exec)
            s.some_lane = s.some_lane && op.result == either && (op.of_exec || is_exec(a));
        Mask result = op.result(mask_of(a, s), mask_of(b, s)), exec = s.mask(WrittenLanes::exec);
        const Masks gone = set_scalars(s, d, all);
        result.forget(gone);
        exec.forget(gone);
        s.write(d.reg, op.of_exec ? exec : result);
        if (!all) s.rows[WrittenLanes::first_mask + d.reg] = in & ~gone;
        if (!op.of_exec) return true;
        // What EXEC was is the destination now.
        if (op.result == both || op.result == some_of_second) result.within.set(d.reg);
        if (op.result == either) result.contains.set(d.reg);
        s.write(WrittenLanes::exec, result);
        return true;
    }

    // Compares have no bits in lanes that are off.
    void write_others(const Inst& inst, WrittenLanes& s, bool usable) const {
        const ExecChange change = effects(inst.op).exec;
        const bool compares = inst.format == Format::VOPC;
        Mask part = some(s.mask(WrittenLanes::exec));
        for (const Operand& o : inst.dst) {
            if (!is_scalar(o)) continue;
            part.forget(set_scalars(s, o, usable));
            if (compares && is_mask(o)) s.write(o.reg, part);
        }
        if (change == ExecChange::None) return;
        const bool narrowed = compares || change == ExecChange::Narrowed;
        s.write(WrittenLanes::exec, narrowed ? part : s.unknown());
    }

    const Target& target_;
    const Fetch& fetch_;
    const uint32_t mask_registers_;
    size_t instructions_ = 0;
    UnassignedUse range_;
    std::unordered_map<uint64_t, Block> blocks_;
    std::deque<uint64_t> waiting_;
};

}  // namespace

UnassignedUse find_unassigned_use(const Target& target, const Fetch& fetch, uint64_t pc,
                                  const AssignedAtStart& start) {
    return Analysis(target, fetch).run(pc, start);
}

}  // namespace wj::lift
