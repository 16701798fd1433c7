#include "backend_x64/loop_estimate.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdlib>
#include <functional>
#include <vector>

namespace wj::x64 {
namespace {

using ir::Class;
using ir::Op;
using ir::Type;

struct Estimate {
    uint32_t latency;  // cycles
    uint32_t cost;     // host instructions
};

// Rough figures of Zen 4 and 5. For loads: until the address is known, and its pattern.
constexpr auto estimates = [] {
    std::array<Estimate, static_cast<size_t>(Op::count_)> table;
    table.fill({1, 1});
    auto set = [&](std::initializer_list<Op> ops, Estimate e) {
        for (Op op : ops) table[static_cast<size_t>(op)] = e;
    };
    using enum Op;
    set({Splat32, Splat64, LaneId, MaskOf, GetV, Elem, GetS32, GetS64, GetMask32, GetScc, Const32,
         Const64, BitsOf},
        {0, 0});
    set({FAdd32, FSub32, FMul32}, {3, 1});
    set({FAdd64, FMul64}, {3, 2});
    set({FFma32}, {4, 1});
    set({FFma64}, {4, 2});
    set({Add64, Sub64, Shl64, Shr64, Sar64, AddCarry32, SubBorrow32}, {2, 2});
    set({Mul32, MulHiU32, MulHiS32, MulWideU32, MulWideS32}, {6, 4});
    set({FDiv32, FSqrt32, FDiv64, FSqrt64}, {14, 6});
    set({FRsq32}, {45, 16});
    set({FFixup32, FFrexpExp32, FFrexpMant32}, {6, 3});
    set({FQuot32, FQuot64, FQuotFrexp32}, {16, 10});
    set({FMin32, FMax32, FMin64, FMax64, FFlush32, FLdexp32, FLdexp64}, {8, 5});
    set({FRound32, FRound64, CvtI32ToF32, CvtU32ToF32, Fshr32, Popcnt32, Clz32, Ctz32, Brev32,
         Bswap32},
        {4, 3});
    set({CvtF32ToI32, CvtF32ToU32, CvtF32ToF16, CvtF16ToF32, CvtF32ToF64, CvtF64ToF32, CvtI32ToF64,
         CvtU32ToF64, CvtF64ToI32, CvtF64ToU32},
        {8, 4});
    set({LoadGlobal, LoadGlobalS, LoadGlobalS64, LoadLds, LoadFlat, LoadScratch, LoadBuffer,
         StoreScratch},
        {8, 20});
    return table;
}();

class Loop {
public:
    Loop(const ir::Block& block, const Schedule& schedule,
         const std::optional<DivergentLoop>& divergent, const Walks& walks, bool avx512)
        : block_(block),
          schedule_(schedule),
          divergent_(divergent),
          walks_(walks),
          avx512_(avx512),
          made_of_loads_(made_of_loads(block)) {
        find_needed();
    }

    // Cycles from one iteration's beginning to the next one's, if nothing but what is handed on had
    // to be waited for: a few iterations are followed.
    double recurrence() {
        constexpr uint32_t before = 4, measured = 4;
        uint32_t begin = 0;
        for (uint32_t i = 0; i < before; ++i) begin = iteration();
        uint32_t end = begin;
        for (uint32_t i = 0; i < measured; ++i) end = iteration();
        return static_cast<double>(end - begin) / measured;
    }

    // Host instructions of an iteration: for each chunk, or once for all.
    uint32_t cost(bool of_chunk) const {
        uint32_t sum = 0;
        const bool repeats = !divergent_ || divergent_->uniform_varies;
        for (Value v = 0; v < block_.insts.size(); ++v) {
            const uint32_t region = schedule_.position(v);
            if (of_chunk ? region == 1 && needed_[v] && !schedule_.fused(v)
                         : region == 0 && repeats)
                sum += estimate(v).cost;
        }
        return sum;
    }

private:
    Estimate estimate(Value v) const {
        const ir::Inst& i = block_.insts[v];
        const ir::OpInfo& info = ir::op_info(i.op);
        if (i.op == Op::SetV && schedule_.is_full(i.args[1]))
            return {0, walks_.walks.empty() ? 1u : 0u};
        // With mask registers the operation writes the row itself.
        if (i.op == Op::SetV) return {2, avx512_ && uses_[i.args[0]] == 1 ? 0u : 1u};
        if (walks_.of(v)) return {0, 5};  // no address to wait for
        // Elements of a table are gathered. (Searches in memory by four chunks at once are 1.4
        // times as fast with AVX-512, and with AVX2, whose registers do not hold that much,
        // slower.)
        const bool gathers = info.cls == Class::LaneLoad && (avx512_ || i.op == Op::LoadLds);
        if (gathers && made_of_loads_[ir::address_of(i)]) return {30, 20};
        // Mask registers are slow to get at.
        const bool compares =
            info.result == Type::M && info.args[0] != Type::M && i.op != Op::MaskOf;
        if (compares) return avx512_ ? Estimate{6, 1} : Estimate{3, 2};
        return estimates[static_cast<size_t>(i.op)];
    }

