#include "backend_x64/engine.h"

#include <cpuinfo.h>
#include <ucontext.h>

#include <chrono>
#include <cstdlib>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/asm/stubs.h"
#include "backend_x64/code_cache.h"
#include "backend_x64/perf_map.h"
#include "machine/guard.h"
#include "memory/access.h"

namespace wj::x64 {
namespace {

using machine::ExitKind;
using machine::Wave;

constexpr size_t code_bytes = size_t{256} << 20;
constexpr uint32_t block_instructions = 160;

Frame& thread_frame() {
    thread_local std::unique_ptr<Frame> frame;
    if (!frame) {
        frame = std::make_unique<Frame>();
        fill_constants(*frame);
    }
    return *frame;
}

class Translator final : public machine::Engine {
public:
    Translator(std::unique_ptr<BlockSource> source, Isa isa)
        : source_(std::move(source)), isa_(isa), cache_(buffer_) {}

    Status open() {
        if (Status s = buffer_.open(code_bytes); !s) return s;
        if (!make_stubs(buffer_, isa_ == Isa::Avx512, stubs_))
            return Status(Code::HostError, "cannot assemble the entry stubs");
        return {};
    }

    const char* name() const override { return isa_ == Isa::Avx512 ? "avx512" : "avx2"; }

    ExitKind run(Wave& wave) override {
        const uint32_t mxcsr = _mm_getcsr();
        if (mxcsr != 0x1f80) _mm_setcsr(0x1f80);
        const ExitKind kind = dispatch(wave);
        // The faulting instruction has not happened: the wave stands at it.
        if (kind == ExitKind::MemoryFault) wave.pc = wave.exit.pc;
        if (mxcsr != 0x1f80) _mm_setcsr(mxcsr);
        return kind;
    }

    void invalidate(uint64_t begin, uint64_t end) override {
        const std::lock_guard lock(mutex_);
        cache_.invalidate(begin, end);
        source_->forget();
    }

    machine::EngineCounters counters() const override {
        const std::lock_guard lock(mutex_);
        return counters_;
    }

private:
    ExitKind dispatch(Wave& wave);
    SpaceKey key_of(const Wave& wave) const;
    const BlockRecord* block_at(CodeSpace& space, Wave& wave, uint64_t pc,
                                bool full);  // takes the lock
    BlockRecord* translate(CodeSpace& space, Wave& wave, uint64_t pc, bool full);
    static bool host_pc(void* engine, uintptr_t pc, void* context, Wave& wave,
                        machine::ExitInfo& out);
    void connect(Frame& frame, CodeSpace& space) const;

    std::unique_ptr<BlockSource> source_;
    const Isa isa_;
    CodeBuffer buffer_;
    CodeCache cache_;
    Stubs stubs_;
    BlockCompiler compiler_;
    mutable std::mutex mutex_;
    machine::EngineCounters counters_;
    PerfMap perf_map_;
};

SpaceKey Translator::key_of(const Wave& wave) const {
    SpaceKey key;
    key.mode = wave.mode;
    key.vgpr_count = wave.vgpr_count;
    key.agpr_count = wave.agpr_count;
    key.checked = wave.ctx->memory_mode == machine::MemoryMode::Checked;
    key.mask_addresses = wave.ctx->address_mask != ~0ull;
    return key;
}

void Translator::connect(Frame& f, CodeSpace& space) const {
    f.link_stub = stubs_.link;
    f.budget_stub = stubs_.budget;
    f.call_stub = stubs_.call;
    f.leave_stub = stubs_.leave;
    f.indirect_stub = stubs_.indirect;
    f.memory_stub = stubs_.memory;
    f.uload32_stub = stubs_.uload32;
    f.uload64_stub = stubs_.uload64;
    f.jump_table = space.jumps.get();
}

BlockRecord* Translator::translate(CodeSpace& space, Wave& wave, uint64_t pc, bool full) {
    const auto start = std::chrono::steady_clock::now();
    CompileOptions options;
    options.avx512 = isa_ == Isa::Avx512;
    options.checked = space.key.checked;
    options.mask_addresses = space.key.mask_addresses;
    CompiledBlock code;
    BlockRecord record;
    for (uint32_t limit = block_instructions;; limit /= 2) {
        const ir::Block block = source_->block({wave, pc, full, limit});
        if (compiler_.compile(block, options, code)) {
            record.pc = pc;
            record.end_pc = block.end_pc;
            record.full = full;
            record.guest_count = block.guest_count;
            record.guest_pcs = block.guest_pcs;
            break;
        }
        if (limit <= 1) return nullptr;
    }
    BlockRecord* installed = cache_.install(space, code, std::move(record));
    if (!installed) return nullptr;
    ++counters_.blocks_translated;
    counters_.instructions_translated += installed->guest_count;
    counters_.host_code_bytes += installed->size;
    counters_.translation_ns +=
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::steady_clock::now() - start)
                                  .count());
    perf_map_.add(*installed);
    return installed;
}

const BlockRecord* Translator::block_at(CodeSpace& space, Wave& wave, uint64_t pc, bool full) {
    // The jump table answers without a lock.
    const JumpEntry& e = space.jumps[pc >> 2 & (jump_entries - 1)];
    if (std::atomic_ref(const_cast<uint64_t&>(e.pc)).load(std::memory_order_acquire) == pc)
        if (const void* entry = std::atomic_ref(const_cast<const void*&>(e.entry[full]))
                                    .load(std::memory_order_acquire))
            if (const BlockRecord* block = cache_.find(reinterpret_cast<uintptr_t>(entry)))
                return block;
    const std::lock_guard lock(mutex_);
    if (const BlockRecord* block = cache_.lookup(space, pc, full)) return block;
    return translate(space, wave, pc, full);
}

