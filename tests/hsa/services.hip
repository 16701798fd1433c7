// What the runtime does around kernels. Usage: services CASE
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "check.h"

__global__ void say(int n) {
    if (int(threadIdx.x) < n)
        printf("lane %d of block %d: %.3f %s\n", int(threadIdx.x), int(blockIdx.x),
               threadIdx.x * 0.5, "text");
}

__global__ void list(int** heads, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* p = static_cast<int*>(malloc(length * sizeof(int)));
    heads[i] = p;
    if (p)
        for (int k = 0; k < length; k++) p[k] = i * k;
}
__global__ void total(int** heads, int length, int* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < length; k++) sum += heads[i][k];
    sums[i] = sum;
    free(heads[i]);
}

__global__ void add_one(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}
__global__ void multiply(int* p, int n, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= factor;
}
__global__ void wait_for(volatile int* flag, int value, int* answer) {
    while (*flag != value) __builtin_amdgcn_s_sleep(4);
    *answer = value + 1;
}

static int fail(const char* text, int value) {
    return std::printf("FAIL %s: %d\n", text, value), 1;
}

static int test_printf() {
    // The texts of a wave come in some order; the number of lines is certain. stdout goes through a
    // pipe.
    int ends[2];
    if (pipe(ends)) return fail("pipe", 0);
    std::fflush(stdout);
    const int saved = dup(1);
    dup2(ends[1], 1);
    for (int i = 0; i < 3; i++) say<<<2, 128>>>(70);
    HIP_CHECK(hipDeviceSynchronize());
    std::fflush(stdout);
    dup2(saved, 1);
    close(ends[1]);
    std::vector<int> seen(140);
    FILE* in = fdopen(ends[0], "r");
    int lane, block, lines = 0;
    float value;
    char text[16];
    while (std::fscanf(in, "lane %d of block %d: %f %15s\n", &lane, &block, &value, text) == 4) {
        if (lane < 0 || lane >= 70 || block < 0 || block > 1 || value != lane * 0.5f ||
            std::strcmp(text, "text"))
            return fail("line", lines);
        seen[block * 70 + lane]++;
        lines++;
    }
    for (int n : seen)
        if (n != 3) return fail("times that a line came", n);
    return lines == 420 ? 0 : fail("lines", lines);
}

static int test_device_malloc() {
    constexpr int n = 256, length = 20;
    check::Device<int*> heads(n);
    check::Device<int> sums(n);
    for (int round = 0; round < 3; round++) {
        list<<<n / 64, 64>>>(heads.get(), length);
        total<<<n / 64, 64>>>(heads.get(), length, sums.get());
        HIP_CHECK(hipDeviceSynchronize());
        std::vector<int> out(n);
        HIP_CHECK(hipMemcpy(out.data(), sums.get(), n * sizeof(int), hipMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            if (out[i] != i * length * (length - 1) / 2) return fail("sum", i);
    }
    return 0;
}

static int test_registered() {
    constexpr int n = 5000;
    std::vector<int> host(n, 7);
    int* device;
    HIP_CHECK(hipHostRegister(host.data(), n * sizeof(int), hipHostRegisterDefault));
    HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), host.data(), 0));
    add_one<<<(n + 255) / 256, 256>>>(device, n);  // both pointers name the same memory
    add_one<<<(n + 255) / 256, 256>>>(host.data(), n);
    HIP_CHECK(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        if (host[i] != 9) return fail("value", host[i]);
    check::Device<int> other(n);
    HIP_CHECK(hipMemcpy(other.get(), device, n * sizeof(int), hipMemcpyDeviceToDevice));
    HIP_CHECK(hipMemset(device, 0, 100 * sizeof(int)));
    HIP_CHECK(hipDeviceSynchronize());
    if (host[99] != 0 || host[100] != 9) return fail("memset", host[99]);
    HIP_CHECK(hipHostUnregister(host.data()));
    HIP_CHECK(hipMemcpy(host.data(), other.get(), n * sizeof(int), hipMemcpyDeviceToHost));
    return host[99] == 9 ? 0 : fail("copy", host[99]);
}

