// Sorting, a sparse matrix, hashing.
#include <algorithm>
#include <cstring>

#include "bench/yardstick/cases.h"
#include "bench/yardstick/native.h"

namespace yardstick {

Bench bitonic(Scale scale) {
    size_t n = pick(scale, 1 << 13, 1 << 17, 1 << 20);
    Bench b;
    b.name = "bitonic_sort", b.file = "bitonic.cl", b.size = std::to_string(n >> 10) + "K u32";
    b.work = 1.0 * n, b.unit = "Gkey/s";
    int d = b.add(4 * n);
    fill_u32(b.p<uint32_t>(d), n, 1);
    b.keep(d);
    b.launches.push_back(launch1("bitonic_local_sort", n / 2, 256, {buffer(d)}));
    for (uint32_t size = 1024; size <= n; size <<= 1) {
        for (uint32_t stride = size / 2; stride > 256; stride >>= 1)
            b.launches.push_back(launch1("bitonic_global_step", n / 2, 256,
                                         {buffer(d), u32(uint32_t(size)), u32(uint32_t(stride))}));
        b.launches.push_back(
            launch1("bitonic_local_merge", n / 2, 256, {buffer(d), u32(uint32_t(size))}));
    }
    b.native = [=](Bench& b) { native::sort(b.p<uint32_t>(d), n); };
    b.native_note = "std::sort";
    b.check = [=](Bench& b) -> std::string {
        auto* src = reinterpret_cast<const uint32_t*>(b.bufs[d].init.data());
        std::vector<uint32_t> want(src, src + n);
        std::sort(want.begin(), want.end());
        for (size_t i = 0; i < n; i++)
            if (b.p<uint32_t>(d)[i] != want[i]) return bad("data", i, b.p<uint32_t>(d)[i], want[i]);
        return "";
    };
    return b;
}

Bench spmv(Scale scale) {
    size_t rows = pick(scale, 4096, 64 << 10, 512 << 10);
    Bench b;
    Rng r(5);
    std::vector<uint32_t> ptr(rows + 1);
    for (size_t i = 0; i < rows; i++) ptr[i + 1] = ptr[i] + 1 + r.next() % 31;
    size_t nnz = ptr[rows];
    b.name = "spmv_csr", b.file = "spmv.cl";
    b.size = std::to_string(rows >> 10) + "K rows, " + std::to_string(nnz >> 10) + "K nnz";
    b.work = 2.0 * nnz, b.unit = "GFLOP/s";
    int p = b.add(4 * (rows + 1)), c = b.add(4 * nnz), v = b.add(4 * nnz), x = b.add(4 * rows),
        y = b.add(4 * rows);
    memcpy(b.p<uint32_t>(p), ptr.data(), 4 * (rows + 1));
    for (size_t k = 0; k < nnz; k++) b.p<uint32_t>(c)[k] = r.next() % rows;
    fill(b.p<float>(v), nnz, 2, -1, 1);
    fill(b.p<float>(x), rows, 3, -1, 1);
    b.launches = {
        launch1("spmv_csr", up(rows, 256), 256,
                {buffer(p), buffer(c), buffer(v), buffer(x), buffer(y), u32(uint32_t(rows))})};
    b.native = [=](Bench& b) {
        native::loops().spmv(b.p<uint32_t>(p), b.p<uint32_t>(c), b.p<float>(v), b.p<float>(x),
                             b.p<float>(y), rows);
    };
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < rows; i++) {
            double want = 0;
            for (uint32_t k = b.p<uint32_t>(p)[i]; k < b.p<uint32_t>(p)[i + 1]; k++)
                want += double(b.p<float>(v)[k]) * b.p<float>(x)[b.p<uint32_t>(c)[k]];
            if (!near(b.p<float>(y)[i], want, 1e-5, 1e-5))
                return bad("y", i, b.p<float>(y)[i], want);
        }
        return "";
    };
    return b;
}

// A plain SHA-256 over bytes, checked against the standard's vector for "abc".
struct Sha {
    static uint32_t ror(uint32_t x, int n) { return x >> n | x << (32 - n); }
    static void hash(const uint8_t* msg, size_t len, uint32_t out[8]) {
        // The constants from their definition: fractions of square and cube roots of the primes.
        static uint32_t K[64], H0[8];
        if (!K[0])
            for (int p = 2, k = 0; k < 64; p++) {
                bool prime = true;
                for (int q = 2; q * q <= p; q++) prime &= p % q != 0;
                if (!prime) continue;
                long double c = cbrtl(p), s = sqrtl(p);
                K[k] = uint32_t((c - floorl(c)) * 4294967296.0L);
                if (k < 8) H0[k] = uint32_t((s - floorl(s)) * 4294967296.0L);
                k++;
            }
        uint8_t blk[64] = {};
        memcpy(blk, msg, len);  // one block is all we need
        blk[len] = 0x80;
        for (int i = 0; i < 4; i++) blk[63 - i] = uint8_t((len * 8) >> (8 * i));
        uint32_t w[64], s[8];
        for (int i = 0; i < 16; i++)
            w[i] = blk[4 * i] << 24 | blk[4 * i + 1] << 16 | blk[4 * i + 2] << 8 | blk[4 * i + 3];
        for (int i = 16; i < 64; i++)
            w[i] = w[i - 16] + (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ (w[i - 15] >> 3)) +
                   w[i - 7] + (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ (w[i - 2] >> 10));
        memcpy(s, H0, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) +
                          ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
            uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) +
                          ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            memmove(s + 1, s, 28);
            s[4] += t1;
            s[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) out[i] = s[i] + H0[i];
    }
};

Bench sha256(Scale scale) {
    size_t n = pick(scale, 1 << 13, 1 << 17, 1 << 20);
    const uint32_t seed = 0x1234567;
    Bench b;
    b.name = "sha256", b.file = "sha256.cl", b.size = std::to_string(n >> 10) + "K hashes";
    b.work = 1.0 * n, b.unit = "Ghash/s";
    int out = b.add(4 * n);
    b.launches = {
        launch1("sha256", up(n, 256), 256, {buffer(out), u32(uint32_t(seed)), u32(uint32_t(n))})};
    b.native = [=](Bench& b) { native::loops().sha256(b.p<uint32_t>(out), seed, n); };
    b.check = [=](Bench& b) -> std::string {
        uint32_t d[8];
        Sha::hash(reinterpret_cast<const uint8_t*>("abc"), 3, d);
        if (d[0] != 0xba7816bf || d[7] != 0xf20015ad) return "the reference is wrong on \"abc\"";
        for (size_t i = 0; i < n; i += 13) {
            uint8_t m[32];
            for (uint32_t k = 0; k < 8; k++) {
                uint32_t v = uint32_t(i) * 0x9e3779b9u + seed + k;
                for (int c = 0; c < 4; c++) m[4 * k + c] = uint8_t(v >> (24 - 8 * c));
            }
            Sha::hash(m, 32, d);
            uint32_t want = d[0] ^ d[1] ^ d[2] ^ d[3] ^ d[4] ^ d[5] ^ d[6] ^ d[7];
            if (b.p<uint32_t>(out)[i] != want) return bad("out", i, b.p<uint32_t>(out)[i], want);
        }
        return "";
    };
    return b;
}

}  // namespace yardstick