    // How often values are used. Nobody needs the address of a load that walks.
    void find_needed() {
        needed_.resize(block_.insts.size());
        uses_.resize(block_.insts.size());
        for (const ir::Inst& i : block_.insts)
            for (Value a : ir::used_args(i))
                if (a != ir::no_value) ++uses_[a];
        for (Value v = static_cast<Value>(block_.insts.size()); v-- > 0;) {
            const ir::Inst& i = block_.insts[v];
            const Class cls = ir::op_info(i.op).cls;
            needed_[v] =
                needed_[v] || (cls != Class::Lane && cls != Class::GetV) || i.op == Op::BitsOf;
            if (!needed_[v]) continue;
            for (Value a : ir::used_args(i))
                if (a != ir::no_value && !(walks_.of(v) && a == ir::address_of(i)))
                    needed_[a] = true;
        }
        if (divergent_) needed_[divergent_->live] = true;
    }

    // Follows lane values; returns when the last row is ready.
    uint32_t iteration() {
        for (Value v = 0; v < block_.insts.size(); ++v) {
            const ir::Inst& i = block_.insts[v];
            if (i.op == Op::GetV) {
                ready_[v] = rows_[i.imm];
            } else if (i.op != Op::MaskOf && schedule_.position(v) == 1) {
                uint32_t start = 0;
                for (Value a : ir::used_args(i))
                    if (a != ir::no_value) start = std::max(start, ready_[a]);
                ready_[v] = start + estimate(v).latency;
            }
            if (i.op == Op::SetV) rows_[i.imm] = ready_[v];
        }
        if (divergent_)
            for (const LoopMask& m : divergent_->carried)
                for (Value v = 0; v < block_.insts.size(); ++v)
                    if (block_.insts[v].op == Op::MaskOf && block_.insts[v].args[0] == m.get)
                        ready_[v] = ready_[m.mask] + 1;
        return *std::max_element(rows_.begin(), rows_.end());
    }

