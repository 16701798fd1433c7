#include "runtime/guest_coverage.h"

#include <array>
#include <mutex>

// What libFuzzer and others that take its targets (Centipede, honggfuzz, LibAFL) define, and where
// SanitizerCoverage of host code reports (clang's documentation, "SanitizerCoverage"). Sanitizers
// without a fuzzer define the latter, too: the target says that there is one.
extern "C" {
[[gnu::weak]] int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
[[gnu::weak]] void __sanitizer_cov_8bit_counters_init(char* begin, char* end);
[[gnu::weak]] void __sanitizer_cov_pcs_init(const uintptr_t* begin, const uintptr_t* end);
[[gnu::weak]] void __sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b);
[[gnu::weak]] void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b);
[[gnu::weak]] void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
[[gnu::weak]] void __sanitizer_cov_trace_const_cmp2(uint16_t constant, uint16_t b);
[[gnu::weak]] void __sanitizer_cov_trace_const_cmp4(uint32_t constant, uint32_t b);
[[gnu::weak]] void __sanitizer_cov_trace_const_cmp8(uint64_t constant, uint64_t b);
}

namespace wj::runtime {
namespace {

// Fuzzers clear and read all of them in each run: enough for some hundred edges to be apart.
constexpr uint32_t counter_count = 4096;

// One set for the whole process, as a fuzzer never forgets counters it was told of.
uint8_t* fuzzer_counters() {
    alignas(64) static std::array<uint8_t, counter_count> counters;
    // A pair for each counter: an address that stands for it, and flags. Guest code has none in the
    // process that the fuzzer's symbolizer could name.
    static std::array<uintptr_t, size_t{2} * counter_count> places;
    static std::once_flag once;
    std::call_once(once, [] {
        auto* const begin = reinterpret_cast<char*>(counters.data());
        for (size_t i = 0; i < counter_count; i++)
            places[2 * i] = reinterpret_cast<uintptr_t>(begin + i);
        __sanitizer_cov_8bit_counters_init(begin, begin + counter_count);
        if (__sanitizer_cov_pcs_init)
            __sanitizer_cov_pcs_init(places.data(), places.data() + places.size());
    });
    return counters.data();
}

void tell_fuzzer(uint32_t bits, uint64_t a, uint64_t b, bool constant) {
    const auto a32 = static_cast<uint32_t>(a), b32 = static_cast<uint32_t>(b);
    const auto a16 = static_cast<uint16_t>(a), b16 = static_cast<uint16_t>(b);
    if (bits == 16)
        return (constant ? __sanitizer_cov_trace_const_cmp2 : __sanitizer_cov_trace_cmp2)(a16, b16);
    if (bits == 32)
        return (constant ? __sanitizer_cov_trace_const_cmp4 : __sanitizer_cov_trace_cmp4)(a32, b32);
    (constant ? __sanitizer_cov_trace_const_cmp8 : __sanitizer_cov_trace_cmp8)(a, b);
}

bool has_compares() {
    return __sanitizer_cov_trace_cmp2 && __sanitizer_cov_trace_cmp4 && __sanitizer_cov_trace_cmp8 &&
           __sanitizer_cov_trace_const_cmp2 && __sanitizer_cov_trace_const_cmp4 &&
           __sanitizer_cov_trace_const_cmp8;
}

}  // namespace

Status find_counters(const CoverageOptions& options, machine::Coverage& out) {
    using Kind = CoverageOptions::Kind;
    if ((options.divergence || options.lanes) && options.kind == Kind::Off)
        return {Code::InvalidArgument,
                "coverage of divergence or lanes is wanted, and coverage is off"};
    out.divergence = options.divergence;
    out.lanes = options.lanes;
    if (options.kind == Kind::Counters) {
        if (!options.counters || !options.size || options.size > UINT32_MAX)
            return {Code::InvalidArgument,
                    "coverage needs counters, at least one and fewer than 2^32: there are " +
                        std::to_string(options.counters ? options.size : 0)};
        if (options.lanes && options.size < machine::Coverage::lane_ranges)
            return {Code::InvalidArgument,
                    "coverage of lanes needs " + std::to_string(machine::Coverage::lane_ranges) +
                        " counters at least: there are " + std::to_string(options.size)};
        out.counters = options.counters;
        out.size = static_cast<uint32_t>(options.size);
    } else if (options.kind == Kind::Auto && LLVMFuzzerTestOneInput &&
               __sanitizer_cov_8bit_counters_init) {
        out.counters = fuzzer_counters();
        out.size = counter_count;
        if (has_compares()) out.compared = &tell_fuzzer;
    }
    return Status::ok();
}

}  // namespace wj::runtime
