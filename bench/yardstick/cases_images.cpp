// Images and grids: a filter, gradients of bytes, a heat equation.
#include <algorithm>
#include <cstdlib>

#include "bench/yardstick/cases.h"

namespace yardstick {

Bench convolve5x5(Scale scale) {
    const int w = int(pick(scale, 256, 1024, 4096)), h = w / 2;
    const size_t n = size_t(w) * size_t(h);
    Bench b;
    b.name = "convolve5x5", b.file = "images.cl";
    b.size = std::to_string(w) + "x" + std::to_string(h) + " f32";
    b.work = 50.0 * double(n), b.unit = "GFLOP/s";
    const int in = b.add(4 * n), filter = b.add(4 * 25), out = b.add(4 * n);
    fill(b.p<float>(in), n, 1, 0, 1);
    fill(b.p<float>(filter), 25, 2, -1, 1);
    b.launches = {launch2("convolve5x5", up(size_t(w), 16), up(size_t(h), 16), 16, 16,
                          {buffer(in), buffer(filter), buffer(out), i32(w), i32(h)})};
    b.check = [=](Bench& b) -> std::string {
        const float *p = b.p<float>(in), *f = b.p<float>(filter);
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                double want = 0;
                for (int j = -2; j <= 2; j++)
                    for (int i = -2; i <= 2; i++)
                        want +=
                            double(
                                p[std::clamp(y + j, 0, h - 1) * w + std::clamp(x + i, 0, w - 1)]) *
                            f[(j + 2) * 5 + i + 2];
                const float got = b.p<float>(out)[y * w + x];
                if (!near(got, want, 1e-5, 1e-5)) return bad("out", size_t(y * w + x), got, want);
            }
        return "";
    };
    return b;
}

Bench sobel_u8(Scale scale) {
    const int w = int(pick(scale, 256, 1024, 4096)), h = w;
    const size_t n = size_t(w) * size_t(h);
    Bench b;
    b.name = "sobel_u8", b.file = "images.cl";
    b.size = std::to_string(w) + "x" + std::to_string(h) + " u8";
    b.work = double(n), b.unit = "Gpixel/s";
    const int in = b.add(n), out = b.add(n);
    Rng r(3);
    for (size_t i = 0; i < n; i++) b.p<uint8_t>(in)[i] = uint8_t(r.next());
    b.launches = {launch2("sobel_u8", up(size_t(w), 64), up(size_t(h), 4), 64, 4,
                          {buffer(in), buffer(out), i32(w), i32(h)})};
    b.check = [=](Bench& b) -> std::string {
        for (int y = 1; y < h - 1; y++)
            for (int x = 1; x < w - 1; x++) {
                auto at = [&](int i, int j) { return int(b.p<uint8_t>(in)[(y + j) * w + x + i]); };
                int gx = 0, gy = 0;
                for (int k = -1; k <= 1; k++) {
                    const int weight = k ? 1 : 2;
                    gx += weight * (at(1, k) - at(-1, k));
                    gy += weight * (at(k, 1) - at(k, -1));
                }
                const int want = std::min(std::abs(gx) + std::abs(gy), 255);
                const int got = b.p<uint8_t>(out)[y * w + x];
                if (got != want) return bad("out", size_t(y * w + x), got, want);
            }
        return "";
    };
    return b;
}

Bench heat3d(Scale scale) {
    const int w = int(pick(scale, 64, 128, 256)), h = w, d = w;
    const size_t n = size_t(w) * size_t(h) * size_t(d);
    const float c = 0.1f;
    Bench b;
    b.name = "heat3d", b.file = "images.cl", b.size = std::to_string(w) + "^3 f32";
    b.work = double(n), b.unit = "Gelement/s";
    const int in = b.add(4 * n), out = b.add(4 * n);
    fill(b.p<float>(in), n, 1, 0, 1);
    b.launches = {launch2("heat3d", up(size_t(w), 64), up(size_t(h), 4), 64, 4,
                          {buffer(in), buffer(out), i32(w), i32(h), i32(d), f32(c)})};
    b.check = [=](Bench& b) -> std::string {
        const float* p = b.p<float>(in);
        const int plane = w * h;
        for (int z = 1; z < d - 1; z++)
            for (int y = 1; y < h - 1; y++)
                for (int x = 1; x < w - 1; x++) {
                    const int i = z * plane + y * w + x;
                    double sum = 0;
                    for (int step : {1, w, plane}) sum += double(p[i - step]) + p[i + step];
                    const double want = p[i] + double(c) * (sum - 6 * double(p[i]));
                    const float got = b.p<float>(out)[i];
                    if (!near(got, want, 1e-5, 1e-5)) return bad("out", size_t(i), got, want);
                }
        return "";
    };
    return b;
}

