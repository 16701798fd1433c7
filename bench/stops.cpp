// What it costs that a launch stops: a prepared one of one wave that faults, and hooks.
#include <benchmark/benchmark.h>

#include <string>

#include "wavejit/wavejit.h"

namespace {

constexpr uint32_t items = 64;

// vecadd, whose result goes to `out`, or to memory that is not there.
class Vecadd {
public:
    Vecadd(wj_engine engine, wj_memory_mode memory) {
        wj_context_options options = WJ_INIT(wj_context_options);
        options.target = "gfx90a";
        options.engine = engine;
        options.memory_mode = memory;
        options.threads = 1;
        const std::string file = std::string(WJ_CODE_OBJECTS) + "/gfx90a/vecadd.hsaco";
        good_ = !wj_context_create(&options, &context_, nullptr, 0) &&
                !wj_module_load_file(context_, file.c_str(), &module_) &&
                !wj_module_get_kernel(module_, "vecadd", &kernel_) &&
                !wj_memory_allocate(context_, 4 * items, &data_);
    }
    ~Vecadd() {
        wj_prepared_release(prepared_);
        wj_module_unload(module_);
        if (context_) wj_context_destroy(context_);
    }
    Vecadd(const Vecadd&) = delete;
    Vecadd& operator=(const Vecadd&) = delete;

    bool prepare(bool faults, const wj_hooks* hooks = nullptr) {
        uint64_t out = faults ? data_ + (64 << 20) : data_;
        uint32_t count = items;
        wj_argument arguments[] = {WJ_POINTER(data_), WJ_POINTER(data_), WJ_POINTER(out),
                                   WJ_POINTER(count)};
        wj_launch_options o = WJ_INIT(wj_launch_options);
        o.grid[0] = o.block[0] = items;
        o.arguments = arguments;
        o.argument_count = 4;
        o.hooks = hooks;
        return good_ && !wj_launch_prepare(kernel_, &o, &prepared_) &&
               launch() == (faults ? WJ_GUEST_FAULT : WJ_OK);
    }
    wj_status launch() { return wj_prepared_launch(prepared_, nullptr); }
    wj_prepared* prepared() const { return prepared_; }

private:
    wj_context* context_ = nullptr;
    wj_module* module_ = nullptr;
    wj_kernel* kernel_ = nullptr;
    wj_prepared* prepared_ = nullptr;
    uint64_t data_ = 0;
    bool good_ = false;
};

void fault(benchmark::State& state, wj_engine engine, wj_memory_mode memory, bool text) {
    Vecadd vecadd(engine, memory);
    if (!vecadd.prepare(true)) return state.SkipWithError("no fault");
    for (auto _ : state) {
        vecadd.launch();
        wj_fault_data data = WJ_INIT(wj_fault_data);
        wj_prepared_get_fault_data(vecadd.prepared(), &data);
        benchmark::DoNotOptimize(data.lane_mask);
        if (!text) continue;
        wj_fault told = WJ_INIT(wj_fault);
        wj_prepared_get_fault(vecadd.prepared(), &told);
        benchmark::DoNotOptimize(told.report);
    }
}

wj_hook_answer count_wave(void* count, wj_wave*) {
    ++*static_cast<uint64_t*>(count);
    return WJ_HOOK_GO_ON;
}
wj_hook_answer count_access(void* count, wj_wave* wave, const wj_access_info*) {
    return count_wave(count, wave);
}

void hooked(benchmark::State& state, bool accesses) {
    Vecadd vecadd(WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED);
    uint64_t count = 0;
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.hook_context = &count;
    if (accesses)
        hooks.access = count_access;
    else
        hooks.instruction = count_wave;
    if (!vecadd.prepare(false, &hooks)) return state.SkipWithError("no launch");
    count = 0;
    for (auto _ : state) vecadd.launch();
    state.counters["calls"] = static_cast<double>(count) / static_cast<double>(state.iterations());
}

void not_hooked(benchmark::State& state) {
    Vecadd vecadd(WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED);
    if (!vecadd.prepare(false)) return state.SkipWithError("no launch");
    for (auto _ : state) vecadd.launch();
}

[[maybe_unused]] const bool registered = [] {
    const char* const engines[] = {"auto", "interp", "avx2", "avx512"};
    const char* const memories[] = {"identity", "checked", "window"};
    const auto add = [](const std::string& name, auto body) {
        benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMicrosecond);
    };
    for (const int memory : {WJ_MEMORY_IDENTITY, WJ_MEMORY_CHECKED, WJ_MEMORY_WINDOW})
        for (const int engine : {WJ_ENGINE_INTERPRETER, WJ_ENGINE_AVX2, WJ_ENGINE_AVX512})
            for (const bool text : {false, true})
                add(std::string("launch/fault/") + memories[memory] + "/" + engines[engine] +
                        (text ? "/text" : ""),
                    [=](benchmark::State& s) {
                        fault(s, static_cast<wj_engine>(engine),
                              static_cast<wj_memory_mode>(memory), text);
                    });
    add("launch/hooks/none", not_hooked);
    add("launch/hooks/instruction", [](benchmark::State& s) { hooked(s, false); });
    add("launch/hooks/access", [](benchmark::State& s) { hooked(s, true); });
    return true;
}();

}  // namespace
