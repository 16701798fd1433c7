#include "backend_x64/row_loop.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>

#include "backend_x64/frame.h"
#include "backend_x64/memory_order.h"

namespace wj::x64 {
namespace {

using ir::Class;
using ir::Inst;
using ir::Op;
using machine::lanes;

static_assert(std::extent_v<decltype(Frame::row_lanes)> == Walks::most);
static_assert(std::extent_v<decltype(Frame::lane_rows)> == RowLoop::most_windows);

// All lanes that are on, in each iteration: EXEC, which stays as it is.
bool is_exec(const ir::Block& block, const Schedule& schedule, Value mask) {
    if (schedule.is_full(mask)) return true;
    const Inst& of = block.insts[mask];
    if (of.op != Op::MaskOf) return false;
    const Inst& bits = block.insts[of.args[0]];
    return ir::gets_mask(bits.op) && bits.imm == machine::exec_lo;
}

// Nothing else that the block does with memory, or with lanes, depends on the order.
bool suits(const ir::Block& block, const Schedule& schedule) {
    return std::ranges::all_of(block.insts, [&](const Inst& i) {
        switch (ir::op_info(i.op).cls) {
            case Class::LaneAtomic:
            case Class::Cross:
            case Class::Call:
            case Class::Fence:
            case Class::ULoad:
                return false;
            case Class::LaneStore:
            case Class::LaneLoad:
                return i.op == Op::LoadLds ||
                       (spaces(i.op) == in_global && is_exec(block, schedule, ir::mask_of(i)));
            default:
                return true;
        }
    });
}

// In so many iterations no value that walks extend leaves what it may hold; 0: a step is not known.
uint32_t iterations_within(const std::vector<Walks::Limit>& limits) {
    constexpr uint32_t furthest = 1u << 30;
    uint32_t most = furthest;
    for (const Walks::Limit& limit : limits) {
        const bool constant = limit.step.size() == 1 && limit.step[0].times == no_value;
        const auto step = constant ? static_cast<int32_t>(limit.step[0].factor) : 0;
        if (!step || step == INT32_MIN || (step < 0 && !limit.is_signed)) return 0;
        most = std::min(most, furthest / static_cast<uint32_t>(std::abs(step)));
    }
    return most;
}

class Finder {
public:
    Finder(const ir::Block& block, const Schedule& schedule, const Walks& walks, uint32_t width)
        : block_(block),
          schedule_(schedule),
          walks_(walks),
          width_(static_cast<int32_t>(width)),
          iterations_(width_) {}

    std::optional<RowLoop> find() {
        // Elements of several dwords are accessed in fours, and transposed, as they are.
        constexpr int32_t least_iterations = 4;
        out_.most = iterations_within(walks_.limits);
        if (!out_.most || block_.loads_in_order || !suits(block_, schedule_) || !find_accesses())
            return {};
        out_.number.resize(block_.insts.size());
        for (uint32_t w = 0; w < walks_.walks.size(); ++w)
            if (!add_windows(w)) return {};
        if (out_.windows.empty() || out_.windows.size() > RowLoop::most_windows ||
            iterations_ < least_iterations)
            return {};
        out_.iterations = static_cast<uint32_t>(iterations_);
        for (RowLoop::Window& window : out_.windows)
            if (const int32_t step = *walks_.walks[window.walk].whole_step(); step < 0)
                window.begin += (iterations_ - 1) * step;
        return std::move(out_);
    }

private:
    struct Access {
        Value v;
        uint32_t walk;
        int32_t begin, bytes;
        bool store;
    };

    // All of them walk, some store.
    bool find_accesses() {
        for (Value v = 0; v < block_.insts.size(); ++v) {
            const Inst& i = block_.insts[v];
            const Class cls = ir::op_info(i.op).cls;
            if ((cls != Class::LaneLoad && cls != Class::LaneStore) || i.op == Op::LoadLds)
                continue;
            const auto walk = walks_.of(v);
            const ir::Access access = ir::aux_access(i.aux);
            const bool narrow = cls == Class::LaneLoad && access <= ir::Access::S16;
            if (!walk || !walks_.walks[*walk].whole_step() ||
                (access != ir::Access::Dwords && !narrow) || schedule_.pair_of(v, 0) != no_value ||
                schedule_.pair_of(v, 1) != no_value || schedule_.in_memory_order(v))
                return false;
            const int64_t begin = ir::immediate(i);
            constexpr int64_t furthest = 1 << 16;
            if (std::abs(begin) > furthest) return false;
            accesses_.push_back({v, *walk, static_cast<int32_t>(begin),
                                 static_cast<int32_t>(ir::access_bytes(i)),
                                 cls == Class::LaneStore});
        }
        std::ranges::stable_sort(accesses_, {}, &Access::begin);
        return accesses_.size() <= RowOrder::most_accesses &&
               std::ranges::any_of(accesses_, &Access::store);
    }

