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
__global__ void add(int* out, const int* in) {
    out[threadIdx.x] = in[threadIdx.x] + 1;
}
__global__ void trap(int* p) {
    if (*p == 0) __builtin_trap();
}
// Frames of 5,000 bytes, as many as `depth` says.
__device__ __attribute__((noinline)) int recursive(int depth) {
    volatile int frame[1250];
    for (int i = 0; i < 4; i++) frame[(depth + i) & 3] = depth + i;
    return depth ? recursive(depth - 1) + frame[depth & 3] : frame[3];
}
__global__ void stack_overflow(int* out, int depth) {
    out[threadIdx.x] = recursive(depth);
}
__global__ void debugtrap(int* out) {
    *out = 1;
    __builtin_debugtrap();
    *out = 2;
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
    } else if (is("unwritten") || is("written")) {
        // A large copy, a small one, those between buffers, a fill: all of them write. Of
        // `unwritten` an int is left.
        constexpr size_t ints = 1 << 20;
        static int values[ints];
        int *in, *copy, *moved;
        HIP_CHECK(hipMalloc(&in, sizeof values));
        HIP_CHECK(hipMalloc(&copy, 4096));
        HIP_CHECK(hipMallocManaged(&moved, 4096));
        HIP_CHECK(hipMemset(in, 1, 1000));
        HIP_CHECK(hipMemcpy(in + 250, values, 5 * 4, hipMemcpyHostToDevice));
        if (is("written"))
            HIP_CHECK(hipMemcpy(in + 255, values, sizeof values - 255 * 4, hipMemcpyHostToDevice));
        HIP_CHECK(hipMemcpy2D(copy, 512, in, 512, 512, 2, hipMemcpyDeviceToDevice));
        moved[0] = 5;
        add<<<1, 256>>>(data, copy);
        add<<<1, 256>>>(data, moved);
        add<<<1, 255>>>(data, in);
        HIP_CHECK(hipDeviceSynchronize());
        std::printf("PASS %s\n", name);
        return 0;
    } else if (is("trap")) {
        trap<<<1, 64>>>(data);
    } else if (is("stack_overflow")) {
        stack_overflow<<<1, 64>>>(data, 8);
    } else if (is("debugtrap")) {
        debugtrap<<<1, 64>>>(data);
        int result = 0;
        HIP_CHECK(hipMemcpy(&result, data, 4, hipMemcpyDeviceToHost));
        std::printf("%s debugtrap: %d\n", result == 2 ? "PASS" : "FAIL", result);
        return result != 2;
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
