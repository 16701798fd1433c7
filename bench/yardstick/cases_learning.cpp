// Layers of networks, and filters: nested loops, narrow types, table lookups.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/yardstick/cases.h"

namespace yardstick {

static Bench named(const char* name, std::string size, double work, const char* unit) {
    return of_file("learning.cl", name, std::move(size), work, unit);
}

Bench conv_layer(Scale scale) {
    const size_t n = pick(scale, 16, 32, 64), channels = pick(scale, 4, 8, 32),
                 outs = pick(scale, 2, 8, 32), size = 3, wide = n + size - 1;
    Bench b = named("conv_layer", std::to_string(channels) + " x " + std::to_string(n) + "^2",
                    2.0 * double(n * n * channels * outs * size * size), "GFLOP/s");
    const int in = b.add(4 * wide * wide * channels),
              weight = b.add(4 * channels * outs * size * size), out = b.add(4 * n * n * outs);
    fill(b.p<float>(in), wide * wide * channels, 1, -1, 1);
    fill(b.p<float>(weight), channels * outs * size * size, 2, -1, 1);
    b.launches = {{"conv_layer",
                   {n, n, outs},
                   {16, 16, 1},
                   {buffer(in), buffer(weight), buffer(out), i32(int(n)), i32(int(channels)),
                    i32(int(size))}}};
    b.check = [=](Bench& b) -> std::string {
        for (size_t k = 0; k < outs; k++)
            for (size_t i = k % 5; i < n * n; i += 5) {
                double want = 0;
                for (size_t c = 0; c < channels; c++)
                    for (size_t d = 0; d < size * size; d++)
                        want += double(b.p<float>(
                                    in)[(c * wide + i / n + d / size) * wide + i % n + d % size]) *
                                b.p<float>(weight)[(k * channels + c) * size * size + d];
                if (!near(b.p<float>(out)[k * n * n + i], want, 1e-4, 1e-4))
                    return bad("out", k * n * n + i, b.p<float>(out)[k * n * n + i], want);
            }
        return "";
    };
    return b;
}

Bench max_pool(Scale scale) {
    const size_t n = pick(scale, 32, 256, 1024);
    Bench b = named("max_pool", std::to_string(2 * n) + "^2", double(20 * n * n), "GB/s");
    const int in = b.add(16 * n * n), out = b.add(4 * n * n);
    fill(b.p<float>(in), 4 * n * n, 1, -1, 1);
    b.launches = {launch2("max_pool", n, n, 32, 8, {buffer(in), buffer(out), i32(int(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n * n; i++) {
            const float* p = b.p<float>(in) + i / n * 4 * n + i % n * 2;
            const float want = std::max({0.0f, p[0], p[1], p[2 * n], p[2 * n + 1]});
            if (b.p<float>(out)[i] != want) return bad("out", i, b.p<float>(out)[i], want);
        }
        return "";
    };
    return b;
}

Bench layer_norm(Scale scale) {
    const size_t rows = pick(scale, 8, 128, 2048), n = 1024;
    Bench b = named("layer_norm", std::to_string(rows) + " x 1024", double(8 * rows * n), "GB/s");
    const int in = b.add(4 * rows * n), gain = b.add(4 * n), bias = b.add(4 * n),
              out = b.add(4 * rows * n);
    fill(b.p<float>(in), rows * n, 1, -1, 3);
    fill(b.p<float>(gain), n, 2, 0, 1);
    fill(b.p<float>(bias), n, 3, -1, 1);
    b.launches = {launch1("layer_norm", rows * 256, 256,
                          {buffer(in), buffer(gain), buffer(bias), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t r = 0; r < rows; r++) {
            const float* p = b.p<float>(in) + r * n;
            double s = 0, q = 0;
            for (size_t i = 0; i < n; i++) s += p[i], q += double(p[i]) * p[i];
            const double mean = s / double(n),
                         to = 1 / std::sqrt(q / double(n) - mean * mean + 1e-5);
            for (size_t i = 0; i < n; i++) {
                const double want = (p[i] - mean) * to * b.p<float>(gain)[i] + b.p<float>(bias)[i];
                if (!near(b.p<float>(out)[r * n + i], want, 1e-4, 1e-4))
                    return bad("out", r * n + i, b.p<float>(out)[r * n + i], want);
            }
        }
        return "";
    };
    return b;
}

Bench gelu_f16(Scale scale) {
    const size_t n = pick(scale, 1 << 13, 1 << 18, 1 << 22);
    Bench b = named("gelu_f16", mb(2 * n), double(n), "Gelement/s");
    const int in = b.add(2 * n), out = b.add(2 * n);
    fill(b.p<_Float16>(in), n, 1, -4, 4);
    b.launches = {launch1("gelu_f16", n, 256, {buffer(in), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            const double x = double(b.p<_Float16>(in)[i]);
            const double want = x / (1 + std::exp(-2 * 0.7978845608 * (x + 0.044715 * x * x * x)));
            const double got = double(b.p<_Float16>(out)[i]);
            if (!near(got, want, 1e-3, 1e-6)) return bad("out", i, got, want);
        }
        return "";
    };
    return b;
}

Bench embedding_bag(Scale scale) {
    const size_t words = pick(scale, 256, 4096, 65536), bags = pick(scale, 16, 256, 4096), bag = 32,
                 width = 64;
    Bench b = named("embedding_bag", mb(4 * words * width), double(4 * bags * bag * width), "GB/s");
    const int table = b.add(4 * words * width), ids = b.add(4 * bags * bag),
              weight = b.add(4 * bags * bag), out = b.add(4 * bags * width);
    fill(b.p<float>(table), words * width, 1, -1, 1);
    fill(b.p<float>(weight), bags * bag, 2, 0, 1);
    Rng r(9);
    for (size_t i = 0; i < bags * bag; i++) b.p<uint32_t>(ids)[i] = uint32_t(r.next() % words);
    b.launches = {launch1("embedding_bag", bags * width, width,
                          {buffer(table), buffer(ids), buffer(weight), buffer(out),
                           u32(uint32_t(bag)), u32(uint32_t(width))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t g = 0; g < bags; g++)
            for (size_t x = 0; x < width; x++) {
                double want = 0;
                for (size_t k = g * bag; k < (g + 1) * bag; k++)
                    want += double(b.p<float>(weight)[k]) *
                            b.p<float>(table)[b.p<uint32_t>(ids)[k] * width + x];
                if (!near(b.p<float>(out)[g * width + x], want, 1e-5, 1e-4))
                    return bad("out", g * width + x, b.p<float>(out)[g * width + x], want);
            }
        return "";
    };
    return b;
}

Bench quantize(Scale scale) {
    const size_t n = pick(scale, 64, 256, 512), rows = pick(scale, 16, 128, 2048);
    Bench b = named("quantize", mb(16 * n * rows), double(20 * n * rows), "GB/s");
    const int in = b.add(16 * n * rows), by = b.add(4 * rows), out = b.add(4 * n * rows);
    fill(b.p<float>(in), 4 * n * rows, 1, -1.2f, 1.2f);
    fill(b.p<float>(by), rows, 2, 100, 127);
    b.launches = {launch2("quantize", n, rows, 64, 1,
                          {buffer(in), buffer(by), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < 4 * n * rows; i++) {
            const float v = b.p<float>(in)[i] * b.p<float>(by)[i / (4 * n)];
            const int want = int(std::clamp(std::nearbyint(v), -128.0f, 127.0f));
            if (b.p<int8_t>(out)[i] != want) return bad("out", i, b.p<int8_t>(out)[i], want);
        }
        return "";
    };
    return b;
}

Bench small_products(Scale scale) {
    const size_t n = pick(scale, 1 << 10, 1 << 14, 1 << 17);
    Bench b =
        named("small_products", std::to_string(n >> 10) + "K 4 x 4", 128.0 * double(n), "GFLOP/s");
    const int x = b.add(64 * n), y = b.add(64 * n), z = b.add(64 * n);
    fill(b.p<float>(x), 16 * n, 1, -1, 1);
    fill(b.p<float>(y), 16 * n, 2, -1, 1);
    b.launches = {
        launch1("small_products", n, 256, {buffer(x), buffer(y), buffer(z), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++)
            for (size_t e = 0; e < 16; e++) {
                double want = 0;
                for (size_t k = 0; k < 4; k++)
                    want += double(b.p<float>(x)[16 * i + e / 4 * 4 + k]) *
                            b.p<float>(y)[16 * i + 4 * k + e % 4];
                if (!near(b.p<float>(z)[16 * i + e], want, 1e-5, 1e-5))
                    return bad("c", 16 * i + e, b.p<float>(z)[16 * i + e], want);
            }
        return "";
    };
    return b;
}

Bench bilateral(Scale scale) {
    const int n = int(pick(scale, 32, 128, 512)), radius = 3;
    const float space = 0.08f, range = 4;
    Bench b = named("bilateral", std::to_string(n) + "^2, 7 x 7", 49.0 * n * n, "Gtap/s");
    const size_t size = size_t(n) * size_t(n);
    const int in = b.add(4 * size), out = b.add(4 * size);
    fill(b.p<float>(in), size, 1, 0, 1);
    b.launches = {
        launch2("bilateral", size_t(n), size_t(n), 16, 16,
                {buffer(in), buffer(out), i32(n), i32(n), i32(radius), f32(space), f32(range)})};
    b.check = [=](Bench& b) -> std::string {
        const float* p = b.p<float>(in);
        for (int i = 0; i < n * n; i += 11) {
            double sum = 0, all = 0;
            for (int dy = -radius; dy <= radius; dy++)
                for (int dx = -radius; dx <= radius; dx++) {
                    const int y = std::clamp(i / n + dy, 0, n - 1),
                              x = std::clamp(i % n + dx, 0, n - 1);
                    const double v = p[y * n + x], d = v - p[i];
                    const double w = std::exp(-(dx * dx + dy * dy) * space - d * d * range);
                    sum += w * v, all += w;
                }
            if (!near(b.p<float>(out)[i], sum / all, 1e-5, 1e-5))
                return bad("out", size_t(i), b.p<float>(out)[i], sum / all);
        }
        return "";
    };
    return b;
}

Bench to_hsv(Scale scale) {
    const size_t n = pick(scale, 1 << 12, 1 << 17, 1 << 21);
    Bench b = named("to_hsv", std::to_string(n >> 10) + "K pixels", double(n), "Gpixel/s");
    const int in = b.add(4 * n), out = b.add(16 * n);
    fill_u32(b.p<uint32_t>(in), n, 3);
    b.launches = {launch1("to_hsv", n, 256, {buffer(in), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i += 3) {
            const uint8_t* p = b.p<uint8_t>(in) + 4 * i;
            const int top = std::max({p[0], p[1], p[2]}), d = top - std::min({p[0], p[1], p[2]});
            double h = 0;
            if (d > 0) {
                h = top == p[0]   ? double(p[1] - p[2]) / d
                    : top == p[1] ? 2 + double(p[2] - p[0]) / d
                                  : 4 + double(p[0] - p[1]) / d;
                if (h < 0) h += 6;
            }
            const double want[] = {60 * h, top ? double(d) / top : 0, top / 255.0, p[3] / 255.0};
            for (size_t k = 0; k < 4; k++)
                if (!near(b.p<float>(out)[4 * i + k], want[k], 1e-5, 1e-3))
                    return bad("out", 4 * i + k, b.p<float>(out)[4 * i + k], want[k]);
        }
        return "";
    };
    return b;
}

Bench noise(Scale scale) {
    const size_t n = pick(scale, 64, 256, 1024);
    const uint32_t octaves = 4;
    Bench b =
        named("noise", std::to_string(n) + "^2, 4 octaves", double(n * n * octaves), "Gpoint/s");
    const int table = b.add(1024), out = b.add(4 * n * n);
    Rng r(4);
    for (size_t i = 0; i < 1024; i++) b.p<uint8_t>(table)[i] = uint8_t(r.next());
    b.launches = {launch2("noise", n, n, 16, 16,
                          {buffer(table), buffer(out), u32(uint32_t(n)), u32(octaves)})};
    b.check = [=](Bench& b) -> std::string {
        const uint8_t* t = b.p<uint8_t>(table);
        auto fade = [](double v) { return v * v * v * (v * (v * 6 - 15) + 10); };
        auto slope = [](uint32_t h, double x, double y) {
            return (h & 1 ? x : -x) + (h & 2 ? y : -y);
        };
        for (size_t i = 0; i < n * n; i += 5) {
            double x = double(i % n) * 8 / double(n), y = double(i / n) * 8 / double(n), want = 0,
                   size = 1;
            for (uint32_t o = 0; o < octaves; o++) {
                const double u = x - std::floor(x), v = y - std::floor(y);
                const uint32_t ix = uint32_t(x) & 255, iy = uint32_t(y) & 255;
                const uint32_t l = t[ix] + iy, h = t[ix + 1] + iy;
                const double s = fade(u), w = fade(v);
                const double top = std::lerp(slope(t[l], u, v), slope(t[h], u - 1, v), s);
                const double low =
                    std::lerp(slope(t[l + 1], u, v - 1), slope(t[h + 1], u - 1, v - 1), s);
                want += size * std::lerp(top, low, w);
                size /= 2, x *= 2, y *= 2;
            }
            if (!near(b.p<float>(out)[i], want, 1e-4, 1e-4))
                return bad("out", i, b.p<float>(out)[i], want);
        }
        return "";
    };
    return b;
}

Bench base64(Scale scale) {
    const size_t n = pick(scale, 1 << 12, 1 << 17, 1 << 21);
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Bench b = named("base64", mb(3 * n), double(3 * n), "GB/s");
    const int in = b.add(3 * n), out = b.add(4 * n), table = b.add(64);
    Rng r(7);
    for (size_t i = 0; i < 3 * n; i++) b.p<uint8_t>(in)[i] = uint8_t(r.next());
    memcpy(b.p<char>(table), letters, 64);
    b.launches = {
        launch1("base64", n, 256, {buffer(in), buffer(out), buffer(table), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < 4 * n; i++) {
            const uint8_t* p = b.p<uint8_t>(in) + i / 4 * 3;
            const uint32_t v = uint32_t(p[0] << 16 | p[1] << 8 | p[2]);
            const char want = letters[v >> (18 - 6 * (i % 4)) & 63];
            if (b.p<char>(out)[i] != want) return bad("out", i, b.p<char>(out)[i], want);
        }
        return "";
    };
    return b;
}

Bench count_digits(Scale scale) {
    const size_t groups = pick(scale, 4, 64, 1024), n = groups * 4096;
    const uint32_t shift = 8;
    Bench b = named("count_digits", std::to_string(n >> 10) + "K u32", double(n), "Gkey/s");
    const int in = b.add(4 * n), counts = b.add(4 * 16 * groups);
    fill_u32(b.p<uint32_t>(in), n, 3);
    b.launches = {
        launch1("count_digits", groups * 64, 64, {buffer(in), buffer(counts), u32(shift)})};
    b.check = [=](Bench& b) -> std::string {
        std::vector<uint32_t> want(16 * groups);
        for (size_t i = 0; i < n; i++)
            want[(b.p<uint32_t>(in)[i] >> shift & 15) * groups + i / 4096]++;
        for (size_t i = 0; i < want.size(); i++)
            if (b.p<uint32_t>(counts)[i] != want[i])
                return bad("counts", i, b.p<uint32_t>(counts)[i], want[i]);
        return "";
    };
    return b;
}

Bench running_sums(Scale scale) {
    const size_t n = pick(scale, 1 << 14, 1 << 18, 1 << 22);
    Bench b =
        named("running_sums", std::to_string(n >> 10) + "K u32, by 16", double(8 * n), "GB/s");
    const int in = b.add(4 * n), out = b.add(4 * n);
    fill_u32(b.p<uint32_t>(in), n, 3);
    b.launches = {
        launch1("running_sums", n / 16, 256, {buffer(in), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        uint32_t sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum = (i % 16 ? sum : 0) + b.p<uint32_t>(in)[i];
            if (b.p<uint32_t>(out)[i] != sum) return bad("out", i, b.p<uint32_t>(out)[i], sum);
        }
        return "";
    };
    return b;
}

Bench invert(Scale scale) {
    const size_t n = pick(scale, 1 << 12, 1 << 17, 1 << 22);
    Bench b = named("invert", std::to_string(n >> 10) + "K pixels", double(6 * n), "GB/s");
    const int in = b.add(3 * n), out = b.add(3 * n);
    Rng r(7);
    for (size_t i = 0; i < 3 * n; i++) b.p<uint8_t>(in)[i] = uint8_t(r.next());
    b.launches = {launch1("invert", n, 256, {buffer(in), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < 3 * n; i++) {
            const int want = 255 - b.p<uint8_t>(in)[i];
            if (b.p<uint8_t>(out)[i] != want) return bad("out", i, b.p<uint8_t>(out)[i], want);
        }
        return "";
    };
    return b;
}

Bench resize(Scale scale) {
    const size_t n = pick(scale, 64, 256, 1024), wide = 2 * n;
    const float step = 0.4999f;
    Bench b = named("resize", std::to_string(n) + "^2 to " + std::to_string(wide) + "^2",
                    double(wide * wide), "Gpixel/s");
    const int in = b.add(4 * n * n), out = b.add(4 * wide * wide);
    fill(b.p<float>(in), n * n, 1, 0, 1);
    b.launches = {launch2("resize", wide, wide, 64, 4,
                          {buffer(in), buffer(out), u32(uint32_t(n)), u32(uint32_t(n)),
                           u32(uint32_t(wide)), f32(step)})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < wide * wide; i += 3) {
            const float fx = float(i % wide) * step, fy = float(i / wide) * step;
            const auto l = size_t(fx), t = size_t(fy);
            const double u = fx - float(l), v = fy - float(t);
            auto at = [&](size_t y, size_t x) {
                return double(b.p<float>(in)[std::min(y, n - 1) * n + std::min(x, n - 1)]);
            };
            const double want = std::lerp(std::lerp(at(t, l), at(t, l + 1), u),
                                          std::lerp(at(t + 1, l), at(t + 1, l + 1), u), v);
            if (!near(b.p<float>(out)[i], want, 1e-5, 1e-5))
                return bad("out", i, b.p<float>(out)[i], want);
        }
        return "";
    };
    return b;
}

Bench distances(Scale scale) {
    const size_t n = pick(scale, 1 << 10, 1 << 14, 1 << 18), dimensions = 24;
    Bench b = named("distances", std::to_string(n >> 10) + "K x 24", 3.0 * double(n * dimensions),
                    "GFLOP/s");
    const int points = b.add(4 * n * dimensions), from = b.add(4 * dimensions), out = b.add(4 * n);
    fill(b.p<float>(points), n * dimensions, 1, -1, 1);
    fill(b.p<float>(from), dimensions, 2, -1, 1);
    b.launches = {launch1(
        "distances", n, 256,
        {buffer(points), buffer(from), buffer(out), u32(uint32_t(dimensions)), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            double want = 0;
            for (size_t k = 0; k < dimensions; k++) {
                const double d =
                    double(b.p<float>(points)[i * dimensions + k]) - b.p<float>(from)[k];
                want += d * d;
            }
            if (!near(b.p<float>(out)[i], want, 1e-5, 1e-5))
                return bad("out", i, b.p<float>(out)[i], want);
        }
        return "";
    };
    return b;
}

}  // namespace yardstick
