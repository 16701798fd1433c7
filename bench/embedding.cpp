// What embedders do between launches: loading, changing code, running it once, going on from its
// midst. Checked memory, one thread, gfx90a.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "wavejit/wavejit.h"

namespace {

std::vector<char> code_object() {
    std::ifstream file(WJ_EMBEDDING_OBJECT, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Engine {
    const char* name;
    wj_engine engine;
};
constexpr Engine engines[] = {{"auto", WJ_ENGINE_AUTO},
                              {"interp", WJ_ENGINE_INTERPRETER},
                              {"avx2", WJ_ENGINE_AVX2},
                              {"avx512", WJ_ENGINE_AVX512}};

// A context with the module, and a launch of one wave of its small kernel.
struct Setup {
    wj_context* context = nullptr;
    wj_module* module = nullptr;
    wj_kernel* kernel = nullptr;
    wj_prepared* prepared = nullptr;
    wj_dispatch* dispatch = nullptr;
    uint64_t out = 0;
    wj_argument argument = WJ_POINTER(out);
    wj_launch_options options = WJ_INIT(wj_launch_options);
    const std::vector<char> bytes = code_object();

    explicit Setup(wj_engine engine) {
        wj_context_options o = WJ_INIT(wj_context_options);
        o.engine = engine;
        o.memory_mode = WJ_MEMORY_CHECKED;
        o.threads = 1;
        o.exclusive_memory = 1;
        if (wj_context_create(&o, &context, nullptr, 0) == WJ_OK)
            wj_memory_allocate(context, 256, &out);
        options.grid[0] = options.block[0] = 64;
        options.arguments = &argument;
        options.argument_count = 1;
    }
    ~Setup() {
        wj_prepared_release(prepared);
        wj_dispatch_release(dispatch);
        unload();
        wj_context_destroy(context);
    }
    bool load() {
        return context && wj_module_load(context, bytes.data(), bytes.size(), &module) == WJ_OK &&
               wj_module_get_kernel(module, "small", &kernel) == WJ_OK;
    }
    void unload() {
        wj_module_unload(module);
        module = nullptr;
    }
};

using Clock = std::chrono::steady_clock;

void tell(benchmark::State& state, Clock::time_point begin) {
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count());
}

void run_load(benchmark::State& state) {
    Setup s(WJ_ENGINE_AUTO);
    for (auto _ : state) {
        const auto begin = Clock::now();
        if (!s.load()) return state.SkipWithError("does not load");
        tell(state, begin);
        s.unload();
    }
    state.counters["bytes"] = double(s.bytes.size());
}

void run_first_launch(benchmark::State& state, wj_engine engine) {
    Setup s(engine);
    for (auto _ : state) {
        s.unload();
        if (!s.load()) return state.SkipWithError("does not load");
        const auto begin = Clock::now();
        if (wj_launch(s.kernel, &s.options, nullptr) != WJ_OK)
            return state.SkipWithError(wj_last_error(s.context));
        tell(state, begin);
    }
}

// A word of its code is written anew, which drops what is known of it; then it runs `runs` times.
void run_patched(benchmark::State& state, wj_engine engine, int runs, bool patches) {
    Setup s(engine);
    wj_kernel_info info = WJ_INIT(wj_kernel_info);
    if (!s.load() || wj_launch_prepare(s.kernel, &s.options, &s.prepared) != WJ_OK ||
        wj_kernel_get_info(s.kernel, &info) != WJ_OK)
        return state.SkipWithError("does not load");
    uint32_t word = 0;
    const uint64_t at = info.code_size - 8;  // in front of s_endpgm
    wj_memory_read(s.context, &word, info.entry + at, 4);
    wj_result result = WJ_INIT(wj_result);
    for (auto _ : state) {
        if (patches && wj_kernel_patch(s.kernel, at, &word, 4) != WJ_OK)
            return state.SkipWithError(wj_last_error(s.context));
        for (int i = 0; i < runs; i++)
            if (wj_prepared_launch(s.prepared, nullptr) != WJ_OK)
                return state.SkipWithError(wj_last_error(s.context));
    }
    wj_prepared_launch(s.prepared, &result);
    state.counters["instructions"] = double(result.wave_instructions);
}

int take_word(void* sum, uint64_t, uint32_t, uint32_t value) {
    *static_cast<uint32_t*>(sum) += value;
    return 0;
}

// The kernel's 64 stores go to a device.
void run_hooked(benchmark::State& state, wj_engine engine) {
    Setup s(engine);
    uint32_t sum = 0;
    wj_page_hooks hooks = WJ_INIT(wj_page_hooks);
    hooks.context = &sum;
    hooks.store = take_word;
    s.out = 0x510000000000;
    if (!s.load() || wj_memory_hook(s.context, s.out, 4096, &hooks) != WJ_OK ||
        wj_launch_prepare(s.kernel, &s.options, &s.prepared) != WJ_OK)
        return state.SkipWithError("does not load");
    for (auto _ : state)
        if (wj_prepared_launch(s.prepared, nullptr) != WJ_OK)
            return state.SkipWithError(wj_last_error(s.context));
    benchmark::DoNotOptimize(sum);
}

// Memory as it was, and then the whole kernel.
void run_restored(benchmark::State& state, wj_engine engine) {
    Setup s(engine);
    wj_snapshot_options o = WJ_INIT(wj_snapshot_options);
    o.only_marked_writes = 1;
    wj_snapshot before = 0;
    if (!s.load() || wj_launch_prepare(s.kernel, &s.options, &s.prepared) != WJ_OK ||
        wj_snapshot_take(s.context, &o, &before) != WJ_OK)
        return state.SkipWithError("does not load");
    for (auto _ : state)
        if (wj_snapshot_restore(s.context, before, nullptr) != WJ_OK ||
            wj_prepared_launch(s.prepared, nullptr) != WJ_OK)
            return state.SkipWithError(wj_last_error(s.context));
}

wj_hook_answer count_down(void* left, wj_wave*) {
    return --*static_cast<uint64_t*>(left) ? WJ_HOOK_GO_ON : WJ_HOOK_STOP;
}

// Memory and the wave as they were half-way, and then the rest.
void run_resumed(benchmark::State& state, wj_engine engine) {
    Setup s(engine);
    wj_result result = WJ_INIT(wj_result);
    if (!s.load() || wj_launch(s.kernel, &s.options, &result) != WJ_OK)
        return state.SkipWithError("does not load");
    uint64_t left = result.wave_instructions / 2;
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.hook_context = &left;
    hooks.instruction = count_down;
    s.options.hooks = &hooks;
    s.options.keep_waves = WJ_KEEP_WAVES;
    wj_snapshot_options o = WJ_INIT(wj_snapshot_options);
    wj_snapshot midst = 0;
    if (wj_dispatch_submit(s.kernel, &s.options, &s.dispatch) != WJ_OK ||
        wj_dispatch_wait(s.dispatch) != WJ_TIMEOUT)
        return state.SkipWithError(wj_last_error(s.context));
    o.only_marked_writes = 1;
    o.dispatch = s.dispatch;
    if (wj_snapshot_take(s.context, &o, &midst) != WJ_OK)
        return state.SkipWithError(wj_last_error(s.context));
    wj_resume_options rest = WJ_INIT(wj_resume_options);
    rest.wait = 1;
    for (auto _ : state)
        if (wj_snapshot_restore(s.context, midst, nullptr) != WJ_OK ||
            wj_dispatch_resume(s.dispatch, &rest) != WJ_OK)
            return state.SkipWithError(wj_last_error(s.context));
}

}  // namespace

int main(int argc, char** argv) {
    using benchmark::RegisterBenchmark;
    RegisterBenchmark("load", run_load)->UseManualTime();
    for (const Engine& e : engines) {
        const std::string name = std::string("/") + e.name;
        const wj_engine engine = e.engine;
        RegisterBenchmark(("first_launch" + name).c_str(), [=](benchmark::State& s) {
            run_first_launch(s, engine);
        })->UseManualTime();
        RegisterBenchmark(("launch" + name).c_str(),
                          [=](benchmark::State& s) { run_patched(s, engine, 1, false); });
        RegisterBenchmark(("restore_and_launch" + name).c_str(),
                          [=](benchmark::State& s) { run_restored(s, engine); });
        RegisterBenchmark(("restore_and_resume" + name).c_str(),
                          [=](benchmark::State& s) { run_resumed(s, engine); });
        RegisterBenchmark(("hooked" + name).c_str(),
                          [=](benchmark::State& s) { run_hooked(s, engine); });
        RegisterBenchmark(("patch" + name).c_str(),
                          [=](benchmark::State& s) { run_patched(s, engine, 0, true); });
        RegisterBenchmark(("patch_and_run" + name).c_str(),
                          [=](benchmark::State& s) { run_patched(s, engine, 1, true); });
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
