#include "runtime/scheduler.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "machine/guard.h"
#include "memory/window.h"
#include "runtime/deadlock.h"
#include "runtime/fault_report.h"
#include "runtime/findings.h"
#include "runtime/group_turns.h"
#include "runtime/wave_sizes.h"
#include "runtime/wave_stream.h"

namespace wj::runtime {
namespace {

constexpr uint64_t batch_quantum_ns = 2'000'000;
// A caller that runs its dispatch itself, and has for this time, calls for help if what is left
// would take it longer than help takes to arrive: threads that sleep have to be woken.
constexpr uint64_t lone_caller_ns = 10'000, help_arrives_ns = 25'000, sleeper_arrives_ns = 100'000;
// Slices of dispatches with a time or instruction limit: the limits are looked at between slices.
constexpr uint64_t limited_slice = 1u << 16;
// A thread takes more new work-groups at once while they are quickly done.
constexpr uint64_t most_groups_at_once = 64;
struct Batches {
    uint64_t short_ns, long_ns;
    // Work-groups that run one after the other: threads that take many are in each other's way at
    // fewer borders, where what one has fetched ahead is for another.
    uint64_t most_streamed;
};
constexpr Batches shared_batches{150'000, 600'000, 4096};
// Of a thread that is alone: each batch begins with nothing on its way from memory.
constexpr Batches lone_batches{200'000, 1'000'000, 16'384};

}  // namespace

void Backoff::pause() {
    count_++;
    if (count_ < 64) {
        sched_yield();
        return;
    }
    uint64_t us = std::min<uint64_t>(20 + (count_ - 64) * 5, 200);
    std::this_thread::sleep_for(std::chrono::microseconds(us));
}

uint64_t now_ns() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

Scheduler::Scheduler(const DeviceOptions& options, const Target& target,
                     memory::AddressSpace& memory, machine::Engine& engine, ForkGuard& used,
                     uint32_t threads, const machine::Coverage* coverage)
    : options_(options),
      memory_(memory),
      engine_(engine),
      used_(used),
      interpreter_(interpreter_for_wave_sizes(target)),
      threads_(threads),
      // Work-groups that the modelled device holds at once: up to 40 one-wave groups on each CU.
      resident_limit_(std::max<uint64_t>(uint64_t{options.compute_units} * 40, threads)),
      largest_share_(std::clamp<uint64_t>(resident_limit_ / (2 * threads), 1, most_groups_at_once)),
      pool_(memory) {
    for (uint32_t i = 0; i < threads_; i++) {
        auto slot = std::make_unique<Slot>();
        slot->number = i;
        slot->context.memory = &memory_;
        slot->context.memory_mode = options_.memory_mode;
        if (const memory::Window* window = memory.window()) {
            address_mask_ = window->mask();
            slot->context.reach.base = window->base();
        }
        slot->context.exclusive_memory = options_.exclusive_memory && threads_ == 1;
        slot->context.gws = shares_.gws();
        slot->context.gds = shares_.gds();
        slot->context.coverage = coverage;
        slot->context.counts_time = options_.schedule.deterministic;
        slot->context.checks = options_.checks;
        free_slots_.push_back(std::move(slot));
    }
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        const auto count = static_cast<uint64_t>(CPU_COUNT(&set));
        for (uint64_t cpu = 0, rank = 0; rank < count; cpu++) {
            slot_of_cpu_.push_back(static_cast<uint32_t>(rank * threads_ / count));
            rank += CPU_ISSET(cpu, &set) ? 1 : 0;
        }
    }
}

Scheduler::~Scheduler() {
    std::vector<std::shared_ptr<DispatchState>> left;
    {
        std::lock_guard lock(mutex_);
        left = active_;
    }
    for (auto& dispatch : left) {
        dispatch->cancel();
        wait(*dispatch);
    }
    {
        std::lock_guard lock(mutex_);
        shutdown_ = true;
    }
    calls_.fetch_add(1, std::memory_order_relaxed);
    work_signal_.notify_all();
    for (auto& worker : workers_) worker.join();
}

