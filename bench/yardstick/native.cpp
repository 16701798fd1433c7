// Hand-written single-thread AVX-512 loops. Compiled by clang-22, whose vector extensions they use.
#include "bench/yardstick/native.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

// One wavefront-like vector of 16 lanes (AVX-512).
typedef float f16 __attribute__((ext_vector_type(16)));
typedef double d8 __attribute__((ext_vector_type(8)));
typedef uint32_t u16v __attribute__((ext_vector_type(16)));
typedef int32_t i16v __attribute__((ext_vector_type(16)));
typedef uint8_t u8x64 __attribute__((ext_vector_type(64)));

template <class V, class T>
static inline V load(const T* p) {
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}
template <class V, class T>
static inline void store(T* p, V v) {
    memcpy(p, &v, sizeof v);
}
static inline u16v rotl(u16v x, int n) {
    return (x << n) | (x >> (32 - n));
}
static inline u16v rotr(u16v x, int n) {
    return rotl(x, 32 - n);
}
static const u16v kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

namespace yardstick::native {

// Outputs far larger than the caches go around them (streaming stores), as a tuned host loop would.
static inline void stream(float* p, f16 v) {
    _mm512_stream_ps(p, __m512(v));
}

void vecadd(const float* a, const float* b, float* c, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) stream(c + i, load<f16>(a + i) + load<f16>(b + i));
    for (; i < n; i++) c[i] = a[i] + b[i];
}

void copy(const float* in, float* out, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) stream(out + i, load<f16>(in + i));
    for (; i < n; i++) out[i] = in[i];
}

void gather(const float* in, const uint32_t* index, float* out, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        stream(out + i, f16(_mm512_i32gather_ps(_mm512_loadu_si512(index + i), in, 4)));
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

static inline void transpose16(const float* in, size_t is, float* out, size_t os) {
    __m512 r[16], t[16];
    for (int i = 0; i < 16; i++) r[i] = _mm512_loadu_ps(in + i * is);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        auto pd = [](__m512 a, __m512 b, bool hi) {
            __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);
            return _mm512_castpd_ps(hi ? _mm512_unpackhi_pd(x, y) : _mm512_unpacklo_pd(x, y));
        };
        r[i] = pd(t[i], t[i + 2], false);
        r[i + 1] = pd(t[i], t[i + 2], true);
        r[i + 2] = pd(t[i + 1], t[i + 3], false);
        r[i + 3] = pd(t[i + 1], t[i + 3], true);
    }
    for (int j = 0; j < 4; j++) {
        t[j] = _mm512_shuffle_f32x4(r[j], r[j + 4], 0x88);
        t[j + 4] = _mm512_shuffle_f32x4(r[j], r[j + 4], 0xdd);
        t[j + 8] = _mm512_shuffle_f32x4(r[j + 8], r[j + 12], 0x88);
        t[j + 12] = _mm512_shuffle_f32x4(r[j + 8], r[j + 12], 0xdd);
    }
    for (int j = 0; j < 8; j++) {
        _mm512_stream_ps(out + j * os, _mm512_shuffle_f32x4(t[j], t[j + 8], 0x88));
        _mm512_stream_ps(out + (j + 8) * os, _mm512_shuffle_f32x4(t[j], t[j + 8], 0xdd));
    }
}

void transpose(const float* in, float* out, size_t w, size_t h) {
    for (size_t y = 0; y < h; y += 64)
        for (size_t x = 0; x < w; x += 16)
            for (size_t k = 0; k < 64; k += 16)
                transpose16(in + (y + k) * w + x, w, out + x * h + y + k, h);
}

float reduce_sum(const float* in, size_t n) {
    f16 s[8] = {};
    size_t i = 0;
    for (; i + 128 <= n; i += 128)
        for (int k = 0; k < 8; k++) s[k] += load<f16>(in + i + 16 * k);
    f16 t = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    float r = 0;
    for (int k = 0; k < 16; k++) r += t[k];
    for (; i < n; i++) r += in[i];
    return r;
}

void scan(const uint32_t* in, uint32_t* out, size_t n) {
    // In-register prefix sum of 16, carry broadcast.
    __m512i carry = _mm512_setzero_si512();
    const __m512i zero = carry, last = _mm512_set1_epi32(15);
    for (size_t i = 0; i + 16 <= n; i += 16) {
        __m512i v = _mm512_loadu_si512(in + i);
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 15));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 14));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 12));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 8));
        v = _mm512_add_epi32(v, carry);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i), v);
        carry = _mm512_permutexvar_epi32(last, v);
    }
}

void hist256(const uint32_t* in, uint32_t* bins, size_t nwords) {
    std::vector<uint32_t> h(4 * 256);
    uint32_t *a = h.data(), *b = a + 256, *c = b + 256, *d = c + 256;
    for (size_t i = 0; i < nwords; i++) {
        uint32_t w = in[i];
        a[w & 0xff]++;
        b[(w >> 8) & 0xff]++;
        c[(w >> 16) & 0xff]++;
        d[w >> 24]++;
    }
    for (int i = 0; i < 256; i++) bins[i] += a[i] + b[i] + c[i] + d[i];
}

