#include "tools/kernel_blocks.h"

#include <cstring>

#include "frontend/decode.h"
#include "interpreter/interpreter.h"
#include "tools/cli.h"

namespace wj::tools {

x64::Isa choose_isa(const std::string& text) {
    if (text == "avx2") return x64::Isa::Avx2;
    if (text == "avx512") return x64::Isa::Avx512;
    if (!text.empty()) fail("--isa is avx2 or avx512, not '" + text + "'", exit_usage);
    return x64::host_supports(x64::Isa::Avx512) ? x64::Isa::Avx512 : x64::Isa::Avx2;
}

KernelBlocks::KernelBlocks(const Target& target, const CodeObject& object, const KernelInfo& info)
    : target_(target),
      begin_(info.entry_address),
      liveness_(
          target, [this](uint64_t pc) { return code_at(pc); }, false) {
    auto bytes = object.bytes_at(begin_, info.code_size);
    if (!bytes || !info.code_size)
        fail("kernel '" + info.name + "': the object does not say how long its code is");
    words_.resize(info.code_size / 4);
    std::memcpy(words_.data(), bytes->data(), words_.size() * 4);
    options_.target = &target;
    const KernelDescriptor& d = info.descriptor;
    options_.mode = d.float_mode() | (d.dx10_clamp ? machine::mode::dx10_clamp : 0) |
                    (d.ieee_mode ? machine::mode::ieee : 0) |
                    (d.fp16_ovfl ? machine::mode::fp16_ovfl : 0);
    options_.vgpr_count = d.arch_vgpr_count;
    options_.agpr_count = d.agpr_count;
    options_.sgpr_count = d.sgpr_count;
    options_.handler = &interp::handler;
    options_.liveness = &liveness_;
    options_.may_guard = true;
}

std::span<const uint32_t> KernelBlocks::code_at(uint64_t pc) const {
    const uint64_t at = (pc - begin_) / 4;
    return at < words_.size() ? std::span(words_).subspan(at) : std::span<const uint32_t>();
}

void KernelBlocks::set_profile(const lift::Profile& profile) {
    wave_.emplace(profile, options_.vgpr_count);
    sums_.emplace(target_, begin_, fetch_);
    options_.row_sums = [this](uint64_t pc) { return sums_->before(pc); };
}

ir::Block KernelBlocks::block_at(uint64_t pc, bool exec_full, uint32_t max_instructions) {
    options_.exec_full = exec_full;
    if (wave_) wave_->apply(options_);
    if (pc != begin_) options_.next = {};
    options_.max_instructions = max_instructions;
    return wave_ ? x64::lift_for_wave(options_, pc, fetch_, insts_)
                 : x64::lift_for_translation(options_, pc, fetch_, insts_);
}

void KernelBlocks::each_block(bool exec_full, const std::function<void(const ir::Block&)>& body) {
    const uint64_t end = begin_ + words_.size() * 4;
    std::set<uint64_t> todo{begin_}, done;
    if (exec_full && !wave_) {
        // What work-groups of one dimension run first: v0 is the work-item's number.
        options_.row_lines = [](uint32_t row) {
            return row ? std::nullopt : std::optional(ir::RowLine{.stride = 1});
        };
        const ir::Block first = block_at(begin_, true, lift::Options{}.max_instructions);
        options_.row_lines = nullptr;
        if (first.guarded) body(first);
    }
    while (!todo.empty()) {
        uint64_t pc = *todo.begin();
        todo.erase(todo.begin());
        done.insert(pc);
        ir::Block block = block_at(pc, exec_full, lift::Options{}.max_instructions);
        auto add = [&](uint64_t to) {
            if (to >= begin_ && to < end && to % 4 == 0 && !done.count(to)) todo.insert(to);
        };
        if (block.end_pc > pc) add(block.end_pc);
        if (block.term.kind == ir::Terminator::Kind::Jump ||
            block.term.kind == ir::Terminator::Kind::Branch)
            add(block.term.target);
        if (block.term.kind == ir::Terminator::Kind::Branch) add(block.term.next);
        body(block);
    }
}

bool KernelBlocks::instruction_at(uint64_t pc, Inst& inst) const {
    return decode(target_, code_at(pc), inst);
}

std::string KernelBlocks::text_at(uint64_t pc) const {
    Inst inst;
    return instruction_at(pc, inst) ? disassemble(target_, inst) : "(not decoded)";
}

void KernelBlocks::each_instruction(
    const std::function<void(uint64_t, const Inst&, bool)>& body) const {
    Inst inst;
    for (size_t at = 0; at < words_.size(); at += inst.size / 4) {
        const bool valid = decode(target_, std::span(words_).subspan(at), inst);
        body(begin_ + at * 4, inst, valid);
    }
}

}  // namespace wj::tools