Status Scheduler::start_workers() {
    if (!workers_.empty()) return Status::ok();
    workers_.reserve(threads_);
    try {
        for (uint32_t i = 0; i < threads_; i++) workers_.emplace_back([this] { worker_main(); });
    } catch (const std::system_error& error) {
        if (workers_.empty())
            return {Code::HostError, std::string("no thread can be started to run work-groups: ") +
                                         error.what() +
                                         "; raise the limit of processes and threads (ulimit -u, "
                                         "pids.max of the control group)"};
    }
    return Status::ok();
}

void Scheduler::wake(uint64_t useful) {
    // With mutex_ held. Who wakes up finds nothing to do when every slot is taken.
    useful = std::min<uint64_t>(useful, free_slots_.size());
    if (!useful) return;
    calls_.fetch_add(1, std::memory_order_relaxed);
    // Without workers there is a caller that runs its dispatch itself.
    if (!start_workers()) return;
    if (!idle_workers_) return;
    if (useful >= idle_workers_)
        work_signal_.notify_all();
    else
        for (uint64_t i = 0; i < useful; i++) work_signal_.notify_one();
}

// This thread's slot is free again: others may have work for it, whose submission woke nobody
// because no slot was free.
void Scheduler::wake_for_work() {
    if ((idle_workers_ || workers_.empty()) && pick(nullptr)) wake(threads_);
}

Status Scheduler::submit(std::shared_ptr<DispatchState> dispatch) {
    used_.use();
    std::lock_guard lock(mutex_);
    uint64_t groups = dispatch->plan.total_groups;
    bool caller_runs = dispatch->plan.request.caller_runs;
    // A process that only looks at what there is has no threads, and may fork.
    if (Status status = caller_runs ? Status::ok() : start_workers(); !status) return status;
    // Ordered append starts with wave 0; dispatches side by side share it. No wave runs now.
    if (active_.empty()) shares_.gds()->oldest_wave = dispatch->before.oldest_wave;
    dispatch->alone_ = threads_ > 1 && dispatch->module &&
                       dispatch->module->contended.of(dispatch->plan.request.kernel_object);
    if (dispatch->alone_) dispatch->contention_.watch(true, now_ns(), 0);
    active_.push_back(std::move(dispatch));
    if (!caller_runs) wake(groups);
    return Status::ok();
}

Status Scheduler::run(const std::shared_ptr<DispatchState>& dispatch, bool timed) {
    if (!run_alone(dispatch, timed))
        if (Status status = submit(dispatch); !status) return status;
    wait(*dispatch);
    return Status::ok();
}

// Where nothing else runs, one work-group needs nothing of what lets threads and dispatches share
// the device. False: nothing has been done. Otherwise the dispatch has had a turn; if that was not
// its end, it goes on like one that was submitted.
bool Scheduler::run_alone(const std::shared_ptr<DispatchState>& dispatch, bool timed) {
    DispatchState& d = *dispatch;
    if (d.plan.total_groups != 1 || d.findings || d.on_done) return false;
    machine::prepare_thread_for_faults();
    std::unique_ptr<Slot> slot;
    {
        std::lock_guard lock(mutex_);
        if (!active_.empty() || exclusive_ || free_slots_.empty()) return false;
        used_.use();
        shares_.gds()->oldest_wave = d.before.oldest_wave;
        slot = std::move(free_slots_.back());
        free_slots_.pop_back();
        d.alone_ = true;  // nobody joins
        d.only_.store(slot.get(), std::memory_order_relaxed);
        d.runners_ = 1;
        active_.push_back(dispatch);
    }
    if (options_.memory_mode != machine::MemoryMode::Checked) machine::expect_faults();
    timed |= d.plan.request.timeout_ns != 0;
    if (timed) d.start_ns.store(now_ns(), std::memory_order_relaxed);
    prepare_slot(*slot);
    slot->context.target = d.plan.target;
    DispatchState::Claim claim = d.claim_whole(engine_, slot->context);
    const Visit visit = run_claim(d, claim, *slot);
    if (visit.finished) d.finish_groups(visit.finished);
    const uint64_t end_ns = timed ? now_ns() : 0;
    std::unique_lock lock(mutex_);
    free_slots_.push_back(std::move(slot));
    d.alone_ = false;
    d.only_.store(nullptr, std::memory_order_relaxed);
    if (visit.stopped || !d.complete()) {
        leave(lock, dispatch);
    } else {
        d.runners_ = 0;
        d.finalized_ = true;
        std::erase(active_, dispatch);
        count(d, end_ns);
        if (d.before.resumed)
            d.signal_done();
        else
            d.done_.store(true, std::memory_order_release);  // only this thread waits for it
    }
    if (!active_.empty()) wake_for_work();  // who had to stay away
    return true;
}

