// Sum, minimum and maximum: shuffles in a wave, LDS between waves, an atomic between blocks.
// Usage: reduction [elements]
#include <algorithm>

#include "check.h"

constexpr int block_size = 256;

template <class T, class Op>
__device__ T reduce_block(T value, Op op) {
    __shared__ T partial[block_size];
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value = op(value, __shfl_down(value, offset));
    int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, waves = blockDim.x / warpSize;
    __syncthreads();
    if (lane == 0) partial[wave] = value;
    __syncthreads();
    if (wave == 0) {
        value = partial[lane < waves ? lane : 0];
        for (int offset = waves / 2; offset > 0; offset /= 2)
            value = op(value, __shfl_down(value, offset));
    }
    return value;
}

struct Add {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct Min {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};

__global__ void reduce(const int* in, size_t n, unsigned long long* sum, int* least, int* greatest,
                       double* squares) {
    long long total = 0;
    int low = INT32_MAX, high = INT32_MIN;
    double square = 0;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x) {
        int v = in[i];
        total += v;
        low = v < low ? v : low;
        high = v > high ? v : high;
        square += double(v) * v;
    }
    total = reduce_block(total, Add());
    low = reduce_block(low, Min());
    high = ~reduce_block(~high, Min());
    square = reduce_block(square, Add());
    if (threadIdx.x == 0) {
        atomicAdd(sum, (unsigned long long)total);
        atomicMin(least, low);
        atomicMax(greatest, high);
        atomicAdd(squares, square);
    }
}

int main(int argc, char** argv) {
    size_t n = check::argument(argc, argv, 1, 200001);
    check::Random random(5);
    std::vector<int> in(n);
    long long sum = 0;
    double squares = 0;
    for (auto& v : in) {
        v = int(random.next()) >> 8;
        sum += v;
        squares += double(v) * v;
    }
    check::Device<int> din(in), least(std::vector<int>{INT32_MAX}),
        greatest(std::vector<int>{INT32_MIN});
    check::Device<unsigned long long> total(std::vector<unsigned long long>{0});
    check::Device<double> dsquares(std::vector<double>{0});
    reduce<<<16, block_size>>>(din, n, total, least, greatest, dsquares);
    check::launched();
    bool ok = check::equal("sum", total.to_host(), {(unsigned long long)sum});
    ok &= check::equal("min", least.to_host(), {*std::min_element(in.begin(), in.end())});
    ok &= check::equal("max", greatest.to_host(), {*std::max_element(in.begin(), in.end())});
    ok &= check::near("sum of squares", dsquares.to_host(), std::vector<double>{squares}, 1e-12, 0);
    return check::result("reduction", ok);
}
