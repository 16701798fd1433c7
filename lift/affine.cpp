#include "lift/affine.h"

#include <bit>

#include "machine/wave.h"

namespace wj::lift {

using Line = Affine::Line;

namespace {

constexpr int64_t last_lane = machine::lanes - 1;
// Wider strides are no use: nobody's neighbours are so far apart.
constexpr int64_t most32 = int64_t{1} << 24, most64 = int64_t{1} << 57;

// The scalar operation that does in a uniform value what the lane operation does in each lane.
Op uniform_of(Op op) {
    switch (op) {
        case Op::And32:
            return Op::UAnd32;
        case Op::Or32:
            return Op::UOr32;
        case Op::Xor32:
            return Op::UXor32;
        case Op::Mul32:
            return Op::UMul32;
        case Op::MulHiU32:
            return Op::UMulHiU32;
        case Op::MulHiS32:
            return Op::UMulHiS32;
        case Op::Shl32:
            return Op::UShl32;
        case Op::Shr32:
            return Op::UShr32;
        case Op::Sar32:
            return Op::USar32;
        case Op::MinU32:
            return Op::UMinU32;
        case Op::MaxU32:
            return Op::UMaxU32;
        case Op::MinS32:
            return Op::UMinS32;
        case Op::MaxS32:
            return Op::UMaxS32;
        case Op::CmpEq32:
            return Op::UCmpEq32;
        case Op::CmpNe32:
            return Op::UCmpNe32;
        case Op::CmpLtU32:
            return Op::UCmpLtU32;
        case Op::CmpLeU32:
            return Op::UCmpLeU32;
        case Op::CmpLtS32:
            return Op::UCmpLtS32;
        case Op::CmpLeS32:
            return Op::UCmpLeS32;
        case Op::Shl64:
            return Op::UShl64;
        case Op::Shr64:
            return Op::UShr64;
        case Op::Sar64:
            return Op::USar64;
        default:
            return Op::count_;
    }
}

}  // namespace

std::optional<uint64_t> Affine::constant(const Line& line) const {
    uint64_t c;
    if (line.stride || !s_.is_const(line.base, c)) return {};
    return c;
}

// Known at the block's beginning: made of scalar registers and of memory that nothing has been
// stored to, so that the scheduler puts it into the first segment.
bool Affine::early(Value v) {
    for (Value n = static_cast<Value>(early_.size()); n < block_.insts.size(); ++n) {
        const ir::Inst& i = block_.insts[n];
        bool known = false;
        switch (ir::op_info(i.op).cls) {
            case ir::Class::GetS:
                known = true;
                break;
            case ir::Class::ULoad:
                known = !stored_ && early_[i.args[0]];
                break;
            case ir::Class::Uniform:
                known = true;
                for (Value a : i.args) known &= a == no_value || early_[a];
                break;
            case ir::Class::LaneStore:
            case ir::Class::LaneAtomic:
            case ir::Class::Call:
                stored_ = true;
                break;
            default:
                break;
        }
        early_.push_back(known);
    }
    return early_[v];
}

bool Affine::guard_all_lanes(Value bits, bool likely) {
    const auto known = all_lanes_.find(bits);
    const Value condition = known != all_lanes_.end()
                                ? known->second
                                : s_.emit(Op::UCmpEq64, {bits, s_.const64(~0ull)});
    const auto now = now_ ? now_(block_, condition) : std::nullopt;
    return now.value_or(!likely) && guard(condition);
}

bool Affine::guard(Value condition) {
    uint64_t c;
    if (s_.is_const(condition, c)) return c;
    if (!early(condition)) return false;
    s_.emit(Op::Guard, {condition});
    return true;
}

void Affine::commit(const Found& f) {
    for (Value v : f.from) commit(v);
    for (Value v : f.needs) guard(v);
}

void Affine::commit(Value v) {
    Found& f = found_.at(v);
    if (f.committed) return;
    f.committed = true;
    commit(f);
}

const Affine::Found& Affine::find(Value v) {
    if (const auto it = found_.find(v); it != found_.end()) return it->second;
    Found f;
    f.line = block_.type(v) == ir::Type::V64 ? compute64(v, f) : compute(v, f);
    if (f.line && std::abs(f.line->stride) > (block_.type(v) == ir::Type::V64 ? most64 : most32))
        f.line.reset();
    return found_.emplace(v, std::move(f)).first->second;
}

std::optional<Line> Affine::part(Value v, Found& f) {
    const Found& of = find(v);
    if (of.line) f.from.push_back(v);
    return of.line;
}

std::optional<Line> Affine::address(Value v, uint32_t bytes, bool in_order) {
    Found f;
    const auto l = part(v, f);
    if (!l || (l->stride && l->stride != bytes) || (in_order && !no_wrap(*l, f))) return {};
    commit(f);
    ++profit_;
    return l;
}

Value Affine::as_operand(const Line& line) {
    if (!line.stride) return s_.splat(line.base);
    return s_.emit(Op::Line32, {line.base}, static_cast<uint64_t>(line.stride));
}

// The line's values, taken as unsigned, do not wrap around and do not exceed `limit`.
bool Affine::at_most(const Line& line, uint32_t limit, Found& f) {
    if (line.stride < 0 || last_lane * line.stride > int64_t{limit}) return false;
    const auto bound = static_cast<uint32_t>(limit - last_lane * line.stride);
    uint64_t c;
    if (s_.is_const(line.base, c)) return c <= bound;
    if (bound == ~0u) return true;
    const Value condition = s_.emit(Op::UCmpLeU32, {line.base, s_.const32(bound)});
    if (!early(condition)) return false;
    f.needs.push_back(condition);
    return true;
}

// The carry in all lanes (0 or 1) of an addition of 32 bits, or no_value.
Value Affine::carry(Value mask, Found& f) {
    const ir::Inst m = block_.insts[mask];
    uint64_t c;
    if (m.op == Op::MaskOf && s_.is_const(m.args[0], c) && (c == 0 || c == ~0ull))
        return s_.const32(c & 1);
    if (m.op != Op::CmpLtU32) return no_value;
    const Value sum = m.args[0], addend = m.args[1];
    if (sum == addend) return s_.const32(0);
    const ir::Inst a = block_.insts[sum];
    if (a.op != Op::Add32 || (a.args[0] != addend && a.args[1] != addend)) return no_value;
    const auto x = part(addend, f), y = part(a.args[a.args[0] == addend], f), z = part(sum, f);
    if (!x || !y || !z || !no_wrap(*x, f) || !no_wrap(*y, f) || !no_wrap(*z, f)) return no_value;
    return s_.emit(Op::UCmpLtU32, {z->base, x->base});
}

// Low bits of a uniform value that are known to be 0.
uint32_t Affine::zeros(Value v) const {
    const ir::Inst& i = block_.insts[v];
    uint64_t c;
    if (i.op == Op::Const32) return static_cast<uint32_t>(std::countr_zero(i.imm | 1ull << 32));
    if (i.op == Op::UShl32 && s_.is_const(i.args[1], c)) return static_cast<uint32_t>(c & 31);
    if (i.op == Op::UAnd32)
        for (Value a : {i.args[0], i.args[1]})
            if (s_.is_const(a, c)) return static_cast<uint32_t>(std::countr_zero(c | 1ull << 32));
    return 0;
}

// x | y, where no lane has a bit in both: x in all lanes the same.
std::optional<Line> Affine::either(const Line& x, const Line& y, Found& f) {
    const Line sum{both(Op::UOr32, x, y), y.stride};
    if (const uint32_t below = zeros(x.base);
        below && at_most(y, static_cast<uint32_t>((1ull << below) - 1), f))
        return sum;
    // A constant below the line's steps.
    const auto c = constant(x);
    const auto step = static_cast<uint32_t>(y.stride & -y.stride);
    if (!c || *c >= step) return {};
    const Value aligned =
        s_.emit(Op::UCmpEq32, {s_.emit(Op::UAnd32, {y.base, s_.const32(step - 1)}), s_.const32(0)});
    uint64_t known;
    if (s_.is_const(aligned, known)) return known ? std::optional(sum) : std::nullopt;
    if (!early(aligned)) return {};
    f.needs.push_back(aligned);
    return sum;
}

std::optional<Line> Affine::compute(Value v, Found& f) {
    const ir::Inst i = block_.insts[v];  // a copy: the vector grows
    const auto& a = i.args;
    switch (i.op) {
        case Op::GetV: {
            const auto row = static_cast<uint32_t>(i.imm);
            const auto stride = row < 256 ? rows_(row) : std::nullopt;
            if (!stride) return {};
            return Line{s_.emit(Op::RowBase, {}, row, *stride), *stride};
        }
        case Op::LaneId:
            return Line{s_.const32(0), 1};
        case Op::Splat32:
            return Line{a[0], 0};
        case Op::Lo: {
            const auto x = part(a[0], f);
            if (!x) return {};
            return Line{s_.emit(Op::ULo, {x->base}), static_cast<int32_t>(x->stride)};
        }
        case Op::Hi: {
            const auto x = part(a[0], f);
            if (!x) return {};
            const Value high = s_.emit(Op::UHi, {x->base});
            if (!(x->stride & 0xffffffff)) return Line{high, x->stride >> 32};
            if (x->stride > most32 || !no_wrap({s_.emit(Op::ULo, {x->base}), x->stride}, f))
                return {};
            return Line{high, 0};
        }
        case Op::AddCarry32: {
            const auto x = part(a[0], f), y = part(a[1], f);
            if (!x || !y) return {};
            const Value c = carry(a[2], f);
            if (c == no_value) return {};
            return Line{s_.emit(Op::UAdd32, {both(Op::UAdd32, *x, *y), c}), x->stride + y->stride};
        }
        case Op::Add32:
        case Op::Sub32:
        case Op::Mul32:
        case Op::MulHiU32:
        case Op::MulHiS32:
        case Op::And32:
        case Op::Or32:
        case Op::Xor32:
        case Op::Shl32:
        case Op::Shr32:
        case Op::Sar32:
        case Op::MinU32:
        case Op::MaxU32:
        case Op::MinS32:
        case Op::MaxS32:
            break;
        default:
            return {};
    }
    auto x = part(a[0], f), y = part(a[1], f);
    if (!x || !y) return {};
    if (i.op == Op::Add32) return Line{both(Op::UAdd32, *x, *y), x->stride + y->stride};
    if (i.op == Op::Sub32) return Line{both(Op::USub32, *x, *y), x->stride - y->stride};
    if (!x->stride && !y->stride) return Line{both(uniform_of(i.op), *x, *y), 0};
    if (i.op != Op::Shl32 && i.op != Op::Shr32 && i.op != Op::Sar32 && x->stride == 0)
        std::swap(x, y);
    if (i.op == Op::Or32 || i.op == Op::Xor32) return y->stride ? std::nullopt : either(*y, *x, f);
    const auto c = constant(*y);
    if (!c) return {};
    const auto n = static_cast<uint32_t>(*c & 31);
    switch (i.op) {
        case Op::Mul32:
            if (*c > static_cast<uint64_t>(most32)) return {};
            return Line{both(Op::UMul32, *x, *y), x->stride * static_cast<int64_t>(*c)};
        case Op::Shl32:
            if (n > 24) return {};
            return Line{both(Op::UShl32, *x, *y), x->stride << n};
        case Op::And32:  // all its bits
            if ((*c & (*c + 1)) || !at_most(*x, static_cast<uint32_t>(*c), f)) return {};
            return x;
        case Op::Shr32:
        case Op::Sar32: {
            if (i.op == Op::Sar32 && n == 31 && at_most(*x, 0x7fffffff, f))
                return Line{s_.const32(0), 0};
            // The bits that are shifted out change, the others do not.
            const uint32_t low = (1u << n) - 1;
            if (!at_most({s_.emit(Op::UAnd32, {x->base, s_.const32(low)}), x->stride}, low, f))
                return {};
            return Line{both(uniform_of(i.op), *x, *y), 0};
        }
        default:
            return {};
    }
}

// lo and hi as a sum of pairs: the second addition takes the carry of the first.
std::optional<Line> Affine::sum_of_pairs(Value lo, Value hi, Found& f) {
    const ir::Inst l = block_.insts[lo], h = block_.insts[hi];
    if (l.op != Op::Add32 || h.op != Op::AddCarry32) return {};
    const ir::Inst carry = block_.insts[h.args[2]];
    if (carry.op != Op::CmpLtU32 || carry.args[0] != lo ||
        (carry.args[1] != l.args[0] && carry.args[1] != l.args[1]))
        return {};
    // Which upper half belongs to which lower one does not matter, but to who may find a line.
    for (const bool crossed : {false, true}) {
        const auto x = part(s_.pack(l.args[0], h.args[crossed]), f),
                   y = part(s_.pack(l.args[1], h.args[!crossed]), f);
        if (x && y) return Line{both(Op::UAdd64, *x, *y), x->stride + y->stride};
    }
    return {};
}

std::optional<Line> Affine::compute64(Value v, Found& f) {
    const ir::Inst i = block_.insts[v];
    const auto& a = i.args;
    if (i.op == Op::Pack64)
        if (const auto sum = sum_of_pairs(a[0], a[1], f)) return sum;
    switch (i.op) {
        case Op::Splat64:
            return Line{a[0], 0};
        case Op::Pack64:
        case Op::Add64:
        case Op::Sub64:
        case Op::Shl64:
        case Op::Shr64:
        case Op::Sar64:
        case Op::MulWideU32:
        case Op::MulWideS32:
            break;
        default:
            return {};
    }
    auto x = part(a[0], f), y = part(a[1], f);
    if (!x || !y) return {};
    const auto c = constant(*y);
    switch (i.op) {
        case Op::Pack64: {
            const Value base = both(Op::UPack64, *x, *y);
            if (!x->stride) return Line{base, y->stride * (int64_t{1} << 32)};
            if (y->stride || !no_wrap(*x, f)) return {};
            return Line{base, x->stride};
        }
        case Op::Add64:
            return Line{both(Op::UAdd64, *x, *y), x->stride + y->stride};
        case Op::Sub64:
            return Line{both(Op::USub64, *x, *y), x->stride - y->stride};
        case Op::MulWideU32:
        case Op::MulWideS32: {
            const bool is_signed = i.op == Op::MulWideS32;
            if (!x->stride && !y->stride && is_signed)
                return Line{
                    s_.emit(Op::UPack64, {both(Op::UMul32, *x, *y), both(Op::UMulHiS32, *x, *y)}),
                    0};
            if (!x->stride && !y->stride) return Line{both(Op::UMulWideU32, *x, *y), 0};
            if (!x->stride) std::swap(x, y);
            const auto factor = constant(*y);
            if (!factor || *factor > static_cast<uint64_t>(most32) ||
                !at_most(*x, is_signed ? 0x7fffffff : ~0u, f))
                return {};
            return Line{both(Op::UMulWideU32, *x, *y), x->stride * static_cast<int64_t>(*factor)};
        }
        default:
            break;
    }
    // Shifts
    if (!x->stride && !y->stride) return Line{both(uniform_of(i.op), *x, *y), 0};
    if (!c) return {};
    const auto n = static_cast<uint32_t>(*c & 63);
    if (i.op == Op::Shl64) {
        if (std::abs(x->stride) > most64 >> n) return {};
        return Line{both(Op::UShl64, *x, *y), x->stride * (int64_t{1} << n)};
    }
    // An index in the upper half, shifted down to a scaled 64-bit one.
    if (n > 32 || (x->stride & 0xffffffff) ||
        !at_most({s_.emit(Op::UHi, {x->base}), x->stride >> 32},
                 i.op == Op::Sar64 ? 0x7fffffff : ~0u, f))
        return {};
    return Line{both(uniform_of(i.op), *x, *y), x->stride >> n};
}

std::optional<Value> Affine::bits(Value mask) {
    const ir::Inst i = block_.insts[mask];
    const Op op = uniform_of(i.op);
    if (op < Op::UCmpEq32 || op > Op::UCmpLeS32) return {};
    Found f;
    auto x = part(i.args[0], f), y = part(i.args[1], f);
    if (!x || !y) return {};
    const Value none = s_.const64(0), all = s_.const64(~0ull);
    if (!x->stride && !y->stride) {
        commit(f);
        return s_.emit(Op::USelect64, {both(op, *x, *y), all, none});
    }
    const bool swapped = !x->stride;
    if (swapped) std::swap(x, y);
    if (y->stride || x->stride <= 0 || !std::has_single_bit(static_cast<uint64_t>(x->stride)))
        return {};
    // From here on: lanes l with `base + stride * l` in relation to n.
    const Value base = x->base, n = y->base, distance = s_.emit(Op::USub32, {n, base});
    if (op == Op::UCmpEq32 || op == Op::UCmpNe32) {
        if (x->stride != 1) return {};
        commit(f);
        const Value one =
            s_.emit(Op::USelect64, {s_.emit(Op::UCmpLtU32, {distance, s_.const32(machine::lanes)}),
                                    s_.emit(Op::UShl64, {s_.const64(1), distance}), none});
        return op == Op::UCmpEq32 ? one : s_.emit(Op::UXor64, {one, all});
    }
    const bool is_signed = op == Op::UCmpLtS32 || op == Op::UCmpLeS32;
    const bool less = op == Op::UCmpLtU32 || op == Op::UCmpLtS32;
    if (!at_most(*x, is_signed ? 0x7fffffff : ~0u, f)) return {};
    commit(f);
    // x < n, x <= n; n < x and n <= x are what x <= n and x < n are not.
    const bool strict = less != swapped;
    const auto shift = static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(x->stride)));
    const Value any = s_.emit(strict ? (is_signed ? Op::UCmpLtS32 : Op::UCmpLtU32)
                                     : (is_signed ? Op::UCmpLeS32 : Op::UCmpLeU32),
                              {base, n});
    // The last lane that belongs, if any does.
    const Value room = strict ? s_.emit(Op::USub32, {distance, s_.const32(1)}) : distance;
    const Value last = s_.emit(Op::UShr32, {room, s_.const32(shift)});
    const Value count = s_.emit(
        Op::UAdd32, {s_.emit(Op::UMinU32, {last, s_.const32(machine::lanes - 1)}), s_.const32(1)});
    const Value lanes = s_.emit(Op::USelect64, {any, s_.emit(Op::ULowBits, {count}), none});
    if (!swapped) {
        const auto furthest = s_.const32(static_cast<uint32_t>(last_lane * x->stride));
        all_lanes_[lanes] =
            s_.emit(block_.insts[any].op, {s_.emit(Op::UAdd32, {base, furthest}), n});
    }
    return swapped ? s_.emit(Op::UXor64, {lanes, all}) : lanes;
}

