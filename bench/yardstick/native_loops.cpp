// Hand-written single-thread vector loops, compiled by clang-22 once for AVX2 and once for AVX-512.
// Everything but the table of the loops has internal linkage: a function that both objects (or any
// other) held could be linked from the wrong one.
#include "bench/yardstick/native.h"

#include <math.h>
#include <string.h>

#ifdef __AVX512F__
#include "bench/yardstick/native_avx512.h"
#define WJ_LOOPS avx512_loops
#else
#include "bench/yardstick/native_avx2.h"
#define WJ_LOOPS avx2_loops
#endif

namespace yardstick::native {
namespace {

template <class V, class T>
inline V load(const T* p) {
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}
template <class V, class T>
inline void store(T* p, V v) {
    memcpy(p, &v, sizeof v);
}
inline Words rotl(Words x, int n) {
    return (x << n) | (x >> (32 - n));
}
inline Words rotr(Words x, int n) {
    return rotl(x, 32 - n);
}

void vecadd(const float* a, const float* b, float* c, size_t n) {
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) stream(c + i, load<Floats>(a + i) + load<Floats>(b + i));
    for (; i < n; i++) c[i] = a[i] + b[i];
}

void copy(const float* in, float* out, size_t n) {
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) stream(out + i, load<Floats>(in + i));
    for (; i < n; i++) out[i] = in[i];
}

void gather(const float* in, const uint32_t* index, float* out, size_t n) {
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) stream(out + i, gather_lanes(in, load<Words>(index + i)));
    for (; i < n; i++) out[i] = in[index[i]];
}

void softmax(const float* in, float* out, size_t rows, size_t width) {
    for (size_t r = 0; r < rows; r++, in += width, out += width) {
#pragma clang fp reassociate(on)
        float most = in[0], sum = 0;
        for (size_t i = 0; i < width; i++) most = in[i] > most ? in[i] : most;
        for (size_t i = 0; i < width; i++) out[i] = expf(in[i] - most), sum += out[i];
        const float scale = 1 / sum;
        for (size_t i = 0; i < width; i++) out[i] *= scale;
    }
}

void saxpy(const float* __restrict x, float* __restrict y, float alpha, size_t n) {
    // In place from memory, 256-bit vectors beat 512-bit ones by a tenth on Zen 4.
#pragma clang loop vectorize_width(8) interleave_count(1)
    for (size_t i = 0; i < n; i++) y[i] = alpha * x[i] + y[i];
}

void transpose(const float* in, float* out, size_t w, size_t h) {
    for (size_t y = 0; y < h; y += 64)
        for (size_t x = 0; x < w; x += kLanes)
            for (size_t k = 0; k < 64; k += kLanes)
                transpose_square(in + (y + k) * w + x, w, out + x * h + y + k, h);
}

float reduce_sum(const float* in, size_t n) {
    Floats s[8] = {};
    size_t i = 0;
    for (; i + 8 * kLanes <= n; i += 8 * kLanes)
        for (int k = 0; k < 8; k++) s[k] += load<Floats>(in + i + kLanes * k);
    Floats t = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    float r = 0;
    for (int k = 0; k < kLanes; k++) r += t[k];
    for (; i < n; i++) r += in[i];
    return r;
}

void scan(const uint32_t* in, uint32_t* out, size_t n) {
    Words carry = Words(0u);
    for (size_t i = 0; i + kLanes <= n; i += kLanes) {
        const Words v = prefix_sums(load<Words>(in + i)) + carry;
        stream(out + i, v);
        carry = last_lane(v);
    }
}

