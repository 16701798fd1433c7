// What memory holds, allocation by allocation, and how two such contents differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/image.h"

namespace wj::tools {

// What an allocation holds, where that lies: captures may be as large as memory is.
struct Piece {
    std::string name;  // "allocation 7 (wj_memory_allocate, 64 bytes at 0x...)"
    uint64_t address = 0, size = 0;
    std::vector<memory::ImageBlock::Run> runs;  // by offset, apart; what lies between them is zero
    std::shared_ptr<const void> holder;         // of the runs' bytes, or null: somebody else is

    // From an offset below `size` on, as far as it lies in one place: a byte at least.
    std::span<const std::byte> at(uint64_t offset) const;
};
std::string piece_name(uint64_t number, const std::string& label, uint64_t bytes, uint64_t address);
// Of what kernels may read, in the image's order; bytes are the image's.
std::vector<Piece> pieces_of(const memory::Image& image);
// With bytes of its own, of pages that are not zero.
Piece copy_of(const Piece& piece);
uint64_t hash_of(const Piece& piece);

struct Change {
    uint64_t first = 0;  // the first offset whose bytes differ
    uint64_t bytes = 0;  // how many do; 0: none
};
// Of two pieces of the same size.
Change change_of(const Piece& a, const Piece& b);

// The first bytes that differ, and how many do.
struct Difference {
    size_t piece = 0;  // its number
    Change change;
    uint64_t pieces = 0;  // that differ
};
// Of as many pieces, of the same sizes.
std::optional<Difference> compare(const std::vector<Piece>& a, const std::vector<Piece>& b);
// "allocation 7 (...) at offset 0x10: 01 02 03 04, not 01 02 03 05; 12 bytes of it differ"
std::string describe(const Difference& d, const std::vector<Piece>& got,
                     const std::vector<Piece>& wanted);

}  // namespace wj::tools
