// Makes the code of blocks that have none yet.
#include <bit>
#include <chrono>
#include <cstring>
#include <new>

#include "backend_x64/asm/memory_stubs.h"
#include "backend_x64/translating_engine.h"

namespace wj::x64 {

using machine::Wave;

namespace {

// Each space has a jump table; a guest that writes many different MODE values makes many.
constexpr size_t most_spaces = 1024;
// Invalidated code is collected when it is most of what there is and worth the translations.
constexpr size_t worth_collecting = size_t{16} << 20;

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

}  // namespace

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
    BlockRecord* installed = often || plans_ ? nullptr : load(space, wave, pc, variant);
    options.avx512 = isa_ == Isa::Avx512;
    options.address_mode = space.key.address_mode;
    options.exclusive = space.key.exclusive;
    // What is counted is to be the same on every host.
    options.fetches_streams = tuning_.fetches_streams || hot_;
    options.gathers_slowly = tuning_.gathers_slowly || all_patterns_;
    options.splits_loads = (tuning_.splits_loads || all_patterns_) && !hot_;
    options.loop_chunks = loop_chunks_;
    options.slice_iterations = slice_iterations_;
    options.row_lanes = machine::row_lanes(space.key.lane_layout);
    options.whole_lanes = space.key.whole_lanes;
    options.variant = variant;
    options.counters = hot_ ? &hot_->counters() : nullptr;
    for (uint32_t limit = block_instructions; !installed; limit /= 2) {
        const bool last = limit <= 1;
        CompiledBlock code;
        Decisions decisions;
        if (plans_) options.decisions = &decisions;
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
            if (plans_) tell_plan(block, *installed, decisions, wave);
            if (store_) keep(code, *installed, wave);
            name_for_profilers(*installed, wave);
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
    return {.block = installed};
}

void Translator::tell_plan(const ir::Block& block, const BlockRecord& record,
                           const Decisions& decisions, const Wave& wave) {
    plans_("block " + perf_map_.name_of(record) + "\n" + source_->take_profile() +
           decisions.print(block, [&](uint64_t at) { return source_->text(wave, at); }) + "\n");
}

void Translator::name_for_profilers(const BlockRecord& block, const Wave& wave) {
    if (perf_map_.wanted())
        perf_map_.add(block, [&](uint64_t at) { return source_->text(wave, at); });
}

Translator::Found Translator::block_at(CodeSpace& space, Wave& wave, uint64_t pc, Variant variant) {
    if (BlockRecord* block = cache_.lookup(space, pc, variant)) return {.block = block};
    if (flush_wanted_.load(std::memory_order_relaxed)) return {};
    try {
        return translate(space, wave, pc, variant);
    } catch (const std::bad_alloc&) {
        return {.why = no_memory};
    }
}

}  // namespace wj::x64
