// Kernels in work-groups of many shapes: rows that waves hold several of, rows that begin anywhere
// in a wave, groups that are smaller than a wave or no multiple of one. All results are exact.
// Usage: hip_shapes [N: each N-th shape]
#include <algorithm>
#include <iterator>
#include <string>

#include "check.h"
#include "wave.h"

struct Image {
    int width, height, pitch;
    __host__ __device__ int at(int x, int y) const { return y * pitch + x; }
};

__host__ __device__ inline int clamped(int v, int most) {
    return v < 0 ? 0 : v > most ? most : v;
}

// ---- one element of an image each; `out` holds -1 where nothing is written

__device__ inline bool place(const Image& i, int& x, int& y) {
    x = blockIdx.x * blockDim.x + threadIdx.x;
    y = blockIdx.y * blockDim.y + threadIdx.y;
    return x < i.width && y < i.height;
}

__host__ __device__ int cross(const int* in, const Image& i, int x, int y) {
    return in[i.at(x, y)] + 3 * in[i.at(x - 1, y)] + 5 * in[i.at(x + 1, y)] +
           7 * in[i.at(x, y - 1)] + 11 * in[i.at(x, y + 1)];
}
__global__ void inner_cross(const int* in, int* out, Image i) {
    int x, y;
    if (place(i, x, y) && x > 0 && y > 0 && x < i.width - 1 && y < i.height - 1)
        out[i.at(x, y)] = cross(in, i, x, y);
}

__host__ __device__ int box(const unsigned char* in, const Image& i, int x, int y) {
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += in[i.at(clamped(x + dx, i.width - 1), clamped(y + dy, i.height - 1))];
    return sum / 9;
}
__global__ void blur(const unsigned char* in, unsigned char* out, Image i) {
    int x, y;
    if (place(i, x, y)) out[i.at(x, y)] = (unsigned char)box(in, i, x, y);
}

__host__ __device__ int product(const int* a, const int* b, const Image& i, int x, int y) {
    int sum = 0;
    for (int k = 0; k < i.width; k++) sum += a[i.at(k, y)] * b[k * i.pitch + x];
    return sum;
}
__global__ void multiply(const int* a, const int* b, int* out, Image i) {
    int x, y;
    if (place(i, x, y)) out[i.at(x, y)] = product(a, b, i, x, y);
}

__global__ void tuples(const int4* in, int4* out, const double* d, double* e, Image i) {
    int x, y;
    if (!place(i, x, y)) return;
    const int4 v = in[i.at(x, y)];
    out[i.at(x, y)] = make_int4(v.w, v.x + x, v.y + y, v.z);
    e[i.at(x, y)] = 2 * d[i.at(x, y)] + 1;
}

__host__ __device__ int steps(int n) {
    int count = 0;
    for (unsigned v = unsigned(n) % 997 + 1; v != 1 && count < 60; count++)
        v = v & 1 ? 3 * v + 1 : v / 2;
    return count;
}
__global__ void collatz(const int* in, int* out, Image i) {
    int x, y;
    if (place(i, x, y)) out[i.at(x, y)] = steps(in[i.at(x, y)]);
}

// ---- work-groups as a whole

