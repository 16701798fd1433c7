// What the examples share: error checks, arguments, random inputs, comparison with a CPU reference.
// A program prints "PASS name" and returns 0, or says what differs first and returns 1.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Ends the program with the place and the name of the error.
#define HIP_CHECK(call)                                                             \
    do {                                                                            \
        hipError_t error_ = (call);                                                 \
        if (error_ != hipSuccess) {                                                 \
            std::fprintf(stderr, "FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                         hipGetErrorString(error_));                                \
            std::exit(1);                                                           \
        }                                                                           \
    } while (0)

namespace check {

// The i-th argument as a number, or the default.
inline long argument(int argc, char** argv, int i, long otherwise) {
    if (i >= argc) return otherwise;
    char* end = nullptr;
    long value = std::strtol(argv[i], &end, 0);
    if (*end != 0 || value <= 0) {
        std::fprintf(stderr, "FAIL argument %d: \"%s\" is not a positive number\n", i, argv[i]);
        std::exit(1);
    }
    return value;
}

// xorshift64*: the same numbers everywhere.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
    uint32_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return uint32_t((state_ * 0x2545f4914f6cdd1dull) >> 32);
    }
    double range(double low, double high) {
        return low + (high - low) * (next() * (1.0 / 4294967296.0));
    }

private:
    uint64_t state_;
};

// Device memory that is freed with the object.
template <class T>
class Device {
public:
    explicit Device(size_t count) : count_(count) {
        HIP_CHECK(hipMalloc(&data_, count * sizeof(T)));
    }
    explicit Device(const std::vector<T>& host) : Device(host.size()) { copy_from(host); }
    ~Device() { (void)hipFree(data_); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    T* get() { return data_; }
    operator T*() { return data_; }
    void copy_from(const std::vector<T>& host) {
        HIP_CHECK(hipMemcpy(data_, host.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
    }
    std::vector<T> to_host() {
        std::vector<T> host(count_);
        HIP_CHECK(hipMemcpy(host.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
        return host;
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

// Both report the first difference and how many there are; false when there are any.
template <class T>
bool equal(const char* what, const std::vector<T>& got, const std::vector<T>& want) {
    size_t differing = 0, first = 0;
    for (size_t i = 0; i < want.size(); i++)
        if (i >= got.size() || !(got[i] == want[i])) {
            if (differing++ == 0) first = i;
        }
    if (differing == 0 && got.size() == want.size()) return true;
    std::fprintf(stderr, "FAIL %s[%zu] = %.17g, want %.17g (%zu of %zu differ)\n", what, first,
                 first < got.size() ? double(got[first]) : 0.0, double(want[first]), differing,
                 want.size());
    return false;
}

template <class T, class U>
bool near(const char* what, const std::vector<T>& got, const std::vector<U>& want, double relative,
          double absolute) {
    size_t differing = 0, first = 0;
    for (size_t i = 0; i < want.size(); i++) {
        double difference = std::fabs(double(got[i]) - double(want[i]));
        // Written so that a NaN counts as different.
        if (!(difference <= absolute + relative * std::fabs(double(want[i])))) {
            if (differing++ == 0) first = i;
        }
    }
    if (differing == 0) return true;
    std::fprintf(stderr, "FAIL %s[%zu] = %.17g, want %.17g (%zu of %zu differ)\n", what, first,
                 double(got[first]), double(want[first]), differing, want.size());
    return false;
}

inline void launched() {
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
}

inline int result(const char* name, bool ok) {
    if (ok) std::printf("PASS %s\n", name);
    return ok ? 0 : 1;
}

inline unsigned blocks(size_t items, unsigned block) {
    return unsigned((items + block - 1) / block);
}

}  // namespace check