bool Affine::guard_lanes_apart() {
    struct Access {
        Value base;
        uint64_t offset, bytes;
        bool store;
    };
    std::vector<Access> accesses;
    for (const ir::Inst& i : block_.insts) {
        const ir::Class cls = ir::op_info(i.op).cls;
        const bool store = cls == ir::Class::LaneStore;
        if (cls == ir::Class::LaneAtomic) return false;
        if ((!store && cls != ir::Class::LaneLoad) || ir::has_own_space(i.op)) continue;
        const uint32_t bytes = ir::access_bytes(ir::aux_access(i.aux), ir::aux_dwords(i.aux));
        if (!ir::has_scalar_base(i.op) || block_.insts[i.args[1]].op != Op::Line32 ||
            block_.insts[i.args[1]].imm != bytes)
            return false;
        accesses.push_back({i.args[0], i.imm, bytes, store});
    }
    struct Pair {
        Access first, second;
    };
    std::vector<Pair> pairs;
    for (size_t a = 0; a < accesses.size(); ++a)
        for (size_t b = a + 1; b < accesses.size(); ++b)
            if (accesses[a].store || accesses[b].store) pairs.push_back({accesses[a], accesses[b]});
    constexpr size_t most_pairs = 6;
    if (pairs.size() > most_pairs) return false;
    for (const auto& [a, b] : pairs) {
        // How far the second one starts behind the first one.
        const Value distance = s_.emit(
            Op::USub64, {s_.emit(Op::UAdd64, {b.base, s_.const64(b.offset - a.offset)}), a.base});
        // Equal elements may start at the same place, or the second one's in front.
        const uint64_t extent = machine::lanes * a.bytes,
                       in_front = a.bytes == b.bytes ? 0 : machine::lanes * b.bytes;
        if (!guard(s_.emit(Op::UCmpLtU64,
                           {s_.const64(extent + in_front - 2),
                            s_.emit(Op::UAdd64, {distance, s_.const64(in_front - 1)})})))
            return false;
    }
    return true;
}

}  // namespace wj::lift