std::shared_ptr<DispatchState> Scheduler::pick(DispatchState* wanted) {
    size_t n = active_.size();
    if (options_.schedule.deterministic)
        n = std::min<size_t>(n, 1);  // in the order of their submission
    for (size_t i = 0; i < n; i++) {
        size_t at = (cursor_ + i) % n;
        if ((wanted && active_[at].get() != wanted) || !may_join(*active_[at])) continue;
        if (active_[at]->has_work(resident_limit_)) {
            if (!wanted) cursor_ = (at + 1) % n;  // only turns of all dispatches move the cursor
            return active_[at];
        }
    }
    return nullptr;
}

// With mutex_ held; one is free. Best the one that was used on this processor before: its memory
// and its part of the work-groups (GroupOrder) are in the caches.
std::unique_ptr<Scheduler::Slot> Scheduler::take_slot() {
    const auto cpu = static_cast<size_t>(std::max(0, sched_getcpu()));
    const uint32_t number = cpu < slot_of_cpu_.size() ? slot_of_cpu_[cpu] : 0;
    auto at = std::find_if(free_slots_.begin(), free_slots_.end(),
                           [&](const auto& slot) { return slot->number == number; });
    if (at == free_slots_.end()) --at;
    auto slot = std::move(*at);
    free_slots_.erase(at);
    return slot;
}

bool Scheduler::run_some(std::unique_lock<std::mutex>& lock, DispatchState* wanted,
                         uint64_t quantum_ns, bool bounded) {
    if (free_slots_.empty() || exclusive_) return false;
    auto dispatch = pick(wanted);
    if (!dispatch) return false;
    auto slot = take_slot();
    dispatch->runners_++;
    if (dispatch->alone_) dispatch->only_ = slot.get();
    set_exclusive(*dispatch, *slot);
    lock.unlock();
    run_batch(*dispatch, *slot, quantum_ns, bounded);
    lock.lock();
    const bool was_only = dispatch->only_ == slot.get();
    if (was_only) {
        dispatch->only_ = nullptr;
        set_exclusive(*dispatch, *slot);
    }
    free_slots_.push_back(std::move(slot));
    leave(lock, dispatch);
    if (was_only) wake_for_work();  // who had to stay away
    return true;
}

// With mutex_ held, as the one below.
bool Scheduler::may_join(const DispatchState& dispatch) const {
    return !dispatch.alone_ || !dispatch.only_.load(std::memory_order_relaxed);
}

// The only thread that runs anything need not lock memory that nothing else touches.
void Scheduler::set_exclusive(DispatchState& dispatch, Slot& slot) {
    if (threads_ == 1 || !options_.exclusive_memory) return;
    const bool only = dispatch.only_ == &slot;
    if (!only && !slot.context.exclusive_memory) return;
    slot.context.exclusive_memory = exclusive_ =
        only && active_.size() == 1 && free_slots_.size() == threads_ - 1;
}

// Whether the thread goes on with the dispatch, which it may from now on do alone.
bool Scheduler::may_stay(DispatchState& dispatch, Slot& slot, uint64_t now) {
    Contention& contention = dispatch.contention_;
    const void* const only = dispatch.only_.load(std::memory_order_relaxed);
    if (only && only != &slot) return false;
    const bool atomics = std::exchange(slot.context.locked_atomics, false),
               waits = only && options_.exclusive_memory && !slot.context.exclusive_memory;
    if (!contention.due(now) && !waits && !(atomics && !contention.watched())) return true;
    std::lock_guard lock(mutex_);
    if (!may_join(dispatch) && dispatch.only_ != &slot) return false;
    bool alone = dispatch.alone_;
    if (!contention.watched())
        contention.watch(false, now, dispatch.finished());
    else if (active_.size() > 1)
        contention.put_off(now, dispatch.finished());
    else if (contention.due(now))
        alone = contention.decide(alone, now, dispatch.finished());
    if (alone != dispatch.alone_) {
        dispatch.alone_ = alone;
        dispatch.only_ = alone ? &slot : nullptr;
        if (dispatch.module)
            dispatch.module->contended.note(dispatch.plan.request.kernel_object, alone);
    }
    set_exclusive(dispatch, slot);
    if (!alone) wake(threads_);
    return true;
}

