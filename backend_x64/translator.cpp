#include "backend_x64/translator.h"

#include <algorithm>
#include <vector>

#include "backend_x64/engine.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "memory/address_space.h"

namespace wj::x64 {
namespace {

constexpr uint64_t fetch_bytes = 4096;

// Guest code of the wave's address space, through the lifter.
class LiftedBlocks final : public BlockSource {
public:
    explicit LiftedBlocks(const Target& target) : target_(target) {}

    ir::Block block(const BlockRequest& request) override {
        const machine::Wave& wave = request.wave;
        lift::Options options;
        options.target = &target_;
        options.mode = wave.mode;
        options.exec_full = request.exec_full;
        options.vgpr_count = wave.vgpr_count;
        options.agpr_count = wave.agpr_count;
        options.sgpr_count = wave.sgpr_count;
        options.max_instructions = request.max_instructions;
        options.handler = &interp::handler;
        fetch(*wave.ctx, request.pc);
        return lift::lift_block(options, request.pc, words_, insts_);
    }

private:
    // Copies the words from pc on, as far as they are mapped executable.
    void fetch(const machine::ExecContext& ctx, uint64_t pc) {
        words_.clear();
        if (pc & 3) return;
        uint64_t at = pc & ctx.address_mask;
        const uint64_t end = at + fetch_bytes;
        while (at < end) {
            const uint64_t stop = std::min(end, (at | (memory::page_size - 1)) + 1);
            const void* host = nullptr;
            if (ctx.memory)
                host = ctx.memory->translate(at, stop - at, memory::executable);
            else if (ctx.memory_mode == machine::MemoryMode::Identity && words_.empty())
                host = reinterpret_cast<const void*>(at);
            if (!host) return;
            const auto* from = static_cast<const uint32_t*>(host);
            words_.insert(words_.end(), from, from + (stop - at) / 4);
            at = stop;
        }
    }

    const Target& target_;
    lift::InstStore insts_;
    std::vector<uint32_t> words_;
};

}  // namespace

Result<std::unique_ptr<machine::Engine>> make_translator(const Target& target, Isa isa) {
    return make_engine(std::make_unique<LiftedBlocks>(target), isa);
}

}  // namespace wj::x64
