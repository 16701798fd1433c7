// LLVM's disassembler behind a process boundary: a few encodings reach undefined behaviour in LLVM
// (llvm_unreachable in release builds), which must not take the test down.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wj_test {

using Words = std::array<uint32_t, 5>;

struct LlvmResult {
    enum class Kind : uint8_t { Invalid, Valid, Crashed } kind = Kind::Invalid;
    uint32_t size = 0;    // bytes
    bool marked = false;  // LLVM printed it, with a comment that an operand is invalid
    std::string text;     // without comments, blanks collapsed
};

class LlvmDisassembler {
public:
    explicit LlvmDisassembler(const std::string& processor, const std::string& features = {});
    ~LlvmDisassembler();
    LlvmDisassembler(const LlvmDisassembler&) = delete;
    LlvmDisassembler& operator=(const LlvmDisassembler&) = delete;

    std::vector<LlvmResult> disassemble(const std::vector<Words>& inputs);

private:
    void* context_ = nullptr;
};

// Drops comments ("/*...*/", "; ...", "// ...") and collapses blanks.
std::string normalise(const std::string& text);

}  // namespace wj_test
