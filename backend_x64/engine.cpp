#include "backend_x64/engine.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "backend_x64/column_store.h"
#include "backend_x64/translating_engine.h"
#include "machine/host_float.h"
#include "memory/access.h"

namespace wj::x64 {

using machine::ExitKind;
using machine::Wave;

namespace {

// Of memory stubs; pages are taken as they are written.
constexpr size_t most_stub_bytes = size_t{256} << 10;

// Variant::Full is for such waves.
bool has_whole_exec(const Wave& wave) {
    return wave.exec() == wave.ctx->whole_exec();
}

void refuse(Wave& wave, const char* reason) {
    wave.exit.kind = ExitKind::Unimplemented;
    wave.exit.pc = wave.pc;
    wave.exit.reason = reason;
}

}  // namespace

Translator::Translator(std::unique_ptr<BlockSource> source, Isa isa,
                       const TranslatorOptions& options)
    : source_(std::move(source)),
      isa_(isa),
      cache_(buffer_),
      perf_map_(options.symbol),
      plans_(options.plans) {
    renew_stamp();
    loop_chunks_ = options.loop_chunks;
    slice_iterations_ = options.slice_iterations;
    all_patterns_ = options.all_patterns || options.count;
    if (options.count) hot_ = std::make_unique<HotBlocks>();
}

Status Translator::open(const TranslatorOptions& options) {
    if (Status s = buffer_.open(options.code_bytes); !s) return s;
    if (!make_stubs(buffer_, isa_ == Isa::Avx512, source_->wave_size(), stubs_))
        return Status(Code::HostError, "cannot assemble the entry stubs");
    stub_room_ = std::min(most_stub_bytes, buffer_.size() / 8);
    stub_code_ = buffer_.allocate(stub_room_);
    if (!stub_code_) stub_room_ = 0;
    stub_bytes_ = buffer_.used();
    open_store(options);
    return {};
}

machine::Needs Translator::needs_at(const machine::ExecContext& ctx, uint64_t pc) try {
    const std::lock_guard lock(mutex_);
    return source_->needs_at(ctx, pc);
} catch (const std::bad_alloc&) {
    return machine::Needs::everything();
}

bool Translator::ready_for(Wave& wave) try {
    const std::lock_guard lock(mutex_);
    const Variant variant = variant_for(has_whole_exec(wave));
    CodeSpace& space = cache_.space(key_of(wave));
    if (cache_.lookup(space, wave.pc, variant)) return true;
    return !space.all_patterns.contains({wave.pc, variant}) && load(space, wave, wave.pc, variant);
} catch (const std::bad_alloc&) {
    return false;
}

void Translator::invalidate(uint64_t begin, uint64_t end) {
    const std::lock_guard lock(mutex_);
    renew_stamp();
    cache_.invalidate(begin, end);
    source_->forget();
}

machine::EngineCounters Translator::counters() const {
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
    key.sgpr_aliases = wave.sgpr_aliases;
    key.vgpr_msb = wave.vgpr_msb;
    key.address_mode = address_mode(wave.ctx->memory_mode == machine::MemoryMode::Checked,
                                    wave.ctx->reach.mask != ~uint64_t{0});
    key.address_mask = wave.ctx->reach.mask;
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
    f.access_stub = stubs_.access;
    f.chunk_lanes = isa_ == Isa::Avx512 ? 16 : 8;
    f.shapes_stub = stubs_.shapes;
    f.gather_stub = stubs_.gather;
    f.spread_stub = stubs_.spread;
    f.regather_stub = stubs_.regather;
    f.uload32_stub = stubs_.uload32;
    f.uload64_stub = stubs_.uload64;
    f.jump_table = space.jumps.get();
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
           e.full == has_whole_exec(wave) && e.key.mode == wave.mode &&
           e.key.vgpr_msb == wave.vgpr_msb;
}

Translator::Found Translator::find_entry(ThreadState& thread, Wave& wave) try {
    const bool full = has_whole_exec(wave);
    const std::lock_guard lock(mutex_);
    CodeSpace& space = cache_.space(key_of(wave));
    const Found found = block_at(space, wave, wave.pc, variant_for(full));
    if (found.block)
        thread.fill({stamp_.load(std::memory_order_relaxed), wave.pc, space.key, full, &space,
                     found.block->host});
    return found;
} catch (const std::bad_alloc&) {
    return {.why = no_memory};
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
    const machine::HostFloatEnvironment environment;
    ThreadState& thread = this_thread_state();
    thread.wave = &first;
    thread.frame.not_streamed = first.ctx->streaming ? vector_bytes() - 1 : ~0ull;
    thread.frame.whole_exec = first.ctx->whole_exec();
    thread.frame.prefetch_items = first.ctx->prefetch_items;
    thread.frame.prefetch_rows = first.ctx->prefetch_rows;
    thread.frame.prefetch_row = first.ctx->prefetch_row;
    thread.frame.reach = first.ctx->reach;
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
            if (leave == Leave::CallStopped) {
                // Handlers end waves, and let them wait, as translated code does.
                const ExitKind kind = wave.exit.kind;
                const bool turns = kind == ExitKind::EndProgram || kind == ExitKind::Barrier;
                Wave* const other = turns ? source.next(wave) : nullptr;
                if (!other) return Next::Stop;
                thread.wave = other;
                break;
            }
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

Result<std::unique_ptr<machine::Engine>> make_engine(std::unique_ptr<BlockSource> source, Isa isa,
                                                     const TranslatorOptions& options) {
    if (const std::string missing = missing_features(isa); !missing.empty())
        return {Code::HostError, "this processor lacks " + missing};
    auto engine = std::make_unique<Translator>(std::move(source), isa, options);
    if (Status s = engine->open(options); !s) return s;
    return std::unique_ptr<machine::Engine>(std::move(engine));
}

}  // namespace wj::x64
