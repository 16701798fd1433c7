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
    for (const char* name : {"store_at", "load_at", "wide_store_at", "wide_stores_at",
                             "wide_store_byte_at", "wide_load_at", "wide_loads_at", "flat_store_at",
                             "atomic_at", "atomic_return_at", "atomic_field_at", "buffer_store_at",
                             "buffer_atomic_at", "scalar_load_at", "scalar_buffer_load_at"}) {
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

// What loops take: lane l begins at base + l * stride, and goes on `step` bytes at a time.
struct Walk {
    uint64_t base, stride, step, count, out;
    const wj_launch_options* operator()(wj_launch_options& o) const {
        o = WJ_INIT(wj_launch_options);
        o.grid[0] = o.block[0] = 64;
        o.packed_arguments = this;
        o.packed_size = sizeof *this;
        o.timeout_ns = 60'000'000'000;
        return &o;
    }
};

constexpr const char* walks[] = {"walk_lanes",     "walk_dwords", "walk_down",  "walk_base",
                                 "walk_base_by_4", "walk_rows",   "lanes_loop", "table_at"};
// Bits that a mask clears.
constexpr uint64_t upper_bits[] = {0, default_bytes, uint64_t{1} << 47, ~uint64_t{0} << 48};

class WindowLoopTest : public WindowTest {
protected:
    static constexpr uint32_t dwords = 1 << 16;
    void SetUp() override {
        WindowTest::SetUp();
        if (!context) return;
        data = buffer(dwords * 4);
        out = buffer(dwords * 4);
        for (uint32_t n = 0; n < dwords; ++n) host<uint32_t>(data)[n] = value(n);
    }
    static uint32_t value(uint32_t n) { return n * 2654435761u + 1; }
    wj_status run_walk(const char* name, const Walk& walk) {
        wj_launch_options o;
        return run(kernel("asm", name), *walk(o));
    }
    uint64_t data = 0, out = 0;
};

TEST_P(WindowLoopTest, SumsAreThoseOfTheWindow) {
    constexpr uint64_t window = default_bytes;
    const struct {
        const char* name;
        uint64_t stride, step;
        uint32_t count, first;  // `first`: a dword of the data
        int64_t moves;          // the step, in the window
    } rows[] = {
        {"walk_lanes", 4, 256, 500, 0, 256},
        {"walk_lanes", 0, 4, 1000, 5, 4},
        {"walk_lanes", 4, uint64_t(-256), 500, 60000, -256},
        {"walk_lanes", 0x400, 4, 200, 0, 4},
        {"walk_lanes", 4, window + 256, 500, 0, 256},
        {"walk_lanes", 4, 5 * window - 256, 500, 60000, -256},
        {"walk_lanes", 4, (uint64_t{1} << 63) + 4, 500, 0, 4},
        {"walk_dwords", 0x400, 4, 250, 0, 4},
        {"walk_dwords", 4, 4, 2000, 100, 4},
        {"walk_down", 0x400, 4, 250, 255, -4},
        {"walk_base", 4, 256, 500, 0, 256},
        {"walk_base", 0, window + 4, 500, 0, 4},
        {"walk_base", 4, 3 * window - 8, 500, 2000, -8},
        {"walk_base_by_4", 4, 4, 500, 0, 4},
        {"walk_base_by_4", 0x400, 4, 250, 0, 4},
    };
    for (const auto& row : rows)
        for (const uint64_t bits : upper_bits) {
            const Walk walk{(data + 4 * row.first) ^ bits, row.stride, row.step, row.count,
                            out ^ bits};
            ASSERT_EQ(run_walk(row.name, walk), WJ_OK) << row.name << " " << error();
            for (uint32_t lane = 0; lane < 64; ++lane) {
                uint32_t sum = 0;
                for (int64_t n = 0; n < row.count; ++n)
                    sum += value(static_cast<uint32_t>(
                        row.first + (int64_t(row.stride * lane) + n * row.moves) / 4));
                ASSERT_EQ(host<uint32_t>(out)[lane], sum)
                    << row.name << " by " << row.step << ", lane " << lane << ", bits " << bits;
            }
        }
}

TEST_P(WindowLoopTest, RowsAndLanesOfTheirOwn) {
    constexpr uint64_t stride = 0x400;
    for (const uint64_t bits : upper_bits) {
        ASSERT_EQ(run_walk("walk_rows", {data ^ bits, stride, 0, 200, out + 64}), WJ_OK) << error();
        ASSERT_EQ(run_walk("walk_rows", {data, stride, 0, 200, (out + 64) ^ bits}), WJ_OK);
        for (uint32_t lane = 0; lane < 64; ++lane) {
            uint32_t sum = 0;
            for (uint32_t n = 0; n < 200; ++n) {
                sum += value(lane * stride / 4 + n);
                ASSERT_EQ(host<uint32_t>(out + 64 + lane * stride)[n], sum) << lane << " " << n;
            }
        }
        ASSERT_EQ(run_walk("lanes_loop", {data ^ bits, stride, 0, 100, out ^ bits}), WJ_OK);
        for (uint32_t lane = 0; lane < 64; ++lane) {
            uint32_t sum = 0;
            for (uint32_t n = 0; n < 100 + lane; ++n) sum += value(lane * stride / 4 + n);
            ASSERT_EQ(host<uint32_t>(out)[lane], sum) << lane;
        }
        ASSERT_EQ(run_walk("table_at", {(data + 64) ^ bits, 3, 0, 0, out}), WJ_OK);
        for (uint32_t lane = 0; lane < 64; ++lane)
            ASSERT_EQ(host<uint32_t>(out)[lane], value(16 + lane * 3 % 8)) << lane;
    }
}

TEST_P(WindowLoopTest, LoopsDoNotBeginOutside) {
    for (const char* name : walks)
        for (const uint64_t stride : {4, 0, 0x400}) {
            const auto at = reinterpret_cast<uint64_t>(canaries) + bytes / 2;
            EXPECT_EQ(run_walk(name, {at, stride, 4, 100, out}), WJ_GUEST_FAULT) << name;
        }
    EXPECT_EQ(run_walk("walk_rows", {data, 0x400, 4, 100, reinterpret_cast<uint64_t>(canaries)}),
              WJ_GUEST_FAULT);
}

TEST_P(WindowLoopTest, LoopsDoNotLeadOutside) {
    constexpr uint64_t small = 4, large = uint64_t{1} << 33;
    for (const char* name : {"walk_lanes", "walk_base"})
        for (const uint64_t step :
             {small, uint64_t{1} << 20, uint64_t{1} << 29, large, (uint64_t{3} << 45) + large,
              uint64_t(-small), uint64_t(-large)})
            EXPECT_EQ(run_walk(name, {data, 4, step, 1 << 20, out}), WJ_GUEST_FAULT)
                << name << " " << step;
    for (const char* name :
         {"walk_dwords", "walk_down", "walk_base_by_4", "walk_rows", "lanes_loop"})
        EXPECT_EQ(run_walk(name, {data, 0x400, 4, 1 << 20, out}), WJ_GUEST_FAULT) << name;
}

// What lanes that are off would read is not looked at: the walk comes from anywhere.
TEST_P(WindowLoopTest, WalksThatAreNotSeenComeBackToMasks) {
    const auto canary = reinterpret_cast<uint64_t>(canaries);
    // The last iteration's place: from the window itself to host memory in few steps.
    const auto distance = static_cast<int64_t>(canary - data);
    uint64_t step = 1 << 24;
    while (std::abs(distance) / static_cast<int64_t>(step) > 1 << 17) step *= 2;
    const uint64_t count = static_cast<uint64_t>(std::abs(distance)) / step + 1;
    if (distance < 0) step = -step;
    EXPECT_EQ(run_walk("walk_unseen", {canary - count * step, 4, step, count, out}),
              WJ_GUEST_FAULT);
    EXPECT_EQ(fault.address % default_bytes, canary % default_bytes);
    // And into the window from outside.
    for (const uint64_t by : {step, -step, uint64_t{1} << 30, uint64_t{4096}, uint64_t{1} << 34}) {
        ASSERT_EQ(run_walk("walk_unseen", {data - 3000 * by, 4, by, 3000, out}), WJ_OK) << error();
        for (uint32_t lane = 0; lane < 64; ++lane)
            ASSERT_EQ(host<uint32_t>(out)[lane], value(lane)) << by;
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

const auto setups = testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_WINDOW},
                                    Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_WINDOW},
                                    Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_WINDOW},
                                    Setup{"gfx906", WJ_ENGINE_AUTO, WJ_MEMORY_WINDOW});
INSTANTIATE_TEST_SUITE_P(All, WindowTest, setups, setup_name);
INSTANTIATE_TEST_SUITE_P(All, WindowLoopTest, setups, setup_name);

}  // namespace
}  // namespace wj::test
