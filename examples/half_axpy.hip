// y = a * x + y in half precision: scalar halves, and pairs (packed instructions). Usage: half_axpy
// [elements]
#include <hip/hip_fp16.h>

#include "check.h"

__global__ void axpy(_Float16 a, const _Float16* x, _Float16* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __builtin_fmaf16(a, x[i], y[i]);
}

__global__ void axpy_pairs(__half2 a, const __half2* x, __half2* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

int main(int argc, char** argv) {
    int n = 2 * int(check::argument(argc, argv, 1, 20000));
    check::Random random(14);
    std::vector<_Float16> x(n), y(n), want(n);
    const _Float16 a = _Float16(1.25f);
    for (int i = 0; i < n; i++) {
        // Small numbers too: halves below 2^-14 are denormal.
        double scale = i % 7 == 0 ? 1e-4 : 10.0;
        x[i] = _Float16(float(random.range(-scale, scale)));
        y[i] = _Float16(float(random.range(-scale, scale)));
        // The product and the sum are exact in double: one rounding, as in the fused operation.
        want[i] = _Float16(double(a) * double(x[i]) + double(y[i]));
    }
    check::Device<_Float16> dx(x), scalar(y), pairs(y);
    axpy<<<check::blocks(n, 256), 256>>>(a, dx, scalar, n);
    __half2 aa = __half2half2(__half(a));
    axpy_pairs<<<check::blocks(n / 2, 256), 256>>>(aa, reinterpret_cast<const __half2*>(dx.get()),
                                                   reinterpret_cast<__half2*>(pairs.get()), n / 2);
    check::launched();
    bool ok = check::equal("scalar", scalar.to_host(), want);
    ok &= check::equal("pairs", pairs.to_host(), want);
    return check::result("half_axpy", ok);
}
