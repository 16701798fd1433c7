#include "machine/register_shadow.h"

#include <algorithm>

#include "machine/wave.h"

namespace wj::machine {

void RegisterShadow::begin(bool bits, uint32_t row_count, uint32_t first_rows,
                           uint32_t scalars_known, uint32_t scratch_bytes) {
    under_way.clear();
    watches_bits = bits;
    scratch.assign(scratch_bytes, 0);
    if (!bits) return;
    rows.assign(size_t{row_count} * lanes, ~0u);
    any.assign(row_count, ~uint64_t{0});
    copied.assign(row_count, 0);
    copied_scalars.reset();
    std::fill_n(rows.begin(), size_t{std::min(first_rows, row_count)} * lanes, 0u);
    std::fill_n(any.begin(), std::min(first_rows, row_count), 0u);
    scalars.fill(~0u);
    std::fill_n(scalars.begin(), std::min<uint32_t>(scalars_known, flat_scratch_lo), 0u);
    // FLAT_SCRATCH and XNACK_MASK may be hardware's, TTMPs and EXEC are.
    for (uint32_t s = flat_scratch_lo; s < scalars.size(); s++)
        if (s != m0 && s != vcc_lo && s != vcc_lo + 1) scalars[s] = 0;
    scc = true;
}

void RegisterShadow::begin_watching(uint32_t row_count) {
    watches_bits = true;
    rows.assign(size_t{row_count} * lanes, 0);
    any.assign(row_count, 0);
    copied.assign(row_count, 0);
    copied_scalars.reset();
    scalars.fill(0);
    scc = false;
}

}  // namespace wj::machine
