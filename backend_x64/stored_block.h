// A translated block as bytes that hold in another process, with guest code and wavejit loaded
// elsewhere: what the on-disk cache keeps.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "backend_x64/code_cache.h"
#include "backend_x64/guest_code.h"

namespace wj::x64 {

// Empty when the block holds something that cannot be kept. `record`: what does not come from the
// emitter; `home`: number of the page that record.pc lies in.
std::vector<std::byte> store_block(const CompiledBlock& code, const BlockRecord& record,
                                   std::span<const CodePage> pages, uint64_t home);

class StoredBlock {
public:
    // 8-byte aligned; looked at as long as this lives. Any bytes may come.
    explicit StoredBlock(std::span<const std::byte> bytes);
    bool ok() const { return head_; }

    struct Page {
        int64_t distance;  // from the page of the block, in pages
        Hash hash;
    };
    // What the translation depends on.
    std::span<const Page> pages() const { return pages_; }

    // False when an instruction cannot be had. `bytes` gets the code that `code` refers to.
    using Instruction = std::function<const void*(uint64_t pc)>;
    bool restore(uint64_t pc, const Instruction& instruction, std::vector<uint8_t>& bytes,
                 CompiledBlock& code, BlockRecord& record) const;

private:
    struct Head;
    struct Link;
    struct Address;
    friend std::vector<std::byte> store_block(const CompiledBlock&, const BlockRecord&,
                                              std::span<const CodePage>, uint64_t);
    bool well_formed() const;

    const Head* head_ = nullptr;
    std::span<const Page> pages_;
    std::span<const PcEntry> pcs_;
    std::span<const int64_t> guest_pcs_;
    std::span<const Link> links_;
    std::span<const Address> addresses_;
    std::span<const uint8_t> code_;
};

}  // namespace wj::x64
