// Products in a wave by the documents, one number at a time: what the handlers are compared with.
// It shares nothing with them. Layouts: RDNA3's article on GPUOpen, RDNA4 ISA 7.12.2 and 7.12.3,
// CDNA5 ISA 7.12.2 to 7.12.6. Order and rounding: docs/reference/float.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/inst.h"
#include "machine/wave.h"

namespace wj::model {

// What a mnemonic says: v_wmma_<C>_16x16x<K>_<A>_<B>, v_swmmac_..., a name of B left out being A's.
struct WaveProduct {
    std::string a, b, c, d;     // "f32", "f16", "bf16", "fp8", "bf8", "iu8", "iu4", "i32"
    uint32_t rows = 16, k = 0;  // of A and D; columns are 16
    bool sparse = false, rdna4 = false;
    uint32_t part = 0;  // so many elements of k share a scale; 0: there are none
};
// Nothing for other instructions.
std::optional<WaveProduct> wave_product(const std::string& name);

bool is_integer(const std::string& type);
uint32_t bits_of(const std::string& type);

// Runs the instruction on the wave's registers.
void multiply(const WaveProduct& product, machine::Wave& w, const Inst& in);

}  // namespace wj::model
