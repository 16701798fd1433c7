#include "runtime/tiered_engine.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "interpreter/interpreter.h"

namespace wj::runtime {
namespace {

using machine::ExitKind;
using machine::Wave;

// Translating an instruction takes 3 microseconds, interpreting one for a wave some 30 ns.
constexpr int64_t worth_of_instruction = 64;
// What a kernel may execute before anything is known of it, and at a time.
constexpr int64_t first_slice = 1024;

class TieredEngine final : public machine::Engine {
public:
    TieredEngine(const Target& target, std::unique_ptr<machine::Engine> translator)
        : interpreter_(interp::make_interpreter(target, {.yields_to_slow = true})),
          translator_(std::move(translator)) {
        for (Left& left : left_) left.store(unknown, std::memory_order_relaxed);
    }

    const char* name() const override { return translator_->name(); }

    ExitKind run(Wave& wave) override {
        run_waves(&wave, 1);
        return wave.exit.kind;
    }

    Wave& run_all(Wave& first, machine::WaveSource& source) override {
        Left& left = left_of(first.ctx->kernel);
        for (Wave* wave = &first;;) {
            if (!is_cold(left, *wave)) {
                Wave& last = translator_->run_all(*wave, source);
                if (left.load(std::memory_order_relaxed) != translated)
                    left.store(translated, std::memory_order_relaxed);
                return last;
            }
            const ExitKind kind = interpret(left, *wave);
            if (kind == ExitKind::None) continue;  // of the wave something is left
            if (kind != ExitKind::EndProgram && kind != ExitKind::Barrier) return *wave;
            Wave* const next = source.next(*wave);
            if (!next) return *wave;
            wave = next;
        }
    }

    uint32_t vector_bytes() const override { return translator_->vector_bytes(); }
    Prefetch prefetch() const override { return translator_->prefetch(); }
    machine::Needs needs_at(const machine::ExecContext& ctx, uint64_t pc) override {
        return translator_->needs_at(ctx, pc);
    }
    void invalidate(uint64_t begin, uint64_t end) override {
        interpreter_->invalidate(begin, end);
        translator_->invalidate(begin, end);
        forget(begin, end);
    }
    machine::EngineCounters counters() const override { return translator_->counters(); }

private:
    // Instructions of a kernel that may still be interpreted, or one of two other states. Threads
    // that change it at the same time may lose what one of them counted. Kernels share entries now
    // and then: one of them is translated early then.
    using Left = std::atomic<int64_t>;
    static constexpr int64_t unknown = -2, translated = -1 /* and has run so */;

    Left& left_of(uint64_t kernel) {
        return left_[kernel / machine::program_alignment % left_.size()];
    }
    // Of the kernels that begin there.
    void forget(uint64_t begin, uint64_t end) {
        constexpr uint64_t step = machine::program_alignment;
        end = std::min(end, begin + left_.size() * step);
        for (uint64_t kernel = begin / step * step; kernel < end; kernel += step)
            left_of(kernel).store(unknown, std::memory_order_relaxed);
    }

    bool is_cold(Left& left, Wave& wave) {
        int64_t now = left.load(std::memory_order_relaxed);
        if (now == unknown) {
            now = translator_->ready_for(wave) ? 0 : first_slice;
            left.store(now, std::memory_order_relaxed);
        }
        return now > 0 || (now != translated && translator_->busy());
    }

    // Like run(), for a part of the wave's budget. None: that is all, the wave goes on where it
    // stands.
    ExitKind interpret(Left& left, Wave& wave) {
        const int64_t budget = wave.budget, slice = std::min(budget, first_slice);
        const uint64_t known = interpreter_->counters().instructions_translated;
        const auto later = static_cast<uint64_t>(budget - slice);
        wave.budget = slice;
        wave.ctx->time_at_end -= later;
        const ExitKind kind = interpreter_->run(wave);
        wave.ctx->time_at_end += later;
        const uint64_t met = interpreter_->counters().instructions_translated - known;
        const int64_t executed = slice - wave.budget;
        wave.budget = budget - executed;
        const bool slow = kind == ExitKind::Yield && wave.exit.reason == interp::slow_instruction;
        const int64_t gained = static_cast<int64_t>(met) * worth_of_instruction - executed;
        if (int64_t now = left.load(std::memory_order_relaxed); now > 0)
            left.compare_exchange_strong(now, slow ? 0 : std::max<int64_t>(now + gained, 0),
                                         std::memory_order_relaxed);
        if (kind != ExitKind::Yield || wave.budget <= 0 || (!slow && executed < slice)) return kind;
        wave.exit = {};
        return ExitKind::None;
    }

    const std::unique_ptr<machine::Engine> interpreter_, translator_;
    std::array<Left, 4096> left_;
};

}  // namespace

std::unique_ptr<machine::Engine> make_tiered_engine(const Target& target,
                                                    std::unique_ptr<machine::Engine> translator) {
    return std::make_unique<TieredEngine>(target, std::move(translator));
}

}  // namespace wj::runtime
