// Windows: the elements of a chunk at a line lie next to one another, in any order, within two
// vectors, or three that are loaded.
#include <algorithm>
#include <span>

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

using asmjit::Imm;
namespace x86 = asmjit::x86;

// One to three vectors wide. None: the lanes go their own ways.
std::optional<BlockCompiler::Window> BlockCompiler::window_of(const LaneAccess& m,
                                                              Value line) const {
    if (has_row_step(inst(line)) || !m.dwords_only() || (m.space != lds_space && !m.full))
        return {};
    // Windows are for dwords, one after the other; an atomic variable of 64 bits is one access.
    if (m.dwords == 2 && m.space == global_space && (m.store || block_->loads_in_order)) return {};
    Window w{lane_offsets(inst(line)), static_cast<int32_t>(m.imm)};
    const auto lanes = std::span(w.lanes).first(chunk_lanes());
    if (std::ranges::any_of(lanes, [](uint32_t x) { return x % 4 || x > 0x10000; })) return {};
    const uint32_t span = std::ranges::max(lanes) + m.bytes;
    if (const PlacedLine* placed = m.space == lds_space ? placed_line(m, line) : nullptr) {
        // All accesses to the line share vectors, so that later ones find there, as a whole, what
        // earlier ones have stored.
        const uint32_t reach = lanes.back() + placed->end,
                       end = static_cast<uint32_t>(m.imm) + span;
        w.bytes = end > width() ? 2 * width() : width();
        w.whole = m.imm % 4 == 0 && end <= w.bytes && w.bytes <= reach;
        if (w.whole) {
            w.at = 0;
            for (uint32_t& x : w.lanes) x += static_cast<uint32_t>(m.imm);
        }
    }
    if (!w.whole) {
        w.bytes = span - (m.bytes - 4);
        if (w.bytes > (m.store ? 2 : 3) * width()) return {};
        // Nothing behind the last element is loaded.
        if (!m.store && w.bytes < width() && w.bytes != 16 && w.bytes != 32) return {};
    }
    if (!m.store) return w;
    // Which lane's dword stays, where elements share one, is not for stores dword by dword.
    LaneOffsets sorted = w.lanes;
    std::sort(sorted.begin(), sorted.begin() + chunk_lanes());
    for (uint32_t l = 1; l < chunk_lanes(); ++l)
        if (sorted[l] - sorted[l - 1] < m.bytes) return {};
    return w;
}

// Its vectors, the last one ending where it ends; or all of it, repeated.
void BlockCompiler::load_window(const LaneAccess& m, const Window& w) {
    const uint32_t parts = (w.bytes + width() - 1) / width();
    const uint32_t last_at = parts > 1 ? w.bytes - width() : 0;
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const auto [places, begin] = w.dword(d);
        auto part_at = [&, begin = begin](uint32_t part) {
            const uint32_t at = part + 1 == parts ? last_at : part * width();
            return x86::ptr(m.address, begin + static_cast<int32_t>(at));
        };
        // Where lanes find their dwords: in which part, and where in it.
        LaneOffsets in{}, index{};
        for (uint32_t l = 0; l < chunk_lanes(); ++l) {
            in[l] = places[l] / width();
            index[l] = (places[l] - (in[l] + 1 == parts ? last_at : in[l] * width())) / 4;
        }
        const Vec &data = m.data[d], &z = m.z[0];
        if (w.bytes >= width()) {
            pick_dwords(m, data, parts, in, index, part_at);
            continue;
        }
        const InstId repeat = !avx512_        ? X::kIdVbroadcasti128
                              : w.bytes == 16 ? X::kIdVbroadcasti32x4
                                              : X::kIdVbroadcasti64x4;
        movu(m.t, pool_table(index.data()));
        a_.emit(repeat, z, part_at(0));
        a_.emit(X::kIdVpermd, data, m.t, z);
    }
}

// Each lane's dword: number `index` of the vector `in` of those that lie at `at`. Changes m.t and
// m.z[0].
void BlockCompiler::pick_dwords(const LaneAccess& m, const Vec& to, uint32_t vectors,
                                const LaneOffsets& in, const LaneOffsets& index,
                                const std::function<Mem(uint32_t)>& at) {
    const Vec& z = m.z[0];
    if (vectors == 1 || !avx512_) {
        movu(m.t, pool_table(index.data()));
        a_.emit(X::kIdVpermd, to, m.t, at(0));
        for (uint32_t n = 1; n < vectors; ++n) {
            uint32_t from = 0;
            for (uint32_t l = 0; l < chunk_lanes(); ++l) from |= uint32_t{in[l] == n} << l;
            a_.emit(X::kIdVpermd, z, m.t, at(n));
            a_.emit(X::kIdVpblendd, to, to, z, Imm(from));
        }
        return;
    }
    // Of two at once, the second one being the vector n.
    auto table = [&](uint32_t n, bool of_vectors) {
        LaneOffsets both{};
        for (uint32_t l = 0; l < chunk_lanes(); ++l)
            both[l] = in[l] == n ? chunk_lanes() + index[l] : of_vectors ? index[l] : l;
        return pool_table(both.data());
    };
    movu(z, at(0));
    movu(to, table(1, true));
    a_.emit(X::kIdVpermi2d, to, z, at(1));
    for (uint32_t n = 2; n < vectors; ++n) {
        movu(m.t, table(n, false));
        a_.emit(X::kIdVpermt2d, to, m.t, at(n));
    }
}

