// Code that comes at run time: hiprtc and hipModule. Usage: hip_module
#include <hip/hiprtc.h>

#include <string>

#include "check.h"

const char* const source = R"(
extern "C" __global__ void scale(float* data, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * by + offset_of(i);
}
)";

int main() {
    // Part of the source is made here: nothing of it existed when the program was compiled.
    std::string text =
        std::string("__device__ float offset_of(int i) { return i % 3; }\n") + source;
    hiprtcProgram program;
    auto rtc = [](hiprtcResult r, const char* what) {
        if (r == HIPRTC_SUCCESS) return;
        std::fprintf(stderr, "FAIL %s: %s\n", what, hiprtcGetErrorString(r));
        std::exit(1);
    };
    rtc(hiprtcCreateProgram(&program, text.c_str(), "scale.hip", 0, nullptr, nullptr),
        "hiprtcCreateProgram");
    hiprtcResult compiled = hiprtcCompileProgram(program, 0, nullptr);
    if (compiled != HIPRTC_SUCCESS) {
        size_t size = 0;
        hiprtcGetProgramLogSize(program, &size);
        std::string log(size + 1, 0);
        hiprtcGetProgramLog(program, &log[0]);
        std::fprintf(stderr, "FAIL hiprtcCompileProgram: %s\n%s\n", hiprtcGetErrorString(compiled),
                     log.c_str());
        return 1;
    }
    size_t size = 0;
    rtc(hiprtcGetCodeSize(program, &size), "hiprtcGetCodeSize");
    std::vector<char> code(size);
    rtc(hiprtcGetCode(program, code.data()), "hiprtcGetCode");

    hipModule_t module;
    hipFunction_t function;
    HIP_CHECK(hipModuleLoadData(&module, code.data()));
    HIP_CHECK(hipModuleGetFunction(&function, module, "scale"));
    const int n = 1000;
    std::vector<float> in(n), want(n);
    for (int i = 0; i < n; i++) {
        in[i] = float(i);
        want[i] = float(i) * 1.5f + float(i % 3);
    }
    check::Device<float> data(in);
    float* pointer = data;
    float by = 1.5f;
    int count = n;
    void* arguments[] = {&pointer, &by, &count};
    HIP_CHECK(hipModuleLaunchKernel(function, check::blocks(n, 128), 1, 1, 128, 1, 1, 0, nullptr,
                                    arguments, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    bool ok = check::equal("scale", data.to_host(), want);
    HIP_CHECK(hipModuleUnload(module));
    return check::result("hip_module", ok);
}
