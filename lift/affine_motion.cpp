// What is more in the next wave of a work-group, and in the next work-group (machine::NextWaves):
// derivatives of lines' bases, which are made of v0's first lane and of scalars.
#include <bit>
#include <cstdlib>

#include "ir/known.h"
#include "lift/affine.h"

namespace wj::lift {

using Line = Affine::Line;
using Motion = Affine::Motion;

// Of what is made of both bases, whatever is done with them, in 32 bits.
Motion Affine::unmoved(const Line& x, const Line& y) {
    return each(x.next, y.next, [&](Value dx, Value dy) {
        return is_zero(dx) && is_zero(dy) ? number(x.base, 0) : no_value;
    });
}

// Of x & bits, both the same in all lanes, where the bits are all up to one that only the launch
// knows: x goes on as long as it does not begin anew.
Motion Affine::of_masked(const Line& x, const Line& bits, Found& f) {
    const auto by = x.next.wave == no_value ? std::nullopt : constant(x.next.wave);
    if (!by || !is_zero(bits.next.wave)) return {};
    const Value mask = bits.base, part = both(Op::UAnd32, x.base, mask);
    const Value next = both(Op::UAnd32, mask, both(Op::UAdd32, mask, s_.const32(1)));
    if (*by > 0xffff || !need_once(next, 0, f)) return {};
    const Value room = both(Op::USub32, mask, part),
                extent = both(Op::UMul32, s_.emit(Op::WavesAhead, {}), x.next.wave);
    if (!need(both(Op::UCmpLtU32, room, extent), 0, f)) return {};
    return {x.next.wave, no_value};
}

// Of a uniform value.
Motion Affine::of_scalar(Value v, Found& f) {
    constexpr uint32_t most_work = 256;
    if (!next_.waves) return {};
    auto by = [&](By what) {
        work_ = most_work;
        return derivative(v, what, f);
    };
    const Value wave = by(By::Wave);
    return {wave, next_.group_sgpr < 0 ? no_value : by(By::Group)};
}

// Of a uniform value, modulo 2^32 or 2^64.
Value Affine::derivative(Value v, By by, Found& f) {
    if (!work_) return no_value;
    --work_;
    const ir::Inst i = block_.insts[v];  // a copy: the vector grows
    const Value none = number(v, 0);
    if (const auto base = motions_.find(v); base != motions_.end())
        return by == By::Wave ? base->second.wave : base->second.group;
    switch (ir::op_info(i.op).cls) {
        case ir::Class::GetS: {
            const auto group = static_cast<uint64_t>(next_.group_sgpr);
            if (by == By::Wave) return none;
            if (i.op == Op::GetMask32 && i.imm == group) return no_value;
            if (i.op == Op::GetS64 && (i.imm == group || i.imm + 1 == group)) return no_value;
            return i.op == Op::GetS32 && i.imm == group ? s_.const32(1) : none;
        }
        case ir::Class::ULoad:
            return ir::of_scalars(block_, v) && is_zero(derivative(i.args[0], by, f)) ? none
                                                                                      : no_value;
        case ir::Class::Uniform:
            break;
        default:
            return no_value;
    }
    if (i.op == Op::BitsOf || i.op == Op::Guard || i.op == Op::WavesAhead) return no_value;
    if (i.op == Op::RowLane) {
        return by == By::Wave && i.imm == 0 ? s_.const32(next_.ids_step) : none;
    }
    Value d[2] = {no_value, no_value};
    bool all_still = true;
    for (size_t a = 0; a < std::size(i.args) && i.args[a] != no_value; ++a) {
        const Value of = derivative(i.args[a], by, f);
        if (of == no_value) return no_value;
        if (a < 2) d[a] = of;
        all_still &= is_zero(of);
    }
    if (all_still) return none;
    // The dword x in 64 bits. The work-group's number itself does not change its sign; others are
    // to be far from that.
    auto extended = [&](Value x, Value dx) {
        constexpr uint32_t quarter = 1u << 30;
        if (!is_zero(dx) && block_.insts[x].op != Op::GetS32 &&
            (!need(x, quarter - 1, f) || !need(dx, quarter / machine::NextWaves::most, f)))
            return no_value;
        return s_.emit(Op::UPack64, {dx, s_.const32(0)});
    };
    switch (i.op) {
        case Op::UAdd32:
        case Op::USub32:
        case Op::UAdd64:
        case Op::USub64:
            return both(i.op, d[0], d[1]);
        case Op::UMul32:
            for (const int n : {0, 1})
                if (is_zero(d[n])) return both(Op::UMul32, d[!n], i.args[n]);
            return no_value;
        case Op::UMulWideU32:
            for (const int n : {0, 1})
                if (is_zero(d[n]) && extended(i.args[!n], d[!n]) != no_value)
                    return both(Op::UMulWideU32, d[!n], i.args[n]);
            return no_value;
        case Op::UAnd32:  // lower bits that stay, or are not all used
            for (const int n : {0, 1}) {
                const auto bits = constant(i.args[n]);
                if (!bits) continue;
                if (zeros(d[!n]) >= static_cast<uint32_t>(std::bit_width(*bits))) return none;
                const auto c = constant(d[!n]);
                const uint64_t most = c.value_or(~0u) * (next_.waves - 1);
                const bool rises = by == By::Wave && std::has_single_bit(*bits + 1) &&
                                   most <= *bits && need(v, static_cast<uint32_t>(*bits - most), f);
                return rises ? d[!n] : no_value;
            }
            return no_value;
        case Op::UMinU32:
        case Op::UCmpLtU32:
            return by == By::Group && stays(i, d[0], d[1], f) ? none : no_value;
        case Op::UShr32: {
            const auto n = constant(i.args[1]);
            const bool whole = n && zeros(d[0]) >= *n && extended(i.args[0], d[0]) != no_value;
            return whole ? both(Op::UShr32, d[0], i.args[1]) : no_value;
        }
        case Op::UShl32:
        case Op::UShl64:
            return is_zero(d[1]) ? both(i.op, d[0], i.args[1]) : no_value;
        case Op::USar32: {  // a sign
            const bool sign = constant(i.args[1]) == uint64_t{31};
            return sign && extended(i.args[0], d[0]) != no_value ? none : no_value;
        }
        case Op::UZext32:
        case Op::USext32:
            return extended(i.args[0], d[0]);
        case Op::UPack64: {
            const Value low = extended(i.args[0], d[0]);
            return low == no_value
                       ? low
                       : both(Op::UAdd64, low, s_.emit(Op::UPack64, {s_.const32(0), d[1]}));
        }
        case Op::ULo:
            return s_.emit(Op::ULo, {d[0]});
        default:
            return no_value;
    }
}

// Whether a work-group's size, as compilers find it out, is that of the next ones: the lesser one
// of what is left of the grid and the launch's, or one of two numbers as it is among the first so
// many work-groups or not.
bool Affine::stays(const ir::Inst& i, Value dx, Value dy, Found& f) {
    constexpr uint32_t most_step = 1 << 16;
    Value x = i.args[0], y = i.args[1];
    const bool least = i.op == Op::UMinU32;
    if (least && is_zero(dx)) std::swap(x, y), std::swap(dx, dy);
    if (!is_zero(dy)) return false;
    const Value by = least ? both(Op::USub32, s_.const32(0), dx) : dx,
                room = least ? both(Op::USub32, x, y)
                             : both(Op::USub32, both(Op::USub32, y, x), s_.const32(1)),
                ahead = both(Op::UMul32, groups_ahead(), by);
    return (largest(by) <= most_step || need(by, most_step, f)) &&
           need(least ? both(Op::UCmpLtU32, x, y) : both(Op::UCmpLeU32, y, x), 0, f) &&
           need(both(Op::UCmpLtU32, room, ahead), 0, f);
}

// Of the product's base; x's stride and step are multiplied by y, which has none.
Motion Affine::of_product(const Line& x, const Line& y) {
    auto of = [&](Value dx, Value dy) {
        if (is_zero(dy)) return both(Op::UMul32, dx, y.base);
        return x.flat() && is_zero(dx) ? both(Op::UMul32, dy, x.base) : no_value;
    };
    return each(x.next, y.next, of);
}

// Of 64 bits whose lower half stays.
Motion Affine::upper_half(const Motion& m) {
    return each(m, [&](Value d) {
        return is_zero(s_.emit(Op::ULo, {d})) ? s_.emit(Op::UHi, {d}) : no_value;
    });
}

// In 64 bits, of values that do not wrap around (at_most()).
Motion Affine::extended(const Motion& m) {
    return each(m, [&](Value d) {
        if (const auto c = constant(d))
            return s_.const64(static_cast<uint64_t>(int64_t{static_cast<int32_t>(*c)}));
        return s_.emit(Op::USext32, {d});
    });
}

// Whether a work-group's first wave follows the last one of the work-group before it as that one's
// waves follow each other.
bool Affine::follows(const Motion& m, Found& f) {
    if (m.wave == no_value || m.group == no_value) return false;
    const auto c = constant(m.wave);
    if (!c) return false;
    uint64_t waves = *c * next_.waves;
    if (block_.type(m.wave) == ir::Type::U32) waves = static_cast<uint32_t>(waves);
    Value group = m.group;
    if (const auto known = constant(group)) return *known == waves;
    // Most likely the size of a work-group, in bytes: then all ask for the same.
    for (;;) {
        const ir::Inst& i = block_.insts[group];
        const bool shift = i.op == Op::UShl32 || i.op == Op::UShl64;
        const auto n = shift ? constant(i.args[1]) : std::nullopt;
        if (n && *n < 32 && waves % (uint64_t{1} << *n) == 0)
            waves >>= *n, group = i.args[0];
        else if (i.op == Op::ULo || (i.op == Op::UZext32 && waves <= ~0u))
            group = i.args[0];
        else
            break;
    }
    const bool wide = block_.type(group) == ir::Type::U64;
    const Value as_far = number(group, static_cast<int64_t>(waves));
    return need(both(wide ? Op::UCmpNe64 : Op::UXor32, group, as_far), 0, f);
}

// Work-groups that begin with what this wave has found out, at most: those of WavesAhead, which are
// counted from a work-group's first wave on.
Value Affine::groups_ahead() {
    const auto shift = static_cast<uint32_t>(std::bit_width(next_.waves) - 1);
    return both(Op::UShr32, s_.emit(Op::WavesAhead, {}), s_.const32(shift));
}

// What `last`, the highest value of this wave, is in the last of the waves ahead, where the line
// rises from wave to wave (at_most()).
Value Affine::highest(Value last, const Motion& m, Found& f) {
    constexpr uint32_t most_step = 1 << 20;
    f.reach.groups &= m.group != no_value;
    if (m.wave == no_value) return last;
    const auto rises = [&](Value step) {
        return largest(step) <= most_step || need_once(step, most_step, f);
    };
    if (!rises(m.wave)) {  // it may sink
        f.reach = {false, false};
        return last;
    }
    const Value waves = s_.emit(Op::WavesAhead, {});
    auto after = [&](Value count, Value step) {
        return is_zero(step) ? last : both(Op::UAdd32, last, both(Op::UMul32, count, step));
    };
    if (m.group == no_value || (!is_zero(m.wave) && !is_zero(m.group) && follows(m, f)))
        return after(waves, m.wave);
    // It begins anew with each work-group.
    last = after(both(Op::UMinU32, waves, s_.const32(next_.waves - 1)), m.wave);
    if (is_zero(m.group)) return last;
    if (!rises(m.group)) {
        f.reach.groups = false;
        return last;
    }
    return after(groups_ahead(), m.group);
}

Motion Affine::behind(Value base, const Motion& offset) {
    Found f;
    const Motion of_base = of_scalar(base, f);
    commit(f);
    return each(of_base, extended(offset),
                [&](Value x, Value y) { return both(Op::UAdd64, x, y); });
}

// By how much more what moves like this is in the first wave of a work-group than in the last one
// of the work-group before it; in 64 bits, or nobody knows.
std::optional<Value> Affine::from_last_wave(const Motion& m) {
    const uint32_t waves = next_.waves;
    const auto c = constant(m.wave);
    if (c) return both(Op::USub64, m.group, s_.const64(*c * (waves - 1)));
    if (!std::has_single_bit(waves)) return {};
    const Value shift = s_.const32(static_cast<uint32_t>(std::countr_zero(waves))),
                all = both(Op::UShl64, m.wave, shift);
    return both(Op::USub64, m.group, both(Op::USub64, all, m.wave));
}

void Affine::goes_on(Value base, const Motion& next) {
    all_ &= reach_of(next);
    if (!all_.waves) return;
    Found f;
    Value group = next.wave;
    if (all_.groups && !follows(next, f)) {
        const auto anew = from_last_wave(next);
        all_.groups = anew.has_value();
        group = anew.value_or(group);
    }
    commit(f);
    moving_.try_emplace(base, Steps{next.wave, group});
}

// A distance from the first base to the second one, in the last wave ahead. If nobody knows, the
// block holds for this wave only.
Value Affine::in_last_wave(Value distance, Value first, Value second) {
    if (!all_.waves) return distance;
    const auto x = moving_.find(first), y = moving_.find(second);
    if (x == moving_.end() || y == moving_.end()) {
        all_ = {false, false};
        return distance;
    }
    if (x->second == y->second) return distance;
    const Value step_x = x->second.wave, step_y = y->second.wave;
    const auto from = constant(step_x), to = constant(step_y);
    const bool as_waves = x->second.group == step_x && y->second.group == step_y;
    if (!as_waves) all_.groups = false;
    if (step_x == step_y) return distance;
    if (!from || !to) {
        all_.groups = false;
        Found f;
        const bool alike = need(both(Op::UCmpNe64, step_x, step_y), 0, f);
        commit(f);
        if (alike) return distance;
        // Of the work-group, or further on.
        const Value step = both(Op::USub64, step_y, step_x),
                    waves = s_.const32(static_cast<uint32_t>(std::bit_width(next_.waves - 1)));
        return both(Op::UAdd64, distance, both(Op::USub64, both(Op::UShl64, step, waves), step));
    }
    const auto more = static_cast<int64_t>(*to - *from);
    const auto steps = static_cast<uint32_t>(std::abs(more));
    if (steps != static_cast<uint64_t>(std::abs(more))) all_ = {false, false};
    const Value ahead = s_.emit(Op::WavesAhead, {});
    return both(more < 0 ? Op::USub64 : Op::UAdd64, distance,
                both(Op::UMulWideU32, ahead, s_.const32(steps)));
}

Affine::Reach Affine::reach_of(const Motion& m) const {
    return {m.wave != no_value, m.wave != no_value && m.group != no_value};
}

// Of what a uniform value is found to be in this wave.
Affine::Reach Affine::reach_of(Value v, Found& f) {
    const Motion m = of_scalar(v, f);
    const bool waves = is_zero(m.wave);
    return {waves, waves && is_zero(m.group)};
}

// What lanes have of scalars is the same in the next waves, but for bases that go on. What
// pointers in memory lead to may be what waves store.
machine::NextWaves next_of_lanes(const ir::Block& block) {
    machine::NextWaves next = block.next;
    std::vector<bool> of_group(block.insts.size()), moving(block.insts.size());
    const auto group = static_cast<uint64_t>(next.group_sgpr);
    for (const ir::Inst& i : block.insts)
        if (i.op == Op::GoesOn) moving[i.args[0]] = true;
    for (Value v = 0; v < block.insts.size(); ++v) {
        const ir::Inst& i = block.insts[v];
        const ir::Class cls = ir::op_info(i.op).cls;
        if (cls == ir::Class::ULoad && !ir::of_scalars(block, v)) return {};
        const bool uniform = ir::is_uniform(block.type(v));
        of_group[v] = ((i.op == Op::GetS32 || i.op == Op::GetMask32) && i.imm == group) ||
                      (i.op == Op::GetS64 && (i.imm == group || i.imm + 1 == group));
        for (const Value a : ir::used_args(i)) {
            if (a == no_value) continue;
            of_group[v] = of_group[v] || of_group[a];
            if (uniform || cls == ir::Class::Uniform || moving[a] || !ir::is_uniform(block.type(a)))
                continue;
            if (!ir::of_scalars(block, a)) return {};
            if (of_group[a]) next.group_sgpr = -1;
        }
    }
    if (next.waves == 1 && next.group_sgpr < 0) return {};
    return next;
}

}  // namespace wj::lift
