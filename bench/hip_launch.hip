// What a launch of an empty kernel and hipDeviceSynchronize cost through HIP. Prints the median in
// microseconds.
#include <algorithm>
#include <chrono>

#include "check.h"

__global__ void empty() {}

int main(int argc, char** argv) {
    int launches = int(check::argument(argc, argv, 1, 2000));
    for (int i = 0; i < 100; i++) {
        empty<<<1, 64>>>();
        HIP_CHECK(hipDeviceSynchronize());
    }
    std::vector<double> micros;
    for (int i = 0; i < launches; i++) {
        auto begin = std::chrono::steady_clock::now();
        empty<<<1, 64>>>();
        HIP_CHECK(hipDeviceSynchronize());
        micros.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
                .count());
    }
    std::nth_element(micros.begin(), micros.begin() + launches / 2, micros.end());
    std::printf("%.2f\n", micros[launches / 2]);
    return 0;
}
