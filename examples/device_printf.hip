// printf on the device; the program catches its own standard output and checks what was printed.
// Usage: device_printf [lanes]
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "check.h"

__global__ void greet(int lanes) {
    int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < lanes && i % 3 == 0)
        printf("lane %d of %s: %.3f 0x%llx %c%%\n", i, "wave", i * 0.125, 1ull << (i % 40 + 20),
               'a' + i % 26);
}

int main(int argc, char** argv) {
    int lanes = int(check::argument(argc, argv, 1, 100));
    // Standard output goes to a file while the kernel prints.
    std::fflush(stdout);
    std::FILE* file = std::tmpfile();
    int terminal = dup(STDOUT_FILENO);
    if (!file || terminal < 0 || dup2(fileno(file), STDOUT_FILENO) < 0) {
        std::perror("FAIL redirecting standard output");
        return 1;
    }
    greet<<<check::blocks(lanes, 64), 64>>>(lanes);
    check::launched();
    std::fflush(stdout);
    dup2(terminal, STDOUT_FILENO);
    std::rewind(file);
    std::vector<std::string> got, want;
    char line[256];
    while (std::fgets(line, sizeof line, file)) got.push_back(line);
    for (int i = 0; i < lanes; i += 3) {
        std::snprintf(line, sizeof line, "lane %d of %s: %.3f 0x%llx %c%%\n", i, "wave", i * 0.125,
                      1ull << (i % 40 + 20), 'a' + i % 26);
        want.push_back(line);
    }
    // The order of waves is free.
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    bool ok = got == want;
    if (!ok) {
        std::fprintf(stderr, "FAIL %zu lines, want %zu\n", got.size(), want.size());
        for (size_t i = 0; i < std::max(got.size(), want.size()); i++) {
            const char* a = i < got.size() ? got[i].c_str() : "(none)\n";
            const char* b = i < want.size() ? want[i].c_str() : "(none)\n";
            if (std::strcmp(a, b) == 0) continue;
            std::fprintf(stderr, "first difference: %s            want: %s", a, b);
            break;
        }
    }
    return check::result("device_printf", ok);
}