void hist(const uint32_t* in, uint32_t* bins, size_t n, uint32_t mask) {
    for (size_t i = 0; i < n; i++) bins[in[i] & mask]++;
}

// C = A * B with a packed B panel: MR x (2 vectors) registers, K blocked.
template <class V, class T, int L>
static void gemm(const T* A, const T* B, T* C, int M, int N, int K) {
    constexpr int MR = 8, NR = 2 * L, KC = 256;
    std::vector<T> pack(size_t(KC) * NR + 64);
    T* bp = reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(pack.data()) + 63) & ~uintptr_t(63));
    for (int k0 = 0; k0 < K; k0 += KC) {
        int kc = std::min(KC, K - k0);
        for (int n0 = 0; n0 < N; n0 += NR) {
            for (int k = 0; k < kc; k++)
                memcpy(bp + k * NR, B + size_t(k0 + k) * N + n0, sizeof(T) * NR);
            for (int m0 = 0; m0 < M; m0 += MR) {
                V c[MR][2];
                for (int i = 0; i < MR; i++)
                    for (int j = 0; j < 2; j++)
                        c[i][j] = k0 ? load<V>(C + size_t(m0 + i) * N + n0 + j * L) : V(0);
                const T* a = A + size_t(m0) * K + k0;
                for (int k = 0; k < kc; k++) {
                    V b0 = load<V>(bp + k * NR), b1 = load<V>(bp + k * NR + L);
#pragma clang loop unroll(full)
                    for (int i = 0; i < MR; i++) {
                        V x = V(a[size_t(i) * K + k]);
                        c[i][0] += x * b0;
                        c[i][1] += x * b1;
                    }
                }
                for (int i = 0; i < MR; i++)
                    for (int j = 0; j < 2; j++) store(C + size_t(m0 + i) * N + n0 + j * L, c[i][j]);
            }
        }
    }
}

void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    gemm<f16, float, 16>(A, B, C, M, N, K);
}
static inline f16 rsqrt_nr(f16 x) {
    f16 y = f16(_mm512_rsqrt14_ps(__m512(x)));
    return y * (1.5f - 0.5f * x * y * y);
}

void nbody(const float* pos, const float* vel, float* pos_out, float* vel_out, size_t n, float dt,
           float eps2) {
    // 16 bodies a vector, two vectors at once; the other bodies broadcast one by one.
    for (size_t i = 0; i < n; i += 32) {
        f16 px[2], py[2], pz[2], ax[2] = {}, ay[2] = {}, az[2] = {};
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < 16; l++) {
                const float* p = pos + 4 * (i + 16 * k + l);
                px[k][l] = p[0], py[k][l] = p[1], pz[k][l] = p[2];
            }
        for (size_t j = 0; j < n; j++) {
            f16 qx = f16(pos[4 * j]), qy = f16(pos[4 * j + 1]), qz = f16(pos[4 * j + 2]),
                qw = f16(pos[4 * j + 3]);
            for (int k = 0; k < 2; k++) {
                f16 dx = qx - px[k], dy = qy - py[k], dz = qz - pz[k];
                f16 inv = rsqrt_nr(dx * dx + dy * dy + dz * dz + eps2);
                f16 s = qw * inv * inv * inv;
                ax[k] += dx * s;
                ay[k] += dy * s;
                az[k] += dz * s;
            }
        }
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < 16; l++) {
                size_t b = 4 * (i + 16 * k + l);
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
    f16 lane;
    for (int l = 0; l < 16; l++) lane[l] = l;
    const __m512 four = _mm512_set1_ps(4.0f);
    for (int py = 0; py < h; py++) {
        f16 cy = f16(y0 + py * dy);
        for (int px = 0; px < w; px += 32) {
            // Two vectors at once, to cover the latency of the dependent chain.
            f16 cx[2] = {x0 + (lane + float(px)) * dx, x0 + (lane + float(px + 16)) * dx};
            f16 x[2] = {}, y[2] = {};
            __m512i it[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
            __mmask16 live[2] = {0xffff, 0xffff};
            for (uint32_t i = 0; i < max_iter && (live[0] | live[1]); i++)
                for (int k = 0; k < 2; k++) {
                    f16 xx = x[k] * x[k], yy = y[k] * y[k];
                    live[k] = _mm512_mask_cmp_ps_mask(live[k], __m512(xx + yy), four, _CMP_LE_OQ);
                    it[k] = _mm512_mask_add_epi32(it[k], live[k], it[k], _mm512_set1_epi32(1));
                    y[k] = 2.0f * x[k] * y[k] + cy;
                    x[k] = xx - yy + cx[k];
                }
            for (int k = 0; k < 2; k++)
                _mm512_storeu_si512(out + size_t(py) * w + px + 16 * k, it[k]);
        }
    }
}

static inline float cnd(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f,
                A5 = 1.330274429f;
    float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
    float c = 0.39894228040143267794f * std::exp(-0.5f * d * d) *
              (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))));
    return d > 0.0f ? 1.0f - c : c;
}

