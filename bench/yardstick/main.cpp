// Times benchmarks by one or several contenders (OpenCL, native versions, wavejit's engines), in
// turns and on the same memory; prints CSV. Exit status 1 if a result is wrong, 77 if the host
// cannot run what was asked for.
#include <sys/resource.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "bench/yardstick/backend_wavejit.h"
#include "bench/yardstick/bench.h"
#include "bench/yardstick/native.h"

namespace {

using namespace yardstick;

const std::vector<std::string> memory_modes = {"identity", "checked", "window"};

struct Options {
    std::vector<std::string> contenders = {"auto"};
    std::string kernels, cl_options = "-cl-std=CL1.2", scale = "full", native;
    WavejitOptions wavejit;
    int runs = 11;
    double max_seconds = 6, cpus = 0;
    bool list = false, further = false, header = false;
    std::vector<std::string> only;
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

struct Contender {
    std::string name;
    std::unique_ptr<Backend> backend;                          // none: the native version
    double build = 0, first = 0, warm = 0, cpu = 0, wall = 0;  // seconds
    std::vector<double> rounds;                                // seconds, one of each turn
};

struct Run {
    double wall, cpu;  // seconds
};

// Runs a benchmark by a contender; the threads of a native version live as long as this.
class Runner {
public:
    Runner(Bench& bench, Contender& contender, unsigned threads)
        : bench_(bench), backend_(contender.backend.get()) {
        if (!backend_) native_.emplace(bench, threads);
    }
    Run run() {
        backend_ ? backend_->to_device(bench_) : bench_.restore();
        const double cpu = cpu_seconds(), begin = now();
        if (!backend_) native_->run();
        const double wall = backend_ ? backend_->run(bench_) : now() - begin;
        return {wall, cpu_seconds() - cpu};
    }

private:
    Bench& bench_;
    Backend* backend_;
    std::optional<Native> native_;
};

double median(std::vector<double> t) {
    std::sort(t.begin(), t.end());
    return t.size() % 2 ? t[t.size() / 2] : 0.5 * (t[t.size() / 2 - 1] + t[t.size() / 2]);
}

// A contender's turn: one run that does not count, as caches are the last contender's, and the
// median of three; one run alone if runs are long. A run of over 3 ms that had less than 95 % of
// the processors it wants is repeated, up to six times.
void take_turn(Bench& bench, Contender& c, const Options& o) {
    Runner runner(bench, c, o.wavejit.threads);
    const bool brief = c.warm < 0.03;
    if (brief) runner.run();
    const size_t wanted = brief ? 3 : 1;
    std::vector<double> good, disturbed;
    for (size_t tries = 0; good.size() < wanted && tries < wanted + 6; ++tries) {
        const Run r = runner.run();
        c.cpu += r.cpu;
        c.wall += r.wall;
        (r.wall < 0.003 || r.cpu >= 0.95 * o.cpus * r.wall ? good : disturbed).push_back(r.wall);
    }
    c.rounds.push_back(median(good.empty() ? disturbed : good));
}

void load(Bench& bench, Contender& c, const Options& o) {
    c.rounds.clear();
    c.cpu = c.wall = 0;
    const double start = now();
    if (c.backend) c.backend->load(bench);
    c.build = now() - start;
    Runner runner(bench, c, o.wavejit.threads);
    c.first = runner.run().wall;
    c.warm = runner.run().wall;
}

// Empty if the result is right. What others have left in the buffers must not pass for it.
std::string check(Bench& bench, Contender& c, const Options& o, const Bench::Contents& contents) {
    bench.set_contents(contents);
    if (c.backend) c.backend->all_to_device(bench);
    Runner(bench, c, o.wavejit.threads).run();
    if (c.backend) c.backend->to_host(bench);
    return bench.check(bench);
}

void print(const Bench& bench, const Contender& c, const std::string& error) {
    const double mid = median(c.rounds);
    std::vector<double> milliseconds = c.rounds;
    for (double& t : milliseconds) t *= 1e3;
    fmt::print("{},{},\"{}\",{:.4f},{:.4f},{:.4g},{},{},{:.2f},{:.1f},{:.1f},{},\"{}\",{:.6f}\n",
               c.name, bench.name, bench.size, std::ranges::min(c.rounds) * 1e3, mid * 1e3,
               bench.work / mid * 1e-9, bench.unit, c.rounds.size(), c.cpu / c.wall, c.build * 1e3,
               c.first * 1e3, error.empty() ? "ok" : "WRONG " + error,
               c.backend ? "" : bench.native_note, fmt::join(milliseconds, " "));
    std::fflush(stdout);
}

// Every round has a turn of each contender: the times of one round are milliseconds apart, and
// their ratios are of the same memory on the same machine.
bool run_one(const Entry& entry, std::vector<Contender>& contenders, const Options& o) {
    Scale scale = o.scale == "small"    ? Scale::Small
                  : o.scale == "medium" ? Scale::Medium
                                        : Scale::Full;
    Bench bench = entry.make(scale);
    std::vector<Contender*> present;
    for (Contender& c : contenders)
        if (c.backend || bench.native_part || (o.wavejit.threads == 1 && bench.native))
            present.push_back(&c);
    const Bench::Contents contents = bench.contents();
    for (Contender* c : present) load(bench, *c, o);
    const double start = now(), seconds = o.max_seconds * double(present.size());
    for (int r = 0; r < o.runs && (r < 3 || now() - start < seconds); ++r)
        for (Contender* c : present) take_turn(bench, *c, o);
    bool ok = true;
    for (Contender* c : present) {
        const std::string error = check(bench, *c, o, contents);
        print(bench, *c, error);
        if (c->backend) c->backend->unload(bench);
        ok &= error.empty();
    }
    return ok;
}

// Tests that end so are counted as skipped, not as passed.
[[noreturn]] void not_on_this_host(const std::string& error) {
    std::fprintf(stderr, "%s\n", error.c_str());
    std::exit(77);
}

// A contender's name in parts: "avx2", or with its memory mode and its target if they are others:
// "avx2:window@gfx1030".
struct ContenderName {
    std::string engine, memory, target;
    explicit ContenderName(const std::string& name) {
        const size_t at = name.find('@'), colon = name.find(':');
        engine = name.substr(0, std::min(at, colon));
        if (colon < at) memory = name.substr(colon + 1, at - colon - 1);
        if (at != std::string::npos) target = name.substr(at + 1);
    }
};

// What is wrong with a contender's name, as CLI11 asks.
std::string check_contender(const std::string& name) {
    static const std::vector<std::string> engines = {"auto", "interp", "avx2", "avx512"};
    if (name == "opencl" || name == "native") return {};
    const ContenderName n(name);
    if (!std::ranges::count(engines, n.engine))
        return "'" + name + "': no contender is called '" + n.engine + "' (opencl, native, " +
               fmt::format("{})", fmt::join(engines, ", "));
    if (!n.memory.empty() && !std::ranges::count(memory_modes, n.memory))
        return "'" + name + "': no memory mode is called '" + n.memory + "' (" +
               fmt::format("{})", fmt::join(memory_modes, ", "));
    return {};
}

std::unique_ptr<WavejitBackend> make_wavejit(const std::string& name, const Options& o) {
    const ContenderName n(name);
    WavejitOptions w = o.wavejit;
    w.engine = n.engine;
    if (!n.memory.empty()) w.memory = n.memory;
    if (!n.target.empty()) w.target = n.target;
    std::string error;
    auto backend = WavejitBackend::create(w, error);
    if (!backend && error.find("cannot run the engine") != std::string::npos)
        not_on_this_host(error);
    if (!backend) fail(error);
    return backend;
}

std::unique_ptr<Backend> make_backend(const std::string& name, const Options& o) {
    if (name == "native") return nullptr;
    if (name == "opencl") {
#ifdef WJ_HAVE_OPENCL
        return make_opencl_backend(o.kernels, o.cl_options);
#else
        fail("built without OpenCL (packages of the group [pocl])");
#endif
    }
    return make_wavejit(name, o);
}

std::vector<const Entry*> wanted(const Options& o) {
    std::vector<const Entry*> entries;
    for (const Entry& e : all_benches())
        if (o.only.empty() || std::ranges::count(o.only, e.name)) entries.push_back(&e);
    for (const std::string& name : o.only)
        if (std::ranges::none_of(entries, [&](const Entry* e) { return name == e->name; }))
            fail("no benchmark is called '" + name + "'; --list names them");
    return entries;
}

// One run of every benchmark; a line each for check_counts.py.
int count(const Options& o) {
    bool ok = true;
    for (const Entry* e : wanted(o)) {
        std::unique_ptr<WavejitBackend> backend = make_wavejit(o.contenders[0], o);
        Bench bench = e->make(Scale::Small);
        backend->load(bench);
        backend->to_device(bench);
        backend->run(bench);
        backend->to_host(bench);
        const std::string error = bench.check(bench);
        const wj_counters c = backend->counters();
        std::printf("%s %llu %llu %llu\n", e->name,
                    static_cast<unsigned long long>(c.wave_instructions),
                    static_cast<unsigned long long>(c.host_instructions),
                    static_cast<unsigned long long>(c.host_calls));
        if (!error.empty()) std::fprintf(stderr, "%s: WRONG %s\n", e->name, error.c_str());
        ok &= error.empty();
        backend->unload(bench);
    }
    return ok ? 0 : 1;
}

int run(const Options& o) {
    if (o.list || o.further) {
        for (const Entry& e : all_benches())
            if (e.further || !o.further) std::puts(e.name);
        return 0;
    }
    const std::vector<const Entry*> entries = wanted(o);
    if (!o.native.empty() && !native::choose_loops(o.native))
        not_on_this_host("this host cannot run the native loops of " + o.native);
    std::vector<Contender> contenders;
    for (const std::string& name : o.contenders) {
        contenders.emplace_back();
        contenders.back().name = name;
        contenders.back().backend = make_backend(name, o);
        if (Backend* b = contenders.back().backend.get())
            std::fprintf(stderr, "# %s\n", b->describe().c_str());
    }
    if (o.header)
        std::puts(
            "label,name,size,min_ms,median_ms,rate,unit,runs,cpus,build_ms,first_ms,check,note,"
            "rounds_ms");
    bool ok = true;
    for (const Entry* e : entries) ok &= run_one(*e, contenders, o);
    for (const Contender& c : contenders)
        if (auto* wavejit = dynamic_cast<WavejitBackend*>(c.backend.get());
            wavejit && !o.wavejit.cache.empty()) {
            const wj_counters n = wavejit->counters();
            std::fprintf(stderr, "# %llu blocks translated, %llu loaded, %.3f ms\n",
                         static_cast<unsigned long long>(n.blocks_translated),
                         static_cast<unsigned long long>(n.blocks_loaded),
                         static_cast<double>(n.translation_ns) * 1e-6);
        }
    return ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    o.wavejit.code_objects = WJ_CODE_OBJECTS;
    o.kernels = WJ_KERNEL_SOURCES;
    CLI::App app("Times the yardstick benchmarks and checks their results");
    app.add_option(
           "--contenders", o.contenders,
           "what takes turns: opencl, native, or wavejit's engines, with a memory mode and a "
           "target (a folder of code objects) if they are others: avx2:window@gfx1030")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Validator(check_contender, "NAME"))
        ->capture_default_str();
    app.add_option("--scale", o.scale)
        ->check(CLI::IsMember({"small", "medium", "full"}))
        ->capture_default_str();
    app.add_option("--target", o.wavejit.target,
                   "wavejit: gfx90a, gfx1030, or gfx1030-w64: waves of 64 lanes")
        ->capture_default_str();
    app.add_option("--memory", o.wavejit.memory)->check(CLI::IsMember(memory_modes));
    app.add_option("--cache", o.wavejit.cache, "directory of the on-disk cache (none)");
    app.add_option("--threads", o.wavejit.threads, "wavejit, native")->capture_default_str();
    app.add_option("--code-objects", o.wavejit.code_objects, "folder of TARGET/NAME.hsaco");
    app.add_option("--kernels", o.kernels, "opencl: folder of the sources");
    app.add_option("--cl-options", o.cl_options)->capture_default_str();
    app.add_option("--runs", o.runs, "rounds")->capture_default_str();
    app.add_option("--max-seconds", o.max_seconds, "for each contender")->capture_default_str();
    app.add_option("--native", o.native, "instruction set of the native loops: the best one")
        ->check(CLI::IsMember({"avx2", "avx512"}));
    app.add_option("--cpus", o.cpus, "processors that a counted run must have had");
    app.add_flag("--count", o.wavejit.count,
                 "small scale, one run: wave instructions, host instructions, calls of C++ code");
    app.add_flag("--list", o.list, "names only");
    app.add_flag("--further", o.further, "names only, of those with a mean of their own");
    app.add_flag("--header", o.header);
    app.add_option("names", o.only, "benchmarks; all if none");
    CLI11_PARSE(app, argc, argv);
    return o.wavejit.count ? count(o) : run(o);
}
