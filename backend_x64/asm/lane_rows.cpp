// Dwords of all lanes at distances that are known when the code is made, but not consecutive:
// reversed, every second one, fields of records. Whole vectors and permutations.
#include "backend_x64/asm/access_code.h"

namespace wj::x64 {

namespace x86 = asmjit::x86;

void BlockCompiler::RowCode::load_dwords(const LaneAccess& m, const DwordRow& row) const {
    pick_dwords(m, m.data[0], row.vectors, row.in, row.index,
                [&](uint32_t n) { return element_at(m, static_cast<uint32_t>(row.at[n])); });
}

void BlockCompiler::RowCode::store_dwords(const LaneAccess& m, const DwordRow& row) const {
    const uint32_t whole = (1u << chunk_lanes()) - 1;
    for (uint32_t n = 0; n < row.vectors; ++n) {
        movu(m.t, pool_table(row.from[n].data()));
        a_.emit(X::kIdVpermd, m.t, m.t, m.data[0]);
        if (row.written[n] != whole) {
            a_.mov(x86::eax, row.written[n]);
            a_.kmovw(m.tk, x86::eax);
            k(m.tk);
        }
        a_.emit(c_.avx512_ ? X::kIdVmovdqu32 : X::kIdVmovdqu,
                element_at(m, static_cast<uint32_t>(row.at[n])), m.t);
    }
}

}  // namespace wj::x64
