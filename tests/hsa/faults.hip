// Kernels that stop with an error; HIP then ends the process. Usage: faults CASE
#include <cstring>

#include "check.h"

__global__ void write_null(int* p) {
    p[threadIdx.x] = 1;
}
__global__ void read(int* out, const int* in) {
    out[threadIdx.x] = in[threadIdx.x];
}
__global__ void out_of_bounds(int* p) {
    p[blockIdx.x * 1024 + threadIdx.x] = 1;
}
__global__ void trap(int* p) {
    if (*p == 0) __builtin_trap();
}
__global__ void endless(volatile int* p) {
    while (*p == 0) {
    }
}
// Wave 1 never arrives: it spins on its own arithmetic.
__global__ void barrier_deadlock(volatile int* p) {
    if (threadIdx.x >= 64)
        for (;;) asm volatile("s_nop 0");
    __syncthreads();
    p[threadIdx.x] = 1;
}

int main(int argc, char** argv) {
    const char* name = argc > 1 ? argv[1] : "";
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    int* data;
    HIP_CHECK(hipMalloc(&data, 3 * 4096));
    HIP_CHECK(hipMemset(data, 0, 3 * 4096));
    if (is("write_null")) {
        write_null<<<1, 64>>>(nullptr);
    } else if (is("read_freed")) {
        int* gone;  // so large that the host does not use the addresses again at once
        HIP_CHECK(hipMalloc(&gone, 256 << 20));
        HIP_CHECK(hipFree(gone));
        read<<<1, 64>>>(data, gone);
    } else if (is("out_of_bounds")) {
        out_of_bounds<<<4, 256>>>(data);
    } else if (is("trap")) {
        trap<<<1, 64>>>(data);
    } else if (is("endless")) {
        endless<<<1, 64>>>(data);
    } else if (is("barrier_deadlock")) {
        barrier_deadlock<<<1, 128>>>(data);
    } else if (is("too_many_items")) {
        write_null<<<1, 2048>>>(data);
        if (hipGetLastError() == hipSuccess) return std::printf("FAIL accepted\n"), 1;
        std::printf("PASS too_many_items\n");
        return 0;
    } else {
        return std::printf("FAIL no such case\n"), 1;
    }
    const hipError_t error = hipDeviceSynchronize();
    std::printf("FAIL the program goes on with %s\n", hipGetErrorString(error));
    return 1;
}
