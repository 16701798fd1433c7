// Damaged code objects, loaded and run: every outcome but a crash, a hang or a broken context is
// fine. Checked memory: a stray store of a damaged kernel cannot reach the host.
#include <cstdlib>
#include <fstream>
#include <random>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class MutationTest : public testing::TestWithParam<wj_engine> {};

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void run_all(wj_context* context, wj_module* module, uint64_t memory) {
    for (size_t i = 0; i < wj_module_kernel_count(module); i++) {
        wj_kernel* kernel = wj_module_kernel_at(module, i);
        wj_kernel_info info = WJ_INIT(wj_kernel_info);
        if (wj_kernel_get_info(kernel, &info) != WJ_OK || info.kernarg_size > 4096) continue;
        std::vector<uint64_t> args(info.kernarg_size / 8 + 1, memory);
        wj_launch_options o = WJ_INIT(wj_launch_options);
        o.grid[0] = 200;
        o.block[0] = 128;
        o.packed_arguments = args.data();
        o.packed_size = info.kernarg_size;
        o.dynamic_lds = 1024;
        o.instruction_limit = 20000;
        o.timeout_ns = 2'000'000'000;
        wj_status status = wj_launch(kernel, &o, nullptr);
        ASSERT_NE(status, WJ_HOST_ERROR) << wj_last_error(context);
        if (status != WJ_OK) {
            ASSERT_STRNE(wj_last_error(context), "");
        }
    }
}

TEST_P(MutationTest, LoadAndRun) {
    Context context = make_context("gfx90a", GetParam(), 2, WJ_MEMORY_CHECKED);
    if (!context) GTEST_SKIP() << "this host cannot run the engine";
    uint64_t memory = 0;
    ASSERT_EQ(wj_memory_allocate(context.get(), 1 << 20, &memory), WJ_OK);
    const char* wanted = std::getenv("WAVEJIT_MUTATIONS");
    int count = wanted ? std::atoi(wanted) : 200;
    std::mt19937_64 random(GetParam() * 1000 + 17);
    for (const char* name : {"ids", "asm"}) {
        const std::string good = read_file(kernel_file(name, "gfx90a"));
        ASSERT_GT(good.size(), 4096u);
        for (int i = 0; i < count; i++) {
            std::string bad = good;
            for (uint64_t flips = 1 + random() % 6; flips; flips--) {
                size_t at = random() % bad.size();
                // Every other time somewhere in the instructions and descriptors, not in strings.
                if (flips & 1) at = bad.size() / 4 + random() % (bad.size() / 2);
                bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
            }
            wj_module* m = nullptr;
            if (wj_module_load(context.get(), bad.data(), bad.size(), &m) != WJ_OK) continue;
            Module module(m);
            run_all(context.get(), m, memory);
            if (HasFatalFailure()) return;
        }
    }
    // The context still works.
    wj_module* m = nullptr;
    ASSERT_EQ(wj_module_load_file(context.get(), kernel_file("asm", "gfx90a").c_str(), &m), WJ_OK);
    Module module(m);
    wj_kernel* k = nullptr;
    ASSERT_EQ(wj_module_get_kernel(m, "set_flag", &k), WJ_OK);
    const uint64_t args[2] = {memory, 0};
    wj_launch_options o = WJ_INIT(wj_launch_options);
    o.grid[0] = o.block[0] = 64;
    o.packed_arguments = args;
    o.packed_size = sizeof(args);
    EXPECT_EQ(wj_launch(k, &o, nullptr), WJ_OK) << wj_last_error(context.get());
    EXPECT_EQ(*reinterpret_cast<uint32_t*>(memory), 7u);
}

std::string engine_name(const testing::TestParamInfo<wj_engine>& info) {
    static const char* const names[] = {"auto", "interp", "avx2", "avx512"};
    return names[info.param];
}

INSTANTIATE_TEST_SUITE_P(All, MutationTest,
                         testing::Values(WJ_ENGINE_INTERPRETER, WJ_ENGINE_AVX2, WJ_ENGINE_AVX512),
                         engine_name);

}  // namespace
}  // namespace wj::test
