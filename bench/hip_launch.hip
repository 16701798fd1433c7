// What a launch of an empty kernel and hipDeviceSynchronize cost through HIP. Prints the median in
// microseconds, and what is resident of the process then, in megabytes.
#include <algorithm>
#include <chrono>
#include <fstream>

#include <unistd.h>

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
    size_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    std::printf("%.2f %.1f\n", micros[launches / 2],
                1e-6 * double(resident) * double(sysconf(_SC_PAGESIZE)));
    return 0;
}