// C = A * B with a packed panel of B: kGemmRows rows of two vectors in registers, K blocked.
void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    constexpr int width = 2 * kLanes, depth = 256;
    alignas(64) float panel[depth * width];
    for (int k0 = 0; k0 < K; k0 += depth) {
        const int kc = K - k0 < depth ? K - k0 : depth;
        for (int n0 = 0; n0 < N; n0 += width) {
            for (int k = 0; k < kc; k++)
                memcpy(panel + k * width, B + size_t(k0 + k) * N + n0, sizeof(float) * width);
            for (int m0 = 0; m0 < M; m0 += kGemmRows) {
                float* const to = C + size_t(m0) * N + n0;
                Floats c[kGemmRows][2];
                for (int i = 0; i < kGemmRows; i++)
                    for (int j = 0; j < 2; j++)
                        c[i][j] = k0 ? load<Floats>(to + size_t(i) * N + j * kLanes) : Floats(0);
                const float* a = A + size_t(m0) * K + k0;
                for (int k = 0; k < kc; k++) {
                    const Floats b0 = load<Floats>(panel + k * width);
                    const Floats b1 = load<Floats>(panel + k * width + kLanes);
#pragma clang loop unroll(full)
                    for (int i = 0; i < kGemmRows; i++) {
                        const Floats x = Floats(a[size_t(i) * K + k]);
                        c[i][0] += x * b0;
                        c[i][1] += x * b1;
                    }
                }
                for (int i = 0; i < kGemmRows; i++)
                    for (int j = 0; j < 2; j++) store(to + size_t(i) * N + j * kLanes, c[i][j]);
            }
        }
    }
}

inline Floats rsqrt_nr(Floats x) {
    const Floats y = rsqrt_estimate(x);
    return y * (1.5f - 0.5f * x * y * y);
}

void nbody(const float* pos, const float* vel, float* pos_out, float* vel_out, size_t n, float dt,
           float eps2) {
    // A body a lane, two vectors at once; the other bodies broadcast one by one.
    for (size_t i = 0; i < n; i += 2 * kLanes) {
        Floats px[2], py[2], pz[2], ax[2] = {}, ay[2] = {}, az[2] = {};
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < kLanes; l++) {
                const float* p = pos + 4 * (i + kLanes * k + l);
                px[k][l] = p[0], py[k][l] = p[1], pz[k][l] = p[2];
            }
        for (size_t j = 0; j < n; j++) {
            Floats qx = Floats(pos[4 * j]), qy = Floats(pos[4 * j + 1]),
                   qz = Floats(pos[4 * j + 2]), qw = Floats(pos[4 * j + 3]);
            for (int k = 0; k < 2; k++) {
                Floats dx = qx - px[k], dy = qy - py[k], dz = qz - pz[k];
                Floats inv = rsqrt_nr(dx * dx + dy * dy + dz * dz + eps2);
                Floats s = qw * inv * inv * inv;
                ax[k] += dx * s;
                ay[k] += dy * s;
                az[k] += dz * s;
            }
        }
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < kLanes; l++) {
                size_t b = 4 * (i + kLanes * k + l);
                float a[3] = {ax[k][l], ay[k][l], az[k][l]};
                for (int c = 0; c < 3; c++) {
                    vel_out[b + c] = vel[b + c] + a[c] * dt;
                    pos_out[b + c] = pos[b + c] + vel_out[b + c] * dt;
                }
                vel_out[b + 3] = vel[b + 3];
                pos_out[b + 3] = pos[b + 3];
            }
    }
}

void mandelbrot(uint32_t* out, int w, int h, float x0, float y0, float dx, float dy,
                uint32_t max_iter) {
    Floats lane;
    for (int l = 0; l < kLanes; l++) lane[l] = l;
    for (int py = 0; py < h; py++) {
        Floats cy = Floats(y0 + py * dy);
        for (int px = 0; px < w; px += 2 * kLanes) {
            // Two vectors at once, to cover the latency of the dependent chain.
            Floats cx[2] = {x0 + (lane + float(px)) * dx, x0 + (lane + float(px + kLanes)) * dx};
            Floats x[2] = {}, y[2] = {};
            Words it[2] = {};
            Mask live[2] = {all_lanes(), all_lanes()};
            for (uint32_t i = 0; i < max_iter && any(live[0], live[1]); i++)
                for (int k = 0; k < 2; k++) {
                    Floats xx = x[k] * x[k], yy = y[k] * y[k];
                    live[k] = at_most(live[k], xx + yy, 4);
                    it[k] = count(it[k], live[k]);
                    y[k] = 2.0f * x[k] * y[k] + cy;
                    x[k] = xx - yy + cx[k];
                }
            for (int k = 0; k < 2; k++) store(out + size_t(py) * w + px + kLanes * k, it[k]);
        }
    }
}

inline float cnd(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f,
                A5 = 1.330274429f;
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228040143267794f * expf(-0.5f * d * d) *
              (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))));
    return d > 0.0f ? 1.0f - c : c;
}

