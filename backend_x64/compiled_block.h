// What the emitter hands to the code cache.
#pragma once

#include <cstdint>
#include <vector>

namespace wj::x64 {

struct CompileOptions {
    bool avx512 = false;
    bool checked = false;         // memory through the page table
    bool mask_addresses = false;  // AND ExecContext::address_mask to every global address
};

struct PcEntry {
    uint32_t offset;  // first host byte of the instruction's code
    uint32_t guest;   // index into the block's guest PCs
};

// A direct jump through a data slot behind the code.
struct LinkSite {
    uint32_t return_offset;  // behind the call of the link stub that an unlinked slot leads to
    uint32_t cold_offset;    // that call
    uint32_t slot_offset;
    uint64_t target;
    int8_t full;  // variant: 1 full, 0 partial
};

struct CompiledBlock {
    const uint8_t* code = nullptr;     // in the emitter's buffer until the next compilation
    uint32_t size = 0, code_size = 0;  // code_size: without constants and slots
    uint32_t body_offset = 0;          // behind the budget check
    uint32_t budget_return_offset = 0;
    std::vector<PcEntry> pcs;  // by offset
    std::vector<LinkSite> links;
};

}  // namespace wj::x64
