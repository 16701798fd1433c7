// What the checkers of registers know of a wave: loads that are under way, and bits that nobody has
// written.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wj::machine {

// Counters of s_waitcnt and its successors, as bits. Where a family has one counter for two of
// them, both change together.
enum WaitCounter : uint8_t {
    wait_load = 1,   // vector loads
    wait_store = 2,  // vector stores
    wait_ds = 4,     // LDS, lane permutations, GDS
    wait_km = 8,     // scalar loads, messages
};

struct RegisterShadow {
    struct Access {
        uint8_t counted = 0;   // WaitCounters that it has not left yet
        uint8_t needed = 0;    // those that say that its result is there
        bool in_order = true;  // with others of these counters
        char file = 0;         // of the result: 'v', 'a', 's' or 0
        uint16_t first = 0, count = 0;
        uint64_t pc = 0;
    };
    std::vector<Access> under_way;  // in the order of their issue

    // 1: nobody has written the bit. Rows of 64 dwords: VGPRs, then AccVGPRs.
    std::array<uint32_t, 128> scalars{};
    bool scc = false;
    std::vector<uint32_t> rows;
    std::vector<uint64_t> any;  // of a row: lanes with such bits
    // Lanes of a row, and scalars, whose bits are unwritten as they were in global memory: stores
    // put them back there.
    std::vector<uint64_t> copied;
    std::bitset<128> copied_scalars;
    std::vector<uint64_t> scratch;  // of each byte of private memory: lanes that have written it
    bool watches_bits = false;

    uint32_t* row(uint32_t r) { return &rows[size_t{r} * 64]; }
    // Without `bits` only private memory is known. first_rows: VGPRs that have values;
    // scalars_known: SGPRs from s0 on.
    void begin(bool bits, uint32_t row_count, uint32_t first_rows, uint32_t scalars_known,
               uint32_t scratch_bytes);
    // From here on, as if all bits of registers had been written.
    void begin_watching(uint32_t row_count);
};

}  // namespace wj::machine
