// Searching, graphs, strings, rays: lanes that go ways of their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "bench/yardstick/cases.h"

namespace yardstick {

Bench lower_bound(Scale scale) {
    const size_t n = pick(scale, 1 << 12, 1 << 16, 1 << 20), queries = n;
    Bench b;
    b.name = "lower_bound", b.file = "irregular.cl";
    b.size = std::to_string(queries >> 10) + "K in " + std::to_string(n >> 10) + "K";
    b.work = double(queries), b.unit = "Gquery/s";
    const int sorted = b.add(4 * n), wanted = b.add(4 * queries), at = b.add(4 * queries);
    fill_u32(b.p<uint32_t>(sorted), n, 1);
    std::sort(b.p<uint32_t>(sorted), b.p<uint32_t>(sorted) + n);
    fill_u32(b.p<uint32_t>(wanted), queries, 2);
    b.launches = {launch1(
        "lower_bound", up(queries, 256), 256,
        {buffer(sorted), buffer(wanted), buffer(at), u32(uint32_t(n)), u32(uint32_t(queries))})};
    b.check = [=](Bench& b) -> std::string {
        const uint32_t* s = b.p<uint32_t>(sorted);
        for (size_t i = 0; i < queries; i++) {
            const auto want = std::lower_bound(s, s + n, b.p<uint32_t>(wanted)[i]) - s;
            if (b.p<uint32_t>(at)[i] != want)
                return bad("at", i, b.p<uint32_t>(at)[i], double(want));
        }
        return "";
    };
    return b;
}

Bench bfs(Scale scale) {
    const size_t nodes = pick(scale, 1 << 11, 1 << 16, 1 << 20);
    const uint32_t none = 0xffffffff, levels = 12;
    Bench b;
    Rng r(9);
    std::vector<uint32_t> first(nodes + 1);
    for (size_t i = 0; i < nodes; i++) first[i + 1] = first[i] + 2 + r.next() % 9;
    const size_t edges = first[nodes];
    b.name = "bfs", b.file = "irregular.cl";
    b.size = std::to_string(nodes >> 10) + "K nodes, " + std::to_string(edges >> 10) + "K edges";
    b.work = double(edges), b.unit = "Gedge/s";
    const int f = b.add(4 * (nodes + 1)), e = b.add(4 * edges), level = b.add(4 * nodes);
    memcpy(b.p<uint32_t>(f), first.data(), 4 * (nodes + 1));
    for (size_t i = 0; i < edges; i++) b.p<uint32_t>(e)[i] = uint32_t(r.next() % nodes);
    std::fill_n(b.p<uint32_t>(level), nodes, none);
    b.p<uint32_t>(level)[0] = 0;
    b.keep(level);
    for (uint32_t now = 0; now < levels; now++)
        b.launches.push_back(
            launch1("bfs", up(nodes, 256), 256,
                    {buffer(f), buffer(e), buffer(level), u32(uint32_t(nodes)), u32(now)}));
    b.check = [=](Bench& b) -> std::string {
        std::vector<uint32_t> want(nodes, none), queue{0};
        want[0] = 0;
        for (size_t at = 0; at < queue.size() && want[queue[at]] < levels; at++)
            for (uint32_t k = first[queue[at]]; k < first[queue[at] + 1]; k++)
                if (const uint32_t to = b.p<uint32_t>(e)[k]; want[to] == none)
                    want[to] = want[queue[at]] + 1, queue.push_back(to);
        return difference("level", b.p<uint32_t>(level), want);
    };
    return b;
}

Bench compact(Scale scale) {
    const size_t n = pick(scale, 1 << 13, 1 << 18, 1 << 22);
    const uint32_t limit = 0x60000000;
    Bench b;
    b.name = "compact", b.file = "irregular.cl", b.size = mb(4 * n);
    b.work = double(n), b.unit = "Gelement/s";
    const int in = b.add(4 * n), out = b.add(4 * n), count = b.add(4);
    fill_u32(b.p<uint32_t>(in), n, 1);
    b.keep(count);
    b.launches = {launch1("compact", up(n, 256), 256,
                          {buffer(in), buffer(out), buffer(count), u32(uint32_t(n)), u32(limit)})};
    b.check = [=](Bench& b) -> std::string {
        const uint32_t* p = b.p<uint32_t>(in);
        std::vector<uint32_t> want;
        std::copy_if(p, p + n, std::back_inserter(want), [](uint32_t x) { return x < limit; });
        if (*b.p<uint32_t>(count) != want.size())
            return bad("count", 0, *b.p<uint32_t>(count), double(want.size()));
        std::vector<uint32_t> got(b.p<uint32_t>(out), b.p<uint32_t>(out) + want.size());
        std::sort(want.begin(), want.end());
        std::sort(got.begin(), got.end());
        for (size_t i = 0; i < want.size(); i++)
            if (got[i] != want[i]) return bad("sorted out", i, got[i], want[i]);
        return "";
    };
    return b;
}

Bench match(Scale scale) {
    const size_t n = pick(scale, 1 << 14, 1 << 19, 1 << 24);
    const std::string text = "abacab";
    Bench b;
    b.name = "match", b.file = "irregular.cl", b.size = mb(n) + " of text";
    b.work = double(n), b.unit = "Gbyte/s";
    const int t = b.add(n), pattern = b.add(text.size()), found = b.add(n);
    Rng r(4);
    for (size_t i = 0; i < n; i++) b.p<char>(t)[i] = "abc"[r.next() % 3];
    memcpy(b.p<char>(pattern), text.data(), text.size());
    b.launches = {launch1(
        "match", up(n, 256), 256,
        {buffer(t), buffer(pattern), buffer(found), u32(uint32_t(n)), u32(uint32_t(text.size()))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i + text.size() <= n; i++) {
            const bool want = !memcmp(b.p<char>(t) + i, text.data(), text.size());
            if (b.p<uint8_t>(found)[i] != want)
                return bad("found", i, b.p<uint8_t>(found)[i], want);
        }
        return "";
    };
    return b;
}

Bench crc32(Scale scale) {
    const size_t n = pick(scale, 1 << 10, 1 << 14, 1 << 17);
    Bench b;
    b.name = "crc32", b.file = "irregular.cl", b.size = mb(256 * n);
    b.work = 256.0 * double(n), b.unit = "Gbyte/s";
    const int data = b.add(256 * n), crc = b.add(4 * n);
    fill_u32(b.p<uint32_t>(data), 64 * n, 1);
    b.launches = {launch1("crc32", n, 256, {buffer(data), buffer(crc)})};
    b.check = [=](Bench& b) -> std::string {
        auto step = [](uint32_t c, uint8_t byte) {
            c ^= byte;
            for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0xedb88320u : c >> 1;
            return c;
        };
        uint32_t known = 0xffffffff;
        for (char c : std::string("123456789")) known = step(known, uint8_t(c));
        if (~known != 0xcbf43926) return "the reference is wrong on \"123456789\"";
        for (size_t i = 0; i < n; i += 11) {
            uint32_t c = 0xffffffff;
            for (size_t k = 0; k < 64; k++)
                for (int s = 0; s < 32; s += 8)
                    c = step(c, uint8_t(b.p<uint32_t>(data)[k * n + i] >> s));
            if (b.p<uint32_t>(crc)[i] != ~c) return bad("crc", i, b.p<uint32_t>(crc)[i], ~c);
        }
        return "";
    };
    return b;
}

Bench spheres(Scale scale) {
    const size_t w = pick(scale, 128, 512, 1024), h = w, n = 64;
    Bench b;
    b.name = "spheres", b.file = "irregular.cl";
    b.size = std::to_string(w) + "x" + std::to_string(h) + ", 64 spheres";
    b.work = double(w * h * n), b.unit = "Gtest/s";
    const int sphere = b.add(16 * n), depth = b.add(4 * w * h);
    Rng r(6);
    for (size_t i = 0; i < n; i++) {
        float* s = b.p<float>(sphere) + 4 * i;
        s[0] = r.unit(), s[1] = r.unit(), s[2] = 1 + r.unit(), s[3] = r.range(0.02f, 0.2f);
    }
    b.launches = {launch2(
        "spheres", w, h, 16, 16,
        {buffer(sphere), buffer(depth), u32(uint32_t(w)), u32(uint32_t(h)), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < w * h; i++) {
            const float px = float(i % w) / float(w), py = float(i / w) / float(h);
            double want = INFINITY;
            bool grazed = false;  // where rounding decides
            for (size_t k = 0; k < n; k++) {
                const float* s = b.p<float>(sphere) + 4 * k;
                const double dx = double(px) - s[0], dy = double(py) - s[1],
                             q = double(s[3]) * s[3] - dx * dx - dy * dy;
                grazed |= std::fabs(q) < 1e-6;
                if (q > 0) want = std::min(want, s[2] - std::sqrt(q));
            }
            const float got = b.p<float>(depth)[i];
            if (!grazed && !(std::isinf(want) ? std::isinf(got) : near(got, want, 1e-5, 1e-4)))
                return bad("depth", i, got, want);
        }
        return "";
    };
    return b;
}

Bench levenshtein(Scale scale) {
    const size_t n = pick(scale, 1 << 9, 1 << 12, 1 << 16), length = 32;
    Bench b;
    b.name = "levenshtein", b.file = "irregular.cl";
    b.size = std::to_string(n) + " pairs of " + std::to_string(length);
    b.work = double(n * length * length), b.unit = "Gcell/s";
    const int x = b.add(n * length), y = b.add(n * length), distance = b.add(4 * n);
    Rng r(2);
    for (int text : {x, y})
        for (size_t i = 0; i < n * length; i++) b.p<char>(text)[i] = "abcd"[r.next() % 4];
    b.launches = {launch1("levenshtein", n, 256,
                          {buffer(x), buffer(y), buffer(distance), u32(uint32_t(length))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i += 5) {
            const char *s = b.p<char>(x) + i * length, *t = b.p<char>(y) + i * length;
            std::vector<std::vector<uint32_t>> d(length + 1, std::vector<uint32_t>(length + 1));
            for (size_t k = 0; k <= length; k++) d[k][0] = d[0][k] = uint32_t(k);
            for (size_t j = 1; j <= length; j++)
                for (size_t k = 1; k <= length; k++)
                    d[j][k] = std::min({d[j - 1][k] + 1, d[j][k - 1] + 1,
                                        d[j - 1][k - 1] + (s[j - 1] != t[k - 1])});
            if (b.p<uint32_t>(distance)[i] != d[length][length])
                return bad("distance", i, b.p<uint32_t>(distance)[i], d[length][length]);
        }
        return "";
    };
    return b;
}

Bench sums_by_size(Scale scale) {
    const size_t n = pick(scale, 1 << 13, 1 << 17, 1 << 22), bins = 1024;
    Bench b;
    b.name = "sums_by_size", b.file = "irregular.cl", b.size = mb(4 * n);
    b.work = double(n), b.unit = "Gadd/s";
    const int in = b.add(4 * n), sums = b.add(4 * bins);
    fill(b.p<float>(in), n, 1, 0, 1);
    b.keep(sums);
    b.launches = {
        launch1("sums_by_size", up(n, 256), 256, {buffer(in), buffer(sums), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        std::vector<double> want(bins);
        for (size_t i = 0; i < n; i++) {
            const float x = b.p<float>(in)[i];
            want[size_t(x * 1024.0f) % bins] += x;
        }
        for (size_t i = 0; i < bins; i++)
            if (!near(b.p<float>(sums)[i], want[i], 1e-3, 1e-3))
                return bad("sums", i, b.p<float>(sums)[i], want[i]);
        return "";
    };
    return b;
}

Bench collatz(Scale scale) {
    const size_t n = pick(scale, 1 << 11, 1 << 16, 1 << 20);
    Bench b;
    b.name = "collatz", b.file = "irregular.cl", b.size = "1 to " + std::to_string(n);
    b.work = double(n), b.unit = "Gnumber/s";
    const int steps = b.add(4 * n);
    b.launches = {launch1("collatz", up(n, 256), 256, {buffer(steps), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            uint32_t want = 0;
            for (uint64_t v = i + 1; v != 1; want++) v = v % 2 ? 3 * v + 1 : v / 2;
            if (b.p<uint32_t>(steps)[i] != want)
                return bad("steps", i, b.p<uint32_t>(steps)[i], want);
        }
        return "";
    };
    return b;
}

}  // namespace yardstick
