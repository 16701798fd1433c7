// Google Benchmark over the yardstick: JIT against interpreter, launch latency, translation speed,
// shares of the host's peak, threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>

#include "bench/products.h"
#include "bench/report.h"
#include "bench/yardstick/backend_wavejit.h"
#include "bench/yardstick/bench.h"
#include "bench/yardstick/native.h"
#include "wavejit/wavejit.h"

namespace {

using namespace yardstick;

const char* const bench_target = "gfx90a";

std::unique_ptr<WavejitBackend> backend(const std::string& engine, unsigned threads,
                                        std::string& error, const std::string& cache = "",
                                        bool prepared = false) {
    WavejitOptions o;
    o.prepared = prepared;
    o.cache = cache;
    o.code_objects = WJ_CODE_OBJECTS;
    o.target = bench_target;
    o.engine = engine;
    o.threads = threads;
    return WavejitBackend::create(o, error);
}

const Entry& entry(const std::string& name) {
    for (const Entry& e : all_benches())
        if (e.name == name) return e;
    fail("no benchmark is called " + name);
}

// Processor time of this process. For one thread it is the time that an idle machine would take,
// also when other programs run.
double processor_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// Times all launches of a benchmark; the first run (translation) is not counted. Results are
// checked.
void run_kernel(benchmark::State& state, const Entry& e, Scale scale, const std::string& engine,
                unsigned threads) {
    std::string error;
    auto wavejit = backend(engine, threads, error);
    if (!wavejit) {
        state.SkipWithError(error.c_str());
        return;
    }
    Bench bench = e.make(scale);
    wavejit->load(bench);
    wavejit->to_device(bench);
    wavejit->run(bench);
    uint64_t before = wavejit->counters().wave_instructions;
    double best = 1e30;
    for (auto _ : state) {
        wavejit->to_device(bench);
        double before_cpu = processor_seconds();
        double seconds = wavejit->run(bench);
        best = std::min(best, threads == 1 ? processor_seconds() - before_cpu : seconds);
        state.SetIterationTime(seconds);
    }
    double executed = double(wavejit->counters().wave_instructions - before);
    error = bench.check(bench);
    wavejit->unload(bench);
    if (!error.empty()) {
        state.SkipWithError(("wrong result: " + error).c_str());
        return;
    }
    state.counters["best_ms"] = best * 1e3;
    state.counters["work"] = bench.work;
    state.counters["wave_instructions"] = executed / double(state.iterations());
    state.counters[bench.unit] = benchmark::Counter(bench.work * 1e-9 * double(state.iterations()),
                                                    benchmark::Counter::kIsRate);
    state.SetLabel(bench.size);
}

// What the host can do: `run` returns how many operations it did.
void run_peak(benchmark::State& state, const std::function<double()>& run) {
    double best = 1e30, work = 0;
    for (auto _ : state) {
        const double before_cpu = processor_seconds(), begin = now();
        work = run();
        state.SetIterationTime(now() - begin);
        best = std::min(best, processor_seconds() - before_cpu);
    }
    if (work == 0) return state.SkipWithError("the host has no such instruction");
    state.counters["best_ms"] = best * 1e3;
    state.counters["work"] = work;
    state.counters["GFLOP/s"] =
        benchmark::Counter(work * 1e-9 * double(state.iterations()), benchmark::Counter::kIsRate);
}
void run_fma_peak(benchmark::State& state) {
    Bench bench = entry("fma_peak").make(Scale::Medium);
    run_peak(state, [&] {
        bench.native(bench);
        return bench.work;
    });
}
void run_bf16_peak(benchmark::State& state) {
    run_peak(state, [] { return native::bf16_peak(1 << 20); });
}

// Every kernel of the yardstick, each translated by a fresh context.
void run_translation(benchmark::State& state, const std::string& engine) {
    double instructions = 0, host_bytes = 0;
    for (auto _ : state) {
        double seconds = 0;
        for (const Entry& e : all_benches()) {
            std::string error;
            auto wavejit = backend(engine, 1, error);
            if (!wavejit) {
                state.SkipWithError(error.c_str());
                return;
            }
            Bench bench = e.make(Scale::Small);
            wavejit->load(bench);
            wavejit->to_device(bench);
            wavejit->run(bench);
            wj_counters c = wavejit->counters();
            instructions += double(c.instructions_translated);
            host_bytes += double(c.host_code_bytes);
            seconds += double(c.translation_ns) * 1e-9;
            wavejit->unload(bench);
        }
        state.SetIterationTime(seconds);
    }
    state.counters["guest_instructions"] =
        benchmark::Counter(instructions, benchmark::Counter::kIsRate);
    if (instructions > 0) state.counters["host_bytes_per_instruction"] = host_bytes / instructions;
}

// The first launch of a kernel in a context, one work-group; cached: an earlier context has
// translated it.
void run_first_launch(benchmark::State& state, const char* name, const std::string& engine,
                      bool cached) {
    char folder[] = "/tmp/wavejit-bench-XXXXXX";
    const std::string cache = cached && mkdtemp(folder) ? folder : "";
    double translated = 0, loaded = 0, best = 1e30;
    auto launch = [&](bool timed) {
        std::string error;
        auto wavejit = backend(engine, 1, error, cache);
        if (!wavejit) return state.SkipWithError(error.c_str());
        Bench bench = entry(name).make(Scale::Small);
        bench.launches.resize(1);
        for (int d = 0; d < 3; ++d) bench.launches[0].global[d] = bench.launches[0].local[d];
        wavejit->load(bench);
        wavejit->to_device(bench);
        const double seconds = wavejit->run(bench);
        const wj_counters c = wavejit->counters();
        wavejit->unload(bench);
        if (!timed) return;
        state.SetIterationTime(seconds);
        best = std::min(best, seconds);
        translated = double(c.instructions_translated);
        loaded = double(c.blocks_loaded);
    };
    if (cached) launch(false);
    for (auto _ : state) launch(true);
    state.counters["instructions_translated"] = translated;
    state.counters["blocks_loaded"] = loaded;
    state.counters["best_ms"] = best * 1e3;
    if (!cache.empty()) std::filesystem::remove_all(cache);
}

// One launch and its wait, through the C interface.
void run_empty(benchmark::State& state, const std::string& engine, bool prepared) {
    std::string error;
    auto wavejit = backend(engine, 1, error, "", prepared);
    if (!wavejit) {
        state.SkipWithError(error.c_str());
        return;
    }
    Bench bench = entry("empty_launch").make(Scale::Small);
    bench.launches.resize(1);
    wavejit->load(bench);
    for (auto _ : state) wavejit->run(bench);
    wavejit->unload(bench);
}

// Back to a snapshot of 64 MiB of which so many pages were written since.
void run_restore(benchmark::State& state, uint64_t pages, bool marked) {
    constexpr uint64_t size = 64 << 20, page = 4096;
    wj_context_options options = WJ_INIT(wj_context_options);
    options.engine = WJ_ENGINE_INTERPRETER;
    options.memory_mode = WJ_MEMORY_CHECKED;
    options.threads = 1;
    wj_snapshot_options how = WJ_INIT(wj_snapshot_options);
    how.only_marked_writes = marked;
    wj_context* context = nullptr;
    wj_snapshot snapshot = 0;
    uint64_t memory = 0;
    const bool ready = wj_context_create(&options, &context, nullptr, 0) == WJ_OK &&
                       wj_memory_allocate(context, size, &memory) == WJ_OK &&
                       wj_snapshot_take(context, &how, &snapshot) == WJ_OK;
    if (!ready) state.SkipWithError("no snapshot");
    uint64_t number = 0;
    for (auto _ : state) {
        number++;
        for (uint64_t p = 0; p < pages; p++)
            wj_memory_write(context, memory + p * 37 % (size / page) * page, &number, 8);
        const auto begin = std::chrono::steady_clock::now();
        wj_snapshot_restore(context, snapshot, nullptr);
        state.SetIterationTime(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    wj_context_destroy(context);
}

// The same through HIP, in a program of its own.
void run_hip_empty(benchmark::State& state) {
    std::string command = std::string("LD_LIBRARY_PATH='") + WJ_HSA_LIBRARY_DIR +
                          "' WAVEJIT_TARGET=" + bench_target + " '" + WJ_HIP_LAUNCH + "' 2>&1";
    for (auto _ : state) {
        std::FILE* pipe = popen(command.c_str(), "r");
        char text[256] = "";
        if (!pipe || !std::fgets(text, sizeof text, pipe)) text[0] = 0;
        int status = pipe ? pclose(pipe) : 1;
        double micros = 0, resident = 0;
        std::sscanf(text, "%lf %lf", &micros, &resident);
        if (status != 0 || micros <= 0) {
            state.SkipWithError((std::string("hip_launch failed: ") + text).c_str());
            return;
        }
        state.SetIterationTime(micros * 1e-6);
        state.counters["resident_MB"] = resident;
    }
}

void register_all() {
    auto timed = [](benchmark::internal::Benchmark* b) {
        return b->UseManualTime()->Unit(benchmark::kMillisecond);
    };
    for (const Entry& e : all_benches()) {
        if (std::strcmp(e.name, "empty_launch") == 0) continue;
        for (const char* engine : {"interp", "avx2", "avx512"})
            timed(benchmark::RegisterBenchmark(
                (std::string("kernel/") + e.name + "/" + engine).c_str(),
                [&e, engine](benchmark::State& s) { run_kernel(s, e, Scale::Medium, engine, 1); }));
    }
    for (const char* name : {"nbody", "sgemm_tiled"})
        for (unsigned threads : {1u, 2u})
            timed(benchmark::RegisterBenchmark(
                (std::string("threads/") + name + "/" + std::to_string(threads)).c_str(),
                [name, threads](benchmark::State& s) {
                    run_kernel(s, entry(name), Scale::Full, "auto", threads);
                }));
    for (const uint64_t pages : {1, 10, 100, 1000})
        timed(benchmark::RegisterBenchmark(
            ("restore/" + std::to_string(pages)).c_str(),
            [pages](benchmark::State& s) { run_restore(s, pages, true); }));
    timed(benchmark::RegisterBenchmark("restore/10/all_compared",
                                       [](benchmark::State& s) { run_restore(s, 10, false); }));
    bench::register_products();
    timed(benchmark::RegisterBenchmark("fma/host", run_fma_peak));
    timed(benchmark::RegisterBenchmark("bf16/host", run_bf16_peak));
    for (const char* kernel : {"sgemm_tiled", "matmul_bf16"})
        timed(benchmark::RegisterBenchmark((std::string("matrix/") + kernel).c_str(),
                                           [kernel](benchmark::State& s) {
                                               run_kernel(s, entry(kernel), Scale::Full, "auto", 1);
                                           }));
    for (const char* engine : {"avx2", "avx512"}) {
        timed(benchmark::RegisterBenchmark(
            (std::string("fma/") + engine).c_str(), [engine](benchmark::State& s) {
                run_kernel(s, entry("fma_peak"), Scale::Medium, engine, 1);
            }));
        timed(benchmark::RegisterBenchmark(
            (std::string("translate/") + engine).c_str(),
            [engine](benchmark::State& s) { run_translation(s, engine); }));
    }
    // What is named translates all that it meets, "auto" what pays.
    for (const char* engine : {"avx2", "avx512", "auto"})
        for (const char* kernel : {"sgemm_tiled", "bitonic_sort"})
            for (bool cached : {false, true})
                timed(benchmark::RegisterBenchmark(
                    (std::string("first_launch/") + kernel + "/" + engine +
                     (cached ? "/cached" : "/cold"))
                        .c_str(),
                    [=](benchmark::State& s) { run_first_launch(s, kernel, engine, cached); }));
    for (const char* engine : {"interp", "avx2", "avx512", "auto"})
        for (const bool prepared : {false, true})
            benchmark::RegisterBenchmark(
                (std::string(prepared ? "launch/prepared/" : "launch/c_api/") + engine).c_str(),
                [=](benchmark::State& s) { run_empty(s, engine, prepared); })
                ->Unit(benchmark::kMicrosecond)
                ->UseRealTime();
    benchmark::RegisterBenchmark("launch/hip", run_hip_empty)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(1)
        ->Repetitions(5)
        ->ReportAggregatesOnly();
}

}  // namespace

int main(int argc, char** argv) {
    register_all();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    bench::Report report;
    benchmark::RunSpecifiedBenchmarks(&report);
    return 0;
}
