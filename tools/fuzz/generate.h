// Random instructions, drawn from the opcode tables: any row of a target's column with random
// operands and modifiers that the decoder accepts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj::fuzz {

using Rng = std::mt19937_64;

uint32_t pick(Rng& rng, std::initializer_list<uint32_t> values);
bool chance(Rng& rng, uint32_t percent);

// Sets of rows. Simple: arithmetic that the lifter lowers without a call of the interpreter and
// that writes nothing but VGPRs, as the bodies of loops of compiled code.
enum class Pool : uint8_t { Alu, Simple, Load, Store, Atomic, Buffer, count_ };

class Generator {
public:
    // names: only arithmetic whose name contains one of these; none: all. hostile: instructions
    // overwrite addresses, too, and use anything as an address.
    explicit Generator(const Target& target, const std::vector<std::string>& names = {},
                       bool hostile = false);

    // One random instruction; its words are those of inst.words. With keep_exec it does not write
    // EXEC.
    Inst instruction(Rng& rng, Pool pool, bool keep_exec) const;
    // The code of an instruction, in its own format if the target has it there: as the encoders of
    // control flow and addresses need it.
    uint32_t code(Opcode op) const { return codes_[static_cast<size_t>(op)].code; }
    Format format(Opcode op) const { return codes_[static_cast<size_t>(op)].format; }
    bool has(Opcode op) const { return code(op) != absent; }
    bool empty() const { return rows_[static_cast<size_t>(Pool::Alu)].empty(); }
    const Target& target() const { return target_; }
    // Rows that random operands never make an instruction of.
    std::vector<std::string_view> missing() const;

private:
    static constexpr uint32_t absent = ~0u;
    struct Row {
        Opcode op;
        Format format;
        uint32_t code;
    };
    // Random operands for the row; nothing when they make no instruction.
    std::optional<Inst> try_row(const Row& row, Rng& rng) const;
    bool acceptable(const Inst& inst) const;
    bool simple(const Inst& inst) const;
    std::vector<uint32_t> encode(const Row& row, Rng& rng) const;

    const Target& target_;
    const bool hostile_;
    std::array<std::vector<Row>, static_cast<size_t>(Pool::count_)> rows_;
    struct Code {
        uint32_t code = absent;
        Format format = Format::SOPP;
    };
    std::vector<Code> codes_;
};

}  // namespace wj::fuzz
