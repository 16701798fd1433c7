#include "backend_x64/engine.h"

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/asm/memory_stubs.h"
#include "backend_x64/asm/stubs.h"
#include "backend_x64/block_store.h"
#include "backend_x64/build_identity.h"
#include "backend_x64/code_cache.h"
#include "backend_x64/column_store.h"
#include "backend_x64/host_tuning.h"
#include "backend_x64/hot_blocks.h"
#include "backend_x64/perf_map.h"
#include "backend_x64/stored_block.h"
#include "backend_x64/thread_state.h"
#include "machine/guard.h"
#include "memory/access.h"
#include "memory/address_space.h"

namespace wj::x64 {
namespace {

using machine::ExitKind;
using machine::Wave;

constexpr uint32_t block_instructions = 320;
// Each space has a jump table; a guest that writes many different MODE values makes many.
constexpr size_t most_spaces = 1024;
// Of memory stubs; pages are taken as they are written.
constexpr size_t most_stub_bytes = size_t{256} << 10;
// Invalidated code is collected when it is most of what there is and worth the translations.
constexpr size_t worth_collecting = size_t{16} << 20;

// Variant::Full is for such waves.
bool has_whole_exec(const Wave& wave) {
    return wave.exec() == wave.ctx->whole_exec();
}

class Translator final : public machine::Engine {
public:
    Translator(std::unique_ptr<BlockSource> source, Isa isa, const TranslatorOptions& options)
        : source_(std::move(source)), isa_(isa), cache_(buffer_), perf_map_(options.symbol) {
        renew_stamp();
        loop_chunks_ = options.loop_chunks;
        all_patterns_ = options.all_patterns || options.count;
        if (options.count) hot_ = std::make_unique<HotBlocks>();
    }

    Status open(const TranslatorOptions& options) {
        if (Status s = buffer_.open(options.code_bytes); !s) return s;
        if (!make_stubs(buffer_, isa_ == Isa::Avx512, stubs_))
            return Status(Code::HostError, "cannot assemble the entry stubs");
        for (auto& entry : memory_stubs_.entry) entry = stubs_.any_access;
        stub_room_ = std::min(most_stub_bytes, buffer_.size() / 8);
        stub_code_ = buffer_.allocate(stub_room_);
        if (!stub_code_) stub_room_ = 0;
        stub_bytes_ = buffer_.used();
        open_store(options);
        return {};
    }

    const char* name() const override { return isa_ == Isa::Avx512 ? "avx512" : "avx2"; }

    ExitKind run(Wave& wave) override {
        run_waves(&wave, 1);
        return wave.exit.kind;
    }
    Wave& run_all(Wave& first, machine::WaveSource& source) override;

    uint32_t vector_bytes() const override { return isa_ == Isa::Avx512 ? 64 : 32; }
    Prefetch prefetch() const override { return tuning_.prefetch; }
    machine::LiveRegisters live_at(const machine::ExecContext& ctx, uint64_t pc) override try {
        const std::lock_guard lock(mutex_);
        return source_->live_at(ctx, pc);
    } catch (const std::bad_alloc&) {
        return machine::LiveRegisters::all();
    }

    bool ready_for(Wave& wave) override {
        const std::lock_guard lock(mutex_);
        const Variant variant = variant_for(has_whole_exec(wave));
        CodeSpace& space = cache_.space(key_of(wave));
        return cache_.lookup(space, wave.pc, variant) || load(space, wave, wave.pc, variant);
    }
    bool busy() const override { return translating_.load(std::memory_order_relaxed); }

    void invalidate(uint64_t begin, uint64_t end) override {
        const std::lock_guard lock(mutex_);
        renew_stamp();
        cache_.invalidate(begin, end);
        source_->forget();
    }

    machine::EngineCounters counters() const override {
        const std::lock_guard lock(mutex_);
        machine::EngineCounters c = counters_;
        if (store_) c.blocks_stored = store_->written();
        if (hot_) {
            const HotBlocks::Totals t = hot_->totals();
            c.host_instructions = t.instructions;
            c.host_calls = t.calls;
        }
        return c;
    }