static int test_textures() {
    // Refused with an error, not with a crash.
    hipArray_t array = nullptr;
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    const hipError_t error = hipMallocArray(&array, &format, 64, 64, 0);
    (void)hipGetLastError();
    if (error == hipSuccess) return fail("hipMallocArray succeeded", 0);
    // Pitched memory works without them.
    void* data;
    size_t pitch;
    HIP_CHECK(hipMallocPitch(&data, &pitch, 100, 20));
    HIP_CHECK(hipMemset2D(data, pitch, 3, 100, 20));
    std::vector<unsigned char> out(100 * 20);
    HIP_CHECK(hipMemcpy2D(out.data(), 100, data, pitch, 100, 20, hipMemcpyDeviceToHost));
    for (unsigned char c : out)
        if (c != 3) return fail("byte", c);
    HIP_CHECK(hipFree(data));
    return 0;
}

static int test_overlap() {
    // The first stream's kernel ends only after the second stream's kernel and the host have
    // answered.
    volatile int* flag;
    int* answers;
    HIP_CHECK(hipHostMalloc(const_cast<int**>(&flag), sizeof(int)));
    HIP_CHECK(hipHostMalloc(&answers, 2 * sizeof(int)));
    *flag = 0;
    hipStream_t a, b;
    HIP_CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    HIP_CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    for (int round = 0; round < 20; round++) {
        answers[0] = answers[1] = 0;
        *flag = 0;
        wait_for<<<1, 64, 0, a>>>(answers + 1, 12, answers);
        wait_for<<<1, 64, 0, b>>>(flag, 11, answers + 1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (answers[0] || answers[1]) return fail("too early", round);
        *flag = 11;
        HIP_CHECK(hipStreamSynchronize(a));
        HIP_CHECK(hipStreamSynchronize(b));
        if (answers[0] != 13) return fail("answer", answers[0]);
    }
    return 0;
}

static int test_events() {
    hipEvent_t begin, end;
    HIP_CHECK(hipEventCreate(&begin));
    HIP_CHECK(hipEventCreate(&end));
    volatile int* flag;
    int* answer;
    HIP_CHECK(hipHostMalloc(const_cast<int**>(&flag), sizeof(int)));
    HIP_CHECK(hipHostMalloc(&answer, sizeof(int)));
    *flag = 0;
    HIP_CHECK(hipEventRecord(begin, 0));
    wait_for<<<1, 64>>>(flag, 1, answer);
    HIP_CHECK(hipEventRecord(end, 0));
    if (hipEventQuery(end) != hipErrorNotReady) return fail("event is done already", 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    *flag = 1;
    HIP_CHECK(hipEventSynchronize(end));
    HIP_CHECK(hipEventQuery(end));
    float ms = 0;
    HIP_CHECK(hipEventElapsedTime(&ms, begin, end));
    return ms >= 30.f && ms < 20000.f ? 0 : fail("elapsed microseconds", int(ms * 1000));
}

// The process ends while a kernel spins.
static int test_exit_busy() {
    int* flag;
    HIP_CHECK(hipHostMalloc(&flag, sizeof(int)));
    *flag = 0;
    const pid_t child =
        fork();  // before this process uses the GPU: hipHostMalloc has only initialised it
    if (child == 0) {
        execl("/proc/self/exe", "services", "exit_busy_child", nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 0 : fail("status", status);
}
static int test_exit_busy_child() {
    int* flag;
    HIP_CHECK(hipHostMalloc(&flag, 2 * sizeof(int)));
    flag[0] = 0;
    wait_for<<<1, 64>>>(flag, 1, flag + 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    _exit(3);
}

// A child of a process that uses the GPU gets an error instead of hanging.
static int test_fork() {
    check::Device<int> data(64);
    HIP_CHECK(hipMemset(data.get(), 0, 256));
    HIP_CHECK(hipDeviceSynchronize());
    std::fflush(stdout);
    bool plain_exit = false;
    pid_t child = fork();
    if (child == 0) {
        hipStream_t s;
        _exit(hipStreamCreate(&s) == hipSuccess && hipStreamSynchronize(s) == hipSuccess ? 0 : 5);
    }
    for (int i = 0; i < 3000; i++) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) {
            if (!plain_exit) {  // now a child that only ends, with all destructors
                plain_exit = true;
                std::fflush(stdout);
                child = fork();
                if (child == 0) std::exit(0);
                continue;
            }
            if (status != 0) return fail("status of the child that ends", status);
            add_one<<<1, 64>>>(data.get(), 64);  // the parent goes on
            HIP_CHECK(hipDeviceSynchronize());
            return 0;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return fail("the child hangs", int(child));
}

// 0: the kernel has run, and its data is right; 1: a call has failed; 2: all succeeded, wrong data.
static int runs_a_kernel(int* data, const int* before) {
    int after[64];
    add_one<<<1, 64>>>(data, 64);
    if (hipGetLastError() != hipSuccess ||
        hipMemcpy(after, data, sizeof after, hipMemcpyDeviceToHost) != hipSuccess)
        return 1;
    for (int i = 0; i < 64; i++)
        if (after[i] != before[i] + 1) return 2;
    return 0;
}
static int runs_a_kernel() {
    int *data, zeros[64] = {};
    if (hipMalloc(&data, sizeof zeros) != hipSuccess) return 1;
    if (hipMemcpy(data, zeros, sizeof zeros, hipMemcpyHostToDevice) != hipSuccess) return 1;
    return runs_a_kernel(data, zeros);
}
template <class Body>
static int in_child(Body body) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status);
}

// A process that has only asked for devices may fork: both use the GPU then, each for itself. After
// that the child's calls fail, also with what it has inherited; none succeeds with wrong data.
static int test_fork_early() {
    int count = 0;
    HIP_CHECK(hipGetDeviceCount(&count));
    if (const int status = in_child([] { return runs_a_kernel(); })) return fail("child", status);
    int *data, zeros[64] = {};
    HIP_CHECK(hipMalloc(&data, sizeof zeros));
    HIP_CHECK(hipMemcpy(data, zeros, sizeof zeros, hipMemcpyHostToDevice));
    if (const int status = runs_a_kernel(data, zeros)) return fail("parent", status);
    const int ones[64] = {1};
    if (in_child([] { return runs_a_kernel(); }) != 1) return fail("the child has no error", 0);
    // (HIP knows no other answer to a broken queue than to abort.)
    const int inherited = in_child([&] { return runs_a_kernel(data, ones); });
    return inherited == 1 || inherited == 100 + SIGABRT
               ? 0
               : fail("the child has no error with what it inherited", inherited);
}

static int test_graph_many() {
    constexpr int n = 1000;
    check::Device<int> data(std::vector<int>(n, 1));
    hipStream_t s;
    HIP_CHECK(hipStreamCreate(&s));
    hipGraph_t graph;
    hipGraphExec_t instance;
    HIP_CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
    add_one<<<4, 256, 0, s>>>(data.get(), n);
    multiply<<<4, 256, 0, s>>>(data.get(), n, 3);
    HIP_CHECK(hipStreamEndCapture(s, &graph));
    HIP_CHECK(hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
    unsigned expected = 1;
    for (int i = 0; i < 100; i++) {
        HIP_CHECK(hipGraphLaunch(instance, s));
        expected = (expected + 1) * 3;
    }
    HIP_CHECK(hipStreamSynchronize(s));
    std::vector<int> out(n);
    HIP_CHECK(hipMemcpy(out.data(), data.get(), n * sizeof(int), hipMemcpyDeviceToHost));
    for (int v : out)
        if (unsigned(v) != expected) return fail("value", v);
    return 0;
}

// Eight streams share four hardware queues; kernels, copies, events and callbacks from several
// threads.
static int test_many_streams() {
    constexpr int streams = 8, n = 4096, rounds = 25;
    std::atomic<int> callbacks{0}, errors{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < streams; t++)
        threads.emplace_back([&, t] {
            hipStream_t s;
            hipEvent_t e;
            int *device, *host;
            HIP_CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
            HIP_CHECK(hipEventCreate(&e));
            HIP_CHECK(hipMalloc(&device, n * sizeof(int)));
            HIP_CHECK(hipHostMalloc(&host, n * sizeof(int)));
            for (int i = 0; i < n; i++) host[i] = t;
            HIP_CHECK(hipMemcpyAsync(device, host, n * sizeof(int), hipMemcpyHostToDevice, s));
            for (int r = 0; r < rounds; r++) {
                add_one<<<n / 256, 256, 0, s>>>(device, n);
                if (r % 5 == 0) HIP_CHECK(hipEventRecord(e, s));
                if (r % 10 == 3)
                    HIP_CHECK(hipStreamAddCallback(
                        s,
                        [](hipStream_t, hipError_t, void* p) {
                            ++*static_cast<std::atomic<int>*>(p);
                        },
                        &callbacks, 0));
                if (r % 7 == 6) HIP_CHECK(hipStreamWaitEvent(s, e, 0));
            }
            HIP_CHECK(hipMemcpyAsync(host, device, n * sizeof(int), hipMemcpyDeviceToHost, s));
            HIP_CHECK(hipStreamSynchronize(s));
            for (int i = 0; i < n; i++) errors += host[i] != t + rounds;
            HIP_CHECK(hipStreamDestroy(s));
            HIP_CHECK(hipEventDestroy(e));
            HIP_CHECK(hipFree(device));
            HIP_CHECK(hipHostFree(host));
        });
    for (auto& t : threads) t.join();
    if (errors) return fail("wrong values", errors);
    return callbacks == streams * 3 ? 0 : fail("callbacks", callbacks);
}

__global__ void read_clock(unsigned long long* out) {
    *out = __builtin_amdgcn_s_memrealtime();
}
// The 100 MHz that the agent advertises, against the host's clock: what passes between the two
// readings lies between what the host saw inside and outside of them.
int test_reference_clock() {
    using std::chrono::steady_clock;
    unsigned long long *device, ticks[2];
    HIP_CHECK(hipMalloc(&device, sizeof *device));
    steady_clock::time_point before[2], after[2];
    for (int i = 0; i < 2; i++) {
        before[i] = steady_clock::now();
        read_clock<<<1, 1>>>(device);
        HIP_CHECK(hipMemcpy(&ticks[i], device, sizeof *device, hipMemcpyDeviceToHost));
        after[i] = steady_clock::now();
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
    HIP_CHECK(hipFree(device));
    const double hertz = 100e6, passed = double(ticks[1] - ticks[0]) / hertz;
    const std::chrono::duration<double> least = before[1] - after[0], most = after[1] - before[0];
    if (passed < least.count() - 1 / hertz || passed > most.count() + 1 / hertz)
        return fail("microseconds passed", int(passed * 1e6));
    return 0;
}

int main(int argc, char** argv) {
    struct Case {
        const char* name;
        int (*run)();
    };
    const Case cases[] = {{"printf", test_printf},
                          {"device_malloc", test_device_malloc},
                          {"registered", test_registered},
                          {"textures", test_textures},
                          {"overlap", test_overlap},
                          {"events", test_events},
                          {"exit_busy", test_exit_busy},
                          {"exit_busy_child", test_exit_busy_child},
                          {"fork", test_fork},
                          {"fork_early", test_fork_early},
                          {"graph_many", test_graph_many},
                          {"many_streams", test_many_streams},
                          {"reference_clock", test_reference_clock}};
    for (const Case& c : cases)
        if (argc > 1 && std::strcmp(c.name, argv[1]) == 0) {
            const int status = c.run();
            if (!status) std::printf("PASS %s\n", c.name);
            return status;
        }
    std::printf("FAIL no such case\n");
    return 1;
}
