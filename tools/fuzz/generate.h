// Random guest blocks, drawn from the instruction tables: any row of a family's column with random
// operands and modifiers that the decoder accepts, restricted so that a block ends and touches only
// its own memory.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj::fuzz {

using Rng = std::mt19937_64;

// Register conventions of generated blocks; nothing writes these.
//   v[0:1] address into the global buffer, v2 LDS address, v3 scratch offset, s[0:1] base of the
//   global buffer
inline constexpr uint32_t reserved_vgprs = 4, reserved_sgprs = 4, vgprs = 32, agprs = 32,
                          sgprs = 48;

class Generator {
public:
    explicit Generator(const Target& target);

    // One random instruction; its words are those of inst.words.
    Inst instruction(Rng& rng) const;
    size_t rows() const { return rows_.size(); }

private:
    struct Row {
        Opcode op;
        Format format;
        uint32_t code;
    };
    bool acceptable(const Inst& inst) const;
    std::vector<uint32_t> encode(const Row& row, Rng& rng) const;

    const Target& target_;
    std::vector<Row> rows_;
};

}  // namespace wj::fuzz
