// Memory in a window: no address of a guest's leads out of it.
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

constexpr uint64_t default_bytes = uint64_t{1} << 36;

class WindowTest : public Gpu {
protected:
    void SetUp() override {
        Gpu::SetUp();
        if (!context) return;
        // Host memory that kernels try to reach.
        canaries = static_cast<uint8_t*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::memset(canaries, 0x5a, bytes);
    }
    void TearDown() override {
        if (!context) return;
        EXPECT_TRUE(std::all_of(canaries, canaries + bytes, [](uint8_t x) { return x == 0x5a; }));
        munmap(canaries, bytes);
    }
    static constexpr size_t bytes = 1 << 20;
    uint8_t* canaries = nullptr;
};

TEST_P(WindowTest, HostMemoryIsOutOfReach) {
    uint8_t on_stack[4096];
    std::memset(on_stack, 0x5a, sizeof on_stack);
    static uint8_t in_image[4096];
    std::memset(in_image, 0x5a, sizeof in_image);
    for (const char* name :
         {"store_at", "load_at", "wide_store_at", "wide_stores_at", "wide_store_byte_at",
          "wide_load_at", "wide_loads_at", "flat_store_at", "atomic_at", "atomic_return_at",
          "buffer_store_at", "buffer_atomic_at", "scalar_load_at", "scalar_buffer_load_at"}) {
        wj_kernel* const k = kernel("asm", name);
        ASSERT_TRUE(k);
        for (uint8_t* host : {canaries, canaries + bytes / 2, on_stack, in_image}) {
            const auto at = reinterpret_cast<uint64_t>(host) & ~uint64_t{15};
            // Neighbours, one element, rows with gaps, and lanes far from each other.
            for (const uint64_t stride : {16, 0, 48, 0x3000000}) {
                ASSERT_EQ(run(k, packed(at, stride, 64)), WJ_GUEST_FAULT) << name << " " << stride;
                // Where such an address comes near the window's end the margin is what faults.
                const uint64_t inside = at % default_bytes;
                if (inside >> 33 == 0 || (default_bytes - inside) >> 33 == 0) continue;
                EXPECT_EQ(fault.address, at) << name << " " << stride << "\n" << fault.report;
            }
        }
    }
    for (const uint8_t x : on_stack) ASSERT_EQ(x, 0x5a);
    for (const uint8_t x : in_image) ASSERT_EQ(x, 0x5a);
}

TEST_P(WindowTest, NullPointersFault) {
    ASSERT_EQ(run(kernel("asm", "store_at"), packed(0, 4, 64)), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.address, 0u);
    EXPECT_NE(std::string(fault.report).find("null pointer"), std::string::npos) << fault.report;
}

TEST_P(WindowTest, OtherAddressesLeadIntoTheWindow) {
    const uint64_t a = buffer(64 * 4), b = buffer(64 * 4);
    ASSERT_EQ(run(kernel("asm", "store_at"), packed(a, 4, 64)), WJ_OK) << error();
    for (const uint64_t more : {default_bytes, uint64_t{1} << 47, ~uint64_t{0} << 48}) {
        std::memset(host<void>(b), 0, 64 * 4);
        ASSERT_EQ(run(kernel("asm", "store_at"), packed(b ^ more, 4, 64)), WJ_OK) << error();
        EXPECT_EQ(std::memcmp(host<void>(a), host<void>(b), 64 * 4), 0);
        for (const char* name : {"load_at", "wide_load_at", "atomic_at", "scalar_load_at"})
            EXPECT_EQ(run(kernel("asm", name), packed(b ^ more, 4, 64)), WJ_OK) << error();
    }
}

TEST_P(WindowTest, RegisteredMemoryIsRefused) {
    uint64_t address = 0;
    EXPECT_EQ(wj_memory_register(context.get(), canaries, bytes, WJ_READ, &address),
              WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("wj_memory_allocate"), std::string::npos) << error();
}

TEST(Window, ItsSizeIsAnOption) {
    wj_context_options o = WJ_INIT(wj_context_options);
    o.engine = WJ_ENGINE_INTERPRETER;
    o.memory_mode = WJ_MEMORY_WINDOW;
    o.window_bytes = uint64_t{1} << 35;
    char error[512] = "";
    wj_context* context = nullptr;
    ASSERT_EQ(wj_context_create(&o, &context, error, sizeof error), WJ_OK) << error;
    uint64_t address = 0;
    EXPECT_EQ(wj_memory_allocate(context, o.window_bytes, &address), WJ_OUT_OF_MEMORY);
    EXPECT_NE(std::string(wj_last_error(context)).find("window"), std::string::npos);
    EXPECT_EQ(wj_memory_allocate(context, 1 << 20, &address), WJ_OK);
    wj_context_destroy(context);
    o.window_bytes = uint64_t{3} << 35;
    EXPECT_EQ(wj_context_create(&o, &context, error, sizeof error), WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error).find("power of two"), std::string::npos) << error;
    o.window_bytes = uint64_t{1} << 35;
    o.memory_mode = WJ_MEMORY_CHECKED;
    EXPECT_EQ(wj_context_create(&o, &context, error, sizeof error), WJ_INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(All, WindowTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_WINDOW},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_WINDOW},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_WINDOW},
                                         Setup{"gfx906", WJ_ENGINE_AUTO, WJ_MEMORY_WINDOW}),
                         setup_name);

}  // namespace
}  // namespace wj::test
