// Benchmarks that others publish figures of, in elements a second: copy, gather, contended atomics,
// softmax. (Add and matrix multiplies are among the others.)
#include <cstring>

#include "bench/yardstick/cases.h"
#include "bench/yardstick/native.h"

namespace yardstick {

Bench copy(Scale scale) {
    const size_t n = pick(scale, 1 << 16, 2 << 20, 16 << 20);
    Bench b;
    b.name = "copy", b.file = "published.cl", b.size = "2 x " + mb(4 * n);
    b.work = double(n), b.unit = "Gelement/s";
    const int in = b.add(4 * n), out = b.add(4 * n);
    fill(b.p<float>(in), n, 1, -1, 1);
    b.launches = {launch1("copy", up(n, 256), 256, {buffer(in), buffer(out), u32(uint32_t(n))})};
    b.native_items = n;
    b.native_part = [=](Bench& b, size_t i, size_t end) {
        native::loops().copy(b.p<float>(in) + i, b.p<float>(out) + i, end - i);
    };
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++)
            if (b.p<float>(out)[i] != b.p<float>(in)[i])
                return bad("out", i, b.p<float>(out)[i], b.p<float>(in)[i]);
        return "";
    };
    return b;
}

Bench gather(Scale scale) {
    const size_t n = pick(scale, 1 << 16, 2 << 20, 16 << 20), entries = n / 16;
    Bench b;
    b.name = "gather", b.file = "published.cl", b.size = mb(4 * n) + " of " + mb(4 * entries);
    b.work = double(n), b.unit = "Gelement/s";
    const int in = b.add(4 * entries), index = b.add(4 * n), out = b.add(4 * n);
    fill(b.p<float>(in), entries, 1, -1, 1);
    fill_u32(b.p<uint32_t>(index), n, 2);
    for (size_t i = 0; i < n; i++) b.p<uint32_t>(index)[i] %= uint32_t(entries);
    b.launches = {launch1("gather", up(n, 256), 256,
                          {buffer(in), buffer(index), buffer(out), u32(uint32_t(n))})};
    b.native_items = n;
    b.native_part = [=](Bench& b, size_t i, size_t end) {
        native::loops().gather(b.p<float>(in), b.p<uint32_t>(index) + i, b.p<float>(out) + i,
                               end - i);
    };
    b.check = [=](Bench& b) -> std::string {
        for (size_t i = 0; i < n; i++) {
            const float want = b.p<float>(in)[b.p<uint32_t>(index)[i]];
            if (b.p<float>(out)[i] != want) return bad("out", i, b.p<float>(out)[i], want);
        }
        return "";
    };
    return b;
}

// Additions to `bins` counters in global memory, in any order.
static Bench count(Scale scale, const char* name, uint32_t bins) {
    const size_t n = pick(scale, 1 << 13, 1 << 17, 1 << 17);
    Bench b =
        of_file("published.cl", name, std::to_string(n >> 10) + "K adds to " + std::to_string(bins),
                double(n), "Gatomic/s");
    const int index = b.add(4 * n), counters = b.add(4 * bins);
    fill_u32(b.p<uint32_t>(index), n, 2);
    for (size_t i = 0; i < n; i++) b.p<uint32_t>(index)[i] %= bins;
    if (bins == 1) b.keep(index);  // all 0, which would pass for memory that nobody has written
    b.keep(counters);
    b.launches = {launch1("count", n, 256, {buffer(index), buffer(counters), u32(uint32_t(n))})};
    b.check = [=](Bench& b) -> std::string {
        std::vector<uint32_t> want(bins);
        for (size_t i = 0; i < n; i++) want[b.p<uint32_t>(index)[i]]++;
        return difference("bins", b.p<uint32_t>(counters), want);
    };
    return b;
}

Bench count_one(Scale scale) {
    return count(scale, "count_one", 1);
}

Bench count_256(Scale scale) {
    return count(scale, "count_256", 256);
}

Bench softmax(Scale scale) {
    const size_t rows = pick(scale, 16, 512, 4096), width = 1024, n = rows * width;
    Bench b;
    b.name = "softmax", b.file = "published.cl";
    b.size = std::to_string(rows) + "x" + std::to_string(width) + " f32";
    b.work = double(n), b.unit = "Gelement/s";
    const int in = b.add(4 * n), out = b.add(4 * n);
    fill(b.p<float>(in), n, 1, -8, 8);
    b.launches = {
        launch1("softmax", rows * 256, 256, {buffer(in), buffer(out), u32(uint32_t(width))})};
    b.native = [=](Bench& b) {
        native::loops().softmax(b.p<float>(in), b.p<float>(out), rows, width);
    };
    b.check = [=](Bench& b) -> std::string {
        for (size_t r = 0; r < rows; r++) {
            const float *x = b.p<float>(in) + r * width, *y = b.p<float>(out) + r * width;
            double sum = 0;
            for (size_t i = 0; i < width; i++) sum += std::exp(double(x[i]));
            for (size_t i = 0; i < width; i++)
                if (const double want = std::exp(double(x[i])) / sum;
                    !near(y[i], want, 1e-5, 1e-12))
                    return bad("out", r * width + i, y[i], want);
        }
        return "";
    };
    return b;
}

}  // namespace yardstick
