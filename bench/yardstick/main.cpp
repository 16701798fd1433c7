// Times every benchmark through a backend, or its native version; prints CSV. Exit status 1 if a
// result is wrong.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "bench/yardstick/backend_wavejit.h"
#include "bench/yardstick/bench.h"

namespace {

using namespace yardstick;

struct Options {
    std::string backend = "wavejit", kernels, cl_options = "-cl-std=CL1.2", label, scale = "full";
    WavejitOptions wavejit;
    int runs = 11;
    double max_seconds = 6, cpus = 0;
    bool list = false, further = false, header = false;
    std::vector<std::string> only;
};

struct Run {
    double wall, cpu;
};

double cpu_seconds() {
    rusage u;
    getrusage(RUSAGE_SELF, &u);
    return double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * double(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

// A native version, on threads that wait for it busily: what is measured is memory, not how long it
// takes to wake them. Each has a part of the elements.
class Native {
public:
    Native(Bench& bench, unsigned threads) : bench_(bench), threads_(threads) {
        for (unsigned t = 1; t < threads; ++t) others_.emplace_back([this, t] { serve(t); });
    }
    ~Native() {
        stop_ = true;
        ++round_;
        for (std::thread& t : others_) t.join();
    }
    Native(const Native&) = delete;
    Native& operator=(const Native&) = delete;

    void run() {
        if (!bench_.native_part) return bench_.native(bench_);
        left_ = threads_ - 1;
        ++round_;
        part(0);
        while (left_) __builtin_ia32_pause();
    }

private:
    void serve(unsigned thread) {
        for (unsigned seen = 0;; ++seen) {
            while (round_ == seen) __builtin_ia32_pause();
            if (stop_) return;
            part(thread);
            --left_;
        }
    }
    void part(unsigned thread) {
        // Whole cache lines, for elements of any size.
        auto begin = [this](unsigned t) {
            return t == threads_ ? bench_.native_items
                                 : bench_.native_items * t / threads_ & ~63ull;
        };
        bench_.native_part(bench_, begin(thread), begin(thread + 1));
    }

    Bench& bench_;
    const unsigned threads_;
    std::atomic<unsigned> round_ = 0, left_ = 0;
    std::atomic<bool> stop_ = false;
    std::vector<std::thread> others_;
};

// Two warm-ups (the first one compiles), then at least three runs, more while time is left. A run
// of over 3 ms that had less than 95 % of the processors it wants does not count, if any other run
// does.
std::vector<Run> measure(Bench& bench, Backend* backend, const Options& o, double& first) {
    std::vector<Run> all, good;
    std::optional<Native> native;
    if (!backend) native.emplace(bench, o.wavejit.threads);
    double start = now();
    for (int r = -2; r < 10 * o.runs && int(good.size()) < o.runs; r++) {
        if (r >= 3 && now() - start > o.max_seconds) break;
        double seconds, cpu;
        if (backend) {
            backend->to_device(bench);
            cpu = cpu_seconds();
            seconds = backend->run(bench);
        } else {
            bench.restore();
            cpu = cpu_seconds();
            double begin = now();
            native->run();
            seconds = now() - begin;
        }
        if (r == -2) first = seconds;
        if (r < 0) continue;
        all.push_back({seconds, cpu_seconds() - cpu});
        if (seconds < 0.003 || all.back().cpu >= 0.95 * o.cpus * seconds)
            good.push_back(all.back());
    }
    if (backend) backend->to_host(bench);
    return good.empty() ? all : good;
}

bool run_one(const Entry& entry, Backend* backend, const Options& o) {
    Scale scale = o.scale == "small"    ? Scale::Small
                  : o.scale == "medium" ? Scale::Medium
                                        : Scale::Full;
    Bench bench = entry.make(scale);
    const bool several = o.wavejit.threads > 1;
    if (!backend && !bench.native_part && (several || !bench.native)) return true;
    double start = now(), first = 0;
    if (backend) backend->load(bench);
    double build = now() - start;
    std::vector<Run> runs = measure(bench, backend, o, first);
    std::string error = bench.check(bench);
    std::vector<double> t;
    double cpu = 0, wall = 0;
    for (const Run& r : runs) {
        t.push_back(r.wall);
        cpu += r.cpu;
        wall += r.wall;
    }
    std::sort(t.begin(), t.end());
    double median = t.size() % 2 ? t[t.size() / 2] : 0.5 * (t[t.size() / 2 - 1] + t[t.size() / 2]);
    std::printf("%s,%s,\"%s\",%.4f,%.4f,%.4g,%s,%zu,%.2f,%.1f,%.1f,%s,\"%s\"\n", o.label.c_str(),
                bench.name.c_str(), bench.size.c_str(), t[0] * 1e3, median * 1e3,
                bench.work / median * 1e-9, bench.unit.c_str(), t.size(), cpu / wall, build * 1e3,
                first * 1e3, error.empty() ? "ok" : ("WRONG " + error).c_str(),
                backend ? "" : bench.native_note.c_str());
    std::fflush(stdout);
    if (backend) backend->unload(bench);
    return error.empty();
}

// One run of every benchmark; a line each for check_counts.py.
int count(const Options& o) {
    bool ok = true;
    for (const Entry& e : all_benches()) {
        if (!o.only.empty() && std::find(o.only.begin(), o.only.end(), e.name) == o.only.end())
            continue;
        std::string error;
        std::unique_ptr<WavejitBackend> backend = WavejitBackend::create(o.wavejit, error);
        if (!backend) fail(error);
        Bench bench = e.make(Scale::Small);
        backend->load(bench);
        backend->to_device(bench);
        backend->run(bench);
        error = bench.check(bench);
        const wj_counters c = backend->counters();
        std::printf("%s %llu %llu %llu\n", e.name,
                    static_cast<unsigned long long>(c.wave_instructions),
                    static_cast<unsigned long long>(c.host_instructions),
                    static_cast<unsigned long long>(c.host_calls));
        if (!error.empty()) std::fprintf(stderr, "%s: WRONG %s\n", e.name, error.c_str());
        ok &= error.empty();
        backend->unload(bench);
    }
    return ok ? 0 : 1;
}

int run(Options& o) {
    if (o.list || o.further) {
        for (const Entry& e : all_benches())
            if (e.further || !o.further) std::puts(e.name);
        return 0;
    }
    std::unique_ptr<Backend> backend;
    if (o.backend == "wavejit") {
        std::string error;
        backend = WavejitBackend::create(o.wavejit, error);
        if (!backend) fail(error);
    } else if (o.backend == "opencl") {
#ifdef WJ_HAVE_OPENCL
        backend = make_opencl_backend(o.kernels, o.cl_options);
#else
        fail("built without OpenCL (packages of the group [pocl])");
#endif
    }
    if (backend) std::fprintf(stderr, "# %s\n", backend->describe().c_str());
    if (o.label.empty()) o.label = o.backend;
    if (o.header)
        std::puts(
            "label,name,size,min_ms,median_ms,rate,unit,runs,cpus,build_ms,first_ms,check,note");
    bool ok = true;
    for (const Entry& e : all_benches())
        if (o.only.empty() || std::find(o.only.begin(), o.only.end(), e.name) != o.only.end())
            ok &= run_one(e, backend.get(), o);
    if (auto* wavejit = dynamic_cast<WavejitBackend*>(backend.get());
        wavejit && !o.wavejit.cache.empty()) {
        const wj_counters c = wavejit->counters();
        std::fprintf(stderr, "# %llu blocks translated, %llu loaded, %.3f ms\n",
                     static_cast<unsigned long long>(c.blocks_translated),
                     static_cast<unsigned long long>(c.blocks_loaded),
                     static_cast<double>(c.translation_ns) * 1e-6);
    }
    return ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    o.wavejit.code_objects = WJ_CODE_OBJECTS;
    o.kernels = WJ_KERNEL_SOURCES;
    CLI::App app("Times the yardstick benchmarks and checks their results");
    app.add_option("--backend", o.backend, "what runs them")
        ->check(CLI::IsMember({"wavejit", "opencl", "native"}))
        ->capture_default_str();
    app.add_option("--scale", o.scale)
        ->check(CLI::IsMember({"small", "medium", "full"}))
        ->capture_default_str();
    app.add_option("--target", o.wavejit.target, "wavejit: gfx900, gfx90a")->capture_default_str();
    app.add_option("--engine", o.wavejit.engine)
        ->check(CLI::IsMember({"auto", "interp", "avx2", "avx512"}));
    app.add_option("--memory", o.wavejit.memory)->check(CLI::IsMember({"identity", "checked"}));
    app.add_option("--cache", o.wavejit.cache, "directory of the on-disk cache (none)");
    app.add_option("--threads", o.wavejit.threads, "wavejit, native")->capture_default_str();
    app.add_option("--code-objects", o.wavejit.code_objects, "folder of TARGET/NAME.hsaco");
    app.add_option("--kernels", o.kernels, "opencl: folder of the sources");
    app.add_option("--cl-options", o.cl_options)->capture_default_str();
    app.add_option("--runs", o.runs)->capture_default_str();
    app.add_option("--max-seconds", o.max_seconds)->capture_default_str();
    app.add_option("--cpus", o.cpus, "processors that a counted run must have had");
    app.add_option("--label", o.label);
    app.add_flag("--count", o.wavejit.count,
                 "small scale, one run: wave instructions, host instructions, calls of C++ code");
    app.add_flag("--list", o.list, "names only");
    app.add_flag("--further", o.further, "names only, of those with a mean of their own");
    app.add_flag("--header", o.header);
    app.add_option("names", o.only, "benchmarks; all if none");
    CLI11_PARSE(app, argc, argv);
    return o.wavejit.count ? count(o) : run(o);
}
