// Buffers of a benchmark, and the list of all benchmarks.
#include "bench/yardstick/bench.h"

#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace yardstick {

bool huge_pages = true;

size_t mapped(size_t bytes) {
    const size_t unit = size_t(2) << 20;
    return (bytes + unit - 1) / unit * unit;
}

int Bench::add(size_t bytes) {
    const size_t unit = size_t(2) << 20, len = mapped(bytes);
    // Aligned to 2 MB so that huge pages can back it.
    char* raw = static_cast<char*>(
        mmap(nullptr, len + unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (raw == MAP_FAILED) {
        fail("out of memory for a buffer");
    }
    char* at = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(raw) + unit - 1) &
                                       ~(uintptr_t(unit) - 1));
    if (at > raw) munmap(raw, at - raw);
    if (raw + unit > at) munmap(at + len, raw + unit - at);
    if (huge_pages) madvise(at, len, MADV_HUGEPAGE);
    memset(at, 0, len);
    Buffer b;
    b.bytes = bytes;
    b.host = at;
    bufs.push_back(std::move(b));
    return int(bufs.size()) - 1;
}

Bench::~Bench() {
    for (auto& b : bufs) munmap(b.host, mapped(b.bytes));
}

void Bench::keep(int i) {
    auto* p = static_cast<uint8_t*>(bufs[i].host);
    bufs[i].init.assign(p, p + bufs[i].bytes);
}

void Bench::restore() {
    for (auto& b : bufs)
        if (!b.init.empty()) memcpy(b.host, b.init.data(), b.bytes);
}

Bench::Contents Bench::contents() const {
    Contents all;
    for (const Buffer& b : bufs) {
        auto* p = static_cast<const uint8_t*>(b.host);
        all.emplace_back(p, p + b.bytes);
    }
    return all;
}

void Bench::set_contents(const Contents& contents) {
    for (size_t i = 0; i < bufs.size(); ++i)
        memcpy(bufs[i].host, contents[i].data(), bufs[i].bytes);
}

