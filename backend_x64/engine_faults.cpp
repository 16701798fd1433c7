// Host code that has stopped in the middle: which guest instruction and which lanes it was at.
#include <ucontext.h>

#include "backend_x64/translating_engine.h"

namespace wj::x64 {

using machine::ExitKind;
using machine::Wave;

// Of the instruction that the host code belongs to.
bool Translator::find_guest_pc(const BlockRecord& block, uintptr_t host, uint64_t& pc) {
    const PcEntry* const e = CodeCache::find_guest(block, host);
    if (!e || e->guest >= block.guest_pcs.size()) return false;
    pc = block.guest_pcs[e->guest];
    return true;
}

// Of waves that have begun together (Frame::together_stub), whose chunks from `chunk` on are left,
// the one that they begin in becomes the running one. Returns its chunk, from a row's beginning on.
static int64_t find_wave(const Frame& frame, int64_t chunk, uint32_t wave_size) {
    const int64_t row_bytes = int64_t{wave_size} * 4,
                  unused = int64_t{machine::lanes} * 4 - row_bytes;
    machine::WaveRun* const run = frame.run;
    if (!run || !run->ids) return chunk - unused;
    const int64_t behind = (-chunk - 1) / row_bytes, waves = int64_t{run->most_left} + 1;
    int64_t left = run->left + behind;  // if it were all one work-group
    const auto groups = static_cast<uint32_t>(left / waves);
    left %= waves;
    run->left = static_cast<uint32_t>(left);
    run->ids = run->first_ids + (run->most_left - run->left) * size_t{run->id_bytes};
    run->groups += groups;
    *run->group_id -= groups;
    return chunk + behind * row_bytes - unused;
}

bool Translator::host_pc(void* engine, uintptr_t pc, void* context, Wave& wave,
                         machine::ExitInfo& out) {
    const auto& self = *static_cast<const Translator*>(engine);
    if (pc >= reinterpret_cast<uintptr_t>(self.stubs_.rows) &&
        pc < reinterpret_cast<uintptr_t>(self.stubs_.rows_failed)) {
        // Read ahead: what the guest itself wants is read again.
        auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
        registers[REG_RIP] =
            static_cast<greg_t>(reinterpret_cast<uintptr_t>(self.stubs_.rows_failed));
        out.kind = ExitKind::None;
        return true;
    }
    const BlockRecord* block = self.buffer_.contains(pc) ? self.cache_.find(pc) : nullptr;
    if (block) {
        self.add_block(block->host, out);
        if (!find_guest_pc(*block, pc, out.pc)) return false;
    } else {  // a stub or C++ code, which have said what they run
        const auto running = reinterpret_cast<uintptr_t>(this_thread_state().frame.running);
        block = running ? self.cache_.find(running) : nullptr;
        if (!block) return false;
        self.add_block(block->host, out);
        // A stub's return address, behind which there is a jump; else wave.exit names the
        // instruction.
        if (running - reinterpret_cast<uintptr_t>(block->host) < block->code_size)
            find_guest_pc(*block, running - 1, out.pc);
        if (!self.buffer_.contains(pc)) return true;
    }
    // Inside a region rbp holds the chunk or the lane: the lanes that may have faulted.
    const auto* uc = static_cast<const ucontext_t*>(context);
    auto chunk = static_cast<int64_t>(uc->uc_mcontext.gregs[REG_RBP]);
    const uint32_t bytes = self.isa_ == Isa::Avx512 ? 64 : 32;
    if (block && block->together_offset && chunk < 0 &&
        pc - reinterpret_cast<uintptr_t>(block->host) >= block->together_offset)
        chunk = find_wave(this_thread_state().frame, chunk, wave.size);
    if (chunk >= -256 && chunk < 0 && chunk % bytes == 0) {
        const uint64_t lanes = (1ull << bytes / 4) - 1;
        out.lane_mask = lanes << (chunk + 256) / 4 & wave.exec();
    } else if (chunk >= lane_bias && chunk < lane_bias + int64_t{machine::lanes}) {
        out.lane_mask = uint64_t{1} << (chunk - lane_bias) & wave.exec();
    }
    return true;
}

// The block that holds the host address, if any.
void Translator::add_block(const void* host, machine::ExitInfo& out) const {
    if (!host) return;
    if (const BlockRecord* block = cache_.find(reinterpret_cast<uintptr_t>(host))) {
        out.block_begin = block->pc;
        out.block_end = block->end_pc;
    }
}

}  // namespace wj::x64
