#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/yardstick/bench.h"

namespace bench {
namespace {

bool is_further(const std::string& kernel) {
    return std::ranges::any_of(yardstick::all_benches(), [&](const yardstick::Entry& e) {
        return e.further && e.name == kernel;
    });
}

}  // namespace

void Report::ReportRuns(const std::vector<Run>& runs) {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
        if (run.error_occurred ||
            (run.run_type == Run::RT_Aggregate && run.aggregate_name != "median"))
            continue;
        Result& result = results_[run.run_name.function_name +
                                  (run.run_name.args.empty() ? "" : "/" + run.run_name.args)];
        result.seconds =
            run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
        for (const auto& [name, counter] : run.counters) {
            // The fastest iteration, in processor time when it had one thread: what other work on
            // the machine disturbs least.
            if (name == "best_ms") result.seconds = counter.value * 1e-3;
            result.counters[name] = counter.value;
        }
    }
}

void Report::Finalize() {
    ConsoleReporter::Finalize();
    std::printf(
        "\nJIT against interpreter, one thread, processor time of the fastest iteration; M/s = "
        "million wave instructions "
        "a second\n");
    std::printf("%-18s %10s %10s %10s %12s %12s %12s %10s\n", "kernel", "interp M/s", "avx2 M/s",
                "avx512 M/s", "avx512/interp", "avx2/interp", "avx2/avx512", "avx512");
    const std::string prefix = "kernel/";
    double product[3] = {};
    int count[3] = {};
    auto cell = [&](double a, double b, int column) {
        if (a <= 0 || b <= 0) {
            std::printf(" %12s", "-");
            return;
        }
        product[column] += std::log(b / a);
        count[column]++;
        std::printf(" %11.2fx", b / a);
    };
    auto mean = [&](const char* of) {
        std::printf("%-51s", of);
        for (int c = 0; c < 3; c++) {
            std::printf(" %11.2fx", count[c] ? std::exp(product[c] / count[c]) : 0.0);
            product[c] = count[c] = 0;
        }
        std::printf("\n");
    };
    auto rows = [&](bool further) {
        bool any = false;
        for (const auto& [name, interp] : results_) {
            if (name.rfind(prefix, 0) != 0 || name.find("/interp") == std::string::npos) continue;
            std::string kernel = name.substr(prefix.size(), name.find("/interp") - prefix.size());
            if (is_further(kernel) != further) continue;
            any = true;
            const Result& avx2 = results_[prefix + kernel + "/avx2"];
            const Result& avx512 = results_[prefix + kernel + "/avx512"];
            std::printf("%-18s", kernel.c_str());
            for (const Result* r : {&interp, &avx2, &avx512}) {
                // The interpreter's count for all: translators also count code that no lane takes.
                auto executed = interp.counters.find("wave_instructions");
                std::printf(" %10.1f", executed == interp.counters.end()
                                           ? 0.0
                                           : executed->second / r->seconds * 1e-6);
            }
            cell(avx512.seconds, interp.seconds, 0);
            cell(avx2.seconds, interp.seconds, 1);
            cell(avx2.seconds, avx512.seconds, 2);
            for (const auto& [unit, counter] : avx512.counters)
                if (unit.ends_with("/s")) std::printf(" %10.3g %s", counter, unit.c_str());
            std::printf("\n");
        }
        if (any) mean(further ? "geometric mean, further kernels" : "geometric mean");
    };
    rows(false);
    rows(true);
    auto ratio = [&](const char* what, const std::string& over, const std::string& under) {
        auto a = results_.find(over), b = results_.find(under);
        if (a != results_.end() && b != results_.end() && b->second.seconds > 0)
            std::printf("%-51s %11.2fx\n", what, a->second.seconds / b->second.seconds);
    };
    ratio("nbody, 2 threads against 1", "threads/nbody/1", "threads/nbody/2");
    ratio("sgemm_tiled, 2 threads against 1", "threads/sgemm_tiled/1", "threads/sgemm_tiled/2");
    auto share = [&](const char* what, const std::string& of, const std::string& peak) {
        auto a = results_.find(of), b = results_.find(peak);
        if (a == results_.end() || b == results_.end()) return;
        auto rate = [](const Result& r) {
            auto work = r.counters.find("work");
            return work == r.counters.end() || r.seconds <= 0 ? 0 : work->second / r.seconds;
        };
        if (rate(b->second) > 0)
            std::printf("%-51s %10.0f %%\n", what, 100 * rate(a->second) / rate(b->second));
    };
    share("v_fma_f32 block, share of the host's FMA peak", "fma/avx512", "fma/host");
    share("sgemm_tiled 1024^3, share of the host's FMA peak", "matrix/sgemm_tiled", "fma/host");
    share("matmul_bf16 1024^3, share of vdpbf16ps's peak", "matrix/matmul_bf16", "bf16/host");
}

}  // namespace bench
