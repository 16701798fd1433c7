#include "runtime/wave_sizes.h"

#include <algorithm>

#include "interpreter/interpreter.h"

namespace wj::runtime {
namespace {

using machine::Engine;
using machine::EngineCounters;
using machine::ExecContext;
using machine::Wave;

class WaveSizesEngine final : public Engine {
public:
    WaveSizesEngine(std::unique_ptr<Engine> of_32, std::unique_ptr<Engine> of_64)
        : of_32_(std::move(of_32)), of_64_(std::move(of_64)) {}

    const char* name() const override { return of_32_->name(); }
    machine::ExitKind run(Wave& wave) override { return of(wave).run(wave); }
    // All waves of a source are of one launch, and so of one size.
    Wave& run_all(Wave& first, machine::WaveSource& source) override {
        return of(first).run_all(first, source);
    }
    uint32_t vector_bytes() const override { return of_32_->vector_bytes(); }
    Prefetch prefetch() const override { return of_32_->prefetch(); }
    machine::Needs needs_at(const ExecContext& ctx, uint64_t pc) override {
        return of(ctx.target->traits.wave_size).needs_at(ctx, pc);
    }
    bool ready_for(Wave& wave) override { return of(wave).ready_for(wave); }
    bool busy() const override { return of_32_->busy() || of_64_->busy(); }
    void invalidate(uint64_t begin, uint64_t end) override {
        of_32_->invalidate(begin, end);
        of_64_->invalidate(begin, end);
    }
    EngineCounters counters() const override {
        EngineCounters sum = of_32_->counters();
        const EngineCounters more = of_64_->counters();
        for (const auto field :
             {&EngineCounters::wave_instructions, &EngineCounters::blocks_translated,
              &EngineCounters::instructions_translated, &EngineCounters::host_code_bytes,
              &EngineCounters::translation_ns, &EngineCounters::interpreted,
              &EngineCounters::blocks_loaded, &EngineCounters::blocks_stored,
              &EngineCounters::code_flushes, &EngineCounters::host_instructions,
              &EngineCounters::host_calls})
            sum.*field += more.*field;
        return sum;
    }
    std::string hot_blocks(size_t most) const override {
        return of_32_->hot_blocks(most) + of_64_->hot_blocks(most);
    }

private:
    Engine& of(uint32_t wave_size) const { return wave_size == 32 ? *of_32_ : *of_64_; }
    Engine& of(const Wave& wave) const { return of(uint32_t{wave.size}); }

    const std::unique_ptr<Engine> of_32_, of_64_;
};

}  // namespace

Result<std::unique_ptr<Engine>> engine_for_wave_sizes(const Target& target,
                                                      const MakeEngine& make) {
    const Target *small = with_wave_size(target, 32), *large = with_wave_size(target, 64);
    if (!small || !large) return make(target);
    auto of_32 = make(*small);
    if (!of_32) return of_32.status();
    auto of_64 = make(*large);
    if (!of_64) return of_64.status();
    return std::unique_ptr<Engine>(
        std::make_unique<WaveSizesEngine>(std::move(*of_32), std::move(*of_64)));
}

std::unique_ptr<Engine> interpreter_for_wave_sizes(const Target& target) {
    return std::move(
        *engine_for_wave_sizes(target, [](const Target& t) -> Result<std::unique_ptr<Engine>> {
            return interp::make_interpreter(t);
        }));
}

}  // namespace wj::runtime
