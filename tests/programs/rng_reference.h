// Independent CPU models of rocRAND's generators: the published recurrences (Salmon et al. 2011 for
// Philox, Marsaglia 2003 for XORWOW, L'Ecuyer 1999 for MRG32k3a, Saito and Matsumoto 2013 for
// MTGP32, Joe and Kuo 2008 for Sobol), with rocRAND's seeding and with its order of outputs: slot i
// of a call is made by engine (start + i) mod engines. Skip-ahead is done by matrix powers computed
// here, not by rocRAND's tables.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace rng {

// Hands out the words that the outputs of one call are made of: a slot (one vector of outputs)
// takes `width` of them.
struct Source {
    virtual ~Source() = default;
    virtual void begin(size_t slots, unsigned width) = 0;
    virtual uint32_t word(size_t slot, unsigned k) = 0;
    virtual void end() = 0;

protected:
    size_t slots_ = 0;
    unsigned width_ = 0;
};

class Philox : public Source {
public:
    explicit Philox(uint64_t seed) : seed_(seed) {}
    void begin(size_t slots, unsigned width) override { slots_ = slots, width_ = width; }
    uint32_t word(size_t slot, unsigned k) override { return at(position_ + slot * width_ + k); }
    void end() override { position_ += slots_ * width_; }

    uint32_t at(uint64_t i) const {
        uint32_t c[4] = {uint32_t(i / 4), uint32_t(i / 4 >> 32), 0, 0},
                 key[2] = {uint32_t(seed_), uint32_t(seed_ >> 32)};
        for (int round = 0; round < 10; round++) {
            uint64_t a = uint64_t(0xD2511F53u) * c[0], b = uint64_t(0xCD9E8D57u) * c[2];
            uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ key[0], uint32_t(b),
                                uint32_t(a >> 32) ^ c[3] ^ key[1], uint32_t(a)};
            for (int k = 0; k < 4; k++) c[k] = next[k];
            key[0] += 0x9E3779B9u;
            key[1] += 0xBB67AE85u;
        }
        return c[i % 4];
    }

private:
    uint64_t seed_, position_ = 0;
};

// Many engines, engine e at subsequence e; every engine is a small object with next().
template <class Engine>
class Engines : public Source {
public:
    static constexpr size_t count = 512 * 256;
    explicit Engines(uint64_t seed) : engines_(Engine::sequence(seed, count)) {}
    void begin(size_t slots, unsigned width) override {
        slots_ = slots, width_ = width;
        words_.resize(slots * width);
        for (size_t slot = 0; slot < slots; slot++)
            for (unsigned k = 0; k < width; k++)
                words_[slot * width + k] = engines_[(start_ + slot) % count].next();
    }
    uint32_t word(size_t slot, unsigned k) override { return words_[slot * width_ + k]; }
    void end() override { start_ = (start_ + slots_) % count; }

private:
    std::vector<Engine> engines_;
    std::vector<uint32_t> words_;
    size_t start_ = 0;
};

struct Xorwow {
    std::array<uint32_t, 5> x;
    uint32_t d;

    void step() {
        uint32_t t = x[0] ^ x[0] >> 2;
        x = {x[1], x[2], x[3], x[4], (x[4] ^ x[4] << 4) ^ (t ^ t << 1)};
    }
    uint32_t next() {
        step();
        d += 362437;
        return d + x[4];
    }

    // 160 x 160 bits: column b is the image of the state with only bit b set.
    using Matrix = std::vector<std::array<uint32_t, 5>>;
    static std::array<uint32_t, 5> apply(const Matrix& m, const std::array<uint32_t, 5>& v) {
        std::array<uint32_t, 5> r{};
        for (int b = 0; b < 160; b++)
            if (v[b / 32] >> b % 32 & 1)
                for (int k = 0; k < 5; k++) r[k] ^= m[b][k];
        return r;
    }
    static std::vector<Xorwow> sequence(uint64_t seed, size_t count) {
        Xorwow e{{123456789u, 362436069u, 521288629u, 88675123u, 5783321u}, 6615241u};
        uint32_t t0 = 1228688033u * (uint32_t(seed) ^ 0x2c7f967fu),
                 t1 = 2073658381u * (uint32_t(seed >> 32) ^ 0xa03697cbu);
        e.x = {e.x[0] + t0, e.x[1] ^ t0, e.x[2] + t1, e.x[3] ^ t1, e.x[4] + t0};
        e.d += t1 + t0;
        Matrix m(160);
        for (int b = 0; b < 160; b++) {
            Xorwow unit{};
            unit.x[b / 32] = 1u << b % 32;
            unit.step();
            m[b] = unit.x;
        }
        for (int i = 0; i < 67; i++) {
            Matrix squared(160);
            for (int b = 0; b < 160; b++) squared[b] = apply(m, m[b]);
            m = squared;
        }
        // The counter d moves by 362437 * 2^67, which is 0 modulo 2^32.
        std::vector<Xorwow> engines;
        for (size_t i = 0; i < count; i++) {
            engines.push_back(e);
            e.x = apply(m, e.x);
        }
        return engines;
    }
};