void Scheduler::leave(std::unique_lock<std::mutex>& lock,
                      const std::shared_ptr<DispatchState>& dispatch) {
    dispatch->runners_--;
    if (!dispatch->runners_ && !dispatch->finalized_ && dispatch->complete()) {
        dispatch->finalized_ = true;
        std::erase(active_, dispatch);
        count(*dispatch, now_ns());
        lock.unlock();
        finalize(dispatch);
        lock.lock();
    }
}

void Scheduler::poke(DispatchState& dispatch) {
    std::unique_lock lock(mutex_);
    if (dispatch.finalized_) return;
    dispatch.runners_++;
    leave(lock, dispatch.shared_from_this());
    wake_for_work();  // what its end made possible: this thread runs nothing
}

void Scheduler::worker_main() {
    machine::prepare_thread_for_faults();
    std::unique_lock lock(mutex_);
    bool looks_out = false;
    while (!shutdown_) {
        if (run_some(lock, nullptr, batch_quantum_ns)) {
            looks_out = true;
            continue;
        }
        if (std::exchange(looks_out, false)) {
            const uint64_t calls = calls_.load(std::memory_order_relaxed),
                           end = now_ns() + look_out_ns;
            looking_out_.fetch_add(1, std::memory_order_relaxed);
            lock.unlock();
            while (calls_.load(std::memory_order_relaxed) == calls && now_ns() < end)
                __builtin_ia32_pause();
            lock.lock();
            looking_out_.fetch_sub(1, std::memory_order_relaxed);
            continue;
        }
        idle_workers_++;
        work_signal_.wait(lock);
        idle_workers_--;
    }
}

void Scheduler::wait(DispatchState& dispatch) {
    if (dispatch.done()) return;
    machine::prepare_thread_for_faults();
    {
        std::unique_lock lock(mutex_);
        // Other dispatches get their turn too: this one may wait for them.
        while (!dispatch.done() && run_some(lock, &dispatch, batch_quantum_ns))
            if (!dispatch.done() && active_.size() > 1) run_some(lock, nullptr, batch_quantum_ns);
        wake_for_work();
    }
    dispatch.wait_for(DispatchState::forever);
}

bool Scheduler::help(uint64_t max_ns) {
    machine::prepare_thread_for_faults();
    uint64_t end = now_ns() + max_ns;
    std::unique_lock lock(mutex_);
    bool any = false;
    while (run_some(lock, nullptr, std::min(max_ns, batch_quantum_ns), true)) {
        any = true;
        if (now_ns() >= end) break;
    }
    wake_for_work();
    return any;
}

void Scheduler::prepare_slot(Slot& slot) {
    machine::ExecContext& context = slot.context;
    context.reach.mask = address_mask_.load(std::memory_order_relaxed);
    uint64_t epoch = memory_.epoch();
    if (context.tlb_epoch == epoch) return;
    std::fill(std::begin(context.read_tlb), std::end(context.read_tlb), machine::TlbEntry{});
    std::fill(std::begin(context.write_tlb), std::end(context.write_tlb), machine::TlbEntry{});
    context.tlb_epoch = epoch;
}