__device__ inline int in_group() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline int group() {
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

// The sum of a group's elements, and each element behind those in front of it, by way of the LDS.
__global__ void sums(const int* in, int* total, int* running) {
    __shared__ int s[1024];
    const int t = in_group(), n = blockDim.x * blockDim.y * blockDim.z, at = group() * n + t;
    s[t] = in[at];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        const int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    running[at] = s[t];
    if (t == n - 1) total[group()] = s[t];
}

// Lanes ask each other: who has odd elements, how many in front, and the neighbour's.
__global__ void lanes(const int* in, int* out) {
    const int t = in_group(), n = blockDim.x * blockDim.y * blockDim.z, at = group() * n + t;
    const int v = in[at];
    const unsigned long long odd = __ballot(v & 1), below = (1ull << (t % warpSize)) - 1;
    const int near = __shfl(v, (t % warpSize) / 2);
    out[at] =
        __popcll(odd) * 10000 + __popcll(odd & below) * 100 + (near & 63) + (__any(v < 0) ? 7 : 0);
}

__global__ void histogram(const int* in, int* bins) {
    const int t = in_group(), n = blockDim.x * blockDim.y * blockDim.z;
    atomicAdd(&bins[in[group() * n + t] & 31], 1);
}

namespace {

template <class T>
bool same(const char* what, dim3 g, const std::vector<T>& got, const std::vector<T>& want) {
    const std::string name = std::string(what) + ", work-groups " + std::to_string(g.x) + " x " +
                             std::to_string(g.y) + " x " + std::to_string(g.z) + ", element ";
    return check::equal(name.c_str(), got, want);
}

std::vector<int> numbers(size_t count, uint64_t seed) {
    check::Random random(seed);
    std::vector<int> v(count);
    for (int& x : v) x = int(random.next()) >> 8;
    return v;
}

template <class T, class F>
std::vector<T> each(const Image& i, T otherwise, int border, F f) {
    std::vector<T> v(size_t(i.pitch) * i.height, otherwise);
    for (int y = border; y < i.height - border; y++)
        for (int x = border; x < i.width - border; x++) v[i.at(x, y)] = T(f(x, y));
    return v;
}

bool images(dim3 g, const Image& i) {
    const size_t count = size_t(i.pitch) * std::max(i.height, i.width);
    const dim3 grid((i.width + g.x - 1) / g.x, (i.height + g.y - 1) / g.y);
    const std::vector<int> a = numbers(count, 1), b = numbers(count, 2);
    std::vector<unsigned char> bytes(count);
    for (size_t k = 0; k < count; k++) bytes[k] = (unsigned char)a[k];
    check::Device<int> da(a), db(b);
    check::Device<unsigned char> dbytes(bytes);
    const size_t size = size_t(i.pitch) * i.height;
    auto ints = [&](const char* what, auto run, const std::vector<int>& want) {
        check::Device<int> out(std::vector<int>(size, -1));
        run(out.get());
        return same(what, g, out.to_host(), want);
    };
    bool ok = ints(
        "inner_cross", [&](int* out) { inner_cross<<<grid, g>>>(da.get(), out, i); },
        each<int>(i, -1, 1, [&](int x, int y) { return cross(a.data(), i, x, y); }));
    ok &= ints(
        "multiply", [&](int* out) { multiply<<<grid, g>>>(da.get(), db.get(), out, i); },
        each<int>(i, -1, 0, [&](int x, int y) { return product(a.data(), b.data(), i, x, y); }));
    ok &= ints(
        "collatz", [&](int* out) { collatz<<<grid, g>>>(da.get(), out, i); },
        each<int>(i, -1, 0, [&](int x, int y) { return steps(a[i.at(x, y)]); }));
    check::Device<unsigned char> blurred(std::vector<unsigned char>(size, 255));
    blur<<<grid, g>>>(dbytes.get(), blurred.get(), i);
    ok &= same("blur", g, blurred.to_host(), each<unsigned char>(i, 255, 0, [&](int x, int y) {
                   return box(bytes.data(), i, x, y);
               }));
    std::vector<int4> quads(size);
    std::vector<double> doubles(size);
    for (size_t k = 0; k < size; k++) {
        quads[k] = make_int4(a[k], b[k], a[k] + 1, b[k] + 2);
        doubles[k] = a[k];
    }
    check::Device<int4> din(quads), dout(std::vector<int4>(size, make_int4(-1, -1, -1, -1)));
    check::Device<double> dd(doubles), de(std::vector<double>(size, -1.0));
    tuples<<<grid, g>>>(din.get(), dout.get(), dd.get(), de.get(), i);
    const std::vector<int4> moved = dout.to_host();
    std::vector<int> got, want;
    for (int y = 0; y < i.height; y++)
        for (int x = 0; x < i.width; x++) {
            const int4 v = quads[i.at(x, y)], m = moved[i.at(x, y)];
            got.insert(got.end(), {m.x, m.y, m.z, m.w});
            want.insert(want.end(), {v.w, v.x + x, v.y + y, v.z});
        }
    ok &= same("tuples", g, got, want);
    ok &= same("tuples of doubles", g, de.to_host(),
               each<double>(i, -1.0, 0, [&](int x, int y) { return 2 * doubles[i.at(x, y)] + 1; }));
    return ok;
}

bool groups(dim3 g) {
    const int n = int(g.x * g.y * g.z), count = 12, wave = lanes_of_a_wave();
    const dim3 grid(3, 2, 2);
    const std::vector<int> in = numbers(size_t(n) * count, 3);
    std::vector<int> total(count), running(in.size()), asked(in.size()), bins(32);
    for (int k = 0; k < count; k++)
        for (int t = 0; t < n; t++) {
            const int* const v = &in[size_t(k) * n];
            total[k] += v[t];
            running[size_t(k) * n + t] = total[k];
            bins[v[t] & 31]++;
            const int first = t / wave * wave, end = std::min(n, first + wave);
            int odd = 0, below = 0;
            bool negative = false;
            for (int l = first; l < end; l++) {
                odd += v[l] & 1;
                below += l < t && (v[l] & 1);
                negative |= v[l] < 0;
            }
            asked[size_t(k) * n + t] =
                odd * 10000 + below * 100 + (v[first + t % wave / 2] & 63) + (negative ? 7 : 0);
        }
    check::Device<int> din(in), dtotal(size_t{12}), drunning(in.size()), dasked(in.size()),
        dbins(std::vector<int>(32));
    sums<<<grid, g>>>(din.get(), dtotal.get(), drunning.get());
    lanes<<<grid, g>>>(din.get(), dasked.get());
    histogram<<<grid, g>>>(din.get(), dbins.get());
    bool ok = same("totals", g, dtotal.to_host(), total);
    ok &= same("running", g, drunning.to_host(), running);
    ok &= same("lanes", g, dasked.to_host(), asked);
    ok &= same("histogram", g, dbins.to_host(), bins);
    return ok;
}

}  // namespace

int main(int argc, char** argv) {
    const size_t every = size_t(check::argument(argc, argv, 1, 1));
    const dim3 shapes[] = {{64, 1}, {8, 8},    {16, 16},  {32, 1},   {4, 4},     {32, 8},
                           {16, 1}, {48, 1},   {4, 16},   {8, 4},    {2, 32},    {10, 10},
                           {96, 2}, {1, 64},   {8, 1},    {20, 3},   {16, 2},    {128, 1},
                           {33, 1}, {4, 4, 4}, {8, 2, 2}, {8, 8, 8}, {2, 2, 16}, {16, 4, 2}};
    const Image sizes[] = {{64, 48, 64}, {77, 33, 80}, {130, 20, 131}};
    bool ok = true;
    // Each shape comes when code for others exists, and when code for others' sizes does.
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < std::size(shapes); k += every) {
            const dim3 g = shapes[k];
            ok &= groups(g);
            if (g.z == 1) ok &= images(g, sizes[(round + g.x) % 3]);
        }
    return check::result("hip_shapes", ok);
}
