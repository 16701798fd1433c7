// Dwords of all lanes at distances that are known when the code is made, but not consecutive:
// reversed, every second one, fields of records. Whole vectors and permutations.
#include <algorithm>

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

using asmjit::Imm;
namespace x86 = asmjit::x86;

namespace {

constexpr int32_t most_vectors = 4;

struct Span {
    int32_t begin = 0, bytes = 0;
    bool of_dwords = true;  // all distances are multiples of 4
};
Span span_of(const std::array<uint32_t, 16>& offsets, uint32_t lanes) {
    Span s;
    const auto [least, most] = std::minmax_element(
        offsets.begin(), offsets.begin() + lanes,
        [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b); });
    s.begin = static_cast<int32_t>(*least);
    s.bytes = static_cast<int32_t>(*most - *least) + 4;
    s.of_dwords = std::all_of(offsets.begin(), offsets.begin() + lanes,
                              [&](uint32_t x) { return (x - *least) % 4 == 0; });
    return s;
}

}  // namespace

// Vectors that lie within the elements' memory; what is between elements shares a page with some.
// False: the elements are too far from each other, or too close.
bool BlockCompiler::load_dword_row(const LaneAccess& m, const LaneOffsets& offsets) {
    const auto vector = static_cast<int32_t>(width());
    const uint32_t lanes = chunk_lanes();
    const Span span = span_of(offsets, lanes);
    const int32_t count = (span.bytes + vector - 1) / vector;
    if (!m.full || m.dwords != 1 || !m.dwords_only() || !span.of_dwords || span.bytes < vector ||
        count > most_vectors)
        return false;
    // The second of two overlapping vectors ends with the last element.
    auto begin = [&](int32_t n) { return std::min(n * vector, span.bytes - vector); };
    LaneOffsets in{}, index{};
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        const int32_t at = static_cast<int32_t>(offsets[lane]) - span.begin, n = at / vector;
        in[lane] = static_cast<uint32_t>(n);
        index[lane] = static_cast<uint32_t>(at - begin(n)) / 4;
    }
    pick_dwords(m, m.data[0], static_cast<uint32_t>(count), in, index, [&](uint32_t n) {
        return element_at(m, static_cast<uint32_t>(span.begin + begin(static_cast<int32_t>(n))));
    });
    return true;
}

// False: two lanes write the same dword, the elements are too far from each other, or what is
// between them would need masks that AVX2 has not.
bool BlockCompiler::store_dword_row(const LaneAccess& m, const LaneOffsets& offsets) {
    const auto vector = static_cast<int32_t>(width());
    const uint32_t lanes = chunk_lanes();
    const Span span = span_of(offsets, lanes);
    const int32_t count = (span.bytes + vector - 1) / vector;
    if (!m.full || m.dwords != 1 || !m.dwords_only() || !span.of_dwords || count > most_vectors)
        return false;
    uint32_t from[most_vectors][16] = {}, mask[most_vectors] = {};
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        const int32_t at = static_cast<int32_t>(offsets[lane]) - span.begin, n = at / vector;
        const auto element = static_cast<uint32_t>(at % vector) / 4;
        if (mask[n] >> element & 1) return false;
        mask[n] |= 1u << element;
        from[n][element] = lane;
    }
    const uint32_t whole = (1u << lanes) - 1;
    if (!avx512_ && std::any_of(mask, mask + count, [&](uint32_t x) { return x != whole; }))
        return false;
    for (int32_t n = 0; n < count; ++n) {
        movu(m.t, pool_table(from[n]));
        a_.emit(X::kIdVpermd, m.t, m.t, m.data[0]);
        if (mask[n] != whole) {
            a_.mov(x86::eax, mask[n]);
            a_.kmovw(m.tk, x86::eax);
            k(m.tk);
        }
        a_.emit(avx512_ ? X::kIdVmovdqu32 : X::kIdVmovdqu,
                element_at(m, static_cast<uint32_t>(span.begin + n * vector)), m.t);
    }
    return true;
}

}  // namespace wj::x64
