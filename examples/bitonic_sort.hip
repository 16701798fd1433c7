// Bitonic sort of 64-bit keys: short strides in LDS, long ones through global memory.
// Usage: bitonic_sort [elements; rounded up to a power of two]
#include <algorithm>

#include "check.h"

constexpr unsigned block_size = 256, chunk = 2 * block_size;

__device__ void compare_swap(uint64_t& a, uint64_t& b, bool ascending) {
    if ((a > b) == ascending) {
        uint64_t t = a;
        a = b;
        b = t;
    }
}

// Sorts (first = 2) or merges (first = size) runs inside chunks.
__global__ void sort_chunks(uint64_t* data, unsigned first, unsigned last) {
    __shared__ uint64_t keys[chunk];
    unsigned base = blockIdx.x * chunk, t = threadIdx.x;
    keys[t] = data[base + t];
    keys[t + block_size] = data[base + t + block_size];
    __syncthreads();
    for (unsigned size = first; size <= last; size *= 2) {
        bool ascending = ((base + 2 * t) & size) == 0;
        for (unsigned stride = min(size, chunk) / 2; stride > 0; stride /= 2) {
            unsigned i = 2 * t - (t & (stride - 1));
            compare_swap(keys[i], keys[i + stride], ascending);
            __syncthreads();
        }
    }
    data[base + t] = keys[t];
    data[base + t + block_size] = keys[t + block_size];
}

__global__ void merge_step(uint64_t* data, unsigned size, unsigned stride) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (stride - 1));
    compare_swap(data[i], data[i + stride], (i & size) == 0);
}

int main(int argc, char** argv) {
    size_t wanted = check::argument(argc, argv, 1, 8192), n = chunk;
    while (n < wanted) n *= 2;
    check::Random random(9);
    std::vector<uint64_t> keys(n);
    for (auto& key : keys) key = uint64_t(random.next()) << 32 | random.next();
    check::Device<uint64_t> data(keys);
    std::sort(keys.begin(), keys.end());
    sort_chunks<<<n / chunk, block_size>>>(data, 2, chunk);
    for (unsigned size = 2 * chunk; size <= n; size *= 2) {
        for (unsigned stride = size / 2; stride >= chunk; stride /= 2)
            merge_step<<<n / chunk, block_size>>>(data, size, stride);
        sort_chunks<<<n / chunk, block_size>>>(data, size, size);
    }
    check::launched();
    return check::result("bitonic_sort", check::equal("keys", data.to_host(), keys));
}
