// Histogram of bytes: atomics in LDS, then in global memory; and one with 16-bit bins by global
// atomics only. Usage: histogram [bytes]
#include "check.h"

__global__ void histogram_lds(const uint8_t* in, size_t n, unsigned* bins) {
    __shared__ unsigned local[256];
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
        if (local[b]) atomicAdd(&bins[b], local[b]);
}

__global__ void histogram_global(const uint8_t* in, size_t n, unsigned* bins) {
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i + 1 < n;
         i += size_t(gridDim.x) * blockDim.x)
        atomicAdd(&bins[in[i] | in[i + 1] << 8], 1u);
}

int main(int argc, char** argv) {
    size_t n = check::argument(argc, argv, 1, 100000);
    check::Random random(7);
    std::vector<uint8_t> in(n);
    std::vector<unsigned> bytes(256), pairs(65536);
    for (auto& v : in) v = uint8_t(random.next() & random.next());
    for (size_t i = 0; i < n; i++) {
        bytes[in[i]]++;
        if (i + 1 < n) pairs[in[i] | in[i + 1] << 8]++;
    }
    check::Device<uint8_t> din(in);
    check::Device<unsigned> dbytes(256), dpairs(65536);
    HIP_CHECK(hipMemset(dbytes, 0, 256 * sizeof(unsigned)));
    HIP_CHECK(hipMemset(dpairs, 0, 65536 * sizeof(unsigned)));
    histogram_lds<<<24, 256>>>(din, n, dbytes);
    histogram_global<<<24, 256>>>(din, n, dpairs);
    check::launched();
    bool ok = check::equal("bytes", dbytes.to_host(), bytes);
    ok &= check::equal("pairs", dpairs.to_host(), pairs);
    return check::result("histogram", ok);
}
