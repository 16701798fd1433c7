// Benchmarks that move memory: copies, transposes, reductions, scans, histograms.
#include <numeric>

#include "bench/yardstick/cases.h"
#include "bench/yardstick/native.h"

namespace yardstick {

Bench vecadd(Scale scale) {
    size_t n = pick(scale, 1 << 16, 2 << 20, 16 << 20);
    Bench b;
    b.name = "vecadd", b.file = "vecadd.cl", b.size = "3 x " + mb(4 * n);
    b.work = 12.0 * n, b.unit = "GB/s";
    int x = b.add(4 * n), y = b.add(4 * n), z = b.add(4 * n);
    fill(b.p<float>(x), n, 1, -1, 1);
    fill(b.p<float>(y), n, 2, -1, 1);
    b.launches = {
        launch1("vecadd", up(n, 256), 256, {buffer(x), buffer(y), buffer(z), u32(uint32_t(n))})};
    b.native_items = n;
    b.native_part = [=](Bench& b, size_t i, size_t end) {
        native::loops().vecadd(b.p<float>(x) + i, b.p<float>(y) + i, b.p<float>(z) + i, end - i);
    };
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++)
            if (b.p<float>(z)[i] != b.p<float>(x)[i] + b.p<float>(y)[i])
                return bad("c", i, b.p<float>(z)[i], b.p<float>(x)[i] + b.p<float>(y)[i]);
        return "";
    };
    return b;
}

Bench saxpy(Scale scale) {
    size_t n = pick(scale, 1 << 16, 2 << 20, 16 << 20);
    Bench b;
    b.name = "saxpy", b.file = "saxpy.cl", b.size = "2 x " + mb(4 * n);
    b.work = 12.0 * n, b.unit = "GB/s";
    int x = b.add(4 * n), y = b.add(4 * n);
    fill(b.p<float>(x), n, 1, -1, 1);
    fill(b.p<float>(y), n, 2, -1, 1);
    b.keep(y);
    b.launches = {
        launch1("saxpy", up(n, 256), 256, {buffer(x), buffer(y), f32(1.7f), u32(uint32_t(n))})};
    b.native_items = n;
    b.native_part = [=](Bench& b, size_t i, size_t end) {
        native::loops().saxpy(b.p<float>(x) + i, b.p<float>(y) + i, 1.7f, end - i);
    };
    b.check = [=](Bench& b) -> std::string {
        auto* y0 = reinterpret_cast<const float*>(b.bufs[y].init.data());
        for (size_t i = 0; i < n; i++) {
            double want = double(1.7f) * b.p<float>(x)[i] + y0[i];
            if (!near(b.p<float>(y)[i], want, 1e-6, 1e-6))
                return bad("y", i, b.p<float>(y)[i], want);
        }
        return "";
    };
    return b;
}

Bench transpose(Scale scale, bool lds) {
    size_t w = pick(scale, 256, 1024, 4096), h = pick(scale, 128, 1024, 4096);
    Bench b;
    b.name = lds ? "transpose_lds" : "transpose_naive", b.file = "transpose.cl";
    b.size = std::to_string(w) + "x" + std::to_string(h) + " f32";
    b.work = 8.0 * w * h, b.unit = "GB/s";
    int x = b.add(4 * w * h), y = b.add(4 * w * h);
    fill(b.p<float>(x), w * h, 1, -1, 1);
    if (lds)
        b.launches = {launch2("transpose_lds", w, h / 4, 32, 8,
                              {buffer(x), buffer(y), u32(uint32_t(w)), u32(uint32_t(h))})};
    else
        b.launches = {launch2("transpose_naive", w, h, 64, 4,
                              {buffer(x), buffer(y), u32(uint32_t(w)), u32(uint32_t(h))})};
    b.native = [=](Bench& b) { native::loops().transpose(b.p<float>(x), b.p<float>(y), w, h); };
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < h; i++)
            for (size_t j = 0; j < w; j++)
                if (b.p<float>(y)[j * h + i] != b.p<float>(x)[i * w + j])
                    return bad("out", j * h + i, b.p<float>(y)[j * h + i],
                               b.p<float>(x)[i * w + j]);
        return "";
    };
    return b;
}
Bench transpose_naive(Scale scale) {
    return transpose(scale, false);
}
Bench transpose_lds(Scale scale) {
    return transpose(scale, true);
}