    std::string hot_blocks(size_t most) const override { return hot_ ? hot_->listing(most) : ""; }

private:
    // What became of a block that was asked for: there, or why not.
    struct Found {
        BlockRecord* block = nullptr;
        const char* why = nullptr;  // neither: there is no room, make_room() helps
    };
    enum class Next : uint8_t { Stop, MakeRoom, LetFlush };

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
    // With the lock held.
    Found block_at(CodeSpace& space, Wave& wave, uint64_t pc, Variant variant);
    Found translate(CodeSpace& space, Wave& wave, uint64_t pc, Variant variant);
    // Without the cache nothing fails that works with it: these do nothing when memory is short.
    BlockRecord* load(CodeSpace& space, const Wave& wave, uint64_t pc, Variant variant);
    bool find_stored(const Wave& wave, uint64_t pc, Variant variant, CompiledBlock& code,
                     BlockRecord& record);
    void keep(const CompiledBlock& code, const BlockRecord& record, const Wave& wave);
    void open_store(const TranslatorOptions& options);
    Hash configuration(const Wave& wave) const;
    void renew_stamp();
    static SpaceKey key_of(const Wave& wave);
    static bool host_pc(void* engine, uintptr_t pc, void* context, Wave& wave,
                        machine::ExitInfo& out);
    void add_block(const void* host, machine::ExitInfo& out) const;
    void connect(Frame& frame, CodeSpace& space) const;
    void make_memory_stubs(uint64_t wanted);
    void do_without_stubs(const void* access);

