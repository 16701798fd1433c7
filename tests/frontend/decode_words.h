// Encodings to compare: every row of the tables with random fields, and random words.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/target.h"
#include "tests/frontend/llvm_disassembler.h"

namespace wj_test {

// A small deterministic generator (xorshift64*), the same on every platform.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
    uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1du;
    }
    uint32_t word() { return static_cast<uint32_t>(next() >> 32); }
    uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

private:
    uint64_t state_;
};

std::vector<Words> row_words(const wj::Target& target, unsigned fillings, Random& random);
std::vector<Words> uniform_words(size_t count, Random& random);
// Half-plausible encodings: an opcode of the tables, fields mostly small, modifiers mostly zero.
std::vector<Words> biased_words(const wj::Target& target, size_t count, Random& random);

}  // namespace wj_test
