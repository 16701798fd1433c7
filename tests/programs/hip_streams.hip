// Streams, events, callbacks, graphs, waits on memory, cooperative launches. Usage: hip_streams
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"
#include "wave.h"
// After the runtime header, which it needs.
#include <hip/hip_cooperative_groups.h>

__global__ void add(int* data, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += value;
}

// Waits until the other stream's kernel answers: ends only if both run at the same time.
__global__ void rendezvous(int* mine, int* other) {
    __hip_atomic_store(mine, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (__hip_atomic_load(other, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
        __builtin_amdgcn_s_sleep(1);
}

__global__ void grid_sum(const int* in, int* partial, int* out, int n) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    atomicAdd(&partial[blockIdx.x], sum);
    grid.sync();
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
        for (unsigned b = 0; b < gridDim.x; b++) *out += partial[b];
}

const int n = 4096;

bool order() {
    check::Device<int> data(std::vector<int>(n, 0));
    hipStream_t a, b;
    hipEvent_t begin, done;
    HIP_CHECK(hipStreamCreate(&a));
    HIP_CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    HIP_CHECK(hipEventCreate(&begin));
    HIP_CHECK(hipEventCreate(&done));
    HIP_CHECK(hipEventRecord(begin, a));
    for (int i = 0; i < 20; i++) add<<<n / 256, 256, 0, a>>>(data, n, i);
    HIP_CHECK(hipEventRecord(done, a));
    HIP_CHECK(hipStreamWaitEvent(b, done, 0));
    add<<<n / 256, 256, 0, b>>>(data, n, 1000);
    HIP_CHECK(hipStreamSynchronize(b));
    HIP_CHECK(hipEventSynchronize(done));
    float ms = -1;
    HIP_CHECK(hipEventElapsedTime(&ms, begin, done));
    bool ok = check::equal("stream order", data.to_host(), std::vector<int>(n, 1190));
    if (!(ms > 0 && ms < 60000)) {
        std::fprintf(stderr, "FAIL elapsed time %g ms\n", ms);
        ok = false;
    }
    HIP_CHECK(hipEventQuery(done));
    HIP_CHECK(hipStreamDestroy(a));
    HIP_CHECK(hipStreamDestroy(b));
    return ok;
}

bool overlap() {
    int* flags;
    HIP_CHECK(hipHostMalloc(&flags, 2 * sizeof(int)));
    flags[0] = flags[1] = 0;
    hipStream_t a, b;
    HIP_CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    HIP_CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    rendezvous<<<1, 1, 0, a>>>(&flags[0], &flags[1]);
    rendezvous<<<1, 1, 0, b>>>(&flags[1], &flags[0]);
    HIP_CHECK(hipStreamSynchronize(a));
    HIP_CHECK(hipStreamSynchronize(b));
    bool ok = check::equal("overlap", std::vector<int>{flags[0], flags[1]}, {1, 1});
    HIP_CHECK(hipHostFree(flags));
    return ok;
}

bool callbacks() {
    static std::atomic<int> calls{0};
    hipStream_t s;
    HIP_CHECK(hipStreamCreate(&s));
    check::Device<int> data(std::vector<int>(n, 0));
    add<<<n / 256, 256, 0, s>>>(data, n, 1);
    HIP_CHECK(hipStreamAddCallback(
        s,
        [](hipStream_t, hipError_t status, void* by) {
            calls += status == hipSuccess ? int(size_t(by)) : 1000;
        },
        reinterpret_cast<void*>(size_t(7)), 0));
    add<<<n / 256, 256, 0, s>>>(data, n, 1);
    HIP_CHECK(hipStreamSynchronize(s));
    bool ok = check::equal("callbacks", std::vector<int>{calls.load()}, {7});
    ok &= check::equal("after callback", data.to_host(), std::vector<int>(n, 2));
    return ok;
}

bool graphs() {
    hipStream_t s;
    HIP_CHECK(hipStreamCreate(&s));
    check::Device<int> data(std::vector<int>(n, 0));
    hipGraph_t graph;
    hipGraphExec_t instance;
    HIP_CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
    add<<<n / 256, 256, 0, s>>>(data, n, 3);
    add<<<n / 256, 256, 0, s>>>(data, n, 4);
    HIP_CHECK(hipStreamEndCapture(s, &graph));
    HIP_CHECK(hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 5; i++) HIP_CHECK(hipGraphLaunch(instance, s));
    HIP_CHECK(hipStreamSynchronize(s));
    HIP_CHECK(hipGraphExecDestroy(instance));
    HIP_CHECK(hipGraphDestroy(graph));
    return check::equal("graph", data.to_host(), std::vector<int>(n, 35));
}

bool wait_value() {
    hipStream_t s;
    HIP_CHECK(hipStreamCreate(&s));
    uint64_t* word;
    HIP_CHECK(hipExtMallocWithFlags(reinterpret_cast<void**>(&word), 8, hipMallocSignalMemory));
    *word = 0;
    check::Device<int> data(std::vector<int>(n, 0));
    HIP_CHECK(hipStreamWaitValue64(s, word, 5, hipStreamWaitValueGte, ~0ull));
    add<<<n / 256, 256, 0, s>>>(data, n, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    bool waited = hipStreamQuery(s) == hipErrorNotReady;
    __atomic_store_n(word, 6, __ATOMIC_RELEASE);
    HIP_CHECK(hipStreamSynchronize(s));
    HIP_CHECK(hipFree(word));
    bool ok = check::equal("waited", std::vector<int>{int(waited)}, {1});
    ok &= check::equal("after wait", data.to_host(), std::vector<int>(n, 1));
    return ok;
}

bool cooperative() {
    int possible = 0;
    HIP_CHECK(hipDeviceGetAttribute(&possible, hipDeviceAttributeCooperativeLaunch, 0));
    if (generation() < 9)
        return check::equal("cooperative launches", std::vector<int>{possible}, {0});
    std::vector<int> in(n);
    int want = 0;
    for (int i = 0; i < n; i++) want += in[i] = i % 101;
    check::Device<int> din(in), partial(std::vector<int>(4, 0)), out(std::vector<int>(1, 0));
    const int* pin = din;
    int *ppartial = partial, *pout = out, count = n;
    void* arguments[] = {&pin, &ppartial, &pout, &count};
    HIP_CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(grid_sum), dim3(4), dim3(128),
                                         arguments, 0, 0));
    HIP_CHECK(hipDeviceSynchronize());
    return check::equal("grid.sync", out.to_host(), {want});
}

int main() {
    bool ok = order();
    ok &= overlap();
    ok &= callbacks();
    ok &= graphs();
    ok &= wait_value();
    ok &= cooperative();
    return check::result("hip_streams", ok);
}
