// Helpers for the definitions of the benchmarks: inputs, comparisons, launches.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bench/yardstick/bench.h"

namespace yardstick {

inline size_t pick(Scale scale, size_t small, size_t medium, size_t full) {
    return scale == Scale::Small ? small : scale == Scale::Medium ? medium : full;
}

struct Rng {
    uint64_t s;
    explicit Rng(uint64_t seed) : s(seed * 0x9e3779b97f4a7c15ull + 1) {}
    uint32_t next() {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return uint32_t(s >> 32);
    }
    float unit() { return (next() >> 8) * (1.0f / 16777216.0f); }
    float range(float a, float b) { return a + (b - a) * unit(); }
};

template <class T>
void fill(T* p, size_t n, uint64_t seed, float a, float b) {
    Rng r(seed);
    for (size_t i = 0; i < n; i++) p[i] = T(r.range(a, b));
}

inline void fill_u32(uint32_t* p, size_t n, uint64_t seed) {
    Rng r(seed);
    for (size_t i = 0; i < n; i++) p[i] = r.next();
}

inline std::string bad(const char* what, size_t i, double got, double want) {
    char t[160];
    snprintf(t, sizeof t, "%s[%zu] = %.9g, want %.9g", what, i, got, want);
    return t;
}

// The first element that is another one, if there is any.
inline std::string difference(const char* what, const uint32_t* got,
                              const std::vector<uint32_t>& want) {
    for (size_t i = 0; i < want.size(); i++)
        if (got[i] != want[i]) return bad(what, i, got[i], want[i]);
    return "";
}

inline bool near(double got, double want, double rel, double abs) {
    return std::fabs(got - want) <= abs + rel * std::fabs(want);
}

inline size_t up(size_t n, size_t to) {
    return (n + to - 1) / to * to;
}

inline Bench of_file(const char* file, const char* name, std::string size, double work,
                     const char* unit) {
    Bench b;
    b.name = name, b.file = file, b.size = std::move(size);
    b.work = work, b.unit = unit;
    return b;
}

inline Launch launch1(const char* k, size_t g, size_t l, std::vector<Arg> a) {
    return {k, {g, 1, 1}, {l, 1, 1}, std::move(a)};
}
inline Launch launch2(const char* k, size_t gx, size_t gy, size_t lx, size_t ly,
                      std::vector<Arg> a) {
    return {k, {gx, gy, 1}, {lx, ly, 1}, std::move(a)};
}

inline std::string mb(size_t bytes) {
    char t[32];
    if (bytes >= (1u << 20))
        snprintf(t, sizeof t, "%zu MB", bytes >> 20);
    else
        snprintf(t, sizeof t, "%zu KB", bytes >> 10);
    return t;
}

}  // namespace yardstick
