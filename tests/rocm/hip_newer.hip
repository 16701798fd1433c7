// What HIP 6 and 7 have and HIP 5.2 has not, or does by other functions of the runtime: virtual
// memory, stream-ordered pools, memory of another process, printf of version 6 code. Usage:
// hip_newer [ipc HANDLE]
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <string>

#include "check.h"

__global__ void add(int* values, int n, int what) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += what;
}

__global__ void say(int from) {
    if (threadIdx.x % 16 == 3)
        printf("item %d of %d: %s %.2f %lld\n", int(threadIdx.x), from, "text", 1.5, 1ll << 40);
}

std::vector<int> read(const int* device, int n) {
    std::vector<int> out(n);
    HIP_CHECK(hipMemcpy(out.data(), device, n * sizeof(int), hipMemcpyDeviceToHost));
    return out;
}

std::vector<int> numbers(int n, int first) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), first);
    return v;
}

void fill(int* device, const std::vector<int>& values) {
    HIP_CHECK(hipMemcpy(device, values.data(), values.size() * sizeof(int), hipMemcpyHostToDevice));
}

// Two pieces of memory in one range of addresses; the first is then mapped in the place of the
// second.
bool virtual_memory() {
    int supported = 0;
    HIP_CHECK(
        hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported, 0));
    if (!supported) {
        std::fprintf(stderr, "FAIL virtual memory management is not supported\n");
        return false;
    }
    hipMemAllocationProp properties = {};
    properties.type = hipMemAllocationTypePinned;
    properties.location.type = hipMemLocationTypeDevice;
    properties.location.id = 0;
    size_t piece = 0;
    HIP_CHECK(hipMemGetAllocationGranularity(&piece, &properties,
                                             hipMemAllocationGranularityRecommended));
    while (piece < 1 << 20) piece *= 2;
    hipMemGenericAllocationHandle_t first, second;
    HIP_CHECK(hipMemCreate(&first, piece, &properties, 0));
    HIP_CHECK(hipMemCreate(&second, piece, &properties, 0));
    void* range = nullptr;
    HIP_CHECK(hipMemAddressReserve(&range, 2 * piece, 0, nullptr, 0));
    char* at = static_cast<char*>(range);
    HIP_CHECK(hipMemMap(at, piece, 0, first, 0));
    HIP_CHECK(hipMemMap(at + piece, piece, 0, second, 0));
    hipMemAccessDesc access = {};
    access.location = properties.location;
    access.flags = hipMemAccessFlagsProtReadWrite;
    HIP_CHECK(hipMemSetAccess(at, 2 * piece, &access, 1));
    unsigned long long flags = 0;
    HIP_CHECK(hipMemGetAccess(&flags, &properties.location, at));
    bool ok =
        check::equal("access", std::vector<int>{int(flags)}, {int(hipMemAccessFlagsProtReadWrite)});
    // A kernel runs over the border.
    const int per_piece = int(piece / sizeof(int)), n = 2 * per_piece;
    fill(static_cast<int*>(range), numbers(n, 0));
    add<<<check::blocks(n, 256), 256>>>(static_cast<int*>(range), n, 5);
    check::launched();
    ok &= check::equal("mapped", read(static_cast<int*>(range), n), numbers(n, 5));
    HIP_CHECK(hipMemUnmap(at + piece, piece));
    HIP_CHECK(hipMemRelease(second));
    HIP_CHECK(hipMemUnmap(at, piece));
    HIP_CHECK(hipMemMap(at + piece, piece, 0, first, 0));
    HIP_CHECK(hipMemSetAccess(at + piece, piece, &access, 1));
    ok &= check::equal("mapped elsewhere", read(reinterpret_cast<int*>(at + piece), per_piece),
                       numbers(per_piece, 5));
    HIP_CHECK(hipMemUnmap(at + piece, piece));
    HIP_CHECK(hipMemRelease(first));
    HIP_CHECK(hipMemAddressFree(range, 2 * piece));
    return ok;
}

