// Windows: the elements of a chunk at a line lie next to one another, in any order, within two
// vectors, or three that are loaded.
#include <algorithm>

#include "backend_x64/asm/access_code.h"

namespace wj::x64 {

using asmjit::Imm;
namespace x86 = asmjit::x86;

// Its vectors, the last one ending where it ends; or all of it, repeated.
void BlockCompiler::RowCode::load_window(const LaneAccess& m) const {
    const Window& w = *m.window;
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
        const InstId repeat = !c_.avx512_     ? X::kIdVbroadcasti128
                              : w.bytes == 16 ? X::kIdVbroadcasti32x4
                                              : X::kIdVbroadcasti64x4;
        movu(m.t, pool_table(index.data()));
        a_.emit(repeat, z, part_at(0));
        a_.emit(X::kIdVpermd, data, m.t, z);
    }
}

// Each lane's dword: number `index` of the vector `in` of those that lie at `at`. Changes m.t and
// m.z[0].
void BlockCompiler::RowCode::pick_dwords(const LaneAccess& m, const Vec& to, uint32_t vectors,
                                         const LaneOffsets& in, const LaneOffsets& index,
                                         const std::function<Mem(uint32_t)>& at) const {
    const Vec& z = m.z[0];
    if (vectors == 1 || !c_.avx512_) {
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

// Each vector of it, from the lanes that belong there.
void BlockCompiler::RowCode::store_window(const LaneAccess& m) const {
    const Window& w = *m.window;
    const Window* const second =
        m.second_window ? &*m.second_window : nullptr;  // in the same place
    const Vec &index = m.t, &active = m.t2, &data = m.z[0];
    if (!m.full && c_.avx512_) a_.emit(X::kIdVpmovm2d, active, m.mask_k);
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
            if (!second || !c_.avx512_ || !m.full) movu(index, pool_table(from.data()));
            const bool all = m.full && bits == (1u << chunk_lanes()) - 1;
            if (c_.avx512_) {
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

}  // namespace wj::x64