    std::unique_ptr<BlockSource> source_;
    const Isa isa_;
    CodeBuffer buffer_;
    CodeCache cache_;
    Stubs stubs_;
    size_t stub_bytes_ = 0;
    MemoryStubs memory_stubs_;  // those that no block has called yet lead to C++
    uint64_t memory_stubs_made_ = 0;
    uint8_t* stub_code_ = nullptr;
    size_t stub_room_ = 0;
    BlockCompiler compiler_;
    uint32_t loop_chunks_ = 0;
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
    std::unique_ptr<HotBlocks> hot_;     // when executed instructions are counted
    std::unique_ptr<BlockStore> store_;  // of earlier processes and for later ones; or null
    Hash store_identity_;
    std::vector<uint8_t> loaded_;
};

// True while it lives.
class Flag {
public:
    explicit Flag(std::atomic<bool>& flag) : flag_(flag) { set(true); }
    ~Flag() { set(false); }
    Flag(const Flag&) = delete;
    Flag& operator=(const Flag&) = delete;

private:
    void set(bool value) { flag_.store(value, std::memory_order_relaxed); }
    std::atomic<bool>& flag_;
};

void refuse(Wave& wave, const char* reason) {
    wave.exit.kind = ExitKind::Unimplemented;
    wave.exit.pc = wave.pc;
    wave.exit.reason = reason;
}

void Translator::renew_stamp() {
    static std::atomic<uint64_t> last{0};
    stamp_.store(++last, std::memory_order_release);
}

SpaceKey Translator::key_of(const Wave& wave) {
    SpaceKey key;
    key.mode = wave.mode;
    key.vgpr_count = wave.vgpr_count;
    key.agpr_count = wave.agpr_count;
    key.lane_layout = wave.ctx->lane_layout;
    key.grid_layout = wave.ctx->grid_layout;
    key.whole_lanes = wave.ctx->whole_lanes;
    key.checked = wave.ctx->memory_mode == machine::MemoryMode::Checked;
    key.mask_addresses = wave.ctx->address_mask != ~0ull;
    key.exclusive = wave.ctx->exclusive_memory;
    return key;
}

void Translator::connect(Frame& f, CodeSpace& space) const {
    f.link_stub = stubs_.link;
    f.budget_stub = stubs_.budget;
    f.call_stub = stubs_.call;
    f.leave_stub = stubs_.leave;
    f.indirect_stub = stubs_.indirect;
    f.turn_stub = stubs_.turn;
    f.memory_stub = stubs_.memory;
    f.division_stub = stubs_.division;
    f.again_stub = stubs_.again;
    f.ahead_stub = stubs_.ahead;
    f.fewer_stub = stubs_.fewer;
    f.even_row_stub = stubs_.even_row;
    f.rows_stub = stubs_.rows;
    f.open_rows_stub = stubs_.open_rows;
    f.store_rows_stub = stubs_.store_rows;
    f.together_stub = stubs_.together;
    f.step_stub = stubs_.step;
    f.step_ids_stub = stubs_.step_ids;
    f.settle_stub = stubs_.settle;
    f.memory_stubs = &memory_stubs_;
    f.any_access_stub = stubs_.any_access;
    f.shapes_stub = stubs_.shapes;
    f.gather_stub = stubs_.gather;
    f.spread_stub = stubs_.spread;
    f.uload32_stub = stubs_.uload32;
    f.uload64_stub = stubs_.uload64;
    f.jump_table = space.jumps.get();
}

void Translator::make_memory_stubs(uint64_t wanted) {
    for (uint64_t left = wanted & ~memory_stubs_made_; left; left &= left - 1) {
        const auto number = static_cast<uint32_t>(std::countr_zero(left));
        memory_stubs_made_ |= uint64_t{1} << number;
        const std::span<const uint8_t> code = memory_stub(compiler_, number, isa_ == Isa::Avx512);
        const size_t room = (code.size() + 63) & ~size_t{63};
        if (code.empty() || room > stub_room_) continue;
        std::memcpy(stub_code_, code.data(), code.size());
        memory_stubs_.entry[number].store(buffer_.executable(stub_code_),
                                          std::memory_order_release);
        stub_code_ += room;
        stub_room_ -= room;
    }
}

// The block of the access is translated anew when it is entered next.
void Translator::do_without_stubs(const void* access) {
    const std::lock_guard lock(mutex_);
    const BlockRecord* const block = cache_.find(reinterpret_cast<uintptr_t>(access));
    if (!block || !block->space->all_patterns.emplace(block->pc, block->variant).second) return;
    cache_.retire(const_cast<BlockRecord&>(*block));
    renew_stamp();
}

Translator::Found Translator::translate(CodeSpace& space, Wave& wave, uint64_t pc,
                                        Variant variant) {
    const size_t dead = cache_.dead_bytes();
    if (cache_.space_count() > most_spaces ||
        (dead > worth_collecting && dead > buffer_.used() / 2))
        return {};
    const auto start = std::chrono::steady_clock::now();
    const Flag translating(translating_);
    CompileOptions options;
    const bool often = space.all_patterns.contains({pc, variant});
    options.all_patterns = all_patterns_ || often;
    BlockRecord* installed = often ? nullptr : load(space, wave, pc, variant);
    options.avx512 = isa_ == Isa::Avx512;
    options.checked = space.key.checked;
    options.mask_addresses = space.key.mask_addresses;
    options.exclusive = space.key.exclusive;
    // What is counted is to be the same on every host.
    options.fetches_streams = tuning_.fetches_streams || hot_;
    options.gathers_slowly = tuning_.gathers_slowly || all_patterns_;
    options.splits_loads = (tuning_.splits_loads || all_patterns_) && !hot_;
    options.loop_chunks = loop_chunks_;
    options.row_lanes = machine::row_lanes(space.key.lane_layout);
    options.whole_lanes = space.key.whole_lanes;
    options.variant = variant;
    options.counters = hot_ ? &hot_->counters() : nullptr;
    for (uint32_t limit = block_instructions; !installed; limit /= 2) {
        const bool last = limit <= 1;
        CompiledBlock code;
        const ir::Block block = source_->block({wave, pc, variant, limit});
        if (!compiler_.compile(block, options, code)) {
            if (last) return {.why = "the translator cannot compile this instruction"};
            continue;
        }
        BlockRecord record;
        record.pc = pc;
        record.begin_pc = block.begin_pc;
        record.end_pc = block.end_pc;
        record.variant = variant;
        record.guest_count = block.guest_count;
        record.guest_pcs = block.guest_pcs;
        installed = cache_.install(space, code, std::move(record));
        if (installed) {
            ++counters_.blocks_translated;
            counters_.instructions_translated += installed->guest_count;
            counters_.host_code_bytes += installed->size;
            if (store_) keep(code, *installed, wave);
            if (hot_)
                hot_->add(perf_map_.name_of(*installed), *installed, code,
                          [&](uint64_t at) { return source_->text(wave, at); });
            make_memory_stubs(code.memory_stubs);  // in the place of the block's code
            break;
        }
        if (!cache_.empty()) return {};
        if (last) return {.why = "the code memory is too small for one instruction"};
    }
    counters_.translation_ns +=
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::steady_clock::now() - start)
                                  .count());
    if (perf_map_.wanted())
        perf_map_.add(*installed, [&](uint64_t at) { return source_->text(wave, at); });
    return {.block = installed};
}