    // Of a walk that goes by less than a vector; false: the loop is none.
    bool add_windows(uint32_t walk) {
        const int32_t step = *walks_.walks[walk].whole_step(), each = std::abs(step);
        if (!step || each > width_) return !walks_.walks[walk].base_varies;  // it is not kept
        std::optional<int32_t> least;  // begin of the first access
        for (const Access& a : accesses_) {
            if (a.walk != walk) continue;
            const int32_t unit = std::min(a.bytes, 4);  // lies in one dword of the window
            if (step % unit) return false;
            const int32_t end = a.begin + a.bytes;
            if (!least || end - out_.windows.back().begin > width_)
                out_.windows.push_back({walk, a.store, a.begin, 0});
            if (!least) least = a.begin;
            RowLoop::Window& window = out_.windows.back();
            // What iterations store must not overlap.
            if ((a.begin - window.begin) % unit || (a.store && end - *least > each)) return false;
            window.dwords |= ((1u << a.bytes / 4) - 1) << (a.begin - window.begin) / 4;
            iterations_ = std::min(iterations_, (width_ - (end - window.begin)) / each + 1);
            out_.number[a.v] = static_cast<uint8_t>(out_.windows.size());
        }
        return true;
    }

    const ir::Block& block_;
    const Schedule& schedule_;
    const Walks& walks_;
    const int32_t width_;
    int32_t iterations_;  // that all windows so far serve
    std::vector<Access> accesses_;
    RowLoop out_;
};

}  // namespace

std::optional<RowLoop> find_row_loop(const ir::Block& block, const Schedule& schedule,
                                     const Walks& walks, uint32_t width) {
    return Finder(block, schedule, walks, width).find();
}

namespace {

constexpr int64_t no_limit = int64_t{1} << 40;

// Addresses of the lanes that are on.
struct Lanes {
    std::span<const uint64_t> at;
    uint64_t least = 0, most = 0;
    uint64_t bits = 0;  // of all addresses
    int64_t gap = 0;    // least distance of two lanes, if they are in order; 0: they are not
};

Lanes look_at(std::span<const uint64_t> at) {
    Lanes out{at, at[0], at[0], at[0], 0};
    int64_t nearest = no_limit, furthest = -no_limit;
    for (size_t l = 1; l < at.size(); ++l) {
        out.least = std::min(out.least, at[l]);
        out.most = std::max(out.most, at[l]);
        out.bits |= at[l];
        const auto d = static_cast<int64_t>(at[l] - at[l - 1]);
        nearest = std::min(nearest, d);
        furthest = std::max(furthest, d);
    }
    if (nearest > 0)
        out.gap = nearest;
    else if (furthest < 0)
        out.gap = -furthest;
    return out;
}

// The bytes that an access touches from a lane's address on in some iterations.
struct Span {
    int64_t begin, end;
};
Span span(const RowOrder::Access& a, int64_t step, int64_t iterations) {
    const int64_t last = step * (iterations - 1);
    return {a.begin + std::min<int64_t>(0, last), a.begin + a.bytes + std::max<int64_t>(0, last)};
}

bool are_apart(const Lanes& a, const Span& x, const Lanes& b, const Span& y) {
    return static_cast<int64_t>(a.most - b.least) + x.end <= y.begin ||
           static_cast<int64_t>(b.most - a.least) + y.end <= x.begin;
}

// By how much all lanes of b are ahead of a's.
std::optional<int64_t> distance(const Lanes& a, const Lanes& b) {
    const uint64_t d = b.at[0] - a.at[0];
    uint64_t wrong = 0;
    for (size_t l = 1; l < a.at.size(); ++l) wrong |= (b.at[l] - a.at[l]) ^ d;
    if (wrong) return {};
    return static_cast<int64_t>(d);
}

int64_t ceil_div(int64_t a, int64_t b) {  // b > 0
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

// Of one lane: whether y of some iteration k, k >= least, touches what x of iteration 0 touches.
// y's walk is `ahead` of x's.
bool meets_later(const RowOrder::Access& x, const RowOrder::Access& y, int64_t ahead, int64_t step,
                 int64_t least) {
    // From x's first byte to y's: more than -y.bytes and less than x.bytes.
    const int64_t at = ahead + y.begin - x.begin;
    const int64_t first =
        step > 0 ? ceil_div(1 - y.bytes - at, step) : ceil_div(at - x.bytes + 1, -step);
    const int64_t d = at + step * std::max(least, first);
    return d > -int64_t{y.bytes} && d < x.bytes;
}

class Order {
public:
    // `on`: lanes, at least one.
    Order(Frame& frame, const RowOrder& order, uint64_t on) : frame_(frame), order_(order) {
        for (; on; on &= on - 1) lane_[count_++] = static_cast<uint8_t>(std::countr_zero(on));
        for (uint32_t w = 0; w < order.walk_count; ++w) {
            for (uint32_t n = 0; n < count_; ++n) at_[w][n] = frame.row_lanes[w][lane_[n]];
            lanes_[w] = look_at(std::span(at_[w]).first(count_));
        }
    }

    int64_t iterations() const {
        constexpr int64_t least = 8;
        for (uint32_t w = 0; w < order_.walk_count; ++w)
            if (!order_.walks[w].window && !find_pattern(w)) return 0;
        int64_t n = order_.most;
        for (const bool others : {false, true})
            for (uint32_t s = 0; s < order_.access_count; ++s)
                for (uint32_t a = 0; a < order_.access_count && n >= least; ++a)
                    if (order_.accesses[s].store && (s != a) == others) n = limit(s, a, n);
        return n < least ? 0 : n;
    }

    // Of windows, in so many iterations.
    bool writable(const memory::AddressSpace& memory, int64_t iterations) const {
        return std::ranges::all_of(accesses(), [&](const RowOrder::Access& a) {
            const RowOrder::Walk& walk = order_.walks[a.walk];
            if (!a.store || !walk.window) return true;
            const Lanes& lanes = lanes_[a.walk];
            const Span s = span(a, walk.step, iterations);
            return frame_.rows_memory.covers(memory, lanes.least + static_cast<uint64_t>(s.begin),
                                             lanes.most + static_cast<uint64_t>(s.end));
        });
    }

    // What lanes that are off would do with windows goes nowhere.
    void move_aside(uint64_t on) const {
        for (uint32_t l = 0; l < lanes; ++l) {
            const bool is_on = on >> l & 1;
            frame_.row_moves[l] = is_on ? ~uint64_t{0} : 0;
            for (uint32_t w = 0; w < order_.walk_count && !is_on; ++w)
                if (order_.walks[w].window)
                    frame_.row_lanes[w][l] = reinterpret_cast<uint64_t>(frame_.nowhere);
        }
    }

private:
    std::span<const RowOrder::Access> accesses() const {
        return std::span(order_.accesses).first(order_.access_count);
    }

    // The same one in all chunks, which do not share an element that is stored.
    bool find_pattern(uint32_t w) const {
        const RowOrder::Walk& walk = order_.walks[w];
        const std::span<const uint64_t> at = lanes_[w].at;
        uint64_t elsewhere = 0, next = 0;
        for (size_t l = 1; l < at.size(); ++l) {
            elsewhere |= at[l] ^ at[0];
            next |= (at[l] - at[0]) ^ uint64_t { walk.bytes } * (lane_[l] - lane_[0]);
        }
        if (elsewhere && next) return false;
        // Chunks look at their first lane, whether it is on or not.
        for (uint32_t l = 0; l < lanes; ++l)
            frame_.row_lanes[w][l] = at[0] + (next ? 0 : walk.bytes * (uint64_t{l} - lane_[0]));
        const bool stored = std::ranges::any_of(
            accesses(), [w](const RowOrder::Access& a) { return a.walk == w && a.store; });
        constexpr uint32_t consecutive = 0, same = 0x01010101;
        const uint32_t pattern = next ? same : consecutive;
        std::memcpy(reinterpret_cast<uint8_t*>(&frame_) + walk.patterns, &pattern, sizeof pattern);
        return !stored || !next;
    }

    // In how many of n iterations the lanes' order does not matter for the store and the access.
    int64_t limit(uint32_t s, uint32_t a, int64_t n) const {
        const RowOrder::Access &store = order_.accesses[s], &access = order_.accesses[a];
        const RowOrder::Walk &of_store = order_.walks[store.walk], &of = order_.walks[access.walk];
        const int64_t step = of_store.step;
        const Lanes &x = lanes_[store.walk], &y = lanes_[access.walk];
        if (s == a && !of_store.window)
            return !step || std::abs(step) >= int64_t{lanes} * store.bytes ? n : 0;
        if (s != a && are_apart(x, span(store, step, n), y, span(access, of.step, n))) return n;
        if (!of_store.window || !of.window || of.step != step) return 0;
        if (!x.gap || x.bits % 4) return 0;
        const auto ahead = s == a ? 0 : distance(x, y);
        if (!ahead) return 0;
        // Each lane's elements end in front of the next one's.
        const int64_t most = std::max(*ahead + access.begin + access.bytes - store.begin,
                                      store.begin + store.bytes - *ahead - access.begin);
        if (most > x.gap) return 0;
        if (s != a) {
            constexpr int64_t ever = -(int64_t{1} << 32);
            if (access.store && store.walk != access.walk &&
                meets_later(store, access, *ahead, step, ever))
                return 0;
            if (!access.store && meets_later(store, access, *ahead, step, s < a ? 0 : 1)) return 0;
        }
        return std::min(n, (x.gap - most) / std::abs(step) + 1);
    }

    Frame& frame_;
    const RowOrder& order_;
    uint32_t count_ = 0;  // of lanes that are on
    std::array<uint8_t, lanes> lane_;
    std::array<std::array<uint64_t, lanes>, Walks::most> at_;
    std::array<Lanes, Walks::most> lanes_;
};

}  // namespace

AnyOrder rows_in_any_order(machine::Wave& wave, Frame& frame, const RowOrder& order) {
    const uint64_t on = wave.exec() & order.lanes;
    if (!on) return {};
    const Order found(frame, order, on);
    const int64_t iterations = found.iterations();
    if (order.some_lanes) found.move_aside(on);
    return {static_cast<uint64_t>(iterations),
            iterations && wave.ctx->memory && found.writable(*wave.ctx->memory, iterations)};
}

}  // namespace wj::x64