    const ir::Block& block_;
    const Schedule& schedule_;
    const std::optional<DivergentLoop>& divergent_;
    const Walks& walks_;
    const bool avx512_;
    const std::vector<bool> made_of_loads_;
    std::vector<bool> needed_;
    std::vector<uint32_t> uses_;
    // When values, what masks are at the next iteration's beginning, and rows are there.
    std::vector<uint32_t> ready_ = std::vector<uint32_t>(block_.insts.size()),
                          rows_ = std::vector<uint32_t>(512);
};

// The first so many arguments are added up, in their low 32 bits. 0: something else.
constexpr auto addends = [] {
    std::array<uint8_t, static_cast<size_t>(Op::count_)> count{};
    using enum Op;
    for (Op op : {Add32, Add64, UAdd32, UAdd64}) count[static_cast<size_t>(op)] = 2;
    for (Op op : {Splat32, Splat64, Pack64, Lo, UPack64, ULo, UZext32})
        count[static_cast<size_t>(op)] = 1;
    return count;
}();

// Follows additions and shifts; `leaf` knows what registers and constants contribute.
using Leaf = std::function<std::optional<int32_t>(const ir::Inst&)>;
std::optional<int32_t> follow(const ir::Block& block, Value v, const Leaf& leaf,
                              uint32_t depth = 0) {
    const ir::Inst& i = block.insts[v];
    const Class cls = ir::op_info(i.op).cls;
    if (cls == Class::GetV || cls == Class::GetS || i.op == Op::Const32 || i.op == Op::Const64)
        return leaf(i);
    const bool shift = i.op == Op::Shl32 || i.op == Op::Shl64 || i.op == Op::UShl32;
    const uint32_t count = shift ? 1 : addends[static_cast<size_t>(i.op)];
    if (!count || depth == 8) return {};
    uint32_t sum = 0;
    for (uint32_t a = 0; a < count; ++a) {
        const auto x = follow(block, i.args[a], leaf, depth + 1);
        if (!x) return {};
        sum += static_cast<uint32_t>(*x);
    }
    if (shift) {
        const auto by = follow(
            block, i.args[1],
            [](const ir::Inst& c) {
                const bool constant = ir::op_info(c.op).cls == Class::Uniform;
                return constant ? std::optional(static_cast<int32_t>(c.imm)) : std::nullopt;
            },
            depth + 1);
        if (!by) return {};
        sum <<= *by & 31;
    }
    return static_cast<int32_t>(sum);
}

}  // namespace

uint32_t chunks_that_pay(const ir::Block& block, const Schedule& schedule,
                         const std::optional<DivergentLoop>& divergent, const Walks& walks,
                         bool avx512) {
    Loop loop(block, schedule, divergent, walks, avx512);
    const double waiting = loop.recurrence(), rate = avx512 ? 2 : 3;  // instructions a cycle
    // Walks have to be moved on; what else happens once is little, but worth sharing.
    const auto walking = static_cast<uint32_t>(walks.walks.size());
    const uint32_t of_chunk = loop.cost(true), once = loop.cost(false) + 2 * walking;
    const double worth = walking ? 0.9 : 0.8;
    auto cycles = [&](uint32_t chunks) {
        return std::max(waiting, (once + chunks * of_chunk) / rate) / chunks;
    };
    uint32_t chunks = 1;
    while (chunks < 4 && cycles(chunks * 2) < worth * cycles(chunks)) chunks *= 2;
    // Where iterations are far apart, what a chunk reads is not there for its neighbour, and the
    // host runs on along the wrong way behind each chunk's last iteration: a wave's lines at once.
    for (Value v = 0; avx512 && divergent && v < block.insts.size(); ++v)
        if (walks.of(v) && (steps_far(step_of(block, block.insts[v])))) return 4;
    // Nor are they in the next iteration's neighbourhood if it begins at what has been loaded: the
    // more chunks ask for their part of a row together, the better.
    const std::vector<bool> looked_up = looked_up_values(block);
    for (Value v = 0; v < block.insts.size(); ++v)
        if (ir::op_info(block.insts[v].op).cls == Class::LaneLoad && looked_up[v])
            return std::min(2 * chunks, 4u);
    return chunks;
}

std::vector<bool> made_of_loads(const ir::Block& block) {
    std::vector<bool> loaded(block.insts.size()), rows(512);
    for (int pass = 0; pass < 2; ++pass)  // rows may be written behind where they are read
        for (Value v = 0; v < block.insts.size(); ++v) {
            const ir::Inst& i = block.insts[v];
            const Class cls = ir::op_info(i.op).cls;
            loaded[v] = cls == Class::LaneLoad || (cls == Class::GetV && rows[i.imm]);
            for (const Value a : ir::used_args(i))
                loaded[v] = loaded[v] || (a != ir::no_value && loaded[a]);
            if (cls == Class::SetV) rows[i.imm] = rows[i.imm] || loaded[v];
        }
    return loaded;
}

std::vector<bool> looked_up_values(const ir::Block& block) {
    std::vector<bool> varies(block.insts.size()), looked_up(block.insts.size());
    std::bitset<256> set;  // scalar registers
    for (const ir::Inst& i : block.insts) {
        if (ir::op_info(i.op).cls != Class::SetS || i.op == Op::SetScc) continue;
        set[i.imm] = true;
        if (i.op == Op::SetS64) set[i.imm + 1] = true;
    }
    for (Value v = 0; v < block.insts.size(); ++v) {
        const ir::Inst& i = block.insts[v];
        const Class cls = ir::op_info(i.op).cls;
        if (cls == Class::GetS && i.op != Op::GetScc)
            varies[v] = set[i.imm] || (i.op == Op::GetS64 && set[i.imm + 1]);
        for (Value a : ir::used_args(i)) {
            if (a == ir::no_value) continue;
            varies[v] = varies[v] || varies[a];
            looked_up[v] = looked_up[v] || looked_up[a];
        }
        if (cls == Class::ULoad) looked_up[v] = varies[v];
    }
    return looked_up;
}

std::optional<int32_t> stride_of(const ir::Block& block, Value v) {
    return follow(block, v, [&](const ir::Inst& get) -> std::optional<int32_t> {
        const Class cls = ir::op_info(get.op).cls;
        if (cls == Class::Uniform) return 0;
        const Class sets = cls == Class::GetV ? Class::SetV : Class::SetS;
        std::optional<int32_t> stride = 0;
        for (const ir::Inst& set : block.insts) {
            if (ir::op_info(set.op).cls != sets || set.op == Op::SetScc || set.imm != get.imm)
                continue;
            // The register itself, and what is added to it.
            stride = follow(block, set.args[0], [&](const ir::Inst& x) {
                if (ir::op_info(x.op).cls == Class::Uniform)
                    return std::optional(static_cast<int32_t>(x.imm));
                return ir::op_info(x.op).cls == cls && x.imm == get.imm ? std::optional(0)
                                                                        : std::nullopt;
            });
        }
        return stride;
    });
}

std::optional<int32_t> step_of(const ir::Block& block, const ir::Inst& access) {
    const auto lanes = stride_of(block, ir::address_of(access)),
               base = ir::has_scalar_base(access.op) ? stride_of(block, access.args[0]) : 0;
    return lanes && base ? std::optional(*lanes + *base) : std::nullopt;
}

bool steps_far(std::optional<int32_t> step) {
    constexpr int32_t page = 4096;
    return !step || std::abs(int64_t{*step}) > page;
}

}  // namespace wj::x64