void Scheduler::run_batch(DispatchState& dispatch, Slot& slot, uint64_t quantum_ns, bool bounded) {
    if (options_.memory_mode != machine::MemoryMode::Checked) machine::expect_faults();
    uint64_t begin = now_ns(), last = begin, none = 0;
    dispatch.start_ns.compare_exchange_strong(none, begin);
    slot.context.target = dispatch.plan.target;
    uint64_t slept = 0;
    uint64_t share = 1;
    const Batches& batches = threads_ == 1 ? lone_batches : shared_batches;
    Backoff& backoff = slot.backoff;
    bool called = !dispatch.plan.request.caller_runs;
    for (;;) {
        prepare_slot(slot);
        DispatchState::Claim claim{.resumed = nullptr, .share = share};
        // Who is alone need not leave anything for others.
        const uint32_t sharing = called ? threads_ : 1;
        if (!dispatch.claim(resident_limit_, slot.number, sharing, engine_, slot.context, claim))
            return;
        share = claim.share;
        const Visit visit = run_claim(dispatch, claim, slot);
        if (visit.finished) dispatch.finish_groups(visit.finished);
        if (visit.stopped || dispatch.complete()) return;
        if (visit.finished || visit.advanced || !visit.blocked) {
            slept = 0;
            backoff.reset();
        } else {
            slept += visit.blocked;
            // Every resident work-group has had its turn and all of them only wait.
            if (slept > dispatch.resident()) {
                look_around_();
                backoff.pause();
                slept = 0;
                if (options_.schedule.deterministic) continue;
                std::lock_guard lock(mutex_);
                if (bounded || active_.size() > 1 || shutdown_) return;
            }
        }
        const uint64_t now = now_ns(), elapsed = now - begin;
        // What is counted is not to depend on how long it takes.
        if (now - last < batches.short_ns || options_.hot_blocks || options_.schedule.deterministic)
            share = std::min(share * 2, dispatch.streams ? batches.most_streamed : largest_share_);
        else if (now - last > batches.long_ns && share > 1)
            share /= 2;
        last = now;
        if (threads_ > 1 && !may_stay(dispatch, slot, now)) return;
        if (!called && elapsed > lone_caller_ns) {
            const uint64_t done = dispatch.finished(), left = dispatch.plan.total_groups - done;
            const bool near = looking_out_.load(std::memory_order_relaxed);
            if (left * elapsed > done * (near ? help_arrives_ns : sleeper_arrives_ns)) {
                called = true;
                std::lock_guard lock(mutex_);
                wake(threads_);
            }
        }
        if (elapsed > quantum_ns && !options_.schedule.deterministic) {
            look_around_();
            std::lock_guard lock(mutex_);
            if (bounded || active_.size() > 1 || shutdown_) return;
            begin = last = now_ns();
            // Suspended work-groups may have given idle workers something to do.
            if (idle_workers_ && dispatch.has_work(resident_limit_)) wake(threads_);
        }
    }
}