// Each vector of it, from the lanes that belong there. second: that of m.second, in the same place.
void BlockCompiler::store_window(const LaneAccess& m, const Window& w, const Window* second) {
    const Vec &index = m.t, &active = m.t2, &data = m.z[0];
    if (!m.full && avx512_) a_.emit(X::kIdVpmovm2d, active, m.mask_k);
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const int32_t begin = w.dword(d).second;
        for (uint32_t part = 0; part * width() < w.bytes; ++part) {
            // Of each place: the lane, that lane among those of both stores, and which are wanted.
            LaneOffsets from{}, from_both{}, there{};
            uint32_t bits = 0, of_second = 0;
            for (const Window* store : {&w, second}) {
                if (!store) continue;
                const LaneOffsets places = store->dword(d).first;
                for (uint32_t l = 0; l < chunk_lanes(); ++l) {
                    if (places[l] / width() != part) continue;
                    const uint32_t place = places[l] % width() / 4;
                    from[place] = l;
                    from_both[place] = store == second ? chunk_lanes() + l : l;
                    there[place] = ~0u;
                    bits |= 1u << place;
                    of_second |= uint32_t{store == second} << place;
                }
            }
            if (!bits) continue;
            const Mem at = x86::ptr(m.address, begin + static_cast<int32_t>(part * width()));
            auto wanted = [&] { return pool_table(there.data()); };
            if (!second || !avx512_ || !m.full) movu(index, pool_table(from.data()));
            const bool all = m.full && bits == (1u << chunk_lanes()) - 1;
            if (avx512_) {
                if (!m.full) {
                    a_.emit(X::kIdVpermd, data, index, active);
                    a_.emit(X::kIdVptestmd, m.tk, data, wanted());
                } else if (!all) {
                    a_.mov(x86::eax, bits);
                    a_.kmovw(m.tk, x86::eax);
                }
                if (second) {
                    movu(index, pool_table(from_both.data()));
                    a_.emit(X::kIdVpermi2d, index, m.data[0], m.data[1]);
                }
                if (w.whole && !all) {  // what is stored in parts has to be waited for later
                    movu(data, at);
                    k(m.tk);
                }
                if (second)
                    a_.emit(X::kIdVmovdqa32, data, index);
                else
                    a_.emit(X::kIdVpermd, data, index, m.data[d]);
                if (!w.whole && !all) k(m.tk);
                movu(at, data);
                continue;
            }
            a_.emit(X::kIdVpermd, data, index, m.data[d]);
            if (second) {
                a_.emit(X::kIdVpermd, active, index, m.data[1]);
                a_.emit(X::kIdVpblendd, data, data, active, Imm(of_second));
            }
            if (all) {
                movu(at, data);
                continue;
            }
            if (m.full) {
                movu(index, wanted());
            } else {
                a_.emit(X::kIdVpermd, index, index, m.mask_v);
                a_.emit(X::kIdVpand, index, index, wanted());
            }
            if (w.whole) {
                movu(active, at);
                a_.emit(X::kIdVblendvps, data, active, data, index);
                movu(at, data);
            } else {
                a_.emit(X::kIdVmaskmovps, at, index, data);
            }
        }
    }
}

// The store behind this one, if it fills gaps of the same window: both are one then. Exchanges of
// sorting networks, the results of butterflies.
Value BlockCompiler::second_store(const LaneAccess& m, Value line) const {
    const Value* const next = schedule_.begin(position_) + at_ + 1;
    if (!m.store || m.space != lds_space || m.dwords != 1 || next == schedule_.end(position_))
        return no_value;
    const ir::Inst &own = inst(m.v), &other = inst(*next);
    if (other.op != own.op || other.args[0] != line || other.aux != own.aux ||
        ir::mask_of(other) != ir::mask_of(own) || inst(line).aux >= chunk_lanes())
        return no_value;
    LaneAccess n = m;
    n.second = *next;
    const auto a = window_of(m, line), b = window_of(second_of(n), line);
    if (!a || !b || !a->whole || !b->whole || a->bytes != b->bytes) return no_value;
    for (uint32_t x = 0; x < chunk_lanes(); ++x)
        for (uint32_t y = 0; y < chunk_lanes(); ++y)
            if (a->lanes[x] == b->lanes[y]) return no_value;
    return *next;
}

BlockCompiler::LaneAccess BlockCompiler::second_of(const LaneAccess& m) const {
    LaneAccess second = m;
    second.v = m.second;
    second.imm = immediate(inst(m.second));
    second.added = static_cast<uint32_t>(inst(m.second).imm >> 32);
    second.data[0] = m.data[1];
    return second;
}

}  // namespace wj::x64
