// rocPRIM's device-wide algorithms against the CPU. Usage: rocprim_device [elements]
// hipcc-flags: -Wno-unused-parameter -Wno-ignored-attributes
#include <cstring>  // for the header of ROCm 7.2

#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>

#include "check.h"

// rocPRIM asks for temporary memory by a first call with no memory.
template <class Call>
void with_storage(Call call) {
    size_t bytes = 0;
    HIP_CHECK(call(nullptr, bytes));
    check::Device<char> storage(bytes + 1);
    HIP_CHECK(call(static_cast<void*>(storage.get()), bytes));
    HIP_CHECK(hipDeviceSynchronize());
}

template <class Key>
bool sort_keys(const char* what, const std::vector<Key>& keys) {
    check::Device<Key> in(keys), out(keys.size());
    with_storage([&](void* p, size_t& b) {
        return rocprim::radix_sort_keys(p, b, in.get(), out.get(), keys.size());
    });
    std::vector<Key> want = keys;
    std::sort(want.begin(), want.end());
    return check::equal(what, out.to_host(), want);
}

bool sort_pairs(const std::vector<unsigned>& keys) {
    std::vector<unsigned> values(keys.size());
    std::iota(values.begin(), values.end(), 0u);
    check::Device<unsigned> in(keys), out(keys.size()), vin(values), vout(keys.size());
    with_storage([&](void* p, size_t& b) {
        return rocprim::radix_sort_pairs_desc(p, b, in.get(), out.get(), vin.get(), vout.get(),
                                              keys.size());
    });
    std::stable_sort(values.begin(), values.end(),
                     [&](unsigned a, unsigned b) { return keys[a] > keys[b]; });
    return check::equal("sort_pairs", vout.to_host(), values);
}

bool merge_sort(const std::vector<int>& keys) {
    check::Device<int> in(keys), out(keys.size());
    with_storage([&](void* p, size_t& b) {
        return rocprim::merge_sort(p, b, in.get(), out.get(), keys.size(), rocprim::less<int>());
    });
    std::vector<int> want = keys;
    std::sort(want.begin(), want.end());
    return check::equal("merge_sort", out.to_host(), want);
}

bool scans(const std::vector<int>& in) {
    check::Device<int> din(in), out(in.size());
    with_storage([&](void* p, size_t& b) {
        return rocprim::inclusive_scan(p, b, din.get(), out.get(), in.size(), rocprim::plus<int>());
    });
    std::vector<int> want(in.size());
    std::partial_sum(in.begin(), in.end(), want.begin());
    bool ok = check::equal("inclusive_scan", out.to_host(), want);
    with_storage([&](void* p, size_t& b) {
        return rocprim::exclusive_scan(p, b, din.get(), out.get(), -7, in.size(),
                                       rocprim::maximum<int>());
    });
    int run = -7;
    for (size_t i = 0; i < in.size(); i++) {
        want[i] = run;
        run = std::max(run, in[i]);
    }
    return ok & check::equal("exclusive_scan", out.to_host(), want);
}

bool reduces(const std::vector<int>& in) {
    check::Device<int> din(in), out(1);
    with_storage([&](void* p, size_t& b) {
        return rocprim::reduce(p, b, din.get(), out.get(), 5, in.size(), rocprim::plus<int>());
    });
    bool ok = check::equal("reduce", out.to_host(), {std::accumulate(in.begin(), in.end(), 5)});
    std::vector<double> reals(in.begin(), in.end());
    check::Device<double> dreals(reals), least(1);
    with_storage([&](void* p, size_t& b) {
        return rocprim::reduce(p, b, dreals.get(), least.get(), 1e300, reals.size(),
                               rocprim::minimum<double>());
    });
    return ok & check::equal("reduce minimum", least.to_host(),
                             {*std::min_element(reals.begin(), reals.end())});
}

bool selects(const std::vector<int>& in) {
    check::Device<int> din(in), out(in.size());
    check::Device<unsigned> count(1);
    auto wanted = [] __host__ __device__(int v) { return v % 3 == 0; };
    with_storage([&](void* p, size_t& b) {
        return rocprim::select(p, b, din.get(), out.get(), count.get(), in.size(), wanted);
    });
    std::vector<int> want;
    std::copy_if(in.begin(), in.end(), std::back_inserter(want), wanted);
    bool ok = check::equal("select count", count.to_host(), {unsigned(want.size())});
    std::vector<int> got = out.to_host();
    got.resize(want.size());
    return ok & check::equal("select", got, want);
}

bool run_lengths(const std::vector<int>& in) {
    check::Device<int> din(in), unique(in.size());
    check::Device<unsigned> counts(in.size()), runs(1);
    with_storage([&](void* p, size_t& b) {
        return rocprim::run_length_encode(p, b, din.get(), in.size(), unique.get(), counts.get(),
                                          runs.get());
    });
    std::vector<int> values;
    std::vector<unsigned> lengths;
    for (int v : in) {
        if (values.empty() || values.back() != v) {
            values.push_back(v);
            lengths.push_back(0);
        }
        lengths.back()++;
    }
    bool ok = check::equal("run count", runs.to_host(), {unsigned(values.size())});
    std::vector<int> got = unique.to_host();
    std::vector<unsigned> got_lengths = counts.to_host();
    got.resize(values.size());
    got_lengths.resize(values.size());
    ok &= check::equal("run values", got, values);
    return ok & check::equal("run lengths", got_lengths, lengths);
}

int main(int argc, char** argv) {
    size_t n = check::argument(argc, argv, 1, 20000);
    check::Random random(21);
    std::vector<unsigned> words(n);
    std::vector<float> reals(n);
    std::vector<int> numbers(n), small(n);
    for (size_t i = 0; i < n; i++) {
        words[i] = random.next();
        reals[i] = float(random.range(-1e6, 1e6));
        numbers[i] = int(random.next()) >> 12;
        small[i] = int(random.next() % 3 * (random.next() % 2));
    }
    std::vector<unsigned> few = words;
    for (auto& key : few) key %= 1000;
    bool ok = sort_keys("sort_keys uint", words);
    ok &= sort_keys("sort_keys float", reals);
    ok &= sort_pairs(few);
    ok &= merge_sort(numbers);
    ok &= scans(numbers);
    ok &= reduces(numbers);
    ok &= selects(numbers);
    ok &= run_lengths(small);
    return check::result("rocprim", ok);
}
