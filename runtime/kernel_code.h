// What a kernel's code shows of how its waves have to run: found when it is launched first.
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <mutex>

#include "frontend/code_object.h"
#include "frontend/target.h"

namespace wj::runtime {

// Barriers that are signalled and waited for by instructions of their own.
enum class SplitBarriers : uint8_t {
    None,
    Whole,  // the code goes straight from each signal to its wait, and nothing else asks
    Apart
};

struct KernelCode {
    bool reads_trapsts = false;  // machine::mode::reads_trapsts
    bool reads_wave_id = false;  // of TTMP8 (Traits::workgroup_ids_in_ttmp)
    SplitBarriers barriers = SplitBarriers::None;
    uint8_t sgpr_aliases = 0;  // Wave::sgpr_aliases
    // Bits that nobody has written may be used, so that the interpreter is to watch for them; asked
    // with machine::check_init only (UnassignedUses).
    bool watches_bits = false;

    bool whole_barriers() const { return barriers == SplitBarriers::Whole; }
};

// The answers for an object's kernels, each looked for once: in the kernel's instructions, and if
// it calls functions or its size is not known, in all code of the object that is not a kernel's.
// Data between instructions may pass for more than there is: such a kernel runs slower, not
// otherwise. Any thread may ask.
class KernelCodes {
public:
    KernelCode of(const CodeObject& object, const KernelInfo& kernel, const Target& target);
    void resize(size_t kernels) { known_ = std::make_unique<std::atomic<uint16_t>[]>(kernels); }

    // What instructions name.
    struct Use {
        std::bitset<128> scalars;  // by operand encoding
        bool reads_trapsts = false, calls = false;
        SplitBarriers barriers = SplitBarriers::None;
    };

private:
    KernelCode look(const CodeObject& object, const KernelInfo& kernel, const Target& target);

    std::unique_ptr<std::atomic<uint16_t>[]> known_;  // as of() packs them; 0: not looked for yet
    std::once_flag once_;
    Use functions_;
};

}  // namespace wj::runtime