Scheduler::Visit Scheduler::run_claim(DispatchState& dispatch, DispatchState::Claim& claim,
                                      Slot& slot) {
    Visit visit;
    const DispatchRequest& request = dispatch.plan.request;
    const bool limited = request.timeout_ns || request.instruction_limit;
    auto keep = [&](std::unique_ptr<GroupContext> group) {
        if (!group) return;
        if (group->aside.images)
            dispatch.park(std::move(group));
        else if (slot.spare)
            pool_.give(std::move(group));
        else
            slot.spare = std::move(group);
    };
    // Whoever learns that waves have ended, or goes on with their work-group, sees what they have
    // stored around the caches. (Once a claim: a fence waits for memory.)
    auto fence = [&] {
        if (dispatch.plan.streaming) _mm_sfence();
    };
    // That work-group and those up to `end` behind it; the number of the last one that was begun.
    auto run = [&](std::unique_ptr<GroupContext> group, uint64_t end, int64_t slice,
                   uint32_t stopped = no_wave) {
        const Outcome outcome = run_groups(dispatch, *group, slot, visit, end, slice, stopped);
        const uint64_t last = group->group.linear_id;
        if (outcome == Outcome::Suspended || outcome == Outcome::Blocked) {
            fence();
            visit.blocked += outcome == Outcome::Blocked;
            visit.suspended = true;
            dispatch.suspend(std::move(group), outcome == Outcome::Blocked, visit.advanced);
            return last;
        }
        if (outcome == Outcome::Stopped) {
            visit.stopped = true;
            claim.resumed = std::move(group);
        } else {
            visit.finished++;
        }
        keep(std::move(group));
        return last;
    };
    slot.context.kernel = dispatch.plan.entry;
    slot.context.group_ids = dispatch.plan.group_ids;
    slot.context.next_waves = dispatch.plan.next_waves;
    slot.context.lane_layout = dispatch.plan.lane_layout;
    slot.context.grid_layout = dispatch.plan.grid_layout;
    slot.context.whole_lanes = dispatch.plan.whole_lanes;
    slot.context.streaming = dispatch.plan.streaming;
    slot.context.prefetch_items = dispatch.plan.prefetch_items;
    slot.context.prefetch_rows = dispatch.plan.prefetch_rows;
    slot.context.prefetch_row = dispatch.plan.prefetch_row;
    const WaveStart& how = dispatch.wave_start();
    if (request.deterministic) slot.context.time_at_end = dispatch.before.clock;
    const int64_t longest = longest_slice(dispatch);
    auto slice = [&] { return std::min(dispatch.first_slice(), longest); };
    if (claim.resumed) {
        run(std::move(claim.resumed), 0, slice());
        dispatch.resumed_returned();
    }
    uint64_t& index = claim.begin;
    for (; index < claim.end && !visit.stopped; index++) {
        if (visit.suspended && !dispatch.plan.request.cooperative) {
            dispatch.give_back(index, claim.end);
            claim.end = index;
            break;
        }
        auto group = slot.spare ? std::move(slot.spare) : pool_.take();
        if (dispatch.streams.load(std::memory_order_relaxed)) {
            const int64_t given = slice();
            WaveStream stream(dispatch, how, *group, slot.context, index, claim.end, given);
            auto first = stream.start();
            if (!dispatch.started(first.status())) {
                visit.stopped = true;
                keep(std::move(group));
                break;
            }
            const machine::Wave& last = engine_.run_all(**first, stream);
            stream.settle();
            visit.instructions += stream.instructions();
            visit.waves += stream.waves();
            visit.finished += stream.finished();
            if (stream.done()) {
                visit.stopped = stream.at() != claim.end;
                keep(std::move(group));
                break;
            }
            if (last.exit.kind == machine::ExitKind::Barrier)
                dispatch.streams.store(false, std::memory_order_relaxed);
            group->spread(dispatch.plan, how, stream.wave());
            index = run(std::move(group), claim.end, given, stream.wave());
            continue;
        }
        const uint64_t number = dispatch.in_order(index);
        if (!dispatch.started(group->start(dispatch.plan, how, number)) ||
            (limited && check_limits(dispatch, *group))) {
            visit.stopped = true;
            pool_.give(std::move(group));
            break;
        }
        visit.waves += group->group.wave_count;
        const uint64_t last = run(std::move(group), claim.end, slice());
        if (number == index) index = last;
    }
    fence();
    if (request.deterministic) dispatch.before.clock = slot.context.time_at_end;
    if (visit.stopped && dispatch.keeps_waves())
        dispatch.keep(std::move(claim));
    else
        keep(std::move(claim.resumed));
    if (std::exchange(slot.context.columns_cut, false) && dispatch.module)
        dispatch.module->stores_columns.note(dispatch.plan.request.kernel_object, true);
    if (visit.waves) dispatch.waves.fetch_add(visit.waves, std::memory_order_relaxed);
    if (visit.instructions)
        dispatch.wave_instructions.fetch_add(visit.instructions, std::memory_order_relaxed);
    if (const uint64_t n = std::exchange(slot.context.interpreted, 0))
        dispatch.interpreted.fetch_add(n, std::memory_order_relaxed);
    return visit;
}

int64_t Scheduler::longest_slice(const DispatchState& dispatch) const {
    const DispatchRequest& request = dispatch.plan.request;
    const bool limited = request.timeout_ns || request.instruction_limit || request.deterministic;
    return static_cast<int64_t>(limited ? std::min(options_.slice_instructions, limited_slice)
                                        : options_.slice_instructions);
}

bool Scheduler::look(DispatchState& dispatch, GroupContext& g, GroupTurns& turns,
                     machine::Wave& wave) {
    if (g.spins.size() < g.group.wave_count) g.spins.resize(g.group.wave_count);
    wave.budget = turns.slice();
    const bool waits = g.spins[wave.wave_in_group].begin(*interpreter_, wave);
    dispatch.looked_at(waits);
    if (waits) {
        g.states[wave.wave_in_group] = WaveState::Spinning;
        g.spinning++;
    }
    return waits;
}

