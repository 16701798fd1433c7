// A device assert must stop the program with its message. Usage: hip_assert; the test expects the
// failure.
#include <cassert>

#include "check.h"

__global__ void fails(int limit) {
    int i = threadIdx.x;
    assert(i < limit);
}

int main() {
    fails<<<1, 64>>>(64);
    check::launched();
    fails<<<1, 64>>>(40);
    hipError_t e = hipDeviceSynchronize();
    std::fprintf(stderr, "FAIL the assert went by: %s\n", hipGetErrorString(e));
    return 0;
}
