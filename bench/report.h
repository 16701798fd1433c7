// Console output of Google Benchmark, followed by tables of paired results of the same run.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>

namespace bench {

class Report : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override;
    void Finalize() override;

private:
    struct Result {
        double seconds = 0;
        std::map<std::string, double> counters;
    };
    // Of the last repetition or the median, by name.
    std::map<std::string, Result> results_;
};

}  // namespace bench