bool Scheduler::resume_spinning(DispatchState& dispatch, GroupContext& g, GroupTurns& turns,
                                Visit& visit) {
    for (uint32_t i = 0; g.spinning && i < g.group.wave_count; i++) {
        if (g.states[i] != WaveState::Spinning) continue;
        machine::Wave& wave = g.waves[i];
        wave.budget = turns.slice();
        if (!g.spins[i].goes_on(*interpreter_, wave)) {
            g.states[i] = WaveState::Runnable;
            g.spinning--;
            visit.advanced = true;
        }
        if (turns.settle(wave)) continue;
        report_stop(dispatch, g, i);
        return false;
    }
    return true;
}

// Runs a work-group that has been started and, without limits, those up to number `end` behind it.
// What becomes of the last one that was begun is the outcome; those in front of it are finished.
// Adds the instructions that the waves executed to the visit, unless the dispatch has limits: then
// to the dispatch, at once. `stopped`: a wave that has run already, or no_wave.
Scheduler::Outcome Scheduler::run_groups(DispatchState& dispatch, GroupContext& g, Slot& slot,
                                         Visit& visit, uint64_t end, int64_t slice,
                                         uint32_t stopped) {
    const DispatchRequest& request = dispatch.plan.request;
    const bool limited = request.timeout_ns || request.instruction_limit;
    const int64_t longest = longest_slice(dispatch);
    const bool watches_barriers = request.checks & machine::check_barrier;
    GroupTurns turns(dispatch, g, slot.context, end, slice, limited || watches_barriers);
    for (;;) {
        turns.begin_round();
        bool failed = g.spinning && !resume_spinning(dispatch, g, turns, visit);
        // The wave that goes on next: the same one, if it has not had the longest slice.
        auto settle = [&](machine::Wave& wave) -> machine::Wave* {
            const uint32_t index = wave.wave_in_group;
            bool fine = turns.settle(wave);
            const bool looks = fine && turns.out_of_budget(wave) && dispatch.looks();
            const bool waits = looks && look(dispatch, g, turns, wave);
            if (looks) fine = turns.settle(wave);
            if (!fine) {
                report_stop(dispatch, g, index);
                failed = true;
                return nullptr;
            }
            if (turns.begins_to_be_watched(wave)) return turns.runnable(turns.place_of(wave));
            const bool more = looks && !waits && turns.slice() < longest;
            turns.set_slice(more ? std::min(turns.slice() * 4, longest) : slice);
            const bool same = more || turns.has_more_of_its_turn();
            return turns.runnable(turns.place_of(wave) + (same ? 0 : 1));
        };
        machine::Wave* first = nullptr;
        if (!failed) first = stopped == no_wave ? turns.first() : settle(g.waves[stopped]);
        stopped = no_wave;
        while (first) {
            if (turns.last_of_limit()) forget_shapes(*first);
            const bool interpreted =
                turns.last_of_limit() || turns.is_watched(*first) || request.interpreted();
            machine::Engine& engine = dispatch.hooked ? *dispatch.hooked
                                      : interpreted   ? *interpreter_
                                                      : engine_;
            machine::Wave& last = engine.run_all(*first, turns);
            const bool arrived = last.exit.kind == machine::ExitKind::EndProgram ||
                                 last.exit.kind == machine::ExitKind::Barrier;
            if (!arrived)
                first = settle(last);
            else if (turns.wave_by_wave())
                first = turns.runnable(turns.place_of(last) + 1);
            else
                break;  // the round is over, or the dispatch has been stopped
        }
        visit.finished += turns.take_finished();
        visit.waves += turns.take_waves();
        const uint64_t used = turns.take_instructions();
        const uint32_t count = g.group.wave_count;
        if (limited) {
            dispatch.wave_instructions.fetch_add(used, std::memory_order_relaxed);
            if (!failed && g.ended != count && check_limits(dispatch, g)) failed = true;
        } else {
            visit.instructions += used;
        }
        if (failed || dispatch.stopped()) {
            if (dispatch.keeps_waves()) turns.cut_round_short();
            return Outcome::Stopped;
        }
        if (g.ended == count) turns.end_group();
        if (g.group.misuse) {
            dispatch.fail([&] { return misuse_report(memory_, dispatch, g); });
            return Outcome::Stopped;
        }
        if (g.ended == count) return Outcome::Finished;
        if (watches_barriers && turns.misses_barrier()) dispatch.findings->found_missed_barrier(g);
        if (turns.release()) continue;
        if (turns.all_wait()) {  // without signals that would complete the barrier
            dispatch.fail([&] { return deadlock_report(memory_, dispatch, g); });
            return Outcome::Stopped;
        }
        if (!turns.advanced()) {
            // Worth a proof only now and then: the numbers of the visits double.
            if (g.waiting && ++g.stuck_visits >= 8 && !(g.stuck_visits & (g.stuck_visits - 1)) &&
                proves_deadlock(*dispatch.plan.target, g)) {
                dispatch.fail([&] { return deadlock_report(memory_, dispatch, g); });
                return Outcome::Stopped;
            }
            const bool all_wait = g.spinning + g.waiting + g.ended == count;
            return turns.used_slice() && !all_wait ? Outcome::Suspended : Outcome::Blocked;
        }
        g.stuck_visits = 0;
    }
}

