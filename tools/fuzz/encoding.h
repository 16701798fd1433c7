// The words of an instruction, written field by field where the target's encodings have them.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/layout.h"

namespace wj::fuzz {

class Encoding {
public:
    // Fields that are not set are 0. No words: the family has no such format.
    Encoding(Family family, Format format, uint32_t opcode);
    explicit Encoding(const Layout& layout);

    bool has(Field f) const { return layout_ && layout_->has(f); }
    // As many of the value's low bits as the field has; none where there is no such field.
    Encoding& set(Field f, uint32_t value);
    void append(uint32_t word) { words_.push_back(word); }
    const std::vector<uint32_t>& words() const { return words_; }

private:
    const Layout* layout_ = nullptr;
    std::vector<uint32_t> words_;
};

uint32_t end_of_program(const Target& target);

}  // namespace wj::fuzz
