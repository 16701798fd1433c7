// Matrix transpose, straight and through a padded LDS tile. Usage: transpose [width] [height]
#include "check.h"

constexpr int tile = 32, rows = 8;

__global__ void transpose_naive(const uint32_t* in, uint32_t* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

__global__ void transpose_tiled(const uint32_t* in, uint32_t* out, int width, int height) {
    __shared__ uint32_t block[tile][tile + 1];
    int x = blockIdx.x * tile + threadIdx.x, y0 = blockIdx.y * tile;
    for (int j = threadIdx.y; j < tile; j += rows)
        if (x < width && y0 + j < height) block[j][threadIdx.x] = in[(y0 + j) * width + x];
    __syncthreads();
    int column = y0 + threadIdx.x, x0 = blockIdx.x * tile;
    for (int j = threadIdx.y; j < tile; j += rows)
        if (column < height && x0 + j < width)
            out[(x0 + j) * height + column] = block[threadIdx.x][j];
}

int main(int argc, char** argv) {
    int width = int(check::argument(argc, argv, 1, 301)),
        height = int(check::argument(argc, argv, 2, 203));
    size_t elements = size_t(width) * height;
    check::Random random(4);
    std::vector<uint32_t> in(elements), want(elements);
    for (auto& v : in) v = random.next();
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) want[size_t(x) * height + y] = in[size_t(y) * width + x];
    check::Device<uint32_t> din(in), naive(elements), tiled(elements);
    transpose_naive<<<dim3(check::blocks(width, 32), check::blocks(height, 8)), dim3(32, 8)>>>(
        din, naive, width, height);
    transpose_tiled<<<dim3(check::blocks(width, tile), check::blocks(height, tile)),
                      dim3(tile, rows)>>>(din, tiled, width, height);
    check::launched();
    bool ok = check::equal("naive", naive.to_host(), want);
    ok &= check::equal("tiled", tiled.to_host(), want);
    return check::result("transpose", ok);
}
