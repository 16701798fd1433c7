// Test fixture: a context for each target and engine, kernels by name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "wavejit/wavejit.h"

namespace wj::test {

struct Free {
    void operator()(wj_context* c) const { wj_context_destroy(c); }
    void operator()(wj_module* m) const { wj_module_unload(m); }
    void operator()(wj_dispatch* d) const { wj_dispatch_release(d); }
};
using Context = std::unique_ptr<wj_context, Free>;
using Module = std::unique_ptr<wj_module, Free>;
using Dispatch = std::unique_ptr<wj_dispatch, Free>;

// Null when the host cannot run the engine.
inline Context make_context(const char* target, wj_engine engine, uint32_t threads = 2,
                            wj_memory_mode memory = WJ_MEMORY_IDENTITY, bool exclusive = false) {
    wj_context_options o = WJ_INIT(wj_context_options);
    o.target = target;
    o.engine = engine;
    o.threads = threads;
    o.memory_mode = memory;
    o.exclusive_memory = exclusive;
    char error[512] = "";
    wj_context* context = nullptr;
    wj_status status = wj_context_create(&o, &context, error, sizeof(error));
    EXPECT_TRUE(status == WJ_OK || std::strstr(error, "cannot run the engine")) << error;
    return Context(context);
}

inline std::string kernel_file(const std::string& name, const std::string& target) {
    return std::string(WJ_TEST_KERNELS) + "/" + name + "." + target + ".hsaco";
}

struct Setup {
    const char* target;
    wj_engine engine;
    wj_memory_mode memory;
};

inline std::string setup_name(const testing::TestParamInfo<Setup>& info) {
    static const char* const engines[] = {"auto", "interp", "avx2", "avx512"};
    static const char* const memories[] = {"_identity", "_checked", "_window"};
    return std::string(info.param.target) + "_" + engines[info.param.engine] +
           memories[info.param.memory];
}

class Gpu : public testing::TestWithParam<Setup> {
protected:
    void SetUp() override {
        context = make_context(GetParam().target, GetParam().engine, 2, GetParam().memory);
        if (!context) GTEST_SKIP() << "this host cannot run the engine";
    }
    wj_kernel* kernel(const std::string& file, const char* name) {
        wj_module* m = nullptr;
        EXPECT_EQ(
            wj_module_load_file(context.get(), kernel_file(file, GetParam().target).c_str(), &m),
            WJ_OK)
            << wj_last_error(context.get());
        if (!m) return nullptr;
        modules.emplace_back(m);
        wj_kernel* k = nullptr;
        EXPECT_EQ(wj_module_get_kernel(m, name, &k), WJ_OK) << wj_last_error(context.get());
        return k;
    }
    uint64_t buffer(uint64_t bytes, int fill = 0) {
        uint64_t address = 0;
        EXPECT_EQ(wj_memory_allocate(context.get(), bytes, &address), WJ_OK)
            << wj_last_error(context.get());
        if (fill) std::memset(reinterpret_cast<void*>(address), fill, bytes);
        if (fill) wj_memory_mark_written(context.get(), address, bytes);
        return address;
    }
    template <class T>
    static T* host(uint64_t address) {
        return reinterpret_cast<T*>(address);
    }
    // Two 64-bit values, packed: what the assembly kernels take.
    wj_launch_options packed(uint64_t a, uint64_t b, uint32_t grid = 64, uint32_t block = 64) {
        words[0] = a;
        words[1] = b;
        wj_launch_options o = WJ_INIT(wj_launch_options);
        o.grid[0] = grid;
        o.block[0] = block;
        o.packed_arguments = words;
        o.packed_size = sizeof(words);
        o.timeout_ns = 60'000'000'000;
        return o;
    }
    // Without limits work-groups follow each other as they do in programs, not looked at in
    // between.
    wj_launch_options unlimited(wj_launch_options o) {
        o.timeout_ns = o.instruction_limit = 0;
        return o;
    }
    // A launch with arguments one by one.
    template <size_t count>
    static wj_launch_options launch(wj_argument (&arguments)[count],
                                    std::initializer_list<uint32_t> grid,
                                    std::initializer_list<uint32_t> block) {
        wj_launch_options o = WJ_INIT(wj_launch_options);
        std::copy(grid.begin(), grid.end(), o.grid);
        std::copy(block.begin(), block.end(), o.block);
        o.arguments = arguments;
        o.argument_count = count;
        return o;
    }
    // Runs to the end and keeps the fault.
    wj_status run(wj_kernel* k, const wj_launch_options& o) {
        wj_dispatch* d = nullptr;
        wj_status status = wj_dispatch_submit(k, &o, &d);
        if (status != WJ_OK) return status;
        dispatch.reset(d);
        status = wj_dispatch_wait(d);
        fault = WJ_INIT(wj_fault);
        EXPECT_EQ(wj_dispatch_get_fault(d, &fault), status == WJ_OK ? WJ_NOT_FOUND : WJ_OK);
        return status;
    }
    std::string error() { return wj_last_error(context.get()); }

    Context context;
    std::vector<Module> modules;
    Dispatch dispatch;
    wj_fault fault;
    uint64_t words[2];
};

#define WJ_SETUPS(suite)                                                            \
    INSTANTIATE_TEST_SUITE_P(                                                       \
        All, suite,                                                                 \
        testing::Values(Setup{"gfx900", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY}, \
                        Setup{"gfx906", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},  \
                        Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY}, \
                        Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},  \
                        Setup{"gfx900", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},        \
                        Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},         \
                        Setup{"gfx900", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},       \
                        Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},      \
                        Setup{"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY},        \
                        Setup{"gfx906", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED},         \
                        Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_WINDOW},          \
                        Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_WINDOW}),       \
        setup_name)

}  // namespace wj::test