void fail(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(1);
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Bench vecadd(Scale scale);
Bench saxpy(Scale scale);
Bench transpose_naive(Scale scale);
Bench transpose_lds(Scale scale);
Bench reduce(Scale scale);
Bench scan(Scale scale);
Bench hist_lds(Scale scale);
Bench hist_global(Scale scale);
Bench sgemm_naive(Scale scale);
Bench sgemm_tiled(Scale scale);
Bench nbody(Scale scale);
Bench mandelbrot(Scale scale);
Bench blackscholes(Scale scale);
Bench bitonic(Scale scale);
Bench spmv(Scale scale);
Bench sha256(Scale scale);
Bench fma_peak(Scale scale);
Bench copy(Scale scale);
Bench gather(Scale scale);
Bench count_one(Scale scale);
Bench count_256(Scale scale);
Bench softmax(Scale scale);
Bench empty(Scale scale);
Bench convolve5x5(Scale scale);
Bench sobel_u8(Scale scale);
Bench heat3d(Scale scale);
Bench gemv(Scale scale);
Bench fft1024(Scale scale);
Bench kmeans(Scale scale);
Bench floyd(Scale scale);
Bench circle(Scale scale);
Bench dgemm(Scale scale);
Bench lower_bound(Scale scale);
Bench bfs(Scale scale);
Bench compact(Scale scale);
Bench match(Scale scale);
Bench crc32(Scale scale);
Bench spheres(Scale scale);
Bench grey_f32(Scale scale);
Bench grey_u8(Scale scale);
Bench threshold_u8(Scale scale);
Bench syr2k(Scale scale);
Bench stencil3d(Scale scale);
Bench jacobi_f64(Scale scale);
Bench gemv_i8(Scale scale);
Bench levenshtein(Scale scale);
Bench sums_by_size(Scale scale);
Bench collatz(Scale scale);
Bench hotspot(Scale scale);
Bench pathfinder(Scale scale);
Bench eliminate(Scale scale);
Bench column3d(Scale scale);
Bench lattice(Scale scale);
Bench particles(Scale scale);
Bench life(Scale scale);
Bench box_forces(Scale scale);
Bench align(Scale scale);
Bench julia_f64(Scale scale);
Bench dot_f64(Scale scale);
Bench daxpy(Scale scale);
Bench conv_layer(Scale scale);
Bench max_pool(Scale scale);
Bench layer_norm(Scale scale);
Bench gelu_f16(Scale scale);
Bench embedding_bag(Scale scale);
Bench quantize(Scale scale);
Bench small_products(Scale scale);
Bench bilateral(Scale scale);
Bench to_hsv(Scale scale);
Bench noise(Scale scale);
Bench base64(Scale scale);
Bench count_digits(Scale scale);
Bench running_sums(Scale scale);
Bench invert(Scale scale);
Bench resize(Scale scale);
Bench distances(Scale scale);
Bench matmul_bf16(Scale scale);

const std::vector<Entry>& all_benches() {
    static const std::vector<Entry> list = {
        {"vecadd", vecadd},
        {"saxpy", saxpy},
        {"transpose_naive", transpose_naive},
        {"transpose_lds", transpose_lds},
        {"reduce", reduce},
        {"scan", scan},
        {"hist_lds", hist_lds},
        {"hist_global", hist_global},
        {"sgemm_naive", sgemm_naive},
        {"sgemm_tiled", sgemm_tiled},
        {"nbody", nbody},
        {"mandelbrot", mandelbrot},
        {"blackscholes", blackscholes},
        {"bitonic_sort", bitonic},
        {"spmv_csr", spmv},
        {"sha256", sha256},
        {"fma_peak", fma_peak},
        {"copy", copy},
        {"gather", gather},
        {"softmax", softmax},
        {"empty_launch", empty},
        {"convolve5x5", convolve5x5, true},
        {"sobel_u8", sobel_u8, true},
        {"heat3d", heat3d, true},
        {"gemv", gemv, true},
        {"fft1024", fft1024, true},
        {"kmeans", kmeans, true},
        {"floyd", floyd, true},
        {"circle", circle, true},
        {"dgemm", dgemm, true},
        {"lower_bound", lower_bound, true},
        {"bfs", bfs, true},
        {"compact", compact, true},
        {"match", match, true},
        {"crc32", crc32, true},
        {"spheres", spheres, true},
        {"grey_f32", grey_f32, true},
        {"grey_u8", grey_u8, true},
        {"jacobi_f64", jacobi_f64, true},
        {"gemv_i8", gemv_i8, true},
        {"levenshtein", levenshtein, true},
        {"sums_by_size", sums_by_size, true},
        {"collatz", collatz, true},
        {"hotspot", hotspot, true},
        {"pathfinder", pathfinder, true},
        {"eliminate", eliminate, true},
        {"column3d", column3d, true},
        {"lattice", lattice, true},
        {"particles", particles, true},
        {"life", life, true},
        {"box_forces", box_forces, true},
        {"align", align, true},
        {"julia_f64", julia_f64, true},
        {"dot_f64", dot_f64, true},
        {"daxpy", daxpy, true},
        {"conv_layer", conv_layer, true},
        {"max_pool", max_pool, true},
        {"layer_norm", layer_norm, true},
        {"gelu_f16", gelu_f16, true},
        {"embedding_bag", embedding_bag, true},
        {"quantize", quantize, true},
        {"small_products", small_products, true},
        {"bilateral", bilateral, true},
        {"to_hsv", to_hsv, true},
        {"noise", noise, true},
        {"base64", base64, true},
        {"count_digits", count_digits, true},
        {"running_sums", running_sums, true},
        {"invert", invert, true},
        {"resize", resize, true},
        {"distances", distances, true},
        {"threshold_u8", threshold_u8, true},
        {"syr2k", syr2k, true},
        {"stencil3d", stencil3d, true},
        {"count_one", count_one, true},
        {"count_256", count_256, true},
        {"matmul_bf16", matmul_bf16, true},
    };
    return list;
}

}  // namespace yardstick
