// Memory and queries: every way to allocate, copy, fill and register. Usage: hip_memory
#include <cstring>
#include <numeric>

#include "check.h"
#include "wave.h"

__constant__ int constants[64];
__device__ int variable[64];

__global__ void add_constants(int* out) {
    out[threadIdx.x] = constants[threadIdx.x] + variable[threadIdx.x];
}
__global__ void increment(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i]++;
}

std::vector<int> numbers(int n, int first) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), first);
    return v;
}

bool queries() {
    int count = 0, device = -1, driver = 0, value = 0;
    HIP_CHECK(hipGetDeviceCount(&count));
    HIP_CHECK(hipSetDevice(0));
    HIP_CHECK(hipGetDevice(&device));
    HIP_CHECK(hipDriverGetVersion(&driver));
    hipDeviceProp_t p;
    HIP_CHECK(hipGetDeviceProperties(&p, 0));
    HIP_CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
    size_t free = 0, total = 0;
    HIP_CHECK(hipMemGetInfo(&free, &total));
    std::printf("%s %s, %d compute units, %zu MiB\n", p.name, p.gcnArchName, p.multiProcessorCount,
                total >> 20);
    const char* target = std::getenv("WAVEJIT_TARGET");
    if (target && std::strncmp(p.gcnArchName, target, std::strlen(target)) != 0) {
        std::fprintf(stderr, "FAIL the device is a %s, wanted %s\n", p.gcnArchName, target);
        return false;
    }
    return check::equal("queries",
                        std::vector<int>{count >= 1, device, p.warpSize, value,
                                         p.maxThreadsPerBlock, int(p.sharedMemPerBlock)},
                        {1, 0, lanes_of_a_wave(), lanes_of_a_wave(), 1024, 65536});
}

bool copies() {
    const int n = 10000;
    std::vector<int> in = numbers(n, 5), out(n);
    int *a, *b, *pinned, *managed;
    HIP_CHECK(hipMalloc(&a, n * sizeof(int)));
    HIP_CHECK(hipMalloc(&b, n * sizeof(int)));
    HIP_CHECK(hipHostMalloc(&pinned, n * sizeof(int)));
    HIP_CHECK(hipMallocManaged(&managed, n * sizeof(int)));
    HIP_CHECK(hipMemcpy(a, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(b, a, n * sizeof(int), hipMemcpyDeviceToDevice));
    increment<<<check::blocks(n, 256), 256>>>(b, n);
    HIP_CHECK(hipMemcpyAsync(pinned, b, n * sizeof(int), hipMemcpyDeviceToHost, 0));
    HIP_CHECK(hipStreamSynchronize(0));
    HIP_CHECK(hipMemcpy(out.data(), pinned, n * sizeof(int), hipMemcpyHostToHost));
    bool ok = check::equal("copies", out, numbers(n, 6));

    // Kernels reach pinned and managed memory; the host sees what they wrote.
    std::memcpy(managed, in.data(), n * sizeof(int));
    increment<<<check::blocks(n, 256), 256>>>(managed, n);
    increment<<<check::blocks(n, 256), 256>>>(pinned, n);
    HIP_CHECK(hipDeviceSynchronize());
    ok &= check::equal("managed", std::vector<int>(managed, managed + n), numbers(n, 6));
    ok &= check::equal("pinned", std::vector<int>(pinned, pinned + n), numbers(n, 7));

    // Registered host memory, through its device pointer.
    std::vector<int> registered = numbers(n, 1);
    void* seen = nullptr;
    HIP_CHECK(hipHostRegister(registered.data(), n * sizeof(int), hipHostRegisterDefault));
    HIP_CHECK(hipHostGetDevicePointer(&seen, registered.data(), 0));
    increment<<<check::blocks(n, 256), 256>>>(static_cast<int*>(seen), n);
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipHostUnregister(registered.data()));
    ok &= check::equal("registered", registered, numbers(n, 2));
    HIP_CHECK(hipFree(a));
    HIP_CHECK(hipFree(b));
    HIP_CHECK(hipHostFree(pinned));
    HIP_CHECK(hipFree(managed));
    return ok;
}

bool rectangles() {
    const size_t width = 37, height = 11;
    std::vector<int> in = numbers(width * height, 0), out(width * height);
    int* data;
    size_t pitch;
    HIP_CHECK(hipMallocPitch(reinterpret_cast<void**>(&data), &pitch, width * sizeof(int), height));
    HIP_CHECK(hipMemset2D(data, pitch, 0xff, width * sizeof(int), height));
    HIP_CHECK(hipMemcpy2D(data, pitch, in.data(), width * sizeof(int), (width - 5) * sizeof(int),
                          height, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy2DAsync(out.data(), width * sizeof(int), data, pitch, width * sizeof(int),
                               height, hipMemcpyDeviceToHost, 0));
    HIP_CHECK(hipDeviceSynchronize());
    for (size_t i = 0; i < in.size(); i++)
        if (i % width >= width - 5) in[i] = -1;
    HIP_CHECK(hipFree(data));
    return check::equal("2D", out, in);
}

bool fills() {
    const int n = 1003;
    check::Device<uint32_t> d(n);
    HIP_CHECK(hipMemset(d, 0xab, n * 4));
    bool ok = check::equal("memset", d.to_host(), std::vector<uint32_t>(n, 0xababababu));
    HIP_CHECK(hipMemsetD32(d.get(), 0x12345678, n));
    ok &= check::equal("memsetD32", d.to_host(), std::vector<uint32_t>(n, 0x12345678u));
    HIP_CHECK(hipMemsetD16(d.get(), 0x4321, 2 * n));
    ok &= check::equal("memsetD16", d.to_host(), std::vector<uint32_t>(n, 0x43214321u));
    HIP_CHECK(hipMemsetAsync(d, 0, n * 4, 0));
    HIP_CHECK(hipDeviceSynchronize());
    return ok & check::equal("memsetAsync", d.to_host(), std::vector<uint32_t>(n, 0));
}

bool symbols() {
    std::vector<int> c = numbers(64, 100), v = numbers(64, 1000), want = numbers(64, 0), back(64);
    HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(constants), c.data(), 256));
    HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(variable), v.data(), 256));
    check::Device<int> out(64);
    add_constants<<<1, 64>>>(out);
    check::launched();
    for (int i = 0; i < 64; i++) want[i] = 1100 + 2 * i;
    bool ok = check::equal("symbols", out.to_host(), want);
    HIP_CHECK(hipMemcpyFromSymbol(back.data(), HIP_SYMBOL(variable), 256));
    void* address = nullptr;
    size_t size = 0;
    HIP_CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(variable)));
    HIP_CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(variable)));
    ok &= check::equal("from symbol", back, v);
    ok &= check::equal("symbol size", std::vector<size_t>{size}, {256});
    return ok;
}

int main() {
    bool ok = queries();
    ok &= copies();
    ok &= rectangles();
    ok &= fills();
    ok &= symbols();
    return check::result("hip_memory", ok);
}
