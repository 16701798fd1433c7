#include "runtime/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

namespace wj::runtime {
namespace {

constexpr std::string_view prefix = "WAVEJIT_";
constexpr Variable known[] = {
    {"WAVEJIT_AGENTS", "number of emulated GPUs, 1 to 64 (default 1)"},
    {"WAVEJIT_CACHE", "0: translated code is not kept on disk for later processes (default 1)"},
    {"WAVEJIT_CACHE_DIR", "where it is kept (default ${XDG_CACHE_HOME:-$HOME/.cache}/wavejit)"},
    {"WAVEJIT_CACHE_MIB", "how much of it is kept, in MiB (default 256)"},
    {"WAVEJIT_CAPTURE", "folder for capture files of launches, which wavejit replay takes"},
    {"WAVEJIT_CAPTURE_COUNT", "how many launches of each kernel are captured (default 1)"},
    {"WAVEJIT_CAPTURE_KERNEL", "of which kernels launches are captured, as a pattern (default *)"},
    {"WAVEJIT_CHECK",
     "checkers: memory, init, race, barrier, waitcnt, alignment, division; or all; unaligned; "
     "inexact"},
    {"WAVEJIT_CHECK_REPORT", "file for what checkers find: .json, .sarif, else text"},
    {"WAVEJIT_CHECK_SUPPRESSIONS", "file of what checkers shall not report"},
    {"WAVEJIT_CODE_KIB", "memory for translated code in KiB (default 262144)"},
    {"WAVEJIT_COVERAGE",
     "file for what kernels have reached: .drcov for blocks, else source lines as lcov"},
    {"WAVEJIT_CUS", "compute units that programs are told about (default 8)"},
    {"WAVEJIT_DETERMINISTIC", "1: one order of waves, clocks that count instructions"},
    {"WAVEJIT_DUMP", "folder in which every code object that is loaded is kept"},
    {"WAVEJIT_ENGINE", "interp, avx2, avx512 or auto (default auto: the best of the processor)"},
    {"WAVEJIT_FIDELITY",
     "file for which executed instructions are exact, and how near to hardware others are"},
    {"WAVEJIT_HOT", "number of blocks with the most executed host instructions to print (slow)"},
    {"WAVEJIT_LIBRARY", "the library that the Python package loads"},
    {"WAVEJIT_LOG", "0 silent, 1 errors (default), 2 also refused requests that HIP handles"},
    {"WAVEJIT_MEMORY", "identity (default) or checked: kernels reach known memory only"},
    {"WAVEJIT_MEMORY_MB", "size of a GPU's memory in MiB (default: 3/4 of the host's)"},
    {"WAVEJIT_PERF", "1 or jitdump: tells perf about translated code"},
    {"WAVEJIT_SCHEDULE_SEED", "with WAVEJIT_DETERMINISTIC: another order of waves for each number"},
    {"WAVEJIT_STATS", "1: print waves, instructions and times at the end"},
    {"WAVEJIT_TARGET", "emulated processor (default: the best that the program has code for)"},
    {"WAVEJIT_THREADS", "number of worker threads (default: all processors)"},
    {"WAVEJIT_TIMEOUT", "seconds after which a kernel is stopped with a report (default: never)"},
    {"WAVEJIT_WEAK_MEMORY",
     "1, with a schedule seed: nothing but a kernel's waits and cache operations orders accesses"},
};

// Letters to insert, leave out or replace (Levenshtein's distance), one row of the table at a time.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i);
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row[b.size()];
}

}  // namespace

std::span<const Variable> known_variables() {
    return known;
}

std::string_view nearest_variable(std::string_view name) {
    if (!name.starts_with(prefix) || std::ranges::count(known, name, &Variable::name)) return {};
    return std::ranges::min_element(
               known, {}, [&](const Variable& other) { return distance(name, other.name); })
        ->name;
}

void report_unknown_variables() {
    static std::once_flag once;
    std::call_once(once, [] {
        for (char** entry = environ; entry && *entry; ++entry) {
            const std::string_view text = *entry;
            const std::string name(text.substr(0, text.find('=')));
            if (const std::string_view nearest = nearest_variable(name); !nearest.empty())
                std::fprintf(stderr, "wavejit: nothing reads the variable %s; is %s meant?\n",
                             name.c_str(), std::string(nearest).c_str());
        }
    });
}

}  // namespace wj::runtime
