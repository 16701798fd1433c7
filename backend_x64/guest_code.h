// Guest code as the lifter reads it: by pages, copied, with a note of which pages were read and
// what was in them. That is what a translation depends on, and the on-disk cache goes by it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "machine/wave.h"

namespace wj::x64 {

struct Hash {
    uint64_t low = 0, high = 0;
    bool operator==(const Hash&) const = default;
};
Hash hash_of(const void* data, size_t bytes);

// A page of guest code and what was in it; a zero hash: there was no executable page.
struct CodePage {
    uint64_t number = 0;  // guest address / 4096
    Hash hash;
};

class GuestCode {
public:
    // Of the block that is lifted next: forgets which pages have been read.
    void begin(const machine::ExecContext& ctx);
    // The words from pc on, at least the longest instruction if so much is there. Valid until
    // the next call with the same buffer.
    std::span<const uint32_t> fetch(uint64_t pc, std::vector<uint32_t>& buffer);
    // What is in the page now.
    CodePage page(uint64_t number);
    // Page numbers; may hold one several times.
    std::vector<uint64_t>& read() { return read_; }
    // Pages changed although nobody said so, or cannot be looked at as such: nothing that comes
    // from them may be kept.
    bool uncertain() const { return uncertain_; }
    size_t page_count() const { return copies_.size(); }
    void forget();

private:
    static constexpr uint32_t page_words = 1024;
    struct Copy {
        Hash hash;
        uint32_t words[page_words];
    };
    const Copy* copy_of(uint64_t number);

    const machine::ExecContext* ctx_ = nullptr;
    std::unordered_map<uint64_t, std::unique_ptr<Copy>> copies_;
    std::vector<uint64_t> read_;
    bool uncertain_ = false;
};

}  // namespace wj::x64