// ---- translations of other processes

void Translator::open_store(const TranslatorOptions& options) {
    const std::string source = source_->identity(), &build = build_identity().id;
    if (!options.cache || options.count || source.empty() || build.empty()) return;
    const std::string all = build + "/" + source + "/" + name() + "/" +
                            std::to_string(options.loop_chunks) +
                            (options.all_patterns ? "/all" : "");
    store_identity_ = hash_of(all.data(), all.size());
    store_ = BlockStore::open(options.cache_directory, options.cache_bytes);
}

// Everything that changes the code of a block apart from guest code.
Hash Translator::configuration(const Wave& wave) const {
    // A field that is added to the key does not compile here until it is one of these.
    const auto [mode, vgprs, agprs, lane_layout, grid_layout, whole_lanes, checked, mask_addresses,
                exclusive] = key_of(wave);
    const uint64_t all[] = {store_identity_.low,
                            store_identity_.high,
                            mode,
                            vgprs,
                            agprs,
                            lane_layout,
                            grid_layout,
                            whole_lanes,
                            wave.sgpr_count,
                            checked,
                            mask_addresses,
                            exclusive,
                            block_instructions};
    return hash_of(all, sizeof all);
}

static uint64_t page_number(const Wave& wave, uint64_t pc) {
    return (pc & wave.ctx->address_mask) >> memory::page_bits;
}

static uint32_t store_entry(uint64_t pc, Variant variant) {
    return static_cast<uint32_t>(pc % memory::page_size) << 3 | static_cast<uint32_t>(variant);
}

// The block as an earlier process has kept it, or null.
BlockRecord* Translator::load(CodeSpace& space, const Wave& wave, uint64_t pc, Variant variant) {
    CompiledBlock code;
    BlockRecord record;
    if (!store_ || !find_stored(wave, pc, variant, code, record)) return nullptr;
    record.variant = variant;
    BlockRecord* const installed = cache_.install(space, code, std::move(record));
    if (installed) {
        make_memory_stubs(code.memory_stubs);
        ++counters_.blocks_loaded;
    }
    return installed;
}

bool Translator::find_stored(const Wave& wave, uint64_t pc, Variant variant, CompiledBlock& code,
                             BlockRecord& record) try {
    const uint64_t home = page_number(wave, pc);
    CodePage page;
    if (!source_->page(wave, home, page)) return false;
    const StoredBlock stored(
        store_->find({configuration(wave), page.hash}, store_entry(pc, variant)));
    if (!stored.ok()) return false;
    for (const StoredBlock::Page& p : stored.pages())
        if (!source_->page(wave, home + static_cast<uint64_t>(p.distance), page) ||
            page.hash != p.hash)
            return false;
    return stored.restore(
        pc, [&](uint64_t at) { return source_->instruction(wave, at); }, loaded_, code, record);
} catch (const std::bad_alloc&) {
    return false;
}

void Translator::keep(const CompiledBlock& code, const BlockRecord& record, const Wave& wave) try {
    std::vector<CodePage> pages;
    if (!source_->dependencies(pages)) return;
    const uint64_t home = page_number(wave, record.pc);
    const auto at = std::find_if(pages.begin(), pages.end(),
                                 [&](const CodePage& p) { return p.number == home; });
    if (at == pages.end()) return;
    std::vector<std::byte> bytes = store_block(code, record, pages, home);
    if (!bytes.empty())
        store_->add({configuration(wave), at->hash}, store_entry(record.pc, record.variant),
                    std::move(bytes));
} catch (const std::bad_alloc&) {
}

