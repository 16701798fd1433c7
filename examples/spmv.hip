// Sparse matrix times vector, CSR: one row a lane, and one row a wave. Usage: spmv [rows]
#include "check.h"

__global__ void spmv_lane(const int* start, const int* column, const float* value, const float* x,
                          float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];
    y[row] = sum;
}

__global__ void spmv_wave(const int* start, const int* column, const float* value, const float* x,
                          float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (row >= rows) return;
    float sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += warpSize)
        sum += value[k] * x[column[k]];
    for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_xor(sum, offset);
    if (lane == 0) y[row] = sum;
}

int main(int argc, char** argv) {
    int rows = int(check::argument(argc, argv, 1, 1500));
    check::Random random(11);
    std::vector<int> start{0}, column;
    std::vector<float> value, x(rows);
    std::vector<double> want(rows, 0.0);
    for (auto& v : x) v = float(random.range(-1, 1));
    for (int row = 0; row < rows; row++) {
        // Mostly short rows, some empty, a few long.
        int entries = row % 97 == 5 ? 150 : int(random.next() % 20);
        for (int k = 0; k < entries; k++) {
            column.push_back(int(random.next() % rows));
            value.push_back(float(random.range(-1, 1)));
            want[row] += double(value.back()) * x[column.back()];
        }
        start.push_back(int(column.size()));
    }
    check::Device<int> dstart(start), dcolumn(column);
    check::Device<float> dvalue(value), dx(x), by_lane(rows), by_wave(rows);
    spmv_lane<<<check::blocks(rows, 256), 256>>>(dstart, dcolumn, dvalue, dx, by_lane, rows);
    spmv_wave<<<check::blocks(rows, 4), 256>>>(dstart, dcolumn, dvalue, dx, by_wave, rows);
    check::launched();
    bool ok = check::near("lane", by_lane.to_host(), want, 1e-5, 1e-5);
    ok &= check::near("wave", by_wave.to_host(), want, 1e-5, 1e-5);
    return check::result("spmv", ok);
}
