#include "tools/fuzz/builder.h"

#include <algorithm>

#include "frontend/decode.h"

namespace wj::fuzz {

void Builder::raw(std::initializer_list<uint32_t> words, int branch_to) {
    std::array<uint32_t, 4> padded{};
    std::copy(words.begin(), words.end(), padded.begin());
    Line line{.inst = {}, .label = -1, .branch_to = branch_to};
    if (!decode(generator.target(), padded, line.inst)) return;  // not on this target
    program.push_back(line);
}

}  // namespace wj::fuzz
