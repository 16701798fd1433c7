// y = alpha * x + y by a grid-stride loop, on two streams of half the data each. Usage: saxpy
// [elements]
#include "check.h"

__global__ void saxpy(float alpha, const float* x, float* y, size_t n) {
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        y[i] = fmaf(alpha, x[i], y[i]);
}

int main(int argc, char** argv) {
    size_t n = check::argument(argc, argv, 1, 100001), half = n / 2;
    const float alpha = 1.7f;
    check::Random random(2);
    std::vector<float> x(n), y(n), want(n);
    for (size_t i = 0; i < n; i++) {
        x[i] = float(random.range(-10, 10));
        y[i] = float(random.range(-10, 10));
        want[i] = std::fmaf(alpha, x[i], y[i]);
    }
    check::Device<float> dx(x), dy(y);
    hipStream_t streams[2];
    for (auto& stream : streams) HIP_CHECK(hipStreamCreate(&stream));
    saxpy<<<8, 192, 0, streams[0]>>>(alpha, dx.get(), dy.get(), half);
    saxpy<<<8, 192, 0, streams[1]>>>(alpha, dx.get() + half, dy.get() + half, n - half);
    for (auto& stream : streams) {
        HIP_CHECK(hipStreamSynchronize(stream));
        HIP_CHECK(hipStreamDestroy(stream));
    }
    // One rounding on both sides: equal to the last bit.
    return check::result("saxpy", check::equal("y", dy.to_host(), want));
}
