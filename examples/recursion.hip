// Recursion on a device call stack: Ackermann, quicksort of one array a lane, and mutual recursion.
// The compiler cannot bound the depth; it assumes 16 KiB of stack a lane. Usage: recursion [lanes]
#include <algorithm>

#include "check.h"

__host__ __device__ __attribute__((noinline)) unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __attribute__((noinline)) void quicksort(int* v, int low, int high) {
    if (low >= high) return;
    int pivot = v[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (v[i] < pivot) i++;
        while (v[j] > pivot) j--;
        if (i <= j) {
            int t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
    }
    quicksort(v, low, j);
    quicksort(v, i, high);
}

__host__ __device__ bool is_odd(unsigned n);
__host__ __device__ __attribute__((noinline)) bool is_even(unsigned n) {
    return n == 0 ? true : is_odd(n - 1);
}
__host__ __device__ __attribute__((noinline)) bool is_odd(unsigned n) {
    return n == 0 ? false : is_even(n - 1);
}

constexpr int length = 24;

__global__ void recurse(unsigned* numbers, int* arrays, unsigned* parity, int lanes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lanes) return;
    numbers[i] = ackermann(i % 3, i % 4);
    quicksort(arrays + i * length, 0, length - 1);
    parity[i] = is_even(i % 13);
}

int main(int argc, char** argv) {
    int lanes = int(check::argument(argc, argv, 1, 100));
    check::Random random(15);
    std::vector<int> arrays(size_t(lanes) * length);
    for (auto& v : arrays) v = int(random.next() % 1000);
    check::Device<int> darrays(arrays);
    check::Device<unsigned> numbers(lanes), parity(lanes);
    recurse<<<check::blocks(lanes, 64), 64>>>(numbers, darrays, parity, lanes);
    check::launched();
    std::vector<unsigned> want_numbers(lanes), want_parity(lanes);
    for (int i = 0; i < lanes; i++) {
        want_numbers[i] = ackermann(i % 3, i % 4);
        want_parity[i] = i % 13 % 2 == 0;
        std::sort(arrays.begin() + i * length, arrays.begin() + (i + 1) * length);
    }
    bool ok = check::equal("ackermann", numbers.to_host(), want_numbers);
    ok &= check::equal("quicksort", darrays.to_host(), arrays);
    ok &= check::equal("parity", parity.to_host(), want_parity);
    return check::result("recursion", ok);
}