Bench grey_f32(Scale scale) {
    const size_t n = pick(scale, 1 << 14, 1 << 19, 8 << 20);
    Bench b;
    b.name = "grey_f32", b.file = "images.cl", b.size = std::to_string(n >> 10) + "K pixels";
    b.work = double(n), b.unit = "Gpixel/s";
    const int in = b.add(12 * n), out = b.add(4 * n);
    fill(b.p<float>(in), 3 * n, 1, 0, 1);
    b.launches = {
        launch1("grey_f32", up(n, 256), 256, {buffer(in), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            const float* p = b.p<float>(in) + 3 * i;
            const double want = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
            if (!near(b.p<float>(out)[i], want, 1e-6, 1e-6))
                return bad("out", i, b.p<float>(out)[i], want);
        }
        return "";
    };
    return b;
}

Bench grey_u8(Scale scale) {
    const size_t n = pick(scale, 1 << 14, 1 << 20, 16 << 20);
    Bench b;
    b.name = "grey_u8", b.file = "images.cl", b.size = std::to_string(n >> 10) + "K pixels";
    b.work = double(n), b.unit = "Gpixel/s";
    const int in = b.add(3 * n), out = b.add(n);
    Rng r(3);
    for (size_t i = 0; i < 3 * n; i++) b.p<uint8_t>(in)[i] = uint8_t(r.next());
    b.launches = {launch1("grey_u8", up(n, 256), 256, {buffer(in), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            const uint8_t* p = b.p<uint8_t>(in) + 3 * i;
            const int want = (77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8;
            if (b.p<uint8_t>(out)[i] != want) return bad("out", i, b.p<uint8_t>(out)[i], want);
        }
        return "";
    };
    return b;
}

Bench jacobi_f64(Scale scale) {
    const size_t w = pick(scale, 128, 512, 2048), h = w, n = w * h;
    Bench b;
    b.name = "jacobi_f64", b.file = "images.cl", b.size = std::to_string(w) + "^2 f64";
    b.work = double(n), b.unit = "Gelement/s";
    const int in = b.add(8 * n), out = b.add(8 * n);
    fill(b.p<double>(in), n, 1, 0, 1);
    b.launches = {launch2("jacobi_f64", w, h, 64, 4,
                          {buffer(in), buffer(out), u32(uint32_t(w)), u32(uint32_t(h))})};
    b.check = [=](Bench& b) -> std::string {
        const double* p = b.p<double>(in);
        for (size_t y = 1; y < h - 1; y++)
            for (size_t x = 1; x < w - 1; x++) {
                const size_t i = y * w + x;
                const double want = 0.25 * (p[i - 1] + p[i + 1] + p[i - w] + p[i + w]);
                if (!near(b.p<double>(out)[i], want, 1e-14, 1e-14))
                    return bad("out", i, b.p<double>(out)[i], want);
            }
        return "";
    };
    return b;
}

Bench threshold_u8(Scale scale) {
    const size_t n = pick(scale, 1 << 14, 1 << 20, 16 << 20);
    constexpr int limit = 100;
    Bench b = of_file("images.cl", "threshold_u8", std::to_string(n >> 10) + "K pixels", double(n),
                      "Gpixel/s");
    const int in = b.add(n), out = b.add(n);
    Rng r(9);
    for (size_t i = 0; i < n; i++) b.p<uint8_t>(in)[i] = uint8_t(r.next());
    b.launches = {launch1("threshold_u8", n, 256, {buffer(in), buffer(out), i32(limit)})};
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            const int want = b.p<uint8_t>(in)[i] > limit ? 255 : 0;
            if (b.p<uint8_t>(out)[i] != want) return bad("out", i, b.p<uint8_t>(out)[i], want);
        }
        return "";
    };
    return b;
}

}  // namespace yardstick