struct Mrg32k3a {
    static constexpr uint64_t m1 = 4294967087u, m2 = 4294944443u;
    // rocRAND's comments say 2^67, but its matrix is the 2^76th power, as in L'Ecuyer's streams.
    static constexpr int subsequence_log2 = 76;
    std::array<uint64_t, 3> a, b;

    uint32_t next() {
        uint64_t p = (1403580 * a[1] + 810728 * (m1 - a[0])) % m1,
                 q = (527612 * b[2] + 1370589 * (m2 - b[0])) % m2;
        a = {a[1], a[2], p};
        b = {b[1], b[2], q};
        return uint32_t(p > q ? p - q : p + m1 - q);
    }

    using Matrix = std::array<std::array<uint64_t, 3>, 3>;
    static std::array<uint64_t, 3> apply(const Matrix& m, const std::array<uint64_t, 3>& v,
                                         uint64_t modulus) {
        std::array<uint64_t, 3> r{};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) r[i] = (r[i] + m[i][j] * v[j] % modulus) % modulus;
        return r;
    }
    static Matrix power(Matrix m, int squarings, uint64_t modulus) {
        for (int s = 0; s < squarings; s++) {
            Matrix r{};
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    for (int k = 0; k < 3; k++)
                        r[i][j] = (r[i][j] + m[i][k] * m[k][j] % modulus) % modulus;
            m = r;
        }
        return m;
    }
    static std::vector<Mrg32k3a> sequence(uint64_t seed, size_t count) {
        if (seed == 0) seed = 12345;
        uint64_t x = uint32_t(seed) ^ 0x55555555u, y = uint32_t(seed >> 32) ^ 0xAAAAAAAAu;
        auto times = [](uint64_t p, uint64_t q, uint64_t m) {
            return uint64_t((unsigned __int128)p * q % m);
        };
        Mrg32k3a e{{times(x, seed, m1), times(y, seed, m1), times(x, seed, m1)},
                   {times(y, seed, m2), times(x, seed, m2), times(y, seed, m2)}};
        Matrix p = power({{{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}}}, subsequence_log2, m1);
        Matrix q = power({{{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}}}, subsequence_log2, m2);
        std::vector<Mrg32k3a> engines;
        for (size_t i = 0; i < count; i++) {
            engines.push_back(e);
            e.a = apply(p, e.a, m1);
            e.b = apply(q, e.b, m2);
        }
        return engines;
    }
};

// 512 Mersenne twisters with parameters of their own; work-group b's 256 threads take 256
// successive words at once.
template <class Parameters>
class Mtgp32 : public Source {
public:
    static constexpr size_t groups = 512, threads = 256;
    Mtgp32(const Parameters* table, uint64_t seed)
        : table_(table), states_(groups), positions_(groups, 0) {
        for (size_t g = 0; g < groups; g++) {
            const Parameters& p = table[g];
            uint32_t hidden = p.tbl[4] ^ p.tbl[8] << 16, fill = hidden;
            fill += fill >> 16;
            fill += fill >> 8;
            auto& s = states_[g];
            s.assign(351, (fill & 0xff) * 0x01010101u);
            s[0] = uint32_t(seed ^ seed >> 32) + uint32_t(g) + 1;
            s[1] = hidden;
            for (uint32_t i = 1; i < 351; i++)
                s[i] ^= 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
        }
    }
    void begin(size_t slots, unsigned width) override { slots_ = slots, width_ = width; }
    uint32_t word(size_t slot, unsigned k) override {
        size_t group = slot / threads % groups, round = slot / (threads * groups);
        return at(group, positions_[group] + (round * width_ + k) * threads + slot % threads);
    }
    void end() override {
        for (size_t g = 0; g < groups; g++)
            for (size_t first = g * threads; first < slots_; first += groups * threads)
                positions_[g] += width_ * threads;
    }

private:
    uint32_t at(size_t group, size_t i) {
        const Parameters& p = table_[group];
        auto& s = states_[group];
        while (s.size() <= i + 351) {
            size_t n = s.size() - 351;
            uint32_t x = (s[n] & table_[0].mask) ^ s[n + 1];
            x ^= x << p.sh1;
            uint32_t y = x ^ s[n + p.pos] >> p.sh2;
            s.push_back(y ^ p.tbl[y & 15]);
        }
        uint32_t t = s[i + p.pos - 1];
        t ^= t >> 16;
        t ^= t >> 8;
        return s[i + 351] ^ p.tmp_tbl[t & 15];
    }
    const Parameters* table_;
    std::vector<std::vector<uint32_t>> states_;
    std::vector<size_t> positions_;
};

// Point `index` of one dimension, by the Gray code of the index.
template <class Word>
Word sobol(const Word* directions, uint64_t index) {
    Word r = 0;
    uint64_t gray = index ^ index >> 1;
    for (int b = 0; gray >> b; b++)
        if (gray >> b & 1) r ^= directions[b];
    return r;
}

}  // namespace rng
