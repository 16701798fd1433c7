// The engine of engine.h: one class, a source file for each concern:
//   engine.cpp            opens and answers; the dispatcher, which runs waves in translated code
//   engine_translate.cpp  makes the code that is missing
//   engine_store.cpp      takes it from earlier processes, and keeps it for later ones
//   engine_faults.cpp     where the guest stands when host code stops in the middle
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/asm/stubs.h"
#include "backend_x64/block_store.h"
#include "backend_x64/code_cache.h"
#include "backend_x64/engine.h"
#include "backend_x64/host_tuning.h"
#include "backend_x64/hot_blocks.h"
#include "backend_x64/perf_map.h"
#include "backend_x64/thread_state.h"
#include "machine/guard.h"

namespace wj::x64 {

class Translator final : public machine::Engine {
public:
    Translator(std::unique_ptr<BlockSource> source, Isa isa, const TranslatorOptions& options);
    Status open(const TranslatorOptions& options);

    const char* name() const override { return isa_ == Isa::Avx512 ? "avx512" : "avx2"; }

    machine::ExitKind run(machine::Wave& wave) override {
        run_waves(&wave, 1);
        return wave.exit.kind;
    }
    machine::Wave& run_all(machine::Wave& first, machine::WaveSource& source) override;

    uint32_t vector_bytes() const override { return isa_ == Isa::Avx512 ? 64 : 32; }
    Prefetch prefetch() const override { return tuning_.prefetch; }
    machine::Needs needs_at(const machine::ExecContext& ctx, uint64_t pc) override;

    bool ready_for(machine::Wave& wave) override;
    bool busy() const override { return translating_.load(std::memory_order_relaxed); }

    void invalidate(uint64_t begin, uint64_t end) override;

    machine::EngineCounters counters() const override;

    std::string hot_blocks(size_t most) const override { return hot_ ? hot_->listing(most) : ""; }

private:
    using Wave = machine::Wave;
    using ExitKind = machine::ExitKind;
    static constexpr uint32_t block_instructions = 320;  // at most

    // What became of a block that was asked for: there, or why not.
    struct Found {
        BlockRecord* block = nullptr;
        const char* why = nullptr;  // neither: there is no room, make_room() helps
    };
    static constexpr const char* no_memory = "the host is out of memory for translated code";
    enum class Next : uint8_t { Stop, MakeRoom, LetFlush };

    // ---- engine.cpp ----
    Next run_inside(ThreadState& thread, machine::WaveSource& source);
    void finish_columns(ThreadState& thread);
    ExitKind run_waves_from(ThreadState& thread, machine::GuardFrame& guard,
                            machine::WaveSource& source, const KnownEntry& known,
                            const uint8_t* entry);
    void enter(ThreadState& thread);
    Found make_room(ThreadState& thread, Wave& wave, uint64_t flushes);
    const KnownEntry* entry_at(ThreadState& thread, const Wave& wave) const;
    bool starts_at(const KnownEntry& entry, const Wave& wave) const;
    Found find_entry(ThreadState& thread, Wave& wave);  // takes the lock
    void renew_stamp();
    static SpaceKey key_of(const Wave& wave);
    void connect(Frame& frame, CodeSpace& space) const;

    // ---- engine_translate.cpp ----
    // With the lock held.
    Found block_at(CodeSpace& space, Wave& wave, uint64_t pc, Variant variant);
    Found translate(CodeSpace& space, Wave& wave, uint64_t pc, Variant variant);
    void make_memory_stubs(uint64_t wanted);
    void tell_plan(const ir::Block& block, const BlockRecord& record, const Decisions& decisions,
                   const Wave& wave);
    void name_for_profilers(const BlockRecord& block, const Wave& wave);
    void do_without_stubs(const void* access);  // takes the lock

    // ---- engine_store.cpp ----
    // Without the cache nothing fails that works with it: these do nothing when memory is short.
    BlockRecord* load(CodeSpace& space, const Wave& wave, uint64_t pc, Variant variant);
    bool find_stored(const Wave& wave, uint64_t pc, Variant variant, CompiledBlock& code,
                     BlockRecord& record);
    void keep(const CompiledBlock& code, const BlockRecord& record, const Wave& wave);
    void open_store(const TranslatorOptions& options);
    Hash configuration(const Wave& wave) const;

    // ---- engine_faults.cpp ----
    static bool host_pc(void* engine, uintptr_t pc, void* context, Wave& wave,
                        machine::ExitInfo& out);
    static bool find_guest_pc(const BlockRecord& block, uintptr_t host, uint64_t& pc);
    void add_block(const void* host, machine::ExitInfo& out) const;

    std::unique_ptr<BlockSource> source_;
    const Isa isa_;
    CodeBuffer buffer_;
    CodeCache cache_;
    Stubs stubs_;
    size_t stub_bytes_ = 0;
    MemoryStubs memory_stubs_;  // of those that blocks have called
    uint64_t memory_stubs_made_ = 0;
    uint8_t* stub_code_ = nullptr;
    size_t stub_room_ = 0;
    BlockCompiler compiler_;
    uint32_t loop_chunks_ = 0, slice_iterations_ = 0;
    bool all_patterns_ = false;  // what is counted is the code that is run often
    const HostTuning tuning_ = host_tuning();
    mutable std::mutex mutex_;
    // A flush drops all translated code; it waits until no thread is inside, and new ones wait for
    // it. Waves hold only guest state, so those that are suspended do not matter.
    std::atomic<bool> flush_wanted_{false};
    std::atomic<bool> translating_{false};
    std::condition_variable flushed_;
    std::atomic<uint64_t> stamp_{0};  // new whenever known entries become void; unique to an engine
    machine::EngineCounters counters_;
    PerfMap perf_map_;
    const std::function<void(const std::string&)> plans_;  // TranslatorOptions::plans
    std::unique_ptr<HotBlocks> hot_;                       // when executed instructions are counted
    std::unique_ptr<BlockStore> store_;  // of earlier processes and for later ones; or null
    Hash store_identity_;
    std::vector<uint8_t> loaded_;
};

}  // namespace wj::x64
