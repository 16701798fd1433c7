// C = A * B in f32 and f64, naive and tiled through LDS. Usage: matmul [n]
#include "check.h"

constexpr int tile = 16;

template <class T>
__global__ void multiply_naive(const T* a, const T* b, T* c, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    T sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

template <class T>
__global__ void multiply_tiled(const T* a, const T* b, T* c, int n) {
    __shared__ T as[tile][tile], bs[tile][tile];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * tile + x, row = blockIdx.y * tile + y;
    T sum = 0;
    for (int k0 = 0; k0 < n; k0 += tile) {
        as[y][x] = row < n && k0 + x < n ? a[row * n + k0 + x] : T(0);
        bs[y][x] = column < n && k0 + y < n ? b[(k0 + y) * n + column] : T(0);
        __syncthreads();
        for (int k = 0; k < tile; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

template <class T>
bool run(const char* type, int n, double tolerance) {
    check::Random random(3);
    size_t elements = size_t(n) * n;
    std::vector<T> a(elements), b(elements);
    std::vector<double> want(elements, 0.0);
    for (size_t i = 0; i < elements; i++) {
        a[i] = T(random.range(-1, 1));
        b[i] = T(random.range(-1, 1));
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                want[i * n + j] += double(a[i * n + k]) * double(b[k * n + j]);
    check::Device<T> da(a), db(b), naive(elements), tiled(elements);
    dim3 block(tile, tile), grid(check::blocks(n, tile), check::blocks(n, tile));
    multiply_naive<T><<<grid, block>>>(da, db, naive, n);
    multiply_tiled<T><<<grid, block>>>(da, db, tiled, n);
    check::launched();
    std::printf("%s %d x %d\n", type, n, n);
    bool ok = check::near("naive", naive.to_host(), want, tolerance, tolerance * n);
    ok &= check::near("tiled", tiled.to_host(), want, tolerance, tolerance * n);
    return ok;
}

int main(int argc, char** argv) {
    int n = int(check::argument(argc, argv, 1, 100));
    bool ok = run<float>("f32", n, 1e-6);
    ok &= run<double>("f64", n, 1e-15);
    return check::result("matmul", ok);
}