bool Translator::host_pc(void* engine, uintptr_t pc, void* context, Wave& wave,
                         machine::ExitInfo& out) {
    const auto& self = *static_cast<const Translator*>(engine);
    if (!self.buffer_.contains(pc)) return false;
    const BlockRecord* block = self.cache_.find(pc);
    if (!block) return false;
    const PcEntry* e = CodeCache::find_guest(*block, pc);
    if (!e || e->guest >= block->guest_pcs.size()) return false;
    out.pc = block->guest_pcs[e->guest];
    // Inside a region rbp holds the chunk: the lanes that may have faulted.
    const auto* uc = static_cast<const ucontext_t*>(context);
    const auto chunk = static_cast<int64_t>(uc->uc_mcontext.gregs[REG_RBP]);
    const uint32_t bytes = self.isa_ == Isa::Avx512 ? 64 : 32;
    if (chunk >= -256 && chunk < 0 && chunk % bytes == 0) {
        const uint64_t lanes = (1ull << bytes / 4) - 1;
        out.lane_mask = lanes << (chunk + 256) / 4 & wave.exec();
    }
    return true;
}

ExitKind Translator::dispatch(Wave& wave) {
    Frame& frame = thread_frame();
    wave.exit = {};
    auto fail = [&](ExitKind kind, const char* reason) {
        wave.exit.kind = kind;
        wave.exit.pc = wave.pc;
        wave.exit.reason = reason;
        return kind;
    };
    if (wave.ctx->memory_mode == machine::MemoryMode::Checked) memory::refresh_tlb(*wave.ctx);
    for (;;) {
        CodeSpace* space;
        {
            const std::lock_guard lock(mutex_);
            space = &cache_.space(key_of(wave));
        }
        connect(frame, *space);
        const BlockRecord* block = block_at(*space, wave, wave.pc, wave.exec() == ~0ull);
        if (!block)
            return fail(ExitKind::Unimplemented, "the translator cannot compile this block");
        const uint8_t* entry = block->host;
        for (;;) {
            const auto reason =
                static_cast<uint32_t>(machine::run_guarded(wave, this, &host_pc, [&](Wave& w) {
                    return static_cast<ExitKind>(stubs_.enter(&w, &frame, entry));
                }));
            if (reason < static_cast<uint32_t>(Leave::Link)) {
                return wave.exit.kind;
            }
            const auto leave = static_cast<Leave>(reason);
            if (leave == Leave::Lookup) break;
            if (leave == Leave::CallStopped) return wave.exit.kind;
            if (leave == Leave::Fault) {
                if (frame.leave_address) {
                    const BlockRecord* at = cache_.find(frame.leave_address - 1);
                    if (const PcEntry* e =
                            at ? CodeCache::find_guest(*at, frame.leave_address - 1) : nullptr)
                        if (e->guest < at->guest_pcs.size()) wave.exit.pc = at->guest_pcs[e->guest];
                }
                return wave.exit.kind;
            }
            // A return address: it may lie behind the block's last byte.
            const BlockRecord* from = cache_.find(frame.leave_address - 1);
            if (!from) return fail(ExitKind::Unimplemented, "lost track of translated code");
            const auto offset = static_cast<uint32_t>(frame.leave_address -
                                                      reinterpret_cast<uintptr_t>(from->host));
            if (leave == Leave::Budget) {
                // The block was charged but has not run. It runs while anything is left.
                if (wave.budget + from->guest_count > 0) {
                    entry = from->host + from->body_offset;
                    continue;
                }
                wave.budget += from->guest_count;
                wave.pc = from->pc;
                wave.exit.kind = ExitKind::Yield;
                return ExitKind::Yield;
            }
            const LinkSite* site = nullptr;
            for (const LinkSite& s : from->links)
                if (s.return_offset == offset) site = &s;
            if (!site) return fail(ExitKind::Unimplemented, "lost track of a block link");
            wave.pc = site->target;
            const std::lock_guard lock(mutex_);
            BlockRecord* target = cache_.lookup(*space, site->target, site->full);
            if (!target) target = translate(*space, wave, site->target, site->full);
            if (!target)
                return fail(ExitKind::Unimplemented, "the translator cannot compile this block");
            cache_.link(const_cast<BlockRecord&>(*from), *site, *target);
            entry = target->host;
        }
    }
}

}  // namespace

bool host_supports(Isa isa) {
    if (!cpuinfo_initialize()) return false;
    if (!cpuinfo_has_x86_avx2() || !cpuinfo_has_x86_fma3() || !cpuinfo_has_x86_f16c() ||
        !cpuinfo_has_x86_bmi2())
        return false;
    if (isa == Isa::Avx2) return true;
    return cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() && cpuinfo_has_x86_avx512dq() &&
           cpuinfo_has_x86_avx512vl() && cpuinfo_has_x86_avx512cd() &&
           cpuinfo_has_x86_avx512vbmi() && cpuinfo_has_x86_avx512vbmi2() &&
           cpuinfo_has_x86_avx512vpopcntdq();
}

Result<std::unique_ptr<machine::Engine>> make_engine(std::unique_ptr<BlockSource> source, Isa isa) {
    if (!host_supports(isa))
        return {Code::HostError,
                isa == Isa::Avx512
                    ? "this processor lacks AVX-512 (F, BW, DQ, VL, CD, VBMI, VBMI2, VPOPCNTDQ)"
                    : "this processor lacks AVX2, FMA, F16C or BMI2"};
    auto engine = std::make_unique<Translator>(std::move(source), isa);
    if (Status s = engine->open(); !s) return s;
    return std::unique_ptr<machine::Engine>(std::move(engine));
}

}  // namespace wj::x64
