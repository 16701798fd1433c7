// Exclusive prefix sum: shuffles in a wave, LDS in a block, block sums scanned by a second launch.
// Usage: scan [elements, at most 1048576]
#include "check.h"

constexpr int block_size = 512;

__device__ uint32_t scan_block(uint32_t value, uint32_t* total) {
    __shared__ uint32_t sums[block_size];
    int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize, waves = blockDim.x / warpSize;
    uint32_t inclusive = value;
    for (int offset = 1; offset < warpSize; offset *= 2) {
        uint32_t other = __shfl_up(inclusive, offset);
        if (lane >= offset) inclusive += other;
    }
    if (lane == warpSize - 1) sums[wave] = inclusive;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t run = 0;
        for (int w = 0; w < waves; w++) {
            uint32_t s = sums[w];
            sums[w] = run;
            run += s;
        }
        sums[waves] = run;
    }
    __syncthreads();
    *total = sums[waves];
    return inclusive - value + sums[wave];
}

__global__ void scan_local(const uint32_t* in, uint32_t* out, uint32_t* sums, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    uint32_t total, value = scan_block(i < n ? in[i] : 0u, &total);
    if (i < n) out[i] = value;
    if (threadIdx.x == 0 && sums) sums[blockIdx.x] = total;
}

__global__ void add_sums(uint32_t* out, const uint32_t* sums, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] += sums[blockIdx.x];
}

// Each level scans the sums of the level below.
void scan(const uint32_t* in, uint32_t* out, size_t n) {
    unsigned blocks = check::blocks(n, block_size);
    if (blocks == 1) {
        scan_local<<<1, block_size>>>(in, out, nullptr, n);
        HIP_CHECK(hipGetLastError());
        return;
    }
    check::Device<uint32_t> sums(blocks), offsets(blocks);
    scan_local<<<blocks, block_size>>>(in, out, sums, n);
    scan(sums, offsets, blocks);
    add_sums<<<blocks, block_size>>>(out, offsets, n);
    check::launched();
}

int main(int argc, char** argv) {
    size_t n = check::argument(argc, argv, 1, 100007);
    check::Random random(6);
    std::vector<uint32_t> in(n), want(n);
    uint32_t run = 0;
    for (size_t i = 0; i < n; i++) {
        in[i] = random.next();
        want[i] = run;
        run += in[i];
    }
    check::Device<uint32_t> din(in), dout(n);
    scan(din, dout, n);
    check::launched();
    return check::result("scan", check::equal("out", dout.to_host(), want));
}
