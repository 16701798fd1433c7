// Dense arithmetic: matrix times vector, Fourier transforms, clusters, paths, random numbers,
// doubles.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "bench/yardstick/cases.h"

namespace yardstick {

Bench gemv(Scale scale) {
    const size_t n = pick(scale, 256, 1024, 4096);
    Bench b;
    b.name = "gemv", b.file = "numeric.cl", b.size = std::to_string(n) + "^2 f32";
    b.work = 2.0 * double(n * n), b.unit = "GFLOP/s";
    const int a = b.add(4 * n * n), x = b.add(4 * n), y = b.add(4 * n);
    fill(b.p<float>(a), n * n, 1, -1, 1);
    fill(b.p<float>(x), n, 2, -1, 1);
    b.launches = {
        launch1("gemv", n * 256, 256, {buffer(a), buffer(x), buffer(y), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            double want = 0;
            for (size_t k = 0; k < n; k++)
                want += double(b.p<float>(a)[i * n + k]) * b.p<float>(x)[k];
            if (!near(b.p<float>(y)[i], want, 1e-5, 1e-4))
                return bad("y", i, b.p<float>(y)[i], want);
        }
        return "";
    };
    return b;
}

Bench fft1024(Scale scale) {
    const size_t lines = pick(scale, 8, 128, 2048), n = lines * 1024;
    Bench b;
    b.name = "fft1024", b.file = "numeric.cl", b.size = std::to_string(lines) + " x 1024 c32";
    b.work = 5.0 * 10 * double(n), b.unit = "GFLOP/s";
    const int in = b.add(8 * n), out = b.add(8 * n);
    fill(b.p<float>(in), 2 * n, 1, -1, 1);
    b.launches = {launch1("fft1024", lines * 256, 256, {buffer(in), buffer(out)})};
    // The definition, for some of the frequencies of some lines.
    b.check = [=](Bench& b) -> std::string {
        const float *p = b.p<float>(in), *q = b.p<float>(out);
        for (size_t line = 0; line < lines; line += std::max<size_t>(1, lines / 8))
            for (size_t f = line % 7; f < 1024; f += 13) {
                std::complex<double> want = 0;
                for (size_t i = 0; i < 1024; i++)
                    want += std::polar(1.0, -2 * M_PI * double(f * i % 1024) / 1024) *
                            std::complex<double>(p[2 * (line * 1024 + i)],
                                                 p[2 * (line * 1024 + i) + 1]);
                const size_t at = 2 * (line * 1024 + f);
                if (!near(q[at], want.real(), 1e-4, 1e-3))
                    return bad("out", at, q[at], want.real());
                if (!near(q[at + 1], want.imag(), 1e-4, 1e-3))
                    return bad("out", at + 1, q[at + 1], want.imag());
            }
        return "";
    };
    return b;
}

Bench kmeans(Scale scale) {
    const size_t n = pick(scale, 1 << 13, 1 << 17, 1 << 20), clusters = 16;
    Bench b;
    b.name = "kmeans", b.file = "numeric.cl",
    b.size = std::to_string(n >> 10) + "K x 8, 16 centres";
    b.work = 24.0 * double(n * clusters), b.unit = "GFLOP/s";
    const int points = b.add(4 * 8 * n), centres = b.add(4 * 8 * clusters), nearest = b.add(4 * n);
    fill(b.p<float>(points), 8 * n, 1, -1, 1);
    fill(b.p<float>(centres), 8 * clusters, 2, -1, 1);
    b.launches = {launch1("kmeans", up(n, 256), 256,
                          {buffer(points), buffer(centres), buffer(nearest), u32(uint32_t(n)),
                           u32(uint32_t(clusters))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            auto distance = [&](size_t c) {
                double sum = 0;
                for (size_t d = 0; d < 8; d++) {
                    const double t =
                        double(b.p<float>(points)[8 * i + d]) - b.p<float>(centres)[8 * c + d];
                    sum += t * t;
                }
                return sum;
            };
            double least = INFINITY;
            for (size_t c = 0; c < clusters; c++) least = std::min(least, distance(c));
            const uint32_t got = b.p<uint32_t>(nearest)[i];
            if (got >= clusters || !near(distance(got), least, 1e-5, 1e-6))
                return bad("distance of nearest", i, got < clusters ? distance(got) : got, least);
        }
        return "";
    };
    return b;
}

Bench floyd(Scale scale) {
    const size_t n = pick(scale, 32, 128, 512);
    Bench b;
    b.name = "floyd", b.file = "numeric.cl", b.size = std::to_string(n) + " nodes";
    b.work = double(n) * double(n) * double(n), b.unit = "Gstep/s";
    const int d = b.add(4 * n * n);
    fill(b.p<float>(d), n * n, 1, 1, 100);
    b.keep(d);
    for (uint32_t k = 0; k < n; k++)
        b.launches.push_back(launch2("floyd", n, n, 16, 16, {buffer(d), u32(uint32_t(n)), u32(k)}));
    b.check = [=](Bench& b) -> std::string {
        std::vector<float> want(n * n);
        memcpy(want.data(), b.bufs[size_t(d)].init.data(), 4 * n * n);
        for (size_t k = 0; k < n; k++)
            for (size_t y = 0; y < n; y++)
                for (size_t x = 0; x < n; x++)
                    want[y * n + x] = std::min(want[y * n + x], want[y * n + k] + want[k * n + x]);
        for (size_t i = 0; i < n * n; i++)
            if (b.p<float>(d)[i] != want[i]) return bad("d", i, b.p<float>(d)[i], want[i]);
        return "";
    };
    return b;
}

Bench circle(Scale scale) {
    const size_t n = pick(scale, 1 << 10, 1 << 14, 1 << 16);
    const uint32_t seed = 12345, count = 1000;
    Bench b;
    b.name = "circle", b.file = "numeric.cl", b.size = std::to_string(n >> 10) + "K x 1000 points";
    b.work = double(n) * count, b.unit = "Gpoint/s";
    const int hits = b.add(4 * n);
    b.launches = {launch1("circle", n, 256, {buffer(hits), u32(seed), u32(count)})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i += 7) {
            uint32_t s = uint32_t(i) * 0x9e3779b9u + seed, want = 0;
            if (!s) s = 1;
            auto draw = [&] {
                s ^= s << 13, s ^= s >> 17, s ^= s << 5;
                return s >> 17;
            };
            for (uint32_t k = 0; k < count; k++) {
                const uint32_t x = draw(), y = draw();
                want += x * x + y * y < 1u << 30;
            }
            if (b.p<uint32_t>(hits)[i] != want) return bad("hits", i, b.p<uint32_t>(hits)[i], want);
        }
        return "";
    };
    return b;
}

Bench dgemm(Scale scale) {
    const size_t n = pick(scale, 64, 256, 512);
    Bench b;
    b.name = "dgemm", b.file = "numeric.cl", b.size = std::to_string(n) + "^3 f64";
    b.work = 2.0 * double(n * n * n), b.unit = "GFLOP/s";
    const int x = b.add(8 * n * n), y = b.add(8 * n * n), z = b.add(8 * n * n);
    fill(b.p<double>(x), n * n, 1, -1, 1);
    fill(b.p<double>(y), n * n, 2, -1, 1);
    b.launches = {
        launch2("dgemm", n, n, 16, 16, {buffer(x), buffer(y), buffer(z), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i += 3)
            for (size_t j = i % 5; j < n; j += 5) {
                double want = 0;
                for (size_t k = 0; k < n; k++)
                    want += b.p<double>(x)[i * n + k] * b.p<double>(y)[k * n + j];
                if (!near(b.p<double>(z)[i * n + j], want, 1e-12, 1e-11))
                    return bad("c", i * n + j, b.p<double>(z)[i * n + j], want);
            }
        return "";
    };
    return b;
}

Bench gemv_i8(Scale scale) {
    const size_t n = pick(scale, 256, 1024, 4096);
    Bench b;
    b.name = "gemv_i8", b.file = "numeric.cl", b.size = std::to_string(n) + "^2 i8";
    b.work = 2.0 * double(n * n), b.unit = "Gop/s";
    const int a = b.add(n * n), x = b.add(n), y = b.add(4 * n);
    Rng r(8);
    for (size_t i = 0; i < n * n; i++) b.p<int8_t>(a)[i] = int8_t(r.next());
    for (size_t i = 0; i < n; i++) b.p<int8_t>(x)[i] = int8_t(r.next());
    b.launches = {
        launch1("gemv_i8", n, 256, {buffer(a), buffer(x), buffer(y), u32(uint32_t(n / 4))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            int want = 0;
            for (size_t k = 0; k < n; k++) want += b.p<int8_t>(a)[i * n + k] * b.p<int8_t>(x)[k];
            if (b.p<int32_t>(y)[i] != want) return bad("y", i, b.p<int32_t>(y)[i], want);
        }
        return "";
    };
    return b;
}

Bench syr2k(Scale scale) {
    const size_t n = pick(scale, 64, 128, 256);
    Bench b = of_file("numeric.cl", "syr2k", std::to_string(n) + "^3 f32",
                      2.0 * double(n) * double(n) * double(n + 1), "GFLOP/s");
    const int x = b.add(4 * n * n), y = b.add(4 * n * n), z = b.add(4 * n * n);
    fill(b.p<float>(x), n * n, 1, -1, 1);
    fill(b.p<float>(y), n * n, 2, -1, 1);
    fill(b.p<float>(z), n * n, 3, -1, 1);
    b.keep(z);
    b.launches = {
        launch2("syr2k", n, n, 32, 8, {buffer(x), buffer(y), buffer(z), i32(int32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        const auto* before = reinterpret_cast<const float*>(b.bufs[size_t(z)].init.data());
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double want = before[i * n + j];
                if (j <= i) want *= 0.5;
                for (size_t k = 0; j <= i && k < n; k++) {
                    const auto at = [&](int m, size_t row) {
                        return double(b.p<float>(m)[row * n + k]);
                    };
                    want += at(x, j) * at(y, i) + at(y, j) * at(x, i);
                }
                if (!near(b.p<float>(z)[i * n + j], want, 1e-4, 1e-4))
                    return bad("c", i * n + j, b.p<float>(z)[i * n + j], want);
            }
        return "";
    };
    return b;
}

Bench stencil3d(Scale scale) {
    const int n = int(pick(scale, 64, 128, 256));
    const size_t all = size_t(n) * size_t(n) * size_t(n);
    Bench b =
        of_file("numeric.cl", "stencil3d", std::to_string(n) + "^3 f32", double(all), "Gelement/s");
    const int in = b.add(4 * all), out = b.add(4 * all);
    fill(b.p<float>(in), all, 1, -1, 1);
    const auto side = size_t(n);
    b.launches = {{"stencil3d", {side, side, side}, {32, 8, 1}, {buffer(in), buffer(out), i32(n)}}};
    b.check = [=](Bench& b) -> std::string {
        const float* p = b.p<float>(in);
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++)
                for (int x = 0; x < n; x++) {
                    const auto at = [&](int dx, int dy, int dz) {
                        return double(p[((z + dz) * n + y + dy) * n + x + dx]);
                    };
                    const bool inside =
                        x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1;
                    const double want = !inside ? 0
                                                : 0.5 * at(0, 0, 0) +
                                                      0.1 * (at(-1, 0, 0) + at(1, 0, 0)) +
                                                      0.2 * (at(0, -1, 0) + at(0, 1, 0)) +
                                                      0.3 * (at(0, 0, -1) - at(0, 0, 1)) +
                                                      0.4 * (at(-1, 0, -1) - at(1, 0, 1)) +
                                                      0.05 * (at(-1, -1, 0) - at(1, 1, 0));
                    const size_t i = (size_t(z) * side + size_t(y)) * side + size_t(x);
                    if (!near(b.p<float>(out)[i], want, 1e-5, 1e-5))
                        return bad("out", i, b.p<float>(out)[i], want);
                }
        return "";
    };
    return b;
}

}  // namespace yardstick
