// SHA-256 (FIPS 180-4) of one short message a lane; constants in __constant__ memory. Usage: sha256
// [messages]
#include <cstring>
#include <string>

#include "check.h"

// The first 32 bits of the fractional parts of the square and cube roots of primes: computed, not
// typed.
struct Tables {
    uint32_t k[64], h[8];
};
__constant__ Tables tables;

__host__ __device__ inline uint32_t rotate(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

__host__ __device__ inline void compress(const Tables& t, const uint32_t block[16],
                                         uint32_t digest[8]) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) w[i] = block[i];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    for (int i = 0; i < 8; i++) v[i] = digest[i];
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + t.k[i] + w[i];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--) v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) digest[i] += v[i];
}

// Pads a message of at most 55 bytes to one block and hashes it.
__host__ __device__ inline void sha256(const Tables& t, const uint8_t* message, unsigned length,
                                       uint32_t digest[8]) {
    uint32_t block[16];
    for (int i = 0; i < 16; i++) block[i] = 0;
    for (unsigned i = 0; i < length; i++)
        block[i / 4] |= uint32_t(message[i]) << (24 - 8 * (i % 4));
    block[length / 4] |= 0x80u << (24 - 8 * (length % 4));
    block[15] = length * 8;
    for (int i = 0; i < 8; i++) digest[i] = t.h[i];
    compress(t, block, digest);
}

__global__ void hash(const uint8_t* messages, const unsigned* lengths, uint32_t* digests, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sha256(tables, messages + 64 * i, lengths[i], digests + 8 * i);
}

uint32_t root_bits(int prime, double power) {
    long double root = powl(prime, power);
    return uint32_t((root - std::floor(root)) * 4294967296.0L);
}

int main(int argc, char** argv) {
    int n = int(check::argument(argc, argv, 1, 300)), found = 0;
    Tables host;
    for (int p = 2; found < 64; p++) {
        bool prime = true;
        for (int d = 2; d * d <= p; d++) prime &= p % d != 0;
        if (!prime) continue;
        if (found < 8) host.h[found] = root_bits(p, 0.5L);
        host.k[found++] = root_bits(p, 1.0L / 3);
    }
    HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(tables), &host, sizeof host));
    check::Random random(13);
    std::vector<uint8_t> messages(64 * size_t(n));
    std::vector<unsigned> lengths(n);
    std::vector<uint32_t> want(8 * size_t(n));
    for (auto& byte : messages) byte = uint8_t(random.next());
    for (auto& length : lengths) length = random.next() % 56;
    std::memcpy(messages.data(), "abc", 3);
    lengths[0] = 3;
    for (int i = 0; i < n; i++)
        sha256(host, &messages[64 * size_t(i)], lengths[i], &want[8 * size_t(i)]);
    // FIPS 180-4's own example anchors the reference.
    const std::vector<uint32_t> abc = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                       0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    check::Device<uint8_t> dmessages(messages);
    check::Device<unsigned> dlengths(lengths);
    check::Device<uint32_t> digests(want.size());
    hash<<<check::blocks(n, 64), 64>>>(dmessages, dlengths, digests, n);
    check::launched();
    std::vector<uint32_t> got = digests.to_host();
    bool ok = check::equal("abc", std::vector<uint32_t>(got.begin(), got.begin() + 8), abc);
    ok &= check::equal("digest", got, want);
    return check::result("sha256", ok);
}