bool pools() {
    hipStream_t stream;
    HIP_CHECK(hipStreamCreate(&stream));
    bool ok = true;
    const int n = 50000;
    for (int round = 0; round < 20; round++) {
        int *a = nullptr, *b = nullptr;
        HIP_CHECK(hipMallocAsync(reinterpret_cast<void**>(&a), n * sizeof(int), stream));
        HIP_CHECK(
            hipMallocAsync(reinterpret_cast<void**>(&b), (n + round * 1000) * sizeof(int), stream));
        HIP_CHECK(hipMemsetAsync(a, 0, n * sizeof(int), stream));
        add<<<check::blocks(n, 256), 256, 0, stream>>>(a, n, round);
        HIP_CHECK(hipMemcpyAsync(b, a, n * sizeof(int), hipMemcpyDeviceToDevice, stream));
        HIP_CHECK(hipFreeAsync(a, stream));
        HIP_CHECK(hipStreamSynchronize(stream));
        ok &= check::equal("pool", read(b, n), std::vector<int>(n, round));
        HIP_CHECK(hipFreeAsync(b, stream));
    }
    hipMemPoolProps properties = {};
    properties.allocType = hipMemAllocationTypePinned;
    properties.location.type = hipMemLocationTypeDevice;
    hipMemPool_t pool;
    HIP_CHECK(hipMemPoolCreate(&pool, &properties));
    int* c = nullptr;
    HIP_CHECK(hipMallocFromPoolAsync(reinterpret_cast<void**>(&c), n * sizeof(int), pool, stream));
    HIP_CHECK(hipMemsetAsync(c, 0, n * sizeof(int), stream));
    add<<<check::blocks(n, 256), 256, 0, stream>>>(c, n, 77);
    HIP_CHECK(hipStreamSynchronize(stream));
    ok &= check::equal("own pool", read(c, n), std::vector<int>(n, 77));
    HIP_CHECK(hipFreeAsync(c, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    HIP_CHECK(hipMemPoolTrimTo(pool, 0));
    HIP_CHECK(hipMemPoolDestroy(pool));
    HIP_CHECK(hipStreamDestroy(stream));
    return ok;
}

const int shared_count = 30000;

// The other process adds to what it finds.
int other_process(const char* text) {
    hipIpcMemHandle_t handle;
    for (size_t i = 0; i < sizeof handle; i++) {
        unsigned byte = 0;
        std::sscanf(text + 2 * i, "%2x", &byte);
        reinterpret_cast<unsigned char*>(&handle)[i] = static_cast<unsigned char>(byte);
    }
    void* memory = nullptr;
    HIP_CHECK(hipIpcOpenMemHandle(&memory, handle, hipIpcMemLazyEnablePeerAccess));
    add<<<check::blocks(shared_count, 256), 256>>>(static_cast<int*>(memory), shared_count, 1000);
    check::launched();
    HIP_CHECK(hipIpcCloseMemHandle(memory));
    return 0;
}

bool processes(const char* program) {
    int* memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, shared_count * sizeof(int)));
    fill(memory, numbers(shared_count, 3));
    hipIpcMemHandle_t handle;
    HIP_CHECK(hipIpcGetMemHandle(&handle, memory));
    std::string text;
    char digits[3];
    for (size_t i = 0; i < sizeof handle; i++) {
        std::snprintf(digits, sizeof digits, "%02x", reinterpret_cast<unsigned char*>(&handle)[i]);
        text += digits;
    }
    char ipc[] = "ipc";
    char* words[] = {const_cast<char*>(program), ipc, text.data(), nullptr};
    pid_t child = 0;
    int status = -1;
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, words, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        std::fprintf(stderr, "FAIL the other process ended with %d\n", status);
        return false;
    }
    const bool ok = check::equal("shared", read(memory, shared_count), numbers(shared_count, 1003));
    HIP_CHECK(hipFree(memory));
    return ok;
}

// What kernels print goes to a file and is compared.
bool prints() {
    std::fflush(stdout);
    const int old = dup(1);
    FILE* file = std::tmpfile();
    dup2(fileno(file), 1);
    say<<<1, 64>>>(64);
    HIP_CHECK(hipDeviceSynchronize());
    std::fflush(stdout);
    dup2(old, 1);
    char text[4096] = "";
    std::rewind(file);
    const size_t size = std::fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    bool ok = true;
    for (int i = 3; i < 64; i += 16) {
        const std::string line = "item " + std::to_string(i) + " of 64: text 1.50 1099511627776\n";
        if (!std::strstr(text, line.c_str())) ok = false;
    }
    if (!ok) std::fprintf(stderr, "FAIL printf printed:\n%s", text);
    std::fclose(file);
    return ok;
}

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "ipc") == 0) return other_process(argv[2]);
    // HIP 5.7 has the functions, and no runtime below them.
    const bool ok =
        (HIP_VERSION_MAJOR < 6 || virtual_memory()) & pools() & processes(argv[0]) & prints();
    if (ok) std::printf("PASS hip_newer\n");
    return !ok;
}