Translator::Found Translator::block_at(CodeSpace& space, Wave& wave, uint64_t pc, Variant variant) {
    if (BlockRecord* block = cache_.lookup(space, pc, variant)) return {.block = block};
    if (flush_wanted_.load(std::memory_order_relaxed)) return {};
    try {
        return translate(space, wave, pc, variant);
    } catch (const std::bad_alloc&) {
        return {.why = "the host is out of memory for translated code"};
    }
}

const KnownEntry* Translator::entry_at(ThreadState& thread, const Wave& wave) const {
    const bool full = has_whole_exec(wave);
    const KnownEntry& e = thread.entry_of(wave.pc, full);
    return e.pc == wave.pc && e.stamp == stamp_.load(std::memory_order_acquire) && e.full == full &&
                   e.key == key_of(wave)
               ? &e
               : nullptr;
}

// The same for a wave with the context and the register counts of one that started there.
bool Translator::starts_at(const KnownEntry& e, const Wave& wave) const {
    return e.pc == wave.pc && e.stamp == stamp_.load(std::memory_order_acquire) &&
           e.full == has_whole_exec(wave) && e.key.mode == wave.mode;
}

Translator::Found Translator::find_entry(ThreadState& thread, Wave& wave) {
    const bool full = has_whole_exec(wave);
    const std::lock_guard lock(mutex_);
    CodeSpace& space = cache_.space(key_of(wave));
    const Found found = block_at(space, wave, wave.pc, variant_for(full));
    if (found.block)
        thread.fill({stamp_.load(std::memory_order_relaxed), wave.pc, space.key, full, &space,
                     found.block->host});
    return found;
}

// Of the instruction that the host code belongs to.
static bool find_guest_pc(const BlockRecord& block, uintptr_t host, uint64_t& pc) {
    const PcEntry* const e = CodeCache::find_guest(block, host);
    if (!e || e->guest >= block.guest_pcs.size()) return false;
    pc = block.guest_pcs[e->guest];
    return true;
}

// Of waves that have begun together (Frame::together_stub), whose chunks from `chunk` on are left,
// the one that they begin in becomes the running one. Returns its chunk.
static int64_t find_wave(const Frame& frame, int64_t chunk) {
    constexpr int64_t row_bytes = int64_t{machine::lanes} * 4;
    machine::WaveRun* const run = frame.run;
    if (!run || !run->ids) return chunk;
    const int64_t behind = (-chunk - 1) / row_bytes, waves = int64_t{run->most_left} + 1;
    int64_t left = run->left + behind;  // if it were all one work-group
    const auto groups = static_cast<uint32_t>(left / waves);
    left %= waves;
    run->left = static_cast<uint32_t>(left);
    run->ids = run->first_ids + (run->most_left - run->left) * size_t{run->id_bytes};
    run->groups += groups;
    *run->group_id -= groups;
    return chunk + behind * row_bytes;
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
        chunk = find_wave(this_thread_state().frame, chunk);
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

void Translator::enter(ThreadState& thread) {
    for (;;) {
        thread.inside.store(this);  // in front of the look at flush_wanted_, for all threads
        if (!flush_wanted_.load()) return;
        thread.inside.store(nullptr);
        std::unique_lock lock(mutex_);
        flushed_.wait(lock, [&] { return !flush_wanted_.load(); });
    }
}

// Called outside; returns inside. `flushes`: their number when the room was missed.
Translator::Found Translator::make_room(ThreadState& thread, Wave& wave, uint64_t flushes) {
    std::unique_lock lock(mutex_);
    if (flush_wanted_.load() || counters_.code_flushes != flushes) {
        lock.unlock();
        enter(thread);
        return {};
    }
    flush_wanted_.store(true);
    // Threads inside leave at the latest when their wave has used its budget.
    while (any_thread_inside(this)) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        lock.lock();
    }
    renew_stamp();
    cache_.reset();
    source_->reset();
    buffer_.reset(stub_bytes_);
    ++counters_.code_flushes;
    thread.inside.store(this);
    flush_wanted_.store(false);
    // This thread's block comes first, so that every flush helps at least the one that made it.
    const Found found =
        block_at(cache_.space(key_of(wave)), wave, wave.pc, variant_for(has_whole_exec(wave)));
    lock.unlock();
    flushed_.notify_all();
    return found;
}