void Scheduler::report_stop(DispatchState& dispatch, GroupContext& group, uint32_t wave) {
    dispatch.fail([&] { return stop_report(memory_, dispatch, group, wave); });
}

bool Scheduler::check_limits(DispatchState& dispatch, GroupContext& group) {
    const DispatchRequest& r = dispatch.plan.request;
    const uint64_t used =
        dispatch.wave_instructions.load(std::memory_order_relaxed) - dispatch.before.instructions;
    const uint64_t elapsed =
        r.timeout_ns ? now_ns() - dispatch.start_ns.load(std::memory_order_relaxed) : 0;
    const bool time = r.timeout_ns && elapsed > r.timeout_ns;
    bool instructions = r.instruction_limit && used >= r.instruction_limit;
    if (!time && !instructions) return false;
    dispatch.fail([&] {
        if (group.waiting && proves_deadlock(*dispatch.plan.target, group))
            return deadlock_report(memory_, dispatch, group);
        return timeout_report(memory_, dispatch, group, time, elapsed, used);
    });
    return true;
}

// With mutex_ held.
void Scheduler::count(DispatchState& d, uint64_t end_ns) {
    d.result_.waves = d.waves.load();
    d.result_.work_groups = d.finished_.load();
    d.result_.wave_instructions = d.wave_instructions.load();
    d.result_.end_ns = end_ns;
    d.result_.start_ns = d.start_ns.load() ? d.start_ns.load() : end_ns;
    auto& before = d.before;
    const uint64_t interpreted = d.interpreted.load(std::memory_order_relaxed);
    totals_.dispatches += before.resumed ? 0 : 1;
    totals_.work_groups +=
        d.result_.work_groups - std::exchange(before.groups, d.result_.work_groups);
    totals_.waves += d.result_.waves - std::exchange(before.waves, d.result_.waves);
    totals_.wave_instructions += d.result_.wave_instructions -
                                 std::exchange(before.instructions, d.result_.wave_instructions);
    totals_.interpreted += interpreted - std::exchange(before.interpreted, interpreted);
    totals_.execution_ns += d.result_.end_ns - d.result_.start_ns;
}

void Scheduler::finalize(const std::shared_ptr<DispatchState>& dispatch) {
    DispatchState& d = *dispatch;
    {
        std::lock_guard lock(d.mutex_);
        if (!d.keeps_waves()) d.drop_groups();
        d.before.oldest_wave = shares_.gds()->oldest_wave;
        if (auto& record = d.stopped_.record) {
            d.stopped_.fault = ++d.stopped_.faults;
            d.result_.code = record->code;
            d.result_.fault = std::move(*record);
        }
        if (d.findings) {
            d.result_.fault.make_texts();  // they are a finding's
            d.findings->conclude(d.result_);
        }
    }
    if (d.kept == DispatchState::Kept::No) d.piece = {};
    if (d.on_done) d.on_done(d.result_);
    if (d.kept == DispatchState::Kept::No) d.on_done = nullptr;
    if (d.kept == DispatchState::Kept::No) d.module.reset();
    d.signal_done();
}

Statistics Scheduler::statistics() const {
    std::lock_guard lock(mutex_);
    return totals_;
}

}  // namespace wj::runtime