void blackscholes(const float* __restrict S, const float* __restrict X, const float* __restrict T,
                  float* __restrict call, float* __restrict put, float r, float v, size_t n) {
#pragma clang loop vectorize(enable)
    for (size_t i = 0; i < n; i++) {
        float s = S[i], x = X[i], t = T[i];
        float st = std::sqrt(t);
        float d1 = (std::log(s / x) + (r + 0.5f * v * v) * t) / (v * st);
        float d2 = d1 - v * st;
        float c1 = cnd(d1), c2 = cnd(d2);
        float e = std::exp(-r * t);
        call[i] = s * c1 - x * e * c2;
        put[i] = x * e * (1.0f - c2) - s * (1.0f - c1);
    }
}

void sort(uint32_t* data, size_t n) {
    std::sort(data, data + n);
}

void spmv(const uint32_t* rowptr, const uint32_t* col, const float* val, const float* x, float* y,
          size_t rows) {
    // A row's entries 32 at a time, masked: short rows take one round and no branch to guess.
    uint32_t k = rowptr[0];
    for (size_t r = 0; r < rows; r++) {
        uint32_t end = rowptr[r + 1];
        __m512 acc = _mm512_setzero_ps();
        do {
            uint32_t left = end - k < 32 ? end - k : 32, m = _bzhi_u32(~0u, left);
            for (int h = 0; h < 2; h++) {
                __mmask16 mh = __mmask16(m >> (16 * h));
                __m512i c = _mm512_maskz_loadu_epi32(mh, col + k + 16 * h);
                __m512 g = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), mh, c, x, 4);
                acc = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mh, val + k + 16 * h), g, acc);
            }
            k += left;
        } while (k < end);
        y[r] = _mm512_reduce_add_ps(acc);
    }
}

static const uint32_t K256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void sha256(uint32_t* out, uint32_t seed, size_t n) {
    for (size_t i0 = 0; i0 + 16 <= n; i0 += 16) {
        u16v gid = kLane + uint32_t(i0), w[16] = {};
        for (uint32_t i = 0; i < 8; i++) w[i] = gid * 0x9e3779b9u + seed + i;
        w[8] = u16v(0x80000000u);
        w[15] = u16v(256u);
        const uint32_t H[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        u16v s[8];
        for (int i = 0; i < 8; i++) s[i] = u16v(H[i]);
#pragma clang loop unroll(full)
        for (int i = 0; i < 64; i++) {
            if (i >= 16) {
                u16v a = w[(i + 1) & 15], b = w[(i + 14) & 15];
                w[i & 15] += (rotr(a, 7) ^ rotr(a, 18) ^ (a >> 3)) + w[(i + 9) & 15] +
                             (rotr(b, 17) ^ rotr(b, 19) ^ (b >> 10));
            }
            u16v t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + K256[i] + w[i & 15];
            u16v t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + t1;
            s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = t1 + t2;
        }
        u16v r = u16v(0u);
        for (int i = 0; i < 8; i++) r ^= s[i] + H[i];
        store(out + i0, r);
    }
}

void fma_peak(float* out, float a, float b, uint32_t iters, size_t n) {
    __m512 va = _mm512_set1_ps(a), vb = _mm512_set1_ps(b);
    for (size_t g = 0; g + 16 <= n; g += 16) {
        __m512 x[16];
        for (int k = 0; k < 16; k++)
            x[k] = _mm512_cvtepi32_ps(__m512i((kLane + uint32_t(g)) & 255u)) + _mm512_set1_ps(k);
        for (uint32_t i = 0; i < iters; i++)
#pragma clang loop unroll(full)
            for (int k = 0; k < 16; k++) x[k] = _mm512_fmadd_ps(x[k], va, vb);
        __m512 s = _mm512_setzero_ps();
        for (int k = 0; k < 16; k++) s = s + x[k];
        _mm512_storeu_ps(out + g, s);
    }
}

#ifdef __AVX512BF16__
double bf16_peak(uint32_t iters) {
    constexpr int chains = 16;
    const __m512bh factor = (__m512bh)_mm512_set1_epi16(0x3f80);
    __m512 x[chains];
    for (int k = 0; k < chains; k++) x[k] = _mm512_setzero_ps();
    for (uint32_t i = 0; i < iters; i++)
#pragma clang loop unroll(full)
        for (int k = 0; k < chains; k++) x[k] = _mm512_dpbf16_ps(x[k], factor, factor);
    __m512 s = _mm512_setzero_ps();
    for (int k = 0; k < chains; k++) s = s + x[k];
    return s[0] == 2.0f * iters * chains ? 64.0 * iters * chains : 0;
}
#else
double bf16_peak(uint32_t) {
    return 0;
}
#endif

}  // namespace yardstick::native