// Called by translated code.
static bool start_again(Wave& wave, Frame& frame, uint32_t executed) {
    return !frame.flush_wanted->load(std::memory_order_relaxed) && !frame.often &&
           frame.source->again(wave, executed);
}

static void settle(machine::WaveSource& source) {
    source.settle();
}

Wave& Translator::run_all(Wave& first, machine::WaveSource& source) {
    const uint32_t mxcsr = _mm_getcsr();
    if (mxcsr != 0x1f80) _mm_setcsr(0x1f80);
    ThreadState& thread = this_thread_state();
    thread.wave = &first;
    thread.frame.not_streamed = first.ctx->streaming ? vector_bytes() - 1 : ~0ull;
    thread.frame.whole_exec = first.ctx->whole_exec();
    thread.frame.prefetch_items = first.ctx->prefetch_items;
    thread.frame.prefetch_row = first.ctx->prefetch_row;
    thread.frame.again = &start_again;
    thread.frame.run = source.run();
    thread.frame.settle = &settle;
    thread.frame.source = &source;
    thread.frame.row = source.row();
    thread.frame.flush_wanted = &flush_wanted_;
    first.exit = {};
    if (first.ctx->memory_mode == machine::MemoryMode::Checked) memory::refresh_tlb(*first.ctx);
    enter(thread);
    for (;;) {
        const Next next = run_inside(thread, source);
        if (thread.frame.held.waves) finish_columns(thread);
        if (next == Next::Stop) break;
        const uint64_t flushes = counters().code_flushes;
        thread.inside.store(nullptr);
        if (next == Next::LetFlush) {
            enter(thread);
            continue;
        }
        Wave& wave = *thread.wave;
        if (const char* why = make_room(thread, wave, flushes).why) {
            refuse(wave, why);
            break;
        }
    }
    thread.inside.store(nullptr, std::memory_order_release);
    Wave& last = *thread.wave;
    // The faulting instruction has not happened: the wave stands at it.
    if (last.exit.kind == ExitKind::MemoryFault) last.pc = last.exit.pc;
    if (mxcsr != 0x1f80) _mm_setcsr(mxcsr);
    return last;
}

// A fault here has memory taken away while a kernel runs as its only cause; what the last wave has
// stopped for comes first.
void Translator::finish_columns(ThreadState& thread) {
    Wave& wave = *thread.wave;
    const machine::ExitInfo exit = wave.exit;
    const ExitKind kind =
        machine::run_guarded(wave, this, &host_pc, [&](Wave& last, machine::GuardFrame&) {
            write_held_columns(last, thread.frame);
            return ExitKind::None;
        });
    if (kind == ExitKind::None || exit.kind == ExitKind::MemoryFault) wave.exit = exit;
    thread.frame.running = nullptr;
}

