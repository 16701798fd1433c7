#include "ir/evaluate.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ir/buffer.h"
#include "ir/entry_values.h"
#include "ir/evaluate_memory.h"
#include "ir/pure.h"

namespace wj::ir {

using machine::Wave;

// Whether the wave is one that the block is for, before it has done anything.
static bool guards_hold(const Block& block, Wave& w) {
    const ReadMemory read = [&w](uint64_t address, uint32_t bytes) {
        uint64_t x = 0;
        std::memcpy(&x, reinterpret_cast<const void*>(w.ctx->reach(address)), bytes);
        return std::optional(x);
    };
    EntryValues now(w, read);
    const auto holds = [&](const Inst& i) {
        switch (i.op) {
            case Op::GuardRow: {
                const auto line = RowLine::of(i.imm, i.aux);
                const uint32_t* v = w.row(line.row);
                if (line.constant && v[0] != line.first) return false;
                const uint32_t step =
                    line.any_step ? v[line.width % machine::lanes] - v[0] : line.step;
                for (uint32_t l = 0; l < block.lanes; ++l)
                    if (v[l] != v[0] + line.stride * (l % line.width) + step * (l / line.width))
                        return false;
                return true;
            }
            case Op::Guard:
                return now.of(block, i.args[0]).value_or(0) != 0;
            case Op::GuardScalar: {
                const auto range = ScalarRange::of(i.imm, i.aux);
                return range.holds(w.sgpr[range.reg]);
            }
            case Op::GuardLds:
                return w.lds_size >= i.imm;
            case Op::GuardOff:
                return !(w.mask(static_cast<uint32_t>(i.imm)) & w.exec());
            default:
                return true;
        }
    };
    return std::ranges::all_of(block.insts, holds);
}

uint64_t evaluate(const Block& block, Wave& w) {
    if (!guards_hold(block, w)) return guard_failed;
    const uint32_t lanes = block.lanes;
    Cells v(block.insts.size());
    auto row = [&](uint64_t r) {
        return r < 256 ? w.row(static_cast<uint32_t>(r)) : w.arow(static_cast<uint32_t>(r - 256));
    };
    for (Value n = 0; n < block.insts.size(); ++n) {
        const Inst& i = block.insts[n];
        Cell& r = v[n];
        auto arg = [&](int a) -> Cell& { return v[i.args[static_cast<size_t>(a)]]; };
        const auto reg = static_cast<uint32_t>(i.imm);
        const Class cls = op_info(i.op).cls;
        if (cls == Class::LaneLoad || cls == Class::LaneStore) {
            evaluate_memory(i, w, v, r);
            continue;
        }
        if (cls == Class::LaneAtomic) {
            evaluate_atomic(i, w, v, r);
            continue;
        }
        switch (i.op) {
            case Op::Const32:
                r.u() = static_cast<uint32_t>(i.imm);
                break;
            case Op::Const64:
            case Op::CodeAddress:
                r.u() = i.imm;
                break;
            case Op::GetS32:
                r.u() = w.sgpr[reg];
                break;
            case Op::GetS64:
                r.u() = w.s64(reg);
                break;
            case Op::GetMask32:
                r.u() = w.sgpr[reg];
                break;
            case Op::BufferBase:
                r.u() = buffer_base(w, arg(0).u(), arg(1).u(), static_cast<uint32_t>(arg(2).u()));
                break;
            case Op::BufferLimit:
                r.u() = buffer_limit(arg(0).u(), arg(1).u(), static_cast<uint32_t>(arg(2).u()));
                break;
            case Op::SetS32:
                w.sgpr[reg] = static_cast<uint32_t>(arg(0).u());
                break;
            case Op::SetS64:
                w.set_s64(reg, arg(0).u());
                break;
            case Op::SetMask32:
                w.sgpr[reg] = static_cast<uint32_t>(arg(0).u());
                break;
            case Op::GetScc:
                r.u() = w.scc;
                break;
            case Op::SetScc:
                w.scc = static_cast<uint32_t>(arg(0).u());
                break;
            case Op::ULoad32: {
                uint32_t x;
                std::memcpy(&x, reinterpret_cast<const void*>(w.ctx->reach(arg(0).u() + i.imm)), 4);
                r.u() = x;
                break;
            }
            case Op::ULoad64:
                std::memcpy(&r.u(), reinterpret_cast<const void*>(w.ctx->reach(arg(0).u() + i.imm)),
                            8);
                break;
            case Op::MaskOf:
                for (uint32_t l = 0; l < lanes; ++l) r.e[0][l] = 0;
                {
                    const uint64_t m = arg(0).u();
                    for (uint32_t l = 0; l < lanes; ++l) r.e[0][l] = m >> l & 1;
                }
                break;
            case Op::BitsOf: {
                uint64_t m = 0;
                for (uint32_t l = 0; l < lanes; ++l) m |= (arg(0).e[0][l] & 1) << l;
                r.u() = m;
                break;
            }
            case Op::Line32:
                for (uint32_t l = 0; l < lanes; ++l)
                    r.e[0][l] = static_cast<uint32_t>(arg(0).u() + i.imm * (l % i.aux) +
                                                      arg(1).u() * (l / i.aux));
                break;
            case Op::ScratchBase:
            case Op::WavesAhead:
                r.u() = i.op == Op::ScratchBase ? w.scratch_base : 0;
                break;
            case Op::RowLane:
                r.u() = row(i.imm)[i.aux];
                break;
            case Op::GoesOn:
            case Op::GuardRow:  // guards_hold()
            case Op::Guard:
            case Op::GuardScalar:
            case Op::GuardLds:
            case Op::GuardOff:
            case Op::Fence:  // of one wave that nobody looks at
            case Op::Cover:
                break;
            case Op::LaneId:
                for (uint32_t l = 0; l < lanes; ++l) r.e[0][l] = l;
                break;
            case Op::Elem:
                r.e[0] = arg(0).e[reg];
                break;
            case Op::GetV:
                for (uint32_t l = 0; l < lanes; ++l) r.e[0][l] = row(i.imm)[l];
                break;
            case Op::SetV:
                for (uint32_t l = 0; l < lanes; ++l)
                    if (arg(1).e[0][l]) row(i.imm)[l] = static_cast<uint32_t>(arg(0).e[0][l]);
                break;
            case Op::ReadLane:
                r.u() = arg(0).e[0][arg(1).u() % block.wave_size];
                break;
            case Op::ReadFirst: {
                uint32_t first = 0;
                for (uint32_t l = lanes; l-- > 0;)
                    if (arg(1).e[0][l]) first = l;
                r.u() = arg(0).e[0][first];
                break;
            }
            case Op::WriteLane:
                r.e[0] = arg(0).e[0];
                r.e[0][arg(2).u() % block.wave_size] = arg(1).u();
                break;
            case Op::BPermute:
            case Op::Swizzle: {
                const bool permute = i.op == Op::BPermute;
                Cell& source = arg(permute ? 1 : 0);
                Cell& mask = arg(permute ? 2 : 1);
                for (uint32_t l = 0; l < lanes; ++l) {
                    const uint32_t number = permute ? (static_cast<uint32_t>(arg(0).e[0][l]) +
                                                       static_cast<uint32_t>(i.imm)) /
                                                          4
                                                    : block.lane_tables[i.imm][l];
                    const uint32_t from = number % block.wave_size;
                    r.e[0][l] = mask.e[0][from] ? source.e[0][from] : 0;
                }
                break;
            }
            case Op::Call: {
                const Call& call = block.calls[i.imm];
                w.pc = call.next_pc;
                if (call.move && call.move->by_mode) w.mode |= machine::mode::gpr_idx_en;
                call.fn(w, call.arg);
                if (w.exit.kind != machine::ExitKind::None) {
                    w.exit.pc = call.pc;
                    return w.pc;
                }
                if (call.move && call.move->by_mode) w.mode &= ~machine::mode::gpr_idx_en;
                break;
            }
            default: {
                const bool uniform = cls == Class::Uniform;
                for (uint32_t l = 0; l < (uniform ? 1 : lanes); ++l) {
                    uint64_t x[3] = {};
                    for (size_t a = 0; a < 3; ++a) {
                        if (i.args[a] == no_value) continue;
                        const Type t = block.type(i.args[a]);
                        x[a] = v[i.args[a]].e[0][t == Type::U32 || t == Type::U64 ? 0 : l];
                    }
                    r.e[0][l] = pure(i, x[0], x[1], x[2]);
                }
                break;
            }
        }
    }
    const Terminator& t = block.term;
    switch (t.kind) {
        case Terminator::Kind::Jump:
            return t.target;
        case Terminator::Kind::Branch:
            return v[t.cond].u() ? t.target : t.next;
        case Terminator::Kind::Indirect:
            return v[t.cond].u();
        case Terminator::Kind::Called:
            return w.pc;
        default:
            w.exit.kind = t.exit;
            return t.next;
    }
}

}  // namespace wj::ir
