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
constexpr std::string_view known[] = {"WAVEJIT_AGENTS",    "WAVEJIT_CACHE",    "WAVEJIT_CACHE_DIR",
                                      "WAVEJIT_CACHE_MIB", "WAVEJIT_CODE_KIB", "WAVEJIT_CUS",
                                      "WAVEJIT_DUMP",      "WAVEJIT_ENGINE",   "WAVEJIT_HOT",
                                      "WAVEJIT_LOG",       "WAVEJIT_MEMORY",   "WAVEJIT_MEMORY_MB",
                                      "WAVEJIT_PERF",      "WAVEJIT_STATS",    "WAVEJIT_TARGET",
                                      "WAVEJIT_THREADS",   "WAVEJIT_TIMEOUT"};

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

std::string_view nearest_variable(std::string_view name) {
    if (!name.starts_with(prefix) || std::ranges::count(known, name)) return {};
    return *std::ranges::min_element(known, {},
                                     [&](std::string_view other) { return distance(name, other); });
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
