// Runs kernels through the OpenCL API (PoCL, or any other implementation).
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "bench/yardstick/bench.h"

#define CL(x)                                                               \
    do {                                                                    \
        cl_int e_ = (x);                                                    \
        if (e_ != CL_SUCCESS) {                                             \
            fail(std::string(#x) + ": OpenCL error " + std::to_string(e_)); \
        }                                                                   \
    } while (0)

namespace yardstick {
namespace {
struct OpenCL : Backend {
    std::string dir, options;
    cl_device_id dev = nullptr;
    cl_context ctx = nullptr;
    cl_command_queue q = nullptr;
    cl_program prog = nullptr;
    std::vector<cl_mem> mem;
    std::vector<cl_kernel> kernels;  // one a launch: its arguments stay set

    OpenCL(const std::string& d, const std::string& o) : dir(d), options(o) {
        cl_platform_id plat[8];
        cl_uint n = 0;
        CL(clGetPlatformIDs(8, plat, &n));
        const char* want = getenv("WJ_OPENCL_PLATFORM");
        CL(clGetDeviceIDs(plat[want ? atoi(want) : 0], CL_DEVICE_TYPE_ALL, 1, &dev, nullptr));
        cl_int e;
        ctx = clCreateContext(nullptr, 1, &dev, nullptr, nullptr, &e);
        CL(e);
        q = clCreateCommandQueue(ctx, dev, 0, &e);
        CL(e);
    }
    ~OpenCL() override {
        clReleaseCommandQueue(q);
        clReleaseContext(ctx);
    }
    std::string describe() override {
        char a[256] = "", b[256] = "";
        cl_uint cu = 0;
        clGetDeviceInfo(dev, CL_DEVICE_NAME, sizeof a, a, nullptr);
        clGetDeviceInfo(dev, CL_DRIVER_VERSION, sizeof b, b, nullptr);
        clGetDeviceInfo(dev, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof cu, &cu, nullptr);
        return std::string(a) + ", driver " + b + ", " + std::to_string(cu) + " compute units";
    }
    void load(Bench& b) override {
        std::ifstream f(dir + "/" + b.file);
        if (!f) {
            fprintf(stderr, "cannot read %s/%s\n", dir.c_str(), b.file.c_str());
            exit(1);
        }
        std::stringstream s;
        s << f.rdbuf();
        std::string text = s.str();
        const char* src = text.c_str();
        cl_int e;
        prog = clCreateProgramWithSource(ctx, 1, &src, nullptr, &e);
        CL(e);
        if (clBuildProgram(prog, 1, &dev, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
            std::vector<char> log(1 << 16);
            clGetProgramBuildInfo(prog, dev, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(),
                                  nullptr);
            fprintf(stderr, "%s: %s\n", b.file.c_str(), log.data());
            exit(1);
        }
        for (auto& buf : b.bufs) {
            mem.push_back(clCreateBuffer(ctx, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, buf.bytes,
                                         buf.host, &e));
            CL(e);
        }
        std::map<std::string, cl_kernel> seen;
        for (auto& l : b.launches) {
            bool same = !kernels.empty() && &l != &b.launches[0] && (&l)[-1].kernel == l.kernel &&
                        (&l)[-1].args.size() == 1 && l.args.size() == 1;  // the launch-cost case
            if (same) {
                clRetainKernel(kernels.back());
                kernels.push_back(kernels.back());
                continue;
            }
            cl_kernel k = clCreateKernel(prog, l.kernel.c_str(), &e);
            CL(e);
            for (size_t i = 0; i < l.args.size(); i++) {
                const Arg& a = l.args[i];
                if (a.kind == Arg::Buf)
                    CL(clSetKernelArg(k, i, sizeof(cl_mem), &mem[a.buf]));
                else
                    CL(clSetKernelArg(k, i, 4, &a.u));
            }
            kernels.push_back(k);
        }
    }
    double run(Bench& b) override {
        auto t0 = std::chrono::steady_clock::now();
        for (size_t i = 0; i < b.launches.size(); i++)
            CL(clEnqueueNDRangeKernel(q, kernels[i], 3, nullptr, b.launches[i].global,
                                      b.launches[i].local, 0, nullptr, nullptr));
        CL(clFinish(q));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    }
    void sync(Bench& b, cl_map_flags flags, bool restore) {
        std::vector<void*> at;
        for (size_t i = 0; i < mem.size(); i++) {
            cl_int e;
            at.push_back(clEnqueueMapBuffer(q, mem[i], CL_TRUE, flags, 0, b.bufs[i].bytes, 0,
                                            nullptr, nullptr, &e));
            CL(e);
        }
        if (restore) b.restore();
        for (size_t i = 0; i < mem.size(); i++)
            CL(clEnqueueUnmapMemObject(q, mem[i], at[i], 0, nullptr, nullptr));
        CL(clFinish(q));
    }
    void to_device(Bench& b) override { sync(b, CL_MAP_READ | CL_MAP_WRITE, true); }
    void to_host(Bench& b) override { sync(b, CL_MAP_READ, false); }
    void unload(Bench&) override {
        for (auto k : kernels) clReleaseKernel(k);
        for (auto m : mem) clReleaseMemObject(m);
        clReleaseProgram(prog);
        kernels.clear();
        mem.clear();
    }
};
}  // namespace

std::unique_ptr<Backend> make_opencl_backend(const std::string& dir, const std::string& options) {
    return std::make_unique<OpenCL>(dir, options);
}

}  // namespace yardstick
