// What a kernel's code shows of how its waves have to run: found when it is launched first.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "frontend/code_object.h"
#include "frontend/target.h"

namespace wj::runtime {

struct KernelCode {
    bool reads_trapsts = false;  // machine::mode::reads_trapsts
    uint8_t sgpr_aliases = 0;    // Wave::sgpr_aliases
};

// Looks at the kernel's instructions, and if it calls functions or its size is not known, at all
// code of the object that is not another kernel's. Data between instructions may pass for more than
// there is: such a kernel runs slower, not otherwise.
KernelCode look_at_kernel(const CodeObject& object, const KernelInfo& kernel, const Target& target);

// The answers for an object's kernels, each looked for once. Any thread may ask.
class KernelCodes {
public:
    KernelCode of(const CodeObject& object, const KernelInfo& kernel, const Target& target);
    void resize(size_t kernels) { known_ = std::make_unique<std::atomic<uint16_t>[]>(kernels); }

private:
    std::unique_ptr<std::atomic<uint16_t>[]> known_;  // as of() packs them; 0: not looked for yet
};

}  // namespace wj::runtime
