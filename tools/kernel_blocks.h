// The code of one kernel in blocks, as the translator will meet them; for `wavejit ir`, `host-asm`,
// `compile`.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend_x64/translator.h"
#include "frontend/code_object.h"
#include "frontend/inst.h"
#include "frontend/target.h"
#include "ir/ir.h"
#include "lift/lift.h"
#include "lift/profile.h"
#include "lift/row_sums.h"

namespace wj::tools {

// "avx2", "avx512", or empty for the best that the host has; fails for another text.
x64::Isa choose_isa(const std::string& text);

class KernelBlocks {
public:
    // Fails when the object does not say how long the kernel's code is.
    KernelBlocks(const Target& target, const CodeObject& object, const KernelInfo& info);

    // What is known of the waves that the blocks are lifted for; without: nothing, but that the
    // first block of waves with all lanes on is lifted for work-groups of one dimension, too.
    void set_profile(const lift::Profile& profile);
    // Of the host's vectors: what lines are good for depends on it.
    void set_vector_lanes(uint32_t lanes) { options_.vector_lanes = lanes; }
    // See lift::Options::passed.
    void on_pass(std::function<void(std::string_view, const ir::Block&)> passed) {
        options_.passed = std::move(passed);
    }
    // Every block, ascending: those that begin at the entry, behind a block's end or at a branch
    // target. `end_pc`s are where blocks of at most `max_instructions` end.
    void each_block(bool exec_full, const std::function<void(const ir::Block&)>& body);
    uint64_t begin() const { return begin_; }
    // The block at `pc`, cut after `max_instructions`.
    ir::Block block_at(uint64_t pc, bool exec_full, uint32_t max_instructions);
    // All words from first to last, whether a branch leads there or not; padding behind the end is
    // not code.
    void each_instruction(
        const std::function<void(uint64_t pc, const Inst& inst, bool valid)>& body) const;
    // False when there are no words of an instruction at `pc`.
    bool instruction_at(uint64_t pc, Inst& inst) const;
    std::string text_at(uint64_t pc) const;

    KernelBlocks(const KernelBlocks&) = delete;
    KernelBlocks& operator=(const KernelBlocks&) = delete;

private:
    std::span<const uint32_t> code_at(uint64_t pc) const;

    const Target& target_;
    const uint64_t begin_;
    std::vector<uint32_t> words_;
    const lift::Fetch fetch_ = [this](uint64_t pc) { return code_at(pc); };
    lift::Liveness liveness_;
    lift::Options options_;
    lift::InstStore insts_;
    std::optional<lift::ProfiledWave> wave_;
    std::optional<lift::RowSums> sums_;
};

}  // namespace wj::tools
