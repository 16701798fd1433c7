// c = a + b. Usage: vector_add [elements]
#include "check.h"

__global__ void vector_add(const float* a, const float* b, float* c, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
    size_t n = check::argument(argc, argv, 1, 100003);
    check::Random random(1);
    std::vector<float> a(n), b(n), want(n);
    for (size_t i = 0; i < n; i++) {
        a[i] = float(random.range(-100, 100));
        b[i] = float(random.range(-100, 100));
        want[i] = a[i] + b[i];
    }
    check::Device<float> da(a), db(b), dc(n);
    vector_add<<<check::blocks(n, 256), 256>>>(da, db, dc, n);
    check::launched();
    return check::result("vector_add", check::equal("c", dc.to_host(), want));
}
