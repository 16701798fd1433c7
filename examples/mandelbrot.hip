// The Mandelbrot set: every lane leaves the loop at its own time. Writes a PNG.
// Usage: mandelbrot [width] [height] [iterations] [file.png]
// hipcc-flags: -lz
#include "check.h"
#include "png.h"

struct View {
    double x, y, pixel;
};

// Iterations until |z| > 2 for c. f64, every operation rounded once, so that the CPU can agree
// exactly.
__host__ __device__ inline unsigned escape_time(double cx, double cy, unsigned limit) {
#pragma clang fp contract(off)
    double x = 0, y = 0;
    unsigned n = 0;
    while (n < limit) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4.0) break;
        y = 2.0 * x * y + cy;
        x = xx - yy + cx;
        n++;
    }
    return n;
}

__global__ void mandelbrot(unsigned* out, int width, int height, View view, unsigned limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < width && py < height)
        out[py * width + px] =
            escape_time(view.x + px * view.pixel, view.y + py * view.pixel, limit);
}

int main(int argc, char** argv) {
    int width = int(check::argument(argc, argv, 1, 640)),
        height = int(check::argument(argc, argv, 2, 400));
    unsigned limit = unsigned(check::argument(argc, argv, 3, 300));
    const char* path = argc > 4 ? argv[4] : "mandelbrot.png";
    View view{-2.3, 0, 3.4 / width};
    view.y = -view.pixel * height / 2;
    check::Device<unsigned> out(size_t(width) * height);
    mandelbrot<<<dim3(check::blocks(width, 16), check::blocks(height, 16)), dim3(16, 16)>>>(
        out, width, height, view, limit);
    check::launched();
    std::vector<unsigned> got = out.to_host(), want(got.size());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            want[size_t(y) * width + x] =
                escape_time(view.x + x * view.pixel, view.y + y * view.pixel, limit);
    // The position of a pixel may be fused on the device: allow a thousandth of the pixels to
    // differ.
    size_t differing = 0;
    for (size_t i = 0; i < got.size(); i++) differing += got[i] != want[i];
    if (differing * 1000 > got.size()) {
        check::equal("iterations", got, want);
        return 1;
    }
    std::vector<uint8_t> rgb;
    for (unsigned n : got) {
        double t = n >= limit ? 0 : std::sqrt(double(n) / limit);
        for (double phase : {0.0, 0.6, 1.2})
            rgb.push_back(n >= limit ? 0 : uint8_t(127.5 * (1 - std::cos(9 * t + phase))));
    }
    if (!write_png(path, rgb, width, height)) {
        std::fprintf(stderr, "FAIL cannot write %s\n", path);
        return 1;
    }
    std::printf("%d x %d pixels, up to %u iterations, written to %s\n", width, height, limit, path);
    return check::result("mandelbrot", true);
}
