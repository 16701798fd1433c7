// Virtual functions and function pointers that differ from lane to lane. Usage: virtual_call
// [lanes]
#include "check.h"

struct Shape {
    __device__ Shape(int edge) : edge_(edge) {}
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const { return 4; }
    int edge_;
};
struct Square : Shape {
    using Shape::Shape;
    __device__ int area() const override { return edge_ * edge_; }
};
struct Strip : Shape {
    __device__ Strip(int edge, int width) : Shape(edge), width_(width) {}
    __device__ int area() const override { return edge_ * width_; }
    int width_;
};
struct Octagon : Shape {
    using Shape::Shape;
    __device__ int area() const override { return 2 * edge_ * edge_ * 24 / 10; }
    __device__ int corners() const override { return 8; }
};

using Function = int (*)(int, int);
__device__ __attribute__((noinline)) int add(int a, int b) {
    return a + b;
}
__device__ __attribute__((noinline)) int multiply(int a, int b) {
    return a * b;
}
__device__ __attribute__((noinline)) int power(int a, int b) {
    int r = 1;
    for (int i = 0; i < b % 5; i++) r *= a;
    return r;
}
__device__ Function functions[3] = {add, multiply, power};

__global__ void call(int* areas, int* corners, int* values, int lanes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lanes) return;
    Square square(i);
    Strip strip(i, 7);
    Octagon octagon(i);
    const Shape* shapes[3] = {&square, &strip, &octagon};
    const Shape* mine = shapes[i % 3];
    areas[i] = mine->area();
    corners[i] = mine->corners();
    values[i] = functions[i / 5 % 3](i, i % 11);
}

int main(int argc, char** argv) {
    int lanes = int(check::argument(argc, argv, 1, 300));
    check::Device<int> areas(lanes), corners(lanes), values(lanes);
    call<<<check::blocks(lanes, 64), 64>>>(areas, corners, values, lanes);
    check::launched();
    std::vector<int> want_areas(lanes), want_corners(lanes), want_values(lanes);
    for (int i = 0; i < lanes; i++) {
        want_areas[i] = i % 3 == 0 ? i * i : i % 3 == 1 ? i * 7 : 2 * i * i * 24 / 10;
        want_corners[i] = i % 3 == 2 ? 8 : 4;
        int power = 1;
        for (int k = 0; k < i % 11 % 5; k++) power *= i;
        want_values[i] = i / 5 % 3 == 0 ? i + i % 11 : i / 5 % 3 == 1 ? i * (i % 11) : power;
    }
    bool ok = check::equal("areas", areas.to_host(), want_areas);
    ok &= check::equal("corners", corners.to_host(), want_corners);
    ok &= check::equal("values", values.to_host(), want_values);
    return check::result("virtual_call", ok);
}
