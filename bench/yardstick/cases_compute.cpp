// Benchmarks that compute: matrix products, bodies, fractals, options, the FMA peak, the empty
// launch.
#include <bit>
#include <cmath>
#include <memory>

#include "bench/yardstick/cases.h"
#include "bench/yardstick/native.h"

namespace yardstick {

// Of C in row order, n * n: 4000 elements. left(i, k) and right(k, j) are those of the operands.
template <class T, class Left, class Right>
std::string check_product(Bench& b, int c, size_t n, double tol, Left left, Right right) {
    Rng r(99);
    for (int s = 0; s < 4000; s++) {
        const size_t i = r.next() % n, j = r.next() % n;
        double want = 0;
        for (size_t k = 0; k < n; k++) want += double(left(i, k)) * right(k, j);
        const double got = b.p<T>(c)[i * n + j];
        if (!near(got, want, tol, tol * 10)) return bad("C", i * n + j, got, want);
    }
    return "";
}

template <class T>
std::string check_gemm(Bench& b, int x, int y, int z, size_t n, double tol) {
    return check_product<T>(
        b, z, n, tol, [&](size_t i, size_t k) { return b.p<T>(x)[i * n + k]; },
        [&](size_t k, size_t j) { return b.p<T>(y)[k * n + j]; });
}

Bench sgemm(Scale scale, bool tiled) {
    int n = int(tiled ? pick(scale, 128, 512, 1024) : pick(scale, 128, 256, 512));
    Bench b;
    b.name = tiled ? "sgemm_tiled" : "sgemm_naive", b.file = "sgemm.cl",
    b.size = std::to_string(n) + "^3";
    b.work = 2.0 * n * n * n, b.unit = "GFLOP/s";
    size_t e = size_t(n) * n;
    int x = b.add(4 * e), y = b.add(4 * e), z = b.add(4 * e);
    fill(b.p<float>(x), e, 1, -1, 1);
    fill(b.p<float>(y), e, 2, -1, 1);
    std::vector<Arg> args = {buffer(x), buffer(y), buffer(z), i32(n), i32(n), i32(n)};
    if (tiled)
        b.launches = {launch2("sgemm_tiled", n / 4, n / 4, 16, 16, args)};
    else
        b.launches = {launch2("sgemm_naive", n, n, 16, 16, args)};
    b.native = [=](Bench& b) {
        native::loops().sgemm(b.p<float>(x), b.p<float>(y), b.p<float>(z), n, n, n);
    };
    b.check = [=](Bench& b) { return check_gemm<float>(b, x, y, z, n, 1e-5); };
    return b;
}
Bench sgemm_naive(Scale scale) {
    return sgemm(scale, false);
}
Bench sgemm_tiled(Scale scale) {
    return sgemm(scale, true);
}

Bench matmul_bf16(Scale scale) {
    const size_t n = pick(scale, 128, 512, 1024);
    Bench b;
    b.name = "matmul_bf16", b.file = "matmul_bf16.cl", b.size = std::to_string(n) + "^3";
    b.work = 2.0 * n * n * n, b.unit = "GFLOP/s";
    const int x = b.add(2 * n * n), y = b.add(2 * n * n), z = b.add(4 * n * n);
    for (const int operand : {x, y}) {
        std::vector<float> values(n * n);
        fill(values.data(), n * n, operand + 1, -1, 1);
        for (size_t i = 0; i < n * n; i++)
            b.p<uint16_t>(operand)[i] = uint16_t(std::bit_cast<uint32_t>(values[i]) >> 16);
    }
    const int32_t size = int32_t(n);
    b.launches = {{"matmul_bf16",
                   {n, n / 128, 1},
                   {64, 1, 1},
                   {buffer(x), buffer(y), buffer(z), i32(size), i32(size), i32(size)}}};
    b.check = [=](Bench& b) {
        const auto element = [&](int operand, size_t k, size_t i) {
            const uint32_t bits = b.p<uint16_t>(operand)[(k / 4 * n + i) * 4 + k % 4];
            return std::bit_cast<float>(bits << 16);
        };
        return check_product<float>(
            b, z, n, 1e-5, [&](size_t i, size_t k) { return element(x, k, i); },
            [&](size_t k, size_t j) { return element(y, k, j); });
    };
    return b;
}

Bench nbody(Scale scale) {
    size_t n = pick(scale, 512, 2048, 8192);
    const float dt = 0.01f, eps2 = 0.01f;
    Bench b;
    b.name = "nbody", b.file = "nbody.cl", b.size = std::to_string(n);
    b.work = 20.0 * n * n, b.unit = "GFLOP/s";
    int x = b.add(16 * n), v = b.add(16 * n), xo = b.add(16 * n), vo = b.add(16 * n);
    fill(b.p<float>(x), 4 * n, 1, 0.1f, 1);
    fill(b.p<float>(v), 4 * n, 2, -1, 1);
    b.launches = {launch1(
        "nbody", n, 256,
        {buffer(x), buffer(v), buffer(xo), buffer(vo), u32(uint32_t(n)), f32(dt), f32(eps2)})};
    b.native = [=](Bench& b) {
        native::loops().nbody(b.p<float>(x), b.p<float>(v), b.p<float>(xo), b.p<float>(vo), n, dt,
                              eps2);
    };
    b.check = [=](Bench& b) -> std::string {
        const float* p = b.p<float>(x);
        for (size_t i = 0; i < n; i += 37) {
            double a[3] = {};
            for (size_t j = 0; j < n; j++) {
                double d[3], r2 = eps2;
                for (int c = 0; c < 3; c++) {
                    d[c] = double(p[4 * j + c]) - p[4 * i + c];
                    r2 += d[c] * d[c];
                }
                double s = p[4 * j + 3] / (r2 * std::sqrt(r2));
                for (int c = 0; c < 3; c++) a[c] += d[c] * s;
            }
            for (int c = 0; c < 3; c++) {
                double want = b.p<float>(v)[4 * i + c] + a[c] * dt;
                if (!near(b.p<float>(vo)[4 * i + c], want, 1e-4, 1e-3))
                    return bad("vel", 4 * i + c, b.p<float>(vo)[4 * i + c], want);
            }
        }
        return "";
    };
    return b;
}

Bench mandelbrot(Scale scale) {
    uint32_t w = uint32_t(pick(scale, 128, 512, 1024)), iters = 512;
    const float x0 = -2.0f, y0 = -1.25f, d = 2.5f / w;
    Bench b;
    b.name = "mandelbrot", b.file = "mandelbrot.cl", b.size = std::to_string(w) + "^2, 512 it";
    int out = b.add(4 * size_t(w) * w);
    auto ref = std::make_shared<std::vector<uint32_t>>(size_t(w) * w);
    double total = 0;
    for (uint32_t py = 0; py < w; py++)
        for (uint32_t px = 0; px < w; px++) {
            float cx = std::fma(float(px), d, x0), cy = std::fma(float(py), d, y0), x = 0, y = 0;
            uint32_t it = 0;
            for (; it < iters; it++) {
                float xx = x * x, yy = y * y;
                if (xx + yy > 4.0f) break;
                y = 2.0f * x * y + cy;
                x = xx - yy + cx;
            }
            (*ref)[size_t(py) * w + px] = it;
            total += it;
        }
    b.work = total * 10, b.unit = "GFLOP/s";
    b.launches = {launch2("mandelbrot", w, w, 64, 4,
                          {buffer(out), u32(uint32_t(w)), u32(uint32_t(w)), f32(x0), f32(y0),
                           f32(d), f32(d), u32(uint32_t(iters))})};
    b.native = [=](Bench& b) {
        native::loops().mandelbrot(b.p<uint32_t>(out), w, w, x0, y0, d, d, iters);
    };
    b.check = [=](Bench& b) -> std::string {
        // Rounding (where the compiler fuses) moves a chaotic point: nearly all must agree.
        size_t off = 0, n = size_t(w) * w;
        for (size_t i = 0; i < n; i++) off += b.p<uint32_t>(out)[i] != (*ref)[i];
        return off * 50 <= n ? "" : bad("points that differ of", n, off, 0);
    };
    return b;
}

Bench blackscholes(Scale scale) {
    size_t n = pick(scale, 1 << 14, 1 << 19, 4 << 20);
    const float r = 0.02f, v = 0.3f;
    Bench b;
    b.name = "blackscholes", b.file = "blackscholes.cl",
    b.size = std::to_string(n >> 10) + "K options";
    b.work = 1.0 * n, b.unit = "Gopt/s";
    int S = b.add(4 * n), X = b.add(4 * n), T = b.add(4 * n), c = b.add(4 * n), p = b.add(4 * n);
    fill(b.p<float>(S), n, 1, 5, 30);
    fill(b.p<float>(X), n, 2, 1, 100);
    fill(b.p<float>(T), n, 3, 0.25f, 10);
    b.launches = {launch1(
        "blackscholes", up(n, 256), 256,
        {buffer(S), buffer(X), buffer(T), buffer(c), buffer(p), f32(r), f32(v), u32(uint32_t(n))})};
    b.native = [=](Bench& b) {
        native::loops().blackscholes(b.p<float>(S), b.p<float>(X), b.p<float>(T), b.p<float>(c),
                                     b.p<float>(p), r, v, n);
    };
    b.native_note = "libmvec exp/log";
    b.check = [=](Bench& b) -> std::string {
        auto cnd = [](double d) {
            double k = 1 / (1 + 0.2316419 * std::fabs(d));
            double c =
                0.3989422804014327 * std::exp(-0.5 * d * d) *
                (k * (0.31938153 + k * (-0.356563782 +
                                        k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
            return d > 0 ? 1 - c : c;
        };
        for (size_t i = 0; i < n; i += 7) {
            double s = b.p<float>(S)[i], x = b.p<float>(X)[i], t = b.p<float>(T)[i],
                   st = std::sqrt(t);
            double d1 = (std::log(s / x) + (double(r) + 0.5 * double(v) * v) * t) / (v * st),
                   d2 = d1 - v * st;
            double e = std::exp(-double(r) * t), call = s * cnd(d1) - x * e * cnd(d2);
            double put = x * e * (1 - cnd(d2)) - s * (1 - cnd(d1));
            if (!near(b.p<float>(c)[i], call, 1e-4, 1e-4))
                return bad("call", i, b.p<float>(c)[i], call);
            if (!near(b.p<float>(p)[i], put, 1e-4, 1e-4))
                return bad("put", i, b.p<float>(p)[i], put);
        }
        return "";
    };
    return b;
}

Bench fma_peak(Scale scale) {
    size_t n = pick(scale, 1 << 10, 1 << 14, 256 << 10);
    const uint32_t iters = 1024;
    const float k = 0.999f, c = 0.001f;
    Bench b;
    b.name = "fma_peak", b.file = "fma_peak.cl",
    b.size = std::to_string(n >> 10) + "K threads x 16K fma";
    b.work = 2.0 * n * iters * 16, b.unit = "GFLOP/s";
    int out = b.add(4 * n);
    b.launches = {launch1("fma_peak", n, 256, {buffer(out), f32(k), f32(c), u32(uint32_t(iters))})};
    b.native = [=](Bench& b) { native::loops().fma_peak(b.p<float>(out), k, c, iters, n); };
    b.check = [=](Bench& b) -> std::string {
        for (size_t g = 0; g < 256; g++) {
            float s = 0;
            for (int j = 0; j < 16; j++) {
                float x = float(g) + j;
                for (uint32_t i = 0; i < iters; i++) x = std::fma(x, k, c);
                s += x;
            }
            for (size_t i = g; i < n; i += 256)
                if (!near(b.p<float>(out)[i], s, 1e-5, 0))
                    return bad("out", i, b.p<float>(out)[i], s);
        }
        return "";
    };
    return b;
}

Bench empty(Scale) {
    const int times = 1000;
    Bench b;
    b.name = "empty_launch", b.file = "empty.cl", b.size = "1000 launches, 1 group";
    b.work = times, b.unit = "Glaunch/s";
    int out = b.add(4);
    b.keep(out);
    for (int i = 0; i < times; i++) b.launches.push_back(launch1("empty", 64, 64, {buffer(out)}));
    b.check = [=](Bench& b) -> std::string {
        return *b.p<uint32_t>(out) == times ? "" : bad("out", 0, *b.p<uint32_t>(out), times);
    };
    return b;
}

}  // namespace yardstick
