// Two emulated GPUs in one process. Usage: agents two (with WAVEJIT_AGENTS=2)
#include <cstring>

#include "check.h"

__device__ int where;

__global__ void fill(int* data, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = value + i;
    if (i == 0) where = value;
}

__global__ void add(int* to, const int* from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

int main() {
    int count = 0;
    HIP_CHECK(hipGetDeviceCount(&count));
    if (count != 2) return std::printf("FAIL %d devices\n", count), 1;
    constexpr int n = 3000;
    int *data[2], pci[2];
    hipStream_t stream[2];
    for (int d = 0; d < 2; d++) {
        HIP_CHECK(hipSetDevice(d));
        HIP_CHECK(hipDeviceGetAttribute(&pci[d], hipDeviceAttributePciBusId, d));
        HIP_CHECK(hipStreamCreate(&stream[d]));
        HIP_CHECK(hipMalloc(&data[d], n * sizeof(int)));
        fill<<<(n + 255) / 256, 256, 0, stream[d]>>>(data[d], n, 1000 * (d + 1));
        HIP_CHECK(hipGetLastError());
    }
    if (pci[0] == pci[1]) return std::printf("FAIL both devices have bus %d\n", pci[0]), 1;
    for (int d = 0; d < 2; d++) {
        HIP_CHECK(hipSetDevice(d));
        HIP_CHECK(hipStreamSynchronize(stream[d]));
        int value = 0;
        HIP_CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(where), sizeof value));
        if (value != 1000 * (d + 1))
            return std::printf("FAIL device %d has the variable %d\n", d, value), 1;
    }
    // Peers: a copy, then a kernel of device 0 that reads the memory of device 1.
    int can = 0;
    HIP_CHECK(hipDeviceCanAccessPeer(&can, 0, 1));
    if (!can) return std::printf("FAIL no peer access\n"), 1;
    HIP_CHECK(hipSetDevice(0));
    HIP_CHECK(hipDeviceEnablePeerAccess(1, 0));
    int* copy;
    HIP_CHECK(hipMalloc(&copy, n * sizeof(int)));
    HIP_CHECK(hipMemcpyPeer(copy, 0, data[1], 1, n * sizeof(int)));
    add<<<(n + 255) / 256, 256>>>(data[0], copy, n);
    add<<<(n + 255) / 256, 256>>>(data[0], data[1], n);
    HIP_CHECK(hipDeviceSynchronize());
    std::vector<int> out(n);
    HIP_CHECK(hipMemcpy(out.data(), data[0], n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        if (out[i] != 5000 + 3 * i) return std::printf("FAIL %d is %d\n", i, out[i]), 1;
    std::printf("PASS agents\n");
    return 0;
}
