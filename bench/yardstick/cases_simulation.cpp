// Simulations: grids, particles, tables of dynamic programming.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/yardstick/cases.h"

namespace yardstick {

static Bench named(const char* name, std::string size, double work, const char* unit) {
    return of_file("simulation.cl", name, std::move(size), work, unit);
}

Bench hotspot(Scale scale) {
    const size_t n = pick(scale, 64, 512, 2048);
    const float rx = 0.1f, ry = 0.2f, rz = 0.0625f, step = 0.5f;
    Bench b = named("hotspot", std::to_string(n) + "^2", double(n * n), "Gcell/s");
    const int temp = b.add(4 * n * n), power = b.add(4 * n * n), out = b.add(4 * n * n);
    fill(b.p<float>(temp), n * n, 1, 60, 100);
    fill(b.p<float>(power), n * n, 2, 0, 1);
    b.launches = {launch2("hotspot", n, n, 16, 16,
                          {buffer(temp), buffer(power), buffer(out), i32(int(n)), f32(rx), f32(ry),
                           f32(rz), f32(step)})};
    b.check = [=](Bench& b) -> std::string {
        const float* t = b.p<float>(temp);
        for (size_t y = 0; y < n; y++)
            for (size_t x = y % 3; x < n; x += 3) {
                auto at = [&](size_t yy, size_t xx) { return double(t[yy * n + xx]); };
                const double c = at(y, x);
                const double flow =
                    (at(y ? y - 1 : 0, x) + at(std::min(y + 1, n - 1), x) - 2 * c) * ry +
                    (at(y, x ? x - 1 : 0) + at(y, std::min(x + 1, n - 1)) - 2 * c) * rx +
                    (80 - c) * rz;
                const double want = c + step * (b.p<float>(power)[y * n + x] + flow);
                if (!near(b.p<float>(out)[y * n + x], want, 1e-5, 1e-5))
                    return bad("out", y * n + x, b.p<float>(out)[y * n + x], want);
            }
        return "";
    };
    return b;
}

Bench pathfinder(Scale scale) {
    const size_t n = pick(scale, 1 << 12, 1 << 16, 1 << 18), rows = 20, steps = 5;
    Bench b = named("pathfinder", std::to_string(n >> 10) + "K x " + std::to_string(rows * steps),
                    double(n * rows * steps), "Gcell/s");
    const int wall = b.add(4 * n * rows * steps), first = b.add(4 * n), x = b.add(4 * n),
              y = b.add(4 * n);
    Rng r(3);
    for (size_t i = 0; i < n * rows * steps; i++) b.p<int>(wall)[i] = int(r.next() % 10);
    for (size_t i = 0; i < n; i++) b.p<int>(first)[i] = int(r.next() % 10);
    const size_t groups = (n + 256 - 2 * rows - 1) / (256 - 2 * rows);
    for (size_t s = 0; s < steps; s++)
        b.launches.push_back(
            launch1("pathfinder", groups * 256, 256,
                    {buffer(wall),
                     buffer(s == 0  ? first
                            : s & 1 ? x
                                    : y),
                     buffer(s & 1 ? y : x), i32(int(n)), i32(int(s * rows)), i32(int(rows))}));
    b.check = [=](Bench& b) -> std::string {
        std::vector<int> a(b.p<int>(first), b.p<int>(first) + n), t(n);
        for (size_t k = 0; k < rows * steps; k++) {
            for (size_t i = 0; i < n; i++)
                t[i] = std::min({a[i], a[i ? i - 1 : 0], a[std::min(i + 1, n - 1)]}) +
                       b.p<int>(wall)[k * n + i];
            a.swap(t);
        }
        const int* got = b.p<int>(steps & 1 ? x : y);
        for (size_t i = 0; i < n; i++)
            if (got[i] != a[i]) return bad("to", i, got[i], a[i]);
        return "";
    };
    return b;
}

Bench eliminate(Scale scale) {
    const size_t n = pick(scale, 32, 128, 512);
    Bench b = named("eliminate", std::to_string(n) + "^2", 2.0 / 3 * double(n * n * n), "GFLOP/s");
    const int a = b.add(4 * n * n), factor = b.add(4 * n);
    fill(b.p<float>(a), n * n, 1, -1, 1);
    for (size_t i = 0; i < n; i++) b.p<float>(a)[i * n + i] += float(n);  // no pivoting
    b.keep(a);
    for (size_t k = 0; k + 1 < n; k++) {
        b.launches.push_back(launch1("eliminate_factors", up(n - 1 - k, 64), 64,
                                     {buffer(a), buffer(factor), i32(int(n)), i32(int(k))}));
        b.launches.push_back(launch2("eliminate", up(n - k, 64), up(n - 1 - k, 4), 64, 4,
                                     {buffer(a), buffer(factor), i32(int(n)), i32(int(k))}));
    }
    b.check = [=](Bench& b) -> std::string {
        const float* src = reinterpret_cast<const float*>(b.bufs[size_t(a)].init.data());
        std::vector<double> m(src, src + n * n);
        for (size_t k = 0; k + 1 < n; k++)
            for (size_t y = k + 1; y < n; y++) {
                const double f = m[y * n + k] / m[k * n + k];
                for (size_t x = k; x < n; x++) m[y * n + x] -= f * m[k * n + x];
            }
        for (size_t i = 0; i < n * n; i++)
            if (!near(b.p<float>(a)[i], m[i], 1e-4, 1e-3))
                return bad("a", i, b.p<float>(a)[i], m[i]);
        return "";
    };
    return b;
}

Bench column3d(Scale scale) {
    const size_t n = pick(scale, 32, 64, 256), depth = pick(scale, 8, 32, 128);
    const float c0 = 0.4f, c1 = 0.1f;
    Bench b = named("column3d", std::to_string(n) + "^2 x " + std::to_string(depth),
                    double(n * n * depth), "Gcell/s");
    const int in = b.add(4 * n * n * depth), out = b.add(4 * n * n * depth);
    fill(b.p<float>(in), n * n * depth, 1, -1, 1);
    b.launches = {
        launch2("column3d", n, n, 64, 4,
                {buffer(in), buffer(out), i32(int(n)), i32(int(depth)), f32(c0), f32(c1)})};
    b.check = [=](Bench& b) -> std::string {
        const float* p = b.p<float>(in);
        const size_t plane = n * n;
        for (size_t z = 1; z + 1 < depth; z++)
            for (size_t y = 1; y + 1 < n; y++)
                for (size_t x = 1 + (y + z) % 3; x + 1 < n; x += 3) {
                    const size_t i = (z * n + y) * n + x;
                    const double want = double(c0) * p[i] +
                                        double(c1) * (double(p[i - plane]) + p[i + plane] +
                                                      p[i - 1] + p[i + 1] + p[i - n] + p[i + n]);
                    if (!near(b.p<float>(out)[i], want, 1e-5, 1e-5))
                        return bad("out", i, b.p<float>(out)[i], want);
                }
        return "";
    };
    return b;
}

Bench lattice(Scale scale) {
    const size_t n = pick(scale, 64, 256, 1024), size = n * n;
    const float omega = 1.2f;
    Bench b = named("lattice", std::to_string(n) + "^2 x 9", double(size), "Gcell/s");
    const int f = b.add(4 * 9 * size), g = b.add(4 * 9 * size);
    fill(b.p<float>(f), 9 * size, 1, 0.1f, 0.2f);
    b.launches = {
        launch2("lattice", n, n, 64, 4, {buffer(f), buffer(g), u32(uint32_t(n)), f32(omega)})};
    b.check = [=](Bench& b) -> std::string {
        static const int ex[] = {0, 1, 0, -1, 0, 1, -1, -1, 1},
                         ey[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
        for (size_t i = 0; i < size; i += 7) {
            const size_t x = i % n, y = i / n;
            double v[9], rho = 0, ux = 0, uy = 0;
            for (int d = 0; d < 9; d++) {
                v[d] = b.p<float>(f)[size_t(d) * size + (y + n - size_t(ey[d])) % n * n +
                                     (x + n - size_t(ex[d])) % n];
                rho += v[d], ux += ex[d] * v[d], uy += ey[d] * v[d];
            }
            ux /= rho, uy /= rho;
            for (int d = 0; d < 9; d++) {
                const double w = d == 0 ? 4.0 / 9 : d < 5 ? 1.0 / 9 : 1.0 / 36;
                const double e = ex[d] * ux + ey[d] * uy;
                const double want =
                    v[d] +
                    omega *
                        (w * rho * (1 + 3 * e + 4.5 * e * e - 1.5 * (ux * ux + uy * uy)) - v[d]);
                const float got = b.p<float>(g)[size_t(d) * size + i];
                if (!near(got, want, 1e-4, 1e-5)) return bad("g", size_t(d) * size + i, got, want);
            }
        }
        return "";
    };
    return b;
}

Bench particles(Scale scale) {
    const size_t n = pick(scale, 1 << 12, 1 << 17, 1 << 20);
    const float step = 0.01f;
    Bench b = named("particles", std::to_string(n >> 10) + "K x 24 bytes", double(48 * n), "GB/s");
    const int p = b.add(24 * n);
    fill(b.p<float>(p), 6 * n, 1, 0, 1);
    b.keep(p);
    b.launches = {launch1("particles", up(n, 256), 256, {buffer(p), u32(uint32_t(n)), f32(step)})};
    b.check = [=](Bench& b) -> std::string {
        const float* src = reinterpret_cast<const float*>(b.bufs[size_t(p)].init.data());
        for (size_t i = 0; i < n; i++) {
            double a[6];
            for (size_t k = 0; k < 6; k++) a[k] = src[6 * i + k];
            a[4] -= 9.81 * step;
            for (size_t k = 0; k < 3; k++) a[k] += a[3 + k] * step;
            // Too near to a wall for single precision to say on which side.
            if (std::fabs(a[0] - 1) < 1e-5 || std::fabs(a[2] - 1) < 1e-5 || std::fabs(a[1]) < 1e-5)
                continue;
            if (a[0] < 0 || a[0] > 1) a[3] = -a[3];
            if (a[1] < 0) a[1] = -a[1], a[4] *= -0.9;
            if (a[2] < 0 || a[2] > 1) a[5] = -a[5];
            for (size_t k = 0; k < 6; k++)
                if (!near(b.p<float>(p)[6 * i + k], a[k], 1e-5, 1e-5))
                    return bad("p", 6 * i + k, b.p<float>(p)[6 * i + k], a[k]);
        }
        return "";
    };
    return b;
}

Bench life(Scale scale) {
    const size_t n = pick(scale, 64, 512, 2048);
    Bench b = named("life", std::to_string(n) + "^2", double(n * n), "Gcell/s");
    const int in = b.add(n * n), out = b.add(n * n);
    Rng r(5);
    for (size_t i = 0; i < n * n; i++) b.p<uint8_t>(in)[i] = r.next() >> 30 == 0;
    b.launches = {launch2("life", n, n, 64, 4, {buffer(in), buffer(out), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        const uint8_t* p = b.p<uint8_t>(in);
        for (size_t y = 0; y < n; y++)
            for (size_t x = 0; x < n; x++) {
                int sum = 0;
                for (size_t dy = n - 1; dy <= n + 1; dy++)
                    for (size_t dx = n - 1; dx <= n + 1; dx++)
                        sum += p[(y + dy) % n * n + (x + dx) % n];
                sum -= p[y * n + x];
                const int want = sum == 3 || (sum == 2 && p[y * n + x]);
                if (b.p<uint8_t>(out)[y * n + x] != want)
                    return bad("out", y * n + x, b.p<uint8_t>(out)[y * n + x], want);
            }
        return "";
    };
    return b;
}

Bench box_forces(Scale scale) {
    const size_t boxes = pick(scale, 4, 32, 256), n = 128 * boxes;
    const float a2 = 0.5f;
    Bench b = named("box_forces", std::to_string(boxes) + " boxes", 20.0 * 5 * 128 * double(n),
                    "GFLOP/s");
    const int p = b.add(16 * n), force = b.add(16 * n);
    fill(b.p<float>(p), 4 * n, 1, 0, 1);
    b.launches = {
        launch1("box_forces", n, 128, {buffer(p), buffer(force), i32(int(boxes)), f32(a2)})};
    b.check = [=](Bench& b) -> std::string {
        const float* q = b.p<float>(p);
        for (size_t i = 0; i < n; i += 37) {
            const size_t box = i / 128;
            double f[4] = {};
            for (size_t j = (box < 2 ? 0 : box - 2) * 128; j < std::min(box + 3, boxes) * 128;
                 j++) {
                double dot = 0;
                for (size_t k = 0; k < 3; k++) dot += double(q[4 * i + k]) * q[4 * j + k];
                const double v = std::exp(-a2 * (double(q[4 * i + 3]) + q[4 * j + 3] - dot));
                for (size_t k = 0; k < 3; k++)
                    f[k] += 2 * v * (double(q[4 * i + k]) - q[4 * j + k]);
                f[3] += v;
            }
            for (size_t k = 0; k < 4; k++)
                if (!near(b.p<float>(force)[4 * i + k], f[k], 1e-4, 1e-2))
                    return bad("force", 4 * i + k, b.p<float>(force)[4 * i + k], f[k]);
        }
        return "";
    };
    return b;
}

Bench align(Scale scale) {
    const size_t n = pick(scale, 64, 256, 1024), tiles = n / 16;
    const int penalty = 10;
    Bench b = named("align", std::to_string(n) + "^2", double(n * n), "Gcell/s");
    const int similar = b.add(4 * n * n), table = b.add(4 * (n + 1) * (n + 1));
    Rng r(6);
    for (size_t i = 0; i < n * n; i++) b.p<int>(similar)[i] = int(r.next() % 21) - 10;
    for (size_t i = 0; i <= n; i++)
        b.p<int>(table)[i] = b.p<int>(table)[i * (n + 1)] = -int(i) * penalty;
    b.keep(table);
    for (size_t d = 0; d < 2 * tiles - 1; d++) {
        const size_t first = d < tiles ? 0 : d - tiles + 1, last = std::min(d, tiles - 1);
        b.launches.push_back(launch1("align_tile", (last - first + 1) * 16, 16,
                                     {buffer(similar), buffer(table), i32(int(n)), i32(penalty),
                                      i32(int(d)), i32(int(first))}));
    }
    b.check = [=](Bench& b) -> std::string {
        std::vector<int> t((n + 1) * (n + 1));
        memcpy(t.data(), b.bufs[size_t(table)].init.data(), 4 * t.size());
        for (size_t y = 1; y <= n; y++)
            for (size_t x = 1; x <= n; x++) {
                const size_t i = y * (n + 1) + x;
                t[i] = std::max({t[i - n - 2] + b.p<int>(similar)[(y - 1) * n + x - 1],
                                 t[i - 1] - penalty, t[i - n - 1] - penalty});
                if (b.p<int>(table)[i] != t[i]) return bad("table", i, b.p<int>(table)[i], t[i]);
            }
        return "";
    };
    return b;
}

Bench julia_f64(Scale scale) {
    const size_t n = pick(scale, 64, 256, 1024);
    const uint32_t limit = 200;
    Bench b = named("julia_f64", std::to_string(n) + "^2", double(n * n), "Gpoint/s");
    const int steps = b.add(4 * n * n);
    b.launches = {
        launch2("julia_f64", n, n, 16, 16, {buffer(steps), u32(uint32_t(n)), u32(limit)})};
    // Orbits are chaotic: the last bit decides about a few points.
    b.check = [=](Bench& b) -> std::string {
        size_t others = 0, at = 0;
        for (size_t i = 0; i < n * n; i++) {
            double x = 3.0 * double(i % n) / double(n) - 1.5,
                   y = 3.0 * double(i / n) / double(n) - 1.5;
            uint32_t k = 0;
            for (; k < limit && x * x + y * y < 4.0; k++) {
                const double t = x * x - y * y - 0.8;
                y = 2.0 * x * y + 0.156;
                x = t;
            }
            if (b.p<uint32_t>(steps)[i] != k) others++, at = i;
        }
        return others > n * n / 500 ? bad("steps, differing points", at, double(others), 0) : "";
    };
    return b;
}

Bench dot_f64(Scale scale) {
    const size_t n = pick(scale, 1 << 14, 1 << 19, 1 << 22), groups = pick(scale, 4, 32, 128);
    Bench b = named("dot_f64", mb(16 * n), double(16 * n), "GB/s");
    const int x = b.add(8 * n), y = b.add(8 * n), sums = b.add(8 * groups);
    fill(b.p<double>(x), n, 1, -1, 1);
    fill(b.p<double>(y), n, 2, -1, 1);
    b.launches = {launch1("dot_f64", 256 * groups, 256,
                          {buffer(x), buffer(y), buffer(sums), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        double want = 0, got = 0;
        for (size_t i = 0; i < n; i++) want += b.p<double>(x)[i] * b.p<double>(y)[i];
        for (size_t g = 0; g < groups; g++) got += b.p<double>(sums)[g];
        return near(got, want, 1e-9, 1e-8) ? "" : bad("sum", 0, got, want);
    };
    return b;
}

Bench daxpy(Scale scale) {
    const size_t n = pick(scale, 1 << 13, 1 << 18, 1 << 22);
    Bench b = named("daxpy", mb(16 * n), double(24 * n), "GB/s");
    const int x = b.add(8 * n), y = b.add(8 * n);
    fill(b.p<double>(x), n, 1, -1, 1);
    fill(b.p<double>(y), n, 2, -1, 1);
    b.keep(y);
    b.launches = {launch1("daxpy", up(n, 256), 256, {buffer(x), buffer(y), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        const double* was = reinterpret_cast<const double*>(b.bufs[size_t(y)].init.data());
        for (size_t i = 0; i < n; i++) {
            const double want = was[i] + 1.0009765625 * b.p<double>(x)[i];
            if (!near(b.p<double>(y)[i], want, 1e-15, 1e-15))
                return bad("y", i, b.p<double>(y)[i], want);
        }
        return "";
    };
    return b;
}

}  // namespace yardstick
