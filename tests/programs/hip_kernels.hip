// What a kernel can do: argument kinds, dynamic LDS, cross-lane operations, atomics, math. Usage:
// hip_kernels
#include <algorithm>
#include <cstring>

#include "check.h"
#include "wave.h"

struct Mixed {
    char a;
    double b;
    short c[3];
    float4 d;
};

__global__ void arguments(char c, short s, int i, long long l, float f, double d, Mixed m, int3 v,
                          const int* p, double* out) {
    if (threadIdx.x == 0) {
        double values[] = {double(c),
                           double(s),
                           double(i),
                           double(l),
                           f,
                           d,
                           double(m.a),
                           m.b,
                           double(m.c[2]),
                           m.d.w,
                           double(v.z),
                           double(p[1]),
                           double(gridDim.x),
                           double(blockDim.y),
                           double(blockIdx.x)};
        for (int k = 0; k < 15; k++) out[k] = values[k];
    }
}

bool test_arguments() {
    check::Device<int> p(std::vector<int>{3, 77});
    check::Device<double> out(15);
    Mixed m{-5, 2.5, {1, 2, -3}, make_float4(1, 2, 3, 4.5f)};
    arguments<<<1, dim3(64, 2)>>>(-1, -300, 70000, -5000000000ll, 1.5f, 0.125, m,
                                  make_int3(1, 2, 9), p, out);
    check::launched();
    return check::equal("arguments", out.to_host(),
                        {-1, -300, 70000, -5e9, 1.5, 0.125, -5, 2.5, -3, 4.5, 9, 77, 1, 2, 0});
}

