#include "backend_x64/translator.h"

#include <algorithm>
#include <vector>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/engine.h"
#include "backend_x64/matrix_avx512.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "memory/address_space.h"

namespace wj::x64 {
namespace {

constexpr uint64_t fetch_bytes = 4096;

// Guest code of the wave's address space, through the lifter.
class LiftedBlocks final : public BlockSource {
public:
    LiftedBlocks(const Target& target, Isa isa, bool keep_registers)
        : target_(target),
          handler_(isa == Isa::Avx512 ? &handler_avx512 : &interp::handler),
          liveness_(
              target, [this](uint64_t pc) { return fetch(*ctx_, pc, ahead_); }, keep_registers) {}

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
        options.handler = handler_;
        options.liveness = &liveness_;
        ctx_ = wave.ctx;
        return lift_for_translation(options, request.pc, code_, insts_);
    }

    void forget() override { liveness_.forget(); }
    void reset() override {
        insts_.clear();
        liveness_.forget();
    }

private:
    // Copies the words from pc on, as far as they are mapped executable.
    static std::span<const uint32_t> fetch(const machine::ExecContext& ctx, uint64_t pc,
                                           std::vector<uint32_t>& words) {
        words.clear();
        if (pc & 3) return words;
        uint64_t at = pc & ctx.address_mask;
        const uint64_t end = at + fetch_bytes;
        while (at < end) {
            const uint64_t stop = std::min(end, (at | (memory::page_size - 1)) + 1);
            const void* host = nullptr;
            if (ctx.memory)
                host = ctx.memory->translate(at, stop - at, memory::executable);
            else if (ctx.memory_mode == machine::MemoryMode::Identity && words.empty())
                host = reinterpret_cast<const void*>(at);
            if (!host) return words;
            const auto* from = static_cast<const uint32_t*>(host);
            words.insert(words.end(), from, from + (stop - at) / 4);
            at = stop;
        }
        return words;
    }

    const Target& target_;
    interp::Handler (*handler_)(Opcode);
    lift::InstStore insts_;
    std::vector<uint32_t> words_, ahead_;
    const lift::Fetch code_ = [this](uint64_t pc) { return fetch(*ctx_, pc, words_); };
    const machine::ExecContext* ctx_ = nullptr;  // of the block being lifted
    lift::Liveness liveness_;
};

}  // namespace

ir::Block lift_for_translation(lift::Options options, uint64_t pc, const lift::Fetch& fetch,
                               lift::InstStore& store) {
    ir::Block block = lift::lift_block(options, pc, fetch, store);
    if (!block.exec_changed || block.term.kind != ir::Terminator::Kind::Branch ||
        (block.term.target != pc && block.term.next != pc))
        return block;
    // A loop that runs while lanes are left: better chunk by chunk for any EXEC than as a whole
    // while all lanes are on.
    options.exec_full = false;
    options.lane_masks = true;
    ir::Block any = lift::lift_block(options, pc, fetch, store);
    return find_divergent_loop(any) ? any : block;
}

Result<std::unique_ptr<machine::Engine>> make_translator(const Target& target, Isa isa,
                                                         const TranslatorOptions& options) {
    return make_engine(std::make_unique<LiftedBlocks>(target, isa, options.keep_registers), isa,
                       options);
}

}  // namespace wj::x64