Bench reduce(Scale scale) {
    size_t n = pick(scale, 1 << 17, 2 << 20, 16 << 20), groups = pick(scale, 64, 256, 1024);
    Bench b;
    b.name = "reduce", b.file = "reduce.cl", b.size = mb(4 * n);
    b.work = 4.0 * n, b.unit = "GB/s";
    int x = b.add(4 * n), t = b.add(4 * groups), r = b.add(4);
    fill(b.p<float>(x), n, 1, 0, 1);
    b.launches = {
        launch1("reduce_sum", groups * 256, 256, {buffer(x), buffer(t), u32(uint32_t(n))}),
        launch1("reduce_sum", 256, 256, {buffer(t), buffer(r), u32(uint32_t(groups))})};
    b.native = [=](Bench& b) { *b.p<float>(r) = native::loops().reduce_sum(b.p<float>(x), n); };
    b.check = [=](Bench& b) -> std::string {
        double want = std::accumulate(b.p<float>(x), b.p<float>(x) + n, 0.0);
        return near(*b.p<float>(r), want, 1e-5, 0) ? "" : bad("sum", 0, *b.p<float>(r), want);
    };
    return b;
}

Bench scan(Scale scale) {
    size_t n = pick(scale, 1 << 17, 2 << 20, 16 << 20);
    Bench b;
    b.name = "scan", b.file = "scan.cl", b.size = mb(4 * n) + " u32";
    b.work = 8.0 * n, b.unit = "GB/s";
    int in = b.add(4 * n), out = b.add(4 * n);
    fill_u32(b.p<uint32_t>(in), n, 1);
    // Levels: each scans the level above's block sums in place.
    std::vector<std::pair<int, size_t>> level = {{out, n}};
    int src = in;
    std::vector<Launch> adds;
    while (true) {
        size_t m = level.back().second, blocks = up(m, 1024) / 1024;
        int sums = b.add(4 * blocks), dst = level.back().first;
        b.launches.push_back(launch1("scan_block", blocks * 256, 256,
                                     {buffer(src), buffer(dst), buffer(sums), u32(uint32_t(m))}));
        if (blocks == 1) break;
        adds.push_back(
            launch1("scan_add", blocks * 256, 256, {buffer(dst), buffer(sums), u32(uint32_t(m))}));
        level.push_back({sums, blocks});
        src = sums;
    }
    for (size_t i = adds.size(); i--;) b.launches.push_back(adds[i]);
    b.native = [=](Bench& b) { native::loops().scan(b.p<uint32_t>(in), b.p<uint32_t>(out), n); };
    b.check = [=](Bench& b) -> std::string {
        uint32_t s = 0;
        for (size_t i = 0; i < n; i++) {
            s += b.p<uint32_t>(in)[i];
            if (b.p<uint32_t>(out)[i] != s) return bad("out", i, b.p<uint32_t>(out)[i], s);
        }
        return "";
    };
    return b;
}

Bench hist_lds(Scale scale) {
    size_t n = pick(scale, 1 << 15, 1 << 20, 16 << 20), groups = pick(scale, 16, 64, 256);
    Bench b;
    b.name = "hist_lds", b.file = "histogram.cl", b.size = mb(4 * n) + " u8, 256 bins";
    b.work = 4.0 * n, b.unit = "Gatomic/s";
    int in = b.add(4 * n), bins = b.add(4 * 256);
    fill_u32(b.p<uint32_t>(in), n, 1);
    b.keep(bins);
    b.launches = {
        launch1("hist_lds", groups * 256, 256, {buffer(in), buffer(bins), u32(uint32_t(n))})};
    b.native = [=](Bench& b) { native::hist256(b.p<uint32_t>(in), b.p<uint32_t>(bins), n); };
    b.check = [=](Bench& b) -> std::string {
        std::vector<uint32_t> want(256);
        for (size_t i = 0; i < 4 * n; i++) want[b.p<uint8_t>(in)[i]]++;
        return difference("bins", b.p<uint32_t>(bins), want);
    };
    return b;
}

Bench hist_global(Scale scale) {
    size_t n = pick(scale, 1 << 16, 1 << 20, 16 << 20);
    Bench b;
    b.name = "hist_global", b.file = "histogram.cl", b.size = mb(4 * n) + " u32, 4096 bins";
    b.work = 1.0 * n, b.unit = "Gatomic/s";
    int in = b.add(4 * n), bins = b.add(4 * 4096);
    fill_u32(b.p<uint32_t>(in), n, 1);
    b.keep(bins);
    b.launches = {launch1("hist_global", up(n, 256), 256,
                          {buffer(in), buffer(bins), u32(uint32_t(n)), u32(uint32_t(4095))})};
    b.native = [=](Bench& b) { native::hist(b.p<uint32_t>(in), b.p<uint32_t>(bins), n, 4095); };
    b.check = [=](Bench& b) -> std::string {
        std::vector<uint32_t> want(4096);
        for (size_t i = 0; i < n; i++) want[b.p<uint32_t>(in)[i] & 4095]++;
        return difference("bins", b.p<uint32_t>(bins), want);
    };
    return b;
}

}  // namespace yardstick