extern __shared__ int dynamic[];
__global__ void reverse(int* data) {
    dynamic[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

bool test_dynamic_lds() {
    std::vector<int> in(300), want(300);
    for (int i = 0; i < 300; i++) {
        in[i] = i * i;
        want[299 - i] = in[i];
    }
    check::Device<int> data(in);
    reverse<<<1, 300, 300 * sizeof(int)>>>(data);
    check::launched();
    return check::equal("dynamic LDS", data.to_host(), want);
}

constexpr int cross = 14;
__global__ void cross_lane(unsigned long long* out) {
    int lane = threadIdx.x % warpSize, v = lane * 3 + 1;
    unsigned long long* o = out + threadIdx.x * cross;
    o[0] = __shfl(v, (lane + 5) % warpSize);
    o[1] = __shfl_up(v, 3);
    o[2] = __shfl_down(v, 7);
    o[3] = __shfl_xor(v, 21);
    o[4] = __shfl(v, 2, 8);
    o[5] = __ballot(lane % 3 == 0);
    o[6] = __any(lane == 20);
    o[7] = __all(lane < warpSize - 1);
    o[8] = __popcll(__ballot(lane % 5 == 1));
    o[9] = (unsigned long long)(__shfl_xor(lane * 0.5, 1) * 2);
    o[10] = __brev(lane);
    o[11] = __clz(lane + 1) + 100 * __ffs(lane);
    o[12] = __umulhi(0x89abcdefu * lane, 0xfedcba98u);
    o[13] = lane % 2 ? __ballot(1) : __ballot(lane % 4 == 0);
}

bool test_cross_lane() {
    check::Device<unsigned long long> out(64 * cross);
    cross_lane<<<1, 64>>>(out);
    check::launched();
    std::vector<unsigned long long> want(64 * cross);
    auto value = [](int lane) { return (unsigned long long)(lane * 3 + 1); };
    const int wave = lanes_of_a_wave();
    unsigned long long thirds = 0, odd = 0, quarters = 0;
    for (int l = 0; l < wave; l++) {
        thirds |= (unsigned long long)(l % 3 == 0) << l;
        odd |= (unsigned long long)(l % 2) << l;
        quarters |= (unsigned long long)(l % 4 == 0) << l;
    }
    for (int thread = 0; thread < 64; thread++) {
        const int l = thread % wave;
        auto* o = &want[thread * cross];
        o[0] = value((l + 5) % wave);
        o[1] = value(l < 3 ? l : l - 3);
        o[2] = value(l + 7 >= wave ? l : l + 7);
        o[3] = value(l ^ 21);
        o[4] = value(l / 8 * 8 + 2);
        o[5] = thirds;
        o[6] = 1;
        o[7] = 0;
        o[8] = wave == 64 ? 13 : 7;  // 1, 6, 11, ... up to 61 or 31
        o[9] = l ^ 1;
        unsigned reversed = 0;
        for (int b = 0; b < 32; b++) reversed |= (unsigned(l) >> b & 1) << (31 - b);
        o[10] = reversed;
        o[11] = __builtin_clz(l + 1) + 100 * __builtin_ffs(l);
        o[12] = (unsigned long long)(0x89abcdefu * unsigned(l)) * 0xfedcba98u >> 32;
        o[13] = l % 2 ? odd : quarters;
    }
    return check::equal("cross-lane", out.to_host(), want);
}

struct Sums {
    int add, sub, least, greatest, bits_and, bits_or, bits_xor, exchange, swapped;
    unsigned inc, dec;
    unsigned long long wide, wide_max;
    float real;
    double precise;
};

__global__ void atomics(Sums* global) {
    __shared__ Sums local;
    if (threadIdx.x == 0) local = *global;
    __syncthreads();
    for (Sums* s : {global, &local}) {
        int i = threadIdx.x;
        atomicAdd(&s->add, i);
        atomicSub(&s->sub, 2);
        atomicMin(&s->least, -i);
        atomicMax(&s->greatest, i);
        atomicAnd(&s->bits_and, ~(1 << (i % 8)));
        atomicOr(&s->bits_or, 1 << (i % 20));
        atomicXor(&s->bits_xor, i);
        if (i == 9) atomicExch(&s->exchange, 1234);
        int old = s->swapped, assumed;
        do {
            assumed = old;
            old = atomicCAS(&s->swapped, assumed, assumed + 3);
        } while (old != assumed);
        atomicInc(&s->inc, 99u);
        atomicDec(&s->dec, 50u);
        atomicAdd(&s->wide, 0x100000001ull);
        atomicMax(&s->wide_max, (unsigned long long)i << 33);
        atomicAdd(&s->real, 0.5f);
        atomicAdd(&s->precise, 0.25);
    }
    __syncthreads();
    if (threadIdx.x == 0) global[1] = local;
}

bool test_atomics() {
    check::Device<Sums> sums(2);
    HIP_CHECK(hipMemset(sums, 0, 2 * sizeof(Sums)));
    atomics<<<1, 256>>>(sums);
    check::launched();
    std::vector<Sums> got = sums.to_host();
    bool ok = true;
    for (const Sums& s : got) {
        // 256 steps of inc with limit 99 end at 256 mod 100; dec from 0 goes 50, 49 ... 0, 50 ...
        std::vector<double> values = {double(s.add),
                                      double(s.sub),
                                      double(s.least),
                                      double(s.greatest),
                                      double(s.bits_or),
                                      double(s.bits_xor),
                                      double(s.exchange),
                                      double(s.swapped),
                                      double(s.inc),
                                      double(s.dec),
                                      double(s.wide),
                                      double(s.wide_max),
                                      s.real,
                                      s.precise};
        unsigned dec = 0;
        for (int i = 0; i < 256; i++) dec = dec == 0 || dec > 50 ? 50 : dec - 1;
        ok &= check::equal(&s == &got[0] ? "global atomics" : "LDS atomics", values,
                           {255 * 128.0, -512, -255, 255, 1048575, 0, 1234, 768, 56, double(dec),
                            256 * 4294967297.0, 255 * 8589934592.0, 128, 64});
    }
    return ok;
}

__global__ void math(const double* in, double* out, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    double x = in[i];
    double r[] = {sin(x),
                  cos(x),
                  tan(x),
                  exp(x / 10),
                  log(fabs(x) + 1e-3),
                  sqrt(fabs(x)),
                  atan2(x, 3.0),
                  pow(fabs(x), 0.3),
                  floor(x),
                  fmod(x, 1.7),
                  double(sinf(float(x))),
                  double(expf(float(x) / 10)),
                  double(logf(fabsf(float(x)) + 1e-3f)),
                  erf(x / 5),
                  x / 3.0,
                  double(float(x) / 3.0f)};
    for (int k = 0; k < 16; k++) out[i * 16 + k] = r[k];
}

bool test_math() {
    const int n = 256;
    check::Random random(31);
    std::vector<double> in(n), want;
    for (auto& x : in) x = random.range(-20, 20);
    for (double x : in) {
        for (double r : {std::sin(x), std::cos(x), std::tan(x), std::exp(x / 10),
                         std::log(std::fabs(x) + 1e-3), std::sqrt(std::fabs(x)), std::atan2(x, 3.0),
                         std::pow(std::fabs(x), 0.3), std::floor(x), std::fmod(x, 1.7),
                         double(std::sin(float(x))), double(std::exp(float(x) / 10)),
                         double(std::log(std::fabs(float(x)) + 1e-3f)), std::erf(x / 5), x / 3.0,
                         double(float(x) / 3.0f)})
            want.push_back(r);
    }
    check::Device<double> din(in), out(n * 16);
    math<<<4, 64>>>(din, out, n);
    check::launched();
    std::vector<double> got = out.to_host();
    // Doubles within a few units in the last place, floats (columns 10 to 12) likewise; divisions
    // exactly.
    bool ok = true;
    for (int k = 0; k < 16; k++) {
        std::vector<double> a, b;
        for (int i = 0; i < n; i++) {
            a.push_back(got[i * 16 + k]);
            b.push_back(want[i * 16 + k]);
        }
        std::string name = "math column " + std::to_string(k);
        bool single = k >= 10 && k <= 12, exact = k == 5 || k == 8 || k == 9 || k >= 14;
        ok &= exact ? check::equal(name.c_str(), a, b)
                    : check::near(name.c_str(), a, b, single ? 1e-6 : 4e-15, single ? 1e-6 : 1e-15);
    }
    return ok;
}

int main() {
    bool ok = test_arguments();
    ok &= test_dynamic_lds();
    ok &= test_cross_lane();
    ok &= test_atomics();
    ok &= test_math();
    return check::result("hip_kernels", ok);
}
