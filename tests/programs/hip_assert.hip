// A device assert must stop the program with its message (HIP 5 and 6) or make the device's
// functions fail (HIP 7). Usage: hip_assert; the test expects the failure.
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
    if (e == hipSuccess) std::fprintf(stderr, "FAIL the assert went by\n");
    return e != hipSuccess;
}
