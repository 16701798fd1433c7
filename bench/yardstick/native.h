// Hand-written single-thread host versions: what the machine could do without an OpenCL layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace yardstick::native {

// native_loops.cpp, compiled once for each instruction set; the build machine's own does not
// matter.
struct Loops {
    void (*vecadd)(const float* a, const float* b, float* c, size_t n);
    void (*saxpy)(const float* x, float* y, float alpha, size_t n);
    void (*transpose)(const float* in, float* out, size_t w, size_t h);
    float (*reduce_sum)(const float* in, size_t n);
    void (*scan)(const uint32_t* in, uint32_t* out, size_t n);
    void (*sgemm)(const float* A, const float* B, float* C, int M, int N, int K);
    void (*nbody)(const float* pos, const float* vel, float* pos_out, float* vel_out, size_t n,
                  float dt, float eps2);
    void (*mandelbrot)(uint32_t* out, int w, int h, float x0, float y0, float dx, float dy,
                       uint32_t max_iter);
    void (*blackscholes)(const float* S, const float* X, const float* T, float* call, float* put,
                         float r, float v, size_t n);
    void (*spmv)(const uint32_t* rowptr, const uint32_t* col, const float* val, const float* x,
                 float* y, size_t rows);
    void (*sha256)(uint32_t* out, uint32_t seed, size_t n);
    void (*copy)(const float* in, float* out, size_t n);
    void (*gather)(const float* in, const uint32_t* index, float* out, size_t n);
    void (*softmax)(const float* in, float* out, size_t rows, size_t width);
    void (*fma_peak)(float* out, float a, float b, uint32_t iters, size_t n);
    double (*bf16_peak)(uint32_t iters);  // null where the instruction set has no such products
};
extern const Loops avx2_loops, avx512_loops;

// Those of the best instruction set that this host has, or of the one that was chosen.
const Loops& loops();
// "avx2", "avx512"; false when the host cannot run them.
bool choose_loops(std::string_view isa);

void hist256(const uint32_t* in, uint32_t* bins, size_t nwords);
void hist(const uint32_t* in, uint32_t* bins, size_t n, uint32_t mask);
void sort(uint32_t* data, size_t n);
// Dot products of bf16 pairs in registers, a power of two of them one after the other in each
// chain; returns how many operations they were, 0 where the host has no such instruction.
double bf16_peak(uint32_t iters);

}  // namespace yardstick::native