void blackscholes(const float* __restrict S, const float* __restrict X, const float* __restrict T,
                  float* __restrict call, float* __restrict put, float r, float v, size_t n) {
#pragma clang loop vectorize(enable)
    for (size_t i = 0; i < n; i++) {
        float s = S[i], x = X[i], t = T[i];
        float st = sqrtf(t);
        float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / (v * st);
        float d2 = d1 - v * st;
        float c1 = cnd(d1), c2 = cnd(d2);
        float e = expf(-r * t);
        call[i] = s * c1 - x * e * c2;
        put[i] = x * e * (1.0f - c2) - s * (1.0f - c1);
    }
}

void spmv(const uint32_t* rowptr, const uint32_t* col, const float* val, const float* x, float* y,
          size_t rows) {
    // A row's entries two vectors at a time, masked: short rows take one round and no branch to
    // guess.
    constexpr uint32_t round = 2 * kLanes;
    uint32_t k = rowptr[0];
    for (size_t r = 0; r < rows; r++) {
        const uint32_t end = rowptr[r + 1];
        Floats acc = Floats(0);
        do {
            const uint32_t left = end - k < round ? end - k : round;
            for (int h = 0; h < 2; h++) {
                const Mask lanes = first_of_two(left, h);
                const Floats g = gather_lanes(lanes, x, load(lanes, col + k + kLanes * h));
                acc = fma(load(lanes, val + k + kLanes * h), g, acc);
            }
            k += left;
        } while (k < end);
        y[r] = sum(acc);
    }
}

const uint32_t K256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void sha256(uint32_t* out, uint32_t seed, size_t n) {
    for (size_t i0 = 0; i0 + kLanes <= n; i0 += kLanes) {
        Words gid = kLane + uint32_t(i0), w[16] = {};
        for (uint32_t i = 0; i < 8; i++) w[i] = gid * 0x9e3779b9u + seed + i;
        w[8] = Words(0x80000000u);
        w[15] = Words(256u);
        const uint32_t H[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        Words s[8];
        for (int i = 0; i < 8; i++) s[i] = Words(H[i]);
#pragma clang loop unroll(full)
        for (int i = 0; i < 64; i++) {
            if (i >= 16) {
                Words a = w[(i + 1) & 15], b = w[(i + 14) & 15];
                w[i & 15] += (rotr(a, 7) ^ rotr(a, 18) ^ (a >> 3)) + w[(i + 9) & 15] +
                             (rotr(b, 17) ^ rotr(b, 19) ^ (b >> 10));
            }
            Words t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + K256[i] + w[i & 15];
            Words t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + t1;
            s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = t1 + t2;
        }
        Words r = Words(0u);
        for (int i = 0; i < 8; i++) r ^= s[i] + H[i];
        store(out + i0, r);
    }
}

// 16 chains, as many at a time as registers hold.
void fma_peak(float* out, float a, float b, uint32_t iters, size_t n) {
    const Floats va = Floats(a), vb = Floats(b);
    for (size_t g = 0; g + kLanes <= n; g += kLanes) {
        const Floats start = __builtin_convertvector((kLane + uint32_t(g)) & 255u, Floats);
        Floats s = Floats(0);
        for (int first = 0; first < 16; first += kChains) {
            Floats x[kChains];
            for (int k = 0; k < kChains; k++) x[k] = start + float(first + k);
            for (uint32_t i = 0; i < iters; i++)
#pragma clang loop unroll(full)
                for (int k = 0; k < kChains; k++) x[k] = fma(x[k], va, vb);
            for (int k = 0; k < kChains; k++) s = s + x[k];
        }
        store(out + g, s);
    }
}

}  // namespace

extern const Loops WJ_LOOPS = {.vecadd = vecadd,
                               .saxpy = saxpy,
                               .transpose = transpose,
                               .reduce_sum = reduce_sum,
                               .scan = scan,
                               .sgemm = sgemm,
                               .nbody = nbody,
                               .mandelbrot = mandelbrot,
                               .blackscholes = blackscholes,
                               .spmv = spmv,
                               .sha256 = sha256,
                               .copy = copy,
                               .gather = gather,
                               .softmax = softmax,
                               .fma_peak = fma_peak,
                               .bf16_peak = bf16_products};

}  // namespace yardstick::native
