// Seven-point heat stencil on a 3-D grid, f64, 3-D blocks. Usage: stencil3d [edge] [steps]
#include "check.h"

__host__ __device__ inline double update(const double* in, int i, int plane, int row, double k) {
    double sum = in[i - 1] + in[i + 1];
    sum += in[i - row] + in[i + row];
    sum += in[i - plane] + in[i + plane];
    return fma(k, fma(-6.0, in[i], sum), in[i]);
}

__global__ void heat(const double* in, double* out, int nx, int ny, int nz, double k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    int i = (z * ny + y) * nx + x;
    bool border = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
    out[i] = border ? in[i] : update(in, i, nx * ny, nx, k);
}

int main(int argc, char** argv) {
    int edge = int(check::argument(argc, argv, 1, 24)),
        steps = int(check::argument(argc, argv, 2, 3));
    int nx = edge, ny = edge + 3, nz = edge + 5;
    const double k = 0.11;
    check::Random random(12);
    std::vector<double> grid(size_t(nx) * ny * nz);
    for (auto& v : grid) v = random.range(0, 100);
    check::Device<double> a(grid), b(grid.size());
    dim3 block(8, 4, 4), blocks(check::blocks(nx, 8), check::blocks(ny, 4), check::blocks(nz, 4));
    for (int s = 0; s < steps; s++) {
        if (s % 2 == 0)
            heat<<<blocks, block>>>(a, b, nx, ny, nz, k);
        else
            heat<<<blocks, block>>>(b, a, nx, ny, nz, k);
    }
    check::launched();
    for (int s = 0; s < steps; s++) {
        std::vector<double> next = grid;
        for (int z = 1; z < nz - 1; z++)
            for (int y = 1; y < ny - 1; y++)
                for (int x = 1; x < nx - 1; x++) {
                    int i = (z * ny + y) * nx + x;
                    next[i] = update(grid.data(), i, nx * ny, nx, k);
                }
        grid = next;
    }
    // The order of the operations is fixed and the multiply-adds are explicit: equal to the last
    // bit.
    return check::result("stencil3d", check::equal("grid", (steps % 2 ? b : a).to_host(), grid));
}
