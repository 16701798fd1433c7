// Global accesses at lines that may be done for some lanes after the others, because no lane
// touches what a higher lane touches in an earlier operation (Block::lanes_apart).
#include <algorithm>
#include <bit>
#include <map>

#include "lift/affine.h"

namespace wj::lift {
namespace {

// Lane l's bytes are the `bytes` at base + offset + f(l), where f(l) is
//     stride * (l mod width) + step * (l div width),
// or 0 if it is flat. Then `last` is f of the last lane without the steps.
struct Access {
    Value base;
    int64_t offset, stride, last;
    uint32_t bytes;
    bool store;
};

// A number of bytes: n + steps * step * (rows - 1). Lines that are one row have no steps.
struct Bytes {
    int64_t n = 0;
    int steps = 0;
};

// Where the second of two bases must not lie, seen from the first: strictly between `low` and
// `high`.
struct Range {
    Bytes low{INT64_MAX, 1}, high{INT64_MIN, -1};
    void include(Bytes from, Bytes to) {
        low = {std::min(low.n, from.n), std::min(low.steps, from.steps)};
        high = {std::max(high.n, to.n), std::max(high.steps, to.steps)};
    }
};

}  // namespace

// Let x come before y, and y's base lie d behind x's. Lane k's bytes of y meet those of a lane l >
// k of x if, with f rising from lane to lane,
//     f(l) - f(k) - bytes(y) < d + offset(y) - offset(x) < f(l) - f(k) + bytes(x),
// where f(l) - f(k) is at most that of the last lane, and at least the stride, or where there are
// several rows the bytes of an access. Lines that differ in f, and flat ones, have to be disjoint.
// In the next waves d is as much more each time: what holds for this one and for the last one
// ahead, on the same side, holds for those in between. Where some bits of addresses do not count,
// those of both bases must be alike, in all waves if d changes: else d is not their distance in
// memory.
bool Affine::guard_lanes_apart(uint64_t address_mask) {
    // Tests that a block's stores are worth: what each saves is a loop over the chunks.
    constexpr size_t most_guards = 16, guards_per_store = 6;
    constexpr int64_t most_offset = 1 << 20;
    std::vector<Access> accesses;
    const uint32_t lanes = block_.wave_size;
    uint32_t width = machine::lanes;  // of those that are several rows, which have one step
    Value step = no_value;
    for (const ir::Inst& i : block_.insts) {
        const ir::Class cls = ir::op_info(i.op).cls;
        const bool store = cls == ir::Class::LaneStore;
        if (cls == ir::Class::LaneAtomic) return false;
        if ((!store && cls != ir::Class::LaneLoad) || ir::has_own_space(i.op)) continue;
        Access a{no_value, ir::immediate(i), 0, 0, ir::access_bytes(i), store};
        const ir::Inst& at = block_.insts[ir::address_of(i)];
        if (at.op == Op::Splat64 && !ir::has_scalar_base(i.op)) {
            a.base = at.args[0];
        } else if (at.op == Op::Line32 && ir::has_scalar_base(i.op) &&
                   constant(at.args[0]) == uint64_t{0}) {
            a.base = i.args[0];
            a.stride = static_cast<int64_t>(at.imm);
            a.last =
                a.stride * static_cast<int64_t>(std::min(static_cast<uint32_t>(at.aux), lanes) - 1);
            if (a.stride < a.bytes || a.stride > most_offset) return false;
            if (at.aux != machine::lanes) {
                if (at.aux == 1 || (step != no_value && (step != at.args[1] || width != at.aux)))
                    return false;
                step = at.args[1];
                width = static_cast<uint32_t>(at.aux);
            }
        } else {
            return false;
        }
        if (std::abs(a.offset) > most_offset) return false;
        accesses.push_back(a);
    }
    // Lines of one row and lines of several are not mixed, nor strides among the latter.
    const auto is_line = [](const Access& a) { return a.stride != 0; };
    const auto first = std::ranges::find_if(accesses, is_line);
    if (step != no_value)
        for (const Access& a : accesses)
            if (is_line(a) && (a.stride != first->stride || a.last != first->last)) return false;
    const int steps = step != no_value;
    std::map<std::pair<Value, Value>, Range> ranges;  // by bases; the lower value first
    uint32_t row_bytes = 0;
    size_t stores = 0;
    for (size_t second = 0; second < accesses.size(); ++second) {
        const Access& y = accesses[second];
        stores += y.store;
        if (is_line(y)) row_bytes = std::max(row_bytes, static_cast<uint32_t>(y.last) + y.bytes);
        for (size_t n = 0; n < second; ++n) {
            const Access& x = accesses[n];
            if (!x.store && !y.store) continue;
            const int64_t offset = x.offset - y.offset;
            const bool alike = x.stride == y.stride && is_line(x);
            const int64_t least = !alike ? -y.last : steps ? y.bytes : y.stride;
            const Bytes low{least - y.bytes + offset, alike || !is_line(y) ? 0 : -steps},
                high{x.last + x.bytes + offset, is_line(x) ? steps : 0};
            if (x.base == y.base) {
                if ((low.n >= 0 && !low.steps) || (high.n <= 0 && !high.steps)) continue;
                return false;
            }
            Range& range = ranges[std::minmax(x.base, y.base)];
            if (x.base < y.base)
                range.include(low, high);
            else
                range.include({-high.n, -high.steps}, {-low.n, -low.steps});
        }
    }
    if (!stores || ranges.size() > std::min(most_guards, guards_per_store * stores)) return false;
    std::vector<Value> conditions;
    Value all_steps = no_value;
    if (step != no_value) {
        // Rows do not reach into the next one.
        constexpr uint32_t most_step = 1 << 26;
        conditions.push_back(both(Op::UCmpLtU32, both(Op::USub32, step, s_.const32(row_bytes)),
                                  s_.const32(most_step)));
        const auto shift = static_cast<uint32_t>(std::countr_zero(lanes / width));
        const Value wide = s_.emit(Op::UZext32, {step});
        all_steps = both(Op::USub64, both(Op::UShl64, wide, s_.const32(shift)), wide);
    }
    auto plus = [&](Value v, Bytes b, int sign) {
        if (b.steps) v = both(b.steps * sign > 0 ? Op::UAdd64 : Op::USub64, v, all_steps);
        return both(Op::UAdd64, v, s_.const64(static_cast<uint64_t>(sign * b.n)));
    };
    for (const auto& [bases, range] : ranges) {
        // distance - low - 1 is at least high - low - 1.
        const Bytes from{range.low.n + 1, range.low.steps};
        const Value least = plus(plus(s_.const64(0), {range.high.n - 1, range.high.steps}, 1), from,
                                 -1),
                    distance = plus(both(Op::USub64, bases.second, bases.first), from, -1);
        conditions.push_back(both(Op::UCmpLtU64, least, distance));
        // The bits that do not count are the same.
        const auto alike = [&](Value x, Value y) {
            const Value others =
                both(Op::UAnd64, both(Op::UXor64, x, y), s_.const64(~address_mask));
            conditions.push_back(both(Op::UCmpEq64, others, s_.const64(0)));
        };
        if (~address_mask) alike(bases.first, bases.second);
        if (const Value last = in_last_wave(distance, bases.first, bases.second);
            last != distance) {
            // Bases that move by constants have the same bits in all waves.
            for (const Value base : {bases.first, bases.second}) {
                if (!~address_mask) break;
                const auto by = constant(moving_.at(base).wave);
                const auto step = static_cast<int64_t>(by.value_or(0));
                const auto steps = static_cast<uint32_t>(std::abs(step));
                if (!by || steps != static_cast<uint64_t>(std::abs(step))) return false;
                const Value ahead =
                    both(Op::UMulWideU32, s_.emit(Op::WavesAhead, {}), s_.const32(steps));
                alike(base, both(step < 0 ? Op::USub64 : Op::UAdd64, base, ahead));
            }
            conditions.push_back(both(Op::UCmpLtU64, least, last));
            const Value sides = both(Op::UXor64, distance, last);
            conditions.push_back(
                both(Op::UCmpEq64, both(Op::UShr64, sides, s_.const32(63)), s_.const64(0)));
        }
    }
    for (Value c : conditions)
        if (const auto now = now_ ? now_->of(block_, c) : std::nullopt; now && !*now) return false;
    return std::ranges::all_of(conditions, [&](Value c) { return guard(c); });
}

}  // namespace wj::lift