// Runs guard.wave from `entry` on and those behind it, which mostly start where it did. A guest
// fault jumps out of this: nothing in here has a destructor. Not inline: a function that calls
// setjmp keeps little in registers.
[[gnu::noinline]] ExitKind Translator::run_waves_from(ThreadState& thread,
                                                      machine::GuardFrame& guard,
                                                      machine::WaveSource& source,
                                                      const KnownEntry& known,
                                                      const uint8_t* entry) {
    const KnownEntry* start = &known;
    const CodeSpace* const space = known.space;
    thread.frame.running_wave[0] = &thread.wave;
    thread.frame.running_wave[1] = &guard.wave;
    for (Wave* wave = guard.wave;;) {
        const uint32_t left = stubs_.enter(wave, &thread.frame, entry);
        wave = thread.wave;  // the last of a row
        if (left != static_cast<uint32_t>(ExitKind::EndProgram) &&
            left != static_cast<uint32_t>(ExitKind::Barrier))
            return static_cast<ExitKind>(left);
        Wave* const next = source.next(*wave);
        if (!next) return static_cast<ExitKind>(left);
        thread.wave = guard.wave = wave = next;
        // The source may have waves for a long time.
        if (flush_wanted_.load(std::memory_order_relaxed) || thread.frame.often)
            return static_cast<ExitKind>(Leave::Lookup);
        if (!starts_at(*start, *wave)) {
            start = &thread.entry_of(wave->pc, has_whole_exec(*wave));
            if (!starts_at(*start, *wave) || start->space != space)
                return static_cast<ExitKind>(Leave::Lookup);
        }
        entry = start->host;
    }
}

// Runs thread.wave and those behind it. MakeRoom: that wave stands at a block for which there is no
// room; LetFlush: another thread makes room.
Translator::Next Translator::run_inside(ThreadState& thread, machine::WaveSource& source) {
    Frame& frame = thread.frame;
    auto fail = [&](const char* reason) {
        refuse(*thread.wave, reason);
        return Next::Stop;
    };
    for (;;) {
        if (flush_wanted_.load(std::memory_order_relaxed)) return Next::LetFlush;
        if (frame.often) do_without_stubs(std::exchange(frame.often, nullptr));
        const KnownEntry* known = entry_at(thread, *thread.wave);
        if (!known) {
            const Found found = find_entry(thread, *thread.wave);
            if (found.why) return fail(found.why);
            if (!found.block) return Next::MakeRoom;
            continue;
        }
        CodeSpace& space = *known->space;
        connect(frame, space);
        const uint8_t* entry = known->host;
        for (;;) {
            const auto reason = static_cast<uint32_t>(machine::run_guarded(
                *thread.wave, this, &host_pc, [&](Wave&, machine::GuardFrame& guard) {
                    return run_waves_from(thread, guard, source, *known, entry);
                }));
            Wave& wave = *thread.wave;
            if (frame.gathered.exec) spread_lanes(wave, frame);  // a fault
            const void* const running = frame.running;
            frame.running = nullptr;
            if (reason < static_cast<uint32_t>(Leave::Link)) return Next::Stop;
            const auto leave = static_cast<Leave>(reason);
            if (leave == Leave::Lookup) break;
            if (leave == Leave::CallStopped) return Next::Stop;
            if (leave == Leave::Fault) {
                add_block(running, wave.exit);
                if (frame.leave_address)
                    if (const BlockRecord* at = cache_.find(frame.leave_address - 1))
                        find_guest_pc(*at, frame.leave_address - 1, wave.exit.pc);
                return Next::Stop;
            }
            // A return address: it may lie behind the block's last byte.
            const BlockRecord* from = cache_.find(frame.leave_address - 1);
            if (!from) return fail("lost track of translated code");
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
                return Next::Stop;
            }
            const LinkSite* site = nullptr;
            for (const LinkSite& s : from->links)
                if (s.return_offset == offset) site = &s;
            if (!site) return fail("lost track of a block link");
            wave.pc = site->target;
            if (frame.often) break;
            const std::lock_guard lock(mutex_);
            const Found target = block_at(space, wave, site->target, site->variant);
            if (target.why) return fail(target.why);
            if (!target.block) return Next::MakeRoom;
            cache_.link(const_cast<BlockRecord&>(*from), *site, *target.block);
            entry = target.block->host;
        }
    }
}

}  // namespace

Result<std::unique_ptr<machine::Engine>> make_engine(std::unique_ptr<BlockSource> source, Isa isa,
                                                     const TranslatorOptions& options) {
    if (const std::string missing = missing_features(isa); !missing.empty())
        return {Code::HostError, "this processor lacks " + missing};
    auto engine = std::make_unique<Translator>(std::move(source), isa, options);
    if (Status s = engine->open(options); !s) return s;
    return std::unique_ptr<machine::Engine>(std::move(engine));
}

}  // namespace wj::x64
