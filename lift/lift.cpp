#include "lift/lift.h"

#include "frontend/decode.h"
#include "frontend/dual.h"
#include "frontend/effects.h"
#include "frontend/refused.h"
#include "frontend/vgpr_msb.h"
#include "lift/address.h"
#include "lift/lifter.h"
#include "lift/loop_masks.h"

namespace wj::lift {

// ---- operands
// --------------------------------------------------------------------------------------

namespace {

constexpr uint32_t scratch_base = 230, shared_base = 235, private_base = 237, vccz = 251,
                   execz = 252, scc_operand = 253, null_operand = 125;

Value special32(Lifter& l, uint32_t encoding) {
    switch (encoding) {
        case vccz:
            return l.emit(Op::UCmpEq64, {l.s.get_mask_bits(machine::vcc_lo), l.s.const64(0)});
        case execz:
            return l.emit(Op::UCmpEq64, {l.s.get_mask_bits(machine::exec_lo), l.s.const64(0)});
        case scc_operand:
            return l.s.scc();
        case null_operand:
            return l.s.const32(0);
        case scratch_base:
            return l.emit(Op::ULo, {flat_scratch_base(l)});
        case scratch_base + 1:
            return l.emit(Op::UHi, {flat_scratch_base(l)});
        default:
            return no_value;
    }
}

// Operands that only the interpreter reads.
bool operand_supported(const Operand& o) {
    if (!o.is(Operand::Kind::Special) || o.reg == null_operand) return true;
    return (o.reg >= vccz && o.reg <= scc_operand && o.dwords <= 1) || o.reg == scratch_base ||
           o.reg == scratch_base + 1 ||
           ((o.reg == shared_base || o.reg == private_base) && o.dwords == 2);
}

}  // namespace

Value Lifter::s32(const Operand& o) {
    if (o.is(Operand::Kind::Sgpr)) return s.get32(o.reg);
    if (o.is(Operand::Kind::Special)) return special32(*this, o.reg);
    return s.const32(static_cast<uint32_t>(o.value));
}

Value Lifter::s64(const Operand& o) {
    if (o.is(Operand::Kind::Sgpr)) return s.get64(o.reg);
    if (o.is(Operand::Kind::Special) && o.reg == scratch_base) return flat_scratch_base(*this);
    if (o.is(Operand::Kind::Special))
        return s.const64(o.reg == null_operand  ? 0
                         : o.reg == shared_base ? machine::shared_aperture
                                                : machine::private_aperture);
    return s.const64(o.value);
}

Value Lifter::mask_bits(const Operand& o) {
    return o.is(Operand::Kind::Sgpr) ? s.get_mask_bits(o.reg) : s64(o);
}

Value Lifter::raw(const Operand& o, uint32_t dword) {
    if (&o == current_dpp_) return dpp_source_;
    if (is_vector(o)) return s.read(row(o, dword));
    if (o.is(Operand::Kind::Sgpr)) return s.splat(s.get32(o.reg + dword));
    if (o.is(Operand::Kind::Special)) {
        if (o.dwords == 2) return s.splat(emit(dword ? Op::UHi : Op::ULo, {s64(o)}));
        return s.splat(s32(o));
    }
    return c32(static_cast<uint32_t>(o.value >> dword * 32));
}

Value Lifter::v32(const Inst& inst, uint32_t i) {
    Value v = raw(inst.src[i]);
    if (inst.variant != Variant::Sdwa) {
        const bool high = inst.op_sel >> i & 1 && is_16_bit(inst.src[i].type);
        return high ? emit(Op::Shr32, {v, c32(16)}) : v;
    }
    if (i > 1) return v;
    const SdwaSel sel = inst.src_sel[i];
    if (sel == SdwaSel::Dword) return v;
    const bool word = sel >= SdwaSel::Word0;
    const uint32_t bits = word ? 16 : 8;
    const uint32_t shift =
        word ? (static_cast<uint32_t>(sel) - static_cast<uint32_t>(SdwaSel::Word0)) * 16
             : static_cast<uint32_t>(sel) * 8;
    if (inst.sext >> i & 1)
        return emit(Op::Sar32, {emit(Op::Shl32, {v, c32(32 - bits - shift)}), c32(32 - bits)});
    if (shift) v = emit(Op::Shr32, {v, c32(shift)});
    return shift + bits == 32 ? v : emit(Op::And32, {v, c32((1u << bits) - 1)});
}

Value Lifter::v64(const Operand& o) {
    if (is_vector(o)) return s.pack(raw(o, 0), raw(o, 1));
    if (o.is(Operand::Kind::Sgpr) || o.is(Operand::Kind::Special))
        return emit(Op::Splat64, {s64(o)});
    return c64(o.value);
}

Value Lifter::f32(const Inst& inst, uint32_t i) {
    Value v = v32(inst, i);
    if (inst.abs >> i & 1) v = emit(Op::And32, {v, c32(0x7fffffff)});
    if (inst.neg >> i & 1) v = emit(Op::Xor32, {v, c32(0x80000000)});
    return flush_in32() ? emit(Op::FFlush32, {v}) : v;
}

Value Lifter::f64(const Inst& inst, uint32_t i) {
    const Value v = v64(inst.src[i]);
    if (!((inst.abs | inst.neg) >> i & 1)) return v;
    Value hi = emit(Op::Hi, {v});
    if (inst.abs >> i & 1) hi = emit(Op::And32, {hi, c32(0x7fffffff)});
    if (inst.neg >> i & 1) hi = emit(Op::Xor32, {hi, c32(0x80000000)});
    return s.pack(emit(Op::Lo, {v}), hi);
}

Value Lifter::f16_bits(const Inst& inst, uint32_t i, bool keep) {
    const bool is_addend = i == addend;
    Value v = is_addend ? raw(inst.dst[0]) : v32(inst, i);
    if (is_addend && (inst.op_sel >> i & 1) && inst.variant != Variant::Sdwa)
        v = emit(Op::Shr32, {v, c32(16)});
    const bool neg = !is_addend && (inst.neg >> i & 1), abs = !is_addend && (inst.abs >> i & 1);
    return f16_modified(v, neg, abs, keep);
}

Value Lifter::f16_modified(Value v, bool neg, bool abs, bool keep) {
    if (abs) v = emit(Op::And32, {v, c32(0x7fff)});
    if (neg) v = emit(Op::Xor32, {v, c32(0x8000)});
    return keep || (options.mode >> 6 & 1) ? v : f16_flush(v);
}

Value Lifter::f16_flush(Value v) {
    return s.select(emit(Op::CmpEq32, {emit(Op::And32, {v, c32(0x7c00)}), c32(0)}),
                    emit(Op::And32, {v, c32(0x8000)}), v);
}

void Lifter::set_v32(const Inst& inst, Value v) {
    const Operand& d = inst.dst[0];
    if (inst.variant == Variant::Sdwa && inst.dst_sel != SdwaSel::Dword) {
        const bool word = inst.dst_sel >= SdwaSel::Word0;
        const uint32_t bits = word ? 16 : 8;
        const uint32_t shift =
            word
                ? (static_cast<uint32_t>(inst.dst_sel) - static_cast<uint32_t>(SdwaSel::Word0)) * 16
                : static_cast<uint32_t>(inst.dst_sel) * 8;
        const uint32_t field = ((1u << bits) - 1) << shift;
        if (inst.dst_unused == 1) {  // the bits above are the field's sign, those below are 0
            v = emit(Op::Sar32, {emit(Op::Shl32, {v, c32(32 - bits)}), c32(32 - bits)});
            v = emit(Op::Shl32, {v, c32(shift)});
        } else {
            if (shift) v = emit(Op::Shl32, {v, c32(shift)});
            v = inst.dst_unused == 2 ? emit(Op::Bitop3, {c32(field), v, s.read(row(d))}, 0xca)
                                     : emit(Op::And32, {v, c32(field)});
        }
    }
    write(d, v);
}

void Lifter::set_v64(const Operand& o, Value v) {
    write(o, emit(Op::Lo, {v}), 0);
    write(o, emit(Op::Hi, {v}), 1);
}

bool Lifter::set_f32(const Inst& inst, Value v) {
    if (inst.omod) return false;
    if (flush_out32()) v = emit(Op::FFlush32, {v});
    if (inst.clamp) {
        if (!(options.mode & machine::mode::dx10_clamp)) return false;
        // NaN and everything not above 0 give +0.
        v = s.select(emit(Op::FCmp32, {v, c32(0)}, 30 /* GT_OQ */), v, c32(0));
        v = s.select(emit(Op::FCmp32, {v, c32(0x3f800000)}, 17 /* LT_OQ */), v, c32(0x3f800000));
    }
    set_v32(inst, v);
    return true;
}

void Lifter::write(const Operand& o, Value v, uint32_t dword) {
    if (!is_vector(o)) return set_s32(o, emit(Op::ReadLane, {v, s.const32(0)}));
    const uint32_t r = row(o, dword);
    if (dpp_valid_ != no_value && !s.is_full(dpp_valid_)) v = s.select(dpp_valid_, v, s.read(r));
    s.write(r, v);
}

// ---- one instruction
// ---------------------------------------------------------------------------------

void Lifter::end(ir::Terminator term) {
    order.end(term);
    block.term = term;
    ended = true;
}

void Lifter::exit(machine::ExitKind kind, uint64_t at, const char* reason, uint32_t detail) {
    end({.kind = ir::Terminator::Kind::Exit,
         .next = at,
         .exit = kind,
         .reason = reason,
         .detail = detail});
}

// Whether the code goes straight to the program's end, but for what jumps there or, if they may be
// left behind, for loops.
static bool ends_program(const Options& options, std::span<const uint32_t> code, bool with_loops) {
    constexpr uint32_t most_bytes = 2048;
    Inst inst;
    for (size_t at = 0; at < std::min<size_t>(code.size(), most_bytes / 4); at += inst.size / 4) {
        if (!decode(*options.target, code.subspan(at), inst)) return false;
        if (inst.op == Opcode::s_endpgm) return true;
        const Effects& e = effects(inst.op);
        const bool goes_on = !leaves_block(e) && !e.messages && !e.opaque;
        if (inst.format != Format::SOPP || goes_on || inst.op == Opcode::s_cbranch_execz) continue;
        if (!with_loops || inst.op != Opcode::s_cbranch_execnz) return false;
    }
    return false;
}

bool Lifter::lanes_known(uint64_t target) {
    if (!affine || in_arm() || !options.exec_full) return false;
    Inst first;
    if (s.is_full(s.exec())) return true;
    if (!decode(*options.target, code_at(target), first) || first.op != Opcode::s_endpgm)
        return false;
    const ir::Inst mask = s.inst(s.exec());
    if (mask.op != Op::MaskOf || !has_first_lanes_only(block, s.exec())) return false;
    if (options.at_edge && affine->guard_no_lanes(mask.args[0])) {
        s.set_mask_bits(machine::exec_lo, s.const64(0));
        next_pc = target;
        return bounds_known = true;
    }
    if (const auto bits = affine->guard_some_lanes(mask.args[0], options.at_edge)) {
        s.set_mask_bits(machine::exec_lo, *bits);
        return bounds_known = true;
    }
    return guard_all_lanes(false);
}

bool Lifter::no_lanes_left() {
    if (!affine || in_arm() || !options.exec_full || options.at_edge) return false;
    const ir::Inst mask = s.inst(s.exec());
    if (mask.op != Op::MaskOf || !ends_program(options, code_at(next_pc), false) ||
        !affine->guard_no_lanes(mask.args[0]))
        return false;
    s.set_mask_bits(machine::exec_lo, s.const64(0));
    return true;
}

bool Lifter::guard_all_lanes(bool likely) {
    const ir::Inst mask = s.inst(s.exec());
    if (mask.op != Op::MaskOf || !has_first_lanes_only(block, s.exec()) ||
        !affine->guard_all_lanes(mask.args[0], likely))
        return false;
    s.set_mask_bits(machine::exec_lo, s.const64(block.whole_exec()));
    return true;
}

Value Lifter::wanted_constant(Value v) {
    uint64_t known;
    if (s.is_const(v, known)) return v;
    const ir::Inst i = s.inst(v), from = i.op == Op::Splat32 ? s.inst(i.args[0]) : i;
    if (from.op == Op::GetS32 && options.now) {
        const uint32_t c = options.now->sgpr[from.imm];
        return s.in_bounds(v, c, c) ? c32(c) : v;
    }
    wants_constants |= i.op == Op::GetV;
    return constant_row(rows ? rows : affine, v);
}

void Lifter::assume_lanes() {
    const Value exec = s.exec();
    if (!affine || in_arm() || !options.exec_full || options.at_edge || exec == assumed_for_)
        return;
    assumed_for_ = exec;
    if (!s.is_full(exec)) guard_all_lanes(true);
}

static bool jumps_by_handler(Opcode op) {
    const Flow flow = effects(op).flow;
    return flow != Flow::Next && flow != Flow::Yield && flow != Flow::End;
}

void Lifter::call(const Inst& inst, bool keep_exec, std::optional<ir::IndexedMove> move) {
    auto handler = options.handler(inst.op);
    if (options.coverage && jumps_by_handler(inst.op)) handler = options.covered_jump;
    if (in_arm()) return abandon_arms();
    order.handled(inst);
    call_function(handler, inst, keep_exec, move);
}

void Lifter::call_function(Handler fn, const Inst& inst, bool keep_exec,
                           std::optional<ir::IndexedMove> move) {
    s.flush();
    store.push_back(inst);
    // A handler is void(Wave&, const Inst&): a reference is passed like a pointer.
    const auto generic = reinterpret_cast<void (*)()>(fn);
    block.calls.push_back({reinterpret_cast<void (*)(machine::Wave&, const void*)>(generic),
                           &store.back(), pc, next_pc, move});
    emit(Op::Call, {}, block.calls.size() - 1);
    s.forget(keep_exec);
}

void Lifter::observe(const Inst& inst) {
    const Handler observer = options.observer ? options.observer(inst.op) : nullptr;
    if (!observer) return;
    if (in_arm()) return abandon_arms();
    call_function(observer, inst, true);
}

// As Coverage::counter.
static Value counter_of_edge(Lifter& l, uint64_t to) {
    const machine::Coverage& coverage = *l.options.coverage;
    const auto [full, divided] = coverage.edge(l.next_pc, to);
    const Value together = l.s.const32(full);
    if (!coverage.splits()) return together;
    const Value exec = l.s.get_mask_bits(machine::exec_lo);
    const auto is = [&](Value mask) { return l.emit(Op::UCmpEq64, {exec, mask}); };
    Value part = l.s.const32(divided);
    if (coverage.lanes) {  // and Coverage::range_of
        const Value less = l.emit(Op::USub32, {l.emit(Op::UPopcnt64, {exec}), l.s.const32(1)});
        const Value range = l.emit(Op::USub32, {l.s.const32(32), l.emit(Op::UClz32, {less})});
        part = l.emit(Op::UAdd32, {part, range});
    }
    const Value first = l.emit(Op::GetS64, {}, machine::Wave::first_exec);
    const Value in_part = l.emit(Op::USelect32, {is(first), together, part});
    return l.emit(Op::USelect32, {is(l.s.const64(0)), together, in_part});
}

void Lifter::cover(uint64_t to) {
    if (options.coverage) emit(Op::Cover, {counter_of_edge(*this, to)});
}

void Lifter::cover(Value cond, uint64_t taken, uint64_t next) {
    if (!options.coverage) return;
    emit(Op::Cover, {emit(Op::USelect32,
                          {cond, counter_of_edge(*this, taken), counter_of_edge(*this, next)})});
}

// EXEC may be written by v_cmpx, by scalar instructions that name it, and by the fork/join family.
static bool may_write_exec(const Inst& inst) {
    for (const Operand& d : inst.dst)
        if (d.is(Operand::Kind::Sgpr) && d.reg + d.dwords > machine::exec_lo) return true;
    const Effects& e = effects(inst.op);
    return e.exec != ExecChange::None || (e.indexed && e.reads_m0);
}

bool Lifter::registers_ok(const Inst& inst) const {
    auto ok = [&](const Operand& o) {
        if (o.is(Operand::Kind::Vgpr)) return uint32_t{o.reg} + o.dwords <= options.vgpr_count;
        if (o.is(Operand::Kind::Agpr)) return uint32_t{o.reg} + o.dwords <= options.agpr_count;
        if (o.is(Operand::Kind::Sgpr) && o.reg < machine::flat_scratch_lo && options.sgpr_count)
            return uint32_t{o.reg} + o.dwords <= options.sgpr_count;
        return true;
    };
    for (const Operand& o : inst.dst)
        if (!ok(o)) return false;
    for (const Operand& o : inst.src)
        if (!ok(o)) return false;
    return true;
}

// Rows above those that values have a place for (State); their instructions are calls.
static bool beyond_rows(const Inst& inst) {
    const auto beyond = [](const Operand& o) {
        return o.is(Operand::Kind::Vgpr) && uint32_t{o.reg} + o.dwords > State::most_rows;
    };
    return std::ranges::any_of(inst.dst, beyond) || std::ranges::any_of(inst.src, beyond);
}

static const std::array<Method, opcode_count>& methods() {
    static const auto table = [] {
        std::array<Method, opcode_count> t{};
        for (auto entries :
             {scalar_entries(), control_entries(), vector_int_entries(), vector_float_entries(),
              vector_half_entries(), vector_packed_entries(), vector_math_entries(),
              vector_math64_entries(), compare_entries(), scalar_float_entries(), cross_entries(),
              indexed_move_entries(), memory_entries(), atomic_entries()})
            for (const Entry& e : entries) t[static_cast<size_t>(e.op)] = e.lift;
        return t;
    }();
    return table;
}

static bool wants_handler(const Options& options, const Inst& inst) {
    return options.by_handler &&
           (options.by_handler(inst.op) || (is_dual(inst) && options.by_handler(inst.op_y)));
}

// VOPD: whichever operation comes second reads its registers as they were before the first.
static void lift_dual(Lifter& l, const Inst& inst) {
    Inst first = dual_half(inst, false), second = dual_half(inst, true);
    if (reads_result(second, first) && !reads_result(first, second)) std::swap(first, second);
    const uint32_t row = Lifter::row(first.dst[0]), dwords = first.dst[0].dwords;
    const bool meets = reads_result(second, first);
    std::array<Value, 2> before{}, result{};
    for (uint32_t d = 0; meets && d < dwords; ++d) before[d] = l.s.read(row + d);
    l.lift(first);
    if (!meets) return l.lift(second);
    for (uint32_t d = 0; d < dwords; ++d) {
        result[d] = l.s.read(row + d);
        l.s.write(row + d, before[d]);
    }
    l.lift(second);
    for (uint32_t d = 0; d < dwords; ++d) l.s.write(row + d, result[d]);
}

void Lifter::lift(const Inst& inst) {
    if (options.mode & machine::mode::vskip && inst.format >= Format::VOP1) return;
    if (inst.illegal_operand)
        return exit(machine::ExitKind::IllegalInstruction, pc,
                    "an operand that the instruction cannot take");
    if (!options.handler(inst.op))
        return exit(machine::ExitKind::Unimplemented, pc, "instruction is not implemented");
    if (const char* refused = refused_operand(options.target->traits, inst))
        return exit(machine::ExitKind::Unimplemented, pc, refused);
    if (!registers_ok(inst))
        return exit(machine::ExitKind::IllegalInstruction, pc,
                    "register beyond the wave's allocation");
    observe(inst);
    const bool by_handler = wants_handler(options, inst) || beyond_rows(inst);
    if (is_dual(inst) && !by_handler) return lift_dual(*this, inst);
    Method method = methods()[static_cast<size_t>(inst.op)];
    const bool vector = inst.format == Format::VOP1 || inst.format == Format::VOP2 ||
                        inst.format == Format::VOPC || inst.format == Format::VOP3 ||
                        inst.format == Format::VOP3P;
    if (vector && (options.mode & machine::mode::gpr_idx_en))
        method = nullptr;  // relative register indexing
    if (by_handler) method = nullptr;
    for (const Operand& o : inst.src)
        if (!operand_supported(o)) method = nullptr;
    if (method && is_dpp(inst.variant) && !begin_dpp(inst)) method = nullptr;
    // Its handler sets the bounds of the LDS.
    if (inst.dst[0].is(Operand::Kind::Sgpr) && inst.dst[0].reg == machine::m0 &&
        options.target->traits.m0_bounds_lds)
        method = nullptr;
    const bool done = method && method(*this, inst);
    current_dpp_ = nullptr;
    dpp_source_ = dpp_valid_ = no_value;
    if (!done) call(inst, !may_write_exec(inst));
}

// ---- blocks
// ----------------------------------------------------------------------------------------------

enum class Attempt {
    Done,
    Again,      // with what has been found out
    NoUse,      // of guards
    Constants,  // in rows may be of use, lines are not
    AllLanes,   // of the wave matter, if it has more than Options::lanes
};
// What a block is guarded for. Loops of one block have their own ways to save work.
enum class Guards { None, ConstantRows /* of loops */, Lines };

// Only these are worth the look at constants' rows in each iteration: scalar code makes their
// addresses, for each lane.
static bool updates_in_all_lanes(const State& s, const ir::Block& block) {
    return std::ranges::any_of(block.insts, [&](const ir::Inst& i) {
        return ir::op_info(i.op).cls == ir::Class::LaneAtomic && s.is_full(ir::mask_of(i));
    });
}

static bool writes_constant_row(const ir::Block& block) {
    return std::ranges::any_of(block.insts, [&](const ir::Inst& guard) {
        if (guard.op != Op::GuardRow) return false;
        const auto row = ir::RowLine::of(guard.imm, guard.aux);
        return row.constant && std::ranges::any_of(block.insts, [&](const ir::Inst& i) {
                   return i.op == Op::SetV && i.imm == row.row;
               });
    });
}

// A loop of one block need not write what neither it nor what is behind it reads. Where the graph
// of branches says otherwise, it does not know which lanes would read.
static void drop_unread(ir::Block& block, LiveSet read) {
    auto unread = [&](const ir::Inst& i) {
        if (i.op == Op::SetV) return !read.on[i.imm] && !read.off[i.imm];
        if (i.op == Op::SetS32 || i.op == Op::SetMask32) return !read.scalars[i.imm];
        if (i.op == Op::SetS64) return !read.scalars[i.imm] && !read.scalars[i.imm + 1];
        return i.op == Op::SetScc && !read.scalars[LiveSet::scc];
    };
    // A register that is read only for its own next value is not read.
    LiveSet before;
    do {
        before = read;
        const std::vector<uint8_t> needed = ir::needed(block, unread);
        for (Value v = 0; v < block.insts.size(); ++v) {
            if (!needed[v]) continue;
            const ir::Inst& i = block.insts[v];
            if (i.op == Op::GetV) read.on.set(i.imm);
            if (i.op == Op::GetScc) read.scalars.set(LiveSet::scc);
            const uint32_t mask_registers = block.wave_size / 32,
                           registers = ir::op_info(i.op).cls == ir::Class::GetS
                                           ? ir::scalar_registers(i.op)
                                       : i.op == Op::GuardOff ? mask_registers
                                                              : 0;
            for (uint32_t n = 0; n < registers; ++n) read.scalars.set(i.imm + n);
            if (i.op == Op::GuardScalar) read.scalars.set(ir::ScalarRange::of(i.imm, i.aux).reg);
        }
    } while (!(before == read));
    ir::eliminate_dead(block, unread);
}

// SGPRs that a loop adds to its rows without changing them: by how much its addresses move. What
// reads lanes' rows ahead (backend_x64/walks.h) wants it to be a constant, and small.
static std::vector<uint32_t> steps(const State& s, const ir::Block& block,
                                   const machine::Wave& now) {
    constexpr int32_t largest = 4096;
    std::vector<uint32_t> out;
    for (const ir::Inst& i : block.insts) {
        if (i.op != Op::Add32 && i.op != Op::AddCarry32) continue;
        for (int n = 0; n < 2; ++n) {
            const ir::Inst& splat = s.inst(i.args[n]);
            if (splat.op != Op::Splat32 || s.inst(i.args[1 - n]).op != Op::GetV) continue;
            const ir::Inst& get = s.inst(splat.args[0]);
            if (get.op != Op::GetS32 || !s.is_as_it_was(get.imm)) continue;
            if (std::abs(int64_t{static_cast<int32_t>(now.sgpr[get.imm])}) > largest) continue;
            if (std::ranges::find(out, get.imm) == out.end())
                out.push_back(static_cast<uint32_t>(get.imm));
        }
    }
    return out;
}

// A block with stores; unless it writes EXEC, all of its accesses are at neighbours or at one
// element: lanes that go along rows of their own do so without lines (backend_x64/row_loop.h).
static bool stores_at_lines(const ir::Block& block, bool writes_exec) {
    bool stores = false;
    for (const ir::Inst& i : block.insts) {
        const ir::Class cls = ir::op_info(i.op).cls;
        if (cls != ir::Class::LaneLoad && cls != ir::Class::LaneStore) continue;
        stores |= cls == ir::Class::LaneStore;
        const ir::Inst& address = block.insts[ir::address_of(i)];
        constexpr uint64_t near = 16;
        const bool line = address.op == ir::Op::Line32 && address.imm <= near;
        if (!writes_exec && !line && address.op != ir::Op::Splat32 && address.op != ir::Op::Splat64)
            return false;
    }
    return stores;
}

static void run_passes(const Options& options, ir::Block& block) {
    struct Pass {
        std::string_view name;
        bool (*run)(ir::Block&);
    };
    static constexpr Pass passes[] = {
        {"broadcast_by_lanes", [](ir::Block& b) { return ir::broadcast_by_lanes(b); }},
        {"split_addresses", [](ir::Block& b) { return ir::split_addresses(b); }},
        {"narrow_pairs", [](ir::Block& b) { return ir::narrow_pairs(b); }},
        {"drop_unread_masks", [](ir::Block& b) { return ir::drop_unread_masks(b); }}};
    if (options.passed) options.passed("lifted", block);
    ir::eliminate_dead(block);
    if (options.passed) options.passed("eliminate_dead", block);
    for (const Pass& pass : passes) {
        if (!pass.run(block)) continue;
        ir::eliminate_dead(block);
        if (options.passed) options.passed(pass.name, block);
    }
}

// Wave::vgpr_msb in a block. Compilers set it for a few instructions each: the wave gets it only
// where somebody else may ask.
class VgprMsb {
public:
    explicit VgprMsb(uint8_t at_entry) : now_(at_entry), of_wave_(at_entry) {}
    uint8_t now() const { return now_; }
    // In front of `inst`, whose registers get their numbers.
    void apply(Lifter& l, Inst& inst) {
        const Effects& e = effects(inst.op);
        add_vgpr_msb(inst, now_);
        if (inst.op == Opcode::s_set_vgpr_msb) {
            now_ = next_vgpr_msb(inst, now_, l.options.target->traits);
            setter_ = inst;
        } else if (leaves_block(e) || e.reads_mode || e.writes_mode || e.opaque) {
            tell_wave(l);
        }
    }
    void tell_wave(Lifter& l) {
        if (now_ == of_wave_) return;
        l.call(setter_, true);
        of_wave_ = now_;
    }

private:
    uint8_t now_, of_wave_;
    Inst setter_;
};

static Attempt lift_once(const Options& options, uint64_t pc, const Fetch& fetch, InstStore& store,
                         Findings& findings, Guards guards, ir::Block& block) {
    block.pc = block.begin_pc = block.end_pc = pc;
    block.exec_full = options.exec_full;
    block.wave_size = options.target->traits.wave_size;
    block.lanes = options.exec_full ? std::min(options.lanes, block.wave_size) : block.wave_size;
    block.guest_pcs.push_back(pc);
    bool guarded = guards == Guards::Lines;
    block.guarded = guarded;
    Lifter l(options, fetch, block, store, findings);
    for (const uint32_t reg : findings.constants) l.s.assume(reg, options.now->sgpr[reg]);
    Affine affine(l.s, block, options.row_lines, options.row_sums, options.now, options.read_memory,
                  options.vector_lanes, options.next);
    if (guarded) l.affine = &affine;
    if (guards == Guards::ConstantRows) l.rows = &affine;
    Inst inst;
    l.next_pc = pc;
    VgprMsb vgpr_msb(options.names.vgpr_msb);
    while (!l.ended) {
        l.pc = l.next_pc;
        l.end_arms();
        if (block.guest_count) block.guest_pcs.push_back(l.pc);
        const std::span<const uint32_t> code = l.code_at(l.pc);
        if (block.guest_count && (block.guest_count >= options.max_instructions || code.empty() ||
                                  l.pc == options.end_before)) {
            // Too long, the end of the readable code, or wanted: goes on in a block of its own.
            vgpr_msb.tell_wave(l);
            l.end({.kind = ir::Terminator::Kind::Jump, .target = l.pc});
        } else if (code.empty()) {
            l.exit(machine::ExitKind::MemoryFault, l.pc, "no executable memory");
        } else if (!decode(*options.target, code, inst)) {
            l.exit(machine::ExitKind::IllegalInstruction, l.pc,
                   "the target has no such instruction");
        } else {
            l.next_pc = l.pc + inst.size;
            ++block.guest_count;
            block.begin_pc = std::min(block.begin_pc, l.pc);
            block.end_pc = std::max(block.end_pc, l.next_pc);
            vgpr_msb.apply(l, inst);
            l.lift(inst);
            if (l.in_arm()) l.check_arms();
            l.assume_lanes();
            if (!l.keeps_lanes()) return Attempt::AllLanes;
        }
        if (l.ended && l.in_arm()) l.abandon_arms();
        if (l.abandoned()) return Attempt::Again;
        // A call writes registers.
        if (guards != Guards::None && (!block.calls.empty() || block.mode_changed))
            return Attempt::NoUse;
    }
    block.mode_changed |= vgpr_msb.now() != options.names.vgpr_msb;
    if (block.calls.empty()) l.s.leave_exec_as_it_was();
    const bool loop = block.term.target == pc || block.term.next == pc;
    if (loop) l.order.settle_loop(block);
    // Loops that run all chunks in each iteration, as their stores want it, gain from lines as
    // other blocks do: guards are tested in each iteration, which leaves the rows with known
    // shapes.
    const bool keeps_lines = loop && guarded && affine.profit() && !l.wants_constants &&
                             block.exec_full && stores_at_lines(block, l.s.exec_written());
    if (loop && !keeps_lines && options.may_guard && options.now && findings.constants.empty() &&
        block.calls.empty() && std::ranges::any_of(block.insts, [](const ir::Inst& i) {
            return i.op == Op::LoadGlobal;
        })) {
        findings.constants = steps(l.s, block, *options.now);
        if (!findings.constants.empty()) return Attempt::Again;
    }
    if (loop && l.wants_constants && guards == Guards::Lines) return Attempt::Constants;
    if (guarded && options.at_edge && !l.bounds_known) return Attempt::NoUse;
    if (guarded && (!affine.profit() || (loop && !keeps_lines))) {
        if (loop && block.exec_full && updates_in_all_lanes(l.s, block)) return Attempt::Constants;
        if (affine.relied_on()) return l.wants_constants ? Attempt::Constants : Attempt::NoUse;
        guarded = false;
        // For scalars in bounds, perhaps.
        block.guarded =
            std::ranges::any_of(block.insts, [](const ir::Inst& i) { return ir::is_guard(i.op); });
    }
    if (affine.has_constant_rows()) {
        if (!l.wants_constants && (!loop || !updates_in_all_lanes(l.s, block)))
            return Attempt::NoUse;
        block.guarded = true;
    }
    block.lanes_apart = guarded && affine.guard_lanes_apart(options.address_mask);
    std::optional<LiveSet> after;
    if (options.liveness && !(options.mode & machine::mode::changes_vector_code) &&
        !block.mode_changed)
        after = options.liveness->after(block.term);
    std::optional<LiveSet> behind;  // a loop
    const ir::Terminator& t = block.term;
    if (options.may_guard && options.lane_masks && t.kind == ir::Terminator::Kind::Branch &&
        (t.target == pc) != (t.next == pc) && block.calls.empty()) {
        behind = after ? options.liveness->at(t.target == pc ? t.next : t.target) : LiveSet::all();
        LoopMasks(l.s, block.term, *behind).simplify();
    }
    l.s.flush_rows(
        after ? &*after : nullptr,
        [&](Value v) {
            if (guarded) affine.will_write(v);
        },
        [&](Value v) {
            return guarded ? affine.written(v) : State::Written{v, 0};
        });
    if (guarded) {
        affine.finish();
        block.next = affine.next();
    }
    if (affine.has_constant_rows() && writes_constant_row(block)) return Attempt::NoUse;
    const bool last = block.term.kind == ir::Terminator::Kind::Exit &&
                      block.term.exit == machine::ExitKind::EndProgram;
    if (last && after && !after->scalars[machine::exec_lo]) l.s.drop_exec();
    l.s.flush_scalars(after ? &*after : nullptr);
    block.exec_changed = l.s.exec_written();
    run_passes(options, block);
    if (behind) drop_unread(block, *behind);
    if (!l.concerns_first_lanes()) return Attempt::AllLanes;
    if (block.next.waves) block.next = next_of_lanes(block);
    return Attempt::Done;
}

ir::Block lift_block(const Options& asked, uint64_t pc, const Fetch& fetch, InstStore& store) {
    Findings findings;
    const size_t stored = store.size();
    Options options = asked;
    const bool begins = pc % machine::program_alignment == 0;
    if (options.next.waves && !ends_program(options, fetch(pc), begins)) options.next = {};
    for (Guards guards = options.row_lines ? Guards::Lines : Guards::None;;) {
        ir::Block block;
        const Attempt attempt = lift_once(options, pc, fetch, store, findings, guards, block);
        if (attempt == Attempt::Done) {
            // Guards for waves that have to be looked at one by one after all would ask too much.
            const machine::NextWaves& next = block.next;
            if (!block.guarded ||
                (next.waves == options.next.waves && next.group_sgpr == options.next.group_sgpr))
                return block;
            if (next.waves > 1)
                options.next.group_sgpr = -1;
            else
                options.next = {};
            findings.no_arms.clear();
            store.resize(stored);
            continue;
        }
        if (attempt == Attempt::AllLanes) {
            options.exec_full = false;
            options.lanes = options.target->traits.wave_size;
            options.next = {};
            findings.no_arms.clear();
        } else if (attempt != Attempt::Again) {
            guards = attempt == Attempt::Constants ? Guards::ConstantRows : Guards::None;
            findings.no_arms.clear();
        }
        store.resize(stored);
    }
}

}  // namespace wj::lift
